package exec

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Limits of one page of a scan.
const (
	pageRowsMax   = types.MaxBatchRows
	pageRowsFirst = 64        // with a LIMIT behind a filter: pages start small and double
	pageBytesMax  = 256 << 10 // what a page may hold of large rows
)

// snapshotTS returns the timestamp of the statement's reads outside a transaction. The
// snapshot is registered on first use and closed by Run.
func (rt *Runtime) snapshotTS() clock.Timestamp {
	if rt.at != 0 {
		return rt.at // the statement keeps the snapshot
	}
	if rt.snapshot == nil {
		rt.snapshot = rt.Manager.OpenSnapshot()
	}
	return rt.snapshot.TS()
}

func (rt *Runtime) closeSnapshot() {
	if rt.snapshot != nil {
		rt.snapshot.Close()
		rt.snapshot = nil
	}
}

// scan reads one page. latest asks for the candidates of a scanning write.
func (rt *Runtime) scan(r *txn.ScanRequest, latest bool) (resume []byte, err error) {
	r.Interrupt = rt.Interrupt
	if rt.running != nil {
		rt.running.Reads++
	}
	switch {
	case rt.Txn == nil:
		r.TS = rt.snapshotTS()
		return rt.Manager.Scan(r)
	case latest:
		return rt.Txn.ScanLatest(r)
	}
	return rt.Txn.Scan(r)
}

// get reads one key. hold, which may be nil, is shared by the reads of a page.
func (rt *Runtime) get(key []byte, hold *kvapi.Hold, sink kvapi.Sink, latest bool) (found bool, err error) {
	if rt.running != nil {
		rt.running.Reads++
	}
	switch {
	case rt.Txn == nil:
		return rt.Manager.GetAt(rt.snapshotTS(), key, rt.Interrupt, hold, sink)
	case latest:
		return rt.Txn.GetLatest(key, hold, sink)
	}
	return rt.Txn.Get(key, hold, sink)
}

// candidate is get for a row that was found by its key, for the LockRows above or a plain read where that is nil. SERIALIZABLE locks it at
// once: also a row that fails the condition must go on failing it. hold must not outlive a wait.
func (rt *Runtime) candidate(key []byte, hold *kvapi.Hold, sink kvapi.Sink, latest bool, above *LockRows) (found bool, err error) {
	if above == nil || rt.Txn.Level() != txn.Serializable {
		return rt.get(key, hold, sink, latest)
	}
	if rt.running != nil {
		rt.running.Reads++
	}
	hold.Rest()
	found, _, err = rt.Txn.Lock(key, above.Mode, above.Wait, sink)
	return found, err
}

// checkReadable refuses to read a table or index that is younger than the
// transaction's snapshot: its old versions are not there to be read (1412).
func (rt *Runtime) checkReadable(t *catalog.Table, ix *catalog.Index, latest bool) error {
	if rt.Txn == nil || latest && !rt.Txn.Deferred() || rt.Txn.Level() != txn.RepeatableRead {
		return nil
	}
	if t.ReadableFrom == 0 && (ix == nil || ix.ReadableFrom == 0) {
		return nil
	}
	ts := rt.Txn.ReadTS()
	if ts < t.ReadableFrom || ix != nil && !ix.Readable(ts) {
		return types.Errorf(types.ErTableDefChanged)
	}
	return nil
}
