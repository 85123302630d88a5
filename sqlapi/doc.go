// Package sqlapi is the vocabulary in which a statement's answer is handed from
// the executor to whoever speaks to the client.
//
// # Place
//
// wire implements Sink over a connection's write buffer, exec produces rows into
// it, session sits between the two and fills Result. None of the three needs to
// import another for that, so tests collect rows with a Sink of a few lines and
// the protocol layer is tested without an executor.
//
// # Terms
//
//   - result set: the description of its columns followed by its rows.
//   - answer: one result set, or one OK, for one statement; Result is its tail.
//
// # Invariants
//
//	S1. Sink.Columns is called exactly once per result set, before any row, and
//	    also when the result set is empty.
//	S2. Per row the producer calls enc.StartRow, then one of Stored, Value or Null
//	    per column in order, then enc.EndRow, and then Sink.RowDone. It does not
//	    hold enc beyond the statement.
//	S3. A producer that fails half-way through a result set returns its error. It
//	    never calls the Sink again; the receiver reports the error to the client.
//	S4. Everything given to a Sink is copied or encoded before the call returns.
//
// # Absent on purpose
//
// No values, no encodings (package types), no errors (types.Error), no sessions.
package sqlapi
