package commit

import (
	"bytes"
	"errors"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// resolveRoundsMax is how often a resolver asks before it gives up on a transaction that stays undecided: with the pauses, an hour.
	resolveRoundsMax = 8_000
)

// Resolver finds out whether the transaction of a lock is committed, decides that if its coordinator is dead, and finishes the lock. It is
// used like a Coordinator; its StepDone says that the lock is gone, or why not.
type Resolver struct {
	lock    kvapi.LockInfo
	regions []*kvapi.Region
	alive   func(node, epoch uint64) bool
	now     clock.Timestamp

	stage   resolveStage
	lastID  uint32
	pending map[uint32]any // requests in flight, by id
	rounds  int
	commit  clock.Timestamp // zero: rolled back
	least   clock.Timestamp
	orphan  [][]byte // keys of an orphan without the primary
	ended   bool
}

type resolveStage uint8

const (
	resolveStatus      resolveStage = iota // asking at the primary
	resolveSecondaries                     // asking at all keys of an orphan
	resolveFinish                          // finishing the lock, and the others of an orphan
)

// NewResolver returns a resolver of a lock. alive, which may be nil, reports whether a coordinator may be alive.
func NewResolver(lock kvapi.LockInfo, alive func(node, epoch uint64) bool) *Resolver {
	return &Resolver{lock: lock, alive: alive, pending: map[uint32]any{}}
}

// Begin returns the first requests. now is a fresh timestamp.
func (r *Resolver) Begin(regions []*kvapi.Region, now clock.Timestamp) []Step {
	r.regions, r.now = regions, now
	return r.ask(nil, 0)
}

// ask sends a StatusRequest for the primary.
func (r *Resolver) ask(out []Step, wait time.Duration) []Step {
	r.stage = resolveStatus
	dead := r.alive != nil && !r.alive(r.lock.Node, r.lock.NodeEpoch)
	expired := uint64(r.now.PhysicalMillis()) > uint64(r.lock.Start.PhysicalMillis())+r.lock.TTL
	region := r.regions[find(r.regions, r.lock.Primary)]
	return r.send(out, wait, &kvapi.StatusRequest{Region: region.Ref(), Start: r.lock.Start, Primary: r.lock.Primary, Now: r.now,
		Dead: dead, Missing: expired})
}

func (r *Resolver) send(out []Step, wait time.Duration, request any) []Step {
	r.lastID++
	r.pending[r.lastID] = request
	return append(out, Step{Kind: StepSend, ID: r.lastID, Request: request, Pause: wait})
}

// again starts over after a pause: regions have changed, or there was no answer, or the transaction is undecided.
func (r *Resolver) again(err error) []Step {
	clear(r.pending)
	if r.rounds++; r.rounds > resolveRoundsMax {
		return r.done(err)
	}
	return []Step{{Kind: StepLocate, Pause: pause(r.rounds), Undecided: errors.Is(err, kvapi.ErrLockTimeout)}}
}

// Located takes the answer to StepLocate.
func (r *Resolver) Located(regions []*kvapi.Region) []Step {
	r.regions = regions
	return []Step{{Kind: StepTimestamp}}
}

// Timestamp takes the answer to StepTimestamp.
func (r *Resolver) Timestamp(now clock.Timestamp, err error) []Step {
	if err != nil {
		return r.again(err)
	}
	r.now = now
	return r.ask(nil, 0)
}

func (r *Resolver) done(err error) []Step {
	if r.ended {
		return nil
	}
	r.ended = true
	return []Step{{Kind: StepDone, Outcome: Outcome{Err: err}}}
}

// Answer takes the answer to StepSend.
func (r *Resolver) Answer(id uint32, result any, err error) []Step {
	if _, mine := r.pending[id]; !mine || r.ended {
		return nil
	}
	delete(r.pending, id)
	if err != nil {
		var epoch *kvapi.EpochError
		switch {
		case errors.As(err, &epoch), errors.Is(err, kvapi.ErrNoReply):
			return r.again(err)
		case errors.Is(err, kvapi.ErrRolledBack) && r.stage == resolveFinish:
			err = nil // the marker was there already
		case errors.Is(err, kvapi.ErrUndetermined) && r.stage == resolveFinish:
			err = nil // others have finished the lock since, and its version has been collected
		default:
			return r.done(err)
		}
	}
	switch res := result.(type) {
	case kvapi.Status:
		return r.status(res)
	case kvapi.Secondaries:
		return r.secondaries(res)
	}
	if len(r.pending) > 0 {
		return nil
	}
	return r.done(nil)
}

func (r *Resolver) status(s kvapi.Status) []Step {
	switch s.State {
	case kvapi.TxnCommitted:
		r.commit = s.Commit
		return r.finish(nil)
	case kvapi.TxnRolledBack:
		r.commit = 0
		return r.finish(nil)
	case kvapi.TxnOrphaned:
		r.stage, r.least, r.orphan = resolveSecondaries, s.Least, s.Secondaries
		out := r.perRegion(nil, s.Secondaries, func(region kvapi.RegionRef, keys [][]byte) any {
			return &kvapi.SecondariesRequest{Region: region, Start: r.lock.Start, Keys: keys}
		})
		if len(out) == 0 { // the primary is the only key
			return r.decide(s.Least)
		}
		return out
	}
	return r.again(kvapi.ErrLockTimeout)
}

// secondaries takes the state of an orphan's keys in one region. The primary was locked when it was asked.
func (r *Resolver) secondaries(s kvapi.Secondaries) []Step {
	switch {
	case s.Commit != 0:
		return r.decide(s.Commit)
	case s.RolledBack: // a marker exists: the locks may be removed (C4)
		return r.decide(0)
	}
	r.least = max(r.least, s.Least)
	if len(r.pending) > 0 {
		return nil
	}
	return r.decide(r.least)
}

// decide finishes all keys of an orphan.
func (r *Resolver) decide(commit clock.Timestamp) []Step {
	clear(r.pending)
	r.commit = commit
	return r.finish(append(r.orphan, r.lock.Primary))
}

// finish finishes the resolver's lock, and those of other keys.
func (r *Resolver) finish(others [][]byte) []Step {
	r.stage = resolveFinish
	keys := [][]byte{r.lock.Key}
	for _, key := range others {
		if !bytes.Equal(key, r.lock.Key) {
			keys = append(keys, key)
		}
	}
	return r.perRegion(nil, keys, func(region kvapi.RegionRef, keys [][]byte) any {
		return &kvapi.FinishRequest{Region: region, Start: r.lock.Start, Primary: r.lock.Primary, Keys: keys, Commit: r.commit}
	})
}

// perRegion sends one request per region, with the region's keys.
func (r *Resolver) perRegion(out []Step, keys [][]byte, request func(region kvapi.RegionRef, keys [][]byte) any) []Step {
	groups := map[int][][]byte{}
	var order []int
	for _, key := range keys {
		at := find(r.regions, key)
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], key)
	}
	for _, at := range order {
		out = r.send(out, 0, request(r.regions[at].Ref(), groups[at]))
	}
	return out
}
