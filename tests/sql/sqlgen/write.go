package sqlgen

import "fmt"

// Fresh forgets the aliases of the last statement.
func (g *Gen) Fresh() *Gen {
	g.aliases = 0
	return g
}

// Write is one change in a transaction that is undone, and what the tables hold in between. Its statements are parted by ";\n".
func (g *Gen) Write() string {
	x, y := []source{{"x", tableColumns}}, []source{{"y", tableColumns}}
	both := append(append([]source{}, x...), y...)
	on := g.pick("x.a = y.a", "x.id = y.id", "x.b = y.u", "x.s = y.s")
	join := g.pick(" JOIN ", " LEFT JOIN ")
	text, look := "", "SELECT * FROM t1"
	switch g.IntN(8) {
	case 0: // the value comes from one row of y only
		text = "UPDATE t1 x" + join + "t2 y ON x.id = y.id SET x.a = " + g.pick("y.b", "y.a + x.b", "COALESCE(y.a, -1)") + ", x.c = " + g.pick("y.s", "'z'") + g.where(both, 2)
	case 1:
		text = "UPDATE t1 x" + join + "t2 y ON x.id = y.id SET x.b = 50, y.b = " + g.pick("51", "x.id + 60") + " WHERE " + g.condition(both, 2)
	case 2:
		text = "DELETE x FROM t1 x" + join + "t2 y ON " + on + g.where(both, 2)
	case 3:
		text = "DELETE FROM x, y USING t1 x JOIN t2 y ON " + on + " WHERE " + g.condition(both, 2)
	case 4:
		text = "UPDATE t1 x SET b = " + g.pick("(SELECT MAX(y.b) FROM t2 y WHERE y.a = x.a)", "(SELECT COUNT(*) FROM t3 y WHERE y.b < x.b)") + g.where(x, 1)
	case 5:
		text = "INSERT INTO t1 (id, a, s) SELECT y.id, y.b, y.s FROM t2 y" + g.where(y, 2) + " ON DUPLICATE KEY UPDATE a = " + g.pick("VALUES(a) + 1", "y.a", "t1.a + y.b", "COALESCE(y.d, 3)")
	case 6:
		text = "REPLACE INTO t1 (id, a, b) SELECT y.id, y.a, 77 FROM t2 y" + g.where(y, 2)
	case 7:
		text = "INSERT INTO t1 (id, a, b) SELECT x.id + 100, x.a, (SELECT COUNT(*) FROM t1 y WHERE y.a = x.a) FROM t1 x" + g.where(x, 1)
	}
	return "BEGIN;\n" + text + ";\n" + look + ";\nSELECT * FROM t2;\nROLLBACK"
}

// View makes a view, reads it and drops it.
func (g *Gen) View() string {
	text, columns := g.block(1)
	scope := []source{{"v", columns}, {"x", tableColumns}}
	return "CREATE VIEW v AS " + text + ";\nSELECT * FROM v" + g.where(scope[:1], 2) + ";\nSELECT COUNT(*), " + g.pick("MAX", "MIN") + "(" + g.column(scope, 'n') +
		") FROM v" + g.pick(" JOIN ", " LEFT JOIN ") + "t1 x ON " + g.column(scope[:1], 'n') + " = x.a;\nDROP VIEW v"
}

// Wrong is a statement with one fault in a random place.
func (g *Gen) Wrong() string {
	from, scope := g.from(1)
	c, n := g.column(scope, 0), g.column(scope, 'n')
	missing := g.pick("nowhere", "q1.nowhere", "nobody.a", "nobody.nothing.a")
	item := g.pick(c, "1", n+" + 1")
	switch g.IntN(16) {
	case 0:
		return "SELECT " + missing + " FROM " + from
	case 1:
		return "SELECT " + item + " FROM " + from + " WHERE " + missing + " = 1"
	case 2:
		return "SELECT " + item + " FROM " + from + " ORDER BY " + missing
	case 3:
		return "SELECT " + item + ", COUNT(*) FROM " + from + " GROUP BY " + missing
	case 4:
		return "SELECT " + g.pick("a", "id", "s", "UPPER(c)", "a + 1") + " FROM t1 x " + g.pick("JOIN", "LEFT JOIN", "CROSS JOIN") + " t2 y" + g.pick(" ON x.id = y.id", " ON TRUE") +
			" WHERE x.id < " + fmt.Sprint(g.IntN(9))
	case 5:
		return "SELECT " + item + " FROM " + from + " WHERE " + g.pick("SUM", "COUNT", "MAX") + "(" + n + ") > " + fmt.Sprint(g.IntN(5))
	case 6:
		return "SELECT " + n + ", COUNT(*) FROM " + from + " GROUP BY " + g.column(scope, 's')
	case 7:
		return "SELECT " + n + ", " + g.pick("SUM", "MAX", "AVG") + "(" + n + ") FROM " + from
	case 8:
		return "SELECT " + item + " FROM " + from + " WHERE " + n + g.pick(" = ", " IN ", " > ALL ") + "(SELECT id, a FROM t1)"
	case 9:
		return "SELECT " + item + " FROM " + from + " WHERE (" + n + ", " + n + ") = " + g.pick("(SELECT id FROM t1)", "(1, 2, 3)", "1")
	case 10:
		return "SELECT " + n + g.pick(" = ", " + ", " < ") + "(SELECT id FROM t1) FROM " + from
	case 11:
		return "SELECT " + g.pick("1, 2", c) + " FROM " + from + g.pick(" UNION ", " EXCEPT ", " INTERSECT ") + "SELECT 1, 2, 3"
	case 12:
		return "SELECT " + item + " FROM " + from + " WHERE " + g.pick("ROW_NUMBER() OVER ()", "SUM("+n+") OVER ()") + " > 1"
	case 13:
		return "SELECT " + g.pick("SUM("+n+") OVER nowhere", "SUM(SUM("+n+"))", "MAX(COUNT(*))", "SUM(RANK() OVER ())", "RANK() OVER (ROWS 1 PRECEDING)", "RANK()") + " FROM " + from
	case 14:
		return "SELECT " + item + " FROM " + from + g.pick(" ORDER BY 7", " GROUP BY 7", " GROUP BY COUNT(*)", " HAVING nowhere > 1")
	}
	return "SELECT " + g.pick("IF(1)", "ABS("+n+", 2)", "LENGTH()", "nofunction("+n+")", "COALESCE()", "NULLIF("+n+")", "SUBSTRING("+n+")") + " FROM " + from
}
