package keys

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// VarintLenMax is the longest encoding AppendUint makes.
const VarintLenMax = 9

const (
	varintOneByteMax   = 240
	varintTwoByteBase  = 240
	varintTwoByteMax   = 2287
	varintThreeBase    = 2288
	varintThreeByteMax = 67823
	varintTwoByteTag   = 241
	varintThreeByteTag = 249
	varintLongTag      = 250 // followed by 3 bytes; each tag above adds one
)

var errVarint = errors.New("keys: malformed varint")

// AppendUint appends v so that the encodings of two numbers compare as the numbers do.
func AppendUint(dst []byte, v uint64) []byte {
	switch {
	case v <= varintOneByteMax:
		return append(dst, byte(v))
	case v <= varintTwoByteMax:
		v -= varintTwoByteBase
		return append(dst, byte(varintTwoByteTag+v>>8), byte(v))
	case v <= varintThreeByteMax:
		v -= varintThreeBase
		return append(dst, varintThreeByteTag, byte(v>>8), byte(v))
	}
	n := (bits.Len64(v) + 7) / 8 // 3..8
	var buf [8]byte
	binary.BigEndian.PutUint64(buf[:], v)
	dst = append(dst, byte(varintLongTag+n-3))
	return append(dst, buf[8-n:]...)
}

// DecodeUint reads a number that AppendUint wrote and returns what follows it. Any other spelling is an error.
func DecodeUint(b []byte) (v uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errVarint
	}
	tag := b[0]
	switch {
	case tag <= varintOneByteMax:
		return uint64(tag), b[1:], nil
	case tag < varintThreeByteTag:
		if len(b) < 2 {
			return 0, nil, errVarint
		}
		v = varintTwoByteBase + uint64(tag-varintTwoByteTag)<<8 + uint64(b[1])
		if v <= varintOneByteMax {
			return 0, nil, errVarint
		}
		return v, b[2:], nil
	case tag == varintThreeByteTag:
		if len(b) < 3 {
			return 0, nil, errVarint
		}
		return varintThreeBase + uint64(b[1])<<8 + uint64(b[2]), b[3:], nil
	}
	n := int(tag-varintLongTag) + 3
	if len(b) < 1+n {
		return 0, nil, errVarint
	}
	for _, c := range b[1 : 1+n] {
		v = v<<8 | uint64(c)
	}
	// The shortest spelling is the only one: no leading zero byte, and nothing that a shorter class holds.
	if b[1] == 0 || v <= varintThreeByteMax {
		return 0, nil, errVarint
	}
	return v, b[1+n:], nil
}
