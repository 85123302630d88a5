package sim

import (
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/replica"
)

// runWorld is RunCounted with raft's election timeouts drawn from the seed, too.
func runWorld(t *testing.T, o Options) (fault string, digest uint64, counts Counts) {
	t.Helper()
	t.Run("world", func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, o.Seed)
		fault, digest, counts = RunCounted(o)
	})
	return fault, digest, counts
}

const (
	stepsPerSeed = 8000
	// smallStream draws the limits of a world, leaseStream its lease.
	smallStream = 2
	leaseStream = 3
	leaseMin    = 500 * time.Millisecond
)

// TestSeeds runs worlds of one, three, four and five stores, and looks that what it is about has happened in them.
func TestSeeds(t *testing.T) {
	n := 40
	if testkit.SlowTests() {
		n = 2000
	}
	base := testkit.Seed(t)
	var sum Counts
	for i := range uint64(n) {
		o := Options{Seed: base + i, Stores: []int{4, 3, 5, 1}[i%4], Steps: stepsPerSeed, Rules: AllRules()}
		if i%8 >= 4 {
			testkit.Small(testkit.Rand(o.Seed, smallStream), &o.Limits)
		}
		if i%8 == 1 || i%8 == 2 {
			o.Lease = replica.Lease(leaseMin) + replica.Lease(testkit.Rand(o.Seed, leaseStream).Int64N(int64(replica.LeaseLength)-int64(leaseMin)))
		}
		fault, _, c := runWorld(t, o)
		if fault != "" {
			t.Fatalf("%d stores, %s", o.Stores, fault)
		}
		sum.Acked, sum.Elections, sum.Snapshots, sum.Installed = sum.Acked+c.Acked, sum.Elections+c.Elections, sum.Snapshots+c.Snapshots, sum.Installed+c.Installed
		sum.Changes, sum.Joint, sum.Removals = sum.Changes+c.Changes, sum.Joint+c.Joint, sum.Removals+c.Removals
		sum.Takeovers, sum.Reads = sum.Takeovers+c.Takeovers, sum.Reads+c.Reads
		sum.Resigned, sum.Early = sum.Resigned+c.Resigned, sum.Early+c.Early
	}
	t.Logf("%+v", sum)
	if sum.Elections == 0 || sum.Installed == 0 || sum.Joint == 0 || sum.Removals == 0 || sum.Takeovers == 0 || sum.Reads == 0 || sum.Resigned == 0 || sum.Early == 0 {
		t.Errorf("something did not happen in any world: %+v", sum)
	}
}

// TestRepeatable: a seed decides everything (D1).
func TestRepeatable(t *testing.T) {
	o := Options{Seed: 99, Stores: 5, Steps: stepsPerSeed, Rules: AllRules()}
	_, first, _ := runWorld(t, o)
	if _, again, _ := runWorld(t, o); again != first {
		t.Fatalf("the same seed gave %x and %x", first, again)
	}
	o.Seed++
	if _, other, _ := runWorld(t, o); other == first {
		t.Fatal("another seed gave the same run")
	}
}

// TestSmallLimitsCanary: a fault of what is done only if a limit is met is not found while limits are the product's, and is as soon as they are small.
func TestSmallLimitsCanary(t *testing.T) {
	rules := AllRules()
	rules.ReadsWritten = false
	for i := range uint64(20) {
		o := Options{Seed: 1000 + i, Stores: 3, Steps: stepsPerSeed, Rules: rules}
		if fault, _, _ := runWorld(t, o); fault != "" {
			t.Fatalf("found without small limits: %s", fault)
		}
		testkit.Small(testkit.Rand(o.Seed, smallStream), &o.Limits)
		if fault, _, _ := runWorld(t, o); fault != "" {
			t.Logf("seed %d of 20: %.200s", i, fault)
			return
		}
	}
	t.Error("no seed found it")
}

// TestCanaries: without a rule there is a fault (D2).
func TestCanaries(t *testing.T) {
	for name, off := range map[string]func(*Rules){
		"sync before ack":      func(r *Rules) { r.SyncBeforeAck = false },
		"log before apply":     func(r *Rules) { r.LogBeforeApply = false },
		"truncate in tables":   func(r *Rules) { r.TruncateInTables = false },
		"one class of a key":   func(r *Rules) { r.OneClass = false },
		"apply state in batch": func(r *Rules) { r.ApplyStateInBatch = false },
		"nothing in between":   func(r *Rules) { r.NothingInBetween = false },
		"snapshots are sent":   func(r *Rules) { r.SnapshotsSent = false },
		"lease waited out":     func(r *Rules) { r.LeaseWaited = false },
		"service said":         func(r *Rules) { r.ServiceSaid = false },
		"stops, then says so":  func(r *Rules) { r.StopsFirst = false },
	} {
		t.Run(name, func(t *testing.T) {
			rules := AllRules()
			off(&rules)
			for i := range uint64(60) {
				o := Options{Seed: 1000 + i, Stores: []int{4, 1, 5}[i%3], Steps: stepsPerSeed, Rules: rules}
				if fault, _, _ := runWorld(t, o); fault != "" {
					t.Logf("seed %d of %d: %.200s", i, 60, fault)
					return
				}
			}
			t.Error("no seed found it")
		})
	}
}
