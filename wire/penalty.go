package wire

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

// Limits of the delay after failed logins.
const (
	penaltyFree       = 3                      // failures in a row that cost nothing: people mistype
	penaltyDelayMin   = 250 * time.Millisecond // for the next one, doubled by each further
	penaltyDelayMax   = 4 * time.Second        // well below the handshake's timeout, so that the refusal still arrives
	penaltyForget     = 10 * time.Minute       // without a failure, after which they begin anew
	penaltySourcesMax = 10_000                 // remembered at once; the one that failed longest ago is forgotten first
	penaltyWaitMax    = 4                      // logins of one source that are verified or wait at once
	penaltyWaitAllMax = 256                    // of all sources, so that waiting takes no large part of max_connections
	penaltyPrefix6    = 64                     // bits of an IPv6 address that one customer of a provider has at least
)

// penalties slows down who guesses passwords. It counts failures by source, which is an account's name and the client's address
// together, so that nobody can lock others out of an account from elsewhere. The name counts whether an account has it or not.
//
// A failed login beyond the free ones is answered late. It keeps its place among the few of its source until then, whether its client
// waits or not, and who finds no place is refused without a look at the password. So a source gets penaltyWaitMax guesses per delay,
// over however many connections. A right password is answered at once and forgives the failures before.
//
// It is safe for concurrent use.
type penalties struct {
	mu      sync.Mutex // guards the fields below
	sources map[source]*list.Element
	recent  list.List // of *record, the newest failure first
	waiting int       // places taken by all sources
}

// source is whose failures are counted together.
type source struct{ user, from string }

// record is what is known of a source.
type record struct {
	source   source
	failures int
	last     time.Duration // when the last one was, by clock.Mono
	places   int           // taken
}

// sourceOf is the source of a login; addr is empty for a unix socket.
func sourceOf(user, addr string) source {
	if ip, err := netip.ParseAddr(addr); err == nil && ip.Is6() && !ip.Is4In6() {
		if prefix, err := ip.WithZone("").Prefix(penaltyPrefix6); err == nil {
			addr = prefix.String()
		}
	}
	return source{user, addr}
}

// enter begins a login at the time now. held tells whether it takes a place, which leave gives back; refused that there is none.
func (p *penalties) enter(s source, now time.Duration) (held, refused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(s, now)
	if r == nil || r.failures < penaltyFree {
		return false, false
	}
	held = p.take(r)
	return held, !held
}

// failed counts a failure and returns how late it has to be answered. held is enter's result; a login that had needed no place when it
// began, because others of its source had not failed yet, takes one now if it can.
func (p *penalties) failed(s source, now time.Duration, held bool) (delay time.Duration, holds bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(s, now)
	if r == nil {
		r = p.remember(s)
	}
	r.failures, r.last = r.failures+1, now
	p.recent.MoveToFront(p.sources[s])
	if r.failures <= penaltyFree || !held && !p.take(r) {
		return 0, held
	}
	delay = penaltyDelayMax
	if doubled := r.failures - penaltyFree - 1; doubled < 16 {
		delay = min(delay, penaltyDelayMin<<doubled)
	}
	return delay, true
}

// succeeded forgives a source's failures.
func (p *penalties) succeeded(s source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.sources[s]; e != nil {
		e.Value.(*record).failures = 0
	}
}

// leave gives a place back.
func (p *penalties) leave(s source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sources[s].Value.(*record).places--
	p.waiting--
}

// find returns what is remembered of a source, without failures that are too long ago.
func (p *penalties) find(s source, now time.Duration) *record {
	e := p.sources[s]
	if e == nil {
		return nil
	}
	r := e.Value.(*record)
	if now-r.last > penaltyForget {
		r.failures = 0
	}
	return r
}

// take takes a place for a source if there is one.
func (p *penalties) take(r *record) bool {
	if r.places >= penaltyWaitMax || p.waiting >= penaltyWaitAllMax {
		return false
	}
	r.places++
	p.waiting++
	return true
}

// remember makes the record of a source, in place of an old one when there are too many. Records with places taken stay; there are
// fewer of them than of others.
func (p *penalties) remember(s source) *record {
	if p.sources == nil {
		p.sources = make(map[source]*list.Element)
	}
	for e := p.recent.Back(); e != nil && p.recent.Len() >= penaltySourcesMax; {
		old, before := e.Value.(*record), e.Prev()
		if old.places == 0 {
			delete(p.sources, old.source)
			p.recent.Remove(e)
		}
		e = before
	}
	r := &record{source: s}
	p.sources[s] = p.recent.PushFront(r)
	return r
}

// authenticate verifies a login, and returns the account's credential or the error to send, the latter late if it was one of many.
func (c *conn) authenticate(l *login) (Credential, error) {
	from, p := sourceOf(l.user, c.addr), &c.srv.penalties
	held, refused := p.enter(from, clock.Mono())
	if refused {
		c.count.delayed.Add(1)
		return Credential{}, c.denied(l)
	}
	cred, err := c.verify(l)
	var delay time.Duration
	if err == nil {
		p.succeeded(from)
	} else {
		// Who leaves in the middle has learnt from the packet before whether the guess was right, so that counts too.
		delay, held = p.failed(from, clock.Mono(), held)
	}
	if held {
		defer p.leave(from)
	}
	if delay > 0 {
		c.count.delayed.Add(1)
		timer := clock.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.srv.quit:
		}
	}
	if err == nil {
		err = c.admitted(&cred, l)
	}
	return cred, err
}
