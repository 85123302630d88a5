// Package plan turns syntax trees into physical plans. It resolves names and types into a logical algebra, normalises it, chooses the order
// of joins and the way to each table's rows, and keeps the node's plan cache.
//
// # Place
//
// session gives it a tree and an Env (catalog snapshot, database, modes, parameter types) and gets an exec.Plan. Plans consist of
// exec's nodes and expr's expressions; nothing here runs a statement or sees storage.
//
// # Terms
//
//   - relation: a node of the logical algebra (logical.go): get, filter, extend, join, aggregate, window, distinct, sorted, limited, setOp, …
//   - column id: the number of a column, unique in the statement. Expressions of the algebra name columns by ids; those of nodes by positions.
//   - outer reference: a column that nothing in a relation makes. It comes from the query around a subquery, or from the left side of a
//     lateral join, and becomes a parameter.
//   - scope: the columns that names can refer to in one query block, and the scope around it.
//   - conjunct: one of the conditions that AND joins.
//   - sarg (search argument): a conjunct that restricts a column to intervals, which become the ranges of an index scan. LIKE 'ab%' is one,
//     too: its interval is what begins with the text before the first wildcard.
//   - path: one way to read a table, with its ranges, its remaining filter and its cost.
//   - index merge: a path by several indexes, which find the rows of an OR's alternatives or those that several conditions leave together
//     (merge.go).
//   - fence: a derived table that a hint keeps apart from the query around it.
//   - lifted literal: a constant of a text that became a parameter, so that texts which differ in constants share a plan.
//
// # How a query is planned
//
// The resolver (query.go, select.go, from.go, binder.go, group.go, window.go, setop.go, cte.go, subquery.go) binds FROM, WHERE, GROUP BY, the
// select list, HAVING and ORDER BY over column ids; zerodate.go has what IS NULL means for dates in WHERE. Aggregates and window functions are columns of their own; once all clauses are bound,
// group.go rewrites them over grouped rows. simplify.go then moves conditions down, unnest.go turns subqueries in conditions into semi and anti
// joins, and outer joins become inner ones where no NULL passes; decorrelate.go and lift.go replace correlated subqueries by joins, where these cost
// less than running the subquery for each row, in UPDATE and DELETE, too (writejoin.go). physical.go turns relations into nodes from the top down: a need says which
// columns, in which order and how many rows are wanted. join.go searches the order of joins; access.go matches conjuncts with the leading
// columns of each index and prices each path; estimate.go guesses row counts from statistics, or from fixed fractions without them.
// exchange.go, at the end, puts a Gather over large scans where the session has workers.
// Subqueries that stay expressions are planned when they are placed, and run when they are evaluated (exec.Subplan).
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
//  6. Resolving has no side effect but the ids and parameters that it takes: what is resolved once is planned once.
//  7. A condition or an expression that differs from one evaluation to the next (RAND(), @x := 1) stays where the statement has it.
//  8. Planning polls the interrupt every stepsPerPoll steps.
//
// # Absent on purpose
//
// There is no rule engine: the passes are few and each is named. Joins are left deep; the right side of an outer join that is a join itself is
// planned as one relation.
package plan
