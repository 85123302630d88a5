package types

// ImplicitDefault is what MySQL stores in a NOT NULL column that has no default and is left out, where it does not refuse that: zero, the empty string
// (of BINARY zero bytes), the zero date, the first member of an ENUM.
func ImplicitDefault(t *Type) Value {
	switch k := t.Kind(); k {
	case KindDecimal:
		return Decimal(0, uint8(max(t.Scale, 0)))
	case KindDatetime, KindTimestamp, KindTime:
		return Value{K: k, Scale: uint8(max(t.Scale, 0))}
	case KindEnum:
		return Value{K: k, N: 1, B: []byte(t.Elems[0]), Coll: t.Coll}
	case KindSet:
		return Value{K: k, B: []byte{}, Coll: t.Coll}
	case KindBit:
		return Value{K: k, Scale: uint8((t.Length + 7) / 8)}
	case KindJSON:
		return JSON([]byte("null"))
	case KindString:
		if t.ID == TypeBinary {
			return Bytes(make([]byte, t.Length))
		}
		return String([]byte{}, t.Coll)
	default:
		return Value{K: k}
	}
}

// ZeroOf is what a NULL becomes in a NOT NULL column that does not refuse it, and what MySQL resets a field to: the implicit default, except that an
// ENUM is the empty string, which is no member.
func ZeroOf(t *Type) Value {
	if t.ID == TypeEnum {
		return Value{K: KindEnum, B: []byte{}, Coll: t.Coll}
	}
	return ImplicitDefault(t)
}
