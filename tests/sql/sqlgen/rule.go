package sqlgen

// Partition is the rule of ternary logic: each row of a query makes a condition true, false or unknown, so that the rows of whole are those of
// parts together. counted and summed are how many make it true, found as a filter and as a value (NoREC).
func (g *Gen) Partition() (whole, parts, counted, summed string) {
	from, scope := g.from(0)
	where := g.condition(scope, 0)
	items := "SELECT " + g.column(scope, 0) + " AS p, " + g.column(scope, 'n') + " AS q FROM " + from
	parts = items + " WHERE " + where + " UNION ALL " + items + " WHERE NOT " + where + " UNION ALL " + items + " WHERE (" + where + ") IS NULL"
	return items, parts, "SELECT COUNT(*) FROM " + from + " WHERE " + where,
		"SELECT IFNULL(SUM(v), 0) FROM (SELECT (" + where + ") IS TRUE AS v FROM " + from + ") s"
}

// planHints are hints that ask for another plan, for all tables of a block.
var planHints = []string{"HASH_JOIN()", "INL_JOIN()", "MERGE_JOIN()", "NO_HASH_JOIN() NO_INDEX_JOIN()", "NO_SEMIJOIN()", "JOIN_FIXED_ORDER()", "STREAM_AGG()",
	"NO_SEMIJOIN() MERGE_JOIN() STREAM_AGG()", "NO_HASH_JOIN() JOIN_FIXED_ORDER()", "INL_JOIN() NO_SEMIJOIN()"}

// Hinted is the statement with a hint at each SELECT, which must not change its answer.
func (g *Gen) Hinted(query string) string {
	return WithHint(query, g.pick(planHints...))
}

// Outer is a query whose subqueries show columns from outside. No aggregate reads such columns alone: it would belong to the query around, whose
// one row MySQL fills by its plan if there is nothing to aggregate: with NULL, or with constants of derived tables that it has merged.
func (g *Gen) Outer() string {
	from, scope := g.from(1)
	in, inner := g.from(2)
	col := g.column(scope, 0)
	sub := g.pick(
		"(SELECT "+col+" FROM "+in+" WHERE "+g.condition(inner, 2)+" LIMIT 1)",
		"(SELECT MAX("+g.column(inner, 'n')+" + "+g.column(scope, 'n')+") FROM "+in+" WHERE "+g.condition(inner, 2)+")",
		"(SELECT COUNT("+g.column(scope, 'n')+" + "+g.column(inner, 'n')+") FROM "+in+" WHERE "+g.column(inner, 'n')+" = "+g.column(scope, 'n')+")",
		"(SELECT "+col+" UNION SELECT "+col+")",
		"(SELECT q.k FROM (SELECT DISTINCT "+col+" AS k FROM "+in+") q)",
	)
	return "SELECT " + g.column(scope, 'n') + ", " + sub + " FROM " + from + g.pick("", " WHERE "+g.condition(scope, 1), " WHERE "+g.column(scope, 'n')+
		g.pick(" IN ", " NOT IN ")+"(SELECT "+g.column(scope, 'n')+" FROM "+in+")")
}
