package kvapi

import "time"

// LockHolder is who has a lock.
type LockHolder struct {
	// ID names the lock, for as long as it is held or waited for.
	ID             string
	Owner, Session uint64 // the transaction's number, and that of the session whose it is
}

// LockView describes a lock that a transaction holds or waits for.
type LockView struct {
	LockHolder
	// Key is what is locked; of a range it is the start, and End the end.
	Key, End []byte
	Mode     LockMode
	Range    bool
	Kind     RangeKind // of a range
	// Creates says that who waits for a range is about to make the key.
	Creates bool
	Waiting bool
	// Since is when the wait began, on the monotonic clock, and Blockers are the locks that it waits for.
	Since    time.Duration
	Blockers []LockHolder
}
