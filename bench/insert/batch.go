package insert

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// rowsMax is how many rows a statement has.
const rowsMax = 500

// Batch gathers rows of tables and sends them in statements of rowsMax, also where the rows of several tables come by turns. After an error it
// does nothing more. It is not safe for concurrent use.
type Batch struct {
	ctx    context.Context
	db     *sql.DB
	tables []*statement // in the order in which they were named first
	err    error
}

// statement is what waits to be sent for one table.
type statement struct {
	table string
	text  strings.Builder
	rows  int
}

// Into returns a batch for the database that db is connected to. The end of ctx ends its statements.
func Into(ctx context.Context, db *sql.DB) *Batch { return &Batch{ctx: ctx, db: db} }

// Add takes a row of a table: integers, nil for NULL, and strings, which go between quotes and have to be without quotes and backslashes.
func (b *Batch) Add(table string, values ...any) {
	if b.err != nil {
		return
	}
	s := b.statement(table)
	if s.rows == rowsMax && b.send(s) != nil {
		return
	}
	separator := ",("
	if s.rows == 0 {
		separator = "INSERT INTO " + table + " VALUES ("
	}
	for _, v := range values {
		s.text.WriteString(separator)
		switch v := v.(type) {
		case nil:
			s.text.WriteString("NULL")
		case string:
			s.text.WriteString("'" + v + "'")
		default:
			fmt.Fprint(&s.text, v)
		}
		separator = ","
	}
	s.text.WriteString(")")
	s.rows++
}

// statement finds the one of a table. There are few.
func (b *Batch) statement(table string) *statement {
	for _, s := range b.tables {
		if s.table == table {
			return s
		}
	}
	s := &statement{table: table}
	b.tables = append(b.tables, s)
	return s
}

// send executes a statement, if it has rows, and empties it.
func (b *Batch) send(s *statement) error {
	if b.err == nil && s.rows > 0 {
		if _, err := b.db.ExecContext(b.ctx, s.text.String()); err != nil {
			b.err = fmt.Errorf("load %s: %w", s.table, err)
		}
	}
	s.text.Reset()
	s.rows = 0
	return b.err
}

// Flush sends what is left, and returns the first error of all.
func (b *Batch) Flush() error {
	for _, s := range b.tables {
		_ = b.send(s) // b.err keeps it
	}
	return b.err
}
