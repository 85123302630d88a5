package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
)

// UPDATE and DELETE of one table whose correlated subqueries become joins are planned as UPDATE and DELETE of several tables, of which one is written.

// joinedWriteRows is the least number of rows for that. A join locks the rows of the table before it tests the conditions with subqueries on them; with
// fewer rows the subqueries run for each row, and READ COMMITTED releases the locks of rows that do not match.
const joinedWriteRows = 1000

// joinedWrite returns the rows that a statement on one table changes as a relation in which joins have replaced correlated subqueries, and rewrites
// its assignments accordingly; nil if the subqueries stay as they are.
func (b *builder) joinedWrite(g *get, conds []expr.Expr, set []exec.Assignment) (rel, error) {
	if b.env.SafeUpdates {
		return b.keyedWrite(g, conds)
	}
	if !b.correlated {
		return nil, nil
	}
	g.lock = &lockSpec{mode: exec.LockExclusive, wait: exec.WaitDefault, writes: true}
	b.liftLeast = joinedWriteRows
	defer func() { b.liftLeast = 0 }()
	r, err := b.decorrelate(filtered(g, conds), 0)
	if err != nil {
		return nil, err
	}
	var at []int
	var list []expr.Expr
	assigned := idSet{}
	for i := range set {
		if set[i].Generated {
			break
		}
		if e := set[i].Expr; e != nil && !b.readsOuter(e, assigned) {
			at, list = append(at, i), append(list, e)
		}
		assigned[g.id(set[i].Col)] = true
	}
	l := b.lifter(r, 0)
	if list, err = l.all(list); err != nil {
		return nil, err
	}
	if !anyRel(l.input, func(r rel) bool { _, ok := r.(*join); return ok }) {
		g.lock = nil
		return nil, nil
	}
	for i, e := range list {
		set[at[i]].Expr = e
	}
	return l.input, nil
}

// keyedWrite is joinedWrite under sql_safe_updates: if the other conditions name no key, a join with a subquery may look the rows up by one.
func (b *builder) keyedWrite(g *get, conds []expr.Expr) (rel, error) {
	var plain []expr.Expr
	for _, c := range conds {
		asks := false
		expr.Walk(c, func(n expr.Expr) bool {
			asks = asks || b.subqueryOf(n) != nil
			return !asks
		})
		if !asks {
			plain = append(plain, c)
		}
	}
	if len(plain) == len(conds) {
		return nil, nil
	}
	if p, err := b.lookupPath(g, plain); err != nil || !b.unsafe(p) {
		return nil, err
	}
	g.lock = &lockSpec{mode: exec.LockExclusive, wait: exec.WaitDefault, writes: true}
	r, err := b.simplify(filtered(g, conds))
	if err == nil && anyRel(r, func(r rel) bool { _, ok := r.(*join); return ok }) {
		return r, nil
	}
	g.lock = nil
	return nil, err
}

// readsOuter reports whether a subquery of e reads one of these columns, which assignments before it change.
func (b *builder) readsOuter(e expr.Expr, ids idSet) (reads bool) {
	expr.Walk(e, func(n expr.Expr) bool {
		if s := b.subqueryOf(n); s != nil {
			reads = reads || slices.ContainsFunc(n.Args(), ids.touches)
		}
		return !reads
	})
	return reads
}

// updateJoined plans an UPDATE of one table as a join, if it becomes one.
func (b *builder) updateJoined(g *get, conds []expr.Expr, set []exec.Assignment, stmt *syntax.Update) (done bool, err error) {
	t, st, err := b.joinedStage(g, conds, set, len(stmt.OrderBy) > 0 || stmt.Limit != nil)
	if st == nil || err != nil {
		return false, err
	}
	target, err := b.updateTarget(t, st)
	b.plan.Root = &exec.MultiUpdate{Input: st.node, Ignore: stmt.Ignore, Single: true, Targets: []exec.UpdateTarget{target}}
	return true, err
}

// deleteJoined plans a DELETE from one table as a join, if it becomes one.
func (b *builder) deleteJoined(g *get, conds []expr.Expr, stmt *syntax.Delete) (done bool, err error) {
	t, st, err := b.joinedStage(g, conds, nil, len(stmt.OrderBy) > 0 || stmt.Limit != nil)
	if st == nil || err != nil {
		return false, err
	}
	target, err := b.deleteTarget(t, st)
	b.plan.Root = &exec.MultiDelete{Input: st.node, Ignore: stmt.Ignore, Targets: []exec.DeleteTarget{target}}
	return true, err
}

// joinedStage plans the join of a statement on one table; nil if there is none. chosen says that an order or a limit chooses the rows.
func (b *builder) joinedStage(g *get, conds []expr.Expr, set []exec.Assignment, chosen bool) (*multiTarget, *stage, error) {
	if chosen {
		return nil, nil, nil
	}
	r, err := b.joinedWrite(g, conds, set)
	if r == nil || err != nil {
		return nil, nil, err
	}
	b.useTarget(g, catalog.UseWrite)
	t := &multiTarget{get: g, set: set}
	st, err := b.multiStage(r, []*multiTarget{t})
	return t, st, err
}
