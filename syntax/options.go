package syntax

// Options are the session settings that change the meaning of text. The zero
// value is MySQL's default sql_mode with comments of every version ignored;
// sessions set ServerVersion.
type Options struct {
	ANSIQuotes         bool // "x" is an identifier.
	PipesAsConcat      bool // || concatenates instead of meaning OR.
	NoBackslashEscapes bool // \ is an ordinary character in strings.
	HighNotPrecedence  bool // NOT binds like !.
	RealAsFloat        bool // REAL is FLOAT instead of DOUBLE.
	IgnoreSpace        bool // Built-in function names may be followed by space.
	NoParams           bool // A ? is a syntax error: the text is not that of a prepared statement.
	// ServerVersion decides which /*!NNNNN comments are code: those whose number
	// is not above it, for instance 80036. Zero means DefaultServerVersion.
	ServerVersion int
	// Names converts the bytes of an identifier that has others than ASCII into UTF-8; nil if the text is UTF-8.
	Names func(raw string) string
	// Wide returns the bytes of the character at the start of a text that is not empty, in a character set in which a character may end with a
	// backslash, a quote or a letter: 1 for a byte that begins none of several bytes. nil if the text is in another set.
	Wide func(text string) int
	// Strings may change each string literal as it is read; introduced says that it has an introducer. nil leaves them.
	Strings func(lit *Literal, introduced bool)
	// Notices collects the warnings about the text itself, of deprecated syntax; nil collects none. A text that fails to parse may leave some, too.
	Notices *[]Notice
	// Budget bounds memory and time; nil means that only the limits below apply.
	Budget *Budget
}

// DefaultServerVersion is assumed when Options.ServerVersion is zero.
const DefaultServerVersion = 80036

// Limits of the parser. Each is far above what clients send and low enough
// that no text can exhaust the goroutine's stack, which Go cannot recover from.
const (
	// nestingMax bounds parentheses, subqueries, CASE and blocks within one another.
	nestingMax = 1000
	// chainFree is the number of operators in one left-deep chain (a + b + c)
	// that costs nothing; each one beyond counts towards chainMax, summed over the
	// statement. Together with nestingMax this bounds the depth of a tree.
	chainFree = 8
	chainMax  = 100_000
	// identCharsMax and aliasCharsMax are MySQL's limits on names.
	identCharsMax = 64
	aliasCharsMax = 256
	// paramsMax is MySQL's limit on placeholders, set by 16 bits on the wire.
	paramsMax = 65535
)
