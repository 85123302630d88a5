package syntax

// Pos is a byte offset into the text given to Parse. Statements are bounded by
// max_allowed_packet (at most 1 GiB), so 32 bits suffice and keep nodes small.
type Pos int32

// Node is any element of the tree. Every concrete node is a pointer to a
// struct of this package.
type Node interface{ node() }

// Statement is a node that a client may send or a stored program may contain.
type Statement interface {
	Node
	statement()
}

// Expr is a node that yields a value.
type Expr interface {
	Node
	// Start is the offset of the first byte of the expression, for errors.
	Start() Pos
	expr()
}

// TableExpr is an element of a FROM clause.
type TableExpr interface {
	Node
	tableExpr()
}

// QueryBody is the part of a query before ORDER BY, LIMIT and locking:
// *Select, *SetOp, *ValuesRows, *TableQuery, or a parenthesised *Query.
type QueryBody interface {
	Node
	queryBody()
}

// ProcStmt marks the statements that exist only inside stored programs. Bodies
// hold plain Statements, because any statement may appear there.
type ProcStmt interface {
	Statement
	procStmt()
}

// Ident is a name with its place. Name is unquoted.
type Ident struct {
	Name string
	Pos  Pos
}

// ObjectName is a possibly qualified name of a table, view, routine, trigger
// or event. Schema is empty when not given.
type ObjectName struct {
	Schema string
	Name   string
	Pos    Pos
}

// Account is 'user'@'host'. Host is empty with HasHost false when not given
// (it means '%'). Current stands for CURRENT_USER [()].
type Account struct {
	User     string
	Host     string
	HasHost  bool
	Current  bool
	Parens   bool // CURRENT_USER() rather than CURRENT_USER.
	UserFunc bool // USER(), which ALTER USER accepts for the same.
	Pos      Pos
}

// VarTarget is a target of INTO, FETCH or LOAD DATA: @name, or a local
// variable or column when Local.
type VarTarget struct {
	Name  string
	Local bool
	Pos   Pos
}

// Assignment is `column = value` of UPDATE, INSERT ... SET and ON DUPLICATE
// KEY UPDATE. Value is a *Default for a bare DEFAULT.
type Assignment struct {
	Column ColumnRef
	Value  Expr
}
