package engine

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"
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
)

// Settle compacts what lies above the last level into it, if that is worth it, for an engine that nobody writes to: Pebble leaves
// levels that are below their size alone, so that the versions and tombstones of the last load would stay for as long as
// the server is idle, a half of the space again where the load was updates at random. It goes slice by slice and ends early when
// busy says so or ctx is done; compactions under way go on then.
func (e *Engine) Settle(ctx context.Context, busy func() bool) error {
	slices, err := e.settleSlices()
	if err != nil {
		return fmt.Errorf("engine: settle: %w", err)
	}
	for _, s := range slices {
		if busy() {
			return nil
		}
		if err := e.db.Compact(ctx, s.start, s.end, false); err != nil {
			return fmt.Errorf("engine: settle: %w", err)
		}
	}
	return nil
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
