package codec

import (
	"encoding/binary"

	"github.com/pandodb/pando/kvapi"
)

// AppendUint appends a number, which must not be negative.
func AppendUint[N ~uint64 | ~uint32 | ~int | ~int32 | ~int64](b []byte, v N) []byte {
	return binary.AppendUvarint(b, uint64(v))
}

// AppendBool appends a bool.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendBytes appends bytes.
func AppendBytes[B ~[]byte | ~string](b []byte, v B) []byte {
	return append(AppendUint(b, len(v)), v...)
}

// AppendOptional appends bytes, or nil.
func AppendOptional(b, v []byte) []byte {
	if v == nil {
		return append(b, 0)
	}
	return AppendBytes(append(b, 1), v)
}

// AppendKeys appends a list of bytes.
func AppendKeys(b []byte, keys [][]byte) []byte {
	b = AppendUint(b, len(keys))
	for _, k := range keys {
		b = AppendBytes(b, k)
	}
	return b
}

// AppendSpan appends a span.
func AppendSpan(b []byte, s kvapi.Span) []byte {
	return AppendOptional(AppendBytes(b, s.Start), s.End)
}

// AppendMutations appends a list of mutations.
func AppendMutations(b []byte, list []kvapi.Mutation) []byte {
	b = AppendUint(b, len(list))
	for i := range list {
		m := &list[i]
		b = append(b, byte(m.Kind), byte(m.Shadow))
		if m.Shadow == kvapi.ShadowAt {
			b = AppendUint(AppendUint(b, m.Prev), m.PrevLen)
		}
		b = AppendBytes(AppendBytes(b, m.Key), m.Value)
	}
	return b
}
