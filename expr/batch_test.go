package expr_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// testColumns is the row shape of the random tests.
var testColumns = []struct {
	name string
	typ  types.Type
}{
	{"i", types.Type{ID: types.TypeInt, Length: -1}},
	{"b", types.Type{ID: types.TypeBigInt, Length: -1}},
	{"u", types.Type{ID: types.TypeBigInt, Unsigned: true, Length: -1}},
	{"f", types.Type{ID: types.TypeDouble, Length: -1, Scale: -1}},
	{"d", types.Type{ID: types.TypeDecimal, Length: 10, Scale: 2}},
	{"w", types.Type{ID: types.TypeDecimal, Length: 30, Scale: 5}},
	{"s", types.Type{ID: types.TypeVarchar, Length: 20, Coll: types.DefaultCollation}},
	{"v", types.Type{ID: types.TypeVarchar, Length: 20, Coll: types.Utf8mb4GeneralCI}},
	{"n", types.Type{ID: types.TypeVarbinary, Length: 20, Coll: types.Binary}},
	{"t", types.Type{ID: types.TypeDatetime, Length: -1}},
	{"a", types.Type{ID: types.TypeDate, Length: -1}},
	{"h", types.Type{ID: types.TypeTime, Length: -1}},
}

func columnBinder() *binder {
	x := newBinder()
	x.names = map[string]int{}
	for i, c := range testColumns {
		x.names[c.name] = i
		x.types = append(x.types, c.typ)
	}
	return x
}

var randomWords = []string{"", "a", "A", "b", "ab", "AB", "abc", "a ", "10", "9", "1.5", "x1", "é", "日本", "2024-01-01", "-3"}

// randomValue makes a value of column i, sometimes NULL, often one of few so that equal ones meet.
func randomValue(r *rand.Rand, i int) types.Value {
	if r.IntN(8) == 0 {
		return types.Null()
	}
	small := int64(r.IntN(7) - 3)
	switch testColumns[i].name {
	case "i":
		return types.Int(small)
	case "b":
		return types.Int([]int64{small, 1<<63 - 1, -1 << 63, r.Int64()}[r.IntN(4)])
	case "u":
		return types.Uint([]uint64{uint64(r.IntN(5)), 1<<64 - 1, r.Uint64()}[r.IntN(3)])
	case "f":
		return types.Float([]float64{float64(small), 0.5, -1.25, r.NormFloat64() * 1e10}[r.IntN(4)])
	case "d":
		return types.Decimal(small*50, 2)
	case "w":
		d := types.Decimal(small*100000, 5)
		if r.IntN(3) == 0 {
			d, _ = types.DecMul(types.Decimal(r.Int64N(1e17), 2), types.Decimal(r.Int64N(1e8), 3))
			d = types.DecRound(d, 5)
		}
		return d
	case "n":
		return types.Bytes([]byte(randomWords[r.IntN(len(randomWords))]))
	case "t":
		return types.Datetime(types.PackDatetime(types.DateTime{Year: 2024, Month: 1, Day: 1 + r.IntN(3), Hour: r.IntN(2)}), 0)
	case "a":
		return types.Date(types.PackDate(2024, 1, 1+r.IntN(3)))
	case "h":
		return types.Time(small*3600*1e6, 0)
	}
	return types.String([]byte(randomWords[r.IntN(len(randomWords))]), testColumns[i].typ.Coll)
}

// randomBatch returns a batch and the same rows as values; at times with a selection.
func randomBatch(r *rand.Rand, rows int) (*types.Batch, [][]types.Value) {
	ts := make([]types.Type, len(testColumns))
	for i, c := range testColumns {
		ts[i] = c.typ
	}
	b := types.NewBatch(ts)
	all := make([][]types.Value, rows)
	for i := range all {
		all[i] = make([]types.Value, len(ts))
		for c := range ts {
			all[i][c] = randomValue(r, c)
		}
		b.AppendRow(all[i])
	}
	if r.IntN(2) == 0 {
		b.Sel = []uint16{}
		for i := range rows {
			if r.IntN(3) > 0 {
				b.Sel = append(b.Sel, uint16(i))
			}
		}
	}
	return b, all
}

func liveRows(b *types.Batch) []uint16 {
	if b.Sel != nil {
		return b.Sel
	}
	all := make([]uint16, b.Len)
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}

// randomExpr writes a random expression: a number, a string or a condition.
func randomExpr(r *rand.Rand, depth int) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	if depth == 0 || r.IntN(6) == 0 {
		if r.IntN(3) == 0 {
			return pick("0", "1", "-2", "1.5", "2.50", "1e0", "'a'", "'B'", "'10'", "NULL", "18446744073709551615", "'2024-01-02'", "x'61'")
		}
		return testColumns[r.IntN(len(testColumns))].name
	}
	sub := func() string { return randomExpr(r, depth-1) }
	switch r.IntN(14) {
	case 0, 1:
		return "(" + sub() + " " + pick("+", "-", "*", "/") + " " + sub() + ")"
	case 2, 3, 4:
		return "(" + sub() + " " + pick("=", "<>", "<", "<=", ">", ">=", "<=>") + " " + sub() + ")"
	case 5, 6:
		return "(" + sub() + " " + pick("AND", "OR", "AND", "OR", "XOR") + " " + sub() + ")"
	case 7:
		return "(NOT " + sub() + ")"
	case 8:
		return "(" + sub() + " IS " + pick("NULL", "NOT NULL", "TRUE", "NOT FALSE") + ")"
	case 9:
		return "(" + sub() + " " + pick("", "NOT ") + "BETWEEN " + sub() + " AND " + sub() + ")"
	case 10:
		return "(" + sub() + " " + pick("", "NOT ") + "IN (" + sub() + ", " + pick("1", "'a'", "NULL", "i") + ", " + pick("2", "'ab'", "0") + "))"
	case 11:
		return "(" + sub() + " LIKE " + pick("'a%'", "'%b'", "'_'", "s") + ")"
	case 12:
		return pick("IF(", "COALESCE(", "GREATEST(") + sub() + ", " + sub() + ", " + sub() + ")"
	}
	return pick("CONCAT(", "IFNULL(", "NULLIF(") + sub() + ", " + sub() + ")"
}

// simpleExprs are those that have kernels; they run in every round, over every pair of columns.
func simpleExprs() (out []string) {
	// Conditions compare quotients with more digits than their types have.
	out = append(out, "i / 3 > 0.3333", "0.3333 < i / 3", "i / 3 = 0.3333", "i > 1 / 3", "i / 3 BETWEEN 0.3333 AND 0.33335", "d BETWEEN 1 / 3 AND 5 / 3",
		"i / 100000", "NOT i / 100000", "i / 100000 AND 1", "i / 100000 IS TRUE", "i / 3 IN (0.3333, 1)", "IF(i / 100000, 1, 2)", "i / 0 > 1")
	for _, a := range testColumns {
		out = append(out, a.name+" IS NULL", a.name+" IN (1, 2, -1)", a.name+" IN ('a', 'B', NULL)", a.name+" LIKE 'a%'", a.name+" BETWEEN 0 AND 2")
		for _, op := range []string{"+", "-", "*", "=", "<", ">=", "<=>", "AND", "OR"} {
			out = append(out, a.name+" "+op+" 1", "2.50 "+op+" "+a.name, a.name+" "+op+" 'ab'")
			for _, b := range testColumns {
				out = append(out, a.name+" "+op+" "+b.name)
			}
		}
	}
	return out
}

// TestBatchAgreesWithRows is invariant 2: both paths give the same values, NULLs, errors and filter decisions.
func TestBatchAgreesWithRows(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	x := columnBinder()
	texts := simpleExprs()
	for range 3000 {
		texts = append(texts, randomExpr(r, 3))
	}
	bound, failed := 0, 0
	for _, text := range texts {
		e, err := x.parse(text)
		if err != nil {
			if refused := (*types.Error)(nil); !errors.As(err, &refused) {
				t.Fatalf("%s: %v", text, err)
			}
			continue
		}
		bound++
		b, rows := randomBatch(r, 1+r.IntN(70))
		if !agree(t, x, text, e, b, rows) {
			failed++
		}
		if failed > 5 {
			break
		}
	}
	t.Logf("%d of %d expressions bound", bound, len(texts))
}

// TestNoRowsNoErrors: an operand that does not depend on the row is not evaluated for a batch of which no row is selected.
func TestNoRowsNoErrors(t *testing.T) {
	x := columnBinder()
	b, _ := randomBatch(testkit.Rand(testkit.Seed(t), 1), 10)
	const failing = "((18446744073709551615 + 1) LIKE '_')"
	for _, text := range []string{"i * " + failing, failing + " + i", "i < " + failing, "i BETWEEN " + failing + " AND 3", failing, "NOT " + failing} {
		e := parsed(t, x, text)
		var out types.Vector
		b.Sel = nil
		if err := e.EvalBatch(x.newContext(), b, &out); err == nil {
			t.Errorf("%s: no error where there are rows", text)
		}
		b.Sel = []uint16{}
		for _, none := range []*types.Batch{b, types.NewBatch(x.types)} {
			if err := e.EvalBatch(x.newContext(), none, &out); err != nil || out.Len() != none.Len {
				t.Errorf("%s: %v and %d rows of result for %d", text, err, out.Len(), none.Len)
			}
		}
	}
}

func agree(t *testing.T, x *binder, text string, e expr.Expr, b *types.Batch, rows [][]types.Value) bool {
	t.Helper()
	rowCtx, batchCtx := x.newContext(), x.newContext()
	var out types.Vector
	batchErr := e.EvalBatch(batchCtx, b, &out)
	var want []types.Value
	var rowErr error
	live := liveRows(b)
	for _, i := range live {
		v, err := e.Eval(rowCtx, rows[i])
		if err != nil {
			rowErr = err
			break
		}
		want = append(want, v.Clone())
	}
	if (batchErr == nil) != (rowErr == nil) {
		t.Errorf("%s: rows end with %v, batch with %v", text, rowErr, batchErr)
		return false
	}
	if rowErr != nil {
		return true
	}
	if out.Len() != b.Len {
		t.Errorf("%s: %d rows of result for %d", text, out.Len(), b.Len)
		return false
	}
	for k, i := range live {
		got, exp := describe(out.Value(int(i)), e), describe(want[k], e)
		if got != exp {
			t.Errorf("%s over %v: row path %s, batch path %s", text, showRow(rows[i]), exp, got)
			return false
		}
	}
	return agreeFilter(t, x, text, e, b, rows, live)
}

func describe(v types.Value, e expr.Expr) string {
	if v.IsNull() {
		return "NULL"
	}
	ty := e.Type()
	return fmt.Sprintf("%s of kind %d", show(v, ty), v.K)
}

func showRow(row []types.Value) string {
	var parts []string
	for i, v := range row {
		parts = append(parts, testColumns[i].name+"="+show(v, testColumns[i].typ))
	}
	return strings.Join(parts, " ")
}

func agreeFilter(t *testing.T, x *binder, text string, e expr.Expr, b *types.Batch, rows [][]types.Value, live []uint16) bool {
	t.Helper()
	var want []uint16
	ctx := x.newContext()
	for _, i := range live {
		hit, err := e.EvalBool(ctx, rows[i])
		if err != nil {
			return true
		}
		if hit {
			want = append(want, i)
		}
	}
	if err := expr.FilterBatch(x.newContext(), e, b); err != nil {
		t.Errorf("%s: filter fails with %v", text, err)
		return false
	}
	if fmt.Sprint(want) != fmt.Sprint(b.Sel) && len(want)+len(b.Sel) > 0 {
		t.Errorf("%s: rows select %v, filter %v", text, want, b.Sel)
		return false
	}
	return true
}

// allocationRuns is how many runs an average is over. It is rounded down, so that the few allocations of the runtime do not count: its first
// collection makes workers, and falls into this test if that comes first.
const allocationRuns = 100

// TestHotPathsDoNotAllocate is invariant 5.
func TestHotPathsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("allocations are not counted under the race detector")
	}
	x := columnBinder()
	x.params = []types.Type{{ID: types.TypeBigInt, Length: -1}}
	r := testkit.Rand(1, 2)
	b, rows := randomBatch(r, 1000)
	for i := range rows { // no overflow in this test
		rows[i][1] = types.Int(int64(i))
	}
	b.Reset()
	for i := range rows {
		b.AppendRow(rows[i])
	}
	b.Sel = nil
	for _, text := range []string{
		"i = 1", "i = ?", "i + 1", "i * 2 - b", "b BETWEEN 10 AND 500", "f < 0.5", "f * 2e0 + f", "d = 1.50", "d + d", "i = 1 AND f > 0.5 OR NOT b > 3",
		"s = 'a'", "s LIKE 'a%'", "i IN (1, 2, 3)", "i IS NULL", "s > 'a' AND s < 'b'", "a = '2024-01-02'", "t > '2024-01-02'",
		"i = 1 XOR i = 2", "IFNULL(i, 0)", "IF(i > 1, i, 0)", "COALESCE(i, b)",
	} {
		e, err := x.parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		ctx := x.newContext()
		ctx.Params = []types.Value{types.Int(1)}
		if n := testing.AllocsPerRun(allocationRuns, func() {
			for _, row := range rows[:50] {
				if _, err := e.Eval(ctx, row); err != nil {
					t.Fatal(text, err)
				}
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations on the row path", text, n)
		}
		var out types.Vector
		if n := testing.AllocsPerRun(allocationRuns, func() {
			if err := e.EvalBatch(ctx, b, &out); err != nil {
				t.Fatal(text, err)
			}
			ctx.ResetArena()
		}); n > 0 {
			t.Errorf("%s: %v allocations per batch", text, n)
		}
		if n := testing.AllocsPerRun(allocationRuns, func() {
			b.Sel = nil
			b.Sel = append(selMemory[:0], liveAll(b.Len)...)
			if err := expr.FilterBatch(ctx, e, b); err != nil {
				t.Fatal(text, err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations per filter", text, n)
		}
		b.Sel = nil
	}
}

var selMemory = make([]uint16, 0, types.MaxBatchRows)

var allMemory = liveRows(&types.Batch{Len: types.MaxBatchRows})

func liveAll(n int) []uint16 { return allMemory[:n] }

func BenchmarkKernels(b *testing.B) {
	x := columnBinder()
	batch, rows := randomBatch(testkit.Rand(1, 2), 1000)
	for i := range rows {
		rows[i][1] = types.Int(int64(i))
	}
	batch.Reset()
	for i := range rows {
		batch.AppendRow(rows[i])
	}
	batch.Sel = nil
	for _, text := range []string{"i = 1", "b BETWEEN 10 AND 500", "i + b", "d = 1.50", "s = 'ab'", "s LIKE '%b%'", "i = 1 AND b > 500"} {
		e, err := x.parse(text)
		if err != nil {
			b.Fatal(err)
		}
		ctx := x.newContext()
		var out types.Vector
		b.Run("batch/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.EvalBatch(ctx, batch, &out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
		})
		b.Run("row/"+text, func(b *testing.B) {
			for b.Loop() {
				for _, row := range rows {
					e.Eval(ctx, row)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
		})
	}
}
