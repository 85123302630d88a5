package ddl

import (
	"strings"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// AlterTable runs the actions of one ALTER TABLE. What only changes the
// descriptor is one atomic step behind the table's gate; indexes are built
// before it, online, or after it if they name a new column. When one of several
// index builds fails, the statement's other new indexes are dropped again.
func (e *Executor) AlterTable(c *Call, n Name, actions []AlterSpec) error {
	for _, a := range actions {
		if r, ok := a.(RenameTo); ok {
			if len(actions) > 1 {
				return types.Errorf(types.ErNotSupportedYet, "RENAME together with other actions of ALTER TABLE")
			}
			return e.RenameTables(c, []RenamePair{{n, r.To}})
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
	var built []string
	err = e.runAlter(c, n, plan, p, &built)
	if err != nil {
		for _, name := range built {
			_ = e.dropIndex(c, n, name, catalog.PatienceFor(workerPatience, nil, p.Self))
		}
	}
	return err
}

// alterPlan is the order in which the actions run.
type alterPlan struct {
	dropFirst     []string // indexes whose names are taken again
	before, after []IndexSpec
	instant       []AlterSpec
	drop          []string
	autoIncrement uint64
	dropsColumn   bool
}

// planAlter sorts the actions and checks them against copies of t, so that what
// can be refused is refused before anything happens.
func planAlter(c *Call, t *catalog.Table, actions []AlterSpec) (*alterPlan, error) {
	plan := &alterPlan{}
	fresh := map[string]bool{}
	adds := map[string]bool{}
	for _, a := range actions {
		switch a := a.(type) {
		case AddColumn:
			fresh[strings.ToLower(a.Column.Name)] = true
		case RenameColumn:
			fresh[strings.ToLower(a.To)] = true
		case AddIndex:
			adds[strings.ToLower(a.Index.Name)] = true
		}
	}
	for _, a := range actions {
		switch a := a.(type) {
		case AddIndex:
			if usesAny(&a.Index, fresh) {
				plan.after = append(plan.after, a.Index)
			} else {
				plan.before = append(plan.before, a.Index)
			}
		case DropIndex:
			if adds[strings.ToLower(a.Name)] {
				plan.dropFirst = append(plan.dropFirst, a.Name)
			} else {
				plan.drop = append(plan.drop, a.Name)
			}
		case DropColumn:
			names, err := indexesOf(t, a.Name)
			if err != nil {
				return nil, err
			}
			plan.dropFirst = append(plan.dropFirst, names...)
			plan.dropsColumn = true
			plan.instant = append(plan.instant, a)
		case SetAutoIncrement:
			plan.autoIncrement = a.Next
		default:
			plan.instant = append(plan.instant, a)
		}
	}
	if len(plan.after) > 0 && (plan.dropsColumn || len(plan.dropFirst) > 0) {
		return nil, types.Errorf(types.ErNotSupportedYet, "DROP together with an index on a column that is new or renamed in the same ALTER TABLE")
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
// it. A column that shares an index would need that index rebuilt.
func indexesOf(t *catalog.Table, column string) ([]string, error) {
	col := t.Column(column)
	if col == nil {
		return nil, types.Errorf(types.ErCantDropFieldOrKey, column)
	}
	var names []string
	for _, ix := range t.Indexes {
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
			next.RemoveIndex(ix.ID)
			next.Finish()
		}
		return nil
	}
	add := func(specs []IndexSpec) error {
		for i := range specs {
			ix, err := buildIndex(next, &specs[i])
			if err != nil {
				return err
			}
			next.AddIndex(ix)
			next.Finish()
		}
		return nil
	}
	if err := drop(plan.dropFirst); err != nil {
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
	return drop(plan.drop)
}

func (e *Executor) runAlter(c *Call, n Name, plan *alterPlan, p catalog.Patience, built *[]string) error {
	build := func(specs []IndexSpec) error {
		for i := range specs {
			spec := specs[i]
			if spec.Name == "" {
				// Fix the automatic name, so that a failure later can drop it.
				t, err := e.table(n)
				if err != nil {
					return err
				}
				ix, err := buildIndex(t, &spec)
				if err != nil {
					return err
				}
				spec.Name = ix.Name
			}
			if err := e.createIndex(c, n, &spec, p); err != nil {
				return err
			}
			*built = append(*built, spec.Name)
		}
		return nil
	}
	drop := func(names []string) error {
		for _, name := range names {
			if err := e.dropIndex(c, n, name, p); err != nil {
				return err
			}
		}
		return nil
	}
	if err := drop(plan.dropFirst); err != nil {
		return err
	}
	if err := build(plan.before); err != nil {
		return err
	}
	before, err := e.table(n)
	if err != nil {
		return err
	}
	if err := e.runInstant(n, plan.instant, p); err != nil {
		return err
	}
	if err := build(plan.after); err != nil {
		e.revertInstant(n, before, built, p)
		return err
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
	return drop(plan.drop)
}

// runInstant publishes the descriptor with all instant changes in one step,
// while nobody uses the table: writers of two layouts never meet.
func (e *Executor) runInstant(n Name, actions []AlterSpec, p catalog.Patience) error {
	if len(actions) == 0 {
		return nil
	}
	t, err := e.table(n)
	if err != nil {
		return err
	}
	next := t.Clone()
	next.Finish()
	if err := applyInstant(next, actions); err != nil {
		return err
	}
	held, err := e.catalog.Close([]*catalog.Table{t}, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	return e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, nil)
}

// revertInstant takes instant changes back after an index on their columns
// could not be built. Nothing was dropped by them (planAlter), so nothing is
// lost: added columns go, the others get their old description.
func (e *Executor) revertInstant(n Name, before *catalog.Table, built *[]string, p catalog.Patience) {
	for _, name := range *built {
		_ = e.dropIndex(&Call{}, n, name, catalog.PatienceFor(workerPatience, nil, p.Self))
	}
	*built = nil
	t, err := e.table(n)
	if err != nil {
		return
	}
	next := t.Clone()
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
		if old := before.IndexByID(ix.ID); old != nil {
			ix.Name, ix.Visible = old.Name, old.Visible
		}
	}
	next.Finish()
	next.NewLayout()
	held, err := e.catalog.Close([]*catalog.Table{t}, catalog.PatienceFor(revertPatience, nil, p.Self))
	if err == nil {
		err = e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, nil)
		openAll(held)
	}
	if err != nil {
		e.log.Warn("ALTER TABLE could not be taken back in full", "table", n.Table, "error", err)
	}
}

// revertPatience bounds how long a failed ALTER TABLE waits for users of the
// table before it gives up taking its instant part back.
const revertPatience = 10 * time.Second
