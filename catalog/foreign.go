package catalog

import (
	"slices"
	"strconv"
	"strings"
)

// RefAction is what happens to the child rows of a parent row that is deleted or gets another key.
type RefAction uint8

// The actions of foreign keys. SET DEFAULT and NO ACTION do what RESTRICT does; they differ in how they are shown.
const (
	NoAction RefAction = iota
	Restrict
	Cascade
	SetNull
	SetDefault
)

var refActionNames = [...]string{NoAction: "NO ACTION", Restrict: "RESTRICT", Cascade: "CASCADE", SetNull: "SET NULL", SetDefault: "SET DEFAULT"}

// String returns the action's name in SQL.
func (a RefAction) String() string { return refActionNames[a] }

// Refuses reports whether the action is to refuse the change.
func (a RefAction) Refuses() bool { return a != Cascade && a != SetNull }

// MarshalText implements encoding.TextMarshaler: the action's name is what is stored.
func (a RefAction) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *RefAction) UnmarshalText(b []byte) error {
	action, ok := RefActionNamed(string(b))
	if !ok {
		return &badActionError{string(b)}
	}
	*a = action
	return nil
}

// badActionError is a stored action that this version does not know.
type badActionError struct{ name string }

func (e *badActionError) Error() string {
	return "catalog: unknown action " + strconv.Quote(e.name) + " of a foreign key"
}

// RefActionNamed finds an action by its name in upper case; the empty name is NO ACTION.
func RefActionNamed(name string) (RefAction, bool) {
	if name == "" {
		return NoAction, true
	}
	at := slices.Index(refActionNames[:], name)
	return RefAction(max(at, 0)), at >= 0
}

// TableName names a table.
type TableName struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// Compare orders names by database, then by table.
func (n TableName) Compare(o TableName) int {
	if c := strings.Compare(n.Schema, o.Schema); c != 0 {
		return c
	}
	return strings.Compare(n.Name, o.Name)
}

// ForeignKey is a constraint of a table, the child: its columns hold NULL, or what some row of another table, the parent, holds in the
// columns referred to. The parent may be missing; it is known by its name only.
type ForeignKey struct {
	Name    string   `json:"name"`    // unique in the child's database, in any case
	Columns []uint32 `json:"columns"` // ids of columns of the child
	// Parent and RefColumns name what is referred to. They follow its renames.
	Parent     TableName `json:"parent"`
	RefColumns []string  `json:"ref_columns"`
	OnDelete   RefAction `json:"on_delete"`
	OnUpdate   RefAction `json:"on_update"`
	// Match is FULL or PARTIAL if the statement said so. It is only shown.
	Match string `json:"match,omitempty"`
}

// TableName returns t's name.
func (t *Table) TableName() TableName { return TableName{t.Schema, t.Name} }

// foreignInfix stands between the table's name and the number in the automatic name of a foreign key.
const foreignInfix = "_ibfk_"

// ForeignKeyName is the automatic name of a foreign key with that number.
func ForeignKeyName(table string, number uint64) string {
	return table + foreignInfix + strconv.FormatUint(number, 10)
}

// GeneratedForeignKey returns the number in the name of a foreign key that has the form of t's automatic ones, t_ibfk_1 and so on.
func (t *Table) GeneratedForeignKey(name string) (number uint64, ok bool) {
	return t.generatedName(name, foreignInfix)
}

// LastForeignKey is the largest number in the automatic names of t's foreign keys, 0 without one.
func (t *Table) LastForeignKey() (last uint64) {
	for i := range t.ForeignKeys {
		if n, ok := t.GeneratedForeignKey(t.ForeignKeys[i].Name); ok {
			last = max(last, n)
		}
	}
	return last
}

// ForeignKey returns the position in ForeignKeys of the one called name, in any case, or -1.
func (t *Table) ForeignKey(name string) int {
	return slices.IndexFunc(t.ForeignKeys, func(k ForeignKey) bool { return strings.EqualFold(k.Name, name) })
}

// SortForeignKeys restores the order of ForeignKeys after a change.
func (t *Table) SortForeignKeys() {
	slices.SortStableFunc(t.ForeignKeys, func(a, b ForeignKey) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}

// RefersTo reports whether a foreign key of t names the table called parent.
func (t *Table) RefersTo(parent TableName) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(k ForeignKey) bool { return k.Parent == parent })
}

// Referred reports whether t is the parent of a foreign key, be it one of its own.
func (t *Table) Referred() bool { return len(t.Referrers) > 0 || t.RefersTo(t.TableName()) }

// SetReferrer adds the table called child, which is not t, to Referrers, or removes it.
func (t *Table) SetReferrer(child TableName, refers bool) {
	at, found := slices.BinarySearchFunc(t.Referrers, child, TableName.Compare)
	switch {
	case refers && !found:
		t.Referrers = slices.Insert(t.Referrers, at, child)
	case !refers && found:
		t.Referrers = slices.Delete(t.Referrers, at, at+1)
	}
}

// Ordinals returns the ordinals in t of the columns of its foreign key k, -1 for those that are missing.
func (t *Table) Ordinals(k *ForeignKey) []int {
	out := make([]int, len(k.Columns))
	for i, id := range k.Columns {
		out[i] = -1
		if c := t.ColumnByID(id); c != nil {
			out[i] = c.Ordinal
		}
	}
	return out
}

// RefOrdinals returns the ordinals in the parent of the columns that k refers to, -1 for those that are missing.
func (k *ForeignKey) RefOrdinals(parent *Table) []int {
	out := make([]int, len(k.RefColumns))
	for i, name := range k.RefColumns {
		out[i] = -1
		if c := parent.Column(name); c != nil {
			out[i] = c.Ordinal
		}
	}
	return out
}

// ChildIndex returns the first public index of t, the primary key before others, whose first columns are cols, in this order; nil if there is
// none.
func (t *Table) ChildIndex(cols []int) *Index {
	for _, ix := range t.Indexes {
		if ix.State == StatePublic && ix.beginsWith(cols) {
			return ix
		}
	}
	return nil
}

// ParentIndex returns the unique index over cols, in this order, or nil. With prefixes an index that begins with cols serves, too.
func (t *Table) ParentIndex(cols []int, prefixes bool) *Index {
	for _, ix := range t.Indexes {
		if ix.State == StatePublic && ix.Unique && len(ix.Columns) == len(cols) && ix.beginsWith(cols) {
			return ix
		}
	}
	if prefixes {
		return t.ChildIndex(cols)
	}
	return nil
}

// beginsWith reports whether the first columns of ix are cols, each as a whole.
func (ix *Index) beginsWith(cols []int) bool {
	if len(ix.Columns) < len(cols) {
		return false
	}
	for i, col := range cols {
		if ix.Columns[i].Col != col || ix.Columns[i].PrefixLen > 0 {
			return false
		}
	}
	return true
}

// Keys reports whether ix, which serves a foreign key with that many columns, has at most one row for each value of these.
func (ix *Index) Keys(columns int) bool { return ix.Unique && len(ix.Columns) == columns }

// ForeignKeyText returns the constraint as SHOW CREATE TABLE and the errors 1451 and 1452 show it.
func ForeignKeyText(t *Table, k *ForeignKey) string {
	p := printer{table: t}
	p.foreignKey(k)
	return string(p.b)
}

func (p *printer) foreignKey(k *ForeignKey) {
	p.text("CONSTRAINT ")
	p.ident(k.Name)
	p.text(" FOREIGN KEY (")
	for i, id := range k.Columns {
		if i > 0 {
			p.text(", ")
		}
		if c := p.table.ColumnByID(id); c != nil {
			p.ident(c.Name)
		}
	}
	p.text(") REFERENCES ")
	if k.Parent.Schema != p.table.Schema {
		p.ident(k.Parent.Schema)
		p.text(".")
	}
	p.ident(k.Parent.Name)
	p.text(" (")
	for i, name := range k.RefColumns {
		if i > 0 {
			p.text(", ")
		}
		p.ident(name)
	}
	p.text(")")
	if k.OnDelete != NoAction {
		p.text(" ON DELETE " + k.OnDelete.String())
	}
	if k.OnUpdate != NoAction {
		p.text(" ON UPDATE " + k.OnUpdate.String())
	}
}
