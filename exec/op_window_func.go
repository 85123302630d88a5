package exec

import (
	"math"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// windowState is one window function in one execution.
type windowState struct {
	op   *windowOp
	node *WindowFunc
	// number is the constant of ntile, lag, lead and nth_value; isNull says that it is
	// NULL.
	number int64
	isNull bool
	frame  frame
	reader rowReader // of the value of another row
	agg    *frameAgg
}

func newWindowState(o *windowOp, n *WindowFunc) *windowState {
	f := &windowState{op: o, node: n}
	f.reader.init(&o.rows)
	f.frame.init(o, &n.Frame)
	if n.Agg != nil {
		f.agg = newFrameAgg(o, n.Agg, n.Frame.Start.Kind == UnboundedPreceding)
	}
	return f
}

// open evaluates the function's constants.
func (f *windowState) open() error {
	if err := f.frame.open(); err != nil {
		return err
	}
	at, least := -1, int64(0)
	switch f.node.Name {
	case "ntile":
		at, least = 0, 1
	case "nth_value":
		at, least = 1, 1
	case "lag", "lead":
		at = 1
	}
	f.number, f.isNull = 1, false
	if at < 0 || at >= len(f.node.Args) {
		return nil
	}
	v, err := f.node.Args[at].Eval(f.op.rt.Ctx, nil)
	if err != nil {
		return err
	}
	if f.isNull = v.IsNull(); f.isNull && f.node.Name == "nth_value" {
		return nil // the value is NULL for every row
	}
	if v.K == types.KindUint {
		v = types.Int(int64(min(uint64(v.N), math.MaxInt64)))
	}
	if v.K != types.KindInt || v.N < least {
		return types.Errorf(types.ErWrongArguments, f.node.Name)
	}
	f.number = v.N
	return nil
}

// restart prepares for the partition in the list.
func (f *windowState) restart() {
	f.reader.restart()
	f.frame.restart()
	if f.agg != nil {
		f.agg.restart()
	}
}

// value computes the function for the row at hand.
func (f *windowState) value(row []types.Value) (types.Value, error) {
	o := f.op
	n := o.rows.count
	switch f.node.Name {
	case "row_number":
		return types.Int(int64(o.at + 1)), nil
	case "rank":
		return types.Int(int64(o.peerFirst + 1)), nil
	case "dense_rank":
		return types.Int(int64(o.number)), nil
	case "percent_rank":
		if n == 1 {
			return types.Float(0), nil
		}
		return types.Float(float64(o.peerFirst) / float64(n-1)), nil
	case "cume_dist":
		return types.Float(float64(o.peerEnd) / float64(n)), nil
	case "ntile":
		return types.Int(f.ntile()), nil
	case "lag":
		return f.neighbour(int64(o.at)-f.number, row)
	case "lead":
		if f.number > int64(n) {
			return f.neighbour(-1, row)
		}
		return f.neighbour(int64(o.at)+f.number, row)
	}
	start, end, err := f.frame.rows(row)
	if err != nil {
		return types.Null(), err
	}
	switch {
	case f.agg != nil:
		return f.agg.value(start, end)
	case start >= end:
		return types.Null(), nil
	case f.node.Name == "last_value":
		return f.valueAt(end - 1)
	case f.node.Name == "nth_value":
		if f.isNull || f.number > int64(end-start) {
			return types.Null(), nil
		}
		return f.valueAt(start + int(f.number) - 1)
	}
	return f.valueAt(start)
}

// ntile returns the number of the row's bucket: the first ones have one row more if the
// rows do not divide evenly.
func (f *windowState) ntile() int64 {
	n, i := int64(f.op.rows.count), int64(f.op.at)
	size, more := n/f.number, n%f.number
	if large := more * (size + 1); i >= large {
		return more + (i-large)/size + 1
	}
	return i/(size+1) + 1
}

// neighbour returns the first argument over row i, or the default over the row at hand.
func (f *windowState) neighbour(i int64, row []types.Value) (types.Value, error) {
	if i >= 0 && i < int64(f.op.rows.count) {
		return f.valueAt(int(i))
	}
	if len(f.node.Args) > 2 {
		return f.node.Args[2].Eval(f.op.rt.Ctx, row)
	}
	return types.Null(), nil
}

func (f *windowState) valueAt(i int) (types.Value, error) {
	row, err := f.reader.seek(i)
	if err != nil {
		return types.Null(), err
	}
	return f.node.Args[0].Eval(f.op.rt.Ctx, row)
}

func (f *windowState) close() {
	f.reader.cursor.close()
	f.frame.start.reader.cursor.close()
	f.frame.end.reader.cursor.close()
	if f.agg != nil {
		f.agg.close()
	}
}

// frameRowsMax is more rows than a partition has; larger offsets mean as much.
const frameRowsMax = 1 << 50

// frame finds the rows of the frame around each row. Both ends only go forward.
type frame struct {
	op         *windowOp
	node       *WindowFrame
	start, end frameEnd
}

// frameEnd is one bound of a frame.
type frameEnd struct {
	node   *FrameBound
	rows   int       // offset of FrameRows
	at     int       // FrameRange: the row that the bound is at
	reader rowReader // FrameRange with an offset: row at
}

func (w *frame) init(o *windowOp, n *WindowFrame) {
	w.op, w.node = o, n
	w.start.node, w.end.node = &n.Start, &n.End
	w.start.reader.init(&o.rows)
	w.end.reader.init(&o.rows)
}

// open evaluates the offsets of FrameRows.
func (w *frame) open() error {
	for _, e := range []*frameEnd{&w.start, &w.end} {
		if w.node.Unit != FrameRows || e.node.Kind != OffsetPreceding && e.node.Kind != OffsetFollowing {
			continue
		}
		v, err := e.node.Offset.Eval(w.op.rt.Ctx, nil)
		if err != nil {
			return err
		}
		if v.K != types.KindUint && (v.K != types.KindInt || v.N < 0) {
			return types.NewError(3586, "Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type")
		}
		e.rows = int(min(uint64(v.N), frameRowsMax))
	}
	return nil
}

func (w *frame) restart() {
	w.start.at, w.end.at = 0, 0
	w.start.reader.restart()
	w.end.reader.restart()
}

// rows returns the frame of the current row: from start to before end, which may lie
// before start.
func (w *frame) rows(row []types.Value) (start, end int, err error) {
	n := w.op.rows.count
	if w.node.Unit == FrameRows {
		return min(max(w.start.row(w.op, 0), 0), n), min(max(w.end.row(w.op, 1), 0), n), nil
	}
	if start, err = w.bound(&w.start, row, false); err != nil {
		return 0, 0, err
	}
	end, err = w.bound(&w.end, row, true)
	return start, end, err
}

// row returns the place of a bound of FrameRows; past is 1 for the row behind it.
func (e *frameEnd) row(o *windowOp, past int) int {
	switch e.node.Kind {
	case UnboundedPreceding:
		return 0
	case OffsetPreceding:
		return o.at - e.rows + past
	case OffsetFollowing:
		return o.at + e.rows + past
	case UnboundedFollowing:
		return o.rows.count
	}
	return o.at + past
}

// bound returns the place of a bound of FrameRange; past asks for the row behind it.
func (w *frame) bound(e *frameEnd, row []types.Value, past bool) (int, error) {
	o := w.op
	switch e.node.Kind {
	case UnboundedPreceding:
		return 0, nil
	case UnboundedFollowing:
		return o.rows.count, nil
	}
	peers := o.peerFirst
	if past {
		peers = o.peerEnd
	}
	if e.node.Kind == CurrentRow {
		return peers, nil
	}
	ctx, key := o.rt.Ctx, &o.node.Order[0]
	own, err := key.Expr.Eval(ctx, row)
	if err != nil || own.IsNull() {
		return peers, err // NULLs are their own frame
	}
	limit, err := e.node.Offset.Eval(ctx, row)
	if err != nil {
		return 0, err
	}
	if limit.IsNull() { // beyond what the type can hold
		if e.node.Kind == OffsetPreceding {
			return e.at, nil
		}
		return o.rows.count, nil
	}
	coll := key.Expr.TypeRef().Coll
	for ; e.at < o.rows.count; e.at++ {
		if e.at%types.MaxBatchRows == 0 {
			if err := o.rt.poll(); err != nil {
				return 0, err
			}
		}
		other, err := e.reader.seek(e.at)
		if err != nil {
			return 0, err
		}
		v, err := key.Expr.Eval(ctx, other)
		if err != nil {
			return 0, err
		}
		if c := w.compare(&v, &limit, coll); c > 0 || c == 0 && !past {
			break
		}
	}
	return e.at, nil
}

// compare orders a key and a limit in the order of the window.
func (w *frame) compare(v, limit *types.Value, coll types.CollationID) int {
	c := types.CompareMixed(w.op.rt.Ctx.Context, *v, *limit, coll)
	if w.op.node.Order[0].Desc {
		return -c
	}
	return c
}

// frameAgg computes an aggregate over frames. Where frames begin at the partition's
// first row its state only grows. Others slide: of aggregates whose states merge cheaply
// and exactly, the states of the frame's older rows are kept for every row at which the
// frame may begin (older), that of the newer rows as one (newer), and both are merged
// per row. Sums of doubles, whose last digits depend on the order, and lists are
// computed again for each frame.
type frameAgg struct {
	op       *windowOp
	growing  bool
	merging  bool
	newer    *expr.AggStates
	older    *expr.AggStates // state i is of rows first+i..split
	both     *expr.AggStates
	first    int // row of older's first state
	split    int // first row of newer
	read     int // rows before it are in the states
	start    int // frame of the last value
	end      int
	last     types.Value
	known    bool
	reader   rowReader // of rows that come in
	reread   rowReader // of rows that become older ones, or of a frame computed again
	begins   rowReader // stands before the first row of the frame
	mem      account
	accounts int
}

func newFrameAgg(o *windowOp, spec *expr.AggSpec, growing bool) *frameAgg {
	a := &frameAgg{op: o, growing: growing, merging: mergesExactly(spec), newer: spec.NewStates(), older: spec.NewStates(), both: spec.NewStates()}
	a.mem = o.rt.account()
	a.reader.init(&o.rows)
	a.reread.init(&o.rows)
	a.begins.init(&o.rows)
	return a
}

// mergesExactly reports whether states may be merged instead of adding rows in order.
func mergesExactly(spec *expr.AggSpec) bool {
	switch spec.Name() {
	case "count", "min", "max", "any_value", "bit_and", "bit_or", "bit_xor":
		return !spec.Distinct()
	case "sum", "avg":
		return !spec.Distinct() && spec.Type().ID == types.TypeDecimal
	}
	return false
}

func (a *frameAgg) restart() {
	a.newer.Reset()
	a.newer.Grow(1)
	a.older.Reset()
	a.first, a.split, a.read, a.known = 0, 0, 0, false
	a.reader.restart()
	a.reread.restart()
	a.begins.restart()
}

// value returns the aggregate of rows start..end.
func (a *frameAgg) value(start, end int) (v types.Value, err error) {
	start = min(start, end)
	if a.known && start == a.start && end == a.end {
		return a.last, nil
	}
	switch {
	case a.growing:
		if err := a.grow(end); err != nil {
			return v, err
		}
		v, err = a.newer.Result(a.op.rt.Ctx, 0)
	case a.merging:
		v, err = a.slide(start, end)
	default:
		v, err = a.again(start, end)
	}
	// The value lives in states that the next frame changes, or in the arena.
	a.last, a.start, a.end, a.known = v.Clone(), start, end, err == nil
	return a.last, err
}

// grow adds the rows before end to newer.
func (a *frameAgg) grow(end int) error {
	for ; a.read < end; a.read++ {
		row, err := a.reader.seek(a.read)
		if err != nil {
			return err
		}
		if err := a.add(a.newer, 0, row); err != nil {
			return err
		}
	}
	return nil
}

// add adds a row to a state, looking at the interrupt and the memory now and then.
func (a *frameAgg) add(s *expr.AggStates, g uint32, row []types.Value) error {
	if a.accounts++; a.accounts%types.MaxBatchRows == 0 {
		if err := a.op.rt.poll(); err != nil {
			return err
		}
		if err := a.mem.set(a.newer.Bytes() + a.older.Bytes() + a.both.Bytes()); err != nil {
			return err
		}
	}
	return s.Add(a.op.rt.Ctx, g, row)
}

// slide computes a frame whose start moves.
func (a *frameAgg) slide(start, end int) (types.Value, error) {
	ctx := a.op.rt.Ctx
	if err := a.grow(end); err != nil {
		return types.Null(), err
	}
	if start >= a.split {
		if err := a.age(start); err != nil {
			return types.Null(), err
		}
	}
	a.both.Reset()
	a.both.Grow(1)
	if start < a.split {
		if err := a.both.Merge(ctx, 0, a.older, uint32(start-a.first)); err != nil {
			return types.Null(), err
		}
	}
	if err := a.both.Merge(ctx, 0, a.newer, 0); err != nil {
		return types.Null(), err
	}
	return a.both.Result(ctx, 0)
}

// age makes the rows from start on, all that have been read, the older ones.
func (a *frameAgg) age(start int) error {
	a.newer.Reset()
	a.newer.Grow(1)
	a.older.Reset()
	n := max(a.read-start, 0)
	a.older.Grow(n)
	for i := range n {
		row, err := a.reread.seek(start + i)
		if err != nil {
			return err
		}
		if err := a.add(a.older, uint32(i), row); err != nil {
			return err
		}
	}
	for i := n - 2; i >= 0; i-- {
		if i%types.MaxBatchRows == 0 {
			if err := a.op.rt.poll(); err != nil {
				return err
			}
		}
		if err := a.older.Merge(a.op.rt.Ctx, uint32(i), a.older, uint32(i+1)); err != nil {
			return err
		}
	}
	a.first, a.split = start, start+n
	return a.mem.set(a.newer.Bytes() + a.older.Bytes() + a.both.Bytes())
}

// again computes a frame from its first row on.
func (a *frameAgg) again(start, end int) (types.Value, error) {
	a.newer.Reset()
	a.newer.Grow(1)
	if start < end {
		if err := a.begins.before(start); err != nil {
			return types.Null(), err
		}
		a.reread.moveFrom(a.begins.cursor.mark())
	}
	for i := start; i < end; i++ {
		row, err := a.reread.seek(i)
		if err != nil {
			return types.Null(), err
		}
		if err := a.add(a.newer, 0, row); err != nil {
			return types.Null(), err
		}
	}
	return a.newer.Result(a.op.rt.Ctx, 0)
}

func (a *frameAgg) close() {
	a.reader.cursor.close()
	a.reread.cursor.close()
	a.begins.cursor.close()
	a.mem.close()
}
