package plan

import (
	"slices"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// The clauses as errors name them. Names mean different things in some of them.
const (
	fieldListClause = "field list"
	whereClause     = "where clause"
	groupClause     = "group statement"
	havingClause    = "having clause"
	orderClause     = "order clause"
	onClause        = "on clause"
	windowClause    = "PARTITION BY or ORDER BY clause of window" // with the window's name behind it
)

// binder turns expressions of the syntax tree into typed ones over column ids. Binding has no side effect but the ids that it takes, and the
// aggregates and windows that it adds to the query block.
type binder struct {
	env    *Env
	build  *builder // collects what the whole statement needs: parameters, tables, column ids
	scope  *scope
	clause string // "field list", "where clause", …
	// place is what errors say instead of the clause; empty says the clause.
	place string
	// inner is set within the arguments of an aggregate or a window function, where names mean columns only.
	inner bool
	// alone is the condition of a query if it is no more than one comparison; nil elsewhere.
	alone *syntax.Binary
	// whole is what is being bound, if it is an element of the select list or of ORDER BY; nil elsewhere.
	whole syntax.Expr
}

// at returns the binder for another clause of the same block.
func (b *binder) at(clause string) *binder {
	c := *b
	c.clause, c.place = clause, ""
	return &c
}

func (b *binder) call(name string, args ...expr.Expr) (expr.Expr, error) {
	if b.build != nil && b.build.env.UnknownParams {
		b.describeCompared(name, args)
	}
	return expr.Call(b.env.Build, name, args...)
}

// describeCompared gives placeholders that are compared with a column the column's type.
func (b *binder) describeCompared(name string, args []expr.Expr) {
	switch name {
	case "=", "<=>", "<>", "<", "<=", ">", ">=", "in", "not in", "between", "not between":
	default:
		return
	}
	for _, column := range args {
		if _, is := column.ColumnIndex(); is {
			for _, e := range args {
				b.build.describeParam(e, column.Type())
			}
			return
		}
	}
}

// varies reports whether an expression is a variable or a parameter, which no view may have.
func varies(e syntax.Expr) bool {
	switch e.(type) {
	case *syntax.Param, *syntax.UserVariable, *syntax.SystemVariable:
		return true
	}
	return false
}

// bind resolves names and types.
func (b *binder) bind(e syntax.Expr) (expr.Expr, error) {
	if err := b.build.step(); err != nil {
		return nil, err
	}
	if key := b.constantKey(e); key != nil {
		return key, nil
	}
	if b.build.freeze && varies(e) {
		return nil, errViewVariable
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
		return b.systemVariable(e)
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
		return b.scalarSubquery(e.Query)
	case *syntax.Exists:
		return b.exists(e.Query.Query)
	case *syntax.QuantCompare:
		return b.quantified(e)
	case *syntax.Row:
		row, err := b.all(e.Elems)
		if err != nil {
			return nil, err
		}
		return b.call("row", row...)
	case *syntax.AggCall:
		if e.Over != nil {
			return b.windowAggregate(e)
		}
		return b.aggregate(e)
	case *syntax.WindowCall:
		return b.windowCall(e)
	}
	return b.bindCall(e)
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

// columnRef finds the column, or the element of a select list, that a name means: in the block itself, then in those around it.
func (b *binder) columnRef(e *syntax.ColumnRef) (expr.Expr, error) {
	for s := b.scope; s != nil; s = s.parent {
		found, err := b.inScope(s, e)
		if found != nil || err != nil {
			return found, err
		}
	}
	if s := b.scope; e.Table != "" && s != nil && s.parent == nil && s.block != nil && len(s.columns) == 0 {
		return nil, types.Errorf(types.ErUnknownTable, e.Table, b.shown())
	}
	return nil, unknownColumn(e, b.shown())
}

// shown is the place of a name as errors show it.
func (b *binder) shown() string {
	if b.place != "" {
		return b.place
	}
	return b.clause
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// inScope looks a name up in one block. In HAVING an alias wins over a column that is not grouped by, and columns must be in the select list
// or grouped by; elsewhere columns win, and only blocks around the present one, and ORDER BY, see aliases at all.
func (b *binder) inScope(s *scope, e *syntax.ColumnRef) (expr.Expr, error) {
	blk := s.block
	having := blk != nil && blk.clause == havingClause && (s != b.scope || b.clause == havingClause) && (!b.inner || s != b.scope)
	c, err := s.find(e, b.shown())
	if err != nil {
		if having && e.Table == "" {
			if aliased, _ := blk.alias(e.Column, b.clause, s != b.scope); aliased != nil {
				return aliased, nil
			}
		}
		return nil, err
	}
	b.build.noteColumn(e, c)
	if blk == nil || b.inner && s == b.scope {
		if c == nil && blk != nil && e.Table == "" && (b.clause == havingClause || b.clause == orderClause) {
			return blk.alias(e.Column, b.clause, false)
		}
		return exprOf(c), nil
	}
	if having && c != nil && blk.isKey(c.id) {
		return c.expr(), nil
	}
	if e.Table == "" && c == nil && s == b.scope && b.clause == groupClause {
		return blk.groupAlias(e.Column)
	}
	if e.Table == "" && (having || c == nil && (s != b.scope || b.clause == orderClause)) {
		aliased, err := blk.alias(e.Column, b.clause, s != b.scope)
		if aliased != nil || err != nil {
			return aliased, err
		}
	}
	if having && c != nil && s == b.scope && !blk.selects(c.id) {
		return nil, nil // the name means a column of a block around this one
	}
	return exprOf(c), nil
}

func exprOf(c *column) expr.Expr {
	if c == nil {
		return nil
	}
	return c.expr()
}

var unaryNames = map[syntax.UnaryOp]string{
	syntax.OpNeg: "neg", syntax.OpBitNot: "~", syntax.OpNot: "not", syntax.OpBang: "not", syntax.OpBinary: "binary",
}

func (b *binder) unary(e *syntax.Unary) (expr.Expr, error) {
	if e.Op == syntax.OpNeg {
		if lit, ok := e.X.(*syntax.Literal); ok && !b.build.lifted(lit) {
			if v, ok, err := negativeLiteral(lit); ok || err != nil {
				return expr.DecimalLiteral(v, lit.Value), err
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
	if bound, done, err := b.rowSubquery(e); done || err != nil {
		return bound, err
	}
	l, err := b.bind(e.L)
	if err != nil {
		return nil, err
	}
	r, err := b.bind(e.R)
	if err != nil {
		return nil, err
	}
	if b.alone == e && e.Op == syntax.OpEq && (b.build.leadingBit(l) || b.build.leadingBit(r)) {
		b.env.Build.BitBytes = true
		defer func() { b.env.Build.BitBytes = false }()
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
	if left, ok := unparen(e.X).(*syntax.Subquery); ok {
		return b.subqueryIn(left.Query, e)
	}
	if e.Query != nil {
		return b.inSubquery(e)
	}
	if _, row := unparen(e.X).(*syntax.Row); row && slices.ContainsFunc(e.List, isSubquery) {
		return b.bind(inEach(e))
	}
	return b.negate(e.Not, "in", append([]syntax.Expr{e.X}, e.List...)...)
}

func isSubquery(e syntax.Expr) bool {
	_, is := unparen(e).(*syntax.Subquery)
	return is
}

// inEach is x IN (a, b, …) as x = a OR x = b OR …, which is how rows are compared with subqueries.
func inEach(e *syntax.In) syntax.Expr {
	var any syntax.Expr
	for _, element := range e.List {
		var equal syntax.Expr = &syntax.Binary{Op: syntax.OpEq, L: e.X, R: element}
		if any != nil {
			equal = &syntax.Binary{Op: syntax.OpOr, L: any, R: equal}
		}
		any = equal
	}
	if e.Not {
		any = &syntax.Unary{Op: syntax.OpNot, X: any}
	}
	return any
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

// systemVariable binds @@name. There are no variables with a prefix, which is a key cache of MyISAM or a component.
func (b *binder) systemVariable(e *syntax.SystemVariable) (expr.Expr, error) {
	if e.Prefix != "" {
		return nil, types.Errorf(types.ErUnknownSystemVariable, e.Prefix+"."+e.Name)
	}
	return expr.SysVar(b.env.Build, varScope(e.Scope), e.Name)
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
