package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// tracked keeps the session state of the last answer.
type tracked struct {
	enc   types.RowEncoder
	state []byte
	flags sqlapi.Status
}

func (r *tracked) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &r.enc, nil }
func (r *tracked) RowDone() error                                         { return nil }
func (r *tracked) Done(result sqlapi.Result, _ bool) error {
	r.state, r.flags = result.State, result.Status
	return nil
}

// entries prints the entries of a session state: the kind and the texts of each.
func entries(state []byte) string {
	var out []string
	for len(state) > 0 {
		data := state[2 : 2+int(state[1])]
		var texts []string
		for rest := data; len(rest) > 0; rest = rest[1+int(rest[0]):] {
			texts = append(texts, string(rest[1:1+int(rest[0])]))
		}
		out = append(out, string('0'+state[0])+":"+strings.Join(texts, "="))
		state = state[2+int(state[1]):]
	}
	return strings.Join(out, " ")
}

// TestSessionTracking: OK packets tell a client that asks for it of what its statements change in the session, as the session_track_ variables
// say, and others of nothing.
func TestSessionTracking(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY)")
	open := func(track bool) *session.Session {
		s, err := session.New(node.Node, session.Client{ID: 99, User: "root", Host: "localhost", Account: "root@localhost", Database: "d", TrackState: track})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if err := s.Handshake(types.DefaultCollation, false, false); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(true)
	for _, step := range [][2]string{
		{"SET @a = 1", ""},
		{"SET time_zone = '+01:00'", "0:time_zone=+01:00"},
		{"SET autocommit = 1, sql_notes = 0", "0:autocommit=ON"},
		{"SET NAMES latin1", "0:character_set_client=latin1 0:character_set_results=latin1 0:character_set_connection=latin1"},
		{"USE d", "1:d"},
		{"SELECT 1", ""},
		{"SET session_track_system_variables = '*'", "0:session_track_system_variables=*"},
		{"SET sql_notes = 1", "0:sql_notes=ON"},
		{"SET session_track_system_variables = '', session_track_state_change = 1", "2:1"},
		{"SET @a = 2", "2:1"},
		{"USE d", "1:d 2:1"},
		{"SET session_track_schema = 0, session_track_state_change = 0", ""},
		{"USE d", ""},
		{"SET session_track_transaction_info = 'CHARACTERISTICS'", ""},
		{"BEGIN", "4:START TRANSACTION; 5:T_______"},
		{"SELECT * FROM t", "5:T_R___S_"},
		{"INSERT INTO t VALUES (1)", "5:T_R_W_S_"},
		{"COMMIT", "4: 5:________"},
		{"START TRANSACTION READ ONLY", "4:START TRANSACTION READ ONLY; 5:T_______"},
		{"ROLLBACK", "4: 5:________"},
		{"SELECT * FROM t", ""},
	} {
		r := &tracked{}
		if err := s.Query([]byte(step[0]), r); err != nil {
			t.Fatalf("%s: %v", step[0], err)
		}
		if got := entries(r.state); got != step[1] {
			t.Errorf("%s tells %q, want %q", step[0], got, step[1])
		}
		if changed := r.flags&sqlapi.StatusSessionChanged != 0; changed != (step[1] != "") {
			t.Errorf("%s has the flag of a changed session: %v", step[0], changed)
		}
	}
	r := &tracked{}
	if err := open(false).Query([]byte("USE d"), r); err != nil || r.state != nil || r.flags&sqlapi.StatusSessionChanged != 0 {
		t.Errorf("a client that does not ask is told %q (%v)", r.state, err)
	}
}
