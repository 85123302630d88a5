package session

import (
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// replicationColumns are the columns of the statements that tell of the binary log and of replicas. There is neither, and as MySQL without
// them does they answer with no rows: dump programs ask, and say so themselves.
var replicationColumns = map[string][]string{
	"SHOW BINARY LOG":     {"File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"},
	"SHOW MASTER STATUS":  {"File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"},
	"SHOW REPLICAS":       {"Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"},
	"SHOW SLAVE HOSTS":    {"Server_id", "Host", "Port", "Master_id", "Slave_UUID"},
	"SHOW REPLICA STATUS": {"Replica_IO_State", "Source_Host", "Source_User", "Source_Port", "Connect_Retry", "Source_Log_File", "Read_Source_Log_Pos"},
	"SHOW SLAVE STATUS":   {"Slave_IO_State", "Master_Host", "Master_User", "Master_Port", "Connect_Retry", "Master_Log_File", "Read_Master_Log_Pos"},
}

// showReplication answers a statement about replication with no rows.
func (s *Session) showReplication(names []string, more bool, out Response) error {
	if !s.account().Has(privilege.ReplicationClient, "", "") && !s.account().Has(privilege.Super, "", "") {
		return s.fail(types.Errorf(types.ErSpecificAccessDenied, "SUPER, REPLICATION CLIENT"))
	}
	columns := make([]sqlapi.ColumnInfo, len(names))
	for i, name := range names {
		columns[i] = textColumn(name, 255)
	}
	return s.sendRows(columns, nil, more, out)
}
