package expr

import (
	"math"
	"strings"

	"github.com/pandodb/pando/types"
)

// buildCast prepares CAST(e AS t). Lengths that the statement leaves out follow from e.
func buildCast(b *BuildContext, n *Node, t types.Type) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	x := n.args[0]
	n.coer, n.ascii = CoerNumeric, true
	switch {
	case t.IsInteger() && x.isChosenDocument(), t.ID == types.TypeYear && x.isChosenDocument():
		x = b.coerced(x, stringType(-1, types.Utf8mb4Bin))
	case t.IsInteger() && isExtremeDate(computed(x)):
		x = integerOf(x)
	case t.IsInteger(): // not asNumber: it reads the text of a CASE or IF
		if x = AsNumber(x); !t.Unsigned || !computed(x).IsCall("unix_timestamp") {
			x = wholeNumber(x)
		}
	case t.ID == types.TypeDecimal:
		x = asDecimal(x)
	case t.IsNumeric() && t.ID != types.TypeYear:
		x = asNumber(x)
	}
	n.args[0] = x
	switch {
	case t.ID == types.TypeDecimal:
		if t.Length <= 0 {
			t.Length = 10
		}
		t.Scale = max(t.Scale, 0)
	case t.IsInteger():
		t.ID = types.TypeBigInt
		if t.Length <= 0 {
			t.Length = 21
		}
	case t.IsTemporal():
		t.Scale = max(t.Scale, 0)
		n.args[0] = asMoment(b, x)
		if x.typ.ID == types.TypeYear && t.ID != types.TypeTime {
			n.args[0] = yearAsDate(x, 1)
		}
	case t.IsStringType():
		if t.Coll == 0 {
			t.Coll = b.collation()
		}
		if t.Coll == types.Binary && (t.ID == types.TypeChar || t.ID == types.TypeVarchar) && t.Length >= 0 {
			t.ID = types.TypeBinary // CHAR(n) CHARACTER SET binary
		}
		n.coer, n.ascii = CoerImplicit, x.ascii
		n.typ = t
		n.aux, n.eval = t, evalCastString
		if t.Length < 0 && t.Coll == types.Binary {
			n.typ = stringType(castBytes(&x.typ), t.Coll)
		} else if t.Length < 0 {
			n.typ = stringType(charLength(&x.typ), t.Coll)
		} else if t.ID == types.TypeChar {
			n.typ.ID = types.TypeVarchar
		} else if t.ID == types.TypeBinary {
			n.typ.ID = types.TypeVarbinary
		}
		return nil
	case t.ID == types.TypeDouble || t.ID == types.TypeFloat:
		n.args[0] = inDouble(x)
		if t.Scale == 0 {
			t.Scale = -1
		}
	case t.ID == types.TypeJSON:
		n.args[0] = b.ownDigits(truthAsJSON(x))
		t.Coll, n.coer, n.ascii = types.Utf8mb4Bin, CoerImplicit, false
	}
	n.typ, n.eval = t, evalCast
	return nil
}

// isChosenDocument reports whether e is a document that is neither a column nor what a function of JSON returns: as an integer it is what its text begins with.
func (n *Node) isChosenDocument() bool {
	return n.typ.ID == types.TypeJSON && (n.aggregated || n.IsCall("if", "case", "case_value", "coalesce", "ifnull", "nullif", "greatest", "least"))
}

func evalCast(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return v, err
	}
	if v.K == n.typ.Kind() && n.typ.ID != types.TypeYear && (v.K == types.KindInt || v.K == types.KindUint || v.K == types.KindFloat && n.typ.ID == types.TypeDouble) {
		return v, nil
	}
	if n.typ.ID == types.TypeJSON && (v.IsBinary() || v.K == types.KindBit || v.K == types.KindDecimal) {
		t := ctx.jsonSource(n.args[0], &v)
		return ctx.jsonFrom(&v, &t), nil
	}
	if v.K == types.KindJSON {
		ctx.JSONName = jsonName(n.args[0])
		defer func() { ctx.JSONName = "" }()
	}
	if n.typ.ID == types.TypeFloat && math.Abs(ctx.float(&v)) > math.MaxFloat32 {
		return types.Null(), outOfRange(n, "DOUBLE")
	}
	return types.Cast(ctx.Context, v, n.typ)
}

// jsonName is what warning 3156 calls an expression: a column's own name, or a function's.
func jsonName(e Expr) string {
	switch e = computed(origin(e)); {
	case e.kind == kindColumn:
		return e.name[strings.LastIndexByte(e.name, '.')+1:]
	case e.IsCall("cast"):
		return "cast_as_json"
	case e.IsCall("->"):
		return "json_extract"
	}
	return e.name
}

func evalCastString(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := ctx.text(n.args[0], row)
	if err != nil || v.IsNull() {
		return v, err
	}
	// As in MySQL, a length beyond max_allowed_packet is refused however short the text is; BINARY(n) makes n bytes of it.
	to, name := n.aux.(types.Type), "cast_as_char"
	if to.Coll == types.Binary {
		name = "cast_as_binary"
	}
	if !to.IsBlob() && ctx.beyondPacket(name, int(to.Length)) {
		return types.Null(), nil
	}
	if from, into := v.Coll.Charset(), to.Coll.Charset(); from != into {
		least := leastBytes(v.B, from, into)
		if to.Length >= 0 {
			least = min(least, int(to.Length)*into.MinLen)
		}
		if ctx.beyondPacket(name, least) {
			return types.Null(), nil
		}
	}
	if v, err = types.Cast(ctx.Context, v, to); err != nil || ctx.beyondPacket(name, len(v.B)) {
		return types.Null(), err // in another character set the text may be four times as long
	}
	return v, nil
}

// buildBinary is BINARY e: the bytes of e.
func buildBinary(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	x := n.args[0]
	n.typ, n.coer, n.ascii = stringType(castBytes(&x.typ), types.Binary), CoerImplicit, x.ascii
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := ctx.text(n.args[0], row)
		if v.K == types.KindString {
			v.Coll = types.Binary
		}
		return v, err
	}
	return nil
}

// castBytes returns the most bytes of a value of t that is cast to a binary string; -1 is unbounded.
func castBytes(t *types.Type) int32 {
	if t.ID == types.TypeDouble && t.Scale >= 0 && t.Length > 0 {
		return t.Length
	}
	return known(byteLength(t))
}
