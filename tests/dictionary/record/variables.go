package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// wordsMax bounds the values of an enumeration that are tried.
const wordsMax = 64

// variables writes one line for each system variable: its name, scope, type, how it may be set, bounds, default and words.
func variables(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
	r := &variableRecorder{conn: conn, ctx: ctx}
	fmt.Fprint(out, "# MySQL's system variables, written by tests/dictionary/record. A line is the name; the scope (G global, B both, S session); the type; flags: r read-only,\n# s the session's value can't be set, h SET_VAR may set it; the least and the largest number; the default; the words of an enumeration or set; what a number\n# is rounded down to a multiple of. Parted by tabs.\n")
	rows, err := conn.QueryContext(ctx, `SELECT m.variable_name, m.variable_scope, m.data_type, COALESCE(i.min_value, '0'), COALESCE(i.max_value, '0'),
		COALESCE(s.variable_value, '') FROM performance_schema.variables_metadata m JOIN performance_schema.variables_info i USING (variable_name)
		LEFT JOIN performance_schema.session_variables s USING (variable_name) ORDER BY 1`)
	if err != nil {
		return err
	}
	var list [][6]string
	for rows.Next() {
		var v [6]string
		if err := rows.Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5]); err != nil {
			return err
		}
		list = append(list, v)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, v := range list {
		line, err := r.line(v)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, line)
	}
	return nil
}

type variableRecorder struct {
	conn *sql.Conn
	ctx  context.Context
}

func (r *variableRecorder) line(v [6]string) (string, error) {
	name, scope, kind, low, high, value := v[0], map[string]string{"GLOBAL": "G", "SESSION": "B", "SESSION_ONLY": "S"}[v[1]], v[2], v[3], v[4], v[5]
	where := "GLOBAL"
	if scope == "S" {
		where = "SESSION"
	}
	flags := ""
	if r.fails("SET "+where+" "+name+" = DEFAULT") == 1238 {
		flags += "r"
	} else if n := r.fails("SET SESSION " + name + " = DEFAULT"); scope == "B" && (n == 1238 || n == 1621) {
		flags += "s"
	}
	if r.hintable(name, value) {
		flags += "h"
	}
	if strings.Contains(value, "/") || r.own(name, value) {
		value = "" // of this machine or this run
	}
	words := ""
	if kind == "Enumeration" || kind == "Set" {
		words = strings.Join(r.words(where, name, kind == "Set"), ",")
	}
	line := []string{name, scope, kind, "-" + flags, low, high, value, words}
	if step := r.step(where, name, low, high); kind == "Integer" && !strings.Contains(flags, "r") && step > 1 {
		line = append(line, strconv.FormatUint(step, 10))
	}
	return strings.Join(line, "\t"), nil
}

// step is what a variable's values are rounded down to a multiple of, as values without small factors show; 0 if it isn't seen. InnoDB checks
// its own ones, whose bounds hang together.
func (r *variableRecorder) step(where, name, low, high string) (step uint64) {
	least, lowErr := strconv.ParseUint(low, 10, 64)
	most, highErr := strconv.ParseUint(high, 10, 64)
	if lowErr != nil || highErr != nil || most < 512 || strings.HasPrefix(name, "innodb_") {
		return 0
	}
	defer r.fails("SET " + where + " " + name + " = DEFAULT")
	for _, more := range []uint64{8 * 1048573, 11 * 1048573, 13 * 1048573, 777773, 99991, 5003, 1201} {
		set, got := min(least+more, most-1), uint64(0)
		if r.fails(fmt.Sprintf("SET %s %s = %d", where, name, set)) != 0 || r.conn.QueryRowContext(r.ctx, "SELECT @@"+where+"."+name).Scan(&got) != nil || got >= set {
			return 0
		}
		for a := got; a != 0; {
			step, a = a, step%a
		}
	}
	return step
}

// own reports whether a value tells of the recorded server itself.
func (r *variableRecorder) own(name, value string) bool {
	switch name {
	case "build_id", "statement_id", "timestamp", "pseudo_thread_id", "server_uuid", "port", "report_port", "version", "version_comment", "version_with_update":
		return true
	}
	host, err := os.Hostname()
	return err == nil && value != "" && strings.HasPrefix(value, host)
}

// fails is the number of the error that a statement ends with, 0 without one.
func (r *variableRecorder) fails(statement string) uint16 {
	_, err := r.conn.ExecContext(r.ctx, statement)
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func (r *variableRecorder) hintable(name, value string) bool {
	text := value
	if strings.Trim(value, "-.0123456789") != "" || value == "" {
		text = "'" + strings.ReplaceAll(value, "'", "") + "x'"
	}
	if _, err := r.conn.ExecContext(r.ctx, "SELECT /*+ SET_VAR("+name+"="+text+") */ 1"); err != nil {
		return false
	}
	rows, err := r.conn.QueryContext(r.ctx, "SHOW WARNINGS")
	if err != nil {
		return false
	}
	defer rows.Close()
	ok := true
	for rows.Next() {
		var level, message string
		var code int
		if rows.Scan(&level, &code, &message) == nil && code == 3637 {
			ok = false
		}
	}
	return ok
}

// words lists the values of an enumeration, or the members of a set.
func (r *variableRecorder) words(where, name string, set bool) (words []string) {
	before := ""
	if r.conn.QueryRowContext(r.ctx, "SELECT @@"+where+"."+name).Scan(&before) != nil {
		return nil
	}
	defer r.fails("SET " + where + " " + name + " = DEFAULT")
	for i := range wordsMax {
		n := uint64(i)
		if set {
			n = 1 << i
		}
		if r.fails(fmt.Sprintf("SET %s %s = %d", where, name, n)) != 0 {
			break
		}
		word := ""
		if r.conn.QueryRowContext(r.ctx, "SELECT @@"+where+"."+name).Scan(&word) != nil || len(words) > 0 && words[len(words)-1] == word {
			break
		}
		words = append(words, word)
	}
	return words
}
