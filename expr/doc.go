// Package expr holds typed expressions: trees that the binder builds once per plan and that the executor evaluates
// over single rows or over batches of typed columns, with the semantics of MySQL 8.0.
//
// # Place
//
// plan turns syntax into Expr with Column, Const, Param, Call and others; exec evaluates them. expr imports
// types (values, conversions, collations, calendars) and clock, and nothing else of the product: what it must know of
// a session comes in through SessionInfo.
//
// # Terms
//
//   - Node, Expr: one operator, function, column, constant or parameter with its arguments. Expr is *Node.
//   - class: how values are compared or computed: integer, decimal, double, string, date, time, JSON.
//   - row path: Eval, over one row of []types.Value. batch path: EvalBatch and FilterBatch, over up to 1,024 rows as
//     columns. Expressions whose values may be large (Bulky) are evaluated row by row even there (AppendRow), so that a
//     batch can end when it has too many bytes.
//   - kernel: a loop of the batch path that works on a vector's numbers directly. A node without a kernel runs the row
//     path once per selected row.
//   - arena: the memory of one execution in which string results are allocated. ResetArena frees all of it at once.
//   - coercibility: how strongly an expression's collation binds (explicit 0, none 1, column 2, system 3, literal 4,
//     number 5, NULL 6).
//   - flags: what an expression depends on (parameters, columns, session, time of the statement, randomness).
//   - group: the rows of one aggregation result and their state, identified by a dense number from the executor's hash
//     table.
//
// # Invariants
//
//  1. A Node never changes after the call that returned it, so that sessions share plans without locks. Everything
//     that an execution writes is in its Ctx.
//  2. Eval and EvalBatch give the same value or NULL for every row, and the same warnings for rows that are selected.
//  3. A value's kind is that of its expression's type, or NULL. Only parameters may have any kind; operators check the
//     kind of their values at execution.
//  4. A value returned by Eval borrows from the row, from the tree or from the arena. It is valid until the row's
//     memory is reused or the arena is reset; in a batch, until its row has been copied.
//  5. Comparison, arithmetic and logic of integers, doubles and decimals whose digits fit an int64 allocate nothing on
//     either path.
//  6. EvalBatch touches selected rows only, and writes their results at their own positions.
//  7. AND, OR, CASE, IF, IFNULL and COALESCE evaluate an argument only for the rows that need it: an error or a warning
//     in a branch not taken does not happen.
//  8. Folding replaces a call by its value only if evaluating it raised neither error nor warning.
//
// # Absent on purpose
//
// Names are resolved by plan; subqueries are run by exec (Ctx.Subplans) and appear here as Subquery nodes. There is no
// bytecode: a tree of function pointers is easier to read, and the batch path is where speed counts. Spatial and
// full-text functions answer 1235. Kernels set NULL bits without counting them: HasNulls of a result vector may be true
// although no row is NULL.
//
// Tests: testdata/eval holds the scripts. The oracle test also runs each of their lines on a MariaDB server;
// testdata/oracle_differences.txt says where and why the results differ.
package expr
