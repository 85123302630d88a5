package engine

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/pandodb/pando/internal/assert"
)

// incomingName is the directory of tables that are being written in order to be ingested, and of sorters' files. Open empties it.
const incomingName = "incoming"

// Table is a table that is written outside of the engine, in order to be ingested. It is used by one goroutine at a time.
type Table struct {
	e    *Engine
	w    *sstable.Writer
	path string
}

// NewTable begins a table. The caller calls Discard at the end, ingested or not.
func (e *Engine) NewTable() (*Table, error) {
	path, err := e.newIncoming()
	if err != nil {
		return nil, err
	}
	t := &Table{e: e, path: path}
	f, err := e.fs.Create(t.path, compactionCategory)
	if err != nil {
		return nil, fmt.Errorf("engine: new table: %w", err)
	}
	t.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), e.pebbleOptions().MakeWriterOptions(0, e.db.TableFormat()))
	return t, nil
}

func (e *Engine) incoming() string { return e.fs.PathJoin(e.opts.Dir, incomingName) }

// newIncoming names a new file in the directory of incoming tables.
func (e *Engine) newIncoming() (path string, err error) {
	dir := e.incoming()
	if err := e.fs.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("engine: directory of incoming tables: %w", err)
	}
	return e.fs.PathJoin(dir, fmt.Sprintf("%d", e.tables.Add(1))), nil
}

// Set writes an engine key, which must be above those written before.
func (t *Table) Set(key, value []byte) error { return t.w.Set(key, value) }

// DeleteRange deletes what the engine has between two bare keys when the table is ingested; keys of the table itself stay.
func (t *Table) DeleteRange(start, end []byte) error { return t.w.DeleteRange(start, end) }

// Before reports whether engine key a is below b.
func Before(a, b []byte) bool { return cockroachkvs.Compare(a, b) < 0 }

// Bytes is the approximate size of the table.
func (t *Table) Bytes() int64 { return int64(t.w.Raw().EstimatedSize()) }

// Finish completes the table, and makes it durable. Nothing is written to it afterwards.
func (t *Table) Finish() error {
	w := t.w
	t.w = nil
	if err := w.Close(); err != nil {
		return fmt.Errorf("engine: table: %w", err)
	}
	return nil
}

// Discard deletes the table, unless it was ingested.
func (t *Table) Discard() {
	if t.w != nil {
		_ = t.w.Close() // it is deleted in any case
		t.w = nil
	}
	_ = t.e.fs.Remove(t.path) // Open deletes what is left
}

// Ingest adds finished tables, which must not overlap each other, to the engine in one step, and deletes what it had before between two bare
// keys. It is durable when it returns. The caller has called Barrier before, and since then has logged nothing that it replaces: recovery
// would apply that on top (invariant 9).
func (e *Engine) Ingest(tables []*Table, start, end []byte) error {
	return e.ingest(tables, func(paths []string) error {
		_, err := e.db.IngestAndExcise(context.Background(), paths, nil, nil, pebble.KeyRange{Start: start, End: end})
		return err
	})
}

// IngestBeside adds finished tables, which must not overlap each other, to the engine in one step, and deletes nothing. It is durable when it
// returns. The log must not have their keys, since recovery would apply those on top. If memtables overlap the tables, they are flushed first,
// and commits wait for that; a Flush just before keeps the wait short.
func (e *Engine) IngestBeside(tables []*Table) error {
	return e.ingest(tables, func(paths []string) error { return e.db.Ingest(context.Background(), paths) })
}

func (e *Engine) ingest(tables []*Table, put func(paths []string) error) error {
	if e.failed.Load() {
		return ErrFailed
	}
	paths := make([]string, len(tables))
	for i, t := range tables {
		assert.That(t.w == nil, "engine: a table that is ingested is finished")
		paths[i] = t.path
	}
	e.cut.RLock() // see Checkpoint: what is logged next relies on these tables
	defer e.cut.RUnlock()
	if err := put(paths); err != nil {
		return fmt.Errorf("engine: ingest: %w", err)
	}
	if e.failed.Load() {
		return ErrFailed
	}
	return nil
}

// clearIncoming deletes the files that a crash has left in the directory of incoming tables.
func (e *Engine) clearIncoming() error {
	names, err := e.fs.List(e.incoming())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil // the normal case
	case err != nil:
		return err
	}
	var faults []error
	for _, name := range names {
		faults = append(faults, e.fs.Remove(e.fs.PathJoin(e.incoming(), name)))
	}
	return errors.Join(faults...)
}
