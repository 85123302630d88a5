package insert

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// rowsMax is how many rows a statement has.
const rowsMax = 500

// Batch gathers rows of one table after the other and sends them in statements of rowsMax. After an error it does nothing more. It is not
// safe for concurrent use.
type Batch struct {
	ctx   context.Context
	db    *sql.DB
	table string
	text  strings.Builder
	rows  int
	err   error
}

// Into returns a batch for the database that db is connected to. The end of ctx ends its statements.
func Into(ctx context.Context, db *sql.DB) *Batch { return &Batch{ctx: ctx, db: db} }

// Add takes a row of a table: integers, nil for NULL, and strings, which go between quotes and have to be without quotes and backslashes.
func (b *Batch) Add(table string, values ...any) {
	if b.err != nil {
		return
	}
	if table != b.table || b.rows == rowsMax {
		if b.Flush() != nil {
			return
		}
		b.table = table
		b.text.WriteString("INSERT INTO " + table + " VALUES ")
	}
	separator := ",("
	if b.rows == 0 {
		separator = "("
	}
	for _, v := range values {
		b.text.WriteString(separator)
		switch v := v.(type) {
		case nil:
			b.text.WriteString("NULL")
		case string:
			b.text.WriteString("'" + v + "'")
		default:
			fmt.Fprint(&b.text, v)
		}
		separator = ","
	}
	b.text.WriteString(")")
	b.rows++
}

// Flush sends what is left, and returns the first error of all.
func (b *Batch) Flush() error {
	if b.err == nil && b.rows > 0 {
		if _, err := b.db.ExecContext(b.ctx, b.text.String()); err != nil {
			b.err = fmt.Errorf("load %s: %w", b.table, err)
		}
	}
	b.text.Reset()
	b.rows, b.table = 0, ""
	return b.err
}
