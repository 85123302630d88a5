package expr

import (
	"github.com/pandodb/pando/types"
)

// foldBytesMax bounds the length of a text that folding puts into a plan: REPEAT('x', 1000000) stays a call.
const foldBytesMax = 4 << 10

// quietCtx returns a context for evaluation while building. It has its own diagnostics area: warnings can be counted there and do not reach
// the statement's.
func (b *BuildContext) quietCtx() *Ctx {
	c := new(types.Context)
	if b != nil && b.Ctx != nil {
		c.SQLMode, c.Loc, c.Now, c.DivPrecisionIncrement, c.Locale = b.Ctx.SQLMode, b.Ctx.Loc, b.Ctx.Now, b.Ctx.DivPrecisionIncrement, b.Ctx.Locale
	}
	ctx := NewCtx(c)
	if b != nil {
		c.Poll, c.Grow = b.Poll, b.Grow
		ctx.Poll, ctx.Grow = b.Poll, b.Grow
	}
	return ctx
}

// fold replaces a call over constants by its value (invariant 8). It fails only if the statement has to end.
func fold(b *BuildContext, n *Node) (Expr, error) {
	if n.kind != kindCall || n.flags != 0 || b != nil && b.NoFold || isRow(n) {
		return n, nil
	}
	for _, a := range n.args {
		b.visit(1)
		if a.kind != kindConst {
			return n, nil
		}
	}
	ctx := b.quietCtx()
	defer ctx.ResetArena()
	v, err := n.eval(ctx, n, nil)
	if ctx.failed != nil {
		return nil, ctx.failed
	}
	if err != nil && ctx.poll() != nil {
		return nil, ctx.poll()
	}
	if err != nil || ctx.WarningCount() > 0 || len(v.B) > foldBytesMax {
		return n, nil
	}
	c := &Node{kind: kindConst, typ: n.typ, value: v.Clone(), eval: evalConst, batch: batchConst, coer: n.coer,
		ascii: n.ascii, loose: n.loose, digits: n.digits, deep: n.deep, mixed: n.mixed, notNull: n.notNull && !v.IsNull(), aux: &folded{n}}
	if v.IsString() && !c.ascii {
		c.ascii = isASCII(v.B)
	}
	return c, nil
}

// folded is the aux of a constant that was computed from a call, which String prints.
type folded struct{ from *Node }

// foldHidden is fold for a conversion that is not in the SQL text. If the statement has to end it returns n: the call around n fails then.
func foldHidden(b *BuildContext, n *Node) Expr {
	if e, err := fold(b, n); err == nil {
		return e
	}
	return n
}
