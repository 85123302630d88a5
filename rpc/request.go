package rpc

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Kind names a message.
type Kind byte

// The kinds. They are on the wire: never reuse one. Replies begin at KindRows.
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

// newMessage returns an empty message of a kind, nil if there is none.
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

// TxnID names a transaction among all nodes: what a store keeps of one that runs elsewhere is found by it, where a local one is its
// Owner. Number counts the transactions of one life of the node.
type TxnID struct {
	Node, NodeEpoch, Number uint64
}

// Get is kvapi.GetRequest.
type Get struct {
	Region kvapi.RegionRef
	Key    []byte
	TS     clock.Timestamp
	Values bool // the value is wanted, not only whether there is one
	// Program is what the store is to do with the row before it answers. It is reserved: a store refuses one that is not empty.
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
	// Delete and Create say what the key is locked for.
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
}

// KeepRange says how much of the span that LockRange has locked was read.
type KeepRange struct {
	Txn  TxnID
	Span kvapi.Span
}

// Intend waits for range locks before a key is made.
type Intend struct {
	Txn     TxnID
	Region  kvapi.RegionRef
	Key     []byte
	Tag     uint32
	Timeout time.Duration
}

// Unlock drops one lock.
type Unlock struct {
	Txn TxnID
	Key []byte
	Tag uint32
}

// Release drops all locks of a transaction.
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

// Counter reads a durable counter. Region is zero at a store that is alone, as in what follows.
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

// DropSpan deletes a span for good.
type DropSpan struct {
	Region kvapi.RegionRef
	Span   kvapi.Span
	TS     clock.Timestamp
}

// Timestamp asks for one.
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
	b = appendBytes(appendRegion(b, m.Region), m.Key)
	return appendBytes(appendBool(appendUint(b, m.TS), m.Values), m.Program)
}

func (m *Get) readFrom(d *decoder) {
	*m = Get{Region: d.region(), Key: d.bytes(), TS: d.ts(), Values: d.bool(), Program: d.bytes()}
}

func (m *Scan) appendTo(b []byte) []byte {
	b = appendSpan(appendRegions(b, m.Regions), m.Span)
	b = appendBool(appendBool(b, m.Reverse), m.WithTS)
	b = appendUint(appendUint(b, m.LimitRows), m.LimitBytes)
	return appendBytes(appendUint(b, m.TS), m.Program)
}

func (m *Scan) readFrom(d *decoder) {
	*m = Scan{Regions: d.regions(), Span: d.span(), Reverse: d.bool(), WithTS: d.bool(),
		LimitRows: d.int(), LimitBytes: d.int(), TS: d.ts(), Program: d.bytes()}
}

func (m *Lock) appendTo(b []byte) []byte {
	b = appendBytes(appendRegion(appendTxn(b, m.Txn), m.Region), m.Key)
	b = appendUint(append(b, byte(m.Mode), byte(m.Wait)), m.Tag)
	b = append(appendBool(appendUint(b, m.Timeout), m.Values), lockPurpose(m.Delete, m.Create))
	return appendBytes(b, m.Program)
}

// lockPurpose is one byte for what a key is locked for.
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
	*m = Lock{Txn: d.txn(), Region: d.region(), Key: d.bytes(),
		Mode: kvapi.LockMode(d.byte(byte(kvapi.LockExclusive))), Wait: kvapi.WaitPolicy(d.byte(byte(kvapi.WaitSkip))), Tag: d.uint32(),
		Timeout: time.Duration(d.int()), Values: d.bool()}
	purpose := d.byte(3)
	m.Delete, m.Create, m.Program = purpose&1 != 0, purpose&2 != 0, d.bytes()
}

func (m *LockRange) appendTo(b []byte) []byte {
	b = appendSpan(appendRegions(appendTxn(b, m.Txn), m.Regions), m.Span)
	return appendBool(append(b, byte(m.Range)), m.Reverse)
}

func (m *LockRange) readFrom(d *decoder) {
	*m = LockRange{Txn: d.txn(), Regions: d.regions(), Span: d.span(), Range: kvapi.RangeKind(d.byte(byte(kvapi.RangeWhole))), Reverse: d.bool()}
}

func (m *KeepRange) appendTo(b []byte) []byte { return appendSpan(appendTxn(b, m.Txn), m.Span) }
func (m *KeepRange) readFrom(d *decoder)      { *m = KeepRange{Txn: d.txn(), Span: d.span()} }

func (m *Intend) appendTo(b []byte) []byte {
	return appendUint(appendUint(appendBytes(appendRegion(appendTxn(b, m.Txn), m.Region), m.Key), m.Tag), m.Timeout)
}

func (m *Intend) readFrom(d *decoder) {
	*m = Intend{Txn: d.txn(), Region: d.region(), Key: d.bytes(), Tag: d.uint32(), Timeout: time.Duration(d.int())}
}

func (m *Unlock) appendTo(b []byte) []byte {
	return appendUint(appendBytes(appendTxn(b, m.Txn), m.Key), m.Tag)
}

func (m *Unlock) readFrom(d *decoder) { *m = Unlock{Txn: d.txn(), Key: d.bytes(), Tag: d.uint32()} }

func (m *Release) appendTo(b []byte) []byte { return appendTxn(b, m.Txn) }
func (m *Release) readFrom(d *decoder)      { *m = Release{Txn: d.txn()} }

// mutationBytesMin is what a mutation takes at least: kind, shadow, and the lengths of key and value.
const mutationBytesMin = 4

func (m *Commit) appendTo(b []byte) []byte {
	b = appendRegions(appendTxn(b, m.Txn), m.Regions)
	b = appendUint(b, len(m.Mutations))
	for i := range m.Mutations {
		w := &m.Mutations[i]
		b = append(b, byte(w.Kind), byte(w.Shadow))
		if w.Shadow == kvapi.ShadowAt {
			b = appendUint(appendUint(b, w.Prev), w.PrevLen)
		}
		b = appendBytes(appendBytes(b, w.Key), w.Value)
	}
	b = appendUint(b, len(m.Counters))
	for _, c := range m.Counters {
		b = appendUint(appendBytes(b, c.Key), c.Value)
	}
	return appendUint(appendUint(appendBool(b, m.Relaxed), m.Start), m.Timeout)
}

func (m *Commit) readFrom(d *decoder) {
	*m = Commit{Txn: d.txn(), Regions: d.regions()}
	for range d.count(mutationBytesMin) {
		w := kvapi.Mutation{Kind: kvapi.MutationKind(d.byte(byte(kvapi.MutationDelete))), Shadow: kvapi.Shadow(d.byte(byte(kvapi.ShadowAt)))}
		if w.Shadow == kvapi.ShadowAt {
			w.Prev = d.ts()
			length := d.uint32()
			if length > 1<<31-1 {
				d.fail("length of a row")
			}
			w.PrevLen = int32(length)
		}
		w.Key, w.Value = d.bytes(), d.bytes()
		if d.err != nil {
			return
		}
		m.Mutations = append(m.Mutations, w)
	}
	for range d.count(2) {
		m.Counters = append(m.Counters, kvapi.CounterRaise{Key: d.bytes(), Value: d.uint()})
	}
	m.Relaxed, m.Start, m.Timeout = d.bool(), d.ts(), time.Duration(d.int())
}

func (m *Counter) appendTo(b []byte) []byte { return appendBytes(appendRegion(b, m.Region), m.Key) }
func (m *Counter) readFrom(d *decoder)      { m.Region, m.Key = d.region(), d.bytes() }

func (m *AllocCounter) appendTo(b []byte) []byte {
	return appendUint(appendUint(appendBytes(appendRegion(b, m.Region), m.Key), m.Least), m.N)
}

func (m *AllocCounter) readFrom(d *decoder) {
	*m = AllocCounter{Region: d.region(), Key: d.bytes(), Least: d.uint(), N: d.uint()}
}

func (m *DropCounters) appendTo(b []byte) []byte {
	return appendSpan(appendRegion(b, m.Region), m.Span)
}
func (m *DropCounters) readFrom(d *decoder) { m.Region, m.Span = d.region(), d.span() }

func (m *DropSpan) appendTo(b []byte) []byte {
	return appendUint(appendSpan(appendRegion(b, m.Region), m.Span), m.TS)
}
func (m *DropSpan) readFrom(d *decoder) { m.Region, m.Span, m.TS = d.region(), d.span(), d.ts() }

func (m *Timestamp) appendTo(b []byte) []byte { return b }
func (m *Timestamp) readFrom(*decoder)        {}

func (m *WaitDurable) appendTo(b []byte) []byte { return appendUint(b, m.TS) }
func (m *WaitDurable) readFrom(d *decoder)      { m.TS = d.ts() }
