package ddl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// temporaryPause is the delay between the end of a temporary table and the deletion of its data, so that the data of several tables is deleted by one
// range deletion: each slows down later reads a little until it is compacted.
const temporaryPause = time.Second

// temporaries keeps account of the temporary tables of this node, to free their data. Their descriptors belong to the sessions.
type temporaries struct {
	bytes atomic.Int64 // of all

	mu sync.Mutex
	// live are the physical ids in use, gone those of ended tables whose data is not deleted yet. Guarded by mu.
	live, gone map[uint64]bool
	since      time.Duration // clock.Mono when the first of gone was added; guarded by mu
}

// TemporaryTables returns the number of temporary tables on this node, and the bytes of their keys and values. Safe for concurrent use.
func (e *Executor) TemporaryTables() (tables int, bytes int64) {
	e.temporary.mu.Lock()
	defer e.temporary.mu.Unlock()
	return len(e.temporary.live), e.temporary.bytes.Load()
}

// CreateTemporary makes a temporary table. Only its session knows the descriptor, so nothing is stored in the catalog and nothing is locked.
// bytesMax bounds the bytes of its keys and values.
func (e *Executor) CreateTemporary(c *Call, spec *TableSpec, bytesMax int64) (*catalog.Table, error) {
	if err := checkSchemaAccess(spec.Schema); err != nil {
		return nil, err
	}
	if len(spec.ForeignKeys) > 0 {
		return nil, types.Errorf(types.ErCannotAddForeign)
	}
	d := e.catalog.Current().Database(spec.Schema)
	if d == nil {
		return nil, types.Errorf(types.ErBadDB, spec.Schema)
	}
	t, err := buildTable(c, spec, d.Coll)
	if err != nil {
		return nil, err
	}
	if err := c.check(nil, t); err != nil {
		return nil, err
	}
	if err := e.beginTemporary(t, bytesMax); err != nil {
		return nil, err
	}
	t.CreateMillis = clock.NowMillis()
	if spec.AutoIncrement > 1 && t.AutoInc != nil {
		if err := e.ids.For(t).SetNext(spec.AutoIncrement); err != nil {
			e.DropTemporary(t)
			return nil, err
		}
	}
	t.ShowTemporary()
	return t, nil
}

// beginTemporary gives a temporary table, or a new version of one, a new, empty key space.
func (e *Executor) beginTemporary(t *catalog.Table, bytesMax int64) error {
	e.temporary.mu.Lock() // an id must be in live before a larger one is given: see runs
	defer e.temporary.mu.Unlock()
	id, err := e.catalog.NextTemporaryID()
	if err != nil {
		return err
	}
	t.MakeTemporary(id, bytesMax, &e.temporary.bytes)
	e.catalog.Adopt(t)
	if e.temporary.live == nil {
		e.temporary.live, e.temporary.gone = map[uint64]bool{}, map[uint64]bool{}
	}
	e.temporary.live[id] = true
	return nil
}

// DropTemporary ends a temporary table, or the old key space of one; the worker deletes its data later. The session must have no open transaction that
// wrote to it.
func (e *Executor) DropTemporary(t *catalog.Table) {
	e.ids.ForgetTemporary(t)
	m := &e.temporary
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, t.PhysID)
	if !t.Temporary.Written() {
		return
	}
	t.Temporary.Recount(0)
	if len(m.gone) == 0 {
		m.since = clock.Mono()
		defer e.wakeWorker()
	}
	m.gone[t.PhysID] = true
}

// TruncateTemporary returns the next version of a temporary table, without rows. The caller drops the old one.
func (e *Executor) TruncateTemporary(t *catalog.Table) (*catalog.Table, error) {
	next := t.Clone()
	if err := e.beginTemporary(next, t.Temporary.Max); err != nil {
		return nil, err
	}
	next.Layouts = nil
	next.Finish()
	next.ShowTemporary()
	return next, nil
}

// AlterTemporary returns the version of a temporary table after the actions of an ALTER TABLE. As in MySQL, every action but RENAME copies the rows.
// The caller drops the old version, or keeps it after an error.
func (e *Executor) AlterTemporary(c *Call, t *catalog.Table, actions []AlterSpec) (next *catalog.Table, err error) {
	var to *RenameTo
	var rest []AlterSpec
	for _, a := range actions {
		switch a := a.(type) {
		case RenameTo:
			to = &a
		case AddForeignKey, DropForeignKey:
			return nil, types.Errorf(types.ErCannotAddForeign)
		default:
			rest = append(rest, a)
		}
	}
	if to != nil && e.catalog.Current().Database(to.To.Schema) == nil {
		return nil, types.Errorf(types.ErBadDB, to.To.Schema)
	}
	switch c.Algorithm {
	case "INPLACE", "INSTANT":
		return nil, types.Errorf(types.ErAlterOperationNotSupported, "ALGORITHM="+c.Algorithm, "ALGORITHM=COPY")
	}
	next = t.Clone()
	next.Finish()
	if len(rest) > 0 {
		if next, err = e.copyTemporary(c, t, rest); err != nil {
			return nil, err
		}
	}
	if to != nil {
		next.Rename(to.To.Schema, to.To.Table)
		if err := constraintNamesFit(next); err != nil {
			return nil, err
		}
		next.Finish()
	}
	next.ShowTemporary()
	return next, nil
}

// copyTemporary copies the rows of a temporary table into a new key space.
func (e *Executor) copyTemporary(c *Call, t *catalog.Table, actions []AlterSpec) (*catalog.Table, error) {
	actions, err := complete(t, actions)
	if err != nil {
		return nil, err
	}
	k, err := e.copierFor(c, t, actions, &copyReason{conversion: true})
	if err != nil {
		return nil, err
	}
	next := k.next
	if err := e.beginTemporary(next, t.Temporary.Max); err != nil {
		return nil, err
	}
	next.Layouts = nil
	next.Finish()
	k.job, k.durable = &job{}, true // no later commit covers the copy's own
	if err := k.run(c.Interrupt); err != nil {
		e.DropTemporary(next)
		return nil, err
	}
	c.Copied, c.Rows = true, uint64(k.rowNo)
	return next, nil
}

// temporarySpan returns the span of the data of all temporary tables with physical ids from first to last, both included.
func temporarySpan(first, last uint64) kvapi.Span {
	return kvapi.Span{Start: keys.TablePrefix(nil, first), End: keys.TablePrefix(nil, last+1)}
}

// freeTemporary deletes the data of temporary tables that have ended, with one range deletion for adjacent ids (see runs). It reports whether there
// is more to do.
func (e *Executor) freeTemporary() (more bool) {
	m := &e.temporary
	m.mu.Lock()
	due := len(m.gone) > 0 && clock.Mono()-m.since >= temporaryPause
	if !due {
		more = len(m.gone) > 0
		m.mu.Unlock()
		return more
	}
	spans := runs(m.gone, m.live)
	freed := m.gone
	m.gone, m.since = map[uint64]bool{}, clock.Mono()
	m.mu.Unlock()
	for _, span := range spans {
		// Only the tables' own sessions have read them, so there is no snapshot to wait for.
		if _, err := e.destroy(span, 0); err != nil {
			if !errors.Is(err, kvapi.ErrClosed) && !errors.Is(err, kvapi.ErrInterrupted) {
				e.log.Warn("data of temporary tables are not deleted yet", "error", err)
			}
			m.mu.Lock()
			for id := range freed {
				m.gone[id] = true
			}
			m.mu.Unlock()
			return true
		}
	}
	return false
}

// runs returns the fewest spans that cover the data of all gone tables and of no live one. Ids that will be given later are above all of these.
func runs(gone, live map[uint64]bool) []kvapi.Span {
	type mark struct {
		id   uint64
		live bool
	}
	all := make([]mark, 0, len(gone)+len(live))
	for id := range gone {
		all = append(all, mark{id, false})
	}
	for id := range live {
		all = append(all, mark{id, true})
	}
	slices.SortFunc(all, func(a, b mark) int { return cmp.Compare(a.id, b.id) })
	var spans []kvapi.Span
	for i := 0; i < len(all); i++ {
		if all[i].live {
			continue
		}
		from := i
		for i+1 < len(all) && !all[i+1].live {
			i++
		}
		spans = append(spans, temporarySpan(all[from].id, all[i].id))
	}
	return spans
}

// dropLeftovers deletes data of temporary tables left by a crash, by the last stop, or by another node that was the gateway of the cluster before.
// Called by Open, before any session. That is safe in a cluster too, because one node at a time executes SQL.
func (e *Executor) dropLeftovers() error {
	first, end := catalog.TemporaryIDs()
	span := temporarySpan(first, end-1)
	var found anyPair
	for rest := span; rest.Start != nil && !bool(found); {
		resume, err := e.txns.Scan(&txn.ScanRequest{Span: rest, LimitRows: 1, Sink: &found})
		if err != nil {
			return fmt.Errorf("ddl: look for temporary tables of before: %w", err)
		}
		rest.Start = bytes.Clone(resume)
	}
	if !found {
		return nil
	}
	_, err := e.destroy(span, 0)
	if errors.Is(err, kvapi.ErrDiskFull) {
		e.log.Warn("data of temporary tables of before are not deleted", "error", err)
		return nil // the node starts anyway: nobody can read the data, and the next start tries again
	}
	if err != nil {
		return fmt.Errorf("ddl: delete temporary tables of before: %w", err)
	}
	return nil
}

// anyPair is a sink that becomes true if there is a pair.
type anyPair bool

func (f *anyPair) Pair(_, _ []byte) (bool, error) {
	*f = true
	return false, nil
}
