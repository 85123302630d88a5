package tpch

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pandodb/pando/internal/assert"
)

// Queries is how many there are; they are numbered from 1.
const Queries = 22

//go:embed queries.sql
var queriesText string

var queries = parse(queriesText)

func parse(text string) (list [Queries + 1]string) {
	for n := 1; n <= Queries; n++ {
		_, rest, found := strings.Cut(text, fmt.Sprintf("\n-- %d\n", n))
		assert.That(found, "queries.sql lacks a query")
		list[n], _, _ = strings.Cut(rest, ";\n")
	}
	return list
}

// Answer is what a query has found.
type Answer struct {
	Rows []string // in a fixed order; the values of each, with tabs between
}

// Digest is the same for equal answers, and next to certainly another one for others.
func (a *Answer) Digest() string {
	sum := sha256.Sum256([]byte(strings.Join(a.Rows, "\n")))
	return fmt.Sprintf("%d rows, %s", len(a.Rows), hex.EncodeToString(sum[:6]))
}

// Do runs query n once. The end of ctx ends it.
func Do(ctx context.Context, db *sql.DB, n int) (*Answer, error) {
	rows, err := db.QueryContext(ctx, queries[n])
	if err != nil {
		return nil, fmt.Errorf("query %d: %w", n, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	answer := &Answer{}
	values := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, v := range values {
			if !v.Valid {
				v.String = "NULL"
			}
			b.WriteString(v.String + "\t")
		}
		answer.Rows = append(answer.Rows, b.String())
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("query %d: %w", n, err)
	}
	slices.Sort(answer.Rows)
	return answer, nil
}
