package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// UPDATE and DELETE of several tables: a join whose changed tables are read under exclusive locks, in their newest versions.

// multiTarget is a table that the statement changes.
type multiTarget struct {
	get   *get
	alias string // of the table or view through which the statement names it
	set   []exec.Assignment
	// assigned are the ids of the columns that set assigns, as far as it is bound.
	assigned idSet
}

// notUpdatable is the error about a column that cannot be changed. It names the column if others of its view can be, else the view or derived table.
func (b *builder) notUpdatable(from rel, s *scope, c *column) error {
	for i := range s.columns {
		if s.columns[i].table == c.table && b.getOf(from, s.columns[i].id) != nil {
			return types.Errorf(types.ErNonupdateableColumn, c.info.Name)
		}
	}
	return types.Errorf(types.ErNonUpdatableTable, c.table, "UPDATE")
}

func (b *builder) multiUpdate(stmt *syntax.Update) error {
	if len(stmt.OrderBy) > 0 {
		return types.Errorf(types.ErWrongUsage, "UPDATE", "ORDER BY")
	}
	if stmt.Limit != nil {
		return types.Errorf(types.ErWrongUsage, "UPDATE", "LIMIT")
	}
	s := &scope{}
	from, err := b.from(stmt.Tables, s)
	if err != nil {
		return err
	}
	b.bindHints(b.verb, from, s.columns)
	var targets []*multiTarget
	bind := &binder{env: b.env, build: b, scope: s, clause: fieldListClause}
	for i := range stmt.Set {
		c, err := s.find(&stmt.Set[i].Column, fieldListClause)
		if c == nil {
			return firstError(err, unknownColumn(&stmt.Set[i].Column, fieldListClause))
		}
		g := b.getOf(from, c.id)
		if g == nil {
			return b.notUpdatable(from, s, c)
		}
		if view := b.updatable[g]; view != nil {
			for _, t := range targets {
				if b.updatable[t.get] == view && t.get != g && t.alias == c.table {
					return types.Errorf(types.ErViewMultiupdate, view.Schema, view.Name)
				}
			}
		}
		targets = addTarget(targets, g, c.table)
	}
	// MySQL goes through them as they stand in FROM, which decides which of two values a row keeps that is there under two names.
	slices.SortFunc(targets, func(a, b *multiTarget) int { return a.get.first - b.get.first })
	if err := b.changes("UPDATE", targets); err != nil {
		return err
	}
	for i := range stmt.Set {
		c, _ := s.find(&stmt.Set[i].Column, fieldListClause)
		for _, t := range targets {
			if t.get.owns(c.id) {
				set, err := b.assignments(bind, s, t.get.table, stmt.Set[i:i+1], t.assigned)
				if err != nil {
					return err
				}
				t.set = append(t.set, set...)
			}
		}
	}
	if err := b.addGenerated(targets); err != nil {
		return err
	}
	st, err := b.multiInput(from, bind, stmt.Where, targets)
	if err != nil {
		return err
	}
	several := anyRel(from, func(r rel) bool { _, is := r.(*join); return is })
	node := &exec.MultiUpdate{Input: st.node, Ignore: stmt.Ignore, Single: !several} // a view may show but one table
	for _, t := range targets {
		target, err := b.updateTarget(t, st)
		if err != nil {
			return err
		}
		node.Targets = append(node.Targets, target)
	}
	b.plan.Root = node
	return nil
}

// addGenerated adds to what targets assign the generated columns that follow from it.
func (b *builder) addGenerated(targets []*multiTarget) error {
	for _, t := range targets {
		generated, err := b.generatedSet(t.get.table, t.get.first, t.set)
		if err != nil {
			return err
		}
		t.set = append(t.set, generated...)
	}
	return nil
}

// updateTarget is a target over the joined rows of a stage.
func (b *builder) updateTarget(t *multiTarget, st *stage) (target exec.UpdateTarget, err error) {
	table := t.get.table
	target = exec.UpdateTarget{Table: table, First: st.at[t.get.first], KeyCol: st.at[t.get.rowKey()], Set: t.set}
	if err := b.localSet(t.set, st.at); err != nil {
		return target, err
	}
	if target.Defaults, err = b.defaults(table); err != nil {
		return target, err
	}
	if target.Checks, err = b.rowChecks(t.get, written(table, t.set)); err != nil {
		return target, err
	}
	if target.Guard, err = b.guard(table, exec.Write{Set: written(table, t.set)}); err != nil {
		return target, err
	}
	target.Generated, err = b.generatedSet(table, 0, t.set)
	return target, err
}

// keyConflict refuses to change the primary key of a table that the statement changes under two names: the row would move away from one of them.
func keyConflict(targets []*multiTarget) error {
	moves := func(t *multiTarget) bool {
		for i := range t.set {
			if primary, _, _ := t.get.table.IsKeyColumn(t.set[i].Col); primary {
				return true
			}
		}
		return false
	}
	for i, t := range targets {
		for _, other := range targets[i+1:] {
			if t.get.table == other.get.table && (moves(t) || moves(other)) {
				return types.Errorf(types.ErMultiUpdateKeyConflict, t.get.alias, other.get.alias)
			}
		}
	}
	return nil
}

// multiDelete plans DELETE of the named tables; without names, of the rows of the view that it reads.
func (b *builder) multiDelete(stmt *syntax.Delete) error {
	s := &scope{}
	from, err := b.from(stmt.From, s)
	if err != nil {
		return err
	}
	b.bindHints(b.verb, from, s.columns)
	var targets []*multiTarget
	names := stmt.Targets
	if len(names) == 0 {
		ref, ok := stmt.From.(*syntax.TableRef)
		if !ok || len(stmt.OrderBy) > 0 || stmt.Limit != nil {
			return unsupported("this form of DELETE; name the table in a WHERE with a key")
		}
		names = []syntax.DeleteTarget{{Name: syntax.ObjectName{Name: firstOf(ref.Alias, ref.Name)}}}
	}
	for _, target := range names {
		g, err := b.namedGet(from, s, target.Name)
		if err != nil {
			return err
		}
		for _, other := range targets {
			if other.get == g {
				return types.Errorf(types.ErNonUniqTable, target.Name.Name)
			}
		}
		targets = addTarget(targets, g, target.Name.Name)
	}
	if err := b.changes("DELETE", targets); err != nil {
		return err
	}
	bind := &binder{env: b.env, build: b, scope: s, clause: whereClause}
	st, err := b.multiInput(from, bind, stmt.Where, targets)
	if err != nil {
		return err
	}
	node := &exec.MultiDelete{Input: st.node, Ignore: stmt.Ignore}
	for _, t := range targets {
		target, err := b.deleteTarget(t, st)
		if err != nil {
			return err
		}
		node.Targets = append(node.Targets, target)
	}
	b.plan.Root = node
	return nil
}

// deleteTarget is a target over the joined rows of a stage.
func (b *builder) deleteTarget(t *multiTarget, st *stage) (exec.DeleteTarget, error) {
	guard, err := b.guard(t.get.table, exec.Write{Delete: true})
	return exec.DeleteTarget{Table: t.get.table, First: st.at[t.get.first], KeyCol: st.at[t.get.rowKey()], Guard: guard}, err
}

func addTarget(targets []*multiTarget, g *get, alias string) []*multiTarget {
	for _, t := range targets {
		if t.get == g {
			return targets
		}
	}
	return append(targets, &multiTarget{get: g, alias: alias, assigned: idSet{}})
}

// changes declares that the statement writes the targets, under exclusive locks, and that its subqueries must not read them.
func (b *builder) changes(verb string, targets []*multiTarget) error {
	b.targets = nil
	for _, t := range targets {
		t.get.lock = &lockSpec{mode: exec.LockExclusive, wait: exec.WaitDefault, writes: true}
		b.useTarget(t.get, catalog.UseWrite)
		if err := b.mayChange(t.get); err != nil {
			return err
		}
		b.targets = append(b.targets, b.writeTarget(verb, t.get, t.alias))
	}
	return nil
}

// multiInput plans the join of the statement: it yields all columns and the key of each target.
func (b *builder) multiInput(from rel, bind *binder, where syntax.Expr, targets []*multiTarget) (*stage, error) {
	if err := keyConflict(targets); err != nil {
		return nil, err
	}
	conds, err := b.where(bind.at(whereClause), where)
	if err != nil {
		return nil, err
	}
	r, err := b.simplify(filtered(from, conds))
	if err != nil {
		return nil, err
	}
	return b.multiStage(r, targets)
}

// multiStage plans a join that yields all columns and the key of each target.
func (b *builder) multiStage(r rel, targets []*multiTarget) (*stage, error) {
	n := &need{}
	for _, t := range targets {
		for i := range t.get.table.Columns {
			n.ids = append(n.ids, t.get.first+i)
		}
		n.ids = append(n.ids, t.get.rowKey())
		for i := range t.set {
			if t.set[i].Expr != nil {
				n.ids = addIDs(n.ids, t.set[i].Expr)
			}
		}
	}
	st, err := b.phys(r, n)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		first, ok := st.at[t.get.first]
		for i := range t.get.table.Columns {
			ok = ok && st.at[t.get.first+i] == first+i
		}
		if _, key := st.at[t.get.rowKey()]; !ok || !key {
			return nil, b.lost(t.get.first)
		}
	}
	return b.evaluatedFirst(st, targets)
}

// getOf finds the base table of FROM that makes a column, unless a derived table lies in between.
func (b *builder) getOf(from rel, id int) *get {
	switch r := from.(type) {
	case *get:
		if r.owns(id) && (!b.within[r] || b.updatable[r] != nil) {
			return r
		}
	case *filter:
		return b.getOf(r.input, id)
	case *extend:
		return b.getOf(r.input, id)
	case *sorted:
		return b.getOf(r.input, id)
	case *join:
		if g := b.getOf(r.left, id); g != nil {
			return g
		}
		return b.getOf(r.right, id)
	}
	return nil
}

// namedGet finds the table of FROM that DELETE names, by its alias if it has one.
func (b *builder) namedGet(from rel, s *scope, name syntax.ObjectName) (*get, error) {
	var found *get
	var walk func(r rel)
	walk = func(r rel) {
		switch r := r.(type) {
		case *get:
			schema := firstOf(name.Schema, r.table.Schema)
			if found == nil && !b.within[r] && r.alias == name.Name && r.table.Schema == schema && (name.Schema != "" || r.alias != r.table.Name || r.table.Schema == b.env.Database || b.env.Database == "") {
				found = r
			}
		case *join:
			walk(r.left)
			walk(r.right)
		}
	}
	walk(from)
	if found == nil {
		var err error
		if found, err = b.viewTarget(from, s, name.Name); err != nil {
			return nil, err
		}
	}
	if found != nil {
		return found, nil
	}
	for n := range s.tables {
		if n.alias == name.Name {
			return nil, types.Errorf(types.ErNonUpdatableTable, name.Name, "DELETE")
		}
	}
	return nil, types.Errorf(types.ErUnknownTable, name.Name, "MULTI DELETE")
}

// viewTarget finds the table whose rows a view of FROM shows, if it is but one.
func (b *builder) viewTarget(from rel, s *scope, alias string) (found *get, err error) {
	for i := range s.columns {
		if s.columns[i].table != alias {
			continue
		}
		g := b.getOf(from, s.columns[i].id)
		if g == nil || b.updatable[g] == nil {
			continue
		}
		if found != nil && found != g || b.joinViews[b.updatable[g]] {
			return nil, types.Errorf(types.ErViewDeleteMergeView, b.updatable[g].Schema, b.updatable[g].Name)
		}
		found = g
	}
	return found, nil
}
