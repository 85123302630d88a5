package session

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// replansMax bounds how often a statement is planned again because the schema changed under it. The first replansQuick follow at once, the
	// others after replanPause: a schema change publishes its tables and then their gates, and the operating system may hold it up between.
	replansMax   = 100
	replansQuick = 10
	replanPause  = 20 * time.Millisecond
	// keptTextMax bounds the buffers for texts that an idle session keeps for its next one.
	keptTextMax = 64 << 10
)

// The kinds of plan cache keys: prepared texts and normalised texts never share a key.
const (
	keyPrepared = 'P'
	keyUnknown  = 'U' // prepared, with parameters of unknown type
	keyText     = 'T'
)

// Query runs all statements of a text in order and answers each. sql is borrowed.
func (s *Session) Query(sql []byte, out Response) error {
	s.beginCommand()
	if done, err := s.queryCached(sql, out); done {
		return err
	}
	if err := s.holdText(len(sql)); err != nil {
		s.startStatement()
		return s.fail(err)
	}
	text := string(sql) // trees and plans keep parts of it
	for first := true; ; first = false {
		stmt, rest, err := s.parseCommand(text)
		if err != nil {
			if onlyComment(err, text) {
				s.startStatement()
				return s.done(sqlapi.Result{}, false, out)
			}
			return s.fail(err)
		}
		more := !syntax.Blank(rest, s.parse)
		if more && !s.client.MultiStatements {
			return s.fail(nearError(text, rest))
		}
		if more || !first {
			s.nextOfBatch()
		}
		if err := s.run(stmt, text[:len(text)-len(rest)], more, out); err != nil || !more {
			return err
		}
		if err := s.poll(); err != nil {
			s.startStatement()
			return s.fail(err) // whatever comes next: a COMMIT runs when it is killed, but not behind what was
		}
		text = rest
	}
}

// beginCommand releases what is left of the previous command.
func (s *Session) beginCommand() {
	s.lastFromCache = s.planFromCache
	if s.event.digest != nil { // whoever runs this session does not measure
		s.endEvent(clock.Mono(), 0)
	}
}

// onlyComment reports whether a text that has no statement has a comment, which clients send by itself. MySQL answers OK then.
func onlyComment(err error, text string) bool {
	var e *types.Error
	return errors.As(err, &e) && e.Number == types.ErEmptyQuery && strings.Trim(text, " \t\r\n\v\f;") != ""
}

// parseNext parses the first statement of a text that has yet to start. Its tree counts as that statement's memory.
func (s *Session) parseNext(text string) (syntax.Statement, string, error) {
	if err := s.holdText(len(text)); err != nil {
		return nil, "", err
	}
	stmt, rest, err := s.parseText(text)
	if err != nil {
		return nil, "", err
	}
	s.treeBytes = s.memory.Used()
	return stmt, rest, nil
}

// parseCommand is parseNext of a text that no PREPARE has: a placeholder in it is a syntax error.
func (s *Session) parseCommand(text string) (syntax.Statement, string, error) {
	s.parse.NoParams = true
	defer func() { s.parse.NoParams = false }()
	return s.parseNext(text)
}

// holdText begins to count a statement's memory, whose first part is the copy of its text.
func (s *Session) holdText(bytes int) error {
	s.memory.Reset(s.memQuota)
	return s.memory.Grow(int64(bytes))
}

// parseText parses the first statement of a text, as part of the running statement.
func (s *Session) parseText(text string) (syntax.Statement, string, error) {
	if s.maxExecution > 0 && len(text) >= limitedTextMin && beginsQuery(text) {
		defer s.limitPlanning()()
	}
	opt := s.parse
	s.notices = nil
	opt.Notices = &s.notices
	stmt, rest, err := syntax.Parse(text, opt)
	if err != nil {
		s.notices = nil
		return nil, "", parseError(err)
	}
	return stmt, rest, nil
}

// parseError converts a syntax error to one with MySQL's number and SQLSTATE.
func parseError(err error) error {
	if known := (*types.Error)(nil); errors.As(err, &known) {
		return known // the statement was ended
	}
	var e *syntax.Error
	if errors.As(err, &e) {
		return types.NewError(uint16(e.Code), e.Error())
	}
	return types.NewError(types.ErParseError, err.Error())
}

// nearError is the syntax error for the rest of a text, where nothing more may follow.
func nearError(text, rest string) error {
	near := strings.TrimLeft(rest, " \t\r\n;")
	line := 1 + strings.Count(text[:len(text)-len(near)], "\n")
	const what = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use"
	return types.Errorf(types.ErParseError, what, near, line)
}

// literalParam decodes one lifted literal. Strings alias the text of the statement where they hold no escapes.
func (s *Session) literalParam(i int) types.Value {
	text := s.normal.Value(i)
	raw := unsafe.Slice(unsafe.StringData(text), len(text))
	switch s.normal.Literals[i].Kind {
	case syntax.LiftedInt:
		n := int64(0)
		for _, c := range raw {
			n = n*10 + int64(c-'0')
		}
		return types.Int(n)
	case syntax.LiftedDecimal:
		v, _, _ := types.ParseDecimal(raw) // the lexer has checked its form
		return v
	case syntax.LiftedFloat:
		f, _ := types.ParseFloat(raw)
		return types.Float(f)
	}
	return s.build.Text(raw)
}

// queryCached runs the text if a plan for its normalised form is cached or can be made. done is false if the text has to be parsed as
// it stands.
func (s *Session) queryCached(sql []byte, out Response) (done bool, err error) {
	text := unsafe.String(unsafe.SliceData(sql), len(sql)) // read only during this call
	if !syntax.Normalize(text, s.parse, &s.normal) {
		return false, nil
	}
	s.startStatement()
	s.liftedParams()
	s.keyBuf = s.appendKey(s.keyBuf[:0], keyText, s.normal.Text)
	entry := s.node.Plans.Get(s.keyBuf, s.schema())
	s.planFromCache = entry != nil
	if entry == nil {
		if err = s.memory.Grow(int64(len(sql))); err != nil {
			return true, s.fail(err)
		}
		own := string(sql)
		if entry, err = s.planText(own); err != nil {
			return true, s.failText(own, err)
		}
		if entry == nil {
			return false, nil
		}
	}
	return true, s.runPlan(entry, len(sql), false, out, func() (*plan.Entry, error) { return s.planTextAgain(strings.Clone(text)) })
}

// planTextAgain plans a normalised text whose plan is out of date: with its literals if they decide about indexes by now, for one execution.
func (s *Session) planTextAgain(text string) (*plan.Entry, error) {
	entry, err := s.planText(text)
	if entry != nil || err != nil {
		return entry, err
	}
	stmt, _, err := s.parseText(text)
	if err != nil {
		return nil, err
	}
	return s.build1(s.planEnv(text), stmt, nil)
}

// liftedParams turns the literals that Normalize lifted into parameters.
func (s *Session) liftedParams() {
	s.params = s.params[:0]
	for i := range s.normal.Literals {
		s.params = append(s.params, s.literalParam(i))
	}
}

// planText plans a normalised text, of which it keeps parts: its lifted literals become parameters. It returns nil for a statement that has to run without lifting.
func (s *Session) planText(text string) (*plan.Entry, error) {
	stmt, rest, err := s.parseText(text)
	if err != nil {
		return nil, err
	}
	if rest != "" || setsVariables(stmt) {
		return nil, nil
	}
	env := s.planEnv(text)
	env.ParamTypes, env.OpenPatterns = paramTypes(s.params), openPatterns(s.params)
	env.Lifted = make(map[syntax.Pos]int, len(s.normal.Literals))
	for i := range s.normal.Literals {
		env.Lifted[syntax.Pos(s.normal.Literals[i].Start)] = i
	}
	env.Shown, env.Notices = string(s.normal.Text), s.takeNotices()
	entry, err := s.build1(env, stmt, s.keyBuf)
	if errors.Is(err, plan.ErrLifted) {
		return nil, nil
	}
	if err != nil {
		s.tell(env.Notices)
	}
	return entry, err
}

// build1 builds one plan and caches it under key if it may be shared; key nil never caches.
func (s *Session) build1(env *plan.Env, stmt syntax.Statement, key []byte) (*plan.Entry, error) {
	if _, ok := stmt.(*syntax.Query); ok && s.maxExecution > 0 {
		defer s.limitPlanning()()
	}
	text := env.Text
	if env.Shown != "" {
		text = env.Shown
	}
	if s.info.Load() == nil { // planning computes constants, which may take long
		s.info.Store(&text)
		defer s.info.Store(nil)
	}
	p, shareable, err := plan.Build(env, stmt)
	if err != nil {
		return nil, s.planError(err)
	}
	p.MaxTime, p.Command = hintedTime(stmt), commandOf(stmt)
	if shareable && key != nil && env.Locked == nil {
		return s.node.Plans.Put(key, text, s.planDigest(text, env.Text, p, true), p, env.Snapshot), nil
	}
	entry := &plan.Entry{Plan: p, Text: text}
	if env.Text != "" && !env.UnknownParams {
		entry.Digest = s.planDigest(text, env.Text, p, false)
	}
	return entry, nil
}

func (s *Session) planEnv(text string) *plan.Env {
	return &plan.Env{Snapshot: s.schema(), Database: s.db, Build: &s.build, Stats: s.node.Stats, System: s.systemTables(),
		Text: text, Poll: s.poll, Merges: s.merges, User: s.client.User, Host: s.client.Host, SafeUpdates: s.get("sql_safe_updates") == "ON", ViewsNeedKeys: s.get("updatable_views_with_limit") == "NO", SelectLimit: s.selectLimit(), LockReads: s.locksReads(), Sight: s.account(), Locked: s.tableLocks(), Workers: &s.workers,
		FileCharset: s.get("character_set_database"), PlainBackslashes: s.context.SQLMode&types.ModeNoBackslashEscapes != 0}
}

// locksReads says which plain reads are locking ones: all in a SERIALIZABLE transaction, also in the one that a statement under
// autocommit=0 is about to open, and those of a write that is such a transaction by itself.
func (s *Session) locksReads() plan.LockReads {
	level := s.level
	switch {
	case s.tx != nil:
		level = s.tx.Level()
	case s.nextLevel != nil:
		level = *s.nextLevel
	}
	switch {
	case level != txn.Serializable:
		return plan.LockReadsOfNone
	case s.tx == nil && s.autocommit:
		return plan.LockReadsOfWrites
	}
	return plan.LockReadsOfAll
}

// appendKey writes the plan cache's key of a text: its kind, which reads lock, the session's environment,
// the kinds of its parameters, the text.
func (s *Session) appendKey(dst []byte, kind byte, text []byte) []byte {
	dst = append(dst, kind, byte(s.locksReads()))
	dst = append(dst, s.env...)
	for i := range s.params {
		dst = appendParamKind(dst, &s.params[i])
	}
	dst = append(dst, 0xff)
	return append(dst, text...)
}

// run executes one parsed statement and answers it.
func (s *Session) run(stmt syntax.Statement, text string, more bool, out Response) error {
	switch stmt := stmt.(type) {
	case *syntax.Query, *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Do, *syntax.LoadData:
		s.startStatement()
		if load, ok := stmt.(*syntax.LoadData); ok {
			if err := s.startLoad(load, out); err != nil {
				return s.fail(err)
			}
			defer func() { s.loading = nil }()
		}
		if setsVariables(stmt) {
			defer s.hintedVariables(stmt)()
		}
		clear(s.params)
		s.params, s.planFromCache = s.params[:0], false
		again := func() (*plan.Entry, error) { return s.build1(s.planEnv(text), stmt, nil) }
		entry, err := again()
		if err != nil {
			return s.failText(text, err)
		}
		return s.runPlan(entry, len(text), more, out, again)
	}
	return s.runOther(stmt, text, more, out)
}

// runPlan executes the plan of a statement with so many bytes of text and parameters under the schema's protection, and answers. again plans
// anew when the schema has changed meanwhile.
func (s *Session) runPlan(entry *plan.Entry, bytes int, more bool, out Response, again func() (*plan.Entry, error)) error {
	s.enterStatement(entry, bytes)
	return s.runEntered(entry, more, out, again)
}

// runEntered is runPlan for a statement that has entered. Nothing may wait for others' statements any more: enterAgain may have the use of
// tables by then, for which a schema change waits.
func (s *Session) runEntered(entry *plan.Entry, more bool, out Response, again func() (*plan.Entry, error)) error {
	entry, err := s.enterAgain(entry, again)
	if err != nil {
		return s.fail(err)
	}
	return s.execute(entry, more, out)
}

// enterStatement shows the statement's text in the process list, until leave, and waits for the memory of a bulk statement.
func (s *Session) enterStatement(entry *plan.Entry, bytes int) {
	s.info.Store(&entry.Text)
	if entry.Digest != nil { // else it is part of a statement that has one
		s.event.digest = entry.Digest
	}
	s.enterBulk(entry.Plan, bytes)
}

// opensTxn reports whether a statement opens the implicit transaction of autocommit=0.
func (s *Session) opensTxn(p *exec.Plan) bool {
	return s.tx == nil && !s.autocommit && len(p.Tables) > 0
}

// awaitReplan waits for replanPause, or until the statement is interrupted.
func (s *Session) awaitReplan() error {
	timer := clock.NewTimer(replanPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.interrupt.Done():
		return exec.MapError(s.interrupt.Err(), &s.interrupt)
	}
}

// enterAgain declares a plan's tables used and returns the plan, or a newer one if the schema has changed meanwhile.
func (s *Session) enterAgain(entry *plan.Entry, again func() (*plan.Entry, error)) (*plan.Entry, error) {
	for attempt := 0; ; attempt++ {
		ok, err := s.enter(entry.Plan)
		if ok {
			return entry, nil
		}
		if err == nil && attempt >= replansQuick {
			err = s.awaitReplan()
		}
		switch {
		case err != nil:
		case attempt == replansMax:
			err = types.Errorf(types.ErTableDefChanged)
		default:
			entry, err = again()
		}
		if err != nil {
			s.leave() // Wait may have declared a table as used, but there is no plan: schema changes would wait for this session's next statement
			return nil, err
		}
	}
}

// enter declares the plan's tables used. It reports false if the plan is out of date.
func (s *Session) enter(p *exec.Plan) (bool, error) {
	mode := catalog.UseRead
	if s.tx == nil && s.autocommit {
		mode = catalog.UseBrief
	}
	for i := range p.Tables {
		t, use := p.Tables[i].Table, mode|p.Tables[i].Use
		if result := s.use.Enter(t, use); result != catalog.Entered {
			if entered, err := s.barred(t, use, result); !entered {
				return false, err
			}
		}
	}
	return true, nil
}

// leave ends what enterStatement and enterAgain have begun.
func (s *Session) leave() {
	s.info.Store(nil)
	s.releaseUse()
	s.leaveBulk()
}

// releaseUse ends the use of tables, unless a transaction goes on with it.
func (s *Session) releaseUse() {
	if s.tx == nil {
		s.use.Release()
	}
}

// execute runs a valid plan and answers.
func (s *Session) execute(entry *plan.Entry, more bool, out Response) error {
	p := entry.Plan
	s.counts.add(p.Command)
	if err := s.admit(p); err != nil {
		s.leave()
		return s.fail(err)
	}
	limit := s.maxExecution
	if p.MaxTime > 0 {
		limit = p.MaxTime
	}
	if limit > 0 && p.IsQuery {
		defer s.limitTime(max(limit-s.planned, time.Millisecond))()
	}
	s.prepareRuntime(p)
	result, err := s.runFiled(p, out)
	s.countEnd(p, err)
	if err != nil {
		err = s.statementError(err)
		s.leave()
		return s.fail(err)
	}
	if !p.IsQuery && result.AffectedRows > 0 {
		s.countChanges(p, int64(result.AffectedRows))
	}
	err = s.answer(p, result, more, out)
	s.leave()
	return err
}

// countEnd counts the end of a statement that has used tables. As in MySQL, one in a transaction ends by itself, too.
func (s *Session) countEnd(p *exec.Plan, err error) {
	if len(p.Tables) == 0 {
		return
	}
	s.txUsed = s.tx != nil
	if err != nil {
		s.runtime.Work.Add(exec.Rollbacks, 1)
	} else {
		s.runtime.Work.Add(exec.Commits, 1)
	}
}

// changesBatch is how many changed rows of one table a session gathers before it tells the statistics.
const changesBatch = 64

// tableChange counts rows of a table that were written.
type tableChange struct {
	table *catalog.Table
	rows  int64
}

// countChanges counts rows that a statement wrote, for the statistics: those of the first table that it changes. Those of a transaction wait for
// its commit, before which nobody who looks at the table sees them.
func (s *Session) countChanges(p *exec.Plan, rows int64) {
	for i := range p.Tables {
		t := &p.Tables[i]
		if !t.Write || t.Table.View != nil || t.Table.Temporary != nil { // statistics are of what all know
			continue
		}
		if s.tx == nil {
			s.countChanged(t.Table, rows)
			return
		}
		at := slices.IndexFunc(s.txChanges, func(c tableChange) bool { return c.table == t.Table })
		if at < 0 {
			at = len(s.txChanges)
			s.txChanges = append(s.txChanges, tableChange{table: t.Table})
		}
		s.txChanges[at].rows += rows
		return
	}
}

// countChanged counts rows of a table that others see now.
func (s *Session) countChanged(t *catalog.Table, rows int64) {
	if s.changed != t {
		s.tellChanges()
		s.changed = t
	}
	if s.changedRows += rows; s.changedRows >= changesBatch {
		s.tellChanges()
	}
}

// endChanges counts what the transaction that ends has written, if it is committed.
func (s *Session) endChanges(committed bool) {
	for i := range s.txChanges {
		if committed {
			s.countChanged(s.txChanges[i].table, s.txChanges[i].rows)
		}
		s.txChanges[i].table = nil
	}
	s.txChanges = s.txChanges[:0]
}

func (s *Session) tellChanges() {
	if s.changed != nil && s.changedRows > 0 {
		s.node.Stats.Changed(s.changed, s.changedRows)
	}
	s.changed, s.changedRows = nil, 0
}

// admit fails if the statement was killed while it was parsed, refuses writes in a read-only transaction, checks privileges, and opens the
// implicit transaction of autocommit=0.
func (s *Session) admit(p *exec.Plan) error {
	if err := s.poll(); err != nil {
		return err
	}
	if err := s.checkPlan(p); err != nil {
		return err
	}
	if err := p.CheckDates(&s.context, s.params); err != nil {
		return err
	}
	if s.opensTxn(p) {
		s.openImplicit()
	}
	if s.tx != nil && s.tx.Optimistic() {
		s.tx.LockEarly(locksEarly(p))
	}
	if p.NeedsTxn && !p.IsQuery && writesShared(p) {
		if s.tx != nil && s.txReadOnly || s.tx == nil && s.readOnly {
			return types.Errorf(types.ErCantExecuteInReadOnlyTransaction)
		}
		s.txShared = true
	}
	return s.admitTemporary(p)
}

// prepareRuntime sets what exec needs for this execution. The values were put into s.params.
func (s *Session) prepareRuntime(p *exec.Plan) {
	for len(s.params) < p.Params+p.Slots {
		s.params = append(s.params, types.Value{})
	}
	s.ctx.Params = s.params
	s.insertIDGiven = false
	s.context.Strict = !p.IsQuery && !p.OnlyWarns && s.context.SQLMode&types.ModeStrict != 0
	s.tell(p.Notices)
	s.tell(p.Warnings)
	s.runtime.Txn = s.tx
	if s.tx == nil && p.NeedsTxn {
		s.runtime.TxnOptions = s.txnOptions()
		s.runtime.TxnOptions.ReadOnly = s.runtime.TxnOptions.ReadOnly && p.IsQuery // admit has refused all others but those of temporary tables
		s.nextLevel, s.nextReadOnly = nil, nil
	}
	if s.tx != nil {
		s.tx.BeginStatement()
	}
}

// statementError undoes what a failed statement did and names its error as MySQL does.
func (s *Session) statementError(err error) error {
	err = exec.MapError(err, &s.interrupt)
	var failure *types.Error
	if errors.As(err, &failure) && failure.Number == types.ErLockDeadlock {
		s.noteDeadlock()
	}
	s.rolledBack()
	if s.tx == nil {
		return err
	}
	if errors.Is(err, exec.ErrUndetermined) {
		s.closing = true
		return err
	}
	var e *types.Error
	if errors.As(err, &e) && (e.Number == types.ErLockDeadlock || e.Number == types.ErCheckRead || e.Number == types.ErWriteConflict) {
		s.rollback() // the victim of a deadlock loses its whole transaction
		return err
	}
	s.tx.RollbackStatement()
	return err
}

// answer ends a statement that succeeded.
func (s *Session) answer(p *exec.Plan, result sqlapi.Result, more bool, out Response) error {
	switch {
	case p.IsQuery:
	case s.runtime.LastGeneratedID != 0:
		s.lastInsertID = s.runtime.LastGeneratedID
	case s.insertIDGiven:
		result.InsertID = s.lastInsertID
	}
	s.noteStatement(p, &result)
	s.rowCount = int64(result.AffectedRows)
	if result.HasRows {
		s.rowCount = -1
		s.foundRows = s.runtime.FoundRowsCount
	} else if _, file := p.Root.(*exec.IntoFile); file {
		s.foundRows = result.AffectedRows
	}
	return s.done(result, more, out)
}

// done sends the end of an answer with the session's status.
func (s *Session) done(result sqlapi.Result, more bool, out Response) error {
	s.event = event{digest: s.event.digest, memory: s.memory.Peak()}
	s.releaseMemory()
	s.diagnostics.take(&s.context, nil)
	result.Warnings = uint16(min(s.diagnostics.count(), 65535))
	s.event.warnings = uint64(s.diagnostics.total)
	if result.HasRows {
		s.event.sent = result.AffectedRows
	} else {
		s.event.affected = result.AffectedRows
	}
	result.Status = s.status()
	if s.track.pending || s.track.on && s.track.transaction != "OFF" {
		if result.State = s.SessionState(); result.State != nil {
			result.Status |= sqlapi.StatusSessionChanged
		}
	}
	return out.Done(result, more)
}

// releaseMemory releases a statement's memory: an idle session takes nothing of Node.Memory.
func (s *Session) releaseMemory() {
	s.ctx.Release()
	s.memory.Reset(s.memQuota)
	if s.node.Memory.Scarce() {
		s.runtime.Shed()
	}
	s.planned = 0
	if cap(s.normal.Text) > keptTextMax || s.normal.SourceBytes() > keptTextMax {
		s.normal = syntax.Normalized{}
	}
	clear(s.params) // they borrow from the text or the packet, which may be long
	if cap(s.keyBuf) > keptTextMax {
		s.keyBuf = nil
	}
}

// failText is fail for a statement that has no plan. What is no statement is not counted, as in MySQL.
func (s *Session) failText(text string, err error) error {
	var e *types.Error
	if !errors.As(err, &e) || e.Number != types.ErParseError {
		s.event.digest = s.newDigest(text, text, false)
	}
	return s.fail(err)
}

// fail records an error for SHOW WARNINGS and returns it for the client.
func (s *Session) fail(err error) error {
	s.event = event{digest: s.event.digest, memory: s.memory.Peak(), errors: 1}
	s.releaseMemory()
	var e *types.Error
	if errors.As(err, &e) {
		s.diagnostics.take(&s.context, e)
		s.event.warnings = uint64(s.context.WarningCount())
		s.rowCount = -1
		return e
	}
	if errors.Is(err, kvapi.ErrUndetermined) {
		s.closing = true
	}
	return err
}
