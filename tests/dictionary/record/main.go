// Command record writes down what a running MySQL says of its own dictionary: the columns of its system tables, its system variables,
// its locales, and character sets and collations. Packages infoschema, session and types are made from these files, and tests compare servers with them.
//
//	go run ./tests/dictionary/record -addr 127.0.0.1:3306
package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"

	_ "github.com/go-sql-driver/mysql"
)

// newer are tables that MySQL 8.0 does not have, and left those of parts of MySQL that have no counterpart: NDB, group replication, the
// instruments of its mutexes, files, sockets, stages and waits. kept are those of left that monitoring asks for again and again.
var (
	newer = regexp.MustCompile(`(?i)^(JSON_DUALITY_.*|LIBRARIES|ROUTINE_LIBRARIES|variables_metadata|global_variable_attributes|innodb_redo_log_files|component_.*|telemetry_.*|setup_meters|setup_metrics|setup_loggers|replication_group_configuration_version|replication_group_member_actions|mysql_option)$`)
	left  = regexp.MustCompile(`(?i)^(ndb_.*|binary_log_transaction_compression_stats|clone_.*|.*_instances$|events_(waits|stages|transactions|errors)_.*|memory_summary_.*|socket_.*|tp_.*|x\$.*|.*_by_file_io.*|.*_file_by_.*|.*_by_stages|io_.*|latest_file_io|.*wait_class.*|waits_.*|innodb_buffer_stats_.*|memory_.*|ps_check_lost_instrumentation|schema_table_statistics_with_buffer|events_statements_summary_by_program|events_statements_histogram_.*|objects_summary_global_by_type|host_cache|persisted_variables_x)$`)
	kept  = regexp.MustCompile(`(?i)^(prepared_statements_instances|file_instances|events_waits_summary_global_by_event_name|memory_summary_global_by_event_name|host_cache)$`)
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3306", "the MySQL to ask, root without a password")
	only := flag.String("only", "", "the one file to write, instead of all")
	answers := flag.String("answers", "", "a folder for MySQL's answers about the generated schemas, to compare them by eye")
	flag.Parse()
	db, err := sql.Open("mysql", "root@tcp("+*addr+")/")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, part := range []struct {
		to   string
		fill func(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error
	}{
		{"infoschema/record/tables.txt", tables}, {"types/record/locales.txt", locales},
		{"types/record/charsets.bin", charsets}, {"types/record/charset_digests.txt", digests},
		{"tests/dictionary/testdata/schemas.txt", func(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
			return schemas(ctx, conn, out, *answers)
		}},
		{"session/record/variables.txt", variables}, {"session/record/status.txt", status},
	} {
		if *only != "" && *only != part.to {
			continue
		}
		if err := record(db, part.to, part.fill); err != nil {
			log.Fatalf("%s: %v", part.to, err)
		}
	}
}

// record writes a file with what fill asks over one connection.
func record(db *sql.DB, to string, fill func(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error) error {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	return errors.Join(fill(ctx, conn, out), out.Flush(), file.Close())
}

// tables writes the columns of MySQL's system tables.
func tables(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
	fmt.Fprint(out, "# The columns of MySQL's system tables, written by tests/dictionary/record: a table's name and kind, then for each column its name, type,\n# collation (- without one), NULL where it may be, and what else COLUMNS says of it: default=, key= and extra=.\n")
	rows, err := conn.QueryContext(ctx, `SELECT c.table_schema, c.table_name, t.table_type, COALESCE(t.engine, '-'), c.column_name, c.column_type, COALESCE(c.collation_name, '-'), c.is_nullable, c.column_default, c.column_key, c.extra
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema IN ('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY c.table_schema, c.table_name, c.ordinal_position`)
	if err != nil {
		return err
	}
	defer rows.Close()
	last := ""
	for rows.Next() {
		var schema, table, kind, engine, column, columnType, collation, nullable, key, extra string
		var byDefault sql.NullString
		if err := rows.Scan(&schema, &table, &kind, &engine, &column, &columnType, &collation, &nullable, &byDefault, &key, &extra); err != nil {
			return err
		}
		if newer.MatchString(table) || left.MatchString(table) && !kept.MatchString(table) {
			continue
		}
		if name := schema + "." + table; name != last {
			fmt.Fprintf(out, "%s\t%s\t%s\n", name, kind, engine)
			last = name
		}
		fmt.Fprintf(out, "\t%s\t%s\t%s", column, columnType, collation)
		if nullable == "YES" {
			fmt.Fprint(out, "\tNULL")
		}
		for _, f := range []struct {
			name, value string
			told        bool
		}{{"default", byDefault.String, byDefault.Valid}, {"key", key, key != ""}, {"extra", extra, extra != ""}} {
			if f.told {
				fmt.Fprintf(out, "\t%s=%s", f.name, f.value)
			}
		}
		fmt.Fprintln(out)
	}
	return rows.Err()
}
