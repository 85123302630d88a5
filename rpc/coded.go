package rpc

import (
	"bytes"
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// pageBytesMax ends a page of Rows even if the request allows more: a whole reply is held in memory. The last pair may exceed it.
const pageBytesMax = 1 << 20

// errProgram refuses a request with a program; see Get.Program.
var errProgram = errors.New("rpc: programs are not known to this version")

// Coded returns a peer of a store in this process that encodes and decodes each request and reply, as if the store were on another node.
// It is for tests, which run the same cases on it as on a Loopback.
func Coded(s *store.Store) *Peer { return &Peer{s: s, coded: true} }

// call sends a request and returns its reply. A Fault is returned together with its error. o is passed beside the message; a store on
// another node would look it up by the message's TxnID.
func (p *Peer) call(o *Owner, request Message, i *kvapi.Interrupt) (Message, error) {
	m, err := Decode(Append(nil, request))
	if err != nil {
		return nil, err
	}
	if m, err = Decode(Append(nil, serve(p.s, o, m, i))); err != nil {
		return nil, err
	}
	if f, is := m.(*Fault); is {
		return f, f.Err()
	}
	return m, nil
}

// number is call for requests whose reply is a Number.
func (p *Peer) number(o *Owner, request Message) (uint64, error) {
	m, err := p.call(o, request, nil)
	if err != nil {
		return 0, err
	}
	return m.(*Number).N, nil
}

// The requests of a coded peer. They are separate functions, which are not inlined and copy what they send, so that the requests of a
// loopback stay on the stack (R2).

//go:noinline
func (p *Peer) getCoded(r *kvapi.GetRequest) (found bool, err error) {
	m, err := p.call(nil, &Get{Region: r.Region, Key: bytes.Clone(r.Key), TS: r.TS, Values: r.Sink != nil}, r.Interrupt)
	if err != nil {
		return false, err
	}
	rows := m.(*Rows)
	if len(rows.Pairs) == 0 {
		return false, nil
	}
	if r.Sink != nil {
		_, err = r.Sink.Pair(rows.Pairs[0].Key, rows.Pairs[0].Value)
	}
	return true, err
}

//go:noinline
func (p *Peer) scanCoded(r *kvapi.ScanRequest) (resume []byte, err error) {
	m, err := p.call(nil, &Scan{Regions: append([]kvapi.RegionRef(nil), r.Regions...),
		Span: kvapi.Span{Start: bytes.Clone(r.Span.Start), End: bytes.Clone(r.Span.End)}, Reverse: r.Reverse, WithTS: r.WithTS,
		LimitRows: r.LimitRows, LimitBytes: r.LimitBytes, TS: r.TS}, r.Interrupt)
	if err != nil {
		return nil, err
	}
	rows := m.(*Rows)
	for i := range rows.Pairs {
		pair := &rows.Pairs[i]
		if r.WithTS {
			r.Sink.(kvapi.VersionSink).Version(pair.TS)
		}
		more, err := r.Sink.Pair(pair.Key, pair.Value)
		if err != nil {
			return nil, err
		}
		if !more && !r.Span.IsPoint() {
			return kvapi.ResumeAfter(pair.Key, r.Reverse), nil
		}
	}
	return rows.Resume, nil
}

//go:noinline
func (p *Peer) lockCoded(o *Owner, r *kvapi.LockRequest) (kvapi.LockResult, error) {
	m, err := p.call(o, &Lock{Txn: TxnID{Number: o.ID()}, Region: r.Region, Key: bytes.Clone(r.Key), Mode: r.Mode, Wait: r.Wait, Tag: r.Tag,
		Timeout: r.Timeout, Values: r.Sink != nil, Delete: r.Delete, Create: r.Create}, r.Interrupt)
	if err != nil {
		f, _ := m.(*Fault)
		return kvapi.LockResult{Waited: f != nil && f.Waited}, err
	}
	locked := m.(*Locked)
	if locked.Value != nil && r.Sink != nil {
		_, err = r.Sink.Pair(r.Key, locked.Value)
	}
	return locked.Result, err
}

func (p *Peer) lockRangeCoded(o *Owner, r *kvapi.RangeLockRequest) (kvapi.RangeLockResult, error) {
	m, err := p.call(o, &LockRange{Txn: TxnID{Number: o.ID()}, Regions: append([]kvapi.RegionRef(nil), r.Regions...), Span: r.Span,
		Range: r.Kind, Reverse: r.Reverse, Mark: r.Mark}, r.Interrupt)
	if err != nil {
		return kvapi.RangeLockResult{}, err
	}
	return m.(*Ranged).Result, nil
}

//go:noinline
func (p *Peer) commitCoded(o *Owner, r *kvapi.CommitRequest) (clock.Timestamp, error) {
	m := &Commit{Txn: TxnID{Number: o.ID()}, Regions: append([]kvapi.RegionRef(nil), r.Regions...), Relaxed: r.Relaxed, Start: r.Start, Timeout: r.Timeout}
	for i := range r.Mutations {
		w := r.Mutations[i]
		w.Key, w.Value = bytes.Clone(w.Key), bytes.Clone(w.Value)
		m.Mutations = append(m.Mutations, w)
	}
	for _, c := range r.Counters {
		m.Counters = append(m.Counters, kvapi.CounterRaise{Key: bytes.Clone(c.Key), Value: c.Value})
	}
	reply, err := p.call(o, m, r.Interrupt)
	if err != nil {
		return 0, err
	}
	return clock.Timestamp(reply.(*Number).N), nil
}

// serve executes a request on a store and returns the reply, which is a Fault if it failed.
func serve(s *store.Store, o *Owner, request Message, i *kvapi.Interrupt) Message {
	switch m := request.(type) {
	case *Get:
		return serveGet(s, m, i)
	case *Scan:
		return serveScan(s, m, i)
	case *Lock:
		return serveLock(s, o, m, i)
	case *LockRange, *KeepRange, *RevertRanges, *Intend:
		return serveRange(s, o, request, i)
	case *Unlock:
		s.Unlock(o, m.Key, m.Tag)
		return &Done{Yes: true}
	case *Release:
		s.ReleaseLocks(o)
		return &Done{Yes: true}
	case *Commit:
		ts, err := s.Commit(o, &kvapi.CommitRequest{Regions: m.Regions, Mutations: m.Mutations, Counters: m.Counters, Relaxed: m.Relaxed, Start: m.Start,
			Timeout: m.Timeout, Interrupt: i})
		return number(uint64(ts), err)
	case *Counter:
		if c := s.Cluster(); c != nil {
			return number(c.Counter(m.Region, m.Key))
		}
		return number(s.Counter(m.Key))
	case *AllocCounter:
		r := &kvapi.CounterAllocRequest{Key: m.Key, Least: m.Least, N: m.N}
		if c := s.Cluster(); c != nil {
			return number(c.AllocCounter(m.Region, r))
		}
		return number(s.AllocCounter(r))
	case *DropCounters:
		if c := s.Cluster(); c != nil {
			return done(true, c.DropCounters(m.Region, m.Span))
		}
		return done(true, s.DropCounters(m.Span))
	case *DropSpan:
		if c := s.Cluster(); c != nil {
			return done(c.DropSpan(m.Region, m.Span, m.TS))
		}
		return done(s.DropSpan(m.Span, m.TS))
	case *Timestamp:
		issue := s.Timestamp
		if c := s.Cluster(); c != nil {
			issue = c.Timestamp
		}
		ts, err := issue()
		return number(uint64(ts), err)
	case *WaitDurable:
		return done(true, s.WaitDurable(m.TS, i))
	}
	if r := unwrap(request); r != nil {
		return serveDo(s, r)
	}
	return &Fault{Text: "rpc: a reply where a request is due"}
}

// serveRange is serve for LockRange, KeepRange and Intend.
func serveRange(s *store.Store, o *Owner, request Message, i *kvapi.Interrupt) Message {
	lock, keep, revert, intend := s.LockRange, s.KeepRange, s.RevertRanges, s.Intend
	if c := s.Cluster(); c != nil {
		lock, keep, revert, intend = c.LockRange, c.KeepRange, c.RevertRanges, c.Intend
	}
	switch m := request.(type) {
	case *LockRange:
		res, err := lock(o, &kvapi.RangeLockRequest{Regions: m.Regions, Span: m.Span, Kind: m.Range, Reverse: m.Reverse, Mark: m.Mark, Interrupt: i})
		if err != nil {
			return NewFault(err, false)
		}
		return &Ranged{Result: res}
	case *KeepRange:
		keep(o, m.Span)
		return &Done{Yes: true}
	case *RevertRanges:
		return &Done{Yes: revert(o, m.Mark)}
	}
	m := request.(*Intend)
	return done(true, intend(o, &kvapi.LockRequest{Region: m.Region, Key: m.Key, Mode: kvapi.LockExclusive, Tag: m.Tag, Timeout: m.Timeout, Interrupt: i, Create: true}))
}

func number(n uint64, err error) Message {
	if err != nil {
		return NewFault(err, false)
	}
	return &Number{N: n}
}

func done(yes bool, err error) Message {
	if err != nil {
		return NewFault(err, false)
	}
	return &Done{Yes: yes}
}

// pageSink collects copies of the pairs of one page.
type pageSink struct {
	rows  Rows
	size  int
	ts    clock.Timestamp
	point bool // there is one pair at most: pageBytesMax does not apply
}

// Version implements kvapi.VersionSink.
func (p *pageSink) Version(ts clock.Timestamp) { p.ts = ts }

// Pair implements kvapi.Sink.
func (p *pageSink) Pair(key, value []byte) (more bool, err error) {
	p.rows.Pairs = append(p.rows.Pairs, Pair{Key: bytes.Clone(key), Value: bytes.Clone(value), TS: p.ts})
	p.size += len(key) + len(value)
	return p.point || p.size < pageBytesMax, nil
}

func serveGet(s *store.Store, m *Get, i *kvapi.Interrupt) Message {
	if len(m.Program) > 0 {
		return NewFault(errProgram, false)
	}
	page := &pageSink{point: true}
	r := &kvapi.GetRequest{Region: m.Region, Key: m.Key, TS: m.TS, Interrupt: i}
	if m.Values {
		r.Sink = page
	}
	get := s.Get
	if c := s.Cluster(); c != nil {
		get = c.Get
	}
	found, err := get(r)
	if err != nil {
		return NewFault(err, false)
	}
	if found && !m.Values {
		page.rows.Pairs = []Pair{{Key: m.Key}}
	}
	return &page.rows
}

func serveScan(s *store.Store, m *Scan, i *kvapi.Interrupt) Message {
	if len(m.Program) > 0 {
		return NewFault(errProgram, false)
	}
	page := &pageSink{point: m.Span.IsPoint()}
	scan := s.Scan
	if c := s.Cluster(); c != nil {
		scan = c.Scan
	}
	resume, err := scan(&kvapi.ScanRequest{Regions: m.Regions, Span: m.Span, Reverse: m.Reverse, WithTS: m.WithTS,
		LimitRows: m.LimitRows, LimitBytes: m.LimitBytes, TS: m.TS, Interrupt: i, Sink: page})
	if err != nil {
		return NewFault(err, false)
	}
	page.rows.Resume = resume
	return &page.rows
}

func serveLock(s *store.Store, o *Owner, m *Lock, i *kvapi.Interrupt) Message {
	if len(m.Program) > 0 {
		return NewFault(errProgram, false)
	}
	page := &pageSink{point: true}
	r := &kvapi.LockRequest{Region: m.Region, Key: m.Key, Mode: m.Mode, Wait: m.Wait, Tag: m.Tag, Timeout: m.Timeout, Interrupt: i, Delete: m.Delete, Create: m.Create}
	if m.Values {
		r.Sink = page
	}
	lock := s.Lock
	if c := s.Cluster(); c != nil {
		lock = c.Lock
	}
	res, err := lock(o, r)
	if err != nil {
		return NewFault(err, res.Waited)
	}
	reply := &Locked{Result: res}
	if len(page.rows.Pairs) > 0 {
		reply.Value = append([]byte{}, page.rows.Pairs[0].Value...)
	}
	return reply
}
