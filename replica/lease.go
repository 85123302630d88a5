package replica

import "time"

// The lease of region 0's leader, which allows one node to execute SQL (docs/design/0021 D2). All times are of the machine's own clock that also
// counts while it is suspended (clock.Boot).
const (
	// LeaseLength is how long a leader may serve after it has asked whether it still leads, if a majority has confirmed that.
	LeaseLength = 3 * time.Second
	// LeaseMargin is how much the clocks of two machines may diverge in that time: a tenth.
	LeaseMargin = LeaseLength / 10
)

// LeaseEnd returns until when a leader may serve that has asked at a time whether it still leads, and was confirmed.
func LeaseEnd(asked time.Duration) time.Duration { return asked + LeaseLength }

// LeaseOver returns when the lease of any earlier leader has ended, for a leader that was elected at a time: one of the majority that elected it
// had answered the earlier leader's last confirmed question before that.
func LeaseOver(elected time.Duration) time.Duration { return elected + LeaseLength + LeaseMargin }
