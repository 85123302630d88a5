package session

import (
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// The error numbers that only GET DIAGNOSTICS and SIGNAL use.
const (
	errDuplicateItem    = 1641
	errItemTruncated    = 1647
	errItemTooLong      = 1648
	errConditionNumber  = 1758
	errStackedNotActive = 3004
)

const (
	messageItemRunes       = 128 // how long MESSAGE_TEXT may be
	nameItemRunes          = 64  // how long the other texts may be
	isoOrigin, mysqlOrigin = "ISO 9075", "MySQL"
)

// conditionItems are what a SIGNAL says of its condition beside number, state and message, by the upper-case names of the items.
type conditionItems map[string]string

// getDiagnostics executes GET DIAGNOSTICS, which changes the diagnostics area only to add an error about a condition number that does not exist.
func (s *Session) getDiagnostics(stmt *syntax.Loose, more bool, out Response) error {
	parts := stmt.Parts[1:] // without GET
	if parts[0].Text == "STACKED" {
		return s.fail(types.NewError(errStackedNotActive, "GET STACKED DIAGNOSTICS when handler not active"))
	}
	if parts[0].Text == "CURRENT" {
		parts = parts[1:]
	}
	parts = parts[1:] // DIAGNOSTICS
	var number syntax.Expr
	if parts[0].Text == "CONDITION" {
		number, parts = parts[1].Expr, parts[2:]
	}
	for _, part := range parts {
		if part.Kind == syntax.LooseName { // a local variable of a stored program
			return s.fail(types.Errorf(types.ErSPUndeclaredVar, part.Text))
		}
	}
	kept := s.diagnostics
	kept.list = append([]types.Warning(nil), kept.list...)
	item := s.statementItem
	if number != nil {
		at, found := s.conditionAt(number, len(kept.list))
		if !found {
			kept.add(types.NewError(errConditionNumber, "Invalid condition number"))
			parts = nil
		} else {
			condition := &kept.list[at]
			item = func(name string) types.Value { return kept.item(condition, name) }
		}
	}
	for target := (*syntax.UserVariable)(nil); len(parts) > 0; parts = parts[1:] {
		switch {
		case parts[0].Kind == syntax.LooseExpr:
			target = parts[0].Expr.(*syntax.UserVariable)
		case parts[0].Kind == syntax.LooseWord:
			if err := s.setUserVar(target.Name, item(parts[0].Text)); err != nil {
				return s.fail(err)
			}
			s.noteChange()
		}
	}
	s.context.ResetWarnings()
	err := s.done(sqlapi.Result{}, more, out)
	s.diagnostics = kept
	return err
}

// conditionAt is the place in the list of the condition with a number, which counts from 1.
func (s *Session) conditionAt(number syntax.Expr, conditions int) (at int, found bool) {
	v, err := s.scalar(number)
	if err != nil || v.IsNull() {
		return 0, false
	}
	n := types.ToInt(&s.context, &v)
	return int(n) - 1, n >= 1 && n <= int64(conditions)
}

// statementItem is what GET DIAGNOSTICS tells of the statement before.
func (s *Session) statementItem(name string) types.Value {
	if name == "NUMBER" {
		return types.Int(int64(len(s.diagnostics.list)))
	}
	return types.Int(s.rowCount)
}

// item is what GET DIAGNOSTICS tells of a condition.
func (d *diagnostics) item(w *types.Warning, name string) types.Value {
	switch name {
	case "RETURNED_SQLSTATE":
		return types.Text(w.State)
	case "MYSQL_ERRNO":
		return types.Int(int64(w.Number))
	case "MESSAGE_TEXT":
		return types.Text(w.Message)
	}
	if d.signalled != nil {
		return types.Text(d.signalled[name])
	}
	if name != "CLASS_ORIGIN" && name != "SUBCLASS_ORIGIN" {
		return types.Text("")
	}
	if w.State < "5" || w.State >= "A" && w.State < "I" { // the classes of the standard
		return types.Text(isoOrigin)
	}
	return types.Text(mysqlOrigin)
}

// signal executes SIGNAL: a warning, or the error that it returns.
func (s *Session) signal(stmt *syntax.Loose) error {
	parts := stmt.Parts[1:] // without SIGNAL
	if parts[0].Kind == syntax.LooseName {
		return types.Errorf(types.ErSPCondMismatch, parts[0].Text)
	}
	for parts[0].Kind != syntax.LooseExpr { // SQLSTATE, VALUE
		parts = parts[1:]
	}
	state := parts[0].Expr.(*syntax.Literal).Value
	level, number := types.LevelError, types.ErSignalException
	switch {
	case !stateOfSignal(state):
		return types.Errorf(types.ErSPBadSQLState, state)
	case strings.HasPrefix(state, "01"):
		level, number = types.LevelWarning, types.ErSignalWarn
	case strings.HasPrefix(state, "02"):
		number = types.ErSignalNotFound
	}
	condition := types.Errorf(number)
	condition.State = state
	items, err := s.signalItems(parts[1:], condition)
	if err != nil {
		return err
	}
	s.diagnostics.signalling = items
	if level == types.LevelWarning {
		s.context.AddError(level, condition)
		return nil
	}
	return condition
}

// stateOfSignal reports whether a text is an SQLSTATE other than that of success.
func stateOfSignal(state string) bool {
	for _, c := range []byte(state) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(state) == 5 && !strings.HasPrefix(state, "00")
}

// signalItems reads SET of a SIGNAL.
func (s *Session) signalItems(parts []syntax.LoosePart, condition *types.Error) (conditionItems, error) {
	items, given, name := conditionItems{}, map[string]bool{}, ""
	for _, part := range parts {
		switch {
		case part.Kind == syntax.LooseWord && part.Text != "SET":
			if name = part.Text; given[name] {
				return nil, types.NewError(errDuplicateItem, "Duplicate condition information item '"+name+"'")
			}
			given[name] = true
		case part.Kind == syntax.LooseExpr:
			v, err := s.scalar(part.Expr)
			if err != nil {
				return nil, err
			}
			if err := s.signalItem(items, condition, name, v); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

func (s *Session) signalItem(items conditionItems, condition *types.Error, name string, v types.Value) error {
	if v.IsNull() {
		return types.Errorf(types.ErWrongValueForVar, name, "NULL")
	}
	text := string(types.AppendText(nil, nil, &v))
	if v.K == types.KindString {
		text = types.InUTF8(text, v.Coll.Charset())
	}
	if name == "MYSQL_ERRNO" {
		n := types.ToInt(&s.context, &v)
		if n < 1 || n > 65535 {
			return types.Errorf(types.ErWrongValueForVar, name, text)
		}
		condition.Number = uint16(n)
		return nil
	}
	runes := nameItemRunes
	if name == "MESSAGE_TEXT" {
		runes = messageItemRunes
	}
	if utf8.RuneCountInString(text) > runes {
		if s.context.SQLMode.IsStrict() {
			return types.NewError(errItemTooLong, "Data too long for condition item '"+name+"'")
		}
		text = string([]rune(text)[:runes])
		s.context.AddError(types.LevelWarning, types.NewError(errItemTruncated, "Data truncated for condition item '"+name+"'"))
	}
	if name == "MESSAGE_TEXT" {
		condition.Message = text
		return nil
	}
	items[name] = text
	return nil
}
