package clusterkit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
)

// patience bounds every wait.
const patience = 2 * time.Minute

func start(t *testing.T, n int, cuts ...string) *clusterkit.Nodes {
	t.Helper()
	return startWith(t, n, clusterkit.NodesOptions{}, cuts...)
}

func startWith(t *testing.T, n int, o clusterkit.NodesOptions, cuts ...string) *clusterkit.Nodes {
	t.Helper()
	o.Seed = testkit.Seed(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var bounds [][]byte
	for _, c := range cuts {
		bounds = append(bounds, []byte(c))
	}
	ns, err := clusterkit.NewNodes(ctx, n, o, bounds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ns.Close(); err != nil {
			t.Error(err)
		}
	})
	return ns
}

type sink struct{ value string }

func (s *sink) Pair(_, v []byte) (bool, error) { s.value = string(v); return true, nil }

// atGateway calls try with a client of whoever is the gateway until it succeeds: under load one may be deposed at any moment.
func atGateway(t *testing.T, ns *clusterkit.Nodes, what string, try func(c *kv.Client) error) {
	t.Helper()
	within(t, what, func() bool {
		g := ns.Gateway()
		return g != nil && try(kv.New(rpc.Loopback(g.Store))) == nil
	})
}

// commit writes the same values until that is acknowledged.
func commit(t *testing.T, ns *clusterkit.Nodes, mutations ...kvapi.Mutation) {
	t.Helper()
	atGateway(t, ns, "commit", func(c *kv.Client) error {
		var o kv.Owner
		c.OpenOwner(&o, 1)
		defer c.ReleaseLocks(&o)
		_, err := c.Commit(&o, &kvapi.CommitRequest{Mutations: mutations})
		return err
	})
}

// count takes numbers of a counter up to at least n, and returns the first.
func count(t *testing.T, ns *clusterkit.Nodes, n uint64) (first uint64) {
	t.Helper()
	atGateway(t, ns, "number", func(c *kv.Client) (err error) {
		first, err = c.AllocCounter(&kvapi.CounterAllocRequest{Key: []byte("n"), N: n})
		return err
	})
	return first
}

// TestTakeOver: what was acknowledged is there when another node has taken over.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	ns := start(t, 3, "m")
	for i := range 20 {
		commit(t, ns, kvapi.Mutation{Key: fmt.Appendf(nil, "a%02d", i), Value: []byte("1")}, kvapi.Mutation{Key: fmt.Appendf(nil, "z%02d", i), Value: []byte("2")})
	}
	var old *clusterkit.StoreNode
	within(t, "gateway", func() bool { old = ns.Gateway(); return old != nil })
	if err := old.Stop(nil); err != nil {
		t.Fatal(err)
	}
	within(t, "other gateway", func() bool { return ns.Gateway() != nil && ns.Gateway() != old })
	for i := range 20 {
		var s sink
		var found bool
		within(t, "answer", func() bool { // a gateway that is deposed meanwhile answers nothing
			g := ns.Gateway()
			if g == nil {
				return false
			}
			var err error
			found, err = kv.New(rpc.Loopback(g.Store)).Get(&kvapi.GetRequest{Key: fmt.Appendf(nil, "z%02d", i), Sink: &s})
			return err == nil
		})
		if !found || s.value != "2" {
			t.Fatalf("row %d is %q, %v", i, s.value, found)
		}
	}
}

// TestResign: a gateway that leaves answers nothing any more, hands all regions on, and says in region 0 that it is over; with the next gateway that is so no longer.
func TestResign(t *testing.T) {
	t.Parallel()
	ns := start(t, 3, "m")
	commit(t, ns, kvapi.Mutation{Key: []byte("a"), Value: []byte("1")}, kvapi.Mutation{Key: []byte("z"), Value: []byte("1")})
	var old *clusterkit.StoreNode
	within(t, "gateway", func() bool { old = ns.Gateway(); return old != nil })
	released := func(n *clusterkit.StoreNode) (is bool) {
		n.Store.ViewMeta(func(m *meta.State) { is = m.Released() })
		return is
	}
	if released(old) {
		t.Error("a gateway serves, and region 0 says that none does")
	}
	old.Store.Resign(t.Context())
	if _, err := kv.New(rpc.Loopback(old.Store)).Get(&kvapi.GetRequest{Key: []byte("a"), Sink: &sink{}}); err == nil {
		t.Error("a gateway that has resigned answers")
	}
	within(t, "others to lead its regions", func() bool { return old.Store.ClusterMetrics().Led == 0 })
	within(t, "other gateway", func() bool { g := ns.Gateway(); return g != nil && !released(g) })
	commit(t, ns, kvapi.Mutation{Key: []byte("a"), Value: []byte("2")}, kvapi.Mutation{Key: []byte("z"), Value: []byte("2")})
	same(t, ns)
}

// TestCommitAtDeposed: a commit at a node that was the gateway, and is it no longer, ends without asking for regions again and again: the node waits for it before it can be
// the gateway once more.
func TestCommitAtDeposed(t *testing.T) {
	t.Parallel()
	ns := start(t, 3, "m")
	commit(t, ns, kvapi.Mutation{Key: []byte("a"), Value: []byte("1")})
	var old *clusterkit.StoreNode
	within(t, "gateway", func() bool { old = ns.Gateway(); return old != nil })
	c := kv.New(rpc.Loopback(old.Store))
	ns.Net.Isolate(old.ID, true)
	within(t, "it to notice", func() bool { return !old.Serves() && old.Store.SteppedDown() })
	for what, r := range map[string]*kvapi.CommitRequest{
		"one phase":  {Mutations: []kvapi.Mutation{{Key: []byte("a"), Value: []byte("2")}}},
		"async":      {Mutations: []kvapi.Mutation{{Key: []byte("a"), Value: []byte("2")}, {Key: []byte("z"), Value: []byte("2")}}},
		"two phases": {Mutations: []kvapi.Mutation{{Key: []byte("a"), Value: []byte("2")}, {Key: []byte("z"), Value: []byte("2")}}, NoAsync: true},
	} {
		before := c.Refreshes()
		var o kv.Owner
		c.OpenOwner(&o, 1)
		_, err := c.Commit(&o, r)
		c.ReleaseLocks(&o)
		if n := c.Refreshes() - before; err == nil || n > 2 {
			t.Errorf("%s: %v after asking for regions %d times", what, err, n)
		}
	}
	ns.Net.Isolate(old.ID, false)
	same(t, ns)
}

// TestSizesAfterSplits: a copy that only follows knows after splits about how large the regions are, which it goes by once it is the leader: what was in one is in its parts together.
func TestSizesAfterSplits(t *testing.T) {
	t.Parallel()
	ns := start(t, 3)
	const rows, row = 64, 1 << 10
	for i := range rows {
		commit(t, ns, kvapi.Mutation{Key: fmt.Appendf(nil, "a%02d", i), Value: make([]byte, row)})
	}
	for _, key := range []string{"a48", "a32", "a16"} {
		within(t, "split", func() bool {
			g := ns.Gateway()
			return g != nil && g.Store.Split([]byte(key)) == nil
		})
	}
	same(t, ns)
	for i := range ns.Len() {
		total, parts := int64(0), 0
		within(t, "node to know its regions", func() bool { // it does a moment after what the last split has made is visible
			total, parts = 0, 0
			list := ns.Node(i).Store.RegionStatuses()
			for _, st := range list {
				total += st.Bytes + st.Written
				if st.Bytes+st.Written > row {
					parts++
				}
			}
			return len(list) == 4
		})
		if parts != 4 || total < rows*row || total > 2*rows*row {
			t.Errorf("node %d: %d bytes in all, %d regions with some", i, total, parts)
		}
	}
}

// TestSplitsWaitForVoters: while a voter is away a region is not split before it is several times too large, since the voter that comes back behind the kept log has
// no vote in what was split off. Once it is there again splits go on.
func TestSplitsWaitForVoters(t *testing.T) {
	t.Parallel()
	const most, look = 64 << 10, 10 * time.Millisecond
	ns := startWith(t, 3, clusterkit.NodesOptions{Tune: func(o *store.Options) {
		o.RegionBytesMax, o.SplitBytes, o.TableBytesMax, o.SampleInterval = most, most/2, most, look
	}})
	rows := 0
	grow := func(n int) {
		for range n {
			commit(t, ns, kvapi.Mutation{Key: fmt.Appendf(nil, "a%05d", rows), Value: make([]byte, 1000)})
			rows++
		}
	}
	gateway := func() (g *clusterkit.StoreNode) { // there may be none for a moment
		within(t, "gateway", func() bool { g = ns.Gateway(); return g != nil })
		return g
	}
	regions := func() int { return len(gateway().Store.RegionStatuses()) }
	away := ns.Node(2)
	if gateway() == away {
		away = ns.Node(1)
	}
	leave := func() {
		if err := away.Stop(nil); err != nil {
			t.Fatal(err)
		}
		within(t, "silence of the node that is away", func() bool {
			for _, st := range gateway().Store.RegionStatuses() {
				if p, _ := st.Region.On(away.ID); st.Group == nil || st.Group.Answers(p.ID) {
					return false
				}
			}
			return true
		})
	}
	leave()
	grow(2 * most / 1000)
	clock.Sleep(50 * look)
	if n := regions(); n != 1 {
		t.Errorf("%d regions of twice the size, without a voter", n)
	}
	if err := away.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, "splits with all voters", func() bool {
		grow(1)
		return regions() > 1
	})
	leave()
	before := regions()
	grow(10 * most / 1000) // most of it in the last region
	within(t, "splits of what is much too large", func() bool { return regions() > before+5 })
	if err := away.Start(); err != nil {
		t.Fatal(err)
	}
	same(t, ns)
}

// TestReplace: copies move from one store to another, by learners, snapshots and joint changes, and the store that has none any more keeps
// nothing, also after a start; the removed peers do not come back.
func TestReplace(t *testing.T) {
	t.Parallel()
	ns := start(t, 4, "m")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := range 50 {
		commit(t, ns, kvapi.Mutation{Key: fmt.Appendf(nil, "a%02d", i), Value: make([]byte, 2000)}, kvapi.Mutation{Key: fmt.Appendf(nil, "z%02d", i), Value: []byte("2")})
	}
	count(t, ns, 7)
	// The third store is down when its copies are taken away, so that it learns of that later, from those that it asks for votes.
	gone := ns.Node(2)
	if err := gone.Stop(nil); err != nil {
		t.Fatal(err)
	}
	if err := ns.Place(ctx, ns.Node(0).ID, ns.Node(1).ID, ns.Node(3).ID); err != nil {
		t.Fatal(err)
	}
	for life := range 2 {
		if err := gone.Start(); err != nil {
			t.Fatal(err)
		}
		within(t, "removal of all copies", func() bool {
			return len(gone.Store.RegionStatuses()) == 0 && gone.Store.MetaStatus() == nil
		})
		if life == 0 {
			if err := gone.Stop(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	// It may have copies again, which are others than those of before.
	if err := ns.Place(ctx, ns.Node(0).ID, ns.Node(1).ID, gone.ID, ns.Node(3).ID); err != nil {
		t.Fatal(err)
	}
	same(t, ns)
	if first := count(t, ns, 1); first < 7 { // more if an answer was lost
		t.Errorf("the counter is at %d", first)
	}
}

// TestFullDisk: a gateway whose disk is nearly full hands its lead on to a node that has room, and writes go on; where no node has room each hands
// it on a few times at most, and the one that has it in the end goes on reading.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const room, low = 1 << 30, 64 << 20
	disks := map[uint64]*testkit.SpaceFS{}
	ns := startWith(t, 3, clusterkit.NodesOptions{
		Engine: engine.Options{CacheBytes: 8 << 20, MemTableBytes: 1 << 20, LowSpaceBytes: low, BallastBytes: engine.NoSpace},
		Disk: func(id uint64, fs engine.FS) engine.FS {
			disks[id] = &testkit.SpaceFS{FS: fs}
			disks[id].Free.Store(room)
			return disks[id]
		},
	})
	write := func(key string) { commit(t, ns, kvapi.Mutation{Key: []byte(key), Value: []byte("1")}) }
	write("a")
	var full *clusterkit.StoreNode
	for range 2 { // the second time only one is left that has room
		within(t, "gateway", func() bool { full = ns.Gateway(); return full != nil && disks[full.ID].Free.Load() == room })
		disks[full.ID].Free.Store(low / 2)
		within(t, "other gateway", func() bool {
			g := ns.Gateway()
			return g != nil && disks[g.ID].Free.Load() == room
		})
		write("b")
	}
	for _, d := range disks {
		d.Free.Store(low / 2)
	}
	within(t, "refusal of a write", func() bool {
		g := ns.Gateway()
		if g == nil {
			return false
		}
		c := kv.New(rpc.Loopback(g.Store))
		var o kv.Owner
		c.OpenOwner(&o, 1)
		defer c.ReleaseLocks(&o)
		_, err := c.Commit(&o, &kvapi.CommitRequest{Mutations: []kvapi.Mutation{{Key: []byte("c"), Value: []byte("1")}}})
		return errors.Is(err, kvapi.ErrDiskFull)
	})
	var s sink
	atGateway(t, ns, "read", func(c *kv.Client) error {
		_, err := c.Get(&kvapi.GetRequest{Key: []byte("b"), Sink: &s})
		return err
	})
	if s.value != "1" {
		t.Errorf("the row is %q", s.value)
	}
	for _, d := range disks {
		d.Free.Store(room)
	}
	write("c")
	same(t, ns)
}
