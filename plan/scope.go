package plan

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// column is one column that names can refer to.
type column struct {
	id     int
	table  string // alias or name
	schema string
	info   sqlapi.ColumnInfo
	hidden bool // not part of *
	// merged says that USING or NATURAL has joined the column with another one: it is found under its table's name only.
	merged bool
	// coalesced says that the column stands for both sides of USING or NATURAL: it is found without a table's name only.
	coalesced bool
	// coer says how strongly the column's collation binds, if it is a text.
	coer expr.Coercibility
	// aggregate says that the column is an aggregate of a block whose result it belongs to.
	aggregate bool
	wide      bool   // see QueryColumn.Wide
	maker     string // see QueryColumn.Maker
	// shown is the type that MySQL says, if the column's own has more digits (digits.go).
	shown *types.Type
	// padded says that PAD_CHAR_TO_FULL_LENGTH holds for the column.
	padded bool
	// zeroDate says that IS NULL in WHERE finds the zero date in the column (zerodate.go).
	zeroDate bool
	// named says that results show the column's own name, whatever the case in which the statement spells it: columns of information_schema, and of
	// views and derived tables that MySQL merges.
	named bool
	// integerKey says that the name _rowid finds the column.
	integerKey bool
}

// scope is the list of columns visible in one query block.
type scope struct {
	columns []column
	// block is the query block whose FROM clause this is, for aggregates and aliases; nil outside queries.
	block *block
	// parent is the scope around a subquery or a lateral derived table; nil at the top.
	parent *scope
	// rowAlias is the row to insert by its alias, in ON DUPLICATE KEY UPDATE; nil elsewhere.
	rowAlias *scope
	// insert is what VALUES(col) reads, in ON DUPLICATE KEY UPDATE; nil elsewhere.
	insert *insertedRow
	tables map[tableName]bool // of the FROM clause, while it is resolved
	hints  *hintBlock         // of the block, likewise
}

// find resolves a name among the scope's own columns: nil for an unknown one, error 1052 for an ambiguous one. clause is what the error calls the
// place.
func (s *scope) find(ref *syntax.ColumnRef, clause string) (c *column, err error) {
	if s.rowAlias != nil && ref.Table != "" && ref.Table == s.rowAlias.columns[0].table {
		return s.rowAlias.find(ref, clause)
	}
	for i := range s.columns {
		o := &s.columns[i]
		if !o.matches(ref) {
			continue
		}
		if c != nil {
			return nil, types.Errorf(types.ErNonUniq, displayName(ref), clause)
		}
		c = o
	}
	if c == nil && fold(ref.Column, rowIDName) {
		return s.findRowID(ref), nil
	}
	return c, nil
}

// rowIDName is the name by which MySQL finds the integer that is a table's primary key, where no column has that name.
const rowIDName = "_rowid"

// findRowID resolves _rowid, without the name of a table only if there is no other table.
func (s *scope) findRowID(ref *syntax.ColumnRef) (found *column) {
	for i := range s.columns {
		o := &s.columns[i]
		if ref.Table == "" && (o.table != s.columns[0].table || o.schema != s.columns[0].schema) {
			return nil
		}
		if o.integerKey && (ref.Table == "" || o.from(ref)) {
			found = o
		}
	}
	return found
}

func (c *column) matches(ref *syntax.ColumnRef) bool {
	if !fold(c.info.Name, ref.Column) {
		return false
	}
	if ref.Table == "" {
		return !c.merged
	}
	return !c.coalesced && c.from(ref)
}

// from reports whether the column is of the table that a reference names.
func (c *column) from(ref *syntax.ColumnRef) bool {
	return ref.Table == c.table && (ref.Schema == "" || sameSchema(ref.Schema, c.schema))
}

const informationSchema = "information_schema"

// sameSchema compares the name of a schema as it is written with one: the case of INFORMATION_SCHEMA does not matter.
func sameSchema(written, name string) bool {
	return written == name || name == informationSchema && strings.EqualFold(written, name)
}

func unknownColumn(ref *syntax.ColumnRef, clause string) error {
	return types.Errorf(types.ErBadField, displayName(ref), clause)
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

// expr returns the bound reference to a column.
func (c *column) expr() expr.Expr {
	name := c.info.Name
	if c.table != "" {
		name = c.table + "." + name
	}
	if c.schema != "" {
		name = c.schema + "." + name
	}
	e := expr.ColumnOf(c.id, c.info.Type, c.coer, name)
	if c.info.NotNull {
		e = expr.NotNull(e)
	}
	if c.padded {
		return expr.PadChar(e)
	}
	return e
}

// outside is the coercibility of a column in the query around a derived table: that of an aggregate is that of a column, as in MySQL.
func (c *column) outside() expr.Coercibility {
	if c.aggregate {
		return expr.CoerImplicit
	}
	return c.coer
}

// madeColumn refers to the column of that id that holds what e computes.
func madeColumn(id int, e expr.Expr, name string) expr.Expr {
	column := expr.ColumnOf(id, e.Type(), e.Coercibility(), name)
	if !e.MayBeNull() {
		column = expr.NotNull(column)
	}
	return column
}

// plainColumn is the id of the column that e is, padded or not.
func plainColumn(e expr.Expr) (id int, ok bool) { return expr.Padded(e).ColumnIndex() }

// padChars marks the columns that PAD_CHAR_TO_FULL_LENGTH is about.
func padChars(mode types.SQLMode, columns []column) []column {
	if mode&types.ModePadCharToFullLength != 0 {
		for i := range columns {
			columns[i].padded = columns[i].info.Type.ID == types.TypeChar
		}
	}
	return columns
}

// tableColumns are the columns of one base table whose ids begin at first.
func tableColumns(t *catalog.Table, alias string, first int) []column {
	out, key := make([]column, len(t.Columns)), t.IntegerKey()
	for i := range t.Columns {
		out[i] = column{id: first + i, table: alias, schema: t.Schema, info: columnInfo(t, i, alias), hidden: t.Columns[i].Invisible, coer: expr.CoerImplicit, integerKey: i == key}
		out[i].zeroDate = findsZeroDate(out[i].info.Type, out[i].info.NotNull)
		if t.Columns[i].Hidden {
			out[i].hidden, out[i].merged, out[i].coalesced = true, true, true // no name finds it
		}
	}
	return out
}

// tableScope is the scope of one base table alone: ids are column ordinals.
func tableScope(t *catalog.Table, alias string) *scope {
	return &scope{columns: tableColumns(t, alias, 0)}
}

func columnInfo(t *catalog.Table, i int, alias string) sqlapi.ColumnInfo {
	c := t.Columns[i]
	primary, unique, multiple := t.IsKeyColumn(i)
	return sqlapi.ColumnInfo{
		Schema: t.Schema, Table: alias, OrgTable: t.Name, Name: c.Name, OrgName: c.Name, Type: c.Type,
		NotNull: c.NotNull, PriKey: primary, UniqueKey: unique, MultipleKey: multiple, AutoInc: c.AutoInc,
	}
}

// TableColumns describes the columns of a table, but for hidden ones, for COM_FIELD_LIST.
func TableColumns(t *catalog.Table) []sqlapi.ColumnInfo {
	out := make([]sqlapi.ColumnInfo, len(t.Visible()))
	for i := range out {
		out[i] = columnInfo(t, i, t.Name)
	}
	return out
}
