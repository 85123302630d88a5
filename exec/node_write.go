package exec

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// LockMode and WaitPolicy are kvapi's, named here because the planner, which builds
// LockRows, sees nothing of storage.
type (
	LockMode   = kvapi.LockMode
	WaitPolicy = kvapi.WaitPolicy
)

// The lock modes and wait policies of locking reads and writes.
const (
	LockShared    = kvapi.LockShared
	LockExclusive = kvapi.LockExclusive
	WaitDefault   = kvapi.WaitDefault
	WaitNone      = kvapi.WaitNone
	WaitSkip      = kvapi.WaitSkip
)

// InsertMode says what INSERT does about rows that are already there.
type InsertMode uint8

// The insert modes.
const (
	InsertPlain   InsertMode = iota // a duplicate key fails the statement: 1062
	InsertIgnore                    // duplicates and bad values become warnings
	InsertReplace                   // REPLACE: the rows in the way are deleted first
	InsertUpdate                    // ON DUPLICATE KEY UPDATE: OnDup is applied to the row in the way
)

// Assignment sets the column with ordinal Col to Expr; a nil Expr is DEFAULT.
type Assignment struct {
	Col  int
	Expr expr.Expr
}

// Insert stores rows. The rows come from exactly one of Rows, ParamRows, LiteralRows and Source.
type Insert struct {
	Base
	Table *catalog.Table
	// Cols are the ordinals of the columns that the rows give, in order; a statement
	// without column list names all visible ones.
	Cols []int
	// Rows are the rows of VALUES; a nil expression is DEFAULT.
	Rows [][]expr.Expr
	// Refers says that an expression of Rows refers to a column of the row that it belongs to.
	Refers bool
	// ParamRows, when positive, is the number of rows whose values are the
	// statement's parameters (lifted literals included) in order, row after row: the
	// plan of a bulk INSERT without an expression per value.
	ParamRows int
	// LiteralRows, when positive, is the number of rows whose values Literal returns by their number, row after row: the plan of one
	// execution of a long list of literals. A value is valid until the next call.
	LiteralRows int
	Literal     func(i int) (types.Value, error)
	// Source is the SELECT of INSERT … SELECT, its columns matching Cols.
	Source Node
	Mode   InsertMode
	// OnDup are the assignments of ON DUPLICATE KEY UPDATE, over the columns of the
	// row in the way followed by those of the row to insert (VALUES(c) of column i is
	// column len(Table.Columns)+i; expr's "values" works as well).
	OnDup []Assignment
	// Defaults holds, per column of Table, the compiled DEFAULT of columns whose
	// default is an expression. A nil entry, or a nil slice, means the literal default
	// of the descriptor.
	Defaults []expr.Expr
}

// Update changes the rows of its input, which yields all columns of Table in order
// (ordinal i in column i) and the row's key in column KeyCol, usually from LockRows.
// Assignments are made from left to right and see the earlier ones, as MySQL's do.
type Update struct {
	Base
	Table  *catalog.Table
	Input  Node
	KeyCol int
	Set    []Assignment // over the input's columns
	// Defaults is as in Insert, for SET c = DEFAULT.
	Defaults []expr.Expr
	Ignore   bool // UPDATE IGNORE
}

// Delete removes the rows of its input, laid out as for Update.
type Delete struct {
	Base
	Table  *catalog.Table
	Input  Node
	KeyCol int
	Ignore bool // DELETE IGNORE
}
