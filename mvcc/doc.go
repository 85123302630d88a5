// Package mvcc implements versions of keys: the format of a version's value, which version a reader at a timestamp sees, and which
// versions garbage collection may delete.
//
// Everything here is a function of an iterator: no goroutine, no clock, no network. Locks, conflicts and commit timestamps are
// up to store and txn.
//
// # Terms
//
//   - Version: one engine key, logical@ts, and its value. ts is the timestamp of the commit that wrote it.
//   - Tombstone: a version that says that the key is absent from its timestamp on.
//   - Visible at T: the newest version with ts <= T. The key is absent if there is none or if it is a tombstone.
//   - Shadowed at T: older than the version visible at T. No reader at or after T can see it.
//   - Safepoint: a timestamp below which nobody reads, now or later.
//
// # The value of a version
//
//	offset  bytes  content
//	0       1      flags: 0x01 tombstone, 0x02 a delta follows; other bits are zero
//	1       1..10  if 0x02: commit timestamp minus start timestamp, unsigned LEB128, at least 1
//	...     rest   the row; empty for a tombstone
//
// The start timestamp names the transaction, so that a commit that is sent again recognises its own version. A transaction on a
// store that is alone is one batch, is never sent again, and leaves it out.
//
// # The value of a lock
//
// A transaction over several regions of a cluster locks each key that it writes (space \x02). The lock has the content of the version to be.
//
//	offset  bytes  content
//	0       1      format, 1
//	1       1      flags: 0x01 a deletion, 0x02 async: committed once all keys are locked (package txn/commit); other bits are zero
//	2       ...    start, least commit timestamp, milliseconds to live, node, node epoch: each unsigned LEB128
//	...     ...    primary key: length (LEB128), bytes
//	...     ...    count (LEB128) of the other keys, and these as the primary; only in the primary's lock, and only if async
//	...     rest   the row; empty for a deletion
//
// # The value of a record
//
// A record says whether a transaction was committed or rolled back at a key (space \x03, by key and start timestamp): at its primary key, or
// as a marker that makes a prewrite of the key fail if it arrives late.
//
//	offset  bytes  content
//	0       1      format, 1
//	1       1      1 committed, 2 rolled back
//	2       ...    commit timestamp (LEB128); 0 if rolled back
//
// # Invariants
//
//  1. A version is written once and never changed. Two versions of a key have different timestamps.
//  2. No function panics on malformed bytes: for keys and values that this package cannot have written they return ErrCorrupt.
//  3. Garbage collection at safepoint S deletes only versions that are shadowed at S, and a tombstone visible at S once nothing is
//     left below it, in the batch that deletes the last version below or in a later one. Otherwise a reader, or a crash between two
//     batches, would bring the old version back.
//  4. Reads at T >= S give the same answers before and after a collection at S.
//  5. Values are borrowed from the iterator (or the scanner) until its next move.
//  6. A long walk over versions that are not visible polls the caller's interrupt at least every pollSteps moves.
//
// # Absent on purpose
//
// What locks and records mean, and when they are written: package txn/commit. Range tombstones with timestamps: DROP and
// TRUNCATE delete whole tables by a range deletion of the engine once the safepoint has passed.
package mvcc
