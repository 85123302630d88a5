package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pandodb/pando/clock"
)

const (
	// stuckMax is how long all flushes may fail, or writes be stalled while work in the background fails, until the process ends. Pebble tries
	// such work again and again, which is right for a disk that is full; on one that answers errors writes would in the end wait for ever.
	stuckMax = 10 * time.Second
	// failureToldEvery: failures of work in the background are told of once in that time: Pebble tries again without a pause.
	failureToldEvery = 10 * time.Second
)

// failing is what is known of a disk that answers errors, or has other bytes than were written to it.
type failing struct {
	damage atomic.Pointer[error] // the first that was met

	stuckMax time.Duration // the constant, or what a test has set

	// mu guards what follows. It is a leaf: callbacks come with Pebble's mutex held.
	mu     sync.Mutex
	since  time.Duration // clock.Mono of the first flush that has failed since one succeeded; 0: none has
	told   time.Duration // clock.Mono of the last log line; 0: there was none
	untold int           // failures since
}

// Damaged returns the first error that says that the disk answers errors, or has other bytes than were written, if there was one: some of what is
// stored here may be read no more. What was read is right all the same, since everything has checksums.
func (e *Engine) Damaged() error {
	if err := e.failing.damage.Load(); err != nil {
		return *err
	}
	return nil
}

// Fail is for an owner that has found that nothing may be acknowledged any more: it ends the process by way of Options.Fatal.
func (e *Engine) Fail(reason string) { e.fail(reason) }

// isBadDisk tells errors of the disk from others, such as that it is full or that a file is not there.
func isBadDisk(err error) bool { return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS) }

// noteDamage remembers the first damage.
func (e *Engine) noteDamage(err error) { e.failing.damage.CompareAndSwap(nil, &err) }

// backgroundFailed is told of a flush or a compaction that has failed and will be tried again.
func (e *Engine) backgroundFailed(err error) {
	e.counters.background.Inc()
	if isDiskFull(err) {
		e.disk.full.Store(true)
	}
	if isBadDisk(err) || pebble.IsCorruptionError(err) {
		e.noteDamage(err)
	}
	now := clock.Mono()
	f := &e.failing
	f.mu.Lock()
	f.untold++
	tell := f.told == 0 || now-f.told >= failureToldEvery
	times := f.untold
	if tell {
		f.told, f.untold = now, 0
	}
	f.mu.Unlock()
	if tell {
		e.opts.Logger.Error("background storage work failed and will be tried again", "error", err, "times", times)
	}
	if since := time.Duration(e.counters.stallSince.Load()); e.stalled.Load() && now-since >= f.stuckMax && !isDiskFull(err) {
		e.fail(fmt.Sprintf("writes have been stalled for %v, because work in the background fails: %v", (now - since).Round(time.Second), err))
	}
}

// flushEnded is told how a flush has ended. Pebble calls one that had nothing to write an error too.
func (e *Engine) flushEnded(err error) {
	now := clock.Mono()
	f := &e.failing
	f.mu.Lock()
	fails := err != nil && isBadDisk(err)
	if f.since == 0 || !fails {
		f.since = now
	}
	long := now - f.since
	if !fails {
		f.since = 0
	}
	f.mu.Unlock()
	if fails && long >= f.stuckMax {
		e.fail(fmt.Sprintf("what is in memory could not be flushed for %v: %v", long.Round(time.Second), err))
	}
}
