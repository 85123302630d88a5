package session

import (
	"math"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// prepared is one live prepared statement. Sessions hold hundreds of thousands of them in all, so it is small: the plan is the
// node's, shared through the plan cache, and the tree is parsed again when a plan is needed that isn't cached.
type prepared struct {
	text   string
	params int
	// db is the database in which names without one are looked up: the current one when it was prepared, as in MySQL.
	db string
	// entry is the plan of the last execution, valid for the environment and the parameter kinds in key.
	entry *plan.Entry
	key   []byte
	// other says that the statement has no plan: it is parsed and dispatched at each execution, with its parameters in Session.args.
	other bool
}

// preparingCopies is how many copies of a text exist while it is prepared: by itself, in the key of its plan, and in the cache.
const preparingCopies = 3

// StmtInfo describes a new prepared statement.
type StmtInfo struct {
	ID     uint32
	Params int
	// ParamTypes are the types that follow from the columns with which placeholders are used, else TypeNull; it may be shorter than Params.
	ParamTypes []types.Type
	Columns    []sqlapi.ColumnInfo
	Warnings   uint16
}

// Prepare makes a prepared statement of a text. sql is borrowed.
func (s *Session) Prepare(sql []byte) (StmtInfo, error) {
	s.counts.add(commandStmtPrepare)
	p, known, err := s.prepare(string(sql))
	if err != nil {
		return StmtInfo{}, s.fail(err)
	}
	s.releaseMemory()
	if s.prepared == nil {
		s.prepared = map[uint32]*prepared{}
	}
	for {
		s.lastStmt++
		if _, taken := s.prepared[s.lastStmt]; !taken && s.lastStmt != 0 {
			break
		}
	}
	s.prepared[s.lastStmt] = p
	return StmtInfo{ID: s.lastStmt, Params: p.params, ParamTypes: known.params, Columns: known.columns}, nil
}

// description is what a client learns of a statement when it is prepared.
type description struct {
	params  []types.Type
	columns []sqlapi.ColumnInfo
}

// prepare parses and plans a text with parameters of unknown type, so that errors and columns are known now.
func (s *Session) prepare(text string) (*prepared, description, error) {
	s.startStatement()
	if err := s.memory.Grow(int64(preparingCopies * len(text))); err != nil {
		return nil, description{}, err
	}
	if err := s.node.reservePrepared(); err != nil {
		return nil, description{}, err
	}
	err := s.keep(len(text))
	if err != nil {
		s.node.preparedLive.Add(-1)
		return nil, description{}, err
	}
	p, known, err := s.analyse(text)
	if err != nil {
		s.dropPrepared(len(text))
		return nil, description{}, err
	}
	p.db = s.db
	return p, known, nil
}

func (s *Session) analyse(text string) (*prepared, description, error) {
	s.params = s.params[:0]
	s.keyBuf = s.appendKey(s.keyBuf[:0], keyUnknown, []byte(text))
	if entry := s.node.Plans.Get(s.keyBuf, s.schema()); entry != nil {
		return s.described(entry.Text, entry.Plan)
	}
	stmt, rest, err := s.parseText(text)
	if err != nil {
		return nil, description{}, err
	}
	notices := s.takeNotices()
	if !syntax.Blank(rest, s.parse) {
		return nil, description{}, nearError(text, rest)
	}
	switch stmt.(type) {
	case *syntax.Query, *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Do:
		if setsVariables(stmt) {
			s.warnOfHint(types.ErNotSupportedYet, "This version of Pando doesn't follow SET_VAR hints of prepared statements")
		}
		env := s.planEnv(text)
		env.UnknownParams, env.Notices = true, notices
		entry, err := s.build1(env, stmt, s.keyBuf)
		if err != nil {
			s.tell(notices)
			return nil, description{}, err
		}
		return s.described(text, entry.Plan)
	case *syntax.Prepare, *syntax.Execute, *syntax.Deallocate, *syntax.Use, *syntax.LockTables, *syntax.UnlockTables, *syntax.LoadData:
		return nil, description{}, types.Errorf(types.ErUnsupportedPs)
	}
	if loose, ok := stmt.(*syntax.Loose); ok && unprepared[loose.Kind] {
		return nil, description{}, types.Errorf(types.ErUnsupportedPs)
	}
	s.tell(notices)
	params := syntax.CountParams(text, s.parse)
	if params > 0 && !s.takesParams(stmt, params) {
		return nil, description{}, types.Errorf(types.ErUnsupportedPs)
	}
	return &prepared{text: text, params: params, other: true}, description{}, nil
}

// unprepared are the kinds of statements without a tree of their own that MySQL does not prepare.
var unprepared = map[string]bool{"GET": true, "SIGNAL": true, "RESIGNAL": true, "SHUTDOWN": true, "RESTART": true, "HELP": true}

// takesParams reports whether a statement that is not planned when it is prepared may have that many parameters: in CREATE TABLE they may
// stand in its query only.
func (s *Session) takesParams(stmt syntax.Statement, params int) bool {
	switch stmt := stmt.(type) {
	case *syntax.Set, *syntax.Kill:
		return true
	case *syntax.Explain:
		return stmt.Stmt != nil
	case *syntax.CreateTable:
		return stmt.Query != nil && syntax.CountParams(syntax.String(stmt.Query), syntax.Options{}) == params
	}
	return false
}

// bindArgs sets the parameters with which a statement without a plan of its own plans its queries.
func (s *Session) bindArgs(env *plan.Env) *plan.Env {
	s.params = append(s.params[:0], s.args...)
	env.ParamTypes, env.OpenPatterns = paramTypes(s.params), openPatterns(s.params)
	return env
}

// described makes the prepared statement of a plan. It fails unless the account may execute it, because its columns tell about the tables.
func (s *Session) described(text string, p *exec.Plan) (*prepared, description, error) {
	if err := s.checkPlan(p); err != nil {
		return nil, description{}, err
	}
	s.tell(p.Notices)
	return &prepared{text: text, params: p.Params}, description{p.ParamTypes, p.Columns}, nil
}

// Execute runs a prepared statement, and closes its cursor. args are borrowed.
func (s *Session) Execute(id uint32, args []types.Value, out Response) error {
	s.closeCursor(id)
	s.counts.add(commandStmtExecute)
	s.beginCommand()
	p := s.prepared[id]
	if p == nil {
		return s.fail(types.Errorf(types.ErUnknownStmtHandler, id, "mysqld_stmt_execute"))
	}
	if s.build.Client != nil {
		args = s.translated(args)
	}
	return s.executePrepared(p, args, out, false, byProtocol)
}

// The ways to execute a prepared statement, as errors call them.
const (
	byText     = "EXECUTE"
	byProtocol = "mysqld_stmt_execute"
)

// translated copies parameters that the client sent, with its strings in the connection's character set.
func (s *Session) translated(args []types.Value) []types.Value {
	out := append([]types.Value(nil), args...)
	for i := range out {
		if out[i].K == types.KindString && out[i].Coll != types.Binary {
			out[i] = s.build.Text(out[i].B)
		}
	}
	return out
}

func (s *Session) executePrepared(p *prepared, args []types.Value, out Response, more bool, by string) error {
	if p.db != s.db {
		db := s.db
		s.switchDB(p.db)
		defer s.switchDB(db)
	}
	if len(args) != p.params {
		s.startStatement()
		return s.fail(types.Errorf(types.ErWrongArguments, "EXECUTE"))
	}
	if p.other {
		stmt, _, err := s.parseNext(p.text)
		if err != nil {
			return s.fail(err)
		}
		s.args = args
		defer func() { s.args = nil }()
		return s.run(stmt, p.text, more, out)
	}
	s.startStatement()
	s.params = append(s.params[:0], args...)
	entry, err := s.preparedPlan(p)
	if err != nil {
		return s.failText(p.text, err)
	}
	if err := limitArgs(entry.Plan.LimitParams, args, by); err != nil {
		return s.failText(p.text, err)
	}
	s.enterStatement(entry, argsBytes(p.text, args))
	if ok, err := s.enter(entry.Plan); err != nil {
		s.leave()
		return s.fail(err)
	} else if ok {
		return s.execute(entry, more, out)
	}
	return s.runEntered(entry, more, out, func() (*plan.Entry, error) { return s.preparedPlan(p) })
}

// limitArgs refuses parameters in LIMIT as MySQL does: EXECUTE takes integers and NULL only. Clients that send parameters by the protocol may send
// texts, and here whole numbers as doubles, too, because some send every number as a double.
func limitArgs(ordinals []int, args []types.Value, by string) error {
	for _, i := range ordinals {
		sign := "unsigned integer"
		if by == byProtocol {
			sign = "SIGNED INTEGER"
		}
		switch v := &args[i]; {
		case v.K == types.KindInt && v.N < 0:
			return types.Errorf(types.ErDataOutOfRange, sign, by)
		case v.K == types.KindInt || v.K == types.KindUint || v.IsNull():
		case by == byProtocol && (v.K == types.KindString || v.K == types.KindFloat && v.Float64() == math.Trunc(v.Float64()) && v.Float64() >= 0):
		default:
			return types.Errorf(types.ErWrongArguments, by)
		}
	}
	return nil
}

// argsBytes is about how large a statement would be with its parameters in the text.
func argsBytes(text string, args []types.Value) int {
	bytes := len(text) + argBytes*len(args)
	for i := range args {
		bytes += len(args[i].B)
	}
	return bytes
}

// argBytes is what a parameter that is no string adds to a text, with its comma.
const argBytes = 8

// preparedPlan finds the plan for the current parameters: the statement's own if nothing changed, else the node's, else a new one.
func (s *Session) preparedPlan(p *prepared) (*plan.Entry, error) {
	s.keyBuf = s.appendParams(s.keyBuf[:0])
	snapshot := s.schema()
	if p.entry != nil && string(p.key) == string(s.keyBuf) && p.entry.Valid(snapshot) {
		s.planFromCache = true
		return p.entry, nil
	}
	p.key, p.entry = append(p.key[:0], s.keyBuf...), nil // the old plan is not what the new key stands for, if no plan follows
	s.keyBuf = s.appendKey(s.keyBuf[:0], keyPrepared, []byte(p.text))
	entry := s.node.Plans.Get(s.keyBuf, snapshot)
	s.planFromCache = entry != nil
	if entry == nil {
		stmt, _, err := s.parseText(p.text)
		if err != nil {
			return nil, err
		}
		s.notices = nil // PREPARE has told them
		env := s.planEnv(p.text)
		env.ParamTypes, env.OpenPatterns = paramTypes(s.params), openPatterns(s.params)
		if entry, err = s.build1(env, stmt, s.keyBuf); err != nil {
			return nil, err
		}
	}
	p.entry = entry
	return entry, nil
}

// appendParams writes what a kept plan depends on besides its text: the environment's generation, which reads lock, and the parameters' kinds.
func (s *Session) appendParams(dst []byte) []byte {
	dst = append(dst, byte(s.generation), byte(s.generation>>8), byte(s.generation>>16), byte(s.generation>>24), byte(s.locksReads()))
	for i := range s.params {
		dst = appendParamKind(dst, &s.params[i])
	}
	return dst
}

// CloseStmt forgets a prepared statement; unknown ids are ignored.
func (s *Session) CloseStmt(id uint32) {
	s.counts.add(commandStmtClose)
	if p, ok := s.prepared[id]; ok {
		s.closeCursor(id)
		delete(s.prepared, id)
		s.dropPrepared(len(p.text))
	}
}

// dropPrepared counts one prepared statement less, whose text had so many bytes.
func (s *Session) dropPrepared(bytes int) {
	s.node.preparedLive.Add(-1)
	_ = s.keep(-bytes) // giving back never fails
}

// ResetStmt answers COM_STMT_RESET, which closes the statement's cursor.
func (s *Session) ResetStmt(id uint32) error {
	s.counts.add(commandStmtReset)
	if s.prepared[id] == nil {
		return types.Errorf(types.ErUnknownStmtHandler, id, "mysqld_stmt_reset")
	}
	s.closeCursor(id)
	return nil
}
