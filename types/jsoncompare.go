package types

import (
	"bytes"
	"encoding/binary"
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
	case jsonDate, jsonTime, jsonDatetime:
		return compareInts(n.num.N, o.num.N)
	case jsonOpaque:
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

// compareJSONMembers orders arrays by their elements and then by their length, and objects with the same number of members by
// keys and values.
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

// appendJSONKey appends bytes that have the order of compareJSON. Each value begins with its kind, plus one; 0 ends an array or
// object.
func appendJSONKey(dst, text []byte) []byte {
	var k jsonKeyer
	return k.append(dst, text)
}

// jsonKeyer makes the key of a document, which may be as long as a packet. It calls poll, which may be nil, and stops when that
// returns an error.
type jsonKeyer struct {
	poll func() error
	read int // bytes since the last poll, counted again for each level of nesting, because each level scans them
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
	case jsonDate, jsonTime, jsonDatetime:
		return binary.BigEndian.AppendUint64(dst, uint64(n.num.N)^1<<63)
	case jsonOpaque:
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

// hashJSON returns a hash of a document's key, which is the same for equal documents.
func hashJSON(seed uint64, text []byte) uint64 {
	p := scratch.Get().(*[]byte)
	key := appendJSONKey((*p)[:0], text)
	h := hashBytes(seed, key)
	putScratch(p, key)
	return h
}

// compareJSONWith compares a document with an SQL value, which is converted to the JSON scalar
// of its type.
func compareJSONWith(ctx *Context, a, b *Value) int {
	x, y := jsonOf(ctx, a), jsonOf(ctx, b)
	return x.compare(&y)
}

// CompareAsJSON compares two values as JSON, of which neither need be a document. NULL is not among them.
func CompareAsJSON(ctx *Context, a, b *Value) int { return compareJSONWith(ctx, a, b) }

// jsonOf returns v as a JSON scalar, or the document that it is. A TIMESTAMP is converted to the session's zone.
func jsonOf(ctx *Context, v *Value) jsonNode {
	switch v.K {
	case KindNull:
		return jsonNode{}
	case KindJSON:
		return viewJSON(v.B)
	case KindFloat: // without SinglePrecision: a FLOAT has all digits of the double
		return jsonNode{kind: jsonNumber, num: Float(v.Float64())}
	case KindInt, KindUint, KindDecimal:
		return jsonNode{kind: jsonNumber, num: *v}
	case KindBit:
		return jsonNode{kind: jsonOpaque, code: opaqueBit, bits: true, str: opaqueBits(v, &Type{ID: TypeBit, Length: 64})}
	case KindDate:
		return jsonNode{kind: jsonDate, num: *v}
	case KindTime:
		return jsonNode{kind: jsonTime, num: Time(v.N, MaxFsp)}
	case KindDatetime:
		return jsonNode{kind: jsonDatetime, num: Datetime(v.N, MaxFsp)}
	case KindTimestamp:
		return jsonNode{kind: jsonDatetime, timestamp: true, num: Datetime(packedFromUnix(v.N, ctx.Location()), MaxFsp)}
	}
	if v.Coll.Charset().class == csBinary {
		return jsonNode{kind: jsonOpaque, code: opaqueAny, str: v.B}
	}
	return jsonNode{kind: jsonString, str: jsonText(v)}
}

// jsonText returns the text of v in utf8mb4. It may be v.B.
func jsonText(v *Value) []byte {
	from, to := v.Coll.Charset(), DefaultCollation.Charset()
	if sameBytes(v.B, from, to) {
		return v.B
	}
	b, _ := ConvertCharset(nil, v.B, from, to)
	return b
}

// JSONText returns the text of a string in utf8mb4, for functions that parse or build
// documents. It may be v.B. ok is false for binary strings.
func JSONText(v *Value) (b []byte, ok bool) {
	if v.Coll.Charset().class == csBinary {
		return nil, false
	}
	return jsonText(v), true
}
