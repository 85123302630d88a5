package wire

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuPair is the two processors that this process may run on, by their numbers.
type cpuPair [2]int

// newSpreadSystem returns nil unless this process may run on two processors, and uses both.
func newSpreadSystem() spreadSystem {
	if pair, ok := allowedPair(); ok && runtime.GOMAXPROCS(0) >= len(pair) {
		return pair
	}
	return nil
}

// allowedPair returns the processors that the calling thread may run on if they are two.
func allowedPair() (pair cpuPair, ok bool) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil || set.Count() != len(pair) {
		return pair, false
	}
	n := 0
	for cpu := 0; n < len(pair); cpu++ {
		if set.IsSet(cpu) {
			pair[n] = cpu
			n++
		}
	}
	return pair, true
}

// where implements spreadSystem. Its two calls neither wait nor look at anything but the thread.
func (p cpuPair) where() (cpu int, thread int64, ok bool) {
	var number uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&number)), 0, 0); errno != 0 {
		return 0, 0, false
	}
	tid, _, _ := unix.RawSyscall(unix.SYS_GETTID, 0, 0, 0) // never fails
	switch int(number) {
	case p[0]:
		return 0, int64(tid), true
	case p[1]:
		return 1, int64(tid), true
	}
	return 0, 0, false
}

// push implements spreadSystem: the thread may run on one processor only, which takes it there, and then on both again.
func (p cpuPair) push(cpu int) bool {
	runtime.LockOSThread() // so that both calls are about one thread
	defer runtime.UnlockOSThread()
	if now, ok := allowedPair(); !ok || now != p {
		return false // what the process may use has changed
	}
	var one, both unix.CPUSet
	one.Set(p[cpu])
	both.Set(p[0])
	both.Set(p[1])
	return unix.SchedSetaffinity(0, &one) == nil && unix.SchedSetaffinity(0, &both) == nil
}
