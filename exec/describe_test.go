package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/expr"
)

// explain prints a plan as an indented tree.
func explain(n Node, depth int) string {
	d := n.Describe()
	line := strings.Repeat("  ", depth) + d.Op
	if a := d.Access(); a != "" {
		line += " " + a
	}
	if len(d.Ranges) > 0 {
		line += " " + strings.Join(d.Ranges, " ")
	}
	if d.Info != "" {
		line += " [" + d.Info + "]"
	}
	line += "\n"
	for _, c := range n.Children() {
		line += explain(c, depth+1)
	}
	return line
}

func TestDescribe(t *testing.T) {
	k := newKit(t)
	sb := sbtest(1)
	root := &Update{Table: sb, KeyCol: 4, Set: []Assignment{{Col: 1, Expr: k.call("+", col(sb, 1), lit(1))}},
		Input: &LockRows{Table: sb, Mode: LockExclusive, Where: k.call("=", col(sb, 1), param(0)), Cols: append(plainCols(sb), RowKey),
			Input: &Scan{Table: sb, Index: sb.Index("k_1"), Cols: []int{RowKey}, Ranges: []Range{eq(param(0)), {Low: Bound{Expr: lit(1), Incl: false}, High: Bound{Expr: lit(5), Incl: true}}}}}}
	got := explain(root, 0)
	for _, want := range []string{"Update sbtest1 [set: k = ", "  LockRows sbtest1 [exclusive; recheck: ", "    Scan sbtest1:k_1 (k = ", "(1 < k <= 5)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestAnalyzeCounts(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 3000)
	scan := &Scan{Table: sb, Cols: []int{0, 1}}
	filter := &Filter{Input: scan, Cond: k.call("<", expr.Column(1, intType, "k"), lit(10))}
	rt.Analyze = NewCounters()
	k.query(rt, filter)
	s, f := rt.Analyze.Of(scan), rt.Analyze.Of(filter)
	if got := fmt.Sprint(s.Rows, s.Loops, f.Rows, f.Loops); got != "3000 1 300 1" {
		t.Fatalf("counted %s", got)
	}
	if f.Time < s.Time || s.Time <= 0 {
		t.Fatalf("times %v and %v", f.Time, s.Time)
	}
}

// TestAnalyzeFigures: memory, spilled bytes and reads are those of the node that took them.
func TestAnalyzeFigures(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 8000)
	scan := &Scan{Table: sb, Cols: []int{0, 2}}
	sort := &Sort{Input: scan, Keys: []SortKey{{Expr: expr.Column(1, charType(120), "c")}}}
	group := &HashAgg{Input: sort, Keys: []expr.Expr{k.call("%", expr.Column(0, intType, "id"), lit(7))}, Aggs: []*expr.AggSpec{k.agg("count")}}
	figures := func(memory int64) (scanned, sorted, grouped Counter) {
		rt.Analyze, rt.Mem = NewCounters(), NewMemTracker(memory)
		k.query(rt, group)
		return rt.Analyze.Of(scan), rt.Analyze.Of(sort), rt.Analyze.Of(group)
	}
	scanned, sorted, grouped := figures(1 << 30)
	if scanned.Reads < 8 || scanned.Memory != 0 || sorted.Reads != 0 || sorted.Spilled != 0 || sorted.Memory < 200<<10 || grouped.Memory <= 0 || grouped.Memory > 64<<10 {
		t.Errorf("in memory: %+v, %+v, %+v", scanned, sorted, grouped)
	}
	inMemory := sorted.Memory
	scanned, sorted, grouped = figures(400 << 10)
	if scanned.Spilled != 0 || sorted.Spilled < 200<<10 || sorted.Memory >= inMemory || grouped.Spilled != 0 {
		t.Errorf("spilled: %+v, %+v, %+v", scanned, sorted, grouped)
	}
	rt.Analyze = NewCounters()
	remove := &Delete{Table: sb, KeyCol: 4, Input: k.lockByPK(sb, lit(5))}
	k.exec(rt, remove)
	if c := rt.Analyze.Of(remove); c.Rows != 1 || c.Loops != 1 || c.Time < rt.Analyze.Of(remove.Input).Time {
		t.Errorf("a write: %+v", c)
	}
	if rt.running != nil {
		t.Error("a node still runs")
	}
}
