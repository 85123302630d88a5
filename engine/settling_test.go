package engine_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// TestSettling: while a flush is under way there is a channel, which is closed at its end; without one there is none.
func TestSettling(t *testing.T) {
	gate := make(chan struct{})
	var shut atomic.Bool
	e := open(t, engine.Options{Dir: "d", FS: &testkit.HookFS{FS: engine.NewMemFS(), OnSync: func(name string) (bool, error) {
		if shut.Load() && strings.HasSuffix(name, ".sst") {
			<-gate
		}
		return false, nil
	}}})
	testkit.Await(t, "nothing is under way", func() bool { return e.Settling() == nil })
	put(t, e, local("a"), "1", true)
	shut.Store(true)
	flushed := make(chan error, 1)
	go func() { flushed <- e.Flush() }()
	var ended <-chan struct{}
	testkit.Await(t, "a flush is under way", func() bool { ended = e.Settling(); return ended != nil })
	if again := e.Settling(); again != ended {
		t.Error("two that wait for one end have two channels")
	}
	select {
	case <-ended:
		t.Error("it has ended while its table is synced")
	default:
	}
	close(gate)
	<-ended
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	testkit.Await(t, "nothing is under way", func() bool { return e.Settling() == nil })
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestLargeValuesTakeTheirRoom: a batch with a large value has little more room than that, whatever comes before and after it, and its memory does not stay with
// the batches that follow.
func TestLargeValuesTakeTheirRoom(t *testing.T) {
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS()})
	large := make([]byte, 5<<20)
	for range 3 {
		b := e.NewBatch()
		b.Set(local("before"), []byte("1"))
		b.SetParts(local("large"), []byte("head"), large)
		b.Set(local("after"), []byte("2"))
		if got := engine.BatchRoom(b); got < len(large) || got > len(large)+64<<10 {
			t.Errorf("a batch with %d bytes has room for %d", b.Len(), got)
		}
		if err := b.Apply(true); err != nil {
			t.Fatal(err)
		}
		b.Close()
		small := e.NewBatch()
		small.Set(local("small"), []byte("3"))
		if got := engine.BatchRoom(small); got > 2<<20 {
			t.Errorf("a small batch has room for %d bytes", got)
		}
		small.Close()
	}
	if got := get(t, e, local("large")); got != "head"+string(large) {
		t.Errorf("the large value has %d bytes", len(got))
	}
	if get(t, e, local("before"))+get(t, e, local("after")) != "12" {
		t.Error("what is beside it is lost")
	}
	b := e.NewBatch() // many of them are not copied again and again
	for i := range 16 {
		b.SetParts(local("%d", i), nil, large[:1<<20])
	}
	if got := engine.BatchRoom(b); got > 2*b.Len() {
		t.Errorf("a batch with %d bytes has room for %d", b.Len(), got)
	}
	b.Close()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
