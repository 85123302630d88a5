package expr

import (
	"math"

	"github.com/pandodb/pando/types"
)

// Parts of MySQL's binary form of documents, whose size JSON_STORAGE_SIZE tells; Pando stores text. Containers are small, with offsets of
// two bytes, unless they take more than 64 KiB.
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

// binarySize returns the bytes of a value without its type, and whether it may stand in the place of its offset: 2 where it fits into a
// small container's, 4 into a large one's, 0 for what never does.
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
		return jsonTypeByte + 1 + 8, 0 // the type and length of an opaque value, and what it packs into
	case v.K == types.KindDecimal:
		return jsonTypeByte + 1 + 2 + decimalBinarySize(&v), 0 // also its precision and scale
	}
	return 8, 0
}

// decimalBinarySize is how many bytes MySQL packs the digits of a decimal into: nine to four bytes, and fewer to as many as they need, on both
// sides of the point.
func decimalBinarySize(v *types.Value) int {
	size := func(digits int) int {
		return digits/9*4 + [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4}[digits%9]
	}
	scale := int(v.Scale)
	return size(max(types.DecPrecision(*v)-scale, 1)) + size(scale)
}

// containerSize is that of an array or object: its count and size, an entry for each value and key, and what does not fit into those.
func (ctx *Ctx) containerSize(text []byte) int {
	members, keys, beside, beside4 := 0, 0, 0, 0
	for it := types.NewJSONIter(text); ; members++ {
		key, value, ok := it.Next()
		if !ok {
			break
		}
		if ctx.steps(len(value)) != nil {
			ctx.charge(meterUnit) // notes the interrupt
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
			entry += offset + 2 // where the key is, and its length
		}
		return 2*offset + members*entry + keys
	}
	if size := width(2) + beside; size <= jsonSmallMax {
		return size
	}
	return width(4) + beside4
}

// varintLength is how many bytes a length takes, seven bits in each.
func varintLength(n int) int {
	bytes := 1
	for n >= 1<<7 {
		n >>= 7
		bytes++
	}
	return bytes
}
