package clock

import (
	"fmt"
	"math"
)

// LogicalBits is the width of the counter below the physical milliseconds: 262,144 timestamps per millisecond before an
// issuer has to advance physical time on its own.
const LogicalBits = 18

// LogicalMax is the highest logical counter value.
const LogicalMax = 1<<LogicalBits - 1

// MaxTimestamp is above every timestamp ever issued; reading at it sees the newest version of everything.
const MaxTimestamp = Timestamp(math.MaxUint64 >> 1)

// Timestamp orders commits and snapshots: physical milliseconds << LogicalBits | logical. Zero means "none".
type Timestamp uint64

// Make builds a timestamp from wall milliseconds and a logical counter. Times before 1970 count as 1970, and a counter above
// LogicalMax carries into the physical part, which keeps the order.
func Make(ms int64, logical uint32) Timestamp {
	if ms < 0 {
		ms = 0
	}
	t := Timestamp(ms)<<LogicalBits + Timestamp(logical)
	return min(t, MaxTimestamp)
}

// PhysicalMillis returns the physical part in milliseconds since the Unix epoch.
func (t Timestamp) PhysicalMillis() int64 { return int64(t >> LogicalBits) }

// Logical returns the counter within the millisecond.
func (t Timestamp) Logical() uint32 { return uint32(t & LogicalMax) }

// Next returns the smallest timestamp above t.
func (t Timestamp) Next() Timestamp { return t + 1 }

// Prev returns the largest timestamp below t; there is none below zero.
func (t Timestamp) Prev() Timestamp {
	if t == 0 {
		return 0
	}
	return t - 1
}

// String prints milliseconds and counter, for logs and scripts.
func (t Timestamp) String() string { return fmt.Sprintf("%d.%d", t.PhysicalMillis(), t.Logical()) }
