package types

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
)

// A binary string or BIT that is converted to JSON is an opaque value. Its text is a JSON string with the number of its column type and its
// bytes, "base64:type15:YWI=". By its mark it is distinguished from a string of that text.

// The numbers of column types in opaque values, which are those of the client protocol.
const (
	opaqueVarbinary  = 15
	opaqueBit        = 16
	opaqueTinyBlob   = 249
	opaqueMediumBlob = 250
	opaqueLongBlob   = 251
	opaqueBlob       = 252
	opaqueString     = 253
	opaqueBinary     = 254
	opaqueGeometry   = 255
)

const (
	opaquePrefix = "base64:type"
	// opaqueLine is how many bytes are in a line of base64, as in MySQL, and opaqueLineEnd the end of a line in a JSON string.
	opaqueLine    = 57
	opaqueLineEnd = `\n`
	// opaqueAny is the type of a binary string of SQL that is compared with an opaque value: it is equal to all types but BIT.
	opaqueAny = 0
)

// opaqueCode returns the number in an opaque value from a column of type t.
func opaqueCode(t *Type) int {
	switch t.ID {
	case TypeBinary:
		return opaqueBinary
	case TypeTinyBlob:
		return opaqueTinyBlob
	case TypeBlob:
		return opaqueBlob
	case TypeMediumBlob:
		return opaqueMediumBlob
	case TypeLongBlob:
		return opaqueLongBlob
	}
	return opaqueVarbinary
}

// opaqueName returns the result of JSON_TYPE for an opaque value.
func opaqueName(code int) string {
	switch code {
	case opaqueVarbinary, opaqueTinyBlob, opaqueMediumBlob, opaqueLongBlob, opaqueBlob, opaqueString, opaqueBinary:
		return "BLOB"
	case opaqueBit:
		return "BIT"
	case opaqueGeometry:
		return "GEOMETRY"
	}
	return "OPAQUE"
}

// parseOpaque parses the characters of a JSON string as an opaque value.
func parseOpaque(s []byte) (code int, b []byte, ok bool) {
	rest, ok := bytes.CutPrefix(s, []byte(opaquePrefix))
	if !ok {
		return 0, nil, false
	}
	digits, text, ok := bytes.Cut(rest, []byte(":"))
	if !ok {
		return 0, nil, false
	}
	n, err := strconv.ParseUint(string(digits), 10, 8)
	if err != nil || n == opaqueAny || strconv.FormatUint(n, 10) != string(digits) {
		return 0, nil, false
	}
	b, err = base64.StdEncoding.Strict().AppendDecode(nil, text)
	return int(n), b, err == nil
}

// appendOpaque appends the text of an opaque value without quotation marks.
func appendOpaque(dst []byte, code int, b []byte) []byte {
	dst = append(dst, opaquePrefix...)
	dst = append(strconv.AppendInt(dst, int64(code), 10), ':')
	for len(b) > opaqueLine {
		dst = append(base64.StdEncoding.AppendEncode(dst, b[:opaqueLine]), opaqueLineEnd...)
		b = b[opaqueLine:]
	}
	return base64.StdEncoding.AppendEncode(dst, b)
}

// opaqueBits returns the bytes of a BIT of type t.
func opaqueBits(v *Value, t *Type) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(v.N))
	return b[8-min(max((int(t.Length)+7)/8, 1), 8):]
}

// compareOpaque orders opaque values by their types and then by their bytes.
func (n *jsonNode) compareOpaque(o *jsonNode) int {
	if n.code != o.code && (n.code == opaqueBit || o.code == opaqueBit || n.code != opaqueAny && o.code != opaqueAny) {
		return compareInts(int64(n.code), int64(o.code))
	}
	if n.bits || o.bits {
		return bytes.Compare(bytes.TrimLeft(n.str, "\x00"), bytes.TrimLeft(o.str, "\x00"))
	}
	return bytes.Compare(n.str, o.str)
}

// JSONFrom returns v, of type t, as a JSON scalar, or as the document that it is. A text becomes a JSON string and is not parsed.
func JSONFrom(ctx *Context, v *Value, t *Type) Value {
	n := jsonOf(ctx, v)
	switch {
	case v.K == KindJSON:
	case v.K == KindBit:
		n.str = opaqueBits(v, t)
	case n.kind == jsonOpaque:
		n.code = opaqueCode(t)
	case v.K == KindInt && (t.Unsigned && t.IsInteger() || t.ID == TypeYear):
		n.num.K = KindUint
	case v.K == KindDecimal && t.ID == TypeDecimal && int(v.Scale) > int(t.Scale): // a quotient with more digits than its type
		n.num = DecRound(*v, int(t.Scale))
	}
	return JSON(n.append(nil))
}

// appendJSONOpaqueKey is appendJSONKey of an opaque value.
func appendJSONOpaqueKey(dst []byte, n *jsonNode) []byte {
	return AppendSortKey(append(dst, byte(n.code)), slices.Clip(n.str), Binary)
}
