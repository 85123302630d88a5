package engine

import (
	"time"

	"github.com/pandodb/pando/clock"
)

// logFile is an open WAL, or the directory of the WALs. An error of a write or sync ends the process by way of Options.Fatal
// before Pebble sees it: Pebble reports most of them to its logger, but panics on one that it meets while it changes logs.
//
// Its user, one goroutine of Pebble's at a time, writes and syncs it.
type logFile struct {
	File
	e      *Engine
	synced time.Duration // clock.Mono at the end of the last sync
}

// syncGapMax is the pause between two syncs from which the server is taken to have little to do: at sixteen clients it is about
// 20 µs, at one it is the client's round trip, and beside a compaction it varies (bench/results/2026-11-21-uring.md).
const syncGapMax = 100 * time.Microsecond

// Write implements File.
func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.check("write", err)
}

// Sync implements File.
func (f *logFile) Sync() error { return f.check("sync", f.File.Sync()) }

// SyncData implements File. While syncs follow each other closely it goes by the kernel's asynchronous interface where there is
// one: see dataSyncer. A lone client is better served by the blocking call, which has one wake-up less.
func (f *logFile) SyncData() (err error) {
	done := false
	if fd := f.Fd(); fd != InvalidFd && clock.Since(f.synced) < syncGapMax {
		done, err = f.e.syncer.sync(fd)
	}
	if !done {
		err = f.File.SyncData()
	}
	f.synced = clock.Mono()
	return f.check("sync", err)
}

func (f *logFile) check(what string, err error) error {
	if err != nil {
		return f.e.logFailed(what, err)
	}
	return nil
}

// logFailed reports an error of the log. While the directory is being opened it only refuses that.
func (e *Engine) logFailed(what string, err error) error {
	if e.opened.Load() {
		e.fail(what + " WAL: " + err.Error())
	}
	return err
}
