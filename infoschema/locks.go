package infoschema

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// LocksMax bounds the rows of tables about locks.
const LocksMax = 10_000

// Transaction is one that a client has begun.
type Transaction struct {
	ID, Session uint64
	Start       time.Time
	Level       string
	ReadOnly    bool
}

// lockedIn finds the tables and indexes that locked keys are of.
type lockedIn struct {
	tables map[uint64]*catalog.Table
}

func (q *query) lockedIn() lockedIn {
	in := lockedIn{map[uint64]*catalog.Table{}}
	for _, t := range tablesByData(q.Snapshot()) {
		in.tables[t.PhysID] = t
	}
	return in
}

// key tells what a key is of: empty for what is of no table that is known.
func (in lockedIn) key(key []byte) (t *catalog.Table, index string, data any) {
	physID, rest, ok := keys.DecodeTablePrefix(key)
	if t = in.tables[physID]; !ok || t == nil {
		return nil, "", nil
	}
	if _, id, columns, ok := keys.DecodeIndexPrefix(key); ok {
		if ix := t.IndexByID(id); ix != nil {
			return t, ix.Name, keyValues(t, ix, columns)
		}
		return t, "", nil
	}
	if len(rest) == 0 || rest[0] != keys.RowByte {
		return t, "", nil
	}
	if t.PK == nil {
		return t, "GEN_CLUST_INDEX", "0x" + hex.EncodeToString(rest[1:])
	}
	return t, t.PK.Name, keyValues(t, t.PK, rest[1:])
}

// keyValues prints the values of an index's key, and what can't be told of it in hexadecimal digits.
func keyValues(t *catalog.Table, ix *catalog.Index, key []byte) any {
	if len(key) == 0 {
		return nil
	}
	var list []string
	for _, part := range ix.Columns {
		if len(key) == 0 {
			break
		}
		kind := &t.Columns[part.Col].Type
		if !types.KeyRecoverable(kind, part.PrefixLen) {
			break
		}
		v, rest, err := types.DecodeKey(key, kind, part.Desc)
		if err != nil {
			break
		}
		text := "NULL"
		if !v.IsNull() {
			text = string(types.AppendText(nil, nil, &v))
		}
		if v.IsString() {
			text = "'" + text + "'"
		}
		list, key = append(list, text), rest
	}
	if len(key) > 0 {
		list = append(list, "0x"+hex.EncodeToString(key))
	}
	return strings.Join(list, ", ")
}

// lockMode names a lock as InnoDB does.
func lockMode(l *kvapi.LockView) string {
	switch {
	case l.Range && l.Kind == kvapi.RangeGap:
		return "S,GAP"
	case l.Range:
		return "S"
	case l.Creates:
		return "X,GAP,INSERT_INTENTION"
	case l.Mode == kvapi.LockShared:
		return "S,REC_NOT_GAP"
	}
	return "X,REC_NOT_GAP"
}

func dataLocks(q *query) error {
	in := q.lockedIn()
	for _, l := range q.Locks() {
		var schema, table, index any
		t, name, data := in.key(l.Key)
		if t != nil {
			schema, table, index = t.Schema, t.Name, orNull(name)
		}
		if l.Range {
			data = "[" + rangeEnd(data, l.Key) + ", " + in.end(l.End) + ")"
		}
		status := "GRANTED"
		if l.Waiting {
			status = "WAITING"
		}
		var thread any
		if l.Session != 0 {
			thread = l.Session
		}
		err := q.emitNamed("ENGINE", "INNODB", "ENGINE_LOCK_ID", l.ID, "ENGINE_TRANSACTION_ID", l.Owner, "THREAD_ID", thread, "OBJECT_SCHEMA", schema, "OBJECT_NAME", table,
			"INDEX_NAME", index, "LOCK_TYPE", "RECORD", "LOCK_MODE", lockMode(&l), "LOCK_STATUS", status, "LOCK_DATA", data)
		if err != nil {
			return err
		}
	}
	return nil
}

func (in lockedIn) end(key []byte) string {
	_, _, data := in.key(key)
	return rangeEnd(data, key)
}

// rangeEnd prints a bound of a range.
func rangeEnd(data any, key []byte) string {
	if text, ok := data.(string); ok {
		return text
	}
	return KeyText(key)
}

func dataLockWaits(q *query) error {
	for _, l := range q.Locks() {
		for _, b := range l.Blockers {
			err := q.emitNamed("ENGINE", "INNODB", "REQUESTING_ENGINE_LOCK_ID", l.ID, "REQUESTING_ENGINE_TRANSACTION_ID", l.Owner, "REQUESTING_THREAD_ID", l.Session,
				"BLOCKING_ENGINE_LOCK_ID", b.ID, "BLOCKING_ENGINE_TRANSACTION_ID", b.Owner, "BLOCKING_THREAD_ID", b.Session)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// innodbTrx lists the transactions that clients have begun, and those of statements that have locks.
func innodbTrx(q *query) error {
	if err := q.mayWatch(); err != nil {
		return err
	}
	type found struct {
		Transaction
		locks   int
		waits   string
		waiting time.Duration
	}
	byID, order := map[uint64]*found{}, []uint64(nil)
	for _, t := range q.Transactions() {
		byID[t.ID] = &found{Transaction: t}
		order = append(order, t.ID)
	}
	processes := map[uint64]Process{}
	for _, p := range q.Processes(true) {
		processes[p.ID] = p
	}
	for _, l := range q.Locks() {
		f := byID[l.Owner]
		if f == nil {
			// A statement that is a transaction by itself began with it, as far as the process list knows.
			start := q.Now().Add(-time.Duration(processes[l.Session].Seconds) * time.Second)
			f = &found{Transaction: Transaction{ID: l.Owner, Session: l.Session, Start: start}}
			byID[l.Owner] = f
			order = append(order, l.Owner)
		}
		if l.Waiting {
			f.waits, f.waiting = l.ID, q.Waited(l.Since)
		} else {
			f.locks++
		}
	}
	for _, id := range order {
		f := byID[id]
		state, waitStart, operation := "RUNNING", any(nil), any(nil)
		if f.waits != "" {
			state, waitStart, operation = "LOCK WAIT", at(q.Now().Add(-f.waiting)), "starting index read"
		}
		err := q.emitNamed("trx_id", f.ID, "trx_state", state, "trx_started", at(f.Start), "trx_requested_lock_id", orNull(f.waits), "trx_wait_started", waitStart,
			"trx_weight", f.locks, "trx_mysql_thread_id", f.Session, "trx_query", orNull(processes[f.Session].Info), "trx_operation_state", operation,
			"trx_lock_structs", f.locks, "trx_rows_locked", f.locks, "trx_isolation_level", f.Level, "trx_unique_checks", 1, "trx_foreign_key_checks", 1,
			"trx_is_read_only", boolInt(f.ReadOnly))
		if err != nil {
			return err
		}
	}
	return nil
}

// quotedName is sys.quote_identifier.
func quotedName(column string) string {
	return "CONCAT('`', REPLACE(" + column + ", '`', '``'), '`')"
}

// lockWaits is the query of sys.innodb_lock_waits.
func lockWaits() string {
	return "SELECT r.trx_wait_started, TIMEDIFF(NOW(), r.trx_wait_started), TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()), CONCAT(" + quotedName("rl.OBJECT_SCHEMA") + ", '.', " +
		quotedName("rl.OBJECT_NAME") + "), rl.OBJECT_SCHEMA, rl.OBJECT_NAME, rl.PARTITION_NAME, rl.SUBPARTITION_NAME, rl.INDEX_NAME, rl.LOCK_TYPE, r.trx_id, r.trx_started, " +
		"TIMEDIFF(NOW(), r.trx_started), r.trx_rows_locked, r.trx_rows_modified, r.trx_mysql_thread_id, " + shortStatement("r.trx_query") + ", rl.ENGINE_LOCK_ID, rl.LOCK_MODE, b.trx_id, " +
		"b.trx_mysql_thread_id, " + shortStatement("b.trx_query") + ", bl.ENGINE_LOCK_ID, bl.LOCK_MODE, b.trx_started, TIMEDIFF(NOW(), b.trx_started), b.trx_rows_locked, b.trx_rows_modified, " +
		"CONCAT('KILL QUERY ', b.trx_mysql_thread_id), CONCAT('KILL ', b.trx_mysql_thread_id) FROM performance_schema.data_lock_waits w " +
		"JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID " +
		"JOIN performance_schema.data_locks bl ON bl.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID JOIN performance_schema.data_locks rl ON rl.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID " +
		"ORDER BY r.trx_wait_started"
}
