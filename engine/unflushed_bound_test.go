package engine

import (
	"encoding/binary"
	"testing"

	"github.com/pandodb/pando/keys"
)

// The filters are bounded whatever is written, and hold what is beyond the bound.
func TestUnflushedBound(t *testing.T) {
	var u unflushed
	u.init(memTableBytesMin)
	key := func(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
	n := u.words * keyFilterFill * (keyFiltersMax + 2)
	for i := range n {
		u.enter([]uint64{u.hash(key(i))}, nil).leave(uint64(i))
	}
	if got := len(*u.filters.Load()); got != keyFiltersMax {
		t.Errorf("%d filters, not %d", got, keyFiltersMax)
	}
	for i := range n {
		if !mayHold(*u.filters.Load(), u.hash(key(i)), key(i)) {
			t.Fatalf("key %d of %d is not held", i, n)
		}
	}
}

// Ranges beyond those that a filter knows one by one make it hold everything.
func TestUnflushedRanges(t *testing.T) {
	var u unflushed
	u.init(memTableBytesMin)
	held := func(key string) bool { return mayHold(*u.filters.Load(), u.hash([]byte(key)), []byte(key)) }
	bare := func(key string) []byte { return keys.VersionPrefix(nil, []byte(key)) }
	u.enter(nil, []keyRange{{bare("b"), bare("c")}, {bare("x"), keys.SpaceEnd(nil, keys.SpaceVersion)}}).leave(1)
	for key, want := range map[string]bool{"a": false, "b": true, "bb": true, "cc": false, "w": false, "x": true, "zzz": true} {
		if held(key) != want {
			t.Errorf("%s: %v", key, !want)
		}
	}
	for range keyRangesMax {
		u.enter(nil, []keyRange{{bare("b"), bare("c")}}).leave(1)
	}
	if !held("a") {
		t.Error("ranges that are not known are not held")
	}
}
