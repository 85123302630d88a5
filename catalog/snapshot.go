package catalog

import (
	"sort"

	"github.com/pandodb/pando/types"
)

// Snapshot is one immutable state of the whole schema. Copying a Table or
// Database pointer out of it is safe for ever.
type Snapshot struct {
	version   uint64
	databases map[string]*databaseEntry
	// temporary are the temporary tables of a session; nil in the snapshot that all sessions share.
	temporary map[TableName]*Table
}

// databaseEntry holds a database and its tables. Snapshots share entries that
// did not change.
type databaseEntry struct {
	desc   *Database
	tables map[string]*Table
}

// Version returns the number of this state; later states have larger numbers.
func (s *Snapshot) Version() uint64 { return s.version }

// Database returns the database called name (case-sensitive) or nil.
func (s *Snapshot) Database(name string) *Database {
	if e := s.databases[name]; e != nil {
		return e.desc
	}
	return nil
}

// Table returns a table by name (case-sensitive, as on Linux). The error is
// 1049 for an unknown database and 1146 for an unknown table.
func (s *Snapshot) Table(db, name string) (*Table, error) {
	if t := s.Temporary(db, name); t != nil {
		return t, nil
	}
	e := s.databases[db]
	if e == nil {
		return nil, types.Errorf(types.ErBadDB, db)
	}
	if t := e.tables[name]; t != nil {
		return t, nil
	}
	return nil, types.Errorf(types.ErNoSuchTable, db, name)
}

// Lookup is Table without an error: nil when there is no such table.
func (s *Snapshot) Lookup(db, name string) *Table {
	if t := s.Temporary(db, name); t != nil {
		return t
	}
	if e := s.databases[db]; e != nil {
		return e.tables[name]
	}
	return nil
}

// Has reports whether t is the current version of its table in s.
func (s *Snapshot) Has(t *Table) bool { return s.Lookup(t.Schema, t.Name) == t }

// HasPublic is Has without regard to temporary tables.
func (s *Snapshot) HasPublic(t *Table) bool {
	e := s.databases[t.Schema]
	return e != nil && e.tables[t.Name] == t
}

// TableByID finds a table by its object id, nil if there is none. It is slow,
// because it searches all tables.
func (s *Snapshot) TableByID(id uint64) *Table {
	for _, e := range s.databases {
		for _, t := range e.tables {
			if t.ID == id {
				return t
			}
		}
	}
	return nil
}

// Tables returns the tables of a database in name order, without temporary ones; nil for an unknown one.
func (s *Snapshot) Tables(db string) []*Table {
	e := s.databases[db]
	if e == nil {
		return nil
	}
	out := make([]*Table, 0, len(e.tables))
	for _, t := range e.tables {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Databases returns every user database in name order. System schemas are not
// in the catalog.
func (s *Snapshot) Databases() []*Database {
	out := make([]*Database, 0, len(s.databases))
	for _, e := range s.databases {
		out = append(out, e.desc)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
