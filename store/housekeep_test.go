package store

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// gateFS holds walks through regions at their first read of a table until open is closed, and counts maintenance's questions for free space.
type gateFS struct {
	engine.FS
	open         chan struct{}
	held, polled atomic.Int64
}

func (g *gateFS) GetDiskUsage(string) (engine.DiskUsage, error) {
	if calledBy("(*Store).maintain") { // and not by one of Pebble's jobs
		g.polled.Add(1)
	}
	return engine.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 40}, nil
}

func (g *gateFS) Open(name string, opts ...engine.OpenOption) (engine.File, error) {
	f, err := g.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, ".sst") {
		return f, err
	}
	return gateFile{File: f, gate: g}, nil
}

type gateFile struct {
	engine.File
	gate *gateFS
}

func (f gateFile) ReadAt(b []byte, at int64) (int, error) {
	if calledBy("(*Store).measure") {
		f.gate.held.Add(1)
		<-f.gate.open
	}
	return f.File.ReadAt(b, at)
}

func calledBy(method string) bool { return bytes.Contains(debug.Stack(), []byte(method)) }

// TestMaintenanceGoesOn: while a region is walked through, which takes seconds where it is large, the disk and the pressure are looked
// at as ever; commits paced by what was seen before would be stopped by the engine.
func TestMaintenanceGoesOn(t *testing.T) {
	gate := &gateFS{FS: engine.NewMemFS(), open: make(chan struct{})}
	e, err := engine.Open(engine.Options{Dir: "d", FS: gate, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Engine: e, RegionBytesMax: 64 << 10, SampleInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	open := sync.OnceFunc(func() { close(gate.open) })
	t.Cleanup(func() {
		open()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	var o Owner
	s.OpenOwner(&o, 1)
	row := 0
	testkit.Await(t, "a walk through tables", func() bool {
		for range 300 {
			put := kvapi.Mutation{Key: fmt.Appendf(nil, "%09d", row), Value: make([]byte, 1000)}
			row++
			regions := s.regions.Load()
			r := regions.sorted[regions.find(put.Key)]
			_, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{r.Ref()}, Mutations: []kvapi.Mutation{put}})
			// A region that has just been split refuses; the next row will do.
			if split := (*kvapi.EpochError)(nil); err != nil && !errors.As(err, &split) {
				t.Fatal(err)
			}
		}
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		return gate.held.Load() > 0
	})
	before := gate.polled.Load()
	testkit.Await(t, "looks at the disk during the walk", func() bool { return gate.polled.Load() > before+1 })
}

// TestSettle: what a load leaves too large is split before the store counts as settled, and a wish from before the last commit is void.
func TestSettle(t *testing.T) {
	const regionBytes = 64 << 10
	s, err := Open(Options{Engine: memEngine(t), RegionBytesMax: regionBytes, SampleInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var o Owner
	s.OpenOwner(&o, 1)
	before := s.applied.Load()
	for row := range 200 { // three times as much, so that it waits for the load's end
		put := kvapi.Mutation{Key: fmt.Appendf(nil, "%09d", row), Value: make([]byte, 1000)}
		if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{s.Regions()[0].Ref()}, Mutations: []kvapi.Mutation{put}}); err != nil {
			t.Fatal(err)
		}
	}
	s.house.seen.Store(before)
	s.settle()
	if n := len(s.Regions()); n != 1 || s.house.settled.Load() != notSettled {
		t.Errorf("settled among commits, with %d regions", n)
	}
	s.house.seen.Store(s.applied.Load())
	s.settle()
	if s.house.settled.Load() != s.applied.Load() {
		t.Error("not settled without commits")
	}
	for _, r := range s.regions.Load().sorted {
		if m, err := s.measure(&r.Region); err != nil || m.total > regionBytes {
			t.Errorf("region %d has %d bytes, %v", r.ID, m.total, err)
		}
	}
}
