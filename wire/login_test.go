package wire

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/privilege/password"
)

// TestLoginDelay: over the wire, names with and without an account are delayed alike, a stop ends the waiting, and the log has the account
// and never a name that has none.
func TestLoginDelay(t *testing.T) {
	ts := startServer(t, nil)
	guess := func(user string) *rawClient {
		r := ts.dial(t)
		r.read()
		r.write(handshakeResponse(rawCaps, user, bytes.Repeat([]byte{1}, 20), password.Native))
		if p := r.read(); p[0] == headerEOF { // by another plugin; an empty answer is wrong as well
			r.write(nil)
			p = r.read()
			r.expectError(p, 1045)
		} else {
			r.expectError(p, 1045)
		}
		return r
	}
	for range password.FreeGuesses {
		guess("native")
		guess("gh0st")
	}
	if n := ts.Counters().Delayed; n != 0 {
		t.Errorf("%d of the free ones were delayed", n)
	}
	guess("native")
	guess("gh0st")
	if n := ts.Counters().Delayed; n != 2 {
		t.Errorf("%d were delayed", n)
	}
	if _, err := ts.connect(t, "native", "secret", ""); err != nil {
		t.Errorf("the right password: %v", err)
	}
	guess("native") // free again
	if n := ts.Counters().Delayed; n != 2 {
		t.Errorf("%d were delayed after a success", n)
	}
	log := ts.log.String()
	if !strings.Contains(log, `msg="refused a login"`) || !strings.Contains(log, "account=native@%") || strings.Contains(log, "gh0st") {
		t.Errorf("log:\n%s", log)
	}
	// Those that wait when the server stops are let go.
	ghost := password.SourceOf("gh0st", "127.0.0.1")
	for range 20 { // until the delay is its longest
		if _, held := ts.guesses.Failed(ghost, clock.Mono(), false); held {
			ts.guesses.Leave(ghost)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := ts.dial(t)
		r.read()
		r.write(handshakeResponse(rawCaps, "gh0st", bytes.Repeat([]byte{1}, 20), password.CachingSHA2))
		_, _ = r.tryRead()
		r.write([]byte{0})
		_, _ = r.tryRead()
	}()
	eventually(t, "it waits", func() bool { return ts.Counters().Delayed == 3 })
	if err := ts.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	<-done
}

// TestTLSAccountLooksTheSame: an account that wants TLS is not told from others by a client without it.
func TestTLSAccountLooksTheSame(t *testing.T) {
	ts := startServer(t, nil)
	var seen []string
	for _, user := range []string{"tls", "ghost"} {
		r := ts.dial(t)
		r.read()
		r.write(handshakeResponse(rawCaps, user, bytes.Repeat([]byte{1}, 32), password.CachingSHA2))
		text := string(r.read())
		r.write([]byte{shaRequestKey})
		text += string(r.read())
		r.write(make([]byte, rsaBits/8))
		seen = append(seen, text+strings.ReplaceAll(string(r.read()), user, "USER"))
	}
	if seen[0] != seen[1] {
		t.Errorf("they differ: %q", seen)
	}
}

// TestClientLeavesIsNoError: a client that leaves in the middle of a login, a change of user or a packet is no unexpected error.
func TestClientLeavesIsNoError(t *testing.T) {
	ts := startServer(t, nil)
	r := ts.dial(t)
	r.read()
	r.write(handshakeResponse(rawCaps, "sha", bytes.Repeat([]byte{1}, 32), password.CachingSHA2))
	r.read()
	_ = r.conn.Close()
	r = ts.dial(t)
	r.login(rawCaps, "root")
	if p := r.command([]byte{ComChangeUser}, []byte("sha\x00\x00\x00"), []byte{46, 0}, []byte(password.Native), []byte{0}); p[0] != headerEOF {
		t.Fatalf("%q", p)
	}
	_ = r.conn.Close()
	r = ts.dial(t)
	r.login(rawCaps, "root")
	_, _ = r.conn.Write([]byte{200, 0, 0, 0, ComQuery, 'O'})
	_ = r.conn.Close()
	eventually(t, "all are gone", func() bool { return ts.OpenConnections() == 0 })
	if log := ts.log.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
		t.Errorf("log:\n%s", log)
	}
}

// TestShutdownIsTold: an idle client learns why its connection ends, with TLS and compression too.
func TestShutdownIsTold(t *testing.T) {
	ts := startServer(t, nil)
	plain := ts.dial(t)
	plain.login(rawCaps, "root")
	secured, err := ts.connect(t, "root", "", "", withTLS)
	if err != nil {
		t.Fatal(err)
	}
	if err := ts.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	plain.expectError(plain.read(), 1053)
	secured.ResetSequence()
	p, err := secured.ReadPacket()
	if err != nil || len(p) < 3 || p[0] != headerErr || uint16(p[1])|uint16(p[2])<<8 != 1053 {
		t.Errorf("with TLS: %q, %v", p, err)
	}
}

// TestErrorsReachTheLog: lock waits, deadlocks and faults of the server are logged, at a bounded rate and without what clients sent.
func TestErrorsReachTheLog(t *testing.T) {
	ts := startServer(t, nil)
	r := ts.dial(t)
	r.login(rawCaps, "root")
	for _, c := range []struct {
		number uint16
		level  string
	}{{1205, "WARN"}, {1213, "WARN"}, {1021, "ERROR"}, {1105, "ERROR"}, {1062, ""}} {
		r.expectError(r.command([]byte{ComQuery}, fmt.Appendf(nil, "ERROR %d", c.number)), c.number)
		line := fmt.Sprintf("level=%s msg=\"a statement failed\" conn=1 account=root@localhost number=%d", c.level, c.number)
		if strings.Contains(ts.log.String(), line) != (c.level != "") {
			t.Errorf("%d: log:\n%s", c.number, ts.log.String())
		}
	}
	for range 5 * logsPerSecond {
		r.command([]byte{ComQuery}, []byte("ERROR 1205"))
	}
	if n, seconds := strings.Count(ts.log.String(), "number=1205"), int(ts.now.Load()/10)+1; n > logsPerSecond*seconds {
		t.Errorf("%d lines in %d seconds", n, seconds)
	}
}
