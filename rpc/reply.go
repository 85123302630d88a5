package rpc

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// Rows answers Get, with one pair or none, and Scan, with a page of pairs.
type Rows struct {
	Pairs []Pair
	// Resume is kvapi.ScanRequest's: where the next page of a Scan begins, nil if there is none.
	Resume []byte
}

// Pair is a key and its value, and the timestamp of its commit if that was asked for.
type Pair struct {
	Key, Value []byte
	TS         clock.Timestamp
}

// Locked answers Lock.
type Locked struct {
	Result kvapi.LockResult
	Value  []byte // of the newest version, if it was asked for and there is one
}

// Ranged answers LockRange.
type Ranged struct{ Result kvapi.RangeLockResult }

// Number answers Commit, Counter, AllocCounter and Timestamp.
type Number struct{ N uint64 }

// Done answers requests without a result, and DropSpan: Yes is its done.
type Done struct{ Yes bool }

// Fault answers any request that failed.
type Fault struct {
	Code   Code
	Waited bool   // of a Lock: it waited for another transaction
	Text   string // for logs, where the code says too little
	// Lock is, with CodeLocked, the lock of the other transaction; with CodeConflict its Key is the key of the conflict, and its Least the
	// timestamp of that key's newest version.
	Lock kvapi.LockInfo
}

// Code says how a request failed.
type Code byte

// The codes. They are part of the encoding: never change or reuse one.
const (
	CodeOther Code = iota // any other error; its text is in Fault.Text
	CodeEpoch
	CodeDeadlock
	CodeLockTimeout
	CodeLockNoWait
	CodeLockTableFull
	CodeInterrupted
	CodeSnapshotTooOld
	CodeWriteConflict
	CodeDiskFull
	CodeUndetermined
	CodeCorrupt
	CodeClosed
	CodeLocked
	CodeConflict
	CodeRolledBack
	CodeMaxCommit
	codeEnd
)

// codeErrors is the error of each code; nil if the error needs more of the Fault.
var codeErrors = [codeEnd]error{
	CodeEpoch: &kvapi.EpochError{}, CodeDeadlock: kvapi.ErrDeadlock, CodeLockTimeout: kvapi.ErrLockTimeout,
	CodeLockNoWait: kvapi.ErrLockNoWait, CodeLockTableFull: kvapi.ErrLockTableFull, CodeInterrupted: kvapi.ErrInterrupted,
	CodeSnapshotTooOld: kvapi.ErrSnapshotTooOld, CodeWriteConflict: kvapi.ErrWriteConflict, CodeDiskFull: kvapi.ErrDiskFull,
	CodeUndetermined: kvapi.ErrUndetermined, CodeCorrupt: kvapi.ErrCorrupt, CodeClosed: kvapi.ErrClosed,
	CodeRolledBack: kvapi.ErrRolledBack, CodeMaxCommit: kvapi.ErrMaxCommit,
}

// NewFault returns the fault that carries err.
func NewFault(err error, waited bool) *Fault {
	var epoch *kvapi.EpochError
	if errors.As(err, &epoch) {
		return &Fault{Code: CodeEpoch, Waited: waited}
	}
	var locked *kvapi.LockedError
	if errors.As(err, &locked) {
		return &Fault{Code: CodeLocked, Waited: waited, Lock: locked.Lock}
	}
	var conflict *kvapi.ConflictError
	if errors.As(err, &conflict) {
		return &Fault{Code: CodeConflict, Waited: waited, Lock: kvapi.LockInfo{Key: conflict.Key, Least: conflict.Newest}}
	}
	// An error may wrap several: the most severe comes first.
	for _, code := range []Code{CodeUndetermined, CodeCorrupt, CodeDiskFull, CodeDeadlock, CodeLockTimeout, CodeLockNoWait,
		CodeLockTableFull, CodeInterrupted, CodeSnapshotTooOld, CodeWriteConflict, CodeRolledBack, CodeMaxCommit, CodeClosed} {
		if !errors.Is(err, codeErrors[code]) {
			continue
		}
		f := &Fault{Code: code, Waited: waited}
		if err != codeErrors[code] {
			f.Text = err.Error()
		}
		return f
	}
	return &Fault{Waited: waited, Text: err.Error()}
}

// Err returns the error that the fault carries: one that wraps the code's error, if there is one, and has the text.
func (m *Fault) Err() error {
	switch err := codeErrors[m.Code]; {
	case m.Code == CodeLocked:
		return &kvapi.LockedError{Lock: m.Lock}
	case m.Code == CodeConflict:
		return &kvapi.ConflictError{Key: m.Lock.Key, Newest: m.Lock.Least}
	case err == nil:
		return errors.New(m.Text)
	case m.Text == "":
		return err
	default:
		return fmt.Errorf("%w: %s", err, m.Text)
	}
}

// Kind implements Message.
func (*Rows) Kind() Kind { return KindRows }

// Kind implements Message.
func (*Locked) Kind() Kind { return KindLocked }

// Kind implements Message.
func (*Ranged) Kind() Kind { return KindRanged }

// Kind implements Message.
func (*Number) Kind() Kind { return KindNumber }

// Kind implements Message.
func (*Done) Kind() Kind { return KindDone }

// Kind implements Message.
func (*Fault) Kind() Kind { return KindFault }

func (m *Rows) appendTo(b []byte) []byte {
	b = codec.AppendUint(b, len(m.Pairs))
	for i := range m.Pairs {
		p := &m.Pairs[i]
		b = codec.AppendUint(codec.AppendBytes(codec.AppendBytes(b, p.Key), p.Value), p.TS)
	}
	return codec.AppendOptional(b, m.Resume)
}

func (m *Rows) readFrom(d *decoder) {
	for range d.Count(3) {
		m.Pairs = append(m.Pairs, Pair{Key: d.Bytes(), Value: d.Bytes(), TS: d.TS()})
	}
	m.Resume = d.Optional()
}

func (m *Locked) appendTo(b []byte) []byte {
	r := &m.Result
	b = codec.AppendBool(codec.AppendBool(b, r.Acquired), r.Waited)
	b = codec.AppendUint(codec.AppendBool(codec.AppendUint(b, r.Version.TS), r.Version.Found), uint32(r.Version.Len))
	b = codec.AppendUint(b, r.Unsynced)
	return codec.AppendOptional(b, m.Value)
}

func (m *Locked) readFrom(d *decoder) {
	r := &m.Result
	r.Acquired, r.Waited = d.Bool(), d.Bool()
	r.Version.TS, r.Version.Found = d.TS(), d.Bool()
	length := d.Uint32()
	if length > 1<<31-1 {
		d.Fail("length of a row")
	}
	r.Version.Len, r.Unsynced, m.Value = int32(length), d.TS(), d.Optional()
}

func (m *Ranged) appendTo(b []byte) []byte {
	return codec.AppendOptional(codec.AppendUint(b, m.Result.TS), m.Result.Blocker)
}

func (m *Ranged) readFrom(d *decoder) {
	m.Result = kvapi.RangeLockResult{TS: d.TS(), Blocker: d.Optional()}
}

func (m *Number) appendTo(b []byte) []byte { return codec.AppendUint(b, m.N) }
func (m *Number) readFrom(d *decoder)      { m.N = d.Uint() }

func (m *Done) appendTo(b []byte) []byte { return codec.AppendBool(b, m.Yes) }
func (m *Done) readFrom(d *decoder)      { m.Yes = d.Bool() }

func (m *Fault) appendTo(b []byte) []byte {
	b = codec.AppendBytes(codec.AppendBool(append(b, byte(m.Code)), m.Waited), []byte(m.Text))
	if m.Code != CodeLocked && m.Code != CodeConflict {
		return b
	}
	l := &m.Lock
	b = codec.AppendUint(codec.AppendUint(codec.AppendBytes(codec.AppendBytes(b, l.Key), l.Primary), l.Start), l.Least)
	return codec.AppendBool(codec.AppendUint(codec.AppendUint(codec.AppendUint(b, l.TTL), l.Node), l.NodeEpoch), l.Async)
}

func (m *Fault) readFrom(d *decoder) {
	*m = Fault{Code: Code(d.Byte(byte(codeEnd - 1))), Waited: d.Bool(), Text: string(d.Bytes())}
	if m.Code == CodeLocked || m.Code == CodeConflict {
		m.Lock = kvapi.LockInfo{Key: d.Bytes(), Primary: d.Bytes(), Start: d.TS(), Least: d.TS(), TTL: d.Uint(), Node: d.Uint(),
			NodeEpoch: d.Uint(), Async: d.Bool()}
	}
}
