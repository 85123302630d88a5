package wire

import (
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"sync"
)

const (
	compressHeader  = 7
	compressMin     = 50      // shorter payloads are sent as they are
	compressPartMax = 1 << 20 // bytes compressed into one packet
	compressLevel   = zlib.BestSpeed
)

var errCompressed = errors.New("malformed compressed packet")

// compressed is the compression layer of CLIENT_COMPRESS between packets and the socket. Reading inflates as bytes are asked
// for, so that a small packet which claims to hold much costs no memory. It belongs to the connection's goroutine.
type compressed struct {
	inner io.ReadWriter
	pools *compressPools
	seq   byte // of the next packet written
	// The packet being read: body yields its content, of which left bytes are to come; raw is what is left of it on the wire.
	raw    io.LimitedReader
	body   io.Reader
	left   int
	inflow *inflater // set while body is compressed
	out    packetBuffer
	err    error // sticky, of reading
}

// compressPools shares the large states of zlib between connections. Safe for concurrent use.
type compressPools struct{ deflaters, inflaters sync.Pool }

type inflater struct{ r io.ReadCloser }

// packetBuffer collects what a zlib writer gives.
type packetBuffer struct{ b []byte }

func (p *packetBuffer) Write(b []byte) (int, error) {
	p.b = append(p.b, b...)
	return len(b), nil
}

func (c *conn) startCompression() {
	layer := &compressed{inner: c.stream, pools: &c.srv.zlib}
	layer.raw.R = c.stream
	c.inStream(layer)
}

// inStream puts a layer between the connection's packets and its socket. Nothing may have been read ahead.
func (c *conn) inStream(layer io.ReadWriter) {
	if c.in.r != c.in.w {
		panic("wire: bytes were read ahead of a layer")
	}
	c.stream, c.in.src = layer, layer
}

// Read implements io.Reader.
func (z *compressed) Read(dst []byte) (int, error) {
	for z.left == 0 && z.err == nil {
		z.err = z.nextPacket()
	}
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.body.Read(dst[:min(len(dst), z.left)])
	z.left -= n
	switch {
	case z.left == 0:
		z.err = z.endPacket() // reported by the next call
	case err == io.EOF && z.raw.N > 0:
		z.err = io.ErrUnexpectedEOF // the stream broke off
	case err == io.EOF:
		z.err = errCompressed // the packet holds less than it says
	default:
		z.err = inflateFault(err)
	}
	if n == 0 {
		return 0, z.err
	}
	return n, nil
}

// inflateFault tells bytes that do not inflate from failures of the socket below.
func inflateFault(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || err == zlib.ErrChecksum || err == zlib.ErrHeader || err == zlib.ErrDictionary {
		return errCompressed
	}
	return err
}

// nextPacket reads a header and prepares body.
func (z *compressed) nextPacket() error {
	var h [compressHeader]byte
	if _, err := io.ReadFull(z.inner, h[:]); err != nil {
		return err
	}
	z.seq = h[3] + 1
	z.raw.N = int64(h[0]) | int64(h[1])<<8 | int64(h[2])<<16
	z.left = int(h[4]) | int(h[5])<<8 | int(h[6])<<16
	if z.left == 0 {
		z.left, z.body = int(z.raw.N), &z.raw
		return nil
	}
	var err error
	if z.inflow, _ = z.pools.inflaters.Get().(*inflater); z.inflow == nil {
		z.inflow = &inflater{}
		z.inflow.r, err = zlib.NewReader(&z.raw)
	} else {
		err = z.inflow.r.(zlib.Resetter).Reset(&z.raw, nil)
	}
	if err != nil {
		z.inflow = nil
		return inflateFault(err)
	}
	z.body = z.inflow.r
	return nil
}

// endPacket skips what is left of the packet: the checksum, which the next header follows.
func (z *compressed) endPacket() error {
	if z.inflow == nil {
		return nil
	}
	var probe [1]byte
	n, err := z.inflow.r.Read(probe[:])
	if n != 0 || err != io.EOF {
		return errCompressed // it holds more than it says, or its checksum is wrong
	}
	z.pools.inflaters.Put(z.inflow)
	z.inflow = nil
	_, err = io.Copy(io.Discard, &z.raw)
	return err
}

// Write implements io.Writer: one call of it on the inner layer per compressPartMax bytes.
func (z *compressed) Write(b []byte) (int, error) {
	written := 0
	for len(b) > 0 {
		part := b[:min(len(b), compressPartMax)]
		if err := z.writePart(part); err != nil {
			return written, err
		}
		written += len(part)
		b = b[len(part):]
	}
	return written, nil
}

func (z *compressed) writePart(part []byte) error {
	z.out.b = append(z.out.b[:0], make([]byte, compressHeader)...)
	plain := 0
	if len(part) >= compressMin {
		if err := z.deflate(part); err != nil {
			return err
		}
		plain = len(part)
	}
	if plain == 0 || len(z.out.b) >= compressHeader+len(part) {
		plain = 0 // it did not shrink
		z.out.b = append(z.out.b[:compressHeader], part...)
	}
	n, h := len(z.out.b)-compressHeader, z.out.b
	h[0], h[1], h[2], h[3] = byte(n), byte(n>>8), byte(n>>16), z.seq
	h[4], h[5], h[6] = byte(plain), byte(plain>>8), byte(plain>>16)
	z.seq++
	_, err := z.inner.Write(z.out.b)
	if cap(z.out.b) > outKeepBytes {
		z.out.b = nil
	}
	return err
}

func (z *compressed) deflate(part []byte) error {
	w, ok := z.pools.deflaters.Get().(*zlib.Writer)
	if !ok {
		var err error
		if w, err = zlib.NewWriterLevel(&z.out, compressLevel); err != nil {
			return err
		}
	} else {
		w.Reset(&z.out)
	}
	if _, err := w.Write(part); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	w.Reset(io.Discard) // so that the pool does not keep this connection alive
	z.pools.deflaters.Put(w)
	return nil
}
