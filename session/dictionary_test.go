package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// TestSystemTables: every table of the system schemas can be read whole, and has the columns that information_schema.COLUMNS tells.
func TestSystemTables(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(10), b DECIMAL(5,2), CHECK (b > 0), KEY k (a), KEY k2 (a, b)) COMMENT 'x'")
	c.Must("CREATE VIEW v AS SELECT id, a FROM t WHERE id > 1")
	c.Must("CREATE USER u@'%' IDENTIFIED BY 'x'")
	c.Must("GRANT SELECT ON d.* TO u@'%'")
	c.Must("GRANT SELECT, INSERT ON d.t TO u@'%'")
	c.Must("SET @a = 1")
	c.Must("PREPARE p FROM 'SELECT ?'")
	names := c.Must("SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA <> 'd'")
	if len(names.Rows) < 150 {
		t.Errorf("there are %d system tables", len(names.Rows))
	}
	for _, name := range names.Rows {
		table := name[0] + "." + name[1]
		a := c.Exec("SELECT * FROM " + table)
		if a.Err != nil {
			t.Errorf("%s: %v", table, a.Err)
			continue
		}
		var columns []string
		for _, column := range a.Columns {
			columns = append(columns, column.Name)
		}
		told := c.Value(fmt.Sprintf("SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION SEPARATOR ',') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '%s' AND TABLE_NAME = '%s'",
			name[0], name[1]))
		if got := strings.Join(columns, ","); got != told && len(told) < 1024 {
			t.Errorf("%s has the columns %s, and COLUMNS tells %s", table, got, told)
		}
	}
}

// counter reads a counter of all sessions.
func counter(t *testing.T, c *inproc.Conn, name string) int {
	t.Helper()
	n, err := strconv.Atoi(c.Value("SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = '" + name + "'"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDictionaryReads: what a statement says of databases and tables keeps the virtual tables from looking at all others. Counted are the
// descriptors that were looked at.
func TestDictionaryReads(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	const tables = 60
	for db := range 2 {
		name := "many" + strconv.Itoa(db)
		c.Must("CREATE DATABASE " + name)
		for i := range tables {
			c.Must(fmt.Sprintf("CREATE TABLE %s.t%d (id INT PRIMARY KEY, a INT, UNIQUE (a))", name, i))
		}
	}
	reads := func() int { return counter(t, c, "Dictionary_tables_read") }
	for _, test := range []struct {
		sql        string
		rows, most int
	}{
		{"SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'many0' AND TABLE_NAME = 't5'", 1, 1},
		{"SELECT * FROM information_schema.TABLES WHERE 't5' = TABLE_NAME AND TABLE_SCHEMA IN ('many0', 'many1', 'none')", 2, 2},
		{"SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'many1'", tables, tables},
		{"SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'none'", 0, 0},
		{"SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA LIKE 'many0' AND TABLE_NAME LIKE 't5'", 2, 1},
		{"SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'many0') AND TABLE_NAME = 't5'", 2, 1},
		{"SELECT * FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'many0' AND TABLE_NAME = 't5' AND INDEX_NAME = 'PRIMARY'", 1, 1},
		{"SELECT c.COLUMN_NAME FROM information_schema.TABLES t JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME WHERE t.TABLE_SCHEMA = 'many0' AND t.TABLE_NAME = 't5'", 2, 2},
		{"SELECT c.COLUMN_NAME FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME WHERE t.TABLE_SCHEMA = 'many0' AND t.TABLE_NAME = 't5'", 2, 2},
		{"SELECT k.COLUMN_NAME, t.CONSTRAINT_TYPE FROM information_schema.KEY_COLUMN_USAGE k, information_schema.TABLE_CONSTRAINTS t WHERE k.CONSTRAINT_SCHEMA = 'many0' AND k.TABLE_NAME = 't5' AND t.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND t.TABLE_NAME = k.TABLE_NAME AND t.CONSTRAINT_NAME = k.CONSTRAINT_NAME", 2, 3},
		{"SHOW COLUMNS FROM t5 FROM many0", 2, 1},
		{"SHOW INDEX FROM t5 FROM many0", 2, 1},
		{"SHOW TABLE STATUS FROM many0 LIKE 't5'", 1, 1},
		{"SHOW TABLES FROM many0 LIKE 't5'", 1, 1},
		{"SELECT COUNT(*) FROM information_schema.SCHEMATA", 1, 0},
	} {
		before := reads()
		a := c.Must(test.sql)
		if got := reads() - before; got > test.most {
			t.Errorf("%s looks at %d tables, want %d", test.sql, got, test.most)
		}
		if len(a.Rows) != test.rows {
			t.Errorf("%s answers %d rows, want %d", test.sql, len(a.Rows), test.rows)
		}
	}
	// A parameter's value narrows as a literal does.
	before := reads()
	c.Must("PREPARE p FROM 'SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?'")
	c.Must("SET @s = 'many0', @t = 't5'")
	if a := c.Must("EXECUTE p USING @s, @t"); len(a.Rows) != 1 {
		t.Errorf("the prepared statement answers %d rows", len(a.Rows))
	}
	if got := reads() - before; got != 1 {
		t.Errorf("the prepared statement looks at %d tables", got)
	}
}

// TestDictionaryLooks: the data of tables are looked at for statements that want to know of them, and not again within
// information_schema_stats_expiry.
func TestDictionaryLooks(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	const tables = 20
	for i := range tables {
		c.Must(fmt.Sprintf("CREATE TABLE t%d (id INT PRIMARY KEY, a INT, KEY (a))", i))
	}
	looks := func() int { return counter(t, c, "Dictionary_table_looks") }
	for _, test := range []struct {
		sql  string
		want int
	}{
		{"SELECT TABLE_NAME, CREATE_TIME, AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'", 0},
		{"SHOW TABLES", 0},
		{"SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd'", 0},
		{"SELECT t.TABLE_NAME FROM information_schema.TABLES t JOIN information_schema.STATISTICS s USING (TABLE_SCHEMA, TABLE_NAME) WHERE TABLE_SCHEMA = 'd'", 0},
		{"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't3' AND TABLE_ROWS < 9", 1},
		{"SHOW TABLE STATUS LIKE 't3'", 0},
		{"SHOW INDEX FROM t4", 1},
		{"SELECT MAX(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'", tables - 2},
		{"SELECT SUM(CARDINALITY) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd'", 0},
		{"SELECT SUM(TABLE_ROWS) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = 'd'", 0},
		{"SET information_schema_stats_expiry = 0", 0},
		{"SHOW TABLE STATUS LIKE 't3'", 1},
		{"SHOW TABLE STATUS LIKE 't3'", 1},
	} {
		before := looks()
		c.Must(test.sql)
		if got := looks() - before; got != test.want {
			t.Errorf("%s looks at %d tables, want %d", test.sql, got, test.want)
		}
	}
}

// TestTableFactsLarge: the rows of a table that is too large for a look, which nobody has analysed, are still about as many as there are.
func TestTableFactsLarge(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b CHAR(20), KEY (a), UNIQUE (b, id)) STATS_AUTO_RECALC = 0")
	c.Must("INSERT INTO t (a, b) VALUES " + strings.Repeat("(1, 'x'), (2, 'y'), ", 1499) + "(1, 'x'), (2, 'z')")
	if got := c.Value("SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_NAME = 't'"); got != "3000" {
		t.Errorf("there are %s rows", got)
	}
	if got := c.Value("SELECT GROUP_CONCAT(CARDINALITY ORDER BY INDEX_NAME, SEQ_IN_INDEX) FROM information_schema.STATISTICS WHERE TABLE_NAME = 't'"); got != "2,3,3000,3000" {
		t.Errorf("the indexes have %s different values", got)
	}
	c.Must("ANALYZE TABLE t")
	c.Must("DELETE FROM t WHERE id > 2900")
	for _, test := range [][2]string{
		{"SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_NAME = 't'", "3000"},
		{"SELECT DATA_LENGTH BETWEEN 15000 AND 150000 AND INDEX_LENGTH BETWEEN 30000 AND 300000 AND AVG_ROW_LENGTH BETWEEN 5 AND 50 FROM information_schema.TABLES WHERE TABLE_NAME = 't'", "1"},
		{"SELECT clustered_index_size > 1 AND n_rows = 3000 FROM mysql.innodb_table_stats WHERE table_name = 't'", "1"},
	} {
		if got := c.Value(test[0]); got != test[1] {
			t.Errorf("%s answers %s", test[0], got)
		}
	}
}

// TestSystemTableRights: the schema mysql is read by those who have SELECT on it, information_schema by everybody.
func TestSystemTableRights(t *testing.T) {
	node, root := inproc.OpenDatabase(t)
	root.Must("CREATE TABLE t (id INT)")
	root.Must("CREATE USER plain@'%', reader@'%'")
	root.Must("GRANT SELECT ON mysql.* TO reader@'%'")
	root.Must("GRANT SELECT ON performance_schema.* TO reader@'%'")
	root.Must("GRANT SELECT ON sys.* TO reader@'%'")
	plain, err := node.Connect("plain", "h", "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	reader, err := node.Connect("reader", "h", "")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for sql, want := range map[string]int{
		"SELECT authentication_string FROM mysql.user":                             1142,
		"SELECT * FROM mysql.db":                                                   1142,
		"SELECT * FROM performance_schema.threads":                                 1142,
		"SELECT * FROM performance_schema.data_locks":                              1142,
		"SELECT * FROM performance_schema.events_statements_summary_by_digest":     1142,
		"TRUNCATE performance_schema.events_statements_summary_by_digest":          1142,
		"SELECT * FROM information_schema.INNODB_TRX":                              1227,
		"SELECT * FROM performance_schema.setup_actors":                            1142,
		"SELECT * FROM performance_schema.session_variables LIMIT 1":               0,
		"SELECT * FROM performance_schema.session_account_connect_attrs":           0,
		"SELECT * FROM sys.session":                                                1142,
		"SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'":         0,
		"SELECT * FROM information_schema.USER_PRIVILEGES":                         0,
		"SELECT * FROM information_schema.PROCESSLIST":                             0,
		"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'user'": 0,
	} {
		if a := plain.Exec(sql); a.Number() != want {
			t.Errorf("%s of an account without rights answers %s", sql, a)
		}
	}
	if got := reader.Must("SELECT COUNT(*) FROM mysql.user").Rows[0][0]; got != "3" {
		t.Errorf("who has SELECT on mysql sees %s accounts", got)
	}
	for _, table := range []string{"performance_schema.events_statements_current", "performance_schema.events_statements_history", "performance_schema.metadata_locks",
		"performance_schema.status_by_account", "performance_schema.status_by_host", "performance_schema.status_by_thread", "performance_schema.status_by_user",
		"performance_schema.table_io_waits_summary_by_index_usage", "performance_schema.table_io_waits_summary_by_table", "sys.schema_index_statistics",
		"sys.schema_table_statistics", "sys.schema_tables_with_full_table_scans", "sys.schema_unused_indexes", "sys.statements_with_sorting", "sys.statements_with_temp_tables"} {
		if a := plain.Exec("SELECT * FROM " + table); a.Number() != 1142 {
			t.Errorf("%s of an account without rights answers %s", table, a)
		}
		reader.Must("SELECT * FROM " + table)
	}
	// Who may read those tables sees in them no table that is none of its business.
	root.Must("BEGIN")
	root.Must("SELECT * FROM t")
	for _, table := range []string{"metadata_locks", "table_io_waits_summary_by_table", "table_io_waits_summary_by_index_usage"} {
		sql := "SELECT COUNT(*) > 0 FROM performance_schema." + table + " WHERE OBJECT_SCHEMA = 'd'"
		if got := root.Value(sql); got != "1" {
			t.Errorf("%s says nothing of a table in use", table)
		}
		if got := reader.Value(sql); got != "0" {
			t.Errorf("%s tells of a table to an account that has no right on it", table)
		}
	}
	if got := plain.Must("SELECT GRANTEE FROM information_schema.USER_PRIVILEGES").Rows; len(got) != 1 || got[0][0] != "'plain'@'%'" {
		t.Errorf("an account without rights sees the privileges of %v", got)
	}
	if got := plain.Must("SHOW DATABASES").Rows; len(got) != 2 {
		t.Errorf("an account without rights sees the databases %v", got)
	}
}
