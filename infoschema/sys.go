package infoschema

// sysVersion is the version of the views that sys.version tells.
const sysVersion = "2.1.3"

// program is the query of sys.processlist over what is known of each connection.
const program = `SELECT t.THREAD_ID, t.PROCESSLIST_ID, CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST), t.PROCESSLIST_DB, t.PROCESSLIST_COMMAND,
	t.PROCESSLIST_STATE, t.PROCESSLIST_TIME, t.PROCESSLIST_INFO, t.EXECUTION_ENGINE, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL, NULL, NULL, pid.ATTR_VALUE, program.ATTR_VALUE
	FROM performance_schema.threads t
	LEFT JOIN performance_schema.session_connect_attrs pid ON pid.PROCESSLIST_ID = t.PROCESSLIST_ID AND pid.ATTR_NAME = '_pid'
	LEFT JOIN performance_schema.session_connect_attrs program ON program.PROCESSLIST_ID = t.PROCESSLIST_ID AND program.ATTR_NAME = 'program_name'`

// integerMax is the largest value of an integer type, by its name and sign.
const integerMax = `CASE c.DATA_TYPE WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535 WHEN 'mediumint' THEN 16777215 WHEN 'int' THEN 4294967295
	WHEN 'bigint' THEN 18446744073709551615 END >> IF(LOCATE('unsigned', c.COLUMN_TYPE) > 0, 0, 1)`

// keysOfTables joins the columns of each index to a list.
const keysOfTables = `(SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, MAX(NON_UNIQUE) AS non_unique, MAX(IF(SUB_PART IS NULL, 0, 1)) AS subpart_exists,
	GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX SEPARATOR ',') AS index_columns FROM information_schema.STATISTICS
	WHERE INDEX_TYPE = 'BTREE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') GROUP BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME)`

// shortStatement is sys.format_statement: the beginning and the end of a long text, within statement_truncate_len.
func shortStatement(column string) string {
	text := "REPLACE(" + column + ", '\\n', ' ')"
	return "IF(CHAR_LENGTH(" + text + ") > 64, CONCAT(LEFT(" + text + ", 30), ' ... ', RIGHT(" + text + ", 30)), " + text + ")"
}

// each is a sum over executions for one of them.
func each(sum string) string { return "ROUND(IFNULL(" + sum + " / NULLIF(COUNT_STAR, 0), 0), 0)" }

// statementView is a view over the digests of statements.
func statementView(columns, condition string) source {
	return source{view: "SELECT " + shortStatement("DIGEST_TEXT") + ", SCHEMA_NAME, " + columns + " FROM performance_schema.events_statements_summary_by_digest " + condition}
}

const (
	totalLatency = "FORMAT_PICO_TIME(SUM_TIMER_WAIT)"
	seen         = "FIRST_SEEN, LAST_SEEN, DIGEST"
)

// statementViews are the views of sys over the digests of statements.
func statementViews() map[string]source {
	return map[string]source{
		"statement_analysis": statementView("IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', ''), COUNT_STAR, SUM_ERRORS, SUM_WARNINGS, "+totalLatency+
			", FORMAT_PICO_TIME(MAX_TIMER_WAIT), FORMAT_PICO_TIME(AVG_TIMER_WAIT), FORMAT_PICO_TIME(SUM_LOCK_TIME), FORMAT_PICO_TIME(SUM_CPU_TIME), SUM_ROWS_SENT, "+
			each("SUM_ROWS_SENT")+", SUM_ROWS_EXAMINED, "+each("SUM_ROWS_EXAMINED")+", SUM_ROWS_AFFECTED, "+each("SUM_ROWS_AFFECTED")+
			", SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, SUM_SORT_ROWS, SUM_SORT_MERGE_PASSES, FORMAT_BYTES(MAX_CONTROLLED_MEMORY), FORMAT_BYTES(MAX_TOTAL_MEMORY), DIGEST, FIRST_SEEN, LAST_SEEN",
			"ORDER BY SUM_TIMER_WAIT DESC"),
		"statements_with_errors_or_warnings": statementView("COUNT_STAR, SUM_ERRORS, IFNULL(SUM_ERRORS / NULLIF(COUNT_STAR, 0), 0) * 100, SUM_WARNINGS, IFNULL(SUM_WARNINGS / NULLIF(COUNT_STAR, 0), 0) * 100, "+
			"FIRST_SEEN, LAST_SEEN, DIGEST", "WHERE SUM_ERRORS > 0 OR SUM_WARNINGS > 0 ORDER BY SUM_ERRORS DESC, SUM_WARNINGS DESC"),
		"statements_with_full_table_scans": statementView("COUNT_STAR, "+totalLatency+", SUM_NO_INDEX_USED, SUM_NO_GOOD_INDEX_USED, ROUND(IFNULL(SUM_NO_INDEX_USED / NULLIF(COUNT_STAR, 0), 0) * 100, 0), "+
			"SUM_ROWS_SENT, SUM_ROWS_EXAMINED, ROUND(SUM_ROWS_SENT / COUNT_STAR, 0), ROUND(SUM_ROWS_EXAMINED / COUNT_STAR, 0), "+seen,
			"WHERE (SUM_NO_INDEX_USED > 0 OR SUM_NO_GOOD_INDEX_USED > 0) AND DIGEST_TEXT NOT LIKE 'SHOW%' ORDER BY SUM_NO_INDEX_USED / COUNT_STAR DESC, SUM_TIMER_WAIT DESC"),
		"statements_with_sorting": statementView("COUNT_STAR, "+totalLatency+", SUM_SORT_MERGE_PASSES, "+each("SUM_SORT_MERGE_PASSES")+", SUM_SORT_SCAN, SUM_SORT_RANGE, SUM_SORT_ROWS, "+
			each("SUM_SORT_ROWS")+", "+seen, "WHERE SUM_SORT_ROWS > 0 ORDER BY SUM_TIMER_WAIT DESC"),
		"statements_with_temp_tables": statementView("COUNT_STAR, "+totalLatency+", SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, "+each("SUM_CREATED_TMP_TABLES")+
			", ROUND(IFNULL(SUM_CREATED_TMP_DISK_TABLES / NULLIF(SUM_CREATED_TMP_TABLES, 0), 0) * 100, 0), "+seen,
			"WHERE SUM_CREATED_TMP_TABLES > 0 ORDER BY SUM_CREATED_TMP_DISK_TABLES DESC, SUM_CREATED_TMP_TABLES DESC"),
	}
}

// sysSources are the views of sys over what is known here. Those about instruments that there are not are unknown tables.
func sysSources() map[string]source {
	return map[string]source{
		"innodb_lock_waits":  {view: lockWaits()},
		"version":            {view: `SELECT '` + sysVersion + `', VERSION()`},
		"sys_config":         filled(sysConfig),
		"processlist":        {view: program},
		"session":            {view: program + ` WHERE t.PROCESSLIST_COMMAND <> 'Daemon'`},
		"session_ssl_status": {view: `SELECT THREAD_ID, '', '', '0' FROM performance_schema.threads WHERE CONNECTION_TYPE <> 'SSL/TLS'`},
		"schema_auto_increment_columns": {view: `SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.DATA_TYPE, c.COLUMN_TYPE, LOCATE('unsigned', c.COLUMN_TYPE) = 0,
	LOCATE('unsigned', c.COLUMN_TYPE) > 0, ` + integerMax + `, t.AUTO_INCREMENT, t.AUTO_INCREMENT / (` + integerMax + `)
	FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
	WHERE c.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND t.TABLE_TYPE = 'BASE TABLE' AND c.EXTRA = 'auto_increment'
	ORDER BY 10 DESC, 8`},
		"schema_object_overview": {view: `SELECT TABLE_SCHEMA AS db, TABLE_TYPE AS object_type, COUNT(*) AS count FROM information_schema.TABLES GROUP BY TABLE_SCHEMA, TABLE_TYPE
	UNION ALL SELECT TABLE_SCHEMA, CONCAT('INDEX (', INDEX_TYPE, ')'), COUNT(*) FROM information_schema.STATISTICS GROUP BY TABLE_SCHEMA, INDEX_TYPE
	UNION ALL SELECT ROUTINE_SCHEMA, ROUTINE_TYPE, COUNT(*) FROM information_schema.ROUTINES GROUP BY ROUTINE_SCHEMA, ROUTINE_TYPE
	UNION ALL SELECT TRIGGER_SCHEMA, 'TRIGGER', COUNT(*) FROM information_schema.TRIGGERS GROUP BY TRIGGER_SCHEMA
	UNION ALL SELECT EVENT_SCHEMA, 'EVENT', COUNT(*) FROM information_schema.EVENTS GROUP BY EVENT_SCHEMA ORDER BY 1, 2`},
		"schema_redundant_indexes": {view: `SELECT r.TABLE_SCHEMA, r.TABLE_NAME, r.INDEX_NAME, r.index_columns, r.non_unique, d.INDEX_NAME, d.index_columns, d.non_unique,
	IF(r.subpart_exists OR d.subpart_exists, 1, 0), CONCAT('ALTER TABLE ` + "`', r.TABLE_SCHEMA, '`.`', r.TABLE_NAME, '` DROP INDEX `', r.INDEX_NAME, '`'" + `)
	FROM ` + keysOfTables + ` r JOIN ` + keysOfTables + ` d ON r.TABLE_SCHEMA = d.TABLE_SCHEMA AND r.TABLE_NAME = d.TABLE_NAME
	WHERE r.INDEX_NAME <> d.INDEX_NAME AND (
		r.index_columns = d.index_columns AND (r.non_unique > d.non_unique OR r.non_unique = d.non_unique AND IF(r.INDEX_NAME = 'PRIMARY', '', r.INDEX_NAME) > IF(d.INDEX_NAME = 'PRIMARY', '', d.INDEX_NAME))
		OR LOCATE(CONCAT(r.index_columns, ','), d.index_columns) = 1 AND r.non_unique = 1
		OR LOCATE(CONCAT(d.index_columns, ','), r.index_columns) = 1 AND d.non_unique = 0)`},
	}
}

// sysConfig has the options of the procedures of sys, which nobody can change here.
func sysConfig(q *query) error {
	for _, c := range [][2]string{{"diagnostics.allow_i_s_tables", "OFF"}, {"diagnostics.include_raw", "OFF"}, {"ps_thread_trx_info.max_length", "65535"},
		{"statement_performance_analyzer.limit", "100"}, {"statement_performance_analyzer.view", ""}, {"statement_truncate_len", "64"}} {
		if err := q.emit(c[0], orNull(c[1]), nil, nil); err != nil {
			return err
		}
	}
	return nil
}
