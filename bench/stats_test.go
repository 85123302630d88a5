package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{1, 3, 3, 3, 0}},
		{[]float64{4, 1, 3, 2}, Spread{4, 1, 2.5, 4, 1}},
		{[]float64{9, 1, 2, 3, 2}, Spread{5, 1, 2, 9, 1}},
	} {
		if got := spreadOf(c.in); got != c.want {
			t.Errorf("%v: %+v", c.in, got)
		}
	}
	if noise := spreadOf([]float64{0.9, 1, 9}).Noise(1); noise < 0.199 || noise > 0.201 {
		t.Errorf("noise %v", noise)
	}
}

// testLatency is that of runs of which each event took about so long.
func testLatency(millis float64) Latency {
	l := Latency{AvgMillis: millis, MaxMillis: 50}
	l.fill([]sample{{millis, 990}, {millis * 2, 10}})
	return l
}

// session2 builds a result with one workload at 16 threads: rates of the subject and the base, round by round; 0 is a failure.
func session2(subject, base []float64) *Result {
	plan := Plan{Name: "p", Tables: 1, Rows: 1000, Rounds: len(subject), Seconds: 1, CacheBytes: 1 << 30, Threads: []int{16}, PSModes: []string{"auto"},
		Limits:    Limits{DiskRatioMax: 0.6},
		Workloads: []Workload{{Name: "point_select", Script: "oltp_point_select", Demands: Demands{RateMin: 1.4, P99Max: 1}}}}
	plan.withDefaults()
	r := &Result{Format: resultFormat, Command: "pando bench run --plan p", Started: "2026-01-02T03:04:05Z", Ended: "2026-01-02T03:05:05Z", Base: "mariadb", Plan: plan,
		Environment: Environment{Commit: "abc", OS: "Linux", Kernel: "6.1", CPU: "CPU", CPUs: 2, Memory: 8 << 30, Files: "ext4", Sysbench: "sysbench 1.0.20", Go: "go1.26", LoadAt: 0.5, LoadEnd: 1.5},
		Targets: []TargetInfo{
			{Name: "pando", Kind: KindPando, Version: "8.0-pando", Settings: []string{"pando", "start"}, Durability: "sync", PrepareSeconds: 1.5, Prepared: "sysbench oltp_common prepare", EmptyBytes: 4096, DataBytes: 50_000, DataRows: 1000},
			{Name: "mariadb", Kind: KindMariaDB, Version: "10.11", Settings: []string{"mariadbd"}, Durability: "sync", PrepareSeconds: 2, Prepared: "sysbench oltp_common prepare", EmptyBytes: 30 << 20, DataBytes: 100_000, DataRows: 1000},
		},
		Calibrations: []Calibration{{Before: "point_select", Loopback: 40_000, Fdatasync: 8000, Load: 0.5}}}
	for i := range subject {
		for name, rate := range map[string]float64{"pando": subject[i], "mariadb": base[i]} {
			run := Run{Target: name, Workload: "point_select", PSMode: "auto", Threads: 16, Round: i + 1, Rate: rate, Command: "sysbench oltp_point_select run",
				Figures: Figures{Seconds: 1, Transactions: int64(rate), Queries: int64(rate), TPS: rate, QPS: rate, Latency: testLatency(16000 / rate)},
				Cost:    Cost{CPUSeconds: 0.5, CPUMicros: 0.5e6 / rate, Fsyncs: 0, WrittenBytes: 0, RSSBytes: 100 << 20}}
			if rate == 0 {
				run = Run{Target: name, Workload: "point_select", PSMode: "auto", Threads: 16, Round: i + 1, Failure: "FATAL: error 2013", Errors: map[string]int{"2013": 1}}
			}
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

func TestRatiosAreTakenWithinRounds(t *testing.T) {
	// The machine slows down threefold; the ratio does not notice.
	r := session2([]float64{3000, 2000, 1000}, []float64{1500, 1000, 500})
	row := r.Summarise()[0]
	if got := row.Ratios["mariadb"].Rate; got != (Spread{3, 2, 2, 2, 0}) {
		t.Errorf("%+v", got)
	}
	if misses := r.Misses(); len(misses) != 0 {
		t.Errorf("%v", misses)
	}
}

func TestMissesAreNamed(t *testing.T) {
	r := session2([]float64{1000, 1000, 1000}, []float64{1000, 1100, 1200})
	r.Targets[0].DataBytes = 70_000
	var text []string
	for _, m := range r.Misses() {
		text = append(text, m.String())
	}
	all := strings.Join(text, "\n")
	for _, want := range []string{"point_select: QPS: ratio to mariadb 0.91, where equals differ by 0 %, measured once, want at least 1.40", "point_select: p99: ratio to mariadb 1.10", "disk bytes per row after loading: 70 against mariadb's 100"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
}

// TestFailuresAreNotAveragedAway: a failed round takes its ratio with it, and the step is a miss whatever the other rounds say.
func TestFailuresAreNotAveragedAway(t *testing.T) {
	r := session2([]float64{2000, 0, 2000}, []float64{1000, 1000, 1000})
	row := r.Summarise()[0]
	if row.Ratios["mariadb"].Rate.Count != 2 || len(row.targetStep("pando").Failures) != 1 || row.targetStep("pando").Errors["2013"] != 1 {
		t.Errorf("%+v", row)
	}
	misses := r.Misses()
	if len(misses) != 1 || !strings.Contains(misses[0].String(), "pando failed 1 times: FATAL: error 2013") {
		t.Errorf("%v", misses)
	}
	dead := session2([]float64{0, 0}, []float64{1000, 1000})
	if misses := dead.Misses(); len(misses) != 3 || !strings.Contains(misses[1].String(), "1 of 1 ratios to mariadb were not measured") {
		t.Errorf("%v", misses)
	}
}

// TestUnmeasuredDemandsAreMissed: nothing is met by not being measured.
func TestUnmeasuredDemandsAreMissed(t *testing.T) {
	base := []float64{1000, 1000}
	whole := func() *Result {
		r := session2([]float64{2000, 2000}, base)
		r.Plan.Workloads[0].Demands.CPUMax, r.Plan.Limits.StartSecondsMax, r.Plan.Limits.IdleBytesMax = 1, 1, 1<<30
		return r
	}
	if misses := whole().Misses(); len(misses) != 0 {
		t.Errorf("%v", misses)
	}
	for name, c := range map[string]struct {
		change func(r *Result)
		want   []string
	}{
		"no base": {func(r *Result) { r.Base = "" }, []string{"QPS: 1 of 1 ratios", "p99", "CPU", "disk"}},
		"no latency and no CPU": {func(r *Result) {
			for i := range r.Runs {
				r.Runs[i].P99Millis, r.Runs[i].CPUMicros = 0, -1
			}
		}, []string{"p99", "CPU"}},
		"no disk": {func(r *Result) { r.Targets[0].DataBytes = 0 }, []string{"disk"}},
		"no runs": {func(r *Result) { r.Runs = nil }, []string{"QPS: 1 of 1 ratios", "p99", "CPU"}},
		"no start": {func(r *Result) {
			r.Plan.Workloads = append(r.Plan.Workloads, Workload{Name: "start", Kind: KindStart, Threads: []int{1}})
		}, []string{"the start on an empty directory of pando was not measured", "idle memory"}},
		"no restart": {func(r *Result) {
			r.Plan.Limits.RestartSecondsMax = 3
			r.Plan.Workloads = append(r.Plan.Workloads, Workload{Name: "restart", Kind: KindRestart, Threads: []int{1}})
		}, []string{"the start after a kill of pando was not measured"}},
		"nothing written, no longest, no memory": {func(r *Result) {
			r.Plan.Limits.WrittenRatioMax, r.Plan.Limits.LongestMillisMax, r.Plan.Limits.MemoryOfCacheMax = 1, 200, 1.4
			for i := range r.Runs {
				r.Runs[i].WrittenBytes, r.Runs[i].MaxMillis, r.Runs[i].RSSBytes = -1, 0, -1
			}
		}, []string{"bytes written per transaction", "the longest latency of", "the memory over the cache of"}},
		"ended early":       {func(r *Result) { r.Runs, r.Incomplete = nil, "stopped" }, []string{"ended early: stopped"}},
		"a step is missing": {func(r *Result) { r.Plan.Workloads[0].Threads = []int{16, 64} }, []string{"QPS: 1 of 2 ratios", "p99: 1 of 2", "CPU per query: 1 of 2"}},
		"no run tables": {func(r *Result) {
			r.Plan.Workloads[0].Kind, r.Targets[0].DataBytes = KindStorm, 0
			for i := range r.Runs {
				r.Runs[i].PSMode = "-"
			}
		}, nil},
	} {
		r := whole()
		c.change(r)
		misses := r.Misses()
		if len(misses) != len(c.want) {
			t.Errorf("%s: %v", name, misses)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(misses[i].String(), want) {
				t.Errorf("%s: %q is not in %v", name, want, misses[i])
			}
		}
		if text := strings.Join(r.verdictSection().text, " "); (len(c.want) == 0) != strings.Contains(text, "was met") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestEndurance: what shows in long runs and after kills has limits of its own.
func TestEndurance(t *testing.T) {
	r := session2([]float64{2000, 2000}, []float64{1000, 1000})
	r.Plan.Limits = Limits{WrittenRatioMax: 1, LongestMillisMax: 200, MemoryOfCacheMax: 1.4, RestartSecondsMax: 3}
	r.Plan.Workloads = append(r.Plan.Workloads, Workload{Name: "restart", Kind: KindRestart, Script: "oltp_update_index", Seconds: 15, Threads: []int{64}})
	restart := Run{Target: "pando", Workload: "restart", PSMode: "-", Threads: 64, Round: 1, Rate: 2, StartSeconds: 0.5, Cost: Cost{DiskBytes: 1 << 30}}
	r.Runs = append(r.Runs, restart)
	written := func(subject, base int64) {
		for i := range r.Runs {
			run := &r.Runs[i]
			each := map[string]int64{"pando": subject, "mariadb": base}[run.Target]
			run.WrittenBytes = each * run.Transactions
		}
	}
	written(700, 1000)
	if misses := r.Misses(); len(misses) != 0 {
		t.Errorf("%v", misses)
	}
	if text := markdown(r.sections()); !strings.Contains(text, "| 64 | pando | 0.500 | 1.0 GiB | 1 |") {
		t.Errorf("the start is not in\n%s", text)
	}
	written(1100, 1000)
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Target == "pando" {
			run.MaxMillis, run.RSSBytes, run.StartSeconds = 201, 3<<29, run.StartSeconds*7
		}
	}
	all := fmt.Sprint(r.Misses())
	for _, want := range []string{"ratio of bytes written per transaction to mariadb 1.10", "the longest latency of pando is 201 ms, want at most 200 ms", "the memory over the cache of pando is 1.50, want at most 1.40", "the start after a kill of pando is 3.50 s, want at most 3.00 s"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
}

func TestIncompleteReportsReplaceNoComplete(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "r")
	early := session2([]float64{2000}, []float64{1000})
	early.Incomplete = "stopped"
	whole := session2([]float64{2000}, []float64{1000})
	for i, c := range []struct {
		r    *Result
		want string
	}{{early, prefix}, {early, prefix}, {whole, prefix}, {early, prefix + "-incomplete"}, {whole, prefix}} {
		if got := ReportPrefix(c.r, prefix); got != c.want {
			t.Errorf("%d: %s", i, got)
		}
		if err := SaveUnderWay(c.r, prefix); err != nil {
			t.Fatal(err)
		}
		if got, err := FinishReport(c.r, prefix); err != nil || got != c.want {
			t.Fatal(got, err)
		}
		if _, err := os.Stat(prefix + "-incomplete.json"); (err == nil) != (c.want != prefix) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := PrepareReport(filepath.Join(prefix+".json", "below", "a file")); err == nil {
		t.Error("a directory was made below a file")
	}
	if err := PrepareReport(filepath.Join(prefix, "new", "r")); err != nil {
		t.Error(err)
	}
}

func TestCompare(t *testing.T) {
	base := []float64{1000, 1000, 1000}
	quiet := session2([]float64{2000, 2000, 2000}, base)
	for name, c := range map[string]struct {
		after      *Result
		regression bool
	}{
		"the same":              {session2([]float64{2000, 2000, 2000}, base), false},
		"half the machine":      {session2([]float64{1000, 1000, 1000}, []float64{500, 500, 500}), false},
		"4 % less":              {session2([]float64{1920, 1920, 1920}, base), false},
		"10 % less":             {session2([]float64{1800, 1800, 1800}, base), true},
		"10 % less, much noise": {session2([]float64{1400, 1800, 2200}, base), false},
		"faster":                {session2([]float64{4000, 4000, 4000}, base), false},
		"fails now":             {session2([]float64{0, 0, 0}, base), true},
		"collapses but once":    {session2([]float64{100, 100, 2000}, base), true},
		"half, much noise":      {session2([]float64{100, 1000, 3000}, base), true},
		"fails twice":           {session2([]float64{0, 0, 2000}, base), true},
		"the base fails":        {session2([]float64{2000, 2000, 2000}, []float64{0, 0, 0}), false},
		"the base fails once":   {session2([]float64{2000, 2000, 2000}, []float64{1000, 0, 1000}), false},
	} {
		changes := Compare(quiet, c.after)
		if len(changes) != 1 || changes[0].Regression != c.regression || changes[0].What != "ratio to mariadb" {
			t.Errorf("%s: %v", name, changes)
		}
		if changes[0].NotComparable != (name == "the base fails") {
			t.Errorf("%s: %v", name, changes)
		}
	}
	lost := session2([]float64{2000}, []float64{1000})
	lost.Runs, lost.Incomplete = nil, "stopped"
	if changes := Compare(quiet, lost); len(changes) != 1 || !changes[0].Regression || !strings.Contains(changes[0].String(), "no run of it") {
		t.Errorf("%v", changes)
	}
	alone := session2([]float64{1500, 1500}, base[:2])
	alone.Base = ""
	if changes := Compare(quiet, alone); len(changes) != 1 || changes[0].What != "rate of pando" || !changes[0].Regression {
		t.Errorf("%v", changes)
	}
}

// TestDifferences: sessions of other plans, subjects or machines are told apart; what may explain a change is named.
func TestDifferences(t *testing.T) {
	session := func() *Result { return session2([]float64{2000}, []float64{1000}) }
	for name, c := range map[string]struct {
		change       func(r *Result)
		apart, aside string
	}{
		"nothing":   {func(*Result) {}, "", ""},
		"commit":    {func(r *Result) { r.Environment.Commit = "def" }, "", ""},
		"subject":   {func(r *Result) { r.Targets[0].Name = "other" }, "subject: pando (pando), then other (pando)", ""},
		"rows":      {func(r *Result) { r.Plan.Workloads[0].Rows = 5 }, "point_select: tables x rows: 1 x 1000, then 1 x 5", ""},
		"cache":     {func(r *Result) { r.Plan.CacheBytes = 1 }, "cache: 1073741824, then 1", ""},
		"rand-type": {func(r *Result) { r.Plan.Workloads[0].RandType = "pareto" }, "point_select: rand-type: , then pareto", ""},
		"machine":   {func(r *Result) { r.Environment.CPUs = 64 }, "processors: 2 x CPU, then 64 x CPU", ""},
		"seconds":   {func(r *Result) { r.Plan.Workloads[0].Seconds = 9 }, "", "point_select: seconds: 1, then 9"},
		"base":      {func(r *Result) { r.Targets[1].Version = "11" }, "", "base: mariadb 10.11, then mariadb 11"},
	} {
		after := session()
		c.change(after)
		apart, aside := Differences(session(), after)
		if strings.Join(apart, "|") != c.apart || strings.Join(aside, "|") != c.aside {
			t.Errorf("%s: %q, %q", name, apart, aside)
		}
	}
}

// A command stands for the thread counts of its workload, and each mode has its own.
func TestCommandsOfAllModes(t *testing.T) {
	r := session2([]float64{2000}, []float64{1000})
	w := &r.Plan.Workloads[0]
	w.Threads, w.PSModes = []int{16, 64}, []string{"auto", "disable"}
	for i, run := range r.Runs {
		r.Runs[i].Command = "sysbench --threads=16 --db-ps-mode=auto run"
		run.PSMode, run.Command = "disable", "sysbench --threads=16 --db-ps-mode=disable run"
		r.Runs = append(r.Runs, run)
	}
	code := strings.Join(r.planSection(r.Summarise()).code, "\n")
	if want := "sysbench --threads=$THREADS --db-ps-mode=auto run\nsysbench --threads=$THREADS --db-ps-mode=disable run"; !strings.HasSuffix(code, want) {
		t.Error(code)
	}
}
