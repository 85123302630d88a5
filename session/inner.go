package session

import (
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// runInner plans and runs a statement that is part of another one, such as the INSERT of CREATE TABLE … SELECT. Its rows are dropped. renew
// brings env up to the schema of the moment.
func (s *Session) runInner(env *plan.Env, renew func(), stmt syntax.Statement) (sqlapi.Result, error) {
	again := func() (*plan.Entry, error) { return s.build1(env, stmt, nil) }
	entry, err := again()
	if err != nil {
		return sqlapi.Result{}, err
	}
	shown := s.info.Load()
	defer func() {
		s.leave()
		s.info.Store(shown)
	}()
	if entry, err = s.enterAgain(entry, func() (*plan.Entry, error) {
		renew()
		return again()
	}); err != nil {
		return sqlapi.Result{}, err
	}
	if err := s.admit(entry.Plan); err != nil {
		return sqlapi.Result{}, err
	}
	s.prepareRuntime(entry.Plan)
	result, err := exec.Run(&s.runtime, entry.Plan, &dropSink{})
	if err != nil {
		return result, s.statementError(err)
	}
	return result, nil
}

// innerValue is the user variable through which an expression with subqueries is evaluated: no client can name it.
const innerValue = "\x00value"

// subqueryScalar evaluates an expression with subqueries outside any table, as the value of SET.
func (s *Session) subqueryScalar(env *plan.Env, e syntax.Expr) (types.Value, error) {
	s.bindArgs(env)
	do := &syntax.Do{Exprs: []syntax.SelectItem{{Expr: &syntax.UserVariable{Name: innerValue, Value: e}}}}
	defer s.dropUserVar(innerValue)
	if _, err := s.runInner(env, func() { env.Snapshot = s.schema() }, do); err != nil {
		return types.Null(), err
	}
	v, ok := s.userVars[innerValue]
	if !ok {
		return types.Null(), types.Errorf(types.ErOutOfResources) // the assignment has only warned
	}
	return v, nil
}

// isThere reports whether CREATE TABLE finds a table of its name, or a temporary one if it makes such.
func (s *Session) isThere(stmt *syntax.CreateTable, name ddl.Name) bool {
	if !stmt.Temporary {
		return s.node.Catalog.Current().Lookup(name.Schema, name.Table) != nil
	}
	there := s.findTemporary(stmt.Name) != nil
	if there {
		s.noteTemporary(true) // MySQL warns of it, too
	}
	return there
}

// fillCreated inserts the rows of CREATE TABLE … SELECT, whose query sees the schema as it was before.
func (s *Session) fillCreated(c *ddl.Call, stmt *syntax.CreateTable, name ddl.Name, insert *syntax.Insert) (sqlapi.Result, error) {
	env := s.bindArgs(s.planEnv(c.Text))
	renew := func() {
		env.Snapshot, env.Target = s.schema(), s.node.Catalog.Current()
		if stmt.Temporary {
			env.Target, env.Snapshot = env.Snapshot, s.schemaWithout(name)
		}
	}
	renew()
	return s.runInner(env, renew, insert)
}

// createSelect is CREATE TABLE … SELECT: the columns of the query, which the statement may describe, too, come in its order after those that the
// statement alone has, and its rows are inserted. If that fails the table is dropped.
func (s *Session) createSelect(c *ddl.Call, stmt *syntax.CreateTable) (sqlapi.Result, error) {
	name, err := s.name(stmt.Name)
	if err != nil {
		return sqlapi.Result{}, err
	}
	if stmt.IfNotExists && s.isThere(stmt, name) {
		s.context.Warn(types.LevelNote, types.ErTableExists, name.Table)
		return sqlapi.Result{}, nil
	}
	columns, err := plan.QueryColumns(s.bindArgs(s.planEnv(c.Text)), stmt.Query)
	if err != nil {
		return sqlapi.Result{}, err
	}
	insert := &syntax.Insert{Table: syntax.TableRef{Schema: name.Schema, Name: name.Table}, Query: stmt.Query, HasColumns: true,
		Ignore: stmt.OnConflict == "IGNORE", Replace: stmt.OnConflict == "REPLACE"}
	var queried []ddl.ColumnSpec
	for _, col := range columns {
		insert.Columns = append(insert.Columns, syntax.ColumnRef{Column: col.Info.Name})
		queried = append(queried, s.tableColumn(&col))
	}
	if err := s.createTable(c, stmt, queried); err != nil {
		return sqlapi.Result{}, err
	}
	result, err := s.fillCreated(c, stmt, name, insert)
	if stmt.Temporary {
		if err != nil {
			s.removeTemporary(s.findTemporary(stmt.Name))
		}
		return result, err
	}
	if err == nil {
		err = s.commit() // the table is there: under autocommit=0, too, its rows stay
	}
	if err != nil {
		if dropped := s.node.DDL.DropTables(c, []ddl.Name{name}, true); dropped != nil {
			return result, dropped
		}
	}
	return result, err
}
