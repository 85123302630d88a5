package engine

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/engine/aio"
)

const (
	// directReadsMax are under way at a time; more go through the page cache. It is what a fast disk needs to be busy.
	directReadsMax = 128
	// directBytesMax is the longest read past the page cache: a block of rows as a rule, and the index of all but large tables. What a
	// longer one would save is little beside what it reads.
	directBytesMax = 48 << 10
	// fillEvery: of so many reads that the page cache can't serve one goes through it, so that it fills, and has what is read most. Any other
	// block would only take the place of one that is as likely to be read, and cost the kernel several times what the read itself
	// does: it makes pages, has them filled and copied, and drops them again (docs/design/measured/hundredfold.md). While memory
	// lies idle there is nothing to drop, and each of them fills it.
	fillEvery = 8
	// fillBytes is the unit, a power of two, in which the page cache is filled while memory lies idle: of what is around a block nearly
	// all will be read, if there is room for it. A restarted database came to its full rate within 8 s instead of 20 to 40
	// (docs/design/measured/cold-turns.md). More at a time delays the reads that are waited for.
	fillBytes = 64 << 10
	// Memory lies idle if that is more than one part in freeShare of what the page cache may take, and more than freeMin. The kernel
	// keeps less of it free when it drops pages for others, up to 210 MB on machines of some GB.
	freeShare = 32
	freeMin   = 256 << 20
	// directLinger: tables that are read past the page cache have to become smaller than it by one part in so many until they no longer
	// are, because their size goes up and down with compactions.
	directLinger = 8
)

var errRefused = errors.New("the kernel refuses asynchronous reads")

// directReads reads blocks of tables past the page cache, for tables that are too many for it.
type directReads struct {
	on      atomic.Bool   // what PollReads has decided
	refused atomic.Bool   // by the system, for good
	idle    atomic.Bool   // memory lies idle, as PollReads has seen
	misses  atomic.Uint32 // of the page cache, for fillEvery

	// mu guards what follows. It is a leaf, and nobody waits for a disk under it.
	mu    sync.Mutex
	queue *aio.Queue // nil until the first read
	free  []*directRead
	made  int // of directReadsMax
}

// directRead is a place for one read.
type directRead struct {
	request *aio.Request
	buf     []byte
}

// PollReads decides whether blocks of tables are read past the page cache, and how much of a table a read brings into it. The owner calls it about once a second.
func (e *Engine) PollReads() {
	d := &e.direct
	if e.opts.PageCache == nil {
		return
	}
	room, free := e.opts.PageCache()
	d.idle.Store(free > max(room/freeShare, freeMin))
	if d.refused.Load() {
		return
	}
	m := e.db.Metrics()
	size := int64(0)
	for i := range m.Levels {
		size += m.Levels[i].TablesSize
	}
	border := room
	if d.on.Load() {
		border -= border / directLinger
	}
	on := size > border
	if d.on.Swap(on) != on {
		e.opts.Logger.Info("tables have changed their way of being read", "past_the_page_cache", on, "table_bytes", size, "page_cache_bytes", room)
	}
}

// refuseDirect has tables read through the page cache from now on.
func (e *Engine) refuseDirect(reason error) {
	if !e.direct.refused.Swap(true) {
		e.opts.Logger.Info("tables are read through the page cache, however large they are", "reason", reason)
	}
	e.direct.on.Store(false)
}

// take returns a place for a read, nil if there is none. The caller gives it back.
func (d *directReads) take() (*directRead, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.free); n > 0 {
		r := d.free[n-1]
		d.free = d.free[:n-1]
		return r, nil
	}
	if d.made == directReadsMax {
		return nil, nil
	}
	if d.queue == nil {
		queue, err := aio.Open(directReadsMax)
		if err != nil {
			return nil, err
		}
		d.queue = queue
	}
	request, err := d.queue.NewRequest()
	if err != nil {
		return nil, err
	}
	d.made++
	return &directRead{request, aio.AlignedBytes(directBytesMax + 2*aio.AlignBytes)}, nil
}

func (d *directReads) give(r *directRead) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = append(d.free, r)
}

// close comes after the last read.
func (d *directReads) close() {
	if d.queue != nil {
		d.queue.Close()
	}
}

// readDirect reads all of p past the page cache, unless that has it or is to get it, or the system would rather not.
func (f *tableFile) readDirect(p []byte, offset int64) bool {
	if len(p) == 0 || len(p) > directBytesMax {
		return false
	}
	d := &f.e.direct
	cached, err := pagesCached(f.fd, offset, len(p))
	if err != nil {
		f.e.refuseDirect(err)
		return false
	}
	if cached || d.misses.Add(1)%fillEvery == 0 || d.idle.Load() {
		return false
	}
	f.open.Do(func() { f.past, f.unit = openDirect(f.fd) })
	if f.unit == 0 {
		return false
	}
	r, err := d.take()
	if err != nil {
		f.e.refuseDirect(err)
	}
	if r == nil {
		return false
	}
	defer d.give(r)
	start := offset &^ (f.unit - 1)
	skip := int(offset - start)
	whole := (skip + len(p) + int(f.unit) - 1) &^ (int(f.unit) - 1)
	n, done, err := r.request.Read(f.past, r.buf[:whole], start)
	if err != nil || n < skip+len(p) {
		// The caller reads again, and meets the error if it lasts.
		if !done && d.queue.Refused() {
			f.e.refuseDirect(errRefused)
		}
		return false
	}
	copy(p, r.buf[skip:])
	f.e.counters.directReads.Inc()
	return true
}
