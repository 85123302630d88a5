package expr

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pandodb/pando/types"
)

// Regular expressions have ICU's rules, see types.Regexp.

// regexTable is REGEXP and its functions.
var regexTable = map[string]function{
	"regexp": {2, 2, 0, buildRegexp}, "regexp_like": {2, 3, 0, buildRegexp}, "regexp_instr": {2, 6, 0, buildRegexp},
	"regexp_substr": {2, 5, 0, buildRegexp}, "regexp_replace": {3, 6, 0, buildRegexp},
}

// regexPlan is what a regular expression function prepared.
type regexPlan struct {
	coll     types.CollationID
	compiled *types.Regexp // nil: the pattern is not constant
	match    int           // index of the match_type argument, 0 for none
}

func buildRegexp(b *BuildContext, n *Node) error {
	where := []int{0, 1}
	if n.name == "regexp_replace" {
		where = append(where, 2)
	}
	if err := refuseBinaryMix(n); err != nil {
		return err
	}
	d, err := b.aggregate(regexpName(n), true, n.args[0], n.args[1])
	if err != nil {
		return err
	}
	if err := b.joinText(n, -1, where...); err != nil {
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
	}
	return nil
}

// refuseBinaryMix is error 3995: characters and bytes don't match each other. With a BLOB both are taken for bytes, but by REGEXP_REPLACE.
func refuseBinaryMix(n *Node) error {
	x, y := &n.args[0].typ, &n.args[1].typ
	if n.name == "regexp_replace" && x.IsStringType() && x.Coll == types.Binary && y.Coll == types.Binary { // they are one kind, so the third decides
		y = &n.args[2].typ
	}
	if !x.IsStringType() || !y.IsStringType() || (x.Coll == types.Binary) == (y.Coll == types.Binary) {
		return nil
	}
	if n.name != "regexp_replace" && (x.Coll == types.Binary && x.IsBlob() || y.Coll == types.Binary && y.IsBlob()) {
		return nil
	}
	return types.Errorf(types.ErCharacterSetMismatch, x.Coll.Name(), y.Coll.Name(), regexpName(n))
}

// regexpName is what errors call a function of regular expressions.
func regexpName(n *Node) string {
	if n.name == "regexp" {
		return "regexp_like"
	}
	return n.name
}

// compileRegexp compiles a pattern with MySQL's match_type letters; without c or i the collation decides about case.
func compileRegexp(ctx *Ctx, pattern []byte, match string, c types.CollationID) (*types.Regexp, error) {
	if len(pattern) == 0 {
		return nil, types.Errorf(types.ErRegexpIllegalArgument)
	}
	if !ctx.fits(regexCharBytes * len(pattern)) {
		return nil, ctx.failed
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
	var chars []rune
	ctx.pieces(pattern, c.Charset(), func(piece []byte) { chars = types.AppendRunes(chars, piece, c) })
	if ctx.failed != nil {
		return nil, ctx.failed
	}
	return types.CompileRegexp(chars, flags)
}

// regexCharBytes is about what a pattern takes for a character of it, compiled; a text takes 4 bytes for each.
const regexCharBytes = 64

// regexSearch is what an execution keeps of a call: the matcher with its stack, the text as characters, and the last pattern that was no
// constant.
type regexSearch struct {
	re             *types.Regexp
	m              *types.RegexpMatcher
	text           []rune
	pattern, match string
	limits         types.RegexpLimits
}

// matcher returns the matcher of a call for the row at hand, nil if the pattern is NULL.
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

// load makes text the one to search.
func (s *regexSearch) load(ctx *Ctx, text []byte, c types.CollationID) error {
	const runeBytes = 4
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

// regexKeepRunes is the longest text whose characters a call keeps room for.
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

// nth finds a match, counted from 1, at or after a place.
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

// textPlace turns character positions into those of bytes, in one pass over the text while they rise.
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

// regexPart is a piece of a replacement: text, or a group.
type regexPart struct {
	text  []byte
	group int // -1 for text
}

// regexParts reads a replacement by ICU's rules: $1 names the group of the longest number that there is one of, ${name} one by its
// name, and a backslash takes the next character as it stands.
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

// groupReference reads what follows a $.
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

// regexReplace replaces one occurrence, or all of them for 0. It reads the replacement once it has found one, as MySQL does: where nothing
// matches, a bad one is no error.
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
				// A group of a look-around may lie before the match.
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

// group returns where a group of the match is; 0 is the match.
func (s *regexSearch) group(i int) (from, to int) {
	if i == 0 {
		return s.m.Span()
	}
	return s.m.Group(i)
}
