package session

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/txn"
)

const (
	// ledgerEntries is for how many digests a session counts by itself, and ledgerRuns how many executions of each, before it adds its counts
	// to those of the node.
	ledgerEntries = 16
	ledgerRuns    = 48
)

// event has the counters of the running statement. Only the session's goroutine uses it.
type event struct {
	digest         *plan.Digest // nil if there is nothing to count
	affected, sent uint64
	warnings       uint64
	errors         uint64
	memory         int64
}

// ledger has a session's counters of its own statements. Others read it only when the counters are shown, so that a statement that ends
// does not contend for a cache line with other sessions.
type ledger struct {
	mu      sync.Mutex // guards all of it
	entries [ledgerEntries]*ledgerEntry
	// figures are of all statements since FLUSH STATUS, but for what follows from the plans of those in entries.
	figures figureSums
	history history
	trx     infoschema.Transaction // the one that is open; its ID is 0 without one
}

// noteTxn records the transaction that the session has begun, for information_schema, and noteTxnEnd that it has none any more.
func (s *Session) noteTxn(options *txn.Options) {
	s.ledger.mu.Lock()
	s.ledger.trx = infoschema.Transaction{ID: s.tx.ID(), Session: s.id, Start: clock.Now(), Level: levelNames[options.Level], ReadOnly: s.txReadOnly}
	s.ledger.mu.Unlock()
}

func (s *Session) noteTxnEnd() {
	s.ledger.mu.Lock()
	s.ledger.trx.ID = 0
	s.ledger.mu.Unlock()
}

// levelNames are the isolation levels as the dictionary names them.
var levelNames = map[txn.Level]string{txn.ReadCommitted: "READ COMMITTED", txn.RepeatableRead: "REPEATABLE READ", txn.Serializable: "SERIALIZABLE"}

// Transactions implements infoschema.Provider.
func (p *provider) Transactions() (list []infoschema.Transaction) {
	for _, s := range p.node.tallies.sessions() {
		s.ledger.mu.Lock()
		if s.ledger.trx.ID != 0 {
			list = append(list, s.ledger.trx)
		}
		s.ledger.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b infoschema.Transaction) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Locks implements infoschema.Provider.
func (p *provider) Locks() []kvapi.LockView { return p.node.Txns.Locks(infoschema.LocksMax) }

// Waited implements infoschema.Provider.
func (p *provider) Waited(since time.Duration) time.Duration { return clock.Since(since) }

// ledgerEntry are executions of one digest that the node's row has not got yet.
type ledgerEntry struct {
	digest            *plan.Digest
	n                 int
	first, last       time.Duration // ends of executions, on the monotonic clock
	opened            time.Duration // what the first took
	shortest, longest time.Duration
	memory            int64
	totals            digestTotals
	buckets           [ledgerRuns]uint16
	profiled          uint64        // executions whose profile is in the session's figures already
	accesses          []exec.Access // of the plan
	rows              []uint64      // by access, all executions together
	read              time.Duration // when the last of them ended
}

// settleProfile adds the figures that follow from the plan, times the number of executions.
func (e *ledgerEntry) settleProfile(to *figureSums) {
	if e.digest.Reads {
		to.profile.add(&e.digest.Profile, uint64(e.n)-e.profiled)
	}
}

func (l *ledgerEntry) add(e *event, end, took time.Duration) {
	if l.n == 0 {
		l.first, l.opened, l.shortest = end, took, took
	}
	l.buckets[l.n] = latencyBucket(uint64(took))
	l.n++
	l.last = end
	l.shortest, l.longest, l.memory = min(l.shortest, took), max(l.longest, took), max(l.memory, e.memory)
	t := &l.totals
	t.took += took
	t.errors += e.errors
	t.warnings += e.warnings
	t.affected += e.affected
	t.sent += e.sent
}

// Measured records how long the last command took, from its arrival until its reply was sent. The caller of Query and the like calls it after each.
func (s *Session) Measured(start, took time.Duration) {
	if s.event.digest == nil {
		return
	}
	end := start + took
	if s.batchFrom > start {
		took = end - s.batchFrom // the statements before were counted one by one
	}
	s.endEvent(end, max(took, 0))
}

// nextOfBatch is called before each statement of a text with several.
func (s *Session) nextOfBatch() {
	now := clock.Mono()
	if s.event.digest != nil {
		s.endEvent(now, now-s.batchFrom)
	}
	s.batchFrom = now
}

// endEvent counts the current statement.
func (s *Session) endEvent(end, took time.Duration) {
	s.ledger.count(&s.event, &s.runtime.Work, &s.node.digests, end, took)
	s.event = event{}
}

// count adds a statement to those of the session, and makes room for it where it has to.
func (l *ledger) count(e *event, w *exec.Work, all *digests, end, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history.add(e, w, end, took)
	if e.digest.Number == 0 { // it has no entry of its own
		once := ledgerEntry{digest: e.digest}
		once.add(e, end, took)
		once.work(w, &l.figures, all, end)
		once.settleProfile(&l.figures)
		all.fold(&once)
		return
	}
	at := &l.entries[e.digest.Number%ledgerEntries]
	if *at == nil {
		*at = &ledgerEntry{digest: e.digest}
	}
	entry := *at
	if entry.digest != e.digest || entry.n == ledgerRuns {
		if entry.n > 0 {
			entry.settleProfile(&l.figures)
			all.fold(entry)
		}
		*entry = ledgerEntry{digest: e.digest, rows: entry.rows[:0]}
	}
	entry.add(e, end, took)
	entry.work(w, &l.figures, all, end)
}

// work takes over what the statement has done.
func (e *ledgerEntry) work(w *exec.Work, to *figureSums, all *digests, end time.Duration) {
	t := &e.totals
	t.examined += w.Count(exec.ExaminedRows)
	t.sorted += w.Count(exec.SortedRows)
	t.merges += w.Count(exec.SortMergePasses)
	t.tmp += w.Count(exec.TmpDiskTables)
	w.Take(&to.work)
	accesses, rows := w.Accesses()
	if len(accesses) == 0 {
		return
	}
	if len(e.accesses) != len(accesses) || &e.accesses[0] != &accesses[0] { // the first, or of another plan of the same statement
		all.foldAccesses(e)
		e.accesses, e.rows = accesses, append(e.rows[:0], rows...)
	} else {
		for i, n := range rows {
			e.rows[i] += n
		}
	}
	e.read = end
	w.Settled()
}

// addFigures adds the session's figures to sum, and may reset them.
func (l *ledger) addFigures(sum *figureSums, reset bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum.add(&l.figures)
	if reset {
		l.figures = figureSums{}
	}
	for _, entry := range l.entries {
		if entry == nil {
			continue
		}
		entry.settleProfile(sum)
		if reset {
			entry.profiled = uint64(entry.n)
		}
	}
}

// settle adds what a session has counted to the counts of all; discard drops it instead.
func (l *ledger) settle(d *digests, discard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, entry := range l.entries {
		if entry == nil || entry.n == 0 {
			continue
		}
		entry.settleProfile(&l.figures)
		if !discard {
			d.fold(entry)
		} else {
			d.foldAccesses(entry)
		}
		*entry = ledgerEntry{digest: entry.digest, rows: entry.rows[:0]}
	}
}

// settleAll calls settle for all sessions.
func (n *Node) settleAll(discard bool) {
	for _, s := range n.tallies.sessions() {
		s.ledger.settle(&n.digests, discard)
	}
}

// Digests implements infoschema.Provider.
func (p *provider) Digests() []infoschema.StatementDigest {
	p.node.settleAll(false)
	return p.node.digests.list()
}
