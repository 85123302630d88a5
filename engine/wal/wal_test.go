package wal_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// rig is a log in a file system in memory, with what a test wants to know of it.
type rig struct {
	t        *testing.T
	fs       engine.FS
	segment  int64
	released atomic.Uint64 // what the owner would have flushed
	must     bool
	first    int64 // Options.FirstBytes
	noSpares bool
	accept   bool // Options.AcceptLost
	failed   atomic.Int32

	log  *wal.Log
	read []string // contents replayed by the last open
}

func newRig(t *testing.T, fs engine.FS) *rig {
	t.Helper()
	if err := fs.MkdirAll("d", 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := fs.OpenDir(".")
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, fs: fs, segment: 4096}
}

func (r *rig) open() error {
	r.read = nil
	var err error
	r.log, err = wal.Open(wal.Options{
		Dir: "d", FS: r.fs, Raw: r.fs, SegmentBytes: r.segment, FirstBytes: r.first, Spares: !r.noSpares, AcceptLost: r.accept,
		Released: func() wal.Position { return wal.Position(r.released.Load()) },
		Fail:     func(string, error) { r.failed.Add(1) },
	}, wal.Position(r.released.Load()), r.must, func(content []byte) error {
		r.read = append(r.read, string(content))
		return nil
	})
	r.must = r.must || err == nil
	return err
}

func (r *rig) mustOpen() {
	r.t.Helper()
	if err := r.open(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) append(content string) wal.Position {
	r.t.Helper()
	end, err := r.log.Append([]byte(content))
	if err != nil {
		r.t.Fatal(err)
	}
	return end
}

func (r *rig) sync(pos wal.Position) {
	r.t.Helper()
	if err := r.log.Sync(pos); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) close() {
	r.t.Helper()
	if err := r.log.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) spareReady() bool {
	_, err := r.fs.Stat("d/spare-wal")
	return err == nil
}

// segments returns the names of the segments, ascending.
func (r *rig) segments() []string {
	r.t.Helper()
	names, err := r.fs.List("d")
	if err != nil {
		r.t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !testkit.IsWAL(name) })
	slices.Sort(names)
	return names
}

func (r *rig) content(name string) []byte {
	r.t.Helper()
	f, err := r.fs.Open("d/" + name)
	if err != nil {
		r.t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		r.t.Fatal(err)
	}
	b := make([]byte, info.Size())
	if n, err := f.ReadAt(b, 0); n < len(b) {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *rig) setContent(name string, content []byte) {
	r.t.Helper()
	f, err := r.fs.Create("d/"+name, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.Write(slices.Clone(content)) // under the race detector MemFS spoils what it is given
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// TestFormat pins the bytes of doc.go.
func TestFormat(t *testing.T) {
	defer wal.FixSalt(0x04030201)()
	r := newRig(t, engine.NewMemFS())
	r.noSpares = true // or the second record may begin the segment that is made of the first spare
	r.mustOpen()
	r.sync(r.append("hello"))
	r.sync(r.append("12345678"))
	r.close()
	if got := r.segments(); len(got) == 0 || got[0] != "0000000000000000.wal" {
		t.Fatalf("segments %v", got)
	}
	const want = "50414e444f57414c" + "01000000" + "0000000000000000" + "01020304" + "546bc79f" + "00000000" +
		"4d22f234" + "05000000" + "0000000000000000" + "0000000000000000" + "68656c6c6f000000" +
		"ed82c6e0" + "08000000" + "2000000000000000" + "2000000000000000" + "3132333435363738"
	if got := hex.EncodeToString(r.content("0000000000000000.wal")[:len(want)/2]); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// TestCrashes is the model: a log lives through many power losses, each in the middle of work, with small segments that are
// recycled all the time. What is read each time is a prefix of what was appended since the last time, at least all that was
// synced, and never a record that an earlier crash has torn off.
func TestCrashes(t *testing.T) {
	t.Run("buffered", func(t *testing.T) {
		testCrashes(t, 4096, func(mem engine.FS) engine.FS { return mem }, func(*rig) {})
	})
	t.Run("direct", func(t *testing.T) {
		m := directInMemory(t)
		testCrashes(t, 16<<10, m.fs, func(r *rig) {
			testkit.Await(t, "there is a spare, or it has become a segment", func() bool {
				segments := r.segments()
				info, err := r.fs.Stat("d/" + segments[len(segments)-1])
				return r.spareReady() || err == nil && info.Size() >= r.segment
			})
		})
		if m.writes < 300 {
			t.Errorf("%d direct writes", m.writes)
		}
	})
}

func testCrashes(t *testing.T, segment int64, wrap func(engine.FS) engine.FS, opened func(*rig)) {
	seed := testkit.Seed(t)
	rng := testkit.Rand(seed, 0)
	rounds := 150
	if testkit.SlowTests() {
		rounds *= 50
	}
	mem := engine.NewMemFS()
	r := newRig(t, wrap(mem))
	r.segment = segment
	type record struct {
		content string
		end     wal.Position
	}
	var live []record // appended and, as far as is known, not lost; from released on
	lost, torn, recycled := 0, 0, 0
	for round := range rounds {
		r.mustOpen()
		opened(r)
		for i, content := range r.read {
			if i >= len(live) || live[i].content != content {
				t.Fatalf("round %d: record %d of %d is %.20q", round, i, len(live), content)
			}
		}
		lost += len(live) - len(r.read)
		live = live[:len(r.read)]
		end := wal.Position(r.released.Load())
		if len(live) > 0 {
			end = live[len(live)-1].end
		}
		if got := r.log.End(); got != end {
			t.Fatalf("round %d: the log ends at %d, want %d", round, got, end)
		}
		synced := len(live)
		for i := range rng.IntN(60) {
			// Lengths come from few values, so that a record that was torn off has successors at the same place.
			content := fmt.Sprintf("%d/%d/", round, i) + strings.Repeat("x", []int{1, 50, 50, 50, 3000}[rng.IntN(5)])
			live = append(live, record{content, r.append(content)})
			switch rng.IntN(6) {
			case 0:
				r.sync(live[len(live)-1].end)
				synced = len(live)
			case 1:
				if n := rng.IntN(synced + 1); n > 0 {
					r.released.Store(uint64(live[n-1].end))
					live = live[n:]
					synced -= n
					r.log.Kick()
				}
			}
		}
		if n := len(r.segments()); n > 1 {
			recycled++
		}
		crashed := testkit.Crash(mem, []int{0, 0, 30, 70}[rng.IntN(4)], rng.Uint64())
		if err := r.log.Close(); err != nil {
			t.Fatal(err)
		}
		mem, r.fs = crashed, wrap(crashed)
		if synced < len(live) {
			torn++
		}
		must := live[:synced]
		r2 := newRig(t, engine.NewMemFS()) // a second reader of the same crash, to look at the promise
		r2.fs, r2.segment, r2.must = testkit.Crash(crashed, 0, 0), r.segment, true
		r2.released.Store(r.released.Load())
		r2.mustOpen()
		if len(r2.read) < len(must) {
			t.Fatalf("round %d: %d records were synced, %d are left", round, len(must), len(r2.read))
		}
		r2.close()
	}
	t.Logf("%d records lost, %d crashes with unsynced records, %d with several segments", lost, torn, recycled)
	if lost == 0 || torn == 0 || recycled == 0 {
		t.Error("the test has not seen what it is made for")
	}
}

// TestDamage flips one bit somewhere in what was synced: the log is refused, or what is read is a prefix that lacks nothing
// but records which nothing later knew to be synced.
func TestDamage(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	refused, shorter := 0, 0
	for range 300 {
		r := newRig(t, engine.NewMemFS())
		r.mustOpen()
		var want []string
		lastKnown := 0 // records before it are known as synced to a later one
		for i := range 40 {
			want = append(want, fmt.Sprintf("%d", i)+strings.Repeat("x", rng.IntN(400)))
			end := r.append(want[i])
			lastKnown = i
			r.sync(end)
		}
		r.close()
		names := r.segments()
		name := names[rng.IntN(len(names))]
		b := r.content(name)
		at := rng.IntN(len(b))
		b[at] ^= 1 << rng.IntN(8)
		r.setContent(name, b)
		err := r.open()
		switch {
		case errors.Is(err, wal.ErrDamaged), errors.Is(err, wal.ErrVersion), errors.Is(err, wal.ErrLost):
			refused++
			continue
		case err != nil:
			t.Fatal(err)
		}
		if !slices.Equal(r.read, want[:len(r.read)]) || len(r.read) < lastKnown {
			t.Fatalf("bit at %d of %s: %d records read of %d", at, name, len(r.read), len(want))
		}
		if len(r.read) < len(want) {
			shorter++
		}
		r.close()
	}
	t.Logf("%d flips refused, %d taken for the last record's loss", refused, shorter)
	if refused < 10 {
		t.Error("hardly a flip was noticed: the test is blind")
	}
}

// TestMissing: a log of which a part is gone is refused, unless nobody needs that part.
func TestMissing(t *testing.T) {
	fill := func() (*rig, []wal.Position) {
		r := newRig(t, engine.NewMemFS())
		r.mustOpen()
		var ends []wal.Position
		for i := range 40 {
			ends = append(ends, r.append(fmt.Sprint(i)+strings.Repeat("x", 500)))
		}
		r.close()
		if n := len(r.segments()); n < 4 {
			t.Fatalf("only %d segments", n)
		}
		return r, ends
	}
	for _, which := range []string{"first", "middle"} {
		r, _ := fill()
		names := r.segments()
		gone := map[string][]string{"first": names[:1], "middle": names[1:2]}[which]
		for _, name := range gone {
			if err := r.fs.Remove("d/" + name); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.open(); !errors.Is(err, wal.ErrDamaged) {
			t.Errorf("%s gone: %v", which, err)
		}
	}
	r, ends := fill()
	names := r.segments()
	for _, name := range names[:2] {
		if err := r.fs.Remove("d/" + name); err != nil {
			t.Fatal(err)
		}
	}
	r.released.Store(uint64(ends[30]))
	r.mustOpen()
	if len(r.read) != 9 || !strings.HasPrefix(r.read[0], "31x") {
		t.Errorf("%d records from position %d on", len(r.read), ends[30])
	}
	r.close()
}

// TestVersion: the log of a newer program is refused as such.
func TestVersion(t *testing.T) {
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	for range 3 {
		r.sync(r.append("x"))
	}
	r.close()
	name := r.segments()[0]
	b := r.content(name)
	b[8] = 2
	r.setContent(name, b)
	if err := r.open(); !errors.Is(err, wal.ErrDamaged) {
		t.Errorf("a header that fails its sum before a synced record: %v", err)
	}
	binary.LittleEndian.PutUint32(b[24:], crc32.Checksum(b[:24], crc32.MakeTable(crc32.Castagnoli)))
	r.setContent(name, b)
	if err := r.open(); !errors.Is(err, wal.ErrVersion) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a newer version: %v", err)
	}
}

// TestRelease: segments that nobody needs go, one of them becomes the spare, and space stays bounded.
func TestRelease(t *testing.T) {
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	testkit.Await(t, "a spare", r.spareReady)
	for range 200 {
		end := r.append(strings.Repeat("x", 1000))
		r.sync(end)
		r.released.Store(uint64(end))
		r.log.Kick()
	}
	// One file may be left before the keeper has seen the last release: it runs whenever it gets the processor.
	testkit.Await(t, "the last release is seen", func() bool { r.log.Kick(); return r.log.Stats().LiveBytes == 0 })
	testkit.Await(t, "all segments but the last are gone", func() bool { r.log.Kick(); return len(r.segments()) == 1 })
	if s := r.log.Stats(); s.Syncs < 200 || s.Bytes < 200_000 || s.DiskBytes == 0 || s.DiskBytes > 2*uint64(r.segment) {
		t.Errorf("%+v", s)
	}
	r.close()
	r.mustOpen()
	if len(r.read) != 0 {
		t.Errorf("%d records are read again", len(r.read))
	}
	r.close()
}

// TestSparesCirculate: once there are as many segments as it takes until one is released, no spare is written any more, whether
// releases come in time for the next segment or a segment later.
func TestSparesCirculate(t *testing.T) {
	for _, c := range []struct {
		name   string
		behind int64 // how much of the log is not released
		spares int64 // how many are written
	}{{"in time", 2000, 2}, {"late", 6000, 3}} {
		t.Run(c.name, func(t *testing.T) {
			var written atomic.Int64
			r := newRig(t, engine.NewMemFS())
			r.fs = &testkit.HookFS{FS: r.fs, OnWrite: func(name string, n int) error {
				if strings.HasSuffix(name, "spare-wal.part") {
					written.Add(int64(n))
				}
				return nil
			}}
			r.mustOpen()
			testkit.Await(t, "a spare", r.spareReady)
			const segments = 30
			var base, end wal.Position
			for n := 0; n < segments; {
				before := len(r.segments())
				end = r.append(strings.Repeat("x", 200))
				r.sync(end)
				if released := int64(end) - c.behind; released > 0 {
					r.released.Store(uint64(released))
				}
				names := r.segments()
				if len(names) > 4 {
					t.Fatalf("segments %v", names)
				}
				r.log.Kick()
				testkit.Await(t, "the release is seen", func() bool { return int64(r.log.Stats().LiveBytes) <= c.behind })
				if len(names) > before {
					base = end
					n++
				} else if int64(end-base) > r.segment*7/8 {
					testkit.Await(t, "the next spare", r.spareReady)
				}
			}
			if got := written.Load() / r.segment; got != c.spares {
				t.Errorf("%d spares for %d segments, want %d", got, segments, c.spares)
			}
			r.close()
		})
	}
}

// TestSegmentsGrow: a new log takes little of the disk, its spares double as it grows, and all records are found again at any time.
func TestSegmentsGrow(t *testing.T) {
	mem := engine.NewMemFS()
	r := newRig(t, mem)
	r.segment, r.first = 16<<10, 1<<10
	r.mustOpen()
	testkit.Await(t, "a spare", r.spareReady)
	if info, err := r.fs.Stat("d/spare-wal"); err != nil || info.Size() != r.first {
		t.Fatalf("the first spare: %v, %v", info, err)
	}
	sizes := map[int64]bool{}
	var want []string
	for n := range 400 {
		content := fmt.Sprintf("%04d%s", n, strings.Repeat("x", 120))
		want = append(want, content)
		r.sync(r.append(content))
		if info, err := r.fs.Stat("d/spare-wal"); err == nil {
			sizes[info.Size()] = true
			if end := int64(r.log.End()); info.Size() > max(r.first, end) {
				t.Fatalf("a spare of %d bytes for a log of %d", info.Size(), end)
			}
		}
		testkit.Await(t, "the next spare", func() bool { return r.spareReady() || r.log.Expects() })
		if n%50 == 49 {
			crashed := newRig(t, testkit.Crash(mem, 0, 0))
			crashed.segment, crashed.first = r.segment, r.first
			if err := crashed.open(); err != nil || !slices.Equal(crashed.read, want) {
				t.Fatalf("after %d records and a crash: %d, %v", n+1, len(crashed.read), err)
			}
			crashed.close()
		}
	}
	for size := r.first; size <= r.segment; size *= 2 {
		if !sizes[size] {
			t.Errorf("there was no spare of %d bytes: %v", size, sizes)
		}
	}
	r.close()
	r.mustOpen()
	if !slices.Equal(r.read, want) {
		t.Errorf("%d records are found again, want %d", len(r.read), len(want))
	}
	r.close()
}

// TestReleaseBeforeNext: the last segment on disk stays, though nobody needs its records, until the next one is there.
func TestReleaseBeforeNext(t *testing.T) {
	mem := engine.NewMemFS()
	r := newRig(t, mem)
	r.mustOpen()
	end := r.append(strings.Repeat("x", 2000))
	r.sync(end)
	r.released.Store(uint64(end))
	r.append(strings.Repeat("y", 3000)) // begins a segment, in memory only
	r.log.Kick()
	testkit.Await(t, "the release", func() bool { return r.log.Stats().LiveBytes < 3100 })
	time.Sleep(10 * time.Millisecond) // a file would go after that
	// A kill leaves the files as they are now.
	killed := &rig{t: t, fs: mem, segment: r.segment, must: true}
	killed.released.Store(uint64(end))
	killed.mustOpen()
	killed.close()
	_ = r.log.Close()
}

// removingFS creates a file as the operating system's does, which first removes one of the same name; and may stop after that.
type removingFS struct {
	engine.FS
	stop bool
}

func (f *removingFS) Create(name string, category engine.WriteCategory) (engine.File, error) {
	if err := f.FS.Remove(name); err == nil && f.stop {
		return nil, errors.New("killed")
	}
	return f.FS.Create(name, category)
}

// TestKilledWhileReplacing: a start that is killed while it replaces the only segment leaves one.
func TestKilledWhileReplacing(t *testing.T) {
	fs := &removingFS{FS: engine.NewMemFS()}
	r := newRig(t, fs)
	r.segment = 1 << 20
	r.noSpares = true
	r.mustOpen()
	r.close()
	fs.stop = true
	_ = r.open()
	if r.log != nil {
		r.close()
	}
	fs.stop = false
	r.mustOpen()
	r.sync(r.append("x"))
	r.close()
	r.mustOpen()
	if len(r.read) != 1 {
		t.Errorf("%d records", len(r.read))
	}
	r.close()
}

// TestGroups: those who wait while a sync runs share the next one, whatever their number, and each is woken.
func TestGroups(t *testing.T) {
	fs := testkit.NewCountFS(engine.NewMemFS())
	r := newRig(t, &testkit.HookFS{FS: fs, OnSync: func(string) (bool, error) {
		time.Sleep(time.Millisecond)
		return false, nil
	}})
	r.segment = 1 << 20
	r.mustOpen()
	before := fs.WALSyncs()
	const writers, each = 32, 30
	var order sync.Mutex
	var want []string
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				content := fmt.Sprintf("%d/%d", w, i)
				order.Lock()
				want = append(want, content)
				end, err := r.log.Append([]byte(content))
				order.Unlock()
				if err := errors.Join(err, r.log.Sync(end)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := fs.WALSyncs() - before; n == 0 || n > writers*each/4 {
		t.Errorf("%d records took %d syncs", writers*each, n)
	}
	r.close()
	r.mustOpen()
	if !slices.Equal(r.read, want) {
		t.Errorf("%d records read, %d written, or in another order", len(r.read), len(want))
	}
	r.close()
}

// TestSyncsAreShared: on one processor, which a sync keeps, those who are ready to append when somebody is about to sync share it.
func TestSyncsAreShared(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	defer r.close()
	const rounds, each = 20, 16
	before := r.log.Stats().Syncs
	for range rounds {
		var wg sync.WaitGroup
		for range each {
			wg.Go(func() { r.sync(r.append("x")) })
		}
		wg.Wait()
	}
	// One for each round, and one more where the first is served before the last has come.
	if syncs := r.log.Stats().Syncs - before; syncs > 4*rounds {
		t.Errorf("%d syncs of %d records that came %d at a time", syncs, rounds*each, each)
	}
}

// TestPendingIsBounded: with a disk that hangs, appending stops at a bound and goes on when the disk does.
func TestPendingIsBounded(t *testing.T) {
	gate := make(chan struct{})
	var shut atomic.Bool
	hangs := make(chan struct{}, 100)
	r := newRig(t, &testkit.HookFS{FS: engine.NewMemFS(), OnSync: func(name string) (bool, error) {
		if shut.Load() && testkit.IsWAL(name) {
			hangs <- struct{}{}
			<-gate
		}
		return false, nil
	}})
	r.segment = 1 << 30
	r.mustOpen()
	shut.Store(true)
	synced := make(chan error, 1)
	first := r.append("x")
	go func() { synced <- r.log.Sync(first) }()
	<-hangs
	const chunk, chunks = 1 << 20, 40
	var appended atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		content := bytes.Repeat([]byte("y"), chunk)
		for range chunks {
			if _, err := r.log.Append(content); err != nil {
				t.Error(err)
			}
			appended.Add(1)
		}
	}()
	testkit.Await(t, "some records are appended", func() bool { return appended.Load() >= 15 })
	time.Sleep(50 * time.Millisecond)
	if n := appended.Load(); n > 17 {
		t.Errorf("%d MiB are pending", n)
	}
	close(gate)
	<-done
	if err := errors.Join(<-synced, r.log.Sync(r.log.End())); err != nil {
		t.Error(err)
	}
	r.close()
	r.mustOpen()
	if len(r.read) != chunks+1 {
		t.Errorf("%d records", len(r.read))
	}
	r.close()
}

// TestFailure: after an error of the disk nobody is told that anything is durable, those who wait are woken, and what was
// durable before is found again.
func TestFailure(t *testing.T) {
	for _, op := range []string{"write", "sync", "segment"} {
		mem := engine.NewMemFS()
		var bad atomic.Bool
		fault := func(name string) error {
			if bad.Load() && testkit.IsWAL(name) {
				return syscall.EIO
			}
			return nil
		}
		hook := &testkit.HookFS{FS: mem}
		switch op {
		case "write":
			hook.OnWrite = func(name string, _ int) error { return fault(name) }
		case "sync":
			hook.OnSync = func(name string) (bool, error) { return false, fault(name) }
		case "segment":
			hook.OnSyncDir = func(string) (bool, error) { return false, fault(".wal") }
		}
		r := newRig(t, hook)
		r.mustOpen()
		var acked atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range 1000 {
					end, err := r.log.Append(bytes.Repeat([]byte("x"), 200))
					if err == nil {
						err = r.log.Sync(end)
					}
					if err != nil {
						if !errors.Is(err, wal.ErrFailed) {
							t.Error(err)
						}
						return
					}
					acked.Add(1)
					if i == 100 {
						bad.Store(true)
					}
				}
				t.Error("nothing has failed")
			})
		}
		wg.Wait()
		if r.failed.Load() != 1 {
			t.Errorf("%s: Fail was called %d times", op, r.failed.Load())
		}
		if _, err := r.log.Append([]byte("x")); !errors.Is(err, wal.ErrFailed) {
			t.Errorf("%s: an append after it: %v", op, err)
		}
		_ = r.log.Close()
		bad.Store(false)
		r.fs = testkit.Crash(mem, 0, 0)
		r.mustOpen()
		if int64(len(r.read)) < acked.Load() {
			t.Errorf("%s: %d records were acknowledged, %d are left", op, acked.Load(), len(r.read))
		}
		r.close()
	}
}

// TestCanary proves that TestCrashes looks: on a disk that lies about syncs it would fail.
func TestCanary(t *testing.T) {
	mem := engine.NewMemFS()
	r := newRig(t, &testkit.HookFS{FS: mem, OnSync: func(name string) (bool, error) { return testkit.IsWAL(name), nil }})
	r.mustOpen()
	r.sync(r.append("x"))
	r.fs = testkit.Crash(mem, 0, 0)
	_ = r.log.Close()
	if err := r.open(); !errors.Is(err, wal.ErrLost) {
		t.Errorf("the lie is not noticed: %v", err)
	}
	r.accept, r.must = true, true
	r.mustOpen()
	if len(r.read) != 0 {
		t.Error("a record survived that was never synced: the crashes crash nothing")
	}
	r.close()
}

// TestAllocations: a record appended and synced by a lone client allocates nothing.
func TestAllocations(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRig(t, engine.OSFS())
	r.segment = 16 << 20
	r.mustOpen()
	content := bytes.Repeat([]byte("x"), 300)
	one := func() {
		end, err := r.log.Append(content)
		if err := errors.Join(err, r.log.Sync(end)); err != nil {
			t.Fatal(err)
		}
	}
	one()
	one()
	testkit.Await(t, "the spare is made", r.spareReady)
	one()
	testkit.Await(t, "the next one too", r.spareReady)
	if n := testing.AllocsPerRun(100, one); n != 0 && !wal.RaceEnabled {
		t.Errorf("%v allocations", n)
	}
	r.close()
}

// TestForgery: content that looks like a record of the log, at its right place, is not taken for one after a torn tail, because who
// wrote it did not know the salt.
func TestForgery(t *testing.T) {
	forged := func(salt uint32) int {
		restore := wal.FixSalt(0)
		defer restore()
		// A log of the forger's own: its second record is the forged one, and stands where it would in the victim's.
		f := newRig(t, engine.NewMemFS())
		f.noSpares = true // or the second record may begin the segment that is made of the first spare
		f.mustOpen()
		f.append(strings.Repeat("a", 40))
		f.sync(f.append("forged"))
		f.close()
		raw := f.content(f.segments()[0])
		wal.FixSalt(salt)
		v := newRig(t, engine.NewMemFS())
		v.noSpares = true
		v.mustOpen()
		v.append(strings.Repeat("a", 40))
		v.close()
		// The victim's first record is followed by the forger's bytes, as those of a recycled segment could.
		name := v.segments()[0]
		v.setContent(name, append(v.content(name)[:32+64], raw[32+64:]...))
		v.mustOpen()
		defer v.close()
		return len(v.read)
	}
	if n := forged(0x12345678); n != 1 {
		t.Errorf("%d records", n)
	}
	if n := forged(0); n != 2 {
		t.Errorf("%d records of one salt: the forgery is none", n)
	}
}
