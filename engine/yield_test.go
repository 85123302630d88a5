package engine

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
)

// TestTablesYield: what is ready to run does so before the next block of a table that has been worked on for a while, and the table
// says the same of its blocks as without that.
func TestTablesYield(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// ranBefore tells whether a goroutine that is ready when a block is full has run when the next one begins.
	ranBefore := func(c pebble.BlockPropertyCollector) (ran bool, property []byte) {
		key := cockroachkvs.EncodeMVCCKey(nil, []byte("key"), 7, 0)
		if err := c.AddPointKey(pebble.InternalKey{UserKey: key, Trailer: pebble.MakeInternalKeyTrailer(1, pebble.InternalKeyKindSet)}, nil); err != nil {
			t.Fatal(err)
		}
		var seen atomic.Bool
		done := make(chan struct{})
		go func() { defer close(done); seen.Store(true) }()
		property, err := c.FinishDataBlock(nil)
		if err != nil {
			t.Fatal(err)
		}
		ran = seen.Load()
		<-done
		return ran, property
	}
	var plain [][]byte
	for _, collector := range cockroachkvs.BlockPropertyCollectors {
		// The canary. The runtime may take the processor from the test at any time, but hardly ten times in a row.
		const attempts = 10
		always := true
		var property []byte
		for range attempts {
			var ran bool
			ran, property = ranBefore(collector())
			always = always && ran
		}
		if always {
			t.Error("goroutines run while a plain collector works: this test shows nothing")
		}
		plain = append(plain, property)
	}
	collectors := yieldingCollectors()
	if len(collectors) != len(plain) {
		t.Fatalf("%d collectors, want %d", len(collectors), len(plain))
	}
	for i, collector := range collectors {
		c := collector()
		if got, want := c.Name(), cockroachkvs.BlockPropertyCollectors[i]().Name(); got != want {
			t.Errorf("collector %d is %q, want %q", i, got, want)
		}
		ran, property := ranBefore(c)
		if !ran {
			t.Errorf("what was ready did not run before collector %d went on", i)
		}
		if !bytes.Equal(property, plain[i]) {
			t.Errorf("collector %d says %x, want %x", i, property, plain[i])
		}
	}
}
