package password

import (
	"fmt"
	"testing"
	"time"
)

// TestGuesses: failures of one source are answered later and later, others' are not, and a right password forgives them.
func TestGuesses(t *testing.T) {
	var g Guesses
	now := time.Hour
	guess := func(s Source) time.Duration {
		held, refused := g.Enter(s, now)
		if refused {
			t.Fatalf("%v has no place", s)
		}
		delay, held := g.Failed(s, now, held)
		if held {
			g.Leave(s)
		}
		return delay
	}
	attacker, app := SourceOf("root", "192.0.2.1"), SourceOf("root", "192.0.2.2")
	var got []time.Duration
	for range 10 {
		got = append(got, guess(attacker))
	}
	const ms = time.Millisecond
	if want := fmt.Sprint([]time.Duration{0, 0, 0, 250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 4000 * ms, 4000 * ms}); fmt.Sprint(got) != want {
		t.Errorf("delays %v, want %s", got, want)
	}
	if d := guess(app); d != 0 {
		t.Errorf("the same account from elsewhere waits %v", d)
	}
	if d := guess(SourceOf("other", "192.0.2.1")); d != 0 {
		t.Errorf("another account from the same address waits %v", d)
	}
	now += forgetAfter + 1
	if d := guess(attacker); d != 0 {
		t.Errorf("after a long while it still waits %v", d)
	}
	for range 5 {
		guess(attacker)
	}
	g.Succeeded(attacker)
	if d := guess(attacker); d != 0 {
		t.Errorf("after a success it waits %v", d)
	}
}

// TestGuessPlaces: a source in delay has few logins under way at once, all sources together have not many, and both get them back.
func TestGuessPlaces(t *testing.T) {
	var g Guesses
	fail := func(s Source) {
		for range FreeGuesses {
			g.Failed(s, 0, false)
		}
	}
	taken := 0
	for i := 0; taken < waitAllMax; i++ {
		s := Source{"u", fmt.Sprint(i)}
		fail(s)
		for range waitMax {
			if held, refused := g.Enter(s, 0); !held || refused {
				t.Fatalf("source %d: no place among %d", i, taken)
			}
			taken++
		}
		if held, refused := g.Enter(s, 0); held || !refused {
			t.Fatalf("source %d has more than its places", i)
		}
	}
	late := Source{"late", ""}
	fail(late)
	if _, refused := g.Enter(late, 0); !refused {
		t.Error("there are more places than allowed")
	}
	if held, refused := g.Enter(Source{"fresh", ""}, 0); held || refused {
		t.Error("who has not failed is kept out")
	}
	g.Leave(Source{"u", "0"})
	if held, _ := g.Enter(late, 0); !held {
		t.Error("a place was not given back")
	}
}

// TestGuessMemory: sources are forgotten, the oldest first, but for those that hold a place.
func TestGuessMemory(t *testing.T) {
	var g Guesses
	waits := Source{"waits", ""}
	for range FreeGuesses {
		g.Failed(waits, 0, false)
	}
	g.Enter(waits, 0)
	for i := range 2 * sourcesMax {
		g.Failed(Source{"u", fmt.Sprint(i)}, 0, false)
	}
	if n := len(g.sources); n != sourcesMax || n != g.recent.Len() {
		t.Errorf("%d sources are remembered, %d in order", n, g.recent.Len())
	}
	if g.sources[Source{"u", fmt.Sprint(2*sourcesMax - 1)}] == nil || g.sources[waits] == nil {
		t.Error("the newest or the waiting one is forgotten")
	}
	g.Leave(waits)
}

func TestGuessSource(t *testing.T) {
	if SourceOf("u", "2001:db8::1") != SourceOf("u", "2001:db8::ffff:1") || SourceOf("u", "2001:db8:0:1::1") == SourceOf("u", "2001:db8::1") {
		t.Error("IPv6 addresses are told apart by their first 64 bits")
	}
	if SourceOf("u", "10.0.0.1") == SourceOf("u", "10.0.0.2") || SourceOf("u", "") != (Source{"u", ""}) {
		t.Error("other sources")
	}
}
