package types

import "bytes"

// JSONIter iterates over the members of an object or the elements of an array in normalised text, without a tree. All calls together take time
// linear in the length of the text.
type JSONIter struct {
	s      []byte
	object bool
}

// NewJSONIter returns an iterator over text, which it borrows. A scalar has no elements.
func NewJSONIter(text []byte) JSONIter {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return JSONIter{}
	}
	return JSONIter{s: text[1:], object: text[0] == '{'}
}

// Next returns the next value and its key, both as they are in the text; the key of an element is nil. ok is false at the end.
func (it *JSONIter) Next() (key, value []byte, ok bool) {
	s := skipJSONBlank(it.s)
	if len(s) == 0 || s[0] == '}' || s[0] == ']' {
		return nil, nil, false
	}
	if it.object {
		n := jsonStringLen(s)
		key, s = s[:n], skipJSONBlank(s[n:])
		s = skipJSONBlank(s[min(1, len(s)):])
	}
	n := JSONValueLen(s)
	value, s = s[:n], skipJSONBlank(s[n:])
	if len(s) > 0 && s[0] == ',' {
		s = s[1:]
	}
	it.s = s
	return key, value, true
}

// JSONLength returns the result of JSON_LENGTH for normalised text: 1 for scalars.
func JSONLength(text []byte) int {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return 1
	}
	n := 0
	for it := NewJSONIter(text); ; n++ {
		if _, _, ok := it.Next(); !ok {
			return n
		}
	}
}

func skipJSONBlank(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t' || s[0] == '\n' || s[0] == '\r') {
		s = s[1:]
	}
	return s
}

// jsonStringLen returns the length of the quoted string that s begins with.
func jsonStringLen(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// JSONValueLen returns the length of the value that well-formed text begins with.
func JSONValueLen(s []byte) int {
	if len(s) == 0 {
		return 0
	}
	switch s[0] {
	case jsonMark:
		if len(s) <= jsonMarkBytes {
			return len(s)
		}
		return jsonMarkBytes + JSONValueLen(s[jsonMarkBytes:])
	case '"':
		return jsonStringLen(s)
	case '{', '[':
		level := 0
		for i := 0; i < len(s); i++ {
			switch s[i] {
			case '{', '[':
				level++
			case '}', ']':
				if level--; level == 0 {
					return i + 1
				}
			case '"':
				i += jsonStringLen(s[i:]) - 1
			}
		}
		return len(s)
	}
	for i, c := range s {
		switch c {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(s)
}

// UnquoteJSON returns the characters of the quoted string s. Without escapes they are a part of s.
func UnquoteJSON(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s[min(1, len(s)):max(len(s)-1, min(1, len(s)))]
	}
	p := jsonParser{s: s}
	return bytes.Clone(p.text())
}

// JSONDepth returns the result of JSON_DEPTH for normalised text.
func JSONDepth(s []byte) int {
	deepest, level := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{', '[':
			level++
			deepest = max(deepest, level)
		case '}', ']':
			level--
		case ' ', ',', ':':
		case '"':
			i += jsonStringLen(s[i:]) - 1
			fallthrough
		default:
			deepest = max(deepest, level+1)
		}
	}
	return deepest
}

// jsonNode is a parsed scalar, or a container as text.
type jsonNode struct {
	kind      jsonKind
	truth     bool   // of jsonBool
	timestamp bool   // of jsonDatetime: it is a TIMESTAMP
	num       Value  // a number, date or time; those with a time have six fraction digits
	str       []byte // the characters of a string, or the bytes of an opaque value
	code      int    // the type of an opaque value
	bits      bool   // it is a BIT whose length is not known, so leading zero bytes do not matter
	text      []byte // of a container
}

// viewJSON returns a value of a document, given as normalised text, which it may share. For corrupt text it returns null.
func viewJSON(text []byte) (n jsonNode) {
	if len(text) == 0 {
		return n
	}
	switch c := text[0]; {
	case c == '{':
		n.kind, n.text = jsonObject, text
	case c == '[':
		n.kind, n.text = jsonArray, text
	case c == '"':
		n.kind, n.str = jsonString, UnquoteJSON(text)
	case c == jsonMark && len(text) > jsonMarkBytes:
		return viewMarked(text[1], text[jsonMarkBytes:])
	case c == 't' || c == 'f':
		n.kind, n.truth = jsonBool, c == 't'
	case c == '-' || isDigit(c):
		p := jsonParser{s: text}
		n.kind, n.num = jsonNumber, p.number()
	}
	return n
}

// append appends the normalised text of n.
func (n *jsonNode) append(dst []byte) []byte {
	if mark := n.mark(); mark != 0 {
		dst = append(dst, jsonMark, mark)
	}
	switch n.kind {
	case jsonNull:
		return append(dst, "null"...)
	case jsonBool:
		if n.truth {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case jsonString:
		return AppendJSONString(dst, n.str)
	case jsonNumber:
		return appendJSONNumber(dst, &n.num)
	case jsonDate, jsonTime, jsonDatetime:
		return append(appendTextIn(append(dst, '"'), &n.num, nil), '"')
	case jsonOpaque:
		return append(appendOpaque(append(dst, '"'), n.code, n.str), '"')
	}
	return append(dst, n.text...)
}

// JSONScalar returns a scalar of a document as an SQL value: NULL for null, 1 or 0 for true or false, a number, a date or time, or a text. ok is
// false for a container.
func JSONScalar(text []byte) (v Value, ok bool) {
	switch n := viewJSON(text); n.kind {
	case jsonNull:
		return Null(), true
	case jsonBool:
		return Int(boolInt(n.truth)), true
	case jsonNumber, jsonDate, jsonTime, jsonDatetime:
		return n.num, true
	case jsonString:
		return String(n.str, Utf8mb4Bin), true
	case jsonOpaque:
		return String(JSONScalarText(text), Utf8mb4Bin), true
	}
	return Value{}, false
}
