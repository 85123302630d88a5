package expr

import (
	"github.com/pandodb/pando/types"
)

// rangeOperands are the three operands of BETWEEN.
type rangeOperands struct {
	x, lo, hi numbers
	scratch   [3]*types.Vector
	low, high orderMode
}

// load evaluates the operands over the rows sel. ok is false if the row path has to be used.
func (r *rangeOperands) load(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) (ok bool, err error) {
	all, rows := true, sel
	for i, o := range [3]*numbers{&r.x, &r.lo, &r.hi} {
		var dropped []uint16
		if i > 0 {
			rows, dropped = r.x.rowsFor(ctx, n.args[i], sel)
		}
		if len(rows) == 0 && len(sel) > 0 {
			o.null = true
			ctx.giveBack(dropped)
			continue
		}
		s, good, err := o.load(ctx, n.args[i], b, rows)
		ctx.giveBack(dropped)
		r.scratch[i] = s
		if err != nil {
			return false, err
		}
		all = all && good
	}
	c := n.aux.(*between)
	if !plainClass(c.low.class) || !plainClass(c.high.class) {
		return false, nil
	}
	r.low, r.high = c.low.plainOrder(&r.x, &r.lo), c.high.plainOrder(&r.x, &r.hi)
	return all && r.low != orderNone && r.high != orderNone, nil
}

func plainClass(c class) bool { return c != classString && c != classJSON && c != classNull }

func (r *rangeOperands) release(ctx *Ctx) {
	for _, s := range r.scratch {
		ctx.release(s)
	}
}

// verdict returns the result of BETWEEN for row i.
func (r *rangeOperands) verdict(i uint16) tri {
	if r.x.isNull(i) {
		return triNull
	}
	lo, hi := triNull, triNull
	if !r.lo.isNull(i) {
		lo = triOf(r.low.of(&r.lo, &r.x, i) <= 0)
	}
	if !r.hi.isNull(i) {
		hi = triOf(r.high.of(&r.x, &r.hi, i) <= 0)
	}
	switch {
	case lo == triFalse || hi == triFalse:
		return triFalse
	case lo == triNull || hi == triNull:
		return triNull
	}
	return triTrue
}

func batchBetween(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	if !plainClass(n.aux.(*between).low.class) {
		return evalRows(ctx, n, b, out)
	}
	var r rangeOperands
	sel := live(b)
	ok, err := r.load(ctx, n, b, sel)
	defer r.release(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return evalRows(ctx, n, b, out)
	}
	shape(out, &n.typ, b.Len)
	for _, i := range sel {
		t := r.verdict(i)
		out.N[i] = 0
		switch t {
		case triNull:
			setNull(out, i)
		case triTrue:
			out.N[i] = 1
		}
	}
	return nil
}

func filterBetween(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error) {
	if !plainClass(n.aux.(*between).low.class) {
		return filterByRows(ctx, n, b, sel)
	}
	var r rangeOperands
	ok, err := r.load(ctx, n, b, sel)
	defer r.release(ctx)
	if err != nil {
		return sel, err
	}
	if !ok {
		return filterByRows(ctx, n, b, sel)
	}
	kept := sel[:0]
	for _, i := range sel {
		if r.verdict(i) == triTrue {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

// batchIn is the batch function of IN, with a kernel for a set of constants.
func batchIn(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	l := n.aux.(*inList)
	if l.ints == nil && l.texts == nil {
		return evalRows(ctx, n, b, out)
	}
	v, scratch, err := ctx.operandOver(n.args[0], b, live(b))
	if err != nil {
		return err
	}
	defer ctx.release(scratch)
	kind := v.Type.Kind()
	if l.ints != nil && kind != types.KindInt || l.texts != nil && kind != types.KindString {
		return evalRows(ctx, n, b, out)
	}
	shape(out, &n.typ, b.Len)
	for _, i := range live(b) {
		out.N[i] = 0
		if v.IsNull(int(i)) {
			setNull(out, i)
			continue
		}
		hit := false
		if l.ints != nil {
			hit = l.hasInt(v.N[i])
		} else {
			x := v.Value(int(i))
			hit = l.hasText(ctx, x.B)
		}
		switch {
		case hit:
			out.N[i] = 1
		case l.null:
			setNull(out, i)
		}
	}
	return nil
}

// batchLike is the batch function of LIKE, with a kernel for a constant pattern.
func batchLike(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	p := n.aux.(*likePattern)
	if p.compiled == nil {
		return evalRows(ctx, n, b, out)
	}
	v, scratch, err := ctx.operandOver(n.args[0], b, live(b))
	if err != nil {
		return err
	}
	defer ctx.release(scratch)
	if v.Type.Kind() != types.KindString {
		return evalRows(ctx, n, b, out)
	}
	shape(out, &n.typ, b.Len)
	for _, i := range live(b) {
		out.N[i] = 0
		if v.IsNull(int(i)) {
			setNull(out, i)
			continue
		}
		x := v.Value(int(i))
		hit, err := p.compiled.Match(x.B, ctx.Poll)
		if err != nil {
			return err
		}
		if hit {
			out.N[i] = 1
		}
	}
	return nil
}
