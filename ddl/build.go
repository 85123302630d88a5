package ddl

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// buildTable validates a CREATE TABLE and makes its descriptor, without ids.
func buildTable(c *Call, spec *TableSpec, dbColl types.CollationID) (*catalog.Table, error) {
	if err := checkTableName(spec.Table); err != nil {
		return nil, err
	}
	if len(spec.Columns) == 0 {
		return nil, types.Errorf(types.ErTableMustHaveColumns)
	}
	if len(spec.Columns) > columnsMax {
		return nil, types.Errorf(types.ErTooManyFields)
	}
	if utf8.RuneCountInString(spec.Comment) > TableCommentMax {
		return nil, types.Errorf(types.ErTooLongTableComment, spec.Table, TableCommentMax)
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
	spec.Indexes = neededIndexes(spec.Indexes)
	if len(spec.Indexes) > indexesMax {
		return nil, types.Errorf(types.ErTooManyKeys, indexesMax)
	}
	// Named indexes first, so that automatic names differ from theirs.
	if err := checkDuplicateNames(spec.Indexes); err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, ix := range spec.Indexes {
		taken[strings.ToLower(ix.Name)] = true
	}
	for i := range spec.Indexes {
		ix, err := newIndex(c, t, &spec.Indexes[i], taken)
		if err != nil {
			return nil, err
		}
		if !spec.Like {
			warnDuplicate(c, t, ix)
		}
		t.AddIndex(ix)
	}
	if err := checkAutoColumn(t); err != nil {
		return nil, err
	}
	for _, check := range spec.Checks {
		if err := addCheck(t, check); err != nil {
			return nil, err
		}
	}
	t.Finish()
	if err := checkPrimaryVisible(t); err != nil {
		return nil, err
	}
	if err := checkSomeVisible(t); err != nil {
		return nil, err
	}
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
		if !o.Hidden && strings.EqualFold(o.Name, c.Name) {
			return types.Errorf(types.ErDupFieldName, c.Name)
		}
	}
	col := &catalog.Column{
		Name: c.Name, Type: c.Type, NotNull: c.NotNull || c.AutoInc, AutoInc: c.AutoInc, Default: c.Default,
		OnUpdateNow: c.OnUpdateNow, ExplicitCollation: c.ExplicitCollation, Invisible: c.Invisible, Comment: c.Comment, Generated: c.Generated,
		OriginalNull: true,
	}
	if col.Default == nil && !col.NotNull && col.Generated == nil && !c.NoDefault {
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
				if spec.Columns[i].Null || !spec.Columns[i].Made && c.Default != nil && spec.Columns[i].Default != nil && c.Default.Kind == catalog.DefaultNull {
					return types.Errorf(types.ErPrimaryCantHaveNull)
				}
				if c.Virtual() {
					return errVirtualPrimary()
				}
				c.NotNull = true
				if c.Default != nil && (c.Default.Kind == catalog.DefaultNull || spec.Columns[i].Implicit) {
					c.Default = nil
				}
			}
		}
	}
	return nil
}

// checkAutoColumn enforces 1075: one auto column at most, first in some key. One
// that is being built does not count: the build may fail or be cancelled.
func checkAutoColumn(t *catalog.Table) error {
	autos, keyed := 0, false
	for i, c := range t.Columns {
		if !c.AutoInc {
			continue
		}
		autos++
		for _, ix := range t.Indexes {
			keyed = keyed || ix.Columns[0].Col == i && ix.State == catalog.StatePublic
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

// buildIndex validates an index that is added to an existing table. Callers check
// the number of indexes (checkRoom).
func buildIndex(c *Call, t *catalog.Table, spec *IndexSpec) (*catalog.Index, error) {
	if spec.Primary && t.PK != nil {
		return nil, types.Errorf(types.ErMultiplePriKey)
	}
	if spec.Name != "" && t.Index(spec.Name) != nil {
		if !spec.Primary && strings.EqualFold(spec.Name, catalog.PrimaryName) {
			return nil, types.Errorf(types.ErWrongNameForIndex, spec.Name)
		}
		return nil, types.Errorf(types.ErDupKeyName, spec.Name)
	}
	taken := map[string]bool{}
	for _, ix := range t.Indexes {
		taken[strings.ToLower(ix.Name)] = true
	}
	ix, err := newIndex(c, t, spec, taken)
	if err == nil {
		warnDuplicate(c, t, ix)
	}
	return ix, err
}

// warnDuplicate raises warning 1831 about an index that the statement asks for though the table has one of the same kind over the same columns.
func warnDuplicate(c *Call, t *catalog.Table, ix *catalog.Index) {
	same := func(other *catalog.Index) bool {
		return other.Unique == ix.Unique && other.Primary == ix.Primary && slices.Equal(other.Columns, ix.Columns)
	}
	if c.Warn != nil && !ix.Generated && slices.ContainsFunc(t.Indexes, same) {
		c.Warn(types.LevelWarning, types.ErDupIndex, ix.Name, t.Schema, t.Name)
	}
}

// newIndex validates an index against the columns of t. taken holds the names
// in use, in lower case; an automatic name is added to it.
func newIndex(c *Call, t *catalog.Table, spec *IndexSpec, taken map[string]bool) (*catalog.Index, error) {
	ix := &catalog.Index{
		Name: spec.Name, Unique: spec.Unique || spec.Primary, Primary: spec.Primary, State: catalog.StatePublic,
		Visible: !spec.Invisible, Using: spec.Using, Comment: spec.Comment, EncodingVersion: catalog.KeyEncodingVersion,
		Generated: spec.Generated,
	}
	if ix.Name == "" && functional(spec) {
		ix.Name = autoIndexName(functionalName, taken)
	}
	if spec.Primary {
		ix.Name = catalog.PrimaryName
	} else if spec.Name != "" {
		if err := checkIndexName(spec.Name); err != nil {
			return nil, err
		}
	}
	if utf8.RuneCountInString(spec.Comment) > IndexCommentMax {
		return nil, types.Errorf(types.ErTooLongIndexComment, spec.Name, IndexCommentMax)
	}
	if len(spec.Columns) > indexPartsMax {
		return nil, types.Errorf(types.ErTooManyKeyParts, indexPartsMax)
	}
	total := int64(0)
	for i := range spec.Columns {
		part, size, err := newIndexColumn(c, t, &spec.Columns[i], ix)
		if err != nil {
			return nil, err
		}
		ix.Columns = append(ix.Columns, part)
		for _, o := range ix.Columns[:i] {
			if o.Col == part.Col {
				return nil, types.Errorf(types.ErDupFieldName, spec.Columns[i].Column)
			}
		}
		if total += size; total > indexBytesMax {
			return nil, types.Errorf(types.ErTooLongKey, indexBytesMax)
		}
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
	if strings.EqualFold(name, catalog.PrimaryName) || internalName(name) {
		name = column + "_2"
	}
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = column + "_" + strconv.Itoa(n)
	}
	taken[strings.ToLower(name)] = true
	return name
}

// tinyBytesMax is what a TINYTEXT or TINYBLOB holds.
const tinyBytesMax = 255

// newIndexColumn validates one key part and returns its size in bytes.
func newIndexColumn(call *Call, t *catalog.Table, spec *IndexColumnSpec, ix *catalog.Index) (part catalog.IndexColumn, size int64, err error) {
	at := -1
	if spec.Expr != nil {
		if at, err = addHidden(call, t, spec, ix); err != nil {
			return part, 0, err
		}
	}
	for i, c := range t.Columns {
		if spec.Expr == nil && (c == spec.hidden || !c.Hidden && strings.EqualFold(c.Name, spec.Column)) {
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
		if tiny := c.Type.ID == types.TypeTinyText || c.Type.ID == types.TypeTinyBlob; tiny && spec.PrefixLen*max(c.Type.Coll.MaxCharLen(), 1) > tinyBytesMax {
			return part, 0, types.Errorf(types.ErTooLongKey, tinyBytesMax)
		}
	} else if c.Type.IsBlob() {
		return part, 0, types.Errorf(types.ErBlobKeyWithoutLength, c.Name)
	}
	if ix.Primary && c.Virtual() {
		return part, 0, errVirtualPrimary()
	}
	if ix.Primary && !c.NotNull {
		return part, 0, types.Errorf(types.ErPrimaryCantHaveNull)
	}
	if size = keyBytes(&c.Type, part.PrefixLen); size > indexBytesMax && spec.Expr == nil && call.shortens(ix) {
		call.Warn(types.LevelWarning, types.ErTooLongKey, indexBytesMax)
		part.PrefixLen = indexBytesMax
		if c.Type.IsText() {
			part.PrefixLen /= c.Type.Coll.MaxCharLen()
		}
		size = keyBytes(&c.Type, part.PrefixLen)
	}
	return part, size, nil
}

// shortens reports whether a part of an index that is too long becomes a prefix of it, with a warning: outside strict mode, unless the index is
// unique, as in MySQL.
func (c *Call) shortens(ix *catalog.Index) bool {
	return !ix.Unique && c.Warn != nil && c.Loose
}
