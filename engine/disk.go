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

// spaceHysteresisQuarters: writes resume when five quarters of the watermark are free, so that they do not flap.
const spaceHysteresisQuarters = 5

// disk is the state of the watermark and of the ballast.
type disk struct {
	full      atomic.Bool
	freeBytes atomic.Uint64
	sizeBytes atomic.Uint64

	lowBytes     uint64 // 0: no watermark
	ballastBytes uint64 // the largest size of the ballast; 0: no ballast
	ballastGrows bool   // the ballast grows with the store, instead of having ballastBytes at once

	// diskMu guards the ballast file and ballastNow. It is a leaf: nothing else is locked under it, and Pebble is not called.
	diskMu     sync.Mutex
	ballastNow uint64 // bytes of the file; 0: there is none
}

// DiskFull tells whether writes should be refused because free space is below the watermark. One atomic load.
func (e *Engine) DiskFull() bool { return e.disk.full.Load() }

// LowSpaceBytes is the watermark of free space; 0 if there is none.
func (e *Engine) LowSpaceBytes() uint64 { return e.disk.lowBytes }

// openDisk computes the watermark, removes the ballast if the disk is too full for recovery, and otherwise creates it.
func (e *Engine) openDisk() error {
	d := &e.disk
	if info, err := e.fs.Stat(e.fs.PathJoin(e.opts.Dir, ballastName)); err == nil {
		d.ballastNow = max(uint64(max(info.Size(), 0)), ballastFirstBytes) // preallocated bytes do not show in the size
	}
	usage, err := e.fs.GetDiskUsage(e.opts.Dir)
	if err != nil {
		// File systems in memory have no size; they get a watermark only if the caller asks.
		d.lowBytes = uint64(max(e.opts.LowSpaceBytes, 0))
		return nil
	}
	d.lowBytes = limit(e.opts.LowSpaceBytes, usage.TotalBytes/lowSpaceFraction, lowSpaceBytesMax)
	d.ballastBytes = limit(e.opts.BallastBytes, usage.TotalBytes/ballastFraction, ballastBytesMax)
	d.ballastGrows = e.opts.BallastBytes == 0
	e.PollDisk()
	return nil
}

// limit resolves an option: NoSpace means 0, 0 means the fraction but no more than largest, and any other number itself.
func limit(option int64, fraction, largest uint64) uint64 {
	switch {
	case option < 0:
		return 0
	case option > 0:
		return uint64(option)
	}
	return min(fraction, largest)
}

// PollDisk updates what DiskFull returns. The owner calls it about once a second. Below half of the watermark it also removes
// the ballast, so that flushes, compactions and garbage collection can go on and free space; with plenty of space it creates the
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
		if err := e.layBallast(e.wantBallast()); err != nil {
			e.opts.Logger.Warn("cannot lay the ballast file", "dir", e.opts.Dir, "error", err)
		}
	}
}

// ReleaseBallast removes the ballast file and tells whether there was one.
func (e *Engine) ReleaseBallast() bool {
	d := &e.disk
	d.diskMu.Lock()
	defer d.diskMu.Unlock()
	if d.ballastNow == 0 {
		return false
	}
	// By opts.FS: e.fs calls this function on ENOSPC, and must not be entered again.
	if err := e.opts.FS.Remove(e.opts.FS.PathJoin(e.opts.Dir, ballastName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		e.opts.Logger.Error("cannot release the ballast file", "dir", e.opts.Dir, "error", err)
		return false
	}
	d.ballastNow = 0
	e.opts.Logger.Warn("released the ballast file to gain space", "dir", e.opts.Dir)
	return true
}

// wantBallast is the size that the ballast should have: about that of the store, within its bounds, so that a nearly empty directory takes
// little. What flushes and compactions need besides the watermark grows with the store.
func (e *Engine) wantBallast() uint64 {
	d := &e.disk
	if !d.ballastGrows {
		return d.ballastBytes
	}
	d.diskMu.Lock()
	now := d.ballastNow
	d.diskMu.Unlock()
	if now >= d.ballastBytes || !e.opened.Load() {
		return min(max(now, ballastFirstBytes), d.ballastBytes)
	}
	want := uint64(ballastFirstBytes)
	for bytes := e.db.Metrics().DiskSpaceUsage(); want < d.ballastBytes && want < bytes; {
		want *= 2
	}
	return min(want, d.ballastBytes)
}

// layBallast creates or enlarges the ballast file to that size, unless it has it.
func (e *Engine) layBallast(bytes uint64) (err error) {
	d := &e.disk
	d.diskMu.Lock()
	defer d.diskMu.Unlock()
	if d.ballastNow >= bytes {
		return nil
	}
	fs := e.opts.FS
	name := fs.PathJoin(e.opts.Dir, ballastName)
	var f File
	if d.ballastNow > 0 {
		f, err = fs.OpenReadWrite(name, "pando-ballast")
	} else {
		f, err = fs.Create(name, "pando-ballast")
	}
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	err = fill(f, int64(d.ballastNow), int64(bytes))
	if err = errors.Join(err, f.Close()); err != nil {
		d.ballastNow = 0
		return errors.Join(err, fs.Remove(name))
	}
	d.ballastNow = bytes
	return nil
}

// fill allocates disk space for f, which has some for its first from bytes, up to n bytes: by preallocation where that has an effect, and by
// writing zeros otherwise. Its size is n afterwards.
func fill(f File, from, n int64) error {
	if err := f.Preallocate(0, n); err == nil && f.Fd() != InvalidFd {
		_, err := f.WriteAt([]byte{0}, n-1) // preallocation leaves the size as it is
		return err
	}
	zeros := make([]byte, ballastZeroBytes)
	for at := from; at < n; at += ballastZeroBytes {
		if _, err := f.WriteAt(zeros[:min(n-at, ballastZeroBytes)], at); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return f.Sync()
}

// onDiskFull runs when a write has failed with ENOSPC, before it is tried once more. It may run on any goroutine, also one
// that writes the log, so it does no more than set the flag and remove a file.
func (e *Engine) onDiskFull() {
	e.disk.full.Store(true)
	e.ReleaseBallast()
}

func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
