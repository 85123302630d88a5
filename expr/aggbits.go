package expr

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// BIT_AND, BIT_OR and BIT_XOR of binary strings combine them byte by byte to a binary string. The state is in AggStates.best, NULL before the
// first value.

const (
	// bitBytesMax is the most bytes of an argument.
	bitBytesMax = 511
	// errBitBytesLong is the error for longer arguments.
	errBitBytesLong = 3514
)

// bitBytesType sets the type of s for an argument that is a binary string.
func (s *AggSpec) bitBytesType() error {
	length := s.args[0].typ.Length
	if length < 0 || length > bitBytesMax {
		return types.NewError(errBitBytesLong, "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the SUBSTRING() function")
	}
	s.bytewise, s.typ = true, types.Type{ID: types.TypeVarbinary, Length: length, Coll: types.Binary}
	return nil
}

// wholeBits returns the operand of a bitwise aggregate that is an integer in every row: a choice between DOUBLE and DECIMAL, which are rounded in two ways, is
// a double among rows.
func wholeBits(e Expr) Expr {
	if !e.mixed || e.typ.Kind() != types.KindFloat {
		return e
	}
	n := newCall("bits", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii = true, uintType(20), CoerNumeric, true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		return types.Uint(ctx.bitOperand(&v)), nil
	}
	return n
}

// bitBytes adds one value to group g.
func (a *AggStates) bitBytes(g uint32, b []byte) error {
	best := &a.best[g]
	if best.IsNull() {
		*best = types.Bytes(bytes.Clone(b))
		a.bytes += int64(len(b))
		return nil
	}
	if len(best.B) != len(b) {
		return errBitBytes()
	}
	for i, c := range b {
		switch a.spec.kind {
		case aggBitAnd:
			best.B[i] &= c
		case aggBitOr:
			best.B[i] |= c
		default:
			best.B[i] ^= c
		}
	}
	return nil
}

// bitBytesResult returns the result of group g. Without any value it is the neutral element in the length of the type.
func (a *AggStates) bitBytesResult(g uint32) types.Value {
	if best := a.best[g]; !best.IsNull() {
		return best
	}
	neutral := byte(0)
	if a.spec.kind == aggBitAnd {
		neutral = 0xff
	}
	return types.Bytes(bytes.Repeat([]byte{neutral}, int(a.spec.typ.Length)))
}
