package ddl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// MySQL's limits.
const (
	nameCharsMax  = 64
	columnsMax    = 1017 // InnoDB's
	indexesMax    = 64
	leavingMax    = 64 // ours: indexes being removed, from which writers still delete entries
	indexPartsMax = 16
	indexBytesMax = 3072
	rowBytesMax   = 65535
	bitLengthMax  = 64
)

// How many characters a comment has at most.
const (
	TableCommentMax  = 2048
	ColumnCommentMax = 1024
	IndexCommentMax  = 1024
)

// badName reports whether MySQL refuses a name for every kind of object: if it is
// empty, has a trailing space, or characters outside the basic multilingual plane.
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
	if badName(name) || strings.EqualFold(name, catalog.PrimaryName) || internalName(name) {
		return types.Errorf(types.ErWrongNameForIndex, name)
	}
	return nil
}

// The prefixes of internal index names, before the id of the index or of another.
const (
	droppingPrefix  = "#dropping-"
	replacingPrefix = "#replacing-"
)

// droppingName is the internal name of an index that is being removed.
func droppingName(ix *catalog.Index) string { return fmt.Sprint(droppingPrefix, ix.ID) }

// replacingName is the internal name, during its build, of an index that will get old's name.
func replacingName(old *catalog.Index) string { return fmt.Sprint(replacingPrefix, old.ID) }

// internalName reports whether a name has the form of an internal index name, in upper or lower case.
func internalName(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{droppingPrefix, replacingPrefix} {
		if id, found := strings.CutPrefix(name, prefix); found {
			_, err := strconv.ParseUint(id, 10, 64)
			return err == nil
		}
	}
	return false
}

// leaving reports whether ix is being removed. The state alone does not tell: an
// index that is being built has the same states.
func leaving(ix *catalog.Index) bool {
	return ix.State != catalog.StatePublic && ix.Name == droppingName(ix)
}

// checkRoom returns 1069 if a table cannot have another index. Up to leavingMax
// indexes that are being removed do not count: statements do not see them, but
// writers still maintain them.
func checkRoom(t *catalog.Table) error {
	out := 0
	for _, ix := range t.Indexes {
		if leaving(ix) {
			out++
		}
	}
	if len(t.Indexes)-min(out, leavingMax) >= indexesMax {
		return types.Errorf(types.ErTooManyKeys, indexesMax)
	}
	return nil
}

// checkColumn validates a column by itself.
func checkColumn(c *ColumnSpec) error {
	if err := checkColumnName(c.Name); err != nil {
		return err
	}
	if utf8.RuneCountInString(c.Comment) > ColumnCommentMax {
		return types.Errorf(types.ErTooLongFieldComment, c.Name, ColumnCommentMax)
	}
	if err := checkType(c); err != nil {
		return err
	}
	if c.AutoInc {
		if !c.Type.IsInteger() {
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
		if longest := types.MaxVarcharBytes / t.Coll.MaxCharLen(); int(t.Length) > longest {
			return types.Errorf(types.ErTooBigFieldLength, c.Name, longest)
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

// checkMembers refuses an ENUM or SET with equal members, unless sql_mode lets them be.
func checkMembers(c *ColumnSpec) error {
	if c.TwiceMembers {
		return nil
	}
	if twice := DuplicateMembers(&c.Type); len(twice) > 0 {
		return types.Errorf(types.ErDuplicatedValueInType, c.Name, twice[0], strings.ToUpper(c.Type.Name()))
	}
	return nil
}

// DuplicateMembers returns the members of an ENUM or SET, in UTF-8, that are equal to others behind them.
func DuplicateMembers(t *types.Type) (twice []string) {
	last := make(map[string]string, len(t.Elems)) // by sort key: comparing pairs of up to 65,535 members would take too long
	var key []byte
	for _, a := range t.Elems {
		key = types.AppendSortKey(key[:0], []byte(a), t.Coll)
		if before, is := last[string(key)]; is {
			twice = append(twice, t.MemberText(before))
		}
		last[string(key)] = a
	}
	return twice
}

// keyBytes is the size of a key part in bytes as MySQL counts it for its limits. prefix is in characters, or bytes of a binary string; 0 is the
// whole column.
func keyBytes(t *types.Type, prefix int) int64 {
	if !t.IsStringType() {
		return int64(t.FixedBytes())
	}
	if prefix == 0 {
		return t.MaxBytes()
	}
	if t.IsText() {
		return int64(prefix) * int64(t.Coll.MaxCharLen())
	}
	return int64(prefix)
}

// checkRowSize enforces MySQL's limit on the declared row size (1118). As in MySQL, each nullable column counts a bit, and a table with only columns
// of fixed length counts one more, for the delete mark.
func checkRowSize(t *catalog.Table) error {
	total, bits, fixed := int64(0), 0, true
	for _, c := range t.Columns {
		if c.Virtual() {
			continue
		}
		if !c.NotNull {
			bits++
		}
		switch {
		case c.Type.IsBlob() || c.Type.ID == types.TypeJSON:
			total += 12
			fixed = false
		case c.Type.ID == types.TypeVarchar || c.Type.ID == types.TypeVarbinary:
			total += c.Type.MaxBytes() + 2
			fixed = false
		case c.Type.IsStringType():
			total += c.Type.MaxBytes()
		default:
			total += int64(c.Type.FixedBytes())
		}
	}
	if fixed {
		bits++
	}
	total += int64(bits+7) / 8
	if total > rowBytesMax {
		return types.Errorf(types.ErTooBigRowsize, rowBytesMax)
	}
	return nil
}
