package store

import "testing"

// TestSplitOfDeposed: a leader that was deposed with an entry in flight may apply a split of its successor before it drops its marks.
func TestSplitOfDeposed(t *testing.T) {
	p := newPending()
	for _, key := range []string{"a", "x"} {
		if !p.mark([]byte(key)) {
			t.Fatalf("key %s has a mark", key)
		}
	}
	right := p.cutAt([]byte("m"))
	for _, key := range []string{"a", "x"} {
		p.unmark([]byte(key))
	}
	for name, half := range map[string]*pending{"left": p, "right": right} {
		marks, locks := half.counts()
		if marks != 0 || locks != 0 || half.all.Load() != 0 {
			t.Errorf("%s: %d marks, %d locks, %d counted", name, marks, locks, half.all.Load())
		}
	}
}
