// Package store keeps the regions of one node: it serves reads, commits
// transactions, splits regions and collects garbage. It owns the lock table, the
// lines of waiters, deadlock detection, the durable watermark and the registry
// of snapshots.
//
// Place: above mvcc, engine and placement; reached only through rpc.
//
// Terms:
//   - Applied: visible to new iterators and placed in the log. Synced: durable.
//   - The watermark: every commit at or below it is applied and synced.
//   - The sequencer: the one queue of commits (group commit). A group is what one
//     leader takes off the queue; it becomes one batch.
//   - The safepoint: nobody reads, or will read, below it.
//   - The row cache: newest versions of rows by key, above the engine.
//   - A table's frontier: a key above which it has no row of any version.
//   - Garbage: versions that no reader at or above the safepoint can see.
//   - Relaxed: a commit that is acknowledged when it is applied, before its sync.
//
// # Commit
//
//  1. A committer enqueues. If nobody leads, it leads; else it waits for one
//     signal: done, or lead.
//  2. The leader takes a bounded group off the queue, checks epochs and the disk,
//     takes one timestamp per member and encodes all of them into one batch.
//  3. It applies the batch without waiting for the sync, queues the garbage,
//     publishes that the batch is applied, and hands leadership on.
//  4. It releases the row locks of all members and wakes the relaxed ones.
//  5. It waits for the sync, raises the watermark, and wakes the others.
//
// # Invariants
//
//	S1. Timestamp order = apply order = log order: the three are fixed by one
//	    leader at a time. So the sync of a group makes every lower timestamp
//	    durable, and the watermark is one number.
//	S2. Row locks are released after apply and before sync. A transaction that
//	    then gets a lock reads the newest version, which may not be synced yet;
//	    its own commit comes later in the log. Answers to its client wait for the
//	    watermark (T4 in package txn).
//	S3. A commit is acknowledged when the watermark covers it. Relaxed commits
//	    are acknowledged at apply; while the store is relaxed the watermark means
//	    applied, not synced.
//	S4. The safepoint is published before anything it allows is deleted, and it
//	    never passes the watermark or a registered snapshot. A read compares it
//	    with its timestamp after making its iterator: if the safepoint is not above
//	    that, the iterator has all versions that the read needs. Reads at the
//	    watermark therefore take no lock and register nowhere.
//	S5. A snapshot gets its timestamp after it has entered the registry.
//	S6. Locks are granted first in, first out; an upgrade goes in front. A
//	    transaction waits for one lock at a time. The requester that closes a cycle
//	    gets ErrDeadlock.
//	S7. A request that names regions at another epoch does nothing. A lock that was
//	    waited for is given back if the region has changed meanwhile.
//	S8. Regions cover the key space without gap or overlap, in memory and on disk.
//	S9. A delete marker (tombstone) is deleted only together with or after all
//	    versions below it. Either the collector has looked, or nothing else can be
//	    there: the committer read under its lock which version it shadowed, and the
//	    garbage of all commits before is gone (the queue is in commit order,
//	    dropped nothing, and no scan is due).
//	S10. The store keeps the contract of package rowcache: the leader records a
//	    group after apply, and before it releases locks or raises applied and the
//	    watermark (C1, C2); a reader's bound is the timestamp that it reads at, or
//	    applied as it was before its iterator was made (C3). The cache knows no
//	    regions: when one leaves the store, its rows must be dropped.
//	S11. After an error of the log nothing is acknowledged any more: members of the
//	    failed group get ErrUndetermined, later commits ErrClosed.
//	S12. A key above its table's frontier has no version, if the caller holds the
//	    key's lock (frontier.go has the contract). When a region leaves (S10) the
//	    frontiers must be dropped, too.
//	S13. While a transaction has a range locked, no commit of another is applied
//	    that inserts a key into it or, for a whole range, changes or deletes one.
//	    The leader checks each member against the published ranges; a transaction
//	    that publishes one waits until the current group is applied before it takes
//	    its timestamp (barrier). Other waits for ranges are not needed for safety:
//	    they put the wait into the statement, where InnoDB has it (rangelock.go).
//	S14. A deadlock that a commit closes ends the wait of a statement, if there is
//	    one in the cycle.
//
// # Records (space \x01; integers are big endian)
//
//	name            value
//	i               "PNDS", format 4, store id 8, incarnation 8, CRC-32 4
//	                format 1: alone, 2: the regions have logs, and what a region
//	                consists of is not logged (package replica, L3)
//	r<id 8>m        the region's descriptor (package replica)
//	t               timestamp mark 8, written in commit batches
//	T               timestamp mark 8, saved on its own
//	g               flags 1 (0x01 clean), floor of keys below pos 8, floor of keys
//	                from pos 8, pos (the rest): progress of garbage collection
//
// Counters are in space \x04: value 8. Only DropCounters deletes them. Commits
// raise them, and AllocCounter allocates numbers from them in the sequencer: nobody
// reads one in order to raise it. Region ids are allocated from one, too.
//
// # Sizes
//
// A region is scanned when it may have outgrown its size, but only if the engine's estimate of its tables and memtables allows for that. One
// scan samples keys at regular distances and finds where tables begin. From that all split keys are chosen: those around tables of more than
// Options.TableBytesMax, and between them those into parts of Options.SplitBytes (measured.choose). All versions of a key lie on one side of a
// split, and no side is empty. In a cluster the gateway does this; a region whose members are being changed is left alone.
//
// # Locks, in the order in which they are taken
//
//	lockTable.graphMu, then one lockShard.mu at a time, or rangeTable.mu: a leaf
//	one shard of the row cache, frontiers.mu, frontier.mu: leaves
//	sequencer.mu, snapshotShard.mu, durable.mu, gcQueue.mu, counters.mu: leaves
//	placement.Oracle.mu: a leaf for the sequencer
//
// Leading the sequencer is not a mutex, but acts as one: a leader takes only
// leaves, and waits for nothing but the engine's apply.
//
// # Goroutines (all end with Close; with Options.Inspect there is only the syncer)
//
//	collector    garbage collection while the store is alone; sleeps while there is none
//	syncer       syncs relaxed commits; sleeps while there are none
//	maintain     polls the disk's free space and the engine's write pressure; sleeps while there are no commits
//	housekeeper  splits regions, and compacts when the store is idle (housekeep.go)
//
// # Versions of the past
//
// Only Fill writes versions that are older than commits already applied, takes no timestamp and does not pass the sequencer. It writes entries of an
// index that nobody reads yet, whose keys may have newer versions already (fill.go says what makes that safe). It holds Store.collecting while its tables
// are ingested into the engine, so that no garbage is collected and no promotion begins meanwhile.
//
// # Cluster
//
// Cluster serves regions that have a Raft log, over the same engine, lock table, counters, row cache and registry of snapshots: it
// evaluates requests of package commit in the line of their region (the queue of its proposals, see package replica), applies what comes out
// of the log (replica.Machine), and reads. It has methods of its own; nothing above asks which mode there is. What holds instead of S1 to
// S4, S10 and S12:
//
//	S22. A mark says that a change of a key is in flight. It is in the region's pending table before the timestamp of the change's entry is
//	     fetched, and until that is applied and recorded. A reader first has its timestamp, then looks for marks and locks, then makes its
//	     iterator (or asks the row cache), then checks that the region is the same and still led in the same term.
//	S23. A lock is in the pending table from its application until the commit or rollback that ends it is visible and recorded.
//	S15. Within one entry no change reads or writes a key that another one writes: such a change is proposed with the next entry.
//	S16. For the row cache groups of commands have numbers, in the place of timestamps. A group gets its number after it is visible, and a
//	     reader takes its bound before it makes its iterator; only what is known to be the newest version is offered. A locking read takes a
//	     bound before it looks for marks and locks, and keeps it with the lock (heldLock.asOf): if nothing was recorded of the key since
//	     (rowcache R5), it need not be read again when the commit is evaluated, after all earlier entries.
//	     Frontiers are raised where rows are recorded, on every replica, and are dropped when a region is replaced or removed.
//	S17. A split publishes the left half's new epoch before it moves locks: a reader that had looked for locks before is refused afterwards.
//
//	S18. Garbage is collected by region. A round raises the floor of every region, at and below which no transaction gets a lock; resolves
//	     the locks of transactions that began there; and then proposes a GCPoint to the regions with garbage, after every commit that has
//	     its timestamp. From then on nobody asks for a transaction record that is as old, and each replica deletes by itself, unlogged.
//	     Commits in flight are registered as snapshots are, so that the floor stays below them.
//
//	S24. Ranges that locking reads pass are kept in two places: in the range table, which makes others wait, and with the owner as checks of
//	     its commit. Only the checks are needed for safety: a commit that others got through is a version above the timestamp of the read.
//
// A key G<region id 8> in space \x01 has the timestamp, 8 bytes, up to which the garbage of a region's commits is gone (clustergc.go); after a
// start a scan finds what is above. Cluster.collector is the goroutine; Cluster.Close ends it.
//
//	S19. Promote (promote.go) is one record of the log, after all earlier commits. From then on the map of regions without logs is closed: all
//	     requests to them get an EpochError, and Regions waits until the cluster serves.
//
//	S20. In a cluster of several stores one serves, the gateway: it leads region 0, holds its lease, and leads all regions (role.go). A read is
//	     answered if the lease is held after its iterator was made; so is an evaluation that proposes nothing. TakeOver waits until no earlier
//	     gateway serves. Coordinators of transactions are named by store and incarnation: all but those of the present gateway are dead.
//	S21. The memory that is kept for a region follows its state: Replaced loads it again, and rows that readers saw before cannot get back into
//	     the row cache (rowcache.Forget); Removed drops it. A replica that is not led here deletes by itself what its GC point allows.
//
// Cluster.keepRole and Cluster.keepLease are goroutines, as Cluster.collector is. role.taking is taken before Store.switching, role.mu before
// lease.mu, which is a leaf, and before the locks of package replica.
//
// pending.mu, garbage.mu, clusterRegion.recordsMu, metaRegion.mu and Cluster.mu are leaves. Store.promoting, Store.collecting and
// Store.switching are taken in this order, before all others.
//
// Absent on purpose: merging of regions.
package store
