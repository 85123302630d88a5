package infoschema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// form is one SHOW as a query. Query holds the inner SELECT; Like is the result column that LIKE matches.
type form struct{ query, like string }

// ShowQuery returns the SELECT behind a SHOW statement, or nil if SHOW of this kind is not a query. db is the database that the
// statement means. The statement's own LIKE and WHERE join as trees: they were parsed in the session's dialect, and printing them for
// another parse would change their meaning (PIPES_AS_CONCAT).
func ShowQuery(show *syntax.Show, db string) (*syntax.Query, error) {
	f, err := showForm(show, db)
	if err != nil || f.query == "" {
		return nil, err
	}
	inner, err := parseQuery(f.query)
	if err != nil || show.Where == nil && show.Like == nil {
		return inner, err
	}
	condition := show.Where
	if condition == nil {
		condition = &syntax.Like{X: &syntax.ColumnRef{Column: f.like}, Pattern: show.Like}
	}
	return &syntax.Query{Body: &syntax.Select{
		Items: []syntax.SelectItem{{Expr: &syntax.Star{}}},
		From:  &syntax.DerivedTable{Query: inner, Alias: "show_rows"},
		Where: condition,
	}}, nil
}

// parseQuery parses a query of this package, which is written in the standard dialect.
func parseQuery(text string) (*syntax.Query, error) {
	stmt, _, err := syntax.Parse(text, syntax.Options{})
	if err != nil {
		return nil, fmt.Errorf("infoschema: the query behind SHOW: %w", err)
	}
	query, ok := stmt.(*syntax.Query)
	if !ok {
		return nil, fmt.Errorf("infoschema: %q is no query", text)
	}
	return query, nil
}

// quote writes a name as a literal of its own character set: bare ones are taken for the client's.
func quote(s string) string {
	return "_utf8mb4'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func showForm(show *syntax.Show, db string) (form, error) {
	switch show.Kind {
	case syntax.ShowDatabases:
		name := "Database" + likeSuffix(show)
		return form{"SELECT SCHEMA_NAME AS " + quoteName(name) + " FROM information_schema.SCHEMATA ORDER BY 1", name}, nil
	case syntax.ShowTables:
		return showTables(show, db)
	case syntax.ShowColumns:
		return showColumns(show, db)
	case syntax.ShowIndex:
		return showIndex(show, db)
	case syntax.ShowTableStatus:
		return showTableStatus(db)
	case syntax.ShowVariables:
		return pairForm(show, "variables"), nil
	case syntax.ShowStatus:
		return pairForm(show, "status"), nil
	case syntax.ShowProcesslist:
		info := "LEFT(INFO, 100)"
		if show.Full {
			info = "INFO"
		}
		return form{"SELECT ID AS `Id`, USER AS `User`, HOST AS `Host`, DB AS `db`, COMMAND AS `Command`, TIME AS `Time`, STATE AS `State`, " + info +
			" AS `Info` FROM information_schema.PROCESSLIST ORDER BY 1", "Id"}, nil
	case syntax.ShowEngines:
		return form{"SELECT ENGINE AS `Engine`, SUPPORT AS `Support`, COMMENT AS `Comment`, TRANSACTIONS AS `Transactions`, XA, SAVEPOINTS AS `Savepoints` FROM information_schema.ENGINES", "Engine"}, nil
	case syntax.ShowCharset:
		return form{"SELECT CHARACTER_SET_NAME AS `Charset`, DESCRIPTION AS `Description`, IF(DEFAULT_COLLATE_NAME = 'utf8mb4_0900_ai_ci', @@default_collation_for_utf8mb4, DEFAULT_COLLATE_NAME) AS `Default collation`, MAXLEN AS `Maxlen` FROM information_schema.CHARACTER_SETS ORDER BY 1", "Charset"}, nil
	case syntax.ShowCollation:
		return form{"SELECT COLLATION_NAME AS `Collation`, CHARACTER_SET_NAME AS `Charset`, ID AS `Id`, IF(COLLATION_NAME IN ('utf8mb4_0900_ai_ci', 'utf8mb4_general_ci'), IF(COLLATION_NAME = @@default_collation_for_utf8mb4, 'Yes', ''), IS_DEFAULT) AS `Default`, IS_COMPILED AS `Compiled`, SORTLEN AS `Sortlen`, PAD_ATTRIBUTE AS `Pad_attribute` FROM information_schema.COLLATIONS ORDER BY 1", "Collation"}, nil
	case syntax.ShowTriggers:
		return form{"SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS `Event`, EVENT_OBJECT_TABLE AS `Table`, ACTION_STATEMENT AS `Statement`, ACTION_TIMING AS `Timing`, CREATED AS `Created`, SQL_MODE AS sql_mode, DEFINER AS `Definer`, CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` FROM information_schema.TRIGGERS", "Table"}, nil
	case syntax.ShowEvents:
		return form{"SELECT EVENT_SCHEMA AS `Db`, EVENT_NAME AS `Name`, DEFINER AS `Definer`, TIME_ZONE AS `Time zone`, EVENT_TYPE AS `Type`, EXECUTE_AT AS `Execute at`, INTERVAL_VALUE AS `Interval value`, INTERVAL_FIELD AS `Interval field`, STARTS AS `Starts`, ENDS AS `Ends`, STATUS AS `Status`, ORIGINATOR AS `Originator`, CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` FROM information_schema.EVENTS", "Name"}, nil
	case syntax.ShowProcStatus, syntax.ShowFuncStatus:
		return form{"SELECT ROUTINE_SCHEMA AS `Db`, ROUTINE_NAME AS `Name`, ROUTINE_TYPE AS `Type`, DEFINER AS `Definer`, LAST_ALTERED AS `Modified`, CREATED AS `Created`, SECURITY_TYPE AS `Security_type`, ROUTINE_COMMENT AS `Comment`, CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` FROM information_schema.ROUTINES", "Name"}, nil
	case syntax.ShowPlugins:
		return form{"SELECT PLUGIN_NAME AS `Name`, PLUGIN_STATUS AS `Status`, PLUGIN_TYPE AS `Type`, PLUGIN_LIBRARY AS `Library`, PLUGIN_LICENSE AS `License` FROM information_schema.PLUGINS", "Name"}, nil
	case syntax.ShowPrivileges:
		return privilegesForm(), nil
	case syntax.ShowProfiles:
		return form{emptyQuery([]string{"Query_ID", "Duration", "Query"}), "Query"}, nil
	case syntax.ShowProfile:
		return form{emptyQuery([]string{"Status", "Duration"}), "Status"}, nil
	case syntax.ShowOpenTables:
		return form{"SELECT TABLE_SCHEMA AS `Database`, TABLE_NAME AS `Table`, 0 AS `In_use`, 0 AS `Name_locked` FROM information_schema.TABLES WHERE 1 = 0", "Table"}, nil
	}
	return form{}, nil
}

func isSystem(db string) bool { return slices.Contains(Schemas, strings.ToLower(db)) }

// inSchema and isTable are the conditions for a database's tables, and for one of them. System schemas and their tables are found by
// names in any case.
func inSchema(db string) string {
	if isSystem(db) {
		db = strings.ToLower(db)
	}
	return "TABLE_SCHEMA = " + quote(db)
}

func isTable(db, table string) string {
	if l, s, _ := find(db, table); s != nil {
		table = l.name
	}
	return inSchema(db) + " AND TABLE_NAME = " + quote(table)
}

func needDatabase(db string) error {
	if db == "" {
		return types.Errorf(types.ErNoDB)
	}
	return nil
}

// likeSuffix is what MySQL appends to the name of the first column.
// likeSuffixChars of a pattern are in the name of a column of SHOW.
const likeSuffixChars = 128

func likeSuffix(show *syntax.Show) string {
	if show.Like == nil {
		return ""
	}
	// It names a column, whose name ends where an alias has to.
	pattern := []rune(show.Like.Value[:min(len(show.Like.Value), likeSuffixChars*utf8.UTFMax)])
	return " (" + string(pattern[:min(len(pattern), likeSuffixChars)]) + ")"
}

func showTables(show *syntax.Show, db string) (form, error) {
	if err := needDatabase(db); err != nil {
		return form{}, err
	}
	name := "Tables_in_" + db + likeSuffix(show)
	kind := ""
	if show.Full {
		kind = ", TABLE_TYPE AS `Table_type`"
	}
	hidden := ""
	if show.From == "" && strings.EqualFold(db, "mysql") {
		// What is computed is no data, which dump programs take everything for that SHOW TABLES lists; accounts have SHOW CREATE USER and SHOW GRANTS.
		// Administration tools ask with FROM, to see whether there are tables with grants.
		hidden = " AND FALSE"
	}
	return form{"SELECT TABLE_NAME AS " + quoteName(name) + kind + " FROM information_schema.TABLES WHERE " + inSchema(db) + hidden + " ORDER BY TABLE_NAME", name}, nil
}

func showColumns(show *syntax.Show, db string) (form, error) {
	if err := needDatabase(db); err != nil {
		return form{}, err
	}
	list := "COLUMN_NAME AS `Field`, COLUMN_TYPE AS `Type`, IS_NULLABLE AS `Null`, COLUMN_KEY AS `Key`, COLUMN_DEFAULT AS `Default`, EXTRA AS `Extra`"
	if show.Full {
		list = "COLUMN_NAME AS `Field`, COLUMN_TYPE AS `Type`, COLLATION_NAME AS `Collation`, IS_NULLABLE AS `Null`, COLUMN_KEY AS `Key`, COLUMN_DEFAULT AS `Default`, EXTRA AS `Extra`, PRIVILEGES AS `Privileges`, COLUMN_COMMENT AS `Comment`"
	}
	return form{"SELECT " + list + " FROM information_schema.COLUMNS WHERE " + isTable(db, show.Table.Name) +
		" ORDER BY ORDINAL_POSITION", "Field"}, nil
}

func showIndex(show *syntax.Show, db string) (form, error) {
	if err := needDatabase(db); err != nil {
		return form{}, err
	}
	return form{"SELECT TABLE_NAME AS `Table`, NON_UNIQUE AS `Non_unique`, INDEX_NAME AS `Key_name`, SEQ_IN_INDEX AS `Seq_in_index`, COLUMN_NAME AS `Column_name`, COLLATION AS `Collation`, " +
		"CARDINALITY AS `Cardinality`, SUB_PART AS `Sub_part`, PACKED AS `Packed`, NULLABLE AS `Null`, INDEX_TYPE AS `Index_type`, COMMENT AS `Comment`, INDEX_COMMENT AS `Index_comment`, " +
		"IS_VISIBLE AS `Visible`, EXPRESSION AS `Expression` FROM information_schema.STATISTICS WHERE " + isTable(db, show.Table.Name), "Key_name"}, nil
}

func showTableStatus(db string) (form, error) {
	if err := needDatabase(db); err != nil {
		return form{}, err
	}
	return form{"SELECT TABLE_NAME AS `Name`, ENGINE AS `Engine`, VERSION AS `Version`, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, AVG_ROW_LENGTH AS `Avg_row_length`, " +
		"DATA_LENGTH AS `Data_length`, MAX_DATA_LENGTH AS `Max_data_length`, INDEX_LENGTH AS `Index_length`, DATA_FREE AS `Data_free`, AUTO_INCREMENT AS `Auto_increment`, " +
		"CREATE_TIME AS `Create_time`, UPDATE_TIME AS `Update_time`, CHECK_TIME AS `Check_time`, TABLE_COLLATION AS `Collation`, CHECKSUM AS `Checksum`, " +
		"CREATE_OPTIONS AS `Create_options`, TABLE_COMMENT AS `Comment` FROM information_schema.TABLES WHERE " + inSchema(db) + " ORDER BY 1", "Name"}, nil
}

// pairForm is SHOW VARIABLES and SHOW STATUS. The rows come in the order of the names' bytes, as MySQL lists them.
func pairForm(show *syntax.Show, what string) form {
	scope := "session_"
	if show.Scope == syntax.ScopeGlobal {
		scope = "global_"
	}
	return form{"SELECT VARIABLE_NAME AS `Variable_name`, VARIABLE_VALUE AS `Value` FROM performance_schema." + scope + what, "Variable_name"}
}
