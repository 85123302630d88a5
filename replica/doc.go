// Package replica keeps regions as Raft groups: their logs, their commands, and the line in which what changes a region stands.
//
// Place: above engine, below store, which gives it the state of the regions (Machine) and proposes to their lines (Line). It alone
// imports etcd's raft. The rules are those of docs/design/0020 and 0021.
//
// Terms:
//   - A group: the replicas of a region. A peer: one of them, by an id that is never used again.
//   - An entry: one place in a group's log, with one or more commands.
//   - A command: one change of a region's state, evaluated by the leader. Applying it decides nothing.
//   - A line: the queue of a region's proposals. A group of proposals becomes one entry, and one entry is in flight.
//   - Logged, unlogged: the class of a record. Logged ones are in the write-ahead log; unlogged ones are what a crash takes and the log gives
//     back.
//   - A learner: a peer without a vote. A joint change of members: until it is over both the voters of before and those of afterwards decide.
//   - A snapshot: a region's state at an index, for a peer that lacks more than the others' logs hold.
//   - A stranger: a peer of this store that others speak of and that is not here yet.
//   - A tombstone: which peers of a region were removed from this store; they never come back.
//   - Applied: in the memtable, not in the write-ahead log: a crash takes it, and the entry is applied again.
//
// # An entry's content (integers are unsigned LEB128 in the shortest form, bytes a length and themselves)
//
//	version   byte, 1
//	epoch     version, conf version of the region that it was made for; at another one it does nothing
//	count     of commands, each:
//	  kind    byte
//	  fields  of the kind, in this order:
//
//	1 write          start, ts, mutations, count of counters, each key bytes and value
//	2 prewrite       start, node, node epoch, ms to live, primary bytes, async byte, secondaries keys, least ts, mutations
//	3 commit         start, ts, keys
//	4 rollback       start, marker byte, keys
//	5 alloc          key bytes, least, n
//	6 drop counters  span
//	7 drop span      span
//	8 gc point       ts
//	9 split          key bytes, right region id, count of peers, each an id
//	10 meta          content bytes
//	11 renew         start, key bytes, ms to live
//
// An entry of raft's type 2 changes members. Its content is raft's (protobuf), and has for context: version byte 1, epoch as above, count of
// peers as in the descriptor below, which are those that the region is to have. Without content it ends a joint change.
//
//	mutations  count, each: kind byte (0 put, 1 delete), shadow byte (0 unknown, 1 none, 2 at), if 2 prev ts and its row's length,
//	           key bytes, value bytes
//	keys       count, each bytes
//	span       start bytes, 0 or 1, if 1 end bytes
//
// An entry of another version or kind stops the node: it was written by a newer program, and to skip it would be to diverge.
//
// # Records (space \x01, names begin with r and the region's id in 8 bytes; integers are big endian, CRC-32 is of all in front of it)
//
//	name        class     value
//	m           unlogged  the descriptor: id 8, version 4, conf version 4, mode 1, start and end (each a LEB128 length and bytes); with
//	                      mode 2 a LEB128 count of peers, each id and store (LEB128) and a byte: 0 voter, 1 learner, and in a joint
//	                      change 2 incoming voter, 3 voter that goes, 4 voter that becomes a learner; CRC-32 4
//	a           unlogged  applied index 8, its term 8, safepoint 8, CRC-32 4
//	h           logged    term 8, vote 8, commit 8, CRC-32 4
//	t           logged    index 8 and term 8 of the last entry that is gone, 0 8, CRC-32 4
//	l<index 8>  logged    type 1, term (LEB128), content
//	x           logged    the newest peer that was removed 8, 0 8, 0 8, CRC-32 4
//
// Without h a region is in term 5, has voted for nobody and committed 5; without t its log begins behind 5. Region 0 is the meta group.
//
// # Messages between peers
//
//	version 1, type 1 (the place in messageTypes), to, from, term, log term, index, commit, vote, reject hint (LEB128), reject 1,
//	context bytes, count of entries, each: type 1, term, content bytes. Their indices follow that of the message.
//
// Type 255 is not raft's: to, from, conf version (LEB128). It says that the peer it is for is no member any more as of that version.
//
// # A snapshot
//
// A stream of frames: kind 1, length 4 (big endian), content, CRC-32 4 of all of these. A stream without its end is none.
//
//	1 head   version byte 1, the leader's peer, the receiver's, the leader's term, index, its term, GC point (LEB128), bytes of the descriptor
//	2 pairs  of bytes: engine key and value, ascending over all frames: locks, records, counters, versions; or all of region 0
//	3 end    count of pairs (LEB128)
//
// # Invariants
//
//	L1. Entries enter the write-ahead log before their application enters the memtable. With engine invariant 9, no table then holds an
//	    application whose entry a crash takes.
//	L2. A log is truncated up to the index that is applied in tables, no further.
//	L3. A record is written logged or unlogged, never both, but with a Barrier in between; the table above says which. What is found of
//	    a region without a descriptor waits: the split that makes it will be applied again.
//	L4. The commit index is written with the next entries; what is applied may be ahead of it after a crash, and raises it.
//	L5. What garbage collection deletes is unlogged: a version that an entry brings back is garbage that a scan finds.
//	L6. Before the first group is opened there is a Barrier: otherwise a crash behind a promotion would let recovery put logged values of
//	    the time before over unlogged ones that were flushed.
//	L7. The truncated state and the deletion of the entries are one batch of the log. A snapshot goes in in one step with the region's records,
//	    among them the term and vote that were asked to be kept last; between the Barrier in front of it and that step the replica logs
//	    nothing.
//	L8. Before a split or a change of members is acted on, it is logged that the log is committed up to there: a crash cannot leave what came
//	    of it without it. What is committed is applied again before the first message is taken.
//	A1. Commands are applied on every replica in the order of the log, each once: the applied index is in the batch of what it covers.
//	A2. A proposal's marks are published before the timestamp of its entry is fetched, and dropped after the entry is applied (rule A,
//	    D1). In between nothing else of the region is proposed.
//	M1. A peer without state has no vote and confirms nothing. It gets state by a split or by a snapshot, which fits beside the regions that are
//	    here, and those whose state is still being deleted: it waits for the split or the removal that makes room for it.
//	M2. A peer that was removed, or is not the newest of its store, never speaks again (the tombstone is in the log before its state
//	    goes), even if a split that made it is applied again.
//	M3. Who is to have a vote was a learner, and has caught up (package store asks for that).
//	A3. What is proposed was evaluated in the term that it is proposed in, with all entries before it applied.
//
// # Driving
//
// Group is a pure core: package internal/sim drives several over models of disks and networks. Set drives those of a store over the
// engine: who proposes does what the group asks for, the log's sync included, and other committers share that sync in wal.Log. A message or
// a tick that finds nobody driving starts a goroutine that does; what it has to say leaves before the sync, but for what speaks of
// the log. While a group syncs, messages are handed to raft, and answered afterwards.
//
// A lease (lease.go) is held for region 0 only; package store holds it.
//
// Locks, in the order in which they are taken: Set.mu, member.mu, Set.listing and Set.entering; line.mu is a leaf. None is held over a sync or
// an application.
//
// Goroutine inventory: Set.keeper truncates logs and Set.ticker ticks groups; New starts them, Close waits for them. One for each group that
// has something to do and whose committers do not do it, one for each snapshot that is sent, and who calls ReceiveSnapshot; Close waits.
//
// Absent on purpose: what commands mean (Machine), reads, placement, connections (Transport).
package replica
