package catalog

import (
	"strings"

	"github.com/pandodb/pando/types"
)

// Generated says how the values of a generated column are made.
type Generated struct {
	// Expr is the expression as SHOW CREATE TABLE prints it, in utf8mb4. It is parsed under no sql_mode.
	Expr string `json:"expr"`
	// Stored columns are part of the row. The values of virtual columns are computed whenever they are read, and are stored only in the
	// entries of indexes.
	Stored bool `json:"stored,omitempty"`
}

// Virtual reports whether c has its values from an expression and rows do not hold them.
func (c *Column) Virtual() bool { return c.Generated != nil && !c.Generated.Stored }

// hiddenPrefix begins the name of the column that stands for an expression in an index, as in MySQL: no statement can write such a name
// for a column of its own.
const hiddenPrefix = "!hidden!"

// HiddenName is the name of the hidden column behind part at of an index.
func HiddenName(index string, at int) string {
	return hiddenPrefix + index + "!" + string(rune('0'+at/10)) + "!" + string(rune('0'+at%10))
}

// HiddenIndex is the name of the index for which a hidden column was added.
func (c *Column) HiddenIndex() string {
	name := strings.TrimPrefix(c.Name, hiddenPrefix)
	return name[:len(name)-len("!0!0")]
}

// Visible returns the columns that statements know of: all but the hidden ones, which come last.
func (t *Table) Visible() []*Column {
	n := len(t.Columns)
	for n > 0 && t.Columns[n-1].Hidden {
		n--
	}
	return t.Columns[:n]
}

// HasGenerated reports whether t has generated columns.
func (t *Table) HasGenerated() bool {
	for _, c := range t.Columns {
		if c.Generated != nil {
			return true
		}
	}
	return false
}

// Functional reports whether some part of ix is an expression.
func (t *Table) Functional(ix *Index) bool {
	for i := range ix.Columns {
		if t.ColumnOf(&ix.Columns[i]).Hidden {
			return true
		}
	}
	return false
}

// Computer computes the virtual columns of one version of a table. It is immutable and shared. Implemented by plan, since this package
// knows no expressions.
type Computer interface {
	// Sources returns the ordinals of the columns that the expression of a generated column names.
	Sources(ordinal int) []int
	// New returns a Computation, which one goroutine at a time may use.
	New() Computation
}

// Computation computes virtual columns.
type Computation interface {
	// Compute returns the value of a generated column. row holds, by ordinal, the values of at least the columns that its expression names. The
	// result is converted to the column's type, does not depend on the session, and may borrow from row and, until the next Reset, from the
	// computation.
	Compute(ordinal int, row []types.Value) (types.Value, error)
	// Reset frees the memory of earlier values.
	Reset()
}

// Computer returns what computes t's virtual columns, nil if ComputeWith was not called.
func (t *Table) Computer() Computer {
	if t.compiler == nil {
		return nil
	}
	return t.compiler(t)
}

// Adopt gives a new table, which is not published yet, the Computer of the catalog's tables.
func (c *Catalog) Adopt(t *Table) { t.compiler = c.compiler }

// ComputeWith sets the function that makes the Computer of a table. It must be called before any table is used.
func (c *Catalog) ComputeWith(compiler func(*Table) Computer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compiler = compiler
	for _, e := range c.current.Load().databases {
		for _, t := range e.tables {
			t.compiler = compiler
		}
	}
}
