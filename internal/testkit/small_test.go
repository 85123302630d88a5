package testkit

import (
	"testing"
	"time"
)

// TestSmall: what is drawn lies between its bounds, is the least now and then and the default now and then, and the same seed draws the same.
func TestSmall(t *testing.T) {
	type limits struct {
		Entries int `least:"3"`
		Inner   struct {
			Bytes uint64 `least:"64" most:"100"`
		}
		Window time.Duration `least:"10ms" most:"3s"`
		Other  int
	}
	seed := Seed(t)
	drawn := func(n uint64) (l limits) {
		Small(Rand(seed, n), &l)
		return l
	}
	entries, bytes := map[int]int{}, map[uint64]int{}
	for n := range uint64(300) {
		l := drawn(n)
		if l != drawn(n) {
			t.Fatalf("the same seed draws %+v and %+v", l, drawn(n))
		}
		entries[l.Entries]++
		bytes[l.Inner.Bytes]++
		if l.Entries != 0 && (l.Entries < 3 || l.Entries > 3*smallFactor) || l.Inner.Bytes != 0 && (l.Inner.Bytes < 64 || l.Inner.Bytes > 100) ||
			l.Window != 0 && (l.Window < 10*time.Millisecond || l.Window > 3*time.Second) || l.Other != 0 {
			t.Errorf("%+v", l)
		}
	}
	if entries[0] < 50 || entries[3] < 50 || len(entries) < 20 || bytes[0] < 50 || bytes[64] < 50 || bytes[100] == 0 {
		t.Errorf("entries %v, bytes %v", entries, bytes)
	}
}
