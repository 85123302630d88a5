package bench

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// shortened is a session of one step, in rounds of 1 s of 4.
func shortened(subject, base []float64) *Result {
	r := session2(subject, base)
	r.Plan.Workloads[0].FullSeconds = 4
	return r
}

func TestMissedShort(t *testing.T) {
	for _, c := range []struct {
		what string
		r    *Result
		want int
	}{
		{"ratio 1.3", shortened([]float64{1300, 1300, 1300}, []float64{1000, 1000, 1000}), 1},
		{"ratio 1.5", shortened([]float64{1500, 1500, 1500}, []float64{1000, 1000, 1000}), 0},
		{"rounds as the plan has them", session2([]float64{1300, 1300, 1300}, []float64{1000, 1000, 1000}), 0},
		{"a failure, which longer rounds must not hide", shortened([]float64{1300, 0, 1300}, []float64{1000, 1000, 1000}), 0},
	} {
		if got := c.r.missedShort(); len(got) != c.want {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
	unknown := shortened([]float64{1300}, []float64{1000})
	unknown.Base = ""
	if got := unknown.missedShort(); got != nil {
		t.Errorf("without a base, to which no ratio can be measured: %+v", got)
	}
	falls := shortened([]float64{1300}, []float64{1000})
	falls.Plan.Limits.FallMax = 0.1
	if got := falls.missedShort(); got != nil {
		t.Errorf("in a plan that compares thread counts: %+v", got)
	}
}

// TestFullKeepsTheLead: the threads of one step have no less time to get warm than in the whole workload.
func TestFullKeepsTheLead(t *testing.T) {
	w := Workload{Name: "w", Kind: KindRun, Script: "s", Threads: []int{64, 1500}, PSModes: []string{"auto"}, Seconds: 1, FullSeconds: 4, ThreadMillis: 10}
	one := w.full(w.Steps()[0])
	if one.lead() != 15 || one.lead() != w.lead() || one.Seconds != 4 || len(one.Steps()) != 1 || one.Steps()[0].Threads != 64 {
		t.Errorf("%+v has a lead of %d s", one, one.lead())
	}
}

// TestAgain: a step that missed in shortened rounds is measured again in full ones, which count, and the report has both.
func TestAgain(t *testing.T) {
	if _, err := exec.LookPath("sysbench"); err != nil {
		t.Fatal("sysbench is not installed: run scripts/test-programs.sh")
	}
	plan := tiny(t)
	plan.Workloads = plan.Workloads[:1]
	w := &plan.Workloads[0]
	w.Threads, w.PSModes, w.Rounds, w.Seconds, w.FullSeconds, w.WarmupSeconds = []int{1, 2}, []string{"auto"}, 1, 1, 2, 0
	w.Floor = Floor{Ratio: 1000, OneThreadRatio: 0.001}
	var log strings.Builder
	r, err := Measure(t.Context(), Options{Plan: plan, Targets: []*Target{trivialTarget(t, "a"), trivialTarget(t, "b")}, Base: "b", TempDir: t.TempDir(), Progress: NewProgress(&log, false)})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Replaced) != 2 || len(r.Runs) != 4 || r.Incomplete != "" {
		t.Fatalf("%+v, %d runs, incomplete %q", r.Replaced, len(r.Runs), r.Incomplete)
	}
	for _, run := range r.Runs {
		if want := fmt.Sprintf("--time=%d ", run.Threads); run.failed() || !strings.Contains(run.Command+" ", want) {
			t.Errorf("%d threads: %s %s", run.Threads, run.Command, run.Failure)
		}
	}
	for _, run := range r.Replaced {
		if run.Threads != 2 || !strings.Contains(run.Command+" ", "--time=1 ") {
			t.Errorf("before: %s", run.Command)
		}
	}
	if misses := r.Misses(); len(misses) != 1 || !strings.Contains(misses[0].What, "threads=2") {
		t.Errorf("misses: %v", misses)
	}
	if !strings.Contains(log.String(), "[4/4, ") || !strings.Contains(log.String(), "[6/6, ETA 0s]") {
		t.Errorf("progress:\n%s", log.String())
	}
	tables := r.verdictSection().tables
	if rows := tables[len(tables)-1].rows; len(rows) != 2 || rows[0][1] != "1" || rows[1][1] != "2" || !strings.Contains(rows[0][5], "at least 1000") {
		t.Errorf("%q", tables)
	}
}

// TestStopKeepsTheShortRounds: full rounds that were cut replace nothing.
func TestStopKeepsTheShortRounds(t *testing.T) {
	if _, err := exec.LookPath("sysbench"); err != nil {
		t.Fatal("sysbench is not installed: run scripts/test-programs.sh")
	}
	plan := tiny(t)
	plan.Workloads = plan.Workloads[:1]
	w := &plan.Workloads[0]
	w.Threads, w.PSModes, w.Rounds, w.FullSeconds, w.Floor = []int{2}, []string{"auto"}, 1, 2, Floor{Ratio: 1000}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	third := &stopAt{text: "[3/4", stop: stop}
	r, err := Measure(ctx, Options{Plan: plan, Targets: []*Target{trivialTarget(t, "a"), trivialTarget(t, "b")}, Base: "b", TempDir: t.TempDir(), Progress: NewProgress(third, false)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Incomplete == "" || len(r.Replaced) != 0 || len(r.Runs) != 2 {
		t.Fatalf("incomplete %q, %+v, %d runs", r.Incomplete, r.Replaced, len(r.Runs))
	}
	for _, run := range r.Runs {
		if !strings.Contains(run.Command+" ", "--time=1 ") {
			t.Errorf("%s", run.Command)
		}
	}
}

// TestAgainIsForFew: where many steps missed, none is measured again.
func TestAgainIsForFew(t *testing.T) {
	r := shortened([]float64{1300}, []float64{1000})
	w := &r.Plan.Workloads[0]
	for _, run := range slices.Clone(r.Runs) {
		for n := range againMax {
			run.Threads = 32 << n
			r.Runs = append(r.Runs, run)
		}
	}
	w.Threads = []int{16, 32, 64, 128, 256}
	if n := len(r.missedShort()); n != againMax+1 {
		t.Fatalf("%d steps missed", n)
	}
	s := &session{result: r}
	if err := s.again(t.Context()); err != nil || len(r.Replaced) != 0 || len(r.Runs) != 2*(againMax+1) {
		t.Errorf("%v, %+v, %d runs", err, r.Replaced, len(r.Runs))
	}
}
