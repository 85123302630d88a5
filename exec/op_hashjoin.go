package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// hashJoinOp keeps one input in memory by key, the build side, and looks up the rows of
// the other, the probe side. If the build side does not fit, both sides are partitioned
// to disk by the hash of their keys (op_hashjoin_spill.go).
type hashJoinOp struct {
	rt             *Runtime
	node           *HashJoin
	build, probe   operator
	buildKeys      keyer
	probeKeys      keyer
	buildAt        int // first output column of the build side
	probeAt        int // first output column of the probe side
	table          *joinTable
	shared         *hashJoinOp // of a worker of a Gather: who has built the table
	filled         bool        // a Gather has built the table before open
	buildRows      bool        // the build side has rows, also such with NULL keys
	buildNull      bool        // it has a NULL key
	done           bool
	key            []byte
	buildTexts     []int // build columns that have bytes
	probeTexts     []int // probe columns that have bytes
	spill          *joinSpill
	out            *types.Batch
	row            []types.Value // left values, then right ones, for On by rows
	pairs          []joinPair    // rows of the output not yet appended, all of the batch at hand
	pairBytes      int           // text in them
	batch          *types.Batch  // probe batch at hand
	heads          []rowRef      // per live row of it, the first row with its key
	nulls          []bool        // per live row, whether its key has a NULL
	at             int           // live row at hand
	chain          rowRef        // next row with its key
	matched, begun bool          // of the row at hand
	compared       uint          // rows that On was evaluated over
}

// joinPair is one row of the output: a row of the probe batch and one of the build side,
// or none.
type joinPair struct {
	probe uint16
	build rowRef
}

func (n *HashJoin) build(b *builder) (operator, error) {
	if n.NullAware && (n.Kind != JoinAnti || n.On != nil || len(n.LeftKeys) != 1) || n.BuildLeft && n.Kind != JoinInner {
		panic("exec: a hash join that does not exist")
	}
	if b.seat != nil && !b.seat.lead {
		return n.buildWorker(b)
	}
	left, err := b.node(n.Left)
	if err != nil {
		return nil, err
	}
	other := *b
	other.seat = nil
	right, err := other.node(n.Right)
	if err != nil {
		left.close()
		return nil, err
	}
	build, probe := right, left
	if n.BuildLeft {
		build, probe = left, right
	}
	o := n.newOp(b.rt, build, probe)
	if b.seat != nil {
		b.seat.gather.joins[n] = o
		b.seat.gather.order = append(b.seat.gather.order, o)
	}
	return o, nil
}

// buildWorker returns the operator of a worker, which has a probe side only.
func (n *HashJoin) buildWorker(b *builder) (operator, error) {
	probe, err := b.node(n.Left)
	if err != nil {
		return nil, err
	}
	o := n.newOp(b.rt, nil, probe)
	o.shared = b.seat.gather.joins[n]
	return o, nil
}

func (n *HashJoin) newOp(rt *Runtime, build, probe operator) *hashJoinOp {
	o := &hashJoinOp{rt: rt, node: n, build: build, probe: probe, out: rt.getBatch(Types(n)), table: new(joinTable)}
	buildKeys, probeKeys, buildTypes, probeTypes := n.RightKeys, n.LeftKeys, Types(n.Right), Types(n.Left)
	o.buildAt = len(probeTypes)
	if n.BuildLeft {
		buildKeys, probeKeys, buildTypes, probeTypes = n.LeftKeys, n.RightKeys, Types(n.Left), Types(n.Right)
		o.buildAt, o.probeAt = 0, len(buildTypes)
	}
	o.buildKeys.init(rt, buildKeys)
	o.probeKeys.init(rt, probeKeys)
	o.table.init(rt, buildTypes, o.onlyLeft() && n.On == nil)
	o.buildTexts, o.probeTexts = textColumns(buildTypes), textColumns(probeTypes)
	o.row = make([]types.Value, len(buildTypes)+len(probeTypes))
	return o
}

// onlyLeft reports whether the output is rows of the left input.
func (o *hashJoinOp) onlyLeft() bool { return o.node.Kind == JoinSemi || o.node.Kind == JoinAnti }

// keepsUnmatched reports whether left rows without a match are in the output.
func (o *hashJoinOp) keepsUnmatched() bool { return o.node.Kind == JoinLeft || o.node.Kind == JoinAnti }

// textColumns returns the columns whose values have bytes.
func textColumns(ts []types.Type) []int {
	var cols []int
	for i := range ts {
		if k := ts[i].Kind(); k == types.KindString || k == types.KindJSON || k == types.KindDecimal {
			cols = append(cols, i)
		}
	}
	return cols
}

func (o *hashJoinOp) open() error {
	o.batch, o.begun, o.done = nil, false, false
	o.pairs, o.pairBytes = o.pairs[:0], 0
	switch {
	case o.shared != nil:
		o.table, o.buildRows, o.buildNull = o.shared.table, o.shared.buildRows, o.shared.buildNull
	case o.filled:
		o.filled = false
	default:
		if err := o.fillTable(); err != nil {
			return err
		}
	}
	if o.fruitless() {
		o.done = true
		return nil
	}
	if err := o.probe.open(); err != nil || o.spill == nil {
		return err
	}
	return o.partitionProbe()
}

// fruitless reports whether the build side rules out all rows, whatever the probe side is.
func (o *hashJoinOp) fruitless() bool {
	return o.node.NullAware && o.buildNull || !o.buildRows && !o.keepsUnmatched()
}

// fillTable reads the build side.
func (o *hashJoinOp) fillTable() error {
	o.spill.close()
	o.spill = nil
	o.buildRows, o.buildNull = false, false
	if err := o.table.reset(); err != nil {
		return err
	}
	if err := o.build.open(); err != nil {
		return err
	}
	for {
		b, err := o.build.next()
		if b == nil || err != nil {
			return err
		}
		if err := o.insert(b); err != nil {
			return err
		}
	}
}

// insert takes a batch of the build side.
func (o *hashJoinOp) insert(b *types.Batch) (err error) {
	if err := o.buildKeys.batch(b); err != nil {
		return err
	}
	if err := o.table.keys.makeRoom(o.rt, b.Rows()); err != nil {
		return err
	}
	o.buildRows = true
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		if o.buildKeys.hasNull(row) {
			o.buildNull = true // and matches nothing
			continue
		}
		if o.key, err = o.buildKeys.append(o.key[:0], row); err != nil {
			return err
		}
		h := o.table.keys.hash(o.key)
		if o.spill != nil {
			if err := o.spill.writeBuild(h, o.key, o.encode(b, row)); err != nil {
				return err
			}
			continue
		}
		o.table.insert(o.key, h, b, row)
	}
	if o.spill != nil {
		return nil
	}
	err = o.table.account()
	if o.table.short() && o.rt.TempDir != "" {
		return o.beginSpill()
	}
	if err == nil && o.table.keys.full() {
		err = errStatementMemory
	}
	return err
}

func (o *hashJoinOp) next() (*types.Batch, error) {
	if o.done {
		return nil, nil
	}
	for {
		if err := o.rt.poll(); err != nil {
			return nil, err
		}
		o.out.Reset()
		if err := o.fill(); err != nil {
			return nil, err
		}
		if o.out.Len == 0 {
			o.done = true
			return nil, nil
		}
		if o.node.Kind == JoinInner && o.node.On != nil {
			o.rt.Ctx.ResetArena()
			if err := expr.FilterBatch(o.rt.Ctx, o.node.On, o.out); err != nil {
				return nil, err
			}
		}
		if o.out.Rows() > 0 {
			return o.out, nil
		}
	}
}

// fill appends rows to the output until it is full or there are no more.
func (o *hashJoinOp) fill() error {
	for !o.out.Full() {
		if o.batch == nil {
			if err := o.nextProbe(); err != nil || o.batch == nil {
				return err
			}
		}
		b := o.batch
		if err := o.match(); err != nil {
			return err
		}
		o.gather(b)
	}
	return nil
}

// nextProbe sets the next batch of the probe side; nil at the end.
func (o *hashJoinOp) nextProbe() error {
	if o.spill != nil {
		return o.spill.nextProbe(o)
	}
	b, err := o.probe.next()
	if err != nil || b == nil {
		return err
	}
	if err := o.probeKeys.batch(b); err != nil {
		return err
	}
	o.heads, o.nulls = o.heads[:0], o.nulls[:0]
	for i, n := 0, b.Rows(); i < n; i++ {
		row, head := b.Row(i), rowRef(0)
		null := o.probeKeys.hasNull(row)
		if !null {
			if o.key, err = o.probeKeys.append(o.key[:0], row); err != nil {
				return err
			}
			head = o.table.find(o.key)
		}
		o.heads, o.nulls = append(o.heads, head), append(o.nulls, null)
	}
	o.batch, o.at, o.begun = b, 0, false
	return nil
}

// match pairs rows of the batch at hand with the build side's until the output is full.
func (o *hashJoinOp) match() error {
	byRow := o.node.On != nil && o.node.Kind != JoinInner
	for n := o.batch.Rows(); o.at < n; o.at++ {
		row := o.batch.Row(o.at)
		if !o.begun {
			o.begun, o.matched, o.chain = true, false, o.heads[o.at]
			if o.spill.hasMatched(o.at) && o.onlyLeft() {
				o.chain = 0
			}
			if byRow && o.chain != 0 {
				o.batch.ReadRow(row, o.row[o.probeAt:o.probeAt+len(o.batch.Cols)])
			}
		}
		for o.chain != 0 {
			if o.room() <= 0 {
				return nil
			}
			build := o.chain
			if byRow {
				ok, err := o.compare(build)
				if err != nil {
					return err
				}
				if !ok {
					o.chain = o.table.next(build)
					continue
				}
			}
			o.matched = true
			if o.onlyLeft() {
				o.chain = 0
				break
			}
			o.chain = o.table.next(build)
			o.pair(row, build)
		}
		if o.room() <= 0 {
			return nil
		}
		o.endRow(row)
	}
	o.batch = nil
	return nil
}

// room returns how many more rows the output takes.
func (o *hashJoinOp) room() int {
	if o.pairBytes >= types.BatchBytesMax {
		return 0
	}
	return types.MaxBatchRows - o.out.Len - len(o.pairs)
}

// compare evaluates On over the probe row at hand and a row of the build side.
func (o *hashJoinOp) compare(build rowRef) (bool, error) {
	if o.compared++; o.compared%types.MaxBatchRows == 0 {
		if err := o.rt.poll(); err != nil {
			return false, err
		}
	}
	b, i := o.table.at(build)
	b.ReadRow(i, o.row[o.buildAt:o.buildAt+len(b.Cols)])
	o.rt.Ctx.ResetArena()
	return o.node.On.EvalBool(o.rt.Ctx, o.row)
}

// endRow decides what a probe row yields besides its pairs. There is room for it.
func (o *hashJoinOp) endRow(row int) {
	o.begun = false
	before := o.spill.hasMatched(o.at) // with an earlier part of the build side
	if o.matched {
		o.spill.setMatched(o.at)
	}
	switch o.node.Kind {
	case JoinSemi:
		if o.matched && !before {
			o.pair(row, 0)
		}
	case JoinLeft, JoinAnti:
		unknown := o.node.NullAware && o.buildRows && o.nulls[o.at]
		if !o.matched && !before && !unknown && o.spill.isLast() {
			o.pair(row, 0)
		}
	}
}

// pair adds a row to the output.
func (o *hashJoinOp) pair(probe int, build rowRef) {
	o.pairs = append(o.pairs, joinPair{uint16(probe), build})
	for _, c := range o.probeTexts {
		o.pairBytes += textLen(&o.batch.Cols[c], probe)
	}
	if build == 0 {
		return
	}
	b, i := o.table.at(build)
	for _, c := range o.buildTexts {
		o.pairBytes += textLen(&b.Cols[c], i)
	}
}

func textLen(v *types.Vector, i int) int {
	if i+1 >= len(v.Off) {
		return 0
	}
	return int(v.Off[i+1] - v.Off[i])
}

// gather appends the pairs, whose probe rows are in b, to the output, column by column.
func (o *hashJoinOp) gather(b *types.Batch) {
	if len(o.pairs) == 0 {
		return
	}
	for c := range b.Cols {
		src, dst := &b.Cols[c], &o.out.Cols[o.probeAt+c]
		for _, p := range o.pairs {
			dst.AppendFrom(src, int(p.probe))
		}
	}
	if !o.onlyLeft() {
		for c := range o.table.types {
			dst := &o.out.Cols[o.buildAt+c]
			for _, p := range o.pairs {
				if p.build == 0 {
					dst.AppendNull()
					continue
				}
				from, i := o.table.at(p.build)
				dst.AppendFrom(&from.Cols[c], i)
			}
		}
	}
	o.out.Len += len(o.pairs)
	o.pairs, o.pairBytes = o.pairs[:0], 0
}

func (o *hashJoinOp) close() {
	if o.build != nil {
		o.build.close()
	}
	if o.probe != nil {
		o.probe.close()
	}
	o.spill.close()
	o.buildKeys.close()
	o.probeKeys.close()
	if o.shared == nil {
		o.table.close()
	}
	o.rt.putBatch(o.out)
	o.out = nil
}
