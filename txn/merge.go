package txn

import (
	"bytes"

	"github.com/pandodb/pando/kvapi"
)

// cursor iterates over the buffer's entries inside a span, in either direction. In
// a tree it costs one search per step, which is cheap compared with what the store
// does per pair, and needs no iterator that has to be released.
type cursor struct {
	b       *buffer
	span    kvapi.Span
	reverse bool
	e       *entry // the current entry, nil at the end
	at      int    // its position in small
}

// overlaps reports whether the buffer holds a key inside the span.
func (b *buffer) overlaps(s kvapi.Span) bool {
	if b.count == 0 {
		return false
	}
	c := cursor{b: b, span: s}
	c.seek()
	return c.e != nil
}

// seek moves to the first entry of the span in the cursor's direction.
func (c *cursor) seek() {
	from := c.span.Start
	if c.reverse && !c.span.IsPoint() {
		c.seekBelow(c.span.End)
	} else {
		c.seekFrom(from)
	}
	c.check()
}

// seekFrom moves to the first entry at or above key.
func (c *cursor) seekFrom(key []byte) {
	c.e = nil
	if c.b.tree == nil {
		c.at, _ = c.b.find(key)
		c.load()
		return
	}
	c.b.probe.key = key
	c.b.tree.Ascend(c.b.probe, func(e *entry) bool { c.e = e; return false })
}

// seekBelow moves to the last entry below key; an empty key is above all.
func (c *cursor) seekBelow(key []byte) {
	c.e = nil
	if c.b.tree == nil {
		c.at = len(c.b.small)
		if len(key) > 0 {
			c.at, _ = c.b.find(key)
		}
		c.at--
		c.load()
		return
	}
	if len(key) == 0 {
		c.e, _ = c.b.tree.Max()
		return
	}
	c.b.probe.key = key
	c.b.tree.Descend(c.b.probe, func(e *entry) bool {
		if bytes.Equal(e.key, key) {
			return true
		}
		c.e = e
		return false
	})
}

// load takes the small entry at the cursor's position.
func (c *cursor) load() {
	c.e = nil
	if c.at >= 0 && c.at < len(c.b.small) {
		c.e = c.b.small[c.at]
	}
}

// next moves on in the cursor's direction.
func (c *cursor) next() {
	switch {
	case c.b.tree != nil && c.reverse:
		c.seekBelow(c.e.key)
	case c.b.tree != nil:
		from := c.e
		c.e = nil
		c.b.tree.Ascend(from, func(e *entry) bool {
			if e == from {
				return true
			}
			c.e = e
			return false
		})
	case c.reverse:
		c.at--
		c.load()
	default:
		c.at++
		c.load()
	}
	c.check()
}

// check ends the walk outside the span.
func (c *cursor) check() {
	if c.e != nil && !c.span.Contains(c.e.key) {
		c.e = nil
	}
}

// mergeSink is between the store and the reader of a scan. It inserts the
// transaction's own writes, drops the pairs that they replace, and applies the
// limits, since the store cannot know how many of its pairs are dropped.
type mergeSink struct {
	out                   kvapi.Sink
	own                   cursor
	rows, bytes           int
	limitRows, limitBytes int
	// stopped is set once the reader or a limit ended the page; pos is then the
	// key of the last pair delivered, or of the last key decided.
	stopped bool
	pos     []byte
}

// scanMerged runs the scan q of request r through the merge.
func (t *Txn) scanMerged(r *ScanRequest, q *kvapi.ScanRequest) (resume []byte, err error) {
	m := &t.merge
	*m = mergeSink{
		out: r.Sink, limitRows: r.LimitRows, limitBytes: r.LimitBytes, pos: m.pos[:0],
		own: cursor{b: &t.buf, span: r.Span, reverse: r.Reverse},
	}
	m.own.seek()
	q.Sink, q.LimitRows, q.LimitBytes = m, 0, 0
	resume, err = t.kv().Scan(q)
	if err == nil && resume == nil && !m.stopped {
		// The store has no more: in the rest of the span there are only own writes.
		err = m.drain(nil)
	}
	m.own = cursor{}
	m.out, q.Sink = nil, nil
	if err != nil {
		return nil, err
	}
	if !m.stopped {
		return resume, nil
	}
	return kvapi.ResumeAfter(m.pos, r.Reverse), nil
}

// Pair takes one stored pair.
func (m *mergeSink) Pair(key, value []byte) (more bool, err error) {
	if err := m.drain(key); err != nil || m.stopped {
		return false, err
	}
	if e := m.own.e; e != nil && bytes.Equal(e.key, key) {
		m.own.next()
		return m.emitEntry(e)
	}
	return m.emit(key, value)
}

// drain emits own writes that come before the stored key; nil stands for the end.
func (m *mergeSink) drain(stored []byte) error {
	for !m.stopped && m.own.e != nil {
		e := m.own.e
		if stored != nil {
			if c := bytes.Compare(e.key, stored); c == 0 || c > 0 != m.own.reverse {
				return nil
			}
		}
		m.own.next()
		if _, err := m.emitEntry(e); err != nil {
			return err
		}
	}
	return nil
}

// emitEntry emits an own write; a delete marker only hides what is below.
func (m *mergeSink) emitEntry(e *entry) (more bool, err error) {
	if e.kind == kvapi.MutationDelete {
		return true, nil
	}
	return m.emit(e.key, e.value)
}

// emit passes a pair on and applies the limits.
func (m *mergeSink) emit(key, value []byte) (more bool, err error) {
	more, err = m.out.Pair(key, value)
	if err != nil {
		return false, err
	}
	m.rows++
	m.bytes += len(key) + len(value)
	if !more || (m.limitRows > 0 && m.rows >= m.limitRows) || (m.limitBytes > 0 && m.bytes >= m.limitBytes) {
		m.stopped = true
		m.pos = append(m.pos[:0], key...)
		return false, nil
	}
	return true, nil
}
