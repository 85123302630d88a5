// Command generate writes the statements of tests/sql/testdata/gen_*.test, without results: command record fills those in. It writes the same
// statements each time.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	sqltest "github.com/pandodb/pando/tests/sql"
	"github.com/pandodb/pando/tests/sql/sqlgen"
)

// features are the files: each has tables of its own seed.
var features = []struct {
	name  string
	count int
	write func(*sqlgen.Gen) string
}{
	{"plain", 1000, (*sqlgen.Gen).Plain}, {"subquery", 900, (*sqlgen.Gen).Subquery}, {"lateral", 300, (*sqlgen.Gen).Lateral},
	{"using", 400, (*sqlgen.Gen).UsingJoin}, {"grouped", 1100, (*sqlgen.Gen).Grouped}, {"window", 1000, (*sqlgen.Gen).Window},
	{"setop", 800, (*sqlgen.Gen).SetOperation}, {"cte", 600, (*sqlgen.Gen).CTE},
	{"write", 300, (*sqlgen.Gen).Write}, {"view", 100, (*sqlgen.Gen).View}, {"wrong", 400, (*sqlgen.Gen).Wrong},
}

// triesPerStatement bounds the search for statements that are not there yet.
const triesPerStatement = 20

func main() {
	dir := flag.String("dir", "tests/sql/testdata", "where the files go")
	flag.Parse()
	for i, f := range features {
		g := sqlgen.New(uint64(i + 1))
		var records []*sqltest.Record
		add := func(kind sqltest.Kind, sql string) {
			r := &sqltest.Record{Kind: kind, SQL: sql, Types: "T", Sort: "rowsort", Head: []string{""}}
			records = append(records, r)
		}
		for _, s := range g.Schema(true) {
			add(sqltest.OK, s)
		}
		seen := map[string]bool{}
		for tries := 0; len(seen) < f.count && tries < triesPerStatement*f.count; tries++ {
			text := f.write(g.Fresh())
			if seen[text] {
				continue
			}
			seen[text] = true
			for _, s := range strings.Split(text, ";\n") {
				switch word, _, _ := strings.Cut(s, " "); word {
				case "SELECT", "WITH", "TABLE", "(SELECT":
					add(sqltest.Query, s)
				case "BEGIN", "ROLLBACK", "CREATE", "DROP":
					add(sqltest.OK, s)
				default:
					add(sqltest.Count, s)
				}
			}
		}
		records[0].Head = []string{"# Written by tests/sql/generate; its results are MySQL's, by tests/sql/record.", ""}
		path := filepath.Join(*dir, "gen_"+f.name+".test")
		if err := os.WriteFile(path, []byte(sqltest.Format(records)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}
