package replica

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// applyBytesMax bounds a batch of applications.
const applyBytesMax = 4 << 20

func beUint64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// member is a replica of this store and who drives it: whoever has something for the group takes the driver's place if it is free, and
// does what the group asks for until it asks for nothing more. So a committer syncs the log itself, as wal.Log's callers do, and
// no goroutine hands it on.
//
// With one voter nothing else waits for the driver meanwhile. A group with others has messages and ticks to answer while its log is
// synced: appends then need a writer of their own, which comes with the second store.
type member struct {
	s    *Set
	line line
	term atomic.Uint64 // what Term returns, 0 if it does not lead

	mu      sync.Mutex // guards what follows; a leaf
	core    *Group
	driven  bool
	flight  *flight // the entry in flight
	stopped bool    // after an error
	begun   bool    // started is closed

	// started is closed once a group of one voter is led, or never will be.
	started chan struct{}
}

// flight is an entry on its way.
type flight struct {
	index, term uint64
	entry       Entry
	results     []Result
	err         error
	done        chan struct{} // has room for one
}

// Term implements Line.
func (m *member) Term() (term uint64, ok bool) {
	term = m.term.Load()
	return term, term != 0
}

// campaign stands for election, and returns once nothing more can be done for that here.
func (m *member) campaign() {
	m.s.Stats.Campaigns.Inc()
	m.mu.Lock()
	// It fails where it makes no sense: the replica leads, or is no voter.
	_ = m.core.Campaign()
	m.mu.Unlock()
	m.drive()
}

// drive does what the group asks for, unless somebody does: that one looks again before it leaves.
func (m *member) drive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.driven {
		return
	}
	m.driven = true
	for !m.stopped && m.core.HasReady() {
		if err := m.once(); err != nil {
			m.stop(err)
		}
	}
	m.driven = false
}

// once does what one Ready asks for. It is called with mu, and lets go of it while it works.
func (m *member) once() error {
	fx := m.core.Ready()
	if fx.Append != nil {
		if err := m.append(fx.Append); err != nil {
			return err
		}
	}
	if fx.Apply != nil {
		region, gcPoint := m.core.region, m.core.applied.gcPoint
		m.mu.Unlock()
		region, gcPoint, err := m.apply(fx.Apply, region, gcPoint)
		m.mu.Lock()
		if err != nil {
			return err
		}
		m.core.Applied(fx.Apply, region, gcPoint)
	}
	if term, ok := m.core.Leads(); ok && m.core.sole() {
		m.term.Store(term)
		m.begin()
	} else {
		m.term.Store(0)
	}
	if f := m.flight; f != nil && m.core.led != f.term {
		m.land(kvapi.ErrUndetermined)
	}
	return nil
}

// append logs and syncs. The caller holds mu.
func (m *member) append(a *Append) error {
	if !a.Empty() {
		b := m.s.o.Engine.NewBatch()
		a.Write(b)
		m.mu.Unlock()
		began := clock.Mono()
		err := m.s.log(b, a.Sync)
		m.s.Stats.AppendNanos.ObserveDuration(clock.Since(began))
		m.mu.Lock()
		if err != nil {
			return fmt.Errorf("replica: log of region %d: %w", m.core.region.ID, err)
		}
	}
	// Who else there may be to send to gets nothing: a transport comes with the second store.
	m.core.Appended(a)
	return nil
}

// land tells who waits for the entry in flight how it ended. The caller holds mu.
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

// stop ends the group after an error of the log, the disk or the machine. The caller holds mu.
func (m *member) stop(err error) {
	m.stopped = true
	m.term.Store(0)
	m.land(kvapi.ErrUndetermined)
	m.begin()
	m.s.fail(err)
}

// applied is what an entry left to be told of once its batch is visible.
type appliedEntry struct {
	at       Position
	commands []Command
	left     *kvapi.Region
	right    *kvapi.Region
}

// apply brings entries into the state, in batches that each say up to where they go (A1). It returns the region and its safepoint as
// they are then.
func (m *member) apply(a *Apply, region *kvapi.Region, gcPoint clock.Timestamp) (*kvapi.Region, clock.Timestamp, error) {
	began := clock.Mono()
	b := m.s.o.Engine.NewBatch()
	defer b.Close()
	var done []appliedEntry
	for i, c := range a.Entries {
		if c.conf {
			return nil, 0, corrupt(fmt.Sprintf("log of region %d: entry %d changes its members, which this program cannot", region.ID, c.Index))
		}
		if len(c.Content) > 0 {
			entry, results, err := m.content(c)
			if err != nil {
				return nil, 0, fmt.Errorf("replica: region %d, entry %d: %w", region.ID, c.Index, err)
			}
			d := appliedEntry{at: Position{Region: region, Index: c.Index, Term: c.Term}}
			for k, command := range entry.Commands {
				if entry.Epoch != region.Epoch {
					results[k] = Result{Stale: true}
					continue
				}
				switch c := command.(type) {
				case *Split:
					assert.That(len(entry.Commands) == 1, "replica: a split is alone in its entry")
					d.left, d.right = halves(region, c)
					WriteRegion(b, d.left)
					Create(b, d.right, gcPoint)
					region = d.left
				case *GCPoint:
					gcPoint = max(gcPoint, c.TS)
				default:
					if results[k], err = m.s.o.Machine.Apply(b, d.at, command); err != nil {
						return nil, 0, fmt.Errorf("replica: apply entry %d of region %d: %w", d.at.Index, region.ID, err)
					}
				}
				d.commands = append(d.commands, command)
			}
			done = append(done, d)
		}
		last := i == len(a.Entries)-1
		if !last && b.Len() < applyBytesMax && (len(done) == 0 || done[len(done)-1].right == nil) {
			continue
		}
		m.core.WriteApplied(b, c, gcPoint)
		if err := m.s.o.Engine.ApplyUnlogged(b); err != nil {
			return nil, 0, err
		}
		if err := m.tell(done); err != nil {
			return nil, 0, err
		}
		done = done[:0]
		b.Reset()
	}
	m.s.Stats.ApplyNanos.ObserveDuration(clock.Since(began))
	m.landed(a)
	return region, gcPoint, nil
}

// tell tells the machine of what has become visible.
func (m *member) tell(done []appliedEntry) error {
	for i := range done {
		d := &done[i]
		if d.right == nil {
			m.s.o.Machine.Applied(d.at, d.commands)
			continue
		}
		// The machine knows the right half before that applies anything. Who proposes to it before it is led waits for that.
		right, err := m.s.add(d.right)
		if err != nil {
			return err
		}
		m.s.o.Machine.Split(d.left, d.right)
		if right.core.sole() {
			right.campaign()
		}
	}
	return nil
}

// content returns an entry's commands, and where their results go.
func (m *member) content(c Committed) (e Entry, results []Result, err error) {
	m.mu.Lock()
	f := m.flight
	m.mu.Unlock()
	if f != nil && f.index == c.Index && f.term == c.Term {
		return f.entry, f.results, nil // what was proposed here need not be decoded
	}
	e, err = DecodeEntry(c.Content)
	return e, make([]Result, len(e.Commands)), err
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
		case c.Term == f.term:
			m.land(nil)
		default:
			m.land(errNotLed) // another leader's entry is at its place: it is lost for certain
		}
	}
}

// halves returns what a split makes of a region.
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

// truncate drops what can go of the log, if that has so many entries or bytes. It returns the bytes of what is left.
func (m *member) truncate(entries uint64, bytes int64) (held int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.core.log
	if m.stopped || l.last-l.trunc.index < entries && l.held < bytes {
		return 0, nil
	}
	t, err := m.core.Truncate(1)
	if err != nil || t == nil {
		return l.held, err
	}
	b := m.s.o.Engine.NewBatch()
	defer b.Close()
	t.Write(b)
	if err := m.s.o.Engine.ApplyNoSync(b); err != nil {
		return 0, err
	}
	m.core.Truncated(t)
	m.s.Stats.Truncations.Inc()
	return l.held, nil
}
