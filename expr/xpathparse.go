package expr

import (
	"slices"
	"strings"
)

// xpathDepthMax bounds the nesting of parentheses, arguments and predicates.
const xpathDepthMax = 200

// xpathShownMax is how many bytes of the expression an error shows, as in MySQL.
const xpathShownMax = 32

// xpathParser is a recursive-descent parser of XPath expressions by MySQL's grammar (sql/item_xmlfunc.cc).
type xpathParser struct {
	s      string
	at     int    // position behind the current token
	begin  int    // position of the current token
	token  string // the current token, "" at the end
	name   bool   // the token is a name
	inside int    // number of predicates around, in which position() and last() are allowed
	depth  int
	fault  string // the error message
}

// parseXPath returns the expression s, or in fault MySQL's error message.
func parseXPath(s string) (e xpathExpr, fault string) {
	p := &xpathParser{s: s}
	p.next()
	e = p.or()
	if p.fault == "" && p.token != "" {
		p.fail()
	}
	return e, p.fault
}

// fail sets the error for an unexpected current token.
func (p *xpathParser) fail() { p.failWith("XPATH syntax error: ", p.begin) }

// failWith sets the error, unless there is one already, and goes to the end of the expression.
func (p *xpathParser) failWith(message string, at int) {
	if p.fault == "" {
		rest := p.s[at:]
		if len(rest) > xpathShownMax {
			rest = strings.ToValidUTF8(rest[:xpathShownMax], "")
		}
		p.fault = message + "'" + rest + "'"
	}
	p.token, p.name = "", false
	p.at, p.begin = len(p.s), len(p.s)
}

// next reads the next token.
func (p *xpathParser) next() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
	p.begin, p.name = p.at, false
	if p.at == len(p.s) {
		p.token = ""
		return
	}
	n := 1
	c := p.s[p.at]
	rest := p.s[p.at:]
	switch {
	case strings.HasPrefix(rest, "!="), strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, ">="), strings.HasPrefix(rest, "//"),
		strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, ".."):
		n = 2
	case c >= '0' && c <= '9':
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n < len(rest) && rest[n] == '.' {
			for n++; n < len(rest) && rest[n] >= '0' && rest[n] <= '9'; {
				n++
			}
		}
	case c == '"' || c == '\'':
		end := strings.IndexByte(rest[1:], c)
		if end < 0 {
			p.fail()
			return
		}
		n = end + 2
	case c != ':' && xmlNameByte(c, true):
		p.name = true
		for n < len(rest) && xmlNameByte(rest[n], false) && !strings.HasPrefix(rest[n:], "::") {
			n++
		}
	}
	p.token, p.at = rest[:n], p.at+n
}

func (p *xpathParser) is(token string) bool { return p.token == token }

func (p *xpathParser) accept(token string) bool {
	if p.token != token || token == "" {
		return false
	}
	p.next()
	return true
}

func (p *xpathParser) expect(token string) {
	if !p.accept(token) {
		p.fail()
	}
}

func (p *xpathParser) or() xpathExpr {
	if p.depth++; p.depth > xpathDepthMax {
		p.fail()
	}
	defer func() { p.depth-- }()
	e := p.and()
	for p.accept("or") {
		a, b := e, p.and()
		e = xpathExpr{xpathBool, func(c *xpathContext) xpathValue { return boolXPath(c.asBool(a.eval(c)) || c.asBool(b.eval(c))) }}
	}
	return e
}

func (p *xpathParser) and() xpathExpr {
	e := p.comparison(0)
	for p.accept("and") {
		a, b := e, p.comparison(0)
		e = xpathExpr{xpathBool, func(c *xpathContext) xpathValue { return boolXPath(c.asBool(a.eval(c)) && c.asBool(b.eval(c))) }}
	}
	return e
}

// xpathComparisons are the comparison operators by level of precedence, the lowest first.
var xpathComparisons = [][]string{{"=", "!="}, {"<", "<=", ">", ">="}}

func (p *xpathParser) comparison(level int) xpathExpr {
	if level == len(xpathComparisons) {
		return p.sum()
	}
	e := p.comparison(level + 1)
	for slices.Contains(xpathComparisons[level], p.token) {
		op, at := p.token, p.begin
		p.next()
		b := p.comparison(level + 1)
		if e.kind == xpathNodes && b.kind == xpathNodes && p.fault == "" {
			p.failWith("XPATH error: comparison of two nodesets is not supported: ", at)
		}
		e = compareXPath(op, e, b)
	}
	return e
}

func (p *xpathParser) sum() xpathExpr {
	e := p.product()
	for p.is("+") || p.is("-") {
		op := p.token
		p.next()
		e = arithXPath(op, e, p.product())
	}
	return e
}

func (p *xpathParser) product() xpathExpr {
	e := p.unary()
	for p.is("*") || p.is("div") || p.is("mod") {
		op := p.token
		p.next()
		e = arithXPath(op, e, p.unary())
	}
	return e
}

func (p *xpathParser) unary() xpathExpr {
	negative := false
	some := false
	for p.accept("-") {
		negative, some = !negative, true
	}
	e := p.union()
	if !some {
		return e
	}
	sign := 1.0
	if negative {
		sign = -1
	}
	return xpathExpr{xpathNumber, func(c *xpathContext) xpathValue {
		f, ok := c.asNumber(e.eval(c))
		return xpathValue{kind: xpathNumber, num: sign * f, null: !ok}
	}}
}

func (p *xpathParser) union() xpathExpr {
	e := p.path()
	for p.is("|") {
		if e.kind != xpathNodes {
			p.fail()
			return e
		}
		p.next()
		b := p.path()
		if b.kind != xpathNodes {
			p.fail()
			return e
		}
		e = unionXPath(e, b)
	}
	return e
}

// path parses a location path, or a literal, variable, function or expression in parentheses.
func (p *xpathParser) path() xpathExpr {
	switch c := firstByte(p.token); {
	case p.accept("("):
		e := p.or()
		p.expect(")")
		if e.kind != xpathNodes || !p.is("/") && !p.is("//") {
			return e
		}
		return fromXPath(e, p.furtherSteps(nil))
	case c == '"' || c == '\'':
		e := textXPath(p.token[1 : len(p.token)-1])
		p.next()
		return e
	case c >= '0' && c <= '9':
		e := numberXPath(p.token)
		p.next()
		return e
	case c == '$':
		return p.variable()
	case p.name && p.followedBy("("):
		if _, known := xpathFunctions[p.token]; known {
			return p.function()
		}
	}
	return p.location()
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// followedBy reports whether token follows the current one.
func (p *xpathParser) followedBy(token string) bool {
	return strings.HasPrefix(strings.TrimLeft(p.s[p.at:], " \t\r\n"), token)
}

func (p *xpathParser) variable() xpathExpr {
	start := p.begin
	p.next()
	if !p.accept("@") || !p.name {
		p.failWith("Unknown XPATH variable at: ", start)
		return xpathExpr{}
	}
	e := variableXPath(p.token)
	p.next()
	return e
}

func (p *xpathParser) function() xpathExpr {
	f := xpathFunctions[p.token]
	p.next()
	p.next()
	var args []xpathExpr
	for !p.is(")") && p.fault == "" {
		if len(args) > 0 {
			p.expect(",")
		}
		if len(args) == f.most {
			p.fail()
			break
		}
		args = append(args, p.or())
	}
	if len(args) < f.least {
		p.fail()
	}
	p.expect(")")
	if f.nodes && len(args) > 0 && args[0].kind != xpathNodes || f.place && len(args) == 0 && p.inside == 0 {
		p.fail()
	}
	return xpathExpr{f.kind, func(c *xpathContext) xpathValue { return f.eval(c, args) }}
}

// location parses a location path.
func (p *xpathParser) location() xpathExpr {
	absolute := false
	var steps []xpathStep
	switch {
	case p.accept("/"):
		absolute = true
		if !p.beginsStep() {
			return pathXPath(true, nil)
		}
	case p.accept("//"):
		absolute = true
		steps = append(steps, xpathStep{axis: "descendant-or-self"})
	}
	return pathXPath(absolute, p.furtherSteps(append(steps, p.step())))
}

// furtherSteps parses the steps behind others, or behind nodes in parentheses.
func (p *xpathParser) furtherSteps(steps []xpathStep) []xpathStep {
	for p.fault == "" {
		if p.accept("//") {
			steps = append(steps, xpathStep{axis: "descendant-or-self"})
		} else if !p.accept("/") {
			break
		}
		steps = append(steps, p.step())
	}
	return steps
}

func (p *xpathParser) beginsStep() bool {
	return p.name || p.is("*") || p.is("@") || p.is(".") || p.is("..")
}

// xpathAxes are the axes of MySQL's grammar. As in MySQL, along finds nothing on following, preceding, their sibling forms and namespace.
var xpathAxes = []string{"ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self", "following", "following-sibling",
	"namespace", "parent", "preceding", "preceding-sibling", "self"}

// xpathTests are the node tests that look like functions.
var xpathTests = []string{"comment", "node", "processing-instruction", "text"}

func (p *xpathParser) step() xpathStep {
	s := xpathStep{axis: "child"}
	switch {
	case p.accept(".."):
		s.axis = "parent"
		return s
	case p.accept("."):
		s.axis = "self"
		return s
	case p.accept("@"):
		s.axis = "attribute"
	case p.name && p.followedBy("::") && slices.Contains(xpathAxes, p.token):
		s.axis = p.token
		p.next()
		p.next()
	}
	switch {
	case p.accept("*"):
	case p.name && p.followedBy("(") && slices.Contains(xpathTests, p.token):
		s.self = true
		p.next()
		p.next()
		p.expect(")")
	case p.name:
		s.name = []byte(p.token)
		p.next()
	default:
		p.fail()
	}
	for p.is("[") {
		p.inside++
		p.next()
		s.conds = append(s.conds, p.or())
		p.inside--
		p.expect("]")
	}
	return s
}
