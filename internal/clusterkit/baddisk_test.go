package clusterkit_test

import (
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// TestBadDisk: a gateway whose disk takes seconds for a sync, or answers errors, hands its lead on to a node with a better one, and writes go on.
func TestBadDisk(t *testing.T) {
	t.Parallel()
	var slow, bad atomic.Uint64 // the node whose disk is so
	mine := func(of *atomic.Uint64, id uint64) bool { return of.Load() == id }
	ns := startWith(t, 3, clusterkit.NodesOptions{
		Engine: engine.Options{CacheBytes: 8 << 20, MemTableBytes: 1 << 20, BallastBytes: engine.NoSpace},
		Disk: func(id uint64, fs engine.FS) engine.FS {
			return &testkit.HookFS{FS: fs,
				OnSync: func(name string) (bool, error) {
					if mine(&slow, id) && testkit.IsWAL(name) {
						clock.Sleep(3 * time.Second)
					}
					return false, nil
				},
				OnWrite: func(name string, _ int) error {
					if mine(&bad, id) && strings.HasSuffix(name, ".sst") {
						return &os.PathError{Op: "write", Path: name, Err: syscall.EIO}
					}
					return nil
				},
			}
		},
	})
	write := func(key string) { commit(t, ns, kvapi.Mutation{Key: []byte(key), Value: []byte("1")}) }
	write("a")
	var g *clusterkit.StoreNode
	gateway := func() { within(t, "gateway", func() bool { g = ns.Gateway(); return g != nil }) }
	left := func() {
		within(t, "another gateway", func() bool { now := ns.Gateway(); return now != nil && now != g })
	}

	gateway()
	slow.Store(g.ID)
	end, writing := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(writing)
		for {
			select {
			case <-end:
				return
			default:
				write("b")
			}
		}
	}()
	left()
	slow.Store(0)
	close(end)
	<-writing

	gateway()
	bad.Store(g.ID)
	flushed := make(chan error, 1)
	go func() { flushed <- g.Engine.Flush() }()
	within(t, "damage to be known", func() bool { return g.Engine.Damaged() != nil })
	bad.Store(0) // once it was damaged it is so
	left()
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	write("c")
	same(t, ns)
}
