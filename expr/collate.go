package expr

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/types"
)

// Coercibility is how strongly the collation of an expression binds: of two expressions the smaller one decides. The rules in this file are
// those of MySQL's DTCollation::aggregate (sql/item.cc) and of its manual, "Collation Coercibility in Expressions".
type Coercibility uint8

// The coercibilities, with the numbers that COERCIBILITY() returns.
const (
	CoerExplicit  Coercibility = 0 // COLLATE
	CoerImplicit  Coercibility = 2 // columns, user variables
	CoerSysconst  Coercibility = 3 // USER(), VERSION()
	CoerCoercible Coercibility = 4 // literals, parameters
	CoerNumeric   Coercibility = 5 // numbers and dates converted to text
	CoerIgnorable Coercibility = 6 // NULL
	CoerNone      Coercibility = 7 // CONCAT of strings with different collations: any other collation decides
)

var coercibilityNames = [...]string{"EXPLICIT", "", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "NULL", "NONE"}

// coercibilityOf returns the coercibility of an expression of type t; strings is that of a string of the same origin.
func coercibilityOf(t *types.Type, strings Coercibility) Coercibility {
	switch {
	case t.ID == types.TypeNull:
		return CoerIgnorable
	case isTextual(t), t.ID == types.TypeBit:
		return strings
	case t.ID == types.TypeJSON:
		return CoerImplicit
	}
	return CoerNumeric
}

// isTextual reports whether values of t have a collation.
func isTextual(t *types.Type) bool {
	return t.IsStringType() || t.ID == types.TypeEnum || t.ID == types.TypeSet
}

// derivation is a collation with its coercibility, of one expression or of several together.
type derivation struct {
	coll  types.CollationID
	coer  Coercibility
	ascii bool // as in Node
}

// derive returns the derivation of e converted to a string.
func (b *BuildContext) derive(e Expr) derivation {
	d := derivation{coll: e.typ.Coll, coer: e.coer, ascii: e.ascii}
	switch {
	case e.typ.ID == types.TypeNull:
		d.coll, d.coer, d.ascii = types.Binary, CoerIgnorable, true
	case e.typ.ID == types.TypeJSON:
		d.coll = types.Utf8mb4Bin
	case e.typ.ID == types.TypeBit: // as text it is its bytes
		d.coll, d.ascii = types.Binary, false
	case !isTextual(&e.typ):
		d.coll, d.coer, d.ascii = b.collation(), CoerNumeric, true
	}
	if d.coll == 0 {
		d.coll = b.collation()
	}
	return d
}

func (b *BuildContext) collation() types.CollationID {
	if b == nil || b.Collation == 0 {
		return types.DefaultCollation
	}
	return b.Collation
}

// locale returns the locale of lc_time_names, nil for en_US.
func (b *BuildContext) locale() *types.Locale {
	if c := b.context(); c != nil {
		return c.Locale
	}
	return nil
}

func (b *BuildContext) context() *types.Context {
	if b == nil {
		return nil
	}
	return b.Ctx
}

// isUnicode reports whether cs is a character set of Unicode.
func isUnicode(cs *types.Charset) bool {
	switch cs.Name {
	case "utf8mb4", "utf8mb3", "utf8", "ucs2", "utf16", "utf16le", "utf32":
		return true
	}
	return false
}

// holdsUnicode reports whether MySQL converts the other character sets of Unicode to cs.
func holdsUnicode(cs *types.Charset) bool { return cs.Name == "utf8mb4" || cs.Name == "utf32" }

// holdsAll reports whether the character set of l is one of Unicode that holds that of r, and the coercibility of l permits to convert to it.
func (l derivation) holdsAll(r derivation) bool {
	return isUnicode(l.coll.Charset()) && (l.coer < r.coer || l.coer == r.coer && (!isUnicode(r.coll.Charset()) || holdsUnicode(l.coll.Charset())))
}

// holdsASCII reports whether every string of r can be converted to the character set of l because it is ASCII, and the coercibility of l permits it.
func (l derivation) holdsASCII(r derivation) bool {
	if l.coer != r.coer || !l.ascii {
		return r.ascii && l.coer <= r.coer
	}
	return r.coll.Charset().Name == "ascii"
}

// merge returns the common collation of l and r. ok is false if MySQL reports error 1267. Two collations of equal strength and one character set, neither of
// them binary, are CoerNone together, which comparisons refuse.
func (l derivation) merge(r derivation) (d derivation, ok bool) {
	ascii := l.ascii && r.ascii
	win := func(d derivation) (derivation, bool) { d.ascii = ascii; return d, true }
	if l.coll == r.coll {
		return win(l)
	}
	if l.coer == CoerExplicit && r.coer == CoerExplicit { // neither COLLATE may be ignored
		return l, false
	}
	if l.coll.Charset() != r.coll.Charset() {
		switch {
		case l.coll == types.Binary:
			return win(l.stronger(r))
		case r.coll == types.Binary:
			return win(r.stronger(l))
		case l.holdsAll(r):
			return win(l)
		case r.holdsAll(l):
			return win(r)
		case l.holdsASCII(r):
			return win(l)
		case r.holdsASCII(l):
			return win(r)
		case max(l.coer, r.coer) >= CoerSysconst && l.coer != r.coer:
			return win(l.stronger(r))
		}
		return l, false
	}
	switch {
	case l.coer != r.coer:
		return win(l.stronger(r))
	case l.coll.IsBin() && r.coll.IsBin(): // which of them cannot be known
		return l, false
	case l.coll.IsBin():
		return win(l)
	case r.coll.IsBin():
		return win(r)
	}
	return derivation{coll: l.coll.Charset().Bin, coer: CoerNone, ascii: ascii}, true
}

// stronger returns that of l and r which binds more strongly, l if neither does.
func (l derivation) stronger(r derivation) derivation {
	if r.coer < l.coer {
		return r
	}
	return l
}

// aggregate returns the common collation of args: those of them that bind most strongly decide. An error, 1267 and its kin, names the operation op.
// strict refuses the result CoerNone, too, as comparisons must.
func (b *BuildContext) aggregate(op string, strict bool, args ...Expr) (derivation, error) {
	b.visit(len(args))
	ds := make([]derivation, len(args))
	strongest, ascii := CoerNone, true
	for i, a := range args {
		ds[i] = b.derive(a)
		strongest, ascii = min(strongest, ds[i].coer), ascii && ds[i].ascii
	}
	var d derivation
	for _, next := range slices.DeleteFunc(ds, func(d derivation) bool { return d.coer != strongest }) {
		if d.coll == 0 {
			d = next
			continue
		}
		merged, ok := d.merge(next)
		if !ok || strict && merged.coer == CoerNone && strongest != CoerNone {
			return d, collationError(op, b, args)
		}
		d = merged
	}
	d.ascii = ascii
	return d, unreadable(d.coll, args)
}

// mergeTwo is aggregate for the operands of a comparison, which look at the weaker one, too: its character set must be one that can be converted.
func (b *BuildContext) mergeTwo(op string, strict bool, x, y Expr) (derivation, error) {
	d, ok := b.derive(x).merge(b.derive(y))
	if !ok && IsConst(y) && !IsConst(x) && d.coll.Charset() != b.derive(y).coll.Charset() { // a constant on the right is converted first, whatever its COLLATE
		ok = true
	}
	if !ok || strict && d.coer == CoerNone {
		return d, collationError(op, b, []Expr{x, y})
	}
	return d, unreadable(d.coll, []Expr{x, y})
}

// unreadable returns error 3854 if one of args is a constant text with characters that the character set of coll lacks. Binary strings that are not
// well formed in it are an error of the rows that ask for them (bytesAsText).
func unreadable(coll types.CollationID, args []Expr) error {
	if coll == types.Binary {
		return nil
	}
	to := coll.Charset()
	for _, a := range args {
		if a.kind != kindConst || a.value.K != types.KindString || !isTextual(&a.typ) || a.typ.Coll == types.Binary {
			continue
		}
		from := a.typ.Coll.Charset()
		if from == to || a.ascii && asciiCompatible(to) || convertible(a.value.B, from, to) {
			continue
		}
		return noConversion(a.value.B, from, to)
	}
	return nil
}

// Readable returns error 3854 if the constant e cannot be converted to the character set of a text of type t.
func Readable(t *types.Type, e Expr) error {
	if !isTextual(t) {
		return nil
	}
	return unreadable(t.Coll, []Expr{e})
}

func noConversion(s []byte, from, to *types.Charset) error {
	return types.Errorf(types.ErImpossibleStringConversion, types.PrintableBytes(s), from.Name, to.Name)
}

// convertible reports whether the character set to has all characters of s, which is in from.
func convertible(s []byte, from, to *types.Charset) bool {
	if types.SameBytes(from, to) {
		return true
	}
	_, bad := types.ConvertCharset(nil, s, from, to)
	return bad == 0
}

// shown is how messages name d, where numbers have the collation that MySQL's have.
func (d derivation) shown() []any {
	if d.coer == CoerNumeric {
		d.coll = types.Latin1SwedishCI
	}
	return []any{d.coll.Name(), coercibilityNames[d.coer]}
}

func collationError(op string, b *BuildContext, args []Expr) error {
	show := func(e Expr) []any { return b.derive(e).shown() }
	switch {
	case len(args) == 2:
		return types.Errorf(types.ErCantAggregate2Collations, append(append(show(args[0]), show(args[1])...), op)...)
	case len(args) == 3:
		return types.Errorf(types.ErCantAggregate3Collations, append(append(append(show(args[0]), show(args[1])...), show(args[2])...), op)...)
	}
	return types.Errorf(types.ErCantAggregateNCollations, op)
}

// toCharset returns e with its strings converted to the character set of coll; characters that it lacks are error 3854. Constants are converted at once. It
// returns e itself if no conversion is needed.
func (b *BuildContext) toCharset(e Expr, coll types.CollationID) Expr {
	textual := isTextual(&e.typ)
	if coll != types.Binary && (textual && e.typ.Coll == types.Binary || e.typ.ID == types.TypeBit) && !isTextIn(e, coll) {
		return b.bytesAsText(e, coll)
	}
	if textual && e.typ.Coll == coll || coll == types.Binary || textual && e.typ.Coll == types.Binary || e.typ.ID == types.TypeNull || e.typ.ID == types.TypeBit {
		return e
	}
	from, to := e.typ.Coll.Charset(), coll.Charset()
	if !textual { // its digits
		if asciiCompatible(to) {
			return e
		}
		from = types.DefaultCollation.Charset()
	}
	if from == to || e.ascii && asciiCompatible(from) && asciiCompatible(to) {
		return e
	}
	n := newCall("convert_charset", []Expr{e})
	n.hidden, n.typ, n.coer, n.aux, n.eval = true, e.typ, e.coer, to, evalToCharset
	n.typ.Coll = coll
	if !n.typ.IsStringType() {
		n.typ = types.Type{ID: types.TypeVarchar, Length: charLength(&e.typ), Coll: coll}
	}
	return foldHidden(b, n)
}

// isTextIn reports whether e is a constant whose bytes are a text in the character set of coll.
func isTextIn(e Expr, coll types.CollationID) bool {
	return e.kind == kindConst && (e.value.K != types.KindString || coll.Charset().Valid(e.value.B))
}

// bytesAsText returns the binary string or BIT e as a text of the character set of coll. Bytes that are no text in it are error 3854.
func (b *BuildContext) bytesAsText(e Expr, coll types.CollationID) Expr {
	n := newCall("bytes as text", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.notNull, n.aux = true, e.typ, e.coer, e.ascii, e.notNull, coll.Charset()
	if n.typ.Coll = coll; !n.typ.IsStringType() {
		n.typ = types.Type{ID: types.TypeVarchar, Length: charLength(&e.typ), Coll: coll}
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := ctx.text(n.args[0], row)
		if err != nil || v.IsNull() {
			return v, err
		}
		if to := n.aux.(*types.Charset); !to.Valid(v.B) {
			return types.Null(), noConversion(v.B, types.Binary.Charset(), to)
		}
		return types.String(v.B, n.typ.Coll), nil
	}
	return n
}

func asciiCompatible(cs *types.Charset) bool { return cs.MinLen == 1 }

// evalToCharset converts a text to the character set aux. A character that it lacks is error 3854.
func evalToCharset(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := ctx.text(n.args[0], row)
	if err != nil || v.K == types.KindNull {
		return v, err
	}
	from, to := v.Coll.Charset(), n.aux.(*types.Charset)
	if from == to {
		return types.String(v.B, n.typ.Coll), nil
	}
	out := ctx.converted(v.B, from, to)
	if bytes.IndexByte(out, '?') >= 0 && !convertible(v.B, from, to) {
		return v, noConversion(v.B, from, to)
	}
	return types.String(out, n.typ.Coll), nil
}

// toSubject is toCharset for texts that are searched in another, or inserted into it: of constants error 3854 is one of planning.
func (b *BuildContext) toSubject(e Expr, coll types.CollationID) (Expr, error) {
	if err := unreadable(coll, []Expr{e}); err != nil {
		return nil, err
	}
	return b.toCharset(e, coll), nil
}

// buildCollate is e COLLATE name.
func buildCollate(b *BuildContext, n *Node) error {
	name, ok := n.args[1].ConstValue()
	if !ok {
		return types.Errorf(types.ErUnknownCollation, n.args[1].String())
	}
	id, err := types.LookupCollation(string(name.B))
	if err != nil {
		return err
	}
	d := b.derive(n.args[0])
	if d.coll.Charset() != id.Charset() && !(d.ascii && !isTextual(&n.args[0].typ)) {
		return types.Errorf(types.ErCollationCharsetMismatch, id.Name(), d.coll.Charset().Name)
	}
	n.typ = stringType(charLength(&n.args[0].typ), id)
	n.coer, n.ascii, n.aux = CoerExplicit, d.ascii, id
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := ctx.text(n.args[0], row)
		if v.K == types.KindString {
			v.Coll = n.typ.Coll
		}
		return v, err
	}
	return nil
}

// buildConvertUsing is CONVERT(e USING charset).
func buildConvertUsing(b *BuildContext, n *Node) error {
	name, _ := n.args[1].ConstValue()
	cs, err := types.LookupCharset(string(name.B))
	if err != nil {
		return err
	}
	n.typ = stringType(charLength(&n.args[0].typ), cs.Default)
	if cs.Default == types.Binary {
		n.typ = stringType(castBytes(&n.args[0].typ), cs.Default)
	}
	n.coer, n.ascii = CoerImplicit, n.args[0].ascii
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := ctx.text(n.args[0], row)
		if err != nil || v.IsNull() {
			return v, err
		}
		from, to := v.Coll.Charset(), n.typ.Coll.Charset()
		switch {
		case from == to || n.typ.Coll == types.Binary:
		case v.Coll == types.Binary:
			text, ok := to.FromBytes(ctx.Context, v.B)
			if !ok {
				return types.Null(), nil
			}
			v.B = text
		default:
			// Nested conversions could otherwise double the length with each call.
			if ctx.tooLong(n, leastBytes(v.B, from, to)) {
				return types.Null(), nil
			}
			if v.B = ctx.converted(v.B, from, to); ctx.overPacket(n.name, len(v.B)) || ctx.failed != nil {
				return types.Null(), nil
			}
		}
		return types.String(v.B, n.typ.Coll), nil
	}
	return nil
}

// leastBytes returns the fewest bytes that s can have in the character set to.
func leastBytes(s []byte, from, to *types.Charset) int { return from.CountChars(s) * to.MinLen }

// convertAtOnce is the most bytes of a text that is converted in one piece, without polling.
const convertAtOnce = 16 << 10

// converted returns s in the character set to, allocated in the arena. Characters that it lacks become question marks. If the statement has to
// end, ctx.failed is set.
func (ctx *Ctx) converted(s []byte, from, to *types.Charset) []byte {
	least := leastBytes(s, from, to)
	if !ctx.fits(least) {
		return nil
	}
	out := ctx.alloc(least)[:0]
	if len(s) <= convertAtOnce {
		room := out
		if out, _ = types.ConvertCharset(room, s, from, to); cap(out) > cap(room) {
			ctx.charge(cap(out)) // append has moved it out of the arena
		}
		return out
	}
	var part []byte
	ctx.pieces(s, from, func(piece []byte) {
		part, _ = types.ConvertCharset(part[:0], piece, from, to)
		out = ctx.extend(out, part)
	})
	return ctx.fit(out)
}
