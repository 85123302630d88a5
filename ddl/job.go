package ddl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

// jobKind is what a job does.
type jobKind string

const (
	jobCreateIndex jobKind = "create index"
	jobDropIndex   jobKind = "drop index"
	jobDestroy     jobKind = "free data"
	// jobCopy is stored while ALTER TABLE copies a table. The new data belongs to no
	// table until the statement ends, so after a restart the job frees it.
	jobCopy jobKind = "copy table"
)

// jobFormat is the first byte of a stored job.
const jobFormat = 1

// jobRecord is the stored form of a job: under keys.SystemKey(KindJob, id) a format
// byte and JSON.
type jobRecord struct {
	ID      uint64  `json:"id"`
	Kind    jobKind `json:"kind"`
	TableID uint64  `json:"table_id"`
	PhysID  uint64  `json:"phys_id"`
	Schema  string  `json:"schema"`
	Table   string  `json:"table"`
	IndexID uint64  `json:"index_id,omitempty"` // with jobDestroy: 0 is the whole table
	Index   string  `json:"index,omitempty"`
	// Checkpoint is the row key up to which the backfill is complete, in the key space of PhysID.
	Checkpoint []byte `json:"checkpoint,omitempty"`
	Rows       uint64 `json:"rows,omitempty"`
	// Since is the timestamp of a commit above all commits of sessions that did not know the index as WriteOnly; that commit wrote no entry of the
	// index. 0 if fill has written nothing yet. It never changes, so that a batch that is repeated writes the same versions.
	Since clock.Timestamp `json:"since,omitempty"`
	// Part marks a build that is a part of an ALTER TABLE with other actions: the
	// index must not become public without them, so after a crash it is removed.
	Part bool `json:"part,omitempty"`
	// Rebuild marks the build of an index that was public before: see rebuildStale.
	Rebuild bool `json:"rebuild,omitempty"`
	// Paused is that of a build that Executor.Pause makes rest, also after a restart.
	Paused  bool   `json:"paused,omitempty"`
	Text    string `json:"text,omitempty"`
	StartMS int64  `json:"start_ms"`
}

// job is a job in memory. rec is used only by the goroutine that runs the job, or,
// for a build or removal, under the name lock of the table; the other fields are for
// listings and interruption. rec.Kind is guarded by Executor.mu.
type job struct {
	rec  jobRecord
	rows atomic.Uint64
	// phase is what the job does now, for listings.
	phase atomic.Pointer[string]
	// interrupt stops a job of the worker. It is nil while a session builds an index
	// or copies a table: the statement's interrupt is in its Patience.
	interrupt *kvapi.Interrupt
	// after is the timestamp from which no snapshot reads the data to be freed.
	after clock.Timestamp
	// resumed is closed by Executor.Resume; it is nil unless the job is paused. Guarded by Executor.mu. paused says the same to the build itself.
	resumed chan struct{}
	paused  atomic.Bool
}

// Job is one line of the job listing (Executor.Jobs).
type Job struct {
	ID            uint64
	Kind          string
	Schema, Table string
	Index         string
	Phase         string
	Rows          uint64 // rows indexed so far
	Text          string // the statement
	StartMS       int64  // Unix time in milliseconds
	// Blockers are the owners (Use.SetOwner) of the sessions that use the table now,
	// if the job is waiting at a barrier.
	Blockers []uint64
}

func (j *job) setPhase(s string) { j.phase.Store(&s) }

func (e *Executor) newJob(kind jobKind, t *catalog.Table) (*job, error) {
	id, err := e.catalog.NextID()
	if err != nil {
		return nil, err
	}
	j := &job{rec: jobRecord{
		ID: id, Kind: kind, TableID: t.ID, PhysID: t.PhysID, Schema: t.Schema, Table: t.Name, StartMS: clock.NowMillis(),
	}}
	j.interrupt = &kvapi.Interrupt{}
	j.setPhase("queued")
	return j, nil
}

func jobKey(id uint64) []byte { return keys.SystemKey(nil, catalog.KindJob, catalog.IDPart(id)) }

// put writes the job's record in tx.
func (j *job) put(tx *txn.Txn) error {
	j.rec.Paused = j.paused.Load()
	b, err := json.Marshal(&j.rec)
	if err != nil {
		return err
	}
	key := jobKey(j.rec.ID)
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	return tx.Put(key, append([]byte{jobFormat}, b...))
}

// remove deletes the job's record in tx.
func (j *job) remove(tx *txn.Txn) error {
	key := jobKey(j.rec.ID)
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	return tx.Delete(key)
}

// putJobs returns the part of a catalog change that stores jobs.
func putJobs(jobs []*job) func(tx *txn.Txn) error {
	return func(tx *txn.Txn) error {
		for _, j := range jobs {
			if err := j.put(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

// removeJobs returns the part of a catalog change that ends jobs.
func removeJobs(jobs []*job) func(tx *txn.Txn) error {
	return func(tx *txn.Txn) error {
		for _, j := range jobs {
			if err := j.remove(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

// inTxn runs f in a new transaction and waits until its commit is durable.
func (e *Executor) inTxn(f func(tx *txn.Txn) error) error {
	_, err := e.commit(f)
	return err
}

// commit is inTxn that returns the timestamp of the commit.
func (e *Executor) commit(f func(tx *txn.Txn) error) (clock.Timestamp, error) {
	tx := e.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if err := f(tx); err != nil {
		return 0, err
	}
	err := tx.Commit()
	return tx.CommitTS(), err
}

func (e *Executor) loadJobs() error {
	raw, err := catalog.ScanAll(e.txns, catalog.KindJob)
	if err != nil {
		return err
	}
	for _, b := range raw {
		if len(b) == 0 || b[0] != jobFormat {
			return fmt.Errorf("%w: job format %x, this version reads %d", kvapi.ErrCorrupt, b[:min(1, len(b))], jobFormat)
		}
		j := &job{interrupt: &kvapi.Interrupt{}}
		if err := json.Unmarshal(b[1:], &j.rec); err != nil {
			return fmt.Errorf("%w: job: %v", kvapi.ErrCorrupt, err)
		}
		j.rows.Store(j.rec.Rows)
		j.setPhase("queued")
		if j.rec.Paused {
			j.pause()
		}
		e.jobs[j.rec.ID] = j
	}
	return nil
}

// track adds a job to the listing, untrack removes jobs from it.
func (e *Executor) track(j *job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobs[j.rec.ID] = j
}

func (e *Executor) kindOf(j *job) jobKind {
	e.mu.Lock()
	defer e.mu.Unlock()
	return j.rec.Kind
}

func (e *Executor) setKind(j *job, kind jobKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j.rec.Kind = kind
}

func (e *Executor) untrack(jobs ...*job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range jobs {
		delete(e.jobs, j.rec.ID)
	}
}

// Jobs lists the unfinished jobs, oldest first.
func (e *Executor) Jobs() []Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*job, 0, len(e.jobs))
	for _, j := range e.jobs {
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, b *job) int { return int(int64(a.rec.ID - b.rec.ID)) })
	snap := e.catalog.Current()
	out := make([]Job, len(list))
	for i, j := range list {
		// Of the fields of rec read here only Kind changes after track, under mu.
		r := &j.rec
		out[i] = Job{
			ID: r.ID, Kind: string(r.Kind), Schema: r.Schema, Table: r.Table, Index: r.Index, Text: r.Text,
			StartMS: r.StartMS, Phase: *j.phase.Load(), Rows: j.rows.Load(),
		}
		if t := snap.Lookup(r.Schema, r.Table); t != nil && out[i].Phase == phaseWaiting {
			out[i].Blockers = e.catalog.Users(t)
		}
	}
	return out
}

// phaseWaiting is the phase of a job at a barrier.
const phaseWaiting = "waiting for sessions that use the table"

// The errors of Cancel.
var (
	ErrNoJob          = errors.New("there is no such job")
	ErrNotCancellable = errors.New("what is removed cannot be brought back")
	ErrOfSession      = errors.New("a session runs it: KILL QUERY ends it")
	ErrOfOpen         = errors.New("it builds an index anew that was there before: DROP INDEX ends it")
)

// Cancel makes the worker undo an index build that it has resumed after a restart.
// It refuses builds that replace a stale index (rebuildStale): the user would lose
// the index. Safe for concurrent use.
func (e *Executor) Cancel(id uint64) error {
	return e.onJob(id, func(j *job) error {
		switch {
		case j.rec.Kind == jobCopy && j.interrupt == nil:
			return ErrOfSession
		case j.rec.Kind != jobCreateIndex:
			return ErrNotCancellable
		case j.interrupt == nil:
			return ErrOfSession
		case j.rec.Rebuild:
			return ErrOfOpen
		}
		j.interrupt.Set(kvapi.ReasonKillQuery)
		return nil
	})
}

// onJob calls do with a job under mu.
func (e *Executor) onJob(id uint64, do func(j *job) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[id]
	if j == nil {
		return ErrNoJob
	}
	return do(j)
}
