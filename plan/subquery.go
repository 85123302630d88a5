package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// subquery is the logical side of an exec.Subplan: what the expression of the subquery means. A pass may turn the expression into a join, or
// it stays and its plan is made when the expression is placed into a node.
type subquery struct {
	plan *exec.Subplan
	rel  rel
	cols []column
	// free are the outer references, to which the expression's first arguments belong.
	free []expr.Expr
	// left are the operands of IN, ANY, ALL and row comparisons, compared with cols by op; empty for scalar subqueries and EXISTS.
	left []expr.Expr
	op   string
	// compare is the whole comparison over operands and cols; operands are the columns of the expression's further arguments.
	compare  expr.Expr
	operands []int
	planned  bool
	apart    bool // a hint keeps it from becoming a join
	joined   bool // a hint asks for a join, whatever it costs
	several  bool // the expression stands in several places, and runs once for all of them
	// simple is rel after the normalising passes, nil before the first call of simplified; liftings are the joins that replaced it.
	simple   rel
	liftings []*lifting
}

// boolean is the type of conditions.
func boolean() types.Type { return types.Type{ID: types.TypeBigInt, Length: 1} }

// resolveInner resolves a subquery in an expression.
func (b *binder) resolveInner(q *syntax.Query) (*result, error) {
	if q.Into != nil {
		return nil, types.Errorf(types.ErMisplacedInto)
	}
	if q.Limit == nil {
		b.build.orderIdle(q)
	}
	b.build.keepDigits(q)
	return b.build.query(q, b.scope)
}

// scalarSubquery binds a subquery that stands for its one value.
func (b *binder) scalarSubquery(q *syntax.Query) (expr.Expr, error) {
	r, err := b.resolveInner(q)
	if err != nil {
		return nil, err
	}
	if len(r.cols) != 1 {
		return nil, types.Errorf(types.ErOperandColumns, 1)
	}
	if row := r.reduced(); row != nil {
		return r.cols[0].shownOf(row[0]), nil
	}
	return b.scalarOf(r), nil
}

// reduced are the elements of the select list of a query that reads no table and yields one row whatever happens, or nil: a subquery of that
// kind stands for them, as in MySQL, so that (SELECT 'x') is the constant 'x'.
func (r *result) reduced() []expr.Expr {
	e, ok := r.rel.(*extend)
	if !ok || len(e.cols) < len(r.cols) {
		return nil
	}
	if _, none := e.input.(*dual); !none {
		return nil
	}
	row := make([]expr.Expr, len(r.cols))
	for i := range r.cols {
		at := slices.IndexFunc(e.cols, func(c computed) bool { return c.id == r.cols[i].id })
		if at < 0 {
			return nil
		}
		row[i] = e.cols[at].e
	}
	return row
}

// scalarOf is the expression of a resolved subquery of one column that stands for its one value.
func (b *binder) scalarOf(r *result) expr.Expr {
	s := &subquery{rel: r.rel, cols: r.cols, apart: r.apart, joined: r.joined}
	return r.cols[0].shownOf(b.build.subqueryExpr(s, exec.SubplanScalar, r.cols[0].info.Type, nil))
}

func (b *binder) exists(q *syntax.Query) (expr.Expr, error) {
	b.build.orderIdle(q)
	b.build.idleStars(q.Body)
	r, err := b.resolveInner(q)
	if err != nil {
		return nil, err
	}
	return expr.NotNull(b.build.subqueryExpr(&subquery{rel: r.rel, cols: r.cols, apart: r.apart, joined: r.joined}, exec.SubplanExists, boolean(), nil)), nil
}

// idleStars notes the blocks of EXISTS. As in MySQL a * in them stands for a constant, so that it may name no table, or one that does not exist;
// but not beside HAVING, which reads the select list.
func (b *builder) idleStars(body syntax.QueryBody) {
	switch body := body.(type) {
	case *syntax.Query:
		b.idleStars(body.Body)
	case *syntax.SetOp:
		b.idleStars(body.Left)
		b.idleStars(body.Right)
	case *syntax.Select:
		if body.Having != nil {
			return
		}
		if b.starless == nil {
			b.starless = map[*syntax.Select]bool{}
		}
		b.starless[body] = true
	}
}

// idleStar is the element of the select list that * stands for in a block of EXISTS.
var idleStar = &syntax.SelectItem{Expr: &syntax.Literal{Kind: syntax.LitInt, Value: "1"}}

// inSubquery binds x IN (subquery), which is x = ANY, and x NOT IN (subquery), which is x <> ALL.
func (b *binder) inSubquery(e *syntax.In) (expr.Expr, error) {
	kind, op := inOps(e.Not)
	return b.compared(kind, op, e.X, e.Query.Query)
}

// inOps are the comparisons of IN and NOT IN.
func inOps(not bool) (exec.SubplanKind, string) {
	if not {
		return exec.SubplanAll, "<>"
	}
	return exec.SubplanAny, "="
}

// subqueryIn binds IN and NOT IN of a subquery of one row.
func (b *binder) subqueryIn(left *syntax.Query, e *syntax.In) (expr.Expr, error) {
	return b.overRow(left, func(b *binder, row []expr.Expr) (expr.Expr, error) {
		if e.Query != nil {
			kind, op := inOps(e.Not)
			return b.comparedRow(kind, op, row, e.Query.Query)
		}
		list, err := b.all(e.List)
		if err != nil {
			return nil, err
		}
		x := row[0]
		if len(row) > 1 {
			if x, err = b.call("row", row...); err != nil {
				return nil, err
			}
		}
		name := "in"
		if e.Not {
			name = "not in"
		}
		return b.call(name, append([]expr.Expr{x}, list...)...)
	})
}

// overRow binds the expression that compare makes of the columns of a subquery's row. With several columns it becomes
// (SELECT compare(x.a, x.b) FROM (SELECT a, b …) AS x), so compare gets a binder for that scope.
func (b *binder) overRow(q *syntax.Query, compare func(*binder, []expr.Expr) (expr.Expr, error)) (expr.Expr, error) {
	r, err := b.resolveInner(q)
	if err != nil {
		return nil, err
	}
	if len(r.cols) == 1 {
		return compare(b, []expr.Expr{b.scalarOf(r)})
	}
	within := *b
	within.scope = &scope{parent: b.scope, columns: r.cols}
	row := make([]expr.Expr, len(r.cols))
	for i := range r.cols {
		row[i] = r.cols[i].value()
	}
	bound, err := compare(&within, row)
	if err != nil {
		return nil, err
	}
	id := b.build.newID()
	s := &subquery{rel: &extend{r.rel, []computed{{id, bound}}}, cols: []column{{id: id, info: itemColumn("", bound.Type())}}}
	return b.build.subqueryExpr(s, exec.SubplanScalar, boolean(), nil), nil
}

// quantified binds x op ANY (subquery) and x op ALL (subquery).
func (b *binder) quantified(e *syntax.QuantCompare) (expr.Expr, error) {
	kind := exec.SubplanAny
	if e.Quant == "ALL" {
		kind = exec.SubplanAll
	}
	rows := e.Op == syntax.OpEq && kind == exec.SubplanAny || e.Op == syntax.OpNe && kind == exec.SubplanAll // the same as IN and NOT IN
	if left, ok := unparen(e.L).(*syntax.Subquery); ok {
		return b.overRow(left.Query, func(b *binder, row []expr.Expr) (expr.Expr, error) {
			if len(row) > 1 && !rows {
				return nil, types.Errorf(types.ErOperandColumns, 1)
			}
			return b.comparedRow(kind, binaryNames[e.Op], row, e.Query.Query)
		})
	}
	if _, row := unparen(e.L).(*syntax.Row); row && !rows {
		return nil, types.Errorf(types.ErOperandColumns, 1)
	}
	return b.compared(kind, binaryNames[e.Op], e.L, e.Query.Query)
}

// rowSubquery binds the comparison of a row constructor with a subquery of one row, on whichever side it stands, and of two subqueries; done is
// false for other operands.
func (b *binder) rowSubquery(e *syntax.Binary) (bound expr.Expr, done bool, err error) {
	op, comparison := binaryNames[e.Op], mirrored[binaryNames[e.Op]] != "" || e.Op == syntax.OpNe
	if !comparison {
		return nil, false, nil
	}
	l, r := unparen(e.L), unparen(e.R)
	if _, row := r.(*syntax.Row); row {
		l, r = r, l
		if e.Op != syntax.OpNe {
			op = mirrored[op]
		}
	}
	sub, ok := r.(*syntax.Subquery)
	if left, both := l.(*syntax.Subquery); both && ok {
		bound, err = b.comparedSubqueries(binaryNames[e.Op], left.Query, sub.Query)
		return bound, true, err
	}
	if _, row := l.(*syntax.Row); !row || !ok {
		return nil, false, nil
	}
	bound, err = b.compared(exec.SubplanRow, op, l, sub.Query)
	return bound, true, err
}

// comparedSubqueries binds the comparison of two subqueries.
func (b *binder) comparedSubqueries(op string, left, right *syntax.Query) (expr.Expr, error) {
	return b.overRow(left, func(b *binder, row []expr.Expr) (expr.Expr, error) {
		if len(row) > 1 {
			return b.comparedRow(exec.SubplanRow, op, row, right)
		}
		y, err := b.scalarSubquery(right)
		if err != nil {
			return nil, err
		}
		return b.call(op, row[0], y)
	})
}

// compared binds the comparison of an expression, or of a row of them, with the rows of a subquery.
func (b *binder) compared(kind exec.SubplanKind, op string, x syntax.Expr, q *syntax.Query) (expr.Expr, error) {
	operands := []syntax.Expr{x}
	if row, ok := unparen(x).(*syntax.Row); ok {
		operands = row.Elems
	}
	shown := *b
	shown.place = "IN/ALL/ANY subquery"
	if kind == exec.SubplanRow {
		shown.place = b.place
	}
	left, err := shown.all(operands)
	if err != nil {
		return nil, err
	}
	return b.comparedRow(kind, op, left, q)
}

// comparedRow binds the comparison of a row of bound expressions with the rows of a subquery.
func (b *binder) comparedRow(kind exec.SubplanKind, op string, left []expr.Expr, q *syntax.Query) (expr.Expr, error) {
	r, err := b.resolveInner(q)
	if err != nil {
		return nil, err
	}
	if len(left) != len(r.cols) {
		return nil, types.Errorf(types.ErOperandColumns, len(left))
	}
	if row := r.reduced(); row != nil && (kind == exec.SubplanRow || op == "=" || op == "<>") {
		return b.comparedRows(op, left, row)
	}
	if kind != exec.SubplanRow && (op == "=" || op == "<>") && hashedIn(left, r) {
		b.build.rounded(r)
	}
	if kind != exec.SubplanRow && r.reduced() == nil {
		for i, x := range left {
			if err := b.fixedColumn(op, x, r.rel, r.cols[i].id); err != nil {
				return nil, err
			}
			b.numberColumn(x, r, i)
		}
	}
	s := &subquery{rel: r.rel, cols: r.cols, left: left, op: op, apart: r.apart, joined: r.joined}
	args, err := b.comparison(s)
	if err != nil {
		return nil, err
	}
	return b.build.subqueryExpr(s, kind, boolean(), args), nil
}

// comparedRows compares two rows of bound expressions, or the two values if they are single ones.
func (b *binder) comparedRows(op string, left, right []expr.Expr) (_ expr.Expr, err error) {
	x, y := left[0], right[0]
	if len(left) > 1 {
		if x, err = b.call("row", left...); err != nil {
			return nil, err
		}
		if y, err = b.call("row", right...); err != nil {
			return nil, err
		}
	}
	return b.call(op, x, y)
}

// comparison builds what is evaluated for each row of the subquery, and returns the expression's operands: the columns that the left side
// reads, or the left side itself where it must not be evaluated for each row.
func (b *binder) comparison(s *subquery) (args []expr.Expr, err error) {
	inner := make([]expr.Expr, len(s.cols))
	left := make([]expr.Expr, len(s.left))
	seen := idSet{}
	for i, e := range s.left {
		inner[i] = s.cols[i].expr()
		left[i] = e
		if e.IsCall("row") {
			return nil, types.Errorf(types.ErOperandColumns, 1)
		}
		if !expr.IsDeterministic(e) {
			id := b.build.newID()
			left[i] = expr.ColumnOf(id, e.Type(), e.Coercibility(), e.String())
			s.operands = append(s.operands, id)
			args = append(args, e)
			continue
		}
		expr.Walk(e, func(n expr.Expr) bool {
			if id, ok := n.ColumnIndex(); ok && !seen[id] {
				seen[id] = true
				s.operands = append(s.operands, id)
				args = append(args, n)
			}
			return true
		})
	}
	s.compare, err = b.comparedRows(s.op, left, inner)
	return args, err
}

// subqueryExpr makes the expression of a resolved subquery.
func (b *builder) subqueryExpr(s *subquery, kind exec.SubplanKind, t types.Type, operands []expr.Expr) expr.Expr {
	s.free = free(s.rel)
	b.correlated = b.correlated || len(s.free) > 0
	flags := flagsOf(s.rel) & (changing | expr.FlagTyped | expr.FlagStatement)
	slots := make([]int, len(s.free))
	for i := range slots {
		slots[i] = b.newSlot()
	}
	s.plan = &exec.Subplan{Kind: kind, Slots: slots, Operands: len(operands), Flags: flags}
	b.subqueries[s.plan] = s
	name := "subquery " + itoa(len(b.subqueries))
	coer := expr.CoerNumeric // of truth values
	if kind == exec.SubplanScalar {
		coer = s.cols[0].coer
	}
	return s.plan.Expr(name, t, coer, s.free, operands, len(s.free) == 0 && flags&changing == 0)
}

// newSlot takes a parameter after the statement's own. In a plan with unknown parameters its number may be wrong, but such a plan never runs.
func (b *builder) newSlot() int {
	b.plan.Slots++
	return b.plan.Params + b.plan.Slots - 1
}

// subqueryOf returns the subquery that e is the expression of, or nil.
func (b *builder) subqueryOf(e expr.Expr) *subquery {
	if plan := exec.SubplanOf(e); plan != nil {
		return b.subqueries[plan]
	}
	return nil
}

// simplified is the relation of a subquery after the normalising passes, which run once however often it is asked for.
func (b *builder) simplified(s *subquery) (rel, error) {
	if s.simple == nil {
		r, err := b.simplify(s.rel)
		if err != nil {
			return nil, err
		}
		s.simple = r
	}
	return s.simple, nil
}
