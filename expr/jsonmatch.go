package expr

import "github.com/pandodb/pando/types"

// matchPollBytes is how many bytes are compared between two polls of the interrupt.
const matchPollBytes = 1 << 16

// jsonMatch compares JSON values. Two arrays may take as many comparisons as the product of their lengths, so it polls
// the interrupt. When the statement has to end, err is set and all values are unequal.
type jsonMatch struct {
	ctx  *Ctx
	err  error
	a, b []byte // scratch
	left int    // bytes until the next poll
}

// step counts a comparison of size bytes and reports whether to go on.
func (m *jsonMatch) step(size int) bool {
	if m.left -= size + 1; m.left <= 0 && m.err == nil {
		m.left = matchPollBytes
		m.err = m.ctx.poll()
	}
	return m.err == nil
}

// equal reports whether two values are equal as JSON: numbers are compared by value.
func (m *jsonMatch) equal(t, o *jsonTree) bool {
	if t.kind != o.kind {
		return m.step(0) && false
	}
	a, b := t.text, o.text
	if a == nil || b == nil {
		m.a, m.b = t.append(m.a[:0]), o.append(m.b[:0])
		a, b = m.a, m.b
	}
	return m.step(len(a)+len(b)) && types.Compare(types.JSON(a), types.JSON(b), types.Utf8mb4Bin) == 0
}

// contains is JSON_CONTAINS: whether t contains o.
func (m *jsonMatch) contains(t, o *jsonTree) bool {
	switch {
	case t.kind == '[' && o.kind == '[':
		for _, item := range o.open().items {
			if item.kind == '[' && !m.inArray(t, item) || item.kind != '[' && !m.contains(t, item) {
				return false
			}
		}
		return m.err == nil
	case t.kind == '[':
		for _, item := range t.open().items {
			if m.contains(item, o) {
				return true
			}
			if m.err != nil {
				return false
			}
		}
		return false
	case t.kind == '{' && o.kind == '{':
		t.open()
		for i, k := range o.open().keys {
			v := t.member(k)
			if v == nil || !m.contains(v, o.items[i]) {
				return false
			}
		}
		return m.err == nil
	}
	return m.equal(t, o)
}

// inArray reports whether one of the arrays in the array t contains the array o: values beside them do not.
func (m *jsonMatch) inArray(t, o *jsonTree) bool {
	for _, item := range t.open().items {
		if item.kind == '[' && m.contains(item, o) {
			return true
		}
		if m.err != nil {
			return false
		}
	}
	return false
}

// overlaps is JSON_OVERLAPS.
func (m *jsonMatch) overlaps(t, o *jsonTree) bool {
	switch {
	case t.kind == '[' || o.kind == '[':
		for _, x := range t.elements() {
			for _, y := range o.elements() {
				if m.equal(x, y) {
					return true
				}
				if m.err != nil {
					return false
				}
			}
		}
		return false
	case t.kind == '{' && o.kind == '{':
		o.open()
		for i, k := range t.open().keys {
			if v := o.member(k); v != nil && m.equal(v, t.items[i]) {
				return true
			}
		}
		return false
	}
	return m.equal(t, o)
}
