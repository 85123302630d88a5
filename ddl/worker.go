package ddl

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
)

const (
	// workerRetry is the pause before the next attempt of a job that could not
	// proceed (a snapshot still reads the data, a session still uses the table).
	workerRetry = 200 * time.Millisecond
	// workerPatience bounds the wait of one attempt at a barrier, so that a busy
	// table does not delay the jobs of others.
	workerPatience = 100 * time.Millisecond
)

// worker is the state of the executor's only goroutine (Executor.work). It frees
// the data of dropped tables, temporary tables and indexes, finishes the removals of
// indexes that statements left to it, and resumes the jobs found at open. It is
// started by Open and ended by Close.
type worker struct {
	mu sync.Mutex
	// queue is guarded by mu.
	queue []*job
	wake  chan struct{} // capacity 1
	stop  chan struct{}
	done  chan struct{}
	// interrupt ends the waits of the worker at shutdown.
	interrupt kvapi.Interrupt
}

func (e *Executor) startWorker() {
	w := &e.worker
	w.wake, w.stop, w.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	e.mu.Lock()
	for _, j := range e.jobs {
		w.queue = append(w.queue, j)
	}
	e.mu.Unlock()
	slices.SortFunc(w.queue, func(a, b *job) int { return int(int64(a.rec.ID - b.rec.ID)) })
	go e.work()
}

func (e *Executor) stopWorker() {
	e.worker.interrupt.Set(kvapi.ReasonShutdown)
	e.mu.Lock()
	for _, j := range e.jobs {
		if j.interrupt != nil {
			j.interrupt.Set(kvapi.ReasonShutdown)
		}
	}
	e.mu.Unlock()
	close(e.worker.stop)
	<-e.worker.done
}

// enqueue hands jobs to the worker.
func (e *Executor) enqueue(jobs ...*job) {
	w := &e.worker
	for _, j := range jobs {
		if j.after == 0 {
			j.after = e.txns.Watermark()
		}
		e.mu.Lock()
		j.interrupt = &kvapi.Interrupt{}
		e.jobs[j.rec.ID] = j
		e.mu.Unlock()
	}
	w.mu.Lock()
	w.queue = append(w.queue, jobs...)
	w.mu.Unlock()
	e.wakeWorker()
}

// wakeWorker starts the worker's next round without the pause.
func (e *Executor) wakeWorker() {
	select {
	case e.worker.wake <- struct{}{}:
	default:
	}
}

// work runs queued jobs, one attempt each per round.
func (e *Executor) work() {
	w := &e.worker
	defer close(w.done)
	for {
		w.mu.Lock()
		round := w.queue
		w.queue = nil
		w.mu.Unlock()
		var later []*job
		for _, j := range round {
			if w.interrupt.Reason() != kvapi.ReasonNone {
				return
			}
			done, err := e.attempt(j)
			if err != nil {
				e.log.Warn("schema change did not proceed", "job", j.rec.ID, "kind", string(e.kindOf(j)), "error", err)
			}
			if !done {
				later = append(later, j)
			}
		}
		w.mu.Lock()
		w.queue = append(later, w.queue...)
		waiting := len(w.queue) > 0
		w.mu.Unlock()
		waiting = e.freeTemporary() || waiting
		var retry <-chan time.Time
		if waiting {
			retry = clock.After(workerRetry)
		}
		select {
		case <-w.stop:
			return
		case <-w.wake:
		case <-retry:
		}
	}
}

// attempt runs a job as far as possible and reports whether it is done. The caller
// logs errors and tries again later.
func (e *Executor) attempt(j *job) (done bool, err error) {
	if e.resting(j) {
		return false, nil
	}
	if kind := e.kindOf(j); kind == jobDestroy || kind == jobCopy {
		done, err = e.runDestroy(j)
	} else {
		done, err = e.resumeIndex(j)
	}
	if errors.Is(err, kvapi.ErrLockTimeout) || errors.Is(err, kvapi.ErrInterrupted) {
		err = nil // a session still uses the table, or the executor is closing
	}
	return done, err
}

// workerPatienceNow returns the bound of the waits of an attempt that begins now.
func (e *Executor) workerPatienceNow() catalog.Patience {
	return catalog.PatienceFor(workerPatience, &e.worker.interrupt, nil)
}

// runDestroy frees the data of a dropped table or index.
func (e *Executor) runDestroy(j *job) (bool, error) {
	j.setPhase("freeing")
	span := table.DataSpan(j.rec.PhysID)
	if j.rec.IndexID != 0 {
		span = table.EntrySpan(j.rec.PhysID, j.rec.IndexID)
		// Sessions that use the delete-only version may still delete entries, and
		// nobody may write into a span that is being deleted.
		if t := e.catalog.Current().TableByID(j.rec.TableID); t != nil {
			if err := e.settle(j, t, e.workerPatienceNow()); err != nil {
				return false, err
			}
			j.setPhase("freeing")
		}
	}
	done, err := e.destroy(span, j.after)
	if err != nil || !done {
		j.setPhase("waiting for old snapshots")
		return false, err
	}
	if j.rec.IndexID == 0 {
		if err := e.forgetTable(j.rec.PhysID); err != nil {
			return false, err
		}
	}
	if err := e.inTxn(j.remove); err != nil {
		return false, err
	}
	e.untrack(j)
	return true, nil
}

// forgetTable deletes what is stored for a physical table besides its data. The
// statement that dropped it waited for its last user, so nobody takes ids of it.
// The caller removes the job afterwards, so that all is repeated after a crash.
func (e *Executor) forgetTable(physID uint64) error {
	if err := e.ids.Drop(physID); err != nil {
		return err
	}
	if err := catalog.DropDictionaries(e.txns, physID); err != nil {
		return err
	}
	if e.gone == nil {
		return nil
	}
	return e.gone(physID)
}
