package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pandodb/pando/tests/dictionary"
)

// schemas writes the hashes of what a MySQL answers about the generated schemas, and the answers themselves into a folder if one is named.
func schemas(ctx context.Context, conn *sql.Conn, out *bufio.Writer, answers string) error {
	fmt.Fprintln(out, "# What a MySQL answers about generated schemas, written by tests/dictionary/record: the seed, then the hash of each answer, or ! for a statement that fails.")
	for seed := range uint64(dictionary.Schemas) {
		for _, statement := range []string{"DROP DATABASE IF EXISTS dictionary", "CREATE DATABASE dictionary", "USE dictionary"} {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		fmt.Fprint(out, seed)
		if _, err := conn.ExecContext(ctx, dictionary.Schema(seed)); err != nil {
			fmt.Fprintln(out, " !")
			continue
		}
		for i, question := range dictionary.Questions {
			rows, err := ask(ctx, conn, question)
			if err != nil {
				return fmt.Errorf("%s: %w", question, err)
			}
			text := dictionary.Render(rows)
			fmt.Fprint(out, " ", dictionary.Sum(text))
			if answers != "" {
				if err := os.WriteFile(filepath.Join(answers, fmt.Sprintf("%d-%d", seed, i)), []byte(text), 0o600); err != nil {
					return err
				}
			}
		}
		fmt.Fprintln(out)
	}
	return nil
}

func ask(ctx context.Context, conn *sql.Conn, question string) (list [][]string, err error) {
	rows, err := conn.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		to := make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			if row[i] = v.String; !v.Valid {
				row[i] = "NULL"
			}
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
