package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// localesMax bounds the numbers of locales that are tried; a MySQL has a bit more than a hundred.
const localesMax = 1000

// unknownLocale is MySQL's error for a number or name that is no locale.
const unknownLocale = 1649

// locales writes one line for each of MySQL's locales, in the order of their numbers.
func locales(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
	fmt.Fprint(out, "# MySQL's locales in the order of their numbers, written by tests/dictionary/record. A line is the name; the months; the months, shortened;\n# the days from Sunday on; the days, shortened; and how FORMAT writes a number of ten digits with three decimals,\n# a zero byte as \\0. Parted by |.\n")
	for n := range localesMax {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET lc_time_names = %d", n)); err != nil {
			var refused *mysql.MySQLError
			if errors.As(err, &refused) && refused.Number == unknownLocale {
				break
			}
			return err
		}
		line, err := locale(ctx, conn)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, line)
	}
	return nil
}

// locale describes the locale that the connection is set to.
func locale(ctx context.Context, conn *sql.Conn) (string, error) {
	list := func(call string, n int) string {
		calls := make([]string, n)
		for i := range calls {
			calls[i] = fmt.Sprintf(call, i+1)
		}
		return "CONCAT_WS(',', " + strings.Join(calls, ", ") + ")"
	}
	const firstSunday = "'2024-09-%02d'" // 1 September 2024 was a Sunday
	query := "SELECT CONCAT_WS('|', @@lc_time_names, " + strings.Join([]string{
		list("MONTHNAME('2024-%02d-01')", 12), list("DATE_FORMAT('2024-%02d-01', '%%b')", 12),
		list("DAYNAME("+firstSunday+")", 7), list("DATE_FORMAT("+firstSunday+", '%%a')", 7),
		`REPLACE(FORMAT(1234567890.123, 3, @@lc_time_names), CHAR(0), '\\0'))`,
	}, ", ")
	var line string
	err := conn.QueryRowContext(ctx, query).Scan(&line)
	return line, err
}
