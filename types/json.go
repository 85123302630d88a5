package types

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// JSON documents are kept as normalised text: keys in MySQL's order (shorter
// first, then by bytes), the last of duplicate keys, ", " and ": " between
// members, numbers as MySQL prints them. The text is what clients receive, so
// reading a document costs nothing; the price is a parse per JSON function.
// The JSON package of vitess was not used: it orders keys by bytes alone and
// gives neither MySQL's error texts nor positions.

// MaxJSONDepth is the deepest nesting of a document.
const MaxJSONDepth = 100

type jsonKind uint8

// The order of the kinds is MySQL's precedence in comparisons.
const (
	jsonNull jsonKind = iota
	jsonNumber
	jsonString
	jsonObject
	jsonArray
	jsonBool
)

// jsonNode is a parsed value.
type jsonNode struct {
	kind  jsonKind
	num   Value // KindInt, KindUint or KindFloat
	str   []byte
	elems []jsonNode // array elements, object values
	keys  [][]byte   // object keys, in order
	truth bool
}

// jsonParser reads one document. Its messages are those MySQL gives.
type jsonParser struct {
	s    []byte
	i    int
	fail string
}

// ParseJSON normalises a document in utf8mb4. message is "" when it is well
// formed, else MySQL's reason, with the byte position.
func ParseJSON(s []byte) (out []byte, message string, pos int) {
	n, message, pos := parseJSONTree(s)
	if message != "" {
		return nil, message, pos
	}
	return n.append(make([]byte, 0, len(s)+8)), "", 0
}

func parseJSONTree(s []byte) (n jsonNode, message string, pos int) {
	p := jsonParser{s: s}
	p.space()
	if p.i == len(s) {
		return n, "The document is empty.", 0
	}
	n = p.value(1)
	if p.fail == "" {
		if p.space(); p.i < len(s) {
			p.fail = "The document root must not be followed by other values."
		}
	}
	return n, p.fail, p.i
}

func (p *jsonParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n' || p.s[p.i] == '\r') {
		p.i++
	}
}

func (p *jsonParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *jsonParser) value(depth int) (n jsonNode) {
	if depth > MaxJSONDepth {
		p.fail = "The JSON document exceeds the maximum depth."
		return n
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		n.kind = jsonString
		n.str = p.text()
		return n
	case c == '-' || isDigit(c):
		return p.number()
	case p.word("null"):
		return n
	case p.word("true"):
		n.kind, n.truth = jsonBool, true
		return n
	case p.word("false"):
		n.kind = jsonBool
		return n
	}
	p.fail = "Invalid value."
	return n
}

func (p *jsonParser) word(w string) bool {
	if bytes.HasPrefix(p.s[p.i:], []byte(w)) {
		p.i += len(w)
		return true
	}
	return false
}

func (p *jsonParser) array(depth int) jsonNode {
	n := jsonNode{kind: jsonArray}
	p.i++
	if p.space(); p.peek() == ']' {
		p.i++
		return n
	}
	for {
		p.space()
		e := p.value(depth + 1)
		if p.fail != "" {
			return n
		}
		n.elems = append(n.elems, e)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			return n
		default:
			p.fail = "Missing a comma or ] after an array element."
			return n
		}
	}
}

func (p *jsonParser) object(depth int) jsonNode {
	n := jsonNode{kind: jsonObject}
	p.i++
	if p.space(); p.peek() == '}' {
		p.i++
		return n
	}
	for {
		if p.space(); p.peek() != '"' {
			p.fail = "Missing a name for object member."
			return n
		}
		key := p.text()
		if p.fail != "" {
			return n
		}
		if p.space(); p.peek() != ':' {
			p.fail = "Missing a colon after a name of object member."
			return n
		}
		p.i++
		p.space()
		e := p.value(depth + 1)
		if p.fail != "" {
			return n
		}
		n.keys = append(n.keys, key)
		n.elems = append(n.elems, e)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			n.sortMembers()
			return n
		default:
			p.fail = "Missing a comma or } after an object member."
			return n
		}
	}
}

func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

// sortMembers brings the members into MySQL's order; of duplicate keys the last
// one wins. Documents that we wrote are in order already.
func (n *jsonNode) sortMembers() {
	ordered := true
	for i := 1; i < len(n.keys) && ordered; i++ {
		ordered = compareKeys(n.keys[i-1], n.keys[i]) < 0
	}
	if ordered {
		return
	}
	index := make([]int, len(n.keys))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return compareKeys(n.keys[a], n.keys[b]) })
	keys, elems := make([][]byte, 0, len(index)), make([]jsonNode, 0, len(index))
	for i, at := range index {
		if i+1 < len(index) && bytes.Equal(n.keys[at], n.keys[index[i+1]]) {
			continue
		}
		keys, elems = append(keys, n.keys[at]), append(elems, n.elems[at])
	}
	n.keys, n.elems = keys, elems
}

func (p *jsonParser) number() (n jsonNode) {
	n.kind = jsonNumber
	start := p.i
	if p.peek() == '-' {
		p.i++
	}
	if !isDigit(p.peek()) {
		p.fail = "Invalid value."
		return n
	}
	if p.peek() == '0' {
		p.i++
	} else {
		p.digits()
	}
	whole := true
	if p.peek() == '.' {
		p.i++
		whole = false
		if !p.digits() {
			p.fail = "Miss fraction part in number."
			return n
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.i++
		whole = false
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			p.fail = "Miss exponent in number."
			return n
		}
	}
	text := p.s[start:p.i]
	if whole {
		if u, neg, _, over := parseDigits(text); !over {
			if !neg && u <= math.MaxInt64 {
				n.num = Int(int64(u))
				return n
			} else if !neg {
				n.num = Uint(u)
				return n
			} else if u <= 1<<63 {
				n.num = Int(-int64(u))
				return n
			}
		}
	}
	f, err := strconv.ParseFloat(stringOf(text), 64)
	if err != nil && math.IsInf(f, 0) {
		p.fail = "Number too big to be stored in double."
		p.i = start
	}
	n.num = Float(f)
	return n
}

func (p *jsonParser) digits() bool {
	start := p.i
	for isDigit(p.peek()) {
		p.i++
	}
	return p.i > start
}

// text reads a quoted string.
func (p *jsonParser) text() []byte {
	p.i++
	out := []byte{}
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '"':
			p.i++
			return out
		case c == '\\':
			if out = p.escape(out); p.fail != "" {
				return out
			}
		case c < 0x20:
			p.fail = "Invalid encoding in string."
			return out
		default:
			out = append(out, c)
			p.i++
		}
	}
	p.fail = "Missing a closing quotation mark in string."
	return out
}

func (p *jsonParser) escape(out []byte) []byte {
	p.i++
	c := p.peek()
	p.i++
	switch c {
	case '"', '\\', '/':
		return append(out, c)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		r, ok := p.hex4()
		if !ok {
			p.fail = "Incorrect hex digit after \\u escape in string."
			return out
		}
		if r >= 0xD800 && r <= 0xDBFF && p.word(`\u`) {
			low, ok := p.hex4()
			if !ok || low < 0xDC00 || low > 0xDFFF {
				p.fail = "The surrogate pair in string is invalid."
				return out
			}
			r = (r-0xD800)<<10 + low - 0xDC00 + 0x10000
		} else if r >= surrogateMin && r <= surrogateMax {
			p.fail = "The surrogate pair in string is invalid."
			return out
		}
		return utf8.AppendRune(out, r)
	}
	p.i -= 2
	p.fail = "Invalid escape character in string."
	return out
}

func (p *jsonParser) hex4() (rune, bool) {
	if p.i+4 > len(p.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.s[p.i:p.i+4]), 16, 32)
	if err != nil {
		return 0, false
	}
	p.i += 4
	return rune(n), true
}

// append writes the normalised text.
func (n *jsonNode) append(dst []byte) []byte {
	switch n.kind {
	case jsonNull:
		return append(dst, "null"...)
	case jsonBool:
		return strconv.AppendBool(dst, n.truth)
	case jsonString:
		return AppendJSONString(dst, n.str)
	case jsonNumber:
		return appendJSONNumber(dst, &n.num)
	case jsonArray:
		dst = append(dst, '[')
		for i := range n.elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = n.elems[i].append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range n.elems {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendJSONString(dst, n.keys[i])
		dst = append(dst, ": "...)
		dst = n.elems[i].append(dst)
	}
	return append(dst, '}')
}

// appendJSONNumber prints a number; whole doubles keep a ".0" that says so.
func appendJSONNumber(dst []byte, v *Value) []byte {
	start := len(dst)
	dst = appendTextIn(dst, v, nil)
	if v.K == KindFloat && !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// AppendJSONString appends s, which is utf8mb4, as a quoted JSON string.
func AppendJSONString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}
