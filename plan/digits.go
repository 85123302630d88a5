package plan

import (
	"slices"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
)

// Digits of an AVG beyond the scale of its type. MySQL rounds one where its rows are stored for a derived table, a set operation or a window function, and
// where it is shown. Elsewhere expressions see all digits: within the block the AVG is the quotient of a sum and a number (expr.Average), and a block whose
// rows are the values of a subquery in an expression, of INSERT or of variables has columns with all digits (block.digits, column.shown).

// keepDigits notes that the columns of a query have all digits, if it is a block.
func (b *builder) keepDigits(q *syntax.Query) {
	for {
		switch body := withoutParens(q).Body.(type) {
		case *syntax.Query:
			q = body
			continue
		case *syntax.Select:
			b.keepBlock(body)
		}
		return
	}
}

func (b *builder) keepBlock(sel *syntax.Select) {
	if b.digits == nil {
		b.digits = map[*syntax.Select]bool{}
	}
	b.digits[sel] = true
}

// keepOperand is keepDigits for an operand of a set operation, whose columns may have a larger scale.
func (b *builder) keepOperand(body syntax.QueryBody) {
	switch body := body.(type) {
	case *syntax.Query:
		b.keepDigits(body)
	case *syntax.Select:
		b.keepBlock(body)
	}
}

// value is the column as MySQL says its type.
func (c *column) value() expr.Expr { return c.shownOf(c.expr()) }

// shownOf is e, which has the column's type, as MySQL says its type.
func (c *column) shownOf(e expr.Expr) expr.Expr {
	if c.shown == nil {
		return e
	}
	return expr.Shown(e, *c.shown)
}

// rounded are a result's columns rounded to the scales that MySQL says, as those of a table of its.
func (b *builder) rounded(r *result) {
	var made []computed
	for i := range r.cols {
		c := &r.cols[i]
		if c.shown == nil {
			continue
		}
		id := b.newID()
		made = append(made, computed{id, expr.Rounded(c.expr(), *c.shown)})
		c.id, c.info.Type, c.shown = id, *c.shown, nil
	}
	if len(made) > 0 {
		r.rel = &extend{r.rel, made}
	}
}

// hashedIn reports whether MySQL would look operands of IN up among the stored rows of the subquery, which are rounded: the subquery reads nothing of
// the row, and an operand does.
func hashedIn(left []expr.Expr, r *result) bool {
	reads := func(e expr.Expr) bool { return e.Flags()&expr.FlagColumn != 0 }
	return slices.ContainsFunc(left, reads) && len(free(r.rel)) == 0
}

// aggregateOf adds an aggregate to the block that owns it and returns its value. whole says that it is an element of the select list or of ORDER BY by
// itself.
func (blk *block) aggregateOf(spec *expr.AggSpec, whole bool) (expr.Expr, error) {
	switch {
	case !spec.IsLoose() || whole && !blk.digits || blk.storesGroups():
		return blk.addAggregate(spec)
	case spec.Name() == "avg" && !whole:
		return blk.average(spec)
	}
	wide, err := blk.withDigits(spec, spec.Name(), spec.Args())
	if err != nil {
		return nil, err
	}
	column, err := blk.addAggregate(wide)
	if err != nil || whole {
		return column, err
	}
	return expr.Shown(column, spec.Shown()), nil
}

func (blk *block) withDigits(spec *expr.AggSpec, name string, args []expr.Expr) (*expr.AggSpec, error) {
	return expr.NewAgg(blk.b.env.Build, name, spec.Distinct(), args, expr.AggOptions{Digits: true})
}

// average is an AVG with all its digits: the quotient of a sum and a number.
func (blk *block) average(spec *expr.AggSpec) (expr.Expr, error) {
	var parts [2]expr.Expr
	for i, name := range []string{"sum", "count"} {
		part, err := blk.withDigits(spec, name, spec.Args())
		if err != nil {
			return nil, err
		}
		if parts[i], err = blk.addAggregate(part); err != nil {
			return nil, err
		}
	}
	return expr.Average(blk.b.env.Build, spec, parts[0], parts[1]), nil
}

// storesGroups reports whether MySQL stores the groups of the block, whose aggregates are rounded then, before it computes what is being bound: for window
// functions, and to order the rows of WITH ROLLUP or to find equal ones. HAVING comes before that.
func (blk *block) storesGroups() bool {
	if len(blk.sel.GroupBy) == 0 || blk.clause == havingClause {
		return false
	}
	if blk.rollup && (len(blk.query.OrderBy) > 0 || blk.sel.Distinct == syntax.Distinct) {
		return true
	}
	windows := func(e syntax.Expr) bool { return e != nil && containsWindow(e) }
	return slices.ContainsFunc(blk.items, func(it *item) bool { return it.syntax != nil && windows(it.syntax.Expr) }) ||
		slices.ContainsFunc(blk.query.OrderBy, func(o syntax.OrderItem) bool { return windows(o.Expr) })
}

// showItem notes the type of an element of the select list without the digits that only its column has, after giving it that column if it has to be
// computed.
func (blk *block) showItem(it *item) {
	if !blk.digits {
		return
	}
	shown := it.bound.Type()
	if id, column := it.bound.ColumnIndex(); column && blk.aggOf[id] != nil {
		shown = blk.aggOf[id].Shown()
	} else {
		it.bound = expr.Digits(it.bound)
	}
	if t := it.bound.Type(); !t.Equal(&shown) {
		it.shown = &shown
	}
}

// exactAlias is what HAVING sees of an element of the select list that it names: all digits; nil if these are no more than those of its column.
func (blk *block) exactAlias(it *item, inner bool) (expr.Expr, error) {
	id, column := it.bound.ColumnIndex()
	switch {
	case it.shown != nil:
		return expr.Shown(it.ref(), *it.shown), nil
	case column && blk.aggOf[id] != nil && blk.aggOf[id].IsLoose():
		return blk.aggregateOf(blk.aggOf[id], false)
	case !inner && expr.IsLoose(it.bound) && it.bound.IsCall():
		return it.bound, nil
	}
	return nil, nil
}
