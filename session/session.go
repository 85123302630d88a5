package session

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Response takes the answer of one command: for each statement a result set or none, then Done. wire implements it.
type Response interface {
	sqlapi.Sink
	// Done ends one statement's answer. more announces that another statement's follows.
	Done(r sqlapi.Result, more bool) error
}

// Client tells who connects.
type Client struct {
	ID        uint64
	User      string // as given by the client
	Host      string // address without port
	Account   string // user@host of the account that was authenticated
	Address   string // with port, for the process list
	Database  string
	FoundRows bool // CLIENT_FOUND_ROWS
	// Relayed says that the client has connected to another node of the cluster, which hands it on.
	Relayed bool
	// MultiStatements allows several statements in one text.
	MultiStatements bool
	// TrackState says that the client wants to know of changes to its session (CLIENT_SESSION_TRACK).
	TrackState bool
	// SetPacketMax and SetIdleMax pass max_allowed_packet and wait_timeout to the connection; nil where there is none.
	SetPacketMax func(bytes int)
	SetIdleMax   func(time.Duration)
	// SetNetTimeouts passes net_read_timeout and net_write_timeout; nil where there is no connection.
	SetNetTimeouts func(read, write time.Duration)
}

// Session is one client's state. One goroutine runs its commands; other goroutines may call Interrupt, Info and DatabaseName.
type Session struct {
	node   *Node
	id     uint64
	client Client
	db     string

	// values are the session's variables. Shared with the node or other sessions until own is set; copy before writing.
	values valueSet
	own    bool
	// The fields below cache variables that statements read often.
	autocommit       bool
	level            txn.Level
	readOnly         bool
	snapshotConflict bool
	looseParents     bool // restrict_fk_on_non_standard_key=0
	noOnePhase       bool // tidb_enable_1pc=0
	noAsync          bool // tidb_enable_async_commit=0
	optimistic       bool // tidb_txn_mode=optimistic
	lockWait         time.Duration
	metadataWait     time.Duration
	maxExecution     time.Duration
	memQuota         int64
	fixedNow         time.Time
	started          time.Time // of the running statement; zero until someone asks
	packetMax        int64     // max_allowed_packet

	tx           *txn.Txn
	txReadOnly   bool
	txUsed       bool // a statement in it has used a table
	txShared     bool // it may have written other than temporary tables
	nextLevel    *txn.Level
	nextReadOnly *bool
	savepoints   []savepoint
	use          *catalog.Use
	interrupt    kvapi.Interrupt
	planned      time.Duration // parsing and planning the current statement under max_execution_time
	limitFired   chan struct{} // a time limit has set the interrupt; nil until there is one
	closing      bool

	runtime exec.Runtime
	workers plan.Workers // that statements may use
	context types.Context
	ctx     expr.Ctx
	memory  exec.MemTracker
	// treeBytes is what the tree takes of the statement that was parsed last and has not started.
	treeBytes  int64
	notices    []syntax.Notice // of the text that was parsed last; see takeNotices
	build      expr.BuildContext
	parse      syntax.Options
	params     []types.Value
	attributes []sqlapi.Attribute // of the running command; borrowed
	args       []types.Value      // parameters of the running prepared statement without a plan; borrowed
	// env is the part of the plan cache's key that depends on the session's state; rebuilt by refreshContext.
	env    []byte
	keyBuf []byte
	normal syntax.Normalized

	privileges   *privilege.Account
	privilegesAt uint64 // Users.Version of privileges

	prepared     map[uint32]*prepared
	named        map[string]*prepared // PREPARE name FROM …
	lastStmt     uint32
	cursors      map[uint32]*openCursor // by statement
	cursorMemory exec.MemTracker        // what all of them hold

	userVars      map[string]types.Value
	kept          exec.MemTracker // user variables and prepared texts
	lastInsertID  uint64
	insertIDGiven bool // the running statement called LAST_INSERT_ID with an argument
	rowCount      int64
	foundRows     uint64
	planFromCache bool // of the running command; lastFromCache is that of the one before
	lastFromCache bool
	diagnostics   diagnostics
	track         tracker
	counts        tally
	event         event
	ledger        ledger
	batchFrom     time.Duration // when the last statement of a text with several began
	heldLocks     []string      // GET_LOCK
	temporary     temporaries
	// showsTemporary says that SHOW is asked about a temporary table, which virtual tables do not list otherwise.
	showsTemporary bool
	held           ddl.Held // LOCK TABLES and its relatives; see locks.go
	locked         []lockedTable
	bulk           int64    // what the running statement has of Node.Bulk
	loading        *loading // nil unless a LOAD DATA is about to run

	// waits is what a function of the running statement waits for, nil if nothing.
	waits atomic.Pointer[string]
	// info is the text of the running statement, for SHOW PROCESSLIST; nil between statements.
	info    atomic.Pointer[string]
	shownDB atomic.Pointer[string] // the current database, for the process list
	// changed is the table of which this session has written changedRows since it told the statistics.
	changed     *catalog.Table
	changedRows int64
	// txChanges are the tables that the open transaction has changed.
	txChanges []tableChange
	results   *types.Charset // character_set_results
	// generation counts changes of env, so that a kept plan is checked with one comparison.
	generation uint32
	// merges are the ways of index merge that optimizer_switch leaves to plans.
	merges plan.MergeKinds
}

// New opens a session for an authenticated client. The database, if one is named, must exist (1049).
func New(n *Node, c Client) (*Session, error) {
	s := &Session{node: n, id: c.ID, client: c, use: n.Catalog.Uses().Register()}
	s.use.SetOwner(c.ID)
	s.runtime = exec.Runtime{Ctx: &s.ctx, Manager: n.Txns, Interrupt: &s.interrupt, Mem: &s.memory, Pool: n.Workers, TempDir: n.TempDir, Spill: n.Spill,
		AutoIDs: n.AutoIDs, FoundRows: c.FoundRows}
	s.runtime.Sees = func(schema, table string) bool { return s.account().Sees(schema, table) }
	s.runtime.CreateFile = n.createFile
	s.ctx.Context = &s.context
	s.ctx.Session = (*sessionInfo)(s)
	s.ctx.Poll = s.poll
	s.ctx.Done = s.interrupt.Done
	s.ctx.Waits = s.waitsFor
	s.memory.Share(n.Memory, &s.interrupt)
	s.cursorMemory.Share(n.Memory, &s.interrupt)
	s.kept.Share(n.Memory, &s.interrupt)
	s.ctx.Grow = s.memory.Grow
	s.context.Poll, s.context.Grow = s.poll, s.memory.Grow
	s.build.Poll, s.build.Grow = s.poll, s.memory.Grow
	s.parse.Budget = &syntax.Budget{Grow: s.memory.Grow, Poll: s.poll}
	s.build.Ctx = &s.context
	s.context.Now = s.now
	s.build.UserVarType = s.userVarType
	s.build.SysVarType = s.sysVarType
	if err := s.resetVariables(); err != nil {
		s.use.Close()
		return nil, err
	}
	if c.Database != "" {
		if err := s.UseDB(c.Database); err != nil {
			s.use.Close()
			return nil, err
		}
	}
	n.tallies.enter(s)
	return s, nil
}

// Close ends the session: the open transaction is rolled back and everything the session holds is released.
func (s *Session) Close() {
	s.runtime.Abandon() // what a statement held that a panic has ended
	s.releaseMemory()
	s.clear()
	s.use.Close()
	s.ledger.settle(&s.node.digests, false)
	s.node.tallies.leave(s)
}

// clear drops all state that COM_RESET_CONNECTION drops.
func (s *Session) clear() {
	s.rollback()
	s.dropTemporaries()
	s.unlockAll()
	s.closeCursors()
	s.leaveBulk() // a statement that a panic has ended has not
	s.use.Release()
	s.node.preparedLive.Add(-int64(len(s.prepared) + len(s.named)))
	s.prepared, s.named, s.userVars = nil, nil, nil
	s.node.locks.releaseAll(s)
	s.kept.Reset(0)
	s.lastInsertID, s.rowCount, s.foundRows = 0, 0, 0
	s.fixedNow = time.Time{}
	s.nextLevel, s.nextReadOnly = nil, nil
	s.diagnostics.reset()
}

// Reset puts the session back to the state after login, as COM_RESET_CONNECTION asks.
func (s *Session) Reset() error {
	s.clear()
	return s.resetVariables()
}

// resetVariables takes the global values and applies them.
func (s *Session) resetVariables() error {
	s.values, s.own = s.node.globalValues(), false
	for _, i := range s.node.table.applied {
		if err := s.node.table.list[i].apply(s, s.values[i]); err != nil {
			return err
		}
	}
	s.refreshContext()
	return nil
}

// contextual reports whether a variable is read by refreshContext, which covers all of them at once.
func contextual(v *variable) bool {
	switch v.name {
	case "sql_mode", "time_zone", "group_concat_max_len", "default_collation_for_utf8mb4", "div_precision_increment", "max_error_count", "sql_notes", "sql_select_limit", "sql_safe_updates", "updatable_views_with_limit":
		return true
	}
	return strings.HasPrefix(v.name, "character_set_") || strings.HasPrefix(v.name, "collation_")
}

// Interrupt returns the interrupt that stops the running statement when it is set; safe for other goroutines.
func (s *Session) Interrupt() *kvapi.Interrupt { return &s.interrupt }

// Info returns the text of the running statement, empty between statements; safe for other goroutines. Statements that share a plan
// show its normalised text.
func (s *Session) Info() string {
	if text := s.info.Load(); text != nil {
		return *text
	}
	return ""
}

// State is what a running statement does, as SHOW PROCESSLIST shows it: what it waits for, or that it is executed; safe for other goroutines.
func (s *Session) State() string {
	if what := s.waits.Load(); what != nil {
		return *what
	}
	if what := s.use.Blocked(); what != "" {
		return what
	}
	return "executing"
}

// waitsFor says that the running statement waits for something; empty for nothing.
func (s *Session) waitsFor(what string) {
	if what == "" {
		s.waits.Store(nil)
		return
	}
	s.waits.Store(&what)
}

// ID returns the connection's number.
func (s *Session) ID() uint64 { return s.id }

// Closing reports that the client asked for the connection to end after this answer (COMMIT RELEASE), or that an outcome is unknown.
func (s *Session) Closing() bool { return s.closing }

// Database returns the current database, empty for none.
func (s *Session) Database() string { return s.db }

// UseDB changes the current database.
func (s *Session) UseDB(name string) error {
	// Privileges are checked before existence: an account without them is not told whether the database exists.
	if !catalog.IsSystemSchema(name) && !s.account().Sees(name, "") {
		return types.Errorf(types.ErDBAccessDenied, s.client.User, s.client.Host, name)
	}
	db := s.node.Catalog.Current().Database(name)
	collation := types.DefaultCollation
	switch {
	case db != nil:
		collation = db.Coll
		name = db.Name
	case !catalog.IsSystemSchema(name):
		return types.Errorf(types.ErBadDB, name)
	}
	s.db = name
	s.shownDB.Store(&name)
	s.store("character_set_database", collation.Charset().Name)
	s.store("collation_database", collation.Name())
	s.refreshContext()
	s.noteSchema()
	return nil
}

// switchDB makes another database the current one for the time of a statement.
func (s *Session) switchDB(name string) {
	s.db = name
	s.refreshContext()
}

// Status returns the SERVER_STATUS_* flags of the session.
func (s *Session) Status() sqlapi.Status { return s.status() }

// SetAttributes sets the query attributes of the next command; nil after it. attrs are borrowed until then.
func (s *Session) SetAttributes(attrs []sqlapi.Attribute) { s.attributes = attrs }

// SetMultiStatements allows or forbids several statements in one text.
func (s *Session) SetMultiStatements(on bool) { s.client.MultiStatements = on }

// ParamCollation is the collation of string parameters.
func (s *Session) ParamCollation() types.CollationID { return s.build.Collation }

// ResultEncoding returns the zone of TIMESTAMP values and the character set of results, nil for bytes as they are stored.
func (s *Session) ResultEncoding() (*time.Location, *types.Charset) {
	return s.context.Loc, s.results
}

// Handshake applies what the client asked for when it connected: the collation of SET NAMES, IGNORE_SPACE, interactive_timeout.
// A collation that is unknown here leaves the server's, as in MySQL, and so does the default one of the server's character_set_client: whoever
// sets collation_connection or character_set_results for all finds them in the sessions of such clients.
func (s *Session) Handshake(collation types.CollationID, ignoreSpace, interactive bool) error {
	if collation.Valid() && !s.servers(collation) {
		charset := collation.Charset().Name
		if _, err := checkClientCharset(s, charset); err == nil {
			s.storeNames(charset, charset, collation.Name())
		}
	}
	if ignoreSpace {
		s.store("sql_mode", (s.context.SQLMode | types.ModeIgnoreSpace).String())
	}
	if interactive {
		s.store("wait_timeout", s.get("interactive_timeout"))
	}
	s.refreshContext()
	s.SessionState() // the client knows what it has asked for
	return applyWaitTimeout(s, s.get("wait_timeout"))
}

// servers reports whether a collation is the default one of the server's own character_set_client.
func (s *Session) servers(collation types.CollationID) bool {
	i, _, err := s.node.table.lookup("character_set_client")
	if err != nil {
		return false
	}
	charset, err := types.LookupCharset(s.node.globalValues()[i])
	return err == nil && charset.Default == collation
}

// ChangeUser makes it a fresh session of another client.
func (s *Session) ChangeUser(c Client) error {
	s.clear()
	s.client, s.db, s.privileges = c, "", nil
	s.shownDB.Store(nil)
	s.runtime.FoundRows = c.FoundRows
	if err := s.resetVariables(); err != nil {
		return err
	}
	if c.Database != "" {
		return s.UseDB(c.Database)
	}
	return nil
}

// DatabaseName returns the current database for the process list; safe for other goroutines.
func (s *Session) DatabaseName() string {
	if name := s.shownDB.Load(); name != nil {
		return *name
	}
	return ""
}

// status returns the flags that every OK and EOF packet carries.
func (s *Session) status() sqlapi.Status {
	var flags sqlapi.Status
	if s.autocommit {
		flags |= sqlapi.StatusAutocommit
	}
	if s.tx != nil {
		flags |= sqlapi.StatusInTrans
		if s.txReadOnly {
			flags |= sqlapi.StatusInTransReadonly
		}
	}
	if s.parse.NoBackslashEscapes {
		flags |= sqlapi.StatusNoBackslashEscapes
	}
	return flags
}

func (s *Session) poll() error {
	if s.interrupt.Reason() == kvapi.ReasonNone {
		return nil
	}
	return exec.MapError(kvapi.ErrInterrupted, &s.interrupt)
}
