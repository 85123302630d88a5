package expr_test

import (
	"errors"
	"runtime"
	"strconv"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// longExprs build expressions over a column from n parts, from left to right as a binder does.
var longExprs = map[string]func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error){
	"or":  func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) { return chain(b, "or", id, n) },
	"and": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) { return chain(b, "and", id, n) },
	"or from the right": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) {
		parts := make([]expr.Expr, n)
		for i := range parts {
			var err error
			if parts[i], err = expr.Call(b, "=", id, number(i)); err != nil {
				return nil, err
			}
		}
		return expr.Call(b, "or", parts...)
	},
	"in numbers": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) {
		args := []expr.Expr{id}
		for i := range n {
			args = append(args, number(n-i))
		}
		return expr.Call(b, "in", args...)
	},
	"in texts": func(b *expr.BuildContext, _ expr.Expr, n int) (expr.Expr, error) {
		args := []expr.Expr{expr.Column(1, types.Type{ID: types.TypeVarchar, Length: 20, Coll: types.DefaultCollation}, "s")}
		for i := range n {
			args = append(args, expr.Literal(types.String([]byte(strconv.Itoa(n-i)), types.DefaultCollation)))
		}
		return expr.Call(b, "in", args...)
	},
	"in rows": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) {
		left, err := expr.Call(b, "row", id, id)
		if err != nil {
			return nil, err
		}
		args := []expr.Expr{left}
		for i := range n {
			row, err := expr.Call(b, "row", number(i), number(i+1))
			if err != nil {
				return nil, err
			}
			args = append(args, row)
		}
		return expr.Call(b, "in", args...)
	},
	"sum": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) {
		x := id
		for i := range n {
			var err error
			if x, err = expr.Call(b, "+", x, number(i)); err != nil {
				return nil, err
			}
		}
		return x, nil
	},
	"case": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) {
		args := []expr.Expr{id}
		for i := range n {
			args = append(args, number(i), number(i))
		}
		return expr.Call(b, "case_value", args...)
	},
	"concat": func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error) {
		var args []expr.Expr
		for i := range n {
			args = append(args, id, number(i))
		}
		return expr.Call(b, "concat", args...)
	},
}

func number(i int) expr.Expr { return expr.Literal(types.Int(int64(i))) }

func chain(b *expr.BuildContext, op string, id expr.Expr, n int) (expr.Expr, error) {
	var x expr.Expr
	for i := range n {
		part, err := expr.Call(b, "=", id, number(i))
		if err != nil {
			return nil, err
		}
		if x == nil {
			x = part
		} else if x, err = expr.Call(b, op, x, part); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// buildCounted builds an expression and returns how many bytes that allocated and counted, and how often it polled.
func buildCounted(t *testing.T, build func(b *expr.BuildContext, id expr.Expr, n int) (expr.Expr, error), n int) (allocated, counted, polls, visited int64) {
	t.Helper()
	b := &expr.BuildContext{Ctx: new(types.Context), Poll: func() error { polls++; return nil }, Grow: func(n int64) error { counted += n; return nil }}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := build(b, expr.Column(0, types.Type{ID: types.TypeBigInt}, "id"), n)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(e)
	return int64(after.TotalAlloc - before.TotalAlloc), counted, polls, expr.Visited(b)
}

// TestExpressionsAreNearLinear: building an expression of four times as many parts takes about four times the memory and looks at about four times
// as many arguments. About as much memory is counted, and the interrupt is polled regularly.
func TestExpressionsAreNearLinear(t *testing.T) {
	const parts = 5_000
	for name, build := range longExprs {
		allocated, counted, polls, visited := buildCounted(t, build, parts)
		more, moreCounted, _, moreVisited := buildCounted(t, build, 4*parts)
		if more > 6*allocated || moreCounted > 5*counted || moreVisited > 5*visited {
			t.Errorf("%s: 4 times the parts allocate %d bytes instead of %d, count %d instead of %d, and look at %d arguments instead of %d", name,
				more, allocated, moreCounted, counted, moreVisited, visited)
		}
		if counted < allocated/4 || counted > 4*allocated || polls < 1 {
			t.Errorf("%s: %d bytes were counted and %d allocated, %d polls", name, counted, allocated, polls)
		}
	}
}

// TestBuildingEnds: an interrupt and a refusal of memory end building with their error.
func TestBuildingEnds(t *testing.T) {
	want := errors.New("enough")
	id := expr.Column(0, types.Type{ID: types.TypeBigInt}, "id")
	for name, build := range longExprs {
		b := &expr.BuildContext{Ctx: new(types.Context), Poll: func() error { return want }}
		if _, err := build(b, id, 5_000); !errors.Is(err, want) {
			t.Errorf("%s: interrupted: %v", name, err)
		}
		b = &expr.BuildContext{Ctx: new(types.Context), Grow: func(int64) error { return want }}
		if _, err := build(b, id, 5_000); !errors.Is(err, want) {
			t.Errorf("%s: out of memory: %v", name, err)
		}
	}
}

// TestSharedJunctionsGrowApart: two expressions that begin with the same chain don't see each other's arguments.
func TestSharedJunctionsGrowApart(t *testing.T) {
	b := &expr.BuildContext{Ctx: new(types.Context)}
	id := expr.Column(0, types.Type{ID: types.TypeBigInt}, "id")
	common, err := chain(b, "or", id, 5)
	if err != nil {
		t.Fatal(err)
	}
	var grown []expr.Expr
	for i := range 3 {
		part, err := expr.Call(b, "=", id, number(100+i))
		if err != nil {
			t.Fatal(err)
		}
		e, err := expr.Call(b, "or", common, part)
		if err != nil {
			t.Fatal(err)
		}
		grown = append(grown, e)
	}
	for i, e := range grown {
		for k := range 3 {
			v, err := e.Eval(expr.NewCtx(new(types.Context)), []types.Value{types.Int(int64(100 + k))})
			if err != nil || (v.N == 1) != (i == k) {
				t.Errorf("expression %d for %d: %v, %v", i, 100+k, v, err)
			}
		}
	}
}
