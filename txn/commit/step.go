package commit

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Path is how a transaction commits.
type Path uint8

// The paths.
const (
	OnePhase Path = iota
	Async
	TwoPhase
	Paths // their number
)

// String names the path for metrics.
func (p Path) String() string { return [...]string{"one_phase", "async", "two_phase"}[p] }

// Outcome is how a commit ended. Commit is not zero if and only if Err is nil.
type Outcome struct {
	Commit clock.Timestamp
	Err    error
	Path   Path
}

// ErrNobody answers a step whose request was refused because its region is not led here, and will not be, and no other leader is known: sending it
// again is useless.
var ErrNobody = errors.New("commit: nobody leads the region who could be asked")

// StepKind is what a step asks for.
type StepKind uint8

// The kinds of steps.
const (
	StepSend      StepKind = iota // send the request, after the pause; then Answer
	StepTimestamp                 // fetch a timestamp; then Timestamp
	StepLocate                    // read the regions again, after the pause; then Located
	StepResolve                   // wait until the lock's transaction is decided; then Resolved
	StepCounters                  // raise the plan's counters on their own; then Counted
	StepDone                      // tell the client; what follows is cleaning up
)

// Step is what a coordinator or resolver wants done.
type Step struct {
	Kind    StepKind
	ID      uint32        // of StepSend and StepResolve: the answer names it. Zero if nobody waits for the answer
	Request any           // of StepSend: a pointer to a request of kvapi
	Pause   time.Duration // of StepSend and StepLocate
	// Undecided, of a resolver's StepLocate: the transaction is not decided yet. Otherwise regions have moved, or there was no answer.
	Undecided bool
	Lock      kvapi.LockInfo // of StepResolve
	Outcome   Outcome        // of StepDone
}

// phase is where a coordinator is.
type phase uint8

const (
	phasePrewrite phase = iota
	phaseStamp          // two phases: fetching the commit timestamp
	phaseCheck          // two phases: checking what was read
	phasePrimary        // two phases: committing the primary
	phaseRefute         // one phase and async: making a failure final (C5)
	phaseCommit         // the client knows; committing what is left
	phaseRollback       // the client knows; removing locks
	phaseEnd
)

// batch is a part of a transaction that lies in one region.
type batch struct {
	id        uint32
	region    kvapi.Region
	mutations []kvapi.Mutation // ascending
	checks    []kvapi.Check
	prewrite  kvapi.PrewriteRequest // made once
	request   any                   // in flight, or nil
	sends     int                   // how often it was sent
	locked    bool
	checked   bool
	finished  bool // committed or rolled back
}

// holds reports whether the batch writes the key.
func (b *batch) holds(key []byte) bool {
	_, found := slices.BinarySearchFunc(b.mutations, key, func(m kvapi.Mutation, key []byte) int { return bytes.Compare(m.Key, key) })
	return found
}

// group sorts mutations and checks by region.
func (c *Coordinator) group(regions []*kvapi.Region, mutations []kvapi.Mutation, checks []kvapi.Check) (out []*batch) {
	at := func(r *kvapi.Region) *batch {
		for _, b := range out {
			if b.region.ID == r.ID {
				return b
			}
		}
		c.lastID++
		b := &c.first.batch
		if c.lastID > 1 {
			b = new(batch)
		} else {
			out = c.first.list[:0]
		}
		b.id, b.region = c.lastID, *r
		out = append(out, b)
		return b
	}
	for len(mutations) > 0 {
		r := regions[find(regions, mutations[0].Key)]
		n := 1
		for n < len(mutations) && r.Contains(mutations[n].Key) {
			n++
		}
		at(r).mutations = mutations[:n:n]
		mutations = mutations[n:]
	}
	for _, k := range checks {
		for i := find(regions, k.Span.Start); i < len(regions); i++ {
			part := k
			if !k.Span.IsPoint() {
				part.Span = within(k.Span, regions[i])
			}
			if part.Span.Empty() {
				break
			}
			b := at(regions[i])
			b.checks = append(b.checks, part)
			if k.Span.IsPoint() {
				break
			}
		}
	}
	return out
}

// find returns the position of the region that holds key.
func find(regions []*kvapi.Region, key []byte) int {
	i, found := slices.BinarySearchFunc(regions, key, func(r *kvapi.Region, key []byte) int { return bytes.Compare(r.Start, key) })
	if !found {
		i--
	}
	return i
}

// within returns the part of a span that lies in a region.
func within(s kvapi.Span, r *kvapi.Region) kvapi.Span {
	if bytes.Compare(s.Start, r.Start) < 0 {
		s.Start = r.Start
	}
	if len(r.End) > 0 && (len(s.End) == 0 || bytes.Compare(r.End, s.End) < 0) {
		s.End = r.End
	}
	return s
}

// split splits batches that are too large for one request. Checks stay with the last part.
func (c *Coordinator) split(batches []*batch) (out []*batch) {
	for _, b := range batches {
		for {
			size, n := 0, 0
			for n < len(b.mutations) && (n == 0 || size+len(b.mutations[n].Key)+len(b.mutations[n].Value) <= c.plan.Limits.RequestBytes) {
				size += len(b.mutations[n].Key) + len(b.mutations[n].Value)
				n++
			}
			if n == len(b.mutations) {
				break
			}
			c.lastID++
			out = append(out, &batch{id: c.lastID, region: b.region, mutations: b.mutations[:n:n]})
			b.mutations = b.mutations[n:]
		}
		out = append(out, b)
	}
	return out
}
