package exec

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Limits of parallel scans.
const (
	// sharesPerWorker is into how many shares per worker a scan is divided, so that all
	// end at about the same time although rows are not spread evenly.
	sharesPerWorker = 8
	// workersMax bounds the workers of one Gather.
	workersMax = 256
	// workerBytes is what a statement's memory limit must have per worker: each of them
	// holds at least the groups of one batch.
	workerBytes = 1 << 20
)

// shares are the spans of a scan that workers take one after another.
type shares struct {
	mu    sync.Mutex
	spans []kvapi.Span
}

// take returns the next span; ok=false when all are taken.
func (s *shares) take() (span kvapi.Span, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.spans) == 0 {
		return span, false
	}
	span = s.spans[0]
	s.spans = s.spans[1:]
	return span, true
}

// gatherOp runs workers. Each is a goroutine with a runtime, an evaluation context and
// operators of its own; it hands over a batch and goes on when the batch has been used.
// All of them end before open returns anew, and before close does.
type gatherOp struct {
	rt      *Runtime
	node    *Gather
	scan    *Scan
	shares  shares
	spans   spanSet
	joins   map[*HashJoin]*hashJoinOp // have the tables that workers probe
	order   []*hashJoinOp             // the same, from the scan upwards
	workers []*gatherWorker
	alone   operator // the input itself, where there are no workers
	single  bool     // it runs
	results chan handoff
	stop    chan struct{}
	running sync.WaitGroup
	left    int           // workers that have not ended
	using   *gatherWorker // whose batch the operator above uses
}

// gatherWorker is one worker.
type gatherWorker struct {
	rt   *Runtime
	op   operator
	used chan struct{} // its last batch has been used
}

// handoff is what a worker gives: a batch, or its end, which may be a panic.
type handoff struct {
	worker *gatherWorker
	batch  *types.Batch
	err    error
	panic  any
}

func (n *Gather) build(b *builder) (operator, error) {
	o := &gatherOp{rt: b.rt, node: n, joins: make(map[*HashJoin]*hashJoinOp)}
	alone, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o.alone = alone
	in := n.Input
	for ; len(in.Children()) > 0; in = in.Children()[0] {
		join, ok := in.(*HashJoin)
		if !ok {
			continue
		}
		table, err := join.buildTable(b)
		if err != nil {
			o.close()
			return nil, err
		}
		o.joins[join] = table
		o.order = append([]*hashJoinOp{table}, o.order...)
	}
	o.scan = in.(*Scan)
	return o, nil
}

func (o *gatherOp) open() error {
	o.halt()
	count := min(o.rt.Workers, runtime.GOMAXPROCS(0), workersMax, o.rt.Mem.times(workerBytes))
	o.single = count <= 1 || o.rt.Txn != nil
	if !o.single {
		fits, err := o.fillTables()
		if err != nil {
			return err
		}
		o.single = !fits
	}
	if o.single {
		return o.alone.open()
	}
	if err := o.divide(count * sharesPerWorker); err != nil {
		return err
	}
	if err := o.hire(count); err != nil {
		return err
	}
	o.results, o.stop, o.left, o.using = make(chan handoff), make(chan struct{}), len(o.workers), nil
	for _, w := range o.workers {
		o.running.Go(func() { o.work(w) })
	}
	return nil
}

// fillTables builds the tables of the joins. If one does not fit, all are given up: a
// join whose sides are on disk has one user.
func (o *gatherOp) fillTables() (fits bool, err error) {
	fits = true
	for _, join := range o.order {
		if err := join.fillTable(); err != nil {
			return false, err
		}
		if fits = join.spill == nil; !fits {
			break
		}
	}
	if fits {
		return true, nil
	}
	for _, join := range o.order {
		join.spill.close()
		join.spill = nil
		if err := join.table.release(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// hire makes the workers, once per execution.
func (o *gatherOp) hire(count int) error {
	for len(o.workers) < count {
		rt := &Runtime{Ctx: o.rt.Ctx.Child(), Manager: o.rt.Manager, Interrupt: o.rt.Interrupt, Mem: o.rt.Mem, TempDir: o.rt.TempDir}
		rt.Ctx.Context = o.rt.Ctx.Context.Fork()
		rt.Ctx.Session, rt.Ctx.Subplans = nil, nil // they are for one goroutine, and nothing here asks them
		if o.rt.Analyze != nil {
			rt.Analyze = NewCounters()
		}
		rt.Work.start(o.rt.Work.accesses)
		b := builder{rt: rt, share: o}
		op, err := b.node(o.node.Input)
		if err != nil {
			return err
		}
		o.workers = append(o.workers, &gatherWorker{rt: rt, op: op, used: make(chan struct{})})
	}
	for _, w := range o.workers {
		w.rt.snapshot = o.rt.snapshot // opened by divide; Run closes it
		// Of their own, because Apply may fill slots anew while workers still end.
		w.rt.Ctx.Params = make([]types.Value, len(o.rt.Ctx.Params))
		for i, v := range o.rt.Ctx.Params {
			w.rt.Ctx.Params[i] = v.Clone()
		}
	}
	return nil
}

// work runs one worker to its end.
func (o *gatherOp) work(w *gatherWorker) {
	end := handoff{worker: w}
	defer func() {
		end.panic = recover() // the operator above goes on with it
		select {
		case o.results <- end:
		case <-o.stop:
		}
	}()
	if end.err = w.op.open(); end.err != nil {
		return
	}
	for {
		var b *types.Batch
		if b, end.err = w.op.next(); b == nil || end.err != nil {
			return
		}
		select {
		case o.results <- handoff{worker: w, batch: b}:
		case <-o.stop:
			return
		}
		select {
		case <-w.used:
		case <-o.stop:
			return
		}
	}
}

func (o *gatherOp) next() (*types.Batch, error) {
	if o.single {
		return o.alone.next()
	}
	if o.using != nil {
		o.using.used <- struct{}{}
		o.using = nil
	}
	for o.left > 0 {
		h := <-o.results
		if h.batch != nil {
			o.using = h.worker
			return h.batch, nil
		}
		o.left--
		if h.panic != nil {
			panic(h.panic)
		}
		if h.err != nil {
			return nil, h.err
		}
	}
	return nil, nil
}

// halt ends the workers and takes over what they have warned of and counted.
func (o *gatherOp) halt() {
	if o.stop == nil {
		return
	}
	close(o.stop)
	o.running.Wait()
	o.stop, o.using = nil, nil
	for _, w := range o.workers {
		o.rt.Ctx.Absorb(w.rt.Ctx.Context)
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
		w.rt.Ctx.ResetArena() // what it counted is given back
	}
	for _, join := range o.order {
		join.close()
	}
	o.alone.close()
}

// divide fills the shares: the spans of the scan, cut into n pieces by the integers that
// their keys begin with.
func (o *gatherOp) divide(n int) error {
	t := o.scan.Table
	if err := o.rt.checkReadable(t, o.scan.Index, false); err != nil {
		return err
	}
	if err := o.spans.fill(o.rt, t, o.scan.Index, o.scan.Ranges); err != nil {
		return err
	}
	o.shares.spans = nil
	for _, span := range o.spans.spans {
		if span.IsPoint() {
			o.shares.spans = append(o.shares.spans, span)
			continue
		}
		cuts, err := o.cuts(span, n)
		if err != nil {
			return err
		}
		for _, cut := range cuts {
			o.shares.spans = append(o.shares.spans, kvapi.Span{Start: span.Start, End: cut})
			span.Start = cut
		}
		o.shares.spans = append(o.shares.spans, span)
	}
	for _, span := range o.spans.spans { // the shares count their rows only
		if !span.IsPoint() {
			o.rt.Work.page(&o.scan.kind, true, 0, true)
		}
	}
	o.rt.snapshotTS() // for the workers, also where there was nothing to read
	return nil
}

// cuts returns keys within a span that divide it into at most n pieces.
func (o *gatherOp) cuts(span kvapi.Span, n int) ([][]byte, error) {
	first, err := o.edge(span, false)
	if first == nil || err != nil {
		return nil, err
	}
	last, err := o.edge(span, true)
	if last == nil || err != nil {
		return nil, err
	}
	kt, _ := firstKey(o.scan)
	prefix := table.RowPrefix(o.scan.Table)
	low, _, err := types.DecodeKey(first[len(prefix):], kt, false)
	if err != nil {
		return nil, err
	}
	high, _, err := types.DecodeKey(last[len(prefix):], kt, false)
	if err != nil {
		return nil, err
	}
	width := uint64(high.N) - uint64(low.N) // of signed ones, too
	var cuts [][]byte
	for i := range uint64(n - 1) {
		at := low
		at.N += int64(width/uint64(n)*(i+1) + width%uint64(n)*(i+1)/uint64(n))
		key := types.AppendKey(slices.Clone(prefix), at, kt, false, 0)
		if bytes.Compare(key, span.Start) > 0 && bytes.Compare(key, span.End) < 0 && (len(cuts) == 0 || bytes.Compare(key, cuts[len(cuts)-1]) > 0) {
			cuts = append(cuts, key)
		}
	}
	return cuts, nil
}

// edge returns the first or the last key of a span, nil if it is empty.
func (o *gatherOp) edge(span kvapi.Span, last bool) ([]byte, error) {
	var pair pairCopy
	r := txn.ScanRequest{Span: span, Sink: &pair, Reverse: last, LimitRows: 1, LimitBytes: pageBytesMax}
	if _, err := o.rt.scan(&r, false); err != nil {
		return nil, err
	}
	return pair.key, nil
}

// absorb adds the counters of a worker; times add up over all workers.
func (c *Counters) absorb(from *Counters) {
	for n, k := range from.nodes {
		to := c.at(n)
		to.Rows += k.Rows
		to.Loops += k.Loops
		to.Time += k.Time
		to.First = max(to.First, k.First)
		to.Memory += k.Memory
		to.Spilled += k.Spilled
		to.Reads += k.Reads
		*k = Counter{}
	}
}
