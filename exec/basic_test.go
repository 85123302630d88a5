package exec

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

func TestPointAndRangeReads(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 3000)

	point := &PointGet{Table: sb, Index: sb.PK, Keys: [][]expr.Expr{{lit(5)}}, Cols: []int{2}}
	sameRows(t, "point", k.query(rt, point), []string{cText(5)})
	missing := &PointGet{Table: sb, Index: sb.PK, Keys: [][]expr.Expr{{lit(99999)}}, Cols: []int{2}}
	sameRows(t, "missing point", k.query(rt, missing), nil)
	many := &PointGet{Table: sb, Index: sb.PK, Keys: [][]expr.Expr{{lit(9)}, {lit(2)}, {lit(9)}, {lit(-1)}}, Cols: []int{0, 1}}
	sameRows(t, "several points", k.query(rt, many), []string{"2|14", "9|63"})

	var want []string
	for id := 500; id <= 2700; id++ {
		want = append(want, fmt.Sprint(id))
	}
	scan := &Scan{Table: sb, Ranges: []Range{between(lit(500), lit(2700))}, Cols: []int{0}}
	sameRows(t, "range of several pages", k.query(rt, scan), want)
	scan = &Scan{Table: sb, Ranges: []Range{between(lit(2000), lit(2700)), between(lit(500), lit(2100)), eq(lit(600))}, Cols: []int{0}}
	sameRows(t, "overlapping ranges", k.query(rt, scan), want)
	for i, j := 0, len(want)-1; i < j; i, j = i+1, j-1 {
		want[i], want[j] = want[j], want[i]
	}
	scan = &Scan{Table: sb, Ranges: []Range{between(lit(500), lit(2700))}, Cols: []int{0}, Reverse: true}
	sameRows(t, "reverse", k.query(rt, scan), want)
	scan = &Scan{Table: sb, Ranges: []Range{between(lit(500), lit(2700))}, Cols: []int{0}, Reverse: true, Limit: lit(3)}
	sameRows(t, "limited", k.query(rt, &Limit{Input: scan, Count: lit(3)}), want[:3])
}

func TestIndexReads(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 300)
	ix := sb.Index("k_1")

	// k = id*7 % 100, so k = 7 for ids 1, 101 and 201.
	entries := &Scan{Table: sb, Index: ix, Ranges: []Range{eq(lit(7)), eq(lit(14))}, Cols: []int{0, 1}}
	sameRows(t, "covering", k.query(rt, entries), []string{"1|7", "101|7", "201|7", "2|14", "102|14", "202|14"})
	lookup := &IndexLookup{
		Scan:   &Scan{Table: sb, Index: ix, Ranges: []Range{eq(lit(7))}, Cols: []int{RowKey}},
		Cols:   []int{0, 3},
		Filter: k.call(">", expr.Column(0, intType, "id"), lit(1)),
	}
	sameRows(t, "lookup", k.query(rt, lookup), []string{"101|pad-101", "201|pad-201"})
	count := &StreamAgg{Input: &Scan{Table: sb, Index: ix, Cols: []int{1},
		Ranges: []Range{between(lit(0), lit(4)), between(lit(3), lit(9))}}, Aggs: []*expr.AggSpec{k.agg("count", expr.Column(0, intType, "k"))}}
	sameRows(t, "random ranges", k.query(rt, count), []string{"30"})
}

func TestBoundsOutsideTheColumn(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 5)
	dec := func(n int64) expr.Expr { return expr.Literal(types.Decimal(n, 1)) }
	for _, c := range []struct {
		name string
		r    Range
		want []string
	}{
		{"above 1.5", Range{Low: Bound{Expr: dec(15), Incl: true}}, []string{"2", "3", "4", "5"}},
		{"above 1.5, strictly", Range{Low: Bound{Expr: dec(15), Incl: false}}, []string{"2", "3", "4", "5"}},
		{"up to 2.5", Range{High: Bound{Expr: dec(25), Incl: true}}, []string{"1", "2"}},
		{"below 3.0", Range{High: Bound{Expr: dec(30), Incl: false}}, []string{"1", "2"}},
		{"equal 1.5", eq(dec(15)), nil},
		{"equal 2.0", eq(dec(20)), []string{"2"}},
		{"up to a trillion", Range{Low: Bound{Expr: lit(4), Incl: true}, High: Bound{Expr: lit(1e12), Incl: true}}, []string{"4", "5"}},
		{"above a trillion", Range{Low: Bound{Expr: lit(1e12), Incl: true}}, nil},
		{"equal to a trillion", eq(lit(1e12)), nil},
		{"above minus a trillion", Range{Low: Bound{Expr: lit(-1e12), Incl: true}, High: Bound{Expr: lit(1), Incl: true}}, []string{"1"}},
		{"NULL bound", Range{Low: Bound{Expr: expr.Literal(types.Null()), Incl: true}}, nil},
		{"= NULL", eq(expr.Literal(types.Null())), nil},
		{"reversed", between(lit(4), lit(2)), nil},
	} {
		rows := k.query(rt, &Scan{Table: sb, Ranges: []Range{c.r}, Cols: []int{0}})
		sameRows(t, c.name, rows, c.want)
	}
}

func TestOperators(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	values := func(rows ...[]expr.Expr) *Values {
		return &Values{Out: []types.Type{bigintType, bigintType}, Rows: rows}
	}
	null := expr.Literal(types.Null())
	in := values([]expr.Expr{lit(3), lit(1)}, []expr.Expr{lit(1), lit(2)}, []expr.Expr{null, lit(3)}, []expr.Expr{lit(3), lit(4)}, []expr.Expr{lit(3), lit(1)})
	a, b := expr.Column(0, bigintType, "a"), expr.Column(1, bigintType, "b")

	sameRows(t, "filter", k.query(rt, &Filter{Input: in, Cond: k.call("=", a, lit(3))}), []string{"3|1", "3|4", "3|1"})
	sameRows(t, "project", k.query(rt, &Project{Input: in, Exprs: []expr.Expr{k.call("+", a, b)}}), []string{"4", "3", "NULL", "7", "4"})
	sameRows(t, "sort", k.query(rt, &Sort{Input: in, Keys: []SortKey{{Expr: a}, {Expr: b, Desc: true}}}),
		[]string{"NULL|3", "1|2", "3|4", "3|1", "3|1"})
	sameRows(t, "top", k.query(rt, &TopN{Input: in, Keys: []SortKey{{Expr: a, Desc: true}}, Count: lit(2), Offset: lit(1)}), []string{"3|4", "3|1"})
	sameRows(t, "limit", k.query(rt, &Limit{Input: in, Count: lit(2), Offset: lit(1)}), []string{"1|2", "NULL|3"})
	sameRows(t, "distinct", k.query(rt, &Distinct{Input: in}), []string{"3|1", "1|2", "NULL|3", "3|4"})
	sameRows(t, "group", k.query(rt, &Sort{Keys: []SortKey{{Expr: a}}, Input: &HashAgg{Input: in, Keys: []expr.Expr{a},
		Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", b)}}}), []string{"NULL|1|3", "1|1|2", "3|3|6"})
	sorted := &Sort{Input: in, Keys: []SortKey{{Expr: a}}}
	sameRows(t, "stream group", k.query(rt, &StreamAgg{Input: sorted, Keys: []expr.Expr{a},
		Aggs: []*expr.AggSpec{k.agg("count"), k.agg("max", b)}}), []string{"NULL|1|3", "1|1|2", "3|3|4"})
	empty := &Filter{Input: in, Cond: lit(0)}
	sameRows(t, "scalar aggregate of nothing", k.query(rt, &HashAgg{Input: empty, Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", a)}}), []string{"0|NULL"})
	sameRows(t, "union", k.query(rt, &UnionAll{Inputs: []Node{&Limit{Input: in, Count: lit(1)}, empty, &Limit{Input: in, Count: lit(1)}},
		Out: []types.Type{bigintType, bigintType}}), []string{"3|1", "3|1"})

	other := values([]expr.Expr{lit(3), lit(30)}, []expr.Expr{lit(1), lit(10)}, []expr.Expr{null, lit(0)}, []expr.Expr{lit(3), lit(31)})
	join := func(kind JoinKind) Node {
		return &HashJoin{Kind: kind, Left: &Limit{Input: in, Count: lit(3)}, Right: other, LeftKeys: []expr.Expr{a}, RightKeys: []expr.Expr{a}}
	}
	loop := func(kind JoinKind) Node {
		on := k.call("=", a, expr.Column(2, bigintType, "c"))
		return &Apply{Kind: kind, Left: &Limit{Input: in, Count: lit(3)}, Right: &Materialize{Input: other}, On: on}
	}
	for kind, want := range map[JoinKind][]string{
		JoinInner: {"3|1|3|30", "3|1|3|31", "1|2|1|10"},
		JoinLeft:  {"3|1|3|30", "3|1|3|31", "1|2|1|10", "NULL|3|NULL|NULL"},
		JoinSemi:  {"3|1", "1|2"},
		JoinAnti:  {"NULL|3"},
	} {
		sameRows(t, "hash join "+kind.String(), k.query(rt, join(kind)), want)
		sameRows(t, "loop join "+kind.String(), k.query(rt, loop(kind)), want)
	}
}

func TestApplyBindsParameters(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 20)
	left := &Values{Out: []types.Type{bigintType}, Rows: [][]expr.Expr{{lit(3)}, {lit(50)}, {lit(7)}}}
	right := &PointGet{Table: sb, Index: sb.PK, Keys: [][]expr.Expr{{expr.Param(0, bigintType)}}, Cols: []int{0, 3}}
	root := &Apply{Kind: JoinLeft, Left: left, Right: right, Bind: []expr.Expr{expr.Column(0, bigintType, "x")}}
	p := queryPlan(root)
	p.Slots = 1
	p.Program = nil
	rows, err := k.tryQuery(rt, p)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "lookup join", rows, []string{"3|3|pad-3", "50|NULL|NULL", "7|7|pad-7"})
}

func number(err error) uint16 {
	var e *types.Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}
