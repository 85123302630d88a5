package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// databaseName holds the tables of the run workloads, scratchName those of a load, which are dropped after each round.
const (
	databaseName = "sbtest"
	scratchName  = "benchload"
)

// stopWait is how long sysbench may take to end after a stop, and outputMax bounds what is kept of what it prints.
const (
	stopWait  = 5 * time.Second
	runGrace  = 30 * time.Second // how long a run may take beyond its seconds until it is stopped
	outputMax = 1 << 20
)

// Interval is one line of sysbench's progress.
type Interval struct {
	Second float64 `json:"second"`
	TPS    float64 `json:"tps"`
	QPS    float64 `json:"qps"`
	P95    float64 `json:"p95_ms"`
	Errors float64 `json:"errors_per_second,omitempty"`
}

// Figures is what sysbench reports at the end of a run.
type Figures struct {
	Seconds       float64 `json:"seconds"`
	Transactions  int64   `json:"transactions"`
	Queries       int64   `json:"queries"`
	TPS           float64 `json:"tps"`
	QPS           float64 `json:"qps"`
	IgnoredErrors int64   `json:"ignored_errors,omitempty"`
	Reconnects    int64   `json:"reconnects,omitempty"`
	Latency
}

var intervalLine = regexp.MustCompile(`^\[ (\d+)s \] thds: \d+ tps: ([\d.]+) qps: ([\d.]+) \(.*?\) lat \(ms,95%\): ([\d.]+) err/s:? ([\d.]+)`)

// parseInterval reads a progress line.
func parseInterval(line string) (Interval, bool) {
	found := intervalLine.FindStringSubmatch(line)
	if found == nil {
		return Interval{}, false
	}
	var numbers [5]float64
	for i := range numbers {
		numbers[i], _ = strconv.ParseFloat(found[i+1], 64)
	}
	return Interval{Second: numbers[0], TPS: numbers[1], QPS: numbers[2], P95: numbers[3], Errors: numbers[4]}, true
}

var (
	countLine   = regexp.MustCompile(`^\s*(transactions|queries|ignored errors|reconnects):\s+(\d+)\s+\(([\d.]+) per sec\.\)`)
	valueLine   = regexp.MustCompile(`^\s*(total time|avg|max):\s+([\d.]+)s?$`)
	errorNumber = regexp.MustCompile(`(?i)error (\d{4,5})\b`)
)

// parseFigures reads the final statistics, and the histogram where there is one. A run that ended early prints none, or none that say
// anything: both are errors.
func parseFigures(output string) (Figures, error) {
	var f Figures
	var samples []sample
	for line := range strings.SplitSeq(output, "\n") {
		line = strings.TrimRight(line, " \r")
		if found := countLine.FindStringSubmatch(line); found != nil {
			count, _ := strconv.ParseInt(found[2], 10, 64)
			rate, _ := strconv.ParseFloat(found[3], 64)
			switch found[1] {
			case "transactions":
				f.Transactions, f.TPS = count, rate
			case "queries":
				f.Queries, f.QPS = count, rate
			case "ignored errors":
				f.IgnoredErrors = count
			case "reconnects":
				f.Reconnects = count
			}
		} else if found := valueLine.FindStringSubmatch(line); found != nil {
			value, _ := strconv.ParseFloat(found[2], 64)
			switch found[1] {
			case "total time":
				f.Seconds = value
			case "avg":
				f.AvgMillis = value
			case "max":
				f.MaxMillis = value
			}
		} else if bucket, ok := parseBucket(line); ok {
			samples = append(samples, bucket)
		}
	}
	if f.Transactions == 0 || f.Seconds <= 0 {
		return Figures{}, errors.New("sysbench printed no statistics")
	}
	f.Latency.fill(samples)
	return f, nil
}

// failureOf explains why sysbench failed in one line, and counts the error numbers that it printed.
func failureOf(output string, err error) (string, map[string]int) {
	numbers := map[string]int{}
	first := ""
	for line := range strings.SplitSeq(output, "\n") {
		if !strings.HasPrefix(line, "FATAL") {
			continue
		}
		if first == "" || !errorNumber.MatchString(first) {
			if first == "" || errorNumber.MatchString(line) {
				first = line
			}
		}
		if found := errorNumber.FindStringSubmatch(line); found != nil {
			numbers[found[1]]++
		}
	}
	switch {
	case first != "" && err != nil:
		return first + " (" + err.Error() + ")", numbers
	case first != "":
		return first, numbers
	case err != nil:
		return "sysbench: " + err.Error(), numbers
	}
	return "", numbers
}

// connectArgs is the part of a command line that names the target.
func connectArgs(t *Target, user, database string) []string {
	args := []string{"--db-driver=" + t.driver()}
	prefix := "--" + t.driver() + "-"
	if t.driver() == "pgsql" {
		user = t.pgUser()
	}
	args = append(args, prefix+"host="+t.host(), prefix+"port="+t.ports(), prefix+"user="+user, prefix+"db="+database)
	if password := t.passwordOf(user); password != "" {
		args = append(args, prefix+"password="+password)
	}
	return args
}

// runArgs is the command line of a run.
func runArgs(p *Plan, t *Target, s Step, seconds int) []string {
	w := s.Workload
	args := append([]string{w.Script}, connectArgs(t, p.User, databaseName)...)
	args = append(args, "--tables="+strconv.Itoa(w.Tables), "--table-size="+strconv.Itoa(w.Rows))
	args = append(args, loadArgs(p, w, s, seconds)...)
	args = append(args, "--histogram=on", "--db-ps-mode="+s.PSMode)
	args = append(append(args, p.Options...), w.Options...)
	return append(args, "run")
}

func loadArgs(p *Plan, w *Workload, s Step, seconds int) []string {
	args := []string{"--threads=" + strconv.Itoa(s.Threads), "--time=" + strconv.Itoa(seconds),
		"--report-interval=" + strconv.Itoa(p.ReportInterval), "--percentile=95"}
	if w.RandType != "" {
		args = append(args, "--rand-type="+w.RandType)
	}
	return args
}

// prepareArgs is the command line that fills tables.
func prepareArgs(p *Plan, t *Target, w *Workload, database string, threads int) []string {
	args := append([]string{"oltp_common"}, connectArgs(t, "root", database)...)
	if w.RandType != "" {
		args = append(args, "--rand-type="+w.RandType)
	}
	args = append(args, p.PrepareOptions...)
	if w.Kind == KindLoad {
		args = append(args, w.Options...)
	}
	return append(args, "--threads="+strconv.Itoa(threads), "--tables="+strconv.Itoa(w.Tables), "--table-size="+strconv.Itoa(w.Rows), "prepare")
}

// publicCommand renders a command line for a report: without passwords, and with the port by a name.
func publicCommand(args []string, t *Target) string {
	words := []string{"sysbench"}
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case strings.HasSuffix(name, "-password"):
			arg = name + "=$PASSWORD"
		case strings.HasSuffix(name, "-port"):
			arg = name + "=$PORT"
		case strings.HasSuffix(name, "-host"):
			arg = name + "=$HOST"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// errTooLong is the end of a command whose server hangs.
var errTooLong = errors.New("it did not end in its time and was stopped")

// loadMax is how long tables of so many rows may take to be filled, or looked through: 2000 rows a second are what a slow disk allows.
func loadMax(rows int64) time.Duration {
	return 2*time.Minute + time.Duration(rows/2000)*time.Second
}

// overlong says that a run took so much longer than it should have that its rate is the mean of a run and a stall. Many clients with long
// transactions take a third longer.
func overlong(took float64, seconds int) bool {
	return took > 1.5*float64(seconds)+3
}

// sysbench executes one command line where the clients are, and tells live, which may be nil, of its intervals. It returns what was printed. When ctx ends, or after limit,
// sysbench gets SIGTERM and is waited for.
func (c *placement) sysbench(ctx context.Context, limit time.Duration, args []string, live func(Interval)) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words := c.clientWords(append([]string{"sysbench"}, args...))
	command := exec.CommandContext(limited, words[0], words[1:]...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopWait
	// A group of its own: Ctrl-C on the terminal must reach the runner, which then stops sysbench in its order.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer reader.Close()
	command.Stdout, command.Stderr = writer, writer
	if err := command.Start(); err != nil {
		writer.Close()
		return "", err
	}
	writer.Close()
	output := readOutput(reader, live)
	err = command.Wait()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = errTooLong
	}
	return output, err
}

// readOutput collects lines until the end of the pipe, at most outputMax bytes of them.
func readOutput(r io.Reader, live func(Interval)) string {
	var kept bytes.Buffer
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if interval, ok := parseInterval(line); ok && live != nil {
			live(interval)
		}
		if kept.Len() < outputMax {
			kept.WriteString(line)
		}
		if err != nil {
			return kept.String()
		}
	}
}

// runSysbench executes a run and fills in its figures or its failure.
func (s *session) runSysbench(ctx context.Context, args []string, seconds int, run *Run) {
	output, err := s.place.sysbench(ctx, time.Duration(seconds)*time.Second+s.grace, args, func(i Interval) {
		run.Intervals = append(run.Intervals, i)
		s.Progress.live(i)
	})
	if failure, numbers := failureOf(output, err); failure != "" {
		run.Failure, run.Errors = failure, numbers
		return
	}
	figures, err := parseFigures(output)
	if err != nil {
		run.Failure = fmt.Sprintf("%v: %s", err, lastLine(output))
		return
	}
	if overlong(figures.Seconds, seconds) {
		run.Failure = fmt.Sprintf("it took %.0f seconds instead of %d: the server stalled", figures.Seconds, seconds)
		return
	}
	run.Figures = figures
}

// lastLine is the last line that says something.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
