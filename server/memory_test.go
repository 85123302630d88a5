package server

import "testing"

// TestGCPercent: an idle server may keep the headroom, a full cache grows by a fifth, and nothing in between lets the heap treble.
func TestGCPercent(t *testing.T) {
	for _, c := range []struct {
		live    uint64
		percent int
	}{{0, 200}, {10 << 20, 200}, {128 << 20, 200}, {256 << 20, 100}, {512 << 20, 50}, {2 << 30, 20}, {1 << 40, 20}} {
		if got := gcPercent(c.live); got != c.percent {
			t.Errorf("%d bytes live: %d percent, want %d", c.live, got, c.percent)
		}
	}
}
