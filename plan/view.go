package plan

import (
	"errors"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// errViewVariable refuses a view whose rows would depend on who reads it.
var errViewVariable = types.NewError(1351, "View's SELECT contains a variable or parameter")

// viewsMax bounds views within views.
const viewsMax = 61

// viewRelation resolves the query of a view in the place of its name. The names in it were written out when the view was created, so nothing
// of the statement around it is visible inside.
func (b *builder) viewRelation(t *catalog.Table, alias string) (rel, []column, error) {
	for _, v := range b.views {
		if v == t {
			return nil, nil, types.Errorf(types.ErViewRecursive, t.Schema, t.Name)
		}
	}
	if len(b.views) >= viewsMax {
		return nil, nil, types.Errorf(types.ErTooHighLevelOfNestingForSelect, viewsMax)
	}
	b.use(t, false)
	tree, _, err := syntax.Parse(t.View.Query, syntax.Options{})
	q, ok := tree.(*syntax.Query)
	if err != nil || !ok {
		return nil, nil, types.Errorf(types.ErViewInvalid, t.Schema, t.Name)
	}
	saved, before := *b, len(b.gets)
	if len(b.views) == 0 {
		b.viewAlias = alias
	}
	b.env, b.ctes, b.freeze = b.env.ofView(t.View), nil, false
	if !mergeable(q, t.View) {
		b.derivedDepth++ // it is materialized
	}
	b.views = append(b.views[:len(b.views):len(b.views)], t)
	r, err := b.query(q, nil)
	b.env, b.ctes, b.freeze, b.views, b.derivedDepth = saved.env, saved.ctes, saved.freeze, saved.views, saved.derivedDepth
	var e *types.Error
	switch {
	case errors.As(err, &e) && invalidates[e.Number] || err == nil && len(r.cols) != len(t.Columns):
		return nil, nil, types.Errorf(types.ErViewInvalid, t.Schema, t.Name)
	case err != nil:
		return nil, nil, err
	}
	merged := mergeable(q, t.View)
	cols := make([]column, len(r.cols))
	for i := range r.cols {
		info := r.cols[i].info
		info.Name, info.OrgName = t.Columns[i].Name, t.Columns[i].Name
		info.Table, info.OrgTable, info.Schema = alias, t.Name, t.Schema
		cols[i] = column{id: r.cols[i].id, table: alias, schema: t.Schema, info: info, coer: r.cols[i].outside(), named: merged, zeroDate: b.derivedZeroDate(&r.cols[i], merged)}
		b.handOn(&cols[i], cols[i].id, merged)
	}
	b.noteUpdatable(r.rel, t, merged, before)
	b.noteLevel(r.rel, t)
	if !merged {
		return b.keptApart(r.rel, alias), cols, nil
	}
	return r.rel, cols, nil
}

// mayChange asks, under LOCK TABLES, whether a table of the statement may be written. The lock of a view covers the tables that it reads.
func (b *builder) mayChange(g *get) error {
	switch {
	case b.env.Locked == nil || g.table.Temporary != nil:
		return nil
	case b.updatable[g] != nil:
		return b.env.Locked.Writes(g.table.Schema, g.table.Name, g.table.Name)
	}
	return b.env.Locked.Writes(g.table.Schema, g.table.Name, g.alias)
}

// ViewTables returns the tables and views that a view reads, at any depth, each once.
func ViewTables(env *Env, view *catalog.Table) ([]*catalog.Table, error) {
	b := newBuilder(env)
	if _, _, err := b.viewRelation(view, view.Name); err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for i := range b.plan.Tables {
		if t := b.plan.Tables[i].Table; t != view && !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// invalidates are the errors that a view's query gives when what it reads has gone.
var invalidates = map[uint16]bool{types.ErNoSuchTable: true, types.ErBadField: true, types.ErBadDB: true, types.ErNonUniq: true, types.ErSPDoesNotExist: true,
	types.ErTableaccessDenied: true, types.ErViewInvalid: true}

// noteUpdatable remembers the tables that can be changed through a view: those that its query joins without grouping or dropping duplicates,
// if MySQL merges the view. The others among the tables met since before cannot be changed by the statement.
func (b *builder) noteUpdatable(r rel, view *catalog.Table, merged bool, before int) {
	shown := map[*get]bool{}
	if merged && !b.selectsDependent(r) {
		joinedTables(r, shown)
	}
	switch joins := anyRel(r, func(r rel) bool { _, ok := r.(*join); return ok }); {
	case len(shown) == 1 && !joins && b.readElsewhere(shown, before, true):
		clear(shown)
	case len(shown) > 0 && joins:
		if b.joinViews == nil {
			b.joinViews = map[*catalog.Table]bool{}
		}
		b.joinViews[view] = true
	}
	if b.updatable == nil {
		b.updatable = map[*get]*catalog.Table{}
	}
	for _, g := range b.gets[before:] {
		if shown[g] && (!b.within[g] || b.updatable[g] != nil) {
			b.updatable[g] = view
		} else {
			delete(b.updatable, g)
		}
	}
	b.enclose(before)
}

// selectsDependent reports whether the select list of a view's query has a subquery that depends on the row: nothing can be changed through it.
func (b *builder) selectsDependent(r rel) (dependent bool) {
	for {
		switch node := r.(type) {
		case *extend:
			for i := range node.cols {
				expr.Walk(node.cols[i].e, func(n expr.Expr) bool {
					dependent = dependent || b.subqueryOf(n) != nil && len(n.Args()) > 0
					return !dependent
				})
			}
			if dependent {
				return true
			}
			r = node.input
		case *filter:
			r = node.input
		case *sorted:
			r = node.input
		default:
			return false
		}
	}
}

// readElsewhere reports whether the one table that a view shows is read once more, in a subquery of it or of the views that it reads; by the same name,
// if named, which is all that MySQL looks at when it changes the view.
func (b *builder) readElsewhere(shown map[*get]bool, before int, named bool) bool {
	for g := range shown {
		if slices.ContainsFunc(b.gets[before:], func(other *get) bool {
			return other != g && other.table == g.table && (!named || other.alias == g.alias)
		}) {
			return true
		}
	}
	return false
}

// enclose notes that the tables met since before are behind a view or a derived table.
func (b *builder) enclose(before int) {
	if b.within == nil {
		b.within = map[*get]bool{}
	}
	for _, g := range b.gets[before:] {
		b.within[g] = true
	}
}

// joinedTables collects the tables of inner joins; with any other join there are none.
func joinedTables(r rel, into map[*get]bool) {
	if anyRel(r, func(r rel) bool { j, ok := r.(*join); return ok && j.kind != exec.JoinInner }) {
		return
	}
	switch r := r.(type) {
	case *get:
		into[r] = true
	case *filter:
		joinedTables(r.input, into)
	case *extend:
		joinedTables(r.input, into)
	case *sorted:
		joinedTables(r.input, into)
	case *join:
		joinedTables(r.left, into)
		joinedTables(r.right, into)
	}
}

// viewLevel is one of the views around a table: its query shows the rows for which conds are true.
type viewLevel struct {
	view  *catalog.Table
	conds []expr.Expr
}

// noteLevel remembers the conditions of a view's query on the rows of its tables, without those of the views that it reads.
func (b *builder) noteLevel(r rel, view *catalog.Table) {
	if b.levels == nil {
		b.levels, b.made, b.viewRels = map[*get][]viewLevel{}, map[int]expr.Expr{}, map[rel]bool{}
	}
	level := viewLevel{view: view}
	var gets []*get
	var walk func(r rel, own bool)
	walk = func(r rel, own bool) {
		own = own && !b.viewRels[r]
		switch r := r.(type) {
		case *get:
			gets = append(gets, r)
		case *filter:
			if own {
				level.conds = append(level.conds, r.conds...)
			}
			walk(r.input, own)
		case *extend:
			for _, c := range r.cols {
				b.made[c.id] = c.e
			}
			walk(r.input, own)
		case *sorted:
			walk(r.input, own)
		case *join:
			if r.kind == exec.JoinInner {
				if own {
					level.conds = append(level.conds, r.on...)
				}
				walk(r.left, own)
				walk(r.right, own)
			}
		}
	}
	walk(r, true)
	for _, g := range gets {
		b.levels[g] = append(b.levels[g], level)
	}
	b.viewRels[r] = true
}

// viewChecks compiles what WITH CHECK OPTION demands of rows that are written to a table through views: CASCADED checks the conditions of the view
// and all below it, LOCAL those of the view alone. set lists the columns that an UPDATE changes; nil is INSERT.
func (b *builder) viewChecks(g *get, set []int) ([]exec.Check, error) {
	levels := b.levels[g]
	if b.updatable[g] == nil || len(levels) == 0 {
		return nil, nil
	}
	top, cascaded := levels[len(levels)-1].view, false
	own := idSet{}
	for id := range g.ordinals() {
		own[id] = true
	}
	var out []exec.Check
	for i := len(levels) - 1; i >= 0; i-- {
		check := levels[i].view.View.Check
		if cascaded = cascaded || check == "CASCADED"; !cascaded && check == "" {
			continue
		}
		for _, cond := range levels[i].conds {
			cond = b.unmade(cond)
			if !own.covers(cond) {
				if set == nil { // of a row to insert, which is joined to nothing
					out = append(out, exec.Check{Name: top.Name, View: top.Schema, Cond: b.note(expr.Literal(types.Int(0)))})
					continue
				}
				changed := idSet{}
				for _, col := range set {
					changed[g.id(col)] = true
				}
				if !changed.touches(cond) {
					continue // it is about other tables of a join, and as true as it was
				}
				return nil, unsupported("writes through a view WITH CHECK OPTION whose condition is about several tables; write to its table")
			}
			local, err := b.local(cond, g.ordinals())
			if err != nil {
				return nil, err
			}
			out = append(out, exec.Check{Name: top.Name, View: top.Schema, Cond: b.note(local)})
		}
	}
	return out, nil
}

// rowChecks are the check options of the views through which a statement writes a table, and then the CHECK constraints of the table, in the order in
// which MySQL looks at them.
func (b *builder) rowChecks(g *get, set []int) ([]exec.Check, error) {
	ofViews, err := b.viewChecks(g, set)
	if err != nil {
		return nil, err
	}
	checks, err := b.checks(g.table)
	return append(ofViews, checks...), err
}

// unmade replaces the columns that views compute by their expressions over the columns of tables.
func (b *builder) unmade(e expr.Expr) expr.Expr {
	if e == nil || len(b.made) == 0 {
		return e
	}
	for range viewsMax {
		made := false
		expr.Columns(e, func(id int) { made = made || b.made[id] != nil })
		if !made {
			break
		}
		e = substitute(e, b.made)
	}
	return e
}

// insertable finds the table that INSERT into a view stores into: that of the columns it names.
func (b *builder) insertable(r rel, cols []column, view *catalog.Table, alias string, stmt *syntax.Insert) (*get, error) {
	shown := map[*get]bool{}
	joinedTables(r, shown)
	refused := types.Errorf(types.ErNonInsertableTable, alias, "INSERT")
	for g := range shown {
		if b.updatable[g] == nil {
			return nil, refused
		}
	}
	if len(shown) == 0 {
		return nil, refused
	}
	of := func(id int) *get {
		for g := range shown {
			if g.owns(id) {
				return g
			}
		}
		return nil
	}
	var named []column
	switch list := insertedColumns(stmt); {
	case list == nil && len(shown) > 1:
		return nil, types.Errorf(types.ErViewNoInsertFieldList, view.Schema, view.Name)
	case list == nil:
		named = cols
	default:
		s := &scope{columns: cols}
		for _, ref := range list {
			c, err := s.find(ref, fieldListClause)
			if c == nil {
				return nil, firstError(err, unknownColumn(ref, fieldListClause))
			}
			named = append(named, *c)
		}
	}
	var target *get
	for i := range named {
		g := of(named[i].id)
		switch {
		case g == nil:
			return nil, types.Errorf(types.ErNonupdateableColumn, named[i].info.Name)
		case target != nil && g != target:
			return nil, types.Errorf(types.ErViewMultiupdate, view.Schema, view.Name)
		}
		target = g
	}
	seen := idSet{}
	for i := range cols {
		g := of(cols[i].id)
		if g == nil || g == target && seen[cols[i].id] {
			return nil, refused
		}
		seen[cols[i].id] = true
	}
	if stmt != nil && stmt.Replace && len(shown) > 1 {
		return nil, types.Errorf(types.ErViewDeleteMergeView, view.Schema, view.Name)
	}
	return target, nil
}

// insertedColumns are the columns that INSERT names; nil without a list.
func insertedColumns(stmt *syntax.Insert) (list []*syntax.ColumnRef) {
	if stmt == nil {
		return nil
	}
	for i := range stmt.Set {
		list = append(list, &stmt.Set[i].Column)
	}
	for i := range stmt.Columns {
		list = append(list, &stmt.Columns[i])
	}
	return list
}

// ViewColumns resolves the query of a view that is to be created and returns the columns of its result. It changes the tree q: names of tables and
// columns get their schemas and tables, so that the text means the same whatever database is the current one.
//
// updatable says that the rows of the view will be rows of tables, which can be changed through it.
func ViewColumns(env *Env, q *syntax.Query, names []syntax.Ident) (columns []QueryColumn, tables []exec.TableRef, updatable bool, err error) {
	b := newBuilder(env)
	b.freeze, b.naming = true, newViewNaming(q, len(names) > 0)
	if q.Into != nil {
		return nil, nil, false, types.NewError(1350, "View's SELECT contains a 'INTO' clause")
	}
	env.Build.NoDateFits = true // whoever reads the view is told
	defer func() { env.Build.NoDateFits = false }()
	r, err := b.query(q, nil)
	if err != nil {
		return nil, nil, false, err
	}
	cols, err := renamed(r.cols, "", names)
	if err != nil {
		return nil, nil, false, err
	}
	for i := range cols {
		cols[i].aggregate, cols[i].wide, cols[i].maker = r.cols[i].aggregate, r.cols[i].wide, r.cols[i].maker
	}
	shown := map[*get]bool{}
	if mergedQuery(q) {
		from := withoutParens(q).Body.(*syntax.Select).From
		fixed, err := b.readsFixed(from)
		if err != nil {
			return nil, nil, false, err
		}
		joinedTables(r.rel, shown)
		again, err := b.readsAgain(from, shown)
		if err != nil {
			return nil, nil, false, err
		}
		if fixed || again {
			clear(shown)
		}
	}
	for i := range cols { // one column at least has to be a table's
		for g := range shown {
			updatable = updatable || g.owns(cols[i].id) // a table of a derived table counts, too, as in MySQL
		}
	}
	return b.queryColumns(cols), b.plan.Tables, updatable, nil
}

// readsFixed reports whether FROM of a view that is to be created has a view that says itself that it cannot be changed, as MySQL asks.
func (b *builder) readsFixed(from syntax.TableExpr) (bool, error) {
	switch from := from.(type) {
	case *syntax.TableRef:
		t, err := b.viewOf(from)
		return t != nil && !t.View.Updatable, err
	case *syntax.Join:
		if fixed, err := b.readsFixed(from.Left); fixed || err != nil {
			return fixed, err
		}
		return b.readsFixed(from.Right)
	}
	return false, nil
}

// readsAgain reports whether a view's query over one table reads the table again in a subquery.
func (b *builder) readsAgain(from syntax.TableExpr, shown map[*get]bool) (bool, error) {
	ref, ok := from.(*syntax.TableRef)
	if !ok {
		return false, nil
	}
	if view, err := b.viewOf(ref); view != nil || err != nil {
		return false, err
	}
	return b.readElsewhere(shown, 0, false), nil
}

// QueryColumn is a column of a query's result, and the column of a base table that it is, if it is one.
type QueryColumn struct {
	Info sqlapi.ColumnInfo
	Base *catalog.Column
	// Combined says that a set operation, VALUES or a recursion makes it.
	Combined bool
	// Aggregate says that it is an aggregate and nothing around it.
	Aggregate bool
	// Wide says that it is BIGINT, though it may be short: see expr.Wide.
	Wide bool
	// Maker is the function whose result it is, where a column made of that has another type than the result: one of the Maker constants, or empty.
	Maker string
}

// Functions that QueryColumn.Maker names; MakerWindow is any window function.
const (
	MakerWindow = "window"
	MakerNullif = "nullif"
	MakerYear   = "year"
)

// QueryColumns resolves a query and describes its result, as CREATE TABLE … SELECT needs it.
func QueryColumns(env *Env, q *syntax.Query) ([]QueryColumn, error) {
	b := newBuilder(env)
	r, err := b.query(q, nil)
	if err != nil {
		return nil, err
	}
	return b.queryColumns(r.cols), nil
}

func (b *builder) queryColumns(cols []column) []QueryColumn {
	out := make([]QueryColumn, len(cols))
	for i := range cols {
		out[i] = QueryColumn{Info: cols[i].info, Base: b.baseColumn(cols[i].id), Combined: b.combined[cols[i].id], Aggregate: cols[i].aggregate, Wide: cols[i].wide, Maker: cols[i].maker}
	}
	return out
}

// frozen writes the names of the result's columns into the tree as aliases, and replaces * by the columns that it stands for.
func (blk *block) frozen() {
	blk.b.naming.name(blk)
	items := make([]syntax.SelectItem, len(blk.items))
	for i, it := range blk.items {
		if it.syntax != nil {
			items[i] = *it.syntax
		} else {
			c := blk.starred[i]
			ref := &syntax.ColumnRef{Table: c.table, Column: c.info.Name}
			if c.coalesced {
				ref.Table = ""
			}
			items[i] = syntax.SelectItem{Expr: ref}
		}
		items[i].Alias, items[i].HasAlias = it.info.Name, true
	}
	blk.sel.Items = items
}
