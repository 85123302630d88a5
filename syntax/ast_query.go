package syntax

// Query is a complete query expression; it is a statement, and the content of
// subqueries, views, CTEs and INSERT ... SELECT. A Query used as QueryBody is
// printed in parentheses.
type Query struct {
	Pos     Pos
	With    *With
	Body    QueryBody
	OrderBy []OrderItem
	Limit   *Limit
	Locks   []LockClause
	Into    *Into
	// IntoPlace records where INTO stood, because MySQL
	// accepts three places and the printer must give back the same tokens.
	IntoPlace IntoPlace
}

// IntoPlace is the position of the INTO clause within a query.
type IntoPlace uint8

// The places of INTO: at the end, before FROM, or before the locking clause.
const (
	IntoAtEnd IntoPlace = iota
	IntoBeforeFrom
	IntoBeforeLock
	// IntoBeforeSetOp is not a legal position; the binder reports it.
	IntoBeforeSetOp
)

// Select is one query block.
type Select struct {
	Pos         Pos
	Hints       string // Text between /*+ and */, untrimmed; empty when absent.
	Distinct    DistinctKind
	DistinctRow bool // Written DISTINCTROW.
	Options     SelectOption
	Items       []SelectItem
	From        TableExpr // nil without FROM; commas become Join{Kind: JoinComma}.
	FromDual    bool      // FROM DUAL, in which case From is nil.
	Where       Expr
	GroupBy     []OrderItem
	WithRollup  bool
	RollupFunc  bool // Written GROUP BY ROLLUP(...), 8.0.31's other spelling.
	Having      Expr
	Windows     []NamedWindow
}

// DistinctKind is the duplicate treatment of a query block or set operation.
type DistinctKind uint8

// DistinctDefault means that neither word was written.
const (
	DistinctDefault DistinctKind = iota
	DistinctAll
	Distinct
)

// SelectOption is a set of the words that may follow SELECT.
type SelectOption uint16

// The options of SELECT, as bits.
const (
	SelectHighPriority SelectOption = 1 << iota
	SelectStraightJoin
	SelectSmallResult
	SelectBigResult
	SelectBufferResult
	SelectNoCache
	SelectCache
	SelectCalcFoundRows
)

// SelectItem is one element of the select list. The column's default name is
// the statement's text from Start to End (exclusive).
type SelectItem struct {
	Expr     Expr // *Star for * and t.*.
	Alias    string
	HasAlias bool // An empty alias '' is legal, hence the flag.
	Start    Pos
	End      Pos
	AliasPos Pos
}

// OrderItem is one element of ORDER BY or GROUP BY.
type OrderItem struct {
	Expr  Expr
	Order Direction
}

// Direction is the sort direction of a key.
type Direction uint8

// OrderDefault means that nothing was written, which sorts as ASC.
const (
	OrderDefault Direction = iota
	OrderAsc
	OrderDesc
)

// Limit is LIMIT [Offset,] Count or LIMIT Count OFFSET Offset. Both are
// literals, parameters or (in stored programs) column references.
type Limit struct {
	Count  Expr
	Offset Expr // nil when absent.
	Comma  bool // The offset was written first, with a comma.
}

// LockClause is FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE.
type LockClause struct {
	Kind LockKind
	Of   []ObjectName
	Wait LockWait
}

// LockKind is the strength and spelling of a locking read.
type LockKind uint8

// LockInShareMode means the same as LockForShare.
const (
	LockForUpdate LockKind = iota
	LockForShare
	LockInShareMode
)

// LockWait says what to do about rows locked by others.
type LockWait uint8

// The wait policies of a locking read.
const (
	LockWaitDefault LockWait = iota
	LockNoWait
	LockSkipLocked
)

// Into is SELECT ... INTO.
type Into struct {
	Pos     Pos
	Vars    []VarTarget
	File    string // OUTFILE or DUMPFILE.
	IsFile  bool
	Dump    bool
	Charset string
	Format  *FileFormat
}

// FileFormat is the FIELDS and LINES part of INTO OUTFILE and LOAD DATA, its
// clauses in the order written.
type FileFormat struct {
	Fields      []FileFormatClause
	FieldsWord  string // FIELDS or COLUMNS.
	Lines       []FileFormatClause
	HasFields   bool
	HasLinesTag bool
}

// FileFormatClause is one of TERMINATED, [OPTIONALLY] ENCLOSED, ESCAPED and
// STARTING, each BY Value.
type FileFormatClause struct {
	Kind  string // TERMINATED, ENCLOSED, OPTIONALLY ENCLOSED, ESCAPED, STARTING.
	Value Expr   // A string, hex or bit literal.
}

// SetOp is UNION, INTERSECT or EXCEPT. INTERSECT binds tighter; equal
// operators associate to the left.
type SetOp struct {
	Pos   Pos
	Op    SetOpKind
	Quant DistinctKind
	Left  QueryBody
	Right QueryBody
}

// SetOpKind is the operator of a SetOp.
type SetOpKind uint8

// The set operators.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// ValuesRows is VALUES ROW(...), ROW(...).
type ValuesRows struct {
	Pos  Pos
	Rows [][]Expr
}

// TableQuery is TABLE t.
type TableQuery struct {
	Pos  Pos
	Name ObjectName
}

// With is a list of common table expressions.
type With struct {
	Pos       Pos
	Recursive bool
	CTEs      []CTE
}

// CTE is one common table expression.
type CTE struct {
	Name    Ident
	Columns []Ident
	Query   *Query
}

// NamedWindow is an element of the WINDOW clause.
type NamedWindow struct {
	Name Ident
	Spec WindowSpec
}

// WindowSpec is the parenthesised description of a window.
type WindowSpec struct {
	Base        string // Name of the window it refines, or empty.
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Over is OVER name or OVER (spec).
type Over struct {
	Name string
	Spec *WindowSpec // nil when only a name was written.
}

// Frame is a window frame. End is nil unless BETWEEN was written.
type Frame struct {
	Unit      FrameUnit
	Start     FrameBound
	End       *FrameBound
	Exclusion string // CURRENT ROW, GROUP, TIES or NO OTHERS; empty when absent.
}

// FrameUnit is what a frame counts in.
type FrameUnit uint8

// The units of window frames.
const (
	FrameRows FrameUnit = iota
	FrameRange
	FrameGroups
)

// FrameBound is one end of a frame. Value is nil for UNBOUNDED and CURRENT ROW.
type FrameBound struct {
	Kind  FrameBoundKind
	Value Expr
}

// FrameBoundKind is the kind of a frame's end.
type FrameBoundKind uint8

// The kinds of frame bounds.
const (
	CurrentRow FrameBoundKind = iota
	UnboundedPreceding
	UnboundedFollowing
	ValuePreceding
	ValueFollowing
)

// TableRef is a named table in FROM.
type TableRef struct {
	Pos        Pos
	Schema     string
	Name       string
	Partitions []Ident
	Alias      string
	Hints      []IndexHint
	AsOf       Expr // TiDB's AS OF TIMESTAMP expr.
}

// IndexHint is USE, FORCE or IGNORE INDEX. A name PRIMARY is the primary key.
type IndexHint struct {
	Kind  IndexHintKind
	Key   bool // Written KEY rather than INDEX.
	For   IndexHintFor
	Names []Ident
}

// IndexHintKind is the verb of an index hint.
type IndexHintKind uint8

// The verbs of index hints.
const (
	UseIndex IndexHintKind = iota
	ForceIndex
	IgnoreIndex
)

// IndexHintFor narrows an index hint to one use.
type IndexHintFor uint8

// The scopes of index hints.
const (
	HintForAll IndexHintFor = iota
	HintForJoin
	HintForOrderBy
	HintForGroupBy
)

// DerivedTable is a subquery in FROM.
type DerivedTable struct {
	Pos     Pos
	Lateral bool
	Query   *Query
	Alias   string
	Columns []Ident
}

// Join combines two table expressions.
type Join struct {
	Pos   Pos
	Kind  JoinKind
	Left  TableExpr
	Right TableExpr
	On    Expr
	Using []Ident
	Outer bool // The optional word OUTER was written.
}

// JoinKind is the kind of a join.
type JoinKind uint8

// JoinComma, JoinInner, JoinPlain and JoinCross mean the same; they are told
// apart because precedence and the printed text differ.
const (
	JoinPlain JoinKind = iota // JOIN
	JoinComma
	JoinInner
	JoinCross
	JoinStraight
	JoinLeft
	JoinRight
	JoinNaturalPlain
	JoinNaturalInner
	JoinNaturalLeft
	JoinNaturalRight
)

// ParenTable is a parenthesised table expression.
type ParenTable struct {
	Pos   Pos
	Inner TableExpr
	ODBC  bool // Written { OJ ... }.
}

// JSONTable is JSON_TABLE(doc, path COLUMNS (...)) alias.
type JSONTable struct {
	Pos     Pos
	Doc     Expr
	Path    Expr
	Columns []JSONTableColumn
	Alias   string
}

// JSONTableColumn is one column of JSON_TABLE.
type JSONTableColumn struct {
	Name       Ident // Empty for NESTED PATH.
	Ordinality bool
	Exists     bool
	Type       *DataType
	Path       Expr
	OnEmpty    *JSONOnClause
	OnError    *JSONOnClause
	Nested     []JSONTableColumn // Only for NESTED.
	NestedWord bool              // NESTED PATH rather than NESTED.
	IsNested   bool
	ErrorFirst bool // ON ERROR was written before ON EMPTY.
}

// JSONOnClause is the action of an ON EMPTY or ON ERROR clause.
type JSONOnClause struct {
	Action  string // NULL, ERROR or DEFAULT.
	Default Expr
}

func (*Query) node()        {}
func (*Select) node()       {}
func (*SetOp) node()        {}
func (*ValuesRows) node()   {}
func (*TableQuery) node()   {}
func (*TableRef) node()     {}
func (*DerivedTable) node() {}
func (*Join) node()         {}
func (*ParenTable) node()   {}
func (*JSONTable) node()    {}

func (*Query) statement()  {}
func (*Query) queryBody()  {}
func (*Select) queryBody() {}

func (*SetOp) queryBody()      {}
func (*ValuesRows) queryBody() {}
func (*TableQuery) queryBody() {}

func (*TableRef) tableExpr()     {}
func (*DerivedTable) tableExpr() {}
func (*Join) tableExpr()         {}
func (*ParenTable) tableExpr()   {}
func (*JSONTable) tableExpr()    {}
