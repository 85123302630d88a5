package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/privilege/password"
)

// scriptConn plays bytes to the server and takes its answers. Reads are cut to odd sizes, so that packets arrive in pieces.
type scriptConn struct {
	in  *bytes.Reader
	out bytes.Buffer
	n   int
}

func (s *scriptConn) Read(b []byte) (int, error) {
	s.n++
	return s.in.Read(b[:min(len(b), 1+s.n*7%61)])
}
func (s *scriptConn) Write(b []byte) (int, error) {
	if s.out.Len() > 1<<20 {
		return 0, io.ErrClosedPipe
	}
	return s.out.Write(b)
}
func (s *scriptConn) Close() error                     { return nil }
func (s *scriptConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *scriptConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }
func (s *scriptConn) SetDeadline(time.Time) error      { return nil }
func (s *scriptConn) SetReadDeadline(time.Time) error  { return nil }
func (s *scriptConn) SetWriteDeadline(time.Time) error { return nil }

// fuzzServer lets everybody in as root, and counts panics.
func fuzzServer(tb testing.TB) (*Server, *fakeBackend) {
	b := newFakeBackend()
	for name := range b.users {
		if name != "root" && name != "native" {
			delete(b.users, name) // no slow hashes
		}
	}
	s, err := New(Options{Backend: b, DefaultPlugin: password.Native, MaxAllowedPacket: 1 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	return s, b
}

// play runs a connection over the input, as Serve would.
func play(s *Server, input []byte) *scriptConn {
	client := &scriptConn{in: bytes.NewReader(input)}
	c, fault := s.add(client)
	if fault != nil {
		panic(fault)
	}
	c.serve()
	return client
}

// checkPackets checks that the output is a sequence of whole packets.
func checkPackets(t *testing.T, out []byte) {
	t.Helper()
	for len(out) > 0 {
		if len(out) < headerBytes {
			t.Fatalf("%d bytes are left over", len(out))
		}
		n := int(out[0]) | int(out[1])<<8 | int(out[2])<<16
		if headerBytes+n > len(out) {
			t.Fatalf("a packet of %d bytes ends after %d", n, len(out)-headerBytes)
		}
		out = out[headerBytes+n:]
	}
}

// FuzzHandshake feeds the bytes before authentication.
func FuzzHandshake(f *testing.F) {
	addSeeds(f, "handshake")
	s, b := fuzzServer(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		client := play(s, input)
		if s.Counters().Panics > 0 {
			t.Fatal("panic")
		}
		if s.OpenConnections() != 0 || b.opened.Load() != b.closed.Load() {
			t.Fatal("something is left open")
		}
		// TLS alerts follow an SSLRequest, and compressed packets look different.
		request := bytes.HasPrefix(input, []byte{sslRequestLen, 0, 0, 1})
		if !request && (len(input) < 5 || input[4]&capCompress == 0) {
			checkPackets(t, client.out.Bytes())
		}
	})
}

// FuzzCommand feeds command packets to a session: each input is one or more payloads, separated by the marker.
func FuzzCommand(f *testing.F) { fuzzCommands(f, "command", rawCaps) }

// FuzzAttributes is FuzzCommand for a client that sends query attributes.
func FuzzAttributes(f *testing.F) { fuzzCommands(f, "attributes", rawCaps|capQueryAttributes) }

func fuzzCommands(f *testing.F, seeds string, caps uint32) {
	addSeeds(f, seeds)
	s, b := fuzzServer(f)
	login := append([]byte{0, 0, 0, 1}, handshakeResponse(caps, "root", nil, password.Native)...)
	login[0] = byte(len(login) - headerBytes)
	prepare := withHeader(append([]byte{ComStmtPrepare}, "ECHO ? ?"...))
	f.Fuzz(func(t *testing.T, input []byte) {
		if slowVerb(input) {
			return
		}
		script := append(append([]byte{}, login...), prepare...)
		for _, payload := range bytes.Split(input, []byte("|NEXT|")) {
			header := binary.LittleEndian.AppendUint32(nil, uint32(len(payload))&0xffffff)
			script = append(append(script, header...), payload...)
		}
		client := play(s, script)
		if s.Counters().Panics > 0 {
			t.Fatal("panic")
		}
		if s.OpenConnections() != 0 || b.opened.Load() != b.closed.Load() {
			t.Fatal("something is left open")
		}
		checkPackets(t, client.out.Bytes())
	})
}

// slowVerb keeps the toy language's verbs that wait, panic or answer at length out of the fuzzer.
func slowVerb(input []byte) bool {
	text := strings.ToUpper(string(input))
	for _, verb := range []string{"SLEEP", "STUBBORN", "PANIC", "ROWS", "HALF"} {
		if strings.Contains(text, verb) {
			return true
		}
	}
	return false
}

// addSeeds adds the inputs of testdata/<name>.txt: one Go string literal per line.
func addSeeds(f *testing.F, name string) {
	b, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		seed, err := strconv.Unquote(line)
		if err != nil {
			f.Fatalf("%s.txt line %d: %v", name, i+1, err)
		}
		f.Add([]byte(seed))
	}
}
