package expr

import (
	"github.com/pandodb/pando/types"
)

// inHow is how the operand of IN is compared with the items. As in MySQL that depends on all of them: with a document among them, all are compared as
// JSON; texts and dates as dates, texts and times as times; and if there are numbers, too, dates and times as texts.
type inHow struct {
	op     string
	coll   types.CollationID // of texts; 0 if no text is compared with a text
	json   bool
	dates  bool
	times  bool
	number bool // the operand is compared with some items as a number
	mixed  bool // and with others not
	years  bool // the operand is a YEAR, which = compares with 21 as 2021, and IN does not
}

// howIn looks at the arguments of IN, and converts the texts among them to one character set.
func (b *BuildContext) howIn(args []Expr) (inHow, error) {
	h := inHow{op: "in"}
	if len(args) == 2 {
		h.op = "="
		return h, b.shareCollation(&h, args)
	}
	left := args[0]
	h.json = left.typ.ID == types.TypeJSON
	for _, item := range args[1:] {
		h.json = h.json || item.typ.ID == types.TypeJSON
		if !IsConstInStatement(item) {
			break // as MySQL stops at the first that is no constant
		}
	}
	if h.json {
		return h, nil
	}
	texts := false
	for _, item := range args[1:] {
		switch {
		case item.typ.ID == types.TypeNull:
		case textClass(left) && textClass(item):
			texts = true
		default:
			h.number = true
		}
	}
	h.years = left.typ.ID == types.TypeYear
	h.mixed = texts && h.number
	if texts && !h.number {
		h.dates, h.times = datesOrTimes(args)
	}
	if !texts {
		return h, nil
	}
	return h, b.shareCollation(&h, args)
}

// datesOrTimes returns as what a list with dates, times and texts is compared: as the last one of them, or the first DATETIME.
func datesOrTimes(args []Expr) (dates, times bool) {
	for _, a := range args {
		switch {
		case a.typ.ID == types.TypeDatetime:
			return true, false
		case dated(&a.typ):
			dates, times = true, false
		case a.typ.ID == types.TypeTime:
			dates, times = false, true
		}
	}
	return dates, times
}

// textClass reports whether MySQL takes e for a text, as it does dates, times and documents.
func textClass(e Expr) bool {
	switch classOf(&e.typ) {
	case classInt, classDecimal, classFloat:
		return false
	}
	return true
}

// override returns the comparator of x with item where IN compares them otherwise than = does, else nil.
func (h *inHow) override(b *BuildContext, x, item Expr) *comparator {
	cx, ci := classOf(&x.typ), classOf(&item.typ)
	switch {
	case len(h.op) == 1 || cx == classNull || ci == classNull:
	case h.json:
		if cx != classJSON && ci != classJSON {
			return &comparator{class: classJSON, list: true}
		}
	case ci == classJSON && cx < classString:
		return &comparator{class: classFloat}
	case ci == classJSON && cx == classString && !h.dates, !h.dates && !h.times && cx == classString && (ci == classTemporal || ci == classTime):
		return &comparator{class: classString}
	case h.dates && cx != classTemporal:
		return &comparator{class: classTemporal, date: DateNeed{Type: types.TypeDatetime}}
	case h.times && (cx != classTime || ci != classTime && !IsConst(item)), cx == classTime && ci == classTemporal && h.number:
		return &comparator{class: classTime, list: true}
	case h.coll != 0 && cx == classString && ci == classString:
		return &comparator{class: classString}
	case h.mixed && cx >= classTemporal && ci < classString: // without the number's conversion to a date
		return &comparator{class: classFloat}
	case h.years:
		return &comparator{class: max(cx, min(ci, classFloat))}
	}
	return nil
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
	op := " IN "
	if len(args) == 2 {
		op = "="
	}
	d, err := b.aggregateFor(op, true, args, args)
	if err != nil {
		return err
	}
	if !h.dates && !h.times {
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
