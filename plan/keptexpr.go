package plan

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// keptKind is what an expression in the definition of a table is for.
type keptKind byte

const (
	keptDefault keptKind = iota
	keptGenerated
	keptIndex
	keptCheck
)

// keptExpr tells errors which expression of a table's definition they are about: its kind, and the name of its column, index or constraint.
type keptExpr struct {
	kind keptKind
	name string
}

// generatedExpr is the expression of a generated column, which is hidden if it is that of an index.
func generatedExpr(c *catalog.Column) keptExpr {
	if c.Hidden {
		return keptExpr{keptIndex, c.Name}
	}
	return keptExpr{keptGenerated, c.Name}
}

// keptErrors are MySQL's errors about a kind: of a function without its name, of one with it, of a variable, and of a row.
var keptErrors = [...]struct{ function, named, variable, row uint16 }{
	keptDefault: {types.ErDefaultValGeneratedFunctionIsNotAllowed, types.ErDefaultValGeneratedNamedFunctionIsNotAllowed,
		types.ErDefaultValGeneratedVariables, types.ErDefaultValGeneratedRowValue},
	keptGenerated: {types.ErGeneratedColumnFunctionIsNotAllowed, types.ErGeneratedColumnNamedFunctionIsNotAllowed,
		types.ErDefaultValGeneratedVariables, types.ErGeneratedColumnRowValue},
	keptIndex: {types.ErFunctionalIndexFunctionIsNotAllowed, 0, types.ErDefaultValGeneratedVariables, types.ErFunctionalIndexRowValue},
	keptCheck: {types.ErCheckConstraintFunctionIsNotAllowed, types.ErCheckConstraintNamedFunctionIsNotAllowed,
		types.ErCheckConstraintVariables, types.ErOperandColumns},
}

// neverKept are the functions that no definition may use: they depend on the session or the server, or have side effects on them.
var neverKept = strings.Fields(`benchmark found_rows get_lock icu_version is_free_lock is_used_lock last_insert_id load_file master_pos_wait
	mysql_query_attribute_string release_all_locks release_lock row_count sleep source_pos_wait updatexml version`)

// onlyDefault are the functions that only a DEFAULT may use, as it is evaluated once: they yield something else at another time or for
// another user.
var onlyDefault = strings.Fields(`connection_id curdate current_role current_user curtime database now rand roles_graphml sysdate unix_timestamp user
	utc_date utc_time utc_timestamp uuid uuid_short`)

// notGenerated are the functions that a CHECK may use and a generated column may not.
var notGenerated = strings.Fields("random_bytes ps_current_thread_id ps_thread_id statement_digest statement_digest_text")

// disallowed is the error about a function. name is empty where MySQL does not tell it.
func (k keptExpr) disallowed(name string) error {
	codes := &keptErrors[k.kind]
	if name == "" || codes.named == 0 {
		return types.Errorf(codes.function, k.name)
	}
	return types.Errorf(codes.named, k.name, name)
}

// rowValue is the error about a row where a value belongs.
func (k keptExpr) rowValue() error {
	if k.kind == keptCheck {
		return types.Errorf(types.ErOperandColumns, 1)
	}
	return types.Errorf(keptErrors[k.kind].row, k.name)
}

// allowed refuses what MySQL admits in no definition of this kind, such as functions that are not deterministic.
func (k keptExpr) allowed(tree syntax.Expr) (err error) {
	walkSyntax(tree, func(e syntax.Expr) bool {
		if err == nil {
			err = k.allowedNode(e)
		}
		return err == nil
	})
	if row, ok := tree.(*syntax.Row); ok && err == nil && len(row.Elems) > 0 {
		err = k.rowValue()
	}
	return err
}

func (k keptExpr) allowedNode(e syntax.Expr) error {
	switch e := e.(type) {
	case *syntax.UserVariable, *syntax.SystemVariable:
		return types.Errorf(keptErrors[k.kind].variable, k.name)
	case *syntax.Subquery, *syntax.Exists, *syntax.QuantCompare:
		return k.disallowed("")
	case *syntax.In:
		if e.Query != nil {
			return k.disallowed("")
		}
	case *syntax.Param:
		return syntaxError("?")
	case *syntax.AggCall:
		if e.Over == nil {
			return types.Errorf(types.ErInvalidGroupFuncUse)
		}
		return types.Errorf(types.ErWindowFunctionInvalid, strings.ToLower(e.Name))
	case *syntax.WindowCall:
		return types.Errorf(types.ErWindowFunctionInvalid, strings.ToLower(e.Name))
	case *syntax.Match:
		return k.disallowed("match")
	case *syntax.ValuesFunc:
		return k.disallowed("values")
	case *syntax.Default:
		if k.kind == keptCheck || k.kind == keptIndex {
			return k.disallowed("default")
		}
	case *syntax.FuncCall:
		return k.allowedCall(e)
	}
	return nil
}

func (k keptExpr) allowedCall(e *syntax.FuncCall) error {
	name := strings.ToLower(e.Name)
	if other := synonyms[name]; other != "" {
		name = other
	}
	switch {
	case e.Schema != "":
		return k.disallowed("`" + e.Schema + "`.`" + e.Name + "`")
	case name == "name_const":
		return k.disallowed("")
	case name == "json_merge": // not so json_merge_preserve, which it is
		return k.disallowed("json_merge_preserve")
	case slices.Contains(neverKept, name) && strings.HasSuffix(name, "version"):
		return k.disallowed(name + "()")
	case slices.Contains(neverKept, name), k.kind != keptDefault && slices.Contains(onlyDefault, name),
		(k.kind == keptGenerated || k.kind == keptIndex) && slices.Contains(notGenerated, name):
		return k.disallowed(name)
	case e.Stored || !expr.HasFunction(name) && !specialFunction(e):
		return k.disallowed("`" + e.Name + "`")
	}
	return nil
}

// specialFunction reports whether a call is of one of the functions that the binder knows and expr does not.
func specialFunction(e *syntax.FuncCall) bool {
	return e.Syntax != syntax.CallPlain || isAnyValue(e) || strings.EqualFold(e.Name, "grouping") || intervalName(strings.ToLower(e.Name)) != strings.ToLower(e.Name)
}
