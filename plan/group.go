package plan

import (
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// Grouping. All clauses of a block are bound over the columns of FROM, with aggregates as columns of their own. Once everything is bound and
// the block turns out to group, grouped rewrites each expression over grouped rows: what equals a group key becomes the key's column, and a
// column that is neither key nor aggregate must be determined by the keys.

// isAggregate recognises an aggregate that is no window function.
func isAggregate(e syntax.Expr) (*syntax.AggCall, bool) {
	call, ok := e.(*syntax.AggCall)
	return call, ok && call.Over == nil
}

// containsAggregate reports whether an aggregate stands in e, outside subqueries.
func containsAggregate(e syntax.Expr) bool {
	found := false
	walkSyntax(e, func(x syntax.Expr) bool {
		if _, ok := isAggregate(x); ok {
			found = true
		}
		return !found
	})
	return found
}

// isAnyValue recognises ANY_VALUE(x), which is no aggregate: it does not group, and is x itself where nothing groups.
func isAnyValue(call *syntax.FuncCall) bool {
	return call.Schema == "" && len(call.Args) == 1 && strings.EqualFold(call.Name, "any_value")
}

// aggregate binds an aggregate, and adds it to the block that it belongs to.
func (b *binder) aggregate(call *syntax.AggCall) (expr.Expr, error) {
	spec, err := b.aggSpec(call)
	if err != nil {
		return nil, err
	}
	ids := idSet{}
	aggExprs(spec, ids.addExpr)
	owner := b.aggregateOwner(ids)
	if owner == nil || b.onlyAround(ids, owner) {
		return nil, types.Errorf(types.ErInvalidGroupFuncUse)
	}
	if spec, err = owner.overRows(spec, ids); err != nil {
		return nil, err
	}
	return owner.aggregateOf(spec, b.whole == syntax.Expr(call))
}

// overRows replaces elements of the select list in the arguments of an aggregate, which HAVING and ORDER BY may name there, by their expressions over
// the rows that are grouped.
func (blk *block) overRows(spec *expr.AggSpec, ids idSet) (*expr.AggSpec, error) {
	named := false
	for id := range ids {
		it := blk.owned[id]
		if it == nil {
			continue
		}
		if it.sums || it.windows {
			return nil, types.Errorf(types.ErInvalidGroupFuncUse)
		}
		named = true
	}
	if !named {
		return spec, nil
	}
	row := func(e expr.Expr) expr.Expr {
		if id, column := e.ColumnIndex(); column && blk.owned[id] != nil {
			return blk.owned[id].bound
		}
		return nil
	}
	return spec.Map(func(e expr.Expr) expr.Expr { return expr.Replace(e, row) }), nil // an element may stand anywhere in an argument
}

// aggSpec binds the arguments of an aggregate.
func (b *binder) aggSpec(call *syntax.AggCall) (*expr.AggSpec, error) {
	input := *b
	input.inner = true
	var args []expr.Expr
	if _, star := firstArg(call).(*syntax.Star); !star {
		var err error
		if args, err = input.all(call.Args); err != nil {
			return nil, err
		}
	}
	options := expr.AggOptions{}
	if call.HasSeparator {
		options.Separator = []byte(call.Separator)
	}
	for _, item := range call.OrderBy {
		order := expr.AggOrder{Desc: item.Order == syntax.OrderDesc}
		if i, ok := position(item.Expr); ok { // among the arguments
			if i < 1 || i > len(args) {
				return nil, types.Errorf(types.ErBadField, literalText(item.Expr), orderClause)
			}
			order.Expr = args[i-1]
		} else {
			var err error
			if order.Expr, err = input.bind(item.Expr); err != nil {
				return nil, err
			}
		}
		options.Order = append(options.Order, order)
	}
	return expr.NewAgg(b.env.Build, strings.ToLower(call.Name), call.Distinct, args, options)
}

func firstArg(call *syntax.AggCall) syntax.Expr {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// aggregateOwner is the block whose rows an aggregate over some columns aggregates, nil if there is none. It lies between the present block and
// the innermost one that makes a column of the arguments: the outermost of these that may hold aggregates in the clause being bound. So
// COUNT(outer.x) in a subquery of the outer select list counts the outer query's rows, and in one of its WHERE the subquery's own. An
// aggregate without columns stays in the present block, if that may hold it. The arguments may hold aggregates of blocks further out only.
func (b *binder) aggregateOwner(ids idSet) *block {
	columns := 0
	for id := range ids {
		if !b.aggregated(id) {
			columns++
		}
	}
	var owner *block
	for s := b.scope; s != nil; s = s.parent {
		blk := s.block
		if blk == nil {
			continue
		}
		if blk.aggregates() {
			owner = blk
		}
		if columns == 0 && owner != nil && s == b.scope || blk.ownsColumnOf(ids) {
			break
		}
	}
	for s := b.scope; s != nil && owner != nil; s = s.parent {
		if s.block != nil && s.block.sumsOneOf(ids) {
			return nil
		}
		if s.block == owner {
			break
		}
	}
	return owner
}

// onlyAround reports, under the mode ANSI, whether the present block owns an aggregate whose columns are all of blocks around it: the standard wants
// it to be theirs, which their clauses do not allow.
func (b *binder) onlyAround(ids idSet, owner *block) bool {
	return b.env.Build.Ctx.SQLMode&types.ModeAnsi != 0 && owner == b.scope.block && len(ids) > 0 && !owner.ownsColumnOf(ids)
}

// aggregated reports whether a column is the value of an aggregate of this block or of one around it.
func (b *binder) aggregated(id int) bool {
	for s := b.scope; s != nil; s = s.parent {
		if s.block != nil && s.block.aggOf[id] != nil {
			return true
		}
	}
	return false
}

// sumsOneOf reports whether a column is the value of an aggregate of the block.
func (blk *block) sumsOneOf(ids idSet) bool {
	for id := range ids {
		if blk.aggOf[id] != nil {
			return true
		}
	}
	return false
}

// ownsColumnOf reports whether the block makes a column other than by an aggregate.
func (blk *block) ownsColumnOf(ids idSet) bool {
	for id := range ids {
		if blk.owns(id) && blk.aggOf[id] == nil {
			return true
		}
	}
	return false
}

// anyValue binds ANY_VALUE(x): x itself, unless the block turns out to group.
func (b *binder) anyValue(x syntax.Expr) (expr.Expr, error) {
	bound, err := b.bind(x)
	if err != nil {
		return nil, err
	}
	bound = expr.Rounded(bound, bound.Type())
	if b.scope.block == nil || b.inner {
		return bound, nil
	}
	switch b.clause {
	case whereClause, onClause, groupClause:
		return bound, nil // they are about rows that are not grouped
	}
	blk := b.scope.block
	bound = expr.Replace(bound, func(n expr.Expr) expr.Expr {
		if id, ok := n.ColumnIndex(); ok {
			return blk.anyValues[id]
		}
		return nil
	})
	id := b.build.newID()
	if blk.anyValues == nil {
		blk.anyValues = map[int]expr.Expr{}
	}
	blk.anyValues[id] = bound
	blk.made[id] = true
	return expr.ColumnOf(id, bound.Type(), bound.Coercibility(), "any_value("+bound.String()+")"), nil
}

// containsGrouping reports whether GROUPING() stands in e, outside subqueries.
func containsGrouping(e syntax.Expr) (found bool) {
	walkSyntax(e, func(x syntax.Expr) bool {
		call, ok := x.(*syntax.FuncCall)
		found = found || ok && strings.EqualFold(call.Name, "grouping")
		return !found
	})
	return found
}

// grouping binds GROUPING(key, …), whose arguments must be keys of GROUP BY. Without WITH ROLLUP no key is ever summed up.
func (b *binder) grouping(args []syntax.Expr) (expr.Expr, error) {
	blk := b.scope.block
	if blk == nil || len(blk.keys) == 0 || !blk.aggregates() {
		return nil, types.Errorf(types.ErInvalidGroupFuncUse)
	}
	input := *b
	input.inner = true
	sum := expr.Literal(types.Int(0))
	for i, arg := range args {
		key, err := input.groupingKey(blk, arg)
		if err != nil {
			return nil, err
		}
		if key < 0 {
			return nil, types.NewError(3602, "Argument #"+itoa(i+1)+" of GROUPING function is not in GROUP BY")
		}
		if !blk.rollup {
			continue
		}
		bit, err := b.groupingBit(blk, key, len(args)-1-i)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			sum = bit
		} else if sum, err = b.call("|", sum, bit); err != nil {
			return nil, err
		}
	}
	return expr.Cast(b.env.Build, sum, types.Type{ID: types.TypeBigInt, Length: -1, Scale: -1})
}

// groupingKey is the position of the group key that an argument of GROUPING() means, by its expression or, behind the select list, by its
// alias; -1 for none.
func (b *binder) groupingKey(blk *block, arg syntax.Expr) (int, error) {
	if literal, ok := unparen(arg).(*syntax.Literal); ok && literal.Kind == syntax.LitInt {
		return 0, types.Errorf(types.ErWrongArguments, "GROUPING function")
	}
	if containsAggregate(arg) {
		return -1, nil
	}
	if i, err := blk.keyItem(arg); err != nil {
		return 0, err
	} else if i >= 0 && b.clause != fieldListClause {
		if err := blk.bindItem(i); err != nil {
			return 0, err
		}
		return blk.keyOf(blk.items[i].bound)
	}
	bound, err := b.bind(arg)
	if err != nil {
		return 0, err
	}
	return blk.keyOf(bound)
}

// groupingBit is the bit of one key in the grouping column, moved to another place.
func (b *binder) groupingBit(blk *block, key, to int) (expr.Expr, error) {
	bits := expr.Column(blk.groupingID, types.Type{ID: types.TypeBigInt, Length: -1}, "grouping")
	moved, err := b.call(">>", bits, expr.Literal(types.Int(int64(len(blk.keys)-1-key))))
	if err != nil {
		return nil, err
	}
	if moved, err = b.call("&", moved, expr.Literal(types.Int(1))); err != nil {
		return nil, err
	}
	return b.call("<<", moved, expr.Literal(types.Int(int64(to))))
}

// addKey adds a group key.
func (blk *block) addKey(key computed) {
	blk.keysLike.add(expr.Hash(key.e), len(blk.keys))
	if blk.keyAt == nil {
		blk.keyAt = map[int]int{}
	}
	blk.keyAt[key.id] = len(blk.keys)
	blk.keys = append(blk.keys, key)
}

// keyOf is the position of the group key that equals a bound expression, or -1.
func (blk *block) keyOf(e expr.Expr) (int, error) {
	if id, column := e.ColumnIndex(); column {
		if at, made := blk.keyAt[id]; made {
			return at, nil
		}
	}
	return blk.b.first(blk.keysLike[expr.Hash(e)], func(i int) bool { return expr.Equal(blk.keys[i].e, e) })
}

// addAggregate returns the column of an aggregate, which is computed once if it stands in the block several times.
func (blk *block) addAggregate(spec *expr.AggSpec) (expr.Expr, error) {
	hash := aggHash(spec)
	at, err := blk.b.first(blk.aggsLike[hash], func(i int) bool { return sameAggregate(blk.aggs[i].spec, spec) })
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		return aggColumn(blk.aggs[at].id, spec), nil
	}
	blk.aggsLike.add(hash, len(blk.aggs))
	id := blk.newAggregate(spec)
	blk.b.names[id] = aggName(spec)
	return aggColumn(id, spec), nil
}

// newAggregate adds an aggregate and returns the id of its column.
func (blk *block) newAggregate(spec *expr.AggSpec) int {
	id := blk.b.newID()
	blk.aggs = append(blk.aggs, aggregated{id: id, spec: spec})
	if blk.aggOf == nil {
		blk.aggOf = map[int]*expr.AggSpec{}
	}
	blk.aggOf[id] = spec
	blk.made[id] = true
	return id
}

// aggHash is the same for two aggregates that sameAggregate takes for one.
func aggHash(spec *expr.AggSpec) uint64 {
	hash := uint64(len(spec.Name()))
	for _, arg := range spec.Args() {
		hash = hash*31 + expr.Hash(arg)
	}
	return hash
}

// aggColumn is the column of an aggregate.
func aggColumn(id int, spec *expr.AggSpec) expr.Expr {
	column := expr.ColumnOf(id, spec.Type(), spec.Coercibility(), aggName(spec))
	if spec.Name() != "any_value" { // which stands for a column
		column = expr.Aggregated(column)
	}
	if countsNothing[spec.Name()] {
		column = expr.NotNull(column)
	}
	return column
}

// countsNothing are the aggregates and window functions that are never NULL.
var countsNothing = map[string]bool{"count": true, "bit_and": true, "bit_or": true, "bit_xor": true, "row_number": true, "rank": true, "dense_rank": true,
	"cume_dist": true, "percent_rank": true, "ntile": true}

// aggName is an aggregate's text for EXPLAIN.
func aggName(spec *expr.AggSpec) string {
	args := make([]string, len(spec.Args()))
	for i, arg := range spec.Args() {
		args[i] = arg.String()
	}
	text := strings.Join(args, ",")
	if len(args) == 0 {
		text = "*"
	}
	if spec.Distinct() {
		text = "distinct " + text
	}
	return spec.Name() + "(" + text + ")"
}

func sameAggregate(a, b *expr.AggSpec) bool {
	if t := b.Type(); a.Name() != b.Name() || !a.TypeRef().Equal(&t) || a.Distinct() != b.Distinct() || len(a.Args()) != len(b.Args()) || len(a.Order())+len(b.Order()) > 0 || a.Name() == "group_concat" {
		return false
	}
	for i := range a.Args() {
		if !expr.Equal(a.Args()[i], b.Args()[i]) {
			return false
		}
	}
	return true
}

// isGrouped reports whether the block groups. It is known once all clauses are bound.
func (blk *block) isGrouped() bool {
	return len(blk.keys) > 0 || len(blk.aggs) > 0 || len(blk.sel.GroupBy) > 0
}

// grouped rewrites an expression over grouped rows. at is the element's position in its clause, from 1.
func (blk *block) grouped(e expr.Expr, clause string, at int) (expr.Expr, error) {
	if e == nil || !blk.isGrouped() && blk.anyValues == nil {
		return e, nil
	}
	var failed error
	out := expr.Replace(e, func(n expr.Expr) expr.Expr {
		if failed != nil {
			return n
		}
		if len(blk.keys) > 0 {
			same := func(i int) bool { return !expr.IsConst(blk.keys[i].e) && expr.Equal(blk.keys[i].e, n) }
			var key int
			if key, failed = blk.b.first(blk.keysLike[expr.Hash(n)], same); key >= 0 {
				return blk.keyColumn(key)
			}
		}
		id, ok := n.ColumnIndex()
		if !ok {
			return nil
		}
		if arg := blk.anyValues[id]; arg != nil {
			return blk.anyValueOf(n, id, arg, clause)
		}
		if !blk.fromIDs[id] || !blk.isGrouped() {
			return n
		}
		if !blk.relaxed() && !blk.determined()[id] {
			failed = blk.ungrouped(n, clause, at)
			return n
		}
		return blk.anyRow(id, n)
	})
	return out, failed
}

// anyValueOf is ANY_VALUE(arg) over grouped rows; n is the column with which it was bound. ORDER BY of DISTINCT may read what it reads.
func (blk *block) anyValueOf(n expr.Expr, id int, arg expr.Expr, clause string) expr.Expr {
	orders := clause == orderClause && blk.sel.Distinct == syntax.Distinct
	if !blk.isGrouped() {
		if orders {
			return n // distinct computes it
		}
		return arg
	}
	late := blk.sums(arg) // it reads what grouping makes
	expr.Columns(arg, func(id int) { late = late || blk.rollup && id == blk.groupingID })
	out := arg
	if late {
		out = expr.Replace(arg, func(n expr.Expr) expr.Expr {
			if id, ok := n.ColumnIndex(); ok && blk.fromIDs[id] {
				return blk.anyRow(id, n)
			}
			return nil
		})
	} else {
		out = blk.anyRow(id, arg)
	}
	if orders {
		if blk.anyRead == nil {
			blk.anyRead = idSet{}
		}
		expr.Columns(out, func(id int) { blk.anyRead[id] = true })
	}
	return out
}

func (blk *block) groupedAll(list []expr.Expr, clause string) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = blk.grouped(e, clause, i+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (blk *block) keyColumn(i int) expr.Expr {
	key := &blk.keys[i]
	if id, ok := key.e.ColumnIndex(); ok && id == key.id {
		return key.e
	}
	if blk.rollup { // it is NULL in the rows added
		return expr.ColumnOf(key.id, key.e.Type(), key.e.Coercibility(), key.e.String())
	}
	return madeColumn(key.id, key.e, key.e.String())
}

// anyRow is the value of x in any row of the group. It is computed once for each id.
func (blk *block) anyRow(id int, x expr.Expr) expr.Expr {
	if known, ok := blk.anyRows[id]; ok {
		return known
	}
	spec, err := expr.NewAgg(blk.b.env.Build, "any_value", false, []expr.Expr{x}, expr.AggOptions{})
	if err != nil {
		return x // any_value of one operand that is no row cannot fail
	}
	made := blk.newAggregate(spec)
	known := expr.ColumnOf(made, x.Type(), x.Coercibility(), x.String())
	blk.b.names[made] = x.String()
	if blk.anyRows == nil {
		blk.anyRows = map[int]expr.Expr{}
	}
	blk.anyRows[id] = known
	return known
}

// relaxed reports whether columns that the keys do not determine are allowed: they have the value of any row of the group. For a view this is
// decided when it is read.
func (blk *block) relaxed() bool {
	return blk.b.freeze || blk.b.env.Build.Ctx.SQLMode&types.ModeOnlyFullGroupBy == 0
}

// ungrouped is the error for a column that has no single value in a group.
func (blk *block) ungrouped(column expr.Expr, clause string, at int) error {
	name, where := strings.ReplaceAll(column.String(), "`", ""), "SELECT list"
	switch clause {
	case fieldListClause:
	case orderClause:
		where = "ORDER BY clause"
	case havingClause:
		where = "HAVING clause"
	default:
		where = clause
	}
	if len(blk.keys) == 0 && (where == "SELECT list" || where == clause) {
		return types.Errorf(types.ErMixOfGroupFuncAndFields, at, where, name)
	}
	return types.Errorf(types.ErWrongFieldWithGroup, at, where, name)
}

// determined is the set of FROM's columns that the group keys determine: through equalities in WHERE and ON, and through unique keys without
// NULLs, to whatever depth.
func (blk *block) determined() idSet {
	if blk.fixed != nil {
		return blk.fixed
	}
	known := idSet{}
	for i := range blk.keys {
		if id, ok := plainColumn(blk.keys[i].e); ok {
			known[id] = true
		}
	}
	if !blk.rollup { // the rows that WITH ROLLUP adds sum up groups, of which nothing is known
		blk.b.closeOver(blk.from, blk.where, known)
	}
	blk.fixed = known
	return known
}

// markSame marks the aggregates that stand for columns which are the same in all rows of a group.
func (blk *block) markSame() {
	if blk.anyRows == nil || blk.relaxed() {
		return
	}
	for i := range blk.aggs {
		if spec := blk.aggs[i].spec; spec.Name() == "any_value" {
			id, ok := spec.Args()[0].ColumnIndex()
			blk.aggs[i].same = ok && blk.determined()[id]
		}
	}
}
