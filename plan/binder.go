package plan

import (
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// havingClause is HAVING as errors name it. Names mean something else there; see binder.selected.
const havingClause = "having clause"

// binder turns expressions of the syntax tree into typed ones over the columns of a scope. It is used for one query block.
type binder struct {
	env    *Env
	build  *builder // collects what the whole statement needs: parameters, subqueries, tables
	scope  *scope
	clause string // for error messages: "field list", "where clause", …
	agg    *aggregation
	item   int // position of the bound element of the select list, for error messages
	// values is the scope of VALUES(col) and of a row alias in ON DUPLICATE KEY UPDATE: column i of the inserted row is
	// position valuesBase+i. nil elsewhere.
	values     *scope
	valuesBase int
	// aliases are the elements of the select list, visible by name in HAVING and ORDER BY. In HAVING they come before columns that
	// are not grouped; in ORDER BY columns come first, unless the name is the whole element.
	aliases []item
}

// at returns the binder for another clause of the same block.
func (b *binder) at(clause string) *binder {
	c := *b
	c.clause = clause
	return &c
}

func (b *binder) call(name string, args ...expr.Expr) (expr.Expr, error) {
	return expr.Call(b.env.Build, name, args...)
}

// bind resolves names and types. Inside a grouped block, group keys and aggregates become columns of the grouped rows.
func (b *binder) bind(e syntax.Expr) (expr.Expr, error) {
	if ref, ok := e.(*syntax.ColumnRef); ok && ref.Table == "" && b.aliases != nil && !b.columnFirst(ref) {
		if aliased := b.alias(ref.Column); aliased != nil {
			return aliased, nil
		}
	}
	if b.agg != nil {
		if bound, done, err := b.bindGrouped(e); done || err != nil {
			return bound, err
		}
	}
	switch e := e.(type) {
	case *syntax.Paren:
		return b.bind(e.X)
	case *syntax.Literal:
		return b.literal(e)
	case *syntax.Introduced:
		return b.introduced(e)
	case *syntax.Param:
		return b.build.param(int(e.Ordinal))
	case *syntax.ColumnRef:
		return b.columnRef(e)
	case *syntax.UserVariable:
		return b.userVariable(e)
	case *syntax.SystemVariable:
		return expr.SysVar(b.env.Build, varScope(e.Scope), e.Name)
	case *syntax.Unary:
		return b.unary(e)
	case *syntax.Binary:
		return b.binary(e)
	case *syntax.IsTest:
		return b.isTest(e)
	case *syntax.In:
		return b.in(e)
	case *syntax.Between:
		return b.negate(e.Not, "between", e.X, e.Lo, e.Hi)
	case *syntax.Like:
		if e.Escape != nil {
			return b.negate(e.Not, "like", e.X, e.Pattern, e.Escape)
		}
		return b.negate(e.Not, "like", e.X, e.Pattern)
	case *syntax.Regexp:
		return b.negate(e.Not, "regexp", e.X, e.Pattern)
	case *syntax.Case:
		return b.caseExpr(e)
	case *syntax.Subquery:
		return b.scalarSubquery(e)
	case *syntax.Exists:
		return b.build.subquery(e.Query.Query, exec.SubplanExists, b.scope)
	case *syntax.Row:
		row, err := b.all(e.Elems)
		if err != nil {
			return nil, err
		}
		return b.call("row", row...)
	}
	return b.bindCall(e)
}

// columnFirst reports whether a name that is also an alias means a column: in ORDER BY any, in HAVING one that is grouped by.
func (b *binder) columnFirst(ref *syntax.ColumnRef) bool {
	i, err := b.scope.find(ref, b.clause)
	if err != nil || b.clause != havingClause {
		return err == nil
	}
	if b.agg == nil {
		return false
	}
	for _, key := range b.agg.keys {
		if at, ok := key.ColumnIndex(); ok && at == i {
			return true
		}
	}
	return false
}

// alias finds an element of the select list by its name.
func (b *binder) alias(name string) expr.Expr {
	for i := range b.aliases {
		if fold(b.aliases[i].info.Name, name) {
			return b.aliases[i].bound
		}
	}
	return nil
}

func (b *binder) all(list []syntax.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		bound, err := b.bind(e)
		if err != nil {
			return nil, err
		}
		out[i] = bound
	}
	return out, nil
}

func (b *binder) columnRef(e *syntax.ColumnRef) (expr.Expr, error) {
	if b.values != nil && e.Table != "" && len(b.values.columns) > 0 && e.Table == b.values.columns[0].table {
		i, err := b.values.find(e, b.clause)
		if err != nil {
			return nil, err
		}
		return expr.Column(b.valuesBase+i, b.values.columns[i].info.Type, displayName(e)), nil
	}
	i, err := b.scope.find(e, b.clause)
	if err != nil {
		return nil, b.build.correlated(e, err)
	}
	return b.selected(e, b.scope.column(i))
}

// selected refuses a column in HAVING that is neither in the select list nor a group key: MySQL resolves names there in these two only,
// whatever the table has. Group keys do not come here, and the arguments of aggregates have a binder without a select list.
func (b *binder) selected(e *syntax.ColumnRef, bound expr.Expr) (expr.Expr, error) {
	if b.clause != havingClause || b.aliases == nil {
		return bound, nil
	}
	for i := range b.aliases {
		if expr.Equal(b.aliases[i].bound, bound) {
			return bound, nil
		}
	}
	return nil, types.Errorf(types.ErBadField, displayName(e), b.clause)
}

var unaryNames = map[syntax.UnaryOp]string{
	syntax.OpNeg: "neg", syntax.OpBitNot: "~", syntax.OpNot: "not", syntax.OpBang: "not", syntax.OpBinary: "binary",
}

func (b *binder) unary(e *syntax.Unary) (expr.Expr, error) {
	if e.Op == syntax.OpNeg {
		if lit, ok := e.X.(*syntax.Literal); ok && !b.build.lifted(lit) {
			if v, ok, err := negativeLiteral(lit); ok || err != nil {
				return expr.Literal(v), err
			}
		}
	}
	x, err := b.bind(e.X)
	if err != nil || e.Op == syntax.OpPlus {
		return x, err
	}
	return b.call(unaryNames[e.Op], x)
}

var binaryNames = map[syntax.BinaryOp]string{
	syntax.OpAnd: "and", syntax.OpOr: "or", syntax.OpXor: "xor", syntax.OpEq: "=", syntax.OpNullSafeEq: "<=>", syntax.OpNe: "<>",
	syntax.OpLt: "<", syntax.OpLe: "<=", syntax.OpGt: ">", syntax.OpGe: ">=", syntax.OpAdd: "+", syntax.OpSub: "-",
	syntax.OpMul: "*", syntax.OpDiv: "/", syntax.OpIntDiv: "div", syntax.OpMod: "%", syntax.OpBitAnd: "&", syntax.OpBitOr: "|",
	syntax.OpBitXor: "^", syntax.OpShiftLeft: "<<", syntax.OpShiftRight: ">>", syntax.OpConcat: "concat",
	syntax.OpSoundsLike: "sounds like", syntax.OpMemberOf: "member of", syntax.OpJSONExtract: "->", syntax.OpJSONUnquoteExtract: "->>",
}

func (b *binder) binary(e *syntax.Binary) (expr.Expr, error) {
	if interval, ok := e.R.(*syntax.Interval); ok && (e.Op == syntax.OpAdd || e.Op == syntax.OpSub) {
		name := "date_add"
		if e.Op == syntax.OpSub {
			name = "date_sub"
		}
		return b.interval(name, e.L, interval)
	}
	if interval, ok := e.L.(*syntax.Interval); ok && e.Op == syntax.OpAdd {
		return b.interval("date_add", e.R, interval)
	}
	l, err := b.bind(e.L)
	if err != nil {
		return nil, err
	}
	r, err := b.bind(e.R)
	if err != nil {
		return nil, err
	}
	return b.call(binaryNames[e.Op], l, r)
}

func (b *binder) interval(name string, date syntax.Expr, interval *syntax.Interval) (expr.Expr, error) {
	d, err := b.bind(date)
	if err != nil {
		return nil, err
	}
	n, err := b.bind(interval.Value)
	if err != nil {
		return nil, err
	}
	return b.call(name, d, n, word(interval.Unit))
}

// negate binds name(args…), or its negation, which has a name of its own.
func (b *binder) negate(not bool, name string, args ...syntax.Expr) (expr.Expr, error) {
	bound, err := b.all(args)
	if err != nil {
		return nil, err
	}
	if not {
		name = "not " + name
	}
	return b.call(name, bound...)
}

var isNames = map[syntax.IsKind]string{syntax.IsNull: "null", syntax.IsTrue: "true", syntax.IsFalse: "false", syntax.IsUnknown: "unknown"}

func (b *binder) isTest(e *syntax.IsTest) (expr.Expr, error) {
	x, err := b.bind(e.X)
	if err != nil {
		return nil, err
	}
	if e.Not {
		return b.call("is not "+isNames[e.Test], x)
	}
	return b.call("is "+isNames[e.Test], x)
}

func (b *binder) in(e *syntax.In) (expr.Expr, error) {
	if e.Query != nil {
		return nil, unsupported("IN (subquery); use a list")
	}
	return b.negate(e.Not, "in", append([]syntax.Expr{e.X}, e.List...)...)
}

// caseExpr passes the branches as expr expects them: [base,] condition, value, … and the ELSE value last.
func (b *binder) caseExpr(e *syntax.Case) (expr.Expr, error) {
	name := "case"
	var args []syntax.Expr
	if e.Operand != nil {
		name = "case_value"
		args = append(args, e.Operand)
	}
	for _, when := range e.Whens {
		args = append(args, when.Cond, when.Then)
	}
	if e.Else != nil {
		args = append(args, e.Else)
	}
	bound, err := b.all(args)
	if err != nil {
		return nil, err
	}
	return b.call(name, bound...)
}

func (b *binder) userVariable(e *syntax.UserVariable) (expr.Expr, error) {
	if e.Value == nil {
		return expr.UserVar(b.env.Build, e.Name)
	}
	value, err := b.bind(e.Value)
	if err != nil {
		return nil, err
	}
	return expr.SetUserVar(b.env.Build, e.Name, value)
}

func varScope(s syntax.VarScope) expr.VarScope {
	switch s {
	case syntax.ScopeGlobal, syntax.ScopePersist, syntax.ScopePersistOnly:
		return expr.ScopeGlobal
	case syntax.ScopeSession, syntax.ScopeLocal:
		return expr.ScopeSession
	}
	return expr.ScopeAny
}

func (b *binder) scalarSubquery(e *syntax.Subquery) (expr.Expr, error) {
	return b.build.subquery(e.Query, exec.SubplanScalar, b.scope)
}

// unparen strips parentheses, which mean nothing to the binder.
func unparen(e syntax.Expr) syntax.Expr {
	for {
		paren, ok := e.(*syntax.Paren)
		if !ok {
			return e
		}
		e = paren.X
	}
}
