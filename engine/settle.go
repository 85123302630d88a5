package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
)

const (
	// settleShare: what lies above the last level is worth a compaction of all when it is more than a tenth of the last level's
	// bytes. It then writes some ten bytes for each of them at most, no more than another level would.
	settleShare = 10
	// settleBytesMin are worth nothing.
	settleBytesMin = 8 << 20
	// settleSliceBytes of the last level are compacted at a time. A compaction can't be stopped, and takes the parts of its
	// neighbours' tables that stick out, so slices are neither large nor small.
	settleSliceBytes = 64 << 20
	// compactPatience is how long a compaction goes on that nobody wants any more.
	compactPatience = 10 * time.Second
)

// Settle compacts what lies above the last level into it, if that is worth it, for an engine that nobody writes to: Pebble leaves
// levels that are below their size alone, so that the versions and tombstones of the last load would stay for as long as
// the server is idle, a half of the space again where the load was updates at random. It goes slice by slice and ends early when
// busy says so or ctx is done, after the slice at hand.
func (e *Engine) Settle(ctx context.Context, busy func() bool) error {
	slices, err := e.settleSlices()
	if err != nil {
		return fmt.Errorf("engine: settle: %w", err)
	}
	for _, s := range slices {
		if busy() || ctx.Err() != nil {
			return ctx.Err()
		}
		if err := e.compact(ctx, s); err != nil {
			return fmt.Errorf("engine: settle: %w", err)
		}
	}
	return nil
}

// compact has Pebble compact what lies between two keys, down to the last level that has some of it. Pebble panics if that is
// cancelled after it was picked and before it has begun (v2.1.7, runPickedCompaction; TestSinkCrash under the race detector), so
// the end of ctx counts only after compactPatience: one that was picked waits for no longer than the compaction before it.
func (e *Engine) compact(ctx context.Context, s keySlice) error {
	patient, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		timer := clock.NewTimer(compactPatience)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-patient.Done():
		}
	})()
	return e.db.Compact(patient, s.start, s.end, false)
}

// keySlice is the stretch of keys from start to end, both included.
type keySlice struct{ start, end []byte }

// settleSlices divides the last level, none if it is not worth a compaction.
func (e *Engine) settleSlices() (slices []keySlice, err error) {
	levels, err := e.db.SSTables()
	if err != nil {
		return nil, err
	}
	above, lowest := uint64(0), levels[len(levels)-1]
	for _, level := range levels[:len(levels)-1] {
		for i := range level {
			above += level[i].Size
		}
	}
	var bottom, size uint64
	var s keySlice
	for i := range lowest {
		t := &lowest[i]
		if s.start == nil {
			s.start = t.Smallest.UserKey
		}
		s.end = t.Largest.UserKey
		bottom += t.Size
		// A slice of one key can't be told to Pebble; it joins the next, and is left out at the end.
		if size += t.Size; (size >= settleSliceBytes || i == len(lowest)-1) && cockroachkvs.Compare(s.start, s.end) < 0 {
			slices = append(slices, s)
			s, size = keySlice{}, 0
		}
	}
	if above < settleBytesMin || above < bottom/settleShare {
		return nil, nil
	}
	return slices, nil
}
