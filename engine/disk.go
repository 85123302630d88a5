package engine

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// ballastName is the file that is given up when the disk fills.
const ballastName = "ballast"

// ballastZeroBytes is the unit in which the ballast is written where the file system cannot preallocate.
const ballastZeroBytes = 1 << 20

// spaceHysteresis: writes resume when this multiple of the watermark is free, in quarters, so that they do not flap.
const spaceHysteresisQuarters = 5

// disk is the state of the watermark and of the ballast.
type disk struct {
	full      atomic.Bool
	freeBytes atomic.Uint64
	sizeBytes atomic.Uint64

	lowBytes     uint64 // 0: no watermark
	ballastBytes uint64 // 0: no ballast

	// diskMu guards the ballast file and ballastHeld. It is a leaf: nothing else is locked under it, and Pebble is not called.
	diskMu      sync.Mutex
	ballastHeld bool
}

// DiskFull tells whether writes should be refused because free space is below the watermark. One atomic load.
func (e *Engine) DiskFull() bool { return e.disk.full.Load() }

// openDisk computes the watermark, gives up the ballast when the disk is too full for recovery, and otherwise lays it.
func (e *Engine) openDisk() error {
	d := &e.disk
	_, err := e.fs.Stat(e.fs.PathJoin(e.opts.Dir, ballastName))
	d.ballastHeld = err == nil
	usage, err := e.fs.GetDiskUsage(e.opts.Dir)
	if err != nil {
		// File systems in memory have no size; they get a watermark only if the caller asks.
		d.lowBytes = uint64(max(e.opts.LowSpaceBytes, 0))
		return nil
	}
	d.lowBytes = limit(e.opts.LowSpaceBytes, usage.TotalBytes/lowSpaceFraction, lowSpaceBytesMax)
	d.ballastBytes = limit(e.opts.BallastBytes, usage.TotalBytes/ballastFraction, ballastBytesMax)
	e.PollDisk()
	return nil
}

// limit resolves an option: NoSpace is none, 0 is the fraction under the cap, and a number is itself.
func limit(option int64, fraction, most uint64) uint64 {
	switch {
	case option < 0:
		return 0
	case option > 0:
		return uint64(option)
	}
	return min(fraction, most)
}

// PollDisk refreshes what DiskFull says. The owner calls it about once a second. Below half of the watermark it also gives up
// the ballast, so that flushes, compactions and garbage collection can go on and free space; with plenty of space it lays the
// ballast again.
func (e *Engine) PollDisk() {
	d := &e.disk
	usage, err := e.fs.GetDiskUsage(e.opts.Dir)
	if err != nil {
		return
	}
	free := usage.AvailBytes
	d.freeBytes.Store(free)
	d.sizeBytes.Store(usage.TotalBytes)
	switch {
	case free < d.lowBytes:
		if !d.full.Swap(true) {
			e.opts.Logger.Warn("the disk is nearly full; writes are refused until space is freed",
				"dir", e.opts.Dir, "free_bytes", free, "watermark_bytes", d.lowBytes)
		}
	case free >= d.lowBytes/4*spaceHysteresisQuarters:
		if d.full.Swap(false) {
			e.opts.Logger.Info("the disk has space again; writes are accepted", "dir", e.opts.Dir, "free_bytes", free)
		}
	}
	switch {
	case free < d.lowBytes/2:
		e.ReleaseBallast()
	case d.ballastBytes > 0 && free > 2*d.lowBytes+2*d.ballastBytes:
		if err := e.layBallast(); err != nil {
			e.opts.Logger.Warn("cannot lay the ballast file", "dir", e.opts.Dir, "error", err)
		}
	}
}

// ReleaseBallast gives up the ballast file and tells whether there was one.
func (e *Engine) ReleaseBallast() bool {
	d := &e.disk
	d.diskMu.Lock()
	defer d.diskMu.Unlock()
	if !d.ballastHeld {
		return false
	}
	// The inner file system: the wrapper that calls us on ENOSPC must not be entered again.
	if err := e.opts.FS.Remove(e.opts.FS.PathJoin(e.opts.Dir, ballastName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		e.opts.Logger.Error("cannot release the ballast file", "dir", e.opts.Dir, "error", err)
		return false
	}
	d.ballastHeld = false
	e.opts.Logger.Warn("released the ballast file to gain space", "dir", e.opts.Dir)
	return true
}

// layBallast makes the ballast file unless it is there.
func (e *Engine) layBallast() (err error) {
	d := &e.disk
	d.diskMu.Lock()
	defer d.diskMu.Unlock()
	if d.ballastHeld {
		return nil
	}
	fs := e.opts.FS
	name := fs.PathJoin(e.opts.Dir, ballastName)
	f, err := fs.Create(name, "pando-ballast")
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	err = fill(f, int64(d.ballastBytes))
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fs.Remove(name))
	}
	d.ballastHeld = true
	return nil
}

// fill makes f own n bytes of the disk, by preallocation where it has an effect and by writing otherwise.
func fill(f File, n int64) error {
	if err := f.Preallocate(0, n); err == nil && f.Fd() != InvalidFd {
		return nil
	}
	zeros := make([]byte, ballastZeroBytes)
	for left := n; left > 0; left -= ballastZeroBytes {
		if _, err := f.Write(zeros[:min(left, ballastZeroBytes)]); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return f.Sync()
}

// onDiskFull runs when a write has met ENOSPC, before it is tried once more. It may run on any goroutine, also one
// that writes the log, so it does no more than flip the flag and remove a file.
func (e *Engine) onDiskFull() {
	e.disk.full.Store(true)
	e.ReleaseBallast()
}

func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
