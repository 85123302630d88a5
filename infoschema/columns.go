package infoschema

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/types"
)

func columns(q *query) error {
	err := q.eachLayout(func(l *layout) error {
		rights := "select"
		for i := range l.columns {
			c := &l.columns[i]
			row := typeRow(&c.kind)
			if c.collation != "" {
				id, err := types.LookupCollation(c.collation)
				if err != nil {
					id = types.Utf8mb3GeneralCI
				}
				row.charset, row.collation = id.Charset().Name, c.collation
			}
			word, _, _ := strings.Cut(c.shown, "(")
			word, _, _ = strings.Cut(word, " ")
			err := q.emit(catalogName, l.schema, l.name, c.name, uint64(i+1), c.byDefault, yesNo(c.nullable), word, row.length, row.octets, row.precision, row.scale, row.fsp,
				row.charset, row.collation, c.shown, c.key, c.extra, rights, "", "", nil)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return q.eachTable(func(t *catalog.Table) error {
		rights := q.columnRights(t)
		for i, c := range t.Visible() {
			if !q.shows(t, i) {
				continue
			}
			row := typeRow(&c.Type)
			err := q.emit(catalogName, t.Schema, t.Name, c.Name, uint64(i+1), q.defaultText(c), yesNo(!c.NotNull), c.Type.Name(), row.length, row.octets, row.precision,
				row.scale, row.fsp, row.charset, row.collation, c.Type.String(), keyText(t, i), extraText(c), rights, c.Comment, generationText(c), nil)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// columnStatistics lists the histograms. The document has numbers that JSON read from a text would not keep, such as 1.50, so it is passed as it is.
func columnStatistics(q *query) error {
	return q.eachTable(func(t *catalog.Table) error {
		for _, h := range q.Histograms(t) {
			if err := q.emit(t.Schema, t.Name, h.Column, types.JSON([]byte(h.Document))); err != nil {
				return err
			}
		}
		return nil
	})
}

// columnRights lists what the account may do with the columns of a table.
func (q *query) columnRights(t *catalog.Table) string {
	var list []string
	a := q.Account()
	for _, r := range []struct {
		set  privilege.Set
		name string
	}{{privilege.Select, "select"}, {privilege.Insert, "insert"}, {privilege.Update, "update"}, {privilege.References, "references"}} {
		if a.Has(r.set, t.Schema, t.Name) {
			list = append(list, r.name)
		}
	}
	return strings.Join(list, ",")
}

// measures are the columns of COLUMNS that follow from a type; nil is NULL.
type measures struct{ length, octets, precision, scale, fsp, charset, collation any }

func typeRow(kind *types.Type) (m measures) {
	switch {
	case kind.ID == types.TypeEnum || kind.ID == types.TypeSet:
		n := int64(elementsLength(kind))
		m.length, m.octets = n, n*int64(kind.Coll.Charset().MaxLen)
	case kind.IsText():
		m.length, m.octets = int64(kind.Length), kind.MaxBytes()
		if kind.IsBlob() {
			m.length = kind.MaxBytes() / int64(kind.Coll.Charset().MinLen)
		}
	case kind.IsBinaryString():
		m.length, m.octets = kind.MaxBytes(), kind.MaxBytes()
	case kind.IsInteger():
		m.precision, m.scale = uint64(integerDigits[kind.ID]), uint64(0)
		if kind.ID == types.TypeBigInt && kind.Unsigned {
			m.precision = uint64(20)
		}
	case kind.ID == types.TypeDecimal:
		m.precision, m.scale = uint64(kind.Length), uint64(kind.Scale)
	case kind.ID == types.TypeFloat || kind.ID == types.TypeDouble:
		m.precision = uint64(12)
		if kind.ID == types.TypeDouble {
			m.precision = uint64(22)
		}
		if kind.Scale >= 0 && kind.Length > 0 {
			m.precision, m.scale = uint64(kind.Length), uint64(kind.Scale)
		}
	case kind.ID == types.TypeBit:
		m.precision = uint64(kind.Length)
	case kind.IsTemporal() && kind.ID != types.TypeDate:
		m.fsp = uint64(kind.Scale)
	}
	if kind.IsText() || kind.ID == types.TypeEnum || kind.ID == types.TypeSet {
		m.charset, m.collation = kind.Coll.Charset().Name, kind.Coll.Name()
	}
	return m
}

// elementsLength is how many characters a value of an ENUM or SET may have.
func elementsLength(kind *types.Type) (n int) {
	for _, e := range kind.Elems {
		length := kind.Coll.Charset().CountChars([]byte(e))
		switch {
		case kind.ID == types.TypeEnum:
			n = max(n, length)
		default:
			n += length + 1
		}
	}
	if kind.ID == types.TypeSet && n > 0 {
		n-- // no comma behind the last one
	}
	return n
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

// defaultText is a column's default as the session shows it: moments in its time zone, binary strings as numbers.
func (q *query) defaultText(c *catalog.Column) any {
	if c.Default == nil {
		return nil
	}
	switch c.Default.Kind {
	case catalog.DefaultLiteral:
		return q.literalText(c)
	case catalog.DefaultNow:
		return nowText(c)
	case catalog.DefaultExpr:
		return c.Default.Expr
	}
	return nil
}

// literalText is a default as the dictionary shows it: bytes in hexadecimal, without those that BINARY is filled up with, and bits as such.
func (q *query) literalText(c *catalog.Column) string {
	v := c.Default.Value
	switch {
	case v.K == types.KindBit:
		return "b'" + strconv.FormatUint(v.Uint64(), 2) + "'"
	case c.Type.IsBinaryString():
		b := v.B
		if c.Type.ID == types.TypeBinary {
			b = bytes.TrimRight(b, "\x00")
		}
		if len(b) == 0 {
			return ""
		}
		return "0x" + strings.ToUpper(hex.EncodeToString(b))
	}
	return string(types.AppendTyped(nil, q.Context(), &v, &c.Type))
}

func nowText(c *catalog.Column) string {
	if c.Type.Scale > 0 {
		return "CURRENT_TIMESTAMP(" + string(rune('0'+c.Type.Scale)) + ")"
	}
	return "CURRENT_TIMESTAMP"
}

// generationText is the expression of a generated column as the dictionary shows it: with the quotes in it escaped once more.
func generationText(c *catalog.Column) string {
	if c.Generated == nil {
		return ""
	}
	return escapedOnce.Replace(c.Generated.Expr)
}

var escapedOnce = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func extraText(c *catalog.Column) string {
	var parts []string
	switch {
	case c.Generated == nil:
	case c.Generated.Stored:
		parts = append(parts, "STORED GENERATED")
	default:
		parts = append(parts, "VIRTUAL GENERATED")
	}
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

func columnsExtensions(q *query) error {
	err := q.eachLayout(func(l *layout) error {
		for i := range l.columns {
			if err := q.emit(catalogName, l.schema, l.name, l.columns[i].name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return q.eachTable(func(t *catalog.Table) error {
		for i, c := range t.Visible() {
			if !q.shows(t, i) {
				continue
			}
			if err := q.emit(catalogName, t.Schema, t.Name, c.Name); err != nil {
				return err
			}
		}
		return nil
	})
}
