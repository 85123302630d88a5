package mvcc_test

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/mvcc"
)

// TestNoAllocations pins that a point read and a version write cost no allocation.
func TestNoAllocations(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	b := e.NewBatch()
	row := make([]byte, 190)
	for i := range uint64(1000) {
		mvcc.Put(b, benchKey(nil, i), 10, 0, row)
	}
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	key := benchKey(nil, 500)
	get := testing.AllocsPerRun(1000, func() {
		it := newIter(t, e)
		if _, _, found, err := mvcc.Get(it, key, clock.MaxTimestamp); !found || err != nil {
			t.Fatal(found, err)
		}
		_ = it.Close()
	})
	if get >= 1 {
		t.Errorf("a point read allocates %.1f times", get)
	}
	b.Reset()
	for range 1000 {
		mvcc.Put(b, key, 20, 15, row)
	}
	put := testing.AllocsPerRun(100, func() {
		b.Reset()
		mvcc.Put(b, key, 20, 15, row)
		mvcc.Delete(b, key, 21, 15)
	})
	if put >= 1 {
		t.Errorf("two version writes allocate %.1f times", put)
	}
	b.Close()
}

// TestPoll proves that a walk over rows that are not visible can be interrupted.
func TestPoll(t *testing.T) {
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	b := e.NewBatch()
	for i := range uint64(2000) {
		mvcc.Delete(b, benchKey(nil, i), 10, 0)
	}
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	b.Close()
	stop := errors.New("stop")
	for _, reverse := range []bool{false, true} {
		it := newIter(t, e)
		polls := 0
		var s mvcc.Scanner
		s.Init(it, 20, reverse, func() error {
			if polls++; polls == 3 {
				return stop
			}
			return nil
		})
		if s.Next() || !errors.Is(s.Err(), stop) || s.Next() {
			t.Errorf("reverse %v: the scan ended with %v", reverse, s.Err())
		}
		closeIter(t, it)
	}
}

// FuzzDecodeValue feeds arbitrary bytes to the value decoder; what it accepts must encode back.
func FuzzDecodeValue(f *testing.F) {
	f.Add([]byte{0, 'x'}, uint64(9))
	f.Add([]byte{1}, uint64(9))
	f.Add([]byte{3, 5}, uint64(9))
	f.Add([]byte{2, 0x80, 0, 'x'}, uint64(9))
	f.Fuzz(func(t *testing.T, value []byte, ts uint64) {
		v, err := mvcc.DecodeValue(value, clock.Timestamp(ts))
		if err != nil {
			if !errors.Is(err, mvcc.ErrCorrupt) {
				t.Errorf("error %v is no ErrCorrupt", err)
			}
			return
		}
		if ts == 0 || v.Start >= v.TS {
			return
		}
		again, err := mvcc.DecodeValue(mvcc.AppendValue(nil, v.TS, v.Start, v.Row, v.Tombstone), v.TS)
		if err != nil || again.Start != v.Start || again.Tombstone != v.Tombstone || string(again.Row) != string(v.Row) {
			t.Errorf("%x decodes to %+v and back to %+v, %v", value, v, again, err)
		}
	})
}
