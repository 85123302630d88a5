package plan

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// closeOver adds to known all columns that it determines within the rows of r that satisfy conds: functional dependence as ONLY_FULL_GROUP_BY
// has it. Each pass may enable the next, and each adds at least one column.
func closeOver(r rel, conds []expr.Expr, known idSet) {
	rules := []dependence{}
	rules = conditions(rules, conds)
	rules = dependences(rules, r)
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

// dependences lists what holds within the rows of a relation.
func dependences(rules []dependence, r rel) []dependence {
	switch r := r.(type) {
	case *get:
		return append(rules, uniqueKeys(r)...)
	case *filter:
		rules = conditions(rules, r.conds)
	case *join:
		if r.kind == exec.JoinInner {
			rules = conditions(rules, r.on)
		} else if r.kind == exec.JoinLeft {
			rules = outerConditions(rules, r)
		}
		if r.kind == exec.JoinSemi || r.kind == exec.JoinAnti {
			return dependences(rules, r.left)
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
		rules = dependences(rules, input)
	}
	return rules
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

// uniqueKeys lists what the unique keys of a table determine: the whole row, if none of their columns may be NULL.
func uniqueKeys(g *get) (rules []dependence) {
	for _, index := range g.table.Indexes {
		if !index.Unique || index.State != catalog.StatePublic {
			continue
		}
		from, whole := idSet{}, true
		for _, part := range index.Columns {
			whole = whole && part.Col < len(g.table.Columns) && g.table.Columns[part.Col].NotNull && part.PrefixLen == 0
			from[g.id(part.Col)] = true
		}
		if whole {
			rules = append(rules, dependence{from: from, to: outputs(g)})
		}
	}
	return rules
}
