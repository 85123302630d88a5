package ddl

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// namelessForeignKey is what MySQL calls a foreign key without a name in 1239.
const namelessForeignKey = "foreign key without name"

// wrongForeign returns 1239 (ER_WRONG_FK_DEF).
func wrongForeign(k *ForeignKeySpec) error {
	name := k.Name
	if name == "" {
		name = namelessForeignKey
	}
	return types.Errorf(types.ErWrongFkDef, name, "Key reference and table reference don't match")
}

// resolveForeign completes the foreign keys of a statement about table t, which need not exist yet: it sets missing names and missing columns of
// the parent. last is the largest number in the automatic names of t's foreign keys, primary are the columns of t's primary key after the statement.
func resolveForeign(c *Call, snap *catalog.Snapshot, t catalog.TableName, last uint64, primary []string, specs []*ForeignKeySpec) error {
	for _, k := range specs {
		if len(k.RefColumns) > 0 && len(k.RefColumns) != len(k.Columns) {
			return wrongForeign(k)
		}
	}
	for _, k := range specs {
		if k.Parent == t {
			if len(k.RefColumns) == 0 {
				k.RefColumns = primary
			}
		} else if err := resolveParent(c, snap, k); err != nil {
			return err
		}
		if len(k.RefColumns) != len(k.Columns) {
			return wrongForeign(k)
		}
		if k.Name == "" {
			last++
			k.Name = catalog.ForeignKeyName(t.Name, last)
		}
		if tooLong(k.Name) {
			return types.Errorf(types.ErTooLongIdent, k.Name)
		}
	}
	return nil
}

// resolveParent sets the parent columns of a foreign key to another table. That may be missing with foreign_key_checks=0.
func resolveParent(c *Call, snap *catalog.Snapshot, k *ForeignKeySpec) error {
	parent := snap.Lookup(k.Parent.Schema, k.Parent.Name)
	if parent == nil || parent.View != nil {
		if len(k.RefColumns) == 0 {
			return wrongForeign(k)
		}
		if !c.Unchecked || catalog.IsSystemSchema(k.Parent.Schema) {
			return types.Errorf(types.ErFkCannotOpenParent, k.Parent.Name)
		}
		return nil
	}
	if len(k.RefColumns) == 0 {
		if parent.PK == nil {
			return wrongForeign(k)
		}
		k.RefColumns = columnNames(parent, parent.PK)
		return nil
	}
	k.RefColumns = slices.Clone(k.RefColumns)
	for i, name := range k.RefColumns {
		if column := parent.Column(name); column != nil {
			k.RefColumns[i] = column.Name
		}
	}
	return nil
}

// columnNames lists the columns of an index.
func columnNames(t *catalog.Table, ix *catalog.Index) (names []string) {
	for i := range ix.Columns {
		names = append(names, t.ColumnOf(&ix.Columns[i]).Name)
	}
	return names
}

// addForeignKey appends a foreign key that resolveForeign has completed.
func addForeignKey(t *catalog.Table, k *ForeignKeySpec) error {
	key := catalog.ForeignKey{Name: k.Name, Parent: k.Parent, RefColumns: slices.Clone(k.RefColumns), OnDelete: k.OnDelete, OnUpdate: k.OnUpdate, Match: k.Match}
	if t.ForeignKey(key.Name) >= 0 {
		return types.Errorf(types.ErFkDupName, key.Name)
	}
	for _, name := range k.Columns {
		column := t.Column(name)
		if column == nil {
			return types.Errorf(types.ErKeyColumnDoesNotExist, name)
		}
		key.Columns = append(key.Columns, column.ID)
	}
	if key.Parent == t.TableName() {
		for i, name := range key.RefColumns {
			if column := t.Column(name); column != nil {
				key.RefColumns[i] = column.Name
			}
		}
	}
	t.ForeignKeys = append(t.ForeignKeys, key)
	t.SortForeignKeys()
	return nil
}

// addForeignKeys adds the foreign keys of CREATE TABLE.
func addForeignKeys(c *Call, snap *catalog.Snapshot, t *catalog.Table, keys []*ForeignKeySpec) error {
	var primary []string
	if t.PK != nil {
		primary = columnNames(t, t.PK)
	}
	if err := resolveForeign(c, snap, t.TableName(), 0, primary, keys); err != nil {
		return err
	}
	for _, k := range keys {
		if err := addForeignKey(t, k); err != nil {
			return err
		}
	}
	return nil
}

// alterForeign completes the foreign keys that an ALTER adds, and removes the actions that add redundant indexes for them.
func alterForeign(c *Call, snap *catalog.Snapshot, t *catalog.Table, actions []AlterSpec) ([]AlterSpec, error) {
	var primary []string
	if t.PK != nil && !slices.ContainsFunc(actions, dropsPrimary) {
		primary = columnNames(t, t.PK)
	}
	actions = settleGenerated(t, actions)
	var specs []*ForeignKeySpec
	for i, a := range actions {
		switch a := a.(type) {
		case AddIndex:
			if a.Index.Primary {
				for _, part := range a.Index.Columns {
					primary = append(primary, part.Column)
				}
			}
		case AddForeignKey:
			own := a.Key
			specs = append(specs, &own)
			actions[i] = addForeign{&own}
		}
	}
	if len(specs) == 0 {
		return actions, nil
	}
	if !c.Unchecked && (c.Algorithm == "INPLACE" || c.Algorithm == "INSTANT") {
		return nil, types.Errorf(types.ErAlterOperationNotSupportedReason, "ALGORITHM="+c.Algorithm, reasonForeign, "ALGORITHM=COPY")
	}
	return actions, resolveForeign(c, snap, t.TableName(), t.LastForeignKey(), primary, specs)
}

// reasonForeign is MySQL's reason against adding foreign keys in place.
const reasonForeign = "Adding foreign keys needs foreign_key_checks=OFF"

// addForeign is an AddForeignKey whose key alterForeign has completed.
type addForeign struct{ key *ForeignKeySpec }

func (addForeign) alter() {}

// foreignParents lists the parents of a statement's foreign keys, and name locks for the constraint names that it gives: no other statement may
// give them at the same time.
func foreignParents(n Name, specs []*ForeignKeySpec) (parents []Name, refs []nameRef) {
	for _, k := range specs {
		parents = append(parents, Name{k.Parent.Schema, k.Parent.Name})
		if k.Name != "" {
			refs = append(refs, nameRef{key: n.Schema + "\x00\x00" + strings.ToLower(k.Name), mode: nameExclusive})
		}
	}
	return parents, refs
}

// addedForeign lists the foreign keys among the actions of an ALTER.
func addedForeign(actions []AlterSpec) (specs []*ForeignKeySpec) {
	for _, a := range actions {
		if a, ok := a.(AddForeignKey); ok {
			specs = append(specs, &a.Key)
		}
	}
	return specs
}

// foreignNamesFree returns 1826 for a new foreign key whose name another table of the database has after the changes.
func foreignNamesFree(snap *catalog.Snapshot, old, next *catalog.Table, changes ...change) error {
	var added []string
	for i := range next.ForeignKeys {
		if name := next.ForeignKeys[i].Name; old == nil || old.Schema != next.Schema || old.ForeignKey(name) < 0 {
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return nil
	}
	for _, other := range others(snap, next, changes) {
		for _, name := range added {
			if other.ForeignKey(name) >= 0 {
				return types.Errorf(types.ErFkDupName, name)
			}
		}
	}
	return nil
}

// keyShape describes an index as far as needed to find out whether it makes another one redundant that was generated for a foreign key.
type keyShape struct {
	generated bool
	columns   []string // in lower case
	plain     int      // how many of the first columns are whole and ascending
	gone      bool
}

func shapeOf(spec *IndexSpec) keyShape {
	s := keyShape{generated: spec.Generated}
	for i := range spec.Columns {
		part := &spec.Columns[i]
		s.columns = append(s.columns, strings.ToLower(part.Column))
		if s.plain == i && !part.HasPrefix && !part.Desc {
			s.plain++
		}
	}
	return s
}

// serves reports whether one of two indexes is generated and redundant because of the other: its columns are a prefix of the other's plain ones.
func (s *keyShape) serves(o *keyShape) bool {
	switch {
	case !s.generated && !o.generated:
		return false
	case !s.generated, s.generated && o.generated && s.longer(o):
		s, o = o, s // s is the one that may be redundant
	}
	return len(s.columns) <= o.plain && slices.Equal(s.columns, o.columns[:len(s.columns)])
}

func (s *keyShape) longer(o *keyShape) bool { return len(s.columns) > len(o.columns) }

// dropRedundant marks redundant generated indexes as gone: of each pair (serves) the one that MySQL leaves out.
func dropRedundant(shapes []keyShape) {
	for i := range shapes {
		for j := range i {
			if shapes[j].gone || !shapes[i].serves(&shapes[j]) {
				continue
			}
			if !shapes[j].generated || shapes[i].generated && shapes[j].longer(&shapes[i]) {
				shapes[i].gone = true
			} else {
				shapes[j].gone = true
			}
			break
		}
	}
}

// neededIndexes returns the indexes of CREATE TABLE without the redundant ones.
func neededIndexes(specs []IndexSpec) []IndexSpec {
	if !slices.ContainsFunc(specs, func(s IndexSpec) bool { return s.Generated }) {
		return specs
	}
	shapes := make([]keyShape, len(specs))
	for i := range specs {
		shapes[i] = shapeOf(&specs[i])
	}
	dropRedundant(shapes)
	var out []IndexSpec
	for i := range specs {
		if !shapes[i].gone {
			out = append(out, specs[i])
		}
	}
	return out
}

// settleGenerated removes from an ALTER the actions that add redundant generated indexes, and appends a DropIndex for each existing generated
// index that a new one makes redundant.
func settleGenerated(t *catalog.Table, actions []AlterSpec) []AlterSpec {
	renamed := map[string]string{}
	dropped := map[string]bool{}
	kept := map[string]bool{} // whoever renames an index wants it
	adds := false
	for _, a := range actions {
		switch a := a.(type) {
		case RenameColumn:
			renamed[strings.ToLower(a.From)] = strings.ToLower(a.To)
		case ModifyColumn:
			renamed[strings.ToLower(a.From)] = strings.ToLower(a.Column.Name)
		case DropIndex:
			dropped[strings.ToLower(a.Name)] = true
		case RenameIndex:
			kept[strings.ToLower(a.From)] = true
		case AddIndex:
			adds = true
		}
	}
	if !adds {
		return actions
	}
	var shapes []keyShape
	var names []string
	for _, ix := range t.Indexes {
		if ix.State != catalog.StatePublic || dropped[strings.ToLower(ix.Name)] {
			continue
		}
		s := keyShape{generated: ix.Generated && !kept[strings.ToLower(ix.Name)]}
		for i, part := range ix.Columns {
			name := strings.ToLower(t.ColumnOf(&part).Name)
			if to, ok := renamed[name]; ok {
				name = to
			}
			s.columns = append(s.columns, name)
			if s.plain == i && part.PrefixLen == 0 && !part.Desc {
				s.plain++
			}
		}
		shapes, names = append(shapes, s), append(names, ix.Name)
	}
	for _, a := range actions {
		if a, ok := a.(AddIndex); ok {
			shapes = append(shapes, shapeOf(&a.Index))
		}
	}
	dropRedundant(shapes)
	var out []AlterSpec
	at := len(names)
	for _, a := range actions {
		if _, ok := a.(AddIndex); ok {
			at++
			if shapes[at-1].gone {
				continue
			}
		}
		out = append(out, a)
	}
	for i, name := range names {
		if shapes[i].gone {
			out = append(out, DropIndex{Name: name})
		}
	}
	return out
}

// fits reports whether a column of type child may refer to one of type parent: whether their values compare as equal by well-defined rules. MySQL
// accepts all that fits; it also lets times, decimals and binary strings refer to each other, by their bytes. With unchecked
// (foreign_key_checks=0) strings may differ in their collations, so that the collation of one table can be changed after that of the other.
func fits(child, parent *types.Type, unchecked bool) bool {
	switch {
	case child.IsInteger() || child.ID == types.TypeYear:
		return child.ID == parent.ID && child.Unsigned == parent.Unsigned
	case child.IsText():
		return parent.IsText() && (unchecked || child.Coll == parent.Coll)
	case child.IsBinaryString():
		return parent.IsBinaryString()
	case child.ID == types.TypeEnum || child.ID == types.TypeSet:
		return child.ID == parent.ID && memberBytes(child) == memberBytes(parent)
	case child.ID == types.TypeJSON:
		return false
	}
	return child.ID == parent.ID
}

// memberBytes is the number of bytes in which MySQL stores an ENUM or SET.
func memberBytes(t *types.Type) int {
	n := len(t.Elems)
	if t.ID == types.TypeEnum {
		if n < 256 {
			return 1
		}
		return 2
	}
	if n = (n + 7) / 8; n > 4 {
		return 8
	}
	return n
}

// warnLoose raises warning 6124 for a foreign key whose parent has no unique key over the columns referred to.
func warnLoose(c *Call, key string) {
	if c.Warn != nil {
		c.Warn(types.LevelWarning, types.ErWarnFkNonStandard, key)
	}
}
