package replica

import (
	"errors"
	"fmt"
	"maps"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// A replica that is no longer a member deletes its state. First the tombstone and the deletion of its logged records are logged, in one batch:
// from then on this peer never comes back, whatever messages it gets. The unlogged records are deleted afterwards; if a crash prevents that,
// the next start does it.

// remove destroys the replica. It is called by the driver, with mu.
func (m *member) remove() error {
	if m.stopped {
		return nil
	}
	m.land(errNotLed)
	m.halt()
	region, peer := m.core.region, m.core.peer
	m.mu.Unlock()
	defer m.mu.Lock()
	m.s.forget(m, peer)
	defer m.s.left(region.ID)
	m.s.o.Machine.Removed(region)
	m.s.o.Logger.Info("a replica was removed", "region", uint64(region.ID), "peer", peer, "term", m.seen.term, "reason", "it is no member any more")
	m.s.Stats.Removals.Inc()
	return destroy(m.s.o.Engine, region, peer)
}

// left ends the deletion of a region's state: a snapshot may be installed there again.
func (s *Set) left(id kvapi.RegionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leaving, id)
}

// removed returns the newest peer of a region that was removed from this store, 0 if none was.
func (s *Set) removed(id kvapi.RegionID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tombstones[id]
}

// forget removes a member from the set, and notes the tombstone of its peer. Until left is called no snapshot is installed where the region is.
func (s *Set) forget(m *member, peer uint64) {
	id := m.core.region.ID
	s.mu.Lock()
	s.tombstones[id] = max(s.tombstones[id], peer)
	s.leaving[id] = m.core.region
	s.mu.Unlock()
	s.listing.Lock()
	defer s.listing.Unlock()
	if (*s.members.Load())[id] != m {
		return
	}
	members := maps.Clone(*s.members.Load())
	delete(members, id)
	s.members.Store(&members)
}

// destroy deletes what a replica has on disk, and writes its tombstone.
func destroy(e *engine.Engine, region *kvapi.Region, peer uint64) error {
	logged, unlogged := e.NewBatch(), e.NewBatch()
	defer logged.Close()
	defer unlogged.Close()
	WriteRemoval(logged, unlogged, region, peer)
	if err := e.Apply(logged, true); err != nil {
		return fmt.Errorf("replica: remove region %d: %w", region.ID, err)
	}
	return e.ApplyUnlogged(unlogged)
}

// WriteRemoval adds the removal of a replica to a logged batch, which must be synced first, and to an unlogged one.
func WriteRemoval(logged, unlogged Records, region *kvapi.Region, peer uint64) {
	id := region.ID
	logged.Set(recordKey(id, recordTombstone), encodeNumbers(peer, 0, 0))
	logged.DeleteRange(recordKey(id, recordHard), recordKey(id, recordHard+1))
	logged.DeleteRange(recordKey(id, recordTruncated), recordKey(id, recordTruncated+1))
	logged.DeleteRange(entryKey(id, 0), entryKey(id, ^uint64(0)))
	for _, s := range Spans(region) {
		unlogged.DeleteRange(s.Lower, s.Upper)
	}
	unlogged.DeleteRange(recordKey(id, recordApply), recordKey(id, recordApply+1))
	unlogged.DeleteRange(RegionKey(id), recordKey(id, recordRegion+1))
}

// EngineSpan is an interval of bare engine keys.
type EngineSpan struct{ Lower, Upper []byte }

// Spans returns the engine keys of a region's state. The last span has its versions; region 0 has a single one.
func Spans(r *kvapi.Region) (spans []EngineSpan) {
	if r.ID == 0 {
		return []EngineSpan{{keys.MetaKey(nil, nil), keys.SpaceEnd(nil, keys.SpaceMeta)}}
	}
	for _, space := range []byte{keys.SpaceLock, keys.SpaceTxn, keys.SpaceCounter, keys.SpaceVersion} {
		s := EngineSpan{Lower: keys.Bare(nil, space, r.Start), Upper: keys.SpaceEnd(nil, space)}
		if len(r.End) > 0 {
			s.Upper = keys.Bare(nil, space, r.End)
		}
		spans = append(spans, s)
	}
	return spans
}

// CompleteRemovals deletes what a crash has left of replicas that were being destroyed. It is called before groups are opened.
func CompleteRemovals(e *engine.Engine, store uint64) error {
	regions, err := LoadRegions(e)
	if err != nil {
		return err
	}
	for _, r := range regions {
		gone, err := Tombstone(disk{e}, r.ID)
		if err != nil {
			return err
		}
		if p, here := r.On(store); gone != 0 && (!here || p.ID <= gone) {
			if err := destroy(e, r, gone); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tombstone returns the newest peer of a region that was removed from this disk, 0 if none was.
func Tombstone(d Disk, id kvapi.RegionID) (peer uint64, err error) {
	b, found, err := d.Get(recordKey(id, recordTombstone))
	if err != nil || !found {
		return 0, err
	}
	n, err := decodeNumbers(b, "tombstone")
	return n[0], err
}

// loadTombstones reads the tombstones of all regions.
func loadTombstones(e *engine.Engine) (all map[kvapi.RegionID]uint64, err error) {
	all = map[kvapi.RegionID]uint64{}
	it, err := e.NewIter(engine.IterOptions{Lower: keys.LocalKey(nil, []byte("r")), Upper: keys.LocalKey(nil, []byte("s"))})
	if err != nil {
		return nil, fmt.Errorf("replica: load tombstones: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; {
		_, name, bare := keys.DecodeBare(it.Key())
		if !bare || len(name) < 10 {
			return nil, corrupt("name of a region's record")
		}
		id := kvapi.RegionID(beUint64(name[1:]))
		if ok = it.SeekGE(recordKey(id, recordTombstone)); !ok {
			break
		}
		if _, name, _ := keys.DecodeBare(it.Key()); len(name) == 10 && name[9] == recordTombstone && kvapi.RegionID(beUint64(name[1:])) == id {
			v, err := it.Value()
			if err != nil {
				return nil, err
			}
			n, err := decodeNumbers(v, "tombstone")
			if err != nil {
				return nil, err
			}
			all[id] = n[0]
			ok = it.Next()
		}
	}
	return all, it.Error()
}
