package syntax

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// aheadMax is the longest look-ahead of the grammar, for `db.t.*`.
const aheadMax = 8

// parser is a recursive-descent parser of one statement. Errors unwind by a panic
// with *Error, or stopped, that Parse recovers: returning an error from each of some
// three hundred productions would double the code and slow down valid statements.
type parser struct {
	lex   lexer
	tok   token // The current token.
	ahead [aheadMax]token
	// aheadFrom and aheadLen describe the ring of tokens read beyond tok.
	aheadFrom int
	aheadLen  int
	prevEnd   int32 // End of the last consumed token.

	sql    string
	opt    Options
	depth  int   // Present nesting, bounded by nestingMax.
	chain  int   // Operators counted by link, bounded by chainMax.
	params int32 // Placeholders so far.
	// intervalNext says that the next operand may be an INTERVAL that is not followed
	// by a plus: it is the right side of + or -, or the argument of a date function.
	intervalNext bool
	tokens       int  // Read since the last charge.
	flat         bool // No tree is made of the tokens: see literalRows.
	onDuplicate  bool // Within ON DUPLICATE KEY UPDATE.
	view         bool // Within the query of a view.
	program      int  // Nesting of stored program bodies, where local variables exist.

	slab slab
}

var parserPool = sync.Pool{New: func() any { return new(parser) }}

// Parse parses the first statement of sql. rest is the text after its semicolon,
// empty at the end of the text. Strings of the tree are slices of sql; if the caller
// made that of a buffer, the buffer must not change while the tree is in use. The
// error is an *Error, or that of opt.Budget.
func Parse(sql string, opt Options) (stmt Statement, rest string, err error) {
	p := parserPool.Get().(*parser)
	defer p.release(&err)
	p.init(sql, opt)
	if p.tok.kind == tEOF || p.tok.kind == tSemi {
		e := newError(sql, len(sql), CodeEmptyQuery)
		e.Msg = "Query was empty"
		return nil, p.restText(), e
	}
	stmt = p.statement()
	if p.tok.kind != tEOF && p.tok.kind != tSemi {
		p.fail()
	}
	return stmt, p.restText(), nil
}

// Blank reports whether a text consists of white space, comments and semicolons only. A version comment that applies counts as code.
func Blank(rest string, opt Options) bool {
	if rest == "" {
		return true
	}
	var l lexer
	l.init(rest, &opt)
	t := l.next()
	for t.kind == tSemi {
		t = l.next()
	}
	return t.kind == tEOF
}

// CountParams returns the number of placeholders in the first statement of a text, up to its first lexical error.
func CountParams(sql string, opt Options) (n int) {
	var l lexer
	l.init(sql, &opt)
	for t := l.next(); t.kind != tEOF && t.kind != tSemi && t.kind != tIllegal; t = l.next() {
		if t.kind == tParam {
			n++
		}
	}
	return n
}

// ParseExpr parses a single expression, for defaults, generated columns and checks
// that the catalogue stores as text. As for Parse, the tree refers to text.
func ParseExpr(text string, opt Options) (x Expr, err error) {
	p := parserPool.Get().(*parser)
	defer p.release(&err)
	p.init(text, opt)
	x = p.expr()
	if p.tok.kind != tEOF {
		p.fail()
	}
	return x, nil
}

// init prepares the parser and reads the first token.
func (p *parser) init(sql string, opt Options) {
	p.sql, p.opt = sql, opt
	p.lex.init(sql, &p.opt)
	p.aheadFrom, p.aheadLen, p.prevEnd = 0, 0, 0
	p.depth, p.chain, p.params, p.program = 0, 0, 0, 0
	p.intervalNext, p.onDuplicate, p.view = false, false, false
	p.tokens, p.flat = 0, false
	p.tok = p.lex.next()
}

// release turns a panic of fail into an error and returns the parser to its pool.
func (p *parser) release(err *error) {
	if r := recover(); r != nil {
		switch e := r.(type) {
		case *Error:
			*err = e
		case stopped:
			*err = e.err
		default:
			panic(r)
		}
	}
	p.sql, p.lex.text, p.opt.Budget, p.opt.Notices = "", "", nil, nil
	p.lex.notices = nil
	p.slab.forget()
	parserPool.Put(p)
}

// restText is the text after the current token, a semicolon, or "" at the end.
func (p *parser) restText() string {
	if p.tok.kind == tSemi {
		return p.sql[p.tok.end:]
	}
	return ""
}

// place is a position in the text to which the parser can return.
type place struct {
	lex       lexer
	tok       token
	ahead     [aheadMax]token
	aheadFrom int
	aheadLen  int
	prevEnd   int32
	params    int32
	notices   int
}

// mark returns the current position, for reset. Only the few constructs that need
// more than a fixed look-ahead use it; the tokens after it are lexed again.
func (p *parser) mark() place {
	m := place{p.lex, p.tok, p.ahead, p.aheadFrom, p.aheadLen, p.prevEnd, p.params, 0}
	if p.opt.Notices != nil {
		m.notices = len(*p.opt.Notices)
	}
	return m
}

// reset returns to a place.
func (p *parser) reset(m *place) {
	p.lex, p.tok, p.ahead = m.lex, m.tok, m.ahead
	p.aheadFrom, p.aheadLen, p.prevEnd, p.params = m.aheadFrom, m.aheadLen, m.prevEnd, m.params
	if p.opt.Notices != nil {
		*p.opt.Notices = (*p.opt.Notices)[:m.notices]
	}
}

// next consumes the current token and returns it.
func (p *parser) next() token {
	t := p.tok
	p.prevEnd = t.end
	if p.tokens++; p.tokens == tokensPerCharge {
		p.charge()
	}
	if p.aheadLen == 0 {
		p.tok = p.lex.next()
		return t
	}
	p.tok = p.ahead[p.aheadFrom]
	p.aheadFrom = (p.aheadFrom + 1) % aheadMax
	p.aheadLen--
	return t
}

// peek returns the n-th token after the current one, n from 1 to aheadMax.
func (p *parser) peek(n int) *token {
	for p.aheadLen < n {
		p.ahead[(p.aheadFrom+p.aheadLen)%aheadMax] = p.lex.next()
		p.aheadLen++
	}
	return &p.ahead[(p.aheadFrom+n-1)%aheadMax]
}

// fail raises the syntax error at the current token.
func (p *parser) fail() {
	panic(parseError(p.sql, int(p.tok.pos)))
}

// failAt raises the syntax error at a byte offset.
func (p *parser) failAt(pos int32) {
	panic(parseError(p.sql, int(pos)))
}

// failWith raises another error at a byte offset.
func (p *parser) failWith(code int, pos int32, msg string) {
	e := newError(p.sql, int(pos), code)
	e.Msg = msg
	panic(e)
}

// enter counts one level of nesting; leave ends it.
func (p *parser) enter() {
	p.depth++
	if p.depth > nestingMax {
		p.failDeep()
	}
}

func (p *parser) leave() { p.depth-- }

// link counts one operator of a left-deep chain that already has n.
func (p *parser) link(n int) {
	if n < chainFree {
		return
	}
	p.chain++
	if p.chain > chainMax {
		p.failDeep()
	}
}

// failDeep raises the error of MySQL for an exhausted parser stack.
func (p *parser) failDeep() {
	e := newError(p.sql, int(p.tok.pos), CodeTooDeep)
	e.Msg = fmt.Sprintf("memory exhausted near '%s' at line %d", e.Near, e.Line)
	panic(e)
}

// text returns the source of a token.
func (p *parser) text(t token) string { return p.sql[t.pos:t.end] }

// pos is the place of the current token.
func (p *parser) pos() Pos { return Pos(p.tok.pos) }

// is reports whether the current token is of a kind.
func (p *parser) is(kind tokenKind) bool { return p.tok.kind == kind }

// accept consumes a token of the kind if it is there.
func (p *parser) accept(kind tokenKind) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of the kind or fails.
func (p *parser) expect(kind tokenKind) token {
	if p.tok.kind != kind {
		p.fail()
	}
	return p.next()
}

// isKw reports whether the current token is a reserved word.
func (p *parser) isKw(kw keyword) bool { return p.tok.kw == kw }

// acceptKw consumes a reserved word if it is there.
func (p *parser) acceptKw(kw keyword) bool {
	if p.tok.kw != kw {
		return false
	}
	p.next()
	return true
}

// expectKw consumes a reserved word or fails.
func (p *parser) expectKw(kw keyword) {
	if p.tok.kw != kw {
		p.fail()
	}
	p.next()
}

// tokenIs reports whether t is the given upper-case word, reserved or not.
func (p *parser) tokenIs(t *token, word string) bool {
	return t.kind == tWord && int(t.end-t.pos) == len(word) && foldEqual(p.sql[t.pos:t.end], word)
}

// isWord reports whether the current token is the upper-case word.
func (p *parser) isWord(word string) bool { return p.tokenIs(&p.tok, word) }

// isWords reports whether the tokens from the current one on are the upper-case words.
func (p *parser) isWords(words ...string) bool {
	if !p.tokenIs(&p.tok, words[0]) {
		return false
	}
	for i, w := range words[1:] {
		if !p.tokenIs(p.peek(i+1), w) {
			return false
		}
	}
	return true
}

// acceptWord consumes the upper-case word if it is there.
func (p *parser) acceptWord(word string) bool {
	if !p.tokenIs(&p.tok, word) {
		return false
	}
	p.next()
	return true
}

// acceptWords consumes the words if all of them are there.
func (p *parser) acceptWords(words ...string) bool {
	if !p.isWords(words...) {
		return false
	}
	for range words {
		p.next()
	}
	return true
}

// oneOf consumes one of the upper-case words and returns it, or "".
func (p *parser) oneOf(words ...string) string {
	if p.tok.kind != tWord {
		return ""
	}
	for _, w := range words {
		if p.acceptWord(w) {
			return w
		}
	}
	return ""
}

// needOneOf is oneOf but fails instead of returning "".
func (p *parser) needOneOf(words ...string) string {
	w := p.oneOf(words...)
	if w == "" {
		p.fail()
	}
	return w
}

// expectWord consumes the words or fails.
func (p *parser) expectWord(words ...string) {
	for _, w := range words {
		if !p.acceptWord(w) {
			p.fail()
		}
	}
}

// isIdent reports whether the current token may be a name.
func (p *parser) isIdent() bool { return isIdentToken(&p.tok) }

func isIdentToken(t *token) bool {
	return t.kind == tWord && t.kw == kwNone || t.kind == tQuoted
}

// name consumes an identifier and returns its text.
func (p *parser) name() string {
	if !isIdentToken(&p.tok) {
		p.fail()
	}
	return p.nameOf(p.next(), identCharsMax)
}

// nameOf decodes an identifier token and checks its length.
func (p *parser) nameOf(t token, charsMax int) string {
	s := p.sql[t.pos:t.end]
	if t.kind == tQuoted {
		s = quotedName(p.sql, t, 0)
		if s == "" {
			p.failAt(t.pos)
		}
	}
	s = p.inUTF8(s)
	if len(s) > charsMax && utf8.RuneCountInString(s) > charsMax {
		p.failWith(CodeTooLongIdent, t.pos,
			"Identifier name '"+firstChars(s, tooLongIdentTextMax)+"' is too long")
	}
	return s
}

// inUTF8 converts a name from the character set of the text.
func (p *parser) inUTF8(name string) string {
	if p.opt.Names == nil {
		return name
	}
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return p.opt.Names(name)
		}
	}
	return name
}

// ident consumes an identifier with its place.
func (p *parser) ident() Ident {
	pos := p.pos()
	return Ident{Name: p.name(), Pos: pos}
}

// identList consumes `a, b, c`.
func (p *parser) identList() []Ident {
	list := []Ident{p.ident()}
	for p.accept(tComma) {
		list = append(list, p.ident())
	}
	return list
}

// parenIdents consumes `(a, b, c)`.
func (p *parser) parenIdents() []Ident {
	p.expect(tLParen)
	list := p.identList()
	p.expect(tRParen)
	return list
}

// objectName consumes `[schema.]name`.
func (p *parser) objectName() ObjectName {
	p.refuseEmpty(codeNoTableName, "table")
	o := ObjectName{Pos: p.pos(), Name: p.name()}
	if p.is(tDot) {
		p.next()
		p.refuseEmpty(codeNoTableName, "table")
		o.Schema, o.Name = o.Name, p.name()
	}
	return o
}

// refuseEmpty raises error code if the current token is an empty quoted name of a kind of things.
func (p *parser) refuseEmpty(code int, kind string) {
	if p.tok.kind == tQuoted && p.tok.end == p.tok.pos+2 {
		p.failWith(code, p.tok.pos, "Incorrect "+kind+" name ''")
	}
}

// objectNames consumes a list of object names.
func (p *parser) objectNames() []ObjectName {
	list := []ObjectName{p.objectName()}
	for p.accept(tComma) {
		list = append(list, p.objectName())
	}
	return list
}

// nameOrString consumes an identifier or a string where MySQL takes either:
// character sets, engines, hosts, labels.
func (p *parser) nameOrString() string {
	switch {
	case p.is(tString):
		t := p.next()
		s := stringValue(p.sql, t, 0, p.lex.escapes)
		if s == "" {
			p.failAt(t.pos)
		}
		return s
	case p.isIdent():
		return p.name()
	case p.isKw(kwBinary):
		return p.text(p.next())
	}
	p.fail()
	return ""
}

// ifExists consumes IF EXISTS; ifNotExists IF NOT EXISTS.
func (p *parser) ifExists() bool    { return p.acceptWords("IF", "EXISTS") }
func (p *parser) ifNotExists() bool { return p.acceptWords("IF", "NOT", "EXISTS") }
