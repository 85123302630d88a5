package bench

import (
	"fmt"
	"os/exec"
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
	if len(r.Again) != 1 || r.Again[0].Threads != 2 || len(r.Again[0].Runs) != 2 || len(r.Runs) != 4 || r.Incomplete != "" {
		t.Fatalf("%+v, %d runs, incomplete %q", r.Again, len(r.Runs), r.Incomplete)
	}
	for _, run := range r.Runs {
		if want := fmt.Sprintf("--time=%d ", run.Threads); run.failed() || !strings.Contains(run.Command+" ", want) {
			t.Errorf("%d threads: %s %s", run.Threads, run.Command, run.Failure)
		}
	}
	for _, run := range r.Again[0].Runs {
		if !strings.Contains(run.Command+" ", "--time=1 ") {
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

// TestAgainIsForFew: where many steps missed, none is measured again.
func TestAgainIsForFew(t *testing.T) {
	r := shortened([]float64{1300}, []float64{1000})
	r.Plan.Workloads[0].Threads = []int{16, 32, 64, 128, 256} // the others have no runs, which is a miss as well
	s := &session{result: r}
	if err := s.again(t.Context()); err != nil || len(r.Again) != 0 || len(r.Runs) != 2 {
		t.Errorf("%v, %+v, %d runs", err, r.Again, len(r.Runs))
	}
	if n := len(r.missedShort()); n != againMax+1 {
		t.Errorf("%d steps missed", n)
	}
}
