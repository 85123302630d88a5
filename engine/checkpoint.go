package engine

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/engine/wal"
)

// FormatMax is the newest format of an engine that this program knows.
const FormatMax = int(formatVersion)

// Checkpoint is what Engine.Checkpoint has made.
type Checkpoint struct {
	// Format is the engine's.
	Format int
	// LogFrom and LogEnd are the positions between which it has the log.
	LogFrom, LogEnd uint64
}

// Checkpoint makes a directory, which must not exist, that opens like the engine after a crash at some moment of the call: it has all that
// was applied before the call, and a prefix of what is applied meanwhile. Tables are hard links where the file system has those, since
// tables never change; everything else is copied, the log up to that moment too. Apply does not wait. An error of poll ends it early.
//
// The moment is taken in two steps: which tables there are, and where the log ends. In between nobody may learn that something is in a table
// that the checkpoint lacks, and then log what relies on it, as the truncation of a Raft log does: no crash leaves the one without the other.
// So calls that ask what is in tables (GetFlushed, Flush, Barrier), or add tables (Ingest, IngestBeside), wait for the second step. The
// opposite order of the steps would violate invariant 9.
func (e *Engine) Checkpoint(dir string, poll func() error) (c Checkpoint, err error) {
	if e.failed.Load() {
		return c, ErrFailed
	}
	release := e.log.Hold()
	defer release()
	from, _, err := e.notedInTables() // the tables of the checkpoint will have this note or a later one
	if err != nil {
		return c, err
	}
	end, err := e.cutTables(dir)
	if err != nil {
		return c, err
	}
	err = e.syncWAL(end)
	if err == nil {
		err = e.log.CopyTo(dir, from, end, poll)
	}
	if err != nil {
		return c, errors.Join(fmt.Errorf("engine: checkpoint: %w", err), e.opts.FS.RemoveAll(dir))
	}
	return Checkpoint{Format: int(e.db.FormatMajorVersion()), LogFrom: uint64(from), LogEnd: uint64(end)}, nil
}

// cutTables makes a checkpoint of the tables and returns the end of the log that belongs to it.
func (e *Engine) cutTables(dir string) (end wal.Position, err error) {
	e.cut.Lock()
	defer e.cut.Unlock()
	if err := e.db.Checkpoint(dir); err != nil {
		return 0, fmt.Errorf("engine: checkpoint: %w", err)
	}
	e.order.Lock()
	defer e.order.Unlock()
	return e.end, nil
}
