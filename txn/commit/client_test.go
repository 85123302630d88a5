package commit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/kvapi"
)

// call sends a request over a network that loses, repeats and delays, and answers once: by a reply, or by a time that has passed.
func (w *world) call(request any, done func(result any, err error)) {
	answered := false
	answer := func(result any, err error) {
		if !answered {
			answered = true
			done(result, err)
		}
	}
	copies := 1
	switch {
	case w.chance(4):
		copies = 0
	case w.chance(6):
		copies = 2
	}
	for range copies {
		w.later(func() {
			w.submit(request, func(result any, err error) {
				if !w.chance(4) {
					w.later(func() { answer(result, err) })
				}
			})
		})
	}
	var timeout func()
	timeout = func() {
		switch {
		case answered:
		case w.chance(4):
			answer(nil, kvapi.ErrNoReply)
		default:
			w.later(timeout)
		}
	}
	w.later(timeout)
}

func (w *world) located() (out []*kvapi.Region) {
	for _, r := range w.regions {
		copied := r.Region
		out = append(out, &copied)
	}
	return out
}

// resolve runs a resolver until the lock is gone.
func (w *world) resolve(lock kvapi.LockInfo, done func(err error)) {
	r := NewResolver(lock, nil)
	var do func(steps []Step)
	do = func(steps []Step) {
		for _, s := range steps {
			switch s.Kind {
			case StepSend:
				w.later(func() { w.resolverCall(s, func(result any, err error) { do(r.Answer(s.ID, result, err)) }) })
			case StepLocate:
				w.later(func() { do(r.Located(w.located())) })
			case StepTimestamp:
				w.later(func() { do(r.Timestamp(w.oracle(), nil)) })
			case StepDone:
				done(s.Outcome.Err)
			}
		}
	}
	do(r.Begin(w.located(), w.oracle()))
}

func (w *world) resolverCall(s Step, done func(result any, err error)) {
	if q, is := s.Request.(*kvapi.SecondariesRequest); is && w.rules.fallLate {
		_, res, err := CheckSecondaries(simState{w: w}, q)
		done(res, err)
		return
	}
	w.call(s.Request, func(result any, err error) {
		if st, is := result.(kvapi.Status); is && st.State == kvapi.TxnOrphaned && w.rules.primaryAlone {
			result = kvapi.Status{State: kvapi.TxnCommitted, Commit: st.Least}
		}
		done(result, err)
	})
}

// read reads a key at a timestamp, zero for the latest version, by a reader's two halves: marks and locks, then the iterator.
func (w *world) read(key string, ts clock.Timestamp, done func(v simVersion)) {
	again := func() { w.later(func() { w.read(key, ts, done) }) }
	at, latest := ts, ts == 0
	if latest {
		at = w.last
	}
	region := func() *simRegion { return w.regions[find(w.located(), []byte(key))] }
	r := region()
	term, epoch := r.term, r.Epoch
	if len(r.inherited) > 0 && !w.rules.serveUnapplied {
		again()
		return
	}
	finish := func(v simVersion) {
		w.reads = append(w.reads, simRead{key: key, at: max(at, v.ts), seen: v.ts})
		done(v)
	}
	limit := at
	if latest {
		limit = clock.MaxTimestamp
	}
	if w.rules.readThenMarks {
		v := newest(w.versions[key], limit)
		var look func()
		look = func() {
			if !w.mustWait(key, at, latest, func() { w.later(look) }) {
				finish(v)
			}
		}
		w.later(look)
		return
	}
	if w.mustWait(key, at, latest, again) {
		return
	}
	w.later(func() {
		now := region()
		if now.term != term || now.Epoch != epoch || now.ID != r.ID {
			if old, is := w.deposed[key]; w.rules.serveDeposed && is {
				finish(newest(old, limit))
				return
			}
			w.read(key, ts, done)
			return
		}
		finish(newest(w.versions[key], limit))
	})
}

// mustWait reports whether a reader may not pass, and has again called when it may try.
func (w *world) mustWait(key string, at clock.Timestamp, latest bool, again func()) bool {
	if latest && w.rules.latestPasses {
		return false
	}
	if m, marked := w.marks[key]; marked && (latest || m.ts == 0 && !w.rules.passUnstamped || m.ts != 0 && m.ts <= at) {
		w.later(again)
		return true
	}
	if l := w.locks[key]; l != nil && (latest || l.Least <= at) {
		w.resolve(Describe([]byte(key), l), func(error) { w.later(again) })
		return true
	}
	return false
}

// client runs one transaction.
type client struct {
	w      *world
	id     int
	begin  int64
	writes []string
	reads  []string
	ts     clock.Timestamp
	asOf   uint64 // before the first read
	seen   map[string]simVersion
	ops    []check.Op
	plan   Plan
	told   bool
	ended  check.Txn
	commit clock.Timestamp
}

// start draws what the client does.
func (w *world) startClient(id int) {
	c := &client{w: w, id: id, seen: map[string]simVersion{}}
	w.clients = append(w.clients, c)
	w.later(func() {
		c.begin = w.step
		keys := w.rng.Perm(simKeys)[:1+w.rng.IntN(3)]
		kind := w.rng.IntN(10)
		if w.bank {
			keys, kind = w.rng.Perm(simKeys)[:2], 9
			if w.chance(40) {
				keys, kind = w.rng.Perm(simKeys), 1
			}
		}
		slices.Sort(keys)
		for i, k := range keys {
			if kind < 3 || kind < 6 && i%2 == 1 {
				c.reads = append(c.reads, simKey(k))
			} else {
				c.writes = append(c.writes, simKey(k))
			}
		}
		if kind == 0 {
			c.latest()
			return
		}
		c.ts = w.oracle()
		c.asOf = w.recorded
		c.readNext(append(slices.Clone(c.reads), c.writes...))
	})
}

// transfer is what a client of the bank writes.
func (c *client) transfer(i int, key string) []byte {
	balance, err := strconv.Atoi(c.seen[key].value)
	if err != nil {
		panic(err)
	}
	return []byte(strconv.Itoa(balance + 1 - 2*i))
}

// latest is a client that reads the latest version of keys, each on its own.
func (c *client) latest() {
	for _, key := range c.reads {
		c.w.read(key, 0, func(simVersion) {})
	}
}

func (c *client) readNext(keys []string) {
	if len(keys) == 0 {
		c.write()
		return
	}
	c.w.read(keys[0], c.ts, func(v simVersion) {
		c.seen[keys[0]] = v
		c.ops = append(c.ops, check.Op{Key: keys[0], Read: check.Numbers(v.value)})
		c.readNext(keys[1:])
	})
}

func (c *client) tell(o check.Outcome) {
	if !c.told {
		c.told = true
		c.ended = check.Txn{Ops: c.ops, Outcome: o, Begin: c.begin, End: c.w.step}
		c.w.history = append(c.w.history, c.ended)
	}
}

// write commits what the client appends to the lists it has read.
func (c *client) write() {
	w := c.w
	if len(c.writes) == 0 {
		c.tell(check.Committed)
		if w.bank {
			var balances []int
			for _, key := range c.reads {
				balances = append(balances, check.Numbers(c.seen[key].value)...)
			}
			w.sums = append(w.sums, balances)
		}
		return
	}
	c.plan = Plan{Start: w.oracle(), OnePhase: w.chance(80), Async: w.chance(70), Patience: time.Hour, Limits: &w.limits}
	if w.chance(30) {
		c.plan.Patience = 0
	}
	switch {
	case w.rules.momentLate:
		c.plan.AsOf = w.recorded
	case w.chance(80):
		c.plan.AsOf = c.asOf
	}
	for i, key := range c.writes {
		v := c.seen[key]
		m := kvapi.Mutation{Key: []byte(key), Value: []byte(strings.TrimSpace(v.value + " " + strconv.Itoa(c.id))), Expect: kvapi.ExpectNotAbove, Prev: v.ts}
		if w.bank {
			m.Value = c.transfer(i, key)
		}
		switch {
		case v.ts == 0 && w.chance(50):
			m.Expect = kvapi.ExpectAbsent
		case v.ts != 0 && w.chance(50):
			m.Expect = kvapi.ExpectVersion
		case w.chance(20):
			m.Expect, m.Prev = kvapi.ExpectNotAbove, c.ts
		}
		c.plan.Mutations = append(c.plan.Mutations, m)
		c.ops = append(c.ops, check.Op{Key: key, Append: c.id})
	}
	for _, key := range c.reads {
		k := kvapi.Check{Span: kvapi.Span{Start: []byte(key)}, Seen: c.seen[key].ts, Live: c.seen[key].ts != 0}
		if w.chance(30) {
			k = kvapi.Check{Span: kvapi.Span{Start: []byte(key), End: []byte(key + "\x00")}, Seen: c.ts}
		}
		c.plan.Checks = append(c.plan.Checks, k)
	}
	co := New(c.plan)
	c.drive(co)
}

// drive runs the coordinator, which may die at any moment. Its requests are then under way still.
func (c *client) drive(co *Coordinator) {
	w, dead := c.w, false
	var early error
	var do func(steps []Step)
	act := func(f func() []Step) {
		w.later(func() {
			if w.chance(1) && w.chance(50) {
				dead = true
				c.tell(check.Unknown)
			}
			if !dead {
				do(f())
			}
		})
	}
	do = func(steps []Step) {
		for _, s := range steps {
			switch s.Kind {
			case StepSend:
				if q, is := s.Request.(*kvapi.PrewriteRequest); is && w.rules.checkFirst && len(c.plan.Checks) > 0 && !q.OnePhase && early == nil {
					early = checks(simState{w: w}, c.plan.Checks, c.plan.Start, 0)
				}
				if _, is := s.Request.(*kvapi.CheckRequest); is && w.rules.checkFirst {
					act(func() []Step { return co.Answer(s.ID, nil, early) })
					continue
				}
				w.later(func() {
					w.call(s.Request, func(result any, err error) {
						var locked *kvapi.LockedError
						if w.rules.failEarly && c.plan.Patience == 0 && errors.As(err, &locked) {
							c.tell(check.Aborted)
							dead = true
						}
						if q, is := s.Request.(*kvapi.PrewriteRequest); is && w.rules.leastOfPrimary && err == nil && !q.OnePhase &&
							!bytes.Equal(q.Mutations[0].Key, q.Primary) {
							p := result.(kvapi.PrewriteResult)
							p.Least = min(p.Least, 1)
							result = p
						}
						act(func() []Step { return co.Answer(s.ID, result, err) })
					})
				})
			case StepLocate:
				act(func() []Step { return co.Located(w.located()) })
			case StepTimestamp:
				act(func() []Step { return co.Timestamp(w.oracle(), nil) })
			case StepResolve:
				w.resolve(s.Lock, func(err error) { act(func() []Step { return co.Resolved(s.ID, 1, err) }) })
			case StepDone:
				c.done(s.Outcome)
			}
		}
	}
	do(co.Begin(w.located()))
	var beat func()
	beat = func() {
		if dead || co.Ended() {
			return
		}
		do(co.Heartbeat(clock.Make(w.ms, 0)))
		w.later(beat)
	}
	if w.chance(50) {
		w.later(beat)
	}
}

func (c *client) done(o Outcome) {
	switch {
	case o.Err == nil:
		if !c.told {
			c.commit = o.Commit
			c.w.paths[o.Path]++
		}
		c.tell(check.Committed)
	case errors.Is(o.Err, kvapi.ErrUndetermined):
		c.tell(check.Unknown)
	default:
		c.tell(check.Aborted)
	}
}

// verify judges the run, once all has ended and the last reader has resolved what was left.
func (w *world) verify() error {
	for _, r := range w.reads {
		if v := newest(w.versions[r.key], r.at); v.ts != r.seen {
			return fmt.Errorf("a read of %s at %d saw version %d, and there is %d", r.key, r.at, r.seen, v.ts)
		}
	}
	if len(w.locks) > 0 {
		return fmt.Errorf("locks are left: %v", w.locks)
	}
	for _, c := range w.clients {
		if err := c.verify(); err != nil {
			return err
		}
	}
	if w.bank {
		if at := check.Bank(w.sums, simKeys*simBalance); at >= 0 {
			return fmt.Errorf("balances %v do not add up", w.sums[at])
		}
		return nil
	}
	if found := check.ListAppend(w.history); len(found) > 0 {
		return fmt.Errorf("%v", found)
	}
	return nil
}

// verify holds atomicity, and what the client was told.
func (c *client) verify() error {
	if c.plan.Start == 0 {
		return nil
	}
	found := map[clock.Timestamp]int{}
	for _, key := range c.writes {
		n := 0
		for _, v := range c.w.versions[key] {
			if v.start == c.plan.Start {
				found[v.ts]++
				n++
			}
		}
		if n > 1 {
			return fmt.Errorf("client %d wrote %s %d times", c.id, key, n)
		}
	}
	all := len(c.writes)
	switch {
	case len(found) > 1, len(found) == 1 && !slices.Contains([]int{all}, first(found)):
		return fmt.Errorf("client %d wrote a part of %v: %v", c.id, c.writes, found)
	case c.ended.Outcome == check.Committed && found[c.commit] != all:
		return fmt.Errorf("client %d was told of a commit at %d, and there is %v", c.id, c.commit, found)
	case c.ended.Outcome == check.Aborted && len(found) > 0:
		return fmt.Errorf("client %d was told of a failure, and there is %v", c.id, found)
	}
	return nil
}

func first(m map[clock.Timestamp]int) int {
	for _, n := range m {
		return n
	}
	return 0
}

// simulate runs one world to its end.
func simulate(w *world) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if w.bank {
		for i := range simKeys {
			w.versions[simKey(i)] = []simVersion{{ts: 1, value: strconv.Itoa(simBalance)}}
		}
	}
	for id := range simTxns {
		w.startClient(id + 1)
	}
	if err := w.run(); err != nil {
		return err
	}
	last := &client{w: w, seen: map[string]simVersion{}, begin: w.step, ts: w.oracle()}
	for i := range simKeys {
		last.reads = append(last.reads, simKey(i))
	}
	w.later(func() { last.readNext(last.reads) })
	if err := w.run(); err != nil {
		return err
	}
	return w.verify()
}
