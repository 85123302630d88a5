package exec

import (
	"strconv"

	"github.com/pandodb/pando/types"
)

// SetOpKind says which set operation a SetOp is. UNION is UnionAll, below Distinct
// without ALL.
type SetOpKind uint8

// The set operations.
const (
	SetIntersect SetOpKind = iota
	SetExcept
)

// String names the operation for EXPLAIN.
func (k SetOpKind) String() string {
	if k == SetIntersect {
		return "intersect"
	}
	return "except"
}

// SetOp yields the rows of Left that are (SetIntersect) or are not (SetExcept) rows of
// Right, NULL equal to NULL. Without All each comes once; with All as often as it is in
// both, or more often in Left than in Right. Out gives the common types, to which the
// inputs' columns must already be cast.
type SetOp struct {
	Base
	Kind        SetOpKind
	All         bool
	Left, Right Node
	Out         []types.Type
}

// Expand repeats rows for GROUP BY … WITH ROLLUP. The last Keys columns of the input
// are the group keys k1…kn. Each input row yields one row per level from n to 0, in which
// the keys beyond the level are NULL, with one more BIGINT column: GROUPING(k1, …, kn),
// in which the bit of the last key is the lowest. The operator above groups by the keys
// and that column.
type Expand struct {
	Base
	Input Node
	Keys  int
}

// Children implements Node.
func (n *SetOp) Children() []Node { return []Node{n.Left, n.Right} }

// Children implements Node.
func (n *Expand) Children() []Node { return []Node{n.Input} }

func (n *SetOp) outputs() []types.Type { return n.Out }

func (n *Expand) outputs() []types.Type {
	in := Types(n.Input)
	out := append(make([]types.Type, 0, len(in)+1), in...)
	return append(out, types.Type{ID: types.TypeBigInt, Length: -1})
}

// Describe implements Node.
func (n *SetOp) Describe() Description {
	if n.All {
		return n.describe("SetOp", n.Kind.String()+" all")
	}
	return n.describe("SetOp", n.Kind.String())
}

// Describe implements Node.
func (n *Expand) Describe() Description { return n.describe("Expand", "keys: "+strconv.Itoa(n.Keys)) }
