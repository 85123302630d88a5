package transport

import (
	"net"
	"sync"
	"testing"
)

// faultyProxy stands in front of a node. It can cut connections, stop passing bytes on without closing anything, and refuse new ones.
type faultyProxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu     sync.Mutex
	cond   *sync.Cond
	conns  map[net.Conn]struct{}
	silent bool // bytes are held back
	closed bool
}

func newProxy(t testing.TB, target string) *faultyProxy {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &faultyProxy{listener: listener, target: target, conns: map[net.Conn]struct{}{}}
	p.cond = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.silence(false)
		_ = listener.Close()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *faultyProxy) address() string { return p.listener.Addr().String() }

func (p *faultyProxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			_, _ = in.Close(), out.Close()
			return
		}
		p.conns[in], p.conns[out] = struct{}{}, struct{}{}
		p.mu.Unlock()
		p.wg.Go(func() { p.pass(in, out) })
		p.wg.Go(func() { p.pass(out, in) })
	}
}

func (p *faultyProxy) pass(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	b := make([]byte, 4<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		for p.silent {
			p.cond.Wait()
		}
		p.mu.Unlock()
		if _, e := to.Write(b[:n]); e != nil || err != nil {
			return
		}
	}
}

// cut closes all connections.
func (p *faultyProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// silence holds all bytes back, or lets them go.
func (p *faultyProxy) silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = on
	p.cond.Broadcast()
}
