package expr

import (
	"bytes"
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

func pathError(at int) error {
	return types.NewError(errJSONPath, "Invalid JSON path expression. The error is around character position "+strconv.Itoa(at)+".")
}

// parsePath reads a JSON path.
func parsePath(s []byte) ([]pathLeg, error) {
	whole := s
	at := func() int { return len(whole) - len(s) + 1 }
	s = bytes.TrimLeft(s, " ")
	if len(s) == 0 || s[0] != '$' {
		return nil, pathError(at())
	}
	s = s[1:]
	var legs []pathLeg
	for {
		s = bytes.TrimLeft(s, " ")
		if len(s) == 0 {
			break
		}
		var leg pathLeg
		var ok bool
		switch s[0] {
		case '.':
			leg, s, ok = memberLeg(bytes.TrimLeft(s[1:], " "))
		case '[':
			leg, s, ok = indexLeg(s[1:])
		case '*':
			leg.kind = 'e'
			ok = len(s) > 1 && s[1] == '*'
			s = s[min(2, len(s)):]
		}
		if !ok || len(legs) == pathLegsMax {
			return nil, pathError(at())
		}
		legs = append(legs, leg)
	}
	if len(legs) > 0 && legs[len(legs)-1].kind == 'e' {
		return nil, pathError(at())
	}
	return legs, nil
}

func memberLeg(s []byte) (pathLeg, []byte, bool) {
	switch {
	case len(s) == 0:
		return pathLeg{}, s, false
	case s[0] == '*':
		return pathLeg{kind: '*'}, s[1:], true
	case s[0] == '"':
		n := stringEnd(s)
		return pathLeg{kind: '.', key: unquoteJSON(s[:n])}, s[n:], n > 2
	}
	n := 0
	for n < len(s) && bytes.IndexByte([]byte(".[ *"), s[n]) < 0 {
		n++
	}
	return pathLeg{kind: '.', key: string(s[:n])}, s[n:], n > 0 && (s[0] < '0' || s[0] > '9')
}

// indexLeg reads what follows '[': a number, last, last-n, a range or *.
func indexLeg(s []byte) (pathLeg, []byte, bool) {
	end := bytes.IndexByte(s, ']')
	if end < 0 {
		return pathLeg{}, s, false
	}
	body, rest := bytes.TrimSpace(s[:end]), s[end+1:]
	if string(body) == "*" {
		return pathLeg{kind: '#'}, rest, true
	}
	leg := pathLeg{kind: '['}
	var ok bool
	if i := bytes.Index(body, []byte(" to ")); i > 0 {
		var ok2 bool
		leg.span = true
		leg.index, leg.last, ok = indexNumber(body[:i])
		leg.to, leg.toEnd, ok2 = indexNumber(body[i+4:])
		return leg, rest, ok && ok2
	}
	leg.index, leg.last, ok = indexNumber(body)
	return leg, rest, ok
}

func indexNumber(s []byte) (n int, last, ok bool) {
	s = bytes.TrimSpace(s)
	if bytes.HasPrefix(s, []byte("last")) {
		last = true
		if s = bytes.TrimSpace(s[4:]); len(s) == 0 {
			return 0, true, true
		}
		if s[0] != '-' {
			return 0, true, false
		}
		s = bytes.TrimSpace(s[1:])
	}
	n, err := strconv.Atoi(string(s))
	return n, last, err == nil && n >= 0
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
