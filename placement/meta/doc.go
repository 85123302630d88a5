// Package meta is the state of region 0: what all stores of a cluster have to agree on. Its leader is the placement driver.
//
// Place: below store, which keeps the state's records in the engine and brings commands to it in the order of region 0's log. It is
// pure: no goroutine, clock, socket or disk.
//
// Terms:
//   - An id names a region, a peer or a store, and is given once.
//   - The mark is a timestamp that no issued one exceeds; package placement issues them below it.
//   - A safepoint is a timestamp that a service (a backup, say) wants to read at until a time passes.
//   - A store's stage is where it is in its life: joining, up, leaving, removed. A token lets nodes join; only the hash of its secret is here.
//   - The authority signs the certificates of nodes; its number is the cluster's.
//   - The cluster version is what every node of the cluster can read; nothing newer is written.
//
// # Invariants
//
//	M1. Ids ascend: the next is above all that were given, and above all that were in use when the store was alone.
//	M2. The mark and the cluster version never fall.
//	M3. The state is a function of the commands, in order: no command reads a clock. What has to end by itself ends by a timestamp that a
//	    later command carries.
//	M4. The records are the state: State.Load of what the Changes of all commands have written gives the same state.
//	M5. A store's stage only ascends, and an id that was removed never comes back. One store stays up.
//	M6. A cluster has one authority, for ever: certificates and tokens rely on it.
//	M7. A token lets in no more nodes than it has uses, and none after its end.
//	M8. Who serves clients in a term of region 0 has said so before (Serve), and has stopped before it says that (Release).
//
// # Records (space \x05; numbers are LEB128, text a length and bytes)
//
//	name          value
//	i             next id
//	t             mark
//	v             cluster version
//	s<id 8>       a store: incarnation, oldest and newest version that it knows, address text, stage byte (1 joining, 2 up, 3 leaving,
//	              4 removed), hash of its key 32; a record of before stages ends behind the address, and means up
//	k<hash 32>    a token, by the SHA-256 of its secret: until (a timestamp), uses that are left
//	c             the authority: the cluster's number, its certificate and its key, DER in bytes
//	n             copies that regions shall have; 3 without it
//	g             the newest term in which a gateway said that it serves, byte 1 if it has said that it is over; from version 2 of the cluster on
//	p<name>       a safepoint: timestamp, until (a timestamp)
//
// # Commands: version byte 1, kind byte, fields
//
//	1 ids         n
//	2 mark        timestamp
//	3 version     cluster version
//	4 store       id, incarnation, oldest, newest, address text
//	5 safepoint   timestamp, until, now, name text; a timestamp of zero takes it back
//	6 join        oldest, newest, address text, hash of the key bytes, hash of the token's secret bytes, now
//	7 stage       store id, stage byte
//	8 token       hash of the secret bytes, until, uses, now
//	9 authority   cluster's number, certificate bytes, key bytes
//	10 copies     n
//	11 service    term of region 0, byte: 0 a gateway is about to serve in it, 1 it does no more; from version 2 of the cluster on
//
// What is malformed is an error, which ends the node. What is well formed and may not be does nothing, and its result says so.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: where regions are and how busy, which the leader knows from reports and nobody keeps; node leases and
// placement rules.
package meta
