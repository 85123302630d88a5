package engine

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/keys"
)

// direct makes reads of an engine go past the page cache, or skips the test where that can't be.
func direct(t *testing.T, e *Engine, f *tableFile, chill func()) {
	t.Helper()
	e.direct.on.Store(true)
	t.Cleanup(e.direct.close)
	// A read may be left to the page cache for the moment.
	for range 20 {
		chill()
		if _, err := f.ReadAt(make([]byte, page), 0); err != nil {
			t.Fatal(err)
		}
		if e.counters.directReads.Load() > 0 {
			return
		}
	}
	t.Skip("no reads past the page cache here")
}

// TestDirectReads: a read past the page cache returns what the file holds, wherever it begins and ends, leaves nothing in the page
// cache, and is made only of what that does not have.
func TestDirectReads(t *testing.T) {
	e := &Engine{}
	f, content, chill := coldTable(t, e, func() {})
	direct(t, e, f, chill)
	const rounds = 20
	for _, tc := range []struct {
		name           string
		cached         int // bytes from the start that are read before
		offset, length int
		direct         bool
	}{
		{"a page", 0, 2 * page, page, true},
		{"within a sector", 0, 3*page + 100, 50, true},
		{"over sectors", 0, page - 1, 4*page + 2, true},
		{"the longest", 0, 1, directBytesMax, true},
		{"longer", 0, 1, directBytesMax + 1, false},
		{"partly cached", 2 * page, page, 8 * page, true},
		{"cached", 16 * page, 2 * page, page, false},
		{"cached, odd", 16 * page, 2*page - 1, page + 2, false},
		{"the end", 0, len(content) - 100, 100, true},
		{"nothing", 0, 100, 0, false},
	} {
		made := 0
		for range rounds {
			chill()
			if _, err := f.File.(*watched).File.ReadAt(make([]byte, tc.cached), 0); err != nil {
				t.Fatal(err)
			}
			before, waits := e.counters.directReads.Load(), e.counters.diskReads.Load()
			p := make([]byte, tc.length)
			n, err := f.ReadAt(p, int64(tc.offset))
			if n != tc.length || err != nil || !bytes.Equal(p, content[tc.offset:tc.offset+tc.length]) {
				t.Errorf("%s: %d bytes, %v, or not what was written", tc.name, n, err)
			}
			if e.counters.directReads.Load() == before {
				continue
			}
			made++
			if e.counters.diskReads.Load() != waits+1 {
				t.Errorf("%s: does not count as a read of the disk", tc.name)
			}
			if in, err := pagesCached(f.Fd(), int64(tc.offset+tc.length-1), 1); err != nil || in && tc.cached == 0 {
				t.Errorf("%s: in the page cache afterwards: %v, %v", tc.name, in, err)
			}
		}
		if tc.direct && made < rounds/2 || !tc.direct && made > 0 {
			t.Errorf("%s: %d of %d reads were past the page cache", tc.name, made, rounds)
		}
	}
	p := make([]byte, 200)
	chill()
	if n, err := f.ReadAt(p, int64(len(content)-100)); n != 100 || err == nil {
		t.Errorf("past the end: %d, %v", n, err)
	}
	chill()
	if n := testing.AllocsPerRun(100, func() { _, _ = f.ReadAt(p, int64(page)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if e.direct.refused.Load() {
		t.Error("refused")
	}
}

// TestDirectReadsFill: one in so many reads that the page cache can't serve goes through it, and is there for the next.
func TestDirectReadsFill(t *testing.T) {
	e := &Engine{}
	f, _, chill := coldTable(t, e, func() {})
	direct(t, e, f, chill)
	const fills = 5
	before, filled := e.direct.misses.Load(), 0
	for e.direct.misses.Load() < before+fills*fillEvery {
		chill()
		misses, past := e.direct.misses.Load(), e.counters.directReads.Load()
		if _, err := f.ReadAt(make([]byte, page), int64(page)); err != nil {
			t.Fatal(err)
		}
		if e.direct.misses.Load() == misses || e.direct.misses.Load()%fillEvery != 0 {
			continue
		}
		if e.counters.directReads.Load() != past {
			t.Error("past the page cache in its turn")
		}
		if in, err := pagesCached(f.Fd(), int64(page), page); err != nil {
			t.Fatal(err)
		} else if in {
			filled++
		}
	}
	if filled == 0 {
		t.Errorf("of %d reads through the page cache none is there", fills)
	}
}

// TestDirectReadsIdle: while memory lies idle each read fills the page cache.
func TestDirectReadsIdle(t *testing.T) {
	e := &Engine{}
	f, _, chill := coldTable(t, e, func() {})
	direct(t, e, f, chill)
	// past reads once from the disk, and tells whether that was past the page cache.
	past := func() bool {
		t.Helper()
		for range 100 {
			e.direct.misses.Store(1) // the next one does not fill for its number
			chill()
			before := e.counters.directReads.Load()
			if _, err := f.ReadAt(make([]byte, page), int64(page)); err != nil {
				t.Fatal(err)
			}
			if e.direct.misses.Load() != 1 {
				return e.counters.directReads.Load() != before
			}
		}
		t.Fatal("the file is always in the page cache")
		return false
	}
	for _, idle := range []bool{false, true, false} {
		e.direct.idle.Store(idle)
		if past() == idle {
			t.Errorf("memory lies idle: %v; past the page cache: %v", idle, !idle)
		}
	}
}

// TestDirectReadsAtOnce: more reads than there are places go on, those without one through the page cache.
func TestDirectReadsAtOnce(t *testing.T) {
	e := &Engine{}
	f, content, chill := coldTable(t, e, func() {})
	direct(t, e, f, chill)
	var wg sync.WaitGroup
	for g := range 2 * directReadsMax {
		wg.Go(func() {
			p := make([]byte, 2*page)
			for i := range 50 {
				if i%10 == 0 && g == 0 {
					_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // only so that more reads are cold
				}
				n := 1 + (1009*i+37*g)%len(p)
				offset := (7919*i + 4099*g) % (len(content) - n)
				if _, err := f.ReadAt(p[:n], int64(offset)); err != nil || !bytes.Equal(p[:n], content[offset:offset+n]) {
					t.Errorf("%d bytes at %d: %v", n, offset, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if e.direct.made > directReadsMax || len(e.direct.free) != e.direct.made {
		t.Errorf("%d places of %d, %d free", e.direct.made, directReadsMax, len(e.direct.free))
	}
}

// TestDirectReadsRefused: where the system can't tell what the page cache has, or takes no request, all goes through the page cache.
func TestDirectReadsRefused(t *testing.T) {
	e, err := OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	f, content, chill := coldTable(t, e, func() {})
	read := func() {
		t.Helper()
		chill()
		p := make([]byte, page)
		if n, err := f.ReadAt(p, int64(page)); n != page || err != nil || !bytes.Equal(p, content[page:2*page]) {
			t.Errorf("%d, %v", n, err)
		}
	}
	e.direct.on.Store(true)
	real := f.fd
	f.fd = 1 << 20 // which the system does not know
	read()
	if !e.direct.refused.Load() || e.direct.on.Load() {
		t.Error("it goes on")
	}
	f.fd = real
	e.plainReads.Store(false)
	read()
	if n := e.counters.directReads.Load(); n != 0 {
		t.Errorf("%d reads past the page cache", n)
	}
	e.opts.PageCache = func() (room, free int64) { return 1, 0 }
	if e.PollReads(); e.direct.on.Load() {
		t.Error("and is not asked again")
	}
	e.refuseDirect(errors.New("a second reason is not told"))
}

// TestPollReads: tables are read past the page cache when they are more than it holds, and no longer when they are fewer. A little free
// memory is not idle.
func TestPollReads(t *testing.T) {
	dir := t.TempDir()
	has := func(pageCache int64) func() (room, free int64) {
		if pageCache == 0 {
			return nil
		}
		return func() (room, free int64) { return pageCache, 0 }
	}
	open := func(pageCache int64) *Engine {
		t.Helper()
		e, err := Open(Options{Dir: dir, PageCache: has(pageCache), CacheBytes: cacheBytesMin, BallastBytes: NoSpace, LowSpaceBytes: NoSpace})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	key := func(i int) []byte { return keys.Bare(nil, keys.SpaceVersion, fmt.Appendf(nil, "key %06d", i)) }
	const rows, rowBytes = 4000, 1000
	noise := uint64(1) // of Knuth's generator MMIX, since what repeats would be compressed
	e := open(4096)
	if e.direct.on.Load() {
		t.Error("an empty directory is too large")
	}
	value := make([]byte, rowBytes)
	b := e.NewBatch()
	for i := range rows {
		for j := range value {
			noise = noise*6364136223846793005 + 1442695040888963407
			value[j] = byte(noise >> 56)
		}
		b.Set(key(i), value)
	}
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	e.PollReads()
	if !e.direct.on.Load() {
		t.Error("4 MB are not more than 4 KB")
	}
	size := int64(0)
	for _, level := range e.db.Metrics().Levels {
		size += level.TablesSize
	}
	for _, tc := range []struct {
		pageCache int64
		on        bool
	}{{size + 1, true}, {size + size/2, false}, {size + 1, false}, {size - 1, true}} {
		e.opts.PageCache = has(tc.pageCache)
		if e.PollReads(); e.direct.on.Load() != tc.on {
			t.Errorf("%d bytes and a page cache that now has %d: %v", size, tc.pageCache, !tc.on)
		}
	}
	for _, tc := range []struct {
		room, free int64
		idle       bool
	}{{1 << 30, freeMin, false}, {1 << 30, freeMin + 1, true}, {100 << 30, 3 << 30, false}, {100 << 30, 4 << 30, true}, {1 << 30, 0, false}} {
		e.opts.PageCache = func() (room, free int64) { return tc.room, tc.free }
		if e.PollReads(); e.direct.idle.Load() != tc.idle {
			t.Errorf("%d bytes of %d are free: memory lies idle: %v", tc.free, tc.room, !tc.idle)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pageCache int64
		on        bool
	}{{0, false}, {rows * rowBytes / 2, true}, {rows * rowBytes * 2, false}} {
		e := open(tc.pageCache)
		if e.direct.on.Load() != tc.on {
			t.Errorf("a page cache of %d bytes: %v", tc.pageCache, !tc.on)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
