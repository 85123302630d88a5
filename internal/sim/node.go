package sim

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/pandodb/pando/replica"
)

// node is a store of the world with its replica.
type node struct {
	w     *World
	id    int
	disk  *disk
	group *replica.Group // nil while it is down
	life  int            // counts the starts: what was planned in an earlier life does not happen
	// waiting is the operation in flight of a client.
	waiting *waiting
	writes  time.Duration // until when the log's writer is busy
	syncs   time.Duration // and the disk
	applies time.Duration // and who applies
}

type waiting struct{ op, index, term uint64 }

// later plans something of this life, not before earliest, and returns when.
func (n *node) later(earliest, d time.Duration, do func()) time.Duration {
	at := max(earliest, n.w.now) + n.w.upTo(d)
	life := n.life
	n.w.after(at-n.w.now, func() {
		if n.life == life {
			do()
		}
	})
	return at
}

func (n *node) open() {
	n.life++
	b, _, _ := n.disk.Get(replica.RegionKey(region))
	r, err := replica.DecodeRegion(b)
	if err == nil {
		n.group, err = replica.OpenGroup(n.disk, r, uint64(n.id+1), quiet)
	}
	if err != nil {
		n.w.fail("store %d does not open: %v", n.id, err)
		return
	}
	n.waiting, n.writes, n.syncs, n.applies = nil, 0, 0, 0
	n.w.note("%d opens at %d", n.id, n.group.AppliedIndex())
	n.tick()
	n.pump()
}

func (n *node) crash() {
	n.w.note("%d crashes", n.id)
	n.group = nil
	n.life++
	n.disk.crash(n.w.rng)
}

func (n *node) restart() {
	if n.group == nil {
		n.open()
	}
}

func (n *node) tick() {
	n.later(n.w.now+tickEvery-tickEvery/8, tickEvery/4, func() {
		n.group.Tick()
		n.pump()
		n.tick()
	})
}

// pump does what the group asks for.
func (n *node) pump() {
	for n.w.fault == "" && n.group.HasReady() {
		fx := n.group.Ready()
		n.send(fx.Send)
		if fx.Append != nil {
			n.append(fx.Append)
		}
		if fx.Apply != nil {
			n.applies = n.later(n.applies, writeMax, func() { n.apply(fx.Apply) })
		}
	}
	if n.waiting != nil {
		if term, ok := n.group.Leads(); !ok || term != n.waiting.term {
			n.waiting = nil // undetermined
		}
	}
}

// append writes to the log, syncs it and reports, each in the order of the requests.
func (n *node) append(a *replica.Append) {
	write := func() int {
		b := &batch{}
		a.Write(b)
		if !n.w.o.Rules.OneClass {
			// The sum, which is applied unlogged, is put into the log as well.
			if v, found, _ := n.disk.Get(sumKey); found {
				b.Set(sumKey, v)
			}
		}
		return n.disk.applyLogged(b)
	}
	report := func() {
		n.send(n.group.Appended(a))
		n.pump()
	}
	if !n.w.o.Rules.LogBeforeApply {
		// The entries are taken for appended while they are only on their way.
		n.writes = n.later(n.writes, writeMax, report)
		n.syncs = n.later(max(n.writes, n.syncs), 4*syncMax, func() { n.disk.sync(write()) })
		return
	}
	n.writes = n.later(n.writes, writeMax, func() {
		position := write()
		if !n.w.o.Rules.SyncBeforeAck {
			report()
			n.syncs = n.later(n.syncs, 4*syncMax, func() { n.disk.sync(position) })
			return
		}
		n.syncs = n.later(n.syncs, syncMax, func() {
			if a.Sync {
				n.disk.sync(position)
			}
			report()
		})
	})
	n.syncs = max(n.syncs, n.writes)
}

// send gives messages to the network, as bytes.
func (n *node) send(messages []replica.Message) {
	w := n.w
	for _, m := range messages {
		content, ok := m.Append(nil)
		if !ok {
			continue // a snapshot, which there is none of
		}
		to := int(m.To() - 100)
		copies := 1
		switch p := w.rng.IntN(100); {
		case w.healed:
		case p < 5:
			copies = 0
		case p < 10:
			copies = 2
		}
		for range copies {
			w.after(w.upTo(delayMax), func() { w.arrive(n.id, to, content) })
		}
	}
}

func (w *World) arrive(from, to int, content []byte) {
	n := w.stores[to]
	if w.cut[[2]int{from, to}] || n.group == nil {
		return
	}
	m, err := replica.DecodeMessage(content)
	if err != nil {
		w.fail("message from %d to %d: %v", from, to, err)
		return
	}
	w.note("%v", m)
	n.group.Step(m)
	n.pump()
}

// apply brings committed entries into the state, in one batch with the applied index.
func (n *node) apply(a *replica.Apply) {
	w := n.w
	b := &batch{}
	sum := uint64(0)
	if v, found, _ := n.disk.Get(sumKey); found {
		sum = binary.BigEndian.Uint64(v)
	}
	for _, e := range a.Entries {
		if before, known := w.applied[e.Index]; known && !bytes.Equal(before, e.Content) {
			w.fail("store %d applies %x at %d, where %x was applied", n.id, e.Content, e.Index, before)
			return
		}
		w.applied[e.Index] = e.Content
		if len(e.Content) == 0 {
			continue
		}
		op := binary.BigEndian.Uint64(e.Content)
		if v, found, _ := n.disk.Get(opKey(op)); found {
			w.fail("store %d applies operation %d at %d once more: %x", n.id, op, e.Index, v)
			return
		}
		sum++
		b.Set(opKey(op), []byte{1})
	}
	b.Set(sumKey, binary.BigEndian.AppendUint64(nil, sum))
	last := a.Entries[len(a.Entries)-1]
	if w.o.Rules.ApplyStateInBatch {
		n.group.WriteApplied(b, last, 0)
		n.disk.applyUnlogged(b)
	} else {
		n.disk.applyUnlogged(b)
		b = &batch{}
		n.group.WriteApplied(b, last, 0)
		n.later(n.applies, 10*writeMax, func() { n.disk.applyUnlogged(b) })
	}
	w.note("%d applies up to %d", n.id, last.Index)
	n.group.Applied(a, n.group.Region(), 0)
	if p := n.waiting; p != nil && last.Index >= p.index {
		for _, e := range a.Entries {
			if e.Index == p.index && e.Term == p.term {
				w.acked[p.op] = true
			}
		}
		n.waiting = nil
	}
	n.pump()
}

// truncate drops what can go of the log.
func (n *node) truncate() {
	if n.group == nil {
		return
	}
	if !n.w.o.Rules.TruncateInTables {
		n.disk.lie = true
		defer func() { n.disk.lie = false }()
	}
	t, err := n.group.Truncate(truncateFrom, keepEntries)
	if err != nil {
		n.w.fail("store %d: truncate: %v", n.id, err)
		return
	}
	if t == nil {
		return
	}
	b := &batch{}
	t.Write(b)
	n.disk.applyLogged(b)
	n.group.Truncated(t)
	n.w.note("%d truncates", n.id)
}
