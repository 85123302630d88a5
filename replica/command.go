package replica

import (
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// Kind names a command.
type Kind byte

// The kinds. They are in logs: never reuse one.
const (
	KindWrite Kind = 1 + iota
	KindPrewrite
	KindCommit
	KindRollback
	KindAlloc
	KindDropCounters
	KindDropSpan
	KindGCPoint
	KindSplit
	KindMeta
	KindRenew
)

// Proposed is the content of a Proposal: a Command, which becomes a part of an entry, or Members, which becomes raft's own kind of entry.
type Proposed interface{ proposed() }

// Command is one change of a region's state, as data. The leader that proposed it has evaluated it against its state: applying it decides
// nothing.
type Command interface {
	Proposed
	// Kind is the byte in front of the fields.
	Kind() Kind
	appendTo(b []byte) []byte
	readFrom(d *codec.Decoder)
}

// Write is a transaction in one entry: versions at TS, and counters raised.
type Write struct {
	Start, TS clock.Timestamp
	Mutations []kvapi.Mutation // in ascending key order
	Counters  []kvapi.CounterRaise
}

// Prewrite locks keys for a transaction that commits in several regions, and stores with the locks what it will write.
type Prewrite struct {
	Start clock.Timestamp
	// Node and NodeEpoch name the coordinator. It counts as dead if its node is known to be gone, or TTL milliseconds after Start.
	Node, NodeEpoch uint64
	TTL             uint64
	Primary         []byte
	// Async: the transaction is committed once all its keys are locked, at the greatest Least. The lock of the primary then lists the others.
	Async       bool
	Secondaries [][]byte
	// Least is the least timestamp that the transaction may commit at, fetched after the keys had marks.
	Least     clock.Timestamp
	Mutations []kvapi.Mutation // in ascending key order
}

// Commit turns the locks that a transaction has on the keys into versions at TS. A key without a lock is left as it is.
type Commit struct {
	Start, TS clock.Timestamp
	Keys      [][]byte // ascending
}

// Rollback removes a transaction's locks from the keys. With Marker it writes a rollback record for each, which makes a late prewrite fail.
type Rollback struct {
	Start  clock.Timestamp
	Marker bool
	Keys   [][]byte // ascending
}

// Renew prolongs a transaction's lock of a key: TTL replaces that of the lock.
type Renew struct {
	Start clock.Timestamp
	Key   []byte
	TTL   uint64
}

// Alloc takes numbers of a counter; see kvapi.CounterAllocRequest. Result.Number is the first.
type Alloc struct {
	Key      []byte
	Least, N uint64
}

// DropCounters deletes the counters in a bounded span.
type DropCounters struct{ Span kvapi.Span }

// DropSpan deletes all versions in a bounded span for good.
type DropSpan struct{ Span kvapi.Span }

// GCPoint says that no commit at or below TS comes later in this region's log, and that nobody reads below it.
type GCPoint struct{ TS clock.Timestamp }

// Split splits the region at Key. The right half becomes a region with the id Right, and its peers get the ids Peers, in the order of the
// left half's peers. It is the only command of its entry.
type Split struct {
	Key   []byte
	Right kvapi.RegionID
	Peers []uint64
}

// Members changes the peers of the region (CheckPeers says to which). Its proposal is alone.
type Members struct{ Peers []kvapi.Peer }

// Meta is a command of region 0, whose content is defined by package placement/meta.
type Meta struct{ Content []byte }

// Kind implements Command.
func (*Write) Kind() Kind { return KindWrite }

// Kind implements Command.
func (*Prewrite) Kind() Kind { return KindPrewrite }

// Kind implements Command.
func (*Commit) Kind() Kind { return KindCommit }

// Kind implements Command.
func (*Rollback) Kind() Kind { return KindRollback }

// Kind implements Command.
func (*Alloc) Kind() Kind { return KindAlloc }

// Kind implements Command.
func (*DropCounters) Kind() Kind { return KindDropCounters }

// Kind implements Command.
func (*DropSpan) Kind() Kind { return KindDropSpan }

// Kind implements Command.
func (*GCPoint) Kind() Kind { return KindGCPoint }

// Kind implements Command.
func (*Split) Kind() Kind { return KindSplit }

// Kind implements Command.
func (*Meta) Kind() Kind { return KindMeta }

// Kind implements Command.
func (*Renew) Kind() Kind { return KindRenew }

func (*Write) proposed()        {}
func (*Prewrite) proposed()     {}
func (*Commit) proposed()       {}
func (*Rollback) proposed()     {}
func (*Alloc) proposed()        {}
func (*DropCounters) proposed() {}
func (*DropSpan) proposed()     {}
func (*GCPoint) proposed()      {}
func (*Split) proposed()        {}
func (*Members) proposed()      {}
func (*Meta) proposed()         {}
func (*Renew) proposed()        {}

// newCommand returns an empty command of a kind, nil if there is none.
func newCommand(k Kind) Command {
	switch k {
	case KindWrite:
		return &Write{}
	case KindPrewrite:
		return &Prewrite{}
	case KindCommit:
		return &Commit{}
	case KindRollback:
		return &Rollback{}
	case KindAlloc:
		return &Alloc{}
	case KindDropCounters:
		return &DropCounters{}
	case KindDropSpan:
		return &DropSpan{}
	case KindGCPoint:
		return &GCPoint{}
	case KindSplit:
		return &Split{}
	case KindMeta:
		return &Meta{}
	case KindRenew:
		return &Renew{}
	}
	return nil
}

func (c *Write) appendTo(b []byte) []byte {
	b = codec.AppendMutations(codec.AppendUint(codec.AppendUint(b, c.Start), c.TS), c.Mutations)
	b = codec.AppendUint(b, len(c.Counters))
	for _, r := range c.Counters {
		b = codec.AppendUint(codec.AppendBytes(b, r.Key), r.Value)
	}
	return b
}

func (c *Write) readFrom(d *codec.Decoder) {
	*c = Write{Start: d.TS(), TS: d.TS(), Mutations: d.Mutations()}
	for range d.Count(2) {
		c.Counters = append(c.Counters, kvapi.CounterRaise{Key: d.Bytes(), Value: d.Uint()})
	}
}

func (c *Prewrite) appendTo(b []byte) []byte {
	b = codec.AppendUint(codec.AppendUint(codec.AppendUint(codec.AppendUint(b, c.Start), c.Node), c.NodeEpoch), c.TTL)
	b = codec.AppendBool(codec.AppendBytes(b, c.Primary), c.Async)
	b = codec.AppendUint(codec.AppendKeys(b, c.Secondaries), c.Least)
	return codec.AppendMutations(b, c.Mutations)
}

func (c *Prewrite) readFrom(d *codec.Decoder) {
	*c = Prewrite{Start: d.TS(), Node: d.Uint(), NodeEpoch: d.Uint(), TTL: d.Uint(), Primary: d.Bytes(), Async: d.Bool(),
		Secondaries: d.Keys(), Least: d.TS(), Mutations: d.Mutations()}
}

func (c *Commit) appendTo(b []byte) []byte {
	return codec.AppendKeys(codec.AppendUint(codec.AppendUint(b, c.Start), c.TS), c.Keys)
}

func (c *Commit) readFrom(d *codec.Decoder) { *c = Commit{Start: d.TS(), TS: d.TS(), Keys: d.Keys()} }

func (c *Rollback) appendTo(b []byte) []byte {
	return codec.AppendKeys(codec.AppendBool(codec.AppendUint(b, c.Start), c.Marker), c.Keys)
}

func (c *Rollback) readFrom(d *codec.Decoder) {
	*c = Rollback{Start: d.TS(), Marker: d.Bool(), Keys: d.Keys()}
}

func (c *Alloc) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendUint(codec.AppendBytes(b, c.Key), c.Least), c.N)
}

func (c *Alloc) readFrom(d *codec.Decoder) { *c = Alloc{Key: d.Bytes(), Least: d.Uint(), N: d.Uint()} }

func (c *DropCounters) appendTo(b []byte) []byte  { return codec.AppendSpan(b, c.Span) }
func (c *DropCounters) readFrom(d *codec.Decoder) { c.Span = d.Span() }

func (c *DropSpan) appendTo(b []byte) []byte  { return codec.AppendSpan(b, c.Span) }
func (c *DropSpan) readFrom(d *codec.Decoder) { c.Span = d.Span() }

func (c *GCPoint) appendTo(b []byte) []byte  { return codec.AppendUint(b, c.TS) }
func (c *GCPoint) readFrom(d *codec.Decoder) { c.TS = d.TS() }

func (c *Split) appendTo(b []byte) []byte {
	b = codec.AppendUint(codec.AppendUint(codec.AppendBytes(b, c.Key), c.Right), len(c.Peers))
	for _, p := range c.Peers {
		b = codec.AppendUint(b, p)
	}
	return b
}

func (c *Split) readFrom(d *codec.Decoder) {
	*c = Split{Key: d.Bytes(), Right: kvapi.RegionID(d.Uint())}
	for range d.Count(1) {
		c.Peers = append(c.Peers, d.Uint())
	}
}

func (c *Meta) appendTo(b []byte) []byte  { return codec.AppendBytes(b, c.Content) }
func (c *Meta) readFrom(d *codec.Decoder) { c.Content = d.Bytes() }

func (c *Renew) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendBytes(codec.AppendUint(b, c.Start), c.Key), c.TTL)
}

func (c *Renew) readFrom(d *codec.Decoder) { *c = Renew{Start: d.TS(), Key: d.Bytes(), TTL: d.Uint()} }
