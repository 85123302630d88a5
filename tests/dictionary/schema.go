// Package dictionary compares what servers say of generated schemas: SHOW and information_schema over tables that a seed decides. What a real
// MySQL answered is kept as one hash for each question (testdata/schemas.txt, written by record).
package dictionary

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/pandodb/pando/internal/testkit"
)

// Schemas is how many schemas are compared.
const Schemas = 200

// Questions are asked of every schema; its table is t, in the current database.
var Questions = []string{
	"SHOW CREATE TABLE t",
	"SHOW COLUMNS FROM t",
	"SHOW FULL COLUMNS FROM t",
	"SELECT TABLE_NAME, NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, SUB_PART, PACKED, NULLABLE, INDEX_TYPE, COMMENT, INDEX_COMMENT, IS_VISIBLE, EXPRESSION FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't' ORDER BY INDEX_NAME, SEQ_IN_INDEX",
	"SELECT COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME, COLLATION_NAME, COLUMN_TYPE, COLUMN_KEY, EXTRA, PRIVILEGES, COLUMN_COMMENT, GENERATION_EXPRESSION, SRS_ID FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't' ORDER BY ORDINAL_POSITION",
	"SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, POSITION_IN_UNIQUE_CONSTRAINT, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't' ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION",
	"SELECT CONSTRAINT_NAME, TABLE_NAME, CONSTRAINT_TYPE, ENFORCED FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't' ORDER BY CONSTRAINT_TYPE, CONSTRAINT_NAME",
	"SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY CONSTRAINT_NAME",
	"SELECT TABLE_TYPE, ENGINE, VERSION, ROW_FORMAT, TABLE_COLLATION, CHECKSUM, CREATE_OPTIONS, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't'",
}

// Sum is the hash under which an answer is kept.
func Sum(answer string) string {
	sum := sha256.Sum256([]byte(answer))
	return hex.EncodeToString(sum[:5])
}

// Render prints rows, whose NULLs are the word NULL.
func Render(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	return b.String()
}

// kinds are column types, with a default that each may have and whether a key needs a prefix.
var kinds = []struct {
	name, def string
	prefix    bool
}{
	{"INT", "7", false}, {"INT UNSIGNED", "0", false}, {"BIGINT", "-1", false}, {"TINYINT(1)", "1", false}, {"SMALLINT", "'3'", false}, {"MEDIUMINT UNSIGNED", "9", false},
	{"DECIMAL(10,2)", "1.5", false}, {"DECIMAL(20,0) UNSIGNED", "0", false}, {"FLOAT", "0.5", false}, {"DOUBLE", "2", false}, {"BIT(5)", "b'101'", false},
	{"VARCHAR(30)", "'x''y'", false}, {"VARCHAR(10) CHARACTER SET latin1", "''", false}, {"CHAR(5) COLLATE utf8mb4_bin", "'a'", false}, {"CHAR(3) CHARACTER SET ascii", "NULL", false},
	{"VARBINARY(12)", "'ab'", false}, {"BINARY(4)", "'z'", false}, {"TEXT", "", true}, {"MEDIUMTEXT CHARACTER SET latin1 COLLATE latin1_bin", "", true}, {"BLOB", "", true},
	{"DATE", "'2020-01-02'", false}, {"TIME(3)", "'10:00:00.5'", false}, {"DATETIME", "CURRENT_TIMESTAMP", false}, {"DATETIME(6)", "CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)", false},
	{"TIMESTAMP NULL", "CURRENT_TIMESTAMP", false}, {"TIMESTAMP(2)", "CURRENT_TIMESTAMP(2)", false}, {"YEAR", "2001", false}, {"ENUM('a','b''c','d')", "'d'", false},
	{"SET('x','y','z')", "'x,y'", false}, {"JSON", "", true},
}

// Schema is the statement that makes table t of a seed.
func Schema(seed uint64) string {
	r := testkit.Rand(seed, 44)
	chance := func(n int) bool { return r.IntN(n) == 0 }
	var parts, keyable, long []string
	for i := range 1 + r.IntN(7) {
		kind := kinds[r.IntN(len(kinds))]
		name := fmt.Sprintf("c%d", i)
		if chance(9) {
			name = "we`ird" + name
		}
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		text := quoted + " " + kind.name
		if chance(2) && !strings.HasPrefix(kind.name, "TIMESTAMP") {
			text += " NOT NULL"
			if kind.def != "" && kind.def != "NULL" && chance(2) {
				text += " DEFAULT " + kind.def
			}
		} else if kind.def != "" && (chance(2) || strings.HasPrefix(kind.name, "TIMESTAMP(")) {
			text += " DEFAULT " + kind.def
		}
		if chance(5) {
			text += " COMMENT 'it''s " + name + "'"
		}
		if chance(11) && i > 0 {
			text += " INVISIBLE"
		}
		parts = append(parts, text)
		switch {
		case !kind.prefix:
			keyable = append(keyable, quoted)
		case kind.name != "JSON":
			long = append(long, quoted)
		}
	}
	if chance(2) {
		parts = append([]string{"`id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"}, parts...)
	}
	parts = append(parts, keys(r, keyable, long)...)
	if len(keyable) > 0 && chance(4) {
		parts = append(parts, "CONSTRAINT `named` CHECK ("+keyable[0]+" IS NOT NULL)")
	}
	return "CREATE TABLE t (" + strings.Join(parts, ", ") + ")" + options(r)
}

func keys(r *rand.Rand, keyable, long []string) (out []string) {
	for i := range r.IntN(3) {
		if len(keyable) == 0 {
			break
		}
		picked := r.Perm(len(keyable))[:1+r.IntN(min(2, len(keyable)))]
		var columns []string
		for _, at := range picked {
			column := keyable[at]
			if r.IntN(4) == 0 {
				column += " DESC"
			}
			columns = append(columns, column)
		}
		kind := []string{"KEY", "UNIQUE KEY", "INDEX"}[r.IntN(3)]
		text := fmt.Sprintf("%s k%d (%s)", kind, i, strings.Join(columns, ", "))
		switch r.IntN(5) {
		case 0:
			text += " COMMENT 'a key'"
		case 1:
			text += " INVISIBLE"
		case 2:
			text += " USING BTREE"
		}
		out = append(out, text)
	}
	if len(long) > 0 && r.IntN(2) == 0 {
		out = append(out, "KEY prefix ("+long[0]+"(10))")
	}
	return out
}

func options(r *rand.Rand) string {
	return []string{"", " ENGINE=InnoDB", " COMMENT='it''s a table'", " DEFAULT CHARSET=latin1", " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", " ROW_FORMAT=DYNAMIC",
		" AUTO_INCREMENT=100", " MAX_ROWS=1000 MIN_ROWS=10", " COLLATE=utf8mb4_bin COMMENT='b'", " STATS_PERSISTENT=0"}[r.IntN(10)]
}
