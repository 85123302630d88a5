package plan

import (
	"math"
	"slices"
	"sort"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// plan turns the bound block into nodes: read, group, filter groups, project, drop duplicates, order, limit.
func (s *selection) plan() (*block, error) {
	count, offset, err := s.b.limit(s.query.Limit)
	if err != nil {
		return nil, err
	}
	in, err := s.read(count, offset)
	if err != nil {
		return nil, err
	}
	if s.bind.agg != nil {
		if err := s.group(in); err != nil {
			return nil, err
		}
	}
	if len(s.having) > 0 {
		cond, err := expr.JoinAnd(s.b.env.Build, in.mapAll(s.having))
		if err != nil {
			return nil, err
		}
		in.node = &exec.Filter{Base: exec.Base{EstRows: in.rows * filterUnknown}, Input: in.node, Cond: cond}
	}
	s.project(in)
	if s.sel.Distinct == syntax.Distinct {
		in.node = &exec.Distinct{Base: exec.Base{EstRows: in.rows}, Input: in.node}
	}
	s.sortAndLimit(in, count, offset)
	out := &block{node: in.node, scope: &scope{}, rows: in.rows}
	for i := range s.items {
		out.scope.columns = append(out.scope.columns, column{table: s.items[i].info.Table, schema: s.items[i].info.Schema, info: s.items[i].info})
	}
	return out, nil
}

// stage is the plan built so far: its node, and where the positions that bound expressions use stand in the node's output.
type stage struct {
	node    exec.Node
	remap   func(int) int
	rows    float64
	ordered bool // in the order that ORDER BY asks for
	direct  bool // the node already yields exactly the select list
	hidden  int  // columns behind the select list that only ORDER BY needs
}

func (st *stage) mapped(e expr.Expr) expr.Expr {
	if st.remap == nil || e == nil {
		return e
	}
	return expr.MapColumns(e, st.remap)
}

func (st *stage) mapAll(list []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = st.mapped(e)
	}
	return out
}

// limit binds LIMIT; both results are nil without one.
func (b *builder) limit(l *syntax.Limit) (count, offset expr.Expr, err error) {
	if l == nil {
		return nil, nil, nil
	}
	bind := &binder{env: b.env, build: b, scope: &scope{}, clause: "limit clause"}
	one := func(e syntax.Expr) (expr.Expr, error) {
		if e == nil {
			return nil, nil
		}
		bound, err := bind.bind(e)
		if err != nil {
			return nil, err
		}
		if t := bound.Type(); !t.IsInteger() {
			// Some clients send every number as a double.
			return expr.Cast(b.env.Build, bound, types.Type{ID: types.TypeBigInt, Length: -1, Scale: -1})
		}
		return bound, nil
	}
	if count, err = one(l.Count); err != nil {
		return nil, nil, err
	}
	offset, err = one(l.Offset)
	return count, offset, err
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

// used lists the columns of the source that the block refers to outside WHERE, in ascending order.
func (s *selection) used() []int {
	seen := map[int]bool{}
	add := func(e expr.Expr) { expr.Columns(e, func(i int) { seen[i] = true }) }
	if agg := s.bind.agg; agg != nil {
		for _, key := range agg.keys {
			add(key)
		}
		for _, spec := range agg.aggs {
			for _, arg := range spec.Args() {
				add(arg)
			}
			for _, o := range spec.Order() {
				add(o.Expr)
			}
		}
	} else {
		for i := range s.items {
			add(s.items[i].bound)
		}
		for _, h := range s.having {
			add(h)
		}
		for i := range s.order {
			if s.order[i].item < 0 {
				add(s.order[i].bound)
			}
		}
	}
	list := make([]int, 0, len(seen))
	for i := range seen {
		list = append(list, i)
	}
	sort.Ints(list)
	return list
}

// read builds the source's node with WHERE applied.
func (s *selection) read(count, offset expr.Expr) (*stage, error) {
	lock, locking, err := s.lock()
	if err != nil {
		return nil, err
	}
	if s.from.table == nil {
		return s.readNode()
	}
	w := &want{table: s.from.table, alias: s.from.alias, hints: s.from.hints, conjuncts: s.where, needed: s.used(), locking: locking}
	simple := s.bind.agg == nil && len(s.having) == 0 && s.sel.Distinct != syntax.Distinct
	if simple {
		w.order = s.columnOrder()
		if len(w.order) == len(s.order) {
			w.limit = limitRows(count, offset)
		} else {
			w.order = nil
		}
	}
	if !locking && s.b.locks {
		plain := *w
		p, err := s.b.access(&plain)
		if err != nil {
			return nil, err
		}
		if p.byEntries() {
			return s.readLocked(w, syntax.LockClause{Kind: syntax.LockForShare}, simple && len(s.order) == 0, count, offset)
		}
	}
	if locking {
		s.b.use(w.table, true) // FOR UPDATE and FOR SHARE take more than the right to read
		return s.readLocked(w, lock, simple && len(s.order) == 0, count, offset)
	}
	if st, err := s.readExtreme(w); st != nil || err != nil {
		return st, err
	}
	p, err := s.b.access(w)
	if err != nil {
		return nil, err
	}
	gate := p.takeConstants()
	cols := s.outputColumns(w.needed, p.rest)
	ordered := simple && (len(s.order) == 0 || len(w.order) > 0 && p.ordered)
	var bound expr.Expr
	if ordered && s.sel.Options&syntax.SelectCalcFoundRows == 0 {
		bound, err = s.b.sum(count, offset)
		if err != nil {
			return nil, err
		}
	}
	node, err := s.b.node(w, p, cols, bound)
	if err != nil {
		return nil, err
	}
	if node, err = s.b.gated(node, gate, p.out); err != nil {
		return nil, err
	}
	st := &stage{node: node, rows: p.out, ordered: ordered, remap: positions(cols)}
	st.direct = s.isDirect(cols)
	return st, nil
}

// sum is count + offset: how many rows a scan below a LIMIT has to yield.
func (b *builder) sum(count, offset expr.Expr) (expr.Expr, error) {
	if count == nil || offset == nil {
		return count, nil
	}
	return expr.Call(b.env.Build, "+", count, offset)
}

// positions maps column ordinals to positions in cols.
func positions(cols []int) func(int) int {
	at := map[int]int{}
	for i, c := range cols {
		if _, twice := at[c]; !twice {
			at[c] = i
		}
	}
	return func(c int) int { return at[c] }
}

// outputColumns chooses the columns that the reading node yields. If the select list is plain columns and nothing else is needed, it is
// the select list itself, which spares a projection.
func (s *selection) outputColumns(needed []int, filter []expr.Expr) []int {
	extra := map[int]bool{}
	for _, e := range filter {
		expr.Columns(e, func(c int) { extra[c] = true })
	}
	if list, ok := s.plainItems(); ok {
		covered := true
		for c := range extra {
			covered = covered && slices.Contains(list, c)
		}
		for _, c := range needed {
			covered = covered && slices.Contains(list, c)
		}
		if covered {
			return list
		}
	}
	cols := append([]int(nil), needed...)
	for c := range extra {
		if !slices.Contains(cols, c) {
			cols = append(cols, c)
		}
	}
	sort.Ints(cols)
	return cols
}

// plainItems returns the column ordinals of a select list that holds nothing but columns.
func (s *selection) plainItems() ([]int, bool) {
	if s.bind.agg != nil {
		return nil, false
	}
	list := make([]int, len(s.items))
	for i := range s.items {
		c, ok := s.items[i].bound.ColumnIndex()
		if !ok {
			return nil, false
		}
		list[i] = c
	}
	return list, len(list) > 0
}

func (s *selection) isDirect(cols []int) bool {
	list, ok := s.plainItems()
	return ok && slices.Equal(list, cols)
}

// columnOrder returns ORDER BY as columns of the source, or nil if an element is an expression.
func (s *selection) columnOrder() []orderColumn {
	var out []orderColumn
	for i := range s.order {
		e := s.order[i].bound
		if s.order[i].item >= 0 {
			e = s.items[s.order[i].item].bound
		}
		c, ok := e.ColumnIndex()
		if !ok {
			return nil
		}
		out = append(out, orderColumn{c, s.order[i].desc})
	}
	return out
}

// readNode applies WHERE to a derived table, a system table or no table at all.
func (s *selection) readNode() (*stage, error) {
	st := &stage{node: s.from.node, rows: s.from.rows}
	if len(s.where) > 0 {
		cond, err := expr.JoinAnd(s.b.env.Build, s.where)
		if err != nil {
			return nil, err
		}
		st.node = &exec.Filter{Base: exec.Base{EstRows: st.rows * filterUnknown}, Input: st.node, Cond: cond}
	}
	st.ordered = len(s.order) == 0
	list, ok := s.plainItems()
	st.direct = ok && len(list) == len(s.from.scope.columns)
	for i, c := range list {
		st.direct = st.direct && c == i
	}
	return st, nil
}

// group adds the aggregation. Without keys there is exactly one group.
func (s *selection) group(in *stage) error {
	agg := s.bind.agg
	keys := in.mapAll(agg.keys)
	specs := make([]*expr.AggSpec, len(agg.aggs))
	for i, spec := range agg.aggs {
		specs[i] = spec
		if in.remap != nil {
			specs[i] = spec.MapColumns(in.remap)
		}
	}
	rows := 1.0
	if len(keys) > 0 {
		in.node, keys, specs = computeBulky(in.node, in.rows, keys, specs)
		rows = math.Max(1, in.rows/10)
		in.node = &exec.HashAgg{Base: exec.Base{EstRows: rows}, Input: in.node, Keys: keys, Aggs: specs}
	} else {
		in.node = &exec.StreamAgg{Base: exec.Base{EstRows: rows}, Input: in.node, Aggs: specs}
	}
	in.rows, in.remap, in.direct, in.ordered = rows, nil, false, len(s.order) == 0
	if len(keys) == 0 {
		in.ordered = true
	}
	return nil
}

// computeBulky puts a projection below an aggregation whose keys may be long: it ends batches by their bytes, where the aggregation would
// compute the keys of a whole one. What the aggregates read is passed on.
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

// project computes the select list and, behind it, what else ORDER BY needs.
func (s *selection) project(in *stage) {
	if in.direct && s.orderIsInItems() {
		in.remap = nil
		return
	}
	exprs := make([]expr.Expr, 0, len(s.items)+len(s.order))
	for i := range s.items {
		exprs = append(exprs, in.mapped(s.items[i].bound))
	}
	if !in.ordered {
		for i := range s.order {
			if s.order[i].item < 0 {
				s.order[i].item = len(exprs)
				exprs = append(exprs, in.mapped(s.order[i].bound))
				in.hidden++
			}
		}
	}
	in.node = &exec.Project{Base: exec.Base{EstRows: in.rows}, Input: in.node, Exprs: exprs}
	in.remap = nil
}

func (s *selection) orderIsInItems() bool {
	for i := range s.order {
		if s.order[i].item < 0 {
			return false
		}
	}
	return true
}

// orderName is what EXPLAIN shows of an ORDER BY element.
func (s *selection) orderName(i int) string {
	if at := s.order[i].item; at < len(s.items) {
		return s.items[at].info.Name
	}
	return s.order[i].bound.String()
}

func (s *selection) sortAndLimit(in *stage, count, offset expr.Expr) {
	calc := s.sel.Options&syntax.SelectCalcFoundRows != 0
	if len(s.order) > 0 && !in.ordered {
		types := exec.Types(in.node)
		keys := make([]exec.SortKey, len(s.order))
		for i := range s.order {
			at := s.order[i].item
			keys[i] = exec.SortKey{Expr: expr.Column(at, types[at], s.orderName(i)), Desc: s.order[i].desc}
		}
		if count != nil && !calc {
			in.node = &exec.TopN{Base: exec.Base{EstRows: limitRows(count, offset)}, Input: in.node, Keys: keys, Count: count, Offset: offset}
			count, offset = nil, nil
		} else {
			in.node = &exec.Sort{Base: exec.Base{EstRows: in.rows}, Input: in.node, Keys: keys}
		}
	}
	if count != nil || calc {
		in.rows = math.Min(in.rows, math.Max(limitRows(count, offset), 1))
		in.node = &exec.Limit{Base: exec.Base{EstRows: in.rows}, Input: in.node, Count: count, Offset: offset, FoundRows: calc}
	}
	if in.hidden > 0 {
		types := exec.Types(in.node)
		exprs := make([]expr.Expr, len(s.items))
		for i := range exprs {
			exprs[i] = expr.Column(i, types[i], s.items[i].info.Name)
		}
		in.node = &exec.Project{Base: exec.Base{EstRows: in.rows}, Input: in.node, Exprs: exprs}
	}
}
