// Package plan turns syntax trees into physical plans: it binds names and types, chooses how tables are read, and keeps the node's
// plan cache.
//
// # Place
//
// session gives it a tree and an Env (catalog snapshot, database, modes, parameter types) and gets an exec.Plan. Plans consist of
// exec's nodes and expr's expressions; nothing here runs a statement or sees storage.
//
// # Terms
//
//   - scope: the columns that names can refer to; bound expressions name them by position.
//   - conjunct: one of the conditions that AND joins.
//   - sarg: a conjunct that an ordered index decides; its intervals become the ranges of a scan.
//   - path: one way to read a table, with its ranges, its remaining filter and its cost.
//   - lifted literal: a constant of a text that became a parameter, so that texts which differ in constants share a plan.
//
// # How a SELECT is built
//
// selectBlock binds FROM, WHERE, GROUP BY, the select list, HAVING and ORDER BY in that order, all over the positions of the source's
// columns (of grouped rows behind GROUP BY). selection.plan then reads (access chooses the path), groups, filters, projects, sorts and
// limits. access.go matches conjuncts with the leading columns of each index and prices each path; estimate.go guesses row counts from
// statistics, or from fixed fractions without them.
//
// # Invariants
//
//  1. A plan depends only on its Env's key (database, modes, collations, parameter types) and on the tables in Plan.Tables. A plan
//     that depends on anything else of the session is reported as not shareable.
//  2. A conjunct is dropped from the filter only if the ranges decide it exactly. A range may be wider than its conjunct, never narrower.
//     One known gap: an index on a prefix of a text in a collation with expansions holds the weights of the first characters, so that
//     'ß…' in column(1) is not found as 'ss…'.
//  3. A literal that was lifted keeps no trace in the plan: names of columns come from each statement's own text, so texts whose select list
//     holds literals lift none there (syntax.Normalize).
//  4. Rows that a statement writes are read through LockRows, which tests the whole WHERE again on the newest version.
//  5. Cache entries are validated by table descriptor identity before each use; a schema change elsewhere evicts nothing.
//
// # Absent on purpose
//
// Joins, set operations, WITH, windows, IN (subquery) and correlated subqueries answer 1235 for now: exec has the nodes, the binder
// gains them without a second design. There is no rule engine: one table per block needs none, and join order will get its own search.
package plan
