package sqltest_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	sqltest "github.com/pandodb/pando/tests/sql"
	"github.com/pandodb/pando/tests/sql/server"
	"github.com/pandodb/pando/tests/sql/sqlgen"
)

const (
	correlatedSchemas = 4  // tables with rows of their own
	correlatedQueries = 50 // queries over each
	correlatedWrites  = 30 // changes of each
)

// Hints under which a correlated subquery is a join if it can be one, and under which it never is.
const (
	asJoin  = "SEMIJOIN()"
	asApply = "NO_DECORRELATE()"
)

// TestRandomCorrelated compares the answers to random queries with correlated subqueries: as the cost has them, as joins wherever they can be, and run for
// each row around, over tables with indexes and without, with little memory, and of a real MySQL if PANDO_MYSQL is its address.
func TestRandomCorrelated(t *testing.T) {
	correlated(t, correlatedQueries, 4, func(w *world, g *sqlgen.Gen, before int) (query string, failed int) {
		query, own := g.Correlated()
		real := w.real
		if own {
			w.real = nil
		}
		failed = w.check(g, query, before)
		w.real = real
		want := w.sides[0].ask(query)
		for _, s := range w.sides[:3] {
			for _, hint := range []string{asApply, asJoin, asJoin + " HASH_JOIN()"} {
				hinted := sqlgen.WithHint(query, hint)
				failed += w.compare(query, want, s.name+", "+hint, hinted, s.ask(hinted), before+failed)
			}
		}
		return query, failed
	})
}

// TestRandomCorrelatedWrites does the same with UPDATE and DELETE, and compares what the table then holds.
func TestRandomCorrelatedWrites(t *testing.T) {
	correlated(t, correlatedWrites, 8, func(w *world, g *sqlgen.Gen, before int) (write string, failed int) {
		write = g.CorrelatedWrite()
		want := w.write(w.sides[0].ask, sqlgen.WithHint(write, asApply))
		for _, s := range w.sides[:3] {
			hinted := sqlgen.WithHint(write, asJoin)
			failed += w.compare(write, want, s.name, hinted, w.write(s.ask, hinted), before+failed)
		}
		// Of COUNT(DISTINCT x) over no rows MySQL stores what it counted for the row before.
		if w.real != nil && want.Number == 0 && !strings.Contains(write, "DISTINCT") {
			if got := w.write(w.askReal, write); got.Number == 0 {
				failed += w.compare(write, numeric(want), "MySQL", write, numeric(got), before+failed)
			}
		}
		return write, failed
	})
}

// correlated tries statements over each schema. One of share has to have subqueries that become joins under the hint for it: with fewer the test would
// compare too little.
func correlated(t *testing.T, statements, share int, try func(w *world, g *sqlgen.Gen, before int) (statement string, failed int)) {
	seed, statements := testkit.Seed(t), testkit.Repeat(statements)
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	failed, joined := 0, 0
	for i := range uint64(correlatedSchemas) {
		w := newWorld(t, n, seed+i)
		g := sqlgen.New(seed + i)
		for range statements {
			statement, wrong := try(w, g, failed)
			failed += wrong
			if w.dependent(sqlgen.WithHint(statement, asApply)) > w.dependent(sqlgen.WithHint(statement, asJoin)) {
				joined++
			}
		}
	}
	t.Logf("%d statements of %d", joined, correlatedSchemas*statements)
	if failed > 0 {
		t.Errorf("%d answers differ", failed)
	}
	if joined < correlatedSchemas*statements/share {
		t.Errorf("%d statements have subqueries that become joins: the test compares too little", joined)
	}
}

// write runs a change in a transaction that is undone, and returns what it answered and the table holds in between.
func (w *world) write(ask func(string) *sqltest.Answer, write string) *sqltest.Answer {
	ask("BEGIN")
	defer ask("ROLLBACK")
	done := ask(write)
	if done.Number != 0 {
		return done
	}
	held := ask("SELECT * FROM t1")
	held.Affected = done.Affected
	return held
}

func (w *world) askReal(text string) *sqltest.Answer {
	kind := sqltest.Query
	if !strings.HasPrefix(text, "SELECT ") {
		kind = sqltest.Count
	}
	got, err := server.Ask(w.real, &sqltest.Record{Kind: kind, SQL: text})
	if err != nil {
		w.t.Fatalf("seed %d: %s: %v", w.seed, text, err)
	}
	return got
}

// dependent is how many subqueries of a query are run for each row around.
func (w *world) dependent(query string) int {
	count := 0
	for _, row := range w.sides[0].ask("EXPLAIN FORMAT=TREE " + query).Rows {
		count += strings.Count(strings.Join(row, ""), "dependent subquery")
	}
	return count
}
