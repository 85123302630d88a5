package kv

import (
	"errors"
	"fmt"
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
		OnePhase: !r.NoOnePhase, Async: !r.NoAsync, Patience: readPatience, Own: cloned, Node: node, NodeEpoch: epoch}
	cache := t.c.regions.Load()
	d := &driver{t: t, co: commit.New(plan), events: make(chan func() []commit.Step, 16)}
	outcome := d.run(start, d.co.Begin(cache.sorted))
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

// driver does what a coordinator asks for. Of the requests that are under way at a time, one is made on the driver's goroutine.
type driver struct {
	t       *router
	co      *commit.Coordinator
	events  chan func() []commit.Step
	flying  int // requests on goroutines of their own
	outcome commit.Outcome
	known   bool
	ready   []func() []commit.Step // answers that are there
	rest    []commit.Step          // to be done once the client knows that it has committed
}

// run drives until the outcome is known, and leaves what follows to a goroutine.
func (d *driver) run(start clock.Timestamp, steps []commit.Step) commit.Outcome {
	d.drive(steps, func() bool { return d.known && (d.co.Ended() || d.outcome.Err == nil) })
	if d.co.Ended() {
		return d.outcome
	}
	rest := d.rest
	d.rest = nil
	select {
	case d.t.cleaners <- struct{}{}:
		finished := d.t.finish(start)
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
	return d.outcome
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
			d.ready = d.ready[1:]
			steps = next()
		case d.flying > 0:
			if beat == nil {
				beat = clock.After(heartbeatInterval)
			}
			select {
			case next := <-d.events:
				d.flying--
				steps = next()
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
	for i, s := range steps {
		if s.Kind == commit.StepDone {
			d.outcome, d.known = s.Outcome, true
			if s.Outcome.Err == nil {
				d.rest = steps[i+1:]
				return
			}
			continue
		}
		if i == len(steps)-1 {
			d.ready = append(d.ready, d.make(s))
			continue
		}
		d.flying++
		go func() { d.events <- d.make(s) }()
	}
}

// make does one step, and returns what tells the coordinator of its answer.
func (d *driver) make(s commit.Step) func() []commit.Step {
	clock.Sleep(s.Pause)
	switch s.Kind {
	case commit.StepSend:
		result, err := d.t.peer.Do(s.Request)
		return func() []commit.Step { return d.co.Answer(s.ID, result, err) }
	case commit.StepTimestamp:
		ts, err := d.t.peer.ClusterTimestamp()
		return func() []commit.Step { return d.co.Timestamp(ts, err) }
	case commit.StepLocate:
		d.t.c.refresh()
		return func() []commit.Step { return d.co.Located(d.t.c.regions.Load().sorted) }
	case commit.StepResolve:
		began := clock.Mono()
		err := d.t.resolve(s.Lock, readPatience, nil)
		return func() []commit.Step { return d.co.Resolved(s.ID, clock.Since(began), err) }
	}
	err := d.t.raise(d.co.Counters()) // StepCounters
	return func() []commit.Step { return d.co.Counted(err) }
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
