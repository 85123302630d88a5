package exec

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// IndexMerge yields the keys of the rows that several scans of one table find: those that each of them finds, or any. Each key comes once, in
// the order of keys, so that the rows are fetched in the order in which they are stored. The work is done by Input, made of nodes that spill; this
// node is there for EXPLAIN.
type IndexMerge struct {
	Base
	// Intersect takes the keys that all Scans find.
	Intersect bool
	// Scans yield RowKey alone.
	Scans []*Scan
	Input Node
	Note  *AccessNote
}

// NewIndexMerge makes the nodes that combine scans; rows is the estimate of the result. inOrder says that the first scan yields keys in order.
func NewIndexMerge(scans []*Scan, intersect, inOrder bool, rows float64) *IndexMerge {
	keys, base := []types.Type{columnType(scans[0].Table, RowKey)}, Base{EstRows: rows}
	n := &IndexMerge{Base: base, Intersect: intersect, Scans: scans}
	if intersect {
		n.Input = scans[0]
		for _, s := range scans[1:] {
			n.Input = &SetOp{Base: base, Kind: SetIntersect, All: true, Left: n.Input, Right: s, Out: keys} // a scan has no key twice
		}
	} else {
		all := &UnionAll{Base: base, Out: keys}
		for _, s := range scans {
			all.Inputs = append(all.Inputs, s)
		}
		n.Input = &Distinct{Base: base, Input: all}
	}
	if !intersect || !inOrder {
		n.Input = &Sort{Base: base, Input: n.Input, Keys: []SortKey{{Expr: expr.Column(0, keys[0], "row")}}}
	}
	return n
}

// Children implements Node.
func (n *IndexMerge) Children() []Node { return []Node{n.Input} }

func (n *IndexMerge) outputs() []types.Type { return Types(n.Input) }

// Describe implements Node.
func (n *IndexMerge) Describe() Description {
	kind := "union"
	if n.Intersect {
		kind = "intersect"
	}
	d := n.describe("IndexMerge", kind)
	d.Table = tableName(n.Scans[0].Table, n.Scans[0].Alias)
	return d
}

func (n *IndexMerge) build(b *builder) (operator, error) { return b.node(n.Input) }

// keys is the node that yields the keys of a lookup.
func (n *IndexLookup) keys() Node {
	if n.Merge != nil {
		return n.Merge
	}
	return n.Scan
}

// table is the one whose rows a lookup fetches, under its name in the statement.
func (n *IndexLookup) table() (*catalog.Table, string) {
	scan := n.Scan
	if n.Merge != nil {
		scan = n.Merge.Scans[0]
	}
	return scan.Table, scan.Alias
}
