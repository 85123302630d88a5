package exec

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// RowKey, among the column ordinals of a node that reads a table, stands for the
// row's key in the key space, a VARBINARY. LockRows, IndexLookup, Update and Delete identify
// rows by it, so that any plan, a join too, may sit in between. catalog.Table.RowIDOrdinal
// stands for the hidden row id of a table without primary key, a BIGINT UNSIGNED.
const RowKey = -1

// Node is one step of a physical plan. Nodes are plain structs which the planner
// fills and then never changes: sessions execute one plan concurrently. The set of
// nodes is closed; packages outside exec combine them but add none.
type Node interface {
	// Children returns the inputs in the order in which EXPLAIN prints them.
	Children() []Node
	// Describe returns what EXPLAIN says about the node.
	Describe() Description
	// base returns what all nodes share.
	base() *Base
	// outputs computes the types of the columns that the node yields.
	outputs() []types.Type
	// build returns a fresh operator for one execution.
	build(b *builder) (operator, error)
}

// Base is what all nodes share: the planner's estimate, and what Plan.Seal caches.
type Base struct {
	// EstRows is the estimated number of rows that the node yields.
	EstRows float64

	out []types.Type // output column types, set by Seal
	id  int          // position in preorder, set by Seal: the index of the node's Counter
}

func (n *Base) base() *Base { return n }

// Types returns the types of the columns that n yields, in order. Expressions of
// n's parent refer to them by position.
func Types(n Node) []types.Type {
	if b := n.base(); b.out != nil {
		return b.out
	}
	return n.outputs()
}

// Bound is one end of an interval over one column. The zero Bound is no bound.
type Bound struct {
	Expr expr.Expr
	Incl bool
	// Begins makes a low bound the whole interval: of the texts that begin with Expr's, character by character.
	Begins bool
}

// Range selects an interval of an index, or of the primary key: the rows whose
// leading columns equal Eq and whose next column lies between Low and High. All
// expressions are evaluated when the scan opens and refer to no column. Exec
// converts their values to the column's type, rounding towards the inside of the
// interval (id < 1.5 is id <= 1); the planner only has to make sure that the
// comparison is one which the index's order decides.
type Range struct {
	Eq []expr.Expr
	// EqNull holds a bit per element of Eq: set, a NULL there selects the rows with
	// NULL (IS NULL, <=>); clear, it selects nothing (=).
	EqNull uint64
	// Low and High are in the order of values, also when the column is stored
	// descending. A NULL bound selects nothing. If either is given, or NotNull is
	// set, rows with NULL in that column are left out.
	Low, High Bound
	NotNull   bool
}

// Dual yields one row without columns: the FROM clause of SELECT 1.
type Dual struct {
	Base
}

// Values yields the rows of expressions, all of equal length; they refer to no column.
type Values struct {
	Base
	Out  []types.Type
	Rows [][]expr.Expr
}

// RowSource yields rows made by code rather than read from a table: what
// information_schema and SHOW are made of.
type RowSource struct {
	Base
	Name string
	Out  []types.Type
	// Fill is called once per execution and calls emit per row. The row is borrowed
	// until emit returns; an error of emit must be returned as it is. Fill must hold no
	// locks when it calls emit, which may wait for the client.
	Fill func(rt *Runtime, emit func(row []types.Value) error) error
}

// AccessNote is what EXPLAIN says about an access beyond what the node itself tells. Only plans made to be explained have it.
type AccessNote struct {
	Possible []string // the indexes that could have found the rows
	Read     float64  // the rows that are looked at, by the statistics
	Filtered float64  // which part of them passes the conditions
	Ordered  bool     // the order of the rows is what the index is for
}

// PointGet reads at most one row per key, by the primary key or a unique index, in
// the order of the index. Keys that are NULL or cannot be in the column select
// nothing; equal keys yield one row.
type PointGet struct {
	Base
	Table *catalog.Table
	Alias string         // for EXPLAIN; "" is the table's name
	Index *catalog.Index // the primary key or a unique index
	Keys  [][]expr.Expr  // each a value per column of Index; no column references
	Cols  []int          // ordinals of Table.Columns, RowIDOrdinal or RowKey
	// Filter is evaluated over the output columns; nil keeps all rows.
	Filter expr.Expr
	// Covering says that all of Cols can be had from the index entry alone.
	Covering bool
	Note     *AccessNote

	layout   rowLayout
	keysOnly bool
	access   int
}

// Scan reads ranges of the primary key or of an index in its order. Overlapping and
// empty ranges are allowed, in any order; each row comes once.
type Scan struct {
	Base
	Table *catalog.Table
	Alias string
	// Index is nil for the rows themselves: in primary key order, or in hidden row id
	// order for a table without primary key.
	Index *catalog.Index
	// Ranges, when empty, is one unbounded range. A scan of no rows is a Values
	// without rows.
	Ranges  []Range
	Reverse bool
	// Cols are the output columns. With Index, only columns which the index holds
	// (its own and the primary key's) and RowKey; others need an IndexLookup.
	Cols []int
	// Filter is evaluated over the output columns; nil keeps all rows.
	Filter expr.Expr
	// Limit, when not nil, is how many rows (after Filter) the plan above can use at
	// most: it bounds the pages read. The scan stops there.
	Limit expr.Expr
	// EstRead is how many rows the ranges are estimated to hold.
	EstRead float64
	Note    *AccessNote

	layout rowLayout
	kind   scanKind
}

// IndexLookup scans an index and fetches the rows it names, keeping the index's
// order. Scan must name an index; its output holds RowKey in column KeyCol. Merge stands in its place where several scans find the rows.
type IndexLookup struct {
	Base
	Scan   *Scan
	Merge  *IndexMerge
	KeyCol int
	Cols   []int     // ordinals of the table's columns, or RowKey
	Filter expr.Expr // over Cols
	// Limit, as in Scan: how many rows after Filter can be used at most.
	Limit expr.Expr

	layout rowLayout
}

// LockRows locks the rows named by column KeyCol of its input and yields their
// latest versions: the source of UPDATE, DELETE and SELECT … FOR UPDATE and FOR
// SHARE. Rows that no longer satisfy Where are dropped and, under READ COMMITTED,
// unlocked.
type LockRows struct {
	Base
	Input  Node
	KeyCol int
	Table  *catalog.Table
	Alias  string
	Mode   LockMode
	Wait   WaitPolicy
	// Where is the statement's whole condition on this table, over all columns of
	// Table by ordinal; also what the ranges of Input already select, because the
	// latest version need not be the one that the scan saw.
	Where expr.Expr
	// Cols are the output columns: ordinals of Table.Columns, RowIDOrdinal or RowKey.
	Cols []int
	// Limit stops after so many rows, so that LIMIT locks no more; nil is all.
	Limit expr.Expr
	// Collect reads all of Input before the first row is locked: needed when the
	// statement moves rows within the scanned index, which must not meet them twice.
	Collect bool
	// Delete says that the statement deletes the rows, which are locked exclusively
	// and waited for.
	Delete bool

	whole, layout rowLayout
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Base
	Input Node
	Cond  expr.Expr
}

// Project computes expressions over each row.
type Project struct {
	Base
	Input Node
	Exprs []expr.Expr
}

// SortKey is one element of ORDER BY.
type SortKey struct {
	Expr expr.Expr
	Desc bool
	// Lengths is set for JSON in ORDER BY: arrays are ordered by their lengths alone, and objects, as MySQL does, with a warning.
	Lengths bool
}

// Sort orders its input. It spills to disk beyond the memory limit. Equal rows keep
// their order.
type Sort struct {
	Base
	Input Node
	Keys  []SortKey
}

// TopN yields the first Count rows after Offset in the order of Keys.
type TopN struct {
	Base
	Input         Node
	Keys          []SortKey
	Count, Offset expr.Expr // Offset may be nil
	Top           bool      // as that of a Limit
}

// Limit passes Count rows after skipping Offset.
type Limit struct {
	Base
	Input         Node
	Count, Offset expr.Expr // Count nil is no limit, Offset nil is 0
	// FoundRows counts all rows for SQL_CALC_FOUND_ROWS instead of stopping early.
	FoundRows bool
	// Top says that it is the LIMIT of the whole statement: rows that it skips count for FOUND_ROWS().
	Top bool
}

// Distinct drops rows that equal an earlier one in all columns, NULL equal to NULL.
type Distinct struct {
	Base
	Input Node
}

// HashAgg groups by hashing and spills to disk. Its output is the group keys
// followed by the aggregates, in no order. Without Keys it yields exactly one row.
type HashAgg struct {
	Base
	Input Node
	Phase AggPhase
	Keys  []expr.Expr
	Aggs  []*expr.AggSpec
	// GrandTotal says that the input comes from an Expand, whose bits are the last key:
	// without rows there is still the row that sums up all of them.
	GrandTotal bool
}

// StreamAgg is HashAgg for input whose equal keys are adjacent; its output keeps
// the input's order. Without Keys it is the scalar aggregate: exactly one row.
type StreamAgg struct {
	Base
	Input Node
	Keys  []expr.Expr
	Aggs  []*expr.AggSpec
}

// UnionAll yields the rows of its inputs one input after another. Out gives the
// common types, to which each input's columns must already be cast.
type UnionAll struct {
	Base
	Inputs []Node
	Out    []types.Type
}

// Materialize reads its input once into memory, or to disk, and yields it again on
// every reopening: the inner side of a nested loop, a derived table used twice.
type Materialize struct {
	Base
	Input Node
	Name  string // alias of the derived table, for EXPLAIN
	// Slots are the ordinals of Ctx.Params that Input reads and that others than its own
	// nodes fill: it is read again when their values have changed.
	Slots []int
	// Deltas are the recursive CTEs of which Input reads what their last run has added: it is read again in the next one.
	Deltas []*CTE
}

// CTE is a common table expression: a query whose rows several CTEScans of one
// execution share. It is no node; Plan.CTEs lists it.
type CTE struct {
	Name string
	// Columns are the names of the columns, for errors.
	Columns []string
	// Root is the whole query, or, if Recursive is set, the seed of a recursion.
	Root Node
	// Recursive is run again and again, and reads through CTEDelta what its last run, or
	// the seed, has added; the recursion ends when a run adds no row.
	Recursive Node
	// Distinct drops rows that were there before, as UNION without ALL does.
	Distinct bool
	// Out are the types of the columns, to which those of Root and Recursive are cast.
	Out []types.Type
	// Slots are the ordinals of Ctx.Params that the query reads and that others than its
	// own nodes fill: it is run again when their values have changed.
	Slots []int
	// Count and Offset, as those of a Limit, are of a LIMIT in the recursive part: readers
	// see those rows only, and the recursion stops when they are there.
	Count, Offset expr.Expr
}

// CTEScan yields the rows of a CTE, which is run when its first row is needed.
type CTEScan struct {
	Base
	CTE *CTE
}

// CTEDelta, below CTE.Recursive, yields the rows that the last run has added.
type CTEDelta struct {
	Base
	CTE *CTE
}

// JoinKind says what a join yields.
type JoinKind uint8

// The kinds of joins. Semi yields the left rows that have a match, Anti those that
// have none. NOT IN is an anti join whose On is "(l = r) is not false".
const (
	JoinInner JoinKind = iota
	JoinLeft
	JoinSemi
	JoinAnti
)

// HashJoin builds a table of the right input by RightKeys and probes it with the
// left input. Its output is the left columns followed by the right ones (only the
// left ones for semi and anti joins), in the order of the left input as long as the
// table fits into memory; no plan may rely on that order.
type HashJoin struct {
	Base
	Kind                JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []expr.Expr // of equal type pairwise; NULL matches nothing
	// On is the rest of the join condition over left and right columns, or nil.
	On expr.Expr
	// NullAware makes an anti join with one key column and no On follow the rules of NOT
	// IN: with a NULL key on the right no left row passes, and a left NULL passes only if
	// the right input is empty.
	NullAware bool
	// BuildLeft makes an inner join build the table of the left input and probe it with
	// the right one.
	BuildLeft bool
}

// MergeJoin joins inputs that are both sorted by their keys, ascending. Its output is
// that of a HashJoin, but always in the order of the left input.
type MergeJoin struct {
	Base
	Kind                JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []expr.Expr // of equal type pairwise; NULL matches nothing
	On                  expr.Expr   // the rest of the condition, or nil
}

// Apply runs Right once per row of Left, after setting the parameters Slot… to Bind
// evaluated over the left row: it is the index lookup join (Right is a PointGet or
// Scan whose ranges hold those parameters), the nested loop join (Bind empty, Right
// a Materialize) and the correlated subquery (semi and anti kinds).
type Apply struct {
	Base
	Kind        JoinKind
	Left, Right Node
	Bind        []expr.Expr
	Slot        int // ordinal of the first parameter that Bind fills
	On          expr.Expr
}
