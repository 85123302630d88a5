package expr

import (
	"bytes"
	"math"
	"math/bits"

	"github.com/pandodb/pando/types"
)

// adaptConstants converts a constant that is compared with a column to the column's type if no information is lost, as MySQL does. A parameter
// gets a node that does so in each execution.
func (b *BuildContext) adaptConstants(x, y Expr, how *adaption, asIs bool) (Expr, Expr, error) {
	var err error
	switch {
	case asIs && !b.convertsAsIs(x, y) && !b.convertsAsIs(y, x):
	case b.comparesAsColumn(x, y) && IsConst(y):
		y, err = b.adapt(x, y, how)
	case b.comparesAsColumn(y, x) && IsConst(x):
		x, err = b.adapt(y, x, how)
	}
	return x, y, err
}

// comparesAsColumn reports whether the constant k is converted for e: for columns, and texts for all dates, because MySQL compares those as dates
// anyway. Beside a number, a date that is no column is a number. A placeholder beside a time is a time.
func (b *BuildContext) comparesAsColumn(e, k Expr) bool {
	c := classOf(&e.typ)
	placeholder := b.isPlaceholder(k)
	return e.kind == kindColumn || c == classTemporal && (textClass(k) || placeholder) || c == classTime && placeholder
}

// isPlaceholder reports whether e is a question mark of the statement, and no literal that was taken out of it.
func (b *BuildContext) isPlaceholder(e Expr) bool { return e.kind == kindParam && b.DateParam == nil }

// convertsAsIs reports whether the constant k is converted for e all the same: placeholders, which have e's type, and texts beside dates and
// decimals. As in MySQL other constants stay what they are: a TIME and '12:00:00' are compared as texts, a DATETIME and 20240131 as numbers.
func (b *BuildContext) convertsAsIs(e, k Expr) bool {
	if b.isPlaceholder(k) {
		return e.typ.ID != types.TypeYear
	}
	c := classOf(&e.typ)
	return (c == classTemporal || c == classDecimal) && classOf(&k.typ) == classString
}

// adapt converts the constant k for a comparison with col, see adaptConstants. how has the fields of an adaption that are known to the caller.
func (b *BuildContext) adapt(col, k Expr, how *adaption) (Expr, error) {
	target, own := classOf(&col.typ), classOf(&k.typ)
	if own == classNull || target == classString || target == classJSON || own == classJSON || target == own && target == classInt && col.typ.ID != types.TypeYear {
		return k, nil
	}
	if (target == classTemporal || target == classTime) && own == target {
		if t, ok := k.ConstValue(); ok && !how.tolerant && target == classTime && col.kind == kindColumn && computed(k).IsCall() && !t.IsNull() {
			rounded, err := types.Cast(b.quietCtx().Context, t, types.Type{ID: types.TypeTime, Length: -1, Scale: max(col.typ.Scale, 0)})
			return Const(rounded, col.typ), err // and not a literal, as in MySQL
		}
		if k.typ.ID == col.typ.ID || col.typ.ID == types.TypeDatetime {
			return k, nil
		}
	}
	if own == classString && col.typ.ID == types.TypeBit && !b.BitBytes {
		number := *col // a BIT is compared as the number that it is, but would take a text's bytes for its own
		number.typ = uintType(20)
		col = &number
	}
	if target == classInt && (own == classTemporal || own == classTime) {
		return k, nil // compared as doubles or dates
	}
	if target == classDecimal && (own == classFloat || own == classString && col.kind != kindColumn) {
		return k, nil // no conversion: they are compared as doubles, which a node of the column's type would prevent
	}
	wantsDate := own == classString && target == classTemporal && !how.tolerant
	if ordinal, ok := k.ParamOrdinal(); ok && wantsDate && b.DateParam != nil {
		b.DateParam(ordinal, dateNeed(col))
	}
	if v, ok := k.ConstValue(); ok {
		if v.IsNull() { // CAST(NULL AS …)
			return k, nil
		}
		ctx := b.quietCtx()
		if wantsDate {
			need := dateNeed(col)
			if err := need.Check(ctx.Context, v); err != nil {
				return nil, err
			}
		}
		nv, fits := adaptValue(ctx, v, &col.typ, how.stored)
		if !fits {
			return k, nil
		}
		n := Const(nv, constTypeFor(&nv, &col.typ))
		return n, nil
	}
	// The node has the column's type although a value that cannot be converted without loss stays as it is (invariant 3).
	n := newCall("adapt", []Expr{k})
	to := &adaption{typ: col.typ, need: dateNeed(col), placeholder: how.placeholder && b.isPlaceholder(k), stored: how.stored}
	if to.placeholder {
		to.need = DateNeed{Type: types.TypeDate}
	}
	n.hidden, n.coer, n.aux, n.eval = true, k.coer, to, evalAdapt
	n.typ = col.typ
	n.typ.ZeroFill = false
	return n, nil
}

// Unadapted is e without the conversion that the comparison with a column has given it.
func Unadapted(e Expr) Expr {
	if e.IsCall("adapt") {
		return e.args[0]
	}
	return e
}

func constTypeFor(v *types.Value, col *types.Type) types.Type {
	if v.K == types.KindDecimal || v.K == types.KindFloat || integral(v.K) {
		return literalType(*v)
	}
	t := *col
	if v.K == types.KindDatetime {
		t = types.Type{ID: types.TypeDatetime, Scale: int8(v.Scale), Length: -1}
	}
	return t
}

func evalAdapt(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.K == types.KindNull {
		return v, err
	}
	to := n.aux.(*adaption)
	if to.placeholder && v.K == types.KindString && classOf(&to.typ) == classTime {
		t, ok := ctx.timeOf(&v)
		if !ok {
			ctx.Warn(types.LevelWarning, types.ErTruncatedWrongValue, "time", ctx.textOf(&v))
			return types.Null(), nil
		}
		return t, nil
	}
	if v.K != types.KindString || classOf(&to.typ) != classTemporal {
		if nv, ok := adaptValue(ctx, v, &to.typ, to.stored); ok {
			return nv, nil
		}
		return v, nil
	}
	dt, ok, whole := types.TextDate(ctx.Context, &v)
	if ok && !to.placeholder && types.HasZeroInDate(dt.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0 {
		ok = false
	}
	if !ok && to.placeholder { // it is converted to its own type, in which February may have 30 days
		dt, ok, whole = types.TextDate(&types.Context{SQLMode: types.ModeAllowInvalidDates}, &v)
	}
	if ok && !whole || !ok && to.placeholder {
		to.need.warn(ctx, &v)
	}
	switch {
	case ok:
		return fitDate(ctx, dt, &to.typ), nil
	case to.placeholder:
		return types.Null(), nil
	}
	return v, nil
}

// adaption is what a constant is converted to for a comparison, and how.
type adaption struct {
	typ         types.Type
	need        DateNeed
	placeholder bool // as in MySQL it is of that type: a text that is no date makes it NULL
	tolerant    bool // a text that is no date is not error 1525
	stored      bool // a number loses what a column of dates has no place for, as if it were stored there; not in the list of IN
}

// bitsOf returns the bytes of a text as a big-endian number, as a BIT column of type t stores it; ok is false if it has more bits than the
// column.
func bitsOf(v types.Value, t *types.Type) (types.Value, bool) {
	text := bytes.TrimLeft(v.B, "\x00")
	if len(text) > 8 {
		return v, false
	}
	n := types.Uint(hexNumber(text))
	return n, bits.Len64(n.Uint64()) <= int(t.Length)
}

// yearOf returns a number or text as a YEAR column stores it: 22 is 2022.
func yearOf(ctx *Ctx, v types.Value, t *types.Type) (types.Value, bool) {
	if v.K == types.KindDecimal || v.K == types.KindFloat {
		v = types.DecRound(ctx.decimal(&v), 0)
	}
	n, ok := exactInteger(ctx, v)
	if !ok || n.K == types.KindDecimal {
		return begunYear(ctx, v)
	}
	if v.K != types.KindString {
		v = n
	}
	year, err := types.Cast(nil, v, *t)
	if err != nil || year.IsNull() {
		return n, v.K == types.KindString
	}
	return year, true
}

// begunYear returns the year with which a text begins, as a YEAR column stores it where nobody asks for what is cut off: that of '2008-01-01' is 2008.
func begunYear(ctx *Ctx, v types.Value) (types.Value, bool) {
	if v.K != types.KindString || v.Coll.Charset().MinLen > 1 {
		return v, false
	}
	d, _, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " \t\n\v\f\r"))
	if !ok {
		return v, false
	}
	n, ok := exactInteger(ctx, types.DecRound(d, 0))
	if !ok || !integral(n.K) {
		return v, false
	}
	switch year := n.N; {
	case year == 0 && len(v.B) == 4:
		return types.Int(0), true
	case year >= 0 && year < 70:
		return types.Int(2000 + year), true
	case year >= 70 && year < 100:
		return types.Int(1900 + year), true
	case year > 1900 && year <= 2155:
		return types.Int(year), true
	}
	return v, false
}

// adaptValue converts v to the kind of t. ok is false if that is not possible without loss.
func adaptValue(ctx *Ctx, v types.Value, t *types.Type, stored bool) (types.Value, bool) {
	switch classOf(t) {
	case classInt:
		switch {
		case t.ID == types.TypeBit && v.K == types.KindString:
			return bitsOf(v, t)
		case t.ID == types.TypeYear:
			return yearOf(ctx, v, t)
		}
		return exactInteger(ctx, v)
	case classFloat:
		if v.K == types.KindInt || v.K == types.KindUint || v.K == types.KindDecimal {
			return types.Float(ctx.float(&v)), true
		}
	case classDecimal:
		if v.K == types.KindString {
			// The exact number: as doubles, different decimals can be equal.
			d, rest, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " \t\n\v\f\r"))
			return d, ok && len(bytes.TrimRight(rest, " ")) == 0 && v.Coll.Charset().MinLen == 1
		}
		if v.K == types.KindInt || v.K == types.KindUint || v.K == types.KindDecimal {
			d := ctx.decimal(&v)
			r := types.DecRound(d, int(t.Scale))
			return r, types.DecCompare(d, r) == 0
		}
	case classTime:
		return adaptTime(ctx, v, t)
	case classTemporal:
		if d, ok := adaptTemporal(ctx, v, t, stored); !ok || !stored || !v.IsNumeric() {
			return d, ok
		}
		return storedDate(ctx, v, t)
	}
	return v, false
}

// storedDate returns the number v as a column of type t, of dates, would hold it.
func storedDate(ctx *Ctx, v types.Value, t *types.Type) (types.Value, bool) {
	to := types.Type{ID: t.ID, Length: -1, Scale: max(t.Scale, 0)}
	if to.ID == types.TypeTimestamp {
		to.ID = types.TypeDatetime
	}
	d, err := types.Convert(&types.Context{SQLMode: ctx.SQLMode, Loc: ctx.Location(), Strict: true}, v, to, "", 1)
	if err != nil {
		return v, false
	}
	return fitDate(ctx, d, t), true
}

// adaptTime converts v to the TIME type t of a column, rounded to its scale: a date to its time of day, a text only if nothing else is in it.
func adaptTime(ctx *Ctx, v types.Value, t *types.Type) (types.Value, bool) {
	if v.K == types.KindBit || v.K == types.KindJSON || v.K == types.KindTime {
		return v, v.K == types.KindTime
	}
	quiet := NewCtx(&types.Context{SQLMode: ctx.SQLMode, Loc: ctx.Location()})
	time, ok := quiet.timeOf(&v)
	if !ok || v.K == types.KindString && quiet.WarningCount() > 0 {
		return v, false
	}
	rounded, err := types.Cast(quiet.Context, time, types.Type{ID: types.TypeTime, Length: -1, Scale: max(t.Scale, 0)})
	return rounded, err == nil && !rounded.IsNull()
}

func adaptTemporal(ctx *Ctx, v types.Value, t *types.Type, doubles bool) (types.Value, bool) {
	if v.K == types.KindFloat && !doubles || v.K == types.KindTime && ctx.Context == nil {
		return v, false
	}
	dt, ok := types.ToDatetime(ctx.Context, &v)
	if !ok || v.K == types.KindString && types.HasZeroInDate(dt.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0 {
		return v, false
	}
	return fitDate(ctx, dt, t), true
}

// fitDate converts a date and time to a type of dates if nothing is lost.
func fitDate(ctx *Ctx, dt types.Value, t *types.Type) types.Value {
	switch t.ID {
	case types.TypeDate:
		if d, ok := types.ToDate(nil, &dt); ok && d.N == dt.N {
			return d
		}
	case types.TypeTimestamp:
		to := types.Type{ID: types.TypeTimestamp, Scale: 6, Length: -1}
		strict := types.Context{Loc: ctx.Location(), Strict: true}
		if ts, err := types.Convert(&strict, dt, to, "", 1); err == nil {
			ts.Scale = dt.Scale
			return ts
		}
	}
	return dt
}

// exactInteger returns v as an integer if it is one, and a text of another number as a decimal.
func exactInteger(ctx *Ctx, v types.Value) (types.Value, bool) {
	switch v.K {
	case types.KindInt, types.KindUint, types.KindBit:
		return v, true
	case types.KindFloat:
		f := v.Float64()
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return types.Int(int64(f)), true
		}
	case types.KindDecimal:
		if r := types.DecRound(v, 0); types.DecCompare(r, v) == 0 {
			if n, ok := types.DecToInt(r); ok {
				return types.Int(n), true
			}
			if n, ok := types.DecToUint(r); ok {
				return types.Uint(n), true
			}
		}
	case types.KindString:
		d, rest, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " \t\n\v\f\r"))
		if ok && len(bytes.TrimRight(rest, " ")) == 0 {
			if n, whole := exactInteger(ctx, d); whole {
				return n, true
			}
			return d, true // a double could round to an integer that is not equal to it
		}
	}
	return v, false
}
