package plan

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// TestStepsAreLinear holds that planning a statement of four times the terms takes about four times the steps.
func TestStepsAreLinear(t *testing.T) {
	list := func(n int, sep, form string) string {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = strings.ReplaceAll(form, "#", fmt.Sprint(i))
		}
		return strings.Join(terms, sep)
	}
	shapes := map[string]func(n int) string{
		"or":         func(n int) string { return "SELECT 1 FROM (SELECT 1 AS a) d WHERE " + list(n, " OR ", "a = #") },
		"and":        func(n int) string { return "SELECT 1 FROM (SELECT 1 AS a) d WHERE " + list(n, " AND ", "a <> #") },
		"in":         func(n int) string { return "SELECT 1 FROM (SELECT 1 AS a) d WHERE a IN (" + list(n, ", ", "#") + ")" },
		"select":     func(n int) string { return "SELECT " + list(n, ", ", "a + #") + " FROM (SELECT 1 AS a) d" },
		"union":      func(n int) string { return list(n/8, " UNION ALL ", "SELECT #") },
		"aggregates": func(n int) string { return "SELECT " + list(n, ", ", "sum(a + #)") + " FROM (SELECT 1 AS a) d" },
		"having": func(n int) string {
			return "SELECT 1 FROM (SELECT 1 AS a) d HAVING " + list(n, " OR ", "max(a + #) = 1")
		},
		"group by": func(n int) string {
			return "SELECT " + list(n, ", ", "a + #") + " FROM (SELECT 1 AS a) d GROUP BY " + list(n, ", ", "a + #")
		},
		"order by": func(n int) string {
			return "SELECT " + list(n, ", ", "a + #") + " FROM (SELECT 1 AS a) d ORDER BY " + list(n, ", ", "a + #")
		},
		"windows": func(n int) string {
			return "SELECT " + list(n/8, ", ", "sum(a) OVER (ORDER BY a + #)") + " FROM (SELECT 1 AS a) d"
		},
		"window": func(n int) string {
			return "SELECT " + list(n, ", ", "sum(a + #) OVER (ORDER BY a)") + " FROM (SELECT 1 AS a) d"
		},
		"nested": func(n int) string { // comparisons of subqueries within each other
			n /= 100
			return "SELECT " + strings.Repeat("(SELECT ", n) + "1" + strings.Repeat(") = (SELECT 1)", n)
		},
	}
	for name, shape := range shapes {
		small, large := stepsOf(t, shape(500)), stepsOf(t, shape(2000))
		if large > 5*small {
			t.Errorf("%s: %d steps for 500 terms, %d for 2000", name, small, large)
		}
	}
}

func stepsOf(t *testing.T, text string) int {
	t.Helper()
	steps, err := planned(t, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// planned is how many steps planning a query takes.
func planned(t *testing.T, text string, mode types.SQLMode) (steps int, err error) {
	t.Helper()
	stmt, _, err := syntax.Parse(text, syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder(&Env{Text: text, Build: &expr.BuildContext{Ctx: &types.Context{SQLMode: mode}, Collation: types.DefaultCollation}, SelectLimit: -1})
	err = b.statementQuery(stmt.(*syntax.Query))
	return b.steps, err
}

// growsLinearly fails the test unless what plan allocates for the text of 2,000 is about four times what it does for that of 500.
func growsLinearly(t *testing.T, name string, text func(n int) string, plan func(text string)) {
	t.Helper()
	measure := func(n int) uint64 {
		long := text(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan(long)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := measure(500), measure(2000); large > 6*small {
		t.Errorf("%s: %d bytes for 500, %d for 2000", name, small, large)
	}
}

// TestMemoryIsLinear holds that four times as many common table expressions over each other take about four times the memory: each has columns
// of its own, and sees all before it.
func TestMemoryIsLinear(t *testing.T) {
	chain := func(n int) string {
		text := "WITH c0 AS (SELECT 1 AS a)"
		for i := range n {
			text += fmt.Sprintf(", c%d AS (SELECT a FROM c%d)", i+1, i)
		}
		return text + fmt.Sprintf(" SELECT * FROM c%d", n)
	}
	growsLinearly(t, "chain", chain, func(text string) { stepsOf(t, text) })
}

// TestPlanningStops holds that the interrupt ends planning.
func TestPlanningStops(t *testing.T) {
	text := "SELECT " + strings.Repeat("1, ", 2000) + "1"
	stmt, _, err := syntax.Parse(text, syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	killed := types.Errorf(types.ErQueryInterrupted)
	env := &Env{Text: text, Build: &expr.BuildContext{Ctx: &types.Context{}, Collation: types.DefaultCollation}, SelectLimit: -1, Poll: func() error { return killed }}
	if _, _, err := Build(env, stmt); err != error(killed) {
		t.Fatalf("planning ended with %v", err)
	}
}

// TestAliasesOfAliases holds that elements of a select list which name others twice are looked through once each.
func TestAliasesOfAliases(t *testing.T) {
	text := "SELECT a + 1 AS x0"
	for i := range 60 {
		text += strings.ReplaceAll(fmt.Sprintf(", (SELECT #) + (SELECT #) AS x%d", i+1), "#", fmt.Sprintf("x%d", i))
	}
	if steps := stepsOf(t, text+" FROM (SELECT 1 AS a) d"); steps > 10000 {
		t.Errorf("planning took %d steps", steps)
	}
}

// TestDependencesAreLinear holds that what the keys of GROUP BY determine is found with memory that grows as the query does: chains of equalities,
// of which each makes one more column known, long lists of other conditions, and CTEs that refer to the one before them.
func TestDependencesAreLinear(t *testing.T) {
	list := func(n int, sep string, form func(i int) string) string {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = form(i)
		}
		return strings.Join(terms, sep)
	}
	shapes := map[string]func(n int) string{
		"chain": func(n int) string { // each equality is of use after the one behind it
			columns := list(n, ", ", func(i int) string { return fmt.Sprintf("max(1) AS c%d", i) })
			equal := list(n-1, " AND ", func(i int) string { return fmt.Sprintf("c%d = c%d", i, i+1) })
			return "SELECT c0 FROM (SELECT " + columns + " FROM (SELECT 1 AS a) d GROUP BY a) d WHERE " + equal + fmt.Sprintf(" GROUP BY c%d", n-1)
		},
		"expressions": func(n int) string {
			columns := list(n, ", ", func(i int) string { return fmt.Sprintf("max(1) AS c%d", i) })
			equal := list(n-1, " AND ", func(i int) string { return fmt.Sprintf("c%d = coalesce(c%d, c%d)", i, i+1, n-1) })
			return "SELECT max(c0) FROM (SELECT " + columns + " FROM (SELECT 1 AS a) d GROUP BY a) d WHERE " + equal + " GROUP BY c0"
		},
		"common table expressions": func(n int) string {
			text := "WITH c0 AS (SELECT 1 AS a, 2 AS b)"
			for i := range n {
				text += fmt.Sprintf(", c%d AS (SELECT a, b FROM c%d)", i+1, i)
			}
			return text + fmt.Sprintf(" SELECT b FROM c%d GROUP BY a, b", n)
		},
	}
	for name, shape := range shapes {
		growsLinearly(t, name, shape, func(text string) { groupedStepsOf(t, text) })
	}
}

// TestTwiceTheOneBefore holds that CTEs of which each refers to the one before it twice take neither the time nor the memory of as many copies as
// that makes, 2^30: what determines what is no longer known, and those that have to be resolved again for each reference are refused.
func TestTwiceTheOneBefore(t *testing.T) {
	with := "WITH c0 AS (SELECT 1 + # AS a, max(2) AS b)"
	for i := range 30 {
		with += strings.ReplaceAll(fmt.Sprintf(", c%d AS (SELECT x.a, y.b FROM @ x JOIN @ y ON x.a = y.a)", i+1), "@", fmt.Sprintf("c%d", i))
	}
	stmt := strings.ReplaceAll(with, "#", "1") + " SELECT a FROM c30 GROUP BY a"
	if steps := groupedStepsOf(t, stmt); steps > 100000 {
		t.Errorf("planning took %d steps", steps)
	}
	lateral := "SELECT * FROM (SELECT 1 AS k) d, LATERAL (" + strings.ReplaceAll(with, "#", "d.k") + " SELECT a FROM c30) e"
	var refused *types.Error
	if _, err := planned(t, lateral, 0); !errors.As(err, &refused) || refused.Number != 4169 {
		t.Errorf("CTEs with outer references: %v", err)
	}
}

// groupedStepsOf is stepsOf with ONLY_FULL_GROUP_BY.
func groupedStepsOf(t *testing.T, text string) int {
	t.Helper()
	steps, err := planned(t, text, types.ModeOnlyFullGroupBy)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}
