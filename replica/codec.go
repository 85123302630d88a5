package replica

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// entryVersion begins each entry. A higher one may add kinds and append fields, and is written only once all nodes know it.
	entryVersion = 1
	// listMax bounds the elements of a list, so that a damaged count allocates nothing.
	listMax = 16 << 20
	// mutationBytesMin is what a mutation takes at least: kind, shadow, and the lengths of key and value.
	mutationBytesMin = 4
	// commandBytesMin is what a command takes at least: its kind and one field.
	commandBytesMin = 2
)

// ErrEntry wraps whatever is wrong with the bytes of an entry.
var ErrEntry = errors.New("replica: malformed entry")

// Entry is what one place in a region's log holds: commands, made for the region at an epoch.
type Entry struct {
	Epoch    kvapi.Epoch
	Commands []Command
}

// Append appends the encoding of e.
func (e *Entry) Append(b []byte) []byte {
	b = append(b, entryVersion)
	b = appendUint(appendUint(appendUint(b, e.Epoch.Version), e.Epoch.ConfVer), len(e.Commands))
	for _, c := range e.Commands {
		b = c.appendTo(append(b, byte(c.Kind())))
	}
	return b
}

// DecodeEntry reads an entry, which takes all of b. Slices of the commands alias b.
func DecodeEntry(b []byte) (e Entry, err error) {
	d := decoder{b: b}
	if v := d.byte(255); d.err == nil && v != entryVersion {
		return Entry{}, fmt.Errorf("%w: version %d, this program knows %d", ErrEntry, v, entryVersion)
	}
	e.Epoch.Version, e.Epoch.ConfVer = d.uint32(), d.uint32()
	for range d.count(commandBytesMin) {
		c := newCommand(Kind(d.byte(255)))
		if d.err == nil && c == nil {
			d.fail("kind of a command")
		}
		if d.err != nil {
			break
		}
		c.readFrom(&d)
		e.Commands = append(e.Commands, c)
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes behind the end")
	}
	if d.err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrEntry, d.err)
	}
	return e, nil
}

// decoder takes fields off bytes. After the first fault all fields are zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = errors.New(what)
	}
	d.b = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 { // one encoding for each number
		d.fail("number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uint()
	if v > 1<<32-1 {
		d.fail("number of 32 bits")
		return 0
	}
	return uint32(v)
}

func (d *decoder) ts() clock.Timestamp {
	v := d.uint()
	if v > uint64(clock.MaxTimestamp) {
		d.fail("timestamp")
		return 0
	}
	return clock.Timestamp(v)
}

// byte takes a byte that is at most most.
func (d *decoder) byte(most byte) byte {
	if len(d.b) == 0 || d.b[0] > most {
		d.fail("byte")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool { return d.byte(1) == 1 }

// bytes returns a slice of what is decoded, never nil.
func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail("bytes")
		return []byte{}
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

// count takes the length of a list whose elements take so many bytes at least.
func (d *decoder) count(least int) int {
	n := d.uint()
	if n > listMax || n*uint64(least) > uint64(len(d.b)) {
		d.fail("count")
		return 0
	}
	return int(n)
}

func (d *decoder) keys() (keys [][]byte) {
	for range d.count(1) {
		keys = append(keys, d.bytes())
	}
	return keys
}

func (d *decoder) span() (s kvapi.Span) {
	s.Start = d.bytes()
	if d.bool() {
		s.End = d.bytes()
	}
	return s
}

func (d *decoder) mutations() (list []kvapi.Mutation) {
	n := d.count(mutationBytesMin)
	if n > 0 {
		list = make([]kvapi.Mutation, 0, n)
	}
	for range n {
		m := kvapi.Mutation{Kind: kvapi.MutationKind(d.byte(byte(kvapi.MutationDelete))), Shadow: kvapi.Shadow(d.byte(byte(kvapi.ShadowAt)))}
		if m.Shadow == kvapi.ShadowAt {
			m.Prev = d.ts()
			length := d.uint32()
			if length > 1<<31-1 {
				d.fail("length of a row")
			}
			m.PrevLen = int32(length)
		}
		m.Key, m.Value = d.bytes(), d.bytes()
		if d.err != nil {
			return nil
		}
		list = append(list, m)
	}
	return list
}

func appendUint[N ~uint64 | ~uint32 | ~int | ~int32](b []byte, v N) []byte {
	return binary.AppendUvarint(b, uint64(v))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendBytes(b, v []byte) []byte { return append(appendUint(b, len(v)), v...) }

func appendKeys(b []byte, keys [][]byte) []byte {
	b = appendUint(b, len(keys))
	for _, k := range keys {
		b = appendBytes(b, k)
	}
	return b
}

func appendSpan(b []byte, s kvapi.Span) []byte {
	b = appendBytes(b, s.Start)
	if s.End == nil {
		return append(b, 0)
	}
	return appendBytes(append(b, 1), s.End)
}

func appendMutations(b []byte, list []kvapi.Mutation) []byte {
	b = appendUint(b, len(list))
	for i := range list {
		m := &list[i]
		b = append(b, byte(m.Kind), byte(m.Shadow))
		if m.Shadow == kvapi.ShadowAt {
			b = appendUint(appendUint(b, m.Prev), m.PrevLen)
		}
		b = appendBytes(appendBytes(b, m.Key), m.Value)
	}
	return b
}
