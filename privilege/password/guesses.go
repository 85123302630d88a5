package password

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// Limits of the delay after failed logins.
const (
	FreeGuesses = 3                      // failures in a row that cost nothing: people mistype
	delayMin    = 250 * time.Millisecond // for the next one, doubled by each further
	delayMax    = 4 * time.Second        // well below the handshake's timeout, so that the refusal still arrives
	forgetAfter = 10 * time.Minute       // without a failure, after which they begin anew
	sourcesMax  = 10_000                 // remembered at once; the one that failed longest ago is forgotten first
	waitMax     = 4                      // logins of one source that are verified or wait at once
	waitAllMax  = 256                    // of all sources, so that waiting takes no large part of max_connections
	prefix6     = 64                     // bits of an IPv6 address that one customer of a provider has at least
)

// Guesses slows down who guesses passwords. It counts failures by source, which is an account's name and the client's address
// together, so that nobody can lock others out of an account from elsewhere. The name counts whether an account has it or not.
// The zero value is ready.
//
// A failed login beyond the free ones is answered late. It keeps its place among the few of its source until then, whether its client
// waits or not, and who finds no place is refused without a look at the password. So a source gets waitMax guesses per delay,
// over however many connections. A right password is answered at once and forgives the failures before.
//
// It is safe for concurrent use.
type Guesses struct {
	mu      sync.Mutex // guards the fields below
	sources map[Source]*list.Element
	recent  list.List // of *record, the newest failure first
	waiting int       // places taken by all sources
}

// Source is whose failures are counted together.
type Source struct{ user, from string }

// record is what is known of a source.
type record struct {
	source   Source
	failures int
	last     time.Duration // when the last one was, by clock.Mono
	places   int           // taken
}

// SourceOf is the source of a login; addr is empty for a unix socket.
func SourceOf(user, addr string) Source {
	if ip, err := netip.ParseAddr(addr); err == nil && ip.Is6() && !ip.Is4In6() {
		if prefix, err := ip.WithZone("").Prefix(prefix6); err == nil {
			addr = prefix.String()
		}
	}
	return Source{user, addr}
}

// Enter begins a login at the time now. held tells whether it takes a place, which Leave gives back; refused that there is none.
func (g *Guesses) Enter(s Source, now time.Duration) (held, refused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.find(s, now)
	if r == nil || r.failures < FreeGuesses {
		return false, false
	}
	held = g.take(r)
	return held, !held
}

// Failed counts a failure and returns how late it has to be answered. held is Enter's result; a login that had needed no place when it
// began, because others of its source had not failed yet, takes one now if it can.
func (g *Guesses) Failed(s Source, now time.Duration, held bool) (delay time.Duration, holds bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.find(s, now)
	if r == nil {
		r = g.remember(s)
	}
	r.failures, r.last = r.failures+1, now
	g.recent.MoveToFront(g.sources[s])
	if r.failures <= FreeGuesses || !held && !g.take(r) {
		return 0, held
	}
	delay = delayMax
	if doubled := r.failures - FreeGuesses - 1; doubled < 16 {
		delay = min(delay, delayMin<<doubled)
	}
	return delay, true
}

// Succeeded forgives a source's failures.
func (g *Guesses) Succeeded(s Source) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.sources[s]; e != nil {
		e.Value.(*record).failures = 0
	}
}

// Leave gives a place back.
func (g *Guesses) Leave(s Source) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sources[s].Value.(*record).places--
	g.waiting--
}

// find returns what is remembered of a source, without failures that are too long ago.
func (g *Guesses) find(s Source, now time.Duration) *record {
	e := g.sources[s]
	if e == nil {
		return nil
	}
	r := e.Value.(*record)
	if now-r.last > forgetAfter {
		r.failures = 0
	}
	return r
}

// take takes a place for a source if there is one.
func (g *Guesses) take(r *record) bool {
	if r.places >= waitMax || g.waiting >= waitAllMax {
		return false
	}
	r.places++
	g.waiting++
	return true
}

// remember makes the record of a source, in place of an old one when there are too many. Records with places taken stay; there are
// fewer of them than of others.
func (g *Guesses) remember(s Source) *record {
	if g.sources == nil {
		g.sources = make(map[Source]*list.Element)
	}
	for e := g.recent.Back(); e != nil && g.recent.Len() >= sourcesMax; {
		old, before := e.Value.(*record), e.Prev()
		if old.places == 0 {
			delete(g.sources, old.source)
			g.recent.Remove(e)
		}
		e = before
	}
	r := &record{source: s}
	g.sources[s] = g.recent.PushFront(r)
	return r
}
