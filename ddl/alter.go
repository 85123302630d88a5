package ddl

import (
	"errors"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// AlterTable runs the actions of one ALTER TABLE, all or none. Its indexes are
// built first, online, hidden from everybody but writers; then one step does all
// else behind the table's gate, in one commit. An index on a column that this
// step adds or renames is built before there is such a column: what its rows
// hold there is known (catalog.IndexColumn). So there is nothing to take back
// but indexes that have not bound or served anybody, if a build fails, or the
// step does, or the server dies.
func (e *Executor) AlterTable(c *Call, n Name, actions []AlterSpec) error {
	if c.Algorithm == "COPY" && c.Lock == "NONE" {
		return types.Errorf(types.ErAlterOperationNotSupportedReason, "LOCK=NONE", reasonCopyLocks, "LOCK=SHARED")
	}
	actions, names := lastRename(n, actions)
	if len(actions) == 0 && c.Algorithm != "COPY" { // it has its name already
		_, err := e.table(n)
		return err
	}
	if len(actions) == 1 && c.Algorithm != "COPY" {
		switch a := actions[0].(type) {
		case RenameTo:
			return e.RenameTables(c, []RenamePair{{n, a.To}})
		case DropIndex:
			if !dropsPrimary(a) {
				return e.DropIndexOf(c, n, a.Name) // online: there is nothing that could be half done
			}
		}
	}
	p := c.patience()
	parents, refs := foreignParents(n, addedForeign(actions))
	release, err := e.lockKin(c, p, names, parents, refs...)
	if err != nil {
		return err
	}
	defer release()
	t, err := e.table(n)
	if err != nil {
		return err
	}
	for _, to := range names[1:] {
		if err := e.checkNameFree(to); err != nil {
			return err
		}
	}
	if actions, err = complete(t, actions); err != nil {
		return err
	}
	if actions, err = alterForeign(c, e.catalog.Current(), t, actions); err != nil {
		return err
	}
	if why := c.reasonToCopy(t, actions); why != nil {
		return e.copyTable(c, t, actions, why, p)
	}
	plan, err := e.planAlter(c, t, actions)
	if err != nil {
		return err
	}
	if err := e.checkSingles(t, plan.add, c.Interrupt); err != nil {
		return err
	}
	renames := plan.makeWay(t)
	var built []*job
	for _, ix := range plan.add {
		j, err := e.buildHidden(c, n, ix, len(actions) > 1, p)
		if err != nil {
			e.undoBuilds(built, p, err)
			return underName(err, renames)
		}
		built = append(built, j)
	}
	// Its wait for users is another one than those of the builds.
	if err := e.runStep(c, n, plan, built, renames, c.patience()); err != nil {
		e.undoBuilds(built, p, err)
		return err
	}
	return nil
}

// lastRename returns the actions with only the last of their RENAMEs, which is the one that counts, and without that if it is the table's
// present name. names are the table's names before and, if it changes, after the statement.
func lastRename(n Name, actions []AlterSpec) (out []AlterSpec, names []Name) {
	to := n
	for _, a := range actions {
		if r, ok := a.(RenameTo); ok {
			to = r.To
		} else {
			out = append(out, a)
		}
	}
	if to == n {
		return out, []Name{n}
	}
	return append(out, RenameTo{to}), []Name{n, to}
}

// checkNameFree refuses a name that a table cannot be given.
func (e *Executor) checkNameFree(n Name) error {
	if err := checkSchemaAccess(n.Schema); err != nil {
		return err
	}
	if err := checkTableName(n.Table); err != nil {
		return err
	}
	snap := e.catalog.Current()
	if snap.Database(n.Schema) == nil {
		return types.Errorf(types.ErBadDB, n.Schema)
	}
	if snap.Lookup(n.Schema, n.Table) != nil {
		return types.Errorf(types.ErTableExists, n.Table)
	}
	return nil
}

// undoBuilds takes back the indexes that an ALTER has built before it failed.
func (e *Executor) undoBuilds(built []*job, p catalog.Patience, cause error) {
	for _, j := range built {
		_ = e.undoCreateIndex(j, p, cause) // returns cause
	}
}

// alterPlan is what an ALTER does.
type alterPlan struct {
	add           []*catalog.Index // to be built, made for the table as it is
	gone          []string         // indexes to drop
	instant       []AlterSpec
	autoIncrement uint64
}

// planAlter sorts the actions and tries them on a copy of t, so that invalid ones
// are refused before anything is changed.
func (e *Executor) planAlter(c *Call, t *catalog.Table, actions []AlterSpec) (*alterPlan, error) {
	plan := &alterPlan{}
	dropped := map[string]bool{} // indexes that the statement drops by name
	var add []IndexSpec
	for _, a := range actions {
		if a, ok := a.(DropIndex); ok {
			dropped[strings.ToLower(a.Name)] = true
		}
	}
	for _, a := range actions {
		switch a := a.(type) {
		case AddIndex:
			add = append(add, a.Index)
		case DropIndex:
			if !e.droppable(t, t.Index(a.Name)) {
				return nil, types.Errorf(types.ErCantDropFieldOrKey, a.Name)
			}
			plan.gone = append(plan.gone, a.Name)
		case DropColumn:
			names, err := e.indexesOf(t, a.Name, dropped)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				dropped[strings.ToLower(name)] = true
			}
			plan.gone = append(plan.gone, names...)
			plan.instant = append(plan.instant, a)
		case SetAutoIncrement:
			plan.autoIncrement = a.Next
		default:
			plan.instant = append(plan.instant, a)
		}
	}
	return plan, plan.rehearse(c, e.catalog.Current(), t, add)
}

// indexesOf lists the indexes to be dropped with the column: those of this column
// alone and those that are being removed, without those in dropped. No other index
// has it: then the table would be copied (sharesIndex).
func (e *Executor) indexesOf(t *catalog.Table, column string, dropped map[string]bool) ([]string, error) {
	col := t.Column(column)
	if col == nil {
		return nil, types.Errorf(types.ErCantDropFieldOrKey, column)
	}
	var names []string
	for _, ix := range t.Indexes {
		if dropped[strings.ToLower(ix.Name)] {
			continue
		}
		for _, ic := range ix.Columns {
			if ic.Col != col.Ordinal {
				continue
			}
			if leaving(ix) {
				names = append(names, ix.Name) // its job finds it gone
				break
			}
			if !e.droppable(t, ix) {
				return nil, kvapi.ErrLockTimeout // it leaves when the disk is no longer full
			}
			names = append(names, ix.Name)
		}
	}
	return names, nil
}

// rehearse applies the plan to a copy of the descriptor and makes the new
// indexes. Their columns and names are those of the table as it will be, and
// what the statement leaves is counted, not what it has meanwhile.
func (plan *alterPlan) rehearse(c *Call, snap *catalog.Snapshot, t *catalog.Table, add []IndexSpec) error {
	next := t.Clone()
	next.Finish()
	keyless := false // the AUTO_INCREMENT column loses a key
	for _, name := range plan.gone {
		ix := next.Index(name)
		if ix == nil { // it is named twice
			return types.Errorf(types.ErCantDropFieldOrKey, name)
		}
		keyless = keyless || next.AutoInc != nil && next.AutoInc.Ordinal == ix.Columns[0].Col
		next.RemoveIndex(ix.ID)
		next.Finish()
	}
	if err := applyInstant(next, plan.instant); err != nil {
		return err
	}
	if err := c.check(t, next); err != nil {
		return err
	}
	for i := range add {
		// Before each index, so that a long list ends early.
		if err := checkRoom(next); err != nil {
			return err
		}
		ix, err := buildIndex(c, next, &add[i])
		if err != nil {
			return err
		}
		next.AddIndex(ix)
		next.Finish()
		if functional(&add[i]) {
			if err := c.check(t, next); err != nil {
				return err
			}
		}
		plan.add = append(plan.add, transplant(ix, next, t))
	}
	if keyless {
		if err := checkAutoColumn(next); err != nil {
			return err
		}
	}
	silent := *c
	silent.Warn = nil // the step warns
	_, err := relate(&silent, snap, change{t, next})
	return err
}

// transplant converts an index of next to one of t, from which next was made.
func transplant(ix *catalog.Index, next, t *catalog.Table) *catalog.Index {
	moved := *ix
	moved.Columns = slices.Clone(ix.Columns)
	for i := range moved.Columns {
		part := &moved.Columns[i]
		c := next.Columns[part.Col]
		if old := t.ColumnByID(c.ID); old != nil && !c.Hidden {
			part.Col = old.Ordinal
		} else {
			part.Col, part.Added = -1, c
		}
	}
	return &moved
}

// rename is the temporary name of an index while it is built (from), the name that
// it gets when the present owner of that is dropped or renamed (to), and the
// spelling of that name by its present owner (old).
type rename struct{ from, to, old string }

// makeWay gives temporary names to the new indexes whose names t has already.
func (plan *alterPlan) makeWay(t *catalog.Table) []rename {
	var renames []rename
	for _, ix := range plan.add {
		if old := t.Index(ix.Name); old != nil {
			to := ix.Name
			ix.Name, ix.Replaces = replacingName(old), old.ID
			renames = append(renames, rename{ix.Name, to, old.Name})
		}
	}
	return renames
}

// underName returns the error of a build with the index's name as the statement
// spells it.
func underName(err error, renames []rename) error {
	var e *types.Error
	if !errors.As(err, &e) || e.Number != types.ErDupEntry {
		return err
	}
	for _, r := range renames {
		if message, found := strings.CutSuffix(e.Message, "."+r.old+"'"); found {
			return types.NewError(e.Number, message+"."+r.to+"'")
		}
	}
	return err
}

// runStep is the last step of an ALTER: it publishes the descriptor with all
// changes of the plan and the built indexes, while nobody uses the table. So
// writers never use two layouts at once, and an index can be dropped without the
// steps of removeIndexSteps.
func (e *Executor) runStep(c *Call, n Name, plan *alterPlan, built []*job, renames []rename, p catalog.Patience) error {
	t, err := e.table(n)
	if err != nil {
		return err
	}
	counts := plan.autoIncrement > 0 && t.AutoInc != nil
	lowers := false
	if counts {
		if lowers, err = e.lowers(t, plan.autoIncrement); err != nil {
			return err
		}
	}
	if len(plan.instant) == 0 && len(plan.gone) == 0 {
		switch {
		case !counts:
			return e.publish(built)
		case len(built) == 0 && !lowers:
			return e.ids.For(t).SetNext(plan.autoIncrement)
		}
	}
	next, jobs, err := e.stepped(t, plan, built, renames)
	if err != nil {
		return err
	}
	for _, j := range built {
		j.setPhase(phaseWaiting)
	}
	kin, held, err := e.closeKin(c, t, next, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	if err := e.checkNewChecks(c, t, next); err != nil {
		return err
	}
	if err := e.checkReferences(c, t, next, kin, p.Interrupt); err != nil {
		return err
	}
	counts = counts && next.AutoInc != nil
	first := plan.autoIncrement
	if counts {
		if first, err = e.firstID(t, next, first, p.Interrupt); err != nil {
			return err
		}
	}
	err = e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}, Related: kin.related}, func(tx *txn.Txn) error {
		if counts {
			if err := e.ids.For(next).CommitNext(tx, first); err != nil {
				return err
			}
		}
		if err := putJobs(jobs)(tx); err != nil {
			return err
		}
		return removeJobs(built)(tx)
	})
	if err != nil {
		return err
	}
	e.untrack(built...)
	e.enqueue(jobs...)
	if counts {
		e.countFrom(t, next, first)
	}
	return nil
}

// stepped returns the version that the step makes of t, and the jobs that free the entries of the dropped indexes.
func (e *Executor) stepped(t *catalog.Table, plan *alterPlan, built []*job, renames []rename) (*catalog.Table, []*job, error) {
	next := t.Clone()
	next.Finish()
	jobs, err := e.removeIndexes(next, plan.gone)
	if err != nil {
		return nil, nil, err
	}
	if err := applyInstant(next, plan.instant); err != nil {
		return nil, nil, err
	}
	if err := e.makePublic(next, built); err != nil {
		return nil, nil, err
	}
	for _, r := range renames {
		ix := next.Index(r.from)
		if ix == nil {
			return nil, nil, types.Errorf(types.ErKeyDoesNotExist, r.to, t.Name)
		}
		ix.Name, ix.Replaces = r.to, 0
	}
	next.Finish()
	return next, jobs, nil
}

// removeIndexes takes indexes out of next, which is published while nobody uses
// the table, and returns the jobs that free their entries.
func (e *Executor) removeIndexes(next *catalog.Table, names []string) ([]*job, error) {
	var jobs []*job
	for _, name := range names {
		ix := next.Index(name)
		if ix == nil {
			return nil, types.Errorf(types.ErCantDropFieldOrKey, name)
		}
		j, err := e.newJob(jobDestroy, next)
		if err != nil {
			return nil, err
		}
		j.rec.IndexID, j.rec.Index = ix.ID, ix.Name
		jobs = append(jobs, j)
		next.RemoveIndex(ix.ID)
		next.Finish()
	}
	return jobs, nil
}

// dropParts removes the indexes of ALTER TABLEs that a crash has interrupted:
// those with Replaces, and those whose build has jobRecord.Part. Called by Open,
// before any session.
func (e *Executor) dropParts() error {
	snap := e.catalog.Current()
	builds := map[[2]uint64]*job{} // by table and index
	for _, j := range e.jobs {
		if j.rec.Kind == jobCreateIndex && j.rec.Part {
			builds[[2]uint64{j.rec.TableID, j.rec.IndexID}] = j
		}
	}
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			var names []string
			var over []*job
			for _, ix := range t.Indexes {
				if leaving(ix) {
					continue // its job will remove it
				}
				build := builds[[2]uint64{t.ID, ix.ID}]
				if build != nil {
					over = append(over, build)
				}
				if ix.Replaces != 0 || build != nil {
					names = append(names, ix.Name)
				}
			}
			if len(names) == 0 {
				continue
			}
			next := t.Clone()
			next.Finish()
			jobs, err := e.removeIndexes(next, names)
			if err == nil {
				err = e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, func(tx *txn.Txn) error {
					if err := putJobs(jobs)(tx); err != nil {
						return err
					}
					return removeJobs(over)(tx)
				})
			}
			if errors.Is(err, kvapi.ErrDiskFull) && len(over) == len(names) {
				// The node starts anyway: the worker removes them when there is space.
				for _, j := range over {
					e.setKind(j, jobDropIndex)
				}
				continue
			}
			if err != nil {
				return err
			}
			e.untrack(over...)
			for _, j := range jobs {
				e.track(j)
			}
		}
	}
	return nil
}
