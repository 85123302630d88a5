package plan

import (
	"math"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// intervals is statistics that know intervals of texts alone, and note what they were asked.
type intervals struct{ asked []string }

func (s *intervals) Rows(*catalog.Table) float64                            { return 1000 }
func (s *intervals) Distinct(*catalog.Table, *catalog.Index, int) float64   { return 0 }
func (s *intervals) EqualFraction(*catalog.Table, int, types.Value) float64 { return -1 }
func (s *intervals) RangeFraction(_ *catalog.Table, _ int, low, high types.Value, _, _ bool) float64 {
	s.asked = append(s.asked, string(low.B)+" "+string(high.B))
	return 0.02
}

// TestLikeFraction: a pattern that begins with a text is estimated by the interval of what begins so, and all others as a ninth of the rows.
func TestLikeFraction(t *testing.T) {
	table := catalog.NewTable(1, 1, "d", "t")
	text := types.Type{ID: types.TypeVarchar, Length: 20, Coll: types.DefaultCollation}
	table.AddColumn(&catalog.Column{Name: "s", Type: text}, -1)
	context := &expr.BuildContext{Ctx: &types.Context{SQLMode: types.ModeDefault}}
	for _, c := range []struct {
		pattern string
		want    float64
		asked   string
	}{
		{"forest%", 0.02, "forest forest\U0010FFFF"}, {"for_st%", 0.02, "for for\U0010FFFF"}, {`a\%b`, 0.02, "a%b a%b\U0010FFFF"}, {"green", 0.02, "green green\U0010FFFF"},
		{"%green%", 1.0 / 9, ""}, {"_a", 1.0 / 9, ""}, {"", 1.0 / 9, ""},
	} {
		stats := &intervals{}
		b := &builder{env: &Env{Build: context, Stats: stats}}
		like, err := expr.Call(context, "like", expr.Column(0, text, "s"), expr.Literal(types.Text(c.pattern)))
		if err != nil {
			t.Fatal(err)
		}
		got := b.selectivity(table, like, &sarg{}, false, 1000)
		asked := ""
		if len(stats.asked) > 0 {
			asked = stats.asked[0]
		}
		if math.Abs(got-c.want) > 1e-9 || asked != c.asked {
			t.Errorf("LIKE '%s': %f of %q, want %f of %q", c.pattern, got, asked, c.want, c.asked)
		}
	}
}
