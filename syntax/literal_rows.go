package syntax

import "unsafe"

const (
	// literalTextMin is the length of text from which a VALUES list is kept as LiteralRows if it can be.
	literalTextMin = 1 << 10
	// literalRowsGuessMax bounds the rows for which the first one's length makes room in advance.
	literalRowsGuessMax = 64 << 10
)

// LiteralRows are the rows of a long VALUES list of nothing but literals. A bulk load has some hundred thousand of them in one
// statement, and a node for each would cost more than to store it, so their places in the text stand for them. All rows have Width
// values. It is not changed once parsed.
type LiteralRows struct {
	Width int

	text        string
	noBackslash bool
	bits        []bool // by column: a hex or bit literal is among its values; nil without one
	places      []literalPlace
}

// literalPlace is where a literal stands, without its sign.
type literalPlace struct {
	pos, end int32
	kind     LiteralKind
	plain    bool // as in token
	negative bool
}

// literalPlaceBytes is what a literal takes.
const literalPlaceBytes = int64(unsafe.Sizeof(literalPlace{}))

// Rows returns the number of rows.
func (r *LiteralRows) Rows() int { return len(r.places) / r.Width }

// HasBits reports whether a hex or bit literal is among the values of column i of the list.
func (r *LiteralRows) HasBits(i int) bool { return r.bits != nil && r.bits[i] }

// At returns the i-th literal, row after row, and whether a minus precedes it.
func (r *LiteralRows) At(i int) (lit Literal, negative bool) {
	at := &r.places[i]
	lit = Literal{Pos: Pos(at.pos), End: Pos(at.end), Kind: at.kind}
	t := token{pos: at.pos, end: at.end, plain: at.plain}
	switch at.kind {
	case LitInt, LitDecimal, LitFloat:
		lit.Value = r.text[at.pos:at.end]
	case LitString:
		lit.Value = stringValue(r.text, t, 0, r.noBackslash)
	case LitNString:
		lit.Value = stringValue(r.text, t, 1, r.noBackslash)
	case LitHex, LitBit:
		lit.Value = digitsOf(r.text, t)
	}
	return lit, at.negative
}

// Exprs returns the rows as trees.
func (r *LiteralRows) Exprs() [][]Expr {
	rows := make([][]Expr, r.Rows())
	exprs := make([]Expr, len(r.places))
	for i := range exprs {
		lit, negative := r.At(i)
		exprs[i] = &lit
		if negative {
			exprs[i] = &Unary{Pos: lit.Pos - 1, Op: OpNeg, X: &lit}
		}
	}
	for i := range rows {
		rows[i] = exprs[i*r.Width : (i+1)*r.Width : (i+1)*r.Width]
	}
	return rows
}

// literalRows parses the VALUES list at hand if its text is long and it is as LiteralRows says. Otherwise it returns nil and the
// parser is where it was.
func (p *parser) literalRows() *LiteralRows {
	if len(p.sql)-int(p.tok.pos) < literalTextMin {
		return nil
	}
	start := p.mark()
	r := &LiteralRows{text: p.sql, noBackslash: p.opt.NoBackslashEscapes}
	counted := 0 // places that the statement's Budget knows of
	p.charge()
	p.flat = true
	defer func() { p.flat = false }()
	for {
		before := len(r.places)
		if !p.literalRow(r) {
			p.reset(&start)
			p.grow(int64(-counted) * literalPlaceBytes)
			return nil
		}
		if n := cap(r.places); n > counted {
			p.grow(int64(n-counted) * literalPlaceBytes)
			counted = n
		}
		if before == 0 {
			r.Width = len(r.places)
			guess := min((len(p.sql)-int(start.tok.pos))/int(p.prevEnd-start.tok.pos)+1, literalRowsGuessMax)
			r.places = append(make([]literalPlace, 0, guess*r.Width), r.places...)
		}
		if len(r.places)-before != r.Width {
			p.reset(&start)
			p.grow(int64(-counted) * literalPlaceBytes)
			return nil
		}
		if !p.accept(tComma) {
			return r
		}
	}
}

// literalRow parses one row into r, and reports whether it could.
func (p *parser) literalRow(r *LiteralRows) bool {
	if !p.accept(tLParen) {
		return false
	}
	for {
		at := literalPlace{negative: p.accept(tMinus)}
		switch p.tok.kind {
		case tInt:
			at.kind = LitInt
		case tDecimal:
			at.kind = LitDecimal
		case tFloat:
			at.kind = LitFloat
		case tString:
			at.kind = LitString
		case tNString:
			at.kind = LitNString
		case tHex, tBit:
			at.kind = LitHex
			if p.tok.kind == tBit {
				at.kind = LitBit
			}
			r.noteBits(len(r.places))
		case tWord:
			switch p.tok.kw {
			case kwNull:
				at.kind = LitNull
			case kwTrue:
				at.kind = LitTrue
			case kwFalse:
				at.kind = LitFalse
			default:
				return false
			}
		default:
			return false
		}
		if at.negative && (at.kind > LitDecimal || p.tok.spaced || at.kind == LitInt && p.tok.end-p.tok.pos > intDigitsMax) {
			return false
		}
		at.pos, at.end, at.plain = p.tok.pos, p.tok.end, p.tok.plain
		r.places = append(r.places, at)
		p.next()
		if p.tok.kind == tComma {
			p.next()
			continue
		}
		return p.accept(tRParen)
	}
}

// intDigitsMax is the number of digits that a negative integer may have to be one of 64 bits for certain.
const intDigitsMax = 18

// noteBits notes that value i is a hex or bit literal.
func (r *LiteralRows) noteBits(i int) {
	if r.Width > 0 {
		i %= r.Width
	}
	for len(r.bits) <= max(i, r.Width-1) {
		r.bits = append(r.bits, false)
	}
	r.bits[i] = true
}
