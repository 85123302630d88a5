// Package engine is the storage engine of a node: Pebble, an LSM tree, in one directory, with a write-ahead log (WAL) of our own in the
// place of Pebble's. It also works in memory, for tests.
//
// It stores engine keys (package keys) and opaque values, applies batches atomically, and says when they are durable. It knows
// no transactions; a version is a key like any other. No other product package may import Pebble.
//
// # Terms
//
//   - Apply: the moment a batch becomes visible to iterators made afterwards. Its place in the WAL is fixed just before.
//   - Sync: the moment the WAL up to the batch is on stable storage.
//   - Note: a position of the WAL, written as a key with a batch every 64 KiB of the WAL. The newest one in a table says what part
//     of the WAL may be dropped, and from where on recovery replays it.
//   - Unlogged: applied to the memtable only. The caller can make it again after a crash, from something that is in the WAL.
//   - Checkpoint: another directory, that opens as this one would after a crash.
//   - Overlay: a file system that keeps changes in memory, over another: it opens a directory without changing it.
//   - Barrier: what was applied before it is in tables, and recovery replays none of it.
//   - Fatal: an error after which nothing may be acknowledged any more, such as EIO on the WAL.
//   - Damage: an I/O error or a wrong checksum in a read, a flush or a compaction. The engine goes on, and tells its owner (Damaged); it
//     becomes fatal only if it prevents flushes for long, see failing.go.
//   - Watermark: the free space below which the owner has to refuse writes. Ballast: a file that can be given up below it.
//   - Stall: Pebble holds back writers because flushes or compactions lag. Pressure says how near that is.
//
// # Invariants
//
//  1. A batch is visible when ApplyNoSync returns, as a whole, and to every iterator made afterwards.
//
//  2. The order of batches in the WAL is the order in which they were applied: if A's apply returned before B's began, then
//     every crash that B survives A survives. After a crash exactly a prefix of that order is left. Batches that are applied
//     concurrently may have different orders in the WAL and in memory, so they must not write the same keys.
//
//  3. When SyncWait of a batch has returned nil, that batch and every batch before it in the order are durable.
//
//  4. A batch that was applied but not synced is visible, and a crash may lose it. Before it is shown to a client its sync is waited for
//     (ARCHITECTURE.md, invariant 2).
//
//  5. After a fatal error no Apply and no SyncWait returns nil. Options.Fatal has been called, and it does not return in the
//     product: the process ends. A failed fsync must not be retried, because the kernel may have dropped the dirty pages and
//     would report success.
//
//  6. Keys passed in are well formed (keys.CheckEngine): Pebble's comparer panics on others. Callers check bytes from outside, not
//     the engine, because this is the hot path. No iterator shows the engine's own key (the note).
//
//  7. The engine starts two goroutines of its own, the log's and the sinker; they and Pebble's end with Close. The owner calls
//     PollDisk, PollReads and PollPressure, one to ten times a second under load.
//
//  8. Slices passed in are borrowed for the call. Slices returned by an iterator are valid until its next move or Close.
//
//  9. A table is begun only after the WAL is durable up to all that the table can hold. So what a crash leaves of the WAL
//     reaches at least as far as the tables, and replaying it from any note on gives the state at its end: batches set keys, delete
//     keys and delete ranges, and the last one in WAL order wins. Ingested tables, the ranges that Ingest deletes, and unlogged
//     batches have no place in that order. So a Barrier comes before an Ingest, and no key is written both logged and unlogged
//     without a Barrier in between.
//
//  10. At most one note at a time is in the WAL and not yet in the memtable. The positions that notes name rise.
//
//  11. A checkpoint is a state that a crash could have left: nothing in its log relies on tables that are not in it.
//
// # The directory
//
//	LOCK, MANIFEST-*, OPTIONS-*, marker.*, *.sst   Pebble's own
//	*.log                                          Pebble's too, and empty, unless the directory is older than our WAL (docs/design/0002)
//	*.wal, spare-wal, spare-wal.part               the WAL: package wal
//	incoming/*                                     tables that are being written to be ingested, and files of sorters; emptied at Open
//	ballast                                        space to free when the disk fills; no content
//
// The format major version is pinned by formatVersion. A directory of a newer format is refused, and so is one that holds
// anything else; raising the constant is a deliberate change, logged at the first open. OPTIONS files name the comparer and
// the key schema (cockroachkvs, unchanged), so that a foreign Pebble directory is refused too.
//
// # Locks
//
// Reads take none but those of direct reads. Engine.cut is held by a checkpoint while it links tables, and shared by calls that ask what is
// in tables; it is taken before order. Engine.order is held while a batch is appended to the WAL, whose lock is taken under it, and not while
// the batch is inserted into the memtable: a large one, such as the garbage collector's, must not delay commits. Leaves: disk.diskMu (the
// ballast file), unflushed.mu (the list of key filters), failing.mu (when flushes began to fail), loads.mu (the tables that are being loaded),
// settling.mu (when flushes and compactions end), cacheRoom.mu, directReads.mu (the requests), and the lock of their queue (package aio).
//
// # Direct reads
//
// Where the tables are larger than the memory that the system has for its page cache, seven of eight blocks that are not in it are read
// past it, by Linux AIO (direct.go): bringing a block into a full page cache costs the kernel more processor time than reading it, and
// evicts another that is as likely to be read. A cold database serves 1.2 to 1.4 times as many lookups so; other databases are not
// affected (docs/design/0005 and 0011). Compare Metrics.DirectReads with Metrics.DiskReads; the log says when it begins and ends.
//
// # Absent on purpose
//
// Snapshots as objects: versions carry timestamps, so an iterator per statement is enough. Merge operators. Checks of what a
// key or value means. A second directory for the WAL: promotion, splits and truncation rely on one WAL.
package engine
