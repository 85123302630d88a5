package syntax

import "strings"

// binaryText is the spelling of the infix operators.
var binaryText = [...]string{
	OpAnd: "AND", OpOr: "OR", OpXor: "XOR", OpEq: "=", OpNullSafeEq: "<=>", OpNe: "<>", OpLt: "<", OpLe: "<=",
	OpGt: ">", OpGe: ">=", OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpIntDiv: "DIV", OpMod: "%",
	OpBitAnd: "&", OpBitOr: "|", OpBitXor: "^", OpShiftLeft: "<<", OpShiftRight: ">>", OpConcat: "||",
	OpSoundsLike: "SOUNDS LIKE", OpMemberOf: "MEMBER OF", OpJSONExtract: "->", OpJSONUnquoteExtract: "->>",
}

// String returns the operator's spelling.
func (op BinaryOp) String() string { return binaryText[op] }

// unaryText is the spelling of the prefix operators.
var unaryText = [...]string{
	OpNeg: "-", OpPlus: "+", OpBitNot: "~", OpNot: "NOT", OpBang: "!", OpBinary: "BINARY",
}

// String returns the operator's spelling.
func (op UnaryOp) String() string { return unaryText[op] }

// isText is the spelling of the IS tests.
var isText = [...]string{IsNull: "NULL", IsTrue: "TRUE", IsFalse: "FALSE", IsUnknown: "UNKNOWN"}

// expr appends an expression.
func (p *printer) expr(x Expr) {
	switch x := x.(type) {
	case *Literal:
		p.literal(x)
	case *ColumnRef:
		p.column(x)
	case *Param:
		p.k("?")
	case *Binary:
		p.binary(x)
	case *Unary:
		p.k(unaryText[x.Op])
		p.expr(x.X)
	case *Paren:
		p.k("(")
		p.expr(x.X)
		p.raw(")")
	case *Subquery:
		p.k("(")
		p.query(x.Query)
		p.raw(")")
	case *FuncCall:
		p.call(x)
	case *AggCall:
		p.aggregate(x)
	case *IsTest:
		p.expr(x.X)
		p.k("IS")
		p.when(x.Not, "NOT")
		p.k(isText[x.Test])
	case *In:
		p.in(x)
	case *Between:
		p.expr(x.X)
		p.when(x.Not, "NOT")
		p.k("BETWEEN")
		p.expr(x.Lo)
		p.k("AND")
		p.expr(x.Hi)
	case *Like:
		p.expr(x.X)
		p.when(x.Not, "NOT")
		p.k("LIKE")
		p.expr(x.Pattern)
		p.optExpr("ESCAPE", x.Escape)
	default:
		p.rareExpr(x)
	}
}

// rareExpr appends the expressions that occur less often.
func (p *printer) rareExpr(x Expr) {
	switch x := x.(type) {
	case *Star:
		p.star(x)
	case *Introduced:
		p.k("_" + x.Charset)
		p.expr(x.Lit)
	case *UserVariable:
		p.userVar(x.Name)
		p.optExpr(":=", x.Value)
	case *SystemVariable:
		p.systemVariable(x)
	case *QuantCompare:
		p.expr(x.L)
		p.k(binaryText[x.Op], x.Quant)
		p.expr(x.Query)
	case *Regexp:
		p.expr(x.X)
		p.when(x.Not, "NOT")
		if x.RLike {
			p.k("RLIKE")
		} else {
			p.k("REGEXP")
		}
		p.expr(x.Pattern)
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.cast(x)
	case *ConvertUsing:
		p.k("CONVERT(")
		p.expr(x.X)
		p.k("USING")
		p.charset(x.Charset)
		p.raw(")")
	case *Collate:
		p.expr(x.X)
		p.k("COLLATE")
		p.charset(x.Collation)
	case *Interval:
		p.k("INTERVAL")
		p.expr(x.Value)
		p.k(x.Unit)
	case *Exists:
		p.k("EXISTS")
		p.expr(x.Query)
	case *Row:
		p.when(x.Explicit, "ROW")
		p.parenExprs(x.Elems)
	case *Match:
		p.match(x)
	case *ValuesFunc:
		p.k("VALUES(")
		p.column(x.Column)
		p.raw(")")
	case *Default:
		p.k("DEFAULT")
		if x.Column != nil {
			p.raw("(")
			p.column(x.Column)
			p.raw(")")
		}
	case *MaxValue:
		p.k("MAXVALUE")
	default:
		p.specialCall(x)
	}
}

// literal appends a constant.
func (p *printer) literal(x *Literal) {
	if p.hide {
		switch x.Kind {
		case LitString, LitNString, LitHex, LitBit:
			p.k(secretText)
			return
		}
	}
	switch x.Kind {
	case LitInt, LitDecimal, LitFloat:
		p.k(x.Value)
	case LitString:
		p.str(x.Value)
	case LitNString:
		p.k("N")
		p.buf = appendString(p.buf, x.Value)
	case LitHex:
		if len(x.Value)%2 != 0 {
			p.k("0x" + x.Value)
		} else {
			p.k("x'" + x.Value + "'")
		}
	case LitBit:
		p.k("b'" + x.Value + "'")
	case LitNull:
		p.k("NULL")
	case LitTrue:
		p.k("TRUE")
	case LitFalse:
		p.k("FALSE")
	case LitDate:
		p.k("DATE")
		p.str(x.Value)
	case LitTime:
		p.k("TIME")
		p.str(x.Value)
	case LitTimestamp:
		p.k("TIMESTAMP")
		p.str(x.Value)
	}
}

// column appends a column reference.
func (p *printer) column(c *ColumnRef) {
	p.space()
	if c.Schema != "" {
		p.buf = append(appendQuoted(p.buf, c.Schema), '.')
	}
	if c.Table != "" {
		p.buf = append(appendQuoted(p.buf, c.Table), '.')
	}
	p.buf = appendQuoted(p.buf, c.Column)
}

// star appends * and t.*.
func (p *printer) star(s *Star) {
	p.space()
	if s.Schema != "" {
		p.buf = append(appendQuoted(p.buf, s.Schema), '.')
	}
	if s.Table != "" {
		p.buf = append(appendQuoted(p.buf, s.Table), '.')
	}
	p.raw("*")
}

// scopeText is the spelling of the scopes of variables.
var scopeText = [...]string{
	ScopeDefault: "", ScopeGlobal: "GLOBAL", ScopeSession: "SESSION", ScopeLocal: "LOCAL",
	ScopePersist: "PERSIST", ScopePersistOnly: "PERSIST_ONLY",
}

// systemVariable appends @@[scope.][prefix.]name.
func (p *printer) systemVariable(v *SystemVariable) {
	p.k("@@")
	if v.Scope != ScopeDefault {
		p.raw(scopeText[v.Scope])
		p.raw(".")
	}
	p.varName(v.Prefix, v.Name)
}

// varName appends the name of a variable. DEFAULT as a prefix is a keyword.
func (p *printer) varName(prefix, name string) {
	if foldEqual(prefix, "DEFAULT") {
		p.k("DEFAULT")
		p.raw(".")
	} else if prefix != "" {
		p.id(prefix)
		p.raw(".")
	}
	p.id(name)
}

// binary appends an infix operator. MEMBER OF takes parentheses of its own.
func (p *printer) binary(x *Binary) {
	if x.Op == OpConcat { // || depends on sql_mode
		p.expr(&FuncCall{Name: "concat", Args: []Expr{x.L, x.R}})
		return
	}
	p.expr(x.L)
	p.k(binaryText[x.Op])
	if x.Op == OpMemberOf {
		p.k("(")
		p.expr(x.R)
		p.raw(")")
		return
	}
	p.expr(x.R)
}

// in appends IN.
func (p *printer) in(x *In) {
	p.expr(x.X)
	p.when(x.Not, "NOT")
	p.k("IN")
	if x.Query != nil {
		p.expr(x.Query)
		return
	}
	p.parenExprs(x.List)
}

// caseExpr appends CASE.
func (p *printer) caseExpr(c *Case) {
	p.k("CASE")
	p.optExpr("", c.Operand)
	for _, w := range c.Whens {
		p.k("WHEN")
		p.expr(w.Cond)
		p.k("THEN")
		p.expr(w.Then)
	}
	p.optExpr("ELSE", c.Else)
	p.k("END")
}

// cast appends CAST and CONVERT.
func (p *printer) cast(c *Cast) {
	if c.Convert {
		p.k("CONVERT(")
		p.expr(c.X)
		p.raw(",")
	} else {
		p.k("CAST(")
		p.expr(c.X)
		if c.TimeZone != nil {
			p.k("AT TIME ZONE")
			p.when(c.ZoneInterval, "INTERVAL")
			p.expr(c.TimeZone)
		}
		p.k("AS")
	}
	p.dataType(&c.Type)
	p.when(c.Array, "ARRAY")
	p.raw(")")
}

// match appends MATCH AGAINST.
func (p *printer) match(m *Match) {
	p.k("MATCH")
	if m.Parens {
		p.parenExprs(m.Columns)
	} else {
		p.exprs(m.Columns)
	}
	p.k("AGAINST (")
	p.expr(m.Against)
	p.k(m.Modifier)
	p.raw(")")
}

// funcName appends the name of a function. It is quoted only where it would
// not be read as a name otherwise, because quoting makes COUNT an ordinary name.
func (p *printer) funcName(schema, name string, stored bool) {
	if schema != "" {
		p.id(schema)
		p.raw(".")
		p.buf = appendQuoted(p.buf, name)
		return
	}
	p.space()
	if !stored && isPlainName(name) {
		p.raw(name)
		return
	}
	p.buf = appendQuoted(p.buf, name)
}

// isPlainName reports whether a name needs no quotes in a position where keywords
// are names too.
func isPlainName(s string) bool {
	if s == "" || charClass[s[0]]&classDigit != 0 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if charClass[s[i]]&classIdent == 0 || s[i] == '$' {
			return false
		}
	}
	return true
}

// call appends an ordinary function call.
func (p *printer) call(c *FuncCall) {
	if c.Syntax == CallODBC {
		p.k("{", c.Name)
		if lit, ok := c.Args[0].(*Literal); ok && odbcLiterals[strings.ToLower(c.Name)] == lit.Kind && lit.Kind != 0 {
			p.str(lit.Value) // the name stands for DATE, TIME or TIMESTAMP
		} else {
			p.expr(c.Args[0])
		}
		p.k("}")
		return
	}
	p.funcName(c.Schema, c.Name, c.Stored)
	if c.Syntax == CallNoParen {
		return
	}
	p.raw("(")
	switch c.Syntax {
	case CallFromFor:
		p.expr(c.Args[0])
		p.optExpr("FROM", c.Args[1])
		if len(c.Args) > 2 {
			p.optExpr("FOR", c.Args[2])
		}
	case CallIn:
		p.expr(c.Args[0])
		p.optExpr("IN", c.Args[1])
	case CallUsing:
		p.exprs(c.Args)
		p.k("USING")
		p.charset(c.Charset)
	case CallUnit:
		p.k(c.Unit)
		p.raw(",")
		p.exprs(c.Args)
	case CallExtract:
		p.k(c.Unit, "FROM")
		p.exprs(c.Args)
	default:
		p.exprs(c.Args)
	}
	p.raw(")")
}

// aggregate appends an aggregate function.
func (p *printer) aggregate(a *AggCall) {
	p.k(a.Name)
	p.raw("(")
	p.when(a.Distinct, "DISTINCT")
	p.when(a.All, "ALL")
	p.exprs(a.Args)
	p.orderBy(a.OrderBy)
	if a.HasSeparator {
		p.k("SEPARATOR")
		p.str(a.Separator)
	}
	p.raw(")")
	p.over(a.Over)
}

// specialCall appends the functions with nodes of their own.
func (p *printer) specialCall(x Expr) {
	switch x := x.(type) {
	case *Trim:
		p.k("TRIM(", x.Side)
		p.optExpr("", x.Remove)
		p.when(x.Remove != nil || x.Side != "", "FROM")
		p.expr(x.X)
	case *WeightString:
		p.k("WEIGHT_STRING(")
		p.expr(x.X)
		if x.As != "" {
			p.k("AS", x.As, "(")
			p.expr(x.N)
			p.raw(")")
		}
		for _, r := range x.Rest {
			p.raw(",")
			p.expr(r)
		}
	case *JSONValue:
		p.k("JSON_VALUE(")
		p.expr(x.Doc)
		p.raw(",")
		p.expr(x.Path)
		if x.Returning != nil {
			p.k("RETURNING")
			p.dataType(x.Returning)
		}
		p.jsonOn(x.OnEmpty, "EMPTY")
		p.jsonOn(x.OnError, "ERROR")
	case *WindowCall:
		p.k(x.Name + "(")
		p.exprs(x.Args)
		p.raw(")")
		p.when(x.FromFirst, "FROM FIRST")
		p.when(x.FromLast, "FROM LAST")
		if x.Nulls != "" {
			p.k(x.Nulls, "NULLS")
		}
		p.over(x.Over)
		return
	}
	p.raw(")")
}

// jsonOn appends an ON EMPTY or ON ERROR clause.
func (p *printer) jsonOn(c *JSONOnClause, what string) {
	if c == nil {
		return
	}
	p.k(c.Action)
	p.optExpr("", c.Default)
	p.k("ON", what)
}
