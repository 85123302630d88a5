//go:build !linux

package clock

import "time"

// Boot returns the time since the process was started. Where there is no clock that counts while the machine is suspended, a machine that
// may be suspended must not be a node of a cluster.
func Boot() time.Duration { return Mono() }
