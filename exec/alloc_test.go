package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// discard is a Sink that encodes and forgets.
type discard struct {
	enc  types.RowEncoder
	rows int
}

func (d *discard) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) {
	d.enc.Binary = true
	return &d.enc, nil
}

func (d *discard) RowDone() error {
	d.rows++
	d.enc.Buf = d.enc.Buf[:0]
	return nil
}

// hotPlan is a statement whose cost per execution is measured.
type hotPlan struct {
	name   string
	plan   *Plan
	params func(i int) []types.Value
	// allocs is the stated cap of allocations per execution, storage included.
	allocs float64
}

const hotRows = 10_000

// hotPlans returns sysbench's statements over a table of hotRows rows.
func hotPlans(k *kit, t *catalog.Table) []hotPlan {
	params := make([]types.Value, 4)
	text := types.Text("")
	text.B = []byte(strings.Repeat("12345678901-", 10)[:119])
	id := func(i int) []types.Value {
		params[0] = types.Int(int64(i*7919%hotRows + 1))
		return params[:1]
	}
	span := func(i int) []types.Value {
		lo := int64(i * 7919 % (hotRows - 100))
		params[0], params[1] = types.Int(lo+1), types.Int(lo+100)
		return params[:2]
	}
	rng := func(cols ...int) *Scan {
		return &Scan{Table: t, Ranges: []Range{between(param(0), param(1))}, Cols: cols}
	}
	c := expr.Column(0, t.Columns[2].Type, "c")
	write := func(root Node) *Plan { return (&Plan{Root: root}).Seal() }
	update := func(a Assignment) *Plan {
		return write(&Update{Table: t, Input: k.lockByPK(t, param(0)), KeyCol: 4, Set: []Assignment{a}})
	}
	next := hotRows
	return []hotPlan{
		{"point", queryPlan(&PointGet{Table: t, Index: t.PK, Keys: [][]expr.Expr{{param(0)}}, Cols: []int{2}}), id, 0},
		{"range", queryPlan(rng(2)), span, 2},
		{"sum", queryPlan(&StreamAgg{Input: rng(1), Aggs: []*expr.AggSpec{k.agg("sum", expr.Column(0, intType, "k"))}}), span, 2},
		{"order", queryPlan(&Sort{Input: rng(2), Keys: []SortKey{{Expr: c}}}), span, 2},
		{"distinct", queryPlan(&Sort{Input: &Distinct{Input: rng(2)}, Keys: []SortKey{{Expr: c}}}), span, 2},
		{"update k", update(Assignment{Col: 1, Expr: k.call("+", col(t, 1), lit(1))}), id, 4},
		{"update c", update(Assignment{Col: 2, Expr: textParam(1)}), func(i int) []types.Value {
			id(i)
			params[1] = text
			params[1].B[0] = byte('0' + i%10)
			return params[:2]
		}, 4},
		{"insert", write(&Insert{Table: t, Cols: []int{0, 1, 2, 3}, ParamRows: 1}), func(i int) []types.Value {
			next++
			params[0], params[1], params[2], params[3] = types.Int(int64(next)), types.Int(int64(i%500)), text, types.Text("pad")
			return params[:4]
		}, 8},
		{"delete", write(&Delete{Table: t, Input: k.lockByPK(t, param(0)), KeyCol: 4}), func(i int) []types.Value {
			params[0] = types.Int(int64(i + 1))
			return params[:1]
		}, 4},
	}
}

func hotKit(t testing.TB) (*kit, *Runtime, []hotPlan) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, hotRows)
	return k, rt, hotPlans(k, sb)
}

// TestAllocations keeps the caps of hot statements, from Run down to the storage.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	_, rt, plans := hotKit(t)
	sink := &discard{}
	for _, h := range plans {
		i := 0
		one := func() {
			rt.Ctx.Params = h.params(i)
			i++
			if _, err := Run(rt, h.plan, sink); err != nil {
				t.Fatalf("%s: %v", h.name, err)
			}
		}
		for range 200 {
			one()
		}
		n := testing.AllocsPerRun(500, one)
		t.Logf("%-10s %.0f allocations", h.name, n)
		if n > h.allocs {
			t.Errorf("%s: %.1f allocations, over the cap of %.0f", h.name, n, h.allocs)
		}
	}
}

func BenchmarkStatements(b *testing.B) {
	_, rt, plans := hotKit(b)
	sink := &discard{}
	for _, h := range plans {
		b.Run(h.name, func(b *testing.B) {
			if h.name == "delete" || h.name == "insert" {
				b.Skip("once per row only")
			}
			b.ReportAllocs()
			for i := range b.N {
				rt.Ctx.Params = h.params(i)
				if _, err := Run(rt, h.plan, sink); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBulkInsert stores 2,700 rows per statement, as sysbench's prepare does.
func BenchmarkBulkInsert(b *testing.B) {
	k := newKit(b)
	rt, sb := k.runtime(), sbtest(1)
	const rows = 2700
	params := make([]types.Value, 0, rows*3)
	for i := range rows {
		params = append(params, types.Int(int64(i*7%1000)), types.Text(fmt.Sprintf("%0119d", i)), types.Text(fmt.Sprintf("%059d", i)))
	}
	p := (&Plan{Root: &Insert{Table: sb, Cols: []int{1, 2, 3}, ParamRows: rows}, Params: len(params)}).Seal()
	b.ReportAllocs()
	for range b.N {
		rt.Ctx.Params = params
		if _, err := Run(rt, p, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
