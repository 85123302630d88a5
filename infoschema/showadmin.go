package infoschema

import (
	"strings"

	"github.com/pandodb/pando/syntax"
)

// replicaColumns are those of SHOW REPLICA STATUS.
const replicaColumns = "Replica_IO_State Source_Host Source_User Source_Port Connect_Retry Source_Log_File Read_Source_Log_Pos Relay_Log_File Relay_Log_Pos Relay_Source_Log_File " +
	"Replica_IO_Running Replica_SQL_Running Replicate_Do_DB Replicate_Ignore_DB Replicate_Do_Table Replicate_Ignore_Table Replicate_Wild_Do_Table Replicate_Wild_Ignore_Table " +
	"Last_Errno Last_Error Skip_Counter Exec_Source_Log_Pos Relay_Log_Space Until_Condition Until_Log_File Until_Log_Pos Source_SSL_Allowed Source_SSL_CA_File " +
	"Source_SSL_CA_Path Source_SSL_Cert Source_SSL_Cipher Source_SSL_Key Seconds_Behind_Source Source_SSL_Verify_Server_Cert Last_IO_Errno Last_IO_Error Last_SQL_Errno " +
	"Last_SQL_Error Replicate_Ignore_Server_Ids Source_Server_Id Source_UUID Source_Info_File SQL_Delay SQL_Remaining_Delay Replica_SQL_Running_State Source_Retry_Count " +
	"Source_Bind Last_IO_Error_Timestamp Last_SQL_Error_Timestamp Source_SSL_Crl Source_SSL_Crlpath Retrieved_Gtid_Set Executed_Gtid_Set Auto_Position Replicate_Rewrite_DB " +
	"Channel_Name Source_TLS_Version Source_public_key_path Get_Source_public_key Network_Namespace"

// older gives the words of replication their names before 8.0.22.
var older = strings.NewReplacer("Source_public", "Master_public", "Get_Source", "Get_master", "Replica_", "Slave_", "Source_", "Master_", "_Source", "_Master")

// absentShows are forms of SHOW about things that there are not, by their words: the columns of their empty answer. Without a binary log
// MySQL answers the same.
var absentShows = map[string]string{
	"BINARY LOG STATUS": "File Position Binlog_Do_DB Binlog_Ignore_DB Executed_Gtid_Set",
	"MASTER STATUS":     "File Position Binlog_Do_DB Binlog_Ignore_DB Executed_Gtid_Set",
	"REPLICAS":          "Server_Id Host Port Source_Id Replica_UUID",
	"REPLICA HOSTS":     "Server_Id Host Port Source_Id Replica_UUID",
	"SLAVE HOSTS":       "Server_id Host Port Master_id Slave_UUID",
	"REPLICA STATUS":    replicaColumns,
	"SLAVE STATUS":      older.Replace(replicaColumns),
	"BINLOG EVENTS":     "Log_name Pos Event_type Server_id End_log_pos Info",
	"RELAYLOG EVENTS":   "Log_name Pos Event_type Server_id End_log_pos Info",
}

// AbsentShow returns the query behind a form of SHOW that parses loosely, or nil for another one. words are those of its kind.
func AbsentShow(stmt *syntax.Loose) (*syntax.Query, error) {
	var words []string
	for _, part := range stmt.Parts {
		if part.Kind != syntax.LooseWord {
			break
		}
		if part.Text != "SHOW" {
			words = append(words, part.Text)
		}
	}
	for n := len(words); n > 0; n-- {
		if columns, ok := absentShows[strings.Join(words[:n], " ")]; ok {
			return parseQuery(emptyQuery(strings.Fields(columns)))
		}
	}
	return nil, nil
}

// emptyQuery is a query of columns without rows.
func emptyQuery(columns []string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "'' AS " + quoteName(c)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM DUAL WHERE 1 = 0"
}

// privilegeTexts are the rows of SHOW PRIVILEGES for the static privileges that there are.
var privilegeTexts = [][3]string{
	{"Alter", "Tables", "To alter the table"},
	{"Alter routine", "Functions,Procedures", "To alter or drop stored functions/procedures"},
	{"Create", "Databases,Tables,Indexes", "To create new databases and tables"},
	{"Create routine", "Databases", "To use CREATE FUNCTION/PROCEDURE"},
	{"Create temporary tables", "Databases", "To use CREATE TEMPORARY TABLE"},
	{"Create view", "Tables", "To create new views"},
	{"Create user", "Server Admin", "To create new users"},
	{"Delete", "Tables", "To delete existing rows"},
	{"Drop", "Databases,Tables", "To drop databases, tables, and views"},
	{"Event", "Server Admin", "To create, alter, drop and execute events"},
	{"Execute", "Functions,Procedures", "To execute stored routines"},
	{"File", "File access on server", "To read and write files on the server"},
	{"Grant option", "Databases,Tables,Functions,Procedures", "To give to other users those privileges you possess"},
	{"Index", "Tables", "To create or drop indexes"},
	{"Insert", "Tables", "To insert data into tables"},
	{"Lock tables", "Databases", "To use LOCK TABLES (together with SELECT privilege)"},
	{"Process", "Server Admin", "To view the plain text of currently executing queries"},
	{"References", "Databases,Tables", "To have references on tables"},
	{"Reload", "Server Admin", "To reload or refresh tables, logs and privileges"},
	{"Replication client", "Server Admin", "To ask where the slave or master servers are"},
	{"Replication slave", "Server Admin", "To read binary log events from the master"},
	{"Select", "Tables", "To retrieve rows from table"},
	{"Show databases", "Server Admin", "To see all databases with SHOW DATABASES"},
	{"Show view", "Tables", "To see views with SHOW CREATE VIEW"},
	{"Shutdown", "Server Admin", "To shut down the server"},
	{"Super", "Server Admin", "To use KILL thread, SET GLOBAL, CHANGE REPLICATION SOURCE, etc."},
	{"Trigger", "Tables", "To use triggers"},
	{"Create tablespace", "Server Admin", "To create/alter/drop tablespaces"},
	{"Update", "Tables", "To update existing rows"},
	{"Usage", "Server Admin", "No privileges - allow connect only"},
}

func privilegesForm() form {
	var rows []string
	for _, p := range privilegeTexts {
		rows = append(rows, "SELECT "+quote(p[0])+" AS `Privilege`, "+quote(p[1])+" AS `Context`, "+quote(p[2])+" AS `Comment`")
	}
	return form{strings.Join(rows, " UNION ALL "), "Privilege"}
}
