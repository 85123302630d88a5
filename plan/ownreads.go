package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
)

// UPDATE and DELETE whose subqueries read the table that they change, which derived tables, views and CTEs may: they have to see it as it was before the
// statement. MySQL materializes the derived table; here the statement collects its rows, with the values of such subqueries in SET, before it writes
// the first, so that the subqueries are planned like any others.

// readsAny reports whether a subquery of e reads one of the tables.
func (b *builder) readsAny(e expr.Expr, tables []*catalog.Table) (reads bool) {
	expr.Walk(e, func(n expr.Expr) bool {
		if s := b.subqueryOf(n); s != nil {
			reads = reads || b.relReads(s.rel, tables, map[*cte]bool{})
		}
		return !reads
	})
	return reads
}

// relReads is readsAny for a relation and all of its subqueries. seen holds the CTEs that have been looked through.
func (b *builder) relReads(r rel, tables []*catalog.Table, seen map[*cte]bool) bool {
	return anyRel(r, func(r rel) (reads bool) {
		switch r := r.(type) {
		case *get:
			return slices.Contains(tables, r.table)
		case *cteRef:
			if c := r.cte; !seen[c] {
				seen[c] = true
				if b.relReads(c.body, tables, seen) || c.recursive != nil && b.relReads(c.recursive, tables, seen) {
					return true
				}
			}
		}
		own(r, func(e expr.Expr) { reads = reads || b.readsAny(e, tables) })
		return reads
	})
}

// anyReads is readsAny for a list.
func (b *builder) anyReads(list []expr.Expr, t *catalog.Table) bool {
	return len(b.subqueries) > 0 && slices.ContainsFunc(list, func(e expr.Expr) bool { return b.readsAny(e, []*catalog.Table{t}) })
}

// readsOwn reports whether an assignment has a subquery that reads one of the tables.
func (b *builder) readsOwn(set []exec.Assignment, tables []*catalog.Table) bool {
	return len(b.subqueries) > 0 && slices.ContainsFunc(set, func(a exec.Assignment) bool { return a.Expr != nil && b.readsAny(a.Expr, tables) })
}

// byRow is a clause whose values are computed for each row that is written, while others have been.
type byRow uint8

const (
	byRowNone   byRow = iota
	byRowValues       // ON DUPLICATE KEY UPDATE of INSERT … VALUES, and SET of LOAD DATA: they must not read the table at all
	byRowKept         // ON DUPLICATE KEY UPDATE of INSERT … SELECT, and a value of UPDATE that reads what is assigned before it
)

// keptApart puts a fence around a derived table or CTE of a clause of byRowKept that reads a table of the statement. Values depend on the row that is
// found, so that they cannot be computed before the first row is written, but the rows of the derived table can be kept.
func (b *builder) keptApart(r rel, alias string) rel {
	if b.rowClause != byRowKept || !b.relReads(r, b.writtenTables(), map[*cte]bool{}) {
		return r
	}
	return &fence{r, alias}
}

// writtenTables are the tables that the statement changes.
func (b *builder) writtenTables() []*catalog.Table {
	tables := make([]*catalog.Table, len(b.targets))
	for i, t := range b.targets {
		tables[i] = t.table
	}
	return tables
}

// bindAssigned binds the value of an assignment of UPDATE. A subquery that reads a table of the statement and a column that is assigned before it
// runs for each row, because rows that are collected do not have the new value yet: its derived tables are kept apart.
func (b *builder) bindAssigned(bind *binder, value syntax.Expr, assigned idSet) (expr.Expr, error) {
	e, err := bind.bind(value)
	if err != nil || len(assigned) == 0 || len(b.subqueries) == 0 || !b.readsLate(e, b.writtenTables(), assigned) {
		return e, err
	}
	b.rowClause = byRowKept
	e, err = bind.bind(value)
	b.rowClause = byRowNone
	return e, err
}

// readsLate reports whether a subquery of e reads both one of the tables and a column that is assigned.
func (b *builder) readsLate(e expr.Expr, tables []*catalog.Table, assigned idSet) (late bool) {
	expr.Walk(e, func(n expr.Expr) bool {
		late = late || b.subqueryOf(n) != nil && assigned.touches(n) && b.readsAny(n, tables)
		return !late
	})
	return late
}

// updateCollected plans an UPDATE of one table whose assignments read it in subqueries, as one of several tables, which collects its rows.
func (b *builder) updateCollected(g *get, bind *binder, conds []expr.Expr, set []exec.Assignment, stmt *syntax.Update) error {
	input, keyCol, err := b.written(g, bind, conds, stmt.OrderBy, stmt.Limit, set)
	if err != nil {
		return err
	}
	st := &stage{node: input, at: run(g.first, len(g.table.Columns))}
	st.at[g.rowKey()] = keyCol
	t := &multiTarget{get: g, set: set}
	if st, err = b.evaluatedFirst(st, []*multiTarget{t}); err != nil {
		return err
	}
	target, err := b.updateTarget(t, st)
	b.plan.Root = &exec.MultiUpdate{Input: st.node, Ignore: stmt.Ignore, Single: true, Targets: []exec.UpdateTarget{target}}
	return err
}

// ahead returns e with a column of made in the place of what reads one of the tables: the whole of e, or its subqueries alone if e reads columns that are
// assigned before it. A subquery that reads such a column, too, runs for each row, see bindAssigned.
func (b *builder) ahead(e expr.Expr, tables []*catalog.Table, assigned idSet, made *[]computed) expr.Expr {
	column := func(e expr.Expr) expr.Expr {
		id := b.newID()
		*made = append(*made, computed{id, e})
		return madeColumn(id, e, e.String())
	}
	if !assigned.touches(e) {
		return column(e)
	}
	return expr.Replace(e, func(n expr.Expr) expr.Expr {
		if b.subqueryOf(n) == nil || !b.readsAny(n, tables) || assigned.touches(n) {
			return nil
		}
		return column(n)
	})
}

// evaluatedFirst adds to the rows that a statement collects the values that its assignments take from subqueries over tables that it changes.
func (b *builder) evaluatedFirst(st *stage, targets []*multiTarget) (*stage, error) {
	tables := make([]*catalog.Table, len(targets))
	for i, t := range targets {
		tables[i] = t.get.table
	}
	var made []computed
	for _, t := range targets {
		assigned := idSet{}
		for i := range t.set {
			a := &t.set[i]
			if a.Generated {
				break
			}
			if a.Expr != nil && b.readsOwn(t.set[i:i+1], tables) {
				a.Expr = b.ahead(a.Expr, tables, assigned, &made)
			}
			assigned[t.get.id(a.Col)] = true
		}
	}
	if len(made) == 0 {
		return st, nil
	}
	have := exec.Types(st.node)
	out := &stage{at: make(map[int]int, len(st.at)+len(made)), rows: st.rows, cost: st.cost, ordered: st.ordered}
	exprs := make([]expr.Expr, len(have), len(have)+len(made))
	for at := range have {
		exprs[at] = expr.Column(at, have[at], "")
	}
	for id, at := range st.at {
		out.at[id] = at
		exprs[at] = expr.Column(at, have[at], b.idName(id))
	}
	for _, c := range made {
		local, err := b.local(c.e, st.at)
		if err != nil {
			return nil, err
		}
		out.at[c.id] = len(exprs)
		exprs = append(exprs, local)
	}
	out.node = &exec.Project{Base: est(st.rows), Input: st.node, Exprs: exprs}
	return out, nil
}
