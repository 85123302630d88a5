package infoschema

import (
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/types"
)

// Provider is what the tables are made from. A session implements it; one goroutine at a time calls it.
type Provider interface {
	Snapshot() *catalog.Snapshot
	// Now is the statement's time.
	Now() time.Time
	// Context converts values as the session shows them.
	Context() *types.Context
	// Variables lists the system variables of the session or of the node, by name.
	Variables(global bool) [][2]string
	// VariableInfos tells of each variable how it came to its value.
	VariableInfos() []VariableInfo
	// Persisted lists what SET PERSIST has kept.
	Persisted() ([][2]string, error)
	// Status lists counters by name.
	Status(global bool) [][2]string
	// Processes lists the connections that the account may see; all lists every one to those who may read performance_schema.
	Processes(all bool) []Process
	// Facts tells about how many rows a table has and what it takes. It may have to look, and remembers.
	Facts(t *catalog.Table) (TableFacts, error)
	// TableIO tells how many rows statements have read and written since the node's start.
	TableIO() map[IOKey]RowCounts
	// TableUses tells who uses tables or waits for them, at most so many.
	TableUses(usesMax int) []catalog.UseView
	// History are the statements that sessions have ended last and, before each other, those that they run.
	History() []SessionHistory
	// SessionStatus are the counters of each session that is open, by its id.
	SessionStatus() map[uint64]map[string]uint64
	// Writes tells when a statement last changed a row, since the node's start, by physical table.
	Writes() map[uint64]time.Time
	// Cardinality is about how many different values the first columns of an index have.
	Cardinality(t *catalog.Table, index *catalog.Index, columns int) (uint64, error)
	// Histograms are those of a table that somebody asked for, in the order of its columns.
	Histograms(t *catalog.Table) []Histogram
	// NextAutoIncrement is the next value that the table would give; ok is false for a table without the column.
	NextAutoIncrement(t *catalog.Table) (next uint64, ok bool)
	// Visible reports whether the account may know of a table of the database; table is empty for the database itself.
	Visible(database, table string) bool
	// MayRead is why the account may not read a table of a system schema, nil if it may.
	MayRead(schema, table string) error
	// Account is that of the session, and Accounts are all of the node.
	Account() *privilege.Account
	Accounts() []*privilege.Account
	// UserVariables lists the user variables of the session that asks.
	UserVariables() []UserVariable
	// Prepared lists the prepared statements of the session that asks.
	Prepared() []Prepared
	// ReadTable counts the descriptors of tables that were looked at.
	ReadTable()
	// ViewTables are the tables that the query of a view names.
	ViewTables(t *catalog.Table) []*catalog.Table
	// Regions are those of the node's store, in key order, and Stores those of its cluster.
	Regions() []Region
	Stores() []Store
	// Digests are the statements that have been executed, by digest.
	Digests() []StatementDigest
	// Locks are the row locks of this node's store, at most LocksMax, and Waited is how long ago a moment of theirs was.
	Locks() []kvapi.LockView
	Waited(since time.Duration) time.Duration
	// Transactions are those that clients have begun.
	Transactions() []Transaction
	// ShowsGeneratedKeys is show_gipk_in_create_table_and_information_schema.
	ShowsGeneratedKeys() bool
	// CanonicalView is the query of a view as SHOW CREATE VIEW prints it.
	CanonicalView(t *catalog.Table) string
}

// TableFacts are what the dictionary tells of the data of a table.
type TableFacts struct {
	Rows, DataBytes uint64
	// IndexBytes is what each index takes besides the primary key, by id.
	IndexBytes map[uint64]uint64
	// Updated is when a row was last written, zero if that is not known.
	Updated time.Time
	// Looked is when somebody looked for the facts.
	Looked time.Time
}

// Indexes is what all indexes take besides the primary key.
func (f *TableFacts) Indexes() (bytes uint64) {
	for _, n := range f.IndexBytes {
		bytes += n
	}
	return bytes
}

// RowLength is what a row takes on average.
func (f *TableFacts) RowLength() uint64 {
	if f.Rows == 0 {
		return 0
	}
	return f.DataBytes / f.Rows
}

// Histogram is one that ANALYZE TABLE … UPDATE HISTOGRAM has made, a JSON document.
type Histogram struct{ Column, Document string }

// Process is one line of the process list.
type Process struct {
	ID                   uint64
	User, Host, Database string
	Command              string
	Seconds              int64
	State, Info          string
	// Own says that it is the connection of who asks.
	Own bool
	// Account is the account that the client uses, user@host.
	Account string
	// Secure says that the connection is encrypted; Cipher and Version name how.
	Secure          bool
	Version, Cipher string
	// Attributes are what the client told of itself when it connected.
	Attributes [][2]string
}

// VariableInfo is how a variable came to its value.
type VariableInfo struct {
	Name     string
	Source   string // COMPILED, COMMAND_LINE, PERSISTED or DYNAMIC
	Min, Max string // of a number
	// Set is when it was set, and User and Host are who did; zero without.
	Set        time.Time
	User, Host string
}

// UserVariable is one @variable.
type UserVariable struct {
	Name  string
	Value types.Value
}

// Prepared is one prepared statement.
type Prepared struct {
	ID         uint64
	Name, Text string
	Executions uint64
}
