package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
)

// socketPair returns a socket over TCP and its client.
func socketPair(t *testing.T) (*socket, net.Conn) {
	t.Helper()
	return socketPairOn(t, "tcp", "127.0.0.1:0")
}

func socketPairOn(t *testing.T, network, address string) (*socket, net.Conn) {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial(network, listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	raw, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	s := new(socket)
	s.init(raw, &yields{give: rawYield})
	if s.poll == nil {
		t.Fatal("the connection is not used directly")
	}
	return s, client
}

// TestSocketReads: reading a real socket allocates nothing, whether the bytes are there or have to be waited for, and tells which.
func TestSocketReads(t *testing.T) {
	s, client := socketPair(t)
	send := make(chan struct{})
	defer close(send)
	go func() {
		for range send {
			time.Sleep(time.Millisecond)
			if _, err := client.Write(ring); err != nil {
				t.Error(err)
			}
		}
	}()
	buf := make([]byte, 10)
	read := func() {
		if n, err := s.Read(buf); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	waits := 0
	n := testing.AllocsPerRun(50, func() {
		send <- struct{}{}
		s.waited = false
		if read(); s.waited {
			waits++
		}
	})
	if n != 0 || waits == 0 {
		t.Errorf("%v allocations; %d reads had to wait", n, waits)
	}
	n = testing.AllocsPerRun(50, func() {
		if _, err := client.Write(ring); err != nil {
			t.Fatal(err)
		}
		read()
	})
	if n != 0 {
		t.Errorf("%v allocations when the byte is there", n)
	}
	_ = client.Close() // the next read meets the end
	if n, err := s.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d %v", n, err)
	}
}

// TestSocketYields: a read that expects the next bytes at once lets the client run before it waits, once; after yields that took
// long there are none for a while.
func TestSocketYields(t *testing.T) {
	s, client := socketPair(t)
	given, long := 0, time.Duration(0)
	s.yields.give = func() bool {
		given++
		time.Sleep(long)
		if _, err := client.Write(ring); err != nil {
			t.Error(err)
		}
		return true
	}
	buf := make([]byte, 10)
	read := func(soon bool) {
		t.Helper()
		s.soon, s.waited = soon, false
		if n, err := s.Read(buf); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if read(true); given != 1 || s.waited {
		t.Errorf("%d yields, waited %v", given, s.waited)
	}
	// later reads until the byte has come after the read began: a busy machine may keep the read for longer than the byte.
	later := func(soon bool) {
		t.Helper()
		for range 1000 {
			time.AfterFunc(time.Millisecond, func() { // has run when read returns
				if _, err := client.Write(ring); err != nil {
					t.Error(err)
				}
			})
			if read(soon); s.waited {
				return
			}
		}
		t.Error("no read waited")
	}
	if later(false); given != 1 {
		t.Error("a yield without need")
	}
	long = 2 * yieldLong
	s.yields.excess.Store(0) // a busy machine may have made the first one long too
	for range yieldLongMax {
		if s.yields.pausedUntil.Load() != 0 {
			t.Fatalf("a pause after %d yields", given)
		}
		read(true)
	}
	if given != 1+yieldLongMax || s.yields.pausedUntil.Load() == 0 {
		t.Errorf("%d yields and no pause", given)
	}
	s.yields.pausedUntil.Store(math.MaxInt64) // longer than any machine takes for what follows
	if later(true); given != 1+yieldLongMax {
		t.Error("a yield in the pause")
	}
	s.yields.pausedUntil.Store(0)
	s.yields.give = func() bool { return false } // there is nothing to yield with
	later(true)
}

// TestYieldsLong: what a long yield is depends on how many connections of this machine are active, of which the reaper tells.
func TestYieldsLong(t *testing.T) {
	s := newPlacesServer()
	y := &s.yields
	now := uint64(1000)
	for _, c := range []struct {
		local, remote int
		limit         time.Duration
	}{
		{0, 0, yieldLong}, {1, 0, yieldLong + yieldLongConn}, {500, 0, yieldLong + 500*yieldLongConn}, {10_000, 0, yieldLongMost}, {0, 500, yieldLong},
		{1, 500, yieldLong + yieldLongConn},
	} {
		conns := make([]*conn, c.local+c.remote)
		for i := range conns {
			conns[i] = s.local()
			conns[i].state.Store(now<<16 | phaseBusy)
			if i < c.remote {
				conns[i].host = "192.0.2.1"
			}
		}
		s.inspect(conns, now)
		for range 2 * yieldLongMax {
			y.took(c.limit, time.Hour)
		}
		if y.pausedUntil.Load() != 0 {
			t.Errorf("%d and %d active connections: a pause after yields of %v", c.local, c.remote, c.limit)
		}
		for range yieldLongMax {
			y.took(c.limit+1, time.Hour)
		}
		if y.pausedUntil.Load() == 0 {
			t.Errorf("%d and %d active connections: no pause after yields of more than %v", c.local, c.remote, c.limit)
		}
		y.pausedUntil.Store(0)
	}
}

// TestYieldPauses: pauses that follow each other soon get longer, up to a limit, and one that comes by itself is short.
func TestYieldPauses(t *testing.T) {
	var y yields
	now, want, most := time.Hour, yieldPauseMin, 0
	for most < 3 {
		y.pause(now, y.pausedUntil.Load())
		if got := time.Duration(y.pausedUntil.Load()) - now; got != want {
			t.Fatalf("a pause of %v, want %v", got, want)
		}
		// Long yields that were under way when it began change nothing, nor does a pause that others have begun meanwhile.
		before := y.pausedUntil.Load()
		for range 2 * yieldLongMax {
			y.took(time.Second, now+1)
		}
		y.pause(now+1, before-1)
		if y.pausedUntil.Load() != before || y.lastPause.Load() != int64(want) || y.excess.Load() != 0 {
			t.Fatal("a pause is changed by what was under way when it began")
		}
		now += want + yieldSoon*want - 1
		if want == yieldPauseMax {
			most++
		}
		want = min(2*want, yieldPauseMax)
	}
	if y.pause(now+1, y.pausedUntil.Load()); time.Duration(y.pausedUntil.Load()) != now+1+yieldPauseMin {
		t.Error("a pause long after another one is not short")
	}
}

// TestSocketLooks: a keen read looks for a while before it waits; who is far away is not looked for any more, but for a look now and
// then.
func TestSocketLooks(t *testing.T) {
	s, client := socketPairOn(t, "unix", filepath.Join(t.TempDir(), "s")) // where what is written can be read at once
	given, near := 0, true
	s.yields.give = func() bool {
		given++
		if near {
			if _, err := client.Write(ring); err != nil {
				t.Error(err)
			}
		}
		return true
	}
	buf := make([]byte, 10)
	rule := lookRule{most: time.Hour, idle: 3, pause: 5} // however busy the machine is
	// read tells whether there was a look.
	read := func(keen *lookRule) bool {
		t.Helper()
		before, done := given, false
		s.keen, s.waited = keen, false
		s.yields.excess.Store(0) // a busy machine makes yields long
		s.in.begin(buf)
		if err := s.poll.Control(func(fd uintptr) { done = s.attemptRead(fd) }); err != nil {
			t.Fatal(err)
		}
		looked := given > before
		if found := near && looked; done != found || s.waited == found {
			t.Fatalf("near %v, looked %v, done %v, waited %v", near, looked, done, s.waited)
		}
		return looked
	}
	if read(nil) {
		t.Error("a look without need")
	}
	for range 3 * lookCredit {
		if !read(&rule) {
			t.Fatal("no look for a client that answers at once")
		}
	}
	near = false
	for _, who := range []string{"a client that goes far away", "a new one that is far away"} {
		far := 0
		for read(&rule) {
			if far++; far > lookCredit {
				t.Fatalf("%s is looked for without end", who)
			}
		}
		if want := lookCredit/lookMissWeight + 1; far != want {
			t.Errorf("%d looks for %s, want %d", far, who, want)
		}
		s.looks = looks{}
	}
	s.looks.debt = lookCredit
	s.looks.pause = 1
	if read(&rule) || !read(&rule) || read(&rule) {
		t.Error("not one look after the pause")
	}
	s.looks.pause = 1
	near = true
	if read(&rule) || !read(&rule) || !read(&rule) {
		t.Error("a client that has come nearer is not looked for")
	}
	s.yields.give = func() bool { return false } // there is nothing to yield with
	near = false
	before := s.looks
	if read(&rule); s.looks != before {
		t.Error("a look that could not be is counted")
	}

	// A byte that is there already is no look, and makes up for one.
	before.debt = lookCredit
	s.looks = before
	if _, err := client.Write(ring); err != nil {
		t.Fatal(err)
	}
	s.keen = &rule
	s.in.begin(buf)
	if err := s.poll.Control(func(fd uintptr) { s.attemptRead(fd) }); err != nil {
		t.Fatal(err)
	}
	if s.in.n != 1 || s.looks.debt != lookCredit-1 {
		t.Errorf("a byte that is there: %d read, debt %d", s.in.n, s.looks.debt)
	}

	// A look ends when nobody has use for the processor, or when it has taken long enough.
	idles := func(most, yield time.Duration) int {
		given = 0
		s.yields.give = func() bool {
			given++
			s.yields.excess.Store(0) // as above
			for began := clock.Mono(); clock.Mono()-began < yield; {
			}
			return given < 100
		}
		rule.most = most
		s.looks, s.keen = looks{}, &rule
		s.in.begin(buf)
		if err := s.poll.Control(func(fd uintptr) { s.attemptRead(fd) }); err != nil {
			t.Fatal(err)
		}
		return given
	}
	least := 100
	for range 100 { // a busy machine makes yields long
		least = min(least, idles(time.Hour, 0))
	}
	if least != rule.idle {
		t.Errorf("a look ends after %d yields of no use, want %d", least, rule.idle)
	}
	if n := idles(time.Hour, 2*yieldIdle); n != 100 {
		t.Errorf("a look ends after %d yields of use", n)
	}
	if n := idles(2*yieldIdle, 2*yieldIdle); n != 1 {
		t.Errorf("a look ends after %d yields, of which the first takes all of its time", n)
	}
}

// TestSocketWrites: a write allocates nothing, waits until a slow client has taken all, and tells how much went out before a
// deadline or an error.
func TestSocketWrites(t *testing.T) {
	s, client := socketPair(t)
	buf := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		if n, err := s.Write(buf); n != len(buf) || err != nil {
			t.Fatal(n, err)
		}
		if _, err := io.ReadFull(client, buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}

	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // more than the kernel keeps
	got := make(chan []byte)
	go func() {
		time.Sleep(20 * time.Millisecond)
		b := make([]byte, len(large))
		if _, err := io.ReadFull(client, b); err != nil {
			t.Error(err)
		}
		got <- b
	}()
	if n, err := s.Write(large); n != len(large) || err != nil {
		t.Fatal(n, err)
	}
	if !bytes.Equal(<-got, large) {
		t.Fatal("the client got something else")
	}

	if err := s.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := s.Write(large)
	if n == 0 || n >= len(large) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes to a client that takes nothing, %v", n, err)
	}
	if _, err := io.ReadFull(client, make([]byte, n)); err != nil {
		t.Fatalf("the client does not get the %d bytes: %v", n, err)
	}

	if err := s.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	for range 100 { // the first ones may still find room
		if _, err = s.Write(buf); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("a write to a client that is gone: %v", err)
	}
}
