package session

import "github.com/pandodb/pando/types"

// takeNotices empties the parser's notices into warnings. A plan that is kept keeps them: each execution of its text tells them, and those of a
// prepared text its PREPARE.
func (s *Session) takeNotices() []types.Warning {
	if len(s.notices) == 0 {
		return nil
	}
	out := make([]types.Warning, len(s.notices))
	for i, n := range s.notices {
		number := uint16(n.Code)
		out[i] = types.Warning{Level: types.LevelWarning, Number: number, State: types.StateOf(number), Message: n.Text}
	}
	s.notices = nil // no session keeps the memory of a text that had many
	return out
}

// tell adds warnings that are known before the statement runs.
func (s *Session) tell(warnings []types.Warning) {
	for i := range warnings {
		s.context.AddError(warnings[i].Level, types.NewError(warnings[i].Number, warnings[i].Message))
	}
}
