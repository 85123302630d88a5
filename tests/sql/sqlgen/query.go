package sqlgen

import (
	"fmt"
	"strings"
)

// relation is one item of FROM: a table or a derived table.
func (g *Gen) relation(depth int) (string, source) {
	name := g.alias()
	if g.chance(75) || depth > 1 {
		return g.pick(tables...) + " " + name, source{name, tableColumns}
	}
	text, columns := g.block(depth + 1)
	return "(" + text + ") " + name, source{name, columns}
}

// from is a FROM clause of one to three relations.
func (g *Gen) from(depth int) (string, []source) {
	text, s := g.relation(depth)
	scope := []source{s}
	joins := g.IntN(2)
	if depth < 2 {
		joins = []int{0, 0, 1, 1, 2}[g.IntN(5)]
	}
	for range joins {
		right, added := g.relation(depth)
		kind := g.pick(" JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " CROSS JOIN ", " STRAIGHT_JOIN ")
		text += kind + right
		both := append(append([]source{}, scope...), added)
		if kind != " CROSS JOIN " {
			t := "nnns"[g.IntN(4)]
			on := g.column(scope, t) + " = " + g.column([]source{added}, t)
			switch g.IntN(10) {
			case 0, 1, 2:
				on += " AND " + g.condition(both, 2)
			case 3:
				on = g.condition(both, 2)
			}
			text += " ON " + on
		}
		scope = both
	}
	return text, scope
}

func (g *Gen) where(scope []source, depth int) string {
	if g.chance(40) {
		return ""
	}
	return " WHERE " + g.condition(scope, depth)
}

// block is a query whose columns are x0, x1, …
func (g *Gen) block(depth int) (string, []column) {
	from, scope := g.from(depth)
	if g.chance(30) {
		kind := "ns"[g.IntN(2)]
		key := g.column(scope, kind)
		return "SELECT " + key + " AS x0, COUNT(*) AS x1, " + g.pick("SUM", "MIN", "MAX") + "(" + g.column(scope, 'n') + ") AS x2 FROM " + from +
			g.where(scope, depth) + " GROUP BY " + key, []column{{"x0", kind}, {"x1", 'n'}, {"x2", 'n'}}
	}
	var items []string
	var columns []column
	for i := range 1 + g.IntN(3) {
		kind := "nnst"[g.IntN(4)]
		e := g.column(scope, kind)
		if kind == 'n' {
			e = g.number(scope, 2)
		}
		if !strings.Contains(e, ".") {
			// MySQL keeps the constant of a derived table that it merges where an outer join finds no row.
			e = "IF(" + g.column(scope, 0) + " IS NULL, " + e + ", " + e + ")"
		}
		columns = append(columns, column{fmt.Sprintf("x%d", i), kind})
		items = append(items, e+" AS "+columns[i].name)
	}
	return "SELECT " + g.pick("", "", "DISTINCT ") + strings.Join(items, ", ") + " FROM " + from + g.where(scope, depth), columns
}

// Plain is a SELECT of expressions, sometimes ordered and cut.
func (g *Gen) Plain() string {
	from, scope := g.from(0)
	var items, places []string
	for i := range 1 + g.IntN(4) {
		items, places = append(items, g.number(scope, g.IntN(2))), append(places, fmt.Sprint(i+1))
	}
	text := "SELECT " + g.pick("", "", "", "DISTINCT ") + strings.Join(items, ", ") + " FROM " + from + g.where(scope, 0)
	if g.chance(35) {
		text += " ORDER BY " + strings.Join(places, g.pick(", ", " DESC, ")) + fmt.Sprintf(" LIMIT %d", 1+g.IntN(6)) + g.pick("", " OFFSET 1")
	}
	return text
}

// Subquery is a SELECT with subqueries in several clauses.
func (g *Gen) Subquery() string {
	from, scope := g.from(1)
	items := g.column(scope, 0) + ", " + g.scalar(scope, 0)
	if g.chance(40) {
		items += ", " + g.Membership(scope, 0)
	}
	return "SELECT " + items + " FROM " + from + " WHERE " + g.Membership(scope, 0)
}

// Lateral joins a lateral derived table.
func (g *Gen) Lateral() string {
	l, r, v := g.alias(), g.alias(), g.alias()
	s, inner := []source{{l, tableColumns}}, []source{{r, tableColumns}}
	item := g.pick("COUNT(*)", "MAX("+g.column(inner, 'n')+")", "MIN("+g.column(inner, 's')+")", "SUM("+g.column(inner, 'n')+" + "+g.column(s, 'n')+")")
	return "SELECT " + g.column(s, 0) + ", " + v + ".y FROM " + g.pick(tables...) + " " + l + g.pick(" JOIN ", " LEFT JOIN ") + "LATERAL (SELECT " + item +
		" AS y FROM " + g.pick(tables...) + " " + r + " WHERE " + g.column(inner, 'n') + g.pick(" = ", " <= ") + g.column(s, 'n') + ") " + v + " ON " + g.condition(s, 2)
}

// UsingJoin joins by USING or NATURAL, with parentheses around the inner join.
func (g *Gen) UsingJoin() string {
	names := g.pick("a", "b", "a, b", "s", "u", "id")
	one, two := "t1 x"+g.pick(" JOIN ", " LEFT JOIN ", " RIGHT JOIN ")+"t2 y USING ("+names+")", "t3 z"
	first, _, _ := strings.Cut(names, ",")
	xy := []source{{"x", tableColumns}, {"y", tableColumns}}
	switch g.IntN(4) {
	case 0:
		return "SELECT * FROM " + one + g.where(xy, 2)
	case 1:
		return "SELECT " + first + ", x.c, y.c, z.c FROM (" + one + ")" + g.pick(" JOIN ", " LEFT JOIN ") + two + " USING (" + first + ")" + g.where(xy, 2)
	case 2:
		return "SELECT * FROM (SELECT id, " + g.pick("a", "s", "u") + " FROM t1) x NATURAL " + g.pick("JOIN", "LEFT JOIN", "RIGHT JOIN") + " (SELECT " + g.pick("id", "a, id", "s", "b") + " FROM t2) y"
	}
	on := g.pick("x.a = y.a", "x.b = y.b AND x.a < 5", "x.s = y.s")
	return "SELECT x.id, y.id, z.id FROM t1 x" + g.pick(" LEFT JOIN ", " JOIN ", " RIGHT JOIN ") + "(t2 y" + g.pick(" LEFT JOIN ", " JOIN ", " RIGHT JOIN ") +
		"t3 z ON " + g.pick("y.a = z.b", "y.u = z.a", "z.s = y.s") + ") ON " + on + g.where(append(xy, source{"z", tableColumns}), 2)
}

// aggregate is an aggregate call whose value doesn't depend on the order of rows.
func (g *Gen) aggregate(scope []source) string {
	n, s := g.number(scope, 2), g.column(scope, 's')
	switch g.IntN(14) {
	case 0:
		return "COUNT(DISTINCT " + n + ")"
	case 1:
		return "COUNT(DISTINCT " + n + ", " + s + ")"
	case 2:
		return "GROUP_CONCAT(" + s + " ORDER BY " + s + g.pick("", " DESC") + g.pick("", " SEPARATOR '|'", " SEPARATOR ''") + ")"
	case 3:
		return "GROUP_CONCAT(DISTINCT " + g.column(scope, 'n') + " ORDER BY 1" + g.pick("", " DESC") + ")"
	case 4:
		return g.pick("BIT_AND", "BIT_OR", "BIT_XOR") + "(" + n + ")"
	case 5:
		return "SUM(DISTINCT " + n + ")"
	case 6:
		return "ROUND(" + g.pick("STD", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "VARIANCE") + "(" + n + "), 6)"
	case 7:
		return "AVG(" + g.pick("", "DISTINCT ") + n + ")"
	case 8:
		return g.pick("MIN", "MAX") + "(" + g.column(scope, 't') + ")"
	case 9:
		return "JSON_LENGTH(JSON_ARRAYAGG(" + n + "))"
	}
	return g.pick("SUM", "COUNT", "MIN", "MAX") + "(" + n + ")"
}

// Grouped is a query with GROUP BY, sometimes with ROLLUP, GROUPING and HAVING.
func (g *Gen) Grouped() string {
	from, scope := g.from(1)
	var keys []string
	for range g.IntN(3) {
		key := g.column(scope, 0)
		if g.chance(20) {
			key = g.column(scope, 'n') + " % 3"
		}
		keys = append(keys, key)
	}
	items := append(append([]string{}, keys...), g.aggregate(scope), g.aggregate(scope))
	group := ""
	if len(keys) > 0 {
		group = " GROUP BY " + strings.Join(keys, ", ")
		if g.chance(25) {
			group += " WITH ROLLUP"
			items = append(items, "GROUPING("+keys[0]+")")
		}
	}
	if g.chance(30) {
		group += " HAVING " + g.pick("COUNT(*)", g.aggregateNumber(scope)) + g.pick(" > ", " <= ", " = ") + fmt.Sprint(g.IntN(5))
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM " + from + g.where(scope, 1) + group
}

func (g *Gen) aggregateNumber(scope []source) string {
	return g.pick("SUM", "MIN", "MAX", "COUNT") + "(" + g.column(scope, 'n') + ")"
}

// Window is a query with a window function over every kind of frame.
func (g *Gen) Window() string {
	name := g.alias()
	scope := []source{{name, tableColumns}}
	n := g.column(scope, 'n')
	partition := ""
	if g.chance(60) {
		partition = "PARTITION BY " + g.column(scope, 0) + " "
	}
	function := g.pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "NTILE(3)", "LAG("+n+")", "LEAD("+n+", 2, -9)", "COUNT(*)", "COUNT("+n+")",
		"SUM("+n+")", "AVG("+n+")", "MIN("+n+")", "MAX("+n+")", "FIRST_VALUE("+n+")", "LAST_VALUE("+n+")", "NTH_VALUE("+n+", 2)", "BIT_OR("+n+")")
	order, frame := "ORDER BY "+every(scope), ""
	start := g.IntN(3)
	bounds := []string{"UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING"}
	first := g.IntN(6)
	between := "BETWEEN " + bounds[first] + " AND " + bounds[max(1, first)+g.IntN(7-max(1, first))]
	switch start {
	case 0:
		frame = " ROWS " + g.pick(between, bounds[g.IntN(4)])
	case 1: // rows that are peers are one to RANGE, so one key is total enough; for functions that look at peers as a whole
		function = g.pick("COUNT(*)", "SUM("+n+")", "MIN("+n+")", "MAX("+n+")", "RANK()", "DENSE_RANK()", "CUME_DIST()")
		order, frame = "ORDER BY "+name+"."+g.pick("id", "a", "b", "d")+g.pick("", " DESC"), " RANGE "+between
		if g.chance(30) {
			order, frame = "ORDER BY "+name+"."+g.pick("dt", "da"), " RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL "+g.pick("1", "2")+" DAY FOLLOWING"
		}
	}
	over := "(" + partition + order + frame + ")"
	tail := ""
	if g.chance(25) {
		over, tail = "w", " WINDOW w AS "+over
	}
	return "SELECT " + name + ".id, " + n + ", " + function + " OVER " + over + " FROM " + g.pick(tables...) + " " + name + g.where(scope, 2) + tail
}

// SetOperation is UNION, INTERSECT or EXCEPT of two or three blocks, sometimes ordered as a whole.
func (g *Gen) SetOperation() string {
	one := func() string {
		text, columns := g.block(2)
		var items []string
		name := g.alias()
		for _, kind := range []byte{'n', 's'} {
			items = append(items, g.column([]source{{name, columns}}, kind))
		}
		return "SELECT " + items[0] + " AS p, " + items[1] + " AS q FROM (" + text + ") " + name
	}
	operator := func() string {
		return g.pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " EXCEPT ALL ", " INTERSECT ALL ")
	}
	text := one() + operator() + one()
	switch g.IntN(4) {
	case 0:
		text += operator() + one()
	case 1:
		// Of a table: MySQL forgets the ORDER BY of an operand that reads a derived table, and cuts off other rows.
		name := g.alias()
		scope := []source{{name, tableColumns}}
		text = "(" + text + ")" + operator() + "(SELECT " + g.column(scope, 'n') + " AS p, " + g.column(scope, 's') + " AS q FROM " + g.pick(tables...) + " " + name +
			" ORDER BY 1, 2 LIMIT 3)"
	}
	if g.chance(30) {
		text += " ORDER BY " + g.pick("p, q", "q DESC, p", "2, 1", "p IS NULL, p, q") + " LIMIT " + fmt.Sprint(1+g.IntN(6))
	}
	return text
}

// CTE is a query over common table expressions, sometimes recursive.
func (g *Gen) CTE() string {
	if g.chance(50) {
		from, scope := g.from(1)
		if len(scope) > 1 { // MySQL takes parentheses around a join, not around one derived table
			from = "(" + from + ")"
		}
		return fmt.Sprintf("WITH RECURSIVE c AS (SELECT 1 AS n, CAST(%d AS SIGNED) AS v UNION %sSELECT n + 1, v * 2 %% 7 FROM c WHERE n < %d) SELECT c.n, c.v, %s FROM c JOIN %s ON c.n = %s",
			g.IntN(4), g.pick("ALL ", ""), 2+g.IntN(6), g.column(scope, 0), from, g.column(scope, 'n'))
	}
	text, columns := g.block(1)
	scope := []source{{"x", columns}, {"y", columns}}
	return "WITH w AS (" + text + ") SELECT " + g.column(scope, 0) + ", " + g.column(scope, 0) + " FROM w x" + g.pick(" JOIN ", " LEFT JOIN ") + "w y ON " +
		"x.x0 = y.x0" + g.where(scope, 2)
}

// Any is a query of any kind but those that write.
func (g *Gen) Any() string {
	g.aliases = 0
	kinds := []func() string{g.Plain, g.Plain, g.Plain, g.Subquery, g.Subquery, g.Lateral, g.UsingJoin, g.Grouped, g.Grouped, g.Window, g.SetOperation, g.CTE}
	return kinds[g.IntN(len(kinds))]()
}
