package syntax

import "unsafe"

const (
	// literalTextMin is the length in bytes from which the text of a VALUES list is tried as LiteralRows.
	literalTextMin = 1 << 10
	// literalRowsGuessMax bounds the rows for which memory is allocated in advance, by the length of the first row.
	literalRowsGuessMax = 64 << 10
)

// LiteralRows are the rows of a long VALUES list that consists of literals alone. A statement of a bulk load has some hundred thousand literals, and
// making a node for each would cost more than storing the value, so this holds only their positions in the statement's text. All rows have Width
// values. It is immutable after parsing.
type LiteralRows struct {
	Width int

	text    string
	escapes escapes
	bits    []bool // by column: its values include a hex or bit literal; nil if none does
	places  []literalPlace
}

// literalPlace is the position of a literal in the text, without its sign.
type literalPlace struct {
	pos, end int32
	kind     LiteralKind
	plain    bool // see token.plain
	negative bool
}

// literalPlaceBytes is the memory for each literal.
const literalPlaceBytes = int64(unsafe.Sizeof(literalPlace{}))

// Rows returns the number of rows.
func (r *LiteralRows) Rows() int { return len(r.places) / r.Width }

// HasBits reports whether the values of column i of the list include a hex or bit literal.
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
		lit.Value = stringValue(r.text, t, 0, r.escapes)
	case LitNString:
		lit.Value = stringValue(r.text, t, 1, r.escapes)
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

// literalRows parses the VALUES list at the current token if its text is long and it consists of rows of literals, all of one width. Otherwise it
// returns nil with the parser's position unchanged.
func (p *parser) literalRows() *LiteralRows {
	if len(p.sql)-int(p.tok.pos) < literalTextMin {
		return nil
	}
	start := p.mark()
	r := &LiteralRows{text: p.sql, escapes: p.lex.escapes}
	counted := 0 // places that were reported to the Budget
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

// intDigitsMax is the largest number of digits with which every negative integer fits 64 bits.
const intDigitsMax = 18

// noteBits records in bits that the i-th value is a hex or bit literal.
func (r *LiteralRows) noteBits(i int) {
	if r.Width > 0 {
		i %= r.Width
	}
	for len(r.bits) <= max(i, r.Width-1) {
		r.bits = append(r.bits, false)
	}
	r.bits[i] = true
}
