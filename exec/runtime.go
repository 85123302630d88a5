package exec

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
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
	// AutoIDs hands out AUTO_INCREMENT values and hidden row ids.
	AutoIDs AutoIDs
	// FoundRows is the client's CLIENT_FOUND_ROWS: UPDATE reports rows matched.
	FoundRows bool
	// Analyze, when not nil, collects EXPLAIN ANALYZE's counters.
	Analyze *Counters
	// FoundRowsCount is set for SQL_CALC_FOUND_ROWS: rows without the LIMIT. Otherwise
	// it is the number of rows sent.
	FoundRowsCount uint64

	snapshot *txn.Snapshot // of a read of several pages outside a transaction
	scratch  scratch
}
