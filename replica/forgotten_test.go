package replica

import (
	"errors"
	"sync"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// TestForgotten: a replica that its leader takes for one that has entries which its log lacks gives its store up, and takes part in nothing more. One whose log has them goes on.
func TestForgotten(t *testing.T) {
	const term, leader = 9, 101
	two := &kvapi.Region{ID: 1, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 1, ConfVer: 1},
		Peers: []kvapi.Peer{{ID: 100, Store: testStore}, {ID: leader, Store: testStore + 1}}}
	for commit, forgotten := range map[uint64]bool{InitialIndex: false, InitialIndex + 2: true} {
		r := openPrepared(t, func(b *engine.Batch) { Create(b, two, 0) })
		var mu sync.Mutex
		var told error
		r.set.o.Fail = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = errors.Join(told, err)
		}
		hear := func(commit uint64) {
			t.Helper()
			content, ok := Message{m: &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: new(uint64(leader)), To: new(uint64(100)), Term: new(uint64(term)), Commit: &commit}}.Append(nil)
			if !ok {
				t.Fatal("a message that cannot be sent")
			}
			if err := r.set.Receive(testStore+1, 1, content); err != nil {
				t.Fatal(err)
			}
		}
		hear(commit)
		mu.Lock()
		if errors.Is(told, ErrForgotten) != forgotten {
			t.Errorf("of commit %d: %v", commit, told)
		}
		told = nil
		mu.Unlock()
		m := (*r.set.members.Load())[1]
		m.mu.Lock()
		stopped := m.stopped
		m.mu.Unlock()
		if stopped != forgotten {
			t.Errorf("of commit %d: the replica has stopped: %t", commit, stopped)
		}
		if forgotten {
			hear(commit + 1)
			mu.Lock()
			if told != nil {
				t.Errorf("a replica that has stopped takes messages: %v", told)
			}
			mu.Unlock()
		}
	}
}
