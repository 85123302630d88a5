package expr

import (
	"regexp"
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
	found := re.FindAllIndex(tail, -1)
	which := max(numbers[1], 1)
	if n.name == "regexp_replace" {
		return n.textResult(regexReplace(re, s, start, replacement.B, numbers[1])), nil
	}
	if which > int64(len(found)) {
		if n.name == "regexp_instr" {
			return types.Int(0), nil
		}
		return types.Null(), nil
	}
	m := found[which-1]
	if n.name == "regexp_instr" {
		end := m[0]
		if numbers[2] == 1 {
			end = m[1]
		}
		return types.Int(int64(cs.CountChars(s[:start+end])) + 1), nil
	}
	return n.textResult(tail[m[0]:m[1]]), nil
}

// regexReplace replaces one occurrence, or all of them for 0. $1 names a group, as in ICU.
func regexReplace(re *regexp.Regexp, s []byte, start int, with []byte, which int64) []byte {
	out := append([]byte(nil), s[:start]...)
	tail := s[start:]
	template := []byte(strings.NewReplacer(`\\`, `\`, `\$`, "$$").Replace(string(with)))
	last, count := 0, int64(0)
	for _, m := range re.FindAllSubmatchIndex(tail, -1) {
		if count++; which > 0 && count != which {
			continue
		}
		out = append(out, tail[last:m[0]]...)
		out = re.Expand(out, template, tail, m)
		last = m[1]
	}
	return append(out, tail[last:]...)
}
