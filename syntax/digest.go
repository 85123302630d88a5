package syntax

import (
	"crypto/sha256"
	"strings"
)

// digestTextMax bounds the text of a digest, like max_digest_length.
const digestTextMax = 1024

// digestItem is a piece of a digest's text that may still be reduced.
type digestItem struct {
	kind  digestKind
	start int
}

// digestKind is the class of a piece.
type digestKind uint8

const (
	digestOther  digestKind = iota
	digestOpen              // (
	digestClose             // )
	digestComma             // ,
	digestSign              // + or -
	digestName              // An identifier, after which a sign is an operator.
	digestValue             // ?
	digestValues            // ?, ...
	digestRow               // (?) or (...)
	digestRows              // (...) /* , ... */
)

// digester builds the text, reducing as it goes.
type digester struct {
	buf   []byte
	items []digestItem
}

// Digest returns the statement's shape in the manner of performance_schema:
// the words of MySQL's grammar in upper case, names in backquotes, literals as ?, lists of
// literals as (...), and lists of rows as (...) /* , ... */. hash is the
// SHA-256 of the text. The text ends at 1,024 bytes, or at a lexical error.
func Digest(sql string, opt Options) (text string, hash [32]byte) {
	var l lexer
	l.init(sql, &opt)
	d := digester{buf: make([]byte, 0, 256), items: make([]digestItem, 0, 64)}
	for len(d.buf) < digestTextMax {
		t := l.next()
		if t.kind == tEOF || t.kind == tIllegal {
			break
		}
		d.token(sql, t)
	}
	if n := len(d.buf); n > 2 && string(d.buf[n-2:]) == " ;" {
		d.buf = d.buf[:n-2]
	}
	return string(d.buf), sha256.Sum256(d.buf)
}

// push appends a piece.
func (d *digester) push(kind digestKind, text string) {
	d.items = append(d.items, digestItem{kind, len(d.buf)})
	if len(d.buf) > 0 {
		d.buf = append(d.buf, ' ')
	}
	if len(text) > digestTextMax {
		text = strings.ToValidUTF8(text[:digestTextMax], "")
	}
	d.buf = append(d.buf, text...)
}

// pop removes the last n pieces.
func (d *digester) pop(n int) {
	k := len(d.items) - n
	d.buf = d.buf[:d.items[k].start]
	d.items = d.items[:k]
}

// last returns the kind of the piece i from the end, 1 being the last.
func (d *digester) last(i int) digestKind {
	if len(d.items) < i {
		return digestOther
	}
	return d.items[len(d.items)-i].kind
}

// token appends a token.
func (d *digester) token(sql string, t token) {
	text := sql[t.pos:t.end]
	if len(text) > digestTextMax && (t.kind == tWord || t.kind == tQuoted) { // no valid name is that long; quoting would copy all of it
		d.push(digestName, text)
		return
	}
	switch t.kind {
	case tInt, tDecimal, tFloat, tString, tNString, tHex, tBit, tParam:
		d.value()
	case tWord:
		switch {
		case t.kw == kwNull:
			d.value()
		case t.kw != kwNone:
			d.push(digestOther, sameWord(keywordNames[t.kw]))
		default:
			word := digestWord(sql, t)
			if word == "" {
				word = string(appendQuoted(nil, text))
			}
			d.push(digestName, word)
		}
	case tQuoted:
		d.push(digestName, string(appendQuoted(nil, quotedName(sql, t, 0))))
	case tHint:
	case tLParen:
		d.push(digestOpen, text)
	case tRParen:
		d.close()
	case tComma:
		d.push(digestComma, text)
	case tPlus, tMinus:
		d.push(digestSign, text)
	default:
		d.push(digestOther, text)
	}
}

// value appends a literal, folding a sign into it and a list into one piece.
func (d *digester) value() {
	for d.last(1) == digestSign {
		switch d.last(2) {
		case digestName, digestClose, digestValue, digestRow:
		default:
			d.pop(1)
			continue
		}
		break
	}
	if d.last(1) == digestComma && (d.last(2) == digestValue || d.last(2) == digestValues) {
		d.pop(2)
		d.push(digestValues, "...")
		return
	}
	d.push(digestValue, "?")
}

// close appends a closing parenthesis, reducing (?, ...) and lists of rows.
func (d *digester) close() {
	kind := d.last(1)
	if d.last(2) != digestOpen || kind != digestValue && kind != digestValues {
		d.push(digestClose, ")")
		return
	}
	row := "(...)"
	if kind == digestValue {
		row = "(?)"
	}
	d.pop(2)
	if d.last(1) == digestComma && (d.last(2) == digestRow || d.last(2) == digestRows) {
		if d.last(2) == digestRows {
			d.pop(1)
			return
		}
		d.pop(1)
		d.push(digestRows, "/* , ... */")
		return
	}
	d.push(digestRow, row)
}
