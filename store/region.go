package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync/atomic"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// regionIDs is the durable counter of region ids. A directory of before it begins above the highest that is in use.
var regionIDs = keys.SystemKey(nil, 'R')

// firstRegionID is the region ["", "") of a new store.
const firstRegionID kvapi.RegionID = 1

// region is one region of this store with what is counted about it.
type region struct {
	kvapi.Region
	// size is the bytes found by the last look, zero before the first; written
	// counts what commits have added since.
	size    atomic.Int64
	written atomic.Int64
	// looked is what written was when the housekeeper came by last, whose own it is.
	looked int64
}

// regionMap is an immutable set of regions that cover the key space without
// gap or overlap. A change publishes a new one.
type regionMap struct {
	sorted []*region
	byID   map[kvapi.RegionID]*region
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

// regionKey is the engine key of a region's record.
func regionKey(id kvapi.RegionID) []byte {
	name := append(binary.BigEndian.AppendUint64([]byte{'r'}, uint64(id)), 'm')
	return keys.LocalKey(nil, name)
}

// encodeRegion builds a region record; doc.go has the format.
func encodeRegion(r *kvapi.Region) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(r.ID))
	b = binary.BigEndian.AppendUint32(b, r.Epoch.Version)
	b = binary.BigEndian.AppendUint32(b, r.Epoch.ConfVer)
	b = append(b, byte(r.Mode))
	b = binary.AppendUvarint(b, uint64(len(r.Start)))
	b = append(b, r.Start...)
	b = binary.AppendUvarint(b, uint64(len(r.End)))
	b = append(b, r.End...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func decodeRegion(b []byte) (*region, error) {
	const fixed = 17
	n := len(b) - 4
	if n < fixed+2 || binary.BigEndian.Uint32(b[n:]) != crc32.ChecksumIEEE(b[:n]) {
		return nil, corrupt("region record")
	}
	r := &region{}
	r.ID = kvapi.RegionID(binary.BigEndian.Uint64(b))
	r.Epoch.Version = binary.BigEndian.Uint32(b[8:])
	r.Epoch.ConfVer = binary.BigEndian.Uint32(b[12:])
	r.Mode = kvapi.Mode(b[16])
	if r.Mode != kvapi.ModeSolo {
		return nil, fmt.Errorf("store: region %d has mode %d, which this program does not know", r.ID, r.Mode)
	}
	rest := b[fixed:n]
	for _, field := range []*[]byte{&r.Start, &r.End} {
		size, w := binary.Uvarint(rest)
		if w <= 0 || size > uint64(len(rest)-w) {
			return nil, corrupt("region record")
		}
		*field = bytes.Clone(rest[w : w+int(size)])
		rest = rest[w+int(size):]
	}
	if len(rest) != 0 {
		return nil, corrupt("region record")
	}
	return r, nil
}

// loadRegions reads all region records.
func loadRegions(e *engine.Engine) (m *regionMap, err error) {
	it, err := e.NewIter(engine.IterOptions{
		Lower: keys.LocalKey(nil, []byte("r")), Upper: keys.LocalKey(nil, []byte("s")),
	})
	if err != nil {
		return nil, fmt.Errorf("store: load regions: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var found []*region
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.Value()
		if err != nil {
			return nil, fmt.Errorf("store: load regions: %w", err)
		}
		r, err := decodeRegion(value)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	if err := it.Error(); err != nil {
		return nil, fmt.Errorf("store: load regions: %w", err)
	}
	slices.SortFunc(found, func(a, b *region) int { return bytes.Compare(a.Start, b.Start) })
	m = newRegionMap(found)
	return m, m.validate()
}

// corrupt wraps ErrCorrupt with what does not decode.
func corrupt(what string) error {
	return fmt.Errorf("store: %w: %s", kvapi.ErrCorrupt, what)
}
