package syntax

// This file holds the marker methods and start offsets of expressions. An
// infix expression starts where its left operand does.

func (*Literal) expr()        {}
func (*Introduced) expr()     {}
func (*Param) expr()          {}
func (*ColumnRef) expr()      {}
func (*Star) expr()           {}
func (*UserVariable) expr()   {}
func (*SystemVariable) expr() {}
func (*Unary) expr()          {}
func (*Binary) expr()         {}
func (*QuantCompare) expr()   {}
func (*IsTest) expr()         {}
func (*In) expr()             {}
func (*Between) expr()        {}
func (*Like) expr()           {}
func (*Regexp) expr()         {}
func (*Case) expr()           {}
func (*Cast) expr()           {}
func (*ConvertUsing) expr()   {}
func (*Collate) expr()        {}
func (*Interval) expr()       {}
func (*FuncCall) expr()       {}
func (*Trim) expr()           {}
func (*WeightString) expr()   {}
func (*JSONValue) expr()      {}
func (*AggCall) expr()        {}
func (*WindowCall) expr()     {}
func (*Subquery) expr()       {}
func (*Exists) expr()         {}
func (*Row) expr()            {}
func (*Paren) expr()          {}
func (*Match) expr()          {}
func (*ValuesFunc) expr()     {}
func (*Default) expr()        {}

// Start implements Expr.
func (e *Literal) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Introduced) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Param) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *ColumnRef) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Star) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *UserVariable) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *SystemVariable) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Unary) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Case) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Cast) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *ConvertUsing) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Interval) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *FuncCall) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Trim) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *WeightString) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *JSONValue) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *AggCall) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *WindowCall) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Subquery) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Exists) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Row) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Paren) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Match) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *ValuesFunc) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Default) Start() Pos { return e.Pos }

// Start implements Expr.
func (e *Binary) Start() Pos { return e.L.Start() }

// Start implements Expr.
func (e *QuantCompare) Start() Pos { return e.L.Start() }

// Start implements Expr.
func (e *IsTest) Start() Pos { return e.X.Start() }

// Start implements Expr.
func (e *In) Start() Pos { return e.X.Start() }

// Start implements Expr.
func (e *Between) Start() Pos { return e.X.Start() }

// Start implements Expr.
func (e *Like) Start() Pos { return e.X.Start() }

// Start implements Expr.
func (e *Regexp) Start() Pos { return e.X.Start() }

// Start implements Expr.
func (e *Collate) Start() Pos { return e.X.Start() }
