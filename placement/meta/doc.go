// Package meta is the state of region 0: what all stores of a cluster have to agree on. Its leader is the placement driver.
//
// Place: below store, which keeps the state's records in the engine and brings commands to it in the order of region 0's log. It is
// pure: no goroutine, clock, socket or disk.
//
// Terms:
//   - An id names a region, a peer or a store, and is given once.
//   - The mark is a timestamp that no issued one exceeds; package placement issues them below it.
//   - A safepoint is a timestamp that a service (a backup, say) wants to read at until a time passes.
//   - The cluster version is what every node of the cluster can read; nothing newer is written.
//
// # Invariants
//
//	M1. Ids ascend: the next is above all that were given, and above all that were in use when the store was alone.
//	M2. The mark and the cluster version never fall.
//	M3. The state is a function of the commands, in order: no command reads a clock. What has to end by itself ends by a timestamp that a
//	    later command carries.
//	M4. The records are the state: State.Load of what the Changes of all commands have written gives the same state.
//
// # Records (space \x05; numbers are LEB128, text a length and bytes)
//
//	name          value
//	i             next id
//	t             mark
//	v             cluster version
//	s<id 8>       a store: incarnation, oldest and newest version that it knows, address text
//	p<name>       a safepoint: timestamp, until (a timestamp)
//
// # Commands: version byte 1, kind byte, fields
//
//	1 ids         n
//	2 mark        timestamp
//	3 version     cluster version
//	4 store       id, incarnation, oldest, newest, address text
//	5 safepoint   timestamp, until, now, name text; a timestamp of zero takes it back
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: where regions are and how busy, which the leader knows from reports and nobody keeps; node leases, placement rules
// and join tokens, which come with the second store.
package meta
