package session

import (
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// runExplain shows the plan of a statement, or with ANALYZE what executing it did.
func (s *Session) runExplain(stmt *syntax.Explain, more bool, out Response) error {
	if stmt.Into != "" || stmt.Schema != "" {
		return s.fail(types.Errorf(types.ErNotSupportedYet, "EXPLAIN with INTO or FOR SCHEMA; EXPLAIN the statement itself"))
	}
	if stmt.Stmt != nil && setsVariables(stmt.Stmt) {
		defer s.hintedVariables(stmt.Stmt)()
	}
	env := s.bindArgs(s.planEnv(""))
	env.Explain = true
	explained := stmt.Stmt
	if stmt.Connection != nil {
		var err error
		if explained, err = s.statementOf(stmt.Connection, env); err != nil {
			return s.fail(err)
		}
	}
	built, _, err := plan.Build(env, explained)
	if err != nil {
		return s.fail(err)
	}
	if err := s.checkPlan(built); err != nil {
		return s.fail(err)
	}
	format := strings.ToUpper(stmt.Format)
	switch {
	case stmt.Analyze:
		if format != "" && format != "TREE" {
			return s.fail(types.Errorf(types.ErNotSupportedYet, "EXPLAIN ANALYZE in format "+stmt.Format))
		}
		return s.explainAnalyze(built, stmt.Stmt, more, out)
	case format == "TREE":
		text, err := plan.ExplainTree(built, nil, s.memory.Grow)
		return s.explainText(text, err, more, out)
	case format == "JSON":
		text, err := plan.ExplainJSON(built, s.memory.Grow)
		return s.explainText(text, err, more, out)
	case format != "" && format != "TRADITIONAL" && format != "ROW" && format != "BRIEF":
		return s.fail(types.NewError(1791, "Unknown EXPLAIN format name: '"+stmt.Format+"'"))
	}
	columns, rows := plan.ExplainRows(built)
	return s.sendRows(columns, rows, more, out)
}

// errExplainOther is ER_EXPLAIN_NOT_SUPPORTED.
const errExplainOther = 3012

// statementOf parses the running statement of another connection, and sets env to plan it as that one did. If the account may not see the
// connection, the error says that there is none.
func (s *Session) statementOf(id *syntax.Literal, env *plan.Env) (syntax.Statement, error) {
	n, err := strconv.ParseUint(id.Value, 10, 64)
	if err != nil {
		return nil, types.Errorf(types.ErNoSuchThread, id.Value)
	}
	for _, p := range (*provider)(s).Processes(false) {
		if p.ID != n {
			continue
		}
		if p.Info != "" {
			env.Database, env.UnknownParams, env.Text = p.Database, true, p.Info
			switch parsed, _, err := syntax.Parse(p.Info, s.parse); parsed.(type) {
			case *syntax.Query, *syntax.Insert, *syntax.Update, *syntax.Delete:
				return parsed, err
			}
		}
		return nil, types.NewError(errExplainOther, "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE")
	}
	return nil, types.Errorf(types.ErNoSuchThread, n)
}

func (s *Session) explainText(text string, err error, more bool, out Response) error {
	if err != nil {
		return s.fail(err)
	}
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("EXPLAIN", 65535)}, [][]types.Value{{types.Text(text)}}, more, out)
}

// explainAnalyze runs a statement, drops its rows and shows the tree with what was counted. What it writes stays written.
func (s *Session) explainAnalyze(p *exec.Plan, stmt syntax.Statement, more bool, out Response) error {
	entry, err := s.enterAgain(&plan.Entry{Plan: p}, func() (*plan.Entry, error) { return s.build1(s.bindArgs(s.planEnv("")), stmt, nil) })
	if err != nil {
		return s.fail(err)
	}
	defer s.leave()
	p = entry.Plan
	if err := s.admit(p); err != nil { // a newer plan may be of other tables
		return s.fail(err)
	}
	s.prepareRuntime(p)
	s.runtime.Analyze = exec.NewCounters()
	defer func() { s.runtime.Analyze = nil }()
	if _, err := exec.Run(&s.runtime, p, &dropSink{}); err != nil {
		return s.fail(s.statementError(err))
	}
	text, err := plan.ExplainTree(p, s.runtime.Analyze, s.memory.Grow)
	return s.explainText(text, err, more, out)
}

// dropSink takes rows and forgets them.
type dropSink struct{ enc types.RowEncoder }

func (d *dropSink) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &d.enc, nil }

func (d *dropSink) RowDone() error {
	d.enc.Buf = d.enc.Buf[:0]
	return nil
}

// runAdmin answers TiDB's ADMIN statements that have a meaning here, and those about the cluster.
func (s *Session) runAdmin(stmt *syntax.Loose, more bool, out Response) error {
	var run func(*syntax.Loose, bool, Response) error
	text := syntax.String(stmt)
	switch {
	case strings.HasPrefix(text, "ADMIN CHECK TABLE "):
		return s.adminCheck(stmt, more, out) // which asks for the rights to the tables
	case strings.HasPrefix(text, "ADMIN CHECK INDEX "):
		return s.adminCheckIndex(stmt, more, out)
	case strings.HasPrefix(text, "ADMIN SHOW DDL JOBS"):
		run = s.showJobs
	case strings.HasPrefix(text, "ADMIN CANCEL DDL JOBS"):
		run = s.eachJob(s.node.DDL.Cancel)
	case strings.HasPrefix(text, "ADMIN PAUSE DDL JOBS"):
		run = s.eachJob(s.node.DDL.Pause)
	case strings.HasPrefix(text, "ADMIN RESUME DDL JOBS"):
		run = s.eachJob(s.node.DDL.Resume)
	case text == "ADMIN PROMOTE":
		run = s.promote
	case strings.HasPrefix(text, "ADMIN BACKUP TO"):
		run = s.backup
	default:
		if run = s.adminOfCluster(text); run == nil {
			return s.fail(types.Errorf(types.ErNotSupportedYet, text))
		}
	}
	if err := s.require(privilege.Super, "", ""); err != nil {
		return s.fail(err)
	}
	return run(stmt, more, out)
}

// promote makes the node's store the first of a cluster. Where it is one already there is nothing to do, so that the statement can be repeated.
func (s *Session) promote(_ *syntax.Loose, more bool, out Response) error {
	if s.node.Promote == nil {
		return s.fail(types.Errorf(types.ErNotSupportedYet, "ADMIN PROMOTE"))
	}
	state, err := s.node.Promote()
	if err != nil {
		return s.fail(exec.MapError(err, &s.interrupt))
	}
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("STATE", 255)}, [][]types.Value{{types.Text(state)}}, more, out)
}

// backup copies the node's files.
func (s *Session) backup(stmt *syntax.Loose, more bool, out Response) error {
	if s.node.Backup == nil {
		return s.fail(types.Errorf(types.ErNotSupportedYet, "ADMIN BACKUP"))
	}
	dir := ""
	for _, part := range stmt.Parts {
		if text, ok := part.Expr.(*syntax.Literal); ok {
			dir = text.Value
		}
	}
	made, err := s.node.Backup(dir, &s.interrupt)
	if err != nil {
		return s.fail(exec.MapError(err, &s.interrupt))
	}
	number := func(v int64) types.Value { return types.Int(v) }
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("BACKUP", 4096), numberColumn("FILES"), numberColumn("BYTES"), numberColumn("COPIED_BYTES"),
		numberColumn("COMMIT_TIMESTAMP"), textColumn("TOOK", 64)},
		[][]types.Value{{types.Text(made.Dir), number(int64(made.Files)), number(made.Bytes), number(made.CopiedBytes), types.Uint(uint64(made.Timestamp)),
			types.Text(made.Took.Round(time.Millisecond).String())}}, more, out)
}

// eachJob is what an ADMIN statement does to the schema changes that it names.
func (s *Session) eachJob(do func(id uint64) error) func(*syntax.Loose, bool, Response) error {
	return func(stmt *syntax.Loose, more bool, out Response) error {
		var ids []uint64
		for _, part := range stmt.Parts {
			if number, ok := part.Expr.(*syntax.Literal); ok {
				id, err := strconv.ParseUint(number.Value, 10, 64)
				if err != nil {
					return s.fail(types.Errorf(types.ErWrongValue, "job id", number.Value))
				}
				ids = append(ids, id)
			}
		}
		var rows [][]types.Value
		for _, id := range ids {
			result := "successful"
			if err := do(id); err != nil {
				result = "error: " + err.Error()
			}
			rows = append(rows, []types.Value{types.Text(strconv.FormatUint(id, 10)), types.Text(result)})
		}
		return s.sendRows([]sqlapi.ColumnInfo{textColumn("JOB_ID", 64), textColumn("RESULT", 128)}, rows, more, out)
	}
}

// showJobs lists the schema changes that are not finished.
func (s *Session) showJobs(_ *syntax.Loose, more bool, out Response) error {
	columns := []sqlapi.ColumnInfo{numberColumn("JOB_ID"), textColumn("DB_NAME", 64), textColumn("TABLE_NAME", 64), textColumn("JOB_TYPE", 64),
		textColumn("SCHEMA_STATE", 64), numberColumn("ROW_COUNT"), textColumn("QUERY", 65535)}
	var rows [][]types.Value
	for _, j := range s.node.DDL.Jobs() {
		rows = append(rows, []types.Value{types.Uint(j.ID), types.Text(j.Schema), types.Text(j.Table), types.Text(j.Kind), types.Text(j.Phase),
			types.Int(int64(j.Rows)), types.Text(j.Text)})
	}
	return s.sendRows(columns, rows, more, out)
}
