package store

import (
	"testing"
	"time"
)

// TestPaceDelay: nobody waits below a half of what stops writes, and from there on longer the nearer it is and the more a commit
// writes.
func TestPaceDelay(t *testing.T) {
	for _, tc := range []struct {
		pressure float64
		bytes    int
		want     time.Duration
	}{
		{0, 1 << 30, 0},
		{paceFrom, 1 << 30, 0},
		{0.75, 0, paceMax / 4},
		{0.75, paceBytes, paceMax / 4},
		{0.75, 8 * paceBytes, 2 * paceMax},
		{1, 1, paceMax},
		{1, 8 * paceBytes, 8 * paceMax},
		{1, 1 << 30, paceLongest},
	} {
		if got := paceDelay(tc.pressure, tc.bytes); got != tc.want {
			t.Errorf("a commit of %d bytes under %v waits %v, want %v", tc.bytes, tc.pressure, got, tc.want)
		}
	}
}
