package sqltest_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/tests/sql/sqlgen"
)

const (
	correlatedSchemas = 6   // tables with rows of their own
	correlatedQueries = 150 // queries over each
)

// Hints under which a correlated subquery is a join if it can be one, and under which it never is.
const (
	asJoin  = "SEMIJOIN()"
	asApply = "NO_DECORRELATE()"
)

// TestRandomCorrelated compares the answers to random queries with correlated subqueries: as the cost has them, as joins wherever they can be, and run for
// each row around, over tables with indexes and without, with little memory, and of a real MySQL if PANDO_MYSQL is its address.
func TestRandomCorrelated(t *testing.T) {
	seed := testkit.Seed(t)
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	failed, joined := 0, 0
	for i := range uint64(correlatedSchemas) {
		w := newWorld(t, n, seed+i)
		g := sqlgen.New(seed + i)
		for range correlatedQueries {
			query := g.Correlated()
			failed += w.check(g, query, failed)
			want := w.sides[0].ask(query)
			for _, s := range w.sides[:3] {
				for _, hint := range []string{asApply, asJoin, asJoin + " HASH_JOIN()"} {
					hinted := sqlgen.WithHint(query, hint)
					failed += w.compare(query, want, s.name+", "+hint, hinted, s.ask(hinted), failed)
				}
			}
			if w.dependent(sqlgen.WithHint(query, asApply)) > w.dependent(sqlgen.WithHint(query, asJoin)) {
				joined++
			}
		}
	}
	if failed > 0 {
		t.Errorf("%d answers differ", failed)
	}
	if joined < correlatedSchemas*correlatedQueries/4 {
		t.Errorf("%d queries have subqueries that become joins: the test compares too little", joined)
	}
}

// dependent is how many subqueries of a query are run for each row around.
func (w *world) dependent(query string) int {
	count := 0
	for _, row := range w.sides[0].ask("EXPLAIN FORMAT=TREE " + query).Rows {
		count += strings.Count(strings.Join(row, ""), "dependent subquery")
	}
	return count
}
