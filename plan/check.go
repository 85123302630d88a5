package plan

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// erNonBooleanCheck is ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT.
const erNonBooleanCheck = 3812

// checks compiles the enforced CHECK constraints of a table, over its columns by ordinal.
func (b *builder) checks(t *catalog.Table) ([]exec.Check, error) {
	var out []exec.Check
	for i := range t.Checks {
		c := &t.Checks[i]
		if c.NotEnforced {
			continue
		}
		tree, err := syntax.ParseExpr(c.Expr, syntax.Options{})
		if err != nil {
			return nil, err
		}
		cond, err := b.check(t, tree)
		if err != nil {
			return nil, err
		}
		out = append(out, exec.Check{Name: c.Name, Cond: b.note(cond)})
	}
	return out, nil
}

func (b *builder) check(t *catalog.Table, tree syntax.Expr) (expr.Expr, error) {
	outer := b.env
	b.env = outer.Stored()
	defer func() { b.env = outer }()
	bind := &binder{env: b.env, build: b, scope: tableScope(t, t.Name), clause: "check constraint"}
	return bind.bind(tree)
}

// CheckConstraints validates the CHECK constraints of a table that is about to be created (old is nil) or changed.
func CheckConstraints(env *Env, old, next *catalog.Table) error {
	for i := range next.Checks {
		c := &next.Checks[i]
		tree, err := syntax.ParseExpr(c.Expr, syntax.Options{})
		if err != nil {
			return err
		}
		known := old != nil && old.Check(c.Name) >= 0
		for _, name := range columnNames(tree) {
			column := next.Column(name)
			switch {
			case column == nil && known:
				return types.Errorf(types.ErDependentByCheckConstraint, c.Name, name)
			case column == nil && old != nil: // of ALTER TABLE, which resolves the expression first
				return types.Errorf(types.ErBadField, name, "check constraint "+c.Name+" expression")
			case column == nil:
				return types.Errorf(types.ErCheckConstraintRefersUnknownColumn, c.Name, name)
			case actsOn(next, column) != "":
				return types.Errorf(types.ErCheckConstraintClauseUsingFkRefer, column.Name, c.Name, actsOn(next, column))
			case column.AutoInc:
				return types.Errorf(types.ErCheckConstraintRefersAutoIncrementColumn, c.Name)
			case known && old.Column(name) != nil && old.Column(name).ID != column.ID:
				// Another column takes the name.
				return types.Errorf(types.ErDependentByCheckConstraint, c.Name, name)
			}
		}
		if err := (keptExpr{keptCheck, c.Name}).allowed(tree); err != nil {
			return err
		}
		bound, err := newBuilder(env).check(next, tree)
		if err != nil {
			return err
		}
		if !expr.IsDeterministic(bound) {
			return types.Errorf(types.ErCheckConstraintFunctionIsNotAllowed, c.Name)
		}
	}
	return nil
}

// actsOn returns the name of a foreign key whose action changes the column, "" for none. No CHECK constraint may refer to such a column.
func actsOn(t *catalog.Table, column *catalog.Column) string {
	for i := range t.ForeignKeys {
		key := &t.ForeignKeys[i]
		if slices.Contains(key.Columns, column.ID) && (!key.OnUpdate.Refuses() || key.OnDelete == catalog.SetNull) {
			return key.Name
		}
	}
	return ""
}

// columnNames lists the columns that an expression refers to, each once.
func columnNames(tree syntax.Expr) []string {
	var names []string
	seen := map[string]bool{}
	walkSyntax(tree, func(e syntax.Expr) bool {
		if ref, ok := e.(*syntax.ColumnRef); ok && !seen[strings.ToLower(ref.Column)] {
			seen[strings.ToLower(ref.Column)] = true
			names = append(names, ref.Column)
		}
		return true
	})
	return names
}

// CheckColumns lists the columns that a stored CHECK constraint refers to.
func CheckColumns(c *catalog.Check) ([]string, error) {
	tree, err := syntax.ParseExpr(c.Expr, syntax.Options{})
	if err != nil {
		return nil, err
	}
	return columnNames(tree), nil
}

// CheckText returns the text, in utf8mb4, that the catalog keeps of a CHECK constraint. column is where it was written, empty for a constraint of
// the table; client is the character set of the statement.
func CheckText(e syntax.Expr, name, column, schema, table string, client *types.Charset) (string, error) {
	text, err := DefaultText(e, schema, table, client)
	if err != nil {
		return "", err
	}
	tree, err := syntax.ParseExpr(text, syntax.Options{})
	if err != nil {
		return "", err
	}
	if err := (keptExpr{keptCheck, name}).allowed(tree); err != nil {
		return "", err
	}
	if !isBoolean(tree) {
		return "", types.NewError(erNonBooleanCheck, "An expression of non-boolean type specified to a check constraint '"+name+"'.")
	}
	for _, other := range columnNames(tree) {
		if column != "" && !strings.EqualFold(other, column) {
			return "", types.Errorf(types.ErColumnCheckConstraintReferencesOtherColumn, name)
		}
	}
	return shownText(tree), nil
}

// shownText writes an expression as SHOW CREATE TABLE does.
func shownText(tree syntax.Expr) string {
	p := clausePrinter{}
	p.expr(tree)
	return string(p.b)
}

// isBoolean reports whether an expression has the form of a condition, which MySQL demands of a CHECK.
func isBoolean(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Paren:
		return isBoolean(e.X)
	case *syntax.Literal:
		return e.Kind == syntax.LitTrue || e.Kind == syntax.LitFalse
	case *syntax.Unary:
		return e.Op == syntax.OpNot || e.Op == syntax.OpBang
	case *syntax.Binary:
		return e.Op <= syntax.OpGe || e.Op == syntax.OpMemberOf || e.Op == syntax.OpSoundsLike
	case *syntax.IsTest, *syntax.In, *syntax.Between, *syntax.Like, *syntax.Regexp:
		return true
	case *syntax.FuncCall:
		switch strings.ToLower(e.Name) {
		case "json_valid", "json_schema_valid", "json_contains", "json_contains_path", "json_overlaps", "isnull", "regexp_like", "is_uuid":
			return true
		}
	}
	return false
}

// RowChecks compiles the enforced CHECK constraints of a table for callers that write or test rows without a plan.
func RowChecks(env *Env, t *catalog.Table) ([]exec.Check, error) { return newBuilder(env).checks(t) }
