package identity

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/placement/meta"
)

// regionZero is region 0 of a test: every node sees it at once.
type regionZero struct {
	mu     sync.Mutex
	state  meta.State
	leader uint64
	now    clock.Timestamp
}

func (r *regionZero) view(f func(*meta.State)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.state)
}

func (r *regionZero) propose(_ context.Context, command []byte) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, result, err := r.state.Apply(command)
	return result, err
}

// member is a node of a test.
type member struct {
	*Desk
	id        uint64
	listener  net.Listener
	transport *transport.Transport
	region    *regionZero
}

func (m *member) Raft(uint64, uint64, []byte)              {}
func (m *member) Snapshot(uint64, uint64, io.Reader) error { return errors.New("no snapshots here") }
func (m *member) Client(uint64, net.Conn)                  {}
func (m *member) leads() uint64 {
	m.region.mu.Lock()
	defer m.region.mu.Unlock()
	return m.region.leader
}
func (m *member) address() string                 { return m.listener.Addr().String() }
func (m *member) stamp() (clock.Timestamp, error) { return m.region.now, nil }
func (m *member) call(ctx context.Context, to uint64, kind byte, payload []byte) ([]byte, error) {
	return m.transport.Call(ctx, to, kind, payload)
}

func listen(t testing.TB) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a transport may have closed it
	return l
}

// open starts a node over what its directory would remember.
func open(t testing.TB, r *regionZero, l net.Listener, id uint64, seed, certificate, authority []byte, saved []Place) *member {
	t.Helper()
	m := &member{id: id, listener: l, region: r}
	m.Desk = NewDesk(Options{Node: id, View: r.view, Propose: r.propose, Leader: m.leads, Call: m.call, Now: m.stamp, Saved: saved,
		Alive: func(node uint64) (uint64, bool) { return m.transport.Alive(node) }})
	pair, root, err := Credentials(seed, certificate, authority)
	if err != nil {
		t.Fatal(err)
	}
	cluster := uint64(0)
	r.view(func(s *meta.State) { cluster = s.Authority().Cluster })
	m.transport, err = transport.Listen(transport.Options{Listener: l, Cluster: cluster, Node: id, Incarnation: func() uint64 { return 1 }, Oldest: 1, Newest: 1, Certificate: pair, Authority: root,
		Advertise: m.address(), Addresses: m.Address, Admit: m.Admit, Handler: m, Join: m.Join})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.transport.Close() }) // a test may have closed it
	return m
}

// found starts the first node of a cluster.
func found(t testing.TB) (*regionZero, *member) {
	r := &regionZero{leader: 1, now: clock.Make(clock.NowMillis(), 0)}
	l := listen(t)
	r.state.Begin(10, 1, 1, meta.Store{ID: 1, Incarnation: 1, Oldest: 1, Newest: 1, Address: l.Addr().String()})
	first := NewDesk(Options{Node: 1, View: r.view, Propose: r.propose})
	for range 2 { // the second time changes nothing
		if err := first.Found(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	seed, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	authority := r.state.Authority()
	certificate, err := Issue(authority, 1, Public(seed))
	if err != nil {
		t.Fatal(err)
	}
	return r, open(t, r, l, 1, seed, certificate, authority.Certificate, nil)
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// join has a node join, which then runs.
func join(t testing.TB, r *regionZero, token *Token, through []string) *member {
	t.Helper()
	seed, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t)
	a, err := Join(background(t), token, through, Request{Oldest: 1, Newest: 1, Address: l.Addr().String(), Program: "test"}, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, r, l, a.Node, seed, a.Certificate, a.Authority, a.Members)
	if err := m.Register(background(t), meta.Store{ID: a.Node, Incarnation: 1, Oldest: 1, Newest: 1, Address: m.address()}); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestJoin: two nodes join, the second through the first of them, which does not lead; all can speak to each other then, and moved or removed
// ones are treated as such.
func TestJoin(t *testing.T) {
	r, first := found(t)
	ctx := background(t)
	token, err := first.NewToken(ctx, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if token, err = ParseToken(token.String()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(token.Addresses, []string{first.address()}) {
		t.Errorf("the token names %v", token.Addresses)
	}
	second := join(t, r, token, nil)
	third := join(t, r, &Token{Fingerprint: token.Fingerprint, Secret: token.Secret, Until: token.Until}, []string{second.address()})
	if second.id != 10 || third.id != 11 {
		t.Errorf("numbers %d and %d", second.id, third.id)
	}
	for _, st := range r.state.Stores() {
		if st.Stage != meta.Up || st.Address == "" {
			t.Errorf("%+v", st)
		}
	}
	all := []*member{first, second, third}
	for _, a := range all {
		for _, b := range all {
			if a != b {
				if _, err := a.transport.Call(ctx, b.id, kindWho, nil); err != nil {
					t.Errorf("%d to %d: %v", a.id, b.id, err)
				}
			}
		}
		if who := a.Who(ctx); who != 1 {
			t.Errorf("node %d hears that %d leads", a.id, who)
		}
	}
	if got := second.Members(); len(got) != 2 || got[0].Node != 1 || got[1].Node != 11 {
		t.Errorf("%v", got)
	}
	// The first one's lease moves, and the third tells of a new address by way of a node that does not lead.
	r.mu.Lock()
	r.leader = 10
	r.mu.Unlock()
	restarted := append([]byte{0}, appendStore(nil, meta.Store{ID: 11, Incarnation: 2, Oldest: 1, Newest: 1, Address: "127.0.0.1:7"})...)
	// While the third is alive that can only be a copy of its directory, which the leader has refused to speak with.
	if _, err := first.Call(ctx, 11, kindRegister, restarted); err == nil || !strings.Contains(err.Error(), "alive in another process") {
		t.Errorf("a copy's start is taken for the node's: %v", err)
	}
	if st, _ := r.state.Store(11); st.Incarnation != 1 || st.Address != third.address() {
		t.Errorf("%+v", st)
	}
	if err := third.transport.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the leader to notice that the third has ended", func() bool { _, alive := second.transport.Alive(11); return !alive })
	if _, err := first.Call(ctx, 11, kindRegister, restarted); err != nil {
		t.Fatal(err)
	}
	if st, _ := r.state.Store(11); st.Address != "127.0.0.1:7" || st.Incarnation != 2 {
		t.Errorf("%+v", st)
	}
	if _, err := first.Call(ctx, 1, kindRegister, append([]byte{0}, appendStore(nil, meta.Store{ID: 11, Incarnation: 3, Oldest: 1, Newest: 1})...)); err == nil {
		t.Error("a node told of another")
	}
	for _, incarnation := range []uint64{1, 2} {
		if err := first.Admit(11, incarnation); (err == nil) != (incarnation == 2) {
			t.Errorf("incarnation %d: %v", incarnation, err)
		}
	}
	if _, err := r.propose(ctx, meta.SetStage(11, meta.Removed)); err != nil {
		t.Fatal(err)
	}
	if err := first.Admit(11, 9); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Error(err)
	}
	if _, member := first.Address(11); member {
		t.Error("a removed node has an address")
	}
	if err := second.Register(ctx, meta.Store{ID: 11, Incarnation: 9, Oldest: 1, Newest: 1}); err == nil {
		t.Error("a removed node came back")
	}
	if err := first.Admit(99, 1); err == nil {
		t.Error("a node that never joined is admitted")
	}
}

// TestReplaced: who joins at the address of a member that is gone takes its place, and the member leaves; one that is alive keeps it.
func TestReplaced(t *testing.T) {
	r, first := found(t)
	ctx := background(t)
	token, err := first.NewToken(ctx, 5, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	second := join(t, r, token, nil)
	q := Request{Oldest: 1, Newest: 1, Address: second.address(), Program: "test"}
	seed, _ := NewKey()
	if _, err := Join(ctx, token, nil, q, seed, nil); err == nil || !strings.Contains(err.Error(), "is the address of node 10, which is alive") {
		t.Errorf("at the address of an alive member: %v", err)
	}
	if err := second.transport.Close(); err != nil {
		t.Fatal(err)
	}
	_ = second.listener.Close() // the transport has closed it
	again, err := net.Listen("tcp", q.Address)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Join(ctx, token, nil, q, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if old, _ := r.state.Store(10); old.Stage != meta.Up {
		t.Errorf("the node that is gone leaves before there is another: %+v", old)
	}
	third := open(t, r, again, a.Node, seed, a.Certificate, a.Authority, a.Members)
	if err := third.Register(ctx, meta.Store{ID: a.Node, Incarnation: 1, Oldest: 1, Newest: 1, Address: q.Address}); err != nil {
		t.Fatal(err)
	}
	if old, _ := r.state.Store(10); old.Stage != meta.Leaving {
		t.Errorf("the node that is gone: %+v", old)
	}
	if st, _ := r.state.Store(a.Node); a.Node == 10 || st.Stage != meta.Up || st.Address != q.Address {
		t.Errorf("%+v", st)
	}
}

// TestRefused: each reason not to let a node in has its sentence, which reaches the node, and nothing has changed.
func TestRefused(t *testing.T) {
	r, first := found(t)
	ctx := background(t)
	give := func(uses uint64, last time.Duration) *Token {
		t.Helper()
		token, err := first.NewToken(ctx, uses, last)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	_, otherFirst := found(t)
	foreign, err := otherFirst.NewToken(ctx, 1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	used := give(1, time.Hour)
	join(t, r, used, nil)
	expired := give(1, time.Second)
	good := give(100, 3*time.Hour)
	forged := *good
	forged.Secret = make([]byte, secretBytes)
	mixed := *foreign
	mixed.Addresses = good.Addresses // another cluster's token at this one's address
	nobody := listen(t)
	nobody.Close()
	r.now += 2 * clock.Make(1000, 0)
	past := *expired
	past.Until = clock.Now().Add(time.Hour) // or it would not even ask
	here := listen(t).Addr().String()
	for name, test := range map[string]struct {
		token    *Token
		through  []string
		change   func(*Request)
		sentence string
	}{
		"an expired token":           {token: &past, sentence: "has expired"},
		"a used token":               {token: used, sentence: "used as often as it may be"},
		"a forged token":             {token: &forged, sentence: "is not known"},
		"another cluster's token":    {token: &mixed, sentence: "not the one of the join token"},
		"another cluster's address":  {token: foreign, through: []string{first.address()}, sentence: "not the one of the join token"},
		"an older program":           {change: func(q *Request) { q.Oldest, q.Newest = 0, 0 }, sentence: "too old"},
		"a newer program":            {change: func(q *Request) { q.Oldest, q.Newest = 2, 2 }, sentence: "too new"},
		"an address where nobody is": {change: func(q *Request) { q.Address = nobody.Addr().String() }, sentence: "nobody listens at"},
		"a member's address":         {change: func(q *Request) { q.Address = first.address() }, sentence: "is the address of node 1"},
		"an address of all":          {change: func(q *Request) { q.Address = "0.0.0.0:7" }, sentence: "every address of this machine"},
		"an address of the network":  {change: func(q *Request) { q.Address = "192.0.2.1:7" }, sentence: "of the loopback interface"},
		"no address":                 {change: func(q *Request) { q.Address = "x" }, sentence: "is not HOST:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.state.NextID()
			token := test.token
			if token == nil {
				token = good
			}
			q := Request{Oldest: 1, Newest: 1, Address: here, Program: "test"}
			if test.change != nil {
				test.change(&q)
			}
			seed, err := NewKey()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			_, err = Join(ctx, token, test.through, q, seed, func(string, error) { cancel() }) // what may be tried again is not
			if err == nil || !strings.Contains(err.Error(), test.sentence) {
				t.Errorf("%v", err)
			}
			if r.state.NextID() != before {
				t.Error("a number was given")
			}
		})
	}
	seed, _ := NewKey()
	late := Request{Secret: good.Secret, Public: Public(seed), Oldest: 1, Newest: 1, Address: here, Millis: clock.NowMillis() + (3 * time.Hour).Milliseconds()}
	if _, err := first.Desk.Join(ctx, &net.TCPAddr{}, late.append(nil)); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Error(err)
	}
	late.Millis = clock.NowMillis() - time.Hour.Milliseconds()
	if _, err := first.Desk.Join(ctx, &net.TCPAddr{}, late.append(nil)); err != nil {
		t.Errorf("a clock that is an hour slow: %v", err)
	}
	done := *good
	done.Until = clock.Now().Add(-3 * time.Hour)
	if _, err := Join(ctx, &done, nil, Request{}, seed, nil); err == nil || !strings.Contains(err.Error(), "has expired at") {
		t.Error(err)
	}
}

// TestRepeated (I4): a node whose answer was lost asks again, and is the same node; with another key it is another.
func TestRepeated(t *testing.T) {
	_, first := found(t)
	ctx := background(t)
	token, err := first.NewToken(ctx, 2, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := NewKey()
	q := Request{Oldest: 1, Newest: 1, Address: listen(t).Addr().String(), Program: "test"}
	var numbers []uint64
	for range 3 {
		a, err := Join(ctx, token, nil, q, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, a.Node)
	}
	if !slices.Equal(numbers, []uint64{10, 10, 10}) {
		t.Errorf("%v", numbers)
	}
	other, _ := NewKey()
	q.Address = listen(t).Addr().String()
	if a, err := Join(ctx, token, nil, q, other, nil); err != nil || a.Node != 11 {
		t.Error(a, err)
	}
}

// TestLeaderless: while region 0 has no leader a node that joins waits, and gets in when there is one.
func TestLeaderless(t *testing.T) {
	r, first := found(t)
	ctx := background(t)
	token, err := first.NewToken(ctx, 1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.leader = 0
	r.mu.Unlock()
	seed, _ := NewKey()
	var once sync.Once
	_, err = Join(ctx, token, nil, Request{Oldest: 1, Newest: 1, Address: listen(t).Addr().String()}, seed, func(_ string, err error) {
		if !strings.Contains(err.Error(), "no leader") {
			t.Error(err)
		}
		once.Do(func() {
			r.mu.Lock()
			r.leader = 1
			r.mu.Unlock()
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCredentials: what does not belong together is refused, and certificates last as doc.go says.
func TestCredentials(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := NewAuthority()
	seed, _ := NewKey()
	other, _ := NewKey()
	certificate, err := Issue(a, 7, Public(seed))
	if err != nil {
		t.Fatal(err)
	}
	pair, _, err := Credentials(seed, certificate, a.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if got := pair.Leaf.DNSNames; len(got) != 1 || got[0] != transport.NodeName(a.Cluster, 7) {
		t.Errorf("%v", got)
	}
	roots := x509.NewCertPool()
	root, _ := x509.ParseCertificate(a.Certificate)
	roots.AddCert(root)
	for _, at := range []time.Duration{-time.Hour, time.Hour, 19 * year} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: clock.Now().Add(at), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
			t.Errorf("after %v: %v", at, err)
		}
	}
	for name, bad := range map[string][3][]byte{"another key": {other, certificate, a.Certificate}, "another authority": {seed, certificate, b.Certificate},
		"no key": {seed[1:], certificate, a.Certificate}, "no certificate": {seed, certificate[1:], a.Certificate}, "no authority": {seed, certificate, nil}} {
		if _, _, err := Credentials(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := Issue(meta.Authority{Certificate: a.Certificate, Key: []byte("x")}, 7, Public(seed)); err == nil {
		t.Error("a damaged key signs")
	}
}

// FuzzToken: what is taken for a token is written as it was read; a change of any character is noticed.
func FuzzToken(f *testing.F) {
	sample := &Token{Addresses: []string{"a:1", "b:2"}, Fingerprint: make([]byte, 32), Secret: make([]byte, secretBytes), Until: time.Unix(1800000000, 0)}
	text := sample.String()
	if got, err := ParseToken("  " + text + "\t2027-01-01 00:00:00 UTC\t8\n"); err != nil || !reflect.DeepEqual(got, sample) {
		f.Fatal(got, err)
	}
	for i := range text {
		if _, err := ParseToken(text[:i] + "~" + text[i+1:]); err == nil {
			f.Errorf("a change of character %d is not noticed", i)
		}
		if _, err := ParseToken(text[:i]); err == nil {
			f.Errorf("%d of %d characters are a token", i, len(text))
		}
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		if token, err := ParseToken(text); err == nil && token.String() != firstWord(text) {
			t.Errorf("%q is read as %+v", text, token)
		}
	})
}

// FuzzRequest: a desk and a joining node survive what is sent to them.
func FuzzRequest(f *testing.F) {
	seed := make([]byte, 32)
	f.Add((&Request{Secret: make([]byte, secretBytes), Newest: 1, Public: Public(seed), Address: "a:1", Millis: 7, Program: "p"}).append(nil))
	f.Add((&Admission{Cluster: 1, Node: 2, Certificate: []byte{1}, Authority: []byte{2}, Members: []Place{{3, "b:1"}}}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRequest(b); err == nil && !slices.Equal(r.append(nil), b) {
			t.Errorf("%x is read as %+v", b, r)
		}
		if a, err := decodeAdmission(b); err == nil && !slices.Equal(a.append(nil), b) {
			t.Errorf("%x is read as %+v", b, a)
		}
		d := NewDesk(Options{Node: 1, View: func(g func(*meta.State)) { g(&meta.State{}) }, Leader: func() uint64 { return 1 },
			Now: func() (clock.Timestamp, error) { return 1, nil }, Propose: func(context.Context, []byte) (uint64, error) { return 0, fmt.Errorf("not here") }})
		if len(b) > 0 {
			_, _ = d.Call(t.Context(), 2, b[0]%4, b[1:])
		}
	})
}
