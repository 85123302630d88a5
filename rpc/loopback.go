package rpc

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// Owner is what a store keeps of one transaction; see store.Owner.
type Owner = store.Owner

// Snapshot is an entry in a store's registry of the timestamps that are being read at; see store.Snapshot.
type Snapshot = store.Snapshot

// Fill writes versions with an old timestamp past the log, for a new index; see store.Fill.
type Fill = store.Fill

// Sorter sorts pairs; see store.Sorter.
type Sorter = store.Sorter

// Peer is kv's handle of a store. Its methods may be called by several goroutines, under the rules of the store's methods of these names.
type Peer struct {
	s     *store.Store
	coded bool // see Coded
}

// Loopback returns the peer of a store in this process.
func Loopback(s *store.Store) *Peer { return &Peer{s: s} }

// Regions returns the peer's regions in key order; they are immutable.
func (p *Peer) Regions() []*kvapi.Region {
	if c := p.s.Cluster(); c != nil {
		return c.Regions()
	}
	return p.s.Regions()
}

// Get is store.Store.Get.
func (p *Peer) Get(r *kvapi.GetRequest) (found bool, err error) {
	if p.coded {
		return p.getCoded(r)
	}
	return p.s.Get(r)
}

// Scan is store.Store.Scan.
func (p *Peer) Scan(r *kvapi.ScanRequest) (resume []byte, err error) {
	if p.coded {
		return p.scanCoded(r)
	}
	return p.s.Scan(r)
}

// Lock is store.Store.Lock.
func (p *Peer) Lock(o *Owner, r *kvapi.LockRequest) (kvapi.LockResult, error) {
	if p.coded {
		return p.lockCoded(o, r)
	}
	return p.s.Lock(o, r)
}

// LockRange is store.Store.LockRange.
func (p *Peer) LockRange(o *Owner, r *kvapi.RangeLockRequest) (kvapi.RangeLockResult, error) {
	if p.coded {
		return p.lockRangeCoded(o, r)
	}
	return p.s.LockRange(o, r)
}

// KeepRange is store.Store.KeepRange.
func (p *Peer) KeepRange(o *Owner, s kvapi.Span) {
	if p.coded {
		_, _ = p.call(o, &KeepRange{Txn: TxnID{Number: o.ID()}, Span: s}, nil) // it never fails
		return
	}
	p.s.KeepRange(o, s)
}

// RevertRanges is store.Store.RevertRanges.
func (p *Peer) RevertRanges(o *Owner, mark uint64) bool {
	if p.coded {
		m, err := p.call(o, &RevertRanges{Txn: TxnID{Number: o.ID()}, Mark: mark}, nil)
		return err == nil && m.(*Done).Yes
	}
	return p.s.RevertRanges(o, mark)
}

// Ranged is store.Store.Ranged. It is only a hint, so that it needs no message: a commit checks range locks in any case.
func (p *Peer) Ranged() bool { return p.s.Ranged() }

// Intend is store.Store.Intend.
func (p *Peer) Intend(o *Owner, r *kvapi.LockRequest) error {
	if p.coded {
		_, err := p.call(o, &Intend{Txn: TxnID{Number: o.ID()}, Region: r.Region, Key: bytes.Clone(r.Key), Tag: r.Tag, Timeout: r.Timeout}, r.Interrupt)
		return err
	}
	return p.s.Intend(o, r)
}

// Unlock is store.Store.Unlock.
func (p *Peer) Unlock(o *Owner, key []byte, tag uint32) {
	if p.coded {
		_, _ = p.call(o, &Unlock{Txn: TxnID{Number: o.ID()}, Key: bytes.Clone(key), Tag: tag}, nil) // it never fails
		return
	}
	p.s.Unlock(o, key, tag)
}

// ReleaseLocks is store.Store.ReleaseLocks.
func (p *Peer) ReleaseLocks(o *Owner) {
	if p.coded {
		_, _ = p.call(o, &Release{Txn: TxnID{Number: o.ID()}}, nil) // it never fails
		return
	}
	p.s.ReleaseLocks(o)
}

// Rest is store.Store.Rest.
func (p *Peer) Rest(o *Owner) { p.s.Rest(o) }

// OpenOwner is store.Store.OpenOwner.
func (p *Peer) OpenOwner(o *Owner, id uint64) { p.s.OpenOwner(o, id) }

// Locks is store.Store.Locks.
func (p *Peer) Locks(locksMax int) []kvapi.LockView { return p.s.Locks(locksMax) }

// SpanSize is store.Store.SpanSize.
func (p *Peer) SpanSize(span kvapi.Span, versionsMax int) (kvapi.SpanSize, error) {
	return p.s.SpanSize(span, versionsMax)
}

// Writer is store.Store.Writer.
func (p *Peer) Writer(key []byte, at clock.Timestamp) (commit, start clock.Timestamp, err error) {
	return p.s.Writer(key, at)
}

// Commit is store.Store.Commit.
func (p *Peer) Commit(o *Owner, r *kvapi.CommitRequest) (clock.Timestamp, error) {
	if p.coded {
		return p.commitCoded(o, r)
	}
	return p.s.Commit(o, r)
}

// Watermark is store.Store.Watermark.
func (p *Peer) Watermark() clock.Timestamp { return p.s.Watermark() }

// Applied is store.Store.Applied.
func (p *Peer) Applied() clock.Timestamp { return p.s.Applied() }

// WaitDurable is store.Store.WaitDurable.
func (p *Peer) WaitDurable(ts clock.Timestamp, i *kvapi.Interrupt) error {
	if p.coded {
		_, err := p.call(nil, &WaitDurable{TS: ts}, i)
		return err
	}
	return p.s.WaitDurable(ts, i)
}

// Register is store.Store.Register.
func (p *Peer) Register(sn *Snapshot) { p.s.Register(sn) }

// Unregister is store.Store.Unregister.
func (p *Peer) Unregister(sn *Snapshot) { p.s.Unregister(sn) }

// Counter is store.Store.Counter.
func (p *Peer) Counter(key []byte) (uint64, error) {
	if p.coded {
		return p.number(nil, &Counter{Key: bytes.Clone(key)})
	}
	return p.s.Counter(key)
}

// AllocCounter is store.Store.AllocCounter.
func (p *Peer) AllocCounter(r *kvapi.CounterAllocRequest) (first uint64, err error) {
	if p.coded {
		return p.number(nil, &AllocCounter{Key: bytes.Clone(r.Key), Least: r.Least, N: r.N})
	}
	return p.s.AllocCounter(r)
}

// DropCounters is store.Store.DropCounters.
func (p *Peer) DropCounters(span kvapi.Span) error {
	if p.coded {
		_, err := p.call(nil, &DropCounters{Span: span}, nil)
		return err
	}
	return p.s.DropCounters(span)
}

// NewFill is store.Store.NewFill. A coded peer has none: a fill writes files of the own store.
func (p *Peer) NewFill(span kvapi.Span, common int, at clock.Timestamp) (*Fill, error) {
	if p.coded {
		return nil, kvapi.ErrNotAlone
	}
	return p.s.NewFill(span, common, at)
}

// NewSorter is store.Store.NewSorter of the store in this process, whichever has the data.
func (p *Peer) NewSorter() *Sorter { return p.s.NewSorter() }

// Timestamp is store.Store.Timestamp.
func (p *Peer) Timestamp() (clock.Timestamp, error) {
	if p.coded {
		n, err := p.number(nil, &Timestamp{})
		return clock.Timestamp(n), err
	}
	return p.s.Timestamp()
}

// DropSpan is store.Store.DropSpan.
func (p *Peer) DropSpan(span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	if p.coded {
		m, err := p.call(nil, &DropSpan{Span: span, TS: ts}, nil)
		if err != nil {
			return false, err
		}
		return m.(*Done).Yes, nil
	}
	return p.s.DropSpan(span, ts)
}
