package infoschema

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/types"
)

// Provider is what the tables are made from. A session implements it; one goroutine at a time calls it.
type Provider interface {
	Snapshot() *catalog.Snapshot
	// Variables lists the system variables of the session or of the node, by name.
	Variables(global bool) [][2]string
	// Status lists counters by name.
	Status(global bool) [][2]string
	Processes() []Process
	// RowCount estimates a table's rows; ok is false if nobody has analysed it.
	RowCount(t *catalog.Table) (rows float64, ok bool)
	// Distinct estimates the different values of the first columns of an index; 0 is unknown.
	Distinct(t *catalog.Table, index *catalog.Index, columns int) float64
	// NextAutoIncrement is the next value that the table would give; ok is false for a table without the column.
	NextAutoIncrement(t *catalog.Table) (next uint64, ok bool)
	// Visible reports whether the account may know of a table of the database; table is empty for the database itself.
	Visible(database, table string) bool
}

// Process is one line of the process list.
type Process struct {
	ID                   uint64
	User, Host, Database string
	Command              string
	Seconds              int64
	State, Info          string
}

// Tables are the virtual tables as one session sees them.
type Tables struct{ Provider Provider }

// view is what a table's rows are made from: the provider, and the list of virtual tables itself, which TABLES shows.
type view struct {
	Provider
	all map[string]map[string]definition
}

// definition describes one virtual table: its columns as "name type" words, and the function that makes its rows.
type definition struct {
	columns []string
	rows    func(p view, emit func(row ...any) error) error
}

// Schemas are the system schemas, in the order of SHOW DATABASES.
var Schemas = []string{"information_schema", "performance_schema"}

// SystemTable finds a table by name in any case; known tells whether the schema is a system schema.
func (t Tables) SystemTable(schema, name string) (*plan.SystemTable, bool) {
	group, known := definitions[strings.ToLower(schema)]
	if !known {
		return nil, false
	}
	def, ok := group[strings.ToLower(name)]
	if !ok {
		return nil, true
	}
	table := &plan.SystemTable{Schema: strings.ToLower(schema), Name: shownName(schema, name), Columns: def.list()}
	v := view{t.Provider, definitions}
	table.Fill = func(_ *exec.Runtime, emit func(row []types.Value) error) error {
		if def.rows == nil {
			return nil
		}
		row := make([]types.Value, len(table.Columns))
		return def.rows(v, func(values ...any) error {
			for i := range row {
				row[i] = types.Null()
				if i < len(values) {
					row[i] = value(values[i])
				}
				if row[i].K == types.KindString {
					row[i].Coll = table.Columns[i].Type.Coll
				}
			}
			return emit(row)
		})
	}
	return table, true
}

// shownName is a virtual table's name as MySQL writes it.
func shownName(schema, name string) string {
	if strings.EqualFold(schema, "performance_schema") {
		return strings.ToLower(name)
	}
	return strings.ToUpper(name)
}

// list gives the columns their types.
func (d *definition) list() []plan.SystemColumn {
	out := make([]plan.SystemColumn, len(d.columns))
	for i, c := range d.columns {
		column, kind, _ := strings.Cut(c, " ")
		out[i] = plan.SystemColumn{Name: column, Type: columnTypes[kind]}
		if namesTables(column) {
			out[i].Type.Coll = types.Utf8mb3Bin
		}
	}
	return out
}

// namesTables reports whether a column holds names of databases or tables. They tell case apart as the catalog does, and as MySQL does where
// its file system does.
func namesTables(column string) bool {
	switch column {
	case "SCHEMA_NAME", "TABLE_NAME", "REFERENCED_TABLE_NAME", "EVENT_OBJECT_TABLE":
		return true
	}
	return strings.HasSuffix(column, "_SCHEMA")
}

// columnTypes maps the words in definitions to types. Names of all else than databases and tables compare without case.
var columnTypes = map[string]types.Type{
	"":     {ID: types.TypeVarchar, Length: 64, Coll: types.Utf8mb3GeneralCI},
	"text": {ID: types.TypeLongText, Length: -1, Coll: types.Utf8mb3GeneralCI},
	"long": {ID: types.TypeVarchar, Length: 1024, Coll: types.Utf8mb3GeneralCI},
	"int":  {ID: types.TypeBigInt, Length: -1},
	"uint": {ID: types.TypeBigInt, Length: -1, Unsigned: true},
	"time": {ID: types.TypeDatetime, Length: -1},
}

// value turns a Go value of a row into SQL's; nil is NULL. A text gets its column's collation from the caller.
func value(v any) types.Value {
	switch v := v.(type) {
	case string:
		return types.String([]byte(v), 0)
	case int:
		return types.Int(int64(v))
	case int64:
		return types.Int(v)
	case uint64:
		return types.Uint(v)
	case types.Value:
		return v
	}
	return types.Null()
}

// definitions lists every virtual table by schema and lower-case name.
var definitions = map[string]map[string]definition{
	"information_schema": {
		"schemata": {[]string{"CATALOG_NAME", "SCHEMA_NAME", "DEFAULT_CHARACTER_SET_NAME", "DEFAULT_COLLATION_NAME", "SQL_PATH long", "DEFAULT_ENCRYPTION"}, schemata},
		"tables": {[]string{"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "TABLE_TYPE", "ENGINE", "VERSION int", "ROW_FORMAT", "TABLE_ROWS uint", "AVG_ROW_LENGTH uint",
			"DATA_LENGTH uint", "MAX_DATA_LENGTH uint", "INDEX_LENGTH uint", "DATA_FREE uint", "AUTO_INCREMENT uint", "CREATE_TIME time", "UPDATE_TIME time",
			"CHECK_TIME time", "TABLE_COLLATION", "CHECKSUM int", "CREATE_OPTIONS long", "TABLE_COMMENT text"}, tables},
		"columns": {[]string{"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "ORDINAL_POSITION uint", "COLUMN_DEFAULT text", "IS_NULLABLE", "DATA_TYPE text",
			"CHARACTER_MAXIMUM_LENGTH int", "CHARACTER_OCTET_LENGTH int", "NUMERIC_PRECISION uint", "NUMERIC_SCALE uint", "DATETIME_PRECISION uint", "CHARACTER_SET_NAME",
			"COLLATION_NAME", "COLUMN_TYPE text", "COLUMN_KEY", "EXTRA long", "PRIVILEGES long", "COLUMN_COMMENT text", "GENERATION_EXPRESSION text", "SRS_ID uint"}, columns},
		"statistics": {[]string{"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "NON_UNIQUE int", "INDEX_SCHEMA", "INDEX_NAME", "SEQ_IN_INDEX uint", "COLUMN_NAME", "COLLATION",
			"CARDINALITY int", "SUB_PART int", "PACKED", "NULLABLE", "INDEX_TYPE", "COMMENT", "INDEX_COMMENT long", "IS_VISIBLE", "EXPRESSION text"}, statistics},
		"key_column_usage": {[]string{"CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "ORDINAL_POSITION uint",
			"POSITION_IN_UNIQUE_CONSTRAINT uint", "REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME", "REFERENCED_COLUMN_NAME"}, keyColumnUsage},
		"table_constraints": {[]string{"CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_SCHEMA", "TABLE_NAME", "CONSTRAINT_TYPE", "ENFORCED"}, tableConstraints},
		"engines": {[]string{"ENGINE", "SUPPORT", "COMMENT", "TRANSACTIONS", "XA", "SAVEPOINTS"}, func(_ view, emit func(...any) error) error {
			return emit("InnoDB", "DEFAULT", "Pando's replicated key space", "YES", "NO", "YES")
		}},
		"character_sets": {[]string{"CHARACTER_SET_NAME", "DEFAULT_COLLATE_NAME", "DESCRIPTION long", "MAXLEN uint"}, characterSets},
		"collations":     {[]string{"COLLATION_NAME", "CHARACTER_SET_NAME", "ID uint", "IS_DEFAULT", "IS_COMPILED", "SORTLEN uint", "PAD_ATTRIBUTE"}, collations},
		"collation_character_set_applicability": {[]string{"COLLATION_NAME", "CHARACTER_SET_NAME"}, func(_ view, emit func(...any) error) error {
			for _, id := range types.Collations() {
				if err := emit(id.Name(), id.Charset().Name); err != nil {
					return err
				}
			}
			return nil
		}},
		"processlist":             {[]string{"ID uint", "USER", "HOST", "DB", "COMMAND", "TIME int", "STATE", "INFO text"}, processlist},
		"column_statistics":       absent(statisticsColumns),
		"views":                   {strings.Split(viewColumns, ", "), views},
		"triggers":                absent(triggerColumns),
		"routines":                absent(routineColumns),
		"parameters":              absent(parameterColumns),
		"events":                  absent(eventColumns),
		"referential_constraints": absent(referentialColumns),
		"check_constraints":       {strings.Split(checkColumns, ", "), checkConstraints},
		"partitions":              absent(partitionColumns),
		"files":                   absent(fileColumns),
		"plugins":                 absent(pluginColumns),
	},
	"performance_schema": {
		"session_variables": {[]string{"VARIABLE_NAME", "VARIABLE_VALUE long"}, func(p view, emit func(...any) error) error { return pairs(p.Variables(false), emit) }},
		"global_variables":  {[]string{"VARIABLE_NAME", "VARIABLE_VALUE long"}, func(p view, emit func(...any) error) error { return pairs(p.Variables(true), emit) }},
		"session_status":    {[]string{"VARIABLE_NAME", "VARIABLE_VALUE long"}, func(p view, emit func(...any) error) error { return pairs(p.Status(false), emit) }},
		"global_status":     {[]string{"VARIABLE_NAME", "VARIABLE_VALUE long"}, func(p view, emit func(...any) error) error { return pairs(p.Status(true), emit) }},
	},
}

func pairs(list [][2]string, emit func(...any) error) error {
	for _, pair := range list {
		if err := emit(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}
