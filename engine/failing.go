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
	// stuckMax is how long all flushes may fail, or writes be stalled while flushes or compactions fail, until the process ends. Pebble retries
	// them for ever, which is right if the disk is full; on a disk that returns I/O errors writes would in the end wait for ever.
	stuckMax = 10 * time.Second
	// failureToldEvery is how often failures of flushes and compactions are logged at most: Pebble retries without a pause.
	failureToldEvery = 10 * time.Second
)

// failing is what is known of a disk that returns I/O errors or wrong bytes.
type failing struct {
	damage atomic.Pointer[error] // the first that was seen

	stuckMax time.Duration // the constant, or what a test has set

	// mu guards what follows. It is a leaf: callbacks come with Pebble's mutex held.
	mu     sync.Mutex
	since  time.Duration // clock.Mono of the first flush that has failed since one succeeded; 0: none has
	told   time.Duration // clock.Mono of the last log line; 0: there was none
	untold int           // failures since then
}

// Damaged returns the first I/O error or checksum error of the disk, if there was one: some of the data may no longer be readable. What is
// returned by reads is right all the same, since everything has checksums.
func (e *Engine) Damaged() error {
	if err := e.failing.damage.Load(); err != nil {
		return *err
	}
	return nil
}

// Fail is called by an owner that has found that nothing may be acknowledged any more: it calls Options.Fatal, which ends the process.
func (e *Engine) Fail(reason string) { e.fail(reason) }

// isBadDisk reports whether an error is an I/O error of the disk, rather than that it is full or a file is missing.
func isBadDisk(err error) bool { return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS) }

// noteDamage remembers the first damage.
func (e *Engine) noteDamage(err error) { e.failing.damage.CompareAndSwap(nil, &err) }

// backgroundFailed is called when a flush or compaction has failed and will be retried.
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

// flushEnded is called at the end of each flush. Pebble passes an error also for one that had nothing to write.
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
