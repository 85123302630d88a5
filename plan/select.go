package plan

import (
	"github.com/pandodb/pando/catalog"
	"strings"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// assemble turns the bound block into a relation: filter, group, filter groups, compute windows, drop duplicates, order, limit. Elements of the
// select list that only the result needs are computed last.
func (blk *block) assemble() (*result, error) {
	r := blk.from
	if len(blk.where) > 0 {
		r = &filter{r, blk.where}
	}
	if blk.isGrouped() {
		blk.markSame()
		agg := &aggregate{input: r, keys: blk.keys, aggs: blk.aggs}
		agg.stream = blk.scope.hints.has("STREAM_AGG")
		if blk.rollup && len(blk.keys) > 0 {
			agg.rollup, agg.grouping = true, blk.groupingID
		}
		r = agg
	}
	done := idSet{}
	if len(blk.having) > 0 {
		needed := idSet{}
		for _, c := range blk.having {
			needed.addExpr(c)
		}
		r = &filter{blk.compute(r, done, needed), blk.having}
	}
	r = blk.addWindows(blk.compute(r, done, blk.windowInputs()))
	count, offset, err := blk.b.limit(blk.query.Limit)
	if err != nil {
		return nil, err
	}
	if blk.rollup && len(blk.keys) > 0 && len(blk.order) == 0 {
		r = &sorted{r, blk.rollupOrder()}
	}
	if blk.sel.Distinct == syntax.Distinct {
		if r, err = blk.distinct(blk.compute(r, done, nil)); err != nil {
			return nil, err
		}
	}
	if len(blk.order) > 0 {
		needed := idSet{}
		keys := make([]sortKey, len(blk.order))
		for i, o := range blk.order {
			keys[i] = sortKey{o.bound, o.desc}
			if o.item >= 0 {
				it := blk.items[o.item]
				keys[i].e = it.column()
				if !it.own {
					keys[i].e = it.bound
				}
			}
			needed.addExpr(keys[i].e)
		}
		r = &sorted{blk.compute(r, done, needed), keys}
	}
	r = blk.b.limited(r, blk.query, count, offset)
	out := &result{rel: blk.compute(r, done, nil), apart: blk.scope.hints.keepsSubquery(), joined: blk.scope.hints.joinsSubquery()}
	if !blk.isGrouped() && blk.sel.Distinct != syntax.Distinct {
		out.from = blk.scope.columns
	}
	padded := blk.rollupKeys()
	for _, it := range blk.items {
		it.info.NotNull = !it.bound.MayBeNull() && !padded.touches(it.bound)
		out.cols = append(out.cols, column{id: it.id, table: it.info.Table, schema: it.info.Schema, info: it.info, coer: it.bound.Coercibility(), aggregate: blk.isAggregate(it), wide: expr.Wide(it.bound), maker: blk.maker(it), shown: it.shown})
	}
	return out, nil
}

// windowInputs are the columns that the block's windows read.
func (blk *block) windowInputs() idSet {
	inputs := idSet{}
	for _, g := range blk.windows {
		for _, e := range g.partition {
			inputs.addExpr(e)
		}
		for _, key := range g.order {
			inputs.addExpr(key.e)
		}
		for _, f := range g.funcs {
			for _, e := range f.spec.Args {
				inputs.addExpr(e)
			}
			if f.spec.Agg != nil {
				for _, e := range f.spec.Agg.Args() {
					inputs.addExpr(e)
				}
			}
		}
	}
	return inputs
}

// rollupKeys are the columns that are NULL in the rows that WITH ROLLUP adds.
func (blk *block) rollupKeys() idSet {
	keys := idSet{}
	if blk.rollup {
		for i := range blk.keys {
			keys[blk.keys[i].id] = true
		}
	}
	return keys
}

// compute adds those elements of the select list to r that are needed, or all if needed is nil, unless they are done. An element whose subquery
// refers to an earlier one is computed above that.
func (blk *block) compute(r rel, done, needed idSet) rel {
	if needed != nil {
		for i := len(blk.items) - 1; i >= 0; i-- {
			if it := blk.items[i]; it.own && needed[it.id] {
				needed.addExpr(it.bound)
			}
		}
	}
	var cols []computed
	layer := idSet{}
	for _, it := range blk.items {
		if !it.own || done[it.id] || needed != nil && !needed[it.id] {
			continue
		}
		above := false
		expr.Columns(it.bound, func(id int) { above = above || layer[id] })
		if above {
			r, cols, layer = &extend{r, cols}, nil, idSet{}
		}
		done[it.id], layer[it.id] = true, true
		cols = append(cols, computed{it.id, it.bound})
	}
	if len(cols) == 0 {
		return r
	}
	return &extend{r, cols}
}

// distinct drops duplicates of the select list. ORDER BY may read the select list and window functions only; without ONLY_FULL_GROUP_BY other columns
// have the value of any of the duplicates.
func (blk *block) distinct(r rel) (rel, error) {
	ids := make([]int, 0, len(blk.items))
	listed := idSet{}
	for _, it := range blk.items {
		if !listed[it.id] {
			listed[it.id] = true
			ids = append(ids, it.id)
		}
	}
	var extra []aggregated
	swap := map[int]expr.Expr{}
	for i := range blk.order {
		o := &blk.order[i]
		if o.item >= 0 || listed.covers(o.bound) {
			continue
		}
		if !blk.relaxed() && !blk.listedOrWindows(o.bound, listed) {
			return nil, blk.notSelected(i, o.bound, listed)
		}
		o.bound = expr.Replace(o.bound, func(n expr.Expr) expr.Expr {
			id, ok := n.ColumnIndex()
			if !ok || listed[id] {
				return nil
			}
			if swap[id] == nil {
				arg := n
				if of := blk.anyValues[id]; of != nil {
					arg = of
				}
				spec, err := expr.NewAgg(blk.b.env.Build, "any_value", false, []expr.Expr{arg}, expr.AggOptions{})
				if err != nil {
					return n // any_value of a column cannot fail
				}
				made := blk.b.newID()
				extra = append(extra, aggregated{id: made, spec: spec})
				swap[id] = expr.ColumnOf(made, n.Type(), n.Coercibility(), n.String())
			}
			return swap[id]
		})
	}
	if len(extra) == 0 {
		return &distinct{r, ids}, nil
	}
	agg := &aggregate{input: r, aggs: extra}
	for _, it := range blk.items {
		if listed[it.id] {
			listed[it.id] = false
			agg.keys = append(agg.keys, computed{it.id, it.column()})
		}
	}
	return agg, nil
}

// listedOrWindows reports whether an expression reads the select list, window functions and ANY_VALUE only: MySQL lets the latter order distinct
// rows.
func (blk *block) listedOrWindows(e expr.Expr, listed idSet) bool {
	all := true
	expr.Columns(e, func(id int) {
		all = all && (listed[id] || blk.windowed[id] || blk.anyValues[id] != nil || blk.anyRead[id])
	})
	return all
}

// notSelected refuses to order distinct rows by what is not part of them.
func (blk *block) notSelected(i int, e expr.Expr, listed idSet) error {
	name := e.String()
	expr.Walk(e, func(n expr.Expr) bool {
		if id, ok := n.ColumnIndex(); ok && !listed[id] {
			name = n.String()
		}
		return true
	})
	return types.Errorf(types.ErFieldInOrderNotSelect, i+1, "ORDER BY clause", strings.ReplaceAll(name, "`", ""), "DISTINCT")
}

// rollupOrder sorts super-aggregate rows behind the rows that they sum up, as MySQL's own way of grouping yields them.
func (blk *block) rollupOrder() []sortKey {
	keys := make([]sortKey, 0, 2*len(blk.keys))
	bind := &binder{env: blk.b.env, build: blk.b}
	for i := range blk.keys {
		if bit, err := bind.groupingBit(blk, i, 0); err == nil {
			keys = append(keys, sortKey{e: bit})
		}
		keys = append(keys, sortKey{e: blk.keyColumn(i)})
	}
	return keys
}

// limit binds LIMIT; both results are nil without one.
func (b *builder) limit(l *syntax.Limit) (count, offset expr.Expr, err error) {
	if l == nil {
		return nil, nil, nil
	}
	bind := &binder{env: b.env, build: b, scope: &scope{}, clause: "limit clause"}
	one := func(e syntax.Expr) (expr.Expr, error) {
		if e == nil {
			return nil, nil
		}
		bound, err := bind.bind(e)
		if err != nil {
			return nil, err
		}
		if ordinal, param := bound.ParamOrdinal(); param {
			b.plan.LimitParams = append(b.plan.LimitParams, ordinal)
			if e == l.Offset && bound.Type().ID == types.TypeNull && !b.env.UnknownParams {
				return nil, nil // it skips no rows; plans are kept by the kinds of the parameters
			}
		}
		if t := bound.Type(); !t.IsInteger() {
			// Some clients send every number as a double.
			return expr.Cast(b.env.Build, bound, types.Type{ID: types.TypeBigInt, Length: -1, Scale: -1})
		}
		return bound, nil
	}
	if count, err = one(l.Count); err != nil {
		return nil, nil, err
	}
	offset, err = one(l.Offset)
	return count, offset, err
}

// lockTables marks the tables of the block that FOR UPDATE and FOR SHARE lock.
func (blk *block) lockTables() error {
	for _, clause := range blk.query.Locks {
		spec := &lockSpec{mode: exec.LockExclusive, wait: exec.WaitDefault}
		if clause.Kind != syntax.LockForUpdate {
			spec.mode = exec.LockShared
		}
		switch clause.Wait {
		case syntax.LockNoWait:
			spec.wait = exec.WaitNone
		case syntax.LockSkipLocked:
			spec.wait = exec.WaitSkip
		}
		if err := blk.b.lockGets(blk.from, clause.Of, spec); err != nil {
			return err
		}
	}
	return nil
}

// lockGets locks the base tables of a FROM clause, or the named ones. The gets are new, so that they may still be changed.
func (b *builder) lockGets(r rel, of []syntax.ObjectName, spec *lockSpec) error {
	found := make([]bool, len(of))
	var walk func(r rel) error
	walk = func(r rel) error {
		if g, ok := r.(*get); ok {
			named := len(of) == 0
			for i, name := range of {
				if name.Name == g.alias && (name.Schema == "" || name.Schema == g.table.Schema) {
					named, found[i] = true, true
				}
			}
			if !named {
				return nil
			}
			if g.lock != nil && len(of) > 0 {
				return types.NewError(3569, "Table "+g.alias+" appears in multiple locking clauses.")
			}
			g.lock = spec
			if spec.mode == exec.LockShared {
				b.useTarget(g, catalog.UseRead) // FOR SHARE needs the rights of a writer, but the use of the table is that of a reader
				return nil
			}
			b.useTarget(g, catalog.UseWrite)
			return b.mayChange(g)
		}
		if j, ok := r.(*join); ok {
			if err := walk(j.left); err != nil {
				return err
			}
			return walk(j.right)
		}
		if f, ok := r.(*filter); ok {
			return walk(f.input)
		}
		return nil
	}
	if err := walk(r); err != nil {
		return err
	}
	for i, ok := range found {
		if !ok {
			return types.NewError(3568, "Unresolved table name `"+of[i].Name+"` in locking clause.")
		}
	}
	return nil
}

// itemInfo describes a result column: a plain column keeps its origin, anything else has a type and a name only.
func (blk *block) itemInfo(it *item) sqlapi.ColumnInfo {
	info := sqlapi.ColumnInfo{Type: it.bound.Type()}
	if ref, ok := unplus(it.syntax.Expr).(*syntax.ColumnRef); ok {
		name := ref.Column
		if c := blk.lookup(ref); c != nil {
			info = c.info
			info.Type = it.bound.Type()
			if c.named {
				name = c.info.Name
			}
		}
		info.Name = name
	} else {
		info.Name = firstChars(blk.itemText(it.syntax), madeNameCharsMax)
	}
	if it.syntax.HasAlias {
		info.Name = it.syntax.Alias
	}
	return info
}

// lookup finds the column of this block, or of one around it, that a name means; nil for none.
func (blk *block) lookup(ref *syntax.ColumnRef) *column {
	for s := blk.scope; s != nil; s = s.parent {
		if c, err := s.find(ref, fieldListClause); c != nil || err != nil {
			return c
		}
	}
	return nil
}

// madeNameCharsMax is MySQL's limit on an alias, to which it also cuts the names that it makes of expressions.
const madeNameCharsMax = 256

// firstChars is the text up to its nth character.
func firstChars(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// constName is the name that NAME_CONST gives to its column.
func constName(e *syntax.FuncCall) (string, bool) {
	if !strings.EqualFold(e.Name, "name_const") || len(e.Args) != 2 {
		return "", false
	}
	lit, ok := e.Args[0].(*syntax.Literal)
	if !ok {
		return "", false
	}
	return lit.Value, true
}

// itemText is the text of an element as the client wrote it, which MySQL uses as the column's name. A string's name is its value
// without what precedes its first visible character; numbers and NULL have names of their own, too, so that parentheses and a
// plus sign around them are no part of it.
func (blk *block) itemText(it *syntax.SelectItem) string {
	return blk.b.env.inUTF8(blk.writtenText(it))
}

// writtenText is itemText in the character set of the statement.
func (blk *block) writtenText(it *syntax.SelectItem) string {
	switch e := unplus(it.Expr).(type) {
	case *syntax.FuncCall:
		if name, ok := constName(e); ok {
			return name
		}
	case *syntax.Literal:
		switch e.Kind {
		case syntax.LitString, syntax.LitNString:
			return syntax.Visible(e.Name())
		case syntax.LitInt, syntax.LitDecimal, syntax.LitFloat:
			return e.Value
		case syntax.LitTrue:
			return "TRUE"
		case syntax.LitFalse:
			return "FALSE"
		case syntax.LitNull:
			return "NULL"
		}
	case *syntax.Introduced: // _utf8mb4'x', but not _utf8mb4 0x41
		if e.Lit.Kind == syntax.LitString {
			return syntax.Visible(e.Lit.Name())
		}
	}
	if int(it.End) <= len(blk.b.env.Text) && it.Start < it.End {
		return strings.TrimSpace(syntax.WithoutVersions(blk.b.env.Text[it.Start:it.End], blk.b.env.textOptions()))
	}
	return "?column?"
}

// unplus strips parentheses and plus signs.
func unplus(e syntax.Expr) syntax.Expr {
	for {
		e = unparen(e)
		plus, ok := e.(*syntax.Unary)
		if !ok || plus.Op != syntax.OpPlus {
			return e
		}
		e = plus.X
	}
}
