package types

import "bytes"

// JSONIter goes through the members of an object or the elements of an array in normalised text, without a tree. It finds the end of each by
// reading it, in time linear in the text.
type JSONIter struct {
	s      []byte
	object bool
}

// NewJSONIter starts at the first member of a document; one that is no container has none.
func NewJSONIter(text []byte) JSONIter {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return JSONIter{}
	}
	return JSONIter{s: text[1:], object: text[0] == '{'}
}

// Next returns the next value with its key, as it stands in the text; an element has none.
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

// JSONLength is JSON_LENGTH of normalised text: scalars count 1.
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

// UnquoteJSON undoes the quoting of a string in a document; without escapes it is s's own bytes.
func UnquoteJSON(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s[min(1, len(s)):max(len(s)-1, min(1, len(s)))]
	}
	p := jsonParser{s: s}
	return bytes.Clone(p.text())
}

// JSONDepth is JSON_DEPTH of normalised text.
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

// jsonNode is a value that was looked at: a scalar with what it is, a container with its text.
type jsonNode struct {
	kind      jsonKind
	truth     bool
	timestamp bool   // of a date with a time: it was a TIMESTAMP
	num       Value  // a number, date or time; those with a time have six digits of fraction
	str       []byte // of a string; the bytes of an opaque value
	code      int    // the type of an opaque value
	bits      bool   // an SQL value that is a BIT: how many zeros are before it is unknown
	text      []byte // of a container
}

// viewJSON looks at a normalised document.
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

// append writes the normalised text.
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

// JSONScalar returns what a scalar of a document is as an SQL value: NULL, an integer for a truth value, a number, a date or time, or a text.
// ok is false for a container.
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
