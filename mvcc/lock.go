package mvcc

import (
	"encoding/binary"
	"fmt"

	"github.com/pandodb/pando/clock"
)

const (
	lockFormat   = 1
	recordFormat = 1

	lockDelete     = 0x01
	lockAsync      = 0x02
	lockFlagsKnown = lockDelete | lockAsync

	// lockKeysMax bounds the secondaries of a lock, so that a damaged count allocates nothing.
	lockKeysMax = 1 << 12
)

// Lock is the lock that a transaction over several regions has on a key that it writes, until it is committed or rolled back. A transaction
// that finds one asks at Primary what became of its owner.
type Lock struct {
	Start clock.Timestamp // names the transaction
	// Least is the timestamp of the prewrite: the transaction commits at or above it, so readers below it need not wait.
	Least clock.Timestamp
	// TTL is the time in milliseconds after Start, by the timestamps' physical time, from which on the coordinator counts as dead. Only that
	// of the primary's lock matters.
	TTL uint64
	// Node and NodeEpoch say where the coordinator runs.
	Node, NodeEpoch uint64
	Primary         []byte
	// Async: the transaction is committed once all of its keys are locked. The primary's lock lists the other keys then.
	Async       bool
	Secondaries [][]byte
	// Delete and Value are the content of the version that the commit makes of the lock.
	Delete bool
	Value  []byte
}

// Append appends the lock's stored form; doc.go has the format.
func (l *Lock) Append(b []byte) []byte {
	flags := byte(0)
	if l.Delete {
		flags |= lockDelete
	}
	if l.Async {
		flags |= lockAsync
	}
	b = append(b, lockFormat, flags)
	for _, n := range []uint64{uint64(l.Start), uint64(l.Least), l.TTL, l.Node, l.NodeEpoch} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendString(b, l.Primary)
	b = binary.AppendUvarint(b, uint64(len(l.Secondaries)))
	for _, key := range l.Secondaries {
		b = appendString(b, key)
	}
	return append(b, l.Value...)
}

// Expired reports whether the coordinator counts as dead at a timestamp.
func (l *Lock) Expired(now clock.Timestamp) bool {
	return uint64(now.PhysicalMillis()) > uint64(l.Start.PhysicalMillis())+l.TTL
}

// DecodeLock decodes a stored lock. Its slices alias b.
func DecodeLock(b []byte) (l Lock, err error) {
	if len(b) < 2 || b[0] != lockFormat || b[1]&^lockFlagsKnown != 0 {
		return Lock{}, fmt.Errorf("%w: lock of %d bytes", ErrCorrupt, len(b))
	}
	l.Delete, l.Async = b[1]&lockDelete != 0, b[1]&lockAsync != 0
	r := fields{rest: b[2:]}
	l.Start, l.Least = r.timestamp(), r.timestamp()
	l.TTL, l.Node, l.NodeEpoch = r.number(), r.number(), r.number()
	l.Primary = r.string()
	n := r.number()
	if n > lockKeysMax || n > uint64(len(r.rest)) || n > 0 && !l.Async {
		r.bad = true
	}
	for range n {
		if r.bad {
			break
		}
		l.Secondaries = append(l.Secondaries, r.string())
	}
	l.Value = r.rest
	if r.bad || l.Start == 0 || l.Least <= l.Start || len(l.Primary) == 0 || l.Delete && len(l.Value) > 0 {
		return Lock{}, fmt.Errorf("%w: lock", ErrCorrupt)
	}
	return l, nil
}

// Fate is how a transaction over several regions ended, according to a record.
type Fate byte

// The fates. They are on disk: never reuse one.
const (
	FateUnknown    Fate = iota // there is no record
	FateCommitted              // written with the primary's version
	FateRolledBack             // a marker: a late prewrite of the key is refused
)

// Record says how a transaction ended at one of its keys.
type Record struct {
	Fate   Fate
	Commit clock.Timestamp // zero unless committed
}

// Append appends the record's stored form; doc.go has the format.
func (r Record) Append(b []byte) []byte {
	return binary.AppendUvarint(append(b, recordFormat, byte(r.Fate)), uint64(r.Commit))
}

// DecodeRecord decodes a stored record.
func DecodeRecord(b []byte) (Record, error) {
	if len(b) < 3 || b[0] != recordFormat {
		return Record{}, fmt.Errorf("%w: record of %d bytes", ErrCorrupt, len(b))
	}
	f := fields{rest: b[2:]}
	r := Record{Fate: Fate(b[1]), Commit: f.timestamp()}
	if f.bad || len(f.rest) > 0 || r.Fate != FateCommitted && r.Fate != FateRolledBack || (r.Fate == FateCommitted) != (r.Commit != 0) {
		return Record{}, fmt.Errorf("%w: record", ErrCorrupt)
	}
	return r, nil
}

func appendString(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// fields decodes the fields of stored bytes. After the first fault bad is set and all further fields are zero.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number() uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

func (f *fields) timestamp() clock.Timestamp {
	v := f.number()
	if v > uint64(clock.MaxTimestamp) {
		f.bad = true
		return 0
	}
	return clock.Timestamp(v)
}

func (f *fields) string() []byte {
	n := f.number()
	if n > uint64(len(f.rest)) {
		f.bad, f.rest = true, nil
		return nil
	}
	s := f.rest[:n:n]
	f.rest = f.rest[n:]
	return s
}

// CommitOf returns the timestamp at which the transaction that began at start wrote a version of key, zero if it did not. It reads the
// versions above start, one by one.
func CommitOf(it Iterator, key []byte, start clock.Timestamp) (clock.Timestamp, error) {
	v, found, err := Read(it, key, clock.MaxTimestamp)
	for ; err == nil && found && v.TS > start; v, err = current(it) {
		if v.Start == start {
			return v.TS, nil
		}
		if !it.Next() {
			return 0, it.Error()
		}
	}
	return 0, err
}
