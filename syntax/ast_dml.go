package syntax

// Priority is the modifier after INSERT, REPLACE, UPDATE, DELETE and LOAD.
type Priority uint8

// The priorities; Pando gives them no meaning beyond a warning.
const (
	PriorityDefault Priority = iota
	PriorityLow
	PriorityDelayed
	PriorityHigh
	PriorityConcurrent // LOAD DATA only.
)

// Insert is INSERT or REPLACE. Exactly one source is used: Rows, Literals, Set or Query.
// INSERT INTO t () VALUES () has HasColumns, no Columns and one empty row.
type Insert struct {
	Pos        Pos
	Hints      string
	Replace    bool
	Priority   Priority
	Ignore     bool
	NoInto     bool // The optional word INTO was left out.
	Table      TableRef
	Columns    []ColumnRef
	HasColumns bool
	Rows       [][]Expr // VALUES (...), (...); an element may be *Default.
	Literals   *LiteralRows
	RowWord    bool // VALUES ROW(...), ROW(...).
	ValueWord  bool // VALUE was written rather than VALUES.
	Set        []Assignment
	Query      *Query
	RowAlias   string
	ColAliases []Ident
	OnDup      []Assignment
}

// Update is UPDATE of one table (Tables is a *TableRef) or of several.
type Update struct {
	Pos      Pos
	With     *With
	Hints    string
	Priority Priority
	Ignore   bool
	Tables   TableExpr
	Set      []Assignment
	Where    Expr
	OrderBy  []OrderItem
	Limit    *Limit
}

// Delete is DELETE. Targets is empty for the single-table form, whose table is
// From; otherwise it names the tables or aliases to delete from.
type Delete struct {
	Pos      Pos
	With     *With
	Hints    string
	Priority Priority
	Quick    bool
	Ignore   bool
	Targets  []DeleteTarget
	Using    bool // DELETE FROM targets USING tables.
	From     TableExpr
	Where    Expr
	OrderBy  []OrderItem
	Limit    *Limit
}

// DeleteTarget is a table named by a multi-table DELETE; Star records `t.*`.
type DeleteTarget struct {
	Name ObjectName
	Star bool
}

// LoadData is LOAD DATA or LOAD XML.
type LoadData struct {
	Pos        Pos
	XML        bool
	Priority   Priority
	Local      bool
	File       *Literal
	OnDup      string // REPLACE, IGNORE or empty.
	Table      ObjectName
	Partitions []Ident
	Charset    string
	RowsBy     *Literal // LOAD XML ... ROWS IDENTIFIED BY.
	Format     *FileFormat
	Skip       *Literal // IGNORE n LINES|ROWS.
	SkipRows   bool     // ROWS rather than LINES.
	Columns    []VarTarget
	HasColumns bool
	Set        []Assignment
}

// Call is CALL proc[(args)].
type Call struct {
	Pos    Pos
	Name   ObjectName
	Args   []Expr
	Parens bool
}

// Do is DO expr, expr.
type Do struct {
	Pos   Pos
	Exprs []SelectItem
}

func (*Insert) node()   {}
func (*Update) node()   {}
func (*Delete) node()   {}
func (*LoadData) node() {}
func (*Call) node()     {}
func (*Do) node()       {}

func (*Insert) statement()   {}
func (*Update) statement()   {}
func (*Delete) statement()   {}
func (*LoadData) statement() {}
func (*Call) statement()     {}
func (*Do) statement()       {}
