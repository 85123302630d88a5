// Package transfer takes databases out of servers of the MySQL protocol and into them: pando export and pando import.
//
// Place: an instrument beside the stack, as bench is. It knows the product, and any other such server, by its sockets only.
//
// Terms:
//   - batch: INSERTs that follow each other in a file, or lines of a file of CSV, of about batchBytes. It is one transaction.
//   - step: any other statement of a file. It runs alone, when all before it are done.
//   - setting: a step that changes the session (SET, USE). It runs on all connections, and again when an import is resumed.
//
// Invariants:
//
//	TR1. A batch and the note that it is done commit together, in a table of the server that the import fills. However an import ends, one
//	     that is started again loads each batch exactly once: where batches begin depends on the file alone.
//	     The note is written first and can be there once only, so that a batch whose COMMIT the server is still at is waited for.
//	TR2. All connections of an export read one snapshot: they take it while FLUSH TABLES WITH READ LOCK keeps everybody from writing.
//	TR3. Memory is bounded: statementBytesMax for each statement and each line of CSV, and one batch for each connection.
//	TR4. What an export writes as CSV, an import with the same options reads as the same values: NULL, empty texts and bytes are told apart
//	     whatever the options are, and options with which they could not be are refused.
//
// Goroutines: one per connection, within Import and Export, which wait for their end.
//
// Absent on purpose: a state file beside the dump. It could not be written together with a commit, so that a kill between the two would
// load a batch twice or never.
package transfer
