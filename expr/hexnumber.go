package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// numberArguments maps function names to a bit set of their arguments that are numbers (bit 0 is the first): there a literal x'..' or b'..' is
// the number of its bits, as in MySQL, and not the text of its bytes. Builders of operators, and of functions whose result type is that of an
// argument, call AsNumber themselves.
var numberArguments = map[string]uint{
	"adddate": 1 << 1, "subdate": 1 << 1, "date_add": 1 << 1, "date_sub": 1 << 1, "timestampadd": 1 << 1,
	"makedate": 1<<0 | 1<<1, "maketime": 1<<0 | 1<<1 | 1<<2, "sec_to_time": 1 << 0, "from_days": 1 << 0, "from_unixtime": 1 << 0,
	"period_add": 1<<0 | 1<<1, "period_diff": 1<<0 | 1<<1, "week": 1 << 1, "yearweek": 1 << 1,
	"left": 1 << 1, "right": 1 << 1, "substring": 1<<1 | 1<<2, "substr": 1<<1 | 1<<2, "mid": 1<<1 | 1<<2, "lpad": 1 << 1, "rpad": 1 << 1,
	"repeat": 1 << 1, "space": 1 << 0, "locate": 1 << 2, "insert": 1<<1 | 1<<2, "elt": 1 << 0, "make_set": 1 << 0, "export_set": 1<<0 | 1<<4,
	"substring_index": 1 << 2, "char": everyArgument, "char_using": everyArgument, "interval": everyArgument,
	"format": 1<<0 | 1<<1, "conv": 1<<0 | 1<<1 | 1<<2, "bin": 1 << 0, "oct": 1 << 0, "bit_count": 1 << 0, "sha2": 1 << 1, "random_bytes": 1 << 0,
	"sign": 1 << 0, "sqrt": 1 << 0, "pow": 1<<0 | 1<<1, "power": 1<<0 | 1<<1, "exp": 1 << 0, "ln": 1 << 0, "log": 1<<0 | 1<<1, "log2": 1 << 0,
	"log10": 1 << 0, "sin": 1 << 0, "cos": 1 << 0, "tan": 1 << 0, "cot": 1 << 0, "asin": 1 << 0, "acos": 1 << 0, "atan": 1<<0 | 1<<1,
	"atan2": 1<<0 | 1<<1, "degrees": 1 << 0, "radians": 1 << 0, "round": 1 << 1, "truncate": 1 << 1, "rand": 1 << 0,
	"regexp_instr": 1<<2 | 1<<3 | 1<<4, "regexp_substr": 1<<2 | 1<<3, "regexp_replace": 1<<3 | 1<<4,
	"inet_ntoa": 1 << 0, "uuid_to_bin": 1 << 1, "bin_to_uuid": 1 << 1, "sleep": 1 << 0, "benchmark": 1 << 0, "get_lock": 1 << 1,
	"format_bytes": 1 << 0, "format_pico_time": 1 << 0,
}

const everyArgument = ^uint(0)

// readNumbers turns the hexadecimal and bit literals among the arguments of n into numbers where the function reads numbers.
func (n *Node) readNumbers() {
	where := numberArguments[n.name]
	if where == 0 || !slices.ContainsFunc(n.args, (*Node).isHexLiteral) {
		return
	}
	if len(n.args) == 3 && where == 1<<1 {
		if u, err := unitOf(n.args[2]); err == nil && u.Composite() {
			return // the amount is a text of several numbers
		}
	}
	n.args = slices.Clone(n.args)
	for i, a := range n.args {
		if where == everyArgument || where>>uint(i)&1 != 0 {
			n.args[i] = AsNumber(a)
		}
	}
}

// asNumber is AsNumber that also converts IF, CASE, GREATEST and LEAST whose result is a text because their arguments differ in type. Where a
// number is expected, MySQL evaluates the chosen argument as one, not the number that its text begins with: a date is 20240131 and not 2024, an
// ENUM is its position.
func asNumber(e Expr) Expr {
	if e.IsCall("greatest", "least") && isTextual(&e.typ) && e.aux.(*comparator).class == classTemporal {
		return extremeDate(e)
	}
	if !e.IsCall("if", "case", "case_value") || !isTextual(&e.typ) {
		return AsNumber(e)
	}
	noText := func(a Expr) bool {
		return a.isHexLiteral() || a.IsCall("coerce") && (a.args[0].isHexLiteral() || !a.args[0].typ.IsStringType()) || !a.typ.IsStringType()
	}
	if results := e.results(); !slices.ContainsFunc(results, noText) {
		return e
	}
	n := *e
	n.args = slices.Clone(e.args)
	n.typ, n.coer, n.ascii, n.batch, n.filter = doubleType(), CoerNumeric, true, nil, nil
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) && n.args[i].typ.Kind() != n.typ.Kind() {
			n.args[i] = toDouble(n.args[i])
		}
	}
	return &n
}

// extremeDate returns GREATEST or LEAST over dates and texts, whose own type is text, as a date.
func extremeDate(e Expr) Expr {
	n := newCall("coerce", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.eval = true, dateType, CoerNumeric, true, evalCoerce
	for _, a := range e.args {
		if a.IsCall("coerce") {
			a = a.args[0]
		}
		if a.typ.IsTemporal() && a.typ.ID != types.TypeDate {
			n.typ = types.Type{ID: types.TypeDatetime, Length: -1, Scale: max(n.typ.Scale, a.typ.Scale)}
		}
	}
	return n
}

// firstResult returns the position of the first argument of a CASE or IF that is a result.
func (n *Node) firstResult() int {
	if n.name == "case_value" {
		return 2
	}
	return 1
}

// isResult reports whether argument i of a CASE or IF is one of its results; the last argument is one with or without ELSE.
func (n *Node) isResult(i int) bool { return (i-n.firstResult())%2 == 0 || i == len(n.args)-1 }

// results returns the results of a CASE or IF.
func (n *Node) results() []Expr {
	var out []Expr
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) {
			out = append(out, n.args[i])
		}
	}
	return out
}

// toDouble converts a result of CASE or IF to double, from its type before unify converted it to text.
func toDouble(e Expr) Expr {
	if e.IsCall("coerce") {
		e = e.args[0]
	}
	e = asNumber(e)
	n := newCall("coerce", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.notNull, n.eval = true, doubleType(), CoerNumeric, true, e.notNull, evalCoerce
	return n
}
