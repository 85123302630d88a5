// Package rowcache keeps the newest versions of rows in memory, found by key with one probe of a hash table. A lookup in the
// engine searches up to four memtables and every level, some 3 µs; here it takes half a microsecond (BenchmarkGet). Locking reads of
// updates use it, too.
//
// Place: below store, which alone says what the newest version is. It knows no engine and no transactions.
//
// Terms:
//   - Recorded: a commit's writes have been handed to Put and Delete.
//   - A commit's number: what it is recorded with. Where commits are recorded in the order of their timestamps, that is the timestamp.
//   - A stamp: the highest number recorded of a group of keys, those that share some bits of the hash.
//   - A reader's bound: a number such that the commits at or below it were recorded, and visible to the reader's iterator,
//     before the iterator was made.
//
// # What the caller must keep
//
//	C1. Every commit, but for a row that is put where there was none, is recorded after its writes are visible to new
//	    iterators, and before anybody may read at its timestamp or above, locks included.
//	C2. Of one key, versions are recorded in the order of their timestamps.
//	C3. A reader hands to Fill what it saw as the newest version, together with its bound.
//
// # Invariants
//
//	R1. An entry is the newest recorded version of its key. Fill refuses a version when a commit above the
//	    reader's bound has been recorded, of this key or of one that shares its stamp: the reader may not have seen it. A
//	    commit that is not recorded yet changes the entry when it is (C1).
//	R2. Get answers only with a version at or below the timestamp that is read at. With R1 and C1 that is the visible one:
//	    what lies between would have been recorded. A miss says nothing.
//	R3. Delete markers and absent keys have no entry.
//	R4. Garbage collection deletes shadowed versions only, so it does not concern the cache.
//	R5. Unchanged says yes only if what was the newest version of a key is that still, for a reader who saw it with its bound, once all
//	    commits of the key are recorded.
//	R6. Memory is allocated in chunks when it is needed, up to the limit, and given back when Drop leaves nothing in a chunk.
//	    A shard may exceed its part of the limit by what its table of slots grows by when it doubles.
//
// # Structure
//
// Keys are spread over shards by hash. A shard has a table of slots (open addressing, linear probing, deletion by shifting
// back) and a ring of chunks into which entries are written one after the other. When the ring is full the oldest chunk is
// reused: entries that were read since they were written or last kept are moved to its front, up to half of it, and
// the others are evicted. That is the second-chance algorithm (Corbató 1968, "A paging experiment with the Multics system")
// by chunks. A chunk that is given back leaves a hole in the ring, which the next new one fills. An update overwrites its entry
// in place if the new row fits.
//
//	slot: the high 32 bits are the tag, 32 bits of the key's hash; the low 32 bits the entry's place in units of 16 bytes plus
//	one, zero for a free slot.
//
//	An entry, aligned to 16 bytes, integers little endian:
//
//	offset  bytes  content
//	0       4      size of the entry in bytes, a multiple of 16
//	4       4      tag
//	8       8      commit timestamp
//	16      4      length of the row
//	20      2      length of the key
//	22      2      flags: 0x1 live (a slot leads here), 0x2 read
//	24      ...    key, row, room up to the size
//
// # Locks
//
// shard.mu guards everything of its shard and is a leaf, except that the caller's reserve function is called under it.
// There are no goroutines.
package rowcache
