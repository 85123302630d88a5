// Package rpc is the only network between nodes. Today it is the in-process
// loopback, which is a direct call.
//
// Place: between kv and store. kv sees stores only as Peers.
//
// Terms: a peer is a store as kv reaches it, here or elsewhere.
//
// Invariants:
//
//	R1. The loopback passes requests, sinks and borrowed bytes through as they
//	    are, on the caller's goroutine: no copy, no allocation, no hop.
//	R2. Peer is a struct, not an interface: escape analysis then sees through a
//	    point read from txn to mvcc, so that its request stays on the stack.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: gRPC, which comes with the second node, as a second kind of
// Peer whose sinks are fed from pages.
package rpc
