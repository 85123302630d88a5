package session

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// unsupportedStatement is the text of error 1235 about a statement that is parsed and not executed: its name, and what to use instead if anything.
func unsupportedStatement(stmt syntax.Statement) string {
	const routines, roles = "; use statements in the client's transaction", "; use GRANT to users"
	switch stmt := stmt.(type) {
	case *syntax.CreateTrigger:
		return "CREATE TRIGGER" + routines
	case *syntax.CreateRoutine:
		return "CREATE " + routineKind(stmt.Function) + routines
	case *syntax.AlterRoutine:
		return "ALTER " + routineKind(stmt.Function) + routines
	case *syntax.Call:
		return "CALL" + routines
	case *syntax.CreateEvent:
		return "CREATE EVENT; use the client's scheduler"
	case *syntax.CreateRole:
		return "CREATE ROLE" + roles
	case *syntax.SetRole:
		return "SET ROLE" + roles
	case *syntax.SetDefaultRole:
		return "SET DEFAULT ROLE" + roles
	case *syntax.Loose:
		return looseName(stmt)
	}
	return firstWords(stmt)
}

func routineKind(function bool) string {
	if function {
		return "FUNCTION"
	}
	return "PROCEDURE"
}

// firstWordsMax bounds the words that firstWords returns.
const firstWordsMax = 3

// firstWords names a statement by its leading words in capitals.
func firstWords(stmt syntax.Statement) string {
	var words []string
	for _, word := range strings.Fields(syntax.String(stmt)) {
		if word != strings.ToUpper(word) || strings.ContainsAny(word, "`'\"(") || len(words) == firstWordsMax {
			break
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return "this statement"
	}
	return strings.Join(words, " ")
}

// dropAbsent answers DROP of triggers, routines and events, which cannot exist, as MySQL does if none has the name. Scripts and dumps use such
// statements before they create the objects.
func (s *Session) dropAbsent(stmt *syntax.DropObjects) error {
	for _, n := range stmt.Names {
		name, err := s.name(n)
		loadable := stmt.Kind == "FUNCTION" && err != nil // without a database it is one of those that have none
		if err != nil && !loadable {
			return err
		}
		number, args := types.ErSPDoesNotExist, []any{stmt.Kind, name.Schema + "." + name.Table}
		switch {
		case loadable:
			args = []any{"FUNCTION (UDF)", n.Name}
		case stmt.Kind == "TRIGGER" && stmt.IfExists && !catalog.IsSystemSchema(name.Schema) && s.node.Catalog.Current().Database(name.Schema) == nil:
			number, args = types.ErBadDB, []any{name.Schema}
		case stmt.Kind == "TRIGGER":
			number, args = types.ErTrgDoesNotExist, nil
		case stmt.Kind == "EVENT" && stmt.IfExists:
			args = []any{"Event", name.Table}
		case stmt.Kind == "EVENT":
			number, args = types.ErEventDoesNotExist, []any{name.Table}
		}
		if !stmt.IfExists {
			return types.Errorf(number, args...)
		}
		s.context.Warn(types.LevelNote, number, args...)
	}
	return nil
}

// erFeatureUnsupported is ER_FEATURE_UNSUPPORTED.
const erFeatureUnsupported = 3658

// unknowns are the kinds of objects outside of databases that Pando does not have, with MySQL's error for dropping one that does not exist.
var unknowns = []struct {
	words  string // before the name, without IF EXISTS
	number uint16
	state  string
	text   string
	level  types.Level // of the warning with IF EXISTS
	quiet  bool        // there is no warning with IF EXISTS
	note   uint16      // number of the warning if it differs
}{
	{words: "DROP SERVER", number: 1477, state: "HY000", text: "The foreign server name you are trying to reference does not exist. Data source error:  %s", quiet: true},
	{words: "DROP RESOURCE GROUP", number: 3651, state: "HY000", text: "Resource Group '%s' does not exist.", level: types.LevelNote},
	{words: "DROP TABLESPACE", number: 3510, state: "HY000", text: "Tablespace %s doesn't exist."},
	{words: "DROP UNDO TABLESPACE", number: 3510, state: "HY000", text: "Tablespace %s doesn't exist."},
	{words: "DROP SPATIAL REFERENCE SYSTEM", number: 3548, state: "SR001", text: "There's no spatial reference system with SRID %s.", level: types.LevelWarning, note: 3519},
}

// logfileGroup answers CREATE, ALTER and DROP LOGFILE GROUP, which are of a storage engine that few servers have; of InnoDB there are none.
func (s *Session) logfileGroup(stmt *syntax.Loose) (known bool, err error) {
	parts := stmt.Parts
	if len(parts) < 3 || parts[1].Text != "LOGFILE" {
		return false, nil
	}
	for i := range parts {
		if parts[i].Kind != syntax.LooseWord || parts[i].Text != "ENGINE" {
			continue
		}
		engine := parts[len(parts)-1]
		for _, part := range parts[i+1:] {
			if part.Kind != syntax.LoosePunct {
				engine = part
				break
			}
		}
		name := engine.Text
		if engine.Kind == syntax.LooseExpr {
			name = strings.Trim(syntax.String(engine.Expr), "`'\"")
		}
		if !knownEngine(name) {
			return true, types.Errorf(types.ErUnknownStorageEngine, name)
		}
	}
	return true, &types.Error{Number: erFeatureUnsupported, State: "HY000", Message: "Feature LOGFILE GROUP is unsupported (by InnoDB)."}
}

// dropUnknown answers DROP of what cannot exist, as dropAbsent does; known is false for other statements.
func (s *Session) dropUnknown(stmt *syntax.Loose) (known bool, err error) {
	var words []string
	name, ifExists := "", false
	for _, part := range stmt.Parts {
		switch {
		case name != "": // options
		case part.Kind == syntax.LooseName:
			name = part.Text
		case part.Kind == syntax.LooseExpr:
			name = syntax.String(part.Expr)
		case part.Text == "IF":
			ifExists = true
		case part.Text != "EXISTS":
			words = append(words, part.Text)
		}
	}
	for _, u := range unknowns {
		if u.words != strings.Join(words, " ") {
			continue
		}
		e := &types.Error{Number: u.number, State: u.state, Message: strings.Replace(u.text, "%s", name, 1)}
		switch {
		case !ifExists:
			return true, e
		case u.note != 0:
			e.Number = u.note
		}
		if !u.quiet {
			s.context.AddError(u.level, e)
		}
		return true, nil
	}
	return false, nil
}

// looseAlternatives are what unsupportedStatement appends for statements that have a counterpart, by their first words.
var looseAlternatives = []struct{ words, instead string }{
	{"XA", "; use BEGIN and COMMIT"},
	{"HANDLER", "; use SELECT … LIMIT"},
	{"HELP", "; use the manual of MySQL 8.0"},
}

func looseName(stmt *syntax.Loose) string {
	for _, alternative := range looseAlternatives {
		if strings.HasPrefix(stmt.Kind, alternative.words) {
			return stmt.Kind + alternative.instead
		}
	}
	return firstWords(stmt)
}
