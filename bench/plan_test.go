package bench

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestPlansOfTheProgram(t *testing.T) {
	names := PlanNames()
	for _, want := range []string{"compare", "copies", "promoted", "hundredfold", "fivefold", "endurance", "issue2", "load", "storm", "short", "small", "tpcc", "tpch", "reports/v1.0", "reports/v2.1", "reports/v3.0", "reports/v5.0", "reports/cloud-v6.5"} {
		if !slices.Contains(names, want) {
			t.Errorf("no plan %s", want)
		}
	}
	for _, name := range names {
		plan, err := LoadPlan(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if plan.Name != name {
			t.Errorf("%s calls itself %s", name, plan.Name)
		}
		if err := plan.Scale(0.001); err != nil || plan.Validate() != nil {
			t.Errorf("%s scaled: %v %v", name, err, plan.Validate())
		}
	}
}

// TestPublishedSizes holds the plans to the reports.
func TestPublishedSizes(t *testing.T) {
	for name, want := range map[string]struct {
		tables, rows, seconds int
		threads               []int
	}{
		"reports/v1.0":       {32, 1_000_000, 300, []int{64, 128, 256, 512, 1024}},
		"reports/v2.1":       {16, 10_000_000, 300, []int{64, 128, 256, 512, 1024}},
		"reports/v3.0":       {16, 10_000_000, 300, []int{150, 300, 600, 900, 1200, 1500}},
		"reports/v5.0":       {16, 10_000_000, 300, []int{150, 300, 600, 900, 1200, 1500}},
		"reports/cloud-v6.5": {32, 10_000_000, 1200, []int{100, 200, 400}},
	} {
		p, err := LoadPlan(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Tables != want.tables || p.Rows != want.rows || p.Seconds != want.seconds || !slices.Equal(p.Threads, want.threads) {
			t.Errorf("%s: %d x %d, %d s, %v", name, p.Tables, p.Rows, p.Seconds, p.Threads)
		}
	}
}

// TestDemands holds the plans to what is demanded.
func TestDemands(t *testing.T) {
	all := Demands{RateMin: 1.3, MeanMax: 0.9, P99Max: 1, CPUMax: 1}
	synced := all
	synced.OneClientRateMin = 1
	deletes := all
	deletes.RateMin = 1
	small := Demands{RateMin: 1, P99Max: 1.2}
	for name, want := range map[string]map[string]Demands{
		"compare": {"start": {}, "load": {}, "bulk_insert": {}, "point_select": all, "random_points": all, "random_ranges": all, "read_only": all, "read_write": all,
			"write_only": all, "update_index": synced, "update_non_index": synced, "insert": synced, "delete": deletes},
		"small": {"point_select": small, "read_write": small, "update_index": small, "update_non_index": small, "insert": small, "delete": small},
	} {
		plan, err := LoadPlan(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Workloads) != len(want) {
			t.Errorf("%s has %d workloads, not %d", name, len(plan.Workloads), len(want))
		}
		for _, w := range plan.Workloads {
			if w.Demands != want[w.Name] {
				t.Errorf("%s, %s: %+v, want %+v", name, w.Name, w.Demands, want[w.Name])
			}
			if w.Kind == KindRun && !slices.Equal(w.Threads, []int{1, 16, 64, 256}) {
				t.Errorf("%s, %s: clients %v", name, w.Name, w.Threads)
			}
		}
		if apart := name == "small"; (plan.Clients == ClientsApart) != apart || (plan.ServerCPUs == 1) != apart {
			t.Errorf("%s: clients %s, %d processors", name, plan.Clients, plan.ServerCPUs)
		}
	}
}

const tinyPlan = `{"name": "tiny", "tables": 1, "rows": 1000, "cache_bytes": 67108864, "rounds": 2, "seconds": 1, "threads": [1, 2], "ps_modes": ["auto", "disable"],
 "workloads": [{"name": "point_select", "script": "oltp_point_select", "trivial": true}, {"name": "storm", "kind": "storm", "trivial": true, "threads": [2]}]}`

// TestDemandsOfLargeTables: tables that do not fit into the cache have to reach 0.9 of the rates of those that do.
func TestDemandsOfLargeTables(t *testing.T) {
	compare, err := LoadPlan("compare")
	if err != nil {
		t.Fatal(err)
	}
	small := map[string]Workload{}
	for _, w := range compare.Workloads {
		small[w.Name] = w
	}
	for _, name := range []string{"hundredfold", "fivefold"} {
		plan, err := LoadPlan(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range plan.Workloads {
			if want := small[w.Name].Demands.RateMin * 0.9; want == 0 || math.Abs(w.Demands.RateMin-want) > 1e-9 || w.Script != small[w.Name].Script {
				t.Errorf("%s: %s demands %v of %s, wanted %v of %s", name, w.Name, w.Demands.RateMin, w.Script, want, small[w.Name].Script)
			}
		}
		if plan.Workloads[0].WarmupSeconds <= plan.Workloads[1].WarmupSeconds || plan.Workloads[1].WarmupSeconds != plan.WarmupSeconds {
			t.Errorf("%s: warm-ups of %d and %d seconds", name, plan.Workloads[0].WarmupSeconds, plan.Workloads[1].WarmupSeconds)
		}
	}
}

func TestBadPlansNameEveryFault(t *testing.T) {
	if _, err := ParsePlan([]byte(tinyPlan)); err != nil {
		t.Fatal(err)
	}
	bad := strings.NewReplacer(`"seconds": 1`, `"seconds": -1`, `"auto", `, `"sometimes", `, `"kind": "storm"`, `"kind": "rain"`, `[1, 2]`, `[0, 99999]`, "67108864", "1").Replace(tinyPlan)
	_, err := ParsePlan([]byte(bad))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"seconds is -1", `"sometimes"`, `"rain"`, "threads is 0", "threads is 99999", "below 16 MiB"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	for part, want := range map[string]string{`"kind": "start", "demands": {"rate_min": 1}}`: "is not compared", `"kind": "bulk", "demands": {"p99_max": 1}}`: "are not measured"} {
		if _, err := ParsePlan([]byte(strings.Replace(tinyPlan, `"trivial": true}`, part, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a plan with %s gave %v", part, err)
		}
	}
	for part, want := range map[string]string{`"clients": "apart"`: "can't be apart", `"clients": "there"`: "neither here nor apart", `"server_cpus": -1`: "server_cpus is -1"} {
		if _, err := ParsePlan([]byte(strings.Replace(tinyPlan, `"rounds": 2`, part, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a plan with %s gave %v", part, err)
		}
	}
	if _, err := ParsePlan([]byte(strings.Replace(tinyPlan, `"trivial": true}`, `"flor": {"ratio": 2}}`, 1))); err == nil || !strings.Contains(err.Error(), "flor") {
		t.Errorf("a misspelt key gave %v", err)
	}
	if _, err := LoadPlan("reports/v9"); err == nil || !strings.Contains(err.Error(), "reports/v5.0") {
		t.Errorf("an unknown plan gave %v", err)
	}
}

// TestGroups: the rounds of a workload's steps are measured in turn, unless each step has fresh tables.
func TestGroups(t *testing.T) {
	w := tiny(t).Workloads[0]
	steps := w.Steps()
	for _, tc := range []struct {
		reload string
		want   [][]Step
	}{{"", [][]Step{steps}}, {ReloadWorkload, [][]Step{steps}}, {ReloadStep, [][]Step{steps[:1], steps[1:2], steps[2:3], steps[3:]}}} {
		w.Reload = tc.reload
		if got := w.groups(); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("reload %q: %v, want %v", tc.reload, got, tc.want)
		}
	}
}

// TestOrder: every second round has the targets in the opposite order.
func TestOrder(t *testing.T) {
	targets := []*Target{{Name: "a"}, {Name: "b"}}
	for round, want := range map[int]string{1: "ab", 2: "ba", 3: "ab"} {
		if order := order(round, targets); order[0].Name+order[1].Name != want {
			t.Errorf("round %d: %s%s, want %s", round, order[0].Name, order[1].Name, want)
		}
	}
	if targets[0].Name != "a" {
		t.Error("the caller's list has changed")
	}
}

func TestScaleAndOverride(t *testing.T) {
	plan, err := LoadPlan("reports/v5.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Scale(0.01); err != nil {
		t.Fatal(err)
	}
	if plan.CacheBytes != 24696061952/100 {
		t.Errorf("scaled to a cache of %d bytes", plan.CacheBytes)
	}
	w := &plan.Workloads[0]
	if w.Rows != 100_000 || w.Seconds != 3 || !slices.Equal(w.Threads, []int{15, 30, 60, 90, 120, 150}) {
		t.Errorf("scaled to %d rows, %d s, %v", w.Rows, w.Seconds, w.Threads)
	}
	if plan.Scale(0) == nil || plan.Scale(2) == nil {
		t.Error("accepted a senseless scale")
	}
	if err := plan.Apply(Override{Workloads: []string{"read_write"}, Threads: []int{4}, Rounds: 9}); err != nil {
		t.Fatal(err)
	}
	if len(plan.Workloads) != 1 || plan.Workloads[0].Name != "read_write" || plan.Workloads[0].Rounds != 9 || plan.Workloads[0].Threads[0] != 4 {
		t.Errorf("got %+v", plan.Workloads)
	}
	warm, negative := 0, -5
	if err := plan.Apply(Override{Warmup: &warm, PSModes: []string{"both"}}); err != nil || plan.WarmupSeconds != 0 || plan.Workloads[0].WarmupSeconds != 0 || !slices.Equal(plan.Workloads[0].PSModes, []string{"auto", "disable"}) {
		t.Errorf("%v, warm-up %d, modes %v", err, plan.WarmupSeconds, plan.Workloads[0].PSModes)
	}
	for name, o := range map[string]Override{"an unknown workload": {Workloads: []string{"nothing"}}, "a negative warm-up": {Warmup: &negative},
		"one thread count twice": {Threads: []int{1, 4, 1}}, "one mode twice": {PSModes: []string{"auto", "auto"}}} {
		bad := *plan
		bad.Workloads = slices.Clone(plan.Workloads)
		if bad.Apply(o) == nil {
			t.Errorf("accepted %s", name)
		}
	}
	small := tiny(t)
	if err := small.Scale(0.001); err != nil || small.CacheBytes != 64<<20 {
		t.Errorf("%v, a cache of %d bytes", err, small.CacheBytes)
	}
	compare, _ := LoadPlan("compare")
	compare.Fit(18*60, 2, true)
	if w := compare.Workloads[3]; w.Seconds != 2 {
		t.Errorf("18 minutes allow %d seconds of 4", w.Seconds)
	}
	if start := compare.Workloads[0]; start.Seconds != 5 {
		t.Errorf("a start, which is not shortened, has %d seconds of 5", start.Seconds)
	}
}

func TestParseTarget(t *testing.T) {
	got, err := ParseTarget("mine=127.0.0.1:4000,pid=7,driver=pgsql,password=a")
	if err != nil || got.Name != "mine" || got.port() != "4000" || got.pid != 7 || got.driver() != "pgsql" || got.Password != "a" {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"", "x", "x=", "x=host", "=h:1", "x=h:1,pid=0", "x=h:1,driver=oracle", "x=h:1,tls=on"} {
		if _, err := ParseTarget(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}
