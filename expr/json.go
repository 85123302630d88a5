package expr

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/types"
)

// jsonTree is a parsed document. Scalars keep their normalised text.
type jsonTree struct {
	kind  byte // '{', '[', '"', or 's' for other scalars
	text  []byte
	items []*jsonTree
	keys  []string // unescaped, parallel to items, in the order of compareMembers, each once
}

// parseTree reads normalised JSON text, which is well formed by construction.
func parseTree(s []byte) *jsonTree {
	t, _ := readTree(s)
	return t
}

func readTree(s []byte) (*jsonTree, []byte) {
	s = skipBlank(s)
	if len(s) == 0 {
		return &jsonTree{kind: 's', text: []byte("null")}, s
	}
	switch s[0] {
	case '{':
		t := &jsonTree{kind: '{'}
		for s = skipBlank(s[1:]); len(s) > 0 && s[0] != '}'; s = skipComma(s) {
			n := stringEnd(s)
			t.keys = append(t.keys, unquoteJSON(s[:n]))
			s = skipBlank(s[n:])
			var item *jsonTree
			item, s = readTree(s[min(1, len(s)):])
			t.items = append(t.items, item)
		}
		return t, s[min(1, len(s)):]
	case '[':
		t := &jsonTree{kind: '['}
		for s = skipBlank(s[1:]); len(s) > 0 && s[0] != ']'; s = skipComma(s) {
			var item *jsonTree
			item, s = readTree(s)
			t.items = append(t.items, item)
		}
		return t, s[min(1, len(s)):]
	case '"':
		n := stringEnd(s)
		return &jsonTree{kind: '"', text: s[:n]}, s[n:]
	}
	n := 0
	for n < len(s) && bytes.IndexByte([]byte(",]} \t\r\n"), s[n]) < 0 {
		n++
	}
	return &jsonTree{kind: 's', text: s[:n]}, s[n:]
}

func skipBlank(s []byte) []byte { return bytes.TrimLeft(s, " \t\r\n") }

func skipComma(s []byte) []byte {
	if s = skipBlank(s); len(s) > 0 && s[0] == ',' {
		s = skipBlank(s[1:])
	}
	return s
}

// stringEnd returns the length of the quoted string that s begins with.
func stringEnd(s []byte) int {
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

// unquoteJSON undoes the quoting of a JSON string.
func unquoteJSON(s []byte) string {
	if len(s) >= 2 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	if bytes.IndexByte(s, '\\') < 0 {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			if i+4 < len(s) {
				if code, err := strconv.ParseUint(string(s[i+1:i+5]), 16, 32); err == nil {
					out = append(out, string(rune(code))...)
				}
				i += 4
			}
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// jsonPrinter writes trees as text. It stops at the first level below MaxJSONDepth and soon after limit bytes: nothing deeper may
// be stored, since readers recurse, and a few references to one long document would print as more than memory holds.
type jsonPrinter struct {
	dst    []byte
	limit  int
	pretty bool // JSON_PRETTY: a member a line
	deep   bool // stopped by the depth
	long   bool // stopped by the size
}

func (p *jsonPrinter) print(t *jsonTree, level int) {
	if p.deep = p.deep || level > types.MaxJSONDepth; p.deep {
		return
	}
	if t.kind != '{' && t.kind != '[' {
		p.dst = append(p.dst, t.text...)
		return
	}
	p.dst = append(p.dst, t.kind)
	for i, item := range t.items {
		if p.long = p.long || len(p.dst) > p.limit; p.long {
			return
		}
		switch {
		case p.pretty && i > 0:
			p.line(",", level)
		case p.pretty:
			p.line("", level)
		case i > 0:
			p.dst = append(p.dst, ", "...)
		}
		if t.kind == '{' {
			p.dst = append(types.AppendJSONString(p.dst, []byte(t.keys[i])), ": "...)
		}
		p.print(item, level+1)
	}
	if p.pretty && len(t.items) > 0 {
		p.line("", level-1)
	}
	p.dst = append(p.dst, t.kind+2)
}

// line ends a line and indents the next one.
func (p *jsonPrinter) line(end string, indent int) {
	p.dst = append(append(p.dst, end...), '\n')
	for range indent {
		p.dst = append(p.dst, "  "...)
	}
}

// append prints t, which is no deeper than a document may be, in the normalised form.
func (t *jsonTree) append(dst []byte) []byte {
	p := jsonPrinter{dst: dst, limit: math.MaxInt}
	p.print(t, 1)
	return p.dst
}

// print returns the text of a tree that n has built: 3157 if it is too deep for a document, and nil with a warning if it is longer than
// max_allowed_packet.
func (ctx *Ctx) print(n *Node, t *jsonTree, pretty bool) ([]byte, error) {
	p := jsonPrinter{limit: ctx.packetLimit(), pretty: pretty}
	p.print(t, 1)
	switch {
	case p.deep:
		return nil, types.Errorf(types.ErJSONDocumentTooDeep)
	case p.long || len(p.dst) > p.limit:
		ctx.tooLong(n, max(len(p.dst), p.limit+1))
		return nil, nil
	}
	return p.dst, nil
}

// jsonResult is print as the JSON value of n.
func (ctx *Ctx) jsonResult(n *Node, t *jsonTree) (types.Value, error) {
	b, err := ctx.print(n, t, false)
	if b == nil || err != nil {
		return types.Null(), err
	}
	return types.JSON(b), nil
}

// compareMembers is the order of keys in normalised objects: shorter ones first.
func compareMembers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// member returns the value of key, nil if there is none.
func (t *jsonTree) member(key string) *jsonTree {
	if i, ok := slices.BinarySearchFunc(t.keys, key, compareMembers); ok {
		return t.items[i]
	}
	return nil
}

// setMember adds or replaces a member. Who adds many puts them in order and uses
// addMember.
func (t *jsonTree) setMember(key string, v *jsonTree) {
	i, ok := slices.BinarySearchFunc(t.keys, key, compareMembers)
	if ok {
		t.items[i] = v
		return
	}
	t.keys, t.items = slices.Insert(t.keys, i, key), slices.Insert(t.items, i, v)
}

// addMember adds a member that comes behind those that t has.
func (t *jsonTree) addMember(key string, v *jsonTree) {
	t.keys, t.items = append(t.keys, key), append(t.items, v)
}

// textDepth is depth of a document's text.
func textDepth(s []byte) int {
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
			i += stringEnd(s[i:]) - 1
			fallthrough
		default:
			deepest = max(deepest, level+1)
		}
	}
	return deepest
}

// depth is JSON_DEPTH.
func (t *jsonTree) depth() int {
	d := 0
	for _, i := range t.items {
		d = max(d, i.depth())
	}
	return d + 1
}

// length is JSON_LENGTH: scalars count 1.
func (t *jsonTree) length() int {
	if t.kind == '{' || t.kind == '[' {
		return len(t.items)
	}
	return 1
}

// typeName is JSON_TYPE.
func (t *jsonTree) typeName() string {
	switch t.kind {
	case '{':
		return "OBJECT"
	case '[':
		return "ARRAY"
	case '"':
		return "STRING"
	}
	switch string(t.text) {
	case "null":
		return "NULL"
	case "true", "false":
		return "BOOLEAN"
	}
	if bytes.ContainsAny(t.text, ".eE") {
		return "DOUBLE"
	}
	if _, err := strconv.ParseInt(string(t.text), 10, 64); err != nil {
		return "UNSIGNED INTEGER"
	}
	return "INTEGER"
}

// elements returns an array's items, and a value as an array of one.
func (t *jsonTree) elements() []*jsonTree {
	if t.kind == '[' {
		return t.items
	}
	return []*jsonTree{t}
}

// jsonAdd adds a row to JSON_ARRAYAGG or JSON_OBJECTAGG.
func (a *AggStates) jsonAdd(ctx *Ctx, g uint32, args []types.Value) error {
	c := &a.texts[g]
	a.count[g]++
	last := &args[len(args)-1]
	value := types.JSONFrom(ctx.Context, last).B
	if last.K == types.KindJSON {
		if value = last.B; textDepth(value) >= types.MaxJSONDepth {
			return types.Errorf(types.ErJSONDocumentTooDeep)
		}
	}
	if a.spec.kind == aggJSONObject {
		if args[0].IsNull() {
			return types.NewError(errJSONNullKey, "JSON documents may not contain NULL member names.")
		}
		key := types.String(ctx.textOf(&args[0]), textCollation(&args[0]))
		name, ok := types.JSONText(&key)
		if !ok {
			return types.Errorf(types.ErInvalidJSONCharset, "binary")
		}
		c.keys = append(c.keys, jsonPair{string(name), string(value)})
		a.bytes += int64(len(value)) + int64(len(c.keys[len(c.keys)-1].key)) + 32
		return nil
	}
	before := cap(c.text)
	if c.some {
		c.text = append(c.text, ", "...)
	}
	c.text, c.some = append(c.text, value...), true
	a.bytes += int64(cap(c.text) - before)
	return nil
}

// errJSONNullKey is ER_JSON_DOCUMENT_NULL_KEY.
const errJSONNullKey = 3158

func (a *AggStates) jsonResult(_ *Ctx, g uint32) (types.Value, error) {
	c := &a.texts[g]
	if a.count[g] == 0 {
		return types.Null(), nil
	}
	if a.spec.kind == aggJSONArray {
		return types.JSON(append(append([]byte{'['}, c.text...), ']')), nil
	}
	t := &jsonTree{kind: '{'}
	slices.SortStableFunc(c.keys, func(a, b jsonPair) int { return compareMembers(a.key, b.key) })
	for i, p := range c.keys {
		if i+1 == len(c.keys) || c.keys[i+1].key != p.key { // of equal keys the last row's counts
			t.addMember(p.key, parseTree([]byte(p.value)))
		}
	}
	return types.JSON(t.append(nil)), nil
}
