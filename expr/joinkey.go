package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// HashKeys converts an equality, a call of "=" or "<=>" over two operands, to two expressions of one type whose keys (types.AppendKey) are equal
// exactly if the operands compare as equal. Hash joins and hashed IN use them. ok is false if there are none: for JSON, rows, texts that are
// compared as times.
func HashKeys(b *BuildContext, eq Expr) (l, r Expr, ok bool) {
	if !eq.IsCall("=", "<=>") || len(eq.args) != 2 {
		return nil, nil, false
	}
	c, is := eq.aux.(*comparator)
	if !is {
		return nil, nil, false
	}
	l, r = eq.args[0], eq.args[1]
	if l.loose || r.loose {
		return nil, nil, false // the comparison uses digits beyond the type's scale
	}
	var t types.Type
	switch c.class {
	case classInt:
		if !integralType(&l.typ) || !integralType(&r.typ) || ofAnyKind(l) || ofAnyKind(r) {
			return nil, nil, false
		}
		if unsignedNumber(l) == unsignedNumber(r) && l.typ.IsInteger() && r.typ.IsInteger() {
			return b.wide(l), b.wide(r), true
		}
		t = decimalType(20, 0)
	case classDecimal:
		if numericClass(l) == classFloat || numericClass(r) == classFloat || ofAnyKind(l) || ofAnyKind(r) {
			return nil, nil, false
		}
		lp, ls := precisionOf(l)
		rp, rs := precisionOf(r)
		scale := max(ls, rs)
		t = decimalType(min(max(lp-ls, rp-rs)+scale, types.MaxDecimalPrecision), scale)
	case classFloat:
		return b.doubleKey(l), b.doubleKey(r), true
	case classString:
		return l, r, sameStrings(l, c.coll) && sameStrings(r, c.coll)
	case classTemporal:
		if !dated(&l.typ) || !dated(&r.typ) || Unadapted(l) != l || Unadapted(r) != r { // what is no date would be a NULL
			return nil, nil, false
		}
		t = types.Type{ID: types.TypeDatetime, Length: -1, Scale: max(l.typ.Scale, r.typ.Scale, 0)}
		return b.fraction(l, t), b.fraction(r, t), true
	case classTime:
		if l.typ.ID != types.TypeTime || r.typ.ID != types.TypeTime || Unadapted(l) != l || Unadapted(r) != r {
			return nil, nil, false
		}
		t = types.Type{ID: types.TypeTime, Length: -1, Scale: max(l.typ.Scale, r.typ.Scale, 0)}
		return b.fraction(l, t), b.fraction(r, t), true
	default:
		return nil, nil, false
	}
	return b.coerce(l, t), b.coerce(r, t), true
}

// ofAnyKind reports whether e is a placeholder whose values may be texts although e is compared as a number: that of an unknown type, and one that was
// converted to the type of a column where its value fits that (adapt).
func ofAnyKind(e Expr) bool {
	k := Unadapted(e)
	_, param := Unwrap(k).ParamOrdinal()
	return param && (k != e || k.typ.ID == types.TypeNull) && !numericSide(k)
}

// doubleKey converts e to a double.
func (b *BuildContext) doubleKey(e Expr) Expr {
	if ofAnyKind(e) {
		return b.coerced(Unadapted(e), doubleType())
	}
	return b.coerce(e, doubleType())
}

// wide converts a smaller integer to BIGINT, so that both keys have one type.
func (b *BuildContext) wide(e Expr) Expr {
	if e.typ.ID == types.TypeBigInt {
		return e
	}
	t := types.Type{ID: types.TypeBigInt, Length: -1, Scale: -1, Unsigned: e.typ.Unsigned}
	return b.coerce(e, t)
}

// fraction is coerce that converts dates and times even if only the number of fraction digits differs, because keys have that of the type.
func (b *BuildContext) fraction(e Expr, t types.Type) Expr {
	if e.typ.Kind() != t.Kind() || e.typ.Scale == t.Scale || !t.IsTemporal() || e.typ.ID == types.TypeNull {
		return b.coerce(e, t)
	}
	return b.coerced(e, t)
}

// KeepsApart reports whether two different values of y, an operand of the comparison eq, are never both equal to one value of the other operand.
// They can be if they are converted for the comparison: '1' and '01' to the same number, or 'a' and 'A' to another collation.
func KeepsApart(eq, y Expr) bool {
	c, ok := eq.aux.(*comparator)
	y = Unwrap(y)
	if !ok || y.loose {
		return false
	}
	own := classOf(&y.typ)
	switch c.class {
	case classDecimal:
		return own == classInt || own == classDecimal
	case classString:
		return sameStrings(y, c.coll)
	case classInt, classFloat, classTemporal, classTime:
		return own == c.class
	}
	return false
}

func integralType(t *types.Type) bool { return t.IsInteger() || t.ID == types.TypeYear }

func dated(t *types.Type) bool {
	switch t.ID {
	case types.TypeDate, types.TypeDatetime, types.TypeTimestamp:
		return true
	}
	return false
}

// sameStrings reports whether e's values are strings in the collation coll.
func sameStrings(e Expr, coll types.CollationID) bool {
	switch e.typ.ID {
	case types.TypeEnum, types.TypeSet, types.TypeBit, types.TypeJSON:
		return false
	}
	return e.typ.IsStringType() && e.typ.Coll == coll
}

// Unify converts expressions that become one result column, such as those of a UNION, to their common type, and returns them with the type and
// coercibility of the column. An expression that already has the kind, scale and collation stays as it is, so its own type may be narrower.
func Unify(b *BuildContext, es ...Expr) ([]Expr, types.Type, Coercibility, error) {
	if err := rejectRows(es); err != nil {
		return nil, types.Type{}, CoerIgnorable, err
	}
	es = withoutZeroFill(b, es)
	same, coer := true, es[0].coer
	for _, e := range es[1:] {
		same, coer = same && e.typ.Equal(&es[0].typ), min(coer, e.coer)
	}
	if same {
		return es, unifiedBlob(es[0].typ, es), coer, nil
	}
	if t, ok := widestBits(es); ok {
		return es, t, coer, nil
	}
	t, d, err := b.commonType("UNION", es)
	if err != nil {
		return nil, t, d.coer, err
	}
	if d.coer == CoerNone { // the collation of the column is undetermined
		return nil, t, d.coer, types.Errorf(types.ErCantAggregateNCollations, "UNION")
	}
	if t.ID == types.TypeNull {
		return es, t, d.coer, nil
	}
	if fixedLength(es) && t.Length >= 0 && t.Length <= fixedMax {
		if t.ID = types.TypeChar; t.Coll == types.Binary {
			t.ID = types.TypeBinary
		}
	}
	t = unifiedBlob(t, es)
	out := make([]Expr, len(es))
	for i, e := range es {
		if e.typ.ID == types.TypeBit && isTextual(&t) && !t.IsBlob() {
			e = b.coerced(e, uintType(charLength(&e.typ))) // in a column of short texts, it is its decimal digits
		}
		if e.typ.Kind() == types.KindFloat && !e.fixed() && t.IsStringType() {
			e = recomputed(e)
		}
		out[i] = b.fraction(e, t)
		if t.ID == types.TypeBinary && (e.typ.ID != types.TypeBinary || e.typ.Length < t.Length) {
			out[i] = b.zeroPadded(out[i], t)
		}
	}
	return out, narrowInteger(t, es), d.coer, nil
}

// recomputed returns e, a number, as a double that is computed: in a column of texts it is as short as those are. A FLOAT of a column has the digits of a
// double there, too, in the length of its own text.
func recomputed(e Expr) Expr {
	n := newCall("double", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.notNull = true, doubleType(), e.coer, e.ascii, e.notNull
	single := e.typ.ID == types.TypeFloat && e.stored()
	if single {
		n.typ = stringType(types.FloatTextLength, types.DefaultCollation)
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err == nil && single && !v.IsNull() {
			v = types.String(ctx.keep(types.AppendShortFloat(ctx.scratch(), v.Float64(), types.FloatTextLength)), n.typ.Coll)
		}
		return v, err
	}
	return n
}

// unifiedBlob is the type of a column of TEXTs or BLOBs: that which has room for as many characters as the longest of es has bytes, as in MySQL.
func unifiedBlob(t types.Type, es []Expr) types.Type {
	if !t.IsBlob() && !(isTextual(&t) && slices.ContainsFunc(es, func(e Expr) bool { return e.typ.IsBlob() })) {
		return t
	}
	room := int64(0)
	for _, e := range es {
		n := e.typ.MaxBytes()
		if !e.typ.IsBlob() {
			n = int64(charLength(&e.typ))
		}
		room = max(room, n*int64(max(t.Coll.MaxCharLen(), e.typ.Coll.MaxCharLen(), 1)))
	}
	ids := []types.TypeID{types.TypeTinyText, types.TypeText, types.TypeMediumText, types.TypeLongText}
	if t.Coll == types.Binary {
		ids = []types.TypeID{types.TypeTinyBlob, types.TypeBlob, types.TypeMediumBlob, types.TypeLongBlob}
	}
	for _, id := range ids {
		if t.ID, t.Length = id, -1; room <= t.MaxBytes() {
			break
		}
	}
	return t
}

// withoutZeroFill returns es without ZEROFILL, which as in MySQL no column of a set operation has: as a text, 42 is no 0000000042, but where that is
// a TEXT.
func withoutZeroFill(b *BuildContext, es []Expr) []Expr {
	if slices.ContainsFunc(es, func(e Expr) bool { return e.typ.IsBlob() || e.typ.ID == types.TypeJSON }) {
		return es
	}
	for i, e := range es {
		if e.typ.ZeroFill {
			es = slices.Clone(es)
			t := e.typ
			t.ZeroFill = false
			es[i] = b.coerced(e, t)
		}
	}
	return es
}

// fixedMax is the greatest length of a CHAR or BINARY column.
const fixedMax = 255

// fixedLength reports whether a column over es is a CHAR or BINARY, as in MySQL: one of es is, and no other is a text of another kind.
func fixedLength(es []Expr) bool {
	fixed := false
	for _, e := range es {
		switch {
		case e.typ.ID == types.TypeChar || e.typ.ID == types.TypeBinary:
			fixed = true
		case e.typ.IsStringType() || e.typ.ID == types.TypeJSON:
			return false
		}
	}
	return fixed
}

// zeroPadded fills the values of e to the length of the BINARY t.
func (b *BuildContext) zeroPadded(e Expr, t types.Type) Expr {
	n := newCall("zero padded", []Expr{e})
	n.hidden, n.typ, n.coer, n.notNull = true, t, e.coer, e.notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if missing := int(n.typ.Length) - len(v.B); err == nil && v.K == types.KindString && missing > 0 {
			v = types.String(append(slices.Clip(v.B), make([]byte, missing)...), v.Coll)
		}
		return v, err
	}
	return foldHidden(b, n)
}

// widestBits returns the widest BIT type of es. ok is false if there is another type besides BIT and NULL.
func widestBits(es []Expr) (t types.Type, ok bool) {
	for _, e := range es {
		switch e.typ.ID {
		case types.TypeNull:
		case types.TypeBit:
			if !ok || e.typ.Length > t.Length {
				t, ok = e.typ, true
			}
		default:
			return t, false
		}
	}
	return t, ok
}

// narrowInteger returns the type of a column over es whose common type is t. If that is BIGINT, it is as narrow as in MySQL: the widest integer
// type of es, or the next wider one if there are signed ones and the widest is unsigned.
func narrowInteger(t types.Type, es []Expr) types.Type {
	if t.ID != types.TypeBigInt {
		return t
	}
	widest, unsigned, signed := types.TypeTinyInt, false, false
	for _, e := range es {
		switch {
		case e.typ.ID == types.TypeNull:
			continue
		case !e.typ.IsInteger():
			return t
		}
		widest = max(widest, e.typ.ID)
		unsigned, signed = unsigned || e.typ.Unsigned, signed || !e.typ.Unsigned
	}
	if unsigned && signed && slices.ContainsFunc(es, func(e Expr) bool { return e.typ.Unsigned && e.typ.ID == widest }) {
		widest++
	}
	if widest >= types.TypeBigInt {
		return t
	}
	return types.Type{ID: widest, Unsigned: t.Unsigned}
}

// CoerceTo converts e to type t, as Unify does for a column of type t.
func CoerceTo(b *BuildContext, e Expr, t types.Type) Expr { return b.coerce(e, t) }

// Map returns s with each of its arguments and sort expressions replaced by what swap returns, which must have the same type.
func (s *AggSpec) Map(swap func(Expr) Expr) *AggSpec {
	c := *s
	c.args = make([]Expr, len(s.args))
	for i, a := range s.args {
		c.args[i] = swap(a)
	}
	c.order = make([]AggOrder, len(s.order))
	for i, o := range s.order {
		c.order[i] = AggOrder{swap(o.Expr), o.Desc}
	}
	return &c
}

// InPlaceOf converts e so that it can replace a column of type t in expressions that were compiled for the column: the result has that type, and a
// quotient is rounded to its scale. ok is false if the types differ in more than length, or e is a decimal that Eval does not round.
func InPlaceOf(b *BuildContext, e Expr, t types.Type) (out Expr, ok bool) {
	if e.typ.Equal(&t) && !e.loose {
		return e, true
	}
	if e.deep || e.typ.Kind() != t.Kind() || e.typ.Unsigned != t.Unsigned || e.typ.ID != t.ID || e.typ.Coll != t.Coll || e.typ.Scale != t.Scale {
		return nil, false
	}
	n := newCall("coerce", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.notNull, n.eval = true, t, e.coer, e.ascii, e.notNull, evalCoerce
	return n, true
}
