package expr

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/types"
)

// Regular expressions run on Go's engine, in time linear in the text. It knows neither look-around nor back references, which MySQL's ICU does:
// they are refused with MySQL's error for what a library lacks.

// regexTable is REGEXP and its functions.
var regexTable = map[string]function{
	"regexp": {2, 2, 0, buildRegexp}, "regexp_like": {2, 3, 0, buildRegexp}, "regexp_instr": {2, 6, 0, buildRegexp},
	"regexp_substr": {2, 5, 0, buildRegexp}, "regexp_replace": {3, 6, 0, buildRegexp},
}

// regexPlan is what a regular expression function prepared.
type regexPlan struct {
	coll     types.CollationID
	compiled *regexp.Regexp // nil: the pattern is not constant
	match    int            // index of the match_type argument, 0 for none
}

func buildRegexp(b *BuildContext, n *Node) error {
	where := []int{0, 1}
	if n.name == "regexp_replace" {
		where = append(where, 2)
	}
	if err := b.joinText(n, -1, where...); err != nil {
		return err
	}
	d, err := b.aggregate(n.name, true, n.args[0], n.args[1])
	if err != nil {
		return err
	}
	p := &regexPlan{coll: d.coll}
	switch last := len(n.args) - 1; {
	case n.name == "regexp_like" && last == 2, n.name == "regexp_instr" && last == 5, n.name == "regexp_substr" && last == 4,
		n.name == "regexp_replace" && last == 5:
		p.match = last
	}
	if v, ok := n.args[1].ConstValue(); ok && v.K == types.KindString && p.match == 0 {
		if p.compiled, err = compileRegexp(string(v.B), "", d.coll); err != nil {
			return err
		}
	}
	n.aux, n.eval = p, evalRegexp
	switch n.name {
	case "regexp", "regexp_like":
		n.typ, n.coer = boolType(), CoerNumeric
	case "regexp_instr":
		n.typ, n.coer = intType(11), CoerNumeric
	}
	return nil
}

// compileRegexp compiles a pattern with MySQL's match_type letters; without c or i the collation decides about case.
func compileRegexp(pattern, match string, c types.CollationID) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, types.Errorf(types.ErRegexpIllegalArgument)
	}
	name := c.Name()
	fold := !c.IsBin() && !strings.HasSuffix(name, "_cs") && !strings.Contains(name, "_as_cs")
	flags := ""
	for _, m := range match {
		switch m {
		case 'c':
			fold = false
		case 'i':
			fold = true
		case 'm', 'n':
			flags += map[rune]string{'m': "m", 'n': "s"}[m]
		case 'u':
		default:
			return nil, types.Errorf(types.ErWrongArguments, "regexp_like")
		}
	}
	if fold {
		flags += "i"
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, regexError(err)
	}
	return re, nil
}

func regexError(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "missing closing ]"):
		return types.Errorf(types.ErRegexpMissingCloseBracket)
	case strings.Contains(text, "parenthes"), strings.Contains(text, "unexpected )"):
		return types.Errorf(types.ErRegexpMismatchedParen)
	case strings.Contains(text, "invalid or unsupported Perl syntax"), strings.Contains(text, "invalid named capture"):
		return types.Errorf(types.ErRegexpUnimplemented)
	case strings.Contains(text, "escape"):
		return types.Errorf(types.ErRegexpBadEscapeSequence)
	case strings.Contains(text, "repeat count"):
		return types.Errorf(types.ErRegexpBadInterval)
	case strings.Contains(text, "character class range"):
		return types.Errorf(types.ErRegexpInvalidRange)
	}
	return types.Errorf(types.ErRegexpRuleSyntax, 1, 1)
}

func evalRegexp(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	p := n.aux.(*regexPlan)
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	re := p.compiled
	if re == nil {
		pattern, err := ctx.text(n.args[1], row)
		if err != nil || pattern.IsNull() {
			return types.Null(), err
		}
		match := ""
		if p.match > 0 {
			m, err := ctx.text(n.args[p.match], row)
			if err != nil || m.IsNull() {
				return types.Null(), err
			}
			match = string(m.B)
		}
		if re, err = compileRegexp(string(pattern.B), match, p.coll); err != nil {
			return types.Null(), err
		}
	}
	if n.typ.Length == 1 && n.typ.ID == types.TypeBigInt {
		return types.Bool(re.Match(s.B)), nil
	}
	return ctx.regexFind(n, re, s.B, row)
}

// regexFind is REGEXP_INSTR, REGEXP_SUBSTR and REGEXP_REPLACE, which take a position and an occurrence.
func (ctx *Ctx) regexFind(n *Node, re *regexp.Regexp, s []byte, row []types.Value) (types.Value, error) {
	at := 2
	replacement := types.Value{}
	if n.name == "regexp_replace" {
		r, err := ctx.text(n.args[2], row)
		if err != nil || r.IsNull() {
			return types.Null(), err
		}
		replacement, at = r, 3
	}
	numbers := [3]int64{1, 1, 0} // position, occurrence, return option
	if n.name == "regexp_replace" {
		numbers[1] = 0
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
	cs := n.args[0].typ.Coll.Charset()
	if numbers[0] < 1 || numbers[0] > int64(cs.CountChars(s))+1 {
		return types.Null(), types.Errorf(types.ErRegexpIndexOutOfBounds)
	}
	start := cs.CharPrefix(s, int(numbers[0]-1))
	tail := s[start:]
	if n.name == "regexp_replace" {
		return ctx.regexReplace(n, re, s, start, replacement.B, numbers[1])
	}
	from, to := nthMatch(re, tail, max(numbers[1], 1))
	switch {
	case n.name == "regexp_instr" && from < 0:
		return types.Int(0), nil
	case from < 0:
		return types.Null(), nil
	case n.name == "regexp_instr" && numbers[2] == 1:
		from = to
		fallthrough
	case n.name == "regexp_instr":
		return types.Int(int64(cs.CountChars(s[:start+from])) + 1), nil
	}
	return n.textResult(tail[from:to]), nil
}

// eachMatch calls use with the bounds of every match in s. The list of them that package regexp offers would be many times as long as s.
func eachMatch(re *regexp.Regexp, s []byte, use func(from, to int)) {
	re.ReplaceAllFunc(s, func(m []byte) []byte {
		from := cap(s) - cap(m) // m is a slice of s
		use(from, from+len(m))
		return nil
	})
}

// nthMatch returns the bounds of a match, counted from 1; -1 if there are not as many.
func nthMatch(re *regexp.Regexp, s []byte, n int64) (from, to int) {
	if n == 1 {
		if m := re.FindIndex(s); m != nil {
			return m[0], m[1]
		}
		return -1, -1
	}
	from, to = -1, -1
	eachMatch(re, s, func(a, b int) {
		if n--; n == 0 {
			from, to = a, b
		}
	})
	return from, to
}

// regexTemplate is a replacement as package regexp writes it, with what is needed to know the size of a result beforehand.
type regexTemplate struct {
	text  []byte
	plain int   // bytes that are no groups
	refs  []int // how often each group is named
}

// newRegexTemplate reads a replacement by ICU's rules: $1 names the group of the longest number that there is one of, ${name} one by its
// name, and a backslash takes the next character as it stands.
func newRegexTemplate(re *regexp.Regexp, with []byte) (*regexTemplate, error) {
	t := &regexTemplate{refs: make([]int, re.NumSubexp()+1)}
	for len(with) > 0 {
		c := with[0]
		with = with[1:]
		if c == '$' {
			group, rest, err := groupReference(re, with)
			if err != nil {
				return nil, err
			}
			t.text = append(strconv.AppendInt(append(t.text, "${"...), int64(group), 10), '}')
			t.refs[group]++
			with = rest
			continue
		}
		if c == '\\' && len(with) > 0 {
			c, with = with[0], with[1:]
		}
		if t.text = append(t.text, c); c == '$' {
			t.text = append(t.text, '$')
		}
		t.plain++
	}
	return t, nil
}

// errRegexpGroupName is ER_REGEXP_INVALID_CAPTURE_GROUP_NAME.
const errRegexpGroupName = 3887

// groupReference reads what follows a $.
func groupReference(re *regexp.Regexp, s []byte) (group int, rest []byte, err error) {
	if len(s) > 0 && s[0] == '{' {
		if end := bytes.IndexByte(s, '}'); end > 0 {
			if group = re.SubexpIndex(string(s[1:end])); group > 0 {
				return group, s[end+1:], nil
			}
		}
		return 0, nil, types.NewError(errRegexpGroupName, "A capture group has an invalid name.")
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' && (n == 0 || group*10+int(s[n]-'0') <= re.NumSubexp()) {
		group = group*10 + int(s[n]-'0')
		n++
	}
	switch {
	case n == 0:
		return 0, nil, types.NewError(errRegexpGroupName, "A capture group has an invalid name.")
	case group > re.NumSubexp():
		return 0, nil, types.Errorf(types.ErRegexpIndexOutOfBounds)
	}
	return group, s[n:], nil
}

// groupListMax bounds the bytes of a list of matches with their groups.
const groupListMax = 64 << 20

// regexReplace replaces one occurrence, or all of them for 0. It reads the replacement once it has found one, as MySQL does: where nothing
// matches, a bad one is no error.
func (ctx *Ctx) regexReplace(n *Node, re *regexp.Regexp, s []byte, start int, with []byte, which int64) (types.Value, error) {
	head, tail := s[:start], s[start:]
	if which <= 0 {
		matches, matched := 0, 0
		eachMatch(re, tail, func(from, to int) { matches, matched = matches+1, matched+to-from })
		if matches == 0 {
			return n.textResult(s), nil
		}
		t, err := newRegexTemplate(re, with)
		if err != nil {
			return types.Null(), err
		}
		size := len(s) - matched + matches*t.plain
		for g, refs := range t.refs {
			if refs == 0 {
				continue
			}
			if err := ctx.poll(); err != nil {
				return types.Null(), err
			}
			// The text with each match replaced by one of its groups is no longer than the text.
			size += refs * (len(re.ReplaceAll(tail, fmt.Appendf(nil, "${%d}", g))) - (len(tail) - matched))
		}
		if ctx.tooLong(n, size) {
			return types.Null(), nil
		}
		return n.textResult(slices.Concat(head, re.ReplaceAll(tail, t.text))), nil
	}
	from, to := nthMatch(re, tail, which)
	if from < 0 {
		return n.textResult(s), nil
	}
	t, err := newRegexTemplate(re, with)
	if err != nil {
		return types.Null(), err
	}
	match := make([]int, 2*len(t.refs))
	if slices.Max(t.refs) > 0 {
		// The groups of a match are known only from the list of all matches up to it.
		if which > int64(groupListMax/(32+8*len(match))) {
			return types.Null(), types.Errorf(types.ErRegexpBufferOverflow)
		}
		match = re.FindAllSubmatchIndex(tail, int(which))[which-1]
	}
	size := len(s) - (to - from) + t.plain
	for g, refs := range t.refs {
		size += refs * (match[2*g+1] - match[2*g])
	}
	if ctx.tooLong(n, size) {
		return types.Null(), nil
	}
	out := re.Expand(slices.Clone(s[:start+from]), t.text, tail, match)
	return n.textResult(append(out, tail[to:]...)), nil
}
