package store

import (
	"bytes"
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

// gateFS holds walks through regions at their first read of a table until open is closed, and counts questions for free space.
type gateFS struct {
	engine.FS
	open         chan struct{}
	held, polled atomic.Int64
}

func (g *gateFS) GetDiskUsage(string) (engine.DiskUsage, error) {
	g.polled.Add(1)
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
	if bytes.Contains(debug.Stack(), []byte("(*Store).measure")) {
		f.gate.held.Add(1)
		<-f.gate.open
	}
	return f.File.ReadAt(b, at)
}

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
			regions := s.Regions()
			at := s.regions.Load().find(put.Key)
			// A region that is being split refuses; the next row will do.
			_, _ = s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{regions[at].Ref()}, Mutations: []kvapi.Mutation{put}})
		}
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		return gate.held.Load() > 0
	})
	before := gate.polled.Load()
	testkit.Await(t, "looks at the disk during the walk", func() bool { return gate.polled.Load() > before+1 })
}
