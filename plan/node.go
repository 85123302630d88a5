package plan

import (
	"math"
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// node builds the operators of a path. The result yields cols; limit, if not nil, bounds the rows that anyone will ask for.
func (b *builder) node(w *want, p *path, cols []int, limit expr.Expr) (exec.Node, error) {
	filter, err := expr.JoinAnd(b.env.Build, remapped(p.rest, positions(cols)))
	if err != nil {
		return nil, err
	}
	if p.merge != nil {
		return b.mergedNode(w, p, cols, filter, limit), nil
	}
	if p.points {
		keys := make([][]expr.Expr, len(p.ranges))
		for i := range p.ranges {
			keys[i] = p.ranges[i].Eq
		}
		if !p.needsSort(w) {
			return &exec.PointGet{Base: exec.Base{EstRows: p.out}, Table: w.table, Alias: w.alias, Index: p.index, Keys: keys, Cols: cols, Filter: filter, Covering: p.cover && !p.index.Primary, Note: b.accessNote(w, p)}, nil
		}
	}
	scan := &exec.Scan{Table: w.table, Alias: w.alias, Ranges: p.ranges, Reverse: p.reverse && p.ordered, EstRead: p.rows, Note: b.accessNote(w, p)}
	if p.index != nil && !p.index.Primary {
		scan.Index = p.index
	}
	if p.cover {
		scan.Cols, scan.Filter, scan.Limit = cols, filter, limit
		scan.EstRows = p.out
		return scan, nil
	}
	return b.lookup(w, p, scan, cols, filter, limit)
}

// accessNote is what EXPLAIN says about a path.
func (b *builder) accessNote(w *want, p *path) *exec.AccessNote {
	if !b.env.Explain {
		return nil
	}
	n := &exec.AccessNote{Possible: p.possible, Read: p.rows, Filtered: p.out / math.Max(p.rows, 1e-9), Ordered: p.ordered && len(w.order) > 0}
	if b.env.Stats != nil {
		// Plans don't count a table as smaller than rowsMin; the reader wants to know how large it is.
		if rows := b.env.Stats.Rows(w.table); rows < rowsMin && !p.points {
			n.Read *= rows / rowsMin
		}
	}
	return n
}

// needsSort reports that points come in the index's order, but backwards order is wanted, which PointGet doesn't give.
func (p *path) needsSort(w *want) bool {
	return len(w.order) > 0 && p.ordered && p.reverse && len(p.ranges) > 1
}

// lookup scans an index and fetches the rows. Conditions that the entry can decide are tested before the row is fetched.
func (b *builder) lookup(w *want, p *path, scan *exec.Scan, cols []int, filter, limit expr.Expr) (exec.Node, error) {
	entry := &want{table: w.table, needed: nil}
	var early []expr.Expr
	seen := map[int]bool{}
	for _, c := range p.rest {
		if covers(entry, p.index, []expr.Expr{c}) && expr.IsDeterministic(c) {
			early = append(early, c)
			expr.Columns(c, func(i int) { seen[i] = true })
		}
	}
	for c := range seen {
		scan.Cols = append(scan.Cols, c)
	}
	slices.Sort(scan.Cols)
	scan.Cols = append(scan.Cols, exec.RowKey)
	var err error
	if scan.Filter, err = expr.JoinAnd(b.env.Build, remapped(early, positions(scan.Cols))); err != nil {
		return nil, err
	}
	if len(early) == len(p.rest) {
		filter, scan.Limit = nil, limit
	}
	scan.EstRows = p.rows
	return &exec.IndexLookup{Base: exec.Base{EstRows: p.out}, Scan: scan, KeyCol: len(scan.Cols) - 1, Cols: cols, Filter: filter, Limit: limit}, nil
}

func remapped(list []expr.Expr, remap func(int) int) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = expr.MapColumns(e, remap)
	}
	return out
}

// locked builds the node that locks the wanted rows and yields cols of their latest versions. The caller declares that the table is
// written, if it is.
func (b *builder) locked(w *want, mode exec.LockMode, wait exec.WaitPolicy, cols []int, limit expr.Expr, collect bool) (*exec.LockRows, *path, error) {
	w.needed = []int{exec.RowKey}
	p, err := b.access(w)
	if err != nil {
		return nil, nil, err
	}
	read := []int{exec.RowKey}
	for _, e := range p.rest {
		expr.Columns(e, func(c int) {
			if !slices.Contains(read, c) {
				read = append(read, c)
			}
		})
	}
	p.cover = p.merge == nil && (p.index == nil || p.index.Primary) || p.index != nil && covers(&want{table: w.table, needed: read}, p.index, nil)
	input, err := b.node(w, p, read, nil)
	if err != nil {
		return nil, nil, err
	}
	where, err := expr.JoinAnd(b.env.Build, w.conjuncts)
	if err != nil {
		return nil, nil, err
	}
	lock := &exec.LockRows{Input: input, KeyCol: 0, Table: w.table, Alias: w.alias, Mode: mode, Wait: wait, Where: where, Cols: cols, Limit: limit, Collect: collect}
	lock.EstRows = p.out
	return lock, p, nil
}

// positions maps column ordinals to positions in cols.
func positions(cols []int) func(int) int {
	at := map[int]int{}
	for i, c := range cols {
		if _, twice := at[c]; !twice {
			at[c] = i
		}
	}
	return func(c int) int { return at[c] }
}
