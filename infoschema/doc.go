// Package infoschema holds the virtual tables of the system schemas (information_schema, mysql, performance_schema, sys), and turns SHOW into
// queries over them.
//
// # Place
//
// plan asks it for a SystemTable when a statement names a system schema; session asks it for the query behind a SHOW. What the tables
// tell comes from a Provider, which is the session that asks: rows depend on the schema, the session's variables and the node.
//
// # Terms
//
//   - layout: the columns of a system table with their types, as a real MySQL wrote them down (record/tables.txt, made by tests/dictionary/record).
//   - source: what makes the rows of a table: code, the query of a view, or a reason why there are none.
//   - key column: one with the name of a database or a table. Conditions on key columns are known before the rows are made (plan.SystemFilter).
//
// # Invariants
//
//  1. A table's rows are made when the plan runs, never when it is built. A plan over a virtual table belongs to one session.
//  2. Columns have MySQL's names, types and order. A column without meaning here is NULL or the value that an empty server shows.
//  3. SHOW has no reader of its own: each form is a SELECT, so LIKE, WHERE, types and order come from one place.
//  4. A statement that names a table looks at no other table's descriptor, however many there are (Provider.ReadTable counts).
//  5. What has to be looked for in the data of tables (TableFacts) is looked for only if the statement reads such a column, and remembered.
//  6. A source gives rows, is a view, or says why it is empty. A table that MySQL has and the list of sources has not is unknown (1146).
//
// # Absent on purpose
//
// Tables of features that Pando lacks (triggers, routines, events, roles) exist and are empty, because clients query them at connect. So do
// the tables of InnoDB's and of replication's state that tools read. Statements are summed up by digest only. What nothing measures of them is 0: SUM_LOCK_TIME and SUM_CPU_TIME.
// Rows are counted by table and index, and nothing takes the time of single ones: those columns are 0. Handler counters leave out the rows of internal
// temporary tables, of which there are none. status_by_account and its kin are of sessions that are open. History has texts without literals. Tables of instruments that there are not (waits, stages, mutexes, files,
// sockets, memory by instrument) are unknown, as are x$ views of sys. Writing to system tables is refused: SET, GRANT and CREATE USER do it.
package infoschema
