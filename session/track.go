package session

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// The kinds of entries in the session state of an OK packet.
const (
	trackVariable        = 0
	trackSchema          = 1
	trackStateChange     = 2
	trackCharacteristics = 4
	trackTransaction     = 5
)

// tracker collects the changes of the session that the client is told in the OK packets of the statements that make them. It collects
// nothing for a client that did not ask for it (CLIENT_SESSION_TRACK).
type tracker struct {
	on bool
	// The values of the session_track_ variables.
	schema, change, all bool
	names               []string
	transaction         string // session_track_transaction_info
	// What has changed since the last OK packet; pending is false if nothing has. variables are indexes in variableTable.list.
	pending                     bool
	schemaChanged, stateChanged bool
	variables                   []int
	// What the transaction has done, and the last state and characteristics of it that the client was sent.
	read, wrote, sent bool
	told, toldOptions string
}

// applyTracking reads the session_track_ variables.
func applyTracking(s *Session, _ string) error {
	t := &s.track
	t.on = s.client.TrackState
	if !t.on {
		return nil
	}
	t.schema, t.change = s.get("session_track_schema") == "ON", s.get("session_track_state_change") == "ON"
	t.stateChanged, t.schemaChanged = t.stateChanged && t.change, t.schemaChanged && t.schema
	t.names, t.all = nil, false
	for _, name := range strings.Split(s.get("session_track_system_variables"), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		t.all = t.all || name == "*"
		t.names = append(t.names, name)
	}
	t.transaction = s.get("session_track_transaction_info")
	return nil
}

// noteVariable records that a session variable was set.
func (s *Session) noteVariable(i int) {
	t := &s.track
	if !t.on {
		return
	}
	s.noteChange()
	if (t.all || slices.Contains(t.names, s.node.table.list[i].name)) && !slices.Contains(t.variables, i) {
		t.variables, t.pending = append(t.variables, i), true
	}
}

// noteSchema records that the current database was chosen.
func (s *Session) noteSchema() {
	if t := &s.track; t.on {
		s.noteChange()
		t.schemaChanged = t.schema
		t.pending = t.pending || t.schema
	}
}

// noteChange records that the session's state has changed in any way.
func (s *Session) noteChange() {
	if t := &s.track; t.on && t.change {
		t.stateChanged, t.pending = true, true
	}
}

// noteStatement records what a statement has done in its transaction.
func (s *Session) noteStatement(p *exec.Plan, result *sqlapi.Result) {
	t := &s.track
	if !t.on || t.transaction == "OFF" || s.tx == nil {
		return
	}
	t.read = t.read || p.IsQuery && len(p.Tables) > 0
	t.wrote = t.wrote || !p.IsQuery
	t.sent = t.sent || result.HasRows
}

// SessionState returns the changes of session state since the last call, as an OK packet holds them; nil if there are none.
func (s *Session) SessionState() []byte {
	t := &s.track
	if !t.on {
		return nil
	}
	var out []byte
	for _, i := range t.variables {
		name := s.node.table.list[i].name
		out = appendEntry(out, trackVariable, name, s.shown(i, s.node.table.list[i], false))
	}
	if t.schemaChanged {
		out = appendEntry(out, trackSchema, s.db)
	}
	if t.stateChanged {
		out = appendEntry(out, trackStateChange, "1")
	}
	if t.transaction != "OFF" && t.transaction != "" {
		out = s.appendTransaction(out)
	}
	t.pending, t.schemaChanged, t.stateChanged, t.variables = false, false, false, t.variables[:0]
	return out
}

// noTransaction is the transaction state without a transaction.
const noTransaction = "________"

// appendTransaction adds the state and characteristics of the transaction if they differ from those sent last. The state has eight characters:
// T for an explicit transaction or I for an implicit one, R for rows read, W for rows written, S for rows sent, and _ elsewhere. The
// characteristics are the statements that would begin a transaction like it.
func (s *Session) appendTransaction(out []byte) []byte {
	t := &s.track
	state, options := []byte(noTransaction), ""
	if s.tx == nil {
		t.read, t.wrote, t.sent = false, false, false
	} else {
		state[0] = 'T'
		if !s.autocommit {
			state[0] = 'I'
		}
		for i, is := range map[int]bool{2: t.read, 4: t.wrote, 6: t.sent} {
			if is {
				state[i] = "__R_W_S_"[i]
			}
		}
		options = "START TRANSACTION"
		if s.txReadOnly {
			options += " READ ONLY"
		}
		options += ";"
	}
	if t.transaction == "CHARACTERISTICS" && options != t.toldOptions {
		t.toldOptions = options
		out = appendEntry(out, trackCharacteristics, options)
	}
	if text := string(state); text != t.told && !(t.told == "" && text == noTransaction) {
		t.told = text
		out = appendEntry(out, trackTransaction, text)
	}
	return out
}

// appendEntry appends an entry: its kind, the length of the rest, and each text after its length.
func appendEntry(dst []byte, kind byte, texts ...string) []byte {
	var data []byte
	for _, text := range texts {
		data = append(appendLength(data, len(text)), text...)
	}
	dst = append(dst, kind)
	return append(appendLength(dst, len(data)), data...)
}

// appendLength appends a length-encoded integer of the protocol.
func appendLength(dst []byte, n int) []byte {
	switch {
	case n < 251:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	}
	return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
}

// checkTracked accepts a list of variables' names, and refuses an unknown one.
func checkTracked(s *Session, value string) (string, error) {
	for _, name := range strings.Split(value, ",") {
		name = strings.TrimSpace(name)
		if name == "" || name == "*" || s == nil {
			continue
		}
		if _, _, err := s.node.table.lookup(name); err != nil {
			return "", types.Errorf(types.ErUnknownSystemVariable, name)
		}
	}
	return value, nil
}
