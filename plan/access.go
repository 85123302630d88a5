package plan

import (
	"math"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// The cost model counts in the effort of reading one row of a scan. The figures are ratios measured on the storage layer:
// finding a row by key costs about twenty rows of a scan, opening a range about as much.
const (
	costRow       = 1.0
	costEntry     = 0.7  // an index entry is smaller than a row
	costByte      = 1e-4 // of an entry's width, which decides between indexes that serve equally well
	costLookup    = 20.0
	costRange     = 15.0
	costSortRow   = 0.5       // times log2 of the rows
	rowsUnknown   = 1_000_000 // rows of a table without statistics: large enough that an index wins over a scan
	eqRowsUnknown = 10        // rows with one value of a column without statistics
	eqShrink      = 3         // by which each further column of the index divides eqRowsUnknown
	rangeUnknown  = 0.05      // between two bounds
	halfUnknown   = 1.0 / 3
	filterUnknown = 0.5     // left by a condition that no index decides
	equalUnknown  = 0.1     // left by an equality on a column without an index
	likeUnknown   = 1.0 / 9 // left by LIKE with a pattern that begins with a wildcard
	beginUnknown  = 0.02    // left by LIKE with a parameter as its pattern that is likely to begin with a text
	prefixSpread  = 1.5     // a prefix is shared by this many times as many rows as the whole value
	limitUnknown  = 100     // rows of a LIMIT given by a parameter
	rowsMin       = 1000    // a plan outlives the statistics it was made with, so no table counts as smaller
)

// want is what a statement needs from a table: which rows, which columns, in which order.
type want struct {
	table     *catalog.Table
	alias     string
	hints     []syntax.IndexHint
	merging   mergeHint
	keyed     bool        // sql_safe_updates, if it is on, wants the rows to be found by a key
	conjuncts []expr.Expr // over column ordinals
	needed    []int       // ordinals, or exec.RowKey, that the caller needs besides the filter's
	order     []orderColumn
	limit     float64 // rows that the caller can use at most; 0 is all
}

// path is one way to read the wanted rows.
type path struct {
	index   *catalog.Index // nil: the rows themselves
	ranges  []exec.Range
	points  bool // each range is one whole unique key
	rest    []expr.Expr
	ordered bool // the rows come in the wanted order, read backwards if reverse is set
	reverse bool
	rows    float64 // after the ranges
	out     float64 // after the filter
	cost    float64
	cover   bool
	merge   *indexMerge // instead of index
	ranged  []bool      // by place in want.conjuncts: the ranges were made from it
	// possible are the names of all indexes with ranges for the rows, for EXPLAIN.
	possible []string
}

// byEntries reports whether the path finds rows through index entries that writers do not lock, which are all but whole unique keys.
func (p *path) byEntries() bool {
	return p.merge != nil || p.index != nil && !p.index.Primary && !p.points
}

// access finds the cheapest path to the rows.
func (b *builder) access(w *want) (*path, error) {
	wanted := w.conjuncts
	instead := b.substitute(w)
	w.conjuncts = instead.conjuncts
	defer func() { w.conjuncts = wanted }()
	sargs := make([]sarg, len(w.conjuncts))
	usable := make([]bool, len(w.conjuncts))
	for i, c := range w.conjuncts {
		sargs[i], usable[i] = sargOf(b.env.Build, w.table, c)
	}
	var hints indexHints
	if len(w.hints) > 0 {
		var err error
		if hints, err = hinted(w); err != nil {
			return nil, err
		}
	}
	allowed := hints.rows.allows
	var best *path
	var possible []string
	ors := b.unions(w, sargs, usable)
	var singles []*path
	consider := func(index *catalog.Index) {
		p := b.hintedPath(w, index, sargs, usable, &hints)
		if index != nil && len(p.ranges) > 0 {
			singles = append(singles, p)
			if b.env.Explain {
				possible = append(possible, index.Name)
			}
		}
		if best == nil || p.cost < best.cost {
			best = p
		}
		for i := range ors {
			if p := b.unionPath(w, index, &ors[i]); p != nil && p.cost < best.cost {
				best = p
			}
		}
	}
	indexes := usableIndexes(w.table, allowed)
	for _, index := range indexes {
		consider(index)
	}
	// A scan of the whole table needs no index: IGNORE INDEX (PRIMARY) does not forbid it, and FORCE INDEX does only if there is another path.
	if best == nil || !hints.forced && (w.table.PK == nil || !allowed(w.table.PK)) {
		consider(nil)
	}
	if p := b.mergePath(w, singles, ors, indexes, best.out); p != nil && (p.cost < best.cost || w.merging.wanted && !(best.points && len(best.ranges) == 1)) {
		best = p
		if b.env.Explain {
			for _, part := range p.merge.parts {
				if !slices.Contains(possible, part.index.Name) {
					possible = append(possible, part.index.Name)
				}
			}
		}
	}
	best.possible = possible
	best.rest = instead.restored(best)
	return best, nil
}

// indexHints are USE, FORCE and IGNORE INDEX of a table, by what an index is used for.
type indexHints struct {
	rows, order indexUse
	// forced says that a table scan is the last resort.
	forced bool
}

// indexUse says which indexes hints leave for one use.
type indexUse struct {
	only, never map[*catalog.Index]bool // only is nil for any
}

func (u *indexUse) allows(index *catalog.Index) bool {
	return !u.never[index] && (u.only == nil || u.only[index])
}

func (u *indexUse) add(kind syntax.IndexHintKind, index *catalog.Index) {
	of := &u.only
	if kind == syntax.IgnoreIndex {
		of = &u.never
	}
	if *of == nil {
		*of = map[*catalog.Index]bool{}
	}
	if index != nil {
		(*of)[index] = true
	}
}

// hinted reads the index hints of a table. One without FOR is about all uses. FOR GROUP BY has no effect: no index is chosen for grouping.
func hinted(w *want) (h indexHints, err error) {
	for _, hint := range w.hints {
		var uses []*indexUse
		switch hint.For {
		case syntax.HintForAll:
			uses = []*indexUse{&h.rows, &h.order}
			h.forced = h.forced || hint.Kind == syntax.ForceIndex && len(hint.Names) > 0
		case syntax.HintForJoin:
			uses = []*indexUse{&h.rows}
			h.forced = h.forced || hint.Kind == syntax.ForceIndex
		case syntax.HintForOrderBy:
			uses = []*indexUse{&h.order}
		}
		for _, use := range uses {
			use.add(hint.Kind, nil)
		}
		for _, name := range hint.Names {
			index := w.table.Index(name.Name)
			if index == nil || index.State != catalog.StatePublic {
				return h, types.Errorf(types.ErKeyDoesNotExist, name.Name, w.alias)
			}
			for _, use := range uses {
				use.add(hint.Kind, index)
			}
		}
	}
	return h, nil
}

// hintedPath is path, priced without the wanted order if hints forbid the index for ORDER BY.
func (b *builder) hintedPath(w *want, index *catalog.Index, sargs []sarg, usable []bool, hints *indexHints) *path {
	p := b.path(w, index, sargs, usable)
	if index != nil && p.ordered && len(w.order) > 0 && !hints.order.allows(index) {
		p.ordered, p.reverse = false, false
		b.price(w, p)
	}
	return p
}

// path works out what an index can do for the wanted rows. A nil index scans the hidden row ids.
func (b *builder) path(w *want, index *catalog.Index, sargs []sarg, usable []bool) *path {
	p := &path{index: index}
	consumed, ranged := make([]bool, len(sargs)), make([]bool, len(sargs))
	total := b.tableRows(w.table)
	fraction := 1.0
	if index != nil {
		p.ranges, fraction = b.ranges(w, index, sargs, usable, consumed, ranged, &p.points, total)
	}
	for i, c := range w.conjuncts {
		if !consumed[i] {
			p.rest = append(p.rest, c)
		}
	}
	p.rows = math.Max(total*fraction, math.Min(1, total))
	if p.points {
		p.rows = float64(len(p.ranges))
	}
	p.out = p.rows
	for i := range w.conjuncts {
		if !ranged[i] {
			p.out *= b.selectivity(w.table, w.conjuncts[i], &sargs[i], usable[i], total)
		}
	}
	p.ranged = ranged
	p.cover = index == nil || index.Primary || covers(w, index, p.rest)
	p.ordered, p.reverse = orderedBy(w, index, p.ranges)
	b.price(w, p)
	return p
}

func (b *builder) tableRows(t *catalog.Table) float64 {
	if b.env.Stats != nil {
		return math.Max(b.env.Stats.Rows(t), rowsMin)
	}
	return rowsUnknown
}

// price sets the path's cost.
func (b *builder) price(w *want, p *path) {
	read := p.rows
	if w.limit > 0 && (p.ordered || len(w.order) == 0) && p.out > 0 {
		read = math.Min(read, math.Max(1, w.limit*p.rows/math.Max(p.out, 1)))
	}
	switch {
	case p.points && len(p.ranges) == 1:
		p.cost = costRow // one row at most, whatever the table's size
	case p.points:
		p.cost = read * costLookup
	case p.index == nil || p.index.Primary:
		p.cost = read * costRow
	default:
		p.cost = read * (costEntry + costByte*entryWidth(w.table, p.index))
	}
	if !p.cover {
		p.cost += read * costLookup
	}
	if !p.points {
		p.cost += float64(len(p.ranges)) * costRange
	}
	if len(w.order) > 0 && !p.ordered && p.out > 1 {
		p.cost += p.out * math.Log2(p.out) * costSortRow
	}
	if w.keyed && b.unsafe(p) {
		p.cost += costAgainstHint // sql_safe_updates refuses it
	}
}

// ranges matches conditions with the leading columns of an index: equalities first, then one interval. consumed marks
// the conditions that need no filter. points is set when each range names one whole unique key.
func (b *builder) ranges(w *want, index *catalog.Index, sargs []sarg, usable, consumed, ranged []bool, points *bool, total float64) ([]exec.Range, float64) {
	ranges := []exec.Range{{}}
	fraction := 1.0
	bound := 0
	var first *sarg
	for _, part := range index.Columns {
		i := pick(part.Col, sargs, usable, len(ranges))
		if i < 0 {
			break
		}
		s := &sargs[i]
		ranged[i] = true
		ranges = multiply(ranges, s, bound)
		if s.exact && part.PrefixLen == 0 {
			consumed[i] = true
		}
		if part.PrefixLen > 0 {
			// Values are cut to the prefix on both sides, so bounds must take the whole prefix in.
			includeBounds(ranges)
		}
		if !s.points {
			fraction *= b.rangeFraction(w.table, s, total)
			if part.PrefixLen > 0 {
				fraction = math.Min(1, fraction*prefixSpread)
			}
			pickMore(ranges, part.Col, sargs, usable, consumed, ranged, i, part.PrefixLen == 0)
			return ranges, fraction
		}
		bound++
		if bound == 1 {
			first = s
		}
		fraction = b.skewed(w.table, index, first, bound, b.pointFraction(w.table, index, bound, len(ranges), total), total)
		if part.PrefixLen > 0 {
			fraction *= prefixSpread
		}
	}
	if bound == 0 {
		return nil, 1
	}
	*points = index.Unique && bound == len(index.Columns) && wholeKeys(index, ranges)
	return ranges, fraction
}

// pick chooses the condition on a column that narrows it most: points before intervals.
func pick(column int, sargs []sarg, usable []bool, ranges int) int {
	best := -1
	for i := range sargs {
		if !usable[i] || sargs[i].column != column || ranges*len(sargs[i].ranges) > pointsMax {
			continue
		}
		if best < 0 || sargs[i].points && !sargs[best].points || sargs[i].points == sargs[best].points && len(sargs[i].ranges) < len(sargs[best].ranges) {
			best = i
		}
	}
	return best
}

// multiply extends each range by each interval of a condition on column number bound of the index.
func multiply(ranges []exec.Range, s *sarg, bound int) []exec.Range {
	out := make([]exec.Range, 0, len(ranges)*len(s.ranges))
	for _, r := range ranges {
		for _, i := range s.ranges {
			next := exec.Range{Eq: append([]expr.Expr(nil), r.Eq...), EqNull: r.EqNull}
			if i.eq != nil {
				next.Eq = append(next.Eq, i.eq)
				if i.null {
					next.EqNull |= 1 << bound
				}
			} else {
				next.Low, next.High, next.NotNull = i.low, i.high, true
			}
			out = append(out, next)
		}
	}
	return out
}

func includeBounds(ranges []exec.Range) {
	for i := range ranges {
		ranges[i].Low.Incl, ranges[i].High.Incl = true, true
	}
}

// pickMore adds the other end of an interval from a further condition: a > 1 AND a < 5.
func pickMore(ranges []exec.Range, column int, sargs []sarg, usable, consumed, ranged []bool, taken int, whole bool) {
	if len(ranges) != 1 {
		return
	}
	r := &ranges[0]
	for i := range sargs {
		if r.Low.Begins || i == taken || !usable[i] || sargs[i].column != column || len(sargs[i].ranges) != 1 || sargs[i].points {
			continue
		}
		more := &sargs[i].ranges[0]
		switch {
		case more.low.Begins:
		case more.low.Expr == nil && more.high.Expr == nil:
			consumed[i], ranged[i] = true, true // IS NOT NULL, which any interval implies
		case r.Low.Expr == nil && more.high.Expr == nil:
			r.Low = more.low
			r.Low.Incl = r.Low.Incl || !whole
			consumed[i], ranged[i] = sargs[i].exact && whole, true
		case r.High.Expr == nil && more.low.Expr == nil:
			r.High = more.high
			r.High.Incl = r.High.Incl || !whole
			consumed[i], ranged[i] = sargs[i].exact && whole, true
		}
	}
}

// wholeKeys reports whether every range is one full key that can name one row only: NULL may repeat in a unique index.
func wholeKeys(index *catalog.Index, ranges []exec.Range) bool {
	for _, part := range index.Columns {
		if part.PrefixLen > 0 {
			return false
		}
	}
	for i := range ranges {
		if ranges[i].EqNull != 0 {
			return false
		}
	}
	return true
}
