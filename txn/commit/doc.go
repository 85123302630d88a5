// Package commit is how transactions of a cluster commit: what a region's leader refuses and grants, what a coordinator does, and how
// who meets a lock finds out what became of its owner. It is rule A of docs/design/0020-cluster-of-one.md as code; the model of it, all
// of whose states are visited, is in internal/explore.
//
// Place: below kv, which drives coordinators and resolvers, and store, which evaluates requests at the leaders of its regions. It is a
// pure core: input in, effects out; no goroutine, socket, clock or timer. The tests drive the same code by a seeded simulator.
//
// Terms:
//   - A coordinator runs one commit. Start is the timestamp that names the transaction.
//   - The primary is the first key that the transaction writes. Its lock decides in two-phase commits.
//   - A prewrite locks keys, and keeps with the locks what is to be written.
//   - An orphan is a transaction whose locks are there and whose coordinator is taken for dead. It may be alive.
//   - A marker is a record that a transaction is rolled back at a key: it refuses a prewrite that comes late.
//   - A change is what an evaluation adds to the region's log; Stamped ones get the timestamp of their entry.
//   - A check is a key or span that was read and locked, and not written. That of a span forbids what its range lock kept others from: of a
//     gap that keys come, and of the whole any change.
//
// # Paths
//
//	one phase   all that is written, checked and counted is in one region: one entry, whose timestamp is the commit's
//	async       no checks, few keys: prewrites; the commit timestamp is the greatest of theirs
//	two phases  prewrites, a timestamp, checks at the present leaders, the commit of the primary
//
// # Invariants
//
//	C1. The line of a region evaluates a request when all entries before it are applied, and nothing else of the region is proposed
//	    until its change is applied. So what was found is still so when the change is applied.
//	C2. Marks of the keys of a stamped change stand before its timestamp is fetched and until it is applied.
//	C3. A transaction that is committed at all is committed at one timestamp, at or above the Least of each of its locks.
//	C4. What decides falls first: a resolver or coordinator that gives up rolls back the primary of a two-phase commit before any other
//	    key, and of an async commit first a key that has no lock. It takes a lock away only where such a marker stands.
//	C5. A failure is reported only when it is final: of one phase and async when a marker stands, of two phases at once, since only its
//	    coordinator commits the primary. What cannot be found out is kvapi.ErrUndetermined.
//	C6. A request that comes twice, or late, is recognised: by its lock, its version (whose start names the transaction), its record,
//	    or because it began at or below the region's floor, below which records may be gone.
//	C7. No safety rests on locks in a leader's memory: expectations are checked against versions.
//
// Every wait and repetition has a limit: see the constants of coordinator.go and resolver.go.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: leases and elections (package replica), how marks are kept and waited for (store), and pushing a lock's least
// timestamp above a reader's: a reader waits until the transaction is decided.
package commit
