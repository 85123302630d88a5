package types

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrBadKey and ErrBadStored are the errors for bytes that AppendKey and AppendStored do
// not write. The caller reports corruption.
var (
	ErrBadKey    = errors.New("types: malformed key")
	ErrBadStored = errors.New("types: malformed stored value")
)

// KeyFormatVersion is a part of WeightsChecksum. A change of the key format has to raise it.
const KeyFormatVersion = 1

// First bytes of ordered integers; see the table in doc.go.
const (
	keyNull      = 0x00
	tagWideNeg   = 0x04 // length inverted, magnitude inverted
	tagNeg8      = 0x08 // 0x08..0x0F: 8..1 bytes of -1-n, inverted
	tagSmallNeg  = 0x10 // 0x10..0x17: -8..-1
	tagSmall     = 0x18 // 0x18..0x97: 0..127
	tagTwo       = 0x98 // 0x98..0xB7: n-128, 13 bits
	tagThree     = 0xB8 // 0xB8..0xD7: n-8320, 21 bits
	tagBytes     = 0xD8 // 0xD8..0xDD: 3..8 bytes of n
	tagWidePos   = 0xE0 // length, magnitude
	smallNegs    = 8
	firstTwo     = 128
	firstThree   = firstTwo + 32<<8
	firstFour    = firstThree + 32<<16
	fewestBytes  = 3
	lastIntTag   = tagBytes + 5
	lastNegTag   = tagNeg8 + 7
	maxWideBytes = 40 // 65 digits need 27
)

// appendOrderedUint appends n as an ordered integer: bytes.Compare has the order of numbers.
func appendOrderedUint(dst []byte, n uint64) []byte {
	switch {
	case n < firstTwo:
		return append(dst, tagSmall+byte(n))
	case n < firstThree:
		n -= firstTwo
		return append(dst, tagTwo+byte(n>>8), byte(n))
	case n < firstFour:
		n -= firstThree
		return append(dst, tagThree+byte(n>>16), byte(n>>8), byte(n))
	}
	size := (bits.Len64(n) + 7) / 8
	dst = append(dst, tagBytes+byte(size-fewestBytes))
	return appendBigEndian(dst, n, size)
}

// appendOrderedInt is appendOrderedUint for signed integers. For n >= 0 both are the same.
func appendOrderedInt(dst []byte, n int64) []byte {
	if n >= 0 {
		return appendOrderedUint(dst, uint64(n))
	}
	if n >= -smallNegs {
		return append(dst, byte(tagSmallNeg+smallNegs+n))
	}
	m := uint64(^n) // -1-n
	size := max((bits.Len64(m)+7)/8, 1)
	dst = append(dst, byte(tagNeg8+8-size))
	return appendBigEndian(dst, ^m, size)
}

func appendBigEndian(dst []byte, n uint64, size int) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return append(dst, b[8-size:]...)
}

// orderedLen returns the length of the ordered integer at the start of b, or -1 if it is
// malformed. flip is 0xFF for a descending key, else 0.
func orderedLen(b []byte, flip byte) int {
	if len(b) == 0 {
		return -1
	}
	n := 1
	switch tag := b[0] ^ flip; {
	case tag == keyNull:
	case tag == tagWideNeg || tag == tagWidePos:
		if len(b) < 2 {
			return -1
		}
		size := b[1] ^ flip
		if tag == tagWideNeg {
			size = ^size
		}
		if size < 8 || size > maxWideBytes {
			return -1
		}
		n = 2 + int(size)
	case tag >= tagNeg8 && tag <= lastNegTag:
		n = 1 + 8 - int(tag-tagNeg8)
	case tag >= tagSmallNeg && tag < tagTwo:
	case tag >= tagTwo && tag < tagThree:
		n = 2
	case tag >= tagThree && tag < tagBytes:
		n = 3
	case tag >= tagBytes && tag <= lastIntTag:
		n = 1 + fewestBytes + int(tag-tagBytes)
	default:
		return -1
	}
	if n > len(b) {
		return -1
	}
	return n
}

// decodeOrdered returns the ordered integer of at most 64 bits at the start of b. If neg, n
// is an int64 in two's complement.
func decodeOrdered(b []byte, flip byte) (n uint64, neg bool, rest []byte, err error) {
	size := orderedLen(b, flip)
	if size < 0 {
		return 0, false, nil, ErrBadKey
	}
	tag := b[0] ^ flip
	rest = b[size:]
	var v uint64
	for _, x := range b[1:size] {
		v = v<<8 | uint64(x^flip)
	}
	switch {
	case tag >= tagNeg8 && tag <= lastNegTag:
		width := uint(size-1) * 8
		if width < 64 {
			v |= ^uint64(0) << width
		}
		if int64(v) >= 0 {
			return 0, false, nil, ErrBadKey
		}
		return v, true, rest, nil
	case tag >= tagSmallNeg && tag < tagSmall:
		return uint64(int64(tag) - tagSmallNeg - smallNegs), true, rest, nil
	case tag >= tagSmall && tag < tagTwo:
		return uint64(tag - tagSmall), false, rest, nil
	case tag >= tagTwo && tag < tagThree:
		return uint64(tag-tagTwo)<<8 + v + firstTwo, false, rest, nil
	case tag >= tagThree && tag < tagBytes:
		return uint64(tag-tagThree)<<16 + v + firstThree, false, rest, nil
	case tag >= tagBytes && tag <= lastIntTag:
		return v, false, rest, nil
	}
	return 0, false, nil, ErrBadKey
}

// appendOrderedWide appends a wide decimal, given as Value.B, as an ordered integer.
func appendOrderedWide(dst, wide []byte) []byte {
	mag := wide[1:]
	if wide[0] == widePositive {
		dst = append(dst, tagWidePos, byte(len(mag)))
		return append(dst, mag...)
	}
	dst = append(dst, tagWideNeg, ^byte(len(mag)))
	for _, x := range mag {
		dst = append(dst, ^x)
	}
	return dst
}
