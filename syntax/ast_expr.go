package syntax

// LiteralKind is the kind of a literal.
type LiteralKind uint8

// The literal kinds. LitInt is decimal digits without sign; LitDecimal has a
// decimal point; LitFloat an exponent.
const (
	LitInt LiteralKind = iota
	LitDecimal
	LitFloat
	LitString
	LitNString // N'x'
	LitHex     // x'41' or 0x41; Value holds the digits.
	LitBit     // b'01' or 0b01; Value holds the digits.
	LitNull
	LitTrue
	LitFalse
	LitDate      // DATE '...'
	LitTime      // TIME '...'
	LitTimestamp // TIMESTAMP '...'
)

// Literal is a constant. Value is the decoded text of strings (a slice of the
// statement when it holds no escapes) and the digits of numbers. Numbers never
// carry a sign: -1 is Unary{Neg, Literal}.
type Literal struct {
	Pos   Pos
	End   Pos // One past the literal's last byte.
	Kind  LiteralKind
	Head  int32 // One more than the length of the first of adjacent strings, which are one; 0 for a single string.
	Value string
}

// Name is the text by which MySQL calls a string in a select list: its first part.
func (l *Literal) Name() string {
	if l.Head > 0 {
		return l.Value[:l.Head-1]
	}
	return l.Value
}

// Introduced is a string, hex or bit literal with a character set: _utf8mb4'x'.
type Introduced struct {
	Pos     Pos
	Charset string // Without the underscore.
	Lit     *Literal
}

// Param is a placeholder; Ordinal counts from 0 in textual order.
type Param struct {
	Pos     Pos
	Ordinal int32
}

// ColumnRef is a column name, or a local variable in a stored program. Schema
// and Table are empty when not given.
type ColumnRef struct {
	Pos    Pos
	Schema string
	Table  string
	Column string
}

// Star is * or t.* or s.t.* in a select list, and the argument of COUNT(*).
type Star struct {
	Pos    Pos
	Schema string
	Table  string
}

// UserVariable is @name, or an assignment @name := Value.
type UserVariable struct {
	Pos   Pos
	Name  string
	Value Expr // nil unless := was written.
}

// VarScope is the scope written before a system variable.
type VarScope uint8

// ScopeDefault means that none was written.
const (
	ScopeDefault VarScope = iota
	ScopeGlobal
	ScopeSession
	ScopeLocal // Means the same as ScopeSession.
	ScopePersist
	ScopePersistOnly
)

// SystemVariable is @@[scope.][prefix.]name. Prefix is the first part of a
// structured variable such as @@hot.key_buffer_size.
type SystemVariable struct {
	Pos    Pos
	Scope  VarScope
	Prefix string
	Name   string
}

// UnaryOp is a prefix operator.
type UnaryOp uint8

// The prefix operators. OpNot is NOT, OpBang is !, which binds tighter, and NOT under HIGH_NOT_PRECEDENCE.
const (
	OpNeg UnaryOp = iota
	OpPlus
	OpBitNot
	OpNot
	OpBang
	OpBinary // BINARY expr
)

// Unary is a prefix operator applied to an expression.
type Unary struct {
	Pos Pos
	Op  UnaryOp
	X   Expr
}

// BinaryOp is an infix operator.
type BinaryOp uint8

// The infix operators. OpConcat is || under PIPES_AS_CONCAT; it is printed as the function, whose meaning no mode changes.
const (
	OpAnd BinaryOp = iota
	OpOr
	OpXor
	OpEq
	OpNullSafeEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpIntDiv
	OpMod
	OpBitAnd
	OpBitOr
	OpBitXor
	OpShiftLeft
	OpShiftRight
	OpConcat
	OpSoundsLike
	OpMemberOf
	OpJSONExtract        // column -> path
	OpJSONUnquoteExtract // column ->> path
)

// Binary is an infix operator applied to two expressions.
type Binary struct {
	OpPos Pos
	Op    BinaryOp
	L     Expr
	R     Expr
}

// QuantCompare is expr op ANY|SOME|ALL (subquery).
type QuantCompare struct {
	OpPos Pos
	Op    BinaryOp
	Quant string // ANY, SOME or ALL.
	L     Expr
	Query *Subquery
}

// IsTest is expr IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
type IsTest struct {
	X    Expr
	Not  bool
	Test IsKind
}

// IsKind is what IS tests for.
type IsKind uint8

// The tests of IS.
const (
	IsNull IsKind = iota
	IsTrue
	IsFalse
	IsUnknown
)

// In is expr [NOT] IN (list) or (subquery). Exactly one of List and Query is set.
type In struct {
	X     Expr
	Not   bool
	List  []Expr
	Query *Subquery
}

// Between is expr [NOT] BETWEEN Lo AND Hi.
type Between struct {
	X   Expr
	Not bool
	Lo  Expr
	Hi  Expr
}

// Like is expr [NOT] LIKE pattern [ESCAPE c].
type Like struct {
	X       Expr
	Not     bool
	Pattern Expr
	Escape  Expr
}

// Regexp is expr [NOT] REGEXP|RLIKE pattern.
type Regexp struct {
	X       Expr
	Not     bool
	Pattern Expr
	RLike   bool // The word RLIKE was written.
}

// Case is CASE [Operand] WHEN ... THEN ... [ELSE ...] END.
type Case struct {
	Pos     Pos
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one branch of Case.
type When struct {
	Cond Expr
	Then Expr
}

// Cast is CAST(X AS Type [ARRAY]), CONVERT(X, Type), or
// CAST(X AT TIME ZONE zone AS Type).
type Cast struct {
	Pos          Pos
	X            Expr
	Type         DataType
	Array        bool
	Convert      bool // Written CONVERT(X, Type).
	TimeZone     Expr // nil unless AT TIME ZONE was written.
	ZoneInterval bool // AT TIME ZONE INTERVAL '...'.
}

// ConvertUsing is CONVERT(X USING Charset).
type ConvertUsing struct {
	Pos     Pos
	X       Expr
	Charset string
}

// Collate is X COLLATE Collation.
type Collate struct {
	X         Expr
	Collation string
	CollPos   Pos
}

// Interval is INTERVAL Value Unit, legal as an operand of + and - and as an
// argument of date functions.
type Interval struct {
	Pos   Pos
	Value Expr
	Unit  string // Upper case: DAY, HOUR_MINUTE, SQL_TSI_DAY...
}

// CallSyntax is the way the arguments of a FuncCall were written.
type CallSyntax uint8

// The special argument syntaxes. Args are in the same order as in the plain
// call of the same function, except for CallIn.
const (
	CallPlain   CallSyntax = iota
	CallNoParen            // CURRENT_TIMESTAMP, CURRENT_USER, UTC_DATE...
	CallFromFor            // SUBSTRING(a FROM b [FOR c])
	CallIn                 // POSITION(a IN b): Args are a, b.
	CallUsing              // CHAR(1, 2 USING Charset)
	CallUnit               // TIMESTAMPADD/TIMESTAMPDIFF(unit, ...), GET_FORMAT(DATE, ...): Unit is the word.
	CallExtract            // EXTRACT(Unit FROM Args[0])
	CallODBC               // {fn name(...)} and {d '...'} wrap as written.
)

// FuncCall is a call of a function that is neither an aggregate nor a window
// function. Name is as written.
type FuncCall struct {
	Pos     Pos
	End     Pos
	Schema  string
	Name    string
	Args    []Expr
	Syntax  CallSyntax
	Unit    string // For CallUnit and CallExtract, upper case.
	Charset string // For CallUsing.
	// Stored says that the name cannot be a built-in function's: it was quoted,
	// or space separated a name such as COUNT from its parenthesis.
	Stored bool
	// Aliased says that an argument had an alias. No function of Pando takes any, so binding refuses the call, and the tree does not hold the aliases.
	Aliased bool
}

// Trim is TRIM([LEADING|TRAILING|BOTH] [Remove] FROM X) and TRIM(X).
type Trim struct {
	Pos    Pos
	Side   string // LEADING, TRAILING, BOTH or empty.
	Remove Expr
	X      Expr
}

// WeightString is WEIGHT_STRING(X [AS CHAR|BINARY(n)]).
type WeightString struct {
	Pos  Pos
	X    Expr
	As   string // CHAR, BINARY or empty.
	N    Expr
	Rest []Expr // The internal three-number form.
}

// JSONValue is JSON_VALUE(doc, path [RETURNING type] [ON EMPTY] [ON ERROR]).
type JSONValue struct {
	Pos       Pos
	Doc       Expr
	Path      Expr
	Returning *DataType
	OnEmpty   *JSONOnClause
	OnError   *JSONOnClause
}

// AggCall is a call of an aggregate function, possibly with OVER: COUNT, SUM, MIN,
// MAX, AVG, BIT_AND, BIT_OR, BIT_XOR, GROUP_CONCAT, JSON_ARRAYAGG, JSON_OBJECTAGG,
// STD*, VAR*, ST_COLLECT. ANY_VALUE is a FuncCall. Name is upper case.
type AggCall struct {
	Pos          Pos
	End          Pos
	Name         string
	Distinct     bool
	All          bool // The word ALL was written.
	Args         []Expr
	OrderBy      []OrderItem // GROUP_CONCAT only.
	Separator    string
	HasSeparator bool
	Over         *Over
}

// WindowCall is ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE,
// LAG, LEAD, FIRST_VALUE, LAST_VALUE or NTH_VALUE. Name is upper case.
type WindowCall struct {
	Pos       Pos
	Name      string
	Args      []Expr
	FromFirst bool   // FROM FIRST was written.
	FromLast  bool   // FROM LAST was written.
	Nulls     string // RESPECT, IGNORE or empty.
	Over      *Over
}

// Subquery is a parenthesised query as an expression.
type Subquery struct {
	Pos   Pos
	Query *Query
}

// Exists is EXISTS (subquery).
type Exists struct {
	Pos   Pos
	Query *Subquery
}

// Row is (a, b, ...) with two or more elements, or ROW(...).
type Row struct {
	Pos      Pos
	Explicit bool // The word ROW was written.
	Elems    []Expr
}

// Paren is a parenthesised expression. The tree keeps it so that the printer does
// not have to derive parentheses from precedence; binding skips it.
type Paren struct {
	Pos Pos
	X   Expr
}

// Match is MATCH (columns) AGAINST (expr [modifier]).
type Match struct {
	Pos      Pos
	Columns  []Expr
	Parens   bool
	Against  Expr
	Modifier string // Upper case words, such as IN BOOLEAN MODE; empty when absent.
}

// ValuesFunc is VALUES(col) in ON DUPLICATE KEY UPDATE.
type ValuesFunc struct {
	Pos    Pos
	Column *ColumnRef
}

// Default is DEFAULT or DEFAULT(col).
type Default struct {
	Pos    Pos
	Column *ColumnRef // nil for the bare word.
}

func (*Literal) node()        {}
func (*Introduced) node()     {}
func (*Param) node()          {}
func (*ColumnRef) node()      {}
func (*Star) node()           {}
func (*UserVariable) node()   {}
func (*SystemVariable) node() {}
func (*Unary) node()          {}
func (*Binary) node()         {}
func (*QuantCompare) node()   {}
func (*IsTest) node()         {}
func (*In) node()             {}
func (*Between) node()        {}
func (*Like) node()           {}
func (*Regexp) node()         {}
func (*Case) node()           {}
func (*Cast) node()           {}
func (*ConvertUsing) node()   {}
func (*Collate) node()        {}
func (*Interval) node()       {}
func (*FuncCall) node()       {}
func (*Trim) node()           {}
func (*WeightString) node()   {}
func (*JSONValue) node()      {}
func (*AggCall) node()        {}
func (*WindowCall) node()     {}
func (*Subquery) node()       {}
func (*Exists) node()         {}
func (*Row) node()            {}
func (*Paren) node()          {}
func (*Match) node()          {}
func (*ValuesFunc) node()     {}
func (*Default) node()        {}
