package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
)

// guard returns the foreign key checks and actions of a statement that writes t as w says, nil for none, and makes the plan depend on the tables
// that they read and change.
func (b *builder) guard(t *catalog.Table, w exec.Write) (*exec.Guard, error) {
	if len(t.ForeignKeys) == 0 && len(t.Referrers) == 0 {
		return nil, nil
	}
	if b.guards == nil {
		b.guards = &exec.Guards{Lookup: b.kin}
	}
	return b.guards.For(t, w)
}

// kin returns the table at the other end of a foreign key, nil if there is none. changes says that actions may change its rows; they only look
// for some otherwise.
func (b *builder) kin(name catalog.TableName, changes bool) *catalog.Table {
	t := b.env.Snapshot.Public().Lookup(name.Schema, name.Name)
	if t == nil || t.View != nil {
		return nil // creating one changes the child's descriptor, so that the plan becomes invalid
	}
	mode := catalog.UseRead
	if changes {
		mode = catalog.UseWrite
	}
	for i := range b.plan.Tables {
		if b.plan.Tables[i].Table == t {
			b.plan.Tables[i].Use |= mode
			return t
		}
	}
	b.plan.Tables = append(b.plan.Tables, exec.TableRef{Table: t, Version: t.Version, Use: mode, Foreign: true})
	return t
}

// Kin returns the other tables that foreign keys can make any statement that writes t read or change.
func Kin(env *Env, t *catalog.Table) ([]exec.TableRef, error) {
	b := newBuilder(env)
	every := make([]int, len(t.Columns))
	for i := range every {
		every[i] = i
	}
	if _, err := b.guard(t, exec.Write{Insert: true, Delete: true, Set: every}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(b.plan.Tables, func(ref exec.TableRef) bool { return ref.Table == t }), nil
}

// guardInsert is guard for INSERT and REPLACE.
func (b *builder) guardInsert(node *exec.Insert) (err error) {
	w := exec.Write{Insert: true, Delete: node.Mode == exec.InsertReplace}
	if node.Mode == exec.InsertUpdate {
		w.Set = written(node.Table, node.OnDup)
	}
	node.Guard, err = b.guard(node.Table, w)
	return err
}

// written lists the columns that assignments change, and those with ON UPDATE CURRENT_TIMESTAMP.
func written(t *catalog.Table, set []exec.Assignment) (cols []int) {
	for i := range set {
		cols = append(cols, set[i].Col)
	}
	for _, c := range t.Columns {
		if c.OnUpdateNow {
			cols = append(cols, c.Ordinal)
		}
	}
	return cols
}
