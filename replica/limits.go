package replica

// Limits bound what groups do at once and what they keep. They decide about speed and memory, never about an answer: tests draw small ones from a seed
// (testkit.Small), so that what takes a lot of load to happen happens all the time. Zero fields take defaults. The tags are the least that makes sense.
type Limits struct {
	// Logs with TruncateEntries or TruncateBytes are truncated. KeepEntries, and about KeepBytes, are kept for peers that are behind; those further behind
	// get a snapshot.
	TruncateEntries uint64 `least:"3"`
	TruncateBytes   int64  `least:"64"`
	KeepEntries     uint64 `least:"3"`
	KeepBytes       int64  `least:"64"`
	// HeldBytes: a log of this size that cannot be truncated, because its changes are not in tables yet, makes the engine flush.
	HeldBytes int64 `least:"1024"`
	// GroupProposals and GroupBytes bound a group of proposals, which is one entry.
	GroupProposals int `least:"1"`
	GroupBytes     int `least:"1"`
	// Raft's: bytes of entries in a message; messages, and their bytes, that wait for an answer; bytes of entries that wait for a majority. With one message of one
	// entry on its way a peer that is a little slower than another never catches up.
	MessageBytes     uint64 `least:"1"`
	Messages         int    `least:"16"`
	MessagesBytes    uint64 `least:"4096"`
	UncommittedBytes uint64 `least:"64"`
	// CacheBytes bounds the bytes of applied entries that a group keeps in memory, for followers that are a little behind. Entries that are not applied yet are
	// all kept; since one entry is in flight at a time they are few.
	CacheBytes int `least:"1"`
	// ApplyBytes bounds a batch of applications.
	ApplyBytes int `least:"1"`
	// HeardBytes bounds the bytes of messages that a group takes while it syncs; further ones are dropped.
	HeardBytes int `least:"512"`
	// FrameBytes is the approximate size of a snapshot's frame, TableBytes that of the tables that a receiver makes of it.
	FrameBytes int   `least:"1"`
	TableBytes int64 `least:"1024"`
}

// defaultLimits are the product's.
var defaultLimits = Limits{
	TruncateEntries: 1024, TruncateBytes: 4 << 20, KeepEntries: 64 << 10, KeepBytes: 64 << 20, HeldBytes: 256 << 20,
	GroupProposals: 256, GroupBytes: 4 << 20,
	MessageBytes: 1 << 20, Messages: 256, MessagesBytes: 16 << 20, UncommittedBytes: 64 << 20,
	CacheBytes: 256 << 10, ApplyBytes: 4 << 20, HeardBytes: 32 << 20, FrameBytes: 256 << 10, TableBytes: 64 << 20,
}

// EnsureDefaults fills in what is zero.
func (l *Limits) EnsureDefaults() {
	d := &defaultLimits
	ensure(&l.TruncateEntries, d.TruncateEntries)
	ensure(&l.TruncateBytes, d.TruncateBytes)
	ensure(&l.KeepEntries, d.KeepEntries)
	ensure(&l.KeepBytes, d.KeepBytes)
	ensure(&l.HeldBytes, d.HeldBytes)
	ensure(&l.GroupProposals, d.GroupProposals)
	ensure(&l.GroupBytes, d.GroupBytes)
	ensure(&l.MessageBytes, d.MessageBytes)
	ensure(&l.Messages, d.Messages)
	ensure(&l.MessagesBytes, d.MessagesBytes)
	ensure(&l.UncommittedBytes, d.UncommittedBytes)
	ensure(&l.CacheBytes, d.CacheBytes)
	ensure(&l.ApplyBytes, d.ApplyBytes)
	ensure(&l.HeardBytes, d.HeardBytes)
	ensure(&l.FrameBytes, d.FrameBytes)
	ensure(&l.TableBytes, d.TableBytes)
}

func ensure[T int | int64 | uint64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
