package session

import (
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/types"
)

// viewDigitsMax and tableDigitsMax are how many digits, with the sign, an expression of integers may have so that the column that a view or CREATE TABLE …
// SELECT makes of it is INT instead of BIGINT.
const (
	viewDigitsMax  = 9
	tableDigitsMax = 11
)

// varcharMax is the most characters that an expression may have so that the column made of it is VARCHAR instead of TEXT.
const varcharMax = 512

// asText turns VARCHAR and VARBINARY into TEXT and BLOB.
func asText(t *types.Type) {
	bytes := int64(t.Length)
	switch t.ID {
	case types.TypeVarchar, types.TypeChar:
		bytes *= int64(max(t.Coll.MaxCharLen(), 1))
		t.ID = types.TypeText
		if bytes > textBytesMax {
			t.ID = types.TypeMediumText
		}
	case types.TypeVarbinary, types.TypeBinary:
		t.ID = types.TypeBlob
		if bytes > textBytesMax {
			t.ID = types.TypeMediumBlob
		}
	default:
		return
	}
	t.Length = -1
}

// textBytesMax is the size of TEXT and BLOB.
const textBytesMax = 65535

// madeColumn is the column that a query's column becomes in a view or in CREATE TABLE … SELECT. A table's column keeps its definition;
// any other has the type of its expression, and the default that MySQL gives to what is never NULL.
func madeColumn(col *plan.QueryColumn, view bool) ddl.ColumnSpec {
	intDigitsMax := int32(tableDigitsMax)
	if view {
		intDigitsMax = viewDigitsMax
	}
	spec := ddl.ColumnSpec{Name: col.Info.Name, Type: col.Info.Type, NotNull: col.Info.NotNull}
	switch {
	case col.Base != nil:
		spec.Default, spec.NoDefault = col.Base.Default, col.Base.Default == nil && col.Base.Generated == nil
		spec.OnUpdateNow, spec.Comment = col.Base.OnUpdateNow, col.Base.Comment
		if col.Base.AutoInc && spec.NotNull { // a copy gets no ids, but zeros
			spec.Default, spec.NoDefault = &catalog.Default{Kind: catalog.DefaultLiteral, Value: types.ImplicitDefault(&spec.Type)}, false
		}
		return spec
	case spec.Type.ID == types.TypeNull:
		spec.Type = types.Type{ID: types.TypeVarbinary, Length: 0, Coll: types.Binary}
		return spec
	case col.Maker == plan.MakerYear:
		spec.Type = types.Type{ID: types.TypeYear}
	case spec.Type.ID == types.TypeBigInt && !col.Combined && !col.Wide && spec.Type.Length >= 0 && spec.Type.Length <= intDigitsMax:
		spec.Type.ID = types.TypeInt
	default:
		if col.Maker != "" {
			handedOn(&spec.Type, col.Maker == plan.MakerWindow, view)
		}
		if spec.Type.Length > varcharMax && !col.Aggregate {
			asText(&spec.Type)
		}
	}
	if spec.NotNull && !spec.Type.IsBlob() && spec.Type.ID != types.TypeJSON {
		spec.Default, spec.Implicit = &catalog.Default{Kind: catalog.DefaultLiteral, Value: types.ImplicitDefault(&spec.Type)}, true
	}
	return spec
}

// handedOn turns the type of a column's value, which a window function or NULLIF hands on, into that of a column made of it: MySQL keeps no type that
// says more than the value's kind and length.
func handedOn(t *types.Type, window, view bool) {
	switch t.ID {
	case types.TypeTinyInt, types.TypeSmallInt, types.TypeMediumInt:
		t.ID = types.TypeInt
	case types.TypeInt:
		if window || view {
			t.ID = types.TypeBigInt
		}
	case types.TypeYear:
		if window {
			*t = types.Type{ID: types.TypeInt, Unsigned: true}
		}
	case types.TypeBit:
		if !window {
			*t = types.Type{ID: types.TypeBigInt, Unsigned: true, Length: t.Length}
			if t.Length < viewDigitsMax {
				t.ID = types.TypeInt
			}
		}
	case types.TypeChar:
		t.ID = types.TypeVarchar
	case types.TypeBinary:
		t.ID = types.TypeVarbinary
	case types.TypeEnum, types.TypeSet:
		*t = types.Type{ID: types.TypeVarchar, Length: memberChars(t), Coll: t.Coll}
	case types.TypeText:
		t.ID = types.TypeMediumText
		if !window && !view {
			t.ID = types.TypeLongText
		}
	case types.TypeMediumText:
		t.ID = types.TypeLongText
	case types.TypeBlob:
		if !window && !view {
			t.ID = types.TypeLongBlob
		}
	}
}

// memberChars is how many characters a value of an ENUM or SET has at most.
func memberChars(t *types.Type) (chars int32) {
	for _, elem := range t.Elems {
		n := int32(utf8.RuneCountInString(types.InUTF8(elem, t.Coll.Charset())))
		if t.ID == types.TypeEnum {
			chars = max(chars, n)
		} else {
			chars += n + 1 // and the comma
		}
	}
	if t.ID == types.TypeSet {
		chars--
	}
	return chars
}

// tableColumn is madeColumn for CREATE TABLE … SELECT, which gives no default that sql_mode forbids.
func (s *Session) tableColumn(col *plan.QueryColumn) ddl.ColumnSpec {
	spec := madeColumn(col, false)
	spec.Made = true
	switch spec.Type.ID {
	case types.TypeDate, types.TypeDatetime, types.TypeTimestamp:
		if col.Base == nil && spec.NotNull && s.context.SQLMode&types.ModeNoZeroDate != 0 {
			spec.Default = nil
		}
	}
	return spec
}
