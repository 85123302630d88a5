package expr

import (
	"bytes"
	"math"
	"strconv"

	"github.com/pandodb/pando/types"
)

// pathLeg is one step of a JSON path.
type pathLeg struct {
	kind  byte // '.', '[', '*' for .*, '#' for [*], 'e' for **
	key   string
	index int
	last  bool // the index counts from the end: [last-1]
	to    int  // end of a range [a to b]
	toEnd bool // the range's end counts from the end
	span  bool
}

// pathLegsMax bounds a path, over which changes recurse. No document is as deep as that: what goes beyond it are legs like [0], which a
// value that is no array matches by itself.
const pathLegsMax = 1 << 16

// errJSONPath is ER_INVALID_JSON_PATH.
const errJSONPath = 3143

// maxPathIndex is the largest index that a path may name.
const maxPathIndex = math.MaxUint32

// pathParser reads a path from its left. Where it fails, i is the position that the error names.
type pathParser struct {
	ctx *Ctx // counts what long keys take; nil counts nothing
	s   []byte
	i   int
	err error // the statement's end
}

// parsePath reads a JSON path of a definition, which is part of a statement's text.
func parsePath(s []byte) ([]pathLeg, error) { return (*Ctx)(nil).parsePath(s) }

// parsePath reads a JSON path that may be as long as a packet.
func (ctx *Ctx) parsePath(s []byte) ([]pathLeg, error) {
	p := pathParser{ctx: ctx, s: s}
	legs, ok := p.path()
	if p.err != nil {
		return nil, p.err
	}
	if !ok {
		return nil, types.NewError(errJSONPath, "Invalid JSON path expression. The error is around character position "+strconv.Itoa(p.i)+".")
	}
	return legs, nil
}

func (p *pathParser) path() (legs []pathLeg, ok bool) {
	if p.space(); p.i == len(p.s) {
		return nil, false
	}
	if p.i++; p.s[p.i-1] != '$' {
		return nil, false
	}
	for p.space(); p.i < len(p.s); p.space() {
		var leg pathLeg
		switch p.peek() {
		case '.':
			leg, ok = p.member()
		case '[':
			leg, ok = p.cell()
		case '*':
			leg, ok = pathLeg{kind: 'e'}, p.ellipsis()
		default:
			return nil, false
		}
		if !ok || len(legs) == pathLegsMax {
			return nil, false
		}
		legs = append(legs, leg)
	}
	return legs, len(legs) == 0 || legs[len(legs)-1].kind != 'e'
}

// peek is the next byte, 0 at the end.
func (p *pathParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func isPathSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (p *pathParser) space() {
	for isPathSpace(p.peek()) {
		p.i++
	}
}

// ellipsis reads **, which neither ends a path nor stands before another *.
func (p *pathParser) ellipsis() bool {
	if p.i++; p.peek() != '*' {
		return false
	}
	p.i++
	return p.i < len(p.s) && p.peek() != '*'
}

// member reads a leg that begins with a dot.
func (p *pathParser) member() (pathLeg, bool) {
	p.i++
	p.space()
	switch {
	case p.i == len(p.s):
		return pathLeg{}, false
	case p.peek() == '*':
		p.i++
		return pathLeg{kind: '*'}, true
	}
	start, quoted := p.i, p.peek() == '"'
	if quoted {
		p.i += stringEnd(p.s[start:])
	} else {
		for p.i < len(p.s) && !isPathSpace(p.peek()) && bytes.IndexByte([]byte(".[*"), p.peek()) < 0 {
			p.i++
		}
	}
	key, values := p.s[start:p.i], (*types.Context)(nil)
	if p.ctx != nil && len(key) >= meterUnit {
		if values = p.ctx.Context; !p.ctx.charge(2 * len(key)) {
			p.err = p.ctx.failed
			return pathLeg{}, false
		}
	}
	if !quoted {
		key = append(append([]byte{'"'}, key...), '"')
	}
	text, message, _, err := types.ParseJSON(values, key)
	if message != "" || err != nil {
		p.err = err
		return pathLeg{}, false
	}
	leg := pathLeg{kind: '.', key: unquoteJSON(text)}
	return leg, quoted || isPathName([]byte(leg.key))
}

// cell reads a leg in brackets: a number, last, last-n, a range of them or *.
func (p *pathParser) cell() (leg pathLeg, ok bool) {
	p.i++
	p.space()
	if p.peek() == '*' {
		p.i++
		leg.kind = '#'
	} else if leg, ok = p.cells(); !ok {
		return leg, false
	}
	if p.space(); p.i == len(p.s) {
		return leg, false
	}
	p.i++
	return leg, p.s[p.i-1] == ']'
}

func (p *pathParser) cells() (leg pathLeg, ok bool) {
	leg.kind = '['
	if leg.index, leg.last, ok = p.index(); !ok {
		return leg, false
	}
	if p.space(); p.peek() == ']' || !isPathSpace(p.s[p.i-1]) {
		return leg, p.i < len(p.s)
	}
	if !bytes.HasPrefix(p.s[p.i:], []byte("to")) || p.i+2 == len(p.s) || !isPathSpace(p.s[p.i+2]) {
		return leg, false
	}
	p.i += 3
	p.space()
	leg.span = true
	if leg.to, leg.toEnd, ok = p.index(); !ok || leg.last != leg.toEnd {
		return leg, ok
	}
	// A range that can't hold anything is refused.
	return leg, leg.last && leg.index >= leg.to || !leg.last && leg.index <= leg.to
}

func (p *pathParser) index() (n int, last, ok bool) {
	if last = bytes.HasPrefix(p.s[p.i:], []byte("last")); last {
		p.i += len("last")
		after := p.i
		if p.space(); p.peek() != '-' {
			p.i = after
			return 0, true, true
		}
		p.i++
		p.space()
	}
	end := p.i
	for end < len(p.s) && p.s[end] >= '0' && p.s[end] <= '9' {
		end++
	}
	index, err := strconv.ParseUint(string(p.s[p.i:end]), 10, 64)
	if err != nil || index > maxPathIndex {
		return 0, last, false
	}
	p.i = end
	return int(index), last, true
}

// at turns an index of a leg into a position in an array of length n.
func at(index int, last bool, n int) int {
	if last {
		return n - 1 - index
	}
	return index
}

// many reports whether a path may match several values, so that JSON_EXTRACT wraps them in an array.
func many(legs []pathLeg) bool {
	for _, l := range legs {
		if l.kind == '*' || l.kind == '#' || l.kind == 'e' || l.span {
			return true
		}
	}
	return false
}

// findPollSteps is how many values a search looks at between two looks at the interrupt.
const findPollSteps = 1 << 12

// jsonSearch walks a path leg by leg, so that its steps are at most as many as legs times values: going down every way by itself takes
// exponentially many, since each ** leads to a value in as many ways as the one before it has left.
type jsonSearch struct {
	ctx   *Ctx
	found []*jsonTree            // where the legs so far lead to, in document order
	next  []*jsonTree            // the same with the leg at hand
	seen  map[*jsonTree]struct{} // of next; nil while no value can be met twice
	steps int
}

// find returns the values of t that legs lead to, each once.
func (ctx *Ctx) find(t *jsonTree, legs []pathLeg) ([]*jsonTree, error) {
	if err := ctx.poll(); err != nil {
		return nil, err
	}
	s := jsonSearch{ctx: ctx, found: []*jsonTree{t}}
	nested := false // a ** was before: some of found may lie within others
	for i := range legs {
		// A value has one parent. It is met twice only below two values that ** has found, or in the array and as itself.
		s.seen = nil
		if nested && (legs[i].kind == 'e' || legs[i].kind == '[') {
			s.seen = make(map[*jsonTree]struct{})
		}
		s.next = s.next[:0]
		for _, t := range s.found {
			if err := s.leg(&legs[i], t); err != nil {
				return nil, err
			}
		}
		s.found, s.next = s.next, s.found
		nested = nested || legs[i].kind == 'e'
	}
	return s.found, nil
}

// leg adds what one leg leads to from t.
func (s *jsonSearch) leg(leg *pathLeg, t *jsonTree) error {
	var items []*jsonTree
	switch leg.kind {
	case '.':
		if m := t.member(leg.key); m != nil {
			return s.add(m)
		}
	case '*', '#':
		if leg.kind == '*' && t.kind == '{' || leg.kind == '#' && t.kind == '[' {
			items = t.open().items
		}
	case 'e':
		return s.below(t)
	case '[':
		if t.closed() && t.kind == '[' && !leg.span {
			i := leg.index
			if leg.last {
				i = at(i, true, t.length())
			}
			if m := t.element(i); i >= 0 && m != nil {
				return s.add(m)
			}
			return s.step()
		}
		items = t.elements() // a scalar is its own first element
		from := at(leg.index, leg.last, len(items))
		to := from
		if leg.span {
			to = at(leg.to, leg.toEnd, len(items))
			from = max(from, 0)
		}
		if to = min(to, len(items)-1); from < 0 || from > to {
			items = nil
		} else {
			items = items[from : to+1]
		}
	}
	for _, m := range items {
		if err := s.add(m); err != nil {
			return err
		}
	}
	return s.step()
}

// below adds t and all within it. What has been seen was added with all within it.
func (s *jsonSearch) below(t *jsonTree) error {
	if _, ok := s.seen[t]; ok {
		return s.step()
	}
	if err := s.add(t); err != nil {
		return err
	}
	for _, m := range t.open().items {
		if err := s.below(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *jsonSearch) add(t *jsonTree) error {
	if s.seen != nil {
		if _, ok := s.seen[t]; ok {
			return s.step()
		}
		s.seen[t] = struct{}{}
	}
	s.next = append(s.next, t)
	return s.step()
}

func (s *jsonSearch) step() error {
	if s.steps++; s.steps%findPollSteps == 0 {
		return s.ctx.poll()
	}
	return nil
}

// JSON changes by what they do to existing and to missing values.
const (
	jsonInsert = 1 << iota // add what is missing
	jsonReplace
	jsonRemove
	jsonArrayInsert
	jsonArrayAppend
)

// jsonEdit is one change of a document.
type jsonEdit struct {
	how     int
	v       *jsonTree // what to put; nil for a removal
	depth   int       // of v
	deepest int       // level of the document's deepest value that the change has put or moved
}

// reach notes that a value of depth levels stands at a level now.
func (e *jsonEdit) reach(level, depth int) { e.deepest = max(e.deepest, level-1+depth) }

// change applies one modification at a path below t, which is at a level of its document, and returns what takes t's place.
func (t *jsonTree) change(legs []pathLeg, e *jsonEdit, level int) *jsonTree {
	if len(legs) == 0 {
		switch {
		case e.how&jsonArrayAppend != 0:
			e.reach(level+1, e.depth)
			if t.kind != '[' {
				e.reach(level+1, t.depth())
			}
			return t.ctx.newArray(append(append([]*jsonTree(nil), t.elements()...), e.v)...)
		case e.how&jsonReplace != 0:
			e.reach(level, e.depth)
			return e.v
		}
		return t
	}
	leg, rest := legs[0], legs[1:]
	if leg.kind == '.' {
		t.changeMember(leg, rest, e, level)
		return t
	}
	return t.changeElement(leg, rest, e, level)
}

func (t *jsonTree) changeMember(leg pathLeg, rest []pathLeg, e *jsonEdit, level int) {
	if t.kind != '{' {
		return
	}
	for i, k := range t.open().keys {
		if k != leg.key {
			continue
		}
		if len(rest) == 0 && e.how&jsonRemove != 0 {
			t.keys = append(t.keys[:i:i], t.keys[i+1:]...)
			t.items = append(t.items[:i:i], t.items[i+1:]...)
		} else {
			t.items[i] = t.items[i].change(rest, e, level+1)
		}
		return
	}
	if len(rest) == 0 && e.how&jsonInsert != 0 {
		e.reach(level+1, e.depth)
		t.setMember(leg.key, e.v)
	}
}

func (t *jsonTree) changeElement(leg pathLeg, rest []pathLeg, e *jsonEdit, level int) *jsonTree {
	if t.kind != '[' {
		i := at(leg.index, leg.last, 1)
		switch {
		case i == 0 && e.how&(jsonRemove|jsonArrayInsert) == 0:
			return t.change(rest, e, level)
		case i != 0 && len(rest) == 0 && e.how&jsonInsert != 0:
			e.reach(level+1, max(e.depth, t.depth()))
			if i < 0 {
				return t.ctx.newArray(e.v, t)
			}
			return t.ctx.newArray(t, e.v)
		}
		return t
	}
	i := at(leg.index, leg.last, len(t.open().items))
	switch {
	case len(rest) == 0 && e.how&jsonArrayInsert != 0:
		e.reach(level+1, e.depth)
		i = max(min(i, len(t.items)), 0)
		t.items = append(t.items[:i:i], append([]*jsonTree{e.v}, t.items[i:]...)...)
	case i >= 0 && i < len(t.items):
		if len(rest) == 0 && e.how&jsonRemove != 0 {
			t.items = append(t.items[:i:i], t.items[i+1:]...)
		} else {
			t.items[i] = t.items[i].change(rest, e, level+1)
		}
	case len(rest) == 0 && e.how&jsonInsert != 0:
		e.reach(level+1, e.depth)
		if i < 0 { // [last-n] before the first element
			t.items = append([]*jsonTree{e.v}, t.items...)
		} else {
			t.items = append(t.items, e.v)
		}
	}
	return t
}
