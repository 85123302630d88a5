package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
)

// newerStatus are status variables that MySQL 8.0 does not have, and those of plugins.
var newerStatus = regexp.MustCompile(`(?i)^(mysqlx_|option_tracker|telemetry_|deprecated_|count_hit_|tls_library|com_.*(_library|_masking_policy|library_status|parse_tree)|com_show_binary_log_status|global_connection_memory|innodb_have_atomic)`)

// status writes one line for each status variable: its name, and what it is where nothing has happened yet: 0, OFF, or no text.
func status(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
	fmt.Fprint(out, "# MySQL's status variables, written by tests/dictionary/record: the name, and 0 if it is a number, OFF if it is a switch.\n")
	rows, err := conn.QueryContext(ctx, "SHOW GLOBAL STATUS")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		onOff := value == "ON" || value == "OFF"
		if newerStatus.MatchString(name) {
			continue
		}
		if _, err := strconv.ParseFloat(value, 64); err == nil {
			value = "0"
		} else if value = "OFF"; !onOff {
			value = ""
		}
		fmt.Fprintf(out, "%s\t%s\n", name, value)
	}
	return rows.Err()
}
