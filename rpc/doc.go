// Package rpc is how kv reaches stores. Today all of them are in this process, and reaching one is a direct call.
//
// Place: between kv and store. kv sees stores only as Peers.
//
// Terms:
//   - A peer is a store as kv reaches it, here or elsewhere.
//   - A message is a request or a reply as data: what crosses between nodes.
//   - A fault is the reply to a request that failed.
//
// Invariants:
//
//	R1. The loopback passes requests, sinks and borrowed bytes through as they
//	    are, on the caller's goroutine: no copy, no allocation, no hop.
//	R2. Peer is a struct, not an interface: escape analysis then sees through a
//	    point read from txn to mvcc, so that its request stays on the stack. What
//	    encodes a request copies it, in a function that is not inlined.
//	R3. Whatever kv asks of a store can be asked by a message. What is left out is
//	    a node's own: the registry of snapshots, the watermark, held iterators.
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
// Get, Scan and Lock end with a program: what the store is to do with rows before it answers. None is known to this version, and one
// that is not empty is refused.
//
// A message of another version or kind is refused. Nodes agree on a version before they speak; a higher one may add kinds and append
// fields.
//
// The requests and replies of a cluster's commits (commit.go) are kinds 32 to 37 and 102 to 105. Counters and drops name a region there; at a store
// that is alone that is zero.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: a transport: only the gateway executes SQL, and asks its own store (docs/design/0021 D1). Coded is the loopback through the codec, for tests.
package rpc
