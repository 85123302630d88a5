package session

import (
	"errors"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const defaultSQLMode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// systemZone is the name of the machine's own zone. A server's answers should not depend on the machine it runs on, so it is UTC here.
const systemZone = "SYSTEM"

var levels = map[string]txn.Level{
	"READ-UNCOMMITTED": txn.ReadCommitted,
	"READ-COMMITTED":   txn.ReadCommitted,
	"REPEATABLE-READ":  txn.RepeatableRead,
	"SERIALIZABLE":     txn.Serializable,
}

// checkIsolation warns of READ UNCOMMITTED, which permits dirty reads but does not demand them: no version is visible here before its commit, so
// that it is READ COMMITTED, as in PostgreSQL.
func checkIsolation(s *Session, value string) (string, error) {
	if s != nil && value == "READ-UNCOMMITTED" {
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "READ UNCOMMITTED reads what is committed, as READ COMMITTED does"))
	}
	return value, nil
}

func applyIsolation(s *Session, value string) error {
	s.level = levels[value]
	return nil
}

// applyAutocommit commits the open transaction when the mode is switched on, as MySQL does.
func applyAutocommit(s *Session, value string) error {
	on := value == "ON"
	if on && !s.autocommit {
		if err := s.commit(); err != nil {
			return err
		}
	}
	s.autocommit = on
	return nil
}

func applyReadOnly(s *Session, value string) error {
	s.readOnly = value == "ON"
	return nil
}

func applySnapshotIsolation(s *Session, value string) error {
	s.snapshotConflict = value == "ON"
	return nil
}

func applyForeignKeyChecks(s *Session, value string) error {
	s.runtime.UncheckedForeign = value != "ON"
	return nil
}

func applyLooseParents(s *Session, value string) error {
	s.looseParents = value != "ON"
	return nil
}

func applyLockWait(s *Session, value string) error {
	s.lockWait = time.Duration(mustInt(value)) * time.Second
	return nil
}

func applyMetadataWait(s *Session, value string) error {
	s.metadataWait = time.Duration(mustInt(value)) * time.Second
	return nil
}

func applyMaxExecution(s *Session, value string) error {
	s.maxExecution = time.Duration(min(mustInt(value), math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	return nil
}

func applyMemQuota(s *Session, value string) error {
	s.memQuota = mustInt(value)
	return nil
}

func applyOnePhase(s *Session, value string) error {
	s.noOnePhase = value == "OFF"
	return nil
}

func applyAsyncCommit(s *Session, value string) error {
	s.noAsync = value == "OFF"
	return nil
}

func applyTxnMode(s *Session, value string) error {
	s.optimistic = value == "optimistic"
	return nil
}

func applyTemporarySize(s *Session, value string) error {
	s.temporary.bytesMax = mustInt(value)
	return nil
}

func applyLastInsertID(s *Session, value string) error {
	s.lastInsertID = mustUint(value)
	return nil
}

func applyInsertID(s *Session, value string) error {
	s.runtime.ForceInsertID(mustUint(value))
	return nil
}

func dynamicInsertID(s *Session) types.Value { return types.Uint(s.runtime.ForcedInsertID()) }

// applyTimestamp fixes NOW() for the session's statements; 0 sets it free again.
func applyTimestamp(s *Session, value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return types.Errorf(types.ErWrongTypeForVar, "timestamp")
	}
	s.fixedNow = time.Time{}
	if seconds != 0 {
		s.fixedNow = time.UnixMicro(int64(math.Round(seconds * 1e6)))
	}
	return nil
}

func applyWaitTimeout(s *Session, value string) error {
	if s.client.SetIdleMax != nil {
		s.client.SetIdleMax(time.Duration(mustInt(value)) * time.Second)
	}
	return nil
}

// applyNetTimeout passes both limits on, since the connection keeps them together.
func applyNetTimeout(s *Session, _ string) error {
	if s.client.SetNetTimeouts != nil {
		seconds := func(name string) time.Duration { return time.Duration(mustInt(s.get(name))) * time.Second }
		s.client.SetNetTimeouts(seconds("net_read_timeout"), seconds("net_write_timeout"))
	}
	return nil
}

func applyMaxPacket(s *Session, value string) error {
	s.packetMax = mustInt(value)
	if s.client.SetPacketMax != nil {
		s.client.SetPacketMax(int(s.packetMax))
	}
	return nil
}

// applyExprLimits re-reads what expression evaluation takes from variables.
func applyExprLimits(s *Session, _ string) error {
	s.refreshContext()
	return nil
}

func applySQLMode(s *Session, _ string) error {
	s.refreshContext()
	return nil
}

// The warnings of MySQL about modes that are to go: ER_SQL_MODE_MERGED and ER_WARN_DEPRECATED_SQLMODE.
const (
	warnModeMerged     = 3135
	warnModeDeprecated = 3090
)

// checkSQLMode normalises a list of modes. As in MySQL it warns if only some of the modes are set that MySQL plans to merge with strict mode.
func checkSQLMode(s *Session, value string) (string, error) {
	mode, err := types.ParseSQLMode(value)
	if err != nil || s == nil {
		return mode.String(), err
	}
	const merging = types.ModeNoZeroDate | types.ModeNoZeroInDate | types.ModeErrorForDivByZero
	if some := mode & merging; mode.IsStrict() && some != merging || !mode.IsStrict() && some != 0 {
		s.context.AddError(types.LevelWarning, types.NewError(warnModeMerged, "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be used with strict mode. They will be merged with strict mode in a future release."))
	}
	if mode&types.ModePadCharToFullLength != 0 {
		s.context.AddError(types.LevelWarning, types.NewError(warnModeDeprecated, "Changing sql mode 'PAD_CHAR_TO_FULL_LENGTH' is deprecated. It will be removed in a future release."))
	}
	return mode.String(), nil
}

func checkTimeZone(_ *Session, value string) (string, error) {
	if strings.EqualFold(value, systemZone) {
		return systemZone, nil
	}
	loc, err := types.ParseTimeZone(value)
	if err != nil {
		return "", err
	}
	return loc.String(), nil
}

func applyTimeZone(s *Session, _ string) error {
	s.refreshContext()
	return nil
}

func checkCharset(_ *Session, value string) (string, error) {
	charset, err := types.LookupCharset(value)
	if err != nil {
		return "", err
	}
	return charset.Name, nil
}

// checkClientCharset refuses the sets whose ASCII letters are wide: statements could not be lexed in them.
func checkClientCharset(s *Session, value string) (string, error) {
	name, err := checkCharset(s, value)
	if err != nil {
		return "", err
	}
	switch name {
	case "ucs2", "utf16", "utf16le", "utf32":
		return "", types.Errorf(types.ErWrongValueForVar, "character_set_client", value)
	}
	return name, nil
}

func checkResultsCharset(s *Session, value string) (string, error) {
	if value == "" || strings.EqualFold(value, "NULL") {
		return "", nil
	}
	return checkCharset(s, value)
}

func applyCharset(s *Session, _ string) error {
	s.refreshContext()
	return nil
}

func checkCollation(_ *Session, value string) (string, error) {
	id, err := types.LookupCollation(value)
	if err != nil {
		return "", err
	}
	return id.Name(), nil
}

// Errors of default_collation_for_utf8mb4.
const (
	errDefaultCollation    = 3721
	warnVariableDeprecated = 1681
)

// checkDefaultCollation checks default_collation_for_utf8mb4.
func checkDefaultCollation(s *Session, value string) (string, error) {
	id, err := types.LookupCollation(value)
	if err != nil {
		return "", err
	}
	if id != types.DefaultCollation && id != types.Utf8mb4GeneralCI {
		return "", types.NewError(errDefaultCollation, "Invalid default collation "+id.Name()+": utf8mb4_0900_ai_ci or utf8mb4_general_ci expected")
	}
	s.context.AddError(types.LevelWarning, types.NewError(warnVariableDeprecated, "Updating 'default_collation_for_utf8mb4' is deprecated. It will be made read-only in a future release."))
	return id.Name(), nil
}

// charsetOf returns what acts on a session's new collation: the character set of the same kind follows it, as in MySQL.
func charsetOf(kind string) func(*Session, string) error {
	return func(s *Session, value string) error {
		id, err := types.LookupCollation(value)
		if err != nil {
			return err
		}
		s.store("character_set_"+kind, id.Charset().Name)
		s.refreshContext()
		return nil
	}
}

// collationOf is the reverse: a new character set brings its default collation.
func collationOf(kind string) func(*Session, string) error {
	return func(s *Session, value string) error {
		charset, err := types.LookupCharset(value)
		if err != nil {
			return err
		}
		s.store("collation_"+kind, charset.Default.Name())
		s.refreshContext()
		return nil
	}
}

// globalCharsetOf and globalCollationOf do the same to the global values.
func globalCharsetOf(kind string) func(*Node, string) error {
	return func(n *Node, value string) error {
		id, err := types.LookupCollation(value)
		if err == nil {
			n.SetGlobal("character_set_"+kind, id.Charset().Name)
		}
		return err
	}
}

func globalCollationOf(kind string) func(*Node, string) error {
	return func(n *Node, value string) error {
		charset, err := types.LookupCharset(value)
		if err == nil {
			n.SetGlobal("collation_"+kind, charset.Default.Name())
		}
		return err
	}
}

func checkOnlyOne(_ *Session, value string) (string, error) {
	if value != "1" {
		return "", types.Errorf(types.ErNotSupportedYet, "an auto-increment step or offset other than 1")
	}
	return value, nil
}

func checkAlwaysOn(_ *Session, value string) (string, error) {
	if value != "ON" {
		return "", types.Errorf(types.ErNotSupportedYet, "switching this variable off")
	}
	return value, nil
}

func checkAlwaysOff(_ *Session, value string) (string, error) {
	if value != "OFF" {
		return "", types.Errorf(types.ErNotSupportedYet, "switching this variable on")
	}
	return value, nil
}

func checkEmpty(_ *Session, value string) (string, error) {
	if value != "" {
		return "", types.Errorf(types.ErNotSupportedYet, "init_connect")
	}
	return value, nil
}

func checkLogLevel(_ *Session, value string) (string, error) {
	level := strings.ToLower(value)
	switch level {
	case "fatal":
		level = "error"
	case "warning":
		level = "warn"
	}
	if new(slog.Level).UnmarshalText([]byte(level)) != nil {
		return "", types.Errorf(types.ErWrongValueForVar, "log_level", value)
	}
	return level, nil
}

func applyLogLevel(n *Node, value string) error {
	if n.LogVar == nil {
		return nil
	}
	return n.LogVar.UnmarshalText([]byte(value))
}

func applyMaxConnections(n *Node, value string) error {
	if n.SetMaxConnections != nil {
		n.SetMaxConnections(int(mustInt(value)))
	}
	return nil
}

func applyMaxPrepared(n *Node, value string) error {
	n.preparedMax.Store(mustInt(value))
	return nil
}

// applyFlushLog maps InnoDB's switch on the node's: 1 syncs every commit; 0 and 2 acknowledge before the sync.
func applyFlushLog(n *Node, value string) error {
	relaxed := value != "1"
	if relaxed {
		n.Log.Warn("commits are acknowledged before they are synced: a crash can lose acknowledged data",
			"innodb_flush_log_at_trx_commit", value)
	}
	return n.SetRelaxed(relaxed)
}

func dynamicVersion(s *Session) types.Value { return types.Text(s.node.Version) }
func dynamicPort(s *Session) types.Value    { return types.Uint(uint64(s.node.Port)) }
func dynamicSocket(s *Session) types.Value  { return types.Text(s.node.Socket) }
func dynamicDataDir(s *Session) types.Value { return types.Text(s.node.DataDir) }

// NoFiles is the secure_file_priv that opens no file. As in MySQL the variable shows this text, no NULL.
const NoFiles = "NULL"

func dynamicSecureFilePriv(s *Session) types.Value {
	if s.node.Files == nil || s.node.SecureFilePriv == NoFiles {
		return types.Text(NoFiles)
	}
	return types.Text(s.node.SecureFilePriv)
}

func dynamicThreadID(s *Session) types.Value { return types.Int(int64(s.id)) }

func dynamicHostname(*Session) types.Value {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return types.Text(name)
}

func dynamicWarningCount(s *Session) types.Value { return types.Int(int64(s.diagnostics.count())) }
func dynamicErrorCount(s *Session) types.Value   { return types.Int(int64(s.diagnostics.errors())) }

func dynamicPlanFromCache(s *Session) types.Value { return types.Int(boolInt(s.lastFromCache)) }

// mustInt reads a number that a variable's parser wrote or the table states. Those beyond 63 bits, which mean no limit, are the largest.
func mustInt(value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt64
	}
	if err != nil {
		panic("session: not a number: " + value)
	}
	return n
}

func mustUint(value string) uint64 {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		panic("session: not a number: " + value)
	}
	return n
}
