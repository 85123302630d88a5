package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// runOther executes a statement that has no plan of its own, and answers it.
func (s *Session) runOther(stmt syntax.Statement, text string, more bool, out Response) error {
	if show, ok := stmt.(*syntax.Show); !ok || show.Kind != syntax.ShowWarnings && show.Kind != syntax.ShowErrors {
		s.startStatement()
	}
	if stopsWhenKilled(stmt) {
		if err := s.poll(); err != nil {
			return s.fail(err)
		}
	}
	s.planFromCache = false
	s.counts.add(commandOf(stmt))
	shown := syntax.Shown(stmt, text)
	s.event.digest = s.plainDigest(text, shown)
	s.info.Store(&shown)
	defer s.info.Store(nil)
	if done, err := s.runQueryLike(stmt, more, out); done {
		return err
	}
	result, err := s.runCommand(stmt, text)
	if err != nil {
		return s.fail(exec.MapError(err, &s.interrupt))
	}
	s.rowCount = int64(result.AffectedRows)
	return s.done(result, more, out)
}

// stopsWhenKilled reports whether a statement is refused when a KILL QUERY comes before it runs. Those about the transaction and the
// session's state are not, as in MySQL: few clients look at the error of a ROLLBACK, and the next BEGIN would commit what is still open.
// EXECUTE leaves it to the statement that it runs.
func stopsWhenKilled(stmt syntax.Statement) bool {
	switch stmt.(type) {
	case *syntax.Begin, *syntax.Commit, *syntax.Rollback, *syntax.Savepoint, *syntax.ReleaseSavepoint, *syntax.Set, *syntax.SetTransaction,
		*syntax.Execute:
		return false
	}
	return true
}

// runQueryLike executes the statements that answer with rows.
func (s *Session) runQueryLike(stmt syntax.Statement, more bool, out Response) (done bool, err error) {
	switch stmt := stmt.(type) {
	case *syntax.Show:
		return true, s.runShow(stmt, more, out)
	case *syntax.Describe:
		return true, s.runDescribe(stmt, more, out)
	case *syntax.Explain:
		return true, s.runExplain(stmt, more, out)
	case *syntax.TableMaintenance:
		return true, s.runMaintenance(stmt, more, out)
	case *syntax.Execute:
		return true, s.runExecute(stmt, more, out)
	case *syntax.Loose:
		switch {
		case stmt.Kind == "GET":
			return true, s.getDiagnostics(stmt, more, out)
		case strings.HasPrefix(stmt.Kind, "ADMIN"):
			return true, s.runAdmin(stmt, more, out)
		case strings.HasPrefix(stmt.Kind, "SHOW"):
			return true, s.runLooseShow(stmt, more, out)
		}
		if columns, ok := replicationColumns[stmt.Kind]; ok {
			return true, s.showReplication(columns, more, out)
		}
	}
	return false, nil
}

// runCommand executes the statements that answer with OK.
func (s *Session) runCommand(stmt syntax.Statement, text string) (sqlapi.Result, error) {
	var none sqlapi.Result
	switch stmt := stmt.(type) {
	case *syntax.Begin:
		return none, s.runBegin(stmt)
	case *syntax.Commit:
		return none, s.runCommit(stmt)
	case *syntax.Rollback:
		return none, s.runRollback(stmt)
	case *syntax.Savepoint:
		return none, s.runSavepoint(stmt.Name.Name)
	case *syntax.ReleaseSavepoint:
		return none, s.releaseSavepoint(stmt.Name.Name)
	case *syntax.Set:
		return none, s.runSet(stmt)
	case *syntax.SetTransaction:
		return none, s.runSetTransaction(stmt)
	case *syntax.Use:
		return none, s.UseDB(stmt.Name.Name)
	case *syntax.Kill:
		return none, s.runKill(stmt)
	case *syntax.Prepare:
		return none, s.runPrepare(stmt)
	case *syntax.Deallocate:
		return none, s.runDeallocate(stmt)
	case *syntax.Flush:
		return none, s.runFlush(stmt)
	case *syntax.LockTables:
		return none, s.runLockTables(stmt)
	case *syntax.UnlockTables:
		return none, s.runUnlockTables()
	case *syntax.Loose:
		if known, err := s.runLoose(stmt); known {
			return none, err
		}
	case *syntax.CreateUser, *syntax.DropUser, *syntax.RenameUser, *syntax.SetPassword, *syntax.Grant:
		return none, s.runAccount(stmt)
	}
	return s.runSchema(stmt, text)
}

// runLoose executes the statements without a tree of their own that are supported; known is false for the others.
func (s *Session) runLoose(stmt *syntax.Loose) (known bool, err error) {
	switch stmt.Kind {
	case "LOCK INSTANCE":
		return true, s.runLockInstance(true)
	case "UNLOCK INSTANCE":
		return true, s.runLockInstance(false)
	case "SIGNAL":
		return true, s.signal(stmt)
	case "RESIGNAL":
		return true, types.Errorf(types.ErResignalWithoutActiveHandler)
	case "SHUTDOWN":
		return true, s.shutdown()
	case "RESTART":
		if err := s.require(privilege.Shutdown, "", ""); err != nil {
			return true, err
		}
		return true, types.NewError(errNoSupervisor, "Restart server failed (mysqld is not managed by supervisor process).")
	case "START", "STOP":
		if known, err := s.replica(stmt); known {
			return true, err
		}
	case "RESET":
		if known, err := s.replica(stmt); known {
			return true, err
		}
		if slices.ContainsFunc(stmt.Parts, func(p syntax.LoosePart) bool { return p.Kind == syntax.LooseWord && p.Text == "PERSIST" }) {
			return true, s.resetPersist(stmt)
		}
	}
	if known, err := s.logfileGroup(stmt); known {
		return known, err
	}
	return s.dropUnknown(stmt)
}

// errNoSupervisor is MySQL's number for a RESTART that nothing would start again.
const errNoSupervisor = 3707

// shutdown stops the process as a signal would. A client that is connected through another node is refused, because it means that one.
func (s *Session) shutdown() error {
	if err := s.require(privilege.Shutdown, "", ""); err != nil {
		return err
	}
	if s.node.Shutdown == nil || s.client.Relayed {
		return types.Errorf(types.ErNotSupportedYet, "SHUTDOWN through a node that hands its clients on to another: end that node's process")
	}
	s.node.Log.Info("SHUTDOWN", "user", s.client.User, "host", s.client.Host)
	s.node.Shutdown()
	return nil
}

func (s *Session) runKill(stmt *syntax.Kill) error {
	v, err := s.scalar(stmt.ID)
	if err != nil {
		return err
	}
	id := uint64(types.ToInt(&s.context, &v))
	if id != s.id && !s.account().Has(privilege.Super, "", "") && !s.ownProcess(id) {
		return types.Errorf(types.ErKillDenied, id)
	}
	queryOnly := stmt.Word == "QUERY"
	if s.node.Kill == nil || !s.node.Kill(id, queryOnly) {
		return types.Errorf(types.ErNoSuchThread, id)
	}
	if id == s.id && s.interrupt.Reason() != 0 {
		return types.Errorf(types.ErQueryInterrupted)
	}
	return nil
}

// ownProcess reports whether a connection belongs to the same user, who may kill it.
func (s *Session) ownProcess(id uint64) bool {
	if s.node.Processes == nil {
		return false
	}
	for _, p := range s.node.Processes() {
		if p.ID == id {
			return p.User == s.client.User
		}
	}
	return true // unknown ids get 1094
}

// runFlush executes FLUSH: most of its forms have nothing to do here.
func (s *Session) runFlush(stmt *syntax.Flush) error {
	if err := s.mayFlush(stmt); err != nil {
		return err
	}
	if stmt.IsTables {
		return s.flushTables(stmt)
	}
	for _, item := range stmt.Items {
		switch item {
		case "STATUS":
			s.node.tallies.flush(s)
		case "PRIVILEGES", "LOGS", "BINARY LOGS", "ENGINE LOGS", "ERROR LOGS", "GENERAL LOGS", "RELAY LOGS", "SLOW LOGS", "HOSTS", "USER_RESOURCES", "OPTIMIZER_COSTS":
			s.context.AddError(types.LevelNote, types.NewError(types.ErNotSupportedYet, "FLUSH "+item+" has nothing to do: changes take effect at once"))
		default:
			return types.Errorf(types.ErNotSupportedYet, "FLUSH "+item)
		}
	}
	return nil
}

// flushRights names, for the error, the narrower right that MySQL knows beside RELOAD; here only RELOAD can be granted.
var flushRights = map[string]string{"PRIVILEGES": " or FLUSH_PRIVILEGES", "STATUS": " or FLUSH_STATUS", "USER_RESOURCES": " or FLUSH_USER_RESOURCES",
	"OPTIMIZER_COSTS": " or FLUSH_OPTIMIZER_COSTS"}

// mayFlush requires the privilege even if there is nothing to do: an OK would suggest that the client has it.
func (s *Session) mayFlush(stmt *syntax.Flush) error {
	if s.account().Has(privilege.Reload, "", "") {
		return nil
	}
	if stmt.IsTables {
		return types.Errorf(types.ErSpecificAccessDenied, "RELOAD or FLUSH_TABLES")
	}
	other := ""
	for _, item := range stmt.Items {
		other = cmp.Or(other, flushRights[item])
	}
	return types.Errorf(types.ErSpecificAccessDenied, "RELOAD"+other)
}

// runPrepare is PREPARE name FROM text. An older statement of that name is dropped first, even if the new one fails.
func (s *Session) runPrepare(stmt *syntax.Prepare) error {
	key := strings.ToLower(stmt.Name.Name)
	s.dropNamed(key)
	text := ""
	if stmt.Text != nil {
		text = stmt.Text.Value
	} else {
		v := s.userVars[strings.ToLower(stmt.Var)]
		raw := types.AppendText(nil, &s.context, &v)
		if s.build.Client != nil && v.K == types.KindString {
			raw, _ = types.ConvertCharset(nil, raw, v.Coll.Charset(), s.build.Client) // statements are in the client's set
		}
		text = string(raw)
	}
	p, _, err := s.prepare(text)
	if err != nil {
		return err
	}
	if s.named == nil {
		s.named = map[string]*prepared{}
	}
	s.named[key] = p
	return nil
}

func (s *Session) dropNamed(key string) bool {
	p, ok := s.named[key]
	if !ok {
		return false
	}
	delete(s.named, key)
	s.dropPrepared(len(p.text))
	return true
}

func (s *Session) runDeallocate(stmt *syntax.Deallocate) error {
	if !s.dropNamed(strings.ToLower(stmt.Name.Name)) {
		return types.Errorf(types.ErUnknownStmtHandler, stmt.Name.Name, "DEALLOCATE PREPARE")
	}
	return nil
}

func (s *Session) runExecute(stmt *syntax.Execute, more bool, out Response) error {
	p := s.named[strings.ToLower(stmt.Name.Name)]
	if p == nil {
		return s.fail(types.Errorf(types.ErUnknownStmtHandler, stmt.Name.Name, "EXECUTE"))
	}
	args := make([]types.Value, len(stmt.Using))
	for i, name := range stmt.Using {
		args[i] = s.userVars[strings.ToLower(name)]
	}
	return s.executePrepared(p, args, out, more, byText)
}

// sendRows sends rows that are in memory.
func (s *Session) sendRows(columns []sqlapi.ColumnInfo, rows [][]types.Value, more bool, out Response) error {
	enc, err := out.Columns(columns)
	if err != nil {
		return s.fail(err)
	}
	for _, row := range rows {
		enc.StartRow(len(row))
		for i := range row {
			if row[i].IsNull() {
				enc.Null()
				continue
			}
			enc.Value(&columns[i].Type, &row[i])
		}
		enc.EndRow()
		if err := out.RowDone(); err != nil {
			return s.fail(err)
		}
	}
	s.rowCount = -1
	return s.done(sqlapi.Result{AffectedRows: uint64(len(rows)), HasRows: true}, more, out)
}

// textColumn describes a column of text made by the server.
func textColumn(name string, length int32) sqlapi.ColumnInfo {
	return sqlapi.ColumnInfo{Name: name, Type: types.Type{ID: types.TypeVarchar, Length: length, Scale: -1, Coll: types.DefaultCollation}}
}

// numberColumn describes a column of integers made by the server.
func numberColumn(name string) sqlapi.ColumnInfo {
	return sqlapi.ColumnInfo{Name: name, Type: types.Type{ID: types.TypeBigInt, Length: -1, Scale: -1}}
}
