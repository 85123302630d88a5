package expr

import (
	"github.com/pandodb/pando/types"
)

// A row constructor (a, b, …) exists only as an operand of comparisons, IN and BETWEEN; it has no value of its own.

func isRow(e Expr) bool { return e.IsCall("row") }

// operandColumns returns error 1241: the other operand should have as many columns as e.
func operandColumns(e Expr) error {
	if isRow(e) {
		return types.Errorf(types.ErOperandColumns, len(e.args))
	}
	return types.Errorf(types.ErOperandColumns, 1)
}

// rejectRows fails with 1241 if an argument is a row.
func rejectRows(args []Expr) error {
	for _, a := range args {
		if isRow(a) {
			return types.Errorf(types.ErOperandColumns, 1)
		}
	}
	return nil
}

func buildRow(b *BuildContext, n *Node) error {
	n.typ = types.Type{ID: types.TypeNull}
	n.eval = func(_ *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		return types.Null(), types.Errorf(types.ErOperandColumns, 1)
	}
	return nil
}

// sameShape checks that two operands have the same number of columns.
func sameShape(x, y Expr) error {
	if isRow(x) && isRow(y) && len(x.args) == len(y.args) {
		return nil
	}
	return operandColumns(x)
}

// buildRowCompare rewrites a comparison of rows into comparisons of their columns, which the planner can use: equality with AND, inequality
// with OR. <, <=, > and >= keep a node of their own, because rewritten they would evaluate operands repeatedly.
func buildRowCompare(b *BuildContext, n *Node) error {
	x, y := n.args[0], n.args[1]
	if err := sameShape(x, y); err != nil {
		return err
	}
	join := ""
	switch n.name {
	case "=", "<=>":
		join = "and"
	case "<>":
		join = "or"
	}
	if join == "" {
		return buildRowOrder(b, n)
	}
	parts := make([]Expr, len(x.args))
	for i := range parts {
		p, err := Call(b, n.name, x.args[i], y.args[i])
		if err != nil {
			return err
		}
		parts[i] = p
	}
	var whole Expr
	if len(parts) == 1 {
		whole = parts[0]
	} else {
		j, err := Call(b, join, parts...)
		if err != nil {
			return err
		}
		whole = j
	}
	*n = *whole
	return nil
}

// rowOrder compares rows column by column; the first difference decides.
type rowOrder struct {
	parts []*comparator
	mask  uint8
}

func buildRowOrder(b *BuildContext, n *Node) error {
	x, y := n.args[0], n.args[1]
	r := &rowOrder{mask: compareMasks[n.name]}
	xs, ys := make([]Expr, len(x.args)), make([]Expr, len(x.args))
	for i := range x.args {
		c, l, rr, err := b.comparatorOf(n.name, x.args[i], y.args[i], true)
		if err != nil {
			return err
		}
		r.parts, xs[i], ys[i] = append(r.parts, c), l, rr
	}
	nx, ny := newCall("row", xs), newCall("row", ys)
	nx.eval, ny.eval = x.eval, y.eval
	n.args = []Expr{nx, ny}
	n.aux, n.typ, n.eval = r, boolType(), evalRowOrder
	return nil
}

func evalRowOrder(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	r := n.aux.(*rowOrder)
	for i, c := range r.parts {
		l, rr := n.args[0].args[i], n.args[1].args[i]
		x, err := l.eval(ctx, l, row)
		if err != nil || x.IsNull() {
			return types.Null(), err
		}
		y, err := rr.eval(ctx, rr, row)
		if err != nil || y.IsNull() {
			return types.Null(), err
		}
		order, ok := c.compare(ctx, &x, &y)
		if !ok {
			return types.Null(), nil
		}
		if order != 0 {
			return types.Bool(r.mask>>uint(order+1)&1 != 0), nil
		}
	}
	return types.Bool(r.mask&maskEqual != 0), nil
}
