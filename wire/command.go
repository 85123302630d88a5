package wire

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// command executes one command packet and sends its answer. It returns false when the connection is to be closed.
func (c *conn) command(payload []byte) bool {
	c.resp.begin(nil)
	code, body := payload[0], payload[1:]
	if code < numCommands {
		c.count.commands[code].Add(1)
	} else {
		c.count.commands[ComSleep].Add(1)
	}
	switch code {
	case ComQuery:
		return c.attributedQuery(body)
	case ComStmtPrepare:
		return c.prepare(body)
	case ComStmtExecute:
		return c.execute(body)
	case ComStmtFetch:
		return c.fetch(body)
	case ComStmtClose:
		return c.closeStmt(body)
	case ComStmtReset:
		return c.resetStmt(body)
	case ComStmtSendLong:
		return c.sendLong(body)
	case ComQuit:
		return false
	case ComPing:
		return c.answer(c.sess.Ping())
	case ComInitDB:
		return c.answer(c.sess.UseDB(string(body)))
	case ComFieldList:
		return c.fieldList(body)
	case ComStatistics:
		c.resp.appendPayload([]byte(c.sess.Statistics()))
		return c.sent()
	case ComSetOption:
		return c.setOption(body)
	case ComResetConnection:
		c.stmts.clear()
		return c.answer(c.sess.Reset())
	case ComChangeUser:
		return c.changeUser(body)
	case ComProcessInfo:
		return c.query([]byte("SHOW PROCESSLIST"))
	case ComProcessKill:
		return c.processKill(body)
	case ComDebug:
		// There is no debug log to write to; mysqladmin debug wants an EOF.
		c.resp.appendEnd(c.sess.Status(), 0, nil)
		return c.sent()
	case ComShutdown:
		return c.query([]byte("SHUTDOWN"))
	case ComRefresh:
		return c.refresh(body)
	}
	return c.fail(types.Errorf(types.ErUnknownCom))
}

func (c *conn) query(sql []byte) bool {
	kind, start := kindOf(sql), clock.Mono()
	keep := c.finish(c.sess.Query(sql, &c.resp))
	c.measured(kind, start)
	return keep
}

// measured counts how long a command took.
func (c *conn) measured(kind Kind, start time.Duration) {
	took := clock.Since(start)
	c.count.latencies[kind].ObserveDuration(took)
	c.sess.Measured(start, took)
}

func (c *conn) prepare(sql []byte) bool {
	info, err := c.sess.Prepare(sql)
	if err != nil {
		return c.fail(err)
	}
	if info.Params > stmtParamsMax || info.ID == stmtNone {
		c.sess.CloseStmt(info.ID)
		return c.fail(types.Errorf(types.ErPsManyParam))
	}
	c.stmts.add(info.ID, info.Params, kindOf(sql))
	r := &c.resp
	b := appendUint32([]byte{headerOK}, info.ID)
	b = appendUint16(appendUint16(b, uint16(len(info.Columns))), uint16(info.Params))
	r.appendPayload(appendUint16(append(b, 0), info.Warnings))
	_, results := c.sess.ResultEncoding()
	if info.Params > 0 {
		r.enc.Buf, r.seq = appendParamColumns(r.enc.Buf, r.seq, info.Params, info.ParamTypes)
		c.appendOldEOF()
	}
	if len(info.Columns) > 0 {
		if r.enc.Buf, r.seq, err = appendColumns(r.enc.Buf, r.seq, info.Columns, results); err != nil {
			c.stmts.remove(info.ID)
			c.sess.CloseStmt(info.ID)
			return c.fail(err)
		}
		c.appendOldEOF()
	}
	return c.sent()
}

// appendOldEOF ends a list of column definitions, which only old clients expect.
func (c *conn) appendOldEOF() {
	if c.caps&capDeprecateEOF == 0 {
		c.resp.appendEOF(c.sess.Status(), 0)
	}
}

// execute runs a COM_STMT_EXECUTE. It allocates nothing itself (W5).
func (c *conn) execute(body []byte) bool {
	if len(body) < executeHeadLen-1 {
		return c.malformed()
	}
	id, flags := binary.LittleEndian.Uint32(body), body[4]
	s := c.stmts.get(id)
	if s == nil {
		return c.fail(unknownStmt(id, "mysqld_stmt_execute"))
	}
	if s.long != nil && s.long.fault != nil {
		fault := s.long.fault
		c.stmts.dropLong(s)
		return c.fail(fault)
	}
	if err := c.parseArgs(s, body[executeHeadLen-1:], flags); err != nil {
		c.releaseArgs()
		c.stmts.dropLong(s)
		if err == errMalformed {
			return c.malformed()
		}
		return c.fail(err)
	}
	c.resp.stmt, c.resp.enc.Binary = s, true
	kind, start := s.kind, clock.Mono()
	if len(c.attrs.list) > 0 {
		c.sess.SetAttributes(c.attrs.list)
	}
	keep := c.finish(c.sess.Execute(id, &c.args, flags, &c.resp))
	c.measured(kind, start)
	if len(c.attrs.list) > 0 {
		c.sess.SetAttributes(nil)
	}
	c.releaseArgs()
	c.stmts.dropLong(s)
	return keep
}

func (c *conn) fetch(body []byte) bool {
	p := cursor{b: body}
	id, rows := p.uint32(), p.uint32()
	if p.bad {
		return c.malformed()
	}
	s := c.stmts.get(id)
	if s == nil {
		return c.fail(unknownStmt(id, "mysqld_stmt_fetch"))
	}
	c.resp.stmt, c.resp.enc.Binary = s, true
	return c.finish(c.sess.Fetch(id, rows, &c.resp))
}

// closeStmt sends no answer, not even to a malformed packet.
func (c *conn) closeStmt(body []byte) bool {
	p := cursor{b: body}
	if id := p.uint32(); !p.bad {
		c.stmts.remove(id)
		c.sess.CloseStmt(id)
	}
	return true
}

func (c *conn) resetStmt(body []byte) bool {
	p := cursor{b: body}
	id := p.uint32()
	if p.bad {
		return c.malformed()
	}
	s := c.stmts.get(id)
	if s == nil {
		return c.fail(unknownStmt(id, "mysqld_stmt_reset"))
	}
	c.stmts.dropLong(s)
	return c.answer(c.sess.ResetStmt(id))
}

// sendLong sends no answer: the next EXECUTE reports its errors. Data for an unknown statement is dropped, as in MySQL.
func (c *conn) sendLong(body []byte) bool {
	p := cursor{b: body}
	id, param := p.uint32(), p.uint16()
	if p.bad {
		return c.malformed()
	}
	if s := c.stmts.get(id); s != nil {
		c.stmts.addLong(s, param, p.b, int(c.maxPacket.Load()))
	}
	return true
}

func (c *conn) fieldList(body []byte) bool {
	p := cursor{b: body}
	table := string(p.cstringOrRest())
	cols, err := c.sess.FieldList(table, string(p.b))
	if err != nil {
		return c.fail(err)
	}
	r := &c.resp
	_, results := c.sess.ResultEncoding()
	for i := range cols {
		start := len(r.enc.Buf)
		r.enc.Buf = appendColumn(append(r.enc.Buf, 0, 0, 0, 0), &cols[i], results)
		r.enc.Buf = append(r.enc.Buf, lenencNull) // the default value, which no client shows
		r.finishPacket(start)
	}
	r.appendEnd(c.sess.Status(), 0, nil)
	return c.sent()
}

func (c *conn) setOption(body []byte) bool {
	p := cursor{b: body}
	option := p.uint16()
	if p.bad {
		return c.malformed()
	}
	if option != setMultiOn && option != setMultiOff {
		return c.fail(types.Errorf(types.ErUnknownCom))
	}
	c.sess.SetMultiStatements(option == setMultiOn)
	c.resp.appendEnd(c.sess.Status(), 0, nil)
	return c.sent()
}

// processKill goes through the session's own KILL, so that there is one place that decides who may.
func (c *conn) processKill(body []byte) bool {
	p := cursor{b: body}
	id := p.uint32()
	if p.bad {
		return c.malformed()
	}
	return c.query(strconv.AppendUint([]byte("KILL "), uint64(id), 10))
}

// refresh runs the statement that replaced a bit of COM_REFRESH. Several bits at once are refused.
func (c *conn) refresh(body []byte) bool {
	p := cursor{b: body}
	text := ""
	switch p.uint8() {
	case 1:
		text = "FLUSH PRIVILEGES"
	case 2:
		text = "FLUSH LOGS"
	case 4:
		text = "FLUSH TABLES"
	case 16:
		text = "FLUSH STATUS"
	default:
		return c.fail(types.Errorf(types.ErUnknownCom))
	}
	return c.query([]byte(text))
}

func unknownStmt(id uint32, in string) *types.Error {
	return types.Errorf(types.ErUnknownStmtHandler, strconv.FormatUint(uint64(id), 10), in)
}

// malformed answers a packet that cannot be parsed, and ends the connection: the next packets of such a client cannot be trusted to
// mean what they seem to.
func (c *conn) malformed() bool {
	c.complain("malformed packet", "command", c.state.Load()>>8&0xff)
	c.lastWords(types.Errorf(types.ErMalformedPacket))
	return false
}

// answer sends OK or the error of a command without results.
func (c *conn) answer(err error) bool {
	if err != nil {
		return c.fail(err)
	}
	return c.answerOK()
}

func (c *conn) answerOK() bool {
	status, state := c.sess.Status(), c.sess.SessionState()
	if len(state) > 0 {
		status |= sqlapi.StatusSessionChanged
	}
	c.resp.appendOK(headerOK, 0, 0, status, 0, "", state)
	return c.sent()
}

// sent sends an answer that wire made itself.
func (c *conn) sent() bool {
	c.resp.done = true
	return c.finish(nil)
}

// fail sends an error for a command that has sent nothing.
func (c *conn) fail(err error) bool { return c.finish(err) }

// finish sends what is left of the answer to a command that ended with err. It returns false when the connection has to be
// closed: nothing can be sent, part of a result has been sent that is now known to be wrong, or the truth about a commit
// is not known.
func (c *conn) finish(err error) bool {
	r := &c.resp
	if err == nil && !r.done && r.err == nil {
		err = errNoAnswer
	}
	if err == nil {
		if err = r.flush(); err == nil {
			return true
		}
	}
	if r.err != nil || errors.Is(err, kvapi.ErrUndetermined) {
		return false
	}
	r.cut()
	r.appendError(c.clientError(err))
	c.count.errors.Add(1)
	r.done = true
	return r.flush() == nil
}

var errNoAnswer = errors.New("the session gave no answer")

// clientError returns the error to send for err. An error that is not a types.Error is logged in full, and the client gets 1105.
func (c *conn) clientError(err error) *types.Error {
	if known, ok := errors.AsType[*types.Error](err); ok {
		c.report(known)
		return known
	}
	if c.srv.logs.allow(c.srv.now.Load()) {
		c.srv.opt.Logger.Error("unexpected error of a statement", "conn", c.id, "error", err)
	}
	return types.Errorf(types.ErUnknownError, "internal error")
}

var _ sqlapi.Sink = (*response)(nil)
