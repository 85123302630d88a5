package bench

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// readEnvironment describes the machine; dir is where the targets keep their data.
func readEnvironment(dir string) Environment {
	return Environment{
		Commit:   commit(),
		OS:       osName(),
		Kernel:   firstLine("/proc/sys/kernel/osrelease"),
		CPU:      field("/proc/cpuinfo", "model name"),
		CPUs:     runtime.NumCPU(),
		Memory:   memory(),
		Files:    fileSystem(dir),
		Sysbench: output("sysbench", "--version"),
		Go:       runtime.Version(),
		LoadAt:   loadAverage(),
	}
}

// commit names the checkout of the current directory, and says when it has changes. A report made elsewhere has none.
func commit() string {
	head := output("git", "rev-parse", "--short=12", "HEAD")
	if head != "" && output("git", "status", "--porcelain", "--untracked-files=no") != "" {
		head += " with changes"
	}
	return head
}

func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// field finds "name : value" in a file of /proc.
func field(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.SplitSeq(string(text), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func osName() string {
	text, _ := os.ReadFile("/etc/os-release")
	for line := range strings.SplitSeq(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(value, `"`)
		}
	}
	return runtime.GOOS
}

func memory() int64 {
	kib, _, _ := strings.Cut(field("/proc/meminfo", "MemTotal"), " ")
	n, _ := strconv.ParseInt(kib, 10, 64)
	return n << 10
}

func loadAverage() float64 {
	first, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
