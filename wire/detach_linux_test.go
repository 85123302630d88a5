package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// isDetached may be called by any goroutine.
func (s *socket) isDetached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base == nil
}

// detachedPair returns a socket out of the poller, and its client. The socket is closed when the test ends.
func detachedPair(t *testing.T) (*socket, net.Conn) {
	t.Helper()
	s, client := socketPair(t)
	t.Cleanup(func() { _ = s.Close() }) // the test may have done so
	detachNow(t, s, client)
	return s, client
}

// detachNow makes a read find nothing on a connection that has been alone for a while.
func detachNow(t *testing.T, s *socket, client net.Conn) {
	t.Helper()
	buf := make([]byte, 10)
	for try := 0; !s.isDetached(); try++ {
		if try == 10_000 {
			t.Fatal("the socket stays in the poller")
		}
		s.alone, s.reads = true, detachReads
		go func() { _, _ = client.Write(ring) }() // after the read began, most often; an error fails the read
		if n, err := s.Read(buf); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
}

// TestDetach: reads and writes out of the poller move the same bytes and allocate nothing, whether they have to wait or not.
func TestDetach(t *testing.T) {
	s, client := detachedPair(t)
	send := make(chan struct{})
	defer close(send)
	go func() {
		for range send {
			if _, err := client.Write(ring); err != nil {
				t.Error(err)
			}
		}
	}()
	buf := make([]byte, 10)
	waits := 0
	n := testing.AllocsPerRun(200, func() {
		if s.isDetached() {
			waits++
		}
		s.waited = false
		send <- struct{}{}
		if n, err := s.Read(buf); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if !s.waited && s.isDetached() {
			waits--
		}
	})
	if n >= 1 || waits == 0 { // now and then the machine keeps the byte for longer than detachedMax
		t.Errorf("%v allocations; %d reads waited out of the poller", n, waits)
	}
	detachNow(t, s, client)
	if n := testing.AllocsPerRun(50, func() {
		if n, err := s.Write(buf); n != len(buf) || err != nil {
			t.Fatal(n, err)
		}
		if _, err := io.ReadFull(client, buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 || !s.isDetached() {
		t.Errorf("%v allocations of a write out of the poller, detached %v", n, s.isDetached())
	}
	if s.RemoteAddr().String() != client.LocalAddr().String() {
		t.Error("the socket has lost its peer's address")
	}

	_ = client.Close()
	if n, err := s.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d %v", n, err)
	}
}

// TestAttach: what has to wait for long, or is not alone any more, goes back into the poller and does its work there.
func TestAttach(t *testing.T) {
	s, client := detachedPair(t)
	buf := make([]byte, 10)
	go func() {
		for s.isDetached() {
			time.Sleep(time.Millisecond)
		}
		_, _ = client.Write(ring) // an error fails the read
	}()
	if n, err := s.Read(buf); n != 1 || err != nil || s.isDetached() || !s.waited {
		t.Fatalf("a read that waits for long: %d %v, detached %v, waited %v", n, err, s.isDetached(), s.waited)
	}

	detachNow(t, s, client)
	s.alone = false
	if _, err := client.Write(ring); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Read(buf); n != 1 || err != nil || s.isDetached() {
		t.Fatalf("a read with others about: %d %v, detached %v", n, err, s.isDetached())
	}

	detachNow(t, s, client)
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // more than the kernel keeps
	got := make(chan []byte)
	go func() {
		for s.isDetached() {
			time.Sleep(time.Millisecond)
		}
		b := make([]byte, len(large))
		if _, err := io.ReadFull(client, b); err != nil {
			t.Error(err)
		}
		got <- b
	}()
	if n, err := s.Write(large); n != len(large) || err != nil || s.isDetached() {
		t.Fatalf("a write that waits: %d %v, detached %v", n, err, s.isDetached())
	}
	if !bytes.Equal(<-got, large) {
		t.Fatal("the client got something else")
	}
}

// TestDetachedInterrupted: other goroutines end waits out of the poller by deadlines, and as with net.Conn they stay until they are
// changed.
func TestDetachedInterrupted(t *testing.T) {
	buf := make([]byte, 10)
	read := func(s *socket) {
		t.Helper()
		if _, err := s.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a read past its deadline: %v", err)
		}
	}
	t.Run("before the read", func(t *testing.T) {
		s, client := detachedPair(t)
		if err := s.SetReadDeadline(longAgo); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write(ring); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			read(s)
		}
		if err := s.SetReadDeadline(noDeadline); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Read(buf); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	})
	t.Run("within the read", func(t *testing.T) {
		s, _ := detachedPair(t)
		go func() {
			_ = s.SetReadDeadline(longAgo) // checked by the read
		}()
		read(s)
	})
	t.Run("a deadline keeps it in the poller", func(t *testing.T) {
		s, _ := socketPair(t)
		if err := s.SetReadDeadline(longAgo); err != nil {
			t.Fatal(err)
		}
		if s.detach() {
			t.Error("detached, which would lose the deadline")
		}
		s.alone, s.reads = true, detachReads
		read(s)
	})
	t.Run("a write", func(t *testing.T) {
		s, _ := detachedPair(t)
		if err := s.SetWriteDeadline(longAgo); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Write(buf); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a write past its deadline: %d %v", n, err)
		}
	})
}

// TestDetachedEnds: other goroutines see a client that has gone, can hang up, and leave no descriptor behind.
func TestDetachedEnds(t *testing.T) {
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := descriptors()
	for range 20 {
		s, client := detachedPair(t)
		if s.peerGone() {
			t.Fatal("the client is there")
		}
		_ = client.Close()
		eventually(t, "the client has gone", s.peerGone)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		s, client = detachedPair(t)
		go s.hangUp()
		if _, err := s.Read(make([]byte, 10)); err == nil {
			t.Fatal("a read of a socket that was hung up")
		}
		if _, err := s.Write(ring); err == nil {
			t.Fatal("a write to a socket that was hung up")
		}
		if n, err := client.Read(make([]byte, 10)); n != 0 || err == nil {
			t.Fatalf("the client reads %d bytes, %v", n, err)
		}
		_ = s.Close()
		_ = client.Close()

		s, client = detachedPair(t)
		if err := s.closeWrite(); err != nil {
			t.Fatal(err)
		}
		if n, err := client.Read(make([]byte, 10)); n != 0 || err != io.EOF {
			t.Fatalf("the client reads %d bytes, %v", n, err)
		}
		if _, err := client.Write(ring); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		_ = s.Close()
		_ = client.Close()
	}
	if after := descriptors(); after > before+10 { // other tests' connections may end beside
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// TestDetachedStream: bytes arrive in order and once, however often the socket goes in and out of the poller.
func TestDetachedStream(t *testing.T) {
	s, client := socketPairOn(t, "unix", filepath.Join(t.TempDir(), "s"))
	t.Cleanup(func() { _ = s.Close() })
	random := testkit.Rand(testkit.Seed(t), 1)
	const total = 200_000
	go func() {
		random := testkit.Rand(testkit.Seed(t), 2)
		b := make([]byte, 0, 300)
		for sent := 0; sent < total; sent += len(b) {
			b = b[:min(1+random.IntN(cap(b)), total-sent)]
			for i := range b {
				b[i] = byte((sent + i) % 251)
			}
			if _, err := client.Write(b); err != nil {
				t.Error(err)
				return
			}
			if random.IntN(10) == 0 {
				time.Sleep(time.Duration(random.IntN(4)) * time.Millisecond)
			}
		}
	}()
	buf := make([]byte, 200)
	detached, switches := false, 0
	for got := 0; got < total; {
		s.alone, s.reads = random.IntN(20) > 0, detachReads
		n, err := s.Read(buf[:1+random.IntN(len(buf))])
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range buf[:n] {
			if b != byte((got+i)%251) {
				t.Fatalf("byte %d is %d", got+i, b)
			}
		}
		got += n
		if now := s.isDetached(); now != detached {
			detached = now
			switches++
		}
	}
	if switches < 10 {
		t.Errorf("in and out of the poller %d times only", switches)
	}
}

// TestLoneConnection: one client that sends commands without a pause is taken out of the poller; it is killed there, made to share with
// another one, and the server shuts down beside it.
func TestLoneConnection(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("a lone connection stays in the poller where it has no processor to itself")
	}
	ts := startServer(t, nil)
	ctx := context.Background()
	db := ts.open(t, "root", "", "")
	var c *conn
	detached := func() {
		t.Helper()
		if err := db.Ping(); err != nil {
			t.Fatal(err)
		}
		c = ts.snapshot(nil)[0]
		for deadline := time.Now().Add(patience); !c.sock.isDetached(); {
			if time.Now().After(deadline) {
				t.Fatal("the connection stays in the poller")
			}
			if _, err := db.ExecContext(ctx, "OK"); err != nil {
				t.Fatal(err)
			}
		}
	}
	detached()
	eventually(t, "an idle connection goes back", func() bool { return !c.sock.isDetached() })
	detached()
	ts.Kill(c.id, false)
	eventually(t, "the killed connection is gone", func() bool { return ts.OpenConnections() == 0 })

	detached()
	other := ts.open(t, "root", "", "")
	for deadline := time.Now().Add(patience); c.srv.lone.Load() || c.sock.isDetached(); {
		if time.Now().After(deadline) {
			t.Fatal("the connection is not alone and stays out of the poller")
		}
		for range 10 {
			if _, err := db.ExecContext(ctx, "OK"); err != nil {
				t.Fatal(err)
			}
			if _, err := other.ExecContext(ctx, "OK"); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = other.Close()
	eventually(t, "the other one is gone", func() bool { return ts.OpenConnections() == 1 })
	detached()
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := ts.Shutdown(patient); err != nil {
		t.Error(err)
	}
}
