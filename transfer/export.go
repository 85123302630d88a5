package transfer

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The endings of an export's files, in the order in which they are loaded; those of rows have a number in front of .sql.
const (
	databaseEnding = "-database.sql"
	tableEnding    = "-table.sql"
	viewEnding     = "-view.sql"
	exportRanks    = 4
)

// rankOf is the place of a file among those of its directory.
func rankOf(name string) int {
	switch {
	case strings.HasSuffix(name, databaseEnding):
		return 0
	case strings.HasSuffix(name, tableEnding):
		return 1
	case strings.HasSuffix(name, viewEnding):
		return 3
	}
	return 2
}

const (
	// insertBytes is about the size of one INSERT.
	insertBytes = 256 << 10
	// rangeRowsDefault is about how many rows of a table a file has.
	rangeRowsDefault = 100_000
	rangesMax        = 10_000 // files of one table
	partDigits       = 5      // of the number in a file's name
)

// systemSchemas are never exported.
const systemSchemas = "'mysql', 'sys', 'information_schema', 'performance_schema', 'pando_import'"

// ExportOptions are what Export does.
type ExportOptions struct {
	Login
	// Databases are those to export; none means all but the server's own.
	Databases []string
	// Dir takes the files. It is made, and must be empty.
	Dir string
	// Connections is how many tables, or ranges of one, are read at once.
	Connections int
	// CSV is the format of the rows, beside schemas in SQL; nil for SQL.
	CSV *CSV
	// RangeRows is about how many rows a file has; 0 is rangeRowsDefault, and for CSV one file for each table.
	RangeRows int64
	// Progress is told how many of the ranges are written; nil for nobody.
	Progress func(file string, done, total int64)
}

// exporter is one export.
type exporter struct {
	o     *ExportOptions
	conns []*sql.Conn
	mu    sync.Mutex // guards done
	done  int64
	parts []part
}

// part is the rows of one file.
type part struct {
	database, table string
	columns         []string
	where           string
	file            string
}

// Export writes databases as files of SQL: the state of one moment, over several connections.
func Export(ctx context.Context, o ExportOptions) (err error) {
	if o.Connections < 1 || o.Connections > ConnectionsMax {
		return fmt.Errorf("%d connections are not between 1 and %d", o.Connections, ConnectionsMax)
	}
	if o.CSV != nil {
		if err := o.CSV.check("utf8mb4"); err != nil {
			return err
		}
	} else if o.RangeRows <= 0 {
		o.RangeRows = rangeRowsDefault
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	if entries, err := os.ReadDir(o.Dir); err != nil {
		return err
	} else if len(entries) > 0 {
		return fmt.Errorf("%s is not an empty directory", o.Dir)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exporter{o: &o}
	db, err := o.open()
	if err != nil {
		return err
	}
	defer db.Close()
	if x.conns, err = connect(ctx, db, o.Connections); err != nil {
		return err
	}
	if err := x.snapshot(ctx); err != nil {
		return err
	}
	if err := x.schemas(ctx); err != nil {
		return err
	}
	work := make(chan *part)
	var ended sync.WaitGroup
	for _, c := range x.conns {
		ended.Go(func() {
			for p := range work {
				if ctx.Err() != nil {
					continue
				}
				if err := x.rows(ctx, c, p); err != nil {
					cancel(fmt.Errorf("%s.%s: %w", p.database, p.table, err))
				}
			}
		})
	}
	for i := range x.parts {
		work <- &x.parts[i]
	}
	close(work)
	ended.Wait()
	return context.Cause(ctx)
}

// snapshot lets all connections see the state of one moment.
func (x *exporter) snapshot(ctx context.Context) error {
	lock := x.conns[0]
	if len(x.conns) > 1 { // a single one needs no lock
		if _, err := lock.ExecContext(ctx, "FLUSH TABLES WITH READ LOCK"); err != nil {
			return err
		}
	}
	for _, c := range x.conns {
		for _, s := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */"} {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return err
			}
		}
	}
	if len(x.conns) == 1 {
		return nil
	}
	_, err := lock.ExecContext(ctx, "UNLOCK TABLES")
	return err
}

// strings returns the rows of a query, as text.
func (x *exporter) strings(ctx context.Context, query string) (rows [][]string, err error) {
	found, err := x.conns[0].QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	for found.Next() {
		values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := found.Scan(targets...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i := range values {
			row[i] = values[i].String
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// head begins every file: what its text means, whatever the session that loads it is set to.
const head = "SET NAMES utf8mb4;\nSET time_zone = '+00:00';\nSET foreign_key_checks = 0;\nSET unique_checks = 0;\nSET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';\n"

// schemas writes databases, tables and views, and lists the rows to write.
func (x *exporter) schemas(ctx context.Context) error {
	databases := x.o.Databases
	if len(databases) == 0 {
		rows, err := x.strings(ctx, "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ("+systemSchemas+") ORDER BY 1")
		if err != nil {
			return err
		}
		for _, row := range rows {
			databases = append(databases, row[0])
		}
	}
	for _, database := range databases {
		made, err := x.strings(ctx, "SHOW CREATE DATABASE "+quoteName(database))
		if err != nil {
			return err
		}
		text := strings.Replace(made[0][1], "CREATE DATABASE ", "CREATE DATABASE /*!32312 IF NOT EXISTS*/ ", 1)
		if err := x.write(fileName(database)+databaseEnding, head+text+";\n"); err != nil {
			return err
		}
		tables, err := x.strings(ctx, "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = "+Literal(database)+" ORDER BY 1")
		if err != nil {
			return err
		}
		for _, row := range tables {
			if err := x.table(ctx, database, row[0], row[1] == "VIEW"); err != nil {
				return fmt.Errorf("%s.%s: %w", database, row[0], err)
			}
		}
	}
	return nil
}

// fileName is a name as a part of a file's name: what file systems may not like is written in hexadecimal digits.
func fileName(name string) string {
	var out strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80 {
			out.WriteByte(c)
			continue
		}
		fmt.Fprintf(&out, "@%02x", c)
	}
	return out.String()
}

// write writes a file, which has its name only when it is whole.
func (x *exporter) write(name, text string) error {
	return x.writing(name, func(w *bufio.Writer) error {
		_, err := w.WriteString(text)
		return err
	})
}

func (x *exporter) writing(name string, fill func(w *bufio.Writer) error) error {
	path := filepath.Join(x.o.Dir, name)
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, insertBytes)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// definer is who a view belongs to; the account that loads it makes it its own, as it may lack the right to make another's.
var definer = regexp.MustCompile("DEFINER=`(?:[^`]|``)*`@`(?:[^`]|``)*` ")

// table writes the statement that makes a table or a view, and lists a table's parts.
func (x *exporter) table(ctx context.Context, database, table string, view bool) error {
	full := quoteName(database) + "." + quoteName(table)
	kind, ending := "TABLE ", tableEnding
	if view {
		kind, ending = "VIEW ", viewEnding
	}
	made, err := x.strings(ctx, "SHOW CREATE "+kind+full)
	if err != nil {
		return err
	}
	text := definer.ReplaceAllString(made[0][1], "")
	name := fileName(database) + "." + fileName(table)
	if err := x.write(name+ending, head+"USE "+quoteName(database)+";\n"+text+";\n"); err != nil || view {
		return err
	}
	columns, err := x.strings(ctx, "SELECT column_name, data_type, column_key FROM information_schema.columns WHERE table_schema = "+Literal(database)+" AND table_name = "+Literal(table)+
		" AND (generation_expression IS NULL OR generation_expression = '') ORDER BY ordinal_position")
	if err != nil {
		return err
	}
	var names, keys []string
	for _, c := range columns {
		names = append(names, c[0])
		if c[2] == "PRI" {
			keys = append(keys, c[0])
			if !integerTypes[c[1]] {
				keys = append(keys, "") // no ranges over it
			}
		}
	}
	wheres := []string{""}
	if len(keys) == 1 && x.o.RangeRows > 0 {
		if wheres, err = x.ranges(ctx, full, quoteName(keys[0])); err != nil {
			return err
		}
	}
	for i, where := range wheres {
		file := fmt.Sprintf("%s.%0*d.sql", name, partDigits, i+1)
		if x.o.CSV != nil {
			if file = name + csvEnding; x.o.RangeRows > 0 {
				file = fmt.Sprintf("%s.%0*d%s", name, partDigits, i+1, csvEnding)
			}
		}
		x.parts = append(x.parts, part{database, table, names, where, file})
	}
	return nil
}

var integerTypes = map[string]bool{"tinyint": true, "smallint": true, "mediumint": true, "int": true, "bigint": true}

// ranges cuts a table into intervals of its key that have about as many rows if its values are spread evenly.
func (x *exporter) ranges(ctx context.Context, full, key string) ([]string, error) {
	rows, err := x.strings(ctx, "SELECT COUNT(*), MIN("+key+"), MAX("+key+") FROM "+full)
	if err != nil {
		return nil, err
	}
	count, _ := strconv.ParseInt(rows[0][0], 10, 64)
	low, errLow := strconv.ParseInt(rows[0][1], 10, 64)
	high, errHigh := strconv.ParseInt(rows[0][2], 10, 64)
	n := min((count+x.o.RangeRows-1)/x.o.RangeRows, rangesMax)
	if n < 2 || errLow != nil || errHigh != nil || high-low < n || high-low < 0 { // beyond 63 bits: in one piece
		return []string{""}, nil
	}
	step := (high-low)/n + 1
	wheres := []string{fmt.Sprintf(" WHERE %s < %d", key, low+step)}
	for at := low + step; at <= high; at += step {
		if at > high-step {
			return append(wheres, fmt.Sprintf(" WHERE %s >= %d", key, at)), nil
		}
		wheres = append(wheres, fmt.Sprintf(" WHERE %s >= %d AND %s < %d", key, at, key, at+step))
	}
	return wheres, nil
}

// rows writes the rows of one part.
func (x *exporter) rows(ctx context.Context, c *sql.Conn, p *part) error {
	var list []string
	for _, name := range p.columns {
		list = append(list, quoteName(name))
	}
	columns := strings.Join(list, ", ")
	found, err := c.QueryContext(ctx, "SELECT "+columns+" FROM "+quoteName(p.database)+"."+quoteName(p.table)+p.where)
	if err != nil {
		return err
	}
	defer found.Close()
	types, err := found.ColumnTypes()
	if err != nil {
		return err
	}
	text := rowText{insert: "INSERT INTO " + quoteName(p.table) + " (" + columns + ") VALUES\n", types: types, csv: x.o.CSV}
	err = x.writing(p.file, func(w *bufio.Writer) error {
		if text.csv == nil {
			_, err = w.WriteString(head + "USE " + quoteName(p.database) + ";\n")
		} else if !text.csv.NoHeader {
			_, err = w.Write(text.csv.appendHeader(nil, p.columns))
		}
		if err != nil {
			return err
		}
		return text.write(w, found)
	})
	if err == nil && x.o.Progress != nil {
		x.mu.Lock()
		x.done++
		x.o.Progress(p.file, x.done, int64(len(x.parts)))
		x.mu.Unlock()
	}
	return err
}
