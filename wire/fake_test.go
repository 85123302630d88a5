package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// fakeBackend knows a few accounts and opens fakeSessions.
type fakeBackend struct {
	mu       sync.Mutex // guards the fields below
	users    map[string]Credential
	native   float64 // share of accounts
	infos    []*ConnInfo
	sessions []*fakeSession
	closed   atomic.Int64
	opened   atomic.Int64
	sleeping atomic.Int64
	hold     chan struct{} // if set before the first statement, STUBBORN waits until it is closed
}

func newFakeBackend() *fakeBackend {
	return &fakeBackend{users: map[string]Credential{
		"root":   {Plugin: password.CachingSHA2, Account: "root@localhost"},
		"sbtest": {Plugin: password.Native, Account: "sbtest@%"},
		"sha":    {Plugin: password.CachingSHA2, Auth: password.HashCachingSHA2([]byte("secret")), Account: "sha@%"},
		"native": {Plugin: password.Native, Auth: password.HashNative([]byte("secret")), Account: "native@%"},
		"tls":    {Plugin: password.CachingSHA2, Auth: password.HashCachingSHA2([]byte("secret")), RequireTLS: true, Account: "tls@%"},
		// numeric is the account of a client over TCP on this machine.
		"numeric": {Plugin: password.Native, Account: "numeric@127.0.0.1"},
		"locked":  {Plugin: password.Native, Auth: password.HashNative([]byte("secret")), Locked: true, Account: "locked@%"},
	}}
}

func (b *fakeBackend) User(name, host, addr string) (Credential, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.users[name]
	if name == "numeric" && (host != localhost || addr != "127.0.0.1") {
		return Credential{}, false
	}
	return c, ok
}

// NativeShare is what the test says, so that it can tell what names without an account get.
func (b *fakeBackend) NativeShare() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.native
}

func (b *fakeBackend) OpenSession(info *ConnInfo) (Session, error) {
	if info.DB == "nosuch" {
		return nil, types.Errorf(types.ErBadDB, info.DB)
	}
	if info.DB == "broken" {
		return nil, errors.New("disk on fire")
	}
	s := &fakeSession{backend: b, info: info, stmts: map[uint32]*fakeStmt{}, multi: info.MultiStatements}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.infos = append(b.infos, info)
	b.sessions = append(b.sessions, s)
	b.opened.Add(1)
	return s, nil
}

func (b *fakeBackend) lastInfo() *ConnInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.infos[len(b.infos)-1]
}

type fakeStmt struct {
	params int
	cols   []sqlapi.ColumnInfo
	sql    string
	cursor int // rows left of an open cursor
}

// fakeSession executes a toy language; see run.
type fakeSession struct {
	backend *fakeBackend
	info    *ConnInfo
	intr    kvapi.Interrupt
	stmts   map[uint32]*fakeStmt
	nextID  uint32
	multi   bool
	db      string
	zone    *time.Location

	attributes []sqlapi.Attribute
}

var (
	textType   = types.Type{ID: types.TypeVarchar, Length: 255, Coll: types.Utf8mb40900AICI}
	bigintType = types.Type{ID: types.TypeBigInt, Length: -1}
	textCols   = []sqlapi.ColumnInfo{{Name: "v", Type: textType}}
	pairCols   = []sqlapi.ColumnInfo{
		{Schema: "db", Table: "t", OrgTable: "t", Name: "id", OrgName: "id", Type: bigintType, NotNull: true, PriKey: true, AutoInc: true},
		{Schema: "db", Table: "t", OrgTable: "t", Name: "c", OrgName: "c", Type: textType},
	}
)

func (s *fakeSession) ok(out Response, more bool) error {
	return out.Done(sqlapi.Result{AffectedRows: 3, InsertID: 7, Warnings: 1, Status: s.Status(), Info: "Records: 3"}, more)
}

func (s *fakeSession) Measured(start, took time.Duration) {}

func (s *fakeSession) Query(sql []byte, out Response) error {
	parts := [][]byte{sql}
	if s.multi {
		parts = bytes.Split(sql, []byte(";"))
	}
	for i, part := range parts {
		if err := s.run(strings.TrimSpace(string(part)), out, i < len(parts)-1); err != nil {
			return err
		}
	}
	return nil
}

// rows sends n rows (i, text).
func (s *fakeSession) rows(out Response, cols []sqlapi.ColumnInfo, n int, text []byte) error {
	enc, err := out.Columns(cols)
	if err != nil {
		return err
	}
	for i := range n {
		enc.StartRow(2)
		id, c := types.Int(int64(i)), types.String(text, types.Utf8mb40900AICI)
		enc.Value(&bigintType, &id)
		enc.Value(&textType, &c)
		enc.EndRow()
		if err := out.RowDone(); err != nil {
			return err
		}
		if err := out.(sqlapi.Flusher).Flush(); err != nil { // as exec does between pages
			return err
		}
	}
	return nil
}

func (s *fakeSession) run(sql string, out Response, more bool) error {
	verb, rest, _ := strings.Cut(sql, " ")
	done := func(err error) error {
		if err != nil {
			return err
		}
		return out.Done(sqlapi.Result{HasRows: true, Status: s.Status(), Warnings: 2}, more)
	}
	a, b := numbers(rest)
	switch strings.ToUpper(verb) {
	case "ROWS": // ROWS n size
		return done(s.rows(out, pairCols, a, bytes.Repeat([]byte("x"), b)))
	case "NAMED": // NAMED n: a column whose name has n bytes
		return done(s.rows(out, namedCols(a), 1, nil))
	case "LEN": // the length of the statement
		return done(s.rows(out, pairCols, 1, strconv.AppendInt(nil, int64(len(sql)), 10)))
	case "ATTRIBUTES":
		var list []byte
		for i := range s.attributes {
			list = fmt.Appendf(list, "%s=%s;", s.attributes[i].Name, describe(&s.attributes[i].Value))
		}
		return done(s.rows(out, pairCols, 1, list))
	case "HALF": // HALF n size: n rows, then a row begun, then an error
		if err := s.rows(out, pairCols, a, bytes.Repeat([]byte("x"), b)); err != nil {
			return err
		}
		out.(*response).enc.StartRow(2)
		return types.Errorf(types.ErQueryInterrupted)
	case "SLEEP":
		s.backend.sleeping.Add(1)
		defer s.backend.sleeping.Add(-1)
		select {
		case <-s.intr.Done():
			if s.intr.Reason() == kvapi.ReasonNone {
				return errors.New("woken without a reason")
			}
			return types.Errorf(types.ErQueryInterrupted)
		case <-time.After(time.Duration(a) * time.Millisecond):
			return s.ok(out, more)
		}
	case "STUBBORN": // does not poll its interrupt
		s.backend.sleeping.Add(1)
		defer s.backend.sleeping.Add(-1)
		if hold := s.backend.hold; hold != nil {
			<-hold
		} else {
			time.Sleep(time.Duration(a) * time.Millisecond)
		}
		return s.ok(out, more)
	case "BUFFERED": // fails if more than so many bytes wait to be sent
		if n := cap(out.(*response).enc.Buf); n > a {
			return fmt.Errorf("%d bytes wait to be sent", n)
		}
		return s.ok(out, more)
	case "FAIL":
		return types.Errorf(types.ErNoSuchTable, "db", "t")
	case "ERROR": // ERROR number
		return types.NewError(uint16(a), "as asked")
	case "FAULT":
		return fmt.Errorf("secret detail")
	case "UNKNOWN":
		return fmt.Errorf("commit: %w", kvapi.ErrUndetermined)
	case "PANIC":
		panic("as asked")
	case "SILENT":
		return nil
	}
	return s.ok(out, more)
}

func namedCols(n int) []sqlapi.ColumnInfo {
	cols := append([]sqlapi.ColumnInfo(nil), pairCols...)
	cols[1].Name = strings.Repeat("n", n)
	return cols
}

func numbers(s string) (a, b int) {
	f := append(strings.Fields(s), "0", "0")
	a, _ = strconv.Atoi(f[0])
	b, _ = strconv.Atoi(f[1])
	return a, b
}

func (s *fakeSession) SetAttributes(attrs []sqlapi.Attribute) { s.attributes = attrs }

func (s *fakeSession) Prepare(sql []byte) (StmtInfo, error) {
	text := string(sql)
	if strings.HasPrefix(text, "BEGIN") {
		return StmtInfo{}, types.Errorf(types.ErUnsupportedPs)
	}
	s.nextID++
	st := &fakeStmt{sql: text, params: strings.Count(text, "?")}
	switch {
	case strings.HasPrefix(text, "ECHO"):
		for i := range st.params {
			st.cols = append(st.cols, sqlapi.ColumnInfo{Name: "p" + strconv.Itoa(i), Type: textType})
		}
	case strings.HasPrefix(text, "ROWS"):
		st.cols = pairCols
	case strings.HasPrefix(text, "NAMED"):
		n, _ := numbers(text[len("NAMED "):])
		st.cols = namedCols(n)
	}
	s.stmts[s.nextID] = st
	return StmtInfo{ID: s.nextID, Params: st.params, Columns: st.cols, Warnings: 0}, nil
}

func (s *fakeSession) Execute(id uint32, args *Args, cursor byte, out Response) error {
	st := s.stmts[id]
	if st == nil {
		return types.Errorf(types.ErUnknownStmtHandler, strconv.Itoa(int(id)), "execute")
	}
	if len(args.Values) != st.params {
		return fmt.Errorf("%d values for %d parameters", len(args.Values), st.params)
	}
	if strings.HasPrefix(st.sql, "ECHO") {
		enc, err := out.Columns(st.cols)
		if err != nil {
			return err
		}
		enc.StartRow(len(args.Values))
		for i := range args.Values {
			if args.Values[i].IsNull() {
				enc.Null()
				continue
			}
			text := types.String(describe(&args.Values[i]), types.Utf8mb40900AICI)
			enc.Value(&textType, &text)
		}
		enc.EndRow()
		if err := out.RowDone(); err != nil {
			return err
		}
		return out.Done(sqlapi.Result{HasRows: true, Status: s.Status()}, false)
	}
	if cursor&CursorReadOnly != 0 && strings.HasPrefix(st.sql, "ROWS") {
		n, _ := numbers(st.sql[5:])
		st.cursor = n
		if _, err := out.Columns(st.cols); err != nil {
			return err
		}
		return out.Done(sqlapi.Result{HasRows: true, Status: s.Status() | sqlapi.StatusCursorExists}, false)
	}
	return s.run(st.sql, out, false)
}

// describe shows a value with its kind.
func describe(v *types.Value) []byte {
	kind := map[types.Kind]string{types.KindInt: "int", types.KindUint: "uint", types.KindFloat: "float", types.KindString: "text",
		types.KindDatetime: "datetime", types.KindDate: "date", types.KindTime: "time", types.KindDecimal: "decimal"}[v.K]
	if v.IsBinary() {
		kind = "bytes"
	}
	if v.K == types.KindString && len(v.B) > 100 {
		return fmt.Appendf(nil, "%s of %d", kind, len(v.B))
	}
	return types.AppendText(append([]byte(kind), ' '), nil, v)
}

func (s *fakeSession) Fetch(id, rows uint32, out Response) error {
	st := s.stmts[id]
	if st == nil || st.cursor == 0 {
		return types.Errorf(types.ErStmtHasNoOpenCursor, int(id))
	}
	enc, err := out.FetchRows()
	if err != nil {
		return err
	}
	n := min(int(rows), st.cursor)
	for i := range n {
		id, c := types.Int(int64(i)), types.String([]byte("c"), types.Utf8mb40900AICI)
		enc.StartRow(2)
		enc.Value(&bigintType, &id)
		enc.Value(&textType, &c)
		enc.EndRow()
		if err := out.RowDone(); err != nil {
			return err
		}
	}
	st.cursor -= n
	status := s.Status() | sqlapi.StatusCursorExists
	if st.cursor == 0 {
		status = s.Status() | sqlapi.StatusLastRowSent
	}
	return out.Done(sqlapi.Result{HasRows: true, Status: status}, false)
}

func (s *fakeSession) CloseStmt(id uint32)       { delete(s.stmts, id) }
func (s *fakeSession) ResetStmt(id uint32) error { return nil }
func (s *fakeSession) UseDB(name string) error {
	if name == "nosuch" {
		return types.Errorf(types.ErBadDB, name)
	}
	s.db = name
	return nil
}
func (s *fakeSession) FieldList(table, pattern string) ([]sqlapi.ColumnInfo, error) {
	if table == "nosuch" {
		return nil, types.Errorf(types.ErNoSuchTable, "db", table)
	}
	return pairCols, nil
}
func (s *fakeSession) Ping() error                { return nil }
func (s *fakeSession) Statistics() string         { return "Uptime: 1" }
func (s *fakeSession) SetMultiStatements(on bool) { s.multi = on }
func (s *fakeSession) Reset() error               { clear(s.stmts); return nil }
func (s *fakeSession) ChangeUser(info *ConnInfo) error {
	if info.DB == "nosuch" {
		return types.Errorf(types.ErBadDB, info.DB)
	}
	s.info = info
	clear(s.stmts)
	return nil
}
func (s *fakeSession) Status() uint16 { return sqlapi.StatusAutocommit }

// SessionState tells of the database, as after COM_INIT_DB.
func (s *fakeSession) SessionState() []byte {
	if s.info.Capabilities&CapSessionTrack == 0 {
		return nil
	}
	return []byte("\x01\x03\x02db")
}
func (s *fakeSession) ResultEncoding() (*time.Location, *types.Charset) {
	return s.zone, types.Utf8mb40900AICI.Charset()
}
func (s *fakeSession) ParamCollation() types.CollationID { return types.Utf8mb40900AICI }
func (s *fakeSession) Interrupt() *kvapi.Interrupt       { return &s.intr }
func (s *fakeSession) Close()                            { s.backend.closed.Add(1) }

// logBuffer collects log lines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// testServer is a server with a fake backend on a loopback port.
type testServer struct {
	*Server
	backend *fakeBackend
	addr    string
	log     *logBuffer
}

func startServer(t testing.TB, adjust func(*Options)) *testServer {
	t.Helper()
	ts := &testServer{backend: newFakeBackend(), log: &logBuffer{}}
	opt := Options{Backend: ts.backend, Logger: slog.New(slog.NewTextHandler(ts.log, nil))}
	if adjust != nil {
		adjust(&opt)
	}
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ts.Server, ts.addr = s, l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		err := s.Shutdown(ctx)
		for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); {
			err = s.Shutdown(ctx) // its own patience is too short for a machine that is busy with other things
		}
		if err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if opened, closed := ts.backend.opened.Load(), ts.backend.closed.Load(); opened != closed {
			t.Errorf("%d sessions opened, %d closed", opened, closed)
		}
	})
	return ts
}

// patience is how long tests wait for what must come. It is no measure of anything: a machine may have no time for this process.
const patience = 2 * time.Minute

// promptly repeats a test until it takes no longer than bound, which may need several tries on a busy machine; one that never does
// is at fault. try reports its own failures.
func promptly(t testing.TB, bound time.Duration, try func()) {
	t.Helper()
	var took time.Duration
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && !t.Failed(); {
		started := time.Now()
		try()
		if took = time.Since(started); took <= bound {
			return
		}
	}
	if !t.Failed() {
		t.Errorf("took %v, never less than %v", took, bound)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("did not happen: %s", what)
}
