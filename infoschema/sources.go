package infoschema

import (
	"maps"
	"strings"
	"sync"
)

// Why a table that MySQL has is always empty here.
const (
	noBinlog     = "there is no binary log, and so no replication by it"
	noFullText   = "there are no FULLTEXT indexes"
	noGeometry   = "there are no spatial types"
	noInnoDB     = "tables are kept by an engine of another build"
	noLoadable   = "nothing can be loaded into the server"
	noProfiler   = "there is no profiler; EXPLAIN ANALYZE measures"
	noPrograms   = "there are no stored programs yet"
	noRoles      = "there are no roles yet"
	noLog        = "statements are not logged to tables"
	noColumns    = "there are no privileges on columns yet"
	noHelp       = "the manual is not part of the server"
	noCosts      = "the optimizer's costs are constants"
	noSpaces     = "all tables share one key space"
	noProxy      = "there are no proxy users"
	noHistory    = "passwords are kept without their history"
	noKeyring    = "there is no keyring"
	noHostCache  = "connections that fail are not counted by host"
	noInstrument = "there are no such instruments"
)

// sources are the virtual tables that there are, by schema and lower-case name. A table that MySQL has and the list has not is unknown.
func sources() map[string]map[string]*source {
	sourcesOnce.Do(func() { sourcesMade = makeSources() })
	return sourcesMade
}

// The list refers to functions that read it, so it can't be a variable with an initializer.
var (
	sourcesOnce sync.Once
	sourcesMade map[string]map[string]*source
)

func makeSources() map[string]map[string]*source {
	all := map[string]map[string]*source{}
	tablesOf := schemaSources()
	maps.Copy(tablesOf, innodbSources())
	maps.Copy(tablesOf, clusterSources())
	views := sysSources()
	maps.Copy(views, statementViews())
	maps.Copy(views, ioViews())
	performance := performanceSources()
	maps.Copy(performance, ioSources())
	maps.Copy(performance, historySources())
	for schema, list := range map[string]map[string]source{"information_schema": tablesOf, "mysql": mysqlSources(), "performance_schema": performance,
		"sys": views} {
		all[schema] = map[string]*source{}
		for name, s := range list {
			if s.layout == nil {
				s.layout = layouts()[schema][strings.ToLower(name)]
			}
			if s.layout == nil {
				panic("infoschema: " + schema + "." + name + " is not among the recorded tables")
			}
			all[schema][strings.ToLower(name)] = &s
		}
	}
	return all
}

// ofTable is the source of a table about tables.
func ofTable(rows func(*query) error) source {
	return source{rows: rows, schema: "TABLE_SCHEMA", table: "TABLE_NAME"}
}

// ofConstraint is that of one about their constraints.
func ofConstraint(rows func(*query) error) source {
	return source{rows: rows, schema: "TABLE_SCHEMA", table: "TABLE_NAME", also: "CONSTRAINT_SCHEMA"}
}

func filled(rows func(*query) error) source { return source{rows: rows} }
func empty(why string) source               { return source{empty: why} }

func schemaSources() map[string]source {
	return map[string]source{
		"SCHEMATA":                              {rows: schemata, schema: "SCHEMA_NAME"},
		"SCHEMATA_EXTENSIONS":                   {rows: schemataExtensions, schema: "SCHEMA_NAME"},
		"TABLES":                                ofTable(tables),
		"TABLES_EXTENSIONS":                     ofTable(tablesExtensions),
		"COLUMNS":                               ofTable(columns),
		"COLUMNS_EXTENSIONS":                    ofTable(columnsExtensions),
		"STATISTICS":                            ofTable(statistics),
		"PARTITIONS":                            ofTable(partitions),
		"VIEWS":                                 ofTable(views),
		"VIEW_TABLE_USAGE":                      {rows: viewTableUsage, schema: "VIEW_SCHEMA", table: "VIEW_NAME"},
		"VIEW_ROUTINE_USAGE":                    empty(noPrograms),
		"KEY_COLUMN_USAGE":                      ofConstraint(keyColumnUsage),
		"TABLE_CONSTRAINTS":                     ofConstraint(tableConstraints),
		"TABLE_CONSTRAINTS_EXTENSIONS":          {rows: tableConstraintsExtensions, schema: "CONSTRAINT_SCHEMA", table: "TABLE_NAME"},
		"CHECK_CONSTRAINTS":                     {rows: checkConstraints, schema: "CONSTRAINT_SCHEMA"},
		"REFERENTIAL_CONSTRAINTS":               {rows: referentialConstraints, schema: "CONSTRAINT_SCHEMA", table: "TABLE_NAME"},
		"CHARACTER_SETS":                        filled(characterSets),
		"COLLATIONS":                            filled(collations),
		"COLLATION_CHARACTER_SET_APPLICABILITY": filled(applicability),
		"ENGINES":                               filled(engines),
		"PLUGINS":                               filled(plugins),
		"KEYWORDS":                              filled(keywords),
		"PROCESSLIST":                           filled(processlist),
		"USER_PRIVILEGES":                       filled(userPrivileges),
		"SCHEMA_PRIVILEGES":                     filled(schemaPrivileges),
		"TABLE_PRIVILEGES":                      filled(tablePrivileges),
		"COLUMN_PRIVILEGES":                     empty(noColumns),
		"USER_ATTRIBUTES":                       filled(userAttributes),
		"COLUMN_STATISTICS":                     {rows: columnStatistics, schema: "SCHEMA_NAME", table: "TABLE_NAME"},
		"TRIGGERS":                              empty(noPrograms),
		"ROUTINES":                              empty(noPrograms),
		"PARAMETERS":                            empty(noPrograms),
		"EVENTS":                                empty(noPrograms),
		"FILES":                                 empty(noSpaces),
		"TABLESPACES":                           {empty: noSpaces, layout: tablespaces()},
		"TABLESPACES_EXTENSIONS":                empty(noSpaces),
		"RESOURCE_GROUPS":                       empty("statements share the processors without groups"),
		"OPTIMIZER_TRACE":                       empty("the optimizer leaves no trace; EXPLAIN FORMAT=TREE shows its plan"),
		"PROFILING":                             empty(noProfiler),
		"ADMINISTRABLE_ROLE_AUTHORIZATIONS":     empty(noRoles),
		"APPLICABLE_ROLES":                      empty(noRoles),
		"ENABLED_ROLES":                         empty(noRoles),
		"ROLE_COLUMN_GRANTS":                    empty(noRoles),
		"ROLE_ROUTINE_GRANTS":                   empty(noRoles),
		"ROLE_TABLE_GRANTS":                     empty(noRoles),
		"ST_GEOMETRY_COLUMNS":                   empty(noGeometry),
		"ST_SPATIAL_REFERENCE_SYSTEMS":          empty(noGeometry),
		"ST_UNITS_OF_MEASURE":                   empty(noGeometry),
	}
}

// innodbSources are the tables of InnoDB that tools read.
func innodbSources() map[string]source {
	return map[string]source{
		"INNODB_TRX":                 filled(innodbTrx),
		"INNODB_METRICS":             empty(noInnoDB),
		"INNODB_CMP":                 empty(noInnoDB),
		"INNODB_CMP_RESET":           empty(noInnoDB),
		"INNODB_CMPMEM":              empty(noInnoDB),
		"INNODB_CMPMEM_RESET":        empty(noInnoDB),
		"INNODB_CMP_PER_INDEX":       empty(noInnoDB),
		"INNODB_BUFFER_POOL_STATS":   empty(noInnoDB),
		"INNODB_TABLES":              empty(noInnoDB),
		"INNODB_COLUMNS":             empty(noInnoDB),
		"INNODB_INDEXES":             empty(noInnoDB),
		"INNODB_FIELDS":              empty(noInnoDB),
		"INNODB_FOREIGN":             filled(innodbForeign),
		"INNODB_FOREIGN_COLS":        filled(innodbForeignColumns),
		"INNODB_TABLESPACES":         empty(noInnoDB),
		"INNODB_TABLESPACES_BRIEF":   empty(noInnoDB),
		"INNODB_DATAFILES":           empty(noInnoDB),
		"INNODB_TABLESTATS":          empty(noInnoDB),
		"INNODB_VIRTUAL":             empty(noInnoDB),
		"INNODB_FT_DEFAULT_STOPWORD": empty(noFullText),
		"INNODB_FT_INDEX_TABLE":      empty(noFullText),
		"INNODB_FT_INDEX_CACHE":      empty(noFullText),
		"INNODB_FT_DELETED":          empty(noFullText),
		"INNODB_FT_BEING_DELETED":    empty(noFullText),
		"INNODB_FT_CONFIG":           empty(noFullText),
	}
}

// tablespaces is the table of MySQL 8.0 that the recorded server has no more. It was always empty.
func tablespaces() *layout {
	l := ownLayout("TABLESPACES", `TABLESPACE_NAME varchar(64), ENGINE varchar(64), TABLESPACE_TYPE varchar(64), LOGFILE_GROUP_NAME varchar(64), EXTENT_SIZE bigint unsigned,
		AUTOEXTEND_SIZE bigint unsigned, MAXIMUM_SIZE bigint unsigned, NODEGROUP_ID bigint unsigned, TABLESPACE_COMMENT varchar(2048)`)
	l.columns[0].nullable, l.columns[1].nullable = false, false
	return l
}

func mysqlSources() map[string]source {
	return map[string]source{
		"user":                      filled(mysqlUser),
		"db":                        filled(mysqlDB),
		"tables_priv":               filled(mysqlTablesPriv),
		"columns_priv":              empty(noColumns),
		"procs_priv":                empty(noPrograms),
		"proxies_priv":              empty(noProxy),
		"global_grants":             empty("there are no dynamic privileges yet"),
		"role_edges":                empty(noRoles),
		"default_roles":             empty(noRoles),
		"password_history":          empty(noHistory),
		"func":                      empty(noLoadable),
		"plugin":                    empty(noLoadable),
		"component":                 empty(noLoadable),
		"servers":                   empty("there are no federated tables"),
		"general_log":               empty(noLog),
		"slow_log":                  empty(noLog),
		"time_zone":                 filled(zoneIDs),
		"time_zone_name":            filled(zones),
		"time_zone_leap_second":     empty("time is counted without leap seconds"),
		"time_zone_transition":      empty("transitions come from the IANA database that is part of the server"),
		"time_zone_transition_type": empty("transitions come from the IANA database that is part of the server"),
		"help_topic":                empty(noHelp),
		"help_category":             empty(noHelp),
		"help_keyword":              empty(noHelp),
		"help_relation":             empty(noHelp),
		"innodb_table_stats":        {rows: tableStats, schema: "database_name", table: "table_name"},
		"innodb_index_stats":        {rows: indexStats, schema: "database_name", table: "table_name"},
		"server_cost":               empty(noCosts),
		"engine_cost":               empty(noCosts),
		"gtid_executed":             empty(noBinlog),
		"slave_master_info":         empty(noBinlog),
		"slave_relay_log_info":      empty(noBinlog),
		"slave_worker_info":         empty(noBinlog),
	}
}

func performanceSources() map[string]source {
	return map[string]source{
		"session_variables":                   filled(sessionVariables),
		"global_variables":                    filled(globalVariables),
		"session_status":                      filled(sessionStatus),
		"global_status":                       filled(globalStatus),
		"persisted_variables":                 filled(persistedVariables),
		"variables_info":                      filled(variablesInfo),
		"variables_by_thread":                 filled(variablesByThread),
		"status_by_thread":                    filled(statusByThread),
		"status_by_account":                   filled(statusByAccount),
		"status_by_user":                      filled(statusByUser),
		"status_by_host":                      filled(statusByHost),
		"processlist":                         filled(processlist),
		"threads":                             filled(threads),
		"users":                               filled(users),
		"hosts":                               filled(hosts),
		"accounts":                            filled(accounts),
		"session_connect_attrs":               filled(connectAttributes),
		"session_account_connect_attrs":       filled(ownAttributes),
		"user_variables_by_thread":            filled(userVariables),
		"prepared_statements_instances":       filled(preparedStatements),
		"data_locks":                          filled(dataLocks),
		"data_lock_waits":                     filled(dataLockWaits),
		"events_statements_summary_by_digest": filled(statementDigests),
		"host_cache":                          empty(noHostCache),
		"setup_actors":                        filled(setupActors),
		"setup_consumers":                     filled(setupConsumers),
		"setup_threads":                       filled(setupThreads),
		"setup_instruments":                   empty(noInstrument),
		"setup_objects":                       empty(noInstrument),
		"performance_timers":                  filled(timers),
		"tls_channel_status":                  filled(tlsChannels),
		"events_waits_summary_global_by_event_name": empty(noInstrument),
		"memory_summary_global_by_event_name":       empty(noInstrument),
		"file_instances":                            empty(noInstrument),
		"file_summary_by_event_name":                empty(noInstrument),
		"file_summary_by_instance":                  empty(noInstrument),
		"table_handles":                             empty(noInstrument),
		"table_lock_waits_summary_by_table":         empty(noInstrument),
		"keyring_keys":                              empty(noKeyring),
		"keyring_component_status":                  empty(noKeyring),
		"user_defined_functions":                    empty(noLoadable),
		"replication_connection_configuration":      empty(noBinlog),
		"replication_connection_status":             empty(noBinlog),
		"replication_applier_configuration":         empty(noBinlog),
		"replication_applier_status":                empty(noBinlog),
		"replication_applier_status_by_coordinator": empty(noBinlog),
		"replication_applier_status_by_worker":      empty(noBinlog),
		"replication_applier_filters":               empty(noBinlog),
		"replication_applier_global_filters":        empty(noBinlog),
		"replication_group_members":                 empty(noBinlog),
		"replication_group_member_stats":            empty(noBinlog),
	}
}
