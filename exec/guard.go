package exec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// Guard holds the foreign keys from and to a table that a statement which writes it has to enforce. It is as immutable as its plan.
type Guard struct {
	Table *catalog.Table
	// Refers are foreign keys of the table, in the order in which MySQL looks at them: that of the indexes which serve them.
	Refers []*Reference
	// Referred are foreign keys that refer to the table, in InnoDB's order: of the table's indexes to which they refer, then of
	// their databases and names.
	Referred []*Reference
	// Returns says that the actions of a change of the table may change the table itself, so that rows which were read before
	// the statement's first change may have gone before its last.
	Returns bool
}

// Reference is one foreign key between two tables, which may be the same.
type Reference struct {
	Key        *catalog.ForeignKey
	Child      *Guard
	Parent     *Guard // nil if there is no such table
	ChildCols  []int
	ParentCols []int
	ToParent   *table.Match
	ToChildren *table.Match
}

// self reports whether the table refers to itself.
func (r *Reference) self() bool { return r.Parent != nil && r.Child.Table == r.Parent.Table }

// Write says how a statement changes the rows of a table.
type Write struct {
	Insert, Delete bool
	Set            []int // ordinals of columns that it assigns
}

// Guards makes the guards of one plan.
type Guards struct {
	// Lookup finds a table by its name, nil if there is none, and notes that the plan depends on it, and whether it may change its rows.
	Lookup func(name catalog.TableName, changes bool) *catalog.Table

	whole   map[*catalog.Table]*Guard
	shallow map[*catalog.Table]*Guard
}

// For returns the guard of a table that the statement writes as w says, or nil if no foreign key has to be enforced.
func (g *Guards) For(t *catalog.Table, w Write) (*Guard, error) {
	if len(t.ForeignKeys) == 0 && len(t.Referrers) == 0 {
		return nil, nil
	}
	guard := &Guard{Table: t}
	moves := t.PK != nil && slices.ContainsFunc(t.PK.Columns, func(c catalog.IndexColumn) bool { return slices.Contains(w.Set, c.Col) })
	err := g.fill(guard, func(key *catalog.ForeignKey) bool {
		// A row whose primary key changes has new entries in all indexes, and its parents must be locked before these are stored.
		return w.Insert || moves || meets(t.Ordinals(key), w.Set)
	}, func(key *catalog.ForeignKey) bool {
		return w.Delete || meets(key.RefOrdinals(t), w.Set)
	})
	if err != nil || len(guard.Refers)+len(guard.Referred) == 0 {
		return nil, err
	}
	guard.Returns = guard.reaches(t, map[*Guard]bool{})
	return guard, nil
}

func meets(a, b []int) bool {
	return slices.ContainsFunc(a, func(col int) bool { return slices.Contains(b, col) })
}

// reaches reports whether an action may change rows of t.
func (g *Guard) reaches(t *catalog.Table, seen map[*Guard]bool) bool {
	seen[g] = true
	for _, ref := range g.Referred {
		if ref.Key.OnDelete.Refuses() && ref.Key.OnUpdate.Refuses() {
			continue
		}
		if ref.Child.Table == t || !seen[ref.Child] && ref.Child.reaches(t, seen) {
			return true
		}
	}
	return false
}

// fill adds the references to a guard of which refers and referred are true.
func (g *Guards) fill(guard *Guard, refers, referred func(*catalog.ForeignKey) bool) error {
	t := guard.Table
	for i := range t.ForeignKeys {
		key := &t.ForeignKeys[i]
		if !refers(key) {
			continue
		}
		ref := &Reference{Key: key, Child: guard, ChildCols: t.Ordinals(key)}
		parent := t
		if key.Parent != t.TableName() {
			parent = g.Lookup(key.Parent, false)
		}
		if parent != nil {
			ref.Parent = g.bare(parent)
			if err := ref.match(true); err != nil {
				return err
			}
		}
		guard.Refers = append(guard.Refers, ref)
	}
	slices.SortStableFunc(guard.Refers, func(a, b *Reference) int { return indexAt(t, a.ChildCols) - indexAt(t, b.ChildCols) })
	children := []*catalog.Table{}
	if t.RefersTo(t.TableName()) {
		children = append(children, t)
	}
	for _, name := range t.Referrers {
		if child := g.Lookup(name, false); child != nil {
			children = append(children, child)
		}
	}
	for _, child := range children {
		for i := range child.ForeignKeys {
			key := &child.ForeignKeys[i]
			if key.Parent != t.TableName() || !referred(key) {
				continue
			}
			ref := &Reference{Key: key, Parent: guard, ChildCols: child.Ordinals(key), ParentCols: key.RefOrdinals(t)}
			if err := g.below(ref, child); err != nil {
				return err
			}
			if err := ref.match(false); err != nil {
				return err
			}
			guard.Referred = append(guard.Referred, ref)
		}
	}
	slices.SortStableFunc(guard.Referred, func(a, b *Reference) int {
		return cmp.Or(cmp.Compare(slices.Index(t.Indexes, a.ToParent.Index()), slices.Index(t.Indexes, b.ToParent.Index())), strings.Compare(a.Child.Table.Schema, b.Child.Table.Schema), strings.Compare(a.Key.Name, b.Key.Name))
	})
	return nil
}

// below sets the guard of the child of a reference: a whole one if the reference's actions change its rows, a bare one if they are only looked for.
func (g *Guards) below(ref *Reference, child *catalog.Table) (err error) {
	if ref.Key.OnDelete.Refuses() && ref.Key.OnUpdate.Refuses() {
		ref.Child = g.bare(child)
		return nil
	}
	if child != ref.Parent.Table {
		g.Lookup(child.TableName(), true)
	}
	ref.Child, err = g.all(child)
	return err
}

// indexAt is the position of the index that serves a foreign key over cols.
func indexAt(t *catalog.Table, cols []int) int { return slices.Index(t.Indexes, t.ChildIndex(cols)) }

// bare returns a guard without references, which only names its table.
func (g *Guards) bare(t *catalog.Table) *Guard {
	if g.shallow == nil {
		g.shallow = map[*catalog.Table]*Guard{}
	}
	if g.shallow[t] == nil {
		g.shallow[t] = &Guard{Table: t}
	}
	return g.shallow[t]
}

// all returns the guard of a table that actions may change in any way.
func (g *Guards) all(t *catalog.Table) (*Guard, error) {
	if g.whole == nil {
		g.whole = map[*catalog.Table]*Guard{}
	}
	if guard := g.whole[t]; guard != nil {
		return guard, nil
	}
	guard := &Guard{Table: t}
	g.whole[t] = guard
	every := func(*catalog.ForeignKey) bool { return true }
	return guard, g.fill(guard, every, every)
}

// match finds the indexes through which the two tables find each other's rows, with up only that of the parent. DDL makes sure that they exist.
func (r *Reference) match(up bool) error {
	child, parent := r.Child.Table, r.Parent.Table
	r.ParentCols = r.Key.RefOrdinals(parent)
	lost := types.NewError(types.ErUnknownError, "the foreign key '"+r.Key.Name+"' has lost its index")
	if slices.Contains(r.ParentCols, -1) || slices.Contains(r.ChildCols, -1) {
		return lost
	}
	top := parent.ParentIndex(r.ParentCols, true)
	if top == nil {
		return lost
	}
	r.ToParent = table.NewMatch(child, r.ChildCols, parent, top)
	if up {
		return nil
	}
	below := child.ChildIndex(r.ChildCols)
	if below == nil {
		return lost
	}
	r.ToChildren = table.NewMatch(parent, r.ParentCols, child, below)
	return nil
}
