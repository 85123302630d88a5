package plan

import (
	"maps"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
)

// closeOver adds to known all columns that it determines within the rows of r that satisfy conds: the functional dependence of
// ONLY_FULL_GROUP_BY. Columns of outer queries are constants here.
func (b *builder) closeOver(r rel, conds []expr.Expr, known idSet) {
	d := dependences{b: b, made: idSet{}}
	d.made.addMade(r)
	d.equalities(conds)
	d.of(r, conds)
	d.close(known)
}

// dependence says that the columns of from determine those of to.
type dependence struct {
	from, to idSet
	// strict says that those of to are NULL in rows where all of from are. Such a dependence holds on the padded side of an outer join, too;
	// another may mistake a row that the join padded for one of that side.
	strict bool
}

// dependences gathers what holds within the rows of a relation, whose columns are those of made.
type dependences struct {
	b     *builder
	made  idSet
	rules []dependence
	ids   int         // how many ids have been made up, see newID
	apart bool        // in a derived table that cannot be merged
	names map[int]int // in the query of a CTE, what the columns that it makes are called in made and rules; nil outside of any
}

const (
	// firstMadeUp is above all ids of a statement.
	firstMadeUp = 1 << 40
	// copiesMax bounds the columns of the CTEs that references repeat, which grow exponentially where each refers to the one before it twice.
	// What is beyond it is not known to be determined.
	copiesMax = 1 << 14
)

// newID makes up the id of a column that no relation has.
func (d *dependences) newID() int {
	d.ids++
	d.made[firstMadeUp+d.ids] = true
	return firstMadeUp + d.ids
}

// close adds to known what the rules determine from it. It looks at each column that becomes known once.
func (d *dependences) close(known idSet) {
	var learnt []int
	learn := func(ids idSet) {
		for id := range ids {
			if !known[id] {
				known[id] = true
				learnt = append(learnt, id)
			}
		}
	}
	missing, waiting := make([]int, len(d.rules)), map[int][]int{} // columns that a rule still misses; rules that miss a column
	for i := range d.rules {
		for id := range d.rules[i].from {
			if !known[id] {
				missing[i]++
				waiting[id] = append(waiting[id], i)
			}
		}
		if missing[i] == 0 {
			learn(d.rules[i].to)
		}
	}
	for len(learnt) > 0 {
		id := learnt[len(learnt)-1]
		learnt = learnt[:len(learnt)-1]
		for _, i := range waiting[id] {
			if missing[i]--; missing[i] == 0 {
				learn(d.rules[i].to)
			}
		}
	}
}

// name is what a column is called in made and rules.
func (d *dependences) name(id int) int {
	if other, ok := d.names[id]; ok {
		return other
	}
	return id
}

// named is the set of what columns are called in made and rules.
func (d *dependences) named(ids idSet) idSet {
	if d.names == nil {
		return ids
	}
	out := make(idSet, len(ids))
	for id := range ids {
		out[d.name(id)] = true
	}
	return out
}

// add adds a rule; columns that the relation does not make are constants.
func (d *dependences) add(from, to idSet, strict bool) {
	d.addNamed(d.named(from), d.named(to), strict)
}

// addNamed is add of columns as rules call them.
func (d *dependences) addNamed(from, to idSet, strict bool) {
	own := make(idSet, len(from))
	for id := range from {
		if d.made[id] {
			own[id] = true
		}
	}
	d.rules = append(d.rules, dependence{from: own, to: to, strict: strict && len(own) > 0})
}

// equalities reads conds: x = y determines one by the other, x = constant determines x. An expression over columns does not determine what it is
// equal to, as in MySQL: 1 is equal to the texts '1' and '01'.
func (d *dependences) equalities(conds []expr.Expr) {
	for _, c := range conds {
		d.equality(c, false)
	}
}

// equality is equalities of a condition, or of its negation.
func (d *dependences) equality(c expr.Expr, negated bool) {
	args := c.Args()
	switch {
	case c.IsCall("not"):
		d.equality(args[0], !negated)
	case negated && c.IsCall("or"), !negated && c.IsCall("and"):
		for _, arg := range args {
			d.equality(arg, negated)
		}
	case negated && c.IsCall("<>"), !negated && c.IsCall("=", "<=>"),
		len(args) == 2 && (negated && c.IsCall("not in") || !negated && c.IsCall("in")):
		d.equal(args[0], args[1])
		d.equal(args[1], args[0])
	}
}

// equal adds that x has the value of y.
func (d *dependences) equal(x, y expr.Expr) {
	id, ok := expr.Unwrap(x).ColumnIndex()
	if !ok || !expr.IsDeterministic(y) {
		return
	}
	from := idSet{}
	from.addExpr(y)
	_, plain := expr.Unwrap(y).ColumnIndex()
	if plain || !slices.ContainsFunc(slices.Collect(maps.Keys(from)), func(id int) bool { return d.made[d.name(id)] }) {
		d.add(from, idSet{id: true}, plain)
	}
}

// unmerged reports whether the block whose select list is computed over r is one that MySQL cannot merge with the block around it.
func unmerged(r rel) bool {
	for {
		switch r.(type) {
		case *limited, *distinct, *aggregate, *window:
			return true
		case *filter, *sorted:
			r = r.inputs()[0]
		default:
			return false
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
	if expr.IsConst(e) && !d.apart {
		d.rules[len(d.rules)-1].strict = true // MySQL takes it for a constant on the padded side of a join, too, if it merges the derived table
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
		d.equalities(r.conds)
	case *join:
		switch {
		case r.kind == exec.JoinInner || r.kind == exec.JoinLeft && len(outputs(r.right)) > 0 && d.rejects(conds, outputs(r.right)):
			conds = slices.Concat(conds, r.on)
			d.equalities(r.on)
		case r.kind == exec.JoinLeft:
			d.outer(r, conds)
			return
		case r.kind == exec.JoinSemi || r.kind == exec.JoinAnti:
			d.of(r.left, conds)
			return
		}
	case *extend:
		apart := d.apart
		d.apart = apart || unmerged(r.input)
		for i := range r.cols {
			d.computed(r.cols[i].id, r.cols[i].e)
		}
		d.apart = apart
	case *aggregate:
		if r.rollup {
			return
		}
		d.aggregate(r)
	case *window:
		d.windows(r)
	case *limited, *distinct:
		defer func(apart bool) { d.apart = apart }(d.apart)
		d.apart = true
	case *cteRef:
		d.cte(r)
	case *setOp:
		return
	}
	for _, input := range r.inputs() {
		d.of(input, conds)
	}
}

// aggregate is about the rows of groups: the keys determine them, together with the columns further left in FROM that a LATERAL table reads. What
// holds within the rows that are grouped holds for a row of each group, which has the group's keys, and the columns that are the same in all rows
// of the group.
func (d *dependences) aggregate(r *aggregate) {
	from := idSet{}
	from.addFree(r)
	for i := range r.keys {
		from[r.keys[i].id] = true
		d.computed(r.keys[i].id, r.keys[i].e)
	}
	d.add(from, outputs(r), false)
	for i := range r.aggs {
		if r.aggs[i].same {
			d.computed(r.aggs[i].id, r.aggs[i].spec.Args()[0])
		}
	}
}

// windows is about the columns of window functions: a row of the input has one value of each. Of a LATERAL table that holds for each row further left.
func (d *dependences) windows(r *window) {
	from, to := idSet{}, idSet{}
	if flagsOf(r)&changing != 0 || len(free(r)) > 0 || !from.addRow(r.input) {
		return
	}
	for i := range r.funcs {
		to[r.funcs[i].id] = true
	}
	d.add(from, to, false)
}

// addRow adds columns that tell a row of r from all others, and reports whether it knows any.
func (s idSet) addRow(r rel) bool {
	switch r := r.(type) {
	case *get:
		s[r.rowKey()] = true
		return true
	case *join:
		return s.addRow(r.left) && (r.kind != exec.JoinInner && r.kind != exec.JoinLeft || s.addRow(r.right))
	case *aggregate:
		for i := range r.keys {
			s[r.keys[i].id] = true
		}
		return !r.rollup
	case *distinct:
		s.addOutputs(r)
		return true
	case *filter, *extend, *window, *sorted, *limited:
		return s.addRow(r.inputs()[0])
	}
	return false
}

// addFree adds the columns outside of a relation that it reads.
func (s idSet) addFree(r rel) {
	for _, ref := range free(r) {
		s.addExpr(ref)
	}
}

// cte is about the rows of a reference to a common table expression. Each has rows of its own, and so ids of its own for what its query makes.
func (d *dependences) cte(r *cteRef) {
	if r.cte.recursive != nil || r.delta || r.cte.body == nil {
		return
	}
	body := idSet{}
	body.addMade(r.cte.body)
	if d.ids+len(body) > copiesMax {
		return
	}
	around, names := d.names, make(map[int]int, len(body))
	for _, ref := range r.cte.free {
		if id, ok := ref.ColumnIndex(); ok {
			names[id] = d.name(id)
		}
	}
	for id := range body {
		names[id] = d.newID()
	}
	d.names = names
	d.of(r.cte.body, nil)
	d.names = around
	for i := range r.cte.cols {
		inside, outside := idSet{names[r.cte.cols[i].id]: true}, idSet{d.name(r.first + i): true}
		d.addNamed(inside, outside, true)
		d.addNamed(outside, inside, true)
	}
}

// outer is about a left join that pads. What holds on the right side holds but for padded rows. What ON demands holds for the rows that match; whether
// a row of the left side finds any depends on the columns of it that ON, and a LATERAL right side, reads.
func (d *dependences) outer(j *join, conds []expr.Expr) {
	d.of(j.left, conds)
	matched := slices.Concat(conds, j.on)
	right := idSet{}
	right.addMade(j.right)
	right = d.named(right)
	first, firstID := len(d.rules), firstMadeUp+d.ids+1
	d.of(j.right, matched)
	ofRight := func(id int) bool { return right[id] || id >= firstID }
	d.unlessPadded(j.right, first, ofRight)
	read := idSet{}
	read.addFree(j.right)
	if len(read) > 0 && flagsOf(j.right)&changing != 0 {
		return // it may have other rows for another row of the left side with the same columns
	}
	for _, c := range j.on {
		if !expr.IsDeterministic(c) {
			return
		}
		read.addExpr(c)
	}
	read = d.named(read)
	first = len(d.rules)
	d.equalities(j.on)
	kept := d.rules[:first]
	for _, rule := range d.rules[first:] {
		if !rule.to.within(right) {
			continue
		}
		for id := range read {
			if !ofRight(id) && d.made[id] {
				rule.from[id] = true
			}
		}
		rule.strict = rule.strict && len(rule.from) > 0
		kept = append(kept, rule)
	}
	d.rules = kept
}

// unlessPadded adapts the rules from first on, which are about the right side of a left join, to the rows that the join pads. Those that are not strict,
// or depend on the left side, need a column to be known that is NULL in padded rows alone.
func (d *dependences) unlessPadded(right rel, first int, ofRight func(id int) bool) {
	present, rules := 0, d.rules[first:]
	for i := range rules {
		alone := rules[i].strict
		for id := range rules[i].from {
			alone = alone && ofRight(id)
		}
		if alone {
			continue
		}
		if present == 0 {
			present = d.newID()
		}
		rules[i].from[present], rules[i].strict = true, false
	}
	if present == 0 {
		return
	}
	for id := range outputs(right) {
		if notNullColumn(id, right) {
			d.addNamed(idSet{d.name(id): true}, idSet{present: true}, true)
		}
	}
}

// rejectsAny reports whether one of conds is not true where the columns of set are NULL.
func rejectsAny(conds []expr.Expr, set idSet) bool {
	return len(set) > 0 && slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejectsNull(c, set) })
}

// rejects is rejectsAny that knows of IN and ANY, too, which are not joins yet: without a value on their left side they are not true.
func (d *dependences) rejects(conds []expr.Expr, set idSet) bool {
	return rejectsAny(conds, set) || slices.ContainsFunc(conds, func(c expr.Expr) bool {
		s := d.b.subqueryOf(c)
		return s != nil && s.plan.Kind == exec.SubplanAny && s.op == "=" && slices.ContainsFunc(s.left, func(e expr.Expr) bool { return nullWith(e, set) })
	})
}

func (s idSet) within(other idSet) bool {
	for id := range s {
		if !other[id] {
			return false
		}
	}
	return true
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
				(g.table.Columns[part.Col].NotNull || d.rejects(conds, idSet{id: true}))
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
