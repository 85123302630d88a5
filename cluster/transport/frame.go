package transport

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/pandodb/pando/internal/codec"
)

// kind is the kind of a frame.
type kind byte

const (
	kindHello kind = 1 + iota
	kindWelcome
	kindPing
	kindPong
	kindMessage
	kindRequest
	kindReply
	kindCancel
	kindData
	kindEnd
	kindVerdict
)

// purpose is what a connection is for.
type purpose byte

const (
	forRaft purpose = 1 + iota
	forCalls
	forSnapshot
	forClient
	forContact
)

// Statuses of replies and verdicts.
const (
	statusOK byte = iota
	statusFailure
	statusBusy
)

const (
	headerBytes = 5
	magic       = "PNDT"
	helloFormat = 1
)

// appendFrame appends a frame whose payload is head and body.
func appendFrame(b []byte, k kind, head, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)+len(body)))
	b = append(b, byte(k))
	return append(append(b, head...), body...)
}

// readFrame reads a frame of at most limit bytes. The payload is the caller's. Memory is taken as bytes come, not as they are announced.
func readFrame(r io.Reader, limit int) (kind, []byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(header[:]))
	if n > int64(limit) {
		return 0, nil, fmt.Errorf("a frame of %d bytes, of %d that it may have", n, limit)
	}
	payload := make([]byte, 0, min(n, chunkBytes))
	for int64(len(payload)) < n {
		at := len(payload)
		next := min(int64(max(2*at, chunkBytes)), n)
		if int64(cap(payload)) < next {
			payload = append(make([]byte, 0, next), payload...)
		}
		payload = payload[:next]
		if _, err := io.ReadFull(r, payload[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
	}
	return kind(header[4]), payload, nil
}

// hello is what a dialer says first.
type hello struct {
	purpose                              purpose
	cluster, from, to, incarnation, life uint64
	oldest, newest                       uint64
	address                              string
	region                               uint64 // of a snapshot
	network, client                      string // of a client
}

func (h *hello) append(b []byte) []byte {
	b = append(append(b, magic...), helloFormat, byte(h.purpose))
	b = binary.BigEndian.AppendUint64(b, h.cluster)
	for _, n := range [...]uint64{h.from, h.to, h.incarnation, h.life, h.oldest, h.newest} {
		b = codec.AppendUint(b, n)
	}
	b = codec.AppendUint(codec.AppendBytes(b, h.address), h.region)
	return codec.AppendBytes(codec.AppendBytes(b, h.network), h.client)
}

// decodeHello reads a hello. Another format is a *RefusedError.
func decodeHello(b []byte) (*hello, error) {
	if len(b) < len(magic)+2+8 || string(b[:len(magic)]) != magic {
		return nil, refuse(RefusedFormat, "what was said first is not Pando's")
	}
	if f := b[len(magic)]; f != helloFormat {
		return nil, refuse(RefusedFormat, "the node speaks format %d, and this one format %d: their programs are too far apart", f, helloFormat)
	}
	b = b[len(magic)+1:]
	h := &hello{purpose: purpose(b[0]), cluster: binary.BigEndian.Uint64(b[1:])}
	d := codec.NewDecoder(b[9:])
	for _, n := range [...]*uint64{&h.from, &h.to, &h.incarnation, &h.life, &h.oldest, &h.newest} {
		*n = d.Uint()
	}
	h.address, h.region = d.Text(addressBytesMax), d.Uint()
	h.network, h.client = d.Text(addressBytesMax), d.Text(addressBytesMax)
	if err := d.End(); err != nil {
		return nil, refuse(RefusedFormat, "a malformed hello: %v", err)
	}
	if h.purpose < forRaft || h.purpose > forContact || h.from == 0 {
		return nil, refuse(RefusedFormat, "a hello of node %d for a connection of kind %d", h.from, h.purpose)
	}
	return h, nil
}

// welcome is what an acceptor answers.
type welcome struct {
	verdict                          Refused // 0 is welcome
	reason                           string
	cluster, node, incarnation, life uint64
	version                          uint64
	address                          string
	others                           []place
}

// place is where a node is.
type place struct {
	node    uint64
	address string
}

func (w *welcome) append(b []byte) []byte {
	b = codec.AppendBytes(append(b, helloFormat, byte(w.verdict)), w.reason[:min(len(w.reason), reasonBytesMax)])
	b = binary.BigEndian.AppendUint64(b, w.cluster)
	for _, n := range [...]uint64{w.node, w.incarnation, w.life, w.version} {
		b = codec.AppendUint(b, n)
	}
	b = codec.AppendUint(codec.AppendBytes(b, w.address), len(w.others))
	for _, p := range w.others {
		b = codec.AppendBytes(codec.AppendUint(b, p.node), p.address)
	}
	return b
}

func decodeWelcome(b []byte) (*welcome, error) {
	if len(b) == 0 || b[0] != helloFormat {
		return nil, refuse(RefusedFormat, "the node answers in another format than this program's %d: their programs are too far apart", helloFormat)
	}
	w := &welcome{}
	d := codec.NewDecoder(b[1:])
	w.verdict, w.reason = Refused(d.Byte(255)), d.Text(reasonBytesMax)
	for range 8 {
		w.cluster = w.cluster<<8 | uint64(d.Byte(255))
	}
	for _, n := range [...]*uint64{&w.node, &w.incarnation, &w.life, &w.version} {
		*n = d.Uint()
	}
	w.address = d.Text(addressBytesMax)
	for range min(d.Count(2), othersMax+1) {
		w.others = append(w.others, place{d.Uint(), d.Text(addressBytesMax)})
	}
	if err := d.End(); err != nil || len(w.others) > othersMax {
		return nil, refuse(RefusedFormat, "a malformed welcome: %v", err)
	}
	return w, nil
}
