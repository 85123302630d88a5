package wire

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/pandodb/pando/privilege/password"
)

// connect logs in with the go-mysql client, which asks for the old EOF packets.
func (ts *testServer) connect(t testing.TB, user, password, db string, options ...client.Option) (*client.Conn, error) {
	t.Helper()
	c, err := client.Connect(ts.addr, user, password, db, options...)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func clientNumber(err error) uint16 {
	var e *mysql.MyError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func withTLS(c *client.Conn) error {
	c.SetTLSConfig(&tls.Config{InsecureSkipVerify: true})
	return nil
}

func withCompression(c *client.Conn) error {
	c.SetCapability(mysql.CLIENT_COMPRESS)
	return nil
}

func TestClientAuthentication(t *testing.T) {
	for _, plugin := range []string{password.CachingSHA2, password.Native} {
		ts := startServer(t, func(o *Options) { o.DefaultPlugin = plugin })
		for _, c := range []struct {
			user, password string
			tls            bool
			want           uint16
		}{
			{"root", "", false, 0}, {"sbtest", "", false, 0}, {"sha", "secret", false, 0}, {"sha", "secret", false, 0},
			{"sha", "secret", true, 0}, {"native", "secret", false, 0}, {"native", "secret", true, 0},
			{"tls", "secret", true, 0}, {"sha", "bad", false, 1045}, {"native", "bad", true, 1045}, {"ghost", "bad", false, 1045},
			{"ghost", "", false, 1045}, {"root", "bad", true, 1045},
		} {
			var options []client.Option
			if c.tls {
				options = append(options, withTLS)
			}
			_, err := ts.connect(t, c.user, c.password, "db", options...)
			if clientNumber(err) != c.want || c.want == 0 && err != nil {
				t.Errorf("default %s: %s with %q, TLS %v: %v", plugin, c.user, c.password, c.tls, err)
			}
		}
		if info := ts.backend.lastInfo(); info.DB != "db" || info.Host != "localhost" || info.RemoteAddr == "" {
			t.Errorf("info %+v", info)
		}
	}
}

func TestClientCommands(t *testing.T) {
	ts := startServer(t, nil)
	for _, option := range []client.Option{func(*client.Conn) error { return nil }, withTLS, withCompression} {
		c, err := ts.connect(t, "root", "", "", option)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.GetServerVersion(), "8.0.") {
			t.Errorf("version %q", c.GetServerVersion())
		}
		if err := c.Ping(); err != nil {
			t.Error(err)
		}
		if err := c.UseDB("other"); err != nil {
			t.Error(err)
		}
		if err := c.UseDB("nosuch"); clientNumber(err) != 1049 {
			t.Errorf("unknown database: %v", err)
		}
		res, err := c.Execute("OK")
		if err != nil || res.AffectedRows != 3 || res.InsertId != 7 || res.Warnings != 1 {
			t.Errorf("OK: %+v, %v", res, err)
		}
		fields, err := c.FieldList("t", "")
		if err != nil || len(fields) != 2 || string(fields[0].Name) != "id" || fields[0].Flag&mysql.PRI_KEY_FLAG == 0 ||
			string(fields[1].OrgTable) != "t" {
			t.Errorf("field list: %v, %v", fields, err)
		}
		if _, err := c.FieldList("nosuch", ""); clientNumber(err) != 1146 {
			t.Errorf("field list: %v", err)
		}
		clientRows(t, c)
	}
	if attrs := ts.backend.lastInfo().Attrs; attrs["_client_name"] == "" {
		t.Errorf("attributes %v", attrs)
	}
}

func clientRows(t *testing.T, c *client.Conn) {
	t.Helper()
	for _, n := range []int{0, 1, 3, 2000} {
		query := "ROWS " + itoa(n) + " 100"
		res, err := c.Execute(query)
		if err != nil || res.RowNumber() != n || res.Warnings != 2 {
			t.Fatalf("%s: %v, %v", query, res, err)
		}
		// Twice, because the second execution takes the cached description.
		stmt, err := c.Prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			res, err = stmt.Execute()
			if err != nil || res.RowNumber() != n || len(res.Fields) != 2 || string(res.Fields[1].Name) != "c" {
				t.Fatalf("prepared %s: %v, %v", query, res, err)
			}
			for i := range n {
				id, _ := res.GetInt(i, 0)
				text, _ := res.GetString(i, 1)
				if id != int64(i) || text != strings.Repeat("x", 100) {
					t.Fatalf("prepared %s: row %d is %d, %q", query, i, id, text)
				}
			}
		}
		if err := stmt.Close(); err != nil {
			t.Error(err)
		}
	}
	stmt, err := c.Prepare("ECHO ? ? ? ?")
	if err != nil || stmt.ParamNum() != 4 || stmt.ColumnNum() != 4 {
		t.Fatalf("prepare: %+v, %v", stmt, err)
	}
	res, err := stmt.Execute(nil, -1, 1.5, "a")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "int -1", "float 1.5", "text a"} {
		if got, _ := res.GetString(0, i); got != want {
			t.Errorf("parameter %d: %q, want %q", i, got, want)
		}
	}
	if _, err := c.Prepare("BEGIN"); clientNumber(err) != 1295 {
		t.Errorf("BEGIN: %v", err)
	}
	var counts []int
	if _, err := c.ExecuteMultiple("ROWS 2 1; OK; ROWS 3 1; FAIL", func(r *mysql.Result, err error) {
		if err == nil && r.HasResultset() {
			counts = append(counts, r.RowNumber())
		}
	}); err != nil && clientNumber(err) != 1146 {
		t.Error(err)
	}
}
