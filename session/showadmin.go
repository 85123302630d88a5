package session

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// runLooseShow answers SHOW REGIONS and the forms of SHOW about logs and replicas, of which there are none.
func (s *Session) runLooseShow(stmt *syntax.Loose, more bool, out Response) error {
	text := strings.ToUpper(syntax.String(stmt))
	switch {
	case strings.HasPrefix(text, "SHOW BINARY LOGS"), strings.HasPrefix(text, "SHOW MASTER LOGS"):
		return s.fail(types.Errorf(types.ErNoBinaryLogging))
	}
	if table := regionsOf(stmt); table != nil {
		return s.showRegions(*table, more, out)
	}
	query, err := infoschema.AbsentShow(stmt)
	if err == nil && query == nil {
		err = types.Errorf(types.ErNotSupportedYet, unsupportedStatement(stmt))
	}
	if err == nil {
		err = s.requireReplicationRight(text)
	}
	if err != nil {
		return s.fail(err)
	}
	return s.runOwnQuery(query, more, out)
}

// requireReplicationRight asks for the right that MySQL asks for, also where there is nothing to show.
func (s *Session) requireReplicationRight(text string) error {
	right, name := privilege.ReplicationClient, "SUPER, REPLICATION CLIENT"
	for _, form := range []string{"SHOW REPLICAS", "SHOW SLAVE HOSTS", "SHOW BINLOG", "SHOW RELAYLOG"} {
		if strings.HasPrefix(text, form) {
			right, name = privilege.ReplicationSlave, "REPLICATION SLAVE"
		}
	}
	if a := s.account(); !a.Has(right, "", "") && !(right == privilege.ReplicationClient && a.Has(privilege.Super, "", "")) {
		return types.Errorf(types.ErSpecificAccessDenied, name)
	}
	return nil
}

// absentObject is the error of a SHOW about an object of a kind that Pando does not have; nil for the other kinds.
func absentObject(stmt *syntax.Show) error {
	switch stmt.Kind {
	case syntax.ShowCreateProc, syntax.ShowCreateFunc:
		return types.Errorf(types.ErSPDoesNotExist, strings.TrimPrefix(string(stmt.Kind), "CREATE "), stmt.Name.Name)
	case syntax.ShowCreateTrigger:
		return types.Errorf(types.ErTrgDoesNotExist)
	case syntax.ShowCreateEvent:
		return types.Errorf(types.ErEventDoesNotExist, stmt.Name.Name)
	case syntax.ShowProcCode, syntax.ShowFuncCode:
		return types.Errorf(types.ErFeatureDisabled, "SHOW PROCEDURE|FUNCTION CODE", "--with-debug")
	}
	return nil
}

// showSystemTable is SHOW CREATE TABLE of a virtual table.
func (s *Session) showSystemTable(stmt *syntax.Show, name ddl.Name, more bool, out Response) error {
	t, view := infoschema.Described(name.Schema, name.Table)
	if t == nil {
		return s.fail(types.Errorf(types.ErNoSuchTable, name.Schema, name.Table))
	}
	if err := (*provider)(s).mayDescribe(t); err != nil {
		return s.fail(err)
	}
	switch {
	case view != "":
		text := s.quotes().Requote("CREATE ALGORITHM=UNDEFINED DEFINER=`mysql.sys`@`localhost` SQL SECURITY INVOKER VIEW " +
			catalog.QuoteIdent(t.Schema) + "." + catalog.QuoteIdent(t.Name) + " AS " + view)
		return s.sendRows([]sqlapi.ColumnInfo{textColumn("View", 64), textColumn("Create View", 1024), textColumn("character_set_client", 32), textColumn("collation_connection", 32)},
			[][]types.Value{{types.Text(t.Name), types.Text(text), types.Text("utf8mb4"), types.Text(types.DefaultCollation.Name())}}, more, out)
	case stmt.Kind == syntax.ShowCreateView:
		return s.fail(types.Errorf(types.ErWrongObject, t.Schema, t.Name, "VIEW"))
	}
	text := catalog.ShowCreateTable(t, 0, &s.context, s.quotes())
	if t.Schema == "information_schema" {
		text = strings.Replace(text, "CREATE TABLE", "CREATE TEMPORARY TABLE", 1)
		text = strings.Replace(text, "ENGINE= ", "ENGINE=MEMORY ", 1)
	}
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("Table", 64), textColumn("Create Table", 1024)},
		[][]types.Value{{types.Text(t.Name), types.Text(text)}}, more, out)
}

// mayDescribe asks for the rights on a system table whose columns are to be shown.
func (p *provider) mayDescribe(t *catalog.Table) error {
	if t.Schema == "information_schema" || t.Schema == "performance_schema" {
		return nil
	}
	return p.MayRead(t.Schema, t.Name)
}

// deadlockRecord is what SHOW ENGINE INNODB STATUS tells of the last deadlock.
type deadlockRecord struct {
	at        time.Time
	id        uint64
	user      string
	host      string
	statement string
	others    []Process
}

// deadlockTextMax bounds the bytes of each statement in the record of a deadlock, othersMax the number of connections besides the victim's.
const (
	deadlockTextMax = 1024
	othersMax       = 16
)

// deadlocks keeps the last deadlock.
type deadlocks struct {
	mu   sync.Mutex // guards last
	last *deadlockRecord
}

// noteDeadlock records that the session's statement was the victim of a deadlock, with what the other connections were running.
func (s *Session) noteDeadlock() {
	r := &deadlockRecord{at: clock.Now(), id: s.id, user: s.client.User, host: s.client.Host, statement: clip(s.Info(), deadlockTextMax)}
	if s.node.Processes != nil {
		for _, p := range s.node.Processes() {
			if p.ID != s.id && p.Info != "" && len(r.others) < othersMax {
				p.Info = clip(p.Info, deadlockTextMax)
				r.others = append(r.others, p)
			}
		}
	}
	if s.node.Global("innodb_print_all_deadlocks") == "ON" {
		s.node.Log.Warn("a deadlock was ended", "connection", r.id, "user", r.user, "statement", r.statement)
	}
	s.node.deadlocks.mu.Lock()
	defer s.node.deadlocks.mu.Unlock()
	s.node.deadlocks.last = r
}

// clip shortens a text to at most length bytes of whole characters and an ellipsis.
func clip(text string, length int) string {
	if len(text) <= length {
		return text
	}
	for length > 0 && !utf8.RuneStart(text[length]) {
		length--
	}
	return text[:length] + "…"
}

// showEngine is SHOW ENGINE … STATUS, MUTEX or LOGS.
func (s *Session) showEngine(stmt *syntax.Show, more bool, out Response) error {
	if err := s.require(privilege.Process, "", ""); err != nil {
		return s.fail(err)
	}
	columns := []sqlapi.ColumnInfo{textColumn("Type", 10), textColumn("Name", 512), textColumn("Status", 10)}
	name := stmt.Name.Name
	switch {
	case strings.EqualFold(name, "performance_schema"):
		return s.sendRows(columns, nil, more, out)
	case !strings.EqualFold(name, "innodb"):
		return s.fail(types.Errorf(types.ErUnknownStorageEngine, name))
	case !strings.EqualFold(stmt.What, "STATUS"):
		return s.sendRows(columns, nil, more, out)
	}
	return s.sendRows(columns, [][]types.Value{{types.Text("InnoDB"), types.Text(""), types.Text(s.engineStatus())}}, more, out)
}

// engineStatus is the text of SHOW ENGINE INNODB STATUS, under InnoDB's headings as far as there are facts for them.
func (s *Session) engineStatus() string {
	var b strings.Builder
	heading := func(name string) {
		line := strings.Repeat("-", len(name))
		fmt.Fprintf(&b, "%s\n%s\n%s\n", line, name, line)
	}
	const frame = "====================================="
	stamp := func(t time.Time) string { return t.In(s.context.Loc).Format("2006-01-02 15:04:05") }
	fmt.Fprintf(&b, "\n%s\n%s INNODB MONITOR OUTPUT\n%s\n", frame, stamp(s.now()), frame)
	s.node.deadlocks.mu.Lock()
	last := s.node.deadlocks.last
	s.node.deadlocks.mu.Unlock()
	if last != nil {
		heading("LATEST DETECTED DEADLOCK")
		fmt.Fprintf(&b, "%s\n", stamp(last.at))
		for i, p := range last.others {
			fmt.Fprintf(&b, "*** (%d) TRANSACTION:\nMySQL thread id %d, query %s %s %s\n%s\n", i+1, p.ID, p.Host, p.User, p.State, p.Info)
		}
		n := len(last.others) + 1
		fmt.Fprintf(&b, "*** (%d) TRANSACTION:\nMySQL thread id %d, query %s %s\n%s\n*** WE ROLL BACK TRANSACTION (%d)\n", n, last.id, last.host, last.user, last.statement, n)
	}
	heading("TRANSACTIONS")
	fmt.Fprintf(&b, "LIST OF TRANSACTIONS FOR EACH SESSION:\n")
	if s.node.Processes != nil {
		for _, p := range s.node.Processes() {
			fmt.Fprintf(&b, "MySQL thread id %d, %s %s, %s %d sec\n", p.ID, p.Host, p.User, p.Command, p.Seconds)
			if p.Info != "" {
				fmt.Fprintf(&b, "%s\n", clip(p.Info, deadlockTextMax))
			}
		}
	}
	heading("ROW OPERATIONS")
	for _, pair := range (*provider)(s).Status(true) {
		if strings.HasPrefix(pair[0], "Innodb_") {
			fmt.Fprintf(&b, "%s %s\n", pair[0], pair[1])
		}
	}
	fmt.Fprintf(&b, "----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n")
	return b.String()
}
