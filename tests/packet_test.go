package tests

import (
	encoding "encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// rawClient speaks the protocol byte by byte, as no driver would.
type rawClient struct {
	t    testing.TB
	conn net.Conn
	seq  byte
}

const (
	rawDeadline = 60 * time.Second
	// rawCaps are PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH and LONG_PASSWORD.
	rawCaps = 1 | 1<<9 | 1<<15 | 1<<19
)

func (n *node) dial() *rawClient {
	n.t.Helper()
	conn, err := net.Dial("tcp", n.mysql)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(rawDeadline)); err != nil {
		n.t.Fatal(err)
	}
	return &rawClient{t: n.t, conn: conn}
}

// login authenticates as root without a password.
func (n *node) login() *rawClient {
	n.t.Helper()
	return n.loginWith(0)
}

// loginWith sets further capabilities.
func (n *node) loginWith(caps uint32) *rawClient {
	n.t.Helper()
	c := n.dial()
	if hello := c.read(); len(hello) == 0 || hello[0] != 10 {
		n.t.Fatalf("the handshake starts with %x", hello)
	}
	hello := handshake("root")
	encoding.LittleEndian.PutUint32(hello, encoding.LittleEndian.Uint32(hello)|caps)
	c.send(hello)
	for {
		answer := c.read()
		switch {
		case len(answer) > 0 && answer[0] == 0:
			return c
		case len(answer) == 2 && answer[0] == 1 && answer[1] == 3: // fast authentication succeeded; OK follows
		case len(answer) > 0 && answer[0] == 0xfe:
			c.send(nil) // another method: an empty password is an empty answer in all
		default:
			n.t.Fatalf("login got %q", answer)
		}
	}
}

func handshake(user string) []byte {
	b := encoding.LittleEndian.AppendUint32(nil, rawCaps)
	b = encoding.LittleEndian.AppendUint32(b, 1<<24)
	b = append(append(b, 45), make([]byte, 23)...)
	b = append(append(b, user...), 0, 0)
	return append(append(b, "mysql_native_password"...), 0)
}

func (c *rawClient) send(payload []byte) {
	header := []byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), c.seq}
	c.seq++
	_, _ = c.conn.Write(append(header, payload...)) // a server that has closed is seen when reading
}

func (c *rawClient) tryRead() ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(c.conn, header[:]); err != nil {
		return nil, err
	}
	c.seq = header[3] + 1
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err := io.ReadFull(c.conn, payload)
	return payload, err
}

func (c *rawClient) read() []byte {
	c.t.Helper()
	payload, err := c.tryRead()
	if err != nil {
		c.t.Fatal(err)
	}
	return payload
}

// command sends one command and returns the first packet of its answer.
func (c *rawClient) command(payload ...byte) []byte {
	c.t.Helper()
	c.seq = 0
	c.send(payload)
	return c.read()
}

// number is the error number of an answer, 0 for anything else.
func number(answer []byte) int {
	if len(answer) < 3 || answer[0] != 0xff {
		return 0
	}
	return int(encoding.LittleEndian.Uint16(answer[1:]))
}

// alive checks that the connection answers.
func (c *rawClient) alive() {
	c.t.Helper()
	if answer := c.command(0x0e); len(answer) == 0 || answer[0] != 0 {
		c.t.Errorf("after an error PING got %q", answer)
	}
}

// TestBadCommands sends commands that are whole packets and wrong otherwise: the connection lives on.
func TestBadCommands(t *testing.T) {
	n := startNode(t, "")
	c := n.login()
	for _, bad := range []struct {
		name    string
		packet  []byte
		numbers []int
	}{
		{"unknown command", []byte{0x7f}, []int{1047}},
		{"EXECUTE of an unknown statement", []byte{0x17, 9, 9, 0, 0, 0, 1, 0, 0, 0}, []int{1243}},
		{"FETCH of an unknown statement", []byte{0x1c, 9, 9, 0, 0, 1, 0, 0, 0}, []int{1243, 1421}},
		{"RESET of an unknown statement", []byte{0x1a, 9, 9, 0, 0}, []int{1243}},
		{"INIT_DB of an unknown database", append([]byte{0x02}, "nodb"...), []int{1049}},
		{"FIELD_LIST without a database", append([]byte{0x04}, "t\x00"...), []int{1046}},
		{"an empty query", []byte{0x03}, []int{1065}},
		{"PROCESS_KILL of an unknown thread", []byte{0x0c, 0xff, 0xff, 0, 0}, []int{1094, 1047}},
	} {
		got := number(c.command(bad.packet...))
		found := false
		for _, want := range bad.numbers {
			found = found || got == want
		}
		if !found {
			t.Errorf("%s: error %d, want one of %v", bad.name, got, bad.numbers)
		}
		c.alive()
	}
}

// TestMalformedPackets sends bytes that are no protocol, before and after authentication. Each closes its connection, with or
// without an error packet, is logged at most once, and harms nobody else.
func TestMalformedPackets(t *testing.T) {
	n := startNode(t, "")
	witness := n.login()
	for name, raw := range map[string][]byte{
		"HTTP":                  []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"zeros":                 make([]byte, 64),
		"an empty packet":       {0, 0, 0, 1},
		"a huge length":         {0xff, 0xff, 0xff, 1, 0x85},
		"a wrong sequence":      {1, 0, 0, 9, 0},
		"a truncated handshake": {5, 0, 0, 1, 0x85, 0xa6, 0xff, 0x01, 0},
		"old protocol":          {8, 0, 0, 1, 0, 0, 0, 0, 1, 'r', 0, 0},
	} {
		c := n.dial()
		c.read()
		if _, err := c.conn.Write(raw); err != nil {
			t.Fatal(err)
		}
		if half, ok := c.conn.(*net.TCPConn); ok {
			_ = half.CloseWrite() // nothing more comes, so that a server which waits for the rest can tell
		}
		c.closes(name)
		witness.alive()
	}
	for name, raw := range map[string][]byte{
		"a wrong sequence number": {1, 0, 0, 7, 0x0e},
		"an empty command":        {0, 0, 0, 0},
		"half a packet":           {200, 0, 0, 0, 3, 'S'},
	} {
		c := n.login()
		if _, err := c.conn.Write(raw); err != nil {
			t.Fatal(err)
		}
		if half, ok := c.conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
		c.closes(name)
		witness.alive()
	}
	// A probe of a load balancer connects and closes; it leaves no line in the log.
	before := strings.Count(n.logText(), "\n")
	for range 20 {
		n.dial().conn.Close()
	}
	witness.alive()
	if after := strings.Count(n.logText(), "\n"); after > before+1 {
		t.Errorf("20 probes left %d lines in the log", after-before)
	}
	if lines := strings.Count(n.logText(), "closing a connection"); lines > 10 {
		t.Errorf("10 bad clients left %d lines in the log", lines)
	}
}

// closes waits until the server has closed the connection; error packets may come before.
func (c *rawClient) closes(name string) {
	c.t.Helper()
	for {
		packet, err := c.tryRead()
		if err == nil && number(packet) != 0 {
			continue
		}
		if err == nil {
			c.t.Errorf("%s got an answer: %q", name, packet)
			return
		}
		if wait := net.Error(nil); errors.As(err, &wait) && wait.Timeout() {
			c.t.Errorf("%s: the connection stays open", name)
		}
		return
	}
}

// TestPacketSizes splits statements over 16 MiB, joins them, and refuses what exceeds max_allowed_packet with 1153.
func TestPacketSizes(t *testing.T) {
	n := startNode(t, "")
	db := createSbtest(t, n)
	size := 20 << 20
	var length int64
	if err := db.QueryRow("SELECT LENGTH(?)", strings.Repeat("x", size)).Scan(&length); err != nil || length != int64(size) {
		t.Errorf("a statement of 20 MiB found length %d: %v", length, err)
	}
	var back string
	if err := db.QueryRow("SELECT REPEAT('y', 17825792)").Scan(&back); err != nil || len(back) != 17<<20 {
		t.Errorf("a row of 17 MiB has %d bytes: %v", len(back), err)
	}
	c := n.login()
	if answer := c.command(append([]byte{3}, "SET GLOBAL max_allowed_packet = 1048576"...)...); len(answer) == 0 || answer[0] != 0 {
		t.Fatalf("SET GLOBAL max_allowed_packet got %q", answer)
	}
	c = n.login() // the limit is taken at login
	c.seq = 0
	c.send(append([]byte{3}, "SELECT '"+strings.Repeat("z", 2<<20)+"'"...))
	if answer, err := c.tryRead(); err != nil || number(answer) != 1153 {
		t.Errorf("a statement of 2 MiB over a limit of 1 MiB got %.80q: %v", answer, err)
	}
}
