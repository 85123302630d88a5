package replica

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// beginInstall passes a snapshot that has arrived to raft. The driver calls Ready right after it, and nothing else is passed to raft in between:
// so the Append that Ready returns is about the snapshot alone. The caller holds mu.
func (m *member) beginInstall() bool {
	in := m.incoming
	if in == nil || in.stepped {
		return false
	}
	in.stepped = true
	if m.core.applied.index >= in.state.index || in.old != nil && !sameSpan(in.old, m.core.region) {
		m.incoming = nil
		in.done <- fmt.Errorf("%w: region %d has changed meanwhile", ErrSnapshot, in.region.ID)
		return false
	}
	in.installing = true
	m.core.StepSnapshot(in.from, in.term, in.region, in.state.index, in.state.term)
	return true
}

func sameSpan(a, b *kvapi.Region) bool {
	return bytes.Equal(a.Start, b.Start) && bytes.Equal(a.End, b.End)
}

// endInstall answers a snapshot that raft has refused, or that is installed. The caller holds mu.
func (m *member) endInstall(a *Append) {
	in := m.incoming
	if in == nil || !in.stepped {
		return
	}
	m.incoming = nil
	if !in.taken && m.core.applied.index == 0 {
		in.done <- fmt.Errorf("%w: region %d has no use for it", ErrSnapshot, in.region.ID) // of an older term, say
		return
	}
	in.done <- nil
}

// install replaces the region's state by a snapshot, together with the records of a, in one step (L7). Until it is done the replica logs
// nothing, and messages that arrive meanwhile are answered afterwards. The caller holds mu, which is released meanwhile.
func (m *member) install(a *Append) error {
	in := m.incoming
	assert.That(in != nil && in.stepped && in.state.index == a.SnapshotIndex, "replica: raft restores what has arrived")
	records := &recordTable{}
	a.Write(records)
	m.mu.Unlock()
	err := m.s.ingest(in, records)
	if err == nil {
		err = m.s.o.Machine.Replaced(in.region, in.state.gcPoint)
	}
	m.mu.Lock()
	if err != nil {
		return fmt.Errorf("replica: snapshot of region %d: %w", in.region.ID, err)
	}
	in.taken = true
	m.core.Restored(a, in.region, in.state.gcPoint)
	m.s.enlist(m, in.region.ID)
	return nil
}

// ingest ingests a snapshot's tables, and one with the region's records, into the engine.
func (s *Set) ingest(in *incoming, records *recordTable) error {
	WriteState(records, in.region, in.state.index, in.state.term, in.state.gcPoint)
	t, err := s.o.Engine.NewTable()
	if err != nil {
		return err
	}
	in.tables = append(in.tables, t)
	if err := records.writeTo(t); err != nil {
		return err
	}
	if err := t.Finish(); err != nil {
		return err
	}
	if s.beforeIngest != nil {
		s.beforeIngest()
	}
	if err := s.o.Engine.Barrier(); err != nil {
		return err
	}
	cut := in.spans[len(in.spans)-1]
	return s.o.Engine.Ingest(in.tables, cut.Lower, cut.Upper)
}

// enlist adds a replica to the set.
func (s *Set) enlist(m *member, id kvapi.RegionID) {
	// members is replaced under listing, which may be taken under a member's mu.
	s.listing.Lock()
	defer s.listing.Unlock()
	if (*s.members.Load())[id] == m {
		return
	}
	members := maps.Clone(*s.members.Load())
	members[id] = m
	s.members.Store(&members)
}

// recordTable collects records for a table, to which they must be written in order.
type recordTable struct {
	sets   [][2][]byte
	ranges [][2][]byte
}

// Set implements Records.
func (t *recordTable) Set(key, value []byte) {
	t.sets = append(t.sets, [2][]byte{bytes.Clone(key), bytes.Clone(value)})
}

// SetParts implements Records.
func (t *recordTable) SetParts(key, head, body []byte) { t.Set(key, slices.Concat(head, body)) }

// DeleteRange implements Records.
func (t *recordTable) DeleteRange(start, end []byte) {
	t.ranges = append(t.ranges, [2][]byte{bytes.Clone(start), bytes.Clone(end)})
}

func (t *recordTable) writeTo(out *engine.Table) error {
	slices.SortFunc(t.sets, func(a, b [2][]byte) int { return bytes.Compare(a[0], b[0]) })
	for _, r := range t.ranges {
		if err := out.DeleteRange(r[0], r[1]); err != nil {
			return err
		}
	}
	for _, kv := range t.sets {
		if err := out.Set(kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}
