package bench

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

// Progress tells a person how far a session is: on a terminal one line that changes, else one line for each run.
type Progress struct {
	mu       sync.Mutex // guards everything below
	out      io.Writer
	terminal bool
	runs     int
	finishedRuns,
	failedRuns int
	seconds time.Duration // of all runs
	elapsed time.Duration // of finished ones
	begun   time.Duration
	current string
	next    time.Duration
}

// NewProgress writes to out; nil drops everything.
func NewProgress(out io.Writer, terminal bool) *Progress {
	if out == nil {
		out = io.Discard
	}
	return &Progress{out: out, terminal: terminal, begun: clock.Mono()}
}

func (p *Progress) plan(runs int, seconds time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.seconds, p.begun = runs, seconds, clock.Mono()
	fmt.Fprintf(p.out, "%d runs, at least %v\n", runs, seconds)
}

// more adds runs that the plan did not have.
func (p *Progress) more(runs int, seconds time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.seconds = p.runs+runs, p.seconds+seconds
	p.clear()
	fmt.Fprintf(p.out, "%d more runs, of a workload that missed a demand\n", runs)
}

// eta scales the planned time of what is left by how much longer than planned it took so far.
func (p *Progress) eta() time.Duration {
	left := p.seconds - p.elapsed
	if p.elapsed > 0 {
		left = time.Duration(float64(left) * float64(clock.Since(p.begun)) / float64(p.elapsed))
	}
	return max(0, left).Round(time.Second)
}

func (p *Progress) phase(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(text)
}

// line replaces the changing line; elsewhere than on a terminal there is none.
func (p *Progress) line(text string) {
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K[%d/%d, ETA %v] %s", p.finishedRuns, p.runs, p.eta(), text)
	}
}

func (p *Progress) calibrated(c Calibration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.out, "calibration before %s: loopback %.0f/s, fdatasync %.0f/s, load %.1f\n", c.Before, c.Loopback, c.Fdatasync, c.Load)
}

func (p *Progress) clear() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *Progress) begin(run *Run, seconds int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = time.Duration(seconds) * time.Second
	p.current = fmt.Sprintf("%s ps=%s threads=%d round %d on %s", run.Workload, run.PSMode, run.Threads, run.Round, run.Target)
	p.line(p.current)
}

func (p *Progress) live(i Interval) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(fmt.Sprintf("%s: %.0f QPS, p95 %.2f ms", p.current, i.QPS, i.P95))
}

func (p *Progress) finished(run *Run, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishedRuns++
	p.elapsed += p.next
	p.clear()
	if run.failed() {
		p.failedRuns++
		fmt.Fprintf(p.out, "[%d/%d, ETA %v] %s: FAILED: %s\n", p.finishedRuns, p.runs, p.eta(), p.current, run.Failure)
		return
	}
	if run.StartSeconds > 0 {
		with := bytesText(run.IdleBytes) + " at rest"
		if run.IdleBytes == 0 { // a start after a kill, which is not followed by a rest
			with = bytesText(run.DiskBytes) + " stored"
		}
		fmt.Fprintf(p.out, "[%d/%d, ETA %v] %s: %.3f s, %s\n", p.finishedRuns, p.runs, p.eta(), p.current, run.StartSeconds, with)
		return
	}
	fmt.Fprintf(p.out, "[%d/%d, ETA %v] %s: %.0f %s, mean %s ms, p99 %s ms, longest %s ms, %s µs CPU each\n", p.finishedRuns, p.runs, p.eta(), p.current, run.Rate, unit, numberText(run.AvgMillis, 2), numberText(run.P99Millis, 2), numberText(run.MaxMillis, 1), numberText(run.CPUMicros, 1))
}

func (p *Progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.out, "%d runs in %v, %d failed\n", p.finishedRuns, clock.Since(p.begun).Round(time.Second), p.failedRuns)
}
