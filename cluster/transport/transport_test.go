package transport

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
)

const testCluster = 0xc1

// patient keeps links for as long as a test may take: nothing is lost because the machine has no time.
var patient = delays{dial: time.Minute, handshake: time.Minute, ping: 50 * time.Millisecond, dead: 2 * time.Minute, orphan: 2 * time.Minute, retryMin: time.Millisecond,
	retryMax: 20 * time.Millisecond, join: time.Minute, twin: time.Hour}

// quick notices a dead peer soon, and may take a slow one for dead.
var quick = delays{dial: time.Second, handshake: time.Second, ping: 20 * time.Millisecond, dead: time.Second, orphan: 50 * time.Millisecond, retryMin: time.Millisecond,
	retryMax: 20 * time.Millisecond, join: time.Minute, twin: 0}

type authority struct {
	cert *x509.Certificate
	key  ed25519.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: clock.Now().Add(-time.Hour), NotAfter: clock.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

func (a *authority) issue(t testing.TB, name string, from, to time.Time) tls.Certificate {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: from, NotAfter: to,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw, a.cert.Raw}, PrivateKey: key}
}

func (a *authority) node(t testing.TB, node uint64) tls.Certificate {
	return a.issue(t, NodeName(testCluster, node), clock.Now().Add(-time.Hour), clock.Now().Add(time.Hour))
}

// message is a raft message that arrived.
type message struct {
	from, region uint64
	text         string
}

// inbox is a handler that keeps what comes. Functions that are nil answer nothing.
type inbox struct {
	mu       sync.Mutex
	messages []message
	snapshot func(from, region uint64, r io.Reader) error
	call     func(ctx context.Context, from uint64, kind byte, payload []byte) ([]byte, error)
	client   func(from uint64, c net.Conn)
}

func (in *inbox) Raft(from, region uint64, m []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.messages = append(in.messages, message{from, region, string(m)})
}

func (in *inbox) got() []message {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.messages[:len(in.messages):len(in.messages)]
}

func (in *inbox) Snapshot(from, region uint64, r io.Reader) error {
	if in.snapshot == nil {
		return errors.New("no snapshots here")
	}
	return in.snapshot(from, region, r)
}

func (in *inbox) Call(ctx context.Context, from uint64, kind byte, payload []byte) ([]byte, error) {
	if in.call == nil {
		return nil, errors.New("no calls here")
	}
	return in.call(ctx, from, kind, payload)
}

func (in *inbox) Client(from uint64, c net.Conn) {
	if in.client != nil {
		in.client(from, c)
	}
}

// logged keeps what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), part)
}

// cluster is a cluster of transports on this machine.
type cluster struct {
	t         testing.TB
	authority *authority
	delays    delays
	mu        sync.Mutex
	addresses map[uint64]string // members, as region 0 would say
}

func newCluster(t testing.TB, d delays) *cluster {
	return &cluster{t: t, authority: newAuthority(t), delays: d, addresses: map[uint64]string{}}
}

func (c *cluster) place(node uint64, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if address == "" {
		delete(c.addresses, node)
	} else {
		c.addresses[node] = address
	}
}

func (c *cluster) address(node uint64) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.addresses[node]
	return a, ok
}

type node struct {
	*Transport
	in  *inbox
	log *logged
}

// start starts a node; change may change its options before.
func (c *cluster) start(id uint64, change func(*Options)) *node {
	c.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	n := &node{in: &inbox{}, log: &logged{}}
	d := c.delays
	o := Options{Listener: listener, Cluster: testCluster, Node: id, Incarnation: func() uint64 { return 1 }, Oldest: 1, Newest: 1, Certificate: c.authority.node(c.t, id),
		Authority: c.authority.cert, Advertise: listener.Addr().String(), Addresses: c.address, Handler: n.in,
		Logger: slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug})), delays: &d}
	if change != nil {
		change(&o)
	}
	if n.Transport, err = Listen(o); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = n.Close() }) // a test may have closed it
	return n
}

// join starts a node that is a member.
func (c *cluster) join(id uint64, change func(*Options)) *node {
	n := c.start(id, change)
	c.place(id, n.Addr().String())
	return n
}

// background is a context that ends before the test's own limit.
func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// misplaced returns the first place where a list of messages is not 0, 1, 2 and so on, -1 if there is none.
func misplaced(list []message) int {
	for i, m := range list {
		if m.text[:strings.IndexByte(m.text, ' ')] != fmt.Sprint(i) {
			return i
		}
	}
	return -1
}

// TestMessages: messages of all sizes arrive once, in their order, with the region and the sender.
func TestMessages(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	const count = 2000
	size := func(i int) int {
		if i%500 == 7 {
			return 300 << 10
		}
		return i % 97
	}
	for i := range count {
		a.Send(2, uint64(i), fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", size(i))))
		b.Send(1, 1<<40, fmt.Appendf(nil, "%d ", i))
	}
	for _, n := range []*node{a, b} {
		testkit.Await(t, "all messages", func() bool { return len(n.in.got()) == count })
		if at := misplaced(n.in.got()); at >= 0 {
			t.Errorf("message %d of node %d is %.20q", at, n.o.Node, n.in.got()[at].text)
		}
	}
	for i, m := range b.in.got() {
		if m.from != 1 || m.region != uint64(i) || len(m.text) != len(fmt.Sprint(i))+1+size(i) {
			t.Errorf("message %d came from %d, region %d, with %d bytes", i, m.from, m.region, len(m.text))
		}
	}
	testkit.Await(t, "a ping", func() bool { return a.Metrics().RTT.Count() > 0 })
	if s := a.Nodes(); len(s) != 1 || s[0].Node != 2 || !s[0].Connected || s[0].Address != b.Addr().String() || s[0].Reason != "" {
		t.Errorf("node 1 knows %+v", s)
	}
	if m := a.Metrics(); m.SentMessages.Load() != count || m.Drops.Load() != 0 || m.ReceivedBytes.Load() == 0 {
		t.Errorf("%d sent, %d dropped", m.SentMessages.Load(), m.Drops.Load())
	}
	swapped := []message{{text: "1 "}, {text: "0 "}}
	if misplaced(swapped) != 0 || misplaced([]message{{text: "0 "}, {text: "2 "}}) != 1 {
		t.Error("the canary was not noticed")
	}
}

// TestSendNeverWaits: to a node that is not there, that is no member, or that takes nothing, Send returns, drops and counts.
func TestSendNeverWaits(t *testing.T) {
	c := newCluster(t, patient)
	a := c.join(1, nil)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c.place(3, silent.Addr().String()) // accepts, and says nothing
	big := make([]byte, 1<<20)
	for range 2 * queueBytesMax / len(big) {
		a.Send(3, 1, big)
	}
	if d := a.Metrics().Drops.Load(); d == 0 {
		t.Error("nothing was dropped")
	}
	p := a.peer(3)
	p.mu.Lock()
	held := len(p.waiting.buf)
	p.mu.Unlock()
	if held > queueBytesMax {
		t.Errorf("%d bytes wait", held)
	}
	a.Send(9, 1, []byte("nobody"))
	testkit.Await(t, "the reason", func() bool { return strings.Contains(peerFault(a, 9), "no member") })
}

// TestSmallQueues: with queues of a few frames much is refused, which is counted, and nothing hangs: calls end, by their answer or by an error that
// says that there is no room, and messages get through as soon as it is calmer.
func TestSmallQueues(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	limits := Limits{QueueFrames: 1 + rng.IntN(3), QueueBytes: 1 + rng.IntN(8<<10)}
	t.Logf("%+v", limits)
	c := newCluster(t, patient)
	small := func(o *Options) { o.Limits = limits }
	a, b := c.join(1, small), c.join(2, small)
	b.in.call = func(_ context.Context, _ uint64, _ byte, payload []byte) ([]byte, error) { return payload, nil }
	ctx, big := background(t), make([]byte, 4<<10)
	var callers sync.WaitGroup
	var answered atomic.Int64
	for range 16 {
		callers.Go(func() {
			for range 100 {
				switch answer, err := a.Call(ctx, 2, 1, big); {
				case err == nil && len(answer) == len(big):
					answered.Add(1)
				case ctx.Err() != nil:
					t.Error("a call hangs")
					return
				}
			}
		})
	}
	for range 1000 {
		a.Send(2, 1, big)
	}
	callers.Wait()
	if answered.Load() == 0 {
		t.Error("no call was answered")
	}
	if a.Metrics().Full.Load() == 0 || a.Metrics().Drops.Load() == 0 {
		t.Errorf("%d frames were refused, %d messages dropped", a.Metrics().Full.Load(), a.Metrics().Drops.Load())
	}
	testkit.Await(t, "a message of its own to arrive", func() bool {
		a.Send(2, 7, []byte("afterwards"))
		for _, m := range b.in.got() {
			if m.region == 7 {
				return true
			}
		}
		return false
	})
	testkit.Await(t, "a call of its own to be answered", func() bool {
		answer, err := a.Call(ctx, 2, 1, big)
		return err == nil && len(answer) == len(big)
	})
}

func peerFault(t *node, to uint64) string {
	fault, _ := t.peer(to).reason()
	return fault
}

// TestClose: Close returns, twice if need be, whatever is going on, and what comes afterwards fails.
func TestClose(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	started := make(chan struct{}, 3)
	b.in.call = func(ctx context.Context, _ uint64, _ byte, _ []byte) ([]byte, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b.in.snapshot = func(_, _ uint64, r io.Reader) error {
		started <- struct{}{}
		_, err := io.Copy(io.Discard, r)
		return err
	}
	b.in.client = func(_ uint64, c net.Conn) {
		started <- struct{}{}
		_, _ = io.Copy(io.Discard, c)
	}
	ctx := background(t)
	failed := make(chan error, 1)
	go func() {
		_, err := a.Call(ctx, 2, 1, nil)
		failed <- err
	}()
	w, err := a.Snapshot(ctx, 2, 7)
	if err != nil {
		t.Fatal(err)
	}
	client, err := a.DialClient(ctx, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Send(2, 1, []byte("0 "))
	for range 3 {
		<-started
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("a call to a closed node succeeded")
	}
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Error("a client of a closed node reads")
	}
	if err := w.Close(); err == nil {
		t.Error("a snapshot to a closed node succeeded")
	}
	client.Close()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if a.Close() == nil {
		t.Error("closed twice")
	}
	a.Send(2, 1, nil)
	if _, err := a.Call(ctx, 2, 1, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if len(a.conns) != 0 {
		t.Errorf("%d connections are left", len(a.conns))
	}
}
