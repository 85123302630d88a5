package infoschema

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// recordedZones are the names of the time zones of the IANA database.
//
//go:embed record/zones.txt
var recordedZones string

func keywords(q *query) error {
	for _, word := range syntax.Keywords() {
		if err := q.emit(word, boolInt(syntax.IsReserved(word))); err != nil {
			return err
		}
	}
	return nil
}

// QuotesNeeded reports whether MySQL quotes a name though sql_quote_show_create is off: it is a keyword, a number, or has other
// characters than letters, digits, _ and $.
func QuotesNeeded(name string) bool {
	digits := true
	for i := range len(name) {
		switch c := name[i]; {
		case c >= '0' && c <= '9':
		case c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z':
			digits = false
		default:
			return true
		}
	}
	return digits || syntax.IsKeyword(strings.ToUpper(name))
}

func engines(q *query) error {
	for _, row := range [][]any{
		{"InnoDB", "DEFAULT", "Supports transactions, row-level locking, and foreign keys", "YES", "NO", "YES"},
		{"PERFORMANCE_SCHEMA", "YES", "Performance Schema", "NO", "NO", "NO"},
	} {
		if err := q.emit(row...); err != nil {
			return err
		}
	}
	return nil
}

func plugins(q *query) error {
	for _, p := range [][3]string{
		{"mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"},
		{"caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"},
		{"InnoDB", "STORAGE ENGINE", "Supports transactions, row-level locking, and foreign keys"},
		{"PERFORMANCE_SCHEMA", "STORAGE ENGINE", "Performance Schema"},
	} {
		if err := q.emit(p[0], "1.0", "ACTIVE", p[1], "1.0", nil, nil, "Pando", p[2], "Apache-2.0", "FORCE"); err != nil {
			return err
		}
	}
	return nil
}

// sortLength is SORTLEN: how many passes MySQL's own code for a collation takes over a text.
func sortLength(id types.CollationID) int {
	name := id.Name()
	switch name {
	case "cp1250_czech_cs", "gb18030_chinese_ci", "latin1_german2_ci":
		return 2
	case "latin2_czech_cs", "tis620_thai_ci":
		return 4
	case "utf8mb4_ja_0900_as_cs_ks":
		return 24
	case "gb18030_unicode_520_ci":
		return 8
	}
	charset, rest, _ := strings.Cut(name, "_")
	switch {
	case strings.Contains(name, "_0900_") && rest != "0900_bin":
		return 0
	case !strings.HasPrefix(charset, "utf") && charset != "ucs2":
		return 1
	case rest == "bin" || rest == "0900_bin" || rest == "general_ci" || rest == "tolower_ci" || rest == "general_mysql500_ci":
		return 1
	}
	return 8
}

// zones lists the time zones by name, numbered in that order.
func zones(q *query) error {
	for i, name := range strings.Fields(recordedZones) {
		if err := q.emit(name, i+1); err != nil {
			return err
		}
	}
	return nil
}

func zoneIDs(q *query) error {
	for i := range strings.Fields(recordedZones) {
		if err := q.emit(i+1, "N"); err != nil {
			return err
		}
	}
	return nil
}

// statsPage is the size of the pages in which InnoDB counts.
const statsPage = 16 << 10

// pages is how many pages so many bytes take: as in InnoDB, an index without entries has one.
func pages(bytes uint64) uint64 { return max(1, (bytes+statsPage-1)/statsPage) }

// tableStats is mysql.innodb_table_stats.
func tableStats(q *query) error {
	return q.eachTable(func(t *catalog.Table) error {
		if t.View != nil {
			return nil
		}
		f, err := q.Facts(t)
		if err != nil {
			return err
		}
		others := uint64(0)
		for _, bytes := range f.IndexBytes {
			others += pages(bytes)
		}
		return q.emit(t.Schema, t.Name, f.looked(t), f.Rows, pages(f.DataBytes), others)
	})
}

// looked is when the facts were looked for.
func (f *TableFacts) looked(t *catalog.Table) any {
	if f.Looked.IsZero() {
		return created(t)
	}
	return at(f.Looked)
}

// indexStats is mysql.innodb_index_stats: how many different values the first columns of an index have, and what it takes.
func indexStats(q *query) error {
	return q.eachIndex(func(t *catalog.Table, index *catalog.Index) error {
		f, err := q.Facts(t)
		if err != nil {
			return err
		}
		row := func(name string, value uint64, sampled any, description string) error {
			return q.emit(t.Schema, t.Name, index.Name, f.looked(t), name, value, sampled, description)
		}
		list := ""
		for i, part := range index.Columns {
			if i > 0 {
				list += ","
			}
			list += t.Columns[part.Col].Name
			n, err := q.Cardinality(t, index, i+1)
			if err != nil {
				return err
			}
			if err := row(fmt.Sprintf("n_diff_pfx%02d", i+1), n, 1, list); err != nil {
				return err
			}
		}
		bytes := f.DataBytes
		if !index.Primary {
			bytes = f.IndexBytes[index.ID]
		}
		if err := row("n_leaf_pages", pages(bytes), nil, "Number of leaf pages in the index"); err != nil {
			return err
		}
		return row("size", pages(bytes), nil, "Number of pages in the index")
	})
}
