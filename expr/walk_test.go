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
	if expr.Equal(moved, e) {
		t.Error("moved columns are not told apart")
	}
	back := expr.MapColumns(moved, func(i int) int { return i - 10 })
	if !expr.Equal(back, e) {
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

// subplans stands in for exec: a subquery yields its argument.
type subplans struct{ calls int }

func (s *subplans) EvalSubplan(ctx *expr.Ctx, _ any, args []expr.Expr, row []types.Value) (types.Value, error) {
	s.calls++
	return args[0].Eval(ctx, row)
}

func TestSubqueryAndReplace(t *testing.T) {
	x := columnBinder()
	bigint := types.Type{ID: types.TypeBigInt, Length: -1}
	plan, outer := new(int), []expr.Expr{parsed(t, x, "i")}
	sub := expr.Subquery("(select 1)", bigint, expr.CoerImplicit, 0, outer, plan)
	e, err := expr.Call(x.b, "+", sub, expr.Literal(types.Int(1)))
	if err != nil {
		t.Fatal(err)
	}
	row := make([]types.Value, len(testColumns))
	row[0] = types.Int(41)
	run := new(subplans)
	ctx := x.newContext()
	if _, err := e.Eval(ctx, row); err == nil {
		t.Error("a subquery was evaluated without Subplans")
	}
	ctx.Subplans = run
	if v, err := e.Eval(ctx, row); err != nil || v.N != 42 || run.calls != 1 {
		t.Errorf("%v %v %d", v, err, run.calls)
	}
	if e.String() != "((select 1) + 1)" {
		t.Error(e.String())
	}
	if expr.IsConst(sub) || expr.IsConstInStatement(sub) || !expr.IsDeterministic(sub) {
		t.Error("a correlated subquery differs by row and is deterministic")
	}
	constant := expr.Subquery("(select 1)", bigint, expr.CoerImplicit, 0, nil, plan)
	if expr.IsConst(constant) || !expr.IsConstInStatement(constant) || !expr.IsDeterministic(constant) {
		t.Error("a constant subquery is constant in a statement only")
	}
	if !expr.Equal(sub, expr.Subquery("(select 1)", bigint, expr.CoerImplicit, 0, outer, plan)) || expr.Equal(sub, expr.Subquery("(select 1)", bigint, expr.CoerImplicit, 0, outer, new(int))) {
		t.Error("subqueries are equal if they are of one plan")
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

// TestAsParam: an outer column becomes a parameter and keeps its type, its name and what its operators were compiled for.
func TestAsParam(t *testing.T) {
	x := columnBinder()
	e := parsed(t, x, "CONCAT(s, i)")
	param := expr.Replace(e, func(n expr.Expr) expr.Expr {
		if i, ok := n.ColumnIndex(); ok {
			return expr.AsParam(n, 10+i)
		}
		return nil
	})
	if expr.IsConst(e) || !expr.IsConst(param) || param.String() != e.String() {
		t.Errorf("%s and %s", e, param)
	}
	_, rows := randomBatch(testkit.Rand(testkit.Seed(t), 1), 20)
	ctx := x.newContext()
	for _, row := range rows {
		ctx.Params = append(make([]types.Value, 10), row...)
		a, errA := e.Eval(ctx, row)
		b, errB := param.Eval(ctx, nil)
		if errA != nil || errB != nil || types.Compare(a, b, types.Utf8mb4Bin) != 0 {
			t.Errorf("%v %v, %v %v", a, errA, b, errB)
		}
	}
}

// TestHash holds that equal expressions have one hash, and that few others share it.
func TestHash(t *testing.T) {
	r, x := testkit.Rand(testkit.Seed(t), 1), columnBinder()
	var different []expr.Expr
	hashes := map[uint64]bool{}
	for range 1500 {
		text := randomExpr(r, 3)
		e, err := x.parse(text)
		if err != nil {
			continue
		}
		again := parsed(t, x, text)
		if !expr.Equal(e, again) || expr.Hash(e) != expr.Hash(again) {
			t.Errorf("%s: the same text again has another hash, or is not equal", text)
		}
		known := false
		for _, other := range different {
			if expr.Equal(e, other) {
				if known = true; expr.Hash(e) != expr.Hash(other) {
					t.Errorf("%s and %s are equal and have different hashes", e, other)
				}
			}
		}
		if !known {
			different = append(different, e)
			hashes[expr.Hash(e)] = true
		}
	}
	if len(different) < 500 || len(hashes) < len(different)*9/10 {
		t.Errorf("%d hashes of %d expressions", len(hashes), len(different))
	}
}
