package meta

import (
	"reflect"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
)

// checkLives checks M5 and M6 between a state and what it was before a command.
func checkLives(t *testing.T, s *State, stores []Store, authority Authority) {
	t.Helper()
	up := 0
	for _, st := range s.Stores() {
		if st.Stage == Up {
			up++
		}
	}
	for _, old := range stores {
		st, ok := s.Store(old.ID)
		if !ok || st.Stage < old.Stage || st.Key != old.Key || old.Stage == Removed && st != old {
			t.Fatalf("store %+v became %+v", old, st)
		}
	}
	if up == 0 {
		t.Fatalf("no store is up: %+v", s.Stores())
	}
	if authority.Cluster != 0 && !reflect.DeepEqual(authority, s.Authority()) {
		t.Fatal("the authority changed")
	}
}

// step is a command with the result that it has to have.
func step(t *testing.T, s *State, what string, command []byte, want uint64) {
	t.Helper()
	if _, got, err := s.Apply(command); err != nil || got != want {
		t.Errorf("%s: %d %v, want %d", what, got, err, want)
	}
}

// TestJoin: a token lets in as many as it has uses, until its end, and each key once (M7).
func TestJoin(t *testing.T) {
	var s State
	s.Begin(10, 1, 2, Store{ID: 1, Incarnation: 1, Oldest: 1, Newest: 2, Address: "a:1"})
	secret, now := Hash{7}, clock.Timestamp(100)
	join := func(key byte, at clock.Timestamp) []byte { return Join(1, 2, "b:1", Hash{key}, secret, at) }
	step(t, &s, "no token", join(1, now), 0)
	step(t, &s, "a token without uses", PutToken(Token{Secret: secret, Until: 200}, now), 0)
	step(t, &s, "a token", PutToken(Token{Secret: secret, Until: 200, Uses: 2}, now), 1)
	step(t, &s, "too old a program", Join(1, 1, "b:1", Hash{1}, secret, now), 0)
	step(t, &s, "too new a program", Join(3, 3, "b:1", Hash{1}, secret, now), 0)
	step(t, &s, "a join", join(1, now), 10)
	step(t, &s, "its answer was lost", join(1, 199), 10)
	step(t, &s, "another", join(2, now), 11)
	step(t, &s, "one too many", join(3, now), 0)
	step(t, &s, "a repetition after the uses", join(2, now), 11)
	step(t, &s, "a repetition after the end", join(2, 200), 0)
	step(t, &s, "another token", PutToken(Token{Secret: Hash{8}, Until: 300, Uses: 1}, now), 1)
	step(t, &s, "it has expired", Join(1, 2, "b:1", Hash{3}, Hash{8}, 300), 0)
	if s.NextID() != 12 {
		t.Errorf("the next id is %d", s.NextID())
	}
	if tok, ok := s.Token(secret); !ok || tok.Uses != 0 {
		t.Errorf("%+v %t", tok, ok)
	}
	step(t, &s, "a day later", PutToken(Token{Secret: Hash{9}, Until: tokenKept + 1000, Uses: 1}, tokenKept+300), 1)
	if _, ok := s.Token(secret); ok || s.Tokens() != 1 {
		t.Errorf("%d tokens are kept", s.Tokens())
	}
}

// TestLives: what a store tells of itself makes a joining one a member, and brings no removed one back.
func TestLives(t *testing.T) {
	var s State
	s.Begin(2, 1, 1, Store{ID: 1, Incarnation: 1, Oldest: 1, Newest: 1, Address: "a:1"})
	step(t, &s, "a token", PutToken(Token{Secret: Hash{7}, Until: 200, Uses: 9}, 1), 1)
	step(t, &s, "a join", Join(1, 1, "b:1", Hash{1}, Hash{7}, 1), 2)
	if st, _ := s.Store(2); st.Stage != Joining || st.Member() {
		t.Errorf("%+v", st)
	}
	step(t, &s, "the last that is up", SetStage(1, Leaving), uint64(Up))
	step(t, &s, "it tells of itself", PutStore(Store{ID: 2, Incarnation: 3, Oldest: 1, Newest: 1}), 2)
	if st, _ := s.Store(2); st.Stage != Up || st.Address != "b:1" || st.Key != (Hash{1}) || !st.Member() {
		t.Errorf("%+v", st)
	}
	step(t, &s, "an earlier life", PutStore(Store{ID: 2, Incarnation: 2, Oldest: 1, Newest: 1}), 0)
	step(t, &s, "it has moved", PutStore(Store{ID: 2, Incarnation: 4, Oldest: 1, Newest: 1, Address: "c:1"}), 2)
	step(t, &s, "it leaves", SetStage(2, Leaving), uint64(Leaving))
	step(t, &s, "it was restarted meanwhile", PutStore(Store{ID: 2, Incarnation: 5, Oldest: 1, Newest: 1}), 2)
	if st, _ := s.Store(2); st.Stage != Leaving || st.Address != "c:1" {
		t.Errorf("%+v", st)
	}
	step(t, &s, "not back", SetStage(2, Up), uint64(Leaving))
	step(t, &s, "the other may not go", SetStage(1, Removed), uint64(Up))
	step(t, &s, "it is removed", SetStage(2, Removed), uint64(Removed))
	step(t, &s, "it comes back", PutStore(Store{ID: 2, Incarnation: 6, Oldest: 1, Newest: 1}), 0)
	step(t, &s, "nobody", SetStage(9, Removed), 0)
	step(t, &s, "too many copies", putCopies(CopiesMax+1), copiesDefault)
	step(t, &s, "five copies", putCopies(5), 5)
	step(t, &s, "an authority", PutAuthority(Authority{Cluster: 5, Certificate: []byte{1}, Key: []byte{2}}), 1)
	step(t, &s, "a second one", PutAuthority(Authority{Cluster: 6, Certificate: []byte{1}, Key: []byte{2}}), 0)
	if s.Known() != 1 {
		t.Errorf("all know version %d", s.Known())
	}
	step(t, &s, "a version that the removed store does not know", PutStore(Store{ID: 1, Incarnation: 1, Oldest: 1, Newest: 2}), 1)
	if s.Known() != 2 {
		t.Errorf("all know version %d, the removed store being none of them", s.Known())
	}
	step(t, &s, "is reached", Version(2), 2)
}

// TestRecordBeforeStages: a store's record of a program of before reads as one that is up.
func TestRecordBeforeStages(t *testing.T) {
	want := Store{ID: 3, Incarnation: 4, Oldest: 1, Newest: 2, Address: "a:1", Stage: Up}
	var s State
	name := want.change().Name
	if err := s.Load(name, want.fields(nil)); err != nil {
		t.Fatal(err)
	}
	if st, _ := s.Store(3); st != want {
		t.Errorf("%+v", st)
	}
	value := want.change().Value
	for n := len(want.fields(nil)) + 1; n < len(value); n++ {
		if err := s.Load(name, value[:n]); err == nil {
			t.Errorf("%d of %d bytes are a record", n, len(value))
		}
	}
	if err := s.Load(name, append(codec.AppendUint(nil, 1), 9)); err == nil {
		t.Error("a damaged record is taken")
	}
}
