package expr

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/pandodb/pando/types"
)

// adminTable has functions that MySQL's sys schema and monitoring tools use, and some that only MySQL itself writes into statements.
var adminTable = map[string]function{
	"format_bytes":         {1, 1, 0, systemText(11, formatQuantity(byteUnits, "%4.0f %s"))},
	"format_pico_time":     {1, 1, 0, systemText(11, formatQuantity(timeUnits, "%3.0f %s"))},
	"ps_current_thread_id": {0, 0, FlagStatement, plain(uintType(21), evalThreadID)}, "ps_thread_id": {1, 1, FlagStatement, plain(uintType(21), evalThreadID)},
	"statement_digest": {1, 1, FlagStatement, asciiText(chars(64), evalStatementDigest)}, "statement_digest_text": {1, 1, FlagStatement, buildDigestText},
	"name_const": {2, 2, 0, buildNameConst}, "load_file": {1, 1, FlagStatement, bytesOut(chars(-1), evalLoadFile)},
	"validate_password_strength": {1, 1, 0, plain(intType(10), evalPasswordStrength)}, "icu_version": {0, 0, 0, systemText(int32(len(icuVersion)), evalICUVersion)},
	"mysql_query_attribute_string": {0, -1, FlagStatement, buildAttribute},
}

// unit is a unit of FORMAT_BYTES or FORMAT_PICO_TIME.
type unit struct {
	name string
	size float64 // in units of the smallest one
}

var (
	byteUnits = []unit{{"bytes", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50}, {"EiB", 1 << 60}}
	timeUnits = []unit{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}, {"min", 60e12}, {"h", 3600e12}, {"d", 86400e12}}
)

// quantityWide is the smallest number that is shown with an exponent.
const quantityWide = 100_000

// formatQuantity shows a number in the largest unit of which it is at least one. whole is the format for the smallest unit, which has no fraction.
func formatQuantity(units []unit, whole string) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, null, err := ctx.real(n.args[0], row)
		if null || err != nil {
			return types.Null(), err
		}
		i := 0
		for i+1 < len(units) && math.Abs(v) >= units[i+1].size {
			i++
		}
		var out []byte
		switch q := v / units[i].size; {
		case i == 0:
			out = fmt.Appendf(nil, whole, math.Trunc(q), units[0].name)
		case math.Abs(q) >= quantityWide:
			out = fmt.Appendf(nil, "%4.2e %s", q, units[i].name)
		default:
			out = fmt.Appendf(nil, "%.2f %s", q, units[i].name)
		}
		return n.textResult(out), nil
	}
}

// evalThreadID is PS_CURRENT_THREAD_ID and PS_THREAD_ID. The thread of a connection has the connection's number.
func evalThreadID(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	if ctx.Session == nil {
		return types.Null(), errNoSession(n)
	}
	if len(n.args) == 0 {
		return types.Uint(ctx.Session.ConnectionID()), nil
	}
	id, null, err := ctx.int(n.args[0], row)
	if null || err != nil || id <= 0 || !ctx.Session.HasConnection(uint64(id)) {
		return types.Null(), err
	}
	return types.Uint(uint64(id)), nil
}

// statementDigest evaluates the argument of the digest functions.
func (ctx *Ctx) statementDigest(n *Node, row []types.Value) (text, hash string, ok bool, err error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return "", "", false, err
	}
	if ctx.Session == nil {
		return "", "", false, errNoSession(n)
	}
	if !ctx.fits(2 * len(s.B)) { // a copy for the parser, and one in its error
		return "", "", false, ctx.failed
	}
	text, hash, err = ctx.Session.StatementDigest(string(s.B))
	return text, hash, err == nil, err
}

func evalStatementDigest(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	_, hash, ok, err := ctx.statementDigest(n, row)
	if !ok {
		return types.Null(), err
	}
	return n.textResult([]byte(hash)), nil
}

// buildDigestText is STATEMENT_DIGEST_TEXT, whose result has the argument's collation.
func buildDigestText(b *BuildContext, n *Node) error {
	if err := b.joinText(n, -1, 0); err != nil {
		return err
	}
	n.ascii = false
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		text, _, ok, err := ctx.statementDigest(n, row)
		if !ok {
			return types.Null(), err
		}
		return n.textResult([]byte(text)), nil
	}
	return nil
}

// buildNameConst is NAME_CONST(name, value) of two constants, which MySQL's replication of stored programs writes. It is the value; plan names
// the result column.
func buildNameConst(_ *BuildContext, n *Node) error {
	for _, a := range n.args {
		if f, ok := a.aux.(*folded); ok && !f.from.IsCall("neg") && !f.from.IsCall("collate") || a.kind != kindConst {
			return types.Errorf(types.ErWrongArguments, "NAME_CONST")
		}
	}
	if n.args[0].value.IsNull() {
		return types.Errorf(types.ErWrongArguments, "NAME_CONST")
	}
	v := n.args[1]
	n.typ, n.coer, n.ascii, n.notNull, n.loose, n.digits = v.typ, v.coer, v.ascii, v.notNull, v.loose, v.digits
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		return n.args[1].eval(ctx, n.args[1], row)
	}
	return nil
}

// evalLoadFile is LOAD_FILE. The session decides by secure_file_priv and the account's privileges what may be read.
func evalLoadFile(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := ctx.text(n.args[0], row)
	if err != nil || v.IsNull() || ctx.Session == nil {
		return types.Null(), err
	}
	return ctx.Session.LoadFile(string(v.B))
}

// evalPasswordStrength is VALIDATE_PASSWORD_STRENGTH as a MySQL without the component validate_password answers it: 0.
func evalPasswordStrength(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := ctx.text(n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	return types.Int(0), nil
}

// icuVersion is the version of ICU whose rules types.Regexp implements.
const icuVersion = "72.1"

func evalICUVersion(_ *Ctx, n *Node, _ []types.Value) (types.Value, error) {
	return n.textResult([]byte(icuVersion)), nil
}

const (
	// attributeLength is the length of the result in characters, as MySQL reports it.
	attributeLength = 1024
	// attributeBytesMax is how many bytes of an attribute MySQL returns.
	attributeBytesMax = 1023
)

// buildAttribute is MYSQL_QUERY_ATTRIBUTE_STRING(name), the value of an attribute that the client has sent with the statement. In MySQL a component
// has it as a loadable function, so wrong arguments are error 1123.
func buildAttribute(_ *BuildContext, n *Node) error {
	const name = "mysql_query_attribute_string"
	if len(n.args) != 1 {
		return types.Errorf(types.ErCantInitializeUdf, name, name+"() expects 1 argument")
	}
	if err := rejectRows(n.args); err != nil {
		return err
	}
	if n.args[0].typ.IsNumeric() {
		return types.Errorf(types.ErCantInitializeUdf, name, name+"() expects a string argument")
	}
	n.typ, n.coer = stringType(attributeLength, types.DefaultCollation), CoerCoercible
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		if ctx.Session == nil {
			return types.Null(), errNoSession(n)
		}
		s, err := ctx.textUTF8(n.args[0], row)
		if err != nil {
			return s, err
		}
		v := ctx.Session.Attribute(s.B) // NULL and an empty name are the first attribute
		if v.IsNull() {
			return v, nil
		}
		text := ctx.textOf(&v)
		text = text[:min(len(text), attributeBytesMax)]
		return n.textResult(text[:validUTF8(text)]), nil
	}
	return nil
}

// validUTF8 returns the length of the longest prefix that is UTF-8. Clients may send any bytes as attributes.
func validUTF8(text []byte) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size < 2 {
			break
		}
		n += size
	}
	return n
}
