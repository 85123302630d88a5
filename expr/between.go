package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// between holds the two comparisons of BETWEEN: low is lo <= x, not x >= lo, and high is x <= hi, so that both are false for a NaN.
type between struct{ low, high *comparator }

// buildBetween keeps x as one argument, so that it is evaluated once. Each bound is compared in the class that it has with x, except that
// three strings are compared in one collation, and numbers in one class (alignClasses).
func buildBetween(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
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

// betweenOne returns the one comparator of both bounds if all three arguments are compared as numbers, as dates or times, or as texts, and converts them;
// else nil. As in MySQL, dates beside texts and times are dates with time, and times beside texts or NULL are texts; but a column of dates or times between a
// constant that is converted for it and another value decides alone (betweenColumn).
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
	if (times && (number || !dates) || dates && number && !(IsConst(lo) && IsConst(hi))) && x.kind == kindColumn && (b.converted(x, lo, hi) || b.converted(x, hi, lo)) {
		return b.betweenColumn(n)
	}
	if numbers || number && classOf(&x.typ) == classString {
		n.args = []Expr{asNumber(x), asNumber(lo), asNumber(hi)}
		return &comparator{class: classFloat}, nil
	}
	if number || !texts && !dates {
		return nil, nil
	}
	d, err := b.aggregate("between", texts, x, lo, hi)
	if err != nil {
		return nil, err
	}
	if dates {
		return b.betweenDates(n)
	}
	n.args = []Expr{b.toCharset(x, d.coll), b.toCharset(lo, d.coll), b.toCharset(hi, d.coll)}
	return &comparator{class: classString, coll: d.coll, bytes: bytewise(d.coll)}, nil
}

// betweenDates is betweenOne of dates, times and texts: all are compared as dates with time, even two texts. Constant texts are converted.
func (b *BuildContext) betweenDates(n *Node) (_ *comparator, err error) {
	date := n.args[slices.IndexFunc(n.args, func(a Expr) bool { return classOf(&a.typ) == classTemporal })]
	args := slices.Clone(n.args)
	for i, a := range args {
		if classOf(&a.typ) == classString && IsConst(a) {
			if args[i], err = b.adapt(date, a, &adaption{tolerant: true, stored: true}); err != nil {
				return nil, err
			}
		}
	}
	n.args = args
	return &comparator{class: classTemporal, date: dateNeed(date)}, nil
}

// betweenColumn is betweenOne of a column of dates or times of which a bound is converted: if all are dates or times then, they are compared as the column's
// type, else as integers. A bound that cannot be converted stays as it is.
func (b *BuildContext) betweenColumn(n *Node) (_ *comparator, err error) {
	x, args, moments := n.args[0], slices.Clone(n.args), true
	for i, a := range args[1:] {
		if v, _ := a.ConstValue(); b.converted(x, a, args[2-i]) {
			switch x.typ.ID {
			case types.TypeTime:
				if args[i+1], err = b.adapt(x, a, &adaption{tolerant: true, stored: true}); err != nil {
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
		c := classOf(&args[i+1].typ)
		moments = moments && (c == classTemporal || c == classTime)
	}
	c := &comparator{class: classOf(&x.typ), date: dateNeed(x)}
	for i, a := range args {
		switch {
		case !moments:
			c, args[i] = &comparator{class: classInt}, b.coerced(asNumber(a), intType(21))
		case x.typ.ID == types.TypeDate && a.typ.ID != types.TypeDate:
			args[i] = b.coerced(a, dateType)
		}
	}
	n.args = args
	return c, nil
}

// converted reports whether MySQL converts the constant k for BETWEEN with the column x of dates or times, beside the other bound: not a literal of its own
// type. A literal whose value is not known yet is taken for a time, if the other is one or a constant, and a number stays one beside another.
func (b *BuildContext) converted(x, k, other Expr) bool {
	if !x.typ.IsTemporal() || x.typ.ID == types.TypeYear || k.typ.ID == x.typ.ID && computed(k) == k {
		return false
	}
	v, ok := k.ConstValue()
	c := classOf(&other.typ)
	moment := c == classTemporal || c == classTime
	switch time := x.typ.ID == types.TypeTime; {
	case !ok:
		return time && IsConst(k) && (moment || IsConst(other))
	case v.IsNull():
		return false
	case time:
		_, ok = b.quietCtx().timeOf(&v)
		return ok && (!textClass(k) || types.WholeTime(v.B))
	}
	if textClass(k) || moment {
		_, ok = types.ToDatetime(b.quietCtx().Context, &v)
		return ok
	}
	return false
}

// betweenBounds prepares a comparator for each bound. done is true if n has become another node.
func (b *BuildContext) betweenBounds(n *Node) (done bool, err error) {
	lc, lx, lo, err := b.newComparator(opBetween, n.args[0], n.args[1])
	if err != nil {
		return false, err
	}
	hc, hx, hi, err := b.newComparator(opBetween, n.args[0], n.args[2])
	if err != nil {
		return false, err
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
	if numbers { // beside which x'61' is one, too
		args = slices.Clone(args)
		for i, a := range args {
			if classOf(&a.typ) == classString {
				args[i] = asNumber(a)
			}
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
