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
	saved := *b
	b.env, b.ctes, b.freeze = b.env.Stored(), nil, false
	b.views = append(b.views[:len(b.views):len(b.views)], t)
	r, err := b.query(q, nil)
	b.env, b.ctes, b.freeze, b.views = saved.env, saved.ctes, saved.freeze, saved.views
	var e *types.Error
	switch {
	case errors.As(err, &e) && invalidates[e.Number] || err == nil && len(r.cols) != len(t.Columns):
		return nil, nil, types.Errorf(types.ErViewInvalid, t.Schema, t.Name)
	case err != nil:
		return nil, nil, err
	}
	cols := make([]column, len(r.cols))
	for i := range r.cols {
		info := r.cols[i].info
		info.Name, info.OrgName = t.Columns[i].Name, t.Columns[i].Name
		info.Table, info.OrgTable, info.Schema = alias, t.Name, t.Schema
		cols[i] = column{id: r.cols[i].id, table: alias, schema: t.Schema, info: info, coer: r.cols[i].outside()}
	}
	b.noteUpdatable(r.rel, t)
	b.noteLevel(r.rel, t)
	return r.rel, cols, nil
}

// mayChange asks, under LOCK TABLES, whether a table of the statement may be written. Of a view the locks cover what it reads.
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

// noteUpdatable remembers the tables whose rows the rows of a view are, one to one: those that its query joins without grouping, sorting or
// leaving out duplicates.
func (b *builder) noteUpdatable(r rel, view *catalog.Table) {
	switch r := r.(type) {
	case *get:
		if view.View.Algorithm != "TEMPTABLE" {
			if b.updatable == nil {
				b.updatable = map[*get]*catalog.Table{}
			}
			b.updatable[r] = view
		}
	case *filter:
		b.noteUpdatable(r.input, view)
	case *extend:
		b.noteUpdatable(r.input, view)
	case *join:
		if r.kind == exec.JoinInner {
			b.noteUpdatable(r.left, view)
			b.noteUpdatable(r.right, view)
		}
	}
}

// viewLevel is one of the views around a table: its query shows the rows for which conds are true.
type viewLevel struct {
	view  *catalog.Table
	conds []expr.Expr
}

// noteLevel remembers what the query of a view asks of the rows of its tables, apart from what the views do that it reads.
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

// viewChecks compiles what WITH CHECK OPTION asks of rows that are written to a table through views: CASCADED is about the view and all
// below it, LOCAL about the view alone, whatever those above it say. set lists the columns that an UPDATE changes.
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

// rowChecks are the CHECK constraints of a table that a statement writes, and what the views ask through which it does.
func (b *builder) rowChecks(g *get, set []int) ([]exec.Check, error) {
	checks, err := b.checks(g.table)
	if err != nil {
		return nil, err
	}
	ofViews, err := b.viewChecks(g, set)
	return append(checks, ofViews...), err
}

// unmade is an expression over the columns of tables instead of those that views compute.
func (b *builder) unmade(e expr.Expr) expr.Expr {
	for range viewsMax {
		computed := idSet{}
		for id := range b.made {
			computed[id] = true
		}
		if !computed.touches(e) {
			break
		}
		e = substitute(e, b.made)
	}
	return e
}

// insertable finds the one table that INSERT into a view stores into.
func (b *builder) insertable(r rel, cols []column, alias string) (*get, error) {
	for {
		switch in := r.(type) {
		case *filter:
			r = in.input
			continue
		case *extend:
			r = in.input
			continue
		}
		break
	}
	g, ok := r.(*get)
	if !ok || b.updatable[g] == nil {
		return nil, types.Errorf(types.ErNonInsertableTable, alias, "INSERT")
	}
	seen := idSet{}
	for i := range cols {
		if !g.owns(cols[i].id) || seen[cols[i].id] {
			return nil, types.Errorf(types.ErNonInsertableTable, alias, "INSERT")
		}
		seen[cols[i].id] = true
	}
	return g, nil
}

// ViewColumns resolves the query of a view that is to be created and returns the columns of its result. The names of tables and columns in the
// tree are written out, so that its text means the same whatever database is the current one.
//
// updatable says that the rows of the view will be rows of tables, which can be changed through it.
func ViewColumns(env *Env, q *syntax.Query, names []syntax.Ident) (columns []QueryColumn, tables []exec.TableRef, updatable bool, err error) {
	b := newBuilder(env)
	b.freeze = true
	if q.Into != nil {
		return nil, nil, false, types.NewError(1350, "View's SELECT contains a 'INTO' clause")
	}
	r, err := b.query(q, nil)
	if err != nil {
		return nil, nil, false, err
	}
	cols, err := renamed(r.cols, "", names)
	if err != nil {
		return nil, nil, false, err
	}
	b.updatable = nil
	b.noteUpdatable(r.rel, &catalog.Table{View: &catalog.View{}})
	for i := range cols { // one column at least has to be a table's
		for g := range b.updatable {
			updatable = updatable || g.owns(cols[i].id)
		}
	}
	return b.queryColumns(cols), b.plan.Tables, updatable, nil
}

// QueryColumn is a column of a query's result, and the column of a base table that it is, if it is one.
type QueryColumn struct {
	Info sqlapi.ColumnInfo
	Base *catalog.Column
	// Combined says that a set operation, VALUES or a recursion makes it.
	Combined bool
}

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
		out[i] = QueryColumn{Info: cols[i].info, Base: b.baseColumn(cols[i].id), Combined: b.combined[cols[i].id]}
	}
	return out
}

// frozen writes the names of the result's columns out, and what * stands for.
func (blk *block) frozen() {
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
