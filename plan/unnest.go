package plan

import (
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// unnest turns conditions that are subqueries into semi and anti joins with input, where MySQL's rules about NULL allow it. The others remain
// expressions, which are evaluated for each row and cache their results.
func (b *builder) unnest(input rel, conds []expr.Expr) (rel, []expr.Expr, error) {
	var rest []expr.Expr
	for _, c := range conds {
		j, err := b.semiJoin(input, c)
		if err != nil {
			return nil, nil, err
		}
		if j == nil {
			rest = append(rest, c)
			continue
		}
		input = j
	}
	return input, rest, nil
}

// semiJoin returns the join that keeps the rows of input for which a condition holds, or nil.
func (b *builder) semiJoin(input rel, c expr.Expr) (rel, error) {
	negated := false
	for c.IsCall("not") {
		negated, c = !negated, c.Args()[0]
	}
	s := b.subqueryOf(c)
	if s == nil || s.apart || !expr.IsDeterministic(c) {
		return nil, nil
	}
	j := &join{kind: exec.JoinSemi, left: input}
	switch {
	case s.plan.Kind == exec.SubplanExists && len(s.free) > 0:
	case s.op == "=" && s.plan.Kind == exec.SubplanAny:
	case s.op == "<>" && s.plan.Kind == exec.SubplanAll:
		negated = !negated
	default:
		return nil, nil
	}
	known := outputs(input)
	if negated {
		j.kind = exec.JoinAnti
		if s.plan.Kind != exec.SubplanExists && b.mayBeNull(s, input) {
			return nil, nil
		}
	}
	if len(s.left) > 0 && !known.touchesAny(s.left) && len(s.free) == 0 {
		return nil, nil // one value for all rows: evaluated once as it is
	}
	core, on, ok, err := b.pullUp(s, c)
	if !ok || err != nil {
		return nil, err
	}
	j.right, j.on = core, on
	return j, nil
}

func (s idSet) touchesAny(list []expr.Expr) bool {
	for _, e := range list {
		if s.touches(e) {
			return true
		}
	}
	return false
}

// mayBeNull reports whether a side of NOT IN may be NULL: then its value may be NULL, which an anti join cannot express.
func (b *builder) mayBeNull(s *subquery, input rel) bool {
	for i := range s.cols {
		if !neverNull(s.left[i], input) || !neverNull(s.cols[i].expr(), s.rel) {
			return true
		}
	}
	return false
}

// neverNull reports whether an expression over the columns of r is certainly not NULL.
func neverNull(e expr.Expr, r rel) bool {
	if v, ok := e.ConstValue(); ok {
		return !v.IsNull()
	}
	id, ok := expr.Unwrap(e).ColumnIndex()
	return ok && notNullColumn(id, r)
}

// notNullColumn reports whether the column of that id is declared NOT NULL and no outer join pads it.
func notNullColumn(id int, r rel) bool {
	switch r := r.(type) {
	case *get:
		if !r.owns(id) {
			return false
		}
		o := r.ordinal(id)
		return o < 0 || o >= len(r.table.Columns) || r.table.Columns[o].NotNull
	case *join:
		if notNullColumn(id, r.left) {
			return true
		}
		return r.kind == exec.JoinInner && notNullColumn(id, r.right)
	case *extend:
		for i := range r.cols {
			if r.cols[i].id == id {
				return neverNull(r.cols[i].e, r.input)
			}
		}
		return notNullColumn(id, r.input)
	case *aggregate:
		if r.rollup {
			return false
		}
		for i := range r.keys {
			if r.keys[i].id == id {
				return neverNull(r.keys[i].e, r.input)
			}
		}
		for i := range r.aggs {
			if r.aggs[i].id == id {
				return r.aggs[i].spec.Name() == "count"
			}
		}
		return false
	case *filter, *sorted, *limited, *distinct, *window, *fence:
		return notNullColumn(id, r.inputs()[0])
	}
	return false
}

// pullUp takes the outer references out of a subquery: the conditions that hold them become the join's. ok is false if there are others that
// cannot be taken out.
func (b *builder) pullUp(s *subquery, c expr.Expr) (core rel, on []expr.Expr, ok bool, err error) {
	r, err := b.simplified(s)
	if err != nil {
		return nil, nil, false, err
	}
	outer, by := idSet{}, map[int]expr.Expr{}
	for i, f := range s.free {
		id, _ := f.ColumnIndex()
		outer[id] = true
		if arg := c.Args()[i]; !expr.Equal(arg, f) {
			by[id] = arg
		}
	}
	p := &puller{outer: outer, inner: map[int]expr.Expr{}, existsOnly: s.plan.Kind == exec.SubplanExists}
	core, ok = p.take(r, true)
	if !ok || outer.meets(free(core)) || p.dangles(core) {
		return nil, nil, false, nil
	}
	for i := range s.left {
		eq, err := expr.Call(b.env.Build, "=", s.left[i], s.cols[i].expr())
		if err != nil {
			return nil, nil, false, err
		}
		p.on = append(p.on, eq)
	}
	for _, e := range p.on {
		e = substitute(e, p.inner)
		if len(by) > 0 {
			e = substitute(e, by)
		}
		on = append(on, expr.SplitAnd(nil, e)...)
	}
	if p.existsOnly {
		core = withoutUnread(core, on)
	}
	return core, on, true, nil
}

// withoutUnread is the right side of a semi or anti join without what its select list computes and the conditions do not read: a base table shows,
// whose rows can be looked up.
func withoutUnread(r rel, on []expr.Expr) rel {
	for {
		e, ok := r.(*extend)
		if !ok {
			return r
		}
		var keep []computed
		for _, c := range e.cols {
			made := idSet{c.id: true}
			if made.touchesAny(on) || !expr.IsDeterministic(c.e) {
				keep = append(keep, c)
			}
		}
		if len(keep) > 0 {
			return &extend{e.input, keep}
		}
		r = e.input
	}
}

// puller collects the conditions of a subquery that hold outer references.
type puller struct {
	// b is nil where conditions must not be taken out of grouped rows.
	b     *builder
	outer idSet
	on    []expr.Expr
	inner map[int]expr.Expr // computed columns that hold outer references, by which conditions name them
	// existsOnly says that only the existence of a row counts, so that a LIMIT changes nothing.
	existsOnly bool
}

// take returns r without the conditions that it collects. top says that neither order nor duplicates of r's rows matter.
func (p *puller) take(r rel, top bool) (rel, bool) {
	if !p.outer.meets(free(r)) && !top {
		return r, true
	}
	switch r := r.(type) {
	case *filter:
		in, ok := p.take(r.input, top)
		outer, keep := split(r.conds, p.outer.touches)
		p.on = append(p.on, outer...)
		return filtered(in, keep), ok
	case *join:
		return p.takeJoin(r, top)
	case *extend:
		in, ok := p.take(r.input, top)
		var keep []computed
		for _, c := range r.cols {
			if !p.outer.touches(c.e) {
				keep = append(keep, c)
				continue
			}
			ok = ok && expr.IsDeterministic(c.e)
			p.inner[c.id] = c.e
		}
		if len(keep) == 0 {
			return in, ok
		}
		return &extend{in, keep}, ok
	case *aggregate:
		if p.b != nil && len(r.keys) > 0 && !r.rollup {
			return p.takeGroups(r)
		}
	case *sorted:
		if top {
			return p.take(r.input, true)
		}
	case *distinct:
		if top {
			return p.take(r.input, true)
		}
	case *limited:
		if r.count == nil {
			break
		}
		if v, constant := r.count.ConstValue(); top && r.offset == nil && constant && v.K == types.KindInt && v.N > 0 && p.existsOnly {
			return p.take(r.input, true)
		}
	}
	return r, !p.outer.meets(free(r))
}

// takeGroups takes equalities out of grouped rows, and makes their inner sides further keys: the rows that match one outer row are then grouped as
// before.
func (p *puller) takeGroups(r *aggregate) (rel, bool) {
	below := &puller{b: p.b, outer: p.outer, inner: map[int]expr.Expr{}}
	in, ok := below.take(r.input, false)
	if !ok {
		return nil, false
	}
	conds := make([]expr.Expr, len(below.on))
	for i, c := range below.on {
		conds[i] = substitute(c, below.inner)
	}
	keys, on, ok, err := p.b.correlation(conds, outputs(in), p.outer)
	out := &aggregate{in, append(r.keys[:len(r.keys):len(r.keys)], keys...), r.aggs, r.rollup, r.grouping, r.stream}
	if !ok || err != nil || p.outer.meets(free(out)) || below.dangles(out) {
		return nil, false
	}
	p.on = append(p.on, on...)
	return out, true
}

// dangles reports whether core still reads a computed column that was taken out.
func (p *puller) dangles(core rel) bool {
	for _, f := range free(core) {
		if id, _ := f.ColumnIndex(); p.inner[id] != nil {
			return true
		}
	}
	return false
}

func (p *puller) takeJoin(j *join, top bool) (rel, bool) {
	left, ok := p.take(j.left, top)
	if !ok {
		return nil, false
	}
	if j.kind != exec.JoinInner {
		for _, c := range j.on {
			if p.outer.touches(c) {
				return nil, false
			}
		}
		return &join{j.kind, left, j.right, j.on, j.straight}, !p.outer.meets(free(j.right))
	}
	right, ok := p.take(j.right, top)
	if !ok {
		return nil, false
	}
	outer, on := split(j.on, p.outer.touches)
	p.on = append(p.on, outer...)
	return &join{j.kind, left, right, on, j.straight}, true
}
