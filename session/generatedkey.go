package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/types"
)

// Errors of generated primary keys.
const (
	errKeyColumnExists = 4108
	errKeyAutoExists   = 4109
	errKeyAltered      = 4110
	errKeyDropped      = 4111
)

// addGeneratedKey is sql_generate_invisible_primary_key: a new table without a primary key, and without a unique key that could be one, gets an invisible
// column that numbers its rows. A copy by LIKE is as its original.
func (s *Session) addGeneratedKey(spec *ddl.TableSpec) error {
	if s.get("sql_generate_invisible_primary_key") == "OFF" || spec.Like || slices.ContainsFunc(spec.Indexes, func(ix ddl.IndexSpec) bool { return isRowKey(spec, ix) }) {
		return nil
	}
	for i := range spec.Columns {
		if strings.EqualFold(spec.Columns[i].Name, catalog.GeneratedKeyColumn) {
			return types.NewError(errKeyColumnExists, "Failed to generate invisible primary key. Column '"+catalog.GeneratedKeyColumn+"' already exists.")
		}
	}
	if slices.ContainsFunc(spec.Columns, func(c ddl.ColumnSpec) bool { return c.AutoInc }) {
		return types.NewError(errKeyAutoExists, "Failed to generate invisible primary key. Auto-increment column already exists.")
	}
	column := ddl.ColumnSpec{Name: catalog.GeneratedKeyColumn, Type: types.Type{ID: types.TypeBigInt, Unsigned: true, Length: -1}, NotNull: true, AutoInc: true, Invisible: true}
	spec.Columns = append([]ddl.ColumnSpec{column}, spec.Columns...)
	spec.Indexes = append([]ddl.IndexSpec{{Primary: true, Unique: true, Columns: []ddl.IndexColumnSpec{{Column: column.Name}}}}, spec.Indexes...)
	return nil
}

// isRowKey reports whether an index of a new table is its primary key, or could be: it is unique, over whole NOT NULL columns that rows hold.
func isRowKey(spec *ddl.TableSpec, ix ddl.IndexSpec) bool {
	return ix.Primary || ix.Unique && !slices.ContainsFunc(ix.Columns, func(part ddl.IndexColumnSpec) bool {
		at := slices.IndexFunc(spec.Columns, func(c ddl.ColumnSpec) bool { return strings.EqualFold(c.Name, part.Column) })
		if at < 0 || part.HasPrefix {
			return true
		}
		c := &spec.Columns[at]
		return !c.NotNull || c.Generated != nil && !c.Generated.Stored
	})
}

// keysAfter is what changes make of a table's columns and indexes, as far as keys go. Names in what is dropped, renamed and modified are those of the
// table as it is, whatever the order of the changes.
func keysAfter(t *catalog.Table, actions []ddl.AlterSpec) *ddl.TableSpec {
	spec := likeTable(t)
	for _, action := range actions {
		switch action := action.(type) {
		case ddl.DropIndex:
			spec.Indexes = slices.DeleteFunc(spec.Indexes, func(ix ddl.IndexSpec) bool {
				return strings.EqualFold(ix.Name, action.Name) || ix.Primary && strings.EqualFold(action.Name, catalog.PrimaryName)
			})
		case ddl.DropColumn:
			for i := range spec.Indexes {
				spec.Indexes[i].Columns = slices.DeleteFunc(spec.Indexes[i].Columns, func(part ddl.IndexColumnSpec) bool { return strings.EqualFold(part.Column, action.Name) })
			}
			spec.Indexes = slices.DeleteFunc(spec.Indexes, func(ix ddl.IndexSpec) bool { return len(ix.Columns) == 0 })
		}
	}
	columns := map[string]ddl.ColumnSpec{} // by the lower case name that they have now
	for _, c := range spec.Columns {
		columns[strings.ToLower(c.Name)] = c
	}
	for _, action := range actions {
		switch action := action.(type) {
		case ddl.DropColumn:
			delete(columns, strings.ToLower(action.Name))
		case ddl.RenameColumn:
			if c, ok := columns[strings.ToLower(action.From)]; ok {
				c.Name = action.To
				columns[strings.ToLower(action.From)] = c
			}
		case ddl.ModifyColumn:
			if _, ok := columns[strings.ToLower(action.From)]; ok {
				columns[strings.ToLower(action.From)] = action.Column
			}
		}
	}
	for i := range spec.Indexes {
		for k := range spec.Indexes[i].Columns {
			part := &spec.Indexes[i].Columns[k]
			part.Column = columns[strings.ToLower(part.Column)].Name
		}
	}
	spec.Columns = slices.Collect(maps.Values(columns))
	for _, action := range actions {
		switch action := action.(type) {
		case ddl.AddIndex:
			spec.Indexes = append(spec.Indexes, action.Index)
		case ddl.AddColumn:
			spec.Columns = append(spec.Columns, action.Column)
		}
	}
	return spec
}

// keepsRowKey refuses changes that take a table its last key of isRowKey, while new tables get one.
func (s *Session) keepsRowKey(t *catalog.Table, after *ddl.TableSpec) error {
	if s.get("sql_generate_invisible_primary_key") == "OFF" || !t.HasRowKey() || slices.ContainsFunc(after.Indexes, func(ix ddl.IndexSpec) bool { return isRowKey(after, ix) }) {
		return nil
	}
	return types.Errorf(types.ErNotSupportedYet, "an operation that leaves the table without a PRIMARY KEY or a UNIQUE NOT NULL key while @@sql_generate_invisible_primary_key=ON.")
}

// keepsGeneratedKey refuses changes of a generated primary key: of its column only the visibility and the comment may change, and it is dropped with its
// column only.
func keepsGeneratedKey(t *catalog.Table, actions []ddl.AlterSpec) error {
	if !t.GeneratedKey() {
		return nil
	}
	key, alters, dropsKey, dropsColumn := t.Columns[0], false, false, false
	is := func(name string) bool { return strings.EqualFold(name, key.Name) }
	for _, action := range actions {
		altered := false
		switch action := action.(type) {
		case ddl.RenameColumn:
			altered = is(action.From)
		case ddl.SetDefault:
			altered = is(action.Column)
		case ddl.ModifyColumn:
			c := action.Column
			altered = is(action.From) && !(is(c.Name) && c.Type.ID == key.Type.ID && c.Type.Unsigned && c.NotNull && c.AutoInc && c.After == "" && !c.First)
		case ddl.DropColumn:
			dropsColumn = dropsColumn || is(action.Name)
		case ddl.DropIndex:
			dropsKey = dropsKey || strings.EqualFold(action.Name, catalog.PrimaryName)
		}
		alters = alters || altered
	}
	switch {
	case dropsKey && !dropsColumn:
		return types.NewError(errKeyDropped, "Please drop primary key column to be able to drop generated invisible primary key.")
	case alters:
		return types.NewError(errKeyAltered, "Altering generated invisible primary key column '"+key.Name+"' is not allowed.")
	}
	return nil
}

// behindGeneratedKey moves new columns that are to come first behind a generated primary key, which stays the first column.
func behindGeneratedKey(t *catalog.Table, actions []ddl.AlterSpec) {
	if !t.GeneratedKey() {
		return
	}
	for i := range actions {
		switch action := actions[i].(type) {
		case ddl.AddColumn:
			if action.Column.First {
				action.Column.First, action.Column.After = false, t.Columns[0].Name
				actions[i] = action
			}
		case ddl.ModifyColumn:
			if action.Column.First {
				action.Column.First, action.Column.After = false, t.Columns[0].Name
				actions[i] = action
			}
		}
	}
}

// shownTable is the table as SHOW CREATE TABLE tells it.
func (s *Session) shownTable(t *catalog.Table) *catalog.Table {
	if t.GeneratedKey() && !s.showsGeneratedKeys() {
		return t.WithoutGeneratedKey()
	}
	return t
}

func (s *Session) showsGeneratedKeys() bool {
	return s.get("show_gipk_in_create_table_and_information_schema") == "ON"
}
