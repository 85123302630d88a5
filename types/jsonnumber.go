package types

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// Numbers in documents are compared by the decimal numbers of their texts, whatever their types: the double 0.1 equals the decimal 0.1, and the
// double 2^60, whose text is 1.152921504606847e18, is greater than the integer 1152921504606846976.

// compareJSONNumbers orders two numbers.
func compareJSONNumbers(a, b *Value) int {
	if (a.K == KindFloat) == (b.K == KindFloat) {
		return compareNumbers(a, b)
	}
	p, q := scratch.Get().(*[]byte), scratch.Get().(*[]byte)
	x, y := appendJSONNumberKey((*p)[:0], a), appendJSONNumberKey((*q)[:0], b)
	r := bytes.Compare(x, y)
	putScratch(p, x)
	putScratch(q, y)
	return r
}

// The first byte of a number's key is its sign.
const (
	numberKeyNegative = 0x7F
	numberKeyZero     = 0x80
	numberKeyPositive = 0x81
	// numberKeyPoint is added to exponents; that of numbers from 0.1 to below 1 is 0.
	numberKeyPoint = 1 << 15
)

// appendJSONNumberKey appends bytes that have the order of numbers: the sign, the exponent in two bytes, the digits without leading and trailing
// zeros, two in a byte, and 0. All bytes but the sign of a negative number are inverted.
func appendJSONNumberKey(dst []byte, v *Value) []byte {
	var room [32]byte
	text := room[:0]
	switch v.K {
	case KindFloat:
		text = strconv.AppendFloat(text, v.Float64(), 'e', -1, 64)
	default:
		text = appendTextIn(text, v, nil)
	}
	negative := len(text) > 0 && text[0] == '-' // it is empty if the stored bytes are corrupt
	if negative {
		text = text[1:]
	}
	exponent := 0
	if i := bytes.IndexByte(text, 'e'); i >= 0 {
		exponent, _ = strconv.Atoi(string(text[i+1:]))
		text = text[:i]
	}
	point := bytes.IndexByte(text, '.')
	if point < 0 {
		point = len(text)
	} else {
		text = append(text[:point], text[point+1:]...)
	}
	digits := bytes.TrimLeft(text, "0")
	exponent += point - (len(text) - len(digits))
	if digits = bytes.TrimRight(digits, "0"); len(digits) == 0 {
		return append(dst, numberKeyZero)
	}
	start := len(dst) + 1
	dst = append(dst, numberKeyPositive)
	dst = binary.BigEndian.AppendUint16(dst, uint16(numberKeyPoint+exponent))
	for i := 0; i < len(digits); i += 2 {
		pair := 10 * (digits[i] - '0')
		if i+1 < len(digits) {
			pair += digits[i+1] - '0'
		}
		dst = append(dst, pair+1)
	}
	dst = append(dst, 0)
	if negative {
		dst[start-1] = numberKeyNegative
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}

// jsonNumberOf returns a document as a number; a string is parsed by read. A value that is no number is 0, or what read returns, with warning
// 3156, which names the wanted type what.
func jsonNumberOf(ctx *Context, v *Value, what string, read func(text []byte) (n Value, rest []byte)) Value {
	n, rest := Int(0), []byte(nil)
	switch doc := viewJSON(v.B); doc.kind {
	case jsonNumber:
		return doc.num
	case jsonBool:
		return Int(boolInt(doc.truth))
	case jsonString:
		n, rest = read(doc.str)
		if len(rest) < len(doc.str) && onlySpace(rest) {
			return n
		}
	}
	ctx.Warn(LevelWarning, ErInvalidJSONValueForCast, what, ctx.jsonName(), 1)
	return n
}

func jsonToFloat(ctx *Context, v *Value) float64 {
	n := jsonNumberOf(ctx, v, "DOUBLE", func(text []byte) (Value, []byte) {
		f, used := ParseFloat(text)
		return Float(f), text[used:]
	})
	return ToFloat(nil, &n)
}

func jsonToDecimal(ctx *Context, v *Value) Value {
	n := jsonNumberOf(ctx, v, "DECIMAL", func(text []byte) (Value, []byte) {
		d, rest, _ := ParseDecimal(text)
		return d, rest
	})
	return ToDecimal(nil, &n)
}

// jsonToInteger returns a document as a number that the caller converts to an integer; a string is parsed as an integer.
func jsonToInteger(ctx *Context, v *Value) Value {
	return jsonNumberOf(ctx, v, "INTEGER", func(text []byte) (Value, []byte) {
		u, negative, used, _ := parseDigits(text)
		if negative {
			return Int(-int64(u)), text[used:]
		}
		return Uint(u), text[used:]
	})
}
