package wire

import (
	"errors"
	"io"
)

const (
	headerBytes  = 4
	payloadMax   = 1<<24 - 1 // a payload of this length is continued by another packet
	emptyReadMax = 100       // reads in a row that return neither bytes nor an error, until the connection fails
)

var (
	errTooLarge   = errors.New("packet is larger than max_allowed_packet")
	errOutOfOrder = errors.New("packets out of order")
	errMalformed  = errors.New("malformed packet")
)

// packetReader splits a byte stream into payloads. It belongs to the connection's goroutine.
//
// Small packets are returned as slices of one window that is filled by reads as large as fit: a command that
// arrives whole costs one read and no copy. Larger ones are assembled in a pooled buffer, which grows with the bytes
// that have arrived and not with the length that the client announced.
type packetReader struct {
	src    io.Reader
	window []byte
	r, w   int // unread bytes are window[r:w]
	big    *buffer
	pool   *bufferPool
	held   *held // of the connection, for big
	limit  int   // largest payload
	seq    byte
	// exact: not a byte is read beyond the current packet. It is set until authentication is over, so that bytes sent right
	// after an SSLRequest go to TLS, which refuses them, and are never taken for encrypted ones (W3).
	exact bool
	// partial, if set, is called before a read that waits for the rest of a started packet.
	partial func()
	total   uint64 // bytes read
}

// next returns the payload of the next packet or joined packets, valid until next or release. io.EOF means that the stream
// ended between two packets.
func (p *packetReader) next() ([]byte, error) {
	p.release()
	if err := p.fill(headerBytes); err != nil {
		if err == io.EOF && p.w > p.r {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n, err := p.header()
	if err != nil {
		return nil, err
	}
	if n < payloadMax && n <= len(p.window)-headerBytes {
		if err := p.fill(headerBytes + n); err != nil {
			return nil, noEOF(err)
		}
		payload := p.window[p.r+headerBytes : p.r+headerBytes+n : p.r+headerBytes+n]
		p.r += headerBytes + n
		return payload, nil
	}
	return p.assemble(n)
}

// release returns the buffer of the last payload to the pool.
func (p *packetReader) release() {
	if p.big != nil {
		p.pool.put(p.big)
		p.big = nil
		_ = p.held.set(heldPacket, 0)
	}
}

// header checks the header at the front of the window, without consuming it, and returns the payload's length.
func (p *packetReader) header() (int, error) {
	h := p.window[p.r : p.r+headerBytes]
	if h[3] != p.seq {
		return 0, errOutOfOrder
	}
	p.seq++
	n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if n > p.limit {
		return 0, errTooLarge
	}
	return n, nil
}

// assemble joins the packet whose header is at the front of the window with those that continue it.
func (p *packetReader) assemble(n int) ([]byte, error) {
	length := 0
	for {
		p.r += headerBytes
		if err := p.body(length, n); err != nil {
			return nil, noEOF(err)
		}
		length += n
		if n < payloadMax {
			return p.big.b[:length:length], nil
		}
		if err := p.fill(headerBytes); err != nil {
			return nil, noEOF(err)
		}
		var err error
		if n, err = p.header(); err != nil {
			return nil, err
		}
		if length+n > p.limit {
			return nil, errTooLarge
		}
	}
}

// body reads n bytes to big[at:].
func (p *packetReader) body(at, n int) error {
	for n > 0 {
		if err := p.grow(at, n); err != nil {
			return err
		}
		if p.w > p.r {
			c := copy(p.big.b[at:min(len(p.big.b), at+n)], p.window[p.r:p.w])
			p.r += c
			at, n = at+c, n-c
			continue
		}
		if p.partial != nil {
			p.partial()
		}
		got, err := p.read(p.big.b[at:min(len(p.big.b), at+n)])
		if err != nil {
			return err
		}
		at, n = at+got, n-got
	}
	return nil
}

// grow makes room at big[at:], of which n bytes are announced. The buffer grows by factors of what has arrived, so that a
// client that only announces much makes the server hold little, and joining many packets copies each byte a few times.
func (p *packetReader) grow(at, n int) error {
	switch {
	case p.big == nil:
		p.big = p.pool.get(min(n, growStep))
	case at == len(p.big.b):
		size := at + min(n, 3*at)
		if at >= payloadMax {
			size = max(size, at+at/2)
		}
		if err := p.held.set(heldPacket, size); err != nil {
			return err
		}
		larger := p.pool.get(size)
		copy(larger.b, p.big.b[:at])
		p.pool.put(p.big)
		p.big = larger
	}
	return nil
}

// fill reads until the window holds need unread bytes; need is at most its size.
func (p *packetReader) fill(need int) error {
	if p.w-p.r >= need {
		return nil
	}
	if p.r == p.w {
		p.r, p.w = 0, 0
	} else if p.r+need > len(p.window) {
		p.w = copy(p.window, p.window[p.r:p.w])
		p.r = 0
	}
	for p.w-p.r < need {
		if p.w > p.r && p.partial != nil {
			p.partial()
		}
		end := len(p.window)
		if p.exact {
			end = p.r + need
		}
		n, err := p.read(p.window[p.w:end])
		if err != nil {
			return err
		}
		p.w += n
	}
	return nil
}

func (p *packetReader) read(dst []byte) (int, error) {
	for range emptyReadMax {
		n, err := p.src.Read(dst)
		p.total += uint64(n)
		if n > 0 {
			return n, nil // an error comes back with the next read
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// noEOF marks an end of the stream inside a packet.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
