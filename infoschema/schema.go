package infoschema

import (
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

const catalogName = "def"

func schemata(q *query) error {
	return q.eachSchema(func(name string, db *catalog.Database) error {
		coll := schemaCollation(name, db)
		return q.emit(catalogName, name, coll.Charset().Name, coll.Name(), nil, "NO")
	})
}

// schemaCollation is a database's default collation.
func schemaCollation(name string, db *catalog.Database) types.CollationID {
	if db != nil {
		return db.Coll
	}
	return SchemaCollation(name)
}

// SchemaCollation is the default collation of a system schema.
func SchemaCollation(name string) types.CollationID {
	if strings.EqualFold(name, "information_schema") {
		return types.Utf8mb3GeneralCI
	}
	return types.DefaultCollation
}

// Described is a virtual table as SHOW CREATE TABLE sees one; nil if there is none of that name. view is the query of one that is a view.
func Described(schema, name string) (t *catalog.Table, view string) {
	l, s, _ := find(schema, name)
	if s == nil {
		return nil, ""
	}
	t = &catalog.Table{Schema: l.schema, Name: l.name, Engine: l.engine, Coll: SchemaCollation(schema)}
	if l.schema == "mysql" {
		t.Coll = types.Utf8mb3Bin
	}
	for i := range l.columns {
		c := &l.columns[i]
		col := &catalog.Column{Name: c.name, Ordinal: i, Type: c.kind, NotNull: !c.nullable}
		switch text, told := c.byDefault.(string); {
		case c.nullable:
			col.Default = &catalog.Default{Kind: catalog.DefaultNull}
		case strings.HasPrefix(text, "CURRENT_TIMESTAMP"):
			col.Default, col.OnUpdateNow = &catalog.Default{Kind: catalog.DefaultNow}, strings.Contains(c.extra, "on update")
		case told:
			value := types.Text(text)
			if c.kind.IsInteger() {
				n, _ := strconv.ParseInt(text, 10, 64) // COLUMNS shows an empty text for some zeros
				value = types.Int(n)
			}
			col.Default = &catalog.Default{Kind: catalog.DefaultLiteral, Value: value}
		}
		col.ExplicitCollation = l.schema != "information_schema" && c.kind.Coll != t.Coll && c.collation != ""
		t.Columns = append(t.Columns, col)
	}
	return t, s.view
}

func schemataExtensions(q *query) error {
	return q.eachSchema(func(name string, _ *catalog.Database) error { return q.emit(catalogName, name, "") })
}

func created(t *catalog.Table) moment { return moment(t.CreateMillis / 1000 * 1_000_000) }

func tables(q *query) error {
	err := q.eachLayout(func(l *layout) error {
		if l.kind == "VIEW" {
			return q.emitNamed("TABLE_CATALOG", catalogName, "TABLE_SCHEMA", l.schema, "TABLE_NAME", l.name, "TABLE_TYPE", "VIEW", "TABLE_COMMENT", "VIEW")
		}
		var engine, collation any
		if l.engine != "" {
			engine, collation = l.engine, types.DefaultCollation.Name()
		}
		if l.schema == "mysql" {
			collation = types.Utf8mb3Bin.Name()
		}
		return q.emit(catalogName, l.schema, l.name, l.kind, engine, 10, nil, 0, 0, 0, 0, 0, 0, nil, nil, nil, nil, collation, nil, "", "")
	})
	if err != nil {
		return err
	}
	written := q.updates()
	return q.eachTable(func(t *catalog.Table) error {
		if t.View != nil {
			return q.emitNamed("TABLE_CATALOG", catalogName, "TABLE_SCHEMA", t.Schema, "TABLE_NAME", t.Name, "TABLE_TYPE", "VIEW", "CREATE_TIME", created(t),
				"TABLE_COMMENT", "VIEW")
		}
		var auto any
		if next, ok := q.NextAutoIncrement(t); ok && next > 1 && !q.hidesKey(t) {
			auto = next
		}
		f, err := q.facts(t)
		if err != nil {
			return err
		}
		return q.emit(catalogName, t.Schema, t.Name, "BASE TABLE", t.Engine, 10, rowFormat(t), f.Rows, f.RowLength(), f.DataBytes, 0, f.Indexes(), 0, auto,
			created(t), at(written(t, &f)), nil, t.Coll.Name(), nil, createOptions(t), t.Comment)
	})
}

func rowFormat(t *catalog.Table) string {
	if f := t.Options.RowFormat; f != "" && f != "DEFAULT" {
		return f[:1] + strings.ToLower(f[1:])
	}
	return "Dynamic"
}

// createOptions lists the options that were given, in MySQL's order and words.
func createOptions(t *catalog.Table) string {
	o := &t.Options
	var list []string
	number := func(name string, n uint64) {
		if n > 0 {
			list = append(list, name+"="+string(types.AppendText(nil, nil, ptr(types.Uint(n)))))
		}
	}
	word := func(name, s string) {
		if s != "" {
			list = append(list, name+"="+s)
		}
	}
	number("max_rows", o.MaxRows)
	number("min_rows", o.MinRows)
	number("avg_row_length", o.AvgRowLength)
	word("row_format", o.RowFormat)
	word("stats_persistent", o.StatsPersist)
	word("pack_keys", o.PackKeys)
	word("stats_auto_recalc", o.StatsRecalc)
	number("stats_sample_pages", o.StatsPages)
	if o.Checksum {
		list = append(list, "checksum=1")
	}
	if o.DelayKeyWrite {
		list = append(list, "delay_key_write=1")
	}
	number("KEY_BLOCK_SIZE", o.KeyBlockSize)
	return strings.Join(list, " ")
}

func ptr[T any](v T) *T { return &v }

// factColumns are those that need a look at the data of a table.
var factColumns = []string{"TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "INDEX_LENGTH", "UPDATE_TIME"}

// facts are those of a table, or none if the statement reads no column of them: to look for them may cost a read of storage.
func (q *query) facts(t *catalog.Table) (TableFacts, error) {
	for _, name := range factColumns {
		if q.uses(name) {
			return q.Facts(t)
		}
	}
	return TableFacts{}, nil
}

// updates returns what tells when rows of a table were last written: by statements that have ended, committed or not, or before the node's start.
func (q *query) updates() func(t *catalog.Table, f *TableFacts) time.Time {
	if !q.uses("UPDATE_TIME") {
		return func(*catalog.Table, *TableFacts) time.Time { return time.Time{} }
	}
	writes := q.Writes()
	return func(t *catalog.Table, f *TableFacts) time.Time {
		if w := writes[t.PhysID].Truncate(time.Second); w.After(f.Updated) {
			return w
		}
		return f.Updated
	}
}

// cardinality is about how many different values the first columns of an index have, if the statement wants to know.
func (q *query) cardinality(t *catalog.Table, index *catalog.Index, columns int) (uint64, error) {
	if !q.uses("CARDINALITY") {
		return 0, nil
	}
	return q.Cardinality(t, index, columns)
}

func tablesExtensions(q *query) error {
	err := q.eachLayout(func(l *layout) error { return q.emit(catalogName, l.schema, l.name) })
	if err != nil {
		return err
	}
	return q.eachTable(func(t *catalog.Table) error { return q.emit(catalogName, t.Schema, t.Name) })
}

// partitions has one line for a table without partitions.
func partitions(q *query) error {
	err := q.eachLayout(func(l *layout) error {
		return q.emitNamed("TABLE_CATALOG", catalogName, "TABLE_SCHEMA", l.schema, "TABLE_NAME", l.name)
	})
	if err != nil {
		return err
	}
	written := q.updates()
	return q.eachTable(func(t *catalog.Table) error {
		f, err := q.facts(t) // of a view there are none, and it has a line as in MySQL
		if err != nil {
			return err
		}
		return q.emitNamed("TABLE_CATALOG", catalogName, "TABLE_SCHEMA", t.Schema, "TABLE_NAME", t.Name, "TABLE_ROWS", f.Rows, "AVG_ROW_LENGTH", f.RowLength(),
			"DATA_LENGTH", f.DataBytes, "MAX_DATA_LENGTH", 0, "INDEX_LENGTH", f.Indexes(), "DATA_FREE", 0, "CREATE_TIME", created(t), "UPDATE_TIME", at(written(t, &f)),
			"PARTITION_COMMENT", "", "NODEGROUP", "")
	})
}

func statistics(q *query) error {
	return q.eachIndex(func(t *catalog.Table, index *catalog.Index) error {
		for i, part := range index.Columns {
			var sub any
			if part.PrefixLen > 0 {
				sub = int64(part.PrefixLen)
			}
			direction, nullable := "A", ""
			if part.Desc {
				direction = "D"
			}
			if !t.Columns[part.Col].NotNull {
				nullable = "YES"
			}
			var name, expression any = t.Columns[part.Col].Name, nil
			if c := t.Columns[part.Col]; c.Hidden {
				name, expression = nil, generationText(c)
			}
			cardinality, err := q.cardinality(t, index, i+1)
			if err != nil {
				return err
			}
			err = q.emit(catalogName, t.Schema, t.Name, boolInt(!index.Unique), t.Schema, index.Name, uint64(i+1), name, direction,
				cardinality, sub, nil, nullable, "BTREE", "", index.Comment, yesNo(index.Visible), expression)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func keyColumnUsage(q *query) error {
	return q.eachTable(func(t *catalog.Table) error {
		for _, index := range t.Indexes {
			if !index.Unique || index.State != catalog.StatePublic {
				continue
			}
			for i, part := range index.Columns {
				if t.Columns[part.Col].Hidden || !q.shows(t, part.Col) {
					continue
				}
				err := q.emit(catalogName, t.Schema, index.Name, catalogName, t.Schema, t.Name, t.Columns[part.Col].Name, uint64(i+1), nil, nil, nil, nil)
				if err != nil {
					return err
				}
			}
		}
		return foreignColumnUsage(q, t)
	})
}

// checkConstraints lists the CHECKs, in the escaped form in which MySQL keeps them.
func checkConstraints(q *query) error {
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`)
	return q.eachTable(func(t *catalog.Table) error {
		for i := range t.Checks {
			if err := q.emit(catalogName, t.Schema, t.Checks[i].Name, escape.Replace(t.Checks[i].Expr)); err != nil {
				return err
			}
		}
		return nil
	})
}

func tableConstraints(q *query) error {
	err := q.eachIndex(func(t *catalog.Table, index *catalog.Index) error {
		if !index.Unique {
			return nil
		}
		return q.emit(catalogName, t.Schema, index.Name, t.Schema, t.Name, constraintKind(index), "YES")
	})
	if err != nil {
		return err
	}
	return q.eachTable(func(t *catalog.Table) error {
		for i := range t.ForeignKeys {
			if err := q.emit(catalogName, t.Schema, t.ForeignKeys[i].Name, t.Schema, t.Name, "FOREIGN KEY", "YES"); err != nil {
				return err
			}
		}
		for i := range t.Checks {
			c := &t.Checks[i]
			if err := q.emit(catalogName, t.Schema, c.Name, t.Schema, t.Name, "CHECK", yesNo(!c.NotEnforced)); err != nil {
				return err
			}
		}
		return nil
	})
}

func constraintKind(index *catalog.Index) string {
	if index.Primary {
		return "PRIMARY KEY"
	}
	return "UNIQUE"
}

func tableConstraintsExtensions(q *query) error {
	return q.eachIndex(func(t *catalog.Table, index *catalog.Index) error {
		if !index.Unique {
			return nil
		}
		return q.emit(catalogName, t.Schema, index.Name, t.Name)
	})
}

// views lists the views. One that shows rows of tables as they are can be changed.
func views(q *query) error {
	err := q.eachLayout(func(l *layout) error {
		if l.kind != "VIEW" {
			return nil
		}
		_, s, _ := find(l.schema, l.name)
		return q.emit(catalogName, l.schema, l.name, s.view, "NONE", "NO", "mysql.sys@localhost", "INVOKER", "utf8mb4", types.DefaultCollation.Name())
	})
	if err != nil {
		return err
	}
	return q.eachTable(func(t *catalog.Table) error {
		v := t.View
		if v == nil {
			return nil
		}
		check, security := "NONE", "DEFINER"
		if v.Check != "" {
			check = v.Check
		}
		if v.Invoker {
			security = "INVOKER"
		}
		return q.emit(catalogName, t.Schema, t.Name, q.CanonicalView(t), check, yesNo(v.Updatable), v.DefinerUser+"@"+v.DefinerHost, security, v.Charset, v.Collation)
	})
}

func viewTableUsage(q *query) error {
	return q.eachTable(func(t *catalog.Table) error {
		if t.View == nil {
			return nil
		}
		for _, used := range q.ViewTables(t) {
			if err := q.emit(catalogName, t.Schema, t.Name, catalogName, used.Schema, used.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

func characterSets(q *query) error {
	for _, charset := range types.Charsets() {
		if err := q.emit(charset.Name, charset.Default.Name(), charset.Description, uint64(charset.MaxLen)); err != nil {
			return err
		}
	}
	return nil
}

func collations(q *query) error {
	for _, id := range types.Collations() {
		isDefault, pad := "", "NO PAD"
		if id.IsDefault() {
			isDefault = "Yes"
		}
		if id.PadSpace() {
			pad = "PAD SPACE"
		}
		if err := q.emit(id.Name(), id.Charset().Name, uint64(id), isDefault, "Yes", uint64(sortLength(id)), pad); err != nil {
			return err
		}
	}
	return nil
}

func applicability(q *query) error {
	for _, id := range types.Collations() {
		if err := q.emit(id.Name(), id.Charset().Name); err != nil {
			return err
		}
	}
	return nil
}

// microseconds of a time, which is when the row's fact came to be.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return moment(t.UnixMicro())
}
