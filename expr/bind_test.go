package expr_test

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// binder is the tests' own small front end: it turns the text of an expression into an Expr over given columns.
type binder struct {
	b      *expr.BuildContext
	names  map[string]int
	types  []types.Type
	params []types.Type
}

// testNow is the instant of every statement in the tests.
var testNow = time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)

func newBinder() *binder {
	ctx := &types.Context{SQLMode: types.ModeDefault, Now: func() time.Time { return testNow }}
	return &binder{b: &expr.BuildContext{Ctx: ctx, Database: "test"}}
}

// newContext returns an execution context of the binder's settings.
func (x *binder) newContext() *expr.Ctx {
	c := *x.b.Ctx
	c.ResetWarnings()
	ctx := expr.NewCtx(&c)
	ctx.Session = &testSession{vars: map[string]types.Value{}}
	return ctx
}

func (x *binder) parse(text string) (e expr.Expr, err error) {
	tree, err := syntax.ParseExpr(text, syntax.Options{})
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			bound, ok := r.(bindError)
			if !ok {
				panic(r)
			}
			err = bound.err
		}
	}()
	return x.bind(tree), nil
}

type bindError struct{ err error }

func (x *binder) call(name string, args ...expr.Expr) expr.Expr {
	e, err := expr.Call(x.b, name, args...)
	return must(e, err)
}

func must(e expr.Expr, err error) expr.Expr {
	if err != nil {
		panic(bindError{err})
	}
	return e
}

var binaryNames = map[syntax.BinaryOp]string{
	syntax.OpAnd: "and", syntax.OpOr: "or", syntax.OpXor: "xor", syntax.OpEq: "=", syntax.OpNullSafeEq: "<=>", syntax.OpNe: "<>",
	syntax.OpLt: "<", syntax.OpLe: "<=", syntax.OpGt: ">", syntax.OpGe: ">=", syntax.OpAdd: "+", syntax.OpSub: "-", syntax.OpMul: "*",
	syntax.OpDiv: "/", syntax.OpIntDiv: "div", syntax.OpMod: "%", syntax.OpBitAnd: "&", syntax.OpBitOr: "|", syntax.OpBitXor: "^",
	syntax.OpShiftLeft: "<<", syntax.OpShiftRight: ">>", syntax.OpConcat: "concat", syntax.OpMemberOf: "member of",
	syntax.OpJSONExtract: "->", syntax.OpJSONUnquoteExtract: "->>",
}

func word(s string) expr.Expr { return expr.Literal(types.Text(s)) }

func (x *binder) binds(es []syntax.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = x.bind(e)
	}
	return out
}

func negated(not bool, name string) string {
	if not {
		return "not " + name
	}
	return name
}

func (x *binder) bind(e syntax.Expr) expr.Expr {
	switch e := e.(type) {
	case *syntax.Literal:
		return x.literal(e)
	case *syntax.Introduced:
		l := x.literal(e.Lit)
		v, _ := l.ConstValue()
		cs, err := types.LookupCharset(e.Charset)
		must(nil, err)
		return expr.Literal(types.String(v.B, cs.Default))
	case *syntax.Paren:
		return x.bind(e.X)
	case *syntax.ColumnRef:
		i, ok := x.names[e.Column]
		if !ok {
			panic(bindError{types.Errorf(types.ErBadField, e.Column, "field list")})
		}
		return expr.Column(i, x.types[i], "t."+e.Column)
	case *syntax.Param:
		return expr.Param(int(e.Ordinal), x.params[e.Ordinal])
	case *syntax.Unary:
		v := x.bind(e.X)
		if e.Op == syntax.OpPlus {
			return v
		}
		return x.call(map[syntax.UnaryOp]string{syntax.OpNeg: "neg", syntax.OpBitNot: "~", syntax.OpNot: "not", syntax.OpBang: "not", syntax.OpBinary: "binary"}[e.Op], v)
	case *syntax.Binary:
		return x.binary(e)
	case *syntax.IsTest:
		name := "is "
		if e.Not {
			name = "is not "
		}
		return x.call(name+[]string{"null", "true", "false", "unknown"}[e.Test], x.bind(e.X))
	case *syntax.In:
		return x.call(negated(e.Not, "in"), append([]expr.Expr{x.bind(e.X)}, x.binds(e.List)...)...)
	case *syntax.Between:
		return x.call(negated(e.Not, "between"), x.bind(e.X), x.bind(e.Lo), x.bind(e.Hi))
	case *syntax.Like:
		args := []expr.Expr{x.bind(e.X), x.bind(e.Pattern)}
		if e.Escape != nil {
			args = append(args, x.bind(e.Escape))
		}
		return x.call(negated(e.Not, "like"), args...)
	case *syntax.Regexp:
		return x.call(negated(e.Not, "regexp"), x.bind(e.X), x.bind(e.Pattern))
	case *syntax.Row:
		return x.call("row", x.binds(e.Elems)...)
	}
	return x.bindCall(e)
}

func (x *binder) bindCall(e syntax.Expr) expr.Expr {
	switch e := e.(type) {
	case *syntax.Case:
		name, args := "case", []expr.Expr(nil)
		if e.Operand != nil {
			name, args = "case_value", append(args, x.bind(e.Operand))
		}
		for _, w := range e.Whens {
			args = append(args, x.bind(w.Cond), x.bind(w.Then))
		}
		if e.Else != nil {
			args = append(args, x.bind(e.Else))
		}
		return x.call(name, args...)
	case *syntax.Cast:
		c, err := expr.Cast(x.b, x.bind(e.X), castType(&e.Type))
		return must(c, err)
	case *syntax.ConvertUsing:
		return x.call("convert_using", x.bind(e.X), word(e.Charset))
	case *syntax.Collate:
		return x.call("collate", x.bind(e.X), word(e.Collation))
	case *syntax.Trim:
		args := []expr.Expr{x.bind(e.X)}
		if e.Remove != nil {
			args = append(args, x.bind(e.Remove))
		}
		name := map[string]string{"LEADING": "trim_leading", "TRAILING": "trim_trailing"}[e.Side]
		if name == "" {
			name = "trim"
		}
		return x.call(name, args...)
	case *syntax.UserVariable:
		if e.Value != nil {
			return must(expr.SetUserVar(x.b, e.Name, x.bind(e.Value)))
		}
		return must(expr.UserVar(x.b, e.Name))
	case *syntax.JSONValue:
		return x.call("json_value", x.bind(e.Doc), x.bind(e.Path))
	case *syntax.FuncCall:
		return x.function(e)
	}
	panic(bindError{fmt.Errorf("the tests do not bind %T", e)})
}

func (x *binder) function(e *syntax.FuncCall) expr.Expr {
	name := strings.ToLower(e.Name)
	var args []expr.Expr
	if e.Unit != "" {
		args = append(args, word(e.Unit))
	}
	for _, a := range e.Args {
		if iv, ok := a.(*syntax.Interval); ok {
			args = append(args, x.bind(iv.Value), word(iv.Unit))
		} else {
			args = append(args, x.bind(a))
		}
	}
	if e.Charset != "" {
		return x.call("convert_using", x.call(name+"_using", append([]expr.Expr{word(e.Charset)}, args...)...), word(e.Charset))
	}
	return x.call(name, args...)
}

func (x *binder) binary(e *syntax.Binary) expr.Expr {
	if iv, ok := e.R.(*syntax.Interval); ok {
		return x.call(map[syntax.BinaryOp]string{syntax.OpAdd: "date_add", syntax.OpSub: "date_sub"}[e.Op], x.bind(e.L), x.bind(iv.Value), word(iv.Unit))
	}
	if iv, ok := e.L.(*syntax.Interval); ok {
		return x.call("date_add", x.bind(e.R), x.bind(iv.Value), word(iv.Unit))
	}
	if e.Op == syntax.OpSoundsLike {
		return x.call("=", x.call("soundex", x.bind(e.L)), x.call("soundex", x.bind(e.R)))
	}
	return x.call(binaryNames[e.Op], x.bind(e.L), x.bind(e.R))
}

func (x *binder) literal(l *syntax.Literal) expr.Expr {
	switch l.Kind {
	case syntax.LitInt:
		if n, err := strconv.ParseInt(l.Value, 10, 64); err == nil {
			return expr.Literal(types.Int(n))
		}
		if n, err := strconv.ParseUint(l.Value, 10, 64); err == nil {
			return expr.Literal(types.Uint(n))
		}
		fallthrough
	case syntax.LitDecimal:
		d, _, _ := types.ParseDecimal([]byte(l.Value))
		return expr.Literal(d)
	case syntax.LitFloat:
		f, _ := strconv.ParseFloat(l.Value, 64)
		return expr.Literal(types.Float(f))
	case syntax.LitNull:
		return expr.Literal(types.Null())
	case syntax.LitTrue, syntax.LitFalse:
		return expr.TruthLiteral(l.Kind == syntax.LitTrue)
	case syntax.LitHex, syntax.LitBit:
		return hexLiteral(l)
	case syntax.LitDate, syntax.LitTime, syntax.LitTimestamp:
		v := types.Text(l.Value)
		var out types.Value
		switch l.Kind {
		case syntax.LitDate:
			out, _ = types.ToDate(nil, &v)
		case syntax.LitTime:
			out, _ = types.ToTime(nil, &v)
		default:
			out, _ = types.ToDatetime(nil, &v)
		}
		return expr.Literal(out)
	}
	return expr.Literal(types.String([]byte(l.Value), types.DefaultCollation))
}

func hexLiteral(l *syntax.Literal) expr.Expr {
	s := l.Value
	if l.Kind == syntax.LitBit {
		for len(s)%8 != 0 {
			s = "0" + s
		}
		var out []byte
		for ; len(s) > 0; s = s[8:] {
			n, _ := strconv.ParseUint(s[:8], 2, 8)
			out = append(out, byte(n))
		}
		return expr.HexLiteral(out)
	}
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b, _ := hex.DecodeString(s)
	return expr.HexLiteral(b)
}

func castType(d *syntax.DataType) types.Type {
	t := types.Type{Length: int32(d.Length), Scale: int8(d.Scale)}
	switch d.Kind {
	case syntax.TypeChar, syntax.TypeVarchar:
		t.ID = types.TypeChar
		if d.Charset != "" {
			if cs, err := types.LookupCharset(d.Charset); err == nil {
				t.Coll = cs.Default
			}
		}
		if t.Coll == types.Binary {
			t.ID = types.TypeBinary
		}
	case syntax.TypeBinary:
		t.ID, t.Coll = types.TypeBinary, types.Binary
	case syntax.TypeDate:
		t.ID = types.TypeDate
	case syntax.TypeTime:
		t.ID, t.Scale, t.Length = types.TypeTime, int8(d.Length), -1
	case syntax.TypeDatetime:
		t.ID, t.Scale, t.Length = types.TypeDatetime, int8(d.Length), -1
	case syntax.TypeDecimal:
		t.ID = types.TypeDecimal
	case syntax.TypeUnsigned:
		t.ID, t.Unsigned = types.TypeBigInt, true
	case syntax.TypeDouble:
		t.ID, t.Scale = types.TypeDouble, -1
	case syntax.TypeFloat:
		t.ID, t.Scale = types.TypeFloat, -1
	case syntax.TypeJSON:
		t.ID = types.TypeJSON
	case syntax.TypeYear:
		t.ID = types.TypeYear
	default:
		t.ID = types.TypeBigInt
	}
	return t
}

// show renders a value as a client of the text protocol sees it.
func show(v types.Value, t types.Type) string {
	if v.IsNull() {
		return "NULL"
	}
	var enc types.RowEncoder
	enc.StartRow(1)
	enc.Value(&t, &v)
	enc.EndRow()
	body := enc.Buf[4:]
	head := 1
	switch body[0] {
	case 0xfc:
		head = 3
	case 0xfd:
		head = 4
	}
	return printable(string(body[head:]))
}

func printable(s string) string {
	for _, r := range s {
		if r < ' ' || r == 0xFFFD {
			return strconv.QuoteToASCII(s)
		}
	}
	return s
}

// evaluate binds and runs one expression without columns; warnings follow the value.
func evaluate(t testing.TB, x *binder, text string) (value string, warnings []string) {
	t.Helper()
	e, err := x.parse(text)
	if err != nil {
		return err.Error(), nil
	}
	ctx := x.newContext()
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return err.Error(), nil
	}
	if v.IsNull() && !e.MayBeNull() {
		return "NULL of an expression that is said never to be NULL", nil
	}
	for _, w := range ctx.Warnings() {
		warnings = append(warnings, fmt.Sprintf("%d %s", w.Number, w.Message))
	}
	return show(v, e.Type()), warnings
}

// testSession answers what expressions ask of a session.
type testSession struct {
	vars   map[string]types.Value
	lastID uint64
}

func (s *testSession) Database() string         { return "test" }
func (s *testSession) User() string             { return "root@localhost" }
func (s *testSession) CurrentUser() string      { return "root@%" }
func (s *testSession) CurrentRole() string      { return "NONE" }
func (s *testSession) Version() string          { return "8.0.36-pando" }
func (s *testSession) ConnectionID() uint64     { return 7 }
func (s *testSession) LastInsertID() uint64     { return s.lastID }
func (s *testSession) SetLastInsertID(n uint64) { s.lastID = n }
func (s *testSession) RowCount() int64          { return -1 }
func (s *testSession) FoundRows() uint64        { return 3 }
func (s *testSession) UserVar(name string) (types.Value, bool) {
	v, ok := s.vars[name]
	return v, ok
}
func (s *testSession) Attribute([]byte) types.Value          { return types.Null() }
func (s *testSession) SetUserVar(name string, v types.Value) { s.vars[name] = v.Clone() }
func (s *testSession) SysVar(_ expr.VarScope, name string) (types.Value, error) {
	if name == "block_encryption_mode" {
		return types.Text("aes-128-ecb"), nil
	}
	return types.Int(42), nil
}
func (s *testSession) HasConnection(id uint64) bool { return id == 7 }
func (s *testSession) StatementDigest(text string) (normal, hash string, err error) {
	normal, sum := syntax.Digest(text, syntax.Options{})
	return normal, hex.EncodeToString(sum[:]), nil
}
func (s *testSession) GetLock(string, float64) (types.Value, error) { return types.Int(1), nil }
func (s *testSession) ReleaseLock(string) (types.Value, error)      { return types.Int(1), nil }
func (s *testSession) ReleaseAllLocks() (types.Value, error)        { return types.Uint(0), nil }
func (s *testSession) IsFreeLock(string) (types.Value, error)       { return types.Int(1), nil }
func (s *testSession) LoadFile(string) (types.Value, error)         { return types.Null(), nil }
func (s *testSession) IsUsedLock(string) (types.Value, error)       { return types.Null(), nil }
