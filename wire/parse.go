package wire

import (
	"bytes"
	"encoding/binary"
)

// cursor reads the fields of one payload. After a field that does not fit, bad is set and all
// further fields are zero: callers check once at the end. The slices it returns alias the payload.
type cursor struct {
	b   []byte
	bad bool
}

func (p *cursor) take(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.bad, p.b = true, nil
		return nil
	}
	field := p.b[:n:n]
	p.b = p.b[n:]
	return field
}

func (p *cursor) uint8() byte {
	if f := p.take(1); f != nil {
		return f[0]
	}
	return 0
}

func (p *cursor) uint16() uint16 {
	if f := p.take(2); f != nil {
		return binary.LittleEndian.Uint16(f)
	}
	return 0
}

func (p *cursor) uint32() uint32 {
	if f := p.take(4); f != nil {
		return binary.LittleEndian.Uint32(f)
	}
	return 0
}

// lenenc reads a length-encoded integer. 0xfb and 0xff are no integers.
func (p *cursor) lenenc() uint64 {
	switch first := p.uint8(); {
	case p.bad || first < lenencNull:
		return uint64(first)
	case first == 0xfc:
		return uint64(p.uint16())
	case first == 0xfd:
		f := p.take(3)
		if f == nil {
			return 0
		}
		return uint64(f[0]) | uint64(f[1])<<8 | uint64(f[2])<<16
	case first == 0xfe:
		f := p.take(8)
		if f == nil {
			return 0
		}
		return binary.LittleEndian.Uint64(f)
	}
	p.bad, p.b = true, nil
	return 0
}

// lenencBytes reads a length-encoded string.
func (p *cursor) lenencBytes() []byte {
	n := p.lenenc()
	if n > uint64(len(p.b)) {
		p.bad, p.b = true, nil
		return nil
	}
	return p.take(int(n))
}

// cstring reads up to a NUL, which must be there.
func (p *cursor) cstring() []byte {
	end := bytes.IndexByte(p.b, 0)
	field := p.take(end)
	if !p.bad {
		p.b = p.b[1:]
	}
	return field
}

// cstringOrRest reads up to a NUL or, as some clients leave the last one out, to the end.
func (p *cursor) cstringOrRest() []byte {
	if bytes.IndexByte(p.b, 0) < 0 {
		return p.take(len(p.b))
	}
	return p.cstring()
}

func appendUint16(dst []byte, n uint16) []byte { return append(dst, byte(n), byte(n>>8)) }

func appendUint32(dst []byte, n uint32) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

// appendLenenc appends a length-encoded integer.
func appendLenenc(dst []byte, n uint64) []byte {
	switch {
	case n < lenencNull:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
}

func appendLenencString(dst []byte, s string) []byte {
	return append(appendLenenc(dst, uint64(len(s))), s...)
}
