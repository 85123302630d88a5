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
// # Goroutines
//
// Serve runs the MySQL listener's accept loop, serveHTTP the status port's; both end in Close.
package server
