package plan

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// In WHERE, column IS NULL finds '0000-00-00' if the column is a DATE or DATETIME that is declared NOT NULL: ODBC has no such date, so that its
// clients get NULL and ask for NULL. MySQL replaces the condition by column = 0; on the inner side of an outer join NULL is found, too. It does so
// for conditions joined by AND, and for columns of tables and of derived tables and views that are materialized; columns of merged ones are not
// replaced. In the query of a view nothing counts as merged, and the view keeps the replacement.

// findsZeroDate reports whether IS NULL finds the zero date in a column of that type that is declared so.
func findsZeroDate(t types.Type, notNull bool) bool {
	return notNull && (t.ID == types.TypeDate || t.ID == types.TypeDatetime)
}

// derivedZeroDate is findsZeroDate for a column of a derived table, a view or a CTE.
func (b *builder) derivedZeroDate(inner *column, merged bool) bool {
	return findsZeroDate(inner.info.Type, inner.info.NotNull) && (!merged || b.freeze || len(b.views) > 0)
}

// mergedQuery reports whether MySQL merges a derived table, a CTE or a view with this query into the query around it instead of materializing it.
func mergedQuery(q *syntax.Query) bool {
	q = withoutParens(q)
	sel, ok := q.Body.(*syntax.Select)
	if !ok || q.Limit != nil || sel.Distinct == syntax.Distinct || len(sel.GroupBy) > 0 || sel.Having != nil || sel.From == nil {
		return false
	}
	for i := range sel.Items {
		if e := sel.Items[i].Expr; containsAggregate(e) || containsWindow(e) || setsVariable(e) {
			return false
		}
	}
	return true
}

// mergeable is mergedQuery for a view, which may have ALGORITHM = TEMPTABLE.
func mergeable(q *syntax.Query, view *catalog.View) bool {
	return view.Algorithm != "TEMPTABLE" && mergedQuery(q)
}

// setsVariable reports whether an expression sets a user variable.
func setsVariable(e syntax.Expr) (found bool) {
	walkSyntax(e, func(n syntax.Expr) bool {
		if v, ok := n.(*syntax.UserVariable); ok {
			found = found || v.Value != nil
		}
		return !found
	})
	return found
}

// nullTest is the operand of a condition that is true where the operand IS NULL; nil for other conditions. not says that the condition is negated.
func nullTest(c expr.Expr, not bool) expr.Expr {
	switch {
	case c.IsCall("not"):
		return nullTest(c.Args()[0], !not)
	case !not && c.IsCall("is null"), not && c.IsCall("is not null"):
		return c.Args()[0]
	}
	return nil
}

// zeroDates replaces conditions that ask for NULL by ones that find the zero date.
func (b *binder) zeroDates(conds []expr.Expr) ([]expr.Expr, error) {
	for i, c := range conds {
		operand := nullTest(c, false)
		if operand == nil {
			continue
		}
		id, ok := operand.ColumnIndex()
		if !ok {
			continue
		}
		column := b.zeroDateColumn(id)
		if column == nil {
			continue
		}
		zero := types.Date(0)
		if column.info.Type.ID == types.TypeDatetime {
			zero = types.Datetime(0, uint8(max(column.info.Type.Scale, 0)))
		}
		found, err := b.call("=", operand, expr.Const(zero, column.info.Type))
		if err == nil && !column.info.NotNull {
			found, err = b.call("or", found, c)
		}
		if err != nil {
			return nil, err
		}
		conds[i] = found
	}
	return conds, nil
}

// zeroDateColumn is the column of an id, if IS NULL finds the zero date in it. A column of an outer query counts only while names there mean columns
// of its tables (readsTables).
func (b *binder) zeroDateColumn(id int) *column {
	for s := b.scope; s != nil; s = s.parent {
		for i := range s.columns {
			if s.columns[i].id != id {
				continue
			}
			if c := &s.columns[i]; c.zeroDate && (s == b.scope || s.block == nil || s.block.readsTables()) {
				return c
			}
			return nil
		}
	}
	return nil
}

// readsTables reports whether names in the clause being bound mean columns of FROM and not what grouping or the select list makes of them.
func (blk *block) readsTables() bool {
	switch blk.clause {
	case havingClause:
		return false
	case fieldListClause, orderClause:
		return len(blk.sel.GroupBy) == 0
	}
	return true
}

// noteZeroDates remembers, for the text of a view, the conditions that zeroDates replaces. joined says that FROM has several tables: NULL is then
// looked for as well.
func (b *binder) noteZeroDates(e syntax.Expr, joined bool) {
	e = unparen(e)
	if and, ok := e.(*syntax.Binary); ok && and.Op == syntax.OpAnd {
		b.noteZeroDates(and.L, joined)
		b.noteZeroDates(and.R, joined)
		return
	}
	ref, ok := unparen(nullTested(e, false)).(*syntax.ColumnRef)
	if !ok {
		return
	}
	if c, known := b.build.shown.columns[ref]; known && c.zeroDate {
		b.build.shown.zeroDates[e] = zeroDateTest{ref, joined}
	}
}

// zeroDateTest is what the text of a view has in the place of column IS NULL.
type zeroDateTest struct {
	column *syntax.ColumnRef
	orNull bool
}

// nullTested is nullTest over syntax.
func nullTested(e syntax.Expr, not bool) syntax.Expr {
	switch e := unparen(e).(type) {
	case *syntax.Unary:
		if e.Op == syntax.OpNot || e.Op == syntax.OpBang {
			return nullTested(e.X, !not)
		}
	case *syntax.IsTest:
		if e.Not == not && (e.Test == syntax.IsNull || e.Test == syntax.IsUnknown) {
			return e.X
		}
	case *syntax.FuncCall:
		if !not && len(e.Args) == 1 && strings.EqualFold(e.Name, "isnull") {
			return e.Args[0]
		}
	}
	return nil
}

// zeroDate writes such a test.
func (p *clausePrinter) zeroDate(t zeroDateTest) {
	equal := &syntax.Binary{Op: syntax.OpEq, L: t.column, R: &syntax.Literal{Kind: syntax.LitInt, Value: "0"}}
	if !t.orNull {
		p.expr(equal)
		return
	}
	p.expr(&syntax.Binary{Op: syntax.OpOr, L: equal, R: &syntax.IsTest{X: t.column, Test: syntax.IsNull}})
}
