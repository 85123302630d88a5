// Package wal is the write-ahead log of a node: an ordered sequence of records that is durable up to a position.
//
// It takes the place of Pebble's log. There, a goroutine of its own writes and syncs, so that a commit alone costs three thread
// wake-ups and a group of commits two; here, who waits for durability does the work (docs/design/0002-log.md has the figures).
//
// # Terms
//
//   - Position: a place in the log, in bytes from its beginning on, headers included. It only grows, over restarts too.
//   - Segment: a file that holds the positions from its base, which is its name, to the base of the next.
//   - Spare: a file that will become a segment. Its blocks have been written before, so that a sync of the segment need not commit
//     the file system's journal. It was a segment until it was released; zeros are written only while there are too few segments for
//     that (wantSpare). A young log has small ones, which double as it grows (sizeNow).
//   - Hold: while there is one no segment is dropped or becomes another, so that it can be copied.
//   - Released: the position up to which the owner has the effects of all records elsewhere, and synced.
//
// # Invariants
//
//  1. Records are found again in the order in which Append was called, and as a prefix of that order.
//  2. When Sync(p) has returned nil, everything below p is durable, and so is the name of every segment that holds it.
//  3. A segment gets its name only after everything in its predecessor is durable. So a hole in any segment but the last is
//     damage, and so is a hole in the last before a position that a later record knows to be synced. Open refuses both. What
//     else stands at the end is what a crash has torn, and is cut off.
//     Beyond that the mark knows what was durable: the newest segment's name, size and header, and at a clean end where the log ended.
//     What it knows and Open does not find is lost (ErrLost), and refused unless the operator accepts it.
//  4. What a crash has torn is never mistaken for the log again, nor is what a recycled file held: a record names its position,
//     and after Open the log goes on in a new segment.
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
// Behind the last record there may be zeros up to the end of a block of the disk's, 4 KiB at most, because a segment that is made of a
// spare is written in whole blocks (blocks.go), and behind them what the file held before.
//
// Contents are what clients have sent. The salt sees to it that none of them can hold bytes that pass for a record.
//
// `log-mark-<base>-<bytes>-<end>`, an empty file with three numbers of 16 hexadecimal digits in its name, is the mark: the base of the
// newest segment, the least size of its file (0: not even its header is durable), and a position below which all is durable. It is
// renamed after a segment's header and name are durable, and at Close. A log with records has one, or a file of it was removed.
//
// `spare-wal` is a spare and `spare-wal.part` one that is being written; both may be deleted while the server is down.
//
// # Locks and goroutines
//
// Log.mu guards the positions and the records not yet written; it is a leaf and never held over I/O. Whoever has set Log.busy
// owns the open segment until he clears it: he writes and syncs without mu, and everybody else waits or appends. Before a call that
// blocks he lets those run who are ready (Log.yield), since the call keeps its processor from them. One goroutine,
// which Close ends, makes spares and removes released segments; Log.filesMu, taken before mu, makes it and a change of segments
// take turns.
package wal
