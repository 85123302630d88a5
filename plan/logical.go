package plan

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// The logical algebra. A relation is a tree of the nodes below; its expressions name columns by ids that are unique in the statement, so that
// nodes can be moved without renumbering anything. A column that no node of a subtree makes is an outer reference: it comes from the query
// around it, or from the left side of a lateral join. Nodes are immutable once resolved; passes return new ones.

// rel is a node of the logical algebra.
type rel interface{ inputs() []rel }

// get reads a base table. Column ordinal i has the id first+i; behind the columns come the hidden row id and the row's key.
type get struct {
	table   *catalog.Table
	alias   string
	hints   []syntax.IndexHint
	merging mergeHint
	first   int
	lock    *lockSpec // nil for a plain read
}

func (g *get) rowID() int  { return g.first + len(g.table.Columns) }
func (g *get) rowKey() int { return g.first + len(g.table.Columns) + 1 }

// getWidth is how many ids a get of the table takes.
func getWidth(t *catalog.Table) int { return len(t.Columns) + 2 }

// owns reports whether an id is one of the table's.
func (g *get) owns(id int) bool { return id >= g.first && id < g.first+getWidth(g.table) }

// ordinal is the column ordinal, or exec.RowKey, of an id that the get owns.
func (g *get) ordinal(id int) int {
	if id == g.rowKey() {
		return exec.RowKey
	}
	return id - g.first
}

// id is the opposite of ordinal.
func (g *get) id(ordinal int) int {
	if ordinal == exec.RowKey {
		return g.rowKey()
	}
	return g.first + ordinal
}

// lockSpec says how a locking read locks the rows of one table.
type lockSpec struct {
	mode exec.LockMode
	wait exec.WaitPolicy
	// writes says that UPDATE or DELETE changes the rows: all columns and the key are wanted.
	writes bool
}

// dual is one row without columns.
type dual struct{}

// rowSource reads a virtual table; its columns have consecutive ids from first on.
type rowSource struct {
	node *exec.RowSource
	// system is the virtual table; nil for other rows.
	system *SystemTable
	first  int
	rows   float64
}

// valuesRel is VALUES ROW(…), …; its columns have consecutive ids from first on.
type valuesRel struct {
	rows  [][]expr.Expr
	first int
	out   []types.Type
}

// filter keeps the rows for which all conditions are true.
type filter struct {
	input rel
	conds []expr.Expr
}

// computed is a column made by an expression.
type computed struct {
	id int
	e  expr.Expr
}

// extend adds computed columns to those of its input: it is the projection of this algebra. What nobody above needs is not computed.
type extend struct {
	input rel
	cols  []computed
}

// join combines two relations. The right side may refer to columns of the left one if it is lateral. Semi and anti joins yield the left
// side's columns only.
type join struct {
	kind        exec.JoinKind
	left, right rel
	on          []expr.Expr
	// straight fixes the order: left before right.
	straight bool
}

// aggregate groups its input. A key that is a plain column keeps its id.
type aggregate struct {
	input rel
	keys  []computed
	aggs  []aggregated
	// rollup adds the super-aggregate rows; grouping is then the id of the column with the GROUPING() bits.
	rollup   bool
	grouping int
	// stream says that a hint asks for groups made of sorted rows.
	stream bool
}

type aggregated struct {
	id   int
	spec *expr.AggSpec
	same bool // it is any_value of a column that the keys determine
}

// window adds columns of window functions that share a partition and an order.
type window struct {
	input     rel
	partition []expr.Expr
	order     []sortKey
	funcs     []windowed
}

type windowed struct {
	id   int
	spec *exec.WindowFunc // its expressions are over ids
}

// distinct drops rows that repeat in the columns with these ids; no other columns are left.
type distinct struct {
	input rel
	cols  []int
}

type sortKey struct {
	e    expr.Expr
	desc bool
}

// sorted orders its input.
type sorted struct {
	input rel
	keys  []sortKey
}

// limited passes count rows after offset; either may be nil. top says that it is the statement's own; calc counts all rows for SQL_CALC_FOUND_ROWS.
type limited struct {
	input         rel
	count, offset expr.Expr
	top, calc     bool
}

// branch is one side of a set operation: the expressions give its columns in the common types.
type branch struct {
	input rel
	exprs []expr.Expr
}

// setKind is the operator of a setOp.
type setKind uint8

const (
	setUnion setKind = iota
	setIntersect
	setExcept
)

// setOp is UNION, INTERSECT or EXCEPT; its columns have consecutive ids from first on. Only UNION has more than two branches.
type setOp struct {
	kind     setKind
	all      bool
	branches []branch
	first    int
	out      []types.Type
}

// cteRef reads a common table expression that is computed once; its columns have consecutive ids from first on.
type cteRef struct {
	cte   *cte
	first int
	delta bool // within the recursive part: the rows of the iteration before
}

func (g *get) inputs() []rel       { return nil }
func (d *dual) inputs() []rel      { return nil }
func (s *rowSource) inputs() []rel { return nil }
func (v *valuesRel) inputs() []rel { return nil }
func (f *filter) inputs() []rel    { return []rel{f.input} }
func (e *extend) inputs() []rel    { return []rel{e.input} }
func (j *join) inputs() []rel      { return []rel{j.left, j.right} }
func (a *aggregate) inputs() []rel { return []rel{a.input} }
func (w *window) inputs() []rel    { return []rel{w.input} }
func (d *distinct) inputs() []rel  { return []rel{d.input} }
func (s *sorted) inputs() []rel    { return []rel{s.input} }
func (l *limited) inputs() []rel   { return []rel{l.input} }
func (c *cteRef) inputs() []rel    { return nil }

func (s *setOp) inputs() []rel {
	out := make([]rel, len(s.branches))
	for i := range s.branches {
		out[i] = s.branches[i].input
	}
	return out
}

// own calls visit for each expression of the node itself.
func own(r rel, visit func(e expr.Expr)) {
	each := func(list []expr.Expr) {
		for _, e := range list {
			visit(e)
		}
	}
	switch r := r.(type) {
	case *jsonTable:
		visit(r.doc)
	case *valuesRel:
		for _, row := range r.rows {
			each(row)
		}
	case *filter:
		each(r.conds)
	case *extend:
		for i := range r.cols {
			visit(r.cols[i].e)
		}
	case *join:
		each(r.on)
	case *aggregate:
		for i := range r.keys {
			visit(r.keys[i].e)
		}
		for i := range r.aggs {
			aggExprs(r.aggs[i].spec, visit)
		}
	case *window:
		each(r.partition)
		for i := range r.order {
			visit(r.order[i].e)
		}
		for i := range r.funcs {
			windowExprs(r.funcs[i].spec, visit)
		}
	case *sorted:
		for i := range r.keys {
			visit(r.keys[i].e)
		}
	case *limited:
		if r.count != nil {
			visit(r.count)
		}
		if r.offset != nil {
			visit(r.offset)
		}
	case *setOp:
		for i := range r.branches {
			each(r.branches[i].exprs)
		}
	}
}

func aggExprs(spec *expr.AggSpec, visit func(e expr.Expr)) {
	for _, arg := range spec.Args() {
		visit(arg)
	}
	for _, o := range spec.Order() {
		visit(o.Expr)
	}
}

func windowExprs(f *exec.WindowFunc, visit func(e expr.Expr)) {
	for _, arg := range f.Args {
		visit(arg)
	}
	if f.Agg != nil {
		aggExprs(f.Agg, visit)
	}
	for _, bound := range []expr.Expr{f.Frame.Start.Offset, f.Frame.End.Offset} {
		if bound != nil {
			visit(bound)
		}
	}
}

// idSet is a set of column ids.
type idSet map[int]bool

// addExpr adds the columns that e reads.
func (s idSet) addExpr(e expr.Expr) { expr.Columns(e, func(id int) { s[id] = true }) }

// covers reports whether all columns of e are in the set.
func (s idSet) covers(e expr.Expr) bool {
	all := true
	expr.Columns(e, func(id int) { all = all && s[id] })
	return all
}

// touches reports whether e reads a column of the set.
func (s idSet) touches(e expr.Expr) bool {
	some := false
	expr.Columns(e, func(id int) { some = some || s[id] })
	return some
}

// addOutputs adds the columns that a relation yields.
func (s idSet) addOutputs(r rel) {
	run := func(first, n int) {
		for i := range n {
			s[first+i] = true
		}
	}
	switch r := r.(type) {
	case *get:
		run(r.first, getWidth(r.table))
	case *rowSource:
		run(r.first, len(r.node.Out))
	case *jsonTable:
		run(r.first, len(r.out))
	case *valuesRel:
		run(r.first, len(r.out))
	case *cteRef:
		run(r.first, len(r.cte.out))
	case *setOp:
		run(r.first, len(r.out))
	case *distinct:
		for _, id := range r.cols {
			s[id] = true
		}
	case *aggregate:
		for i := range r.keys {
			s[r.keys[i].id] = true
		}
		for i := range r.aggs {
			s[r.aggs[i].id] = true
		}
		if r.rollup {
			s[r.grouping] = true
		}
	case *join:
		s.addOutputs(r.left)
		if r.kind == exec.JoinInner || r.kind == exec.JoinLeft {
			s.addOutputs(r.right)
		}
	default:
		for _, input := range r.inputs() {
			s.addOutputs(input)
		}
		switch r := r.(type) {
		case *extend:
			for i := range r.cols {
				s[r.cols[i].id] = true
			}
		case *window:
			for i := range r.funcs {
				s[r.funcs[i].id] = true
			}
		}
	}
}

// outputs is the set of columns that a relation yields.
func outputs(r rel) idSet {
	s := idSet{}
	s.addOutputs(r)
	return s
}

// addMade adds every column that some node of the tree makes, visible at its top or not.
func (s idSet) addMade(r rel) {
	s.addOutputs(r)
	for _, input := range r.inputs() {
		s.addMade(input)
	}
}

// free lists the outer references of a relation, each once, in the order in which they are met.
func free(r rel) []expr.Expr {
	made, seen := idSet{}, idSet{}
	made.addMade(r)
	var out []expr.Expr
	add := func(n expr.Expr) bool {
		if id, ok := n.ColumnIndex(); ok && !made[id] && !seen[id] {
			seen[id] = true
			out = append(out, n)
		}
		return true
	}
	var walk func(r rel)
	walk = func(r rel) {
		own(r, func(e expr.Expr) { expr.Walk(e, add) })
		if c, ok := r.(*cteRef); ok && !c.delta {
			for _, n := range c.cte.free {
				add(n)
			}
		}
		for _, input := range r.inputs() {
			walk(input)
		}
	}
	walk(r)
	return out
}

// flagsOf collects what the expressions of a relation depend on.
func flagsOf(r rel) (flags expr.Flags) {
	own(r, func(e expr.Expr) { flags |= e.Flags() })
	if g, ok := r.(*get); ok && g.lock != nil {
		flags |= expr.FlagSideEffect
	}
	if c, ok := r.(*cteRef); ok && !c.delta {
		flags |= c.cte.flags
	}
	for _, input := range r.inputs() {
		flags |= flagsOf(input)
	}
	return flags
}

// changing are the flags of what may differ between two evaluations, or has side effects.
const changing = expr.FlagVolatile | expr.FlagSession | expr.FlagSideEffect | expr.FlagOpaque

// anyRel reports whether pred holds for some node of a tree.
func anyRel(r rel, pred func(rel) bool) bool {
	if pred(r) {
		return true
	}
	for _, input := range r.inputs() {
		if anyRel(input, pred) {
			return true
		}
	}
	return false
}
