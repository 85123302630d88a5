package expr

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// xpathKind is the static type of an XPath expression. That of a variable is xpathText, although its value may be a number.
type xpathKind uint8

const (
	xpathNodes xpathKind = iota
	xpathBool
	xpathNumber
	xpathText
)

// xpathValue is the value of an XPath expression. Unlike in the standard, a value may be NULL, as a user variable may.
type xpathValue struct {
	kind  xpathKind
	null  bool
	nodes []int32 // of xpathNodes, in document order
	num   float64 // of xpathNumber; of xpathBool 1 or 0
	text  []byte
}

// xpathEnv is what the evaluation of an expression depends on.
type xpathEnv struct {
	doc []xmlNode
	// order compares texts by the collation.
	order func(a, b []byte) int
	// toNumber converts a text to a number as MySQL does, with its warnings.
	toNumber func(text []byte) float64
	number   func(dst []byte, f float64) []byte                                  // appends the text of f
	variable func(name string) (text []byte, number float64, numeric, null bool) // value of a user variable
	divided  func()                                                              // raises the warning for a division by zero
	length   func(s []byte) int                                                  // in characters
	sub      func(s []byte, from, n int) []byte                                  // n characters from number from on, which counts from 1
	poll     func() error
	// grow counts more bytes of a text that has size bytes with them. It returns false if the text is longer than max_allowed_packet, which
	// makes it NULL, or if the statement has reached its memory limit.
	grow    func(size, more int) bool
	mark    func() int64 // what is counted now
	release func(mark int64)

	err   error
	steps int
}

// xpathPollSteps is how many nodes are visited between two polls of the interrupt.
const xpathPollSteps = 1 << 10

// step counts a visited node and polls. It returns false if the evaluation has to end.
func (e *xpathEnv) step() bool {
	if e.steps++; e.steps%xpathPollSteps == 0 && e.err == nil && e.poll != nil {
		e.err = e.poll()
	}
	return e.err == nil
}

// xpathContext is the context node of an evaluation.
type xpathContext struct {
	*xpathEnv
	node           int32
	position, last int // results of position() and last()
}

type xpathExpr struct {
	kind xpathKind
	eval func(c *xpathContext) xpathValue
}

// texts calls visit, until that returns false, for the texts that are children of the given nodes, in document order.
func (e *xpathEnv) texts(nodes []int32, visit func(text []byte) bool) {
	for i := 0; i < len(nodes); {
		// Nodes within one another are visited together, because their texts interleave.
		last := e.doc[nodes[i]].next
		in := map[int32]bool{nodes[i]: true}
		k := i + 1
		for ; k < len(nodes) && nodes[k] < last; k++ {
			in[nodes[k]] = true
			last = max(last, e.doc[nodes[k]].next)
		}
		for n := nodes[i]; n < last; n++ {
			if !e.step() {
				return
			}
			if e.doc[n].kind == xmlText && in[e.doc[n].parent] && n != 0 && !visit(e.doc[n].text) {
				return
			}
		}
		i = k
	}
}

// asText returns v as a text: for nodes, all their texts separated by spaces. ok is false for NULL.
func (e *xpathEnv) asText(v xpathValue) ([]byte, bool) {
	if v.null {
		return nil, false
	}
	switch v.kind {
	case xpathText:
		return v.text, true
	case xpathNodes:
		var out []byte
		some := false
		e.texts(v.nodes, func(text []byte) bool {
			if some {
				out = append(out, ' ')
			}
			out, some = append(out, text...), true
			return true
		})
		return out, true
	}
	return e.number(nil, v.num), true
}

func (e *xpathEnv) asNumber(v xpathValue) (float64, bool) {
	if v.null {
		return 0, false
	}
	switch v.kind {
	case xpathText:
		return e.toNumber(v.text), true
	case xpathNodes:
		text, _ := e.asText(v)
		return e.toNumber(text), true
	}
	return v.num, true
}

func (e *xpathEnv) asBool(v xpathValue) bool {
	if v.kind == xpathNodes {
		return len(v.nodes) > 0
	}
	f, ok := e.asNumber(v)
	return ok && f != 0
}

func boolXPath(b bool) xpathValue {
	v := xpathValue{kind: xpathBool}
	if b {
		v.num = 1
	}
	return v
}

// compareScalars compares two values that are not nodes, as numbers unless both are texts.
func (e *xpathEnv) compareScalars(op string, a, b xpathValue) xpathValue {
	if a.null || b.null {
		return xpathValue{kind: xpathBool, null: true}
	}
	order := 0
	if a.kind == xpathText && b.kind == xpathText {
		order = e.order(a.text, b.text)
	} else {
		x, _ := e.asNumber(a)
		y, _ := e.asNumber(b)
		switch {
		case x < y:
			order = -1
		case x > y:
			order = 1
		}
	}
	return boolXPath(holds(op, order))
}

func holds(op string, order int) bool {
	switch op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// mirrored has the operators for exchanged operands.
var mirrored = map[string]string{"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compareXPath returns a comparison. With nodes on one side, it is true if it is true for one of their texts.
func compareXPath(op string, a, b xpathExpr) xpathExpr {
	if b.kind == xpathNodes {
		a, b, op = b, a, mirrored[op]
	}
	return xpathExpr{xpathBool, func(c *xpathContext) xpathValue {
		x, y := a.eval(c), b.eval(c)
		if x.kind != xpathNodes {
			return c.compareScalars(op, x, y)
		}
		found := false
		c.texts(x.nodes, func(text []byte) bool {
			found = c.compareScalars(op, xpathValue{kind: xpathText, text: text}, y).num != 0
			return !found
		})
		return boolXPath(found)
	}}
}

func arithXPath(op string, a, b xpathExpr) xpathExpr {
	return xpathExpr{xpathNumber, func(c *xpathContext) xpathValue {
		x, okX := c.asNumber(a.eval(c))
		y, okY := c.asNumber(b.eval(c))
		v := xpathValue{kind: xpathNumber, null: !okX || !okY}
		if v.null {
			return v
		}
		if y == 0 && (op == "div" || op == "mod") {
			c.divided()
			v.null = true
			return v
		}
		switch op {
		case "+":
			v.num = x + y
		case "-":
			v.num = x - y
		case "*":
			v.num = x * y
		case "div": // MySQL's DIV: an integer
			v.num = math.Trunc(x / y)
		case "mod":
			v.num = math.Mod(x, y)
		}
		return v
	}}
}

// xpathFunctions are the functions of MySQL's XPath.
var xpathFunctions = map[string]struct {
	least, most int // number of arguments
	kind        xpathKind
	nodes       bool // its argument has to be nodes
	place       bool // without an argument, it is only allowed in a condition
	eval        func(c *xpathContext, args []xpathExpr) xpathValue
}{
	"true":  {0, 0, xpathBool, false, false, func(*xpathContext, []xpathExpr) xpathValue { return boolXPath(true) }},
	"false": {0, 0, xpathBool, false, false, func(*xpathContext, []xpathExpr) xpathValue { return boolXPath(false) }},
	"not": {1, 1, xpathBool, false, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		return boolXPath(!c.asBool(args[0].eval(c)))
	}},
	"boolean": {1, 1, xpathBool, false, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		return boolXPath(c.asBool(args[0].eval(c)))
	}},
	"count": {1, 1, xpathNumber, true, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		return xpathValue{kind: xpathNumber, num: float64(len(args[0].eval(c).nodes))}
	}},
	"sum": {1, 1, xpathNumber, true, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		v := xpathValue{kind: xpathNumber}
		c.texts(args[0].eval(c).nodes, func(text []byte) bool {
			v.num += c.toNumber(text)
			return true
		})
		return v
	}},
	"position": {0, 0, xpathNumber, false, true, func(c *xpathContext, _ []xpathExpr) xpathValue {
		return xpathValue{kind: xpathNumber, num: float64(c.position)}
	}},
	"last": {0, 0, xpathNumber, false, true, func(c *xpathContext, _ []xpathExpr) xpathValue {
		return xpathValue{kind: xpathNumber, num: float64(c.last)}
	}},
	"number": {0, 1, xpathNumber, false, true, func(c *xpathContext, args []xpathExpr) xpathValue {
		f, ok := c.asNumber(argumentOrNode(c, args))
		return xpathValue{kind: xpathNumber, num: f, null: !ok}
	}},
	"string-length": {0, 1, xpathNumber, false, true, func(c *xpathContext, args []xpathExpr) xpathValue {
		text, ok := c.asText(argumentOrNode(c, args))
		return xpathValue{kind: xpathNumber, num: float64(c.length(text)), null: !ok}
	}},
	"round":   {1, 1, xpathNumber, false, false, roundedXPath(math.RoundToEven)},
	"floor":   {1, 1, xpathNumber, false, false, roundedXPath(math.Floor)},
	"ceiling": {1, 1, xpathNumber, false, false, roundedXPath(math.Ceil)},
	"contains": {2, 2, xpathBool, false, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		text, ok := c.asText(args[0].eval(c))
		part, also := c.asText(args[1].eval(c))
		if !ok || !also {
			return xpathValue{kind: xpathBool, null: true}
		}
		return boolXPath(c.contains(text, part))
	}},
	"concat": {2, 255, xpathText, false, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		v := xpathValue{kind: xpathText}
		for _, arg := range args {
			text, ok := c.asText(arg.eval(c))
			if !ok || !c.grow(len(v.text)+len(text), len(text)) {
				return xpathValue{kind: xpathText, null: true}
			}
			v.text = append(v.text, text...)
		}
		return v
	}},
	"substring": {2, 3, xpathText, false, false, func(c *xpathContext, args []xpathExpr) xpathValue {
		text, ok := c.asText(args[0].eval(c))
		from, okFrom := c.asNumber(args[1].eval(c))
		n, okN := math.MaxInt32+0.0, true
		if len(args) == 3 {
			n, okN = c.asNumber(args[2].eval(c))
		}
		if !ok || !okFrom || !okN {
			return xpathValue{kind: xpathText, null: true}
		}
		return xpathValue{kind: xpathText, text: c.sub(text, int(from), int(n))}
	}},
}

// contains reports whether text has, somewhere, as many characters as part that compare equal to it by the collation.
func (e *xpathEnv) contains(text, part []byte) bool {
	n := e.length(part)
	for from := 1; from <= e.length(text)-n+1; from++ {
		if !e.step() {
			return false
		}
		if e.order(e.sub(text, from, n), part) == 0 {
			return true
		}
	}
	return false
}

func argumentOrNode(c *xpathContext, args []xpathExpr) xpathValue {
	if len(args) == 0 {
		return xpathValue{kind: xpathNodes, nodes: []int32{c.node}}
	}
	return args[0].eval(c)
}

func roundedXPath(round func(float64) float64) func(*xpathContext, []xpathExpr) xpathValue {
	return func(c *xpathContext, args []xpathExpr) xpathValue {
		f, ok := c.asNumber(args[0].eval(c))
		return xpathValue{kind: xpathNumber, num: round(f), null: !ok}
	}
}

// xpathStep is a step of a path: an axis, a node test and predicates.
type xpathStep struct {
	axis  string
	name  []byte // nil for *
	self  bool   // the node test is text() or another of xpathTests, with which in MySQL the step has no effect
	conds []xpathExpr
}

// follow returns the nodes that the step finds from each of the given ones, in document order.
func (s *xpathStep) follow(c *xpathContext, from []int32) []int32 {
	if s.self {
		return from
	}
	seen := map[int32]bool{}
	var out []int32
	for _, n := range from {
		var here []int32
		s.along(c, n, func(m int32) {
			if c.step() && (s.name == nil || bytes.Equal(c.doc[m].name, s.name)) {
				here = append(here, m)
			}
		})
		for _, cond := range s.conds {
			here = filterXPath(c, here, cond)
		}
		for _, m := range here {
			if !seen[m] {
				seen[m] = true
				out = append(out, m)
			}
		}
		if c.err != nil {
			return nil
		}
	}
	slices.Sort(out)
	return out
}

// filterXPath returns the nodes for which cond is true or, if it is a number, whose position it is.
func filterXPath(c *xpathContext, nodes []int32, cond xpathExpr) []int32 {
	var kept []int32
	for i, n := range nodes {
		if !c.step() {
			return nil
		}
		in := &xpathContext{c.xpathEnv, n, i + 1, len(nodes)}
		mark := c.mark()
		v := cond.eval(in)
		c.release(mark) // of a condition, no text is kept
		keep := false
		if cond.kind == xpathNodes || cond.kind == xpathBool {
			keep = c.asBool(v)
		} else if place, ok := c.asNumber(v); ok {
			keep = place == float64(i+1)
		}
		if keep {
			kept = append(kept, n)
		}
	}
	return kept
}

// along calls visit for the nodes on the step's axis from n: elements, or attributes for the attribute axis.
func (s *xpathStep) along(c *xpathContext, n int32, visit func(int32)) {
	doc := c.doc
	switch s.axis {
	case "child", "attribute":
		kind := xmlTag
		if s.axis == "attribute" {
			kind = xmlAttribute
		}
		for m := n + 1; m < doc[n].next && c.err == nil; m = doc[m].next {
			if doc[m].kind == kind {
				visit(m)
			}
		}
	case "self":
		visit(n)
	case "parent":
		if n != 0 {
			visit(doc[n].parent)
		}
	case "ancestor", "ancestor-or-self":
		if s.axis == "ancestor-or-self" {
			visit(n)
		}
		for n != 0 && c.err == nil {
			n = doc[n].parent
			visit(n)
		}
	case "descendant", "descendant-or-self":
		if s.axis == "descendant-or-self" {
			visit(n)
		}
		for m := n + 1; m < doc[n].next && c.err == nil; m++ {
			if doc[m].kind == xmlTag {
				visit(m)
			}
		}
	}
}

// pathXPath returns a path: from the document if absolute, else from the context node.
func pathXPath(absolute bool, steps []xpathStep) xpathExpr {
	return xpathExpr{xpathNodes, func(c *xpathContext) xpathValue {
		nodes := []int32{c.node}
		if absolute {
			nodes = []int32{0}
		}
		for i := range steps {
			nodes = steps[i].follow(c, nodes)
		}
		return xpathValue{kind: xpathNodes, nodes: nodes}
	}}
}

// fromXPath is a path from the nodes that e finds.
func fromXPath(e xpathExpr, steps []xpathStep) xpathExpr {
	return xpathExpr{xpathNodes, func(c *xpathContext) xpathValue {
		nodes := e.eval(c).nodes
		for i := range steps {
			nodes = steps[i].follow(c, nodes)
		}
		return xpathValue{kind: xpathNodes, nodes: nodes}
	}}
}

func unionXPath(a, b xpathExpr) xpathExpr {
	return xpathExpr{xpathNodes, func(c *xpathContext) xpathValue {
		seen := map[int32]bool{}
		var out []int32
		for _, nodes := range [][]int32{a.eval(c).nodes, b.eval(c).nodes} {
			for _, n := range nodes {
				if !seen[n] {
					seen[n] = true
					out = append(out, n)
				}
			}
		}
		slices.Sort(out)
		return xpathValue{kind: xpathNodes, nodes: out}
	}}
}

func numberXPath(digits string) xpathExpr {
	f, _ := strconv.ParseFloat(strings.TrimSuffix(digits, "."), 64) // digits always parse
	return xpathExpr{xpathNumber, func(*xpathContext) xpathValue { return xpathValue{kind: xpathNumber, num: f} }}
}

func textXPath(text string) xpathExpr {
	return xpathExpr{xpathText, func(*xpathContext) xpathValue { return xpathValue{kind: xpathText, text: []byte(text)} }}
}

func variableXPath(name string) xpathExpr {
	return xpathExpr{xpathText, func(c *xpathContext) xpathValue {
		text, number, numeric, null := c.variable(name)
		if numeric {
			return xpathValue{kind: xpathNumber, num: number}
		}
		return xpathValue{kind: xpathText, text: text, null: null}
	}}
}
