package replica

import (
	"sync"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// entryBytesMin is the size of an entry without commands, about.
const entryBytesMin = 32

// errNotLed refuses a proposal to a region that is not led here; nothing happened.
var errNotLed error = &kvapi.EpochError{}

// line is a region's queue of proposals. A proposer that finds no leader leads: it makes an entry of a group of proposals and, once that is
// applied, hands leadership to the first that has arrived meanwhile.
type line struct {
	mu         sync.Mutex // a leaf
	head, tail *place
	leading    bool
	n          int
}

// place is a proposal's place in a line.
type place struct {
	next   *place
	p      Proposal
	ts     int // timestamps wanted
	result Result
	err    error
	wake   chan bool // true: lead the next group. Room for one.
}

var places = sync.Pool{New: func() any { return &place{wake: make(chan bool, 1)} }}

func (l *line) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// join adds n to the queue and reports whether it leads.
func (l *line) join(n *place) (leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tail != nil {
		l.tail.next = n
	} else {
		l.head = n
	}
	l.tail = n
	l.n++
	leads = !l.leading
	l.leading = true
	return leads
}

// take takes a group off the queue.
func (l *line) take(limits *Limits) (head *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	head = l.head
	last, n, bytes := head, 1, head.p.Size()
	for !head.p.Alone() && last.next != nil && !last.next.p.Alone() && n < limits.GroupProposals {
		if bytes += last.next.p.Size(); bytes > limits.GroupBytes {
			break
		}
		last = last.next
		n++
	}
	if l.head = last.next; l.head == nil {
		l.tail = nil
	}
	last.next = nil
	l.n -= n
	return head
}

// handOn makes the first of the queue the next leader.
func (l *line) handOn() {
	l.mu.Lock()
	next := l.head
	l.leading = next != nil
	l.mu.Unlock()
	if next != nil {
		next.wake <- true
	}
}

// Do implements Line.
func (m *member) Do(p Proposal) error {
	if !m.s.enter() {
		p.Finish(Result{}, kvapi.ErrClosed)
		return kvapi.ErrClosed
	}
	defer m.s.inFlight.Done()
	n := places.Get().(*place)
	n.p = p
	if m.line.join(n) || <-n.wake {
		m.lead(n)
	}
	err := n.err
	*n = place{wake: n.wake}
	places.Put(n)
	return err
}

// lead runs one group, of which the leader is the first.
func (m *member) lead(leader *place) {
	head := m.line.take(&m.s.o.Limits)
	assert.That(head == leader, "replica: the leader is first in line")
	if err := m.propose(head); err != nil {
		for n := head; n != nil; n = n.next {
			if n.err == nil {
				n.err = err
			}
		}
	}
	for n := head; n != nil; n = n.next {
		n.p.Finish(n.result, n.err)
	}
	m.line.handOn()
	for n := head.next; n != nil; {
		next := n.next // n belongs to its waiter again once it is woken
		n.wake <- false
		n = next
	}
	head.next = nil
}

// propose makes an entry of a group and waits until it is applied. The order here is that of rule A (A2): marks, timestamps, proposal. Its error
// is that of all proposals that have none of their own.
func (m *member) propose(head *place) error {
	if m.s.failed.Load() {
		return kvapi.ErrClosed
	}
	m.mu.Lock()
	if m.core.sole() && !m.begun {
		m.mu.Unlock()
		<-m.started
		m.mu.Lock()
	}
	turn := Turn{Region: m.core.region}
	var ok bool
	turn.Term, ok = m.core.Leads()
	m.mu.Unlock()
	if !ok {
		return errNotLed
	}
	wanted := 0
	for n := head; n != nil; n = n.next {
		if n.ts, n.err = n.p.Prepare(turn); n.err == nil {
			wanted += n.ts
		}
	}
	first := clock.Timestamp(0)
	if wanted > 0 {
		var err error
		if first, err = m.s.o.Timestamps.Next(wanted); err != nil {
			return err
		}
	}
	f := &flight{term: turn.Term, entry: Entry{Epoch: turn.Region.Epoch}, done: make(chan struct{}, 1)}
	size, wants := f.gather(head, first)
	if wants == 0 {
		return nil
	}
	f.results = make([]Result, wants)
	var content []byte
	if f.members == nil {
		content = f.entry.Append(make([]byte, 0, size+size/8))
	}
	st := &m.s.Stats
	st.Entries.Inc()
	st.EntryBytes.Add(uint64(len(content)))
	st.Proposals.Add(uint64(wants))
	st.GroupSize.Observe(uint64(wants))
	if err := m.fly(f, content); err != nil {
		return err
	}
	at := 0
	for n := head; n != nil; n = n.next {
		if n.err != nil {
			continue
		}
		if n.result = f.results[at]; n.result.Stale {
			n.err = errNotLed
		}
		at++
	}
	return nil
}

// gather collects the commands of a group's proposals, and returns the approximate size of the entry and how many proposals take part. first is
// the first of their timestamps.
func (f *flight) gather(head *place, first clock.Timestamp) (size, wants int) {
	size = entryBytesMin
	for n := head; n != nil; n = n.next {
		if n.err != nil {
			continue
		}
		var asked Proposed
		asked, n.err = n.p.Command(first)
		first += clock.Timestamp(n.ts)
		if n.err != nil {
			continue
		}
		wants++
		size += n.p.Size()
		switch c := asked.(type) {
		case *Members:
			f.members = c
		case Command:
			f.entry.Commands = append(f.entry.Commands, c)
		}
	}
	assert.That(f.members == nil || wants == 1, "replica: a change of members is alone in its entry")
	return size, wants
}

// fly proposes an entry and waits until it is applied or has failed.
func (m *member) fly(f *flight, content []byte) error {
	m.mu.Lock()
	assert.That(m.flight == nil, "replica: one entry is in flight")
	ok := !m.stopped
	if ok && f.members != nil {
		f.index, ok = m.core.ProposeChange(f.term, f.members.Peers)
	} else if ok {
		f.index, ok = m.core.Propose(f.term, content)
	}
	if !ok {
		m.mu.Unlock()
		return errNotLed
	}
	m.flight = f
	m.mu.Unlock()
	m.drive()
	<-f.done
	return f.err
}
