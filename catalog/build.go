package catalog

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/types"
)

// Names that MySQL gives by itself.
const (
	PrimaryName   = "PRIMARY"
	DefaultEngine = "InnoDB"
)

// NewTable returns the first version of a table under construction. The caller
// fills the exported fields and calls AddColumn, AddIndex and Finish.
func NewTable(id, physID uint64, schema, name string) *Table {
	t := &Table{
		ID: id, Schema: schema, Name: name, Engine: DefaultEngine,
		Coll: types.DefaultCollation, nextColumnID: 1, nextIndexID: 1, gate: &Gate{},
	}
	t.SetData(physID)
	return t
}

// Clone returns a copy to be changed and published as the next version. Columns
// and indexes are copied; it shares the gate and, until SetData, the dictionaries.
func (t *Table) Clone() *Table {
	n := &Table{
		ID: t.ID, PhysID: t.PhysID, Counting: t.Counting, Schema: t.Schema, Name: t.Name,
		ReadableFrom: t.ReadableFrom, Coll: t.Coll, Engine: t.Engine, Comment: t.Comment,
		Options: t.Options, CreateMillis: t.CreateMillis, View: t.View, Temporary: t.Temporary,
		nextColumnID: t.nextColumnID, nextIndexID: t.nextIndexID, gate: t.gate, dictionaries: t.dictionaries,
		compiler: t.compiler,
	}
	n.Columns = make([]*Column, len(t.Columns))
	for i, c := range t.Columns {
		cc := *c
		n.Columns[i] = &cc
	}
	n.Indexes = make([]*Index, len(t.Indexes))
	for i, ix := range t.Indexes {
		ii := *ix
		ii.Columns = slices.Clone(ix.Columns)
		n.Indexes[i] = &ii
	}
	n.Layouts = slices.Clone(t.Layouts)
	n.Checks = slices.Clone(t.Checks)
	n.ForeignKeys = slices.Clone(t.ForeignKeys)
	n.Referrers = slices.Clone(t.Referrers)
	return n
}

// AddColumn appends c, or inserts it at ordinal at when at is not negative, and
// gives it an id. The ordinals in indexes are adjusted. Hidden columns stay after
// all others.
func (t *Table) AddColumn(c *Column, at int) {
	c.ID = t.nextColumnID
	t.nextColumnID++
	if last := len(t.Visible()); !c.Hidden && (at < 0 || at > last) {
		at = last
	}
	if at < 0 || at >= len(t.Columns) {
		t.Columns = append(t.Columns, c)
		return
	}
	t.Columns = slices.Insert(t.Columns, at, c)
	t.shiftIndexColumns(at, 1)
}

// RemoveColumn takes out the column at ordinal at, which no index may name.
func (t *Table) RemoveColumn(at int) {
	t.Columns = slices.Delete(t.Columns, at, at+1)
	t.shiftIndexColumns(at, -1)
}

func (t *Table) shiftIndexColumns(from, by int) {
	for _, ix := range t.Indexes {
		for i := range ix.Columns {
			if ix.Columns[i].Col >= from {
				ix.Columns[i].Col += by
			}
		}
	}
}

// AddIndex appends ix and gives it an id.
func (t *Table) AddIndex(ix *Index) {
	ix.ID = t.nextIndexID
	t.nextIndexID++
	t.Indexes = append(t.Indexes, ix)
}

// RemoveIndex takes out the index with that id, and the hidden columns that
// stand for its expressions.
func (t *Table) RemoveIndex(id uint64) {
	var hidden []*Column
	t.Indexes = slices.DeleteFunc(t.Indexes, func(ix *Index) bool {
		if ix.ID != id {
			return false
		}
		for i := range ix.Columns {
			if c := t.ColumnOf(&ix.Columns[i]); c.Hidden {
				hidden = append(hidden, c)
			}
		}
		return true
	})
	for _, c := range hidden {
		if at := slices.Index(t.Columns, c); at >= 0 { // an added column (IndexColumn.Added) is not in the table yet
			t.RemoveColumn(at)
		}
	}
	for i, c := range t.Columns {
		c.Ordinal = i
	}
}

// NewLayout starts a new generation of rows if the set of stored columns
// differs from that of the last layout. Call after Finish, then Finish is not
// needed again.
func (t *Table) NewLayout() {
	ids := t.storedColumns()
	if n := len(t.Layouts); n > 0 {
		if slices.Equal(t.Layouts[n-1].Columns, ids) {
			return
		}
		t.Layouts = append(t.Layouts, Layout{Version: t.Layouts[n-1].Version + 1, Columns: ids})
		return
	}
	t.Layouts = []Layout{{Version: 1, Columns: ids}}
}

// storedColumns returns the ids of the columns that a row value holds: all but
// the virtual ones and the primary key columns that the key gives back.
func (t *Table) storedColumns() []uint32 {
	ids := make([]uint32, 0, len(t.Columns))
	for _, c := range t.Columns {
		if !c.Virtual() && (t.PK == nil || !t.inKey(c)) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (t *Table) inKey(c *Column) bool {
	for _, ic := range t.PK.Columns {
		if ic.Col == c.Ordinal {
			return types.KeyRecoverable(&c.Type, ic.PrefixLen)
		}
	}
	return false
}

// Finish sorts the indexes as MySQL does (primary key, unique without NULLs,
// unique, others; those under construction last) and fills the derived fields.
// It must be called after every change and before the table is published.
func (t *Table) Finish() {
	t.PK, t.AutoInc = nil, nil
	t.byName = make(map[string]int, len(t.Columns))
	for i, c := range t.Columns {
		c.Ordinal = i
		if !c.Hidden {
			t.byName[strings.ToLower(c.Name)] = i
		}
		if c.AutoInc {
			t.AutoInc = c
		}
	}
	slices.SortStableFunc(t.Indexes, func(a, b *Index) int { return t.rank(a) - t.rank(b) })
	t.indexByName = make(map[string]*Index, len(t.Indexes))
	for _, ix := range t.Indexes {
		t.indexByName[strings.ToLower(ix.Name)] = ix
		if ix.Primary {
			t.PK = ix
		}
	}
	if len(t.Layouts) == 0 {
		t.NewLayout()
	}
}

// SetData points t to the empty key space of a physical id.
func (t *Table) SetData(physID uint64) {
	t.PhysID, t.Counting, t.dictionaries = physID, 0, newDictionaries(physID)
}

// Dictionaries returns the compression dictionaries of t's rows.
func (t *Table) Dictionaries() *Dictionaries { return t.dictionaries }

// rank is MySQL's order of indexes: unique ones whose columns are NOT NULL before others, then those without prefixes, then those without virtual
// columns.
func (t *Table) rank(ix *Index) int {
	switch {
	case ix.Primary:
		return 0
	case ix.State != StatePublic:
		return 10
	case !ix.Unique:
		return 9
	}
	null, prefix, virtual := 0, 0, 0
	for _, ic := range ix.Columns {
		c := t.Columns[ic.Col]
		if !c.NotNull {
			null = 4
		}
		if ic.PrefixLen > 0 {
			prefix = 2
		}
		if c.Virtual() {
			virtual = 1
		}
	}
	return 1 + null + prefix + virtual
}

// IsSystemSchema reports whether db is one of the schemas that the server
// provides itself. Their names are reserved in any case.
func IsSystemSchema(db string) bool {
	switch strings.ToLower(db) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

// Derived returns what build made of t on the first call. Package table keeps
// here what it derives from a descriptor, so that readers and writers of
// every session share them. build may run more than once at the same time; one
// result wins.
func (t *Table) Derived(build func(*Table) any) any {
	if d := t.derived.Load(); d != nil {
		return *d
	}
	made := build(t)
	if t.derived.CompareAndSwap(nil, &made) {
		return made
	}
	return *t.derived.Load()
}

// KeyEncodingVersion is the version of the key encoding of package types that
// new indexes record.
const KeyEncodingVersion = 1

// WeightsOf returns the checksum over the collation weights that the entries of
// ix depend on, 0 if none. Indexes record it when they are built.
func WeightsOf(t *Table, ix *Index) uint64 {
	sum := uint64(0)
	for i := range ix.Columns {
		if c := t.ColumnOf(&ix.Columns[i]); c.Type.IsText() {
			// Rotation makes the order of the columns count.
			sum = (sum<<1 | sum>>63) ^ c.Type.Coll.WeightsChecksum()
		}
	}
	return sum
}

// StaleIndexes lists the indexes whose entries were written with another key
// encoding or other collation weights than this process has: they order wrongly
// and have to be rebuilt before they are used.
func (t *Table) StaleIndexes() []*Index {
	var out []*Index
	for _, ix := range t.Indexes {
		if ix.EncodingVersion != KeyEncodingVersion || ix.WeightsChecksum != WeightsOf(t, ix) {
			out = append(out, ix)
		}
	}
	return out
}
