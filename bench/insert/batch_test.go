package insert

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorder is a server that notes what it is sent, and refuses what it is told to.
type recorder struct {
	texts  []string
	refuse string
}

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return recorderConn{r}, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }

type recorderConn struct{ *recorder }

func (recorderConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not used") }
func (recorderConn) Begin() (driver.Tx, error)           { return nil, errors.New("not used") }
func (recorderConn) Close() error                        { return nil }

func (c recorderConn) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	c.texts = append(c.texts, text)
	if c.refuse != "" && strings.Contains(text, c.refuse) {
		return nil, errors.New("refused")
	}
	return driver.ResultNoRows, nil
}

// TestTurns: rows of tables that come by turns go in statements as long as those of one table: a commit per row would make a load of hours.
func TestTurns(t *testing.T) {
	server := &recorder{}
	b := Into(t.Context(), sql.OpenDB(server))
	for i := range 2*rowsMax + 3 {
		b.Add("a", i, nil, "x")
		b.Add("b", i)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range server.texts {
		table := strings.Fields(text)[2]
		got = append(got, fmt.Sprintf("%s %d", table, strings.Count(text, "(")))
	}
	if want := "a 500, b 500, a 500, b 500, a 3, b 3"; strings.Join(got, ", ") != want {
		t.Errorf("the statements have rows %v, want %s", got, want)
	}
	if text := server.texts[4]; text != "INSERT INTO a VALUES (1000,NULL,'x'),(1001,NULL,'x'),(1002,NULL,'x')" {
		t.Error(text)
	}
	if b.Flush(); len(server.texts) != 6 {
		t.Error("a batch without rows has sent something")
	}
}

// TestRefusal: nothing is sent after an error, which Flush returns.
func TestRefusal(t *testing.T) {
	server := &recorder{refuse: "INTO a"}
	b := Into(t.Context(), sql.OpenDB(server))
	for i := range rowsMax + 1 {
		b.Add("a", i)
		b.Add("b", i)
	}
	if err := b.Flush(); err == nil || err.Error() != "load a: refused" {
		t.Error(err)
	}
	if len(server.texts) != 1 {
		t.Errorf("%d statements were sent", len(server.texts))
	}
}
