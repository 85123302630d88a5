package plan

import (
	"math"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// NOT IN, <> ALL and their like over columns that may be NULL. unnest.go makes no joins of them, because their value may be NULL: they stay
// conditions, and where a condition is placed into a node, it becomes one of two things. As an expression (exec.Subplan) it keeps the
// subquery's rows by key from the first row on that asks; short of memory it compares row with row. As a null-aware anti join it reads its
// rows first, spills by partition and is shared out to workers, but loses the order of the rows around. Both follow the same rules about NULL,
// and a condition of a filter does not tell NULL from FALSE.

const (
	// antiRowsLeast is the least number of rows around for a join: with fewer of them, one of which may well be none, the subquery need not run.
	antiRowsLeast = 100
	// costKeep is what an expression takes for a row of its subquery beyond what a join takes to put it into its table, costAsk for a row around.
	// For 300,000 rows of either, expressions took 1.6 s and joins 0.7 s with texts of 32 bytes, 0.7 to 1.3 s and 0.8 to 1.2 s with integers.
	costKeep = 1.0
	costAsk  = 0.5
)

// antiJoin is a condition that may become a null-aware anti join.
type antiJoin struct {
	cond        expr.Expr
	s           *subquery
	left, right expr.Expr // its keys, over column ids
	rel         rel       // the right side
	rows        float64   // of it
}

// antiJoins splits conditions into those that may become null-aware anti joins and the others. There are none of the former where only the
// first rows are wanted, because a join reads all of the subquery first, and in a part of the plan that runs again and again, because an
// expression keeps its rows.
func (b *builder) antiJoins(conds []expr.Expr, n *need) (anti []*antiJoin, rest []expr.Expr, err error) {
	if n.limitRows > 0 || n.limit != nil || len(b.params) > 0 || b.repeats {
		return nil, conds, nil
	}
	for _, c := range conds {
		a, err := b.antiJoin(c)
		if err != nil {
			return nil, nil, err
		}
		if a == nil {
			rest = append(rest, c)
		} else {
			anti = append(anti, a)
		}
	}
	return anti, rest, nil
}

// antiJoin returns what c would be as a join, or nil. The subquery must be one that runs once, is not wanted elsewhere, and has one column, and
// the comparison one that rows can be hashed by. It must not matter that rows are compared which the expression might not have asked for: that
// may raise a warning for each text that is compared as a number, and in a statement that writes, any warning may be an error.
func (b *builder) antiJoin(c expr.Expr) (*antiJoin, error) {
	e, negated := c, false
	for e.IsCall("not") {
		negated, e = !negated, e.Args()[0]
	}
	s := b.subqueryOf(e)
	if s == nil || s.apart || s.planned || s.several || !s.plan.Constant() || len(s.left) != 1 || !expr.IsDeterministic(c) {
		return nil, nil
	}
	if !(s.op == "=" && s.plan.Kind == exec.SubplanAny && negated || s.op == "<>" && s.plan.Kind == exec.SubplanAll && !negated) {
		return nil, nil
	}
	by := map[int]expr.Expr{} // the condition may have moved to where other expressions stand for its columns
	for i, arg := range e.Args() {
		by[s.operands[i]] = arg
	}
	left, right := substitute(s.left[0], by), s.cols[0].expr()
	if len(addIDs(nil, left)) == 0 || hasSubquery(left) || left.TypeRef().IsStringType() != right.TypeRef().IsStringType() {
		return nil, nil
	}
	eq, err := expr.Call(b.env.Build, "=", left, right)
	if err != nil {
		return nil, err
	}
	a := &antiJoin{cond: c, s: s}
	var hashed bool
	if a.left, a.right, hashed = expr.HashKeys(b.env.Build, eq); !hashed {
		return nil, nil
	}
	if a.rel, err = b.simplified(s); err != nil {
		return nil, err
	}
	if mayFail(b, a.rel) || b.writes && !(quiet(eq) && quietRel(a.rel)) {
		return nil, nil
	}
	a.rows, _, err = b.estimate(a.rel)
	return a, err
}

// paying returns which of the conditions are better joined to so many rows, or have a hint that asks for it, and the others; ordered says that
// these rows are in a wanted order.
func paying(all []*antiJoin, rows float64, ordered bool) (anti []*antiJoin, others []expr.Expr) {
	for _, a := range all {
		saved := a.rows*costKeep + rows*costAsk
		if ordered {
			saved -= costSort(rows * filterUnknown)
		}
		if rows >= antiRowsLeast && saved > 0 || a.s.joined {
			anti = append(anti, a)
		} else {
			others = append(others, a.cond)
		}
		rows *= filterUnknown
	}
	return anti, others
}

// physTable plans a base table with the conditions on it.
func (b *builder) physTable(g *get, conds []expr.Expr, n *need) (*stage, error) {
	if g.lock != nil || b.locks { // rows that do not pass must not be locked
		return b.physGet(g, conds, n)
	}
	all, rest, err := b.antiJoins(conds, n)
	if len(all) == 0 || err != nil {
		return b.physGet(g, conds, n)
	}
	var keys []expr.Expr
	for _, a := range all {
		keys = append(keys, a.left)
	}
	w, err := b.wanted(g, rest, &need{ids: n.with(keys...), order: n.order})
	if err != nil {
		return nil, err
	}
	p, err := b.access(w)
	if err != nil {
		return nil, err
	}
	anti, others := paying(all, p.out, len(w.order) > 0 && p.ordered)
	if len(anti) == 0 {
		return b.physGet(g, conds, n)
	}
	st, err := b.physGet(g, append(rest, others...), &need{ids: n.with(keys...)})
	if err != nil {
		return nil, err
	}
	return b.antiStage(st, anti)
}

// screened puts conditions on top of a stage that is wanted for n.
func (b *builder) screened(st *stage, conds []expr.Expr, n *need) (*stage, error) {
	all, rest, err := b.antiJoins(conds, n)
	if err != nil {
		return nil, err
	}
	anti, others := paying(all, st.rows*math.Pow(filterUnknown, float64(len(rest))), len(n.order) > 0 && st.ordered)
	if len(anti) == 0 {
		return b.filterStage(st, conds)
	}
	if st, err = b.filterStage(st, append(rest, others...)); err != nil {
		return nil, err
	}
	return b.antiStage(st, anti)
}

// antiStage joins the rows of a stage.
func (b *builder) antiStage(st *stage, anti []*antiJoin) (*stage, error) {
	for _, a := range anti {
		right, err := b.phys(a.rel, &need{ids: (&result{cols: a.s.cols}).ids(), exact: true})
		if err != nil {
			return nil, err
		}
		left, err := b.local(a.left, st.at)
		if err != nil {
			return nil, err
		}
		key, err := b.local(a.right, right.at)
		if err != nil {
			return nil, err
		}
		rows := math.Max(st.rows*filterUnknown, 1)
		node := &exec.HashJoin{Base: est(rows), Kind: exec.JoinAnti, Left: st.node, Right: right.node, LeftKeys: []expr.Expr{left},
			RightKeys: []expr.Expr{key}, NullAware: true}
		cost := st.cost + st.rows*costProbe + right.cost + right.rows*costBuild
		st = joinedStage(node, exec.JoinAnti, st, right, rows)
		st.cost = cost
	}
	return st, nil
}
