// Package kvapi is the vocabulary between the transaction layer and the store:
// spans, sinks, lock modes, interrupts, requests and the errors both sides act on.
//
// Place: imported by everyone from exec down to store; imports only clock.
//
// Terms:
//   - A logical key is a key without an MVCC suffix. Only store and mvcc turn
//     it into an engine key.
//   - A span is a half-open interval of logical keys, or a single key.
//   - A sink is the consumer of a read. It is called on the reader's goroutine
//     with bytes that are borrowed until it returns.
//   - A region ref names a region and the epoch at which the caller knows it.
//   - The durable watermark is the highest timestamp at and below which every
//     commit is applied and synced.
//
// Invariants:
//
//	K1. A sink never keeps the slices it is given, and never calls back into
//	    the transaction or store that is calling it.
//	K2. An Interrupt's connection reasons (kill, client gone, shutdown) survive
//	    Reset; its statement reasons do not.
//	K3. Errors here are sentinels that describe behaviour; callers use
//	    errors.Is. Texts and MySQL numbers belong to session.
//	K4. Every request names the regions it believes it touches; a store whose
//	    regions differ answers EpochError and has done nothing.
//
// Absent on purpose: SQL, bytes of the engine, and any goroutine.
package kvapi
