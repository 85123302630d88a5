package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// firstRow is the first row of an answer, or its error.
func firstRow(a *inproc.Answer) string {
	switch {
	case a.Err != nil:
		return strings.TrimSpace(a.String())
	case len(a.Rows) == 0:
		return "ok"
	}
	return strings.Join(a.Rows[0], " ")
}

// TestQueryAttributes: mysql_query_attribute_string() as a MySQL 9.7 with its component answers it. A text ends where it is no UTF-8, where MySQL
// ends it at a zero byte.
func TestQueryAttributes(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	text := func(s string) types.Value { return types.String([]byte(s), types.DefaultCollation) }
	attribute := func(name string, v types.Value) sqlapi.Attribute {
		return sqlapi.Attribute{Name: []byte(name), Value: v}
	}
	attributes := []sqlapi.Attribute{
		attribute("", text("nameless")), attribute("a", text("first")), attribute("A", text("second")), attribute("n", types.Null()), attribute("i", types.Int(-5)), attribute("u", types.Uint(1<<63)),
		attribute("f", types.Float(1e300)), attribute("d", types.Value{K: types.KindDatetime, N: types.PackDatetime(types.DateTime{Year: 2024, Month: 2, Day: 29})}),
		attribute("t", types.Value{K: types.KindTime, N: -66 * 3600 * 1e6}), attribute("b", types.String([]byte("x\xff"), types.Binary)), attribute("ä", text("ö")),
		attribute("full", text(strings.Repeat("x", 1023))), attribute("long", text(strings.Repeat("x", 1024))), attribute("split", text(strings.Repeat("ö", 600))),
	}
	for _, step := range []struct{ sql, want string }{
		{"SELECT mysql_query_attribute_string('a'), MYSQL_QUERY_ATTRIBUTE_STRING('A'), mysql_query_attribute_string(''), mysql_query_attribute_string(NULL)", "first first first first"},
		{"SELECT mysql_query_attribute_string('n'), mysql_query_attribute_string('none'), mysql_query_attribute_string('a ')", "NULL NULL NULL"},
		{"SELECT mysql_query_attribute_string('i'), mysql_query_attribute_string('u'), mysql_query_attribute_string('f')", "-5 9223372036854775808 1e300"},
		{"SELECT mysql_query_attribute_string('d'), mysql_query_attribute_string('t')", "2024-02-29 00:00:00.000000 -66:00:00.000000"},
		{"SELECT mysql_query_attribute_string('b'), mysql_query_attribute_string(_utf16 X'0069'), mysql_query_attribute_string(_latin1 X'75')", "x -5 9223372036854775808"},
		{"SELECT CHARSET(mysql_query_attribute_string('a')), COLLATION(mysql_query_attribute_string('a')), COERCIBILITY(mysql_query_attribute_string('a'))", "utf8mb4 utf8mb4_0900_ai_ci 4"},
		{"SELECT GROUP_CONCAT(mysql_query_attribute_string(x)) FROM (SELECT 'a' x UNION SELECT 'i') z", "first,-5"},
		{"SELECT LENGTH(mysql_query_attribute_string('full')), LENGTH(mysql_query_attribute_string('long')), LENGTH(mysql_query_attribute_string('split'))", "1023 1023 1022"},
		{"SELECT mysql_query_attribute_string(1)", "ERROR 1123 (HY000): Can't initialize function 'mysql_query_attribute_string'; mysql_query_attribute_string() expects a string argument"},
		{"SELECT mysql_query_attribute_string()", "ERROR 1123 (HY000): Can't initialize function 'mysql_query_attribute_string'; mysql_query_attribute_string() expects 1 argument"},
		{"SELECT mysql_query_attribute_string('a', 'b')", "ERROR 1123 (HY000): Can't initialize function 'mysql_query_attribute_string'; mysql_query_attribute_string() expects 1 argument"},
		{"SELECT d.mysql_query_attribute_string('a')", "ERROR 1305 (42000): FUNCTION d.mysql_query_attribute_string does not exist"},
		{"CREATE TABLE g (a INT, b TEXT AS (mysql_query_attribute_string('a')))", "ERROR 3763 (HY000): Expression of generated column 'b' contains a disallowed function: mysql_query_attribute_string."},
		{"CREATE TABLE g (a INT, CHECK (a > mysql_query_attribute_string('a')))", "ERROR 3814 (HY000): An expression of a check constraint 'g_chk_1' contains disallowed function: mysql_query_attribute_string."},
		{"SET NAMES latin1", "ok"},
		{"SELECT HEX(mysql_query_attribute_string('a'))", "6669727374"},
	} {
		c.Session.SetAttributes(attributes)
		got := firstRow(c.Exec(step.sql))
		c.Session.SetAttributes(nil)
		if got != step.want {
			t.Errorf("%s: %s, want %s", step.sql, got, step.want)
		}
	}
	c.Must("SET NAMES utf8mb4")
	c.Must("CREATE VIEW v AS SELECT mysql_query_attribute_string('a') AS x")
	c.Must("PREPARE s FROM 'SELECT mysql_query_attribute_string(''a'')'")
	for _, statement := range []string{"SELECT x FROM v", "EXECUTE s", "SELECT mysql_query_attribute_string('a')"} {
		for _, want := range []string{"one", "NULL", "two"} { // with and without attributes, and with others: the plan is the same
			if want != "NULL" {
				c.Session.SetAttributes([]sqlapi.Attribute{attribute("a", text(want))})
			}
			if got := firstRow(c.Exec(statement)); got != want {
				t.Errorf("%s: %s, want %s", statement, got, want)
			}
			c.Session.SetAttributes(nil)
		}
	}
}
