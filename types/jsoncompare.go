package types

import (
	"bytes"
	"encoding/binary"
	"math"
)

// compareJSON orders two normalised documents by MySQL's precedence of types.
func compareJSON(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, y := viewJSON(a), viewJSON(b)
	return x.compare(&y)
}

func (n *jsonNode) compare(o *jsonNode) int {
	if n.kind != o.kind {
		return compareInts(int64(n.kind), int64(o.kind))
	}
	switch n.kind {
	case jsonNumber:
		return compareJSONNumbers(&n.num, &o.num)
	case jsonString:
		return bytes.Compare(n.str, o.str)
	case jsonBool:
		return compareInts(boolInt(n.truth), boolInt(o.truth))
	case jsonOpaque, jsonBit, jsonBlob:
		return n.compareOpaque(o)
	case jsonArray:
		return compareJSONMembers(n.text, o.text)
	case jsonObject:
		if r := compareInts(int64(JSONLength(n.text)), int64(JSONLength(o.text))); r != 0 {
			return r
		}
		return compareJSONMembers(n.text, o.text)
	}
	return 0
}

// compareJSONMembers orders arrays by their elements and then by their length, and objects of the same length by keys and values.
func compareJSONMembers(a, b []byte) int {
	x, y := NewJSONIter(a), NewJSONIter(b)
	for {
		k, v, ok := x.Next()
		l, w, more := y.Next()
		if !ok || !more {
			return compareInts(boolInt(ok), boolInt(more))
		}
		if k != nil {
			if r := compareKeys(UnquoteJSON(k), UnquoteJSON(l)); r != 0 {
				return compareInts(int64(r), 0)
			}
		}
		if r := compareJSON(v, w); r != 0 {
			return r
		}
	}
}

// appendJSONKey appends bytes that order as compareJSON does and are equal where it says so. Each value begins with its kind, above 0,
// which ends an array. A number is its nearest double and what is missing to it, so that 64-bit integers keep their order.
func appendJSONKey(dst, text []byte) []byte {
	var k jsonKeyer
	return k.append(dst, text)
}

// jsonKeyer makes the key of a document that may be as long as a packet, and stops where poll, which may be nil, fails.
type jsonKeyer struct {
	poll func() error
	read int // bytes since the last poll; those of nested values once for each level, as they are read
	err  error
}

func (k *jsonKeyer) polled(n int) bool {
	if k.read += n; k.read > pieceBytes && k.poll != nil && k.err == nil {
		k.read, k.err = 0, k.poll()
	}
	return k.err == nil
}

func (k *jsonKeyer) append(dst, text []byte) []byte {
	if !k.polled(len(text)) {
		return dst
	}
	n := viewJSON(text)
	dst = append(dst, byte(n.kind)+1)
	switch n.kind {
	case jsonNumber:
		return appendJSONNumberKey(dst, &n.num)
	case jsonString:
		return AppendSortKey(dst, n.str, Binary)
	case jsonBool:
		return append(dst, byte(boolInt(n.truth)))
	case jsonOpaque, jsonBit, jsonBlob:
		return appendJSONOpaqueKey(dst, &n)
	case jsonArray, jsonObject:
		if n.kind == jsonObject {
			dst = binary.BigEndian.AppendUint32(dst, uint32(JSONLength(text)))
		}
		for it := NewJSONIter(text); k.err == nil; {
			key, value, ok := it.Next()
			if !ok {
				break
			}
			if key != nil {
				key = UnquoteJSON(key)
				dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(key))), key...)
			}
			dst = k.append(dst, value)
		}
		return append(dst, 0)
	}
	return dst
}

func appendJSONNumberKey(dst []byte, v *Value) []byte {
	f, rest := splitJSONNumber(v)
	dst = binary.BigEndian.AppendUint64(dst, orderedFloat(f))
	return binary.BigEndian.AppendUint16(dst, uint16(rest)^0x8000)
}

// splitJSONNumber returns the double that is nearest to a number and what an integer is above that. Rounding keeps the order, so both
// together order numbers by their exact value.
func splitJSONNumber(v *Value) (f float64, rest int64) {
	switch v.K {
	case KindInt:
		if f = float64(v.N); f == 1<<63 {
			return f, v.N - math.MaxInt64 - 1
		}
		return f, v.N - int64(f)
	case KindUint:
		if f = float64(uint64(v.N)); f == 1<<64 {
			return f, v.N // modulo 1<<64
		}
		return f, int64(uint64(v.N) - uint64(f))
	}
	if f = v.Float64(); f == 0 {
		f = 0 // not -0
	}
	return f, 0
}

// compareJSONNumbers orders numbers exactly. An SQL value may be a decimal, which a document has none of.
func compareJSONNumbers(a, b *Value) int {
	if a.K == KindDecimal || b.K == KindDecimal {
		return compareNumbers(a, b)
	}
	f, m := splitJSONNumber(a)
	g, n := splitJSONNumber(b)
	switch {
	case f < g:
		return -1
	case f > g:
		return 1
	}
	return compareInts(m, n)
}

// hashJSON hashes documents that are equal alike: those of one key.
func hashJSON(seed uint64, text []byte) uint64 {
	p := scratch.Get().(*[]byte)
	key := appendJSONKey((*p)[:0], text)
	h := hashBytes(seed, key)
	putScratch(p, key)
	return h
}

// compareJSONWith compares a document with an SQL value: the value is taken as
// the JSON scalar of its type.
func compareJSONWith(ctx *Context, a, b *Value) int {
	x, y := jsonOf(ctx, a), jsonOf(ctx, b)
	switch {
	case a.IsTemporal() && temporalIsAbove(y.kind):
		return 1
	case b.IsTemporal() && temporalIsAbove(x.kind):
		return -1
	}
	return x.compare(&y)
}

// temporalIsAbove says that dates and times come after all documents of a kind. Those that a document holds are strings here, so strings are left
// to their texts.
func temporalIsAbove(k jsonKind) bool { return k != jsonString && k < jsonOpaque }

// jsonOf returns v as a JSON scalar, or the document it is. Dates are written in
// the session's zone, and those with a time of day with all six digits.
func jsonOf(ctx *Context, v *Value) jsonNode {
	switch v.K {
	case KindNull:
		return jsonNode{}
	case KindJSON:
		return viewJSON(v.B)
	case KindFloat: // of a FLOAT all digits of the double that it is
		return jsonNode{kind: jsonNumber, num: Float(v.Float64())}
	case KindInt, KindUint, KindDecimal:
		return jsonNode{kind: jsonNumber, num: *v}
	case KindBit:
		return jsonNode{kind: jsonBit, str: opaqueBits(v, &Type{ID: TypeBit, Length: 64})}
	}
	s := v.B
	switch {
	case hasText(v.K) && v.Coll.Charset().class == csBinary:
		return jsonNode{kind: jsonBlob, code: opaqueAny, str: s}
	case hasText(v.K):
		s = jsonText(v)
	default:
		w := *v
		if v.K != KindDate {
			w.Scale = MaxFsp
		}
		s = AppendText(nil, ctx, &w)
	}
	return jsonNode{kind: jsonString, str: s}
}

// jsonText returns the text of v in utf8mb4; it may be v's own bytes.
func jsonText(v *Value) []byte {
	from, to := v.Coll.Charset(), DefaultCollation.Charset()
	if sameBytes(v.B, from, to) {
		return v.B
	}
	b, _ := ConvertCharset(nil, v.B, from, to)
	return b
}

// JSONText returns the text of a string in utf8mb4, for the functions that read
// or build documents; it may be v's own bytes. ok is false for binary strings.
func JSONText(v *Value) (b []byte, ok bool) {
	if v.Coll.Charset().class == csBinary {
		return nil, false
	}
	return jsonText(v), true
}

// jsonToFloat returns the number that a document is in numeric context.
func jsonToFloat(ctx *Context, v *Value) float64 {
	n := viewJSON(v.B)
	switch n.kind {
	case jsonNumber:
		return ToFloat(ctx, &n.num)
	case jsonBool:
		return float64(boolInt(n.truth))
	case jsonString:
		s := String(n.str, Utf8mb4Bin)
		return ToFloat(ctx, &s)
	}
	ctx.Warn(LevelWarning, ErInvalidJSONValueForCast, "DOUBLE", "", 1)
	return 0
}
