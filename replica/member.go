package replica

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

func beUint64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// member is a replica of this store together with its driver. A goroutine that has something for the group becomes its driver if there is
// none, and does what the group asks for until that is nothing more. So a committer syncs the log itself, as wal.Log's callers do, without
// another goroutine in between. Messages are passed to the group as they arrive; its answers wait while its log is synced.
type member struct {
	s    *Set
	line line
	term atomic.Uint64 // what Term returns, 0 if it does not lead

	mu      sync.Mutex // guards what follows; Set.listing and Set.entering are taken under it
	core    *Group
	driven  bool    // there is a driver
	flight  *flight // the entry in flight
	stopped bool    // after an error, or when the replica was removed
	begun   bool    // started is closed
	// heard is how many bytes of messages the group got since the driver last called Ready.
	heard    int
	flushed  uint64                // if not 0, the log may be truncated up to there, see Group.Truncate
	incoming *incoming             // a snapshot that is to be installed
	reads    map[uint64]chan error // waiting calls of Confirm, by id
	lastRead uint64
	sending  map[uint64]bool // peers that a snapshot is being sent to
	elected  time.Duration   // clock.Boot when it was found to lead
	seen     leadership      // the last one that leaderChanged was called with

	// started is closed when the group is led for the first time, or will not be: proposals to a group with a single voter wait for it.
	started chan struct{}
}

// leadership is who leads a group, as far as a replica knows.
type leadership struct{ term, peer uint64 }

// flight is an entry in flight.
type flight struct {
	index, term uint64
	entry       Entry
	members     *Members // set if it is a change of members
	results     []Result
	err         error
	done        chan struct{} // has room for one
}

// Term implements Line.
func (m *member) Term() (term uint64, ok bool) {
	term = m.term.Load()
	return term, term != 0
}

// campaign stands for election, and returns once nothing more can be done for that on this store.
func (m *member) campaign() {
	m.s.Stats.Campaigns.Inc()
	m.mu.Lock()
	// It fails if the replica leads already or is not a voter, which needs no handling.
	_ = m.core.Campaign()
	m.mu.Unlock()
	m.drive()
}

// drive does what the group asks for, unless there is a driver already, which checks again before it ends.
func (m *member) drive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.driven {
		return
	}
	m.driven = true
	m.driveOn()
}

// driveOn is drive for a caller that has set driven. The caller holds mu.
func (m *member) driveOn() {
	for !m.stopped && (m.flushed != 0 || m.beginInstall() || m.core.HasReady()) {
		if err := m.once(); err != nil {
			m.stop(err)
			if in := m.incoming; in != nil {
				m.incoming = nil
				in.done <- err
			}
		}
	}
	m.driveNoMore()
}

// driveNoMore ends driving. The caller holds mu.
func (m *member) driveNoMore() {
	m.driven = false
	if m.stopped {
		m.land(kvapi.ErrUndetermined) // halt was called meanwhile
	}
}

// wake starts a goroutine that drives the group, if there is something to do and no driver. The caller holds mu.
func (m *member) wake() {
	if m.driven || m.stopped || m.flushed == 0 && m.incoming == nil && !m.core.HasReady() || !m.s.enterDriver() {
		return
	}
	m.driven = true
	go func() {
		defer m.s.drivers.Done()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.driveOn()
	}()
}

// once truncates the log, or does what one Ready asks for. The caller holds mu, which is released for I/O.
func (m *member) once() error {
	if m.flushed != 0 {
		return m.cut()
	}
	fx := m.core.Ready()
	m.heard = 0
	for _, want := range fx.Snapshots {
		m.sendSnapshot(want)
	}
	for _, id := range fx.Reads {
		m.answerRead(id, nil)
	}
	if fx.Append == nil && len(fx.Send) > 0 {
		m.send(fx.Send)
	}
	if fx.Append != nil {
		if err := m.append(fx.Append, fx.Send); err != nil {
			return err
		}
	}
	m.endInstall(fx.Append)
	var removed bool
	if fx.Apply != nil {
		out := applied{region: m.core.region, gcPoint: m.core.applied.gcPoint}
		m.mu.Unlock()
		err := m.apply(fx.Apply, &out)
		m.mu.Lock()
		if err != nil {
			return err
		}
		for _, c := range out.changes {
			m.core.ApplyChange(c)
		}
		m.core.Applied(fx.Apply, out.region, out.gcPoint)
		if p, here := out.region.On(m.s.o.Store); len(out.changes) > 0 && (!here || p.ID != m.core.peer) {
			removed = true
		}
	}
	m.look()
	if removed {
		return m.remove()
	}
	return nil
}

// look notes who leads, and ends what depends on a lead that was lost. The caller holds mu.
func (m *member) look() {
	if term, ok := m.core.Leads(); ok && !m.stopped {
		m.term.Store(term)
		m.begin()
	} else {
		m.term.Store(0)
	}
	if f := m.flight; f != nil && m.core.led != f.term {
		m.land(kvapi.ErrUndetermined)
	}
	if m.core.led == 0 && len(m.reads) > 0 {
		m.failReads()
	}
	now := leadership{m.core.Term(), m.core.lead}
	if m.core.led != 0 {
		now = leadership{m.core.led, m.core.peer}
	}
	if now == m.seen {
		return
	}
	before := m.seen
	m.seen = now
	if now.peer == m.core.peer && (before.term != now.term || before.peer != now.peer) {
		m.elected = clock.Boot()
		m.s.Stats.Elections.Inc()
	}
	m.s.leaderChanged(m.core.region, before, now, m.core.peer)
}

// append logs a and syncs it if it has to; it sends first before that, and afterwards the messages that depend on it. The caller holds mu.
func (m *member) append(a *Append, first []Message) error {
	if a.SnapshotIndex != 0 {
		if err := m.install(a); err != nil {
			return err
		}
	} else if !a.Empty() {
		b := m.s.o.Engine.NewBatch()
		a.Write(b)
		to := m.core.region
		m.mu.Unlock()
		m.s.send(to, m.core.peer, first)
		first = nil
		began := clock.Mono()
		err := m.s.log(b, a.Sync)
		m.s.Stats.AppendNanos.ObserveDuration(clock.Since(began))
		m.mu.Lock()
		if err != nil {
			return fmt.Errorf("replica: log of region %d: %w", m.core.region.ID, err)
		}
	}
	m.send(first)
	m.send(m.core.Appended(a))
	return nil
}

// send sends messages to other replicas. The caller holds mu.
func (m *member) send(messages []Message) { m.s.send(m.core.region, m.core.peer, messages) }

// land ends the entry in flight, if there is one, with a result for its waiter. The caller holds mu.
func (m *member) land(err error) {
	if f := m.flight; f != nil {
		f.err = err
		m.flight = nil
		f.done <- struct{}{}
	}
}

// begin closes started. The caller holds mu.
func (m *member) begin() {
	if !m.begun {
		m.begun = true
		close(m.started)
	}
}

// stop ends the group after an error of the log, the disk or the machine. It is called by the driver, with mu.
func (m *member) stop(err error) {
	m.land(kvapi.ErrUndetermined)
	m.halt()
	m.s.fail(err)
}

// halt stops the group and ends all waits for it. Only the proposer of the entry in flight waits until the driver, if there is one, is done: that may
// be applying the entry, whose commands are in the proposer's memory. The caller holds mu.
func (m *member) halt() {
	m.stopped = true
	m.term.Store(0)
	if !m.driven {
		m.land(kvapi.ErrUndetermined)
	}
	m.begin()
	m.failReads()
	if in := m.incoming; in != nil && !in.installing {
		m.incoming = nil
		in.done <- kvapi.ErrClosed
	}
}

// appliedEntry is an entry whose effects are passed to the Machine once its batch is visible.
type appliedEntry struct {
	at       Position
	commands []Command
	left     *kvapi.Region
	right    *kvapi.Region
	changed  *kvapi.Region // by a change of members
}

// applied is a region's state after entries.
type applied struct {
	region  *kvapi.Region
	gcPoint clock.Timestamp
	changes []*Change // of members
}

// apply applies entries, in batches that each have their applied index (A1).
func (m *member) apply(a *Apply, out *applied) error {
	began := clock.Mono()
	b := m.s.o.Engine.NewBatch()
	defer b.Close()
	var done []appliedEntry
	for i, c := range a.Entries {
		if len(c.Content) > 0 || c.Conf {
			d, err := m.applyEntry(b, c, out)
			if err != nil {
				return err
			}
			done = append(done, d)
		}
		last := i == len(a.Entries)-1
		if !last && b.Len() < m.s.o.Limits.ApplyBytes && (len(done) == 0 || done[len(done)-1].right == nil && done[len(done)-1].changed == nil) {
			continue
		}
		m.core.WriteApplied(b, c, out.gcPoint)
		if err := m.s.o.Engine.ApplyUnlogged(b); err != nil {
			return err
		}
		if err := m.tell(done); err != nil {
			return err
		}
		done = done[:0]
		b.Reset()
	}
	m.s.Stats.ApplyNanos.ObserveDuration(clock.Since(began))
	m.landed(a)
	return nil
}

// applyEntry adds the changes of an entry to a batch.
func (m *member) applyEntry(b *engine.Batch, c Committed, out *applied) (d appliedEntry, err error) {
	d.at = Position{Region: out.region, Index: c.Index, Term: c.Term}
	if c.Conf {
		next, change, err := DecodeChange(out.region, c)
		if err != nil {
			return d, fmt.Errorf("replica: region %d, entry %d: %w", out.region.ID, c.Index, err)
		}
		results := m.results(c)
		if next == nil {
			if results != nil {
				results[0] = Result{Stale: true}
			}
			return d, nil
		}
		WriteRegion(b, next)
		d.changed, out.region = next, next
		out.changes = append(out.changes, change)
		return d, nil
	}
	entry, results, err := m.content(c)
	if err != nil {
		return d, fmt.Errorf("replica: region %d, entry %d: %w", out.region.ID, c.Index, err)
	}
	for k, command := range entry.Commands {
		if entry.Epoch != out.region.Epoch {
			results[k] = Result{Stale: true}
			continue
		}
		switch c := command.(type) {
		case *Split:
			assert.That(len(entry.Commands) == 1, "replica: a split is alone in its entry")
			d.left, d.right = halves(out.region, c)
			WriteRegion(b, d.left)
			Create(b, d.right, out.gcPoint)
			out.region = d.left
		case *GCPoint:
			out.gcPoint = max(out.gcPoint, c.TS)
		default:
			if results[k], err = m.s.o.Machine.Apply(b, d.at, command); err != nil {
				return d, fmt.Errorf("replica: apply entry %d of region %d: %w", d.at.Index, out.region.ID, err)
			}
		}
		d.commands = append(d.commands, command)
	}
	return d, nil
}

// tell passes entries to the Machine that have become visible.
func (m *member) tell(done []appliedEntry) error {
	for i := range done {
		d := &done[i]
		switch {
		case d.changed != nil:
			if err := m.logCommit(d.at.Index); err != nil {
				return err
			}
			m.s.o.Machine.Changed(d.changed)
			m.s.membersChanged(d.at, d.changed)
		case d.right != nil:
			// The right half logs its votes and entries after this, so that no crash leaves them without the split (L8).
			if err := m.logCommit(d.at.Index); err != nil {
				return err
			}
			if err := m.split(d.left, d.right); err != nil {
				return err
			}
		default:
			m.s.o.Machine.Applied(d.at, d.commands)
		}
	}
	return nil
}

// split opens the right half of a split that has become visible.
func (m *member) split(left, right *kvapi.Region) error {
	gone := m.s.removed(right.ID)
	if p, here := right.On(m.s.o.Store); !here || p.ID <= gone {
		// The right half was here before, and was removed. A crash has then lost the state that the split had made, but not the tombstone (M2).
		m.s.o.Machine.Split(left, right)
		m.s.o.Machine.Removed(right)
		return destroy(m.s.o.Engine, right, gone)
	}
	// The Machine gets the right half before that applies anything. Proposals to it wait until it is led.
	half, err := m.s.add(right)
	if err != nil {
		return err
	}
	m.s.o.Machine.Split(left, right)
	if _, leads := m.Term(); half.sole() || leads {
		half.campaign()
	}
	return nil
}

// logCommit logs a commit index, durably, so that after a crash the entries up to it are applied again before the replica does anything
// else (L8).
func (m *member) logCommit(index uint64) error {
	if len(m.core.region.Peers) == 1 {
		return nil // the only voter applies all of its log before it does anything else
	}
	b := m.s.o.Engine.NewBatch()
	m.mu.Lock()
	m.core.WriteCommit(b, index)
	m.mu.Unlock()
	return m.s.log(b, true)
}

// content returns an entry's commands, and where their results go.
func (m *member) content(c Committed) (e Entry, results []Result, err error) {
	m.mu.Lock()
	f := m.flight
	m.mu.Unlock()
	if f != nil && f.index == c.Index && f.term == c.Term {
		return f.entry, f.results, nil // proposed here, so it need not be decoded
	}
	e, err = DecodeEntry(c.Content)
	return e, make([]Result, len(e.Commands)), err
}

// results returns where the result of an entry that changes members goes, nil if nobody waits for it here.
func (m *member) results(c Committed) []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.flight; f != nil && f.index == c.Index && f.term == c.Term {
		return f.results
	}
	return nil
}

// landed ends the flight if its entry is among those applied, or another is at its place.
func (m *member) landed(a *Apply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.flight
	if f == nil {
		return
	}
	for _, c := range a.Entries {
		switch {
		case c.Index != f.index:
		case c.Term == f.term && f.members != nil && !c.Conf:
			m.land(errNotNow) // raft has refused the change, and replaced it by an entry without content
		case c.Term == f.term:
			m.land(nil)
		default:
			m.land(errNotLed) // another leader's entry has its index, so it is certainly lost
		}
	}
}

// halves returns the regions that a split makes of a region.
func halves(r *kvapi.Region, c *Split) (left, right *kvapi.Region) {
	left, right = new(*r), new(*r)
	left.Epoch.Version++
	right.Epoch.Version++
	left.End, right.Start = c.Key, c.Key
	right.ID = c.Right
	right.Peers = nil
	assert.That(len(c.Peers) == len(r.Peers), "replica: a split names a peer for each that there is")
	for i, p := range r.Peers {
		p.ID = c.Peers[i]
		right.Peers = append(right.Peers, p)
	}
	return left, right
}

// truncate lets the driver truncate the log as far as possible, if it has that many entries or bytes. It returns the bytes that it had, 0 if
// it would be as long with all changes in tables.
func (m *member) truncate(entries uint64, bytes int64) (held int64, err error) {
	m.mu.Lock()
	l, region := m.core.log, m.core.region.ID
	none := m.stopped || m.incoming != nil || l.last-l.trunc.index < entries && l.held < bytes || m.core.truncatable(m.core.applied.index, m.keep()) <= l.trunc.index
	held = l.held
	m.mu.Unlock()
	if none {
		return 0, nil
	}
	flushed, err := Flushed(m.s.disk, region) // may read a long block
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flushed = flushed
	m.wake()
	return held, nil
}

// keep returns how many entries of the log are to be kept for peers that are behind. The caller holds mu.
func (m *member) keep() uint64 {
	limits, l := &m.s.o.Limits, m.core.log
	if l.held <= limits.KeepBytes {
		return limits.KeepEntries
	}
	return min(limits.KeepEntries, uint64(float64(l.last-l.trunc.index)*float64(limits.KeepBytes)/float64(l.held)))
}

// cut truncates the log up to where flushed permits it. The caller is the driver and holds mu, which is released for I/O.
func (m *member) cut() error {
	flushed := m.flushed
	m.flushed = 0
	if m.incoming != nil {
		return nil
	}
	t, err := m.core.Truncate(flushed, 1, m.keep())
	if err != nil || t == nil {
		return err
	}
	b := m.s.o.Engine.NewBatch()
	t.Write(b)
	m.mu.Unlock()
	err = m.s.log(b, false) // waits while the engine makes room
	m.mu.Lock()
	if err != nil {
		return err
	}
	m.core.Truncated(t)
	m.s.Stats.Truncations.Inc()
	return nil
}
