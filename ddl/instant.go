package ddl

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// erPrimaryInvisible is ER_PK_INDEX_CANT_BE_INVISIBLE.
const erPrimaryInvisible = 3522

// checkPrimaryVisible refuses to hide the first unique key whose columns are NOT NULL in a table without a primary key: it serves as one.
func checkPrimaryVisible(t *catalog.Table) error {
	if t.PK != nil {
		return nil
	}
	for _, ix := range t.Indexes {
		serves := ix.Unique
		for i := range ix.Columns {
			serves = serves && ix.Columns[i].PrefixLen == 0 && t.ColumnOf(&ix.Columns[i]).NotNull && !t.ColumnOf(&ix.Columns[i]).Virtual()
		}
		if serves {
			if !ix.Visible {
				return types.NewError(erPrimaryInvisible, "A primary key index cannot be invisible")
			}
			return nil
		}
	}
	return nil
}

// checkSomeVisible refuses a table of which SELECT * would show no column.
func checkSomeVisible(t *catalog.Table) error {
	for _, c := range t.Columns {
		if !c.Invisible && !c.Hidden {
			return nil
		}
	}
	return types.Errorf(types.ErInvisibleColumnNoVisible)
}

// applyInstant applies actions to the descriptor t and calls its Finish. Actions
// run in the order of stage, and within a stage in that of the statement.
func applyInstant(t *catalog.Table, actions []AlterSpec) error {
	actions = slices.Clone(actions)
	slices.SortStableFunc(actions, func(a, b AlterSpec) int { return stage(a) - stage(b) })
	for len(actions) > 0 {
		n := 1
		for n < len(actions) && stage(actions[n]) == stage(actions[0]) {
			n++
		}
		if err := applyStage(t, actions[:n]); err != nil {
			return err
		}
		actions = actions[n:]
	}
	if len(t.Columns) == 0 {
		return types.Errorf(types.ErCantRemoveAllFields)
	}
	t.NewLayout()
	return checkRowSize(t)
}

// stage is MySQL's order of actions. It decides which names they see: drops and
// changes of columns see the old names, all others the new ones.
func stage(a AlterSpec) int {
	switch a.(type) {
	case DropColumn, DropCheck, DropForeignKey:
		return 0
	case RenameColumn, ModifyColumn:
		return 2
	case AddColumn, placeColumn:
		return 3
	case RenameIndex:
		return 4
	case IndexVisibility:
		return 5
	case AddCheck, addForeign:
		return 6
	case RenameTo: // last: it also changes the automatic constraint names that the statement adds
		return 7
	}
	return 1
}

func applyStage(t *catalog.Table, actions []AlterSpec) error {
	switch actions[0].(type) {
	case RenameColumn, ModifyColumn:
		return changeColumns(t, actions)
	case RenameIndex:
		return renameIndexes(t, actions)
	}
	for _, a := range actions {
		if err := applyOne(t, a); err != nil {
			return err
		}
		t.Finish()
	}
	return nil
}

// renameIndexes renames all indexes at once, so that two can exchange their names.
func renameIndexes(t *catalog.Table, actions []AlterSpec) error {
	to := map[*catalog.Index]string{}
	for _, a := range actions {
		a := a.(RenameIndex)
		ix, err := indexOf(t, a.From)
		if err != nil {
			return err
		}
		if _, twice := to[ix]; twice {
			return types.Errorf(types.ErKeyDoesNotExist, a.From, t.Name)
		}
		if ix.Primary {
			return types.Errorf(types.ErWrongNameForIndex, a.From)
		}
		if err := checkIndexName(a.To); err != nil {
			return err
		}
		to[ix] = a.To
	}
	having := map[string]int{}
	for _, ix := range t.Indexes {
		if name, renamed := to[ix]; renamed {
			ix.Name, ix.Generated = name, false
		}
		having[strings.ToLower(ix.Name)]++
	}
	for _, a := range actions {
		if name := a.(RenameIndex).To; having[strings.ToLower(name)] > 1 {
			return types.Errorf(types.ErDupKeyName, name)
		}
	}
	t.Finish()
	return nil
}

func applyOne(t *catalog.Table, a AlterSpec) error {
	switch a := a.(type) {
	case AddColumn:
		return applyAddColumn(t, &a.Column)
	case placeColumn:
		return moveColumn(t, a)
	case DropColumn:
		c := t.Column(a.Name)
		if c == nil {
			return types.Errorf(types.ErCantDropFieldOrKey, a.Name)
		}
		t.RemoveColumn(c.Ordinal)
	case SetDefault:
		c, err := columnOf(t, a.Column)
		if err != nil {
			return err
		}
		return applyDefault(c, a.Default)
	case ColumnVisibility:
		c, err := columnOf(t, a.Name)
		if err != nil {
			return err
		}
		c.Invisible = !a.Visible
	case IndexVisibility:
		ix, err := indexOf(t, a.Name)
		if err != nil {
			return err
		}
		if ix.Primary && !a.Visible {
			return types.NewError(erPrimaryInvisible, "A primary key index cannot be invisible")
		}
		ix.Visible = a.Visible
		return checkPrimaryVisible(t)
	case SetComment:
		return setComment(t, a.Comment)
	case SetCollation:
		t.Coll = a.Coll
	case SetOptions:
		t.Options = a.Options
	case AddCheck:
		return addCheck(t, a.Check)
	case DropCheck:
		at, err := checkOf(t, a.Name)
		if err != nil {
			return err
		}
		t.Checks = slices.Delete(t.Checks, at, at+1)
	case addForeign:
		return addForeignKey(t, a.key)
	case DropForeignKey:
		at := t.ForeignKey(a.Name)
		if at < 0 {
			return types.Errorf(types.ErCantDropFieldOrKey, a.Name)
		}
		t.ForeignKeys = slices.Delete(t.ForeignKeys, at, at+1)
	case RenameTo:
		t.Rename(a.To.Schema, a.To.Table)
		return constraintNamesFit(t)
	case EnforceCheck:
		at, err := checkOf(t, a.Name)
		if err != nil {
			return err
		}
		t.Checks[at].NotEnforced = !a.Enforced
	default:
		return types.Errorf(types.ErNotSupportedYet, "this action of ALTER TABLE")
	}
	return nil
}

func columnOf(t *catalog.Table, name string) (*catalog.Column, error) {
	if c := t.Column(name); c != nil {
		return c, nil
	}
	return nil, types.Errorf(types.ErBadField, name, t.Name)
}

// indexOf finds a public index: statements do not see others.
func indexOf(t *catalog.Table, name string) (*catalog.Index, error) {
	if ix := t.Index(name); ix != nil && ix.State == catalog.StatePublic {
		return ix, nil
	}
	return nil, types.Errorf(types.ErKeyDoesNotExist, name, t.Name)
}

func applyDefault(c *catalog.Column, d *catalog.Default) error {
	if c.AutoInc && d != nil {
		return types.Errorf(types.ErInvalidDefault, c.Name)
	}
	if err := checkDefault(c.Name, &c.Type, c.NotNull, d); err != nil {
		return err
	}
	c.Default = d
	return nil
}

// applyAddColumn adds a column and records the value that it has in existing rows.
func applyAddColumn(t *catalog.Table, spec *ColumnSpec) error {
	if len(t.Columns) >= columnsMax {
		return types.Errorf(types.ErTooManyFields)
	}
	at := -1
	switch {
	case spec.First:
		at = 0
	case spec.After != "":
		c, err := columnOf(t, spec.After)
		if err != nil {
			return err
		}
		at = c.Ordinal + 1
	}
	if err := addColumn(t, spec, at); err != nil {
		return err
	}
	if last := len(t.Visible()) - 1; at < 0 || at > last {
		at = last
	}
	c := t.Columns[at]
	if c.Generated != nil {
		return nil // virtual, or the table is copied
	}
	v := originalValue(c, spec)
	if c.OriginalNull = v.IsNull(); !c.OriginalNull {
		c.Original = types.AppendStored([]byte{}, v, &c.Type)
	}
	return nil
}

func setComment(t *catalog.Table, comment string) error {
	if utf8.RuneCountInString(comment) > TableCommentMax {
		return types.Errorf(types.ErTooLongTableComment, t.Name, TableCommentMax)
	}
	t.Comment = comment
	return nil
}

// originalValue is the value of a new column in existing rows.
func originalValue(c *catalog.Column, spec *ColumnSpec) types.Value {
	if d := c.Default; d != nil {
		switch d.Kind {
		case catalog.DefaultLiteral:
			return d.Value
		case catalog.DefaultNow, catalog.DefaultExpr:
			return spec.Original
		default:
			return types.Null()
		}
	}
	return types.ImplicitDefault(&c.Type)
}
