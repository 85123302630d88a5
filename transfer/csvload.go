package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// csvBegin sets sessions up for CSV: values that do not fit are errors, zeros in AUTO_INCREMENT are zeros, moments are in UTC. csvEnd takes it back.
var (
	csvBegin = []string{
		"SET @pando_client = @@character_set_client, @pando_results = @@character_set_results, @pando_collation = @@collation_connection, " +
			"@pando_mode = @@sql_mode, @pando_zone = @@time_zone, @pando_foreign = @@foreign_key_checks",
		"SET NAMES utf8mb4",
		"SET sql_mode = 'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'",
	}
	csvEnd = "SET character_set_client = @pando_client, character_set_results = @pando_results, collation_connection = @pando_collation, " +
		"sql_mode = @pando_mode, time_zone = @pando_zone, foreign_key_checks = @pando_foreign"
)

// csvTarget is where the lines of a file go.
type csvTarget struct {
	insert  string // how an INSERT begins
	columns []csvColumn
}

// csvColumn says how a value is written.
type csvColumn struct{ binary bool }

// csvFile loads one file of CSV.
func (im *importer) csvFile(ctx context.Context, f input) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	key, err := filepath.Abs(f.path)
	if err != nil {
		return err
	}
	im.waiting.Wait() // for what is before it, which may need other settings
	settings := csvBegin
	if f.together {
		settings = append(settings[:len(settings):len(settings)], "SET foreign_key_checks = 0") // other tables may come later
	}
	for _, s := range settings {
		if err := im.everywhere(ctx, s); err != nil {
			return err
		}
	}
	r := newCSVReader(file, &im.o.CSV)
	target, err := im.csvTarget(ctx, r, f)
	if err == nil {
		l := csvLoad{im: im, r: r, target: target, path: f.path, key: key, before: im.read}
		err = l.lines(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("%s:%d: %w", f.path, r.line, err)
	}
	return im.everywhere(ctx, csvEnd)
}

// csvTarget finds the table and the columns, for which it reads the header.
func (im *importer) csvTarget(ctx context.Context, r *csvReader, f input) (target *csvTarget, err error) {
	database, table, err := im.csvTable(f.path)
	if err != nil {
		return nil, err
	}
	full := quoteName(table)
	if database != "" {
		full = quoteName(database) + "." + full
	}
	names := im.o.Columns
	if !im.o.CSV.NoHeader {
		header, err := r.next()
		if err == io.EOF {
			return nil, errors.New("the file is empty, and has no line that names the columns")
		}
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			for i := range header.fields {
				names = append(names, string(header.value(i)))
			}
		}
	}
	next := r.line
	r.line = 1 // of what is wrong with columns
	if target, err = im.askColumns(ctx, database, table, full, names); err == nil {
		r.line = next
	}
	return target, err
}

// csvTable is the table that a file is for.
func (im *importer) csvTable(path string) (database, table string, err error) {
	if im.o.Table == "" {
		if database, table, err = tableOf(filepath.Base(path)); err != nil {
			return "", "", err
		}
	} else if before, after, found := strings.Cut(im.o.Table, "."); found {
		database, table = before, after
	} else {
		table = before
	}
	if database == "" && im.o.Database == "" {
		return "", "", fmt.Errorf("the database of the table %s is not known: --database, DATABASE.TABLE.csv or --table DATABASE.TABLE says it", table)
	}
	return database, table, nil
}

// askColumns asks the server about the columns; without names, about all but generated ones.
func (im *importer) askColumns(ctx context.Context, database, table, full string, names []string) (*csvTarget, error) {
	c := im.conns[0]
	if len(names) == 0 {
		if database == "" {
			database = im.o.Database
		}
		rows, err := c.QueryContext(ctx, "SELECT column_name FROM information_schema.columns WHERE table_schema = "+Literal(database)+" AND table_name = "+Literal(table)+
			" AND (generation_expression IS NULL OR generation_expression = '') ORDER BY ordinal_position")
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			names = append(names, name)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quoteName(name)
	}
	columns := strings.Join(list, ", ")
	if _, err := c.ExecContext(ctx, "DO CONVERT('' USING "+im.o.Charset+")"); err != nil { // which the server may not know
		return nil, err
	}
	asked := columns
	if len(names) == 0 { // there is no such table, which the server says
		asked = "*"
	}
	found, err := c.QueryContext(ctx, "SELECT "+asked+" FROM "+full+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	types, err := found.ColumnTypes()
	if err != nil {
		return nil, err
	}
	target := &csvTarget{insert: "INSERT INTO " + full + " (" + columns + ") VALUES ", columns: make([]csvColumn, len(names))}
	for i := range target.columns {
		target.columns[i].binary = binaryTypes[typeName(types[i])]
	}
	return target, nil
}

// csvLoad makes batches of the lines of a file.
type csvLoad struct {
	im        *importer
	r         *csvReader
	target    *csvTarget
	path, key string
	before    int64 // what was read of other files

	batch  batch
	begun  bool // the batch has lines
	loaded bool // and is loaded already
	insert statement
	count  int64
}

// lines loads all lines.
func (l *csvLoad) lines(ctx context.Context) error {
	for {
		rec, err := l.r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		l.count++
		if err := l.line(rec); err != nil {
			l.r.line = rec.line
			return err
		}
		if l.r.offset-l.batch.start < batchBytes { // which the file alone decides, so that batches begin at the same places when it is resumed
			continue
		}
		if err := l.send(ctx); err != nil {
			return err
		}
	}
	if err := l.send(ctx); err != nil {
		return err
	}
	l.im.waiting.Wait()
	return nil
}

// send hands the batch on.
func (l *csvLoad) send(ctx context.Context) error {
	l.endInsert()
	l.begun = false
	err := l.im.send(ctx, l.key, &l.batch)
	l.im.read = l.before + l.r.offset
	if l.im.o.Progress != nil {
		l.im.o.Progress(l.path, l.im.read, l.im.total)
	}
	return err
}

// line appends a line to the batch.
func (l *csvLoad) line(rec *record) error {
	if !l.begun {
		l.begun, l.batch, l.loaded = true, batch{file: l.path, start: rec.start}, l.im.done[l.key][rec.start]
	}
	switch columns := len(l.target.columns); {
	case len(rec.fields) < columns:
		return &mysql.MySQLError{Number: 1261, SQLState: [5]byte([]byte("01000")), Message: fmt.Sprintf("Row %d doesn't contain data for all columns", l.count)}
	case len(rec.fields) > columns:
		return &mysql.MySQLError{Number: 1262, SQLState: [5]byte([]byte("01000")), Message: fmt.Sprintf("Row %d was truncated; it contained more data than there were input columns", l.count)}
	case l.loaded:
		return nil
	}
	st := &l.insert
	if len(st.rows) == 0 {
		*st = statement{text: []byte(l.target.insert), line: rec.line, start: rec.start, head: len(l.target.insert)}
	} else {
		st.text = append(st.text, ',')
	}
	st.text = append(st.text, '(')
	for i, column := range l.target.columns {
		if i > 0 {
			st.text = append(st.text, ',')
		}
		st.text = l.appendValue(st.text, rec.value(i), rec.fields[i].null, column)
	}
	st.text = append(st.text, ')')
	st.rows = append(st.rows, row{rec.line, len(st.text)})
	if len(st.text) >= insertBytes {
		l.endInsert()
	}
	return nil
}

// appendValue appends a value as a literal. In hexadecimal digits the connection's character set does not change it.
func (l *csvLoad) appendValue(dst, value []byte, null bool, column csvColumn) []byte {
	switch {
	case null:
		return append(dst, "NULL"...)
	case column.binary:
		return appendHex(dst, value)
	case l.im.o.Charset != "utf8mb4":
		return appendHex(append(append(append(dst, '_'), l.im.o.Charset...), ' '), value)
	}
	return appendText(dst, value)
}

func (l *csvLoad) endInsert() {
	if len(l.insert.rows) > 0 {
		l.batch.statements = append(l.batch.statements, l.insert)
		l.insert = statement{}
	}
}
