package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/status"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/types"
	"github.com/pandodb/pando/wire"
)

// Node is one running node.
type Node struct {
	options Options
	log     *slog.Logger

	engine     *engine.Engine
	store      *store.Store
	kv         *kv.Client
	memory     *exec.MemPool // the memory of statements
	spill      *exec.SpillSpace
	cacheBytes int64 // of the engine's cache of blocks and rows
	workers    *exec.WorkerPool
	bulk       *session.Bulk
	wire       *wire.Server
	metrics    *status.Registry
	start      time.Time
	sql        sqlPart
	cluster    clusterPart
	handOn     handOn
	facts      factBook

	listener     net.Listener
	httpListener net.Listener
	http         *http.Server
	loops        sync.WaitGroup // all goroutines of the node, see doc.go
	stop         chan struct{}  // closed by Close: its goroutines end
	ready        atomic.Bool
	ending       atomic.Bool   // Close has begun
	failed       chan struct{} // closed by end: the node can no longer serve
	failure      error         // why; written before failed is closed
	fail         sync.Once     // guards both
	asked        chan struct{} // closed when a client's SHUTDOWN has asked for a Close
	askOnce      sync.Once     // guards it
	backing      sync.Mutex    // held while a backup is made
	checksumming sync.Mutex    // held while checksums are computed
}

// Open starts a node over a directory and returns once it serves. ctx ends the start early. The caller must Close it.
func Open(ctx context.Context, o Options) (*Node, error) {
	if faults := o.Validate(); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := &Node{options: o, log: o.Log, handOn: handOn{open: map[*handed]struct{}{}}, start: clock.Now(), bulk: session.NewBulk(o.BulkBytes), stop: make(chan struct{}), failed: make(chan struct{}), asked: make(chan struct{})}
	for _, warning := range o.Warnings {
		n.log.Warn("setting has no effect", "why", warning)
	}
	// The listeners are opened first: a port in use is the most frequent error, and nothing has been written yet.
	steps := []func() error{n.listen, n.checkFirstRoot, func() error { return n.openStorage(ctx) }, n.openCluster, n.openWire, func() error { return n.begin(ctx) }, n.openHTTP, n.serveClients}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(errors.New("stopped while starting"), n.Close())
		}
		if err := step(); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	n.ready.Store(true)
	httpAddress := ""
	if n.httpListener != nil {
		httpAddress = n.httpListener.Addr().String()
	}
	n.log.Info("ready", "mysql", n.listener.Addr().String(), "http", httpAddress, "socket", o.socketPath(), "version", Version, "data", o.DataDir)
	return n, nil
}

// listen opens the TCP listeners.
func (n *Node) listen() error {
	var err error
	if n.listener, err = listen("listen", n.options.Listen); err != nil {
		return err
	}
	if n.options.HTTP != "" {
		if n.httpListener, err = listen("http", n.options.HTTP); err != nil {
			return err
		}
	}
	if n.options.ClusterListen != "" {
		n.cluster.listener, err = listen("cluster-listen", n.options.ClusterListen)
	}
	return err
}

// begin opens the SQL layer, if the store serves by itself, and in a cluster starts to follow who is the gateway.
func (n *Node) begin(ctx context.Context) error {
	if n.store.Serves() {
		if err := n.openSQL(); err != nil {
			return err
		}
	}
	if n.store.ClusterMetrics().Groups > 0 || n.cluster.member != nil {
		return n.joinRoles(ctx)
	}
	return nil
}

// joinRoles starts to follow who is the gateway, as the store is part of a cluster. It may be called again after an error.
func (n *Node) joinRoles(ctx context.Context) error {
	n.cluster.role.Do(func() { n.loops.Go(n.keepRole) })
	if n.store.Serves() {
		return n.found(ctx)
	}
	return nil
}

func listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another process: stop it, or choose another address with --%s", address, setting)
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", setting, err)
	}
	return l, nil
}

func (n *Node) openStorage(ctx context.Context) error {
	o := &n.options
	id, err := claimDir(o.DataDir)
	if err != nil {
		return err
	}
	claimed := id
	if id, err = n.findMembership(ctx, id); err != nil {
		return err
	}
	if closed, err := closeDir(o.DataDir, o.Socket != "" && within(o.DataDir, o.socketPath())); err != nil {
		n.log.Warn("files of the data directory may be open to other users of the machine", "error", err)
	} else if closed > 0 {
		n.log.Info("files of the data directory were open to other users of the machine and are not any more", "files", closed)
	}
	if err := os.RemoveAll(filepath.Join(o.DataDir, stagingName)); id != 0 && err != nil {
		return fmt.Errorf("what a backup has left in the data directory cannot be removed: %w", err)
	}
	budget, err := newBudget(o, readMemory(systemRoot))
	if err != nil {
		return err
	}
	if o.MemoryBytes > budget.total {
		n.log.Warn("memory-limit is above what the machine or the cgroup has, which is taken instead", "memory-limit", o.MemoryBytes, "bytes", budget.total)
	}
	budget.apply()
	n.memory, n.cacheBytes = exec.NewMemPool(budget.statements()), budget.cache
	n.workers = exec.NewWorkerPool(exec.WorkersFor(runtime.GOMAXPROCS(0)))
	if err := adviseHugePages(min(budget.cache+budget.cache/hugeShare, budget.heap())); err != nil {
		n.log.Info("memory is in small pages", "reason", err)
	}
	n.loops.Go(func() { budget.tuneGC(n.memory, n.stop) })
	n.log.Info("memory budget", "bytes", budget.total, "cache", budget.cache, "memtable", budget.memTable, "statements", n.memory.Limit(), "limit", budget.memoryFrom,
		"procs", budget.procs, "quota", budget.procsFrom)
	limit := fileLimit()
	tables := tableFiles(limit, o.MaxConnections)
	if tables < tableFilesFew {
		n.log.Warn("few files may be open: with more tables than that each lookup opens one; raise the limit (ulimit -n)",
			"limit", limit, "connections", o.MaxConnections, "tables", tables)
	}
	if claimed == 0 {
		id = cmp.Or(id, store.FirstID)
		if err := writeIdentity(o.DataDir, id); err != nil {
			return err
		}
	}
	n.engine, err = engine.Open(engine.Options{Dir: filepath.Join(o.DataDir, storeName), CacheBytes: budget.cache, MemTableBytes: budget.memTable,
		SpareLogBytes: budget.memTable, MaxOpenFiles: tables, PageCache: budget.pageCacheNow, AcceptLostLog: o.AcceptLostLog, Logger: n.log})
	if err != nil {
		return err
	}
	n.memory.Watch(budget.process(n.engine.Settling))
	n.loops.Go(n.pollReads)
	n.spill = exec.NewSpillSpace(o.spillBytes(n.engine.Metrics().DiskFree))
	n.engine.SetFileSpace(n.spill)
	n.engine.SetSortMemory(n.memory, budget.sorters())
	if !o.SyncLog {
		n.log.Warn("sync-log is off: commits are acknowledged before they are on disk, and a crash can lose them")
	}
	n.store, err = store.Open(store.Options{Engine: n.engine, Logger: n.log, Relaxed: !o.SyncLog, ID: id, Transport: (*carrier)(n), Join: n.cluster.member != nil,
		RegionBytesMax: o.RegionBytes, SplitBytes: o.RegionSplitBytes, TableBytesMax: o.RegionTableBytes})
	if err == nil {
		n.kv = kv.New(rpc.Loopback(n.store))
	}
	return err
}

// kill executes KILL. Connection ids have 32 bits: a larger number is no connection's, and must not be truncated to one.
func (n *Node) kill(id uint64, query bool) bool {
	return id <= math.MaxUint32 && n.wire.Kill(uint32(id), query)
}

func (n *Node) openWire() error {
	o := &n.options
	var err error
	options := wire.Options{
		Backend: (*backend)(n), Version: MySQLVersion + Version, MaxConnections: o.MaxConnections,
		RequireSecureTransport: o.RequireTLS, Logger: n.log, Route: n.route, Memory: n.memory,
	}
	if options.ProxyNetworks, err = wire.ParseNetworks(o.ProxyNetworks); err != nil {
		return fmt.Errorf("--proxy-protocol-networks: %w", err)
	}
	if o.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey)
		if err != nil {
			return fmt.Errorf("--tls-cert: %w", err)
		}
		options.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	n.wire, err = wire.New(options)
	return err
}

// serveClients opens the unix socket, and accepts clients there and on the MySQL port.
func (n *Node) serveClients() error {
	if path := n.options.socketPath(); path != "" {
		socket, err := listenSocket(path)
		if err != nil {
			return err
		}
		n.serve(socket)
	}
	n.serve(n.listener)
	return nil
}

// serve accepts clients of a listener until it fails or the node is closed.
func (n *Node) serve(l net.Listener) {
	n.loops.Go(func() {
		if err := n.wire.Serve(l); err != nil && !errors.Is(err, wire.ErrClosed) {
			n.log.Error("the listener failed", "address", l.Addr().String(), "error", err)
			n.end(err)
		}
	})
}

// setRelaxed sets whether commits are acknowledged before they are synced, which a cluster does not permit.
func (n *Node) setRelaxed(on bool) error {
	err := n.store.SetRelaxed(on)
	if errors.Is(err, store.ErrRelaxed) {
		return types.Errorf(types.ErNotSupportedYet, "innodb_flush_log_at_trx_commit other than 1 in a cluster, whose commits are in the log before they are acknowledged")
	}
	return err
}

// promote executes ADMIN PROMOTE.
func (n *Node) promote() (state string, err error) {
	state = "the store is the first of a cluster now"
	switch err := n.store.Promote(); {
	case errors.Is(err, store.ErrPromoted):
		state = "the store is the first of a cluster already" // but if an earlier joinRoles failed, the node is not a member yet
	case errors.Is(err, store.ErrRelaxed):
		return "", types.Errorf(types.ErNotSupportedYet, "ADMIN PROMOTE while sync-log is off; set innodb_flush_log_at_trx_commit to 1 first")
	case err != nil:
		return "", err
	}
	return state, n.joinRoles(context.Background())
}

// setMaxConnections changes the listener's limit.
func (n *Node) setMaxConnections(limit int) { n.wire.SetMaxConnections(limit) }

// Failed is closed when the node can no longer serve; the error of Close then has the reason.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// ShutdownAsked is closed when a client's SHUTDOWN asks for a Close.
func (n *Node) ShutdownAsked() <-chan struct{} { return n.asked }

// MySQLAddr is the address of the MySQL port.
func (n *Node) MySQLAddr() string { return n.listener.Addr().String() }

// SocketPath is the path of the unix socket, empty if there is none.
func (n *Node) SocketPath() string { return n.options.socketPath() }

// StatusURL is the address of the status port, empty if there is none.
func (n *Node) StatusURL() string {
	if n.httpListener == nil {
		return ""
	}
	return "http://" + n.httpListener.Addr().String()
}

// Close waits up to DrainTimeout for running statements, closes the connections and ends the node. Everything acknowledged is on disk then.
func (n *Node) Close() error {
	n.ready.Store(false)
	n.ending.Store(true)
	n.log.Info("stopping")
	var faults []error
	if n.wire != nil {
		ctx, cancel := context.WithTimeout(context.Background(), n.options.DrainTimeout)
		err := n.wire.Shutdown(ctx)
		cancel()
		if err != nil {
			n.log.Warn("connections were cut after the drain timeout", "error", err)
		}
	} else if n.listener != nil {
		faults = append(faults, n.listener.Close())
	}
	if n.http != nil {
		faults = append(faults, n.http.Close())
	} else if n.httpListener != nil {
		faults = append(faults, n.httpListener.Close())
	}
	n.handOn.cutAll()
	close(n.stop)
	n.loops.Wait()
	if g := n.sql.set(nil); g != nil {
		if err := g.close(false); err != nil && n.transport() != nil {
			// Without a majority nothing can be written. Then some numbers of AUTO_INCREMENT are skipped, no more.
			n.log.Warn("ending what executes SQL", "error", err)
		} else {
			faults = append(faults, err)
		}
		n.resign()
	}
	if n.spill != nil {
		n.spill.Wait()
	}
	faults = append(faults, n.closeCluster())
	if n.store != nil {
		faults = append(faults, n.store.Close())
	}
	if n.engine != nil {
		faults = append(faults, n.engine.Close())
	}
	faults = append(faults, n.failure)
	err := errors.Join(faults...)
	n.log.Info("stopped")
	return err
}
