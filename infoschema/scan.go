package infoschema

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// wanted lists the only names that the conditions allow in a column; all says that any is.
func (q *query) wanted(name string) (names []string, all bool) {
	if name == "" {
		return nil, true
	}
	at := q.layout.column(name)
	values, ok := q.filter.Values(at)
	if !ok {
		return nil, true
	}
	coll := q.layout.columns[at].kind.Coll
	for i := range values {
		if values[i].IsNull() {
			continue
		}
		text := string(types.AppendText(nil, nil, &values[i]))
		if values[i].IsString() {
			text = types.InUTF8(text, values[i].Coll.Charset())
		}
		if coll.PadSpace() {
			text = strings.TrimRight(text, " ")
		}
		names = append(names, text)
	}
	slices.Sort(names)
	return slices.Compact(names), false
}

// schemasWanted are the schemas that the conditions allow.
func (q *query) schemasWanted() (names []string, all bool) {
	names, all = q.wanted(q.source.schema)
	if also, any := q.wanted(q.source.also); !any {
		if all {
			return also, false
		}
		return intersect(names, also), false
	}
	return names, all
}

func intersect(a, b []string) (both []string) {
	for _, x := range a {
		if slices.Contains(b, x) {
			both = append(both, x)
		}
	}
	return both
}

// wants reports whether rows about a table, or about a database when table is empty, can be among those asked for.
func (q *query) wants(schema, table string) bool {
	keys := map[int]types.Value{}
	for _, c := range [3][2]string{{q.source.schema, schema}, {q.source.also, schema}, {q.source.table, table}} {
		if at := q.layout.column(c[0]); at >= 0 && c[1] != "" {
			v := types.Text(c[1])
			v.Coll = q.layout.columns[at].kind.Coll
			keys[at] = v
		}
	}
	return q.filter.Wants(keys)
}

// eachSchema calls f for every database that the conditions and the account's rights allow, the system schemas included.
func (q *query) eachSchema(f func(name string, db *catalog.Database) error) error {
	names, all := q.schemasWanted()
	if all {
		names = append(names, Schemas...)
		for _, db := range q.Snapshot().Databases() {
			names = append(names, db.Name)
		}
		slices.Sort(names)
	}
	for _, name := range names {
		db := q.Snapshot().Database(name)
		if db == nil && !slices.Contains(Schemas, name) || !q.wants(name, "") || !q.seesSchema(name) {
			continue
		}
		if err := f(name, db); err != nil {
			return err
		}
	}
	return nil
}

// seesSchema reports whether the account may know of a database. Two of the system schemas are there for everybody.
func (q *query) seesSchema(name string) bool {
	return name == "information_schema" || name == "performance_schema" || q.Visible(name, "")
}

// eachTable calls f for every table and view that the conditions and the account's rights allow.
func (q *query) eachTable(f func(t *catalog.Table) error) error {
	names, all := q.wanted(q.source.table)
	return q.eachSchema(func(schema string, db *catalog.Database) error {
		if db == nil {
			return nil
		}
		var list []*catalog.Table
		if all {
			list = q.Snapshot().Tables(schema)
		} else {
			for _, name := range names {
				if t := q.Snapshot().Lookup(schema, name); t != nil {
					list = append(list, t)
				}
			}
		}
		for _, t := range list {
			if !q.wants(schema, t.Name) || !q.Visible(schema, t.Name) {
				continue
			}
			q.ReadTable()
			if err := f(t); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachLayout calls f for every virtual table that the conditions and the account's rights allow.
func (q *query) eachLayout(f func(l *layout) error) error {
	names, all := q.wanted(q.source.table)
	return q.eachSchema(func(schema string, db *catalog.Database) error {
		if db != nil {
			return nil
		}
		for _, s := range sorted(sources()[schema]) {
			l := s.layout
			if !all && !slices.Contains(names, l.name) || !q.wants(schema, l.name) || !q.seesLayout(l) {
				continue
			}
			q.ReadTable()
			if err := f(l); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *query) seesLayout(l *layout) bool {
	return l.schema == "information_schema" || l.schema == "performance_schema" || q.Visible(l.schema, l.name)
}

// sorted lists the sources of a schema by name.
func sorted(group map[string]*source) []*source {
	list := make([]*source, 0, len(group))
	for _, s := range group {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *source) int { return strings.Compare(a.layout.name, b.layout.name) })
	return list
}

// hidesKey reports whether the table's primary key and its column, the first, are not to be shown.
func (q *query) hidesKey(t *catalog.Table) bool { return t.GeneratedKey() && !q.ShowsGeneratedKeys() }

// shows reports whether a table's column is to be shown.
func (q *query) shows(t *catalog.Table, column int) bool { return column > 0 || !q.hidesKey(t) }

// eachIndex calls f for every public index of the tables that is shown, the primary key first, then the unique ones that can't be NULL, as MySQL does.
func (q *query) eachIndex(f func(t *catalog.Table, index *catalog.Index) error) error {
	return q.eachTable(func(t *catalog.Table) error {
		for _, index := range t.Indexes {
			if index.State != catalog.StatePublic || index.Primary && q.hidesKey(t) {
				continue
			}
			if err := f(t, index); err != nil {
				return err
			}
		}
		return nil
	})
}
