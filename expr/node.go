package expr

import (
	"strings"

	"github.com/pandodb/pando/types"
)

// Expr is an expression. It is immutable and safe for concurrent use; nil is no expression.
type Expr = *Node

// nodeKind distinguishes the nodes that tree walkers treat differently.
type nodeKind uint8

const (
	kindCall nodeKind = iota
	kindColumn
	kindConst
	kindParam
	kindSubquery
)

// evalFunc computes a node over one row. batchFunc computes it over a batch.
type (
	evalFunc  func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error)
	batchFunc func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error
)

// Node is one operator, function, column, constant or parameter. Its fields are set by constructors and never again.
type Node struct {
	kind       nodeKind
	coer       Coercibility
	ascii      bool   // every value is known to have 7-bit bytes only, so that it can be converted to any character set
	aggregated bool   // a column with the results of an aggregate
	notNull    bool   // never NULL, see MayBeNull
	hidden     bool   // a conversion that is not in the SQL text; String prints its argument only
	deep       bool   // loose, and Eval does not round: a literal of more than 30 decimals and what is computed from it
	mixed      bool   // an IF, CASE or NULLIF that is a number, of which some results have another type: as text it is that of the result, see mixedText
	loose      bool   // decimals may have more fraction digits than the type says, as that of AVG has; Eval rounds them (digits.go)
	digits     int8   // of a loose node: the most fraction digits that its values have
	extended   uint32 // of AND and OR: 1 if another node has appended to the array of args, see extendArgs
	index      int    // column position or parameter ordinal
	flags      Flags
	typ        types.Type
	value      types.Value // of constants
	name       string      // of function, column or subquery
	args       []Expr
	eval       evalFunc
	batch      batchFunc // nil: the row path, once per selected row
	filter     filterFunc
	aux        any // what the function's builder has prepared: comparator, pattern, unit, collation
}

// Flags say what an expression depends on. The flags of a node include those of its arguments.
type Flags uint16

const (
	FlagColumn     Flags = 1 << iota // reads a column of the row
	FlagParam                        // reads a parameter of the statement
	FlagStatement                    // constant within one statement, different in the next: NOW(), DATABASE(), @@x
	FlagSession                      // reads or writes session state that may change within a statement: @x, LAST_INSERT_ID(x)
	FlagVolatile                     // differs from call to call: RAND(), UUID(), SYSDATE()
	FlagSideEffect                   // must run exactly once per row: SLEEP(), GET_LOCK(), @x := 1
	FlagOpaque                       // reads what is neither in the row nor among the parameters: VALUES(col)
	FlagTyped                        // its type was read from the session (user and system variables): a plan with it may not be shared
)

// Column refers to position idx of the row or batch. name is what String prints.
func Column(idx int, t types.Type, name string) Expr {
	n := &Node{kind: kindColumn, index: idx, typ: t, name: name, flags: FlagColumn, eval: evalColumn, batch: batchColumn}
	n.coer = coercibilityOf(&t, CoerImplicit)
	n.ascii = t.IsText() && t.Coll.Charset().Name == "ascii"
	return n
}

// ColumnOf is Column for a column of a derived result, which holds the values of an expression of type t and coercibility coer.
func ColumnOf(idx int, t types.Type, coer Coercibility, name string) Expr {
	n := Column(idx, t, name)
	n.coer = coercibilityOf(&t, coer)
	return n
}

// Const is the constant v of type t. It keeps v's bytes, which must not change.
func Const(v types.Value, t types.Type) Expr {
	n := &Node{kind: kindConst, typ: t, value: v, eval: evalConst, batch: batchConst, notNull: !v.IsNull()}
	n.coer = coercibilityOf(&t, CoerCoercible)
	if v.IsNull() {
		n.coer = CoerIgnorable
	}
	n.ascii = !v.IsString() || isASCII(v.B)
	return n
}

// Literal is the constant v with the type of a literal of that value. It keeps v's bytes.
func Literal(v types.Value) Expr {
	n := Const(v, literalType(v))
	if v.K == types.KindDecimal && int(v.Scale) > types.MaxDecimalScale {
		n.typ.Scale, n.digits, n.loose, n.deep = types.MaxDecimalScale, int8(v.Scale), true, true
	}
	return n
}

// DecimalLiteral is the literal of the decimal v, written as text. The zero of "0.5" counts as a digit of its precision, as in MySQL.
func DecimalLiteral(v types.Value, text string) Expr {
	n := Literal(v)
	if n.typ.ID == types.TypeDecimal && n.typ.Length == int32(n.typ.Scale) && n.typ.Length < types.MaxDecimalPrecision && !strings.HasPrefix(text, ".") {
		n.typ.Length++
	}
	return n
}

// Param refers to Ctx.Params[ordinal]. t is the type of the values that the plan was made for.
func Param(ordinal int, t types.Type) Expr {
	n := &Node{kind: kindParam, index: ordinal, typ: t, flags: FlagParam, eval: evalParam, batch: batchConst}
	n.coer = coercibilityOf(&t, CoerCoercible)
	return n
}

// AsParam returns the reference column to an outer query's column as one that reads Params[ordinal]. Type and name stay, because the operators
// above were compiled for them.
func AsParam(column Expr, ordinal int) Expr {
	n := *column
	n.kind, n.index, n.flags, n.eval, n.batch, n.filter = kindParam, ordinal, FlagParam, evalParam, batchConst, nil
	return &n
}

// Subquery is an expression that Ctx.Subplans evaluates. args are all that it reads of the row: the outer values and the operands. plan is
// passed to Subplans. coer is the coercibility of its column. flags are what the subquery depends on besides args; FlagStatement is added,
// because two statements may find different rows.
func Subquery(name string, t types.Type, coer Coercibility, flags Flags, args []Expr, plan any) Expr {
	n := &Node{kind: kindSubquery, name: name, typ: t, args: args, flags: flags | FlagStatement, aux: plan, eval: evalSubquery}
	n.coer = coercibilityOf(&t, coer)
	for _, a := range args {
		n.flags |= a.flags
	}
	return n
}

// Type returns the type of the expression's values.
func (n *Node) Type() types.Type { return n.typ }

// TypeRef returns the type without copying it; it must not be written.
func (n *Node) TypeRef() *types.Type { return &n.typ }

// Flags returns what the expression depends on.
func (n *Node) Flags() Flags { return n.flags }

// Name returns the lower-case name of a call, and the name given to columns and subqueries.
func (n *Node) Name() string { return n.name }

// Args returns the arguments. The slice belongs to n and must not be written.
func (n *Node) Args() []Expr { return n.args }

// IsCall reports whether n is a call of one of the names, or of any function when none is given.
func (n *Node) IsCall(names ...string) bool {
	if n.kind != kindCall {
		return false
	}
	for _, name := range names {
		if n.name == name {
			return true
		}
	}
	return len(names) == 0
}

// ColumnIndex returns the position of a column reference.
func (n *Node) ColumnIndex() (int, bool) { return n.index, n.kind == kindColumn }

// ParamOrdinal returns the ordinal of a parameter.
func (n *Node) ParamOrdinal() (int, bool) { return n.index, n.kind == kindParam }

// ConstValue returns the value of a constant.
func (n *Node) ConstValue() (types.Value, bool) { return n.value, n.kind == kindConst }

// SubqueryPlan returns the plan that was passed to Subquery.
func (n *Node) SubqueryPlan() (plan any, ok bool) {
	if n.kind != kindSubquery {
		return nil, false
	}
	return n.aux, true
}

// Coercibility returns how strongly the collation of n binds; it is the result of the SQL function COERCIBILITY.
func (n *Node) Coercibility() Coercibility { return n.coer }

// Eval computes the expression over row. The value may borrow from row and from ctx's arena (invariant 4).
func (n *Node) Eval(ctx *Ctx, row []types.Value) (types.Value, error) {
	v, err := n.eval(ctx, n, row)
	if n.loose && !n.deep && v.K == types.KindDecimal {
		v = types.DecRound(v, int(n.typ.Scale))
	}
	if err == nil {
		err = ctx.failed
	}
	return v, err
}

// EvalFull is Eval without rounding: AVG has digits beyond the scale of its type, as comparisons need them.
func (n *Node) EvalFull(ctx *Ctx, row []types.Value) (types.Value, error) {
	v, err := n.eval(ctx, n, row)
	if err == nil {
		err = ctx.failed
	}
	return v, err
}

// EvalBool computes the expression as a condition: NULL is false.
func (n *Node) EvalBool(ctx *Ctx, row []types.Value) (bool, error) {
	v, err := n.EvalFull(ctx, row)
	if err != nil {
		return false, err
	}
	if v.K == types.KindInt {
		return v.N != 0, nil
	}
	t, err := truth(ctx, &v)
	return t == triTrue, err
}

func evalColumn(_ *Ctx, n *Node, row []types.Value) (types.Value, error) { return row[n.index], nil }

func evalConst(_ *Ctx, n *Node, _ []types.Value) (types.Value, error) { return n.value, nil }

func evalParam(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
	return ctx.Params[n.index], nil
}

func evalSubquery(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	if ctx.Subplans == nil {
		return types.Null(), types.Errorf(types.ErNotSupportedYet, "subqueries in this place")
	}
	return ctx.Subplans.EvalSubplan(ctx, n.aux, n.args, row)
}

// isASCII reports whether b has no byte above 127.
func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
