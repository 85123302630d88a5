package session

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// savepoint is a named mark in the transaction's write buffer.
type savepoint struct {
	name string
	mark txn.Savepoint
	used bool // a statement of the transaction had used a table before
}

// savepointsMax bounds the savepoints of one transaction.
const savepointsMax = 10_000

// begin opens an explicit transaction with the session's settings; an open one is committed first, as in MySQL.
func (s *Session) begin(readOnly, readWrite, snapshot bool, mode txnMode) error {
	if err := s.commit(); err != nil {
		return err
	}
	s.unlockTables() // as in MySQL, unlike FLUSH TABLES WITH READ LOCK
	options := s.txnOptions()
	if readOnly {
		options.ReadOnly = true
	}
	if readWrite {
		options.ReadOnly = false
	}
	options.Optimistic = mode == modeOptimistic || mode == modeDefault && s.optimistic
	s.openTxn(options)
	if s.tx.Optimistic() || snapshot && options.Level != txn.ReadCommitted {
		s.tx.ReadTS()
	}
	return nil
}

func (s *Session) openTxn(options txn.Options) {
	s.txReadOnly, s.txShared = options.ReadOnly, false
	options.ReadOnly = false // admit refuses writes itself, because temporary tables may be written
	s.tx = s.node.Txns.Begin(options)
	options.Level = s.tx.Level() // an optimistic transaction may have another level
	s.noteTxn(&options)
	s.nextLevel, s.nextReadOnly = nil, nil // SET TRANSACTION without scope covers one transaction
}

// txnMode is the mode that BEGIN asks for.
type txnMode uint8

const (
	modeDefault txnMode = iota // tidb_txn_mode decides
	modeOptimistic
	modePessimistic
)

// openImplicit opens the transaction of autocommit=0.
func (s *Session) openImplicit() {
	options := s.txnOptions()
	options.Optimistic = s.optimistic
	s.openTxn(options)
}

// locksEarly reports whether a statement of an optimistic transaction has to lock its rows at once: if it writes a table with foreign keys, whose
// checks lock other rows, or one with an index that is being built, whose entries are written apart from the versions of the rows.
func locksEarly(p *exec.Plan) bool {
	for i := range p.Tables {
		t := p.Tables[i].Table
		if !p.Tables[i].Write {
			continue
		}
		if len(t.ForeignKeys)+len(t.Referrers) > 0 {
			return true
		}
		for _, x := range t.Indexes {
			if x.State != catalog.StatePublic {
				return true
			}
		}
	}
	return false
}

// txnOptions are the settings of the next transaction.
func (s *Session) txnOptions() txn.Options {
	options := txn.Options{
		Level:            s.level,
		ReadOnly:         s.readOnly,
		SnapshotConflict: s.snapshotConflict,
		LockWait:         s.lockWait,
		NoOnePhase:       s.noOnePhase,
		NoAsync:          s.noAsync,
		Interrupt:        &s.interrupt,
		Session:          s.id,
	}
	if s.nextLevel != nil {
		options.Level = *s.nextLevel
	}
	if s.nextReadOnly != nil {
		options.ReadOnly = *s.nextReadOnly
	}
	return options
}

// commit commits the open transaction, if there is one. If it fails, the transaction is rolled back.
func (s *Session) commit() error {
	if s.tx == nil {
		s.temporary.created, s.temporary.dropped = false, false
		return nil
	}
	if s.tx.HasWrites() && s.txShared {
		if err := s.beginCommit(); err != nil {
			s.rollback()
			return err
		}
		defer s.use.EndCommit()
	}
	err := s.tx.Commit()
	s.countTxnEnd(exec.Commits)
	s.endChanges(err == nil)
	s.endTxn()
	return exec.MapError(err, &s.interrupt)
}

// beginCommit waits while FLUSH TABLES WITH READ LOCK or a change of read_only keeps transactions with writes from committing. It returns an error
// if the session may not write any more. After success the caller calls s.use.EndCommit.
func (s *Session) beginCommit() error {
	if err := s.use.BeginCommit(s.metadataWait, &s.interrupt); err != nil {
		return exec.MapError(err, &s.interrupt)
	}
	if err := s.mayWrite(); err != nil {
		s.use.EndCommit()
		return err
	}
	return nil
}

// rollback rolls the open transaction back, if there is one.
func (s *Session) rollback() {
	if s.tx == nil {
		return
	}
	s.tx.Rollback()
	s.countTxnEnd(exec.Rollbacks)
	s.rolledBack()
	s.endTxn()
}

// countTxnEnd counts a commit or a rollback, if the transaction has used a table.
func (s *Session) countTxnEnd(figure int) {
	if s.txUsed {
		s.runtime.Work.Add(figure, 1)
	}
	s.txUsed = false
}

// endTxn releases what the transaction, which was committed or rolled back, still holds of the session and the tables.
func (s *Session) endTxn() {
	s.noteTxnEnd()
	s.tx.Release()
	s.tx = nil
	s.endChanges(false)
	s.txReadOnly = false
	s.savepoints = s.savepoints[:0]
	s.use.Release()
	s.endTemporaryTxn()
}

// finishTxn does what AND CHAIN and RELEASE ask for after COMMIT or ROLLBACK.
func (s *Session) finishTxn(end syntax.TxnEnd, options txn.Options) {
	if end.Chain == "" && end.Release == "" {
		switch s.get("completion_type") {
		case "CHAIN":
			end.Chain = "AND CHAIN"
		case "RELEASE":
			end.Release = "RELEASE"
		}
	}
	if end.Chain == "AND CHAIN" {
		s.openTxn(options)
	}
	if end.Release == "RELEASE" {
		s.closing = true
	}
}

func (s *Session) runBegin(stmt *syntax.Begin) error {
	var readOnly, readWrite, snapshot bool
	var mode txnMode
	for _, word := range stmt.Modes {
		switch word {
		case "READ ONLY":
			readOnly = true
		case "READ WRITE":
			readWrite = true
		case "WITH CONSISTENT SNAPSHOT":
			snapshot = true
		case "OPTIMISTIC":
			mode = modeOptimistic
		case "PESSIMISTIC":
			mode = modePessimistic
		}
	}
	return s.begin(readOnly, readWrite, snapshot, mode)
}

func (s *Session) runCommit(stmt *syntax.Commit) error {
	options := s.currentTxnOptions()
	if err := s.commit(); err != nil {
		return err
	}
	s.finishTxn(stmt.End, options)
	return nil
}

func (s *Session) runRollback(stmt *syntax.Rollback) error {
	if stmt.ToSavepoint {
		return s.rollbackTo(stmt.Savepoint.Name)
	}
	options := s.currentTxnOptions()
	created, dropped := s.temporary.created, s.temporary.dropped
	s.rollback()
	s.temporary.created, s.temporary.dropped = false, false // rollback did not clear them if no transaction was open under autocommit=0
	s.warnOfTemporaries(created, dropped)
	s.finishTxn(stmt.End, options)
	return nil
}

// currentTxnOptions are the options of the open transaction, which AND CHAIN gives to the next.
func (s *Session) currentTxnOptions() txn.Options {
	options := s.txnOptions()
	options.Optimistic = s.optimistic
	if s.tx != nil {
		options.Optimistic = s.tx.Optimistic()
		options.Level, options.ReadOnly = s.tx.Level(), s.txReadOnly
	}
	return options
}

func (s *Session) findSavepoint(name string) int {
	for i := len(s.savepoints) - 1; i >= 0; i-- {
		if strings.EqualFold(s.savepoints[i].name, name) {
			return i
		}
	}
	return -1
}

// runSavepoint sets a mark; an older one of the same name is dropped. Outside a transaction it does nothing, as in MySQL.
func (s *Session) runSavepoint(name string) error {
	if s.tx == nil {
		if s.autocommit {
			return nil
		}
		s.openImplicit()
	}
	if i := s.findSavepoint(name); i >= 0 {
		s.savepoints = append(s.savepoints[:i], s.savepoints[i+1:]...)
	}
	if len(s.savepoints) >= savepointsMax {
		return types.Errorf(types.ErOutOfResources)
	}
	s.savepoints = append(s.savepoints, savepoint{name, s.tx.Savepoint(), s.txUsed})
	if s.txUsed {
		s.runtime.Work.Add(exec.Savepoints, 1)
	}
	return nil
}

func (s *Session) rollbackTo(name string) error {
	i := s.findSavepoint(name)
	if s.tx == nil || i < 0 {
		return types.Errorf(types.ErSPDoesNotExist, "SAVEPOINT", name)
	}
	s.tx.RollbackTo(s.savepoints[i].mark)
	if s.savepoints[i].used {
		s.runtime.Work.Add(exec.SavepointRollbacks, 1)
	} else {
		s.countTxnEnd(exec.Rollbacks) // the transaction counts as rolled back: what remains of it has used no table
	}
	s.savepoints = s.savepoints[:i+1]
	s.rolledBack()
	s.warnOfTemporaries(s.temporary.created, s.temporary.dropped)
	return nil
}

func (s *Session) releaseSavepoint(name string) error {
	i := s.findSavepoint(name)
	if s.tx == nil || i < 0 {
		return types.Errorf(types.ErSPDoesNotExist, "SAVEPOINT", name)
	}
	s.savepoints = s.savepoints[:i]
	return nil
}

func (s *Session) runSetTransaction(stmt *syntax.SetTransaction) error {
	if s.tx != nil && stmt.Scope == syntax.ScopeDefault {
		return types.Errorf(types.ErCantChangeTxCharacteristics)
	}
	for _, mode := range stmt.Modes {
		name, value := "transaction_isolation", strings.ReplaceAll(strings.TrimPrefix(mode, "ISOLATION LEVEL "), " ", "-")
		switch mode {
		case "READ ONLY":
			name, value = "transaction_read_only", "ON"
		case "READ WRITE":
			name, value = "transaction_read_only", "OFF"
		}
		if stmt.Scope != syntax.ScopeDefault {
			if err := s.setVariable(stmt.Scope, name, types.Text(value)); err != nil {
				return err
			}
			continue
		}
		if name == "transaction_read_only" {
			readOnly := value == "ON"
			s.nextReadOnly = &readOnly
			continue
		}
		if _, err := checkIsolation(s, value); err != nil {
			return err
		}
		level := levels[value]
		s.nextLevel = &level
	}
	return nil
}
