package ddl

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// functionalName is the automatic name of an index over an expression.
const functionalName = "functional_index"

func errVirtualPrimary() error {
	return types.Errorf(types.ErUnsupportedActionOnGeneratedColumn, "Defining a virtual generated column as primary key")
}

func functional(spec *IndexSpec) bool {
	return slices.ContainsFunc(spec.Columns, func(part IndexColumnSpec) bool { return part.Expr != nil })
}

// addHidden adds to t the hidden column of an expression that is the next part of ix, and returns its ordinal.
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

// bringHidden adds to next the hidden columns of an index that is added. The parts of ix hold their descriptions (Added) and refer to the columns
// afterwards.
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

// deriveAgain sets the types of an index's hidden columns again, after a change of columns that their expressions use.
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

// keepsStatus reports whether a column that becomes what spec says is still stored in rows, or still virtual. MySQL allows no other change.
func keepsStatus(c *catalog.Column, spec *ColumnSpec) bool {
	virtual := spec.Generated != nil && !spec.Generated.Stored
	return c.Virtual() == virtual
}

// recomputes reports whether the values of a column must be computed again if it becomes the generated column of spec.
func recomputes(c *catalog.Column, spec *ColumnSpec) bool {
	if spec.Generated == nil {
		return false
	}
	return c.Generated == nil || c.Generated.Expr != spec.Generated.Expr || !c.Type.Equal(&spec.Type) || spec.NotNull && !c.NotNull
}

// movesNames reports whether an ALTER drops or renames columns, so that an expression with the same text may mean other columns afterwards.
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

// feeds reports whether a generated column is computed from c.
func feeds(t *catalog.Table, c *catalog.Column) bool {
	for _, sources := range generatedSources(t) {
		if slices.Contains(sources, c.Ordinal) {
			return true
		}
	}
	return false
}

// namesDefault reports whether the expression of a generated column may contain DEFAULT(column), whose value changes with that default.
func namesDefault(t *catalog.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c *catalog.Column) bool {
		return c.Generated != nil && strings.Contains(c.Generated.Expr, "default(")
	})
}

// generatedSources maps the ordinal of each generated column of t to the ordinals of the columns that its expression uses.
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

// needsHiddenCopy reports whether an ALTER has to copy the table because it adds an index over a virtual column that it also adds. An index over
// an expression, whose hidden column nobody else uses, is built online, unless the statement also changes other columns.
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

// judgeGenerated refuses foreign keys whose actions would change generated columns, or columns from which stored generated columns are computed.
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

// changingClause returns the clause by which a foreign key changes the child's columns, "" if it has none.
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
