package expr

import (
	"bytes"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/pandodb/pando/types"
)

// textReplace is REPLACE, which compares bytes whatever the collation.
func textReplace(ctx *Ctx, n *Node, args []types.Value) (types.Value, error) {
	if len(args[1].B) == 0 {
		return n.textResult(args[0].B), nil
	}
	// The size is computed and checked before the allocation: it may be a million matches times a long text.
	size := len(args[0].B) + bytes.Count(args[0].B, args[1].B)*(len(args[2].B)-len(args[1].B))
	if ctx.tooLong(n, size) {
		return types.Null(), nil
	}
	s, out := args[0].B, ctx.alloc(size)[:0]
	for {
		at := bytes.Index(s, args[1].B)
		if at < 0 {
			return n.textResult(append(out, s...)), nil
		}
		out = append(append(out, s[:at]...), args[2].B...)
		s = s[at+len(args[1].B):]
		if err := ctx.steps(at + 1); err != nil {
			return types.Null(), err
		}
	}
}

func textReverse(ctx *Ctx, n *Node, args []types.Value) (types.Value, error) {
	s, cs := args[0].B, n.typ.Coll.Charset()
	if !ctx.fits(len(s)) {
		return types.Null(), nil
	}
	out := ctx.alloc(len(s))
	at := len(out)
	ctx.pieces(s, cs, func(piece []byte) {
		for len(piece) > 0 {
			w := cs.CharPrefix(piece, 1)
			at -= w
			copy(out[at:], piece[:w])
			piece = piece[w:]
		}
	})
	return n.textResult(out), nil
}

// buildLocate is LOCATE(what, s[, from]), POSITION and INSTR(s, what).
func buildLocate(b *BuildContext, n *Node) error {
	args := append([]Expr(nil), n.args...)
	if n.name == "instr" {
		args[0], args[1] = args[1], args[0]
	}
	n.args = args
	if err := b.joinSubject(n, 1, 0); err != nil {
		return err
	}
	n.aux = n.typ.Coll
	n.typ, n.coer, n.ascii = intType(11), CoerNumeric, true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		s, err := ctx.text(n.args[1], row) // before what is searched: only then may that be bytes that are no text
		if err != nil || s.IsNull() {
			return types.Null(), err
		}
		what, err := ctx.text(n.args[0], row)
		if err != nil || what.IsNull() {
			return types.Null(), err
		}
		from := int64(1)
		if len(n.args) == 3 {
			var null bool
			if from, null, err = ctx.int(n.args[2], row); null {
				return types.Null(), err
			}
		}
		at, err := ctx.locate(n, s.B, what.B, from)
		return types.Int(int64(at)), err
	}
	return nil
}

// locate returns the position of the first occurrence of what in s at or after from, in characters from 1; 0 if there is none. n is the call.
func (ctx *Ctx) locate(n *Node, s, what []byte, from int64) (int, error) {
	c := n.aux.(types.CollationID)
	cs := c.Charset()
	if from < 1 || from > int64(len(s))+1 {
		return 0, nil
	}
	skip := cs.CharPrefix(s, int(from-1))
	if int64(cs.CountChars(s[:skip])) < from-1 {
		return 0, nil
	}
	at, s := int(from), s[skip:]
	if len(what) == 0 {
		return at, nil
	}
	if bytewise(c) || c.IsBin() {
		return ctx.findText(s, what, at, cs, func(s []byte) (bool, bool) { return bytes.HasPrefix(s, what), true })
	}
	if needle := ctx.needle(n, what, c); needle != nil {
		return ctx.findNeedle(s, needle, len(what), at)
	}
	width := cs.CountChars(what)
	return ctx.findText(s, what, at, cs, func(s []byte) (found, more bool) {
		end := cs.CharPrefix(s, width)
		if cs.CountChars(s[:end]) < width {
			return false, false
		}
		return ctx.compareTexts(s[:end], what, c) == 0, true
	})
}

// needleKeptMax is the longest text, in bytes, whose weights a context keeps.
const needleKeptMax = 1 << 10

// needle returns what as types.NewNeedle does. The weights of one that has one value in a statement are computed once in a context, of which each
// worker has its own; a parameter that another row around has changed makes a new one. Only short ones are kept, which nobody counts.
func (ctx *Ctx) needle(n *Node, what []byte, c types.CollationID) *types.Needle {
	if !IsConstInStatement(n.args[0]) || len(what) > needleKeptMax {
		return types.NewNeedle(what, c)
	}
	if kept := ctx.needles[n]; kept != nil && kept.Is(what) {
		return kept
	}
	needle := types.NewNeedle(what, c)
	if needle == nil {
		return nil
	}
	needle.Keep() // what may be in the arena
	if ctx.needles == nil {
		ctx.needles = map[*Node]*types.Needle{}
	}
	ctx.needles[n] = needle
	return needle
}

// findText returns the number of the first character of s, from at, at which begins reports that what begins; more is false where no later one can.
func (ctx *Ctx) findText(s, what []byte, at int, cs *types.Charset, begins func(s []byte) (found, more bool)) (int, error) {
	for ; len(s) > 0; at++ {
		if err := ctx.steps(1 + len(what)); err != nil {
			return 0, err
		}
		if found, more := begins(s); found {
			return at, nil
		} else if !more {
			return 0, nil
		}
		s = s[cs.CharPrefix(s, 1):]
	}
	return 0, nil
}

// findNeedle is findText for a needle of so many bytes. Where characters without weights are in front of it, it begins at the first of them.
func (ctx *Ctx) findNeedle(s []byte, needle *types.Needle, length, at int) (int, error) {
	first := 0 // of the characters without weights in front of s
	for ; len(s) > 0; at++ {
		if err := ctx.steps(1 + length); err != nil {
			return 0, err
		}
		if first == 0 {
			first = at
		}
		weightless, size := needle.Weightless(s)
		if !weightless || needle.Empty() {
			if needle.Begins(s) {
				return first, nil
			}
			first = 0
		}
		s = s[size:]
	}
	return 0, nil
}

// buildInsert is INSERT(s, at, length, with).
func buildInsert(b *BuildContext, n *Node) error {
	if err := b.joinSubject(n, 0, 3); err != nil {
		return err
	}
	length := int32(-1)
	if a, c := charLength(&n.args[0].typ), charLength(&n.args[3].typ); a >= 0 && c >= 0 {
		length = a + c
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		s, err := ctx.text(n.args[0], row)
		if err != nil || s.IsNull() {
			return types.Null(), err
		}
		at, null1, err := ctx.int(n.args[1], row)
		if err != nil {
			return types.Null(), err
		}
		length, null2, err := ctx.int(n.args[2], row)
		if err != nil {
			return types.Null(), err
		}
		with, err := ctx.text(n.args[3], row)
		if err != nil || null1 || null2 || with.IsNull() {
			return types.Null(), err
		}
		cs := n.typ.Coll.Charset()
		total := int64(cs.CountChars(s.B))
		if at < 1 || at > total {
			return n.textResult(s.B), nil
		}
		if length < 0 || length > total-at+1 {
			length = total - at + 1
		}
		head := cs.CharPrefix(s.B, int(at-1))
		tail := head + cs.CharPrefix(s.B[head:], int(length))
		if ctx.tooLong(n, head+len(with.B)+len(s.B)-tail) {
			return types.Null(), nil
		}
		return n.textResult(ctx.owned(slices.Concat(s.B[:head], with.B, s.B[tail:]))), nil
	}
	return nil
}

// buildElt is ELT(i, a, b, …).
func buildElt(b *BuildContext, n *Node) error {
	where := allArgs(n)[1:]
	if err := b.joinText(n, 0, where...); err != nil {
		return err
	}
	length := int32(0)
	for _, a := range n.args[1:] {
		l := charLength(&a.typ)
		if l < 0 {
			length = -1
			break
		}
		length = max(length, l)
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		i, null, err := ctx.int(n.args[0], row)
		if null || i < 1 || i >= int64(len(n.args)) {
			return types.Null(), err
		}
		v, err := ctx.text(n.args[i], row)
		if v.K == types.KindString {
			v.Coll = n.typ.Coll
		}
		return v, err
	}
	return nil
}

// buildField is FIELD(x, a, b, …). It compares integers if all arguments are, strings if none is a number (dates and JSON as strings, too), and
// else doubles.
func buildField(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	strs, ints := 0, 0
	for _, a := range n.args {
		switch classOf(&a.typ) {
		case classString, classTemporal, classTime, classJSON:
			strs++
		case classInt:
			ints++
		case classNull:
			strs, ints = strs+1, ints+1
		}
	}
	c := &comparator{class: classFloat, mask: maskEqual}
	switch {
	case strs == len(n.args):
		for i, a := range n.args {
			coll := b.collation()
			switch classOf(&a.typ) {
			case classJSON:
				coll = types.Utf8mb4Bin
				fallthrough
			case classTemporal, classTime:
				n.args[i] = b.coerced(a, stringType(charLength(&a.typ), coll))
			}
		}
		d := b.derive(n.args[0])
		c.class, c.coll, c.bytes = classString, d.coll, bytewise(d.coll)
		args := make([]Expr, len(n.args))
		for i, a := range n.args {
			var err error
			if args[i], err = b.toSubject(a, d.coll); err != nil {
				return err
			}
		}
		n.args = args
	default: // x'61' and b'101' are numbers beside numbers
		n.args = numbersOf(n.args)
		if ints == len(n.args) {
			c.class = classInt
		}
	}
	n.typ, n.coer, n.aux, n.notNull = intType(3), CoerNumeric, c, true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		x, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || x.IsNull() {
			return types.Int(0), err
		}
		for i, a := range n.args[1:] {
			v, err := a.eval(ctx, a, row)
			if err != nil {
				return v, err
			}
			if v.IsNull() {
				continue
			}
			if order, ok := n.aux.(*comparator).compare(ctx, &x, &v); ok && order == 0 {
				return types.Int(int64(i + 1)), nil
			}
		}
		return types.Int(0), nil
	}
	return nil
}

// textFindInSet is FIND_IN_SET(s, list).
func textFindInSet(ctx *Ctx, n *Node, args []types.Value) (types.Value, error) {
	what, list := args[0].B, args[1].B
	if bytes.IndexByte(what, ',') >= 0 || len(list) == 0 {
		return types.Int(0), nil
	}
	for i, more := 0, true; more; i++ {
		var item []byte
		item, list, more = bytes.Cut(list, []byte{','})
		if err := ctx.steps(1 + len(item)); err != nil {
			return types.Null(), err
		}
		if coll := n.aux.(types.CollationID); ctx.compareTexts(item, what, coll) == 0 && trailingBlanks(item) == trailingBlanks(what) {
			return types.Int(int64(i + 1)), nil
		}
	}
	return types.Int(0), nil
}

// trailingBlanks counts the spaces at the end of s, which are significant for FIND_IN_SET even under a PAD SPACE collation.
func trailingBlanks(s []byte) int { return len(s) - len(bytes.TrimRight(s, " ")) }

// buildMakeSet is MAKE_SET(bits, a, b, …).
// bits evaluates e as the 64 bits of MAKE_SET and EXPORT_SET.
func (ctx *Ctx) bits(e Expr, row []types.Value) (bits int64, null bool, err error) {
	v, err := e.eval(ctx, e, row)
	if err != nil || v.IsNull() {
		return 0, true, err
	}
	if v.K == types.KindUint {
		return v.N, false, nil
	}
	return ctx.integer(&v), false, nil
}

func buildMakeSet(b *BuildContext, n *Node) error {
	if err := b.joinText(n, 0, allArgs(n)[1:]...); err != nil {
		return err
	}
	n.typ = stringType(joinedLength(n.args[1:], 1), n.typ.Coll)
	comma := encoded(",", n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		bitmap, null, err := ctx.bits(n.args[0], row)
		if null {
			return types.Null(), err
		}
		var out []byte
		some := false
		for i, a := range n.args[1:] {
			if i >= 64 || uint64(bitmap)>>uint(i)&1 == 0 {
				continue
			}
			v, err := ctx.text(a, row)
			if err != nil {
				return v, err
			}
			if v.IsNull() {
				continue
			}
			if some {
				out = append(out, comma...)
			}
			if ctx.tooLong(n, len(out)+len(v.B)) {
				return types.Null(), nil
			}
			out, some = append(out, v.B...), true
		}
		return n.textResult(ctx.owned(out)), nil
	}
	return nil
}

// exportSetBits is the default number of bits of EXPORT_SET, and the most.
const exportSetBits = 64

// buildExportSet is EXPORT_SET(bits, on, off[, separator[, count]]).
func buildExportSet(b *BuildContext, n *Node) error {
	where := []int{1, 2}
	if len(n.args) > 3 {
		where = append(where, 3)
	}
	if err := b.joinText(n, 0, where...); err != nil {
		return err
	}
	n.typ = stringType(exportSetLength(n), n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		bitmap, null, err := ctx.bits(n.args[0], row)
		if null {
			return types.Null(), err
		}
		on, err1 := ctx.text(n.args[1], row)
		off, err2 := ctx.text(n.args[2], row)
		if err1 != nil || err2 != nil || on.IsNull() || off.IsNull() {
			return types.Null(), firstError(err1, err2)
		}
		sep, count := []byte(","), int64(exportSetBits)
		if len(n.args) > 3 {
			v, err := ctx.text(n.args[3], row)
			if err != nil || v.IsNull() {
				return types.Null(), err
			}
			sep = v.B
		}
		if len(n.args) > 4 {
			if count, null, err = ctx.int(n.args[4], row); null {
				return types.Null(), err
			}
			if count < 0 || count > exportSetBits {
				count = exportSetBits
			}
		}
		ones := bits.OnesCount64(uint64(bitmap) & (1<<uint(count) - 1))
		size := ones*len(on.B) + (int(count)-ones)*len(off.B) + max(int(count)-1, 0)*len(sep)
		if ctx.tooLong(n, size) {
			return types.Null(), nil
		}
		out := ctx.alloc(size)[:0]
		for i := range count {
			if i > 0 {
				out = append(out, sep...)
			}
			if uint64(bitmap)>>uint(i)&1 != 0 {
				out = append(out, on.B...)
			} else {
				out = append(out, off.B...)
			}
		}
		return n.textResult(out), nil
	}
	return nil
}

// exportSetLength returns the most characters of EXPORT_SET, with all bits; -1 is unbounded.
func exportSetLength(n *Node) int32 {
	longest, sep := max(charLength(&n.args[1].typ), charLength(&n.args[2].typ)), int32(1)
	if len(n.args) > 3 {
		sep = charLength(&n.args[3].typ)
	}
	if charLength(&n.args[1].typ) < 0 || charLength(&n.args[2].typ) < 0 || sep < 0 || longest > 1<<20 || sep > 1<<20 {
		return -1
	}
	return longest*exportSetBits + sep*(exportSetBits-1)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// buildSubstringIndex is SUBSTRING_INDEX(s, delimiter, count).
func buildSubstringIndex(b *BuildContext, n *Node) error {
	if err := b.joinSubject(n, 0, 1); err != nil {
		return err
	}
	n.typ = stringType(charLength(&n.args[0].typ), n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		s, err := ctx.text(n.args[0], row)
		if err != nil || s.IsNull() {
			return types.Null(), err
		}
		delim, err := ctx.text(n.args[1], row)
		if err != nil || delim.IsNull() {
			return types.Null(), err
		}
		count, null, err := ctx.int(n.args[2], row)
		if null {
			return types.Null(), err
		}
		return n.textResult(substringIndex(s.B, delim.B, count)), nil
	}
	return nil
}

// substringIndex returns the part of s before the count-th delim, or behind the count-th from the end if count is negative. It borrows s.
func substringIndex(s, delim []byte, count int64) []byte {
	if count == 0 || len(delim) == 0 || len(s) == 0 {
		return s[:0]
	}
	at := 0
	if count > 0 {
		for ; count > 0; count-- {
			i := bytes.Index(s[at:], delim)
			if i < 0 {
				return s
			}
			at += i + len(delim)
		}
		return s[:at-len(delim)]
	}
	end := len(s)
	for ; count < 0; count++ {
		i := bytes.LastIndex(s[:end], delim)
		if i < 0 {
			return s
		}
		end = i
	}
	return s[end+len(delim):]
}

// buildStrcmp is STRCMP: texts are compared in their collation; if one operand is a number or a date, both as bytes.
func buildStrcmp(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	x, err := b.strcmpOperand(n.args[0], n.args[1])
	if err != nil {
		return err
	}
	y, err := b.strcmpOperand(n.args[1], n.args[0])
	if err != nil {
		return err
	}
	coll := types.Binary
	if textClass(x) && textClass(y) && !dated(&x.typ) && !dated(&y.typ) {
		d, err := b.mergeTwo("strcmp", true, x, y)
		if err != nil {
			return err
		}
		coll, x, y = d.coll, b.toCharset(x, d.coll), b.toCharset(y, d.coll)
	}
	n.args = []Expr{x, y}
	n.typ, n.coer, n.aux = intType(2), CoerNumeric, coll
	n.eval = overText(func(ctx *Ctx, n *Node, args []types.Value) (types.Value, error) {
		return types.Int(int64(sign(ctx.compareTexts(args[0].B, args[1].B, n.aux.(types.CollationID))))), nil
	})
	return nil
}

// strcmpOperand returns e as STRCMP compares it with other: a constant beside a column of BIGINT, YEAR or TIME, and a number beside a DATE or DATETIME in the
// column's type. A text beside a date has to be one, and stays as it is.
func (b *BuildContext) strcmpOperand(e, other Expr) (Expr, error) {
	t := &other.typ
	_, param := e.ParamOrdinal()
	text := dated(t) && classOf(&e.typ) == classString && !param
	switch {
	case !IsConst(e) || !b.comparesAsColumn(other, e):
	case text, numericSide(e) && dated(t), param, t.ID == types.TypeBigInt, t.ID == types.TypeYear, t.ID == types.TypeTime:
		as, err := b.adapt(other, e, &adaption{tolerant: b.NoDateFits})
		if text {
			as = e
		}
		return as, err
	}
	b.tellDateConst(other, e)
	return e, nil
}

// buildSoundsLike is a SOUNDS LIKE b, which is SOUNDEX(a) = SOUNDEX(b).
func buildSoundsLike(b *BuildContext, n *Node) error {
	x, err := Call(b, "soundex", n.args[0])
	if err != nil {
		return err
	}
	y, err := Call(b, "soundex", n.args[1])
	if err != nil {
		return err
	}
	equal, err := Call(b, "=", x, y)
	if err != nil {
		return err
	}
	*n = *equal
	return nil
}

// firstForeignLetter is the code point from which on SOUNDEX takes all characters for letters, as MySQL does.
const firstForeignLetter = 0xC0

// textSoundex is SOUNDEX. Unlike the classic algorithm, MySQL's does not cut the result off after four characters.
func textSoundex(ctx *Ctx, n *Node, args []types.Value) (types.Value, error) {
	const codes = "01230120022455012623010202"
	var out []byte
	last, letters := byte('0'), 0
	s := args[0].B
	cs := n.typ.Coll.Charset()
	binary := cs == types.Binary.Charset()
	foreign := !binary && !types.SameBytes(cs, types.DefaultCollation.Charset())
	if foreign {
		s = ctx.converted(s, cs, types.DefaultCollation.Charset())
	}
	if room := len(s) + 4; ctx.fits(room) && len(s) >= meterUnit {
		out = make([]byte, 0, room)
	}
	for len(s) > 0 {
		if err := ctx.steps(1); err != nil || ctx.failed != nil {
			return types.Null(), err
		}
		c, size := utf8.DecodeRune(s)
		letter := s[:size]
		s = s[size:]
		code := byte('0') // also of letters beyond ASCII
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			letter = []byte{byte(c) &^ 0x20}
			code = codes[letter[0]-'A']
		} else if c < firstForeignLetter || binary || c == utf8.RuneError && size == 1 {
			continue
		}
		switch {
		case letters == 0:
			out, last = append(out, letter...), code
		case code != last && code != '0':
			out, last = append(out, code), code
		default:
			continue
		}
		letters++
	}
	for ; letters > 0 && letters < 4; letters++ {
		out = append(out, '0')
	}
	out = ctx.owned(out)
	if foreign {
		return ctx.fromUTF8(n, out), nil
	}
	return n.textResult(out), nil
}
