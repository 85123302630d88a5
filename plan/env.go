package plan

import (
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// Env is what building a plan depends on besides the statement itself. Everything in it that can change a plan's meaning is part
// of the plan cache's key, or is validated by table versions.
type Env struct {
	Snapshot *catalog.Snapshot
	// Target is the schema in which the table is found that INSERT writes, nil for Snapshot: CREATE TABLE … SELECT may read another table of
	// its name.
	Target *catalog.Snapshot
	// Database is the current one, empty for none.
	Database string
	// Build carries sql_mode, time zone, collations and the types of variables to expressions.
	Build *expr.BuildContext
	// Stats estimates sizes; nil means that nothing is known.
	Stats Statistics
	// System finds the virtual tables of information_schema and its relatives; nil has none.
	System SystemTables
	// Sight says which tables the client may know of; nil means all. It can only refuse, and sessions that share the plan are checked again.
	Sight Sight
	// Locked is asked about every table that the statement names while its session has LOCK TABLES; nil otherwise.
	Locked TableLocks
	// ParamTypes are the types of the statement's placeholders, or of its lifted literals, by ordinal.
	ParamTypes []types.Type
	// OpenPatterns has a bit for each of the first parameters that is a text which, as a pattern of LIKE, begins with a wildcard: an index is
	// no use for it. It decides about costs alone.
	OpenPatterns uint64
	// UnknownParams makes placeholders typeless, as they are when a statement is prepared; such a plan only describes the result.
	UnknownParams bool
	// Notices are the plan's: what there is to say of the statement's text.
	Notices []types.Warning
	// Lifted maps the byte position of a literal in the text to the ordinal of the parameter that replaces it; nil lifts nothing.
	Lifted map[syntax.Pos]int
	// User and Host name the client in errors that refuse access.
	User, Host string
	// Text is the statement's text, from which columns without an alias take their names.
	Text string
	// Shown is the text that the process list shows instead, because sessions with other literals share the plan; empty means Text.
	Shown string
	// LockReads says which plain reads are locking ones.
	LockReads LockReads
	// Merges are the ways of index merge that may be taken.
	Merges MergeKinds
	// SafeUpdates is sql_safe_updates: UPDATE and DELETE need a key or a LIMIT.
	SafeUpdates bool
	// ViewsNeedKeys is updatable_views_with_limit=NO: UPDATE and DELETE of a view with a LIMIT need a key of the table, or all its columns, in the view.
	ViewsNeedKeys bool
	// Workers tells which plans may have parts that several goroutines work on; nil has none.
	Workers *Workers
	// Explain says that the plan is made to be shown.
	Explain bool
	// FileCharset names the character set of files that LOAD DATA reads where it names none: character_set_database. PlainBackslashes is
	// NO_BACKSLASH_ESCAPES, with which they have no escapes unless the statement names one.
	FileCharset      string
	PlainBackslashes bool
	// Poll returns an error once the statement has to end; nil never ends it.
	Poll func() error
	// SelectLimit is sql_select_limit; negative is none.
	SelectLimit int64
}

// TableLocks tells what a session with LOCK TABLES may do with a table under a name: nothing gives 1100, and only reading 1099.
type TableLocks interface {
	Reads(schema, table, alias string) error
	Writes(schema, table, alias string) error
}

// LockReads says in which statements plain reads lock rows, as SERIALIZABLE demands: a read by a secondary index locks rows as FOR SHARE
// does, since writers lock rows and not the entries of such an index.
type LockReads uint8

// The statements whose plain reads lock: under autocommit=1 a query reads a snapshot at any isolation level.
const (
	LockReadsOfNone LockReads = iota
	LockReadsOfWrites
	LockReadsOfAll
)

// Stored is the environment of an expression that the catalog keeps as text, or of a view. It sees no temporary tables. That text is no part
// of the statement's, so none of its literals were lifted, whatever their positions; and it is utf8mb4, whatever the session speaks.
func (e *Env) Stored() *Env {
	stored, build := *e, *e.Build
	if e.Snapshot != nil { // an expression of a table's own columns needs none
		stored.Snapshot = e.Snapshot.Public()
	}
	build.Collation, build.Client = types.DefaultCollation, nil
	stored.Build, stored.Lifted = &build, nil
	return &stored
}

// ofView is the environment of a view's query: Stored, with the collation that its creator's texts had.
func (e *Env) ofView(v *catalog.View) *Env {
	stored := e.Stored()
	if id, err := types.LookupCollation(v.Collation); err == nil { // none is kept of views of this program
		stored.Build.Collation = id
		if text := types.DefaultCollation.Charset(); !types.SameBytes(text, id.Charset()) {
			stored.Build.Client = text
		}
	}
	return stored
}

// textCharset is the character set of the statement's text, or that of collation_connection where no text differs in the two.
func (e *Env) textCharset() *types.Charset {
	if e.Build.Client != nil {
		return e.Build.Client
	}
	return e.Build.Collation.Charset()
}

// textOptions are the options by which a piece of the statement's text is split into tokens.
func (e *Env) textOptions() syntax.Options {
	return syntax.Options{NoBackslashEscapes: e.Build.Ctx.SQLMode&types.ModeNoBackslashEscapes != 0, Wide: e.textCharset().Wide()}
}

// inUTF8 converts a piece of the statement's text.
func (e *Env) inUTF8(text string) string {
	from := e.textCharset()
	if from.MinLen > 1 || strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	return types.InUTF8(text, from)
}

// Statistics is what the optimizer asks about tables. Implemented by stats; safe for concurrent use.
type Statistics interface {
	// Rows estimates the number of rows of a table.
	Rows(t *catalog.Table) float64
	// Distinct estimates the number of different values of the leading columns of an index; 0 is unknown.
	Distinct(t *catalog.Table, index *catalog.Index, columns int) float64
	// RangeFraction estimates which part of the rows has column values between low and high (NULL bounds are open), which with says belong to
	// it or not; negative is unknown.
	RangeFraction(t *catalog.Table, column int, low, high types.Value, withLow, withHigh bool) float64
	// EqualFraction estimates which part of the rows has a value of a column, an average one if it is NULL; negative is unknown.
	EqualFraction(t *catalog.Table, column int, v types.Value) float64
}

// Sight tells which tables somebody has a right on. Implemented by privilege.Account.
type Sight interface {
	Sees(schema, table string) bool
}

func (e *Env) schema(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if e.Database == "" {
		return "", types.Errorf(types.ErNoDB)
	}
	return e.Database, nil
}

func unsupported(what string) error { return types.Errorf(types.ErNotSupportedYet, what) }

// syntaxError is the error of a text that the grammar admits and MySQL's does not.
func syntaxError(near string) error {
	return types.NewError(types.ErParseError, "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '"+near+"' at line 1")
}

// fold compares names as MySQL compares column and alias names: without regard to case.
func fold(a, b string) bool { return strings.EqualFold(a, b) }
