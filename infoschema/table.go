package infoschema

import (
	"strings"

	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/types"
)

// Tables are the virtual tables as one session sees them.
type Tables struct{ Provider Provider }

// Schemas are the system schemas in the order of SHOW DATABASES.
var Schemas = []string{"information_schema", "mysql", "performance_schema", "sys"}

// source says where the rows of a virtual table come from.
type source struct {
	// rows makes them; nil leaves the table empty, for the reason that empty gives.
	rows  func(q *query) error
	empty string
	// view is the query of a view of sys, whose columns are the table's by their places.
	view string
	// schema and table are the columns by which the rows can be found without making all of them: a database's name and a table's. also is
	// one with the same value as schema.
	schema, table, also string
	// layout is the table's if MySQL has written it down; the list of sources has those that it has not.
	layout *layout
}

// find looks a table up, in any case. known tells whether the schema is one of the system schemas.
func find(schema, name string) (l *layout, s *source, known bool) {
	schema, name = strings.ToLower(schema), strings.ToLower(name)
	group, known := sources()[schema]
	if !known {
		return nil, nil, false
	}
	s = group[name]
	if s == nil {
		return nil, nil, true
	}
	return s.layout, s, true
}

// SystemTable finds a table by name in any case; known tells whether the schema is a system schema.
func (t Tables) SystemTable(schema, name string) (*plan.SystemTable, bool) {
	l, s, known := find(schema, name)
	if s == nil {
		return nil, known
	}
	out := &plan.SystemTable{Schema: l.schema, Name: l.name, Columns: make([]plan.SystemColumn, len(l.columns)), Denied: t.denied(l)}
	for i := range l.columns {
		c := &l.columns[i]
		key := s.schema != "" && (c.name == s.schema || c.name == s.table || c.name == s.also)
		out.Columns[i] = plan.SystemColumn{Name: c.name, Type: c.kind, NotNull: !c.nullable, Key: key}
	}
	if s.view != "" {
		q, err := parseQuery(s.view)
		if err != nil {
			panic("infoschema: " + l.name + ": " + err.Error()) // a test reads every view
		}
		out.Query = q
		return out, true
	}
	out.Fill = func(f *plan.SystemFilter, emit func(row []types.Value) error) error {
		if s.rows == nil {
			return nil
		}
		q := &query{Provider: t.Provider, layout: l, source: s, filter: f, row: make([]types.Value, len(l.columns)), send: emit}
		return s.rows(q)
	}
	return out, true
}

// openToAll are the tables of performance_schema that everybody may read, as in MySQL.
var openToAll = map[string]bool{"global_status": true, "session_status": true, "global_variables": true, "session_variables": true, "processlist": true,
	"session_account_connect_attrs": true, "keyring_keys": true, "tls_channel_status": true}

// denied is why the account may not read a table, nil if it may. information_schema shows each what it may see.
func (t Tables) denied(l *layout) error {
	if l.schema == "information_schema" || l.schema == "performance_schema" && openToAll[l.name] {
		return nil
	}
	return t.Provider.MayRead(l.schema, l.name)
}

// query is one reading of a virtual table.
type query struct {
	Provider
	layout *layout
	source *source
	filter *plan.SystemFilter
	row    []types.Value
	send   func(row []types.Value) error
}

// uses reports whether the statement reads a column.
func (q *query) uses(name string) bool {
	at := q.layout.column(name)
	return at >= 0 && q.filter.Uses(at)
}

// lenient converts the values of rows as a session without strict mode does.
var lenient = types.Context{}

// emit sends a row, whose values are in the order of the columns. Those that are missing are NULL, or nothing where that is not allowed.
func (q *query) emit(values ...any) error {
	for i := range q.layout.columns {
		var v any
		if i < len(values) {
			v = values[i]
		}
		if err := q.set(i, v); err != nil {
			return err
		}
	}
	return q.send(q.row)
}

// emitNamed sends a row of which the named columns have values.
func (q *query) emitNamed(pairs ...any) error {
	for i := range q.layout.columns {
		if err := q.set(i, nil); err != nil {
			return err
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		at := q.layout.column(pairs[i].(string))
		if at < 0 {
			panic("infoschema: " + q.layout.name + " has no column " + pairs[i].(string))
		}
		if err := q.set(at, pairs[i+1]); err != nil {
			return err
		}
	}
	return q.send(q.row)
}

// set gives a column of the row at hand a value.
func (q *query) set(i int, from any) error {
	c := &q.layout.columns[i]
	v := value(from)
	if v.IsNull() && !c.nullable {
		v = nothing(&c.kind)
	}
	if c.kind.IsText() && v.K == types.KindString {
		v.Coll = c.kind.Coll // all text here is UTF-8, as in the sets of these columns
		q.row[i] = v
		return nil
	}
	var err error
	q.row[i], err = types.Convert(&lenient, v, c.kind, c.name, 1)
	return err
}

// nothing is the value of a column that has none and can't be NULL.
func nothing(t *types.Type) types.Value {
	switch {
	case t.IsNumeric():
		return types.Int(0)
	case t.ID == types.TypeEnum:
		return types.Text(t.Elems[0])
	case t.IsTemporal() && t.ID != types.TypeTime:
		return types.Datetime(0, uint8(max(t.Scale, 0)))
	}
	return types.Text("")
}

// value turns a Go value of a row into SQL's; nil is NULL.
func value(v any) types.Value {
	switch v := v.(type) {
	case string:
		return types.Text(v)
	case []byte:
		return types.Text(string(v))
	case int:
		return types.Int(int64(v))
	case int64:
		return types.Int(v)
	case uint64:
		return types.Uint(v)
	case float64:
		return types.Float(v)
	case bool:
		return types.Bool(v)
	case moment:
		return types.Timestamp(int64(v), 6)
	case types.Value:
		return v
	}
	return types.Null()
}

// moment is a time in microseconds since 1970.
type moment int64

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
