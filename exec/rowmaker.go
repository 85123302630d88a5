package exec

import (
	"errors"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// rowMaker turns what a statement gives for a column into what the table stores:
// conversion, defaults, NOT NULL.
type rowMaker struct {
	rt       *Runtime
	table    *catalog.Table
	defaults []expr.Expr // compiled default expressions by ordinal; may be nil
	checks   []Check
	now      []types.Value
	nowSet   []bool
	lenient  bool // NULL in a NOT NULL column becomes the implicit default
	// once says that a statement warns of NULL in a column once for all of its rows, as INSERT does in MySQL; nulled are the columns, by ordinal, of
	// which it has.
	once   bool
	nulled []bool
}

func (m *rowMaker) init(rt *Runtime, t *catalog.Table, defaults []expr.Expr) {
	m.rt, m.table, m.defaults, m.checks = rt, t, defaults, nil
	m.nowSet = m.nowSet[:0]
	m.once, m.nulled = false, nil
}

// verify refuses a complete row that fails a check.
func (m *rowMaker) verify(row []types.Value) error {
	return Verify(m.rt.Ctx, m.checks, row)
}

// Verify returns 3819, or 1369, for the first of the checks that row fails. So does a check whose evaluation strict mode makes fail, as in MySQL.
func Verify(ctx *expr.Ctx, checks []Check, row []types.Value) error {
	if len(checks) == 0 {
		return nil
	}
	if err := ctx.TakeFailure(); err != nil {
		return err // of what came before
	}
	for i := range checks {
		v, err := checks[i].Cond.Eval(ctx, row)
		failed := err != nil && failsCheck(err)
		if err == nil {
			err = ctx.TakeFailure()
			failed = err != nil
		}
		if failed && checks[i].View == "" {
			return types.Errorf(types.ErCheckConstraintViolated, checks[i].Name)
		}
		if err != nil {
			return err
		}
		if checks[i].View != "" {
			if v.IsNull() || !types.ToBool(ctx.Context, &v) {
				return types.Errorf(types.ErViewCheckFailed, checks[i].View, checks[i].Name)
			}
			continue
		}
		if !v.IsNull() && !types.ToBool(ctx.Context, &v) {
			return types.Errorf(types.ErCheckConstraintViolated, checks[i].Name)
		}
	}
	return nil
}

// failsCheck reports whether an error of a check's evaluation is one of those that strict mode makes of a warning.
func failsCheck(err error) bool {
	var e *types.Error
	return errors.As(err, &e) && (e.Number == types.ErDivisionByZero || e.Number == types.ErDataOutOfRange)
}

// convert returns v as a value of column c. Its bytes live as v's or in the arena.
func (m *rowMaker) convert(v types.Value, c *catalog.Column, rowNo int) (types.Value, error) {
	if v.IsNull() {
		return m.null(c)
	}
	if out, ok := types.Fit(v, &c.Type); ok {
		return out, nil
	}
	out, err := types.Convert(m.rt.Ctx.Context, v, c.Type, c.Name, rowNo)
	if err != nil && c.Type.ID == types.TypeJSON { // the one error that names the table, too
		_, err = types.Convert(m.rt.Ctx.Context, v, c.Type, m.table.Name+"."+c.Name, rowNo)
	}
	return out, err
}

// null stores NULL in c: 1048 if it may not be NULL, unless the statement is lenient.
func (m *rowMaker) null(c *catalog.Column) (types.Value, error) {
	if !c.NotNull || c.AutoInc {
		return types.Null(), nil
	}
	if err := m.badNull(c); err != nil {
		return types.Null(), err
	}
	return types.ZeroOf(&c.Type), nil
}

// badNull is 1048, a warning if the statement is lenient.
func (m *rowMaker) badNull(c *catalog.Column) error {
	if !m.lenient {
		return types.Errorf(types.ErBadNull, c.Name)
	}
	if m.once {
		if m.nulled == nil {
			m.nulled = make([]bool, len(m.table.Columns))
		}
		if m.nulled[c.Ordinal] {
			return nil
		}
		m.nulled[c.Ordinal] = true
	}
	m.rt.Ctx.Warn(types.LevelWarning, types.ErBadNull, c.Name)
	return nil
}

// defaultOf returns the value of a column that the statement leaves out or sets to
// DEFAULT. An expression is evaluated over row, whose first columns are the table's.
func (m *rowMaker) defaultOf(c *catalog.Column, row []types.Value, rowNo int) (types.Value, error) {
	if m.computes(c) {
		v, err := m.defaults[c.Ordinal].Eval(m.rt.Ctx, row)
		if err != nil {
			return v, err
		}
		return m.convert(v, c, rowNo)
	}
	switch d := c.Default; {
	case d == nil && (c.AutoInc || c.Generated != nil):
		return types.Null(), nil // for now
	case d == nil:
		return m.noDefault(c)
	case d.Kind == catalog.DefaultLiteral:
		return d.Value, nil
	case d.Kind == catalog.DefaultNow:
		return m.nowOf(c)
	case d.Kind == catalog.DefaultExpr:
		return types.Null(), types.Errorf(types.ErUnknownError, "the default of column '"+c.Name+"' was not compiled")
	}
	return m.null(c)
}

// firstError returns what an expression of the row could only warn of, which came before err, else err: it ends the statement before a later row does,
// or a key that is there already. It is not for rows that a batch has computed ahead.
func (m *rowMaker) firstError(err error) error {
	if failure := m.rt.Ctx.TakeFailure(); failure != nil {
		return failure
	}
	return err
}

// generate sets the generated columns among assignments in row; their expressions are over the values in over.
func (m *rowMaker) generate(set []Assignment, over, row []types.Value, rowNo int) error {
	for i := range set {
		a := &set[i]
		if !a.Generated {
			continue
		}
		if err := m.rt.Ctx.TakeFailure(); err != nil {
			return err // of another column
		}
		c := m.table.Columns[a.Col]
		v, err := a.Expr.Eval(m.rt.Ctx, over)
		if err == nil {
			v, err = m.convert(v, c, rowNo)
		}
		if err == nil {
			err = m.rt.Ctx.TakeFailure()
		}
		if err != nil {
			return generatedError(err, c, rowNo)
		}
		row[a.Col] = v
	}
	return nil
}

// generatedError is MySQL's error about a generated column that cannot hold its value: for a text that is too long it is that of truncated data, and
// for the expression of an index another one.
func generatedError(err error, c *catalog.Column, rowNo int) error {
	var e *types.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case c.Hidden && (e.Number == types.ErTruncatedWrongValue || e.Number == types.ErDataTooLong || e.Number == types.ErWarnDataTruncated):
		return types.Errorf(types.ErDataTruncatedFunctionalIndex, c.HiddenIndex(), rowNo)
	case e.Number == types.ErDataTooLong:
		return types.Errorf(types.ErWarnDataTruncated, c.Name, rowNo)
	}
	return err
}

// Generator computes generated columns of rows that are written without a plan. One goroutine uses it.
type Generator struct {
	maker rowMaker
	set   []Assignment
}

// NewGenerator returns a generator of the columns that set assigns in rows of t.
func NewGenerator(ctx *expr.Ctx, t *catalog.Table, set []Assignment) *Generator {
	g := &Generator{set: set}
	g.maker.init(&Runtime{Ctx: ctx}, t, nil)
	return g
}

// Fill sets the generated columns of a row, by ordinal. Their bytes are valid until the context's arena is reset.
func (g *Generator) Fill(row []types.Value, rowNo int) error {
	g.maker.lenient = !g.maker.rt.Ctx.Strict
	return g.maker.generate(g.set, row, row, rowNo)
}

// computes reports whether the default of c is an expression, which may refer to other columns.
func (m *rowMaker) computes(c *catalog.Column) bool {
	return m.defaults != nil && m.defaults[c.Ordinal] != nil
}

// noDefault is 1364, in strict mode an error.
func (m *rowMaker) noDefault(c *catalog.Column) (types.Value, error) {
	return undefaulted(c), m.withoutDefault(c, types.ErNoDefaultForField, c.Name)
}

// undefaulted is the value of a column that has no default and is given none: NULL if its default was dropped.
func undefaulted(c *catalog.Column) types.Value {
	if c.NotNull {
		return types.ImplicitDefault(&c.Type)
	}
	return types.Null()
}

// withoutDefault is an error in strict mode, else a warning; not for ENUM, by MySQL's rule.
func (m *rowMaker) withoutDefault(c *catalog.Column, number uint16, args ...any) error {
	switch {
	case c.Type.ID == types.TypeEnum:
		return nil
	case m.rt.Ctx.Strict && !m.rt.Ctx.Ignore:
		return types.Errorf(number, args...)
	}
	m.rt.Ctx.Warn(types.LevelWarning, number, args...)
	return nil
}

// nowOf returns the statement's time as a value of column c, converted once.
func (m *rowMaker) nowOf(c *catalog.Column) (types.Value, error) {
	if len(m.nowSet) == 0 {
		n := len(m.table.Columns)
		if cap(m.now) < n {
			m.now, m.nowSet = make([]types.Value, n), make([]bool, n)
		}
		m.now, m.nowSet = m.now[:n], m.nowSet[:n]
		clear(m.nowSet)
	}
	if !m.nowSet[c.Ordinal] {
		ctx := m.rt.Ctx.Context
		us := ctx.CurrentTime().UnixMicro()
		v, err := types.Convert(ctx, types.Timestamp(us-us%fspUnit(c.Type.Scale), uint8(max(c.Type.Scale, 0))), c.Type, c.Name, 1)
		if err != nil {
			return v, err
		}
		m.now[c.Ordinal], m.nowSet[c.Ordinal] = v, true
	}
	return m.now[c.Ordinal], nil
}

// fspUnit is the number of microseconds in the last of fsp fractional digits.
func fspUnit(fsp int8) int64 {
	unit := int64(1_000_000)
	for ; fsp > 0; fsp-- {
		unit /= 10
	}
	return max(unit, 1)
}

// demote turns a row's error into a warning under IGNORE. It returns nil if the
// statement goes on without the row.
func (m *rowMaker) demote(err error) error {
	var e *types.Error
	if !m.rt.Ctx.Ignore || !errors.As(err, &e) {
		return err
	}
	switch e.Number {
	case types.ErDupEntry, types.ErBadNull, types.ErNoDefaultForField, types.ErCheckConstraintViolated, types.ErViewCheckFailed,
		types.ErNoReferencedRow, types.ErNoReferencedRow2, types.ErRowIsReferenced, types.ErRowIsReferenced2:
		m.rt.Ctx.AddError(types.LevelWarning, e)
		return nil
	}
	return err
}

// counts reports whether the numbers of rows in messages count a row that UPDATE IGNORE leaves as it is because of err: as in MySQL not if a check, a
// view's option or a foreign key refuses it.
func counts(err error) bool {
	var e *types.Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Number {
	case types.ErViewCheckFailed, types.ErCheckConstraintViolated, types.ErNoReferencedRow, types.ErNoReferencedRow2, types.ErRowIsReferenced, types.ErRowIsReferenced2:
		return false
	}
	return true
}

// strictness remembers how a context was before a write changed it.
type strictness struct {
	ctx            *types.Context
	strict, ignore bool
}

// strictly puts the statement under its sql_mode's strictness and IGNORE.
func (rt *Runtime) strictly(ignore bool) strictness {
	c := rt.Ctx.Context
	was := strictness{c, c.Strict, c.Ignore}
	c.Strict, c.Ignore = c.SQLMode&types.ModeStrict != 0, ignore
	return was
}

func (s strictness) restore() { s.ctx.Strict, s.ctx.Ignore = s.strict, s.ignore }
