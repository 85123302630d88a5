package ddl

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// MySQL's limits.
const (
	nameCharsMax         = 64
	columnsMax           = 1017 // InnoDB's
	indexesMax           = 64
	indexPartsMax        = 16
	indexBytesMax        = 3072
	rowBytesMax          = 65535
	tableCommentCharsMax = 2048
	columnCommentMax     = 1024
	indexCommentMax      = 1024
	bitLengthMax         = 64
)

// badName reports names that MySQL refuses whatever they name: empty, with a
// trailing space, or with characters outside the basic multilingual plane.
func badName(name string) bool {
	if name == "" || strings.HasSuffix(name, " ") || !utf8.ValidString(name) {
		return true
	}
	for _, r := range name {
		if r == 0 || r > 0xffff {
			return true
		}
	}
	return false
}

func tooLong(name string) bool { return utf8.RuneCountInString(name) > nameCharsMax }

func checkDatabaseName(name string) error {
	if tooLong(name) {
		return types.Errorf(types.ErTooLongIdent, name)
	}
	if badName(name) {
		return types.Errorf(types.ErWrongDBName, name)
	}
	return nil
}

func checkTableName(name string) error {
	if tooLong(name) {
		return types.Errorf(types.ErTooLongIdent, name)
	}
	if badName(name) {
		return types.Errorf(types.ErWrongTableName, name)
	}
	return nil
}

func checkColumnName(name string) error {
	if tooLong(name) {
		return types.Errorf(types.ErTooLongIdent, name)
	}
	if badName(name) {
		return types.Errorf(types.ErWrongColumnName, name)
	}
	return nil
}

func checkIndexName(name string) error {
	if tooLong(name) {
		return types.Errorf(types.ErTooLongIdent, name)
	}
	if badName(name) || strings.EqualFold(name, catalog.PrimaryName) {
		return types.Errorf(types.ErWrongNameForIndex, name)
	}
	return nil
}

// checkColumn validates a column by itself.
func checkColumn(c *ColumnSpec) error {
	if err := checkColumnName(c.Name); err != nil {
		return err
	}
	if utf8.RuneCountInString(c.Comment) > columnCommentMax {
		return types.Errorf(types.ErTooLongFieldComment, c.Name, columnCommentMax)
	}
	if err := checkType(c); err != nil {
		return err
	}
	if c.AutoInc {
		t := c.Type.ID
		if !c.Type.IsInteger() && t != types.TypeFloat && t != types.TypeDouble {
			return types.Errorf(types.ErWrongFieldSpec, c.Name)
		}
		if c.Default != nil {
			return types.Errorf(types.ErInvalidDefault, c.Name)
		}
	}
	if c.OnUpdateNow && c.Type.ID != types.TypeTimestamp && c.Type.ID != types.TypeDatetime {
		return types.Errorf(types.ErInvalidOnUpdate, c.Name)
	}
	return checkDefault(c.Name, &c.Type, c.NotNull, c.Default)
}

func checkDefault(name string, t *types.Type, notNull bool, d *catalog.Default) error {
	if d == nil {
		return nil
	}
	switch d.Kind {
	case catalog.DefaultNull:
		if notNull {
			return types.Errorf(types.ErInvalidDefault, name)
		}
	case catalog.DefaultNow:
		if t.ID != types.TypeTimestamp && t.ID != types.TypeDatetime {
			return types.Errorf(types.ErInvalidDefault, name)
		}
	case catalog.DefaultLiteral:
		if t.IsBlob() || t.ID == types.TypeJSON {
			return types.Errorf(types.ErBlobCantHaveDefault, name)
		}
		if d.Value.K != t.Kind() {
			return types.Errorf(types.ErInvalidDefault, name)
		}
	}
	return nil
}

// checkType validates lengths, precisions and members.
func checkType(c *ColumnSpec) error {
	t := &c.Type
	switch t.ID {
	case types.TypeChar, types.TypeBinary:
		if t.Length > types.MaxCharLength {
			return types.Errorf(types.ErTooBigFieldLength, c.Name, types.MaxCharLength)
		}
	case types.TypeVarchar:
		if most := types.MaxVarcharBytes / t.Coll.MaxCharLen(); int(t.Length) > most {
			return types.Errorf(types.ErTooBigFieldLength, c.Name, most)
		}
	case types.TypeVarbinary:
		if t.Length > types.MaxVarcharBytes {
			return types.Errorf(types.ErTooBigFieldLength, c.Name, types.MaxVarcharBytes)
		}
	case types.TypeDecimal:
		switch {
		case t.Scale > types.MaxDecimalScale:
			return types.Errorf(types.ErTooBigScale, int(t.Scale), c.Name, types.MaxDecimalScale)
		case t.Length > types.MaxDecimalPrecision:
			return types.Errorf(types.ErTooBigPrecision, int(t.Length), c.Name, types.MaxDecimalPrecision)
		case int32(t.Scale) > t.Length:
			return types.Errorf(types.ErMBiggerThanD, c.Name)
		}
	case types.TypeBit:
		if t.Length > bitLengthMax {
			return types.Errorf(types.ErTooBigDisplaywidth, c.Name, bitLengthMax)
		}
	case types.TypeTime, types.TypeDatetime, types.TypeTimestamp:
		if t.Scale > types.MaxFsp {
			return types.Errorf(types.ErTooBigPrecision, int(t.Scale), c.Name, types.MaxFsp)
		}
	case types.TypeEnum, types.TypeSet:
		return checkMembers(c)
	}
	return nil
}

func checkMembers(c *ColumnSpec) error {
	t := &c.Type
	for i, a := range t.Elems {
		for _, b := range t.Elems[:i] {
			if types.CompareStrings([]byte(a), []byte(b), t.Coll) == 0 {
				return types.Errorf(types.ErDuplicatedValueInType, c.Name, a, strings.ToUpper(t.Name()))
			}
		}
	}
	return nil
}

// buildTable validates a CREATE TABLE and makes its descriptor, without ids.
func buildTable(spec *TableSpec, dbColl types.CollationID) (*catalog.Table, error) {
	if err := checkTableName(spec.Table); err != nil {
		return nil, err
	}
	if len(spec.Columns) == 0 {
		return nil, types.Errorf(types.ErTableMustHaveColumns)
	}
	if len(spec.Columns) > columnsMax {
		return nil, types.Errorf(types.ErTooManyFields)
	}
	if utf8.RuneCountInString(spec.Comment) > tableCommentCharsMax {
		return nil, types.Errorf(types.ErTooLongTableComment, spec.Table, tableCommentCharsMax)
	}
	t := catalog.NewTable(0, 0, spec.Schema, spec.Table)
	t.Coll, t.Comment, t.Options = spec.Coll, spec.Comment, spec.Options
	if t.Coll == 0 {
		t.Coll = dbColl
	}
	if spec.Engine != "" {
		t.Engine = spec.Engine
	}
	for i := range spec.Columns {
		if err := addColumn(t, &spec.Columns[i], -1); err != nil {
			return nil, err
		}
	}
	if err := markPrimaryColumns(t, spec); err != nil {
		return nil, err
	}
	if len(spec.Indexes) > indexesMax {
		return nil, types.Errorf(types.ErTooManyKeys, indexesMax)
	}
	// Named indexes come first for the automatic names to step around them.
	if err := checkDuplicateNames(spec.Indexes); err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, ix := range spec.Indexes {
		taken[strings.ToLower(ix.Name)] = true
	}
	for i := range spec.Indexes {
		ix, err := newIndex(t, &spec.Indexes[i], taken)
		if err != nil {
			return nil, err
		}
		t.AddIndex(ix)
	}
	if err := checkAutoColumn(t); err != nil {
		return nil, err
	}
	t.Finish()
	return t, checkRowSize(t)
}

func checkDuplicateNames(specs []IndexSpec) error {
	seen := map[string]bool{}
	primary := false
	for _, ix := range specs {
		if ix.Primary {
			if primary {
				return types.Errorf(types.ErMultiplePriKey)
			}
			primary = true
			continue
		}
		if ix.Name == "" {
			continue
		}
		if seen[strings.ToLower(ix.Name)] {
			return types.Errorf(types.ErDupKeyName, ix.Name)
		}
		seen[strings.ToLower(ix.Name)] = true
	}
	return nil
}

// addColumn validates a column and adds it at ordinal at (-1: last).
func addColumn(t *catalog.Table, c *ColumnSpec, at int) error {
	if err := checkColumn(c); err != nil {
		return err
	}
	for _, o := range t.Columns {
		if strings.EqualFold(o.Name, c.Name) {
			return types.Errorf(types.ErDupFieldName, c.Name)
		}
	}
	col := &catalog.Column{
		Name: c.Name, Type: c.Type, NotNull: c.NotNull || c.AutoInc, AutoInc: c.AutoInc, Default: c.Default,
		OnUpdateNow: c.OnUpdateNow, ExplicitCollation: c.ExplicitCollation, Invisible: c.Invisible, Comment: c.Comment,
		OriginalNull: true,
	}
	if col.Default == nil && !col.NotNull {
		col.Default = &catalog.Default{Kind: catalog.DefaultNull}
	}
	t.AddColumn(col, at)
	return nil
}

// markPrimaryColumns makes the columns of the primary key NOT NULL.
func markPrimaryColumns(t *catalog.Table, spec *TableSpec) error {
	for _, ix := range spec.Indexes {
		if !ix.Primary {
			continue
		}
		for _, part := range ix.Columns {
			for i, c := range t.Columns {
				if !strings.EqualFold(c.Name, part.Column) {
					continue
				}
				if spec.Columns[i].Null || c.Default != nil && spec.Columns[i].Default != nil && c.Default.Kind == catalog.DefaultNull {
					return types.Errorf(types.ErPrimaryCantHaveNull)
				}
				c.NotNull = true
				if c.Default != nil && c.Default.Kind == catalog.DefaultNull {
					c.Default = nil
				}
			}
		}
	}
	return nil
}

// checkAutoColumn enforces 1075: one auto column at most, first in some key.
func checkAutoColumn(t *catalog.Table) error {
	autos, keyed := 0, false
	for i, c := range t.Columns {
		if !c.AutoInc {
			continue
		}
		autos++
		for _, ix := range t.Indexes {
			keyed = keyed || ix.Columns[0].Col == i
		}
	}
	if autos > 1 || autos == 1 && !keyed {
		return types.Errorf(types.ErWrongAutoKey)
	}
	return nil
}

// checkAutoKeyKept refuses to drop the only key of the AUTO_INCREMENT column.
func checkAutoKeyKept(t *catalog.Table, drop *catalog.Index) error {
	if t.AutoInc == nil {
		return nil
	}
	for _, ix := range t.Indexes {
		if ix != drop && ix.State == catalog.StatePublic && ix.Columns[0].Col == t.AutoInc.Ordinal {
			return nil
		}
	}
	return types.Errorf(types.ErWrongAutoKey)
}

// buildIndex validates an index that is added to an existing table.
func buildIndex(t *catalog.Table, spec *IndexSpec) (*catalog.Index, error) {
	if spec.Name != "" && t.Index(spec.Name) != nil {
		return nil, types.Errorf(types.ErDupKeyName, spec.Name)
	}
	if len(t.Indexes) >= indexesMax {
		return nil, types.Errorf(types.ErTooManyKeys, indexesMax)
	}
	taken := map[string]bool{}
	for _, ix := range t.Indexes {
		taken[strings.ToLower(ix.Name)] = true
	}
	return newIndex(t, spec, taken)
}

// newIndex validates an index against the columns of t. taken holds the names
// in use, in lower case; an automatic name is added to it.
func newIndex(t *catalog.Table, spec *IndexSpec, taken map[string]bool) (*catalog.Index, error) {
	ix := &catalog.Index{
		Name: spec.Name, Unique: spec.Unique || spec.Primary, Primary: spec.Primary, State: catalog.StatePublic,
		Visible: !spec.Invisible, Using: spec.Using, Comment: spec.Comment, EncodingVersion: catalog.KeyEncodingVersion,
	}
	if spec.Primary {
		ix.Name = catalog.PrimaryName
	} else if spec.Name != "" {
		if err := checkIndexName(spec.Name); err != nil {
			return nil, err
		}
	}
	if utf8.RuneCountInString(spec.Comment) > indexCommentMax {
		return nil, types.Errorf(types.ErTooLongIndexComment, spec.Name, indexCommentMax)
	}
	if len(spec.Columns) > indexPartsMax {
		return nil, types.Errorf(types.ErTooManyKeyParts, indexPartsMax)
	}
	total := int64(0)
	for i := range spec.Columns {
		part, size, err := newIndexColumn(t, &spec.Columns[i], ix)
		if err != nil {
			return nil, err
		}
		for _, o := range ix.Columns {
			if o.Col == part.Col {
				return nil, types.Errorf(types.ErDupFieldName, spec.Columns[i].Column)
			}
		}
		if total += size; total > indexBytesMax {
			return nil, types.Errorf(types.ErTooLongKey, indexBytesMax)
		}
		ix.Columns = append(ix.Columns, part)
	}
	ix.WeightsChecksum = catalog.WeightsOf(t, ix)
	if ix.Name == "" {
		ix.Name = autoIndexName(t.Columns[ix.Columns[0].Col].Name, taken)
	}
	return ix, nil
}

// autoIndexName is the first column's name, with _2, _3, … if it is taken.
func autoIndexName(column string, taken map[string]bool) string {
	name := column
	if strings.EqualFold(name, catalog.PrimaryName) {
		name = column + "_2"
	}
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = column + "_" + strconv.Itoa(n)
	}
	taken[strings.ToLower(name)] = true
	return name
}

// newIndexColumn validates one key part and returns its size in bytes.
func newIndexColumn(t *catalog.Table, spec *IndexColumnSpec, ix *catalog.Index) (part catalog.IndexColumn, size int64, err error) {
	at := -1
	for i, c := range t.Columns {
		if strings.EqualFold(c.Name, spec.Column) {
			at = i
		}
	}
	if at < 0 {
		return part, 0, types.Errorf(types.ErKeyColumnDoesNotExist, spec.Column)
	}
	c := t.Columns[at]
	part = catalog.IndexColumn{Col: at, Desc: spec.Desc}
	if c.Type.ID == types.TypeJSON {
		return part, 0, types.Errorf(types.ErJSONUsedAsKey, c.Name)
	}
	if spec.HasPrefix && spec.PrefixLen == 0 {
		return part, 0, types.Errorf(types.ErKeyPart0, c.Name)
	}
	if spec.PrefixLen > 0 {
		if !c.Type.IsStringType() || !c.Type.IsBlob() && spec.PrefixLen > int(c.Type.Length) {
			return part, 0, types.Errorf(types.ErWrongSubKey)
		}
		if c.Type.IsBlob() || spec.PrefixLen < int(c.Type.Length) {
			part.PrefixLen = spec.PrefixLen
		}
	} else if c.Type.IsBlob() {
		return part, 0, types.Errorf(types.ErBlobKeyWithoutLength, c.Name)
	}
	if ix.Primary && !c.NotNull {
		return part, 0, types.Errorf(types.ErPrimaryCantHaveNull)
	}
	return part, keyBytes(&c.Type, part.PrefixLen), nil
}

// keyBytes is the size of a key part as MySQL counts it for its limit.
func keyBytes(t *types.Type, prefix int) int64 {
	if !t.IsStringType() {
		return fixedBytes(t)
	}
	if prefix == 0 {
		return t.MaxBytes()
	}
	if t.IsText() {
		return int64(prefix) * int64(t.Coll.MaxCharLen())
	}
	return int64(prefix)
}

// fixedBytes is MySQL's storage size of a type that is not a string.
func fixedBytes(t *types.Type) int64 {
	switch t.ID {
	case types.TypeTinyInt, types.TypeYear:
		return 1
	case types.TypeSmallInt:
		return 2
	case types.TypeMediumInt, types.TypeDate:
		return 3
	case types.TypeInt, types.TypeFloat:
		return 4
	case types.TypeDecimal:
		return int64(t.Length)/2 + 2
	case types.TypeBit:
		return int64(t.Length+7) / 8
	case types.TypeTime, types.TypeTimestamp:
		return 4 + int64(t.Scale+1)/2
	case types.TypeDatetime:
		return 5 + int64(t.Scale+1)/2
	case types.TypeEnum:
		return 2
	}
	return 8
}

// checkRowSize enforces MySQL's limit on the declared row size (1118).
func checkRowSize(t *catalog.Table) error {
	total := int64((len(t.Columns) + 7) / 8)
	for _, c := range t.Columns {
		switch {
		case c.Type.IsBlob() || c.Type.ID == types.TypeJSON:
			total += 12
		case c.Type.ID == types.TypeVarchar || c.Type.ID == types.TypeVarbinary:
			total += c.Type.MaxBytes() + 2
		case c.Type.IsStringType():
			total += c.Type.MaxBytes()
		default:
			total += fixedBytes(&c.Type)
		}
	}
	if total > rowBytesMax {
		return types.Errorf(types.ErTooBigRowsize, rowBytesMax)
	}
	return nil
}
