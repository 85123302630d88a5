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
	// splitSamples is how many keys are sampled per Options.SplitBytes: a split key is within an eighth of that of where it should be.
	splitSamples = 8
	// splitCutsMax is how many splits one scan of a region leads to; the next scan finds further ones.
	splitCutsMax = 16
	// splitPageMoves is how many versions are measured on one iterator.
	splitPageMoves = 16 << 10
	// splitPause is the pause between two pages of a scan.
	splitPause = 2 * time.Millisecond
	// splitPatience: a region that was measured is measured again when half of its
	// greatest size has been written. Otherwise rows that are rewritten for ever, in
	// a region just below that size, would cost a scan for each megabyte.
	splitPatience = 2
	// splitCalm: a region counts as being loaded while it grows by more than a 16th of RegionBytesMax between two visits. It is measured
	// when that has ended, since the scan would take processor time from the load, and find a middle that moves on.
	splitCalm = 16
	// splitUrgent is how many times RegionBytesMax a region that is being loaded, or lacks a voter, may reach before it is measured anyway.
	splitUrgent = 4
	// compressionMax is the assumed limit of how much smaller a region's tables are
	// than its keys and values.
	compressionMax = 8
)

// ErrNoCut: a region cannot be cut where asked.
var ErrNoCut = errors.New("store: the key is not inside a region, or is a region's start")

// sampleRegions measures regions that may have become too large, and splits those
// that have. It returns whether it has split one. It runs on the housekeeper.
func (s *Store) sampleRegions() (split bool) {
	if c := s.Cluster(); c != nil {
		if !s.Serves() {
			return false
		}
		for _, r := range *c.regions.Load() {
			desc := r.desc.Load()
			if desc.Joint() {
				continue // its members are being changed, and those of the right half would have to be changed, too
			}
			split = s.sampleGrown(desc, &r.sizing) || split
		}
		return split
	}
	for _, r := range s.regions.Load().sorted {
		split = s.sampleGrown(&r.Region, &r.sizing) || split
	}
	return split
}

// shared reports whether a region may hold more than one table, or a table and keys outside of tables.
func shared(desc *kvapi.Region) bool {
	id, _, ok := keys.DecodeTablePrefix(desc.Start)
	if !ok || len(desc.End) == 0 {
		return true
	}
	return bytes.Compare(desc.End, keys.PrefixEnd(nil, keys.TablePrefix(nil, id))) > 0
}

// leastCut is the size up to which a region is not split.
func (s *Store) leastCut(desc *kvapi.Region) int64 {
	if shared(desc) {
		return min(s.o.RegionBytesMax, s.o.TableBytesMax)
	}
	return s.o.RegionBytesMax
}

// sampleGrown measures a region, and splits it, if the region or a table in it may have become too large.
func (s *Store) sampleGrown(desc *kvapi.Region, r *sizing) (split bool) {
	if s.isClosing() || s.failed.Load() {
		return false
	}
	least := s.leastCut(desc)
	size, written, most := r.size.Load(), r.written.Load(), r.most.Load()
	growth := written - r.looked
	r.looked = written
	measured := most == 0 && size > 0
	if size = max(size, most); size+written <= least {
		return false
	}
	if measured && size <= s.o.RegionBytesMax && written < max(least, size)/splitPatience && (written == 0 || !s.joined(desc, r)) {
		return false
	}
	if size+written <= splitUrgent*s.o.RegionBytesMax && (growth > s.o.RegionBytesMax/splitCalm || s.voterAway(desc)) {
		return false
	}
	split, err := s.sampleRegion(desc, r, least)
	moved := (*kvapi.EpochError)(nil)
	switch {
	case err == nil || errors.Is(err, kvapi.ErrClosed):
	case errors.As(err, &moved) || errors.Is(err, ErrNoCut):
		s.o.Logger.Info("a region that is to be split has changed meanwhile", "region", uint64(desc.ID))
	default:
		s.o.Logger.Warn("cannot look at the size of a region", "region", uint64(desc.ID), "error", err)
	}
	return split
}

// joined reports whether a table has come beside what a region held when it was measured, from which a large table may have to be cut off. One that comes
// between two others in a region is met when that is measured for another reason.
func (s *Store) joined(desc *kvapi.Region, r *sizing) bool {
	if !shared(desc) {
		return false
	}
	now, err := s.endsOf(desc)
	return err == nil && now != r.ends
}

// endsOf looks at a region's first and last row.
func (s *Store) endsOf(desc *kvapi.Region) (ends tableEnds, err error) {
	lower, upper := regionBounds(desc)
	it, err := s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
	if err != nil {
		return ends, err
	}
	tableOf := func(found bool) (id uint64) {
		if found {
			logical, _, _ := keys.DecodeVersionKey(it.Key())
			id, _, _ = keys.DecodeTablePrefix(logical)
		}
		return id
	}
	ends.first = tableOf(it.First())
	ends.last = tableOf(it.Last())
	return ends, errors.Join(it.Error(), it.Close())
}

// sampleRegion measures a region, and splits it if it is too large or a table in it is to have regions of its own.
func (s *Store) sampleRegion(desc *kvapi.Region, r *sizing, least int64) (split bool, err error) {
	// Rewriting the same rows for ever should not cost a scan each time, so an upper
	// bound of the size is checked first: that of its tables and all memtables.
	lower, upper := regionBounds(desc)
	tables, err := s.engine.ApproxBytes(lower, upper)
	if err != nil {
		return false, err
	}
	written := r.written.Load()
	if r.ends, err = s.endsOf(desc); err != nil {
		return false, err
	}
	if int64(tables)*compressionMax+int64(s.engine.Metrics().MemTableBytes) < least {
		return false, nil
	}
	m, err := s.measure(desc)
	if err != nil {
		return false, err
	}
	r.size.Store(m.total)
	r.most.Store(0)
	r.written.Add(-written)
	r.looked -= written
	cuts := m.choose(&s.o)
	// From the last to the first: so it is always the region that was measured, and is led here, that is split.
	for i := len(cuts) - 1; i >= 0 && err == nil; i-- {
		if s.isClosing() {
			return split, kvapi.ErrClosed
		}
		if err = s.Split(cuts[i].key); err == nil {
			split = true
			if cuts[i].border {
				s.borderSplits.Inc()
			}
		}
	}
	s.noteSizes(desc.Start, m.total, cuts)
	return split, err
}

// noteSizes notes what is known of the regions that cuts have made of one.
func (s *Store) noteSizes(start []byte, total int64, cuts []cut) {
	sizes := map[string]*sizing{}
	if c := s.Cluster(); c != nil {
		for _, r := range *c.regions.Load() {
			sizes[string(r.desc.Load().Start)] = &r.sizing
		}
	} else {
		for _, r := range s.regions.Load().sorted {
			sizes[string(r.Start)] = &r.sizing
		}
	}
	end := total
	note := func(start []byte, before int64) {
		if r := sizes[string(start)]; r != nil {
			r.size.Store(max(end-before, 1))
			r.most.Store(0)
			end = before
		}
	}
	for i := len(cuts) - 1; i >= 0; i-- {
		note(cuts[i].key, cuts[i].before)
	}
	note(start, 0)
}

// cut is a key at which a region could be split, and how many bytes of the region are before it. border: a table begins there, or ends.
type cut struct {
	key    []byte
	before int64
	border bool
}

// measured is the result of scanning a region.
type measured struct {
	total   int64
	samples []cut // keys at regular distances
	borders []cut // where a table begins, or keys after tables do, behind other keys
}

// choose returns the keys at which the region is to be split, in order, at most splitCutsMax of them: around tables that are to have regions of
// their own, and within what lies between those and is too large. No part is empty.
func (m *measured) choose(o *Options) (cuts []cut) {
	all := append(append([]cut{{}}, m.borders...), cut{before: m.total}) // between two neighbours lies one table
	var borders []cut
	for i := range m.borders {
		before, at, behind := all[i].before, all[i+1].before, all[i+2].before
		if at-before > o.TableBytesMax || behind-at > o.TableBytesMax {
			borders = append(borders, m.borders[i])
		}
	}
	from := int64(0)
	for i := range len(borders) + 1 {
		to := m.total
		if i < len(borders) {
			to = borders[i].before
		}
		cuts = append(cuts, m.within(from, to, o)...)
		if i < len(borders) {
			cuts = append(cuts, borders[i])
		}
		from = to
	}
	return cuts[:min(len(cuts), splitCutsMax)]
}

func abs(n int64) int64 { return max(n, -n) }

// within returns the keys that split the part of a region from byte from to byte to into parts of about equal size, none if it is small enough.
func (m *measured) within(from, to int64, o *Options) (cuts []cut) {
	if to-from <= o.RegionBytesMax {
		return nil
	}
	n := max((to-from+o.SplitBytes/2)/o.SplitBytes, 2)
	for i := range n - 1 {
		at := from + (to-from)/n*(i+1)
		best := cut{}
		for _, c := range m.samples {
			if c.before > from && c.before < to && (best.key == nil || abs(c.before-at) < abs(best.before-at)) {
				best = c
			}
		}
		if best.key != nil && (len(cuts) == 0 || cuts[len(cuts)-1].before < best.before) {
			cuts = append(cuts, best)
		}
	}
	return cuts
}

// regionBounds returns the engine keys around a region's versions.
func regionBounds(r *kvapi.Region) (lower, upper []byte) {
	lower = keys.VersionPrefix(nil, r.Start)
	if len(r.End) == 0 {
		return lower, keys.SpaceEnd(nil, keys.SpaceVersion)
	}
	return lower, keys.VersionPrefix(nil, r.End)
}

// measure adds up the keys and values of a region, page by page, and remembers keys at regular distances and the borders of tables.
func (s *Store) measure(r *kvapi.Region) (m measured, err error) {
	lower, upper := regionBounds(r)
	step := max(s.o.SplitBytes/splitSamples, 1)
	next := step
	var crossed []byte // the key at which the next sample became due, nil before
	var group []byte   // the engine key at which the present table ends, or the keys before or after all tables; nil at first
	for lower != nil {
		if s.isClosing() {
			return m, kvapi.ErrClosed
		}
		it, err := s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
		if err != nil {
			return m, err
		}
		lower = nil
		moves := 0
		for ok := it.First(); ok; ok = it.Next() {
			if group == nil || bytes.Compare(it.Key(), group) >= 0 {
				var start []byte
				start, group = groupAt(it.Key())
				if m.total > 0 && bytes.Compare(start, r.Start) > 0 {
					m.borders = append(m.borders, cut{key: start, before: m.total, border: true})
				}
			}
			if m.total >= next {
				// The sample is the next key: so no key's versions are on both sides, and neither side is empty.
				key, fits := keys.SplitKey(nil, it.Key(), r.Start, r.End)
				switch {
				case crossed == nil:
					crossed, _, _ = keys.DecodeVersionKey(bytes.Clone(it.Key()))
				case fits && !bytes.Equal(key, crossed):
					m.samples = append(m.samples, cut{key: key, before: m.total})
					next, crossed = m.total+step, nil
				}
			}
			if moves++; moves > splitPageMoves {
				// The page ends before this version; the next begins with it.
				lower = bytes.Clone(it.Key())
				break
			}
			m.total += int64(len(it.Key()) + it.ValueLen())
		}
		if err := errors.Join(it.Error(), it.Close()); err != nil {
			return m, err
		}
		if lower != nil {
			clock.Sleep(splitPause)
		}
	}
	return m, nil
}

// groupAt returns the logical key at which the table of an engine key begins, and the engine key at which it ends. The keys before all tables, and
// those after them, count as a table each.
func groupAt(engineKey []byte) (start, end []byte) {
	logical, _, _ := keys.DecodeVersionKey(engineKey)
	if id, _, ok := keys.DecodeTablePrefix(logical); ok {
		start = keys.TablePrefix(nil, id)
		return start, keys.VersionPrefix(nil, keys.PrefixEnd(nil, start))
	}
	if tables := []byte{keys.TableByte}; bytes.Compare(logical, tables) < 0 {
		return bytes.Clone(logical), keys.VersionPrefix(nil, tables)
	}
	return bytes.Clone(logical), keys.SpaceEnd(nil, keys.SpaceVersion)
}

// Split splits the region that holds key, so that key begins the right one. It is
// one batch that writes two records; no data moves. It returns once that is
// durable. ErrNoCut says that key begins a region already.
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
