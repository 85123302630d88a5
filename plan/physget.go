package plan

import (
	"math"
	"slices"
	"sort"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// wanted translates a need into what access takes: column ordinals instead of ids.
func (b *builder) wanted(g *get, conds []expr.Expr, n *need) (*want, error) {
	w := &want{table: g.table, alias: g.alias, hints: g.hints, merging: g.merging, limit: n.limitRows}
	var err error
	if w.conjuncts, err = b.localAll(conds, g.ordinals()); err != nil {
		return nil, err
	}
	for _, id := range n.ids {
		if g.owns(id) && !slices.Contains(w.needed, g.ordinal(id)) {
			w.needed = append(w.needed, g.ordinal(id))
		}
	}
	sort.Ints(w.needed)
	for _, o := range n.order {
		if !g.owns(o.column) {
			w.order = nil
			break
		}
		w.order = append(w.order, orderColumn{g.ordinal(o.column), o.desc})
	}
	if len(n.order) > 0 && w.order == nil {
		w.limit = 0
	}
	return w, nil
}

// ordinals maps the ids of the table's columns to their ordinals.
func (g *get) ordinals() map[int]int { return run(g.first, len(g.table.Columns)+1) }

// physGet reads a base table with the conditions on it.
func (b *builder) physGet(g *get, conds []expr.Expr, n *need) (*stage, error) {
	w, err := b.wanted(g, conds, n)
	if err != nil {
		return nil, err
	}
	lock := g.lock
	if lock == nil && b.locks {
		plain := *w
		p, err := b.access(&plain)
		if err != nil {
			return nil, err
		}
		if p.byEntries() {
			lock = &lockSpec{mode: exec.LockShared, wait: exec.WaitDefault}
		}
	}
	if lock != nil {
		return b.physLocked(g, w, lock, n)
	}
	p, err := b.access(w)
	if err != nil {
		return nil, err
	}
	gate := p.takeConstants()
	cols := g.yields(n, w.needed, p.rest)
	ordered := len(n.order) == 0 || len(w.order) > 0 && p.ordered
	var limit expr.Expr
	if ordered && n.limit != nil {
		if limit, err = b.local(n.limit, nil); err != nil {
			return nil, err
		}
	}
	node, err := b.node(w, p, cols, limit)
	if err != nil {
		return nil, err
	}
	if node, err = b.gated(node, gate, p.out); err != nil {
		return nil, err
	}
	return &stage{node: node, at: g.positions(cols), rows: p.out, cost: p.cost, ordered: ordered}, nil
}

// yields chooses the columns that the reading node yields. If exactly the wanted columns will do, it is those, which spares a projection.
func (g *get) yields(n *need, needed []int, filter []expr.Expr) []int {
	extra := map[int]bool{}
	for _, e := range filter {
		expr.Columns(e, func(c int) { extra[c] = true })
	}
	if n.exact {
		list := make([]int, 0, len(n.ids))
		for _, id := range n.ids {
			if g.owns(id) {
				list = append(list, g.ordinal(id))
			}
		}
		covered := len(list) == len(n.ids)
		for c := range extra {
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

// positions maps ids to their places in a list of ordinals.
func (g *get) positions(cols []int) map[int]int {
	at := make(map[int]int, len(cols))
	for i, c := range cols {
		if _, twice := at[g.id(c)]; !twice {
			at[g.id(c)] = i
		}
	}
	return at
}

// physLocked reads a table and locks its rows.
func (b *builder) physLocked(g *get, w *want, lock *lockSpec, n *need) (*stage, error) {
	var cols []int
	w.keyed = lock.writes
	if lock.writes {
		for i := range g.table.Columns {
			cols = append(cols, i)
		}
		cols = append(cols, exec.RowKey)
	} else {
		cols = g.yields(n, w.needed, nil)
	}
	var limit expr.Expr
	if n.limit != nil && (len(n.order) == 0 || len(w.order) > 0) {
		var err error
		if limit, err = b.local(n.limit, nil); err != nil {
			return nil, err
		}
	}
	node, p, err := b.locked(w, lock.mode, lock.wait, cols, limit, false)
	if err != nil {
		return nil, err
	}
	if lock.writes && b.unsafe(p) {
		return nil, types.Errorf(types.ErUpdateWithoutKeyInSafeMode)
	}
	ordered := len(n.order) == 0 || len(w.order) > 0 && p.ordered
	if !ordered {
		node.Limit = nil
	}
	return &stage{node: node, at: g.positions(cols), rows: p.out, cost: p.cost + p.out*costLookup, ordered: ordered}, nil
}

// takeConstants removes the conditions that don't depend on the row from what a scan tests, and returns them. Points keep them: they read few rows,
// and programs evaluate them.
func (p *path) takeConstants() []expr.Expr {
	if p.points {
		return nil
	}
	var gate, rest []expr.Expr
	for _, c := range p.rest {
		if expr.IsConstInStatement(c) && expr.IsDeterministic(c) {
			gate = append(gate, c)
		} else {
			rest = append(rest, c)
		}
	}
	p.rest = rest
	return gate
}

// gated reads nothing unless the constant conditions hold, so that WHERE 1 = 0 costs nothing. They become the count of a LIMIT, which is
// evaluated before the first row is read.
func (b *builder) gated(node exec.Node, gate []expr.Expr, rows float64) (exec.Node, error) {
	if len(gate) == 0 {
		return node, nil
	}
	condition, err := expr.JoinAnd(b.env.Build, gate)
	if err != nil {
		return nil, err
	}
	count, err := expr.Call(b.env.Build, "if", condition, expr.Literal(types.Int(math.MaxInt64)), expr.Literal(types.Int(0)))
	if err != nil {
		return nil, err
	}
	return &exec.Limit{Base: exec.Base{EstRows: rows}, Input: node, Count: count}, nil
}
