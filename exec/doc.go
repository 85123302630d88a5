// Package exec runs physical plans: operators over batches of typed columns, direct
// programs for point statements, and the statements that change rows.
//
// # Place
//
// plan builds a Plan out of the nodes in node.go and node_write.go and seals it; session
// calls Run with a Runtime per session; rows leave through a sqlapi.Sink that wire
// implements. Below are table (rows to and from keys), txn (the only storage that exec
// knows) and expr. exec sees neither syntax nor the planner.
//
// # Terms
//
//   - node: one step of a plan, immutable, shared by all sessions that execute it.
//   - operator: a node in one execution, with its memory; it yields batches.
//   - program: a plan of one of a few shapes, executed from stored bytes to the sink
//     without operators.
//   - row key: a row's key in the key space. Nodes hand it on as the column RowKey.
//   - candidate: a row that the scan of a write found at the statement's timestamp, to
//     be locked and looked at again.
//   - span: an interval of keys; range: an interval of an index, in expressions.
//   - subplan: a subquery within an expression. Its operators live as long as the
//     execution and are opened whenever the expression needs its value.
//   - slot: a parameter after the statement's own, which Apply or a subplan fills with
//     values of outer rows.
//   - share: a part of a scan that one worker reads (shares.go); workers come from the
//     node's WorkerPool.
//   - layout: where a node's output columns lie in stored rows or index entries.
//
// # Where to read
//
// run.go is the way in. node*.go are the plan's vocabulary, op_*.go their operators, one
// kind of operator per file; subplan.go evaluates subqueries, op_cte.go shares the rows
// of common table expressions, and rowlist.go keeps rows for several readers; program*.go
// are the direct programs; insert.go, update.go, multiwrite.go and rowmaker.go the writes; guard.go and keeper.go foreign keys; bounds.go
// turns ranges into spans; errors.go maps errors.
//
// # Invariants
//
//	X1. Two paths, one truth: what a program answers and writes, the batch executor
//	    answers and writes for the same plan (agree_test.go).
//	X2. A plan is never written after Seal. The one exception, the pool of aggregate
//	    states in a program, holds nothing that outlives an execution.
//	X3. A batch belongs to the operator that returned it and is valid until that
//	    operator's next call. Only its selection may be narrowed by the one above.
//	X4. No operator holds a value in the arena of expr.Ctx across a call to another
//	    operator, so that leaves reset the arena once per batch. A subplan runs amid an
//	    evaluation, and so has a Ctx with an arena of its own; so has a CTE, which runs
//	    where its first reader opens.
//	X5. A scan is a sequence of pages; no storage iterator outlives a page. All pages
//	    of a statement read at one timestamp: the transaction's, or that of a snapshot
//	    which Run closes.
//	X6. A row is changed only under the exclusive lock of its key, in the version read
//	    under that lock, and after the whole condition held for that version.
//	X7. A statement that fails leaves no writes behind; its locks stay with the
//	    transaction. One that runs in a transaction of its own leaves nothing.
//	X8. Candidates are collected before the first row changes if the statement moves
//	    rows within the index that it scans (LockRows.Collect), and joined rows always
//	    (MultiUpdate, MultiDelete).
//	X9. What an operator holds is in the statement's MemTracker. Sort, TopN, HashAgg,
//	    Distinct, SetOp, HashJoin, Materialize, CTEs, the partitions of Window and the rows
//	    of a subplan go on in spill files when it is short; without a TempDir, and for what cannot be spilled, it ends with
//	    8175, as it does if the states of groups grow when all other groups are on disk
//	    (hashAggOp.shed). Caches, such as the results of a subplan, are dropped. Spill
//	    files have no name while open.
//	X10. No row and no error that depends on an unsynced version read under a lock is
//	    given to the sink, or returned, before that version is durable. A program
//	    under SERIALIZABLE reads all that it answers before it tells the sink, or
//	    leaves the statement to the operators, which wait once per batch.
//	X11. Every loop over rows polls the interrupt at least once per batch.
//	X12. A worker of a Gather shares with the statement's goroutine the snapshot, the
//	    interrupt, the MemTracker and, under its mutex, the list of shares, and nothing
//	    else that is written. All workers have ended, and those of the WorkerPool are given
//	    back, before the operator opens again or closes, also after an error or a panic.
//	    What a Gather yields, warns of and fails with, and in which order, is what its input
//	    would by itself.
//	X13. No row is stored while a parent that a foreign key asks for is missing, and none
//	    removed while another refers to it: both sides look at what is committed, under the
//	    lock of the parent's key (keeper; F1 in package table). A plan that writes depends
//	    on all tables to which foreign keys and their actions lead (Guard).
//
// Spill files and rows waiting in memory use the row codec (rowcodec.go). It is private
// to one statement and so no format.
//
// # Absent on purpose
//
// Schema changes and SET are session's. There is no row-at-a-time executor beside the
// two paths. Only Gather has goroutines besides the connection's, for scans, the probe
// sides of hash joins and partial aggregates; not in a transaction that has written, whose buffer
// has one user. The final phase of an aggregation has one, because groups come in the order of
// their first rows. A
// locking read that meets versions newer than its scan is not
// repeated, as a write is, because its rows may have been sent. Under SERIALIZABLE a plain
// scan locks the span that it reads; where it would read index entries, whose writers lock
// only rows, the planner puts a LockRows above it (plan.Env.LockReads), and what is below a
// LockRows locks the rows that it looks up before it applies a condition.
package exec
