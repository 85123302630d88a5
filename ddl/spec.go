package ddl

import (
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// Name is a table's name with its database, both as written.
type Name struct{ Schema, Table string }

// ColumnSpec describes a column of CREATE TABLE or ADD COLUMN. The session has
// resolved the type (collation included) and converted literals to it.
type ColumnSpec struct {
	Name    string
	Type    types.Type
	NotNull bool
	// Null is an explicit NULL clause; it conflicts with a primary key (1171).
	Null    bool
	AutoInc bool
	// Default is nil when no DEFAULT clause was written.
	Default *catalog.Default
	// Made says that the column comes from a query: that it may be NULL there is no clause that a primary key contradicts.
	Made bool
	// Implicit says that Default is what the type of a query's column implies, which a primary key does not keep.
	Implicit bool
	// NoDefault marks a nullable column without any default, not even NULL, as after ALTER COLUMN … DROP DEFAULT.
	NoDefault         bool
	OnUpdateNow       bool
	ExplicitCollation bool
	Invisible         bool
	// TwiceMembers lets an ENUM or SET have equal members, as MySQL does outside strict mode.
	TwiceMembers bool
	Comment      string
	// Generated is set for a generated column, which has no Default.
	Generated *catalog.Generated
	// Original is the value of existing rows for ADD COLUMN when the default is
	// not a literal: CURRENT_TIMESTAMP or an expression, evaluated once by the
	// session. Ignored otherwise.
	Original types.Value
	// PerRow marks a column of ADD COLUMN whose default is an expression that is not constant (over other columns, or nondeterministic): it is
	// evaluated for each existing row. The table is copied, and JudgeCopy computes the values.
	PerRow bool
	// First and After place the column in ADD COLUMN.
	First bool
	After string
}

// IndexColumnSpec is one part of a key.
type IndexColumnSpec struct {
	Column string
	// PrefixLen is 0 for the whole column. HasPrefix with 0 is an error (1391).
	PrefixLen int
	HasPrefix bool
	Desc      bool
	// Expr is set for a part that is an expression: the index gets a hidden
	// generated column for it. Column is then empty.
	Expr *catalog.Generated
	// hidden is set in specs of existing indexes (specOf): the hidden column of a
	// part that is an expression.
	hidden *catalog.Column
}

// IndexSpec describes a key. Inline PRIMARY KEY and UNIQUE clauses of columns
// become IndexSpecs, in the order of the statement.
type IndexSpec struct {
	Name            string // empty: MySQL's automatic name
	Unique, Primary bool
	Columns         []IndexColumnSpec
	Invisible       bool
	Using           string
	Comment         string
	// Generated marks an index that is added for a foreign key; it is left out if
	// another index makes it redundant.
	Generated bool
}

// ForeignKeySpec describes a foreign key.
type ForeignKeySpec struct {
	Name    string // empty: automatic
	Columns []string
	Parent  catalog.TableName
	// RefColumns is nil where the statement names none: then they are the columns
	// of the parent's primary key.
	RefColumns         []string
	OnDelete, OnUpdate catalog.RefAction
	Match              string // FULL or PARTIAL, otherwise empty
}

// TableSpec describes CREATE TABLE.
type TableSpec struct {
	Name
	IfNotExists bool
	Columns     []ColumnSpec
	Indexes     []IndexSpec
	Checks      []catalog.Check
	ForeignKeys []ForeignKeySpec
	// Coll is the table's collation; 0 takes the database's.
	Coll          types.CollationID
	Engine        string // empty: InnoDB
	Comment       string
	Options       catalog.Options
	AutoIncrement uint64 // 0: none written
	// Like says that the indexes are those of another table.
	Like bool
}

// AlterSpec is one action of ALTER TABLE: one of the types below.
type AlterSpec interface{ alter() }

// The actions of ALTER TABLE that are supported. Everything else is 1235,
// which the session reports.
type (
	// AddColumn adds a column without rewriting the table.
	AddColumn struct{ Column ColumnSpec }
	// DropColumn drops a column without rewriting the table, and the indexes on
	// it alone. If it shares an index that stays, the table is copied.
	DropColumn struct{ Name string }
	// RenameColumn is RENAME COLUMN.
	RenameColumn struct{ From, To string }
	// ModifyColumn is MODIFY and, with another name in Column, CHANGE. If the stored
	// form of rows changes, the table is copied.
	ModifyColumn struct {
		From   string
		Column ColumnSpec
	}
	// SetDefault is ALTER COLUMN … SET DEFAULT (or DROP DEFAULT when nil).
	SetDefault struct {
		Column  string
		Default *catalog.Default
	}
	// AddIndex is ADD KEY, ADD UNIQUE KEY or ADD PRIMARY KEY, which copies the table.
	AddIndex struct{ Index IndexSpec }
	// DropIndex is DROP KEY, also of the primary key, which copies the table.
	DropIndex struct{ Name string }
	// RenameIndex is RENAME KEY.
	RenameIndex struct{ From, To string }
	// IndexVisibility is ALTER INDEX … VISIBLE or INVISIBLE.
	IndexVisibility struct {
		Name    string
		Visible bool
	}
	// ColumnVisibility is ALTER COLUMN … SET VISIBLE or INVISIBLE.
	ColumnVisibility struct {
		Name    string
		Visible bool
	}
	// RenameTo is RENAME TO; the last of several counts.
	RenameTo struct{ To Name }
	// SetAutoIncrement is AUTO_INCREMENT = n: the next id is n, or the largest id of the rows plus one if that is more.
	SetAutoIncrement struct{ Next uint64 }
	// SetOrder is ORDER BY: the table is copied, and the rows of a table without a primary key are written in the order of these columns, by their
	// names before the statement. Without columns it only copies.
	SetOrder struct{ Columns []OrderColumn }
	// SetComment is COMMENT = '…'.
	SetComment struct{ Comment string }
	// SetCollation is DEFAULT CHARSET/COLLATE: it affects new columns only.
	SetCollation struct{ Coll types.CollationID }
	// SetOptions is all options that SHOW CREATE TABLE repeats.
	SetOptions struct{ Options catalog.Options }
	// AddCheck is ADD CHECK. Existing rows are checked by Call.JudgeRows.
	AddCheck struct{ Check catalog.Check }
	// DropCheck is DROP CHECK, or DROP CONSTRAINT of a check.
	DropCheck struct{ Name string }
	// AddForeignKey is ADD FOREIGN KEY, without its index. Unless Call.Unchecked
	// is set, existing rows must satisfy it.
	AddForeignKey struct{ Key ForeignKeySpec }
	// DropForeignKey is DROP FOREIGN KEY, or DROP CONSTRAINT of a foreign key.
	DropForeignKey struct{ Name string }
	// EnforceCheck is ALTER CHECK … ENFORCED or NOT ENFORCED.
	EnforceCheck struct {
		Name     string
		Enforced bool
	}
)

func (AddColumn) alter()        {}
func (DropColumn) alter()       {}
func (ModifyColumn) alter()     {}
func (RenameColumn) alter()     {}
func (SetDefault) alter()       {}
func (AddIndex) alter()         {}
func (DropIndex) alter()        {}
func (RenameIndex) alter()      {}
func (IndexVisibility) alter()  {}
func (ColumnVisibility) alter() {}
func (RenameTo) alter()         {}
func (SetAutoIncrement) alter() {}
func (SetOrder) alter()         {}
func (SetComment) alter()       {}
func (SetCollation) alter()     {}
func (SetOptions) alter()       {}
func (AddForeignKey) alter()    {}
func (DropForeignKey) alter()   {}
func (AddCheck) alter()         {}
func (DropCheck) alter()        {}
func (EnforceCheck) alter()     {}

// OrderColumn is one column of ORDER BY.
type OrderColumn struct {
	Name string
	Desc bool
}

// RenamePair is one pair of RENAME TABLE.
type RenamePair struct{ From, To Name }

// Call is the context of one statement. Before the call, the session has committed
// its open transaction and released its Use. Not safe for concurrent use.
type Call struct {
	// LockWait is lock_wait_timeout: it bounds each single wait for users of tables
	// or for other DDL. 0 means one year, MySQL's default.
	LockWait time.Duration
	// Interrupt ends all waits and loops of the statement: KILL and shutdown.
	Interrupt *kvapi.Interrupt
	// Self is the session's own Use, which is not waited for. May be nil.
	Self *catalog.Use
	// Held are the locks that the session holds across statements; nil if it can have none.
	Held *Held
	// Warn receives notes and warnings (IF EXISTS). May be nil.
	Warn func(level types.Level, number uint16, args ...any)
	// Loose says that the session's mode is not strict.
	Loose bool
	// Text is the statement, for job listings.
	Text string
	// Check validates the expressions of a table's new version, which this package cannot evaluate. old is nil for a new table. May be nil.
	Check func(old, next *catalog.Table) error
	// Derive sets the type of a hidden column, one of t's, to that of its expression. index is the name of its index.
	Derive func(t *catalog.Table, hidden *catalog.Column, index string) error
	// Unchecked is foreign_key_checks=0, and LooseParents is
	// restrict_fk_on_non_standard_key=0.
	Unchecked, LooseParents bool
	// Algorithm and Lock are ALTER TABLE's clauses in upper case, or empty.
	Algorithm, Lock string
	// Context is used to convert the values of rows that an ALTER TABLE copies, and
	// receives the warnings. nil means strict mode without warnings.
	Context *types.Context
	// Copied is set by the executor if an ALTER TABLE has copied the table; Rows is
	// then the number of rows to report, 0 where MySQL would not have copied it.
	Copied bool
	Rows   uint64
	// JudgeRows checks the rows of a table against the constraints that its version next adds to those of old, while nobody writes them. May be nil.
	JudgeRows func(old, next *catalog.Table) error
	// JudgeIndex refuses rows for which strict mode forbids the value of a virtual column, or of an expression, that a new index of next is on. It sees
	// the rows of that time: others write meanwhile, by their own sql_mode. May be nil.
	JudgeIndex func(next *catalog.Table, ix *catalog.Index) error
	// JudgeCopy returns a function that is called for each row of a copy: it computes generated columns and new columns with a DEFAULT expression in
	// the row, and checks all enforced constraints of the new table. It returns nil if the new table has none of these. The row has a value for each
	// column of next, by ordinal; it and its values are valid during the call. JudgeCopy may be nil, for tables without any of these.
	JudgeCopy func(old, next *catalog.Table) (judge func(row []types.Value) error, err error)
}

const lockWaitDefault = 365 * 24 * time.Hour

func (c *Call) patience() catalog.Patience {
	wait := c.LockWait
	if wait <= 0 {
		wait = lockWaitDefault
	}
	return catalog.PatienceFor(wait, c.Interrupt, c.Self)
}

func (c *Call) check(old, next *catalog.Table) error {
	if c.Check != nil {
		if err := c.Check(old, next); err != nil {
			return err
		}
	}
	return checkSomeVisible(next)
}

func (c *Call) derive(t *catalog.Table, hidden *catalog.Column, index string) error {
	if c.Derive == nil {
		return types.Errorf(types.ErNotSupportedYet, "an index on an expression here")
	}
	return c.Derive(t, hidden, index)
}

func (c *Call) note(number uint16, args ...any) {
	if c.Warn != nil {
		c.Warn(types.LevelNote, number, args...)
	}
}
