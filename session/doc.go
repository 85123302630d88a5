// Package session is one client: its variables, prepared statements and transaction, and the way of each statement from text to answer.
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
//   - environment: what of a session changes the meaning of text (database, sql_mode, collations, time zone …); generation counts its changes.
//   - use: the declaration that a statement or transaction works on a table's present version; schema changes wait for it.
//   - foreign client: one whose character_set_client is not collation_connection's set; its literals and parameters are translated
//     (expr.BuildContext.Text), names stay as they are sent.
//   - held lock: what LOCK TABLES, FLUSH TABLES WITH READ LOCK and LOCK INSTANCE leave with a session until it gives them back, ends or is reset
//     (locks.go). While tables are locked, every statement is planned anew, and may name only these.
//   - cursor: the rows of an executed statement that its client fetches in parts; they are kept in memory as they are sent (cursor.go).
//   - event: the statement at hand, as far as it is counted; ledger: a session's own counts of statements by digest, which are added to the node's
//     (digest.go) after ledgerRuns executions, and when somebody asks.
//   - idle variable: one that is accepted and does nothing; setting it away from its default raises a warning that says why.
//
// # Invariants
//
//  1. One goroutine runs a session's commands. Only Interrupt, Info and DatabaseName may be called by others, and the ledger be read.
//  2. Nothing of an answer leaves the server before what it depends on is durable: exec waits for what was read under locks before it
//     sends rows and before it returns (X10 there).
//  3. A failed statement in a transaction is undone alone; a deadlock's victim loses the transaction; an unknown outcome ends the connection.
//  4. Values of variables are shared between sessions until one changes them; a valueSet that is shared is never written.
//  5. A plan is executed only if its tables are the current ones at the moment their use is declared.
//  6. A statement waits for bulk memory only while its session holds nothing that others may wait for: no transaction, use or lock.
//
// # Locks
//
// Node.mu serialises changes of global values; userLocks.mu guards the locks of GET_LOCK; deadlocks.mu the record of the last deadlock; factsCache.mu what is remembered of tables; tallies.mu
// the list of sessions whose counters SHOW STATUS adds up; digests.textMu the digests of short texts. None is
// held while another lock is taken, but ledger.mu, under which digests.mu and tableIO.mu are, and which is taken under tallies.mu.
package session
