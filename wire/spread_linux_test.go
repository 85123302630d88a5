package wire

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPush: a push takes the thread to the other processor and leaves it free to go anywhere; it is refused when the processors of
// the process have changed.
func TestPush(t *testing.T) {
	pair, ok := allowedPair()
	if !ok {
		t.Skip("not two processors")
	}
	s := &spread{sys: pair}
	if n := testing.AllocsPerRun(1000, s.sample); n != 0 || s.samples.Load() == 0 {
		t.Errorf("%v allocations per sample, %d samples", n, s.samples.Load())
	}
	runtime.LockOSThread() // and not unlocked where it stays confined: the thread then ends with the test
	arrived := 0
	for range 100 {
		from, _, ok := pair.where()
		if !ok {
			t.Fatal("on neither of the processors")
		}
		if !pair.push(1 - from) {
			t.Fatal("refused")
		}
		if at, _, _ := pair.where(); at != from {
			arrived++
		}
		if now, ok := allowedPair(); !ok || now != pair {
			t.Fatalf("the thread may run on %v after the push", now)
		}
	}
	if arrived == 0 {
		t.Error("the thread never came where it was pushed")
	}
	var one unix.CPUSet
	one.Set(pair[0])
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	if pair.push(1) {
		t.Error("a push beyond what the process may use")
	}
	if newSpreadSystem() != nil {
		t.Error("one processor is spread over")
	}
}
