package plan

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// bindGroupBy binds GROUP BY. MySQL prefers columns to aliases here.
func (blk *block) bindGroupBy() error {
	if err := blk.bindConstantKeys(); err != nil {
		return err
	}
	constants := blk.keys
	blk.keys, blk.keysLike, blk.keyAt = nil, nil, nil
	for _, key := range blk.sel.GroupBy {
		if at, ok := blk.constKeys[syntax.String(unparen(blk.keySyntax(key.Expr)))]; ok {
			key := constants[at]
			if _, again := blk.keyAt[key.id]; again { // its column means the first of them
				key.id = blk.b.newID()
				blk.made[key.id] = true
			}
			blk.addKey(key)
			continue
		}
		e, err := blk.groupKey(key.Expr)
		if err != nil {
			return err
		}
		if _, known := e.ConstValue(); !known && !blk.rollup && expr.IsConst(e) && blk.namedItem(key.Expr) < 0 {
			e = expr.Literal(types.Int(0)) // it makes no groups, so that nobody asks for its value, which may be an error
		}
		id, plain := e.ColumnIndex()
		if !plain || blk.rollup || !blk.owns(id) {
			id = blk.b.newID()
			blk.made[id] = true
		}
		if at, err := blk.keyOf(e); err != nil {
			return err
		} else if at >= 0 && !blk.rollup {
			continue
		}
		if i := blk.namedItem(key.Expr); i >= 0 && blk.items[i].key == 0 {
			blk.items[i].key = len(blk.keys) + 1
		}
		blk.addKey(computed{id, e})
	}
	return nil
}

// bindConstantKeys binds the group keys of WITH ROLLUP that hold no column, before anything that may hold one of them.
func (blk *block) bindConstantKeys() error {
	if !blk.rollup {
		return nil
	}
	found, bind := map[string]int{}, blk.binder(groupClause)
	for _, key := range blk.sel.GroupBy {
		e := unparen(blk.keySyntax(key.Expr))
		text := syntax.String(e)
		if _, again := found[text]; again || !constantSyntax(e) {
			continue
		}
		bound, err := bind.bind(e)
		if err != nil {
			return err
		}
		if !expr.IsConst(bound) || bound.IsCall("row") {
			continue
		}
		id := blk.b.newID()
		blk.made[id] = true
		found[text] = len(blk.keys)
		blk.addKey(computed{id, bound})
	}
	if len(found) > 0 {
		blk.constKeys = found
		blk.constants = blk.keys
	}
	return nil
}

// keySyntax is the expression that a group key stands for, by its position or its alias.
func (blk *block) keySyntax(e syntax.Expr) syntax.Expr {
	if i, ok := position(e); ok {
		if i >= 1 && i <= len(blk.items) && blk.items[i-1].syntax != nil {
			return blk.items[i-1].syntax.Expr
		}
		return e
	}
	if i, err := blk.keyItem(e); err == nil && i >= 0 && blk.items[i].syntax != nil {
		return blk.items[i].syntax.Expr
	}
	return e
}

// namedItem is the element of the select list that a group key means by position or name, -1 for none.
func (blk *block) namedItem(e syntax.Expr) int {
	if i, ok := position(e); ok {
		return i - 1
	}
	i, err := blk.keyItem(e)
	if err != nil {
		return -1 // which groupKey has told
	}
	return i
}

// keyItem is the element of the select list that a group key names, -1 for none. A column of FROM comes first, unless several have the name.
func (blk *block) keyItem(e syntax.Expr) (int, error) {
	ref, ok := unparen(e).(*syntax.ColumnRef)
	if !ok || ref.Table != "" {
		return -1, nil
	}
	at, err := blk.selected(ref.Column)
	if at < 0 || err != nil {
		return -1, err
	}
	c, ambiguous := blk.scope.find(ref, groupClause)
	if c != nil && ambiguous == nil {
		return -1, nil
	}
	return at, nil
}

// selected is the element of the select list that GROUP BY means by a name, -1 for none: the first with it that is no column, else the column with
// it, which must be one.
func (blk *block) selected(name string) (int, error) {
	found := -1
	for i, it := range blk.items {
		column, isColumn := itemColumnRef(it)
		switch {
		case it.syntax == nil:
			isColumn = true
			if !fold(it.info.Name, name) {
				continue
			}
		case it.syntax.HasAlias:
			if !fold(it.syntax.Alias, name) {
				continue
			}
		case isColumn:
			if !fold(column.Column, name) {
				continue
			}
		default:
			continue // groupAlias may find it
		}
		if !isColumn {
			return i, nil
		}
		if found < 0 {
			found = i
			continue
		}
		if err := firstError(blk.bindItem(found), blk.bindItem(i)); err != nil {
			return -1, err
		}
		if !expr.Equal(blk.items[found].bound, it.bound) {
			return -1, types.Errorf(types.ErNonUniq, name, groupClause)
		}
	}
	return found, nil
}

// itemColumnRef is the name that an element of the select list consists of.
func itemColumnRef(it *item) (*syntax.ColumnRef, bool) {
	if it.syntax == nil {
		return nil, false
	}
	ref, ok := unplus(it.syntax.Expr).(*syntax.ColumnRef)
	return ref, ok
}

// constantSyntax reports whether an expression consists of literals and functions of them.
func constantSyntax(e syntax.Expr) bool {
	constant := true
	walkSyntax(e, func(e syntax.Expr) bool {
		switch e.(type) {
		case *syntax.ColumnRef, *syntax.Subquery, *syntax.Exists, *syntax.QuantCompare, *syntax.Param, *syntax.UserVariable, *syntax.SystemVariable,
			*syntax.AggCall, *syntax.WindowCall, *syntax.Star:
			constant = false
		case *syntax.In:
			constant = constant && e.(*syntax.In).Query == nil
		}
		return constant
	})
	return constant
}

// constantKey is the column of the group key that equals e, if that key has no columns and e is evaluated on grouped rows; nil otherwise.
func (b *binder) constantKey(e syntax.Expr) expr.Expr {
	if b.scope == nil || b.scope.block == nil || b.inner || len(b.scope.block.constKeys) == 0 {
		return nil
	}
	blk := b.scope.block
	if blk.clause != fieldListClause && blk.clause != havingClause && blk.clause != orderClause || !constantSyntax(e) {
		return nil
	}
	at, ok := blk.constKeys[syntax.String(unparen(e))]
	if !ok {
		return nil
	}
	lifted := false
	walkSyntax(e, func(e syntax.Expr) bool {
		if lit, ok := e.(*syntax.Literal); ok && b.build.lifted(lit) {
			lifted = true // another text with this plan may have another constant there
		}
		return !lifted
	})
	if lifted {
		return nil
	}
	key := &blk.constants[at]
	return expr.ColumnOf(key.id, key.e.Type(), key.e.Coercibility(), key.e.String())
}

// groupKey resolves a position, a column, or an alias of the select list.
func (blk *block) groupKey(e syntax.Expr) (expr.Expr, error) {
	if containsAggregate(e) {
		for _, it := range blk.items {
			if it.syntax != nil && syntax.String(it.syntax.Expr) == syntax.String(e) {
				return nil, types.Errorf(types.ErWrongGroupField, blk.itemText(it.syntax))
			}
		}
		return nil, types.Errorf(types.ErInvalidGroupFuncUse)
	}
	if containsGrouping(e) {
		return nil, types.Errorf(types.ErWrongGroupField, "GROUPING function")
	}
	if i, ok := position(e); ok {
		if i < 1 || i > len(blk.items) {
			return nil, types.Errorf(types.ErBadField, literalText(e), groupClause)
		}
		return blk.groupItem(i - 1)
	}
	if i, err := blk.keyItem(e); err != nil {
		return nil, err
	} else if i >= 0 {
		return blk.groupItem(i)
	}
	blk.warnOfTwo(e)
	bound, err := blk.binder(groupClause).bind(e)
	if err == nil && bound.IsCall("row") {
		err = types.Errorf(types.ErOperandColumns, 1)
	}
	return bound, err
}

// warnOfTwo warns of a group key that is a column of FROM where an element of the select list that is another has the name, too.
func (blk *block) warnOfTwo(e syntax.Expr) {
	ref, ok := unparen(e).(*syntax.ColumnRef)
	if !ok || ref.Table != "" {
		return
	}
	at, err := blk.selected(ref.Column)
	if at < 0 || err != nil || blk.items[at].syntax == nil {
		return
	}
	c, ambiguous := blk.scope.find(ref, groupClause)
	if c == nil || ambiguous != nil {
		return
	}
	if named, isColumn := itemColumnRef(blk.items[at]); isColumn {
		if other, _ := blk.scope.find(named, groupClause); other == c {
			return
		}
	}
	blk.b.warn(types.ErNonUniq, types.Errorf(types.ErNonUniq, ref.Column, groupClause).Message)
}

// groupAlias is the element of the select list that an expression of GROUP BY names, nil for none.
func (blk *block) groupAlias(name string) (expr.Expr, error) {
	at, err := blk.selected(name)
	for i := 0; at < 0 && err == nil && i < len(blk.items); i++ {
		if it := blk.items[i].syntax; it != nil && fold(blk.itemText(it), name) {
			at = i
		}
	}
	if at < 0 || err != nil {
		return nil, err
	}
	if err := blk.bindItem(at); err != nil {
		return nil, err
	}
	switch it := blk.items[at]; {
	case it.windows:
		return nil, errWindowAlias(name)
	case it.sumsAround:
		return nil, types.Errorf(types.ErWrongGroupField, "???") // as MySQL calls it
	default:
		return it.bound, nil
	}
}

// groupItem groups by an element of the select list, which must hold no aggregate and no window.
func (blk *block) groupItem(i int) (expr.Expr, error) {
	if it := blk.items[i].syntax; it != nil && (containsAggregate(it.Expr) || containsWindow(it.Expr)) {
		return nil, types.Errorf(types.ErWrongGroupField, itemName(it))
	}
	if err := blk.bindItem(i); err != nil {
		return nil, err
	}
	if it := blk.items[i]; it.syntax != nil && it.sumsAround {
		return nil, types.Errorf(types.ErWrongGroupField, itemName(it.syntax))
	}
	return blk.items[i].bound, nil
}
