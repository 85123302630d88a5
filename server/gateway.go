package server

import (
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// gateway is the SQL layer over the store: catalog, schema changes, statistics, accounts and variables, and the sessions that use them.
// A node outside a cluster has one from Open to Close; a node of a cluster has one while it is the cluster's gateway (role.go).
type gateway struct {
	autoIDs *table.AutoIDs
	stats   *stats.Store
	ddl     *ddl.Executor
	shared  *session.Node
	open    sync.WaitGroup // sessions
}

// sqlPart is the node's gateway, if it is one.
type sqlPart struct {
	mu  sync.RWMutex // guards now, and orders enter before or after set: no session begins once set has replaced its gateway
	now *gateway
}

// get returns the gateway, nil while this node is not the gateway.
func (p *sqlPart) get() *gateway {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.now
}

// enter returns the gateway for a new session, which calls its open.Done at the end; nil while this node is not the gateway.
func (p *sqlPart) enter() *gateway {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.now != nil {
		p.now.open.Add(1)
	}
	return p.now
}

// set replaces the gateway and returns the one before.
func (p *sqlPart) set(g *gateway) (before *gateway) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.now = p.now, g
	return before
}

// shared returns what sessions share, nil while this node is not the gateway.
func (n *Node) shared() *session.Node {
	if g := n.sql.get(); g != nil {
		return g.shared
	}
	return nil
}

// planStats are those of the cached plans; zero while this node is no gateway.
func (n *Node) planStats() plan.CacheStats {
	if shared := n.shared(); shared != nil {
		return shared.Plans.Stats()
	}
	return plan.CacheStats{}
}

// temporaryTables counts the temporary tables of this gateway's sessions, and their bytes.
func (n *Node) temporaryTables() (tables int, bytes int64) {
	if shared := n.shared(); shared != nil {
		return shared.DDL.TemporaryTables()
	}
	return 0, 0
}

// clustered reports whether the store is part of a cluster.
func (n *Node) clustered() bool { return n.kv.Clustered() }

// openSQL opens the SQL layer: the node is a gateway then.
func (n *Node) openSQL() error {
	g := &gateway{}
	if err := n.openGateway(g); err != nil {
		return errors.Join(err, g.close(false))
	}
	n.sql.set(g)
	return nil
}

func (n *Node) openGateway(g *gateway) error {
	o := &n.options
	txns := txn.NewManager(n.kv, txn.ManagerOptions{Memory: n.memory})
	schema, err := catalog.Open(txns)
	if err != nil {
		return err
	}
	schema.ComputeWith(plan.NewComputer)
	statistics, err := stats.Open(txns, schema)
	if err != nil {
		return err
	}
	g.autoIDs = table.NewAutoIDs(txns)
	g.ddl, err = ddl.Open(ddl.Options{Catalog: schema, Txns: txns, AutoIDs: g.autoIDs, Destroy: txns.DropSpan, Gone: statistics.Drop, Log: n.log})
	if err != nil {
		return err
	}
	users, err := n.openAccounts(txns)
	if err != nil {
		return err
	}
	temp, err := cleanTemp(o.DataDir)
	if err != nil {
		return err
	}
	files, err := openSecureFiles(o.SecureFilePriv, o.DataDir)
	if err != nil {
		return err
	}
	g.shared = &session.Node{
		Files: files, SecureFilePriv: o.SecureFilePriv,
		Txns: txns, Catalog: schema, DDL: g.ddl, Plans: plan.NewCache(o.PlanCacheBytes), AutoIDs: g.autoIDs, Stats: statistics, Users: users,
		Log: n.log, LogVar: o.LogVar, Version: MySQLVersion + Version, DataDir: o.DataDir, Socket: o.socketPath(), TempDir: temp, Spill: n.spill, Start: n.start,
		Port: n.listener.Addr().(*net.TCPAddr).Port, SetRelaxed: n.setRelaxed, Promote: n.promote, Shutdown: func() { n.askOnce.Do(func() { close(n.asked) }) }, Backup: n.backup, Cluster: n.clusterAdmin(),
		Clustered: n.clustered, Regions: n.regionList, Stores: n.storeList, HashPassword: password.Hash, Counters: n.figures,
		Processes: n.processes, Kill: n.kill,
		SetMaxConnections: n.setMaxConnections, Bulk: n.bulk, Memory: n.memory, Workers: n.workers,
	}
	g.stats = statistics
	statistics.Start(g.shared.Plans.Forget)
	flush := "1"
	if !o.SyncLog {
		flush = "0"
	}
	settings := []session.Setting{
		{Name: "max_prepared_stmt_count", Value: strconv.Itoa(o.MaxPreparedStatements)},
		{Name: "innodb_flush_log_at_trx_commit", Value: flush},
		{Name: "innodb_buffer_pool_size", Value: strconv.FormatInt(n.cacheBytes, 10)},
		{Name: "time_zone", Value: o.DefaultTimeZone},
		{Name: "log_level", Value: o.LogLevel},
	}
	if o.MaxConnections != defaultMaxConnections {
		// With the default, a value of SET PERSIST has priority.
		settings = append(settings, session.Setting{Name: "max_connections", Value: strconv.Itoa(o.MaxConnections)})
	}
	if err := g.shared.Prepare(settings); err != nil {
		return err
	}
	// Only the option counts for the listener: a value that SET PERSIST saved in an older version is overwritten.
	required := "OFF"
	if o.RequireTLS {
		required = "ON"
	}
	g.shared.SetGlobal("require_secure_transport", required)
	return nil
}

// openAccounts loads the accounts, and refuses to listen to other machines while root has no password.
func (n *Node) openAccounts(txns *txn.Manager) (*privilege.Store, error) {
	password, err := n.options.rootPassword()
	if err != nil {
		return nil, err
	}
	users, err := privilege.Open(txns, func() ([]*privilege.Account, error) {
		if n.listensBeyond() && password == "" {
			return nil, n.rootIsOpen() // before accounts are written, so that the next start can still set the password
		}
		return firstAccounts(password), nil
	})
	if err != nil {
		return nil, err
	}
	if password != "" && !users.Fresh {
		n.log.Info("the first password of root is not used: the directory has accounts already")
	}
	if n.listensBeyond() && users.RootIsOpen() {
		return nil, n.rootIsOpen()
	}
	return users, nil
}

// close closes the SQL layer, whose sessions have ended. If lost is set the node is not the gateway any more and writes nothing.
func (g *gateway) close(lost bool) error {
	if g.stats != nil {
		g.stats.Close()
	}
	if g.ddl != nil {
		g.ddl.Close()
	}
	if g.autoIDs != nil && !lost {
		return g.autoIDs.Close()
	}
	return nil
}
