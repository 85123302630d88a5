package ddl

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// functionalName is what an index is called that has an expression and no name.
const functionalName = "functional_index"

func errVirtualPrimary() error {
	return types.Errorf(types.ErUnsupportedActionOnGeneratedColumn, "Defining a virtual generated column as primary key")
}

func functional(spec *IndexSpec) bool {
	return slices.ContainsFunc(spec.Columns, func(part IndexColumnSpec) bool { return part.Expr != nil })
}

// addHidden adds the column that stands for the expression of an index's next part to t, and returns its place.
func addHidden(c *Call, t *catalog.Table, spec *IndexColumnSpec, ix *catalog.Index) (int, error) {
	if ix.Primary {
		return 0, types.Errorf(types.ErFunctionalIndexPrimaryKey)
	}
	hidden := &catalog.Column{Name: catalog.HiddenName(ix.Name, len(ix.Columns)), Generated: spec.Expr, Hidden: true, OriginalNull: true}
	if err := c.derive(t, hidden, ix.Name); err != nil {
		return 0, err
	}
	t.AddColumn(hidden, -1)
	return len(t.Columns) - 1, nil
}

// bringHidden adds the hidden columns to next that come with an index whose parts describe them.
func bringHidden(next *catalog.Table, ix *catalog.Index) {
	for i := range ix.Columns {
		if part := &ix.Columns[i]; part.Added != nil && part.Added.Hidden {
			hidden := *part.Added
			next.AddColumn(&hidden, -1)
			part.Col, part.Added = len(next.Columns)-1, nil
		}
	}
	next.Finish()
}

// deriveAgain gives the hidden columns of an index the types that their expressions have after a change.
func deriveAgain(c *Call, t *catalog.Table, ix *catalog.Index) error {
	for _, part := range ix.Columns {
		if hidden := t.Columns[part.Col]; hidden.Hidden {
			if err := c.derive(t, hidden, ix.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepsStatus reports whether a column may become what spec says: rows go on to hold it, or not to.
func keepsStatus(c *catalog.Column, spec *ColumnSpec) bool {
	virtual := spec.Generated != nil && !spec.Generated.Stored
	return c.Virtual() == virtual
}

// recomputes reports whether the values of a generated column change with its definition.
func recomputes(c *catalog.Column, spec *ColumnSpec) bool {
	if spec.Generated == nil {
		return false
	}
	return c.Generated == nil || c.Generated.Expr != spec.Generated.Expr || !c.Type.Equal(&spec.Type) || spec.NotNull && !c.NotNull
}

// movesNames reports whether an ALTER leaves columns under other names, so that a definition with the same text may mean other columns.
func movesNames(actions []AlterSpec) bool {
	return slices.ContainsFunc(actions, func(a AlterSpec) bool {
		switch a := a.(type) {
		case RenameColumn, DropColumn:
			return true
		case ModifyColumn:
			return a.From != a.Column.Name
		}
		return false
	})
}

// feeds reports whether a generated column is made of c.
func feeds(t *catalog.Table, c *catalog.Column) bool {
	for _, sources := range generatedSources(t) {
		if slices.Contains(sources, c.Ordinal) {
			return true
		}
	}
	return false
}

// namesDefault reports whether a generated column may be made of some column's default, which is a constant to it.
func namesDefault(t *catalog.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c *catalog.Column) bool {
		return c.Generated != nil && strings.Contains(c.Generated.Expr, "default(")
	})
}

// generatedSources lists, by the ordinals of t's generated columns, the columns that their expressions name.
func generatedSources(t *catalog.Table) map[int][]int {
	if !t.HasGenerated() {
		return nil
	}
	computer := t.Computer()
	if computer == nil {
		return nil
	}
	out := map[int][]int{}
	for i, c := range t.Columns {
		if c.Generated != nil {
			out[i] = computer.Sources(i)
		}
	}
	return out
}

// needsHiddenCopy reports whether an ALTER has to copy the table for the sake of an index over a virtual column that comes with it. One over
// an expression, whose hidden column is nobody's until its index is public, is built online, unless the statement changes other columns too.
func needsHiddenCopy(t *catalog.Table, actions []AlterSpec) bool {
	indexed, columns := false, false
	added := map[string]bool{}
	for _, a := range actions {
		switch a := a.(type) {
		case AddColumn:
			columns = true
			if g := a.Column.Generated; g != nil && !g.Stored {
				added[strings.ToLower(a.Column.Name)] = true
			}
		case DropColumn, ModifyColumn, RenameColumn, placeColumn:
			columns = true
		}
	}
	for _, a := range actions {
		ix, ok := a.(AddIndex)
		if !ok {
			continue
		}
		indexed = indexed || functional(&ix.Index)
		for _, part := range ix.Index.Columns {
			if added[strings.ToLower(part.Column)] {
				return true
			}
		}
	}
	return indexed && columns
}

// judgeGenerated refuses foreign keys over generated columns that would change them, or what they are made of.
func judgeGenerated(t *catalog.Table, key *catalog.ForeignKey, cols []int) error {
	acts := !key.OnUpdate.Refuses() || !key.OnDelete.Refuses()
	for _, col := range cols {
		if t.Columns[col].Virtual() {
			return virtualForeign(key, t.Columns[col])
		}
		if t.Columns[col].Generated != nil {
			if clause := changingClause(key); clause != "" {
				return types.Errorf(types.ErWrongFkOptionForGeneratedColumn, clause)
			}
		}
	}
	if !acts {
		return nil
	}
	for i, sources := range generatedSources(t) {
		if t.Columns[i].Virtual() {
			continue
		}
		if slices.ContainsFunc(sources, func(source int) bool { return slices.Contains(cols, source) }) {
			return types.Errorf(types.ErCannotAddForeign)
		}
	}
	return nil
}

func virtualForeign(key *catalog.ForeignKey, c *catalog.Column) error {
	return types.Errorf(types.ErForeignKeyWithVirtualColumn, key.Name, c.Name)
}

// changingClause is the clause of a foreign key that sets the child's columns, empty without one.
func changingClause(key *catalog.ForeignKey) string {
	switch {
	case key.OnUpdate == catalog.Cascade:
		return "ON UPDATE CASCADE"
	case key.OnUpdate == catalog.SetNull:
		return "ON UPDATE SET NULL"
	case key.OnDelete == catalog.SetNull:
		return "ON DELETE SET NULL"
	}
	return ""
}
