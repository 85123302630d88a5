package exec

import (
	"errors"
	"math"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// operator is one running node of one execution. The life of an operator is
// build, then any number of (open, next…), then close.
type operator interface {
	// open starts, or starts again, under the present parameters.
	open() error
	// next returns the next batch with at least one live row, or nil at the end. The
	// batch belongs to the operator and is valid until its next call (invariant X3).
	next() (*types.Batch, error)
	// close releases memory and files. It is called once, also after an error and
	// also when open never ran.
	close()
}

// builder turns a plan into operators for one execution.
type builder struct {
	rt *Runtime
	// latest is set below a LockRows: reads are for candidates, at the statement's
	// own timestamp rather than the transaction's snapshot.
	latest bool
	// seat is set below a Gather.
	seat *seat
	// locks is the LockRows that the operators below find candidates for, nil elsewhere.
	locks *LockRows
	// mark is that of its scans (txn.Txn.MarkRanges).
	mark *uint64
}

// node builds the operator of n, with a counter around it for EXPLAIN ANALYZE.
func (b *builder) node(n Node) (operator, error) {
	wide := int64(0)
	if columns := len(Types(n)); columns >= wideColumnsMin {
		wide = wideColumnBytes * int64(columns)
		if err := b.rt.Mem.Grow(wide); err != nil {
			_ = b.rt.Mem.Grow(-wide) // giving back never fails
			return nil, err
		}
	}
	op, err := n.build(b)
	if err != nil {
		_ = b.rt.Mem.Grow(-wide)
		return nil, err
	}
	if b.rt.Analyze != nil {
		op = &measured{rt: b.rt, input: op, count: b.rt.Analyze.at(n)}
	}
	if wide > 0 {
		op = &wideOp{op, b.rt.Mem, wide}
	}
	return op, nil
}

// Operators of rows of wideColumnsMin columns and more are counted while they exist: their vectors and rows take memory before there is any value.
// Three hundred window functions over four thousand columns took 900 MB, a third of a kilobyte for each column of each operator.
const (
	wideColumnsMin  = 512
	wideColumnBytes = 512
)

// wideOp gives back what an operator of wide rows was counted for.
type wideOp struct {
	operator
	mem   *MemTracker
	bytes int64
}

func (o *wideOp) close() {
	o.operator.close()
	_ = o.mem.Grow(-o.bytes) // giving back never fails
}

// pair returns the operators of the two inputs of a node.
func (b *builder) pair(l, r Node) (left, right operator, err error) {
	if left, err = b.node(l); err != nil {
		return nil, nil, err
	}
	if right, err = b.node(r); err != nil {
		left.close()
		return nil, nil, err
	}
	return left, right, nil
}

// Counter is what EXPLAIN ANALYZE learnt about one node.
type Counter struct {
	Rows    uint64        // live rows yielded, all loops together; of a write, rows affected
	Loops   uint64        // times opened
	Time    time.Duration // wall time in the node and below
	First   time.Duration // of which until the first batch was there
	Memory  int64         // most bytes that the node held by itself
	Spilled int64         // bytes that it wrote to spill files
	Reads   uint64        // pages and keys that it asked storage for

	held int64
}

// Counters holds a Counter per node that ran.
type Counters struct {
	nodes map[Node]*Counter
}

// NewCounters returns empty counters for one execution.
func NewCounters() *Counters { return &Counters{nodes: make(map[Node]*Counter)} }

// Of returns what was counted for n; zero if it never ran.
func (c *Counters) Of(n Node) Counter {
	if k := c.nodes[n]; k != nil {
		return *k
	}
	return Counter{}
}

func (c *Counters) at(n Node) *Counter {
	k := c.nodes[n]
	if k == nil {
		k = new(Counter)
		c.nodes[n] = k
	}
	return k
}

// measured counts what passes through an operator, and makes it the one that runs.
type measured struct {
	rt    *Runtime
	input operator
	count *Counter
	began bool
}

func (m *measured) open() error {
	m.count.Loops++
	m.began = false
	defer m.run()()
	return m.input.open()
}

func (m *measured) next() (b *types.Batch, err error) {
	stop := m.run()
	b, err = m.input.next()
	stop()
	if !m.began {
		m.began = true
		m.count.First = m.count.Time
	}
	if b != nil {
		m.count.Rows += uint64(b.Rows())
	}
	return b, err
}

// run starts the node's clock; the result stops it.
func (m *measured) run() func() { return m.rt.measure(m.count) }

// measure makes c the counter of what runs from now until the result is called.
func (rt *Runtime) measure(c *Counter) (stop func()) {
	start, above := clock.Mono(), rt.running
	rt.running = c
	return func() {
		rt.running = above
		c.Time += clock.Mono() - start
	}
}

func (m *measured) close() { m.input.close() }

// poll returns an error once the statement has to end.
func (rt *Runtime) poll() error {
	if err := rt.Interrupt.Err(); err != nil {
		return err
	}
	return rt.Mem.refusal()
}

// pollEvery is poll for step i of a loop over a list that is most often short.
func pollEvery(rt *Runtime, i int) error {
	if i%types.MaxBatchRows != types.MaxBatchRows-1 {
		return nil
	}
	return rt.poll()
}

// columnsPerPoll is how many columns of a batch, aggregates or window functions are computed between two looks at the interrupt.
const columnsPerPoll = 64

// pollColumns is poll for column i of a loop over columns.
func pollColumns(rt *Runtime, i int) error {
	if i%columnsPerPoll != columnsPerPoll-1 {
		return nil
	}
	return rt.poll()
}

// evalCount evaluates the operand of LIMIT or OFFSET. nil gives absent.
func (rt *Runtime) evalCount(e expr.Expr, absent uint64) (uint64, error) {
	if e == nil {
		return absent, nil
	}
	v, err := e.Eval(rt.Ctx, nil)
	var overflow *types.Error
	if errors.As(err, &overflow) && overflow.Number == types.ErDataOutOfRange {
		return math.MaxUint64, nil // LIMIT 5, 18446744073709551615 means all after 5; the limit of a scan below is the sum, which overflows
	}
	if err != nil {
		return 0, err
	}
	switch {
	case v.K == types.KindUint:
		return v.Uint64(), nil
	case v.K == types.KindInt && v.N >= 0:
		return uint64(v.N), nil
	case v.IsNull():
		return 0, nil
	}
	return 0, types.Errorf(types.ErWrongArguments, "LIMIT")
}

// getBatch returns an empty batch of the given column types from the runtime's free
// list. putBatch gives it back.
func (rt *Runtime) getBatch(ts []types.Type) *types.Batch {
	var b *types.Batch
	if free := rt.scratch.batches; len(free) == 0 {
		b = types.NewBatch(ts)
	} else {
		b = free[len(free)-1]
		free[len(free)-1] = nil // or the list would keep a batch alive that grows too large to be put back
		rt.scratch.batches = free[:len(free)-1]
		b.Init(ts)
	}
	if rt.Mem != rt.scratch.mem {
		rt.scratch.mem, rt.scratch.room = rt.Mem, rt.Mem.room
	}
	b.SetRoom(rt.scratch.room)
	return b
}

// batchesKept bounds the free list of a session, and batchKeepBytes the memory of a
// batch that may enter it: a session that once read long texts gives them back.
const (
	batchesKept    = 8
	batchKeepBytes = 256 << 10
)

func (rt *Runtime) putBatch(b *types.Batch) {
	if b == nil {
		return
	}
	b.SetRoom(nil)
	if b.MemSize() > batchKeepBytes {
		rt.scratch.long = true
		return
	}
	if len(rt.scratch.batches) >= batchesKept {
		return
	}
	b.Reset()
	rt.scratch.batches = append(rt.scratch.batches, b)
}
