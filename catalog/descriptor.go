package catalog

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/types"
)

// SchemaState is the state of an index in an online schema change (as in Google's
// F1). Two adjacent states may be in use on one table at once, others never.
type SchemaState uint8

// The states of an index, in the order in which it comes into being. Dropping
// one walks back.
const (
	// StateAbsent is the state of an index that no descriptor names.
	StateAbsent SchemaState = iota
	// StateDeleteOnly: writers remove the entries of rows that they delete or
	// change, and add none; nobody reads the index.
	StateDeleteOnly
	// StateWriteOnly: writers maintain the index in full and check uniqueness;
	// nobody reads it.
	StateWriteOnly
	// StatePublic: the index is complete and may be read by every snapshot at
	// or after ReadableFrom.
	StatePublic
)

// String returns the name that job listings print.
func (s SchemaState) String() string {
	switch s {
	case StateDeleteOnly:
		return "delete only"
	case StateWriteOnly:
		return "write only"
	case StatePublic:
		return "public"
	}
	return "absent"
}

// DefaultKind tells what a DEFAULT clause holds.
type DefaultKind uint8

// The kinds of column defaults. A column without one has a nil *Default.
const (
	DefaultNull    DefaultKind = iota // DEFAULT NULL, written or implied by a nullable column
	DefaultLiteral                    // Value, already converted to the column's type
	DefaultNow                        // CURRENT_TIMESTAMP with the column's fractional digits
	DefaultExpr                       // (expression): Expr is its printed text, without the outer parentheses
)

// Default is the default value of a column for new rows.
type Default struct {
	Kind  DefaultKind
	Value types.Value // DefaultLiteral; its bytes belong to the descriptor
	Expr  string      // DefaultExpr
}

// Column describes one column. Everything here is immutable once published.
type Column struct {
	// ID is unique within the table and never reused, so that a column dropped
	// and added again never shows old data.
	ID uint32
	// Ordinal is the position in Table.Columns.
	Ordinal int
	Name    string
	Type    types.Type
	NotNull bool
	AutoInc bool
	// Default applies to new rows that name no value. nil means none, also of a
	// nullable column that had its default dropped: such an INSERT fails with 1364 in strict mode.
	Default *Default
	// Original is what rows written before the column existed hold: the stored
	// form (types.AppendStored) of a value, or NULL when OriginalNull is set.
	// It is fixed when the column is added; ALTER … SET DEFAULT leaves it alone.
	Original     []byte
	OriginalNull bool
	// OnUpdateNow is ON UPDATE CURRENT_TIMESTAMP.
	OnUpdateNow bool
	// ExplicitCollation records a COLLATE or CHARACTER SET clause written at the
	// column, which SHOW CREATE TABLE repeats.
	ExplicitCollation bool
	// Invisible is MySQL's INVISIBLE: left out of SELECT * and of INSERT
	// without a column list.
	Invisible bool
	Comment   string
	// Generated is set for a generated column, whose Default is nil.
	Generated *Generated
	// Hidden marks the virtual column that stands for an expression in an index. No statement knows of it. Hidden columns come last, and go
	// with their index.
	Hidden bool
}

// IndexColumn is one part of a key.
type IndexColumn struct {
	Col       int // ordinal in Table.Columns; -1 with Added
	PrefixLen int // characters (bytes for binary types); 0 means the whole column
	Desc      bool
	// Added is the column while the index is built by the ALTER TABLE that adds
	// the column in its last step. No one else knows of it until then, and so
	// each row has its Original there. No public index has one.
	Added *Column
}

// Index describes the primary key or a secondary index.
type Index struct {
	// ID is unique within the table and never reused: the entries of a dropped
	// index that are not deleted yet can't show up in a new one.
	ID      uint64
	Name    string // "PRIMARY" for the primary key
	Unique  bool
	Primary bool
	Columns []IndexColumn
	State   SchemaState
	// Building is set until the index is public for the first time: writers check
	// its uniqueness, but the optimizer must not rely on it.
	Building bool
	// Replaces is the id of the index whose name this one is to take, 0 if it
	// has its own. An index with it that is found at the start is removed: its
	// ALTER TABLE was not finished.
	Replaces uint64
	// ReadableFrom is the first snapshot that may read the index: older ones
	// may miss entries of rows that were deleted while it was built.
	ReadableFrom clock.Timestamp
	// EncodingVersion and WeightsChecksum name the key encoding and the
	// collation weights that the entries were written with.
	EncodingVersion uint32
	WeightsChecksum uint64
	Visible         bool
	// Using is the algorithm written in the statement ("BTREE", "HASH"), empty
	// when none was.
	Using   string
	Comment string
	// Generated marks an index that was created for a foreign key. It is dropped
	// when another one can serve instead.
	Generated bool
}

// Readable reports whether a snapshot taken at ts may read the index. Pass
// clock.MaxTimestamp for a read of the latest versions.
func (ix *Index) Readable(ts clock.Timestamp) bool {
	return ix.State == StatePublic && ts >= ix.ReadableFrom
}

// Layout is one generation of rows: the ids of the columns they hold, in order.
// Primary key columns that the key gives back are left out.
type Layout struct {
	Version uint32   `json:"version"`
	Columns []uint32 `json:"columns"`
}

// Options are table options that SHOW CREATE TABLE repeats. All but StatsRecalc
// have no other effect. The zero value prints nothing.
type Options struct {
	MinRows       uint64 `json:"min_rows,omitempty"`
	MaxRows       uint64 `json:"max_rows,omitempty"`
	AvgRowLength  uint64 `json:"avg_row_length,omitempty"`
	KeyBlockSize  uint64 `json:"key_block_size,omitempty"`
	RowFormat     string `json:"row_format,omitempty"` // upper case: DYNAMIC, COMPACT, …
	PackKeys      string `json:"pack_keys,omitempty"`  // "0" or "1"
	Checksum      bool   `json:"checksum,omitempty"`
	DelayKeyWrite bool   `json:"delay_key_write,omitempty"`
	StatsPersist  string `json:"stats_persistent,omitempty"`   // "0" or "1"
	StatsRecalc   string `json:"stats_auto_recalc,omitempty"`  // "0" or "1"
	StatsPages    uint64 `json:"stats_sample_pages,omitempty"` // 0 means default
}

// Table describes one version of one table. It is immutable once published;
// two snapshots share the pointer as long as the table did not change, so that
// pointer equality means "same version".
type Table struct {
	// ID is the object's id; it survives TRUNCATE and RENAME.
	ID uint64
	// PhysID names the key space of the data. TRUNCATE takes a new one; none is
	// ever used twice. SetData sets it.
	PhysID uint64
	// Counting is the number of the AUTO_INCREMENT counter in use: counters are never lowered, so a smaller next value needs a new one. SetData
	// makes it 0.
	Counting uint32
	Schema   string
	Name     string
	Version  uint64 // the timestamp of the commit that wrote this descriptor
	Columns  []*Column
	// Indexes holds every index in the order of SHOW CREATE TABLE, the primary
	// key first, and those that are still being built or removed last.
	Indexes []*Index
	// PK is the primary key, one of Indexes. nil: rows are keyed by a hidden row id.
	PK *Index
	// AutoInc is the AUTO_INCREMENT column or nil.
	AutoInc *Column
	// Layouts are the generations of rows that may still exist, oldest first.
	// New rows take the last one.
	Layouts []Layout
	// ReadableFrom is the first snapshot that may read the table (creation,
	// TRUNCATE): an older one gets 1412. It is the timestamp of the commit that the
	// table's data began with, on every node.
	ReadableFrom clock.Timestamp
	Coll         types.CollationID
	Engine       string // as SHOW CREATE TABLE prints it: "InnoDB"
	Comment      string
	Options      Options
	CreateMillis int64 // time of creation, Unix milliseconds
	// Temporary is set for a temporary table.
	Temporary *Temporary
	// View is set for a view: a name for a query. Its columns are those of the
	// query when it was created, and it has no rows.
	View *View
	// Checks are the CHECK constraints in the order of their names.
	Checks []Check
	// ForeignKeys are the constraints by which t refers to other tables or itself, in the order of their names.
	ForeignKeys []ForeignKey
	// Referrers name the other tables that have foreign keys to t, in order.
	Referrers []TableName

	nextColumnID uint32
	nextIndexID  uint64
	gate         *Gate
	dictionaries *Dictionaries
	compiler     func(*Table) Computer
	byName       map[string]int // lower-case column name → ordinal
	indexByName  map[string]*Index
	derived      atomic.Pointer[any]
}

// Check is a CHECK constraint: a row for which its expression is false is refused.
type Check struct {
	Name string `json:"name"` // unique among the checks of the database, in any case
	// Expr is the expression as SHOW CREATE TABLE prints it, in utf8mb4. It is parsed under no sql_mode.
	Expr        string `json:"expr"`
	NotEnforced bool   `json:"not_enforced,omitempty"`
}

// Check returns the position in Checks of the one called name, in any case, or -1.
func (t *Table) Check(name string) int {
	return slices.IndexFunc(t.Checks, func(c Check) bool { return strings.EqualFold(c.Name, name) })
}

// GeneratedCheck returns the number in the name of a check that has the form of t's automatic ones, t_chk_1 and so on.
func (t *Table) GeneratedCheck(name string) (number uint64, ok bool) {
	return t.generatedName(name, checkInfix)
}

func (t *Table) generatedName(name, infix string) (number uint64, ok bool) {
	digits, ok := strings.CutPrefix(strings.ToLower(name), strings.ToLower(t.Name)+infix)
	if !ok || digits == "" || digits[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return n, err == nil
}

// checkInfix stands between the table's name and the number in the automatic name of a check.
const checkInfix = "_chk_"

// CheckName is the automatic name of a check with that number.
func CheckName(table string, number uint64) string {
	return table + checkInfix + strconv.FormatUint(number, 10)
}

// LastCheck is the largest number in the automatic names of t's checks, 0 without one.
func (t *Table) LastCheck() (last uint64) {
	for i := range t.Checks {
		if n, ok := t.GeneratedCheck(t.Checks[i].Name); ok {
			last = max(last, n)
		}
	}
	return last
}

// Rename gives t another name and its constraints the automatic names that follow from it.
func (t *Table) Rename(schema, name string) {
	for i := range t.Checks {
		if n, ok := t.GeneratedCheck(t.Checks[i].Name); ok {
			t.Checks[i].Name = CheckName(name, n)
		}
	}
	for i := range t.ForeignKeys {
		if n, ok := t.GeneratedForeignKey(t.ForeignKeys[i].Name); ok {
			t.ForeignKeys[i].Name = ForeignKeyName(name, n)
		}
	}
	t.Schema, t.Name = schema, name
	t.SortChecks()
	t.SortForeignKeys()
}

// SortChecks restores the order of Checks after a change.
func (t *Table) SortChecks() {
	slices.SortStableFunc(t.Checks, func(a, b Check) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}

// View is the part of a view's descriptor besides its columns.
type View struct {
	// Query is the defining query in utf8mb4, with the databases of its tables
	// and the names of its columns written out, as the printer writes it: it is
	// parsed under no sql_mode.
	Query string `json:"query"`
	// Algorithm is UNDEFINED, MERGE or TEMPTABLE.
	Algorithm string `json:"algorithm"`
	// DefinerUser and DefinerHost name the account whose rights the query has,
	// unless Invoker says that it has those of whoever reads the view.
	DefinerUser string `json:"definer_user"`
	DefinerHost string `json:"definer_host"`
	Invoker     bool   `json:"invoker,omitempty"`
	// Updatable says that INSERT, UPDATE or DELETE may change the view's tables through it.
	Updatable bool `json:"updatable,omitempty"`
	// Check is LOCAL or CASCADED for WITH CHECK OPTION, else empty.
	Check string `json:"check,omitempty"`
	// Charset and Collation were those of the client that created the view.
	Charset   string `json:"charset"`
	Collation string `json:"collation"`
}

// Database describes one database.
type Database struct {
	ID   uint64            `json:"id"`
	Name string            `json:"name"`
	Coll types.CollationID `json:"-"`
}

// Column returns the column called name, in any case, or nil.
func (t *Table) Column(name string) *Column {
	if i, ok := t.byName[name]; ok {
		return t.Columns[i]
	}
	if i, ok := t.byName[strings.ToLower(name)]; ok {
		return t.Columns[i]
	}
	return nil
}

// ColumnOf returns the column of a part of one of t's indexes.
func (t *Table) ColumnOf(ic *IndexColumn) *Column {
	if ic.Added != nil {
		return ic.Added
	}
	return t.Columns[ic.Col]
}

// ColumnByID returns the column with that id, or nil when it was dropped.
func (t *Table) ColumnByID(id uint32) *Column {
	for _, c := range t.Columns {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Index returns the index called name, in any case and in any state, or nil.
func (t *Table) Index(name string) *Index {
	if ix, ok := t.indexByName[name]; ok {
		return ix
	}
	return t.indexByName[strings.ToLower(name)]
}

// IndexByID returns the index with that id, or nil.
func (t *Table) IndexByID(id uint64) *Index {
	for _, ix := range t.Indexes {
		if ix.ID == id {
			return ix
		}
	}
	return nil
}

// NameOf returns the name by which users know ix, one of t's: for an index that
// is to replace another, the name of that one.
func (t *Table) NameOf(ix *Index) string {
	if ix.Replaces != 0 {
		if old := t.IndexByID(ix.Replaces); old != nil {
			return old.Name
		}
	}
	return ix.Name
}

// Layout returns the layout of new rows.
func (t *Table) Layout() *Layout { return &t.Layouts[len(t.Layouts)-1] }

// RowIDOrdinal is the pseudo column ordinal under which readers and writers
// carry the hidden row id of a table without a primary key: one past the last
// column. It is -1 for a table with a primary key.
func (t *Table) RowIDOrdinal() int {
	if t.PK != nil {
		return -1
	}
	return len(t.Columns)
}

// standInKey returns the unique index that MySQL shows as the primary key of a table that has none: the first one over whole NOT NULL
// columns; nil if there is none.
func (t *Table) standInKey() *Index {
	if t.PK != nil {
		return nil
	}
	for _, ix := range t.Indexes {
		if ix.Unique && ix.State == StatePublic && !slices.ContainsFunc(ix.Columns, func(c IndexColumn) bool {
			return c.PrefixLen > 0 || !t.Columns[c.Col].NotNull || t.Columns[c.Col].Virtual()
		}) {
			return ix
		}
	}
	return nil
}

// IntegerKey is the ordinal of the column that MySQL's name _rowid stands for: the sole column of the primary key, or of the unique index that is shown as
// one, if it is an integer. It is -1 if there is none.
func (t *Table) IntegerKey() int {
	key := t.PK
	if key == nil {
		key = t.standInKey()
	}
	if key == nil || len(key.Columns) != 1 || !numbersRows(t.Columns[key.Columns[0].Col].Type.ID) {
		return -1
	}
	return key.Columns[0].Col
}

func numbersRows(id types.TypeID) bool {
	return id >= types.TypeTinyInt && id <= types.TypeBigInt || id == types.TypeYear || id == types.TypeBit
}

// IsKeyColumn reports whether the column with ordinal col is part of a public
// index, and how: anywhere in the primary key, sole column of a unique index, or
// first of any other index (MySQL's PRI, UNI, MUL of SHOW COLUMNS).
func (t *Table) IsKeyColumn(col int) (primary, unique, multiple bool) {
	stand := t.standInKey()
	for _, ix := range t.Indexes {
		if ix.State != StatePublic {
			continue
		}
		if ix.Primary || ix == stand {
			for _, ic := range ix.Columns {
				primary = primary || ic.Col == col
			}
			continue
		}
		if ix.Columns[0].Col != col {
			continue
		}
		if ix.Unique && len(ix.Columns) == 1 {
			unique = true
		} else {
			multiple = true
		}
	}
	return primary, unique, multiple
}
