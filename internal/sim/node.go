package sim

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// node is a store of the world with its replica, if it has one.
type node struct {
	w      *World
	id     int
	disk   *disk
	up     bool
	paused time.Duration  // until when it does nothing
	group  *replica.Group // nil while it is down, or no member
	life   int            // counts the starts: what was planned in an earlier life does not happen
	// waiting is the operation in flight of a client.
	waiting *waiting
	writes  time.Duration // until when the log's writer is busy
	syncs   time.Duration // and the disk
	applies time.Duration // and who applies
	// installing: a snapshot is being put in, and the group is asked for nothing meanwhile.
	installing, poked bool
	arriving          *snapshot
	generation        int // counts groups: what was planned for an earlier one does not happen

	// drift (percent) and offset make its clock.
	drift  int
	offset time.Duration
	// serving in a term until its lease is over, by its own clock; it leads since elected.
	serving        bool
	term, asking   uint64
	until, elected time.Duration
	asked          map[uint64]time.Duration
	questions      uint64
	// said is the index of the entry by which it says that it serves in its term, 0 if it has not. leave is that of the entry by which it says that it does no more;
	// it does not serve until leaving.
	said, leave uint64
	leaving     time.Duration
}

type waiting struct{ op, index, term uint64 }

// snapshot is a region's state on its way.
type snapshot struct {
	from, to, term   uint64
	index, indexTerm uint64
	region           *kvapi.Region
	changes          []change
}

// clock is the node's own, which goes on while it is down.
func (n *node) clock() time.Duration {
	return n.offset + n.w.now + n.w.now*time.Duration(n.drift)/100
}

// later plans something of this life, not before earliest, and returns when.
func (n *node) later(earliest, d time.Duration, do func()) time.Duration {
	at := max(earliest, n.w.now) + n.w.upTo(d)
	life, generation := n.life, n.generation
	var run func()
	run = func() {
		switch {
		case n.life != life || n.generation != generation:
		case n.w.now < n.paused:
			n.w.after(n.paused-n.w.now, run)
		default:
			do()
		}
	}
	n.w.after(at-n.w.now, run)
	return at
}

func (n *node) open() {
	n.life++
	n.up = true
	n.reset()
	b, found, _ := n.disk.Get(replica.RegionKey(region))
	if found {
		r, err := replica.DecodeRegion(b)
		gone, fault := replica.Tombstone(n.disk, region)
		if p, here := r.On(uint64(n.id + 1)); err == nil && fault == nil && gone != 0 && (!here || p.ID <= gone) {
			n.destroy(r, gone)
		} else if err == nil {
			log := n.logDisk()
			n.group, err = replica.OpenGroup(log, r, uint64(n.id+1), &n.w.o.Limits, quiet)
			log.open = true
		}
		if err != nil || fault != nil {
			n.w.fail("store %d does not open: %v %v", n.id, err, fault)
			return
		}
	}
	if n.group == nil {
		n.w.note("%d opens without a replica", n.id)
	} else {
		n.w.note("%d opens at %d", n.id, n.group.AppliedIndex())
	}
	n.checkPromise()
	n.tick()
	n.pump()
}

// logDisk is the disk as a group reads it.
type logDisk struct {
	*disk
	open   bool // the group reads nothing but single entries from here on
	tables bool // they are read as tables have them, which may lack them
}

func (n *node) logDisk() *logDisk { return &logDisk{disk: n.disk, tables: !n.w.o.Rules.ReadsWritten} }

// Get implements replica.Disk.
func (d *logDisk) Get(key []byte) ([]byte, bool, error) {
	if d.open && d.tables {
		return d.Flushed(key)
	}
	return d.disk.Get(key)
}

// reset forgets what is in memory.
func (n *node) reset() {
	n.generation++
	n.group, n.waiting, n.arriving, n.installing, n.poked = nil, nil, nil, false, false
	n.writes, n.syncs, n.applies = 0, 0, 0
	n.serving, n.term, n.asked, n.paused = false, 0, nil, 0
	n.said, n.leave = 0, 0
}

func (n *node) crash() {
	n.w.note("%d crashes", n.id)
	n.reset()
	n.up = false
	n.life++
	n.disk.crash(n.w.rng)
}

func (n *node) restart() {
	if !n.up {
		n.open()
	}
}

func (n *node) tick() {
	life := n.life
	n.w.after(tickEvery-tickEvery/8+n.w.upTo(tickEvery/4), func() {
		if n.life != life {
			return
		}
		if n.group != nil && n.w.now >= n.paused {
			n.group.Tick()
			n.pump()
			n.gateway()
		}
		n.tick()
	})
}

// pump does what the group asks for.
func (n *node) pump() {
	for n.w.fault == "" && n.group != nil && !n.installing {
		begun := n.beginInstall()
		if !begun && !n.group.HasReady() {
			break
		}
		fx := n.group.Ready()
		n.send(fx.Send)
		for _, want := range fx.Snapshots {
			n.sendSnapshot(want)
		}
		for _, id := range fx.Reads {
			n.confirmed(id)
		}
		if begun {
			n.endInstall(fx.Append)
		}
		switch {
		case n.group == nil:
			return
		case fx.Append == nil:
		case fx.Append.SnapshotIndex != 0:
			n.install(fx.Append)
		default:
			n.append(fx.Append)
		}
		if fx.Apply != nil {
			n.applies = n.later(n.applies, writeMax, func() { n.apply(fx.Apply) })
		}
	}
	if n.waiting != nil && n.group != nil {
		if term, ok := n.group.Leads(); !ok || term != n.waiting.term {
			n.waiting = nil // undetermined
		}
	}
}

// gateway is what a store does that leads: it waits until nobody else serves, asks whether it still leads, and serves.
func (n *node) gateway() {
	term, leads := n.group.Leads()
	if !leads {
		n.serving, n.term = false, 0
		return
	}
	if term != n.term {
		n.serving, n.term, n.until, n.elected, n.said, n.leave = false, term, 0, n.clock(), 0, 0
		n.asked = map[uint64]time.Duration{}
		n.w.counts.Elections++
	}
	for id, at := range n.asked {
		if n.clock()-at > 4*askEvery {
			delete(n.asked, id)
		}
	}
	n.questions++
	n.asked[n.questions] = n.clock()
	n.group.ReadIndex(n.questions)
	n.pump()
	n.takeOver(term)
}

// takeOver has a store serve that leads in a term, once nobody else does, and it has said so.
func (n *node) takeOver(term uint64) {
	early := n.group.Region().Voters() > 1 && n.clock() < n.w.o.Lease.Over(n.elected)
	wait := n.w.o.Rules.LeaseWaited && early && n.said == 0 && !n.released() // what it has said itself is no reason to wait
	switch {
	case n.serving || n.w.now < n.leaving || wait:
	case n.w.o.Rules.ServiceSaid && n.said == 0:
		if index, ok := n.group.Propose(term, serviceEntry(term, false)); ok {
			n.said = index
			n.pump()
		}
	case n.group.AppliedIndex() >= n.said:
		n.serving = true
		n.w.counts.Takeovers++
		if early {
			n.w.counts.Early++
		}
		n.w.note("%d serves in term %d", n.id, term)
	}
}

// released reports whether who served last has said that it does no more.
func (n *node) released() bool {
	v, found, _ := n.disk.Get(serviceKey)
	return found && v[0] == serviceOver
}

// resign has a store that serves do so no more, and says that.
func (n *node) resign() {
	if n.w.o.Rules.StopsFirst {
		n.serving, n.until, n.said = false, 0, 0
		clear(n.asked)
	}
	n.leaving = n.w.now + awayMin
	if index, ok := n.group.Propose(n.term, serviceEntry(n.term, true)); ok {
		n.w.note("%d says at %d that it serves no more", n.id, index)
		n.leave = index
		n.pump()
	}
}

// left is told that the entry by which the store said that it serves no more is applied: it hands the lead on, and may hear nothing of what becomes of that.
func (n *node) left() {
	n.leave = 0
	n.w.counts.Resigned++
	var others []uint64
	for _, p := range n.group.Region().Peers {
		if p.ID != n.group.Peer() {
			others = append(others, p.ID)
		}
	}
	if len(others) == 0 {
		return
	}
	n.group.Transfer(others[n.w.rng.IntN(len(others))])
	if !n.w.healed && n.w.rng.IntN(4) > 0 {
		n.w.isolate(n, false)
		n.later(n.w.now, 2*delayMax, func() {
			if !n.w.healed {
				n.w.isolate(n, true)
			}
		})
	}
}

// confirmed is told that a majority still followed after a question.
func (n *node) confirmed(id uint64) {
	at, mine := n.asked[id]
	if !mine {
		return
	}
	delete(n.asked, id)
	n.until = max(n.until, n.w.o.Lease.End(at))
}

// leased reports whether the lease is held.
func (n *node) leased() bool {
	return n.group != nil && n.w.now >= n.paused && (n.group.Region().Voters() == 1 || n.clock() < n.until)
}

// serves reports whether clients may be served here.
func (n *node) serves() bool {
	if n.group == nil || !n.serving || !n.leased() {
		return false
	}
	term, leads := n.group.Leads()
	return leads && term == n.term
}

// read reads all that is there, and answers if the lease is held.
func (n *node) read() {
	if !n.serves() {
		return
	}
	n.w.counts.Reads++
	for _, op := range n.w.latest {
		if _, found, _ := n.disk.Get(opKey(op)); !found {
			n.w.fail("store %d answers a read without operation %d, which was acknowledged before", n.id, op)
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
		n.promise(a)
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

// promise notes what is promised to others from now on.
func (n *node) promise(a *replica.Append) {
	if term, vote := a.Hard(); term != 0 {
		n.w.promised[n.group.Peer()] = [2]uint64{term, vote}
	}
	n.checkPromise()
}

// checkPromise checks that what was promised last is on the disk.
func (n *node) checkPromise() {
	r := n.w.o.Rules
	if n.group == nil || !r.SyncBeforeAck || !r.LogBeforeApply {
		return
	}
	was := n.w.promised[n.group.Peer()]
	term, vote, err := replica.ReadHard(n.disk, region)
	if err != nil || term < was[0] || term == was[0] && vote != was[1] && was[1] != 0 {
		n.w.fail("store %d has promised term %d and its vote to %d, and its disk says %d and %d: %v", n.id, was[0], was[1], term, vote, err)
	}
}

// send gives messages to the network, as bytes.
func (n *node) send(messages []replica.Message) {
	w := n.w
	for _, m := range messages {
		content, ok := m.Append(nil)
		to, known := w.peers[m.To()]
		if !ok || !known {
			continue
		}
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
	if w.cut[[2]int{from, to}] || !n.up {
		return
	}
	if w.now < n.paused {
		w.after(n.paused-w.now+w.upTo(delayMax), func() { w.arrive(from, to, content) })
		return
	}
	m, err := replica.DecodeMessage(content)
	if err != nil {
		w.fail("message from %d to %d: %v", from, to, err)
		return
	}
	if n.group == nil {
		gone, _ := replica.Tombstone(n.disk, region)
		if answer, ok := replica.StrangerAnswer(m); ok && m.To() > gone {
			n.send([]replica.Message{answer})
		}
		return
	}
	switch n.group.Judge(m) {
	case replica.JudgeDrop:
	case replica.JudgeLeave:
		if !n.installing {
			n.remove()
		}
	case replica.JudgeGone:
		n.send([]replica.Message{n.group.GoneAnswer(m)})
	default:
		w.note("%v", m)
		if err := n.group.Step(m); err != nil {
			w.fail("a message to %d: %v", to, err)
			return
		}
		n.pump()
	}
}

// remove destroys the replica.
func (n *node) remove() {
	r, peer := n.group.Region(), n.group.Peer()
	n.w.note("%d removes peer %d", n.id, peer)
	n.w.counts.Removals++
	n.reset()
	n.destroy(r, peer)
}

func (n *node) destroy(r *kvapi.Region, peer uint64) {
	logged, unlogged := &batch{}, &batch{}
	replica.WriteRemoval(logged, unlogged, r, peer)
	n.disk.sync(n.disk.applyLogged(logged))
	n.disk.applyUnlogged(unlogged)
}

// sendSnapshot sends the region's state as it is a little later.
func (n *node) sendSnapshot(want replica.SnapshotRequest) {
	to, known := n.w.peers[want.Peer]
	if !known || !n.w.o.Rules.SnapshotsSent {
		n.group.ReportSnapshot(want.Peer, false)
		return
	}
	n.w.counts.Snapshots++
	n.later(n.w.now, snapshotMax, func() {
		index, term := n.group.AppliedState()
		s := &snapshot{from: n.group.Peer(), to: want.Peer, term: want.Term, index: index, indexTerm: term, region: n.group.Region()}
		for _, span := range replica.Spans(s.region) {
			s.changes = append(s.changes, n.disk.copyOf(span.Lower, span.Upper)...)
		}
		n.w.note("%d sends a snapshot of %d to peer %d", n.id, index, want.Peer)
		n.later(n.w.now, snapshotMax, func() {
			_, member := s.region.On(uint64(to + 1))
			taken := member && !n.w.cut[[2]int{n.id, to}] && n.w.stores[to].receive(s)
			n.group.ReportSnapshot(want.Peer, taken)
			n.pump()
		})
	})
}

// receive takes in a snapshot.
func (n *node) receive(s *snapshot) bool {
	gone, _ := replica.Tombstone(n.disk, region)
	switch {
	case !n.up, n.arriving != nil, n.installing, s.to <= gone:
		return false
	case n.group == nil:
		n.reset()
		log := n.logDisk()
		log.open = true
		group, err := replica.NewGroup(log, region, s.to, &n.w.o.Limits, quiet)
		if err != nil {
			n.w.fail("store %d: %v", n.id, err)
			return false
		}
		n.group = group
	case n.group.Peer() != s.to || n.group.AppliedIndex() >= s.index:
		return false
	}
	n.arriving = s
	n.pump()
	return true
}

// beginInstall hands a snapshot that has arrived to raft, once all that was asked for before is done.
func (n *node) beginInstall() bool {
	s := n.arriving
	if s == nil || n.group.HasReady() {
		return false
	}
	if busy := max(n.applies, n.writes, n.syncs); busy >= n.w.now {
		if !n.poked {
			n.poked = true
			n.later(busy, writeMax, func() {
				n.poked = false
				n.pump()
			})
		}
		return false
	}
	n.group.StepSnapshot(s.from, s.term, s.region, s.index, s.indexTerm)
	return true
}

// endInstall drops a snapshot that raft has no use for.
func (n *node) endInstall(a *replica.Append) {
	if a != nil && a.SnapshotIndex != 0 {
		return
	}
	n.arriving = nil
	if n.group.AppliedIndex() == 0 {
		n.reset() // it is no replica yet
	}
}

// install puts a snapshot in, with the region's records.
func (n *node) install(a *replica.Append) {
	s := n.arriving
	n.arriving = nil
	b := &batch{}
	a.Write(b)
	n.disk.barrier()
	n.w.note("%d has made way for a snapshot of %d", n.id, s.index)
	finish := func() {
		replica.WriteState(b, s.region, s.index, s.indexTerm, 0)
		n.disk.ingest(append(b.changes, s.changes...))
		n.group.Restored(a, s.region, 0)
		n.installing = false
		n.w.counts.Installed++
		n.w.note("%d has put in the snapshot of %d", n.id, s.index)
		n.promise(a)
		n.send(n.group.Appended(a))
		n.pump()
	}
	n.installing = true
	if !n.w.o.Rules.NothingInBetween {
		n.installing = false
		n.pump()
	}
	n.later(n.w.now, ingestMax, finish)
}

// apply brings committed entries into the state, in one batch with the applied index.
func (n *node) apply(a *replica.Apply) {
	w := n.w
	b := &batch{}
	sum := uint64(0)
	if v, found, _ := n.disk.Get(sumKey); found {
		sum = binary.BigEndian.Uint64(v)
	}
	r := n.group.Region()
	var changes []*replica.Change
	for _, e := range a.Entries {
		if before, known := w.applied[e.Index]; known && !bytes.Equal(before, e.Content) {
			w.fail("store %d applies %x at %d, where %x was applied", n.id, e.Content, e.Index, before)
			return
		}
		w.applied[e.Index] = e.Content
		if e.Conf {
			w.changed[e.Index] = true
			next, change, err := replica.DecodeChange(r, e)
			if err != nil {
				w.fail("store %d: %v", n.id, err)
				return
			}
			if next != nil {
				w.note("%d has peers %v", n.id, next.Peers)
				replica.WriteRegion(b, next)
				w.counts.Changes++
				if next.Joint() {
					w.counts.Joint++
				}
				r, changes = next, append(changes, change)
			}
			continue
		}
		if len(e.Content) == 0 {
			continue
		}
		if isService(e.Content) {
			b.Set(serviceKey, e.Content)
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
	if len(changes) > 0 {
		b := &batch{}
		n.group.WriteCommit(b, last.Index)
		n.disk.sync(n.disk.applyLogged(b))
	}
	n.applied(a, last, r, changes)
}

// applied tells the group, and the client whose operation it was.
func (n *node) applied(a *replica.Apply, last replica.Committed, r *kvapi.Region, changes []*replica.Change) {
	for _, c := range changes {
		n.group.ApplyChange(c)
	}
	n.group.Applied(a, r, 0)
	if p := n.waiting; p != nil && last.Index >= p.index {
		for _, e := range a.Entries {
			if e.Index == p.index && e.Term == p.term {
				n.w.acked[p.op] = true
				n.w.latest = append(n.w.latest[max(0, len(n.w.latest)-latestMax):], p.op)
			}
		}
		n.waiting = nil
	}
	if p, here := r.On(uint64(n.id + 1)); len(changes) > 0 && (!here || p.ID != n.group.Peer()) {
		n.remove()
		return
	}
	if term, leads := n.group.Leads(); n.leave != 0 && last.Index >= n.leave && leads && term == n.term {
		n.left()
	}
	n.pump()
}

// truncate drops what can go of the log.
func (n *node) truncate() {
	if n.group == nil || n.installing || n.arriving != nil {
		return
	}
	if !n.w.o.Rules.TruncateInTables {
		n.disk.lie = true
		defer func() { n.disk.lie = false }()
	}
	flushed, err := replica.Flushed(n.logDisk(), n.group.Region().ID)
	var t *replica.Truncation
	if err == nil {
		t, err = n.group.Truncate(flushed, n.w.o.Limits.TruncateEntries, n.w.o.Limits.KeepEntries)
	}
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
