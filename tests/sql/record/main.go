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

	"github.com/go-sql-driver/mysql"

	sqltest "github.com/pandodb/pando/tests/sql"
	"github.com/pandodb/pando/tests/sql/server"
)

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
		a, err := server.Ask(conn, r)
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", r.Line, r.SQL, err)
		}
		r.Fill(a)
	}
	return os.WriteFile(path, []byte(sqltest.Format(records)), 0o644)
}
