package types

import "bytes"

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
func compareJSONWith(a, b *Value) int {
	x, y := jsonOf(a), jsonOf(b)
	return x.compare(&y)
}

// jsonOf returns v as a JSON scalar, or the document it is.
func jsonOf(v *Value) jsonNode {
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
	if !v.IsString() {
		s = AppendText(nil, nil, v)
	}
	return jsonNode{kind: jsonString, str: s}
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
func JSONFrom(v *Value) Value {
	n := jsonOf(v)
	return JSON(n.append(nil))
}
