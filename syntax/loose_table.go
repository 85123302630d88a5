package syntax

// looseTable is the grammar of the statements kept as *Loose; loose.go explains
// its notation.
var looseTable = []looseRule{
	{kind: "XA", rule: `XA { { START | BEGIN } text [ , text [ , num ] ] [ JOIN | RESUME ]
		| END text [ , text [ , num ] ] [ SUSPEND [ FOR MIGRATE ] ]
		| PREPARE text [ , text [ , num ] ] | ROLLBACK text [ , text [ , num ] ]
		| COMMIT text [ , text [ , num ] ] [ ONE PHASE ] | RECOVER [ CONVERT XID ] }`},
	{kind: "HANDLER", rule: `HANDLER table { OPEN [ AS name | name ] | CLOSE
		| READ { { FIRST | NEXT } | name { FIRST | NEXT | PREV | LAST
			| { = | <= | >= | < | > } ( { expr }* ) } }
			[ WHERE expr ] [ LIMIT num [ , num | OFFSET num ] ] }`},
	{kind: "HELP", rule: `HELP label`},
	{kind: "IMPORT", rule: `IMPORT TABLE FROM { str }*`},
	{kind: "PURGE", rule: `PURGE { BINARY | MASTER } LOGS { TO str | BEFORE expr }`},
	{kind: "BINLOG", rule: `BINLOG str`},
	{kind: "CHANGE", rule: `CHANGE { REPLICATION { SOURCE TO { word = { group | expr } }*
			| FILTER { word = group }* } | MASTER TO { word = { group | expr } }* } [ FOR CHANNEL str ]`},
	{kind: "START", rule: `START { { REPLICA | SLAVE } [ { IO_THREAD | SQL_THREAD | RELAY_THREAD }* ]
		[ UNTIL { word [ = expr ] }* ] [ USER = str ] [ PASSWORD = str ] [ DEFAULT_AUTH = str ]
		[ PLUGIN_DIR = str ] [ FOR CHANNEL str ]
		| GROUP_REPLICATION [ { word = str }* ] }`},
	{kind: "STOP", rule: `STOP { { REPLICA | SLAVE } [ { IO_THREAD | SQL_THREAD | RELAY_THREAD }* ]
		[ FOR CHANNEL str ] | GROUP_REPLICATION }`},
	{kind: "RESET", rule: `RESET { { { REPLICA | SLAVE } [ ALL ] [ FOR CHANNEL str ]
		| MASTER [ TO num ] | BINARY LOGS AND GTIDS [ TO num ] }* | QUERY CACHE
		| PERSIST [ IF EXISTS ] [ name [ . name ] ] }`},
	{kind: "SIGNAL", rule: `SIGNAL { SQLSTATE [ VALUE ] str | name } [ SET { item = value }* ]`},
	{kind: "RESIGNAL", rule: `RESIGNAL [ SQLSTATE [ VALUE ] str | name ] [ SET { item = value }* ]`},
	{kind: "GET", rule: `GET [ CURRENT | STACKED ] DIAGNOSTICS { CONDITION value { target = { RETURNED_SQLSTATE | item } }*
		| { target = { NUMBER | ROW_COUNT } }* }`},
	{kind: "INSTALL", rule: `INSTALL { PLUGIN name SONAME str | COMPONENT { str }* [ SET { [ GLOBAL | PERSIST ]
		name [ . name ] = expr }* ] }`},
	{kind: "UNINSTALL", rule: `UNINSTALL { PLUGIN name | COMPONENT { str }* }`},
	{kind: "CLONE", rule: `CLONE { LOCAL DATA DIRECTORY [ = ] str
		| INSTANCE FROM account : num IDENTIFIED BY str [ DATA DIRECTORY [ = ] str ] [ REQUIRE [ NO ] SSL ] }`},
	{kind: "SHUTDOWN", rule: `SHUTDOWN`},
	{kind: "RESTART", rule: `RESTART`},
	{kind: "CACHE", rule: `CACHE INDEX { table [ PARTITION group ] [ { INDEX | KEY } group ] }* IN { DEFAULT | name }`},
	{kind: "LOAD INDEX", rule: `LOAD INDEX INTO CACHE { table [ PARTITION group ] [ { INDEX | KEY } group ]
		[ IGNORE LEAVES ] }*`},
	{kind: "LOCK INSTANCE", rule: `LOCK INSTANCE FOR BACKUP`},
	{kind: "UNLOCK INSTANCE", rule: `UNLOCK INSTANCE`},
	{kind: "SET RESOURCE GROUP", prefix: "SET", rule: `RESOURCE GROUP name [ FOR { num }* ]`},
	{kind: "PROFILE", rule: `PROFILE [ { ALL | BLOCK IO | CONTEXT SWITCHES | CPU | IPC | MEMORY | PAGE FAULTS | SOURCE
		| SWAPS }* ] [ FOR QUERY num ] [ LIMIT num [ , num | OFFSET num ] ]`},
	{kind: "FACTOR", rule: `[ { ADD | MODIFY } num FACTOR IDENTIFIED [ WITH label ] [ BY { RANDOM PASSWORD | str } | AS str ]
		| DROP num FACTOR
		| num FACTOR { INITIATE REGISTRATION | UNREGISTER | FINISH REGISTRATION SET CHALLENGE_RESPONSE AS str } ]*`},
	{kind: "SHOW", prefix: "SHOW", rule: `{ BINARY { LOGS | LOG STATUS } | MASTER { STATUS | LOGS } | REPLICAS
		| { REPLICA | SLAVE } { STATUS [ FOR CHANNEL str ] | HOSTS }
		| { BINLOG | RELAYLOG } EVENTS [ IN str ] [ FROM num ] [ LIMIT num [ , num | OFFSET num ] ]
			[ FOR CHANNEL str ]
		| TABLE table { REGIONS | NEXT_ROW_ID | DISTRIBUTIONS } [ WHERE expr ]
		| { STATS_META | STATS_HISTOGRAMS | STATS_BUCKETS | STATS_HEALTHY | STATS_TOPN | ANALYZE STATUS
			| CONFIG | PLACEMENT | BACKUPS | RESTORES | IMPORTS | BUILTINS | BINDINGS }
			[ LIKE str | WHERE expr ] }`},
	{kind: "CREATE", prefix: "CREATE", rule: `{ RESOURCE GROUP [ IF NOT EXISTS ] name [ TYPE [ = ] { SYSTEM | USER } ]
			[ RU_PER_SEC [ = ] num | PRIORITY [ = ] word | BURSTABLE ]*
			[ VCPU [ = ] { num [ - num ] }* ] [ THREAD_PRIORITY [ = ] [ - ] num ] [ ENABLE | DISABLE ]
		| SERVER label FOREIGN DATA WRAPPER label OPTIONS group
		| UNDO TABLESPACE name ADD DATAFILE str [ ENGINE [ = ] name ]
		| TABLESPACE name [ ADD DATAFILE str ] [ USE LOGFILE GROUP name ] [ [ , ] { AUTOEXTEND_SIZE | FILE_BLOCK_SIZE
			| EXTENT_SIZE | INITIAL_SIZE | MAX_SIZE | NODEGROUP | ENCRYPTION | COMMENT | ENGINE | ENGINE_ATTRIBUTE }
			[ = ] expr | WAIT ]*
		| LOGFILE GROUP name ADD UNDOFILE str [ { INITIAL_SIZE | UNDO_BUFFER_SIZE | REDO_BUFFER_SIZE | NODEGROUP
			| COMMENT | ENGINE } [ = ] expr | WAIT ]*
		| SPATIAL REFERENCE SYSTEM [ IF NOT EXISTS ] num [ NAME str | DEFINITION str | DESCRIPTION str
			| ORGANIZATION str IDENTIFIED BY num ]*
		| OR REPLACE SPATIAL REFERENCE SYSTEM num [ NAME str | DEFINITION str | DESCRIPTION str
			| ORGANIZATION str IDENTIFIED BY num ]* }`},
	{kind: "ALTER", prefix: "ALTER", rule: `{ RESOURCE GROUP name [ RU_PER_SEC [ = ] num | PRIORITY [ = ] word | BURSTABLE ]*
			[ VCPU [ = ] { num [ - num ] }* ] [ THREAD_PRIORITY [ = ] [ - ] num ] [ ENABLE | DISABLE ] [ FORCE ]
		| SERVER label OPTIONS group
		| UNDO TABLESPACE name SET { ACTIVE | INACTIVE } [ ENGINE [ = ] name ]
		| TABLESPACE name { { ADD | DROP } DATAFILE str | RENAME TO name | ENCRYPTION [ = ] str
			| AUTOEXTEND_SIZE [ = ] expr | ENGINE_ATTRIBUTE [ = ] str }
			[ { INITIAL_SIZE | ENGINE } [ = ] expr | WAIT ]*
		| LOGFILE GROUP name ADD UNDOFILE str [ { INITIAL_SIZE | ENGINE } [ = ] expr | WAIT ]*
		| INSTANCE { ROTATE { INNODB | BINLOG } MASTER KEY | { ENABLE | DISABLE } INNODB REDO_LOG
			| RELOAD { TLS [ FOR CHANNEL name ] [ NO ROLLBACK ON ERROR ] | KEYRING } } }`},
	{kind: "DROP", prefix: "DROP", rule: `{ RESOURCE GROUP [ IF EXISTS ] name [ FORCE ] | SERVER [ IF EXISTS ] label
		| UNDO TABLESPACE name [ ENGINE [ = ] name ] | TABLESPACE name [ ENGINE [ = ] name ]
		| LOGFILE GROUP name [ ENGINE [ = ] name | WAIT ]* | SPATIAL REFERENCE SYSTEM [ IF EXISTS ] num }`},
	{kind: "ADMIN", rule: `ADMIN { SHOW { DDL [ JOBS [ num ] [ WHERE expr ] | JOB QUERIES { { num }* | LIMIT num [ OFFSET num ] } ]
			| table NEXT_ROW_ID | SLOW { RECENT num | TOP [ INTERNAL | ALL ] num } }
		| { CANCEL | PAUSE | RESUME } DDL JOBS { num }*
		| CHECK { TABLE { table }* | INDEX table name [ { ( num , num ) }* ] }
		| CHECKSUM TABLE { table }* | { RECOVER | CLEANUP } INDEX table name
		| RELOAD { EXPR_PUSHDOWN_BLACKLIST | OPT_RULE_BLACKLIST | BINDINGS | STATISTICS }
		| FLUSH { BINDINGS | { SESSION | INSTANCE } PLAN_CACHE } | PROMOTE | BACKUP TO str
		| TOKEN [ USES num ] [ HOURS num ] | NODES | NODE REMOVE num | REGIONS }`},
	{kind: "SPLIT", rule: `SPLIT [ REGION FOR ] [ PARTITION ] TABLE table [ PARTITION group ] [ INDEX name ]
		{ BETWEEN group AND group REGIONS num | BY { group }* }`},
	{kind: "BACKUP", rule: `BACKUP { DATABASE { * | { name }* } | TABLE { table }* } TO str [ word [ = ] expr ]*`},
	{kind: "RESTORE", rule: `RESTORE { DATABASE { * | { name }* } | TABLE { table }* } FROM str [ word [ = ] expr ]*`},
	{kind: "RECOVER", rule: `RECOVER TABLE { BY JOB num | table [ num ] }`},
	{kind: "FLASHBACK", rule: `FLASHBACK { TABLE { table }* [ TO name ] | DATABASE name [ TO name ]
		| CLUSTER TO { TIMESTAMP str | TSO num } }`},
}
