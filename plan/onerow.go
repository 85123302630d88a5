package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// Which relations have at most one row for given outer values: then a subquery over them cannot find a second one, and a join repeats no row.

// fixedBy returns the column of set that a condition restricts to one value, given the columns that are not in set; nil if there is none. The
// comparison must tell different values apart: '1' and '1.0' are both equal to the number 1, so that it does not restrict a text to one value.
func (b *builder) fixedBy(c expr.Expr, set idSet) expr.Expr {
	if !c.IsCall("=") || !expr.IsDeterministic(c) {
		return nil
	}
	l, r, ok := expr.HashKeys(b.env.Build, c)
	if !ok {
		return nil
	}
	if set.touches(l) {
		l, r = r, l
	}
	inner := expr.Unwrap(r)
	if id, plain := inner.ColumnIndex(); !plain || !set[id] || set.touches(l) || !expr.KeepsApart(c, inner) {
		return nil
	}
	return inner
}

// oneRow reports whether a relation has at most one row for given values of the columns in fixed.
func (b *builder) oneRow(r rel, fixed idSet) bool {
	var gets []*get
	var conds []expr.Expr
	simple := true
	var walk func(r rel)
	walk = func(r rel) {
		switch r := r.(type) {
		case *get:
			gets = append(gets, r)
		case *filter:
			conds = append(conds, r.conds...)
			walk(r.input)
		case *extend:
			walk(r.input)
		case *join:
			walk(r.left)
			switch r.kind {
			case exec.JoinInner:
				conds = append(conds, r.on...)
				walk(r.right)
			case exec.JoinLeft:
				simple = false
			}
		default:
			simple = false
		}
	}
	walk(r)
	if !simple {
		return false
	}
	for range gets {
		before := len(gets)
		gets = slices.DeleteFunc(gets, func(g *get) bool { return b.oneOf(g, conds, fixed) })
		if len(gets) == 0 {
			return true
		}
		if len(gets) == before {
			return false
		}
	}
	return false
}

// oneOf reports whether a table has at most one row for given values of the columns in fixed; those of that row are then fixed, too.
func (b *builder) oneOf(g *get, conds []expr.Expr, fixed idSet) bool {
	own := outputs(g)
	for _, c := range conds {
		rest := idSet{}
		for id := range own {
			if !fixed[id] {
				rest[id] = true
			}
		}
		inner := b.fixedBy(c, rest)
		if inner == nil {
			continue
		}
		given := true
		expr.Columns(c, func(id int) { given = given && (fixed[id] || id == keyID(inner)) })
		if given {
			fixed[keyID(inner)] = true
		}
	}
	for _, index := range g.table.Indexes {
		whole := index.Unique && index.State == catalog.StatePublic
		for _, part := range index.Columns {
			whole = whole && part.Col < len(g.table.Columns) && part.PrefixLen == 0 && fixed[g.id(part.Col)]
		}
		if whole {
			for id := range own {
				fixed[id] = true
			}
			return true
		}
	}
	return false
}
