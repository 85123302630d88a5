package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
)

func version(t testing.TB, e *engine.Engine, key string, ts clock.Timestamp, value string) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	b.SetVersion([]byte(key), ts, []byte(value[:1]), []byte(value[1:]))
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
}

func walk(t testing.TB, e *engine.Engine, o engine.IterOptions, reverse bool) string {
	t.Helper()
	it, err := e.NewIter(o)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	first, next := it.First, it.Next
	if reverse {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		v, err := it.Value()
		if err != nil || it.ValueLen() != len(v) {
			t.Fatalf("value %q of length %d: %v", v, it.ValueLen(), err)
		}
		out.Write(v)
		out.WriteByte(' ')
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func TestIter(t *testing.T) {
	e := openMem(t)
	version(t, e, "a", 10, "a10")
	version(t, e, "a", 20, "a20")
	version(t, e, "b", 15, "b15")
	put(t, e, local("x"), "local", false)
	versions := engine.IterOptions{Lower: keys.VersionPrefix(nil, nil), Upper: keys.SpaceEnd(nil, keys.SpaceVersion)}
	for range 2 {
		if got := walk(t, e, versions, false); got != "a20 a10 b15" {
			t.Errorf("forward %s", got)
		}
		if got := walk(t, e, versions, true); got != "b15 a10 a20" {
			t.Errorf("reverse %s", got)
		}
		it, err := e.NewIter(engine.IterOptions{ExpectAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		if !it.SeekPrefixGE(keys.VersionKey(nil, []byte("a"), 15)) || !strings.Contains(string(it.Key()), "a") || it.Next() {
			t.Error("a@15 does not find a10 alone")
		}
		if it.SeekPrefixGE(keys.VersionKey(nil, []byte("a"), 9)) || it.SeekPrefixGE(keys.VersionPrefix(nil, []byte("aa"))) {
			t.Error("something absent is found")
		}
		if !it.SeekGE(keys.VersionPrefix(nil, []byte("a"))) || !it.NextPrefix() || !it.Valid() {
			t.Error("no next prefix")
		}
		if v, err := it.Value(); err != nil || string(v) != "b15" {
			t.Errorf("next prefix is %s, %v", v, err)
		}
		if !it.SeekLT(keys.VersionPrefix(nil, []byte("b"))) {
			t.Error("nothing before b")
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Flush(); err != nil { // the second turn reads tables
			t.Fatal(err)
		}
	}
}

// TestIterIsASnapshot: batches applied after an iterator was made do not show in it.
func TestIterIsASnapshot(t *testing.T) {
	e := openMem(t)
	put(t, e, local("a"), "1", false)
	it, err := e.NewIter(engine.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, e, local("b"), "2", false)
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	if n != 1 {
		t.Errorf("%d keys", n)
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
}

// TestTimeFilter: an iterator with a time window shows every version within it, and skips whole blocks outside.
func TestTimeFilter(t *testing.T) {
	e := openMem(t)
	const n = 2000
	for i := range n {
		version(t, e, string([]byte{'k', byte(i >> 8), byte(i)}), clock.Timestamp(100+i), strings.Repeat("v", 100))
	}
	if err := errors.Join(e.Flush(), e.Compact(context.Background(), keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion))); err != nil {
		t.Fatal(err)
	}
	it, err := e.NewIter(engine.IterOptions{MinTS: 600, MaxTS: 650})
	if err != nil {
		t.Fatal(err)
	}
	seen, within := 0, 0
	for ok := it.First(); ok; ok = it.Next() {
		seen++
		if _, ts, _ := keys.DecodeVersionKey(it.Key()); ts >= 600 && ts <= 650 {
			within++
		}
	}
	if within != 51 || seen > n/2 {
		t.Errorf("%d of 51 versions, among %d", within, seen)
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
}

// TestGarbageFlush: tombstones in a memtable that slow a scan are flushed at the owner's next poll.
func TestGarbageFlush(t *testing.T) {
	e := openMem(t)
	const n = 20_000
	b := e.NewBatch()
	for i := range n {
		b.Set(local("%06d", i), make([]byte, 50))
	}
	if err := errors.Join(e.Apply(b, false), e.Flush()); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	for i := range n {
		// Several batches: one that fills half a memtable would become a table at once.
		if b.Delete(local("%06d", i)); i%1000 == 999 {
			if err := e.Apply(b, false); err != nil {
				t.Fatal(err)
			}
			b.Reset()
		}
	}
	b.Close()
	before := e.Metrics().Flushes
	e.PollPressure()
	time.Sleep(20 * time.Millisecond)
	if e.Metrics().Flushes != before {
		t.Error("flushed though no scan has suffered")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for e.Metrics().Flushes == before && time.Now().Before(deadline) {
		if got := walk(t, e, engine.IterOptions{Upper: keys.SpaceEnd(nil, keys.SpaceVersion)}, false); got != "" {
			t.Fatalf("found %s", got)
		}
		e.PollPressure()
		time.Sleep(20 * time.Millisecond)
	}
	if e.Metrics().Flushes == before {
		t.Error("the tombstones are still in memory")
	}
}

func TestPressure(t *testing.T) {
	e := openMem(t)
	if p := e.PollPressure(); p < 0 || p > 0.5 {
		t.Errorf("idle pressure is %f", p)
	}
	for i := range 5 {
		put(t, e, local("%d", i), "x", false)
	}
	if e.Pressure() != e.PollPressure() {
		t.Error("Pressure is not what was polled")
	}
}

func TestSizes(t *testing.T) {
	dir := t.TempDir()
	e := open(t, engine.Options{Dir: dir + "/a"})
	for i := range 2000 {
		put(t, e, local("%06d", i), strings.Repeat("x", 500), false)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	all, err := e.ApproxBytes(local(""), local("zz"))
	if err != nil || all == 0 {
		t.Errorf("%d bytes, %v", all, err)
	}
	if none, err := e.ApproxBytes(local("x"), local("y")); err != nil || none > all/10 {
		t.Errorf("%d bytes where nothing is, %v", none, err)
	}
	m := e.Metrics()
	if m.Flushes == 0 || m.DiskBytes == 0 || m.WALBytes == 0 || m.AppliedBytes == 0 || m.DiskSize == 0 || m.DiskFree == 0 {
		t.Errorf("metrics: %+v", m)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
