package wire

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdLevelMin, zstdLevelMax = 1, 22 // that a client may ask for
	// Decoders are pooled by the largest window that they accept: zstdWindowSteps sizes in bytes, each zstdWindowFactor times the one
	// before. The last, 16 MiB, is a whole packet, which the highest level uses.
	zstdWindowMin, zstdWindowSteps, zstdWindowFactor = 64 << 10, 5, 4
	// Decoders of windows from zstdWindowKept on are not pooled, since pooled ones are not charged to anybody.
	zstdWindowKept = 1 << 20
	// zstdBlockBytes is about what a decoder allocates besides two windows.
	zstdBlockBytes = 256 << 10
)

// zstdCodecs are the methods of CLIENT_ZSTD_COMPRESSION_ALGORITHM, by level. The zero value is ready; safe for concurrent use.
type zstdCodecs struct {
	inflaters [zstdWindowSteps]sync.Pool
	encoders  [zstd.SpeedBestCompression + 1]struct {
		once sync.Once
		w    *zstd.Encoder
		err  error
	}
}

// codec returns the method of a client's level. The library knows four levels, of which the nearest is taken.
func (p *zstdCodecs) codec(level int) codec { return &zstdCodec{p, zstd.EncoderLevelFromZstd(level)} }

type zstdCodec struct {
	*zstdCodecs
	level zstd.EncoderLevel
}

// zstdInflater is a pooled decoder for frames up to some window, with the beginning of a packet, which inflate has read to find its window.
type zstdInflater struct {
	*zstd.Decoder
	step int
	head [zstd.HeaderMaxSize]byte
	read []byte    // the part of head that the decoder has not read yet
	rest io.Reader // the packet after head
}

// zstdSource is the whole packet: head, then rest.
type zstdSource struct{ z *zstdInflater }

// Read implements io.Reader.
func (s zstdSource) Read(b []byte) (int, error) {
	if z := s.z; len(z.read) > 0 {
		n := copy(b, z.read)
		z.read = z.read[n:]
		return n, nil
	}
	return s.z.rest.Read(b)
}

// frameWindow is the window that decoding a frame needs, in bytes: for a frame in a single segment, all of its content.
func frameWindow(h *zstd.Header) uint64 {
	if h.SingleSegment {
		return h.FrameContentSize
	}
	return h.WindowSize
}

// inflate implements codec. A frame of a few bytes may ask for the largest window, which the decoder allocates before it reads more. So the window in
// the frame's header selects a decoder, which refuses later frames with a larger one, and its memory is charged before it is allocated.
func (p *zstdCodec) inflate(src *io.LimitedReader, room func(int) error) (io.Reader, error) {
	var head [zstd.HeaderMaxSize]byte
	n, err := io.ReadFull(src, head[:])
	if err != nil && src.N > 0 {
		return nil, err
	}
	var h zstd.Header
	if err := h.Decode(head[:n]); err != nil {
		return nil, errCompressed
	}
	step, window := 0, zstdWindowMin
	for ; uint64(window) < frameWindow(&h); step++ {
		if step+1 == zstdWindowSteps {
			return nil, errCompressed
		}
		window *= zstdWindowFactor
	}
	if err := room(2*window + zstdBlockBytes); err != nil {
		return nil, err
	}
	z, ok := p.inflaters[step].Get().(*zstdInflater)
	if !ok {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, err
		}
		z = &zstdInflater{Decoder: d, step: step}
	}
	z.head, z.rest = head, src
	z.read = z.head[:n]
	return z, z.Reset(zstdSource{z})
}

func (p *zstdCodec) done(r io.Reader) {
	z := r.(*zstdInflater)
	z.rest = nil // so that the pool does not keep this connection alive
	if zstdWindowMin<<(2*z.step) < zstdWindowKept && z.Reset(nil) == nil {
		p.inflaters[z.step].Put(z)
	}
}

func (p *zstdCodec) deflate(out *packetBuffer, b []byte) error {
	e := &p.encoders[p.level]
	e.once.Do(func() {
		e.w, e.err = zstd.NewWriter(nil, zstd.WithEncoderLevel(p.level), zstd.WithLowerEncoderMem(true))
	})
	if e.err == nil {
		out.b = e.w.EncodeAll(b, out.b)
	}
	return e.err
}
