package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// Gather runs copies of its input side by side, each over shares of the one Scan at the
// bottom, and yields what they yield, in no order. Between it and the Scan are Filter,
// Project, partial HashAgg and HashJoin nodes only; of a join the Scan is on the left,
// and the table of the right is built before the workers begin. It reads a snapshot;
// within a transaction, where the session wants one worker, or where a table does not
// fit into memory, the input runs by itself.
type Gather struct {
	Base
	Input Node
}

// AggPhase says which part of an aggregation a HashAgg does.
type AggPhase uint8

// The phases: all of it; or the groups of one worker, whose aggregates are states; or
// the groups of all workers, from rows of keys and states.
const (
	AggComplete AggPhase = iota
	AggPartial
	AggFinal
)

// Children implements Node.
func (n *Gather) Children() []Node { return []Node{n.Input} }

func (n *Gather) outputs() []types.Type { return Types(n.Input) }

// Describe implements Node.
func (n *Gather) Describe() Description { return n.describe("Gather") }

// ParallelAgg returns the aggregation n done by several workers, with the same output,
// and whether it can be: n reads a table in the order of an integer key, or of its
// hidden row ids, through filters, projections and the left sides of hash joins; nothing
// is evaluated there that depends on the session, on chance or on other queries; and all
// aggregates merge to the same value whatever the order. Below rows, which the Scan or
// what is above it is estimated to yield, workers are not worth their start.
func ParallelAgg(n *HashAgg, rows float64) (Node, bool) {
	if n.Phase != AggComplete || n.GrandTotal || !shareable(n.Input) || !pure(n.Keys...) {
		return nil, false
	}
	most := 0.0
	for in := n.Input; ; in = in.Children()[0] {
		if most = max(most, in.base().EstRows); len(in.Children()) == 0 {
			break
		}
	}
	if most < rows {
		return nil, false
	}
	for _, a := range n.Aggs {
		if !mergesExactly(a) || !pure(a.Args()...) {
			return nil, false
		}
	}
	partial := &HashAgg{Base: Base{EstRows: n.EstRows, EstCost: n.EstCost}, Phase: AggPartial, Input: n.Input, Keys: n.Keys, Aggs: n.Aggs}
	keys := make([]expr.Expr, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = expr.Column(i, k.Type(), k.String())
	}
	gather := &Gather{Base: Base{EstRows: n.EstRows, EstCost: n.EstCost}, Input: partial}
	return &HashAgg{Base: n.Base, Phase: AggFinal, Input: gather, Keys: keys, Aggs: n.Aggs}, true
}

// shareable reports whether workers can each do a share of n.
func shareable(n Node) bool {
	switch n := n.(type) {
	case *Filter:
		return pure(n.Cond) && shareable(n.Input)
	case *Project:
		return pure(n.Exprs...) && shareable(n.Input)
	case *HashJoin:
		return !n.BuildLeft && pure(n.LeftKeys...) && (n.On == nil || pure(n.On)) && shareable(n.Left)
	case *Scan:
		return n.Limit == nil && (n.Filter == nil || pure(n.Filter)) && divisible(n)
	}
	return false
}

// pure reports whether expressions depend on rows and parameters only, so that workers
// may evaluate them.
func pure(es ...expr.Expr) bool {
	for _, e := range es {
		if e.Flags()&^(expr.FlagColumn|expr.FlagParam|expr.FlagTyped) != 0 {
			return false
		}
	}
	return true
}

// divisible reports whether a scan's keys begin with an integer, by which it is divided.
func divisible(n *Scan) bool {
	if n.Reverse || n.Index != nil && !n.Index.Primary {
		return false
	}
	t, desc := firstKey(n)
	return !desc && t != nil && (t.Kind() == types.KindInt || t.Kind() == types.KindUint)
}

// firstKey returns the type of the first column of a table's row keys.
func firstKey(n *Scan) (t *types.Type, desc bool) {
	if n.Table.PK == nil {
		id := columnType(n.Table, len(n.Table.Columns))
		return &id, false
	}
	c := n.Table.PK.Columns[0]
	return &n.Table.Columns[c.Col].Type, c.Desc
}
