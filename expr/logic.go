package expr

import (
	"strings"
	"sync/atomic"

	"github.com/pandodb/pando/types"
)

func buildAnd(b *BuildContext, n *Node) error { return buildJunction(b, n, evalAnd) }

func buildOr(b *BuildContext, n *Node) error { return buildJunction(b, n, evalOr) }

// buildJunction is AND and OR over any number of arguments; nested ones of the same kind are joined into one node.
func buildJunction(b *BuildContext, n *Node, eval evalFunc) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	var flat []Expr
	n.notNull = true
	for i, a := range n.args {
		n.notNull = n.notNull && a.notNull
		switch {
		case !a.IsCall(n.name):
			flat = append(flat, a)
		case i == 0:
			flat = a.extendArgs()
		default:
			b.visit(len(a.args))
			flat = append(flat, a.args...)
		}
	}
	n.args, n.typ, n.eval = flat, boolType(), eval
	n.batch = batchJunction
	if n.name == "and" {
		n.filter = filterAnd
	} else {
		n.filter = filterOr
	}
	return nil
}

// extendArgs returns the arguments of n, to append to. A chain of ORs is built from the left, one argument at a time, and a copy at each step
// would take time and memory quadratic in its length. So the first caller gets the slice with its spare capacity, which n itself never reads;
// for others append makes a copy. It is safe for concurrent use.
func (n *Node) extendArgs() []Expr {
	if atomic.CompareAndSwapUint32(&n.extended, 0, 1) {
		return n.args
	}
	return n.args[:len(n.args):len(n.args)]
}

func evalAnd(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	result := triTrue
	for _, a := range n.args {
		if err := ctx.steps(1); err != nil {
			return types.Null(), err
		}
		t, err := ctx.test(a, row)
		if err != nil {
			return types.Null(), err
		}
		if t == triFalse {
			return types.Int(0), nil
		}
		if t == triNull {
			result = triNull
		}
	}
	return result.value(), nil
}

func evalOr(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	result := triFalse
	for _, a := range n.args {
		if err := ctx.steps(1); err != nil {
			return types.Null(), err
		}
		t, err := ctx.test(a, row)
		if err != nil {
			return types.Null(), err
		}
		if t == triTrue {
			return types.Int(1), nil
		}
		if t == triNull {
			result = triNull
		}
	}
	return result.value(), nil
}

func buildXor(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	n.typ, n.notNull = boolType(), n.args[0].notNull && n.args[1].notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		x, err := ctx.test(n.args[0], row)
		if err != nil || x == triNull {
			return types.Null(), err
		}
		y, err := ctx.test(n.args[1], row)
		if err != nil || y == triNull {
			return types.Null(), err
		}
		return types.Bool(x != y), nil
	}
	return nil
}

func buildNot(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	n.typ, n.notNull, n.batch = boolType(), n.args[0].notNull, batchNot
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		t, err := ctx.test(n.args[0], row)
		if err != nil || t == triNull {
			return types.Null(), err
		}
		return types.Bool(t == triFalse), nil
	}
	return nil
}

// buildNegated builds "not in", "not like" and so on as NOT over the positive operator, so that the planner need not know them.
func buildNegated(b *BuildContext, n *Node) error {
	positive, err := Call(b, strings.TrimPrefix(n.name, "not "), n.args...)
	if err != nil {
		return err
	}
	not, err := Call(b, "not", positive)
	if err != nil {
		return err
	}
	*n = *not
	return nil
}

// truthTests says which of the three truth values make IS [NOT] TRUE and IS [NOT] FALSE true.
var truthTests = map[string][3]bool{
	"is true": {triTrue: true}, "is not true": {triFalse: true, triNull: true},
	"is false": {triFalse: true}, "is not false": {triTrue: true, triNull: true},
}

func buildTruthTest(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	n.typ, n.notNull = boolType(), true
	n.aux = truthTests[n.name]
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		t, err := ctx.test(n.args[0], row)
		return types.Bool(n.aux.([3]bool)[t]), err
	}
	return nil
}

func buildIsNull(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.name = strings.Replace(strings.Replace(n.name, "unknown", "null", 1), "isnull", "is null", 1)
	n.typ, n.notNull, n.batch = boolType(), true, batchIsNull
	negate := n.name == "is not null"
	n.eval = evalIsNull
	if negate {
		n.eval = evalIsNotNull
		return nil
	}
	// MySQL does not evaluate a constant that cannot be NULL, and so hides its error. IS NOT NULL evaluates it.
	if x := n.args[0]; x.kind == kindCall && x.flags == 0 && x.notNull {
		if _, err := x.Eval(b.quietCtx(), nil); err != nil {
			n.eval, n.batch = evalNever, nil
		}
	}
	return nil
}

func evalNever(*Ctx, *Node, []types.Value) (types.Value, error) { return types.Int(0), nil }

func evalIsNull(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	return types.Bool(v.K == types.KindNull), err
}

func evalIsNotNull(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	return types.Bool(v.K != types.KindNull), err
}
