package ddl

import (
	"errors"

	"github.com/pandodb/pando/kvapi"
)

// The errors of Pause and Resume besides ErrNoJob.
var (
	ErrNotPausable = errors.New("only the build of an index can be paused")
	ErrIsPaused    = errors.New("it is paused already")
	ErrNotPaused   = errors.New("it is not paused")
)

// phasePaused is the phase of a build that waits for Resume.
const phasePaused = "paused"

// errPaused: the worker's other jobs come first until the build is resumed.
var errPaused = errors.New("ddl: the build is paused")

// Pause makes an index build rest when it has written what it has in hand: it holds no lock, snapshot or gate then, and writers go on. A session that
// builds waits, and keeps the table's name for schema changes. The pause outlasts a restart, after which the worker has the build. Other jobs are not
// paused: a copy keeps the table's users away, and a removal holds nobody up. Safe for concurrent use.
func (e *Executor) Pause(id uint64) error {
	return e.onJob(id, func(j *job) error {
		switch {
		case j.rec.Kind != jobCreateIndex:
			return ErrNotPausable
		case j.resumed != nil:
			return ErrIsPaused
		}
		j.pause()
		return nil
	})
}

// Resume ends the pause of a build. Safe for concurrent use.
func (e *Executor) Resume(id uint64) error {
	return e.onJob(id, func(j *job) error {
		if j.resumed == nil {
			return ErrNotPaused
		}
		j.paused.Store(false)
		close(j.resumed)
		j.resumed = nil
		e.wakeWorker()
		return nil
	})
}

// pause is called under Executor.mu, or before the job is known to others.
func (j *job) pause() {
	j.resumed = make(chan struct{})
	j.paused.Store(true)
}

// rest waits, or with a slice returns errPaused, while the job is paused. Nothing is locked. The record that it stores pauses the job after a restart, too.
func (b *backfiller) rest() error {
	if !b.j.paused.Load() {
		return nil
	}
	if err := b.interrupted(); err != nil {
		return err
	}
	if err := b.e.inTxn(b.j.put); err != nil {
		return err
	}
	b.j.setPhase(phasePaused)
	if b.until > 0 {
		return errPaused
	}
	for {
		b.e.mu.Lock()
		resumed := b.j.resumed
		b.e.mu.Unlock()
		if resumed == nil {
			break
		}
		select {
		case <-resumed:
		case <-b.p.Interrupt.Done():
			return b.interrupted()
		}
	}
	b.j.setPhase("backfilling")
	return b.e.inTxn(b.j.put)
}

// resting reports whether the worker leaves a job alone because it is paused. One that is cancelled, or whose index is dropped, is not.
func (e *Executor) resting(j *job) bool {
	if !j.paused.Load() || e.kindOf(j) != jobCreateIndex || j.interrupt.Reason() != kvapi.ReasonNone {
		return false
	}
	j.setPhase(phasePaused)
	return true
}
