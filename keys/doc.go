// Package keys is the map of the key space and the only package that builds keys.
//
// # Two kinds of keys
//
// A logical key names a thing of the database: a row, an index entry, a descriptor. It is plain bytes, ordered by
// bytes.Compare, and it is what table, catalog, txn, kv and the region map speak of. Region bounds are logical keys.
//
// An engine key is what Pebble stores. It is a space byte, the logical key, a NUL and, for versions, a suffix. The comparer
// and the columnar key schema (pebble's cockroachkvs, unchanged) read the suffix length from the last byte:
//
//	versions   \x10 | logical key | 0x00 | timestamp, 8 bytes big endian | 0x09
//	no version space | logical key | 0x00
//
// Keys with equal logical key are ordered newest timestamp first, and a key without a suffix sorts before all of them. The
// order of engine keys in one space is the order of their logical keys, because a NUL is appended to both.
//
// # Spaces
//
//	\x00  package engine's own; no iterator shows it, and CheckEngine refuses it.
//	\x01  store-local: identity, region records, Raft state and logs. Never replicated as data.
//	\x02  locks of transactions that span regions, by logical key (format: package mvcc). Empty while all regions are Solo.
//	\x03  transaction records, by logical key and start timestamp (format: package mvcc). Empty while all regions are Solo.
//	\x04  counters, by logical key: unversioned values that belong to a region and only grow (auto-increment).
//	\x05  the state of region 0 (package placement/meta), by name.
//	\x10  versions, by logical key and commit timestamp.
//
// Bytes between \x05 and \x10 are free for unversioned data of a region, bytes above \x10 for versioned data.
//
// # Logical keys
//
//	t <table: varint> r <primary key columns>              a row
//	t <table: varint> i <index: varint> <columns>          an index entry
//	m <kind: 1 byte> <part: varint length, bytes>...       system data: descriptors, jobs, variables, users
//
// <table> is a physical id, one per partition and per truncation, never reused. Index entries sort before the rows of their
// table ('i' < 'r'). Columns are self-delimiting and order-preserving; package types encodes them.
//
// # Varints
//
// Integers in prefixes use a varint whose bytes sort as the numbers do. The first byte tells the length:
//
//	first byte  value                                   bytes
//	0..240      the byte                                1
//	241..248    240 + 256*(first-241) + second          2   up to 2,287
//	249         2,288 + the next 2 bytes, big endian    3   up to 67,823
//	250..255    the next 3..8 bytes, big endian         4..9
//
// Each number has one encoding, and decoding refuses the others: two spellings of one table id would be two tables.
//
// # Invariants
//
//  1. Functions append to dst and return it; they keep no reference to an argument.
//  2. Decoding never panics, whatever the bytes. Pebble's comparer does panic on malformed keys, so bytes that come from
//     outside (the network, a file) pass CheckEngine or CheckLogical before they reach the engine.
//  3. A logical key is at most LogicalLenMax bytes.
//
// # Absent on purpose
//
// The encoding of column values (package types) and of values (mvcc, table).
package keys
