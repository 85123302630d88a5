// Package server assembles one node: it opens the packages in stack order, connects the seams between them, and ends them in reverse.
//
// # Place
//
// cmd/pando hands it Options. It alone sees both halves of the stack: the key space below and SQL above.
//
// # Order
//
// Open: both ports are taken, memory budget, engine, store, rpc loopback, kv; then the gateway (gateway.go): txn, catalog, statistics,
// auto-increment, schema changes (unfinished jobs resume), accounts, variables; status port, clients. Close: readiness off, clients drain,
// schema changes stop, auto-increment counters are written exactly, store, engine. What fails to open closes what was opened before it.
//
// # Invariants
//
//  1. Every goroutine of the node has ended when Close returns.
//
//  2. The block cache, the memtables and the Go heap's target share one budget (memory.go), taken from the machine's or the cgroup's memory.
//
//  3. The HTTP port tells, and changes nothing. It carries no row data and no statement text.
//
//  4. Nothing is written to a data directory that is neither empty nor bears Pando's identity (datadir.go), and nothing deleted from one that
//     Pando has not made.
//
// # Files
//
// `PANDO` at the top of the data directory is text: lines that begin with # and lines `name = number`. `format` is the version of the
// directory's layout, 1; `store` is the number of the store. It is durable before anything else is written.
//
// `node.json`, in a directory of a node of a cluster, is JSON: the cluster's number, the node's, its private key, its certificate and the
// authority's (DER, in base64), and where other nodes were last. It is replaced as a whole, and older than PANDO where the node has joined.
//
// # Several nodes
//
// role.go follows who leads region 0: that node is the gateway, opens what executes SQL and closes it when its lease is lost. handon.go hands the
// clients of the others on to it: the first byte that the gateway says of one is 1, and then everything is the client's. members.go gives
// regions their copies, as package placement/schedule says. cluster.go joins clusters and connects the store with those of others.
//
// # Locks
//
// sqlPart.mu, handOn.mu, clusterPart.mu and clusterPart.asking are leaves but that the latter two are held while region 0 or others are
// asked.
//
// # Goroutines
//
// keepRole follows who is the gateway, keepMembers, at the gateway, gives regions their copies, keepRegistered tells the cluster of this node; one for
// each client that is handed on. Serve runs the MySQL listener's accept loop, serveHTTP the status port's; both end in Close.
package server
