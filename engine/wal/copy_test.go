package wal_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

func noPoll() error { return nil }

// TestCopyTo: a copy of the log replays what lies between its two positions, wherever these are, and the log itself is as before.
func TestCopyTo(t *testing.T) {
	r := newRig(t, engine.NewMemFS())
	r.noSpares = true
	r.mustOpen()
	defer r.close()
	var contents []string
	ends := []wal.Position{0}
	for i := range 40 {
		content := fmt.Sprintf("%d %s", i, strings.Repeat("x", 300))
		contents = append(contents, content)
		ends = append(ends, r.append(content))
	}
	r.sync(r.log.End())
	if n := len(r.segments()); n < 3 {
		t.Fatalf("%d segments are too few to show anything", n)
	}
	release := r.log.Hold()
	defer release()
	for _, span := range [][2]int{{0, 40}, {0, 0}, {7, 40}, {20, 21}, {20, 20}, {39, 40}, {40, 40}, {0, 13}} {
		dir := fmt.Sprintf("copy-%d-%d", span[0], span[1])
		if err := r.fs.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := r.log.CopyTo(dir, ends[span[0]], ends[span[1]], noPoll); err != nil {
			t.Fatal(err)
		}
		var read []string
		l, err := wal.Open(wal.Options{Dir: dir, FS: r.fs, Raw: r.fs, SegmentBytes: 4096, Released: func() wal.Position { return 0 }, Fail: func(string, error) {}},
			ends[span[0]], true, func(content []byte) error { read = append(read, string(content)); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(read, contents[span[0]:span[1]]) || l.End() != ends[span[1]] {
			t.Errorf("the copy of records %v has %d and ends at %d instead of %d", span, len(read), l.End(), ends[span[1]])
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	stop := errors.New("stopped")
	if err := r.fs.MkdirAll("stopped", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.log.CopyTo("stopped", 0, r.log.End(), func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("who stops a copy got %v", err)
	}
}

// TestCopyOfDamage: a record that is not intact is not copied as if it were the end.
func TestCopyOfDamage(t *testing.T) {
	r := newRig(t, engine.NewMemFS())
	r.noSpares = true
	r.mustOpen()
	defer r.close()
	for i := range 40 {
		r.append(fmt.Sprintf("%d %s", i, strings.Repeat("x", 300)))
	}
	r.sync(r.log.End())
	name := r.segments()[1]
	b := r.content(name)
	b[len(b)/2] ^= 1
	r.setContent(name, b)
	if err := r.fs.MkdirAll("copy", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.log.CopyTo("copy", 0, r.log.End(), noPoll); !errors.Is(err, wal.ErrDamaged) || !strings.Contains(err.Error(), name) {
		t.Errorf("the copy of a damaged segment: %v", err)
	}
}

// TestHold: while the log is held nothing of it goes, and afterwards what is released does.
func TestHold(t *testing.T) {
	r := newRig(t, engine.NewMemFS())
	r.noSpares = true
	r.mustOpen()
	release := r.log.Hold()
	for range 40 {
		r.append(strings.Repeat("x", 300))
	}
	r.sync(r.log.End())
	before := r.segments()
	r.released.Store(uint64(r.log.End()))
	r.log.Kick()
	r.close() // waits for what the kick has begun
	if after := r.segments(); !slices.Equal(before, after) {
		t.Errorf("%v is left of %v while the log was held", after, before)
	}
	release()

	r = newRig(t, engine.NewMemFS())
	r.noSpares = true
	r.mustOpen()
	release = r.log.Hold()
	for range 40 {
		r.append(strings.Repeat("x", 300))
	}
	r.sync(r.log.End())
	r.released.Store(uint64(r.log.End()))
	release()
	testkit.Await(t, "released segments go", func() bool { return len(r.segments()) == 1 })
	r.close()
}
