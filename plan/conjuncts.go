package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// where binds a condition and splits it into conjuncts.
func (b *builder) where(bind *binder, e syntax.Expr) ([]expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	bound, err := bind.bind(e)
	if err != nil {
		return nil, err
	}
	if bound.IsCall("row") {
		return nil, types.Errorf(types.ErOperandColumns, 1)
	}
	if b.shown != nil {
		bind.noteZeroDates(e, len(bind.scope.tables) > 1)
	}
	conds, err := bind.zeroDates(expr.SplitAnd(nil, expr.AsCondition(bound)))
	if err != nil {
		return nil, err
	}
	b.fixedDates(bind.scope, conds)
	return b.commonOf(conds)
}

// leadingBit reports whether e is a BIT column with which an index begins. In a query with no other condition MySQL finds the rows that are equal to a
// constant text by it, and looks for the bits that an INSERT of the text would store: b = 'A' finds 65. Everywhere else the text is a number.
func (b *builder) leadingBit(e expr.Expr) bool {
	id, ok := e.ColumnIndex()
	return ok && e.TypeRef().ID == types.TypeBit && slices.ContainsFunc(b.gets, func(g *get) bool {
		return g.owns(id) && slices.ContainsFunc(g.table.Indexes, func(ix *catalog.Index) bool {
			return ix.State == catalog.StatePublic && ix.Visible && g.first+ix.Columns[0].Col == id
		})
	})
}

// conjuncts splits a condition. A row is no condition.
func (b *builder) conjuncts(e expr.Expr) ([]expr.Expr, error) {
	if e.IsCall("row") {
		return nil, types.Errorf(types.ErOperandColumns, 1)
	}
	return b.commonOf(expr.SplitAnd(nil, expr.AsCondition(e)))
}

// commonOf applies common to each condition of a list.
func (b *builder) commonOf(conds []expr.Expr) ([]expr.Expr, error) {
	var out []expr.Expr
	for _, c := range conds {
		common, err := b.common(c)
		if err != nil {
			return nil, err
		}
		out = append(out, common...)
	}
	return out, nil
}

// Bounds of the search for conditions that all alternatives of an OR share.
const (
	alternativesMax = 64
	conjunctsMax    = 64
)

// common factors out the conditions that all alternatives of an OR share: (a AND b) OR (a AND c) becomes a AND (b OR c). Then a can serve as the
// condition of a join.
func (b *builder) common(e expr.Expr) ([]expr.Expr, error) {
	if !e.IsCall("or") || len(e.Args()) > alternativesMax || !expr.IsDeterministic(e) {
		return []expr.Expr{e}, nil
	}
	arms := make([][]expr.Expr, len(e.Args()))
	for i, arm := range e.Args() {
		if arms[i] = expr.SplitAnd(nil, arm); len(arms[i]) > conjunctsMax {
			return []expr.Expr{e}, nil
		}
	}
	var shared []expr.Expr
	for _, c := range arms[0] {
		everywhere := true
		for _, arm := range arms[1:] {
			everywhere = everywhere && contains(arm, c)
		}
		if everywhere && !contains(shared, c) {
			shared = append(shared, c)
		}
	}
	if len(shared) == 0 {
		return []expr.Expr{e}, nil
	}
	rest := make([]expr.Expr, len(arms))
	for i, arm := range arms {
		var own []expr.Expr
		for _, c := range arm {
			if !contains(shared, c) {
				own = append(own, c)
			}
		}
		if len(own) == 0 {
			return shared, nil // this alternative is exactly what all share, so that the OR demands no more
		}
		var err error
		if rest[i], err = expr.JoinAnd(b.env.Build, own); err != nil {
			return nil, err
		}
	}
	or, err := expr.Call(b.env.Build, "or", rest...)
	return append(shared, or), err
}

// implied derives from an OR a condition on the columns in set alone: from (a AND b) OR (c AND d) the condition (a OR c), if a and c read no
// other columns. It returns nil if some alternative does not restrict them. One side of a join can be filtered by it before the join; the OR
// itself stays.
func (b *builder) implied(e expr.Expr, set idSet) (expr.Expr, error) {
	if !e.IsCall("or") || len(e.Args()) > alternativesMax || !expr.IsDeterministic(e) || hasSubquery(e) {
		return nil, nil
	}
	arms := make([]expr.Expr, len(e.Args()))
	for i, arm := range e.Args() {
		parts := expr.SplitAnd(nil, arm)
		if len(parts) > conjunctsMax {
			return nil, nil
		}
		var own []expr.Expr
		for _, c := range parts {
			if set.touches(c) && set.covers(c) {
				own = append(own, c)
			}
		}
		if len(own) == 0 {
			return nil, nil
		}
		var err error
		if arms[i], err = expr.JoinAnd(b.env.Build, own); err != nil {
			return nil, err
		}
	}
	return expr.Call(b.env.Build, "or", arms...)
}

// dear reports whether a condition runs a correlated subquery for each row. It is better evaluated behind joins that keep few rows.
func (b *builder) dear(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(n expr.Expr) bool {
		if s := b.subqueryOf(n); s != nil && len(s.free) > 0 {
			found = true
		}
		return !found
	})
	return found
}

func contains(list []expr.Expr, e expr.Expr) bool {
	for _, x := range list {
		if expr.Equal(x, e) {
			return true
		}
	}
	return false
}
