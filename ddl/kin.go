package ddl

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// kinAttemptsMax bounds how often a statement determines its related tables again because they changed before it had locked their names.
const kinAttemptsMax = 16

// lockKin locks the names of tables and of their related tables, whose descriptors may change together. parents are tables to which the statement
// adds foreign keys; refs are further names.
func (e *Executor) lockKin(c *Call, p catalog.Patience, names, parents []Name, refs ...nameRef) (release func(), err error) {
	return e.lockKinOf(c, p, func(*catalog.Snapshot) []Name { return names }, parents, refs...)
}

// lockKinOf is lockKin for tables whose list depends on the schema, such as all tables of a database.
func (e *Executor) lockKinOf(c *Call, p catalog.Patience, names func(*catalog.Snapshot) []Name, parents []Name, refs ...nameRef) (release func(), err error) {
	for range kinAttemptsMax {
		snap := e.catalog.Current()
		own := names(snap)
		all := slices.Concat(own, parents, kinOf(snap, own))
		if release, err = e.lockNames(c, append(tableRefs(all...), refs...), p); err != nil {
			return nil, err
		}
		snap = e.catalog.Current()
		own = names(snap)
		locked := make(map[Name]bool, len(all))
		for _, n := range all {
			locked[n] = true
		}
		if !slices.ContainsFunc(slices.Concat(own, kinOf(snap, own)), func(n Name) bool { return !locked[n] }) {
			return release, nil
		}
		release()
	}
	return nil, kvapi.ErrLockTimeout
}

// kinOf lists the related tables of those called names, existing or not: parents and children of foreign keys.
func kinOf(snap *catalog.Snapshot, names []Name) (kin []Name) {
	for _, n := range names {
		t := snap.Lookup(n.Schema, n.Table)
		if t == nil {
			for _, child := range strays(snap, catalog.TableName{Schema: n.Schema, Name: n.Table}) {
				kin = append(kin, Name{child.Schema, child.Name})
			}
			continue
		}
		for i := range t.ForeignKeys {
			kin = append(kin, Name{t.ForeignKeys[i].Parent.Schema, t.ForeignKeys[i].Parent.Name})
		}
		for _, r := range t.Referrers {
			kin = append(kin, Name{r.Schema, r.Name})
		}
	}
	return kin
}

// strays lists the tables with foreign keys to a table called missing, which does not exist.
func strays(snap *catalog.Snapshot, missing catalog.TableName) (out []*catalog.Table) {
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.TableName() != missing && t.RefersTo(missing) {
				out = append(out, t)
			}
		}
	}
	return out
}

// change is the change of one table: old is nil for a new table, next is nil for a dropped one.
type change struct{ old, next *catalog.Table }

// kinship is the effect of a schema change on the related tables of those that it changes.
type kinship struct {
	c       *Call
	snap    *catalog.Snapshot
	changes []change
	next    map[*catalog.Table]*catalog.Table    // by present version; nil if it is dropped
	named   map[catalog.TableName]*catalog.Table // the changed tables by their new names
	related []*catalog.Table                     // the new versions of tables that are not among changes
	// gates are the present versions of the parents of new foreign keys: writers of
	// these tables must know the foreign key before the first row refers to one.
	gates []*catalog.Table
}

// relate updates the foreign keys and referrers of all tables for the changes, in the changes' new versions and in those of kinship.related, and
// refuses changes that foreign keys do not allow.
func relate(c *Call, snap *catalog.Snapshot, changes ...change) (*kinship, error) {
	k := &kinship{c: c, snap: snap, changes: changes, next: map[*catalog.Table]*catalog.Table{}, named: map[catalog.TableName]*catalog.Table{}}
	for _, ch := range changes {
		if ch.old != nil {
			k.next[ch.old] = ch.next
		}
		if ch.next != nil {
			k.named[ch.next.TableName()] = ch.next
		}
	}
	var moves []func()
	for _, ch := range changes {
		if ch.old != nil && ch.next != nil {
			moves = append(moves, k.follow(ch.old, ch.next)...)
		}
	}
	for _, move := range moves {
		move()
	}
	for _, ch := range changes {
		k.tie(ch)
	}
	for _, ch := range changes {
		if ch.next != nil {
			if err := k.judge(ch); err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// closeKin relates a table's next version to other tables, and closes its gate and those of the tables that new foreign keys refer to.
func (e *Executor) closeKin(c *Call, t, next *catalog.Table, p catalog.Patience) (*kinship, []*catalog.Exclusive, error) {
	kin, err := relate(c, e.catalog.Current(), change{t, next})
	if err != nil {
		return nil, nil, err
	}
	held, err := e.catalog.Close(append([]*catalog.Table{t}, kin.gates...), p)
	return kin, held, err
}

// table returns the table that has a name after the changes, nil if none has.
func (k *kinship) table(name catalog.TableName) *catalog.Table {
	if t := k.named[name]; t != nil {
		return t
	}
	t := k.snap.Lookup(name.Schema, name.Name)
	if t == nil || t.View != nil {
		return nil
	}
	if next, changed := k.next[t]; changed && (next == nil || next.TableName() != name) {
		return nil
	}
	return t
}

// edit returns the new version of a table, which may still be changed, and makes one if needed. It returns nil if the table is dropped.
func (k *kinship) edit(t *catalog.Table) *catalog.Table {
	if next, changed := k.next[t]; changed {
		return next
	}
	if k.named[t.TableName()] == t {
		return t // already a new version
	}
	next := t.Clone()
	next.Finish()
	k.next[t], k.named[next.TableName()] = next, next
	k.related = append(k.related, next)
	return next
}

// follow returns the functions that write new names of a table and of its columns into the foreign keys that refer to it. They are called after
// follow was called for all changes, because two tables may exchange their names.
func (k *kinship) follow(old, next *catalog.Table) (moves []func()) {
	columns := map[string]string{}
	for _, c := range old.Columns {
		if now := next.ColumnByID(c.ID); now != nil && now.Name != c.Name {
			columns[strings.ToLower(c.Name)] = now.Name
		}
	}
	was, is := old.TableName(), next.TableName()
	if was == is && len(columns) == 0 {
		return nil
	}
	rename := func(child *catalog.Table, mine func(name string) bool) {
		for i := range child.ForeignKeys {
			key := &child.ForeignKeys[i]
			if key.Parent != was || !mine(key.Name) {
				continue
			}
			moves = append(moves, func() {
				key.Parent = is
				key.RefColumns = slices.Clone(key.RefColumns)
				for j, name := range key.RefColumns {
					if now, changed := columns[strings.ToLower(name)]; changed {
						key.RefColumns[j] = now
					}
				}
			})
		}
	}
	if next.RefersTo(was) {
		// Foreign keys that the statement adds have the new names already.
		rename(next, func(name string) bool { return was != is || old.ForeignKey(name) >= 0 })
	}
	for _, r := range old.Referrers {
		if child := k.snap.Lookup(r.Schema, r.Name); child != nil {
			if child = k.edit(child); child != nil {
				rename(child, func(string) bool { return true })
			}
		}
	}
	return moves
}

// tie updates the Referrers of the parents of a changed table. If the table is new or renamed, it also gets as Referrers the children whose foreign
// keys already refer to its name, made with foreign_key_checks=0.
func (k *kinship) tie(ch change) {
	var kept []*catalog.Table
	if ch.next != nil {
		name := ch.next.TableName()
		for i := range ch.next.ForeignKeys {
			parent := k.table(ch.next.ForeignKeys[i].Parent)
			if parent == nil || parent == ch.next {
				continue
			}
			kept = append(kept, parent)
			if !slices.Contains(parent.Referrers, name) {
				parent = k.edit(parent)
				parent.SetReferrer(name, true)
				kept = append(kept, parent)
			}
		}
		for _, key := range addsForeign(ch.old, ch.next) {
			if parent := k.snap.Lookup(key.Parent.Schema, key.Parent.Name); parent != nil && parent.View == nil && parent != ch.old && !slices.Contains(k.gates, parent) {
				kept = append(kept, k.edit(parent)) // a new version, so that its plans are made again
				k.gates = append(k.gates, parent)
			}
		}
	}
	if ch.old != nil {
		name := ch.old.TableName()
		renamed := ch.next != nil && ch.next.TableName() != name
		for i := range ch.old.ForeignKeys {
			parent := k.snap.Lookup(ch.old.ForeignKeys[i].Parent.Schema, ch.old.ForeignKeys[i].Parent.Name)
			if parent == nil || parent.View != nil || parent == ch.old {
				continue
			}
			now := parent
			if next, changed := k.next[parent]; changed {
				now = next
			}
			if renamed { // another table may get the name in this change, and refer to the same parent
				if heir := k.named[name]; heir != nil && now != nil && heir.RefersTo(now.TableName()) {
					continue
				}
			}
			if now != nil && (renamed || !slices.Contains(kept, now)) {
				k.edit(parent).SetReferrer(name, false)
			}
		}
		if !renamed {
			return
		}
	}
	if ch.next == nil {
		return
	}
	name := ch.next.TableName()
	for _, child := range strays(k.snap, name) {
		// The child gets a new version so that its plans, for which the parent was missing, are made again.
		if child = k.edit(child); child != nil && child != ch.next && child.RefersTo(name) {
			ch.next.SetReferrer(child.TableName(), true)
		}
	}
}

// judge refuses a change that the table's own foreign keys, or those that refer to it, do not allow.
func (k *kinship) judge(ch change) error {
	if err := foreignNamesFree(k.snap, ch.old, ch.next, k.changes...); err != nil {
		return err
	}
	for i := range ch.next.ForeignKeys {
		key := &ch.next.ForeignKeys[i]
		if err := k.judgeChild(ch, key); err != nil {
			return err
		}
		if parent := k.table(key.Parent); parent != nil {
			if err := k.judgeParent(ch.next, key, parent, ch); err != nil {
				return err
			}
		}
		if err := k.judgeChange(ch, key, ch.next.Ordinals(key), types.ErFkColumnCannotChange, key.Name); err != nil {
			return err
		}
	}
	for _, r := range ch.next.Referrers {
		child := k.table(r)
		if child == nil {
			continue
		}
		for i := range child.ForeignKeys {
			key := &child.ForeignKeys[i]
			if key.Parent != ch.next.TableName() {
				continue
			}
			if err := k.judgeParent(child, key, ch.next, ch); err != nil {
				return err
			}
			if err := k.judgeChange(ch, key, key.RefOrdinals(ch.next), types.ErFkColumnCannotChangeChild, key.Name, child.Schema+"."+child.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeChild checks the child's side of a foreign key of a changed table: its columns and its index.
func (k *kinship) judgeChild(ch change, key *catalog.ForeignKey) error {
	cols := ch.next.Ordinals(key)
	for i, col := range cols {
		if col < 0 {
			return types.Errorf(types.ErFkColumnCannotDrop, ch.old.ColumnByID(key.Columns[i]).Name, key.Name)
		}
		if c := ch.next.Columns[col]; c.NotNull && (key.OnDelete == catalog.SetNull || key.OnUpdate == catalog.SetNull) {
			return types.Errorf(types.ErFkColumnNotNull, c.Name, key.Name)
		}
	}
	if err := judgeGenerated(ch.next, key, cols); err != nil {
		return err
	}
	if ch.next.ChildIndex(cols) != nil {
		return nil
	}
	if ch.old != nil {
		if ix := ch.old.ChildIndex(ch.old.Ordinals(key)); ix != nil {
			return types.Errorf(types.ErDropIndexFk, ix.Name)
		}
	}
	return types.Errorf(types.ErFkNoIndexChild, key.Name, ch.next.Name)
}

// judgeParent checks the columns and the key that a foreign key of child refers to. ch is the change of one of the two tables.
func (k *kinship) judgeParent(child *catalog.Table, key *catalog.ForeignKey, parent *catalog.Table, ch change) error {
	// Whether the foreign key was there before, between the same tables.
	tied := ch.old != nil && ch.old.ForeignKey(key.Name) >= 0
	if child != ch.next {
		tied = ch.old != nil && slices.Contains(ch.old.Referrers, child.TableName())
	}
	came := !tied && parent == ch.next && child != ch.next // the formerly missing parent of an existing foreign key
	refused := func(err error) error {
		if came && !k.c.Unchecked {
			return types.Errorf(types.ErCannotAddForeign)
		}
		return err
	}
	refs, cols := key.RefOrdinals(parent), child.Ordinals(key)
	for i, ref := range refs {
		replaced := ref >= 0 && tied && parent == ch.next && ch.old.ColumnByID(parent.Columns[ref].ID) == nil
		if ref < 0 || replaced { // another column with the same name has other values
			if tied && parent == ch.next {
				return types.Errorf(types.ErFkColumnCannotDropChild, key.RefColumns[i], key.Name, child.Name)
			}
			return refused(types.Errorf(types.ErFkNoColumnParent, key.RefColumns[i], key.Name, parent.Name))
		}
		if r := parent.Columns[ref]; r.Virtual() {
			return virtualForeign(key, r)
		}
		if c, r := child.Columns[cols[i]], parent.Columns[ref]; !fits(&c.Type, &r.Type, tied && k.c.Unchecked) {
			return refused(types.Errorf(types.ErFkIncompatibleColumns, c.Name, r.Name, key.Name))
		}
	}
	same := parent == child && slices.Equal(refs, cols) // a row that refers to itself needs no key
	if parent.ParentIndex(refs, false) != nil && !same {
		return nil
	}
	switch loose := parent.ParentIndex(refs, true); {
	case loose != nil && !same && (tied || k.c.LooseParents):
		warnLoose(k.c, key.Name)
		return nil
	case tied && parent == ch.next:
		if ix := ch.old.ParentIndex(key.RefOrdinals(ch.old), true); ix != nil {
			return types.Errorf(types.ErDropIndexFk, ix.Name)
		}
		return types.Errorf(types.ErFkNoIndexParent, key.Name, parent.Name)
	case k.c.LooseParents:
		return refused(types.Errorf(types.ErFkNoIndexParent, key.Name, parent.Name))
	case loose != nil:
		return types.Errorf(types.ErFkNoUniqueIndexParent, key.Name, parent.Name)
	}
	return refused(types.Errorf(types.ErFkNoUniqueIndexParent, key.Name, parent.Name))
}

// judgeChange refuses changes of columns of a foreign key that could change their values.
func (k *kinship) judgeChange(ch change, key *catalog.ForeignKey, cols []int, number uint16, more ...any) error {
	if ch.old == nil || k.c.Unchecked {
		return nil
	}
	for _, col := range cols {
		now := ch.next.Columns[col]
		was := ch.old.ColumnByID(now.ID)
		if was == nil {
			continue
		}
		forced := now.NotNull && !was.NotNull && k.c.Context != nil && !k.c.Context.Strict
		if forced || !sameStored(&was.Type, &now.Type) && !(grows(&was.Type, &now.Type) && lengthBytes(&was.Type) == lengthBytes(&now.Type)) {
			return types.Errorf(number, append([]any{was.Name}, more...)...)
		}
	}
	return nil
}

// lengthBytes is how many bytes MySQL uses for the length of a VARCHAR value: if the number changes, it copies the table.
func lengthBytes(t *types.Type) int {
	if t.MaxBytes() < 256 {
		return 1
	}
	return 2
}

// addsForeign returns the foreign keys of next that old does not have. old may be nil.
func addsForeign(old, next *catalog.Table) (added []*catalog.ForeignKey) {
	for i := range next.ForeignKeys {
		key := &next.ForeignKeys[i]
		at := -1
		if old != nil {
			at = old.ForeignKey(formerForeign(old, next, key.Name))
		}
		if at < 0 || !sameTie(old, next, &old.ForeignKeys[at], key) {
			added = append(added, key)
		}
	}
	return added
}

// formerForeign is the name that a foreign key of next had in old, if it existed: an automatic name changes with the table's.
func formerForeign(old, next *catalog.Table, name string) string {
	if n, ok := next.GeneratedForeignKey(name); ok && old.Name != next.Name {
		return catalog.ForeignKeyName(old.Name, n)
	}
	return name
}

// sameTie reports whether a, a foreign key of old, and b, one of its new version next, are the same constraint on the rows.
func sameTie(old, next *catalog.Table, a, b *catalog.ForeignKey) bool {
	itself := a.Parent == old.TableName() && b.Parent == next.TableName()
	return (itself || a.Parent == b.Parent) && slices.Equal(a.Columns, b.Columns) && slices.EqualFunc(a.RefColumns, b.RefColumns, strings.EqualFold)
}

// refuseDrop returns 3730 if one of the dropped tables is the parent of a table that is not dropped.
func refuseDrop(c *Call, snap *catalog.Snapshot, drop []*catalog.Table) error {
	if c.Unchecked {
		return nil
	}
	for _, t := range drop {
		for _, r := range t.Referrers {
			child := snap.Lookup(r.Schema, r.Name)
			if child == nil || slices.Contains(drop, child) {
				continue
			}
			return types.Errorf(types.ErFkCannotDropParent, t.Name, firstKeyTo(child, t).Name, child.Name)
		}
	}
	return nil
}

// refuseTruncate returns 1701 if another table refers to t.
func refuseTruncate(c *Call, snap *catalog.Snapshot, t *catalog.Table) error {
	if c.Unchecked {
		return nil
	}
	for _, r := range t.Referrers {
		if child := snap.Lookup(r.Schema, r.Name); child != nil {
			return types.Errorf(types.ErTruncateIllegalFk, catalog.QuoteIdent(child.Schema)+"."+catalog.QuoteIdent(child.Name)+", CONSTRAINT "+
				catalog.QuoteIdent(firstKeyTo(child, t).Name))
		}
	}
	return nil
}

// firstKeyTo returns the first foreign key of child that refers to t.
func firstKeyTo(child, t *catalog.Table) *catalog.ForeignKey {
	at := slices.IndexFunc(child.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Parent == t.TableName() })
	return &child.ForeignKeys[at]
}
