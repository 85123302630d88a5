package syntax

// CreateView is CREATE or ALTER VIEW.
type CreateView struct {
	Pos         Pos
	OrReplace   bool
	Alter       bool
	IfNotExists bool
	Algorithm   string // UNDEFINED, MERGE, TEMPTABLE or empty.
	Definer     *Account
	Security    string // DEFINER, INVOKER or empty.
	Name        ObjectName
	Columns     []Ident
	Query       *Query
	Check       string // WITH CHECK OPTION: CHECK, CASCADED CHECK, LOCAL CHECK or empty.
	QueryStart  Pos    // The span of the query's text, which SHOW CREATE VIEW and
	QueryEnd    Pos    // the catalogue keep.
}

// DropObjects is DROP VIEW, TRIGGER, PROCEDURE, FUNCTION or EVENT.
type DropObjects struct {
	Pos       Pos
	Kind      string
	IfExists  bool
	Names     []ObjectName // One, except for views.
	Behaviour string       // RESTRICT, CASCADE or empty; views only.
}

// CreateTrigger is CREATE TRIGGER.
type CreateTrigger struct {
	Pos         Pos
	Definer     *Account
	IfNotExists bool
	Name        ObjectName
	Time        string // BEFORE or AFTER.
	Event       string // INSERT, UPDATE or DELETE.
	Table       ObjectName
	Order       string // FOLLOWS, PRECEDES or empty.
	Other       Ident
	Body        Statement
	BodyStart   Pos
	BodyEnd     Pos
}

// CreateRoutine is CREATE PROCEDURE or FUNCTION. With Soname set it is a
// loadable function.
type CreateRoutine struct {
	Pos         Pos
	Definer     *Account
	Aggregate   bool
	Function    bool
	IfNotExists bool
	Name        ObjectName
	Params      []RoutineParam
	Returns     *DataType
	Soname      *Literal
	ReturnsWord string // STRING, INTEGER, REAL or DECIMAL of a loadable function.
	Traits      []RoutineTrait
	Body        Statement
	BodyStart   Pos
	BodyEnd     Pos
}

// RoutineParam is one parameter. Mode is IN, OUT, INOUT or empty.
type RoutineParam struct {
	Mode string
	Name Ident
	Type DataType
}

// RoutineTrait is a characteristic: COMMENT 'x', LANGUAGE SQL, DETERMINISTIC,
// NOT DETERMINISTIC, CONTAINS SQL, NO SQL, READS SQL DATA, MODIFIES SQL DATA,
// SQL SECURITY DEFINER|INVOKER.
type RoutineTrait struct {
	Kind  string
	Value *Literal
}

// AlterRoutine is ALTER PROCEDURE or FUNCTION.
type AlterRoutine struct {
	Pos      Pos
	Function bool
	Name     ObjectName
	Traits   []RoutineTrait
}

// CreateEvent is CREATE or ALTER EVENT.
type CreateEvent struct {
	Pos         Pos
	Alter       bool
	Definer     *Account
	IfNotExists bool
	Name        ObjectName
	Schedule    *EventSchedule // nil only for ALTER.
	Preserve    string         // PRESERVE, NOT PRESERVE or empty.
	RenameTo    *ObjectName
	Status      string // ENABLE, DISABLE, DISABLE ON SLAVE, DISABLE ON REPLICA or empty.
	Comment     *Literal
	Body        Statement // nil only for ALTER.
	BodyStart   Pos
	BodyEnd     Pos
}

// EventSchedule is AT time, or EVERY n unit [STARTS time] [ENDS time].
type EventSchedule struct {
	At     Expr
	Every  Expr
	Unit   string
	Starts Expr
	Ends   Expr
}

// Block is BEGIN ... END.
type Block struct {
	Pos      Pos
	Label    string
	Body     []Statement
	EndLabel string
}

// DeclareVar is DECLARE a, b type [DEFAULT expr].
type DeclareVar struct {
	Pos     Pos
	Names   []Ident
	Type    DataType
	Default Expr
}

// DeclareCursor is DECLARE name CURSOR FOR query.
type DeclareCursor struct {
	Pos   Pos
	Name  Ident
	Query *Query
}

// DeclareCondition is DECLARE name CONDITION FOR value.
type DeclareCondition struct {
	Pos   Pos
	Name  Ident
	Value ConditionValue
}

// DeclareHandler is DECLARE action HANDLER FOR conditions statement.
type DeclareHandler struct {
	Pos        Pos
	Action     string // CONTINUE, EXIT or UNDO.
	Conditions []ConditionValue
	Body       Statement
}

// ConditionValue is what a handler or condition names. Kind is SQLSTATE,
// SQLSTATE VALUE, CODE, NAME, SQLWARNING, NOT FOUND or SQLEXCEPTION.
type ConditionValue struct {
	Kind  string
	Value *Literal
	Name  Ident
}

// If is IF ... THEN ... [ELSEIF ...] [ELSE ...] END IF.
type If struct {
	Pos      Pos
	Branches []CondBody
	Else     []Statement
	HasElse  bool
}

// CondBody is a condition with the statements it guards.
type CondBody struct {
	Cond Expr
	Body []Statement
}

// CaseStmt is the statement CASE ... END CASE.
type CaseStmt struct {
	Pos      Pos
	Operand  Expr
	Branches []CondBody
	Else     []Statement
	HasElse  bool
}

// Loop is LOOP, WHILE or REPEAT.
type Loop struct {
	Pos      Pos
	Kind     string // LOOP, WHILE or REPEAT.
	Label    string
	Cond     Expr // nil for LOOP; the UNTIL condition for REPEAT.
	Body     []Statement
	EndLabel string
}

// Jump is LEAVE label or ITERATE label.
type Jump struct {
	Pos     Pos
	Iterate bool
	Label   Ident
}

// Return is RETURN expr.
type Return struct {
	Pos   Pos
	Value Expr
}

// CursorOp is OPEN, CLOSE or FETCH of a cursor.
type CursorOp struct {
	Pos  Pos
	Verb string // OPEN, CLOSE or FETCH.
	Name Ident
	Next bool // FETCH NEXT FROM.
	From bool
	Into []VarTarget
}
