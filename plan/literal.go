package plan

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// literal binds a constant, or the parameter that replaces it when the text's literals were lifted out.
func (b *binder) literal(lit *syntax.Literal) (expr.Expr, error) {
	if ordinal, ok := b.env.Lifted[lit.Pos]; ok {
		param, err := b.build.param(ordinal)
		if err != nil {
			return nil, err
		}
		return expr.NotNull(param), nil // NULL is not lifted
	}
	v, err := b.env.literalValue(lit)
	if err != nil {
		return nil, err
	}
	switch lit.Kind {
	case syntax.LitHex, syntax.LitBit:
		return expr.HexLiteral(v.B), nil
	case syntax.LitTrue, syntax.LitFalse:
		return expr.TruthLiteral(v.N != 0), nil
	case syntax.LitDecimal:
		return expr.DecimalLiteral(v, lit.Value), nil
	}
	return expr.Literal(v), nil
}

// literalValue converts the digits or text of a literal to a value.
func (e *Env) literalValue(lit *syntax.Literal) (types.Value, error) {
	switch lit.Kind {
	case syntax.LitInt:
		return intLiteral(lit.Value), nil
	case syntax.LitDecimal:
		return decimalLiteral(lit.Value)
	case syntax.LitFloat:
		f, err := strconv.ParseFloat(lit.Value, 64)
		if err != nil && math.IsInf(f, 0) {
			return types.Null(), types.Errorf(types.ErIllegalValueForType, "double", lit.Value)
		}
		return types.Float(f), nil
	case syntax.LitString:
		return e.Build.Text([]byte(lit.Value)), nil
	case syntax.LitNString:
		return types.String([]byte(lit.Value), types.Utf8mb3GeneralCI), nil
	case syntax.LitHex:
		return types.Bytes(hexBytes(lit.Value)), nil
	case syntax.LitBit:
		return types.Bytes(bitBytes(lit.Value)), nil
	case syntax.LitTrue:
		return types.Int(1), nil
	case syntax.LitFalse:
		return types.Int(0), nil
	case syntax.LitDate, syntax.LitTime, syntax.LitTimestamp:
		return e.temporalLiteral(lit)
	}
	return types.Null(), nil
}

func intLiteral(digits string) types.Value {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return types.Int(n)
	}
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return types.Uint(n)
	}
	v, _, _ := types.ParseDecimalLiteral([]byte(digits)) // digits alone always parse
	return v
}

func decimalLiteral(text string) (types.Value, error) {
	v, rest, ok := types.ParseDecimalLiteral([]byte(text))
	if !ok || len(rest) > 0 {
		return types.Null(), types.Errorf(types.ErIllegalValueForType, "decimal", text)
	}
	return v, nil
}

// negativeLiteral folds -9223372036854775808 and its like, whose digits alone don't fit a signed integer.
func negativeLiteral(lit *syntax.Literal) (types.Value, bool, error) {
	switch lit.Kind {
	case syntax.LitInt:
		if n, err := strconv.ParseInt("-"+lit.Value, 10, 64); err == nil {
			return types.Int(n), true, nil
		}
	case syntax.LitDecimal:
		v, err := decimalLiteral("-" + lit.Value)
		return v, err == nil, err
	}
	return types.Null(), false, nil
}

// hexBytes decodes the digits of a hexadecimal literal; an odd number of them means a leading zero.
func hexBytes(digits string) []byte {
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	out, _ := hex.DecodeString(digits) // the lexer admits hexadecimal digits only
	return out
}

func bitBytes(digits string) []byte {
	out := make([]byte, (len(digits)+7)/8)
	for i := range digits {
		if digits[len(digits)-1-i] == '1' {
			out[len(out)-1-i/8] |= 1 << (i % 8)
		}
	}
	return out
}

func (e *Env) temporalLiteral(lit *syntax.Literal) (types.Value, error) {
	text := types.Text(lit.Value)
	scratch := types.Context{SQLMode: e.Build.Ctx.SQLMode, Loc: e.Build.Ctx.Loc}
	var v types.Value
	ok, name := false, "DATETIME"
	switch lit.Kind {
	case syntax.LitDate:
		name = "DATE"
		v, ok = types.ToDate(&scratch, &text)
		ok = ok && !types.HasClock(text.B)
	case syntax.LitTime:
		name = "TIME"
		v, ok = types.ToTime(&scratch, &text)
		ok = ok && strings.IndexByte(lit.Value, '-') <= 0 // a date before it
	default:
		v, ok = types.ToDatetime(&scratch, &text)
		if !types.HasClock(text.B) {
			ok = false
		}
	}
	for _, w := range scratch.Warnings() { // of delimiters
		ok = ok && w.Number != types.ErTruncatedWrongValue
	}
	if !ok {
		return types.Null(), types.Errorf(types.ErWrongValue, name, lit.Value)
	}
	e.Notices = append(e.Notices, scratch.Warnings()...)
	return v, nil
}

// introduced is a literal with a character set of its own: its bytes are taken as they are, but for zeros that fill up the first character.
func (b *binder) introduced(e *syntax.Introduced) (expr.Expr, error) {
	charset, err := types.LookupCharset(e.Charset)
	if err != nil {
		return nil, err
	}
	raw := []byte(e.Lit.Value)
	switch e.Lit.Kind {
	case syntax.LitHex:
		raw = hexBytes(e.Lit.Value)
	case syntax.LitBit:
		raw = bitBytes(e.Lit.Value)
	}
	raw = charset.Align(raw)
	if n := charset.ValidPrefix(raw); n != len(raw) {
		return nil, charset.InvalidString(raw[n:])
	}
	return expr.Literal(types.String(raw, b.env.Build.DefaultOf(charset))), nil
}
