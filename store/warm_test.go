package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// warmRow is the key of a row, warmEntry that of an index entry.
func warmRow(table uint64, i int) []byte { return fmt.Appendf(keys.RowPrefix(nil, table), "%06d", i) }
func warmEntry(table uint64, i int) []byte {
	return fmt.Appendf(keys.IndexPrefix(nil, table, 1), "%06d", i)
}

// TestLoaded: of each table the rows from the first to the last that was loaded, and all index entries, are to be read; rows before
// entries, and what was loaded last before the rest.
func TestLoaded(t *testing.T) {
	var l loaded
	note := func(keys ...[]byte) {
		var writes []kvapi.Mutation
		for _, k := range keys {
			writes = append(writes, kvapi.Mutation{Key: k})
		}
		l.note(writes)
	}
	note(keys.SystemKey(nil, 1, []byte("not a table's")))
	spans := func() []warmSpan {
		tables, _ := l.take()
		return warmSpans(tables)
	}
	if got := spans(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	note(warmEntry(5, 7), warmEntry(5, 9), warmRow(5, 30), warmRow(5, 31))
	note(warmRow(3, 1), warmRow(3, 2))
	note(warmEntry(4, 0), warmEntry(4, 1))
	note(warmEntry(5, 1), warmRow(5, 10), warmRow(5, 11))
	note(warmRow(5, 20))
	note(warmRow(2, 1), warmRow(6, 1)) // of both tables only the last is noted, as the engine does
	want := []warmSpan{
		{kvapi.Span{Start: warmRow(6, 1), End: append(warmRow(6, 1), 0)}, true},
		{kvapi.Span{Start: warmRow(5, 10), End: append(warmRow(5, 31), 0)}, true},
		{kvapi.Span{Start: warmRow(3, 1), End: append(warmRow(3, 2), 0)}, true},
	}
	for _, table := range []uint64{6, 5, 4, 3} {
		want = append(want, warmSpan{kvapi.Span{Start: keys.TablePrefix(nil, table), End: keys.RowPrefix(nil, table)}, false})
	}
	if got := spans(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("\n%v, want\n%v", got, want)
	}
	if got := spans(); len(got) != 0 {
		t.Errorf("once more: %v", got)
	}
	for i := range 2 * warmTablesMax {
		note(warmRow(uint64(1+i), 0))
	}
	if got := spans(); len(got) != 2*warmTablesMax || string(got[0].Start) != string(warmRow(2*warmTablesMax, 0)) {
		t.Errorf("%d spans of many tables, %x in front", len(got), got[0].Start)
	}
}

// newWarmRig makes a store with a loaded table: rows behind index entries, in tables of the engine, no block of them in memory.
func newWarmRig(t *testing.T, cacheBytes int64, rows int) (s *Store, e *engine.Engine) {
	t.Helper()
	s, e = openCached(t, cacheBytes, cacheBytes/rowRoomOwn)
	rng := testkit.Rand(testkit.Seed(t), 0)
	const perCommit = 100
	for from := 0; from < rows; from += perCommit {
		var writes []kvapi.Mutation
		for i := range perCommit {
			writes = append(writes, kvapi.Mutation{Key: warmEntry(7, from+i), Kind: kvapi.MutationPut})
		}
		for i := range perCommit {
			row := make([]byte, 200)
			for j := range row {
				row[j] = byte(rng.Uint32())
			}
			writes = append(writes, kvapi.Mutation{Key: warmRow(7, from+i), Value: row, Kind: kvapi.MutationPut})
		}
		commitNew(t, s, uint64(from+1), writes)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	lower, upper := keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion)
	if err := e.Compact(t.Context(), lower, upper); err != nil {
		t.Fatal(err)
	}
	return s, e
}

// TestWarm: rows that were loaded come into the row cache, and the blocks of rows and index entries into memory, as far as there is
// room for them.
func TestWarm(t *testing.T) {
	const rows = 3000 // of 200 bytes, 600 kB as blocks and as much as rows
	for _, c := range []struct {
		name  string
		cache int64
		all   bool
	}{{"with room", 16 << 20, true}, {"without", 2 << 20, false}} {
		t.Run(c.name, func(t *testing.T) {
			s, e := newWarmRig(t, c.cache, rows)
			if m := e.Metrics(); m.CacheBytes > 100<<10 {
				t.Fatalf("%d bytes of blocks in memory before", m.CacheBytes)
			}
			tables, _ := s.loaded.take()
			read, err := s.warm(warmSpans(tables))
			if err != nil {
				t.Fatal(err)
			}
			m, cached := s.Metrics().Rows, e.Metrics().CacheBytes
			if spare := e.CacheSpare(); spare < c.cache/rowRoomLow {
				t.Errorf("%d bytes are left", spare)
			}
			if m.Evicted != 0 || m.Bytes > c.cache/rowRoomOwn {
				t.Errorf("%+v", m)
			}
			if c.all {
				if read != 2*rows || m.Entries != rows || cached < 600<<10 {
					t.Errorf("%d read, %d rows in the row cache, %d bytes of blocks", read, m.Entries, cached)
				}
				before := e.Metrics().CacheMisses
				scanTable(t, s)
				if after := e.Metrics().CacheMisses; after != before {
					t.Errorf("a scan of all finds %d blocks missing", after-before)
				}
			} else if m.Entries == 0 || m.Entries == rows {
				t.Errorf("%d rows in the row cache: the test tests too little", m.Entries)
			}
		})
	}
}

// TestSweepRows: what was dropped leaves the row cache, so that there is room for what is loaded next; the rest stays.
func TestSweepRows(t *testing.T) {
	s, _ := newWarmRig(t, 16<<20, 100)
	const tables, rows = 4, 3000
	ts := s.Watermark()
	for table := range uint64(tables) {
		for i := range rows {
			s.rows.Fill(warmRow(table, i), make([]byte, 200), ts, ts)
		}
	}
	before := s.rows.Stats()
	for _, d := range []kvapi.Span{
		{Start: keys.TablePrefix(nil, 2), End: keys.TablePrefix(nil, 3)},
		{Start: keys.IndexPrefix(nil, 1, 1), End: keys.IndexPrefix(nil, 1, 2)},
		{Start: keys.TablePrefix(nil, 1), End: keys.TablePrefix(nil, 2)},
		{Start: warmRow(3, 100), End: warmRow(3, 200)},
	} {
		if done, err := s.DropSpan(d, 0); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	_, dropped := s.loaded.take()
	s.sweepRows(dropped)
	if m := s.rows.Stats(); before.Entries != tables*rows || m.Entries != before.Entries-2*rows-100 || m.Bytes > before.Bytes*3/4 {
		t.Errorf("%+v, before %+v", m, before)
	}
	for table := range uint64(tables) {
		for i := range rows {
			gone := table == 1 || table == 2 || table == 3 && i >= 100 && i < 200
			if _, _, ok := s.rows.Get(nil, warmRow(table, i), ts); ok == gone {
				t.Fatalf("table %d, row %d: %t", table, i, ok)
			}
		}
	}
	s.sweepRows(nil)
	for range 2 * warmDroppedMax {
		s.loaded.drop(kvapi.Span{Start: []byte("a"), End: []byte("b")})
	}
	if _, dropped := s.loaded.take(); len(dropped) != warmDroppedMax {
		t.Errorf("%d spans are remembered", len(dropped))
	}
}

// TestMergeSpans: spans that overlap or touch become one.
func TestMergeSpans(t *testing.T) {
	span := func(s string) kvapi.Span { return kvapi.Span{Start: []byte(s[:1]), End: []byte(s[1:])} }
	for _, c := range []struct {
		in   []string
		want string
	}{
		{[]string{"ab"}, "[ab]"},
		{[]string{"cd", "ab"}, "[ab cd]"},
		{[]string{"bc", "ab"}, "[ac]"},
		{[]string{"bc", "af", "de"}, "[af]"},
		{[]string{"ef", "bc", "ab", "gh", "ac"}, "[ac ef gh]"},
	} {
		var in []kvapi.Span
		for _, s := range c.in {
			in = append(in, span(s))
		}
		var got []string
		for _, s := range mergeSpans(in) {
			got = append(got, string(s.Start)+string(s.End))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: %v, want %s", c.in, got, c.want)
		}
	}
}

// TestWarmRest: the warmer takes an eighth of a processor in a pause, next to nothing beside statements.
func TestWarmRest(t *testing.T) {
	for _, c := range []struct {
		took   time.Duration
		worked uint64
		want   time.Duration
	}{{time.Millisecond, 0, 7 * time.Millisecond}, {time.Millisecond, 100, 7 * time.Millisecond}, {time.Millisecond, 101, time.Second}} {
		if got := warmRest(c.took, c.worked); got != c.want {
			t.Errorf("%v and %d: %v, want %v", c.took, c.worked, got, c.want)
		}
	}
}

// scanTable reads the table of newWarmRig, without the row cache.
func scanTable(t *testing.T, s *Store) {
	t.Helper()
	var intr kvapi.Interrupt
	prefix := keys.TablePrefix(nil, 7)
	scan := kvapi.ScanRequest{
		Regions: []kvapi.RegionRef{s.Regions()[0].Ref()}, Span: kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}, TS: s.Watermark(), Interrupt: &intr,
		Sink: sinkFunc(func(_, _ []byte) (bool, error) { return true, nil }),
	}
	if _, err := s.Scan(&scan); err != nil {
		t.Fatal(err)
	}
}

// TestWarmBehindLoad: a load is read back in the pause behind it.
func TestWarmBehindLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a pause")
	}
	s, _ := newWarmRig(t, 512<<20, 100*(loadBytesMin/100/200+1)) // rows alone are more than a load
	testkit.Await(t, "what was loaded is in the row cache", func() bool { return s.Metrics().Rows.Entries >= loadBytesMin/200 })
}
