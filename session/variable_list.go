package session

import (
	"math"
	"strconv"

	"github.com/pandodb/pando/types"
)

// Reasons why a variable that can be set has no effect. Warnings show them to clients.
const (
	idleOneNode  = "a single node commits in one batch and needs no such protocol"
	idleWorkers  = "one worker joins what the others have grouped"
	idleMemory   = "memory is bounded per statement by tidb_mem_quota_query"
	idleNoBinlog = "there is no binary log"
	idleNoCache  = "there is no query cache"
	idleKeySpace = "all tables share one key space"
	idleNoThread = "a connection costs no thread"
	idleNoRoles  = "roles are not supported yet"
	idleInnoDB   = "it is InnoDB's; tables are kept by another engine"
	idleMyISAM   = "it is MyISAM's, of which there is none"

	idleNoSlowLog = "there is no slow log yet"
)

// InnoDBPageBytes is @@innodb_page_size, and the unit of counters in pages. Pando has no such pages.
const InnoDBPageBytes = 16 << 10

func boolVar(name string, s scope, def bool, idle string) *variable {
	text := "OFF"
	if def {
		text = "ON"
	}
	return &variable{name: name, scope: s, kind: kindBool, def: text, idle: idle}
}

func intVar(name string, s scope, def, low, high string, idle string) *variable {
	return &variable{name: name, scope: s, kind: kindInt, def: def, min: mustInt(low), max: mustUint(high), idle: idle}
}

func textVar(name string, s scope, def string, idle string) *variable {
	return &variable{name: name, scope: s, kind: kindText, def: def, idle: idle}
}

func fixedVar(name, value string) *variable {
	return &variable{name: name, scope: scopeGlobal, kind: kindText, def: value, readOnly: true}
}

func (v *variable) onSession(apply func(*Session, string) error) *variable {
	v.apply = apply
	return v
}

func (v *variable) onGlobal(apply func(*Node, string) error) *variable {
	v.applyGlobal = apply
	return v
}

func (v *variable) checked(check func(*Session, string) (string, error)) *variable {
	v.check = check
	return v
}

// hinted lets SET_VAR set the variable for one statement.
func (v *variable) hinted() *variable {
	v.hint = true
	return v
}

func (v *variable) numbered(name func(int64, string) string) *variable {
	v.byNumber = name
	return v
}

// numberedSQLMode returns the names of the modes whose bits a number has, or text if it has others.
func numberedSQLMode(n int64, text string) string {
	if mode, ok := types.SQLModeOf(uint64(n)); ok {
		return mode.String()
	}
	return text
}

// numberedCollation returns the name of the collation with a number, or text if there is none.
func numberedCollation(n int64, text string) string {
	if id := types.CollationID(n); n > 0 && n <= math.MaxUint16 && id.Valid() {
		return id.Name()
	}
	return text
}

// numberedCharset returns the name of the character set of a numbered collation, or text if there is none.
func numberedCharset(n int64, text string) string {
	if id := types.CollationID(n); n > 0 && n <= math.MaxUint16 && id.Valid() {
		return id.Charset().Name
	}
	return text
}

// readBy sets effect.
func (v *variable) readBy(effect string) *variable {
	v.effect = effect
	return v
}

// inCluster says that the variable is idle only on a node that belongs to no cluster.
func (v *variable) inCluster() *variable {
	v.clustered = true
	return v
}

func (v *variable) during(around func(*Session, string, func() error) error) *variable {
	v.around = around
	return v
}

func (v *variable) restricted() *variable {
	v.guarded = true
	return v
}

func (v *variable) fromGlobal() *variable {
	v.given = true
	return v
}

// encryptionModes are the values of block_encryption_mode.
func encryptionModes() (words []string) {
	for _, mode := range []string{"ecb", "cbc", "cfb1", "cfb8", "cfb128", "ofb"} {
		for _, bits := range []string{"128", "192", "256"} {
			words = append(words, "aes-"+bits+"-"+mode)
		}
	}
	return words
}

func insertID() *variable {
	v := intVar("insert_id", scopeSession, "0", "0", "18446744073709551615", "").onSession(applyInsertID)
	v.dynamic = dynamicInsertID
	return v
}

// sessionVariables are the variables of sessions that have an effect.
func sessionVariables() []*variable {
	return []*variable{
		boolVar("autocommit", scopeBoth, true, "").onSession(applyAutocommit),
		(&variable{name: "completion_type", scope: scopeBoth, kind: kindEnum, def: "NO_CHAIN", words: []string{"NO_CHAIN", "CHAIN", "RELEASE"}}).readBy("COMMIT and ROLLBACK"),
		(&variable{name: "transaction_isolation", scope: scopeBoth, kind: kindEnum, def: "REPEATABLE-READ",
			words: []string{"READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"}}).checked(checkIsolation).onSession(applyIsolation),
		boolVar("transaction_read_only", scopeBoth, false, "").onSession(applyReadOnly),
		boolVar("innodb_snapshot_isolation", scopeBoth, false, "").onSession(applySnapshotIsolation),
		textVar("sql_mode", scopeBoth, defaultSQLMode, "").checked(checkSQLMode).numbered(numberedSQLMode).onSession(applySQLMode),
		(&variable{name: "block_encryption_mode", scope: scopeBoth, kind: kindEnum, def: "aes-128-ecb", words: encryptionModes()}).readBy("AES_ENCRYPT and AES_DECRYPT"),
		textVar("time_zone", scopeBoth, "SYSTEM", "").checked(checkTimeZone).onSession(applyTimeZone),
		textVar("character_set_client", scopeBoth, "utf8mb4", "").checked(checkClientCharset).numbered(numberedCharset).onSession(applyCharset),
		textVar("character_set_connection", scopeBoth, "utf8mb4", "").checked(checkCharset).numbered(numberedCharset).onSession(collationOf("connection")).onGlobal(globalCollationOf("connection")),
		textVar("character_set_results", scopeBoth, "utf8mb4", "").checked(checkResultsCharset).numbered(numberedCharset).onSession(applyCharset),
		textVar("character_set_database", scopeBoth, "utf8mb4", "").checked(checkCharset).numbered(numberedCharset).onSession(collationOf("database")).onGlobal(globalCollationOf("database")),
		textVar("character_set_server", scopeBoth, "utf8mb4", "").checked(checkCharset).numbered(numberedCharset).onSession(collationOf("server")).onGlobal(globalCollationOf("server")),
		textVar("collation_connection", scopeBoth, "utf8mb4_0900_ai_ci", "").checked(checkCollation).numbered(numberedCollation).onSession(charsetOf("connection")).onGlobal(globalCharsetOf("connection")),
		textVar("default_collation_for_utf8mb4", scopeBoth, "utf8mb4_0900_ai_ci", "").checked(checkDefaultCollation).numbered(numberedCollation).onSession(applyCharset).readBy("SET NAMES, literals and the definitions of columns, tables and databases that name utf8mb4 without a collation"),
		textVar("collation_database", scopeBoth, "utf8mb4_0900_ai_ci", "").checked(checkCollation).numbered(numberedCollation).onSession(charsetOf("database")).onGlobal(globalCharsetOf("database")),
		textVar("collation_server", scopeBoth, "utf8mb4_0900_ai_ci", "").checked(checkCollation).numbered(numberedCollation).onSession(charsetOf("server")).onGlobal(globalCharsetOf("server")),
		intVar("innodb_lock_wait_timeout", scopeBoth, "50", "1", "1073741824", "").onSession(applyLockWait),
		intVar("lock_wait_timeout", scopeBoth, "31536000", "1", "31536000", "").onSession(applyMetadataWait),
		intVar("max_execution_time", scopeBoth, "0", "0", "18446744073709551615", "").onSession(applyMaxExecution),
		intVar("sql_select_limit", scopeBoth, "18446744073709551615", "0", "18446744073709551615", "").onSession(applyExprLimits),
		boolVar("sql_safe_updates", scopeBoth, false, "").onSession(applyExprLimits),
		(&variable{name: "updatable_views_with_limit", scope: scopeBoth, kind: kindEnum, def: "YES", words: []string{"NO", "YES"}}).onSession(applyExprLimits),
		intVar("regexp_time_limit", scopeGlobal, "32", "1", "2147483647", "").onSession(applyExprLimits),
		intVar("regexp_stack_limit", scopeGlobal, "8000000", "1", "2147483647", "").onSession(applyExprLimits),
		intVar("group_concat_max_len", scopeBoth, "1024", "4", "18446744073709551615", "").onSession(applyExprLimits),
		intVar("div_precision_increment", scopeBoth, "4", "0", "30", "").onSession(applyExprLimits),
		intVar("tidb_tmp_table_max_size", scopeBoth, "1073741824", "1048576", "137438953472", "").onSession(applyTemporarySize),
		intVar("tidb_mem_quota_query", scopeBoth, "1073741824", "131072", "18446744073709551615", "").onSession(applyMemQuota),
		intVar("max_error_count", scopeBoth, "1024", "0", "65535", "").onSession(applyExprLimits),
		intVar("auto_increment_increment", scopeBoth, "1", "1", "65535", "").checked(checkOnlyOne),
		intVar("auto_increment_offset", scopeBoth, "1", "1", "65535", "").checked(checkOnlyOne),
		intVar("last_insert_id", scopeSession, "0", "0", "18446744073709551615", "").onSession(applyLastInsertID),
		insertID(),
		(&variable{name: "timestamp", scope: scopeSession, kind: kindFloat, def: "0.000000"}).onSession(applyTimestamp),
		intVar("wait_timeout", scopeBoth, "28800", "1", "31536000", "").onSession(applyWaitTimeout),
		intVar("interactive_timeout", scopeBoth, "28800", "1", "31536000", "").readBy("the handshake of an interactive client"),
		intVar("default_week_format", scopeBoth, "0", "0", "7", "").readBy("WEEK"),
		boolVar("sql_require_primary_key", scopeBoth, false, "").readBy("CREATE TABLE and ALTER TABLE"),
		boolVar("sql_generate_invisible_primary_key", scopeBoth, false, "").readBy("CREATE TABLE and ALTER TABLE"),
		boolVar("show_gipk_in_create_table_and_information_schema", scopeBoth, true, "").readBy("SHOW and information_schema"),
		boolVar("sql_notes", scopeBoth, true, "").onSession(applyExprLimits),
		boolVar("sql_quote_show_create", scopeBoth, true, "").readBy("SHOW CREATE"),
	}
}

// idleSessionVariables are further variables of sessions, most of which have no effect.
func idleSessionVariables() []*variable {
	return []*variable{
		boolVar("unique_checks", scopeBoth, true, "uniqueness is always checked"),
		boolVar("foreign_key_checks", scopeBoth, true, "").onSession(applyForeignKeyChecks),
		boolVar("restrict_fk_on_non_standard_key", scopeBoth, true, "").onSession(applyLooseParents),
		boolVar("sql_auto_is_null", scopeBoth, false, "").checked(checkAlwaysOff),
		boolVar("big_tables", scopeBoth, false, idleMemory),
		boolVar("sql_big_selects", scopeBoth, true, "no select is refused for its size"),
		boolVar("sql_log_bin", scopeSession, true, idleNoBinlog).restricted(),
		boolVar("sql_log_off", scopeBoth, false, "there is no general log").restricted(),
		boolVar("sql_warnings", scopeBoth, false, "an INSERT's information string is always sent"),
		boolVar("sql_buffer_result", scopeBoth, false, "results hold no locks while they are sent"),
		boolVar("low_priority_updates", scopeBoth, false, "rows are locked, not tables"),
		intVar("tmp_table_size", scopeBoth, "16777216", "1024", "18446744073709551615", idleMemory),
		intVar("max_heap_table_size", scopeBoth, "16777216", "16384", "18446744073709551615", idleMemory),
		intVar("sort_buffer_size", scopeBoth, "262144", "32768", "18446744073709551615", idleMemory),
		intVar("join_buffer_size", scopeBoth, "262144", "128", "18446744073709551615", idleMemory),
		intVar("read_buffer_size", scopeBoth, "131072", "8192", "2147479552", idleMemory),
		intVar("read_rnd_buffer_size", scopeBoth, "262144", "1", "2147483647", idleMemory),
		intVar("max_sort_length", scopeBoth, "1024", "4", "8388608", "sort keys are compared whole"),
		intVar("net_buffer_length", scopeBoth, "16384", "1024", "1048576", "buffers grow and shrink by need").fromGlobal(),
		intVar("net_read_timeout", scopeBoth, "30", "1", "31536000", "").onSession(applyNetTimeout),
		intVar("net_write_timeout", scopeBoth, "60", "1", "31536000", "").onSession(applyNetTimeout),
		intVar("net_retry_count", scopeBoth, "10", "1", "18446744073709551615", "reads are never retried"),
		intVar("optimizer_prune_level", scopeBoth, "1", "0", "1", "the optimizer has no such search"),
		intVar("optimizer_search_depth", scopeBoth, "62", "0", "62", "the optimizer has no such search"),
		textVar("optimizer_switch", scopeBoth, recordedDefault("optimizer_switch"), "").checked(checkOptimizerSwitch).numbered(numberedSwitches).onSession(applyExprLimits),
		intVar("eq_range_index_dive_limit", scopeBoth, "200", "0", "4294967295", "estimates come from statistics"),
		intVar("cte_max_recursion_depth", scopeBoth, "1000", "0", "4294967295", "").onSession(applyExprLimits),
		textVar("default_storage_engine", scopeBoth, "InnoDB", "every table uses Pando's own engine").checked(checkEngine),
		textVar("default_tmp_storage_engine", scopeBoth, "InnoDB", "every table uses Pando's own engine").checked(checkEngine),
		boolVar("explicit_defaults_for_timestamp", scopeBoth, true, "").checked(checkAlwaysOn),
		intVar("key_buffer_size", scopeGlobal, "8388608", "0", "18446744073709551615", "it is MyISAM's, of which there is none"),
		textVar("lc_messages", scopeBoth, "en_US", "messages are English").checked(checkLocale).numbered(numberedLocale),
		textVar("lc_time_names", scopeBoth, "en_US", "").checked(checkLocale).numbered(numberedLocale).onSession(applyExprLimits),
		boolVar("session_track_schema", scopeBoth, true, "").onSession(applyTracking),
		boolVar("session_track_state_change", scopeBoth, false, "").onSession(applyTracking),
		textVar("session_track_system_variables", scopeBoth, recordedDefault("session_track_system_variables"), "").checked(checkTracked).onSession(applyTracking),
		(&variable{name: "session_track_transaction_info", scope: scopeBoth, kind: kindEnum, def: "OFF", words: []string{"OFF", "STATE", "CHARACTERISTICS"}}).onSession(applyTracking),
		textVar("character_set_filesystem", scopeBoth, "binary", "server-side files are not used").checked(checkCharset).numbered(numberedCharset),
		boolVar("keep_files_on_create", scopeBoth, false, idleKeySpace),
		boolVar("new", scopeBoth, false, "it has no meaning in MySQL 8 either"),
		boolVar("old_alter_table", scopeBoth, false, "schema changes are online"),
		boolVar("end_markers_in_json", scopeBoth, false, "EXPLAIN has no such markers"),
		boolVar("profiling", scopeBoth, false, "there is no profiler; use EXPLAIN ANALYZE"),
		fixedVar("performance_schema_digests_size", strconv.Itoa(digestsMax)),
		fixedVar("performance_schema_max_sql_text_length", strconv.Itoa(sampleBytesMax)),
		intVar("information_schema_stats_expiry", scopeBoth, "86400", "0", "31536000", "").readBy("information_schema.TABLES, PARTITIONS and STATISTICS"),
		textVar("net_compression", scopeSession, "OFF", "compression is chosen at the handshake"),
	}
}

// globalVariables are the variables of the node, and some of sessions with them.
func globalVariables() []*variable {
	return []*variable{
		intVar("max_connections", scopeGlobal, "2000", "1", "100000", "").onGlobal(applyMaxConnections),
		intVar("max_prepared_stmt_count", scopeGlobal, "1000000", "0", "16777216", "").onGlobal(applyMaxPrepared),
		intVar("max_allowed_packet", scopeBoth, "67108864", "1024", "1073741824", "").onSession(applyMaxPacket).fromGlobal(),
		boolVar("innodb_print_all_deadlocks", scopeGlobal, false, "").readBy("a deadlock, which is logged then"),
		intVar("innodb_flush_log_at_trx_commit", scopeGlobal, "1", "0", "2", "").onGlobal(applyFlushLog),
		intVar("innodb_buffer_pool_size", scopeGlobal, "0", "0", "18446744073709551615", "the cache is sized at start, by cache-size"),
		boolVar("innodb_file_per_table", scopeGlobal, true, idleKeySpace),
		intVar("thread_cache_size", scopeGlobal, "9", "0", "16384", idleNoThread),
		intVar("table_open_cache", scopeGlobal, "4000", "1", "524288", "open tables are not counted"),
		textVar("log_level", scopeGlobal, "info", "").checked(checkLogLevel).onGlobal(applyLogLevel),
		boolVar("slow_query_log", scopeGlobal, false, idleNoSlowLog),
		boolVar("general_log", scopeGlobal, false, "there is no general log"),
		(&variable{name: "long_query_time", scope: scopeBoth, kind: kindFloat, def: "10.000000", idle: idleNoSlowLog}),
		(&variable{name: "event_scheduler", scope: scopeGlobal, kind: kindEnum, def: "OFF", words: []string{"OFF", "ON"}, idle: "events are not supported yet"}),
		boolVar("local_infile", scopeGlobal, false, "").readBy("LOAD DATA LOCAL"),
		boolVar("log_bin_trust_function_creators", scopeGlobal, false, idleNoBinlog),
		intVar("sync_binlog", scopeGlobal, "1", "0", "4294967295", idleNoBinlog),
		(&variable{name: "binlog_format", scope: scopeBoth, kind: kindEnum, def: "ROW", words: []string{"MIXED", "STATEMENT", "ROW"}, idle: idleNoBinlog}).restricted(),
		textVar("init_connect", scopeGlobal, "", "").checked(checkEmpty),
		intVar("query_cache_size", scopeGlobal, "0", "0", "18446744073709551615", idleNoCache),
		(&variable{name: "query_cache_type", scope: scopeBoth, kind: kindEnum, def: "OFF", words: []string{"OFF", "ON", "DEMAND"}, idle: idleNoCache}),
		{name: "require_secure_transport", scope: scopeGlobal, kind: kindBool, def: "OFF", readOnly: true}, // set by the node
		boolVar("read_only", scopeGlobal, false, "").checked(checkNodeReadOnly).onGlobal(applyNodeReadOnly).during(whileFrozen),
		boolVar("super_read_only", scopeGlobal, false, "").checked(checkNodeReadOnly).onGlobal(applyNodeSuperReadOnly).during(whileFrozen),
		intVar("connect_timeout", scopeGlobal, "10", "2", "31536000", "the handshake's limit is fixed"),
	}
}

// foreignVariables are variables of TiDB, taken from its published documentation.
func foreignVariables() []*variable {
	return []*variable{
		intVar("tidb_executor_concurrency", scopeBoth, "5", "1", "256", "").onSession(applyExprLimits).hinted(),
		intVar(histogramMemory, scopeBoth, "20000000", "1000000", "18446744073709551615", "").readBy("ANALYZE TABLE with histograms"),
		intVar("tidb_hashagg_final_concurrency", scopeBoth, "-1", "-1", "256", idleWorkers),
		intVar("tidb_hashagg_partial_concurrency", scopeBoth, "-1", "-1", "256", "").onSession(applyExprLimits).hinted(),
		boolVar("tidb_disable_txn_auto_retry", scopeBoth, true, "transactions are never replayed: an optimistic one that meets a conflict ends with 9007"),
		boolVar("tidb_enable_async_commit", scopeBoth, true, idleOneNode).onSession(applyAsyncCommit).inCluster(),
		boolVar("tidb_enable_1pc", scopeBoth, true, idleOneNode).onSession(applyOnePhase).inCluster(),
		boolVar("tidb_guarantee_linearizability", scopeBoth, true, "every commit takes its timestamp after its locks, so that all are linearizable"),
		(&variable{name: "tidb_txn_mode", scope: scopeBoth, kind: kindEnum, def: "pessimistic", words: []string{"", "pessimistic", "optimistic"}}).onSession(applyTxnMode),
		(&variable{name: "tidb_enable_clustered_index", scope: scopeBoth, kind: kindEnum, def: "ON", words: []string{"OFF", "ON", "INT_ONLY"},
			idle: "every table is clustered by its primary key"}),
	}
}

// informationVariables can only be read.
func informationVariables() []*variable {
	return []*variable{
		fixedVar("version_comment", "Pando"),
		fixedVar("version_compile_machine", "x86_64"),
		fixedVar("version_compile_os", "Linux"),
		fixedVar("protocol_version", "10"),
		fixedVar("license", "Apache-2.0"),
		fixedVar("lower_case_table_names", "0"),
		fixedVar("lower_case_file_system", "OFF"),
		fixedVar("character_set_system", "utf8mb3"),
		fixedVar("default_authentication_plugin", "caching_sha2_password"),
		fixedVar("have_ssl", "YES"),
		fixedVar("have_openssl", "YES"),
		fixedVar("have_compress", "YES"),
		fixedVar("have_query_cache", "NO"),
		fixedVar("have_profiling", "NO"),
		fixedVar("performance_schema", "ON"),
		fixedVar("log_bin", "OFF"),
		fixedVar("skip_networking", "OFF"),
		fixedVar("skip_name_resolve", "ON"),
		fixedVar("system_time_zone", "UTC"),
		fixedVar("innodb_version", "8.0.36"),
		fixedVar("innodb_page_size", strconv.Itoa(InnoDBPageBytes)),
		fixedVar("innodb_read_only", "OFF"),
		{name: "version", scope: scopeGlobal, readOnly: true, kind: kindText, dynamic: dynamicVersion},
		{name: "port", scope: scopeGlobal, readOnly: true, kind: kindInt, dynamic: dynamicPort},
		{name: "secure_file_priv", scope: scopeGlobal, readOnly: true, kind: kindText, dynamic: dynamicSecureFilePriv},
		{name: "datadir", scope: scopeGlobal, readOnly: true, kind: kindText, dynamic: dynamicDataDir},
		{name: "socket", scope: scopeGlobal, readOnly: true, kind: kindText, dynamic: dynamicSocket},
		{name: "hostname", scope: scopeGlobal, readOnly: true, kind: kindText, dynamic: dynamicHostname},
		{name: "warning_count", scope: scopeSession, readOnly: true, kind: kindInt, dynamic: dynamicWarningCount},
		{name: "error_count", scope: scopeSession, readOnly: true, kind: kindInt, dynamic: dynamicErrorCount},
		{name: "pseudo_thread_id", scope: scopeSession, kind: kindInt, max: 4294967295, def: "0", dynamic: dynamicThreadID, idle: "the connection's number does not change"},
		{name: "last_plan_from_cache", scope: scopeSession, readOnly: true, kind: kindBool, dynamic: dynamicPlanFromCache},
	}
}
