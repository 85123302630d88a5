// Package meta is the state machine of region 0: what all stores of a cluster have to agree on. Region 0's leader is the placement driver.
//
// Place: below store, which keeps the state's records in the engine and applies commands in the order of region 0's log. It is
// pure: no goroutine, clock, socket or disk.
//
// Terms:
//   - An id identifies a region, a peer or a store, and is allocated once.
//   - The mark is an upper bound of all issued timestamps; package placement issues timestamps below it.
//   - A safepoint is a timestamp that a service (a backup, say) wants to read at until a time passes.
//   - A store's stage is joining, up, leaving or removed. A token permits nodes to join; only the hash of its secret is kept.
//   - The authority is the key that signs the certificates of nodes; its number identifies the cluster.
//   - The cluster version is the newest format of data that is written: every node of the cluster can read it.
//
// # Invariants
//
//	M1. Ids ascend: the next is above all that were allocated, and above all that the first store used before there was a cluster.
//	M2. The mark and the cluster version never fall.
//	M3. The state is a function of the commands, in order: no command reads a clock. Whether something has expired is decided by the
//	    timestamp that a later command carries.
//	M4. The records hold the whole state: State.Load of all records that Changes have written gives the same state.
//	M5. A store's stage only ascends, and a removed id is never used again. At least one store stays up.
//	M6. The authority of a cluster never changes: certificates and tokens rely on it.
//	M7. No more nodes join by a token than it has uses, and none after it has expired.
//	M8. Who serves clients in a term of region 0 has said so before (Serve), and has stopped before it says that (Release).
//
// # Records (space \x05; numbers are LEB128, text a length and bytes)
//
//	name          value
//	i             next id
//	t             mark
//	v             cluster version
//	s<id 8>       a store: incarnation, oldest and newest version that it knows, address text, stage byte (1 joining, 2 up, 3 leaving,
//	              4 removed), hash of its key 32; a record older than stages ends after the address, and means up
//	k<hash 32>    a token, by the SHA-256 of its secret: until (a timestamp), uses left
//	c             the authority: the cluster's number, certificate bytes and key bytes, both DER
//	n             desired copies of a region; 3 without it
//	g             the newest term in which a gateway said that it serves, byte 1 if it has said that it is over; from version 2 of the cluster on
//	p<name>       a safepoint: timestamp, until (a timestamp)
//
// # Commands: version byte 1, kind byte, fields
//
//	1 ids         n
//	2 mark        timestamp
//	3 version     cluster version
//	4 store       id, incarnation, oldest, newest, address text
//	5 safepoint   timestamp, until, now, name text; a timestamp of zero deletes it
//	6 join        oldest, newest, address text, hash of the key bytes, hash of the token's secret bytes, now
//	7 stage       store id, stage byte
//	8 token       hash of the secret bytes, until, uses, now
//	9 authority   cluster's number, certificate bytes, key bytes
//	10 copies     n
//	11 service    term of region 0, byte: 0 a gateway is about to serve in it, 1 it does no more; from version 2 of the cluster on
//
// A malformed command is an error, which stops the node. A well formed command that is not permitted changes nothing, and its result says so.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: where regions are and how busy, which the leader learns from reports and nobody stores; node leases and
// placement rules.
package meta
