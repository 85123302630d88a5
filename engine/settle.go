package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
)

const (
	// settleShare: everything is compacted when the levels above the last have more than a tenth of the last level's bytes. For each of
	// their bytes that writes about ten at most, no more than moving it down one level normally costs.
	settleShare = 10
	// settleBytesMin is the least size of the levels above the last for which that is done.
	settleBytesMin = 8 << 20
	// settleSliceBytes of the last level are compacted at a time. A compaction cannot be stopped, so slices are not large; it includes
	// whole tables, also those that reach beyond the slice, so slices are not small either.
	settleSliceBytes = 64 << 20
	// compactPatience is how long a compaction may go on after it was cancelled.
	compactPatience = 10 * time.Second
)

// Settle compacts an idle engine down to the last level, if there is enough to compact: Pebble does not compact levels that are below
// their target size, so that the dead versions and tombstones of the last writes would stay as long as the server is idle; after random
// updates they take half as much space as the live data. It goes slice by slice, and ends early, after the current slice, when busy
// returns true or ctx is done.
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

// compact makes Pebble compact what lies between two keys, down to the last level that has some of it. Pebble panics if a compaction is
// cancelled after it was picked and before it has begun (v2.1.7, runPickedCompaction; TestSinkCrash under the race detector). So it is
// cancelled only compactPatience after ctx is done: a picked compaction waits for no longer than the one before it takes.
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

// keySlice is the interval of engine keys from start to end, both included.
type keySlice struct{ start, end []byte }

// settleSlices divides the last level into slices, none if there is too little above it (settleShare, settleBytesMin).
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
		// Pebble takes no slice of a single key: that is joined with the next one, and left out at the end.
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
