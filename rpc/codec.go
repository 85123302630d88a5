package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// codecVersion begins each message; see Decode. A message of another version is refused: nodes agree on a version before they speak.
const codecVersion = 1

// listMax bounds the elements of a list, so that a damaged count allocates nothing. A commit has no more mutations than a transaction's
// limit on entries lets it.
const listMax = 16 << 20

// ErrMessage wraps whatever is wrong with the bytes of a message.
var ErrMessage = errors.New("rpc: malformed message")

// Message is a request or a reply as data: nothing in it points to memory of the node that sends it.
type Message interface {
	// Kind is the byte behind the version.
	Kind() Kind
	appendTo(b []byte) []byte
	readFrom(d *decoder)
}

// Append appends the encoding of m.
func Append(b []byte, m Message) []byte {
	return m.appendTo(append(b, codecVersion, byte(m.Kind())))
}

// Decode reads one message, which takes all of b. Slices of the message alias b.
func Decode(b []byte) (Message, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("%w: %d bytes", ErrMessage, len(b))
	}
	if b[0] != codecVersion {
		return nil, fmt.Errorf("%w: version %d, this program knows %d", ErrMessage, b[0], codecVersion)
	}
	m := newMessage(Kind(b[1]))
	if m == nil {
		return nil, fmt.Errorf("%w: kind %d", ErrMessage, b[1])
	}
	d := decoder{b: b[2:]}
	m.readFrom(&d)
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes behind the end")
	}
	if d.err != nil {
		return nil, fmt.Errorf("%w: kind %d: %w", ErrMessage, b[1], d.err)
	}
	return m, nil
}

// decoder takes fields off a message. After the first fault all fields are zero.
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

func (d *decoder) int() int {
	v := d.uint()
	if v > 1<<62 {
		d.fail("length")
		return 0
	}
	return int(v)
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

// bytes returns a slice of the message, never nil.
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

// optional is bytes, or nil.
func (d *decoder) optional() []byte {
	if !d.bool() {
		return nil
	}
	return d.bytes()
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

func (d *decoder) region() (r kvapi.RegionRef) {
	r.ID = kvapi.RegionID(d.uint())
	r.Epoch.Version, r.Epoch.ConfVer = d.uint32(), d.uint32()
	return r
}

func (d *decoder) regions() (refs []kvapi.RegionRef) {
	for range d.count(3) {
		refs = append(refs, d.region())
	}
	return refs
}

func (d *decoder) span() kvapi.Span { return kvapi.Span{Start: d.bytes(), End: d.optional()} }

func (d *decoder) txn() TxnID {
	return TxnID{Node: d.uint(), NodeEpoch: d.uint(), Number: d.uint()}
}

func appendUint[N ~uint64 | ~uint32 | ~int | ~int32 | ~int64](b []byte, v N) []byte {
	return binary.AppendUvarint(b, uint64(v))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendBytes(b, v []byte) []byte { return append(appendUint(b, len(v)), v...) }

func appendOptional(b, v []byte) []byte {
	if v == nil {
		return append(b, 0)
	}
	return appendBytes(append(b, 1), v)
}

func appendRegion(b []byte, r kvapi.RegionRef) []byte {
	return appendUint(appendUint(appendUint(b, r.ID), r.Epoch.Version), r.Epoch.ConfVer)
}

func appendRegions(b []byte, refs []kvapi.RegionRef) []byte {
	b = appendUint(b, len(refs))
	for _, r := range refs {
		b = appendRegion(b, r)
	}
	return b
}

func appendSpan(b []byte, s kvapi.Span) []byte {
	return appendOptional(appendBytes(b, s.Start), s.End)
}

func appendTxn(b []byte, t TxnID) []byte {
	return appendUint(appendUint(appendUint(b, t.Node), t.NodeEpoch), t.Number)
}
