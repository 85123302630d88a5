// Package replica keeps regions as Raft groups: their logs, their commands, and the line in which what changes a region stands.
//
// Place: above engine, below store, which gives it the state of the regions (Machine) and proposes to their lines (Line). It alone
// imports etcd's raft. The rules are study/cluster.md §2.2, §2.3, §2.7 and docs/design/0020-cluster-of-one.md.
//
// Terms:
//   - A group: the replicas of a region. A peer: one of them, by an id that is never used again.
//   - An entry: one place in a group's log, with one or more commands.
//   - A command: one change of a region's state, evaluated by the leader. Applying it decides nothing.
//   - A line: the queue of a region's proposals. A group of proposals becomes one entry, and one entry is in flight.
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
//	2 prewrite       start, node, node epoch, primary bytes, async byte, secondaries keys, least ts, mutations
//	3 commit         start, ts, keys
//	4 rollback       start, marker byte, keys
//	5 alloc          key bytes, least, n
//	6 drop counters  span
//	7 drop span      span
//	8 gc point       ts
//	9 split          key bytes, right region id, count of peers, each an id
//	10 meta          content bytes
//
//	mutations  count, each: kind byte (0 put, 1 delete), shadow byte (0 unknown, 1 none, 2 at), if 2 prev ts and its row's length,
//	           key bytes, value bytes
//	keys       count, each bytes
//	span       start bytes, 0 or 1, if 1 end bytes
//
// An entry of another version or kind stops the node: it was written by a newer program, and to skip it would be to diverge.
//
// # Invariants
//
//	A1. Commands are applied on every replica in the order of the log, each once: the applied index is in the batch of what it covers.
//	A2. A proposal's marks are published before the timestamp of its entry is fetched, and dropped after the entry is applied (rule A,
//	    D1). In between nothing else of the region is proposed.
//	A3. What is proposed was evaluated in the term that it is proposed in, with all entries before it applied.
//
// Absent on purpose: what commands mean (Machine), and reads.
package replica
