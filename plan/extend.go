package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// physExtend computes columns. One that only renames another takes no work. One with a side effect is computed even if nobody reads it: programs
// that number rows set their variable in FROM t, (SELECT @n := 0) v.
func (b *builder) physExtend(r *extend, n *need) (*stage, error) {
	by := map[int]expr.Expr{}
	var traces []int
	for i := range r.cols {
		by[r.cols[i].id] = r.cols[i].e
		if r.cols[i].e.Flags()&expr.FlagSideEffect != 0 && !slices.Contains(n.ids, r.cols[i].id) {
			traces = append(traces, r.cols[i].id)
		}
	}
	if len(traces) > 0 {
		n = &need{ids: slices.Concat(n.ids, traces), order: n.order, limit: n.limit, limitRows: n.limitRows}
	}
	inner, work := b.below(n, by)
	st, err := b.phys(r.input, inner)
	if err != nil {
		return nil, err
	}
	out := &stage{node: st.node, at: make(map[int]int, len(n.ids)), rows: st.rows, cost: st.cost, ordered: st.ordered && (len(n.order) == 0 || inner.order != nil)}
	if !work {
		// Only what is wanted goes on: of views and common table expressions over each other each has columns of its own.
		for _, id := range n.ids {
			source := id
			if e := by[id]; e != nil {
				source, _ = e.ColumnIndex()
			}
			if p, ok := st.at[source]; ok {
				out.at[id] = p
			}
		}
		return out, nil
	}
	exprs := make([]expr.Expr, 0, len(n.ids))
	for _, id := range n.ids {
		e := by[id]
		if e == nil {
			p, here := st.at[id]
			if !here {
				continue // an outer reference, which its readers have as a parameter
			}
			e = expr.Column(id, exec.Types(st.node)[p], b.idName(id))
		}
		local, err := b.local(e, st.at)
		if err != nil {
			return nil, err
		}
		if _, twice := out.at[id]; !twice {
			out.at[id] = len(exprs)
		}
		exprs = append(exprs, local)
	}
	out.node = &exec.Project{Base: est(st.rows), Input: st.node, Exprs: exprs}
	out.cost += st.rows * 0.1
	return out, nil
}

// below translates a need through computed columns. work says that some of them have to be computed, among them those that are an outer
// reference, which is a parameter here.
func (b *builder) below(n *need, by map[int]expr.Expr) (inner *need, work bool) {
	inner = &need{limit: n.limit, limitRows: n.limitRows, exact: n.exact}
	for _, id := range n.ids {
		e := by[id]
		if e == nil {
			inner.add(id)
			continue
		}
		source, plain := e.ColumnIndex()
		if _, outer := b.params[source]; plain && !outer {
			inner.add(source)
			continue
		}
		work, inner.exact = true, false
		inner.ids = addIDs(inner.ids, e)
	}
	for _, o := range n.order {
		if e := by[o.column]; e != nil {
			source, plain := b.orderID(e)
			if !plain {
				inner.order, inner.limit, inner.limitRows = nil, nil, 0
				break
			}
			o.column = source
		}
		inner.order = append(inner.order, o)
	}
	return inner, work
}

// add asks for one more column; an exact list may hold a column twice.
func (n *need) add(id int) {
	if n.exact || !slices.Contains(n.ids, id) {
		n.ids = append(n.ids, id)
	}
}
