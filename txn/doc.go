// Package txn is the transaction protocol: snapshots, the write buffer,
// savepoints, row locks as SQL asks for them, and commit.
//
// Place: between table and exec above and kv below. It is all that SQL sees of
// storage. It is a pure core: it has no goroutine, socket or timer; lock waits and
// commits block in store, on the caller's goroutine.
//
// Terms:
//   - The watermark is the highest timestamp at and below which every commit is
//     applied and synced. Plain reads use it as their snapshot.
//   - The snapshot of a transaction is the timestamp of its plain reads.
//   - A locking read locks a key and returns its newest version, which may
//     not be synced yet. The transaction remembers the highest such version: seen.
//   - A statement mark is the savepoint set by BeginStatement.
//
// Invariants:
//
//	T1.  A plain read sees, of other transactions, exactly the commits at or
//	     below its snapshot, all of them synced; and on top the transaction's
//	     own writes.
//	T2.  A snapshot is registered before its timestamp is taken and until the
//	     transaction ends, so garbage collection keeps what it needs.
//	T3.  A locking read returns the own write if there is one, else the newest
//	     committed version at a moment when the lock was held.
//	T4.  Nothing that depends on a locking read may be sent to the client before
//	     WaitSeen: exec calls it before rows reach the sink and before a
//	     statement returns. Commit includes it.
//	T5.  A snapshot taken after locking reads is at or above seen: what a
//	     transaction saw once under a lock does not vanish from its plain reads.
//	T6.  Row locks are held until the commit is applied, or until rollback.
//	     RollbackStatement and RollbackTo keep them. Only Unlock drops one early.
//	     An optimistic transaction takes them at the beginning of its commit (optimistic.go).
//	T7.  Of two transactions that locked the same key exclusively, the second
//	     commits with the higher timestamp, and the log has the first before it.
//	T8.  After Commit, Rollback and any error marked "roll back" in kvapi the
//	     locks are released. After ErrUndetermined the client must be disconnected.
//	T9.  The buffer copies keys and values; callers may reuse theirs at once.
//	T10. Keys in the buffer are unique and commit in ascending order.
//
// What each level promises (testdata has a script per anomaly):
//
//	level                    G0,G1  lost update      read skew  write skew  phantom rows
//	READ COMMITTED           no     blind writes     yes        yes         yes
//	REPEATABLE READ          no     blind writes     no (1)     yes         no (1)
//	  + SnapshotConflict     no     no               no         yes         no (1)
//	  optimistic             no     no               no         yes         no (1)
//	SERIALIZABLE             no     no (deadlock)    no         no (2)      no (3)
//
//	"no" means that the anomaly cannot happen.
//	(1) Among plain reads. Locking reads and writes are current reads, as in InnoDB. They lock the gaps of the spans that they read
//	    (locking.go), so that other transactions insert nothing there; rows that fail their condition stay unlocked.
//	(2) Keys that are read by Get are locked, absent ones too; exec locks the entries of
//	    unique keys that a locking read does not find. Writers lock rows
//	    and unique entries, so a read by other entries has to lock the rows (plan.Env.LockReads).
//	(3) Spans that are read are locked, with the rows in them. A commit that inserts or changes a key in a span that another
//	    transaction has locked waits for that one, even if the span was locked after the statement (package store, rangelock.go).
//	"Blind writes": a plain read followed by Lock and Put of a value computed
//	from the plain read; a program that uses what Lock returned loses nothing.
//
// SERIALIZABLE locks every key or span that it reads in shared mode and returns the newest
// version, so its plain reads are locking reads.
//
// Range locks:
//
//	read                                             locks                       against
//	plain scan, SERIALIZABLE                         the span, as far as read    inserts, changes and deletions
//	ScanLatest, Locking, SERIALIZABLE                the same of rows            the same
//	                                                 the same of entries         inserts of entries: their rows are locked
//	ScanLatest, Locking, REPEATABLE READ             the same                    inserts
//	READ COMMITTED, WaitSkip, plain scans elsewhere  nothing
//
// They do not conflict with each other, survive rollbacks of statements and to savepoints, and end with the transaction. A writer waits for
// them in PutNew, Put and Lock, or in Commit, as long as for a row lock. A scan that comes to a key that another transaction is inserting
// (LockNew), or at SERIALIZABLE changing, waits for that one first. A scan that has to wait for a row in its range can
// give the range up (RevertRanges). A deadlock fails a statement rather than a commit.
//
// Lock order: a Txn is used by one goroutine at a time and has no mutex.
//
// Goroutine inventory: none.
//
// Absent on purpose: regions, engine keys, how a cluster commits (package
// txn/commit, behind the same API), retries of statements (session decides).
package txn
