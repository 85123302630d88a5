package session

import (
	"strings"

	"github.com/pandodb/pando/syntax"
)

// unsupportedStatement names a statement that is parsed and not executed, and what to use instead where there is something.
func unsupportedStatement(stmt syntax.Statement) string {
	switch stmt := stmt.(type) {
	case *syntax.LoadData:
		return "LOAD DATA; use INSERT with many rows"
	case *syntax.CreateTrigger:
		return "triggers; use statements in the client's transaction"
	case *syntax.CreateRoutine, *syntax.AlterRoutine, *syntax.Call, *syntax.Block, *syntax.If, *syntax.CaseStmt, *syntax.Loop:
		return "stored routines; use statements in the client's transaction"
	case *syntax.CreateEvent:
		return "events; use the client's scheduler"
	case *syntax.CreateRole, *syntax.SetRole, *syntax.SetDefaultRole:
		return "roles; use GRANT to users"
	case *syntax.DropObjects:
		return "DROP of triggers, routines and events, none of which can exist"
	case *syntax.Loose:
		return looseName(stmt)
	}
	return "this statement"
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
	return stmt.Kind
}
