package sqlgen

import "strings"

// Correlated is a query with subqueries that read columns around them, in shapes that can become joins: aggregates found by equalities, rows found by a
// unique key, EXISTS, IN, ANY and ALL, in every clause. own says that MySQL must not be asked: 9.7 crashes over some of HAVING.
func (g *Gen) Correlated() (text string, own bool) {
	g.aliases = 0
	from, scope := g.from(1)
	switch g.IntN(9) {
	case 0:
		return "SELECT " + g.column(scope, 0) + ", " + g.dependent(scope, 0) + ", " + g.dependent(scope, 0) + " FROM " + from + g.where(scope, 2), false
	case 1:
		v := g.dependent(scope, 0)
		return "SELECT " + g.column(scope, 0) + ", " + v + " AS v FROM " + from + " HAVING v " + g.pick("IS NULL", "> 1", "<> 0") + " ORDER BY v, " + every(scope), false
	case 2: // of grouped rows
		key := g.column(scope, 'n')
		inner := []source{{"g", []column{{"k", 'n'}, {"m", 'n'}}}}
		return "SELECT g.k, g.m, " + g.dependent(inner, 0) + " FROM (SELECT " + key + " AS k, " + g.aggregateNumber(scope) + " AS m FROM " + from + " GROUP BY " + key + ") g WHERE " +
			g.dependentCondition(inner, 0), false
	case 3:
		key := g.column(scope, 'n')
		alias, name, _ := strings.Cut(key, ".")
		return "SELECT " + key + ", COUNT(*) FROM " + from + " GROUP BY " + key + " HAVING " + g.pick("COUNT(*)", "MAX("+g.column(scope, 'n')+")", key) +
			g.pick(" < ", " = ", " >= ", " <> ") + g.dependent([]source{{alias, []column{{name, 'n'}}}}, 0), true
	case 4: // in ON
		l, r := g.alias(), g.alias()
		both := []source{{l, tableColumns}, {r, tableColumns}}
		one := both[g.IntN(2):][:1]
		return "SELECT " + l + ".id, " + r + ".id FROM " + g.pick(tables...) + " " + l + g.pick(" JOIN ", " LEFT JOIN ", " RIGHT JOIN ") + g.pick(tables...) + " " + r + " ON " +
			l + ".a = " + r + ".b AND " + g.dependentCondition(one, 0) + g.pick("", " WHERE "+g.dependentCondition(both, 0)), false
	case 5: // in aggregates
		return "SELECT " + g.pick("SUM", "COUNT", "MIN", "MAX") + "(" + g.dependent(scope, 0) + ") FROM " + from + " WHERE " + g.dependentCondition(scope, 0), false
	}
	text = "SELECT " + every(scope[:1]) + " FROM " + from + " WHERE " + g.dependentCondition(scope, 0)
	if g.chance(40) {
		text += g.pick(" AND ", " OR ") + g.dependentCondition(scope, 0)
	}
	if g.chance(20) {
		text += " ORDER BY " + every(scope) + " LIMIT " + g.pick("1", "3")
	}
	return text, false
}

// dependentCondition is a condition with a correlated subquery.
func (g *Gen) dependentCondition(scope []source, depth int) string {
	compare := g.pick(" = ", " <> ", " < ", " > ", " <= ", " >= ")
	n := g.column(scope, 'n')
	switch g.IntN(10) {
	case 0:
		return g.pick("", "NOT ") + "EXISTS (SELECT 1 " + g.dependentRows(scope, depth) + ")"
	case 1:
		return "(" + g.condition(scope, 2) + g.pick(" OR ", " AND ") + g.pick("", "NOT ") + "EXISTS (SELECT 1 " + g.dependentRows(scope, depth) + "))"
	case 2:
		return n + g.pick(" IN ", " NOT IN ") + "(SELECT " + g.pick("b", "a", "u", "id") + " " + g.dependentRows(scope, depth) + ")"
	case 3:
		return g.pick("", "NOT ") + n + compare + g.pick("ANY", "ALL") + " (SELECT " + g.pick("b", "a", "u", "d") + " " + g.dependentRows(scope, depth) + ")"
	case 4: // of one group
		return g.pick("", "NOT ") + n + compare + g.pick("ANY ", "ALL ") + g.dependent(scope, depth)
	case 5: // of several
		return g.pick("", "NOT ") + n + g.pick(" IN", " NOT IN", compare+"ANY", compare+"ALL") + " (SELECT " + g.pick("SUM(b)", "COUNT(*)", "MAX(u)", "c") + " " +
			g.dependentRows(scope, depth) + " GROUP BY c" + g.pick("", " HAVING COUNT(*) > 1", " HAVING SUM(a) > 1") + ")"
	case 6:
		return g.pick("", "NOT ") + "EXISTS (SELECT " + g.pick("1", "MAX(a)") + " " + g.dependentRows(scope, depth) + g.pick(" GROUP BY c", " GROUP BY c, s", "") +
			" HAVING COUNT(*) " + g.pick("> 1", "= 1", "< 2") + ")"
	case 7:
		return "(" + g.column(scope, 0) + " IS NULL OR " + n + compare + g.dependent(scope, depth) + ")"
	}
	return n + compare + g.dependent(scope, depth)
}

// dependentRows is FROM and WHERE of a subquery over one table with the name r, or over a join that begins with it.
func (g *Gen) dependentRows(scope []source, depth int) string {
	r := g.alias()
	inner := []source{{r, tableColumns}}
	conds := []string{g.dependence(inner, scope)}
	if g.chance(35) {
		conds = append(conds, g.dependence(inner, scope))
	}
	if g.chance(35) {
		conds = append(conds, g.condition(inner, 2))
	}
	if g.chance(10) {
		conds = append(conds, g.condition(scope, 2))
	}
	if depth < 2 && g.chance(15) {
		conds = append(conds, g.dependentCondition(append(inner, scope...), depth+1))
	}
	g.Shuffle(len(conds), func(i, k int) { conds[i], conds[k] = conds[k], conds[i] })
	return "FROM " + g.pick(tables...) + " " + r + " WHERE " + strings.Join(conds, " AND ")
}

// dependence is a condition between rows of a subquery and a row around, most often an equality.
func (g *Gen) dependence(inner, scope []source) string {
	switch g.IntN(12) {
	case 0:
		return g.column(inner, 's') + " = " + g.column(scope, 's')
	case 1:
		return g.column(inner, 't') + " = " + g.column(scope, 't')
	case 2: // by another comparison than that of either side
		return g.column(inner, g.pick("s", "n")[0]) + " = " + g.column(scope, g.pick("n", "t")[0])
	case 3:
		return g.column(inner, 'n') + g.pick(" <= ", " <> ", " <=> ") + g.column(scope, 'n')
	case 4:
		return g.column(scope, 'n') + g.pick(" + 1", " % 3", " / 2") + " = " + g.column(inner, 'n')
	case 5:
		return g.column(inner, 'n') + g.pick(" + 1", " % 3", " / 2") + " = " + g.column(scope, 'n')
	}
	return g.column(inner, 'n') + " = " + g.column(scope, 'n')
}

// dependent is a scalar subquery that reads columns around it, of one row at most.
func (g *Gen) dependent(scope []source, depth int) string {
	rows := g.dependentRows(scope, depth)
	_, name, _ := strings.Cut(rows, " ")
	name = strings.Fields(name)[1]
	inner := []source{{name, tableColumns}}
	n, s := g.column(inner, 'n'), g.column(inner, 's')
	if g.chance(20) { // found by a unique key
		table, key := "t1", "id"
		if g.chance(50) {
			table, key = "t2", g.pick("id", "u")
		}
		name = g.alias()
		inner = []source{{name, tableColumns}}
		tail := g.pick("", "", " AND "+g.condition(inner, 2))
		return "(SELECT " + g.pick(g.column(inner, 'n'), "COALESCE("+g.column(inner, 'n')+", 5)", "7", "LENGTH("+g.column(inner, 's')+")", g.column(inner, 'n')+" / 3") + " FROM " + table + " " + name +
			" WHERE " + name + "." + key + " = " + g.column(scope, 'n') + tail + ")"
	}
	value := g.pick("COUNT(*)", "COUNT("+n+")", "SUM("+n+")", "AVG("+n+")", "MIN("+n+")", "MAX("+n+")", g.aggregate(inner), "COALESCE(SUM("+n+"), 0) + 1", "0.2 * AVG("+n+")",
		"SUM("+n+") / COUNT(*)", "LENGTH(IFNULL(MAX("+s+"), 'none'))", "CASE WHEN COUNT(*) = 0 THEN 7 ELSE MIN("+n+") END", "MAX("+n+") + "+g.column(scope, 'n'),
		"BIT_AND("+n+") % 1000", "COUNT(*) IS NULL", "COUNT(DISTINCT "+n+")", "SUM("+n+") > COUNT(*)")
	return "(SELECT " + value + " " + rows + g.pick("", "", "", " HAVING COUNT(*) > 1", " HAVING SUM("+n+") IS NULL", " HAVING MAX("+n+") > 2") + ")"
}

// CorrelatedWrite is an UPDATE or a DELETE of t1 with correlated subqueries over the other tables, and over t1 within derived tables.
func (g *Gen) CorrelatedWrite() string {
	g.aliases = 0
	scope := []source{{"x", tableColumns}}
	apart := func(text string) string { // MySQL changes no table that the statement reads elsewhere
		return strings.ReplaceAll(text, " t1 ", " (SELECT * FROM t1) ")
	}
	where := apart(g.pick("", " WHERE ") + g.dependentCondition(scope, 1))
	if !strings.HasPrefix(where, " WHERE ") {
		where = ""
	}
	if g.chance(30) {
		return "DELETE FROM t1 AS x" + where
	}
	text := "UPDATE t1 x SET "
	if g.chance(30) {
		text += g.pick("x.a = x.b", "x.b = 1", "x.s = 'b'") + ", "
	}
	text += g.pick("x.d", "x.c", "x.b", "x.f") + " = " + apart(g.dependent(scope, 1))
	return text + where
}

// WithHint is the statement with that hint at each SELECT.
func WithHint(query, hint string) string {
	return strings.ReplaceAll(query, "SELECT ", "SELECT /*+ "+hint+" */ ")
}
