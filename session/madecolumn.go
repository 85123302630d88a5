package session

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
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
func madeColumn(col *plan.QueryColumn, intDigitsMax int32) ddl.ColumnSpec {
	spec := ddl.ColumnSpec{Name: col.Info.Name, Type: col.Info.Type, NotNull: col.Info.NotNull}
	switch {
	case col.Base != nil:
		spec.Default, spec.NoDefault = col.Base.Default, col.Base.Default == nil && col.Base.Generated == nil
		spec.OnUpdateNow, spec.Comment = col.Base.OnUpdateNow, col.Base.Comment
		return spec
	case spec.Type.ID == types.TypeNull:
		spec.Type = types.Type{ID: types.TypeVarbinary, Length: 0, Coll: types.Binary}
		return spec
	case spec.Type.ID == types.TypeBigInt && !col.Combined && !col.Wide && spec.Type.Length >= 0 && spec.Type.Length <= intDigitsMax:
		spec.Type.ID = types.TypeInt
	case spec.Type.Length > varcharMax && !col.Aggregate:
		asText(&spec.Type)
	}
	if spec.NotNull && !spec.Type.IsBlob() && spec.Type.ID != types.TypeJSON {
		spec.Default = &catalog.Default{Kind: catalog.DefaultLiteral, Value: exec.ImplicitDefault(&spec.Type)}
	}
	return spec
}

// tableColumn is madeColumn for CREATE TABLE … SELECT, which gives no default that sql_mode forbids.
func (s *Session) tableColumn(col *plan.QueryColumn) ddl.ColumnSpec {
	spec := madeColumn(col, tableDigitsMax)
	switch spec.Type.ID {
	case types.TypeDate, types.TypeDatetime, types.TypeTimestamp:
		if col.Base == nil && spec.NotNull && s.context.SQLMode&types.ModeNoZeroDate != 0 {
			spec.Default = nil
		}
	}
	return spec
}
