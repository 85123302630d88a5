package session_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// discard answers a command by encoding it and throwing it away, as a connection whose client reads at once.
type discard struct {
	enc  types.RowEncoder
	rows int
}

func (d *discard) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &d.enc, nil }

func (d *discard) RowDone() error {
	d.rows++
	d.enc.Buf = d.enc.Buf[:0]
	return nil
}

func (d *discard) Flush() error                   { return nil }
func (d *discard) Done(sqlapi.Result, bool) error { return nil }

const allocRows = 2000

// allocNode is a node with sysbench's table and a session on it.
func allocNode(tb testing.TB) *inproc.Conn {
	node := inproc.Open(tb, inproc.Options{})
	tb.Cleanup(node.Close)
	c := node.Root("")
	tb.Cleanup(c.Close)
	run := func(text string) {
		if err := c.Session.Query([]byte(text), &discard{}); err != nil {
			tb.Fatalf("%.80s: %v", text, err)
		}
	}
	run("CREATE DATABASE sbtest")
	run("USE sbtest")
	run("CREATE TABLE sbtest1(id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))")
	var insert strings.Builder
	insert.WriteString("INSERT INTO sbtest1(k, c, pad) VALUES")
	for i := range allocRows {
		if i > 0 {
			insert.WriteByte(',')
		}
		fmt.Fprintf(&insert, "(%d,'%s','%s')", i, strings.Repeat("c", 119), strings.Repeat("p", 59))
	}
	run(insert.String())
	run("CREATE INDEX k_1 ON sbtest1(k)")
	return c
}

// hotStatement is a statement of the reports with the most that one execution may allocate, from the command's bytes to the
// answer's, on the whole stack below wire.
type hotStatement struct {
	name, text string
	args       func(i int) []types.Value
	// execute caps an EXECUTE, query the same statement as text, bytes the memory of either; 0 states none,
	// because the memory of a write is the engine's, which grows in steps.
	execute, query, bytes float64
}

func hotStatements() []hotStatement {
	c := []byte(strings.Repeat("x", 119))
	id := func(i int) types.Value { return types.Int(int64(i%allocRows) + 1) }
	return []hotStatement{
		{"point select", "SELECT c FROM sbtest1 WHERE id=?", func(i int) []types.Value { return []types.Value{id(i)} }, 2, 2, 1024},
		{"range of 100", "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", func(i int) []types.Value { return []types.Value{id(i), types.Int(id(i).N + 99)} }, 4, 4, 1024},
		{"sum of 100", "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", func(i int) []types.Value { return []types.Value{id(i), types.Int(id(i).N + 99)} }, 6, 6, 2048},
		{"update of c", "UPDATE sbtest1 SET c=? WHERE id=?", func(i int) []types.Value { return []types.Value{types.String(c, types.DefaultCollation), id(i)} }, 10, 10, 0},
		{"update of k", "UPDATE sbtest1 SET k=k+1 WHERE id=?", func(i int) []types.Value { return []types.Value{id(i)} }, 10, 10, 0},
		{"insert", "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)", func(i int) []types.Value {
			return []types.Value{types.Int(int64(1_000_000 + i)), types.Int(1), types.String(c, types.DefaultCollation), types.String(c[:59], types.DefaultCollation)}
		}, 16, 16, 0},
	}
}

// asText writes the parameters into the statement.
func (h *hotStatement) asText(i int) []byte {
	text := h.text
	for _, v := range h.args(i) {
		literal := string(types.AppendText(nil, nil, &v))
		if v.IsString() {
			literal = "'" + literal + "'"
		}
		text = strings.Replace(text, "?", literal, 1)
	}
	return []byte(text)
}

// TestAllocations states what the hot statements allocate. Background work (flushes, garbage collection of versions) allocates too and is
// counted with them, which the caps of writes leave room for.
func TestAllocations(t *testing.T) {
	c := allocNode(t)
	if raceDetector {
		t.Skip("the race detector allocates for its own purposes")
	}
	if testkit.Promoted() {
		t.Skip("what is pinned is what a node alone allocates")
	}
	for _, h := range hotStatements() {
		info, err := c.Prepare([]byte(h.text))
		if err != nil {
			t.Fatal(err)
		}
		out, n := &discard{}, 0
		const runs = 400
		args := make([][]types.Value, 2*runs+2)
		texts := make([][]byte, 2*runs+2)
		for i := range args {
			args[i], texts[i] = h.args(i), h.asText(i)
		}
		measure := func(kind string, limit float64, run func(i int) error) {
			t.Helper()
			start := n
			for range 50 { // the session's buffers grow to their size
				if err := run(n); err != nil {
					t.Fatalf("%s: %v", h.name, err)
				}
				n++
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := testing.AllocsPerRun(runs/2, func() {
				if err := run(n); err != nil {
					t.Errorf("%s: %v", h.name, err)
				}
				n++
			})
			runtime.ReadMemStats(&after)
			bytes := float64(after.TotalAlloc-before.TotalAlloc) / (runs/2 + 1) // AllocsPerRun runs once more, to warm up
			t.Logf("%s, %s: %.1f allocations, %.0f bytes", h.name, kind, got, bytes)
			if h.bytes > 0 && bytes > h.bytes {
				t.Errorf("%s, %s: %.0f bytes, cap %.0f", h.name, kind, bytes, h.bytes)
			}
			if got > limit {
				t.Errorf("%s, %s: %.1f allocations, cap %.0f (after %d runs)", h.name, kind, got, limit, n-start)
			}
		}
		measured := func(err error) error {
			c.Measured(clock.Mono(), 0) // as wire does
			return err
		}
		measure("EXECUTE", h.execute, func(i int) error { return measured(c.Session.Execute(info.ID, args[i], out)) })
		measure("text", h.query, func(i int) error { return measured(c.Session.Query(texts[i], out)) })
		if out.rows == 0 && strings.HasPrefix(h.text, "SELECT") {
			t.Errorf("%s returned no rows, so the caps show nothing", h.name)
		}
	}
}

func BenchmarkHotStatements(b *testing.B) {
	c := allocNode(b)
	for _, h := range hotStatements() {
		info, err := c.Prepare([]byte(h.text))
		if err != nil {
			b.Fatal(err)
		}
		out := &discard{}
		next := 0 // inserts need ids of their own across runs
		b.Run(h.name+"/execute", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				start := clock.Mono()
				if err := c.Session.Execute(info.ID, h.args(next), out); err != nil {
					b.Fatal(err)
				}
				c.Measured(start, clock.Since(start)) // as wire does
				next++
			}
		})
		b.Run(h.name+"/text", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				start := clock.Mono()
				if err := c.Session.Query(h.asText(next), out); err != nil {
					b.Fatal(err)
				}
				c.Measured(start, clock.Since(start))
				next++
			}
		})
	}
}
