package ddl

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/types"
)

// ViewSpec describes CREATE VIEW and ALTER VIEW.
type ViewSpec struct {
	Name
	Columns []ColumnSpec // of the query's result
	View    *catalog.View
	// Replace: an existing view is replaced. Must: there must be one (ALTER VIEW).
	Replace, Must bool
	IfNotExists   bool
}

// CreateView creates a view or replaces one. As after any schema change, plans that used the old version are made again.
func (e *Executor) CreateView(c *Call, spec *ViewSpec) error {
	if err := checkSchemaAccess(spec.Schema); err != nil {
		return err
	}
	p := c.patience()
	release, err := e.lockNames(c, tableRefs(spec.Name), p)
	if err != nil {
		return err
	}
	defer release()
	snap := e.catalog.Current()
	d := snap.Database(spec.Schema)
	if d == nil {
		return types.Errorf(types.ErBadDB, spec.Schema)
	}
	old := snap.Lookup(spec.Schema, spec.Table)
	switch {
	case old != nil && old.View == nil:
		if spec.Replace || spec.Must {
			return types.Errorf(types.ErWrongObject, spec.Schema, spec.Table, "VIEW")
		}
		return types.Errorf(types.ErTableExists, spec.Table)
	case old != nil && spec.IfNotExists:
		c.note(types.ErTableExists, spec.Table)
		return nil
	case old != nil && !spec.Replace:
		return types.Errorf(types.ErTableExists, spec.Table)
	case old == nil && spec.Must:
		return types.Errorf(types.ErNoSuchTable, spec.Schema, spec.Table)
	}
	t, err := buildTable(c, &TableSpec{Name: spec.Name, Columns: spec.Columns}, d.Coll)
	if err != nil {
		return err
	}
	if old != nil {
		return e.replaceView(old, spec, p)
	}
	t.View = spec.View
	if t.ID, err = e.catalog.NextID(); err != nil {
		return err
	}
	physID, err := e.catalog.NextID()
	if err != nil {
		return err
	}
	t.SetData(physID)
	t.CreateMillis = clock.NowMillis()
	return e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{t}, Fresh: true}, nil)
}

// replaceView publishes a new version of a view. All its columns get new ids.
func (e *Executor) replaceView(old *catalog.Table, spec *ViewSpec, p catalog.Patience) error {
	next := old.Clone()
	next.Columns, next.Layouts, next.View = nil, nil, spec.View
	for i := range spec.Columns {
		if err := addColumn(next, &spec.Columns[i], -1); err != nil {
			return err
		}
	}
	next.Finish()
	held, err := e.catalog.Close([]*catalog.Table{old}, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	return e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, nil)
}

// DropViews drops all views or, on error, none. It returns 1051 for missing views and 1347 for tables; with ifExists each of these is a note.
func (e *Executor) DropViews(c *Call, names []Name, ifExists bool) error {
	p := c.patience()
	release, err := e.lockNames(c, tableRefs(names...), p)
	if err != nil {
		return err
	}
	defer release()
	snap := e.catalog.Current()
	var drop []*catalog.Table
	missing := ""
	for _, n := range names {
		if err := checkSchemaAccess(n.Schema); err != nil {
			return err
		}
		switch t := snap.Lookup(n.Schema, n.Table); {
		case t != nil && t.View == nil && ifExists:
			c.note(types.ErWrongObject, n.Schema, n.Table, "VIEW")
		case t != nil && t.View == nil:
			return types.Errorf(types.ErWrongObject, n.Schema, n.Table, "VIEW")
		case t != nil:
			drop = append(drop, t)
		case ifExists:
			c.note(types.ErBadTable, n.Schema+"."+n.Table)
		default:
			if missing != "" {
				missing += ","
			}
			missing += n.Schema + "." + n.Table
		}
	}
	if missing != "" {
		return types.Errorf(types.ErBadTable, missing)
	}
	if len(drop) == 0 {
		return nil
	}
	return e.dropTables(c, &catalog.Change{DropTables: drop}, p)
}
