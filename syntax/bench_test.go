package syntax

import (
	"fmt"
	"strings"
	"testing"
)

const pointSelect = "SELECT c FROM sbtest1 WHERE id=?"

// bulkInsert is sysbench's loading statement: 512 KiB.
func bulkInsert() string {
	var b strings.Builder
	b.WriteString("INSERT INTO sbtest1(id, k, c, pad) VALUES")
	for i := 0; b.Len() < 512<<10; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d, %d, '%s', '%s')", i, i*7, strings.Repeat("68487932199-", 10)[:119],
			strings.Repeat("13241531885-", 5)[:59])
	}
	return b.String()
}

// bulkSmall is a statement of many short rows, whose cost is by literal more than by byte.
func bulkSmall() string {
	var b strings.Builder
	b.WriteString("INSERT INTO sbtest1 VALUES")
	for i := 0; b.Len() < 512<<10; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,%d)", i, i)
	}
	return b.String()
}

var parseBenchmarks = []struct{ name, sql string }{
	{"point_select", pointSelect},
	{"point_select_text", "SELECT c FROM sbtest1 WHERE id=5031"},
	{"range", "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 100 AND 199 ORDER BY c"},
	{"update", "UPDATE sbtest1 SET k=k+1 WHERE id=5031"},
	{"delete", "DELETE FROM sbtest1 WHERE id=5031"},
	{"insert", "INSERT INTO sbtest1 (id, k, c, pad) VALUES (5031, 4, '" + strings.Repeat("68487932199-", 10) +
		"', '" + strings.Repeat("13241531885-", 5) + "')"},
	{"begin", "BEGIN"},
	{"bulk_insert", bulkInsert()},
	{"bulk_small", bulkSmall()},
}

func BenchmarkParse(b *testing.B) {
	for _, c := range parseBenchmarks {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.sql)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(c.sql, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestParseAllocations pins the allocation count of the hottest statement.
func TestParseAllocations(t *testing.T) {
	const most = 10
	n := testing.AllocsPerRun(100, func() {
		if _, _, err := Parse(pointSelect, Options{}); err != nil {
			t.Fatal(err)
		}
	})
	if n > most {
		t.Errorf("%v allocations for a point select, want at most %d", n, most)
	}
}
