package replica

import "time"

// Lease is the length of the lease of region 0's leader, which allows one node to execute SQL: how long a leader may serve after it has asked whether it still
// leads, if a majority has confirmed that (docs/design/0021 D2). All stores of a cluster have the same. All times are of the machine's own clock that also counts
// while it is suspended (clock.Boot).
type Lease time.Duration

const (
	// LeaseLength is the product's. Tests draw shorter ones, which end more often.
	LeaseLength = Lease(3 * time.Second)
	// leaseMarginShare: the clocks of two machines may diverge by a tenth in that time.
	leaseMarginShare = 10
)

// End returns until when a leader may serve that has asked at a time whether it still leads, and was confirmed.
func (l Lease) End(asked time.Duration) time.Duration { return asked + time.Duration(l) }

// Over returns when the lease of any earlier leader has ended, for a leader that was elected at a time: one of the majority that elected it
// had answered the earlier leader's last confirmed question before that.
func (l Lease) Over(elected time.Duration) time.Duration {
	return elected + time.Duration(l+l/leaseMarginShare)
}
