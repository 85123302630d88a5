package meta

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
)

const (
	// tokensMax bounds the tokens that are kept.
	tokensMax = 256
	// TokenUsesMax bounds the joins by one token.
	TokenUsesMax = 1000
	// tokenKept is how long an expired token is kept, so that a node that uses it is told that it has expired.
	tokenKept = 24 * 60 * 60 * 1000 << clock.LogicalBits
	// authorityBytesMax bounds the authority's certificate and key.
	authorityBytesMax = 8 << 10
	// CopiesMax bounds the copies of a region.
	CopiesMax = 7
	// copiesDefault is Copies before a command has set it.
	copiesDefault = 3
)

// Hash is the SHA-256 of a token's secret or of a public key.
type Hash = [sha256.Size]byte

// Stage says whether a store takes part in the cluster. It only ascends.
type Stage byte

// Stages.
const (
	// Joining: it has been given an id, and has not sent its PutStore yet.
	Joining Stage = 1 + iota
	// Up: it has sent its PutStore.
	Up
	// Leaving: its copies are being moved to other stores.
	Leaving
	// Removed: it has no copies, and its id is never used again.
	Removed
)

// String names the stage.
func (s Stage) String() string {
	switch s {
	case Joining:
		return "joining"
	case Up:
		return "up"
	case Leaving:
		return "leaving"
	case Removed:
		return "removed"
	}
	return fmt.Sprintf("stage %d", byte(s))
}

// Store is a store as the cluster knows it.
type Store struct {
	ID, Incarnation uint64
	// Oldest and Newest bound the cluster versions that its program supports.
	Oldest, Newest uint64
	Address        string
	Stage          Stage
	// Key is the hash of the public key that it joined with; zero for the first store of the cluster.
	Key Hash
}

// Member reports whether the store takes part: it is neither joining nor removed.
func (st *Store) Member() bool { return st.Stage == Up || st.Stage == Leaving }

// Token permits nodes that know its secret to join.
type Token struct {
	Secret Hash // the hash of the secret
	Until  clock.Timestamp
	Uses   uint64 // left
}

// Authority signs the certificates of the cluster's nodes.
type Authority struct {
	// Cluster is the cluster's number, which is in all certificates.
	Cluster uint64
	// Certificate and Key are DER; both are empty before there is an authority.
	Certificate, Key []byte
}

// PutStore returns the command by which a store registers itself when it starts. It adds an unknown store, makes a joining one a member, and
// keeps stage and key of others, and the address too if s has none. It has no effect, and the result 0, if the store was removed, if its
// incarnation is older than the known one, or if its program does not support the cluster version.
func PutStore(s Store) []byte { return s.fields(codec.AppendUint(head(kindStore), s.ID)) }

// Join returns the command that adds a store that has presented a token. The result is its id, 0 if the token is not valid at now. Until the
// store has sent its PutStore the same key gets the same id again, without another use of the token.
func Join(oldest, newest uint64, address string, key, secret Hash, now clock.Timestamp) []byte {
	b := codec.AppendBytes(codec.AppendUint(codec.AppendUint(head(kindJoin), oldest), newest), address)
	return codec.AppendUint(codec.AppendBytes(codec.AppendBytes(b, key[:]), secret[:]), uint64(now))
}

// SetStage returns the command that raises a store's stage. The result is its stage afterwards, 0 if there is no such store. The last store
// that is up stays up.
func SetStage(id uint64, stage Stage) []byte {
	return append(codec.AppendUint(head(kindStage), id), byte(stage))
}

// PutToken returns the command that adds a token, and deletes those that expired more than a day before now. The result is 1, or 0 if there
// are too many.
func PutToken(t Token, now clock.Timestamp) []byte {
	b := codec.AppendUint(codec.AppendBytes(head(kindToken), t.Secret[:]), uint64(t.Until))
	return codec.AppendUint(codec.AppendUint(b, t.Uses), uint64(now))
}

// PutAuthority returns the command that sets the cluster's authority. The result is 1, or 0 if there already was one.
func PutAuthority(a Authority) []byte { return a.fields(head(kindAuthority)) }

// Stores returns all stores, also the removed ones, in the order of their ids.
func (s *State) Stores() (out []Store) {
	for _, st := range s.stores {
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b Store) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}

// Store returns a store.
func (s *State) Store(id uint64) (st Store, ok bool) {
	st, ok = s.stores[id]
	return st, ok
}

// Token returns the token of a secret's hash. ok is false for one that was never added, or was deleted.
func (s *State) Token(secret Hash) (t Token, ok bool) {
	t, ok = s.tokens[secret]
	return t, ok
}

// Tokens returns how many tokens are kept.
func (s *State) Tokens() int { return len(s.tokens) }

// Authority returns the cluster's authority. Nobody may change its slices.
func (s *State) Authority() Authority { return s.authority }

// Copies returns how many copies a region should have.
func (s *State) Copies() uint64 {
	if s.copies == 0 {
		return copiesDefault
	}
	return s.copies
}

// good reports whether the token is valid at now.
func (t *Token) good(now clock.Timestamp) bool { return t.Uses > 0 && t.Until > now }

func (s *State) put(st Store) Change {
	if s.stores == nil {
		s.stores = map[uint64]Store{}
	}
	s.stores[st.ID] = st
	return st.change()
}

func (s *State) applyStore(d *codec.Decoder) ([]Change, uint64, error) {
	st := Store{ID: d.Uint(), Stage: Up}
	st.read(d)
	if err := end(d); err != nil {
		return nil, 0, err
	}
	old, known := s.stores[st.ID]
	if st.Oldest > s.version || st.Newest < s.version || st.Incarnation < old.Incarnation || old.Stage == Removed {
		return nil, 0, nil // its program does not support the version, or the incarnation is an earlier one, or it was removed
	}
	if known {
		st.Key, st.Stage = old.Key, max(old.Stage, Up)
		if st.Address == "" {
			st.Address = old.Address
		}
	}
	return []Change{s.put(st)}, st.ID, nil
}

func (s *State) applyJoin(d *codec.Decoder) (changes []Change, id uint64, err error) {
	st := Store{Oldest: d.Uint(), Newest: d.Uint(), Address: d.Text(textMax), Stage: Joining, Key: hash(d)}
	secret := hash(d)
	now := clock.Timestamp(d.Uint())
	if err := end(d); err != nil {
		return nil, 0, err
	}
	t, known := s.tokens[secret]
	if !known || st.Oldest > s.version || st.Newest < s.version || s.nextID+1 < s.nextID {
		return nil, 0, nil
	}
	for _, old := range s.Stores() {
		if old.Key == st.Key && old.Stage == Joining && t.Until > now { // a repeat, as if the first reply was lost
			st.ID = old.ID
			return []Change{s.put(st)}, st.ID, nil
		}
	}
	if !t.good(now) {
		return nil, 0, nil
	}
	t.Uses--
	s.tokens[secret] = t
	st.ID = s.nextID
	s.nextID++
	return []Change{s.number('i', s.nextID), t.change(), s.put(st)}, st.ID, nil
}

func (s *State) applyStage(d *codec.Decoder) (changes []Change, result uint64, err error) {
	id, stage := d.Uint(), Stage(d.Byte(byte(Removed)))
	if err := end(d); err != nil {
		return nil, 0, err
	}
	st, known := s.stores[id]
	if !known {
		return nil, 0, nil
	}
	others := 0
	for _, other := range s.stores {
		if other.Stage == Up && other.ID != id {
			others++
		}
	}
	if stage <= st.Stage || stage > Up && others == 0 && st.Stage == Up {
		return nil, uint64(st.Stage), nil
	}
	st.Stage = stage
	return []Change{s.put(st)}, uint64(stage), nil
}

func (s *State) applyToken(d *codec.Decoder) (changes []Change, result uint64, err error) {
	t := Token{Secret: hash(d), Until: clock.Timestamp(d.Uint()), Uses: d.Uint()}
	now := clock.Timestamp(d.Uint())
	if err := end(d); err != nil || t.Uses == 0 || t.Uses > TokenUsesMax {
		return nil, 0, err
	}
	var gone []Token
	for _, old := range s.tokens {
		if old.Until+tokenKept <= now {
			gone = append(gone, old)
		}
	}
	slices.SortFunc(gone, func(a, b Token) int { return slices.Compare(a.Secret[:], b.Secret[:]) })
	for _, old := range gone {
		delete(s.tokens, old.Secret)
		c := old.change()
		changes = append(changes, Change{Name: c.Name})
	}
	if len(s.tokens) >= tokensMax {
		return changes, 0, nil
	}
	if s.tokens == nil {
		s.tokens = map[Hash]Token{}
	}
	s.tokens[t.Secret] = t
	return append(changes, t.change()), 1, nil
}

func (s *State) applyAuthority(d *codec.Decoder) (changes []Change, result uint64, err error) {
	var a Authority
	a.read(d)
	if err := end(d); err != nil || a.Cluster == 0 || s.authority.Cluster != 0 {
		return nil, 0, err
	}
	s.authority = a
	return []Change{{Name: []byte{'c'}, Value: a.fields(nil)}}, 1, nil
}

func (s *State) applyCopies(d *codec.Decoder) (changes []Change, result uint64, err error) {
	n := d.Uint()
	if err := end(d); err != nil || n == 0 || n > CopiesMax {
		return nil, s.Copies(), err
	}
	s.copies = n
	return []Change{s.number('n', n)}, n, nil
}

func (s *State) loadToken(secret Hash, d *codec.Decoder) {
	if s.tokens == nil {
		s.tokens = map[Hash]Token{}
	}
	s.tokens[secret] = Token{Secret: secret, Until: clock.Timestamp(d.Uint()), Uses: d.Uint()}
}

func (t *Token) change() Change {
	return Change{Name: append([]byte{'k'}, t.Secret[:]...), Value: codec.AppendUint(codec.AppendUint(nil, uint64(t.Until)), t.Uses)}
}

func (a *Authority) fields(b []byte) []byte {
	return codec.AppendBytes(codec.AppendBytes(codec.AppendUint(b, a.Cluster), a.Certificate), a.Key)
}

func (a *Authority) read(d *codec.Decoder) {
	// Copied, because the command's bytes belong to the log.
	a.Cluster, a.Certificate, a.Key = d.Uint(), []byte(d.Text(authorityBytesMax)), []byte(d.Text(authorityBytesMax))
}

func (st *Store) change() Change {
	value := append(st.fields(nil), byte(st.Stage))
	return Change{Name: binary.BigEndian.AppendUint64([]byte{'s'}, st.ID), Value: append(value, st.Key[:]...)}
}

func (st *Store) fields(b []byte) []byte {
	return codec.AppendBytes(codec.AppendUint(codec.AppendUint(codec.AppendUint(b, st.Incarnation), st.Oldest), st.Newest), st.Address)
}

func (st *Store) read(d *codec.Decoder) {
	st.Incarnation, st.Oldest, st.Newest, st.Address = d.Uint(), d.Uint(), d.Uint(), d.Text(textMax)
}

// readStage reads stage and key. A record older than stages lacks both, and its store is up.
func (st *Store) readStage(d *codec.Decoder) {
	rest := d.Rest()
	switch {
	case d.Err() != nil:
	case len(rest) == 0:
		st.Stage = Up
	case len(rest) != 1+len(st.Key) || Stage(rest[0]) < Joining || Stage(rest[0]) > Removed:
		d.Fail("stage")
	default:
		st.Stage, st.Key = Stage(rest[0]), Hash(rest[1:])
	}
}

// hash reads a Hash.
func hash(d *codec.Decoder) (h Hash) {
	if b := d.Bytes(); len(b) == len(h) {
		return Hash(b)
	}
	d.Fail("hash")
	return Hash{}
}
