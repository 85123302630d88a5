package codec

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// listMax bounds the elements of a list, so that a damaged count allocates nothing. A commit has no more mutations than a transaction's
	// limit on entries lets it.
	listMax = 16 << 20
	// mutationBytesMin is what a mutation takes at least: kind, shadow, and the lengths of key and value.
	mutationBytesMin = 4
)

// Decoder takes fields off bytes, which its slices alias. It is not safe for concurrent use.
type Decoder struct {
	rest []byte
	err  error
}

// NewDecoder returns a decoder of b.
func NewDecoder(b []byte) Decoder { return Decoder{rest: b} }

// Len returns how many bytes are left.
func (d *Decoder) Len() int { return len(d.rest) }

// Err is the first fault, nil without one.
func (d *Decoder) Err() error { return d.err }

// End is the first fault; bytes that nobody has taken are one.
func (d *Decoder) End() error {
	if d.err == nil && len(d.rest) > 0 {
		d.Fail("bytes behind the end")
	}
	return d.err
}

// Fail notes a fault, unless there was one before: what names the field.
func (d *Decoder) Fail(what string) {
	if d.err == nil {
		d.err = errors.New(what)
	}
	d.rest = nil
}

// Uint takes a number.
func (d *Decoder) Uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || n > 1 && d.rest[n-1] == 0 { // one encoding for each number
		d.Fail("number")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Uint32 takes a number of 32 bits.
func (d *Decoder) Uint32() uint32 {
	v := d.Uint()
	if v > math.MaxUint32 {
		d.Fail("number of 32 bits")
		return 0
	}
	return uint32(v)
}

// Int takes a number of at most 62 bits: a length, or a time in nanoseconds.
func (d *Decoder) Int() int {
	v := d.Uint()
	if v > 1<<62 {
		d.Fail("length")
		return 0
	}
	return int(v)
}

// TS takes a timestamp.
func (d *Decoder) TS() clock.Timestamp {
	v := d.Uint()
	if v > uint64(clock.MaxTimestamp) {
		d.Fail("timestamp")
		return 0
	}
	return clock.Timestamp(v)
}

// Byte takes a byte of at most largest.
func (d *Decoder) Byte(largest byte) byte {
	if len(d.rest) == 0 || d.rest[0] > largest {
		d.Fail("byte")
		return 0
	}
	v := d.rest[0]
	d.rest = d.rest[1:]
	return v
}

// Bool takes a bool.
func (d *Decoder) Bool() bool { return d.Byte(1) == 1 }

// Bytes takes bytes, never nil.
func (d *Decoder) Bytes() []byte {
	n := d.Uint()
	if d.err != nil || n > uint64(len(d.rest)) {
		d.Fail("bytes")
		return []byte{}
	}
	v := d.rest[:n:n]
	d.rest = d.rest[n:]
	return v
}

// Optional takes bytes or nil.
func (d *Decoder) Optional() []byte {
	if !d.Bool() {
		return nil
	}
	return d.Bytes()
}

// Count takes the length of a list whose elements take so many bytes at least.
func (d *Decoder) Count(least int) int {
	n := d.Uint()
	if n > listMax || n*uint64(least) > uint64(len(d.rest)) {
		d.Fail("count")
		return 0
	}
	return int(n)
}

// Keys takes a list of bytes.
func (d *Decoder) Keys() (keys [][]byte) {
	for range d.Count(1) {
		keys = append(keys, d.Bytes())
	}
	return keys
}

// Span takes a span.
func (d *Decoder) Span() kvapi.Span { return kvapi.Span{Start: d.Bytes(), End: d.Optional()} }

// Mutations takes a list of mutations, nil if there are none.
func (d *Decoder) Mutations() (list []kvapi.Mutation) {
	n := d.Count(mutationBytesMin)
	if n > 0 {
		list = make([]kvapi.Mutation, 0, n)
	}
	for range n {
		m := kvapi.Mutation{Kind: kvapi.MutationKind(d.Byte(byte(kvapi.MutationDelete))), Shadow: kvapi.Shadow(d.Byte(byte(kvapi.ShadowAt)))}
		if m.Shadow == kvapi.ShadowAt {
			m.Prev = d.TS()
			length := d.Uint32()
			if length > math.MaxInt32 {
				d.Fail("length of a row")
			}
			m.PrevLen = int32(length)
		}
		m.Key, m.Value = d.Bytes(), d.Bytes()
		if d.err != nil {
			return nil
		}
		list = append(list, m)
	}
	return list
}

// Text takes bytes, at most bytesMax of them, as a string.
func (d *Decoder) Text(bytesMax int) string {
	b := d.Bytes()
	if len(b) > bytesMax {
		d.Fail("text")
		return ""
	}
	return string(b)
}

// Rest takes all that is left; nil if that is nothing.
func (d *Decoder) Rest() []byte {
	if len(d.rest) == 0 {
		return nil
	}
	b := d.rest
	d.rest = nil
	return b
}
