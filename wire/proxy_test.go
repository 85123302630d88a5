package wire

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
)

// proxyHeader is a header of the second version.
func proxyHeader(t *testing.T, source net.Addr, change func(*proxyproto.Header)) string {
	t.Helper()
	h := proxyproto.HeaderProxyFromAddrs(2, source, source)
	if change != nil {
		change(h)
	}
	b, err := h.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// proxyServer takes headers from this machine.
func proxyServer(t *testing.T, networks string, timeout time.Duration) *testServer {
	t.Helper()
	return startServer(t, func(o *Options) {
		o.HandshakeTimeout = timeout
		var err error
		if o.ProxyNetworks, err = ParseNetworks(networks); err != nil {
			t.Fatal(err)
		}
	})
}

// TestProxyHeader: behind a proxy that is listed the client's address is the one of its header, for accounts and the process list.
func TestProxyHeader(t *testing.T) {
	ts := proxyServer(t, "::1, 127.0.0.0/8", patience)
	six := &net.TCPAddr{IP: net.ParseIP("2001:db8::7"), Port: 4711}
	for _, test := range []struct{ name, header, host, remote string }{
		{"TCP4", "PROXY TCP4 192.0.2.7 127.0.0.1 4711 3306\r\n", "192.0.2.7", "192.0.2.7:4711"},
		{"TCP6", "PROXY TCP6 2001:db8::7 ::1 4711 3306\r\n", "2001:db8::7", "[2001:db8::7]:4711"},
		{"the same machine", "PROXY TCP4 127.0.0.1 127.0.0.1 4711 3306\r\n", "localhost", "127.0.0.1:4711"},
		{"UNKNOWN", "PROXY UNKNOWN\r\n", "localhost", ""},
		{"version 2", proxyHeader(t, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 8).To4(), Port: 4712}, nil), "192.0.2.8", "192.0.2.8:4712"},
		{"version 2, IPv6", proxyHeader(t, six, nil), "2001:db8::7", "[2001:db8::7]:4711"},
		{"version 2, extensions", proxyHeader(t, six, func(h *proxyproto.Header) {
			if err := h.SetTLVs([]proxyproto.TLV{{Type: proxyproto.PP2_TYPE_AUTHORITY, Value: bytes.Repeat([]byte("a"), 1000)}}); err != nil {
				t.Fatal(err)
			}
		}), "2001:db8::7", "[2001:db8::7]:4711"},
		{"version 2, LOCAL", proxyHeader(t, six, func(h *proxyproto.Header) { h.Command, h.TransportProtocol = proxyproto.LOCAL, proxyproto.UNSPEC }), "localhost", ""},
	} {
		r := ts.dial(t)
		if _, err := io.WriteString(r.conn, test.header); err != nil {
			t.Fatal(err)
		}
		r.login(rawCaps, "root")
		info := ts.backend.lastInfo()
		if test.remote == "" {
			test.remote = r.conn.LocalAddr().String()
		}
		if info.Host != test.host || info.RemoteAddr != test.remote {
			t.Errorf("%s: %s, %s, want %s, %s", test.name, info.Host, info.RemoteAddr, test.host, test.remote)
		}
	}
}

// TestProxyRefused: what is no header for a connection of TCP, or is more than that, ends the connection, and so does waiting for one.
func TestProxyRefused(t *testing.T) {
	ts := proxyServer(t, "127.0.0.1", 300*time.Millisecond)
	v4 := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 8).To4(), Port: 4712}
	for name, header := range map[string]string{
		"no header":         "GET / HTTP/1.0\r\n",
		"no line":           "PROXY TCP4 " + string(bytes.Repeat([]byte("1"), 5000)),
		"no address":        "PROXY TCP4 somewhere 127.0.0.1 1 2\r\n",
		"more bytes":        "PROXY TCP4 192.0.2.7 127.0.0.1 4711 3306\r\n\x01\x00\x00\x00\x0e",
		"UDP":               proxyHeader(t, &net.UDPAddr{IP: v4.IP, Port: 1}, nil),
		"an unknown family": "\r\n\r\n\x00\r\nQUIT\n\x21\xff\x00\x00",
	} {
		r := ts.dial(t)
		if _, err := io.WriteString(r.conn, header); err != nil {
			t.Fatal(err)
		}
		if p, err := r.tryRead(); err == nil {
			if r.expectError(p, 1043); t.Failed() {
				t.Fatalf("%s: %q", name, p)
			}
		}
		r.expectClosed()
	}
	r := ts.dial(t) // it sends nothing
	r.expectClosed()
	eventually(t, "no connection is left", func() bool { return ts.OpenConnections() == 0 })

	elsewhere := proxyServer(t, "192.0.2.0/24, 2001:db8::/32", patience)
	r = elsewhere.dial(t)
	if _, err := io.WriteString(r.conn, "PROXY TCP4 192.0.2.7 127.0.0.1 4711 3306\r\n"); err != nil {
		t.Fatal(err)
	}
	if greeting := r.read(); greeting[0] != protocolVersion {
		t.Fatalf("%q", greeting)
	}
	if p, err := r.tryRead(); err == nil {
		r.expectError(p, 1043)
	}
	r.expectClosed()
	if elsewhere.backend.opened.Load() != 0 {
		t.Error("a header from elsewhere opened a session")
	}
}

func TestParseNetworks(t *testing.T) {
	got, err := ParseNetworks(" 10.1.2.3/8,::ffff:192.0.2.1 , 2001:db8::/32,")
	if err != nil || len(got) != 3 || got[0] != netip.MustParsePrefix("10.0.0.0/8") || got[1] != netip.MustParsePrefix("192.0.2.1/32") {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"localhost", "10.0.0.0/33", "10.0.0", "*"} {
		if _, err := ParseNetworks(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
