// Package server assembles one node: it opens the packages from the bottom of the stack up, connects them, and closes them in reverse order.
//
// # Place
//
// cmd/pando calls it with Options. It is the only package that imports both halves of the stack: the key space below and SQL above.
//
// # Order
//
// Open: listeners, memory budget, engine, store, rpc loopback, kv, cluster, wire; then the gateway (gateway.go): txn, catalog, statistics,
// auto-increment, schema changes (unfinished jobs resume), accounts, variables; status port, clients. Close: readiness off, clients drain,
// schema changes stop, unused AUTO_INCREMENT numbers are given back, cluster, store, engine. If a step fails, the earlier ones are closed.
//
// # Invariants
//
//  1. Every goroutine of the node has ended when Close returns.
//
//  2. The block cache, the memtables and the Go heap's target share one budget (memory.go), taken from the machine's or the cgroup's memory.
//
//  3. The HTTP port is read-only. It shows no row data and no statement text.
//
//  4. Nothing is written to a data directory that is neither empty nor has Pando's identity (datadir.go), and no file is deleted that
//     Pando has not created.
//
// # Files
//
// `PANDO` at the top of the data directory is text: lines that begin with # and lines `name = number`. `format` is the version of the
// directory's layout, 1; `store` is the id of the store. It is durable before anything else but node.json is written.
//
// `node.json`, in the directory of a node of a cluster, is JSON: the cluster's number, the node's id, its private key, its certificate and the
// authority's (DER, in base64), and the last known addresses of other nodes. It is replaced atomically. A node that joins writes it before PANDO.
//
// # Several nodes
//
// role.go follows who leads region 0: that node is the gateway, opens the SQL layer and closes it when its lease is lost. handon.go, on the
// other nodes, relays clients to the gateway: the gateway accepts one by a first byte of 1; all further bytes are between client and gateway.
// members.go moves copies of regions as package placement/schedule decides. cluster.go joins clusters and connects the store with the others.
//
// # Locks
//
// sqlPart.mu and handOn.mu are leaves. clusterPart.mu and clusterPart.asking are held during requests to region 0 and to other nodes, and
// never together with another lock of this package.
//
// # Goroutines
//
// tuneGC and pollReads; serve runs the accept loop of a MySQL listener, openHTTP starts the status port's. In a cluster keepRole follows who is
// the gateway, keepMembers, at the gateway, moves copies of regions, keepRegistered registers this node; two relay each client that is handed on.
package server
