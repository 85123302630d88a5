package commit

import (
	"errors"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// Bounds of a coordinator.
const (
	// sendsMax is how often an unanswered request is sent, and movesMax how often regions may change during a commit.
	sendsMax = 8
	movesMax = 64
	// pauseMin and pauseMax are the first and the longest pause before a request is repeated.
	pauseMin = 2 * time.Millisecond
	pauseMax = 500 * time.Millisecond
	// ttlMillis is how long a transaction counts as alive without a heartbeat, and ttlMillisMax how long at most with heartbeats.
	ttlMillis    = 3_000
	ttlMillisMax = 3_600_000
)

// Plan is what a transaction wants to commit. It is not changed.
type Plan struct {
	// Start is a timestamp that no other transaction has.
	Start clock.Timestamp
	// Mutations are in strictly ascending key order, and at least one. The first is the primary.
	Mutations []kvapi.Mutation
	Checks    []kvapi.Check
	Counters  []kvapi.CounterRaise
	// OnePhase and Async allow these paths.
	OnePhase, Async bool
	// MaxCommit bounds the commit timestamp; zero for no bound.
	MaxCommit clock.Timestamp
	// Patience bounds the waits for the locks of other transactions, in all.
	Patience time.Duration
	// Node and NodeEpoch say where the coordinator runs.
	Node, NodeEpoch uint64
	// AsOf is that of PrewriteRequest.
	AsOf uint64
	// Own, which may be nil, returns a deep copy of the mutations. It is called before a commit of several phases, which goes on after
	// StepDone, when the client may reuse its memory.
	Own func([]kvapi.Mutation) []kvapi.Mutation
	// Limits, which may be nil, are the coordinator's; none of them is zero.
	Limits *Limits
}

// Coordinator commits one transaction. Its methods are called one at a time and return what is to be done next; each step but StepDone is
// answered once, in any order. After StepDone it may be dropped at any time: transactions that find its locks resolve them.
type Coordinator struct {
	plan    Plan
	path    Path
	phase   phase
	batches []*batch
	lastID  uint32
	// multi: a prewrite of several phases was sent, so that the path must not become OnePhase any more.
	multi bool
	// unanswered: some request was not answered, so that it may or may not have had an effect.
	unanswered bool
	// oneLost: so was one on the path OnePhase, which may have committed.
	oneLost  bool
	counted  bool // the counters are raised, or being raised
	moves    int
	waited   time.Duration
	ttl      uint64
	least    clock.Timestamp
	commit   clock.Timestamp // the commit timestamp, zero until it is known
	failure  error
	done     bool
	locating bool
	moved    []*batch // to be sent again once the regions are known

	// Memory for a commit in one region, so that it allocates no more.
	first struct {
		batch       batch
		list        [1]*batch
		begin, done [1]Step
	}
}

// New returns a coordinator.
func New(plan Plan) *Coordinator {
	c := new(Coordinator)
	c.Reset(plan)
	return c
}

// Reset reuses a coordinator for another plan; with an empty plan it only drops references. No step of the earlier commit may be in use any more.
func (c *Coordinator) Reset(plan Plan) {
	if plan.Limits == nil {
		plan.Limits = &defaultLimits
	}
	*c = Coordinator{plan: plan, ttl: ttlMillis}
}

func (c *Coordinator) primary() []byte { return c.plan.Mutations[0].Key }

// Counters returns what StepCounters asks to be raised.
func (c *Coordinator) Counters() []kvapi.CounterRaise { return c.plan.Counters }

// Ended reports whether nothing is left to do.
func (c *Coordinator) Ended() bool { return c.phase == phaseEnd }

// Begin makes the first requests. regions cover the key space, in key order.
func (c *Coordinator) Begin(regions []*kvapi.Region) []Step {
	assert.That(len(c.plan.Mutations) > 0 && c.plan.Start != 0, "commit: a commit has a name and something to write")
	c.route(regions)
	return c.prewrite(c.first.begin[:0], c.batches)
}

// route groups what there is to do by region, and picks the path.
func (c *Coordinator) route(regions []*kvapi.Region) {
	c.batches = c.group(regions, c.plan.Mutations, c.plan.Checks)
	keyBytes, size, largest := 0, 0, 0
	for i := range c.plan.Mutations {
		m := &c.plan.Mutations[i]
		keyBytes += len(m.Key)
		size += len(m.Value)
		largest = max(largest, len(m.Key)+len(m.Value))
	}
	one := len(c.batches) == 1 && keyBytes+size-largest <= c.plan.Limits.OnePhaseBytes
	for i := range c.plan.Counters {
		one = one && c.batches[0].region.Contains(c.plan.Counters[i].Key)
	}
	if c.plan.OnePhase && one && !c.multi {
		c.path = OnePhase
		return
	}
	if c.plan.Own != nil {
		c.plan.Mutations, c.plan.Own = c.plan.Own(c.plan.Mutations), nil
		c.batches = c.group(regions, c.plan.Mutations, c.plan.Checks)
	}
	switch {
	case c.plan.Async && len(c.plan.Checks) == 0 && len(c.plan.Mutations) <= c.plan.Limits.AsyncKeys && keyBytes <= c.plan.Limits.AsyncKeyBytes:
		c.path = Async
	default:
		c.path = TwoPhase
	}
	c.batches = c.split(c.batches)
}

// prewrite sends the prewrites of batches.
func (c *Coordinator) prewrite(out []Step, batches []*batch) []Step {
	if c.path != OnePhase {
		c.multi = true
		if len(c.plan.Counters) > 0 && !c.counted {
			c.counted = true
			return append(out, Step{Kind: StepCounters})
		}
	}
	for _, b := range batches {
		if len(b.mutations) == 0 {
			b.locked = true
			continue
		}
		r := &b.prewrite
		*r = kvapi.PrewriteRequest{Region: b.region.Ref(), Start: c.plan.Start, Primary: c.primary(), Mutations: b.mutations,
			OnePhase: c.path == OnePhase, Async: c.path == Async, MaxCommit: c.plan.MaxCommit, AsOf: c.plan.AsOf,
			Coordinator: kvapi.Coordinator{TTL: c.ttl, Node: c.plan.Node, NodeEpoch: c.plan.NodeEpoch}}
		if c.path == OnePhase {
			r.Checks, r.Counters = b.checks, c.plan.Counters
		}
		if c.path == Async && b.holds(c.primary()) {
			for i := range c.plan.Mutations[1:] {
				r.Secondaries = append(r.Secondaries, c.plan.Mutations[1+i].Key)
			}
		}
		out = c.send(out, b, r)
	}
	return out
}

// Counted takes the answer to StepCounters.
func (c *Coordinator) Counted(err error) []Step {
	if err != nil { // nothing was sent yet
		c.phase = phaseEnd
		return c.report(nil, err)
	}
	return c.prewrite(nil, c.batches)
}

// send sends a batch's request.
func (c *Coordinator) send(out []Step, b *batch, r any) []Step {
	b.request = r
	b.sends++
	return append(out, Step{Kind: StepSend, ID: b.id, Request: r, Pause: pause(b.sends - 1)})
}

// pause is how long the n-th repetition waits.
func pause(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return min(pauseMin<<min(n, 16), pauseMax)
}

// pending returns the batch whose request has this id and is in flight, nil if there is none.
func (c *Coordinator) pending(id uint32) *batch {
	for _, b := range c.batches {
		if b.id == id && b.request != nil {
			return b
		}
	}
	return nil
}

// Answer takes the answer to StepSend: the result of the request as a value of kvapi, or an error.
func (c *Coordinator) Answer(id uint32, result any, err error) []Step {
	b := c.pending(id)
	if b == nil || c.phase == phaseEnd {
		return nil // the answer to a heartbeat, or a late one
	}
	if err == nil {
		return c.answered(b, result, nil)
	}
	var epoch *kvapi.EpochError
	var locked *kvapi.LockedError
	switch {
	case errors.Is(err, ErrNobody):
		err = kvapi.ErrNoReply
	case errors.Is(err, kvapi.ErrNoReply):
		c.unanswered = true
		c.oneLost = c.oneLost || c.path == OnePhase
		if b.sends < sendsMax {
			return c.send(nil, b, b.request)
		}
	case errors.As(err, &epoch):
		if c.moves++; c.moves > movesMax {
			err = kvapi.ErrNoReply // no leader is found
			break
		}
		c.moved = append(c.moved, b)
		if c.locating {
			return nil
		}
		c.locating = true
		return []Step{{Kind: StepLocate, Pause: pause(c.moves - 1)}}
	case errors.As(err, &locked) && c.phase == phasePrewrite:
		return []Step{{Kind: StepResolve, ID: b.id, Lock: locked.Lock}}
	}
	return c.answered(b, result, err)
}

// answered takes the final answer of a batch's request, or the error after which it is not repeated.
func (c *Coordinator) answered(b *batch, result any, err error) []Step {
	request := b.request
	b.request, b.sends = nil, 0
	switch c.phase {
	case phasePrewrite:
		res, _ := result.(kvapi.PrewriteResult)
		return c.prewritten(b, res, err)
	case phaseCheck:
		if err != nil {
			return c.fail(conflict(err))
		}
		b.checked = true
		return c.proceed()
	case phasePrimary:
		return c.primaryFinished(err)
	case phaseRefute:
		return c.refuted(b, request, result, err)
	}
	if _, last := request.(*kvapi.FinishRequest); last {
		b.finished = true // also if it failed: transactions that find the locks resolve them
	}
	return c.clean(nil)
}

// conflict turns the LockedError of a check into a ConflictError: the lock's owner may commit below this transaction's timestamp.
func conflict(err error) error {
	var locked *kvapi.LockedError
	if errors.As(err, &locked) {
		return &kvapi.ConflictError{Key: locked.Lock.Key}
	}
	return err
}

// Resolved takes the answer to StepResolve: the lock is gone, or err says why not. took is how long that has lasted.
func (c *Coordinator) Resolved(id uint32, took time.Duration, err error) []Step {
	b := c.pending(id)
	if b == nil {
		return nil
	}
	c.waited += took
	if err == nil && c.waited > c.plan.Patience {
		err = kvapi.ErrLockTimeout
	}
	switch {
	case c.phase != phasePrewrite:
		return c.answered(b, nil, kvapi.ErrLockTimeout)
	case err != nil:
		return c.answered(b, nil, err)
	}
	b.sends = 0
	return c.send(nil, b, b.request)
}

// Located takes the answer to StepLocate.
func (c *Coordinator) Located(regions []*kvapi.Region) []Step {
	moved := c.moved
	c.moved, c.locating = nil, false
	if c.path == OnePhase && c.phase == phasePrewrite {
		// All of it is planned again: the refused request has had no effect, and an unanswered one before it is recognised by its versions (C6).
		c.route(regions)
		return c.prewrite(nil, c.batches)
	}
	var out []Step
	for _, b := range moved {
		request := b.request
		b.request = nil
		parts := c.split(c.group(regions, b.mutations, b.checks))
		for _, p := range parts {
			p.locked, p.checked, p.finished = b.locked, b.checked, b.finished
		}
		c.batches = append(slices.DeleteFunc(c.batches, func(x *batch) bool { return x == b }), parts...)
		switch request.(type) {
		case *kvapi.PrewriteRequest:
			if c.phase == phasePrewrite {
				out = c.prewrite(out, parts)
			}
		case *kvapi.CheckRequest:
			if c.phase == phaseCheck {
				out = c.check(out, parts)
			}
		case *kvapi.FinishRequest:
			if c.phase == phasePrimary {
				out = c.finishPrimary(out)
			}
		}
	}
	switch c.phase {
	case phaseRefute:
		return c.refute(out)
	case phaseCommit, phaseRollback:
		return c.clean(out)
	}
	return out
}

// prewritten takes the result of a prewrite.
func (c *Coordinator) prewritten(b *batch, res kvapi.PrewriteResult, err error) []Step {
	switch {
	case err != nil:
		return c.fail(err)
	case res.Commit != 0:
		// Committed in one phase, by this request or an earlier one that was not answered.
		return c.decided(res.Commit)
	}
	b.locked = true
	c.least = max(c.least, res.Least)
	return c.proceed()
}

// proceed goes on to the next phase once all requests of the present one are answered.
func (c *Coordinator) proceed() []Step {
	for _, b := range c.batches {
		switch c.phase {
		case phasePrewrite, phaseRefute:
			if !b.locked {
				return nil
			}
		case phaseCheck:
			if !b.checked && len(b.checks) > 0 {
				return nil
			}
		}
	}
	switch {
	case c.phase == phaseCheck:
		return c.finishPrimary(nil)
	case c.path == Async:
		// In phaseRefute that means that an unanswered prewrite has locked the keys after all: the transaction is committed, whatever was refused.
		return c.decided(c.least)
	}
	c.phase = phaseStamp
	return []Step{{Kind: StepTimestamp}}
}

// Timestamp takes the answer to StepTimestamp.
func (c *Coordinator) Timestamp(ts clock.Timestamp, err error) []Step {
	switch {
	case c.phase != phaseStamp:
		return nil
	case err != nil:
		return c.fail(err)
	case c.plan.MaxCommit != 0 && ts > c.plan.MaxCommit:
		return c.fail(kvapi.ErrMaxCommit)
	}
	assert.That(ts > c.least, "commit: a timestamp that is fetched after the locks is above theirs (C3)")
	c.commit = ts
	if len(c.plan.Checks) == 0 {
		return c.finishPrimary(nil)
	}
	c.phase = phaseCheck
	return c.check(nil, c.batches)
}

func (c *Coordinator) check(out []Step, batches []*batch) []Step {
	for _, b := range batches {
		if len(b.checks) > 0 && !b.checked {
			out = c.send(out, b, &kvapi.CheckRequest{Region: b.region.Ref(), Start: c.plan.Start, At: c.commit, Checks: b.checks})
		}
	}
	return out
}

// finishPrimary commits the primary of a two-phase commit, by which the transaction is committed.
func (c *Coordinator) finishPrimary(out []Step) []Step {
	c.phase = phasePrimary
	at := slices.IndexFunc(c.batches, func(b *batch) bool { return b.holds(c.primary()) })
	b := c.batches[at]
	return c.send(out, b, &kvapi.FinishRequest{Region: b.region.Ref(), Start: c.plan.Start, Primary: c.primary(),
		Keys: [][]byte{c.primary()}, Commit: c.commit})
}

// primaryFinished takes the answer to the commit of the primary.
func (c *Coordinator) primaryFinished(err error) []Step {
	switch {
	case err == nil:
		return c.decided(c.commit)
	case errors.Is(err, kvapi.ErrRolledBack), errors.Is(err, kvapi.ErrDiskFull) && !c.unanswered:
		return c.fail(err)
	}
	return c.undetermined()
}

// decided reports to the client that the transaction is committed, and finishes the remaining locks.
func (c *Coordinator) decided(commit clock.Timestamp) []Step {
	c.phase, c.commit, c.failure = phaseCommit, commit, nil
	out := c.report(nil, nil)
	if c.path == OnePhase {
		c.phase = phaseEnd
		return out
	}
	return c.clean(out)
}

// fail gives up: it rolls back first what decides (C4), and reports the failure to the client once that is final (C5).
func (c *Coordinator) fail(err error) []Step {
	c.failure = err
	switch {
	case errors.Is(err, kvapi.ErrRolledBack):
		return c.refused()
	case c.path == TwoPhase && !(c.oneLost && c.phase == phasePrewrite):
		// Only this coordinator commits the primary. (The condition: before the regions changed a request may have been sent on the path OnePhase.)
		return c.refused()
	case errors.Is(err, kvapi.ErrNoReply), errors.Is(err, kvapi.ErrUndetermined), errors.Is(err, kvapi.ErrSnapshotTooOld) && c.unanswered:
		return c.undetermined()
	}
	c.phase = phaseRefute
	return c.refute(nil)
}

// refute asks for rollback markers where there is no lock yet, so that a prewrite still in flight cannot complete the commit: one marker is enough.
func (c *Coordinator) refute(out []Step) []Step {
	for _, b := range c.batches {
		if b.locked || b.request != nil { // the answer of a request in flight goes to refuted
			continue
		}
		r := &kvapi.SecondariesRequest{Region: b.region.Ref(), Start: c.plan.Start}
		for i := range b.mutations {
			r.Keys = append(r.Keys, b.mutations[i].Key)
			if c.path == OnePhase {
				break // the request is one entry, so a single marker refuses all of it
			}
		}
		out = c.send(out, b, r)
	}
	return out
}

// refuted takes an answer while a failure is being made final.
func (c *Coordinator) refuted(b *batch, request, result any, err error) []Step {
	var commit, least clock.Timestamp
	switch res := result.(type) {
	case kvapi.Secondaries:
		if err == nil && res.RolledBack {
			return c.refused()
		}
		commit, least = res.Commit, res.Least
	case kvapi.PrewriteResult: // of a request that was in flight
		commit, least = res.Commit, res.Least
	}
	_, prewrite := request.(*kvapi.PrewriteRequest)
	unknown := errors.Is(err, kvapi.ErrNoReply) || errors.Is(err, kvapi.ErrUndetermined)
	switch {
	case errors.Is(err, kvapi.ErrRolledBack):
		return c.refused()
	case err != nil && prewrite && !unknown:
		return c.refute(nil)
	case errors.Is(err, kvapi.ErrDiskFull) && !c.unanswered:
		return c.refused() // nothing was written, and nothing is in flight
	case err != nil:
		return c.undetermined()
	case commit != 0:
		return c.decided(commit)
	}
	b.locked = true
	c.least = max(c.least, least)
	return c.proceed()
}

// refused reports the failure to the client, and removes the locks.
func (c *Coordinator) refused() []Step {
	c.phase, c.commit = phaseRollback, 0
	out := c.report(nil, c.failure)
	if c.path == OnePhase {
		c.phase = phaseEnd
		return out
	}
	return c.clean(out)
}

// undetermined ends a commit whose outcome is unknown.
func (c *Coordinator) undetermined() []Step {
	c.phase = phaseEnd
	return c.report(nil, kvapi.ErrUndetermined)
}

// clean sends requests that finish the locks of batches. A two-phase commit rolls its primary back before anything else (C4).
func (c *Coordinator) clean(out []Step) []Step {
	waits := false
	if c.phase == phaseRollback && c.path == TwoPhase {
		waits = slices.ContainsFunc(c.batches, func(b *batch) bool { return b.holds(c.primary()) && !b.finished })
	}
	left := false
	for _, b := range c.batches {
		b.finished = b.finished || len(b.mutations) == 0
		left = left || !b.finished
		if b.finished || b.request != nil || waits && !b.holds(c.primary()) {
			continue
		}
		r := &kvapi.FinishRequest{Region: b.region.Ref(), Start: c.plan.Start, Primary: c.primary(), Commit: c.commit}
		for i := range b.mutations {
			r.Keys = append(r.Keys, b.mutations[i].Key)
		}
		out = c.send(out, b, r)
	}
	if !left {
		c.phase = phaseEnd
	}
	return out
}

func (c *Coordinator) report(out []Step, err error) []Step {
	assert.That(!c.done, "commit: a client is told once")
	c.done = true
	o := Outcome{Err: err, Path: c.path}
	if err == nil {
		o.Commit = c.commit
	}
	if out == nil {
		out = c.first.done[:0]
	}
	return append(out, Step{Kind: StepDone, Outcome: o})
}

// Heartbeat is called now and then, with the present time as a timestamp. It extends the life of the primary's lock if necessary; its request
// need not be answered.
func (c *Coordinator) Heartbeat(now clock.Timestamp) []Step {
	age := uint64(max(0, now.PhysicalMillis()-c.plan.Start.PhysicalMillis()))
	if c.path == OnePhase || c.done || age < c.ttl/2 || c.ttl >= ttlMillisMax {
		return nil
	}
	at := slices.IndexFunc(c.batches, func(b *batch) bool { return b.locked && b.holds(c.primary()) })
	if at < 0 {
		return nil
	}
	c.ttl = min(age+ttlMillis, ttlMillisMax)
	return []Step{{Kind: StepSend, Request: &kvapi.HeartbeatRequest{Region: c.batches[at].region.Ref(), Start: c.plan.Start,
		Primary: c.primary(), TTL: c.ttl}}}
}
