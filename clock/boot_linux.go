package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boot returns the time since the machine was started, also while it was suspended. It is what leases are held by.
func Boot() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return Mono() // a kernel of before 2.6.39
	}
	return time.Duration(t.Nano())
}
