package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// coerce converts e to the result type t, so that all branches of a CASE agree in kind, scale and character set. It returns e if e does already.
func (b *BuildContext) coerce(e Expr, t types.Type) Expr {
	if e.typ.ID == types.TypeNull {
		return e
	}
	if e.typ.ID == types.TypeBit && t.IsStringType() && t.Coll != types.Binary {
		return b.bytesAsText(e, t.Coll)
	}
	if isTextual(&t) && isTextual(&e.typ) && t.IsStringType() == e.typ.IsStringType() {
		if c := b.toCharset(e, t.Coll); c != e || e.typ.Coll == t.Coll {
			return c
		}
		return b.coerced(e, t) // grouping and sorting use the collation in the values
	}
	k := t.Kind()
	if e.typ.Kind() == k && (e.typ.ID == types.TypeFloat) == (t.ID == types.TypeFloat) && (!scaled(k) || e.typ.Scale == t.Scale && !e.unscaled()) && e.kind != kindParam {
		return e
	}
	return b.coerced(e, t)
}

// scaled reports whether values of kind k have a number of decimals (types.Value.Scale).
func scaled(k types.Kind) bool {
	return k == types.KindDecimal || k == types.KindDatetime || k == types.KindTimestamp || k == types.KindTime
}

// fractionStep returns the microseconds of one unit of the last of decimals fraction digits of a second.
func fractionStep(decimals int8) int64 {
	step := int64(1)
	for range types.MaxFsp - decimals {
		step *= 10
	}
	return step
}

// unscaled reports whether the scale of n's values may differ from that of its type.
func (n *Node) unscaled() bool {
	return n.loose || n.IsCall("addtime", "subtime") || n.typ.ID == types.TypeTime && n.IsCall("date_add", "date_sub")
}

// coerced returns e with its values converted to the kind, scale and collation of t.
func (b *BuildContext) coerced(e Expr, t types.Type) Expr {
	if t.Kind() == types.KindFloat {
		e = inDouble(e)
	}
	n := newCall("coerce", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.notNull, n.eval = true, t, e.coer, e.ascii, e.notNull, evalCoerce
	if e.isHexLiteral() {
		return n // unfolded, because asNumber looks for the literal
	}
	return foldHidden(b, n)
}

func evalCoerce(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return v, err
	}
	if a := n.args[0]; a.mixed && n.typ.Kind() == types.KindString {
		if v, err = ctx.mixedText(a, row); err != nil || v.IsNull() {
			return v, err
		}
	}
	return ctx.coerceValue(&v, n.args[0], &n.typ), nil
}

// PadChar returns the CHAR column padded with spaces to its length, as the SQL mode PAD_CHAR_TO_FULL_LENGTH reads it.
func PadChar(column Expr) Expr {
	n := newCall("pad", []Expr{column})
	n.typ, n.coer, n.ascii, n.notNull, n.eval = column.typ, column.coer, column.ascii, column.notNull, evalPadChar
	return n
}

// Padded is the opposite of PadChar. It returns e itself if that is anything else.
func Padded(e Expr) Expr {
	if e.IsCall("pad") {
		return e.args[0]
	}
	return e
}

func evalPadChar(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return v, err
	}
	cs := v.Coll.Charset()
	blank, _ := types.ConvertCharset(nil, []byte{' '}, types.DefaultCollation.Charset(), cs)
	out := append([]byte(nil), v.B...)
	for i := cs.CountChars(v.B); i < int(n.typ.Length); i++ {
		out = append(out, blank...)
	}
	return types.String(out, v.Coll), nil
}

// coerceValue converts v, a value of e, to type to. A value that is no date or time becomes NULL if to is one.
func (ctx *Ctx) coerceValue(v *types.Value, e Expr, to *types.Type) types.Value {
	nullUnless := func(v types.Value, ok bool) types.Value {
		if !ok {
			return types.Null()
		}
		// The scale decides how many decimals it has as text.
		if v.K == types.KindTime && v.N%fractionStep(to.Scale) == 0 {
			v.Scale = uint8(to.Scale)
		} else if v.K != types.KindDate {
			v.Scale = max(v.Scale, uint8(to.Scale))
		}
		return v
	}
	switch to.Kind() {
	case types.KindInt:
		return types.Int(ctx.integer(v))
	case types.KindUint:
		if v.K == types.KindInt {
			return types.Uint(uint64(v.N))
		}
		if !ctx.reads(v) {
			return types.Uint(0)
		}
		return types.Uint(types.ToUint(ctx.Context, v))
	case types.KindFloat:
		return types.Float(ctx.float(v))
	case types.KindDecimal:
		d := ctx.decimal(v)
		if d.Scale != uint8(to.Scale) {
			d = types.DecRound(d, int(to.Scale))
		}
		return d
	case types.KindString:
		return types.String(ctx.textOfResult(v, e), to.Coll)
	case types.KindDate:
		return nullUnless(types.ToDate(ctx.Context, v))
	case types.KindDatetime:
		return nullUnless(types.ToDatetime(ctx.Context, v))
	case types.KindTime:
		return nullUnless(ctx.timeOf(v))
	case types.KindTimestamp:
		return nullUnless(*v, true) // v is a timestamp: other types have DATETIME in common with it
	}
	return *v
}

// unify gives n the common type of the arguments at the positions where, and converts those to it.
func (b *BuildContext) unify(n *Node, where []int) error {
	branches := make([]Expr, len(where))
	for i, at := range where {
		branches[i] = n.args[at]
	}
	t, d, err := b.commonType(n.name, branches)
	if err != nil {
		return err
	}
	args := append([]Expr(nil), n.args...)
	n.notNull = true
	n.typ, n.coer, n.ascii = t, d.coer, d.ascii
	handsOn := n.IsCall("if", "case", "case_value")
	if handsOn {
		n.pass(branches...)
	}
	for _, at := range where {
		if !handsOn || !args[at].loose || !n.loose {
			args[at] = b.coerce(args[at], t)
		}
		n.notNull = n.notNull && args[at].notNull
	}
	n.args = args
	return nil
}

// buildCase is CASE WHEN c THEN r … [ELSE e].
func buildCase(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	var where []int
	n.args = slices.Clone(n.args)
	for i := 1; i < len(n.args); i += 2 {
		n.args[i-1] = asNumber(n.args[i-1])
		where = append(where, i)
	}
	if len(n.args)%2 == 1 {
		where = append(where, len(n.args)-1)
	}
	if err := b.unify(n, where); err != nil {
		return err
	}
	n.notNull = n.notNull && len(n.args)%2 == 1
	n.eval = evalCase
	n.noteMixed()
	return nil
}

func evalCase(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	r, err := ctx.chosen(n, row)
	if r == nil {
		return types.Null(), err
	}
	return r.eval(ctx, r, row)
}

// chosen returns the result of an IF or CASE without a value that is taken; nil for none.
func (ctx *Ctx) chosen(n *Node, row []types.Value) (Expr, error) {
	i := 0
	for ; i+1 < len(n.args); i += 2 {
		t, err := ctx.choose(n.args[i], row)
		if err != nil {
			return nil, err
		}
		if t == triTrue {
			return n.args[i+1], nil
		}
	}
	if i < len(n.args) {
		return n.args[i], nil
	}
	return nil, nil
}

// buildCaseValue is CASE base WHEN v THEN r …: the base is evaluated once and compared with each value in its class.
func buildCaseValue(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	args := append([]Expr(nil), n.args...)
	cs := make([]*comparator, len(args))
	var where []int
	numbers := true
	for i := 1; i+1 < len(args); i += 2 {
		numbers = numbers && numericSide(args[i])
	}
	if numbers { // beside which x'61' is one
		args[0] = AsNumber(args[0])
	}
	coll, err := b.shareCaseCollation(args)
	if err != nil {
		return err
	}
	for i := 1; i+1 < len(args); i += 2 {
		c, x, y := caseOverride(args[0], args[i], coll), args[0], args[i]
		if c == nil {
			if c, x, y, err = b.comparatorOf("case", args[0], args[i], true); err != nil {
				return err
			}
		}
		if x == args[0] {
			args[i] = y
		} else {
			c.class = classJSON // compare by the kinds of the values: the base is shared by all branches and cannot be converted for one
		}
		cs[i] = c
		where = append(where, i+1)
	}
	if len(args)%2 == 0 {
		where = append(where, len(args)-1)
	}
	n.args = args
	if err := b.unify(n, where); err != nil {
		return err
	}
	n.notNull = n.notNull && len(args)%2 == 0
	n.aux, n.eval = cs, evalCaseValue
	n.noteMixed()
	return nil
}

func evalCaseValue(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	r, err := ctx.chosenByValue(n, row)
	if r == nil {
		return types.Null(), err
	}
	return r.eval(ctx, r, row)
}

// chosenByValue is chosen for a CASE with a value.
func (ctx *Ctx) chosenByValue(n *Node, row []types.Value) (Expr, error) {
	base, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil {
		return nil, err
	}
	cs := n.aux.([]*comparator)
	i := 1
	for ; i+1 < len(n.args); i += 2 {
		if base.IsNull() {
			continue
		}
		v, err := n.args[i].eval(ctx, n.args[i], row)
		if err != nil {
			return nil, err
		}
		if v.IsNull() {
			continue
		}
		if order, ok := cs[i].compare(ctx, &base, &v); ok && order == 0 {
			return n.args[i+1], nil
		}
	}
	if i < len(n.args) {
		return n.args[i], nil
	}
	return nil, nil
}

func buildIf(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = []Expr{asNumber(n.args[0]), n.args[1], n.args[2]}
	if err := b.unify(n, []int{1, 2}); err != nil {
		return err
	}
	n.eval = evalCase
	n.noteMixed()
	return nil
}

// buildCoalesce is COALESCE and IFNULL: the first argument that is not NULL.
func buildCoalesce(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	where := make([]int, len(n.args))
	some := false
	for i, a := range n.args {
		where[i] = i
		some = some || a.notNull
	}
	if err := b.unify(n, where); err != nil {
		return err
	}
	n.notNull = some
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		for _, a := range n.args {
			if v, err := a.eval(ctx, a, row); err != nil || !v.IsNull() {
				return v, err
			}
		}
		return types.Null(), nil
	}
	return nil
}

// shareCaseCollation returns the collation in which a CASE compares texts, one for its value and all WHENs, and converts them to its character set; 0
// if no texts are compared. args are those of the CASE.
func (b *BuildContext) shareCaseCollation(args []Expr) (types.CollationID, error) {
	operands, at := []Expr{args[0]}, []int{0}
	for i := 1; i+1 < len(args); i += 2 {
		operands, at = append(operands, args[i]), append(at, i)
	}
	isText := func(e Expr) bool { return classOf(&e.typ) == classString }
	if !textClass(args[0]) || !slices.ContainsFunc(operands[1:], textClass) || !slices.ContainsFunc(operands, isText) {
		return 0, nil
	}
	d, err := b.aggregate("case", true, operands...)
	if err != nil {
		return 0, err
	}
	for _, i := range at {
		if isText(args[i]) {
			args[i] = b.toCharset(args[i], d.coll)
		}
	}
	return d.coll, nil
}

// caseOverride returns the comparator of a CASE's value with a WHEN where they are compared otherwise than = does, else nil: texts in the collation of all,
// documents as the numbers or texts that they are, dates beside a text as texts, and dates beside a TIME as the times in their texts.
func caseOverride(x, y Expr, coll types.CollationID) *comparator {
	cx, cy := classOf(&x.typ), classOf(&y.typ)
	number := cx != classNull && cx < classString || cy != classNull && cy < classString
	switch {
	case cx == classNull || cy == classNull:
		return nil
	case (cx == classJSON || cy == classJSON) && number:
		return &comparator{class: classFloat}
	case cx == classJSON, cx == classString && cy == classJSON:
		return &comparator{class: classString, coll: types.Utf8mb4Bin}
	case cx == classString && (cy == classString || cy == classTemporal):
		return &comparator{class: classString, coll: coll, bytes: bytewise(coll)}
	case cx == classTime && (cy == classString || cy == classTemporal):
		return &comparator{class: classTime, list: inTimeTexts}
	}
	return nil
}

// buildNullIf is NULLIF(x, y): x unless they are equal. The result has x's type.
func buildNullIf(b *BuildContext, n *Node) error {
	c, x, y, err := b.newComparator(n.name, n.args[0], n.args[1])
	if err != nil {
		return err
	}
	c.mask = maskEqual
	n.args = []Expr{n.args[0], x, y}
	if x == n.args[0] {
		n.args = []Expr{x, y}
	}
	if v := n.args[0]; v.kind == kindConst && v.value.K == types.KindString && computed(v) == v && !v.isHexLiteral() && v.typ.Coll != c.coll && c.coll != 0 {
		t := stringType(charLength(&v.typ), c.coll)
		if c.coll == types.Binary {
			t = stringType(castBytes(&v.typ), c.coll)
		}
		n.args[0] = b.coerced(b.toCharset(v, c.coll), t) // a literal is one in the collation of the comparison
	}
	n.typ, n.coer, n.ascii, n.aux = n.args[0].typ, n.args[0].coer, n.args[0].ascii, c
	n.pass(n.args[0])
	if t := &n.args[0].typ; isMember(n.args[0]) { // a text, unless a number is wanted (asNumber)
		n.typ = stringType(charLength(t), t.Coll)
	}
	n.typ.ZeroFill = false // its zeros are in texts only
	n.mixed = n.args[0].mixed || n.args[0].typ.ZeroFill || n.typ.Kind() == types.KindFloat
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return v, err
		}
		left := v
		if len(n.args) == 3 {
			if left, err = n.args[1].eval(ctx, n.args[1], row); err != nil {
				return left, err
			}
		}
		last := n.args[len(n.args)-1]
		w, err := last.eval(ctx, last, row)
		if err != nil || w.IsNull() {
			return n.nullIfResult(v), err
		}
		if order, ok := n.aux.(*comparator).compare(ctx, &left, &w); ok && order == 0 {
			return types.Null(), nil
		}
		return n.nullIfResult(v), nil
	}
	return nil
}

// nullIfResult returns a member of an ENUM or SET as a text, if NULLIF is one.
func (n *Node) nullIfResult(v types.Value) types.Value {
	if (v.K == types.KindEnum || v.K == types.KindSet) && n.typ.IsStringType() {
		return types.String(v.B, v.Coll)
	}
	return v
}

// buildInterval is INTERVAL(n, a, b, …): how many of the bounds, in order, are NULL or <= n until the first that is not; -1 if n is NULL.
func buildInterval(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.notNull = intType(2), true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil {
			return v, err
		}
		if v.IsNull() {
			return types.Int(-1), nil
		}
		exact := v.K != types.KindFloat && v.K != types.KindString
		at := int64(0)
		for _, a := range n.args[1:] {
			w, err := a.eval(ctx, a, row)
			if err != nil {
				return w, err
			}
			if !w.IsNull() {
				less := false
				if exact && w.K != types.KindFloat && w.K != types.KindString {
					less = types.DecCompare(ctx.decimal(&v), ctx.decimal(&w)) < 0
				} else {
					less = ctx.float(&v) < ctx.float(&w)
				}
				if less {
					break
				}
			}
			at++
		}
		return types.Int(at), nil
	}
	return nil
}
