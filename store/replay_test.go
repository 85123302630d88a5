package store_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/store"
)

// replayFaults are what a replay leaves out.
type replayFaults struct {
	momentLate bool // who commits claims that what it read was so a moment ago
	untold     bool // the machine is not told that a snapshot has replaced its state
}

// replay is a store in one life: it leads its regions for a while, follows others for a while, who commit what it then gets several entries of at a time,
// gets snapshots, loses regions and gets them back. What it keeps in memory of keys must fit the state at any moment.
type replay struct {
	faults     replayFaults
	rng        *rand.Rand
	e          *engine.Engine
	s          *store.Store
	c          *store.Cluster
	timestamps *clusterkit.Timestamps
	regions    []*kvapi.Region
	lastID     kvapi.RegionID
	index      uint64

	// The truth.
	newest map[string]truth
	locks  map[string]*replayTxn
	rows   int // keys that there may be
	writes int
	claims []claim

	happened struct{ commits, refused, batches, snapshots, moves, splits, rounds, above int }
}

// truth is the newest version of a key.
type truth struct {
	ts    clock.Timestamp
	value string
	live  bool
}

// replayTxn is a transaction of a gateway elsewhere, which has locked keys.
type replayTxn struct {
	start, least clock.Timestamp
	mutations    []kvapi.Mutation
}

// claim is a commit that is asked for later than what it relies on was read.
type claim struct {
	key string
	r   *kvapi.PrewriteRequest
}

func newReplay(e *engine.Engine, rng *rand.Rand, f replayFaults) (w *replay, err error) {
	w = &replay{faults: f, rng: rng, e: e, timestamps: &clusterkit.Timestamps{}, newest: map[string]truth{}, locks: map[string]*replayTxn{}, rows: 6}
	if w.s, err = store.Open(store.Options{Engine: e, RowCacheBytes: 1 << 20}); err != nil {
		return nil, err
	}
	if err = clusterkit.Create(e); err == nil {
		w.c, err = store.NewCluster(w.s, w.timestamps)
	}
	if err != nil {
		return nil, errors.Join(err, w.s.Close())
	}
	w.c.Lead(w)
	w.regions = w.c.Regions()
	w.lastID = w.regions[0].ID
	return w, nil
}

func (w *replay) row(n int) string { return string(append(keys.RowPrefix(nil, 240), byte(n))) }
func (w *replay) key() string      { return w.row(w.rng.IntN(w.rows)) }
func (w *replay) now() clock.Timestamp {
	ts, _ := w.timestamps.Next(1) // they do not fail
	return ts
}

func (w *replay) region(key string) *kvapi.Region {
	for _, r := range w.regions {
		if r.Contains([]byte(key)) {
			return r
		}
	}
	panic("a key in no region")
}

// replayLine is the line of a region: a proposal is an entry, and is applied at once.
type replayLine struct {
	w  *replay
	id kvapi.RegionID
}

// Line implements store.Lines.
func (w *replay) Line(id kvapi.RegionID) replica.Line { return replayLine{w, id} }

// Status implements store.Lines.
func (w *replay) Status(kvapi.RegionID) (st replica.GroupStatus, ok bool) { return st, false }

// Term implements replica.Line.
func (l replayLine) Term() (term uint64, ok bool) { return 1, true }

// Do implements replica.Line.
func (l replayLine) Do(p replica.Proposal) (err error) {
	w := l.w
	defer func() { p.Finish(replica.Result{}, err) }()
	var region *kvapi.Region
	for _, r := range w.regions {
		if r.ID == l.id {
			region = r
		}
	}
	n, err := p.Prepare(replica.Turn{Region: region, Term: 1})
	if err != nil {
		return err
	}
	first, err := w.timestamps.Next(max(n, 1))
	if err != nil {
		return err
	}
	asked, err := p.Command(first)
	if err != nil {
		return err
	}
	command := asked.(replica.Command) // members do not change here
	w.note(command)
	return w.apply(region, command)
}

// apply applies entries of one command each, which become visible together.
func (w *replay) apply(region *kvapi.Region, commands ...replica.Command) error {
	b := w.e.NewBatch()
	defer b.Close()
	first := w.index + 1
	for _, command := range commands {
		w.index++
		if _, point := command.(*replica.GCPoint); point { // that is the group's own
			continue
		}
		if _, err := w.c.Apply(b, replica.Position{Region: region, Index: w.index, Term: 1}, command); err != nil {
			return err
		}
	}
	if err := w.e.ApplyUnlogged(b); err != nil {
		return err
	}
	for i, command := range commands {
		w.c.Applied(replica.Position{Region: region, Index: first + uint64(i), Term: 1}, []replica.Command{command})
	}
	return nil
}

// note brings the truth up to date.
func (w *replay) note(command replica.Command) {
	set := func(m *kvapi.Mutation, ts clock.Timestamp) {
		w.newest[string(m.Key)] = truth{ts: ts, value: string(m.Value), live: m.Kind != kvapi.MutationDelete}
		w.happened.commits++
	}
	switch c := command.(type) {
	case *replica.Write:
		for i := range c.Mutations {
			set(&c.Mutations[i], c.TS)
		}
	case *replica.Commit:
		for _, key := range c.Keys {
			x := w.locks[string(key)]
			for i := range x.mutations {
				if string(x.mutations[i].Key) == string(key) {
					set(&x.mutations[i], c.TS)
				}
			}
			delete(w.locks, string(key))
		}
	case *replica.Rollback:
		for _, key := range c.Keys {
			delete(w.locks, string(key))
		}
	}
}

// mutations draws writes of keys of a region that nobody has locked, of which one may be above all rows.
func (w *replay) mutations(r *kvapi.Region) (ms []kvapi.Mutation) {
	if w.rng.IntN(4) == 0 && w.rows < 200 {
		w.rows++
	}
	for n := range w.rows {
		key := w.row(n)
		if w.locks[key] != nil || !r.Contains([]byte(key)) || n < w.rows-1 && w.rng.IntN(w.rows) > 2 {
			continue
		}
		w.writes++
		m := kvapi.Mutation{Key: []byte(key), Value: []byte(strconv.Itoa(w.writes)), Shadow: kvapi.ShadowNone}
		if v := w.newest[key]; v.live {
			m.Shadow, m.Prev, m.PrevLen = kvapi.ShadowAt, v.ts, int32(len(v.value))
		}
		if w.rng.IntN(4) == 0 {
			m.Kind, m.Value = kvapi.MutationDelete, nil
		}
		ms = append(ms, m)
	}
	return ms
}

// foreign draws what another gateway proposes next to a region, nil if nothing comes to its mind.
func (w *replay) foreign(r *kvapi.Region) replica.Command {
	if w.rng.IntN(2) == 0 {
		if command := w.ending(r, w.rng.IntN(3) == 0); command != nil {
			return command
		}
	}
	ms := w.mutations(r)
	switch {
	case len(ms) == 0:
		return nil
	case w.rng.IntN(2) == 0:
		start := w.now()
		return &replica.Write{Start: start, TS: w.now(), Mutations: ms}
	}
	x := &replayTxn{start: w.now(), least: w.now(), mutations: ms}
	for i := range ms {
		w.locks[string(ms[i].Key)] = x
	}
	return &replica.Prewrite{Start: x.start, Least: x.least, TTL: 1, Primary: ms[0].Key, Mutations: ms}
}

// ending ends one of the transactions that have locks in a region, nil if there is none.
func (w *replay) ending(r *kvapi.Region, back bool) replica.Command {
	var x *replayTxn
	var locked [][]byte
	for n := range w.rows {
		key := w.row(n)
		if l := w.locks[key]; l != nil && r.Contains([]byte(key)) && (x == nil || x == l) {
			x, locked = l, append(locked, []byte(key))
		}
	}
	switch {
	case x == nil:
		return nil
	case back:
		return &replica.Rollback{Start: x.start, Keys: locked}
	}
	return &replica.Commit{Start: x.start, TS: w.now(), Keys: locked}
}

// follow gets entries of another gateway, several at a time.
func (w *replay) follow() error {
	r := w.regions[w.rng.IntN(len(w.regions))]
	var commands []replica.Command
	for range 1 + w.rng.IntN(6) {
		if command := w.foreign(r); command != nil {
			w.note(command)
			commands = append(commands, command)
		}
	}
	if len(commands) > 1 {
		w.happened.batches++
	}
	return w.apply(r, commands...)
}

// read reads a key as the gateway does, plainly and under a lock, and may claim to commit what it has read.
func (w *replay) read() error {
	key := w.key()
	if w.rng.IntN(4) == 0 {
		key = w.row(w.rows) // above all
		w.rows = min(w.rows+1, 200)
	}
	if w.locks[key] != nil {
		return nil
	}
	ref, want := w.region(key).Ref(), w.newest[key]
	var got counting
	found, err := w.c.Get(&kvapi.GetRequest{Region: ref, Key: []byte(key), TS: kvapi.Latest, Sink: &got})
	if err != nil || found != want.live || string(got.seen) != want.value {
		return fmt.Errorf("key %x is %q (%v, %v), not %q", key, got.seen, found, err, want.value)
	}
	var o store.Owner
	w.s.OpenOwner(&o, 1)
	defer w.s.ReleaseLocks(&o)
	res, err := w.c.Lock(&o, &kvapi.LockRequest{Region: ref, Key: []byte(key), Mode: kvapi.LockExclusive, Timeout: time.Minute})
	if err != nil || res.Version.Found != want.live || want.live && res.Version.TS != want.ts {
		return fmt.Errorf("under its lock key %x is of %d (%v, %v), not of %d", key, res.Version.TS, res.Version.Found, err, want.ts)
	}
	w.writes++
	q := &kvapi.PrewriteRequest{Primary: []byte(key), OnePhase: true, Mutations: []kvapi.Mutation{{Key: []byte(key), Value: []byte(strconv.Itoa(w.writes))}}}
	_, q.AsOf = w.c.Relied(&o, q.Mutations)
	w.claims = append(w.claims, claim{key, q})
	return nil
}

// commit asks for what was claimed some time ago.
func (w *replay) commit() error {
	if len(w.claims) == 0 {
		return nil
	}
	at := w.rng.IntN(len(w.claims))
	c := w.claims[at]
	w.claims = append(w.claims[:at], w.claims[at+1:]...)
	if w.locks[c.key] != nil {
		return nil
	}
	q := c.r
	q.Region, q.Start = w.region(c.key).Ref(), w.now()
	if w.faults.momentLate {
		q.AsOf = math.MaxUint64
	}
	changed := w.newest[c.key].ts > q.Mutations[0].Prev
	if q.Mutations[0].Expect == kvapi.ExpectVersion {
		changed = w.newest[c.key].ts != q.Mutations[0].Prev
	}
	_, err := w.c.Do(q)
	var conflict *kvapi.ConflictError
	switch {
	case errors.As(err, &conflict) && changed:
		w.happened.refused++
	case err != nil || changed:
		return fmt.Errorf("a commit of key %x that relies on version %d, where there is %d: %v", c.key, q.Mutations[0].Prev, w.newest[c.key].ts, err)
	}
	return nil
}

// settled ends all transactions of others.
func (w *replay) settled() error {
	for _, r := range w.regions {
		for {
			command := w.ending(r, w.rng.IntN(2) == 0)
			if command == nil {
				break
			}
			w.note(command)
			if err := w.apply(r, command); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshot replaces a region's state by a newer one. It may have been here until then, or not.
func (w *replay) snapshot() error {
	if err := w.settled(); err != nil {
		return err
	}
	r := w.regions[w.rng.IntN(len(w.regions))]
	lower, upper := keys.VersionPrefix(nil, r.Start), keys.SpaceEnd(nil, keys.SpaceVersion)
	if len(r.End) > 0 {
		upper = keys.VersionPrefix(nil, r.End)
	}
	away := w.rng.IntN(2) == 0
	if away {
		w.c.Removed(r)
		w.happened.moves++
	}
	w.happened.snapshots++
	if ms := w.mutations(r); len(ms) > 0 { // meanwhile
		w.note(&replica.Write{TS: w.now(), Mutations: ms})
	}
	b := w.e.NewBatch()
	defer b.Close()
	b.DeleteRange(lower, upper)
	if err := w.e.ApplyUnlogged(b); err != nil {
		return err
	}
	b.Reset()
	for key, v := range w.newest {
		switch {
		case !r.Contains([]byte(key)):
		case v.live:
			mvcc.Put(b, []byte(key), v.ts, v.ts.Prev(), []byte(v.value))
		default:
			mvcc.Delete(b, []byte(key), v.ts, v.ts.Prev())
		}
	}
	if err := w.e.ApplyUnlogged(b); err != nil {
		return err
	}
	if w.faults.untold && !away {
		return nil
	}
	return w.c.Replaced(r, 0)
}

// split cuts a region at a key.
func (w *replay) split() error {
	key := w.key()
	r := w.region(key)
	if string(r.Start) == key || len(w.regions) > 5 {
		return nil
	}
	left, right := *r, *r
	left.Epoch.Version++
	right.Epoch.Version++
	w.lastID++
	left.End, right.Start, right.ID = []byte(key), []byte(key), w.lastID
	for i := range w.regions {
		if w.regions[i] == r {
			w.regions[i] = &left
		}
	}
	w.regions = append(w.regions, &right)
	w.happened.splits++
	w.c.Split(&left, &right)
	return nil
}

// collect runs a round of garbage collection, after which nothing is there but what is visible.
func (w *replay) collect() error {
	if err := w.settled(); err != nil {
		return err
	}
	w.happened.rounds++
	if _, err := w.c.Collect(); err != nil {
		return err
	}
	for key, v := range w.newest {
		if !v.live {
			delete(w.newest, key)
		}
	}
	return w.onlyNewest()
}

// onlyNewest checks that the engine has the newest version of each key, and nothing else.
func (w *replay) onlyNewest() (err error) {
	it, err := w.e.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, nil), Upper: keys.SpaceEnd(nil, keys.SpaceVersion)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	there, live := 0, 0
	for ok := it.First(); ok; ok = it.Next() {
		key, ts, _ := keys.DecodeVersionKey(it.Key())
		if v := w.newest[string(key)]; !v.live || v.ts != ts {
			return fmt.Errorf("version %d of key %x is never collected: the newest is %d (%v)", ts, key, v.ts, v.live)
		}
		there++
	}
	for _, v := range w.newest {
		if v.live {
			live++
		}
	}
	if there != live {
		return fmt.Errorf("%d keys are left of %d", there, live)
	}
	return it.Error()
}

// run lets things happen until one of them is wrong.
func (w *replay) run(steps int) error {
	for range steps {
		var err error
		switch p := w.rng.IntN(100); {
		case p < 30:
			err = w.follow()
		case p < 60:
			err = w.read()
		case p < 90:
			err = w.commit()
		case p < 94:
			err = w.snapshot()
		case p < 96:
			err = w.split()
		default:
			err = w.collect()
		}
		if err != nil {
			return err
		}
	}
	w.happened.above = int(w.s.Metrics().Beyond)
	return w.collect()
}

// runReplay runs one world on an engine of its own.
func runReplay(t *testing.T, rng *rand.Rand, f replayFaults) (*replay, error) {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newReplay(e, rng, f)
	if err != nil {
		t.Fatal(errors.Join(err, e.Close()))
	}
	fault := w.run(400)
	if err := errors.Join(w.s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	return w, fault
}

// TestReplay: what a store keeps in memory of keys (rows, frontiers, which keys have not changed since when, what is garbage) fits the state whatever comes
// in between of elections, moves, snapshots and splits, and however many entries become visible at a time.
func TestReplay(t *testing.T) {
	seed := testkit.Seed(t)
	worlds := 30
	if testkit.SlowTests() {
		worlds = 3000
	}
	h := newReplayCounts()
	for n := range worlds {
		w, err := runReplay(t, testkit.Rand(seed, uint64(n)), replayFaults{})
		if err != nil {
			t.Fatalf("world %d: %v", n, err)
		}
		h.add(w)
	}
	t.Logf("%v", h)
	for what, n := range h {
		if n == 0 {
			t.Errorf("no %s", what)
		}
	}
}

type replayCounts map[string]int

func newReplayCounts() replayCounts { return replayCounts{} }

func (h replayCounts) add(w *replay) {
	c := &w.happened
	for what, n := range map[string]int{"commits": c.commits, "refused commits": c.refused, "batches": c.batches, "snapshots": c.snapshots, "moves": c.moves,
		"splits": c.splits, "rounds of collection": c.rounds, "rows above all": c.above} {
		h[what] += n
	}
}

// TestReplayCanaries: what is left out is noticed.
func TestReplayCanaries(t *testing.T) {
	seed := testkit.Seed(t)
	for name, f := range map[string]replayFaults{"the moment is late": {momentLate: true}, "a snapshot is not told of": {untold: true}} {
		t.Run(name, func(t *testing.T) {
			for n := range uint64(200) {
				if _, err := runReplay(t, testkit.Rand(seed, n), f); err != nil {
					t.Logf("world %d: %v", n, err)
					return
				}
			}
			t.Error("no world was wrong")
		})
	}
}
