package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
)

// node builds the operators of a path. The result yields cols; limit, if not nil, bounds the rows that anyone will ask for.
func (b *builder) node(w *want, p *path, cols []int, limit expr.Expr) (exec.Node, error) {
	filter, err := expr.JoinAnd(b.env.Build, remapped(p.rest, positions(cols)))
	if err != nil {
		return nil, err
	}
	if p.points {
		keys := make([][]expr.Expr, len(p.ranges))
		for i := range p.ranges {
			keys[i] = p.ranges[i].Eq
		}
		if !p.needsSort(w) {
			return &exec.PointGet{Base: exec.Base{EstRows: p.out}, Table: w.table, Alias: w.alias, Index: p.index, Keys: keys, Cols: cols, Filter: filter, Covering: p.cover && !p.index.Primary}, nil
		}
	}
	scan := &exec.Scan{Table: w.table, Alias: w.alias, Ranges: p.ranges, Reverse: p.reverse && p.ordered}
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
	w.locking = true
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
	p.cover = p.index == nil || p.index.Primary || covers(&want{table: w.table, needed: read}, p.index, nil)
	input, err := b.node(w, p, read, nil)
	if err != nil {
		return nil, nil, err
	}
	where, err := expr.JoinAnd(b.env.Build, w.conjuncts)
	if err != nil {
		return nil, nil, err
	}
	b.use(w.table, false)
	lock := &exec.LockRows{Input: input, KeyCol: 0, Table: w.table, Alias: w.alias, Mode: mode, Wait: wait, Where: where, Cols: cols, Limit: limit, Collect: collect}
	lock.EstRows = p.out
	return lock, p, nil
}

// lock reads the FOR UPDATE and FOR SHARE clauses.
func (s *selection) lock() (syntax.LockClause, bool, error) {
	if len(s.query.Locks) == 0 {
		return syntax.LockClause{}, false, nil
	}
	if len(s.query.Locks) > 1 || len(s.query.Locks[0].Of) > 0 {
		return syntax.LockClause{}, false, unsupported("FOR UPDATE OF")
	}
	return s.query.Locks[0], s.from.table != nil, nil
}

// readLocked builds a locking read. ordered allows LIMIT to stop the locking early.
func (s *selection) readLocked(w *want, clause syntax.LockClause, ordered bool, count, offset expr.Expr) (*stage, error) {
	mode, wait := exec.LockExclusive, exec.WaitDefault
	if clause.Kind != syntax.LockForUpdate {
		mode = exec.LockShared
	}
	switch clause.Wait {
	case syntax.LockNoWait:
		wait = exec.WaitNone
	case syntax.LockSkipLocked:
		wait = exec.WaitSkip
	}
	cols := s.outputColumns(w.needed, nil)
	var limit expr.Expr
	if (ordered || len(w.order) > 0) && s.sel.Options&syntax.SelectCalcFoundRows == 0 {
		var err error
		if limit, err = s.b.sum(count, offset); err != nil {
			return nil, err
		}
	}
	order := w.order
	node, p, err := s.b.locked(w, mode, wait, cols, limit, false)
	if err != nil {
		return nil, err
	}
	kept := ordered || len(order) > 0 && p.ordered
	if !kept {
		node.Limit = nil
	}
	return &stage{node: node, rows: p.out, ordered: kept, remap: positions(cols), direct: s.isDirect(cols)}, nil
}
