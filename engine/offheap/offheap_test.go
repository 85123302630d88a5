package offheap_test

import (
	"testing"
	"unsafe"

	"github.com/pandodb/pando/engine/offheap"
	"github.com/pandodb/pando/internal/testkit"
)

// TestClasses checks that each size has the smallest class that fits it, with at most an eighth left over.
func TestClasses(t *testing.T) {
	for n := 1; n <= offheap.SlotMax; n++ {
		k := offheap.ClassOf(n)
		if k >= offheap.Classes || offheap.SlotBytes(k) < n || k > 0 && offheap.SlotBytes(k-1) >= n {
			t.Fatalf("%d bytes: class %d of %d bytes", n, k, offheap.SlotBytes(k))
		}
		if slot := offheap.SlotBytes(k); n > offheap.SlotMin && 8*(slot-n) >= slot {
			t.Fatalf("%d bytes: %d are left over", n, slot-n)
		}
	}
	if offheap.ClassOf(offheap.SlotMax) != offheap.Classes-1 {
		t.Errorf("the last class is %d of %d", offheap.ClassOf(offheap.SlotMax), offheap.Classes)
	}
}

// block is memory that a test holds, each byte of it mark.
type block struct {
	p    unsafe.Pointer
	n    int
	mark byte
}

func (b block) bytes() []byte { return unsafe.Slice((*byte)(b.p), b.n) }

func newBlock(t *testing.T, n int, mark byte) block {
	b := block{offheap.New(n), n, mark}
	for i, v := range b.bytes() {
		if v != 0 {
			t.Fatalf("byte %d of %d is %d before it was written", i, n, v)
		}
		b.bytes()[i] = mark
	}
	return b
}

// free checks that nobody else has written to the block.
func (b block) free(t *testing.T) {
	for i, v := range b.bytes() {
		if v != b.mark {
			t.Fatalf("byte %d of %d is %d, not %d", i, b.n, v, b.mark)
		}
	}
	offheap.Free(b.p, b.n)
}

func outside(t *testing.T) {
	t.Helper()
	if !offheap.Outside() {
		t.Skip("the system has no memory outside of Go's heap")
	}
}

// TestBlocksAreApart takes and frees blocks at random in several goroutines: they are zero at first, nobody else writes to them, and
// what is held is what is in use.
func TestBlocksAreApart(t *testing.T) {
	outside(t)
	seed := testkit.Seed(t)
	before := offheap.Bytes()
	const workers, steps, heldMax = 4, 3000, 100
	done := make(chan bool)
	for w := range workers {
		go func() {
			defer func() { done <- true }()
			rng := testkit.Rand(seed, uint64(w))
			var blocks []block
			for range steps {
				if len(blocks) == heldMax || len(blocks) > 0 && rng.IntN(2) == 0 {
					i := rng.IntN(len(blocks))
					blocks[i].free(t)
					blocks[i] = blocks[len(blocks)-1]
					blocks = blocks[:len(blocks)-1]
					continue
				}
				n := 1 + rng.IntN(40<<10)
				if rng.IntN(50) == 0 {
					n = offheap.SlotMax - 100<<10 + rng.IntN(3<<20)
				}
				blocks = append(blocks, newBlock(t, n, byte(1+rng.IntN(255))))
			}
			for _, b := range blocks {
				b.free(t)
			}
		}()
	}
	for range workers {
		<-done
	}
	if offheap.Bytes() != before {
		t.Errorf("%d bytes are held by nobody", offheap.Bytes()-before)
	}
}

// TestMemoryGoesRound fills many chunks with blocks of one size, frees them, and does so with others: no chunk more is made, and all
// but the few that may stay idle have given their memory back.
func TestMemoryGoesRound(t *testing.T) {
	outside(t)
	const bytes = 64 << 20
	made := func(n int) int {
		var blocks []block
		for range bytes / n {
			blocks = append(blocks, newBlock(t, n, 7))
		}
		for _, b := range blocks {
			b.free(t)
		}
		made, idle, bare := offheap.Chunks()
		if idle > offheap.IdleMax || bare == 0 {
			t.Errorf("%d chunks are idle, %d have given their memory back", idle, bare)
		}
		return made
	}
	first := made(16 << 10)
	// A class keeps one chunk, and the sizes of the second leave something over in each.
	if second := made(15 << 10); second > first+3 {
		t.Errorf("%d chunks after the first round, %d after the second", first, second)
	}
}

// TestAllocations: nothing of it is on Go's heap.
func TestAllocations(t *testing.T) {
	outside(t)
	for _, n := range []int{100, 16 << 10, 8 << 20} {
		if got := testing.AllocsPerRun(10, func() { offheap.Free(offheap.New(n), n) }); got != 0 {
			t.Errorf("%d bytes: %v allocations", n, got)
		}
	}
}

// TestWithoutArena checks an arena of which the system has refused the range of addresses.
func TestWithoutArena(t *testing.T) {
	if p := offheap.NoArena().Take(100); p != nil {
		t.Error("memory out of nothing")
	}
}

// TestArenaFull checks that what does not fit the arena is told, and that a block of Go's heap can be given back.
func TestArenaFull(t *testing.T) {
	outside(t)
	a := offheap.FullArena()
	if p := a.Take(100); p != nil {
		t.Error("more than the arena has")
	}
	heap := make([]byte, 100)
	a.Give(unsafe.Pointer(unsafe.SliceData(heap)))
}

func BenchmarkNew(b *testing.B) {
	const n = 16 << 10
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			offheap.Free(offheap.New(n), n)
		}
	})
}

// TestChanges: who waits for Changes is woken when large blocks come and when they go, once for many of them, and not by small ones.
func TestChanges(t *testing.T) {
	outside(t)
	woken := func() bool {
		select {
		case <-offheap.Changes():
			return true
		default:
			return false
		}
	}
	hold := func(n int) (free func()) {
		p := offheap.New(n)
		return func() { offheap.Free(p, n) }
	}
	hold(64 << 20)() // whatever was told before, the next change is counted from here
	woken()
	if free := hold(offheap.ChangeBytes - 1<<20); woken() {
		t.Error("woken by less than what counts")
	} else if free(); woken() {
		t.Error("woken by the end of less than what counts")
	}
	var frees []func()
	for range 4 {
		frees = append(frees, hold(offheap.ChangeBytes))
	}
	if !woken() || woken() {
		t.Error("four large blocks do not wake once")
	}
	for _, free := range frees {
		free()
	}
	if !woken() || woken() {
		t.Error("the end of four large blocks does not wake once")
	}
	for range 16 { // the sum of several counts, too
		frees = append(frees, hold(2<<20))
	}
	if !woken() {
		t.Error("not woken by many blocks that are large together")
	}
	for _, free := range frees[4:] {
		free()
	}
}
