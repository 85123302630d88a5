package wal_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

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
	r.closeWith(want)
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
