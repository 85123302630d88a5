// Package rpc is the interface by which kv calls stores. Today every store that kv calls is in this process, and a request is a direct call.
//
// Place: between kv and store. kv sees stores only as Peers.
//
// Terms:
//   - A peer is kv's handle of a store, in this process or on another node.
//   - A message is a request or a reply that can be encoded and sent to another node.
//   - A fault is the reply to a request that failed.
//
// Invariants:
//
//	R1. The loopback passes requests, sinks and borrowed bytes on unchanged, on
//	    the caller's goroutine: no copy, no allocation, no other goroutine.
//	R2. Peer is a struct, not an interface: escape analysis then sees through a
//	    point read from txn to mvcc, so that its request stays on the stack. What
//	    encodes a request copies it, in a function that is not inlined.
//	R3. What kv reads, locks and writes in a store can be asked for by a message.
//	    Without a message is what concerns the own store only: the registries of
//	    owners and snapshots, the watermark, statistics, fills.
//	R4. Decode never panics, allocates no more than the message is long, and takes
//	    exactly the bytes that Append makes: each message has one encoding.
//	R5. errors.Is says the same of a fault as of the error that it carries.
//
// # Messages
//
//	offset  bytes  content
//	0       1      version of the codec, 1
//	1       1      kind; requests from 1, replies from 64 (request.go, reply.go)
//	...     rest   the fields of the kind, in the order of its type
//
// Numbers and timestamps are unsigned LEB128 in the shortest form, booleans and enumerations a byte, bytes a length and themselves,
// optional bytes a boolean and, if it is 1, bytes. Lists are a count and their elements. A region ref is id, version and conf version;
// a transaction is node, node epoch and number; a span is its start and, optional, its end.
//
// The last field of Get, Scan and Lock is a program: what the store is to do with rows before it answers. This version has no programs,
// and refuses a request whose program is not empty.
//
// A message of another version or kind is refused. Nodes agree on a version when they connect; a higher one may add kinds and append
// fields.
//
// The requests and replies of a cluster's commits (commit.go) are kinds 32 to 37 and 102 to 105. Requests for counters and drops of spans
// name a region in a cluster; for a store outside a cluster it is zero.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: a transport. Only the gateway executes SQL, and calls its own store (docs/design/0021 D1). Coded, for tests, is the
// loopback through the codec.
package rpc
