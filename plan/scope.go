package plan

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// column is one column that names can refer to. Its position in the scope is the column index of bound expressions.
type column struct {
	table  string // alias or name
	schema string
	info   sqlapi.ColumnInfo
	hidden bool // not part of *
}

// scope is the list of columns visible at one point of a query.
type scope struct {
	columns []column
}

// find resolves a name. The error is 1054 for an unknown and 1052 for an ambiguous column; clause names the place as MySQL does.
func (s *scope) find(ref *syntax.ColumnRef, clause string) (int, error) {
	found := -1
	for i := range s.columns {
		c := &s.columns[i]
		if !fold(c.info.Name, ref.Column) || ref.Table != "" && ref.Table != c.table || ref.Schema != "" && ref.Schema != c.schema {
			continue
		}
		if found >= 0 {
			return 0, types.Errorf(types.ErNonUniq, displayName(ref), clause)
		}
		found = i
	}
	if found < 0 {
		return 0, types.Errorf(types.ErBadField, displayName(ref), clause)
	}
	return found, nil
}

func displayName(ref *syntax.ColumnRef) string {
	name := ref.Column
	if ref.Table != "" {
		name = ref.Table + "." + name
	}
	if ref.Schema != "" {
		name = ref.Schema + "." + name
	}
	return name
}

// column returns the bound reference to position i.
func (s *scope) column(i int) expr.Expr {
	c := &s.columns[i]
	name := c.info.Name
	if c.table != "" {
		name = c.table + "." + name
	}
	if c.schema != "" {
		name = c.schema + "." + name
	}
	return expr.Column(i, c.info.Type, name)
}

// tableScope is the scope of one base table: position i is column ordinal i.
func tableScope(t *catalog.Table, alias string) *scope {
	s := &scope{columns: make([]column, len(t.Columns))}
	for i := range t.Columns {
		s.columns[i] = column{table: alias, schema: t.Schema, info: columnInfo(t, i, alias), hidden: t.Columns[i].Invisible}
	}
	return s
}

func columnInfo(t *catalog.Table, i int, alias string) sqlapi.ColumnInfo {
	c := t.Columns[i]
	primary, unique, multiple := t.IsKeyColumn(i)
	return sqlapi.ColumnInfo{
		Schema: t.Schema, Table: alias, OrgTable: t.Name, Name: c.Name, OrgName: c.Name, Type: c.Type,
		NotNull: c.NotNull, PriKey: primary, UniqueKey: unique, MultipleKey: multiple, AutoInc: c.AutoInc,
	}
}

// TableColumns describes all columns of a table, as COM_FIELD_LIST tells them.
func TableColumns(t *catalog.Table) []sqlapi.ColumnInfo {
	out := make([]sqlapi.ColumnInfo, len(t.Columns))
	for i := range t.Columns {
		out[i] = columnInfo(t, i, t.Name)
	}
	return out
}
