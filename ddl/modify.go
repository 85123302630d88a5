package ddl

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// placeColumn is FIRST or AFTER of MODIFY and CHANGE. It is an action of its own
// because the column in AFTER has the name that it has after the statement.
type placeColumn struct {
	name  string
	first bool
	after string
}

func (placeColumn) alter() {}

// complete makes explicit what the actions imply: columns of a primary key that is
// not dropped are NOT NULL, columns move after all other changes (placeColumn), and
// indexes on a column that is dropped and added again are rebuilt (keepIndexes).
func complete(t *catalog.Table, actions []AlterSpec) ([]AlterSpec, error) {
	keyStays := t.PK != nil && !slices.ContainsFunc(actions, dropsPrimary)
	var out []AlterSpec
	for _, a := range actions {
		m, ok := a.(ModifyColumn)
		if !ok {
			out = append(out, a)
			continue
		}
		if c := t.Column(m.From); c != nil && keyStays && hasColumn(t.PK, c.Ordinal) {
			if m.Column.Null {
				return nil, types.Errorf(types.ErPrimaryCantHaveNull)
			}
			m.Column.NotNull = true
		}
		if c := t.Column(m.From); c != nil && !keepsStatus(c, &m.Column) {
			return nil, types.Errorf(types.ErUnsupportedActionOnGeneratedColumn, "Changing the STORED status")
		}
		out = append(out, m)
		if m.Column.First || m.Column.After != "" {
			out = append(out, placeColumn{m.Column.Name, m.Column.First, m.Column.After})
		}
	}
	return keepIndexes(t, out), nil
}

// keepIndexes drops and adds again the indexes on a column that the statement drops and adds under the same name. So does MySQL, where indexes
// refer to columns by name.
func keepIndexes(t *catalog.Table, actions []AlterSpec) []AlterSpec {
	dropped, added, gone := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range actions {
		switch a := a.(type) {
		case DropColumn:
			dropped[strings.ToLower(a.Name)] = true
		case AddColumn:
			added[strings.ToLower(a.Column.Name)] = true
		case DropIndex:
			gone[strings.ToLower(a.Name)] = true
		}
	}
	for _, ix := range t.Indexes {
		spec, again := specOf(t, ix), false
		for i := range spec.Columns {
			part := &spec.Columns[i]
			if name := strings.ToLower(part.Column); dropped[name] && added[name] {
				part.PrefixLen, part.HasPrefix = 0, false
				again = true
			}
		}
		if !again || gone[strings.ToLower(ix.Name)] || leaving(ix) || slices.ContainsFunc(spec.Columns, func(p IndexColumnSpec) bool { return p.hidden != nil }) {
			continue
		}
		if at := slices.IndexFunc(actions, func(a AlterSpec) bool { r, ok := a.(RenameIndex); return ok && strings.EqualFold(r.From, ix.Name) }); at >= 0 {
			spec.Name = actions[at].(RenameIndex).To
			actions = slices.Delete(slices.Clone(actions), at, at+1)
		}
		actions = append(actions[:len(actions):len(actions)], DropIndex{Name: ix.Name}, AddIndex{Index: spec})
	}
	return actions
}

func dropsPrimary(a AlterSpec) bool {
	d, ok := a.(DropIndex)
	return ok && strings.EqualFold(d.Name, catalog.PrimaryName)
}

func hasColumn(ix *catalog.Index, ordinal int) bool {
	return slices.ContainsFunc(ix.Columns, func(part catalog.IndexColumn) bool { return part.Col == ordinal })
}

// copyReason is why an ALTER copies the table.
type copyReason struct {
	// conversion: MySQL copies the table too. Then the statement reports the number
	// of rows, and a NULL in a column that becomes NOT NULL is 1265 (a warning
	// without strict mode).
	conversion bool
	// instant and inplace are MySQL's reasons against these algorithms, empty if
	// it gives none.
	instant, inplace string
	// wanted: the statement's clauses ask for the copy. only: MySQL can only copy, too.
	wanted, only bool
}

// The reasons in the words of MySQL's error messages.
const (
	reasonTypeInstant = "Need to rebuild the table to change column type"
	reasonTypeInplace = "Cannot change column type INPLACE"
	reasonDropPrimary = "Dropping a primary key is not allowed without also adding a new primary key"
	reasonCopyLocks   = "COPY algorithm requires a lock"
)

// reasonToCopy returns why a statement copies the table, nil if it does not: because its actions need it (needsCopy), because of ALGORITHM=COPY, or
// because LOCK=SHARED or EXCLUSIVE asks that an index is not built online.
func (c *Call) reasonToCopy(t *catalog.Table, actions []AlterSpec) *copyReason {
	why := needsCopy(t, actions)
	if why == nil && c.Algorithm == "COPY" {
		return &copyReason{conversion: true, wanted: true}
	}
	builds := slices.ContainsFunc(actions, func(a AlterSpec) bool { _, is := a.(AddIndex); return is })
	if why == nil && builds && (c.Lock == "SHARED" || c.Lock == "EXCLUSIVE") && c.Algorithm != "INSTANT" {
		return &copyReason{wanted: true}
	}
	if why != nil {
		why.conversion = why.conversion || c.Algorithm == "COPY"
	}
	return why
}

// needsCopy returns why the actions need a copy of the table, nil if they do not.
func needsCopy(t *catalog.Table, actions []AlterSpec) *copyReason {
	var why *copyReason
	need := func(r copyReason) {
		if why == nil || r.conversion && !why.conversion {
			why = &r
		}
	}
	adds, drops := false, false
	if needsHiddenCopy(t, actions) {
		need(copyReason{})
	}
	for _, a := range actions {
		switch a := a.(type) {
		case SetOrder:
			return &copyReason{conversion: true, only: true}
		case AddIndex:
			adds = adds || a.Index.Primary
		case DropIndex:
			drops = drops || dropsPrimary(a)
		case AddColumn:
			switch {
			case a.Column.AutoInc:
				need(copyReason{})
			case a.Column.PerRow, a.Column.Generated != nil && a.Column.Generated.Stored:
				need(copyReason{conversion: true})
			}
		case DropColumn:
			if c := t.Column(a.Name); c != nil && sharesIndex(t, c, actions) {
				need(copyReason{})
			}
		case SetDefault:
			if namesDefault(t) {
				need(copyReason{})
			}
		case ModifyColumn:
			if namesDefault(t) {
				need(copyReason{})
			}
			switch c := t.Column(a.From); {
			case c == nil: // refused later
			case recomputes(c, &a.Column), a.Column.Generated != nil && movesNames(actions):
				need(copyReason{conversion: true})
			case feeds(t, c) && !c.Type.Equal(&a.Column.Type):
				// The generated column may get another type, or other values.
				need(copyReason{conversion: true, instant: reasonTypeInstant, inplace: reasonTypeInplace})
			case grows(&c.Type, &a.Column.Type) && a.Column.AutoInc == c.AutoInc:
				// Rows and entries stay the same, but the key length limits of its indexes have to be checked again.
				if (a.Column.NotNull && !c.NotNull) || indexed(t, c) {
					need(copyReason{})
				}
			case !sameStored(&c.Type, &a.Column.Type), a.Column.AutoInc != c.AutoInc:
				need(copyReason{conversion: true, instant: reasonTypeInstant, inplace: reasonTypeInplace})
			case a.Column.NotNull && !c.NotNull:
				need(copyReason{})
			}
		}
	}
	switch {
	case drops && !adds:
		need(copyReason{conversion: true, instant: reasonDropPrimary, inplace: reasonDropPrimary})
	case drops || adds:
		need(copyReason{})
	}
	return why
}

// sharesIndex reports whether a column is in the primary key, or in an index with
// other columns, that the statement does not drop by name.
func sharesIndex(t *catalog.Table, c *catalog.Column, actions []AlterSpec) bool {
	for _, ix := range t.Indexes {
		if leaving(ix) || !hasColumn(ix, c.Ordinal) || !ix.Primary && len(ix.Columns) == 1 {
			continue
		}
		if !slices.ContainsFunc(actions, func(a AlterSpec) bool {
			d, ok := a.(DropIndex)
			return ok && strings.EqualFold(d.Name, ix.Name)
		}) {
			return true
		}
	}
	return false
}

func indexed(t *catalog.Table, c *catalog.Column) bool {
	return slices.ContainsFunc(t.Indexes, func(ix *catalog.Index) bool { return hasColumn(ix, c.Ordinal) })
}

// grows reports whether to is the same VARCHAR or VARBINARY type as from with a larger length.
func grows(from, to *types.Type) bool {
	sized := from.ID == types.TypeVarchar || from.ID == types.TypeVarbinary
	return sized && from.ID == to.ID && from.Coll == to.Coll && to.Length > from.Length
}

// sameStored reports whether values of type from have the same stored form in rows
// and index entries under type to.
func sameStored(from, to *types.Type) bool {
	if from.ID != to.ID || from.Unsigned != to.Unsigned || from.Coll != to.Coll {
		return false
	}
	switch {
	case from.IsInteger():
		return true // only the display width or ZEROFILL differs
	case from.ID == types.TypeEnum || from.ID == types.TypeSet:
		n := len(from.Elems)
		return len(to.Elems) >= n && slices.Equal(from.Elems, to.Elems[:n])
	}
	return from.Length == to.Length && from.Scale == to.Scale
}

// refuse returns the error for ALGORITHM and LOCK clauses that rule out the copy, nil if they allow it.
func (r *copyReason) refuse(c *Call) error {
	refused := func(what, reason, try string) error {
		if reason == "" {
			return types.Errorf(types.ErAlterOperationNotSupported, what, try)
		}
		return types.Errorf(types.ErAlterOperationNotSupportedReason, what, reason, try)
	}
	switch {
	case r.wanted:
		return nil
	case r.only && (c.Algorithm == "INSTANT" || c.Algorithm == "INPLACE"):
		return refused("ALGORITHM="+c.Algorithm, "", "ALGORITHM=COPY")
	case r.only && c.Lock == "NONE":
		return refused("LOCK=NONE", reasonCopyLocks, "LOCK=SHARED")
	case c.Algorithm == "INSTANT":
		return refused("ALGORITHM=INSTANT", r.instant, "ALGORITHM=COPY/INPLACE")
	case c.Algorithm == "INPLACE":
		return refused("ALGORITHM=INPLACE", r.inplace, "ALGORITHM=COPY")
	case c.Lock == "NONE":
		return refused("LOCK=NONE", r.inplace, "LOCK=SHARED")
	}
	return nil
}

// changeColumns applies MODIFY, CHANGE and RENAME COLUMN to all columns at once, so
// that two can exchange their names.
func changeColumns(t *catalog.Table, actions []AlterSpec) error {
	to := map[*catalog.Column]string{}
	specs := map[*catalog.Column]*ColumnSpec{}
	for _, a := range actions {
		from, name := changedName(a)
		c, err := columnOf(t, from)
		if err != nil {
			return err
		}
		if _, twice := to[c]; twice {
			return types.Errorf(types.ErBadField, from, t.Name)
		}
		if m, ok := a.(ModifyColumn); ok {
			err = checkColumn(&m.Column)
			specs[c] = &m.Column
		} else {
			err = checkColumnName(name)
		}
		if err != nil {
			return err
		}
		to[c] = name
	}
	having := map[string]int{}
	for _, c := range t.Columns {
		if name, changed := to[c]; changed {
			c.Name = name
		}
		if spec := specs[c]; spec != nil {
			describe(c, spec)
		}
		having[strings.ToLower(c.Name)]++
	}
	for _, a := range actions {
		if _, name := changedName(a); having[strings.ToLower(name)] > 1 {
			return types.Errorf(types.ErDupFieldName, name)
		}
	}
	t.Finish()
	return nil
}

// changedName returns the old and the new name of the column that a changes.
func changedName(a AlterSpec) (from, to string) {
	if m, ok := a.(ModifyColumn); ok {
		return m.From, m.Column.Name
	}
	r := a.(RenameColumn)
	return r.From, r.To
}

// describe sets the attributes of c from spec, which has been checked.
func describe(c *catalog.Column, spec *ColumnSpec) {
	c.Type, c.NotNull, c.AutoInc, c.Default = spec.Type, spec.NotNull || spec.AutoInc, spec.AutoInc, spec.Default
	c.OnUpdateNow, c.ExplicitCollation, c.Invisible, c.Comment = spec.OnUpdateNow, spec.ExplicitCollation, spec.Invisible, spec.Comment
	c.Generated = spec.Generated
	if c.Default == nil && !c.NotNull && c.Generated == nil && !spec.NoDefault {
		c.Default = &catalog.Default{Kind: catalog.DefaultNull}
	}
}

// moveColumn executes FIRST or AFTER, and adjusts the ordinals in the parts of indexes.
func moveColumn(t *catalog.Table, p placeColumn) error {
	c, err := columnOf(t, p.name)
	if err != nil {
		return err
	}
	before := slices.Clone(t.Columns)
	t.Columns = slices.DeleteFunc(t.Columns, func(o *catalog.Column) bool { return o == c })
	at := 0
	if !p.first {
		at = 1 + slices.IndexFunc(t.Columns, func(o *catalog.Column) bool { return strings.EqualFold(o.Name, p.after) })
		if at == 0 {
			return types.Errorf(types.ErBadField, p.after, t.Name)
		}
	}
	t.Columns = slices.Insert(t.Columns, at, c)
	for _, ix := range t.Indexes {
		for i := range ix.Columns {
			if part := &ix.Columns[i]; part.Added == nil {
				part.Col = slices.Index(t.Columns, before[part.Col])
			}
		}
	}
	return nil
}
