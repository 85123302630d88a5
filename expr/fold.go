package expr

import (
	"github.com/pandodb/pando/types"
)

// foldBytesMax bounds the text that folding may keep in a plan: REPEAT('x', 1000000) stays a call.
const foldBytesMax = 4 << 10

// quietCtx returns a context for evaluation while building. It has a diagnostics area of its own, so that what happens there can
// be seen and is then forgotten.
func (b *BuildContext) quietCtx() *Ctx {
	c := new(types.Context)
	if b != nil && b.Ctx != nil {
		c.SQLMode, c.Loc, c.Now, c.DivPrecisionIncrement = b.Ctx.SQLMode, b.Ctx.Loc, b.Ctx.Now, b.Ctx.DivPrecisionIncrement
	}
	return NewCtx(c)
}

// fold replaces a call over constants by its value (invariant 8).
func fold(b *BuildContext, n *Node) Expr {
	if n.kind != kindCall || n.flags != 0 || b != nil && b.NoFold || isRow(n) {
		return n
	}
	for _, a := range n.args {
		if a.kind != kindConst {
			return n
		}
	}
	ctx := b.quietCtx()
	v, err := n.eval(ctx, n, nil)
	if err != nil || ctx.WarningCount() > 0 || len(v.B) > foldBytesMax {
		return n
	}
	c := &Node{kind: kindConst, typ: n.typ, value: v.Clone(), eval: evalConst, batch: batchConst, coer: n.coer,
		ascii: n.ascii, loose: n.loose, notNull: !v.IsNull(), aux: &folded{n}}
	if v.IsString() && !c.ascii {
		c.ascii = isASCII(v.B)
	}
	return c
}

// folded remembers the call that a constant was computed from, for its text.
type folded struct{ from *Node }
