package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
)

// TestSnapshots: a snapshot arrives whole, its verdict is the receiver's, and what is not complete is never taken for complete.
func TestSnapshots(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	type seen struct {
		region uint64
		sum    [32]byte
		err    error
	}
	got := make(chan seen, 1)
	b.in.snapshot = func(_, region uint64, r io.Reader) error {
		if region == 13 {
			return errors.New("the disk is full")
		}
		if region == 14 {
			return nil // without having read it
		}
		h := sha256.New()
		_, err := io.Copy(h, r)
		got <- seen{region, [32]byte(h.Sum(nil)), err}
		return err
	}
	ctx := background(t)
	content := make([]byte, 9<<20+17)
	random := testkit.Rand(testkit.Seed(t), 1)
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	send := func(region uint64) *SnapshotWriter {
		t.Helper()
		w, err := a.Snapshot(ctx, 2, region)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := send(5)
	for b := content; len(b) > 0; { // pieces of every size
		n := min(len(b), 1+random.IntN(600<<10))
		if _, err := w.Write(b[:n]); err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s.region != 5 || s.sum != sha256.Sum256(content) || s.err != nil {
		t.Errorf("region %d, error %v, or other bytes arrived", s.region, s.err)
	}
	w = send(6)
	if err := w.Close(); err != nil { // an empty one
		t.Error(err)
	}
	<-got

	w = send(7)
	if _, err := w.Write(content[:1<<20]); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if s := <-got; s.err == nil {
		t.Error("an aborted snapshot was read to its end")
	}
	if err := w.Close(); err != nil {
		t.Errorf("closed after it was aborted: %v", err)
	}

	short, cancel := context.WithCancel(ctx)
	w, err := a.Snapshot(short, 2, 8)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if s := <-got; s.err == nil {
		t.Error("a cancelled snapshot was read to its end")
	}
	if err := w.Close(); err == nil {
		t.Error("a cancelled snapshot succeeded")
	}
	for region, part := range map[uint64]string{13: "the disk is full", 14: "did not read"} {
		w := send(region)
		var err error
		for range 100 { // until the refusal is met, at the latest by Close
			if _, err = w.Write(content[:1<<20]); err != nil {
				break
			}
		}
		if err == nil {
			err = w.Close()
		} else {
			w.Abort()
		}
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("region %d: %v", region, err)
		}
	}
}

// TestNothingWaits (N3): while a snapshot and a client's connection are stuck, messages and calls pass.
func TestNothingWaits(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	free := make(chan struct{})
	b.in.snapshot = func(_, _ uint64, r io.Reader) error {
		<-free
		_, err := io.Copy(io.Discard, r)
		return err
	}
	b.in.client = func(uint64, net.Conn) { <-free }
	b.in.call = func(context.Context, uint64, byte, []byte) ([]byte, error) { return []byte("answer"), nil }
	ctx := background(t)
	client, err := a.DialClient(ctx, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w, err := a.Snapshot(ctx, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	stuff := make([]byte, 64<<20)
	go func() {
		_, err := w.Write(stuff)
		done <- errors.Join(err, w.Close())
	}()
	go func() {
		_, err := client.Write(stuff)
		done <- err
	}()
	for range 10 {
		if b, err := a.Call(ctx, 2, 1, nil); err != nil || string(b) != "answer" {
			t.Fatal(err)
		}
	}
	a.Send(2, 1, []byte("0 "))
	testkit.Await(t, "the message", func() bool { return len(b.in.got()) == 1 })
	if len(done) != 0 {
		t.Error("what should have been stuck was not: the test shows nothing")
	}
	close(free)
	<-done
	<-done
}

// TestSnapshotsBounded: no more than snapshotsMax are received at once.
func TestSnapshotsBounded(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	b.in.snapshot = func(_, _ uint64, r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	ctx := background(t)
	var list []*SnapshotWriter
	for range snapshotsMax {
		w, err := a.Snapshot(ctx, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	if _, err := a.Snapshot(ctx, 2, 1); !errors.Is(err, ErrBusy) {
		t.Errorf("one more: %v", err)
	}
	for _, w := range list {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	testkit.Await(t, "a place", func() bool {
		w, err := a.Snapshot(ctx, 2, 1)
		return err == nil && w.Close() == nil
	})
}

// TestClients: a client's bytes pass in both directions, to the end of either, and it keeps its address.
func TestClients(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	type seen struct {
		from uint64
		addr net.Addr
	}
	got := make(chan seen, 1)
	b.in.client = func(from uint64, conn net.Conn) {
		got <- seen{from, conn.RemoteAddr()}
		content, err := io.ReadAll(conn)
		if err == nil {
			_, err = conn.Write(bytes.ToUpper(content))
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, addr := range []net.Addr{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7).To4(), Port: 4711}, &net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 9},
		&net.UnixAddr{Net: "unix", Name: "/run/client"}} {
		conn, err := a.DialClient(background(t), 2, addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("some words")); err != nil {
			t.Fatal(err)
		}
		if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || string(answer) != "SOME WORDS" {
			t.Errorf("%q %v", answer, err)
		}
		if s := <-got; s.from != 1 || s.addr.String() != addr.String() || s.addr.Network() != addr.Network() {
			t.Errorf("%v came from %d as %v", addr, s.from, s.addr)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	testkit.Await(t, "places", func() bool { return a.clients.Load() == 0 && b.clients.Load() == 0 })
}

// TestOrphans: the clients of a node with which there is no link any more are closed at both ends, although nothing ends their own connections. Before
// that they stay, although nobody has sent the node anything. Where a machine has had no time for the links, they have ended rightly: that shows nothing.
func TestOrphans(t *testing.T) {
	for began := clock.Mono(); !orphans(t); {
		if clock.Since(began) > time.Minute {
			t.Fatal("there is never a link for long")
		}
	}
}

// orphans is an attempt, which fails without a link, although nothing is in its way.
func orphans(t *testing.T) (linked bool) {
	t.Helper()
	d := quick
	d.orphan = 2 * time.Second // in which a busy machine makes a link
	c := newCluster(t, d)
	hidden := func(o *Options) { o.Advertise = "" } // or the proxies would be passed by
	a, b := c.start(1, hidden), c.start(2, hidden)
	var proxies []*testkit.Proxy
	for node, n := range map[uint64]*node{1: a, 2: b} {
		proxy := testkit.NewProxy(t, testkit.ProxyOptions{Target: n.Addr().String()})
		c.place(node, proxy.Address())
		proxies = append(proxies, proxy)
	}
	began, ended := make(chan struct{}), make(chan error, 1)
	b.in.client = func(_ uint64, conn net.Conn) {
		close(began)
		_, err := io.ReadAll(conn)
		ended <- err
	}
	conn, err := a.DialClient(background(t), 2, nil)
	if err != nil {
		t.Log(err)
		return false
	}
	defer conn.Close()
	<-began
	testkit.Await(t, "the end of the watch", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(ended) > 0 || len(b.neighbours[1].links) > 0 && !b.neighbours[1].watched
	})
	if len(ended) > 0 {
		err := <-ended
		// The watch makes links by itself. One that was given up shows that a side was not run for as long as that takes.
		if b.Metrics().DialFailures.Load() == 0 && !a.log.has("nothing was heard of it") && !b.log.has("nothing was heard of it") {
			t.Fatalf("the client of a node that is there has ended: %v", err)
		}
		return false
	}
	for _, p := range proxies {
		p.Silence()
	}
	if err := <-ended; err == nil {
		t.Error("the client has ended in order")
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the client has an answer")
	}
	return true
}
