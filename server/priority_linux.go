package server

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lowerPriority gives the calling goroutine a thread of its own with a nice value, which on Linux each thread has for itself.
// The goroutine never gives the thread back: the runtime ends it when the goroutine ends, and starts new ones from another. It
// can't end the main thread, whose value is also what tools show for the process; work that comes to run there keeps its
// priority.
func lowerPriority(nice int) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		runtime.UnlockOSThread()
		return
	}
	// It fails where a service manager has started the process with a higher value, which then stands, or where a sandbox forbids the
	// call: the work then has its processor only.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice)
}
