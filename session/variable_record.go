package session

import (
	_ "embed"
	"math"
	"strconv"
	"strings"

	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/types"
)

// recordedVariables are the system variables as recorded from a MySQL server (tests/dictionary/record), olderVariables those of MySQL 8.0 that it
// does not have.
var (
	//go:embed record/variables.txt
	recordedVariables string
	//go:embed record/older.txt
	olderVariables string
)

// The columns of a recorded line.
const (
	recName = iota
	recScope
	recType
	recFlags
	recLow
	recHigh
	recDefault
	recWords
	recStep
	recColumns
)

// recorded parses the recorded variables. Those that can be set have no effect, for the reason of idleReason; the entries of variable_list.go
// replace those that have an effect, or a better reason.
func recorded() []*variable {
	var list []*variable
	for _, line := range strings.Split(recordedVariables+olderVariables, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		for len(f) < recColumns {
			f = append(f, "")
		}
		v := &variable{name: f[recName], def: f[recDefault], readOnly: strings.Contains(f[recFlags], "r"), given: strings.Contains(f[recFlags], "s")}
		v.hint = strings.Contains(f[recFlags], "h") && !v.readOnly
		v.scope = map[string]scope{"G": scopeGlobal, "B": scopeBoth, "S": scopeSession}[f[recScope]]
		switch f[recType] {
		case "Boolean":
			v.kind = kindBool
		case "Integer":
			v.kind = kindInt
			v.min, _ = strconv.ParseInt(f[recLow], 10, 64)
			v.max, _ = strconv.ParseUint(f[recHigh], 10, 64)
			v.step, _ = strconv.ParseUint(f[recStep], 10, 64) // 0 without one
		case "Numeric":
			v.kind = kindFloat
			bits, _ := strconv.ParseUint(f[recHigh], 10, 64)
			v.max = bits
			if bits > math.MaxUint32 { // it was recorded as the bits of a double
				v.max = uint64(math.Float64frombits(bits))
			}
		default:
			v.kind = kindText
			if f[recWords] == "" {
				f[recWords] = unrecordedWords[v.name]
			}
			if words := strings.Split(f[recWords], ","); f[recWords] != "" && !strings.Contains(f[recWords], "=") {
				v.kind, v.words = kindEnum, words
				if f[recType] == "Set" {
					v.kind = kindSet
				}
			}
		}
		if !v.readOnly {
			v.idle = idleReason(v.name)
		}
		list = append(list, v)
	}
	return list
}

// idleReasons say why groups of variables have no effect, by prefixes of their names. The first that matches applies.
var idleReasons = []struct{ reason, names string }{
	{idleNoRoles, "activate_all_roles_on_login activate_mandatory_roles mandatory_roles partial_revokes"},
	{"there is no port for administrators", "admin_ create_admin_listener_thread"},
	{"keys and certificates are given at start", "ssl_ tls_ sha256_password_ caching_sha2_password_ auto_generate_certs"},
	{"accounts have no password policies", "password_ default_password_lifetime generated_random_password_length authentication_policy check_proxy_users disconnect_on_expired_password"},
	{"connections that fail are not counted by host", "max_connect_errors host_cache_size"},
	{idleNoBinlog, "binlog_ gtid_ replica_ slave_ relay_ rpl_ sync_ master_ source_ log_bin log_slave log_replica log_statements_unsafe init_replica init_slave enforce_gtid group_replication_ replication_ max_binlog max_relay original_ immediate_server pseudo_slave pseudo_replica rbr_exec_mode require_row_format server_id sql_slave sql_replica report_ expire_logs session_track_gtids xa_detach transaction_write_set"},
	{"FULLTEXT and spatial indexes are not supported", "ft_ innodb_ft_ innodb_optimize_fulltext ngram_ max_points_in_geometry"},
	{idleInnoDB, "innodb_"},
	{idleMyISAM, "myisam_ key_ delayed_ concurrent_insert delay_key_write preload_buffer_size bulk_insert_buffer_size flush max_delayed max_insert_delayed max_write_lock"},
	{"stored programs are not supported yet", "automatic_sp_privileges max_sp_recursion_depth stored_program enable_cascade_triggers event_scheduler"},
	{"the optimizer leaves no trace", "optimizer_trace"},
	{"the optimizer has no such limit", "optimizer_ max_seeks_for_key max_join_size range_"},
	{"there is no second engine", "secondary_engine external_table use_secondary_engine enable_secondary show_create_table_skip_secondary"},
	{idleMemory, "temptable_ internal_tmp_mem query_alloc query_prealloc transaction_alloc transaction_prealloc connection_memory global_connection_memory parser_max_mem set_operations_buffer select_into_buffer max_length_for_sort"},
	{"there are no encrypted tables", "default_table_encryption table_encryption keyring_"},
	{idleNoSlowLog, "long_query log_queries log_slow log_throttle min_examined slow_"},
	{"the log goes where the process was started", "log_ general_log"},
	{"descriptors are kept in memory whole", "table_definition table_open schema_definition tablespace_definition"},
	{"instruments have no settings", "performance_schema"},
	{"there is no profiler; use EXPLAIN ANALYZE", "profiling"},
	{"results are written without such a delay", "select_into_disk"},
	{"every session is served by a goroutine", "thread_ slow_launch"},
}

func idleReason(name string) string {
	for _, group := range idleReasons {
		for _, prefix := range strings.Fields(group.names) {
			if strings.HasPrefix(name, prefix) {
				return group.reason
			}
		}
	}
	return "nothing depends on it here"
}

// unrecordedWords are those of enumerations of which the record has none: MySQL calls most of them strings.
var unrecordedWords = map[string]string{
	"caching_sha2_password_storage_format": "CRYPT5,PBKDF2_SHA512",
	"innodb_change_buffering":              "none,inserts,deletes,changes,purges,all",
	"innodb_checksum_algorithm":            "crc32,strict_crc32,innodb,strict_innodb,none,strict_none",
	"innodb_default_row_format":            "redundant,compact,dynamic",
	"innodb_log_writer_threads":            "OFF,ON",
	"innodb_stats_method":                  "nulls_equal,nulls_unequal,nulls_ignored",
	"myisam_stats_method":                  "nulls_unequal,nulls_equal,nulls_ignored",
	"rbr_exec_mode":                        "STRICT,IDEMPOTENT",
	"resultset_metadata":                   "NONE,FULL",
}

// trueValues replace recorded values of MySQL that would be untrue of Pando.
var trueValues = map[string]string{
	"have_dynamic_loading": "NO", "have_geometry": "NO", "have_rtree_keys": "NO", "gtid_mode": "OFF", "enforce_gtid_consistency": "OFF",
	"auto_generate_certs": "OFF", "innodb_doublewrite": "OFF", "innodb_buffer_pool_dump_at_shutdown": "OFF", "innodb_buffer_pool_load_at_startup": "OFF",
	"innodb_numa_interleave": "OFF", "container_aware": "ON", "keyring_operations": "OFF", "explain_format": "TRADITIONAL", "explain_json_format_version": "1",
	"ft_stopword_file": "", "log_error_services": "log_sink_internal", "caching_sha2_password_auto_generate_rsa_keys": "OFF",
	"sha256_password_auto_generate_rsa_keys": "OFF", "caching_sha2_password_digest_rounds": "5000", "open_files_limit": "0", "thread_stack": "0",
	"ssl_ca": "", "ssl_cert": "", "ssl_key": "", "caching_sha2_password_private_key_path": "", "caching_sha2_password_public_key_path": "",
	"sha256_password_private_key_path": "", "sha256_password_public_key_path": "", "relay_log": "", "table_open_cache_instances": "1", "core_file": "OFF",
}

// recordedDefault is MySQL's default of a variable.
func recordedDefault(name string) string {
	_, line, _ := strings.Cut(recordedVariables, "\n"+name+"\t")
	line, _, _ = strings.Cut(line, "\n")
	if f := strings.Split(line, "\t"); len(f) >= recDefault {
		return f[recDefault-1] // without the name
	}
	return ""
}

// checkOptimizerSwitch parses name=on, name=off and name=default, separated by commas, each name once and "default" once for those that are
// not named, and returns the complete list of switches. It warns of switches that have no effect. The error shows what is left to read.
func checkOptimizerSwitch(s *Session, value string) (string, error) {
	whole := recordedDefault("optimizer_switch")
	built := switches(whole)
	if s != nil {
		whole = s.get("optimizer_switch")
	}
	now, given := switches(whole), map[string]bool{}
	var idle []string
	for rest, more := value, value != ""; more; {
		part, behind, comma := strings.Cut(rest, ",")
		name, state, told := strings.Cut(strings.ToLower(part), "=")
		switch _, known := built[name]; {
		case name == "default" && !told && !given[name]:
		case known && told && !given[name]:
			if now[name] = switchState(state, built[name]); now[name] != "" {
				break
			}
			fallthrough
		default:
			return "", types.Errorf(types.ErWrongValueForVar, "optimizer_switch", rest)
		}
		given[name] = true
		if known := now[name]; known != built[name] && !strings.HasPrefix(name, "index_merge") {
			idle = append(idle, name)
		}
		rest, more = behind, comma
	}
	if given["default"] {
		for name, state := range built {
			if !given[name] {
				now[name] = state
			}
		}
	}
	if s != nil && len(idle) > 0 {
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "optimizer_switch: "+strings.Join(idle, ", ")+" has no effect: of the optimizer's strategies only index_merge and its kinds are switched"))
	}
	var list []string
	for _, part := range strings.Split(recordedDefault("optimizer_switch"), ",") {
		name, _, _ := strings.Cut(part, "=")
		list = append(list, name+"="+now[name])
	}
	return strings.Join(list, ","), nil
}

// switchState reads what a switch is set to, which MySQL lets be shortened; empty if it is nothing that a switch can be.
func switchState(text, built string) string {
	switch {
	case text == "on":
		return text
	case len(text) >= 2 && strings.HasPrefix("off", text):
		return "off"
	case text != "" && strings.HasPrefix("default", text):
		return built
	}
	return ""
}

// numberedSwitches returns the list of switches whose bits a number has, the first one the lowest, or text if it is too large. MySQL has one
// switch more than it shows.
func numberedSwitches(n int64, text string) string {
	list := strings.Split(recordedDefault("optimizer_switch"), ",")
	if n < 0 || n >= 1<<(len(list)+1) {
		return text
	}
	for i, part := range list {
		name, _, _ := strings.Cut(part, "=")
		list[i] = name + "=off"
		if n>>i&1 != 0 {
			list[i] = name + "=on"
		}
	}
	return strings.Join(list, ",")
}

// mergeKinds are the kinds of index merge that optimizer_switch allows.
func (s *Session) mergeKinds() (kinds plan.MergeKinds) {
	value := s.get("optimizer_switch")
	if !strings.Contains(value, "index_merge=on") {
		return 0
	}
	for name, kind := range map[string]plan.MergeKinds{"intersection": plan.MergeIntersection, "union": plan.MergeUnion, "sort_union": plan.MergeSortUnion} {
		if strings.Contains(value, "index_merge_"+name+"=on") {
			kinds |= kind
		}
	}
	return kinds
}

func switches(list string) map[string]string {
	m := map[string]string{}
	for _, part := range strings.Split(list, ",") {
		name, state, _ := strings.Cut(part, "=")
		m[name] = state
	}
	return m
}

// errUnknownLocale is MySQL's ER_UNKNOWN_LOCALE.
const errUnknownLocale = 1649

// checkLocale accepts the names of MySQL's locales, in any letter case.
func checkLocale(_ *Session, value string) (string, error) {
	locale := types.LookupLocale(value)
	if locale == nil {
		return "", types.NewError(errUnknownLocale, "Unknown locale: '"+value+"'")
	}
	return locale.Name, nil
}

// numberedLocale returns the name of the locale with a number, or text if there is none.
func numberedLocale(n int64, text string) string {
	if locale := types.LocaleByNumber(n); locale != nil {
		return locale.Name
	}
	return text
}

// checkEngine accepts the names of MySQL's engines, in any letter case.
func checkEngine(_ *Session, value string) (string, error) {
	for _, engine := range append([]string{"InnoDB"}, otherEngines...) {
		if strings.EqualFold(engine, value) {
			return engine, nil
		}
	}
	return "", types.Errorf(types.ErUnknownStorageEngine, value)
}
