package syntax

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// longTexts are the kinds of statements whose trees can be large, by the number of their items.
var longTexts = map[string]func(n int) string{
	"in list of numbers":  func(n int) string { return "SELECT 1 FROM t WHERE a IN (1" + strings.Repeat(",1", n) + ")" },
	"in list of texts":    func(n int) string { return "SELECT 1 FROM t WHERE a IN ('x'" + strings.Repeat(", 'x'", n) + ")" },
	"in list of rows":     func(n int) string { return "SELECT 1 FROM t WHERE (a,b) IN ((1,2)" + strings.Repeat(",(1,2)", n) + ")" },
	"select list":         func(n int) string { return "SELECT 1" + strings.Repeat(",1", n) },
	"select list, named":  func(n int) string { return "SELECT 1 AS a" + strings.Repeat(", b AS c", n) },
	"or chain":            func(n int) string { return "SELECT 1 FROM t WHERE id=0" + strings.Repeat(" OR id=1", min(n, chainMax)) },
	"sum":                 func(n int) string { return "SELECT a" + strings.Repeat("+b", min(n, chainMax)) },
	"case":                func(n int) string { return "SELECT CASE a" + strings.Repeat(" WHEN 1 THEN b", n) + " END" },
	"arguments":           func(n int) string { return "SELECT CONCAT(a" + strings.Repeat(",f(b)", n) + ")" },
	"order by":            func(n int) string { return "SELECT 1 FROM t ORDER BY a" + strings.Repeat(",a", n) },
	"group by":            func(n int) string { return "SELECT 1 FROM t GROUP BY a" + strings.Repeat(",a", n) },
	"tables":              func(n int) string { return "SELECT 1 FROM t" + strings.Repeat(",t", n) },
	"joins":               func(n int) string { return "SELECT 1 FROM t" + strings.Repeat(" JOIN t ON a", min(n, chainMax)) },
	"union":               func(n int) string { return "SELECT 1" + strings.Repeat(" UNION SELECT 1", min(n, chainMax)) },
	"rows of an insert":   func(n int) string { return "INSERT INTO t VALUES (1,'a')" + strings.Repeat(",(1,'a')", n) },
	"rows of expressions": func(n int) string { return "INSERT INTO t VALUES (a,1)" + strings.Repeat(",(a,1)", n) },
	"set of an update":    func(n int) string { return "UPDATE t SET a=1" + strings.Repeat(",a=1", n) },
	"columns of a table":  func(n int) string { return "CREATE TABLE t (a INT" + strings.Repeat(",a INT", n) + ")" },
	"names":               func(n int) string { return "DROP TABLE t" + strings.Repeat(",t", n) },
	"variables":           func(n int) string { return "SET @a=1" + strings.Repeat(",@a=1", n) },
	"windows":             func(n int) string { return "SELECT SUM(a) OVER ()" + strings.Repeat(",SUM(a) OVER ()", n) },
	"values statement":    func(n int) string { return "VALUES ROW(1,2)" + strings.Repeat(",ROW(1,2)", n) },
}

// parseCounted parses text and returns the bytes allocated, the bytes reported to the Budget and the calls of Poll.
func parseCounted(t *testing.T, text string) (allocated, counted int64, polls int) {
	t.Helper()
	o := Options{Budget: &Budget{Grow: func(n int64) error { counted += n; return nil }, Poll: func() error { polls++; return nil }}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stmt, _, err := Parse(text, o)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatalf("%.40s: %v", text, err)
	}
	runtime.KeepAlive(stmt)
	return int64(after.TotalAlloc - before.TotalAlloc), counted, polls
}

// TestTreesAreCounted: the bytes reported to a Budget are about the size of the tree, and a text four times as long takes about four times as much.
func TestTreesAreCounted(t *testing.T) {
	const items = 10_000
	for name, text := range longTexts {
		allocated, counted, polls := parseCounted(t, text(items))
		if counted < allocated/2 || counted > 4*allocated {
			t.Errorf("%s: %d bytes were allocated and %d counted", name, allocated, counted)
		}
		more, moreCounted, morePolls := parseCounted(t, text(4*items))
		if more > 6*allocated || moreCounted > 5*counted || morePolls > 5*polls || polls < items/tokensPerCharge {
			t.Errorf("%s: of 4 times the items %d bytes for %d, %d counted for %d, %d polls for %d", name, more, allocated, moreCounted, counted,
				morePolls, polls)
		}
	}
}

// TestBudgetEndsParsing: the error of a Budget ends parsing at once, and the parser can be used for the next statement.
func TestBudgetEndsParsing(t *testing.T) {
	want := errors.New("enough")
	for name, text := range longTexts {
		sql, polls, bytes := text(10_000), 0, int64(0)
		_, _, err := Parse(sql, Options{Budget: &Budget{Poll: func() error {
			if polls++; polls == 3 {
				return want
			}
			return nil
		}}})
		if !errors.Is(err, want) || polls != 3 {
			t.Errorf("%s: after %d polls: %v", name, polls, err)
		}
		_, _, err = Parse(sql, Options{Budget: &Budget{Grow: func(n int64) error {
			if bytes += n; bytes > 128<<10 {
				return want
			}
			return nil
		}}})
		if !errors.Is(err, want) || bytes > 512<<10 {
			t.Errorf("%s: after %d bytes: %v", name, bytes, err)
		}
		if _, _, err := Parse(text(10), Options{}); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}
