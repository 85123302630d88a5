package ddl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// AlterTable runs the actions of one ALTER TABLE. What only changes the
// descriptor is one atomic step behind the table's gate; indexes are built
// before it, online, or after it if they name a new column. The new indexes
// become public together, after the last build, in the atomic step if that is
// the last one: if a build fails, or the step does, none of them has bound or
// served anybody, and all are taken back. Indexes are dropped in the last step,
// so that they are still there if anything fails; one that takes the name of
// such an index is built under another.
func (e *Executor) AlterTable(c *Call, n Name, actions []AlterSpec) error {
	for _, a := range actions {
		if r, ok := a.(RenameTo); ok {
			if len(actions) > 1 {
				return types.Errorf(types.ErNotSupportedYet, "RENAME together with other actions of ALTER TABLE")
			}
			return e.RenameTables(c, []RenamePair{{n, r.To}})
		}
		if d, ok := a.(DropIndex); ok && len(actions) == 1 {
			return e.DropIndexOf(c, n, d.Name) // online: there is nothing that could be half done
		}
	}
	p := c.patience()
	release, err := e.names.lock(tableRefs(n), p)
	if err != nil {
		return err
	}
	defer release()
	t, err := e.table(n)
	if err != nil {
		return err
	}
	plan, err := planAlter(c, t, actions)
	if err != nil {
		return err
	}
	var built []*job
	err = e.runAlter(c, n, plan, p, &built)
	e.undoBuilds(built, p, err)
	return err
}

// undoBuilds takes back the indexes that an ALTER has built before it failed.
func (e *Executor) undoBuilds(built []*job, p catalog.Patience, cause error) {
	for _, j := range built {
		_ = e.undoCreateIndex(j, p, cause) // returns cause
	}
}

// alterPlan is the order in which the actions run.
type alterPlan struct {
	gone          []string // indexes that the atomic step drops
	before, after []IndexSpec
	instant       []AlterSpec
	drop          []string // indexes that a step of its own drops: there are builds after the atomic one, and revertInstant brings none back
	autoIncrement uint64
	dropsColumn   bool
}

// planAlter sorts the actions and checks them against copies of t, so that what
// can be refused is refused before anything happens.
func planAlter(c *Call, t *catalog.Table, actions []AlterSpec) (*alterPlan, error) {
	plan := &alterPlan{}
	fresh := map[string]bool{}
	dropped := map[string]bool{} // indexes that have their place in the plan
	taken := map[string]bool{}   // names that indexes get
	left := map[string]bool{}    // names that columns have no more
	for _, a := range actions {
		switch a := a.(type) {
		case AddColumn:
			fresh[strings.ToLower(a.Column.Name)] = true
		case RenameColumn:
			fresh[strings.ToLower(a.To)] = true
			left[strings.ToLower(a.From)] = true
		case DropColumn:
			left[strings.ToLower(a.Name)] = true
		case AddIndex:
			taken[strings.ToLower(a.Index.Name)] = true
		case RenameIndex:
			taken[strings.ToLower(a.To)] = true
		case DropIndex:
			dropped[strings.ToLower(a.Name)] = true
		}
	}
	for _, a := range actions {
		switch a := a.(type) {
		case AddIndex:
			a.Index.part = len(actions) > 1
			// Its columns are those of the table as it will be.
			for _, part := range a.Index.Columns {
				if name := strings.ToLower(part.Column); left[name] && !fresh[name] {
					return nil, types.Errorf(types.ErKeyColumnDoesNotExist, part.Column)
				}
			}
			if usesAny(&a.Index, fresh) {
				plan.after = append(plan.after, a.Index)
			} else {
				plan.before = append(plan.before, a.Index)
			}
		case DropIndex:
			if taken[strings.ToLower(a.Name)] {
				plan.gone = append(plan.gone, a.Name)
			} else {
				plan.drop = append(plan.drop, a.Name)
			}
		case DropColumn:
			names, err := indexesOf(t, a.Name, dropped)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				dropped[strings.ToLower(name)] = true
			}
			plan.gone = append(plan.gone, names...)
			plan.dropsColumn = true
			plan.instant = append(plan.instant, a)
		case SetAutoIncrement:
			plan.autoIncrement = a.Next
		default:
			plan.instant = append(plan.instant, a)
		}
	}
	if len(plan.after) > 0 && (plan.dropsColumn || len(plan.gone) > 0) {
		return nil, types.Errorf(types.ErNotSupportedYet, "DROP together with an index on a column that is new or renamed in the same ALTER TABLE")
	}
	if len(plan.after) == 0 {
		plan.gone, plan.drop = append(plan.gone, plan.drop...), nil
	}
	return plan, plan.rehearse(c, t)
}

func usesAny(ix *IndexSpec, columns map[string]bool) bool {
	for _, part := range ix.Columns {
		if columns[strings.ToLower(part.Column)] {
			return true
		}
	}
	return false
}

// indexesOf lists the indexes that consist of the column alone, which go with
// it, but for those that the statement drops anyway. A column that shares an
// index would need that index rebuilt.
func indexesOf(t *catalog.Table, column string, dropped map[string]bool) ([]string, error) {
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
			if ix.State != catalog.StatePublic {
				return nil, kvapi.ErrLockTimeout // its removal is not finished yet
			}
			if ix.Primary || len(ix.Columns) > 1 {
				return nil, types.Errorf(types.ErNotSupportedYet, "DROP COLUMN of a column in the primary key or a multi-column index; drop the index first")
			}
			names = append(names, ix.Name)
		}
	}
	return names, nil
}

// rehearse applies the plan to copies of the descriptor.
func (plan *alterPlan) rehearse(c *Call, t *catalog.Table) error {
	next := t.Clone()
	next.Finish()
	drop := func(names []string) error {
		for _, name := range names {
			ix := next.Index(name)
			if ix == nil || ix.State != catalog.StatePublic {
				return types.Errorf(types.ErCantDropFieldOrKey, name)
			}
			if ix.Primary {
				return types.Errorf(types.ErNotSupportedYet, "DROP PRIMARY KEY")
			}
			next.RemoveIndex(ix.ID)
			next.Finish()
		}
		return nil
	}
	// What the statement leaves is counted, not what it has meanwhile. Checked
	// before each index, so that a long list ends early; only indexes of t can
	// make room.
	room := indexesMax + min(len(plan.drop), len(t.Indexes))
	add := func(specs []IndexSpec) error {
		for i := range specs {
			if err := checkRoom(next, room); err != nil {
				return err
			}
			ix, err := buildIndex(next, &specs[i])
			if err != nil {
				return err
			}
			// An automatic name is fixed before another action takes it. No action
			// finds an index of its own statement, which is not public yet.
			specs[i].Name, ix.State = ix.Name, catalog.StateWriteOnly
			next.AddIndex(ix)
			next.Finish()
		}
		return nil
	}
	if err := drop(plan.gone); err != nil {
		return err
	}
	if err := add(plan.before); err != nil {
		return err
	}
	if err := applyInstant(next, plan.instant); err != nil {
		return err
	}
	if err := c.check(t, next); err != nil {
		return err
	}
	if err := add(plan.after); err != nil {
		return err
	}
	if err := drop(plan.drop); err != nil {
		return err
	}
	return checkAutoColumn(next)
}

// runAlter leaves in built the jobs of the indexes that are built and not public.
func (e *Executor) runAlter(c *Call, n Name, plan *alterPlan, p catalog.Patience, built *[]*job) error {
	build := func(specs []IndexSpec) error {
		for i := range specs {
			j, err := e.buildHidden(c, n, &specs[i], p)
			if err != nil {
				return err
			}
			*built = append(*built, j)
		}
		return nil
	}
	before, err := e.table(n)
	if err != nil {
		return err
	}
	renames := plan.makeWay(before)
	if err := build(plan.before); err != nil {
		return underName(err, renames)
	}
	if before, err = e.table(n); err != nil {
		return err
	}
	step := atomicStep{gone: plan.gone, instant: plan.instant, renames: renames}
	if len(plan.after) == 0 {
		step.ready = *built
	}
	if err := e.runStep(n, &step, p); err != nil {
		return err
	}
	if len(plan.after) > 0 {
		err := build(plan.after)
		if err == nil {
			err = e.runStep(n, &atomicStep{gone: plan.drop, ready: *built}, p)
		}
		if err != nil {
			e.undoBuilds(*built, p, err)
			*built = nil
			e.revertInstant(n, before, p)
			return err
		}
	}
	*built = nil
	if plan.autoIncrement > 0 {
		t, err := e.table(n)
		if err != nil {
			return err
		}
		if t.AutoInc != nil {
			if err := e.ids.For(t).SetNext(plan.autoIncrement); err != nil {
				return err
			}
		}
	}
	return nil
}

// rename is one index's name while it is built, and the one that it takes when
// the index that has that goes.
type rename struct{ from, to string }

// makeWay gives the new indexes that take a name of t other names.
func (plan *alterPlan) makeWay(t *catalog.Table) []rename {
	var renames []rename
	for i := range plan.before {
		spec := &plan.before[i]
		if old := t.Index(spec.Name); old != nil {
			spec.replaces = old.ID
			renames = append(renames, rename{fmt.Sprintf("#replacing-%d", old.ID), spec.Name})
			spec.Name = renames[len(renames)-1].from
		}
	}
	return renames
}

// underName returns the error of a build as it reads with the index's own name.
func underName(err error, renames []rename) error {
	var e *types.Error
	if !errors.As(err, &e) || e.Number != types.ErDupEntry {
		return err
	}
	for _, r := range renames {
		if message, found := strings.CutSuffix(e.Message, "."+r.from+"'"); found {
			return types.NewError(e.Number, message+"."+r.to+"'")
		}
	}
	return err
}

// atomicStep is what an ALTER changes in one commit.
type atomicStep struct {
	gone    []string // indexes to drop
	ready   []*job   // built indexes to make public
	renames []rename
	instant []AlterSpec
}

// runStep publishes the descriptor with all changes of s, while nobody uses the
// table: writers of two layouts never meet, and an index can go without the
// steps of dropIndex.
func (e *Executor) runStep(n Name, s *atomicStep, p catalog.Patience) error {
	if len(s.instant) == 0 && len(s.gone) == 0 {
		return e.publish(s.ready)
	}
	t, err := e.table(n)
	if err != nil {
		return err
	}
	next := t.Clone()
	next.Finish()
	jobs, err := e.removeIndexes(next, s.gone)
	if err != nil {
		return err
	}
	if err := e.makePublic(next, s.ready); err != nil {
		return err
	}
	for _, r := range s.renames {
		ix := next.Index(r.from)
		if ix == nil {
			return types.Errorf(types.ErKeyDoesNotExist, r.to, t.Name)
		}
		ix.Name, ix.Replaces = r.to, 0
		next.Finish()
	}
	if err := applyInstant(next, s.instant); err != nil {
		return err
	}
	for _, j := range s.ready {
		j.setPhase(phaseWaiting)
	}
	held, err := e.catalog.Close([]*catalog.Table{t}, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	err = e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, func(tx *txn.Txn) error {
		if err := putJobs(jobs)(tx); err != nil {
			return err
		}
		return removeJobs(s.ready)(tx)
	})
	if err != nil {
		return err
	}
	e.untrack(s.ready...)
	e.enqueue(jobs...)
	return nil
}

// removeIndexes takes indexes out of next, which nobody uses when it is
// published, and returns the jobs that free their entries.
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

// dropParts removes the indexes that a crash has left of ALTER TABLEs which had
// more to do: those that were to replace others, which are still there, and those
// of jobs that say so. Called by Open, before any session.
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
					continue // its job goes on
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
				// No reason not to start: the worker does it when there is space.
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

// revertInstant takes instant changes back after an index on their columns
// could not be built. Nothing was dropped by them (planAlter), so nothing is
// lost: added columns go, the others get their old description. Called behind
// undoBuilds.
func (e *Executor) revertInstant(n Name, before *catalog.Table, p catalog.Patience) {
	t, err := e.table(n)
	if err != nil {
		return
	}
	next := t.Clone()
	next.Finish()
	// An index that undoBuilds has left to the worker may be of a column that goes.
	var left []string
	for _, ix := range next.Indexes {
		if before.IndexByID(ix.ID) == nil {
			left = append(left, ix.Name)
		}
	}
	jobs, err := e.removeIndexes(next, left)
	if err != nil {
		e.log.Warn("ALTER TABLE could not be taken back", "table", n.Table, "error", err)
		return
	}
	next.Comment, next.Coll = before.Comment, before.Coll
	for i := len(next.Columns) - 1; i >= 0; i-- {
		old := before.ColumnByID(next.Columns[i].ID)
		if old == nil {
			next.RemoveColumn(i)
			continue
		}
		restored := *old
		next.Columns[i] = &restored
	}
	for _, ix := range next.Indexes {
		if old := before.IndexByID(ix.ID); old != nil && old.State == catalog.StatePublic {
			ix.Name, ix.Visible = old.Name, old.Visible
		}
	}
	next.Finish()
	next.NewLayout()
	held, err := e.catalog.Close([]*catalog.Table{t}, catalog.PatienceFor(revertPatience, nil, p.Self))
	if err == nil {
		err = e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, putJobs(jobs))
		openAll(held)
	}
	if err != nil {
		e.log.Warn("ALTER TABLE could not be taken back in full", "table", n.Table, "error", err)
		return
	}
	e.enqueue(jobs...)
}

// revertPatience bounds how long a failed ALTER TABLE waits for users of the
// table before it gives up taking its instant part back.
const revertPatience = 10 * time.Second
