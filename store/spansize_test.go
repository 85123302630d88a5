package store

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// TestSpanSize: a look at a span counts the newest versions that are there, exactly if it reaches the end, and else estimates the rest by the
// size of the tables, with and without a log.
func TestSpanSize(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		t.Run(fmt.Sprintf("cluster=%v", cluster), func(t *testing.T) {
			e, err := engine.OpenMem()
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			r := openSplitRig(t, e, cluster, Options{})
			defer r.s.Close()
			span := func(table uint64) kvapi.Span {
				start := keys.RowPrefix(nil, table)
				return kvapi.Span{Start: start, End: keys.PrefixEnd(nil, start)}
			}
			look := func(table uint64, versions int) kvapi.SpanSize {
				t.Helper()
				size, err := r.s.SpanSize(span(table), versions)
				if err != nil {
					t.Fatal(err)
				}
				return size
			}
			if size := look(7, 1); size != (kvapi.SpanSize{Whole: true}) {
				t.Errorf("an empty span is %+v", size)
			}
			r.rows(6, 0, 3)
			r.rows(7, 0, 10)
			before := look(7, 10)
			if !before.Whole || before.Keys != 10 || before.Bytes < 10_000 || before.Bytes > 11_000 || before.Newest == 0 {
				t.Errorf("ten rows are %+v", before)
			}
			r.rows(7, 3, 5) // older versions of two keys, which do not count
			after := look(7, 12)
			if !after.Whole || after.Keys != 10 || after.Bytes != before.Bytes || after.Newest <= before.Newest {
				t.Errorf("ten rows, of which two were written again, are %+v, and were %+v", after, before)
			}
			if size := look(7, 11); size.Whole || size.Keys != 9 || size.Disk != 0 {
				t.Errorf("a look at all versions but the last finds %+v", size)
			}
			const rows = 500
			random := testkit.Rand(testkit.Seed(t), 0)
			for i := range rows {
				value := make([]byte, 1000)
				for at := range value { // what does not compress
					value[at] = byte(random.Uint32())
				}
				if err := r.put(rowOf(8, i), value); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Flush(); err != nil {
				t.Fatal(err)
			}
			size := look(8, 200)
			keys, bytes := size.Estimate()
			if size.Whole || size.Keys != 200 || keys < rows/2 || keys > rows*2 || bytes < 200_000 || bytes > 2_000_000 {
				t.Errorf("%d rows are %d with %d bytes: %+v", rows, keys, bytes, size)
			}
			if size.Newest == 0 || size.Newest > clock.MaxTimestamp {
				t.Errorf("the newest version is of %v", size.Newest)
			}
		})
	}
}
