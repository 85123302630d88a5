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
	InsertReplace                   // REPLACE: conflicting rows are deleted first
	InsertUpdate                    // ON DUPLICATE KEY UPDATE: OnDup is applied to the conflicting row
)

// Assignment sets the column with ordinal Col to Expr; a nil Expr is DEFAULT.
type Assignment struct {
	Col  int
	Expr expr.Expr
	// Generated says that the column is a generated one, which is computed when all others have their values. Such assignments come last, in the
	// order of the columns.
	Generated bool
	// Early says that an INSERT needs the value before all others have theirs, because a DEFAULT refers to the column, and again then.
	Early bool
}

// Insert stores rows. The rows come from exactly one of Rows, ParamRows, LiteralRows, Source and Load.
type Insert struct {
	Base
	Table *catalog.Table
	// View is the view through which the statement inserts, nil for none.
	View *catalog.Table
	// Unseen says that the view does not show the AUTO_INCREMENT column: LAST_INSERT_ID() stays what it is.
	Unseen bool
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
	// Source is the SELECT of INSERT … SELECT, its first columns matching Cols.
	Source Node
	// Load says how rows come from Runtime.File.
	Load *Load
	Mode InsertMode
	// Ignore is IGNORE together with InsertUpdate: an error of the update becomes a
	// warning and leaves the row as it is.
	Ignore bool
	// OnDup are the assignments of ON DUPLICATE KEY UPDATE, over the columns of the
	// conflicting row followed by those of the row to insert (VALUES(c) of column i is
	// column len(Table.Columns)+i; expr's "values" works as well) and those of Source
	// (column j is column 2*len(Table.Columns)+j).
	OnDup []Assignment
	// Defaults holds, per column of Table, the compiled DEFAULT of columns whose
	// default is an expression. A nil entry, or a nil slice, means the literal default
	// of the descriptor.
	Defaults []expr.Expr
	// Generated are the generated columns, over the table's columns by ordinal.
	Generated []Assignment
	Checks    []Check
	Guard     *Guard // nil: no foreign key has to be enforced

	access int
}

// Load is what LOAD DATA does with the lines of a file.
type Load struct {
	Format FileFormat
	// Targets say where the fields of a line go, in order.
	Targets []LoadTarget
	// Set are assignments over the columns of the row by ordinal, made when it has its fields.
	Set []Assignment
	// Skip is how many lines at the beginning of the file are skipped.
	Skip uint64
	// Width is the bytes of a line of fields without separators.
	Width int
}

// LoadTarget is where a field goes: the column with ordinal Col or, if Col is negative, the user variable of that name.
type LoadTarget struct {
	Col      int
	Variable string
	// Width is the bytes of the field where fields have no separators.
	Width int
}

// Check is a condition on the rows that may be stored, over the table's columns by ordinal; NULL passes. With View it is a condition of the view
// Name in the database View, which has WITH CHECK OPTION, and must be true.
type Check struct {
	Name string
	View string
	Cond expr.Expr
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
	Checks   []Check
	Ignore   bool   // UPDATE IGNORE
	Guard    *Guard // as in Insert

	access int
}

// Delete removes the rows of its input, laid out as for Update.
type Delete struct {
	Base
	Table  *catalog.Table
	Input  Node
	KeyCol int
	Ignore bool   // DELETE IGNORE
	Guard  *Guard // as in Insert

	access int
}

// MultiUpdate changes rows of several tables, those that its input joins. All of the
// input is read before the first row changes. Each row of a target changes once, by the
// first joined row that it is part of. As in MySQL, the first table of the join (First 0)
// changes at once, unless its primary key is assigned or it is a target twice, and the
// other targets see its new values; they change when all values are made, one after
// another, and their assignments see the rows as they were joined.
type MultiUpdate struct {
	Base
	Input   Node // a join of LockRows
	Targets []UpdateTarget
	Ignore  bool
	Single  bool // the statement is of one table, which changes at once

	access int // of the first target; the others follow
}

// UpdateTarget is one table of a MultiUpdate. The same table may be there twice, under
// two aliases.
type UpdateTarget struct {
	Table *catalog.Table
	// First is the column of the input in which the table's columns begin, by ordinal;
	// KeyCol is the column of the row's key. A NULL there is an outer join's padding.
	First, KeyCol int
	// Set assigns the column with ordinal Col to an expression over the input's columns.
	Set      []Assignment
	Defaults []expr.Expr // as in Insert
	// Generated are the generated columns of Set, over the table's columns by ordinal, for a row that is no part of the joined one.
	Generated []Assignment
	Checks    []Check
	Guard     *Guard // as in Insert
}

// MultiDelete removes rows of several tables, those that its input joins, each once. All
// of the input is read before the first row is deleted.
type MultiDelete struct {
	Base
	Input   Node // a join of LockRows
	Targets []DeleteTarget
	Ignore  bool

	access int // as in MultiUpdate
}

// DeleteTarget is one table of a MultiDelete, laid out as an UpdateTarget.
type DeleteTarget struct {
	Table         *catalog.Table
	First, KeyCol int
	Guard         *Guard // as in Insert
}
