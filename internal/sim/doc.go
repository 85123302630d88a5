// Package sim runs the pure cores of several stores on one goroutine: a seed decides everything, so that what it finds can be found
// again.
//
// Place: an instrument, beside internal/explore, which visits all states of a small model; this one visits some states of the real
// code. It drives replica.Group; a fault that it finds is told with the seed and the end of the trace.
//
// Terms:
//   - The world: stores, the network between them, clients, and virtual time.
//   - The disk: a model of package engine's: a write-ahead log of which a crash leaves what was synced and perhaps more, memtables that
//     a crash takes, and tables, into which a prefix of what was applied is flushed once the log is durable up to there.
//   - A rule: a thing that the code or its driver keeps; Rules can switch one off, for a canary.
//
// Besides crashes, lost and doubled messages and cut links, stores are cut off or paused for longer than a lease, members come and go by
// joint changes, logs are so short that followers need snapshots, and leads are handed on. Who leads serves as the gateway of a
// cluster does: once no other can, and while it holds its lease by its own clock, which runs wrong. It may say in the log that it serves no more, and hand the lead on or
// vanish; the next then waits for no lease.
//
// What is checked, at each step: every store applies the same entries at the same index (state-machine safety), and each entry once;
// a store opens after every crash. At the end, with all stores up and the network whole: what a client was told to be done is in the
// state of all members, and their states are equal. A read that is answered shows what was acknowledged before; a disk has the term and
// the vote that its peer has told of last.
//
// Invariants:
//
//	D1. The same seed and rules give the same trace, byte by byte (TestRepeatable). Raft's own random choices are seeded with
//	    testing/cryptotest.
//	D2. Each rule has a canary: a run without it finds a fault within a bounded number of seeds.
//
// Absent on purpose: real time, goroutines, and the real engine; the tests of package replica crash that one.
package sim
