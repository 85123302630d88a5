package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/status"
)

// Engine is one open directory. All methods are safe for concurrent use; Close must come after everything else has returned
// and after all iterators are closed.
type Engine struct {
	opts   Options
	fs     FS
	logs   *logSpace
	syncer dataSyncer
	db     *pebble.DB
	lock   *pebble.Lock
	iters  sync.Pool // of *Iter
	batch  sync.Pool // of *Batch

	opened   atomic.Bool // Pebble has opened the directory
	failed   atomic.Bool
	stalled  atomic.Bool
	pressure atomic.Uint64 // math.Float64bits
	disk     disk
	garbage  garbage
	counters counters
}

// counters are what Pebble's own metrics do not hold.
type counters struct {
	applied      status.Counter
	appliedBytes status.Counter
	stalls       status.Counter
	stallNanos   status.Counter
	background   status.Counter
	corruptions  status.Counter
	slowWrites   status.Counter
	stallSince   atomic.Int64 // clock.Mono at the start of the present stall, in nanoseconds
}

// Open opens the directory, creating it when absent. A refusal is a sentence that wraps one of the sentinels of errors.go.
func Open(opts Options) (*Engine, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{opts: opts}
	// ENOSPC anywhere marks the disk full and gives up the ballast before the write is tried once more.
	e.logs = newLogSpace(e, vfs.OnDiskFull(opts.FS, e.onDiskFull))
	e.fs = e.logs
	if err := e.open(); err != nil {
		return nil, err
	}
	return e, nil
}

// OpenMem opens an engine in memory with small buffers, for tests and for temporary data. Nothing survives Close.
func OpenMem() (*Engine, error) {
	return Open(Options{
		Dir: "mem", FS: vfs.NewMem(), CacheBytes: 16 << 20, MemTableBytes: 4 << 20,
		LowSpaceBytes: NoSpace, BallastBytes: NoSpace,
	})
}

func (e *Engine) open() error {
	if err := e.prepareDir(); err != nil {
		return err
	}
	lock, err := pebble.LockDirectory(e.opts.Dir, e.fs)
	if err != nil {
		return fmt.Errorf("%w: another process has %s open; stop it or choose another data directory (%v)",
			ErrInUse, e.opts.Dir, err)
	}
	e.lock = lock
	if err := e.openLocked(); err != nil {
		return errors.Join(err, lock.Close())
	}
	return nil
}

func (e *Engine) openLocked() error {
	exists, raise, err := e.inspectDir()
	if err != nil {
		return err
	}
	if err := e.openDisk(); err != nil {
		return err
	}
	if err := e.logs.find(); err != nil {
		return err
	}
	if err := e.syncer.open(); err != nil {
		e.opts.Logger.Info("the log is synced by blocking calls", "reason", err)
	}
	options := e.pebbleOptions()
	options.Lock = e.lock
	options.ErrorIfNotExists = exists
	db, err := pebble.Open(e.opts.Dir, options)
	if err != nil {
		e.syncer.close()
		return e.explainOpen(err)
	}
	e.db = db
	e.opened.Store(true)
	if raise {
		// Pebble makes the first log before it raises the format, so the chunks of a new store's first log lack the synced
		// offset: damage in its middle would pass for a torn tail and silently drop what follows. A flush starts a new log.
		if err := db.Flush(); err != nil {
			return errors.Join(fmt.Errorf("engine: start the first log of %s: %w", e.opts.Dir, err), db.Close())
		}
	}
	go e.logs.run()
	e.opts.Logger.Info("storage is open", "dir", e.opts.Dir, "format", int(db.FormatMajorVersion()), "existed", exists)
	return nil
}

// Close flushes nothing that recovery would not find, ends Pebble's goroutines and releases the directory.
func (e *Engine) Close() error {
	e.logs.close()
	err := e.db.Close()
	e.syncer.close()
	return errors.Join(err, e.lock.Close())
}

// Failed tells whether a fatal error has happened.
func (e *Engine) Failed() bool { return e.failed.Load() }

// fail records a fatal error and ends the process by way of Options.Fatal. It is idempotent: the first reason counts.
func (e *Engine) fail(reason string) {
	if e.failed.CompareAndSwap(false, true) {
		e.opts.Fatal(reason)
	}
}

// Get appends the value of an engine key to dst. It is for unversioned keys; versions are read through package mvcc.
func (e *Engine) Get(dst, key []byte) (value []byte, found bool, err error) {
	v, closer, err := e.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return dst, false, nil
	}
	if err != nil {
		return dst, false, e.explainRead(err)
	}
	dst = append(dst, v...)
	return dst, true, errors.Join(closer.Close())
}

// ApplyNoSync makes b visible and queues it for the next WAL sync; b.SyncWait waits for that. Batches become visible and
// enter the WAL in one order. b must not be changed, reset or closed before SyncWait has returned.
func (e *Engine) ApplyNoSync(b *Batch) error {
	if e.failed.Load() {
		return ErrFailed
	}
	e.count(b)
	if err := e.db.ApplyNoSyncWait(b.b, pebble.Sync); err != nil {
		return fmt.Errorf("engine: apply: %w", err)
	}
	b.pending = true
	// Pebble reports a broken WAL by its logger's Fatalf and returns nil; in the product Fatalf does not return.
	if e.failed.Load() {
		return ErrFailed
	}
	return nil
}

// Apply makes b visible. With sync it returns once b is durable. Without, b is durable no later than the next batch that is,
// and otherwise when the WAL happens to be written (relaxed durability).
func (e *Engine) Apply(b *Batch, sync bool) error {
	if e.failed.Load() {
		return ErrFailed
	}
	if sync {
		if err := e.ApplyNoSync(b); err != nil {
			return err
		}
		return b.SyncWait()
	}
	e.count(b)
	if err := e.db.Apply(b.b, pebble.NoSync); err != nil {
		return fmt.Errorf("engine: apply: %w", err)
	}
	if e.failed.Load() {
		return ErrFailed
	}
	return nil
}

// SyncWAL returns once everything applied so far is durable.
func (e *Engine) SyncWAL() error {
	if e.failed.Load() {
		return ErrFailed
	}
	// An empty record takes its place in the WAL behind everything applied, so its sync covers them.
	if err := e.db.LogData(nil, pebble.Sync); err != nil {
		e.fail("sync WAL: " + err.Error())
		return ErrFailed
	}
	if e.failed.Load() {
		return ErrFailed
	}
	return nil
}

func (e *Engine) count(b *Batch) {
	e.counters.applied.Inc()
	e.counters.appliedBytes.Add(uint64(b.b.Len()))
}

// Flush writes all memtables to tables.
func (e *Engine) Flush() error { return e.db.Flush() }

// Compact compacts everything between two engine keys down to the last level. Tests and bench use it; Pebble compacts on its
// own otherwise. It stops when ctx is done.
func (e *Engine) Compact(ctx context.Context, start, end []byte) error {
	return e.db.Compact(ctx, start, end, true)
}

// Checkpoint makes a consistent copy of the engine in dir, which must not exist, by hard links where the file system allows.
// Everything applied before is part of it.
func (e *Engine) Checkpoint(dir string) error {
	if err := e.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("engine: checkpoint to %s: %w", dir, err)
	}
	return nil
}

var _ io.Closer = (*Engine)(nil)
