package session

import (
	"slices"

	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// replicationColumns are the columns of the statements that tell of the binary log and of replicas. There is neither, so they answer
// with no rows, as MySQL does without them: dump programs ask, and handle that.
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

// What MySQL says of replicas that are not there.
const (
	erNotReplica     = 1200 // ER_REPLICA_CONFIGURATION
	erReplicaChannel = 3074 // ER_REPLICA_CHANNEL_DOES_NOT_EXIST
	erReplicaStopped = 3084 // ER_REPLICA_CHANNEL_WAS_NOT_RUNNING
)

// replica answers START, STOP and RESET REPLICA, and RESET of the binary log, as a server that is no replica does: administration tools and dump programs
// stop what may run. known is false for other statements.
func (s *Session) replica(stmt *syntax.Loose) (known bool, err error) {
	if len(stmt.Parts) < 2 || !slices.Contains([]string{"REPLICA", "SLAVE", "MASTER", "BINARY"}, stmt.Parts[1].Text) {
		return false, nil
	}
	binlog := slices.ContainsFunc(stmt.Parts, func(p syntax.LoosePart) bool { return p.Text == "MASTER" || p.Text == "BINARY" })
	right, name := privilege.Super, "SUPER or REPLICATION_SLAVE_ADMIN"
	switch {
	case stmt.Kind == "RESET" && binlog:
		right, name = privilege.Reload, "RELOAD or FLUSH_TABLES" // see flushRights
	case stmt.Kind == "RESET":
		right, name = privilege.Reload, "RELOAD"
	}
	allowed := s.account().Has(right, "", "")
	if channel := replicaChannel(stmt); channel != "" && (allowed || stmt.Kind != "RESET") {
		return true, types.NewError(erReplicaChannel, "Replica channel '"+channel+"' does not exist.")
	}
	if !allowed {
		return true, types.Errorf(types.ErSpecificAccessDenied, name)
	}
	switch {
	case stmt.Kind == "START":
		return true, types.NewError(erNotReplica, "The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO")
	case stmt.Kind == "STOP":
		s.context.AddError(types.LevelNote, types.NewError(erReplicaStopped, "Replication thread(s) for channel '' are already stopped."))
	case binlog:
		s.context.AddError(types.LevelNote, types.NewError(types.ErNotSupportedYet, "RESET BINARY LOGS AND GTIDS has nothing to do: "+idleNoBinlog))
	}
	return true, nil
}

// replicaChannel returns the name in FOR CHANNEL, "" for the default channel.
func replicaChannel(stmt *syntax.Loose) string {
	if slices.ContainsFunc(stmt.Parts, func(p syntax.LoosePart) bool { return p.Kind == syntax.LooseWord && p.Text == "CHANNEL" }) {
		if literal, is := stmt.Parts[len(stmt.Parts)-1].Expr.(*syntax.Literal); is {
			return literal.Value
		}
	}
	return ""
}
