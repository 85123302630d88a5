package types

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// JSON documents are stored as normalised text: keys in MySQL's order (shorter ones
// first, then by bytes), the last of duplicate keys, ", " and ": " between members,
// numbers as MySQL writes them. The text is what clients receive, except for the marks of
// scalars of MySQL's other types (jsonmark.go), so that sending a document costs nothing.
// JSON functions have to parse it instead.
//
// The JSON package of vitess is not used: it orders keys by bytes alone, and has neither
// MySQL's error texts nor positions.

// MaxJSONDepth is the deepest nesting of a document. A scalar has depth 1.
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
	jsonDate
	jsonTime
	jsonDatetime
	jsonOpaque
)

// jsonPollValues is how many values are parsed between two polls of the interrupt.
const jsonPollValues = 1 << 12

// jsonParser parses a document and writes its normalised text at the same time, without a
// tree. Its messages are MySQL's.
type jsonParser struct {
	ctx    *Context
	s      []byte
	i      int
	fail   string // the syntax error
	err    error  // why the statement has to end
	out    []byte
	check  bool     // nothing is written
	buf    []byte   // memory of the last string with escapes
	last   [][]byte // the last key of the open object at each depth
	values int      // number of values so far
}

// ParseJSON parses a document in utf8mb4 and returns its normalised text. If it is not
// well formed, message is MySQL's description and pos the byte position. err is that of
// ctx.Poll or ctx.Grow, or 3157 if the document is nested too deep. ctx may be nil.
func ParseJSON(ctx *Context, s []byte) (out []byte, message string, pos int, err error) {
	if err := ctx.fits(2 * len(s)); err != nil {
		return nil, "", 0, err
	}
	p := jsonParser{ctx: ctx, s: s, out: make([]byte, 0, len(s)+8)}
	p.document()
	if p.err != nil || p.fail != "" {
		p.out = nil
	}
	return p.out, p.fail, p.i, p.err
}

// ValidJSON reports whether s is a well-formed document. Its errors are those of ParseJSON.
func ValidJSON(ctx *Context, s []byte) (bool, error) {
	p := jsonParser{ctx: ctx, s: s, check: true}
	p.document()
	return p.fail == "" && p.err == nil, p.err
}

func (p *jsonParser) document() {
	p.space()
	if p.i == len(p.s) {
		p.fail, p.i = "The document is empty.", 0
		return
	}
	p.value(1)
	if p.fail == "" && p.err == nil {
		if p.space(); p.i < len(p.s) {
			p.fail = "The document root must not be followed by other values."
		}
	}
}

// write appends text to the output.
func (p *jsonParser) write(text string) {
	if !p.check {
		p.out = append(p.out, text...)
	}
}

// stopped reports whether there was a syntax error, or the statement has to end.
func (p *jsonParser) stopped() bool { return p.fail != "" || p.err != nil }

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

func (p *jsonParser) value(depth int) {
	if depth > MaxJSONDepth {
		p.err = Errorf(ErJSONDocumentTooDeep)
		return
	}
	if p.values++; p.values%jsonPollValues == 0 {
		if p.err = p.ctx.poll(); p.err != nil {
			return
		}
	}
	switch c := p.peek(); {
	case c == '{':
		p.object(depth)
	case c == '[':
		p.array(depth)
	case c == '"':
		p.string(p.text())
	case c == '-' || isDigit(c):
		if n := p.number(); !p.check && p.fail == "" {
			p.out = appendJSONNumber(p.out, &n)
		}
	case p.word("null"):
		p.write("null")
	case p.word("true"):
		p.write("true")
	case p.word("false"):
		p.write("false")
	default:
		p.skipBegun()
		p.fail = "Invalid value."
	}
}

func (p *jsonParser) string(s []byte) {
	if !p.check && p.fail == "" {
		p.out = AppendJSONString(p.out, s)
	}
}

func (p *jsonParser) word(w string) bool {
	if bytes.HasPrefix(p.s[p.i:], []byte(w)) {
		p.i += len(w)
		return true
	}
	return false
}

// skipBegun advances past the letters that a word has in common with what is there: MySQL's error tells the position of the first other one.
func (p *jsonParser) skipBegun() {
	for _, w := range [...]string{"null", "true", "false"} {
		if p.peek() != w[0] {
			continue
		}
		for i := 0; i < len(w) && p.peek() == w[i]; i++ {
			p.i++
		}
		return
	}
}

func (p *jsonParser) array(depth int) {
	p.i++
	p.write("[")
	if p.space(); p.peek() == ']' {
		p.i++
		p.write("]")
		return
	}
	for {
		p.space()
		if p.value(depth + 1); p.stopped() {
			return
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.write(", ")
		case ']':
			p.i++
			p.write("]")
			return
		default:
			p.fail = "Missing a comma or ']' after an array element."
			return
		}
	}
}

func (p *jsonParser) object(depth int) {
	start := len(p.out)
	p.i++
	p.write("{")
	if p.space(); p.peek() == '}' {
		p.i++
		p.write("}")
		return
	}
	ordered := true
	for members := 1; ; members++ {
		key := p.member()
		if p.stopped() {
			return
		}
		ordered = p.follows(depth, key, members == 1) && ordered
		p.string(key)
		p.write(": ")
		p.space()
		if p.value(depth + 1); p.stopped() {
			return
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.write(", ")
		case '}':
			p.i++
			p.write("}")
			if !ordered && !p.check {
				p.sortMembers(start, members)
			}
			return
		default:
			p.fail = "Missing a comma or '}' after an object member."
			return
		}
	}
}

// member parses a key and the colon behind it.
func (p *jsonParser) member() []byte {
	if p.space(); p.peek() != '"' {
		p.fail = "Missing a name for object member."
		return nil
	}
	key := p.text()
	if p.fail != "" {
		return nil
	}
	if p.space(); p.peek() != ':' {
		p.fail = "Missing a colon after a name of object member."
		return nil
	}
	p.i++
	return key
}

// follows reports whether key is greater than the key before it in the object at this depth,
// and stores it in last.
func (p *jsonParser) follows(depth int, key []byte, first bool) bool {
	if p.check {
		return true
	}
	for len(p.last) <= depth {
		p.last = append(p.last, nil)
	}
	before := p.last[depth]
	ok := first || compareKeys(before, key) < 0
	p.last[depth] = append(before[:0], key...)
	return ok
}

func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

// jsonMember is the position of a member in the text of the object that is being sorted.
type jsonMember struct{ key, keyEnd, end uint32 }

const jsonMemberBytes = 12

// sortMembers sorts the members of the object in out[start:] by MySQL's order and removes
// all but the last of duplicate keys. It is not called for documents that are in order.
func (p *jsonParser) sortMembers(start, members int) {
	body := p.out[start:]
	if p.err = p.ctx.fits(members*jsonMemberBytes + len(body)); p.err != nil {
		return
	}
	list := make([]jsonMember, 0, members)
	for it := NewJSONIter(body); ; {
		key, value, ok := it.Next()
		if !ok {
			break
		}
		// key and value are slices of body.
		at := cap(body) - cap(key)
		list = append(list, jsonMember{uint32(at), uint32(at + len(key)), uint32(cap(body) - cap(value) + len(value))})
	}
	key := func(m *jsonMember) []byte { return UnquoteJSON(body[m.key:m.keyEnd]) }
	compared := 0
	slices.SortStableFunc(list, func(a, b jsonMember) int {
		if compared++; compared%jsonPollValues == 0 && p.err == nil {
			p.err = p.ctx.poll()
		}
		if p.err != nil {
			return 0 // a sort cannot be aborted, but ends soon once all elements compare equal
		}
		return compareKeys(key(&a), key(&b))
	})
	sorted := append(make([]byte, 0, len(body)), '{')
	for i := range list {
		if i+1 < len(list) && bytes.Equal(key(&list[i]), key(&list[i+1])) {
			continue
		}
		if len(sorted) > 1 {
			sorted = append(sorted, ", "...)
		}
		sorted = append(sorted, body[list[i].key:list[i].end]...)
	}
	p.out = append(append(p.out[:start], sorted...), '}')
}

func (p *jsonParser) number() (n Value) {
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
				return Int(int64(u))
			} else if !neg {
				return Uint(u)
			} else if u <= 1<<63 {
				return Int(-int64(u))
			}
		}
	}
	f, err := strconv.ParseFloat(stringOf(text), 64)
	if err != nil && math.IsInf(f, 0) {
		p.fail = "Number too big to be stored in double."
		p.i = start
	}
	return Float(f)
}

func (p *jsonParser) digits() bool {
	start := p.i
	for isDigit(p.peek()) {
		p.i++
	}
	return p.i > start
}

// text parses a quoted string and returns its characters, which are valid until the next call.
func (p *jsonParser) text() []byte {
	p.i++
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= 0x20 && p.s[p.i] != '\\' {
		if p.s[p.i] == '"' {
			p.i++
			return p.s[start : p.i-1]
		}
		p.i++
	}
	out := append(p.buf[:0], p.s[start:p.i]...)
	defer func() { p.buf = out }()
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
	start := p.i // of the escape, which errors tell
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
			p.i, p.fail = start, "Incorrect hex digit after \\u escape in string."
			return out
		}
		if r >= 0xD800 && r <= 0xDBFF && p.word(`\u`) {
			low, ok := p.hex4()
			if !ok || low < 0xDC00 || low > 0xDFFF {
				p.i, p.fail = start, "The surrogate pair in string is invalid."
				return out
			}
			r = (r-0xD800)<<10 + low - 0xDC00 + 0x10000
		} else if r >= surrogateMin && r <= surrogateMax {
			p.i, p.fail = start, "The surrogate pair in string is invalid."
			return out
		}
		return utf8.AppendRune(out, r)
	}
	p.i, p.fail = start, "Invalid escape character in string."
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

// appendJSONNumber appends a number. A whole double ends with ".0", by which it is
// distinguished from an integer.
func appendJSONNumber(dst []byte, v *Value) []byte {
	start := len(dst)
	if v.K == KindFloat { // a FLOAT has all digits of the double
		dst = AppendFloat(dst, v.Float64())
	} else {
		dst = appendTextIn(dst, v, nil)
	}
	if v.K == KindFloat && !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// JSONStringLen returns how many bytes AppendJSONString appends for s.
func JSONStringLen(s []byte) int {
	n := len(s) + 2
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			n++
		case c >= 0x20:
		case c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			n++
		default:
			n += len(`u0000`)
		}
	}
	return n
}

// AppendJSONString appends s, which is utf8mb4, as a quoted JSON string.
func AppendJSONString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(slices.Grow(dst, len(s)+2), '"')
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
