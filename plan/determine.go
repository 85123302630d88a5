package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// closeOver adds to known all columns that it determines within the rows of r that satisfy conds: the functional dependence of
// ONLY_FULL_GROUP_BY. It repeats the rules until a pass adds no column.
func closeOver(r rel, conds []expr.Expr, known idSet) {
	rules := conditions(nil, conds)
	rules = dependences(rules, r, conds)
	for changed := true; changed; {
		changed = false
		for i := range rules {
			if rules[i].done || !rules[i].from.within(known) {
				continue
			}
			rules[i].done = true
			for id := range rules[i].to {
				if !known[id] {
					known[id], changed = true, true
				}
			}
		}
	}
}

// dependence says that the columns of from determine those of to.
type dependence struct {
	from, to idSet
	done     bool
}

func (s idSet) within(other idSet) bool {
	for id := range s {
		if !other[id] {
			return false
		}
	}
	return true
}

// conditions reads equalities: x = y determines one by the other, x = constant determines x.
func conditions(rules []dependence, conds []expr.Expr) []dependence {
	for _, c := range conds {
		if !c.IsCall("=", "<=>") {
			continue
		}
		for side := range 2 {
			id, ok := expr.Unwrap(c.Args()[side]).ColumnIndex()
			other := c.Args()[1-side]
			if !ok || !expr.IsDeterministic(other) {
				continue
			}
			from := idSet{}
			from.addExpr(other)
			rules = append(rules, dependence{from: from, to: idSet{id: true}})
		}
	}
	return rules
}

// dependences lists what holds within the rows of a relation that satisfy conds.
func dependences(rules []dependence, r rel, conds []expr.Expr) []dependence {
	switch r := r.(type) {
	case *get:
		return append(rules, uniqueKeys(r, conds)...)
	case *filter:
		rules, conds = conditions(rules, r.conds), slices.Concat(conds, r.conds)
	case *join:
		switch {
		case r.kind == exec.JoinInner || r.kind == exec.JoinLeft && rejectsAny(conds, outputs(r.right)):
			rules, conds = conditions(rules, r.on), slices.Concat(conds, r.on)
		case r.kind == exec.JoinLeft:
			// What ON demands holds for the rows that match, and the others are all NULL.
			return dependences(dependences(outerConditions(rules, r), r.left, conds), r.right, slices.Concat(conds, r.on))
		case r.kind == exec.JoinSemi || r.kind == exec.JoinAnti:
			return dependences(rules, r.left, conds)
		}
	case *extend:
		for i := range r.cols {
			if from := (idSet{}); expr.IsDeterministic(r.cols[i].e) {
				from.addExpr(r.cols[i].e)
				rules = append(rules, dependence{from: from, to: idSet{r.cols[i].id: true}})
			}
		}
	case *aggregate:
		if r.rollup {
			return rules
		}
		from := idSet{}
		for i := range r.keys {
			from[r.keys[i].id] = true
		}
		rules = append(rules, dependence{from: from, to: outputs(r)})
	case *setOp, *distinct, *window:
		return rules
	}
	for _, input := range r.inputs() {
		rules = dependences(rules, input, conds)
	}
	return rules
}

// rejectsAny reports whether one of conds is not true where the columns of set are NULL.
func rejectsAny(conds []expr.Expr, set idSet) bool {
	return slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejectsNull(c, set) })
}

// outerConditions reads ON of a left join: a column of the right side that equals something of the left side is determined by it, matched or
// not.
func outerConditions(rules []dependence, j *join) []dependence {
	right := outputs(j.right)
	for _, rule := range conditions(nil, j.on) {
		if rule.to.within(right) && len(rule.from) > 0 {
			rules = append(rules, rule)
		}
	}
	return rules
}

// uniqueKeys lists what the unique keys of a table determine: the whole row, if none of their columns is NULL in rows that satisfy conds.
func uniqueKeys(g *get, conds []expr.Expr) (rules []dependence) {
	for _, index := range g.table.Indexes {
		if !index.Unique || index.State != catalog.StatePublic {
			continue
		}
		from, whole := idSet{}, true
		for _, part := range index.Columns {
			id := g.id(part.Col)
			whole = whole && part.Col < len(g.table.Columns) && part.PrefixLen == 0 &&
				(g.table.Columns[part.Col].NotNull || rejectsAny(conds, idSet{id: true}))
			from[id] = true
		}
		if whole {
			rules = append(rules, dependence{from: from, to: outputs(g)})
		}
	}
	return rules
}
