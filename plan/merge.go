package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// Index merge: several indexes find the rows together. An OR whose alternatives are about different columns is the union of what an index finds
// for each of them; an AND of conditions that no index holds together is the intersection of what each finds. The sets of row keys are combined,
// and the rows are read once.

// MergeKinds are the ways of index merge that optimizer_switch leaves.
type MergeKinds uint8

// The ways of index merge.
const (
	MergeIntersection MergeKinds = 1 << iota
	MergeUnion
	MergeSortUnion
)

const (
	mergeScansMax = 16  // scans of one index merge
	costKey       = 0.5 // to look a key up in a table of keys, or to sort it
)

// mergeHint is INDEX_MERGE or NO_INDEX_MERGE of a table.
type mergeHint struct {
	wanted bool
	never  bool
	only   map[string]bool // indexes by name in lower case; nil is any
}

// indexMerge is how the scans of a path are combined.
type indexMerge struct {
	intersect bool
	parts     []*path
}

// inKeyOrder reports whether a part finds rows in the order of their keys: by one value of all its columns, or by the primary key itself.
func (p *path) inKeyOrder() bool {
	if p.index.Primary {
		return true
	}
	return len(p.ranges) == 1 && len(p.ranges[0].Eq) == len(p.index.Columns)
}

func (m *indexMerge) inKeyOrder() bool {
	return !slices.ContainsFunc(m.parts, func(p *path) bool { return !p.inKeyOrder() })
}

// mergePath is the cheapest path that merges indexes, nil if there is none. singles are the paths of one index each, out is how many rows are
// left in the end.
func (b *builder) mergePath(w *want, singles []*path, ors []union, indexes []*catalog.Index, out float64) *path {
	if w.merging.never && w.merging.only == nil {
		return nil
	}
	allowed := func(index *catalog.Index) bool {
		return w.merging.only == nil || w.merging.only[strings.ToLower(index.Name)] != w.merging.never
	}
	var best *path
	consider := func(m *indexMerge, rows float64) {
		if m == nil {
			return
		}
		p := &path{merge: m, rest: w.conjuncts, rows: rows, out: math.Min(out, rows)}
		b.priceMerge(w, p)
		if best == nil || p.cost < best.cost {
			best = p
		}
	}
	if b.env.Merges&MergeIntersection != 0 || w.merging.wanted {
		singles = slices.DeleteFunc(slices.Clone(singles), func(p *path) bool { return !allowed(p.index) })
		consider(b.intersection(w, singles, w.merging.wanted))
	}
	if b.env.Merges&(MergeUnion|MergeSortUnion) != 0 || w.merging.wanted {
		indexes = slices.DeleteFunc(slices.Clone(indexes), func(index *catalog.Index) bool { return !allowed(index) })
		for i := range ors {
			m, rows := b.mergedUnion(w, indexes, &ors[i])
			if m == nil || !w.merging.wanted && b.env.Merges&m.kind() == 0 {
				continue
			}
			consider(m, rows)
		}
	}
	return best
}

// kind is the switch of optimizer_switch that the merge obeys.
func (m *indexMerge) kind() MergeKinds {
	switch {
	case m.intersect:
		return MergeIntersection
	case m.inKeyOrder():
		return MergeUnion
	}
	return MergeSortUnion
}

// priceMerge sets the cost of a path that merges: every entry is read and looked up among keys, and the rows that are left are fetched.
func (b *builder) priceMerge(w *want, p *path) {
	p.cost = p.rows * costLookup
	for _, part := range p.merge.parts {
		entry := costRow
		if !part.index.Primary {
			entry = costEntry + costByte*entryWidth(w.table, part.index)
		}
		p.cost += part.rows*(entry+costKey) + float64(len(part.ranges))*costRange
	}
	if !p.merge.intersect || !p.merge.parts[0].inKeyOrder() {
		p.cost += costSort(p.rows)
	}
	if len(w.order) > 0 && p.out > 1 {
		p.cost += costSort(p.out)
	}
}

// intersection takes the most selective index and adds others to it while that makes the whole cheaper: their entries have to cost less than the
// rows that need not be fetched. Their selectivities are taken to be independent, and indexes that use the same condition are not combined. always
// adds a second one whatever it costs.
func (b *builder) intersection(w *want, singles []*path, always bool) (*indexMerge, float64) {
	slices.SortStableFunc(singles, func(x, y *path) int { return cmp.Compare(x.rows, y.rows) })
	total := math.Max(b.tableRows(w.table), 1)
	var m *indexMerge
	rows, cost := 0.0, 0.0
	for _, p := range singles {
		if len(p.ranges) == 0 || p.points || p.index.Primary {
			continue
		}
		if m == nil {
			m, rows = &indexMerge{intersect: true, parts: []*path{p}}, p.rows
			cost = p.cost
			continue
		}
		if len(m.parts) == mergeScansMax || slices.ContainsFunc(m.parts, func(other *path) bool { return sharesCondition(p, other) }) {
			continue
		}
		more := &path{merge: &indexMerge{intersect: true, parts: append(slices.Clone(m.parts), p)}, rows: math.Max(rows*p.rows/total, math.Min(1, rows))}
		b.priceMerge(w, more)
		if more.cost < cost || always && len(m.parts) == 1 {
			m, rows, cost = more.merge, more.rows, more.cost
		}
	}
	if m == nil || len(m.parts) < 2 {
		return nil, 0
	}
	return m, rows
}

func sharesCondition(p, q *path) bool {
	for i := range p.ranged {
		if p.ranged[i] && q.ranged[i] {
			return true
		}
	}
	return false
}

// mergedUnion finds for each alternative of an OR the index that finds the fewest rows for it. It returns nil if there is none for one of them,
// or the same for all.
func (b *builder) mergedUnion(w *want, indexes []*catalog.Index, u *union) (*indexMerge, float64) {
	total := math.Max(b.tableRows(w.table), 1)
	by := map[*catalog.Index]*path{}
	m, rows := &indexMerge{}, 0.0
	for i := range u.arms {
		a := &u.arms[i]
		var best *path
		for _, index := range indexes {
			p := &path{index: index}
			var fraction float64
			p.ranges, fraction = b.ranges(w, index, a.sargs, a.usable, make([]bool, len(a.sargs)), make([]bool, len(a.sargs)), &p.points, total)
			if len(p.ranges) == 0 {
				continue
			}
			p.rows = math.Max(total*fraction, 1)
			if p.points {
				p.rows = float64(len(p.ranges))
			}
			if best == nil || p.rows < best.rows {
				best = p
			}
		}
		if best == nil {
			return nil, 0
		}
		rows += best.rows
		if p := by[best.index]; p == nil {
			by[best.index] = best
			m.parts = append(m.parts, best)
		} else {
			p.ranges, p.rows = append(p.ranges, best.ranges...), p.rows+best.rows
		}
		if len(m.parts) > mergeScansMax || len(by[best.index].ranges) > pointsMax {
			return nil, 0
		}
	}
	if len(m.parts) < 2 {
		return nil, 0
	}
	return m, math.Min(rows, total)
}

// mergedNode reads the rows that the scans of a merge find.
func (b *builder) mergedNode(w *want, p *path, cols []int, filter, limit expr.Expr) exec.Node {
	scans := make([]*exec.Scan, len(p.merge.parts))
	for i, part := range p.merge.parts {
		scans[i] = &exec.Scan{Base: exec.Base{EstRows: part.rows}, Table: w.table, Alias: w.alias, Ranges: part.ranges, Cols: []int{exec.RowKey}}
		if !part.index.Primary {
			scans[i].Index = part.index
		}
	}
	m := exec.NewIndexMerge(scans, p.merge.intersect, p.merge.parts[0].inKeyOrder(), p.rows)
	m.Note = b.accessNote(w, p)
	return &exec.IndexLookup{Base: exec.Base{EstRows: p.out}, Merge: m, Cols: cols, Filter: filter, Limit: limit}
}

// usableIndexes are those of a table that may be read: the primary key first.
func usableIndexes(t *catalog.Table, allowed func(*catalog.Index) bool) (list []*catalog.Index) {
	if t.PK != nil && allowed(t.PK) {
		list = append(list, t.PK)
	}
	for _, index := range t.Indexes {
		if !index.Primary && index.State == catalog.StatePublic && index.Visible && index.Readable(clock.MaxTimestamp) && allowed(index) {
			list = append(list, index)
		}
	}
	return list
}

// mergeHints gives a table what INDEX_MERGE and NO_INDEX_MERGE say of it.
func (b *builder) mergeHints(blk *hintBlock, h *hint, from rel) {
	if len(h.Tables) == 0 {
		h.done = true
		return
	}
	g := b.getNamed(from, h.Tables[0].Name)
	if g == nil {
		return // finishHints warns
	}
	h.done = true
	m := mergeHint{wanted: h.Name == "INDEX_MERGE", never: h.Name == "NO_INDEX_MERGE"}
	for _, name := range h.Names {
		index := g.table.Index(name)
		if index == nil || index.State != catalog.StatePublic {
			b.warn(warnHintName, "Unresolved name `"+h.Tables[0].Name+"`@`select#"+itoa(blk.number)+"` `"+name+"` for "+h.Name+" hint")
			continue
		}
		if m.only == nil {
			m.only = map[string]bool{}
		}
		m.only[strings.ToLower(index.Name)] = true
	}
	if len(h.Names) == 0 || m.only != nil {
		g.merging = m
	}
}
