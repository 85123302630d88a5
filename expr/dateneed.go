package expr

import (
	"errors"
	"strings"

	"github.com/pandodb/pando/types"
)

// DateNeed is what a constant text has to be that a statement compares with a date: a value of that type. Column is the name of the column
// that it is compared with; empty for other expressions.
type DateNeed struct {
	Type   types.TypeID
	Column string
}

func dateNeed(e Expr) DateNeed {
	dot := strings.LastIndexByte(e.name, '.')
	if e.kind != kindColumn || dot < 0 || strings.HasSuffix(e.name, ")") { // such as the column of MAX(…)
		return DateNeed{Type: e.typ.ID}
	}
	return DateNeed{e.typ.ID, strings.Trim(e.name[dot+1:], "`")}
}

// NoDate is the error of such a text that is no date: 1525, or, where a bad value ends a statement anyway, what the value's conversion says.
type NoDate struct {
	Refused, Conversion *types.Error
}

func (e *NoDate) Error() string { return e.Refused.Error() }

// Unwrap makes it 1525 for those who don't settle it.
func (e *NoDate) Unwrap() error { return e.Refused }

// Check returns a NoDate if v is a text that is no date under ctx's sql_mode.
func (d *DateNeed) Check(ctx *types.Context, v types.Value) error {
	if v.K != types.KindString {
		return nil
	}
	if types.DateAllowed(ctx, &v) {
		return nil
	}
	text := string(v.B)
	return &NoDate{Refused: types.Errorf(types.ErWrongValue, strings.ToUpper((&types.Type{ID: d.Type}).Name()), text), Conversion: d.wrong(text)}
}

// wrong is what the conversion of a text says that is no date.
func (d *DateNeed) wrong(text string) *types.Error {
	what := "datetime"
	if d.Type == types.TypeDate {
		what = "date"
	}
	if d.Column == "" {
		return types.Errorf(types.ErTruncatedWrongValue, what, text)
	}
	return types.NewError(types.ErTruncatedWrongValue, types.Errorf(types.ErTruncatedWrongValueForField, what, text, d.Column, 1).Message)
}

// Settle turns a NoDate into what the client sees: the error, and the warning that precedes it.
func Settle(err error, strict bool) (settled error, warning *types.Error) {
	var e *NoDate
	switch {
	case !errors.As(err, &e):
		return err, nil
	case strict:
		return e.Conversion, nil
	}
	return e.Refused, e.Conversion
}

// warn tells that v, which is compared with a date, is none or more than one.
func (d *DateNeed) warn(ctx *Ctx, v *types.Value) {
	ctx.AddError(types.LevelWarning, d.wrong(string(ctx.textOf(v))))
}
