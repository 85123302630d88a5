// Package infoschema holds the virtual tables of information_schema and performance_schema, and turns SHOW into queries over them.
//
// # Place
//
// plan asks it for a SystemTable when a statement names a system schema; session asks it for the query behind a SHOW. What the tables
// tell comes from a Provider, which is the session that asks: rows depend on the schema, the session's variables and the node.
//
// # Invariants
//
//  1. A table's rows are made when the plan runs, never when it is built. A plan over a virtual table belongs to one session.
//  2. Columns have MySQL 8's names and order. A column without meaning here is NULL or the value that an empty server shows.
//  3. SHOW has no reader of its own: each form is a SELECT, so LIKE, WHERE, types and order come from one place.
//
// # Absent on purpose
//
// Tables of features that Pando lacks (triggers, routines, events, foreign keys) exist and are empty, because clients query
// them at connect. InnoDB's own tables do not exist.
package infoschema
