package syntax

import (
	"math"
	"strconv"
)

// Limits of Normalize. The plan of a statement beyond them is not cached: the
// statement is too large or too rare.
const (
	liftedMax       = 4096    // Lifted literals of one statement.
	liftedProbe     = 256     // After so many Normalize estimates whether all will stay below liftedMax.
	normalDepthMax  = 24      // Nesting of parentheses.
	normalTextMax   = 1 << 20 // Length of the text without its literals.
	liftedIntDigits = 18      // Longer integers may not fit BIGINT; they stay in the text.
)

// LiftedKind is the kind of a lifted literal.
type LiftedKind uint8

// The kinds of lifted literals. Kinds belong to the key of a plan cache, since
// they decide types.
const (
	LiftedInt LiftedKind = iota
	LiftedDecimal
	LiftedFloat
	LiftedString
)

// Lifted is a literal that Normalize replaced by a question mark. A sign before
// it stays in the text.
type Lifted struct {
	Kind  LiftedKind
	Limit bool // It stands in LIMIT.
	plain bool
	Start Pos // Its span in the source.
	End   Pos
}

// Normalized is the result of Normalize. It may be reused; its buffers grow to
// the largest statement seen.
type Normalized struct {
	// Text is the statement with ? for each lifted literal, comments dropped
	// and white space between tokens reduced to one space, except within select
	// lists. It is otherwise the source byte for byte, so that equal texts mean
	// equal trees and equal column names.
	Text     []byte
	Literals []Lifted

	source  string
	escapes escapes
}

// SourceBytes returns the length in bytes of the statement, whose text n refers to.
func (n *Normalized) SourceBytes() int { return len(n.source) }

// Value returns the text of the i-th literal: the digits of a number, or the
// decoded content of a string, which allocates only if it holds escapes.
func (n *Normalized) Value(i int) string {
	l := &n.Literals[i]
	if l.Kind != LiftedString {
		return n.source[l.Start:l.End]
	}
	return stringValue(n.source, token{pos: int32(l.Start), end: int32(l.End), plain: l.plain}, 0, n.escapes)
}

// normalFrame is what Normalize knows about one level of parentheses.
type normalFrame struct {
	query bool // SELECT was seen at this level: its clause words count.
	keep  bool // Literals of this level and below stay in the text.
	// pinned says that keep was inherited and no clause word may end it.
	pinned bool
	limit  bool // The level is within LIMIT.
	// interval says that INTERVAL awaits its unit.
	interval bool
}

// normalizer is the state of one Normalize call.
type normalizer struct {
	l      lexer
	out    *Normalized
	verb   keyword
	prev   token
	copied int // The source up to here is in Text.
	depth  int
	frames [normalDepthMax]normalFrame
}

// Normalize lifts the literals out of a SELECT, INSERT, REPLACE, UPDATE or
// DELETE for the shared plan cache. It works on tokens alone and returns false
// for everything it does not understand: other verbs, several statements,
// placeholders, INTO in SELECT, JSON_TABLE, adjacent strings, lexical errors,
// and sizes beyond the limits above, or that would exceed liftedMax if the
// literals are as dense in the rest of the text as among the first liftedProbe.
// out refers to sql afterwards.
//
// A literal is lifted only where neither its value nor its type can change the
// shape of the plan or its metadata. These stay in the text:
//
//  1. those of a select list, subqueries in it included: they decide column
//     names and types;
//  2. those of GROUP BY, ORDER BY and WINDOW: a number is a position there;
//  3. the arguments of functions, CAST and CONVERT, and what follows AS in
//     parentheses: scales, lengths, formats, JSON paths, units;
//  4. what follows INTERVAL up to its unit;
//  5. the pattern of LIKE and REGEXP, whose prefix decides on index ranges;
//  6. the path after -> and ->>;
//  7. strings after an ordinary word: introducers (_utf8mb4'x'), DATE '...',
//     ESCAPE 'x', aliases; and literals before COLLATE;
//  8. NULL, TRUE, FALSE, hex, bit and N'...' literals;
//  9. integers of more than 18 digits, whose type depends on their value.
//
// Literals of LIMIT are lifted and flagged.
func Normalize(sql string, opt Options, out *Normalized) bool {
	out.Text, out.Literals = out.Text[:0], out.Literals[:0]
	out.source, out.escapes = sql, opt.escapes()
	var n normalizer
	n.out = out
	n.l.init(sql, &opt)
	return n.run()
}

// run consumes all tokens.
func (n *normalizer) run() bool {
	t := n.l.next()
	switch t.kw {
	case kwSelect, kwInsert, kwReplace, kwUpdate, kwDelete:
		n.verb = t.kw
	default:
		return false
	}
	n.copied = int(t.pos)
	n.frames[0].query = true
	for {
		ok := true
		switch t.kind {
		case tWord:
			if t.kw != kwNone {
				ok = n.keyword(&t)
			} else if n.frames[n.depth].interval {
				n.intervalWord(&t)
			}
		case tInt, tDecimal, tFloat, tString:
			ok = n.literal(&t)
		case tLParen:
			ok = n.open()
		case tRParen:
			n.depth--
			ok = n.depth >= 0
		case tEOF, tSemi:
			return n.end(&t)
		case tIllegal, tParam:
			return false
		}
		if !ok {
			return false
		}
		n.prev = t
		t = n.l.next()
		if t.spaced && !n.space(&t) {
			return false
		}
	}
}

// space reduces the gap before t to one space. Most gaps are one space already and
// are copied together with the text around them. Where literals stay in the text, so
// does white space, because it is part of column names; a comment there makes
// Normalize return false, unless it is before or after the list.
func (n *normalizer) space(t *token) bool {
	gap := int(n.prev.end)
	if int(t.pos) == gap+1 && n.l.text[gap] == ' ' {
		return true
	}
	if n.frames[n.depth].keep && n.prev.kw != kwSelect && t.kw != kwFrom && t.kind != tEOF && t.kind != tSemi {
		for _, c := range []byte(n.l.text[gap:t.pos]) {
			if charClass[c]&classSpace == 0 {
				return false
			}
		}
		return true
	}
	if gap > n.copied && !n.copy(gap) {
		return false
	}
	n.out.Text = append(n.out.Text, ' ')
	n.copied = int(t.pos)
	return true
}

// copy appends the source up to a position to the text; it returns false beyond normalTextMax.
func (n *normalizer) copy(end int) bool {
	if len(n.out.Text)+end-n.copied > normalTextMax {
		return false
	}
	n.out.Text = append(n.out.Text, n.l.text[n.copied:end]...)
	return true
}

// end finishes at the end of the text, or at a final semicolon.
func (n *normalizer) end(t *token) bool {
	if n.depth != 0 {
		return false
	}
	if end := int(n.prev.end); end > n.copied && !n.copy(end) {
		return false
	}
	if k := len(n.out.Text); k > 0 && n.out.Text[k-1] == ' ' {
		n.out.Text = n.out.Text[:k-1]
	}
	if t.kind == tSemi {
		rest := n.l.next()
		return rest.kind == tEOF
	}
	return true
}

// open enters a parenthesis.
func (n *normalizer) open() bool {
	if n.depth+1 >= normalDepthMax {
		return false
	}
	f := &n.frames[n.depth]
	n.depth++
	child := &n.frames[n.depth]
	*child = normalFrame{keep: f.keep || f.interval || n.callsBefore()}
	child.pinned = child.keep
	return true
}

// callsBefore reports whether the word before a parenthesis makes it the
// arguments of a function or of something else that literals belong to.
func (n *normalizer) callsBefore() bool {
	t := &n.prev
	switch t.kind {
	case tQuoted:
		return true
	case tWord:
	default:
		return false
	}
	switch t.kw {
	case kwNone:
		return !foldEqual(n.l.text[t.pos:t.end], "VALUE")
	case kwIn, kwValues, kwRow, kwAnd, kwOr, kwXor, kwNot, kwOn, kwWhere, kwHaving, kwWhen, kwThen, kwElse,
		kwCase, kwBetween, kwFrom, kwJoin, kwExists, kwAll, kwUnion, kwExcept, kwIntersect, kwDiv, kwSet,
		kwSelect, kwLateral, kwIs, kwAs, kwDistinct:
		return false
	}
	return true
}

// literal lifts a literal or leaves it in the text.
func (n *normalizer) literal(t *token) bool {
	p := &n.prev
	f := &n.frames[n.depth]
	if t.kind == tString && p.kind == tString {
		return false // Adjacent strings are one literal.
	}
	if f.keep || f.interval {
		return true
	}
	switch p.kind {
	case tWord:
		switch p.kw {
		case kwNone:
			if !f.limit {
				return true // Rule 7; but OFFSET is such a word.
			}
		case kwLike, kwRegexp, kwRlike, kwCollate:
			return true
		}
	case tQuoted, tArrow, tDoubleArrow, tHex, tBit, tNString:
		return true
	}
	if t.kind == tInt && t.end-t.pos > liftedIntDigits {
		return true
	}
	if f.limit && t.kind != tInt || len(n.out.Literals) == liftedMax {
		return false
	}
	// Without this estimate a bulk INSERT would be read up to literal number liftedMax in vain: up to half the work of parsing it.
	if len(n.out.Literals) == liftedProbe && int(t.pos)*(liftedMax/liftedProbe) < len(n.l.text) {
		return false
	}
	if !n.copy(int(t.pos)) {
		return false
	}
	n.out.Text = append(n.out.Text, '?')
	n.copied = int(t.end)
	kind := LiftedInt
	switch t.kind {
	case tDecimal:
		kind = LiftedDecimal
	case tFloat:
		kind = LiftedFloat
		if v, err := strconv.ParseFloat(n.l.text[t.pos:t.end], 64); err != nil && math.IsInf(v, 0) {
			return false // the number is too large: parsing the unchanged text gives error 1367
		}
	case tString:
		kind = LiftedString
	}
	n.out.Literals = append(n.out.Literals, Lifted{
		Kind: kind, Limit: f.limit, plain: t.plain, Start: Pos(t.pos), End: Pos(t.end),
	})
	return true
}

// unlift puts the literal just lifted back into the text.
func (n *normalizer) unlift() {
	k := len(n.out.Literals)
	if k == 0 || n.out.Literals[k-1].End != Pos(n.prev.end) {
		return
	}
	last := &n.out.Literals[k-1]
	// The question mark is the last byte, or a space was added after it.
	for n.out.Text[len(n.out.Text)-1] != '?' {
		n.out.Text = n.out.Text[:len(n.out.Text)-1]
	}
	n.out.Text = append(n.out.Text[:len(n.out.Text)-1], n.l.text[last.Start:last.End]...)
	if n.copied != int(n.prev.end) {
		n.out.Text = append(n.out.Text, ' ')
	}
	n.out.Literals = n.out.Literals[:k-1]
}

// keyword keeps track of the clauses of the statement.
func (n *normalizer) keyword(t *token) bool {
	f := &n.frames[n.depth]
	switch t.kw {
	case kwSelect:
		f.query, f.limit = true, false
		f.keep = true
	case kwFrom, kwWhere, kwHaving, kwOn, kwSet, kwValues:
		if f.query {
			f.keep, f.limit = f.pinned, false
		}
	case kwGroup, kwOrder, kwWindow:
		if f.query || !f.pinned {
			f.keep, f.limit = true, false
		}
	case kwLimit:
		f.limit, f.keep = true, f.pinned
	case kwFor, kwLock, kwUnion, kwExcept, kwIntersect:
		f.limit = false
	case kwInto:
		return n.verb != kwSelect
	case kwJsonTable, kwWith, kwProcedure, kwTable:
		return false
	case kwAs:
		if !f.query {
			f.keep, f.pinned = true, true
		}
	case kwInterval:
		f.interval = true
	case kwCollate:
		n.unlift()
	}
	if f.interval && t.kw != kwInterval {
		n.intervalWord(t)
	}
	return true
}

// intervalWord ends an interval at its unit.
func (n *normalizer) intervalWord(t *token) {
	word := n.l.text[t.pos:t.end]
	for _, unit := range intervalUnits {
		if foldEqual(word, unit) {
			n.frames[n.depth].interval = false
			return
		}
	}
}
