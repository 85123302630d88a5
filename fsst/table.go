package fsst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

const (
	// MaxSymbols is the most symbols that a table has.
	MaxSymbols = 255
	// MaxSize is the longest symbol in bytes, and so how many times as long as its
	// packed form a string can be.
	MaxSize = 8

	escape = 255

	format = 1

	// longBits is the size of the table that finds symbols of three bytes and
	// more by their first three. Two that meet in a slot can't both be in a table.
	longBits = 11
)

// ErrCorrupt says that bytes are not what Pack or AppendBinary wrote.
var ErrCorrupt = errors.New("fsst: corrupt")

// Table is a set of symbols, ready to pack and to unpack. It is immutable.
type Table struct {
	n    int
	sym  [256]uint64 // the symbol's bytes, the first one lowest, zeros behind the last
	size [256]uint8  // 1 to 8; 0: no symbol has this code

	// What Pack looks up; escape means none. one is by byte; two by first[a] +
	// second[b] for the bytes a, b, where row and column 0 are of bytes that begin
	// or end no symbol of two bytes; long by hash.
	one           [256]uint8
	first, second [256]uint16
	two           []uint8
	long          [1 << longBits]uint8
}

// Len returns the number of symbols.
func (t *Table) Len() int { return t.n }

// hash3 is the slot in Table.long of a string that begins with the low three
// bytes of w.
func hash3(w uint64) uint32 {
	return uint32(w&0xffffff) * 2654435769 >> (32 - longBits)
}

// mask covers the bytes of a symbol of size 1 to 8.
func mask(size uint8) uint64 { return ^uint64(0) >> ((64 - 8*size) & 63) }

// symbol is one candidate for a table.
type symbol struct {
	bytes uint64
	size  uint8
}

// newTable returns the table of as many of the symbols as it can hold, in their
// order. Those of two bytes are at most MaxSymbols, so two has less than 64 KiB.
func newTable(symbols []symbol) *Table {
	t := &Table{}
	for i := range t.one {
		t.one[i] = escape
	}
	for i := range t.long {
		t.long[i] = escape
	}
	rows, cols := uint16(1), uint16(1)
	for _, s := range symbols {
		if t.n == MaxSymbols {
			break
		}
		code := uint8(t.n)
		switch {
		case s.size == 1:
			t.one[s.bytes] = code
		case s.size == 2:
			a, b := byte(s.bytes), byte(s.bytes>>8)
			if t.first[a] == 0 {
				t.first[a], rows = rows, rows+1
			}
			if t.second[b] == 0 {
				t.second[b], cols = cols, cols+1
			}
		default:
			slot := &t.long[hash3(s.bytes)]
			if *slot != escape {
				continue
			}
			*slot = code
		}
		t.sym[code], t.size[code] = s.bytes, s.size
		t.n++
	}
	t.two = make([]uint8, int(rows)*int(cols))
	for i := range t.two {
		t.two[i] = escape
	}
	for b := range t.first {
		t.first[b] *= cols
	}
	for code := range t.n {
		if t.size[code] == 2 {
			t.two[t.first[byte(t.sym[code])]+t.second[byte(t.sym[code]>>8)]] = uint8(code)
		}
	}
	return t
}

// find returns the longest symbol that the low n bytes of w begin with, at least
// one byte; those above are zero. It is escape and 1 if there is none.
func (t *Table) find(w uint64, n int) (code, size uint8) {
	if code = t.long[hash3(w)]; code != escape {
		if size = t.size[code]; int(size) <= n && (w^t.sym[code])&mask(size) == 0 {
			return code, size
		}
	}
	if n >= 2 {
		if code = t.two[t.first[byte(w)]+t.second[byte(w>>8)]]; code != escape {
			return code, 2
		}
	}
	return t.one[byte(w)], 1
}

// load returns up to eight bytes of src, and how many they are.
func load(src []byte) (w uint64, n int) {
	if len(src) >= 8 {
		return binary.LittleEndian.Uint64(src), 8
	}
	for i, b := range src {
		w |= uint64(b) << (8 * i)
	}
	return w, len(src)
}

// packStep is after how many bytes Pack looks whether it is worth going on: what
// has saved less than one in packWorth bytes so far is given up.
const (
	packStep  = 1 << 10
	packWorth = 16
)

// Pack appends the packed form of src to dst if it is shorter than src by at
// least gain bytes, and otherwise returns dst as it was and false.
func (t *Table) Pack(dst, src []byte, gain int) (out []byte, ok bool) {
	start := len(dst)
	for rest := src; len(rest) > 0; {
		step := rest
		if len(step) > packStep {
			step = step[:packStep]
		}
		dst = t.pack(dst, step)
		rest = rest[len(step):]
		if done := len(src) - len(rest); len(rest) > 0 && len(dst)-start > done-done/packWorth {
			return dst[:start], false
		}
	}
	if len(dst)-start > len(src)-gain {
		return dst[:start], false
	}
	return dst, true
}

// pack appends the packed form of src, which is at most twice as long.
func (t *Table) pack(dst, src []byte) []byte {
	n := len(dst)
	if cap(dst)-n < 2*len(src) {
		dst = append(dst, make([]byte, 2*len(src))...)
	}
	dst = dst[:n+2*len(src)]
	i, two := 0, t.two
	for ; i+8 <= len(src); n++ { // as find does, with eight bytes at hand
		w := binary.LittleEndian.Uint64(src[i:])
		if code := t.long[hash3(w)]; code != escape {
			if size := t.size[code]; (w^t.sym[code])&mask(size) == 0 {
				dst[n] = code
				i += int(size)
				continue
			}
		}
		if code := two[t.first[byte(w)]+t.second[byte(w>>8)]]; code != escape {
			dst[n] = code
			i += 2
			continue
		}
		code := t.one[byte(w)]
		dst[n] = code
		if code == escape {
			n++
			dst[n] = byte(w)
		}
		i++
	}
	for ; i < len(src); n++ {
		w, have := load(src[i:])
		code, size := t.find(w, have)
		dst[n] = code
		if code == escape {
			n++
			dst[n] = byte(w)
		}
		i += int(size)
	}
	return dst[:n]
}

// hasEscape reports whether one of four bytes is 255.
func hasEscape(codes uint32) bool {
	return (^codes-0x01010101)&codes&0x80808080 != 0
}

// put writes a symbol and the zeros behind it to eight bytes at p.
func put(p unsafe.Pointer, symbol uint64) {
	binary.LittleEndian.PutUint64((*[MaxSize]byte)(p)[:], symbol)
}

// unpackStep is for how many codes Unpack makes room at a time.
const unpackStep = 1 << 9

// Unpack appends the string whose packed form is src. The error is ErrCorrupt.
func (t *Table) Unpack(dst, src []byte) ([]byte, error) {
	for len(src) > 0 {
		step := src
		if len(step) > unpackStep {
			step = step[:unpackStep]
		}
		n := len(dst)
		if cap(dst)-n < MaxSize*len(step) {
			dst = append(dst, make([]byte, MaxSize*len(step))...)
		}
		dst = dst[:n+MaxSize*len(step)]
		i := 0
		for i < len(step) {
			if i+4 <= len(step) {
				if codes := binary.LittleEndian.Uint32(step[i:]); !hasEscape(codes) {
					// There is room for four symbols of eight bytes. Bounds that are
					// not checked for each are a quarter of the time.
					p := unsafe.Pointer(&dst[n])
					a, b, c, d := uint8(codes), uint8(codes>>8), uint8(codes>>16), uint8(codes>>24)
					put(p, t.sym[a])
					size := uint(t.size[a])
					put(unsafe.Add(p, size), t.sym[b])
					size += uint(t.size[b])
					put(unsafe.Add(p, size), t.sym[c])
					size += uint(t.size[c])
					put(unsafe.Add(p, size), t.sym[d])
					size += uint(t.size[d])
					i, n = i+4, n+int(size)
					continue
				}
			}
			code := step[i]
			i++
			if code != escape {
				binary.LittleEndian.PutUint64(dst[n:], t.sym[code])
				n += int(t.size[code])
				continue
			}
			if i == len(src) {
				return dst[:n], ErrCorrupt
			}
			dst[n] = src[i] // behind the step if the escape ends it
			i, n = i+1, n+1
		}
		dst, src = dst[:n], src[i:]
	}
	return dst, nil
}

// AppendBinary appends the table as doc.go describes it.
func (t *Table) AppendBinary(dst []byte) []byte {
	dst = append(dst, format, byte(t.n))
	for code := range t.n {
		dst = append(dst, t.size[code])
		for i := range t.size[code] {
			dst = append(dst, byte(t.sym[code]>>(8*i)))
		}
	}
	return dst
}

// Parse returns the table that AppendBinary wrote. The error wraps ErrCorrupt.
func Parse(b []byte) (*Table, error) {
	if len(b) < 2 || b[0] != format {
		return nil, fmt.Errorf("%w: table format", ErrCorrupt)
	}
	symbols := make([]symbol, b[1])
	b = b[2:]
	for i := range symbols {
		if len(b) == 0 || b[0] == 0 || b[0] > MaxSize || len(b) <= int(b[0]) {
			return nil, fmt.Errorf("%w: symbol %d of %d", ErrCorrupt, i, len(symbols))
		}
		s := symbol{size: b[0]}
		s.bytes, _ = load(b[1 : 1+s.size])
		symbols[i], b = s, b[1+s.size:]
	}
	t := newTable(symbols)
	if len(b) > 0 || t.n != len(symbols) {
		return nil, fmt.Errorf("%w: %d of %d symbols, %d bytes left", ErrCorrupt, t.n, len(symbols), len(b))
	}
	return t, nil
}
