package plan

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// The join search. A tree of joins is flattened to relations and conditions. Plans are left deep: one relation after the other joins what was
// joined so far, by lookups, by hashing, or in a nested loop. Relations of outer, semi and anti joins take part, once the relations that their
// ON names are there. Up to joinExactMax relations all orders are tried (dynamic programming over sets, as System R does it), beyond that the
// cheapest next relation is taken.

const (
	// joinMax is the most tables that MySQL joins.
	joinMax      = 61
	joinExactMax = 10
	// joinRowsMax bounds the estimate of a join: sixty tables without a condition may have more rows than a float64 can count, and what costs
	// infinitely much is no plan.
	joinRowsMax = 1e100
	// startsMax: beyond joinExactMax the search begins once with each of this many smallest relations.
	startsMax = 4
	costApply = 3.0 // of opening a lookup again
	costBuild = 1.5 // of a row put into a hash table
	costProbe = 1.0
	costPair  = 0.2 // of a pair of rows in a nested loop
	costOut   = 0.1
	// costAgainstHint is added to what a hint or sql_safe_updates forbids, so that it is done only if there is no other way.
	costAgainstHint = 1e15
)

// joinRel is one relation of a join.
type joinRel struct {
	rel  rel
	kind exec.JoinKind
	ids  idSet
	on   []expr.Expr // of an outer, semi or anti join
	// before are the relations that must be joined earlier.
	before uint64
	get    *get // if the relation is a base table, with conds on it
	conds  []expr.Expr
	// lateral says that the relation reads columns of others.
	lateral bool
	rows    float64 // by itself
	cost    float64
	// wanted and forbidden are the ways to join it that hints ask for or rule out.
	wanted, forbidden methodSet
	// driver are the columns over whose distinct values a semi join can be an inner join, so that its relation may come first; nil if it can't.
	driver []int
}

type joinGraph struct {
	rels    []*joinRel
	filters []expr.Expr
	dear    []expr.Expr          // conditions that run a subquery for each row
	lookups bool                 // only lookups are considered
	made    map[expr.Expr]uint64 // what makers has found; nil while relations are still added
}

// method is how a relation is joined to those before it.
type method uint8

const (
	methodFirst method = iota
	methodLookup
	methodHash
	methodHashLeft // the table is built of the left side
	methodLoop
	methodMerge // of rows sorted by the keys; only a hint asks for it, since hashing costs less than sorting
)

// methodSet is a set of methods, a bit each.
type methodSet uint16

func (s methodSet) has(m method) bool { return s&(1<<m) != 0 }

// joinPlan is the best known way to join a set of relations: last joined to prev.
type joinPlan struct {
	set    uint64
	prev   *joinPlan
	last   int
	method method
	rows   float64
	cost   float64
	// drives says that the first relation is a semi join's, reduced to distinct rows: its ON is a condition like any other.
	drives bool
	first  int
	one    bool // there is at most one row, for certain
}

// physJoin plans a tree of joins, with conditions above it.
func (b *builder) physJoin(r rel, n *need) (*stage, error) {
	g, err := b.graph(r)
	if err != nil {
		return nil, err
	}
	best, err := b.search(g)
	if err != nil {
		return nil, err
	}
	if best, err = b.firstRows(g, n, best); err != nil {
		return nil, err
	}
	return b.build(g, best, n)
}

// firstRows considers, where only the first rows are wanted, plans that read the first relation in the wanted order and look all others up: they
// stop once the wanted rows are found.
func (b *builder) firstRows(g *joinGraph, n *need, best *joinPlan) (*joinPlan, error) {
	if n.limitRows <= 0 {
		return best, nil
	}
	whole := best.cost
	if len(n.order) > 0 {
		whole += costSort(best.rows)
	}
	g.lookups = true
	defer func() { g.lookups = false }()
	for i, r := range g.rels {
		if r.get == nil || r.before != 0 || r.kind != exec.JoinInner {
			continue
		}
		w, err := b.wanted(r.get, r.conds, &need{order: n.order})
		if err != nil {
			return nil, err
		}
		if len(n.order) > 0 && w.order == nil {
			continue
		}
		path, err := b.access(w)
		if err != nil {
			return nil, err
		}
		if !path.ordered {
			continue
		}
		plan, err := b.greedy(g, []*joinPlan{{set: 1 << i, last: i, first: i, rows: path.out, cost: path.cost}})
		if err != nil {
			return nil, err
		}
		if plan == nil {
			continue
		}
		if cost := plan.cost * math.Min(1, n.limitRows/math.Max(plan.rows, 1)); cost < whole {
			best, whole = plan, cost
		}
	}
	return best, nil
}

// graph flattens a tree of joins.
func (b *builder) graph(r rel) (*joinGraph, error) {
	g := &joinGraph{}
	if err := b.flatten(g, r); err != nil {
		return nil, err
	}
	if len(g.rels) > joinMax {
		return nil, types.Errorf(types.ErTooManyTables, joinMax)
	}
	g.spread()
	for i, rel := range g.rels {
		for _, f := range free(rel.rel) {
			makers := g.makers(f) &^ (1 << i)
			rel.before |= makers
			rel.lateral = rel.lateral || makers != 0
		}
	}
	if len(b.hintBlocks) > 0 { // after all other constraints on the order
		b.hintJoins(g)
	}
	for _, rel := range g.rels {
		if err := b.sizeUp(rel); err != nil {
			return nil, err
		}
	}
	g.made = make(map[expr.Expr]uint64, len(g.filters))
	return g, nil
}

// makers is the set of relations that make columns of e.
func (g *joinGraph) makers(e expr.Expr) (set uint64) {
	if known, ok := g.made[e]; ok {
		return known
	}
	for i, rel := range g.rels {
		if rel.ids.touches(e) {
			set |= 1 << i
		}
	}
	if g.made != nil {
		g.made[e] = set
	}
	return set
}

func (b *builder) flatten(g *joinGraph, r rel) error {
	switch r := r.(type) {
	case *filter:
		move, stay := movable(r.conds)
		if _, ok := r.input.(*join); ok && len(stay) == 0 {
			for _, c := range move {
				if b.dear(c) {
					g.dear = append(g.dear, c)
				} else {
					g.filters = append(g.filters, c)
				}
			}
			return b.flatten(g, r.input)
		}
	case *join:
		return b.flattenJoin(g, r)
	}
	g.add(r, exec.JoinInner)
	return nil
}

func (g *joinGraph) add(r rel, kind exec.JoinKind) *joinRel {
	n := &joinRel{rel: r, kind: kind, ids: outputs(r)}
	g.rels = append(g.rels, n)
	return n
}

func (b *builder) flattenJoin(g *joinGraph, j *join) error {
	from := len(g.rels)
	if err := b.flatten(g, j.left); err != nil {
		return err
	}
	mid := len(g.rels)
	left := uint64(1)<<mid - uint64(1)<<from
	if j.kind == exec.JoinInner {
		if err := b.flatten(g, j.right); err != nil {
			return err
		}
		if j.straight {
			for _, rel := range g.rels[mid:] {
				rel.before |= left
			}
		}
		g.filters = append(g.filters, j.on...)
		return nil
	}
	rel := g.add(j.right, j.kind)
	rel.on = j.on
	for _, c := range j.on {
		rel.before |= g.makers(c) & left
	}
	if rel.before == 0 || j.straight {
		rel.before |= left
	}
	if j.kind == exec.JoinSemi {
		rel.driver = semiDriver(rel)
	}
	return nil
}

// semiDriver lists the columns of a semi join's right side if all of its conditions are equalities of such columns with the left side. A row of
// the left side must match at most one of the combinations that are distinct in those columns, or the inner join would repeat it.
func semiDriver(r *joinRel) []int {
	var cols []int
	if len(free(r.rel)) > 0 {
		return nil
	}
	for _, c := range r.on {
		if !c.IsCall("=") {
			return nil
		}
		x, y := c.Args()[0], c.Args()[1]
		if r.ids.touches(x) {
			x, y = y, x
		}
		id, plain := expr.Unwrap(y).ColumnIndex()
		if !plain || !r.ids[id] || r.ids.touches(x) || !expr.KeepsApart(c, y) {
			return nil
		}
		cols = append(cols, id)
	}
	return cols
}

// sizeUp estimates a relation by itself.
func (b *builder) sizeUp(r *joinRel) error {
	inner := r.rel
	if f, ok := inner.(*filter); ok {
		if g, base := f.input.(*get); base {
			r.get, r.conds = g, f.conds
		}
	} else if g, base := inner.(*get); base {
		r.get = g
	}
	var err error
	r.rows, r.cost, err = b.estimate(inner)
	return err
}

// estimate estimates rows and cost of a relation without making nodes of it.
func (b *builder) estimate(r rel) (rows, cost float64, err error) {
	switch r := r.(type) {
	case *get:
		return b.estimateGet(r, nil)
	case *dual:
		return 1, 0, nil
	case *rowSource:
		return r.rows, r.rows, nil
	case *jsonTable:
		return jsonTableRows, jsonTableRows, nil
	case *valuesRel:
		return float64(len(r.rows)), float64(len(r.rows)), nil
	case *cteRef:
		if r.delta || r.cte.node == nil {
			return cteDeltaRows, cteDeltaRows, nil
		}
		return r.cte.rows, r.cte.rows, nil
	case *filter:
		if g, ok := r.input.(*get); ok {
			return b.estimateGet(g, r.conds)
		}
		input, above := r.input, r.conds
		if _, ok := input.(*join); ok {
			var move []expr.Expr
			if move, above = movable(r.conds); len(above) == 0 {
				return b.estimateJoin(r)
			}
			input = filtered(input, move)
		}
		rows, cost, err = b.estimate(input)
		return rows * math.Pow(filterUnknown, float64(len(above))), cost, err
	case *join:
		return b.estimateJoin(r)
	case *aggregate:
		rows, cost, err = b.estimate(r.input)
		if len(r.keys) == 0 {
			return 1, cost + rows, err
		}
		return math.Max(1, rows/10), cost + rows, err
	case *limited:
		rows, cost, err = b.estimate(r.input)
		if n := limitRows(r.count, r.offset); n > 0 {
			rows = math.Min(rows, n)
		}
		return rows, cost, err
	case *setOp:
		for i := range r.branches {
			n, c, err := b.estimate(r.branches[i].input)
			if err != nil {
				return 0, 0, err
			}
			rows, cost = rows+n, cost+c
		}
		return rows, cost, nil
	}
	rows, cost, err = b.estimate(r.inputs()[0])
	return rows, cost + rows, err
}

func (b *builder) estimateJoin(r rel) (rows, cost float64, err error) {
	g, err := b.graph(r)
	if err != nil {
		return 0, 0, err
	}
	best, err := b.search(g)
	if err != nil {
		return 0, 0, err
	}
	return best.rows, best.cost, nil
}

// estimateGet sizes a base table up under conditions, whose outer references count as constants.
func (b *builder) estimateGet(g *get, conds []expr.Expr) (rows, cost float64, err error) {
	p, err := b.lookupPath(g, conds)
	if err != nil {
		return 0, 0, err
	}
	return p.out, p.cost, nil
}

// lookupPath is the cheapest path to the rows of a table under conditions in which all columns of other tables are known.
func (b *builder) lookupPath(g *get, conds []expr.Expr) (*path, error) {
	w := &want{table: g.table, alias: g.alias, hints: g.hints, merging: g.merging, keyed: g.lock != nil && g.lock.writes, conjuncts: make([]expr.Expr, len(conds))}
	at := g.ordinals()
	for i, c := range conds {
		w.conjuncts[i] = expr.Replace(c, func(n expr.Expr) expr.Expr {
			id, ok := n.ColumnIndex()
			if !ok {
				return nil
			}
			if o, own := at[id]; own {
				return expr.MapColumns(n, func(int) int { return o })
			}
			return expr.AsParam(n, 0) // any parameter will do: nothing is evaluated
		})
	}
	return b.access(w)
}

// search finds the cheapest order.
func (b *builder) search(g *joinGraph) (*joinPlan, error) {
	best := map[uint64]*joinPlan{}
	keep := func(p *joinPlan) {
		if old := best[p.set]; old == nil || p.cost < old.cost {
			best[p.set] = p
		}
	}
	var frontier []*joinPlan
	for i, r := range g.rels {
		switch {
		case r.before == 0 && r.kind == exec.JoinInner:
			p := &joinPlan{set: 1 << i, last: i, first: i, rows: r.rows, cost: r.cost, one: r.get != nil && b.oneOf(r.get, r.conds, idSet{})}
			if r.wanted&(1<<methodLookup|1<<methodMerge) != 0 {
				p.cost += costAgainstHint // it should be joined to others, so another one comes first
			}
			frontier = append(frontier, p)
		case r.driver != nil:
			frontier = append(frontier, &joinPlan{set: 1 << i, last: i, first: i, drives: true, rows: r.rows, cost: r.cost + r.rows})
		}
	}
	if len(g.rels) > joinExactMax {
		sort.SliceStable(frontier, func(i, k int) bool { return frontier[i].rows < frontier[k].rows })
		return b.greedy(g, frontier[:min(len(frontier), startsMax)])
	}
	for size := 1; size < len(g.rels); size++ {
		best = map[uint64]*joinPlan{}
		for _, p := range frontier {
			if err := b.step(); err != nil {
				return nil, err
			}
			for i := range g.rels {
				next, err := b.extendPlan(g, p, i)
				if err != nil {
					return nil, err
				}
				if next != nil {
					keep(next)
				}
			}
		}
		frontier = frontier[:0]
		for _, p := range best {
			frontier = append(frontier, p)
		}
		// Of equally cheap plans for a set the first that is met stays, so that plans are reproducible.
		slices.SortFunc(frontier, func(x, y *joinPlan) int { return cmp.Compare(x.set, y.set) })
	}
	return cheapest(frontier), nil
}

// greedy takes the cheapest next relation, from each start.
func (b *builder) greedy(g *joinGraph, starts []*joinPlan) (*joinPlan, error) {
	var done []*joinPlan
	for _, p := range starts {
		for bits.OnesCount64(p.set) < len(g.rels) {
			if err := b.step(); err != nil {
				return nil, err
			}
			var options []*joinPlan
			for i := range g.rels {
				next, err := b.extendPlan(g, p, i)
				if err != nil {
					return nil, err
				}
				if next != nil {
					options = append(options, next)
				}
			}
			if p = cheapest(options); p == nil {
				break
			}
		}
		if p != nil {
			done = append(done, p)
		}
	}
	return cheapest(done), nil
}

// cheapest is the plan of least cost; of equal ones that which begins, and ends, with the relation written first, so that plans are
// reproducible.
func cheapest(plans []*joinPlan) (best *joinPlan) {
	for _, p := range plans {
		if best == nil || p.cost < best.cost || p.cost == best.cost && (p.first < best.first || p.first == best.first && p.last < best.last) {
			best = p
		}
	}
	return best
}

// due returns the conditions that apply once relation i is joined to p: match decides which of its rows match a row of p, above is applied after
// the join.
func (g *joinGraph) due(p *joinPlan, i int) (match, above []expr.Expr) {
	r := g.rels[i]
	after := p.set | 1<<i
	conds := g.filters
	if p.drives {
		conds = append(conds[:len(conds):len(conds)], g.rels[p.first].on...)
	}
	for _, c := range conds {
		makers := g.makers(c)
		if makers&^after != 0 || makers&(1<<i) == 0 {
			continue
		}
		if r.kind == exec.JoinInner {
			match = append(match, c)
		} else {
			above = append(above, c)
		}
	}
	if r.kind != exec.JoinInner {
		match = append(match, r.on...)
	}
	return match, above
}

// extendPlan joins relation i to a plan in the cheapest way, or returns nil if it can't come next.
func (b *builder) extendPlan(g *joinGraph, p *joinPlan, i int) (*joinPlan, error) {
	r := g.rels[i]
	if p.set&(1<<i) != 0 || r.before&^p.set != 0 {
		return nil, nil
	}
	match, above := g.due(p, i)
	perRow := r.rows
	next := &joinPlan{set: p.set | 1<<i, prev: p, last: i, first: p.first, drives: p.drives, cost: math.Inf(1)}
	consider := func(m method, cost float64) {
		if r.forbidden.has(m) || r.wanted != 0 && !r.wanted.has(m) {
			cost += costAgainstHint
		}
		if p.cost+cost < next.cost {
			next.method, next.cost = m, p.cost+cost
		}
	}
	next.one = p.one && r.get != nil && b.oneOf(r.get, append(append([]expr.Expr(nil), r.conds...), match...), g.outputs(p.set))
	linked := len(match) > 0
	perRow *= b.matchSelectivity(g, r, match)
	if r.get != nil && linked {
		path, err := b.lookupPath(r.get, append(append([]expr.Expr(nil), r.conds...), match...))
		if err != nil {
			return nil, err
		}
		if path.points || path.merge != nil { // nothing is known of an OR over several columns but what their indexes say
			perRow = math.Min(perRow, path.out)
		}
		if path.merge != nil || path.index != nil && len(path.ranges) > 0 {
			consider(methodLookup, p.rows*(math.Max(path.cost, costLookup)+costApply))
		}
	}
	switch {
	case r.lateral:
		consider(methodLookup, p.rows*(r.cost+costApply))
	case g.lookups:
	default:
		hashable := b.hashable(g, p, i, match)
		if hashable {
			consider(methodHash, r.cost+r.rows*costBuild+p.rows*costProbe)
			if r.kind == exec.JoinInner && p.rows < r.rows {
				consider(methodHashLeft, r.cost+r.rows*costProbe+p.rows*costBuild)
			}
			if r.wanted.has(methodMerge) {
				consider(methodMerge, r.cost+costSort(r.rows)+costSort(p.rows)+p.rows+r.rows)
			}
		}
		// A loop spares little of what a hash table costs if there are few rows on the left, and loses without bound if there are more than was estimated.
		if !hashable || p.one || r.forbidden.has(methodHash) || r.wanted.has(methodLoop) {
			consider(methodLoop, r.cost+p.rows*r.rows*costPair+p.rows*costApply)
		}
	}
	if math.IsInf(next.cost, 1) {
		return nil, nil
	}
	next.rows = math.Max(p.rows*perRow, 1e-3)
	switch r.kind {
	case exec.JoinLeft:
		next.rows = math.Max(next.rows, p.rows)
	case exec.JoinSemi:
		next.rows = math.Min(p.rows, math.Max(next.rows, p.rows*0.1))
	case exec.JoinAnti:
		next.rows = p.rows / 2
	}
	next.rows = math.Min(next.rows*math.Pow(filterUnknown, float64(len(above))), joinRowsMax)
	next.cost += next.rows * costOut
	return next, nil
}

// outputs are the columns of a set of relations.
func (g *joinGraph) outputs(set uint64) idSet {
	all := idSet{}
	for i, r := range g.rels {
		if set&(1<<i) != 0 {
			maps.Copy(all, r.ids)
		}
	}
	return all
}

// hashable reports whether some condition is an equality between the two sides that can be hashed.
func (b *builder) hashable(g *joinGraph, p *joinPlan, i int, match []expr.Expr) bool {
	for _, c := range match {
		if _, _, ok := b.hashKey(g, p.set, i, c); ok {
			return true
		}
	}
	return false
}

// hashKey splits an equality into its side over the set and its side over relation i.
func (b *builder) hashKey(g *joinGraph, set uint64, i int, c expr.Expr) (left, right expr.Expr, ok bool) {
	if !c.IsCall("=") || !expr.IsDeterministic(c) {
		return nil, nil, false
	}
	l, r, ok := expr.HashKeys(b.env.Build, c)
	if !ok {
		return nil, nil, false
	}
	lm, rm := g.makers(l), g.makers(r)
	if lm == 1<<i && rm&(1<<i) == 0 && rm != 0 {
		l, r, lm, rm = r, l, rm, lm
	}
	if rm != 1<<i || lm&(1<<i) != 0 || lm == 0 || lm&^set != 0 {
		return nil, nil, false
	}
	return l, r, true
}
