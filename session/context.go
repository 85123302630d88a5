package session

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/types"
)

// refreshContext rebuilds what statements read from variables, and the part of the plan cache's key that stands for it. It runs
// after any such variable, or the database, has changed.
func (s *Session) refreshContext() {
	mode, err := types.ParseSQLMode(s.get("sql_mode"))
	if err != nil {
		mode = types.ModeDefault // unreachable: checked when it was set
	}
	s.context.SQLMode = mode
	s.context.Loc = time.UTC // SYSTEM, as system_time_zone says
	if zone, err := types.ParseTimeZone(s.get("time_zone")); err == nil {
		s.context.Loc = zone
	}
	s.context.Locale = nil
	if name := s.get("lc_time_names"); name != "en_US" {
		s.context.Locale = types.LookupLocale(name) // checked when it was set
	}
	s.context.MaxErrorCount = int(mustInt(s.get("max_error_count")))
	if s.context.DivPrecisionIncrement = int(mustInt(s.get("div_precision_increment"))); s.context.DivPrecisionIncrement == 0 {
		s.context.DivPrecisionIncrement = types.NoDivIncrement
	}
	s.runtime.CTEDepthMax = uint64(mustInt(s.get("cte_max_recursion_depth")))
	s.workers = s.mayUse(s.node.Workers)
	s.ctx.GroupConcatMaxLen = int(min(mustInt(s.get("group_concat_max_len")), math.MaxInt32))
	s.build.GroupConcatMaxLen = s.ctx.GroupConcatMaxLen
	s.build.UTF8MB4, _ = types.LookupCollation(s.get("default_collation_for_utf8mb4")) // checked when it was set
	s.ctx.RegexpLimits = types.RegexpLimits{Time: int(mustInt(s.node.Global("regexp_time_limit"))), StackBytes: int(mustInt(s.node.Global("regexp_stack_limit")))}
	s.ctx.MaxAllowedPacket = int(min(s.packetMax, math.MaxInt32))
	s.diagnostics.notes = s.get("sql_notes") == "ON"
	if id, err := types.LookupCollation(s.get("collation_connection")); err == nil {
		s.build.Collation = id
	}
	s.build.Client = s.foreignClient()
	s.build.Database = s.db
	s.results = nil
	if name := s.get("character_set_results"); name != "" && name != "binary" {
		s.results, _ = types.LookupCharset(name) // checked when it was set
	}
	client := s.clientCharset()
	s.parse.Names, s.parse.Wide = nil, client.Wide()
	if text := types.DefaultCollation.Charset(); !types.SameBytes(client, text) {
		s.parse.Names = func(raw string) string {
			name, _ := types.ConvertCharset(nil, []byte(raw), client, text)
			return string(name)
		}
	}
	s.parse.ANSIQuotes = mode&types.ModeAnsiQuotes != 0
	s.parse.PipesAsConcat = mode&types.ModePipesAsConcat != 0
	s.parse.NoBackslashEscapes = mode&types.ModeNoBackslashEscapes != 0
	s.parse.HighNotPrecedence = mode&types.ModeHighNotPrecedence != 0
	s.parse.RealAsFloat = mode&types.ModeRealAsFloat != 0
	s.parse.IgnoreSpace = mode&types.ModeIgnoreSpace != 0
	s.merges = s.mergeKinds()
	s.env = s.appendEnv(s.env[:0])
	s.generation++
}

// mayUse returns how many of a pool's workers the session's statements may use besides its own goroutine.
func (s *Session) mayUse(pool *exec.WorkerPool) plan.Workers {
	w := plan.Workers{Pool: pool, Rows: int(mustInt(s.get("tidb_executor_concurrency"))), Groups: int(mustInt(s.get("tidb_hashagg_partial_concurrency")))}
	if w.Groups <= 0 {
		w.Groups = w.Rows
	}
	w.Rows, w.Groups = min(w.Rows, pool.Size()+1), min(w.Groups, pool.Size()+1)
	return w
}

// foreignClient is character_set_client where its text has to be translated to collation_connection's set, else nil.
func (s *Session) foreignClient() *types.Charset {
	connection := s.build.Collation.Charset()
	if s.get("character_set_client") == connection.Name {
		return nil
	}
	if client := s.clientCharset(); !types.SameBytes(client, connection) {
		return client
	}
	return nil
}

// clientCharset is the character set of the statement's text.
func (s *Session) clientCharset() *types.Charset {
	client, err := types.LookupCharset(s.get("character_set_client"))
	if err != nil {
		return types.DefaultCollation.Charset() // unreachable: checked when it was set
	}
	return client
}

// appendEnv appends all settings of the session that can change what a text means. Each is preceded by its length, so that two lists cannot collide.
func (s *Session) appendEnv(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.context.SQLMode))
	dst = binary.AppendUvarint(dst, uint64(s.build.Collation))
	dst = binary.AppendUvarint(dst, uint64(s.context.DivPrecisionIncrement))
	dst = binary.AppendUvarint(dst, uint64(s.build.GroupConcatMaxLen))
	dst = binary.AppendUvarint(dst, uint64(s.build.UTF8MB4))
	dst = append(dst, byte(s.merges))
	dst = binary.AppendUvarint(dst, uint64(s.workers.Rows))
	dst = binary.AppendUvarint(dst, uint64(s.workers.Groups))
	for _, text := range []string{s.db, s.get("time_zone"), s.get("character_set_client"), s.get("character_set_results"),
		s.get("sql_safe_updates"), s.get("updatable_views_with_limit"), s.get("sql_select_limit"), s.get("lc_time_names")} {
		dst = binary.AppendUvarint(dst, uint64(len(text)))
		dst = append(dst, text...)
	}
	if s.held.Tables() {
		dst = append(dst, 'L') // no plan is kept under this key, and none that was made without the locks is found
	}
	return dst
}

// startStatement prepares the per-statement state. It does not clear the interrupt: wire does so once per command, and one that has come since
// then is for the statements that have not run yet.
func (s *Session) startStatement() {
	s.context.ResetWarnings()
	s.started = s.fixedNow
	s.context.Strict, s.context.Ignore = false, false
	s.ctx.Reset()
	tree := s.treeBytes
	s.treeBytes = 0
	s.memory.Reset(s.memQuota)
	_ = s.memory.Grow(tree) // parsing was allowed as much
	if len(s.notices) > 0 {
		s.tell(s.takeNotices())
	}
}

// now returns the start of the running statement. The clock is read at its first use, because most statements never ask.
func (s *Session) now() time.Time {
	if s.started.IsZero() {
		s.started = clock.Now()
	}
	return s.started
}

// get returns a session variable's stored text, and a global one's where sessions have none.
func (s *Session) get(name string) string {
	i := s.node.table.byName[name]
	if i >= s.node.table.sessions {
		return s.node.globalValues()[i]
	}
	return s.values[i]
}

// store sets a session variable's text without checks or actions.
func (s *Session) store(name, value string) { s.storeAt(s.node.table.byName[name], value) }

func (s *Session) storeAt(i int, value string) {
	if s.values[i] == value {
		return
	}
	if !s.own {
		s.values, s.own = append(valueSet(nil), s.values[:s.node.table.sessions]...), true
	}
	s.values[i] = value
}

// selectLimit is sql_select_limit, -1 for none.
func (s *Session) selectLimit() int64 {
	limit, err := strconv.ParseInt(s.get("sql_select_limit"), 10, 64)
	if err != nil || limit == math.MaxInt64 {
		return -1
	}
	return limit
}
