package wire

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pandodb/pando/privilege/password"
)

// open connects with go-sql-driver, on one connection.
func (ts *testServer) open(t testing.TB, user, password, params string) *sql.DB {
	t.Helper()
	dsn := user
	if password != "" {
		dsn += ":" + password
	}
	db, err := sql.Open("mysql", dsn+"@tcp("+ts.addr+")/"+params)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// number returns the MySQL error number of err, 0 if it has none.
func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func TestDriverAuthentication(t *testing.T) {
	ts := startServer(t, nil)
	for _, c := range []struct {
		user, password, params string
		want                   uint16
	}{
		{"root", "", "", 0},
		{"sbtest", "", "", 0},
		{"numeric", "", "", 0},                   // the address is told beside the name localhost
		{"sha", "secret", "?tls=skip-verify", 0}, // full, over TLS
		{"sha", "secret", "?tls=skip-verify", 0}, // fast
		{"sha", "secret", "", 0},
		{"native", "secret", "", 0},
		{"native", "secret", "?tls=skip-verify", 0},
		{"tls", "secret", "?tls=skip-verify", 0},
		{"tls", "secret", "", 1045},
		{"locked", "secret", "", 3118},
		{"locked", "wrong", "", 1045},
		{"sha", "wrong", "", 1045},
		{"sha", "wrong", "?tls=skip-verify", 1045},
		{"sha", "", "", 1045},
		{"native", "wrong", "", 1045},
		{"native", "", "", 1045},
		{"root", "wrong", "", 1045},
		{"sbtest", "wrong", "", 1045},
		{"nobody", "", "", 1045},
		{"nobody", "wrong", "", 1045},
		{"nobody", "wrong", "?tls=skip-verify", 1045},
		{"root", "", "nosuch", 1049},
		{"root", "", "broken", 1105},
	} {
		_, err := ts.open(t, c.user, c.password, c.params).Exec("OK")
		if number(err) != c.want || c.want == 0 && err != nil {
			t.Errorf("%s with %q, %q: %v, want %d", c.user, c.password, c.params, err, c.want)
		}
		if c.want != 1045 {
			continue
		}
		using := "YES"
		if c.password == "" {
			using = "NO"
		}
		want := "Error 1045 (28000): Access denied for user '" + c.user + "'@'localhost' (using password: " + using + ")"
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if strings.Contains(ts.log.String(), "secret") {
		t.Error("a password was logged")
	}
}

// TestFullRSA shows that the first login without TLS passes by the RSA key, and the second without it.
func TestFullRSA(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.DisableTLS = true })
	for range 2 {
		if _, err := ts.open(t, "sha", "secret", "").Exec("OK"); err != nil {
			t.Fatal(err)
		}
	}
	if ts.tls.rsaKey == nil {
		t.Error("no RSA key was made")
	}
	// A changed password must not be let in by the cache.
	ts.backend.mu.Lock()
	ts.backend.users["sha"] = Credential{Plugin: password.CachingSHA2, Auth: password.HashCachingSHA2([]byte("other")), Account: "sha@%"}
	ts.backend.mu.Unlock()
	if _, err := ts.open(t, "sha", "secret", "").Exec("OK"); number(err) != 1045 {
		t.Errorf("old password: %v", err)
	}
}

func TestRequireSecureTransport(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.RequireSecureTransport = true })
	if _, err := ts.open(t, "root", "", "").Exec("OK"); number(err) != 3159 {
		t.Errorf("without TLS: %v", err)
	}
	if _, err := ts.open(t, "root", "", "?tls=skip-verify").Exec("OK"); err != nil {
		t.Errorf("with TLS: %v", err)
	}
	if v := ts.backend.lastInfo().TLSVersion; v != "TLS 1.3" {
		t.Errorf("TLS version %q", v)
	}
}

func TestDriverResults(t *testing.T) {
	ts := startServer(t, nil)
	for _, params := range []string{"", "?compress=true", "?tls=skip-verify&compress=true"} {
		db := ts.open(t, "root", "", params)
		res, err := db.Exec("OK")
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != 3 {
			t.Errorf("affected %d", n)
		}
		if id, _ := res.LastInsertId(); id != 7 {
			t.Errorf("insert id %d", id)
		}
		for _, size := range []int{0, 1, 250, 251, 300, 65535, 70000} {
			for _, n := range []int{0, 1, 7, 1000} {
				if n*size > 2<<20 {
					continue
				}
				checkRows(t, db, "ROWS", n, size)
			}
		}
		if _, err := db.Exec("FAIL"); number(err) != 1146 {
			t.Errorf("got %v", err)
		}
		if _, err := db.Exec("FAULT"); number(err) != 1105 || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	}
}

func checkRows(t *testing.T, db *sql.DB, verb string, n, size int) {
	t.Helper()
	query := verb + " " + itoa(n) + " " + itoa(size)
	for _, prepared := range []bool{false, true} {
		var rows *sql.Rows
		var err error
		if prepared {
			stmt, perr := db.Prepare(query)
			if perr != nil {
				t.Fatal(perr)
			}
			defer stmt.Close()
			rows, err = stmt.Query()
		} else {
			rows, err = db.Query(query)
		}
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		got := 0
		for rows.Next() {
			var id int
			var text []byte
			if err := rows.Scan(&id, &text); err != nil {
				t.Fatal(err)
			}
			if id != got || len(text) != size || bytes.Count(text, []byte("x")) != size {
				t.Fatalf("%s: row %d is %d with %d bytes", query, got, id, len(text))
			}
			got++
		}
		if err := rows.Err(); err != nil || got != n {
			t.Fatalf("%s: %d rows, %v", query, got, err)
		}
		_ = rows.Close()
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestDriverParameters(t *testing.T) {
	ts := startServer(t, nil)
	db := ts.open(t, "root", "", "?maxAllowedPacket=67108864")
	when := time.Date(2026, 11, 21, 4, 5, 6, 789000, time.UTC)
	args := []any{
		int64(-5), uint64(1<<63 + 1), 2.5, "héllo", []byte{0, 1, 2}, nil, when, true, strings.Repeat("y", 300), []byte{},
	}
	want := []string{
		"int -5", "uint 9223372036854775809", "float 2.5", "text héllo", "text \x00\x01\x02", "",
		"text 2026-11-21 04:05:06.000789", "int 1", "text of 300", "text ",
	}
	stmt, err := db.Prepare("ECHO" + strings.Repeat("?", len(args)))
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for range 3 {
		got := make([]sql.NullString, len(args))
		dest := make([]any, len(args))
		for i := range got {
			dest[i] = &got[i]
		}
		if err := stmt.QueryRow(args...).Scan(dest...); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			// Drivers may send bytes and times as any string type.
			if got[i].Valid != (args[i] != nil) || got[i].Valid && tail(got[i].String) != tail(want[i]) {
				t.Errorf("parameter %d: %v, want %q", i, got[i], want[i])
			}
		}
	}
	// The driver sends what is longer than its packet limit by COM_STMT_SEND_LONG_DATA.
	long, err := db.Prepare("ECHO ? ?")
	if err != nil {
		t.Fatal(err)
	}
	defer long.Close()
	var a, b string
	if err := long.QueryRow(bytes.Repeat([]byte("z"), 40<<20), 7).Scan(&a, &b); err != nil {
		t.Fatal(err)
	}
	if a != "text of 41943040" || b != "int 7" {
		t.Errorf("long data: %q, %q", a, b)
	}
}

func tail(s string) string {
	_, after, _ := strings.Cut(s, " ")
	return after
}

func TestDriverLargePackets(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.MaxAllowedPacket = 40 << 20 })
	db := ts.open(t, "root", "", "?maxAllowedPacket=67108864")
	for _, n := range []int{payloadMax - 2, payloadMax - 1, 17 << 20, 2*payloadMax - 1} {
		var id int
		var text string
		query := "LEN " + strings.Repeat(" ", n-4)
		if err := db.QueryRow(query+"x").Scan(&id, &text); err != nil {
			t.Fatalf("statement of %d: %v", n, err)
		}
		if text != itoa(n+1) {
			t.Errorf("statement of %d bytes arrived as %s", n+1, text)
		}
	}
	// The row's payload is 1 + 1 byte for the id, 4 for the length, and the text.
	for _, n := range []int{payloadMax - 7, payloadMax - 6, 17 << 20, 2*payloadMax - 6} {
		checkRows(t, db, "ROWS", 1, n)
	}
	if _, err := db.Exec("LEN " + strings.Repeat("x", 41<<20)); number(err) != 1153 {
		t.Errorf("beyond max_allowed_packet: %v", err)
	}
	eventually(t, "the driver connects anew after 1153", func() bool { return db.Ping() == nil })
}

func TestDriverMultiStatements(t *testing.T) {
	ts := startServer(t, nil)
	db := ts.open(t, "root", "", "?multiStatements=true")
	rows, err := db.Query("ROWS 2 3; OK; ROWS 1000 100; ROWS 0 0; ROWS 1 1; ROWS 1 1")
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for {
		n := 0
		for rows.Next() {
			n++
		}
		counts = append(counts, n)
		if !rows.NextResultSet() {
			break
		}
	}
	if rows.Err() != nil || len(counts) < 5 || counts[0] != 2 {
		t.Errorf("counts %v, %v", counts, rows.Err())
	}
	_ = rows.Close()
	// A packet of ten thousand statements does not pile up their answers.
	if _, err := db.Exec(strings.Repeat("OK;", 20_000) + "BUFFERED " + strconv.Itoa(2*outBigBytes)); err != nil {
		t.Error(err)
	}
	rows, err = db.Query("ROWS 2 3; FAIL; ROWS 1 1")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if rows.NextResultSet() || number(rows.Err()) != 1146 {
		t.Errorf("second statement: %v", rows.Err())
	}
	_ = rows.Close()
}

func TestErrorInTheMiddle(t *testing.T) {
	ts := startServer(t, nil)
	db := ts.open(t, "root", "", "")
	for _, query := range []string{"HALF 0 0", "HALF 3 10", "HALF 5000 100"} {
		rows, err := db.Query(query)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			_ = rows.Close()
		}
		if number(err) != 1317 {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := db.Exec("SILENT"); number(err) != 1105 {
		t.Errorf("no answer: %v", err)
	}
	if n := ts.Counters().Connections; n != 1 {
		t.Errorf("%d connections were needed", n)
	}
}

func TestUndeterminedAndPanic(t *testing.T) {
	ts := startServer(t, nil)
	db := ts.open(t, "root", "", "")
	if _, err := db.Exec("UNKNOWN"); err == nil || number(err) != 0 {
		t.Errorf("an unknown outcome was reported as %v", err)
	}
	if _, err := db.Exec("PANIC"); number(err) != 1105 {
		t.Errorf("panic: %v", err)
	}
	eventually(t, "the connection is closed", func() bool { return ts.OpenConnections() == 0 })
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(ts.log.String(), "as asked"); n != 1 || !strings.Contains(ts.log.String(), "fake_test.go") {
		t.Errorf("the panic was logged %d times: %s", n, ts.log)
	}
}

func TestConnectionCap(t *testing.T) {
	ts := startServer(t, func(o *Options) { o.MaxConnections = 2 })
	hold := []*sql.DB{ts.open(t, "root", "", ""), ts.open(t, "root", "", "")}
	for _, db := range hold {
		if err := db.Ping(); err != nil {
			t.Fatal(err)
		}
	}
	promptly(t, time.Second, func() {
		if err := ts.open(t, "root", "", "").Ping(); number(err) != 1040 {
			t.Errorf("one too many: %v", err)
		}
	})
	ts.SetMaxConnections(3)
	if err := ts.open(t, "root", "", "").Ping(); err != nil {
		t.Error(err)
	}
}

func TestKill(t *testing.T) {
	ts := startServer(t, nil)
	ctx := context.Background()
	db := ts.open(t, "root", "", "")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id := ts.backend.lastInfo().ID
	result := make(chan error, 1)
	sleep := func() {
		go func() {
			_, err := conn.ExecContext(ctx, "SLEEP 600000")
			result <- err
		}()
		eventually(t, "the statement runs", func() bool {
			return ts.backend.sleeping.Load() == 1
		})
		if list := ts.Conns(); len(list) != 1 || list[0].Command != ComQuery || list[0].Info.ID != id {
			t.Errorf("process list %+v", list)
		}
	}
	sleep()
	if !ts.Kill(id, true) {
		t.Fatal("no such connection")
	}
	if err := <-result; number(err) != 1317 {
		t.Errorf("killed query: %v", err)
	}
	ts.Kill(id, true) // idle: nothing may happen
	if _, err := conn.ExecContext(ctx, "SLEEP 1"); err != nil {
		t.Errorf("after KILL QUERY on an idle connection: %v", err)
	}
	sleep()
	ts.Kill(id, false)
	if err := <-result; number(err) != 1317 {
		t.Errorf("killed connection: %v", err)
	}
	if _, err := conn.ExecContext(ctx, "OK"); err == nil {
		t.Error("the connection lives on")
	}
	eventually(t, "the connection is gone", func() bool { return ts.OpenConnections() == 0 })
	if ts.Kill(id, false) {
		t.Error("killed twice")
	}
	// An idle connection goes at once.
	_ = conn.Close()
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	ts.Kill(ts.backend.lastInfo().ID, false)
	eventually(t, "the idle connection is gone", func() bool { return ts.OpenConnections() == 0 })
}

func TestClientGone(t *testing.T) {
	ts := startServer(t, nil)
	gone := int64(0)
	promptly(t, 3*time.Second, func() {
		db := ts.open(t, "root", "", "")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		result := make(chan error, 1)
		go func() {
			_, err := db.ExecContext(ctx, "SLEEP 600000")
			result <- err
		}()
		eventually(t, "it sleeps", func() bool { return ts.backend.sleeping.Load() == 1 })
		cancel() // the driver closes the connection
		if err := <-result; err == nil {
			t.Fatal("slept")
		}
		gone++
		eventually(t, "the session is closed", func() bool { return int64(ts.backend.closed.Load()) == gone })
		if int64(ts.Counters().Gone) != gone {
			t.Error("not counted")
		}
	})
}

func TestShutdownDrains(t *testing.T) {
	ts := startServer(t, nil)
	idle, busy, stuck := ts.open(t, "root", "", ""), ts.open(t, "root", "", ""), ts.open(t, "root", "", "")
	if err := idle.Ping(); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	ts.backend.hold = hold
	exec := func(db *sql.DB, query string) <-chan error {
		result := make(chan error, 1)
		go func() {
			_, err := db.Exec(query)
			result <- err
		}()
		return result
	}
	finishes, sleeps := exec(busy, "STUBBORN"), exec(stuck, "SLEEP 600000")
	eventually(t, "both run", func() bool { return ts.backend.sleeping.Load() == 2 })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- ts.Shutdown(ctx) }()
	eventually(t, "the idle connection is closed", func() bool { return ts.OpenConnections() == 2 })
	close(hold)
	if err := <-finishes; err != nil {
		t.Errorf("the statement that could finish: %v", err)
	}
	eventually(t, "its connection is closed", func() bool { return ts.OpenConnections() == 1 })
	select {
	case err := <-over:
		t.Errorf("shutdown did not wait for the other: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancel() // as when the time to drain is over
	if err := <-sleeps; number(err) != 1317 {
		t.Errorf("the statement that could not: %v", err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
	if err := idle.Ping(); err == nil {
		t.Error("still accepting")
	}
}

func TestWaitTimeout(t *testing.T) {
	ts := startServer(t, nil)
	db := ts.open(t, "root", "", "")
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ts.backend.lastInfo().Control.SetWaitTimeout(300 * time.Millisecond)
	eventually(t, "the idle connection is closed", func() bool { return ts.OpenConnections() == 0 })
	if _, err := conn.ExecContext(ctx, "OK"); err == nil || errors.Is(err, driver.ErrSkip) {
		t.Errorf("got %v", err)
	}
}

// TestDisconnect: those who are connected are told and cut off, whatever they do, and others are accepted meanwhile.
func TestDisconnect(t *testing.T) {
	ts := startServer(t, nil)
	idle, stuck := ts.dial(t), ts.open(t, "root", "", "")
	idle.login(rawCaps, "root")
	ts.backend.hold = make(chan struct{})
	sleeps := make(chan error, 1)
	go func() {
		_, err := stuck.Exec("SLEEP 600000")
		sleeps <- err
	}()
	eventually(t, "it runs", func() bool { return ts.backend.sleeping.Load() == 1 })
	ts.Disconnect()
	idle.expectError(idle.read(), 1053)
	if err := <-sleeps; number(err) != 1317 {
		t.Errorf("the statement under way: %v", err)
	}
	eventually(t, "both have ended", func() bool { return ts.OpenConnections() == 0 })
	if err := ts.open(t, "root", "", "").Ping(); err != nil {
		t.Error(err)
	}
}

// TestRoute: who takes a connection over has it whole, and the server knows nothing of it; what it gives back is served.
func TestRoute(t *testing.T) {
	taken := make(chan net.Conn, 1)
	var takes atomic.Bool
	ts := startServer(t, func(o *Options) {
		o.Route = func(c net.Conn) bool {
			if takes.Load() {
				taken <- c
			}
			return takes.Load()
		}
	})
	takes.Store(true)
	r := ts.dial(t)
	c := <-taken
	if n := ts.OpenConnections(); n != 0 {
		t.Errorf("%d connections", n)
	}
	ts.ServeConn(c)
	r.login(rawCaps, "root")
	takes.Store(false)
	if err := ts.open(t, "root", "", "").Ping(); err != nil {
		t.Error(err)
	}
}
