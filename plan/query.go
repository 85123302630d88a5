package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// result is a resolved query: its relation and the columns of its rows.
type result struct {
	rel  rel
	cols []column
	// from are the columns of the FROM clause that the relation still yields: those of a single block that does not group.
	from []column
	// apart says that a hint keeps the query, as a subquery in an expression, from becoming a join; joined that one asks for the join.
	apart, joined bool
}

func (r *result) ids() []int {
	out := make([]int, len(r.cols))
	for i := range r.cols {
		out[i] = r.cols[i].id
	}
	return out
}

// exprs are the references to the result's columns.
func (r *result) exprs() []expr.Expr {
	out := make([]expr.Expr, len(r.cols))
	for i := range r.cols {
		out[i] = r.cols[i].expr()
	}
	return out
}

func (r *result) infos() []sqlapi.ColumnInfo {
	out := make([]sqlapi.ColumnInfo, len(r.cols))
	for i := range r.cols {
		out[i] = r.cols[i].info
	}
	return out
}

// block is one SELECT on its way from syntax to the algebra.
type block struct {
	b     *builder
	sel   *syntax.Select
	query *syntax.Query // the whole, with ORDER BY, LIMIT and locks
	scope *scope
	// clause is the one being bound: names in subqueries mean something else in HAVING and ORDER BY.
	clause string
	digits bool // the columns have all digits of an AVG, see digits.go

	from    rel
	fromIDs idSet // the columns of from
	made    idSet // of aggregates and windows
	where   []expr.Expr
	items   []*item
	keys    []computed
	rollup  bool
	aggs    []aggregated
	// keyAt are the places of keys by the ids of their columns, aggOf the aggregates by theirs; keysLike and aggsLike find equal ones.
	keyAt              map[int]int
	aggOf              map[int]*expr.AggSpec
	keysLike, aggsLike lookalikes
	itemsLike          lookalikes // for ORDER BY, once all elements of the select list are bound
	// groupingID is the column of GROUPING()'s bits.
	groupingID int
	// anyValues are the arguments of ANY_VALUE() by the columns that stand for it until it is known whether the block groups; anyRead are the columns
	// that it reads in ORDER BY of DISTINCT then.
	anyValues map[int]expr.Expr
	anyRows   map[int]expr.Expr
	anyRead   idSet
	fixed     idSet // determined's result
	having    []expr.Expr
	order     []orderKey
	windows   []*windowGroup
	// windowed are the columns of window functions; windowsLike finds equal windows.
	windowed    idSet
	windowsLike lookalikes
	// owned are the elements of the select list that have columns of their own, by these.
	owned map[int]*item
	// constKeys are the places in constants of the group keys without columns, by their text: ROLLUP makes them NULL in the rows that it adds, so that
	// they are columns wherever they stand.
	constKeys map[string]int
	constants []computed
	starred   map[int]column // for freeze: the columns that * stands for, by their places in items
}

// item is one element of the select list after expanding *.
type item struct {
	syntax *syntax.SelectItem // nil for elements of *
	bound  expr.Expr          // nil until it is bound
	busy   bool               // being bound
	// id is the column that holds the value: one of its own unless the element is a plain column of the block.
	id   int
	own  bool
	info sqlapi.ColumnInfo
	// shown is the type without the digits that the column of an element has beyond those that MySQL shows; nil if there are none.
	shown *types.Type
	// key is, from 1, the group key that names the element by its position or its alias, 0 for none: WITH ROLLUP makes each of several equal keys
	// NULL in other rows.
	key int
	// sums and windows say that the element reads an aggregate or a window function of the block, itself or through other elements; sumsAround
	// that it reads an aggregate of the block or of one around it, which no name may stand for where aggregates are not allowed.
	sums, windows, sumsAround bool
}

// ref is a reference to the element's value.
func (it *item) ref() expr.Expr {
	if _, constant := it.bound.ConstValue(); constant {
		return it.bound
	}
	if _, plain := it.bound.ColumnIndex(); plain {
		return it.bound
	}
	if _, param := it.bound.ParamOrdinal(); param {
		return it.bound
	}
	return it.column()
}

// column is the column that holds the element's value.
func (it *item) column() expr.Expr {
	return madeColumn(it.id, it.bound, it.info.Name)
}

// isAggregate reports whether an element is an aggregate of the block and nothing around it.
func (blk *block) isAggregate(it *item) bool {
	id, column := it.bound.ColumnIndex()
	return column && blk.aggOf[id] != nil && blk.aggOf[id].Name() != "any_value"
}

// maker is QueryColumn.Maker of an element.
func (blk *block) maker(it *item) string {
	if it.bound.IsCall(MakerNullif) || it.bound.IsCall(MakerYear) {
		return it.bound.Name()
	}
	if id, column := it.bound.ColumnIndex(); column {
		for _, group := range blk.windows {
			if slices.ContainsFunc(group.funcs, func(f windowed) bool { return f.id == id }) {
				return MakerWindow
			}
		}
	}
	return ""
}

// orderKey is one element of ORDER BY: a position in the select list, or an expression of its own.
type orderKey struct {
	item  int // -1 for an expression
	bound expr.Expr
	desc  bool
}

// query resolves a query expression. around is the scope of the query outside, nil if there is none.
func (b *builder) query(q *syntax.Query, around *scope) (*result, error) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > nestingMax {
		return nil, types.Errorf(types.ErTooHighLevelOfNestingForSelect, nestingMax)
	}
	if q.Into != nil && (b.top == nil || q != b.top.into || q.IntoPlace == syntax.IntoBeforeSetOp) {
		return nil, types.Errorf(types.ErMisplacedInto)
	}
	if q.With != nil {
		saved := b.ctes
		defer func() { b.ctes = saved }()
		if err := b.with(q.With, around); err != nil {
			return nil, err
		}
	}
	bare := withoutParens(q)
	if b.top != nil && q == b.top.query {
		b.top.query = bare
	}
	q = bare
	b.lockLast(q)
	if locks := b.lastLocks[q.Body]; locks != nil {
		locked := *q
		locked.Locks = append(slices.Clip(q.Locks), locks...)
		q = &locked
	}
	switch body := q.Body.(type) {
	case *syntax.Select:
		return b.selectBlock(body, q, around)
	case *syntax.TableQuery:
		all := &syntax.Select{Items: []syntax.SelectItem{{Expr: &syntax.Star{}}},
			From: &syntax.TableRef{Schema: body.Name.Schema, Name: body.Name.Name, Pos: body.Name.Pos}}
		return b.selectBlock(all, q, around)
	}
	r, err := b.body(q.Body, around)
	if err != nil {
		return nil, err
	}
	return b.tail(r, q)
}

// withoutParens is a query without the parentheses around its body. ORDER BY and LIMIT after them become those of the query within; the parentheses
// stay if that has a LIMIT of its own and either follows.
func withoutParens(q *syntax.Query) *syntax.Query {
	for {
		inner, ok := q.Body.(*syntax.Query)
		if !ok || inner.With != nil || inner.Into != nil || len(inner.Locks) > 0 || inner.Limit != nil && (q.Limit != nil || len(q.OrderBy) > 0) {
			return q
		}
		merged := *q
		merged.Body = inner.Body
		if inner.Limit != nil {
			merged.Limit = inner.Limit
		}
		if len(q.OrderBy) == 0 {
			merged.OrderBy = inner.OrderBy
		}
		q = &merged
	}
}

// body resolves the operand of a set operation, or a parenthesised query.
func (b *builder) body(body syntax.QueryBody, around *scope) (*result, error) {
	switch body := body.(type) {
	case *syntax.Query:
		return b.query(body, around)
	case *syntax.SetOp:
		return b.setOperation(body, around)
	case *syntax.ValuesRows:
		return b.valuesRows(body, around)
	}
	return b.query(&syntax.Query{Body: body}, around)
}

// lockLast hands FOR UPDATE and FOR SHARE behind a set operation on to its last block, as MySQL does.
func (b *builder) lockLast(q *syntax.Query) {
	last := q.Body
	if _, set := last.(*syntax.SetOp); !set || len(q.Locks) == 0 {
		return
	}
	for {
		switch body := last.(type) {
		case *syntax.SetOp:
			last = body.Right
			continue
		case *syntax.Query:
			last = body.Body
			continue
		}
		break
	}
	if b.lastLocks == nil {
		b.lastLocks = map[syntax.QueryBody][]syntax.LockClause{}
	}
	b.lastLocks[last] = q.Locks
}

// tail adds ORDER BY and LIMIT of a query that is no single block; names mean its result's columns.
func (b *builder) tail(r *result, q *syntax.Query) (*result, error) {
	s := &scope{columns: make([]column, len(r.cols))}
	for i, c := range r.cols {
		c.table, c.schema = "", ""
		s.columns[i] = c
	}
	bind := &binder{env: b.env, build: b, scope: s, clause: orderClause}
	var keys []sortKey
	for n, o := range q.OrderBy {
		key := sortKey{desc: o.Order == syntax.OrderDesc}
		if i, ok := position(o.Expr); ok {
			if i < 1 || i > len(r.cols) {
				return nil, types.Errorf(types.ErBadField, literalText(o.Expr), orderClause)
			}
			key.e = s.columns[i-1].expr()
		} else {
			if ref, ok := unparen(o.Expr).(*syntax.ColumnRef); ok && ref.Table != "" {
				return nil, types.Errorf(types.ErTablenameNotAllowedHere, ref.Table, "SELECTs", "global ORDER clause")
			}
			if containsAggregate(o.Expr) {
				return nil, types.Errorf(types.ErAggregateOrderForUnion, n+1)
			}
			var err error
			if key.e, err = bind.bind(o.Expr); err != nil {
				return nil, err
			}
		}
		if !expr.IsConst(key.e) {
			keys = append(keys, key)
		}
	}
	count, offset, err := b.limit(q.Limit)
	if err != nil {
		return nil, err
	}
	out := &result{rel: r.rel, cols: r.cols}
	if len(keys) > 0 {
		out.rel = &sorted{out.rel, keys}
	}
	out.rel = b.limited(out.rel, q, count, offset)
	return out, nil
}

// limited adds the LIMIT of a query, and for the statement's own query the count of all rows that SQL_CALC_FOUND_ROWS wants.
func (b *builder) limited(r rel, q *syntax.Query, count, offset expr.Expr) rel {
	top := b.top != nil && q == b.top.query
	calc := top && b.top.first != nil && b.top.first.Options&syntax.SelectCalcFoundRows != 0
	if count == nil && !calc {
		return r
	}
	return &limited{input: r, count: count, offset: offset, top: top, calc: calc}
}

// topQuery is the query whose rows a statement is about: first is its leftmost block, which alone may have options for the whole.
type topQuery struct {
	query *syntax.Query
	first *syntax.Select
	into  *syntax.Query // whose INTO it has: itself, or its last operand
}

func topOf(q *syntax.Query) *topQuery {
	t := &topQuery{query: q, into: q}
	for at := q; t.into.Into == nil; {
		op, set := at.Body.(*syntax.SetOp)
		if !set {
			break
		}
		last, nested := op.Right.(*syntax.Query)
		if !nested {
			break
		}
		t.into, at = last, last
	}
	for body := q.Body; body != nil; {
		switch at := body.(type) {
		case *syntax.SetOp:
			body = at.Left
		case *syntax.Query:
			body = at.Body
		case *syntax.Select:
			t.first, body = at, nil
		default:
			body = nil
		}
	}
	return t
}

// placed refuses options in other blocks than the first one of the statement.
func (b *builder) placed(sel *syntax.Select) error {
	if len(b.views) > 0 || b.freeze || b.top == nil || sel == b.top.first {
		return nil
	}
	switch {
	case sel.Options&syntax.SelectCalcFoundRows != 0:
		return types.Errorf(types.ErCantUseOptionHere, "SQL_CALC_FOUND_ROWS")
	case sel.Options&syntax.SelectBufferResult != 0:
		return types.Errorf(types.ErCantUseOptionHere, "SQL_BUFFER_RESULT")
	}
	return nil
}

func (b *builder) selectBlock(sel *syntax.Select, q *syntax.Query, around *scope) (*result, error) {
	blk := &block{b: b, sel: sel, query: q, scope: &scope{parent: around}, made: idSet{}, rollup: sel.WithRollup, digits: b.digits[sel]}
	blk.scope.hints = b.readHints(sel.Hints)
	err := b.placed(sel)
	if err != nil {
		return nil, err
	}
	if blk.from, err = b.from(sel.From, blk.scope); err != nil {
		return nil, err
	}
	b.bindHints(blk.scope.hints, blk.from, blk.scope.columns)
	blk.scope.block = blk
	blk.fromIDs = outputs(blk.from)
	if blk.rollup {
		blk.groupingID = b.newID()
		blk.made[blk.groupingID] = true
	}
	for _, step := range []func() error{blk.lockTables, blk.checkWindows, blk.bindWhere, blk.expandItems, blk.bindGroupBy, blk.bindItems, blk.bindHaving, blk.bindOrder, blk.groupAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if b.freeze {
		blk.frozen()
	}
	return blk.assemble()
}

// owns reports whether the block makes a column.
func (blk *block) owns(id int) bool { return blk.fromIDs[id] || blk.made[id] }

// aggregates reports whether the clause being bound may hold aggregates.
func (blk *block) aggregates() bool {
	return blk.clause == fieldListClause || blk.clause == havingClause || blk.clause == orderClause
}

func (blk *block) binder(clause string) *binder {
	blk.clause = clause
	return &binder{env: blk.b.env, build: blk.b, scope: blk.scope, clause: clause}
}

func (blk *block) bindWhere() error {
	bind := blk.binder(whereClause)
	bind.alone, _ = unparen(blk.sel.Where).(*syntax.Binary)
	conds, err := blk.b.where(bind, blk.sel.Where)
	blk.where = conds
	return err
}

// expandItems lists the elements of the select list; those of * are bound at once.
func (blk *block) expandItems() error {
	for i := range blk.sel.Items {
		it := &blk.sel.Items[i]
		if star, ok := it.Expr.(*syntax.Star); ok && blk.b.starless[blk.sel] {
			it = idleStar
		} else if ok {
			if err := blk.expandStar(star); err != nil {
				return err
			}
			continue
		}
		if err := blk.addItem(&item{syntax: it}); err != nil {
			return err
		}
	}
	return nil
}

// itemBytes is about the memory that an element of a select list takes in a plan, with the columns of the operators above and its description for
// clients; 60,000 parameters were measured to take 1.6 KB each. Memory is accounted for itemsCounted elements at a time, so that short lists cost
// nothing.
const (
	itemBytes    = 2 << 10
	itemsCounted = 64
)

// addItem adds an element to the select list, and counts what planning it takes.
func (blk *block) addItem(it *item) error {
	blk.items = append(blk.items, it)
	if len(blk.items)%itemsCounted != 0 {
		return nil
	}
	return blk.b.env.Build.Hold(itemsCounted * itemBytes)
}

// expandStar adds the visible columns of all tables, or of one.
func (blk *block) expandStar(star *syntax.Star) error {
	matched := false
	for i := range blk.scope.columns {
		c := &blk.scope.columns[i]
		if star.Table != "" && (star.Table != c.table || star.Schema != "" && !sameSchema(star.Schema, c.schema)) {
			continue
		}
		matched = true
		if c.hidden || star.Table == "" && c.merged || star.Table != "" && c.coalesced {
			continue
		}
		if blk.b.freeze {
			if blk.starred == nil {
				blk.starred = map[int]column{}
			}
			blk.starred[len(blk.items)] = *c
		}
		it := &item{bound: c.expr(), id: c.id, info: c.info}
		if c.padded {
			blk.own(it)
		}
		if err := blk.addItem(it); err != nil {
			return err
		}
	}
	if !matched {
		if star.Table != "" {
			return types.Errorf(types.ErBadTable, star.Table)
		}
		return types.Errorf(types.ErNoTablesUsed)
	}
	return nil
}

// bindItem binds an element of the select list unless it is bound.
func (blk *block) bindItem(i int) error {
	it := blk.items[i]
	if it.bound != nil {
		return nil
	}
	if it.busy {
		return types.Errorf(types.ErIllegalReference, it.syntax.Alias, "forward reference in item list")
	}
	it.busy = true
	clause := blk.clause
	bind := blk.binder(fieldListClause)
	bind.whole = unparen(it.syntax.Expr)
	bound, err := bind.bind(it.syntax.Expr)
	blk.clause = clause
	it.busy = false
	if err != nil {
		return err
	}
	if bound.IsCall("row") {
		return types.Errorf(types.ErOperandColumns, 1)
	}
	it.bound = bound
	blk.showItem(it)
	bound = it.bound
	var plain bool
	if it.id, plain = bound.ColumnIndex(); !plain || !blk.owns(it.id) {
		blk.own(it)
	}
	it.sums, it.windows = blk.reads(bound)
	it.sumsAround = blk.sumsAround(bound)
	it.info = blk.itemInfo(it)
	return nil
}

// own gives an element of the select list a column of its own.
func (blk *block) own(it *item) {
	it.own, it.id = true, blk.b.newID()
	blk.made[it.id] = true
	if blk.owned == nil {
		blk.owned = map[int]*item{}
	}
	blk.owned[it.id] = it
}

func (blk *block) bindItems() error {
	for i := range blk.items {
		if err := blk.bindItem(i); err != nil {
			return err
		}
	}
	return nil
}

// alias finds an element of the select list by its name: the first that is no column, or else the column, of which two different ones are ambiguous.
// inner says that a subquery refers to it:
// that may use elements with aggregates in its own HAVING only, and those with window functions nowhere. Elements are bound in their order, but
// those up to one that a subquery of GROUP BY names are bound when it is met.
func (blk *block) alias(name, clause string, inner bool) (expr.Expr, error) {
	var found *item
	for i, it := range blk.items {
		if it.bound == nil {
			if !inner || !it.syntax.HasAlias || !fold(it.syntax.Alias, name) {
				continue
			}
			if blk.clause != groupClause {
				return nil, types.Errorf(types.ErIllegalReference, name, "forward reference in item list")
			}
			for j := range i + 1 {
				if err := blk.bindItem(j); err != nil {
					return nil, err
				}
			}
		}
		if !fold(it.info.Name, name) {
			continue
		}
		if id, column := plainColumn(it.bound); !column || blk.aggOf[id] != nil || blk.windowed[id] {
			found = it
			break
		}
		if found != nil && !expr.Equal(found.bound, it.bound) {
			return nil, types.Errorf(types.ErNonUniq, name, clause)
		}
		found = it
	}
	switch {
	case found == nil:
		return nil, nil
	case inner && (clause != havingClause && found.sumsAround || blk.clause == groupClause && found.sums):
		return nil, types.Errorf(types.ErIllegalReference, name, "reference to group function")
	case (inner || clause == havingClause) && found.windows:
		return nil, errWindowAlias(name)
	}
	if clause == havingClause {
		if exact, err := blk.exactAlias(found, inner); exact != nil || err != nil {
			return exact, err
		}
	}
	return found.ref(), nil
}

func errWindowAlias(name string) error {
	return types.NewError(3594, "You cannot use the alias '"+name+"' of an expression containing a window function in this context.'")
}

// reads reports whether an expression reads aggregates and window functions of the block, itself or through elements of the select list.
func (blk *block) reads(e expr.Expr) (sums, windows bool) {
	expr.Columns(e, func(id int) {
		sums, windows = sums || blk.aggOf[id] != nil, windows || blk.windowed[id]
		if it := blk.owned[id]; it != nil {
			sums, windows = sums || it.sums, windows || it.windows
		}
	})
	return sums, windows
}

// sums reports whether an expression reads an aggregate of the block.
func (blk *block) sums(e expr.Expr) bool {
	sums, _ := blk.reads(e)
	return sums
}

// sumsAround reports whether an expression reads an aggregate of the block or of one around it.
func (blk *block) sumsAround(e expr.Expr) bool {
	for s := blk.scope; s != nil; s = s.parent {
		if s.block != nil && s.block.sums(e) {
			return true
		}
	}
	return false
}

// isKey reports whether a column of FROM is a group key.
func (blk *block) isKey(id int) bool {
	for i := range blk.keys {
		if at, ok := plainColumn(blk.keys[i].e); ok && at == id {
			return true
		}
	}
	return false
}

// selects reports whether a column of FROM stands in the select list by itself.
func (blk *block) selects(id int) bool {
	for _, it := range blk.items {
		if it.bound == nil {
			continue
		}
		if at, ok := plainColumn(it.bound); ok && at == id {
			return true
		}
	}
	return false
}

// bindHaving binds HAVING.
func (blk *block) bindHaving() error {
	if blk.sel.Having == nil {
		return nil
	}
	bound, err := blk.binder(havingClause).bind(blk.sel.Having)
	if err != nil {
		return err
	}
	blk.having, err = blk.b.conjuncts(bound)
	return err
}

func (blk *block) bindOrder() error {
	bind, sums := blk.binder(orderClause), blk.isGrouped()
	for at, o := range blk.query.OrderBy {
		key := orderKey{item: -1, desc: o.Order == syntax.OrderDesc}
		if i, ok := position(o.Expr); ok {
			if i < 1 || i > len(blk.items) {
				return types.Errorf(types.ErBadField, literalText(o.Expr), orderClause)
			}
			key.item = i - 1
		} else {
			bound, err := blk.orderElement(bind, o.Expr)
			if err != nil {
				return err
			}
			if bound.IsCall("row") {
				return types.Errorf(types.ErOperandColumns, 1)
			}
			if !sums && blk.sums(bound) {
				return types.Errorf(types.ErAggregateOrderNonAggQuery, at+1)
			}
			key.bound = bound
			if key.item, err = blk.itemLike(bound); err != nil {
				return err
			}
			if expr.IsConst(bound) && key.item < 0 {
				continue // a constant orders nothing
			}
		}
		blk.order = append(blk.order, key)
	}
	if len(blk.sel.GroupBy) == 0 && blk.isGrouped() || blk.b.unordered[blk.sel] {
		blk.order = nil // there is one row, or nobody sees the order
	}
	return nil
}

// itemLike is the first element of the select list that equals an expression, or that the expression refers to; -1 for none.
func (blk *block) itemLike(e expr.Expr) (int, error) {
	if blk.itemsLike == nil {
		for i, it := range blk.items {
			blk.itemsLike.add(expr.Hash(it.bound), i)
			blk.itemsLike.add(expr.Hash(it.ref()), i)
		}
	}
	return blk.b.first(blk.itemsLike[expr.Hash(e)], func(i int) bool {
		return expr.Equal(blk.items[i].bound, e) || expr.Equal(blk.items[i].ref(), e)
	})
}

// orderElement binds an element of ORDER BY. One that is nothing but a name means an element of the select list if it can; names
// inside of expressions mean columns if they can.
func (blk *block) orderElement(bind *binder, e syntax.Expr) (expr.Expr, error) {
	if ref, ok := unparen(e).(*syntax.ColumnRef); ok && ref.Table == "" {
		if aliased, err := blk.alias(ref.Column, orderClause, false); aliased != nil || err != nil {
			return aliased, err
		}
	}
	bind.whole = unparen(e)
	return bind.bind(e)
}

// groupAll rewrites the select list, HAVING, ORDER BY and the windows over grouped rows.
func (blk *block) groupAll() (err error) {
	for i, it := range blk.items {
		if it.key > 0 && blk.rollup && expr.Equal(blk.keys[it.key-1].e, it.bound) {
			it.bound = blk.keyColumn(it.key - 1)
		} else if it.bound, err = blk.grouped(it.bound, fieldListClause, i+1); err != nil {
			return err
		}
		if id, plain := it.bound.ColumnIndex(); !plain || !blk.owns(id) {
			it.own = true // a column of a query around this one is passed on as one of its own, too
		} else if !it.own {
			it.id = id
		}
	}
	if blk.having, err = blk.groupedAll(blk.having, havingClause); err != nil {
		return err
	}
	for i := range blk.order {
		if blk.order[i].item < 0 {
			if blk.order[i].bound, err = blk.grouped(blk.order[i].bound, orderClause, i+1); err != nil {
				return err
			}
		}
	}
	return blk.groupWindows()
}

// orderIdle notes that ORDER BY of a query has no effect: that of EXISTS, and without LIMIT that of a subquery in an expression and of an operand of
// a set operation. As in MySQL the names in it must exist, and nothing else is checked.
func (b *builder) orderIdle(q *syntax.Query) {
	q = withoutParens(q)
	if sel, ok := q.Body.(*syntax.Select); ok && len(q.OrderBy) > 0 {
		if b.unordered == nil {
			b.unordered = map[*syntax.Select]bool{}
		}
		b.unordered[sel] = true
	}
}

// position reads an element of ORDER BY or GROUP BY as a position in the select list, from 1; false if it is none.
func position(e syntax.Expr) (int, bool) {
	lit, ok := e.(*syntax.Literal)
	if !ok || lit.Kind != syntax.LitInt {
		return 0, false
	}
	n, err := strconv.ParseUint(lit.Value, 10, 64)
	return int(min(n, math.MaxInt32)), err == nil // no select list is that long
}

func literalText(e syntax.Expr) string {
	if lit, ok := e.(*syntax.Literal); ok {
		return lit.Value
	}
	return ""
}

// itemName is what a select list's element is called in errors.
func itemName(it *syntax.SelectItem) string {
	if it.HasAlias {
		return it.Alias
	}
	return strings.TrimSpace(syntax.String(it.Expr))
}

// itemColumn describes a result column that is made rather than read.
func itemColumn(name string, t types.Type) sqlapi.ColumnInfo {
	return sqlapi.ColumnInfo{Name: name, Type: t}
}
