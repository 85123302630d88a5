package kv

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn/commit"
)

// commit makes a transaction durable by the cheapest path that is safe. It returns once the outcome is known; what is left to do then is
// done by a goroutine of its own.
func (t *router) commit(o *Owner, r *kvapi.CommitRequest) (clock.Timestamp, error) {
	if err := t.peer.AwaitRanges(o, r); err != nil {
		return 0, err
	}
	if len(r.Mutations) == 0 {
		if err := t.raise(r.Counters); err != nil {
			return 0, err
		}
		t.peer.ReleaseLocks(o)
		return t.peer.ClusterTimestamp()
	}
	// The name of the transaction is a registered timestamp: garbage collection, behind which transactions of before are refused, waits for it.
	sn := t.snapshot()
	defer t.forget(sn)
	start := sn.TS()
	node, epoch := t.peer.Identity()
	checks, asOf := t.peer.Relied(o, r.Mutations)
	plan := commit.Plan{Start: start, Mutations: r.Mutations, Checks: checks, Counters: r.Counters, AsOf: asOf,
		OnePhase: !r.NoOnePhase, Async: !r.NoAsync, Patience: readPatience, Own: cloned, Node: node, NodeEpoch: epoch, Limits: &t.peer.Limits().Commit}
	cache := t.c.regions.Load()
	d := drivers.Get().(*driver)
	d.t = t
	d.co.Reset(plan)
	outcome := d.run(start, d.co.Begin(cache.sorted))
	d.release()
	t.peer.ReleaseLocks(o)
	switch {
	case outcome.Err == nil:
		t.stats.Paths[outcome.Path].Inc()
		if len(plan.Checks) > 0 {
			t.stats.Checked.Inc()
		}
		return outcome.Commit, nil
	case errors.Is(outcome.Err, kvapi.ErrUndetermined):
		t.stats.Undetermined.Inc()
	}
	return 0, t.refusal(outcome.Err)
}

// refusal says by an error of transactions why a commit was refused.
func (t *router) refusal(err error) error {
	var conflict *kvapi.ConflictError
	switch {
	case errors.As(err, &conflict), errors.Is(err, kvapi.ErrRolledBack):
		// The locks that kept others away were lost with their leader, or others did not ask for them.
		t.stats.Conflicts.Inc()
		return fmt.Errorf("%w: %w", kvapi.ErrDeadlock, err)
	case errors.Is(err, kvapi.ErrNoReply):
		return fmt.Errorf("%w: %w", kvapi.ErrClosed, err)
	}
	return err
}

// raise lifts counters on their own.
func (t *router) raise(counters []kvapi.CounterRaise) error {
	for _, c := range counters {
		if _, err := t.allocCounter(&kvapi.CounterAllocRequest{Key: c.Key, Least: c.Value}); err != nil {
			return err
		}
	}
	return nil
}

// cloned copies mutations with their keys and values.
func cloned(mutations []kvapi.Mutation) []kvapi.Mutation {
	size := 0
	for i := range mutations {
		size += len(mutations[i].Key) + len(mutations[i].Value)
	}
	arena := make([]byte, 0, size)
	keep := func(b []byte) []byte {
		at := len(arena)
		arena = append(arena, b...)
		return arena[at:len(arena):len(arena)]
	}
	out := make([]kvapi.Mutation, len(mutations))
	for i, m := range mutations {
		m.Key, m.Value = keep(m.Key), keep(m.Value)
		out[i] = m
	}
	return out
}

// eventsMax is how many answers may wait until their driver takes them; further goroutines wait.
const eventsMax = 16

// driver does what a coordinator asks for. Of the requests that are under way at a time, one is made on the driver's goroutine.
type driver struct {
	t       *router
	co      commit.Coordinator
	events  chan answer // of requests on goroutines of their own; nil before there was one
	flying  int         // their number
	outcome commit.Outcome
	known   bool
	ready   []answer      // answers that are there
	rest    []commit.Step // to be done once the client knows that it has committed
	left    bool          // another goroutine does the rest
}

// answer is what a step has come to.
type answer struct {
	step   commit.Step
	result any
	ts     clock.Timestamp
	took   time.Duration
	err    error
}

var drivers = sync.Pool{New: func() any { return new(driver) }}

// release puts a driver aside for the next commit, if nobody has anything of it any more: a commit of one request, as most are.
func (d *driver) release() {
	if d.left || d.events != nil || !d.co.Ended() {
		return
	}
	d.co.Reset(commit.Plan{})
	clear(d.ready[:cap(d.ready)])
	d.t, d.ready, d.rest, d.outcome, d.known = nil, d.ready[:0], nil, commit.Outcome{}, false
	drivers.Put(d)
}

// enough reports whether the client may be told.
func (d *driver) enough() bool { return d.known && (d.co.Ended() || d.outcome.Err == nil) }

// run drives until the outcome is known, and leaves what follows to a goroutine.
func (d *driver) run(start clock.Timestamp, steps []commit.Step) commit.Outcome {
	d.drive(steps, d.enough)
	if d.co.Ended() {
		return d.outcome
	}
	outcome, rest := d.outcome, d.rest
	d.rest = nil
	select {
	case d.t.cleaners <- struct{}{}:
		finished := d.t.finish(start)
		d.left = true
		go func() {
			if f := d.t.beforeFinish; f != nil {
				f()
			}
			d.drive(rest, d.co.Ended)
			finished()
			<-d.t.cleaners
		}()
	default:
		d.drive(rest, d.co.Ended)
	}
	return outcome
}

// finish notes that a commit is acknowledged, before its client knows, and is finished when what it returns is called.
func (t *router) finish(start clock.Timestamp) (finished func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := make(chan struct{})
	t.finishing[start] = done
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.finishing, start)
		close(done)
	}
}

// awaitFinish returns once a commit that is acknowledged is finished. It returns false at once for any other transaction.
func (t *router) awaitFinish(start clock.Timestamp, i *kvapi.Interrupt) (was bool, err error) {
	t.mu.Lock()
	done := t.finishing[start]
	t.mu.Unlock()
	if done == nil {
		return false, nil
	}
	late := clock.NewTimer(readPatience)
	defer late.Stop()
	select {
	case <-done:
		return true, nil
	case <-i.Done():
		return true, kvapi.ErrInterrupted
	case <-late.C:
		return true, kvapi.ErrLockTimeout
	}
}

// drive does steps, and what comes of them, until enough is so and no request of a refused commit is under way.
func (d *driver) drive(steps []commit.Step, enough func() bool) {
	var beat <-chan time.Time
	for {
		d.do(steps)
		steps = nil
		if enough() && (d.flying == 0 || d.outcome.Err == nil) {
			return
		}
		switch {
		case len(d.ready) > 0:
			next := d.ready[0]
			d.ready = slices.Delete(d.ready, 0, 1)
			steps = d.tell(&next)
		case d.flying > 0:
			if beat == nil {
				beat = clock.After(heartbeatInterval)
			}
			select {
			case next := <-d.events:
				d.flying--
				steps = d.tell(&next)
			case <-beat:
				beat = nil
				if now, err := d.t.peer.ClusterTimestamp(); err == nil {
					steps = d.co.Heartbeat(now)
				}
			}
		default:
			return // nothing is under way, so nothing will come
		}
	}
}

// do makes requests: the last of several on this goroutine.
func (d *driver) do(steps []commit.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Kind == commit.StepDone {
			d.outcome, d.known = s.Outcome, true
			if s.Outcome.Err == nil {
				d.rest = steps[i+1:]
				return
			}
			continue
		}
		if i == len(steps)-1 {
			d.ready = append(d.ready, answer{step: *s})
			d.make(&d.ready[len(d.ready)-1])
			continue
		}
		d.fly(*s)
	}
}

// fly makes a request on a goroutine of its own.
func (d *driver) fly(s commit.Step) {
	if d.events == nil {
		d.events = make(chan answer, eventsMax)
	}
	d.flying++
	go func() {
		a := answer{step: s}
		d.make(&a)
		d.events <- a
	}()
}

// make does one step.
func (d *driver) make(a *answer) {
	s := &a.step
	clock.Sleep(s.Pause)
	switch s.Kind {
	case commit.StepSend:
		a.result, a.err = d.t.peer.Do(s.Request)
		if d.t.deposed(a.err) {
			a.err = commit.ErrNobody
		}
	case commit.StepTimestamp:
		a.ts, a.err = d.t.peer.ClusterTimestamp()
	case commit.StepLocate:
		d.t.c.refresh()
	case commit.StepResolve:
		began := clock.Mono()
		a.err = d.t.resolve(s.Lock, readPatience, nil)
		a.took = clock.Since(began)
	default: // StepCounters
		a.err = d.t.raise(d.co.Counters())
	}
}

// tell tells the coordinator of an answer.
func (d *driver) tell(a *answer) []commit.Step {
	switch a.step.Kind {
	case commit.StepSend:
		return d.co.Answer(a.step.ID, a.result, a.err)
	case commit.StepTimestamp:
		return d.co.Timestamp(a.ts, a.err)
	case commit.StepLocate:
		return d.co.Located(d.t.c.regions.Load().sorted)
	case commit.StepResolve:
		return d.co.Resolved(a.step.ID, a.took, a.err)
	}
	return d.co.Counted(a.err)
}

// errDeposed is the error of who asks a store that is not the gateway any more.
var errDeposed = fmt.Errorf("kv: %w: this node is not the gateway any more", kvapi.ErrUnavailable)

// deposed reports whether an error asks for fresh regions of a store that is not the gateway any more. It was asked for half a minute by who commits, and as long the
// node could not be the gateway again.
func (t *router) deposed(err error) bool {
	var epoch *kvapi.EpochError
	return err != nil && errors.As(err, &epoch) && t.peer.SteppedDown()
}

// resolve finds out what became of a lock's transaction, and returns once the lock is gone. kvapi.ErrLockTimeout says that it stays undecided.
func (t *router) resolve(lock kvapi.LockInfo, patience time.Duration, i *kvapi.Interrupt) error {
	if was, err := t.awaitFinish(lock.Start, i); was {
		return err
	}
	began := clock.Mono()
	now, err := t.peer.ClusterTimestamp()
	if err != nil {
		return err
	}
	r := commit.NewResolver(lock, t.alive)
	steps := r.Begin(t.c.regions.Load().sorted, now)
	var answers []func() []commit.Step
	for {
		for _, s := range steps {
			switch s.Kind {
			case commit.StepDone:
				t.stats.Resolved.Inc()
				return s.Outcome.Err
			case commit.StepSend:
				result, err := t.peer.Do(s.Request)
				if t.deposed(err) {
					return errDeposed
				}
				answers = append(answers, func() []commit.Step { return r.Answer(s.ID, result, err) })
			case commit.StepLocate:
				limit := patience
				if !s.Undecided {
					limit = max(patience, readPatience)
				}
				if clock.Since(began) >= limit {
					return kvapi.ErrLockTimeout
				}
				if err := i.Err(); err != nil {
					return err
				}
				clock.Sleep(s.Pause)
				t.c.refresh()
				answers = append(answers, func() []commit.Step { return r.Located(t.c.regions.Load().sorted) })
			case commit.StepTimestamp:
				now, err := t.peer.ClusterTimestamp()
				answers = append(answers, func() []commit.Step { return r.Timestamp(now, err) })
			}
		}
		if len(answers) == 0 {
			return fmt.Errorf("kv: a resolver of transaction %s does nothing", lock.Start)
		}
		steps = answers[0]()
		answers = answers[1:]
	}
}
