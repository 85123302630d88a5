package exec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// source yields rows of bigints, nil for NULL, and counts how often it was read.
type source struct {
	rows  [][]any
	reads int
}

func (s *source) node(width int) *RowSource {
	out := make([]types.Type, width)
	for i := range out {
		out[i] = bigintType
	}
	return &RowSource{Out: out, Fill: func(_ *Runtime, emit func([]types.Value) error) error {
		s.reads++
		row := make([]types.Value, width)
		for _, r := range s.rows {
			for i, x := range r {
				row[i] = types.Null()
				if n, ok := x.(int); ok {
					row[i] = types.Int(int64(n))
				}
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}}
}

// withSubplans seals a query with subqueries.
func withSubplans(root Node, slots int, subs ...*Subplan) *Plan {
	p := &Plan{Root: root, IsQuery: true, Slots: slots, Subplans: subs, Columns: make([]sqlapi.ColumnInfo, len(Types(root)))}
	return p.Seal()
}

func bigint(i int) expr.Expr { return expr.Column(i, bigintType, fmt.Sprint("c", i)) }

func TestSubplanValues(t *testing.T) {
	k := newKit(t)
	outer := &source{rows: [][]any{{1}, {2}, {nil}, {3}, {1}}}
	for _, c := range []struct {
		name string
		kind SubplanKind
		op   string
		rows [][]any
		want string // per outer row; E is error 1242
	}{
		{"scalar", SubplanScalar, "", [][]any{{7}}, "7 7 7 7 7"},
		{"scalar of no row", SubplanScalar, "", nil, "NULL NULL NULL NULL NULL"},
		{"scalar of two rows", SubplanScalar, "", [][]any{{7}, {7}}, "E"},
		{"exists", SubplanExists, "", [][]any{{nil}}, "1 1 1 1 1"},
		{"exists of no row", SubplanExists, "", nil, "0 0 0 0 0"},
		{"in", SubplanAny, "=", [][]any{{1}, {3}}, "1 0 NULL 1 1"},
		{"in with NULL", SubplanAny, "=", [][]any{{1}, {nil}}, "1 NULL NULL NULL 1"},
		{"in of nothing", SubplanAny, "=", nil, "0 0 0 0 0"},
		{"not in", SubplanAll, "<>", [][]any{{1}, {3}}, "0 1 NULL 0 0"},
		{"not in with NULL", SubplanAll, "<>", [][]any{{1}, {nil}}, "0 NULL NULL NULL 0"},
		{"not in of nothing", SubplanAll, "<>", nil, "1 1 1 1 1"},
		{"greater than any", SubplanAny, ">", [][]any{{1}, {2}}, "0 1 NULL 1 0"},
		{"greater than all", SubplanAll, ">", [][]any{{1}, {2}}, "0 0 NULL 1 0"},
		{"greater than all, with NULL", SubplanAll, ">", [][]any{{1}, {nil}}, "0 NULL NULL NULL 0"},
		{"row", SubplanRow, "<", [][]any{{2}}, "1 0 NULL 0 1"},
		{"row of nothing", SubplanRow, "<", nil, "NULL NULL NULL NULL NULL"},
		{"row of two", SubplanRow, "<", [][]any{{2}, {2}}, "E"},
	} {
		for _, correlated := range []bool{false, true} {
			inner := &source{rows: c.rows}
			sub := &Subplan{Root: inner.node(1), Kind: c.kind}
			var outers, operands []expr.Expr
			if correlated {
				// The outer value takes no row away: it is compared with itself.
				sub.Root = &Filter{Input: sub.Root, Cond: k.call("<=>", expr.AsParam(bigint(0), 0), expr.AsParam(bigint(0), 0))}
				sub.Slots, outers = []int{0}, []expr.Expr{bigint(0)}
			}
			if c.op != "" {
				sub.Compare, sub.Operands, operands = k.call(c.op, bigint(0), bigint(1)), 1, []expr.Expr{bigint(0)}
			}
			if c.op == "=" || c.op == "<>" {
				sub.LeftKeys, sub.RightKeys = []expr.Expr{bigint(0)}, []expr.Expr{bigint(0)}
			}
			e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, outers, operands, !correlated)
			rows, err := k.tryQuery(k.runtime(), withSubplans(&Project{Input: outer.node(1), Exprs: []expr.Expr{e}}, 1, sub))
			got := ""
			for i, r := range rows {
				if i > 0 {
					got += " "
				}
				got += r
			}
			if number(err) == types.ErSubqueryNo1Row {
				got = "E"
			} else if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got != c.want {
				t.Errorf("%s, correlated %v: got %s, want %s", c.name, correlated, got, c.want)
			}
			want := 1
			if correlated {
				want = 4 // 1 comes twice and is remembered
			}
			if c.want != "E" && inner.reads != want {
				t.Errorf("%s, correlated %v: read %d times", c.name, correlated, inner.reads)
			}
		}
	}
}

// TestSubplanIsLazy: what is not evaluated neither runs nor fails.
func TestSubplanIsLazy(t *testing.T) {
	k := newKit(t)
	outer, inner := &source{rows: [][]any{{1}, {2}}}, &source{rows: [][]any{{1}, {2}}}
	sub := &Subplan{Root: inner.node(1)}
	e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, nil, nil, true)
	lazy := k.call("if", k.call("=", bigint(0), lit(9)), e, lit(5))
	p := withSubplans(&Project{Input: outer.node(1), Exprs: []expr.Expr{lazy}}, 0, sub)
	rows, err := k.tryQuery(k.runtime(), p)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "lazy", rows, []string{"5", "5"})
	if inner.reads != 0 {
		t.Error("a subquery that nothing needed ran")
	}
}

// TestSubplanArgumentsOnce: an outer value is evaluated once for each evaluation of the subquery, which shows if it is itself volatile.
func TestSubplanArgumentsOnce(t *testing.T) {
	k := newKit(t)
	counted := &source{rows: [][]any{{7}}}
	volatile := &Subplan{Root: counted.node(1), Flags: expr.FlagVolatile}
	arg := volatile.Expr("(volatile)", bigintType, expr.CoerImplicit, nil, nil, false)
	sub := &Subplan{Slots: []int{0}, Root: &Project{Input: &Values{Out: []types.Type{bigintType}, Rows: [][]expr.Expr{{lit(1)}}},
		Exprs: []expr.Expr{expr.AsParam(bigint(0), 0)}}}
	e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, []expr.Expr{arg}, nil, false)
	outer := &source{rows: [][]any{{1}, {2}, {3}}}
	rows, err := k.tryQuery(k.runtime(), withSubplans(&Project{Input: outer.node(1), Exprs: []expr.Expr{e}}, 1, sub, volatile))
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "values", rows, []string{"7", "7", "7"})
	if counted.reads != 3 {
		t.Errorf("the outer value was evaluated %d times for 3 rows", counted.reads)
	}
}

// TestSubplanAsBound: a constant subquery bounds a range, also under an Apply that opens the scan several times.
func TestSubplanAsBound(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 30)
	inner := &source{rows: [][]any{{4}}}
	sub := &Subplan{Root: inner.node(1)}
	key := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, nil, nil, true)
	if !expr.IsConstInStatement(key) {
		t.Fatal("a constant subquery is not constant")
	}
	point := &PointGet{Table: sb, Index: sb.PK, Keys: [][]expr.Expr{{key}}, Cols: []int{1}}
	p := withSubplans(&Apply{Left: (&source{rows: [][]any{{1}, {2}}}).node(1), Right: point}, 0, sub)
	if p.Program != nil {
		t.Error("a statement with subqueries has a program")
	}
	for range 2 { // the second execution runs it anew
		rows, err := k.tryQuery(rt, p)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, "bound", rows, []string{"1|28", "2|28"})
	}
	if inner.reads != 2 {
		t.Errorf("ran %d times in two executions", inner.reads)
	}
}

// TestSubplanNests: a subquery in a subquery in a subquery reads values of all the queries around it.
func TestSubplanNests(t *testing.T) {
	k := newKit(t)
	rows := [][]any{{1}, {2}, {3}}
	src := func() Node { return (&source{rows: rows}).node(1) }
	p0, p1 := expr.AsParam(bigint(0), 0), expr.AsParam(bigint(0), 1)
	// The innermost: how many rows x have x <= outer and x <= middle.
	innermost := &Subplan{Slots: []int{2, 1}, Root: &StreamAgg{Aggs: []*expr.AggSpec{k.agg("count")},
		Input: &Filter{Input: src(), Cond: k.call("and", k.call("<=", bigint(0), expr.AsParam(bigint(0), 2)), k.call("<=", bigint(0), p1))}}}
	inner := innermost.Expr("(innermost)", bigintType, expr.CoerImplicit, []expr.Expr{p0, bigint(0)}, nil, false)
	middle := &Subplan{Slots: []int{0}, Root: &StreamAgg{Aggs: []*expr.AggSpec{k.agg("sum", bigint(0))},
		Input: &Project{Input: src(), Exprs: []expr.Expr{inner}}}}
	e := middle.Expr("(middle)", types.Type{ID: types.TypeDecimal, Length: 41}, expr.CoerImplicit, []expr.Expr{bigint(0)}, nil, false)
	got, err := k.tryQuery(k.runtime(), withSubplans(&Project{Input: src(), Exprs: []expr.Expr{bigint(0), e}}, 3, middle, innermost))
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "nested", got, []string{"1|3", "2|5", "3|6"})
}

// TestSubplanKeepsTexts: texts outlive the arenas of both sides.
func TestSubplanKeepsTexts(t *testing.T) {
	k := newKit(t)
	src := randomRows(testkit.Rand(testkit.Seed(t), 5), 3000, 40)
	text := expr.Column(1, charType(40), "b")
	upper := func(e expr.Expr) expr.Expr { return k.call("upper", k.call("concat", e, e)) }
	sub := &Subplan{Slots: []int{0}, Root: &Project{Input: &Values{Out: []types.Type{bigintType}, Rows: [][]expr.Expr{{lit(1)}}},
		Exprs: []expr.Expr{k.call("concat", expr.AsParam(text, 0), expr.Literal(types.Text("!")))}}}
	e := sub.Expr("(subquery)", charType(100), expr.CoerImplicit, []expr.Expr{upper(text)}, nil, false)
	plain := k.query(k.runtime(), &Project{Input: src, Exprs: []expr.Expr{k.call("lower", k.call("concat", upper(text), expr.Literal(types.Text("!"))))}})
	got, err := k.tryQuery(k.runtime(), withSubplans(&Project{Input: src, Exprs: []expr.Expr{k.call("lower", e)}}, 1, sub))
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "texts", got, plain)
}

// three is a truth value: 0, 1, or 2 for unknown.
func model(op string, a, b []any) int {
	// Rows compare column by column: <> is the opposite of =.
	result := 1
	for i := range a {
		switch {
		case a[i] == nil || b[i] == nil:
			if result == 1 {
				result = 2
			}
		case a[i] != b[i]:
			result = 0
		}
	}
	if op == "<>" && result != 2 {
		result = 1 - result
	}
	return result
}

func modelQuantified(kind SubplanKind, op string, left []any, rows [][]any) string {
	unknown := false
	for _, r := range rows {
		switch model(op, left, r) {
		case 2:
			unknown = true
		case 1:
			if kind == SubplanAny {
				return "1"
			}
		case 0:
			if kind == SubplanAll {
				return "0"
			}
		}
	}
	if unknown {
		return "NULL"
	}
	return map[SubplanKind]string{SubplanAny: "0", SubplanAll: "1"}[kind]
}

func randomSource(r *rand.Rand, n, width, values int) *source {
	s := &source{}
	for range n {
		row := make([]any, width)
		for i := range row {
			if row[i] = r.IntN(values); r.IntN(20) == 0 {
				row[i] = nil
			}
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// TestSubplanQuantifiers compares ANY and ALL over one and two columns with a model: hashed, as a list, spilled, and correlated.
func TestSubplanQuantifiers(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 6)
	k := newKit(t)
	for range 40 {
		width := 1 + r.IntN(2)
		left, right := randomSource(r, 60, width, 12), randomSource(r, r.IntN(30), width, 12)
		if r.IntN(4) == 0 {
			right = randomSource(r, 4000, width, 1<<20) // does not fit
			right.rows = append(right.rows, left.rows[:10]...)
		}
		kind, op := SubplanAny, "="
		if r.IntN(2) == 0 {
			kind, op = SubplanAll, "<>"
		}
		var want []string
		for _, row := range left.rows {
			want = append(want, modelQuantified(kind, op, row, right.rows))
		}
		var operands, inner []expr.Expr
		for i := range width {
			operands, inner = append(operands, bigint(i)), append(inner, bigint(width+i))
		}
		compare := k.call(op, operands[0], inner[0])
		if width > 1 {
			compare = k.call(op, k.call("row", operands...), k.call("row", inner...))
		}
		for _, how := range []string{"hashed", "list", "correlated"} {
			for _, limit := range []int64{1 << 30, 100 << 10} {
				sub := &Subplan{Root: right.node(width), Kind: kind, Operands: width, Compare: compare}
				var outer []expr.Expr
				switch how {
				case "hashed":
					sub.LeftKeys, sub.RightKeys = operands[:1+r.IntN(width)], operands[:1]
					sub.RightKeys = operands[:len(sub.LeftKeys)]
				case "correlated":
					sub.Slots, outer = []int{0}, operands[:1]
				}
				e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, outer, operands, how != "correlated")
				rt := k.runtime()
				rt.Mem = NewMemTracker(limit)
				got, err := k.tryQuery(rt, withSubplans(&Project{Input: left.node(width), Exprs: []expr.Expr{e}}, 1, sub))
				if err != nil {
					t.Fatal(err)
				}
				sameRows(t, fmt.Sprint(kind, op, width, " ", how, " ", limit), got, want)
				if limit == 1<<30 && how == "hashed" && len(right.rows) > 3000 && rt.Mem.Peak() < 100<<10 {
					t.Error("the small limit forces nothing to disk")
				}
				clean(t, rt)
			}
		}
	}
}

// TestSubplanExtremes compares ANY and ALL of orders over one column with a model: by their extreme row, as a list, and correlated.
func TestSubplanExtremes(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 8)
	k := newKit(t)
	holds := map[string]func(a, b int) bool{"<": func(a, b int) bool { return a < b }, "<=": func(a, b int) bool { return a <= b },
		">": func(a, b int) bool { return a > b }, ">=": func(a, b int) bool { return a >= b }}
	for op, hold := range holds {
		for _, kind := range []SubplanKind{SubplanAny, SubplanAll} {
			for _, n := range []int{0, 1, 2, 5, 30, 3000} {
				left, right := randomSource(r, 40, 1, 12), randomSource(r, n, 1, 9)
				var want []string
				for _, row := range left.rows {
					verdict := map[SubplanKind]string{SubplanAny: "0", SubplanAll: "1"}[kind]
					for _, other := range right.rows {
						if row[0] == nil || other[0] == nil {
							if verdict == "1" && kind == SubplanAll || verdict == "0" && kind == SubplanAny {
								verdict = "NULL"
							}
						} else if hold(row[0].(int), other[0].(int)) == (kind == SubplanAny) {
							verdict = map[SubplanKind]string{SubplanAny: "1", SubplanAll: "0"}[kind]
							break
						}
					}
					want = append(want, verdict)
				}
				for _, how := range []string{"extreme", "list", "correlated"} {
					sub := &Subplan{Root: right.node(1), Kind: kind, Operands: 1, Compare: k.call(op, bigint(0), bigint(1))}
					var outer []expr.Expr
					switch how {
					case "extreme":
						sub.RightKeys, sub.Extreme = []expr.Expr{bigint(0)}, 1
						if (op[0] == '<') == (kind == SubplanAll) {
							sub.Extreme = -1
						}
					case "correlated":
						sub.Slots, outer = []int{0}, []expr.Expr{bigint(0)}
					}
					e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, outer, []expr.Expr{bigint(0)}, how != "correlated")
					rt := k.runtime()
					rt.Mem = NewMemTracker(1 << 30)
					got, err := k.tryQuery(rt, withSubplans(&Project{Input: left.node(1), Exprs: []expr.Expr{e}}, 1, sub))
					if err != nil {
						t.Fatal(err)
					}
					sameRows(t, fmt.Sprint(kind, op, n, " ", how), got, want)
					clean(t, rt)
				}
			}
		}
	}
}

// clean checks that an execution left nothing behind.
func clean(t *testing.T, rt *Runtime) {
	t.Helper()
	if rt.Mem.Used() != 0 {
		t.Errorf("%d bytes still accounted", rt.Mem.Used())
	}
	if files, _ := os.ReadDir(rt.TempDir); len(files) > 0 {
		t.Errorf("%d spill files left", len(files))
	}
	if rt.shared != nil || rt.Ctx.Subplans != nil {
		t.Error("subqueries outlive their execution")
	}
}

// TestSubplanMemoIsBounded: more outer values than the memo holds, and a statement without memory for it.
func TestSubplanMemoIsBounded(t *testing.T) {
	k := newKit(t)
	outer := &source{}
	for i := range subplanMemoEntries + 5000 {
		outer.rows = append(outer.rows, []any{i})
	}
	for _, limit := range []int64{1 << 30, 64 << 10} {
		sub := &Subplan{Slots: []int{0}, Root: &Project{Input: &Dual{}, Exprs: []expr.Expr{expr.AsParam(bigint(0), 0)}}}
		e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, []expr.Expr{bigint(0)}, nil, false)
		rt := k.runtime()
		rt.Mem = NewMemTracker(limit)
		got, err := k.tryQuery(rt, withSubplans(&Filter{Input: outer.node(1), Cond: k.call("<>", bigint(0), e)}, 1, sub))
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, "memo", got, nil)
		if limit == 1<<30 && rt.Mem.Peak() > 2*subplanMemoBytes+8<<20 {
			t.Errorf("peak %d", rt.Mem.Peak())
		}
		clean(t, rt)
	}
}

// TestSubplanMemoAfterFull: a memo that has been full, by its number of results or by their texts, keeps results again.
func TestSubplanMemoAfterFull(t *testing.T) {
	for _, width := range []int{1, 100, 1000} {
		rt := newKit(t).runtime()
		var m subplanMemo
		m.init(rt)
		text := make([]byte, width)
		emptied, last := 0, -1
		for i := range 3 * subplanMemoEntries {
			key := []types.Value{types.Int(int64(i))}
			if _, ok := m.get(key); ok {
				t.Fatalf("a result for %d from nowhere", i)
			}
			m.put(types.Bytes(text))
			if _, ok := m.get(key); !ok {
				t.Fatalf("no result for %d", i)
			}
			if len(m.values) == 1 {
				if last >= 0 && i-last < 1000 {
					t.Fatalf("width %d: emptied after %d results", width, i-last)
				}
				emptied, last = emptied+1, i
			}
		}
		if emptied < 3 {
			t.Errorf("width %d: emptied %d times", width, emptied-1)
		}
		m.close()
	}
}

// TestSubplanIsInterrupted: KILL ends a statement within a subquery whose rows are in memory, and all is given back.
func TestSubplanIsInterrupted(t *testing.T) {
	k := newKit(t)
	outer := randomSource(testkit.Rand(1, 1), 5000, 1, 1<<30)
	inner := &source{rows: [][]any{{1}, {2}}}
	rt := k.runtime()
	rt.Interrupt, rt.Mem = new(kvapi.Interrupt), NewMemTracker(1<<30)
	sub := &Subplan{Slots: []int{0}, Root: &Filter{Input: inner.node(1), Cond: k.call("=", bigint(0), expr.AsParam(bigint(0), 0))}}
	e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, []expr.Expr{bigint(0)}, nil, false)
	count := 0
	stop := &RowSource{Out: []types.Type{bigintType}, Fill: func(_ *Runtime, emit func([]types.Value) error) error {
		if count++; count == 10 {
			rt.Interrupt.Set(kvapi.ReasonKillQuery)
		}
		return emit([]types.Value{types.Int(1)})
	}}
	sub.Root = &UnionAll{Inputs: []Node{sub.Root, stop}, Out: []types.Type{bigintType}}
	if _, err := k.tryQuery(rt, withSubplans(&Project{Input: outer.node(1), Exprs: []expr.Expr{e}}, 1, sub)); number(err) != types.ErQueryInterrupted {
		t.Fatalf("want 1317, got %v", err)
	}
	if count != 10 {
		t.Errorf("the subquery ran %d times", count)
	}
	clean(t, rt)
}

// TestSubplanIsAbandoned: a panic leaves nothing of a subquery behind.
func TestSubplanIsAbandoned(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	rt.Mem = NewMemTracker(1 << 30)
	sub := &Subplan{Root: randomSource(testkit.Rand(1, 1), 5000, 1, 9).node(1), Kind: SubplanAny, Operands: 1, Compare: k.call(">", bigint(0), bigint(1))}
	e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, nil, []expr.Expr{bigint(0)}, true)
	p := withSubplans(&Project{Input: (&source{rows: [][]any{{1}}}).node(1), Exprs: []expr.Expr{e}}, 0, sub)
	func() {
		defer func() { _ = recover() }()
		_, _ = Run(rt, p, &faulty{})
	}()
	if rt.Mem.Used() == 0 {
		t.Fatal("the subquery held nothing when the sink panicked")
	}
	rt.Abandon()
	clean(t, rt)
}
