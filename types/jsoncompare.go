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
// which ends an array.
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
	return x.compare(&y)
}

// jsonOf returns v as a JSON scalar, or the document it is. A TIMESTAMP is the time that it is in the session's zone.
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
