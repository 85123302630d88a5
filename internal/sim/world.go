package sim

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

const (
	region = kvapi.RegionID(7)
	// tickEvery, and the delays of network and disk, are in virtual time.
	tickEvery = 200 * time.Millisecond
	delayMax  = 60 * time.Millisecond
	writeMax  = 5 * time.Millisecond
	syncMax   = 40 * time.Millisecond
	traceKept = 60
	// truncateFrom and keepEntries are limits where a run has none: few entries of a log are kept for followers, so that there are snapshots.
	truncateFrom = 3
	keepEntries  = 12
	// snapshotMax is how long one is on its way, ingestMax how long it takes from the barrier to its being put in.
	snapshotMax = 300 * time.Millisecond
	ingestMax   = 200 * time.Millisecond
	// latestMax is how many of the operations that were acknowledged last a read must show: a stale one lacks the last.
	latestMax = 8
	// awayMin is how long a store is away at least: an election and a lease take less.
	awayMin, pauseMin = 5 * time.Second, 8 * time.Second
	// askEvery is how often who serves asks whether it still leads.
	askEvery = 500 * time.Millisecond
	// driftMax is by how much a clock runs wrong, in percent: two of them differ by less than the margin of the lease.
	driftMax = 4
)

// Rules names what the driver keeps. The zero value has all switched off.
type Rules struct {
	SyncBeforeAck     bool // an append is reported once it is durable
	LogBeforeApply    bool // L1: entries enter the log before their application enters the memtable
	TruncateInTables  bool // L2: a log is truncated up to what is applied in tables
	OneClass          bool // L3: a key is written logged or unlogged, never both
	ApplyStateInBatch bool // A1: the applied index is in the batch of what it covers
	NothingInBetween  bool // L7: between a snapshot's barrier and its being put in, nothing is logged
	SnapshotsSent     bool // who lacks what the logs no longer have gets a snapshot
	LeaseWaited       bool // a new leader serves once the lease of the one before is over, or that has said that it serves no more
	ServiceSaid       bool // who serves has said so before
	StopsFirst        bool // who says that it serves no more does not
	ReadsWritten      bool // an entry that is not in memory any more is read as it was written, whether or not it is in tables
}

// AllRules is how the product drives groups.
func AllRules() Rules {
	return Rules{true, true, true, true, true, true, true, true, true, true, true}
}

// Options say what a run is.
type Options struct {
	Seed   uint64
	Stores int // of which those after the first three have a copy only later
	Steps  int // events until the world is healed
	Rules  Rules
	// Limits are the groups'. Zero fields are the product's, but for those of the log's length.
	Limits replica.Limits
	// Lease is that of the group's leader; zero is the product's.
	Lease replica.Lease
}

// event is something that happens at a time; those of the same time in the order in which they were made.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// World is one run.
type World struct {
	o      Options
	rng    *rand.Rand
	now    time.Duration
	queue  events
	seq    int
	stores []*node
	cut    map[[2]int]bool // from, to: nothing arrives
	healed bool
	apart  time.Duration // until when links stay cut

	applied  map[uint64][]byte // by index, the content that some store has applied
	changed  map[uint64]bool   // indices of changes of members
	acked    map[uint64]bool   // operations that a client was told to be done
	latest   []uint64          // those acknowledged last
	proposed uint64            // operations so far
	peers    map[uint64]int    // the store of each peer that there ever was
	nextPeer uint64
	promised map[uint64][2]uint64 // by peer, the term and the vote that it has told of
	counts   Counts
	trace    []string
	hash     uint64
	fault    string
	events   int
}

// Counts tell what has happened in a run.
type Counts struct{ Acked, Elections, Snapshots, Installed, Changes, Joint, Removals, Takeovers, Reads, Resigned, Early int }

// RunCounted is Run, and tells what has happened.
func RunCounted(o Options) (fault string, digest uint64, counts Counts) {
	w := run(o)
	w.counts.Acked = len(w.acked)
	if w.fault != "" {
		return fmt.Sprintf("seed %d, lease %v, %+v: %s\n%s", o.Seed, time.Duration(o.Lease), o.Limits, w.fault, strings.Join(w.trace, "\n")), w.hash, w.counts
	}
	return "", w.hash, w.counts
}

// Run runs a world and returns what it found wrong, "" if nothing, and a digest of all that happened.
func Run(o Options) (fault string, digest uint64) {
	fault, digest, _ = RunCounted(o)
	return fault, digest
}

// membersFirst is how many stores have a copy at the beginning.
const membersFirst = 3

func run(o Options) *World {
	if o.Limits.TruncateEntries == 0 {
		o.Limits.TruncateEntries = truncateFrom
	}
	if o.Limits.KeepEntries == 0 {
		o.Limits.KeepEntries = keepEntries
	}
	o.Limits.EnsureDefaults()
	if o.Lease == 0 {
		o.Lease = replica.LeaseLength
	}
	w := &World{o: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), cut: map[[2]int]bool{}, applied: map[uint64][]byte{}, acked: map[uint64]bool{},
		changed: map[uint64]bool{}, peers: map[uint64]int{}, nextPeer: 200, promised: map[uint64][2]uint64{}}
	r := &kvapi.Region{ID: region, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 1, ConfVer: 2}}
	for i := range min(o.Stores, membersFirst) {
		r.Peers = append(r.Peers, kvapi.Peer{ID: uint64(100 + i), Store: uint64(i + 1)})
		w.peers[uint64(100+i)] = i
	}
	for i := range o.Stores {
		n := &node{w: w, id: i, disk: newDisk(), drift: w.rng.IntN(2*driftMax+1) - driftMax, offset: w.upTo(time.Hour)}
		if i < membersFirst {
			b := &batch{}
			replica.Create(b, r, 0)
			n.disk.sync(n.disk.applyLogged(b))
			n.disk.barrier() // the one behind a promotion
		}
		w.stores = append(w.stores, n)
		n.open()
	}
	w.after(0, w.chaos)
	w.after(0, w.client)
	w.after(0, w.reader)
	if o.Stores > 1 {
		w.after(w.upTo(2*time.Second), w.members)
	}
	for w.events < o.Steps && w.step() {
	}
	w.after(0, w.heal)
	// Where messages are small and overtake each other, it takes many until a store that is behind has caught up.
	for (w.events < 2*o.Steps || w.events < 10*o.Steps && !w.even()) && w.step() {
	}
	w.verdict()
	return w
}

// after plans what happens in a while.
func (w *World) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, event{at: w.now + d, seq: w.seq, do: do})
}

func (w *World) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

// step lets the next thing happen. It returns false once there is a fault.
func (w *World) step() (on bool) {
	if w.fault != "" || len(w.queue) == 0 {
		return false
	}
	e := heap.Pop(&w.queue).(event)
	w.now = e.at
	w.events++
	// Raft and assertions panic at what must not be: that is a fault like any other here.
	defer func() {
		if r := recover(); r != nil {
			w.fail("panic: %v", r)
			on = false
		}
	}()
	e.do()
	return w.fault == ""
}

// note adds a line to the trace.
func (w *World) note(format string, args ...any) {
	line := fmt.Sprintf("%10v ", w.now) + fmt.Sprintf(format, args...)
	h := fnv.New64a()
	_ = binary.Write(h, binary.BigEndian, w.hash)
	_, _ = h.Write([]byte(line))
	w.hash = h.Sum64()
	if w.trace = append(w.trace, line); len(w.trace) > traceKept {
		w.trace = w.trace[1:]
	}
}

func (w *World) fail(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
}

// chaos does one of the things that happen to machines and networks.
func (w *World) chaos() {
	if w.healed {
		return
	}
	w.after(w.upTo(400*time.Millisecond), w.chaos)
	n := w.stores[w.rng.IntN(len(w.stores))]
	switch w.rng.IntN(12) {
	case 0:
		if n.up && w.now >= w.apart {
			n.crash()
			w.after(w.upTo(2*time.Second), n.restart)
		}
	case 1:
		if w.now < w.apart && w.rng.IntN(4) > 0 {
			return // who is away is enough
		}
		from, to := w.rng.IntN(len(w.stores)), w.rng.IntN(len(w.stores))
		w.note("cut %d>%d", from, to)
		w.cut[[2]int{from, to}] = true
	case 2, 3:
		if w.now >= w.apart {
			w.note("links are whole")
			clear(w.cut)
		}
	case 4, 5:
		if n.up {
			w.note("%d flushes", n.id)
			n.disk.flush(w.rng)
		}
	case 6:
		n.truncate()
	case 8, 9:
		w.away()
	case 10:
		if i := slices.IndexFunc(w.stores, (*node).serves); i >= 0 && w.now >= w.apart && w.rng.IntN(2) == 0 {
			w.stores[i].resign()
		}
	case 7:
		if n.group != nil && w.rng.IntN(4) == 0 {
			if to := n.group.Region().Peers; len(to) > 0 {
				p := to[w.rng.IntN(len(to))]
				w.note("%d is to hand the lead to %d", n.id, p.ID)
				n.group.Transfer(p.ID)
				n.pump()
			}
		}
	}
}

// away takes the store that serves away from the others for long enough that another takes over: it is cut off, or does nothing at all and goes on then as
// if no time had passed.
func (w *World) away() {
	i := slices.IndexFunc(w.stores, (*node).serves)
	if w.now < w.apart || i < 0 || w.rng.IntN(2) == 0 {
		return
	}
	n := w.stores[i] // whose absence is noticed
	w.apart = w.now + awayMin + w.upTo(awayMin)
	if w.rng.IntN(2) == 0 {
		w.apart += pauseMin - awayMin
		w.note("%d is paused until %v", n.id, w.apart)
		n.paused = w.apart
		return
	}
	w.isolate(n, true)
}

// isolate cuts a store off from the others: it hears nobody, and if says nobody hears it.
func (w *World) isolate(n *node, says bool) {
	w.apart = max(w.apart, w.now+awayMin)
	w.note("%d is cut off until %v: %t", n.id, w.apart, says)
	clear(w.cut) // the others are to find a leader
	for other := range w.stores {
		w.cut[[2]int{other, n.id}], w.cut[[2]int{n.id, other}] = true, says
	}
}

// members asks whoever serves to change who has a copy.
func (w *World) members() {
	if w.healed {
		return
	}
	w.after(w.upTo(time.Second/2), w.members)
	for _, n := range w.stores {
		if !n.serves() || n.waiting != nil || w.now < n.paused {
			continue
		}
		r := n.group.Region()
		next := w.nextPeers(n, r)
		if replica.CheckPeers(r, next) != nil {
			continue
		}
		if _, ok := n.group.ProposeChange(n.term, next); ok {
			w.note("%d proposes peers %v", n.id, next)
			n.pump()
		}
		return
	}
}

// nextPeers draws a change that a scheduler might make: a new learner; or a vote for one that has caught up, perhaps in exchange for another's.
func (w *World) nextPeers(n *node, r *kvapi.Region) (next []kvapi.Peer) {
	next = append(next, r.Peers...)
	var learners, others []int
	for i, p := range next {
		switch {
		case p.Learner && w.caughtUp(n, p.ID):
			learners = append(learners, i)
		case !p.Learner && p.ID != n.group.Peer():
			others = append(others, i)
		}
	}
	if len(learners) > 0 && w.rng.IntN(3) > 0 {
		next[learners[0]].Learner = false
		if r.Voters() >= membersFirst && len(others) > 0 {
			i := others[w.rng.IntN(len(others))]
			if w.rng.IntN(3) == 0 {
				next[i].Learner = true
			} else {
				next = append(next[:i:i], next[i+1:]...)
			}
		}
		return next
	}
	for _, i := range w.rng.Perm(len(w.stores)) {
		if _, there := r.On(uint64(i + 1)); !there {
			w.nextPeer++
			w.peers[w.nextPeer] = i
			return append(next, kvapi.Peer{ID: w.nextPeer, Store: uint64(i + 1), Learner: true})
		}
	}
	for i, p := range next {
		if p.Learner {
			return append(next[:i:i], next[i+1:]...)
		}
	}
	return next
}

func (w *World) caughtUp(n *node, peer uint64) bool {
	for _, p := range n.group.Peers() {
		if p.Peer == peer {
			return p.Match != 0 && p.Active
		}
	}
	return false
}

// reader reads at whoever believes that it serves: what was acknowledged before is there.
func (w *World) reader() {
	w.after(w.upTo(60*time.Millisecond), w.reader)
	for _, i := range w.rng.Perm(len(w.stores)) {
		if n := w.stores[i]; n.serving && n.group != nil && w.now >= n.paused {
			n.read()
			return
		}
	}
}

// client proposes an operation to whoever serves.
func (w *World) client() {
	w.after(w.upTo(40*time.Millisecond), w.client)
	if w.healed && w.events > w.o.Steps+w.o.Steps/2 {
		return
	}
	for _, i := range w.rng.Perm(len(w.stores)) {
		n := w.stores[i]
		if !n.serves() || n.waiting != nil || w.now < n.paused {
			continue
		}
		w.proposed++
		content := binary.BigEndian.AppendUint64(nil, w.proposed)
		if index, ok := n.group.Propose(n.term, content); ok {
			w.note("%d proposes %d at %d in term %d", n.id, w.proposed, index, n.term)
			n.waiting = &waiting{op: w.proposed, index: index, term: n.term}
			n.pump()
		}
		return
	}
}

// heal brings everything back.
func (w *World) heal() {
	w.healed = true
	clear(w.cut)
	for _, n := range w.stores {
		n.restart()
	}
}

// first returns the store that has applied most.
func (w *World) first() (first *node) {
	for _, n := range w.stores {
		if n.group != nil && (first == nil || n.group.AppliedIndex() > first.group.AppliedIndex()) {
			first = n
		}
	}
	return first
}

// even reports whether all members have applied the same.
func (w *World) even() bool {
	first := w.first()
	return first != nil && !slices.ContainsFunc(first.group.Region().Peers, func(p kvapi.Peer) bool {
		n := w.stores[p.Store-1]
		return n.group == nil || n.group.AppliedIndex() < first.group.AppliedIndex()
	})
}

// verdict judges the end.
func (w *World) verdict() {
	if w.fault != "" {
		return
	}
	for _, n := range w.stores {
		if !n.up {
			w.fail("store %d is down at the end", n.id)
			return
		}
	}
	first := w.first()
	w.compare(first)
	done := map[uint64]bool{}
	for index, content := range w.applied {
		if len(content) == 0 || w.changed[index] || isService(content) {
			continue
		}
		op := binary.BigEndian.Uint64(content)
		if done[op] {
			w.fail("operation %d was applied twice", op)
		}
		done[op] = true
		if index > first.group.AppliedIndex() {
			w.fail("entry %d was applied by a store and is not in the state that goes furthest", index)
		}
	}
	for op := range w.acked {
		if v, found, _ := first.disk.Get(opKey(op)); !found || !bytes.Equal(v, []byte{1}) {
			w.fail("operation %d was acknowledged and is not in the state: %x", op, v)
		}
	}
	if v, _, _ := first.disk.Get(sumKey); len(done) > 0 && binary.BigEndian.Uint64(v) != uint64(len(done)) {
		w.fail("%d operations were applied, and the sum says %d", len(done), binary.BigEndian.Uint64(v))
	}
	if len(w.acked) == 0 {
		w.fail("nothing was acknowledged")
	}
}

// compare checks that every member has caught up and has the same state.
func (w *World) compare(first *node) {
	for _, p := range first.group.Region().Peers {
		n := w.stores[p.Store-1]
		switch {
		case n.group == nil || n.group.Peer() != p.ID:
			w.fail("store %d has no replica at the end, and should be peer %d", n.id, p.ID)
		case n.group.AppliedIndex() != first.group.AppliedIndex():
			w.fail("store %d has applied %d at the end, and another %d", n.id, n.group.AppliedIndex(), first.group.AppliedIndex())
		default:
			for _, s := range replica.Spans(first.group.Region()) {
				if fmt.Sprint(n.disk.copyOf(s.Lower, s.Upper)) != fmt.Sprint(first.disk.copyOf(s.Lower, s.Upper)) {
					w.fail("store %d has another state than store %d at %d", n.id, first.id, first.group.AppliedIndex())
				}
			}
		}
	}
}

// opKey holds how often an operation was applied, sumKey how many operations were.
func opKey(op uint64) []byte {
	return keys.Bare(nil, keys.SpaceCounter, binary.BigEndian.AppendUint64([]byte("op"), op))
}

// serviceKey holds the last entry by which a store said that it serves, or does no more: a byte and the term.
var serviceKey = keys.Bare(nil, keys.SpaceCounter, []byte("service"))

const serviceOver = 1

func serviceEntry(term uint64, over bool) []byte {
	first := byte(0)
	if over {
		first = serviceOver
	}
	return binary.BigEndian.AppendUint64([]byte{first}, term)
}

// isService tells entries of serviceEntry from operations by their length.
func isService(content []byte) bool { return len(content) == 9 }

var sumKey = keys.Bare(nil, keys.SpaceCounter, []byte("sum"))

var quiet = slog.New(slog.DiscardHandler)
