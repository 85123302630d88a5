package types

import "bytes"

// MySQL's JSON has scalars that are no JSON: dates and times, decimals, unsigned integers and opaque values. Documents are kept as text, in
// which such a scalar has a mark before it: jsonMark, which stands nowhere else in a document, since strings have their control characters
// escaped, and a letter for its type. Behind the mark stands what clients receive, so to show a document is to leave out its marks, and a
// document of plain values is shown as it is kept. A text that is parsed has no marks: from a client a date is a string.
const jsonMark = 0x01

// jsonMarkBytes is how long a mark is.
const jsonMarkBytes = 2

// The letters of marks; the table in doc.go says what follows them.
const (
	markUnsigned  = 'u'
	markDecimal   = 'n'
	markDate      = 'd'
	markTime      = 't'
	markDatetime  = 'D'
	markTimestamp = 's'
	markOpaque    = 'o'
)

// JSONMarked reports whether a normalised document holds a scalar that JSON has none of.
func JSONMarked(text []byte) bool { return bytes.IndexByte(text, jsonMark) >= 0 }

// ShownJSON returns the text of a document that clients receive, which is the document itself if it holds plain values only.
func ShownJSON(text []byte) []byte {
	if !JSONMarked(text) {
		return text
	}
	return AppendShownJSON(make([]byte, 0, len(text)), text)
}

// AppendShownJSON appends the text of a document that clients receive.
func AppendShownJSON(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, jsonMark)
		if i < 0 {
			return append(dst, text...)
		}
		dst, text = append(dst, text[:i]...), text[min(i+jsonMarkBytes, len(text)):]
	}
}

// JSONBare returns a value of a document without its mark.
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

// JSONScalarText returns a scalar of a document as a text: a string, date or opaque value without its quotation marks. Of a container it is
// the text that is shown.
func JSONScalarText(text []byte) []byte {
	if bare := JSONBare(text); len(bare) > 0 && bare[0] == '"' {
		return UnquoteJSON(bare)
	}
	return ShownJSON(text)
}

// viewMarked looks at a scalar behind a mark.
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

// mark returns the letter of a scalar's mark, 0 for one that JSON has.
func (n *jsonNode) mark() byte {
	switch {
	case n.kind == jsonNumber && n.num.K == KindDecimal:
		return markDecimal
	case n.kind == jsonNumber && n.num.K == KindUint && n.num.N >= 0: // larger ones can't be anything else
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

// JSONTypeName is JSON_TYPE.
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
