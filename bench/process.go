package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pandodb/pando/clock"
)

// clockTicks is the kernel's USER_HZ, which is 100 on every Linux port that Go supports.
const clockTicks = 100

// logTailMax bounds what is kept of a server's log; exitWait is how long a server may take to drain before it is killed.
const (
	logTailMax = 16 << 10
	exitWait   = 30 * time.Second
)

// process is a server that the runner started. A goroutine waits for it and closes exited.
type process struct {
	command    *exec.Cmd
	exited     chan struct{}
	log        tail
	stopSignal syscall.Signal
	noted      bool // its death is in the report
}

// tail keeps the end of what is written to it, and lets a reader look at whole lines as they come.
type tail struct {
	mu    sync.Mutex // guards kept and watch
	kept  []byte
	watch func(line string)
	part  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - logTailMax; over > 0 {
		t.kept = slices.Clone(t.kept[over:])
	}
	if t.watch == nil {
		return len(p), nil
	}
	t.part = append(t.part, p...)
	for {
		end := bytes.IndexByte(t.part, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := string(t.part[:end])
		t.part = t.part[end+1:]
		t.watch(line)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}

// spawn starts a server. Its output goes to the process's log; watch, if given, sees each line. uid 0 means "as this user".
func spawn(dir string, uid uint32, watch func(string), name string, args ...string) (*process, error) {
	p := &process{command: exec.Command(name, args...), exited: make(chan struct{}), stopSignal: syscall.SIGTERM}
	p.log.watch = watch
	p.command.Dir = dir
	p.command.Stdout, p.command.Stderr = &p.log, &p.log
	attributes := serverAttributes()
	if uid != 0 {
		attributes.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	}
	p.command.SysProcAttr = attributes
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.command.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// stop asks the server to end with its signal and kills it when it does not.
func (p *process) stop() {
	if !p.alive() {
		return
	}
	_ = p.command.Process.Signal(p.stopSignal)
	timer := clock.NewTimer(exitWait)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		p.kill()
	}
}

func (p *process) kill() {
	_ = p.command.Process.Kill() // fails where it has ended
	<-p.exited
}

// usage is what a process and its descendants have used so far.
type usage struct {
	cpuSeconds float64
	written    int64 // bytes handed to the disk
	rss        int64
}

// measure adds up a process tree from /proc. The root's own record holds what its dead children used.
func measure(root int) (usage, error) {
	var total usage
	if root == 0 {
		return total, errors.New("the process is not known")
	}
	for _, pid := range append([]int{root}, descendants(root)...) {
		ticks, rss, err := readStat(pid)
		if err != nil {
			if pid == root {
				return usage{}, err
			}
			continue // it ended while the list was read
		}
		total.cpuSeconds += float64(ticks) / clockTicks
		total.rss += rss * int64(os.Getpagesize())
		total.written += readWritten(pid)
	}
	return total, nil
}

// readStat returns the clock ticks of a process with its waited-for children, and its resident pages.
func readStat(pid int) (ticks, rss int64, err error) {
	fields, err := statFields(pid)
	if err != nil {
		return 0, 0, err
	}
	for _, i := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		ticks += n
	}
	rss, _ = strconv.ParseInt(fields[21], 10, 64)
	return ticks, rss, nil
}

// statFields returns the fields after the command name, which may hold spaces and parentheses itself.
func statFields(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat is short", pid)
	}
	return fields, nil
}

func readWritten(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	for line := range strings.SplitSeq(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}

// descendants lists the processes below root.
func descendants(root int) []int {
	entries, _ := os.ReadDir("/proc")
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields, err := statFields(pid); err == nil {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], pid)
		}
	}
	var found []int
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		found = append(found, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return found
}

// diskUsage adds up the bytes of a directory, without files that skip names, and without the blocks allocated beyond a file's end: what
// a server reserves ahead says nothing about its rows. Holes do not count either.
func diskUsage(dir string, skip func(name string) bool) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that was deleted meanwhile
		}
		relative, _ := filepath.Rel(dir, path)
		if skip != nil && skip(relative) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				total += min(stat.Blocks*512, info.Size())
			}
		}
		return nil
	})
	return total
}

// freePort asks the kernel for a port that nobody uses. Another process may take it first; the server then says so.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
