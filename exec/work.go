package exec

import (
	"math/bits"

	"github.com/pandodb/pando/catalog"
)

// The figures of Work, which MySQL counts as calls of a storage engine.
const (
	ReadFirst          = iota // whole scans that begin with the first key
	ReadKey                   // rows and ranges looked for by a key, found or not, and the first row of whole scans
	ReadLast                  // whole scans that begin with the last key
	ReadNext                  // steps forward in an index
	ReadPrev                  // steps back
	ReadRnd                   // rows read again by what a join has remembered of them
	ReadRndNext               // steps in a scan of a whole table
	WrittenRows               // rows that INSERT, REPLACE and LOAD DATA tried to store
	UpdatedRows               // rows that UPDATE and ON DUPLICATE KEY UPDATE met
	DeletedRows               // rows removed
	Commits                   // statements and transactions that ended and had used a table
	Rollbacks                 // the same, undone
	Savepoints                // SAVEPOINT in a transaction that has used a table
	SavepointRollbacks        // ROLLBACK TO in one
	SortedRows                // rows that came out of sorts
	SortMergePasses           // merges of sorted runs from disk
	TmpDiskTables             // intermediate results that did not fit in memory
	TmpFiles                  // temporary files
	ExaminedRows              // rows that scans and lookups of tables have read
	WorkFigures
)

// WorkNames are the figures as SHOW STATUS names them; ExaminedRows has no name there.
var WorkNames = [...]string{ReadFirst: "Handler_read_first", ReadKey: "Handler_read_key", ReadLast: "Handler_read_last", ReadNext: "Handler_read_next",
	ReadPrev: "Handler_read_prev", ReadRnd: "Handler_read_rnd", ReadRndNext: "Handler_read_rnd_next", WrittenRows: "Handler_write", UpdatedRows: "Handler_update",
	DeletedRows: "Handler_delete", Commits: "Handler_commit", Rollbacks: "Handler_rollback", Savepoints: "Handler_savepoint",
	SavepointRollbacks: "Handler_savepoint_rollback", SortedRows: "Sort_rows", SortMergePasses: "Sort_merge_passes", TmpDiskTables: "Created_tmp_disk_tables",
	TmpFiles: "Created_tmp_files"}

// AccessKind is what a plan does with a table.
type AccessKind uint8

// The kinds of accesses.
const (
	AccessFetch AccessKind = iota
	AccessInsert
	AccessUpdate
	AccessDelete
	AccessKinds
)

// Access is a place in a plan that reads or writes rows of one table. Index is what finds them; nil are the rows without a primary key, and those
// that INSERT stores.
type Access struct {
	Table *catalog.Table
	Index *catalog.Index
	Kind  AccessKind
}

// Work is what a session's executions have done since somebody last took it. The session's goroutine counts in plain memory, once per page or
// key of a scan, and adds up at the end of each statement.
type Work struct {
	counts  [WorkFigures]uint64
	touched uint32 // bits of the figures that are not 0
	// rows are those of the accesses of the plan that ran last.
	rows     []uint64
	accesses []Access
}

// Add counts.
func (w *Work) Add(figure int, n uint64) {
	w.counts[figure] += n
	w.touched |= 1 << figure
}

// Count returns a figure.
func (w *Work) Count(figure int) uint64 { return w.counts[figure] }

// Take adds the figures to sum and begins anew.
func (w *Work) Take(sum *[WorkFigures]uint64) {
	for m := w.touched; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		sum[i] += w.counts[i]
		w.counts[i] = 0
	}
	w.touched = 0
}

// Accesses returns the accesses of the plan that ran last and how many rows each has read or written. They are valid until the next one runs.
func (w *Work) Accesses() ([]Access, []uint64) { return w.accesses, w.rows }

// Settled is called by whoever has taken over the rows of the accesses.
func (w *Work) Settled() { w.accesses = nil }

// Drop forgets everything.
func (w *Work) Drop() {
	var none [WorkFigures]uint64
	w.Take(&none)
	w.rows, w.accesses = w.rows[:0], nil
}

// start makes room for the accesses of a plan.
func (w *Work) start(accesses []Access) {
	w.accesses = accesses
	if n := len(accesses); n <= cap(w.rows) {
		w.rows = w.rows[:n]
		clear(w.rows)
	} else {
		w.rows = make([]uint64, n)
	}
}

// access counts rows at an access. Parts of plans that run by themselves, while another is planned, have none.
func (w *Work) access(at int, rows uint64) {
	if at < len(w.rows) {
		w.rows[at] += rows
	}
}

// key counts a lookup of a single row.
func (w *Work) key(at int, found bool) {
	w.Add(ReadKey, 1)
	if found {
		w.Add(ExaminedRows, 1)
		w.access(at, 1)
	}
}

// absorb takes over what a worker has counted.
func (w *Work) absorb(from *Work) {
	from.Take(&w.counts)
	for i, n := range w.counts {
		if n > 0 {
			w.touched |= 1 << i
		}
	}
	for i, n := range from.rows {
		w.access(i, n)
	}
	clear(from.rows)
}

// scanKind is how a scan moves, which decides what it counts as.
type scanKind struct {
	access  int
	whole   bool // without ranges
	index   bool // a secondary index, of which also the whole is read in steps of an index
	reverse bool
	shared  bool // one of several workers, of whom none has the whole of a span
}

// begin counts the start of a span.
func (w *Work) begin(k *scanKind) {
	w.Add(ReadKey, 1)
	switch {
	case k.whole && k.reverse:
		w.Add(ReadLast, 1)
	case k.whole:
		w.Add(ReadFirst, 1)
	}
}

// page counts what a read of a page of a span has found. As in MySQL, the first row of a span of an index comes with its key and costs no step,
// and the step that meets the end counts.
func (w *Work) page(k *scanKind, first bool, rows uint64, ended bool) {
	if first && !k.shared {
		w.begin(k)
	}
	w.Add(ExaminedRows, rows)
	w.access(k.access, rows)
	step := ReadNext
	steps := rows
	switch {
	case k.whole && !k.index && !k.reverse:
		step = ReadRndNext
		if ended && !k.shared {
			steps++
		}
	default:
		if k.reverse {
			step = ReadPrev
		}
		if !k.shared && first && rows > 0 && !ended {
			steps--
		} else if !k.shared && !first && ended {
			steps++
		}
	}
	w.Add(step, steps)
}

// number gives the accesses of a node their places.
func (p *Plan) number(n Node) {
	add := func(t *catalog.Table, ix *catalog.Index, kind AccessKind) int {
		if ix == nil {
			ix = t.PK
		}
		p.Accesses = append(p.Accesses, Access{t, ix, kind})
		return len(p.Accesses) - 1
	}
	switch n := n.(type) {
	case *Scan:
		n.kind = scanKind{access: add(n.Table, n.Index, AccessFetch), whole: len(n.Ranges) == 0, index: n.Index != nil && !n.Index.Primary, reverse: n.Reverse}
		if n.kind.whole && !n.kind.index { // no index has found anything
			p.Accesses[n.kind.access].Index = nil
		}
	case *PointGet:
		n.access = add(n.Table, n.Index, AccessFetch)
	case *Insert:
		n.access = add(n.Table, nil, AccessInsert)
		p.Accesses[n.access].Index = nil
	case *Update:
		n.access = add(n.Table, foundBy(n.Input, n.Table), AccessUpdate)
	case *Delete:
		n.access = add(n.Table, foundBy(n.Input, n.Table), AccessDelete)
	case *MultiUpdate:
		n.access = len(p.Accesses)
		for _, t := range n.Targets {
			add(t.Table, foundBy(n.Input, t.Table), AccessUpdate)
		}
	case *MultiDelete:
		n.access = len(p.Accesses)
		for _, t := range n.Targets {
			add(t.Table, foundBy(n.Input, t.Table), AccessDelete)
		}
	}
}

// foundBy is the index by which a write finds rows of a table.
func foundBy(n Node, t *catalog.Table) *catalog.Index {
	switch n := n.(type) {
	case *Scan:
		if n.Table == t {
			return n.Index
		}
	case *PointGet:
		if n.Table == t {
			return n.Index
		}
	}
	for _, c := range n.Children() {
		if ix := foundBy(c, t); ix != nil {
			return ix
		}
	}
	return nil
}
