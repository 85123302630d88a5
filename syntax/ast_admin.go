package syntax

// Begin is BEGIN [WORK] or START TRANSACTION.
type Begin struct {
	Pos   Pos
	Start bool // START TRANSACTION was written.
	Work  bool
	// Modes in the order written: WITH CONSISTENT SNAPSHOT, READ WRITE, READ ONLY; of BEGIN alone OPTIMISTIC or PESSIMISTIC.
	Modes []string
}

// Commit is COMMIT.
type Commit struct {
	Pos  Pos
	Work bool
	End  TxnEnd
}

// TxnEnd is the completion clause of COMMIT and ROLLBACK. Empty strings mean
// that a part was not written.
type TxnEnd struct {
	Chain   string // AND CHAIN, AND NO CHAIN.
	Release string // RELEASE, NO RELEASE.
}

// Rollback is ROLLBACK, whole or to a savepoint.
type Rollback struct {
	Pos           Pos
	Work          bool
	Savepoint     Ident // Empty for the whole transaction.
	ToSavepoint   bool
	SavepointWord bool // TO SAVEPOINT rather than TO.
	End           TxnEnd
}

// Savepoint is SAVEPOINT name.
type Savepoint struct {
	Pos  Pos
	Name Ident
}

// ReleaseSavepoint is RELEASE SAVEPOINT name.
type ReleaseSavepoint struct {
	Pos  Pos
	Name Ident
}

// Set is SET with a list of assignments.
type Set struct {
	Pos   Pos
	Items []SetItem
}

// SetItem is *SetVar, *SetUserVar, *SetNames or *SetCharset.
type SetItem interface {
	Node
	setItem()
}

// SetVar assigns a system variable, a local variable of a stored program, or
// in a BEFORE trigger a column of NEW (Prefix NEW). Words such as ON arrive as
// a ColumnRef without qualifiers, which stands for its own text.
type SetVar struct {
	Pos    Pos
	Scope  VarScope
	AtAt   bool // Written @@scope.name rather than SCOPE name.
	Prefix string
	Name   string
	Assign bool // := was written rather than =.
	Value  Expr // *Default for DEFAULT.
}

// SetUserVar is @name = Value.
type SetUserVar struct {
	Pos    Pos
	Name   string
	Assign bool
	Value  Expr
}

// SetNames is NAMES charset [COLLATE collation] or NAMES DEFAULT.
type SetNames struct {
	Pos     Pos
	Charset string
	Collate string
	Default bool
}

// SetCharset is CHARACTER SET charset or DEFAULT.
type SetCharset struct {
	Pos     Pos
	Word    string // CHARACTER SET or CHARSET.
	Charset string
	Default bool
}

// SetTransaction is SET [scope] TRANSACTION.
type SetTransaction struct {
	Pos   Pos
	Scope VarScope
	// Modes in the order written: ISOLATION LEVEL REPEATABLE READ, READ ONLY...
	Modes []string
}

// SetPassword is SET PASSWORD.
type SetPassword struct {
	Pos      Pos
	For      *Account
	Password *Literal // nil for TO RANDOM.
	Random   bool
	Replace  *Literal
	Retain   bool
}

// SetRole is SET ROLE. Kind is DEFAULT, NONE, ALL, ALL EXCEPT or empty.
type SetRole struct {
	Pos   Pos
	Kind  string
	Roles []Account
}

// SetDefaultRole is SET DEFAULT ROLE. Kind is NONE, ALL or empty.
type SetDefaultRole struct {
	Pos   Pos
	Kind  string
	Roles []Account
	To    []Account
}

// ShowKind says what SHOW lists. Its value is the canonical upper-case words,
// such as "TABLES", "CREATE TABLE" or "ENGINE STATUS".
type ShowKind string

// The kinds of SHOW that carry typed fields. Synonyms (FIELDS, KEYS, SCHEMAS,
// INDEXES) share a kind; Show.Word tells them apart.
const (
	ShowDatabases     ShowKind = "DATABASES"
	ShowTables        ShowKind = "TABLES"       // From: schema.
	ShowColumns       ShowKind = "COLUMNS"      // Table, From.
	ShowIndex         ShowKind = "INDEX"        // Table, From.
	ShowTableStatus   ShowKind = "TABLE STATUS" // From.
	ShowOpenTables    ShowKind = "OPEN TABLES"  // From.
	ShowTriggers      ShowKind = "TRIGGERS"     // From.
	ShowEvents        ShowKind = "EVENTS"       // From.
	ShowVariables     ShowKind = "VARIABLES"    // Scope.
	ShowStatus        ShowKind = "STATUS"       // Scope.
	ShowWarnings      ShowKind = "WARNINGS"     // Limit, Count.
	ShowErrors        ShowKind = "ERRORS"       // Limit, Count.
	ShowProcesslist   ShowKind = "PROCESSLIST"
	ShowEngines       ShowKind = "ENGINES"
	ShowEngine        ShowKind = "ENGINE" // Name; What STATUS, MUTEX or LOGS.
	ShowCharset       ShowKind = "CHARACTER SET"
	ShowCollation     ShowKind = "COLLATION"
	ShowPrivileges    ShowKind = "PRIVILEGES"
	ShowPlugins       ShowKind = "PLUGINS"
	ShowGrants        ShowKind = "GRANTS" // User, Roles.
	ShowProfiles      ShowKind = "PROFILES"
	ShowProfile       ShowKind = "PROFILE" // Rest holds its words.
	ShowProcStatus    ShowKind = "PROCEDURE STATUS"
	ShowFuncStatus    ShowKind = "FUNCTION STATUS"
	ShowProcCode      ShowKind = "PROCEDURE CODE"
	ShowFuncCode      ShowKind = "FUNCTION CODE"
	ShowCreateDB      ShowKind = "CREATE DATABASE"
	ShowCreateTable   ShowKind = "CREATE TABLE"
	ShowCreateView    ShowKind = "CREATE VIEW"
	ShowCreateProc    ShowKind = "CREATE PROCEDURE"
	ShowCreateFunc    ShowKind = "CREATE FUNCTION"
	ShowCreateTrigger ShowKind = "CREATE TRIGGER"
	ShowCreateEvent   ShowKind = "CREATE EVENT"
	ShowCreateUser    ShowKind = "CREATE USER" // User.
)

// Show is SHOW of the kinds above. Kinds of replication and of TiDB arrive as
// *Loose with Kind "SHOW".
type Show struct {
	Pos         Pos
	Kind        ShowKind
	Word        string // The synonym written, upper case: FIELDS, KEYS, SCHEMAS...
	Full        bool
	Extended    bool
	Storage     bool // SHOW STORAGE ENGINES.
	IfNotExists bool
	Scope       VarScope
	Name        ObjectName // The object of SHOW CREATE, or of PROCEDURE CODE.
	Table       ObjectName // The table of COLUMNS and INDEX.
	From        string     // The schema after FROM or IN; empty when absent.
	TableIn     bool       // IN was written rather than FROM before Table.
	FromIn      bool       // IN was written rather than FROM before From.
	What        string
	User        *Account
	Using       []Account
	Count       bool // SHOW COUNT(*) WARNINGS.
	Limit       *Limit
	Like        *Literal
	Where       Expr
	Rest        *Loose
}

// Explain is EXPLAIN or DESCRIBE of a statement or of a connection.
type Explain struct {
	Pos        Pos
	Word       string // EXPLAIN, DESCRIBE or DESC.
	Analyze    bool
	Extended   bool
	Partitions bool
	Format     string // TREE, JSON, TRADITIONAL...; empty when absent.
	FormatStr  bool   // The format was a quoted string, as TiDB has it.
	Into       string // INTO @var.
	Schema     string // FOR SCHEMA|DATABASE name, 8.3.
	Connection *Literal
	Stmt       Statement
}

// Describe is DESCRIBE table [column].
type Describe struct {
	Pos     Pos
	Word    string
	Table   ObjectName
	Column  string
	Pattern *Literal // A quoted wild-card instead of Column.
}

// TableMaintenance is ANALYZE, CHECK, OPTIMIZE, REPAIR or CHECKSUM TABLE.
type TableMaintenance struct {
	Pos     Pos
	Verb    string
	NoWrite string // NO_WRITE_TO_BINLOG, LOCAL or empty.
	Plural  bool
	Tables  []ObjectName
	Options []string // FOR UPGRADE, QUICK, EXTENDED...
	// Histogram is UPDATE or DROP for ANALYZE TABLE ... HISTOGRAM ON.
	Histogram  string
	Columns    []Ident
	Buckets    *Literal
	Data       *Literal
	AutoUpdate string // AUTO UPDATE, MANUAL UPDATE or empty.
	// TiDB's ANALYZE TABLE t PARTITION p / INDEX i.
	Partitions []Ident
	Index      bool
	Indexes    []Ident
}

// Kill is KILL [CONNECTION|QUERY] id.
type Kill struct {
	Pos  Pos
	Word string // CONNECTION, QUERY or empty.
	TiDB bool
	ID   Expr
}

// Flush is FLUSH. Each item is the upper-case words, such as PRIVILEGES or
// BINARY LOGS. FLUSH TABLES uses Tables and Lock.
type Flush struct {
	Pos      Pos
	NoWrite  string
	Items    []string
	IsTables bool
	Word     string // TABLE or TABLES.
	Tables   []ObjectName
	Lock     string // WITH READ LOCK, FOR EXPORT or empty.
	Channel  *Literal
}

// Prepare is PREPARE name FROM 'text' or @var.
type Prepare struct {
	Pos  Pos
	Name Ident
	Text *Literal
	Var  string // Used when Text is nil.
}

// Execute is EXECUTE name [USING @a, @b].
type Execute struct {
	Pos   Pos
	Name  Ident
	Using []string
}

// Deallocate is DEALLOCATE|DROP PREPARE name.
type Deallocate struct {
	Pos  Pos
	Drop bool
	Name Ident
}

// LockTables is LOCK TABLES.
type LockTables struct {
	Pos    Pos
	Plural bool
	Items  []LockItem
}

// LockItem is one table of LOCK TABLES. Mode is READ, READ LOCAL, WRITE or
// LOW_PRIORITY WRITE.
type LockItem struct {
	Table ObjectName
	Alias string
	As    bool
	Mode  string
}

// UnlockTables is UNLOCK TABLES.
type UnlockTables struct {
	Pos    Pos
	Plural bool
}

// Loose is a statement, or part of one, that Pando keeps as an ordered list of
// words, names and expressions: replication, XA, HANDLER, diagnostics,
// resource groups, tablespaces, servers, plugins, and TiDB's administration.
// Its grammar is a table (loose_table.go); it prints back to the same tokens.
type Loose struct {
	Pos   Pos
	Kind  string // The leading words, upper case: "XA START", "HELP", "PURGE BINARY LOGS".
	Parts []LoosePart
}

// LoosePart is one element of Loose. Exactly one of its fields is meaningful,
// by Kind.
type LoosePart struct {
	Kind LooseKind
	Text string // A keyword (upper case), punctuation, or a name (unquoted).
	Expr Expr   // A literal, variable or expression.
	Node Node   // A nested tree, such as *Query.
	Pos  Pos
}

// LooseKind is the kind of a LoosePart.
type LooseKind uint8

// The kinds of LoosePart.
const (
	LooseWord LooseKind = iota
	LoosePunct
	LooseName
	LooseExpr
	LooseNode
)
