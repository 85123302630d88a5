package expr

import (
	"math"

	"github.com/pandodb/pando/types"
)

// JSON_STORAGE_SIZE is the size of a document in MySQL's binary format (its json_binary.h), although Pando stores text. Containers are in the
// small format, with offsets of two bytes, unless that takes more than 64 KiB.
const (
	jsonSmallMax = math.MaxUint16
	jsonTypeByte = 1
)

func evalJSONStorageSize(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	text, ok, err := ctx.documentText(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	size, _ := ctx.binarySize(text)
	return types.Int(int64(jsonTypeByte + size)), ctx.failed
}

// binarySize returns the bytes of a value without its type, and whether it is stored inline, in place of its offset: 2 if in small and large
// containers, 4 if in large ones only, 0 if never.
func (ctx *Ctx) binarySize(text []byte) (size, inline int) {
	v, ok := types.JSONScalar(text)
	if !ok {
		return ctx.containerSize(text), 0
	}
	switch {
	case text[0] == 't', text[0] == 'f', text[0] == 'n':
		return 1, 2
	case v.K == types.KindString:
		if b, ok := types.JSONOpaque(text); ok {
			return jsonTypeByte + varintLength(len(b)) + len(b), 0
		}
		return varintLength(len(v.B)) + len(v.B), 0
	case v.K == types.KindInt && v.N >= math.MinInt16 && v.N <= math.MaxInt16, v.K == types.KindUint && v.Uint64() <= math.MaxUint16:
		return 2, 2
	case v.K == types.KindInt && v.N >= math.MinInt32 && v.N <= math.MaxInt32, v.K == types.KindUint && v.Uint64() <= math.MaxUint32:
		return 4, 4
	case v.IsTemporal():
		return jsonTypeByte + 1 + 8, 0 // type and length of an opaque value, and the packed date or time
	case v.K == types.KindDecimal:
		return jsonTypeByte + 1 + 2 + decimalBinarySize(&v), 0 // also its precision and scale
	}
	return 8, 0
}

// decimalBinarySize returns the bytes of a decimal in MySQL's binary format: on each side of the point, four bytes per nine digits, and as many as
// needed for the rest.
func decimalBinarySize(v *types.Value) int {
	size := func(digits int) int {
		return digits/9*4 + [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4}[digits%9]
	}
	scale := int(v.Scale)
	return size(max(types.DecPrecision(*v)-scale, 1)) + size(scale)
}

// containerSize returns the bytes of an array or object: its count and size, an entry for each value and key, the keys, and the values that are
// not inline.
func (ctx *Ctx) containerSize(text []byte) int {
	members, keys, beside, beside4 := 0, 0, 0, 0
	for it := types.NewJSONIter(text); ; members++ {
		key, value, ok := it.Next()
		if !ok {
			break
		}
		if ctx.steps(len(value)) != nil {
			ctx.charge(meterUnit) // polls again, which sets ctx.failed
			return 0
		}
		if key != nil {
			keys += len(types.UnquoteJSON(key))
		}
		size, inline := ctx.binarySize(value)
		if inline == 0 || inline > 2 {
			beside += size
		}
		if inline == 0 {
			beside4 += size
		}
	}
	width := func(offset int) int {
		entry := jsonTypeByte + offset
		if text[0] == '{' {
			entry += offset + 2 // offset and length of the key
		}
		return 2*offset + members*entry + keys
	}
	if size := width(2) + beside; size <= jsonSmallMax {
		return size
	}
	return width(4) + beside4
}

// varintLength returns the bytes of a length, seven bits in each.
func varintLength(n int) int {
	bytes := 1
	for n >= 1<<7 {
		n >>= 7
		bytes++
	}
	return bytes
}
