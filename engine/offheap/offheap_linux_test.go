package offheap_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/engine/offheap"
)

// TestRefused: a large block that the system refuses is Go's, counts as nothing outside, and can be given back like any other.
func TestRefused(t *testing.T) {
	outside(t)
	before := offheap.Bytes()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 1 // byte of addresses; Go's heap has reserved some before
	if err := unix.Setrlimit(unix.RLIMIT_AS, &none); err != nil {
		t.Fatal(err)
	}
	b := newBlock(t, offheap.SlotMax+1, 7)
	held := offheap.Bytes()
	if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	if held != before {
		t.Errorf("%d bytes are outside, %d before the block was refused", held, before)
	}
	large := newBlock(t, offheap.SlotMax+1, 8)
	if offheap.Bytes() <= before {
		t.Error("the next block is not outside")
	}
	b.free(t)
	large.free(t)
	if got := offheap.Bytes(); got != before {
		t.Errorf("%d bytes are outside at the end, %d before", got, before)
	}
}
