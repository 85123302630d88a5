package types

import "bytes"

// MySQL's JSON has scalars of types that JSON does not have: dates and times, decimals, unsigned integers and opaque values. In the stored text
// such a scalar has a mark before it: the byte jsonMark, which is nowhere else in a document because control characters in strings are escaped,
// and a letter for its type. After the mark there is the text that clients receive. So clients receive a document without its marks, and a
// document without such scalars as it is stored. A text that is parsed has no marks: a date in it is a string.
const jsonMark = 0x01

// jsonMarkBytes is the length of a mark.
const jsonMarkBytes = 2

// The letters of marks; see the table in doc.go.
const (
	markUnsigned  = 'u'
	markDecimal   = 'n'
	markDate      = 'd'
	markTime      = 't'
	markDatetime  = 'D'
	markTimestamp = 's'
	markOpaque    = 'o'
)

// JSONMarked reports whether a normalised document has marks.
func JSONMarked(text []byte) bool { return bytes.IndexByte(text, jsonMark) >= 0 }

// ShownJSON returns a document as clients receive it, without marks. It is text itself if that has none.
func ShownJSON(text []byte) []byte {
	if !JSONMarked(text) {
		return text
	}
	return AppendShownJSON(make([]byte, 0, len(text)), text)
}

// AppendShownJSON appends a document as clients receive it, without marks.
func AppendShownJSON(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, jsonMark)
		if i < 0 {
			return append(dst, text...)
		}
		dst, text = append(dst, text[:i]...), text[min(i+jsonMarkBytes, len(text)):]
	}
}

// JSONBare returns a value of a document without the mark before it.
func JSONBare(text []byte) []byte {
	if len(text) >= jsonMarkBytes && text[0] == jsonMark {
		return text[jsonMarkBytes:]
	}
	return text
}

// JSONOpaque returns the bytes of an opaque value; ok is false for others.
func JSONOpaque(text []byte) (b []byte, ok bool) {
	n := viewJSON(text)
	return n.str, n.kind == jsonOpaque
}

// JSONBytes returns the bytes of an opaque value that was a BINARY or VARBINARY, and neither a BLOB nor a BIT; ok is false for others.
func JSONBytes(text []byte) (b []byte, ok bool) {
	n := viewJSON(text)
	return n.str, n.kind == jsonOpaque && (n.code == opaqueVarbinary || n.code == opaqueBinary || n.code == opaqueString)
}

// JSONScalarText returns a scalar of a document as a text: a string, date or opaque value without quotation marks. Of a container it
// returns the text as clients receive it.
func JSONScalarText(text []byte) []byte {
	if bare := JSONBare(text); len(bare) > 0 && bare[0] == '"' {
		return UnquoteJSON(bare)
	}
	return ShownJSON(text)
}

// viewMarked returns the scalar text, which had the mark before it.
func viewMarked(mark byte, text []byte) (n jsonNode) {
	ok := true
	switch mark {
	case markUnsigned:
		u, _, _, _ := parseDigits(text)
		n.kind, n.num = jsonNumber, Uint(u)
	case markDecimal:
		n.kind = jsonNumber
		n.num, _, ok = ParseDecimal(text)
	case markTime:
		var us int64
		us, _, ok = parseTimeText(UnquoteJSON(text))
		n.kind, n.num = jsonTime, Time(us, MaxFsp)
	case markDate, markDatetime, markTimestamp:
		var d datetimeText
		d, ok = parseDatetimeText(UnquoteJSON(text))
		n.kind, n.num = jsonDatetime, Datetime(PackDatetime(d.DateTime), MaxFsp)
		if mark == markDate {
			n.kind, n.num = jsonDate, Date(n.num.N)
		}
		n.timestamp = mark == markTimestamp
	case markOpaque:
		n.kind = jsonOpaque
		n.code, n.str, ok = parseOpaque(UnquoteJSON(text))
	}
	if !ok {
		return jsonNode{}
	}
	return n
}

// mark returns the letter of a scalar's mark, 0 if it has none.
func (n *jsonNode) mark() byte {
	switch {
	case n.kind == jsonNumber && n.num.K == KindDecimal:
		return markDecimal
	case n.kind == jsonNumber && n.num.K == KindUint && n.num.N >= 0: // larger integers are unsigned without a mark
		return markUnsigned
	case n.kind == jsonDate:
		return markDate
	case n.kind == jsonTime:
		return markTime
	case n.kind == jsonDatetime && n.timestamp:
		return markTimestamp
	case n.kind == jsonDatetime:
		return markDatetime
	case n.kind == jsonOpaque:
		return markOpaque
	}
	return 0
}

// JSONTypeName returns the result of JSON_TYPE.
func JSONTypeName(text []byte) string {
	n := viewJSON(text)
	switch n.kind {
	case jsonNumber:
		switch n.num.K {
		case KindInt:
			return "INTEGER"
		case KindUint:
			return "UNSIGNED INTEGER"
		case KindDecimal:
			return "DECIMAL"
		}
		return "DOUBLE"
	case jsonDatetime:
		if n.timestamp {
			return "TIMESTAMP"
		}
	case jsonOpaque:
		return opaqueName(n.code)
	}
	return jsonKindNames[n.kind]
}

var jsonKindNames = [...]string{jsonNull: "NULL", jsonString: "STRING", jsonObject: "OBJECT", jsonArray: "ARRAY", jsonBool: "BOOLEAN", jsonDate: "DATE",
	jsonTime: "TIME", jsonDatetime: "DATETIME"}
