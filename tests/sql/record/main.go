// Command record fills the expected results of files in sqllogictest's format with what a running MySQL answers. It creates a database of the
// name of -database for each file, and drops it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/tests/inproc"
	sqltest "github.com/pandodb/pando/tests/sql"
)

// statementTime is how long a statement may take; a server that hangs must not hang the recorder.
const statementTime = time.Minute

func main() {
	addr := flag.String("addr", "", "address of a running MySQL, host:port")
	user := flag.String("user", "root", "its user, who may create databases")
	password := flag.String("password", "", "the user's password")
	database := flag.String("database", "sqltest_record", "database to work in; it is dropped first and last")
	flag.Parse()
	if *addr == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd = "tcp", *addr, *user, *password
	for _, path := range flag.Args() {
		if err := record(config, *database, path); err != nil {
			fmt.Fprintf(os.Stderr, "record: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func record(config *mysql.Config, database, path string) (err error) {
	records, err := sqltest.ReadFile(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range append([]string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "USE " + database}, sqltest.Settings...) {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	defer func() {
		_, dropErr := conn.ExecContext(ctx, "DROP DATABASE "+database)
		err = errors.Join(err, dropErr)
	}()
	for _, r := range records {
		if r.Kind == sqltest.Halt {
			break
		}
		if r.Skipped("mysql") {
			continue
		}
		a, err := ask(conn, r)
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", r.Line, r.SQL, err)
		}
		r.Fill(a)
	}
	return os.WriteFile(path, []byte(sqltest.Format(records)), 0o644)
}

// ask runs one statement. What a MySQL error stands for is an answer; anything else is a failure of the recorder.
func ask(conn *sql.Conn, r *sqltest.Record) (*sqltest.Answer, error) {
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
