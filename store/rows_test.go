package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// rowSink keeps a copy of the last row.
type rowSink struct{ row []byte }

func (s *rowSink) Pair(_, row []byte) (bool, error) {
	s.row = append(s.row[:0], row...)
	return true, nil
}

// rowsRig compares what a store answers with what its engine holds.
type rowsRig struct {
	t   *testing.T
	s   *Store
	e   *engine.Engine
	key func(i int) []byte
}

// rowsRigKeys are more than the row cache of TestRowCache has room for.
const rowsRigKeys = 2000

func rowsRigKey(i int) []byte { return fmt.Appendf(nil, "key %04d", i%rowsRigKeys) }

// below reads a key at a timestamp past the cache.
func (r *rowsRig) below(key []byte, ts clock.Timestamp) (row []byte, version clock.Timestamp) {
	it, err := r.e.NewIter(engine.IterOptions{})
	if err != nil {
		r.t.Error(err)
		return nil, 0
	}
	defer it.Close()
	row, version, found, err := mvcc.Get(it, key, ts)
	if err != nil || !found {
		if err != nil {
			r.t.Error(err)
		}
		return nil, 0
	}
	return bytes.Clone(row), version
}

// write locks a key, compares what the lock shows with the engine, and updates or deletes it.
func (r *rowsRig) write(o *Owner, id uint64, i int, remove bool) error {
	r.s.OpenOwner(o, id)
	defer r.s.ReleaseLocks(o)
	region := r.s.Regions()[0].Ref()
	var intr kvapi.Interrupt
	var sink rowSink
	key := r.key(i)
	res, err := r.s.Lock(o, &kvapi.LockRequest{Region: region, Key: key, Mode: kvapi.LockExclusive, Timeout: time.Minute, Interrupt: &intr, Sink: &sink})
	if err != nil {
		return err
	}
	if row, version := r.below(key, kvapi.Latest); res.Version.Found != (row != nil) || row != nil && (version != res.Version.TS || !bytes.Equal(row, sink.row)) {
		return fmt.Errorf("%q under its lock: %+v %x, below it version %d %x", key, res.Version, sink.row, version, row)
	}
	m := kvapi.Mutation{Key: key, Kind: kvapi.MutationDelete}
	if !remove {
		m.Kind = kvapi.MutationPut
		m.Value = binary.BigEndian.AppendUint64(make([]byte, 100+i%700), id)
	}
	_, err = r.s.Commit(o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{region}, Mutations: []kvapi.Mutation{m}, Relaxed: i%3 == 0})
	return err
}

// read compares a read with the engine, at the watermark or at a snapshot that is some commits old. hold may be nil.
func (r *rowsRig) read(ts clock.Timestamp, i int, hold *kvapi.Hold) error {
	region := r.s.Regions()[0].Ref()
	var intr kvapi.Interrupt
	var sink rowSink
	key := r.key(i)
	get := kvapi.GetRequest{Region: region, Key: key, TS: ts, Interrupt: &intr, Sink: &sink, Hold: hold}
	found, err := r.s.Get(&get)
	if i%2 == 0 { // a scan of the one key
		sink.row = nil
		_, err = r.s.Scan(&kvapi.ScanRequest{Regions: []kvapi.RegionRef{region}, Span: kvapi.Span{Start: key}, TS: ts, Interrupt: &intr, Sink: &sink})
		found = sink.row != nil
	}
	if err != nil {
		return err
	}
	if row, version := r.below(key, ts); found != (row != nil) || found && !bytes.Equal(row, sink.row) {
		return fmt.Errorf("%q at %d: %v %x, below it version %d %x", key, ts, found, sink.row, version, row)
	}
	return nil
}

// closed tells whether a channel that nothing is sent to has been closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// metrics returns the store's counts once the garbage of all commits is gone.
func (r *rowsRig) metrics() Metrics {
	for deadline := time.Now().Add(time.Minute); r.s.GCBacklog() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			r.t.Error("the garbage stays")
			break
		}
	}
	return r.s.Metrics()
}

// TestRowCacheLatest: a read of the newest version, which no bound goes with, brings nothing into the cache.
func TestRowCacheLatest(t *testing.T) {
	e := memEngine(t)
	s, err := Open(Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	r := &rowsRig{t: t, s: s, e: e, key: rowsRigKey}
	var o Owner
	if err := r.write(&o, 1, 1, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ts   clock.Timestamp
		want uint64
	}{{kvapi.Latest, 0}, {s.Watermark(), 1}, {s.Watermark(), 1}} {
		if err := r.read(c.ts, 1, nil); err != nil || s.Metrics().Rows.Filled != c.want {
			t.Errorf("at %d: %v, %+v", c.ts, err, s.Metrics().Rows)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestRowCache: what the store answers from its row cache is what the engine holds, under locks and at snapshots of any age,
// while others write, flush and collect garbage.
func TestRowCache(t *testing.T) {
	seed := testkit.Seed(t)
	const writers, readers, rounds = 4, 3, 2500
	e := memEngine(t)
	s, err := Open(Options{Engine: e, RowCacheBytes: 256 << 10, GCInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := &rowsRig{t: t, s: s, e: e, key: rowsRigKey}
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		rng := testkit.Rand(seed, uint64(w))
		writing.Go(func() {
			var o Owner
			for n := range rounds {
				if err := r.write(&o, uint64(1+w+n*writers), rng.IntN(rowsRigKeys), rng.IntN(4) == 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range readers {
		rng := testkit.Rand(seed, 100+uint64(i))
		reading.Go(func() {
			var snap Snapshot
			var hold kvapi.Hold
			for !closed(done) {
				s.Register(&snap)
				for n := range 1 + rng.IntN(200) {
					held := &hold
					if n%3 == 0 {
						held = nil
					}
					if err := r.read(snap.TS(), rng.IntN(rowsRigKeys), held); err != nil {
						t.Error(err)
					}
				}
				hold.Rest()
				s.Unregister(&snap)
				if t.Failed() {
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	m := r.metrics()
	if m.Rows.Hits < rounds || m.Rows.Evicted == 0 || m.Rows.Refused == 0 || m.GCDeleted == 0 {
		t.Errorf("the test tests too little: %+v, %d versions collected", m.Rows, m.GCDeleted)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
