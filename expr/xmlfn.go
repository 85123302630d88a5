package expr

import (
	"math"

	"github.com/pandodb/pando/types"
)

// xmlTable has the XML functions. Their paths are MySQL's subset of XPath 1.0 (xpathparse.go). They convert their arguments to UTF-8.
var xmlTable = map[string]function{"extractvalue": {2, 2, 0, buildXML(evalExtractValue)}, "updatexml": {3, 3, 0, buildXML(evalUpdateXML)}}

// xpathVariables is the first character of a user variable in a path: $@name.
const xpathVariables = '$'

func buildXML(eval evalFunc) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		if err := b.joinText(n, -1, allArgs(n)...); err != nil {
			return err
		}
		path := n.args[1]
		if path.flags&(FlagColumn|volatileFlags) != 0 {
			return types.NewError(types.ErUnknownError, "Only constant XPATH queries are supported")
		}
		n.eval, n.ascii = eval, false
		v, constant := path.ConstValue()
		if !constant {
			n.flags |= FlagSession | FlagTyped
			return nil
		}
		text := string(types.AppendText(nil, nil, &v))
		if v.IsString() {
			text = types.InUTF8(text, v.Coll.Charset())
		}
		compiled, fault := parseXPath(text)
		if fault != "" && !v.IsNull() {
			return types.NewError(types.ErUnknownError, fault)
		}
		n.aux = &compiled
		for i := range len(text) {
			if text[i] == xpathVariables {
				n.flags |= FlagSession | FlagTyped
			}
		}
		return nil
	}
}

// xmlMatch is the result of a path in a document.
type xmlMatch struct {
	env  *xpathEnv
	text []byte // the document
	out  xpathValue
	mark int64 // what was counted before parsing and evaluation
}

// match parses the first argument and evaluates the path in the second. ok is false if one is NULL, and with warning 1525 if the document is not
// well formed.
func (ctx *Ctx) match(n *Node, row []types.Value) (m xmlMatch, ok bool, err error) {
	v, err := ctx.textUTF8(n.args[0], row)
	if err != nil || v.IsNull() {
		return m, false, err
	}
	q, err := ctx.textUTF8(n.args[1], row)
	if err != nil || q.IsNull() {
		return m, false, err
	}
	path, _ := n.aux.(*xpathExpr)
	if path == nil {
		compiled, fault := parseXPath(string(q.B))
		if fault != "" {
			return m, false, types.NewError(types.ErUnknownError, fault)
		}
		path = &compiled
	}
	taken, mark := 0, ctx.meterMark()
	doc, fault, err := parseXML(v.B, func(nodes int) error {
		taken += nodes * xmlNodeBytes
		ctx.charge(nodes * xmlNodeBytes)
		return ctx.failed
	})
	defer ctx.uncharge(int64(taken))
	if err != nil {
		return m, false, err
	}
	if fault != "" {
		ctx.Warn(types.LevelWarning, types.ErWrongValue, "XML", fault)
		return m, false, nil
	}
	m = xmlMatch{env: ctx.xpathEnv(n.typ.Coll, doc), text: v.B, mark: mark}
	m.out = path.eval(&xpathContext{xpathEnv: m.env})
	return m, m.env.err == nil, m.env.err
}

// xpathEnv returns the environment of paths in doc: collation, conversions, user variables and interrupt of the statement.
func (ctx *Ctx) xpathEnv(coll types.CollationID, doc []xmlNode) *xpathEnv {
	utf8 := types.DefaultCollation.Charset()
	if !types.SameBytes(coll.Charset(), utf8) {
		coll = types.DefaultCollation
	}
	env := &xpathEnv{doc: doc, poll: ctx.poll, length: utf8.CountChars, number: types.AppendFloat, mark: ctx.meterMark, release: ctx.unchargeTo,
		order: func(a, b []byte) int { return types.CompareStrings(a, b, coll) },
		toNumber: func(text []byte) float64 {
			v := types.String(text, coll)
			return types.ToFloat(ctx.Context, &v)
		},
		variable: func(name string) (text []byte, number float64, numeric, null bool) {
			if ctx.Session == nil {
				return nil, 0, false, true
			}
			v, ok := ctx.Session.UserVar(name)
			switch {
			case !ok || v.IsNull():
				return nil, 0, false, true
			case v.IsNumeric():
				return nil, types.ToFloat(ctx.Context, &v), true, false
			case v.IsString():
				return []byte(types.InUTF8(string(v.B), v.Coll.Charset())), 0, false, false
			}
			return types.AppendText(nil, ctx.Context, &v), 0, false, false
		},
		divided: func() { ctx.Warn(types.LevelWarning, types.ErDivisionByZero) },
		sub: func(s []byte, from, n int) []byte {
			if from < 1 || n < 1 {
				return nil
			}
			s = s[utf8.CharPrefix(s, from-1):]
			return s[:utf8.CharPrefix(s, min(n, math.MaxInt32))]
		},
	}
	env.grow = func(size, more int) bool {
		if ctx.overPacket("concat", size) {
			return false
		}
		if !ctx.charge(more) {
			env.err = ctx.failed
		}
		return env.err == nil
	}
	return env
}

// evalExtractValue is EXTRACTVALUE(xml, path): the texts of the nodes that the path finds, separated by spaces.
func evalExtractValue(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	m, ok, err := ctx.match(n, row)
	if !ok {
		return types.Null(), err
	}
	text, ok := m.env.asText(m.out)
	if !ok || m.env.err != nil {
		return types.Null(), m.env.err
	}
	ctx.unchargeTo(m.mark) // of what evaluation has allocated, only text is still used
	return ctx.fromUTF8(n, ctx.owned(text)), nil
}

// evalUpdateXML is UPDATEXML(xml, path, new): the document with the node that the path finds replaced by new. If it finds none or
// several, it is the document unchanged.
func evalUpdateXML(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	by, err := ctx.textUTF8(n.args[2], row)
	if err != nil || by.IsNull() {
		return types.Null(), err
	}
	replacement := append([]byte(nil), by.B...) // a copy, because the arena is used again
	m, ok, err := ctx.match(n, row)
	if !ok || m.out.kind != xpathNodes {
		return types.Null(), err
	}
	if len(m.out.nodes) != 1 {
		return ctx.fromUTF8(n, append([]byte(nil), m.text...)), nil
	}
	node := &m.env.doc[m.out.nodes[0]]
	if ctx.tooLong(n, len(m.text)+len(replacement)) {
		return types.Null(), nil
	}
	out := make([]byte, 0, len(m.text)+len(replacement))
	out = append(append(append(out, m.text[:node.start]...), replacement...), m.text[node.end:]...)
	return ctx.fromUTF8(n, ctx.owned(out)), nil
}
