package infoschema

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/pandodb/pando/types"
)

// recorded holds the columns of MySQL's system tables as a MySQL wrote them down (tests/dictionary/record).
//
//go:embed record/tables.txt
var recorded string

// column is one column of a virtual table.
type column struct {
	name string
	// shown and collation are what the dictionary says of the column. kind is how its values are kept here, which differs where MySQL's own
	// collation or type is not needed by anybody but the dictionary.
	shown, collation string
	kind             types.Type
	nullable         bool
	// key and extra are COLUMN_KEY and EXTRA, and byDefault is COLUMN_DEFAULT, nil for NULL.
	key, extra string
	byDefault  any
}

// layout is what MySQL says of one of its system tables.
type layout struct {
	schema, name string
	// kind is TABLE_TYPE, and engine ENGINE, empty for NULL.
	kind, engine string
	columns      []column
}

func (l *layout) column(name string) int {
	for i := range l.columns {
		if strings.EqualFold(l.columns[i].name, name) {
			return i
		}
	}
	return -1
}

// layouts are all recorded tables by schema and lower-case name.
var layouts = sync.OnceValue(func() map[string]map[string]*layout {
	all := map[string]map[string]*layout{}
	var l *layout
	for i, line := range strings.Split(recorded, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if fields[0] != "" {
			schema, name, _ := strings.Cut(fields[0], ".")
			l = &layout{schema: schema, name: name, kind: fields[1], engine: strings.Trim(fields[2], "-")}
			if all[schema] == nil {
				all[schema] = map[string]*layout{}
			}
			all[schema][strings.ToLower(name)] = l
			continue
		}
		c := column{name: fields[1], shown: fields[2], collation: strings.Trim(fields[3], "-")}
		for _, field := range fields[4:] {
			switch name, value, _ := strings.Cut(field, "="); name {
			case "NULL":
				c.nullable = true
			case "default":
				c.byDefault = value
			case "key":
				c.key = value
			case "extra":
				c.extra = value
			default:
				panic(fmt.Sprintf("infoschema: line %d of record/tables.txt: unknown field %q", i+1, field))
			}
		}
		kind, err := parseType(c.shown, c.collation)
		if err != nil {
			panic(fmt.Sprintf("infoschema: line %d of record/tables.txt: %v", i+1, err))
		}
		c.kind = kind
		l.columns = append(l.columns, c)
	}
	return all
})

// typeIDs are the types that system tables have.
var typeIDs = map[string]types.TypeID{"tinyint": types.TypeTinyInt, "smallint": types.TypeSmallInt, "mediumint": types.TypeMediumInt, "int": types.TypeInt,
	"bigint": types.TypeBigInt, "float": types.TypeFloat, "double": types.TypeDouble, "decimal": types.TypeDecimal, "date": types.TypeDate,
	"time": types.TypeTime, "datetime": types.TypeDatetime, "timestamp": types.TypeTimestamp, "char": types.TypeChar, "varchar": types.TypeVarchar,
	"binary": types.TypeBinary, "varbinary": types.TypeVarbinary, "text": types.TypeText, "mediumtext": types.TypeMediumText, "longtext": types.TypeLongText,
	"blob": types.TypeBlob, "mediumblob": types.TypeMediumBlob, "longblob": types.TypeLongBlob, "enum": types.TypeEnum, "set": types.TypeSet,
	"json": types.TypeJSON}

// parseType reads a type as COLUMN_TYPE shows it. Decimals without digits behind the point are integers where they fit: all of them are counts.
func parseType(text, collation string) (types.Type, error) {
	words := strings.Fields(text)
	name, args, _ := strings.Cut(words[0], "(")
	if name == "enum" || name == "set" {
		_, args, _ = strings.Cut(text, "(")
	}
	args = strings.TrimSuffix(args, ")")
	id, known := typeIDs[name]
	if !known {
		return types.Type{}, fmt.Errorf("unknown type %q", text)
	}
	t := types.Type{ID: id, Length: -1, Unsigned: strings.Contains(text, "unsigned")}
	switch {
	case id == types.TypeEnum || id == types.TypeSet:
		t.Elems = strings.Split(args[1:len(args)-1], "','")
	case id == types.TypeFloat || id == types.TypeDouble:
		t.Scale = -1
	case args != "":
		length, scale, _ := strings.Cut(args, ",")
		n, err := strconv.Atoi(length)
		if err != nil {
			return t, err
		}
		t.Length = int32(n)
		if d, err := strconv.Atoi(scale); err == nil {
			t.Scale = int8(d)
		}
		if t.IsTemporal() {
			t.Length, t.Scale = -1, int8(n)
		}
		if id == types.TypeDecimal && n > types.MaxDecimalPrecision {
			t.Length = types.MaxDecimalPrecision
		}
	}
	if id >= types.TypeChar && id <= types.TypeSet {
		t.Coll = types.Utf8mb3GeneralCI
		if found, err := types.LookupCollation(collation); err == nil {
			t.Coll = found
		}
		if t.IsBinaryString() {
			t.Coll = types.Binary
		}
	}
	return t, nil
}
