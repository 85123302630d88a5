package expr

import (
	"bytes"
	"math"
	"strings"

	"github.com/pandodb/pando/types"
)

// JSONOn is an ON EMPTY or ON ERROR clause: an error, a default, or NULL, which is the zero value.
type JSONOn struct {
	Error   bool
	Default Expr // a constant; nil for none
}

// jsonValuePlan is the aux of JSON_VALUE.
type jsonValuePlan struct {
	legs             []pathLeg
	to               types.Type
	name             string // of the type, in errors
	onEmpty, onError jsonOn
}

// jsonOn is JSONOn with the default converted to the type of the result.
type jsonOn struct {
	fail  bool
	value types.Value // NULL without a default
}

// jsonValueChars is the length of the result without RETURNING, in characters.
const jsonValueChars = 512

// JSONValueType returns the type of JSON_VALUE without RETURNING.
func JSONValueType() types.Type {
	return types.Type{ID: types.TypeVarchar, Length: jsonValueChars, Coll: types.Utf8mb40900Bin}
}

// JSONValue is JSON_VALUE(doc, path RETURNING to … ON EMPTY … ON ERROR). clauses is the text of the clauses, by which Equal distinguishes calls.
// It fails with 3143 if the path is not valid, and for defaults that do not fit the type.
func JSONValue(b *BuildContext, doc Expr, path string, to types.Type, clauses string, onEmpty, onError JSONOn) (Expr, error) {
	legs, err := parsePath([]byte(path))
	if err != nil {
		return nil, err
	}
	n := newCall("json_value", []Expr{doc, Literal(types.Text(path)), Literal(types.Text(clauses))})
	if err := rejectRows(n.args); err != nil {
		return nil, err
	}
	if noDocument(doc) { // whatever the rows
		return nil, invalidJSONType(n, 0)
	}
	switch {
	case to.IsStringType() && to.Length < 0:
		to = stringType(-1, to.Coll)
	case to.ID == types.TypeBinary:
		to.ID = types.TypeVarbinary // unlike by CAST, it is not padded
	case to.ID == types.TypeDecimal:
		if to.Length <= 0 {
			to.Length = 10
		}
		to.Scale = max(to.Scale, 0)
	}
	p := &jsonValuePlan{legs: legs, to: to, name: jsonValueTypeName(&to)}
	if p.onEmpty, err = b.jsonOn(p, onEmpty); err != nil {
		return nil, err
	}
	if p.onError, err = b.jsonOn(p, onError); err != nil {
		return nil, err
	}
	n.typ, n.aux, n.coer, n.eval = to, p, CoerCoercible, overDocuments(evalJSONValue)
	if to.ID == types.TypeJSON {
		n.coer = CoerImplicit
	}
	return fold(b, n)
}

// buildJSONValue is JSON_VALUE without clauses.
func buildJSONValue(b *BuildContext, n *Node) error {
	path, ok := n.args[1].ConstValue()
	if !ok || path.IsNull() {
		return types.Errorf(types.ErWrongArguments, n.name)
	}
	v, err := JSONValue(b, n.args[0], string(path.B), JSONValueType(), "", JSONOn{}, JSONOn{})
	if err == nil {
		*n = *v
	}
	return err
}

func jsonValueTypeName(t *types.Type) string {
	switch {
	case t.ID == types.TypeJSON:
		return "JSON"
	case t.IsStringType():
		return "STRING"
	case t.IsInteger() && t.Unsigned:
		return "UNSIGNED"
	case t.IsInteger():
		return "SIGNED"
	}
	switch t.ID {
	case types.TypeDecimal:
		return "DECIMAL"
	case types.TypeFloat:
		return "FLOAT"
	case types.TypeDouble:
		return "DOUBLE"
	case types.TypeDate:
		return "DATE"
	case types.TypeTime:
		return "TIME"
	case types.TypeYear:
		return "YEAR"
	}
	return "DATETIME"
}

// jsonOn converts a clause; its default must be a constant that fits the type.
func (b *BuildContext) jsonOn(p *jsonValuePlan, on JSONOn) (jsonOn, error) {
	out := jsonOn{fail: on.Error, value: types.Null()}
	if on.Default == nil {
		return out, nil
	}
	v, ok := on.Default.ConstValue()
	if !ok {
		return out, types.Errorf(types.ErInvalidDefault, "json_value")
	}
	if v.IsNull() {
		return out, nil
	}
	ctx := b.quietCtx()
	if p.to.ID == types.TypeJSON {
		j, err := types.Cast(ctx.Context, v, p.to)
		if err != nil {
			return out, err
		}
		out.value = j.Clone()
		return out, nil
	}
	if p.to.ID == types.TypeDatetime && v.K == types.KindString && !isDateAndTime(v.B) {
		return out, types.Errorf(types.ErTruncatedWrongValue, "datetime", v.B)
	}
	converted, ok := p.convert(ctx, v)
	if !ok {
		name := p.name
		switch {
		case p.to.IsStringType():
			name = "CHAR"
		case v.K == types.KindString && p.to.IsInteger():
			return out, types.Errorf(types.ErTruncatedWrongValue, "INTEGER "+p.name, v.B)
		case v.K == types.KindString && p.to.IsTemporal():
			return out, types.Errorf(types.ErTruncatedWrongValue, strings.ToLower(p.name), v.B)
		}
		return out, types.Errorf(types.ErDataOutOfRange, name+" DEFAULT", "json_value")
	}
	out.value = converted.Clone()
	return out, nil
}

func evalJSONValue(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	p := n.aux.(*jsonValuePlan)
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil {
		return types.Null(), err
	}
	text, ok, err := ctx.documentIn(n, 0, v)
	if e, is := err.(*types.Error); is && e.Number == types.ErInvalidJSONTextInParam && !p.onError.fail {
		ctx.AddError(types.LevelWarning, e)
		return p.onError.value, nil
	}
	if err != nil || !ok {
		return types.Null(), err
	}
	found, err := ctx.find(ctx.parseTree(text), p.legs)
	switch {
	case err != nil:
		return types.Null(), err
	case len(found) == 0 && p.onEmpty.fail:
		return types.Null(), types.Errorf(types.ErMissingJSONValue, n.name)
	case len(found) == 0:
		return p.onEmpty.value, nil
	case len(found) > 1 && p.onError.fail:
		return types.Null(), types.Errorf(types.ErMultipleJSONValues, n.name)
	case len(found) > 1:
		return p.onError.value, nil
	}
	value := found[0].text
	if value == nil {
		value = ctx.owned(found[0].append(nil))
	}
	if string(value) == "null" {
		return types.Null(), nil
	}
	if out, ok := p.convertText(ctx, value); ok {
		return out, nil
	}
	if p.onError.fail {
		return types.Null(), types.Errorf(types.ErDataOutOfRange, p.name, "json_value")
	}
	return p.onError.value, nil
}

// convertText converts a value of the document, given as normalised text, to the result type. ok is false if it does not fit.
func (p *jsonValuePlan) convertText(ctx *Ctx, text []byte) (v types.Value, ok bool) {
	if p.to.ID == types.TypeJSON {
		return types.JSON(text), true
	}
	v, scalar := types.JSONScalar(text)
	switch {
	case p.to.IsStringType() && v.K != types.KindString:
		v = types.String(types.JSONScalarText(text), types.Utf8mb4Bin)
	case !scalar, v.IsTemporal() && (!p.to.IsTemporal() || (v.K == types.KindTime) != (p.to.ID == types.TypeTime)):
		return v, false
	case p.to.IsTemporal() && v.K != types.KindString && !v.IsTemporal() && p.to.ID != types.TypeYear:
		return v, false
	case p.to.ID == types.TypeTime:
		v = types.JSON(text) // not every text is a time in a document
	case (p.to.ID == types.TypeDatetime || p.to.ID == types.TypeTimestamp) && v.K == types.KindString && !isDateAndTime(v.B):
		return v, false
	case v.K == types.KindString && (p.to.IsInteger() || p.to.ID == types.TypeYear):
		digits := bytes.TrimLeft(v.B, textSpace)
		if digits = bytes.TrimPrefix(bytes.TrimPrefix(digits, []byte("+")), []byte("-")); len(digits) == 0 || len(bytes.TrimLeft(digits, "0123456789")) > 0 {
			return v, false
		}
		if v, ok = exactInteger(ctx, v); !ok {
			return v, false
		}
	case v.K == types.KindString && p.to.Kind() == types.KindFloat && len(v.B) == 0:
		v = types.Float(0)
	case v.K == types.KindString && p.to.Kind() == types.KindFloat && bytes.ContainsAny(v.B[len(v.B)-1:], textSpace):
		return v, false
	case p.to.ID == types.TypeYear && (v.K == types.KindFloat || v.K == types.KindDecimal):
		v = types.Int(int64(math.RoundToEven(ctx.float(&v))))
	}
	return p.convert(ctx, v)
}

// textSpace are the characters in front of a text's number that are skipped.
const textSpace = " \t\n\v\f\r"

// isDateAndTime reports whether a text has, if it is a datetime, more than a date: the time is set apart by a space, or all of it are digits.
func isDateAndTime(text []byte) bool {
	return bytes.ContainsAny(text, " ") || len(text) > len("20060102") && !bytes.ContainsAny(text, "-/:")
}

// convert converts v to the result type. ok is false if anything but fraction digits would be lost; those are cut off.
func (p *jsonValuePlan) convert(ctx *Ctx, v types.Value) (types.Value, bool) {
	strict := types.Context{Strict: true, SQLMode: types.ModeStrict | types.ModeNoZeroDate | types.ModeNoZeroInDate | types.ModeTimeTruncateFrac, Loc: ctx.Location()}
	if v.K == types.KindString && p.to.IsInteger() {
		exact, ok := exactInteger(ctx, v)
		if !ok || !integral(exact.K) {
			return v, false
		}
		v = exact
	}
	if v.K == types.KindFloat && p.to.IsInteger() && math.Abs(v.Float64()) >= 1<<63 {
		return v, false // also of UNSIGNED, and -1<<63, which as a double may stand for less
	}
	if p.to.ID == types.TypeYear && (!integral(v.K) || v.N != 0 && (v.N < 1901 || v.N > 2155)) {
		return v, false
	}
	if v.K == types.KindString && p.to.Coll != types.Binary && p.to.IsStringType() {
		if bytes, bad := types.ConvertCharset(nil, v.B, types.DefaultCollation.Charset(), p.to.Coll.Charset()); bad == 0 {
			v = types.String(ctx.owned(bytes), p.to.Coll)
		} else {
			return v, false
		}
	}
	out, err := types.Convert(&strict, v, p.to, "", 1)
	return out, err == nil
}
