package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// What a correlated subquery becomes as the right side of a left join:
//
//   - One aggregate block: its aggregates, grouped by the inner sides of the equalities with outer columns. An outer row without a group has the
//     aggregates of an empty input: 0 for COUNT, not NULL; what the block computes of its aggregates is computed above the join, of those.
//   - EXISTS: the inner sides of the equalities, each combination once.
//   - A block without aggregates whose equalities hold a unique key, so that there is at most one row: the block's rows themselves. Without that
//     key it stays a subquery, because 1242 is the answer to a second row.
//
// Rows are grouped by what a hash join would look them up by (expr.HashKeys), so that a group is found exactly if each of its rows would have
// been. Where a comparison has no such key, the subquery stays.

// lifting is the join that takes a subquery's place.
type lifting struct {
	of    expr.Expr // the subquery's expression
	right rel
	on    []expr.Expr
	value expr.Expr // over the columns of both sides
	// column is one of the right side's: relations that yield it have the join already.
	column int
	// looksUp says that the right side can be looked up by an index for each row, as the subquery can.
	looksUp bool
	// pairs is how many rows of the right side are compared with one of the left side's.
	pairs float64
}

// liftedBlock is a subquery's block as lifter sees it: the selected values and HAVING over what its core makes.
type liftedBlock struct {
	s      *subquery
	e      expr.Expr
	rel    rel
	values []expr.Expr
	having []expr.Expr
	outer  idSet             // the outer references to columns of the outer relation
	by     map[int]expr.Expr // what replaces operands, and those outer references that are not columns there
	here   idSet             // the columns of the outer relation
	always bool              // the expression is evaluated for each outer row
}

// lifting returns the join for a subquery in an expression over a relation with the columns in here, or nil if there is none.
func (b *builder) lifting(input rel, here idSet, e expr.Expr, s *subquery, always bool) (*lifting, error) {
	simple, err := b.simplified(s)
	if err != nil {
		return nil, err
	}
	blk := &liftedBlock{s: s, e: e, rel: simple, here: here, always: always}
	if !blk.bind(here) {
		return nil, nil
	}
	for i := range s.cols {
		blk.values = append(blk.values, s.cols[i].expr())
	}
	blk.peel()
	if agg, ok := blk.rel.(*aggregate); ok && len(agg.keys) == 0 && !agg.rollup {
		return b.liftGroups(blk, agg)
	}
	if len(blk.having) > 0 {
		blk.rel, blk.having = filtered(blk.rel, blk.having), nil
	}
	switch s.plan.Kind {
	case exec.SubplanExists:
		return b.liftExists(blk)
	case exec.SubplanScalar:
		return b.liftRow(blk)
	}
	return nil, nil
}

// bind finds the expressions that stand for outer references and operands; it is false if they read no column in here, or hold a subquery.
func (blk *liftedBlock) bind(here idSet) bool {
	blk.outer, blk.by = idSet{}, map[int]expr.Expr{}
	args := blk.e.Args()
	for i, arg := range args {
		if hasSubquery(arg) {
			return false
		}
		if i >= len(blk.s.free) {
			if id := blk.s.operands[i-len(blk.s.free)]; !isColumn(arg, id) {
				blk.by[id] = arg
			}
			continue
		}
		id, _ := blk.s.free[i].ColumnIndex()
		same := isColumn(arg, id)
		if !same {
			blk.by[id] = arg
		}
		if !same || here.touches(arg) {
			blk.outer[id] = true
		}
	}
	return len(blk.outer) > 0
}

func isColumn(e expr.Expr, id int) bool {
	at, ok := e.ColumnIndex()
	return ok && at == id
}

// peel removes the nodes above the core: computed columns, which go into the values, sorting, HAVING, and DISTINCT, which changes nothing where
// there is one row or where only the existence of rows counts.
func (blk *liftedBlock) peel() {
	for {
		switch r := blk.rel.(type) {
		case *extend:
			by := map[int]expr.Expr{}
			for i := range r.cols {
				by[r.cols[i].id] = r.cols[i].e
			}
			blk.substitute(by)
			blk.rel = r.input
		case *sorted:
			blk.rel = r.input
		case *distinct:
			blk.rel = r.input
		case *filter:
			if !oneGroup(r.input) {
				return
			}
			blk.having = append(blk.having, r.conds...)
			blk.rel = r.input
		default:
			return
		}
	}
}

// oneGroup reports whether only computed columns and HAVING stand above an aggregation without keys.
func oneGroup(r rel) bool {
	switch r := r.(type) {
	case *extend:
		return oneGroup(r.input)
	case *filter:
		return oneGroup(r.input)
	case *aggregate:
		return len(r.keys) == 0 && !r.rollup
	}
	return false
}

func (blk *liftedBlock) substitute(by map[int]expr.Expr) {
	for i := range blk.values {
		blk.values[i] = substitute(blk.values[i], by)
	}
	for i := range blk.having {
		blk.having[i] = substitute(blk.having[i], by)
	}
}

// core pulls the conditions with outer references out of a relation; it is nil if that is not possible.
func (b *builder) core(blk *liftedBlock, r rel, top bool) (rel, *puller) {
	p := &puller{b: b, outer: blk.outer, inner: map[int]expr.Expr{}, existsOnly: blk.s.plan.Kind == exec.SubplanExists}
	core, ok := p.take(r, top)
	if !ok || len(p.on) == 0 || blk.outer.meets(free(core)) || p.dangles(core) || mayFail(b, core) {
		return nil, nil
	}
	if b.writes && (!quietRel(core) || slices.ContainsFunc(p.on, func(c expr.Expr) bool { return !quiet(c) })) {
		return nil, nil
	}
	return core, p
}

// quietRel reports whether the expressions of a relation raise no warnings. In a statement that writes they are errors in strict mode, and rows that
// the subquery would not have read must not raise them.
func quietRel(r rel) bool {
	return !anyRel(r, func(r rel) (loud bool) {
		own(r, func(e expr.Expr) { loud = loud || !quiet(e) })
		if agg, ok := r.(*aggregate); ok {
			loud = loud || slices.ContainsFunc(agg.aggs, func(a aggregated) bool { return !calm(a.spec) })
		}
		return loud
	})
}

// quiet reports whether e raises no warnings: it is made of comparisons of texts with texts, numbers with numbers and times with times.
func quiet(e expr.Expr) bool {
	if !e.IsCall() {
		return !hasSubquery(e)
	}
	if !e.IsCall("and", "or", "not", "is null", "is not null", "=", "<=>", "<>", "<", "<=", ">", ">=", "in", "not in", "between", "not between") {
		return false
	}
	for _, arg := range e.Args() {
		if !quiet(arg) || arg.TypeRef().IsStringType() != e.Args()[0].TypeRef().IsStringType() || arg.TypeRef().IsTemporal() != e.Args()[0].TypeRef().IsTemporal() {
			return false
		}
	}
	return true
}

// mayFail reports whether a relation runs subqueries that are errors when they find a second row: for groups that nobody asks for they must
// not run.
func mayFail(b *builder, r rel) bool {
	return anyRel(r, func(r rel) (fails bool) {
		own(r, func(e expr.Expr) {
			expr.Walk(e, func(n expr.Expr) bool {
				if s := b.subqueryOf(n); s != nil {
					fails = fails || s.plan.Kind == exec.SubplanScalar || s.plan.Kind == exec.SubplanRow
				}
				return !fails
			})
		})
		return fails
	})
}

// correlation turns conditions between a core and the relation around into keys of the core and conditions on those. ok is false if one of
// them is no equality that can be grouped by, or if there are no keys.
func (b *builder) correlation(conds []expr.Expr, core, outer idSet) (keys []computed, on []expr.Expr, ok bool, err error) {
	for _, c := range conds {
		if !core.touches(c) {
			on = append(on, c) // about the outer row alone
			continue
		}
		if !c.IsCall("=") || hasSubquery(c) {
			return nil, nil, false, nil
		}
		l, r, hashed := expr.HashKeys(b.env.Build, c)
		if hashed && core.touches(l) {
			l, r = r, l
		}
		if !hashed || core.touches(l) || outer.touches(r) || !outer.touches(l) {
			return nil, nil, false, nil
		}
		key := r
		if _, plain := r.ColumnIndex(); !plain {
			key = expr.ColumnOf(b.newID(), r.Type(), r.Coercibility(), r.String())
			b.names[keyID(key)] = r.String()
		}
		if !slices.ContainsFunc(keys, func(k computed) bool { return k.id == keyID(key) }) {
			keys = append(keys, computed{keyID(key), r})
		}
		eq, err := expr.Call(b.env.Build, "=", l, key)
		if err != nil {
			return nil, nil, false, err
		}
		if _, _, hashed := expr.HashKeys(b.env.Build, eq); !hashed {
			return nil, nil, false, nil
		}
		on = append(on, eq)
	}
	return keys, on, len(keys) > 0, nil
}

func keyID(key expr.Expr) int {
	id, _ := key.ColumnIndex()
	return id
}

// grouping is correlation for the conditions pulled out of a block's core, with the outer expressions substituted.
func (b *builder) grouping(blk *liftedBlock, core rel, p *puller) (keys []computed, on []expr.Expr, err error) {
	conds := make([]expr.Expr, len(p.on))
	for i, c := range p.on {
		conds[i] = substitute(c, p.inner)
	}
	keys, on, ok, err := b.correlation(conds, outputs(core), blk.outer)
	if !ok || err != nil {
		return nil, nil, err
	}
	for i := range on {
		if on[i] = substitute(on[i], blk.by); len(blk.by) > 0 && on[i].IsCall("=") {
			if _, _, hashed := expr.HashKeys(b.env.Build, on[i]); !hashed {
				return nil, nil, nil
			}
		}
	}
	return keys, on, nil
}

// liftGroups joins the aggregates of a block that has one group.
func (b *builder) liftGroups(blk *liftedBlock, agg *aggregate) (*lifting, error) {
	core, p := b.core(blk, agg.input, false)
	if core == nil {
		return nil, nil
	}
	keys, on, err := b.grouping(blk, core, p)
	if len(keys) == 0 || err != nil {
		return nil, err
	}
	right := &aggregate{input: core, keys: keys, aggs: agg.aggs, stream: agg.stream}
	if blk.outer.meets(free(right)) || p.dangles(right) || mayFail(b, right) {
		return nil, nil
	}
	empty := map[int]expr.Expr{}
	for i := range agg.aggs {
		spec := agg.aggs[i].spec
		if !groupable(spec) || (!blk.always || b.writes) && !calm(spec) {
			return nil, nil
		}
		v, err := spec.Empty(b.env.Build)
		if err != nil {
			return nil, err
		}
		column := aggColumn(agg.aggs[i].id, spec)
		if v.IsNull() {
			empty[agg.aggs[i].id] = column // named after the aggregate, while the block may name the element of its select list
			continue
		}
		padded, err := expr.Call(b.env.Build, "ifnull", column, expr.Const(v, spec.Type()))
		if err != nil {
			return nil, err
		}
		same, ok := expr.InPlaceOf(b.env.Build, padded, spec.Type())
		if !ok {
			return nil, nil
		}
		empty[agg.aggs[i].id] = same
	}
	blk.substitute(empty)
	value, err := b.liftedValue(blk)
	if value == nil || err != nil {
		return nil, err
	}
	return &lifting{of: blk.e, right: right, on: on, value: value, column: keys[0].id}, nil
}

// groupable reports whether an aggregate is the same for rows in any order.
func groupable(spec *expr.AggSpec) bool {
	switch spec.Name() {
	case "any_value", "json_arrayagg", "json_objectagg":
		return false
	case "group_concat":
		return len(spec.Order()) > 0
	}
	return true
}

// calm reports whether an aggregate neither fails nor warns: it reads plain columns, and numbers where it computes. GROUP_CONCAT warns when it cuts
// its result.
func calm(spec *expr.AggSpec) bool {
	plain, computes := true, true
	switch spec.Name() {
	case "count", "min", "max", "any_value":
		computes = false
	case "group_concat":
		plain = false
	}
	aggExprs(spec, func(e expr.Expr) {
		_, column := e.ColumnIndex()
		_, constant := e.ConstValue()
		plain = plain && (column || constant) && (!computes || e.TypeRef().IsNumeric())
	})
	return plain
}

// liftedValue is the expression that replaces a subquery over one group, with HAVING in it: if that drops the group, a scalar subquery is NULL, ALL
// is true and ANY is false.
func (b *builder) liftedValue(blk *liftedBlock) (value expr.Expr, err error) {
	s := blk.s
	if s.plan.Kind == exec.SubplanScalar {
		value = blk.values[0]
	} else if s.compare != nil {
		by := map[int]expr.Expr{}
		for i := range s.cols {
			column := s.cols[i].expr()
			same, ok := expr.InPlaceOf(b.env.Build, blk.values[i], column.Type())
			if !ok {
				return nil, nil
			}
			by[s.cols[i].id] = same
		}
		value = substitute(s.compare, by)
	}
	if len(blk.having) > 0 {
		having, err := expr.JoinAnd(b.env.Build, blk.having)
		if err != nil {
			return nil, err
		}
		switch s.plan.Kind {
		case exec.SubplanExists:
			value, err = expr.Call(b.env.Build, "is true", having)
		case exec.SubplanAny:
			if having, err = expr.Call(b.env.Build, "is true", having); err == nil {
				value, err = expr.Call(b.env.Build, "and", having, value)
			}
		case exec.SubplanAll:
			if having, err = expr.Call(b.env.Build, "is not true", having); err == nil {
				value, err = expr.Call(b.env.Build, "or", having, value)
			}
		default:
			value, err = expr.Call(b.env.Build, "if", having, value, expr.Literal(types.Null()))
		}
		if err != nil {
			return nil, err
		}
	}
	if value == nil {
		return nil, nil // EXISTS over one group, which is always there
	}
	return b.inPlace(blk, value)
}

// inPlace substitutes the outer expressions in a value that replaces the subquery's expression; it is nil if their types do not agree.
func (b *builder) inPlace(blk *liftedBlock, value expr.Expr) (expr.Expr, error) {
	if len(blk.by) > 0 {
		value = substitute(value, blk.by)
	}
	if out, ok := expr.InPlaceOf(b.env.Build, value, blk.e.Type()); ok {
		return out, nil
	}
	return nil, nil
}

// liftExists joins the combinations of inner values for which a row exists.
func (b *builder) liftExists(blk *liftedBlock) (*lifting, error) {
	core, p := b.core(blk, blk.rel, true)
	if core == nil {
		return nil, nil
	}
	keys, on, err := b.grouping(blk, core, p)
	if len(keys) == 0 || err != nil {
		return nil, err
	}
	found, err := expr.Call(b.env.Build, "is not null", expr.ColumnOf(keys[0].id, keys[0].e.Type(), keys[0].e.Coercibility(), keys[0].e.String()))
	if err != nil {
		return nil, err
	}
	value, err := b.inPlace(blk, found)
	if value == nil || err != nil {
		return nil, err
	}
	return &lifting{of: blk.e, right: &aggregate{input: core, keys: keys}, on: on, value: value, column: keys[0].id}, nil
}

// liftRow joins the rows of a block that finds at most one for each outer row.
func (b *builder) liftRow(blk *liftedBlock) (*lifting, error) {
	core, p := b.core(blk, blk.rel, true)
	if core == nil {
		return nil, nil
	}
	made := outputs(core)
	var on []expr.Expr
	var found expr.Expr
	fixed := idSet{}
	for _, c := range p.on {
		c = substitute(c, p.inner)
		if hasSubquery(c) {
			return nil, nil
		}
		if inner := b.fixedBy(c, made); inner != nil {
			fixed[keyID(inner)], found = true, inner
		}
		on = append(on, substitute(c, blk.by))
	}
	if found == nil || !b.oneRow(core, fixed) {
		return nil, nil
	}
	value := blk.values[0]
	if p.insideOf(value) {
		return nil, nil
	}
	if !nullWith(value, made) {
		here, err := expr.Call(b.env.Build, "is not null", found)
		if err != nil {
			return nil, err
		}
		if value, err = expr.Call(b.env.Build, "if", here, value, expr.Literal(types.Null())); err != nil {
			return nil, err
		}
	}
	value, err := b.inPlace(blk, value)
	if value == nil || err != nil {
		return nil, err
	}
	return &lifting{of: blk.e, right: core, on: on, value: value, column: keyID(found), looksUp: isGet(core)}, nil
}

// insideOf reports whether e reads a computed column that was taken out, because it holds outer references.
func (p *puller) insideOf(e expr.Expr) (inside bool) {
	expr.Columns(e, func(id int) { inside = inside || p.inner[id] != nil })
	return inside
}

// isGet reports whether a relation is a base table, perhaps with conditions.
func isGet(r rel) bool {
	if f, ok := r.(*filter); ok {
		r = f.input
	}
	_, base := r.(*get)
	return base
}
