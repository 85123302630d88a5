package replica

import (
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/kvapi"
)

// Disk is what a group reads its records from: the engine, or a model of it.
type Disk interface {
	// Get returns a copy of the value of an engine key.
	Get(key []byte) (value []byte, found bool, err error)
	// Scan calls f with copies of what lies between two engine keys, in order, until f returns false.
	Scan(lower, upper []byte, f func(key, value []byte) bool) error
	// Flushed is Get of what is in tables, so that a crash does not lose it.
	Flushed(key []byte) (value []byte, found bool, err error)
}

// Records is where a group writes its records: a batch of the engine, or of a model of it.
type Records interface {
	Set(key, value []byte)
	// SetParts is Set of the concatenation of head and body.
	SetParts(key, head, body []byte)
	DeleteRange(start, end []byte)
}

// groupLog is a region's log as raft reads it: the entries after the truncated ones, on disk, and the newest also in memory. It implements
// raft.Storage. It has only entries that have been appended; raft itself keeps those that are being appended.
type groupLog struct {
	disk     Disk
	region   *kvapi.Region
	applied  applyState
	hard     *raftpb.HardState // as read from disk
	trunc    truncated
	last     uint64
	lastTerm uint64
	cache    []*raftpb.Entry // the newest entries, up to last
	bytes    int             // of their content
	held     int64           // bytes of the entries; after a truncation an estimate
}

// emptyLog returns the log of a replica that waits for its first snapshot.
func emptyLog(disk Disk, region *kvapi.Region) *groupLog {
	return &groupLog{disk: disk, region: region, hard: &raftpb.HardState{Term: new(uint64), Vote: new(uint64), Commit: new(uint64)}}
}

// openLog reads a region's log, of which the newest entries stay in memory: at most limit bytes.
func openLog(disk Disk, region *kvapi.Region, limit int) (*groupLog, error) {
	l := &groupLog{disk: disk, region: region, trunc: truncated{InitialIndex, InitialTerm}}
	term, vote, commit := uint64(InitialTerm), uint64(0), uint64(InitialIndex)
	if b, found, err := disk.Get(recordKey(region.ID, recordHard)); err != nil {
		return nil, err
	} else if found {
		n, err := decodeNumbers(b, "hard state")
		if err != nil {
			return nil, err
		}
		term, vote, commit = n[0], n[1], n[2]
	}
	if b, found, err := disk.Get(recordKey(region.ID, recordTruncated)); err != nil {
		return nil, err
	} else if found {
		n, err := decodeNumbers(b, "truncated state")
		if err != nil {
			return nil, err
		}
		l.trunc = truncated{n[0], n[1]}
	}
	l.last, l.lastTerm = l.trunc.index, l.trunc.term
	var fault error
	err := disk.Scan(entryKey(region.ID, l.trunc.index+1), entryKey(region.ID, ^uint64(0)), func(_, value []byte) bool {
		e, err := decodeEntryRecord(l.last+1, value)
		if err != nil {
			fault = err
			return false
		}
		l.last, l.lastTerm = l.last+1, e.GetTerm()
		l.held += int64(len(value))
		l.keep(e)
		l.trim(l.last, limit)
		return true
	})
	if err != nil || fault != nil {
		return nil, fmt.Errorf("replica: log of region %d: %w", region.ID, firstError(err, fault))
	}
	l.hard = &raftpb.HardState{Term: &term, Vote: &vote, Commit: &commit}
	return l, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// keep puts the newest entry into memory.
func (l *groupLog) keep(e *raftpb.Entry) {
	l.cache = append(l.cache, e)
	l.bytes += len(e.GetData())
}

// append adds entries that are being written to disk; entries that the log had at or after the first of them are replaced.
func (l *groupLog) append(entries []*raftpb.Entry) {
	first := entries[0].GetIndex()
	if n := l.last + 1 - first; l.last >= first {
		if n >= uint64(len(l.cache)) {
			l.cache, l.bytes = l.cache[:0], 0
		} else {
			for _, e := range l.cache[uint64(len(l.cache))-n:] {
				l.bytes -= len(e.GetData())
			}
			l.cache = l.cache[:uint64(len(l.cache))-n]
		}
	}
	for _, e := range entries {
		l.keep(e)
		l.held += int64(len(e.GetData()))
	}
	last := entries[len(entries)-1]
	l.last, l.lastTerm = last.GetIndex(), last.GetTerm()
}

// trim drops entries from memory up to an index, beyond so many bytes.
func (l *groupLog) trim(upTo uint64, limit int) {
	for l.bytes > limit && len(l.cache) > 0 && l.cache[0].GetIndex() <= upTo {
		l.bytes -= len(l.cache[0].GetData())
		l.cache[0] = nil
		l.cache = l.cache[1:]
	}
}

// truncate forgets the entries up to a place, which is included. Those that are left are taken to be as long as the others, but for the ones in memory.
func (l *groupLog) truncate(to truncated) {
	left := float64(l.last-to.index) / float64(l.last-l.trunc.index)
	for len(l.cache) > 0 && l.cache[0].GetIndex() <= to.index {
		l.bytes -= len(l.cache[0].GetData())
		l.cache[0] = nil
		l.cache = l.cache[1:]
	}
	l.trunc, l.held = to, max(int64(float64(l.held)*left), int64(l.bytes))
}

// cached returns the entry of an index if it is in memory.
func (l *groupLog) cached(index uint64) *raftpb.Entry {
	if len(l.cache) == 0 || index < l.cache[0].GetIndex() || index > l.last {
		return nil
	}
	return l.cache[index-l.cache[0].GetIndex()]
}

// InitialState implements raft.Storage.
func (l *groupLog) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return l.hard, confState(l.region), nil
}

// Entries implements raft.Storage.
func (l *groupLog) Entries(lo, hi, maxSize uint64) (out []*raftpb.Entry, err error) {
	switch {
	case lo <= l.trunc.index:
		return nil, raft.ErrCompacted
	case hi > l.last+1:
		return nil, raft.ErrUnavailable
	}
	size := uint64(0)
	for i := lo; i < hi; i++ {
		e := l.cached(i)
		if e == nil {
			if e, err = l.read(i); err != nil {
				return nil, err
			}
		}
		if size += uint64(len(e.GetData())); len(out) > 0 && size > maxSize {
			break
		}
		out = append(out, e)
	}
	return out, nil
}

// read reads an entry from the disk.
func (l *groupLog) read(index uint64) (*raftpb.Entry, error) {
	b, found, err := l.disk.Get(entryKey(l.region.ID, index))
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, corrupt(fmt.Sprintf("log of region %d: entry %d is missing", l.region.ID, index))
	}
	return decodeEntryRecord(index, b)
}

// Term implements raft.Storage.
func (l *groupLog) Term(index uint64) (uint64, error) {
	switch {
	case index == l.trunc.index:
		return l.trunc.term, nil
	case index == l.last:
		return l.lastTerm, nil
	case index < l.trunc.index:
		return 0, raft.ErrCompacted
	case index > l.last:
		return 0, raft.ErrUnavailable
	case l.trunc.term == l.lastTerm:
		return l.lastTerm, nil // terms rise along a log; to read an entry for that may take as much memory as the entry does
	}
	if e := l.cached(index); e != nil {
		return e.GetTerm(), nil
	}
	e, err := l.read(index)
	return e.GetTerm(), err
}

// LastIndex implements raft.Storage.
func (l *groupLog) LastIndex() (uint64, error) { return l.last, nil }

// FirstIndex implements raft.Storage.
func (l *groupLog) FirstIndex() (uint64, error) { return l.trunc.index + 1, nil }

// Snapshot implements raft.Storage: it returns only the index and term of the state as it is applied now. The group's driver sends the state
// itself, as it is by then.
func (l *groupLog) Snapshot() (*raftpb.Snapshot, error) {
	index, term := l.applied.index, l.applied.term
	return &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{ConfState: confState(l.region), Index: &index, Term: &term}}, nil
}

// restart empties the log after the state has been replaced by a snapshot: it goes on after the snapshot's index.
func (l *groupLog) restart(region *kvapi.Region, s applyState) {
	l.region, l.applied = region, s
	l.trunc = truncated{s.index, s.term}
	l.last, l.lastTerm = s.index, s.term
	l.cache, l.bytes, l.held = nil, 0, 0
}
