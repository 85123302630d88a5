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
//   - The sequencer: the one line in which commits stand. A group is what one
//     leader takes off it; it becomes one batch.
//   - The safepoint: nobody reads, or will read, below it.
//   - The row cache: newest versions of rows by key, above the engine.
//   - A table's frontier: a key above which it has no row of any version.
//   - Garbage: versions that nobody at or above the safepoint can see.
//
// # Commit
//
//  1. A committer enqueues. If nobody leads, it leads; else it waits for one
//     signal: done, or lead.
//  2. The leader cuts a bounded group off the line, checks epochs and the disk,
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
//	    then gets a lock reads the newest version, may see it unsynced, and is
//	    behind it in the log. What it tells anybody waits for the watermark (T4
//	    in package txn).
//	S3. A commit is acknowledged when the watermark covers it. Relaxed commits
//	    are acknowledged at apply; while the store is relaxed the watermark means
//	    applied, not synced.
//	S4. The safepoint is published before anything it allows is deleted, and it
//	    never passes the watermark or a registered snapshot. A read compares it
//	    with its timestamp after making its iterator; if it is not above, all that
//	    the read needs is in the iterator. Reads at the watermark therefore take no
//	    lock and register nowhere.
//	S5. A snapshot takes its timestamp after it has taken its place.
//	S6. Locks are granted first in, first out; an upgrade goes in front. A
//	    transaction waits in one line at a time. The requester that closes a cycle
//	    gets ErrDeadlock.
//	S7. A request that names regions at another epoch does nothing. A lock that was
//	    waited for is given back if the region has changed meanwhile.
//	S8. Regions cover the key space without gap or overlap, in memory and on disk.
//	S9. A delete marker is deleted only together with or after all versions below
//	    it. Either the collector has looked, or nothing else can be there: the
//	    committer read under its lock which version it shadowed, and the garbage of
//	    all commits before is gone (the queue is in commit order, dropped nothing,
//	    and no scan is due).
//	S10. The row cache keeps the contract of package rowcache: the leader records
//	    a group after apply, and before the locks, applied and the watermark tell
//	    of it (C1, C2); a reader's bound is the timestamp that it reads at, or
//	    applied as it was before its iterator was made (C3). The cache knows no
//	    regions: one that leaves the store and comes back must take its rows out.
//	S11. After an error of the log nothing is acknowledged any more: who was in
//	    the failed group gets ErrUndetermined, later ones ErrClosed.
//	S12. A key above its table's frontier has no version, for who has its lock
//	    (frontier.go has the contract). Regions that come back (S10) must take the
//	    frontiers of their tables out, too.
//	S13. While a transaction has a range locked, no commit of another is applied
//	    that makes a key in it, or for a whole range changes or deletes one. The
//	    leader checks each member against the ranges that are published; who
//	    publishes one lets the group in hand pass before it takes its timestamp
//	    (barrier). Waits elsewhere are courtesy: they put the wait where InnoDB has
//	    it (rangelock.go).
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
// Counters are in space \x04: value 8. They go with DropCounters only. They are
// raised by commits, and allocated from where commits are applied (AllocCounter):
// nobody reads one in order to raise it. Ids of regions come of one, too.
//
// # Sizes
//
// A region is walked through when it may have outgrown its size: what the engine estimates for its tables, with what memtables hold, is asked
// first. One walk finds where keys lie at regular distances and where tables begin, and so all cuts: those around tables of more than
// Options.TableBytesMax, and between them those into parts of Options.SplitBytes (measured.choose). All versions of a
// key lie on one side of a cut, and no side is empty. In a cluster the gateway looks and cuts; a region whose members are being changed is left alone.
//
// # Locks, in the order in which they are taken
//
//	lockTable.graphMu, then one lockShard.mu at a time, or rangeTable.mu: a leaf
//	one shard of the row cache, frontiers.mu, frontier.mu: leaves
//	sequencer.mu, snapshotShard.mu, durable.mu, gcQueue.mu, counters.mu: leaves
//	placement.Oracle.mu: a leaf for the sequencer
//
// Being the leader of the sequencer is not a mutex, but acts as one: a leader
// takes leaves, and waits for nothing but the engine's apply.
//
// # Goroutines (all end with Close)
//
//	collector    garbage collection; sleeps while there is none
//	syncer       syncs relaxed commits; sleeps while there are none
//	maintain     disk and pressure; sleeps while there are no commits
//	housekeeper  sizes of regions and splits, compaction of what nobody writes to (housekeep.go)
//
// # Versions of the past
//
// Fill alone makes versions that are older than commits before them, and neither takes a timestamp nor stands in line: entries of an index that nobody
// reads yet, for which newer versions may be there already (fill.go says what makes that safe). It holds Store.collecting while its tables are put into
// the engine, so that nothing is collected meanwhile and no cluster begins.
//
// # Cluster
//
// Cluster serves regions that have a Raft log, over the same engine, lock table, counters, row cache and registry of snapshots: it
// evaluates requests of package commit in the line of their region, applies what comes out of the log (replica.Machine), and reads.
// It is reached by methods of its own; nothing above asks which mode there is. What holds instead of S1 to S4, S10 and S12:
//
//	S22. Marks of a change stand in their region's pending table before the timestamp of its entry is fetched, and until it is applied
//	     and recorded. A reader has its timestamp, then looks for marks and locks, then makes its iterator (or asks the row cache), then
//	     looks whether the region is the same and still led in the same term.
//	S23. A lock is in the pending table from its application until what ends it is visible and recorded.
//	S15. Within one entry no change reads or writes a key that another one writes: who would is proposed with the next entry.
//	S16. The row cache numbers groups of commands instead of using timestamps. A number is drawn when the group is visible, and a
//	     reader's bound before its iterator; only what is known to be the newest version is offered. A locking read draws a bound before it
//	     looks for marks and locks, and keeps it with the lock (heldLock.asOf): a key of which nothing is recorded since then
//	     (rowcache R5) need not be looked for again when its commit is evaluated, behind all entries before.
//	     Frontiers are raised where rows are recorded, on every replica, and are forgotten when a region comes or goes otherwise.
//	S17. A split publishes the left half's new epoch before it moves locks: who looked for locks before is refused after.
//
//	S18. Garbage is collected by region. A round raises the floor in the line of every region, at and below which no transaction gets a
//	     lock, resolves the locks of those that began there, and then proposes a GCPoint to the regions with garbage: behind every commit
//	     that has its timestamp. Then nobody asks for a record that is as old, and each replica deletes on its own, unlogged. Commits
//	     in flight are registered as snapshots are, so that the floor stays below them.
//
//	S24. Ranges that locking reads pass are kept in the range table, which makes others wait, and with the owner as checks of its commit,
//	     which alone make them hold: a commit that slipped by is a version above the timestamp that was read at.
//
// A key G<region id 8> in space \x01 says up to which commit, 8 bytes, the garbage of a region is gone (clustergc.go); what is younger a
// scan finds after a start. Cluster.collector is the goroutine; Cluster.Close ends it.
//
//	S19. Promote (promote.go) is one record of the log behind all commits of before. From then on the map of regions is closed, so that
//	     whoever asks as before gets an EpochError, and Regions answers once the cluster serves.
//
//	S20. In a cluster of several stores one serves, the gateway: it leads region 0, holds its lease, and leads all regions (role.go). A read is
//	     answered if the lease is held after its iterator was made; so is what an evaluation says without proposing anything. TakeOver waits
//	     until no earlier gateway serves. A coordinator is the gateway in one life: all others are dead.
//	S21. What is kept in memory of a region goes with its state: Replaced reads it anew, and no row that was seen before comes back into the
//	     row cache (rowcache.Forget); Removed drops it. A replica that is not led here deletes what its GC point allows by itself.
//
// Cluster.keepRole and Cluster.keepLease are goroutines, as Cluster.collector is. role.taking is taken before Store.switching, role.mu before
// lease.mu, which is a leaf, and before the locks of package replica.
//
// pending.mu, garbage.mu, clusterRegion.recordsMu, metaRegion.mu and Cluster.mu are leaves. Store.promoting, Store.collecting and
// Store.switching are taken in this order, before all others.
//
// Absent on purpose: merging of regions.
package store
