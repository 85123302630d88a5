package plan

import (
	"github.com/pandodb/pando/exec"
)

// Workers says how many goroutines may work on a statement.
type Workers struct {
	// Pool is where they come from.
	Pool *exec.WorkerPool
	// Rows is how many may read, filter and join rows; Groups how many may group them. 1 means the statement's own goroutine.
	Rows, Groups int
}

// gatherPart is the largest part of the rows read that workers may hand on: each of these is copied, which costs about as much as reading it and
// testing a condition, and everything above the Gather is done by one goroutine.
const gatherPart = 1.0 / 4

// exchange lets workers share in the scans of large tables. The plan is otherwise finished, and the best one for a single goroutine: workers do the
// same work in parallel, so that it is chosen without regard to them. A Gather keeps the order of the rows, and therefore may stand anywhere. It
// does not pay where few of the rows are wanted, since workers read ahead, nor where its input is opened again and again.
//
// Whether a scan reads enough rows for workers is found out when it runs: see exec.WorkerPool. The estimate here rules out those that never will.
func (b *builder) exchange() {
	w := b.env.Workers
	if w == nil || w.Pool.Size() == 0 || w.Rows < 2 && w.Groups < 2 || b.locks || b.env.UnknownParams && !b.env.Explain {
		return
	}
	switch b.plan.Root.(type) {
	case *exec.Insert, *exec.Update, *exec.Delete, *exec.MultiUpdate, *exec.MultiDelete: // they write, and so their reads are the transaction's own
		return
	}
	x := &exchanger{w: w}
	if locksRows(b.plan.Root) {
		return
	}
	b.plan.Root = x.visit(b.plan.Root, false)
	for _, s := range b.plan.Subplans {
		if s.Constant() && !locksRows(s.Root) {
			s.Root = x.visit(s.Root, s.Kind == exec.SubplanExists)
		}
	}
	for _, c := range b.plan.CTEs {
		if c.Recursive == nil && len(c.Slots) == 0 && !locksRows(c.Root) {
			c.Root = x.visit(c.Root, false)
		}
	}
}

// locksRows reports whether a part of a plan is a locking read.
func locksRows(n exec.Node) bool {
	if _, ok := n.(*exec.LockRows); ok {
		return true
	}
	for _, c := range n.Children() {
		if locksRows(c) {
			return true
		}
	}
	return false
}

// exchanger puts Gathers into a plan that nobody uses yet.
type exchanger struct {
	w *Workers
}

// visit returns n, or what is to stand in its place. few says that what is above may want only some of the rows.
func (x *exchanger) visit(n exec.Node, few bool) exec.Node {
	if x.w.Groups > 1 && x.grouped(n) {
		if agg, ok := exec.ParallelAgg(n, x.w.Groups); ok {
			x.sides(n.Children()[0])
			return agg
		}
	}
	if x.w.Rows > 1 && !few && x.worth(n) {
		x.sides(n)
		return &exec.Gather{Base: est(n.Describe().Rows), Input: n, Workers: x.w.Rows}
	}
	x.below(n, few)
	return n
}

// below visits the inputs of a node.
func (x *exchanger) below(n exec.Node, few bool) {
	switch n := n.(type) {
	case *exec.Filter:
		n.Input = x.visit(n.Input, few)
	case *exec.Project:
		n.Input = x.visit(n.Input, few)
	case *exec.Expand:
		n.Input = x.visit(n.Input, few)
	case *exec.Distinct:
		n.Input = x.visit(n.Input, few)
	case *exec.Limit:
		n.Input = x.visit(n.Input, true)
	case *exec.StreamAgg:
		n.Input = x.visit(n.Input, few && len(n.Keys) > 0)
	case *exec.HashAgg:
		n.Input = x.visit(n.Input, false)
	case *exec.Sort:
		n.Input = x.visit(n.Input, false)
	case *exec.TopN:
		n.Input = x.visit(n.Input, false)
	case *exec.Materialize:
		n.Input = x.visit(n.Input, false)
	case *exec.Window:
		n.Input = x.visit(n.Input, few)
	case *exec.IntoVars:
		n.Input = x.visit(n.Input, false)
	case *exec.IntoFile:
		n.Input = x.visit(n.Input, false)
	case *exec.UnionAll:
		for i := range n.Inputs {
			n.Inputs[i] = x.visit(n.Inputs[i], few)
		}
	case *exec.SetOp:
		n.Left, n.Right = x.visit(n.Left, false), x.visit(n.Right, false)
	case *exec.HashJoin:
		n.Left, n.Right = x.visit(n.Left, few && !n.BuildLeft), x.visit(n.Right, few && n.BuildLeft)
	case *exec.MergeJoin:
		n.Left, n.Right = x.visit(n.Left, few), x.visit(n.Right, few)
	case *exec.Apply:
		n.Left = x.visit(n.Left, few) // the right side is opened for each row
	}
}

// sides visits the build sides of the hash joins in n, whose tables are built before workers begin.
func (x *exchanger) sides(n exec.Node) {
	for ; len(n.Children()) > 0; n = n.Children()[0] {
		if join, ok := n.(*exec.HashJoin); ok {
			join.Right = x.visit(join.Right, false)
		}
	}
}

// grouped reports whether n groups enough rows for workers.
func (x *exchanger) grouped(n exec.Node) bool {
	switch n.(type) {
	case *exec.HashAgg, *exec.StreamAgg:
		return x.large(n.Children()[0])
	}
	return false
}

// large reports whether n can be gathered and reads many rows.
func (x *exchanger) large(n exec.Node) bool {
	return exec.Gatherable(n) && read(n) >= x.w.Pool.PlanRows()
}

// worth reports whether workers should hand on the rows of n: it reads many, and few of them come out or much is done to them.
func (x *exchanger) worth(n exec.Node) bool {
	if !x.large(n) {
		return false
	}
	rows, out := read(n), n.Describe().Rows
	return out <= rows*gatherPart || x.w.Pool.PlanRows() == 0 || joins(n) && out <= rows
}

// read is how many rows the scan at the bottom of what can be gathered reads.
func read(n exec.Node) float64 {
	for len(n.Children()) > 0 {
		n = n.Children()[0]
	}
	return n.(*exec.Scan).EstRead
}

func joins(n exec.Node) bool {
	for ; len(n.Children()) > 0; n = n.Children()[0] {
		if _, ok := n.(*exec.HashJoin); ok {
			return true
		}
	}
	return false
}
