package plan

import (
	"math"
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// physAggregate plans a grouping. Without keys there is exactly one group.
func (b *builder) physAggregate(r *aggregate) (*stage, error) {
	st, err := b.extremeRow(r)
	if err != nil {
		return nil, err
	}
	if st == nil {
		n := &need{}
		own(r, func(e expr.Expr) { n.ids = addIDs(n.ids, e) })
		if st, err = b.phys(r.input, n); err != nil {
			return nil, err
		}
	}
	keys := make([]expr.Expr, len(r.keys))
	for i := range r.keys {
		if keys[i], err = b.local(r.keys[i].e, st.at); err != nil {
			return nil, err
		}
	}
	specs := make([]*expr.AggSpec, len(r.aggs))
	for i := range r.aggs {
		var failed error
		specs[i] = r.aggs[i].spec.Map(func(e expr.Expr) expr.Expr {
			local, err := b.local(e, st.at)
			if err != nil {
				failed = err
				return e
			}
			return local
		})
		if failed != nil {
			return nil, failed
		}
	}
	out := &stage{at: map[int]int{}, rows: 1, cost: st.cost + st.rows, ordered: len(keys) == 0}
	for i := range r.keys {
		out.at[r.keys[i].id] = i
	}
	width := len(keys)
	if len(keys) == 0 {
		out.node = &exec.StreamAgg{Base: est(1), Input: st.node, Aggs: specs}
	} else {
		out.rows = math.Max(1, st.rows/10)
		input := st.node
		if r.rollup {
			input, keys = expanded(st, keys)
			out.at[r.grouping] = len(keys) - 1
			width = len(keys)
		} else {
			input, keys, specs = computeBulky(input, st.rows, keys, specs)
		}
		if r.stream && !r.rollup {
			out.node = &exec.StreamAgg{Base: est(out.rows), Input: sortedBy(&stage{node: input, rows: st.rows}, keys), Keys: keys, Aggs: specs}
		} else {
			out.node = &exec.HashAgg{Base: est(out.rows), Input: input, Keys: keys, Aggs: specs, GrandTotal: r.rollup}
		}
	}
	for i := range r.aggs {
		out.at[r.aggs[i].id] = width + i
	}
	return out, nil
}

// expanded repeats each row once for each level of WITH ROLLUP: the keys are computed behind the input's columns, and the level's bits behind
// them. The keys of the grouping are then columns, the bits last.
func expanded(st *stage, keys []expr.Expr) (exec.Node, []expr.Expr) {
	ts := exec.Types(st.node)
	exprs := make([]expr.Expr, 0, len(ts)+len(keys))
	for i, t := range ts {
		exprs = append(exprs, expr.Column(i, t, ""))
	}
	exprs = append(exprs, keys...)
	node := &exec.Expand{Base: est(st.rows * float64(len(keys)+1)), Input: &exec.Project{Base: est(st.rows), Input: st.node, Exprs: exprs}, Keys: len(keys)}
	out := make([]expr.Expr, 0, len(keys)+1)
	for i, key := range keys {
		out = append(out, expr.Column(len(ts)+i, key.Type(), key.String()))
	}
	return node, append(out, expr.Column(len(ts)+len(keys), types.Type{ID: types.TypeBigInt, Length: -1}, "grouping"))
}

// computeBulky puts a projection below an aggregation whose keys may be long: a projection bounds the bytes of a batch, while the aggregation would
// compute the keys of a whole one. The projection passes on what the aggregates read.
func computeBulky(input exec.Node, rows float64, keys []expr.Expr, specs []*expr.AggSpec) (exec.Node, []expr.Expr, []*expr.AggSpec) {
	if !slices.ContainsFunc(keys, expr.Expr.Bulky) {
		return input, keys, specs
	}
	exprs := slices.Clone(keys)
	columns := make([]expr.Expr, len(keys))
	for i, key := range keys {
		columns[i] = expr.Column(i, key.Type(), key.String())
	}
	at := map[int]int{} // where an input's column is in exprs
	pass := func(e expr.Expr) bool {
		if i, ok := e.ColumnIndex(); ok {
			if _, known := at[i]; !known {
				at[i] = len(exprs)
				exprs = append(exprs, e)
			}
		}
		return true
	}
	mapped := make([]*expr.AggSpec, len(specs))
	for i, spec := range specs {
		for _, arg := range spec.Args() {
			expr.Walk(arg, pass)
		}
		for _, order := range spec.Order() {
			expr.Walk(order.Expr, pass)
		}
		mapped[i] = spec.MapColumns(func(c int) int { return at[c] })
	}
	return &exec.Project{Base: exec.Base{EstRows: rows}, Input: input, Exprs: exprs}, columns, mapped
}

// extremeRow reads MIN or MAX of a column from one end of an index: the first row in the column's order is all that the aggregate needs.
// The stage is nil if the grouping is something else, or no index gives that order cheaply.
func (b *builder) extremeRow(r *aggregate) (*stage, error) {
	if len(r.keys) > 0 || len(r.aggs) != 1 {
		return nil, nil
	}
	var conds []expr.Expr
	input := r.input
	if f, ok := input.(*filter); ok {
		input, conds = f.input, f.conds
	}
	g, base := input.(*get)
	if !base || g.lock != nil {
		return nil, nil
	}
	column, desc, ok := extreme(g, r.aggs[0].spec)
	if !ok {
		return nil, nil
	}
	n := &need{ids: []int{column}, order: []orderColumn{{column, desc}}, limitRows: 1, limit: expr.Literal(types.Int(1))}
	arg := r.aggs[0].spec.Args()[0]
	if !g.table.Columns[g.ordinal(column)].NotNull {
		present, err := expr.Call(b.env.Build, "is not null", arg)
		if err != nil {
			return nil, err
		}
		conds = append(append([]expr.Expr(nil), conds...), present)
	}
	w, err := b.wanted(g, conds, n)
	if err != nil {
		return nil, err
	}
	p, err := b.access(w)
	if err != nil || !p.ordered || b.locks && p.byEntries() {
		return nil, err
	}
	cols := g.yields(n, w.needed, p.rest)
	node, err := b.node(w, p, cols, n.limit)
	if err != nil {
		return nil, err
	}
	return &stage{node: &exec.Limit{Base: est(1), Input: node, Count: n.limit}, rows: 1, at: g.positions(cols)}, nil
}

// extreme recognises MIN or MAX of a column that an index orders as the aggregate does. An ENUM's index follows the members' numbers and MIN
// their names.
func extreme(g *get, spec *expr.AggSpec) (column int, desc, ok bool) {
	if spec.Name() != "min" && spec.Name() != "max" || len(spec.Args()) != 1 {
		return 0, false, false
	}
	column, ok = spec.Args()[0].ColumnIndex()
	if !ok || !g.owns(column) || g.ordinal(column) < 0 || g.ordinal(column) >= len(g.table.Columns) {
		return 0, false, false
	}
	switch g.table.Columns[g.ordinal(column)].Type.ID {
	case types.TypeEnum, types.TypeSet, types.TypeBit, types.TypeJSON:
		return 0, false, false
	}
	return column, spec.Name() == "max", true
}
