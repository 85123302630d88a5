package expr

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// Coercibility is how strongly the collation of an expression binds; the smaller wins.
type Coercibility uint8

// The coercibilities, with the numbers that COERCIBILITY() returns.
const (
	CoerExplicit  Coercibility = iota // COLLATE
	CoerNone                          // strings of different collations put together
	CoerImplicit                      // columns
	CoerSysconst                      // USER(), VERSION(), user variables in MySQL are implicit
	CoerCoercible                     // literals, parameters
	CoerNumeric                       // numbers and dates turned into text
	CoerIgnorable                     // NULL
)

var coercibilityNames = [...]string{"EXPLICIT", "NONE", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "IGNORABLE"}

// coercibilityOf returns what an expression of type t has by its origin.
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

// derivation is a collation on its way through an aggregation.
type derivation struct {
	coll  types.CollationID
	coer  Coercibility
	ascii bool
}

// derive returns the derivation of e where a string is wanted.
func (b *BuildContext) derive(e Expr) derivation {
	d := derivation{e.typ.Coll, e.coer, e.ascii}
	switch {
	case e.typ.ID == types.TypeNull:
		d.coll, d.coer, d.ascii = types.Binary, CoerIgnorable, true
	case e.typ.ID == types.TypeJSON:
		d.coll = types.Utf8mb4Bin
	case e.typ.ID == types.TypeBit: // a text of its bytes
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

// locale is lc_time_names.
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

// isUnicode reports whether a character set covers Unicode, and how many bytes its characters need.
func isUnicode(cs *types.Charset) bool {
	switch cs.Name {
	case "utf8mb4", "utf8mb3", "utf8", "ucs2", "utf16", "utf16le", "utf32":
		return true
	}
	return false
}

// holdsUnicode reports whether MySQL converts other character sets of Unicode to this one.
func holdsUnicode(cs *types.Charset) bool { return cs.Name == "utf8mb4" || cs.Name == "utf32" }

// holds reports whether every string of r can be converted to the character set of l, and l's claim is not weaker.
func (l derivation) holds(r derivation) bool {
	if isUnicode(l.coll.Charset()) && (l.coer < r.coer || l.coer == r.coer && (!isUnicode(r.coll.Charset()) || holdsUnicode(l.coll.Charset()))) {
		return true
	}
	return r.ascii && (l.coer < r.coer || l.coer == r.coer && !l.ascii)
}

// merge finds the collation for l and r together. ok is false where MySQL reports 1267.
func (l derivation) merge(r derivation) (d derivation, ok bool) {
	ascii := l.ascii && r.ascii
	win := func(d derivation) (derivation, bool) { d.ascii = ascii; return d, true }
	if l.coll.Charset() != r.coll.Charset() {
		switch {
		case l.coer == CoerExplicit && r.coer == CoerExplicit && l.coll != types.Binary && r.coll != types.Binary:
			return derivation{types.Binary, CoerNone, ascii}, false // each COLLATE has been meant
		case l.coll == types.Binary:
			if l.coer <= r.coer {
				return win(l)
			}
			return win(r)
		case r.coll == types.Binary:
			if r.coer <= l.coer {
				return win(r)
			}
			return win(l)
		case l.holds(r):
			return win(l)
		case r.holds(l):
			return win(r)
		case l.coer < r.coer && r.coer >= CoerSysconst:
			return win(l)
		case r.coer < l.coer && l.coer >= CoerSysconst:
			return win(r)
		}
		return derivation{types.Binary, CoerNone, ascii}, false
	}
	switch {
	case l.coer < r.coer:
		return win(l)
	case r.coer < l.coer:
		return win(r)
	case l.coll == r.coll:
		return win(l)
	case l.coer == CoerExplicit:
		return l, false
	case l.coll.IsBin():
		return win(l)
	case r.coll.IsBin():
		return win(r)
	}
	return derivation{l.coll.Charset().Bin, CoerNone, ascii}, true
}

// aggregate finds the common collation of args. strict refuses an undetermined result, as comparisons must. op names
// the operation in error 1267.
func (b *BuildContext) aggregate(op string, strict bool, args ...Expr) (derivation, error) {
	return b.aggregateFor(op, strict, args, args)
}

// aggregateFor is aggregate for an operation of which args are some of the operands; the error tells of all.
func (b *BuildContext) aggregateFor(op string, strict bool, operands, args []Expr) (derivation, error) {
	b.visit(len(args))
	d := b.derive(args[0])
	for i, a := range args[1:] {
		next := b.derive(a)
		merged, ok := d.merge(next)
		if !ok {
			return d, collationError(op, b, operands)
		}
		if strict && merged.coer == CoerNone && i == len(args)-2 {
			return d, collationError(op, b, operands)
		}
		d = merged
	}
	return d, unreadable(d.coll, args)
}

// unreadable is error 3854 for a constant that joins texts of a character set in which its bytes are no text, or that lacks its characters.
func unreadable(coll types.CollationID, args []Expr) error {
	if coll == types.Binary {
		return nil
	}
	to := coll.Charset()
	for _, a := range args {
		if a.kind != kindConst || a.value.K != types.KindString || !isTextual(&a.typ) {
			continue
		}
		from := a.typ.Coll.Charset()
		if a.typ.Coll == types.Binary && to.Valid(a.value.B) || from == to || a.ascii && asciiCompatible(to) || a.typ.Coll != types.Binary && convertible(a.value.B, from, to) {
			continue
		}
		return noConversion(a.value.B, from, to)
	}
	return nil
}

func noConversion(s []byte, from, to *types.Charset) error {
	return types.Errorf(types.ErImpossibleStringConversion, types.PrintableBytes(s), from.Name, to.Name)
}

// convertible reports whether a character set has all characters of a text of another one.
func convertible(s []byte, from, to *types.Charset) bool {
	if types.SameBytes(from, to) {
		return true
	}
	_, bad := types.ConvertCharset(nil, s, from, to)
	return bad == 0
}

func collationError(op string, b *BuildContext, args []Expr) error {
	show := func(e Expr) []any {
		d := b.derive(e)
		return []any{d.coll.Name(), coercibilityNames[d.coer]}
	}
	switch {
	case len(args) == 2:
		return types.Errorf(types.ErCantAggregate2Collations, append(append(show(args[0]), show(args[1])...), op)...)
	case len(args) == 3:
		return types.Errorf(types.ErCantAggregate3Collations, append(append(append(show(args[0]), show(args[1])...), show(args[2])...), op)...)
	}
	return types.Errorf(types.ErCantAggregateNCollations, op)
}

// toCharset wraps e so that its strings come in the character set of coll. Constants are converted at once by fold.
// e is returned as it is when nothing has to change.
func (b *BuildContext) toCharset(e Expr, coll types.CollationID) Expr {
	textual := isTextual(&e.typ)
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
	if e.kind == kindParam { // a literal of the statement, perhaps, of which unreadable has not seen the value
		n.eval = evalToSubject
	}
	if !n.typ.IsStringType() {
		n.typ = types.Type{ID: types.TypeVarchar, Length: charLength(&e.typ), Coll: coll}
	}
	return foldHidden(b, n)
}

func asciiCompatible(cs *types.Charset) bool { return cs.MinLen == 1 }

func evalToCharset(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := ctx.text(n.args[0], row)
	if err != nil || v.K == types.KindNull {
		return v, err
	}
	b := v.B
	if from, to := v.Coll.Charset(), n.aux.(*types.Charset); from != to {
		b = ctx.converted(v.B, from, to)
	}
	return types.String(b, n.typ.Coll), nil
}

// toSubject is toCharset for what is looked for in a text, or put into it: a character that the text's set lacks is error 3854 and no question mark.
func (b *BuildContext) toSubject(e Expr, coll types.CollationID) (Expr, error) {
	if err := unreadable(coll, []Expr{e}); err != nil {
		return nil, err
	}
	c := b.toCharset(e, coll)
	if c == e || c.kind == kindConst {
		return c, nil
	}
	c.eval = evalToSubject
	return c, nil
}

func evalToSubject(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := evalToCharset(ctx, n, row)
	if err != nil || v.K == types.KindNull || bytes.IndexByte(v.B, '?') < 0 {
		return v, err
	}
	if v, err = ctx.text(n.args[0], row); err != nil {
		return v, err
	}
	if from, to := v.Coll.Charset(), n.aux.(*types.Charset); !convertible(v.B, from, to) {
		return v, noConversion(v.B, from, to)
	}
	return evalToCharset(ctx, n, row)
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
			v.B = to.Align(v.B)
			if good := to.ValidPrefix(v.B); good != len(v.B) {
				ctx.AddError(types.LevelWarning, to.InvalidString(v.B[good:]))
				return types.Null(), nil
			}
		default:
			// Taken as bytes of yet another character set and converted again, it would double with each call.
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

// leastBytes is what a text takes at least in another character set.
func leastBytes(s []byte, from, to *types.Charset) int { return from.CountChars(s) * to.MinLen }

// convertAtOnce is how long a text may be that is converted in one piece.
const convertAtOnce = 16 << 10

// converted is a text in another character set, in the arena.
func (ctx *Ctx) converted(s []byte, from, to *types.Charset) []byte {
	least := leastBytes(s, from, to)
	if !ctx.fits(least) {
		return nil
	}
	out := ctx.alloc(least)[:0]
	if len(s) <= convertAtOnce {
		room := out
		if out, _ = types.ConvertCharset(room, s, from, to); cap(out) > cap(room) {
			ctx.charge(cap(out)) // it has moved
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
