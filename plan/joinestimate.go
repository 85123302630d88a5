package plan

import (
	"math"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// matchSelectivity is the part of a relation's rows that conditions leave for one row of the other side. The statistics of several columns of an
// index together, on either side, take precedence over those of each column: the columns of a composite foreign key are not independent, and each
// of its rows finds one.
func (b *builder) matchSelectivity(g *joinGraph, r *joinRel, match []expr.Expr) float64 {
	all, equal := 1.0, map[int]float64{}
	for _, c := range match {
		one := b.joinSelectivity(g, r, c)
		all *= one
		if !c.IsCall("=", "<=>") {
			continue
		}
		for side := range 2 {
			if id, plain := expr.Unwrap(c.Args()[side]).ColumnIndex(); plain {
				equal[id] = one
			}
		}
	}
	if len(match) < 2 {
		return all
	}
	together := 1.0
	for _, side := range g.rels {
		if side.get != nil {
			together = math.Min(together, b.jointSelectivity(side.get, equal, all))
		}
	}
	if together == 1 {
		return all
	}
	return math.Max(all, together)
}

// jointSelectivity is all, the product of the conditions' selectivities, with the joint selectivity of an index's leading columns in the place of
// theirs; 1 if none is known. equal are the selectivities of the columns in equalities, by column id.
func (b *builder) jointSelectivity(t *get, equal map[int]float64, all float64) float64 {
	best := 1.0
	for _, index := range t.table.Indexes {
		leading, apart := 0, 1.0
		for ; leading < len(index.Columns); leading++ {
			one, ok := equal[t.id(index.Columns[leading].Col)]
			if !ok {
				break
			}
			apart *= one
		}
		if leading < 2 {
			continue
		}
		if joint := b.knownFraction(t.table, index, leading); joint > 0 {
			best = math.Min(best, math.Max(all, all/apart*joint))
		}
	}
	return best
}

// knownFraction is the part of the rows that have one value of the leading columns of an index; 0 is unknown.
func (b *builder) knownFraction(t *catalog.Table, index *catalog.Index, columns int) float64 {
	if index.Unique && columns == len(index.Columns) {
		return 1 / math.Max(b.tableRows(t), 1)
	}
	if b.env.Stats == nil || columns == 0 {
		return 0
	}
	n := b.env.Stats.Distinct(t, index, columns)
	if n <= 0 {
		return 0
	}
	return 1 / n
}

// joinSelectivity is the part of a relation's rows that a condition leaves for one row of the other side.
func (b *builder) joinSelectivity(g *joinGraph, r *joinRel, c expr.Expr) float64 {
	if !c.IsCall("=", "<=>") {
		return halfUnknown
	}
	best := 1.0
	for side := range 2 {
		id, plain := expr.Unwrap(c.Args()[side]).ColumnIndex()
		if !plain {
			continue
		}
		best = math.Min(best, b.oneValue(g, id))
	}
	if best == 1 {
		return equalUnknown
	}
	return best
}

// oneValue is the part of a relation's rows that have one value of a column.
func (b *builder) oneValue(g *joinGraph, id int) float64 {
	for _, r := range g.rels {
		if !r.ids[id] {
			continue
		}
		if r.get == nil || !r.get.owns(id) {
			return 1 / math.Max(1, r.rows/eqRowsUnknown)
		}
		return b.oneValueOf(r.get, id)
	}
	return 1
}

// oneValueOf is the part of a table's rows that have one value of a column.
func (b *builder) oneValueOf(g *get, id int) float64 {
	total := b.tableRows(g.table)
	best := eqRowsUnknown / math.Max(total, eqRowsUnknown)
	if b.env.Stats != nil {
		if known := b.env.Stats.EqualFraction(g.table, g.ordinal(id), types.Null()); known > 0 {
			best = known
		}
	}
	for _, index := range g.table.Indexes {
		if index.Columns[0].Col == g.ordinal(id) {
			best = b.pointFraction(g.table, index, 1, 1, total)
			if index.Unique && len(index.Columns) == 1 {
				return 1 / math.Max(total, 1)
			}
		}
	}
	return best
}
