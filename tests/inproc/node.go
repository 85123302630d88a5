// Package inproc is a node without a socket: storage in memory, everything above it as package server assembles it, and sessions that are
// called directly and answer with text. Scripts of the packages between wire and storage run over it.
package inproc

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"sort"
	"sync"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// planCacheBytes is the plan cache of a test node unless Options say otherwise.
const planCacheBytes = 16 << 20

// Options vary a test node.
type Options struct {
	// FS keeps the files between two Opens; nil keeps nothing.
	FS engine.FS
	// PlanCacheBytes bounds the plan cache; 0 is planCacheBytes.
	PlanCacheBytes int64
	// Memory is what all statements may hold; nil does not count.
	Memory *exec.MemPool
	// Workers are those of statements; nil has none.
	Workers *exec.WorkerPool
	// Settings are those of the command line.
	Settings []session.Setting
	// Txns are those of the transaction manager.
	Txns txn.ManagerOptions
	// Log receives the node's log; nil drops it.
	Log io.Writer
	// Promoted makes the node a cluster of one, which PANDO_PROMOTED=1 does, too.
	Promoted bool
}

// Node is a node in this process.
type Node struct {
	*session.Node
	Files  Files
	tb     testing.TB
	engine *engine.Engine
	store  *store.Store
	ddl    *ddl.Executor

	mu     sync.Mutex // guards conns and lastID
	conns  map[uint64]*Conn
	lastID uint64
}

// OpenDatabase opens a node with an empty database d, and a connection of root that is in it. Both end with the test.
func OpenDatabase(tb testing.TB) (*Node, *Conn) {
	tb.Helper()
	n := Open(tb, Options{})
	tb.Cleanup(n.Close)
	c := n.Root("")
	tb.Cleanup(c.Close)
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	return n, c
}

// Open assembles a node in the order of server.Open. The test fails if it can't.
func Open(tb testing.TB, o Options) *Node {
	tb.Helper()
	n, err := open(tb, o)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func open(tb testing.TB, o Options) (*Node, error) {
	n := &Node{tb: tb, conns: map[uint64]*Conn{}}
	var err error
	if o.FS == nil {
		n.engine, err = engine.OpenMem()
	} else {
		n.engine, err = engine.Open(engine.Options{Dir: "data", FS: o.FS, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	}
	if err != nil {
		return nil, err
	}
	if n.store, err = store.Open(store.Options{Engine: n.engine}); err != nil {
		return nil, err
	}
	if (o.Promoted || testkit.Promoted()) && n.store.Cluster() == nil {
		if err := n.store.Promote(); err != nil {
			return nil, err
		}
	}
	txns := txn.NewManager(kv.New(rpc.Loopback(n.store)), o.Txns)
	schema, err := catalog.Open(txns)
	if err != nil {
		return nil, err
	}
	schema.ComputeWith(plan.NewComputer)
	statistics, err := stats.Open(txns, schema)
	if err != nil {
		return nil, err
	}
	ids := table.NewAutoIDs(txns)
	if n.ddl, err = ddl.Open(ddl.Options{Catalog: schema, Txns: txns, AutoIDs: ids, Gone: statistics.Drop}); err != nil {
		return nil, err
	}
	users, err := privilege.Open(txns, nil)
	if err != nil {
		return nil, err
	}
	if o.PlanCacheBytes == 0 {
		o.PlanCacheBytes = planCacheBytes
	}
	log := slog.New(slog.DiscardHandler)
	if o.Log != nil {
		log = slog.New(slog.NewTextHandler(o.Log, nil))
	}
	n.Node = &session.Node{
		Txns: txns, Catalog: schema, DDL: n.ddl, Plans: plan.NewCache(o.PlanCacheBytes), AutoIDs: ids, Stats: statistics, Users: users,
		Log: log, LogVar: new(slog.LevelVar), Version: "8.0.36-pando-test", DataDir: "data", TempDir: tb.TempDir(), Start: clock.Now(), Port: 4000,
		SetRelaxed: n.store.SetRelaxed, HashPassword: func(plugin string, password []byte) []byte { return []byte(plugin + ":" + string(password)) },
		Memory: o.Memory, Workers: o.Workers, Processes: n.processes, Kill: n.kill, Files: &n.Files, SecureFilePriv: "/files",
	}
	return n, n.Node.Prepare(o.Settings)
}

// Close ends the sessions and the node.
func (n *Node) Close() {
	n.tb.Helper()
	for _, c := range n.list() {
		c.Close()
	}
	n.ddl.Close()
	for _, end := range []func() error{n.AutoIDs.Close, n.store.Close, n.engine.Close} {
		if err := end(); err != nil {
			n.tb.Error(err)
		}
	}
}

func (n *Node) list() []*Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]*Conn, 0, len(n.conns))
	for _, c := range n.conns {
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

func (n *Node) processes() []session.Process {
	var out []session.Process
	for _, c := range n.list() {
		p := session.Process{ID: c.ID, User: c.client.User, Host: c.client.Host, Database: c.DatabaseName(), Command: "Sleep", Info: c.Info()}
		if p.Info != "" {
			p.Command, p.State = "Query", c.State()
		}
		out = append(out, p)
	}
	return out
}

// kill interrupts a session; a killed connection refuses further statements.
func (n *Node) kill(id uint64, queryOnly bool) bool {
	n.mu.Lock()
	c := n.conns[id]
	n.mu.Unlock()
	if c == nil {
		return false
	}
	if queryOnly {
		c.Interrupt().Set(kvapi.ReasonKillQuery)
		return true
	}
	c.killed.Store(true)
	c.Interrupt().Set(kvapi.ReasonKillConn)
	return true
}

// Connect opens a session for user@host, whose account must exist. An address of this machine is localhost beside, as for a socket.
func (n *Node) Connect(user, host, database string) (*Conn, error) {
	addr := ""
	if ip, err := netip.ParseAddr(host); err == nil {
		addr = host
		if ip.IsLoopback() {
			host = "localhost"
		}
	}
	account := n.Users.Match(user, host, addr)
	if account == nil {
		return nil, fmt.Errorf("no account serves %s@%s", user, host)
	}
	n.mu.Lock()
	n.lastID++
	id := n.lastID
	n.mu.Unlock()
	client := session.Client{ID: id, User: user, Host: host, Account: account.Name(), Database: database, MultiStatements: true}
	s, err := session.New(n.Node, client)
	if err != nil {
		return nil, err
	}
	c := &Conn{Session: s, ID: id, node: n, client: client, prepared: map[string]uint32{}}
	n.mu.Lock()
	n.conns[id] = c
	n.mu.Unlock()
	return c, nil
}

// Root opens a session of root@localhost, which every new node has.
func (n *Node) Root(database string) *Conn {
	n.tb.Helper()
	c, err := n.Connect("root", "localhost", database)
	if err != nil {
		n.tb.Fatal(err)
	}
	return c
}
