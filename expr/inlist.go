package expr

import (
	"github.com/pandodb/pando/types"
)

// inHow is how the operand of IN is compared with the items. As in MySQL that depends on all of them: with a document among them, all are compared as
// JSON; a list of texts with dates or times among them as dates or times; and a list with numbers, too, as the operand is a date, a time or a text.
type inHow struct {
	op   string
	coll types.CollationID // of texts; 0 if no text is compared with a text
	as   inAs
	// numbers and texts say whether the operand is compared with some items as a number, and with some as a text, date or time.
	numbers, texts bool
	dated          bool // all items are constant numbers, which become dates or times as the operand is one
	years          bool // the operand is a YEAR, which = compares with 21 as 2021, and IN does not
}

// inAs is as what IN compares the operand with items that are no numbers.
type inAs uint8

const (
	inTexts inAs = iota
	inJSON
	inDatetimes // what is none is the zero date
	inDates     // a list of constants: the operand's time of day does not count; if it is no date, it is not in the list
	inTimes     // a list of constants; the same, but with times
	inTimeTexts // texts that are no times are equal to each other, and a date is its text
)

// howIn looks at the arguments of IN, and converts the texts among them to one character set.
func (b *BuildContext) howIn(args []Expr) (inHow, error) {
	h := inHow{op: "in"}
	if len(args) == 2 {
		h.op = "="
		return h, b.shareCollation(&h, args)
	}
	left, constants := args[0], true
	json := left.typ.ID == types.TypeJSON
	for _, item := range args[1:] {
		json = json || item.typ.ID == types.TypeJSON
		if constants = IsConstInStatement(item); !constants {
			break // as MySQL stops at the first that is no constant
		}
	}
	if json {
		h.as = inJSON
		return h, nil
	}
	for _, item := range args[1:] {
		switch {
		case item.typ.ID == types.TypeNull:
		case textClass(left) && textClass(item):
			h.texts = true
		default:
			h.numbers = true
		}
	}
	h.years = left.typ.ID == types.TypeYear
	switch moment := left.typ.IsTemporal() && !h.years; {
	case h.texts && !h.numbers:
		h.as = listOfMoments(args, constants)
	case h.numbers && moment && constants && !h.texts:
		h.as, h.dated = listOfMoments(args[:1], true), true
	case moment:
		h.as = listOfMoments(args[:1], false)
	}
	if !h.texts {
		return h, nil
	}
	return h, b.shareCollation(&h, args)
}

// listOfMoments returns as what a list is compared that has dates and times among args: as their type, if they are all of one and the items are constants;
// else as the last that differs from those before it, unless there was a date with time.
func listOfMoments(args []Expr, constants bool) inAs {
	whole, last := types.TypeNull, types.TypeNull
	for _, a := range args {
		t := a.typ.ID
		switch {
		case !a.typ.IsTemporal() || t == types.TypeYear || t == whole:
		case whole == types.TypeNull:
			whole, last = t, t
		default:
			if whole = types.TypeDatetime; last != types.TypeDatetime && last != types.TypeTimestamp {
				last = t
			}
		}
	}
	switch {
	case whole == types.TypeNull:
		return inTexts
	case constants && whole == types.TypeTime:
		return inTimes
	case constants && whole == types.TypeDate:
		return inDates
	case constants || last != types.TypeTime:
		return inDatetimes
	}
	return inTimeTexts
}

// textClass reports whether MySQL takes e for a text, as it does dates, times and documents.
func textClass(e Expr) bool {
	switch classOf(&e.typ) {
	case classInt, classDecimal, classFloat:
		return false
	}
	return true
}

// override returns the comparator of x with item where IN compares them otherwise than = does, else nil, and the item to compare.
func (h *inHow) override(b *BuildContext, x, item Expr) (*comparator, Expr) {
	cx, ci := classOf(&x.typ), classOf(&item.typ)
	column := x.kind == kindColumn
	switch {
	case len(h.op) == 1 || cx == classNull || ci == classNull:
		return nil, item
	case h.as == inJSON && (cx == classJSON || ci == classJSON):
		return nil, item
	case h.as == inJSON:
		return &comparator{class: classJSON, list: inJSON}, item
	case h.as != inTexts && (textClass(item) || h.dated):
		return h.moments(), b.listedMoment(h.as, x, item)
	case textClass(x) && textClass(item):
		return &comparator{class: classString}, item
	case h.years:
		return &comparator{class: max(cx, min(ci, classFloat))}, item
	case cx < classString && column && IsConst(item), cx < classString && ci < classString && !IsConst(x):
		return nil, item // a constant is converted to the column's type, by which an index is found
	case cx < classString && ci < classString:
		return &comparator{class: max(cx, ci)}, item
	}
	return &comparator{class: classFloat}, asNumber(item)
}

// moments returns the comparator of the operand with an item as dates or times.
func (h *inHow) moments() *comparator {
	switch h.as {
	case inDatetimes:
		return &comparator{class: classTemporal, list: inDatetimes, date: DateNeed{Type: types.TypeDatetime}}
	case inDates:
		return &comparator{class: classTemporal, list: inDates}
	}
	return &comparator{class: classTime, list: h.as}
}

// listedMoment converts the constant item of a list to the date or time that it is; what is none stays. A date and time becomes one of the type of left, if
// nothing is lost.
func (b *BuildContext) listedMoment(as inAs, left, item Expr) Expr {
	v, ok := item.ConstValue()
	if !ok && left.kind == kindColumn && IsConst(item) { // a literal whose value is not known yet
		column := *left
		if column.typ.ID == types.TypeTime {
			column.typ.Scale = types.MaxFsp
		}
		item, _ = b.adapt(&column, item, &adaption{tolerant: true}) // only what is no date where one has to be fails
	}
	if !ok || v.IsNull() {
		return item
	}
	ctx := b.quietCtx()
	switch as {
	case inDates:
		if v, ok = listedDate(ctx, &v); ok {
			return Const(v, dateType)
		}
	case inTimes:
		if v, ok = ctx.timeOf(&v); ok {
			return Const(v, types.Type{ID: types.TypeTime, Scale: int8(v.Scale), Length: -1})
		}
	case inDatetimes:
		if v, ok = adaptTemporal(ctx, v, &left.typ, false); ok {
			return Const(v, constTypeFor(&v, &left.typ))
		}
	}
	return item
}

// compareListedDate is 0 if the date of x is the item in a list of dates; an item that is no date is the zero date.
func (ctx *Ctx) compareListedDate(x, item *types.Value) int {
	d, ok := types.ToDate(ctx.Context, x)
	if x.K == types.KindString && (d.N == 0 && ctx.SQLMode&types.ModeNoZeroDate != 0 || types.HasZeroInDate(d.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0) {
		ok = false
	}
	listed, fine := listedDate(ctx, item)
	if !fine {
		listed.N = 0
	}
	return max(orderInts(d.N, listed.N), orderInts(listed.N, d.N), orderTruths(ok, true))
}

// listedDate returns the item of a list of dates as one, which nothing with a time of day is.
func listedDate(ctx *Ctx, v *types.Value) (types.Value, bool) {
	t, ok := types.ToDatetime(ctx.Context, v)
	if !ok {
		return t, false
	}
	d, _ := types.ToDate(nil, &t)
	return d, d.N == t.N
}

// shareCollation converts all texts among args to one character set and notes the collation in which they are compared: IN has one for the whole
// list.
func (b *BuildContext) shareCollation(h *inHow, args []Expr) error {
	strs := 0
	for _, a := range args {
		if classOf(&a.typ) == classString {
			strs++
		}
	}
	if strs == 0 || strs == 1 && len(args) == 2 || classOf(&args[0].typ) != classString && len(args) == 2 {
		return nil
	}
	var d derivation
	var err error
	if len(args) == 2 {
		d, err = b.mergeTwo("=", true, args[0], args[1])
	} else {
		d, err = b.aggregate(" IN ", true, args...)
	}
	if err != nil {
		return err
	}
	if h.as == inTexts {
		for i, a := range args {
			if classOf(&a.typ) == classString {
				args[i] = b.toCharset(a, d.coll)
			}
		}
	}
	if classOf(&args[0].typ) == classString {
		h.coll = d.coll
	}
	return nil
}
