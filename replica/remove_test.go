package replica

import (
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// openPrepared opens a rig over a disk on which something is written before.
func openPrepared(t *testing.T, prepare func(b *engine.Batch)) *rig {
	t.Helper()
	fs := engine.NewMemFS()
	e, err := engine.Open(engine.Options{Dir: "d", FS: fs, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	prepare(b)
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := openRig(fs, faults{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// TestStartAlone: a store starts whose log, but not its tables, says that all other voters are gone, and leads.
func TestStartAlone(t *testing.T) {
	own := kvapi.Peer{ID: 100, Store: testStore}
	left := &kvapi.Region{ID: 1, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 1, ConfVer: 2},
		Peers: []kvapi.Peer{own, {ID: 101, Store: testStore + 1, Joint: kvapi.JointOutgoing}}}
	r := openPrepared(t, func(b *engine.Batch) {
		Create(b, left, 0)
		term, index := uint64(6), uint64(InitialIndex+1)
		b.Set(entryKey(1, index), entryHead(&raftpb.Entry{Type: raftpb.EntryConfChangeV2.Enum(), Term: &term, Index: &index}))
		b.Set(recordKey(1, recordHard), encodeHard(term, own.ID, index))
	})
	st, here := r.set.Status(1)
	if !here || !st.Leads || len(st.Region.Peers) != 1 {
		t.Errorf("region 1 is %+v, here %v, led here %v", st.Region, here, st.Leads)
	}
}

// TestCloseDuringApply: who has proposed an entry waits until it is no longer being applied, also when the set is closed meanwhile: what is applied
// is in its memory.
func TestCloseDuringApply(t *testing.T) {
	for _, driven := range []bool{true, false} {
		two := &kvapi.Region{ID: 1, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 1, ConfVer: 1},
			Peers: []kvapi.Peer{{ID: 100, Store: testStore}, {ID: 101, Store: testStore + 1}}}
		r := openPrepared(t, func(b *engine.Batch) { Create(b, two, 0) })
		m := (*r.set.members.Load())[1]
		f := &flight{done: make(chan struct{}, 1)}
		m.mu.Lock()
		m.flight, m.driven = f, driven
		m.mu.Unlock()
		r.set.Close()
		if landed := len(f.done) == 1; landed == driven {
			t.Errorf("driven %v: at the end of Close the entry's proposer has been told: %v", driven, landed)
		}
		if driven {
			m.mu.Lock()
			m.driveOn() // the driver is done
			m.mu.Unlock()
		}
		if len(f.done) != 1 || f.err != kvapi.ErrUndetermined {
			t.Errorf("driven %v: the proposer is told %d times, %v", driven, len(f.done), f.err)
		}
		r.set = nil
	}
}

// TestRemovedBeforeSplit: the right half of a split that was here before and was removed does not come back when a crash has the split
// applied again.
func TestRemovedBeforeSplit(t *testing.T) {
	const gone, other = 77, 78
	r := openPrepared(t, func(b *engine.Batch) { b.Set(recordKey(gone, recordTombstone), encodeNumbers(500, 0, 0)) })
	split := func(key string, right kvapi.RegionID, peer uint64) {
		t.Helper()
		region := r.m.find([]byte(key))
		p := &proposal{key: []byte(key), command: &Split{Key: []byte(key), Right: right, Peers: []uint64{peer}}, alone: true, region: region.Ref()}
		if err := r.set.Line(region.ID).Do(p); err != nil {
			t.Fatal(err)
		}
	}
	split("k2", gone, 500)
	split("k1", other, 501)
	if r.set.Line(other) == nil {
		t.Error("a right half that was never here is not there")
	}
	if _, found, err := r.e.Get(nil, RegionKey(gone)); r.set.Line(gone) != nil || found || err != nil {
		t.Errorf("the removed replica is back: %v, on the disk %v, %v", r.set.Line(gone), found, err)
	}
	if peer, err := Tombstone(disk{r.e}, gone); peer != 500 || err != nil {
		t.Errorf("the tombstone is of peer %d: %v", peer, err)
	}
}

// TestLeaving: while the state of a replica is being deleted no snapshot is put where it is.
func TestLeaving(t *testing.T) {
	r := openPrepared(t, func(*engine.Batch) {})
	snapshot := func() error {
		region := &kvapi.Region{ID: 9, Mode: kvapi.ModeRaft, End: []byte("k2"), Peers: []kvapi.Peer{{ID: 300, Store: testStore}}}
		_, err := r.set.reserve(&incoming{snapshotHead: snapshotHead{from: 1, to: 300, term: 6, region: region, state: applyState{index: 9, term: 6}}})
		return err
	}
	var meanwhile error
	r.m.removing = func() { meanwhile = snapshot() }
	m := (*r.set.members.Load())[1]
	m.mu.Lock()
	err := m.remove()
	m.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if meanwhile == nil {
		t.Error("a snapshot is put where a region is being deleted")
	}
	if err := snapshot(); err != nil {
		t.Error(err)
	}
}

// TestStrangersAge: regions that were spoken for long ago do not keep others from being met.
func TestStrangersAge(t *testing.T) {
	s := &Set{o: Options{Store: testStore}, strangers: map[kvapi.RegionID]stranger{}, tombstones: map[kvapi.RegionID]uint64{}}
	beat := func() Message {
		return Message{m: &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: new(uint64(1)), To: new(uint64(2))}}
	}
	meet := func(id kvapi.RegionID) bool {
		s.answerFor(testStore+1, id, beat())
		_, met := s.strangers[id]
		return met
	}
	for i := range kvapi.RegionID(strangersMax) {
		if !meet(i + 1) {
			t.Fatalf("region %d is not met", i+1)
		}
	}
	const late = strangersMax + 1
	if meet(late) {
		t.Error("there are more than fit")
	}
	for id, st := range s.strangers {
		st.since = clock.Mono() - strangersKept
		s.strangers[id] = st
	}
	if !meet(late) {
		t.Error("those of long ago are kept")
	}
}
