package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
)

const (
	// Tables are moved only while there are fewer than sinkTablesMax in all, and fewer than half of Options.MaxOpenFiles. Moved tables
	// are as small as those of L0; if there are many, Pebble's compactions of L0 make larger ones of them.
	sinkTablesMax = 2000
	sinkShare     = 2

	// never is a timestamp that no version in a table has.
	never = clock.Timestamp(math.MaxInt64)
)

// sinker moves the tables of bulk loads from L0 to a lower level as they are flushed. A load's tables overlap nothing, but Pebble leaves
// them in L0 until some flush overlaps another, which triggers a compaction. That one then includes all tables that lie next to each other
// in L0, up to the next table of the level below, which is mostly the whole load: it is written once more. A move only writes some
// hundred bytes to the manifest (docs/design/measured/sink.md).
type sinker struct {
	kick chan struct{} // signals a flush; room for one
	stop context.CancelFunc
	done sync.WaitGroup
}

// startSinker starts the sinker's goroutine, which stopSinker ends.
func (e *Engine) startSinker() {
	ctx, stop := context.WithCancel(context.Background())
	e.sinker.stop = stop
	e.sinker.done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-e.sinker.kick:
			}
			if err := e.sink(ctx); err != nil && !errors.Is(err, context.Canceled) {
				e.opts.Logger.Warn("cannot move the tables of a load", "error", err)
			}
		}
	})
}

func (e *Engine) stopSinker() {
	e.sinker.stop()
	e.sinker.done.Wait()
}

// kickSinker signals that there was a flush. It does not block.
func (e *Engine) kickSinker() {
	select {
	case e.sinker.kick <- struct{}{}:
	default:
	}
}

// sink moves the tables of loads that are in L0.
func (e *Engine) sink(ctx context.Context) error {
	loads, flushes := e.loads.active()
	if len(loads) == 0 || e.DiskFull() {
		return nil
	}
	levels, err := e.db.SSTables()
	if err != nil {
		return err
	}
	tables := 0
	for _, level := range levels {
		tables += len(level)
	}
	if tables >= min(sinkTablesMax, e.opts.MaxOpenFiles/sinkShare) {
		return nil
	}
	for _, s := range loneTables(levels) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !slices.ContainsFunc(loads, func(l load) bool { return l.covers(s) }) {
			continue
		}
		// If memtables held something between the bounds, Pebble would flush them, and merge it with the table instead of moving that.
		held, err := e.memtablesHold(s)
		if err != nil {
			return err
		}
		if held {
			continue
		}
		if err := e.compact(ctx, s); err != nil {
			return err
		}
		// There was a flush, perhaps forced by this compaction, as memtablesHold does not see range deletions. The next table might force
		// another, so this round ends. Loads that go on are noted again, and each flush starts another round.
		if _, now := e.loads.active(); now != flushes {
			e.loads.rest()
			return nil
		}
	}
	return nil
}

// memtablesHold reports whether a memtable holds a key within the bounds. It does not see range deletions.
func (e *Engine) memtablesHold(s keySlice) (bool, error) {
	it, err := e.memtables(s)
	if err != nil {
		return false, err
	}
	held := it.First()
	return held, errors.Join(it.Error(), it.Close())
}

// memtables returns an iterator over the memtables only, from s.start up to s.end, which is excluded.
func (e *Engine) memtables(s keySlice) (*pebble.Iterator, error) {
	return e.db.NewIter(&pebble.IterOptions{
		LowerBound: s.start, UpperBound: s.end,
		PointKeyFilters: []pebble.BlockPropertyFilter{timeFilter(never, never)}, // skips all blocks of tables
	})
}

// loneTables returns the bounds of the tables of L0 that overlap no other table, in order. It leaves out tables of a single key, since
// Pebble takes no such bounds.
func loneTables(levels [][]pebble.SSTableInfo) (alone []keySlice) {
	upper := make([]keySlice, len(levels[0]))
	for i := range levels[0] {
		upper[i] = keySlice{levels[0][i].Smallest.UserKey, levels[0][i].Largest.UserKey}
	}
	slices.SortFunc(upper, func(a, b keySlice) int { return cockroachkvs.Compare(a.start, b.start) })
	var before []byte // the highest end of the tables before
	for i, s := range upper {
		if (before == nil || cockroachkvs.Compare(before, s.start) < 0) &&
			(i == len(upper)-1 || cockroachkvs.Compare(s.end, upper[i+1].start) < 0) &&
			cockroachkvs.Compare(s.start, s.end) < 0 &&
			!slices.ContainsFunc(levels[1:], func(level []pebble.SSTableInfo) bool { return overlaps(level, s) }) {
			alone = append(alone, s)
		}
		if before == nil || cockroachkvs.Compare(before, s.end) < 0 {
			before = s.end
		}
	}
	return alone
}

// overlaps reports whether a table of a level below L0, where tables are in order and disjoint, overlaps s.
func overlaps(level []pebble.SSTableInfo, s keySlice) bool {
	i, _ := slices.BinarySearchFunc(level, s.start, func(t pebble.SSTableInfo, key []byte) int {
		return cockroachkvs.Compare(t.Largest.UserKey, key)
	})
	return i < len(level) && cockroachkvs.Compare(level[i].Smallest.UserKey, s.end) <= 0
}
