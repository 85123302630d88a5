// Package expr holds typed expressions: trees that the binder builds once per plan and that the executor evaluates
// over single rows or over batches of typed columns, with the semantics of MySQL 8.0.
//
// # Place
//
// plan turns syntax into Expr with Column, Const, Param, Call and its relatives; exec evaluates them. expr imports
// types (values, conversions, collations, calendars) and clock, and nothing else of the product: what it must know of
// a session comes in through SessionInfo.
//
// # Terms
//
//   - Node, Expr: one operator, function, column, constant or parameter with its arguments. Expr is *Node.
//   - class: how values are compared or computed: integer, double, decimal, string, temporal, JSON.
//   - row path: Eval, one row of []types.Value. batch path: EvalBatch and FilterBatch, up to 1,024 rows of columns;
//     what is Bulky is projected row by row (AppendRow), so that a batch can end by its bytes.
//   - kernel: a loop of the batch path that works on a vector's numbers directly. What has no kernel runs the row
//     path once per selected row.
//   - arena: the scratch memory of one execution that string results live in until ResetArena.
//   - coercibility: how strongly an expression's collation binds (explicit 0, none 1, column 2, system 3, literal 4,
//     number 5, NULL 6).
//   - flags: what an expression depends on (parameters, columns, session, time of the statement, chance).
//   - group: one state of an aggregate, named by a dense number that the executor's hash table hands out.
//
// # Invariants
//
//  1. A Node never changes after the call that returned it, so that plans are shared by sessions without locks.
//     Everything that an execution writes lives in its Ctx.
//  2. Eval and EvalBatch agree on every row, in value and in NULL. In warnings they agree for rows that are selected.
//  3. A value's kind is that of its expression's type, or NULL. Parameters alone may hold any kind; operators over
//     them look at the value.
//  4. A value returned by Eval borrows from the row, from the tree or from the arena. It is valid until the row's
//     memory or the arena is reset; in a batch, until its row has been copied.
//  5. Integer, double and narrow decimal comparison, arithmetic and logic allocate nothing on either path.
//  6. EvalBatch touches selected rows only, and writes their results at their own positions.
//  7. AND, OR, CASE, IF, IFNULL and COALESCE evaluate an argument only for the rows that need it: an error or a warning
//     in a branch not taken does not happen.
//  8. Folding replaces a call by its value only if evaluating it raised neither error nor warning.
//
// # Absent on purpose
//
// Names are resolved by plan, subqueries are run by exec (Ctx.Subplans) and appear here as Subquery nodes. There is no bytecode: a tree of
// function pointers is easier to read, and the batch path is where speed counts. Spatial and full-text functions answer
// 1235.
// Kernels set NULL bits without counting them, so HasNulls of a result vector means "perhaps".
//
// Tests: testdata/eval holds the scripts, of which the oracle test puts every line to a MariaDB server as well;
// testdata/oracle_differences.txt says where and why the two differ.
package expr
