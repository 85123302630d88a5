package testkit

import "testing"

// TestSeed defends that a run without PANDO_SEED is the same twice: a golden number, because a seed that differed between two
// builds, or between two processes, would pass a comparison within one.
func TestSeed(t *testing.T) {
	t.Setenv("PANDO_SEED", "")
	const own = 18006813204712061996
	if got := Seed(t); got != own {
		t.Errorf("the seed of this test is %d, want %d", got, uint64(own))
	}
	t.Run("sub", func(t *testing.T) {
		if Seed(t) == own {
			t.Error("two tests share a seed")
		}
	})
	t.Setenv("PANDO_SEED", "123")
	if got := Seed(t); got != 123 {
		t.Errorf("PANDO_SEED=123 gives %d", got)
	}
	t.Setenv("PANDO_SEED", "random")
	first := Seed(t)
	for range 1000 {
		if Seed(t) != first {
			return
		}
	}
	t.Errorf("PANDO_SEED=random always gives %d", first)
}
