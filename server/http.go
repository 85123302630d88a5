package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/status"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/wire"
)

// Limits of the status port, which takes no bodies and few clients.
const (
	httpHeaderTimeout  = 5 * time.Second
	httpReadTimeout    = 10 * time.Second // includes a body, which only net/http reads, to find the next request
	httpIdleTimeout    = 2 * time.Minute  // more than the usual pause between two scrapes
	httpWriteTimeout   = 30 * time.Second
	httpHeaderBytesMax = 16 << 10
	httpConnsMax       = 64
)

// openHTTP serves the status port.
func (n *Node) openHTTP() error {
	if n.httpListener == nil {
		return nil
	}
	if err := n.register(); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", n.serveRoot)
	mux.HandleFunc("GET /status", n.serveStatus)
	mux.HandleFunc("GET /metrics", n.serveMetrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, !n.engine.Failed(), "ok", "storage has failed")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, n.ready.Load() && n.serves(), "ready", "not ready")
	})
	mux.HandleFunc("GET /debug/checksums", onlyLocal(n.serveChecksums))
	mux.HandleFunc("GET /debug/pprof/", onlyLocal(pprof.Index))
	mux.HandleFunc("GET /debug/pprof/profile", onlyLocal(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/trace", onlyLocal(pprof.Trace))
	n.http = &http.Server{Handler: mux, ReadHeaderTimeout: httpHeaderTimeout, ReadTimeout: httpReadTimeout, WriteTimeout: httpWriteTimeout,
		IdleTimeout: httpIdleTimeout, MaxHeaderBytes: httpHeaderBytesMax}
	listener := &boundedListener{Listener: n.httpListener, places: make(chan struct{}, httpConnsMax)}
	n.loops.Add(1)
	go func() {
		defer n.loops.Done()
		if err := n.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			n.log.Error("the status port failed", "error", err)
		}
	}()
	return nil
}

// onlyLocal refuses clients of other machines: profiles and checksums cost processor time, and a profile shows more than the metrics do. It
// also refuses requests that come from this machine but on behalf of another: from a page in a browser, by DNS rebinding (a foreign Host) or
// across sites (Origin, Sec-Fetch-Site), and from a proxy.
func onlyLocal(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		switch {
		case err != nil || !from.Addr().Unmap().IsLoopback():
			http.Error(w, "what is below /debug is for clients on this machine", http.StatusForbidden)
		case !localHost(r.Host) || r.URL.IsAbs():
			http.Error(w, "what is below /debug is for requests to an address of loopback or to localhost", http.StatusForbidden)
		case slices.ContainsFunc(strangersHeaders, func(name string) bool { return r.Header.Get(name) != "" }) || !sameSite(r.Header.Get("Sec-Fetch-Site")):
			http.Error(w, "what is below /debug is for requests that come directly", http.StatusForbidden)
		default:
			serve(w, r)
		}
	}
}

// strangersHeaders are headers that proxies add, and that browsers add to requests of another site's page.
var strangersHeaders = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Origin"}

// sameSite reports whether a Sec-Fetch-Site header permits a request: it does not come from a page of another site. Only browsers send it.
func sameSite(value string) bool { return value == "" || value == "same-origin" || value == "none" }

// localHost reports whether a Host header, with or without port, is a loopback address or localhost, which no name server can redirect.
func localHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.Unmap().IsLoopback()
}

// boundedListener accepts as many connections at a time as there are places, and closes further ones at once: a health check must not wait
// in a queue behind slow clients.
type boundedListener struct {
	net.Listener
	places chan struct{}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.places <- struct{}{}:
			return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
		default:
			_ = c.Close() // nothing was sent
		}
	}
}

// boundedConn gives its place back when it is closed.
type boundedConn struct {
	net.Conn
	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

func answer(w http.ResponseWriter, ok bool, good, bad string) {
	if !ok {
		http.Error(w, bad, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, good)
}

// nodeStatus is the document of /status.
type nodeStatus struct {
	Version       string  `json:"version"`
	MySQLVersion  string  `json:"mysql_version"`
	Ready         bool    `json:"ready"`
	UptimeSeconds float64 `json:"uptime_seconds"`
	Connections   int     `json:"connections"`
	Regions       int     `json:"regions"`
	Mode          string  `json:"mode"`
	RaftGroups    int     `json:"raft_groups"`
	RaftGroupsLed int     `json:"raft_groups_led"`
	Incarnation   uint64  `json:"incarnation"`
	DiskBytes     uint64  `json:"disk_bytes"`
	DiskFull      bool    `json:"disk_full"`
	ProcessID     int     `json:"pid"`

	Cluster *clusterStatus `json:"cluster,omitempty"`
}

func (n *Node) serveStatus(w http.ResponseWriter, _ *http.Request) {
	m, raft, mode := n.engine.Metrics(), n.store.ClusterMetrics(), "alone"
	if raft.Groups > 0 {
		mode = "cluster"
	}
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(nodeStatus{Version: Version, MySQLVersion: MySQLVersion + Version, Ready: n.ready.Load() && n.serves(), UptimeSeconds: clock.Now().Sub(n.start).Seconds(),
		Connections: n.wire.OpenConnections(), Regions: len(n.store.Regions()),
		Mode: mode, RaftGroups: raft.Groups, RaftGroupsLed: raft.Led, Incarnation: n.store.Incarnation(), DiskBytes: m.DiskBytes, DiskFull: n.engine.DiskFull(), ProcessID: os.Getpid(), Cluster: n.clusterStatus()})
	if err != nil {
		n.log.Debug("a status client went away", "error", err)
	}
}

func (n *Node) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if err := n.metrics.WriteText(w); err != nil {
		n.log.Debug("a metrics client went away", "error", err)
	}
}

// figure is a metric that is computed when it is read.
type figure struct {
	name, help string
	counter    bool
	read       func() float64
}

// clusterFigures are the metrics of a cluster.
func (n *Node) clusterFigures(raft *store.ClusterMetrics) []figure {
	routed := n.kv.Routed()
	return []figure{
		{"raft_groups", "Raft groups of this store, region 0 included; 0 while it is alone.", false, func() float64 { return float64(raft.Groups) }},
		{"raft_groups_led", "Raft groups that this store leads.", false, func() float64 { return float64(raft.Led) }},
		{"raft_queue_length", "Proposals that stand in the lines of regions.", false, func() float64 { return float64(raft.Waiting) }},
		{"raft_proposals_total", "Proposals, of which one entry of a log holds several.", true, func() float64 { return float64(raft.Proposals) }},
		{"raft_entries_total", "Entries proposed to logs.", true, func() float64 { return float64(raft.Entries) }},
		{"raft_entry_bytes_total", "Bytes of entries proposed.", true, func() float64 { return float64(raft.EntryBytes) }},
		{"raft_append_seconds_total", "Time in appends to logs, syncs included.", true, func() float64 { return raft.AppendSeconds }},
		{"raft_apply_seconds_total", "Time in applying entries.", true, func() float64 { return raft.ApplySeconds }},
		{"raft_log_bytes", "Bytes of entries that are not truncated.", false, func() float64 { return float64(raft.LogBytes) }},
		{"raft_truncations_total", "Truncations of logs.", true, func() float64 { return float64(raft.Truncations) }},
		{"raft_elections_total", "Elections of this store's replicas.", true, func() float64 { return float64(raft.Elections) }},
		{"raft_member_changes_total", "Changes of the members of regions that were applied here.", true, func() float64 { return float64(raft.MemberChanges) }},
		{"raft_removals_total", "Replicas that were removed from this store.", true, func() float64 { return float64(raft.Removals) }},
		{"raft_snapshots_sent_total", "Snapshots of regions that others took.", true, func() float64 { return float64(raft.SnapshotsSent) }},
		{"raft_snapshots_failed_total", "Snapshots of regions that others did not take.", true, func() float64 { return float64(raft.SnapshotsFailed) }},
		{"raft_snapshots_taken_total", "Snapshots of regions that were taken in here.", true, func() float64 { return float64(raft.SnapshotsTaken) }},
		{"raft_leases_total", "Times that a majority confirmed that this node is the gateway.", true, func() float64 { return float64(raft.Leases) }},
		{"raft_leases_missed_total", "Times that none did in time.", true, func() float64 { return float64(raft.LeasesMissed) }},
		{"raft_lag_entries", "Entries that the copy furthest behind lacks, of regions that are led here.", false, func() float64 { return float64(raft.Lag) }},
		{"raft_unanswered_copies", "Copies of regions that are led here which have not answered for an election timeout.", false, func() float64 { return float64(raft.Unanswered) }},
		{"commit_marks", "Keys whose commit is under way in a region's log.", false, func() float64 { return float64(raft.Marks) }},
		{"commit_locks", "Keys locked by commits of several phases.", false, func() float64 { return float64(raft.Locks) }},
		{"commit_lookups_total", "Keys whose newest version was looked for before a commit, because they may have changed since they were locked.", true, func() float64 { return float64(raft.Looked) }},
		{"read_mark_waits_total", "Reads that waited for a commit under way.", true, func() float64 { return float64(raft.MarkWaits) }},
		{"read_lock_waits_total", "Reads that waited for a commit of several phases.", true, func() float64 { return float64(raft.LockWaits) }},
		{"commits_undetermined_total", "Commits of which nobody knows what became of them.", true, func() float64 { return float64(routed.Undetermined.Load()) }},
		{"commits_checked_total", "Commits of a cluster that relied on what they had read.", true, func() float64 { return float64(routed.Checked.Load()) }},
		{"commit_conflicts_total", "Commits refused because what they rely on had changed.", true, func() float64 { return float64(routed.Conflicts.Load()) }},
		{"locks_resolved_total", "Locks of other transactions that were found out about.", true, func() float64 { return float64(routed.Resolved.Load()) }},
	}
}

// versionFigures are the metrics of timestamps and of the collection of superseded versions.
func versionFigures(s *store.Metrics) []figure {
	return []figure{
		{"timestamps_total", "Timestamps that this node issued.", true, func() float64 { return float64(s.Timestamps) }},
		{"timestamp_marks_total", "Marks above the timestamps issued that were to be saved.", true, func() float64 { return float64(s.Marks) }},
		{"gc_backlog", "Bytes of the queue of superseded versions that wait for collection.", false, func() float64 { return float64(s.GCBacklogBytes) }},
		{"gc_deleted_total", "Superseded versions deleted.", true, func() float64 { return float64(s.GCDeleted) }},
	}
}

// register registers the metrics. They are computed when they are read, from counters of the packages.
func (n *Node) register() error {
	n.metrics = status.NewRegistry()
	var w wire.Counters
	var raft store.ClusterMetrics
	m, s := n.engine.Metrics(), n.store.Metrics()
	n.metrics.BeforeWrite(func() {
		w, m, s, raft = n.wire.Counters(), n.engine.Metrics(), n.store.Metrics(), n.store.ClusterMetrics()
	})
	figures := []figure{
		{"connections", "Open client connections.", false, func() float64 { return float64(n.wire.OpenConnections()) }},
		{"connections_total", "Connections accepted.", true, func() float64 { return float64(w.Connections) }},
		{"connections_refused_total", "Connections refused at the limit.", true, func() float64 { return float64(w.Refused) }},
		{"logins_denied_total", "Logins refused.", true, func() float64 { return float64(w.Denied) }},
		{"logins_delayed_total", "Logins answered late, or refused unseen, after others of their source had failed.", true, func() float64 { return float64(w.Delayed) }},
		{"client_bytes_received_total", "Bytes received from clients.", true, func() float64 { return float64(w.BytesIn) }},
		{"client_bytes_sent_total", "Bytes sent to clients.", true, func() float64 { return float64(w.BytesOut) }},
		{"statement_errors_total", "Error packets sent.", true, func() float64 { return float64(w.Errors) }},
		{"malformed_packets_total", "Connections closed for malformed packets.", true, func() float64 { return float64(w.Malformed) }},
		{"bulk_waits_total", "Bulk statements that waited for others to end, for their memory.", true, func() float64 { return float64(n.bulk.Waits()) }},
		{"panics_total", "Connections ended by a fault of the server.", true, func() float64 { return float64(w.Panics) }},
		{"wal_syncs_total", "Syncs of the write-ahead log.", true, func() float64 { return float64(m.WALSyncs) }},
		{"wal_sync_seconds_total", "Time in syncs of the write-ahead log.", true, func() float64 { return m.WALSyncSeconds }},
		{"wal_bytes_total", "Bytes written to the write-ahead log.", true, func() float64 { return float64(m.WALBytes) }},
		{"wal_live_bytes", "Bytes of the write-ahead log that no table holds yet.", false, func() float64 { return float64(m.WALLiveBytes) }},
		{"flushed_bytes_total", "Bytes flushed from memtables.", true, func() float64 { return float64(m.FlushedBytes) }},
		{"compacted_bytes_total", "Bytes written by compactions.", true, func() float64 { return float64(m.CompactedBytes) }},
		{"garbage_flushes_total", "Memtables flushed because what is dead in them slowed scans.", true, func() float64 { return float64(m.GarbageFlushes) }},
		{"write_stalls_total", "Times that writes were stopped by the storage engine.", true, func() float64 { return float64(m.Stalls) }},
		{"cache_hits_total", "Block cache hits.", true, func() float64 { return float64(m.CacheHits) }},
		{"cache_misses_total", "Block cache misses.", true, func() float64 { return float64(m.CacheMisses) }},
		{"disk_reads_total", "Block cache misses that had to wait for the disk.", true, func() float64 { return float64(m.DiskReads) }},
		{"direct_reads_total", "Disk reads past the page cache.", true, func() float64 { return float64(m.DirectReads) }},
		{"table_opens_total", "Tables opened for reading.", true, func() float64 { return float64(m.TableOpens) }},
		{"cache_bytes", "Bytes in the block cache.", false, func() float64 { return float64(m.CacheBytes) }},
		{"outside_heap_bytes", "Bytes of blocks and memtables outside of the Go heap.", false, func() float64 { return float64(engine.OutsideBytes()) }},
		{"row_cache_hits_total", "Lookups by key answered by the row cache.", true, func() float64 { return float64(s.Rows.Hits) }},
		{"row_cache_misses_total", "Lookups by key that went on to the engine.", true, func() float64 { return float64(s.Rows.Misses) }},
		{"row_cache_bytes", "Bytes of the row cache, taken from the block cache.", false, func() float64 { return float64(s.Rows.Bytes) }},
		{"row_cache_rows", "Rows in the row cache.", false, func() float64 { return float64(s.Rows.Entries) }},
		{"statement_memory_waits_total", "How often a statement or a client's packet waited until the storage engine had given memory back.", true, func() float64 { return float64(n.memory.Waits()) }},
		{"statement_bytes", "Bytes that statements of more than a mebibyte hold.", false, func() float64 { return float64(n.memory.Used()) }},
		{"spill_bytes", "Bytes of the files in which statements spill and ADD INDEX sorts.", false, func() float64 { return float64(n.spill.Used()) }},
		{"spill_limit_bytes", "Bytes that spill files may take together.", false, func() float64 { return float64(n.spill.Limit()) }},
		{"memtable_bytes", "Bytes in memtables.", false, func() float64 { return float64(m.MemTableBytes) }},
		{"l0_sublevels", "Layers of tables that flushes left and that no compaction has merged.", false, func() float64 { return float64(m.L0Sublevels) }},
		{"read_amplification", "Layers of tables that a scan merges, without memtables.", false, func() float64 { return float64(m.ReadAmp) }},
		{"compaction_debt_bytes", "Estimated bytes that compactions have to write until the tree is in shape.", false, func() float64 { return float64(m.CompactionDebt) }},
		{"disk_bytes", "Bytes in the data directory.", false, func() float64 { return float64(m.DiskBytes) }},
		{"disk_free_bytes", "Free bytes on the data directory's file system.", false, func() float64 { return float64(m.DiskFree) }},
		{"regions", "Regions of this node.", false, func() float64 { return float64(s.Regions) }},
		{"region_splits_total", "Regions that were cut in two.", true, func() float64 { return float64(s.Splits) }},
		{"region_border_splits_total", "Of them, those that this node cut where a table begins or ends.", true, func() float64 { return float64(s.BorderSplits) }},
		{"temporary_tables", "Temporary tables of sessions.", false, func() float64 { tables, _ := n.temporaryTables(); return float64(tables) }},
		{"temporary_table_bytes", "Bytes of keys and values in temporary tables.", false, func() float64 { _, bytes := n.temporaryTables(); return float64(bytes) }},
		{"plan_cache_hits_total", "Statements whose plan was cached.", true, func() float64 { return float64(n.planStats().Hits) }},
		{"plan_cache_misses_total", "Statements whose plan was not cached.", true, func() float64 { return float64(n.planStats().Misses) }},
		{"plan_cache_bytes", "Bytes of cached plans.", false, func() float64 { return float64(n.planStats().Bytes) }},
	}
	figures = slices.Concat(figures, versionFigures(&s), n.clusterFigures(&raft))
	for _, f := range figures {
		register := n.metrics.GaugeFunc
		if f.counter {
			register = n.metrics.CounterFunc
		}
		if err := register(f.name, f.help, nil, f.read); err != nil {
			return err
		}
	}
	return n.registerGroups(&w)
}

// registerGroups registers the metrics that have labels, or that other packages define.
func (n *Node) registerGroups(w *wire.Counters) error {
	if err := n.metrics.GaugeFunc("build_info", "Always 1; the labels say what this is.", status.Labels{"version": Version, "mysql_version": MySQLVersion + Version},
		func() float64 { return 1 }); err != nil {
		return err
	}
	if err := n.metrics.Process(); err != nil {
		return err
	}
	if err := n.registerLatencies(); err != nil {
		return err
	}
	if t := n.transport(); t != nil {
		if err := t.Metrics().Register(n.metrics); err != nil {
			return err
		}
	}
	routed := n.kv.Routed()
	for path := range routed.Paths {
		if err := n.metrics.CounterFunc("cluster_commits_total", "Commits of a cluster, by path.", status.Labels{"path": kv.PathName(path)},
			func() float64 { return float64(routed.Paths[path].Load()) }); err != nil {
			return err
		}
	}
	optimistic := n.kv.Optimistic()
	for result, count := range map[string]*atomic.Uint64{"committed": &optimistic.Commits, "conflict": &optimistic.Conflicts} {
		if err := n.metrics.CounterFunc("optimistic_commits_total", "Optimistic transactions that wrote, by what came of them.", status.Labels{"result": result},
			func() float64 { return float64(count.Load()) }); err != nil {
			return err
		}
	}
	return n.registerCommands(w)
}

// registerLatencies registers the histograms of statements' durations, by their kind.
func (n *Node) registerLatencies() error {
	for k := range wire.NumKinds {
		h := new(status.Histogram)
		n.metrics.BeforeWrite(func() { n.wire.Latencies(k, h) })
		if err := n.metrics.DurationHistogram("statement_duration_seconds", "Time from a statement's command to its answer, by kind.", status.Labels{"type": k.String()}, h); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) registerCommands(w *wire.Counters) error {
	for command := range w.Commands {
		name := commandNames[byte(command)]
		if name == "" {
			continue
		}
		if name = strings.ReplaceAll(strings.ToLower(name), " ", "_"); byte(command) == wire.ComSleep {
			name = "unknown"
		}
		if err := n.metrics.CounterFunc("commands_total", "Commands received, by kind.", status.Labels{"command": name},
			func() float64 { return float64(w.Commands[command]) }); err != nil {
			return err
		}
	}
	return nil
}

// figures are the counters of SHOW STATUS.
func (n *Node) figures() map[string]string {
	w, m, s := n.wire.Counters(), n.engine.Metrics(), n.store.Metrics()
	questions := w.Questions()
	text := func(v uint64) string { return strconv.FormatUint(v, 10) }
	routed := n.kv.Routed()
	figures := map[string]string{"Pando_commits_checked": text(routed.Checked.Load()), "Pando_commit_conflicts": text(routed.Conflicts.Load()),
		"Threads_connected": strconv.Itoa(n.wire.OpenConnections()), "Connections": text(w.Connections), "Aborted_clients": text(w.Aborted),
		"Aborted_connects": text(w.BadConnects), "Bytes_received": text(w.BytesIn), "Bytes_sent": text(w.BytesOut), "Questions": text(questions), "Queries": text(questions),
		"Innodb_os_log_fsyncs": text(m.WALSyncs), "Innodb_os_log_written": text(m.WALBytes),
		"Innodb_row_lock_current_waits": strconv.FormatInt(s.LockWaiting, 10), "Innodb_row_lock_waits": text(s.LockWaits),
		"Innodb_row_lock_time": strconv.FormatInt(s.LockWaitTotal.Milliseconds(), 10),
	}
	most, at := n.wire.MostConnections()
	figures["Max_used_connections"], figures["Connection_errors_max_connections"] = strconv.Itoa(most), text(w.Refused)
	if most > 0 {
		figures["Max_used_connections_time"] = at.UTC().Format(time.DateTime)
	}
	n.innodbFigures(figures, &m)
	optimistic := n.kv.Optimistic()
	figures["Pando_optimistic_commits"], figures["Pando_optimistic_conflicts"] = text(optimistic.Commits.Load()), text(optimistic.Conflicts.Load())
	for path := range routed.Paths {
		figures["Pando_commits_"+kv.PathName(path)] = text(routed.Paths[path].Load())
	}
	return figures
}

// innodbFigures adds figures of the block cache and the disk under the names of InnoDB's buffer pool, which dashboards use.
func (n *Node) innodbFigures(figures map[string]string, m *engine.Metrics) {
	total := n.cacheBytes / session.InnoDBPageBytes
	data := min(m.CacheBytes/session.InnoDBPageBytes, total)
	for name, v := range map[string]int64{"buffer_pool_pages_total": total, "buffer_pool_pages_data": data, "buffer_pool_pages_free": total - data,
		"buffer_pool_bytes_data": m.CacheBytes, "buffer_pool_read_requests": m.CacheHits + m.CacheMisses, "buffer_pool_reads": m.CacheMisses,
		"page_size": session.InnoDBPageBytes, "data_fsyncs": int64(m.WALSyncs), "data_reads": int64(m.DiskReads)} {
		figures["Innodb_"+name] = strconv.FormatInt(v, 10)
	}
}

// statistics returns the reply to COM_STATISTICS.
func (n *Node) statistics() string {
	w := n.wire.Counters()
	questions := w.Questions()
	uptime := clock.Now().Sub(n.start).Seconds()
	return fmt.Sprintf("Uptime: %.0f  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		uptime, n.wire.OpenConnections(), questions, float64(questions)/max(uptime, 1))
}
