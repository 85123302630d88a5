package wire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/privilege/password"
)

// loginZstd logs in with zstd compression at a level; whatever follows goes through the layer that is returned.
func loginZstd(t *testing.T, ts *testServer, level byte) (*rawClient, *compressed) {
	t.Helper()
	r := ts.dial(t)
	r.read()
	caps := uint32(rawCaps | capZstd)
	r.write(append(handshakeResponse(caps, "root", nil, password.Native), level))
	if p := r.read(); p[0] != headerOK {
		r.expectError(p, 1043)
		return r, nil
	}
	layer := &compressed{inner: r.conn, codec: (&zstdCodecs{}).codec(3)}
	layer.raw.R = r.conn
	return r, layer
}

// ask sends a query in a compressed packet and returns the bytes of n packets of the answer.
func ask(t *testing.T, layer *compressed, sql string, n int) (packets [][]byte) {
	t.Helper()
	layer.seq = 0
	if _, err := layer.Write(withHeader(append([]byte{ComQuery}, sql...))); err != nil {
		t.Fatal(err)
	}
	for range n {
		var h [headerBytes]byte
		if _, err := io.ReadFull(layer, h[:]); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
		if _, err := io.ReadFull(layer, p); err != nil {
			t.Fatal(err)
		}
		packets = append(packets, p)
	}
	return packets
}

// TestZstd: at each level answers of all sizes arrive whole, and large ones shrink.
func TestZstd(t *testing.T) {
	ts := startServer(t, nil)
	for _, level := range []byte{1, 3, 9, 22} {
		_, layer := loginZstd(t, ts, level)
		counted := &countingStream{ReadWriter: layer.inner}
		layer.inner, layer.raw.R = counted, counted
		for _, size := range []int{1, 100, 70_000} {
			const rows = 30
			packets := ask(t, layer, fmt.Sprintf("ROWS %d %d%s", rows, size, strings.Repeat(" ", 1000)), 3+1+rows+1)
			for _, row := range packets[4 : 4+rows] {
				if len(row) < size {
					t.Fatalf("level %d: a row of %d bytes, want %d", level, len(row), size)
				}
			}
		}
		if counted.read > 30*70_000/4 {
			t.Errorf("level %d: %d bytes were read", level, counted.read)
		}
	}
	for _, level := range []byte{0, 23, 255} {
		if _, layer := loginZstd(t, ts, level); layer != nil {
			t.Errorf("level %d is accepted", level)
		}
	}
}

type countingStream struct {
	io.ReadWriter
	read int
}

func (c *countingStream) Read(b []byte) (int, error) {
	n, err := c.ReadWriter.Read(b)
	c.read += n
	return n, err
}

// TestZstdMalformed: packets that do not hold what they say end their connection with an error, and no other.
func TestZstdMalformed(t *testing.T) {
	ts := startServer(t, nil)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	query := withHeader(append([]byte{ComQuery}, bytes.Repeat([]byte("x"), 200)...))
	frame := encoder.EncodeAll(query, nil)
	for name, c := range map[string]struct {
		body  []byte
		plain int
	}{
		"no frame":          {bytes.Repeat([]byte{7}, 100), 200},
		"half a frame":      {frame[:len(frame)/2], len(query)},
		"more than it says": {frame, len(query) - 1},
		"less than it says": {frame, len(query) + 1},
		"a huge window":     {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0}, 200},
	} {
		r, layer := loginZstd(t, ts, 3)
		n := len(c.body)
		header := []byte{byte(n), byte(n >> 8), byte(n >> 16), 0, byte(c.plain), byte(c.plain >> 8), byte(c.plain >> 16)}
		if _, err := r.conn.Write(append(header, c.body...)); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(layer) // the end may be a reset, since not all has been read
		if !bytes.Contains(answer, []byte("#08S01Couldn't uncompress")) {
			t.Errorf("%s: %q", name, answer)
		}
	}
	if n := ts.Counters().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
}

// TestZstdWindowIsCounted: a packet of a few bytes whose frame asks for a window of 16 MB takes no memory that the server does not have, nor does one in
// which such a frame follows another.
func TestZstdWindowIsCounted(t *testing.T) {
	const all = 4 << 20
	memory := &scarce{left: all}
	ts := startServer(t, func(o *Options) { o.Memory = memory })
	whole := func() bool { return memory.has(all) }
	_, layer := loginZstd(t, ts, 3)
	ask(t, layer, "ROWS 1 100"+strings.Repeat(" ", 300_000), 5)
	testkit.Await(t, "the memory of a packet that fits is given back", whole)

	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	large := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 1, 0, 0}
	for want, body := range map[string][]byte{
		"no memory":                 large,
		"#08S01Couldn't uncompress": append(encoder.EncodeAll(withHeader([]byte{ComPing}), nil), large...),
	} {
		r, layer := loginZstd(t, ts, 3)
		n := len(body)
		if _, err := r.conn.Write(append([]byte{byte(n), 0, 0, 0, 200, 0, 0}, body...)); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(layer)
		if !bytes.Contains(answer, []byte(want)) {
			t.Errorf("%q is answered instead of %q", answer, want)
		}
		testkit.Await(t, "what was taken is given back", whole)
	}
}
