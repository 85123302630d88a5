// Package sqlgen writes random SQL: tables with NULLs everywhere, and statements over them by feature. The same seed writes the same text.
//
// Every query has one right answer as a set of rows. LIMIT comes with an order over all that the query shows, windows whose frames count rows
// with an order over all columns of a unique row, and texts that compare equal are the same text.
package sqlgen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/pandodb/pando/internal/testkit"
)

// column is a column with its kind: n number, s text, t time.
type column struct {
	name string
	kind byte
}

// source is what a name in FROM stands for.
type source struct {
	alias   string
	columns []column
}

// Gen writes statements.
type Gen struct {
	*rand.Rand
	aliases int
	// Matching keeps values of one kind together in Typed: what functions and comparisons are given is what they take, and nothing is converted.
	Matching bool
}

// New returns a generator.
func New(seed uint64) *Gen { return &Gen{Rand: testkit.Rand(seed, seed)} }

var (
	tableColumns = []column{{"id", 'n'}, {"a", 'n'}, {"b", 'n'}, {"u", 'n'}, {"s", 's'}, {"c", 's'}, {"d", 'n'}, {"f", 'n'}, {"dt", 't'}, {"da", 't'}}
	tableTypes   = []string{"INT NOT NULL", "INT", "INT", "BIGINT", "VARCHAR(10)", "CHAR(5)", "DECIMAL(10,2)", "DOUBLE", "DATETIME", "DATE"}
	tables       = []string{"t1", "t2", "t3"}
	tableKeys    = []string{"PRIMARY KEY (id), KEY (a), KEY (s)", "PRIMARY KEY (id), KEY (a, b), UNIQUE KEY (u)", "KEY (b)"}
)

func (g *Gen) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *Gen) chance(percent int) bool { return g.IntN(100) < percent }

func (g *Gen) alias() string {
	g.aliases++
	return fmt.Sprintf("q%d", g.aliases)
}

// Schema returns the statements that make and fill the tables; keys false leaves out every index, so that other plans are chosen.
func (g *Gen) Schema(keys bool) []string {
	var out []string
	for i, t := range tables {
		var defs, names []string
		for j, c := range tableColumns {
			defs, names = append(defs, c.name+" "+tableTypes[j]), append(names, c.name)
		}
		if keys {
			defs = append(defs, tableKeys[i])
		}
		out = append(out, "CREATE TABLE "+t+" ("+strings.Join(defs, ", ")+")")
		var rows []string
		for id := range 4 + g.IntN(11) {
			row := []string{fmt.Sprint(id)}
			for _, c := range tableColumns[1:] {
				row = append(row, g.value(c.name, id))
			}
			rows = append(rows, "("+strings.Join(row, ", ")+")")
		}
		out = append(out, "INSERT INTO "+t+" ("+strings.Join(names, ", ")+") VALUES "+strings.Join(rows, ", "))
	}
	return out
}

func (g *Gen) value(name string, id int) string {
	if g.chance(15) {
		return "NULL"
	}
	switch name {
	case "a", "b":
		return fmt.Sprint(g.IntN(11) - 2)
	case "u":
		return fmt.Sprint(id*3%11 + id/11*11) // unique
	case "s", "c":
		return "'" + g.pick("a", "b", "ab", "x", "1", "2", "10", "", "é") + "'"
	case "d":
		return g.pick("0", "1", "1.5", "2", "2.25", "-1", "10.5")
	case "f":
		return g.pick("0", "1", "1.5", "2", "-1", "3.25")
	case "dt":
		return fmt.Sprintf("'2024-01-%02d %02d:00:00'", 1+g.IntN(5), g.IntN(3)/2*12)
	}
	return fmt.Sprintf("'2024-01-%02d'", 1+g.IntN(5))
}

// column picks a column of a kind; 0 is any. Without one it is a literal.
func (g *Gen) column(scope []source, kind byte) string {
	var found []string
	for _, s := range scope {
		for _, c := range s.columns {
			if kind == 0 || c.kind == kind {
				found = append(found, s.alias+"."+c.name)
			}
		}
	}
	switch {
	case len(found) > 0:
		return g.pick(found...)
	case kind == 's':
		return "'a'"
	case kind == 't':
		return "DATE '2024-01-02'"
	}
	return "1"
}

// every lists all columns of a scope: an order over them is total but for rows that are the same.
func every(scope []source) string {
	var out []string
	for _, s := range scope {
		for _, c := range s.columns {
			out = append(out, s.alias+"."+c.name)
		}
	}
	return strings.Join(out, ", ")
}

// number is a numeric expression.
func (g *Gen) number(scope []source, depth int) string {
	n := g.IntN(100)
	switch {
	case depth > 2 || n < 45:
		return g.column(scope, 'n')
	case n < 60:
		return fmt.Sprint(g.IntN(8) - 1)
	case n < 75:
		return "(" + g.number(scope, depth+1) + g.pick(" + ", " - ", " * ") + g.number(scope, depth+1) + ")"
	case n < 80:
		return "COALESCE(" + g.number(scope, depth+1) + ", " + g.number(scope, depth+1) + ")"
	case n < 85:
		return "IF(" + g.condition(scope, depth+2) + ", " + g.number(scope, depth+1) + ", " + g.number(scope, depth+1) + ")"
	case n < 90:
		return "CASE WHEN " + g.condition(scope, depth+2) + " THEN " + g.number(scope, depth+1) + " END"
	case depth < 2:
		return g.scalar(scope, depth+1)
	}
	return "LENGTH(" + g.column(scope, 's') + ")"
}

// scalar is a scalar subquery of one row, most often correlated.
func (g *Gen) scalar(scope []source, depth int) string {
	from, s := g.from(depth + 1)
	where := g.condition(s, depth+1)
	if len(scope) > 0 && g.chance(60) {
		where = g.column(s, 'n') + " = " + g.column(scope, 'n')
	}
	aggregate := g.pick("COUNT(*)", "MAX("+g.column(s, 'n')+")", "SUM("+g.column(s, 'n')+")", "MIN("+g.column(s, 'n')+")")
	return "(SELECT " + aggregate + " FROM " + from + " WHERE " + where + ")"
}

// condition is a condition over a scope.
func (g *Gen) condition(scope []source, depth int) string {
	n := g.IntN(100)
	switch {
	case depth < 3 && n < 20:
		return "(" + g.condition(scope, depth+1) + g.pick(" AND ", " OR ") + g.condition(scope, depth+1) + ")"
	case depth < 3 && n < 25:
		return "(NOT " + g.condition(scope, depth+1) + ")"
	case depth < 2 && n < 50:
		return g.Membership(scope, depth)
	}
	compare := g.pick(" = ", " = ", " < ", " > ", " <= ", " >= ", " <> ", " <=> ")
	switch g.IntN(10) {
	case 0:
		return g.column(scope, 0) + g.pick(" IS NULL", " IS NOT NULL")
	case 1:
		return g.column(scope, 'n') + " BETWEEN " + g.number(scope, 3) + " AND " + g.number(scope, 3)
	case 2:
		return g.column(scope, 'n') + g.pick(" IN ", " NOT IN ") + "(" + g.pick("0", "1", "NULL") + ", " + g.pick("2", "3") + ", 5)"
	case 3:
		return g.column(scope, 's') + g.pick(" = ", " < ", " >= ", " LIKE ") + g.pick("'a'", "'%b'", "'x'", g.column(scope, 's'))
	case 4:
		return g.column(scope, 't') + g.pick(" = ", " < ", " >= ") + g.pick("'2024-01-03'", g.column(scope, 't'))
	}
	return g.number(scope, depth+1) + compare + g.number(scope, depth+1)
}

// Membership is a condition with a subquery: IN, EXISTS, ANY or ALL, of one column or of rows.
func (g *Gen) Membership(scope []source, depth int) string {
	from, s := g.from(depth + 1)
	var where []string
	if g.chance(60) {
		where = append(where, g.column(s, 'n')+" = "+g.column(scope, 'n'))
	}
	if g.chance(30) {
		where = append(where, g.condition(s, depth+2))
	}
	tail := " FROM " + from
	if len(where) > 0 {
		tail += " WHERE " + strings.Join(where, " AND ")
	}
	switch g.IntN(6) {
	case 0:
		return g.pick("", "NOT ") + "EXISTS (SELECT 1" + tail + ")"
	case 1:
		return "(" + g.column(scope, 'n') + ", " + g.column(scope, 's') + ")" + g.pick(" IN ", " NOT IN ") + "(SELECT " + g.column(s, 'n') + ", " + g.column(s, 's') + tail + ")"
	case 2, 3:
		kind := g.pick("n", "n", "s")[0]
		return g.column(scope, kind) + g.pick(" IN ", " NOT IN ") + "(SELECT " + g.column(s, kind) + tail + ")"
	}
	return g.column(scope, 'n') + g.pick(" = ", " <> ", " < ", " > ", " <= ", " >= ") + g.pick("ANY ", "SOME ", "ALL ") + "(SELECT " + g.column(s, 'n') + tail + ")"
}
