package mvcc_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/mvcc"
)

// TestLockFormat pins the bytes of locks and records, which are on disk.
func TestLockFormat(t *testing.T) {
	for _, c := range []struct {
		lock mvcc.Lock
		want []byte
	}{
		{mvcc.Lock{Start: 5, Least: 7, TTL: 300, Node: 1, NodeEpoch: 2, Primary: []byte("p"), Value: []byte("row")},
			[]byte("\x01\x00\x05\x07\xac\x02\x01\x02\x01p\x00row")},
		{mvcc.Lock{Start: 5, Least: 7, Primary: []byte("p"), Async: true, Secondaries: [][]byte{[]byte("q"), []byte("rr")}, Delete: true},
			[]byte("\x01\x03\x05\x07\x00\x00\x00\x01p\x02\x01q\x02rr")},
	} {
		if got := c.lock.Append(nil); !bytes.Equal(got, c.want) {
			t.Errorf("%+v is stored as %q", c.lock, got)
		}
		back, err := mvcc.DecodeLock(c.want)
		if len(back.Value) == 0 {
			back.Value = nil
		}
		if err != nil || !reflect.DeepEqual(back, c.lock) {
			t.Errorf("%q is %+v, %v", c.want, back, err)
		}
	}
	for _, c := range []struct {
		record mvcc.Record
		want   string
	}{{mvcc.Record{Fate: mvcc.FateCommitted, Commit: 300}, "\x01\x01\xac\x02"}, {mvcc.Record{Fate: mvcc.FateRolledBack}, "\x01\x02\x00"}} {
		if got := c.record.Append(nil); string(got) != c.want {
			t.Errorf("%+v is stored as %q", c.record, got)
		}
		if back, err := mvcc.DecodeRecord([]byte(c.want)); err != nil || back != c.record {
			t.Errorf("%q is %+v, %v", c.want, back, err)
		}
	}
}

// FuzzLock: bytes that are not ours are refused, and what is taken is stored the same again, but for the spelling of numbers.
func FuzzLock(f *testing.F) {
	f.Add([]byte("\x01\x00\x05\x07\xac\x02\x01\x02\x01p\x00row"))
	f.Add([]byte("\x01\x03\x05\x07\x00\x00\x00\x01p\x02\x01q\x02rr"))
	f.Add([]byte("\x01\x01\xac\x02"))
	f.Add([]byte("\x01\x02\x05\x07\x00\x00\x00\x01p\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := mvcc.DecodeLock(b); err == nil {
			again, err := mvcc.DecodeLock(l.Append(nil))
			if err != nil || !reflect.DeepEqual(again, l) {
				t.Fatalf("%+v comes back as %+v, %v", l, again, err)
			}
		}
		if r, err := mvcc.DecodeRecord(b); err == nil {
			if again, err := mvcc.DecodeRecord(r.Append(nil)); err != nil || again != r {
				t.Fatalf("%+v comes back as %+v, %v", r, again, err)
			}
		}
	})
}

// TestLockExpires: the life of a lock is counted in the physical time of timestamps.
func TestLockExpires(t *testing.T) {
	l := mvcc.Lock{Start: clock.Make(1000, 5), TTL: 300}
	if l.Expired(clock.Make(1300, 0)) || !l.Expired(clock.Make(1301, 0)) {
		t.Error("a lock lives as long as its TTL says, and no longer")
	}
}

// TestCommitOf finds a transaction's version behind younger ones, and does not look below its start.
func TestCommitOf(t *testing.T) {
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	b := e.NewBatch()
	for _, v := range [][2]clock.Timestamp{{10, 4}, {20, 15}, {30, 22}, {40, 0}} {
		mvcc.Put(b, []byte("k"), v[0], v[1], []byte("v"))
	}
	mvcc.Put(b, []byte("k\x00"), 50, 41, []byte("v"))
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
	b.Close()
	for start, want := range map[clock.Timestamp]clock.Timestamp{4: 10, 15: 20, 22: 30, 16: 0, 41: 0, 60: 0} {
		it, err := e.NewIter(engine.IterOptions{Only: []byte("k")})
		if err != nil {
			t.Fatal(err)
		}
		got, err := mvcc.CommitOf(it, []byte("k"), start)
		if err != nil || got != want {
			t.Errorf("transaction %d committed at %d, %v; want %d", start, got, err, want)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
