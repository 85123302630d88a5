package wire

import (
	"time"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// Backend is what the server behind the protocol offers before a session exists.
// Its methods are called from many connections at once.
type Backend interface {
	// User returns the credential of the account that matches name and client, and
	// whether there is one. It must take the same time in both cases: a map lookup
	// is fine, a disk read for one of the two is not. host is "localhost" for unix
	// sockets and loopback addresses, otherwise the textual IP address. addr is the
	// textual IP address in all cases but unix sockets, where it is empty: an account
	// of 127.0.0.1 also matches a client whose host is "localhost".
	User(name, host, addr string) (Credential, bool)
	// NativeShare returns the share of all accounts, between 0 and 1, that use password.Native. Names without an account get that plugin
	// in the same proportion (W4). Like User, it must be quick.
	NativeShare() float64
	// OpenSession is called once authentication has succeeded, on the connection's
	// own goroutine. An error is sent to the client and the connection closed;
	// *types.Error keeps its number (1040, 1045, 1049 …). info is never written again
	// and may be kept.
	OpenSession(info *ConnInfo) (Session, error)
}

// Credential is what an account has stored to be verified against.
type Credential struct {
	// Plugin is password.CachingSHA2 or password.Native.
	Plugin string
	// Auth is the stored secret: "$A$005$" + 20 bytes of salt + 43 bytes of hash for
	// password.CachingSHA2, '*' + 40 hex digits for password.Native. Empty means that the account has no password.
	Auth []byte
	// Account is user@host as it is stored, for CURRENT_USER(); it is copied into
	// ConnInfo and means nothing to this package.
	Account string
	// RequireTLS refuses the account (1045) on a connection without encryption; a
	// unix socket does not count as encrypted here, as in MySQL.
	RequireTLS bool
	// Locked refuses the account with 3118, after the password has been verified.
	Locked bool
}

// ConnInfo describes one authenticated connection to the backend.
type ConnInfo struct {
	// ID is the connection id of CONNECTION_ID(), KILL and the process list; never 0
	// and never used twice in the life of a Server.
	ID uint32
	// User is the name the client gave; Account the matched account of Credential.
	User, Account string
	// Host is where the client is, in the form Backend.User got; RemoteAddr keeps the
	// address with its port ("" for a unix socket).
	Host, RemoteAddr string
	// Relayed says that the client is connected to another node, which forwards its bytes: the net.Conn has a method Relayed().
	Relayed bool
	// DB is the database of the handshake, "" if none was asked for.
	DB string
	// Collation is the collation number of the handshake: what SET NAMES would set.
	Collation uint16
	// Capabilities are the flags that both sides have set.
	Capabilities uint32
	// FoundRows: affected rows count rows found, not rows changed (CLIENT_FOUND_ROWS).
	FoundRows bool
	// IgnoreSpace sets IGNORE_SPACE in sql_mode (CLIENT_IGNORE_SPACE).
	IgnoreSpace bool
	// Interactive selects interactive_timeout as wait_timeout (CLIENT_INTERACTIVE).
	Interactive bool
	// MultiStatements allows several statements in one COM_QUERY.
	MultiStatements bool
	// TLSVersion and TLSCipher name the encryption, both empty without.
	TLSVersion, TLSCipher string
	// Compression is the algorithm of the packets, zlib or zstd, empty without; CompressionLevel is its level.
	Compression      string
	CompressionLevel int
	// Attrs are the connection attributes of the client; nil if it sent none.
	Attrs map[string]string
	// Control sets the limits of this connection.
	Control Control
}

// Control is how a session steers its own connection. It is safe for concurrent use.
type Control interface {
	// SetMaxAllowedPacket sets the largest command, in bytes. It holds from the next
	// command on.
	SetMaxAllowedPacket(bytes int)
	// SetWaitTimeout sets how long the connection may idle; 0 is for ever. Timeouts are
	// accurate to less than half a second.
	SetWaitTimeout(d time.Duration)
	// SetNetTimeouts sets how long a started packet may take to arrive, and how long a
	// client may take none of its answer.
	SetNetTimeouts(read, write time.Duration)
}

// Session executes the commands of one connection. All methods but Interrupt are called by
// one goroutine at a time. Errors of type *types.Error are sent as they are; an error that is
// kvapi.ErrUndetermined closes the connection without an answer; any other is logged and
// sent as 1105. A panic ends this connection only.
type Session interface {
	// Query runs all statements of the text in order and tells out of each. sql is
	// borrowed until the method returns, and may not be written.
	Query(sql []byte, out Response) error
	// Prepare makes a statement. sql is borrowed.
	Prepare(sql []byte) (StmtInfo, error)
	// Execute runs a prepared statement. args and all it points to are borrowed. cursor is
	// the flags byte of the command (CursorReadOnly …); a session without cursors
	// ignores it and gives all rows.
	Execute(id uint32, args *Args, cursor byte, out Response) error
	// Measured tells when the last Query or Execute began, on clock's monotonic clock, and
	// how long it and the sending of its answer took.
	Measured(start, took time.Duration)
	// Fetch sends up to rows rows of an open cursor through Response.FetchRows, then calls
	// Done, with StatusLastRowSent when the cursor is exhausted. A session without cursors
	// returns 1421. To open a cursor, Execute calls Columns and then Done with
	// StatusCursorExists, without rows.
	Fetch(id uint32, rows uint32, out Response) error
	// SetAttributes gives the session the query attributes of the next Query or Execute, and nil after it. It is not called for a command
	// without attributes. attrs and all it points to are borrowed until the call with nil.
	SetAttributes(attrs []sqlapi.Attribute)
	// CloseStmt forgets a statement; unknown ids are ignored.
	CloseStmt(id uint32)
	// ResetStmt closes the cursor of a statement. The long data belongs to wire.
	ResetStmt(id uint32) error
	// UseDB changes the current database (COM_INIT_DB).
	UseDB(name string) error
	// FieldList describes the columns of a table of the current database whose names match
	// the LIKE pattern, all if it is empty (COM_FIELD_LIST).
	FieldList(table, pattern string) ([]sqlapi.ColumnInfo, error)
	// Ping answers COM_PING.
	Ping() error
	// Statistics returns the one-line text of COM_STATISTICS.
	Statistics() string
	// SetMultiStatements allows or forbids several statements per text (COM_SET_OPTION).
	SetMultiStatements(on bool)
	// Reset gives the session back its initial state (COM_RESET_CONNECTION): rolls back,
	// drops temporary tables, variables and prepared statements.
	Reset() error
	// ChangeUser makes it a fresh session of another user, already authenticated. info
	// replaces that of OpenSession; ID, Control and the interrupt stay the same. After
	// an error the connection is closed.
	ChangeUser(info *ConnInfo) error
	// Status returns the SERVER_STATUS_* flags for packets that wire makes itself.
	Status() uint16
	// SessionState returns, once, the changes to the session that a client with CapSessionTrack is to be told of, encoded as the
	// protocol wants them; nil if there are none.
	SessionState() []byte
	// ResultEncoding returns the zone in which TIMESTAMP is shown (nil is UTC) and
	// character_set_results (nil sends the bytes as stored). wire asks at each result
	// set; changing it in the middle of one has no effect.
	ResultEncoding() (*time.Location, *types.Charset)
	// ParamCollation returns the collation of string parameters (collation_connection).
	ParamCollation() types.CollationID
	// Interrupt returns the same interrupt for the life of the session. wire resets it at
	// the start of each command and sets it for KILL, clients that went away and
	// shutdown.
	Interrupt() *kvapi.Interrupt
	// Close rolls back and releases everything. It is called exactly once, also after a
	// panic, and nothing is called after it.
	Close()
}

// StmtInfo is what Prepare tells the client.
type StmtInfo struct {
	// ID is the session's number of the statement, not 0.
	ID uint32
	// Params counts its placeholders.
	Params int
	// ParamTypes are the types of those that are known, TypeNull for others; it may be shorter than Params.
	ParamTypes []types.Type
	// Columns describe its result set, empty if it has none. Immutable, best shared
	// with the plan: the encoded form is cached by the identity of the slice.
	Columns  []sqlapi.ColumnInfo
	Warnings uint16
}

// Args are the parameters of one Execute.
type Args struct {
	// Values holds one value per placeholder. The slice is reused by the next Execute and
	// the bytes of its strings alias the packet: both are borrowed.
	Values []types.Value
}

// Response takes the answers of one command. Per statement the session calls Columns
// and gives rows if it is a query, then Done. What it gives may leave the server at
// once (W1). On failure it returns the error from its own method instead of calling
// Done. An error returned from a Response method ends the statement: the client is gone
// or cannot be told the columns. The session returns it, or any other, at once.
type Response interface {
	// Columns starts a result set. Under Execute the slice must be immutable, because its
	// encoded form is cached by the identity of the slice. See sqlapi.Sink.
	sqlapi.Sink
	// Done ends the answer to one statement. more says that another one follows.
	Done(r sqlapi.Result, more bool) error
	// FetchRows returns the encoder for the rows of Fetch: like Columns, but no
	// description is sent.
	FetchRows() (*types.RowEncoder, error)
}

// Flags of Execute's cursor byte.
const (
	CursorReadOnly   = 1
	CursorForUpdate  = 2
	CursorScrollable = 4
)

// The capability flags that a session may care about.
const (
	CapFoundRows       = 1 << 1
	CapIgnoreSpace     = 1 << 8
	CapLocalFiles      = 1 << 7
	CapInteractive     = 1 << 10
	CapMultiStatements = 1 << 16
	CapSessionTrack    = 1 << 23
)
