package sim

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

const (
	region = kvapi.RegionID(7)
	// tickEvery, and the delays of network and disk, are in virtual time.
	tickEvery    = 200 * time.Millisecond
	delayMax     = 60 * time.Millisecond
	writeMax     = 5 * time.Millisecond
	syncMax      = 40 * time.Millisecond
	traceKept    = 60
	truncateFrom = 3
	keepEntries  = 1 << 30
)

// Rules names what the driver keeps. The zero value has all switched off.
type Rules struct {
	SyncBeforeAck     bool // an append is reported once it is durable
	LogBeforeApply    bool // L1: entries enter the log before their application enters the memtable
	TruncateInTables  bool // L2: a log is truncated up to what is applied in tables
	OneClass          bool // L3: a key is written logged or unlogged, never both
	ApplyStateInBatch bool // A1: the applied index is in the batch of what it covers
}

// AllRules is how the product drives groups.
func AllRules() Rules { return Rules{true, true, true, true, true} }

// Options say what a run is.
type Options struct {
	Seed   uint64
	Stores int
	Steps  int // events until the world is healed
	Rules  Rules
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

	applied  map[uint64][]byte // by index, the content that some store has applied
	acked    map[uint64]bool   // operations that a client was told to be done
	proposed uint64            // operations so far
	trace    []string
	hash     uint64
	fault    string
	events   int
}

// Run runs a world and returns what it found wrong, "" if nothing, and a digest of all that happened.
func Run(o Options) (fault string, digest uint64) {
	w := &World{o: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), cut: map[[2]int]bool{}, applied: map[uint64][]byte{}, acked: map[uint64]bool{}}
	r := &kvapi.Region{ID: region, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 1, ConfVer: 2}}
	for i := range o.Stores {
		r.Peers = append(r.Peers, kvapi.Peer{ID: uint64(100 + i), Store: uint64(i + 1)})
	}
	for i := range o.Stores {
		n := &node{w: w, id: i, disk: newDisk()}
		b := &batch{}
		replica.Create(b, r, 0)
		n.disk.sync(n.disk.applyLogged(b))
		n.disk.flush(w.rng) // the barrier behind a promotion
		for len(n.disk.pending) > 0 {
			n.disk.flush(w.rng)
		}
		w.stores = append(w.stores, n)
		n.open()
	}
	w.after(0, w.chaos)
	w.after(0, w.client)
	for w.events < o.Steps && w.step() {
	}
	w.after(0, w.heal)
	for w.events < 2*o.Steps && w.step() {
	}
	w.verdict()
	if w.fault != "" {
		return fmt.Sprintf("seed %d: %s\n%s", o.Seed, w.fault, strings.Join(w.trace, "\n")), w.hash
	}
	return "", w.hash
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
	switch w.rng.IntN(8) {
	case 0:
		if n.group != nil {
			n.crash()
			w.after(w.upTo(2*time.Second), n.restart)
		}
	case 1:
		from, to := w.rng.IntN(len(w.stores)), w.rng.IntN(len(w.stores))
		w.note("cut %d>%d", from, to)
		w.cut[[2]int{from, to}] = true
	case 2, 3:
		w.note("links are whole")
		clear(w.cut)
	case 4, 5:
		if n.group != nil {
			w.note("%d flushes", n.id)
			n.disk.flush(w.rng)
		}
	case 6:
		n.truncate()
	}
}

// client proposes an operation to whoever leads.
func (w *World) client() {
	w.after(w.upTo(40*time.Millisecond), w.client)
	if w.healed && w.events > w.o.Steps+w.o.Steps/2 {
		return
	}
	for _, i := range w.rng.Perm(len(w.stores)) {
		n := w.stores[i]
		if n.group == nil || n.waiting != nil {
			continue
		}
		term, ok := n.group.Leads()
		if !ok {
			continue
		}
		w.proposed++
		content := binary.BigEndian.AppendUint64(nil, w.proposed)
		if index, ok := n.group.Propose(term, content); ok {
			w.note("%d proposes %d at %d in term %d", n.id, w.proposed, index, term)
			n.waiting = &waiting{op: w.proposed, index: index, term: term}
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
		if n.group == nil {
			n.restart()
		}
	}
}

// verdict judges the end.
func (w *World) verdict() {
	if w.fault != "" {
		return
	}
	first := w.stores[0]
	for _, n := range w.stores {
		if n.group == nil {
			w.fail("store %d is down at the end", n.id)
			return
		}
		first = w.further(first, n)
	}
	done := map[uint64]bool{}
	for index, content := range w.applied {
		if len(content) == 0 {
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

func (w *World) further(a, b *node) *node {
	if b.group.AppliedIndex() > a.group.AppliedIndex() {
		return b
	}
	return a
}

// opKey holds how often an operation was applied, sumKey how many operations were.
func opKey(op uint64) []byte {
	return keys.Bare(nil, keys.SpaceCounter, binary.BigEndian.AppendUint64([]byte("op"), op))
}

var sumKey = keys.Bare(nil, keys.SpaceCounter, []byte("sum"))

var quiet = slog.New(slog.DiscardHandler)
