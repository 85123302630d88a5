package plan

import (
	"math"
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// stage is a part of the physical plan: its node, and where the columns of the algebra stand in the node's output.
type stage struct {
	node    exec.Node
	at      map[int]int // column id → position
	rows    float64
	cost    float64
	ordered bool // in the order that the need asks for, or it asks for none
	columns int  // how many the node yields; 0 is not known, and exec.Types then asks the nodes below
}

func (st *stage) width() int {
	if st.columns > 0 {
		return st.columns
	}
	return len(exec.Types(st.node))
}

// need is what a node is asked to yield.
type need struct {
	// ids are the columns wanted. If exact is set the node should yield these in that order and nothing else, where that costs nothing.
	ids   []int
	exact bool
	// order is the wanted order, nil for any; a stage that has it says so.
	order []orderColumn
	// limit is how many rows will be read at most, nil for all; limitRows is the estimate of its value, 0 for all.
	limit     expr.Expr
	limitRows float64
}

// orderColumn is a column by which rows are wanted in order.
type orderColumn struct {
	column int // an id; below access an ordinal
	desc   bool
}

// with returns the columns of n and those that expressions read, each once.
func (n *need) with(exprs ...expr.Expr) []int {
	return addIDs(append([]int(nil), n.ids...), exprs...)
}

func addIDs(ids []int, exprs ...expr.Expr) []int {
	for _, e := range exprs {
		expr.Columns(e, func(id int) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		})
	}
	return ids
}

// root plans a whole query, whose node yields exactly the result's columns.
func (b *builder) root(r *result) (*stage, error) {
	simple, err := b.simplify(r.rel)
	if err != nil {
		return nil, err
	}
	st, err := b.phys(simple, &need{ids: r.ids(), exact: true})
	if err != nil {
		return nil, err
	}
	return b.exactly(st, r.exprs())
}

// exactly makes a stage yield the given columns, in order and nothing else. Outer references are parameters.
func (b *builder) exactly(st *stage, list []expr.Expr) (*stage, error) {
	same := st.width() == len(list)
	at := make(map[int]int, len(list))
	for i, e := range list {
		id, _ := e.ColumnIndex()
		p, here := st.at[id]
		same = same && here && p == i
		if _, twice := at[id]; !twice && here {
			at[id] = i
		}
	}
	if same {
		return st, nil
	}
	exprs, err := b.localAll(list, st.at)
	if err != nil {
		return nil, err
	}
	return &stage{node: &exec.Project{Base: est(st.rows), Input: st.node, Exprs: exprs}, at: at, rows: st.rows, cost: st.cost, ordered: st.ordered}, nil
}

func est(rows float64) exec.Base { return exec.Base{EstRows: rows} }

// phys plans a normalised relation.
func (b *builder) phys(r rel, n *need) (*stage, error) {
	if err := b.step(); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *get:
		return b.physGet(r, nil, n)
	case *dual:
		return &stage{node: &exec.Dual{}, at: map[int]int{}, rows: 1, ordered: true}, nil
	case *rowSource:
		if r.system != nil {
			return b.physSystem(r, nil, n)
		}
		return &stage{node: r.node, at: run(r.first, len(r.node.Out)), rows: r.rows, cost: r.rows}, nil
	case *jsonTable:
		return b.physJSONTable(r)
	case *valuesRel:
		return b.physValues(r)
	case *cteRef:
		return b.physCTE(r)
	case *filter:
		return b.physFilter(r, n)
	case *extend:
		return b.physExtend(r, n)
	case *join:
		return b.physJoin(r, n)
	case *aggregate:
		return b.physAggregate(r)
	case *window:
		return b.physWindow(r, n)
	case *distinct:
		return b.physDistinct(r)
	case *sorted:
		return n.reordered(b.physSorted(r, n, nil))
	case *limited:
		return n.reordered(b.physLimited(r, n))
	case *setOp:
		return b.physSetOp(r, n)
	case *fence:
		return b.physFence(r, n)
	}
	return nil, unsupported("this query")
}

// reordered marks a stage with an order of its own as not having the wanted one, if there is one.
func (n *need) reordered(st *stage, err error) (*stage, error) {
	if st != nil && len(n.order) > 0 {
		st.ordered = false
	}
	return st, err
}

// run maps consecutive ids to the positions from 0 on.
func run(first, n int) map[int]int {
	at := make(map[int]int, n)
	for i := range n {
		at[first+i] = i
	}
	return at
}

// local turns an expression over ids into one over positions. Outer references become parameters; the plans of subqueries are made.
func (b *builder) local(e expr.Expr, at map[int]int) (expr.Expr, error) {
	var failed error
	out := expr.Replace(b.note(e), func(n expr.Expr) expr.Expr {
		if failed != nil {
			return n
		}
		if s := b.subqueryOf(n); s != nil {
			failed = b.planSubquery(s)
			return nil
		}
		id, ok := n.ColumnIndex()
		if !ok {
			return nil
		}
		if p, here := at[id]; here {
			return expr.MapColumns(n, func(int) int { return p })
		}
		if slot, bound := b.params[id]; bound {
			return expr.AsParam(n, slot)
		}
		failed = b.lost(id)
		return n
	})
	return out, failed
}

func (b *builder) localAll(list []expr.Expr, at map[int]int) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = b.local(e, at); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// all joins conditions with AND, over positions; nil for none.
func (b *builder) all(conds []expr.Expr, at map[int]int) (expr.Expr, error) {
	list, err := b.localAll(conds, at)
	if err != nil {
		return nil, err
	}
	return expr.JoinAnd(b.env.Build, list)
}

// planSubquery makes the plan of a subquery that remained an expression.
func (b *builder) planSubquery(s *subquery) error {
	if s.planned {
		return nil
	}
	s.planned = true
	saved, repeats := b.params, b.repeats
	defer func() { b.params, b.repeats = saved, repeats }()
	b.params, b.repeats = make(map[int]int, len(s.free)), !s.plan.Constant()
	for i, f := range s.free {
		id, _ := f.ColumnIndex()
		b.params[id] = s.plan.Slots[i]
	}
	r, err := b.simplified(s)
	if err != nil {
		return err
	}
	n := &need{exact: true}
	if s.plan.Kind == exec.SubplanExists {
		n.limitRows = 1
	} else {
		n.ids = (&result{cols: s.cols}).ids()
	}
	st, err := b.phys(r, n)
	if err != nil {
		return err
	}
	if s.plan.Kind != exec.SubplanExists {
		if st, err = b.exactly(st, (&result{cols: s.cols}).exprs()); err != nil {
			return err
		}
	}
	s.plan.Root = st.node
	b.plan.Subplans = append(b.plan.Subplans, s.plan)
	if s.compare == nil {
		return nil
	}
	return b.planComparison(s, n.ids)
}

// planComparison places the comparison of IN and its like over the operands followed by the subquery's columns, and finds keys by which the
// rows can be hashed.
func (b *builder) planComparison(s *subquery, ids []int) (err error) {
	operands, inner := map[int]int{}, map[int]int{}
	both := map[int]int{}
	for i, id := range s.operands {
		operands[id], both[id] = i, i
	}
	for i, id := range ids {
		if _, twice := inner[id]; !twice {
			inner[id], both[id] = i, len(s.operands)+i
		}
	}
	if s.plan.Compare, err = b.local(s.compare, both); err != nil {
		return err
	}
	if !(s.plan.Kind == exec.SubplanAny && s.op == "=" || s.plan.Kind == exec.SubplanAll && s.op == "<>") {
		return b.extreme(s, inner)
	}
	left := s.left
	for i := range left {
		if !expr.IsDeterministic(left[i]) {
			return nil
		}
	}
	var lk, rk []expr.Expr
	for i := range left {
		eq, err := expr.Call(b.env.Build, "=", left[i], s.cols[i].expr())
		if err != nil {
			return err
		}
		l, r, ok := expr.HashKeys(b.env.Build, eq)
		if !ok {
			return nil
		}
		if l, err = b.local(l, operands); err != nil {
			return err
		}
		if r, err = b.local(r, inner); err != nil {
			return err
		}
		lk, rk = append(lk, l), append(rk, r)
	}
	s.plan.LeftKeys, s.plan.RightKeys = lk, rk
	return nil
}

// extremes are the comparisons with ANY that the greatest (1) or the least (-1) row decides. For ALL it is the other.
var extremes = map[string]int{"<": 1, "<=": 1, ">": -1, ">=": -1}

// extreme lets the greatest or the least row of an uncorrelated ANY or ALL decide alone, where keys have the order of the comparison. It leaves out
// text that is compared as a number: each row may raise a warning.
func (b *builder) extreme(s *subquery, inner map[int]int) error {
	which := extremes[s.op]
	if which == 0 || s.plan.Kind != exec.SubplanAny && s.plan.Kind != exec.SubplanAll || len(s.left) != 1 || len(s.free) > 0 {
		return nil
	}
	l, r := s.left[0].Type(), s.cols[0].expr().Type()
	if l.IsStringType() != r.IsStringType() {
		return nil
	}
	eq, err := expr.Call(b.env.Build, "=", s.left[0], s.cols[0].expr())
	if err != nil {
		return err
	}
	_, key, ok := expr.HashKeys(b.env.Build, eq)
	if !ok {
		return nil
	}
	if key, err = b.local(key, inner); err != nil {
		return err
	}
	if s.plan.Kind == exec.SubplanAll {
		which = -which
	}
	s.plan.RightKeys, s.plan.Extreme = []expr.Expr{key}, which
	return nil
}

func (b *builder) physValues(r *valuesRel) (*stage, error) {
	node := &exec.Values{Base: est(float64(len(r.rows))), Out: r.out}
	for _, row := range r.rows {
		local, err := b.localAll(row, nil)
		if err != nil {
			return nil, err
		}
		node.Rows = append(node.Rows, local)
	}
	return &stage{node: node, at: run(r.first, len(r.out)), rows: float64(len(r.rows)), cost: float64(len(r.rows))}, nil
}

// physFilter applies conditions: in the scan if a base table is below, in the join search if a join is.
func (b *builder) physFilter(f *filter, n *need) (*stage, error) {
	switch in := f.input.(type) {
	case *get:
		return b.physTable(in, f.conds, n)
	case *filter:
		return b.phys(&filter{in.input, append(append([]expr.Expr(nil), in.conds...), f.conds...)}, n)
	case *join:
		move, stay := movable(f.conds)
		if len(stay) == 0 {
			return b.physJoin(f, n)
		}
		st, err := b.phys(filtered(in, move), &need{ids: n.with(stay...), order: n.order})
		if err != nil {
			return nil, err
		}
		return b.filterStage(st, stay)
	case *rowSource:
		if in.system != nil {
			return b.physSystem(in, f.conds, n)
		}
	}
	inner := &need{ids: n.with(f.conds...), order: n.order}
	st, err := b.phys(f.input, inner)
	if err != nil {
		return nil, err
	}
	return b.screened(st, f.conds, n)
}

// filterStage puts conditions on top of a stage.
func (b *builder) filterStage(st *stage, conds []expr.Expr) (*stage, error) {
	if len(conds) == 0 {
		return st, nil
	}
	cond, err := b.all(conds, st.at)
	if err != nil {
		return nil, err
	}
	rows := st.rows * math.Pow(filterUnknown, float64(len(conds)))
	return &stage{node: &exec.Filter{Base: est(rows), Input: st.node, Cond: cond}, at: st.at, rows: rows, cost: st.cost + st.rows*0.1, ordered: st.ordered}, nil
}

// physSorted orders rows, unless they can be read in order. With lim only the first rows of the order are kept.
func (b *builder) physSorted(r *sorted, n *need, lim *limited) (*stage, error) {
	inner := &need{ids: n.ids, exact: n.exact}
	for i := range r.keys {
		id, plain := b.orderID(r.keys[i].e)
		if !plain {
			inner.order = nil
			break
		}
		inner.order = append(inner.order, orderColumn{id, r.keys[i].desc})
	}
	for i := range r.keys {
		expr.Columns(r.keys[i].e, func(id int) {
			if !slices.Contains(inner.ids, id) {
				inner.ids, inner.exact = append(inner.ids[:len(inner.ids):len(inner.ids)], id), false
			}
		})
	}
	if lim != nil && inner.order != nil {
		var err error
		if inner.limit, inner.limitRows, err = b.bound(lim); err != nil {
			return nil, err
		}
	}
	st, err := b.phys(r.input, inner)
	if err != nil {
		return nil, err
	}
	if st.ordered && len(inner.order) > 0 {
		return b.limitStage(st, lim)
	}
	keys, err := b.sortKeys(r.keys, st.at)
	if err != nil {
		return nil, err
	}
	orderDocuments(keys)
	cost := st.cost + costSort(st.rows)
	if lim == nil || lim.count == nil {
		return b.limitStage(&stage{node: &exec.Sort{Base: est(st.rows), Input: st.node, Keys: keys}, at: st.at, rows: st.rows, cost: cost, ordered: true}, lim)
	}
	count, offset, err := b.counts(lim)
	if err != nil {
		return nil, err
	}
	rows := limitRows(lim.count, lim.offset)
	return &stage{node: &exec.TopN{Base: est(rows), Input: st.node, Keys: keys, Count: count, Offset: offset, Top: lim.top}, at: st.at, rows: rows, cost: cost, ordered: true}, nil
}

func costSort(rows float64) float64 {
	if rows <= 1 {
		return 0
	}
	return rows * math.Log2(rows) * costSortRow
}

func (b *builder) sortKeys(keys []sortKey, at map[int]int) ([]exec.SortKey, error) {
	out := make([]exec.SortKey, len(keys))
	for i := range keys {
		e, err := b.local(keys[i].e, at)
		if err != nil {
			return nil, err
		}
		out[i] = exec.SortKey{Expr: e, Desc: keys[i].desc}
	}
	return out, nil
}

// orderDocuments marks the keys of an ORDER BY that are JSON.
func orderDocuments(keys []exec.SortKey) {
	for i := range keys {
		keys[i].Lengths = keys[i].Expr.Type().ID == types.TypeJSON
	}
}

// bound is how many rows a limit lets through at most, offset included: what a scan below has to yield.
func (b *builder) bound(l *limited) (expr.Expr, float64, error) {
	if l.count == nil || l.calc {
		return nil, 0, nil
	}
	rows := limitRows(l.count, l.offset)
	if l.offset == nil {
		return l.count, rows, nil
	}
	sum, err := expr.Call(b.env.Build, "+", l.count, l.offset)
	return sum, rows, err
}

func (b *builder) physLimited(r *limited, n *need) (*stage, error) {
	if s, ok := r.input.(*sorted); ok && !r.calc {
		return b.physSorted(s, n, r)
	}
	limit, rows, err := b.bound(r)
	if err != nil {
		return nil, err
	}
	st, err := b.phys(r.input, &need{ids: n.ids, exact: n.exact, limit: limit, limitRows: rows})
	if err != nil {
		return nil, err
	}
	return b.limitStage(st, r)
}

func (b *builder) counts(l *limited) (count, offset expr.Expr, err error) {
	if l.count != nil {
		if count, err = b.local(l.count, nil); err != nil {
			return nil, nil, err
		}
	}
	if l.offset != nil {
		offset, err = b.local(l.offset, nil)
	}
	return count, offset, err
}

// limitStage puts a limit on top of a stage; lim nil is none.
func (b *builder) limitStage(st *stage, lim *limited) (*stage, error) {
	if lim == nil {
		return st, nil
	}
	count, offset, err := b.counts(lim)
	if err != nil {
		return nil, err
	}
	rows := math.Min(st.rows, math.Max(limitRows(lim.count, lim.offset), 1))
	if lim.count == nil {
		rows = st.rows
	}
	return &stage{node: &exec.Limit{Base: est(rows), Input: st.node, Count: count, Offset: offset, FoundRows: lim.calc, Top: lim.top}, at: st.at, rows: rows, cost: st.cost, ordered: st.ordered}, nil
}

// limitRows is the number of rows that the caller reads at most, 0 for all.
func limitRows(count, offset expr.Expr) float64 {
	if count == nil {
		return 0
	}
	n := float64(limitUnknown)
	if v, ok := count.ConstValue(); ok {
		n = math.Max(1, float64(v.N))
	}
	if offset != nil {
		if v, ok := offset.ConstValue(); ok {
			n += float64(v.N)
		}
	}
	return n
}

func (b *builder) physDistinct(r *distinct) (*stage, error) {
	st, err := b.phys(r.input, &need{ids: r.cols, exact: true})
	if err != nil {
		return nil, err
	}
	ts := exec.Types(st.node)
	list := make([]expr.Expr, len(r.cols))
	for i, id := range r.cols {
		list[i] = expr.Column(id, ts[st.at[id]], b.idName(id))
	}
	if st, err = b.exactly(st, list); err != nil {
		return nil, err
	}
	rows := math.Max(1, st.rows/2)
	return &stage{node: &exec.Distinct{Base: est(st.rows), Input: st.node}, at: st.at, rows: rows, cost: st.cost + st.rows}, nil
}

// physSetOp plans UNION, INTERSECT and EXCEPT. Of UNION ALL only the wanted columns are computed.
func (b *builder) physSetOp(r *setOp, n *need) (*stage, error) {
	var keep []int
	for i := range r.out {
		if r.kind != setUnion || !r.all || slices.Contains(n.ids, r.first+i) {
			keep = append(keep, i)
		}
	}
	out := make([]types.Type, len(keep))
	at := map[int]int{}
	for p, i := range keep {
		out[p], at[r.first+i] = r.out[i], p
	}
	rows, cost := 0.0, 0.0
	nodes := make([]exec.Node, len(r.branches))
	for k := range r.branches {
		br := &r.branches[k]
		exprs := make([]expr.Expr, len(keep))
		for p, i := range keep {
			exprs[p] = br.exprs[i]
		}
		st, err := b.projected(br.input, exprs)
		if err != nil {
			return nil, err
		}
		nodes[k], rows, cost = st.node, rows+st.rows, cost+st.cost
	}
	switch {
	case r.kind == setUnion && r.all:
		return &stage{node: &exec.UnionAll{Base: est(rows), Inputs: nodes, Out: out}, at: at, rows: rows, cost: cost}, nil
	case r.kind == setUnion:
		all := &exec.UnionAll{Base: est(rows), Inputs: nodes, Out: out}
		return &stage{node: &exec.Distinct{Base: est(rows), Input: all}, at: at, rows: rows, cost: cost + rows}, nil
	}
	kind := exec.SetIntersect
	if r.kind == setExcept {
		kind = exec.SetExcept
	}
	return &stage{node: &exec.SetOp{Base: est(rows / 2), Kind: kind, All: r.all, Left: nodes[0], Right: nodes[1], Out: out}, at: at, rows: rows / 2, cost: cost + rows}, nil
}

// projected plans a relation whose node yields the given expressions.
func (b *builder) projected(r rel, exprs []expr.Expr) (*stage, error) {
	n := &need{exact: true}
	plain := true
	for _, e := range exprs {
		id, ok := e.ColumnIndex()
		plain = plain && ok
		n.ids = append(n.ids, id)
	}
	if !plain {
		n.exact, n.ids = false, addIDs(nil, exprs...)
	}
	st, err := b.phys(r, n)
	if err != nil {
		return nil, err
	}
	if plain {
		return b.exactly(st, exprs)
	}
	local, err := b.localAll(exprs, st.at)
	if err != nil {
		return nil, err
	}
	return &stage{node: &exec.Project{Base: est(st.rows), Input: st.node, Exprs: local}, rows: st.rows, cost: st.cost}, nil
}

// physCTE reads a common table expression; its plan is made at the first reference.
func (b *builder) physCTE(r *cteRef) (*stage, error) {
	at := run(r.first, len(r.cte.out))
	if r.delta {
		return &stage{node: &exec.CTEDelta{Base: est(cteDeltaRows), CTE: r.cte.node}, at: at, rows: cteDeltaRows, cost: cteDeltaRows}, nil
	}
	if r.cte.node == nil {
		if err := b.planCTE(r.cte); err != nil {
			return nil, err
		}
	}
	rows := r.cte.rows
	return &stage{node: &exec.CTEScan{Base: est(rows), CTE: r.cte.node}, at: at, rows: rows, cost: rows}, nil
}

// cteDeltaRows is the estimate of the rows of one iteration of a recursive CTE.
const cteDeltaRows = 100

func (b *builder) planCTE(c *cte) error {
	c.node = &exec.CTE{Name: c.def.Name.Name, Distinct: c.distinct, Out: c.out}
	for _, f := range c.free {
		id, _ := f.ColumnIndex()
		if slot, ok := b.params[id]; ok {
			c.node.Slots = append(c.node.Slots, slot)
		}
	}
	list := make([]expr.Expr, len(c.cols))
	for i := range c.cols {
		list[i] = c.cols[i].expr()
		c.node.Columns = append(c.node.Columns, c.cols[i].info.Name)
	}
	body, err := b.simplify(c.body)
	if err != nil {
		return err
	}
	st, err := b.projected(body, list)
	if err != nil {
		return err
	}
	c.node.Root, c.rows = st.node, st.rows
	if c.recursive != nil {
		step, err := b.simplify(c.recursive)
		if err != nil {
			return err
		}
		saved := b.repeats
		b.repeats = true
		st, err := b.projected(step, c.steps)
		if b.repeats = saved; err != nil {
			return err
		}
		c.node.Recursive, c.rows = st.node, c.rows*10
		if c.node.Count, c.node.Offset, err = b.counts(&limited{count: c.count, offset: c.offset}); err != nil {
			return err
		}
	}
	b.plan.CTEs = append(b.plan.CTEs, c.node)
	return nil
}

// windowColumnBytes is about what a window takes in a plan for each column that it passes on.
const windowColumnBytes = 128

// physWindow sorts the rows by partition and order and computes the functions.
func (b *builder) physWindow(r *window, n *need) (*stage, error) {
	made := idSet{}
	var exprs []expr.Expr
	for i := range r.funcs {
		made[r.funcs[i].id] = true
		windowExprs(r.funcs[i].spec, func(e expr.Expr) { exprs = append(exprs, e) })
	}
	exprs = append(exprs, r.partition...)
	var keys []sortKey
	for _, p := range r.partition {
		keys = append(keys, sortKey{e: p})
	}
	for _, o := range r.order {
		exprs = append(exprs, o.e)
		keys = append(keys, o)
	}
	inner := &need{}
	for _, id := range n.ids {
		if !made[id] {
			inner.add(id)
		}
	}
	inner.ids = addIDs(inner.ids, exprs...)
	st, err := b.phys(r.input, inner)
	if err != nil {
		return nil, err
	}
	// Three hundred windows over four thousand columns took 120 MB: each has a list of all columns, and so has its sort.
	if err := b.env.Build.Hold(windowColumnBytes * st.width()); err != nil {
		return nil, err
	}
	node := &exec.Window{Base: est(st.rows), Input: st.node}
	if len(keys) > 0 {
		sort, err := b.sortKeys(keys, st.at)
		if err != nil {
			return nil, err
		}
		node.Input = &exec.Sort{Base: est(st.rows), Input: st.node, Keys: sort}
		node.Order = sort[len(r.partition):]
		for i := range r.partition {
			node.Partition = append(node.Partition, sort[i].Expr)
		}
	}
	out := &stage{node: node, at: make(map[int]int, len(st.at)+len(r.funcs)), rows: st.rows, cost: st.cost + costSort(st.rows)}
	for id, p := range st.at {
		out.at[id] = p
	}
	width := st.width()
	for i := range r.funcs {
		var failed error
		node.Funcs = append(node.Funcs, mapWindow(r.funcs[i].spec, func(e expr.Expr) expr.Expr {
			local, err := b.local(e, st.at)
			if err != nil {
				failed = err
				return e
			}
			return local
		}))
		if failed != nil {
			return nil, failed
		}
		out.at[r.funcs[i].id] = width + i
	}
	out.columns = width + len(r.funcs)
	return out, nil
}
