package wire

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/privilege/password"
)

// TestPenalties: failures of one source are answered later and later, others' are not, and a right password forgives them.
func TestPenalties(t *testing.T) {
	var p penalties
	now := time.Hour
	guess := func(s source) time.Duration {
		held, refused := p.enter(s, now)
		if refused {
			t.Fatalf("%v has no place", s)
		}
		delay, held := p.failed(s, now, held)
		if held {
			p.leave(s)
		}
		return delay
	}
	attacker, app := sourceOf("root", "192.0.2.1"), sourceOf("root", "192.0.2.2")
	var got []time.Duration
	for range 10 {
		got = append(got, guess(attacker))
	}
	const ms = time.Millisecond
	if want := fmt.Sprint([]time.Duration{0, 0, 0, 250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 4000 * ms, 4000 * ms}); fmt.Sprint(got) != want {
		t.Errorf("delays %v, want %s", got, want)
	}
	if d := guess(app); d != 0 {
		t.Errorf("the same account from elsewhere waits %v", d)
	}
	if d := guess(sourceOf("other", "192.0.2.1")); d != 0 {
		t.Errorf("another account from the same address waits %v", d)
	}
	now += penaltyForget + 1
	if d := guess(attacker); d != 0 {
		t.Errorf("after a long while it still waits %v", d)
	}
	for range 5 {
		guess(attacker)
	}
	p.succeeded(attacker)
	if d := guess(attacker); d != 0 {
		t.Errorf("after a success it waits %v", d)
	}
}

// TestPenaltyPlaces: a source in delay has few logins under way at once, all sources together have not many, and both get them back.
func TestPenaltyPlaces(t *testing.T) {
	var p penalties
	fail := func(s source) {
		for range penaltyFree {
			p.failed(s, 0, false)
		}
	}
	taken := 0
	for i := 0; taken < penaltyWaitAllMax; i++ {
		s := source{"u", fmt.Sprint(i)}
		fail(s)
		for range penaltyWaitMax {
			if held, refused := p.enter(s, 0); !held || refused {
				t.Fatalf("source %d: no place among %d", i, taken)
			}
			taken++
		}
		if held, refused := p.enter(s, 0); held || !refused {
			t.Fatalf("source %d has more than its places", i)
		}
	}
	late := source{"late", ""}
	fail(late)
	if _, refused := p.enter(late, 0); !refused {
		t.Error("there are more places than allowed")
	}
	if held, refused := p.enter(source{"fresh", ""}, 0); held || refused {
		t.Error("who has not failed is kept out")
	}
	p.leave(source{"u", "0"})
	if held, _ := p.enter(late, 0); !held {
		t.Error("a place was not given back")
	}
}

// TestPenaltyMemory: sources are forgotten, the oldest first, but for those that hold a place.
func TestPenaltyMemory(t *testing.T) {
	var p penalties
	waits := source{"waits", ""}
	for range penaltyFree {
		p.failed(waits, 0, false)
	}
	p.enter(waits, 0)
	for i := range 2 * penaltySourcesMax {
		p.failed(source{"u", fmt.Sprint(i)}, 0, false)
	}
	if n := len(p.sources); n != penaltySourcesMax || n != p.recent.Len() {
		t.Errorf("%d sources are remembered, %d in order", n, p.recent.Len())
	}
	if p.sources[source{"u", fmt.Sprint(2*penaltySourcesMax - 1)}] == nil || p.sources[waits] == nil {
		t.Error("the newest or the waiting one is forgotten")
	}
	p.leave(waits)
}

func TestPenaltySource(t *testing.T) {
	if sourceOf("u", "2001:db8::1") != sourceOf("u", "2001:db8::ffff:1") || sourceOf("u", "2001:db8:0:1::1") == sourceOf("u", "2001:db8::1") {
		t.Error("IPv6 addresses are told apart by their first 64 bits")
	}
	if sourceOf("u", "10.0.0.1") == sourceOf("u", "10.0.0.2") || sourceOf("u", "") != (source{"u", ""}) {
		t.Error("other sources")
	}
}

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
	for range penaltyFree {
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
	ts.penalties.mu.Lock()
	ts.penalties.sources[sourceOf("gh0st", "127.0.0.1")].Value.(*record).failures = 100
	ts.penalties.mu.Unlock()
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
