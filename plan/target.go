package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// writeTarget is a table that the statement changes, which its subqueries must not read.
type writeTarget struct {
	table *catalog.Table
	verb  string
	view  string // the view through which the statement changes it, if any
	name  string // by which the statement names the table or that view
	alias string // that may not be read: INSERT and REPLACE, as in MySQL, may read the table under another one; empty for all
}

// writeTarget describes a target that the statement gives a name.
func (b *builder) writeTarget(verb string, g *get, name string) writeTarget {
	t := writeTarget{table: g.table, verb: verb, name: name}
	if verb == "INSERT" {
		t.alias = g.alias
	}
	if levels := b.levels[g]; len(levels) > 0 {
		t.view = levels[len(levels)-1].view.Name
	}
	return t
}

// aim notes that a table is the only one that the statement changes.
func (b *builder) aim(verb string, g *get, name string) {
	b.targets = []writeTarget{b.writeTarget(verb, g, name)}
}

// targetName is the name of the one table or view of UPDATE or DELETE.
func targetName(from syntax.TableExpr, g *get) string {
	if ref, ok := from.(*syntax.TableRef); ok {
		return firstOf(ref.Alias, ref.Name)
	}
	return g.alias
}

// checkTarget refuses to read the table that the statement changes in one of its subqueries, outside derived tables; in clauses of byRowValues they
// do not help, as in MySQL. The error tells of the view, if one stands in between.
func (b *builder) checkTarget(t *catalog.Table, alias string) error {
	if b.derivedDepth > 0 && b.rowClause != byRowValues {
		return nil
	}
	through, shown := "", ""
	if len(b.views) > 0 {
		through, shown = b.views[0].Name, b.viewAlias
	}
	for _, target := range b.targets {
		switch {
		case target.table != t, target.alias != "" && target.alias != alias:
		case through == target.view:
			return types.Errorf(types.ErUpdateTableUsed, target.name)
		case through != "":
			return types.Errorf(types.ErViewPreventUpdate, shown, target.verb, target.name)
		default:
			return types.Errorf(types.ErViewPreventUpdate, target.name, target.verb, target.name)
		}
	}
	return nil
}

// viewRows resolves the view of UPDATE or DELETE with ORDER BY or LIMIT: g is its one table, conds are the view's conditions. g is nil for joins,
// where neither clause is allowed.
func (b *builder) viewRows(from syntax.TableExpr, verb string, limit *syntax.Limit) (g *get, s *scope, conds []expr.Expr, err error) {
	s = &scope{}
	r, err := b.from(from, s)
	if err != nil {
		return nil, nil, nil, err
	}
	ref, named := from.(*syntax.TableRef)
	if !named {
		return nil, nil, nil, nil
	}
	shown := map[*get]bool{}
	joinedTables(r, shown)
	all := shown
	for g = range all {
		view := b.updatable[g]
		if view == nil {
			shown = nil
		} else if verb == "DELETE" && b.joinViews[view] {
			return nil, nil, nil, types.Errorf(types.ErViewDeleteMergeView, view.Schema, view.Name)
		}
	}
	switch {
	case len(shown) > 1 && verb == "DELETE":
		return nil, nil, nil, types.Errorf(types.ErViewDeleteMergeView, b.updatable[g].Schema, b.updatable[g].Name)
	case len(shown) > 1:
		return nil, nil, nil, nil
	case len(shown) == 0:
		return nil, nil, nil, types.Errorf(types.ErNonUpdatableTable, firstOf(ref.Alias, ref.Name), verb)
	}
	if limit != nil && !showsKey(g, s) {
		if b.env.ViewsNeedKeys {
			return nil, nil, nil, types.Errorf(types.ErNonUpdatableTable, firstOf(ref.Alias, ref.Name), verb)
		}
		b.plan.Warnings = append(b.plan.Warnings, types.Warning{Level: types.LevelNote, Number: warnNoKey, State: types.StateOf(warnNoKey),
			Message: "View being updated does not have complete key of underlying table in it"})
	}
	for _, level := range b.levels[g] {
		conds = append(conds, level.conds...)
	}
	b.bindHints(b.verb, g, s.columns)
	b.useTarget(g, catalog.UseWrite)
	return g, s, conds, b.mayChange(g)
}

// warnNoKey is MySQL's ER_WARN_VIEW_WITHOUT_KEY.
const warnNoKey = 1355

// showsKey reports whether a view shows a unique key of its table without NULLs, or all columns: LIMIT then means certain rows.
func showsKey(g *get, s *scope) bool {
	shown := map[int]bool{}
	for i := range s.columns {
		if id := s.columns[i].id; g.owns(id) {
			shown[g.ordinal(id)] = true
		}
	}
	whole := func(index *catalog.Index) bool {
		for _, part := range index.Columns {
			if !shown[part.Col] || !g.table.Columns[part.Col].NotNull {
				return false
			}
		}
		return index.Unique && index.State == catalog.StatePublic
	}
	if g.table.PK != nil && whole(g.table.PK) || slices.ContainsFunc(g.table.Indexes, whole) {
		return true
	}
	for i := range g.table.Columns {
		if !shown[i] && !g.table.Columns[i].Hidden {
			return false
		}
	}
	return true
}

// assignable refuses to assign to columns that are not those of g: a view may compute them, or read them elsewhere.
func (b *builder) assignable(g *get, s *scope, list []syntax.Assignment) error {
	for i := range list {
		c, err := s.find(&list[i].Column, fieldListClause)
		if c == nil || g.owns(c.id) {
			if err != nil {
				return err
			}
			continue
		}
		if view := b.updatable[g]; view != nil && b.baseColumn(c.id) != nil {
			return types.Errorf(types.ErViewMultiupdate, view.Schema, view.Name)
		}
		return types.Errorf(types.ErNonupdateableColumn, c.info.Name)
	}
	return nil
}

// ownValues refuses values that are made of columns of another table than g of a view: an INSERT reads no row of that.
func (b *builder) ownValues(g *get, s *scope, set []exec.Assignment) error {
	view := b.updatable[g]
	if view == nil {
		return nil
	}
	var read []int
	for i := range set {
		read = addIDs(read, set[i].Expr)
	}
	for _, c := range s.columns {
		if slices.Contains(read, c.id) && !g.owns(c.id) && b.baseColumn(c.id) != nil {
			return types.Errorf(types.ErViewMultiupdate, view.Schema, view.Name)
		}
	}
	return nil
}

// unmadeAll applies unmade to a list.
func (b *builder) unmadeAll(list []expr.Expr) []expr.Expr {
	if len(b.made) == 0 {
		return list
	}
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = b.unmade(e)
	}
	return out
}
