package engine_test

import (
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// memEngine is an engine in memory.
func memEngine(t *testing.T, memTableBytes int64) *engine.Engine {
	t.Helper()
	e := open(t, engine.Options{
		Dir: "mem", FS: vfs.NewMem(), CacheBytes: 8 << 20, MemTableBytes: memTableBytes,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace,
	})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func unflushedKey(i int) []byte { return binary.BigEndian.AppendUint32([]byte("t"), uint32(i)) }

// putVersions applies one batch. change, which may be nil, sees it before.
func putVersions(t *testing.T, e *engine.Engine, ts clock.Timestamp, change func(*engine.Batch), keyNumbers ...int) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	value := make([]byte, 100)
	for _, i := range keyNumbers {
		b.SetVersion(unflushedKey(i), ts, nil, value)
	}
	if change != nil {
		change(b)
	}
	if err := e.Apply(b, false); err != nil {
		t.Error(err)
	}
}

// newest returns the timestamps of the newest versions that an iterator for the first key shows of all of them, zero for those that it
// does not show.
func newest(t *testing.T, e *engine.Engine, keyNumbers ...int) (ts []clock.Timestamp) {
	t.Helper()
	it, err := e.NewIter(engine.IterOptions{Only: unflushedKey(keyNumbers[0])})
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, i := range keyNumbers {
		var newest clock.Timestamp
		switch {
		case !it.Shows(unflushedKey(i)):
		case it.SeekPrefixGE(keys.VersionKey(nil, unflushedKey(i), clock.MaxTimestamp)):
			_, newest, _ = keys.DecodeVersionKey(it.Key())
		default:
			newest = notFound
		}
		ts = append(ts, newest)
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
	return ts
}

// notFound is what newest returns for a key without versions.
const notFound = clock.MaxTimestamp

// race lets writers put versions while memtables are flushed, and readers look for the newest that was applied before they looked.
// It returns how many of them were missed, and how many lookups left the memtables out.
func race(t *testing.T, change func(*engine.Batch)) (missed, skipped int64) {
	const keysEach, writers, readers, batches = 5000, 3, 2, 4000
	e := memEngine(t, engine.MemTableBytesMin) // it flushes often
	seed := testkit.Seed(t)
	applied := make([]atomic.Uint64, writers*keysEach)
	var miss, skip, more atomic.Int64
	var done atomic.Bool
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			rng := testkit.Rand(seed, uint64(w))
			for ts := clock.Timestamp(1); ts <= batches; ts++ {
				var group [3]int
				for n := range group {
					group[n] = w*keysEach + rng.IntN(keysEach)
				}
				putVersions(t, e, ts, change, group[:]...)
				for _, i := range group {
					applied[i].Store(uint64(ts))
				}
			}
		})
	}
	for r := range readers {
		reading.Go(func() {
			rng := testkit.Rand(seed, uint64(writers+r))
			for !done.Load() {
				var look [5]int
				var want [5]clock.Timestamp
				for n := range look {
					look[n] = rng.IntN(len(applied))
					want[n] = clock.Timestamp(applied[look[n]].Load())
				}
				if !e.UnflushedMayHold(unflushedKey(look[0])) {
					skip.Add(1)
				}
				for n, ts := range newest(t, e, look[:]...) {
					if ts != 0 && want[n] != 0 && (ts < want[n] || ts == notFound) {
						miss.Add(1)
					}
					if n > 0 && ts != 0 {
						more.Add(1)
					}
				}
			}
		})
	}
	writing.Wait()
	done.Store(true)
	reading.Wait()
	if m := e.Metrics(); m.Flushes < 5 {
		t.Errorf("%d flushes are too few for this test", m.Flushes)
	}
	if more.Load() == 0 {
		t.Error("no iterator has shown a second key")
	}
	return miss.Load(), skip.Load()
}

// Lookups that leave the memtables out miss nothing that was applied before, while versions are put and flushed.
func TestUnflushed(t *testing.T) {
	missed, skipped := race(t, nil)
	if missed != 0 || skipped == 0 {
		t.Errorf("%d lookups missed a version, and %d left the memtables out", missed, skipped)
	}
}

// A batch that keeps its keys from the filters is missed, so the test above can fail.
func TestUnflushedCanary(t *testing.T) {
	if missed, _ := race(t, (*engine.Batch).ForgetKeys); missed == 0 {
		t.Error("no lookup misses what the filters were not told")
	}
}

// What has been flushed leaves the filters with the flush after at the latest, and so does what lies in a deleted range.
func TestUnflushedLeaves(t *testing.T) {
	// The keys fit into a memtable many times over, and a batch of them into half of one: all flushes are the test's.
	const keyCount, few = 400, 400 / 32
	e := memEngine(t, 4<<20)
	flush := func() {
		t.Helper()
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	held := func() (n int) {
		for i := range keyCount {
			if e.UnflushedMayHold(unflushedKey(i)) {
				n++
			}
		}
		return n
	}
	all := make([]int, keyCount)
	for i := range all {
		all[i] = i
	}
	putVersions(t, e, 1, nil, all...)
	if n := held(); n != keyCount {
		t.Fatalf("the filters hold %d of %d keys", n, keyCount)
	}
	flush()
	putVersions(t, e, 2, nil, 2000)
	flush()
	if n := held(); n > few {
		t.Errorf("the filters hold %d of %d keys that were flushed", n, keyCount)
	}
	if n := e.UnflushedFilters(); n > 2 {
		t.Errorf("%d filters are left", n)
	}
	b := e.NewBatch()
	defer b.Close()
	b.DeleteRange(keys.VersionPrefix(nil, unflushedKey(0)), keys.VersionPrefix(nil, unflushedKey(keyCount/2)))
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
	if n := held(); n < keyCount/2 || n > keyCount/2+few {
		t.Errorf("with half of the keys in a deleted range of a memtable the filters hold %d of %d", n, keyCount)
	}
	if ts := newest(t, e, 0); ts[0] != notFound {
		t.Errorf("a deleted key is found at %d", ts[0])
	}
	flush()
	putVersions(t, e, 3, nil, 2000)
	flush()
	if n := held(); n > few {
		t.Errorf("with the deleted range flushed the filters hold %d of %d keys", n, keyCount)
	}
}

// gateFS stops flushes at the creation of each table until they are let through.
type gateFS struct {
	vfs.FS
	arrived, pass chan struct{}
}

func (f *gateFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if category == "pebble-memtable-flush" && strings.HasSuffix(name, ".sst") {
		f.arrived <- struct{}{}
		<-f.pass
	}
	return f.FS.Create(name, category)
}

// TestUnflushedLargeBatch: a batch that becomes a memtable of its own is seen, though a flush of what was before it ends first.
func TestUnflushedLargeBatch(t *testing.T) {
	const memTableBytes = 1 << 20
	fs := &gateFS{FS: vfs.NewMem(), arrived: make(chan struct{}, 64), pass: make(chan struct{}, 16)}
	pass := func(n int) {
		for range n {
			fs.pass <- struct{}{}
		}
	}
	pass(cap(fs.pass))
	e := open(t, engine.Options{
		Dir: "mem", FS: fs, CacheBytes: 8 << 20, MemTableBytes: memTableBytes,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace,
	})
	begun := len(fs.arrived)
	putVersions(t, e, 1, nil, 1, 2)
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	tables := len(fs.arrived) - begun // that such a flush makes
	for len(fs.pass) > 0 {
		<-fs.pass
	}
	for len(fs.arrived) > 0 {
		<-fs.arrived
	}
	putVersions(t, e, 2, nil, 1, 2)
	flushed := make(chan error, 1)
	go func() { flushed <- e.Flush() }()
	<-fs.arrived // of which the first is begun
	large := func(b *engine.Batch) {
		b.SetVersion(unflushedKey(3), 3, nil, make([]byte, memTableBytes))
	}
	putVersions(t, e, 3, large, 2)
	pass(tables)
	if err := <-flushed; err != nil {
		t.Fatal(err)
	}
	for i, want := range []clock.Timestamp{1: 2, 2: 3, 3: 3, 4: notFound} {
		if got := newest(t, e, i); i > 0 && got[0] != want {
			t.Errorf("key %d has version %v, not %v", i, got[0], want)
		}
	}
	close(fs.pass)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
