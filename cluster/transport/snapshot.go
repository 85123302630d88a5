package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/pandodb/pando/clock"
)

// pieceBytesMax bounds a frame of a snapshot.
const pieceBytesMax = 256 << 10

// SnapshotWriter sends a snapshot. Its methods are called by one goroutine at a time.
type SnapshotWriter struct {
	t      *Transport
	conn   net.Conn
	cancel func() bool // takes the end of the context back
	ended  bool

	mu sync.Mutex // held over writing a frame
	wg sync.WaitGroup

	stop    chan struct{} // closed when nothing more is said
	done    chan struct{} // closed when nothing more is heard
	verdict error         // the receiver's; written before done is closed
	heard   bool          // there is one
}

// Snapshot begins to send a region's snapshot. The receiver has it when Close returns without an error; Abort, or the end of ctx before
// that, leaves it without.
func (t *Transport) Snapshot(ctx context.Context, to, region uint64) (*SnapshotWriter, error) {
	c, _, err := t.dial(ctx, to, hello{purpose: forSnapshot, region: region})
	if err != nil {
		if refused, is := errors.AsType[*RefusedError](err); is && refused.Reason == RefusedBusy {
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		return nil, err
	}
	w := &SnapshotWriter{t: t, conn: c, stop: make(chan struct{}), done: make(chan struct{})}
	w.cancel = context.AfterFunc(ctx, func() { _ = c.Close() }) // the writer finds out by it
	started := t.spawn(func() { w.listen() })
	if !started {
		close(w.done)
		w.Abort()
		return nil, ErrClosed
	}
	w.wg.Go(func() { beat(&w.mu, c, w.stop, t.delays) })
	t.metrics.SnapshotsSent.Inc()
	return w, nil
}

// listen waits for the verdict.
func (w *SnapshotWriter) listen() {
	defer close(w.done)
	defer func() { _ = w.conn.Close() }() // which ends a write that waits
	r := bufio.NewReader(progress{w.conn, w.t.delays.dead})
	for {
		k, payload, err := readFrame(r, helloBytesMax)
		switch {
		case err != nil:
			w.verdict = fmt.Errorf("%w: the receiver of a snapshot: %w", ErrUnreachable, err)
			return
		case k == kindPing:
		case k == kindVerdict && len(payload) > 0:
			w.heard = true
			if payload[0] != statusOK {
				w.verdict = &RemoteError{string(payload[1:])}
			}
			return
		default:
			w.verdict = fmt.Errorf("%w: the receiver of a snapshot sent a frame of kind %d", ErrUnreachable, k)
			return
		}
	}
}

// Write implements io.Writer.
func (w *SnapshotWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		piece := b[n:min(n+pieceBytesMax, len(b))]
		if err := w.frame(kindData, piece); err != nil {
			return n, w.fault(err)
		}
		n += len(piece)
		w.t.metrics.SnapshotBytes.Add(uint64(len(piece)))
	}
	return n, nil
}

// frame writes one frame. It waits for as long as the receiver does, which listen knows to be alive.
func (w *SnapshotWriter) frame(k kind, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := appendFrame(make([]byte, 0, headerBytes+len(payload)), k, nil, payload)
	w.t.metrics.SentBytes.Add(uint64(len(b)))
	_, err := w.conn.Write(b)
	return err
}

// fault prefers what the receiver said over how the connection ended.
func (w *SnapshotWriter) fault(err error) error {
	_ = w.conn.Close() // nothing more is sent
	<-w.done
	if w.verdict != nil {
		return w.verdict
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// Close says that the snapshot is complete, and returns what the receiver made of it. It may be called again, or after Abort, without effect.
func (w *SnapshotWriter) Close() error {
	if w.ended {
		return nil
	}
	err := w.frame(kindEnd, nil)
	if err != nil {
		err = w.fault(err)
	} else {
		<-w.done
		err = w.verdict
	}
	w.finish()
	if err == nil && !w.heard {
		return ErrUnreachable
	}
	return err
}

// Abort leaves the receiver without the snapshot. It has no effect after Close.
func (w *SnapshotWriter) Abort() {
	if !w.ended {
		_ = w.conn.Close() // the receiver reads no end
		<-w.done
		w.finish()
	}
}

func (w *SnapshotWriter) finish() {
	w.ended = true
	w.cancel()
	close(w.stop)
	w.wg.Wait()
	w.t.forget(w.conn)
}

// beat says every now and then that this side is alive.
func beat(mu *sync.Mutex, c net.Conn, stop <-chan struct{}, d delays) {
	ticker := clock.NewTicker(d.ping)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		mu.Lock()
		_, err := c.Write(appendFrame(nil, kindPing, nil, nil))
		mu.Unlock()
		if err != nil {
			return // whoever reads finds out as well
		}
	}
}

// receiveSnapshot has the handler take a snapshot, and sends its verdict.
func (t *Transport) receiveSnapshot(c *tls.Conn, h *hello) {
	r := &snapshotReader{t: t, r: bufio.NewReaderSize(progress{c, t.delays.dead}, chunkBytes)}
	var mu sync.Mutex // guards writing to c; a leaf
	var beats sync.WaitGroup
	stop := make(chan struct{})
	beats.Go(func() { beat(&mu, c, stop, t.delays) })
	t.metrics.SnapshotsReceived.Inc()
	err := t.o.Handler.Snapshot(h.from, h.region, r)
	if err == nil && r.err != io.EOF {
		err = errors.New("the receiver did not read the snapshot to its end")
	}
	close(stop)
	_ = c.SetWriteDeadline(clock.Now().Add(t.delays.dead)) // a beat that waits ends by it
	beats.Wait()
	verdict := []byte{statusOK}
	if err != nil {
		text := err.Error()
		verdict = append([]byte{statusFailure}, text[:min(len(text), reasonBytesMax)]...)
	}
	if _, err := c.Write(appendFrame(nil, kindVerdict, verdict, nil)); err != nil {
		return
	}
	// What the sender still says is read, so that closing does not take the verdict away from it.
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(clock.Now().Add(t.delays.dead))
	_, _ = io.Copy(io.Discard, io.LimitReader(c, drainBytesMax))
}

// drainBytesMax bounds what is read behind a verdict.
const drainBytesMax = 64 << 20

// snapshotReader is what the handler reads. It ends with io.EOF only if the sender has said that it is complete.
type snapshotReader struct {
	t    *Transport
	r    *bufio.Reader
	rest []byte
	err  error // final
}

func (r *snapshotReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		k, payload, err := readFrame(r.r, pieceBytesMax)
		switch {
		case err != nil:
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			r.err = fmt.Errorf("the sender of a snapshot: %w", err)
		case k == kindData:
			r.t.metrics.ReceivedBytes.Add(uint64(len(payload) + headerBytes))
			r.rest = payload
		case k == kindEnd:
			r.err = io.EOF
		case k != kindPing:
			r.err = fmt.Errorf("the sender of a snapshot sent a frame of kind %d", k)
		}
	}
	if len(r.rest) == 0 && r.err != nil {
		return 0, r.err
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

var _ io.WriteCloser = (*SnapshotWriter)(nil)
