package plan

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/syntax"
)

// viewNames are what a view's names mean, for clausePrinter: each column is written with its table.
type viewNames struct {
	// columns are those that names have been found to mean. A name that is missing means an element of the select list.
	columns map[*syntax.ColumnRef]column
	// bare is the schema whose name is left out; empty writes all.
	bare string
	// aliased are the aliases of tables; columns are written with these and without a schema.
	aliased map[string]bool
	// joined are the pairs of columns that USING and NATURAL compare.
	joined map[*syntax.Join][][2]column
	// zeroDates are the conditions of WHERE that find zero dates.
	zeroDates map[syntax.Expr]zeroDateTest
	// items is the select list of the query being written.
	items []syntax.SelectItem
	// nested is how deep in expressions the query being written stands: there aliases that repeat a column's own name are left out.
	nested int
}

// noteColumn remembers what a name means.
func (b *builder) noteColumn(ref *syntax.ColumnRef, c *column) {
	if b.shown != nil && c != nil {
		b.shown.columns[ref] = *c
	}
}

// viewColumn writes a column's name.
func (p *clausePrinter) viewColumn(e *syntax.ColumnRef) {
	c, known := p.view.columns[e]
	if !known {
		if e.Table != "" {
			p.text(catalog.QuoteIdent(e.Table) + ".")
		}
		p.text(catalog.QuoteIdent(e.Column))
		return
	}
	if c.table != "" {
		if c.schema != "" && c.schema != p.view.bare && !p.view.aliased[c.table] {
			p.text(catalog.QuoteIdent(c.schema) + ".")
		}
		p.text(catalog.QuoteIdent(c.table) + ".")
	}
	p.text(catalog.QuoteIdent(c.info.Name))
}

// viewExpr writes the expressions that CHECK constraints cannot have; false for all others.
func (p *clausePrinter) viewExpr(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Subquery:
		p.nestedQuery(e.Query)
	case *syntax.Exists:
		p.text("exists")
		p.nestedQuery(e.Query.Query)
	case *syntax.QuantCompare:
		p.text("(")
		p.expr(e.L)
		p.text(" " + clauseOperators[e.Op] + " " + strings.ToLower(e.Quant))
		p.nestedQuery(e.Query.Query)
		p.text(")")
	case *syntax.AggCall:
		p.aggregate(e)
	case *syntax.WindowCall:
		p.text(strings.ToLower(e.Name))
		p.list(e.Args)
		p.over(e.Over)
	case *syntax.Interval:
		p.text("interval ")
		p.expr(e.Value)
		p.text(" " + strings.ToLower(e.Unit))
	default:
		return false
	}
	return true
}

// nestedQuery writes a query that is an expression.
func (p *clausePrinter) nestedQuery(q *syntax.Query) {
	p.view.nested++
	p.text("(")
	p.query(q)
	p.text(")")
	p.view.nested--
}

func (p *clausePrinter) aggregate(e *syntax.AggCall) {
	p.text(strings.ToLower(e.Name) + "(")
	if e.Distinct {
		p.text("distinct ")
	}
	for i, arg := range e.Args {
		if i > 0 {
			p.text(",")
		}
		if _, star := arg.(*syntax.Star); star {
			p.text("0")
			continue
		}
		p.expr(arg)
	}
	if e.Name == "GROUP_CONCAT" {
		for i, o := range e.OrderBy {
			p.text([2]string{" order by ", ","}[min(i, 1)])
			p.expr(o.Expr)
			if o.Order == syntax.OrderDesc {
				p.text(" DESC")
			} else {
				p.text(" ASC")
			}
		}
		separator := ","
		if e.HasSeparator {
			separator = e.Separator
		}
		p.text(" separator " + syntax.String(&syntax.Literal{Kind: syntax.LitString, Value: separator}))
	}
	p.text(")")
	p.over(e.Over)
}

func (p *clausePrinter) over(o *syntax.Over) {
	switch {
	case o == nil:
	case o.Spec == nil:
		p.text(" OVER " + catalog.QuoteIdent(o.Name))
	default:
		p.text(" OVER (")
		p.window(o.Spec)
		p.text(") ")
	}
}

func (p *clausePrinter) window(w *syntax.WindowSpec) {
	if w.Base != "" {
		p.text(catalog.QuoteIdent(w.Base) + " ")
	}
	for i, e := range w.PartitionBy {
		p.text([2]string{"PARTITION BY ", ","}[min(i, 1)])
		p.expr(e)
	}
	if len(w.PartitionBy) > 0 {
		p.text(" ")
	}
	for i, o := range w.OrderBy {
		p.text([2]string{"ORDER BY ", ","}[min(i, 1)])
		p.expr(o.Expr)
		if o.Order == syntax.OrderDesc {
			p.text(" desc")
		}
	}
	if len(w.OrderBy) > 0 {
		p.text(" ")
	}
	if w.Frame == nil {
		return
	}
	p.text([]string{"ROWS", "RANGE", "GROUPS"}[w.Frame.Unit] + " ")
	end := syntax.FrameBound{Kind: syntax.CurrentRow}
	if w.Frame.End != nil {
		end = *w.Frame.End
	}
	p.text("BETWEEN ")
	p.bound(w.Frame.Start)
	p.text(" AND ")
	p.bound(end)
}

func (p *clausePrinter) bound(f syntax.FrameBound) {
	switch f.Kind {
	case syntax.CurrentRow:
		p.text("CURRENT ROW")
	case syntax.UnboundedPreceding:
		p.text("UNBOUNDED PRECEDING")
	case syntax.UnboundedFollowing:
		p.text("UNBOUNDED FOLLOWING")
	default:
		p.expr(f.Value)
		if f.Kind == syntax.ValuePreceding {
			p.text(" PRECEDING")
		} else {
			p.text(" FOLLOWING")
		}
	}
}

// query writes a query as MySQL keeps that of a view.
func (p *clausePrinter) query(q *syntax.Query) {
	if q.With != nil {
		p.text("with ")
		if q.With.Recursive {
			p.text("recursive ")
		}
		for i := range q.With.CTEs {
			c := &q.With.CTEs[i]
			if i > 0 {
				p.text(",")
			}
			p.text(catalog.QuoteIdent(c.Name.Name))
			for j, name := range c.Columns {
				p.text([2]string{" (", ","}[min(j, 1)] + catalog.QuoteIdent(name.Name))
			}
			if len(c.Columns) > 0 {
				p.text(")")
			}
			p.text(" as (")
			p.query(c.Query)
			p.text(")")
		}
		p.text(" ")
	}
	p.body(q.Body)
	items := p.view.items
	p.view.items = leftmost(q.Body)
	_, union := q.Body.(*syntax.SetOp)
	p.order(" order by ", q.OrderBy, union)
	p.view.items = items
	p.limit(q.Limit)
	for _, l := range q.Locks {
		if l.Kind == syntax.LockForUpdate {
			p.text(" for update")
		} else {
			p.text(" lock in share mode")
		}
	}
}

func (p *clausePrinter) body(b syntax.QueryBody) {
	switch b := b.(type) {
	case *syntax.Select:
		p.block(b)
	case *syntax.SetOp:
		p.body(b.Left)
		p.text(" " + []string{"union", "intersect", "except"}[b.Op] + " ")
		if b.Quant == syntax.DistinctAll {
			p.text("all ")
		}
		p.body(b.Right)
	case *syntax.Query:
		if bare := b.With == nil && b.OrderBy == nil && b.Limit == nil && b.Locks == nil; bare {
			if _, set := b.Body.(*syntax.SetOp); !set {
				p.body(b.Body)
				return
			}
		}
		p.text("(")
		p.query(b)
		p.text(")")
	default:
		p.text(syntax.String(b))
	}
}

func (p *clausePrinter) block(s *syntax.Select) {
	p.text("select ")
	if s.Distinct == syntax.Distinct {
		p.text("distinct ")
	}
	if s.Options&syntax.SelectStraightJoin != 0 {
		p.text("straight_join ")
	}
	if s.Options&syntax.SelectCalcFoundRows != 0 {
		p.text("sql_calc_found_rows ")
	}
	p.aliases(s.From)
	for i := range s.Items {
		it := &s.Items[i]
		if i > 0 {
			p.text(",")
		}
		p.expr(it.Expr)
		if it.HasAlias && !(p.view.nested > 0 && ownName(it)) {
			p.text(" AS " + catalog.QuoteIdent(it.Alias))
		}
	}
	if s.From != nil {
		p.text(" from ")
		p.from(s.From)
	} else if s.Where != nil {
		p.text(" from DUAL ")
	}
	if s.Where != nil {
		p.text(" where ")
		p.where(s.Where)
	}
	p.order(" group by ", s.GroupBy, false)
	if s.WithRollup || s.RollupFunc {
		p.text(" with rollup")
	}
	if s.Having != nil {
		p.text(" having ")
		p.where(s.Having)
	}
	for i := range s.Windows {
		w := &s.Windows[i]
		p.text([2]string{" window ", ","}[min(i, 1)] + catalog.QuoteIdent(w.Name.Name) + " AS (")
		p.window(&w.Spec)
		p.text(") ")
	}
}

// ownName reports whether a column's name is the one that it has without an alias.
func ownName(it *syntax.SelectItem) bool {
	if ref, ok := unparen(it.Expr).(*syntax.ColumnRef); ok {
		return strings.EqualFold(ref.Column, it.Alias)
	}
	plain := strings.NewReplacer(" ", "", "`", "", "\"", "'")
	return strings.EqualFold(plain.Replace(syntax.String(it.Expr)), plain.Replace(it.Alias))
}

// where writes a condition; a value that is no condition is written as (0 <> value).
func (p *clausePrinter) where(e syntax.Expr) {
	e = unparen(e)
	switch x := e.(type) {
	case *syntax.Exists:
		p.expr(x)
		p.text(" is true")
	case *syntax.In, *syntax.QuantCompare, *syntax.Subquery:
		p.expr(e)
	case *syntax.Binary:
		if x.Op == syntax.OpAnd || x.Op == syntax.OpOr || x.Op == syntax.OpXor {
			p.expr(e)
			return
		}
		p.condition(e)
	default:
		p.condition(e)
	}
}

// leftmost is the select list that gives a query's columns their names.
func leftmost(b syntax.QueryBody) []syntax.SelectItem {
	switch b := b.(type) {
	case *syntax.Select:
		return b.Items
	case *syntax.SetOp:
		return leftmost(b.Left)
	case *syntax.Query:
		return leftmost(b.Body)
	}
	return nil
}

// order writes the keys of ORDER BY and GROUP BY. union says that they can only be columns of the result.
func (p *clausePrinter) order(word string, list []syntax.OrderItem, union bool) {
	for i, o := range list {
		if i == 0 {
			p.text(word)
		} else {
			p.text(",")
		}
		p.orderKey(o.Expr, union)
		if o.Order == syntax.OrderDesc {
			p.text(" desc")
		}
	}
}

// orderKey writes one key. If it is the alias of a column in the select list, the column is written.
func (p *clausePrinter) orderKey(e syntax.Expr, union bool) {
	if n, ok := position(e); ok && union && n >= 1 && n <= len(p.view.items) {
		p.text(catalog.QuoteIdent(p.view.items[n-1].Alias))
		return
	}
	ref, ok := unparen(e).(*syntax.ColumnRef)
	if _, known := p.view.columns[ref]; ok && !known && !union {
		for i := range p.view.items {
			it := &p.view.items[i]
			if column, is := unparen(it.Expr).(*syntax.ColumnRef); is && strings.EqualFold(it.Alias, ref.Column) {
				p.expr(column)
				return
			}
		}
	}
	p.expr(e)
}

func (p *clausePrinter) limit(l *syntax.Limit) {
	if l == nil {
		return
	}
	p.text(" limit ")
	if l.Offset != nil {
		p.expr(l.Offset)
		p.text(",")
	}
	p.expr(l.Count)
}

// aliases notes which tables of a FROM clause have other names.
func (p *clausePrinter) aliases(e syntax.TableExpr) {
	switch e := e.(type) {
	case *syntax.TableRef:
		if e.Alias != "" {
			p.view.aliased[e.Alias] = true
		} else {
			delete(p.view.aliased, e.Name)
		}
	case *syntax.ParenTable:
		p.aliases(e.Inner)
	case *syntax.Join:
		p.aliases(e.Left)
		p.aliases(e.Right)
	}
}

func (p *clausePrinter) from(e syntax.TableExpr) {
	switch e := e.(type) {
	case *syntax.ParenTable:
		p.from(e.Inner)
	case *syntax.TableRef:
		if e.Schema != "" && e.Schema != p.view.bare {
			p.text(catalog.QuoteIdent(e.Schema) + ".")
		}
		p.text(catalog.QuoteIdent(e.Name))
		if e.Alias != "" {
			p.text(" " + catalog.QuoteIdent(e.Alias))
		}
		for i := range e.Hints {
			p.indexHint(&e.Hints[i])
		}
	case *syntax.DerivedTable:
		if e.Lateral {
			p.text("lateral ")
		}
		p.text("(")
		p.query(e.Query)
		p.text(") " + catalog.QuoteIdent(e.Alias))
		for j, name := range e.Columns {
			p.text([2]string{" (", ","}[min(j, 1)] + catalog.QuoteIdent(name.Name))
		}
		if len(e.Columns) > 0 {
			p.text(")")
		}
	case *syntax.Join:
		p.join(e)
	default:
		p.text(syntax.String(e))
	}
}

// indexHint writes an index hint of a table.
func (p *clausePrinter) indexHint(h *syntax.IndexHint) {
	p.text([]string{" USE", " FORCE", " IGNORE"}[h.Kind] + " INDEX" + []string{"", " FOR JOIN", " FOR ORDER BY", " FOR GROUP BY"}[h.For] + " (")
	for i, name := range h.Names {
		if i > 0 {
			p.text(",")
		}
		if strings.EqualFold(name.Name, "primary") {
			p.text("PRIMARY")
		} else {
			p.text(catalog.QuoteIdent(name.Name))
		}
	}
	p.text(")")
}

func (p *clausePrinter) join(e *syntax.Join) {
	left, right, word := e.Left, e.Right, " join "
	switch e.Kind {
	case syntax.JoinLeft, syntax.JoinNaturalLeft:
		word = " left join "
	case syntax.JoinRight, syntax.JoinNaturalRight: // MySQL keeps it the other way round
		left, right, word = right, left, " left join "
	case syntax.JoinStraight:
		word = " straight_join "
	}
	p.text("(")
	p.from(left)
	p.text(word)
	p.from(right)
	switch {
	case e.On != nil:
		p.text(" on(")
		p.where(e.On)
		p.text(")")
	case p.view.joined[e] != nil:
		p.text(" on(")
		pairs := p.view.joined[e]
		if len(pairs) > 1 {
			p.text("(")
		}
		for i, pair := range pairs {
			if i > 0 {
				p.text(" and ")
			}
			first, second := pair[0], pair[1]
			if left != e.Left {
				first, second = second, first
			}
			p.text("(")
			p.joinColumn(first)
			p.text(" = ")
			p.joinColumn(second)
			p.text(")")
		}
		if len(pairs) > 1 {
			p.text(")")
		}
		p.text(")")
	}
	p.text(")")
}

func (p *clausePrinter) joinColumn(c column) {
	ref := &syntax.ColumnRef{}
	p.view.columns[ref] = c
	p.viewColumn(ref)
}

// viewBinary writes the operators that CHECK constraints leave to syntax; false for the others.
func (p *clausePrinter) viewBinary(e *syntax.Binary) bool {
	switch e.Op {
	case syntax.OpXor:
		p.text("(")
		p.condition(e.L)
		p.text(" xor ")
		p.condition(e.R)
		p.text(")")
	case syntax.OpJSONExtract, syntax.OpJSONUnquoteExtract:
		p.arrow(e)
	case syntax.OpMemberOf:
		p.expr(e.L)
		p.text(" member of (")
		p.expr(e.R)
		p.text(")")
	default:
		at := len(p.b)
		p.text("(")
		if !p.rowsEqual(e) {
			p.b = p.b[:at]
			return false
		}
		p.text(")")
	}
	return true
}

// rowsEqual writes (a, b) = (c, d) as a = c and b = d; false for anything else.
func (p *clausePrinter) rowsEqual(e *syntax.Binary) bool {
	l, left := unparen(e.L).(*syntax.Row)
	r, right := unparen(e.R).(*syntax.Row)
	if e.Op != syntax.OpEq || !left || !right || len(l.Elems) != len(r.Elems) {
		return false
	}
	for i := range l.Elems {
		if i > 0 {
			p.text(" and ")
		}
		p.expr(&syntax.Binary{Op: syntax.OpEq, L: l.Elems[i], R: r.Elems[i]})
	}
	return true
}

// inQuery writes [NOT] IN of a query.
func (p *clausePrinter) inQuery(e *syntax.In) {
	p.expr(e.X)
	p.negated(e.Not, " in ")
	p.expr(e.Query)
}

// CanonicalView writes the query of a view as MySQL keeps it: columns with their tables, and tables with schemas other than bare. named says that
// the view's columns have other names than the query's. The text of a view that is not valid any more is returned unchanged.
func CanonicalView(env *Env, view *catalog.Table, bare string) (query string, named bool) {
	b := newBuilder(env)
	tree, _, err := syntax.Parse(view.View.Query, syntax.Options{})
	q, ok := tree.(*syntax.Query)
	if err != nil || !ok {
		return view.View.Query, true
	}
	b.env = b.env.ofView(view.View)
	b.shown = &viewNames{columns: map[*syntax.ColumnRef]column{}, bare: bare, aliased: map[string]bool{}, joined: map[*syntax.Join][][2]column{},
		zeroDates: map[syntax.Expr]zeroDateTest{}}
	b.views = append(b.views, view)
	r, err := b.query(q, nil)
	if err != nil || len(r.cols) != len(view.Columns) {
		return view.View.Query, true
	}
	for i := range r.cols {
		named = named || r.cols[i].info.Name != view.Columns[i].Name
	}
	p := clausePrinter{view: b.shown}
	p.query(q)
	return string(p.b), named
}
