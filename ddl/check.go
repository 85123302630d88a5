package ddl

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// addCheck appends a CHECK constraint, whose name no other of the table has.
func addCheck(t *catalog.Table, c catalog.Check) error {
	if tooLong(c.Name) {
		return types.Errorf(types.ErTooLongIdent, c.Name)
	}
	if t.Check(c.Name) >= 0 {
		return types.Errorf(types.ErCheckConstraintDupName, c.Name)
	}
	t.Checks = append(t.Checks, c)
	t.SortChecks()
	return nil
}

// constraintNamesFit refuses automatic names of constraints that a table's new name makes too long.
func constraintNamesFit(t *catalog.Table) error {
	for i := range t.Checks {
		if tooLong(t.Checks[i].Name) {
			return types.Errorf(types.ErTooLongIdent, t.Checks[i].Name)
		}
	}
	for i := range t.ForeignKeys {
		if tooLong(t.ForeignKeys[i].Name) {
			return types.Errorf(types.ErTooLongIdent, t.ForeignKeys[i].Name)
		}
	}
	return nil
}

// checkOf returns the position of the check called name.
func checkOf(t *catalog.Table, name string) (int, error) {
	if at := t.Check(name); at >= 0 {
		return at, nil
	}
	return 0, types.Errorf(types.ErCheckConstraintNotFound, name)
}

// others are the tables of t's database besides t, after the changes.
func others(snap *catalog.Snapshot, t *catalog.Table, changes []change) []*catalog.Table {
	changed := map[*catalog.Table]bool{}
	for _, ch := range changes {
		changed[ch.old] = true
	}
	out := slices.DeleteFunc(snap.Tables(t.Schema), func(o *catalog.Table) bool { return o.ID == t.ID || changed[o] })
	for _, ch := range changes {
		if ch.next != nil && ch.next.ID != t.ID && ch.next.Schema == t.Schema {
			out = append(out, ch.next)
		}
	}
	return out
}

// checkNamesFree refuses names of checks that other tables of the database have after changes.
func checkNamesFree(snap *catalog.Snapshot, t *catalog.Table, changes ...change) error {
	if len(t.Checks) == 0 {
		return nil
	}
	for _, other := range others(snap, t, changes) {
		for i := range t.Checks {
			if other.Check(t.Checks[i].Name) >= 0 {
				return types.Errorf(types.ErCheckConstraintDupName, t.Checks[i].Name)
			}
		}
	}
	return nil
}

// Bound reports whether t has an enforced check with the expression of c, under any name.
func Bound(t *catalog.Table, c *catalog.Check) bool {
	return slices.ContainsFunc(t.Checks, func(o catalog.Check) bool { return !o.NotEnforced && o.Expr == c.Expr })
}

// binds reports whether next has an enforced check that t did not have enforced.
func binds(t, next *catalog.Table) bool {
	return slices.ContainsFunc(next.Checks, func(c catalog.Check) bool { return !c.NotEnforced && !Bound(t, &c) })
}

// checkNewChecks refuses names of checks that other tables have, and rows of t that break new checks. The gate of t is closed.
func (e *Executor) checkNewChecks(c *Call, t, next *catalog.Table) error {
	if err := checkNamesFree(e.catalog.Current(), next); err != nil {
		return err
	}
	if c.JudgeRows == nil || !binds(t, next) {
		return nil
	}
	return c.JudgeRows(t, next)
}
