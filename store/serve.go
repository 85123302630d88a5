package store

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/txn/commit"
)

const (
	// markWait is how long a reader waits for a mark before it checks the region again: normally the mark's entry takes as long as a sync.
	markWait = time.Second
	// lockWait is how long a reader waits for a lock before it gets a LockedError and resolves it: normally the coordinator is about to finish.
	lockWait = 5 * time.Millisecond
)

// visit is a read request at a region that this store leads.
type visit struct {
	c    *Cluster
	r    *clusterRegion
	line replica.Line
	ref  kvapi.RegionRef
	term uint64
}

// enter begins a request. What it reads may be answered only if still returns nil afterwards.
func (c *Cluster) enter(ref kvapi.RegionRef) (v visit, err error) {
	v = visit{c: c, r: c.region(ref.ID), line: c.lines.Line(ref.ID), ref: ref}
	if v.r == nil || v.line == nil || v.r.desc.Load().Ref() != ref {
		return v, errEpoch
	}
	var leads bool
	if v.term, leads = v.line.Term(); !leads {
		return v, errEpoch
	}
	return v, nil
}

// still returns an error unless the region is the same, and led here in the same term, as when the request began, and the lease is held.
func (v *visit) still() error {
	if term, leads := v.line.Term(); !leads || term != v.term || v.r.desc.Load().Ref() != v.ref {
		return errEpoch
	}
	return v.c.mayAnswer()
}

// await returns once a read of a key, or of a span, at ts has no mark or lock to wait for. A lock that stays for lockWait is a LockedError.
func (c *Cluster) await(v *visit, s kvapi.Span, ts clock.Timestamp, i *kvapi.Interrupt) error {
	p := v.r.pending.Load()
	for {
		var o *obstacle
		if s.IsPoint() {
			o = p.at(s.Start, ts, 0)
		} else {
			o = p.within(s, ts, 0)
		}
		if o == nil {
			return nil
		}
		patience := markWait
		if o.lock != nil {
			patience = lockWait
			c.stats.LockWaits.Inc()
		} else {
			c.stats.MarkWaits.Inc()
		}
		gone, err := p.wait(o, patience, i, c.s.closing)
		if err != nil {
			return err
		}
		if !gone && o.lock != nil {
			return &kvapi.LockedError{Lock: commit.Describe([]byte(o.key), &o.lock.Lock)}
		}
		if err := v.still(); err != nil {
			return err
		}
	}
}

// Get reads one key at a timestamp that was issued before, or its latest version.
func (c *Cluster) Get(r *kvapi.GetRequest) (found bool, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return false, err
	}
	v, err := c.enter(r.Region)
	if err != nil {
		return false, err
	}
	if !v.r.desc.Load().Contains(r.Key) {
		return false, errEpoch
	}
	if err := c.await(&v, kvapi.Span{Start: r.Key}, r.TS, r.Interrupt); err != nil {
		return false, err
	}
	_, found, err = c.readKey(&v, r.Key, r.TS, true, r.Sink)
	return found, err
}

// readKey reads what is visible of a key at ts, after await, and hands it to the sink. cache: the row may be offered to the row cache.
func (c *Cluster) readKey(v *visit, key []byte, ts clock.Timestamp, cache bool, sink kvapi.Sink) (version kvapi.Version, found bool, err error) {
	if row, at := c.s.cachedRow(key, ts); row != nil {
		defer c.s.rowBuffers.Put(row)
		if err := c.readable(v, ts); err != nil {
			return version, false, err
		}
		if sink != nil {
			_, err = sink.Pair(key, *row)
		}
		return kvapi.Version{TS: at, Found: true, Len: int32(len(*row))}, true, err
	}
	bound := c.recorded.Load()
	it, err := c.s.engine.NewIter(engine.IterOptions{Only: key})
	if err != nil {
		return version, false, c.s.readError(err)
	}
	defer it.Close() // its error would repeat one that the read has returned
	if err := c.readable(v, ts); err != nil {
		return version, false, err
	}
	row, newest, found, err := mvcc.Latest(it, key)
	at := newest
	if err == nil && newest > ts {
		row, at, found, err = mvcc.Get(it, key, ts)
	}
	if err != nil {
		return version, false, c.s.readError(err)
	}
	if found && cache && at == newest {
		c.s.rows.Fill(key, row, at, bound)
	}
	if found && sink != nil {
		_, err = sink.Pair(key, row)
	}
	return kvapi.Version{TS: at, Found: found, Len: int32(len(row))}, found, err
}

// readable returns an error unless an iterator that was made before the call shows the region's state at ts.
func (c *Cluster) readable(v *visit, ts clock.Timestamp) error {
	if v.r.gcPoint.Load() > uint64(ts) {
		return kvapi.ErrSnapshotTooOld
	}
	return v.still()
}

// Scan reads one page of a span that lies in one region.
func (c *Cluster) Scan(r *kvapi.ScanRequest) (resume []byte, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return nil, err
	}
	if len(r.Regions) != 1 {
		return nil, errEpoch
	}
	if r.Span.IsPoint() {
		get := kvapi.GetRequest{Region: r.Regions[0], Key: r.Span.Start, TS: r.TS, Interrupt: r.Interrupt, Sink: r.Sink}
		_, err = c.Get(&get)
		return nil, err
	}
	v, err := c.enter(r.Regions[0])
	if err != nil {
		return nil, err
	}
	if !covers(v.r.desc.Load(), r.Span) {
		return nil, errEpoch
	}
	if err := c.await(&v, r.Span, r.TS, r.Interrupt); err != nil {
		return nil, err
	}
	st := c.s.scans.Get().(*scanState)
	st.lower = keys.VersionPrefix(st.lower[:0], r.Span.Start)
	if len(r.Span.End) == 0 {
		st.upper = keys.SpaceEnd(st.upper[:0], keys.SpaceVersion)
	} else {
		st.upper = keys.VersionPrefix(st.upper[:0], r.Span.End)
	}
	it, err := c.s.engine.NewIter(engine.IterOptions{Lower: st.lower, Upper: st.upper})
	if err != nil {
		c.s.scans.Put(st)
		return nil, c.s.readError(err)
	}
	defer func() {
		st.scanner.Drop()
		st.intr = nil
		c.s.scans.Put(st)
		_ = it.Close() // its error would repeat one that the scan has returned
	}()
	if err := c.readable(&v, r.TS); err != nil {
		return nil, err
	}
	st.intr = r.Interrupt
	st.scanner.Init(it, r.TS, r.Reverse, st.poll)
	return c.s.deliver(r, &st.scanner)
}

// covers reports whether a span lies in a region.
func covers(r *kvapi.Region, s kvapi.Span) bool {
	return r.Contains(s.Start) && (len(r.End) == 0 || len(s.End) > 0 && string(s.End) <= string(r.End))
}

// Lock locks a key in the store's lock table and reads its newest version. What it reads is durable.
func (c *Cluster) Lock(o *Owner, r *kvapi.LockRequest) (res kvapi.LockResult, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return res, err
	}
	v, err := c.enter(r.Region)
	if err != nil {
		return res, err
	}
	if !v.r.desc.Load().Contains(r.Key) {
		return res, errEpoch
	}
	h, waited, err := c.s.locks.acquire(o, r, c.s.closing)
	if h == nil {
		return kvapi.LockResult{Waited: waited}, err
	}
	if r.Tag == 0 {
		h.tag = 0 // it stays until the end of the transaction, even if a statement took it first with a tag of its own
	}
	if r.Mode == kvapi.LockExclusive && c.s.locks.ranges.on.Load() && c.s.locks.ranges.conflict(o, r.Key, accessChange) {
		if res.Acquired, err = c.lockRanged(&v, o, r); err != nil || !res.Acquired {
			res.Waited = waited
			return res, err
		}
	}
	// Loaded before marks and locks are looked at: changes that are not recorded completely yet still have theirs (S16).
	asOf := c.recorded.Load()
	// The wait may have been long, and the region may have another leader by now.
	if err = v.still(); err == nil {
		err = c.await(&v, kvapi.Span{Start: r.Key}, kvapi.Latest, r.Interrupt)
	}
	var version kvapi.Version
	if err == nil {
		version, err = c.newest(&v, r)
	}
	if err != nil {
		c.s.locks.forgetNew(o, h)
		return kvapi.LockResult{Waited: waited}, err
	}
	h.version, h.asOf, h.read = version, asOf, true
	return kvapi.LockResult{Acquired: true, Waited: waited, Version: h.version}, nil
}

// newest reads the newest version of a key that is locked.
func (c *Cluster) newest(v *visit, r *kvapi.LockRequest) (kvapi.Version, error) {
	if c.s.frontiers.beyond(r.Key) {
		return kvapi.Version{}, v.still()
	}
	version, _, err := c.readKey(v, r.Key, kvapi.Latest, !r.Delete, r.Sink)
	if err != nil || version.TS != 0 {
		return version, err
	}
	if err := c.s.frontiers.learn(c.s.engine, r.Key); err != nil {
		return version, c.s.readError(err)
	}
	return version, nil
}

// lockRanged is Store.lockRanged.
func (c *Cluster) lockRanged(v *visit, o *Owner, r *kvapi.LockRequest) (acquired bool, err error) {
	if err := c.await(v, kvapi.Span{Start: r.Key}, kvapi.Latest, r.Interrupt); err != nil {
		return false, err
	}
	if _, found, err := c.readKey(v, r.Key, kvapi.Latest, false, nil); err != nil || !found {
		return err == nil, err
	}
	return c.s.waitRanged(o, r)
}

// Relied fills in which versions a commit's mutations expect, and returns checks of the keys and ranges that the owner has locked and does not
// write: safety does not rest on locks in memory (package commit, C7). asOf is a value of Cluster.recorded at which all of them held.
func (c *Cluster) Relied(o *Owner, mutations []kvapi.Mutation) (checks []kvapi.Check, asOf uint64) {
	asOf = c.recorded.Load()
	written := 0
	for i := range mutations {
		m := &mutations[i]
		h := o.find(c.s.locks.hash(m.Key), m.Key)
		if h == nil || !h.read {
			continue
		}
		m.Expect, m.Prev, m.PrevLen, m.Shadow = kvapi.ExpectNotAbove, h.version.TS, h.version.Len, kvapi.ShadowNone
		if h.version.Found {
			m.Expect, m.Shadow = kvapi.ExpectVersion, kvapi.ShadowAt
		}
		asOf = min(asOf, h.asOf)
		written++
	}
	checks = append(checks, o.relied.checks...)
	if written == o.live {
		return checks, asOf
	}
	for i := range o.held {
		h := &o.held[i]
		if h.entry == nil || !h.read || wrote(mutations, h.entry.key) {
			continue
		}
		checks = append(checks, kvapi.Check{Span: kvapi.Span{Start: append([]byte(nil), h.entry.key...)}, Seen: h.version.TS, Live: h.version.Found})
		asOf = min(asOf, h.asOf)
	}
	return checks, asOf
}

// wrote reports whether one of the mutations, which ascend, is of the key.
func wrote(mutations []kvapi.Mutation, key []byte) bool {
	lo, hi := 0, len(mutations)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if string(mutations[mid].Key) < string(key) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(mutations) && string(mutations[lo].Key) == string(key)
}

// plain is the proposal of a command that needs no evaluation.
type plain struct {
	region  kvapi.RegionRef
	command replica.Command
	alone   bool
	result  replica.Result
}

// Size implements replica.Proposal.
func (p *plain) Size() int { return 64 }

// Alone implements replica.Proposal.
func (p *plain) Alone() bool { return p.alone }

// Prepare implements replica.Proposal.
func (p *plain) Prepare(t replica.Turn) (timestamps int, err error) {
	if t.Region.Ref() != p.region {
		return 0, errEpoch
	}
	return 0, nil
}

// Command implements replica.Proposal.
func (p *plain) Command(clock.Timestamp) (replica.Proposed, error) { return p.command, nil }

// Finish implements replica.Proposal.
func (p *plain) Finish(r replica.Result, _ error) { p.result = r }

// propose proposes a command that needs no evaluation.
func (c *Cluster) propose(ref kvapi.RegionRef, command replica.Command, alone bool) (replica.Result, error) {
	line := c.lines.Line(ref.ID)
	if line == nil {
		return replica.Result{}, errEpoch
	}
	p := plain{region: ref, command: command, alone: alone}
	err := line.Do(&p)
	return p.result, err
}

// AllocCounter takes numbers of a counter; it returns the first of them once that is durable.
func (c *Cluster) AllocCounter(ref kvapi.RegionRef, r *kvapi.CounterAllocRequest) (first uint64, err error) {
	res, err := c.propose(ref, &replica.Alloc{Key: r.Key, Least: r.Least, N: r.N}, false)
	return res.Number, err
}

// Counter returns the value of a counter.
func (c *Cluster) Counter(ref kvapi.RegionRef, key []byte) (uint64, error) {
	v, err := c.enter(ref)
	if err != nil {
		return 0, err
	}
	n, err := c.s.counters.load(key)
	if err != nil {
		return 0, err
	}
	return n, v.still()
}

// DropCounters deletes the counters in a span that lies in one region.
func (c *Cluster) DropCounters(ref kvapi.RegionRef, span kvapi.Span) error {
	_, err := c.propose(ref, &replica.DropCounters{Span: span}, false)
	return err
}

// DropSpan deletes all versions in a span that lies in one region, once nobody reads below ts. done is false while somebody may. Nobody may begin
// to write there any more. If a commit that is being finished still has a lock there, it returns a LockedError: that commit's version would come
// after the deletion, and stay for ever.
func (c *Cluster) DropSpan(ref kvapi.RegionRef, span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	v, err := c.enter(ref)
	if err != nil {
		return false, err
	}
	switch oldest, err := c.oldest(); {
	case err != nil:
		return false, err
	case oldest < ts:
		return false, nil
	}
	if err := c.await(&v, span, kvapi.Latest, nil); err != nil {
		return false, err
	}
	_, err = c.propose(ref, &replica.DropSpan{Span: span}, true)
	return err == nil, err
}
