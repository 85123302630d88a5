package wire

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdLevelMin, zstdLevelMax = 1, 22 // that a client may ask for
	// Decoders are pooled by the largest window that they take. The largest of all is a whole packet, at the highest level.
	zstdWindowMin, zstdWindowSteps, zstdWindowFactor = 64 << 10, 5, 4
	// zstdWindowKept is from which window on a decoder is not kept.
	zstdWindowKept = 1 << 20
	// zstdBlockBytes is about what a decoder takes besides two windows.
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

// zstdInflater is a decoder of frames up to a window, and the beginning of a packet, which has been looked at.
type zstdInflater struct {
	*zstd.Decoder
	step int
	head [zstd.HeaderMaxSize]byte
	read []byte // of head, what the decoder has not read
	rest io.Reader
}

// zstdSource is the packet as the decoder reads it.
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

// frameWindow is the window of a frame; one in a single segment is its own.
func frameWindow(h *zstd.Header) uint64 {
	if h.SingleSegment {
		return h.FrameContentSize
	}
	return h.WindowSize
}

// inflate implements codec. A frame of a few bytes may ask for the largest window, which the decoder allocates before it reads more: so the frame's
// head decides about the decoder, which takes no later frame with a larger window, and its memory is asked for first.
func (p *zstdCodec) inflate(src *io.LimitedReader, room func(int) error) (inflater, error) {
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

func (p *zstdCodec) done(r inflater) {
	z := r.(*zstdInflater)
	z.rest = nil                                                           // so that the pool does not keep this connection alive
	if zstdWindowMin<<(2*z.step) < zstdWindowKept && z.Reset(nil) == nil { // what the pool keeps is not counted
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
