package wire

import (
	"sync"

	"github.com/pandodb/pando/sqlapi"
)

// Sizes of buffers. What a connection keeps while it idles is windowBytes plus at most outKeepBytes.
const (
	windowBytes     = 4 << 10               // reads land here; a command that fits is never copied
	outInitialBytes = 1 << 10               // first write buffer
	outKeepBytes    = 4 << 10               // largest write buffer kept between commands
	outBigBytes     = 128 << 10             // pooled write buffer of large answers: flushBytes and room for rows
	flushBytes      = 64 << 10              // an answer is written out when this much has gathered and its producer can wait
	flushLastBytes  = sqlapi.AnswerBytesMax // it is written out at this size in any case
	poolMinShift    = 13                    // 8 KiB
	poolMaxShift    = 20                    // 1 MiB; larger buffers are left to the collector
	growStep        = 16 << 10              // how much is allocated on a client's word alone
)

// buffer is a pooled byte slice. The struct travels with its bytes so that putting it back allocates nothing.
type buffer struct{ b []byte }

// bufferPool hands out byte slices by power of two. Safe for concurrent use.
type bufferPool struct {
	classes [poolMaxShift - poolMinShift + 1]sync.Pool
}

// get returns a buffer of length and capacity at least n.
func (p *bufferPool) get(n int) *buffer {
	for class := range p.classes {
		if size := 1 << (poolMinShift + class); n <= size {
			if b, ok := p.classes[class].Get().(*buffer); ok {
				return b
			}
			return &buffer{b: make([]byte, size)}
		}
	}
	return &buffer{b: make([]byte, n)}
}

// put takes a buffer back; the caller forgets it and all slices of it.
func (p *bufferPool) put(b *buffer) {
	b.b = b.b[:cap(b.b)]
	for class := range p.classes {
		if len(b.b) == 1<<(poolMinShift+class) {
			p.classes[class].Put(b)
			return
		}
	}
}
