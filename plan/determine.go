package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// closeOver adds to known all columns that it determines within the rows of r that satisfy conds: the functional dependence of
// ONLY_FULL_GROUP_BY. It repeats the rules until a pass adds no column. Columns of outer queries are constants here.
func (b *builder) closeOver(r rel, conds []expr.Expr, known idSet) {
	d := dependences{b: b, made: idSet{}}
	d.made.addMade(r)
	d.equalities(conds, conds)
	d.of(r, conds)
	for changed := true; changed; {
		changed = false
		for i := range d.rules {
			rule := &d.rules[i]
			if rule.done || !rule.applies(known) {
				continue
			}
			rule.done = true
			for id := range rule.to {
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
	// strict says that those of to are NULL in rows where all of from are. Such a dependence holds on the padded side of an outer join, too;
	// another may mistake a row that the join padded for one of that side.
	strict bool
	// present are sets of which one column each has to be known that no row has as NULL, unless it was padded: it tells such rows apart.
	present []idSet
}

func (d *dependence) applies(known idSet) bool {
	if !d.from.within(known) {
		return false
	}
	for _, set := range d.present {
		if !set.meetsSet(known) {
			return false
		}
	}
	return true
}

func (s idSet) meetsSet(other idSet) bool {
	for id := range s {
		if other[id] {
			return true
		}
	}
	return false
}

func (s idSet) within(other idSet) bool {
	for id := range s {
		if !other[id] {
			return false
		}
	}
	return true
}

// dependences gathers what holds within the rows of a relation, whose columns are those of made.
type dependences struct {
	b     *builder
	made  idSet
	rules []dependence
	// copies is how many references to CTEs have been met: each has rows of its own, and so ids for what its query makes.
	copies int
}

// copyWidth is above all ids of a statement.
const copyWidth = 1 << 40

// add adds a rule; columns that the relation does not make are constants.
func (d *dependences) add(from, to idSet, strict bool) {
	own := idSet{}
	for id := range from {
		if d.made[id] {
			own[id] = true
		}
	}
	d.rules = append(d.rules, dependence{from: own, to: to, strict: strict && len(own) > 0})
}

// equalities reads conds: x = y determines one by the other, x = constant determines x. all are the conditions that hold beside them.
func (d *dependences) equalities(conds, all []expr.Expr) {
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
			_, plain := expr.Unwrap(other).ColumnIndex()
			d.add(from, idSet{id: true}, plain || rejectsAny(all, from))
		}
	}
}

// computed is a column that an expression makes.
func (d *dependences) computed(id int, e expr.Expr) {
	if !expr.IsDeterministic(e) {
		return
	}
	from := idSet{}
	from.addExpr(e)
	d.add(from, idSet{id: true}, nullWith(e, from))
	if expr.IsConst(e) {
		d.rules[len(d.rules)-1].strict = true // MySQL takes it for a constant on the padded side of a join, too
	}
	if same, ok := e.ColumnIndex(); ok {
		d.add(idSet{id: true}, idSet{same: true}, true)
	}
}

// of lists what holds within the rows of a relation that satisfy conds.
func (d *dependences) of(r rel, conds []expr.Expr) {
	switch r := r.(type) {
	case *get:
		d.uniqueKeys(r, conds)
		d.generated(r)
		return
	case *filter:
		conds = slices.Concat(conds, r.conds)
		d.equalities(r.conds, conds)
	case *join:
		switch {
		case r.kind == exec.JoinInner || r.kind == exec.JoinLeft && rejectsAny(conds, outputs(r.right)):
			conds = slices.Concat(conds, r.on)
			d.equalities(r.on, conds)
		case r.kind == exec.JoinLeft:
			d.outer(r, conds)
			return
		case r.kind == exec.JoinSemi || r.kind == exec.JoinAnti:
			d.of(r.left, conds)
			return
		}
	case *extend:
		for i := range r.cols {
			d.computed(r.cols[i].id, r.cols[i].e)
		}
	case *aggregate:
		if r.rollup {
			return
		}
		d.aggregate(r)
	case *cteRef:
		d.cte(r)
	case *setOp:
		return
	}
	for _, input := range r.inputs() {
		d.of(input, conds)
	}
}

// aggregate is about the rows of groups: the keys determine them. What holds within the rows that are grouped holds for a row of each group,
// which has the group's keys, and of other columns what determined says of all rows of the group.
func (d *dependences) aggregate(r *aggregate) {
	from := idSet{}
	for i := range r.keys {
		from[r.keys[i].id] = true
		d.computed(r.keys[i].id, r.keys[i].e)
	}
	d.add(from, outputs(r), false)
	var known idSet
	for i := range r.aggs {
		id, ok := 0, false
		if spec := r.aggs[i].spec; spec.Name() == "any_value" && len(spec.Args()) == 1 {
			id, ok = spec.Args()[0].ColumnIndex()
		}
		if !ok {
			continue
		}
		if known == nil {
			known = idSet{}
			for j := range r.keys {
				if key, plain := plainColumn(r.keys[j].e); plain {
					known[key] = true
				}
			}
			d.b.closeOver(r.input, nil, known)
		}
		if known[id] {
			d.computed(r.aggs[i].id, r.aggs[i].spec.Args()[0])
		}
	}
}

// cte is about the rows of a reference to a common table expression.
func (d *dependences) cte(r *cteRef) {
	if r.cte.recursive != nil || r.delta || r.cte.body == nil {
		return
	}
	sub := dependences{b: d.b, made: idSet{}}
	sub.made.addMade(r.cte.body)
	sub.of(r.cte.body, nil)
	d.copies++
	offset := d.copies * copyWidth
	moved := func(set idSet) idSet {
		out := make(idSet, len(set))
		for id := range set {
			out[id+offset] = true
		}
		return out
	}
	for id := range sub.made {
		d.made[id+offset] = true
	}
	for _, rule := range sub.rules {
		rule.from, rule.to = moved(rule.from), moved(rule.to)
		for i := range rule.present {
			rule.present[i] = moved(rule.present[i])
		}
		d.rules = append(d.rules, rule)
	}
	for i := range r.cte.cols {
		inside, outside := idSet{r.cte.cols[i].id + offset: true}, idSet{r.first + i: true}
		d.add(inside, outside, true)
		d.add(outside, inside, true)
	}
}

// outer is about a left join that pads. What holds on the right side holds but for padded rows. What ON demands holds for the rows that match; whether
// a row of the left side finds any depends on the columns of it that ON reads.
func (d *dependences) outer(j *join, conds []expr.Expr) {
	d.of(j.left, conds)
	first := len(d.rules)
	matched := slices.Concat(conds, j.on)
	d.of(j.right, matched)
	var present idSet
	for i := first; i < len(d.rules); i++ {
		if d.rules[i].strict {
			continue
		}
		if present == nil {
			present = idSet{}
			for id := range outputs(j.right) {
				if notNullColumn(id, j.right) {
					present[id] = true
				}
			}
		}
		d.rules[i].present = append(d.rules[i].present, present)
	}
	read := idSet{}
	for _, c := range j.on {
		if !expr.IsDeterministic(c) {
			return
		}
		read.addExpr(c)
	}
	right := idSet{}
	right.addMade(j.right)
	first = len(d.rules)
	d.equalities(j.on, matched)
	kept := d.rules[:first]
	for _, rule := range d.rules[first:] {
		if !rule.to.within(right) {
			continue
		}
		for id := range read {
			if !right[id] && d.made[id] {
				rule.from[id] = true
			}
		}
		rule.strict = rule.strict && len(rule.from) > 0
		kept = append(kept, rule)
	}
	d.rules = kept
}

// rejectsAny reports whether one of conds is not true where the columns of set are NULL.
func rejectsAny(conds []expr.Expr, set idSet) bool {
	return len(set) > 0 && slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejectsNull(c, set) })
}

// uniqueKeys lists what the unique keys of a table determine: the whole row, if none of their columns is NULL in rows that satisfy conds.
func (d *dependences) uniqueKeys(g *get, conds []expr.Expr) {
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
			d.add(from, outputs(g), true)
		}
	}
}

// generated lists what the expressions of a table's generated columns determine. One that cannot be bound has none.
func (d *dependences) generated(g *get) {
	for i := range g.table.Columns {
		c := g.table.Columns[i]
		if c.Generated == nil {
			continue
		}
		if e, err := d.b.generated(g.table, c, g.first); err == nil {
			d.computed(g.id(i), e)
		}
	}
}
