package plan

import (
	"math"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// build turns the chosen order into nodes.
func (b *builder) build(g *joinGraph, last *joinPlan, n *need) (*stage, error) {
	var steps []*joinPlan
	for p := last; p != nil; p = p.prev {
		steps = append([]*joinPlan{p}, steps...)
	}
	dear := g.placeDear(steps)
	needs := g.needs(steps, dear, n)
	st, err := b.buildFirst(g, steps, needs[0], n)
	if err != nil {
		return nil, err
	}
	if st, err = b.filterStage(st, dear[0]); err != nil {
		return nil, err
	}
	for i, p := range steps[1:] {
		if st, err = b.buildStep(g, p, st, needs[i+1], n); err != nil {
			return nil, err
		}
		if st, err = b.filterStage(st, dear[i+1]); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// placeDear lists for each step the dear conditions that are applied after it. Each goes, of the steps that have its columns, to that with the fewest
// rows, and to the earliest of several.
func (g *joinGraph) placeDear(steps []*joinPlan) [][]expr.Expr {
	out := make([][]expr.Expr, len(steps))
	for _, c := range g.dear {
		best, makers := len(steps)-1, g.makers(c)
		for i := len(steps) - 2; i >= 0 && makers&^steps[i].set == 0; i-- {
			if steps[i].rows <= steps[best].rows {
				best = i
			}
		}
		out[best] = append(out[best], c)
	}
	return out
}

// needs lists for each step the columns that it and what follows read, dear conditions behind it included.
func (g *joinGraph) needs(steps []*joinPlan, dear [][]expr.Expr, n *need) [][]int {
	out := make([][]int, len(steps))
	ids := append([]int(nil), n.ids...)
	for _, o := range n.order {
		ids = addIDs(ids, expr.Column(o.column, boolean(), ""))
	}
	for i := len(steps) - 1; i >= 0; i-- {
		p := steps[i]
		ids = addIDs(ids, dear[i]...)
		if i > 0 {
			match, above := g.due(steps[i-1], p.last)
			ids = addIDs(ids, match...)
			ids = addIDs(ids, above...)
			ids = addIDs(ids, free(g.rels[p.last].rel)...)
		} else {
			ids = addIDs(ids, g.atFirst(p)...)
		}
		out[i] = ids[:len(ids):len(ids)]
	}
	// ids has grown from the last step to the first one, which must yield what every later step reads.
	return out
}

// of returns those of the ids that a relation makes.
func (r *joinRel) of(ids []int) []int {
	var out []int
	for _, id := range ids {
		if r.ids[id] {
			out = append(out, id)
		}
	}
	return out
}

// buildFirst plans the relation that comes first. If all others are joined by lookups or loops, its order is the order of the result.
func (b *builder) buildFirst(g *joinGraph, steps []*joinPlan, ids []int, n *need) (*stage, error) {
	p := steps[0]
	r := g.rels[p.last]
	inner := &need{ids: r.of(ids)}
	source := r.rel
	if p.drives {
		source = &distinct{r.rel, r.driver}
		inner.ids = r.driver
	}
	ordered := len(n.order) > 0
	for _, s := range steps[1:] {
		ordered = ordered && (s.method == methodLookup || s.method == methodLoop)
	}
	for _, o := range n.order {
		ordered = ordered && r.ids[o.column]
	}
	if ordered {
		inner.order, inner.limitRows = n.order, n.limitRows
	}
	st, err := b.phys(source, inner)
	if err != nil {
		return nil, err
	}
	st.ordered = st.ordered && (ordered || len(n.order) == 0)
	return b.filterStage(st, g.atFirst(p))
}

// atFirst lists the conditions that stand above the first relation: those without columns of any relation, and those of its own that have not
// been pushed into it.
func (g *joinGraph) atFirst(p *joinPlan) (conds []expr.Expr) {
	for _, c := range g.filters {
		if g.makers(c)&^p.set == 0 {
			conds = append(conds, c)
		}
	}
	return conds
}

// buildStep joins one relation to a stage; n is what is wanted of all joins.
func (b *builder) buildStep(g *joinGraph, p *joinPlan, left *stage, ids []int, n *need) (*stage, error) {
	r := g.rels[p.last]
	match, above := g.due(p.prev, p.last)
	var st *stage
	var err error
	switch p.method {
	case methodLookup:
		st, err = b.buildLookup(g, p, left, match, r.of(ids))
	case methodHash, methodHashLeft, methodMerge:
		st, err = b.buildHash(g, p, left, match, r.of(ids))
	default:
		st, err = b.buildLoop(p, r, left, match, r.of(ids))
	}
	if err != nil {
		return nil, err
	}
	st.cost = p.cost
	return b.screened(st, above, n)
}

// joinedStage is the stage of a join node.
func joinedStage(node exec.Node, kind exec.JoinKind, left, right *stage, rows float64) *stage {
	at := make(map[int]int, len(left.at)+len(right.at))
	for id, p := range left.at {
		at[id] = p
	}
	if kind == exec.JoinInner || kind == exec.JoinLeft {
		width := left.width()
		for id, p := range right.at {
			at[id] = width + p
		}
	}
	return &stage{node: node, at: at, rows: rows}
}

// buildLookup runs the right side once for each left row, under parameters that the row sets.
func (b *builder) buildLookup(g *joinGraph, p *joinPlan, left *stage, match []expr.Expr, ids []int) (*stage, error) {
	r := g.rels[p.last]
	push, on := movable(match)
	source, err := b.push(r.rel, push)
	if err != nil {
		return nil, err
	}
	node := &exec.Apply{Base: est(p.rows), Kind: r.kind, Left: left.node, Slot: b.plan.Params + b.plan.Slots}
	saved := b.params
	b.params = make(map[int]int, len(saved))
	for id, slot := range saved {
		b.params[id] = slot
	}
	for _, f := range free(source) {
		id, _ := f.ColumnIndex()
		if at, here := left.at[id]; here {
			b.params[id] = b.newSlot()
			node.Bind = append(node.Bind, expr.MapColumns(f, func(int) int { return at }))
		}
	}
	right, err := b.phys(source, &need{ids: ids})
	b.params = saved
	if err != nil {
		return nil, err
	}
	node.Right = right.node
	return b.finishApply(node, r.kind, left, right, on, p.rows)
}

// finishApply adds the conditions that could not be put into the right side.
func (b *builder) finishApply(node *exec.Apply, kind exec.JoinKind, left, right *stage, on []expr.Expr, rows float64) (*stage, error) {
	both := joinedStage(node, exec.JoinInner, left, right, rows)
	var err error
	if node.On, err = b.all(on, both.at); err != nil {
		return nil, err
	}
	st := joinedStage(node, kind, left, right, rows)
	st.ordered = left.ordered
	return st, nil
}

// buildLoop compares each left row with all right ones.
func (b *builder) buildLoop(p *joinPlan, r *joinRel, left *stage, match []expr.Expr, ids []int) (*stage, error) {
	right, err := b.phys(r.rel, &need{ids: addOwn(r, ids, match)})
	if err != nil {
		return nil, err
	}
	node := &exec.Apply{Base: est(p.rows), Kind: r.kind, Left: left.node, Right: right.node, Slot: b.plan.Params + b.plan.Slots}
	keep := &exec.Materialize{Base: est(right.rows), Input: right.node}
	b.rereads(keep, r.rel) // in a correlated subquery and in a recursion the rows change
	node.Right = keep
	return b.finishApply(node, r.kind, left, right, match, p.rows)
}

// addOwn adds the relation's columns that conditions read.
func addOwn(r *joinRel, ids []int, conds []expr.Expr) []int {
	out := append([]int(nil), ids...)
	for _, id := range addIDs(nil, conds...) {
		if r.ids[id] {
			out = addIDs(out, expr.Column(id, boolean(), ""))
		}
	}
	return out
}

// buildHash joins by equal keys; the other conditions are tested on the pairs.
func (b *builder) buildHash(g *joinGraph, p *joinPlan, left *stage, match []expr.Expr, ids []int) (*stage, error) {
	r := g.rels[p.last]
	right, err := b.phys(r.rel, &need{ids: addOwn(r, ids, match)})
	if err != nil {
		return nil, err
	}
	var leftKeys, rightKeys, on []expr.Expr
	for _, c := range match {
		l, rk, ok := b.hashKey(g, p.prev.set, p.last, c)
		if !ok {
			on = append(on, c)
			continue
		}
		if l, err = b.local(l, left.at); err != nil {
			return nil, err
		}
		if rk, err = b.local(rk, right.at); err != nil {
			return nil, err
		}
		leftKeys, rightKeys = append(leftKeys, l), append(rightKeys, rk)
	}
	both := joinedStage(nil, exec.JoinInner, left, right, p.rows)
	rest, err := b.all(on, both.at)
	if err != nil {
		return nil, err
	}
	var node exec.Node = &exec.HashJoin{Base: est(p.rows), Kind: r.kind, Left: left.node, Right: right.node, BuildLeft: p.method == methodHashLeft,
		LeftKeys: leftKeys, RightKeys: rightKeys, On: rest}
	if p.method == methodMerge {
		node = &exec.MergeJoin{Base: est(p.rows), Kind: r.kind, Left: sortedBy(left, leftKeys), Right: sortedBy(right, rightKeys), LeftKeys: leftKeys,
			RightKeys: rightKeys, On: rest}
	}
	return joinedStage(node, r.kind, left, right, math.Max(p.rows, 1)), nil
}

// sortedBy sorts the rows of a stage by the keys of a merge join.
func sortedBy(st *stage, keys []expr.Expr) exec.Node {
	sort := &exec.Sort{Base: est(st.rows), Input: st.node}
	for _, key := range keys {
		sort.Keys = append(sort.Keys, exec.SortKey{Expr: key})
	}
	return sort
}
