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
		if len(e.OrderBy) == 0 && e.Over == nil {
			return e.Args
		}
		list := append(e.Args[:len(e.Args):len(e.Args)], overExprs(e.Over)...)
		for i := range e.OrderBy {
			list = append(list, e.OrderBy[i].Expr)
		}
		return list
	case *syntax.WindowCall:
		return append(e.Args[:len(e.Args):len(e.Args)], overExprs(e.Over)...)
	case *syntax.Row:
		return e.Elems
	case *syntax.Match:
		return append(append([]syntax.Expr{}, e.Columns...), e.Against)
	}
	return nil
}

// overExprs lists the expressions of OVER (…).
func overExprs(over *syntax.Over) []syntax.Expr {
	if over == nil || over.Spec == nil {
		return nil
	}
	return specExprs(over.Spec)
}

// specExprs lists the expressions of a window.
func specExprs(w *syntax.WindowSpec) []syntax.Expr {
	list := w.PartitionBy[:len(w.PartitionBy):len(w.PartitionBy)]
	for i := range w.OrderBy {
		list = append(list, w.OrderBy[i].Expr)
	}
	if w.Frame != nil {
		list = append(list, w.Frame.Start.Value)
		if w.Frame.End != nil {
			list = append(list, w.Frame.End.Value)
		}
	}
	return list
}

// references counts how often a query reads a table of an unqualified name, anywhere in it. Where a WITH clause defines a CTE of that name, the name
// means that CTE and does not count.
func references(body syntax.QueryBody, name string) int {
	c := refCounter{name: name}
	c.body(body)
	return c.n
}

// directReferences counts those of the references that are in the FROM clause of a query block of body itself, and not in a subquery, derived table
// or CTE.
func directReferences(body syntax.QueryBody, name string) int {
	switch body := body.(type) {
	case *syntax.Query:
		if body.With == nil {
			return directReferences(body.Body, name)
		}
		c := refCounter{name: name}
		if !c.with(body.With) {
			return directReferences(body.Body, name)
		}
	case *syntax.SetOp:
		return directReferences(body.Left, name) + directReferences(body.Right, name)
	case *syntax.Select:
		c := refCounter{name: name, direct: true}
		c.from(body.From)
		return c.n
	case *syntax.TableQuery:
		return references(body, name)
	}
	return 0
}

// refCounter counts references to a table.
type refCounter struct {
	name   string
	direct bool // only those in FROM itself
	n      int
	names  map[string]bool // if not nil, the names of all tables are collected
}

// tableNames are the unqualified names of tables anywhere in a query.
func tableNames(body syntax.QueryBody) map[string]bool {
	c := refCounter{names: map[string]bool{}}
	c.body(body)
	return c.names
}

func (c *refCounter) body(body syntax.QueryBody) {
	switch body := body.(type) {
	case *syntax.Query:
		if c.with(body.With) {
			return
		}
		c.body(body.Body)
		c.items(body.OrderBy)
	case *syntax.SetOp:
		c.body(body.Left)
		c.body(body.Right)
	case *syntax.TableQuery:
		c.table(body.Name.Schema, body.Name.Name)
	case *syntax.ValuesRows:
		for _, row := range body.Rows {
			c.exprs(row)
		}
	case *syntax.Select:
		for i := range body.Items {
			c.expr(body.Items[i].Expr)
		}
		c.from(body.From)
		c.expr(body.Where)
		c.items(body.GroupBy)
		c.expr(body.Having)
		for i := range body.Windows {
			c.exprs(specExprs(&body.Windows[i].Spec))
		}
	}
}

// with counts in the CTEs of a WITH clause, and reports whether one of them has the name, which then means that CTE in the rest of the query.
func (c *refCounter) with(w *syntax.With) (hides bool) {
	if w == nil {
		return false
	}
	for i := range w.CTEs {
		hides = w.CTEs[i].Name.Name == c.name
		if !hides || !w.Recursive {
			c.body(w.CTEs[i].Query)
		}
		if hides {
			break
		}
	}
	return hides
}

func (c *refCounter) table(schema, name string) {
	if schema != "" {
		return
	}
	if c.names != nil {
		c.names[name] = true
	}
	if name == c.name {
		c.n++
	}
}

func (c *refCounter) from(t syntax.TableExpr) {
	switch t := t.(type) {
	case *syntax.TableRef:
		c.table(t.Schema, t.Name)
	case *syntax.ParenTable:
		c.from(t.Inner)
	case *syntax.DerivedTable:
		if !c.direct {
			c.body(t.Query)
		}
	case *syntax.JSONTable:
		c.expr(t.Doc)
	case *syntax.Join:
		c.from(t.Left)
		c.from(t.Right)
		c.expr(t.On)
	}
}

func (c *refCounter) items(list []syntax.OrderItem) {
	for i := range list {
		c.expr(list[i].Expr)
	}
}

func (c *refCounter) exprs(list []syntax.Expr) {
	for _, e := range list {
		c.expr(e)
	}
}

func (c *refCounter) expr(e syntax.Expr) {
	if c.direct {
		return
	}
	walkSyntax(e, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Subquery:
			c.body(e.Query)
		case *syntax.Exists:
			c.body(e.Query.Query)
		case *syntax.In:
			if e.Query != nil {
				c.body(e.Query.Query)
			}
		case *syntax.QuantCompare:
			c.body(e.Query.Query)
		}
		return true
	})
}
