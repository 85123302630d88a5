package offheap_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/engine/offheap"
)

// TestRefused: a large block that the system refuses is Go's, counts as nothing outside, and can be given back like any other.
func TestRefused(t *testing.T) {
	outside(t)
	before := offheap.Bytes()
	// Go's heap must have the block without asking the system either, which would end the process: 4 MiB are freed, and stay mapped.
	room := make([]byte, 4<<20)
	room[0] = 1
	runtime.KeepAlive(room)
	room = nil
	runtime.GC()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = pages*uint64(os.Getpagesize()) + 256<<10 // for the runtime, and less than the block takes
	restore := func() {
		if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(restore)
	b := newBlock(t, offheap.SlotMax+1, 7)
	held := offheap.Bytes()
	restore()
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
