package plan

import (
	"math"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// Correlated subqueries as joins. A subquery that stays an expression runs once for each combination of outer values (exec.Subplan). Where these
// are many, it costs less to compute its values for all of them at once: the aggregates of a block that is correlated by equalities are
// grouped by the inner sides of those, and a left join finds the group of each outer row. decorrelate does that after the other normalising
// passes, because only then can the number of outer rows be estimated; lift.go makes the relation to join, and this file decides by cost.

const (
	// costSubquery is the cost of running a subquery once, besides what its operators read.
	costSubquery = 15.0
	// joinAdvantage is how many times cheaper than subqueries a join must be. It reads a whole table even if the estimate of the outer rows is wrong, and
	// access.go prices lookups as if the rows were on disk, while most are in memory: measured, a join breaks even at four to eight times its cost.
	joinAdvantage = 4
	// rangeCautious is the selectivity assumed of an interval whose ends are not known. It is small because mistakes weigh differently: subqueries for a
	// long interval take ten times as long as the join, and the join for a short one takes hundreds of times as long as subqueries.
	rangeCautious = 0.03
	// costRemember is the cost of finding the outer values in a subquery's cache of results.
	costRemember = 0.5
	// runsKept is how many combinations of outer values that cache is taken to hold; with more of them, it is taken to be of no use.
	runsKept = 64 << 10
)

// decorrelate replaces correlated subqueries in a normalised relation by joins, where these cost less. wanted is how many of the relation's rows
// are read at most, 0 for all.
func (b *builder) decorrelate(r rel, wanted float64) (rel, error) {
	if err := b.step(); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *filter:
		return b.liftConditions(r, wanted)
	case *extend:
		return b.liftExtend(r, wanted)
	case *aggregate:
		return b.liftAggregate(r)
	case *sorted:
		return b.liftSorted(r)
	case *join:
		left, err := b.decorrelate(r.left, 0)
		if err != nil {
			return nil, err
		}
		right, err := b.decorrelate(r.right, 0)
		return &join{r.kind, left, right, r.on, r.straight}, err
	case *limited:
		in, err := b.decorrelate(r.input, limitRows(r.count, r.offset))
		return &limited{in, r.count, r.offset, r.top, r.calc}, err
	case *distinct:
		in, err := b.decorrelate(r.input, 0)
		return &distinct{in, r.cols}, err
	case *window:
		in, err := b.decorrelate(r.input, 0)
		return &window{in, r.partition, r.order, r.funcs}, err
	case *fence:
		in, err := b.decorrelate(r.input, 0)
		return &fence{in, r.alias}, err
	case *setOp:
		out := &setOp{kind: r.kind, all: r.all, first: r.first, out: r.out}
		for i := range r.branches {
			in, err := b.decorrelate(r.branches[i].input, 0)
			if err != nil {
				return nil, err
			}
			out.branches = append(out.branches, branch{in, r.branches[i].exprs})
		}
		return out, nil
	}
	return r, nil
}

// liftConditions replaces the subqueries in a filter's conditions by joins. A left join becomes an inner one if a condition rejects all rows that
// it pads with NULLs.
func (b *builder) liftConditions(f *filter, wanted float64) (rel, error) {
	if wanted > 0 {
		wanted /= filterUnknown
	}
	in, err := b.decorrelate(f.input, wanted)
	if err != nil {
		return nil, err
	}
	with, without := split(f.conds, b.dear)
	if len(with) == 0 {
		return filtered(in, f.conds), nil
	}
	l := b.lifter(filtered(in, without), wanted)
	var rest []expr.Expr
	for _, c := range with {
		j, err := l.semiJoin(c)
		if err != nil {
			return nil, err
		}
		if j != nil {
			l.input = j
			continue
		}
		rest = append(rest, c)
	}
	if rest, err = l.all(rest); err != nil {
		return nil, err
	}
	if l.input == l.first {
		return filtered(in, f.conds), nil
	}
	for _, j := range l.joins {
		if rejectsAny(rest, outputs(j.right)) {
			b.innerJoin(j)
		}
	}
	return filtered(l.input, rest), nil
}

func (b *builder) liftExtend(r *extend, wanted float64) (rel, error) {
	in, err := b.decorrelate(r.input, wanted)
	if err != nil {
		return nil, err
	}
	list := make([]expr.Expr, len(r.cols))
	for i := range r.cols {
		list[i] = r.cols[i].e
	}
	l := b.lifter(in, wanted)
	if list, err = l.all(list); err != nil {
		return nil, err
	}
	out := &extend{l.input, make([]computed, len(list))}
	for i, e := range list {
		out.cols[i] = computed{r.cols[i].id, e}
	}
	return out, nil
}

// liftAggregate replaces the subqueries in group keys and in the arguments of aggregates by joins.
func (b *builder) liftAggregate(r *aggregate) (rel, error) {
	in, err := b.decorrelate(r.input, 0)
	if err != nil {
		return nil, err
	}
	l := b.lifter(in, 0)
	var list []expr.Expr
	own(r, func(e expr.Expr) { list = append(list, e) })
	if list, err = l.all(list); err != nil {
		return nil, err
	}
	out := &aggregate{l.input, make([]computed, len(r.keys)), make([]aggregated, len(r.aggs)), r.rollup, r.grouping, r.stream}
	next := func() expr.Expr { // in the order in which own met them
		e := list[0]
		list = list[1:]
		return e
	}
	for i := range r.keys {
		out.keys[i] = computed{r.keys[i].id, next()}
	}
	for i := range r.aggs {
		out.aggs[i] = aggregated{id: r.aggs[i].id, spec: r.aggs[i].spec.Map(func(expr.Expr) expr.Expr { return next() })}
	}
	return out, nil
}

func (b *builder) liftSorted(r *sorted) (rel, error) {
	in, err := b.decorrelate(r.input, 0)
	if err != nil {
		return nil, err
	}
	list := make([]expr.Expr, len(r.keys))
	for i := range r.keys {
		list[i] = r.keys[i].e
	}
	l := b.lifter(in, 0)
	if list, err = l.all(list); err != nil {
		return nil, err
	}
	out := &sorted{l.input, make([]sortKey, len(list))}
	for i, e := range list {
		out.keys[i] = sortKey{e, r.keys[i].desc}
	}
	return out, nil
}

// lifter replaces subqueries in expressions over a relation by joins with that relation.
type lifter struct {
	b            *builder
	first, input rel // without and with the joins made so far
	joins        []*join
	wanted       float64
	least        float64 // fewer rows than these are left to subqueries
	sized        bool
	rows         float64                 // how often the expressions are evaluated, once sized
	swap         map[expr.Expr]expr.Expr // subqueries, and the expressions that replace them
}

func (b *builder) lifter(input rel, wanted float64) *lifter {
	return &lifter{b: b, first: input, input: input, wanted: wanted, least: b.liftLeast, swap: map[expr.Expr]expr.Expr{}}
}

// all rewrites expressions: columns replace the subqueries that have become joins. If one of the expressions has side effects or is not
// deterministic, all are left alone, because it may depend on how often the others are evaluated.
func (l *lifter) all(list []expr.Expr) ([]expr.Expr, error) {
	dear := false
	for _, e := range list {
		if !expr.IsDeterministic(e) {
			return list, nil
		}
		dear = dear || l.b.dear(e)
	}
	if !dear || locksForReader(l.first) {
		return list, nil
	}
	for _, e := range list {
		if err := l.find(e, true); err != nil {
			return nil, err
		}
	}
	if len(l.swap) == 0 {
		return list, nil
	}
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = expr.Replace(e, func(n expr.Expr) expr.Expr { return l.swap[n] })
	}
	return out, nil
}

// locksForReader reports whether a relation has a locking read of the client's (FOR UPDATE or FOR SHARE). A join would lock rows before the
// conditions on them are tested, which the client could notice.
func locksForReader(r rel) bool {
	return anyRel(r, func(r rel) bool {
		g, ok := r.(*get)
		return ok && g.lock != nil && !g.lock.writes
	})
}

// find looks for subqueries in e. always says that e is evaluated for each row.
func (l *lifter) find(e expr.Expr, always bool) error {
	if s := l.b.subqueryOf(e); s != nil && len(s.free) > 0 && l.swap[e] == nil {
		done, err := l.lift(e, s, always)
		if done || err != nil {
			return err
		}
	}
	lazy := e.IsCall("and", "or", "if", "case", "case_value", "coalesce", "ifnull", "nullif")
	for i, arg := range e.Args() {
		if err := l.find(arg, always && (i == 0 || !lazy)); err != nil {
			return err
		}
	}
	return nil
}

// lift makes a join of one subquery if it can be one, and if that costs less or a hint asks for it.
func (l *lifter) lift(e expr.Expr, s *subquery, always bool) (bool, error) {
	if s.apart {
		return false, nil
	}
	here := outputs(l.input)
	for _, made := range s.liftings {
		// The same subquery stands in another clause, too, and its column is there already.
		if here[made.column] {
			if !sameArgs(made.of, e) {
				return false, nil
			}
			l.swap[e] = made.value
			return true, nil
		}
	}
	made, err := l.b.lifting(l.input, here, e, s, always)
	if made == nil || err != nil {
		return false, err
	}
	if less, err := l.cheaper(e, s, made); err != nil || !less {
		return false, err
	}
	j := &join{kind: exec.JoinLeft, left: l.input, right: made.right, on: made.on}
	l.input = j
	l.joins = append(l.joins, j)
	s.liftings = append(s.liftings, made)
	l.swap[e] = made.value
	return true, nil
}

func sameArgs(a, b expr.Expr) bool {
	for i := range a.Args() {
		if !expr.Equal(a.Args()[i], b.Args()[i]) {
			return false
		}
	}
	return true
}

// cheaper compares the cost of a join with that of running the subquery for each outer row, where rows with the same outer values share one run.
func (l *lifter) cheaper(e expr.Expr, s *subquery, made *lifting) (bool, error) {
	if s.joined {
		return true, nil
	}
	if !l.sized {
		l.b.cautious = true
		rows, _, err := l.b.estimate(l.first)
		l.b.cautious = false
		if err != nil {
			return false, err
		}
		if l.wanted > 0 {
			rows = math.Min(rows, l.wanted)
		}
		l.rows, l.sized = rows, true
	}
	simple, err := l.b.simplified(s)
	if err != nil {
		return false, err
	}
	_, once, err := l.b.estimate(simple)
	if err != nil {
		return false, err
	}
	rows, whole, err := l.b.estimate(made.right)
	if err != nil {
		return false, err
	}
	runs, err := l.runs(e.Args()[:len(s.free)])
	if err != nil || runs < 2 || l.rows < l.least {
		return false, err // one row, or as good as one
	}
	apply := runs*(once+costSubquery) + l.rows*costRemember
	hash := whole + rows*costBuild + l.rows*(costProbe+made.pairs*costPair)
	if made.looksUp {
		hash = math.Min(hash, l.rows*(once+costApply))
	}
	return hash*joinAdvantage < apply, nil
}

// runs estimates how often a subquery runs: once for each combination of outer values, if their results are kept.
func (l *lifter) runs(outer []expr.Expr) (float64, error) {
	different := 1.0
	for _, e := range outer {
		for _, id := range addIDs(nil, e) {
			n, err := l.b.different(l.first, id, l.rows)
			if err != nil {
				return 0, err
			}
			different *= n
		}
	}
	if different > runsKept {
		return l.rows, nil
	}
	return math.Min(different, l.rows), nil
}

// different estimates the number of distinct values of a column in a relation of rows rows.
func (b *builder) different(r rel, id int, rows float64) (float64, error) {
	switch r := r.(type) {
	case *get:
		if r.owns(id) {
			return math.Min(rows, 1/b.oneValueOf(r, id)), nil
		}
		return 1, nil // an outer reference has one value
	case *filter:
		if g, base := r.input.(*get); base && g.owns(id) {
			n, _, err := b.estimateGet(g, r.conds)
			return math.Min(n, math.Min(rows, 1/b.oneValueOf(g, id))), err
		}
	}
	for _, in := range r.inputs() {
		if outputs(in)[id] {
			return b.different(in, id, rows)
		}
	}
	if outputs(r)[id] {
		return rows, nil
	}
	return 1, nil
}

// semiJoin returns the semi or anti join for a condition that unnest.go leaves as it is: EXISTS of a block that groups, and comparisons with ANY or
// ALL that are no equality or may be NULL. A comparison that is NULL is no match for ANY, and counts against ALL.
func (l *lifter) semiJoin(c expr.Expr) (*join, error) {
	b, e, negated := l.b, c, false
	for e.IsCall("not") {
		negated, e = !negated, e.Args()[0]
	}
	s := b.subqueryOf(e)
	if s == nil || s.apart || len(s.free) == 0 || !expr.IsDeterministic(c) || locksForReader(l.first) {
		return nil, nil
	}
	kind, test := exec.JoinSemi, ""
	switch {
	case s.plan.Kind == exec.SubplanExists && negated:
		kind = exec.JoinAnti
	case s.plan.Kind == exec.SubplanExists:
	case s.plan.Kind == exec.SubplanAny && !negated:
		test = "is true"
	case s.plan.Kind == exec.SubplanAny:
		kind, test = exec.JoinAnti, "is not false"
	case s.plan.Kind == exec.SubplanAll && !negated:
		kind, test = exec.JoinAnti, "is not true"
	case s.plan.Kind == exec.SubplanAll:
		test = "is false"
	default:
		return nil, nil
	}
	simple, err := b.simplified(s)
	if err != nil {
		return nil, err
	}
	blk := &liftedBlock{s: s, e: e, rel: simple, here: outputs(l.input)}
	if !blk.bind(blk.here) {
		return nil, nil
	}
	core, p := b.core(blk, simple, true)
	if core == nil {
		return nil, nil
	}
	made := &lifting{of: e, right: core, looksUp: isGet(core)}
	if made.pairs, err = l.matches(core, p); err != nil || made.pairs == 0 {
		return nil, err
	}
	on := p.on
	if test != "" {
		compare := s.compare
		if test != "is true" { // which it is anyway
			if compare, err = expr.Call(b.env.Build, test, compare); err != nil {
				return nil, err
			}
		}
		if on = append(on[:len(on):len(on)], compare); b.writes && !quiet(s.compare) {
			return nil, nil
		}
	}
	for _, c := range on {
		made.on = append(made.on, substitute(substitute(c, p.inner), blk.by))
	}
	if less, err := l.cheaper(e, s, made); err != nil || !less {
		return nil, err
	}
	j := &join{kind: kind, left: l.input, right: made.right, on: made.on}
	if kind == exec.JoinSemi {
		b.sinkLeft(j)
	}
	return j, nil
}

// matches estimates how many rows of core match an outer row by the most selective equality that a hash join can use; 0 if there is none.
func (l *lifter) matches(core rel, p *puller) (float64, error) {
	rows, _, err := l.b.estimate(core)
	if err != nil {
		return 0, err
	}
	made, best := outputs(core), 0.0
	for _, c := range p.on {
		if !c.IsCall("=") {
			continue
		}
		x, y, hashed := expr.HashKeys(l.b.env.Build, substitute(c, p.inner))
		if hashed && made.touches(x) {
			x, y = y, x
		}
		if !hashed || made.touches(x) || p.outer.touches(y) || !p.outer.touches(x) || !made.touches(y) {
			continue
		}
		n := float64(eqRowsUnknown)
		if id, plain := expr.Unwrap(y).ColumnIndex(); plain {
			values, err := l.b.different(core, id, rows)
			if err != nil {
				return 0, err
			}
			n = rows / math.Max(values, 1)
		}
		if n = math.Max(n, 1); best == 0 || n < best {
			best = n
		}
	}
	return best, nil
}
