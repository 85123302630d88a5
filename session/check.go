package session

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// erNoConstraint is ER_CONSTRAINT_NOT_FOUND.
const erNoConstraint = 3940

// erManyConstraints is ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME.
const erManyConstraints = 3939

// erNotEnforceable is ER_ALTER_CONSTRAINT_ENFORCEMENT_NOT_SUPPORTED.
const erNotEnforceable = 3941

// checkPageRows is how many rows ALTER TABLE checks per read.
const checkPageRows = 1024

// checkSpec reads a CHECK of table of, which stands at column unless that is empty. last is the number of the last automatic name.
func (s *Session) checkSpec(of ddl.Name, def *syntax.CheckDef, column string, last *uint64) (catalog.Check, error) {
	c := catalog.Check{Name: def.Constraint, NotEnforced: def.Enforced == "NOT ENFORCED"}
	if c.Name == "" {
		*last++
		c.Name = catalog.CheckName(of.Table, *last)
	}
	var err error
	c.Expr, err = plan.CheckText(def.Expr, c.Name, column, of.Schema, of.Table, s.clientCharset())
	return c, err
}

// columnChecks takes the CHECKs out of a column's definition.
func (s *Session) columnChecks(of ddl.Name, def *syntax.ColumnDef, last *uint64) (*syntax.ColumnDef, []catalog.Check, error) {
	var checks []catalog.Check
	rest := *def
	rest.Options = nil
	for _, o := range def.Options {
		if o.Kind != syntax.ColCheck {
			rest.Options = append(rest.Options, o)
			continue
		}
		c, err := s.checkSpec(of, o.Check, def.Name.Name, last)
		if err != nil {
			return nil, nil, err
		}
		checks = append(checks, c)
	}
	return &rest, checks, nil
}

// constraints returns the actions that drop the constraints called name, which may be of each kind: the word CONSTRAINT tells no kind.
func constraints(t *catalog.Table, name string) (found []ddl.AlterSpec) {
	if t.Check(name) >= 0 {
		found = append(found, ddl.DropCheck{Name: name})
	}
	if index := t.Index(name); index != nil && index.Unique && index.State == catalog.StatePublic {
		found = append(found, ddl.DropIndex{Name: name})
	}
	if t.ForeignKey(name) >= 0 {
		found = append(found, ddl.DropForeignKey{Name: name})
	}
	return found
}

// dropConstraint is DROP CHECK and DROP CONSTRAINT, which also drops keys.
func dropConstraint(t *catalog.Table, spec *syntax.AlterSpec) ([]ddl.AlterSpec, error) {
	name := spec.Name.Name
	if spec.Word == "CHECK" {
		return []ddl.AlterSpec{ddl.DropCheck{Name: name}}, nil
	}
	switch found := constraints(t, name); len(found) {
	case 0:
		return nil, noConstraint(name)
	case 1:
		return found, nil
	}
	return nil, manyConstraints(name, "DROP")
}

// enforceConstraint is ALTER CHECK and ALTER CONSTRAINT, which is for checks only.
func enforceConstraint(t *catalog.Table, spec *syntax.AlterSpec) ([]ddl.AlterSpec, error) {
	name := spec.Name.Name
	if spec.Word != "CHECK" {
		found := constraints(t, name)
		switch {
		case len(found) == 0:
			return nil, noConstraint(name)
		case len(found) > 1:
			return nil, manyConstraints(name, "ALTER")
		case t.Check(name) < 0:
			return nil, types.NewError(erNotEnforceable, "Altering constraint enforcement is not supported for the constraint '"+name+
				"'. Enforcement state alter is not supported for the PRIMARY, UNIQUE and FOREIGN KEY type constraints.")
		}
	}
	return []ddl.AlterSpec{ddl.EnforceCheck{Name: name, Enforced: !spec.Not}}, nil
}

func manyConstraints(name, verb string) error {
	return types.NewError(erManyConstraints, "Table has multiple constraints with the name '"+name+"'. Please use constraint specific '"+verb+"' clause.")
}

func noConstraint(name string) error {
	return types.NewError(erNoConstraint, "Constraint '"+name+"' does not exist.")
}

// dropsCheck reports whether a drops a check that one of specs names, too.
func dropsCheck(specs []syntax.AlterSpec, a ddl.AlterSpec) bool {
	check, ok := a.(ddl.DropCheck)
	return ok && slices.ContainsFunc(specs, func(spec syntax.AlterSpec) bool {
		return spec.Kind == syntax.AlterDropCheck && strings.EqualFold(spec.Name.Name, check.Name)
	})
}

// dropColumn drops a column with the checks that concern it alone.
func dropColumn(t *catalog.Table, name string) ([]ddl.AlterSpec, error) {
	out := []ddl.AlterSpec{ddl.DropColumn{Name: name}}
	for i := range t.Checks {
		names, err := plan.CheckColumns(&t.Checks[i])
		if err != nil {
			return nil, err
		}
		if len(names) == 1 && strings.EqualFold(names[0], name) {
			out = append(out, ddl.DropCheck{Name: t.Checks[i].Name})
		}
	}
	return out, nil
}

// judgeRows evaluates the checks of next that old has not over the rows of old, which nobody writes meanwhile.
func (s *Session) judgeRows(old, next *catalog.Table) error {
	added := next.Clone()
	added.Checks = slices.DeleteFunc(added.Checks, func(c catalog.Check) bool { return c.NotEnforced || ddl.Bound(old, &c) })
	checks, err := plan.RowChecks(s.planEnv(""), added)
	if err != nil || len(checks) == 0 {
		return err
	}
	return s.judge(next, old, func(row []types.Value) error { return exec.Verify(&s.ctx, checks, row) })
}

// judge calls ok with the rows of old as its version t has them, in strict mode if the session's statements that write are.
func (s *Session) judge(t, old *catalog.Table, ok func(row []types.Value) error) error {
	defer func(was bool) { s.context.Strict = was }(s.context.Strict)
	s.context.Strict = s.context.SQLMode&types.ModeStrict != 0
	j := &rowJudge{s: s, ok: ok, row: make([]types.Value, len(exec.AllCols(t)))}
	j.reader.Init(t, exec.AllCols(t))
	for span := table.RowSpan(old); span.Start != nil; {
		resume, err := s.node.Txns.Scan(&txn.ScanRequest{Span: span, LimitRows: checkPageRows, Sink: j, Interrupt: &s.interrupt})
		if err != nil {
			return err
		}
		if j.failed != nil {
			return j.failed
		}
		span.Start = bytes.Clone(resume)
	}
	return nil
}

// judgeIndex evaluates the virtual columns of an index that is about to be made, as far as next has them. Without strict mode, warnings take the place
// of errors about values that are cut.
func (s *Session) judgeIndex(next *catalog.Table, ix *catalog.Index) error {
	generated, err := plan.CopyGenerated(s.planEnv(""), next, next)
	if err != nil {
		return err
	}
	generated = slices.DeleteFunc(generated, func(a exec.Assignment) bool {
		return !next.Columns[a.Col].Virtual() || !slices.ContainsFunc(ix.Columns, func(part catalog.IndexColumn) bool { return part.Added == nil && part.Col == a.Col })
	})
	g := exec.NewGenerator(&s.ctx, next, generated)
	return s.judge(next, next, func(row []types.Value) error {
		lenient := !s.context.Strict
		s.context.Strict = true
		err := g.Fill(row, 1) // MySQL counts no rows here
		s.context.Strict = !lenient
		var e *types.Error
		if lenient && errors.As(err, &e) && (e.Number == types.ErDataTruncatedFunctionalIndex || e.Number == types.ErTruncatedWrongValue) {
			s.context.AddError(types.LevelWarning, e)
			return nil
		}
		return err
	})
}

// judgeCopy returns the function that evaluates the generated columns, the DEFAULT expressions of columns that old has not, and the enforced checks
// of next over rows that a copy makes; nil if there are none of these.
func (s *Session) judgeCopy(old, next *catalog.Table) (func(row []types.Value) error, error) {
	checks, err := plan.RowChecks(s.planEnv(""), next)
	if err != nil {
		return nil, err
	}
	generated, err := plan.CopyGenerated(s.planEnv(""), old, next)
	if err != nil || len(checks)+len(generated) == 0 {
		return nil, err
	}
	g := exec.NewGenerator(&s.ctx, next, generated)
	rowNo := 0
	return func(row []types.Value) error {
		rowNo++
		s.ctx.ResetArena()
		was := s.context.Strict
		s.context.Strict = s.context.SQLMode&types.ModeStrict != 0
		err := g.Fill(row, rowNo)
		if err == nil {
			err = exec.Verify(&s.ctx, checks, row)
		}
		s.context.Strict = was
		return err
	}, nil
}

// rowJudge is the sink of judge.
type rowJudge struct {
	s      *Session
	ok     func(row []types.Value) error
	reader table.Reader
	row    []types.Value
	failed error
}

// Pair implements kvapi.Sink.
func (j *rowJudge) Pair(key, value []byte) (bool, error) {
	if j.failed = j.reader.Decode(key, value); j.failed != nil {
		return false, nil
	}
	j.reader.Values(j.row)
	j.s.ctx.ResetArena()
	j.failed = j.ok(j.row)
	return j.failed == nil, nil
}
