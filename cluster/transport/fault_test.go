package transport

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
)

// TestReconnect: after a connection was cut, and after one that is silent was given up, messages arrive again, and in between the node counts
// as not connected.
func TestReconnect(t *testing.T) {
	c := newCluster(t, quick)
	a, b := c.join(1, nil), c.start(2, func(o *Options) { o.Advertise = "" }) // or the proxy would be passed by
	proxy := testkit.NewProxy(t, testkit.ProxyOptions{Target: b.Addr().String()})
	c.place(2, proxy.Address())
	connected := func() bool {
		s := a.Nodes()
		return len(s) == 1 && s[0].Connected
	}
	arrives := func(what string) {
		t.Helper()
		before := len(b.in.got())
		testkit.Await(t, what, func() bool {
			a.Send(2, 1, []byte("0 "))
			return len(b.in.got()) > before
		})
	}
	arrives("a message")
	for range 3 {
		before := a.Metrics().Reconnects.Load()
		proxy.Cut(testkit.Everyone)
		// A message that had waited for the link before may have brought the next one at once.
		testkit.Await(t, "the cut", func() bool { return !connected() || a.Metrics().Reconnects.Load() > before })
		arrives("a message after a cut")
	}
	for what, silence := range map[string]func(){
		"silence":         proxy.Silence,
		"being not heard": func() { proxy.Hold(testkit.Way{Dialer: testkit.Everyone}) },
		"hearing nothing": func() { proxy.Hold(testkit.Way{Dialer: testkit.Everyone, Back: true}) },
	} {
		silence()
		testkit.Await(t, "that the node is given up after "+what, func() bool { return !connected() })
		// Whichever end lost patience first closed the connection, and the other may only have seen that.
		testkit.Await(t, "the log", func() bool {
			return a.log.has("nothing was heard of it") || b.log.has("nothing was heard of it")
		})
		proxy.Heal()
		arrives("a message after " + what)
	}
	testkit.Await(t, "the connection", func() bool {
		a.Send(2, 1, []byte("0 ")) // a link that ends, as a slow machine's may, comes back when there is something to send
		return connected()
	})
	if a.Metrics().Reconnects.Load() == 0 {
		t.Error("no reconnection was counted")
	}
}

// TestRefusals: each fault has its sentence in the log of one side at least, nothing crosses, and without the fault it would have.
func TestRefusals(t *testing.T) {
	other := newAuthority(t)
	for name, test := range map[string]struct {
		change   func(c *cluster, o *Options) // of node 2, which speaks to node 1
		prepare  func(c *cluster)
		here     string // in node 2's log
		there    string // in node 1's
		admitted bool
	}{
		"nothing is wrong": {admitted: true},
		"another cluster's authority": {change: func(c *cluster, o *Options) {
			o.Authority, o.Certificate = other.cert, other.node(c.t, 2)
		}, here: "is of another cluster: its certificate is of another authority"},
		"a certificate of another cluster's authority": {change: func(c *cluster, o *Options) {
			o.Certificate = other.node(c.t, 2)
		}, here: "refuses this node's certificate", there: "is of another cluster"},
		"a certificate of another node": {change: func(c *cluster, o *Options) { o.Certificate = c.authority.node(c.t, 3) }, here: "its certificate is of node 3",
			there: "its certificate is of node 3"},
		"another cluster's number": {change: func(c *cluster, o *Options) { o.Cluster = 0xc2 }, here: "at "},
		"a removed node":           {prepare: func(c *cluster) { c.place(2, "") }, here: "node 2 is no member", there: "node 2 is no member"},
		"an older program": {change: func(c *cluster, o *Options) { o.Oldest, o.Newest = 0, 0 }, here: "the program of node 2 is too old",
			there: "the program of node 2 is too old"},
		"a newer program": {change: func(c *cluster, o *Options) { o.Oldest, o.Newest = 2, 3 }, here: "this node's program is too old"},
		"an expired certificate": {change: func(c *cluster, o *Options) {
			o.Certificate = c.authority.issue(c.t, NodeName(testCluster, 2), clock.Now().Add(-2*time.Hour), clock.Now().Add(-time.Hour))
		}, here: "one of the two clocks is wrong", there: "set the clock"},
		"a certificate from the future": {change: func(c *cluster, o *Options) {
			o.Certificate = c.authority.issue(c.t, NodeName(testCluster, 2), clock.Now().Add(time.Hour), clock.Now().Add(2*time.Hour))
		}, there: "set the clock"},
		"another node at the address": {prepare: func(c *cluster) {
			c.place(3, c.addresses[1])
			c.place(1, c.addresses[2])
		}, here: "at "},
		"nobody at the address": {prepare: func(c *cluster) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				c.t.Fatal(err)
			}
			c.place(1, l.Addr().String())
			l.Close()
		}, here: "nobody listens at"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, patient)
			a := c.join(1, nil)
			b := c.join(2, func(o *Options) {
				if test.change != nil {
					test.change(c, o)
				}
			})
			if test.prepare != nil {
				test.prepare(c)
			}
			if test.admitted {
				b.Send(1, 1, []byte("0 "))
				testkit.Await(t, "the message", func() bool { return len(a.in.got()) == 1 })
				return
			}
			testkit.Await(t, "the sentences", func() bool {
				b.Send(1, 1, []byte("0 "))
				return b.log.has(test.here) && a.log.has(test.there)
			})
			if len(a.in.got()) != 0 {
				t.Error("a message crossed")
			}
		})
	}
}

// TestRemoved (N7): a node that is removed while it is connected is cut off.
func TestRemoved(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	b.Send(1, 1, []byte("0 "))
	testkit.Await(t, "the message", func() bool { return len(a.in.got()) == 1 })
	c.place(2, "")
	testkit.Await(t, "the end", func() bool {
		b.Send(1, 1, []byte("1 "))
		s := b.Nodes()
		return len(s) == 1 && strings.Contains(s[0].Reason, "no member")
	})
}

// TestTwin (N1, N5): of two lives of one number the one that came second is refused, rests, and is told that it must not go on; when the
// first has ended it is an older copy, which is never welcome. The next start is.
func TestTwin(t *testing.T) {
	c := newCluster(t, patient)
	a := c.join(1, nil)
	first := c.join(2, nil)
	first.Send(1, 1, []byte("0 first"))
	testkit.Await(t, "the first life", func() bool { return len(a.in.got()) == 1 })
	fatal := make(chan error, 1)
	second := c.start(2, func(o *Options) {
		d := patient
		d.twin = 0
		o.delays = &d
		o.Fatal = func(err error) {
			select {
			case fatal <- err:
			default:
			}
		}
	})
	second.Send(1, 1, []byte("1 second"))
	if err := <-fatal; !strings.Contains(err.Error(), "copy") {
		t.Error(err)
	}
	if !second.suspect.Load() {
		t.Error("the second life does not rest")
	}
	testkit.Await(t, "the sentence", func() bool {
		return a.log.has("copied and started twice") && second.log.has("copied and started twice")
	})
	if len(a.in.got()) != 1 {
		t.Error("the second life was heard")
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	testkit.Await(t, "the refusal of what is an older copy now", func() bool {
		second.Send(1, 1, []byte("1 second"))
		s := second.Nodes()
		return len(s) == 1 && strings.Contains(s[0].Final, "older copy of the directory")
	})
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	third := c.start(2, func(o *Options) { o.Incarnation = func() uint64 { return 2 } })
	testkit.Await(t, "the next start", func() bool {
		third.Send(1, 1, []byte("1 third"))
		return len(a.in.got()) > 1
	})
	if len(a.in.got()) < 2 || a.in.got()[1].text != "1 third" {
		t.Error("the second life was heard")
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
	old := c.start(2, func(o *Options) { o.Incarnation = func() uint64 { return 0 } })
	testkit.Await(t, "the sentence about an older copy", func() bool {
		old.Send(1, 1, []byte("2 old"))
		return a.log.has("an older copy of the directory") && old.log.has("an older copy of the directory")
	})
	// A copy that reaches the one that it is a copy of is told at once.
	again := c.start(1, nil)
	c.place(3, a.Addr().String())
	if _, err := again.Contact(background(t), a.Addr().String()); err == nil || !strings.Contains(err.Error(), "copied and started twice") {
		t.Error(err)
	}
}

// TestTwinsAtOnce (N5): two copies of a directory that were started in the same moment, each of which another node has welcomed first, are both refused by the
// one that does not know them, rest, and are told that they must not go on.
func TestTwinsAtOnce(t *testing.T) {
	c := newCluster(t, patient)
	others := [2]*node{c.join(1, nil), c.join(3, nil)}
	var twins [2]*node
	var fatal [2]chan error
	for i := range twins {
		fatal[i] = make(chan error, 1)
		twins[i] = c.start(2, func(o *Options) {
			d := patient
			d.twin = 0
			o.delays = &d
			o.Fatal = func(err error) {
				select {
				case fatal[i] <- err:
				default:
				}
			}
		})
		c.place(2, twins[i].Addr().String())
		testkit.Await(t, "a welcome", func() bool {
			twins[i].Send(others[i].o.Node, 1, []byte("0 "))
			return len(others[i].in.got()) > 0
		})
	}
	for i, twin := range twins {
		testkit.Await(t, "the other's refusal", func() bool {
			twin.Send(others[1-i].o.Node, 1, []byte("1 "))
			return twin.log.has("copied and started twice")
		})
		if err := <-fatal[i]; !strings.Contains(err.Error(), "is a copy of one that is in use") {
			t.Error(err)
		}
		if !twin.suspect.Load() {
			t.Error("a twin does not rest")
		}
	}
	for i := range others {
		for _, m := range others[i].in.got() {
			if m.text == "1 " {
				t.Errorf("node %d heard a twin that it does not know", others[i].o.Node)
			}
		}
	}
}

// TestIncarnationGrows: a node whose incarnation has grown while it runs, and of which others know that, is heard as before. It is what a node does that
// becomes the gateway again.
func TestIncarnationGrows(t *testing.T) {
	c := newCluster(t, patient)
	var named, known atomic.Uint64
	named.Store(1)
	admit := func(_, incarnation uint64) error {
		if least := known.Load(); incarnation < least {
			return fmt.Errorf("%d openings, not %d", incarnation, least)
		}
		return nil
	}
	a, b := c.join(1, func(o *Options) { o.Incarnation = named.Load }), c.join(2, func(o *Options) { o.Incarnation, o.Admit = named.Load, admit })
	hears := func(what string, incarnation uint64) {
		t.Helper()
		testkit.Await(t, fmt.Sprintf("incarnation %d", incarnation), func() bool {
			a.Send(2, 1, []byte("0 "))
			there := b.Nodes()
			return len(there) == 1 && there[0].Incarnation == incarnation
		})
		before := len(b.in.got())
		testkit.Await(t, what, func() bool {
			a.Send(2, 1, []byte("0 "))
			return len(b.in.got()) > before
		})
	}
	hears("a message", 1)
	named.Store(2) // first, as a store does
	known.Store(2)
	hears("a message of the next incarnation", 2)
	known.Store(3)
	testkit.Await(t, "the refusal of an older copy", func() bool {
		a.Send(2, 1, []byte("0 "))
		return a.log.has("2 openings, not 3")
	})
}

// TestMoved: nodes that have all moved find each other by one hint, and a node that moves alone is found where it says that it is.
func TestMoved(t *testing.T) {
	c := newCluster(t, patient)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	for id := range uint64(3) {
		c.place(id+1, nobody.Addr().String()) // where they were
	}
	a := c.start(1, nil)
	hint := func(o *Options) { o.Hints = []string{a.Addr().String(), o.Advertise} } // one's own address among them does no harm
	b, d := c.start(2, hint), c.start(3, hint)
	for _, pair := range [][2]*node{{a, b}, {a, d}, {b, a}, {d, a}, {b, d}, {d, b}} {
		from, to := pair[0], pair[1]
		testkit.Await(t, fmt.Sprintf("a message of %d to %d", from.o.Node, to.o.Node), func() bool {
			from.Send(to.o.Node, 1, []byte("0 "))
			for _, m := range to.in.got() {
				if m.from == from.o.Node {
					return true
				}
			}
			return false
		})
	}
	if n, err := a.Contact(background(t), b.Addr().String()); n != 2 || err != nil {
		t.Error(n, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	moved := c.start(2, func(o *Options) { hint(o); o.Incarnation = func() uint64 { return 2 } })
	testkit.Await(t, "a message to its new place", func() bool {
		d.Send(2, 1, []byte("0 "))
		a.Send(2, 1, []byte("0 "))
		heard := map[uint64]bool{}
		for _, m := range moved.in.got() {
			heard[m.from] = true
		}
		return heard[1] && heard[3]
	})
}

// TestStrangers: garbage, silence, and claims of size neither disturb a node nor take its memory, and strangers are bounded.
func TestStrangers(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	say := func(b []byte) {
		conn, err := net.Dial("tcp", a.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// The node may close before all was said.
		_, _ = conn.Write(b)
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	}
	random := testkit.Rand(testkit.Seed(t), 2)
	for range 50 {
		garbage := make([]byte, random.IntN(5000))
		for i := range garbage {
			garbage[i] = byte(random.Uint32())
		}
		say(garbage)
	}
	say([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	testkit.Await(t, "the sentence", func() bool { return a.log.has("no cluster port") })
	// With a certificate, but what follows is not a hello.
	for _, b := range [][]byte{nil, {0xff, 0xff, 0xff, 0xff, 1}, appendFrame(nil, kindHello, []byte("PNDT"), nil), appendFrame(nil, kindHello, []byte("PNDT\x02..........."), nil),
		appendFrame(nil, kindMessage, make([]byte, 100), nil)} {
		conn, err := tls.Dial("tcp", a.Addr().String(), member(c, a).clientConfig(1))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(b)
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}
	var silent []net.Conn
	defer func() {
		for _, conn := range silent {
			conn.Close()
		}
	}()
	for range strangersOfHostMax + 1 {
		conn, err := net.Dial("tcp", a.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, conn)
	}
	testkit.Await(t, "the bound", func() bool { return a.log.has("too many connections") })
	for _, conn := range silent {
		conn.Close()
	}
	testkit.Await(t, "a message all the same", func() bool {
		b.Send(1, 1, []byte("0 ")) // as long as the strangers of this address have not left, it is one too many
		return len(a.in.got()) > 0
	})
	testkit.Await(t, "that all have left", func() bool {
		a.strangers.mu.Lock()
		defer a.strangers.mu.Unlock()
		return a.strangers.total == 0 && len(a.strangers.ofHost) == 0
	})
}

// member is a transport that is only good for its certificate.
func member(c *cluster, a *node) *Transport {
	return &Transport{o: Options{Cluster: testCluster, Certificate: c.authority.node(c.t, 2)}, authorities: a.authorities}
}

// TestAnnouncedSize: a frame takes memory as its bytes come.
func TestAnnouncedSize(t *testing.T) {
	b := binary.BigEndian.AppendUint32(nil, frameBytesMax)
	b = append(append(b, byte(kindMessage)), make([]byte, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readFrame(strings.NewReader(string(b)), frameBytesMax)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes were taken for 1000", took)
	}
}

// TestJoin: a node without a certificate is answered if it knows the authority's fingerprint, and nobody else's answer is taken.
func TestJoin(t *testing.T) {
	c := newCluster(t, patient)
	a := c.join(1, func(o *Options) {
		o.Join = func(_ context.Context, from net.Addr, request []byte) ([]byte, error) {
			if from == nil || string(request) != "let me in" {
				return nil, errors.New("the token has expired")
			}
			return []byte("come in"), nil
		}
	})
	closed := c.join(2, nil)
	ctx := background(t)
	sum := Fingerprint(c.authority.cert)
	if b, err := Ask(ctx, a.Addr().String(), sum[:], []byte("let me in")); err != nil || string(b) != "come in" {
		t.Errorf("%q %v", b, err)
	}
	_, err := Ask(ctx, a.Addr().String(), sum[:], []byte("please"))
	if remote, is := errors.AsType[*RemoteError](err); !is || remote.Text != "the token has expired" {
		t.Error(err)
	}
	if _, err := Ask(ctx, a.Addr().String(), make([]byte, 32), []byte("let me in")); err == nil || !strings.Contains(err.Error(), "not the one of the join token") {
		t.Error(err)
	}
	if _, err := Ask(ctx, closed.Addr().String(), sum[:], []byte("let me in")); err == nil {
		t.Error("a node that takes nobody in answered")
	}
	if _, err := Ask(ctx, a.Addr().String(), sum[:], make([]byte, joinBytesMax+1)); err == nil {
		t.Error("a request of any size was answered")
	}
	if err := Probe(ctx, a.Addr().String()); err != nil {
		t.Error(err)
	}
}
