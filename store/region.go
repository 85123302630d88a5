package store

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// regionIDs is the durable counter of region ids. Directories from before it was introduced start it above the highest id in use.
var regionIDs = keys.SystemKey(nil, 'R')

// firstRegionID is the region ["", "") of a new store.
const firstRegionID kvapi.RegionID = 1

// region is one region of this store with what is counted about it.
type region struct {
	kvapi.Region
	sizing
}

// sizing is what is known of a region's size, in bytes.
type sizing struct {
	// size is the size when it was last measured, zero before that; written counts
	// what commits have added since.
	size    atomic.Int64
	written atomic.Int64
	// most is an upper bound of the size after a split whose halves were not measured here, so that size is a guess; zero otherwise.
	most atomic.Int64
	// looked is written as of the housekeeper's last visit. Only the housekeeper uses it.
	looked int64
	// ends are the tables of its first and its last row when it was measured, the housekeeper's as well; zero values for none.
	ends tableEnds
}

// tableEnds are the tables of a region's first and last row, 0 where that is of no table.
type tableEnds struct{ first, last uint64 }

// regionMap is an immutable set of regions that cover the key space without
// gap or overlap. A change publishes a new one.
type regionMap struct {
	sorted []*region
	byID   map[kvapi.RegionID]*region
	closed bool // see closedRegions
}

func newRegionMap(sorted []*region) *regionMap {
	m := &regionMap{sorted: sorted, byID: make(map[kvapi.RegionID]*region, len(sorted))}
	for _, r := range sorted {
		m.byID[r.ID] = r
	}
	return m
}

// check returns the region of a ref, nil unless it is here at the same epoch.
func (m *regionMap) check(ref kvapi.RegionRef) *region {
	r := m.sorted[0]
	if r.ID != ref.ID {
		if r = m.byID[ref.ID]; r == nil {
			return nil
		}
	}
	if r.Epoch != ref.Epoch {
		return nil
	}
	return r
}

// holds reports whether key belongs to the region that ref names.
func (m *regionMap) holds(ref kvapi.RegionRef, key []byte) bool {
	r := m.check(ref)
	return r != nil && r.Contains(key)
}

// covers reports whether the refs are adjacent regions that cover the span.
func (m *regionMap) covers(refs []kvapi.RegionRef, s kvapi.Span) bool {
	if len(refs) == 0 {
		return false
	}
	at := s.Start
	for i, ref := range refs {
		r := m.check(ref)
		if r == nil || (i == 0 && !r.Contains(at)) || (i > 0 && !bytes.Equal(r.Start, at)) {
			return false
		}
		at = r.End
	}
	return len(at) == 0 || (len(s.End) > 0 && bytes.Compare(s.End, at) <= 0)
}

// last returns the highest id in use.
func (m *regionMap) last() kvapi.RegionID {
	var id kvapi.RegionID
	for _, r := range m.sorted {
		id = max(id, r.ID)
	}
	return id
}

// validate checks that the regions cover the key space.
func (m *regionMap) validate() error {
	var at []byte
	for i, r := range m.sorted {
		if !bytes.Equal(r.Start, at) || (i > 0 && len(at) == 0) {
			return corrupt(fmt.Sprintf("region %d: begins at %x, and the one before ends at %x", r.ID, r.Start, at))
		}
		at = r.End
	}
	if len(m.sorted) == 0 || len(at) != 0 {
		return corrupt("region records: they do not cover the key space")
	}
	return nil
}

// loadRegions reads the descriptors of a store that is alone.
func loadRegions(e *engine.Engine) (m *regionMap, err error) {
	descs, err := replica.LoadRegions(e)
	if err != nil {
		return nil, fmt.Errorf("store: load regions: %w", err)
	}
	var found []*region
	for _, d := range descs {
		if d.Mode != kvapi.ModeSolo {
			return nil, fmt.Errorf("store: region %d has mode %d in a store that is alone: %w", d.ID, d.Mode, kvapi.ErrCorrupt)
		}
		found = append(found, &region{Region: *d})
	}
	slices.SortFunc(found, func(a, b *region) int { return bytes.Compare(a.Start, b.Start) })
	m = newRegionMap(found)
	return m, m.validate()
}

// closedRegions is the map of a store whose regions have logs (Cluster): no request that is checked against it finds its region.
func closedRegions() *regionMap {
	r := &region{Region: kvapi.Region{ID: ^kvapi.RegionID(0), Epoch: kvapi.Epoch{Version: ^uint32(0), ConfVer: ^uint32(0)}}}
	m := newRegionMap([]*region{r})
	m.closed = true
	return m
}

// corrupt wraps kvapi.ErrCorrupt; what names the record that does not decode.
func corrupt(what string) error {
	return fmt.Errorf("store: %w: %s", kvapi.ErrCorrupt, what)
}
