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
		if !ok {
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

// change applies one modification at a path and returns the new document.
func (t *jsonTree) change(legs []pathLeg, v *jsonTree, how int) *jsonTree {
	if len(legs) == 0 {
		switch {
		case how&jsonArrayAppend != 0:
			return &jsonTree{kind: '[', items: append(append([]*jsonTree(nil), t.elements()...), v)}
		case how&jsonReplace != 0:
			return v
		}
		return t
	}
	leg, rest := legs[0], legs[1:]
	if leg.kind == '.' {
		t.changeMember(leg, rest, v, how)
		return t
	}
	return t.changeElement(leg, rest, v, how)
}

func (t *jsonTree) changeMember(leg pathLeg, rest []pathLeg, v *jsonTree, how int) {
	if t.kind != '{' {
		return
	}
	for i, k := range t.keys {
		if k != leg.key {
			continue
		}
		if len(rest) == 0 && how&jsonRemove != 0 {
			t.keys = append(t.keys[:i:i], t.keys[i+1:]...)
			t.items = append(t.items[:i:i], t.items[i+1:]...)
		} else {
			t.items[i] = t.items[i].change(rest, v, how)
		}
		return
	}
	if len(rest) == 0 && how&jsonInsert != 0 {
		t.setMember(leg.key, v)
	}
}

func (t *jsonTree) changeElement(leg pathLeg, rest []pathLeg, v *jsonTree, how int) *jsonTree {
	if t.kind != '[' {
		i := at(leg.index, leg.last, 1)
		switch {
		case i == 0 && how&(jsonRemove|jsonArrayInsert) == 0:
			return t.change(rest, v, how)
		case i > 0 && len(rest) == 0 && how&jsonInsert != 0:
			return &jsonTree{kind: '[', items: []*jsonTree{t, v}}
		}
		return t
	}
	i := at(leg.index, leg.last, len(t.items))
	switch {
	case len(rest) == 0 && how&jsonArrayInsert != 0:
		i = max(min(i, len(t.items)), 0)
		t.items = append(t.items[:i:i], append([]*jsonTree{v}, t.items[i:]...)...)
	case i >= 0 && i < len(t.items):
		if len(rest) == 0 && how&jsonRemove != 0 {
			t.items = append(t.items[:i:i], t.items[i+1:]...)
		} else {
			t.items[i] = t.items[i].change(rest, v, how)
		}
	case i >= len(t.items) && len(rest) == 0 && how&jsonInsert != 0:
		t.items = append(t.items, v)
	}
	return t
}
