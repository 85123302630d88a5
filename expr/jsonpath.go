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
	last  bool // index counts from the end: [last-1]
	to    int  // end of a range [a to b]
	toEnd bool // to counts from the end
	span  bool // it is a range
}

// pathLegsMax bounds the legs of a path, because changes recurse over them. A document is never so deep, but a scalar matches any number of legs
// [0].
const pathLegsMax = 1 << 16

// errJSONPath is MySQL's ER_INVALID_JSON_PATH.
const errJSONPath = 3143

// maxPathIndex is the largest index in a path.
const maxPathIndex = math.MaxUint32

// pathParser parses a path from left to right. After an error, i is the position that the message names, as in MySQL.
type pathParser struct {
	ctx *Ctx // counts the memory of long keys; nil counts nothing
	s   []byte
	i   int
	err error // why the statement has to end
}

// parsePath parses a JSON path in the text of a statement.
func parsePath(s []byte) ([]pathLeg, error) { return (*Ctx)(nil).parsePath(s) }

// parsePath parses a JSON path, which may be as long as a packet. Its errors are 3143 and those of Grow and Poll.
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

// peek returns the next byte, 0 at the end.
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

// ellipsis reads **, which must not end a path or be followed by another *.
func (p *pathParser) ellipsis() bool {
	if p.i++; p.peek() != '*' {
		return false
	}
	p.i++
	return p.i < len(p.s) && p.peek() != '*'
}

// member reads a leg that begins with a dot: .key, ."key" or .*.
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

// cell reads a leg in brackets: [n], [last], [last-n], a range of these or [*].
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
	// A range that is empty in every array is an error.
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

// at returns the position of a leg's index in an array of length n; it may be out of range.
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

// findPollSteps is how many values a search visits between two polls of the interrupt.
const findPollSteps = 1 << 12

// jsonSearch evaluates a path leg by leg over sets of values, so that it takes at most legs times values steps. Backtracking would take
// exponentially many with several **, because there are many ways to the same value.
type jsonSearch struct {
	ctx   *Ctx
	found []*jsonTree            // values that the legs so far match, in document order
	next  []*jsonTree            // those that they and the current leg match
	seen  map[*jsonTree]struct{} // the values in next; nil while no value can be found twice
	steps int
}

// find returns the values in t that the path matches, without duplicates. It may open t.
func (ctx *Ctx) find(t *jsonTree, legs []pathLeg) ([]*jsonTree, error) {
	if err := ctx.poll(); err != nil {
		return nil, err
	}
	s := jsonSearch{ctx: ctx, found: []*jsonTree{t}}
	nested := false // there was a ** before: values in found may contain each other
	for i := range legs {
		// A value is found twice only below two values that ** has found, or as an element of its array and, by [0], as itself.
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

// leg adds the values that a leg matches in t.
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
		items = t.elements() // [0] of a value that is no array is the value
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

// below adds t and all values in it. If t has been seen, they were added with it.
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

// What a change does with the value at its path; bits of jsonEdit.how.
const (
	jsonInsert  = 1 << iota // adds a missing value
	jsonReplace             // replaces an existing value
	jsonRemove
	jsonArrayInsert
	jsonArrayAppend
)

// jsonEdit is one change of a document.
type jsonEdit struct {
	how     int
	value   func() (*jsonTree, error) // returns the new value: JSON_INSERT and its kin ask for it only where they add it
	err     error                     // of value
	deepest int                       // level in the document of the deepest value that the change has added or moved
}

// added returns the value to add at level.
func (e *jsonEdit) added(level int) *jsonTree {
	v, err := e.value()
	if err != nil {
		e.err = err
		return &jsonTree{}
	}
	e.reach(level, v.depth())
	return v
}

// reach updates deepest for a value of the given depth that is now at level.
func (e *jsonEdit) reach(level, depth int) { e.deepest = max(e.deepest, level-1+depth) }

// change applies e at the path legs from t, which is at a level of its document (1 is the top), and returns the value that replaces t. It modifies
// t.
func (t *jsonTree) change(legs []pathLeg, e *jsonEdit, level int) *jsonTree {
	if len(legs) == 0 {
		switch {
		case e.how&jsonArrayAppend != 0:
			v := e.added(level + 1)
			if t.kind != '[' {
				e.reach(level+1, t.depth())
			}
			return t.ctx.newArray(append(append([]*jsonTree(nil), t.elements()...), v)...)
		case e.how&jsonReplace != 0:
			return e.added(level)
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
		if len(rest) == 0 && e.how&jsonInsert != 0 { // MySQL computes it before it sees that t has no members
			_, e.err = e.value()
		}
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
		t.setMember(leg.key, e.added(level+1))
	}
}

func (t *jsonTree) changeElement(leg pathLeg, rest []pathLeg, e *jsonEdit, level int) *jsonTree {
	if t.kind != '[' {
		i := at(leg.index, leg.last, 1)
		switch {
		case i == 0 && e.how&(jsonRemove|jsonArrayInsert) == 0:
			return t.change(rest, e, level)
		case i != 0 && len(rest) == 0 && e.how&jsonInsert != 0:
			v := e.added(level + 1)
			e.reach(level+1, t.depth())
			if i < 0 {
				return t.ctx.newArray(v, t)
			}
			return t.ctx.newArray(t, v)
		}
		return t
	}
	i := at(leg.index, leg.last, len(t.open().items))
	switch {
	case len(rest) == 0 && e.how&jsonArrayInsert != 0:
		i = max(min(i, len(t.items)), 0)
		t.items = append(t.items[:i:i], append([]*jsonTree{e.added(level + 1)}, t.items[i:]...)...)
	case i >= 0 && i < len(t.items):
		if len(rest) == 0 && e.how&jsonRemove != 0 {
			t.items = append(t.items[:i:i], t.items[i+1:]...)
		} else {
			t.items[i] = t.items[i].change(rest, e, level+1)
		}
	case len(rest) == 0 && e.how&jsonInsert != 0:
		v := e.added(level + 1)
		if i < 0 { // [last-n] before the first element
			t.items = append([]*jsonTree{v}, t.items...)
		} else {
			t.items = append(t.items, v)
		}
	}
	return t
}
