// Package placement issues timestamps. Its subpackages are the state that a cluster
// agrees on (meta), and the choice of which nodes have copies of regions (schedule).
//
// Place: below store, which persists for it through MarkStore; above clock.
//
// Terms:
//   - A timestamp is physical milliseconds << 18 | logical.
//   - The mark is a persisted timestamp that no issued timestamp exceeds.
//
// Invariants:
//
//	P1. Timestamps are issued in strictly ascending order, also across restarts,
//	    whatever the wall clock does: issuing starts above now, the mark, and the
//	    highest commit timestamp the engine knows.
//	P2. A timestamp above the saved mark leaves the oracle only together with a
//	    new mark. Next saves that mark first; NextInBatch returns it to the caller,
//	    who writes it in the same atomic batch as what carries the timestamp, so
//	    that one survives a crash only if the other does. In a cluster NextN saves
//	    it first; normally it need not, since Extend has saved one ahead of time.
//	P3. The physical part never goes back. When more than 2^18 timestamps fall
//	    into one millisecond, or the clock lags, the logical part overflows into
//	    the physical one and nobody waits.
//	P4. Nothing is written unless timestamps are issued: an idle node does no I/O.
//
// Lock order: Oracle.mu is a leaf, apart from MarkStore.SaveMark which is called
// under it by Next and NextN.
//
// Goroutine inventory: none.
//
// Absent on purpose: balancing regions between nodes (package placement/schedule).
package placement
