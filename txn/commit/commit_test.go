package commit

import (
	"slices"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// worldsMin is how many runs TestSimulation makes, and worldsMax how many a canary may take until it is noticed.
const (
	worldsMin = 800
	worldsMax = 6000
)

// TestSimulation runs clients over regions that lose their leaders and split, and a network that loses and repeats; coordinators die.
// Whatever was read, acknowledged or refused must be so in the end (C3 to C7), and the history must be serial and strict.
func TestSimulation(t *testing.T) {
	seed := testkit.Seed(t)
	worlds := worldsMin
	if testkit.SlowTests() {
		worlds *= 100
	}
	var paths [Paths]int
	outcomes := map[string]int{}
	for n := range worlds {
		w := newWorld(testkit.Rand(seed, uint64(n)), rules{})
		w.bank = n%3 == 0
		if n%2 == 1 {
			w.small(seed, n)
		}
		if err := simulate(w); err != nil {
			t.Fatalf("world %d, %+v: %v", n, w.limits, err)
		}
		for p, k := range w.paths {
			paths[p] += k
		}
		for _, h := range w.history {
			outcomes[[]string{"committed", "aborted", "unknown"}[h.Outcome]]++
		}
	}
	t.Logf("commits by path %v, outcomes %v", paths, outcomes)
	for p, k := range paths {
		if k < worlds/10 {
			t.Errorf("path %v has committed %d times only", Path(p), k)
		}
	}
}

// small draws limits, from numbers of their own: what else happens in a world is the same without.
func (w *world) small(seed uint64, n int) {
	testkit.Small(testkit.Rand(seed, uint64(n)+1<<32), &w.limits)
}

// TestSmallLimitsCanary: a fault of commits that take several requests to a region is noticed with small limits alone.
func TestSmallLimitsCanary(t *testing.T) {
	seed := testkit.Seed(t)
	for n := range worldsMax {
		world := func() *world { return newWorld(testkit.Rand(seed, uint64(n)), rules{onePart: true}) }
		if err := simulate(world()); err != nil {
			t.Fatalf("world %d, without small limits: %v", n, err)
		}
		w := world()
		w.small(seed, n)
		if err := simulate(w); err != nil {
			t.Logf("world %d: %v", n, err)
			return
		}
	}
	t.Fatalf("not noticed in %d worlds", worldsMax)
}

// TestCanaries breaks a rule at a time: the simulation must notice.
func TestCanaries(t *testing.T) {
	seed := testkit.Seed(t)
	for name, r := range map[string]rules{
		"the timestamp before the marks":        {timestampFirst: true},
		"marks until proposed":                  {markTillPropose: true},
		"a mark without timestamp is passed":    {passUnstamped: true},
		"the iterator before the marks":         {readThenMarks: true},
		"serving before applying":               {serveUnapplied: true},
		"serving while deposed":                 {serveDeposed: true},
		"a split past the line":                 {splitPast: true},
		"the primary's timestamp":               {leastOfPrimary: true},
		"checks before the prewrites":           {checkFirst: true},
		"no rollback markers":                   {noMarkers: true},
		"the latest version past a lock":        {latestPasses: true},
		"the primary of an orphan":              {primaryAlone: true},
		"locks fall before what decides":        {fallLate: true},
		"a failure that is not final":           {failEarly: true},
		"versions that do not know their start": {forgetStart: true},
		"an entry whose changes are blind":      {groupBlind: true},
		"a key that changed is not looked at":   {trustOld: true},
		"keys are as they were read until now":  {momentLate: true},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range worldsMax {
				if err := simulate(newWorld(testkit.Rand(seed, uint64(n)), r)); err != nil {
					t.Logf("world %d: %v", n, err)
					return
				}
			}
			t.Fatalf("not noticed in %d worlds", worldsMax)
		})
	}
}

// TestFoundWorlds repeats runs that found a fault once.
func TestFoundWorlds(t *testing.T) {
	for _, found := range []struct {
		seed, world uint64
		bank        bool
	}{
		// A commit of one phase was not answered, the region was split, and the lock of a younger transaction hid what it had written.
		{1795769917000247025, 73416, 73416%3 == 0},
	} {
		w := newWorld(testkit.Rand(found.seed, found.world), rules{})
		w.bank = found.bank
		if err := simulate(w); err != nil {
			t.Errorf("seed %d, world %d: %v", found.seed, found.world, err)
		}
	}
}

// collected is a State in which all that is finished has been collected.
type collected struct{ simState }

func (collected) Floor() clock.Timestamp { return 100 }

// TestResolvedByOthers: a resolver that finds a transaction committed finishes its lock, whatever others have done since: they may have
// finished it, and what that left of it may have been collected.
func TestResolvedByOthers(t *testing.T) {
	w := newWorld(testkit.Rand(testkit.Seed(t), 0), rules{})
	key := []byte(simKey(0))
	r := NewResolver(kvapi.LockInfo{Key: key, Primary: key, Start: 5, Least: 6}, nil)
	steps := r.Begin(w.located(), w.oracle())
	steps = r.Answer(steps[0].ID, kvapi.Status{State: kvapi.TxnCommitted, Commit: 7}, nil)
	_, result, err := FinishKeys(collected{simState{w: w}}, steps[0].Request.(*kvapi.FinishRequest))
	if err == nil {
		t.Fatal("the collected transaction is known")
	}
	if steps = r.Answer(steps[0].ID, result, err); len(steps) != 1 || steps[0].Kind != StepDone || steps[0].Outcome.Err != nil {
		t.Errorf("%v leads to %+v", err, steps)
	}
}

// TestNobodyLeads: a coordinator that is told that nobody leads what it asks for asks no more. What was committed before is told as such, and what nobody knows is undetermined.
func TestNobodyLeads(t *testing.T) {
	regions := []*kvapi.Region{{ID: 1, Mode: kvapi.ModeRaft, End: []byte("m")}, {ID: 2, Mode: kvapi.ModeRaft, Start: []byte("m")}}
	for _, c := range []struct {
		what            string
		onePhase, async bool
		keys            string
		after           int // answers before
	}{
		{"one phase", true, true, "ab", 0}, {"async", true, true, "az", 0}, {"async, a part is locked", true, true, "az", 1},
		{"two phases", false, false, "az", 0}, {"two phases, a part is locked", false, false, "az", 1}, {"two phases, all is locked", false, false, "az", 2},
	} {
		plan := Plan{Start: 100, OnePhase: c.onePhase, Async: c.async}
		for _, k := range c.keys {
			plan.Mutations = append(plan.Mutations, kvapi.Mutation{Key: []byte(string(k)), Value: []byte("v")})
		}
		co := New(plan)
		steps := slices.Clone(co.Begin(regions))
		told, committed := 0, false
		for n := 0; len(steps) > 0; n++ {
			if n > 20 {
				t.Fatalf("%s: it goes on asking", c.what)
			}
			s := steps[0]
			steps = steps[1:]
			switch s.Kind {
			case StepSend:
				if n < c.after {
					steps = append(steps, co.Answer(s.ID, kvapi.PrewriteResult{Least: 101}, nil)...)
					continue
				}
				steps = append(steps, co.Answer(s.ID, nil, ErrNobody)...)
			case StepTimestamp:
				steps = append(steps, co.Timestamp(200, nil)...)
			case StepDone:
				told++
				committed = s.Outcome.Err == nil
			default:
				t.Fatalf("%s: step %d", c.what, s.Kind)
			}
		}
		if told != 1 || committed || !co.Ended() {
			t.Errorf("%s: told %d times, committed %t, ended %t", c.what, told, committed, co.Ended())
		}
	}
}

// TestPathOfLargeCommits: a commit of one region is of one phase unless it has more than OnePhaseBytes besides its largest mutation, which several phases would
// not make smaller, but write twice.
func TestPathOfLargeCommits(t *testing.T) {
	regions := []*kvapi.Region{{ID: 1, Mode: kvapi.ModeRaft, End: []byte("m")}, {ID: 2, Mode: kvapi.ModeRaft, Start: []byte("m")}}
	limits := defaultLimits
	limits.OnePhaseBytes = 1000
	for _, c := range []struct {
		keys  string
		sizes []int
		path  Path
	}{
		{"a", []int{10}, OnePhase}, {"a", []int{100_000}, OnePhase}, {"abc", []int{300, 100_000, 300}, OnePhase}, {"abc", []int{600, 100_000, 600}, Async},
		{"ab", []int{100_000, 100_000}, Async}, {"abc", []int{300, 300, 300}, OnePhase}, {"az", []int{10, 100_000}, Async},
	} {
		plan := Plan{Start: 100, OnePhase: true, Async: true, Limits: &limits}
		for i, k := range c.keys {
			plan.Mutations = append(plan.Mutations, kvapi.Mutation{Key: []byte(string(k)), Value: make([]byte, c.sizes[i])})
		}
		co := New(plan)
		co.Begin(regions)
		if co.path != c.path {
			t.Errorf("%s of %v bytes: path %d, want %d", c.keys, c.sizes, co.path, c.path)
		}
	}
}
