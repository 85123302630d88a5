package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// undoRig has rows, and of each an entry that is written and deleted with it but never locked, as those of indexes are.
type undoRig struct {
	t    *testing.T
	s    *Store
	rows int
}

func newUndoRig(t *testing.T, rows int) *undoRig {
	s, err := Open(Options{Engine: memEngine(t), RowCacheBytes: 64 << 10, GCInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &undoRig{t: t, s: s, rows: rows}
}

func undoRow(i int) []byte   { return fmt.Appendf(nil, "r%05d", i) }
func undoEntry(i int) []byte { return fmt.Appendf(nil, "e%05d", i) }

func (r *undoRig) region() kvapi.RegionRef { return r.s.Regions()[0].Ref() }

// lock returns what a lock of the i-th row shows.
func (r *undoRig) lock(o *Owner, i int, remove bool) (kvapi.Version, error) {
	var intr kvapi.Interrupt
	res, err := r.s.Lock(o, &kvapi.LockRequest{
		Region: r.region(), Key: undoRow(i), Mode: kvapi.LockExclusive, Timeout: time.Minute, Interrupt: &intr, Delete: remove,
	})
	return res.Version, err
}

// write locks the i-th row and then writes or deletes it with its entry. A value of zero deletes.
func (r *undoRig) write(o *Owner, id uint64, i int, value uint64, relaxed bool) (clock.Timestamp, error) {
	r.s.OpenOwner(o, id)
	defer r.s.ReleaseLocks(o)
	v, err := r.lock(o, i, value == 0)
	if err != nil {
		return 0, err
	}
	row := kvapi.Mutation{Key: undoRow(i), Kind: kvapi.MutationDelete}
	entry := kvapi.Mutation{Key: undoEntry(i), Kind: kvapi.MutationDelete}
	if value != 0 {
		row.Kind, entry.Kind = kvapi.MutationPut, kvapi.MutationPut
		row.Value = binary.BigEndian.AppendUint64(nil, value)
		entry.Value = row.Value
		if !v.Found {
			entry.Shadow = kvapi.ShadowNone
		}
	}
	return r.s.Commit(o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{r.region()}, Mutations: []kvapi.Mutation{entry, row}, Relaxed: relaxed})
}

// undoView is what a snapshot shows, by number of row.
type undoView map[int]uint64

// Pair implements kvapi.Sink.
func (v undoView) Pair(key, row []byte) (bool, error) {
	var i int
	if _, err := fmt.Sscanf(string(key[1:]), "%d", &i); err != nil {
		return false, err
	}
	if _, twice := v[i]; twice {
		return false, fmt.Errorf("%q comes twice", key)
	}
	v[i] = binary.BigEndian.Uint64(row)
	return true, nil
}

// scan reads all rows, or all entries, in pages, and checks their order.
func (r *undoRig) scan(ts clock.Timestamp, key func(int) []byte, limit int, reverse bool) (undoView, error) {
	view := undoView{}
	span := kvapi.Span{Start: key(0), End: key(r.rows)}
	var intr kvapi.Interrupt
	var last []byte
	for {
		resume, err := r.s.Scan(&kvapi.ScanRequest{
			Regions: []kvapi.RegionRef{r.region()}, Span: span, TS: ts, LimitRows: limit, Reverse: reverse, Interrupt: &intr,
			Sink: sinkFunc(func(key, row []byte) (bool, error) {
				if last != nil && (string(last) < string(key)) == reverse {
					return false, fmt.Errorf("%q comes after %q", key, last)
				}
				last = append(last[:0], key...)
				return view.Pair(key, row)
			}),
		})
		if err != nil || resume == nil {
			return view, err
		}
		if reverse {
			span.End = resume
		} else {
			span.Start = resume
		}
	}
}

type sinkFunc func(key, row []byte) (bool, error)

func (f sinkFunc) Pair(key, row []byte) (bool, error) { return f(key, row) }

// get reads one key; zero is absent.
func (r *undoRig) get(ts clock.Timestamp, key []byte) (uint64, error) {
	var intr kvapi.Interrupt
	var sink rowSink
	found, err := r.s.Get(&kvapi.GetRequest{Region: r.region(), Key: key, TS: ts, Interrupt: &intr, Sink: &sink})
	if err != nil || !found {
		return 0, err
	}
	return binary.BigEndian.Uint64(sink.row), nil
}

// undoEvent is a commit; what a reader saw is checked against all of them afterwards.
type undoEvent struct {
	ts    clock.Timestamp
	i     int
	value uint64
}

type undoSeen struct {
	ts   clock.Timestamp
	view undoView
}

// race lets writers write and delete while readers look at snapshots of all ages, and returns how many of these were wrong.
func (r *undoRig) race(writers, readers, rounds int, after func()) (wrong int) {
	seed := testkit.Seed(r.t)
	events := make([][]undoEvent, writers)
	seen := make([][]undoSeen, readers)
	var writing, reading sync.WaitGroup
	var mu sync.Mutex
	fault := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if wrong++; after == nil && wrong < 10 {
			r.t.Errorf(format, args...)
		}
	}
	done := make(chan struct{})
	for w := range writers {
		rng := testkit.Rand(seed, uint64(w))
		writing.Go(func() {
			var o Owner
			for n := range rounds {
				e := undoEvent{i: rng.IntN(r.rows)}
				id := uint64(1 + w + n*writers)
				if rng.IntN(2) == 0 {
					e.value = id
				}
				var err error
				if e.ts, err = r.write(&o, id, e.i, e.value, rng.IntN(3) == 0); err != nil {
					r.t.Error(err)
					return
				}
				events[w] = append(events[w], e)
				if after != nil {
					after()
				}
			}
		})
	}
	for n := range readers {
		rng := testkit.Rand(seed, 100+uint64(n))
		reading.Go(func() {
			var snap Snapshot
			for !closed(done) {
				r.s.Register(&snap)
				view, err := r.scan(snap.TS(), undoRow, rng.IntN(2)*(1+rng.IntN(400)), rng.IntN(2) == 0)
				if err != nil {
					fault("rows at %d: %v", snap.TS(), err)
				}
				seen[n] = append(seen[n], undoSeen{snap.TS(), view})
				for range rng.IntN(20) {
					if rng.IntN(4) == 0 {
						entries, err := r.scan(snap.TS(), undoEntry, rng.IntN(2)*(1+rng.IntN(400)), rng.IntN(2) == 0)
						if err != nil || !maps.Equal(view, entries) {
							fault("entries at %d: %v, %d of %d rows", snap.TS(), err, len(entries), len(view))
						}
						continue
					}
					i := rng.IntN(r.rows)
					for _, key := range [][]byte{undoRow(i), undoEntry(i)} {
						if v, err := r.get(snap.TS(), key); err != nil || v != view[i] {
							fault("%q at %d: %d %v, not %d", key, snap.TS(), v, err, view[i])
						}
					}
					// At the watermark there is nothing to compare with, but an answer.
					if _, err := r.get(0, undoRow(i)); err != nil {
						fault("%v", err)
					}
				}
				r.s.Unregister(&snap)
				if r.t.Failed() {
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	all := slices.Concat(events...)
	slices.SortFunc(all, func(a, b undoEvent) int { return int(int64(a.ts) - int64(b.ts)) })
	views := slices.Concat(seen...)
	slices.SortFunc(views, func(a, b undoSeen) int { return int(int64(a.ts) - int64(b.ts)) })
	state := undoView{}
	for _, v := range views {
		for ; len(all) > 0 && all[0].ts <= v.ts; all = all[1:] {
			if e := all[0]; e.value == 0 {
				delete(state, e.i)
			} else {
				state[e.i] = e.value
			}
		}
		if !maps.Equal(state, v.view) {
			fault("at %d there are %d rows, not %d, or others", v.ts, len(v.view), len(state))
		}
	}
	return wrong
}

// TestUndo: snapshots of any age show the rows and entries of their time, whatever is deleted for good meanwhile.
func TestUndo(t *testing.T) {
	// How much is deleted for good depends on how far the collector gets in between, so that one race may be too little on a busy machine.
	var entered, collected uint64
	for range 20 {
		r := newUndoRig(t, 3000)
		r.race(4, 3, 5000, nil)
		m := r.s.Metrics()
		t.Logf("%d versions deleted for good, %d left to the collector for want of room, %d collected", m.UndoEntered, m.UndoRefused, m.GCDeleted)
		entered, collected = entered+m.UndoEntered, collected+m.GCDeleted
		if t.Failed() || entered >= 50 && collected > 0 {
			return
		}
	}
	t.Error("the test tests too little")
}

// TestUndoCanary: a ring that forgets is noticed, though not in every race.
func TestUndoCanary(t *testing.T) {
	for range 100 {
		r := newUndoRig(t, 3000)
		if r.race(4, 3, 3000, func() {
			r.s.undo.mu.Lock()
			r.s.undo.n, r.s.undo.bytes = 0, 0
			r.s.undo.mu.Unlock()
		}) > 0 {
			return
		}
	}
	t.Error("nobody misses what the ring has forgotten")
}

// raiseFloor waits until the versions of all commits so far are known to be alone, as the store's maintenance finds sooner or later.
func (r *undoRig) raiseFloor() {
	r.t.Helper()
	want := r.s.applied.Load()
	for deadline := time.Now().Add(time.Minute); r.s.gcFloor.Load() < want; r.s.raiseIdleFloor() {
		r.s.CollectNow()
		if time.Now().After(deadline) {
			r.t.Fatal("the floor does not rise")
		}
	}
}

// remove writes row 3, which holds 7 then, and deletes it for good with a snapshot open that has seen it.
func (r *undoRig) remove(o *Owner, snap *Snapshot) clock.Timestamp {
	r.t.Helper()
	if _, err := r.write(o, 1, 3, 7, false); err != nil {
		r.t.Fatal(err)
	}
	r.raiseFloor()
	r.s.Register(snap)
	ts, err := r.write(o, 2, 3, 0, false)
	if n := r.s.Metrics().UndoEntered; err != nil || n != 1 {
		r.t.Fatalf("%d versions entered, %v", n, err)
	}
	return ts
}

// TestUndoLives: a key that came and went for good several times is there for the snapshots of its lives, and for no others.
func TestUndoLives(t *testing.T) {
	r := newUndoRig(t, 10)
	var o Owner
	var snaps [5]Snapshot
	want := []uint64{0, 1, 0, 2, 0}
	var put clock.Timestamp
	for i := range snaps {
		m := kvapi.Mutation{Key: undoEntry(3), Shadow: kvapi.ShadowNone}
		if m.Value = binary.BigEndian.AppendUint64(nil, want[i]); want[i] == 0 {
			m = kvapi.Mutation{Key: m.Key, Kind: kvapi.MutationDelete, Shadow: kvapi.ShadowAlone, Prev: put, PrevLen: 8, Value: m.Value}
			m.Value[7] = byte(i / 2) // what was put before
		}
		if i > 0 {
			var err error
			r.s.OpenOwner(&o, uint64(i))
			if put, err = r.s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{r.region()}, Mutations: []kvapi.Mutation{m}}); err != nil {
				t.Fatal(err)
			}
		}
		r.s.Register(&snaps[i])
		defer r.s.Unregister(&snaps[i])
	}
	if n := r.s.Metrics().UndoEntered; n != 2 {
		t.Fatalf("%d versions entered", n)
	}
	for i := range snaps {
		if v, err := r.get(snaps[i].TS(), undoEntry(3)); err != nil || v != want[i] {
			t.Errorf("get at snapshot %d: %d %v, not %d", i, v, err, want[i])
		}
		for _, reverse := range []bool{false, true} {
			if view, err := r.scan(snaps[i].TS(), undoEntry, 0, reverse); err != nil || view[3] != want[i] {
				t.Errorf("scan at snapshot %d: %v %v, not %d", i, view, err, want[i])
			}
		}
	}
}

// TestUndoFull: when snapshots hold back more than the ring has room for, deletions leave markers again, and go for good again once
// the snapshots have ended. Those see everything all the while.
func TestUndoFull(t *testing.T) {
	const rows = undoMax + 500
	r := newUndoRig(t, rows)
	var o Owner
	var snap Snapshot
	for round := range uint64(2) {
		for i := range rows {
			if _, err := r.write(&o, uint64(i+1), i, uint64(i+1), i < rows-1); err != nil {
				t.Fatal(err)
			}
		}
		r.raiseFloor()
		r.s.Register(&snap)
		before := r.s.Metrics()
		for i := range rows {
			if _, err := r.write(&o, uint64(i+1), i, 0, i < rows-1); err != nil {
				t.Fatal(err)
			}
		}
		m := r.s.Metrics()
		if n := m.UndoEntered - before.UndoEntered; n > undoMax || n < undoMax/2 || m.UndoRefused == before.UndoRefused {
			t.Errorf("round %d: %d versions entered, %d refused", round, n, m.UndoRefused-before.UndoRefused)
		}
		for _, key := range []func(int) []byte{undoRow, undoEntry} {
			if view, err := r.scan(snap.TS(), key, 100, round == 1); err != nil || len(view) != rows {
				t.Errorf("round %d: the snapshot shows %d of %d, %v", round, len(view), rows, err)
			}
			if view, err := r.scan(0, key, 100, round == 1); err != nil || len(view) != 0 {
				t.Errorf("round %d: %d are left, %v", round, len(view), err)
			}
		}
		r.s.Unregister(&snap)
	}
}

// TestUndoSeen: who finds a key gone under its lock learns which commit has deleted it, as long as anybody may care, though the
// engine knows nothing of the key.
func TestUndoSeen(t *testing.T) {
	r := newUndoRig(t, 10)
	var o Owner
	var snap Snapshot
	ts := r.remove(&o, &snap)
	absent := func() kvapi.Version {
		r.s.OpenOwner(&o, 3)
		defer r.s.ReleaseLocks(&o)
		v, err := r.lock(&o, 3, false)
		if err != nil || v.Found {
			t.Fatalf("%+v, %v", v, err)
		}
		return v
	}
	if v := absent(); v.TS != ts {
		t.Errorf("gone since %d, not %d", v.TS, ts)
	}
	r.s.Unregister(&snap)
	r.s.trimUndo()
	if v := absent(); v.TS != 0 {
		t.Errorf("gone since %d, which nobody cares about", v.TS)
	}
	if r.s.undo.n != 0 || r.s.undo.bytes != 0 {
		t.Errorf("%d versions of %d bytes are left", r.s.undo.n, r.s.undo.bytes)
	}
}

// TestUndoExpired: a read below the safepoint is refused where what it looks for may have left the ring.
func TestUndoExpired(t *testing.T) {
	r := newUndoRig(t, 10)
	var o Owner
	var snap Snapshot
	r.remove(&o, &snap)
	defer r.s.Unregister(&snap)
	if v, err := r.get(snap.TS(), undoRow(3)); err != nil || v != 7 {
		t.Fatalf("%d, %v", v, err)
	}
	r.s.expire(clock.MaxTimestamp)
	r.s.trimUndo()
	if _, err := r.get(snap.TS(), undoRow(3)); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Errorf("get: %v", err)
	}
	if _, err := r.scan(snap.TS(), undoRow, 0, false); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Errorf("scan: %v", err)
	}
}
