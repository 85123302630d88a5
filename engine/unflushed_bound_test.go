package engine

import (
	"encoding/binary"
	"testing"
)

// The filters are bounded whatever is written, and hold what is beyond the bound.
func TestUnflushedBound(t *testing.T) {
	var u unflushed
	u.init(memTableBytesMin)
	key := func(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
	n := u.words * keyFilterFill * (keyFiltersMax + 2)
	for i := range n {
		u.enter([]uint64{u.hash(key(i))}, false).leave(uint64(i))
	}
	if got := len(*u.filters.Load()); got != keyFiltersMax {
		t.Errorf("%d filters, not %d", got, keyFiltersMax)
	}
	for i := range n {
		if !u.mayHold(key(i)) {
			t.Fatalf("key %d of %d is not held", i, n)
		}
	}
}
