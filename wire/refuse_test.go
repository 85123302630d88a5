package wire

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// halves is the server's end of a connection in memory whose two directions end by themselves, as those of TCP do.
type halves struct {
	net.Conn // from the client
	out      net.Conn
}

func (h halves) Write(b []byte) (int, error) { return h.out.Write(b) }
func (h halves) CloseWrite() error           { return h.out.Close() }

func (h halves) Close() error {
	_ = h.out.Close()
	return h.Conn.Close()
}

func (h halves) SetDeadline(t time.Time) error {
	_ = h.out.SetWriteDeadline(t)
	return h.Conn.SetReadDeadline(t)
}

// TestRefusedSlowly: a client whose packet is refused while it sends gets the error, and may go on sending slowly for as long as lingerTimeMax without a
// reset; one that never ends, or is silent, is left alone.
func TestRefusedSlowly(t *testing.T) {
	for _, pace := range []struct {
		name          string
		every         time.Duration
		pieces        int
		within, after time.Duration // when the server closes
	}{
		{"for ten seconds", time.Second, 10, 12 * time.Second, 10 * time.Second},
		{"forever", time.Second, 1000, 32 * time.Second, 29 * time.Second},
		{"never again", time.Minute, 1, 3 * time.Second, 1 * time.Second},
	} {
		t.Run(pace.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := New(Options{Backend: newFakeBackend(), DisableTLS: true})
				if err != nil {
					t.Fatal(err)
				}
				in, sent := net.Pipe()
				received, out := net.Pipe()
				start, closed := time.Now(), time.Duration(0)
				c := newConn(s, 1, halves{in, out})
				done := make(chan struct{})
				go func() {
					c.reportRead(errTooLarge)
					_ = c.sock.Close()
					closed = time.Since(start)
					close(done)
				}()
				answer := make(chan []byte)
				go func() {
					b, err := io.ReadAll(received)
					if err != nil {
						t.Error(err)
					}
					answer <- b
				}()
				piece := make([]byte, 1<<10)
				for range pace.pieces {
					if _, err = sent.Write(piece); err != nil {
						break
					}
					time.Sleep(pace.every)
				}
				if early := time.Since(start) < pace.after; err != nil && early {
					t.Errorf("the client cannot send after %v: %v", time.Since(start), err)
				}
				(&rawClient{t: t}).expectError((<-answer)[4:], 1153)
				if <-done; closed < pace.after || closed > pace.within {
					t.Errorf("closed after %v, want %v to %v", closed, pace.after, pace.within)
				}
			})
		})
	}
}
