// Package replica implements regions as Raft groups: their logs, their commands, and the queue of proposals of each region (line).
//
// Place: above engine, below store, which gives it the state of the regions (Machine) and proposes to their lines (Line). It is the only
// package that imports etcd's raft. The rules are those of docs/design/0020 and 0021.
//
// Terms:
//   - A group: the replicas of a region. A peer: one of them, by an id that is never used again.
//   - An entry: one place in a group's log, with one or more commands.
//   - A command: one change of a region's state, evaluated by the leader. Applying it decides nothing.
//   - A line: the queue of a region's proposals. A group of proposals becomes one entry, and one entry is in flight.
//   - Logged, unlogged: the class of a record. Logged ones are in the engine's write-ahead log (WAL); unlogged ones may be lost in a crash, and are
//     made again by applying the region's log.
//   - A learner: a peer without a vote. A joint change of members: while it lasts, majorities of both the old and the new voters decide.
//   - A snapshot: a region's state at an index, for a peer that lacks entries which have been truncated.
//   - A stranger: a peer that should be on this store according to messages, but is not here yet.
//   - A tombstone: the newest peer of a region that was removed from this store. It and older ones never come back.
//   - Applied: in the memtable, not in the WAL: after a crash the entry may have to be applied again.
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
// An entry of raft's type 2 changes members. Its content is raft's (protobuf), whose context is: version byte 1, epoch as above, count of
// peers as in the descriptor below, which are those that the region is to have. Without content it ends a joint change.
//
//	mutations  count, each: kind byte (0 put, 1 delete), shadow byte (0 unknown, 1 none, 2 at), if 2 prev ts and its row's length,
//	           key bytes, value bytes
//	keys       count, each bytes
//	span       start bytes, 0 or 1, if 1 end bytes
//
// An entry of another version or kind stops the node: a newer program has written it, and replicas that skip it would diverge.
//
// # Records (space \x01, names begin with r and the region's id in 8 bytes; integers are big endian, CRC-32 is of all in front of it)
//
//	name        class     value
//	m           unlogged  the descriptor: id 8, version 4, conf version 4, mode 1, start and end (each a LEB128 length and bytes); with
//	                      mode 2 a LEB128 count of peers, each id and store (LEB128) and a byte: 0 voter, 1 learner, and in a joint
//	                      change 2 incoming voter, 3 voter that goes, 4 voter that becomes a learner; CRC-32 4
//	a           unlogged  applied index 8, its term 8, safepoint 8, CRC-32 4
//	h           logged    term 8, vote 8, commit 8, CRC-32 4
//	t           logged    index 8 and term 8 of the last entry that was truncated, 0 8, CRC-32 4
//	l<index 8>  logged    type 1, term (LEB128), content
//	x           logged    the newest peer that was removed 8, 0 8, 0 8, CRC-32 4
//
// Without h a region is in term 5, has voted for nobody and committed 5; without t its log begins after 5. Region 0 is the meta group.
//
// # Messages between peers
//
//	version 1, type 1 (the place in messageTypes), to, from, term, log term, index, commit, vote, reject hint (LEB128), reject 1,
//	context bytes, count of entries, each: type 1, term, content bytes. Their indices follow that of the message.
//
// Type 255 is not raft's: to, from, conf version (LEB128). It says that the receiver is no longer a member as of that version.
//
// # A snapshot
//
// A stream of frames: kind 1, length 4 (big endian), content, CRC-32 4 of all of these. A stream without an end frame is ignored.
//
//	1 head   version byte 1, the leader's peer, the receiver's, the leader's term, index, its term, GC point (LEB128), bytes of the descriptor
//	2 pairs  of bytes: engine key and value, ascending over all frames: locks, records, counters, versions; or all of region 0
//	3 end    count of pairs (LEB128)
//
// # Invariants
//
//	L1. Entries are in the WAL before their changes are in the memtable. With engine invariant 9, no table then has the changes of an
//	    entry that a crash has lost.
//	L2. A log is truncated only up to the index that is applied in tables.
//	L3. A record is written logged or unlogged, never both without a Barrier in between; the table above says which. Records of a region
//	    without a descriptor stay: the split that makes the region will be applied again.
//	L4. The commit index is written with the next entries; after a crash the applied index may be higher, and then counts.
//	L5. Deletions of the garbage collector are unlogged: if applying an entry again restores such a version, a scan finds it as garbage.
//	L6. Before the first group is opened there is a Barrier: otherwise, after a crash behind a promotion, recovery would apply logged values
//	    from before the promotion on top of unlogged ones that were flushed.
//	L7. The truncated state and the deletion of the entries are in one logged batch. A snapshot is ingested in one step with the region's
//	    records, among them the newest term and vote; between the Barrier before that and the step the replica logs nothing.
//	L8. Before a split or a change of members has any effect, a commit index that includes it is logged: so no crash leaves its effects
//	    without it. Committed entries are applied again before the first message is taken.
//	A1. Commands are applied on every replica in the order of the log, each once: the applied index is in the batch of what it covers.
//	A2. A proposal's marks are published before the timestamp of its entry is fetched, and dropped after the entry is applied (rule A,
//	    D1 of docs/design/0020). In between no other entry of the region is proposed.
//	M1. A peer without state has no vote and confirms nothing. It gets state by a split or by a snapshot. A snapshot must not overlap other
//	    regions that are here or still being deleted: it is refused until a split or removal has made room for it.
//	M2. A peer that was removed, or is not the newest of its store, never sends messages again (the tombstone is logged before its state
//	    is deleted), even if the split that made it is applied again.
//	M3. A peer that gets a vote was a learner, and has caught up (package store checks that).
//	A3. A proposal was evaluated in the term that it is proposed in, with all entries before it applied.
//
// # Driving
//
// Group is a pure core: package internal/sim drives several over models of disks and networks. Set drives the groups of a store over the
// engine: the goroutine that proposes does what the group asks for, the sync of the WAL included, which it shares with other committers in
// wal.Log. A message or a tick that finds nobody driving starts a goroutine that does. Messages are sent before the sync, except those that
// depend on the log. While a group syncs, further messages are passed to raft, and answered afterwards. The driver also truncates the log, which may
// wait for the engine to make room.
//
// A lease (lease.go) is held for region 0 only; package store holds it.
//
// Locks, in the order in which they are taken: Set.mu, member.mu, Set.listing and Set.entering; line.mu is a leaf. None is held over a sync or
// an application.
//
// Goroutine inventory: Set.keeper finds logs that can be truncated and Set.ticker ticks groups; New starts them, Close waits for them. Close also waits for one
// goroutine for each group that has something to do and no committer that does it, one for each snapshot that is sent, and the callers of
// ReceiveSnapshot.
//
// Absent on purpose: what commands mean (Machine), reads, placement, connections (Transport).
package replica
