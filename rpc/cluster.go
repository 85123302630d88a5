package rpc

import (
	"bytes"
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// errAlone refuses a request of a cluster's commit at a store that is not part of a cluster.
var errAlone = errors.New("rpc: the store is alone")

// Clustered reports whether the store is part of a cluster: its regions have replicated logs. Once true, it stays true.
func (p *Peer) Clustered() bool { return p.s.Cluster() != nil }

// Identity returns the id of the store, and its incarnation: a number that grows at each start.
func (p *Peer) Identity() (node, epoch uint64) { return p.s.ID(), p.s.Incarnation() }

// Limits is store.Store.Limits.
func (p *Peer) Limits() *store.Limits { return p.s.Limits() }

// SteppedDown is store.Store.SteppedDown.
func (p *Peer) SteppedDown() bool { return p.s.SteppedDown() }

// The methods below call store.Cluster: only while Clustered is true.

// Do is store.Cluster.Do.
func (p *Peer) Do(request any) (any, error) {
	if !p.coded {
		return p.s.Cluster().Do(request)
	}
	m, err := wrap(request)
	if err != nil {
		return nil, err
	}
	reply, err := p.call(nil, m, nil)
	if err != nil {
		return nil, err
	}
	return unwrapResult(reply), nil
}

// serveDo answers a request of a cluster's commit.
func serveDo(s *store.Store, request any) Message {
	c := s.Cluster()
	if c == nil {
		return NewFault(errAlone, false)
	}
	result, err := c.Do(request)
	if err != nil {
		return NewFault(err, false)
	}
	return wrapResult(result)
}

// ClusterGet is store.Cluster.Get.
func (p *Peer) ClusterGet(r *kvapi.GetRequest) (found bool, err error) {
	if p.coded {
		return p.getCoded(r)
	}
	return p.s.Cluster().Get(r)
}

// ClusterScan is store.Cluster.Scan.
func (p *Peer) ClusterScan(r *kvapi.ScanRequest) (resume []byte, err error) {
	if p.coded {
		return p.scanCoded(r)
	}
	return p.s.Cluster().Scan(r)
}

// ClusterLock is store.Cluster.Lock.
func (p *Peer) ClusterLock(o *Owner, r *kvapi.LockRequest) (kvapi.LockResult, error) {
	if p.coded {
		return p.lockCoded(o, r)
	}
	return p.s.Cluster().Lock(o, r)
}

// Relied is store.Cluster.Relied: the checks that replace the owner's locks at its commit.
func (p *Peer) Relied(o *Owner, mutations []kvapi.Mutation) (checks []kvapi.Check, asOf uint64) {
	return p.s.Cluster().Relied(o, mutations)
}

// ClusterCounter is store.Cluster.Counter.
func (p *Peer) ClusterCounter(ref kvapi.RegionRef, key []byte) (uint64, error) {
	if p.coded {
		return p.number(nil, &Counter{Region: ref, Key: bytes.Clone(key)})
	}
	return p.s.Cluster().Counter(ref, key)
}

// ClusterAlloc is store.Cluster.AllocCounter.
func (p *Peer) ClusterAlloc(ref kvapi.RegionRef, r *kvapi.CounterAllocRequest) (first uint64, err error) {
	if p.coded {
		return p.number(nil, &AllocCounter{Region: ref, Key: bytes.Clone(r.Key), Least: r.Least, N: r.N})
	}
	return p.s.Cluster().AllocCounter(ref, r)
}

// ClusterDropCounters is store.Cluster.DropCounters.
func (p *Peer) ClusterDropCounters(ref kvapi.RegionRef, span kvapi.Span) error {
	if p.coded {
		_, err := p.call(nil, &DropCounters{Region: ref, Span: span}, nil)
		return err
	}
	return p.s.Cluster().DropCounters(ref, span)
}

// ClusterDropSpan is store.Cluster.DropSpan.
func (p *Peer) ClusterDropSpan(ref kvapi.RegionRef, span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	if p.coded {
		m, err := p.call(nil, &DropSpan{Region: ref, Span: span, TS: ts}, nil)
		if err != nil {
			return false, err
		}
		return m.(*Done).Yes, nil
	}
	return p.s.Cluster().DropSpan(ref, span, ts)
}

// ClusterTimestamp is store.Cluster.Timestamp.
func (p *Peer) ClusterTimestamp() (clock.Timestamp, error) {
	if p.coded {
		return p.Timestamp()
	}
	return p.s.Cluster().Timestamp()
}

// ClusterRegister is store.Cluster.Register.
func (p *Peer) ClusterRegister(sn *Snapshot) { p.s.Cluster().Register(sn) }

// ClusterLockRange is store.Cluster.LockRange.
func (p *Peer) ClusterLockRange(o *Owner, r *kvapi.RangeLockRequest) (kvapi.RangeLockResult, error) {
	if p.coded {
		return p.lockRangeCoded(o, r)
	}
	return p.s.Cluster().LockRange(o, r)
}

// ClusterKeepRange is store.Cluster.KeepRange.
func (p *Peer) ClusterKeepRange(o *Owner, s kvapi.Span) {
	if p.coded {
		p.KeepRange(o, s)
		return
	}
	p.s.Cluster().KeepRange(o, s)
}

// ClusterRevertRanges is store.Cluster.RevertRanges.
func (p *Peer) ClusterRevertRanges(o *Owner, mark uint64) bool {
	if p.coded {
		return p.RevertRanges(o, mark)
	}
	return p.s.Cluster().RevertRanges(o, mark)
}

// ClusterIntend is store.Cluster.Intend.
func (p *Peer) ClusterIntend(o *Owner, r *kvapi.LockRequest) error {
	if p.coded {
		return p.Intend(o, r)
	}
	return p.s.Cluster().Intend(o, r)
}

// AwaitRanges is store.Store.AwaitRanges.
func (p *Peer) AwaitRanges(o *Owner, r *kvapi.CommitRequest) error { return p.s.AwaitRanges(o, r) }
