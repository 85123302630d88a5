//go:build !linux

package wire

import "time"

// duplicate leaves sockets in the poller: what detach gains was measured on Linux only.
func duplicate(uintptr) (uintptr, bool) { return 0, false }

type readable struct{}

func (*readable) readable(uintptr, time.Duration) bool { return false }
