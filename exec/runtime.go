package exec

import (
	"io"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Runtime is everything that one execution needs besides the plan. A session owns
// one and reuses it for every statement, because it keeps the scratch memory that
// makes a point statement free of allocation. It is used by one goroutine at a time.
type Runtime struct {
	// Ctx is the evaluation context; Ctx.Params are the statement's parameters.
	Ctx *expr.Ctx
	// Manager is the node's transaction manager.
	Manager *txn.Manager
	// Txn is the open transaction, or nil in autocommit mode. Then Run reads at a
	// snapshot without any transaction object, and gives a statement that writes or
	// locks a transaction of its own made from TxnOptions.
	Txn        *txn.Txn
	TxnOptions txn.Options
	Interrupt  *kvapi.Interrupt
	// Mem accounts the statement's memory; nil means unlimited.
	Mem *MemTracker
	// TempDir takes spill files. Empty forbids spilling: the limit is then an error.
	TempDir string
	// Spill is the space that spill files take; nil does not bound them.
	Spill *SpillSpace
	// AutoIDs hands out AUTO_INCREMENT values and hidden row ids.
	AutoIDs AutoIDs
	// FoundRows is the client's CLIENT_FOUND_ROWS: UPDATE reports rows matched.
	FoundRows bool
	// File is what an Insert with Load reads, and LineBytesMax bounds the bytes of one of its lines.
	File         io.Reader
	LineBytesMax int
	// CreateFile makes the file of an IntoFile.
	CreateFile func(path string) (NewFile, error)
	// UncheckedForeign is foreign_key_checks=0: rows are written whatever foreign keys say.
	UncheckedForeign bool
	// Sees reports whether the account may know of a table: otherwise errors of
	// foreign keys do not name it. nil: of all.
	Sees func(schema, table string) bool
	// CTEDepthMax is cte_max_recursion_depth.
	CTEDepthMax uint64
	// Pool has the workers that a statement may be given besides its own goroutine; nil has
	// none.
	Pool *WorkerPool
	// Analyze, when not nil, collects EXPLAIN ANALYZE's counters.
	Analyze *Counters
	// FoundRowsCount is set for SQL_CALC_FOUND_ROWS: rows without the LIMIT. Otherwise
	// it is the number of rows sent, with those that OFFSET has skipped.
	FoundRowsCount uint64
	skippedRows    uint64
	// LastGeneratedID is the first AUTO_INCREMENT value that the statement generated,
	// 0 if none: what LAST_INSERT_ID() returns from now on. Result.InsertID may differ.
	LastGeneratedID uint64
	// Work is what executions have done.
	Work Work

	// insertID is insert_id: the first AUTO_INCREMENT value that a statement generates
	// from now on, followed by the next ones; 0 leaves it to the table's counter. It holds
	// for the one statement that uses it, which may have to start over.
	insertID      uint64
	insertIDTaken bool

	snapshot *txn.Snapshot   // of reads outside a transaction, while a statement runs
	at       clock.Timestamp // of a worker: that of the statement's reads
	own      *txn.Txn        // of a statement without Txn, while it runs
	running  *Counter        // with Analyze: of the node that runs
	shared   *execution      // nil unless the statement at hand has subplans or CTEs
	scratch  scratch
}

// ForcedInsertID returns insert_id, and 0 once a statement has used it.
func (rt *Runtime) ForcedInsertID() uint64 {
	if rt.insertIDTaken {
		return 0
	}
	return rt.insertID
}

// ForceInsertID sets insert_id for the next statement that generates ids.
func (rt *Runtime) ForceInsertID(id uint64) { rt.insertID, rt.insertIDTaken = id, false }

// Abandon gives back what the last statement held if a panic ended it: its own
// transaction's locks, and the snapshot, which keeps old versions from being collected.
// A deferred call in Run would cost every statement something. The Runtime can't be
// used afterwards.
func (rt *Runtime) Abandon() {
	rt.endExecution()
	if rt.own != nil {
		rt.own.Rollback() // not released for reuse: what panicked may have handed it to others
		rt.own = nil
	}
}

// execution is what the parts of one execution share: its subqueries and CTEs, as far
// as they have been needed.
type execution struct {
	rt       *Runtime
	subplans map[*Subplan]*subplanState
	ctes     map[*CTE]*cteState
}

// beginExecution makes the subqueries of a plan known to its expressions.
func (rt *Runtime) beginExecution() {
	rt.shared = &execution{rt: rt, subplans: make(map[*Subplan]*subplanState), ctes: make(map[*CTE]*cteState)}
	rt.Ctx.Subplans = rt.shared
}

// reset closes what has been made, which a statement that starts over must not see again.
func (x *execution) reset() {
	if x == nil {
		return
	}
	for _, st := range x.subplans {
		st.close()
	}
	for _, st := range x.ctes {
		st.close()
	}
	clear(x.subplans)
	clear(x.ctes)
}

// endExecution gives back what an execution holds besides its operators.
func (rt *Runtime) endExecution() {
	if rt.shared != nil {
		rt.shared.reset()
		rt.shared, rt.Ctx.Subplans = nil, nil
	}
	rt.closeSnapshot()
}

// AutoIDs is the node's registry of AUTO_INCREMENT counters; see package table.
type AutoIDs = *table.AutoIDs

// scratch is the memory that a session's statements reuse.
type scratch struct {
	batches  []*types.Batch
	mem      *MemTracker // Runtime.Mem, when room was made of it
	room     types.Room
	writer   *table.Writer
	inserter inserter
	longRow  int  // bytes that the writers of the statement have been granted for long rows
	caught   int  // bytes that its finders have been granted
	long     bool // buffers that are kept may hold parts of a long row
	program  programState
}

// Shed drops the buffers that are kept for the next statement: half a megabyte after a scan, which is much where 2,000 sessions idle in a small process.
// It is called between statements.
func (rt *Runtime) Shed() {
	rt.scratch.batches = nil
	rt.Ctx.Shed()
}

// writer returns the session's writer, set to t.
func (rt *Runtime) writer(t *catalog.Table) *table.Writer {
	w := rt.scratch.writer
	if w == nil {
		w = rt.newWriter(t)
		rt.scratch.writer = w
	} else if w.Table() != t {
		w.Reset(t)
	}
	return w
}

// newWriter returns a writer of t whose long rows count for the statement.
func (rt *Runtime) newWriter(t *catalog.Table) *table.Writer {
	w := table.NewWriter(t, rt.AutoIDs)
	w.Room = rt.roomForRow
	return w
}

// roomForRow implements table.Writer.Room. Writers keep their buffers, so only the longest row counts.
func (rt *Runtime) roomForRow(bytes int) error {
	if bytes <= rt.scratch.longRow {
		return nil
	}
	more := bytes - rt.scratch.longRow
	rt.scratch.longRow = bytes
	return rt.Mem.Grow(int64(more))
}

// roomForCaught implements table.Finder.Room for one of several finders, which has been granted some bytes and keeps the longest row.
func (rt *Runtime) roomForCaught(granted *int, bytes int) error {
	if bytes <= *granted {
		return nil
	}
	more := bytes - *granted
	*granted = bytes
	rt.scratch.caught += more
	return rt.Mem.Grow(int64(more))
}

// dropLongRow gives back the memory of long rows, and drops the buffers that hold them or may hold values of theirs: an idle session must not hold a
// row of tens of megabytes.
func (rt *Runtime) dropLongRow() {
	s := &rt.scratch
	if s.program.pair.drop() || s.program.rows.long {
		s.long = true
	}
	if !s.long && s.longRow+s.caught == 0 {
		return
	}
	_ = rt.Mem.Grow(-int64(s.longRow + s.caught)) // giving back never fails
	s.longRow, s.caught = 0, 0
	if s.writer != nil {
		s.writer.Reset(s.writer.Table()) // it reports what it has written
		s.writer = nil
	}
	s.inserter, s.program.write, s.program.rows, s.long = inserter{}, writeState{}, encodeSink{}, false
}
