package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/status"
)

// Engine is one open directory. All methods are safe for concurrent use; Close must come after everything else has returned
// and after all iterators are closed.
type Engine struct {
	opts  Options
	fs    FS
	db    *pebble.DB
	cache *pebble.Cache
	room  cacheRoom
	log   *wal.Log
	lock  *pebble.Lock
	iters sync.Pool // of *Iter
	batch sync.Pool // of *Batch

	// order guards what follows, and is held while a batch is appended to the log. The log's lock is taken under it.
	order      sync.Mutex
	end, noted wal.Position   // where the last batch ends in the log, and the last that had a note
	applying   []wal.Position // where the batches begin that are in the log and not in the memtable yet
	lastNote   wal.Position   // that the newest note names
	noting     bool           // one of applying has a note
	landed     *sync.Cond     // on order: a batch has left applying
	replayed   wal.Position   // how many bytes of the log Open has replayed

	// cut is held by a checkpoint between its two steps, see Checkpoint, and shared by calls that ask what is in tables. It is taken
	// before order.
	cut sync.RWMutex

	opened       atomic.Bool // the directory and the log are open
	failed       atomic.Bool
	stalled      atomic.Bool
	slowLog      atomic.Bool   // the present slow sync of the log has been logged
	plainReads   atomic.Bool   // the system cannot tell whether a read would block
	pressure     atomic.Uint64 // math.Float64bits
	disk         disk
	failing      failing
	garbage      garbage
	unflushed    unflushed
	settling     settling
	loads        loads
	sinker       sinker
	direct       directReads
	counters     counters
	tables       atomic.Uint64 // number of the last file in the directory of incoming tables
	sorters      atomic.Int64  // open ones
	fileSpace    FileSpace     // bounds the sorters' files; nil does not
	sortMemory   SortMemory    // memory of sorters beyond their own; nil if there is none
	sortBytesMax int64         // bytes of sortMemory that all sorters together may take
	sortLent     atomic.Int64  // bytes of sortMemory that they have taken
}

// counters are what Pebble's own metrics do not hold.
type counters struct {
	applied        status.Counter
	appliedBytes   status.Counter
	unlogged       status.Counter
	unloggedBytes  status.Counter
	stalls         status.Counter
	stallNanos     status.Counter
	background     status.Counter
	corruptions    status.Counter
	slowWrites     status.Counter
	garbageFlushes status.Counter
	diskReads      status.Counter
	tableReads     status.Counter
	directReads    status.Counter
	stallSince     atomic.Int64 // clock.Mono at the start of the present stall, in nanoseconds
}

// Open opens the directory, creating it when absent. A refusal is a sentence that wraps one of the sentinels of errors.go.
func Open(opts Options) (*Engine, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{opts: opts, sinker: sinker{kick: make(chan struct{}, 1)}}
	e.failing.stuckMax = stuckMax
	e.landed = sync.NewCond(&e.order)
	// ENOSPC anywhere marks the disk full and gives up the ballast before the write is tried once more.
	e.fs = vfs.OnDiskFull(opts.FS, e.onDiskFull)
	e.unflushed.init(opts.MemTableBytes)
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
	lockName := e.fs.PathJoin(e.opts.Dir, lockFileName)
	_, err := e.fs.Stat(lockName)
	locked := err == nil // the lock file exists
	lock, err := pebble.LockDirectory(e.opts.Dir, e.fs)
	if err != nil {
		return fmt.Errorf("%w: another process has %s open; stop it or choose another data directory (%v)",
			ErrInUse, e.opts.Dir, err)
	}
	e.lock = lock
	if err := e.openLocked(); err != nil {
		if !locked && errors.Is(err, ErrForeign) {
			// A foreign directory is left as it was, so the lock file is removed. A process that has opened it meanwhile refuses the directory, too.
			err = errors.Join(err, e.fs.Remove(lockName))
		}
		return errors.Join(err, lock.Close())
	}
	return nil
}

func (e *Engine) openLocked() error {
	before, exists, err := e.inspectDir()
	if err != nil {
		return err
	}
	if err := e.openDisk(); err != nil {
		return err
	}
	e.cache = pebble.NewCache(e.opts.CacheBytes)
	defer e.cache.Unref() // the database holds it from Open to Close
	options := e.pebbleOptions()
	options.Lock = e.lock
	options.ErrorIfNotExists = exists
	db, err := pebble.Open(e.opts.Dir, options)
	if err != nil {
		return e.explainOpen(err)
	}
	e.db = db
	if err := e.openLog(); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := e.clearIncoming(); err != nil {
		return errors.Join(fmt.Errorf("engine: directory of incoming tables: %w", err), e.log.Close(), db.Close())
	}
	e.opened.Store(true)
	e.PollReads()
	e.log.Kick() // what was flushed until now
	e.startSinker()
	if now := int(db.FormatMajorVersion()); exists && now != before {
		e.opts.Logger.Info("storage format raised: older versions of the program cannot open the directory any more", "dir", e.opts.Dir, "from", before, "to", now)
	}
	e.opts.Logger.Info("storage is open", "dir", e.opts.Dir, "format", int(db.FormatMajorVersion()), "existed", exists, "replayed_bytes", uint64(e.replayed))
	return nil
}

// Close syncs the log, ends the goroutines of the engine, the log and Pebble, and releases the directory. It does not flush memtables: the
// next Open replays the log.
func (e *Engine) Close() error {
	e.stopSinker()
	err := errors.Join(e.log.Close(), e.db.Close())
	e.direct.close()
	return errors.Join(err, e.lock.Close())
}

// Failed tells whether a fatal error has happened.
func (e *Engine) Failed() bool { return e.failed.Load() }

// fail records a fatal error and calls Options.Fatal, which ends the process. Only the first call has an effect.
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

// GetFlushed is Get of what is in tables, so that a crash does not lose it.
func (e *Engine) GetFlushed(dst, key []byte) (value []byte, found bool, err error) {
	e.cut.RLock()
	defer e.cut.RUnlock()
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: key, OnlyReadGuaranteedDurable: true})
	if err != nil {
		return dst, false, e.explainRead(err)
	}
	if it.First() && bytes.Equal(it.Key(), key) {
		v, err := it.ValueAndErr()
		if err != nil {
			return dst, false, errors.Join(e.explainRead(err), it.Close())
		}
		dst, found = append(dst, v...), true
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return dst, false, e.explainRead(err)
	}
	return dst, found, nil
}

// ApplyNoSync makes b visible; b.SyncWait makes it durable. Goroutines that write the same key must apply their batches one after the
// other: of batches that are applied concurrently, one may be the last in memory and another the last in the log.
func (e *Engine) ApplyNoSync(b *Batch) error { return e.apply(b, false) }

// Apply makes b visible. With sync it returns once b is durable. Without, b becomes durable with the next batch that is synced, or
// whenever else the log is synced (relaxed durability).
func (e *Engine) Apply(b *Batch, sync bool) error {
	if err := e.apply(b, false); err != nil || !sync {
		return err
	}
	return b.SyncWait()
}

// SyncWAL returns once everything applied so far is durable.
func (e *Engine) SyncWAL() error {
	if e.failed.Load() {
		return ErrFailed
	}
	return e.syncWAL(e.log.End())
}

// Flush writes all memtables to tables. A crash then replays nothing of what was applied before.
func (e *Engine) Flush() error {
	flushed, err := e.flushNoted()
	if err == nil {
		<-flushed
		e.cut.RLock() // see Checkpoint
		defer e.cut.RUnlock()
	}
	return err
}

// Compact compacts everything between two engine keys down to the last level. Tests and bench use it; Pebble compacts on its
// own otherwise. It stops when ctx is done.
func (e *Engine) Compact(ctx context.Context, start, end []byte) error {
	return e.db.Compact(ctx, start, end, true)
}

var _ io.Closer = (*Engine)(nil)
