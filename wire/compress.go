package wire

import (
	"compress/zlib"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/pandodb/pando/types"
)

const (
	compressHeader  = 7
	compressMin     = 50      // shorter payloads are sent as they are
	compressPartMax = 1 << 20 // bytes compressed into one packet
	compressLevel   = zlib.BestSpeed
	algorithmZlib   = "zlib"
	algorithmZstd   = "zstd"
)

var errCompressed = errors.New("malformed compressed packet")

// compressed is the compression layer of CLIENT_COMPRESS and CLIENT_ZSTD_COMPRESSION_ALGORITHM between packets and the socket. Read
// decompresses only as much as is asked for, so that a small packet which claims to hold much costs no memory. It belongs to the connection's goroutine.
type compressed struct {
	inner io.ReadWriter
	codec codec
	held  *held // of the connection, for inflow
	seq   byte  // of the next packet written
	// The packet being read: body yields its content, of which left bytes are to come; raw is the rest of it in the inner stream.
	raw    io.LimitedReader
	body   io.Reader
	left   int
	inflow io.Reader // of the codec; set while body is compressed
	out    packetBuffer
	err    error // sticky, of reading
}

// codec compresses packets, each independently. Its encoders and decoders are large, and pooled for all connections.
type codec interface {
	// inflate returns a reader of the decompressed src, to be passed to done when it has been read to its end. room is called with the number of
	// bytes before a large allocation, and may refuse it.
	inflate(src *io.LimitedReader, room func(bytes int) error) (io.Reader, error)
	done(r io.Reader)
	// deflate appends b to out, compressed.
	deflate(out *packetBuffer, b []byte) error
}

// packetBuffer is a packet that an encoder appends to.
type packetBuffer struct{ b []byte }

func (p *packetBuffer) Write(b []byte) (int, error) {
	p.b = append(p.b, b...)
	return len(b), nil
}

// compression returns the method that the client has asked for and its level, an empty name for none. Of both methods zlib wins, as in MySQL.
func (c *conn) compression() (algorithm string, level int) {
	switch {
	case c.caps&capCompress != 0:
		return algorithmZlib, compressLevel
	case c.caps&capZstd != 0:
		return algorithmZstd, c.zstdLevel
	}
	return "", 0
}

// startCompression inserts the compression layer that the client has asked for, if any.
func (c *conn) startCompression() {
	layer := &compressed{inner: c.stream, held: &c.held}
	switch algorithm, level := c.compression(); algorithm {
	case algorithmZlib:
		layer.codec = &c.srv.zlib
	case algorithmZstd:
		layer.codec = c.srv.zstd.codec(level)
	default:
		return
	}
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
	case err != nil:
		z.err = z.inflateFault(err)
	}
	if n == 0 {
		return 0, z.err
	}
	return n, nil
}

// inflateFault returns errCompressed for bytes that do not decompress, and failures of the socket or of memory as they are.
func (z *compressed) inflateFault(err error) error {
	if _, ok := errors.AsType[net.Error](err); ok || z.raw.N > 0 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		return err
	}
	if refused, ok := errors.AsType[*types.Error](err); ok { // there is no memory
		return refused
	}
	return errCompressed
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
	inflow, err := z.codec.inflate(&z.raw, func(bytes int) error { return z.held.set(heldInflow, bytes) })
	if err != nil {
		return z.inflateFault(err)
	}
	z.inflow, z.body = inflow, inflow
	return nil
}

// endPacket checks that the compressed packet ends here, checksum included, and skips to the next header.
func (z *compressed) endPacket() error {
	if z.inflow == nil {
		return nil
	}
	var probe [1]byte
	n, err := z.inflow.Read(probe[:])
	if n != 0 || err != io.EOF {
		return errCompressed // it holds more than it says, or its checksum is wrong
	}
	z.codec.done(z.inflow)
	z.inflow = nil
	_ = z.held.set(heldInflow, 0)
	_, err = io.Copy(io.Discard, &z.raw) // what the decoder has not consumed
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
		if err := z.codec.deflate(&z.out, part); err != nil {
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

// zlibCodec is the method of CLIENT_COMPRESS. Safe for concurrent use.
type zlibCodec struct{ deflaters, inflaters sync.Pool }

// inflate implements codec. The window of zlib is always 32 KiB.
func (p *zlibCodec) inflate(src *io.LimitedReader, _ func(int) error) (io.Reader, error) {
	if r, ok := p.inflaters.Get().(io.Reader); ok {
		return r, r.(zlib.Resetter).Reset(src, nil)
	}
	return zlib.NewReader(src)
}

func (p *zlibCodec) done(r io.Reader) { p.inflaters.Put(r) }

func (p *zlibCodec) deflate(out *packetBuffer, b []byte) error {
	w, ok := p.deflaters.Get().(*zlib.Writer)
	if !ok {
		var err error
		if w, err = zlib.NewWriterLevel(out, compressLevel); err != nil {
			return err
		}
	} else {
		w.Reset(out)
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	w.Reset(io.Discard) // so that the pool does not keep this connection alive
	p.deflaters.Put(w)
	return nil
}
