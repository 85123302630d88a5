package server

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/wire"
)

// Version is the release of this binary; the linker may set it.
var Version = "0.1.0"

// MySQLVersion begins the version that clients see in the handshake. Clients choose their dialect by it, so it begins as MySQL's does.
const MySQLVersion = "8.0.36-pando-"

// Defaults and limits of the settings.
const (
	defaultListen         = "127.0.0.1:4000"
	defaultHTTP           = "127.0.0.1:10080"
	defaultMaxConnections = 2000
	maxConnectionsMax     = 100_000
	maxProcsMax           = 1024
	cacheBytesMin         = 8 << 20
	drainDefault          = 10 * time.Second
	preparedStmtsDefault  = 1_000_000
	preparedStmtsMax      = 16_777_216
	bulkBytesDefault      = 64 << 20
	bulkBytesMin          = 1 << 20
)

// Options are the effective settings of one node. The zero value of a field means its default.
type Options struct {
	DataDir string
	Listen  string
	// Socket is the path of a unix socket, relative to DataDir if it is not absolute; empty for none.
	Socket string
	HTTP   string
	// ClusterListen is the address for other nodes, empty for none; Advertise is the address that they are told, if it differs.
	ClusterListen, Advertise string
	// Join lists addresses of members of the cluster to join, or to find again; JoinToken is a token of that cluster.
	Join, JoinToken string
	// JoinTokenFile names a file whose first line is the token.
	JoinTokenFile  string
	MaxConnections int
	// CacheBytes is the block cache's size; 0 takes a share of the machine's or the cgroup's memory.
	CacheBytes int64
	// MemoryBytes is the process's memory budget; 0 takes the machine's or the cgroup's.
	MemoryBytes int64
	// MaxProcs bounds the processors used; 0 takes all that the machine or the cgroup gives.
	MaxProcs int
	// SyncLog false acknowledges commits before they reach the disk, and can lose them.
	SyncLog bool
	// AcceptLostLog permits a start although acknowledged commits at the end of the log are lost.
	AcceptLostLog   bool
	LogLevel        string
	LogFormat       string
	TLSCert, TLSKey string
	RequireTLS      bool
	// RootPasswordFile names a file whose first line is the password that root gets at the first start; RootPassword is that itself.
	RootPasswordFile, RootPassword string
	// ProxyNetworks lists addresses and CIDR blocks of proxies that speak the PROXY protocol.
	ProxyNetworks         string
	DrainTimeout          time.Duration
	MaxPreparedStatements int
	DefaultTimeZone       string
	PlanCacheBytes        int64
	// SpillBytes is what the spill files of all statements may take together; 0 takes a share of the free disk.
	SpillBytes int64
	// RegionBytes, RegionSplitBytes and RegionTableBytes say when regions are split and into what; see store.Options. Zero takes its defaults.
	RegionBytes, RegionSplitBytes, RegionTableBytes int64
	// BackupDir is the directory below which ADMIN BACKUP may write; empty for anywhere, backupOff for nowhere.
	BackupDir string
	// SecureFilePriv says which files statements may read and write: NULL none, a directory those in it, empty all outside of DataDir.
	SecureFilePriv string
	// BulkBytes bounds the memory of bulk statements that run at once; see session.Bulk.
	BulkBytes int64

	// Log receives the node's structured log; nil discards it.
	Log *slog.Logger
	// LogVar is the threshold of Log while the node runs; nil if it cannot change.
	LogVar *slog.LevelVar
	// Warnings are about settings that were accepted without their usual effect, for the log at start.
	Warnings []string
	// origins has the source of each setting that was set, by name; nil if they were not loaded.
	origins map[string]string
}

// DefaultOptions returns the settings of a node started with nothing but a directory.
func DefaultOptions() Options {
	return Options{
		DataDir:               "data",
		Listen:                defaultListen,
		HTTP:                  defaultHTTP,
		MaxConnections:        defaultMaxConnections,
		SyncLog:               true,
		LogLevel:              "info",
		LogFormat:             "text",
		DrainTimeout:          drainDefault,
		MaxPreparedStatements: preparedStmtsDefault,
		DefaultTimeZone:       "SYSTEM",
		PlanCacheBytes:        32 << 20,
		BulkBytes:             bulkBytesDefault,
		SecureFilePriv:        session.NoFiles,
	}
}

// spillBytesMin is the least space for spill files: they take it by the mebibyte.
const spillBytesMin = 16 << 20

// spillFreeShare: by default spill files may take 1/spillFreeShare of the free disk.
const spillFreeShare = 2

// spillBytes is how much spill files may take with so much of the disk free; 0 if neither is known.
func (o *Options) spillBytes(free uint64) int64 {
	if o.SpillBytes != 0 || free == 0 {
		return o.SpillBytes
	}
	return max(int64(min(free, math.MaxInt64)/spillFreeShare), spillBytesMin)
}

// regionBytesMin is the least value of the settings of region sizes: smaller regions cost more than the data in them.
const regionBytesMin = 1 << 20

// validateRegions reports faults of the sizes of regions.
func (o *Options) validateRegions(fault func(name, format string, args ...any)) {
	least := func(name string, size int64) {
		if size != 0 && size < regionBytesMin {
			fault(name, "%d is below %d", size, regionBytesMin)
		}
	}
	least("region-max-size", o.RegionBytes)
	least("region-split-size", o.RegionSplitBytes)
	least("region-table-size", o.RegionTableBytes)
	largest := store.Options{RegionBytesMax: o.RegionBytes}
	largest.EnsureDefaults()
	if o.RegionSplitBytes > largest.RegionBytesMax {
		fault("region-split-size", "%d is above region-max-size, which is %d", o.RegionSplitBytes, largest.RegionBytesMax)
	}
}

// validateWork reports faults of the settings of statements' memory and disk.
func (o *Options) validateWork(fault func(name, format string, args ...any)) {
	if o.SpillBytes != 0 && o.SpillBytes < spillBytesMin {
		fault("tmp-storage-quota", "%d is below %d", o.SpillBytes, spillBytesMin)
	}
	if o.BulkBytes < bulkBytesMin {
		fault("bulk-memory", "%d is below %d", o.BulkBytes, bulkBytesMin)
	}
}

// Validate reports every fault of the settings at once.
func (o *Options) Validate() []error {
	var faults []error
	fault := func(name, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
	}
	if o.DataDir == "" {
		fault("data-dir", "must not be empty")
	}
	for name, address := range map[string]string{"listen": o.Listen, "http": o.HTTP} {
		if name == "http" && address == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(address); err != nil {
			fault(name, "%q is not HOST:PORT", address)
		} else if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			fault(name, "port %q is not between 0 and 65535", port)
		}
	}
	if o.BackupDir != "" && o.BackupDir != backupOff && !filepath.IsAbs(o.BackupDir) {
		fault("backup-dir", "%q is neither an absolute path nor %s", o.BackupDir, backupOff)
	}
	faults = append(faults, o.validateCluster()...)
	if o.MaxConnections < 1 || o.MaxConnections > maxConnectionsMax {
		fault("max-connections", "%d is not between 1 and %d", o.MaxConnections, maxConnectionsMax)
	}
	if o.CacheBytes != 0 && o.CacheBytes < cacheBytesMin {
		fault("cache-size", "%d is below %d", o.CacheBytes, cacheBytesMin)
	}
	if o.MemoryBytes != 0 && o.MemoryBytes < 4*cacheBytesMin {
		fault("memory-limit", "%d is below %d", o.MemoryBytes, 4*cacheBytesMin)
	}
	if o.MemoryBytes != 0 && o.CacheBytes > cacheMax(o.MemoryBytes) {
		fault("cache-size", "%d is above %d, three quarters of memory-limit", o.CacheBytes, cacheMax(o.MemoryBytes))
	}
	if o.MaxProcs < 0 || o.MaxProcs > maxProcsMax {
		fault("max-procs", "%d is not between 0 and %d", o.MaxProcs, maxProcsMax)
	}
	if o.MaxPreparedStatements < 0 || o.MaxPreparedStatements > preparedStmtsMax {
		fault("max-prepared-statements", "%d is not between 0 and %d", o.MaxPreparedStatements, preparedStmtsMax)
	}
	o.validateWork(fault)
	o.validateRegions(fault)
	if _, err := wire.ParseNetworks(o.ProxyNetworks); err != nil {
		fault("proxy-protocol-networks", "%v", err)
	}
	if path := o.socketPath(); len(path) > socketBytesMax {
		fault("socket", "%q is longer than the %d bytes that a unix socket's address has", path, socketBytesMax)
	}
	if o.RootPassword != "" && o.RootPasswordFile != "" {
		fault("init-root-password-file", "it and %s exclude each other", rootPasswordEnv)
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		fault("tls-cert", "tls-cert and tls-key go together")
	}
	if _, err := ParseLevel(o.LogLevel); err != nil {
		fault("log-level", "%v", err)
	}
	if o.LogFormat != "text" && o.LogFormat != "json" {
		fault("log-format", "%q is neither text nor json", o.LogFormat)
	}
	if dir := o.SecureFilePriv; dir != "" && dir != session.NoFiles && !filepath.IsAbs(dir) {
		fault("secure-file-priv", "%q is neither NULL nor an absolute path", dir)
	}
	if o.DrainTimeout < 0 || o.DrainTimeout > time.Hour {
		fault("drain-timeout", "%v is not between 0 and 1h", o.DrainTimeout)
	}
	return faults
}

// ParseLevel reads a log threshold by name.
func ParseLevel(name string) (slog.Level, error) {
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn", "warning":
		return slog.LevelWarn, nil
	case "error", "fatal":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("%q is none of debug, info, warn, error", name)
}
