package expr

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// textFunc computes a string function. Its arguments are strings that are not NULL, in a slice that is reused.
type textFunc func(ctx *Ctx, n *Node, args []types.Value) (types.Value, error)

// maxTextArgs is the most arguments of a textFunc.
const maxTextArgs = 4

// joinText makes n a string of at most chars characters (negative: unbounded) in the common collation of the arguments at the positions where,
// and converts those to its character set.
func (b *BuildContext) joinText(n *Node, chars int32, where ...int) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	parts := make([]Expr, len(where))
	for i, at := range where {
		parts[i] = n.args[at]
	}
	d, err := b.aggregate(n.name, false, parts...)
	if err != nil {
		return err
	}
	if d.coer >= CoerNumeric && d.coer != CoerNone && !(len(parts) == 1 && parts[0].typ.ID == types.TypeNull) {
		d.coer = CoerCoercible // numbers converted to text have the coercibility of literals
		if d.coll == types.Binary {
			d.coll = b.collation()
		}
	}
	args := append([]Expr(nil), n.args...)
	for _, at := range where {
		args[at] = b.toCharset(args[at], d.coll)
	}
	n.args, n.typ, n.coer, n.ascii = args, stringType(chars, d.coll), d.coer, d.ascii
	return nil
}

// joinSubject is joinText for functions that search other texts in the text at position subject, or insert them into it: the collation is that of
// the subject, whatever the coercibility of the others. Those at the positions where are converted to its character set.
func (b *BuildContext) joinSubject(n *Node, subject int, where ...int) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	d := b.derive(n.args[subject])
	if d.coer >= CoerNumeric && d.coer != CoerNone && n.args[subject].typ.ID != types.TypeNull {
		d.coer = CoerCoercible // numbers converted to text have the coercibility of literals
	}
	args := append([]Expr(nil), n.args...)
	args[subject] = b.toCharset(args[subject], d.coll)
	for _, at := range where {
		d.ascii = d.ascii && b.derive(args[at]).ascii
		var err error
		if args[at], err = b.toSubject(args[at], d.coll); err != nil {
			return err
		}
	}
	n.args, n.typ, n.coer, n.ascii = args, stringType(0, d.coll), d.coer, d.ascii
	return nil
}

// mapSubject is mapText with joinSubject; the first argument is the subject, and all others are texts.
func mapSubject(length func(n *Node) int32, f textFunc) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		if err := b.joinSubject(n, 0, allArgs(n)[1:]...); err != nil {
			return err
		}
		n.typ = stringType(length(n), n.typ.Coll)
		n.eval = overText(f)
		return nil
	}
}

// readable wraps the builder of a function that reads its arguments as ASCII: texts in UTF-16 or another set with wider characters are
// converted to UTF-8 first.
func readable(build func(*BuildContext, *Node) error) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		args := append([]Expr(nil), n.args...)
		for i, a := range args {
			if isTextual(&a.typ) && a.typ.Coll.Charset().MinLen > 1 {
				args[i] = b.toCharset(a, types.DefaultCollation)
			}
		}
		n.args = args
		return build(b, n)
	}
}

// encoded returns the ASCII text in the character set of coll.
func encoded(text string, coll types.CollationID) []byte {
	if coll.Charset().MinLen == 1 {
		return []byte(text)
	}
	out, _ := types.ConvertCharset(nil, []byte(text), types.DefaultCollation.Charset(), coll.Charset())
	return out
}

func allArgs(n *Node) []int {
	where := make([]int, len(n.args))
	for i := range where {
		where[i] = i
	}
	return where
}

// texts evaluates all arguments of n as strings into args; ok is false if one is NULL or there is an error.
func (ctx *Ctx) texts(n *Node, row []types.Value, args []types.Value) (ok bool, err error) {
	for i, a := range n.args {
		if args[i], err = ctx.text(a, row); err != nil || args[i].IsNull() {
			return false, err
		}
	}
	return true, nil
}

// overText returns the evaluator of a textFunc, which is NULL if an argument is.
func overText(f textFunc) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		var args [maxTextArgs]types.Value
		if ok, err := ctx.texts(n, row, args[:]); !ok {
			return types.Null(), err
		}
		return f(ctx, n, args[:len(n.args)])
	}
}

// mapText returns the builder of a function of texts whose result is a text of at most length(n) characters in their common collation.
func mapText(length func(n *Node) int32, f textFunc) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		if err := b.joinText(n, 0, allArgs(n)...); err != nil {
			return err
		}
		n.typ = stringType(length(n), n.typ.Coll)
		n.eval = overText(f)
		return nil
	}
}

// countText returns the builder of a function of texts whose result is an integer of the display width length. aux is their common collation.
func countText(length int32, f textFunc) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		if err := b.joinText(n, 0, allArgs(n)...); err != nil {
			return err
		}
		if n.coer == CoerNone {
			return collationError(n.name, b, n.args)
		}
		n.aux = n.typ.Coll
		n.typ, n.coer, n.ascii = intType(length), CoerNumeric, true
		n.eval = overText(f)
		return nil
	}
}

// asciiText returns the builder of a function whose result is an ASCII text of at most length(n) characters in the connection's collation.
func asciiText(length func(n *Node) int32, eval evalFunc) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		if err := rejectRows(n.args); err != nil {
			return err
		}
		n.typ, n.coer, n.ascii, n.eval = stringType(length(n), b.collation()), CoerCoercible, true, eval
		if !asciiCompatible(n.typ.Coll.Charset()) {
			n.eval = widened(eval)
		}
		return nil
	}
}

// widened gives the ASCII text of eval in the character set of a node whose letters have more than one byte, such as utf16.
func widened(eval evalFunc) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := eval(ctx, n, row)
		if err != nil || v.IsNull() {
			return v, err
		}
		return ctx.fromUTF8(n, v.B), nil
	}
}

// systemText is asciiText in systemCollation, which names and facts about the server have.
func systemText(length int32, eval evalFunc) func(*BuildContext, *Node) error {
	ascii := asciiText(chars(length), eval)
	return func(b *BuildContext, n *Node) error {
		err := ascii(b, n)
		n.typ, n.eval = stringType(length, systemCollation), eval
		return err
	}
}

func chars(n int32) func(*Node) int32 { return func(*Node) int32 { return n } }

// lengthOfArg returns the length rule of a function whose result is at most factor times as long as argument i.
func lengthOfArg(i int, factor int32) func(*Node) int32 {
	return func(n *Node) int32 {
		l := charLength(&n.args[i].typ)
		if l < 0 || l > 1<<30/factor {
			return -1
		}
		return l * factor
	}
}

func sumLengths(n *Node) int32 { return joinedLength(n.args, 0) }

// joinedLength returns the most characters of all args with separators of sep characters between them; -1 is unbounded.
func joinedLength(args []Expr, sep int32) int32 {
	total := sep * int32(len(args)-1)
	for _, a := range args {
		l := charLength(&a.typ)
		if l < 0 || total > 1<<30 {
			return -1
		}
		total += l
	}
	return total
}

// tooLong reports whether a result of size bytes is longer than max_allowed_packet, with warning 1301, or than the statement's memory allows.
// The function returns NULL then. If it is not, the bytes are counted as fits does.
func (ctx *Ctx) tooLong(n *Node, size int) bool { return ctx.beyondPacket(n.name, size) }

func (ctx *Ctx) beyondPacket(name string, size int) bool {
	return ctx.overPacket(name, size) || !ctx.fits(size) // without memory, the statement fails with ctx.failed
}

// overPacket is beyondPacket for a result that is counted already.
func (ctx *Ctx) overPacket(name string, size int) bool {
	if size <= ctx.packetLimit() {
		return false
	}
	ctx.Warn(types.LevelWarning, types.ErWarnAllowedPacketOverflowed, name, ctx.packetLimit())
	return true
}

func (n *Node) textResult(b []byte) types.Value { return types.String(b, n.typ.Coll) }

// fromUTF8 converts b from UTF-8 to the character set of n and returns it as n's result.
func (ctx *Ctx) fromUTF8(n *Node, b []byte) types.Value {
	from, to := types.DefaultCollation.Charset(), n.typ.Coll.Charset()
	if (!isASCII(b) || to.MinLen > 1) && !types.SameBytes(from, to) {
		b = ctx.converted(b, from, to)
	}
	return n.textResult(b)
}

// textUTF8 evaluates e as a string in UTF-8; NULL stays NULL. The collation of the value stays that of e.
func (ctx *Ctx) textUTF8(e *Node, row []types.Value) (types.Value, error) {
	v, err := ctx.text(e, row)
	if from, to := v.Coll.Charset(), types.DefaultCollation.Charset(); err == nil && v.IsString() && !types.SameBytes(from, to) {
		v.B = ctx.converted(v.B, from, to)
	}
	return v, err
}

func buildConcat(b *BuildContext, n *Node) error {
	if err := b.joinText(n, 0, allArgs(n)...); err != nil {
		return err
	}
	n.typ, n.eval = stringType(sumLengths(n), n.typ.Coll), evalConcat
	return nil
}

func evalConcat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	var out []byte
	for _, a := range n.args {
		v, err := ctx.text(a, row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		if ctx.tooLong(n, len(out)+len(v.B)) {
			return types.Null(), nil
		}
		out = ctx.extend(out, v.B)
	}
	return n.textResult(ctx.fit(out)), nil
}

func buildConcatWS(b *BuildContext, n *Node) error {
	if err := b.joinText(n, 0, allArgs(n)...); err != nil {
		return err
	}
	length := sumLengths(n)
	if sep := charLength(&n.args[0].typ); length >= 0 && sep >= 0 {
		length += sep * int32(max(len(n.args)-3, 0))
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		sep, err := ctx.text(n.args[0], row)
		if err != nil || sep.IsNull() {
			return types.Null(), err
		}
		var out []byte
		some := false
		for _, a := range n.args[1:] {
			v, err := ctx.text(a, row)
			if err != nil {
				return v, err
			}
			if v.IsNull() {
				continue
			}
			if ctx.tooLong(n, len(out)+len(sep.B)+len(v.B)) {
				return types.Null(), nil
			}
			if some {
				out = ctx.extend(out, sep.B)
			}
			out, some = ctx.extend(out, v.B), true
		}
		return n.textResult(ctx.fit(out)), nil
	}
	return nil
}

// buildSubstring is SUBSTRING(s, from[, length]); a negative from counts characters from the end.
func buildSubstring(b *BuildContext, n *Node) error {
	if err := b.joinText(n, 0, 0); err != nil {
		return err
	}
	length := charLength(&n.args[0].typ)
	if from, ok := constCount(n.args[1]); ok {
		switch {
		case length < 0:
			if from < 0 {
				length = shorter(length, -from)
			}
		case from > 0:
			length = int32(max(int64(length)-(from-1), 0))
		case from < 0 && from > -int64(length):
			length = int32(-from)
		}
	}
	if count, ok := constCount(n.args[len(n.args)-1]); ok && len(n.args) == 3 {
		length = shorter(length, count)
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = evalSubstring
	return nil
}

// constCount returns the constant number of characters e, if it is in the range of BIGINT: a larger one bounds nothing.
func constCount(e Expr) (n int64, ok bool) {
	v, ok := e.ConstValue()
	return v.N, ok && integral(v.K) && (v.K != types.KindUint || v.N >= 0)
}

// shorter is the length of a text, -1 for one that is not bounded, of which n characters are taken at most.
func shorter(length int32, n int64) int32 {
	if n = max(n, 0); length >= 0 {
		return int32(min(int64(length), n))
	} else if n <= varcharMaxChars {
		return int32(n)
	}
	return -1
}

func evalSubstring(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	from, null, err := ctx.int(n.args[1], row)
	if null {
		return types.Null(), err
	}
	length := int64(1<<63 - 1)
	if len(n.args) == 3 {
		if length, null, err = ctx.int(n.args[2], row); null {
			return types.Null(), err
		}
	}
	return n.textResult(slice(s.B, from, length, n.typ.Coll)), nil
}

// slice returns at most length characters of s, beginning with character from: 1 is the first, -1 the last. It borrows s.
func slice(s []byte, from, length int64, c types.CollationID) []byte {
	if from == 0 || length <= 0 {
		return s[:0]
	}
	cs := c.Charset()
	if from < 0 {
		if from += int64(cs.CountChars(s)); from < 0 {
			return s[:0]
		}
	} else {
		from--
	}
	if from >= int64(len(s)) {
		return s[:0]
	}
	s = s[cs.CharPrefix(s, int(from)):]
	if length < int64(len(s)) {
		s = s[:cs.CharPrefix(s, int(length))]
	}
	return s
}

// buildLeft is LEFT and RIGHT.
func buildLeft(b *BuildContext, n *Node) error {
	if err := b.joinText(n, 0, 0); err != nil {
		return err
	}
	length := charLength(&n.args[0].typ)
	if count, ok := constCount(n.args[1]); ok {
		length = shorter(length, count)
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		s, err := ctx.text(n.args[0], row)
		if err != nil || s.IsNull() {
			return types.Null(), err
		}
		count, null, err := ctx.int(n.args[1], row)
		if null {
			return types.Null(), err
		}
		if n.name == "left" {
			return n.textResult(slice(s.B, 1, count, n.typ.Coll)), nil
		}
		if total := int64(n.typ.Coll.Charset().CountChars(s.B)); count < total {
			return n.textResult(slice(s.B, total-max(count, 0)+1, count, n.typ.Coll)), nil
		}
		return n.textResult(s.B), nil
	}
	return nil
}

// evalLength is LENGTH, OCTET_LENGTH, CHAR_LENGTH and BIT_LENGTH.
func evalLength(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	switch n.name {
	case "bit_length":
		return types.Int(int64(len(s.B)) * 8), nil
	case "char_length", "character_length":
		return types.Int(int64(s.Coll.Charset().CountChars(s.B))), nil
	}
	return types.Int(int64(len(s.B))), nil
}

// textUpper is UPPER and LOWER.
func textUpper(ctx *Ctx, n *Node, args []types.Value) (types.Value, error) {
	if n.typ.Coll == types.Binary {
		return args[0], nil
	}
	room := max(len(args[0].B), 64)
	if !ctx.fits(room) {
		return types.Null(), nil
	}
	mapped := types.AppendUpper
	if n.name == "lower" || n.name == "lcase" {
		mapped = types.AppendLower
	}
	out := ctx.scratchFor(room)
	ctx.pieces(args[0].B, n.typ.Coll.Charset(), func(piece []byte) { out = mapped(out, piece, n.typ.Coll) })
	return n.textResult(ctx.keep(out)), nil
}

// oneSpace is what TRIM removes by default.
var oneSpace = []byte{' '}

// textTrim is TRIM, LTRIM and RTRIM; without a second argument they remove spaces.
func textTrim(_ *Ctx, n *Node, args []types.Value) (types.Value, error) {
	s, what := args[0].B, oneSpace
	switch {
	case len(args) == 2:
		what = args[1].B
	case n.typ.Coll.Charset().MinLen > 1:
		what = encoded(" ", n.typ.Coll)
	}
	if len(what) == 0 {
		return n.textResult(s), nil
	}
	if n.name != "rtrim" && n.name != "trim_trailing" {
		for bytes.HasPrefix(s, what) {
			s = s[len(what):]
		}
	}
	if n.name != "ltrim" && n.name != "trim_leading" {
		s = trimSuffixes(s, what, n.typ.Coll.Charset())
	}
	return n.textResult(s), nil
}

// trimSuffixes removes all repetitions of what from the end of s, at character boundaries only.
func trimSuffixes(s, what []byte, cs *types.Charset) []byte {
	for bytes.HasSuffix(s, what) {
		rest := s[:len(s)-len(what)]
		if cs.MaxLen > 1 && what[0] >= 0x80 && cs.ValidPrefix(rest) != len(rest) {
			break
		}
		s = rest
	}
	return s
}

// buildPad is LPAD and RPAD.
func buildPad(b *BuildContext, n *Node) error {
	if err := b.joinSubject(n, 0, 2); err != nil {
		return err
	}
	length := int32(-1)
	if k, ok := n.args[1].ConstValue(); ok && integral(k.K) && k.N >= 0 && k.N < 1<<30 {
		length = int32(k.N)
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = evalPad
	return nil
}

func evalPad(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	want, null, err := ctx.int(n.args[1], row)
	if null || want < 0 {
		return types.Null(), err
	}
	pad, err := ctx.text(n.args[2], row)
	if err != nil || pad.IsNull() {
		return types.Null(), err
	}
	cs := n.typ.Coll.Charset()
	have := int64(cs.CountChars(s.B))
	if want <= have {
		return n.textResult(slice(s.B, 1, want, n.typ.Coll)), nil
	}
	padChars := int64(cs.CountChars(pad.B))
	if padChars == 0 {
		return n.textResult(s.B), nil
	}
	if want > int64(ctx.packetLimit()) || ctx.tooLong(n, int(want-have)*len(pad.B)/int(padChars)+len(s.B)) {
		if want > int64(ctx.packetLimit()) {
			ctx.tooLong(n, int(min(want, 1<<40)))
		}
		return types.Null(), nil
	}
	missing := want - have
	rest := slice(pad.B, 1, missing%padChars, n.typ.Coll)
	out := ctx.alloc(len(pad.B)*int(missing/padChars) + len(rest) + len(s.B))
	fill := out
	if n.name == "lpad" {
		copy(out[len(out)-len(s.B):], s.B)
	} else {
		fill = out[copy(out, s.B):]
	}
	copy(fill[ctx.repeat(fill, pad.B, int(missing/padChars)):], rest)
	return n.textResult(out), nil
}

// repeat writes s times times to dst, which must be long enough, and returns the number of bytes.
func (ctx *Ctx) repeat(dst, s []byte, times int) int {
	total := len(s) * times
	for at := copy(dst[:total], s); at > 0 && at < total; {
		at += copy(dst[at:total], dst[:at])
	}
	return total
}

// buildRepeat is REPEAT, and SPACE, which repeats a space.
func buildRepeat(b *BuildContext, n *Node) error {
	if n.name == "space" {
		blank := Const(types.String([]byte{' '}, b.collation()), stringType(1, b.collation()))
		n.args = []Expr{blank, n.args[0]}
	}
	if err := b.joinText(n, 0, 0); err != nil {
		return err
	}
	length := int32(-1)
	if k, ok := n.args[1].ConstValue(); ok && integral(k.K) {
		if l := int64(charLength(&n.args[0].typ)); l >= 0 && l*max(k.N, 0) < 1<<30 && k.N < 1<<30 {
			length = int32(l * max(k.N, 0))
		}
	}
	n.typ = stringType(length, n.typ.Coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		s, err := ctx.text(n.args[0], row)
		if err != nil || s.IsNull() {
			return types.Null(), err
		}
		count, null, err := ctx.int(n.args[1], row)
		if null {
			return types.Null(), err
		}
		if count <= 0 || len(s.B) == 0 {
			return n.textResult(nil), nil
		}
		if count > int64(ctx.packetLimit()) || len(s.B)*int(count) > ctx.packetLimit() {
			ctx.tooLong(n, 1<<40)
			return types.Null(), nil
		}
		if !ctx.fits(len(s.B) * int(count)) {
			return types.Null(), nil
		}
		out := ctx.alloc(len(s.B) * int(count))
		ctx.repeat(out, s.B, int(count))
		return n.textResult(out), nil
	}
	return nil
}
