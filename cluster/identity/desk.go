package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/placement/meta"
)

// Kinds of calls. Those up to KindLast are this package's.
const (
	kindJoin byte = 1 + iota
	kindRegister
	kindWho

	KindLast byte = 15
)

const (
	// clockSlack is by how much the clocks of nodes may differ.
	clockSlack = 2 * time.Hour
	// laterPrefix begins a failure that is none of the node's that wants to join: it may try again.
	laterPrefix = "not now: "
	// tokenTimeMax bounds how long a token is good, tokenTimeDefault and TokenUses are for who does not say.
	tokenTimeMax     = 30 * 24 * time.Hour
	tokenTimeDefault = time.Hour

	// TokenUses is how many nodes may join with a token whose maker does not say.
	TokenUses = 8
)

// Options are what a Desk works with.
type Options struct {
	// Node is this one.
	Node uint64
	// View calls a function with the state of region 0 as this node knows it, which may be empty.
	View func(func(*meta.State))
	// Propose brings a command to region 0 and returns its result. Only its leader can.
	Propose func(ctx context.Context, command []byte) (uint64, error)
	// Leader returns the node that leads region 0, 0 if that is not known.
	Leader func() uint64
	// Call asks another node.
	Call func(ctx context.Context, node uint64, kind byte, payload []byte) ([]byte, error)
	// Alive reports whether another node speaks with this one, and in which incarnation.
	Alive func(node uint64) (incarnation uint64, alive bool)
	// Now is the cluster's time, above every timestamp of before.
	Now func() (clock.Timestamp, error)
	// Saved are the members that the directory remembers, for as long as there is no state.
	Saved []Place
	// Logger receives who has joined and who was refused.
	Logger *slog.Logger
}

// Desk is a node's part in who belongs to the cluster. It is safe for concurrent use.
type Desk struct{ o Options }

// NewDesk returns a desk.
func NewDesk(o Options) *Desk {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Desk{o}
}

// Address is transport's Addresses: where a node is that has joined and was not removed.
func (d *Desk) Address(node uint64) (address string, member bool) {
	st, known, any := d.store(node)
	if known {
		return st.Address, st.Stage != meta.Removed
	}
	if !any {
		for _, p := range d.o.Saved {
			if p.Node == node {
				return p.Address, true
			}
		}
	}
	return "", false
}

// Admit is transport's: why a node may not speak.
func (d *Desk) Admit(node, incarnation uint64) error {
	st, known, any := d.store(node)
	switch {
	case known && st.Stage == meta.Removed:
		return &transport.RefusedError{Reason: transport.RefusedRemoved,
			Text: fmt.Sprintf("node %d was removed from the cluster: empty its directory and join under a new number", node)}
	case known && incarnation < st.Incarnation:
		return &transport.RefusedError{Reason: transport.RefusedOutlived, Text: fmt.Sprintf("node %d was started %d times already, and its directory says %d: it is an older copy "+
			"of the directory; empty it and join under a new number", node, st.Incarnation, incarnation)}
	case known || !any:
		return nil // without a state of one's own the certificate is all there is
	}
	return fmt.Errorf("node %d has not joined the cluster, as far as this node knows yet", node)
}

// store returns a store of the state, and whether there is a state.
func (d *Desk) store(node uint64) (st meta.Store, known, any bool) {
	d.o.View(func(s *meta.State) {
		st, known = s.Store(node)
		any = s.NextID() != 0
	})
	return st, known, any
}

// Call answers other nodes.
func (d *Desk) Call(ctx context.Context, from uint64, kind byte, payload []byte) ([]byte, error) {
	if kind == kindWho {
		return codec.AppendUint(nil, d.o.Leader()), nil
	}
	if len(payload) == 0 || payload[0] > 1 || kind > kindRegister {
		return nil, errors.New("a malformed call")
	}
	hops, body := payload[0], payload[1:]
	if kind == kindRegister {
		return nil, d.register(ctx, from, hops, body)
	}
	return d.join(ctx, hops, body)
}

// pass passes a call on to the leader, unless it was passed on already. here: this node is the leader.
func (d *Desk) pass(ctx context.Context, kind, hops byte, body []byte) (answer []byte, here bool, err error) {
	leader := d.o.Leader()
	switch {
	case leader == d.o.Node:
		return nil, true, nil
	case leader == 0 || hops > 0:
		return nil, false, errors.New(laterPrefix + "region 0 has no leader at the moment")
	}
	answer, err = d.o.Call(ctx, leader, kind, append([]byte{hops + 1}, body...))
	if err != nil {
		if remote, is := errors.AsType[*transport.RemoteError](err); is {
			return nil, false, remote
		}
		return nil, false, fmt.Errorf("%sthe leader of region 0, node %d, does not answer: %w", laterPrefix, leader, err)
	}
	return answer, false, nil
}

// Join is transport's: it answers a node that has no certificate yet.
func (d *Desk) Join(ctx context.Context, from net.Addr, request []byte) ([]byte, error) {
	b, err := d.join(ctx, 0, request)
	if err != nil {
		d.o.Logger.Warn("a node that wants to join was refused", "from", from.String(), "reason", err)
	}
	return b, err
}

func (d *Desk) join(ctx context.Context, hops byte, request []byte) ([]byte, error) {
	if answer, here, err := d.pass(ctx, kindJoin, hops, request); !here {
		return answer, err
	}
	r, err := decodeRequest(request)
	if err != nil {
		return nil, err
	}
	a, err := d.admit(ctx, r)
	if err != nil {
		return nil, err
	}
	return a.append(nil), nil
}

// admit decides, at the leader, whether a node joins.
func (d *Desk) admit(ctx context.Context, r *Request) (*Admission, error) {
	now, err := d.o.Now()
	if err != nil {
		return nil, fmt.Errorf("%sthere are no timestamps: %w", laterPrefix, err)
	}
	secret, key := hashOf(r.Secret), hashOf(r.Public)
	lost := uint64(0)
	err = d.judge(r, secret, key, now, lost)
	if taken, is := errors.AsType[*takenError](err); is && d.lost(ctx, taken.node) {
		lost = taken.node
		err = d.judge(r, secret, key, now, lost)
	}
	if err != nil {
		return nil, err
	}
	if err := transport.Probe(ctx, r.Address); err != nil {
		return nil, fmt.Errorf("the address that the node names cannot be connected to from the cluster's leader: %w; set --advertise to one that can be, and let no firewall between", err)
	}
	id, err := d.o.Propose(ctx, meta.Join(r.Oldest, r.Newest, r.Address, key, secret, now))
	if err != nil {
		return nil, fmt.Errorf("%sregion 0 does not take the node: %w", laterPrefix, err)
	}
	if id == 0 { // somebody was quicker
		if err := d.judge(r, secret, key, now, lost); err != nil {
			return nil, err
		}
		return nil, errors.New(laterPrefix + "region 0 does not take the node")
	}
	var authority meta.Authority
	a := &Admission{Node: id}
	d.o.View(func(s *meta.State) {
		authority = s.Authority()
		a.Members = places(s, id)
	})
	a.Cluster, a.Authority = authority.Cluster, authority.Certificate
	if a.Certificate, err = Issue(authority, id, r.Public); err != nil {
		return nil, err
	}
	d.o.Logger.Info("a node has joined", "node", id, "address", r.Address, "program", r.Program)
	return a, nil
}

// lostTime bounds the wait for the answer of a node at whose address another wants to join.
const lostTime = 3 * time.Second

// takenError: a node names the address of another.
type takenError struct {
	address string
	node    uint64
}

func (e *takenError) Error() string {
	return fmt.Sprintf("%s is the address of node %d, which is alive: give each node one of its own (--cluster-listen, --advertise)", e.address, e.node)
}

// lost reports whether a node does not answer at its address. If another is there its directory is gone: it was emptied, or its machine replaced.
func (d *Desk) lost(ctx context.Context, node uint64) bool {
	if node == d.o.Node {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lostTime)
	defer cancel()
	return d.Reach(ctx, node) != nil
}

// replace has those leave whose address a new node has, once it is there to take copies: so there are no fewer of these meanwhile.
func (d *Desk) replace(ctx context.Context, fresh *meta.Store) error {
	var old []uint64
	d.o.View(func(s *meta.State) {
		for _, st := range s.Stores() {
			if st.ID != fresh.ID && st.Address == fresh.Address && st.Stage < meta.Leaving {
				old = append(old, st.ID)
			}
		}
	})
	for _, node := range old {
		if !d.lost(ctx, node) {
			continue
		}
		if _, err := d.o.Propose(ctx, meta.SetStage(node, meta.Leaving)); err != nil {
			return fmt.Errorf("%snode %d, in whose place node %d comes, cannot be removed: %w", laterPrefix, node, fresh.ID, err)
		}
		d.o.Logger.Warn("a node leaves, because another has joined at its address", "node", node, "address", fresh.Address, "joined", fresh.ID)
	}
	return nil
}

// judge says why a node may not join. One that is lost does not keep its address.
func (d *Desk) judge(r *Request, secret, key meta.Hash, now clock.Timestamp, lost uint64) (err error) {
	d.o.View(func(s *meta.State) {
		t, known := s.Token(secret)
		repeated := slices.ContainsFunc(s.Stores(), func(st meta.Store) bool { return st.Key == key && st.Stage == meta.Joining })
		skew := time.Duration(r.Millis-clock.NowMillis()) * time.Millisecond
		switch {
		case s.Authority().Cluster == 0:
			err = errors.New(laterPrefix + "the cluster has no authority yet")
		case !known:
			err = errors.New("the join token is not known: it is another cluster's, or has expired long ago; have a member print another (pando token)")
		case t.Until <= now:
			err = errors.New("the join token has expired: have a member print another (pando token)")
		case t.Uses == 0 && !repeated:
			err = errors.New("the join token was used as often as it may be: have a member print another (pando token)")
		case r.Newest < s.Version():
			err = fmt.Errorf("the program of the node that joins (%s) is too old: it knows version %d of the cluster, and this one has version %d", r.Program, r.Newest, s.Version())
		case r.Oldest > s.Version():
			err = fmt.Errorf("the program of the node that joins (%s) is too new: it needs version %d of the cluster, and this one has version %d; upgrade the members first",
				r.Program, r.Oldest, s.Version())
		case skew > clockSlack || skew < -clockSlack:
			err = fmt.Errorf("the clock of the node that joins and the cluster's differ by %v: set it", skew.Abs().Round(time.Second))
		default:
			err = d.judgeAddress(s, r, key, lost)
		}
	})
	return err
}

// judgeAddress says why others could not reach a node at its address.
func (d *Desk) judgeAddress(s *meta.State, r *Request, key meta.Hash, lost uint64) error {
	if err := CheckAddress(r.Address); err != nil {
		return fmt.Errorf("the address of the node that joins: %w", err)
	}
	for _, st := range s.Stores() {
		switch {
		case st.Stage == meta.Removed || st.Key == key || st.ID == lost:
		case st.Address == r.Address:
			return &takenError{r.Address, st.ID}
		case st.Address != "" && Loopback(st.Address) != Loopback(r.Address):
			return fmt.Errorf("%s and %s, the address of node %d, cannot both be reached from everywhere: one of them is of the loopback interface; start the nodes with --advertise and "+
				"an address of the network", r.Address, st.Address, st.ID)
		}
	}
	return nil
}

// places lists where the members are, but for one.
func places(s *meta.State, but uint64) (list []Place) {
	for _, st := range s.Stores() {
		if st.Member() && st.ID != but && st.Address != "" && len(list) < membersMax {
			list = append(list, Place{st.ID, st.Address})
		}
	}
	return list
}

// Members lists where the other members are, for the directory to remember.
func (d *Desk) Members() (list []Place) {
	d.o.View(func(s *meta.State) { list = places(s, d.o.Node) })
	if list == nil {
		return d.o.Saved
	}
	return list
}

// Register tells the cluster of this node: that it lives, in which incarnation, where, and what its program knows. An error may be tried
// again.
func (d *Desk) Register(ctx context.Context, st meta.Store) error {
	body := appendStore(nil, st)
	if leader := d.o.Leader(); leader == d.o.Node {
		return d.register(ctx, d.o.Node, 0, body)
	} else if leader != 0 {
		_, err := d.o.Call(ctx, leader, kindRegister, append([]byte{0}, body...))
		return err
	}
	var faults []error
	for _, p := range d.Members() {
		_, err := d.o.Call(ctx, p.Node, kindRegister, append([]byte{0}, body...))
		if err == nil {
			return nil
		}
		faults = append(faults, err)
	}
	return errors.Join(append([]error{errors.New("no member knows the leader of region 0")}, faults...)...)
}

// Who asks the members which node leads region 0; 0 if none knows. It is for a node that has no copy of region 0.
func (d *Desk) Who(ctx context.Context) uint64 {
	for _, p := range d.Members() {
		b, err := d.o.Call(ctx, p.Node, kindWho, nil)
		c := codec.NewDecoder(b)
		if leader := c.Uint(); err == nil && c.End() == nil && leader != 0 {
			return leader
		}
	}
	return 0
}

// Reach asks a node something, so that it is known whether it can be reached.
func (d *Desk) Reach(ctx context.Context, node uint64) error {
	_, err := d.o.Call(ctx, node, kindWho, nil)
	return err
}

// version is the cluster's, as far as is known here.
func (d *Desk) version() (v uint64) {
	d.o.View(func(s *meta.State) { v = s.Version() })
	return v
}

func appendStore(b []byte, st meta.Store) []byte {
	b = codec.AppendUint(codec.AppendUint(b, st.ID), st.Incarnation)
	return codec.AppendBytes(codec.AppendUint(codec.AppendUint(b, st.Oldest), st.Newest), st.Address)
}

// register enters what a node tells of itself.
func (d *Desk) register(ctx context.Context, from uint64, hops byte, body []byte) error {
	c := codec.NewDecoder(body)
	st := meta.Store{ID: c.Uint(), Incarnation: c.Uint(), Oldest: c.Uint(), Newest: c.Uint(), Address: c.Text(addressBytesMax)}
	if err := c.End(); err != nil || hops == 0 && st.ID != from {
		return errors.New("a malformed call, or one for another node")
	}
	if _, here, err := d.pass(ctx, kindRegister, hops, body); !here {
		return err
	}
	old, known, _ := d.store(st.ID)
	switch {
	case !known:
		return fmt.Errorf("node %d has not joined the cluster", st.ID)
	case old.Incarnation == st.Incarnation && old.Address == st.Address && old.Stage != meta.Joining && old.Oldest == st.Oldest && old.Newest == st.Newest:
		return nil
	}
	// Who speaks with the leader itself was met there (transport.meet). A copy of a living node's directory was refused there, and may have found a node that hears
	// neither; if its start counted, everybody would refuse the living one (I6).
	if incarnation, alive := d.o.Alive(st.ID); hops > 0 && alive && incarnation < st.Incarnation {
		return fmt.Errorf("%snode %d is alive in another process: either its data directory was copied and started twice, or the cluster has not noticed yet that it was restarted", laterPrefix, st.ID)
	}
	if old.Stage == meta.Joining {
		if err := d.replace(ctx, &st); err != nil {
			return err
		}
	}
	id, err := d.o.Propose(ctx, meta.PutStore(st))
	if err != nil {
		return fmt.Errorf("%sregion 0 does not take what node %d tells: %w", laterPrefix, st.ID, err)
	}
	if version := d.version(); id == 0 && (st.Newest < version || st.Oldest > version) {
		return fmt.Errorf("node %d is refused: its program knows versions %d to %d of the cluster, and this one has version %d", st.ID, st.Oldest, st.Newest, version)
	}
	if id == 0 {
		return fmt.Errorf("node %d is refused: it was removed, or is an older copy of its directory", st.ID)
	}
	if known && old.Address != "" && old.Address != st.Address {
		d.o.Logger.Info("a node has another address", "node", st.ID, "address", st.Address, "before", old.Address)
	}
	return nil
}

// UsageError says why there is no token, and what to do about it.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// NewToken makes a token with so many uses, for a time; zero takes the defaults. Only the leader of region 0 can.
func (d *Desk) NewToken(ctx context.Context, uses uint64, last time.Duration) (*Token, error) {
	if uses == 0 {
		uses = TokenUses
	}
	if last == 0 {
		last = tokenTimeDefault
	}
	if uses > meta.TokenUsesMax || last < time.Second || last > tokenTimeMax {
		return nil, UsageError(fmt.Sprintf("a token has 1 to %d uses and lasts for up to %d hours", meta.TokenUsesMax, int(tokenTimeMax.Hours())))
	}
	now, err := d.o.Now()
	if err != nil {
		return nil, err
	}
	secret, err := newSecret()
	if err != nil {
		return nil, err
	}
	until := time.UnixMilli(now.PhysicalMillis()).Add(last).Truncate(time.Second).Add(time.Second)
	t := &Token{Secret: secret, Until: until}
	d.o.View(func(s *meta.State) {
		if a := s.Authority(); a.Cluster != 0 {
			sum := hashOf(a.Certificate)
			t.Fingerprint = sum[:]
		}
		for _, p := range places(s, 0) {
			if len(t.Addresses) < tokenAddressesMax {
				t.Addresses = append(t.Addresses, p.Address)
			}
		}
	})
	switch {
	case t.Fingerprint == nil:
		return nil, errors.New("the cluster has no authority yet")
	case len(t.Addresses) == 0:
		return nil, UsageError("no member has an address for other nodes: start this one with --cluster-listen")
	}
	done, err := d.o.Propose(ctx, meta.PutToken(meta.Token{Secret: hashOf(secret), Until: clock.Make(until.UnixMilli(), 0), Uses: uses}, now))
	if err == nil && done == 0 {
		err = UsageError("there are too many tokens: wait until some have expired")
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Found gives the cluster its authority, unless it has one. Only the leader of region 0 can.
func (d *Desk) Found(ctx context.Context) error {
	var has bool
	d.o.View(func(s *meta.State) { has = s.Authority().Cluster != 0 })
	if has {
		return nil
	}
	a, err := NewAuthority()
	if err != nil {
		return err
	}
	_, err = d.o.Propose(ctx, meta.PutAuthority(a)) // who was quicker has given it another, which is as good
	return err
}
