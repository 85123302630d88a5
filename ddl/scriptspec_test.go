package ddl_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/types"
)

// columnSpec reads "NAME TYPE words…".
func (s *scriptRun) columnSpec(line string, coll types.CollationID) ddl.ColumnSpec {
	words := strings.Fields(line)
	if coll == 0 {
		coll = types.DefaultCollation
	}
	c := ddl.ColumnSpec{Name: words[0], Type: parseType(words[1], coll)}
	if c.Name == "-" {
		c.Name = ""
	}
	text := ""
	for _, w := range words[2:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "unsigned":
			c.Type.Unsigned = true
		case "notnull":
			c.NotNull = true
		case "null":
			c.Null = true
		case "auto":
			c.AutoInc = true
		case "now":
			c.Default = &catalog.Default{Kind: catalog.DefaultNow}
		case "onupdate":
			c.OnUpdateNow = true
		case "expr":
			c.Default = &catalog.Default{Kind: catalog.DefaultExpr, Expr: v}
		case "original":
			c.Original = value(&c.Type, v)
		case "default":
			text = v
			if v == "" {
				text = "''"
			}
		case "collate":
			c.Type.Coll, c.ExplicitCollation = s.collation(v), true
		case "invisible":
			c.Invisible = true
		case "comment":
			c.Comment = v
		case "first":
			c.First = true
		case "after":
			c.After = v
		default:
			panic(fmt.Sprintf("unknown word %q", w))
		}
	}
	if text != "" {
		c.Default = defaultOf(&c.Type, text)
	}
	return c
}

func defaultOf(t *types.Type, text string) *catalog.Default {
	switch text {
	case "NULL":
		return &catalog.Default{Kind: catalog.DefaultNull}
	case "''":
		text = ""
	}
	return &catalog.Default{Kind: catalog.DefaultLiteral, Value: value(t, text)}
}

func parseType(s string, coll types.CollationID) types.Type {
	name, arg, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	t := types.Type{Length: -1}
	for id := types.TypeTinyInt; id <= types.TypeJSON; id++ {
		if (&types.Type{ID: id}).Name() == name {
			t.ID = id
		}
	}
	if t.ID == types.TypeNull {
		panic("unknown type " + s)
	}
	if t.IsText() || t.ID == types.TypeEnum || t.ID == types.TypeSet {
		t.Coll = coll
	} else if t.IsBinaryString() {
		t.Coll = types.Binary
	}
	if t.ID == types.TypeEnum || t.ID == types.TypeSet {
		t.Elems = strings.Split(arg, ",")
		return t
	}
	if t.ID == types.TypeFloat || t.ID == types.TypeDouble {
		t.Scale = -1
	}
	if arg == "" {
		return t
	}
	first, second, two := strings.Cut(arg, ",")
	n, _ := strconv.Atoi(first)
	if t.IsTemporal() {
		t.Scale = int8(n)
		return t
	}
	t.Length = int32(n)
	if two {
		n, _ = strconv.Atoi(second)
		t.Scale = int8(n)
	}
	return t
}

// indexSpec reads "key NAME (a(3) desc, b) words…".
func (s *scriptRun) indexSpec(line string) ddl.IndexSpec {
	line = strings.TrimSpace(line)
	open, end := strings.Index(line, "("), strings.LastIndex(line, ")")
	head := strings.Fields(line[:open])
	var ix ddl.IndexSpec
	switch head[0] {
	case "primary":
		ix.Primary, ix.Unique = true, true
	case "unique":
		ix.Unique = true
	}
	if len(head) > 1 && head[1] != "-" {
		ix.Name = head[1]
	}
	for _, part := range strings.Split(line[open+1:end], ",") {
		words := strings.Fields(part)
		c := ddl.IndexColumnSpec{Column: words[0], Desc: len(words) > 1 && words[1] == "desc"}
		if name, n, ok := strings.Cut(strings.TrimSuffix(words[0], ")"), "("); ok {
			c.Column, c.HasPrefix = name, true
			c.PrefixLen, _ = strconv.Atoi(n)
		}
		ix.Columns = append(ix.Columns, c)
	}
	for _, w := range strings.Fields(line[end+1:]) {
		switch k, v, _ := strings.Cut(w, "="); k {
		case "invisible":
			ix.Invisible = true
		case "comment":
			ix.Comment = v
		case "using":
			ix.Using = v
		}
	}
	return ix
}

// action reads one action of ALTER TABLE.
func (s *scriptRun) action(line string) ddl.AlterSpec {
	words := strings.Fields(line)
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), words[0]))
	switch words[0] {
	case "add-column":
		return ddl.AddColumn{Column: s.columnSpec(rest, 0)}
	case "drop-column":
		return ddl.DropColumn{Name: rest}
	case "rename-column":
		return ddl.RenameColumn{From: words[1], To: words[2]}
	case "set-default":
		t := types.Type{ID: types.TypeInt, Length: -1}
		return ddl.SetDefault{Column: words[1], Default: defaultOf(&t, words[2])}
	case "drop-default":
		return ddl.SetDefault{Column: words[1]}
	case "add-index":
		return ddl.AddIndex{Index: s.indexSpec(rest)}
	case "drop-index":
		return ddl.DropIndex{Name: rest}
	case "rename-index":
		return ddl.RenameIndex{From: words[1], To: words[2]}
	case "hide-index":
		return ddl.IndexVisibility{Name: rest}
	case "rename-to":
		return ddl.RenameTo{To: tableName(rest)}
	case "auto":
		n, _ := strconv.ParseUint(rest, 10, 64)
		return ddl.SetAutoIncrement{Next: n}
	case "comment":
		return ddl.SetComment{Comment: rest}
	}
	panic("unknown action " + line)
}
