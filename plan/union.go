package plan

import (
	"math"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
)

// union is an OR that is no sarg: (a, b) IN ((1, 2), (3, 4)), or a = 1 AND b > 5 OR a = 2. Each alternative, together with the other conditions,
// makes ranges of its own.
type union struct {
	at   int // the place of the OR in want.conjuncts
	arms []arm
}

type arm struct {
	sargs  []sarg
	usable []bool
	own    int   // how many of them are the alternative's; the usable other conditions follow
	beside []int // the places of those in want.conjuncts
}

// unions lists the conditions that may be read as the union of an index's ranges.
func (b *builder) unions(w *want, sargs []sarg, usable []bool) (all []union) {
	for i, c := range w.conjuncts {
		if usable[i] || !c.IsCall("or") || len(c.Args()) > pointsMax {
			continue
		}
		u := union{at: i, arms: make([]arm, len(c.Args()))}
		for k, alternative := range c.Args() {
			a := &u.arms[k]
			for _, part := range expr.SplitAnd(nil, alternative) {
				s, ok := sargOf(b.env.Build, w.table, part)
				a.sargs, a.usable = append(a.sargs, s), append(a.usable, ok)
			}
			a.own = len(a.sargs)
			for j := range sargs {
				if usable[j] {
					a.sargs, a.usable, a.beside = append(a.sargs, sargs[j]), append(a.usable, true), append(a.beside, j)
				}
			}
		}
		all = append(all, u)
	}
	return all
}

// unionPath reads the ranges of all alternatives, which the scan merges where they overlap. It returns nil if an alternative says nothing about
// the index's first column.
func (b *builder) unionPath(w *want, index *catalog.Index, u *union) *path {
	if index == nil {
		return nil
	}
	p := &path{index: index, points: true}
	decided := make([]int, len(w.conjuncts)) // by how many alternatives' ranges
	total := b.tableRows(w.table)
	sum := 0.0
	for i := range u.arms {
		a := &u.arms[i]
		points := false
		consumed := make([]bool, len(a.sargs))
		ranges, fraction := b.ranges(w, index, a.sargs, a.usable, consumed, make([]bool, len(a.sargs)), &points, total)
		if len(ranges) == 0 || len(p.ranges)+len(ranges) > pointsMax {
			return nil
		}
		p.ranges = append(p.ranges, ranges...)
		p.points = p.points && points
		sum += fraction
		if !slices.Contains(consumed[:a.own], false) {
			decided[u.at]++
		}
		for k, j := range a.beside {
			if consumed[a.own+k] {
				decided[j]++
			}
		}
	}
	for i, c := range w.conjuncts {
		if decided[i] < len(u.arms) {
			p.rest = append(p.rest, c)
		}
	}
	p.rows = math.Max(total*math.Min(1, sum), math.Min(1, total))
	if p.points {
		p.rows = float64(len(p.ranges))
	}
	p.out = p.rows
	p.cover = index.Primary || covers(w, index, p.rest)
	p.ordered, p.reverse = orderedBy(w, index, p.ranges)
	b.price(w, p)
	return p
}
