package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// TestParamTypes: PREPARE tells the types of the placeholders that meet a column, by which drivers send them as signed or unsigned.
func TestParamTypes(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, u BIGINT UNSIGNED, v VARCHAR(10))")
	for sql, want := range map[string]string{
		"INSERT INTO t VALUES (?, ?, ?)":                                           "int, bigint unsigned, varchar(10)",
		"INSERT INTO t (u, id) VALUES (?, 1 + ?), (?, ?)":                          "bigint unsigned, -, bigint unsigned, int",
		"INSERT INTO t (u) VALUES (1) ON DUPLICATE KEY UPDATE u = ?, v = ?":        "bigint unsigned, varchar(10)",
		"INSERT INTO t SELECT id, u, v FROM t WHERE u > ?":                         "bigint unsigned",
		"UPDATE t SET u = ?, v = CONCAT(v, ?) WHERE u = ? AND id IN (?, ?)":        "bigint unsigned, -, bigint unsigned, int, int",
		"DELETE FROM t WHERE u NOT BETWEEN ? AND ? OR ? < id":                      "bigint unsigned, bigint unsigned, int",
		"SELECT ?, u + ? FROM t WHERE id <=> ? OR u NOT IN (?, 1) LIMIT ?":         "-, -, int, bigint unsigned, -",
		"SELECT x.u FROM (SELECT u FROM t) AS x WHERE x.u >= ? UNION SELECT ? + 1": "bigint unsigned, -",
		"SELECT 1": "",
	} {
		info, err := c.Session.Prepare([]byte(sql))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for i := range info.Params {
			if i >= len(info.ParamTypes) || info.ParamTypes[i].ID == types.TypeNull {
				got = append(got, "-")
			} else {
				got = append(got, info.ParamTypes[i].String())
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, want %s", sql, text, want)
		}
		c.Session.CloseStmt(info.ID)
	}
}
