package plan

import "github.com/pandodb/pando/syntax"

// walkSyntax calls visit for e and the expressions below it, parents first, but not inside subqueries, which are blocks of their
// own. visit returns false to skip what is below.
func walkSyntax(e syntax.Expr, visit func(syntax.Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, child := range children(e) {
		walkSyntax(child, visit)
	}
}

// children lists the operands of an expression; elements may be nil.
func children(e syntax.Expr) []syntax.Expr {
	switch e := e.(type) {
	case *syntax.Paren:
		return []syntax.Expr{e.X}
	case *syntax.UserVariable:
		return []syntax.Expr{e.Value}
	case *syntax.Unary:
		return []syntax.Expr{e.X}
	case *syntax.Binary:
		return []syntax.Expr{e.L, e.R}
	case *syntax.QuantCompare:
		return []syntax.Expr{e.L}
	case *syntax.IsTest:
		return []syntax.Expr{e.X}
	case *syntax.In:
		return append([]syntax.Expr{e.X}, e.List...)
	case *syntax.Between:
		return []syntax.Expr{e.X, e.Lo, e.Hi}
	case *syntax.Like:
		return []syntax.Expr{e.X, e.Pattern, e.Escape}
	case *syntax.Regexp:
		return []syntax.Expr{e.X, e.Pattern}
	case *syntax.Case:
		list := []syntax.Expr{e.Operand, e.Else}
		for _, when := range e.Whens {
			list = append(list, when.Cond, when.Then)
		}
		return list
	case *syntax.Cast:
		return []syntax.Expr{e.X}
	case *syntax.ConvertUsing:
		return []syntax.Expr{e.X}
	case *syntax.Collate:
		return []syntax.Expr{e.X}
	case *syntax.Interval:
		return []syntax.Expr{e.Value}
	case *syntax.FuncCall:
		return e.Args
	case *syntax.Trim:
		return []syntax.Expr{e.Remove, e.X}
	case *syntax.WeightString:
		return []syntax.Expr{e.X}
	case *syntax.JSONValue:
		return []syntax.Expr{e.Doc, e.Path}
	case *syntax.AggCall:
		return e.Args
	case *syntax.WindowCall:
		return e.Args
	case *syntax.Row:
		return e.Elems
	case *syntax.Match:
		return append(append([]syntax.Expr{}, e.Columns...), e.Against)
	}
	return nil
}

// tablesIn calls visit for every table that a query names, also in its subqueries and derived tables.
func tablesIn(body syntax.QueryBody, visit func(*syntax.TableRef)) {
	inExpr := func(e syntax.Expr) {
		walkSyntax(e, func(e syntax.Expr) bool {
			switch e := e.(type) {
			case *syntax.Subquery:
				tablesIn(e.Query, visit)
			case *syntax.Exists:
				tablesIn(e.Query.Query, visit)
			case *syntax.In:
				if e.Query != nil {
					tablesIn(e.Query.Query, visit)
				}
			case *syntax.QuantCompare:
				tablesIn(e.Query.Query, visit)
			}
			return true
		})
	}
	var inFrom func(t syntax.TableExpr)
	inFrom = func(t syntax.TableExpr) {
		switch t := t.(type) {
		case *syntax.TableRef:
			visit(t)
		case *syntax.ParenTable:
			inFrom(t.Inner)
		case *syntax.DerivedTable:
			tablesIn(t.Query, visit)
		case *syntax.JSONTable:
			inExpr(t.Doc)
		case *syntax.Join:
			inFrom(t.Left)
			inFrom(t.Right)
			inExpr(t.On)
		}
	}
	switch body := body.(type) {
	case *syntax.Query:
		if body.With != nil {
			for i := range body.With.CTEs {
				tablesIn(body.With.CTEs[i].Query, visit)
			}
		}
		tablesIn(body.Body, visit)
		for _, o := range body.OrderBy {
			inExpr(o.Expr)
		}
	case *syntax.SetOp:
		tablesIn(body.Left, visit)
		tablesIn(body.Right, visit)
	case *syntax.TableQuery:
		visit(&syntax.TableRef{Schema: body.Name.Schema, Name: body.Name.Name})
	case *syntax.Select:
		for i := range body.Items {
			inExpr(body.Items[i].Expr)
		}
		inFrom(body.From)
		inExpr(body.Where)
		for _, g := range body.GroupBy {
			inExpr(g.Expr)
		}
		inExpr(body.Having)
	}
}
