package infoschema

import (
	"math"
	"strings"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

const catalogName = "def"

func schemata(p view, emit func(...any) error) error {
	for _, name := range Schemas {
		if err := emit(catalogName, name, "utf8mb3", "utf8mb3_general_ci", nil, "NO"); err != nil {
			return err
		}
	}
	for _, db := range p.Snapshot().Databases() {
		if !p.Visible(db.Name, "") {
			continue
		}
		if err := emit(catalogName, db.Name, db.Coll.Charset().Name, db.Coll.Name(), nil, "NO"); err != nil {
			return err
		}
	}
	return nil
}

// eachTable calls f for every base table that the account may see.
func eachTable(p view, f func(t *catalog.Table) error) error {
	snapshot := p.Snapshot()
	for _, db := range snapshot.Databases() {
		for _, t := range snapshot.Tables(db.Name) {
			if !p.Visible(db.Name, t.Name) {
				continue
			}
			if err := f(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func tables(p view, emit func(...any) error) error {
	for schema, group := range p.all {
		for name := range group {
			if err := emit(catalogName, schema, shownName(schema, name), "SYSTEM VIEW", nil, 10, nil, 0, 0, 0, 0, 0, 0, nil, nil, nil, nil, nil, nil, "", ""); err != nil {
				return err
			}
		}
	}
	return eachTable(p, func(t *catalog.Table) error {
		var auto any
		if next, ok := p.NextAutoIncrement(t); ok {
			auto = next
		}
		created := types.Datetime(types.PackTime(time.UnixMilli(t.CreateMillis).UTC().Truncate(time.Second)), 0)
		if t.View != nil {
			return emit(catalogName, t.Schema, t.Name, "VIEW", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, created, nil, nil, nil, nil, nil, "VIEW")
		}
		return emit(catalogName, t.Schema, t.Name, "BASE TABLE", t.Engine, 10, "Dynamic", rowCount(p, t), 0, 0, 0, 0, 0, auto, created, nil, nil,
			t.Coll.Name(), nil, "", t.Comment)
	})
}

// rowCount is NULL for a table that nobody has analysed: a guess would look like a count.
func rowCount(p view, t *catalog.Table) any {
	if rows, ok := p.RowCount(t); ok {
		return uint64(math.Round(rows))
	}
	return nil
}

// cardinality is the number of different values of the first columns of an index, NULL if unknown.
func cardinality(p view, t *catalog.Table, index *catalog.Index, columns int) any {
	if n := p.Distinct(t, index, columns); n > 0 {
		return int64(math.Round(n))
	}
	if rows, ok := p.RowCount(t); ok && rows == 0 {
		return int64(0)
	}
	return nil
}

// systemColumns describes the virtual tables themselves.
func systemColumns(p view, emit func(...any) error) error {
	for schema := range p.all {
		for name, def := range p.all[schema] {
			for i, c := range def.list() {
				column := &catalog.Column{Name: c.Name, Type: c.Type}
				row := columnRow(&catalog.Table{Schema: schema, Name: shownName(schema, name), Columns: []*catalog.Column{column}}, 0, column)
				row[4] = uint64(i + 1)
				if err := emit(row...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func columns(p view, emit func(...any) error) error {
	if err := systemColumns(p, emit); err != nil {
		return err
	}
	return eachTable(p, func(t *catalog.Table) error {
		for i, c := range t.Columns {
			if err := emit(columnRow(t, i, c)...); err != nil {
				return err
			}
		}
		return nil
	})
}

func columnRow(t *catalog.Table, i int, c *catalog.Column) []any {
	var length, octets, precision, scale, fsp, charset, collation any
	kind := &c.Type
	switch {
	case kind.IsText():
		length, octets = int64(kind.Length), kind.MaxBytes()
		if kind.IsBlob() {
			length = kind.MaxBytes() // MySQL divides by the shortest character, which has one byte in every set that columns have here
		}
	case kind.IsBinaryString():
		length, octets = kind.MaxBytes(), kind.MaxBytes()
	case kind.IsInteger():
		precision, scale = uint64(integerDigits[kind.ID]), uint64(0)
		if kind.ID == types.TypeBigInt && kind.Unsigned {
			precision = uint64(20)
		}
	case kind.ID == types.TypeDecimal:
		precision, scale = uint64(kind.Length), uint64(kind.Scale)
	case kind.ID == types.TypeFloat:
		precision = uint64(12)
	case kind.ID == types.TypeDouble:
		precision = uint64(22)
	case kind.ID == types.TypeBit:
		precision = uint64(kind.Length)
	case kind.IsTemporal() && kind.ID != types.TypeDate:
		fsp = uint64(kind.Scale)
	}
	if kind.IsText() || kind.ID == types.TypeEnum || kind.ID == types.TypeSet {
		charset, collation = kind.Coll.Charset().Name, kind.Coll.Name()
	}
	return []any{catalogName, t.Schema, t.Name, c.Name, uint64(i + 1), defaultText(c), yesNo(!c.NotNull), kind.Name(), length, octets, precision, scale, fsp,
		charset, collation, c.Type.String(), keyText(t, i), extraText(c), "select,insert,update,references", c.Comment, "", nil}
}

var integerDigits = map[types.TypeID]int{types.TypeTinyInt: 3, types.TypeSmallInt: 5, types.TypeMediumInt: 7, types.TypeInt: 10, types.TypeBigInt: 19}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func keyText(t *catalog.Table, i int) string {
	switch primary, unique, multiple := t.IsKeyColumn(i); {
	case primary:
		return "PRI"
	case unique:
		return "UNI"
	case multiple:
		return "MUL"
	}
	return ""
}

func defaultText(c *catalog.Column) any {
	if c.Default == nil {
		return nil
	}
	switch c.Default.Kind {
	case catalog.DefaultLiteral:
		v := c.Default.Value
		return string(types.AppendText(nil, nil, &v))
	case catalog.DefaultNow:
		return nowText(c)
	case catalog.DefaultExpr:
		return c.Default.Expr
	}
	return nil
}

func nowText(c *catalog.Column) string {
	if c.Type.Scale > 0 {
		return "CURRENT_TIMESTAMP(" + string(rune('0'+c.Type.Scale)) + ")"
	}
	return "CURRENT_TIMESTAMP"
}

func extraText(c *catalog.Column) string {
	var parts []string
	if c.AutoInc {
		parts = append(parts, "auto_increment")
	}
	if c.Default != nil && (c.Default.Kind == catalog.DefaultNow || c.Default.Kind == catalog.DefaultExpr) {
		parts = append(parts, "DEFAULT_GENERATED")
	}
	if c.OnUpdateNow {
		parts = append(parts, "on update "+nowText(c))
	}
	if c.Invisible {
		parts = append(parts, "INVISIBLE")
	}
	return strings.Join(parts, " ")
}

// eachIndex calls f for every public index of every visible table.
func eachIndex(p view, f func(t *catalog.Table, index *catalog.Index) error) error {
	return eachTable(p, func(t *catalog.Table) error {
		for _, index := range t.Indexes {
			if index.State != catalog.StatePublic {
				continue
			}
			if err := f(t, index); err != nil {
				return err
			}
		}
		return nil
	})
}

func statistics(p view, emit func(...any) error) error {
	return eachIndex(p, func(t *catalog.Table, index *catalog.Index) error {
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
			err := emit(catalogName, t.Schema, t.Name, boolInt(!index.Unique), t.Schema, index.Name, uint64(i+1), t.Columns[part.Col].Name, direction,
				cardinality(p, t, index, i+1), sub, nil, nullable, "BTREE", "", index.Comment, yesNo(index.Visible), nil)
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

func keyColumnUsage(p view, emit func(...any) error) error {
	return eachIndex(p, func(t *catalog.Table, index *catalog.Index) error {
		if !index.Unique {
			return nil
		}
		for i, part := range index.Columns {
			if err := emit(catalogName, t.Schema, index.Name, catalogName, t.Schema, t.Name, t.Columns[part.Col].Name, uint64(i+1), nil, nil, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkConstraints lists the CHECKs, in the escaped form in which MySQL keeps them.
func checkConstraints(p view, emit func(...any) error) error {
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`)
	return eachTable(p, func(t *catalog.Table) error {
		for i := range t.Checks {
			if err := emit(catalogName, t.Schema, t.Checks[i].Name, escape.Replace(t.Checks[i].Expr)); err != nil {
				return err
			}
		}
		return nil
	})
}

func tableConstraints(p view, emit func(...any) error) error {
	err := eachTable(p, func(t *catalog.Table) error {
		for i := range t.Checks {
			c := &t.Checks[i]
			if err := emit(catalogName, t.Schema, c.Name, t.Schema, t.Name, "CHECK", yesNo(!c.NotEnforced)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return eachIndex(p, func(t *catalog.Table, index *catalog.Index) error {
		if !index.Unique {
			return nil
		}
		kind := "UNIQUE"
		if index.Primary {
			kind = "PRIMARY KEY"
		}
		return emit(catalogName, t.Schema, index.Name, t.Schema, t.Name, kind, "YES")
	})
}

func characterSets(_ view, emit func(...any) error) error {
	for _, charset := range types.Charsets() {
		if err := emit(charset.Name, charset.Default.Name(), charset.Description, uint64(charset.MaxLen)); err != nil {
			return err
		}
	}
	return nil
}

func collations(_ view, emit func(...any) error) error {
	for _, id := range types.Collations() {
		isDefault, pad := "", "NO PAD"
		if id.IsDefault() {
			isDefault = "Yes"
		}
		if id.PadSpace() {
			pad = "PAD SPACE"
		}
		if err := emit(id.Name(), id.Charset().Name, uint64(id), isDefault, "Yes", uint64(1), pad); err != nil {
			return err
		}
	}
	return nil
}

func processlist(p view, emit func(...any) error) error {
	for _, process := range p.Processes() {
		var db, info any
		if process.Database != "" {
			db = process.Database
		}
		if process.Info != "" {
			info = process.Info
		}
		if err := emit(process.ID, process.User, process.Host, db, process.Command, process.Seconds, process.State, info); err != nil {
			return err
		}
	}
	return nil
}

// views lists the views. One that shows rows of tables as they are can be changed.
func views(p view, emit func(...any) error) error {
	return eachTable(p, func(t *catalog.Table) error {
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
		updatable := "NO"
		if v.Updatable {
			updatable = "YES"
		}
		return emit(catalogName, t.Schema, t.Name, v.Query, check, updatable, v.DefinerUser+"@"+v.DefinerHost, security, v.Charset, v.Collation)
	})
}
