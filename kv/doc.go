// Package kv routes requests by key: it knows which regions cover a key or span,
// names them in the request, splits what one request cannot cover, and tries
// again when it was out of date.
//
// Place: between txn and rpc.
//
// Terms:
//   - The region cache is an immutable sorted set of regions behind one pointer.
//
// Invariants:
//
//	V1. Every request carries the regions that the cache says cover it. A store
//	    that knows better answers EpochError and has done nothing; kv then reads
//	    the regions anew and repeats the request, at most retriesMax times.
//	V2. A sink sees each pair once, in order, however often a request was repeated:
//	    epochs are checked before the first pair is delivered.
//	V3. Adjacent Solo regions of one store are one request: a scan over a hundred
//	    of them uses one iterator, and a commit over them is one batch.
//	V4. A point read allocates nothing here.
//
// The cache is a sorted slice, copied when it changes, rather than a B-tree: it
// changes when a region splits, a few times an hour, holds some thousands of
// pointers per terabyte, and a binary search over a slice is the fastest lookup.
//
// # Cluster
//
// Once the regions of the store have logs (rpc.Peer.Clustered), the cache holds a router, and requests go through it, one region at a time.
// What is not asked for in that mode costs one look at a pointer that is loaded anyway.
//
//	V5. Reads of one key ask for its latest version and need no timestamp; all others fetch one, after their place in the registry.
//	V6. A commit is driven by package commit: one region, one phase; else async or two phases, unless the request forbids it. Its locks in
//	    memory are released when its outcome is known.
//	V7. A lock that is met is resolved here, within the patience of whoever met it, and the request is repeated. That of a transaction whose
//	    client knows that it is committed is none: who has no patience either waits until it is finished.
//	V8. At a store that is the gateway no longer nothing is asked again: whoever waits for its sessions to end would wait for that.
//
// Goroutine inventory: the requests of a commit to several regions, but for one, and a commit that is acknowledged and not finished yet: at
// most cleanersMax. Each ends with its requests. Lock order: router.mu is a leaf; the cache is one atomic pointer.
//
// Absent on purpose: requests to other stores: only the gateway executes SQL, and asks its own (docs/design/0021 D1).
package kv
