package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/store"
)

// lineFaults are what a line of the tests does wrong.
type lineFaults struct {
	timestampFirst bool // the timestamp is fetched before the marks stand
	finishEarly    bool // marks are dropped before the entry is applied
}

// oneLine is the line of the one region there is: a proposal is an entry, and is applied at once.
type oneLine struct {
	faults     lineFaults
	e          *engine.Engine
	s          *store.Store
	cluster    *store.Cluster
	region     *kvapi.Region
	timestamps *clusterkit.Timestamps
	underWay   func()     // if not nil, is called with each entry under way
	mu         sync.Mutex // guards what follows
	index      uint64
}

// yield lets others run between two steps of a line.
func yield() {
	for range 3 {
		runtime.Gosched()
	}
}

// Do implements replica.Line.
func (l *oneLine) Do(p replica.Proposal) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	finished := false
	finish := func(err error) {
		if !finished {
			finished = true
			p.Finish(replica.Result{}, err)
		}
	}
	defer func() { finish(err) }()
	var first clock.Timestamp
	if l.faults.timestampFirst {
		if first, err = l.timestamps.Next(1); err != nil {
			return err
		}
		yield()
	}
	n, err := p.Prepare(replica.Turn{Region: l.region, Term: 1})
	if err != nil {
		return err
	}
	yield()
	if n > 0 && first == 0 {
		if first, err = l.timestamps.Next(n); err != nil {
			return err
		}
	}
	yield()
	asked, err := p.Command(first)
	if err != nil {
		return err
	}
	command := asked.(replica.Command) // members do not change here
	if l.faults.finishEarly {
		finish(nil)
	}
	if l.underWay != nil {
		l.underWay()
	}
	yield()
	l.index++
	at := replica.Position{Region: l.region, Index: l.index, Term: 1}
	b := l.e.NewBatch()
	defer b.Close()
	if _, point := command.(*replica.GCPoint); !point { // that is the group's own
		if _, err := l.cluster.Apply(b, at, command); err != nil {
			return err
		}
	}
	if err := l.e.ApplyUnlogged(b); err != nil {
		return err
	}
	l.cluster.Applied(at, []replica.Command{command})
	return nil
}

// Term implements replica.Line.
func (l *oneLine) Term() (term uint64, ok bool) { return 1, true }

// Line implements store.Lines.
func (l *oneLine) Line(kvapi.RegionID) replica.Line { return l }

// Status implements store.Lines.
func (l *oneLine) Status(kvapi.RegionID) (st replica.GroupStatus, ok bool) { return st, false }

func openLine(t *testing.T, f lineFaults) *oneLine {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Engine: e, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := clusterkit.Create(e); err != nil {
		t.Fatal(err)
	}
	l := &oneLine{faults: f, e: e, s: s, timestamps: &clusterkit.Timestamps{}}
	if l.cluster, err = store.NewCluster(s, l.timestamps); err != nil {
		t.Fatal(err)
	}
	l.cluster.Lead(l)
	l.region = l.cluster.Regions()[0]
	return l
}

func (l *oneLine) now(t testing.TB) clock.Timestamp {
	t.Helper()
	ts, err := l.timestamps.Next(1)
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// put commits a key in one phase.
func (l *oneLine) put(t testing.TB, key string) clock.Timestamp {
	t.Helper()
	res, err := l.cluster.Do(&kvapi.PrewriteRequest{Region: l.region.Ref(), Start: l.now(t), Primary: []byte(key), OnePhase: true,
		Mutations: []kvapi.Mutation{{Key: []byte(key), Value: []byte("v")}}})
	if err != nil {
		t.Fatal(err)
	}
	return res.(kvapi.PrewriteResult).Commit
}

// versionSink notes the version of a pair.
type versionSink struct{ ts clock.Timestamp }

func (v *versionSink) Version(ts clock.Timestamp)     { v.ts = ts }
func (v *versionSink) Pair(_, _ []byte) (bool, error) { return true, nil }

// readFaults lets readers read beside writers, and counts the reads that saw another version than the one at their timestamp.
func readFaults(t *testing.T, l *oneLine, rounds int) (wrong int) {
	t.Helper()
	type read struct{ at, seen clock.Timestamp }
	var mu sync.Mutex // guards what follows
	var commits []clock.Timestamp
	var reads []read
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		writers.Go(func() {
			for range rounds {
				ts := l.put(t, "k")
				mu.Lock()
				commits = append(commits, ts)
				mu.Unlock()
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				at, sink := l.now(t), &versionSink{}
				_, err := l.cluster.Scan(&kvapi.ScanRequest{Regions: []kvapi.RegionRef{l.region.Ref()},
					Span: kvapi.Span{Start: []byte("k"), End: []byte("l")}, TS: at, WithTS: true, Sink: sink})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				reads = append(reads, read{at, sink.ts})
				mu.Unlock()
				runtime.Gosched()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	for _, r := range reads {
		var want clock.Timestamp
		for _, ts := range commits {
			if ts <= r.at {
				want = max(want, ts)
			}
		}
		if want != r.seen {
			wrong++
		}
	}
	t.Logf("%d commits, %d reads, %d wrong", len(commits), len(reads), wrong)
	return wrong
}

// TestMarks holds S22: a read at a timestamp sees exactly the commits at or below it, also those that are under way.
func TestMarks(t *testing.T) {
	if n := readFaults(t, openLine(t, lineFaults{}), 400); n > 0 {
		t.Errorf("%d reads were wrong", n)
	}
}

// TestMarksCanary: lines that break rule A are noticed.
func TestMarksCanary(t *testing.T) {
	for name, f := range map[string]lineFaults{"timestamp first": {timestampFirst: true}, "marks dropped early": {finishEarly: true}} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				if readFaults(t, openLine(t, f), 400) > 0 {
					return
				}
			}
			t.Error("no read was wrong")
		})
	}
}

// counting is a client that reads a number under a lock which is lost before it commits the next number.
type counting struct {
	l    *oneLine
	o    store.Owner
	seen []byte
}

// Pair implements kvapi.Sink.
func (c *counting) Pair(_, value []byte) (bool, error) {
	c.seen = append(c.seen[:0], value...)
	return true, nil
}

// read returns what a commit of the next number asks for.
func (c *counting) read() (*kvapi.PrewriteRequest, error) {
	key := []byte("n")
	c.l.s.OpenOwner(&c.o, 1)
	c.seen = c.seen[:0]
	_, err := c.l.cluster.Lock(&c.o, &kvapi.LockRequest{Region: c.l.region.Ref(), Key: key, Mode: kvapi.LockExclusive, Sink: c, Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	r := &kvapi.PrewriteRequest{Region: c.l.region.Ref(), Primary: key, OnePhase: true,
		Mutations: []kvapi.Mutation{{Key: key, Value: binary.BigEndian.AppendUint64(nil, c.number()+1)}}}
	_, r.AsOf = c.l.cluster.Relied(&c.o, r.Mutations)
	c.l.s.ReleaseLocks(&c.o)
	return r, nil
}

// number is what was read last.
func (c *counting) number() uint64 {
	if len(c.seen) == 0 {
		return 0
	}
	return binary.BigEndian.Uint64(c.seen)
}

// TestUnchanged: a commit is refused if what it read has changed since, also where it is not looked for again because nothing is recorded of
// the key.
func TestUnchanged(t *testing.T) {
	l := openLine(t, lineFaults{})
	var done atomic.Uint64
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			c := counting{l: l}
			for range 500 {
				r, err := c.read()
				if err != nil {
					t.Error(err)
					return
				}
				r.Start = l.now(t)
				yield()
				_, err = l.cluster.Do(r)
				var conflict *kvapi.ConflictError
				switch {
				case err == nil:
					done.Add(1)
				case !errors.As(err, &conflict):
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	c := counting{l: l}
	if _, err := c.read(); err != nil || c.number() != done.Load() {
		t.Errorf("%d commits have counted to %d (%v)", done.Load(), c.number(), err)
	}
}

// TestUnchangedCanary: without anything in between a commit does not look, with something it does and is refused, and one that lies about
// when it has read loses what came in between.
func TestUnchangedCanary(t *testing.T) {
	l := openLine(t, lineFaults{})
	first, second := counting{l: l}, counting{l: l}
	read := func(c *counting) *kvapi.PrewriteRequest {
		t.Helper()
		r, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		r.Start = l.now(t)
		return r
	}
	looked := func(r *kvapi.PrewriteRequest) (uint64, error) {
		before := l.cluster.Stats().Looked.Load()
		_, err := l.cluster.Do(r)
		return l.cluster.Stats().Looked.Load() - before, err
	}
	l.put(t, "m") // before anything is recorded nothing is known
	for range 3 {
		if n, err := looked(read(&first)); n != 0 || err != nil {
			t.Errorf("%d keys are looked for, %v", n, err)
		}
	}
	outdated := read(&first)
	if _, err := looked(read(&second)); err != nil {
		t.Error(err)
	}
	var conflict *kvapi.ConflictError
	if n, err := looked(outdated); n != 1 || !errors.As(err, &conflict) {
		t.Errorf("%d keys are looked for, %v", n, err)
	}
	unknown := read(&first)
	unknown.AsOf = 0
	if n, err := looked(unknown); n != 1 || err != nil {
		t.Errorf("%d keys are looked for, %v", n, err)
	}
	lying := read(&first)
	if _, err := looked(read(&second)); err != nil {
		t.Error(err)
	}
	lying.AsOf = math.MaxUint64
	if n, err := looked(lying); n != 0 || err != nil {
		t.Errorf("what lies about its moment is noticed: %d keys are looked for, %v", n, err)
	}
}

// TestClusterFrontier: a row above all of its table is not looked for under its lock, but what has come by a commit of one phase or of
// several is found, and so is everything once a region's state is another.
func TestClusterFrontier(t *testing.T) {
	l := openLine(t, lineFaults{})
	row := func(n byte) []byte { return append(keys.RowPrefix(nil, 240), n) }
	var o store.Owner
	lock := func(n byte, found, beyond bool) {
		t.Helper()
		before := l.s.Metrics().Beyond
		l.s.OpenOwner(&o, 1)
		res, err := l.cluster.Lock(&o, &kvapi.LockRequest{Region: l.region.Ref(), Key: row(n), Mode: kvapi.LockExclusive})
		if err != nil || res.Version.Found != found {
			t.Errorf("row %d: found %v, %v", n, res.Version.Found, err)
		}
		if by := l.s.Metrics().Beyond - before; by != map[bool]uint64{true: 1}[beyond] {
			t.Errorf("row %d: %d rows are beyond", n, by)
		}
		l.s.ReleaseLocks(&o)
	}
	lock(5, false, false) // it looks where the rows end
	lock(5, false, true)
	l.put(t, string(row(5)))
	lock(5, true, false)
	lock(7, false, true)
	start := l.now(t)
	if _, err := l.cluster.Do(&kvapi.PrewriteRequest{Region: l.region.Ref(), Start: start, Primary: row(7),
		Mutations: []kvapi.Mutation{{Key: row(7), Value: []byte("v")}}, Coordinator: kvapi.Coordinator{TTL: 1000}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.cluster.Do(&kvapi.FinishRequest{Region: l.region.Ref(), Start: start, Primary: row(7), Keys: [][]byte{row(7)}, Commit: l.now(t)}); err != nil {
		t.Fatal(err)
	}
	lock(7, true, false)
	lock(8, false, true)
	if err := l.cluster.Replaced(l.region, 0); err != nil {
		t.Fatal(err)
	}
	lock(8, false, false)
	lock(8, false, true)
}

// TestStatusesBesideRemovals: regions are described while they go and come.
func TestStatusesBesideRemovals(t *testing.T) {
	l := openLine(t, lineFaults{})
	l.s.Join(l.cluster)
	const regions = 300
	last := &kvapi.Region{Mode: kvapi.ModeRaft}
	for id := l.region.ID + 1; id <= regions; id++ {
		last = &kvapi.Region{ID: id, Mode: kvapi.ModeRaft, Start: fmt.Appendf(nil, "%04d", id), End: fmt.Appendf(nil, "%04d", id+1)}
		if err := l.cluster.Replaced(last, 0); err != nil {
			t.Fatal(err)
		}
	}
	var removals sync.WaitGroup
	removals.Go(func() {
		for range 1000 {
			l.cluster.Removed(last)
			yield()
			if err := l.cluster.Replaced(last, 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	done := make(chan struct{})
	go func() {
		removals.Wait()
		close(done)
	}()
	for ended := false; !ended; {
		for _, st := range l.s.RegionStatuses() {
			if st.Region.ID > regions {
				t.Errorf("there is region %d", st.Region.ID)
			}
		}
		select {
		case <-done:
			ended = true
		default:
			runtime.Gosched() // on one processor each of the removals would wait for the end of this one's turn
		}
	}
}

// TestClusterLocks prewrites without a coordinator: readers below pass, readers above and of the latest meet the lock, another
// transaction is refused, the locks are found again by who opens the regions, and a resolver's requests end them.
func TestClusterLocks(t *testing.T) {
	l := openLine(t, lineFaults{})
	below := l.now(t)
	start := l.now(t)
	const ttl = 100 // in milliseconds; how long this test takes is another matter
	prewrite := &kvapi.PrewriteRequest{Region: l.region.Ref(), Start: start, Primary: []byte("a"),
		Mutations:   []kvapi.Mutation{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte("2")}},
		Coordinator: kvapi.Coordinator{TTL: ttl}}
	res, err := l.cluster.Do(prewrite)
	if err != nil {
		t.Fatal(err)
	}
	least := res.(kvapi.PrewriteResult).Least
	again, err := l.cluster.Do(prewrite)
	if err != nil || again.(kvapi.PrewriteResult).Least != least {
		t.Errorf("a prewrite that comes twice: %+v, %v", again, err)
	}
	get := func(key string, ts clock.Timestamp) (bool, error) {
		return l.cluster.Get(&kvapi.GetRequest{Region: l.region.Ref(), Key: []byte(key), TS: ts})
	}
	if found, err := get("a", below); found || err != nil {
		t.Errorf("below the lock: %v, %v", found, err)
	}
	var locked *kvapi.LockedError
	for _, ts := range []clock.Timestamp{l.now(t), kvapi.Latest} {
		if _, err := get("b", ts); !errors.As(err, &locked) || string(locked.Lock.Primary) != "a" || locked.Lock.Start != start {
			t.Errorf("at %d: %v", ts, err)
		}
	}
	if _, err := l.cluster.Do(&kvapi.PrewriteRequest{Region: l.region.Ref(), Start: l.now(t), Primary: []byte("b"), OnePhase: true,
		Mutations: []kvapi.Mutation{{Key: []byte("b"), Value: []byte("3")}}}); !errors.As(err, &locked) {
		t.Errorf("another transaction: %v", err)
	}
	reopened, err := store.NewCluster(l.s, l.timestamps)
	if err != nil {
		t.Fatal(err)
	}
	if marks, locks := reopened.Pending(); marks != 0 || locks != 2 {
		t.Errorf("found %d marks, %d locks again", marks, locks)
	}
	status := &kvapi.StatusRequest{Region: l.region.Ref(), Start: start, Primary: []byte("a"), Now: clock.Make(start.PhysicalMillis()+ttl, 0)}
	if got, err := l.cluster.Do(status); err != nil || got.(kvapi.Status).State != kvapi.TxnUndecided {
		t.Errorf("while it may be alive: %+v, %v", got, err)
	}
	status.Now = clock.Make(start.PhysicalMillis()+ttl+1, 0)
	if got, err := l.cluster.Do(status); err != nil || got.(kvapi.Status).State != kvapi.TxnRolledBack {
		t.Errorf("after its time: %+v, %v", got, err)
	}
	if _, err := l.cluster.Do(prewrite); !errors.Is(err, kvapi.ErrRolledBack) {
		t.Errorf("a prewrite behind the marker: %v", err)
	}
	finish := &kvapi.FinishRequest{Region: l.region.Ref(), Start: start, Primary: []byte("a"), Keys: [][]byte{[]byte("a")}, Commit: l.now(t)}
	if _, err := l.cluster.Do(finish); !errors.Is(err, kvapi.ErrRolledBack) {
		t.Errorf("a commit behind the marker: %v", err)
	}
	finish.Keys, finish.Commit = [][]byte{[]byte("b")}, 0
	if _, err := l.cluster.Do(finish); err != nil {
		t.Error(err)
	}
	if found, err := get("b", kvapi.Latest); found || err != nil {
		t.Errorf("after the rollback: %v, %v", found, err)
	}
	if marks, locks := l.cluster.Pending(); marks != 0 || locks != 0 {
		t.Errorf("%d marks, %d locks are left", marks, locks)
	}
}

// TestClusterCollect holds what a round of the collector does: shadowed versions and records go, a lock of a dead coordinator is resolved,
// a late prewrite is refused, and a registered snapshot keeps what it sees.
func TestClusterCollect(t *testing.T) {
	l := openLine(t, lineFaults{})
	for range 5 {
		l.put(t, "k")
	}
	var sn store.Snapshot
	l.cluster.Register(&sn)
	l.put(t, "k")
	l.put(t, "k")
	orphan := &kvapi.PrewriteRequest{Region: l.region.Ref(), Start: clock.Make(1000, 1), Primary: []byte("o"),
		Mutations: []kvapi.Mutation{{Key: []byte("o"), Value: []byte("1")}}, Coordinator: kvapi.Coordinator{TTL: 1}}
	if _, err := l.cluster.Do(orphan); err != nil {
		t.Fatal(err)
	}
	collect := func() int {
		t.Helper()
		n, err := l.cluster.Collect()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := collect(); n != 4 {
		t.Errorf("%d versions were collected under a snapshot, not 4", n)
	}
	if found, err := l.cluster.Get(&kvapi.GetRequest{Region: l.region.Ref(), Key: []byte("k"), TS: sn.TS()}); !found || err != nil {
		t.Errorf("the snapshot sees %v, %v", found, err)
	}
	if _, locks := l.cluster.Pending(); locks != 0 {
		t.Errorf("%d locks are left", locks)
	}
	if _, err := l.cluster.Do(orphan); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Errorf("a prewrite below the floor: %v", err)
	}
	l.cluster.Unregister(&sn)
	l.put(t, "k")
	if n := collect(); n != 3 {
		t.Errorf("%d versions were collected without a snapshot, not 3", n)
	}
	if n := l.cluster.GCBacklog(); n != 0 {
		t.Errorf("a backlog of %d bytes", n)
	}
	if _, err := l.cluster.Get(&kvapi.GetRequest{Region: l.region.Ref(), Key: []byte("k"), TS: clock.Make(1000, 1)}); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Errorf("a read below the point: %v", err)
	}
	if found, err := l.cluster.Get(&kvapi.GetRequest{Region: l.region.Ref(), Key: []byte("k"), TS: kvapi.Latest}); !found || err != nil {
		t.Errorf("the latest: %v, %v", found, err)
	}
}

// TestIntervalChecks: a commit that has read an interval is refused for what its kind of lock keeps off, done or under way, and for nothing else.
func TestIntervalChecks(t *testing.T) {
	const put, deletion = kvapi.MutationPut, kvapi.MutationDelete
	for _, c := range []struct {
		key       string
		kind      kvapi.RangeKind
		since     []kvapi.MutationKind // what happens to the key after it was read
		underWay  bool                 // the last of it
		forbidden bool
	}{
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{put}, false, false},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{put}, true, false},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{deletion}, false, false},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{deletion}, true, false},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{deletion, put}, false, true},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{deletion, put}, true, true},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{deletion, put, deletion}, false, true},
		{"k1", kvapi.RangeGap, []kvapi.MutationKind{deletion, put, put}, true, true},
		{"k2", kvapi.RangeGap, []kvapi.MutationKind{put}, false, true},
		{"k2", kvapi.RangeGap, []kvapi.MutationKind{put}, true, true},
		{"deleted", kvapi.RangeGap, []kvapi.MutationKind{put}, false, true},
		{"deleted", kvapi.RangeGap, []kvapi.MutationKind{put}, true, true},
		{"k1", kvapi.RangeWhole, []kvapi.MutationKind{put}, false, true},
		{"k1", kvapi.RangeWhole, []kvapi.MutationKind{put}, true, true},
		{"k2", kvapi.RangeWhole, []kvapi.MutationKind{put}, false, true},
		{"z", kvapi.RangeWhole, []kvapi.MutationKind{put}, false, false},
		{"z", kvapi.RangeWhole, []kvapi.MutationKind{put}, true, false},
	} {
		l := openLine(t, lineFaults{})
		write := func(onePhase bool, kind kvapi.MutationKind, key string, checks ...kvapi.Check) error {
			_, err := l.cluster.Do(&kvapi.PrewriteRequest{Region: l.region.Ref(), Start: l.now(t), Primary: []byte(key), OnePhase: onePhase,
				Mutations: []kvapi.Mutation{{Key: []byte(key), Value: []byte("1"), Kind: kind}}, Checks: checks, Coordinator: kvapi.Coordinator{TTL: 60_000}})
			return err
		}
		for _, key := range []string{"k1", "k3", "deleted"} {
			if err := write(true, put, key); err != nil {
				t.Fatal(err)
			}
		}
		if err := write(true, deletion, "deleted"); err != nil {
			t.Fatal(err)
		}
		seen := l.now(t)
		for i, kind := range c.since {
			last := i == len(c.since)-1
			if err := write(!c.underWay || !last, kind, c.key); err != nil {
				t.Fatal(err)
			}
		}
		err := write(true, put, "w", kvapi.Check{Span: kvapi.Span{Start: []byte("d"), End: []byte("l")}, Seen: seen, Kind: c.kind})
		var conflict *kvapi.ConflictError
		if errors.As(err, &conflict) != c.forbidden || err != nil && !c.forbidden {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestChecksBesideEntries: the check of an interval, before a commit in several phases, meets entries of others under way: one above its timestamp is
// no matter, and one that ends a lock is a conflict.
func TestChecksBesideEntries(t *testing.T) {
	l := openLine(t, lineFaults{})
	check := func(at clock.Timestamp) error {
		_, err := l.cluster.Do(&kvapi.CheckRequest{Region: l.region.Ref(), Start: at, At: at,
			Checks: []kvapi.Check{{Span: kvapi.Span{Start: []byte("k"), End: []byte("l")}, Seen: at}}})
		return err
	}
	met := 0
	at := l.now(t)
	l.underWay = func() {
		met++
		if err := check(at); err != nil {
			t.Errorf("an entry above is under way: %v", err)
		}
	}
	start := l.put(t, "k1")
	l.underWay = nil
	if _, err := l.cluster.Do(&kvapi.PrewriteRequest{Region: l.region.Ref(), Start: start, Primary: []byte("k2"),
		Mutations: []kvapi.Mutation{{Key: []byte("k2"), Value: []byte("v")}}, Coordinator: kvapi.Coordinator{TTL: 60_000}}); err != nil {
		t.Fatal(err)
	}
	at = l.now(t)
	var conflict *kvapi.ConflictError
	l.underWay = func() {
		met++
		if err := check(at); !errors.As(err, &conflict) {
			t.Errorf("a lock is about to end: %v", err)
		}
	}
	if _, err := l.cluster.Do(&kvapi.FinishRequest{Region: l.region.Ref(), Start: start, Primary: []byte("k2"), Keys: [][]byte{[]byte("k2")}, Commit: at}); err != nil {
		t.Fatal(err)
	}
	if met != 2 {
		t.Errorf("%d entries were under way", met)
	}
}

// TestRangesMerged: a transaction that has locked more gaps than it keeps apart is refused for a key that comes in one of them, also where the key
// was still there when the first was read.
func TestRangesMerged(t *testing.T) {
	l := openLine(t, lineFaults{})
	write := func(kind kvapi.MutationKind, key string, checks ...kvapi.Check) error {
		_, err := l.cluster.Do(&kvapi.PrewriteRequest{Region: l.region.Ref(), Start: l.now(t), Primary: []byte(key), OnePhase: true,
			Mutations: []kvapi.Mutation{{Key: []byte(key), Value: []byte("1"), Kind: kind}}, Checks: checks, Coordinator: kvapi.Coordinator{TTL: 60_000}})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var o store.Owner
	l.s.OpenOwner(&o, 1)
	defer l.s.ReleaseLocks(&o)
	lock := func(start, end string) {
		t.Helper()
		span := kvapi.Span{Start: []byte(start), End: []byte(end)}
		_, err := l.cluster.LockRange(&o, &kvapi.RangeLockRequest{Span: span, Kind: kvapi.RangeGap})
		must(err)
		l.cluster.KeepRange(&o, span)
	}
	must(write(kvapi.MutationPut, "k5"))
	kept := func() int {
		checks, _ := l.cluster.Relied(&o, nil)
		return len(checks)
	}
	for was := -1; kept() > was; {
		was = kept()
		lock(fmt.Sprintf("b%06d", was), fmt.Sprintf("b%06d+", was))
	}
	most := kept()
	must(write(kvapi.MutationDelete, "k5"))
	lock("k4", "k6")
	checks, _ := l.cluster.Relied(&o, nil)
	if len(checks) != most {
		t.Fatalf("%d checks", len(checks))
	}
	must(write(kvapi.MutationPut, "w1", checks...))
	must(write(kvapi.MutationPut, "k5"))
	var conflict *kvapi.ConflictError
	if err := write(kvapi.MutationPut, "w2", checks...); !errors.As(err, &conflict) {
		t.Errorf("a key came where a gap was locked: %v", err)
	}
}
