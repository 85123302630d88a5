package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// badStatement is one wrong statement and the whole answer that MySQL gives to it.
type badStatement struct {
	sql     string
	number  uint16
	state   string
	message string // the whole message, or a part of it after "…"
}

// badTable is what the wrong statements refer to.
const badTable = `CREATE TABLE t (id INT PRIMARY KEY, tiny TINYINT, word VARCHAR(3), nn INT NOT NULL DEFAULT 7, req INT NOT NULL,
	d DATE, amount DECIMAL(5,2), u INT UNSIGNED, e ENUM('a','b'), UNIQUE KEY uw (word))`

var badStatements = []badStatement{
	{"SELEC 1", 1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'SELEC 1' at line 1"},
	{"SELECT *\nFROM t\nWHERE id = = 1", 1064, "42000", "…near '= 1' at line 3"},
	{"SELECT 1; SELECT 2", 1064, "42000", "…near 'SELECT 2' at line 1"},
	{"SELECT 'open", 1064, "42000", "…near ''open' at line 1"},
	{"", 1065, "42000", "Query was empty"},
	{"SELECT * FROM nodb.t", 1049, "42000", "Unknown database 'nodb'"},
	{"USE nodb", 1049, "42000", "Unknown database 'nodb'"},
	{"DROP DATABASE nodb", 1008, "HY000", "Can't drop database 'nodb'; database doesn't exist"},
	{"CREATE DATABASE sbtest", 1007, "HY000", "Can't create database 'sbtest'; database exists"},
	{"SELECT * FROM nope", 1146, "42S02", "Table 'sbtest.nope' doesn't exist"},
	{"INSERT INTO nope VALUES (1)", 1146, "42S02", "Table 'sbtest.nope' doesn't exist"},
	{"DROP TABLE nope", 1051, "42S02", "Unknown table 'sbtest.nope'"},
	{"CREATE TABLE t (id INT)", 1050, "42S01", "Table 't' already exists"},
	{"CREATE TABLE x (id INT, id INT)", 1060, "42S21", "Duplicate column name 'id'"},
	{"CREATE TABLE x (id INT, KEY k (id), KEY k (id))", 1061, "42000", "Duplicate key name 'k'"},
	{"CREATE TABLE x (id INT, KEY k (nope))", 1072, "42000", "Key column 'nope' doesn't exist in table"},
	{"CREATE TABLE x (id INT AUTO_INCREMENT)", 1075, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{"CREATE TABLE x (id INT PRIMARY KEY, a INT PRIMARY KEY)", 1068, "42000", "Multiple primary key defined"},
	{"CREATE TABLE x (a INT DEFAULT 'x')", 1067, "42000", "Invalid default value for 'a'"},
	{"CREATE INDEX uw ON t (id)", 1061, "42000", "Duplicate key name 'uw'"},
	{"DROP INDEX nope ON t", 1091, "42000", "Can't DROP 'nope'; check that column/key exists"},
	{"SELECT nope FROM t", 1054, "42S22", "Unknown column 'nope' in 'field list'"},
	{"SELECT id FROM t WHERE nope = 1", 1054, "42S22", "Unknown column 'nope' in 'where clause'"},
	{"SELECT id FROM t ORDER BY nope", 1054, "42S22", "Unknown column 'nope' in 'order clause'"},
	{"SELECT id FROM t GROUP BY nope", 1054, "42S22", "Unknown column 'nope' in 'group statement'"},
	{"INSERT INTO t (nope) VALUES (1)", 1054, "42S22", "Unknown column 'nope' in 'field list'"},
	{"UPDATE t SET nope = 1", 1054, "42S22", "Unknown column 'nope' in 'field list'"},
	{"SELECT nofunction(1)", 1305, "42000", "FUNCTION sbtest.nofunction does not exist"},
	{"SELECT id, COUNT(*) FROM t", 1140, "42000", "…In aggregated query without GROUP BY, expression #1 of SELECT list contains nonaggregated column 'sbtest.t.id'"},
	{"SELECT id FROM t WHERE COUNT(*) > 1", 1111, "HY000", "Invalid use of group function"},
	{"INSERT INTO t (id, req) VALUES (1, 1)", 1062, "23000", "Duplicate entry '1' for key 't.PRIMARY'"},
	{"INSERT INTO t (id, req, word) VALUES (2, 1, 'abc')", 1062, "23000", "Duplicate entry 'abc' for key 't.uw'"},
	{"INSERT INTO t (id, req, tiny) VALUES (2, 1, 300)", 1264, "22003", "Out of range value for column 'tiny' at row 1"},
	{"INSERT INTO t (id, req, u) VALUES (2, 1, -1)", 1264, "22003", "Out of range value for column 'u' at row 1"},
	{"INSERT INTO t (id, req, amount) VALUES (2, 1, 1000)", 1264, "22003", "Out of range value for column 'amount' at row 1"},
	{"INSERT INTO t (id, req) VALUES (2, 1), (3, 'x')", 1366, "HY000", "Incorrect integer value: 'x' for column 'req' at row 2"},
	{"INSERT INTO t (id, req, word) VALUES (2, 1, 'abcd')", 1406, "22001", "Data too long for column 'word' at row 1"},
	{"INSERT INTO t (id, req, e) VALUES (2, 1, 'z')", 1265, "01000", "Data truncated for column 'e' at row 1"},
	{"INSERT INTO t (id, req) VALUES (2, NULL)", 1048, "23000", "Column 'req' cannot be null"},
	{"UPDATE t SET nn = NULL", 1048, "23000", "Column 'nn' cannot be null"},
	{"INSERT INTO t (id) VALUES (2)", 1364, "HY000", "Field 'req' doesn't have a default value"},
	{"INSERT INTO t (id, req) VALUES (2)", 1136, "21S01", "Column count doesn't match value count at row 1"},
	{"INSERT INTO t (id, req) VALUES (2, 1), (3)", 1136, "21S01", "Column count doesn't match value count at row 2"},
	{"INSERT INTO t (id, id) VALUES (2, 1)", 1110, "42000", "Column 'id' specified twice"},
	{"INSERT INTO t (id, req, d) VALUES (2, 1, '2026-02-30')", 1292, "22007", "Incorrect date value: '2026-02-30' for column 'd' at row 1"},
	{"INSERT INTO t (id, req) VALUES (2, 1/0)", 1365, "22012", "Division by 0"},
	{"CREATE TABLE x (a INT, b INT AS (RAND()))", 3763, "HY000", "Expression of generated column 'b' contains a disallowed function: rand."},
	{"CREATE TABLE x (a INT, b INT AS (a) PRIMARY KEY)", 3106, "HY000", "'Defining a virtual generated column as primary key' is not supported for generated columns."},
	{"CREATE TABLE x (a INT, b INT AS (a + 1) DEFAULT 3)", 1221, "HY000", "Incorrect usage of DEFAULT and generated column"},
	{"CREATE TABLE x (a INT, b INT AS (c), c INT AS (a))", 3107, "HY000", "Generated column can refer only to generated columns defined prior to it."},
	{"CREATE TABLE x (a INT, b INT AS ((SELECT 1)))", 3102, "HY000", "Expression of generated column 'b' contains a disallowed function."},
	{"CREATE TABLE x (a INT, b INT AS (nope))", 1054, "42S22", "Unknown column 'nope' in 'generated column function'"},
	{"CREATE TABLE x (a INT, KEY ((a)))", 3762, "HY000", "Functional index on a column is not supported. Consider using a regular index instead."},
	{"CREATE TABLE x (j JSON, KEY ((j->>'$.x')))", 3757, "HY000", "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST."},
	{"CREATE TABLE x (j JSON, KEY ((CAST(j->'$.x' AS UNSIGNED ARRAY))))", 1235, "42000", "…multi-valued indexes (CAST … AS … ARRAY)"},
	{"SELECT 9223372036854775807 + 1", 1690, "22003", "BIGINT value is out of range in '(9223372036854775807 + 1)'"},
	{"SELECT 0 - CAST(1 AS UNSIGNED)", 1690, "22003", "BIGINT UNSIGNED value is out of range in '(0 - cast(1 as unsigned))'"},
	{"SELECT EXP(1000)", 1690, "22003", "DOUBLE value is out of range in 'exp(1000)'"},
	{"KILL 4000000000", 1094, "HY000", "Unknown thread id: 4000000000"},
	{"SET nosuch = 1", 1193, "HY000", "Unknown system variable 'nosuch'"},
	{"SELECT @@nosuch", 1193, "HY000", "Unknown system variable 'nosuch'"},
	{"SET version = 'x'", 1238, "HY000", "Variable 'version' is a read only variable"},
	{"SET autocommit = 7", 1231, "42000", "Variable 'autocommit' can't be set to the value of '7'"},
	{"SET time_zone = 'Nowhere/Land'", 1298, "HY000", "Unknown or incorrect time zone: 'Nowhere/Land'"},
	{"SET NAMES nosuch", 1115, "42000", "Unknown character set: 'nosuch'"},
	{"ROLLBACK TO nosuch", 1305, "42000", "SAVEPOINT nosuch does not exist"},
	{"RELEASE SAVEPOINT nosuch", 1305, "42000", "SAVEPOINT nosuch does not exist"},
	{"EXECUTE nosuch", 1243, "HY000", "Unknown prepared statement handler (nosuch) given to EXECUTE"},
	{"DEALLOCATE PREPARE nosuch", 1243, "HY000", "Unknown prepared statement handler (nosuch) given to DEALLOCATE PREPARE"},
	{"SELECT (SELECT 1, 2)", 1241, "21000", "Operand should contain 1 column(s)"},
	{"SELECT * FROM (SELECT 1)", 1248, "42000", "Every derived table must have its own alias"},
	{"SELECT * FROM t FORCE INDEX (nope)", 1176, "42000", "Key 'nope' doesn't exist in table 't'"},
	{"SHOW CREATE TABLE nope", 1146, "42S02", "Table 'sbtest.nope' doesn't exist"},
	{"SHOW TABLES FROM nodb", 1049, "42000", "Unknown database 'nodb'"},
	{"SHOW BINARY LOGS", 1381, "HY000", "You are not using binary logging"},
	{"SHOW CREATE PROCEDURE p", 1305, "42000", "PROCEDURE p does not exist"},
	{"SHOW CREATE TRIGGER g", 1360, "HY000", "Trigger does not exist"},
	{"SHOW CREATE EVENT e", 1539, "HY000", "Unknown event 'e'"},
	{"SHOW ENGINE nope STATUS", 1286, "42000", "Unknown storage engine 'nope'"},
	{"SELECT * FROM performance_schema.mutex_instances", 1146, "42S02", "Table 'performance_schema.mutex_instances' doesn't exist"},
	{"SELECT * FROM sys.x$processlist", 1146, "42S02", "Table 'sys.x$processlist' doesn't exist"},
	{"SET GLOBAL version = 'x'", 1238, "HY000", "Variable 'version' is a read only variable"},
	{"SET PERSIST_ONLY port = 3", 1238, "HY000", "Variable 'port' is a non persistent read only variable"},
	{"SET max_connections = 3", 1229, "HY000", "Variable 'max_connections' is a GLOBAL variable and should be set with SET GLOBAL"},
	{"SET GLOBAL sql_log_bin = 0", 1228, "HY000", "Variable 'sql_log_bin' is a SESSION variable and can't be used with SET GLOBAL"},
	{"SET optimizer_switch = 'nope=on'", 1231, "42000", "Variable 'optimizer_switch' can't be set to the value of 'nope=on'"},
	{"SET lc_time_names = 'nope'", 1649, "HY000", "Unknown locale: 'nope'"},
	{"SET session_track_system_variables = 'nope'", 1193, "HY000", "Unknown system variable 'nope'"},
	{"RESET PERSIST nope", 3615, "HY000", "Variable nope does not exist in persisted config file"},
	{"DROP USER nobody", 1396, "HY000", "Operation DROP USER failed for 'nobody'@'%'"},
	// Not supported yet: the number, and what to use instead.
	{"LOCK TABLES t READ, t WRITE", 1066, "42000", "Not unique table/alias: 't'"},
	{"FLUSH TABLES t FOR EXPORT", 1235, "42000", "…use mysqldump"},
	{"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1", 1235, "42000", "…CREATE TRIGGER; use"},
	{"CALL p()", 1235, "42000", "…CALL; use"},
	{"DROP SERVER s", 1477, "HY000", "The foreign server name you are trying to reference does not exist. Data source error:  s"},
	{"DROP TABLESPACE ts", 3510, "HY000", "Tablespace ts doesn't exist."},
	{"XA START 'a'", 1235, "42000", "…use BEGIN and COMMIT"},
	{"SELECT id FROM t INTO OUTFILE '/tmp/x'", 1290, "HY000", "…--secure-file-priv"},
	{"SELECT 1 UNION SELECT 2, 3", 1222, "21000", "The used SELECT statements have a different number of columns"},
	{"WITH c AS (SELECT 1) SELECT nope FROM c", 1054, "42S22", "Unknown column 'nope' in 'field list'"},
	{"SELECT id FROM t a JOIN t b", 1052, "23000", "Column 'id' in field list is ambiguous"},
	{"SELECT * FROM t JOIN t", 1066, "42000", "Not unique table/alias: 't'"},
	{"SELECT (SELECT 1, 2)", 1241, "21000", "Operand should contain 1 column(s)"},
	{"CREATE TEMPORARY TABLE x (a INT) PARTITION BY HASH (a)", 1562, "HY000", "Cannot create temporary table with partitions"},
	{"CREATE TEMPORARY TABLE x (a INT, FOREIGN KEY (a) REFERENCES t (id))", 1215, "HY000", "Cannot add foreign key constraint"},
	{"CREATE VIEW x AS SELECT 1 AS one WITH CHECK OPTION", 1368, "HY000", "…CHECK OPTION on non-updatable view"},
	{"DROP TEMPORARY TABLE t", 1051, "42S02", "…Unknown table"},
	{"CREATE TABLE x (a INT, FOREIGN KEY (a) REFERENCES nope (id))", 1824, "HY000", "Failed to open the referenced table 'nope'"},
}

// TestBadStatements sends every wrong statement over one connection, as text and where possible prepared; the connection lives on.
func TestBadStatements(t *testing.T) {
	n := startNode(t, "")
	db := createSbtest(t, n)
	mustExec(t, db, badTable, "INSERT INTO t (id, req, word) VALUES (1, 1, 'abc')")
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	id := connectionID(t, conn)
	for _, bad := range badStatements {
		_, err := conn.ExecContext(context.Background(), bad.sql)
		checkError(t, bad, err)
		if now := connectionID(t, conn); now != id {
			t.Fatalf("%s: the connection was lost", bad.sql)
		}
		if bad.number == 1064 || strings.HasPrefix(bad.sql, "USE") || strings.HasPrefix(bad.sql, "EXECUTE") || strings.HasPrefix(bad.sql, "DEALLOCATE") || strings.HasPrefix(bad.sql, "LOCK TABLES") { // not preparable
			continue
		}
		stmt, err := conn.PrepareContext(context.Background(), bad.sql)
		if err == nil {
			_, err = stmt.Exec()
			stmt.Close()
		}
		checkError(t, bad, err)
	}
	if rows := queryInt(t, db, "SELECT COUNT(*) FROM t"); rows != 1 {
		t.Errorf("refused statements left %d rows, not 1", rows)
	}
}

func checkError(t *testing.T, bad badStatement, err error) {
	t.Helper()
	var got *mysql.MySQLError
	if !errors.As(err, &got) {
		t.Errorf("%s: %v, not error %d", bad.sql, err, bad.number)
		return
	}
	part, isPart := strings.CutPrefix(bad.message, "…")
	if got.Number != bad.number || string(got.SQLState[:]) != bad.state || !isPart && got.Message != part || isPart && !strings.Contains(got.Message, part) {
		t.Errorf("%s:\n got  %d (%s) %s\n want %d (%s) %s", bad.sql, got.Number, got.SQLState[:], got.Message, bad.number, bad.state, bad.message)
	}
}

func connectionID(t testing.TB, conn *sql.Conn) (id int64) {
	t.Helper()
	if err := conn.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestTooManyPlaceholders needs more placeholders than the protocol can count.
func TestTooManyPlaceholders(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	_, err := db.Prepare("SELECT 1 IN (" + strings.Repeat("?,", 65535) + "?)")
	if errorNumber(err) != 1390 {
		t.Errorf("65,536 placeholders gave %v, not 1390", err)
	}
	stmt, err := db.Prepare("SELECT 5 IN (" + strings.Repeat("?,", 65534) + "?)")
	if err != nil {
		t.Fatalf("65,535 placeholders: %v", err)
	}
	defer stmt.Close()
	args := make([]any, 65535)
	for i := range args {
		args[i] = 5
	}
	var found int
	if err := stmt.QueryRow(args...).Scan(&found); err != nil || found != 1 {
		t.Errorf("65,535 placeholders found %d: %v", found, err)
	}
}

// TestLimitsOfStatements meets the caps that an administrator sets: statements, packets, connections.
func TestLimitsOfStatements(t *testing.T) {
	n := startNode(t, "", "--max-connections=5", "--max-prepared-statements=3")
	db := n.open("")
	conns := make([]*sql.Conn, 5)
	for i := range conns {
		var err error
		if conns[i], err = db.Conn(context.Background()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	if _, err := db.Conn(context.Background()); errorNumber(err) != 1040 || !strings.Contains(fmt.Sprint(err), "Too many connections") {
		t.Errorf("the sixth connection got %v, not 1040", err)
	}
	for i := 0; i < 4; i++ {
		stmt, err := conns[i%2].PrepareContext(context.Background(), fmt.Sprintf("SELECT %d", i))
		if i < 3 && err != nil || i == 3 && errorNumber(err) != 1461 {
			t.Errorf("prepared statement %d: %v", i+1, err)
		}
		if err == nil {
			defer stmt.Close()
		}
	}
	if id := connectionID(t, conns[1]); id == 0 {
		t.Error("no connection id")
	}
}
