package expr

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/pandodb/pando/types"
)

// jsonTree is a value in a JSON document. At first it is the value's normalised text (see package types), which suffices for most functions.
// Functions that need its members open it, one level at a time, because a tree of the whole document takes many times the memory of its text
// (450 bytes for a number in an array).
type jsonTree struct {
	ctx   *Ctx   // counts the memory of open containers
	kind  byte   // '{', '[', '"', or 's' for other scalars and all with a mark
	text  []byte // of a scalar, and of a container that is not open
	items []*jsonTree
	keys  []string // unescaped, parallel to items, in the order of compareMembers without duplicates
}

// jsonTreeBytes is the memory of a member of an open container without its key.
const jsonTreeBytes = int(unsafe.Sizeof(jsonTree{})) + 16

// jsonNodesAtOnce is how many members of an open container are allocated together.
const jsonNodesAtOnce = 1024

// parseTree returns the value of normalised JSON text, which it borrows. The empty text is null.
func (ctx *Ctx) parseTree(s []byte) *jsonTree {
	t := &jsonTree{ctx: ctx, kind: 's', text: s}
	if len(s) == 0 {
		t.text = jsonNullText
	} else if s[0] == '{' || s[0] == '[' || s[0] == '"' {
		t.kind = s[0]
	}
	return t
}

var jsonNullText = []byte("null")

func (ctx *Ctx) jsonNull() *jsonTree { return &jsonTree{ctx: ctx, kind: 's', text: jsonNullText} }

// newArray returns an open array, which keeps items.
func (ctx *Ctx) newArray(items ...*jsonTree) *jsonTree {
	return &jsonTree{ctx: ctx, kind: '[', items: items}
}

// newObject returns an open, empty object.
func (ctx *Ctx) newObject() *jsonTree { return &jsonTree{ctx: ctx, kind: '{'} }

// container reports whether t may have members.
func (t *jsonTree) container() bool { return t.kind == '{' || t.kind == '[' }

// closed reports whether t is a container that is not open: its members are in its text.
func (t *jsonTree) closed() bool { return t.text != nil && t.container() }

// open converts the members in t's text to items and keys, and returns t. If the statement has to end, ctx.failed is set and there are none.
func (t *jsonTree) open() *jsonTree {
	if !t.closed() {
		return t
	}
	text := t.text
	t.text = nil
	n := types.JSONLength(text)
	if !t.ctx.charge(n * jsonTreeBytes) {
		return t
	}
	t.items = make([]*jsonTree, 0, n)
	if t.kind == '{' {
		t.keys = make([]string, 0, n)
	}
	var nodes []jsonTree // allocated a few at a time: one allocation of millions would take seconds without a poll
	it := types.NewJSONIter(text)
	for i := range n {
		key, value, _ := it.Next()
		if len(nodes) == 0 {
			nodes = make([]jsonTree, min(n-i, jsonNodesAtOnce))
		}
		nodes[0] = *t.ctx.parseTree(value)
		t.items = append(t.items, &nodes[0])
		nodes = nodes[1:]
		if t.kind == '{' {
			t.keys = append(t.keys, unquoteJSON(key))
			t.ctx.charge(len(key))
		}
		if t.ctx.steps(len(value)+1) != nil {
			t.items, t.keys = t.items[:0], nil
			t.ctx.charge(meterUnit) // polls again, which sets ctx.failed
			return t
		}
	}
	return t
}

// unquoteJSON returns the characters of a quoted JSON string.
func unquoteJSON(s []byte) string { return string(types.UnquoteJSON(s)) }

// stringEnd returns the length of the quoted string that s begins with.
func stringEnd(s []byte) int { return types.JSONValueLen(s) }

// jsonPrinter writes trees as text. It stops at a value below MaxJSONDepth, because readers of documents recurse, and soon after limit bytes,
// because a tree may contain the same long value several times.
type jsonPrinter struct {
	ctx     *Ctx // counts the text; nil counts nothing
	dst     []byte
	counted int  // bytes of dst that are counted
	limit   int  // in bytes
	pretty  bool // JSON_PRETTY: one member per line
	deep    bool // stopped by the depth
	long    bool // stopped by the limit
}

func (p *jsonPrinter) print(t *jsonTree, level int) {
	if p.deep = p.deep || level > types.MaxJSONDepth; p.deep {
		return
	}
	switch {
	case t.closed() && p.pretty:
		p.prettyText(t.text, level)
		return
	case t.closed():
		p.deep = level-1+types.JSONDepth(t.text) > types.MaxJSONDepth
		fallthrough
	case !t.container():
		if p.long = p.long || len(p.dst)+len(t.text) > p.limit; !p.long && p.fits(len(t.text)) {
			p.dst = append(p.dst, t.text...)
		}
		return
	}
	p.dst = append(p.dst, t.kind)
	for i, item := range t.items {
		if p.long = p.long || len(p.dst) > p.limit; p.long || !p.fits(0) {
			return
		}
		p.separate(i, level)
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

// separate writes the separator before member i.
func (p *jsonPrinter) separate(i, level int) {
	switch {
	case p.pretty && i > 0:
		p.line(",", level)
	case p.pretty:
		p.line("", level)
	case i > 0:
		p.dst = append(p.dst, ", "...)
	}
}

// prettyText prints a value given as text, with one member per line.
func (p *jsonPrinter) prettyText(text []byte, level int) {
	it := types.NewJSONIter(text)
	key, value, some := it.Next()
	if !some {
		p.dst = append(p.dst, text...)
		return
	}
	if p.deep = p.deep || level > types.MaxJSONDepth; p.deep {
		return
	}
	p.dst = append(p.dst, text[0])
	for i := 0; some; i++ {
		if p.long = p.long || len(p.dst) > p.limit; p.long || !p.fits(0) {
			return
		}
		p.separate(i, level)
		if key != nil {
			p.dst = append(append(p.dst, key...), ": "...)
		}
		p.prettyText(value, level+1)
		key, value, some = it.Next()
	}
	p.line("", level-1)
	p.dst = append(p.dst, text[0]+2)
}

// fits counts what was printed so far and n bytes more, and reports whether the statement may have them.
func (p *jsonPrinter) fits(n int) bool {
	if p.ctx == nil || len(p.dst)+n < p.counted+meterUnit {
		return true
	}
	grown := len(p.dst) + n - p.counted
	p.counted += grown
	return p.ctx.charge(2 * grown) // append copies the text when it grows
}

// line ends a line and indents the next one.
func (p *jsonPrinter) line(end string, indent int) {
	p.dst = append(append(p.dst, end...), '\n')
	for range indent {
		p.dst = append(p.dst, "  "...)
	}
}

// append appends the normalised text of t, which must not be deeper than MaxJSONDepth, to dst.
func (t *jsonTree) append(dst []byte) []byte {
	p := jsonPrinter{dst: dst, limit: math.MaxInt}
	p.print(t, 1)
	return p.dst
}

// print returns the text of t, the result of n: error 3157 if it is too deep for a document, and nil with a warning if it is longer than
// max_allowed_packet.
func (ctx *Ctx) print(n *Node, t *jsonTree, pretty bool) ([]byte, error) {
	p := jsonPrinter{ctx: ctx, limit: ctx.packetLimit(), pretty: pretty}
	p.print(t, 1)
	switch {
	case p.deep:
		return nil, types.Errorf(types.ErJSONDocumentTooDeep)
	case p.long || len(p.dst) > p.limit:
		ctx.tooLong(n, max(len(p.dst), p.limit+1))
		return nil, nil
	case ctx.failed != nil:
		return nil, ctx.failed
	}
	return p.dst, nil
}

// jsonResult returns t as the JSON value of n, NULL if it is longer than max_allowed_packet.
func (ctx *Ctx) jsonResult(n *Node, t *jsonTree) (types.Value, error) {
	b, err := ctx.print(n, t, false)
	if b == nil || err != nil {
		return types.Null(), err
	}
	return types.JSON(b), nil
}

// compareMembers compares keys in the order of normalised objects: by length, then by bytes.
func compareMembers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// member returns the value of key, nil if there is none.
func (t *jsonTree) member(key string) *jsonTree {
	if !t.closed() {
		if i, ok := slices.BinarySearchFunc(t.keys, key, compareMembers); ok {
			return t.items[i]
		}
		return nil
	}
	if t.kind != '{' {
		return nil
	}
	for it := types.NewJSONIter(t.text); ; {
		k, value, ok := it.Next()
		if !ok || len(k)-2 > len(key) && bytes.IndexByte(k, '\\') < 0 { // the following keys are not shorter
			return nil
		}
		if string(types.UnquoteJSON(k)) == key {
			return t.ctx.parseTree(value)
		}
	}
}

// element returns element i of an array that is not open, nil if there is none.
func (t *jsonTree) element(i int) *jsonTree {
	for it := types.NewJSONIter(t.text); ; i-- {
		_, value, ok := it.Next()
		if !ok {
			return nil
		}
		if i == 0 {
			return t.ctx.parseTree(value)
		}
	}
}

// setMember adds or replaces a member of an open object. It takes time linear in the number of members.
func (t *jsonTree) setMember(key string, v *jsonTree) {
	i, ok := slices.BinarySearchFunc(t.keys, key, compareMembers)
	if ok {
		t.items[i] = v
		return
	}
	t.keys, t.items = slices.Insert(t.keys, i, key), slices.Insert(t.items, i, v)
}

// addMember adds a member to an open object whose keys are all smaller in the order of compareMembers.
func (t *jsonTree) addMember(key string, v *jsonTree) {
	t.keys, t.items = append(t.keys, key), append(t.items, v)
}

// depth is JSON_DEPTH: scalars and empty containers have 1.
func (t *jsonTree) depth() int {
	if t.text != nil {
		return types.JSONDepth(t.text)
	}
	d := 0
	for _, i := range t.items {
		d = max(d, i.depth())
	}
	return d + 1
}

// length is JSON_LENGTH: scalars have 1.
func (t *jsonTree) length() int {
	if t.text != nil {
		return types.JSONLength(t.text)
	}
	return len(t.items)
}

// typeName is JSON_TYPE.
func (t *jsonTree) typeName() string {
	switch t.kind {
	case '{':
		return "OBJECT"
	case '[':
		return "ARRAY"
	}
	return types.JSONTypeName(t.text)
}

// elements returns the items of an array, or t itself if it is no array.
func (t *jsonTree) elements() []*jsonTree {
	if t.kind == '[' {
		return t.open().items
	}
	return []*jsonTree{t}
}

// jsonAdd adds a row to JSON_ARRAYAGG or JSON_OBJECTAGG.
func (a *AggStates) jsonAdd(ctx *Ctx, g uint32, args []types.Value) error {
	c := &a.texts[g]
	a.count[g]++
	last := &args[len(args)-1]
	value := types.JSONFrom(ctx.Context, last, &a.spec.args[len(args)-1].typ).B
	if last.K == types.KindJSON {
		if value = last.B; types.JSONDepth(value) >= types.MaxJSONDepth {
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

// errJSONNullKey is MySQL's ER_JSON_DOCUMENT_NULL_KEY.
const errJSONNullKey = 3158

// sortPairs sorts members by compareMembers; equal keys stay in order. A sort cannot be aborted, but ends soon once all elements compare equal,
// which they do after an interrupt.
func sortPairs(ctx *Ctx, pairs []jsonPair) (err error) {
	slices.SortStableFunc(pairs, func(a, b jsonPair) int {
		if err == nil {
			err = ctx.steps(1)
		}
		if err != nil {
			return 0
		}
		return compareMembers(a.key, b.key)
	})
	return err
}

func (a *AggStates) jsonResult(ctx *Ctx, g uint32) (types.Value, error) {
	c := &a.texts[g]
	if a.count[g] == 0 {
		return types.Null(), nil
	}
	if a.spec.kind == aggJSONArray {
		if !ctx.charge(len(c.text)) {
			return types.Null(), ctx.failed
		}
		return types.JSON(slices.Concat([]byte{'['}, c.text, []byte{']'})), nil
	}
	if err := sortPairs(ctx, c.keys); err != nil {
		return types.Null(), err
	}
	size := 2
	for i := range c.keys {
		size += len(c.keys[i].key) + len(c.keys[i].value) + len(`"": , `)
	}
	if !ctx.charge(size) {
		return types.Null(), ctx.failed
	}
	out := append(make([]byte, 0, size), '{')
	for i, p := range c.keys {
		if i+1 < len(c.keys) && c.keys[i+1].key == p.key {
			continue // of equal keys, the last one is the result's
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = append(types.AppendJSONString(out, []byte(p.key)), ": "...)
		out = append(out, p.value...)
	}
	return types.JSON(append(out, '}')), nil
}
