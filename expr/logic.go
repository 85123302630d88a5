package expr

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pandodb/pando/types"
)

func buildAnd(b *BuildContext, n *Node) error { return buildJunction(b, n, evalAnd) }

func buildOr(b *BuildContext, n *Node) error { return buildJunction(b, n, evalOr) }

// buildJunction is AND and OR over any number of arguments; nested ones of the same kind are joined into one node.
func buildJunction(b *BuildContext, n *Node, eval evalFunc) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	var flat []Expr
	n.notNull = true
	for i, a := range n.args {
		n.notNull = n.notNull && a.notNull
		switch {
		case !a.IsCall(n.name):
			flat = append(flat, a)
		case i == 0:
			flat = a.extendArgs()
		default:
			b.visit(len(a.args))
			flat = append(flat, a.args...)
		}
	}
	n.args, n.typ, n.eval = flat, boolType(), eval
	n.batch = batchJunction
	if n.name == "and" {
		n.filter = filterAnd
	} else {
		n.filter = filterOr
	}
	return nil
}

// extendArgs returns the arguments of n, to append to. A chain of ORs is built from the left, one argument at a time, and a copy at each step
// would take time and memory quadratic in its length. So the first caller gets the slice with its spare capacity, which n itself never reads;
// for others append makes a copy. It is safe for concurrent use.
func (n *Node) extendArgs() []Expr {
	if atomic.CompareAndSwapUint32(&n.extended, 0, 1) {
		return n.args
	}
	return n.args[:len(n.args):len(n.args)]
}

func evalAnd(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	result := triTrue
	for _, a := range n.args {
		if err := ctx.steps(1); err != nil {
			return types.Null(), err
		}
		t, err := ctx.test(a, row)
		if err != nil {
			return types.Null(), err
		}
		if t == triFalse {
			return types.Int(0), nil
		}
		if t == triNull {
			result = triNull
		}
	}
	return result.value(), nil
}

func evalOr(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	result := triFalse
	for _, a := range n.args {
		if err := ctx.steps(1); err != nil {
			return types.Null(), err
		}
		t, err := ctx.test(a, row)
		if err != nil {
			return types.Null(), err
		}
		if t == triTrue {
			return types.Int(1), nil
		}
		if t == triNull {
			result = triNull
		}
	}
	return result.value(), nil
}

func buildXor(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	n.typ, n.notNull = boolType(), n.args[0].notNull && n.args[1].notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		x, err := ctx.test(n.args[0], row)
		if err != nil || x == triNull {
			return types.Null(), err
		}
		y, err := ctx.test(n.args[1], row)
		if err != nil || y == triNull {
			return types.Null(), err
		}
		return types.Bool(x != y), nil
	}
	return nil
}

func buildNot(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	n.typ, n.notNull, n.batch = boolType(), n.args[0].notNull, batchNot
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		t, err := ctx.test(n.args[0], row)
		if err != nil || t == triNull {
			return types.Null(), err
		}
		return types.Bool(t == triFalse), nil
	}
	return nil
}

// buildNegated builds "not in", "not like" and so on as NOT over the positive operator, so that the planner need not know them.
func buildNegated(b *BuildContext, n *Node) error {
	positive, err := Call(b, strings.TrimPrefix(n.name, "not "), n.args...)
	if err != nil {
		return err
	}
	not, err := Call(b, "not", positive)
	if err != nil {
		return err
	}
	*n = *not
	return nil
}

// truthTests says which of the three truth values make IS [NOT] TRUE and IS [NOT] FALSE true.
var truthTests = map[string][3]bool{
	"is true": {triTrue: true}, "is not true": {triFalse: true, triNull: true},
	"is false": {triFalse: true}, "is not false": {triTrue: true, triNull: true},
}

func buildTruthTest(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = numbersOf(n.args)
	n.typ, n.notNull = boolType(), true
	n.aux = truthTests[n.name]
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		t, err := ctx.test(n.args[0], row)
		return types.Bool(n.aux.([3]bool)[t]), err
	}
	return nil
}

func buildIsNull(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.name = strings.Replace(strings.Replace(n.name, "unknown", "null", 1), "isnull", "is null", 1)
	n.typ, n.notNull, n.batch = boolType(), true, batchIsNull
	negate := n.name == "is not null"
	n.eval = evalIsNull
	if negate {
		n.eval = evalIsNotNull
		return nil
	}
	// MySQL does not evaluate a constant that cannot be NULL, and so hides its error. IS NOT NULL evaluates it.
	if x := n.args[0]; x.kind == kindCall && x.flags == 0 && x.notNull {
		if _, err := x.Eval(b.quietCtx(), nil); err != nil {
			n.eval, n.batch = evalNever, nil
		}
	}
	return nil
}

func evalNever(*Ctx, *Node, []types.Value) (types.Value, error) { return types.Int(0), nil }

func evalIsNull(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	return types.Bool(v.K == types.KindNull), err
}

func evalIsNotNull(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	return types.Bool(v.K != types.KindNull), err
}

// between holds the two comparisons of BETWEEN: low is lo <= x, not x >= lo, and high is x <= hi, so that both are false for a NaN.
type between struct{ low, high *comparator }

// buildBetween keeps x as one argument, so that it is evaluated once. Each bound is compared in the class that it has with x, except that
// three strings are compared in one collation, and numbers in one class (alignClasses).
func buildBetween(b *BuildContext, n *Node) error {
	if slices.ContainsFunc(n.args, isRow) {
		return buildRowBetween(b, n)
	}
	numbers := false
	numbers, n.args = b.betweenNumbers(n.args)
	c, err := b.betweenOne(n, numbers)
	switch {
	case err != nil:
		return err
	case c != nil:
		c.mask = compareMasks["<="]
		n.aux = &between{c, c}
	default:
		if done, err := b.betweenBounds(n); done || err != nil {
			return err
		}
	}
	n.typ, n.eval = boolType(), evalBetween
	if !numbers && !anyLoose(n.args) {
		n.batch, n.filter = batchBetween, filterBetween
	}
	n.notNull = n.args[0].notNull && n.args[1].notNull && n.args[2].notNull
	return nil
}

// betweenOne returns the one comparator of both bounds if all three arguments are compared as numbers or as texts, and converts them; else nil. As in
// MySQL, times beside texts or NULL are texts, but a column of dates or times between a constant that is converted for it and another value is an
// integer, and so are the bounds.
func (b *BuildContext) betweenOne(n *Node, numbers bool) (*comparator, error) {
	var number, texts, dates, times bool
	for _, a := range n.args {
		switch c := classOf(&a.typ); c {
		case classInt, classDecimal, classFloat:
			number = true
		case classString, classNull:
			texts = true
		case classTemporal:
			dates = true
		case classTime:
			times = true
		}
	}
	x, lo, hi := n.args[0], n.args[1], n.args[2]
	if (times || dates && number && !(IsConst(lo) && IsConst(hi))) && x.kind == kindColumn && (b.converted(x, lo) || b.converted(x, hi)) {
		return b.betweenIntegers(n)
	}
	if numbers || number && classOf(&x.typ) == classString {
		n.args = []Expr{asNumber(x), asNumber(lo), asNumber(hi)}
		return &comparator{class: classFloat}, nil
	}
	if number || !texts {
		return nil, nil
	}
	d, err := b.aggregate("between", true, x, lo, hi)
	if err != nil || dates {
		return nil, err
	}
	n.args = []Expr{b.toCharset(x, d.coll), b.toCharset(lo, d.coll), b.toCharset(hi, d.coll)}
	return &comparator{class: classString, coll: d.coll, bytes: bytewise(d.coll)}, nil
}

// betweenIntegers is betweenOne of a column of dates or times of which a bound is converted: nil if both bounds are of its kind then. A bound that
// cannot be converted stays as it is.
func (b *BuildContext) betweenIntegers(n *Node) (_ *comparator, err error) {
	x, args, same := n.args[0], slices.Clone(n.args), true
	for i, a := range args[1:] {
		if v, _ := a.ConstValue(); b.converted(x, a) {
			switch x.typ.ID {
			case types.TypeTime:
				if args[i+1], err = b.adapt(x, a, true, false); err != nil {
					return nil, err
				}
			case types.TypeDate:
				if v, ok := types.ToDate(b.quietCtx().Context, &v); ok {
					args[i+1] = Const(v, dateType)
				}
			default:
				if v, ok := types.ToDatetime(b.quietCtx().Context, &v); ok {
					args[i+1] = Const(v, types.Type{ID: types.TypeDatetime, Scale: int8(v.Scale), Length: -1})
				}
			}
		}
		same = same && classOf(&args[i+1].typ) == classOf(&x.typ)
	}
	if same {
		n.args = args
		return nil, nil
	}
	for i, a := range args {
		args[i] = b.coerced(a, intType(21))
	}
	n.args = args
	return &comparator{class: classInt}, nil
}

// converted reports whether MySQL converts the constant k for BETWEEN with the column x of dates or times: not a literal of its own type.
func (b *BuildContext) converted(x, k Expr) bool {
	v, ok := k.ConstValue()
	if !ok || v.IsNull() || !x.typ.IsTemporal() || x.typ.ID == types.TypeYear || k.typ.ID == x.typ.ID && computed(k) == k {
		return false
	}
	if classOf(&x.typ) == classTime {
		_, ok = b.quietCtx().timeOf(&v)
		ok = ok && (!textClass(k) || types.WholeTime(v.B))
	} else if ok = textClass(k); ok { // a number is compared as one anyway
		_, ok = types.ToDatetime(b.quietCtx().Context, &v)
	}
	return ok
}

// betweenBounds prepares a comparator for each bound. done is true if n has become another node.
func (b *BuildContext) betweenBounds(n *Node) (done bool, err error) {
	dates := betweenDates(n.args)
	if dates != nil {
		if n.args, err = b.asDates(n.args, dates); err != nil {
			return false, err
		}
	}
	lc, lx, lo, err := b.newComparator(opBetween, n.args[0], n.args[1])
	if err != nil {
		return false, err
	}
	hc, hx, hi, err := b.newComparator(opBetween, n.args[0], n.args[2])
	if err != nil {
		return false, err
	}
	if dates != nil {
		lc.class, hc.class = classTemporal, classTemporal
	}
	switch {
	case lx == hx:
		n.args, n.aux = []Expr{lx, lo, hi}, &between{lc, hc}
		alignClasses(n.args, lc, hc)
	case alignClasses(n.args, lc, hc): // newComparator converted the constant x for a bound: compare the original
		n.aux = &between{lc, hc}
	default:
		return true, buildBetweenPair(b, n)
	}
	return false, nil
}

// betweenNumbers reports whether BETWEEN compares doubles because its arguments mix numbers with dates or JSON, unless x is a temporal column
// and both bounds are constants, which are converted to its type. It returns the arguments to compare. JSON that is not compared as numbers is
// compared as text, as in MySQL.
func (b *BuildContext) betweenNumbers(args []Expr) (numbers bool, out []Expr) {
	json, dates := false, false
	for _, a := range args {
		switch c := classOf(&a.typ); c {
		case classInt, classDecimal, classFloat:
			numbers = true
		case classJSON:
			json = true
		case classTemporal, classTime:
			dates = true
		}
	}
	constants := IsConst(args[1]) && IsConst(args[2])
	if numbers = numbers && (json || dates && !(constants && args[0].kind == kindColumn && args[0].typ.IsTemporal())); !numbers && !json {
		return false, args
	}
	out = make([]Expr, len(args))
	for i, a := range args {
		switch {
		case numbers:
			out[i] = asNumber(a)
		case a.typ.ID == types.TypeJSON:
			out[i] = b.coerced(a, stringType(-1, types.Utf8mb4Bin))
		default:
			out[i] = a
		}
	}
	return numbers, out
}

// betweenDates returns a date among the arguments of BETWEEN if all others are dates or texts, else nil. With a date all three are compared as
// dates, even two texts.
func betweenDates(args []Expr) Expr {
	var date Expr
	for _, a := range args {
		switch classOf(&a.typ) {
		case classTemporal:
			date = a
		case classString, classTime, classNull:
		default:
			return nil
		}
	}
	return date
}

// asDates converts the constant texts among args to the type of date.
func (b *BuildContext) asDates(args []Expr, date Expr) ([]Expr, error) {
	out := append([]Expr(nil), args...)
	for i, a := range args {
		if classOf(&a.typ) != classString || !IsConst(a) {
			continue
		}
		var err error
		if out[i], err = b.adapt(date, a, true, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// alignClasses makes both bounds compare in one class, as MySQL does with numbers: the largest numeric class of the three, or double if one is a
// text. It does so, and returns true, if there is a number and the others are numbers, texts or NULL.
func alignClasses(args []Expr, low, high *comparator) bool {
	widest, strs := classNull, false
	for _, a := range args {
		switch c := classOf(&a.typ); c {
		case classInt, classDecimal, classFloat:
			widest = max(widest, c)
		case classString:
			strs = true
		case classNull:
		default:
			return false
		}
	}
	if widest == classNull {
		return false
	}
	if strs {
		widest = classFloat
	}
	low.class, high.class = widest, widest
	return true
}

func buildRowBetween(b *BuildContext, n *Node) error {
	if err := sameShape(n.args[0], n.args[1]); err != nil {
		return err
	}
	return buildBetweenPair(b, n)
}

func buildBetweenPair(b *BuildContext, n *Node) error {
	lo, err := Call(b, ">=", n.args[0], n.args[1])
	if err != nil {
		return err
	}
	hi, err := Call(b, "<=", n.args[0], n.args[2])
	if err != nil {
		return err
	}
	and, err := Call(b, "and", lo, hi)
	if err != nil {
		return err
	}
	*n = *and
	return nil
}

func evalBetween(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || x.K == types.KindNull {
		return types.Null(), err
	}
	lo, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil {
		return lo, err
	}
	hi, err := n.args[2].eval(ctx, n.args[2], row)
	if err != nil {
		return hi, err
	}
	return n.aux.(*between).verdict(ctx, &x, &lo, &hi), nil
}

func (c *between) verdict(ctx *Ctx, x, lo, hi *types.Value) types.Value {
	var number types.Value
	if c.low.class == classFloat && c.high.class == classFloat {
		number = types.Float(ctx.float(x)) // converted once, so that there is one warning, and before those of the bounds
		x = &number
	}
	l, h := c.low.verdict(ctx, lo, x), c.high.verdict(ctx, x, hi)
	switch {
	case l.K != types.KindNull && l.N == 0, h.K != types.KindNull && h.N == 0:
		return types.Int(0)
	case l.K == types.KindNull || h.K == types.KindNull:
		return types.Null()
	}
	return types.Int(1)
}
