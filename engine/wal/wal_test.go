package wal_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

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

// closeWith closes the log, in which these records are found again.
func (r *rig) closeWith(want []string) {
	r.t.Helper()
	r.close()
	r.mustOpen()
	if !slices.Equal(r.read, want) {
		r.t.Errorf("%d records are read, want %d, or others", len(r.read), len(want))
	}
	r.close()
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
	testkit.OneGoroutine(t)
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
