package store

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// errOvertaken: the safepoint passed the timestamp of a read before it had its
// iterator. A read at the watermark tries again with a fresh one.
var errOvertaken = errors.New("store: safepoint passed the read")

// Get reads one key. It takes no lock and, at the watermark, needs no registered
// snapshot: if the safepoint is at or below the timestamp after the iterator was
// made, nothing that the read needs had been deleted (S4).
func (s *Store) Get(r *kvapi.GetRequest) (found bool, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return false, err
	}
	if r.TS != 0 {
		found, err = s.getAt(r, r.TS)
		return found, tooOld(err)
	}
	for {
		// The watermark is at or above every safepoint published before, so only a
		// collection that begins right now can make this repeat.
		found, err = s.getAt(r, s.Watermark())
		if err != errOvertaken {
			return found, err
		}
	}
}

// tooOld translates errOvertaken for a read at a timestamp that the caller has chosen.
func tooOld(err error) error {
	if err == errOvertaken {
		return kvapi.ErrSnapshotTooOld
	}
	return err
}

// getAt reads one key at ts and hands the row to the sink.
func (s *Store) getAt(r *kvapi.GetRequest, ts clock.Timestamp) (found bool, err error) {
	if row, _ := s.cachedRow(r.Key, ts); row != nil {
		defer s.rowBuffers.Put(row)
		// As with an iterator: what was read before a split serves both halves.
		if !s.regions.Load().holds(r.Region, r.Key) {
			return false, errEpoch
		}
		if r.Sink != nil {
			_, err = r.Sink.Pair(r.Key, *row)
		}
		return true, err
	}
	it, err := s.lookupIter(r.Hold, ts, r.Key)
	if err != nil {
		return false, err
	}
	if r.Hold == nil {
		defer it.Close() // its error would repeat one that the read has returned
	}
	if !s.regions.Load().holds(r.Region, r.Key) {
		return false, errEpoch
	}
	row, version, found, err := mvcc.Get(it, r.Key, ts)
	if err != nil {
		return false, s.readError(err)
	}
	if !found {
		return false, nil
	}
	// When ts was chosen, all commits at or below it were recorded, so that it is the
	// bound that Fill needs (rowcache C3). kvapi.Latest is no bound.
	if ts != kvapi.Latest {
		s.rows.Fill(r.Key, row, version, uint64(ts))
	}
	if r.Sink != nil {
		_, err = r.Sink.Pair(r.Key, row)
	}
	return true, err
}

// cachedRow returns a copy of the row of key that is visible at ts, and the
// timestamp of its version, if the row cache has it. The copy goes back to
// s.rowBuffers.
func (s *Store) cachedRow(key []byte, ts clock.Timestamp) (row *[]byte, version clock.Timestamp) {
	row = s.rowBuffers.Get().(*[]byte)
	var ok bool
	if *row, version, ok = s.rows.Get((*row)[:0], key, ts); !ok {
		s.rowBuffers.Put(row)
		return nil, 0
	}
	return row, version
}

// readIter returns an iterator for reads at ts within bounds. The hold, which may
// be nil, keeps it for the next read of the page; without one the caller closes
// it. Callers check the regions after this: an iterator made before a split
// serves both halves.
func (s *Store) readIter(h *kvapi.Hold, ts clock.Timestamp, lower, upper []byte) (*engine.Iter, error) {
	if h != nil && h.TS == ts {
		if it, held := h.Iter.(*engine.Iter); held {
			it.SetBounds(lower, upper)
			return it, nil
		}
	}
	return s.newIter(h, ts, engine.IterOptions{Lower: lower, Upper: upper})
}

// lookupIter is readIter for a lookup of one key, which may skip memtables that do
// not have it.
func (s *Store) lookupIter(h *kvapi.Hold, ts clock.Timestamp, key []byte) (*engine.Iter, error) {
	if h != nil && h.TS == ts {
		if it, held := h.Tables.(*engine.Iter); held && it.Shows(key) {
			return it, nil
		}
		if it, held := h.Iter.(*engine.Iter); held {
			it.SetBounds(nil, nil)
			return it, nil
		}
	}
	return s.newIter(h, ts, engine.IterOptions{Only: key})
}

// newIter makes an iterator for reads at ts. The hold, if there is one, keeps it.
func (s *Store) newIter(h *kvapi.Hold, ts clock.Timestamp, o engine.IterOptions) (*engine.Iter, error) {
	it, err := s.engine.NewIter(o)
	if err != nil {
		return nil, s.readError(err)
	}
	if err := s.passed(ts); err != nil {
		_ = it.Close()
		return nil, err
	}
	if h == nil {
		return it, nil
	}
	if h.TS != ts {
		h.Rest()
		h.TS = ts
	}
	held := &h.Iter
	if it.TablesOnly() {
		held = &h.Tables
	}
	if *held != nil {
		_ = (*held).Close() // its error would repeat one that a read has returned
	}
	*held = it
	return it, nil
}

// readError wraps an error of a read.
func (s *Store) readError(err error) error {
	if errors.Is(err, mvcc.ErrCorrupt) || errors.Is(err, engine.ErrCorrupt) {
		return fmt.Errorf("store: %w: %w", kvapi.ErrCorrupt, err)
	}
	return fmt.Errorf("store: read: %w", err)
}

// scanPollRows is how many delivered rows pass between two polls of the
// interrupt; the scanner polls on its own on long walks over invisible versions.
const scanPollRows = 64

// scanState is the pooled state of reading one page.
type scanState struct {
	scanner      mvcc.Scanner
	lower, upper []byte
	intr         *kvapi.Interrupt
	poll         func() error // a method value, made once
}

func newScanState() any {
	st := &scanState{}
	st.poll = func() error { return st.intr.Err() }
	return st
}

// Scan reads one page. The resume key is nil once the span is exhausted; it
// belongs to the caller.
func (s *Store) Scan(r *kvapi.ScanRequest) (resume []byte, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return nil, err
	}
	if r.Span.Empty() {
		return nil, nil
	}
	if r.TS != 0 {
		resume, err = s.scanAt(r, r.TS)
		return resume, tooOld(err)
	}
	for {
		resume, err = s.scanAt(r, s.Watermark())
		if err != errOvertaken {
			return resume, err
		}
	}
}

// scanAt reads one page at ts.
func (s *Store) scanAt(r *kvapi.ScanRequest, ts clock.Timestamp) (resume []byte, err error) {
	if r.Span.IsPoint() {
		if len(r.Regions) != 1 {
			return nil, errEpoch
		}
		get := kvapi.GetRequest{Region: r.Regions[0], Key: r.Span.Start, Interrupt: r.Interrupt, Sink: r.Sink, Hold: r.Hold}
		_, err = s.getAt(&get, ts)
		return nil, err
	}
	st := s.scans.Get().(*scanState)
	st.lower = keys.VersionPrefix(st.lower[:0], r.Span.Start)
	if len(r.Span.End) == 0 {
		st.upper = keys.SpaceEnd(st.upper[:0], keys.SpaceVersion)
	} else {
		st.upper = keys.VersionPrefix(st.upper[:0], r.Span.End)
	}
	it, err := s.readIter(r.Hold, ts, st.lower, st.upper)
	if err != nil {
		s.scans.Put(st)
		return nil, err
	}
	defer func() {
		st.scanner.Drop()
		st.intr = nil
		s.scans.Put(st)
		if r.Hold == nil {
			_ = it.Close() // its error would repeat one that the scan has returned
		}
	}()
	if !s.regions.Load().covers(r.Regions, r.Span) {
		return nil, errEpoch
	}
	st.intr = r.Interrupt
	st.scanner.Init(it, ts, r.Reverse, st.poll)
	return s.deliver(r, &st.scanner)
}

// passed returns errOvertaken if the safepoint has passed ts: versions that a read
// at ts needs may have been deleted before its iterator was made.
func (s *Store) passed(ts clock.Timestamp) error {
	if s.safepoint.Load() > uint64(ts) {
		return errOvertaken
	}
	return nil
}

// deliver hands rows to the sink until the page ends.
func (s *Store) deliver(r *kvapi.ScanRequest, sc *mvcc.Scanner) (resume []byte, err error) {
	var versions kvapi.VersionSink
	if r.WithTS {
		versions = r.Sink.(kvapi.VersionSink)
	}
	rows, bytes := 0, 0
	for sc.Next() {
		key, row := sc.Key(), sc.Row()
		if versions != nil {
			versions.Version(sc.TS())
		}
		more, err := r.Sink.Pair(key, row)
		if err != nil {
			return nil, err
		}
		rows++
		bytes += len(key) + len(row)
		if !more || (r.LimitRows > 0 && rows >= r.LimitRows) || (r.LimitBytes > 0 && bytes >= r.LimitBytes) {
			return kvapi.ResumeAfter(key, r.Reverse), nil
		}
		if rows%scanPollRows == 0 {
			if err := r.Interrupt.Err(); err != nil {
				return nil, err
			}
		}
	}
	if err := sc.Err(); err != nil {
		if errors.Is(err, kvapi.ErrInterrupted) {
			return nil, err
		}
		return nil, s.readError(err)
	}
	return nil, nil
}

// Lock locks a key and reads its newest version. That may not be synced yet: the
// caller waits until the watermark covers Version.TS before it shows it to a client.
func (s *Store) Lock(o *Owner, r *kvapi.LockRequest) (res kvapi.LockResult, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return res, err
	}
	if s.isClosing() {
		return res, kvapi.ErrClosed
	}
	// Regions are checked first: if the caller's are outdated, the lock may belong on
	// another store.
	if !s.regions.Load().holds(r.Region, r.Key) {
		return res, errEpoch
	}
	h, waited, err := s.locks.acquire(o, r, s.closing)
	if h == nil {
		return kvapi.LockResult{Waited: waited}, err
	}
	// The wait may have been long, and the region may have been split or moved meanwhile. The caller looks up
	// the key's region again, and asks there.
	if waited && !s.regions.Load().holds(r.Region, r.Key) {
		s.locks.forgetNew(o, h)
		return kvapi.LockResult{Waited: true}, errEpoch
	}
	if r.Tag == 0 {
		h.tag = 0 // it stays until the end of the transaction, even if a statement took it first with a tag of its own
	}
	res.Waited = waited
	if r.Mode == kvapi.LockExclusive && s.locks.ranges.on.Load() && s.locks.ranges.conflict(o, r.Key, accessChange) {
		if res.Acquired, err = s.lockRanged(o, h, r); err != nil || !res.Acquired {
			return res, err
		}
	}
	res.Acquired = true
	res.Version, err = s.latest(o, h, r)
	res.Unsynced = res.Version.TS
	return res, err
}

// lockRanged waits, while the owner has the key's lock, until no range of others conflicts with a change of the key. A key that does not exist is
// not waited for: Intend is called before it is inserted.
func (s *Store) lockRanged(o *Owner, h *heldLock, r *kvapi.LockRequest) (acquired bool, err error) {
	probe := *r
	probe.Sink = nil
	version, err := s.latest(o, h, &probe)
	if err != nil || !version.Found {
		return err == nil, err
	}
	return s.waitRanged(o, r)
}

// waitRanged waits for the ranges that conflict with a change of a key that exists and is locked.
func (s *Store) waitRanged(o *Owner, r *kvapi.LockRequest) (acquired bool, err error) {
	err = s.locks.awaitRanges(o, r, accessChange, false, s.closing)
	if err == kvapi.ErrLockNoWait {
		s.locks.release(o, r.Key, r.Tag)
		if r.Wait == kvapi.WaitSkip {
			err = nil
		}
		return false, err
	}
	return err == nil, err
}

// latest reads the newest version of a key that the owner has locked, and notes
// it in the lock.
func (s *Store) latest(o *Owner, h *heldLock, r *kvapi.LockRequest) (kvapi.Version, error) {
	if row, ts := s.cachedRow(r.Key, kvapi.Latest); row != nil {
		defer s.rowBuffers.Put(row)
		return s.deliverLocked(o, h, r, *row, ts, true)
	}
	if s.frontiers.beyond(r.Key) {
		return s.deliverLocked(o, h, r, nil, 0, false)
	}
	// A transaction that wrote the key released its lock after applying, recording
	// it in the cache and raising applied. So an iterator made from now on shows it.
	applied := clock.Timestamp(s.applied.Load())
	bulk := len(o.held) >= bulkLocksMin
	it, err := s.latestIter(o, r.Key, bulk, applied)
	if err != nil {
		return kvapi.Version{}, s.readError(err)
	}
	if !bulk {
		defer it.Close() // its error would repeat one that the read has returned
	}
	row, ts, found, err := mvcc.Latest(it, r.Key)
	if err == nil && ts == 0 {
		err = s.frontiers.learn(s.engine, r.Key)
	}
	if err != nil {
		return kvapi.Version{}, s.readError(err)
	}
	if found && !bulk && !r.Delete {
		s.rows.Fill(r.Key, row, ts, uint64(applied))
	}
	return s.deliverLocked(o, h, r, row, ts, found)
}

// deliverLocked notes in the lock which version was read, and hands its row to the
// request's sink.
func (s *Store) deliverLocked(o *Owner, h *heldLock, r *kvapi.LockRequest, row []byte, ts clock.Timestamp, found bool) (v kvapi.Version, err error) {
	v = kvapi.Version{TS: ts, Found: found, Len: int32(len(row))}
	h.version, h.read = v, true
	if found && r.Sink != nil {
		_, err = r.Sink.Pair(r.Key, row)
	}
	return v, err
}

// latestIter returns an iterator that shows all commits of key up to applied,
// which the caller has loaded before. With bulk the owner keeps it, and reads
// further keys by it as long as nothing is committed.
func (s *Store) latestIter(o *Owner, key []byte, bulk bool, applied clock.Timestamp) (it *engine.Iter, err error) {
	if !bulk {
		return s.engine.NewIter(engine.IterOptions{Only: key})
	}
	if o.bulk != nil && o.bulkAt == applied {
		return o.bulk, nil
	}
	o.rest()
	if it, err = s.engine.NewIter(engine.IterOptions{}); err == nil {
		o.bulk, o.bulkAt = it, applied
	}
	return it, err
}

// Rest closes the iterator that locking reads of a statement share, at its end.
func (s *Store) Rest(o *Owner) { o.rest() }

// Unlock drops the lock of a key if the owner took it with this tag.
func (s *Store) Unlock(o *Owner, key []byte, tag uint32) { s.locks.release(o, key, tag) }

// ReleaseLocks drops all locks of the owner, at rollback.
func (s *Store) ReleaseLocks(o *Owner) {
	o.rest()
	if len(o.held) > 0 || o.ranges.table != nil {
		o.releaseAll()
	}
}

// OpenOwner prepares an owner for a transaction with this id.
func (s *Store) OpenOwner(o *Owner, id uint64) { o.open(id) }
