package session

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// hintsOf returns the hints behind the verb of a statement. Those within its subqueries can't limit or configure it.
func hintsOf(stmt syntax.Statement) []syntax.Hint {
	var text string
	switch stmt := stmt.(type) {
	case *syntax.Query:
		if block, ok := stmt.Body.(*syntax.Select); ok {
			text = block.Hints
		}
	case *syntax.Insert:
		text = stmt.Hints
	case *syntax.Update:
		text = stmt.Hints
	case *syntax.Delete:
		text = stmt.Hints
	}
	if text == "" {
		return nil
	}
	hints, _ := syntax.ParseHints(text) // the planner warns of what is none
	return hints
}

// hintedTime is MAX_EXECUTION_TIME(ms) of a SELECT, 0 without it.
func hintedTime(stmt syntax.Statement) time.Duration {
	if _, query := stmt.(*syntax.Query); !query {
		return 0
	}
	for _, h := range hintsOf(stmt) {
		if h.Name != "MAX_EXECUTION_TIME" {
			continue
		}
		if n, err := strconv.ParseUint(h.Args, 10, 32); err == nil {
			return time.Duration(n) * time.Millisecond
		}
	}
	return 0
}

// setsVariables reports whether a statement has a SET_VAR hint. Its plan depends on the value, and so is made anew each time.
func setsVariables(stmt syntax.Statement) bool {
	for _, h := range hintsOf(stmt) {
		if h.Name == "SET_VAR" {
			return true
		}
	}
	return false
}

// The warnings of SET_VAR hints that are not followed.
const (
	errUnresolvedHint = 3128
	errNotHintable    = 3637
)

// hintedVariables gives session variables the values of SET_VAR hints for one statement. restore takes them back, whatever SET would say to them
// now, and without its warnings. A hint that can't be followed is a warning, as in MySQL.
func (s *Session) hintedVariables(stmt syntax.Statement) (restore func()) {
	type kept struct {
		variable int
		value    string
	}
	var before []kept
	for _, h := range hintsOf(stmt) {
		if h.Name != "SET_VAR" {
			continue
		}
		item := s.hintedVariable(h.Args)
		if item == nil {
			s.warnOfHint(types.ErParseError, "Optimizer hint syntax error near 'SET_VAR("+h.Args+")'")
			continue
		}
		name := strings.ToLower(item.Name)
		i, v, err := s.node.table.lookup(name)
		switch {
		case err != nil:
			s.warnOfHint(errUnresolvedHint, "Unresolved name '"+item.Name+"' for SET_VAR hint")
			continue
		case !v.hint:
			s.warnOfHint(errNotHintable, "Variable '"+item.Name+"' cannot be set using SET_VAR hint.")
			continue
		}
		old := s.get(name)
		if v.dynamic != nil { // what is stored may have been used up, as insert_id is
			value := v.dynamic(s)
			old = string(types.AppendText(nil, nil, &value))
		}
		set, err := s.setSystemVar(item)
		if err == nil {
			err = set()
		}
		var refused *types.Error
		if errors.As(err, &refused) {
			s.context.AddError(types.LevelWarning, refused)
			continue
		}
		before = append(before, kept{i, old})
	}
	s.started = s.fixedNow // which timestamp may have set
	return func() {
		for i := len(before) - 1; i >= 0; i-- {
			_ = s.hold(before[i].variable, before[i].value) // fails only at a COMMIT by autocommit, which no hint sets
		}
	}
}

// hintedVariable reads name=value; nil if it is none. MySQL's grammar of hints has no empty string.
func (s *Session) hintedVariable(args string) *syntax.SetVar {
	parsed, _, err := syntax.Parse("SET SESSION "+args, s.parse)
	set, ok := parsed.(*syntax.Set)
	if err != nil || !ok || len(set.Items) != 1 {
		return nil
	}
	item, ok := set.Items[0].(*syntax.SetVar)
	if !ok {
		return nil
	}
	if lit, ok := item.Value.(*syntax.Literal); !ok || lit.Kind == syntax.LitString && lit.Value == "" {
		if _, word := item.Value.(*syntax.ColumnRef); !word {
			return nil
		}
	}
	return item
}

func (s *Session) warnOfHint(number uint16, text string) {
	s.context.AddError(types.LevelWarning, types.NewError(number, text))
}
