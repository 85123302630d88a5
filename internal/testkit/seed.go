package testkit

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/pandodb/pando/clock"
)

// Seed returns the seed of a random test. Unset, PANDO_SEED means the seed that belongs to the test's name: the same commit meets the same random
// input, so that a change is judged by itself and not by what a new draw happens to find. PANDO_SEED=random draws a new one, which is how
// faults are hunted; a number is replayed. The seed is logged, and a failing test prints it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	var seed uint64
	switch text := os.Getenv("PANDO_SEED"); text {
	case "":
		name := fnv.New64a()
		_, _ = name.Write([]byte(t.Name())) // a hash takes everything
		seed = name.Sum64()
	case "random":
		seed = uint64(clock.Now().UnixNano())
	default:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("PANDO_SEED=%q is neither a number nor random", text)
		}
		seed = n
	}
	t.Logf("seed %d; replay with PANDO_SEED=%d go test -run '^%s$'", seed, seed, t.Name())
	return seed
}

// Rand returns a generator for the seed and a stream number, so that concurrent workers of one test draw independently.
func Rand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Promoted tells whether nodes of tests are to be clusters of one instead of alone: PANDO_PROMOTED=1.
func Promoted() bool { return os.Getenv("PANDO_PROMOTED") == "1" }

// SlowTests tells whether tests may take minutes: PANDO_SLOW=1.
func SlowTests() bool { return os.Getenv("PANDO_SLOW") == "1" }

// Slow skips the test unless PANDO_SLOW=1.
func Slow(t testing.TB) {
	t.Helper()
	if !SlowTests() {
		t.Skip("slow: set PANDO_SLOW=1 to run it")
	}
}

// Repeat is how many rounds a random test does: n, or twenty times as many if tests may take minutes.
func Repeat(n int) int {
	if SlowTests() {
		return 20 * n
	}
	return n
}

// BriefRace tells that this is the race detector in its short form, as make test runs it. What it looks for is what goroutines do to each other: the same
// tests run in full without it, and with it in make race.
func BriefRace() bool { return RaceEnabled && testing.Short() && !SlowTests() }

// Rounds is how many of n rounds a random test does: few under the race detector in its short form. A race shows in any of them, and what else random
// rounds find is for the run without the detector, which does all.
func Rounds(n, few int) int {
	if BriefRace() {
		return few
	}
	return n
}

// OneGoroutine skips a test of what one goroutine computes or reads, under the race detector in its short form: it would take ten times as long there,
// and has no race to show.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if BriefRace() {
		t.Skip("one goroutine has no race to show; make race runs it under the detector, too")
	}
}
