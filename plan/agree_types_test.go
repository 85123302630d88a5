package plan_test

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
)

// TestIndexesAgreeAcrossTypes is TestIndexesAgreeWithScan over columns of the other types, and with literals that are seldom of the column's
// type: finer, larger, of another sign or kind, or no values of the type at all.
func TestIndexesAgreeAcrossTypes(t *testing.T) {
	seed := testkit.Seed(t)
	n := inproc.Open(t, inproc.Options{})
	defer n.Close()
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("SET time_zone = '+01:00', sql_mode = 'STRICT_TRANS_TABLES'")
	g := &mixedGenerator{generator{Rand: testkit.Rand(seed, 2)}}
	g.fill(c)
	g.value, g.texts = g.literal, []string{"ch", "l1", "ci", "vb", "txt"}
	g.indexes = []string{"PRIMARY", "itu", "ibu", "ibi", "idw", "idu", "ifl", "ifm", "its", "idt3", "idate", "itm", "iy", "ich", "il1", "ici", "ivb", "ibn", "itxt", "ibt", "ien", "ist"}
	g.others = []string{"bi = bu", "tu < bi", "ch = l1", "date1 = dt3", "ts < dt3", "fl = dw", "en = ch", "(tu, bi) > (3, 0)", "(tu, y) = (5, 2024)", "(tu, y) IN ((1,2001),(2,2024))"}
	g.groups, g.aggregates = []string{"tu", "y", "en", "date1", "ch", "fl", "tu, ch"}, []string{"COUNT(*)", "MIN(ts)", "MAX(bi)", "MIN(dw), MAX(dw)", "MAX(date1)", "MIN(tu)", "COUNT(DISTINCT l1)", "MAX(fl)"}
	g.changes = []string{"UPDATE t%s SET tu = 7, ts = NULL WHERE ", "UPDATE t%s SET id = id + 1000 WHERE ", "UPDATE t%s SET l1 = 'q', bi = NULL, dt3 = ts WHERE ", "DELETE FROM t%s WHERE "}
	g.compareAll(t, c, testkit.Repeat(800))
}

type mixedGenerator struct{ generator }

func (g *mixedGenerator) fill(c *inproc.Conn) {
	c.Must(`CREATE TABLE t (id BIGINT UNSIGNED, tu TINYINT UNSIGNED, bu BIGINT UNSIGNED, bi BIGINT, dw DECIMAL(30,10), du DECIMAL(5,2) UNSIGNED, fl FLOAT, fm DOUBLE(8,2),
		ts TIMESTAMP(1) NULL, dt3 DATETIME(3), date1 DATE, tm TIME(1), y YEAR, ch CHAR(3), l1 VARCHAR(4) CHARACTER SET latin1, ci VARCHAR(3) COLLATE utf8mb4_0900_ai_ci,
		vb VARBINARY(3), bn BINARY(3), txt TEXT COLLATE utf8mb4_general_ci, bt BIT(5), en ENUM('b','a','2','ab'), st SET('x','a','b'),
		PRIMARY KEY (id DESC), KEY itu (tu, ch DESC, bi), KEY ibu (bu DESC), KEY ibi (bi, tu), KEY idw (dw), KEY idu (du DESC, y), KEY ifl (fl), KEY ifm (fm, fl), KEY its (ts, l1(2)),
		KEY idt3 (dt3 DESC), KEY idate (date1, du), KEY itm (tm), KEY iy (y DESC), KEY ich (ch), KEY il1 (l1 DESC, tu), KEY ici (ci), KEY ivb (vb(2), fl), KEY ibn (bn), KEY itxt (txt(2)),
		KEY ibt (bt), KEY ien (en), KEY ist (st))`)
	types := []string{"tu", "bu", "bi", "dw", "du", "fl", "fm", "ts", "dt3", "date1", "tm", "y", "ch", "l1", "ci", "vb", "bn", "txt", "bt", "en", "st"}
	g.columns = append([]string{"id"}, types...)
	for i := range 250 {
		row := fmt.Sprint(i)
		for _, column := range types {
			row += "," + g.null(g.stored(column))
		}
		c.Must("INSERT IGNORE INTO t VALUES (" + row + ")")
	}
}

var (
	bigNumbers = []string{"9007199254740992", "9007199254740993", "9007199254740994", "9223372036854775807", "18446744073709551615", "0", "127", "255"}
	mixedTexts = []string{"a", "A", "b", "ab", "ss", "ß", "aß", "ass", "ast", "ä", "", " ", "a ", "1", "2", "2.5", "x", "sß", "é", "abc", "b  ", "0"}
	mixedDates = []string{"2024-01-01", "2024-01-02", "2024-01-01 12:00:00", "2024-01-01 12:00:00.05", "2024-01-01 12:00:00.1", "2024-01-01 12:00:00.123", "2024-02-29", "1970-01-01 01:00:01",
		"2038-01-19 04:14:07.9", "0000-00-00", "2024-01-00", "2024-00-00", "9999-12-31 23:59:59.999", "1000-01-01"}
	mixedTimes = []string{"00:00:00", "12:00:00", "-01:00:00", "838:59:59", "01:02:03.4", "-838:59:59"}
)

// stored is a value of a column's own kind.
func (g *mixedGenerator) stored(column string) string {
	switch column {
	case "tu", "bt":
		return fmt.Sprint(g.IntN(12))
	case "bu", "bi", "id":
		return g.pick([]string{g.pick(bigNumbers), "-" + g.pick(bigNumbers), g.number(9)})
	case "dw":
		return g.pick([]string{g.pick(bigNumbers) + ".1", g.decimal(), "1.1000000001", "1.1", "9007199254740993.0000000001"})
	case "du":
		return fmt.Sprintf("%d.%02d", g.IntN(9), g.IntN(3)*25)
	case "fl", "fm":
		return g.pick([]string{g.float(), g.decimal(), "0.1", "3.3", "16777217"})
	case "ts", "dt3", "date1":
		return "'" + g.pick(mixedDates) + "'"
	case "tm":
		return "'" + g.pick(mixedTimes) + "'"
	case "y":
		return g.pick([]string{"2024", "1999", "0", "2001", "2155"})
	case "en":
		return g.pick([]string{"'a'", "'b'", "2", "'2'"})
	case "st":
		return g.pick([]string{"'a,b'", "'x'", "3", "''"})
	}
	return "'" + g.pick(mixedTexts) + "'"
}

// literal is a value to compare with.
func (g *mixedGenerator) literal(column string) string {
	switch g.IntN(8) {
	case 0:
		return g.pick([]string{"NULL", "TRUE", "0x61", "0x05", "b'101'", "DATE'2024-01-01'", "TIMESTAMP'2024-01-01 12:00:00.05'", "TIME'12:00:00'", "CAST('a' AS BINARY)", "CAST(5 AS UNSIGNED)"})
	case 1:
		return g.pick([]string{"1e30", "-1e30", "1e300", "-1e300", "'1e30'", "-0.4", "0.4", "5.5", "'5.5'", "'5x'", "300", "-1", "9007199254740992e0", "'9007199254740993'", "'9007199254740992.5'", "99999999999999999999",
			"-99999999999999999999", "123456789012345678901234567890123456789.5", "0.1e0", "1.10000000005", "20240101", "20240101120000", "20240101120000.05", "20240101120000.123", "'20240101'", "99999999999999", "2155", "24", "'24'"})
	case 2:
		return "'" + g.pick([]string{"2050-01-01", "1960-01-01", "2024-01-01 12:00:00.04", "9999-12-31 23:59:59.9999", "2024-02-31", "2024-1-1", "x", "838:59:59.9", "12", "2024-01-01x", "2024-00-00", "abcdefgh", "a   ", "sss", "😀", "Ж", "ÿ"}) + "'"
	case 3:
		return g.stored(g.pick(g.columns))
	}
	return g.stored(column)
}
