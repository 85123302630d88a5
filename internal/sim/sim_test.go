package sim

import (
	"testing"
	"testing/cryptotest"

	"github.com/pandodb/pando/internal/testkit"
)

// run is Run with raft's election timeouts drawn from the seed, too.
func run(t *testing.T, o Options) (fault string, digest uint64) {
	t.Helper()
	t.Run("world", func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, o.Seed)
		fault, digest = Run(o)
	})
	return fault, digest
}

const stepsPerSeed = 3000

// TestSeeds runs worlds of one, three and five stores.
func TestSeeds(t *testing.T) {
	n := 40
	if testkit.SlowTests() {
		n = 2000
	}
	base := testkit.Seed(t)
	for i := range uint64(n) {
		o := Options{Seed: base + i, Stores: []int{1, 3, 3, 5}[i%4], Steps: stepsPerSeed, Rules: AllRules()}
		if fault, _ := run(t, o); fault != "" {
			t.Fatalf("%d stores, %s", o.Stores, fault)
		}
	}
}

// TestRepeatable: a seed decides everything (D1).
func TestRepeatable(t *testing.T) {
	o := Options{Seed: 99, Stores: 3, Steps: stepsPerSeed, Rules: AllRules()}
	_, first := run(t, o)
	if _, again := run(t, o); again != first {
		t.Fatalf("the same seed gave %x and %x", first, again)
	}
	o.Seed++
	if _, other := run(t, o); other == first {
		t.Fatal("another seed gave the same run")
	}
}

// TestCanaries: without a rule there is a fault (D2).
func TestCanaries(t *testing.T) {
	for name, off := range map[string]func(*Rules){
		"sync before ack":      func(r *Rules) { r.SyncBeforeAck = false },
		"log before apply":     func(r *Rules) { r.LogBeforeApply = false },
		"truncate in tables":   func(r *Rules) { r.TruncateInTables = false },
		"one class of a key":   func(r *Rules) { r.OneClass = false },
		"apply state in batch": func(r *Rules) { r.ApplyStateInBatch = false },
	} {
		t.Run(name, func(t *testing.T) {
			rules := AllRules()
			off(&rules)
			for i := range uint64(60) {
				o := Options{Seed: 1000 + i, Stores: []int{3, 1}[i%2], Steps: stepsPerSeed, Rules: rules}
				if fault, _ := run(t, o); fault != "" {
					return
				}
			}
			t.Error("no seed found it")
		})
	}
}
