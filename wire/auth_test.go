package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege/password"
)

// TestUnknownUserLooksTheSame compares the packets that a wrong password and an unknown user get, over TLS and without.
func TestUnknownUserLooksTheSame(t *testing.T) {
	ts := startServer(t, nil)
	for _, secured := range []bool{false, true} {
		var transcripts []string
		for _, user := range []string{"sha", "xxx", "root"} { // root has no password: sending one is as wrong
			r := ts.dial(t)
			r.read()
			caps := uint32(rawCaps)
			if secured {
				caps |= capSSL
				r.write(handshakeResponse(caps, "", nil, "")[:sslRequestLen])
				r.conn = tls.Client(r.conn, &tls.Config{InsecureSkipVerify: true})
				r.seq++
			}
			r.write(handshakeResponse(caps, user, bytes.Repeat([]byte{1}, 32), password.CachingSHA2))
			seen := string(r.read())
			if secured {
				r.write([]byte("wrong\x00"))
			} else {
				r.write([]byte{shaRequestKey})
				seen += string(r.read())
				r.write(make([]byte, rsaBits/8))
			}
			transcripts = append(transcripts, seen+strings.ReplaceAll(string(r.read()), user, "USER"))
			r.expectClosed()
		}
		if transcripts[0] != transcripts[1] || transcripts[0] != transcripts[2] {
			t.Errorf("they differ: %q", transcripts)
		}
		if !strings.Contains(transcripts[0], "Access denied for user 'USER'@'localhost' (using password: YES)") {
			t.Errorf("%q", transcripts[0])
		}
	}
	// Those over TLS, whose passwords were hashed, and those without, whose passwords did not decrypt.
	if d := ts.Counters().Denied; d != 6 {
		t.Errorf("%d were denied", d)
	}
}

// deadlined is a connection that keeps its last deadline, and has none.
type deadlined struct {
	net.Conn
	last atomic.Pointer[time.Time]
}

func (c *deadlined) SetDeadline(at time.Time) error {
	c.last.Store(&at)
	return nil
}

// TestKeyTakesNoTimeOfClients: while the server makes its RSA key, which may take a slow machine longer than a handshake, the time of the client that has asked for it
// stands still; one that is disconnected meanwhile does not get another turn.
func TestKeyTakesNoTimeOfClients(t *testing.T) {
	ts := startServer(t, nil)
	making, goOn := make(chan struct{}), make(chan struct{})
	go ts.tls.rsaOnce.Do(func() {
		close(making)
		<-goOn
		ts.tls.rsaKey, ts.tls.rsaErr = rsa.GenerateKey(rand.Reader, rsaBits)
		ts.tls.rsaPEM = []byte("key")
	})
	<-making
	waiting := func() (*rawClient, *deadlined) {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		_ = far.SetDeadline(time.Now().Add(patience))
		c := &deadlined{Conn: near}
		r := &rawClient{t: t, conn: far}
		ts.ServeConn(c)
		r.read()
		r.write(handshakeResponse(rawCaps, "sha", bytes.Repeat([]byte{1}, 32), password.CachingSHA2))
		r.read()
		r.write([]byte{shaRequestKey})
		return r, c
	}
	ts.dial(t).read() // it listens, and may be shut down from now on
	gone, _ := waiting()
	for _, c := range ts.snapshot(nil) {
		c.nudge(kvapi.ReasonShutdown)
	}
	r, c := waiting()
	made := time.Now()
	close(goOn)
	if p := r.read(); string(p) != string([]byte{headerMore})+"key" {
		t.Errorf("%q instead of the key", p)
	}
	if at := *c.last.Load(); at.Before(made.Add(handshakeTimeoutDefault)) {
		t.Errorf("the client has %v left", time.Until(at))
	}
	gone.expectError(gone.read(), 1053)
	gone.expectClosed()
}

// TestUnknownUserOfNativeAccounts: where accounts have the native plugin, so have names without an account.
func TestUnknownUserOfNativeAccounts(t *testing.T) {
	ts := startServer(t, nil)
	ts.backend.native = 1
	var seen []string
	for _, user := range []string{"native", "ghost!"} {
		r := ts.dial(t)
		r.read()
		r.write(handshakeResponse(rawCaps, user, bytes.Repeat([]byte{1}, 32), password.CachingSHA2))
		p := r.read()
		p = p[:len(p)-password.SaltBytes-1] // the salt differs anyway
		r.write(bytes.Repeat([]byte{1}, 20))
		seen = append(seen, string(p)+strings.ReplaceAll(string(r.read()), user, "USER"))
		r.expectClosed()
	}
	if seen[0] != seen[1] || !strings.Contains(seen[0], password.Native) {
		t.Errorf("they differ: %q", seen)
	}
}
