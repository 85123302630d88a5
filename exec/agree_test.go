package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// statement is one random statement: a plan, made anew per side, and its parameters.
type statement struct {
	name    string
	query   bool
	plan    func() Node
	params  []types.Value
	program bool // the plan must have a program
}

// statements returns the shapes of sysbench's statements and some of their neighbours.
func statements(k *kit, t *catalog.Table, r *rand.Rand) []statement {
	id := func() types.Value { return types.Int(r.Int64N(260) - 5) }
	lo := r.Int64N(250)
	span := []types.Value{types.Int(lo), types.Int(lo + r.Int64N(120) - 10)}
	text := types.Text(fmt.Sprintf("%011d-%d", r.Int64N(1e9), r.IntN(9)))
	switch r.IntN(8) { // some have no abbreviation, and are sorted among others that have
	case 0:
		text = types.Text("")
	case 1:
		text = types.Text(string(text.B[7:]) + "é")
	case 2:
		text = types.Text("É" + string(text.B))
	}
	pk := func(cols ...int) Node {
		return &PointGet{Table: t, Index: t.PK, Keys: [][]expr.Expr{{param(0)}}, Cols: cols}
	}
	rng := func(cols ...int) *Scan {
		return &Scan{Table: t, Ranges: []Range{between(param(0), param(1))}, Cols: cols}
	}
	update := func(set ...Assignment) func() Node {
		return func() Node {
			return &Update{Table: t, Input: k.lockByPK(t, param(0)), KeyCol: len(t.Columns), Set: set}
		}
	}
	cText := expr.Column(0, t.Columns[2].Type, "c")
	ix := t.Index("k_1")
	sum := []*expr.AggSpec{k.agg("sum", expr.Column(0, intType, "k")), k.agg("count"), k.agg("avg", expr.Column(0, intType, "k")),
		k.agg("min", expr.Column(1, t.Columns[2].Type, "c")), k.agg("max", expr.Column(0, intType, "k"))}
	return []statement{
		{"point", true, func() Node { return pk(2) }, []types.Value{id()}, true},
		{"point, projected", true, func() Node {
			return &Project{Input: pk(0, 1, 2), Exprs: []expr.Expr{expr.Column(2, t.Columns[2].Type, "c"), expr.Column(0, intType, "id")}}
		}, []types.Value{id()}, true},
		{"range", true, func() Node { return rng(2, 0) }, span, true},
		{"range, backwards", true, func() Node { s := rng(0, 3); s.Reverse = true; return s }, span, true},
		{"range, limited", true, func() Node {
			s := rng(0)
			s.Limit = lit(7)
			return &Limit{Input: s, Count: lit(7)}
		}, span, true},
		{"aggregates", true, func() Node { return &StreamAgg{Input: rng(1, 2), Aggs: sum} }, span, true},
		{"count over index ranges", true, func() Node {
			return &StreamAgg{Input: &Scan{Table: t, Index: ix, Cols: []int{1}, Ranges: []Range{between(param(0), param(1)), eq(lit(50)), between(lit(45), lit(55))}},
				Aggs: []*expr.AggSpec{k.agg("count", expr.Column(0, intType, "k"))}}
		}, span, true},
		{"order", true, func() Node { return &Sort{Input: rng(2), Keys: []SortKey{{Expr: cText}}} }, span, true},
		{"order, descending", true, func() Node { return &Sort{Input: rng(2, 0), Keys: []SortKey{{Expr: cText, Desc: true}}} }, span, true},
		{"order by a number that may be NULL", true, func() Node {
			return &Sort{Input: rng(1, 2), Keys: []SortKey{{Expr: expr.Column(0, t.Columns[1].Type, "k"), Desc: lo%2 == 0}, {Expr: expr.Column(1, t.Columns[2].Type, "c"), Desc: lo%3 == 0}}}
		}, span, true},
		{"distinct", true, func() Node {
			return &Sort{Input: &Distinct{Input: rng(2)}, Keys: []SortKey{{Expr: cText}}}
		}, span, true},
		{"update k", false, update(Assignment{Col: 1, Expr: k.call("+", col(t, 1), lit(1))}), []types.Value{id()}, true},
		{"update c", false, update(Assignment{Col: 2, Expr: textParam(1)}), []types.Value{id(), text}, true},
		{"update both", false, update(Assignment{Col: 1, Expr: lit(3)}, Assignment{Col: 3, Expr: k.call("concat", col(t, 1), col(t, 2))}), []types.Value{id()}, true},
		{"update out of range", false, update(Assignment{Col: 1, Expr: k.call("*", col(t, 1), lit(1e9))}), []types.Value{id()}, true},
		{"update to null", false, update(Assignment{Col: 1, Expr: expr.Literal(types.Null())}), []types.Value{id()}, true},
		{"update id", false, update(Assignment{Col: 0, Expr: param(1)}), []types.Value{id(), id()}, true},
		{"delete", false, func() Node {
			return &Delete{Table: t, Input: k.lockByPK(t, param(0)), KeyCol: len(t.Columns)}
		}, []types.Value{id()}, true},
		{"delete with condition", false, func() Node {
			lock := k.lockByPK(t, param(0))
			lock.Where = k.call("and", lock.Where, k.call(">", col(t, 1), lit(50)))
			return &Delete{Table: t, Input: lock, KeyCol: len(t.Columns)}
		}, []types.Value{id()}, true},
		{"insert", false, func() Node { return &Insert{Table: t, Cols: []int{0, 1, 2, 3}, ParamRows: 1} },
			[]types.Value{id(), types.Int(r.Int64N(100)), text, text}, false},
	}
}

// side is one of the two databases that must stay equal.
type side struct {
	k     *kit
	rt    *Runtime
	table *catalog.Table
	tx    *txn.Txn
}

func (s *side) run(st *statement, programs bool) string {
	p := &Plan{Root: st.plan(), IsQuery: st.query, Params: len(st.params)}
	if st.query {
		p.Columns = make([]sqlapi.ColumnInfo, len(Types(p.Root)))
	}
	p.Seal()
	if st.program && p.Program == nil {
		s.k.t.Fatalf("%s has no program", st.name)
	}
	if !programs {
		p.Program = nil
	}
	c := &collector{}
	s.rt.Ctx.Params = st.params
	s.rt.Txn = s.tx
	s.rt.Ctx.ResetWarnings()
	res, err := Run(s.rt, p, c)
	return fmt.Sprintf("%v %+v %v", c.rows, res, err)
}

// contents returns the whole table by the primary key and by the index.
func (s *side) contents() []string {
	s.rt.Txn = s.tx
	rows := s.k.query(s.rt, &Sort{Input: &Scan{Table: s.table, Cols: plainCols(s.table)}, Keys: []SortKey{{Expr: col(s.table, 1)}, {Expr: col(s.table, 0)}}})
	byIndex := s.k.query(s.rt, &IndexLookup{Scan: &Scan{Table: s.table, Index: s.table.Index("k_1"), Cols: []int{RowKey}}, Cols: plainCols(s.table)})
	sameRows(s.k.t, "index and table", byIndex, rows)
	return rows
}

// TestProgramsAgreeWithBatches runs random statements on two databases, on one with
// programs and on the other without: answers and contents must be equal throughout.
func TestProgramsAgreeWithBatches(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	sides := [2]*side{}
	for i := range sides {
		k := newKit(t)
		sides[i] = &side{k: k, rt: k.runtime(), table: sbtest(1)}
		k.fill(sides[i].rt, sides[i].table, 250)
	}
	for step := range 1500 {
		choice, params := r.IntN(100), r.Uint64()
		var out [2]string
		name := ""
		for i, s := range sides {
			switch {
			case choice == 0 && s.tx == nil:
				s.tx = s.k.txns.Begin(txn.Options{Level: txn.Level(params % 2)})
			case choice < 4 && s.tx != nil:
				if choice == 1 {
					s.tx.Rollback()
				} else if err := s.tx.Commit(); err != nil {
					t.Fatal(err)
				}
				s.tx.Release()
				s.tx = nil
			default:
				own := testkit.Rand(params, 2)
				list := statements(s.k, s.table, own)
				st := &list[choice%len(list)]
				name = st.name
				out[i] = s.run(st, i == 0)
			}
		}
		if out[0] != out[1] {
			t.Fatalf("step %d, %s:\nprogram %s\nbatch   %s", step, name, out[0], out[1])
		}
		if step%100 == 0 {
			sameRows(t, fmt.Sprintf("contents after step %d", step), sides[0].contents(), sides[1].contents())
		}
	}
	for _, s := range sides {
		if s.tx != nil {
			s.tx.Release()
		}
	}
}
