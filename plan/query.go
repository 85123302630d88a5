package plan

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// selection is one SELECT on its way from syntax to plan. Its methods run in the order of selectBlock.
type selection struct {
	b     *builder
	sel   *syntax.Select
	query *syntax.Query // the whole, with ORDER BY, LIMIT and locks
	bind  *binder
	from  *source
	where []expr.Expr // conjuncts over the source's columns
	items []item
	order []orderKey
	// having is bound over grouped rows, or over the source's when there is no grouping.
	having []expr.Expr
}

// item is one element of the select list after expanding *.
type item struct {
	bound  expr.Expr
	info   sqlapi.ColumnInfo
	syntax syntax.Expr // nil for elements of *
}

// orderKey is one element of ORDER BY: a position in the select list, or an expression of its own.
type orderKey struct {
	item  int // -1 for an expression
	bound expr.Expr
	desc  bool
}

func (b *builder) selectBlock(sel *syntax.Select, q *syntax.Query) (*block, error) {
	if len(sel.Windows) > 0 {
		return nil, unsupported("window functions; compute them in the client")
	}
	if sel.WithRollup {
		return nil, unsupported("WITH ROLLUP")
	}
	from, err := b.source(sel.From)
	if err != nil {
		return nil, err
	}
	s := &selection{b: b, sel: sel, query: q, from: from}
	s.bind = &binder{env: b.env, build: b, scope: from.scope, clause: "field list"}
	for _, step := range []func() error{s.bindWhere, s.bindGrouping, s.bindItems, s.bindHaving, s.bindOrder} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s.plan()
}

func (s *selection) bindWhere() error {
	conjuncts, err := s.b.where(s.bind, s.sel.Where)
	s.where = conjuncts
	return err
}

// where binds a condition and splits it into conjuncts.
func (b *builder) where(bind *binder, e syntax.Expr) ([]expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	if containsAggregate(e) {
		return nil, types.Errorf(types.ErInvalidGroupFuncUse)
	}
	bound, err := bind.at("where clause").bind(e)
	if err != nil {
		return nil, err
	}
	return expr.SplitAnd(nil, b.note(bound)), nil
}

// bindGrouping binds GROUP BY. From here on, the select list is bound over grouped rows.
func (s *selection) bindGrouping() error {
	grouped := len(s.sel.GroupBy) > 0 || s.sel.Having != nil && containsAggregate(s.sel.Having)
	for i := range s.sel.Items {
		grouped = grouped || containsAggregate(s.sel.Items[i].Expr)
	}
	for i := range s.query.OrderBy {
		grouped = grouped || containsAggregate(s.query.OrderBy[i].Expr)
	}
	if !grouped {
		return nil
	}
	agg := &aggregation{input: s.bind, relaxed: s.b.env.Build.Ctx.SQLMode&types.ModeOnlyFullGroupBy == 0}
	bind := s.bind.at("group statement")
	for _, key := range s.sel.GroupBy {
		e, err := s.groupKey(bind, key.Expr)
		if err != nil {
			return err
		}
		agg.keys = append(agg.keys, s.b.note(e))
	}
	agg.determine(s.from.table)
	s.bind = s.bind.at("field list")
	s.bind.agg = agg
	return nil
}

// groupKey resolves a position, a column, or an alias of the select list; MySQL prefers columns to aliases here.
func (s *selection) groupKey(bind *binder, e syntax.Expr) (expr.Expr, error) {
	if containsAggregate(e) {
		return nil, types.Errorf(types.ErInvalidGroupFuncUse)
	}
	if i, ok := position(e); ok {
		if i < 1 || i > len(s.sel.Items) {
			return nil, types.Errorf(types.ErBadField, literalText(e), "group statement")
		}
		e = s.sel.Items[i-1].Expr
	} else if ref, ok := unparen(e).(*syntax.ColumnRef); ok && ref.Table == "" {
		if _, err := s.from.scope.find(ref, "group statement"); err != nil {
			if aliased := s.alias(ref.Column); aliased != nil {
				e = aliased
			}
		}
	}
	if containsAggregate(e) {
		return nil, types.Errorf(types.ErWrongGroupField, "aggregate")
	}
	return bind.bind(e)
}

func (s *selection) alias(name string) syntax.Expr {
	for i := range s.sel.Items {
		if s.sel.Items[i].HasAlias && fold(s.sel.Items[i].Alias, name) {
			return s.sel.Items[i].Expr
		}
	}
	return nil
}

// position reports whether an ORDER BY or GROUP BY element is a position in the select list.
func position(e syntax.Expr) (int, bool) {
	lit, ok := e.(*syntax.Literal)
	if !ok || lit.Kind != syntax.LitInt || len(lit.Value) > 6 {
		return 0, false
	}
	n := 0
	for _, c := range lit.Value {
		n = n*10 + int(c-'0')
	}
	return n, true
}

func literalText(e syntax.Expr) string {
	if lit, ok := e.(*syntax.Literal); ok {
		return lit.Value
	}
	return ""
}

func (s *selection) bindItems() error {
	for i := range s.sel.Items {
		it := &s.sel.Items[i]
		s.bind.item = len(s.items)
		if star, ok := it.Expr.(*syntax.Star); ok {
			if err := s.expandStar(star); err != nil {
				return err
			}
			continue
		}
		bound, err := s.bind.bind(it.Expr)
		if err != nil {
			return err
		}
		s.items = append(s.items, item{bound: s.b.note(bound), syntax: it.Expr, info: s.itemInfo(it, bound)})
	}
	return nil
}

// expandStar adds the visible columns of all tables, or of one.
func (s *selection) expandStar(star *syntax.Star) error {
	matched := false
	for i := range s.from.scope.columns {
		c := &s.from.scope.columns[i]
		if star.Table != "" && (star.Table != c.table || star.Schema != "" && star.Schema != c.schema) {
			continue
		}
		matched = true
		if c.hidden {
			continue
		}
		s.bind.item = len(s.items)
		var bound expr.Expr
		var err error
		if s.bind.agg != nil {
			bound, err = s.bind.bind(&syntax.ColumnRef{Table: c.table, Column: c.info.Name})
		} else {
			bound = s.from.scope.column(i)
		}
		if err != nil {
			return err
		}
		s.items = append(s.items, item{bound: bound, info: c.info})
	}
	if !matched {
		if star.Table != "" {
			return types.Errorf(types.ErBadTable, star.Table)
		}
		return types.Errorf(types.ErNoTablesUsed)
	}
	return nil
}

// itemInfo describes a result column: a plain column keeps its origin, anything else has a type and a name only.
func (s *selection) itemInfo(it *syntax.SelectItem, bound expr.Expr) sqlapi.ColumnInfo {
	info := sqlapi.ColumnInfo{Type: bound.Type()}
	if ref, ok := unparen(it.Expr).(*syntax.ColumnRef); ok {
		if i, err := s.from.scope.find(ref, s.bind.clause); err == nil {
			info = s.from.scope.columns[i].info
			info.Type = bound.Type()
		}
		info.Name = ref.Column
	} else {
		info.Name = firstChars(s.itemText(it), madeNameCharsMax)
	}
	if it.HasAlias {
		info.Name = it.Alias
	}
	return info
}

// madeNameCharsMax is MySQL's limit on an alias, to which it also cuts the names that it makes of expressions.
const madeNameCharsMax = 256

// firstChars is the text up to its nth character.
func firstChars(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// itemText is the text of an element as the client wrote it, which MySQL uses as the column's name. A string's name is its value
// without what precedes its first visible character; numbers and NULL have names of their own, too, so that parentheses and a
// plus sign around them are no part of it.
func (s *selection) itemText(it *syntax.SelectItem) string {
	e := unparen(it.Expr)
	for {
		plus, ok := e.(*syntax.Unary)
		if !ok || plus.Op != syntax.OpPlus {
			break
		}
		e = unparen(plus.X)
	}
	switch e := e.(type) {
	case *syntax.Literal:
		switch e.Kind {
		case syntax.LitString, syntax.LitNString:
			return visible(e.Value)
		case syntax.LitInt, syntax.LitDecimal, syntax.LitFloat:
			return e.Value
		case syntax.LitTrue:
			return "TRUE"
		case syntax.LitFalse:
			return "FALSE"
		case syntax.LitNull:
			return "NULL"
		}
	case *syntax.Introduced: // _utf8mb4'x', but not _utf8mb4 0x41
		if e.Lit.Kind == syntax.LitString {
			return visible(e.Lit.Value)
		}
	}
	if int(it.End) <= len(s.b.env.Text) && it.Start < it.End {
		return strings.TrimSpace(s.b.env.Text[it.Start:it.End])
	}
	return "?column?"
}

// visible is text from its first character on that is neither white space nor a control character.
func visible(text string) string {
	return strings.TrimLeftFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// bindHaving binds HAVING, where aliases of the select list are visible and win over columns that are not grouped.
func (s *selection) bindHaving() error {
	if s.sel.Having == nil {
		return nil
	}
	bound, err := s.withAliases(havingClause).bind(s.sel.Having)
	if err != nil {
		return err
	}
	s.having = expr.SplitAnd(nil, s.b.note(bound))
	return nil
}

// withAliases is the select list's binder, which also sees its aliases as columns.
func (s *selection) withAliases(clause string) *binder {
	bind := s.bind.at(clause)
	bind.aliases = s.items
	return bind
}

func (s *selection) bindOrder() error {
	for _, o := range s.query.OrderBy {
		key := orderKey{item: -1, desc: o.Order == syntax.OrderDesc}
		if i, ok := position(o.Expr); ok {
			if i < 1 || i > len(s.items) {
				return types.Errorf(types.ErBadField, literalText(o.Expr), "order clause")
			}
			key.item = i - 1
		} else {
			bound, err := s.orderElement(o.Expr)
			if err != nil {
				return err
			}
			key.bound = s.b.note(bound)
			for i := range s.items {
				if expr.Equal(s.items[i].bound, bound) {
					key.item = i
					break
				}
			}
			if expr.IsConst(bound) && key.item < 0 {
				continue // a constant orders nothing
			}
		}
		s.order = append(s.order, key)
	}
	return s.checkDistinctOrder()
}

// orderElement binds an element of ORDER BY. One that is nothing but a name means an element of the select list if it can; names
// inside of expressions mean columns if they can.
func (s *selection) orderElement(e syntax.Expr) (expr.Expr, error) {
	bind := s.withAliases("order clause")
	if ref, ok := unparen(e).(*syntax.ColumnRef); ok && ref.Table == "" {
		if aliased := bind.alias(ref.Column); aliased != nil {
			return aliased, nil
		}
	}
	return bind.bind(e)
}

// checkDistinctOrder refuses to order distinct rows by what is not part of them.
func (s *selection) checkDistinctOrder() error {
	if s.sel.Distinct != syntax.Distinct {
		return nil
	}
	for i := range s.order {
		if s.order[i].item < 0 {
			return types.Errorf(types.ErFieldInOrderNotSelect, i+1, s.order[i].bound.String(), "DISTINCT")
		}
	}
	return nil
}

// source is what a FROM clause yields: a base table that still has to be read, or a finished node.
type source struct {
	scope *scope
	table *catalog.Table // nil for anything but a base table
	alias string
	hints []syntax.IndexHint
	node  exec.Node // nil for a base table
	rows  float64
}

func (b *builder) source(from syntax.TableExpr) (*source, error) {
	switch from := from.(type) {
	case nil:
		return &source{scope: &scope{}, node: &exec.Dual{}, rows: 1}, nil
	case *syntax.ParenTable:
		return b.source(from.Inner)
	case *syntax.TableRef:
		return b.tableSource(from, "SELECT")
	case *syntax.DerivedTable:
		return b.derived(from)
	case *syntax.Join:
		return nil, unsupported("joins; query the tables one by one, with IN lists")
	}
	return nil, unsupported("this table expression")
}

// tableSource finds the table that a name in FROM means. verb is what the statement does with it.
func (b *builder) tableSource(ref *syntax.TableRef, verb string) (*source, error) {
	if len(ref.Partitions) > 0 || ref.AsOf != nil {
		return nil, unsupported("PARTITION, AS OF and TABLESAMPLE")
	}
	alias := ref.Alias
	if alias == "" {
		alias = ref.Name
	}
	schema, err := b.env.schema(ref.Schema)
	if err != nil {
		return nil, err
	}
	if b.env.System != nil {
		if system, known := b.env.System.SystemTable(schema, ref.Name); system != nil {
			return b.systemSource(system, alias), nil
		} else if known {
			return nil, types.Errorf(types.ErNoSuchTable, schema, ref.Name)
		}
	}
	if b.env.Sight != nil && !catalog.IsSystemSchema(schema) && !b.env.Sight.Sees(schema, ref.Name) {
		// Before it is looked for, and so before its columns are: which names exist is not told.
		return nil, types.Errorf(types.ErTableaccessDenied, verb, b.env.User, b.env.Host, ref.Name)
	}
	table, err := b.env.Snapshot.Table(schema, ref.Name)
	if err != nil {
		return nil, err
	}
	b.use(table, false)
	return &source{scope: tableScope(table, alias), table: table, alias: alias, hints: ref.Hints}, nil
}

func (b *builder) systemSource(t *SystemTable, alias string) *source {
	b.private = true // its rows are made by the session that asked
	s := &source{scope: &scope{}, alias: alias, rows: 100}
	out := make([]types.Type, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Type
		s.scope.columns = append(s.scope.columns, column{table: alias, schema: t.Schema,
			info: sqlapi.ColumnInfo{Schema: t.Schema, Table: alias, OrgTable: t.Name, Name: c.Name, OrgName: c.Name, Type: c.Type}})
	}
	s.node = &exec.RowSource{Name: t.Name, Out: out, Fill: t.Fill}
	return s
}

func (b *builder) derived(from *syntax.DerivedTable) (*source, error) {
	if from.Lateral {
		return nil, unsupported("LATERAL")
	}
	if from.Alias == "" {
		return nil, types.Errorf(types.ErDerivedMustHaveAlias)
	}
	inner, err := b.query(from.Query)
	if err != nil {
		return nil, err
	}
	if len(from.Columns) > 0 && len(from.Columns) != len(inner.scope.columns) {
		return nil, types.Errorf(types.ErViewWrongList)
	}
	s := &source{scope: &scope{}, alias: from.Alias, node: inner.node, rows: inner.rows}
	seen := map[string]bool{}
	for i := range inner.scope.columns {
		info := inner.scope.columns[i].info
		if len(from.Columns) > 0 {
			info.Name = from.Columns[i].Name
		}
		if key := strings.ToLower(info.Name); seen[key] {
			return nil, types.Errorf(types.ErDupFieldName, info.Name)
		} else {
			seen[key] = true
		}
		info.Table, info.Schema = from.Alias, ""
		s.scope.columns = append(s.scope.columns, column{table: from.Alias, info: info})
	}
	return s, nil
}
