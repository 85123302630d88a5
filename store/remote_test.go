package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
)

// What other nodes rely on.

func openStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(Options{Engine: memEngine(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestSplitDuringLockWait: who has waited for a lock while its region was split does not get it under the old idea of where the key
// lives, but is told, and holds nothing new; a lock that it had in shared mode it still has.
func TestSplitDuringLockWait(t *testing.T) {
	for _, upgrade := range []bool{false, true} {
		s := openStore(t)
		var first, second Owner
		s.OpenOwner(&first, 1)
		s.OpenOwner(&second, 2)
		lock := func(o *Owner, mode kvapi.LockMode) (kvapi.LockResult, error) {
			var intr kvapi.Interrupt
			return s.Lock(o, &kvapi.LockRequest{Region: s.Regions()[0].Ref(), Key: []byte("b"), Mode: mode, Tag: 7, Timeout: time.Minute, Interrupt: &intr})
		}
		mode := kvapi.LockExclusive
		if upgrade {
			mode = kvapi.LockShared
			if _, err := lock(&second, kvapi.LockShared); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := lock(&first, mode); err != nil {
			t.Fatal(err)
		}
		var res kvapi.LockResult
		done := make(chan error)
		go func() {
			var err error
			res, err = lock(&second, kvapi.LockExclusive)
			done <- err
		}()
		testkit.Await(t, "the wait", second.Waiting)
		if err := s.Split([]byte("c")); err != nil {
			t.Fatal(err)
		}
		s.ReleaseLocks(&first)
		var epoch *kvapi.EpochError
		if err := <-done; !errors.As(err, &epoch) || res.Acquired || !res.Waited {
			t.Errorf("upgrade %v: %+v, %v", upgrade, res, err)
		}
		if held := second.Locks() > 0; held != upgrade {
			t.Errorf("upgrade %v: %d locks are held", upgrade, second.Locks())
		}
		if _, err := lock(&second, kvapi.LockExclusive); err != nil {
			t.Errorf("once more: %v", err)
		}
		s.ReleaseLocks(&second)
	}
}

// TestRegionIDsAreAllocated: the id of a new region is nobody else's, also of one that another node was given.
func TestRegionIDsAreAllocated(t *testing.T) {
	s := openStore(t)
	for i, key := range []string{"f", "d"} {
		taken, err := s.AllocCounter(&kvapi.CounterAllocRequest{Key: regionIDs, Least: 2, N: 10})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Split([]byte(key)); err != nil {
			t.Fatal(err)
		}
		right := s.Regions()[1]
		if string(right.Start) != key || uint64(right.ID) != taken+10 {
			t.Errorf("split %d: region %d from %q on, ids up to %d were taken", i, right.ID, right.Start, taken+9)
		}
	}
	if err := s.Split([]byte("d")); !errors.Is(err, ErrNoCut) {
		t.Error(err)
	}
}

// TestStartOfVersions: versions know the transaction that wrote them if it may be sent again, and one that was not begun here is refused.
func TestStartOfVersions(t *testing.T) {
	s := openStore(t)
	var o Owner
	s.OpenOwner(&o, 1)
	commit := func(start clock.Timestamp, m kvapi.Mutation) (clock.Timestamp, error) {
		return s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{s.Regions()[0].Ref()}, Mutations: []kvapi.Mutation{m}, Start: start})
	}
	start, err := s.Timestamp()
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("k")
	for _, c := range []struct {
		start clock.Timestamp
		m     kvapi.Mutation
	}{
		{start, kvapi.Mutation{Key: key, Value: []byte("row")}},
		{0, kvapi.Mutation{Key: key, Value: []byte("row")}},
		{start, kvapi.Mutation{Key: key, Kind: kvapi.MutationDelete}},
	} {
		ts, err := commit(c.start, c.m)
		if err != nil {
			t.Fatal(err)
		}
		it, err := s.engine.NewIter(engine.IterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v, found, err := mvcc.Read(it, key, kvapi.Latest)
		if err != nil || !found || v.TS != ts || v.Start != c.start || v.Tombstone != (c.m.Kind == kvapi.MutationDelete) {
			t.Errorf("%+v, %v, %v; started at %d, committed at %d", v, found, err, c.start, ts)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := commit(clock.MaxTimestamp, kvapi.Mutation{Key: key}); !errors.Is(err, errFuture) {
		t.Errorf("a start in the future: %v", err)
	}
}

// TestCopyThatCannotGoOn: a node of a cluster ends when one of its copies cannot apply what the others have: it would count as one that lives.
func TestCopyThatCannotGoOn(t *testing.T) {
	fatal := make(chan string, 1)
	e, err := engine.Open(engine.Options{Dir: "d", FS: engine.NewMemFS(), BallastBytes: engine.NoSpace, LowSpaceBytes: engine.NoSpace,
		Fatal: func(reason string) { fatal <- reason }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() // it has failed
	r := openSplitRig(t, e, true, Options{})
	defer r.s.Close()
	if err := r.put([]byte("k"), []byte("before")); err != nil {
		t.Fatal(err)
	}
	// A command of region 0 is none that other regions know.
	if _, err := r.s.Cluster().propose(r.s.Regions()[0].Ref(), &replica.Meta{}, true); !errors.Is(err, kvapi.ErrUndetermined) {
		t.Errorf("what cannot be applied: %v", err)
	}
	select {
	case reason := <-fatal:
		if !strings.Contains(reason, "apply entry") || !e.Failed() {
			t.Errorf("the node ends because %q; the engine has failed: %v", reason, e.Failed())
		}
	case <-clock.After(time.Minute):
		t.Fatal("the node goes on")
	}
	if err := r.put([]byte("k"), []byte("after")); err == nil {
		t.Error("something is acknowledged afterwards")
	}
}

// TestForeignVersion: a program that does not know the cluster's version does not open its directory, in which it writes nothing, and a node that hears of
// such a version ends.
func TestForeignVersion(t *testing.T) {
	fatal := make(chan string, 1)
	fs := engine.NewMemFS()
	open := func() *engine.Engine {
		t.Helper()
		e, err := engine.Open(engine.Options{Dir: "d", FS: fs, BallastBytes: engine.NoSpace, LowSpaceBytes: engine.NoSpace, Fatal: func(reason string) { fatal <- reason }})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	s, err := Open(Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Promote(); err != nil {
		t.Fatal(err)
	}
	newer := meta.Store{ID: s.ID(), Incarnation: s.Incarnation(), Oldest: oldestVersion, Newest: clusterVersion + 1}
	if _, err := s.DoMeta(meta.PutStore(newer)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DoMeta(meta.Version(clusterVersion + 1)); !errors.Is(err, kvapi.ErrUndetermined) {
		t.Errorf("the cluster gets a version that is not known here: %v", err)
	}
	select {
	case reason := <-fatal:
		if !strings.Contains(reason, ErrVersion.Error()) {
			t.Errorf("the node ends because %q", reason)
		}
	case <-clock.After(time.Minute):
		t.Fatal("the node goes on")
	}
	_ = errors.Join(s.Close(), e.Close()) // they have failed
	e = open()
	defer e.Close()
	// What the newer program would have made of its log.
	b := e.NewBatch()
	defer b.Close()
	var state meta.State
	writeMeta(b, state.Begin(100, 1, clusterVersion+1, newer))
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	was, _, err := e.Get(nil, identKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Engine: e}); !errors.Is(err, ErrVersion) {
		t.Errorf("opened: %v", err)
	}
	if now, _, err := e.Get(nil, identKey); err != nil || string(now) != string(was) {
		t.Errorf("the identity was %x and is %x (%v)", was, now, err)
	}
}
