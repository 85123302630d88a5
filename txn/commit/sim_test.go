package commit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// rules of the protocol and of those who use it. A canary breaks one.
type rules struct {
	timestampFirst  bool // the timestamp is fetched before the marks stand
	markTillPropose bool // marks go when the entry is proposed
	passUnstamped   bool // a reader passes a mark that has no timestamp
	readThenMarks   bool // a reader looks at marks behind its iterator
	serveUnapplied  bool // a new leader serves before it has applied what it inherited
	serveDeposed    bool // a former leader goes on to serve
	splitPast       bool // a split does not wait in the line
	leastOfPrimary  bool // an async commit's timestamp is that of its primary
	checkFirst      bool // checks are answered from before the prewrites
	noMarkers       bool // a rollback leaves none
	latestPasses    bool // a read of the latest version waits for nothing
	primaryAlone    bool // the primary of an orphan decides alone
	fallLate        bool // a resolver takes locks for fallen before a marker stands
	failEarly       bool // a client is told of a refusal before it is final
	forgetStart     bool // versions do not know who wrote them
	groupBlind      bool // an entry's changes do not see each other
	trustOld        bool // a key is taken for unchanged since a moment before it changed
	momentLate      bool // the moment at which keys were as they were read is that of the commit
	onePart         bool // of a transaction's requests to lock keys of a region only the first does anything
}

const (
	simKeys       = 6
	simTxns       = 14
	simEventsMax  = 60_000
	simSplitsMax  = 3
	simChangesMax = 4
	simBalance    = 100
)

type simVersion struct {
	ts, start clock.Timestamp
	value     string
	deleted   bool
}

// simMark is what a leader knows of a key that a change under way will write.
type simMark struct {
	txn, ts clock.Timestamp
}

// member is a request in a line.
type member struct {
	request any
	reply   func(result any, err error)
	change  Change
	result  any
	err     error
}

// simRegion is a region with its line. Its state is that of the leader, or of whoever is next.
type simRegion struct {
	kvapi.Region
	term      int
	inherited []Change // entries of an earlier term that are to be applied
	queue     []*member
	group     []*member
	stage     int // of the group: 0 none, 1 marked, 2 has timestamps, 3 stamped, 4 proposed
	stamps    clock.Timestamp
	busy      map[string]bool
}

// world is everything in one run.
type world struct {
	rng     *rand.Rand
	rules   rules
	limits  Limits // of coordinators
	ms      int64
	logical uint32
	last    clock.Timestamp
	events  []func()
	regions []*simRegion
	lastID  kvapi.RegionID
	splits  int
	changes int

	versions map[string][]simVersion // newest first
	deposed  map[string][]simVersion // as a former leader has them
	locks    map[string]*mvcc.Lock
	records  map[string]mvcc.Record
	marks    map[string]simMark
	// recorded counts versions, and changed has the number of each key's last.
	recorded uint64
	changed  map[string]uint64

	clients []*client
	reads   []simRead
	history []check.Txn
	step    int64
	paths   [Paths]int
	// bank: clients move money between accounts and add up, instead of appending to lists.
	bank bool
	sums [][]int
}

// simRead is a read that was answered.
type simRead struct {
	key      string
	at, seen clock.Timestamp
}

func newWorld(rng *rand.Rand, r rules) *world {
	w := &world{rng: rng, rules: r, ms: 1_000_000, versions: map[string][]simVersion{}, deposed: map[string][]simVersion{},
		limits: defaultLimits, locks: map[string]*mvcc.Lock{}, records: map[string]mvcc.Record{}, marks: map[string]simMark{},
		recorded: 1, changed: map[string]uint64{}}
	bounds := []string{"", simKey(2), simKey(4), ""}
	for i := range bounds[1:] {
		w.lastID++
		w.regions = append(w.regions, &simRegion{Region: kvapi.Region{ID: w.lastID, Epoch: kvapi.Epoch{Version: 1},
			Start: []byte(bounds[i]), End: []byte(bounds[i+1])}, busy: map[string]bool{}})
	}
	return w
}

func simKey(i int) string { return "k" + strconv.Itoa(i) }

// oracle issues a timestamp.
func (w *world) oracle() clock.Timestamp {
	ts := max(w.last+1, clock.Make(w.ms, 0))
	w.last = ts
	return ts
}

// later puts an event among those that may happen next, in any order.
func (w *world) later(f func()) { w.events = append(w.events, f) }

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

// run lets events happen until there are none.
func (w *world) run() error {
	for len(w.events) > 0 {
		if w.step++; w.step > simEventsMax {
			return fmt.Errorf("%d events, and no end", w.step)
		}
		w.ms += w.rng.Int64N(15)
		if w.chance(1) && w.chance(20) {
			w.ms += ttlMillis + 1 // somebody is taken for dead
		}
		if w.chance(2) {
			w.disturb()
		}
		at := w.rng.IntN(len(w.events))
		f := w.events[at]
		last := len(w.events) - 1
		w.events[at] = w.events[last]
		w.events = w.events[:last]
		f()
	}
	return nil
}

// disturb splits a region or changes its leader.
func (w *world) disturb() {
	r := w.regions[w.rng.IntN(len(w.regions))]
	if w.chance(50) {
		if w.changes < simChangesMax {
			w.changes++
			w.changeLeader(r)
		}
		return
	}
	if w.splits >= simSplitsMax || r.stage != 0 && !w.rules.splitPast || len(r.inherited) > 0 {
		return
	}
	key := simKey(w.rng.IntN(simKeys))
	if !r.Contains([]byte(key)) || string(r.Start) == key {
		return
	}
	w.splits++
	w.lastID++
	r.Epoch.Version++
	right := &simRegion{Region: r.Region, busy: map[string]bool{}}
	right.ID, right.Start, r.End = w.lastID, []byte(key), []byte(key)
	for k := range w.marks { // the right region's leader begins without any
		if right.Contains([]byte(k)) {
			delete(w.marks, k)
		}
	}
	w.regions = slices.Insert(w.regions, slices.Index(w.regions, r)+1, right)
}

// changeLeader elects another one: what was in memory is gone, and the entry in flight is in its log or is not.
func (w *world) changeLeader(r *simRegion) {
	r.term++
	for k := range w.marks {
		if r.Contains([]byte(k)) {
			delete(w.marks, k)
		}
	}
	for i := range simKeys {
		if k := simKey(i); r.Contains([]byte(k)) {
			w.deposed[k] = slices.Clone(w.versions[k])
		}
	}
	if r.stage == 4 && w.chance(60) {
		for _, m := range r.group {
			if m.err == nil {
				r.inherited = append(r.inherited, m.change)
			}
		}
		w.later(func() { w.inherit(r) })
	}
	for _, m := range append(r.group, r.queue...) {
		m.reply(nil, kvapi.ErrNoReply)
	}
	r.group, r.queue, r.stage = nil, nil, 0
	clear(r.busy)
}

// inherit applies what a new leader found in its log.
func (w *world) inherit(r *simRegion) {
	for i := range r.inherited {
		w.apply(&r.inherited[i])
	}
	r.inherited = nil
	w.later(func() { w.advance(r) })
}

// submit hands a request to the leader of its region.
func (w *world) submit(request any, reply func(result any, err error)) {
	ref := Region(request)
	at := slices.IndexFunc(w.regions, func(r *simRegion) bool { return r.Ref() == ref })
	if at < 0 {
		reply(nil, &kvapi.EpochError{})
		return
	}
	r := w.regions[at]
	if q, is := request.(*kvapi.CheckRequest); is {
		w.checkAt(r, q, reply)
		return
	}
	r.queue = append(r.queue, &member{request: request, reply: reply})
	w.later(func() { w.advance(r) })
}

// checkAt answers a check at the present leader.
func (w *world) checkAt(r *simRegion, q *kvapi.CheckRequest, reply func(result any, err error)) {
	wait := len(r.inherited) > 0
	Keys(q, func(key []byte) bool {
		m, marked := w.marks[string(key)]
		wait = wait || marked && (m.ts == 0 || m.ts <= q.At)
		return !wait
	})
	if wait {
		w.later(func() { w.submit(q, reply) })
		return
	}
	err := CheckAt(simState{w, r}, q)
	reply(nil, err)
}

// advance moves a region's line on by one stage.
func (w *world) advance(r *simRegion) {
	if len(r.inherited) > 0 {
		if w.rules.serveUnapplied && r.stage == 0 && len(r.queue) > 0 {
			// Falls through: it evaluates what is not applied yet.
		} else {
			return
		}
	}
	switch r.stage {
	case 0:
		w.assemble(r)
		return
	case 1:
		r.stamps = w.oracle()
		for range r.group[1:] {
			w.oracle()
		}
		r.stage = 2
	case 2:
		for i, m := range r.group {
			w.stamp(m, r.stamps+clock.Timestamp(i))
		}
		r.stage = 3
	case 3:
		if w.rules.markTillPropose {
			w.unmark(r)
		}
		r.stage = 4
	case 4:
		for _, m := range r.group {
			if m.err == nil {
				w.apply(&m.change)
			}
		}
		w.unmark(r)
		group := r.group
		r.group, r.stage = nil, 0
		clear(r.busy)
		for _, m := range group {
			m.reply(m.result, m.err)
		}
	}
	w.later(func() { w.advance(r) })
}

// assemble takes a group off the queue, evaluates it and publishes its marks.
func (w *world) assemble(r *simRegion) {
	n := min(len(r.queue), 1+w.rng.IntN(3))
	if n == 0 {
		return
	}
	taken := r.queue[:n]
	r.queue = r.queue[n:]
	for _, m := range taken {
		busy := false
		Keys(m.request, func(key []byte) bool {
			busy = busy || r.busy[string(key)]
			return !busy
		})
		if Region(m.request) != r.Ref() {
			m.reply(nil, &kvapi.EpochError{})
			continue
		}
		if busy && !w.rules.groupBlind { // it waits for the next entry
			r.queue = append(r.queue, m)
			continue
		}
		if q, is := m.request.(*kvapi.PrewriteRequest); is && w.rules.onePart {
			if l := w.otherPart(r, q); l != nil {
				m.reply(kvapi.PrewriteResult{Least: l.Least}, nil)
				continue
			}
		}
		m.change, m.result, m.err = Evaluate(simState{w, r}, m.request)
		if m.err != nil || m.change.Kind == Nothing {
			m.reply(m.result, m.err)
			continue
		}
		for _, key := range changed(&m.change) {
			r.busy[string(key)] = true
			if m.change.Stamped() && !w.rules.timestampFirst {
				w.marks[string(key)] = simMark{txn: m.change.Start}
			}
		}
		r.group = append(r.group, m)
	}
	if len(r.group) > 0 {
		r.stage = 1
	}
	w.later(func() { w.advance(r) })
}

// otherPart returns a lock that another request of a transaction has taken in the region, nil if there is none.
func (w *world) otherPart(r *simRegion, q *kvapi.PrewriteRequest) (other *mvcc.Lock) {
	for key, l := range w.locks {
		if !r.Contains([]byte(key)) || l.Start != q.Start {
			continue
		}
		if slices.ContainsFunc(q.Mutations, func(m kvapi.Mutation) bool { return string(m.Key) == key }) {
			return nil // it is a repetition
		}
		other = l
	}
	return other
}

func changed(c *Change) (keys [][]byte) {
	for i := range c.Mutations {
		keys = append(keys, c.Mutations[i].Key)
	}
	return append(keys, c.Keys...)
}

func (w *world) stamp(m *member, ts clock.Timestamp) {
	if !m.change.Stamped() {
		return
	}
	m.result, m.err = m.change.Stamp(ts, 0, m.result)
	for _, key := range changed(&m.change) {
		w.marks[string(key)] = simMark{txn: m.change.Start, ts: ts}
	}
}

func (w *world) unmark(r *simRegion) {
	for _, m := range r.group {
		for _, key := range changed(&m.change) {
			if w.marks[string(key)].txn == m.change.Start {
				delete(w.marks, string(key))
			}
		}
	}
}

func recordKey(key []byte, start clock.Timestamp) string { return fmt.Sprintf("%s@%d", key, start) }

// apply is what each replica does.
func (w *world) apply(c *Change) {
	put := func(key []byte, v simVersion) {
		vs := append(w.versions[string(key)], v)
		slices.SortFunc(vs, func(a, b simVersion) int { return int(int64(b.ts) - int64(a.ts)) })
		w.versions[string(key)] = vs
		w.recorded++
		w.changed[string(key)] = w.recorded
	}
	switch c.Kind {
	case Write:
		for i := range c.Mutations {
			m := &c.Mutations[i]
			put(m.Key, simVersion{c.TS, c.Start, string(m.Value), m.Kind == kvapi.MutationDelete})
		}
	case Lock:
		for i := range c.Mutations {
			m := &c.Mutations[i]
			l := &mvcc.Lock{Start: c.Start, Least: c.TS, TTL: c.Coordinator.TTL, Primary: c.Primary, Async: c.Async, Value: m.Value,
				Delete: m.Kind == kvapi.MutationDelete}
			if bytes.Equal(m.Key, c.Primary) {
				l.Secondaries = c.Secondaries
			}
			b := l.Append(nil)
			again, err := mvcc.DecodeLock(b)
			if err != nil {
				panic(err)
			}
			w.locks[string(m.Key)] = &again
		}
	case Finish:
		for _, key := range c.Keys {
			if l := w.locks[string(key)]; l != nil && l.Start == c.Start {
				put(key, simVersion{c.TS, c.Start, string(l.Value), l.Delete})
				delete(w.locks, string(key))
				if bytes.Equal(key, l.Primary) {
					w.records[recordKey(key, c.Start)] = mvcc.Record{Fate: mvcc.FateCommitted, Commit: c.TS}
				}
			}
		}
	case Rollback:
		for _, key := range c.Keys {
			if l := w.locks[string(key)]; l != nil && l.Start == c.Start {
				delete(w.locks, string(key))
			}
			if !w.rules.noMarkers {
				w.records[recordKey(key, c.Start)] = mvcc.Record{Fate: mvcc.FateRolledBack}
			}
		}
	case Renew:
		if l := w.locks[string(c.Keys[0])]; l != nil && l.Start == c.Start {
			l.TTL = c.Coordinator.TTL
		}
	}
}

// simState is the State of a region.
type simState struct {
	w *world
	r *simRegion
}

func (s simState) Lock(key []byte) (*mvcc.Lock, error) { return s.w.locks[string(key)], nil }

func (s simState) Unchanged(key []byte, asOf uint64) bool {
	return asOf != 0 && (s.w.changed[string(key)] <= asOf || s.w.rules.trustOld)
}

func (s simState) Newest(key []byte) (Head, error) {
	vs := s.w.versions[string(key)]
	if len(vs) == 0 {
		return Head{}, nil
	}
	return Head{TS: vs[0].ts, Start: vs[0].start, Tombstone: vs[0].deleted, Len: len(vs[0].value)}, nil
}

func (s simState) CommitOf(key []byte, start clock.Timestamp) (clock.Timestamp, error) {
	for _, v := range s.w.versions[string(key)] {
		if v.start == start && !s.w.rules.forgetStart {
			return v.ts, nil
		}
	}
	return 0, nil
}

func (s simState) Record(key []byte, start clock.Timestamp) (mvcc.Record, error) {
	return s.w.records[recordKey(key, start)], nil
}

func (s simState) Changed(c *kvapi.Check, start clock.Timestamp) ([]byte, error) {
	for i := range simKeys {
		key := []byte(simKey(i))
		if !c.Span.Contains(key) {
			continue
		}
		if l := s.w.locks[string(key)]; l != nil && l.Start != start {
			return key, nil
		}
		if vs := s.w.versions[string(key)]; len(vs) > 0 && vs[0].ts > c.Seen {
			return key, nil
		}
	}
	return nil, nil
}

func (s simState) Floor() clock.Timestamp { return 0 }

func newest(vs []simVersion, ts clock.Timestamp) simVersion {
	for _, v := range vs {
		if v.ts <= ts {
			return v
		}
	}
	return simVersion{}
}
