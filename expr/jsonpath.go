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

// find calls use for every value of t that legs lead to.
func (t *jsonTree) find(legs []pathLeg, use func(*jsonTree)) {
	if len(legs) == 0 {
		use(t)
		return
	}
	leg, rest := legs[0], legs[1:]
	switch leg.kind {
	case '.':
		if m := t.member(leg.key); m != nil {
			m.find(rest, use)
		}
	case '*':
		if t.kind == '{' {
			for _, m := range t.items {
				m.find(rest, use)
			}
		}
	case '#':
		if t.kind == '[' {
			for _, m := range t.items {
				m.find(rest, use)
			}
		}
	case 'e':
		t.find(rest, use)
		for _, m := range t.items {
			m.find(legs, use)
		}
	case '[':
		items := t.elements() // a scalar is its own first element
		from := at(leg.index, leg.last, len(items))
		to := from
		if leg.span {
			to = min(at(leg.to, leg.toEnd, len(items)), len(items)-1)
			from = max(from, 0)
		}
		for i := from; i >= 0 && i <= to && i < len(items); i++ {
			items[i].find(rest, use)
		}
	}
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
			return &jsonTree{kind: '[', items: append(append([]*jsonTree(nil), t.elements()...), e.v)}
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
	for i, k := range t.keys {
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
		case i > 0 && len(rest) == 0 && e.how&jsonInsert != 0:
			e.reach(level+1, max(e.depth, t.depth()))
			return &jsonTree{kind: '[', items: []*jsonTree{t, e.v}}
		}
		return t
	}
	i := at(leg.index, leg.last, len(t.items))
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
	case i >= len(t.items) && len(rest) == 0 && e.how&jsonInsert != 0:
		e.reach(level+1, e.depth)
		t.items = append(t.items, e.v)
	}
	return t
}
