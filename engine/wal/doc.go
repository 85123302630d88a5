// Package wal is the write-ahead log of a node: an ordered sequence of records that is durable up to a position.
//
// It replaces Pebble's log. There, a separate goroutine writes and syncs, so that a single commit costs three thread wake-ups and a group
// of commits two; here, a goroutine that waits for durability does the work (docs/design/0002-log.md has the figures).
//
// # Terms
//
//   - Position: a place in the log, in bytes from its beginning on, headers of records included. It only grows, over restarts too.
//   - Segment: a file that holds the positions from its base, which is its name, to the base of the next.
//   - Spare: a file that will become a segment. Its blocks have been written before, so that a sync of the segment need not commit
//     the file system's journal. Normally it is a released segment that is reused; a new file is filled with zeros only if there is none
//     in time (wantSpare). A young log has small segments and spares, whose size doubles as it grows (sizeNow).
//   - Hold: while there is one no segment is removed or reused, so that segments can be copied.
//   - Released: the position up to which the owner has the effects of all records elsewhere, durably, so that they need not be replayed.
//
// # Invariants
//
//  1. Records are found again in the order in which Append was called, and as a prefix of that order.
//  2. When Sync(p) has returned nil, everything below p is durable, and so is the name of every segment that holds it.
//  3. A segment gets its name only after everything in its predecessor is durable. So a record that is not intact is damage in any
//     segment but the last, and also in the last if a later record says that the log was synced beyond it. Open refuses both.
//     Any other incomplete record at the end was torn by a crash, and the log ends before it.
//     Besides, the mark says what was durable: the newest segment's name, size and header, and after a clean Close where the log ended.
//     If Open does not find that, it is lost (ErrLost), and Open refuses unless the operator accepts the loss.
//  4. Neither a torn record nor a record of a reused file's earlier life is ever taken for a record of the log: a record has its own
//     position in it, and after Open the log goes on in a new segment.
//  5. After an error of a write or a sync nothing is durable any more: Options.Fail has been called and every Sync fails. A
//     failed fsync must not be retried, for the kernel may have dropped the dirty pages.
//
// # Files
//
// All numbers are little-endian. `<base>.wal`, base in 16 hexadecimal digits:
//
//	bytes  0–7   "PANDOWAL"
//	bytes  8–11  version of this format, 1
//	bytes 12–19  base
//	bytes 20–23  salt, a random number that each Open draws for the segments it begins
//	bytes 24–27  CRC-32C of bytes 0–23
//	bytes 28–31  zero
//	from 32 on   records, each padded with zeros to a multiple of 8 bytes; the byte at offset o has the position base + o − 32
//
// A record:
//
//	bytes  0–3   CRC-32C, begun with the salt, of the content followed by bytes 4–23
//	bytes  4–7   length of the content, at least 1
//	bytes  8–15  position of the record
//	bytes 16–23  the position up to which the log was synced when the record was appended
//	from 24 on   the content
//
// After the last record there may be zeros up to the end of a block of the disk, 4 KiB at most, because a segment that is made of a
// spare is written in whole blocks (blocks.go), and after those the bytes of the file's earlier life.
//
// Contents come from clients. Because of the salt no client can send bytes that would be taken for a record.
//
// `log-mark-<base>-<bytes>-<end>`, an empty file with three numbers of 16 hexadecimal digits in its name, is the mark: the base of the
// newest segment, the least size of its file (0: not even its header is durable), and a position below which all is durable. It is
// renamed after a segment's header and name are durable, and at Close. Every log with records has one; if not, it was removed.
//
// `spare-wal` is a spare and `spare-wal.part` one that is being written; both may be deleted while the server is down.
//
// # Locks and goroutines
//
// Log.mu guards the positions and the records not yet written; it is a leaf and never held over I/O. The goroutine that has set Log.busy
// owns the open segment until it clears busy: it writes and syncs without mu, and all others wait or append. Before a call that blocks it
// yields to runnable goroutines (Log.yield), since the call occupies its processor. One goroutine, which Close ends, makes spares and
// removes released segments; Log.filesMu, taken before mu, excludes it and a change of segments from each other.
package wal
