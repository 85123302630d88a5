package sqltest_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	sqltest "github.com/pandodb/pando/tests/sql"
	"github.com/pandodb/pando/tests/sql/sqlgen"
	"github.com/pandodb/pando/types"
)

const (
	mutations     = 3000
	slowMutations = 300_000
	changesMax    = 3 // in one statement
)

// sqlToken parts a statement: words and numbers, strings, and single characters.
var sqlToken = regexp.MustCompile("[A-Za-z_0-9.]+|'[^']*'|`[^`]*`|[<>!=]+|\\S")

// strange are words that a mutation puts into a statement.
var strange = []string{"NULL", "0", "-1", "18446744073709551616", "1e308", "''", "'é'", "x'FF'", "b'1'", "DATE '2024-02-30'", "*", "(", ")", ",", "?", "@v",
	"(SELECT 1)", "(SELECT 1, 2)", "(SELECT * FROM t1)", "COUNT(*)", "ROW_NUMBER() OVER ()", "GROUPING(a)", "DISTINCT", "WITH ROLLUP", "LATERAL", "NATURAL",
	"UNION", "INTERSECT", "LIMIT 0", "FOR UPDATE", "GROUP BY 1", "ORDER BY 9", "HAVING 1", "VALUES ROW(1)", "INTERVAL 1 DAY", "JSON_EXTRACT('[1]', '$[0]')", "DEFAULT",
	"EXTRACTVALUE('<a>1</a>', '/a')", "CAST(a AS JSON)", "CAST(s AS DATE)", "COLLATE latin1_bin", "REPEAT('x', 1e9)", "EXISTS", "ALL", "NOT", "IN"}

// TestMutations: no statement, however bent, meets a fault of the server: it answers, or has an error of MySQL's that says what is wrong. The
// statements are those of the files and of the generator, with words taken out, doubled, exchanged or put in.
func TestMutations(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 0)
	var pool []string
	paths, err := filepath.Glob("testdata/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		records, err := sqltest.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			pool = append(pool, record.SQL)
		}
	}
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	c := n.Root("")
	g := sqlgen.New(r.Uint64())
	prepare := func() {
		// A temporary table that a statement has made outlives its database, and would hide the new one of its name.
		for _, s := range append([]string{"DROP DATABASE IF EXISTS bent", "CREATE DATABASE bent", "USE bent", "DROP TEMPORARY TABLE IF EXISTS t1, t2, t3"}, g.Schema(true)...) {
			c.Must(s)
		}
	}
	prepare()
	count := mutations
	if testkit.SlowTests() {
		count = slowMutations
	}
	faults := 0
	for i := range count {
		sql := pool[r.IntN(len(pool))]
		if i%3 == 0 {
			sql = g.Any()
		}
		bent := bend(r, sql)
		c.Must("SET SESSION max_execution_time = 500, tidb_mem_quota_query = 67108864, cte_max_recursion_depth = 100")
		answers, stack := guarded(c, bent)
		if stack != "" {
			if faults++; faults > complaintsShown {
				t.Fatal("more faults are left out")
			}
			t.Errorf("%s\n%s", bent, stack)
			c = n.Root("bent") // what a panic leaves of a session is not used again
		}
		for _, a := range answers {
			if number := a.Number(); number < 0 || number == int(types.ErUnknownError) && !strings.Contains(a.Err.Error(), "XPATH") {
				t.Errorf("%s\n%v", bent, a.Err)
			}
		}
		if i%100 == 99 { // a DROP or an UPDATE may have met what later statements need
			c.Exec("ROLLBACK")
			c.Exec("UNLOCK TABLES")
			prepare()
		}
	}
}

// guarded runs a statement; stack is where it panicked.
func guarded(c *inproc.Conn, sql string) (answers []*inproc.Answer, stack string) {
	defer func() {
		if fault := recover(); fault != nil {
			stack = fmt.Sprintf("%v\n%s", fault, debug.Stack())
		}
	}()
	return c.Query(sql), ""
}

// bend changes a statement in a few places.
func bend(r *rand.Rand, sql string) string {
	words := sqlToken.FindAllString(sql, -1)
	for range 1 + r.IntN(changesMax) {
		if len(words) == 0 {
			break
		}
		i, k := r.IntN(len(words)), r.IntN(len(words))
		switch r.IntN(5) {
		case 0:
			words = append(words[:i], words[i+1:]...)
		case 1:
			words = append(words[:i+1], words[i:]...)
		case 2:
			words[i], words[k] = words[k], words[i]
		case 3:
			words[i] = strange[r.IntN(len(strange))]
		case 4:
			words = append(words[:i], append([]string{strange[r.IntN(len(strange))]}, words[i:]...)...)
		}
	}
	return strings.Join(words, " ")
}
