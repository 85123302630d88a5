package syntax

// tokenKind is the lexical class of a token.
type tokenKind uint8

// The token kinds. Single-character punctuation has kinds of its own so that
// the parser's switches need not look at the text.
const (
	tEOF     tokenKind = iota
	tIllegal           // A byte, or an unterminated string or comment, that begins no token.
	tWord              // An unquoted word; kw tells reserved words.
	tQuoted            // `x`, or "x" under ANSI_QUOTES.
	tInt
	tDecimal
	tFloat
	tString
	tNString
	tHex
	tBit
	tParam   // ?
	tUserVar // @name, @'name', or a bare @
	tAtAt    // @@
	tHint    // /*+ ... */ after a verb that takes hints
	tLParen
	tRParen
	tComma
	tSemi
	tDot
	tStar
	tPlus
	tMinus
	tSlash
	tPercent
	tAmp
	tPipe
	tCaret
	tTilde
	tBang
	tEq
	tLt
	tGt
	tLe
	tGe
	tNe
	tNullSafeEq
	tShl
	tShr
	tAndAnd
	tOrOr
	tAssign // :=
	tColon
	tArrow       // ->
	tDoubleArrow // ->>
	tLBrace
	tRBrace
)

// token is a slice of the statement: text[pos:end].
type token struct {
	kind tokenKind
	// spaced says that white space or a comment preceded the token.
	spaced bool
	// plain says that a quoted token holds no escapes: its value is its text
	// without the quotes.
	plain bool
	kw    keyword
	pos   int32
	end   int32
}

// Character classes for the lexer's inner loops.
const (
	classIdent uint8 = 1 << iota // May continue an unquoted identifier.
	classDigit
	classSpace
	classHex
)

var charClass = buildCharClass()

func buildCharClass() (t [256]uint8) {
	for c := 0; c < 256; c++ {
		switch {
		case c >= '0' && c <= '9':
			t[c] = classIdent | classDigit | classHex
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			t[c] = classIdent | classHex
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$', c >= 0x80:
			t[c] = classIdent
		case c == ' ', c >= '\t' && c <= '\r':
			t[c] = classSpace
		}
	}
	return t
}
