package types

import (
	"bytes"
	"unsafe"
)

// Like is a compiled LIKE pattern in a collation. It is immutable and safe for
// concurrent use. It compares character by character, as MySQL does: trailing spaces
// are significant, and one character never equals two. The library's matcher is not
// used, because it limits its recursion and gives wrong results beyond the limit.
type Like struct {
	coll  *collation
	parts []likePart
	lead  bool // the pattern starts with %
	trail bool // the pattern ends with %
}

// likePart is the characters and _ between two %. A pattern may be as long as a packet,
// so a part takes little more memory than its text.
type likePart struct {
	text   []byte   // its characters without the _
	any    []uint32 // positions of _ among its characters
	count  int      // number of its characters, including _
	minLen int      // fewest bytes that it matches
	plain  bool     // it has no _ and is compared by bytes
}

// likePartBytes is the size of a likePart.
const likePartBytes = int(unsafe.Sizeof(likePart{}))

// LikeBytes returns an upper bound of the memory in bytes that NewLike allocates.
func LikeBytes(pattern []byte) int {
	return len(pattern) + (bytes.Count(pattern, []byte{'%'})+1)*likePartBytes + bytes.Count(pattern, []byte{'_'})*4
}

// NewLike compiles a pattern in the character set of c. escape is the escape
// character, '\\' by default in SQL; 0 means that there is none. The error is that of
// poll, which may be nil. It copies pattern.
func NewLike(pattern []byte, escape rune, c CollationID, poll func() error) (*Like, error) {
	l := &Like{coll: c.get().load()}
	cs := l.coll.charset
	if len(pattern) > likePollBytes {
		l.parts = make([]likePart, 0, bytes.Count(pattern, []byte{'%'})+1)
	}
	var part likePart
	texts := make([]byte, 0, len(pattern))
	start, many, any := 0, false, false
	flush := func() {
		if part.count > 0 {
			part.text = texts[start:len(texts):len(texts)]
			l.finish(&part)
			l.parts = append(l.parts, part)
		}
		part, start = likePart{}, len(texts)
	}
	polled := 0
	for i := 0; i < len(pattern); {
		if i-polled >= likePollBytes && poll != nil {
			polled = i
			if err := poll(); err != nil {
				return nil, err
			}
		}
		r, n, ok := cs.decode(pattern[i:])
		ch := pattern[i : i+n]
		i += n
		escaped := ok && escape != 0 && r == escape && i < len(pattern) // even if % is the escape character
		if ok && r == '%' && !escaped {
			if !any {
				l.lead = true
			}
			flush()
			many, any = true, true
			continue
		}
		many, any = false, true
		switch {
		case escaped:
			_, n, _ = cs.decode(pattern[i:])
			texts = append(texts, pattern[i:i+n]...)
			i += n
		case ok && r == '_':
			part.any = append(part.any, uint32(part.count))
		default:
			texts = append(texts, ch...)
		}
		part.count++
	}
	flush()
	l.trail = many
	return l, nil
}

func (l *Like) finish(p *likePart) {
	cs := l.coll.charset
	switch l.coll.class {
	case collRaw, collPadRaw:
		p.plain = len(p.any) == 0
		p.minLen = len(p.text)
	case collPadTable:
		p.minLen = len(p.text)
	default:
		p.minLen = p.count - len(p.any)
	}
	p.minLen += len(p.any) * cs.MinLen
}

// likePollBytes is how many bytes are compared between two polls of the interrupt.
const likePollBytes = 64 << 10

// likeMatch is one call of Match. In the worst case a part is compared almost to its end
// at each position of the text, which takes the product of both lengths; so it polls.
type likeMatch struct {
	*Like
	poll func() error
	left int
	err  error
}

// step counts n bytes compared and reports whether to go on.
func (m *likeMatch) step(n int) bool {
	if m.left -= n + 1; m.left < 0 && m.err == nil && m.poll != nil {
		m.left = likePollBytes
		m.err = m.poll()
	}
	return m.err == nil
}

// Match reports whether s, which is in the character set of the collation, matches. The
// error is that of poll, which may be nil.
func (l *Like) Match(s []byte, poll func() error) (bool, error) {
	m := likeMatch{Like: l, poll: poll, left: likePollBytes}
	hit := m.match(s)
	return hit && m.err == nil, m.err
}

func (l *likeMatch) match(s []byte) bool {
	parts := l.parts
	if len(parts) == 0 {
		return l.trail || len(s) == 0
	}
	if !l.lead {
		n := l.at(&parts[0], s)
		if n < 0 {
			return false
		}
		s = s[n:]
		parts = parts[1:]
		if len(parts) == 0 {
			return l.trail || len(s) == 0
		}
	}
	last := len(parts)
	if !l.trail {
		last--
	}
	// Each inner part matches at the first position that it can: parts have a fixed
	// number of characters, so a later position leaves less text for the rest.
	for i := range parts[:last] {
		end := l.find(&parts[i], s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return l.trail || l.endsWith(&parts[last], s)
}

// at returns the number of bytes that p matches at the start of s, or -1.
func (l *likeMatch) at(p *likePart, s []byte) int {
	if p.plain && l.step(len(p.text)) {
		if bytes.HasPrefix(s, p.text) {
			return len(p.text)
		}
		return -1
	}
	i, text, any := 0, p.text, p.any
	for c := range uint32(p.count) {
		if i == len(s) || !l.step(1) {
			return -1
		}
		n := l.width(s[i:])
		if len(any) > 0 && any[0] == c {
			any = any[1:]
		} else {
			m := l.width(text)
			if !l.same(text[:m], s[i:i+n]) {
				return -1
			}
			text = text[m:]
		}
		i += n
	}
	return i
}

func (l *Like) width(s []byte) int {
	if s[0] < 0x80 && l.coll.charset.ascii {
		return 1
	}
	n, _ := l.coll.charset.charLen(s)
	return n
}

// find returns the end of the first match of p in s, or -1.
func (l *likeMatch) find(p *likePart, s []byte) int {
	if p.plain && l.coll.charset.MinLen == 1 && l.selfSync() {
		i := bytes.Index(s, p.text)
		if i < 0 {
			return -1
		}
		return i + len(p.text)
	}
	for i := 0; i+p.minLen <= len(s) && l.step(0); {
		if n := l.at(p, s[i:]); n >= 0 {
			return i + n
		}
		if i == len(s) {
			break
		}
		i += l.width(s[i:])
	}
	return -1
}

// selfSync reports whether a search for bytes never matches in the middle of a character.
func (l *Like) selfSync() bool {
	switch l.coll.charset.class {
	case csBinary, csSingle, csASCII, csUTF8MB3, csUTF8MB4:
		return true
	}
	return false
}

// endsWith reports whether p matches at the very end of s.
func (l *likeMatch) endsWith(p *likePart, s []byte) bool {
	if p.plain && l.selfSync() {
		return bytes.HasSuffix(s, p.text)
	}
	skip := l.coll.charset.CountChars(s) - p.count
	if skip < 0 {
		return false
	}
	s = s[l.coll.charset.CharPrefix(s, skip):]
	return l.at(p, s) == len(s)
}

// same reports whether two single characters are equal under the collation.
func (l *Like) same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	c := l.coll
	if c.fold != nil {
		t := c.fold()
		return t[a[0]] == t[b[0]]
	}
	switch c.class {
	case collRaw, collPadRaw, collPadRunes:
		return false
	case collPadTable:
		return c.bytes[a[0]] == c.bytes[b[0]]
	case collPadGeneral:
		x, _ := c.nextGeneral(a)
		y, _ := c.nextGeneral(b)
		return x == y
	}
	if c.ascii != nil && len(a) == 1 && len(b) == 1 {
		if x, y := c.ascii[a[0]&0x7F], c.ascii[b[0]&0x7F]; x != 0 && y != 0 {
			return x == y
		}
	}
	return c.sameWeights(a, b)
}

// sameWeights reports whether two characters have the same weights. There is no padding:
// an ignorable character does not equal a space.
func (c *collation) sameWeights(a, b []byte) bool {
	p, q := scratch.Get().(*[]byte), scratch.Get().(*[]byte)
	x, y := c.appendWeights((*p)[:0], a), c.appendWeights((*q)[:0], b)
	same := bytes.Equal(x, y)
	putScratch(p, x)
	putScratch(q, y)
	return same
}

// LikeBegin returns the characters with which all texts begin that match a LIKE pattern
// in the character set of c, and whether they are the whole text.
func LikeBegin(pattern []byte, escape rune, c CollationID) (begin []byte, whole bool) {
	cs := c.Charset()
	for i := 0; i < len(pattern); {
		r, n, ok := cs.decode(pattern[i:])
		if ok && escape != 0 && r == escape && i+n < len(pattern) {
			i += n
			_, n, _ = cs.decode(pattern[i:])
		} else if ok && (r == '%' || r == '_') {
			return begin, false
		}
		begin = append(begin, pattern[i:i+n]...)
		i += n
	}
	return begin, true
}
