package store

import (
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// TestStrictAgain switches relaxed durability off while a relaxed group is being applied: once the switch has returned, the
// watermark covers only what is synced.
func TestStrictAgain(t *testing.T) {
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Engine: e, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	var o Owner
	s.OpenOwner(&o, 1)
	n := &o.commit
	n.owner = &o
	n.req = &kvapi.CommitRequest{
		Mutations: []kvapi.Mutation{{Key: []byte("k"), Value: []byte("v")}},
		Regions:   []kvapi.RegionRef{s.Regions()[0].Ref()},
	}
	// What lead does, with the switch between the group's look at the mode and its apply.
	s.seq.mu.Lock()
	s.seq.head, s.seq.tail, s.seq.leading = n, n, true
	s.seq.mu.Unlock()
	head, _ := s.seq.takeGroup()
	b := s.engine.NewBatch()
	defer b.Close()
	g := s.encodeGroup(b, head)
	switched := make(chan error)
	go func() { switched <- s.SetRelaxed(false) }()
	select {
	case err := <-switched:
		t.Error("the switch did not wait for the group under way:", err)
		go func() { switched <- err }()
	case <-time.After(20 * time.Millisecond):
	}
	if err := s.applyGroup(b, &g); err != nil {
		t.Fatal(err)
	}
	s.seq.handOver()
	s.settleGroup(n, head, g.sync)
	if err := <-switched; err != nil {
		t.Fatal(err)
	}
	if mark, synced := uint64(s.Watermark()), s.synced.Load(); n.err != nil || mark < uint64(n.ts) || mark > synced {
		t.Errorf("the store is strict, the watermark %d, and %d is synced (commit %d, %v)", mark, synced, n.ts, n.err)
	}
}
