package meta

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/internal/testkit"
)

// putSafepoint is the command that sets a service's safepoint, or takes it back if TS is zero; those whose time was over at now go. Nothing sends it yet.
func putSafepoint(p Safepoint, now clock.Timestamp) []byte {
	b := codec.AppendUint(codec.AppendUint(codec.AppendUint(head(kindSafepoint), uint64(p.TS)), uint64(p.Until)), uint64(now))
	return codec.AppendBytes(b, p.Service)
}

// putCopies is the command that says how many copies regions shall have, with the number afterwards as its result. Nothing sends it yet.
func putCopies(n uint64) []byte { return codec.AppendUint(head(kindCopies), n) }

// disk keeps records as store does.
type disk map[string][]byte

func (d disk) write(changes []Change) {
	for _, c := range changes {
		if c.Value == nil {
			delete(d, string(c.Name))
		} else {
			d[string(c.Name)] = c.Value
		}
	}
}

func (d disk) load(t *testing.T) *State {
	t.Helper()
	s := &State{}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if err := s.Load([]byte(name), d[name]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestState applies random commands: ids are given once, nothing falls, two replicas agree, and the records are the state (M1 to M4).
func TestState(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	var a, b State
	first := Store{ID: 1, Incarnation: 1, Oldest: 1, Newest: 3, Address: "x:1"}
	d := disk{}
	d.write(a.Begin(100, 5, 1, first))
	b.Begin(100, 5, 1, first)
	given := uint64(99)
	for i := range 3000 {
		var command []byte
		now := clock.Timestamp(i)
		switch rng.IntN(10) {
		case 0:
			command = IDs(1 + rng.Uint64N(10))
		case 1:
			command = Mark(clock.Timestamp(rng.Uint64N(10000)))
		case 2:
			command = Version(rng.Uint64N(5))
		case 3:
			command = PutStore(Store{ID: 1 + rng.Uint64N(4), Incarnation: rng.Uint64N(100), Oldest: 1, Newest: 2 + rng.Uint64N(3), Address: fmt.Sprint(i)})
		case 4:
			command = putSafepoint(Safepoint{Service: fmt.Sprint(rng.IntN(5)), TS: clock.Timestamp(rng.Uint64N(50)), Until: now + clock.Timestamp(rng.Uint64N(40))}, now)
		case 5:
			command = PutToken(Token{Secret: Hash{byte(rng.IntN(9))}, Until: now + clock.Timestamp(rng.Uint64N(60)), Uses: rng.Uint64N(4)}, now)
		case 6:
			command = Join(1, 3, fmt.Sprint(i), Hash{1, byte(rng.IntN(200))}, Hash{byte(rng.IntN(9))}, now)
		case 7:
			command = SetStage(1+rng.Uint64N(200), Stage(rng.IntN(5)))
		case 8:
			command = PutAuthority(Authority{Cluster: rng.Uint64N(3), Certificate: []byte{1}, Key: fmt.Append(nil, i)})
		case 9:
			command = putCopies(rng.Uint64N(10))
		}
		before, stores, authority := a, a.Stores(), a.Authority()
		changes, result, err := a.Apply(command)
		if err != nil {
			t.Fatal(err)
		}
		again, other, _ := b.Apply(command)
		if other != result || !reflect.DeepEqual(changes, again) {
			t.Fatalf("step %d: two replicas gave %d and %d", i, result, other)
		}
		d.write(changes)
		if command[1] == byte(kindIDs) {
			if result <= given {
				t.Fatalf("step %d: id %d after %d", i, result, given)
			}
			given = a.NextID() - 1
		}
		if a.Mark() < before.Mark() || a.Version() < before.Version() || a.NextID() < before.NextID() {
			t.Fatalf("step %d: something fell", i)
		}
		checkLives(t, &a, stores, authority)
		if i%100 == 0 {
			if l := d.load(t); l.Copies() != a.Copies() || !reflect.DeepEqual(l.tokens, a.tokens) || !reflect.DeepEqual(l.Authority(), a.Authority()) || l.NextID() != a.NextID() || l.Mark() != a.Mark() || l.Version() != a.Version() ||
				!reflect.DeepEqual(l.Stores(), a.Stores()) || !reflect.DeepEqual(l.Safepoints(), a.Safepoints()) {
				t.Fatalf("step %d: the records say %+v, the state is %+v", i, l, a)
			}
		}
	}
	for _, st := range a.Stores() {
		if st.Newest < a.Version() && st.Stage != Removed {
			t.Errorf("store %d knows versions up to %d of a cluster of version %d", st.ID, st.Newest, a.Version())
		}
	}
}

// TestSafepoints: a service holds what it reads at until its time is over.
func TestSafepoints(t *testing.T) {
	var s State
	s.Begin(1, 1, 1, Store{ID: 1, Newest: 1})
	put := func(name string, ts, until, now clock.Timestamp) {
		t.Helper()
		if _, done, err := s.Apply(putSafepoint(Safepoint{Service: name, TS: ts, Until: until}, now)); err != nil || done != 1 {
			t.Fatal(done, err)
		}
	}
	put("backup", 50, 200, 10)
	put("cdc", 70, 100, 10)
	for _, c := range []struct{ ts, now, want clock.Timestamp }{{80, 20, 50}, {40, 20, 40}, {80, 250, 80}} {
		if got := s.Oldest(c.ts, c.now); got != c.want {
			t.Errorf("at %d the oldest of %d is %d, want %d", c.now, c.ts, got, c.want)
		}
	}
	put("backup", 0, 0, 20)
	if got := s.Oldest(80, 20); got != 70 {
		t.Errorf("what was taken back counts: %d", got)
	}
	put("other", 90, 300, 150)
	if n := len(s.Safepoints()); n != 1 {
		t.Errorf("%d safepoints, one of which is over", n)
	}
}

// TestService: nobody serves once the gateway that began last has said so, until another says that it does. What one of an earlier term says late does not count, and
// the records tell the same as the state.
func TestService(t *testing.T) {
	var s State
	s.Begin(1, 1, 1, Store{ID: 1, Newest: 1})
	for i, step := range []struct {
		command []byte
		taken   uint64
		over    bool
	}{
		{Release(5), 1, true}, {Serve(7), 1, false}, {Release(5), 0, false}, {Serve(7), 1, false}, {Release(7), 1, true},
		{Serve(6), 0, true}, {Serve(7), 1, false}, {Release(7), 1, true}, {Serve(9), 1, false},
	} {
		changes, taken, err := s.Apply(step.command)
		if err != nil || taken != step.taken || s.Released() != step.over {
			t.Errorf("step %d: %d, %v, over: %t", i, taken, err, s.Released())
		}
		var loaded State
		for _, c := range changes {
			if err := loaded.Load(c.Name, c.Value); err != nil || loaded.Released() != s.Released() {
				t.Errorf("step %d: the record says %t, %v", i, loaded.Released(), err)
			}
		}
	}
}

// FuzzApply: malformed commands are refused and change nothing.
func FuzzApply(f *testing.F) {
	for _, c := range [][]byte{IDs(3), Mark(9), Version(2), PutStore(Store{ID: 2, Address: "a"}), putSafepoint(Safepoint{Service: "b", TS: 3}, 1),
		PutToken(Token{Secret: Hash{1}, Until: 9, Uses: 1}, 1), Join(1, 1, "a", Hash{2}, Hash{1}, 1), SetStage(1, Leaving), PutAuthority(Authority{Cluster: 1, Certificate: []byte{1}, Key: []byte{2}}),
		putCopies(3), Serve(3), Release(3), {}, {1}, {2, 1}, {1, 9}} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command []byte) {
		var s State
		s.Begin(1, 1, 1, Store{ID: 1, Newest: 1})
		changes, _, err := s.Apply(command)
		if err != nil && (!errors.Is(err, ErrCommand) || changes != nil || s.NextID() != 1) {
			t.Fatal(changes, err)
		}
		_ = s.Load(command, command) // it does not panic
	})
}
