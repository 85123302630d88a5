// Package server asks a running MySQL server what a record of tests/sql asks.
package server

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/tests/inproc"
	sqltest "github.com/pandodb/pando/tests/sql"
)

// statementTime is how long a statement may take; a server that hangs must not hang who asks it.
const statementTime = time.Minute

// Ask runs one statement. What a MySQL error stands for is an answer; anything else is a failure of the caller's.
func Ask(conn *sql.Conn, r *sqltest.Record) (*sqltest.Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTime)
	defer cancel()
	if r.Kind == sqltest.Count || r.Kind == sqltest.OK {
		done, err := conn.ExecContext(ctx, r.SQL)
		if err != nil {
			return refused(err)
		}
		n, err := done.RowsAffected()
		return &sqltest.Answer{Affected: int(n)}, err
	}
	rows, err := conn.QueryContext(ctx, r.SQL)
	if err != nil {
		return refused(err)
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	a := &sqltest.Answer{}
	cells, targets := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		targets[i] = &cells[i]
		a.Types += kind(c.DatabaseTypeName())
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = "NULL"
			if cell != nil {
				row[i] = sqltest.Cell(inproc.Printable(string(cell)))
			}
		}
		a.Rows = append(a.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return refused(err)
	}
	return a, nil
}

func refused(err error) (*sqltest.Answer, error) {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return nil, err
	}
	return &sqltest.Answer{Number: int(e.Number), Message: e.Message}, nil
}

// kind is the letter of a type as the driver names it.
func kind(name string) string {
	switch {
	case strings.HasSuffix(name, "INT") || name == "YEAR":
		return "I"
	case name == "DOUBLE" || name == "FLOAT":
		return "R"
	}
	return "T"
}
