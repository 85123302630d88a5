package expr

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pandodb/pando/types"
)

// Regular expressions follow ICU's rules, see types.Regexp.

var regexTable = map[string]function{
	"regexp": {2, 2, 0, buildRegexp}, "regexp_like": {2, 3, 0, buildRegexp}, "regexp_instr": {2, 6, 0, buildRegexp},
	"regexp_substr": {2, 5, 0, buildRegexp}, "regexp_replace": {3, 6, 0, buildRegexp},
}

// regexPlan is the aux of a regular expression function.
type regexPlan struct {
	coll     types.CollationID
	compiled *types.Regexp // nil: the pattern is not constant
	match    int           // index of the match_type argument, 0 for none
}

func buildRegexp(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	if err := refuseBinaryMix(n); err != nil {
		return err
	}
	bits := int32(0)
	if t := &n.args[0].typ; t.ID == types.TypeBit {
		bits = (t.Length + 7) / 8 * 8
	}
	d, err := b.aggregate(regexpName(n), true, n.args[0], n.args[1])
	if err != nil {
		return err
	}
	if err := b.joinPattern(n, d); err != nil {
		return err
	}
	p := &regexPlan{coll: d.coll}
	switch last := len(n.args) - 1; {
	case n.name == "regexp_like" && last == 2, n.name == "regexp_instr" && last == 5, n.name == "regexp_substr" && last == 4,
		n.name == "regexp_replace" && last == 5:
		p.match = last
	}
	if v, ok := n.args[1].ConstValue(); ok && v.K == types.KindString && p.match == 0 {
		if p.compiled, err = compileRegexp(b.quietCtx(), v.B, "", d.coll); err != nil {
			return err
		}
	}
	n.aux, n.eval = p, evalRegexp
	switch n.name {
	case "regexp", "regexp_like":
		n.typ, n.coer = boolType(), CoerNumeric
	case "regexp_instr":
		n.typ, n.coer = intType(21), CoerNumeric
	case "regexp_substr":
		if bits > 0 { // part of a binary string
			n.typ = stringType(bits/8, types.Binary)
		}
	}
	return nil
}

// joinPattern gives n the collation d that text and pattern have in common, and converts them and the replacement to its character set. A replacement
// that is binary is error 3995 beside texts.
func (b *BuildContext) joinPattern(n *Node, d derivation) error {
	if d.coer == CoerNumeric {
		d.coll = types.Latin1SwedishCI
	}
	last := 1
	if n.name == "regexp_replace" {
		last = 2
		if t := &n.args[2].typ; t.IsStringType() && t.Coll == types.Binary && d.coll != types.Binary && d.coer < CoerNumeric && !lenientBinary(n.args[2]) {
			return types.Errorf(types.ErCharacterSetMismatch, d.coll.Name(), t.Coll.Name(), n.name)
		}
	}
	n.args = slices.Clone(n.args)
	for i := range n.args[:last+1] {
		if n.args[i] = b.toCharset(n.args[i], d.coll); i == 2 {
			n.args[i] = lossy(n.args[i])
		}
		d.ascii = d.ascii && b.derive(n.args[i]).ascii
	}
	n.typ, n.coer, n.ascii = stringType(-1, d.coll), d.coer, d.ascii
	return nil
}

// lossy returns e, if it is a conversion to another character set, with question marks for the characters that are not in it.
func lossy(e Expr) Expr {
	c := computed(e)
	if !c.IsCall("convert_charset") {
		return e
	}
	n := *c
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := ctx.text(n.args[0], row)
		if err != nil || v.IsNull() {
			return v, err
		}
		return types.String(ctx.converted(v.B, v.Coll.Charset(), n.typ.Coll.Charset()), n.typ.Coll), nil
	}
	return &n
}

// refuseBinaryMix returns error 3995 if of text, pattern and replacement one is a binary string and another is not. If the binary one is a BLOB or of
// fixed length (lenientBinary), all functions but REGEXP_REPLACE accept the mix, as in MySQL. Numbers, dates and documents mix with all.
func refuseBinaryMix(n *Node) error {
	x, y := n.args[0], n.args[1]
	if n.name == "regexp_replace" {
		z := n.args[2]
		switch {
		case x.typ.ID == types.TypeBit && isPlainText(y) && isPlainText(z):
			return mixError(n, x, z)
		case isBinaryText(x) && isBinaryText(y) && !(x.typ.IsBlob() && y.typ.IsBlob()), isBinaryText(x) && !isPlainText(y) && !lenientBinary(x):
			y = z
		case isBinaryText(y) && !isPlainText(x) && !lenientBinary(y):
			x, y = y, z
		}
	}
	if !(isBinaryText(x) && isPlainText(y) || isPlainText(x) && isBinaryText(y)) {
		return nil
	}
	if n.name != "regexp_replace" && (lenientBinary(x) || lenientBinary(y)) {
		return nil
	}
	return mixError(n, x, y)
}

func isBinaryText(e Expr) bool { return e.typ.IsStringType() && e.typ.Coll == types.Binary }

func isPlainText(e Expr) bool {
	return (e.typ.IsStringType() || e.typ.ID == types.TypeEnum || e.typ.ID == types.TypeSet) && e.typ.Coll != types.Binary
}

func mixError(n *Node, x, y Expr) error {
	name := func(e Expr) string {
		if e.typ.ID == types.TypeBit {
			return types.Binary.Name()
		}
		return e.typ.Coll.Name()
	}
	return types.Errorf(types.ErCharacterSetMismatch, name(x), name(y), regexpName(n))
}

// lenientBinary reports whether e is a binary text that MySQL does not take for a VARBINARY: a BLOB, a column of BINARY, and a choice among such, CHAR and what
// is no text.
func lenientBinary(e Expr) bool {
	if e.typ.Coll != types.Binary {
		return false
	}
	switch c := computed(e); {
	case c.IsCall("weight_string"):
		t := &origin(c.args[0]).typ
		return t.ID == types.TypeJSON || t.IsBlob() && t.Coll != types.Binary
	case c.IsCall("replace") && origin(c.args[0]).typ.IsBlob():
		return true
	}
	return e.typ.IsBlob() || isFixed(e)
}

// isFixed reports whether e is a column of BINARY, CHAR, ENUM or SET, or chosen from such and what is no text.
func isFixed(e Expr) bool {
	e = origin(e)
	if e.kind == kindColumn {
		return e.typ.ID == types.TypeBinary || e.typ.ID == types.TypeChar || e.typ.ID == types.TypeEnum || e.typ.ID == types.TypeSet
	}
	from := e.args
	switch {
	case e.IsCall("nullif"):
		from = from[:1]
	case e.IsCall("if", "case", "case_value"):
		from = e.results()
	case !e.IsCall("coalesce", "ifnull", "greatest", "least"):
		return false
	}
	some := false
	for _, a := range from {
		if a = origin(a); isTextual(&a.typ) {
			if !isFixed(a) {
				return false
			}
			some = some || a.typ.IsStringType()
		}
	}
	return some
}

// regexpName returns the name of a function in error messages.
func regexpName(n *Node) string {
	if n.name == "regexp" {
		return "regexp_like"
	}
	return n.name
}

// compileRegexp compiles a pattern with the letters of match_type. Without c or i, the collation decides whether case matters. The memory is
// counted.
func compileRegexp(ctx *Ctx, pattern []byte, match string, c types.CollationID) (*types.Regexp, error) {
	if len(pattern) == 0 {
		return nil, types.Errorf(types.ErRegexpIllegalArgument)
	}
	name := c.Name()
	fold := !c.IsBin() && !strings.HasSuffix(name, "_cs") && !strings.Contains(name, "_as_cs")
	var flags types.RegexpFlags
	for _, m := range match {
		switch m {
		case 'c':
			fold = false
		case 'i':
			fold = true
		case 'm':
			flags |= types.RegexpMultiline
		case 'n':
			flags |= types.RegexpDotAll
		case 'u':
			flags |= types.RegexpUnixLines
		default:
			return nil, types.Errorf(types.ErWrongArguments, "regexp_like")
		}
	}
	if fold {
		flags |= types.RegexpFold
	}
	return compileChars(ctx, pattern, flags, c)
}

// compileChars compiles a pattern in the character set of c. The memory is counted.
func compileChars(ctx *Ctx, pattern []byte, flags types.RegexpFlags, c types.CollationID) (*types.Regexp, error) {
	if len(pattern) > types.RegexpPatternBytesMax {
		return nil, types.Errorf(types.ErRegexpPatternTooBig)
	}
	chars := types.AppendRunes(nil, pattern, c)
	if !ctx.charge(types.RegexpBytes(chars)) {
		return nil, ctx.failed
	}
	return types.CompileRegexp(chars, flags)
}

// runeBytes is the size of a character of a text that is searched.
const runeBytes = 4

// regexSearch is the state of one call in one execution, kept from row to row.
type regexSearch struct {
	re             *types.Regexp
	m              *types.RegexpMatcher
	text           []rune
	pattern, match string // those that re was compiled from, unless the pattern is constant
	limits         types.RegexpLimits
}

// matcher returns the state of call n with the pattern of row, nil if the pattern or match_type is NULL.
func (ctx *Ctx) matcher(n *Node, row []types.Value) (*regexSearch, error) {
	p := n.aux.(*regexPlan)
	s := ctx.regexes[n]
	if s == nil {
		s = new(regexSearch)
		if ctx.regexes == nil {
			ctx.regexes = map[*Node]*regexSearch{}
		}
		ctx.regexes[n] = s
	}
	re := p.compiled
	if re == nil {
		pattern, err := ctx.text(n.args[1], row)
		if err != nil || pattern.IsNull() {
			return nil, err
		}
		match := ""
		if p.match > 0 {
			m, err := ctx.text(n.args[p.match], row)
			if err != nil || m.IsNull() {
				return nil, err
			}
			match = string(m.B)
		}
		if re = s.re; re == nil || s.pattern != string(pattern.B) || s.match != match {
			if re, err = compileRegexp(ctx, pattern.B, match, p.coll); err != nil {
				return nil, err
			}
			s.pattern, s.match = string(pattern.B), match
		}
	}
	if limits := ctx.regexLimits(); s.m == nil || s.re != re || s.limits != limits {
		s.re, s.m, s.limits = re, re.Matcher(limits), limits
	}
	return s, nil
}

func (ctx *Ctx) regexLimits() types.RegexpLimits {
	l := ctx.RegexpLimits
	if l.Time == 0 {
		l.Time = types.DefaultRegexpLimits.Time
	}
	if l.StackBytes == 0 {
		l.StackBytes = types.DefaultRegexpLimits.StackBytes
	}
	return l
}

// load sets the text to search.
func (s *regexSearch) load(ctx *Ctx, text []byte, c types.CollationID) error {
	if size := runeBytes * len(text); len(text) > cap(s.text) && !ctx.charge(size) {
		return ctx.failed
	}
	if cap(s.text) > regexKeepRunes && len(text) <= regexKeepRunes {
		s.text = nil
	}
	s.text = slices.Grow(s.text[:0], len(text))
	ctx.pieces(text, c.Charset(), func(piece []byte) { s.text = types.AppendRunes(s.text, piece, c) })
	s.m.Reset(s.text)
	return ctx.failed
}

// regexKeepRunes is the largest capacity of regexSearch.text that is kept for the next row.
const regexKeepRunes = 256 << 10

func evalRegexp(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	text, err := ctx.text(n.args[0], row)
	if err != nil || text.IsNull() {
		return types.Null(), err
	}
	s, err := ctx.matcher(n, row)
	if err != nil || s == nil {
		return types.Null(), err
	}
	if err := s.load(ctx, text.B, n.aux.(*regexPlan).coll); err != nil {
		return types.Null(), err
	}
	if n.typ.Length == 1 && n.typ.ID == types.TypeBigInt {
		hit, err := s.m.Find(0, ctx.Poll)
		return types.Bool(hit), err
	}
	return ctx.regexFind(n, s, text.B, row)
}

// regexFind is REGEXP_INSTR, REGEXP_SUBSTR and REGEXP_REPLACE, which take a position and an occurrence.
func (ctx *Ctx) regexFind(n *Node, s *regexSearch, text []byte, row []types.Value) (types.Value, error) {
	at := 2
	replacement := types.Value{}
	numbers := [3]int64{1, 1, 0} // position, occurrence, return option
	if n.name == "regexp_replace" {
		r, err := ctx.text(n.args[2], row)
		if err != nil || r.IsNull() {
			return types.Null(), err
		}
		replacement, at, numbers[1] = r, 3, 0
	}
	for i := range numbers {
		if at+i < len(n.args) && at+i != n.aux.(*regexPlan).match {
			v, null, err := ctx.int(n.args[at+i], row)
			if null {
				return types.Null(), err
			}
			numbers[i] = v
		}
	}
	instr := n.name == "regexp_instr"
	switch chars := int64(len(s.text)); {
	case instr && numbers[2] != 0 && numbers[2] != 1:
		return types.Null(), types.Errorf(types.ErWrongArguments, "regexp_instr: return_option must be 1 or 0.")
	case instr && chars == 0 && numbers[0] > 1:
		return types.Int(0), nil
	case numbers[0] < 1, numbers[0] > chars+1, instr && chars > 0 && numbers[0] > chars:
		return types.Null(), types.Errorf(types.ErRegexpIndexOutOfBounds)
	}
	start := int(numbers[0] - 1)
	if n.name == "regexp_replace" && len(text) == 0 { // whatever the pattern
		return n.textResult(text), nil
	}
	if n.name == "regexp_replace" {
		return ctx.regexReplace(n, s, text, start, replacement.B, numbers[1])
	}
	hit, err := s.nth(ctx, start, max(numbers[1], 1))
	from, to := s.m.Span()
	switch {
	case err != nil:
		return types.Null(), err
	case instr && !hit:
		return types.Int(0), nil
	case !hit:
		return types.Null(), nil
	case instr && numbers[2] == 1:
		return types.Int(int64(to) + 1), nil
	case instr:
		return types.Int(int64(from) + 1), nil
	}
	place := textPlace{text: text, cs: n.args[0].typ.Coll.Charset()}
	return n.textResult(text[place.byteOf(from):place.byteOf(to)]), nil
}

// nth finds the match number which, from 1, that begins at or after character at.
func (s *regexSearch) nth(ctx *Ctx, at int, which int64) (bool, error) {
	for ; ; which-- {
		hit, err := s.m.Find(at, ctx.Poll)
		if err != nil || !hit || which == 1 {
			return hit, err
		}
		if err := ctx.steps(1); err != nil {
			return false, err
		}
		at = s.m.Next()
	}
}

// textPlace converts character positions in a text to byte positions. Ascending positions take one pass over the text together.
type textPlace struct {
	text         []byte
	cs           *types.Charset
	chars, bytes int
}

func (p *textPlace) byteOf(char int) int {
	if char < p.chars {
		p.chars, p.bytes = 0, 0
	}
	p.bytes += p.cs.CharPrefix(p.text[p.bytes:], char-p.chars)
	p.chars = char
	return p.bytes
}

// regexPart is a part of a replacement: a text, or the text of a group.
type regexPart struct {
	text  []byte
	group int // -1 for text
}

// regexParts parses a replacement by ICU's rules (appendReplacement): $ with digits is a group, of which only as many digits are read as make
// the number of an existing one; ${name} is a named group; and a backslash makes the next character literal.
func regexParts(re *types.Regexp, with []byte) ([]regexPart, error) {
	var parts []regexPart
	var text []byte
	for len(with) > 0 {
		c := with[0]
		with = with[1:]
		if c == '$' {
			group, rest, err := groupReference(re, with)
			if err != nil {
				return nil, err
			}
			parts = append(parts, regexPart{text: text, group: -1}, regexPart{group: group})
			text, with = nil, rest
			continue
		}
		if c == '\\' && len(with) > 0 {
			c, with = with[0], with[1:]
		}
		text = append(text, c)
	}
	return append(parts, regexPart{text: text, group: -1}), nil
}

var errRegexpGroupName = types.NewError(types.ErRegexpInvalidCaptureGroupName, "A capture group has an invalid name.")

// groupReference parses a group's number or name after a $ and returns the rest of s.
func groupReference(re *types.Regexp, s []byte) (group int, rest []byte, err error) {
	if len(s) > 0 && s[0] == '{' {
		if end := bytes.IndexByte(s, '}'); end > 0 {
			if group = re.GroupNamed(string(s[1:end])); group > 0 {
				return group, s[end+1:], nil
			}
		}
		return 0, nil, errRegexpGroupName
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' && (n == 0 || group*10+int(s[n]-'0') <= re.Groups()) {
		group = group*10 + int(s[n]-'0')
		n++
	}
	switch {
	case n == 0:
		return 0, nil, errRegexpGroupName
	case group > re.Groups():
		return 0, nil, types.Errorf(types.ErRegexpIndexOutOfBounds)
	}
	return group, s[n:], nil
}

// regexReplace replaces the occurrence number which from character at on, or all of them for 0. As in MySQL the replacement is not parsed, and
// so is no error, if nothing matches.
func (ctx *Ctx) regexReplace(n *Node, s *regexSearch, text []byte, at int, with []byte, which int64) (types.Value, error) {
	hit, err := s.nth(ctx, at, max(which, 1))
	if err != nil {
		return types.Null(), err
	}
	if !hit {
		return n.textResult(text), nil
	}
	parts, err := regexParts(s.re, with)
	if err != nil {
		return types.Null(), err
	}
	place := textPlace{text: text, cs: n.args[0].typ.Coll.Charset()}
	var out []byte
	done := 0
	add := func(b []byte) bool {
		if ctx.tooLong(n, len(out)+len(b)) {
			return false
		}
		out = ctx.extend(out, b)
		return true
	}
	for hit {
		from, to := s.m.Span()
		begin := place.byteOf(from)
		if !add(text[done:begin]) {
			return types.Null(), nil
		}
		group := textPlace{text: text[begin:], cs: place.cs}
		for _, part := range parts {
			piece := part.text
			if part.group >= 0 {
				a, b := s.group(part.group)
				if a < 0 {
					continue
				}
				// A group in a look-behind may be before the match.
				if whole := (textPlace{text: text, cs: place.cs}); a < from {
					piece = text[whole.byteOf(a):whole.byteOf(b)]
				} else {
					piece = group.text[group.byteOf(a-from):group.byteOf(b-from)]
				}
			}
			if !add(piece) {
				return types.Null(), nil
			}
		}
		if done = place.byteOf(to); which > 0 {
			break
		}
		if err := ctx.steps(1 + to - from); err != nil {
			return types.Null(), err
		}
		if hit, err = s.m.Find(s.m.Next(), ctx.Poll); err != nil {
			return types.Null(), err
		}
	}
	if !add(text[done:]) {
		return types.Null(), nil
	}
	return n.textResult(ctx.fit(out)), nil
}

// group returns the character positions of group i of the match, from < 0 if it took no part; group 0 is the match.
func (s *regexSearch) group(i int) (from, to int) {
	if i == 0 {
		return s.m.Span()
	}
	return s.m.Group(i)
}
