package plan

import (
	"slices"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// setOperation resolves UNION, INTERSECT or EXCEPT. The columns have the names of the first operand and types that hold both sides' values.
func (b *builder) setOperation(op *syntax.SetOp, around *scope) (*result, error) {
	for _, operand := range []syntax.QueryBody{op.Left, op.Right} {
		if q, ok := operand.(*syntax.Query); ok && q.Limit == nil {
			b.orderIdle(q)
		}
		b.keepOperand(operand)
	}
	left, err := b.body(op.Left, around)
	if err != nil {
		return nil, err
	}
	right, err := b.body(op.Right, around)
	if err != nil {
		return nil, err
	}
	return b.combine(op, left, right)
}

// combine makes a set operation of two resolved operands.
func (b *builder) combine(op *syntax.SetOp, left, right *result) (*result, error) {
	if len(left.cols) != len(right.cols) {
		return nil, types.Errorf(types.ErWrongNumberOfColumnsInSelect)
	}
	kind := setUnion
	switch op.Op {
	case syntax.Intersect:
		kind = setIntersect
	case syntax.Except:
		kind = setExcept
	}
	s := &setOp{kind: kind, all: op.Quant == syntax.DistinctAll, first: b.newIDs(len(left.cols))}
	l, r := branch{input: left.rel}, branch{input: right.rel}
	out := &result{rel: s}
	for i := range left.cols {
		both, t, coer, err := expr.Unify(b.env.Build, left.cols[i].value(), right.cols[i].value())
		if err != nil {
			return nil, err
		}
		for _, operand := range []*result{left, right} {
			if err := readable(&t, operand.rel, operand.cols[i].id); err != nil {
				return nil, err
			}
		}
		x, y := both[0], both[1]
		l.exprs, r.exprs = append(l.exprs, x), append(r.exprs, y)
		s.out = append(s.out, t)
		info := left.cols[i].info
		info.Type = t
		info.Schema, info.Table, info.OrgTable, info.OrgName = "", "", "", info.Name
		info.PriKey, info.UniqueKey, info.MultipleKey, info.AutoInc = false, false, false, false
		info.NotNull = info.NotNull && right.cols[i].info.NotNull
		out.cols = append(out.cols, column{id: s.first + i, info: info, coer: coer})
		b.combined[s.first+i] = true
	}
	s.branches = []branch{l, r}
	return out, nil
}

// constant is an expression without columns that a column consists of, and the block that has it in its select list.
type constant struct {
	e     expr.Expr
	block rel
}

// constantsOf appends the constants that column id of r consists of: those of each operand of a set operation, but of EXCEPT and INTERSECT only the
// first one's, because the others' rows are not in the result.
func constantsOf(r rel, id int, to []constant) []constant {
	add := func(e expr.Expr) {
		if e.Flags()&expr.FlagColumn == 0 {
			to = append(to, constant{e, r})
		}
	}
	switch r := r.(type) {
	case *extend:
		for i := range r.cols {
			if r.cols[i].id == id {
				add(r.cols[i].e)
				return to
			}
		}
		return constantsOf(r.input, id, to)
	case *setOp:
		branches := r.branches
		if r.kind != setUnion {
			branches = branches[:1]
		}
		for i := range branches {
			at := id - r.first
			if at < 0 || at >= len(branches[i].exprs) {
				return to
			}
			if from, ok := branches[i].exprs[at].ColumnIndex(); ok {
				to = constantsOf(branches[i].input, from, to)
			} else {
				add(branches[i].exprs[at])
			}
		}
	case *valuesRel:
		for _, row := range r.rows {
			if at := id - r.first; at >= 0 && at < len(row) {
				add(row[at])
			}
		}
	case *filter, *sorted, *limited, *distinct, *window, *aggregate:
		return constantsOf(r.inputs()[0], id, to)
	}
	return to
}

// readable returns error 3854 if a constant that column id of r consists of cannot be converted to the text type t, whether r has rows or not.
func readable(t *types.Type, r rel, id int) error {
	for _, k := range constantsOf(r, id, nil) {
		if err := expr.Readable(t, k.e); err != nil {
			return err
		}
	}
	return nil
}

// valuesRows resolves VALUES ROW(…), ROW(…), whose columns are called column_0, column_1 and so on.
func (b *builder) valuesRows(v *syntax.ValuesRows, around *scope) (*result, error) {
	bind := &binder{env: b.env, build: b, scope: &scope{parent: around}, clause: fieldListClause}
	width := len(v.Rows[0])
	if width == 0 {
		return nil, types.Errorf(types.ErValuesWithoutColumns)
	}
	rows := make([][]expr.Expr, len(v.Rows))
	for i, row := range v.Rows {
		if len(row) != width {
			return nil, types.Errorf(types.ErWrongValueCountOnRow, i+1)
		}
		bound, err := bind.all(row)
		if err != nil {
			return nil, err
		}
		rows[i] = bound
	}
	r := &valuesRel{rows: rows, first: b.newIDs(width)}
	out := &result{rel: r}
	for c := range width {
		list := make([]expr.Expr, len(rows))
		for i := range rows {
			list[i] = rows[i][c]
		}
		list, t, coer, err := expr.Unify(b.env.Build, list...)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i][c] = list[i]
		}
		r.out = append(r.out, t)
		info := itemColumn("column_"+itoa(c), t)
		info.NotNull = !slices.ContainsFunc(list, expr.Expr.MayBeNull)
		out.cols = append(out.cols, column{id: r.first + c, info: info, coer: coer})
		b.combined[r.first+c] = true
	}
	return out, nil
}
