package store

import (
	"bytes"
	"errors"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

const (
	// splitSamples is how many keys are remembered per region size: the cut is
	// within a sixteenth of the middle.
	splitSamples = 16
	// splitPageMoves is how many versions are measured on one iterator.
	splitPageMoves = 16 << 10
	// splitPause is the rest between two pages.
	splitPause = 2 * time.Millisecond
	// splitPatience: a region that was measured is measured again when a part of
	// its greatest size has been written, one part in so many. Rows that are
	// rewritten for ever just below that size would cost a walk for each megabyte
	// otherwise.
	splitPatience = 2
	// splitCalm: a region is being loaded while it grows by more than its greatest size, one part in so many, between two looks. It
	// is measured when that has ended, since the walk would take processor time from the load and find a middle that moves away.
	splitCalm = 16
	// splitUrgent is how many times its greatest size a region may reach so.
	splitUrgent = 4
	// compressionMax is how much smaller than its keys and values a region's
	// tables are taken to be at most.
	compressionMax = 8
)

// ErrNoCut: a region cannot be cut where asked.
var ErrNoCut = errors.New("store: the key is not inside a region, or is a region's start")

// sampleRegions looks at regions that may have outgrown their size, and splits
// those that have. It returns whether it has split one. It runs on the
// housekeeper.
func (s *Store) sampleRegions() (split bool) {
	if c := s.Cluster(); c != nil {
		if !s.Serves() {
			return false
		}
		for _, r := range *c.regions.Load() {
			split = s.sampleGrown(r.desc.Load(), &r.sizing) || split
		}
		return split
	}
	for _, r := range s.regions.Load().sorted {
		split = s.sampleGrown(&r.Region, &r.sizing) || split
	}
	return split
}

// sampleGrown looks at a region if it may have outgrown its size.
func (s *Store) sampleGrown(desc *kvapi.Region, r *sizing) (split bool) {
	if s.isClosing() || s.failed.Load() {
		return false
	}
	size, written := r.size.Load(), r.written.Load()
	growth := written - r.looked
	r.looked = written
	if size+written <= s.o.RegionBytesMax || (size > 0 && size <= s.o.RegionBytesMax && written < s.o.RegionBytesMax/splitPatience) {
		return false
	}
	if growth > s.o.RegionBytesMax/splitCalm && size+written <= splitUrgent*s.o.RegionBytesMax {
		return false
	}
	split, err := s.sampleRegion(desc, r)
	if err != nil && !errors.Is(err, kvapi.ErrClosed) {
		s.o.Logger.Warn("cannot look at the size of a region", "region", desc.ID, "error", err)
	}
	return split
}

// sampleRegion measures a region and splits it if it is too large.
func (s *Store) sampleRegion(desc *kvapi.Region, r *sizing) (split bool, err error) {
	// Rewriting the same rows for ever should not cost a walk each time, so what the
	// region can hold at most is asked first: its tables and all memtables.
	lower, upper := regionBounds(desc)
	tables, err := s.engine.ApproxBytes(lower, upper)
	if err != nil {
		return false, err
	}
	written := r.written.Load()
	if int64(tables)*compressionMax+int64(s.engine.Metrics().MemTableBytes) < s.o.RegionBytesMax {
		return false, nil
	}
	total, cuts, err := s.measure(desc)
	if err != nil {
		return false, err
	}
	r.size.Store(total)
	r.written.Add(-written)
	r.looked -= written
	if total <= s.o.RegionBytesMax || len(cuts) == 0 {
		return false, nil
	}
	best := cuts[0]
	for _, c := range cuts {
		if abs(c.before-total/2) < abs(best.before-total/2) {
			best = c
		}
	}
	err = s.Split(best.key)
	return err == nil, err
}

func abs(n int64) int64 { return max(n, -n) }

// cut is a key at which a region could be split and the bytes before it.
type cut struct {
	key    []byte
	before int64
}

// regionBounds returns the engine keys around a region's versions.
func regionBounds(r *kvapi.Region) (lower, upper []byte) {
	lower = keys.VersionPrefix(nil, r.Start)
	if len(r.End) == 0 {
		return lower, keys.SpaceEnd(nil, keys.SpaceVersion)
	}
	return lower, keys.VersionPrefix(nil, r.End)
}

// measure adds up the keys and values of a region, page by page, and remembers
// keys at regular distances.
func (s *Store) measure(r *kvapi.Region) (total int64, cuts []cut, err error) {
	lower, upper := regionBounds(r)
	step := max(s.o.RegionBytesMax/splitSamples, 1)
	next := step
	for lower != nil {
		if s.isClosing() {
			return 0, nil, kvapi.ErrClosed
		}
		it, err := s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
		if err != nil {
			return 0, nil, err
		}
		lower = nil
		moves := 0
		for ok := it.First(); ok; ok = it.Next() {
			if total >= next {
				if key, fits := keys.SplitKey(nil, it.Key(), r.Start, r.End); fits {
					cuts = append(cuts, cut{key: key, before: total})
					next = total + step
				}
			}
			if moves++; moves > splitPageMoves {
				// The page ends before this version; the next begins with it.
				lower = bytes.Clone(it.Key())
				break
			}
			total += int64(len(it.Key()) + it.ValueLen())
		}
		if err := errors.Join(it.Error(), it.Close()); err != nil {
			return 0, nil, err
		}
		if lower != nil {
			clock.Sleep(splitPause)
		}
	}
	return total, cuts, nil
}

// Split cuts the region that holds key in two, so that key begins the right one.
// It is one batch that rewrites two records; no data moves. It returns once
// that is durable.
func (s *Store) Split(key []byte) error {
	if c := s.Cluster(); c != nil {
		return c.split(key)
	}
	if _, err := s.counters.load(regionIDs); err != nil { // the sequencer must not wait for the disk
		return err
	}
	var next *regionMap
	var left, right *region
	err := s.administer(&adminCommit{
		prepare: func(b *engine.Batch) error {
			old := s.regions.Load()
			at := old.find(key)
			if at < 0 || bytes.Equal(old.sorted[at].Start, key) {
				return ErrNoCut
			}
			id := counterAlloc{req: &kvapi.CounterAllocRequest{Key: regionIDs, Least: uint64(old.last()) + 1, N: 1}}
			s.counters.alloc(b, &id)
			next, left, right = old.split(at, bytes.Clone(key), kvapi.RegionID(id.first))
			b.Set(replica.RegionKey(left.ID), replica.AppendRegion(nil, &left.Region))
			b.Set(replica.RegionKey(right.ID), replica.AppendRegion(nil, &right.Region))
			return nil
		},
		applied: func() { s.regions.Store(next) },
	})
	if err == nil {
		s.splits.Inc()
		s.o.Logger.Info("split a region", "left", left.ID, "right", right.ID)
	}
	return err
}

// find returns the position of the region that holds key, negative if none does.
func (m *regionMap) find(key []byte) int {
	for i, r := range m.sorted {
		if r.Contains(key) {
			return i
		}
	}
	return -1
}

// split returns a map in which the region at a position is two. The left one
// keeps its id, the right one has a new one; both get the next version of the epoch, so that every request
// made for the old region is refused.
func (m *regionMap) split(at int, key []byte, id kvapi.RegionID) (next *regionMap, left, right *region) {
	old := m.sorted[at]
	left, right = &region{Region: old.Region}, &region{Region: old.Region}
	left.End, right.Start = key, key
	assert.That(m.byID[id] == nil, "store: the id of a new region is new")
	right.ID = id
	left.Epoch.Version++
	right.Epoch.Version++
	left.size.Store(old.size.Load() / 2)
	right.size.Store(old.size.Load() / 2)
	sorted := make([]*region, 0, len(m.sorted)+1)
	sorted = append(sorted, m.sorted[:at]...)
	sorted = append(sorted, left, right)
	sorted = append(sorted, m.sorted[at+1:]...)
	return newRegionMap(sorted), left, right
}

// Regions returns the regions of this store in key order. Callers must not
// change them.
func (s *Store) Regions() []*kvapi.Region {
	s.switching.RLock()
	defer s.switching.RUnlock()
	if c := s.cluster.Load(); c != nil {
		return c.Regions()
	}
	sorted := s.regions.Load().sorted
	out := make([]*kvapi.Region, len(sorted))
	for i, r := range sorted {
		out[i] = &r.Region
	}
	return out
}
