// Package engine is the storage engine of a node: Pebble's tables in one directory, under a write-ahead log (WAL) of our own. The same
// works in memory, for tests.
//
// It stores engine keys (package keys) and opaque values, applies batches atomically, and says when they are durable. It knows
// no transactions; a version is a key like any other. No other product package may import Pebble.
//
// # Terms
//
//   - Apply: the moment a batch becomes visible to iterators made afterwards. Its place in the WAL is fixed just before.
//   - Sync: the moment the WAL up to the batch is on stable storage.
//   - Note: a position of the WAL, written with a batch every 64 KiB. The newest one in a table says what the WAL may drop, and
//     from where on recovery replays it.
//   - Unlogged: applied to the memtable only. The caller has, in the WAL, what it can be made from again after a crash.
//   - Checkpoint: a directory beside that opens as this one would after a crash.
//   - Overlay: a file system in memory over another, for who looks at a directory and must not change it.
//   - Barrier: what was applied before it is in tables, and recovery replays none of it.
//   - Fatal: an error after which nothing may be acknowledged any more, such as EIO on the WAL.
//   - Damage: an error of the disk's, or a checksum that is wrong, where something was read or work in the background was done. The engine goes
//     on, and tells its owner (Damaged); only what goes on for long becomes fatal, see failing.go.
//   - Watermark: the free space below which the owner has to refuse writes. Ballast: a file that can be given up below it.
//   - Stall: Pebble holds back writers because flushes or compactions lag. Pressure says how near that is.
//
// # Invariants
//
//  1. A batch is visible when ApplyNoSync returns, as a whole, and to every iterator made afterwards.
//
//  2. The order of batches in the WAL is the order in which they were applied: if A's apply returned before B's began, then
//     whatever crash leaves B leaves A. After a crash exactly a prefix of that order is left. Batches that are applied at the
//     same time have some order in the WAL and another in memory, so they must not write the same keys.
//
//  3. When SyncWait of a batch has returned nil, that batch and every batch before it in the order are durable.
//
//  4. A batch that was applied but not synced may be seen and may vanish. Who shows it to a client waits first (ARCHITECTURE.md, invariant 2).
//
//  5. After a fatal error no Apply and no SyncWait returns nil. Options.Fatal has been called, and it does not return in the
//     product: the process ends. A failed fsync must not be retried, because the kernel may have dropped the dirty pages and
//     would report success.
//
//  6. Keys handed in are well formed (keys.CheckEngine): Pebble's comparer panics on others. Foreign bytes are checked at the
//     border, not here, because this is the hot path. No iterator shows the engine's own key.
//
//  7. The engine starts two goroutines of its own, the log's and the sinker; they and Pebble's end with Close. The owner calls
//     PollDisk, PollReads and PollPressure, one to ten times a second under load.
//
//  8. Slices handed in are borrowed for the call. Slices handed out by an iterator are borrowed until its next move or Close.
//
//  9. A table is begun only after the WAL is durable up to all that the table can hold. So what a crash leaves of the WAL
//     reaches at least as far as the tables, and replaying it from any note on gives the state at its end: a batch sets, deletes
//     and deletes ranges, and the last in order wins. That order is the log's: tables that are put in from outside, ranges that are cut
//     out of tables, and unlogged batches are not in it, so a Barrier comes before the first two, and no key is written both logged
//     and unlogged without one in between.
//
//  10. One note is on its way at a time. Their positions rise.
//
//  11. A checkpoint is a state that a crash could have left: nothing in its log relies on tables that are not in it.
//
// # The directory
//
//	LOCK, MANIFEST-*, OPTIONS-*, marker.*, *.sst   Pebble's own
//	*.log                                          Pebble's too, and empty; full in a directory of before docs/design/0002
//	*.wal, spare-wal, spare-wal.part               the WAL: package wal
//	incoming/*                                     tables that are being written to be ingested, and files of sorters; emptied at Open
//	ballast                                        space to give up when the disk fills; no content
//
// The format major version is pinned by formatVersion. A directory of a newer format is refused, and so is one that holds
// anything else; raising the constant is a deliberate change, logged at the first open. OPTIONS files name the comparer and
// the key schema (cockroachkvs, unchanged), so that a foreign Pebble directory is refused too.
//
// # Locks
//
// Reads take none. Engine.cut is held by a checkpoint while it links tables, and shared by who asks what is in tables; it comes before
// order. Engine.order is held while a batch enters the WAL, whose lock is taken under it, and not while it goes into the
// memtable: a large one, such as the garbage collector's, must not hold up commits. diskMu guards the ballast file, unflushed.mu the
// list of key filters, failing.mu when flushes began to fail, loads.mu the tables that are being loaded, directReads.mu the places for reads past the page cache; all are leaves,
// and so is the lock of such a read's queue (package aio).
//
// # Reads past the page cache
//
// Where the tables are larger than the memory that the system has for its page cache, seven of eight blocks that it does not have are
// read past it, by Linux AIO (direct.go): to bring a block into a full page cache costs the kernel more processor time than to read
// it, and drops another that is as likely to be read. It buys 1.2 to 1.4 times the lookups of a cold database, and nothing otherwise
// (docs/design/0005 and 0011). Metrics.DirectReads of Metrics.DiskReads show it, and the log says when it begins and ends.
//
// # Absent on purpose
//
// Snapshots as objects: versions carry timestamps, so an iterator per statement is enough. Merge operators. Checks of what a
// key or value means. A second directory for the WAL: promotion, splits and truncation rely on one WAL.
package engine
