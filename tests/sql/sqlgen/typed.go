package sqlgen

import (
	"fmt"
	"strings"
)

// Some values and forms are left out, because MySQL 9.7 answers them otherwise than 8.0 by its manual, or by its own inconsistency:
//
//   - YEAR columns (kind y) as arguments: where a date or time is wanted they are January 1st, a YEAR that CAST makes is a number;
//   - unsigned integers beyond 2^63: as a TIME they are negative;
//   - numbers and TIME where a date is wanted: small numbers are dates in part, and a TIME after noon of another day is the day after;
//   - TIME whose sums are beyond 838:59:59: of typed arguments the result is NULL, of texts it is clipped, as the manual has it for both;
//   - doubles beyond BIGINT: as integers they are the highest, the lowest or error 1690, by the kind of item;
//   - WEIGHT_STRING of dates, which shows their packed form in some expressions and is NULL in others;
//   - FLOAT beside texts in UNION: as many digits as the column happens to be wide; ZEROFILL with ROLLUP, which loses its zeros;
//   - unsigned columns of JSON_TABLE, in which negative numbers wrap around.

// typedColumn is a column of the tables that hold every type, with its kind: i integer, n other number, s text, b bytes, d date or datetime, t time,
// j JSON, y a YEAR. Its values reach to the ends of the type.
type typedColumn struct {
	name   string
	kind   byte
	typ    string
	values []string
}

var typedColumns = []typedColumn{
	{"ti", 'i', "TINYINT", []string{"-128", "127", "0", "1", "-1", "5"}},
	{"bi", 'i', "BIGINT", []string{"-9223372036854775808", "9223372036854775807", "0", "1", "-7", "20240229"}},
	{"bu", 'i', "BIGINT UNSIGNED", []string{"0", "9223372036854775807", "1", "3", "20240131235959"}},
	{"zf", 'i', "INT(6) ZEROFILL", []string{"0", "7", "42", "1234567", "4294967295"}},
	{"bt", 'i', "BIT(10)", []string{"b'0'", "b'1'", "b'1111111111'", "b'101'", "65"}},
	{"yr", 'y', "YEAR", []string{"0", "1901", "2155", "2024", "1970"}},
	{"de", 'n', "DECIMAL(20,5)", []string{"0", "123456789012345.99999", "-123456789012345.99999", "1.5", "-0.00001", "2.50000"}},
	{"fl", 'n', "FLOAT", []string{"0", "1.5", "-2.25", "16777216", "3.402823e10", "0.1"}},
	{"db", 'n', "DOUBLE", []string{"0", "1e17", "-1e17", "0.1", "2.5", "-3.5", "1e15", "1e-5"}},
	{"da", 'd', "DATE", []string{"'2024-02-29'", "'1000-01-01'", "'9999-12-31'", "'2024-01-31'", "'2023-12-31'", "'1970-01-01'"}},
	{"dt", 'd', "DATETIME(3)", []string{"'2024-02-29 12:34:56.789'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59.999'", "'2024-01-31 00:00:00'", "'2024-03-01 23:59:59.5'"}},
	{"ts", 'd', "TIMESTAMP NULL", []string{"'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'", "'2024-02-29 12:34:56'", "'2024-01-31 00:00:00'"}},
	{"tm", 't', "TIME(2)", []string{"'-100:00:00'", "'100:00:00'", "'00:00:00'", "'12:34:56.78'", "'-00:00:01'", "'23:59:59.99'"}},
	{"vc", 's', "VARCHAR(30)", []string{"''", "'a'", "'A'", "'é'", "'12abc'", "'2024-02-29'", "'-1.5e1'", "' x '", "'12:34'", "'[1, 2]'", "'%_'", "'ß'"}},
	{"cb", 's', "VARCHAR(30) COLLATE utf8mb4_bin", []string{"''", "'a'", "'A'", "'é'", "'ab'", "'x,b'", "'10'"}},
	{"cg", 's', "VARCHAR(30) COLLATE utf8mb4_general_ci", []string{"''", "'a'", "'A '", "'e'", "'b'", "'ss'", "'9'"}},
	{"la", 's', "VARCHAR(30) CHARACTER SET latin1", []string{"''", "'a'", "'ä'", "'A'", "'2024-01-31 10:11:12'", "'7'"}},
	{"ch", 's', "CHAR(6)", []string{"''", "'a '", "'b'", "'12'", "'é'"}},
	{"en", 's', "ENUM('x','b','a','')", []string{"'x'", "'b'", "'a'", "''"}},
	{"se", 's', "SET('a','b','c')", []string{"''", "'a'", "'b,c'", "'a,b,c'"}},
	{"tx", 's', "TEXT", []string{"''", "'a b c'", "'text'", "'2.5'", "'{\"a\": 1}'"}},
	{"vb", 'b', "VARBINARY(20)", []string{"''", "x'00'", "'a'", "x'6100'", "'12'", "x'FF'"}},
	{"bn", 'b', "BINARY(4)", []string{"''", "'a'", "'abcd'", "x'0102'"}},
	{"bl", 'b', "BLOB", []string{"''", "'blob'", "x'00FF'", "'7'"}},
	{"js", 'j', "JSON", []string{"'null'", "'1'", "'-1.5'", "'\"a\"'", "'[1, 2.5, \"x\", null, true]'", "'{\"a\": 1, \"b\": [1, {\"c\": \"é\"}]}'", "'true'", "'\"2024-02-29\"'", "'[]'", "'{}'"}},
}

var typedKeys = []string{"PRIMARY KEY (id), KEY (bi), KEY (de), KEY (da), KEY (vc), KEY (cg), KEY (en), KEY (tm), KEY (bt), KEY (fl)",
	"PRIMARY KEY (id), KEY (bu), KEY (db), KEY (dt), KEY (ts), KEY (cb), KEY (la), KEY (se), KEY (yr), KEY (vb), KEY (ti, ch), KEY (tx(2)), KEY (bl(2))"}

// TypedSchema returns the statements that make and fill v1 and v2, which have a column of every type.
func (g *Gen) TypedSchema(keys bool) []string {
	var out []string
	for i, k := range typedKeys {
		defs, names := []string{"id INT NOT NULL"}, []string{"id"}
		for _, c := range typedColumns {
			defs, names = append(defs, c.name+" "+c.typ), append(names, c.name)
		}
		if keys {
			defs = append(defs, k)
		}
		var rows []string
		for id := range 6 + g.IntN(7) {
			row := []string{fmt.Sprint(id)}
			for _, c := range typedColumns {
				v := "NULL"
				if !g.chance(12) {
					v = g.pick(c.values...)
				}
				row = append(row, v)
			}
			rows = append(rows, "("+strings.Join(row, ", ")+")")
		}
		table := fmt.Sprintf("v%d", i+1)
		out = append(out, "CREATE TABLE "+table+" ("+strings.Join(defs, ", ")+")",
			"INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES "+strings.Join(rows, ", "))
	}
	return out
}

// typedLiterals are literals by kind.
var typedLiterals = map[byte][]string{
	'i': {"0", "1", "-1", "7", "20240229", "9223372036854775807", "TRUE", "b'101'"},
	'n': {"0.0", "1.5", "-2.5", "0.00001", "1e3", "2.5e0", "123456789012345678901234567890"},
	's': {"'a'", "''", "'A'", "'é'", "'12abc'", "'1.5'", "'2024-02-29'", "'b'", "_latin1'x'", "'a' COLLATE utf8mb4_bin", "'[1, 2]'", "'12:00:00'"},
	'b': {"x'61'", "x'00FF'", "_binary'a'"},
	'd': {"DATE '2024-02-29'", "TIMESTAMP '2024-01-31 10:20:30.5'", "DATE '1000-01-01'", "'2024-01-31'"},
	't': {"TIME '12:34:56'", "TIME '-01:00:00.25'", "TIME '38:59:59'"},
	'j': {"CAST('[1, \"a\"]' AS JSON)", "JSON_ARRAY(1, 'a', NULL)", "JSON_OBJECT('a', 1.5)", "CAST('1' AS JSON)"},
}

var typedKinds = "iinnssbddtj"

// casts are the types that CAST makes.
var casts = []string{"SIGNED", "UNSIGNED", "DECIMAL(12,2)", "DECIMAL", "DOUBLE", "FLOAT", "CHAR", "CHAR(3)", "BINARY", "BINARY(5)", "DATE", "DATETIME", "DATETIME(2)",
	"TIME", "TIME(3)", "YEAR", "JSON", "CHAR CHARACTER SET latin1", "REAL", "DECIMAL(65,30)"}

var units = []string{"DAY", "MONTH", "YEAR", "HOUR", "MINUTE", "SECOND", "MICROSECOND", "WEEK", "QUARTER", "DAY_HOUR", "HOUR_SECOND", "YEAR_MONTH", "DAY_MICROSECOND", "MINUTE_SECOND", "SECOND_MICROSECOND"}

// typedCalls are functions by the kind of their result; a letter after % is an argument of that kind, a of any, k a small number, u a unit, p a path, r a
// pattern, f a format.
var typedCalls = map[byte][]string{
	'i': {"LENGTH(%a)", "CHAR_LENGTH(%a)", "BIT_LENGTH(%s)", "ASCII(%a)", "ORD(%s)", "SIGN(%n)", "%i DIV %n", "%i % %i", "%i & %i", "%i | %i", "%i ^ %k", "%i << %k", "%i >> %k", "~%i", "BIT_COUNT(%a)",
		"LOCATE(%s, %s)", "LOCATE(%s, %s, %k)", "INSTR(%s, %s)", "FIND_IN_SET(%s, %s)", "FIELD(%a, %a, %a)", "STRCMP(%s, %s)", "INTERVAL(%n, %k, %k, 100)", "CRC32(%a)", "COERCIBILITY(%s)",
		"YEAR(%d)", "MONTH(%d)", "DAY(%d)", "DAYOFWEEK(%d)", "WEEKDAY(%d)", "DAYOFYEAR(%d)", "WEEK(%d, %k)", "YEARWEEK(%d, %k)", "QUARTER(%d)", "HOUR(%t)", "MINUTE(%t)", "SECOND(%d)", "MICROSECOND(%d)",
		"TO_DAYS(%d)", "TO_SECONDS(%d)", "DATEDIFF(%d, %d)", "TIMESTAMPDIFF(%w, %d, %d)", "EXTRACT(%u FROM %d)", "EXTRACT(%v FROM %t)", "PERIOD_ADD(202401, %k)", "PERIOD_DIFF(202401, 202312)", "TIME_TO_SEC(%t)",
		"UNIX_TIMESTAMP(%d)", "JSON_LENGTH(%j)", "JSON_DEPTH(%j)", "JSON_VALID(%a)", "JSON_CONTAINS(%j, %j)", "JSON_OVERLAPS(%j, %j)", "JSON_CONTAINS_PATH(%j, 'one', %p)", "JSON_STORAGE_SIZE(%j)",
		"REGEXP_INSTR(%s, %r)", "REGEXP_LIKE(%s, %r)", "INET_ATON('1.2.3.4')", "ROUND(%i)", "ROUND(%i, -%k)", "ABS(%i)", "MOD(%i, %k)", "CAST(%a AS SIGNED)", "CAST(%a AS UNSIGNED)", "-%i", "%i + %i", "%i - %i", "%i * %k"},
	'n': {"%n + %a", "%n - %a", "%n * %n", "%n / %n", "%n % %n", "MOD(%n, %n)", "ABS(%n)", "CEIL(%n)", "FLOOR(%n)", "ROUND(%n)", "ROUND(%n, %k)", "TRUNCATE(%n, %k)", "TRUNCATE(%n, -%k)", "-%n", "SQRT(%n)", "POW(%n, %k)",
		"LN(ABS(%n) + 1)", "LOG2(%k)", "LOG10(%n)", "LOG(%k, %n)", "EXP(%k)", "ATAN(%n)", "ATAN2(%n, %n)", "COT(%k)", "DEGREES(%k)", "RADIANS(%n)", "UNIX_TIMESTAMP(%d)", "%t + 0", "%d + 0", "CAST(%a AS DECIMAL(12,2))", "CAST(%a AS DOUBLE)",
		"CAST(%a AS FLOAT)", "%s + 0", "%j + 0", "%a * 1", "GREATEST(%n, %n)", "LEAST(%n, %i)"},
	's': {"CONCAT(%a, %a)", "CONCAT_WS(%s, %a, %a)", "UPPER(%s)", "LOWER(%s)", "LEFT(%a, %k)", "RIGHT(%a, %k)", "SUBSTRING(%s, %k)", "SUBSTRING(%s, -%k, %k)", "SUBSTRING_INDEX(%s, 'a', %k)", "TRIM(%s)", "LTRIM(%s)", "RTRIM(%s)",
		"TRIM(LEADING 'a' FROM %s)", "LPAD(%a, %k, 'xy')", "RPAD(%a, %k, %s)", "REPEAT(%s, %k)", "REPLACE(%s, %s, 'z')", "REVERSE(%s)", "INSERT(%s, %k, %k, 'Q')", "HEX(%a)", "HEX(%i)", "QUOTE(%a)", "SOUNDEX(%s)", "SPACE(%k)", "ELT(%k, %a, %a)",
		"FORMAT(%n, %k)", "CONV(%a, 10, 16)", "BIN(%i)", "OCT(%i)", "CHAR(%k + 64)", "SHA2(%s, 256)", "TO_BASE64(%a)", "MAKE_SET(%i, 'a', 'b', %s)", "EXPORT_SET(%i, 'Y', 'N', ',', 4)", "DATE_FORMAT(%d, %f)",
		"TIME_FORMAT(%t, %f)", "DAYNAME(%d)", "MONTHNAME(%d)", "CHARSET(%a)", "COLLATION(%a)", "CAST(%a AS CHAR)", "CAST(%a AS CHAR(3))", "CONVERT(%a USING latin1)", "CONVERT(%a USING utf8mb4)", "JSON_UNQUOTE(%j)", "JSON_TYPE(%j)",
		"JSON_QUOTE(%s)", "JSON_PRETTY(%j)", "js->>%p", "JSON_VALUE(%j, %p)", "JSON_VALUE(%j, %p RETURNING SIGNED)", "REGEXP_REPLACE(%s, %r, '<$0>')", "REGEXP_SUBSTR(%s, %r)", "INET_NTOA(%i)", "GREATEST(%s, %s)", "LEAST(%s, %a)", "BIN_TO_UUID(LPAD(%b, 16, 'a'))", "WEIGHT_STRING(UPPER(%s))"},
	'b': {"UNHEX(HEX(%a))", "FROM_BASE64(TO_BASE64(%a))", "CAST(%a AS BINARY)", "CAST(%a AS BINARY(5))", "BINARY %s", "CONCAT(%b, %b)", "%b & %b", "%b | x'0F'", "UNCOMPRESS(COMPRESS(%s))", "INET6_ATON('::1')"},
	'd': {"%d + INTERVAL %i %u", "%d - INTERVAL %k %u", "DATE_ADD(%d, INTERVAL %a %u)", "DATE_SUB(%d, INTERVAL %n %u)", "ADDDATE(%d, %k)", "SUBDATE(%d, %i)", "TIMESTAMP(%d)", "TIMESTAMP(%d, %t)", "DATE(%d)", "LAST_DAY(%d)", "MAKEDATE(2024, %i)", "FROM_DAYS(738000 + %k)", "FROM_UNIXTIME(%n)",
		"STR_TO_DATE(%s, %f)", "CAST(%d AS DATE)", "CAST(%d AS DATETIME)", "CAST(%d AS DATETIME(2))", "ADDTIME(%d, %t)", "SUBTIME(%d, %t)", "TIMESTAMPADD(%w, %k, %d)", "GREATEST(%d, %d)", "LEAST(%d, %d)", "CONVERT_TZ(%d, '+00:00', '+05:30')"},
	't': {"SEC_TO_TIME(%n)", "MAKETIME(%k, %k, %n)", "TIME(%a)", "TIMEDIFF(%t, %t)", "ADDTIME(%t, %t)", "SUBTIME(%t, %s)", "CAST(%a AS TIME)", "CAST(%a AS TIME(3))", "%t + INTERVAL %k SECOND", "GREATEST(%t, %t)"},
	'j': {"JSON_ARRAY(%a, %a)", "JSON_OBJECT('k', %a, 'a', %a)", "JSON_EXTRACT(%j, %p)", "js->%p", "JSON_SET(%j, %p, %a)", "JSON_INSERT(%j, %p, %a)", "JSON_REPLACE(%j, %p, %a)", "JSON_REMOVE(%j, '$.a')", "JSON_MERGE_PATCH(%j, %j)", "JSON_MERGE_PRESERVE(%j, %j)", "JSON_KEYS(%j)",
		"JSON_SEARCH(%j, 'all', %s)", "JSON_ARRAY_APPEND(%j, '$', %a)", "JSON_ARRAY_INSERT(%j, '$[1]', %a)", "CAST(%a AS JSON)", "COALESCE(%j, %a)"},
}

var (
	jsonPaths = []string{"'$'", "'$.a'", "'$[0]'", "'$[1]'", "'$.b[1].c'", "'$.*'", "'$[*]'", "'$**.c'", "'$[last]'", "'$[0 to 1]'"}
	formats   = []string{"'%Y-%m-%d'", "'%H:%i:%s.%f'", "'%W %M %j %U %u %x %v %X %V'", "'%y %e %b %a %p %c %D'", "'%r %T %h %k %l'", "'%H:%i'"}
	patterns  = []string{"'a'", "'^.'", "'[0-9]+'", "'(a|b)c?'", "'\\\\w+'", "'é'", "'[[:alpha:]]'", "'^$'", "'.*'"}
)

// mixes is chance where values of several kinds may meet.
func (g *Gen) mixes(percent int) bool { return g.chance(percent) && !g.Matching }

// typed is an expression of a kind over the columns of an alias.
func (g *Gen) typed(alias string, kind byte, depth int) string {
	switch {
	case kind == 'a':
		kind = typedKinds[g.IntN(len(typedKinds))]
	case kind == 'd' && g.mixes(12): // what converts
		kind = 's'
	case kind != 'd' && g.mixes(12):
		kind = typedKinds[g.IntN(len(typedKinds))]
	}
	switch n := g.IntN(100); {
	case depth <= 0 && n < 80, n < 25:
		var names []string
		for _, c := range typedColumns {
			if c.kind == kind {
				names = append(names, c.name)
			}
		}
		return alias + "." + g.pick(names...)
	case n < 32, depth <= 0:
		if n%8 == 0 {
			return "NULL"
		}
		return g.pick(typedLiterals[kind]...)
	case n < 40:
		return g.mixed(alias, kind, depth-1)
	case n < 46 && kind == 'i':
		return "(" + g.typedCondition(alias, depth-1) + ")"
	}
	return g.call(alias, g.pick(typedCalls[kind]...), depth-1)
}

// mixed is a choice between values, most often of one kind.
func (g *Gen) mixed(alias string, kind byte, depth int) string {
	x, y := g.typed(alias, kind, depth), g.typed(alias, kind, depth)
	if g.mixes(30) {
		y = g.typed(alias, 'a', depth)
	}
	switch g.IntN(6) {
	case 0:
		return "COALESCE(" + x + ", " + y + ")"
	case 1:
		return "IFNULL(" + x + ", " + y + ")"
	case 2:
		return "NULLIF(" + x + ", " + y + ")"
	case 3:
		return "IF(" + g.typedCondition(alias, depth) + ", " + x + ", " + y + ")"
	case 4:
		value, when := byte('a'), byte('a')
		if g.Matching {
			value = typedKinds[g.IntN(len(typedKinds))]
			when = value
		}
		return "CASE " + g.typed(alias, value, 0) + " WHEN " + g.typed(alias, when, 0) + " THEN " + x + " ELSE " + y + " END"
	}
	return "CASE WHEN " + g.typedCondition(alias, depth) + " THEN " + x + " WHEN " + g.typedCondition(alias, 0) + " THEN " + y + " END"
}

// call fills in the arguments of a form in typedCalls.
func (g *Gen) call(alias, form string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '%' || i+1 == len(form) || form[i+1] == ' ' {
			b.WriteByte(form[i])
			continue
		}
		i++
		switch form[i] {
		case 'k':
			fmt.Fprint(&b, g.IntN(9))
		case 'u':
			b.WriteString(g.pick(units...))
		case 'v':
			b.WriteString(g.pick("HOUR", "MINUTE", "SECOND", "MICROSECOND", "HOUR_SECOND", "MINUTE_MICROSECOND", "DAY_HOUR", "DAY"))
		case 'w':
			b.WriteString(g.pick("DAY", "MONTH", "YEAR", "HOUR", "SECOND", "MICROSECOND", "WEEK", "QUARTER"))
		case 'p':
			b.WriteString(g.pick(jsonPaths...))
		case 'f':
			b.WriteString(g.pick(formats...))
		case 'r':
			b.WriteString(g.pick(patterns...))
		default:
			arg := g.typed(alias, form[i], depth)
			if strings.HasPrefix(form, "%") && !strings.HasSuffix(arg, ")") || strings.ContainsAny(arg, "+-*/&|^<>=~% ") {
				arg = "(" + arg + ")"
			}
			b.WriteString(arg)
		}
	}
	return strings.ReplaceAll(b.String(), "js->", alias+".js->")
}

// typedCondition is a condition over values of every type.
func (g *Gen) typedCondition(alias string, depth int) string {
	kind := typedKinds[g.IntN(len(typedKinds))]
	other := kind
	if g.mixes(35) {
		other = 'a'
	}
	x, y := g.typed(alias, kind, depth), g.typed(alias, other, depth)
	switch g.IntN(12) {
	case 0:
		return x + g.pick(" IS NULL", " IS NOT NULL", " IS TRUE", " IS NOT FALSE")
	case 1:
		return x + g.pick(" BETWEEN ", " NOT BETWEEN ") + y + " AND " + g.typed(alias, kind, 0)
	case 2:
		return x + g.pick(" IN (", " NOT IN (") + y + ", " + g.pick(typedLiterals[kind]...) + ", " + g.typed(alias, other, 0) + ")"
	case 3:
		return g.typed(alias, 's', depth) + g.pick(" LIKE ", " NOT LIKE ") + g.pick("'a%'", "'%b'", "'_'", "'%1%'", g.typed(alias, 's', 0))
	case 4:
		return g.typed(alias, 's', depth) + g.pick(" REGEXP ", " NOT REGEXP ") + g.pick(patterns...)
	case 5:
		return "(" + g.typedCondition(alias, depth-1) + g.pick(" AND ", " OR ", " XOR ") + g.typedCondition(alias, depth-1) + ")"
	case 6:
		return "(" + x + ", " + g.typed(alias, 'i', 0) + ")" + g.pick(" = ", " < ", " >= ", " <=> ", " <> ") + "(" + y + ", " + g.typed(alias, 'i', 0) + ")"
	case 7:
		if kind == 'j' {
			return g.typed(alias, 'a', 0) + " MEMBER OF ((" + x + "))"
		}
	}
	return "(" + x + ")" + g.pick(" = ", " < ", " > ", " <= ", " >= ", " <> ", " <=> ") + "(" + y + ")"
}

// Typed is a query over values of every type.
func (g *Gen) Typed() string {
	g.aliases = 0
	t := g.pick("v1", "v2")
	switch g.IntN(20) {
	case 0, 1:
		return "SELECT x.id FROM " + t + " x WHERE " + g.typedCondition("x", 1)
	case 2:
		return "SELECT x.id, y.id FROM v1 x" + g.pick(" JOIN ", " LEFT JOIN ") + "v2 y ON " + g.typedJoin()
	case 3, 4:
		return g.typedGrouped(t)
	case 5:
		return g.typedWindow(t)
	case 6:
		return g.typedUnion()
	case 7:
		return g.typedMember(t)
	case 8:
		return g.typedOrder(t)
	case 9:
		return g.jsonTable(t)
	}
	items := "x.id, " + g.typed("x", 'a', 2)
	if g.chance(50) {
		items += ", " + g.typedCondition("x", 1)
	}
	return "SELECT " + items + " FROM " + t + " x"
}

// typedJoin compares columns of two tables, of one type or of two.
func (g *Gen) typedJoin() string {
	kind := typedKinds[g.IntN(len(typedKinds))]
	x, y := g.typed("x", kind, 0), g.typed("y", kind, 0)
	if g.chance(40) {
		c := typedColumns[g.IntN(len(typedColumns))].name
		x, y = "x."+c, "y."+c
	}
	return x + g.pick(" = ", " = ", " <=> ", " < ") + y
}

// typedMember is IN or ANY over a subquery.
func (g *Gen) typedMember(t string) string {
	kind := typedKinds[g.IntN(len(typedKinds))]
	other := kind
	if g.mixes(30) {
		other = 'a'
	}
	return "SELECT x.id FROM " + t + " x WHERE " + g.typed("x", kind, 0) + g.pick(" IN ", " NOT IN ", " = ANY ", " > ALL ", " <= ANY ") + "(SELECT " + g.typed("y", other, 0) + " FROM v1 y" +
		g.pick("", " WHERE "+g.typedCondition("y", 0)) + ")"
}

func (g *Gen) typedOrder(t string) string {
	return "SELECT x.id FROM " + t + " x ORDER BY " + g.typed("x", 'a', 1) + g.pick("", " DESC") + ", x.id LIMIT " + fmt.Sprint(1+g.IntN(9))
}

func (g *Gen) typedAggregate() string {
	a := g.typed("x", 'a', 1)
	switch g.IntN(12) {
	case 0:
		return "COUNT(DISTINCT " + a + ")"
	case 1:
		if g.Matching {
			return "SUM(" + g.typed("x", 'n', 1) + ")"
		}
		return "SUM(" + g.typed("x", 'a', 1) + ")"
	case 2:
		return "AVG(" + g.typed("x", 'n', 1) + ")"
	case 3:
		return "GROUP_CONCAT(" + a + " ORDER BY x.id" + g.pick("", " DESC") + g.pick("", " SEPARATOR '|'") + ")"
	case 4:
		return "GROUP_CONCAT(DISTINCT HEX(" + a + ") ORDER BY 1)"
	case 5:
		return g.pick("BIT_AND", "BIT_OR", "BIT_XOR") + "(" + g.typed("x", 'i', 1) + ")"
	case 6:
		return "ROUND(" + g.pick("STD", "VAR_SAMP", "VAR_POP") + "(" + g.typed("x", 'i', 0) + "), 3)"
	}
	return g.pick("MIN", "MAX") + "(" + a + ")"
}

func (g *Gen) typedGrouped(t string) string {
	if g.chance(40) {
		return "SELECT " + g.typedAggregate() + ", " + g.typedAggregate() + " FROM " + t + " x" + g.pick("", " WHERE "+g.typedCondition("x", 0))
	}
	key := g.typed("x", 'a', g.IntN(2))
	switch g.IntN(4) {
	case 0:
		key = strings.ReplaceAll(key, "x.zf", "x.ti")
		return "SELECT " + key + " AS k, COUNT(*) AS c FROM " + t + " x GROUP BY k WITH ROLLUP HAVING c > 0 ORDER BY c, k"
	case 1:
		return "SELECT DISTINCT HEX(" + key + ") FROM " + t + " x"
	}
	return "SELECT COUNT(*), MIN(x.id), " + g.typedAggregate() + " FROM " + t + " x GROUP BY " + key + g.pick("", " HAVING COUNT(*) = 1")
}

func (g *Gen) typedWindow(t string) string {
	n := g.typed("x", 'n', 0)
	function := g.pick("COUNT(*)", "SUM(x.de)", "MIN("+n+")", "MAX("+n+")", "FIRST_VALUE(x.id)", "AVG(x.ti)", "COUNT("+n+")")
	bound := func(unit string) string {
		amount := g.pick("1", "2", "30", "0")
		if unit != "" {
			amount = "INTERVAL " + amount + " " + unit
		}
		return amount
	}
	col, unit := g.pick("x.da", "x.dt", "x.ts"), g.pick("DAY", "MONTH", "YEAR", "HOUR", "SECOND", "WEEK")
	switch g.IntN(4) {
	case 0:
		col, unit = g.pick("x.ti", "x.de", "x.db", "x.fl", "x.yr", "x.bi", "x.bu"), ""
	case 1:
		col, unit = "x.tm", g.pick("HOUR", "SECOND", "MINUTE")
	}
	frame := g.pick("BETWEEN "+bound(unit)+" PRECEDING AND "+bound(unit)+" FOLLOWING", bound(unit)+" PRECEDING", "BETWEEN CURRENT ROW AND "+bound(unit)+" FOLLOWING",
		"BETWEEN UNBOUNDED PRECEDING AND "+bound(unit)+" PRECEDING", "BETWEEN "+bound(unit)+" FOLLOWING AND UNBOUNDED FOLLOWING")
	if strings.HasPrefix(function, "FIRST") {
		function = "MIN(x.id)"
	}
	return "SELECT x.id, " + function + " OVER (" + g.pick("", "PARTITION BY "+g.typed("x", 'a', 0)+" ") + "ORDER BY " + col + g.pick("", " DESC") + " RANGE " + frame + ") FROM " + t + " x"
}

// typedUnion joins columns of two types in one.
func (g *Gen) typedUnion() string {
	kind := typedKinds[g.IntN(len(typedKinds))]
	other := kind
	if g.mixes(60) {
		other = 'a'
	}
	operator := g.pick(" UNION ALL ", " UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT ")
	if operator != " UNION ALL " && strings.ContainsRune("is", rune(kind)) {
		kind = 'n' // of a BIT and a text that are equal either may be shown, and so of texts of two character sets
	}
	one, two := "SELECT "+g.typed("x", kind, 0)+" AS p FROM v1 x", "SELECT "+g.typed("y", other, 0)+" FROM v2 y"
	one, two = strings.ReplaceAll(one, "x.fl", "x.db"), strings.ReplaceAll(two, "y.fl", "y.db")
	if operator == " UNION ALL " {
		return one + operator + two
	}
	return "SELECT HEX(p) FROM (" + one + operator + two + ") u" // which of equal texts is shown is free, where they are folded
}

func (g *Gen) jsonTable(t string) string {
	typ := g.pick("INT", "VARCHAR(5)", "DOUBLE", "JSON", "DATE", "DECIMAL(6,2)", "DATETIME", "TIME", "CHAR(2)", "BIGINT")
	on := g.pick("", " NULL ON EMPTY", " DEFAULT '7' ON EMPTY", " DEFAULT '1' ON EMPTY NULL ON ERROR", " ERROR ON EMPTY", " DEFAULT '2' ON ERROR", " NULL ON EMPTY ERROR ON ERROR")
	if typ == "JSON" && strings.Contains(on, "DEFAULT") {
		on = ""
	}
	path := g.pick("'$'", "'$[*]'", "'$.b[*]'", "'$.*'")
	columns := "o FOR ORDINALITY, c " + typ + " PATH " + g.pick("'$'", "'$.a'", "'$[0]'", "'$.c'") + on + g.pick("", ", e INT EXISTS PATH '$.c'", ", NESTED PATH '$[*]' COLUMNS (n FOR ORDINALITY, m VARCHAR(10) PATH '$')")
	return "SELECT x.id, j.* FROM " + t + " x" + g.pick(" JOIN ", " LEFT JOIN ") + "JSON_TABLE(" + g.pick("x.js", "x.js", g.typed("x", 'j', 1)) + ", " + path + " COLUMNS (" + columns + ")) j ON TRUE"
}
