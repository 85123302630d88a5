package engine

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
)

// TestTablesYield: what is ready to run does so before the next block of a table that has been worked on for a while, and not before
// each block. The table says the same of its blocks as without that.
func TestTablesYield(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const attempts = 10
	// ran counts how often a goroutine that is ready when a block is full has run when the next one begins. The runtime may take the
	// processor from the test at any time, and looks first at what has yielded every now and then: one attempt in ten may go wrong.
	ran := func(collector func() pebble.BlockPropertyCollector) (often int, property []byte) {
		key := pebble.InternalKey{
			UserKey: cockroachkvs.EncodeMVCCKey(nil, []byte("key"), 7, 0),
			Trailer: pebble.MakeInternalKeyTrailer(1, pebble.InternalKeyKindSet),
		}
		for range attempts {
			c := collector()
			if err := c.AddPointKey(key, nil); err != nil {
				t.Fatal(err)
			}
			var seen atomic.Bool
			done := make(chan struct{})
			go func() { defer close(done); seen.Store(true) }()
			var err error
			if property, err = c.FinishDataBlock(nil); err != nil {
				t.Fatal(err)
			}
			if seen.Load() {
				often++
			}
			<-done
		}
		return often, property
	}
	collectors := (&Engine{}).pebbleOptions().BlockPropertyCollectors
	if len(collectors) != len(cockroachkvs.BlockPropertyCollectors) {
		t.Fatalf("%d collectors, want %d", len(collectors), len(cockroachkvs.BlockPropertyCollectors))
	}
	for i, collector := range collectors {
		plain := cockroachkvs.BlockPropertyCollectors[i]
		if got, want := collector().Name(), plain().Name(); got != want {
			t.Errorf("collector %d is %q, want %q", i, got, want)
		}
		often, want := ran(plain)
		if often > attempts/2 {
			t.Errorf("goroutines run while a plain collector works, %d times in %d: this test shows nothing", often, attempts)
		}
		often, got := ran(collector)
		if often <= attempts/2 {
			t.Errorf("what was ready ran %d times in %d before the next block", often, attempts)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("collector %d says %x, want %x", i, got, want)
		}
		if often, _ := ran(func() pebble.BlockPropertyCollector {
			c := collector().(*yieldingCollector)
			c.last = clock.Mono() + time.Hour
			return c
		}); often > attempts/2 {
			t.Errorf("a table yields right after it has yielded, %d times in %d", often, attempts)
		}
	}
}

// TestTablesYieldToMany: where very many goroutines are ready all the time, a table comes behind all of them once in a while, but not
// every time.
func TestTablesYieldToMany(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const (
		others = 300
		yields = 20
	)
	var (
		turns atomic.Int64
		stop  atomic.Bool
		ended sync.WaitGroup
	)
	for range others {
		ended.Go(func() {
			for !stop.Load() {
				for began := clock.Mono(); clock.Since(began) < 200*time.Microsecond; {
				}
				turns.Add(1)
				runtime.Gosched()
			}
		})
	}
	defer ended.Wait()
	defer stop.Store(true)
	// turnsPer is how many turns the others have before a block, on average.
	turnsPer := func(c *yieldingCollector) int64 {
		began := turns.Load()
		for range yields {
			c.last = clock.Mono() - yieldEvery
			if _, err := c.FinishDataBlock(nil); err != nil {
				t.Fatal(err)
			}
		}
		return (turns.Load() - began) / yields
	}
	collector := (&Engine{}).pebbleOptions().BlockPropertyCollectors[0]
	if n := turnsPer(collector().(*yieldingCollector)); n == 0 || n > others/3 {
		t.Errorf("%d turns of %d goroutines before each block", n, others)
	}
}
