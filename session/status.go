package session

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/syntax"
)

// commandNames are the names of MySQL's Com_ counters. Those before questionsFrom count protocol commands about prepared statements, which
// the counter Questions leaves out: the statement that such a command executes is counted by itself.
var commandNames = []string{"stmt_prepare", "stmt_close", "stmt_reset", "stmt_fetch", "stmt_execute", "select", "insert", "insert_select", "replace", "replace_select", "update", "update_multi",
	"delete", "delete_multi", "do", "set_option", "begin", "commit", "rollback", "rollback_to_savepoint", "savepoint", "release_savepoint", "change_db",
	"create_table", "drop_table", "alter_table", "create_index", "drop_index", "truncate", "rename_table", "create_db", "alter_db", "drop_db", "create_view",
	"drop_view", "create_user", "drop_user", "rename_user", "grant", "revoke", "revoke_all", "prepare_sql", "execute_sql", "dealloc_sql", "kill", "flush", "lock_tables",
	"unlock_tables", "load", "call_procedure", "explain_other", "analyze", "check", "checksum", "optimize", "repair", "show_databases", "show_tables", "show_fields",
	"show_keys", "show_table_status", "show_open_tables", "show_triggers", "show_events", "show_variables", "show_status", "show_warnings", "show_errors",
	"show_processlist", "show_storage_engines", "show_engine_status", "show_charsets", "show_collations", "show_privileges", "show_plugins", "show_grants",
	"show_profiles", "show_profile", "show_procedure_status", "show_function_status", "show_create_db", "show_create_table", "show_create_user",
	"get_diagnostics", "signal", "resignal", "shutdown", "restart", "help", "lock_instance", "unlock_instance", "other"}

// questionsFrom is the first of commandNames that the counter Questions includes, countedMax how many there can be.
const (
	questionsFrom = 5
	countedMax    = 96
	// uncounted is the index for queries that the server made itself, which have no name.
	uncounted = countedMax - 1
)

// The indexes of the first of commandNames.
const (
	commandStmtPrepare = iota
	commandStmtClose
	commandStmtReset
	commandStmtFetch
	commandStmtExecute
)

// commandNumbers are the indexes of commandNames.
var commandNumbers = func() map[string]uint8 {
	if len(commandNames) > uncounted {
		panic("session: more commands than counters")
	}
	m := map[string]uint8{}
	for i, name := range commandNames {
		m[name] = uint8(i)
	}
	return m
}()

// tally counts statements by commandNames. Only its session's goroutine adds to it, so a load and a store do instead of an atomic addition.
type tally [countedMax]atomic.Uint64

func (t *tally) add(command uint8) { t[command].Store(t[command].Load() + 1) }

// addTo adds the counts to sum.
func (t *tally) addTo(sum *[countedMax]uint64) {
	for i := range t {
		sum[i] += t[i].Load()
	}
}

// tallies are the counts of all sessions.
type tallies struct {
	mu    sync.Mutex // guards the fields below
	open  map[*Session]struct{}
	ended [countedMax]uint64 // counts of sessions that have ended, and those that FLUSH STATUS has reset in others
	done  figureSums         // likewise
	since time.Time          // of FLUSH STATUS, zero before the first
}

func (t *tallies) enter(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[*Session]struct{}{}
	}
	t.open[s] = struct{}{}
}

func (t *tallies) leave(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, here := t.open[s]; here {
		delete(t.open, s)
		s.counts.addTo(&t.ended)
		s.ledger.addFigures(&t.done, true)
	}
}

// sessions lists those that are open.
func (t *tallies) sessions() []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.open))
}

// flush resets the counts of s, for FLUSH STATUS, and keeps them in the total. The goroutine of s calls it.
func (t *tallies) flush(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.counts.addTo(&t.ended)
	s.ledger.addFigures(&t.done, true)
	for i := range s.counts {
		s.counts[i].Store(0)
	}
	t.since = clock.Now()
}

func (t *tallies) total() (sum [countedMax]uint64, done figureSums, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum, done = t.ended, t.done
	for s := range t.open {
		s.counts.addTo(&sum)
		s.ledger.addFigures(&done, false)
	}
	return sum, done, t.since
}

// commandOf is the index of a statement in commandNames.
func commandOf(stmt syntax.Statement) uint8 {
	n, ok := commandNumbers[commandName(stmt)]
	if !ok {
		n = commandNumbers["other"]
	}
	return n
}

func commandName(stmt syntax.Statement) string {
	switch stmt := stmt.(type) {
	case *syntax.Query:
		return "select"
	case *syntax.Insert:
		name := "insert"
		if stmt.Replace {
			name = "replace"
		}
		if stmt.Query != nil {
			name += "_select"
		}
		return name
	case *syntax.Update:
		return "update"
	case *syntax.Delete:
		return "delete"
	case *syntax.Show:
		return showNames[stmt.Kind]
	case *syntax.Grant:
		switch {
		case stmt.RevokeAll:
			return "revoke_all"
		case stmt.Revoke:
			return "revoke"
		}
		return "grant"
	case *syntax.Rollback:
		if stmt.ToSavepoint {
			return "rollback_to_savepoint"
		}
		return "rollback"
	case *syntax.TableMaintenance:
		return strings.ToLower(stmt.Verb)
	case *syntax.Loose:
		if name := looseNames[stmt.Kind]; name != "" {
			return name
		}
	case *syntax.DropObjects:
		return "drop_" + strings.ToLower(stmt.Kind)
	}
	return plainNames(stmt)
}

// plainNames are the names of statements that follow from their type alone.
func plainNames(stmt syntax.Statement) string {
	switch stmt.(type) {
	case *syntax.Do:
		return "do"
	case *syntax.Set, *syntax.SetTransaction:
		return "set_option"
	case *syntax.Begin:
		return "begin"
	case *syntax.Commit:
		return "commit"
	case *syntax.Savepoint:
		return "savepoint"
	case *syntax.ReleaseSavepoint:
		return "release_savepoint"
	case *syntax.Use:
		return "change_db"
	case *syntax.Describe:
		return "show_fields"
	case *syntax.Explain:
		return "explain_other"
	case *syntax.Prepare:
		return "prepare_sql"
	case *syntax.Execute:
		return "execute_sql"
	case *syntax.Deallocate:
		return "dealloc_sql"
	case *syntax.Kill:
		return "kill"
	case *syntax.Flush:
		return "flush"
	case *syntax.LockTables:
		return "lock_tables"
	case *syntax.UnlockTables:
		return "unlock_tables"
	case *syntax.LoadData:
		return "load"
	case *syntax.Call:
		return "call_procedure"
	}
	return schemaNames(stmt)
}

// looseNames are the names of statements without a node type of their own in the syntax tree, by their kind.
var looseNames = map[string]string{"GET": "get_diagnostics", "SIGNAL": "signal", "RESIGNAL": "resignal", "SHUTDOWN": "shutdown", "RESTART": "restart",
	"HELP": "help", "LOCK INSTANCE": "lock_instance", "UNLOCK INSTANCE": "unlock_instance"}

func schemaNames(stmt syntax.Statement) string {
	switch stmt.(type) {
	case *syntax.CreateTable:
		return "create_table"
	case *syntax.DropTable:
		return "drop_table"
	case *syntax.AlterTable:
		return "alter_table"
	case *syntax.CreateIndex:
		return "create_index"
	case *syntax.DropIndex:
		return "drop_index"
	case *syntax.TruncateTable:
		return "truncate"
	case *syntax.RenameTable:
		return "rename_table"
	case *syntax.CreateDatabase:
		return "create_db"
	case *syntax.AlterDatabase:
		return "alter_db"
	case *syntax.DropDatabase:
		return "drop_db"
	case *syntax.CreateView:
		return "create_view"
	case *syntax.CreateUser:
		return "create_user"
	case *syntax.DropUser:
		return "drop_user"
	case *syntax.RenameUser:
		return "rename_user"
	}
	return "other"
}

// showNames are the names of the forms of SHOW.
var showNames = map[syntax.ShowKind]string{syntax.ShowDatabases: "show_databases", syntax.ShowTables: "show_tables", syntax.ShowColumns: "show_fields",
	syntax.ShowIndex: "show_keys", syntax.ShowTableStatus: "show_table_status", syntax.ShowOpenTables: "show_open_tables", syntax.ShowTriggers: "show_triggers",
	syntax.ShowEvents: "show_events", syntax.ShowVariables: "show_variables", syntax.ShowStatus: "show_status", syntax.ShowWarnings: "show_warnings",
	syntax.ShowErrors: "show_errors", syntax.ShowProcesslist: "show_processlist", syntax.ShowEngines: "show_storage_engines", syntax.ShowEngine: "show_engine_status",
	syntax.ShowCharset: "show_charsets", syntax.ShowCollation: "show_collations", syntax.ShowPrivileges: "show_privileges", syntax.ShowPlugins: "show_plugins",
	syntax.ShowGrants: "show_grants", syntax.ShowProfiles: "show_profiles", syntax.ShowProfile: "show_profile", syntax.ShowProcStatus: "show_procedure_status",
	syntax.ShowFuncStatus: "show_function_status", syntax.ShowCreateDB: "show_create_db", syntax.ShowCreateTable: "show_create_table",
	syntax.ShowCreateView: "show_create_table", syntax.ShowCreateUser: "show_create_user"}

// Status lists the counters of the session or of the node by name. Counters that only the node has are in both lists.
func (p *provider) Status(global bool) [][2]string {
	figures := recordedStatus()
	if p.node.Counters != nil {
		maps.Copy(figures, p.node.Counters())
	}
	number := func(name string, n uint64) { figures[name] = strconv.FormatUint(n, 10) }
	cache := p.node.Plans.Stats()
	number("Plan_cache_hits", cache.Hits)
	number("Plan_cache_misses", cache.Misses)
	number("Plan_cache_entries", uint64(cache.Entries))
	number("Prepared_stmt_count", uint64(max(p.node.preparedLive.Load(), 0)))
	number("Dictionary_tables_read", uint64(p.node.dictionaryReads.Load()))
	number("Dictionary_table_looks", p.node.facts.looks.Load())
	sum, done, since := p.node.tallies.total()
	if since.IsZero() {
		since = p.node.Start
	}
	if !global {
		clear(sum[:])
		p.counts.addTo(&sum)
		done = figureSums{}
		p.ledger.addFigures(&done, false)
	}
	counters := sessionCounters(&sum, &done)
	questions, all := counters["Questions"], counters["Queries"]
	for name, n := range counters {
		if name != "Questions" && name != "Queries" {
			number(name, n)
		}
	}
	if !global || p.node.Counters == nil {
		number("Questions", questions)
		number("Queries", all)
	}
	number("Uptime", uint64(clock.Now().Sub(p.node.Start).Seconds()))
	number("Uptime_since_flush_status", uint64(clock.Now().Sub(since).Seconds()))
	p.connectionStatus(figures)
	names := slices.Sorted(maps.Keys(figures))
	list := make([][2]string, len(names))
	for i, name := range names {
		list[i] = [2]string{name, figures[name]}
	}
	return list
}

// recordedStatusText are MySQL's status variables as recorded from a MySQL server (tests/dictionary/record).
//
//go:embed record/status.txt
var recordedStatusText string

// recordedStatus are MySQL's status variables, all 0 or empty: their values where nothing in Pando corresponds to them.
func recordedStatus() map[string]string {
	figures := map[string]string{}
	for line := range strings.Lines(recordedStatusText) {
		if name, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); found {
			figures[name] = value
		}
	}
	return figures
}

// sessionCounters are the counters that each session has, by name, from the sums of one session or of all.
func sessionCounters(sum *[countedMax]uint64, done *figureSums) map[string]uint64 {
	counters := map[string]uint64{}
	for i, name := range exec.ProfileNames {
		if name != "" {
			counters[name] = uint64(done.profile[i])
		}
	}
	for i, name := range exec.WorkNames {
		counters[name] = done.work[i]
	}
	var questions, all uint64
	for i, name := range commandNames {
		all += sum[i]
		if i >= questionsFrom && name != "execute_sql" {
			questions += sum[i]
		}
		if name != "other" {
			counters["Com_"+name] = sum[i]
		}
	}
	counters["Questions"], counters["Queries"] = questions, all
	return counters
}

// connectionStatus adds the status variables that the list of connections gives.
func (p *provider) connectionStatus(figures map[string]string) {
	running := 0
	figures["Ssl_cipher"], figures["Ssl_version"] = "", ""
	figures["Compression"], figures["Compression_algorithm"], figures["Compression_level"] = "OFF", "", "0"
	if p.node.Processes != nil {
		for _, process := range p.node.Processes() {
			if process.Info != "" {
				running++
			}
			if process.ID == p.id {
				figures["Ssl_cipher"], figures["Ssl_version"] = process.TLSCipher, process.TLSVersion
				if process.Compression != "" {
					figures["Compression"], figures["Compression_algorithm"] = "ON", process.Compression
					figures["Compression_level"] = strconv.Itoa(process.CompressionLevel)
				}
			}
		}
	}
	figures["Threads_running"] = strconv.Itoa(running)
}
