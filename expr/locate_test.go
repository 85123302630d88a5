package expr_test

import (
	"strconv"
	"testing"

	"github.com/pandodb/pando/types"
)

// TestLocateKeepsNeedle: the weights of what is looked for are computed once in a context, and anew when a parameter has another value.
func TestLocateKeepsNeedle(t *testing.T) {
	x := columnBinder()
	text := types.Type{ID: types.TypeVarchar, Length: 20, Coll: types.DefaultCollation}
	x.params = []types.Type{text}
	e, err := x.parse("LOCATE(?, s)")
	if err != nil {
		t.Fatal(err)
	}
	ctx := x.newContext()
	row := make([]types.Value, len(testColumns))
	row[x.names["s"]] = types.String([]byte("Straße und Äpfel"), types.DefaultCollation)
	what := []byte("strasse")
	look := func() int64 {
		ctx.ResetArena()
		ctx.Params = []types.Value{types.String(what, types.DefaultCollation)}
		v, err := e.Eval(ctx, row)
		if err != nil {
			t.Fatal(err)
		}
		return v.N
	}
	if got := look(); got != 1 {
		t.Errorf("position %d, want 1", got)
	}
	copy(what, "xxxxxxx") // the needle must not borrow it
	if got := look(); got != 0 {
		t.Errorf("position %d of another parameter in the same memory, want 0", got)
	}
	what = []byte("aepfel")
	if got := look(); got != 0 {
		t.Errorf("position %d, want 0", got)
	}
	what = []byte("apfel")
	if got := look(); got != 12 {
		t.Errorf("position %d, want 12", got)
	}
	params := ctx.Params
	if n := testing.AllocsPerRun(100, func() {
		ctx.ResetArena()
		ctx.Params = params
		if _, err := e.Eval(ctx, row); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("%v allocations for a row, want none", n)
	}
}

// BenchmarkLocate looks for constants in texts of different lengths by the row path; half of the rows hold what is looked for.
func BenchmarkLocate(b *testing.B) {
	x := columnBinder()
	at := x.names["s"]
	for _, bench := range []struct{ name, text string }{{"short", "Straße"}, {"long", "the quick brown fox jumps over the lazy dog in the Straße"}} {
		rows := make([][]types.Value, 256)
		for i := range rows {
			rows[i] = make([]types.Value, len(testColumns))
			text := strconv.Itoa(i) + " " + bench.text
			if i%2 == 0 {
				text += " needle"
			}
			rows[i][at] = types.String([]byte(text), types.DefaultCollation)
		}
		for _, text := range []string{"LOCATE('needle', s)", "INSTR(s, 'STRASSE')", "LOCATE('Ä', s)", "LOCATE(s, 'abc')"} {
			e, err := x.parse(text)
			if err != nil {
				b.Fatal(err)
			}
			ctx := x.newContext()
			b.Run(bench.name+"/"+text, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for _, row := range rows {
						if _, err := e.Eval(ctx, row); err != nil {
							b.Fatal(err)
						}
						ctx.ResetArena()
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
			})
		}
	}
}
