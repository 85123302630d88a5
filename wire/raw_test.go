package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/sqlapi"
)

// rawClient speaks the protocol byte by byte.
type rawClient struct {
	t    testing.TB
	conn net.Conn
	seq  byte
	caps uint32
}

const rawCaps = capProtocol41 | capSecureConn | capPluginAuth | CapMultiStatements | capMultiResults | capLongPassword

func (ts *testServer) dial(t testing.TB) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", ts.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &rawClient{t: t, conn: conn}
}

func (r *rawClient) read() []byte {
	r.t.Helper()
	p, err := r.tryRead()
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rawClient) tryRead() ([]byte, error) {
	var h [4]byte
	if _, err := io.ReadFull(r.conn, h[:]); err != nil {
		return nil, err
	}
	r.seq = h[3] + 1
	p := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	_, err := io.ReadFull(r.conn, p)
	return p, err
}

func (r *rawClient) write(payload []byte) {
	b := appendUint32(nil, uint32(len(payload)))
	b[3] = r.seq
	_, _ = r.conn.Write(append(b, payload...)) // a server that has closed is seen when reading
}

// response is a HandshakeResponse41.
func handshakeResponse(caps uint32, user string, reply []byte, plugin string) []byte {
	b := appendUint32(nil, caps)
	b = append(appendUint32(b, 1<<24), 45)
	b = append(append(b, make([]byte, 23)...), user...)
	b = append(append(b, 0, byte(len(reply))), reply...)
	return append(append(b, plugin...), 0)
}

func (r *rawClient) login(caps uint32, user string) {
	r.t.Helper()
	r.caps = caps
	r.read()
	r.write(handshakeResponse(caps, user, nil, password.Native))
	if p := r.read(); p[0] != headerOK {
		r.t.Fatalf("login: %q", p)
	}
}

// command sends a command and returns the first packet of the answer.
func (r *rawClient) command(parts ...[]byte) []byte {
	r.t.Helper()
	r.seq = 0
	r.write(bytes.Join(parts, nil))
	return r.read()
}

// expectError checks an ERR packet.
func (r *rawClient) expectError(p []byte, number uint16) {
	r.t.Helper()
	if len(p) < 9 || p[0] != headerErr || binary.LittleEndian.Uint16(p[1:]) != number || p[3] != '#' {
		r.t.Errorf("got %q, want error %d", p, number)
	}
}

func (r *rawClient) expectClosed() {
	r.t.Helper()
	if p, err := r.tryRead(); err == nil {
		r.t.Errorf("still open: %q", p)
	} else if errors.Is(err, context.DeadlineExceeded) {
		r.t.Error("not closed in time")
	}
}

func TestRawProbes(t *testing.T) {
	ts := startServer(t, nil)
	for range 5 {
		_ = ts.dial(t).conn.Close() // connect and close
		r := ts.dial(t)
		r.read()
		_ = r.conn.Close() // read the greeting and close
	}
	ts.expectProbes(t, 10)
	ts = startServer(t, func(o *Options) { o.HandshakeTimeout = 300 * time.Millisecond })
	r := ts.dial(t)
	if _, err := r.tryRead(); err == nil { // a server without processor time may not come to its greeting
		r.expectClosed() // says nothing
	}
	ts.expectProbes(t, 1)
}

// expectProbes checks that n connections came to nothing, and without noise.
func (ts *testServer) expectProbes(t testing.TB, n uint64) {
	t.Helper()
	eventually(t, "all have come and gone", func() bool { return ts.Counters().BadConnects == n && ts.OpenConnections() == 0 })
	if ts.log.String() != "" {
		t.Errorf("noise: %s", ts.log)
	}
}

func TestRawBadHandshakes(t *testing.T) {
	ts := startServer(t, nil)
	good := handshakeResponse(rawCaps, "root", nil, password.Native)
	for name, payload := range map[string][]byte{
		"empty":          {},
		"short":          good[:20],
		"user without 0": good[:34],
		"old protocol":   append([]byte{0, 0, 0, 0}, good[4:]...),
		"reply too long": append(append([]byte{}, good[:37]...), 200, 1, 2),
		"long user":      handshakeResponse(rawCaps, strings.Repeat("u", 300), nil, ""),
		"TLS flag":       handshakeResponse(rawCaps|capSSL, "root", nil, password.Native),
		"bad attributes": append(handshakeResponse(rawCaps|capConnectAttrs, "root", nil, password.Native), 5, 9, 'a'),
		"http":           []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
	} {
		r := ts.dial(t)
		r.read()
		r.write(payload)
		p, err := r.tryRead()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r.expectError(p, 1043)
		r.expectClosed()
	}
	if n := ts.Counters().Malformed; n < 8 {
		t.Errorf("%d counted", n)
	}
	if n := strings.Count(ts.log.String(), "\n"); n == 0 || n > logsPerSecond*2 {
		t.Errorf("%d lines logged", n)
	}
}

// TestRawInjection puts a plaintext handshake response behind the SSLRequest: it must never be taken for one from inside TLS.
func TestRawInjection(t *testing.T) {
	ts := startServer(t, nil)
	r := ts.dial(t)
	r.read()
	request := appendUint32(nil, rawCaps|capSSL)
	request = append(appendUint32(request, 1<<24), 45)
	request = append(request, make([]byte, 23)...)
	packet := append([]byte{sslRequestLen, 0, 0, 1}, request...)
	evil := handshakeResponse(rawCaps|capSSL, "root", nil, password.Native)
	packet = append(packet, byte(len(evil)), 0, 0, 2)
	_, _ = r.conn.Write(append(packet, evil...))
	if err := tls.Client(r.conn, &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("TLS began behind injected bytes")
	}
	eventually(t, "closed", func() bool { return ts.OpenConnections() == 0 })
	if ts.backend.opened.Load() != 0 {
		t.Error("the injected login was accepted")
	}
	// TLS below 1.2 is refused.
	r = ts.dial(t)
	r.read()
	r.write(request)
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if err := tls.Client(r.conn, old).Handshake(); err == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

func TestRawMalformedCommands(t *testing.T) {
	ts := startServer(t, nil)
	for name, payload := range map[string][]byte{
		"execute cut":        {ComStmtExecute, 1, 0},
		"execute without id": {ComStmtExecute},
		"fetch cut":          {ComStmtFetch, 1, 0, 0, 0},
		"reset cut":          {ComStmtReset, 1},
		"long data cut":      {ComStmtSendLong, 1, 0, 0, 0, 1},
		"set option cut":     {ComSetOption, 0},
		"kill cut":           {ComProcessKill, 1},
		"change user cut":    {ComChangeUser, 'r', 'o'},
		"no null bitmap":     {ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0},
		"types not bound":    {ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
		"types cut":          {ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8},
		"value cut":          {ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0, 3, 0, 1},
		"string too long":    {ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0xfd, 0, 3, 0, 0xfe, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"unknown type":       {ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x77, 0, 3, 0, 1},
	} {
		r := ts.dial(t)
		r.login(rawCaps, "root")
		if p := r.command([]byte{ComStmtPrepare}, []byte("ECHO ? ?")); p[0] != headerOK {
			t.Fatalf("prepare: %q", p)
		}
		for range 6 { // two parameters, EOF, two columns, EOF
			r.read()
		}
		p := r.command(payload)
		r.expectError(p, 1835)
		r.expectClosed()
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestRawLiveOn sends what is wrong and yet keeps the connection.
func TestRawLiveOn(t *testing.T) {
	ts := startServer(t, nil)
	r := ts.dial(t)
	r.login(rawCaps, "root")
	for _, c := range []struct {
		payload []byte
		number  uint16
	}{
		{[]byte{}, 1047}, {[]byte{ComSleep}, 1047}, {[]byte{0x12}, 1047}, {[]byte{0xff}, 1047}, {[]byte{ComRefresh, 99}, 1047},
		{[]byte{ComSetOption, 9, 9}, 1047},
		{[]byte{ComStmtExecute, 9, 0, 0, 0, 0, 1, 0, 0, 0}, 1243},
		{[]byte{ComStmtReset, 9, 0, 0, 0}, 1243},
		{[]byte{ComStmtFetch, 9, 0, 0, 0, 1, 0, 0, 0}, 1243},
		{append([]byte{ComQuery}, "FAIL"...), 1146},
		{append([]byte{ComInitDB}, "nosuch"...), 1049},
		{append([]byte{ComFieldList}, "nosuch\x00"...), 1146},
	} {
		r.expectError(r.command(c.payload), c.number)
	}
	for _, c := range []struct {
		payload []byte
		first   byte
	}{
		{[]byte{ComPing}, headerOK}, {[]byte{ComDebug}, headerEOF}, {[]byte{ComSetOption, 1, 0}, headerEOF},
		{[]byte{ComSetOption, 0, 0}, headerEOF}, {[]byte{ComStatistics}, 'U'}, {[]byte{ComProcessInfo}, headerOK},
		{[]byte{ComProcessKill, 1, 0, 0, 0}, headerOK}, {[]byte{ComRefresh, 1}, headerOK}, {[]byte{ComShutdown}, headerOK},
		{[]byte{ComResetConnection}, headerOK}, {append([]byte{ComInitDB}, "db"...), headerOK},
	} {
		if p := r.command(c.payload); len(p) == 0 || p[0] != c.first {
			t.Errorf("command %#x: %q", c.payload, p)
		}
	}
	// Commands without an answer leave no trace in the stream.
	for _, payload := range [][]byte{{ComStmtClose, 9, 0, 0, 0}, {ComStmtClose}, {ComStmtSendLong, 9, 0, 0, 0, 0, 0, 'x'}} {
		r.seq = 0
		r.write(payload)
	}
	if p := r.command([]byte{ComPing}); p[0] != headerOK || r.seq != 2 {
		t.Errorf("ping: %q with sequence %d", p, r.seq)
	}
	// Pipelined commands are answered in order.
	ping := []byte{1, 0, 0, 0, ComPing}
	_, _ = r.conn.Write(bytes.Repeat(ping, 2000))
	for range 2000 {
		if p := r.read(); p[0] != headerOK {
			t.Fatalf("%q", p)
		}
	}
	r.seq = 3
	r.write([]byte{ComPing})
	r.expectError(r.read(), 1156)
	r.expectClosed()
}

func TestRawLongData(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.MaxAllowedPacket = 1 << 10 })
	r := ts.dial(t)
	r.login(rawCaps|capDeprecateEOF, "root")
	r.command([]byte{ComStmtPrepare}, []byte("ECHO ? ?"))
	for range 4 {
		r.read()
	}
	execute := []byte{ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0xfc, 0, 3, 0, 5, 0, 0, 0}
	answer := func(want string) {
		t.Helper()
		r.command(execute)
		r.read()
		r.read()
		if row := r.read(); string(row[2:]) != want {
			t.Errorf("row %q, want %q", row[2:], want)
		}
		if end := r.read(); end[0] != headerEOF {
			t.Errorf("end %q", end)
		}
	}
	send := func(param byte, data string) {
		r.seq = 0
		r.write(append([]byte{ComStmtSendLong, 1, 0, 0, 0, param, 0}, data...))
	}
	send(0, "hello ")
	send(0, "world")
	answer("\x11bytes hello world\x05int 5")
	// The data is used up: now the parameter is read from the packet.
	execute = []byte{ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 'a', 'b', 5, 0, 0, 0}
	answer("\x08bytes ab\x05int 5")
	send(0, "")
	execute = []byte{ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5, 0, 0, 0}
	answer("\x06bytes \x05int 5")
	send(0, "dropped")
	if p := r.command([]byte{ComStmtReset, 1, 0, 0, 0}); p[0] != headerOK {
		t.Errorf("reset: %q", p)
	}
	send(7, "no such parameter")
	r.expectError(r.command(execute), 1210)
	for range 2 {
		send(0, strings.Repeat("x", 1000))
	}
	r.expectError(r.command(execute), 1153)
	execute = []byte{ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 0}
	r.command(execute)
	r.read()
	r.read()
	if row := r.read(); !bytes.Equal(row, []byte("\x00\x04\x05int 5")) {
		t.Errorf("with NULL: %q", row)
	}
	r.read()
	r.seq = 0
	r.write(bytes.Repeat([]byte{ComPing}, 1<<10+1))
	r.expectError(r.read(), 1153)
	r.expectClosed()
}

func TestRawCursor(t *testing.T) {
	ts := startServer(t, nil)
	for _, caps := range []uint32{rawCaps, rawCaps | capDeprecateEOF} {
		r := ts.dial(t)
		r.login(caps, "root")
		oldEOF := func() {
			if caps&capDeprecateEOF == 0 {
				r.read()
			}
		}
		r.command([]byte{ComStmtPrepare}, []byte("ROWS 5 1"))
		r.read()
		r.read()
		oldEOF()
		status := func(p []byte) uint16 {
			if p[0] != headerEOF {
				t.Fatalf("no EOF: %q", p)
			}
			if caps&capDeprecateEOF == 0 {
				return binary.LittleEndian.Uint16(p[3:])
			}
			return binary.LittleEndian.Uint16(p[3:])
		}
		if p := r.command([]byte{ComStmtExecute, 1, 0, 0, 0, CursorReadOnly, 1, 0, 0, 0}); p[0] != 2 {
			t.Fatalf("execute: %q", p)
		}
		r.read()
		r.read()
		if s := status(r.read()); s&sqlapi.StatusCursorExists == 0 {
			t.Errorf("status %#x", s)
		}
		for _, want := range []struct {
			rows int
			flag uint16
		}{{2, sqlapi.StatusCursorExists}, {2, sqlapi.StatusCursorExists}, {1, sqlapi.StatusLastRowSent}} {
			r.seq = 0
			r.write([]byte{ComStmtFetch, 1, 0, 0, 0, 2, 0, 0, 0})
			for range want.rows {
				if p := r.read(); p[0] != 0 {
					t.Errorf("row %q", p)
				}
			}
			if s := status(r.read()); s&want.flag == 0 {
				t.Errorf("status %#x, want %#x", s, want.flag)
			}
		}
		r.expectError(r.command([]byte{ComStmtFetch, 1, 0, 0, 0, 2, 0, 0, 0}), 1421)
	}
}

func TestRawChangeUser(t *testing.T) {
	ts := startServer(t, nil)
	r := ts.dial(t)
	r.login(rawCaps, "root")
	change := func(user, db string) []byte {
		return r.command([]byte{ComChangeUser}, []byte(user), []byte{0, 0}, []byte(db), []byte{0, 46, 0}, []byte(password.Native), []byte{0})
	}
	if p := change("sbtest", "other"); p[0] != headerOK {
		t.Fatalf("%q", p)
	}
	s := ts.backend.sessions[0]
	if s.info.User != "sbtest" || s.info.DB != "other" || s.info.Collation != 46 || s.info.Account != "sbtest@%" {
		t.Errorf("%+v", s.info)
	}
	if list := ts.Conns(); len(list) != 1 || list[0].Info.User != "sbtest" {
		t.Errorf("process list %+v", list)
	}
	// An account with a password: the server asks for it with a fresh salt, by the account's plugin.
	p := change("sha", "")
	if p[0] != headerEOF || !bytes.HasPrefix(p[1:], []byte(password.CachingSHA2+"\x00")) {
		t.Fatalf("%q", p)
	}
	r.write(nil)
	r.expectError(r.read(), 1045)
	r.expectClosed()
}

// TestRawRefusedAfterFastPath: the error of a login whose password was right follows the word of the fast path, which has not left yet.
func TestRawRefusedAfterFastPath(t *testing.T) {
	ts := startServer(t, nil)
	if _, err := ts.connect(t, "sha", "secret", ""); err != nil { // fills the cache
		t.Fatal(err)
	}
	if _, err := ts.connect(t, "sha", "secret", "nosuch"); clientNumber(err) != 1049 {
		t.Errorf("login: %v", err)
	}
	r := ts.dial(t)
	r.login(rawCaps, "root")
	p := r.command([]byte{ComChangeUser}, []byte("sha\x00\x00nosuch\x00"), []byte{46, 0}, []byte(password.Native), []byte{0})
	if p[0] != headerEOF {
		t.Fatalf("%q", p)
	}
	r.write(mysql.CalcCachingSha2Password(p[len(p)-password.SaltBytes-1:len(p)-1], "secret"))
	if p = r.read(); !bytes.Equal(p, []byte{headerMore, shaFastOK}) {
		t.Fatalf("%q", p)
	}
	seq := r.seq
	r.expectError(r.read(), 1049)
	if r.seq != seq+1 {
		t.Errorf("COM_CHANGE_USER: the error's sequence number is %d, want %d", r.seq-1, seq)
	}
	r.expectClosed()
}

// TestRawWideColumn: a column's definition is one packet, and what fits none is an error instead of a stream that nobody can read.
func TestRawWideColumn(t *testing.T) {
	ts := startServer(t, nil)
	c, err := ts.connect(t, "root", "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1 << 10, 1 << 20, payloadMax, payloadMax + 100, 2 * payloadMax} {
		query := "NAMED " + itoa(n)
		check := func(what string, fields []*mysql.Field, err error) {
			t.Helper()
			switch {
			case n >= payloadMax:
				if clientNumber(err) != 1059 {
					t.Errorf("%s %s: %v", what, query, err)
				}
			case err != nil || len(fields) != 2 || len(fields[1].Name) != n:
				t.Errorf("%s %s: %d fields, %v", what, query, len(fields), err)
			}
		}
		res, err := c.Execute(query)
		if err != nil {
			res = &mysql.Result{Resultset: &mysql.Resultset{}}
		}
		check("text", res.Fields, err)
		stmt, err := c.Prepare(query)
		if err != nil {
			check("prepare", nil, err)
		} else {
			if res, err = stmt.Execute(); err != nil {
				t.Fatal(err)
			}
			check("execute", res.Fields, err)
		}
		if err := c.Ping(); err != nil {
			t.Fatalf("after %s: %v", query, err)
		}
	}
	if left := len(ts.backend.sessions[0].stmts); left != 2 {
		t.Errorf("%d statements left, want those 2 that could be described", left)
	}
}

// TestRawOldAuthentication covers clients without CLIENT_PLUGIN_AUTH.
func TestRawOldAuthentication(t *testing.T) {
	ts := startServer(t, nil)
	for user, want := range map[string]uint16{"root": 0, "native": 1045, "sha": 1251, "ghost": 1251} {
		r := ts.dial(t)
		r.read()
		r.write(handshakeResponse(rawCaps&^capPluginAuth, user, nil, ""))
		p := r.read()
		if want == 0 {
			if p[0] != headerOK {
				t.Errorf("%s: %q", user, p)
			}
			continue
		}
		r.expectError(p, want)
	}
}

func TestUnixSocket(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.RequireSecureTransport = true })
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = ts.Serve(l) }() // ends with Shutdown
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r := &rawClient{t: t, conn: conn}
	r.read()
	r.write(handshakeResponse(rawCaps, "sha", bytes.Repeat([]byte{7}, 32), password.CachingSHA2))
	if p := r.read(); !bytes.Equal(p, []byte{headerMore, shaFullAuth}) {
		t.Fatalf("%q", p)
	}
	r.write([]byte("secret\x00")) // in the clear: nobody can listen
	if p := r.read(); p[0] != headerOK {
		t.Fatalf("%q", p)
	}
	if info := ts.backend.lastInfo(); info.Host != "localhost" || info.RemoteAddr != "" {
		t.Errorf("%+v", info)
	}
}

// TestSlowReaderIsEnded: a client that takes none of its answer must not hold its statement for ever.
func TestSlowReaderIsEnded(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.NetWriteTimeout = 300 * time.Millisecond })
	r := ts.dial(t)
	r.login(rawCaps, "root")
	r.seq = 0
	r.write(append([]byte{ComQuery}, "ROWS 1000 100000"...))
	eventually(t, "the connection is ended", func() bool { return ts.OpenConnections() == 0 })
}

// TestSlowReaderGoesOn: net_write_timeout is for a client that takes nothing, not for one that takes a large row slowly. The test is the
// clock and the reaper: at each tick the client takes a quarter of a step.
func TestSlowReaderGoesOn(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	_ = far.SetDeadline(time.Now().Add(patience))
	srv := &Server{}
	c := &conn{srv: srv, stream: near, sock: newSocket(near), count: srv.counters.shard(1)}
	c.writeTimeout.Store(8)
	done := make(chan error, 1)
	go func() { done <- c.write(make([]byte, 10*writeStep+1)) }()
	part := make([]byte, writeStep/4)
	for now := uint64(1); now <= 40; now++ {
		if _, err := io.ReadFull(far, part); err != nil {
			t.Fatalf("after %d parts: %v", now, err)
		}
		srv.now.Store(now)
		c.inspect(now)
	}
	for now := uint64(41); ; now++ { // nor may the last byte be waited for without end
		select {
		case err := <-done:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a client that stopped: %v", err)
			}
			return
		case <-time.After(time.Millisecond):
		}
		srv.now.Store(now)
		c.inspect(now)
	}
}

// TestSlowWriterIsEnded: nor may one that never ends its packet.
func TestSlowWriterIsEnded(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.NetReadTimeout = 300 * time.Millisecond })
	r := ts.dial(t)
	r.login(rawCaps, "root")
	_, _ = r.conn.Write([]byte{0xff, 0xff, 0xfe, 0, ComQuery})
	eventually(t, "the connection is ended", func() bool { return ts.OpenConnections() == 0 })
}

// TestKillBlockedWriter ends a connection that sits in a write.
func TestKillBlockedWriter(t *testing.T) {
	ts := startServer(t, nil)
	r := ts.dial(t)
	r.login(rawCaps, "root")
	r.seq = 0
	r.write(append([]byte{ComQuery}, "ROWS 1000 100000"...))
	id := ts.backend.lastInfo().ID
	eventually(t, "it blocks", func() bool {
		list := ts.Conns()
		return len(list) == 1 && list[0].Since > 300*time.Millisecond
	})
	ts.Kill(id, false)
	eventually(t, "the connection is ended", func() bool { return ts.OpenConnections() == 0 })
}

// TestIdleMemory measures what an idle connection holds.
func TestIdleMemory(t *testing.T) {
	ts := startServer(t, nil)
	const n = 200
	before := heapAndStacks()
	clients := make([]*rawClient, n)
	for i := range clients {
		clients[i] = ts.dial(t)
		clients[i].login(rawCaps, "root")
		// A large answer and a large command leave nothing behind.
		clients[i].seq = 0
		clients[i].write(append([]byte{ComQuery}, "ROWS 2 50000"...))
		for range 7 {
			clients[i].read()
		}
	}
	each := (heapAndStacks() - before) / n
	t.Logf("%d bytes per idle connection, with its client in the same process", each)
	if each > 25<<10 {
		t.Errorf("an idle connection holds %d bytes", each)
	}
}

func heapAndStacks() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestReaderGrowth: a client that only announces much makes the server hold little.
func TestReaderGrowth(t *testing.T) {
	s, err := New(Options{Backend: newFakeBackend()})
	if err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	sent.Write([]byte{0xff, 0xff, 0xff, 0})
	sent.Write(make([]byte, 5000))
	p := packetReader{src: &sent, window: make([]byte, windowBytes), pool: &s.pool, limit: 1 << 30}
	if _, err := p.next(); err != io.ErrUnexpectedEOF {
		t.Errorf("got %v", err)
	}
	if n := cap(p.big.b); n > growStep {
		t.Errorf("%d bytes held for 5000 sent", n)
	}
}

func TestLogLimiter(t *testing.T) {
	var l logLimiter
	for now := range uint64(30) {
		allowed := 0
		for range 100 {
			if l.allow(now * 10) {
				allowed++
			}
		}
		if allowed != logsPerSecond {
			t.Fatalf("second %d: %d lines", now, allowed)
		}
	}
}

// TestRawSessionState: clients with SESSION_TRACK find the changes to their session behind the information of an OK packet, and others none.
func TestRawSessionState(t *testing.T) {
	ts := startServer(t, nil)
	for _, caps := range []uint32{rawCaps, rawCaps | CapSessionTrack} {
		r := ts.dial(t)
		r.login(caps, "root")
		p := r.command([]byte{ComInitDB}, []byte("db"))
		if p[0] != headerOK {
			t.Fatalf("init db: %q", p)
		}
		changed, rest := binary.LittleEndian.Uint16(p[3:])&sqlapi.StatusSessionChanged != 0, string(p[7:])
		if want := caps&CapSessionTrack != 0; changed != want || (rest == "\x00\x05\x01\x03\x02db") != want {
			t.Errorf("with capabilities %#x the flag is %v and %q follows", caps, changed, rest)
		}
	}
}

// tardy is a connection on which something happens between the arrival of bytes and the return of the call that has read them.
type tardy struct {
	net.Conn
	meanwhile atomic.Pointer[func()]
}

func (c *tardy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if f := c.meanwhile.Load(); f != nil {
		(*f)()
	}
	return n, err
}

// TestCommandAfterKill: a command that a killed connection gets before it has noticed is not executed, and not answered by an error of a statement that was interrupted.
func TestCommandAfterKill(t *testing.T) {
	ts := startServer(t, nil)
	ts.dial(t).read() // it listens, and may be shut down from now on
	near, far := net.Pipe()
	defer far.Close()
	late := &tardy{Conn: near}
	ts.ServeConn(late)
	_ = far.SetDeadline(time.Now().Add(patience))
	r := &rawClient{t: t, conn: far}
	r.login(rawCaps, "root")
	kill := func() { ts.Kill(ts.Conns()[1].Info.ID, false) }
	late.meanwhile.Store(&kill)
	r.seq = 0
	r.write([]byte("\x03ECHO"))
	r.expectClosed()
}
