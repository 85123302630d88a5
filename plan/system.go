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

// SystemTable is a table computed when it is read, or a query that stands for one.
type SystemTable struct {
	Schema, Name string
	Columns      []SystemColumn
	// Query is the query of a view in a system schema, and nil for a table; its columns correspond to Columns by position. Fill is nil then.
	Query *syntax.Query
	// Fill emits the rows that the filter asks for, all columns of each. It may emit others too: the conditions are tested again above it.
	Fill func(f *SystemFilter, emit func(row []types.Value) error) error
	// Denied is why the client may not read the table, nil if it may.
	Denied error
}

// SystemColumn is one column of a SystemTable.
type SystemColumn struct {
	Name    string
	Type    types.Type
	NotNull bool
	// Key says that the rows can be found by values of the column, which costs less than to make all of them.
	Key bool
}

// SystemTables finds virtual tables by name, in any case. Implemented by infoschema.
type SystemTables interface {
	// SystemTable returns nil for an unknown table; known tells whether the schema itself is a system one.
	SystemTable(schema, name string) (table *SystemTable, known bool)
}

// SystemFilter is what a statement's conditions say about a virtual table's key columns. It belongs to one execution.
type SystemFilter struct {
	// values are the only ones that the rows may have, by column.
	values map[int][]types.Value
	// early are the conditions on key columns alone, which can be tested before the rest of a row is made.
	early []expr.Expr
	row   []types.Value
	ctx   *expr.Ctx
	// used are the columns that the statement reads, by place.
	used []bool
}

// Uses reports whether the statement reads a column; the values of others do not matter.
func (f *SystemFilter) Uses(column int) bool { return f.used[column] }

// Values lists the only values that the rows may have in a column; ok is false if it may be any.
func (f *SystemFilter) Values(column int) (values []types.Value, ok bool) {
	values, ok = f.values[column]
	return values, ok
}

// Wants reports whether rows with these values in the key columns can be among the wanted ones. Conditions on other columns, and those that fail,
// count as met: the filter above the table tests them again.
func (f *SystemFilter) Wants(keys map[int]types.Value) bool {
	if len(f.early) == 0 {
		return true
	}
	clear(f.row)
	for column, v := range keys {
		f.row[column] = v
	}
	for _, e := range f.early {
		known := true
		expr.Columns(e, func(column int) {
			if _, given := keys[column]; !given {
				known = false
			}
		})
		if !known {
			continue
		}
		if v, err := e.Eval(f.ctx, f.row); err == nil && (v.IsNull() || !types.ToBool(f.ctx.Context, &v)) {
			return false
		}
	}
	return true
}

// systemSource makes a virtual table a relation.
func (b *builder) systemSource(t *SystemTable, alias string) (rel, []column, error) {
	b.private = true // its rows are made by the session that asked
	if t.Denied != nil {
		return nil, nil, t.Denied
	}
	if t.Query != nil {
		return b.systemView(t, alias)
	}
	out := make([]types.Type, len(t.Columns))
	first := b.newIDs(len(t.Columns))
	cols := make([]column, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Type
		cols[i] = column{id: first + i, table: alias, schema: t.Schema, info: sqlapi.ColumnInfo{Schema: t.Schema, Table: alias, OrgTable: t.Name,
			Name: c.Name, OrgName: c.Name, Type: c.Type, NotNull: c.NotNull}, coer: expr.CoerImplicit, named: namesColumns(t)}
	}
	return &rowSource{node: &exec.RowSource{Name: t.Name, Out: out}, system: t, first: first, rows: systemRows}, cols, nil
}

// spelledTables are the tables of information_schema that are no views in MySQL: results name their columns as the statement spells them. The same is
// true of most tables of InnoDB.
var spelledTables = map[string]bool{"COLUMN_PRIVILEGES": true, "ENGINES": true, "OPTIMIZER_TRACE": true, "PLUGINS": true, "PROCESSLIST": true, "PROFILING": true,
	"SCHEMA_PRIVILEGES": true, "TABLE_PRIVILEGES": true, "USER_PRIVILEGES": true}

// namesColumns reports whether results name the columns of a table in upper case, as the table does, however the statement spells them. That is so for
// MySQL's views in information_schema, and applications look for COLUMN_NAME in the result of SELECT column_name.
func namesColumns(t *SystemTable) bool {
	name := strings.ToUpper(t.Name)
	if !strings.EqualFold(t.Schema, informationSchema) || spelledTables[name] {
		return false
	}
	switch name {
	case "INNODB_DATAFILES", "INNODB_FIELDS", "INNODB_FOREIGN", "INNODB_FOREIGN_COLS", "INNODB_TABLESPACES_BRIEF":
		return true
	}
	return !strings.HasPrefix(name, "INNODB_")
}

// systemView resolves the query of a view of the system schemas, which reads with the rights of whoever asks.
func (b *builder) systemView(t *SystemTable, alias string) (rel, []column, error) {
	saved := *b
	b.env, b.ctes, b.freeze = b.env.Stored(), nil, false
	b.derivedDepth++
	inner, err := b.query(t.Query, nil)
	b.derivedDepth--
	b.env, b.ctes, b.freeze = saved.env, saved.ctes, saved.freeze
	if err != nil {
		return nil, nil, err
	}
	names := make([]syntax.Ident, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = syntax.Ident{Name: c.Name}
	}
	cols, err := renamed(inner.cols, alias, names)
	for i := range cols {
		cols[i].schema, cols[i].named = t.Schema, namesColumns(t)
	}
	return inner.rel, cols, err
}

// physSystem reads a virtual table with the conditions on it.
func (b *builder) physSystem(r *rowSource, conds []expr.Expr, n *need) (*stage, error) {
	st := &stage{at: run(r.first, len(r.node.Out)), rows: r.rows, cost: r.rows}
	described := &catalog.Table{Columns: make([]*catalog.Column, len(r.system.Columns))}
	for i, c := range r.system.Columns {
		described.Columns[i] = &catalog.Column{Name: c.Name, Type: c.Type}
	}
	points := map[int][]expr.Expr{}
	var early []expr.Expr
	for _, c := range conds {
		if !expr.IsDeterministic(c) || hasSubquery(c) {
			continue
		}
		e, err := b.local(c, st.at)
		if err != nil {
			return nil, err
		}
		if onKeys(r.system, e) {
			early = append(early, e)
		}
		s, ok := sargOf(b.env.Build, described, e)
		if !ok || !s.points || !r.system.Columns[s.column].Key || points[s.column] != nil {
			continue
		}
		for _, i := range s.ranges {
			points[s.column] = append(points[s.column], i.eq)
		}
		st.rows = min(st.rows, float64(len(s.ranges)))
	}
	node := *r.node
	table := r.system
	used := make([]bool, len(table.Columns))
	for _, id := range n.with(conds...) {
		if at, own := st.at[id]; own {
			used[at] = true
		}
	}
	node.Fill = func(rt *exec.Runtime, emit func([]types.Value) error) error {
		f := &SystemFilter{values: map[int][]types.Value{}, early: early, row: make([]types.Value, len(table.Columns)), ctx: rt.Ctx, used: used}
		for column, list := range points {
			for _, e := range list {
				v, err := e.Eval(rt.Ctx, nil)
				if err != nil {
					return err
				}
				f.values[column] = append(f.values[column], v.Clone())
			}
		}
		return table.Fill(f, emit)
	}
	st.node = &node
	return b.filterStage(st, conds)
}

func hasSubquery(e expr.Expr) (found bool) {
	expr.Walk(e, func(n expr.Expr) bool {
		found = found || exec.SubplanOf(n) != nil
		return !found
	})
	return found
}

// onKeys reports whether a condition reads key columns alone, and at least one, and compares texts with texts, so that testing it twice raises no
// warning.
func onKeys(t *SystemTable, e expr.Expr) bool {
	some, all := false, true
	expr.Walk(e, func(n expr.Expr) bool {
		if column, is := n.ColumnIndex(); is {
			some = true
			all = all && t.Columns[column].Key
		}
		if len(n.Args()) == 0 {
			all = all && (n.TypeRef().IsStringType() || n.TypeRef().ID == types.TypeNull)
		}
		return all
	})
	return some && all
}

// spreadMax bounds the rounds in which constants are propagated through the equalities of a join.
const spreadMax = 8

// spread propagates constants through the equalities of a join to virtual tables: with t.TABLE_NAME = 'x' AND c.TABLE_NAME = t.TABLE_NAME, c has to
// make the rows of one table only. Base tables do not need it, because they are joined by lookups.
func (g *joinGraph) spread() {
	for range spreadMax {
		changed := false
		for _, r := range g.rels {
			on := r.on
			if r.kind == exec.JoinInner {
				on = g.filters
			}
			if source := systemOf(r.rel); source != nil {
				changed = g.spreadTo(r, source, on) || changed
			}
		}
		if !changed {
			return
		}
	}
}

func systemOf(r rel) *rowSource {
	if f, ok := r.(*filter); ok {
		r = f.input
	}
	if s, ok := r.(*rowSource); ok && s.system != nil {
		return s
	}
	return nil
}

// spreadTo adds conditions to one virtual table. on are the join's conditions on it.
func (g *joinGraph) spreadTo(r *joinRel, source *rowSource, on []expr.Expr) (changed bool) {
	for _, e := range on {
		if !e.IsCall("=") {
			continue
		}
		x, okX := e.Args()[0].ColumnIndex()
		y, okY := e.Args()[1].ColumnIndex()
		if !okX || !okY {
			continue
		}
		own := e.Args()[1]
		if r.ids[x] {
			x, y, own = y, x, e.Args()[0]
		}
		if !r.ids[y] || r.ids[x] || !source.system.Columns[y-source.first].Key || hasPoint(r.rel, y) {
			continue
		}
		for _, other := range g.rels {
			if other == r || !other.ids[x] || other.kind != exec.JoinInner {
				continue
			}
			if c := pointOn(other.rel, x); c != nil && e.Args()[0].TypeRef().Coll == e.Args()[1].TypeRef().Coll {
				r.rel = filtered(r.rel, []expr.Expr{substitute(c, map[int]expr.Expr{x: own})})
				changed = true
			}
		}
	}
	return changed
}

func hasPoint(r rel, id int) bool { return pointOn(r, id) != nil }

// pointOn finds a condition of a relation that compares a column with constants by = or IN; nil if there is none.
func pointOn(r rel, id int) expr.Expr {
	for {
		f, ok := r.(*filter)
		if !ok {
			return nil
		}
		for _, c := range f.conds {
			if !c.IsCall("=", "in") || !expr.IsDeterministic(c) {
				continue
			}
			column, rest := c.Args()[0], c.Args()[1:]
			if _, plain := column.ColumnIndex(); !plain && len(rest) == 1 {
				column, rest = rest[0], c.Args()[:1]
			}
			if at, plain := column.ColumnIndex(); !plain || at != id {
				continue
			}
			constant := true
			for _, e := range rest {
				constant = constant && expr.IsConstInStatement(e)
			}
			if constant {
				return c
			}
		}
		r = f.input
	}
}
