package exec

import (
	"strconv"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// Gather runs copies of its input in parallel, each over shares of the one Scan at the
// bottom, and yields what the input by itself would yield: its rows and errors in the same
// order, and the diagnostics of the rows. Between it and the Scan are Filter, Project,
// IndexLookup, partial HashAgg and HashJoin nodes only; of a join the Scan is on the left,
// and the table of the right is built before. The statement's own goroutine begins, and
// workers are there for the rest of a large scan. It goes on alone in a transaction that
// has written or is SERIALIZABLE, while the node has no worker to spare, and where a table
// does not fit into memory.
type Gather struct {
	Base
	Input Node
	// Workers is how many goroutines may read shares at a time.
	Workers int
}

// AggPhase says which part of an aggregation a HashAgg does.
type AggPhase uint8

// The phases: all of it; or the groups of one share of the rows, whose aggregates are
// states; or the groups of all shares, from rows of keys and states.
const (
	AggComplete AggPhase = iota
	AggPartial
	AggFinal
)

// Children implements Node.
func (n *Gather) Children() []Node { return []Node{n.Input} }

func (n *Gather) outputs() []types.Type { return Types(n.Input) }

// Describe implements Node.
func (n *Gather) Describe() Description {
	return n.describe("Gather", "workers: "+strconv.Itoa(n.Workers))
}

// bottom returns the scan whose rows are shared out.
func (n *Gather) bottom() *Scan {
	in := n.Input
	for len(in.Children()) > 0 {
		in = in.Children()[0]
	}
	return in.(*Scan)
}

// ParallelAgg returns the aggregation n done by workers, with the same output, and whether
// it can be: its input can be gathered, and all aggregates merge to the value that rows one
// by one give. Sums of DOUBLE do not: they depend on the order of additions, and an answer
// must not change in its last digit from one execution to the next.
func ParallelAgg(n Node, workers int) (Node, bool) {
	var input Node
	var keys []expr.Expr
	var aggs []*expr.AggSpec
	switch n := n.(type) {
	case *HashAgg:
		if n.Phase != AggComplete || n.GrandTotal {
			return nil, false
		}
		input, keys, aggs = n.Input, n.Keys, n.Aggs
	case *StreamAgg:
		if len(n.Keys) > 0 {
			return nil, false // of sorted rows
		}
		input, aggs = n.Input, n.Aggs
	default:
		return nil, false
	}
	if !Gatherable(input) || !pure(keys...) {
		return nil, false
	}
	for _, a := range aggs {
		if !mergesExactly(a) || !pure(a.Args()...) {
			return nil, false
		}
	}
	all := Base{EstRows: n.base().EstRows}
	partial := &HashAgg{Base: all, Phase: AggPartial, Input: input, Keys: keys, Aggs: aggs}
	columns := make([]expr.Expr, len(keys))
	for i, k := range keys {
		columns[i] = expr.Column(i, k.Type(), k.String())
	}
	gather := &Gather{Base: all, Input: partial, Workers: workers}
	return &HashAgg{Base: all, Phase: AggFinal, Input: gather, Keys: columns, Aggs: aggs}, true
}

// Gatherable reports whether n may be the input of a Gather: workers can each do a share
// of it, and nothing is evaluated that depends on the session, on chance or on other
// queries.
func Gatherable(n Node) bool {
	switch n := n.(type) {
	case *Filter:
		return pure(n.Cond) && Gatherable(n.Input)
	case *Project:
		return pure(n.Exprs...) && Gatherable(n.Input)
	case *HashJoin:
		return !n.BuildLeft && pure(n.LeftKeys...) && pure(n.On) && Gatherable(n.Left)
	case *IndexLookup:
		return n.Merge == nil && n.Limit == nil && pure(n.Filter) && Gatherable(n.Scan)
	case *Scan:
		return n.Limit == nil && !n.Reverse && pure(n.Filter)
	}
	return false
}

// pure reports whether expressions depend on rows and parameters only, so that workers
// may evaluate them. nil does.
func pure(es ...expr.Expr) bool {
	for _, e := range es {
		if e != nil && e.Flags()&^(expr.FlagColumn|expr.FlagParam|expr.FlagTyped) != 0 {
			return false
		}
	}
	return true
}
