package types

import "bytes"

// Like is a compiled LIKE pattern of one collation; immutable, for any number
// of goroutines. It compares character by character, as MySQL does: trailing
// spaces count, and one character never equals two. The library's matcher was
// not used because it bounds its recursion and then answers wrongly.
type Like struct {
	coll  *collation
	parts []likePart
	lead  bool // the pattern starts with %
	trail bool // the pattern ends with %
}

// likePart is a run between two %: single characters, or any character.
type likePart struct {
	chars  []likeChar
	plain  []byte // the whole run, when bytes decide and it has no _
	minLen int    // fewest bytes it matches
}

// likeChar is one character; nil bytes match any.
type likeChar []byte

// NewLike compiles a pattern in the character set of c. escape is the escape
// character, '\\' by default in SQL; 0 means that there is none.
func NewLike(pattern []byte, escape rune, c CollationID) *Like {
	l := &Like{coll: c.get().load()}
	cs := l.coll.charset
	var part likePart
	many, any := false, false
	flush := func() {
		if len(part.chars) > 0 {
			l.finish(&part)
			l.parts = append(l.parts, part)
		}
		part = likePart{}
	}
	for i := 0; i < len(pattern); {
		r, n, ok := cs.decode(pattern[i:])
		ch := pattern[i : i+n]
		i += n
		if ok && escape != 0 && r == escape && i < len(pattern) {
			_, n, _ = cs.decode(pattern[i:])
			ch = pattern[i : i+n]
			i += n
			part.chars = append(part.chars, ch)
			many, any = false, true
			continue
		}
		switch {
		case ok && r == '%':
			if !any {
				l.lead = true
			}
			flush()
			many = true
		case ok && r == '_':
			part.chars = append(part.chars, nil)
			many = false
		default:
			part.chars = append(part.chars, ch)
			many = false
		}
		any = true
	}
	flush()
	l.trail = many
	return l
}

func (l *Like) finish(p *likePart) {
	bytewise := l.coll.class == collRaw || l.coll.class == collPadRaw
	var all []byte
	for _, ch := range p.chars {
		if ch == nil {
			bytewise = false
			p.minLen += l.coll.charset.MinLen
			continue
		}
		if l.coll.class == collRaw || l.coll.class == collPadRaw || l.coll.class == collPadTable {
			p.minLen += len(ch)
		} else {
			p.minLen++
		}
		all = append(all, ch...)
	}
	if bytewise {
		p.plain = all
	}
}

// likePollBytes is how much text is compared between two looks at the interrupt.
const likePollBytes = 64 << 10

// likeMatch is one use of a pattern. A run may fail late at each place of a text, which then takes the product of both lengths: it
// looks at the interrupt meanwhile.
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

// Match reports whether s matches. poll, which may be nil, ends a long search with its error.
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
	// Each inner run takes the first place that fits: runs have a fixed number of
	// characters, so a later place can only leave less for the rest.
	for i := range parts[:last] {
		end := l.find(&parts[i], s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return l.trail || l.endsWith(&parts[last], s)
}

// at returns the bytes that p matches at the start of s, or -1.
func (l *likeMatch) at(p *likePart, s []byte) int {
	if p.plain != nil && l.step(len(p.plain)) {
		if bytes.HasPrefix(s, p.plain) {
			return len(p.plain)
		}
		return -1
	}
	i := 0
	for _, ch := range p.chars {
		if i == len(s) || !l.step(1) {
			return -1
		}
		n := l.width(s[i:])
		if ch != nil && !l.same(ch, s[i:i+n]) {
			return -1
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
	if p.plain != nil && l.coll.charset.MinLen == 1 && l.selfSync() {
		i := bytes.Index(s, p.plain)
		if i < 0 {
			return -1
		}
		return i + len(p.plain)
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

// selfSync reports whether a byte search cannot hit the middle of a character.
func (l *Like) selfSync() bool {
	switch l.coll.charset.class {
	case csBinary, csSingle, csASCII, csUTF8MB3, csUTF8MB4:
		return true
	}
	return false
}

// endsWith reports whether p matches at the very end of s.
func (l *likeMatch) endsWith(p *likePart, s []byte) bool {
	if p.plain != nil && l.selfSync() {
		return bytes.HasSuffix(s, p.plain)
	}
	skip := l.coll.charset.CountChars(s) - len(p.chars)
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

// sameWeights compares whole weight strings, without padding: an ignorable
// character does not equal a space.
func (c *collation) sameWeights(a, b []byte) bool {
	p, q := scratch.Get().(*[]byte), scratch.Get().(*[]byte)
	x, y := c.appendWeights((*p)[:0], a), c.appendWeights((*q)[:0], b)
	same := bytes.Equal(x, y)
	putScratch(p, x)
	putScratch(q, y)
	return same
}

// LikeBegin returns the characters with which every text begins that LIKE matches with a pattern in the character set of c, and whether
// they are the whole text.
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
