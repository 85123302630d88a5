package replica

import "cmp"

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
	l.TruncateEntries = cmp.Or(l.TruncateEntries, d.TruncateEntries)
	l.TruncateBytes = cmp.Or(l.TruncateBytes, d.TruncateBytes)
	l.KeepEntries = cmp.Or(l.KeepEntries, d.KeepEntries)
	l.KeepBytes = cmp.Or(l.KeepBytes, d.KeepBytes)
	l.HeldBytes = cmp.Or(l.HeldBytes, d.HeldBytes)
	l.GroupProposals = cmp.Or(l.GroupProposals, d.GroupProposals)
	l.GroupBytes = cmp.Or(l.GroupBytes, d.GroupBytes)
	l.MessageBytes = cmp.Or(l.MessageBytes, d.MessageBytes)
	l.Messages = cmp.Or(l.Messages, d.Messages)
	l.MessagesBytes = cmp.Or(l.MessagesBytes, d.MessagesBytes)
	l.UncommittedBytes = cmp.Or(l.UncommittedBytes, d.UncommittedBytes)
	l.CacheBytes = cmp.Or(l.CacheBytes, d.CacheBytes)
	l.ApplyBytes = cmp.Or(l.ApplyBytes, d.ApplyBytes)
	l.HeardBytes = cmp.Or(l.HeardBytes, d.HeardBytes)
	l.FrameBytes = cmp.Or(l.FrameBytes, d.FrameBytes)
	l.TableBytes = cmp.Or(l.TableBytes, d.TableBytes)
}
