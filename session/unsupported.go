package session

import (
	"strings"

	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// unsupportedStatement names a statement that is parsed and not executed, and what to use instead where there is something.
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

// firstWordsMax bounds what firstWords names.
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

// dropAbsent answers DROP of triggers, routines and events, none of which can exist, as MySQL answers it where there is none of the name.
// Scripts and dumps drop what they are going to create.
func (s *Session) dropAbsent(stmt *syntax.DropObjects) error {
	for _, n := range stmt.Names {
		name, err := s.name(n)
		if err != nil {
			return err
		}
		number, args := types.ErSPDoesNotExist, []any{stmt.Kind, name.Schema + "." + name.Table}
		switch {
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

// looseAlternatives are the words to append for statements that have a counterpart here, by their first words.
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
