package exec

import (
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// Window computes window functions over its input, which is sorted by Partition and
// then by Order. Its output is the input's columns followed by one per function, in the
// order of the input.
type Window struct {
	Base
	Input     Node
	Partition []expr.Expr
	Order     []SortKey // rows that are equal in it are peers; without it all are
	Funcs     []*WindowFunc
}

// WindowFunc is one window function.
type WindowFunc struct {
	// Name is row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag, lead,
	// first_value, last_value or nth_value; empty for the aggregate Agg.
	Name string
	// Args are over the input's columns: of lag and lead the value, the offset (1 if
	// absent) and the default (NULL if absent); of nth_value the value and the number.
	// Offsets and numbers are constants of the statement.
	Args  []expr.Expr
	Agg   *expr.AggSpec
	Frame WindowFrame // of aggregates, first_value, last_value and nth_value
	Type  types.Type
	Desc  string // for EXPLAIN
}

// WindowFrame is the rows around a row that a function sees, from Start to End, both
// included. Its defaults are the planner's.
type WindowFrame struct {
	Unit       FrameUnit
	Start, End FrameBound
}

// FrameUnit says what the bounds of a frame are.
type FrameUnit uint8

// The units of frames.
const (
	// FrameRows counts rows; the current row is one.
	FrameRows FrameUnit = iota
	// FrameRange compares the one order key; the current row stands for all its peers.
	FrameRange
)

// FrameBoundKind is the place of a bound.
type FrameBoundKind uint8

// The places, from the first row of the partition to its last.
const (
	UnboundedPreceding FrameBoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameBound is one end of a frame.
type FrameBound struct {
	Kind FrameBoundKind
	// Offset of FrameRows is an integer constant of the statement; a negative one or
	// NULL is error 3586. Of FrameRange it is an expression over the input's columns: the
	// value of the order key at the bound, which the planner makes of the key and the
	// offset, and has checked.
	Offset expr.Expr
}

// Children implements Node.
func (n *Window) Children() []Node { return []Node{n.Input} }

func (n *Window) outputs() []types.Type {
	out := append([]types.Type(nil), Types(n.Input)...)
	for _, f := range n.Funcs {
		out = append(out, f.Type)
	}
	return out
}

// Describe implements Node.
func (n *Window) Describe() Description {
	texts := make([]string, len(n.Funcs))
	for i, f := range n.Funcs {
		texts[i] = f.Desc
	}
	order := ""
	if len(n.Order) > 0 {
		order = "order " + sortInfo(n.Order)
	}
	return n.describe("Window", strings.Join(texts, ", "), listed("partition by", n.Partition), order)
}
