package sqltest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
)

const (
	generatedTables     = 6   // pairs of tables with rows of their own
	generatedStatements = 120 // writes, schema changes and queries over each
	generatedRows       = 40  // that a table begins with
)

// generatedExpressions are those over which there may be columns and indexes, with the type of a column that has room for all their values.
var generatedExpressions = []struct{ text, kind string }{
	{"a + b", "BIGINT"}, {"a * 2", "BIGINT"}, {"a - id", "BIGINT"}, {"COALESCE(a, 0)", "BIGINT"}, {"a % 3 = 1", "INT"},
	{"UPPER(s)", "VARCHAR(20)"}, {"CONCAT(s, a)", "VARCHAR(40)"}, {"LEFT(s, 1)", "VARCHAR(20)"}, {"CHAR_LENGTH(s)", "INT"},
	{"CAST(j->'$.x' AS SIGNED)", "BIGINT"}, {"CAST(a AS DECIMAL(10, 1))", "DECIMAL(10, 1)"}, {"YEAR(d)", "INT"}, {"d + INTERVAL 1 DAY", "DATE"},
}

// TestRandomGenerated makes pairs of tables with the same generated columns, of which one has indexes over them and over expressions and the other
// none. Both get the same random writes, the first also loses and gets indexes and columns meanwhile, and each query must find the same.
func TestRandomGenerated(t *testing.T) {
	seed := testkit.Seed(t)
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	indexed := 0
	for i := range uint64(generatedTables) {
		p := newGeneratedPair(t, n, testkit.Rand(seed, i), fmt.Sprintf("g%d", i))
		for range generatedStatements {
			p.step()
		}
		p.check()
		indexed += p.indexed
	}
	if indexed == 0 {
		t.Error("no query was answered by an index over a generated column or an expression: the test compares nothing")
	}
}

// generatedPair is a table with indexes, k, and the same without, n.
type generatedPair struct {
	t       *testing.T
	c       *inproc.Conn
	r       *rand.Rand
	next    int               // id of the next row
	columns []string          // generated ones
	kinds   map[string]string // the types of columns and of expressions in parentheses
	indexes []string
	made    int // indexes so far
	indexed int // queries that an index has answered
}

func newGeneratedPair(t *testing.T, n *inproc.Node, r *rand.Rand, database string) *generatedPair {
	p := &generatedPair{t: t, c: n.Root(""), r: r, next: 1, kinds: map[string]string{}}
	t.Cleanup(p.c.Close)
	p.must("CREATE DATABASE " + database)
	p.must("USE " + database)
	var columns, keys []string
	for i, at := range r.Perm(len(generatedExpressions))[:4] {
		e := generatedExpressions[at]
		word := []string{"VIRTUAL", "STORED"}[r.IntN(2)]
		name := fmt.Sprintf("g%d", i)
		columns = append(columns, fmt.Sprintf("%s %s AS (%s) %s", name, e.kind, e.text, word))
		p.columns, p.kinds[name] = append(p.columns, name), e.kind
	}
	for _, e := range generatedExpressions {
		p.kinds["("+e.text+")"] = e.kind
	}
	p.columns, p.kinds["gg"] = append(p.columns, "gg"), "VARCHAR(60)"
	columns = append(columns, "gg VARCHAR(60) AS (CONCAT_WS('/', g0, g1)) VIRTUAL")
	body := "id INT PRIMARY KEY, a INT, b INT, s VARCHAR(20), d DATE, j JSON, " + strings.Join(columns, ", ")
	for range 3 {
		keys = append(keys, p.key())
	}
	p.must("CREATE TABLE k (" + body + ", " + strings.Join(keys, ", ") + ")")
	p.must("CREATE TABLE n (" + body + ")")
	for range generatedRows {
		p.both(p.insert())
	}
	return p
}

// key describes a new index over a column or an expression, or both.
func (p *generatedPair) key() string {
	parts := []string{p.part()}
	if p.r.IntN(2) == 0 {
		if other := p.part(); !slices.Contains(parts, other) {
			parts = append(parts, other)
		}
	}
	if p.r.IntN(4) == 0 {
		parts[0] += " DESC"
	}
	p.made++
	p.indexes = append(p.indexes, fmt.Sprintf("i%d", p.made))
	return fmt.Sprintf("KEY i%d (%s)", p.made, strings.Join(parts, ", "))
}

func (p *generatedPair) part() string {
	if p.r.IntN(2) == 0 {
		return p.columns[p.r.IntN(len(p.columns))]
	}
	return "(" + p.expression() + ")"
}

func (p *generatedPair) expression() string {
	return generatedExpressions[p.r.IntN(len(generatedExpressions))].text
}

// operand is a column or an expression to ask for.
func (p *generatedPair) operand() string { return p.part() }

// value is one to compare an operand with: of its type, since one that does not convert is an error for the rows that are looked at.
func (p *generatedPair) value(operand string) string {
	pick := func(list ...string) string { return list[p.r.IntN(len(list))] }
	switch kind := p.kinds[operand]; {
	case p.r.IntN(8) == 0:
		return "NULL"
	case strings.HasPrefix(kind, "VARCHAR"):
		return pick("'a'", "'A'", "'B'", "'ab'", "'AB'", "'a1'", "'2/4'", "''")
	case kind == "DATE":
		return pick("'2024-01-02'", "'2024-01-03'", "DATE '2024-01-01'")
	case strings.Contains(operand, "YEAR"):
		return pick("2024", "2023")
	}
	return fmt.Sprint(p.r.IntN(12) - 2)
}

func (p *generatedPair) row() string {
	pick := func(list ...string) string { return list[p.r.IntN(len(list))] }
	return fmt.Sprintf("%s, %s, %s, %s, %s", pick("NULL", "1", "2", "3", "7", "-1"), pick("0", "1", "NULL", "5"), pick("NULL", "'a'", "'A'", "'ab'", "'b'", "''"),
		pick("NULL", "'2024-01-01'", "'2024-01-02'", "'2023-12-31'"), pick("NULL", `'{"x": 3}'`, `'{"x": 5, "y": 1}'`, `'{}'`))
}

func (p *generatedPair) insert() string {
	p.next++
	return fmt.Sprintf("INSERT INTO @t (id, a, b, s, d, j) VALUES (%d, %s)", p.next, p.row())
}

func (p *generatedPair) condition() string {
	x, y := p.operand(), p.operand()
	v, w := p.value(x), p.value(x)
	switch p.r.IntN(8) {
	case 0:
		return fmt.Sprintf("%s BETWEEN %s AND %s", x, v, w)
	case 1:
		return fmt.Sprintf("%s IN (%s, %s)", x, v, w)
	case 2:
		return x + " IS NULL"
	case 3:
		return fmt.Sprintf("(%s = %s OR %s = %s)", x, v, x, w)
	case 4:
		return fmt.Sprintf("%s = %s AND %s > %s", x, v, y, p.value(y))
	case 5:
		return fmt.Sprintf("%s < %s", x, v)
	}
	return fmt.Sprintf("%s = %s", x, v)
}

// step runs one random statement.
func (p *generatedPair) step() {
	switch p.r.IntN(16) {
	case 0, 1:
		p.both(p.insert())
	case 2:
		p.both(fmt.Sprintf("REPLACE INTO @t (id, a, b, s, d, j) VALUES (%d, %s)", 1+p.r.IntN(p.next), p.row()))
	case 3:
		p.both(fmt.Sprintf("INSERT INTO @t (id, a, b, s, d, j) VALUES (%d, %s) ON DUPLICATE KEY UPDATE a = a + 1, s = 'ab'", 1+p.r.IntN(p.next), p.row()))
	case 4, 5:
		p.both("UPDATE @t SET a = COALESCE(a, 0) + 1, j = JSON_SET(COALESCE(j, '{}'), '$.x', id) WHERE " + p.condition())
	case 6:
		p.both("UPDATE @t SET s = CONCAT(LEFT(COALESCE(s, 'c'), 2), 'B'), d = NULL WHERE " + p.condition() + fmt.Sprintf(" AND id < %d", p.r.IntN(p.next)))
	case 7:
		p.both("DELETE FROM @t WHERE " + p.condition() + fmt.Sprintf(" AND id %% 4 = %d", p.r.IntN(4)))
	case 8:
		p.must("ALTER TABLE k ADD " + p.key())
	case 9:
		if at := p.r.IntN(len(p.indexes)); len(p.indexes) > 1 {
			p.must("ALTER TABLE k DROP INDEX " + p.indexes[at])
			p.indexes = slices.Delete(p.indexes, at, at+1)
		}
	default:
		p.query()
	}
}

// query compares one query's rows.
func (p *generatedPair) query() {
	order := "id"
	if p.r.IntN(3) == 0 {
		order = p.operand() + []string{"", " DESC"}[p.r.IntN(2)] + ", id"
	}
	text := "SELECT id, " + strings.Join(p.columns, ", ") + " FROM @t WHERE " + p.condition() + " ORDER BY " + order
	if p.r.IntN(4) == 0 {
		text += fmt.Sprintf(" LIMIT %d", 1+p.r.IntN(8))
	}
	p.both(text)
	plan := ask(p.c, "EXPLAIN FORMAT=TRADITIONAL "+strings.ReplaceAll(text, "@t", "k"))
	for _, row := range plan.Rows {
		if slices.ContainsFunc(row, func(cell string) bool { return slices.Contains(p.indexes, cell) }) {
			p.indexed++
		}
	}
}

func (p *generatedPair) must(sql string) {
	p.t.Helper()
	if a := ask(p.c, sql); a.Number != 0 {
		p.t.Fatalf("%s: %s", sql, a.Message)
	}
}

// both runs a statement over each of the tables and compares the answers.
func (p *generatedPair) both(format string) {
	p.t.Helper()
	k, n := ask(p.c, strings.ReplaceAll(format, "@t", "k")), ask(p.c, strings.ReplaceAll(format, "@t", "n"))
	if k.Number != n.Number || k.Affected != n.Affected || fmt.Sprint(k.Rows) != fmt.Sprint(n.Rows) {
		p.t.Errorf("%s\nwith indexes:    error %d, %d rows affected, %v\nwithout indexes: error %d, %d rows affected, %v", format, k.Number, k.Affected, k.Rows,
			n.Number, n.Affected, n.Rows)
	}
}

// check compares the tables and each index with its table.
func (p *generatedPair) check() {
	p.both("SELECT * FROM @t ORDER BY id")
	if a := ask(p.c, "CHECK TABLE k"); len(a.Rows) != 1 || a.Rows[0][3] != "OK" {
		p.t.Errorf("CHECK TABLE k: %v %s", a.Rows, a.Message)
	}
}
