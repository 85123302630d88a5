package replica

import "time"

// The lease of region 0's leader, by which one node executes SQL (docs/design/0021 D2). Each time is of the clock of one machine that also
// counts while it is suspended.
const (
	// LeaseLength is how long a leader goes on after it asked a question that a majority has answered.
	LeaseLength = 3 * time.Second
	// LeaseMargin is how much unevenly the clocks of two machines may run in that time: a tenth.
	LeaseMargin = LeaseLength / 10
)

// LeaseEnd returns until when a leader may serve that asked at a time whether it still leads, and was confirmed.
func LeaseEnd(asked time.Duration) time.Duration { return asked + LeaseLength }

// LeaseOver returns when no earlier leader serves any more, for one that found itself elected at a time: one of the majority that elected it had
// answered the last question of the earlier one before that.
func LeaseOver(elected time.Duration) time.Duration { return elected + LeaseLength + LeaseMargin }
