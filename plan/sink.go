package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// Conditions that appear when decorrelation makes joins: what a subquery asks of the outer row alone holds for all rows of an inner or a semi join. They
// are pushed down once more, or no scan could use an index for them. push itself is not run again over relations that it has normalised: it would derive
// once more what joins imply for their sides.

// sink adds conditions to a normalised relation at the lowest place possible. Those that run a subquery for each row stay at the top, as push leaves them.
func (b *builder) sink(r rel, conds []expr.Expr) rel {
	move, stay := split(conds, func(c expr.Expr) bool { return expr.IsDeterministic(c) && !b.dear(c) })
	if len(move) == 0 {
		return filtered(r, stay)
	}
	switch r := r.(type) {
	case *filter:
		if _, base := r.input.(*get); base {
			return filtered(r.input, append(slices.Clone(r.conds), conds...))
		}
		return filtered(b.sink(r.input, move), append(slices.Clone(r.conds), stay...))
	case *extend:
		return filtered(b.sinkExtend(r, move), stay)
	case *join:
		return filtered(b.sinkJoin(r, move), stay)
	}
	return filtered(r, conds)
}

// sinkExtend moves conditions below computed columns unless one of these is computed only once.
func (b *builder) sinkExtend(r *extend, conds []expr.Expr) rel {
	by := map[int]expr.Expr{}
	for i := range r.cols {
		if !expr.IsDeterministic(r.cols[i].e) {
			return filtered(r, conds)
		}
		by[r.cols[i].id] = r.cols[i].e
	}
	below := make([]expr.Expr, len(conds))
	for i, c := range conds {
		below[i] = substitute(c, by)
	}
	return &extend{b.sink(r.input, below), r.cols}
}

// sinkJoin moves conditions to the sides of a join. An outer join whose padded rows one of them rejects becomes an inner one.
func (b *builder) sinkJoin(j *join, conds []expr.Expr) rel {
	if right := outputs(j.right); j.kind == exec.JoinLeft && slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejectsNull(c, right) }) {
		inner := *j
		b.innerJoin(&inner)
		j = &inner
	}
	left, right := outputs(j.left), outputs(j.right)
	var toLeft, toRight, on, above []expr.Expr
	for _, c := range conds {
		switch {
		case !right.touches(c):
			toLeft = append(toLeft, c)
		case j.kind != exec.JoinInner:
			above = append(above, c)
		case !left.touches(c):
			toRight = append(toRight, c)
		default:
			on = append(on, c)
		}
	}
	out := &join{j.kind, b.sink(j.left, toLeft), b.sink(j.right, toRight), append(slices.Clone(j.on), on...), j.straight}
	return filtered(out, above)
}

// innerJoin turns a left join into an inner one, and moves the conditions of ON that read the left side alone into that side.
func (b *builder) innerJoin(j *join) {
	j.kind = exec.JoinInner
	b.sinkLeft(j)
}

// sinkLeft moves the conditions of ON that read the left side alone into that side of an inner or a semi join.
func (b *builder) sinkLeft(j *join) {
	both, left := split(j.on, outputs(j.right).touches)
	if len(left) > 0 {
		j.on, j.left = both, b.sink(j.left, left)
	}
}
