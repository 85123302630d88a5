package types

import (
	"bytes"
	"encoding/base64"
)

// compareJSON orders two normalised documents by MySQL's precedence of types.
func compareJSON(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, _, _ := parseJSONTree(a)
	y, _, _ := parseJSONTree(b)
	return x.compare(&y)
}

func (n *jsonNode) compare(o *jsonNode) int {
	if n.kind != o.kind {
		return compareInts(int64(n.kind), int64(o.kind))
	}
	switch n.kind {
	case jsonNumber:
		return compareNumbers(&n.num, &o.num)
	case jsonString:
		return bytes.Compare(n.str, o.str)
	case jsonBool:
		return compareInts(boolInt(n.truth), boolInt(o.truth))
	case jsonArray:
		for i := range min(len(n.elems), len(o.elems)) {
			if r := n.elems[i].compare(&o.elems[i]); r != 0 {
				return r
			}
		}
		return compareInts(int64(len(n.elems)), int64(len(o.elems)))
	case jsonObject:
		if r := compareInts(int64(len(n.elems)), int64(len(o.elems))); r != 0 {
			return r
		}
		for i := range n.elems {
			if r := compareKeys(n.keys[i], o.keys[i]); r != 0 {
				return compareInts(int64(r), 0)
			}
			if r := n.elems[i].compare(&o.elems[i]); r != 0 {
				return r
			}
		}
	}
	return 0
}

// compareJSONWith compares a document with an SQL value: the value is taken as
// the JSON scalar of its type.
func compareJSONWith(ctx *Context, a, b *Value) int {
	x, y := jsonOf(ctx, a), jsonOf(ctx, b)
	return x.compare(&y)
}

// jsonBinary begins the JSON string that stands for a binary string: 253 is the
// protocol's type of strings. JSON text is utf8mb4, which bytes need not be.
const jsonBinary = "base64:type253:"

// jsonOf returns v as a JSON scalar, or the document it is. Dates are written in
// the session's zone, and those with a time of day with all six digits.
func jsonOf(ctx *Context, v *Value) jsonNode {
	switch v.K {
	case KindNull:
		return jsonNode{}
	case KindJSON:
		n, _, _ := parseJSONTree(v.B)
		return n
	case KindInt, KindUint, KindFloat:
		return jsonNode{kind: jsonNumber, num: *v}
	case KindDecimal:
		return jsonNode{kind: jsonNumber, num: *v}
	case KindBit:
		return jsonNode{kind: jsonNumber, num: Uint(uint64(v.N))}
	}
	s := v.B
	switch {
	case hasText(v.K) && v.Coll.Charset().class == csBinary:
		s = base64.StdEncoding.AppendEncode([]byte(jsonBinary), s)
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
	n, _, _ := parseJSONTree(v.B)
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

// JSONFrom returns v as a JSON value, as CAST(v AS JSON) does for anything but
// text, and as JSON_ARRAY(v) does for text.
func JSONFrom(ctx *Context, v *Value) Value {
	n := jsonOf(ctx, v)
	return JSON(n.append(nil))
}
