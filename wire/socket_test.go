package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// socketPair returns a socket and its client.
func socketPair(t *testing.T, network, address string) (socket, net.Conn) {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial(network, listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return newSocket(conn), client
}

// TestPeerGone: a client is gone when it has closed or reset the connection and all that it sent has been read, and asking takes nothing
// of what it has sent.
func TestPeerGone(t *testing.T) {
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		t.Run(network, func(t *testing.T) {
			s, client := socketPair(t, network, address)
			if s.peerGone() {
				t.Error("a client that is there is gone")
			}
			if _, err := client.Write([]byte("ab")); err != nil {
				t.Fatal(err)
			}
			_ = client.Close()
			if s.peerGone() {
				t.Error("a client is gone whose bytes have not been read")
			}
			got := make([]byte, 2)
			if _, err := io.ReadFull(&s, got); err != nil || string(got) != "ab" {
				t.Fatalf("%q, %v", got, err)
			}
			eventually(t, "the client is gone", s.peerGone)
		})
	}
	s, client := socketPair(t, "tcp", "127.0.0.1:0")
	if err := client.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = client.Close() // resets
	eventually(t, "the client is gone", s.peerGone)
	_ = s.Close()
	if !s.peerGone() {
		t.Error("a socket that is closed here has a client")
	}
	near, far := net.Pipe()
	_ = far.Close()
	if s := newSocket(near); s.peerGone() {
		t.Error("nothing is known of a connection that is no socket")
	}
}

// TestCloseWrite: the client reads the end of the stream, and what it sends still arrives.
func TestCloseWrite(t *testing.T) {
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		s, client := socketPair(t, network, address)
		if err := s.closeWrite(); err != nil {
			t.Fatal(err)
		}
		if n, err := client.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%s: the client reads %d bytes, %v", network, n, err)
		}
		if _, err := client.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Read(make([]byte, 2)); n != 1 || err != nil {
			t.Errorf("%s: the server reads %d bytes, %v", network, n, err)
		}
	}
	near, _ := net.Pipe()
	if s := newSocket(near); !errors.Is(s.closeWrite(), errors.ErrUnsupported) {
		t.Error("a pipe was half closed")
	}
}

// TestPipelined: clients that send many commands before they read an answer get one for each.
func TestPipelined(t *testing.T) {
	const commands = 2000
	ts := startServer(t, nil)
	var wg sync.WaitGroup
	for range 4 {
		r := ts.dial(t)
		r.login(capProtocol41|capPluginAuth, "root")
		wg.Go(func() {
			if _, err := r.conn.Write(bytes.Repeat([]byte{1, 0, 0, 0, ComPing}, commands)); err != nil {
				t.Error(err)
				return
			}
			for i := range commands {
				if p, err := r.tryRead(); err != nil || p[0] != headerOK {
					t.Errorf("answer %d: %x, %v", i, p, err)
					return
				}
			}
		})
	}
	promptly(t, 10*time.Second, wg.Wait)
}
