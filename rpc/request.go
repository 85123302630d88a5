package rpc

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// Kind names a message.
type Kind byte

// The kinds of requests. They are part of the encoding: never change or reuse one.
const (
	KindGet Kind = 1 + iota
	KindScan
	KindLock
	KindUnlock
	KindRelease
	KindCommit
	KindCounter
	KindAllocCounter
	KindDropCounters
	KindDropSpan
	KindTimestamp
	KindWaitDurable
	KindLockRange
	KindKeepRange
	KindIntend
	KindRevertRanges
)

// The kinds of replies.
const (
	KindRows Kind = 64 + iota
	KindLocked
	KindNumber
	KindDone
	KindFault
	KindRanged
)

// newMessage returns an empty message of a kind, nil if the kind is unknown.
func newMessage(k Kind) Message {
	switch k {
	case KindGet:
		return &Get{}
	case KindScan:
		return &Scan{}
	case KindLock:
		return &Lock{}
	case KindUnlock:
		return &Unlock{}
	case KindRelease:
		return &Release{}
	case KindCommit:
		return &Commit{}
	case KindCounter:
		return &Counter{}
	case KindAllocCounter:
		return &AllocCounter{}
	case KindDropCounters:
		return &DropCounters{}
	case KindDropSpan:
		return &DropSpan{}
	case KindTimestamp:
		return &Timestamp{}
	case KindWaitDurable:
		return &WaitDurable{}
	case KindLockRange:
		return &LockRange{}
	case KindKeepRange:
		return &KeepRange{}
	case KindIntend:
		return &Intend{}
	case KindRevertRanges:
		return &RevertRanges{}
	case KindRanged:
		return &Ranged{}
	case KindRows:
		return &Rows{}
	case KindLocked:
		return &Locked{}
	case KindNumber:
		return &Number{}
	case KindDone:
		return &Done{}
	case KindFault:
		return &Fault{}
	}
	return newCommitMessage(k)
}

// TxnID identifies a transaction in the cluster: a store would find by it the Owner of one that runs on another node. Number is unique
// within one incarnation (NodeEpoch) of the node. Coded sets only Number.
type TxnID struct {
	Node, NodeEpoch, Number uint64
}

// Get is kvapi.GetRequest.
type Get struct {
	Region kvapi.RegionRef
	Key    []byte
	TS     clock.Timestamp
	Values bool // the value is wanted, not only whether there is one
	// Program is reserved for what the store is to do with the row before it answers: a store refuses one that is not empty.
	Program []byte
}

// Scan is kvapi.ScanRequest.
type Scan struct {
	Regions               []kvapi.RegionRef
	Span                  kvapi.Span
	Reverse, WithTS       bool
	LimitRows, LimitBytes int
	TS                    clock.Timestamp
	Program               []byte // as in Get
}

// Lock is kvapi.LockRequest.
type Lock struct {
	Txn     TxnID
	Region  kvapi.RegionRef
	Key     []byte
	Mode    kvapi.LockMode
	Wait    kvapi.WaitPolicy
	Tag     uint32
	Timeout time.Duration
	Values  bool
	// Delete and Create are kvapi.LockRequest's.
	Delete, Create bool
	Program        []byte // as in Get
}

// LockRange is kvapi.RangeLockRequest.
type LockRange struct {
	Txn     TxnID
	Regions []kvapi.RegionRef
	Span    kvapi.Span
	Range   kvapi.RangeKind
	Reverse bool
	Mark    uint64
}

// KeepRange reduces the span of the last LockRange to Span, which is what was read.
type KeepRange struct {
	Txn  TxnID
	Span kvapi.Span
}

// RevertRanges gives up what LockRange has locked under a mark.
type RevertRanges struct {
	Txn  TxnID
	Mark uint64
}

// Intend waits for the range locks of others that cover a key which is to be inserted.
type Intend struct {
	Txn     TxnID
	Region  kvapi.RegionRef
	Key     []byte
	Tag     uint32
	Timeout time.Duration
}

// Unlock releases one lock.
type Unlock struct {
	Txn TxnID
	Key []byte
	Tag uint32
}

// Release releases all locks of a transaction.
type Release struct{ Txn TxnID }

// Commit is kvapi.CommitRequest.
type Commit struct {
	Txn       TxnID
	Regions   []kvapi.RegionRef
	Mutations []kvapi.Mutation
	Counters  []kvapi.CounterRaise
	Relaxed   bool
	Start     clock.Timestamp
	Timeout   time.Duration
}

// Counter reads a durable counter. Here and below, Region is zero for a store outside a cluster.
type Counter struct {
	Region kvapi.RegionRef
	Key    []byte
}

// AllocCounter is kvapi.CounterAllocRequest.
type AllocCounter struct {
	Region   kvapi.RegionRef
	Key      []byte
	Least, N uint64
}

// DropCounters deletes the counters in a span.
type DropCounters struct {
	Region kvapi.RegionRef
	Span   kvapi.Span
}

// DropSpan deletes all versions of the keys in a span.
type DropSpan struct {
	Region kvapi.RegionRef
	Span   kvapi.Span
	TS     clock.Timestamp
}

// Timestamp asks for a new timestamp.
type Timestamp struct{}

// WaitDurable waits until the watermark covers a timestamp.
type WaitDurable struct{ TS clock.Timestamp }

// Kind implements Message.
func (*Get) Kind() Kind { return KindGet }

// Kind implements Message.
func (*Scan) Kind() Kind { return KindScan }

// Kind implements Message.
func (*Lock) Kind() Kind { return KindLock }

// Kind implements Message.
func (*LockRange) Kind() Kind { return KindLockRange }

// Kind implements Message.
func (*KeepRange) Kind() Kind { return KindKeepRange }

// Kind implements Message.
func (*RevertRanges) Kind() Kind { return KindRevertRanges }

// Kind implements Message.
func (*Intend) Kind() Kind { return KindIntend }

// Kind implements Message.
func (*Unlock) Kind() Kind { return KindUnlock }

// Kind implements Message.
func (*Release) Kind() Kind { return KindRelease }

// Kind implements Message.
func (*Commit) Kind() Kind { return KindCommit }

// Kind implements Message.
func (*Counter) Kind() Kind { return KindCounter }

// Kind implements Message.
func (*AllocCounter) Kind() Kind { return KindAllocCounter }

// Kind implements Message.
func (*DropCounters) Kind() Kind { return KindDropCounters }

// Kind implements Message.
func (*DropSpan) Kind() Kind { return KindDropSpan }

// Kind implements Message.
func (*Timestamp) Kind() Kind { return KindTimestamp }

// Kind implements Message.
func (*WaitDurable) Kind() Kind { return KindWaitDurable }

func (m *Get) appendTo(b []byte) []byte {
	b = codec.AppendBytes(appendRegion(b, m.Region), m.Key)
	return codec.AppendBytes(codec.AppendBool(codec.AppendUint(b, m.TS), m.Values), m.Program)
}

func (m *Get) readFrom(d *decoder) {
	*m = Get{Region: d.region(), Key: d.Bytes(), TS: d.TS(), Values: d.Bool(), Program: d.Bytes()}
}

func (m *Scan) appendTo(b []byte) []byte {
	b = codec.AppendSpan(appendRegions(b, m.Regions), m.Span)
	b = codec.AppendBool(codec.AppendBool(b, m.Reverse), m.WithTS)
	b = codec.AppendUint(codec.AppendUint(b, m.LimitRows), m.LimitBytes)
	return codec.AppendBytes(codec.AppendUint(b, m.TS), m.Program)
}

func (m *Scan) readFrom(d *decoder) {
	*m = Scan{Regions: d.regions(), Span: d.Span(), Reverse: d.Bool(), WithTS: d.Bool(),
		LimitRows: d.Int(), LimitBytes: d.Int(), TS: d.TS(), Program: d.Bytes()}
}

func (m *Lock) appendTo(b []byte) []byte {
	b = codec.AppendBytes(appendRegion(appendTxn(b, m.Txn), m.Region), m.Key)
	b = codec.AppendUint(append(b, byte(m.Mode), byte(m.Wait)), m.Tag)
	b = append(codec.AppendBool(codec.AppendUint(b, m.Timeout), m.Values), lockPurpose(m.Delete, m.Create))
	return codec.AppendBytes(b, m.Program)
}

// lockPurpose encodes Delete and Create in one byte.
func lockPurpose(remove, create bool) (b byte) {
	if remove {
		b |= 1
	}
	if create {
		b |= 2
	}
	return b
}

func (m *Lock) readFrom(d *decoder) {
	*m = Lock{Txn: d.txn(), Region: d.region(), Key: d.Bytes(),
		Mode: kvapi.LockMode(d.Byte(byte(kvapi.LockExclusive))), Wait: kvapi.WaitPolicy(d.Byte(byte(kvapi.WaitSkip))), Tag: d.Uint32(),
		Timeout: time.Duration(d.Int()), Values: d.Bool()}
	purpose := d.Byte(3)
	m.Delete, m.Create, m.Program = purpose&1 != 0, purpose&2 != 0, d.Bytes()
}

func (m *LockRange) appendTo(b []byte) []byte {
	b = codec.AppendSpan(appendRegions(appendTxn(b, m.Txn), m.Regions), m.Span)
	return codec.AppendUint(codec.AppendBool(append(b, byte(m.Range)), m.Reverse), m.Mark)
}

func (m *LockRange) readFrom(d *decoder) {
	*m = LockRange{Txn: d.txn(), Regions: d.regions(), Span: d.Span(), Range: kvapi.RangeKind(d.Byte(byte(kvapi.RangeWhole))), Reverse: d.Bool(), Mark: d.Uint()}
}

func (m *KeepRange) appendTo(b []byte) []byte { return codec.AppendSpan(appendTxn(b, m.Txn), m.Span) }
func (m *KeepRange) readFrom(d *decoder)      { *m = KeepRange{Txn: d.txn(), Span: d.Span()} }

func (m *RevertRanges) appendTo(b []byte) []byte {
	return codec.AppendUint(appendTxn(b, m.Txn), m.Mark)
}
func (m *RevertRanges) readFrom(d *decoder) { *m = RevertRanges{Txn: d.txn(), Mark: d.Uint()} }

func (m *Intend) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendUint(codec.AppendBytes(appendRegion(appendTxn(b, m.Txn), m.Region), m.Key), m.Tag), m.Timeout)
}

func (m *Intend) readFrom(d *decoder) {
	*m = Intend{Txn: d.txn(), Region: d.region(), Key: d.Bytes(), Tag: d.Uint32(), Timeout: time.Duration(d.Int())}
}

func (m *Unlock) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendBytes(appendTxn(b, m.Txn), m.Key), m.Tag)
}

func (m *Unlock) readFrom(d *decoder) { *m = Unlock{Txn: d.txn(), Key: d.Bytes(), Tag: d.Uint32()} }

func (m *Release) appendTo(b []byte) []byte { return appendTxn(b, m.Txn) }
func (m *Release) readFrom(d *decoder)      { *m = Release{Txn: d.txn()} }

func (m *Commit) appendTo(b []byte) []byte {
	b = appendRegions(appendTxn(b, m.Txn), m.Regions)
	b = codec.AppendMutations(b, m.Mutations)
	b = codec.AppendUint(b, len(m.Counters))
	for _, c := range m.Counters {
		b = codec.AppendUint(codec.AppendBytes(b, c.Key), c.Value)
	}
	return codec.AppendUint(codec.AppendUint(codec.AppendBool(b, m.Relaxed), m.Start), m.Timeout)
}

func (m *Commit) readFrom(d *decoder) {
	*m = Commit{Txn: d.txn(), Regions: d.regions(), Mutations: d.Mutations()}
	for range d.Count(2) {
		m.Counters = append(m.Counters, kvapi.CounterRaise{Key: d.Bytes(), Value: d.Uint()})
	}
	m.Relaxed, m.Start, m.Timeout = d.Bool(), d.TS(), time.Duration(d.Int())
}

func (m *Counter) appendTo(b []byte) []byte {
	return codec.AppendBytes(appendRegion(b, m.Region), m.Key)
}
func (m *Counter) readFrom(d *decoder) { m.Region, m.Key = d.region(), d.Bytes() }

func (m *AllocCounter) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendUint(codec.AppendBytes(appendRegion(b, m.Region), m.Key), m.Least), m.N)
}

func (m *AllocCounter) readFrom(d *decoder) {
	*m = AllocCounter{Region: d.region(), Key: d.Bytes(), Least: d.Uint(), N: d.Uint()}
}

func (m *DropCounters) appendTo(b []byte) []byte {
	return codec.AppendSpan(appendRegion(b, m.Region), m.Span)
}
func (m *DropCounters) readFrom(d *decoder) { m.Region, m.Span = d.region(), d.Span() }

func (m *DropSpan) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendSpan(appendRegion(b, m.Region), m.Span), m.TS)
}
func (m *DropSpan) readFrom(d *decoder) { m.Region, m.Span, m.TS = d.region(), d.Span(), d.TS() }

func (m *Timestamp) appendTo(b []byte) []byte { return b }
func (m *Timestamp) readFrom(*decoder)        {}

func (m *WaitDurable) appendTo(b []byte) []byte { return codec.AppendUint(b, m.TS) }
func (m *WaitDurable) readFrom(d *decoder)      { m.TS = d.TS() }
