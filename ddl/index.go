package ddl

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// buildHidden adds ix to the table and builds it up to the step that makes it
// public. The caller ends the returned job by publish or undoCreateIndex. part sets
// jobRecord.Part. Called under the table's name lock.
func (e *Executor) buildHidden(c *Call, n Name, ix *catalog.Index, part bool, p catalog.Patience) (*job, error) {
	t, err := e.table(n)
	if err != nil {
		return nil, err
	}
	next := t.Clone()
	next.Finish()
	ix.State, ix.Building = catalog.StateDeleteOnly, true
	bringHidden(next, ix)
	next.AddIndex(ix)
	next.Finish()
	if c.JudgeIndex != nil && slices.ContainsFunc(ix.Columns, func(part catalog.IndexColumn) bool { return part.Added == nil && next.Columns[part.Col].Virtual() }) {
		if err := c.JudgeIndex(next, ix); err != nil {
			return nil, err
		}
	}
	j, err := e.newJob(jobCreateIndex, t)
	if err != nil {
		return nil, err
	}
	j.rec.IndexID, j.rec.Index, j.rec.Text, j.rec.Part = ix.ID, t.NameOf(ix), c.Text, part
	j.interrupt = nil // the session's interrupt is in p
	e.track(j)
	if err := e.settle(j, t, p); err != nil {
		e.untrack(j)
		return nil, err
	}
	if err := e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, j.put); err != nil {
		e.untrack(j)
		return nil, err
	}
	if err := e.buildIndexSteps(j, p, 0); err != nil {
		return nil, e.undoCreateIndex(j, p, err)
	}
	return j, nil
}

// publish makes the indexes of jobs, which are all of one table, public in one
// commit.
func (e *Executor) publish(jobs []*job) error {
	if len(jobs) == 0 {
		return nil
	}
	t, _, err := e.jobIndex(jobs[0])
	if err != nil {
		return err
	}
	next := t.Clone()
	if err := e.makePublic(next, jobs); err != nil {
		return err
	}
	next.Finish()
	if err := e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, removeJobs(jobs)); err != nil {
		return err
	}
	e.untrack(jobs...)
	return nil
}

// makePublic makes the indexes of jobs public in next, which already has the
// columns that the statement adds.
func (e *Executor) makePublic(next *catalog.Table, jobs []*job) error {
	for _, j := range jobs {
		ix := next.IndexByID(j.rec.IndexID)
		if ix == nil {
			return errGone
		}
		// Everything that the build wrote is committed; the fence below the last
		// batch has made the watermark cover it.
		ix.State, ix.ReadableFrom, ix.Building = catalog.StatePublic, e.txns.Watermark(), false
		for i := range ix.Columns {
			part := &ix.Columns[i]
			if part.Added == nil {
				continue
			}
			c := next.ColumnByID(part.Added.ID)
			if c == nil {
				return fmt.Errorf("%w: index %s is on column %s, which the step does not add", kvapi.ErrCorrupt, ix.Name, part.Added.Name)
			}
			part.Col, part.Added = c.Ordinal, nil
		}
	}
	return nil
}

// settle is the barrier: it waits until nobody uses a version of the table older
// than t, so that at most two adjacent versions are in use after the next step.
// Each barrier may wait for the whole of p.
func (e *Executor) settle(j *job, t *catalog.Table, p catalog.Patience) error {
	if j != nil {
		j.setPhase(phaseWaiting)
	}
	return e.catalog.WaitOlder(t, p.Anew())
}

// buildIndexSteps takes an index from its present state to write-only and writes
// all its entries. See backfill for slice.
func (e *Executor) buildIndexSteps(j *job, p catalog.Patience, slice time.Duration) error {
	t, ix, err := e.jobIndex(j)
	if err != nil {
		return err
	}
	if err := e.settle(j, t, p); err != nil {
		return err
	}
	if ix.State == catalog.StateDeleteOnly {
		if t, ix, err = e.stepIndex(j, t, ix, catalog.StateWriteOnly, j.put); err != nil {
			return err
		}
		if err := e.settle(j, t, p); err != nil {
			return err
		}
	}
	if err := e.backfill(j, t, ix, p, slice); err != nil {
		return err
	}
	j.setPhase("built")
	return nil
}

// jobIndex finds the current table and index of a job.
func (e *Executor) jobIndex(j *job) (*catalog.Table, *catalog.Index, error) {
	t := e.catalog.Current().TableByID(j.rec.TableID)
	if t == nil {
		return nil, nil, errGone
	}
	ix := t.IndexByID(j.rec.IndexID)
	if ix == nil {
		return nil, nil, errGone
	}
	return t, ix, nil
}

// errGone: the table or index of a job does not exist any more.
var errGone = errors.New("ddl: the object of the job is gone")

// stepIndex publishes a version of t in which ix has the state to, which is not
// Public, and runs extra in the same commit. It returns that version.
func (e *Executor) stepIndex(j *job, t *catalog.Table, ix *catalog.Index, to catalog.SchemaState,
	extra func(tx *txn.Txn) error) (*catalog.Table, *catalog.Index, error) {
	next := t.Clone()
	changed := next.IndexByID(ix.ID)
	changed.State = to
	next.Finish()
	j.setPhase(to.String())
	if err := e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, extra); err != nil {
		return nil, nil, err
	}
	return next, changed, nil
}

// undoCreateIndex removes a half-built index after the error cause, which it
// returns. What it can't finish within the statement it leaves to the worker; the
// index is invisible meanwhile.
func (e *Executor) undoCreateIndex(j *job, p catalog.Patience, cause error) error {
	if errors.Is(cause, kvapi.ErrUndetermined) || errors.Is(cause, errGone) {
		return cause // storage is failing; the job resumes at the next open
	}
	e.setKind(j, jobDropIndex)
	quick := catalog.PatienceFor(workerPatience, nil, p.Self)
	if err := e.removeIndexSteps(j, quick); err != nil {
		e.enqueue(j)
	}
	return cause
}

// DropIndexOf executes DROP INDEX. To drop the primary key the table is copied,
// because its rows then have other keys.
func (e *Executor) DropIndexOf(c *Call, n Name, index string) error {
	if drop := (DropIndex{Name: index}); dropsPrimary(drop) {
		return e.AlterTable(c, n, []AlterSpec{drop})
	}
	p := c.patience()
	release, err := e.lockNames(c, tableRefs(n), p)
	if err != nil {
		return err
	}
	defer release()
	return e.dropIndex(c, n, index, p)
}

func (e *Executor) dropIndex(c *Call, n Name, index string, p catalog.Patience) error {
	t, err := e.table(n)
	if err != nil {
		return err
	}
	ix := t.Index(index)
	if !e.droppable(t, ix) {
		return types.Errorf(types.ErCantDropFieldOrKey, index)
	}
	if err := checkAutoKeyKept(t, ix); err != nil {
		return err
	}
	if ix.State != catalog.StatePublic {
		return e.dropBuild(t, ix)
	}
	without := t.Clone()
	without.RemoveIndex(ix.ID)
	without.Finish()
	if _, err := relate(c, e.catalog.Current(), change{t, without}); err != nil {
		return err
	}
	j, err := e.newJob(jobDropIndex, t)
	if err != nil {
		return err
	}
	j.rec.IndexID, j.rec.Index, j.rec.Text = ix.ID, ix.Name, c.Text
	e.track(j)
	if err := e.settle(j, t, p); err != nil {
		e.untrack(j)
		return err
	}
	hidden, hix, err := e.stepIndex(j, t, ix, catalog.StateWriteOnly, j.put)
	if err != nil {
		e.untrack(j)
		return err
	}
	if err := e.settle(j, hidden, p); err != nil {
		// Readers of the old version are still there: take the step back.
		back := hidden.Clone()
		changed := back.IndexByID(hix.ID)
		changed.State = catalog.StatePublic
		back.Finish()
		undo := e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{back}}, j.remove)
		if undo == nil {
			e.untrack(j)
			return err
		}
		if errors.Is(undo, kvapi.ErrUndetermined) {
			return undo // storage is failing; whether the job resumes is known at the next open
		}
		// The stored descriptor hides the index and the job removes it, so it is dropped in spite of the timeout.
		e.log.Warn("DROP INDEX goes on: it could not be taken back", "table", n.Table, "index", index, "error", undo)
		e.enqueue(j)
		return nil
	}
	// From here on the index is gone for every statement, so the rest may go on
	// in the background if a session is slow or the disk is full.
	quick := catalog.PatienceFor(workerPatience, nil, p.Self)
	if err := e.removeIndexSteps(j, quick); err != nil {
		e.enqueue(j)
	}
	return nil
}

// buildOf returns the job that builds ix, nil if none does. If the caller holds
// the table's name lock, it is the worker's: a session that builds holds that lock.
func (e *Executor) buildOf(t *catalog.Table, ix *catalog.Index) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range e.jobs {
		if j.rec.Kind == jobCreateIndex && j.rec.TableID == t.ID && j.rec.IndexID == ix.ID {
			return j
		}
	}
	return nil
}

// droppable reports whether a statement may drop ix, which may be nil: it is
// public, or the worker is building it. Called under the table's name lock.
func (e *Executor) droppable(t *catalog.Table, ix *catalog.Index) bool {
	return ix != nil && (ix.State == catalog.StatePublic || e.buildOf(t, ix) != nil)
}

// dropBuild ends the worker's build of ix. For every statement the index is gone
// then; its job becomes the one that removes it. Called under the name lock, which
// the worker needs for a build, so that it is not running now.
func (e *Executor) dropBuild(t *catalog.Table, ix *catalog.Index) error {
	j := e.buildOf(t, ix)
	e.setKind(j, jobDropIndex)
	if _, _, err := e.freeName(j, t, ix); err != nil {
		e.setKind(j, jobCreateIndex)
		return err
	}
	e.wakeWorker()
	return nil
}

// freeName renames an index that is being removed, makes it delete-only at most,
// and stores its job with its present kind. From now on another index can have the
// name, and writers add no entries and find no duplicates in the index, however long
// sessions delay the other steps. Nobody uses a version in which it is public, so
// the states in use are adjacent to delete-only and the step needs no barrier.
func (e *Executor) freeName(j *job, t *catalog.Table, ix *catalog.Index) (*catalog.Table, *catalog.Index, error) {
	next := t.Clone()
	ix = next.IndexByID(ix.ID)
	ix.Name = droppingName(ix)
	ix.State = min(ix.State, catalog.StateDeleteOnly)
	next.Finish()
	j.rec.Checkpoint, j.rec.Rows = nil, 0
	return next, ix, e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, j.put)
}

// removeIndexSteps takes an index that nobody reads from its present state to
// absent, and leaves its entries to the worker. After an error it may be called
// again, also after a restart. Called under the name lock.
func (e *Executor) removeIndexSteps(j *job, p catalog.Patience) error {
	t, ix, err := e.jobIndex(j)
	if err != nil {
		if errors.Is(err, errGone) {
			err = e.inTxn(j.remove)
			e.untrack(j)
		}
		return err
	}
	if !leaving(ix) || ix.State > catalog.StateDeleteOnly { // versions before 2026-11-24 freed the name without changing the state
		if !ix.Building { // DROP INDEX that timed out and could not be undone leaves readers of the public index
			if err := e.settle(j, t, p); err != nil {
				return err
			}
		}
		if t, ix, err = e.freeName(j, t, ix); err != nil {
			return err
		}
	}
	if err := e.settle(j, t, p); err != nil {
		return err
	}
	next := t.Clone()
	next.RemoveIndex(ix.ID)
	next.Finish()
	// The job becomes the one that frees the entries. A session that still uses
	// the delete-only version only deletes entries.
	e.setKind(j, jobDestroy)
	j.rec.PhysID = t.PhysID
	if err := e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, j.put); err != nil {
		e.setKind(j, jobDropIndex)
		return err
	}
	e.enqueue(j)
	return nil
}

// lockJob locks the present name of the job's table, which may have been renamed
// since the job began. If the table is gone, it locks nothing.
func (e *Executor) lockJob(j *job, p catalog.Patience) (release func(), err error) {
	for {
		t := e.catalog.Current().TableByID(j.rec.TableID)
		if t == nil {
			return func() {}, nil
		}
		release, err := e.names.lock(tableRefs(Name{t.Schema, t.Name}), p)
		if err != nil {
			return nil, err
		}
		if now := e.catalog.Current().TableByID(j.rec.TableID); now == nil || now.Schema == t.Schema && now.Name == t.Name {
			return release, nil
		}
		release()
	}
}

// resumeIndex is the worker's attempt to finish a build after a restart, or a
// removal. Only a duplicate, a cancellation or DROP INDEX undoes a build. An
// attempt is bounded in time, even if sessions make it wait: the worker has other
// jobs, and schema changes of the table wait for its name lock. Those need not tell
// the job: the next attempt finds the table or the index gone, the table empty, or
// the job's kind changed to a removal.
func (e *Executor) resumeIndex(j *job) (done bool, err error) {
	p := e.workerPatienceNow()
	release, err := e.lockJob(j, p)
	if err != nil {
		return false, err
	}
	defer release()
	if e.kindOf(j) == jobDropIndex {
		err := e.removeIndexSteps(j, p)
		return err == nil, err // if done, it is enqueued again as the job that frees the entries
	}
	return e.resumeCreateIndex(j)
}

// resumeCreateIndex is resumeIndex for a build.
func (e *Executor) resumeCreateIndex(j *job) (done bool, err error) {
	p := catalog.PatienceFor(workerPatience, j.interrupt, nil)
	if err = e.buildIndexSteps(j, p, buildSlice); err == nil {
		err = e.publish([]*job{j})
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errSliceOver):
		e.wakeWorker() // no pause: the build waits for nobody
		return false, nil
	case errors.Is(err, errPaused):
		return false, nil
	case errors.Is(err, errGone):
		if err := e.inTxn(j.remove); err != nil {
			return false, err
		}
		e.untrack(j)
		return true, nil
	case e.worker.interrupt.Reason() != kvapi.ReasonNone:
		return false, err
	}
	var sqlErr *types.Error
	if errors.As(err, &sqlErr) || j.interrupt.Reason() != kvapi.ReasonNone {
		e.log.Warn("index build undone", "table", j.rec.Table, "index", j.rec.Index, "error", err)
		_ = e.undoCreateIndex(j, p, err)
		return true, nil
	}
	return false, err
}
