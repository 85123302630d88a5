package testkit

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
)

const (
	// proxyChunkBytes is read at once.
	proxyChunkBytes = 4 << 10
	// proxyDialMax bounds how long the target may take to accept: it may have been stopped by a signal.
	proxyDialMax = 5 * time.Second
)

// Way is a direction of the connections through a Proxy that one dialer made.
type Way struct {
	// Dialer is who connected, as ProxyOptions.Who says; Everyone for all.
	Dialer int
	// Back is the way from the target to the dialer.
	Back bool
}

// Everyone is any dialer.
const Everyone = -1

// ProxyOptions say what a Proxy is in front of.
type ProxyOptions struct {
	// Target is where what comes is handed on.
	Target string
	// Who tells who has made a connection, nil if nobody cares. A connection of nobody who is known is closed.
	Who func(c net.Conn) (dialer int, ok bool)
}

// Proxy stands in front of a listener. It can cut connections, and hold back what goes one way without closing anything, as a network does that
// loses everything.
type Proxy struct {
	listener net.Listener
	o        ProxyOptions
	wg       sync.WaitGroup

	mu     sync.Mutex // guards what follows
	cond   *sync.Cond
	conns  map[net.Conn]int // by who dialed
	held   map[Way]bool
	slow   map[Way]time.Duration
	closed bool
}

// NewProxy starts one, which ends with the test.
func NewProxy(t testing.TB, o ProxyOptions) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, o: o, conns: map[net.Conn]int{}, held: map[Way]bool{}, slow: map[Way]time.Duration{}}
	p.cond = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		clear(p.slow)
		p.mu.Unlock()
		p.Heal()
		_ = listener.Close()
		p.Cut(Everyone)
		p.wg.Wait()
	})
	return p
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

func (p *Proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(in) })
	}
}

// serve hands one connection on.
func (p *Proxy) serve(in net.Conn) {
	dialer, known := Everyone, true
	if p.o.Who != nil {
		dialer, known = p.o.Who(in)
	}
	if !known {
		_ = in.Close()
		return
	}
	out, err := net.DialTimeout("tcp", p.o.Target, proxyDialMax)
	if err != nil {
		_ = in.Close()
		return
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		_, _ = in.Close(), out.Close()
		return
	}
	p.conns[in], p.conns[out] = dialer, dialer
	p.mu.Unlock()
	var there sync.WaitGroup
	there.Go(func() { p.pass(in, out, Way{Dialer: dialer}) })
	p.pass(out, in, Way{Dialer: dialer, Back: true})
	there.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, in)
	delete(p.conns, out)
}

// pass hands bytes on one way, and the end of the connection as well: neither gets through while the way is held.
func (p *Proxy) pass(from, to net.Conn, way Way) {
	defer func() { _, _ = from.Close(), to.Close() }()
	b := make([]byte, proxyChunkBytes)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		for p.held[way] || p.held[Way{Everyone, way.Back}] {
			p.cond.Wait()
		}
		slow := max(p.slow[way], p.slow[Way{Everyone, way.Back}])
		p.mu.Unlock()
		if slow > 0 {
			clock.Sleep(slow)
		}
		if _, e := to.Write(b[:n]); e != nil || err != nil {
			return
		}
	}
}

// Cut closes the connections of a dialer. New ones get through.
func (p *Proxy) Cut(dialer int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, who := range p.conns {
		if dialer == Everyone || dialer == who {
			_ = c.Close()
		}
	}
}

// Hold holds back what goes these ways until Heal; connections stay open, and new ones are accepted.
func (p *Proxy) Hold(ways ...Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range ways {
		p.held[w] = true
	}
}

// Slow makes what goes these ways take longer, until Heal.
func (p *Proxy) Slow(by time.Duration, ways ...Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range ways {
		p.slow[w] = by
	}
}

// Silence holds everything back.
func (p *Proxy) Silence() { p.Hold(Way{Dialer: Everyone}, Way{Dialer: Everyone, Back: true}) }

// Heal lets everything through, first what was held back.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.held)
	clear(p.slow)
	p.cond.Broadcast()
}
