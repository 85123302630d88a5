package explore

import (
	"strings"
	"testing"
)

const (
	x  = uint8(1)
	y  = uint8(2)
	xy = x | y

	stateLimit = 2_000_000 // more than any scenario here has; a search that reaches it fails the test
)

// scenarios has one model per way to commit, small enough to be visited whole.
var scenarios = map[string]Scenario{
	"one phase, leader changes, split": {
		Txns: [2]TxnPlan{{Path: OnePhase, Writes: xy}}, Readers: [2]bool{true}, MaySplit: true, LeaderChanges: 1,
	},
	"one phase, two writers": {
		Txns: [2]TxnPlan{{Path: OnePhase, Writes: x}, {Path: OnePhase, Writes: y}}, Readers: [2]bool{true}, MaySplit: true, LeaderChanges: 1,
	},
	"one phase, checks": {
		Txns:    [2]TxnPlan{{Path: OnePhase, Writes: x, Checks: y}, {Path: OnePhase, Writes: y, Checks: x}},
		Readers: [2]bool{true}, LeaderChanges: 1,
	},
	"latest": {
		Txns: [2]TxnPlan{{Path: OnePhase, Writes: x}, {Path: OnePhase, Writes: y}}, Readers: [2]bool{true}, Latest: [2]bool{true},
		Split: true, LeaderChanges: 1,
	},
	"async": {
		Txns: [2]TxnPlan{{Path: Async, Writes: xy}}, Readers: [2]bool{true}, Split: true, LeaderChanges: 1, MayDie: true,
	},
	"async, split": {
		Txns: [2]TxnPlan{{Path: Async, Writes: xy}}, Readers: [2]bool{true}, MaySplit: true, MayDie: true,
	},
	"async beside one phase": {
		Txns: [2]TxnPlan{{Path: Async, Writes: xy}, {Path: OnePhase, Writes: y}}, Readers: [2]bool{true}, Split: true, MayDie: true,
	},
	"two phases, checks": {
		Txns:    [2]TxnPlan{{Path: TwoPhase, Writes: x, Checks: y}, {Path: TwoPhase, Writes: y, Checks: x}},
		Readers: [2]bool{true}, Split: true, LeaderChanges: 1, MayDie: true,
	},
	"two phases beside one phase": {
		Txns:    [2]TxnPlan{{Path: TwoPhase, Writes: x, Checks: y}, {Path: OnePhase, Writes: y}},
		Readers: [2]bool{true}, Split: true, LeaderChanges: 1, MayDie: true,
	},
	"two phases": {
		Txns: [2]TxnPlan{{Path: TwoPhase, Writes: xy}}, Readers: [2]bool{true}, Split: true, LeaderChanges: 1, MayDie: true,
	},
}

func TestRuleAHasNoFault(t *testing.T) {
	for name, sc := range scenarios {
		t.Run(name, func(t *testing.T) {
			sc.Rules = AllRules()
			got := sc.Run(stateLimit)
			t.Logf("%d states", got.States)
			if got.Fault != "" {
				t.Fatalf("%s\n%s", got.Fault, strings.Join(got.Trace, "\n"))
			}
			if !got.Complete {
				t.Fatalf("the search stopped after %d states", got.States)
			}
		})
	}
}

// TestCanaries switches off one rule at a time: the search must find what goes wrong.
func TestCanaries(t *testing.T) {
	for _, canary := range []struct {
		rule, scenario string
		off            func(*Rules)
	}{
		{"marks before the timestamp", "one phase, leader changes, split", func(r *Rules) { r.MarkFirst = false }},
		{"marks until applied", "one phase, leader changes, split", func(r *Rules) { r.MarkTillApply = false }},
		{"wait for a mark without timestamp", "one phase, leader changes, split", func(r *Rules) { r.WaitUnstamped = false }},
		{"marks before the iterator", "one phase, leader changes, split", func(r *Rules) { r.MarksThenRead = false }},
		{"apply before serving", "one phase, leader changes, split", func(r *Rules) { r.ApplyThenServe = false }},
		{"lease", "one phase, leader changes, split", func(r *Rules) { r.Lease = false }},
		{"split in line", "one phase, leader changes, split", func(r *Rules) { r.SplitInLine = false }},
		{"latest waits", "latest", func(r *Rules) { r.LatestWaits = false }},
		{"greatest of the prewrites", "async", func(r *Rules) { r.MaxOfPrewrites = false }},
		{"all keys resolve", "async", func(r *Rules) { r.ResolveAll = false }},
		{"rollback marker", "async", func(r *Rules) { r.RollbackMarker = false }},
		{"rollback marker on the primary", "two phases", func(r *Rules) { r.RollbackMarker = false }},
		{"checks after the timestamp", "two phases beside one phase", func(r *Rules) { r.CheckAfterTS = false }},
	} {
		t.Run(canary.rule, func(t *testing.T) {
			sc, ok := scenarios[canary.scenario]
			if !ok {
				t.Fatalf("no scenario %q", canary.scenario)
			}
			sc.Rules = AllRules()
			canary.off(&sc.Rules)
			got := sc.Run(stateLimit)
			if got.Fault == "" {
				t.Fatalf("no fault in %d states (complete: %v)", got.States, got.Complete)
			}
			if len(got.Trace) == 0 {
				t.Fatal("a fault without a way to it")
			}
			t.Logf("%s\n%s", got.Fault, strings.Join(got.Trace, "\n"))
		})
	}
}

// TestExploreLimit holds X1: a search that was cut says so.
func TestExploreLimit(t *testing.T) {
	sc := scenarios["two phases"]
	sc.Rules = AllRules()
	if got := sc.Run(100); got.Complete || got.Fault != "" || got.States != 100 {
		t.Fatalf("got %+v", got)
	}
}

// TestExploreShortest holds X2 on a graph whose shortest way is known.
func TestExploreShortest(t *testing.T) {
	steps := func(n int) []Step[int] {
		return []Step[int]{{Name: "+1", Next: n + 1}, {Name: "*2", Next: n * 2}}
	}
	got := Explore(1, steps, func(n int) string {
		if n == 20 {
			return "twenty"
		}
		return ""
	}, 1000)
	if got.Fault != "twenty" || len(got.Trace) != 5 {
		t.Fatalf("got %+v", got)
	}
}
