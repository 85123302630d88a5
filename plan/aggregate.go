package plan

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// aggregation is the grouping of one query block. Rows behind it hold the keys, then the aggregates; expressions of the select
// list, HAVING and ORDER BY are bound over those.
type aggregation struct {
	input *binder // binds over the rows before grouping
	keys  []expr.Expr
	aggs  []*expr.AggSpec
	// relaxed allows columns that are not functionally dependent on the keys (sql_mode without ONLY_FULL_GROUP_BY): any
	// row's value of the group serves.
	relaxed bool
	// determined lists positions of the input scope that the keys determine: a table's columns, once its primary key is grouped by.
	determined map[int]bool
}

// aggregateNames are the functions that the parser gives as AggCall; without OVER they aggregate.
func isAggregate(e syntax.Expr) (*syntax.AggCall, bool) {
	call, ok := e.(*syntax.AggCall)
	return call, ok && call.Over == nil
}

// bindGrouped binds e if it is an aggregate, equals a group key, or is a column; done is false for anything else, whose parts
// are then bound one by one.
func (b *binder) bindGrouped(e syntax.Expr) (bound expr.Expr, done bool, err error) {
	a := b.agg
	if call, ok := isAggregate(e); ok {
		bound, err = a.add(b, call)
		return bound, true, err
	}
	switch e.(type) {
	case *syntax.Literal, *syntax.Param, *syntax.Paren:
		return nil, false, nil
	}
	if containsAggregate(e) {
		return nil, false, nil
	}
	if call, ok := e.(*syntax.FuncCall); ok && isAnyValue(call) {
		arg, err := a.input.at(b.clause).bind(call.Args[0])
		if err != nil {
			return nil, true, err
		}
		bound, err = a.anyValue(b, arg)
		return bound, true, err
	}
	ref, isColumn := e.(*syntax.ColumnRef)
	input := a.input.at(b.clause)
	plain, err := input.bind(e)
	if err != nil {
		// Parts of a larger expression may be aliases of the select list, which its parts' own binding finds.
		return nil, isColumn, ignoredUnless(isColumn, err)
	}
	for i, key := range a.keys {
		if expr.Equal(key, plain) {
			return a.keyColumn(i), true, nil
		}
	}
	if !isColumn {
		return nil, false, nil
	}
	return a.dependent(b, ref, plain)
}

func ignoredUnless(counts bool, err error) error {
	if counts {
		return err
	}
	return nil
}

// dependent handles a bare column that is not a key: its value in any row of the group, if that is well defined or allowed.
func (a *aggregation) dependent(b *binder, ref *syntax.ColumnRef, plain expr.Expr) (expr.Expr, bool, error) {
	position, _ := plain.ColumnIndex()
	if !a.relaxed && !a.determined[position] {
		return nil, true, a.ungrouped(b, ref, position)
	}
	bound, err := a.anyValue(b, plain)
	if err == nil {
		bound, err = b.selected(ref, bound)
	}
	return bound, true, err
}

// anyValue is the value of plain in any row of the group.
func (a *aggregation) anyValue(b *binder, plain expr.Expr) (expr.Expr, error) {
	spec, err := expr.NewAgg(b.env.Build, "any_value", false, []expr.Expr{plain}, expr.AggOptions{})
	if err != nil {
		return nil, err
	}
	return a.column(spec), nil
}

// isAnyValue recognises ANY_VALUE(x), which is no aggregate: it does not group, and is x itself where nothing groups.
func isAnyValue(call *syntax.FuncCall) bool {
	return call.Schema == "" && len(call.Args) == 1 && strings.EqualFold(call.Name, "any_value")
}

// ungrouped is the error for a column that has no single value in a group.
func (a *aggregation) ungrouped(b *binder, ref *syntax.ColumnRef, position int) error {
	name := strings.ReplaceAll(a.input.scope.column(position).String(), "`", "")
	switch {
	case b.clause == havingClause:
		return types.Errorf(types.ErBadField, displayName(ref), b.clause)
	case len(a.keys) == 0:
		return types.Errorf(types.ErMixOfGroupFuncAndFields, b.item+1, name)
	case b.clause == "order clause":
		return types.Errorf(types.ErWrongFieldWithGroup, 1, "ORDER BY clause", name)
	}
	return types.Errorf(types.ErWrongFieldWithGroup, b.item+1, "SELECT list", name)
}

func (a *aggregation) keyColumn(i int) expr.Expr {
	return expr.Column(i, a.keys[i].Type(), a.keys[i].String())
}

// column returns the reference to an aggregate, adding it if no equal one is there.
func (a *aggregation) column(spec *expr.AggSpec) expr.Expr {
	at := -1
	for i, other := range a.aggs {
		if sameAggregate(other, spec) {
			at = i
			break
		}
	}
	if at < 0 {
		at = len(a.aggs)
		a.aggs = append(a.aggs, spec)
	}
	return expr.Column(len(a.keys)+at, spec.Type(), spec.Name())
}

func sameAggregate(a, b *expr.AggSpec) bool {
	if a.Name() != b.Name() || a.Distinct() != b.Distinct() || len(a.Args()) != len(b.Args()) || len(a.Order())+len(b.Order()) > 0 || a.Name() == "group_concat" {
		return false
	}
	for i := range a.Args() {
		if !expr.Equal(a.Args()[i], b.Args()[i]) {
			return false
		}
	}
	return true
}

func (a *aggregation) add(b *binder, call *syntax.AggCall) (expr.Expr, error) {
	input := a.input.at(b.clause)
	var args []expr.Expr
	if _, star := firstArg(call).(*syntax.Star); !star {
		for _, arg := range call.Args {
			if containsAggregate(arg) {
				return nil, types.Errorf(types.ErInvalidGroupFuncUse)
			}
		}
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
				return nil, types.Errorf(types.ErBadField, literalText(item.Expr), "order clause")
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
	spec, err := expr.NewAgg(b.env.Build, strings.ToLower(call.Name), call.Distinct, args, options)
	if err != nil {
		return nil, err
	}
	return a.column(spec), nil
}

func firstArg(call *syntax.AggCall) syntax.Expr {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// containsAggregate reports whether an aggregate of this block stands in e.
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

// determine lists the columns that the group keys determine: all of the table's, when they include a whole unique key without NULLs.
func (a *aggregation) determine(t *catalog.Table) {
	if t == nil {
		return
	}
	keyed := map[int]bool{}
	for _, key := range a.keys {
		if i, ok := key.ColumnIndex(); ok {
			keyed[i] = true
		}
	}
	for _, index := range t.Indexes {
		if !index.Unique || index.State != catalog.StatePublic {
			continue
		}
		whole := true
		for _, part := range index.Columns {
			whole = whole && keyed[part.Col] && t.Columns[part.Col].NotNull && part.PrefixLen == 0
		}
		if whole {
			a.determined = map[int]bool{}
			for i := range t.Columns {
				a.determined[i] = true
			}
		}
	}
}

// scope names the columns of grouped rows, for expressions that refer to them by position only.
func (a *aggregation) scope() *scope {
	s := &scope{}
	for i := range a.keys {
		s.columns = append(s.columns, column{info: sqlapi.ColumnInfo{Name: a.keys[i].String(), Type: a.keys[i].Type()}})
	}
	for _, spec := range a.aggs {
		s.columns = append(s.columns, column{info: sqlapi.ColumnInfo{Name: spec.Name(), Type: spec.Type()}})
	}
	return s
}
