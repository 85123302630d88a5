package plan_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
)

// TestIndexesAgreeWithScan runs random queries over a table with many indexes. Whatever access path is chosen, the rows must be those
// that a full scan with a filter gives. PANDO_SEED repeats a run.
func TestIndexesAgreeWithScan(t *testing.T) {
	seed := testkit.Seed(t)
	n := inproc.Open(t, inproc.Options{})
	defer n.Close()
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	g := &generator{Rand: testkit.Rand(seed, 1), columns: columns, texts: []string{"s", "bin"}, indexes: indexes}
	g.value, g.others = g.literal, []string{"a = b", "a + 1 = 3", "MOD(id, 3) = 1", "a = n", "s = bin", "COALESCE(a, 0) > 3", "a = 1 XOR n = 1", "(a, n) = (1, 0)"}
	g.groups, g.aggregates = []string{"a", "b", "n", "d", "a, b", "dt", "bin"}, []string{"COUNT(*)", "SUM(a)", "MIN(id), MAX(id)", "AVG(d)", "COUNT(DISTINCT b)", "MIN(dt), MAX(s)"}
	g.changes = []string{"UPDATE t%s SET a = a + 1, b = 3 WHERE ", "UPDATE t%s SET id = id + 1000 WHERE ", "UPDATE t%s SET s = CONCAT(s, 'x'), dt = NULL, f = id WHERE ",
		"DELETE FROM t%s WHERE ", "DELETE FROM t%s WHERE "}
	g.fill(c)
	g.compareAll(t, c, testkit.Repeat(800))
}

// compareAll runs statements by index, by another index or a prepared statement now and then, and by scan.
func (g *generator) compareAll(t *testing.T, c *inproc.Conn, rounds int) {
	faults, merges := 0, 0
	for i := 0; i < rounds && faults < 5; i++ {
		if i == rounds/2 {
			c.Must("ANALYZE TABLE t") // the other half runs with statistics
		}
		q := g.query()
		fast, slow := c.Exec(q.text("")), c.Exec(q.text(g.ignoreAll()))
		fault := q.compare(fast, slow)
		if fault == "" && i%3 == 0 {
			hint := " FORCE INDEX (" + g.pick(g.indexes) + ")"
			if fault = q.compare(c.Exec(q.text(hint)), slow); fault != "" {
				fault = hint + ": " + fault
			}
		}
		if fault == "" && i%3 == 1 {
			q.hint = "/*+ INDEX_MERGE(t) */ "
			if fault = q.compare(c.Exec(q.text("")), slow); fault != "" {
				fault = q.hint + ": " + fault
			}
			if strings.Contains(c.Exec("EXPLAIN FORMAT=TREE "+q.text("")).String(), "IndexMerge") {
				merges++
			}
		}
		if fault == "" && i%5 == 0 {
			fault = g.compareWrites(c)
		}
		if fault != "" {
			faults++
			t.Errorf("%s\n%s\n%s", q.text(""), fault, c.Exec("EXPLAIN FORMAT=TREE "+q.text("")))
		}
	}
	if merges < rounds/60 {
		t.Errorf("%d of %d queries merged indexes", merges, rounds)
	}
}

var indexes = []string{"PRIMARY", "ia", "iab", "uc", "is1", "id1", "idt", "ipre", "ibin"}

func (g *generator) ignoreAll() string {
	return " IGNORE INDEX (" + strings.Join(g.indexes, ", ") + ")"
}

// generator makes statements over one table t.
type generator struct {
	*rand.Rand
	columns, texts, indexes     []string
	value                       func(column string) string // a literal to compare with a column
	others                      []string                   // conditions that no index decides
	groups, aggregates, changes []string
}

func (g *generator) fill(c *inproc.Conn) {
	c.Must(`CREATE TABLE t (id INT PRIMARY KEY, a INT, b BIGINT UNSIGNED, c INT, s VARCHAR(20), bin VARCHAR(20) COLLATE utf8mb4_bin, d DECIMAL(8,2), f DOUBLE,
		dt DATETIME, day DATE, n TINYINT NOT NULL,
		KEY ia (a), KEY iab (a DESC, b), UNIQUE KEY uc (c), KEY is1 (s, a), KEY id1 (d, n DESC), KEY idt (dt), KEY ipre (s(2)), KEY ibin (bin, f))`)
	for i := 0; i < 300; i++ {
		c.Must(fmt.Sprintf("INSERT INTO t VALUES (%d,%s,%s,%s,%s,%s,%s,%s,%s,%s,%d)", i-50, g.null(g.number(12)), g.null(fmt.Sprint(g.IntN(10))), g.null(fmt.Sprint(i*3-200)),
			g.null(g.word()), g.null(g.word()), g.null(g.decimal()), g.null(g.float()), g.null(g.datetime()), g.null(g.date()), g.IntN(5)-2))
	}
}

func (g *generator) null(value string) string {
	if g.IntN(8) == 0 {
		return "NULL"
	}
	return value
}

func (g *generator) number(n int) string { return fmt.Sprint(g.IntN(2*n) - n) }

func (g *generator) word() string {
	letters := []string{"a", "A", "b", "B", "ä", "ab", "Ab ", "ß", "x", "", " ", "1", "2.5", "-3", "é", "e"}
	w := ""
	for i := g.IntN(4); i >= 0; i-- {
		w += g.pick(letters)
	}
	return "'" + w + "'"
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *generator) decimal() string { return fmt.Sprintf("%d.%02d", g.IntN(20)-10, g.IntN(3)*25) }

func (g *generator) float() string { return fmt.Sprintf("%de%d", g.IntN(20)-10, g.IntN(3)-1) }

func (g *generator) date() string {
	return fmt.Sprintf("'2024-%02d-%02d'", g.IntN(3)+1, g.IntN(28)+1)
}

func (g *generator) datetime() string {
	return fmt.Sprintf("'2024-01-%02d %02d:00:0%d'", g.IntN(9)+1, g.IntN(3)*8, g.IntN(2))
}

// literal is a value to compare with: usually of the column's kind, sometimes of another.
func (g *generator) literal(column string) string {
	if g.IntN(12) == 0 {
		return g.pick([]string{"NULL", "'x'", "'5'", "5.5", "-1e1", "'2024-01-03'", "18446744073709551615", "-9223372036854775808", "TRUE", "0", "' 3 '", "DATE'2024-01-05'"})
	}
	switch column {
	case "id":
		return g.number(60)
	case "a", "n":
		return g.pick([]string{g.number(12), g.number(12), g.decimal(), "'" + g.number(12) + "'"})
	case "b":
		return g.number(10)
	case "c":
		return fmt.Sprint(g.IntN(100)*3 - 200)
	case "s", "bin":
		return g.word()
	case "d":
		return g.pick([]string{g.decimal(), g.number(10), g.float(), "'" + g.decimal() + "'"})
	case "f":
		return g.pick([]string{g.float(), g.decimal(), g.number(10)})
	case "dt":
		return g.pick([]string{g.datetime(), g.date()})
	}
	return g.pick([]string{g.date(), g.datetime()})
}

var columns = []string{"id", "a", "b", "c", "s", "bin", "d", "f", "dt", "day", "n"}

func (g *generator) predicate() string {
	column := g.pick(g.columns)
	value := func() string { return g.value(column) }
	switch g.IntN(15) {
	case 0, 1, 2:
		return column + " = " + value()
	case 3:
		return column + " " + g.pick([]string{"<", "<=", ">", ">=", "<>", "<=>"}) + " " + value()
	case 4:
		return value() + " " + g.pick([]string{"<", "<=", ">", ">=", "=", "<=>"}) + " " + column
	case 5, 6:
		return column + g.pick([]string{"", "", " NOT"}) + " BETWEEN " + value() + " AND " + value()
	case 7, 8:
		list := make([]string, g.IntN(5)+1)
		for i := range list {
			list[i] = value()
		}
		return column + g.pick([]string{"", "", " NOT"}) + " IN (" + strings.Join(list, ", ") + ")"
	case 9:
		return column + g.pick([]string{" IS NULL", " IS NOT NULL"})
	case 10:
		return g.pick(g.texts) + g.pick([]string{"", " NOT"}) + " LIKE '" + strings.Trim(g.word(), "'") + g.pick([]string{"%", "_", "", "%b", "\\\\%"}) + "'"
	case 11:
		return column + " BETWEEN " + value() + " AND " + value() + " OR " + column + " BETWEEN " + value() + " AND " + value()
	case 12:
		return column + " >= " + value() + " AND " + column + " < " + value()
	case 13:
		parts := make([]string, g.IntN(3)+2)
		for i := range parts {
			parts[i] = column + g.pick([]string{" IS NULL", " = " + value(), " > " + value(), " <= " + value(), " IN (" + value() + "," + value() + ")", " <=> " + value()})
		}
		return strings.Join(parts, " OR ")
	}
	return g.pick(g.others)
}

func (g *generator) where(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return "(" + g.predicate() + ")"
	}
	switch g.IntN(6) {
	case 0:
		return "NOT " + g.where(depth-1)
	case 1, 2:
		return "(" + g.where(depth-1) + " OR " + g.where(depth-1) + ")"
	}
	return "(" + g.where(depth-1) + " AND " + g.where(depth-1) + ")"
}

// compareWrites changes and deletes rows by index and by scan, within transactions that are rolled back.
func (g *generator) compareWrites(c *inproc.Conn) string {
	where := g.where(2)
	change := g.pick(g.changes)
	if strings.HasPrefix(change, "DELETE") {
		change = "DELETE FROM t WHERE " // no hints are allowed here, so the scan is forced by the condition below
	}
	var outcome [3]string
	for i, hint := range []string{"", "", g.ignoreAll()} {
		text := strings.Replace(change, "%s", hint, 1) + where
		if i == 1 {
			verb, rest, _ := strings.Cut(text, " ")
			text = verb + " /*+ INDEX_MERGE(t) */ " + rest
		}
		if hint != "" && strings.HasPrefix(text, "DELETE") {
			text = change + where + " OR COALESCE(id, 0) = -77777" // a function's result is no condition on a column
		}
		c.Must("BEGIN")
		a := c.Exec(text)
		outcome[i] = fmt.Sprintf("%d rows\n%s", a.Result.AffectedRows, bag(c.Must("SELECT * FROM t").Rows))
		c.Must("ROLLBACK")
		if a.Err != nil {
			return "" // strict mode refuses bad values in the rows that are looked at, which depend on the way to them
		}
	}
	for i, with := range []string{"", "with INDEX_MERGE "} {
		if outcome[i] != outcome[2] {
			return fmt.Sprintf("%s%s%s differ:\n%s", with, change, where, difference(outcome[i], outcome[2]))
		}
	}
	return ""
}

// difference lists the lines that only one of two texts has.
func difference(a, b string) string {
	var out []string
	for i, pair := range [][2]string{{a, b}, {b, a}} {
		for _, line := range strings.Split(pair[0], "\n") {
			if !strings.Contains("\n"+pair[1]+"\n", "\n"+line+"\n") {
				out = append(out, []string{"index: ", "scan: "}[i]+line)
			}
		}
	}
	return strings.Join(out, "\n")
}

// query is one random statement.
type query struct {
	hint, items, where, group, order, limit string
	keys                                    int // leading columns of the result that ORDER BY orders
}

func (g *generator) query() *query {
	q := &query{where: g.where(3)}
	if g.IntN(6) == 0 {
		q.grouped(g)
		return q
	}
	cols := append([]string(nil), g.columns...)
	g.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	cols = cols[:g.IntN(4)+1]
	q.items = strings.Join(cols, ", ")
	if g.IntN(8) == 0 {
		q.items = "DISTINCT " + q.items
	}
	if g.IntN(2) == 0 {
		q.keys = g.IntN(len(cols)) + 1
		var keys []string
		for i := 0; i < q.keys; i++ {
			keys = append(keys, cols[i]+g.pick([]string{"", "", " DESC"}))
		}
		q.order = " ORDER BY " + strings.Join(keys, ", ")
	}
	switch g.IntN(4) {
	case 0:
		q.limit = fmt.Sprintf(" LIMIT %d", g.IntN(20))
	case 1:
		q.limit = fmt.Sprintf(" LIMIT %d, %d", g.IntN(10), g.IntN(20))
	}
	return q
}

func (q *query) grouped(g *generator) {
	key, aggregate := g.pick(g.groups), g.pick(g.aggregates)
	if g.IntN(3) == 0 {
		q.items = aggregate
		return
	}
	q.items, q.group = key+", "+aggregate, " GROUP BY "+key
	if g.IntN(3) == 0 {
		q.group += " HAVING COUNT(*) > 1"
	}
}

func (q *query) text(hint string) string {
	return "SELECT " + q.hint + q.items + " FROM t" + hint + " WHERE " + q.where + q.group + q.order + q.limit
}

// compare tells how two answers differ, or returns "". Rows whose order the statement leaves open compare as sets; of those that LIMIT may
// choose freely, only their number and the ordered columns do.
func (q *query) compare(fast, slow *inproc.Answer) string {
	if fast.Number() != slow.Number() {
		return fmt.Sprintf("errors differ: %v and %v", fast.Err, slow.Err)
	}
	if len(fast.Rows) != len(slow.Rows) {
		return fmt.Sprintf("%d rows by index, %d by scan\n%v\n%v", len(fast.Rows), len(slow.Rows), fast.Rows, slow.Rows)
	}
	for i := range fast.Rows {
		if a, b := folded(fast.Rows[i][:q.keys]), folded(slow.Rows[i][:q.keys]); a != b {
			return fmt.Sprintf("row %d is %q by index and %q by scan", i, a, b)
		}
	}
	if q.limit != "" {
		return ""
	}
	if a, b := bag(fast.Rows), bag(slow.Rows); a != b {
		return "the rows differ:\n" + a + "\nand\n" + b
	}
	return ""
}

// folder makes texts equal that the collations hold to be equal, ß and ss or s among them: which of them DISTINCT, GROUP BY or LIMIT shows is left open.
var folder = strings.NewReplacer("ä", "a", "é", "e", "ß", "s")

func folded(row []string) string {
	parts := make([]string, len(row))
	for i := range row {
		parts[i] = strings.TrimRight(folder.Replace(strings.ToLower(row[i])), " ")
		for strings.Contains(parts[i], "ss") {
			parts[i] = strings.ReplaceAll(parts[i], "ss", "s")
		}
	}
	return strings.Join(parts, "|")
}

func bag(rows [][]string) string {
	lines := make([]string, len(rows))
	for i := range rows {
		lines[i] = folded(rows[i])
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// TestCompareCanary proves that the comparison can fail.
func TestCompareCanary(t *testing.T) {
	rows := func(r ...[]string) *inproc.Answer { return &inproc.Answer{Rows: r} }
	q := &query{keys: 1}
	one, two := []string{"1", "x"}, []string{"2", "y"}
	for name, pair := range map[string][2]*inproc.Answer{
		"missing row": {rows(one), rows(one, two)},
		"order":       {rows(two, one), rows(one, two)},
		"value":       {rows([]string{"1", "z"}), rows(one)},
	} {
		if q.compare(pair[0], pair[1]) == "" {
			t.Errorf("%s: not noticed", name)
		}
	}
	if fault := q.compare(rows(one, two), rows(one, two)); fault != "" {
		t.Errorf("equal answers differ: %s", fault)
	}
}

// TestNumbersThatAreNoDates: a number that is no date compares with one as a number, whether it stands in the text, was lifted out of
// it for the plan cache, or is a parameter.
func TestNumbersThatAreNoDates(t *testing.T) {
	n := inproc.Open(t, inproc.Options{})
	defer n.Close()
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, dt DATETIME, day DATE, ts TIMESTAMP NULL, tm TIME, KEY (dt), KEY (day), KEY (ts), KEY (tm))")
	c.Must("INSERT INTO t VALUES (1,'2024-01-01','2024-01-01','2024-01-01','01:02:03'),(2,'2024-01-26','2024-01-26','2024-01-26','-01:00:00'),(3,NULL,NULL,NULL,NULL)")
	for _, column := range []string{"dt", "day", "ts", "tm"} {
		for _, number := range []string{"-1e1", "1e9", "-10", "-10.5", "1e30", "13", "20240101", "20240101000000.5", "99999999999999"} {
			for _, form := range []string{"%s = %s", "%s <> %s", "%s > %s", "%s <= %s", "%s <=> %s", "NOT %s <=> %s", "%s BETWEEN %s AND 1e40", "%s IN (%s)", "%s NOT IN (%s, 77777777777777)"} {
				where := fmt.Sprintf(form, column, number)
				want := bag(c.Must("SELECT id FROM t WHERE COALESCE(" + where + ", 0)").Rows) // what is not a condition keeps its literals
				for _, hint := range []string{"", " IGNORE INDEX (PRIMARY, dt, day, ts, tm)"} {
					if got := bag(c.Must("SELECT id FROM t" + hint + " WHERE " + where).Rows); got != want {
						t.Errorf("%s%s finds %q, not %q", where, hint, got, want)
					}
				}
			}
		}
	}
}
