package engine

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/engine/aio"
)

const (
	// directReadsMax bounds the direct reads at a time; others go through the page cache. It is enough to keep a fast disk busy.
	directReadsMax = 128
	// directBytesMax is the longest direct read, in bytes: data blocks normally, and the index blocks of all but large tables. For longer ones the
	// overhead of the page cache is small compared with the read itself.
	directBytesMax = 48 << 10
	// fillEvery: one of so many reads that miss the page cache goes through it, so that it fills up with what is read most. Any other block
	// would only replace one that is as likely to be read, and cost the kernel several times the processor time of the read itself: it
	// allocates pages, fills and copies them, and evicts others (docs/design/measured/hundredfold.md). While memory is free there is nothing
	// to evict, and each read that misses fills it.
	fillEvery = 8
	// fillBytes is the unit, a power of two, in which the page cache is filled while memory is free: then nearly all that is around a block
	// will be read before it is evicted. A restarted database reached its full rate within 8 s instead of 20 to 40
	// (docs/design/measured/cold-turns.md). A larger unit delays the reads that somebody waits for.
	fillBytes = 64 << 10
	// Memory counts as free if more than freeMin of it is, and more than a 32nd of what the page cache may take. A full page cache leaves
	// less than that free, up to 210 MB on machines of some GB.
	freeShare = 32
	freeMin   = 256 << 20
	// directLinger is a hysteresis: direct reads go on until the tables are smaller than the page cache by an eighth, because their size goes up
	// and down with compactions.
	directLinger = 8
)

var errRefused = errors.New("the kernel refuses asynchronous reads")

// directReads reads blocks past the page cache (direct reads) while the tables are larger than it.
type directReads struct {
	on      atomic.Bool   // what PollReads has decided
	refused atomic.Bool   // the system does not support it
	idle    atomic.Bool   // memory is free, according to PollReads
	misses  atomic.Uint32 // of the page cache, for fillEvery

	// mu guards what follows. It is a leaf, and no I/O is done under it.
	mu    sync.Mutex
	queue *aio.Queue // nil until the first read
	free  []*directRead
	made  int // at most directReadsMax
}

// directRead is a request and the buffer for one read at a time.
type directRead struct {
	request *aio.Request
	buf     []byte
}

// PollReads decides whether blocks of tables are read past the page cache, and how much of a table a read brings into it. The owner calls it
// about once a second.
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

// refuseDirect switches direct reads off for good.
func (e *Engine) refuseDirect(reason error) {
	if !e.direct.refused.Swap(true) {
		e.opts.Logger.Info("tables are read through the page cache, however large they are", "reason", reason)
	}
	e.direct.on.Store(false)
}

// take returns a directRead, nil if all are in use. The caller gives it back by give.
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

// close is called after the last read has ended.
func (d *directReads) close() {
	if d.queue != nil {
		d.queue.Close()
	}
}

// readDirect reads all of p past the page cache. It returns false, and the caller reads otherwise, if the page cache has all of it or is to be
// filled with it (fillEvery), or the system cannot.
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
		// The caller reads again, and gets the error if it persists.
		if !done && d.queue.Refused() {
			f.e.refuseDirect(errRefused)
		}
		return false
	}
	copy(p, r.buf[skip:])
	f.e.counters.directReads.Inc()
	return true
}
