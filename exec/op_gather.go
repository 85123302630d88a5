package exec

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Limits of parallel scans.
const (
	// sharesPerWorker is the least number of parts per worker into which the rest of a scan
	// is cut, so that all end at about the same time.
	sharesPerWorker = 4
	// workerBatches is how many batches a worker may be ahead of the reader.
	workerBatches = 8
	// workersMax bounds the workers of one Gather.
	workersMax = 256
	// workerBytes is what a statement's memory limit must have per worker: each of them
	// holds at least the groups of one batch, and its batches.
	workerBytes = 1 << 20
)

// gatherOp runs its input by itself for a while, and then by workers. Each is a goroutine
// with a runtime, an evaluation context and operators of its own, that takes one share of
// the scan after the other. What a share yields is used when its turn comes. All workers
// end before open returns anew, and before close does.
type gatherOp struct {
	rt      *Runtime
	node    *Gather
	scan    *Scan
	lead    operator // the input on the statement's goroutine
	portion portion  // what its scan reads
	joins   map[*HashJoin]*hashJoinOp
	order   []*hashJoinOp // the joins of lead, from the top downwards; workers probe their tables
	list    shareList
	workers []*gatherWorker
	extra   int  // workers taken from the pool
	hired   bool // workers run
	ended   bool // they have yielded everything
	running sync.WaitGroup
	using   *parcel // what the operator above uses
}

// gatherWorker is one worker.
type gatherWorker struct {
	rt      *Runtime
	op      operator
	portion portion
	mem     account   // of the batches
	free    []*parcel // under shareList.mu
	made    int       // parcels
}

// parcel is a batch that a worker fills. It belongs to the worker until it is passed, and
// again once it has been given back.
type parcel struct {
	worker *gatherWorker
	batch  *types.Batch
	bytes  int64
}

// seat tells the operators of one copy of a Gather's input, that of the statement's own
// goroutine (lead) or of a worker, what they share with the others.
type seat struct {
	gather  *gatherOp
	portion *portion
	lead    bool
}

func (n *Gather) build(b *builder) (operator, error) {
	o := &gatherOp{rt: b.rt, node: n, joins: make(map[*HashJoin]*hashJoinOp), scan: n.bottom()}
	below := builder{rt: b.rt, seat: &seat{o, &o.portion, true}}
	lead, err := below.node(n.Input)
	if err != nil {
		return nil, err
	}
	o.lead = lead
	slices.Reverse(o.order) // they were built from the bottom
	return o, nil
}

// open begins with the input as it is. Workers are asked for once some rows have been read.
func (o *gatherOp) open() error {
	o.halt()
	o.ended = false
	o.portion = portion{whole: true}
	shared, err := o.fillTables()
	if err != nil {
		return err
	}
	if shared && o.mayHire() {
		o.portion.rows, o.portion.stop = o.rt.Pool.lead, o.takeWorkers
	}
	return o.lead.open()
}

// fillTables builds the tables of the joins. shared says that workers can probe them: they
// fit into memory, and are worth probing.
func (o *gatherOp) fillTables() (shared bool, err error) {
	for _, join := range o.order {
		if err := join.fillTable(); err != nil {
			return false, err
		}
		join.filled = true
		if join.spill != nil || join.fruitless() {
			return false, nil
		}
	}
	return true, nil
}

// mayHire reports whether workers can be had for the input.
func (o *gatherOp) mayHire() bool { return o.wanted() > 1 && o.rt.mayShare() }

// mayShare reports whether other goroutines may read for the statement: from a snapshot,
// which nothing in its transaction's buffer changes.
func (rt *Runtime) mayShare() bool {
	if rt.Pool.Size() == 0 {
		return false
	}
	return rt.Txn == nil || rt.Txn.Level() != txn.Serializable && !rt.Txn.HasWrites()
}

func (o *gatherOp) wanted() int {
	return min(o.node.Workers, workersMax, o.rt.Mem.times(workerBytes))
}

// takeWorkers asks for workers beside the statement's own goroutine, which will wait for
// them: one more runs than are taken.
func (o *gatherOp) takeWorkers() bool {
	if o.extra == 0 {
		o.extra = o.rt.Pool.take(o.wanted() - 1)
	}
	return o.extra > 0
}

// hire cuts up what lead has left of the scan, and starts workers for it.
func (o *gatherOp) hire() error {
	count := o.extra + 1
	first, err := o.divide(count * sharesPerWorker)
	if err != nil {
		return err
	}
	at := o.rt.readTS()
	for len(o.workers) < count {
		w := &gatherWorker{rt: o.workerRuntime()}
		b := builder{rt: w.rt, seat: &seat{o, &w.portion, false}}
		if w.op, err = b.node(o.node.Input); err != nil {
			return err
		}
		w.mem = w.rt.account()
		o.workers = append(o.workers, w)
	}
	for _, w := range o.workers[:count] {
		w.rt.at, w.free, w.made = at, nil, 0 // what an earlier execution has left unused is lost
		_ = w.mem.set(0)                     // giving back never fails
		// Of their own, because Apply may fill slots anew while workers still end.
		w.rt.Ctx.Params = make([]types.Value, len(o.rt.Ctx.Params))
		for i, v := range o.rt.Ctx.Params {
			w.rt.Ctx.Params[i] = v.Clone()
		}
	}
	o.list.begin(first)
	o.hired = true
	for _, w := range o.workers[:count] {
		o.running.Go(func() { o.work(w) })
	}
	return nil
}

// workerRuntime returns the runtime of a worker: of the statement's it has the snapshot,
// the interrupt and the memory.
func (o *gatherOp) workerRuntime() *Runtime {
	rt := &Runtime{Ctx: o.rt.Ctx.Child(), Manager: o.rt.Manager, Interrupt: o.rt.Interrupt, Mem: o.rt.Mem, TempDir: o.rt.TempDir, Spill: o.rt.Spill}
	rt.Ctx.Context = o.rt.Ctx.Context.Fork()
	rt.Ctx.Session, rt.Ctx.Subplans = nil, nil     // they are for one goroutine, and nothing here asks them
	if clock := rt.Ctx.Context.Now; clock != nil { // conversions of TIME ask; the session's own remembers the answer
		now := clock()
		rt.Ctx.Context.Now = func() time.Time { return now }
	}
	if o.rt.Analyze != nil {
		rt.Analyze = NewCounters()
	}
	rt.Work.start(o.rt.Work.accesses)
	return rt
}

// readTS returns the timestamp of the statement's plain reads, within a transaction or not.
func (rt *Runtime) readTS() clock.Timestamp {
	if rt.Txn != nil {
		return rt.Txn.ReadTS()
	}
	return rt.snapshotTS()
}

// divide makes shares of what lead has left: the span that it was in is cut into at least
// n parts, others are shares as they are, and cut when they turn out to be large.
func (o *gatherOp) divide(n int) (*share, error) {
	rest := o.portion.rest
	spans := rest
	if !o.portion.unread {
		parts, err := o.cutLast(rest[0], n)
		if err != nil {
			return nil, err
		}
		spans = append(parts, rest[1:]...)
	}
	for i, span := range rest { // the workers count their rows only
		if !span.IsPoint() {
			o.rt.Work.page(&o.scan.kind, i > 0 || o.portion.unread, 0, true)
		}
	}
	var first *share
	per := len(spans)/sharesMax + 1
	for len(spans) > 0 {
		from := max(len(spans)-per, 0)
		first = &share{spans: spans[from:], next: first}
		spans = spans[:from]
	}
	return first, nil
}

// sharesMax bounds the shares of a scan of many intervals.
const sharesMax = 1024

// cutLast cuts a span that ends with its last key: a table's own end is far behind, and
// would not tell where the keys are.
func (o *gatherOp) cutLast(span kvapi.Span, n int) ([]kvapi.Span, error) {
	var pair pairCopy
	r := txn.ScanRequest{Span: span, Sink: &pair, Reverse: true, LimitRows: 1, LimitBytes: pageBytesMax}
	if _, err := o.rt.scan(&r, false); err != nil {
		return nil, err
	}
	if bytes.Compare(pair.key, span.Start) <= 0 { // one row or none is left
		return []kvapi.Span{span}, nil
	}
	parts := cut(o.portion.from, span.Start, pair.key, o.rt.Pool.lead, o.rt.Pool.each(), n)
	parts[len(parts)-1].End = append(pair.key, 0) // the snapshot has nothing behind it
	return parts, nil
}

// work runs one worker to its end.
func (o *gatherOp) work(w *gatherWorker) {
	defer func() {
		if p := recover(); p != nil {
			o.list.fail(fmt.Errorf("%v, in a worker:\n%s", p, debug.Stack()))
		}
	}()
	for s := o.list.take(); s != nil; s = o.list.take() {
		w.portion = portion{spans: s.spans, rows: o.rt.Pool.share, stop: always, quit: o.list.hasStopped}
		err := o.yield(w, s)
		more := w.portion.rest
		if len(more) > 0 && !w.portion.unread {
			more = append(cut(w.portion.from, more[0].Start, more[0].End, o.rt.Pool.share, o.rt.Pool.each(), sharesPerWorker), more[1:]...)
		}
		notes := w.rt.Ctx.Context.Fork()
		notes.Absorb(w.rt.Ctx.Context)
		o.list.end(s, notes, more, err)
	}
}

func always() bool { return true }

// yield runs a worker's operators over one share and hands on what they yield.
func (o *gatherOp) yield(w *gatherWorker, s *share) error {
	if err := w.op.open(); err != nil {
		return err
	}
	for {
		b, err := w.op.next()
		if b == nil || err != nil {
			return err
		}
		p := o.list.parcel(w, s)
		if p == nil {
			return nil // nobody wants it
		}
		if err := p.fill(o.node, b); err != nil {
			return err
		}
		o.list.pass(s, p)
	}
}

// fill copies the live rows of a batch.
func (p *parcel) fill(n *Gather, from *types.Batch) error {
	if p.batch == nil {
		p.batch = types.NewBatch(Types(n))
	}
	p.batch.Reset()
	for c := range p.batch.Cols {
		src, dst := &from.Cols[c], &p.batch.Cols[c]
		for i, rows := 0, from.Rows(); i < rows; i++ {
			dst.AppendFrom(src, from.Row(i))
		}
	}
	p.batch.Len = from.Rows()
	before := p.bytes
	p.bytes = int64(p.batch.MemSize())
	return p.worker.mem.set(p.worker.mem.held + p.bytes - before)
}

func (o *gatherOp) next() (*types.Batch, error) {
	if o.ended {
		return nil, nil
	}
	if !o.hired {
		b, err := o.lead.next()
		if b != nil || err != nil || len(o.portion.rest) == 0 {
			return b, err
		}
		if err := o.hire(); err != nil {
			return nil, err
		}
	}
	if o.using != nil {
		o.list.give(o.using)
	}
	var err error
	o.using, err = o.list.next(o.rt.Ctx.Context)
	if o.using == nil || err != nil {
		o.ended = true
		o.halt() // another Gather of the statement may want the workers
		return nil, err
	}
	return o.using.batch, nil
}

// halt ends the workers and takes over what they have counted.
func (o *gatherOp) halt() {
	if o.hired {
		o.list.stop()
		o.running.Wait()
		o.hired = false
	}
	o.using = nil
	o.rt.Pool.give(o.extra)
	o.extra = 0
	for _, w := range o.workers {
		o.rt.Work.absorb(&w.rt.Work)
		if w.rt.Analyze != nil {
			o.rt.Analyze.absorb(w.rt.Analyze)
		}
	}
}

func (o *gatherOp) close() {
	o.halt()
	for _, w := range o.workers {
		w.op.close()
		w.mem.close()
		w.rt.Ctx.ResetArena() // and what it counted is given back
	}
	o.lead.close()
}

// absorb adds the counters of a worker; times add up over all workers, and each of them
// counts as one loop, however many shares it has read.
func (c *Counters) absorb(from *Counters) {
	for n, k := range from.nodes {
		to := c.at(n)
		to.Rows += k.Rows
		to.Loops += min(k.Loops, 1)
		to.Time += k.Time
		to.First = max(to.First, k.First)
		to.Memory += k.Memory
		to.Spilled += k.Spilled
		to.Reads += k.Reads
		*k = Counter{held: k.held}
	}
}
