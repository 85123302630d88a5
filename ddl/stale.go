package ddl

import (
	"fmt"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
)

// rebuildStale replaces every secondary index whose entries were written with
// another key encoding or other collation weights than this version's: searches
// would use the wrong order. The new index has a new id and is built by the worker;
// until then plans do not use it. A primary key can't be replaced this way: the
// node then refuses to start. Called by Open, before any session.
func (e *Executor) rebuildStale() error {
	snap := e.catalog.Current()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if stale := t.StaleIndexes(); len(stale) > 0 {
				if err := e.rebuildIndexes(t, stale); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (e *Executor) rebuildIndexes(t *catalog.Table, stale []*catalog.Index) error {
	next := t.Clone()
	next.Finish()
	var jobs []*job
	for _, ix := range stale {
		if ix.Primary {
			return fmt.Errorf("ddl: the primary key of table %s.%s was written with other collation weights than this version has; "+
				"open the directory with the version that wrote it and copy the table", t.Schema, t.Name)
		}
		next.RemoveIndex(ix.ID)
		free, err := e.newJob(jobDestroy, t)
		if err != nil {
			return err
		}
		free.rec.IndexID = ix.ID
		jobs = append(jobs, free)
		if ix.State != catalog.StatePublic {
			continue // half built or half dropped: it is removed without a replacement
		}
		fresh := *ix
		fresh.Columns = slices.Clone(ix.Columns)
		fresh.State, fresh.ReadableFrom = catalog.StateDeleteOnly, clock.Timestamp(0)
		fresh.EncodingVersion, fresh.WeightsChecksum = catalog.KeyEncodingVersion, catalog.WeightsOf(next, ix)
		next.AddIndex(&fresh)
		build, err := e.newJob(jobCreateIndex, t)
		if err != nil {
			return err
		}
		build.rec.IndexID, build.rec.Index, build.rec.Rebuild = fresh.ID, fresh.Name, true
		jobs = append(jobs, build)
		e.log.Warn("rebuilding an index written with other collation weights", "table", t.Name, "index", ix.Name)
	}
	next.Finish()
	if err := e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, putJobs(jobs)); err != nil {
		return err
	}
	for _, j := range jobs {
		e.track(j)
	}
	return nil
}
