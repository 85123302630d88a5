// Package commit implements how transactions of a cluster commit: what a region's leader grants and refuses, what a coordinator does, and
// how a transaction that finds another's lock learns what became of it. It implements rule A of docs/design/0020-cluster-of-one.md; a model
// of the rule, which is checked exhaustively, is in internal/explore.
//
// Place: below kv, which drives coordinators and resolvers, and store, which evaluates requests at the leaders of its regions. It is a
// pure core: input in, effects out; no goroutine, socket, clock or timer. The tests drive the same code by a seeded simulator.
//
// Terms:
//   - A coordinator runs one commit. Start is the timestamp that names the transaction.
//   - The primary is the first key that the transaction writes. Its lock decides in two-phase commits.
//   - A prewrite locks keys, and stores with the locks what is to be written.
//   - An orphan is a transaction that has locks and whose coordinator counts as dead, although it may be alive.
//   - A marker is a record that a transaction is rolled back at a key: it makes a late prewrite fail.
//   - A change is what an evaluation adds to the region's log; Stamped ones get the timestamp of their entry.
//   - A check is a key or span that was read and locked, and not written. The check of a span forbids what its range lock is against: that of
//     a gap inserts, that of a whole span any change.
//
// # Paths
//
//	one phase   if all mutations, checks and counters are in one region: one entry, whose timestamp is the commit timestamp
//	async       if there are no checks and few keys: prewrites; the commit timestamp is the greatest of theirs
//	two phases  otherwise: prewrites, a timestamp, checks at the present leaders, the commit of the primary
//
// # Invariants
//
//	C1. A region's line evaluates a request when all earlier entries are applied, and nothing else of the region that conflicts with it
//	    is proposed until its change is applied. So what the evaluation has read is still true when the change is applied.
//	C2. The keys of a stamped change have marks from before its timestamp is fetched until the change is applied.
//	C3. A transaction that is committed at all is committed at one timestamp, at or above the Least of each of its locks.
//	C4. A rollback begins with what decides: a resolver or coordinator that gives up rolls back the primary of a two-phase commit before
//	    any other key, and of an async commit first a key that has no lock. It removes locks only after that marker exists.
//	C5. A failure is reported only when it is final: of one phase and async when a marker exists, of two phases at once, since only its
//	    coordinator commits the primary. If the outcome cannot be found out it is kvapi.ErrUndetermined.
//	C6. A request that arrives twice, or late, is recognised: by its lock, its version (whose start names the transaction), its record,
//	    or because it began at or below the region's floor, below which records may be gone.
//	C7. Safety does not depend on locks in a leader's memory: expectations are checked against versions.
//
// Every wait and repetition has a limit: see the constants of coordinator.go and resolver.go.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: leases and elections (package replica), how marks are kept and waited for (store), and pushing a lock's least
// timestamp above a reader's: a reader waits until the transaction is decided.
package commit
