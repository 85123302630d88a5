package expr_test

import (
	"sync"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

func parsed(t *testing.T, x *binder, text string) expr.Expr {
	t.Helper()
	e, err := x.parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return e
}

func TestPlannerHelpers(t *testing.T) {
	x := columnBinder()
	x.params = []types.Type{{ID: types.TypeBigInt, Length: -1}, {ID: types.TypeDouble, Length: -1, Scale: -1}}
	e := parsed(t, x, "i = 1 AND (b > 2 AND d < 3.5) AND s LIKE 'a%'")
	parts := expr.SplitAnd(nil, e)
	if len(parts) != 4 {
		t.Fatalf("%d conjuncts", len(parts))
	}
	used := map[int]bool{}
	expr.Columns(e, func(i int) { used[i] = true })
	if len(used) != 4 || !used[0] || !used[1] || !used[4] || !used[6] {
		t.Errorf("columns %v", used)
	}
	joined, err := expr.JoinAnd(x.b, parts)
	if err != nil || !expr.Equal(joined, e) {
		t.Errorf("joined %v, %v", joined, err)
	}
	moved := expr.MapColumns(e, func(i int) int { return i + 10 })
	if expr.Equal(moved, e) || string(expr.Fingerprint(nil, moved)) == string(expr.Fingerprint(nil, e)) {
		t.Error("moved columns are not told apart")
	}
	back := expr.MapColumns(moved, func(i int) int { return i - 10 })
	if !expr.Equal(back, e) || string(expr.Fingerprint(nil, back)) != string(expr.Fingerprint(nil, e)) {
		t.Error("moving there and back changes the expression")
	}
	for text, want := range map[string][4]bool{ // IsConst, IsConstInStatement, IsDeterministic, IsCacheable
		"1 + 2": {true, true, true, true}, "? + 1": {true, true, true, true}, "i + 1": {false, false, true, true},
		"NOW()": {false, true, true, true}, "RAND()": {false, false, false, true}, "@x": {false, false, false, false},
		"SLEEP(1)": {false, false, false, true}, "UUID()": {false, false, false, true}, "DATABASE()": {false, true, true, true},
	} {
		e := parsed(t, x, text)
		if got := [4]bool{expr.IsConst(e), expr.IsConstInStatement(e), expr.IsDeterministic(e), expr.IsCacheable(e)}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestColumnsStayBare pins what range derivation relies on: constants move to the column's type, the column is not wrapped.
func TestColumnsStayBare(t *testing.T) {
	x := columnBinder()
	x.params = []types.Type{{ID: types.TypeDouble, Length: -1, Scale: -1}}
	for text, kind := range map[string]types.Kind{
		"i = 5": types.KindInt, "i = '5'": types.KindInt, "i = 5.0": types.KindInt, "i = 5e0": types.KindInt, "i = 5.5": types.KindDecimal,
		"d = 1": types.KindDecimal, "d = 1.5": types.KindDecimal, "t = '2024-01-01'": types.KindDatetime, "a = '2024-01-01'": types.KindDate,
		"a < '2024-01-01 10:00:00'": types.KindDatetime, "s = 'a'": types.KindString, "h = '10:00:00'": types.KindTime, "f = 1": types.KindFloat,
		"'5' = i": types.KindInt,
	} {
		e := parsed(t, x, text)
		column, constant := e.Args()[0], e.Args()[1]
		if _, ok := column.ColumnIndex(); !ok {
			column, constant = constant, column
		}
		if _, ok := column.ColumnIndex(); !ok {
			t.Errorf("%s: the column is wrapped", text)
		}
		if v, ok := constant.ConstValue(); !ok || v.K != kind {
			t.Errorf("%s: the constant is of kind %d", text, v.K)
		}
	}
	e := parsed(t, x, "i = ?")
	ctx := x.newContext()
	for f, want := range map[float64]types.Kind{7: types.KindInt, 7.5: types.KindFloat} {
		ctx.Params = []types.Value{types.Float(f)}
		if v, err := e.Args()[1].Eval(ctx, nil); err != nil || v.K != want {
			t.Errorf("parameter %v arrives as kind %d, %v", f, v.K, err)
		}
	}
	if _, native := expr.Comparison(e); !native {
		t.Error("a comparison with a parameter is not native to the column")
	}
	if _, native := expr.Comparison(parsed(t, x, "s = 5")); native {
		t.Error("a string compared as a number is native")
	}
	if _, err := x.parse("a = 'no date'"); err == nil {
		t.Error("a date compared with what is none is accepted")
	}
}

// TestSharedByGoroutines runs one tree in several goroutines (invariant 1); the race detector watches.
func TestSharedByGoroutines(t *testing.T) {
	x := columnBinder()
	e := parsed(t, x, "CONCAT(s, i) LIKE 'a%' OR i + b > 3 AND d / 3 < 1 OR RAND(5) > 2")
	_, rows := randomBatch(testkit.Rand(testkit.Seed(t), 1), 50)
	var wg sync.WaitGroup
	for range 4 {
		ctx := x.newContext()
		wg.Go(func() {
			for _, row := range rows {
				e.Eval(ctx, row)
				ctx.ResetArena()
			}
		})
	}
	wg.Wait()
}

func TestOpaqueAndReplace(t *testing.T) {
	x := columnBinder()
	calls := 0
	sub := expr.Opaque("(select 1)", types.Type{ID: types.TypeBigInt, Length: -1}, 0, []expr.Expr{parsed(t, x, "i")},
		func(ctx *expr.Ctx, args []expr.Expr, row []types.Value) (types.Value, error) {
			calls++
			return args[0].Eval(ctx, row)
		})
	e, err := expr.Call(x.b, "+", sub, expr.Literal(types.Int(1)))
	if err != nil {
		t.Fatal(err)
	}
	row := make([]types.Value, len(testColumns))
	row[0] = types.Int(41)
	if v, err := e.Eval(x.newContext(), row); err != nil || v.N != 42 || calls != 1 {
		t.Errorf("%v %v %d", v, err, calls)
	}
	if e.String() != "((select 1) + 1)" {
		t.Error(e.String())
	}
	five := expr.Replace(e, func(n expr.Expr) expr.Expr {
		if n == sub {
			return expr.Literal(types.Int(5))
		}
		return nil
	})
	if v, err := five.Eval(x.newContext(), nil); err != nil || v.N != 6 || !expr.IsConst(five) {
		t.Errorf("%v %v", v, err)
	}
}
