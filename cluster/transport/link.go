package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

// link is a connection that is kept alive: frames in both directions.
type link struct {
	t         *Transport
	conn      net.Conn
	node      uint64
	neighbour *neighbour
	out       outbox
	dialed    bool // it pings
	// onRTT hears how long pings take; nil if nobody cares.
	onRTT func(time.Duration)
	// onPing is asked at each ping whether the node may go on.
	onPing func() error

	once  sync.Once
	done  chan struct{} // closed with the link
	cause error         // why; written before done is closed
}

func (t *Transport) newLink(c net.Conn, node uint64, dialed bool) *link {
	return &link{t: t, conn: c, node: node, dialed: dialed, out: newOutbox(t), done: make(chan struct{})}
}

// end closes the link, once.
func (l *link) end(cause error) {
	l.once.Do(func() {
		l.cause = cause
		close(l.done)
		_ = l.conn.Close() // both goroutines find out by it
	})
}

// run reads frames until the link ends, and returns why. A second goroutine writes. take gets what is neither ping nor pong.
func (l *link) run(take func(k kind, payload []byte) error) error {
	var writer sync.WaitGroup
	writer.Go(func() { l.end(l.write()) })
	l.end(l.read(take))
	writer.Wait()
	if network, is := errors.AsType[net.Error](l.cause); is && network.Timeout() {
		return fmt.Errorf("%w for %v", errSilent, l.t.delays.dead)
	}
	return l.cause
}

// errSilent: a link was taken for dead.
var errSilent = errors.New("nothing was heard of it")

func (l *link) read(take func(k kind, payload []byte) error) error {
	r := bufio.NewReaderSize(progress{l.conn, l.t.delays.dead}, chunkBytes)
	for {
		k, payload, err := readFrame(r, frameBytesMax)
		if err != nil {
			return err
		}
		l.t.metrics.ReceivedBytes.Add(uint64(len(payload) + headerBytes))
		now := clock.Mono()
		l.neighbour.heard.Store(int64(now))
		switch {
		case k == kindPing && len(payload) == 8:
			if l.onPing != nil {
				if err := l.onPing(); err != nil {
					return err
				}
			}
			l.out.put(kindPong, payload, nil)
		case k == kindPong && len(payload) == 8 && l.dialed:
			if sent := time.Duration(binary.BigEndian.Uint64(payload)); sent <= now && l.onRTT != nil {
				l.onRTT(now - sent)
			}
		case k == kindPing || k == kindPong:
			return fmt.Errorf("a frame of kind %d that does not belong here", k)
		default:
			if err := take(k, payload); err != nil {
				return err
			}
		}
	}
}

// write writes what is put out, all that waits at once.
func (l *link) write() error {
	ticker := clock.NewTicker(l.t.delays.ping)
	defer ticker.Stop()
	if l.dialed {
		l.ping()
	}
	var spare []byte
	for {
		select {
		case <-l.done:
			return nil
		case <-l.out.wake:
		case <-ticker.C:
			if l.dialed {
				l.ping()
			}
		}
		b := l.out.take(spare)
		if err := writeChunks(l.conn, b, l.t.delays.dead); err != nil {
			return err
		}
		l.t.metrics.SentBytes.Add(uint64(len(b)))
		if spare = b[:0]; cap(spare) > spareBytesMax {
			spare = nil
		}
	}
}

// spareBytesMax bounds the memory that an idle link keeps.
const spareBytesMax = 1 << 20

func (l *link) ping() {
	var now [8]byte
	binary.BigEndian.PutUint64(now[:], uint64(clock.Mono()))
	l.out.put(kindPing, now[:], nil)
}

// progress is a connection's reading end, on which something has to come within a time.
type progress struct {
	conn net.Conn
	dead time.Duration
}

func (p progress) Read(b []byte) (int, error) {
	if err := p.conn.SetReadDeadline(clock.Now().Add(p.dead)); err != nil {
		return 0, err
	}
	return p.conn.Read(b)
}

// writeChunks writes with a deadline for each chunk, so that a slow network is told from a dead one.
func writeChunks(c net.Conn, b []byte, dead time.Duration) error {
	for len(b) > 0 {
		n := min(len(b), chunkBytes)
		if err := c.SetWriteDeadline(clock.Now().Add(dead)); err != nil {
			return err
		}
		if _, err := c.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// outbox is what waits to be written to a link.
type outbox struct {
	t    *Transport
	wake chan struct{} // has room for one

	mu     sync.Mutex // guards what follows; a leaf
	buf    []byte
	frames int
}

func newOutbox(t *Transport) outbox { return outbox{t: t, wake: make(chan struct{}, 1)} }

// errFull: the outbox holds as much as it may.
var errFull = errors.New("the queue is full")

// put adds a frame, whose bytes it copies, and reports whether there was room. A frame alone may be larger than the queue.
func (o *outbox) put(k kind, head, body []byte) bool {
	o.mu.Lock()
	size := headerBytes + len(head) + len(body)
	if most := o.t.o.Limits; o.frames > 0 && (len(o.buf)+size > most.QueueBytes || o.frames >= most.QueueFrames) {
		o.mu.Unlock()
		o.t.metrics.Full.Inc()
		return false
	}
	o.buf = appendFrame(o.buf, k, head, body)
	o.frames++
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return true
}

// take returns all that waits; what is put from now on goes into spare.
func (o *outbox) take(spare []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.buf
	o.buf, o.frames = spare, 0
	return b
}

// clear drops what waits, and returns how many frames that were.
func (o *outbox) clear() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.frames
	o.buf, o.frames = nil, 0
	return n
}
