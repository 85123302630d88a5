package rpc

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// codecVersion is the first byte of each message. Decode refuses a message of another version: nodes agree on one when they connect.
const codecVersion = 1

// ErrMessage is what every error of Decode wraps.
var ErrMessage = errors.New("rpc: malformed message")

// Message is a request or a reply that can be encoded: it refers to nothing that only the sending node has.
type Message interface {
	// Kind is the second byte of the encoding; see Append.
	Kind() Kind
	appendTo(b []byte) []byte
	readFrom(d *decoder)
}

// Append appends the encoding of m.
func Append(b []byte, m Message) []byte {
	return m.appendTo(append(b, codecVersion, byte(m.Kind())))
}

// Decode decodes b, which must be exactly one message. Slices of the message alias b.
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
	d := decoder{codec.NewDecoder(b[2:])}
	m.readFrom(&d)
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("%w: kind %d: %w", ErrMessage, b[1], err)
	}
	return m, nil
}

// decoder reads the fields of a message in order.
type decoder struct{ codec.Decoder }

func (d *decoder) region() (r kvapi.RegionRef) {
	r.ID = kvapi.RegionID(d.Uint())
	r.Epoch.Version, r.Epoch.ConfVer = d.Uint32(), d.Uint32()
	return r
}

func (d *decoder) regions() (refs []kvapi.RegionRef) {
	for range d.Count(3) {
		refs = append(refs, d.region())
	}
	return refs
}

func (d *decoder) txn() TxnID {
	return TxnID{Node: d.Uint(), NodeEpoch: d.Uint(), Number: d.Uint()}
}

func appendRegion(b []byte, r kvapi.RegionRef) []byte {
	return codec.AppendUint(codec.AppendUint(codec.AppendUint(b, r.ID), r.Epoch.Version), r.Epoch.ConfVer)
}

func appendRegions(b []byte, refs []kvapi.RegionRef) []byte {
	b = codec.AppendUint(b, len(refs))
	for _, r := range refs {
		b = appendRegion(b, r)
	}
	return b
}

func appendTxn(b []byte, t TxnID) []byte {
	return codec.AppendUint(codec.AppendUint(codec.AppendUint(b, t.Node), t.NodeEpoch), t.Number)
}
