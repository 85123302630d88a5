package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// TestLongValuesLists: a long list of literals, which is stored straight from its text, stores what its rows do one by one.
func TestLongValuesLists(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	rows := []string{
		`(NULL, -1, 1.5, 'it''s', 0x41)`, `(NULL, NULL, -2.25, "a\n\'b", x'00ff')`, `(NULL, 9223372036854775807, 1e3, '', NULL)`,
		`(NULL, -9223372036854775808, 0, 'é', 'bytes')`, `(NULL, TRUE, FALSE, 12, -3)`, `(NULL, '17', '2.5', N'n', b'01000001')`,
	}
	for _, kind := range []string{"big", "short"} {
		c.Must(fmt.Sprintf("CREATE TABLE %s(id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT, x DOUBLE, s VARCHAR(20), b VARBINARY(20))", kind))
		if kind == "short" {
			for i := range 300 {
				c.Must("INSERT INTO short VALUES " + rows[i%len(rows)])
			}
			continue
		}
		c.Must("INSERT INTO big VALUES " + strings.Repeat(strings.Join(rows, ",")+",", 49) + strings.Join(rows, ","))
	}
	if got, want := c.Must("SELECT * FROM big").String(), c.Must("SELECT * FROM short").String(); got != want {
		t.Errorf("a long list stored %s, its rows store %s", got, want)
	}
	// A hex literal is a number for a column of numbers, which the trees know.
	c.Must("CREATE TABLE h(a INT, b VARCHAR(20))")
	c.Must("INSERT INTO h VALUES " + strings.Repeat("(0x41, 0x41), ", 200) + "(0x41, 0x41)")
	if got := c.Value("SELECT COUNT(*) FROM h WHERE a = 65 AND b = 'A'"); got != "201" {
		t.Errorf("%s rows of 201 with hex literals", got)
	}
	for list, number := range map[string]int{
		strings.Repeat("(1, 'x'),", 300) + "(1)":                                    1136, // the number of values differs
		strings.Repeat("(1),", 400) + "(1)":                                         1136,
		strings.Repeat("(1, 'x'),", 300) + "(99999999999, 'x')":                     1264,
		strings.Repeat("(1, 'x'),", 300) + "('many', 'x')":                          1366,
		strings.Repeat("(1, 'x'),", 300) + "(1, '" + strings.Repeat("x", 21) + "')": 1406,
	} {
		if got := c.Exec("INSERT INTO h VALUES " + list).Number(); got != number {
			t.Errorf("…%s: error %d, want %d", list[len(list)-20:], got, number)
		}
	}
	if got := c.Value("SELECT COUNT(*) FROM h"); got != "201" {
		t.Errorf("%s rows after statements that failed", got)
	}
	if got := c.Exec("INSERT IGNORE INTO big VALUES " + strings.Repeat("(5, 1, 1, 'x', 'x'),", 100) + "(1000, 1, 1, 'x', 'x')"); got.Number() != 0 {
		t.Error(got)
	}
	if got := c.Value("SELECT COUNT(*) FROM big"); got != "301" {
		t.Errorf("%s rows after INSERT IGNORE", got)
	}
}
