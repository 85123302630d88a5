package session

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Node is what the sessions of one process share. server fills the exported fields before the first session and changes
// none of them afterwards.
type Node struct {
	Txns    *txn.Manager
	Catalog *catalog.Catalog
	DDL     *ddl.Executor
	Plans   *plan.Cache
	AutoIDs exec.AutoIDs
	Stats   *stats.Store
	Users   *privilege.Store
	Log     *slog.Logger
	LogVar  *slog.LevelVar
	// HashPassword turns a password into what an account stores for an authentication plugin.
	HashPassword func(plugin string, password []byte) []byte
	// Version is what VERSION() and the handshake say.
	Version string
	// Memory bounds the memory of all statements together; nil for no bound.
	Memory *exec.MemPool
	// Workers may work on statements beside their connections' goroutines; nil has none.
	Workers *exec.WorkerPool
	Port    int
	DataDir string
	// Socket is the path of the unix socket, empty if there is none.
	Socket  string
	TempDir string
	// Spill bounds the space of files in TempDir; nil for no bound.
	Spill *exec.SpillSpace
	// Start is the node's start, for the uptime.
	Start time.Time
	// SetRelaxed makes the store acknowledge commits before they are synced, or not.
	SetRelaxed func(on bool) error
	// Promote makes the store the first of a cluster, and says in a sentence what it is then; nil where there is none to promote.
	Promote func() (state string, err error)
	// Backup copies the node's files to a directory of the server's machine, and fails with a *types.Error or kvapi.ErrInterrupted; nil where
	// there are no files.
	Backup func(dir string, interrupt *kvapi.Interrupt) (*Backup, error)
	// Cluster has the functions of the ADMIN statements about the cluster.
	Cluster Cluster
	// Regions and Stores describe the node's store and its cluster; nil for nothing.
	Regions func() []infoschema.Region
	Stores  func() []infoschema.Store
	// Shutdown asks the process to stop, and returns before it has; nil if it cannot be asked.
	Shutdown func()
	// Clustered reports whether the store is one of a cluster; nil for never.
	Clustered func() bool
	// SetMaxConnections passes a new limit to the listener.
	SetMaxConnections func(int)
	// Processes lists the connections, and Kill ends one or its statement; both are the listener's.
	Processes func() []Process
	Kill      func(id uint64, queryOnly bool) bool
	// Bulk bounds the memory of bulk statements; nil for no bound.
	Bulk *Bulk
	// Files opens the files that statements name; nil opens none. SecureFilePriv is what the variable says of them.
	Files          Files
	SecureFilePriv string
	// Counters returns named figures for SHOW STATUS.
	Counters func() map[string]string

	table *variableTable
	// globals holds the global values; replaced as a whole under mu.
	globals atomic.Pointer[valueSet]
	mu      sync.Mutex // serialises changes of globals
	locks   userLocks
	// readOnly is what read_only and super_read_only say: readOnlyOff and the others.
	readOnly atomic.Uint32

	preparedMax  atomic.Int64
	preparedLive atomic.Int64
	deadlocks    deadlocks
	tallies      tallies
	digests      digests
	facts        factsCache
	// setBy holds the variableOrigin of global values that are not the built-in ones, by name.
	setBy sync.Map
	// dictionaryReads counts the descriptors that virtual tables have looked at.
	dictionaryReads atomic.Int64
}

// Process is one line of SHOW PROCESSLIST.
type Process struct {
	ID       uint64
	User     string
	Host     string
	Database string
	Command  string
	Seconds  int64
	State    string
	Info     string // statement text; empty when idle
	Account  string // user@host of the account in use
	// TLSVersion and TLSCipher name the encryption, both empty without.
	TLSVersion, TLSCipher string
	// Compression is the algorithm of the packets, empty without; CompressionLevel is its level.
	Compression      string
	CompressionLevel int
	// Attributes are what the client told of itself.
	Attributes map[string]string
}

// Backup is what ADMIN BACKUP has made.
type Backup struct {
	Dir   string
	Files int
	// CopiedBytes of Bytes are copied; the rest are hard links to the node's own files.
	Bytes, CopiedBytes int64
	// Timestamp: all commits that were acknowledged before have it or a lower one, and are in the backup.
	Timestamp clock.Timestamp
	Took      time.Duration
}

// Setting is a global variable's value given at start.
type Setting struct{ Name, Value string }

// variableSpace is the kind of the system keys that hold SET PERSIST's values.
const variableSpace = 'v'

// Prepare sets the variables' values: the defaults, then the settings of the command line, then what SET PERSIST kept, which
// wins as in MySQL.
func (n *Node) Prepare(settings []Setting) error {
	n.table = newVariableTable()
	values := n.table.defaults()
	n.globals.Store(&values)
	n.preparedMax.Store(mustInt(values[n.table.byName["max_prepared_stmt_count"]]))
	persisted, err := n.loadPersisted()
	if err != nil {
		return fmt.Errorf("reading persisted variables: %w", err)
	}
	for at, s := range append(append([]Setting(nil), settings...), persisted...) {
		i, v, err := n.table.lookup(s.Name)
		if err != nil {
			n.Log.Warn("a persisted variable is unknown to this version", "name", s.Name)
			continue
		}
		if v.check != nil {
			switch s.Value, err = v.check(nil, s.Value); {
			case err == nil:
			case at < len(settings):
				return fmt.Errorf("%s: %w", s.Name, err)
			default: // it was valid when it was persisted; a node that refused to start would keep the operator from repairing it
				n.Log.Warn("a persisted variable's value is not allowed any more", "name", s.Name, "error", err)
				continue
			}
		}
		if v.applyGlobal != nil {
			if err := v.applyGlobal(n, s.Value); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		n.setGlobal(i, s.Value)
		origin := variableOrigin{source: "COMMAND_LINE", at: clock.Now()}
		if at >= len(settings) {
			origin.source = "PERSISTED"
		}
		n.setBy.Store(v.name, origin)
	}
	return nil
}

// variableOrigin says who set a global variable's value, and when.
type variableOrigin struct {
	source     string
	at         time.Time
	user, host string
}

// SetGlobal sets a global variable's value as the node itself reports it, without acting on it.
func (n *Node) SetGlobal(name, value string) { n.setGlobal(n.table.byName[name], value) }

// Global returns a global variable's text.
func (n *Node) Global(name string) string { return n.globalValues()[n.table.byName[name]] }

// GlobalInt returns a global variable's number, for settings that SET PERSIST may have changed before the start.
func (n *Node) GlobalInt(name string) int64 { return mustInt(n.Global(name)) }

// globalValues returns the current global values; the slice is never changed.
func (n *Node) globalValues() valueSet { return *n.globals.Load() }

// setGlobal stores one global value in a new set, so that readers need no lock.
func (n *Node) setGlobal(i int, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	values := append(valueSet(nil), n.globalValues()...)
	values[i] = value
	n.globals.Store(&values)
}

type pairSink struct{ settings []Setting }

// Pair collects one persisted variable.
func (p *pairSink) Pair(key, value []byte) (bool, error) {
	prefix := len(keys.SystemKey(nil, variableSpace))
	if len(key) < prefix {
		return false, errors.New("malformed key of a persisted variable")
	}
	p.settings = append(p.settings, Setting{string(value[:value[0]+1][1:]), string(value[value[0]+1:])})
	return true, nil
}

func (n *Node) loadPersisted() ([]Setting, error) {
	start := keys.SystemKey(nil, variableSpace)
	sink := &pairSink{}
	request := txn.ScanRequest{Sink: sink}
	request.Span.Start, request.Span.End = start, keys.PrefixEnd(nil, start)
	for {
		resume, err := n.Txns.Scan(&request)
		if err != nil {
			return nil, err
		}
		if resume == nil {
			return sink.settings, nil
		}
		request.Span.Start = resume
	}
}

// persist keeps a variable's value for the next start. The record is the name's length in one byte, the name, the value.
func (n *Node) persist(name, value string) error {
	tx := n.Txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	key := keys.SystemKey(nil, variableSpace, []byte(name))
	if _, _, err := tx.Lock(key, exec.LockExclusive, exec.WaitDefault, nil); err != nil {
		tx.Rollback()
		return exec.MapError(err, nil)
	}
	record := append([]byte{byte(len(name))}, name...)
	if err := tx.Put(key, append(record, value...)); err != nil {
		tx.Rollback()
		return exec.MapError(err, nil)
	}
	return exec.MapError(tx.Commit(), nil)
}

// unpersist drops what SET PERSIST kept of one variable. It reports whether there was anything.
func (n *Node) unpersist(name string) (bool, error) {
	tx := n.Txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	key := keys.SystemKey(nil, variableSpace, []byte(name))
	found, err := tx.LockDelete(key, nil)
	if err == nil && found {
		err = tx.Delete(key)
	}
	if err != nil {
		tx.Rollback()
		return false, exec.MapError(err, nil)
	}
	return found, exec.MapError(tx.Commit(), nil)
}

// reservePrepared counts one more live prepared statement, or refuses it with 1461.
func (n *Node) reservePrepared() error {
	if n.preparedLive.Add(1) > n.preparedMax.Load() {
		n.preparedLive.Add(-1)
		return types.Errorf(types.ErMaxPreparedStmtCountReached, n.preparedMax.Load())
	}
	return nil
}
