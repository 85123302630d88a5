package infoschema

import "github.com/pandodb/pando/catalog"

// eachForeign calls f for every foreign key of the tables that the query looks at, in the order of the tables' names and their own.
func (q *query) eachForeign(f func(t *catalog.Table, key *catalog.ForeignKey) error) error {
	return q.eachTable(func(t *catalog.Table) error {
		for i := range t.ForeignKeys {
			if err := f(t, &t.ForeignKeys[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func foreignColumnUsage(q *query, t *catalog.Table) error {
	for i := range t.ForeignKeys {
		key := &t.ForeignKeys[i]
		for j, id := range key.Columns {
			err := q.emit(catalogName, t.Schema, key.Name, catalogName, t.Schema, t.Name, t.ColumnByID(id).Name, uint64(j+1), uint64(j+1),
				key.Parent.Schema, key.Parent.Name, key.RefColumns[j])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// referentialConstraints names the unique key that each foreign key refers to, if there is one.
func referentialConstraints(q *query) error {
	return q.eachForeign(func(t *catalog.Table, key *catalog.ForeignKey) error {
		var unique any
		if parent := q.Snapshot().Lookup(key.Parent.Schema, key.Parent.Name); parent != nil && parent.View == nil {
			if index := parent.ParentIndex(key.RefOrdinals(parent), false); index != nil {
				unique = index.Name
			}
		}
		match := key.Match
		if match == "" {
			match = "NONE"
		}
		return q.emit(catalogName, t.Schema, key.Name, catalogName, key.Parent.Schema, unique, match, key.OnUpdate.String(), key.OnDelete.String(),
			t.Name, key.Parent.Name)
	})
}

// The bits of INNODB_FOREIGN.TYPE.
const (
	foreignDeleteCascade = 1 << iota
	foreignDeleteSetNull
	foreignUpdateCascade
	foreignUpdateSetNull
	foreignDeleteNoAction
	foreignUpdateNoAction
)

func innodbForeign(q *query) error {
	onDelete := map[catalog.RefAction]int{catalog.Cascade: foreignDeleteCascade, catalog.SetNull: foreignDeleteSetNull, catalog.NoAction: foreignDeleteNoAction}
	onUpdate := map[catalog.RefAction]int{catalog.Cascade: foreignUpdateCascade, catalog.SetNull: foreignUpdateSetNull, catalog.NoAction: foreignUpdateNoAction}
	return q.eachForeign(func(t *catalog.Table, key *catalog.ForeignKey) error {
		return q.emit(t.Schema+"/"+key.Name, t.Schema+"/"+t.Name, key.Parent.Schema+"/"+key.Parent.Name, int64(len(key.Columns)),
			uint64(onDelete[key.OnDelete]|onUpdate[key.OnUpdate]))
	})
}

func innodbForeignColumns(q *query) error {
	return q.eachForeign(func(t *catalog.Table, key *catalog.ForeignKey) error {
		for i, id := range key.Columns {
			if err := q.emit(t.Schema+"/"+key.Name, t.ColumnByID(id).Name, key.RefColumns[i], uint64(i+1)); err != nil {
				return err
			}
		}
		return nil
	})
}
