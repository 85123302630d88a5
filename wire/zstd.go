package wire

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdLevelMin, zstdLevelMax = 1, 22 // that a client may ask for
	// zstdWindowMax is the most that a client's frame may need in memory while it is read: a whole packet, at the highest level.
	zstdWindowMax = 16 << 20
)

// zstdCodecs are the methods of CLIENT_ZSTD_COMPRESSION_ALGORITHM, by level. The zero value is ready; safe for concurrent use.
type zstdCodecs struct {
	inflaters sync.Pool
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

func (p *zstdCodec) inflate(src io.Reader) (inflater, error) {
	if r, ok := p.inflaters.Get().(*zstd.Decoder); ok {
		return r, r.Reset(src)
	}
	return zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowMax))
}

func (p *zstdCodec) done(r inflater) {
	d := r.(*zstd.Decoder)
	if d.Reset(nil) == nil { // so that the pool does not keep this connection alive
		p.inflaters.Put(d)
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
