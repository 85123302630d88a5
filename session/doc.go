// Package session is the state of one client (variables, prepared statements, transaction), and the execution of its statements from text to reply.
//
// # Place
//
// wire calls it with commands; it calls syntax, plan and exec for statements with a plan, ddl for schema changes, infoschema for SHOW, and
// answers through Response. Node is what the sessions of a process share.
//
// # The way of a statement
//
// Query first asks syntax.Normalize for the text without its literals and looks that up in the node's plan cache, together with everything
// of the session that changes its meaning (refreshContext keeps that prefix). A hit runs without parsing. A miss parses, plans and caches;
// texts that cannot be normalised run the same way without the cache. Execute does the same with the prepared text and the kinds of its
// parameters. runPlan waits for the memory of a bulk statement, runEntered declares the plan's tables used, plans again if the schema has moved,
// and executes; answer sends the end.
//
// # Terms
//
//   - environment: the session's settings that change the meaning of a text (database, sql_mode, collations, time zone …); generation counts its changes.
//   - use: the declaration that a statement or transaction uses the current version of a table; schema changes wait until it ends.
//   - foreign client: one whose character_set_client is not the character set of collation_connection; its literals and parameters are
//     converted (expr.BuildContext.Text), names are not.
//   - held lock: a lock of LOCK TABLES, FLUSH TABLES WITH READ LOCK or LOCK INSTANCE, which a session holds until it releases it, ends or is reset
//     (locks.go). While it has locked tables, every statement is planned anew, and may use only these.
//   - cursor: the rows of an executed statement that its client fetches in parts; they are kept in memory in the encoding of the protocol (cursor.go).
//   - event: the counters of the running statement; ledger: a session's own counters of statements by digest, which are added to the node's
//     (digest.go) after ledgerRuns executions, and when they are read.
//   - idle variable: one that is accepted and does nothing; setting it away from its default raises a warning that says why.
//
// # Invariants
//
//  1. One goroutine runs a session's commands. Only Interrupt, Info and DatabaseName may be called by others, and the ledger be read.
//  2. No part of a reply is sent before the versions that it depends on are durable: exec waits for those that were read under locks before
//     it sends rows and before it returns (X10 there).
//  3. A statement that fails is rolled back alone; a deadlock's victim loses its whole transaction; an unknown outcome closes the connection.
//  4. Values of variables are shared between sessions until one changes them (copy on write); a valueSet that is shared is never written.
//  5. A plan is executed only if its tables' versions are the current ones when their use is declared.
//  6. A statement waits for bulk memory only while its session holds nothing that other sessions may wait for: no transaction, use or lock.
//
// # Locks
//
// Node.mu serialises changes of global values; userLocks.mu guards the locks of GET_LOCK; deadlocks.mu the record of the last deadlock;
// factsCache.mu the cached facts about tables; tallies.mu the list of sessions whose counters SHOW STATUS adds up; digests.textMu the digests
// of short texts. None is held while another lock is taken, with one exception, in this order: tallies.mu, ledger.mu, then digests.mu or tableIO.mu.
package session
