package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// withTwin adds runs of a twin, whose rates are those of the subject times factors, and makes a second measurement of it all if again is given:
// the subject's rates then.
func withTwin(r *Result, factors []float64, again []float64) *Result {
	r.Targets = append(r.Targets, TargetInfo{Name: "pando-again", Kind: KindPando, Twin: true})
	for _, run := range slices.Clone(r.Runs) {
		if run.Target == "pando" {
			run.Target = "pando-again"
			run.Rate *= factors[run.Round-1]
			r.Runs = append(r.Runs, run)
		}
	}
	if again == nil {
		return r
	}
	for _, run := range slices.Clone(r.Runs) {
		run.Again = true
		if run.Target != "mariadb" {
			run.Rate *= again[run.Round-1] / r.roundsOf("pando", Step{&r.Plan.Workloads[0], "auto", 16}, false)[run.Round].Rate
		}
		r.Runs = append(r.Runs, run)
	}
	return r
}

// TestJudgement: a miss counts beyond what equal servers differ by, and when it shows twice.
func TestJudgement(t *testing.T) {
	base := []float64{1000, 1000, 1000}
	equal := []float64{1, 1, 1}
	for name, c := range map[string]struct {
		rates, twin, again []float64
		want               string // the verdict on the rate, of which 1.4 is demanded
	}{
		"enough":                     {[]float64{1500, 1500, 1500}, equal, nil, "held"},
		"little, once":               {[]float64{1300, 1300, 1300}, equal, nil, "**missed**, measured once"},
		"little, twice":              {[]float64{1300, 1300, 1300}, equal, []float64{1300, 1200, 1300}, "**missed twice**"},
		"little, then enough":        {[]float64{1300, 1300, 1300}, equal, []float64{1400, 1500, 1500}, "held: missed once"},
		"equals differ as much":      {[]float64{1300, 1300, 1300}, []float64{0.9, 0.9, 0.9}, nil, "held within the spread"},
		"equals differ less":         {[]float64{1300, 1300, 1300}, []float64{0.95, 0.95, 0.95}, nil, "**missed**, measured once"},
		"equals differ by rounds":    {[]float64{1300, 1300, 1300}, []float64{0.9, 1, 1.1}, nil, "held within the spread"},
		"one round is an outlier":    {[]float64{1500, 1500, 300}, equal, nil, "held"},
		"a round failed":             {[]float64{1500, 0, 1500}, equal, nil, "held"},
		"nothing has been measured":  {[]float64{0, 0, 0}, equal, nil, "**not measured**"},
		"equal rounds have no error": {[]float64{1400, 1400, 1400}, equal, nil, "held"},
	} {
		r := withTwin(session2(c.rates, base), c.twin, c.again)
		j := r.judge(&r.Plan.Workloads[0])
		if len(j) != 2 || j[0].name != "QPS" || j[0].verdict() != c.want {
			t.Errorf("%s: %+v: %s, want %s", name, j[0], j[0].verdict(), c.want)
			continue
		}
		listed := strings.Contains(fmt.Sprint(r.Misses()), "QPS")
		if listed != (j[0].missed() || j[0].unknown()) {
			t.Errorf("%s: listed among the misses: %v", name, listed)
		}
		if text := markdown(r.sections()); !strings.Contains(text, "| "+c.want+" |") {
			t.Errorf("%s: the report lacks the verdict\n%s", name, text)
		}
	}
}

// TestGeometric: the mean is one over all clients and modes, in which twice and half even out, and one client can be apart from the rest.
func TestGeometric(t *testing.T) {
	r := session2([]float64{2000, 2000}, []float64{1000, 1000})
	w := &r.Plan.Workloads[0]
	w.Threads = []int{1, 16}
	for _, run := range slices.Clone(r.Runs) {
		run.Threads = 1
		if run.Target == "pando" {
			run.Rate /= 4
		}
		r.Runs = append(r.Runs, run)
	}
	if g := r.geometric(w.Steps(), "mariadb", rateOf, false); math.Abs(g.mean-1) > 1e-9 || g.missing != 0 || len(g.rounds) != 2 {
		t.Errorf("%+v", g)
	}
	w.Demands = Demands{RateMin: 1.5, OneClientRateMin: 1}
	var verdicts []string
	for _, j := range r.judge(w) {
		verdicts = append(verdicts, fmt.Sprintf("%s %.2f %s", j.what(), j.first.mean, j.verdict()))
	}
	want := []string{"point_select: QPS with clients 1 0.50 **missed**, measured once", "point_select: QPS with clients more than 1 2.00 held"}
	if !slices.Equal(verdicts, want) {
		t.Errorf("%q", verdicts)
	}
}

// TestRepeat: what missed a demand is measured once more, and nothing else is.
func TestRepeat(t *testing.T) {
	t.Parallel() // it waits more than it works
	for _, c := range []struct {
		rate  float64 // demanded of two equal responders
		once  bool
		again int
	}{{0.0001, false, 0}, {1000, false, 2}, {1000, true, 0}} {
		plan := tiny(t)
		plan.Workloads = plan.Workloads[:1]
		w := &plan.Workloads[0]
		w.Threads, w.PSModes, w.Rounds, w.Demands = []int{2}, []string{"auto"}, 1, Demands{RateMin: c.rate}
		r, err := Measure(context.Background(), Options{Plan: plan, Targets: []*Target{trivialTarget(t, "a"), trivialTarget(t, "b")}, Base: "b", TempDir: t.TempDir(), Once: c.once})
		if err != nil {
			t.Fatal(err)
		}
		again := 0
		for _, run := range r.Runs {
			if run.Again {
				again++
			}
		}
		if again != c.again || len(r.Runs) != 2+c.again || (len(r.Misses()) > 0) != (c.rate > 1) {
			t.Errorf("%+v: %d of %d runs are of a second measurement; misses %v", c, again, len(r.Runs), r.Misses())
		}
	}
}
