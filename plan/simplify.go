package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// The normalising passes. simplify runs them over a resolved relation, top down in one walk: conditions move to the lowest place where their columns
// are known, subqueries in conditions become joins, outer joins whose padded rows a condition rejects become inner ones, and a CTE that is read once
// is put where it is read. Once all conditions have their places, decorrelate.go replaces correlated subqueries by joins where that costs less, and
// what these joins ask of one side moves down again (sink.go). If all alternatives of an OR restrict one side of a join, that side is filtered by
// what they say; a condition that runs a subquery for each row stays above the joins, and the join search finds its place.

// simplify normalises a relation.
func (b *builder) simplify(r rel) (rel, error) {
	r, err := b.push(r, nil)
	if err != nil || !b.correlated {
		return r, err
	}
	return b.decorrelate(r, 0)
}

// push adds conditions to a relation at the lowest place possible.
func (b *builder) push(r rel, conds []expr.Expr) (rel, error) {
	if err := b.step(); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *filter:
		return b.pushFilter(r, conds)
	case *extend:
		return b.pushExtend(r, conds)
	case *join:
		return b.pushJoin(r, conds)
	case *aggregate:
		return b.pushAggregate(r, conds)
	case *window:
		return b.pushWindow(r, conds)
	case *distinct:
		return b.pushThrough(r.input, conds, func(in rel) rel { return &distinct{in, r.cols} })
	case *sorted:
		return b.pushThrough(r.input, conds, func(in rel) rel { return &sorted{in, r.keys} })
	case *limited:
		in, err := b.push(r.input, nil)
		if err != nil {
			return nil, err
		}
		return filtered(&limited{in, r.count, r.offset, r.top, r.calc}, conds), nil
	case *setOp:
		return b.pushSetOp(r, conds)
	case *fence:
		in, err := b.push(r.input, nil)
		if err != nil {
			return nil, err
		}
		return filtered(&fence{in, r.alias}, conds), nil
	case *cteRef:
		if r.cte.refs == 1 && r.cte.recursive == nil && !r.delta {
			return b.push(inlined(r), conds)
		}
	}
	return filtered(r, conds), nil
}

// filtered puts conditions on top of a relation.
func filtered(r rel, conds []expr.Expr) rel {
	if len(conds) == 0 {
		return r
	}
	return &filter{r, conds}
}

// inlined is the query of a CTE that takes the place of the only reference to it.
func inlined(r *cteRef) rel {
	e := &extend{input: r.cte.body}
	for i := range r.cte.cols {
		e.cols = append(e.cols, computed{r.first + i, r.cte.cols[i].expr()})
	}
	return e
}

// movable splits off the conditions that may be evaluated elsewhere than where they stand.
func movable(conds []expr.Expr) (move, stay []expr.Expr) {
	return split(conds, expr.IsDeterministic)
}

// split divides conditions by a predicate.
func split(conds []expr.Expr, pred func(expr.Expr) bool) (yes, no []expr.Expr) {
	for _, c := range conds {
		if pred(c) {
			yes = append(yes, c)
		} else {
			no = append(no, c)
		}
	}
	return yes, no
}

func (b *builder) pushFilter(f *filter, conds []expr.Expr) (rel, error) {
	all := append(append([]expr.Expr(nil), conds...), f.conds...)
	in, rest, err := b.unnest(f.input, all)
	if err != nil {
		return nil, err
	}
	if _, base := in.(*get); base {
		return filtered(in, rest), nil
	}
	move, stay := movable(rest)
	out, err := b.push(in, move)
	if err != nil {
		return nil, err
	}
	return filtered(out, stay), nil
}

// pushThrough moves conditions below a node that yields some rows of its input unchanged.
func (b *builder) pushThrough(input rel, conds []expr.Expr, rebuild func(rel) rel) (rel, error) {
	move, stay := movable(conds)
	in, err := b.push(input, move)
	if err != nil {
		return nil, err
	}
	return filtered(rebuild(in), stay), nil
}

// substitute replaces columns by the expressions that make them.
func substitute(e expr.Expr, by map[int]expr.Expr) expr.Expr {
	return expr.Replace(e, func(n expr.Expr) expr.Expr {
		if id, ok := n.ColumnIndex(); ok {
			return by[id]
		}
		return nil
	})
}

// pushExtend moves conditions below computed columns, whose expressions it substitutes. Conditions on a column that is not deterministic stay, because
// it must be evaluated only once.
func (b *builder) pushExtend(r *extend, conds []expr.Expr) (rel, error) {
	by, once := map[int]expr.Expr{}, idSet{}
	for i := range r.cols {
		if expr.IsDeterministic(r.cols[i].e) {
			by[r.cols[i].id] = r.cols[i].e
		} else {
			once[r.cols[i].id] = true
		}
	}
	var move, stay []expr.Expr
	for _, c := range conds {
		if expr.IsDeterministic(c) && !once.touches(c) {
			move = append(move, substitute(c, by))
		} else {
			stay = append(stay, c)
		}
	}
	in, err := b.push(r.input, move)
	if err != nil {
		return nil, err
	}
	return filtered(&extend{in, r.cols}, stay), nil
}

// pushAggregate moves conditions on group keys below the grouping.
func (b *builder) pushAggregate(r *aggregate, conds []expr.Expr) (rel, error) {
	by, made := map[int]expr.Expr{}, idSet{}
	for i := range r.keys {
		by[r.keys[i].id] = r.keys[i].e
	}
	for i := range r.aggs {
		made[r.aggs[i].id] = true
	}
	var move, stay []expr.Expr
	for _, c := range conds {
		if len(r.keys) > 0 && !r.rollup && expr.IsDeterministic(c) && !made.touches(c) {
			move = append(move, substitute(c, by))
		} else {
			stay = append(stay, c)
		}
	}
	in, err := b.push(r.input, move)
	if err != nil {
		return nil, err
	}
	return filtered(&aggregate{in, r.keys, r.aggs, r.rollup, r.grouping, r.stream}, stay), nil
}

// pushWindow moves conditions that keep or drop whole partitions.
func (b *builder) pushWindow(r *window, conds []expr.Expr) (rel, error) {
	whole := idSet{}
	for _, p := range r.partition {
		if id, ok := p.ColumnIndex(); ok {
			whole[id] = true
		}
	}
	var move, stay []expr.Expr
	for _, c := range conds {
		if expr.IsDeterministic(c) && whole.touches(c) && whole.covers(c) {
			move = append(move, c)
		} else {
			stay = append(stay, c)
		}
	}
	in, err := b.push(r.input, move)
	if err != nil {
		return nil, err
	}
	return filtered(&window{in, r.partition, r.order, r.funcs}, stay), nil
}

// pushSetOp moves conditions into every branch.
func (b *builder) pushSetOp(r *setOp, conds []expr.Expr) (rel, error) {
	move, stay := movable(conds)
	for _, c := range move {
		expr.Walk(c, func(n expr.Expr) bool {
			if s := b.subqueryOf(n); s != nil {
				s.several = true
			}
			return true
		})
	}
	out := &setOp{kind: r.kind, all: r.all, first: r.first, out: r.out}
	for _, br := range r.branches {
		by := map[int]expr.Expr{}
		for i, e := range br.exprs {
			by[r.first+i] = e
		}
		own := make([]expr.Expr, len(move))
		for i, c := range move {
			own[i] = substitute(c, by)
		}
		in, err := b.push(br.input, own)
		if err != nil {
			return nil, err
		}
		out.branches = append(out.branches, branch{in, br.exprs})
	}
	return filtered(out, stay), nil
}

func (b *builder) pushJoin(j *join, conds []expr.Expr) (rel, error) {
	move, stay := movable(conds)
	left, right := outputs(j.left), outputs(j.right)
	kind, on := j.kind, j.on
	if kind == exec.JoinLeft {
		for _, c := range append(move[:len(move):len(move)], stay...) {
			if rejectsNull(c, right) {
				kind = exec.JoinInner
				break
			}
		}
	}
	var toLeft, toRight, between, above []expr.Expr
	place := func(list []expr.Expr, condition bool) {
		for _, c := range list {
			l, r := left.touches(c), right.touches(c)
			switch {
			case !expr.IsDeterministic(c) && condition:
				between = append(between, c)
			case b.dear(c) && (!condition || kind == exec.JoinInner):
				above = append(above, c)
			case condition && kind != exec.JoinInner:
				// ON of an outer, semi or anti join decides about matches, not about the left rows.
				if r && !l {
					toRight = append(toRight, c)
				} else if kind == exec.JoinSemi && l && !r {
					toLeft = append(toLeft, c)
				} else {
					between = append(between, c)
				}
			case !r:
				toLeft = append(toLeft, c)
			case kind != exec.JoinInner:
				above = append(above, c)
			case !l:
				toRight = append(toRight, c)
			default:
				between = append(between, c)
			}
		}
	}
	place(move, false)
	place(on, true)
	out := &join{kind: kind, on: between, straight: j.straight}
	var err error
	if toLeft, toRight, err = b.implyBelow(out, left, right, toLeft, toRight); err != nil {
		return nil, err
	}
	if out.left, err = b.push(j.left, toLeft); err != nil {
		return nil, err
	}
	if out.right, err = b.push(j.right, toRight); err != nil {
		return nil, err
	}
	return filtered(out, append(above, stay...)), nil
}

// implyBelow adds to the conditions of a join's sides what the join's conditions imply for each side alone.
func (b *builder) implyBelow(j *join, left, right idSet, toLeft, toRight []expr.Expr) (l, r []expr.Expr, err error) {
	for _, c := range j.on {
		// A row that this drops would have had no match, and inner and semi joins drop rows without one.
		if j.kind == exec.JoinInner || j.kind == exec.JoinSemi {
			one, err := b.implied(c, left)
			if err != nil {
				return nil, nil, err
			}
			if one != nil {
				toLeft = append(toLeft, one)
			}
		}
		one, err := b.implied(c, right)
		if err != nil {
			return nil, nil, err
		}
		if one != nil {
			toRight = append(toRight, one)
		}
	}
	return toLeft, toRight, nil
}

// strict lists the functions that are NULL if one of their operands is.
var strict = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "+": true, "-": true, "*": true, "/": true,
	"%": true, "div": true, "neg": true, "not": true, "like": true, "not like": true, "regexp": true, "not regexp": true, "coerce": true, "cast": true,
	"&": true, "|": true, "^": true, "<<": true, ">>": true, "~": true, "lower": true, "upper": true, "abs": true, "year": true, "month": true,
	"date": true, "length": true, "char_length": true, "substring": true, "convert_using": true, "collate": true, "binary": true}

// nullWith reports whether e is certainly NULL when all columns of the set are.
func nullWith(e expr.Expr, set idSet) bool {
	if id, ok := e.ColumnIndex(); ok {
		return set[id]
	}
	if !e.IsCall() {
		return false
	}
	switch {
	case strict[e.Name()]:
		for _, arg := range e.Args() {
			if nullWith(arg, set) {
				return true
			}
		}
	case e.IsCall("in", "not in", "between", "not between"):
		return nullWith(e.Args()[0], set)
	}
	return false
}

// rejectsNull reports whether a condition is certainly not true when all columns of the set are NULL.
func rejectsNull(e expr.Expr, set idSet) bool {
	switch {
	case e.IsCall("and"):
		for _, arg := range e.Args() {
			if rejectsNull(arg, set) {
				return true
			}
		}
		return false
	case e.IsCall("or"):
		for _, arg := range e.Args() {
			if !rejectsNull(arg, set) {
				return false
			}
		}
		return len(e.Args()) > 0
	case e.IsCall("is not null"):
		return nullWith(e.Args()[0], set)
	case e.IsCall("is true"):
		return rejectsNull(e.Args()[0], set)
	case e.IsCall("not"):
		return nullWith(e, set) || trueWith(e.Args()[0], set)
	}
	return nullWith(e, set)
}

// trueWith reports whether a condition is certainly true when all columns of the set are NULL.
func trueWith(e expr.Expr, set idSet) bool {
	switch {
	case e.IsCall("is null"):
		return nullWith(e.Args()[0], set)
	case e.IsCall("or"):
		return slices.ContainsFunc(e.Args(), func(arg expr.Expr) bool { return trueWith(arg, set) })
	case e.IsCall("and"):
		return len(e.Args()) > 0 && !slices.ContainsFunc(e.Args(), func(arg expr.Expr) bool { return !trueWith(arg, set) })
	}
	return false
}
