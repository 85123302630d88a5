package expr

import (
	"slices"
	"unicode/utf8"

	"github.com/pandodb/pando/types"
)

// inList is the aux of IN: one comparator per item and, if all items are constants of the operand's class, a sorted set.
type inList struct {
	items []*comparator
	ints  []int64  // sorted; every item is a signed integer
	texts [][]byte // sorted by coll; every item is a string
	coll  types.CollationID
	null  bool // with a set: the list has a NULL, too
}

// buildIn is x IN (items…). Each item is compared in the class that it has with x.
func buildIn(b *BuildContext, n *Node) error {
	x := n.args[0]
	if isRow(x) || slices.ContainsFunc(n.args, isRow) {
		return buildRowIn(b, n)
	}
	l := &inList{}
	n.args = append([]Expr(nil), n.args...)
	how, err := b.howIn(n.args)
	if err != nil {
		return err
	}
	for i, item := range n.args {
		switch {
		case how.as == inJSON:
			n.args[i] = jsonOperand(item)
		case how.as != inTexts && item.typ.ID == types.TypeJSON:
			n.args[i] = b.coerced(item, stringType(-1, types.Utf8mb4Bin))
		case i == 0 && how.numbers && !how.texts && !how.dated && textClass(item):
			n.args[i] = asNumber(item)
		}
	}
	x = n.args[0]
	args := make([]Expr, 1, len(n.args))
	args[0] = x
	l.items = make([]*comparator, 0, len(n.args)-1)
	for i, item := range n.args[1:] {
		if err := b.pollEvery(i); err != nil {
			return err
		}
		nx := x
		c, ni := how.override(b, x, item)
		if c == nil {
			if c, nx, ni, err = b.newComparator(how.op, x, item); err != nil {
				return err
			}
		}
		if nx != x { // x is a constant and was converted to the type of a column among the items
			return buildInPairs(b, n)
		}
		c.mask = maskEqual
		if c.class == classString && how.coll != 0 {
			c.coll, c.bytes = how.coll, bytewise(how.coll)
		}
		l.items, args = append(l.items, c), append(args, ni)
	}
	number := asNumber(x)
	if x.IsCall("bytes as text") {
		number = asNumber(x.args[0])
	}
	if how.numbers && how.texts && number != x {
		return l.split(b, n, args, number)
	}
	return l.finish(b, n, args)
}

// finish makes n the IN over args.
func (l *inList) finish(b *BuildContext, n *Node, args []Expr) error {
	n.args, n.aux, n.typ, n.eval, n.batch = args, l, boolType(), evalIn, batchIn
	n.notNull = !slices.ContainsFunc(args, func(a Expr) bool { return !a.notNull })
	return l.prepare(b, args)
}

// split makes n one IN over the numbers among the items OR another over the rest, in the order of the first items, for an operand that is another number
// than the one that its text begins with: x'61' is 97 beside numbers, and 'a' beside texts, with which bytes that are no text cannot be compared.
func (l *inList) split(b *BuildContext, n *Node, args []Expr, number Expr) error {
	lists, operands, parts := [2]inList{}, [2][]Expr{{args[0]}, {number}}, [2]Expr{}
	for i, c := range l.items {
		which := 0
		if c.class == classFloat {
			which = 1
		}
		lists[which].items = append(lists[which].items, c)
		operands[which] = append(operands[which], args[i+1])
	}
	for i := range lists {
		parts[i] = newCall(n.name, operands[i])
		if err := lists[i].finish(b, parts[i], operands[i]); err != nil {
			return err
		}
	}
	if l.items[0].class == classFloat {
		parts[0], parts[1] = parts[1], parts[0]
	}
	whole, err := Call(b, "or", parts[0], parts[1])
	if err == nil {
		*n = *whole
	}
	return err
}

// prepare builds the sorted set if the list allows one.
func (l *inList) prepare(b *BuildContext, args []Expr) error {
	cls := classOf(&args[0].typ)
	if cls != classInt && cls != classString {
		return nil
	}
	var ints []int64
	var texts [][]byte
	null := false
	for i, a := range args[1:] {
		v, ok := a.ConstValue()
		switch {
		case !ok:
			return nil
		case v.IsNull():
			null = true
		case cls == classInt && v.K == types.KindInt:
			ints = append(ints, v.N)
		case cls == classString && v.K == types.KindString && l.items[i].class == classString:
			if l.coll != 0 && l.coll != l.items[i].coll {
				return nil
			}
			l.coll = l.items[i].coll
			texts = append(texts, v.B)
		default:
			return nil
		}
	}
	l.null = null
	if ints != nil {
		slices.Sort(ints)
		l.ints = slices.Compact(ints)
	}
	if texts != nil {
		// A million texts take twenty million comparisons by a collation, so it polls. A sort cannot be aborted, but ends soon once all
		// elements compare equal.
		compared := 0
		var err error
		slices.SortFunc(texts, func(x, y []byte) int {
			if compared++; err == nil {
				err = b.pollEvery(compared)
			}
			if err != nil {
				return 0
			}
			return types.CompareStrings(x, y, l.coll)
		})
		if err != nil {
			return err
		}
		l.texts = texts
	}
	return nil
}

func (l *inList) hasInt(n int64) bool {
	if len(l.ints) <= 8 {
		return slices.Contains(l.ints, n)
	}
	_, ok := slices.BinarySearch(l.ints, n)
	return ok
}

func (l *inList) hasText(ctx *Ctx, s []byte) bool {
	_, ok := slices.BinarySearchFunc(l.texts, s, func(item, s []byte) int { return ctx.compareTexts(item, s, l.coll) })
	return ok
}

func evalIn(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || x.K == types.KindNull {
		return types.Null(), err
	}
	l := n.aux.(*inList)
	switch {
	case l.ints != nil && x.K == types.KindInt:
		return l.answer(l.hasInt(x.N)), nil
	case l.texts != nil && x.K == types.KindString:
		return l.answer(l.hasText(ctx, x.B)), nil
	}
	null := false
	for i, c := range l.items {
		if err := ctx.steps(1); err != nil {
			return types.Null(), err
		}
		item := n.args[i+1]
		y, err := item.eval(ctx, item, row)
		if err != nil {
			return y, err
		}
		if y.K == types.KindNull {
			null = true
			continue
		}
		order, ok := c.compare(ctx, &x, &y)
		if !ok {
			null = true
		} else if order == 0 {
			return types.Int(1), nil
		}
	}
	if null {
		return types.Null(), nil
	}
	return types.Int(0), nil
}

func (l *inList) answer(hit bool) types.Value {
	if !hit && l.null {
		return types.Null()
	}
	return types.Bool(hit)
}

// buildInPairs rewrites IN into equalities joined by OR.
func buildInPairs(b *BuildContext, n *Node) error {
	defer func(was bool) { b.NoDateFits = was }(b.NoDateFits)
	b.NoDateFits = b.NoDateFits || len(n.args) > 2
	parts := make([]Expr, 0, len(n.args))
	for _, item := range n.args[1:] { // Call polls the interrupt
		p, err := Call(b, "=", n.args[0], item)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	whole := parts[0]
	if len(parts) > 1 {
		var err error
		if whole, err = Call(b, "or", parts...); err != nil {
			return err
		}
	}
	*n = *whole
	return nil
}

func buildRowIn(b *BuildContext, n *Node) error {
	for _, item := range n.args[1:] {
		if err := sameShape(n.args[0], item); err != nil {
			return err
		}
	}
	return buildInPairs(b, n)
}

// likePattern is the aux of LIKE.
type likePattern struct {
	compiled *types.Like // nil if the pattern is not constant
	escape   rune        // the default if dynamic; 0: none
	dynamic  bool        // the escape character is the node's third argument, evaluated at execution
	coll     types.CollationID
}

// escapeOf returns the character v after ESCAPE: 0 for an empty text, which is no escape character, and byDefault for NULL. It fails with 1210
// for more than one character.
func escapeOf(v *types.Value, byDefault rune) (rune, error) {
	switch {
	case v.IsNull():
		return byDefault, nil
	case v.Coll.Charset().CountChars(v.B) > 1:
		return 0, types.Errorf(types.ErWrongArguments, "ESCAPE")
	case len(v.B) == 0:
		return 0, nil
	}
	escape, _ := utf8.DecodeRune(v.B)
	return escape, nil
}

func buildLike(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	d, err := b.aggregate("like", true, n.args[0], n.args[1])
	if err != nil {
		return err
	}
	p := &likePattern{escape: '\\', coll: d.coll}
	if b.mode()&types.ModeNoBackslashEscapes != 0 {
		p.escape = 0
	}
	if len(n.args) == 3 {
		n.args[2] = b.toCharset(n.args[2], types.Utf8mb4Bin)
		switch e, ok := n.args[2].ConstValue(); {
		case ok && (e.IsNull() || e.K == types.KindString):
			if p.escape, err = escapeOf(&e, p.escape); err != nil {
				return err
			}
		case n.args[2].flags&(FlagColumn|FlagVolatile|FlagSideEffect|FlagOpaque) != 0:
			return types.Errorf(types.ErWrongArguments, "ESCAPE")
		default:
			p.dynamic = true
		}
	}
	x, y := b.toCharset(n.args[0], d.coll), b.toCharset(n.args[1], d.coll)
	n.args = append([]Expr{x, y}, n.args[2:]...)
	if v, ok := y.ConstValue(); ok && v.K == types.KindString && !p.dynamic {
		if err := b.Hold(types.LikeBytes(v.B)); err != nil {
			return err
		}
		if p.compiled, err = types.NewLike(v.B, p.escape, p.coll, b.Poll); err != nil {
			return err
		}
	}
	n.aux, n.typ, n.eval, n.batch = p, boolType(), evalLike, batchLike
	n.notNull = x.notNull && y.notNull
	return nil
}

func evalLike(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, err := ctx.text(n.args[0], row)
	if err != nil || x.IsNull() {
		return types.Null(), err
	}
	p := n.aux.(*likePattern)
	if p.compiled != nil {
		return ctx.likeVerdict(p.compiled, x.B)
	}
	y, err := ctx.text(n.args[1], row)
	if err != nil || y.IsNull() {
		return types.Null(), err
	}
	escape := p.escape
	if p.dynamic {
		v, err := ctx.text(n.args[2], row)
		if err != nil {
			return types.Null(), err
		}
		if escape, err = escapeOf(&v, escape); err != nil {
			return types.Null(), err
		}
	}
	l, err := ctx.like(y.B, escape, p.coll)
	if err != nil {
		return types.Null(), err
	}
	return ctx.likeVerdict(l, x.B)
}

// like compiles a pattern and counts its memory.
func (ctx *Ctx) like(pattern []byte, escape rune, c types.CollationID) (*types.Like, error) {
	if !ctx.fits(types.LikeBytes(pattern)) {
		return nil, ctx.failed
	}
	return types.NewLike(pattern, escape, c, ctx.Poll)
}

func (ctx *Ctx) likeVerdict(l *types.Like, s []byte) (types.Value, error) {
	hit, err := l.Match(s, ctx.Poll)
	return types.Bool(hit), err
}
