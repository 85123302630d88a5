package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// likeColumns are texts of the collations that weigh, pad and store in different ways, each with an index: upwards, downwards, of a few
// characters, behind another column.
var likeColumns = []struct{ name, definition, index string }{
	{"ai", "VARCHAR(12) COLLATE utf8mb4_0900_ai_ci", "(ai)"},
	{"aid", "VARCHAR(12) COLLATE utf8mb4_0900_ai_ci", "(n, aid DESC)"},
	{"cs", "VARCHAR(12) COLLATE utf8mb4_0900_as_cs", "(cs)"},
	{"chn", "CHAR(12) COLLATE utf8mb4_0900_ai_ci", "(chn DESC)"},
	{"gen", "VARCHAR(12) COLLATE utf8mb4_general_ci", "(gen)"},
	{"chg", "CHAR(12) COLLATE utf8mb4_general_ci", "(chg(3))"},
	{"uni", "VARCHAR(12) COLLATE utf8mb4_unicode_ci", "(uni DESC, n)"},
	{"bin", "VARCHAR(12) COLLATE utf8mb4_bin", "(bin)"},
	{"nbin", "VARCHAR(12) COLLATE utf8mb4_0900_bin", "(nbin)"},
	{"cz", "VARCHAR(12) COLLATE utf8mb4_czech_ci", "(cz)"},
	{"lat", "VARCHAR(12) CHARACTER SET latin1", "(lat)"},
	{"txt", "TEXT COLLATE utf8mb4_0900_ai_ci", "(txt(2) DESC)"},
	{"vb", "VARBINARY(40)", "(vb)"},
	{"bb", "BINARY(16)", "(bb)"},
	{"wide", "VARCHAR(12) CHARACTER SET utf16", "(wide)"},
}

// TestLikeByIndex: LIKE finds the same rows by an index as by a scan, with patterns in the text and as parameters, in reads and in writes.
func TestLikeByIndex(t *testing.T) {
	n := inproc.Open(t, inproc.Options{})
	defer n.Close()
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	g := &generator{Rand: testkit.Rand(testkit.Seed(t), 4)}
	letters := []string{"a", "A", "b", "c", "ch", "h", "ä", "ß", "s", "ss", "é", " ", "  ", "\t", "-", "%", "_", "0", "中", "😀"}
	text := func(most int) string {
		w := ""
		for range g.IntN(most + 1) {
			w += g.pick(letters)
		}
		return w
	}
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
	}
	columns, indexes := "", ""
	for _, col := range likeColumns {
		columns += ", " + col.name + " " + col.definition
		indexes += ", KEY i_" + col.name + " " + col.index
	}
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL" + columns + indexes + ")")
	for i := range 400 {
		row := fmt.Sprintf("%d, %d", i, g.IntN(2))
		for range likeColumns {
			row += ", " + g.null(quote(text(4)))
		}
		c.Must("INSERT IGNORE INTO t VALUES (" + row + ")")
	}
	ranged, found := map[string]bool{}, 0
	for i := range 1200 {
		if i == 600 {
			c.Must("SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES'")
			quote = func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
		}
		col := likeColumns[g.IntN(len(likeColumns))].name
		pattern := text(3)
		if g.IntN(2) == 0 {
			pattern = strings.NewReplacer("%", `\%`, "_", `\_`).Replace(pattern)
		}
		pattern += g.pick([]string{"%", "%", "%%", "", "_", "_%", "%a", `\%%`, "|%%"})
		escape := g.pick([]string{"", "", "", " ESCAPE '|'", " ESCAPE ''"})
		with := func(hint, pattern string) string {
			return "SELECT id FROM t " + hint + " INDEX (i_" + col + ") WHERE n = 1 AND " + col + " LIKE " + pattern + escape + " ORDER BY id"
		}
		fast, slow := c.Exec(with("FORCE", quote(pattern))), c.Exec(with("IGNORE", quote(pattern)))
		if a, b := fast.String(), slow.String(); a != b {
			t.Fatalf("%s\n%s\nby index, by scan\n%s\n%s", with("FORCE", quote(pattern)), a, b, c.Exec("EXPLAIN FORMAT=TREE "+with("FORCE", quote(pattern))))
		}
		found += len(fast.Rows)
		if strings.Contains(c.Exec("EXPLAIN FORMAT=TREE "+with("FORCE", quote(pattern))).String(), "begins with") {
			ranged[col] = true
		}
		info, err := c.Session.Prepare([]byte(with("FORCE", "?")))
		if err != nil {
			t.Fatal(err)
		}
		prepared := c.Execute(info.ID, types.Text(pattern))
		sameError := prepared.Err != nil && slow.Err != nil && prepared.Err.Error() == slow.Err.Error() // 3854; of a parameter it comes behind the columns
		if a, b := prepared.String(), slow.String(); a != b && !sameError {
			t.Fatalf("%q as a parameter: %s\n%s\nby index, by scan\n%s", pattern, with("FORCE", "?"), a, b)
		}
		c.Session.CloseStmt(info.ID)
		if i%10 == 0 {
			c.Must("BEGIN")
			a := c.Exec("UPDATE t FORCE INDEX (i_" + col + ") SET n = n + 2 WHERE n = 1 AND " + col + " LIKE " + quote(pattern) + escape)
			if a.Err == nil && a.Result.AffectedRows != uint64(len(slow.Rows)) {
				t.Fatalf("%q %s: UPDATE finds %d rows, a query %d", pattern, col, a.Result.AffectedRows, len(slow.Rows))
			}
			c.Must("ROLLBACK")
		}
	}
	for _, col := range likeColumns {
		if ranged[col.name] != (col.name != "cz") {
			t.Errorf("%s by ranges: %v", col.name, ranged[col.name])
		}
	}
	if found < 1000 {
		t.Errorf("%d rows are too few to show anything", found)
	}
}
