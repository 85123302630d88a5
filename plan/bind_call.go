package plan

import (
	"errors"
	"math"
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// word is a constant string argument that SQL writes as a keyword, such as the unit of an interval.
func word(s string) expr.Expr { return expr.Literal(types.Text(s)) }

// odbc binds ODBC's {fn …}, {d '…'} and their like. A text that is no date is a plain string there, while DATE '…' would be an error.
func (b *binder) odbc(e *syntax.FuncCall) (expr.Expr, error) {
	bound, err := b.bind(e.Args[0])
	if lit, ok := e.Args[0].(*syntax.Literal); ok && err != nil {
		text := *lit
		text.Kind = syntax.LitString
		return b.bind(&text)
	}
	return bound, err
}

// bindCall binds function calls and the expressions with a syntax of their own.
func (b *binder) bindCall(e syntax.Expr) (expr.Expr, error) {
	switch e := e.(type) {
	case *syntax.FuncCall:
		if e.Syntax == syntax.CallODBC {
			return b.odbc(e)
		}
		return b.function(e)
	case *syntax.Cast:
		return b.cast(e)
	case *syntax.ConvertUsing:
		return b.withWord("convert_using", e.X, e.Charset)
	case *syntax.Collate:
		return b.withWord("collate", e.X, e.Collation)
	case *syntax.Trim:
		return b.trim(e)
	case *syntax.WeightString:
		return b.weightString(e)
	case *syntax.ValuesFunc:
		return b.valuesFunc(e)
	case *syntax.Match:
		return nil, unsupported("MATCH … AGAINST; use LIKE")
	case *syntax.JSONValue:
		return b.jsonValue(e)
	case *syntax.Default:
		return b.defaultOf(e)
	case *syntax.Star:
		return nil, syntaxError("*")
	}
	return nil, unsupported("the expression " + syntax.Brief(e))
}

func (b *binder) withWord(name string, x syntax.Expr, argument string) (expr.Expr, error) {
	bound, err := b.bind(x)
	if err != nil {
		return nil, err
	}
	return b.call(name, bound, word(argument))
}

func (b *binder) function(e *syntax.FuncCall) (expr.Expr, error) {
	if e.Aliased {
		if e.Schema == "" && !e.Stored && expr.HasFunction(strings.ToLower(e.Name)) {
			return nil, types.Errorf(types.ErWrongParametersToNativeFct, e.Name)
		}
		return nil, types.Errorf(types.ErWrongParametersToStoredFct, "`"+e.Name+"`")
	}
	if e.Schema != "" {
		return nil, types.Errorf(types.ErSPDoesNotExist, "FUNCTION", e.Schema+"."+e.Name)
	}
	if isAnyValue(e) {
		return b.anyValue(e.Args[0])
	}
	name := strings.ToLower(e.Name)
	if name == "grouping" {
		return b.grouping(e.Args)
	}
	switch e.Syntax {
	case syntax.CallUnit:
		return b.unitCall(name, e)
	case syntax.CallExtract:
		args, err := b.all(e.Args)
		if err != nil {
			return nil, err
		}
		return b.call(name, append([]expr.Expr{word(e.Unit)}, args...)...)
	case syntax.CallUsing:
		args, err := b.all(e.Args)
		if err != nil {
			return nil, err
		}
		bytes, err := b.call(name+"_using", append([]expr.Expr{word(e.Charset)}, args...)...)
		if err != nil {
			return nil, err
		}
		return b.call("convert_using", bytes, word(e.Charset))
	}
	if len(e.Args) == 2 {
		if interval, ok := e.Args[1].(*syntax.Interval); ok {
			return b.interval(intervalName(name), e.Args[0], interval)
		}
	}
	if err := expr.CheckCall(b.env.Build, e.Name, len(e.Args)); err != nil {
		return nil, err
	}
	args, err := b.all(e.Args)
	if err != nil {
		return nil, err
	}
	call, err := b.call(name, args...)
	var t *types.Error
	if errors.As(err, &t) && t.Number == types.ErWrongParamcountToNativeFct {
		return nil, types.Errorf(types.ErWrongParamcountToNativeFct, e.Name)
	}
	return call, err
}

func intervalName(name string) string {
	switch name {
	case "adddate":
		return "date_add"
	case "subdate":
		return "date_sub"
	}
	return name
}

// unitCall is TIMESTAMPADD, TIMESTAMPDIFF and GET_FORMAT, whose first argument is a keyword.
func (b *binder) unitCall(name string, e *syntax.FuncCall) (expr.Expr, error) {
	args, err := b.all(e.Args)
	if err != nil {
		return nil, err
	}
	return b.call(name, append([]expr.Expr{word(e.Unit)}, args...)...)
}

func (b *binder) trim(e *syntax.Trim) (expr.Expr, error) {
	name := "trim"
	switch e.Side {
	case "LEADING":
		name = "trim_leading"
	case "TRAILING":
		name = "trim_trailing"
	}
	if e.Remove == nil {
		return b.negate(false, name, e.X)
	}
	return b.negate(false, name, e.X, e.Remove)
}

func (b *binder) cast(e *syntax.Cast) (expr.Expr, error) {
	switch {
	case e.Array:
		return nil, unsupported("multi-valued indexes (CAST … AS … ARRAY)")
	case e.TimeZone != nil:
		return nil, unsupported("CAST … AT TIME ZONE")
	}
	x, err := b.bind(e.X)
	if err != nil {
		return nil, err
	}
	if err := castLimits(&e.Type, e.X); err != nil {
		return nil, err
	}
	t, err := castType(&e.Type, b.env.Build.Collation)
	if err != nil {
		return nil, err
	}
	return expr.Cast(b.env.Build, x, t)
}

// weightString is WEIGHT_STRING. AS CHAR(n) and AS BINARY(n) cut or pad the text to n first.
func (b *binder) weightString(e *syntax.WeightString) (expr.Expr, error) {
	if len(e.Rest) > 0 {
		return nil, unsupported("WEIGHT_STRING with three numbers, which is MySQL's own; use AS")
	}
	x, err := b.bind(e.X)
	if err != nil || e.As == "" {
		return b.callOn(err, "weight_string", x)
	}
	n, err := b.bind(e.N)
	if err != nil {
		return nil, err
	}
	if e.As == "CHAR" {
		return b.call("weight_string", x, n)
	}
	length, _ := n.ConstValue()
	bytes, err := expr.Cast(b.env.Build, x, types.Type{ID: types.TypeBinary, Length: int32(min(length.N, math.MaxInt32)), Coll: types.Binary})
	return b.callOn(err, "weight_string", bytes)
}

// callOn is call, unless binding the arguments has failed with err.
func (b *binder) callOn(err error, name string, args ...expr.Expr) (expr.Expr, error) {
	if err != nil {
		return nil, err
	}
	return b.call(name, args...)
}

// pathText is the text of the path of JSON_VALUE, with or without a character set before it.
func pathText(e syntax.Expr) string {
	if e, ok := e.(*syntax.Introduced); ok {
		if charset, err := types.LookupCharset(e.Charset); err == nil {
			return types.InUTF8(e.Lit.Value, charset)
		}
		return e.Lit.Value
	}
	return e.(*syntax.Literal).Value
}

// jsonValue is JSON_VALUE, whose path the grammar wants as a literal.
func (b *binder) jsonValue(e *syntax.JSONValue) (expr.Expr, error) {
	doc, err := b.bind(e.Doc)
	if err != nil {
		return nil, err
	}
	to := expr.JSONValueType()
	if e.Returning != nil {
		if err := castLimits(e.Returning, e.Doc); err != nil {
			return nil, err
		}
		if to, err = castType(e.Returning, types.Utf8mb40900Bin); err != nil {
			return nil, err
		}
	}
	var on [2]expr.JSONOn
	for i, clause := range []*syntax.JSONOnClause{e.OnEmpty, e.OnError} {
		if clause == nil {
			continue
		}
		if on[i].Error = clause.Action == "ERROR"; clause.Default != nil {
			if on[i].Default, err = b.bind(clause.Default); err != nil {
				return nil, err
			}
		}
	}
	return expr.JSONValue(b.env.Build, doc, pathText(e.Path), to, syntax.String(e), on[0], on[1])
}

// castLengthMax is the longest CHAR and BINARY of a CAST, castFloatBits the largest precision of its FLOAT.
const (
	castLengthMax = math.MaxUint32
	castFloatBits = 53
)

// castLimits refuses the lengths, precisions and scales of CAST(x AS t) that MySQL refuses, under the names that it gives.
func castLimits(t *syntax.DataType, x syntax.Expr) error {
	switch t.Kind {
	case syntax.TypeChar, syntax.TypeBinary:
		if t.Length > castLengthMax {
			return types.Errorf(types.ErTooBigDisplaywidth, syntax.String(x), int64(castLengthMax))
		}
	case syntax.TypeDecimal:
		switch {
		case t.Scale > max(t.Length, 0):
			return types.Errorf(types.ErMBiggerThanD, "")
		case t.Length > types.MaxDecimalPrecision:
			return types.Errorf(types.ErTooBigPrecision, t.Length, syntax.String(x), types.MaxDecimalPrecision)
		case t.Scale > types.MaxDecimalScale:
			return types.Errorf(types.ErTooBigScale, t.Scale, syntax.String(x), types.MaxDecimalScale)
		}
	case syntax.TypeDatetime, syntax.TypeTime:
		if t.Length > types.MaxFsp {
			return types.Errorf(types.ErTooBigPrecision, t.Length, "CAST", types.MaxFsp)
		}
	case syntax.TypeFloat:
		if t.Length > castFloatBits {
			return types.Errorf(types.ErTooBigPrecision, t.Length, "CAST", castFloatBits)
		}
	}
	return nil
}

// castType reads the type of CAST, which castLimits has passed; what the statement leaves out stays -1. Lengths beyond an int32 become its
// largest value, which no text reaches.
func castType(t *syntax.DataType, connection types.CollationID) (types.Type, error) {
	to := types.Type{Length: int32(min(t.Length, math.MaxInt32)), Scale: int8(min(t.Scale, math.MaxInt8)), Coll: types.Binary}
	switch t.Kind {
	case syntax.TypeSigned, syntax.TypeUnsigned:
		to.ID, to.Unsigned = types.TypeBigInt, t.Kind == syntax.TypeUnsigned || t.Unsigned
	case syntax.TypeChar:
		coll, _, err := ColumnCollation(t, connection)
		if err != nil {
			return to, err
		}
		to.ID, to.Coll = types.TypeVarchar, coll
	case syntax.TypeBinary:
		to.ID = types.TypeVarbinary
		if t.Length >= 0 {
			to.ID = types.TypeBinary
		}
	case syntax.TypeDecimal:
		to.ID = types.TypeDecimal
	case syntax.TypeDate:
		to.ID = types.TypeDate
	case syntax.TypeDatetime, syntax.TypeTime:
		to.ID = types.TypeDatetime
		if t.Kind == syntax.TypeTime {
			to.ID = types.TypeTime
		}
		to.Scale, to.Length = int8(max(t.Length, 0)), -1
	case syntax.TypeFloat:
		to.ID = types.TypeFloat
		if t.Length > 24 {
			to.ID = types.TypeDouble
		}
		to.Length, to.Scale = -1, -1
	case syntax.TypeDouble:
		to.ID, to.Length, to.Scale = types.TypeDouble, -1, -1
	case syntax.TypeYear:
		to.ID = types.TypeYear
	case syntax.TypeJSON:
		to.ID, to.Coll = types.TypeJSON, types.Utf8mb4Bin
	default:
		return to, unsupported("CAST to this type")
	}
	return to, nil
}

// insertedRow is the row that ON DUPLICATE KEY UPDATE inserts instead: names are those of the target's columns, and the columns of the row have ids
// from first on.
type insertedRow struct {
	names  *scope
	target *get
	first  int
}

// valuesFunc is VALUES(col) in ON DUPLICATE KEY UPDATE, where the name means a column of the target, and in the subqueries there that refer to one.
// Anywhere else it is NULL, as in MySQL, and the name must be known.
func (b *binder) valuesFunc(e *syntax.ValuesFunc) (expr.Expr, error) {
	for s := b.scope; s != nil; s = s.parent {
		if s.insert == nil {
			if found, err := b.inScope(s, e.Column); found != nil || err != nil {
				return expr.Literal(types.Null()), err
			}
			continue
		}
		c, err := s.insert.names.find(e.Column, b.shown())
		if err != nil {
			return nil, err
		}
		if c != nil && s.insert.target.owns(c.id) {
			return expr.Column(s.insert.first+s.insert.target.ordinal(c.id), c.info.Type, "values("+e.Column.Column+")"), nil
		}
	}
	return nil, unknownColumn(e.Column, b.shown())
}
