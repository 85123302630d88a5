package explore

import "fmt"

const (
	modelKeys = 2 // x and y: one region until the split, then one each
	modelTxns = 2
)

// Rules names the steps of rule A. The zero value has all switched off: a canary
// starts from AllRules and switches off one.
type Rules struct {
	MarkFirst      bool // marks are published before the timestamp is fetched
	MarkTillApply  bool // marks stay until the entry is applied, not until it is proposed
	WaitUnstamped  bool // a reader waits for a mark that has no timestamp yet
	MarksThenRead  bool // a reader looks at marks and locks before it takes its iterator
	ApplyThenServe bool // a new leader serves after the entries of earlier terms are applied
	Lease          bool // a deposed leader serves no reads
	SplitInLine    bool // a split waits in the line for the commit in flight
	MaxOfPrewrites bool // an async commit's timestamp is the greatest of its prewrites
	CheckAfterTS   bool // checks are made after the commit timestamp, not before the prewrites
	RollbackMarker bool // a rolled back key refuses the prewrite that comes late
	LatestWaits    bool // a read of the latest version waits for marks and locks
	ResolveAll     bool // an async commit is resolved by all of its keys, not by the primary alone
}

// AllRules is rule A as it is to be built.
func AllRules() Rules {
	return Rules{true, true, true, true, true, true, true, true, true, true, true, true}
}

// Path is how a transaction commits.
type Path uint8

// The paths of a commit.
const (
	Absent   Path = iota // there is no such transaction
	OnePhase             // one entry in one region
	Async                // prewrites alone decide
	TwoPhase             // prewrites, a timestamp, checks, the primary
)

// TxnPlan says what a transaction does: its path, the keys it writes (a bit each,
// the lowest is the primary) and those that it read and must find unchanged.
type TxnPlan struct {
	Path   Path
	Writes uint8
	Checks uint8
}

// Scenario is one model: what may happen in it.
type Scenario struct {
	Rules   Rules
	Txns    [modelTxns]TxnPlan
	Readers [2]bool // whether there is a reader; each reads x and y, in either order
	Latest  [2]bool // it reads the latest version of each key without a timestamp
	Split   bool    // the regions are split at the start
	MaySplit,
	MayDie bool // a coordinator may die at any moment, its requests still under way
	LeaderChanges uint8
}

// Stages of a line: the entry in flight.
const (
	idle uint8 = iota
	begun
	issued // the timestamp exists, the marks do not have it yet
	stamped
	proposed
	inherited
)

type modelRegion struct {
	stage, txn, keys, ts uint8
	prewrite             bool
}

type modelKey struct {
	versions  [modelTxns]uint8 // commit timestamp by transaction, 0 = no version
	lock      uint8            // transaction + 1
	lockTS    uint8            // its least commit timestamp
	rolled    [modelTxns]bool  // rollback markers
	mark      uint8            // transaction + 1
	markTS    uint8
	deposed   bool             // a former leader still has the state below
	deposedAt [modelTxns]uint8 // its versions
}

type modelTxn struct {
	sent    uint8 // keys whose prewrite has been handed to a line
	locked  uint8 // keys whose prewrite the coordinator knows to have succeeded
	least   [modelKeys]uint8
	commit  uint8
	checked bool
	failed  bool
	dead    bool
	acked   bool
}

type modelRead struct {
	ts    uint8
	stage [modelKeys]uint8 // 0 not begun, 1 first half done, 2 done
	seen  [modelKeys]uint8 // timestamp of the newest version seen
	at    [modelKeys]uint8 // the timestamp that the read stands for
}

type modelState struct {
	now     uint8
	split   bool
	changes uint8
	regions [modelKeys]modelRegion
	keys    [modelKeys]modelKey
	txns    [modelTxns]modelTxn
	reads   [2]modelRead
}

// Run visits all states of the scenario.
func (sc *Scenario) Run(limit int) Result {
	return Explore(modelState{split: sc.Split}, sc.steps, sc.fault, limit)
}

func bit(key int) uint8 { return 1 << key }

func (s *modelState) region(key int) int {
	if s.split {
		return key
	}
	return 0
}

func newest(versions [modelTxns]uint8, ts uint8) uint8 {
	var out uint8
	for _, v := range versions {
		if v <= ts {
			out = max(out, v)
		}
	}
	return out
}

// fault says what the state has that no state may have.
func (sc *Scenario) fault(s modelState) string {
	for i, r := range s.reads {
		for k := range modelKeys {
			if r.stage[k] == 2 && newest(s.keys[k].versions, r.at[k]) != r.seen[k] {
				return fmt.Sprintf("reader %d at %d saw version %d of key %d, which now has version %d",
					i, r.at[k], r.seen[k], k, newest(s.keys[k].versions, r.at[k]))
			}
		}
	}
	for t, plan := range sc.Txns {
		if f := sc.txnFault(&s, t, plan); f != "" {
			return f
		}
	}
	return ""
}

func (sc *Scenario) txnFault(s *modelState, t int, plan TxnPlan) string {
	var c uint8
	for k := range modelKeys {
		v := s.keys[k].versions[t]
		if v != 0 && c != 0 && v != c {
			return fmt.Sprintf("transaction %d committed at %d and at %d", t, c, v)
		}
		c = max(c, v)
	}
	if s.txns[t].acked {
		if c != 0 && c != s.txns[t].commit {
			return fmt.Sprintf("transaction %d acknowledged at %d is applied at %d", t, s.txns[t].commit, c)
		}
		c = s.txns[t].commit
	}
	if c == 0 {
		return ""
	}
	for k := range modelKeys {
		state := &s.keys[k]
		if plan.Writes&bit(k) != 0 && state.versions[t] == 0 && state.lock != uint8(t+1) {
			return fmt.Sprintf("transaction %d committed at %d and has neither version nor lock on key %d", t, c, k)
		}
		if plan.Checks&bit(k) != 0 && newest(state.versions, c) != 0 && newest(state.versions, c) != state.versions[t] {
			return fmt.Sprintf("transaction %d committed at %d although key %d, which it checked, changed at %d", t, c, k, newest(state.versions, c))
		}
	}
	return ""
}

// steps lists what may happen next.
func (sc *Scenario) steps(s modelState) []Step[modelState] {
	var out []Step[modelState]
	add := func(next modelState, format string, args ...any) {
		out = append(out, Step[modelState]{Name: fmt.Sprintf(format, args...), Next: next})
	}
	for r := range modelKeys {
		if r == 0 || s.split {
			sc.lineSteps(s, r, add)
		}
	}
	for t, plan := range sc.Txns {
		switch plan.Path {
		case OnePhase:
			sc.onePhaseSteps(s, t, add)
		case Async, TwoPhase:
			sc.prewriteSteps(s, t, add)
			sc.decideSteps(s, t, add)
			sc.resolveSteps(s, t, add)
		}
	}
	for i, on := range sc.Readers {
		if on {
			sc.readSteps(s, i, add)
		}
	}
	if sc.MaySplit && !s.split && (s.regions[0].stage == idle || !sc.Rules.SplitInLine && s.regions[0].stage != inherited) {
		next := s
		next.split = true
		// The right region's leader begins with no marks of its own.
		next.keys[1].mark, next.keys[1].markTS = 0, 0
		add(next, "split")
	}
	return out
}
