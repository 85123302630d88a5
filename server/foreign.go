package server

import (
	"fmt"
	"strconv"
	"strings"
)

// foreignSettings are configuration keys of TiDB, TiKV and MySQL that users' files are likely to contain. A key with a target sets
// that setting; the others are accepted with a warning that says why they have no effect.
var foreignSettings = map[string]struct{ target, why string }{
	"log.level":                                 {target: "log-level"},
	"performance.max-procs":                     {target: "max-procs"},
	"raftstore.sync-log":                        {target: "sync-log"},
	"max_connections":                           {target: "max-connections"},
	"coprocessor.region-max-size":               {target: "region-max-size"},
	"coprocessor.region-split-size":             {target: "region-split-size"},
	"coprocessor.split-region-on-table":         {why: "region-table-size says at which size a table has regions of its own"},
	"prepared-plan-cache.enabled":               {why: "the plan cache is always on; plan-cache-size bounds it"},
	"tikv-client.max-batch-wait-time":           {why: "a node executes SQL over its own store; no such request crosses the network"},
	"server.grpc-concurrency":                   {why: "nodes do not speak gRPC; they keep one connection for Raft messages and one for calls"},
	"server.grpc-raft-conn-num":                 {why: "nodes do not speak gRPC; they keep one connection for Raft messages and one for calls"},
	"server.request-batch-enable-cross-command": {why: "a node executes SQL over its own store; no such request crosses the network"},
	"server.enable-request-batch":               {why: "a node executes SQL over its own store; no such request crosses the network"},
	"readpool.storage.normal-concurrency":       {why: "reads run on their connection's own goroutine"},
	"readpool.unified.min-thread-count":         {why: "reads run on their connection's own goroutine"},
	"readpool.unified.max-thread-count":         {why: "reads run on their connection's own goroutine"},
	"raftstore.store-pool-size":                 {why: "Raft groups have no pools of threads"},
	"raftstore.apply-pool-size":                 {why: "Raft groups have no pools of threads"},
	"raftdb.max-background-jobs":                {why: "Raft logs have no store of their own"},
	"raftdb.allow-concurrent-memtable-write":    {why: "Raft logs have no store of their own"},
	"raftdb.defaultcf.block-cache-size":         {why: "Raft logs have no store of their own"},
	"storage.scheduler-worker-pool-size":        {why: "writes run on their connection's own goroutine"},
	"rocksdb.max-background-jobs":               {why: "background work is paced by max-procs"},
	"pessimistic-txn.pipelined":                 {why: "locks of open transactions are in memory and are not replicated"},
	"innodb_file_per_table":                     {why: "tables share one key space"},
	"thread_cache_size":                         {why: "a connection costs no thread"},
}

// cacheKeys are TiKV's per-family caches and MySQL's buffer pool. Pando has one block cache, so their sizes add up to its budget.
var cacheKeys = []string{"rocksdb.defaultcf.block-cache-size", "rocksdb.writecf.block-cache-size", "rocksdb.lockcf.block-cache-size",
	"defaultcf.block-cache-size", "writecf.block-cache-size", "lockcf.block-cache-size", "innodb_buffer_pool_size"}

// applyForeign takes a key of another product. It reports false for a key that it doesn't know.
func applyForeign(o *Options, key, value string, byName map[string]Setting) (bool, error) {
	for _, cache := range cacheKeys {
		if key == cache {
			n, err := ParseSize(value)
			if err != nil {
				return true, err
			}
			o.CacheBytes += n
			o.from("cache-size", key)
			o.Warnings = append(o.Warnings, key+" is added to cache-size: there is one cache, now of "+strconv.FormatInt(o.CacheBytes, 10)+" bytes")
			return true, nil
		}
	}
	switch key {
	case "innodb_flush_log_at_trx_commit":
		if value != "0" && value != "1" && value != "2" {
			return true, fmt.Errorf("%q is none of 0, 1, 2", value)
		}
		o.SyncLog = value == "1"
		o.from("sync-log", key)
		return true, nil
	}
	entry, known := foreignSettings[strings.ToLower(key)]
	if !known {
		return false, nil
	}
	if entry.target != "" {
		o.from(entry.target, key)
		return true, byName[entry.target].set(o, value)
	}
	o.Warnings = append(o.Warnings, key+" does nothing: "+entry.why)
	return true, nil
}
