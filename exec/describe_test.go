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
	root := &Update{Table: sb, KeyCol: 4, Set: []Assignment{{1, k.call("+", col(sb, 1), lit(1))}},
		Input: &LockRows{Table: sb, Mode: LockExclusive, Where: k.call("=", col(sb, 1), param(0)), Cols: append(plainCols(sb), RowKey),
			Input: &Scan{Table: sb, Index: sb.Index("k_1"), Cols: []int{RowKey}, Ranges: []Range{eq(param(0)), {Low: Bound{lit(1), false}, High: Bound{lit(5), true}}}}}}
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
