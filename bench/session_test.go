package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
)

// trivialTarget serves the responder in this process, whose pid stands in for a server's.
func trivialTarget(t *testing.T, name string) *Target {
	t.Helper()
	server, err := NewTrivial("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() { _ = server.Serve() }()
	return &Target{Name: name, Kind: KindTrivial, Address: server.Address(), pid: os.Getpid()}
}

func tiny(t *testing.T) *Plan {
	t.Helper()
	plan, err := ParsePlan([]byte(tinyPlan))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestRunnerAgainstTheTrivialResponder(t *testing.T) {
	t.Parallel() // it waits more than it works
	if _, err := exec.LookPath("sysbench"); err != nil {
		t.Fatal("sysbench is not installed: run scripts/test-programs.sh")
	}
	plan := tiny(t)
	plan.Workloads[0].Threads = []int{2}
	plan.Workloads[1].Rounds = 1
	var log strings.Builder
	var saved []string
	save := func(r *Result) error { saved = append(saved, fmt.Sprint(len(r.Runs), " ", r.Incomplete)); return nil }
	r, err := Measure(t.Context(), Options{Plan: plan, Targets: []*Target{trivialTarget(t, "a"), trivialTarget(t, "b")}, Base: "b", TempDir: t.TempDir(), Progress: NewProgress(&log, false), Save: save})
	if err != nil {
		t.Fatal(err)
	}
	if r.Incomplete != "" || len(r.Runs) != 10 || len(r.Calibrations) != 2 {
		t.Fatalf("%d runs, %d calibrations, incomplete %q", len(r.Runs), len(r.Calibrations), r.Incomplete)
	}
	if want := []string{"8 it was under way", "10 it was under way"}; !slices.Equal(saved, want) {
		t.Errorf("saved %q", saved)
	}
	for i, run := range r.Runs {
		// A-B for each mode, then B-A for each.
		want := []string{"a auto 1", "b auto 1", "a disable 1", "b disable 1", "b auto 2", "a auto 2", "b disable 2", "a disable 2", "a - 1", "b - 1"}[i]
		if got := fmt.Sprint(run.Target, " ", run.PSMode, " ", run.Round); got != want {
			t.Errorf("run %d is %s, not %s", i, got, want)
		}
		if run.failed() || run.Rate < 10 || run.CPUSeconds <= 0 || run.RSSBytes <= 0 ||
			run.AvgMillis <= 0 || run.P50Millis <= 0 || run.P99Millis < run.P95Millis || run.MaxMillis < run.P50Millis || run.Histogram.count() != run.Transactions {
			t.Errorf("%+v", run)
		}
	}
	path := filepath.Join(t.TempDir(), "r.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	if stored, err := os.ReadFile(path); err != nil || strings.Contains(string(stored), os.TempDir()) {
		t.Errorf("a path of this machine is stored, or nothing: %v", err)
	}
	rows := r.Summarise()
	if len(rows) != 3 || rows[0].Ratios["b"].Rate.Count != 2 || rows[2].Step.Workload.Name != "storm" {
		t.Errorf("%+v", rows)
	}
	if !strings.Contains(log.String(), "[10/10, ETA 0s] storm") || !strings.Contains(log.String(), "fdatasync") {
		t.Errorf("progress:\n%s", log.String())
	}
}

// stopAt ends the session when a text shows in its progress, which does not depend on the machine's speed.
type stopAt struct {
	text string
	stop func()
}

func (s *stopAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.text) {
		s.stop()
	}
	return len(p), nil
}

// TestStopKeepsWhatThereIs: the session ends at once, without the run that was cut.
func TestStopKeepsWhatThereIs(t *testing.T) {
	plan := tiny(t)
	plan.Workloads[1].Rounds = 1000
	plan.Workloads = plan.Workloads[1:]
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	second := &stopAt{text: "[2/", stop: stop}
	r, err := Measure(ctx, Options{Plan: plan, Targets: []*Target{trivialTarget(t, "a")}, TempDir: t.TempDir(), Progress: NewProgress(second, false)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Incomplete == "" || len(r.Runs) == 0 || len(r.Runs) > 3 {
		t.Errorf("%d runs, incomplete %q", len(r.Runs), r.Incomplete)
	}
	for _, run := range r.Runs {
		if run.failed() {
			t.Errorf("a cut run was kept: %+v", run)
		}
	}
}

// TestErrorsAreShown: a server that goes away fails its runs; the other's stay.
func TestErrorsAreShown(t *testing.T) {
	plan := tiny(t)
	plan.Workloads = plan.Workloads[1:]
	gone := trivialTarget(t, "gone")
	s := &session{Options: Options{Plan: plan, Progress: NewProgress(nil, false)}, deaths: map[string]int{}, result: &Result{Plan: *plan, Targets: []TargetInfo{{Name: "gone"}}}}
	gone.Address = "127.0.0.1:1"
	s.one(t.Context(), gone, plan.Workloads[0].Steps()[0], 1)
	run := s.result.Runs[0]
	if !strings.Contains(run.Failure, "no login succeeded") || run.Errors["connection"] == 0 {
		t.Errorf("%+v", run)
	}
}

func TestDeadServerIsNotedAndRevived(t *testing.T) {
	dir := t.TempDir()
	target := &Target{Name: "x", Kind: KindExternal, dir: dir}
	process, err := spawn(dir, 0, nil, "sh", "-c", "echo out of cheese; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	target.process = process
	<-process.exited
	target.launch = func(context.Context, *Target) error { return context.DeadlineExceeded }
	plan := tiny(t)
	s := &session{Options: Options{Plan: plan, Progress: NewProgress(nil, false)}, deaths: map[string]int{}, ends: map[string]runEnd{}, result: &Result{Plan: *plan, Targets: []TargetInfo{{Name: "x"}}}}
	s.one(t.Context(), target, plan.Workloads[1].Steps()[0], 1)
	if notes := s.result.Targets[0].Failures; len(notes) != 1 || !strings.Contains(notes[0], "out of cheese") {
		t.Errorf("%v", notes)
	}
	if run := s.result.Runs[0]; !run.failed() {
		t.Errorf("%+v", run)
	}
}

// A server that dies between its runs and is revived has failed, though no run of it has.
func TestDeathBetweenRunsIsAMiss(t *testing.T) {
	dir := t.TempDir()
	trivial := trivialTarget(t, "x")
	target := &Target{Name: "x", Kind: KindTrivial, Address: trivial.Address, dir: dir}
	start := func(script string) {
		process, err := spawn(dir, 0, nil, "sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		target.process = process
	}
	start("echo out of cheese; exit 3")
	<-target.process.exited
	target.launch = func(context.Context, *Target) error { start("exec sleep 600"); return nil }
	t.Cleanup(func() { target.stop() })
	plan := tiny(t)
	s := &session{Options: Options{Plan: plan, Progress: NewProgress(nil, false)}, deaths: map[string]int{}, ends: map[string]runEnd{}, result: &Result{Plan: *plan, Targets: []TargetInfo{{Name: "x"}}}}
	for round := 1; round <= 2; round++ {
		s.one(t.Context(), target, plan.Workloads[1].Steps()[0], round)
		if run := s.result.Runs[round-1]; run.failed() {
			t.Errorf("%+v", run)
		}
	}
	if notes := s.result.Targets[0].Failures; len(notes) != 1 || !strings.Contains(notes[0], "died between runs") || !strings.Contains(notes[0], "out of cheese") {
		t.Errorf("%v", notes)
	}
	if misses := fmt.Sprint(s.result.Misses()); !strings.Contains(misses, "out of cheese") {
		t.Errorf("misses: %s", misses)
	}
}

// TestRestart kills a process in the middle of a workload; the responder in this process goes on answering, for both.
func TestRestart(t *testing.T) {
	if _, err := exec.LookPath("sysbench"); err != nil {
		t.Fatal("sysbench is not installed: run scripts/test-programs.sh")
	}
	dir := t.TempDir()
	target := &Target{Name: "x", Kind: KindTrivial, Address: trivialTarget(t, "x").Address, dir: dir}
	var launched []*process
	target.launch = func(context.Context, *Target) error {
		process, err := spawn(dir, 0, nil, "sleep", "600")
		if err == nil {
			launched = append(launched, process)
			target.process = process
		}
		return err
	}
	t.Cleanup(func() { target.stop() })
	plan := tiny(t)
	w := Workload{Name: "restart", Kind: KindRestart, Script: "oltp_point_select", Tables: 1, Rows: 1000, Seconds: 1, Rounds: 1, Threads: []int{2}}
	s := &session{Options: Options{Plan: plan, Progress: NewProgress(nil, false)}, deaths: map[string]int{}, ends: map[string]runEnd{}, grace: runGrace, answer: answerMax,
		result: &Result{Plan: *plan, Targets: []TargetInfo{{Name: "x"}}}}
	if _, err := target.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.one(t.Context(), target, w.Steps()[0], 1)
	run := s.result.Runs[0]
	if run.failed() || run.StartSeconds <= 0 || run.Rate <= 0 || !strings.Contains(run.Command, "oltp_point_select") {
		t.Errorf("%+v", run)
	}
	if len(launched) != 2 || launched[0].alive() || !launched[1].alive() || len(s.result.Targets[0].Failures) != 0 {
		t.Errorf("%d launches, failures %v", len(launched), s.result.Targets[0].Failures)
	}
	w.Script = "no_such_script"
	s.one(t.Context(), target, w.Steps()[0], 2)
	if run := s.result.Runs[1]; !strings.Contains(run.Failure, "the clients ended too early") || len(launched) != 2 {
		t.Errorf("%d launches, %+v", len(launched), run)
	}
	w.Script = "oltp_point_select"
	target.launch = func(context.Context, *Target) error { return context.DeadlineExceeded }
	s.one(t.Context(), target, w.Steps()[0], 3)
	if run := s.result.Runs[2]; !run.failed() || run.StartSeconds != 0 {
		t.Errorf("%+v", run)
	}
}

func TestMeasureThisProcess(t *testing.T) {
	used, err := measure(os.Getpid())
	if err != nil || used.rss == 0 {
		t.Errorf("%+v %v", used, err)
	}
	if _, err := measure(0); err == nil {
		t.Error("an unknown process was measured")
	}
	if c := calibrate("x", t.TempDir()); c.Loopback == 0 || c.Fdatasync == 0 {
		t.Errorf("%+v", c)
	}
}

// What a server does after a run is the run's, and the next one's no more.
func TestRunsPayForWhatTheyLeaveBehind(t *testing.T) {
	used, err := measure(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	target := &Target{Name: "x", pid: os.Getpid()}
	run := Run{Target: "x"}
	run.Queries, run.CPUSeconds = 1000, 2
	s := &session{result: &Result{Runs: []Run{run}}, ends: map[string]runEnd{"x": {run: 0, pid: target.pid, used: used}}}
	for now := used; now.cpuSeconds == used.cpuSeconds; { // ticks of 10 ms
		if now, err = measure(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	s.chargeTail(target)
	charged := s.result.Runs[0]
	if charged.CPUSeconds <= 2 || charged.CPUMicros != charged.CPUSeconds*1e6/1000 {
		t.Errorf("%+v", charged.Cost)
	}
	s.chargeTail(target)
	if s.result.Runs[0].CPUSeconds != charged.CPUSeconds {
		t.Error("charged twice")
	}
	s.ends["x"] = runEnd{run: 0, pid: target.pid + 1, used: used}
	s.chargeTail(target)
	if s.result.Runs[0].CPUSeconds != charged.CPUSeconds {
		t.Error("charged for another process")
	}
}

func TestRestTakesAsLongAsARun(t *testing.T) {
	run := Run{}
	run.Seconds = 0.05
	s := &session{result: &Result{Runs: []Run{run}}}
	begin := clock.Mono()
	s.rest(t.Context())
	if took := clock.Since(begin); took < 50*time.Millisecond {
		t.Errorf("a rest of %v", took)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	s.result.Runs[0].Seconds = 1e6
	s.rest(stopped)
}

// What an empty server stores is not its rows'.
func TestEmptyServerIsNoRows(t *testing.T) {
	target := trivialTarget(t, "x")
	target.Kind, target.dir = KindMariaDB, t.TempDir()
	fill := func(name string, size int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(target.dir, name), []byte(strings.Repeat("x", size)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fill("ibdata1", 1<<20)
	plan := tiny(t)
	plan.StillSeconds = 0 // nothing writes beside the test
	s := &session{Options: Options{Plan: plan, Targets: []*Target{target}, Overwrite: true, Progress: NewProgress(nil, false)}, loaded: map[string]string{}, result: &Result{Plan: *plan}}
	if err := s.openTargets(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill("rows.ibd", 64<<10)
	s.prepare(t.Context(), target, &plan.Workloads[0], false)
	if info := s.result.Targets[0]; len(info.Failures) > 0 || info.EmptyBytes != 1<<20 || info.DataBytes != 64<<10 || info.Unsettled {
		t.Errorf("%+v", info)
	}
}

// A server that accepts and says nothing holds up neither a run nor the session, and is replaced.
func TestHungServerIsKilled(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	dir := t.TempDir()
	target := &Target{Name: "x", Kind: KindTrivial, Address: silent.Addr().String(), dir: dir, launch: func(context.Context, *Target) error { return nil }}
	if target.process, err = spawn(dir, 0, nil, "sleep", "600"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.stop)
	plan := tiny(t)
	s := &session{Options: Options{Plan: plan, Progress: NewProgress(nil, false)}, deaths: map[string]int{}, ends: map[string]runEnd{}, answer: 50 * time.Millisecond,
		result: &Result{Plan: *plan, Targets: []TargetInfo{{Name: "x"}}}}
	s.one(t.Context(), target, plan.Workloads[0].Steps()[0], 1)
	if run := s.result.Runs[0]; !strings.Contains(run.Failure, errTooLong.Error()) || !strings.Contains(run.Failure, "did not answer") {
		t.Errorf("%+v", run)
	}
	if notes := s.result.Targets[0].Failures; target.alive() || len(notes) != 1 || !strings.Contains(notes[0], "hung in point_select round 1 and was killed") {
		t.Errorf("%v", notes)
	}
	// One that we have not started is left alone and given up.
	target.process, target.launch = nil, nil
	s.deaths["x"] = restartsMax
	s.one(t.Context(), target, plan.Workloads[1].Steps()[0], 1)
	s.one(t.Context(), target, plan.Workloads[1].Steps()[0], 2)
	if run := s.result.Runs[2]; !strings.Contains(run.Failure, "given up") {
		t.Errorf("%+v", run)
	}
}

// A stall is no part of a rate.
func TestOverlong(t *testing.T) {
	for _, c := range []struct {
		took    float64
		seconds int
		want    bool
	}{{1.36, 1, false}, {15.2, 1, true}, {5.9, 4, false}, {19, 4, true}, {310, 300, false}} {
		if got := overlong(c.took, c.seconds); got != c.want {
			t.Errorf("%v of %d: %v", c.took, c.seconds, got)
		}
	}
}

// A server that we have not started keeps what it holds, and nothing of ours. The responder answers every SELECT with a row, so it holds
// whatever it is asked for.
func TestGivenTargetsAreLeftAsTheyWere(t *testing.T) {
	target := trivialTarget(t, "x")
	target.Kind = KindExternal
	if err := target.createAccounts(t.Context(), "sbtest", false); err == nil || !strings.Contains(err.Error(), "--overwrite") || len(target.drops) > 0 {
		t.Fatalf("%v, to undo %v", err, target.drops)
	}
	if err := target.createAccounts(t.Context(), "sbtest", true); err != nil {
		t.Fatal(err)
	}
	if want := []string{"DROP DATABASE IF EXISTS sbtest", "DROP USER IF EXISTS 'sbtest'@'%'"}; !slices.Equal(target.drops, want) || len(target.userPassword) < 20 {
		t.Errorf("to undo %v", target.drops)
	}
	if err := target.cleanUp(t.Context()); err != nil || len(target.drops) > 0 {
		t.Errorf("%v, left %v", err, target.drops)
	}
}

// TestOptionsAreCheckedFirst: what cannot work is refused before anything starts.
func TestOptionsAreCheckedFirst(t *testing.T) {
	plan := tiny(t)
	plan.CacheBytes = 4 << 30
	two := []string{KindPando, KindMariaDB}
	for _, c := range []struct {
		o      Options
		memory int64
		want   string
	}{
		{Options{Start: two, Base: "mariadb"}, 16 << 30, ""},
		{Options{Start: two, Base: "trivial", Trivial: true}, 0, ""},
		{Options{Start: two, Base: "mariadbb"}, 16 << 30, "the base mariadbb is no target"},
		{Options{Start: two, Base: "pando"}, 16 << 30, "the base pando is no target"},
		{Options{Start: two}, 6 << 30, "2 servers with a cache of 4.0 GiB each do not fit into this machine's 6.0 GiB"},
		{Options{Start: []string{KindPando3, KindGalera3}}, 16 << 30, "6 servers with a cache of 4.0 GiB each do not fit into this machine's 16.0 GiB"},
		{Options{Targets: []*Target{{Name: "a"}, {Name: "b"}}}, 1 << 30, ""},
	} {
		c.o.Plan = plan
		if err := c.o.check(c.memory); (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// The first error of a log is the reason; the last line is often "Aborting".
func TestWhyIsTheFirstError(t *testing.T) {
	for log, want := range map[string]string{
		"[Note] starting\n[ERROR] InnoDB: Cannot allocate memory for the buffer pool in $D\n[ERROR] Aborting\nbye\n": "[ERROR] InnoDB: Cannot allocate memory for the buffer pool in $DIR",
		"LOG: x\nFATAL:  could not map\nLOG: shut down":                                                              "FATAL:  could not map",
		"level=INFO msg=a\npanic: oh\ngoroutine 1":                                                                   "panic: oh",
		"one\ntwo\n": "two",
	} {
		target := &Target{dir: "/tmp/x", process: &process{}}
		_, _ = target.process.log.Write([]byte(strings.ReplaceAll(log, "$D", target.dir)))
		if got := target.why(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestUntilCalm: loaded servers are waited for while one of them works, and no longer than they may take.
func TestUntilCalm(t *testing.T) {
	const look = time.Millisecond
	const calm, busy = calmShare * 0.9 / 1000, calmShare * 1.1 / 1000 // seconds of a processor in a look
	for _, test := range []struct {
		what string
		uses [][]float64 // between looks, by server; then for ever like the last
		most time.Duration
		want int // readings; 0: for as long as it may take
	}{
		{"calm at once", [][]float64{{calm, calm, calm}}, time.Minute, 2},
		{"one is busy, then calm", [][]float64{{busy, calm}, {calm, busy}, {calm, calm}, {busy, busy}}, time.Minute, 4},
		{"never calm", [][]float64{{calm, busy}}, 20 * look, 0},
		{"no server", [][]float64{{}}, time.Minute, 2},
	} {
		readings, sums, began := 0, make([]float64, len(test.uses[0])), clock.Mono()
		untilCalm(t.Context(), func() []float64 {
			if readings++; readings > 1 {
				for i, use := range test.uses[min(readings-2, len(test.uses)-1)] {
					sums[i] += use
				}
			}
			return slices.Clone(sums)
		}, look, test.most)
		if took := clock.Since(began); test.want == 0 && took < test.most || test.want != 0 && readings != test.want {
			t.Errorf("%s: %d readings in %v, want %d", test.what, readings, took, test.want)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	untilCalm(over, func() []float64 { return nil }, time.Hour, time.Hour)
}
