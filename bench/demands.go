package bench

import (
	"fmt"
	"math"
	"slices"
)

// demand is one limit on the geometric mean of a workload's ratios.
type demand struct {
	name    string // of the figure
	figure  figure
	limit   float64
	atLeast bool // otherwise at most
	steps   []Step
	clients string // which steps, where not all
}

// demands lists what a workload demands.
func (w *Workload) demands() []demand {
	d, steps := w.Demands, w.Steps()
	rates, clients := steps, ""
	var all []demand
	if d.OneClientRateMin > 0 {
		alone := func(s Step) bool { return s.Threads == 1 }
		one := slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return !alone(s) })
		if len(one) > 0 {
			all = append(all, demand{w.rateUnit(), rateOf, d.OneClientRateMin, true, one, "1"})
			rates, clients = slices.DeleteFunc(slices.Clone(steps), alone), "more than 1"
		}
	}
	all = append(all, demand{w.rateUnit(), rateOf, d.RateMin, true, rates, clients}, demand{"mean", meanOf, d.MeanMax, false, steps, ""},
		demand{"p99", p99Of, d.P99Max, false, steps, ""}, demand{"CPU per query", cpuOf, d.CPUMax, false, steps, ""})
	return slices.DeleteFunc(all, func(d demand) bool { return d.limit == 0 || len(d.steps) == 0 })
}

func (d *demand) want() string {
	if d.atLeast {
		return fmt.Sprintf("at least %.2f", d.limit)
	}
	return fmt.Sprintf("at most %.2f", d.limit)
}

// geometric is the geometric mean of a figure's ratios over some steps, each the median of its rounds.
type geometric struct {
	mean    float64
	missing int       // steps without a ratio; the mean is then of no use
	rounds  []float64 // the geometric means of those rounds that have all steps
}

// geometric compares the subject with a peer over some steps, in their first measurement or the second.
func (r *Result) geometric(steps []Step, peer string, f figure, again bool) geometric {
	var g geometric
	sum, sums, counts := 0.0, map[int]float64{}, map[int]int{}
	for _, step := range steps {
		ratios := ratioOf(r.roundsOf(r.Targets[0].Name, step, again), r.roundsOf(peer, step, again), f)
		if len(ratios) == 0 {
			g.missing++
			continue
		}
		var values []float64
		for round, ratio := range ratios {
			values = append(values, ratio)
			sums[round] += math.Log(ratio)
			counts[round]++
		}
		sum += math.Log(spreadOf(values).Median)
	}
	if n := len(steps) - g.missing; n > 0 {
		g.mean = math.Exp(sum / float64(n))
	}
	for round, n := range counts {
		if n == len(steps) {
			g.rounds = append(g.rounds, math.Exp(sums[round]/float64(n)))
		}
	}
	slices.Sort(g.rounds)
	return g
}

// apart is by how much, as a factor above 1, two equal servers differed: by the distance of their mean from 1, or by twice the standard
// error of their rounds, whichever is larger.
func (g *geometric) apart() float64 {
	if g.mean == 0 {
		return 1
	}
	distance := math.Abs(math.Log(g.mean))
	if n := float64(len(g.rounds)); n > 1 {
		mean, squares := 0.0, 0.0
		for _, v := range g.rounds {
			mean += math.Log(v) / n
		}
		for _, v := range g.rounds {
			squares += (math.Log(v) - mean) * (math.Log(v) - mean)
		}
		distance = max(distance, 2*math.Sqrt(squares/(n-1)/n))
	}
	return math.Exp(distance)
}

// misses says whether a mean is on the wrong side of the limit by more than equals differ.
func (d *demand) misses(g geometric, spread float64) bool {
	const rounding = 1e-9
	if d.atLeast {
		return g.mean*spread < d.limit-rounding
	}
	return g.mean/spread > d.limit+rounding
}

// judgement is what the session found about one demand. A miss counts when it was shown twice, or could not be measured a second time.
type judgement struct {
	demand
	workload             string
	first, second        geometric
	spreadOne, spreadTwo float64
	begun, repeated      bool // the workload has runs, and runs of a second measurement
}

// judge holds a workload against its demands.
func (r *Result) judge(w *Workload) (all []judgement) {
	twin := r.twin()
	measured := func(again bool) bool {
		return slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Workload == w.Name && run.Again == again })
	}
	spread := func(d *demand, again bool) float64 {
		if twin == "" {
			return 1
		}
		g := r.geometric(d.steps, twin, d.figure, again)
		return g.apart()
	}
	for _, d := range w.demands() {
		j := judgement{demand: d, workload: w.Name, begun: measured(false), repeated: measured(true)}
		j.first, j.spreadOne = r.geometric(d.steps, r.Base, d.figure, false), spread(&d, false)
		if j.repeated {
			j.second, j.spreadTwo = r.geometric(d.steps, r.Base, d.figure, true), spread(&d, true)
		}
		all = append(all, j)
	}
	return all
}

// unknown says that the demand could not be held against anything.
func (j *judgement) unknown() bool { return j.first.missing > 0 }

// missedOnce says that the first measurement missed the demand.
func (j *judgement) missedOnce() bool { return !j.unknown() && j.demand.misses(j.first, j.spreadOne) }

// missed says that the demand was not met. A second measurement that lacks steps decides nothing.
func (j *judgement) missed() bool {
	return j.missedOnce() && (!j.repeated || j.second.missing > 0 || j.demand.misses(j.second, j.spreadTwo))
}

// what names the demand in a list.
func (j *judgement) what() string {
	if j.clients == "" {
		return j.workload + ": " + j.name
	}
	return j.workload + ": " + j.name + " with clients " + j.clients
}

// verdict is the last cell of a demand's row.
func (j *judgement) verdict() string {
	switch {
	case j.unknown():
		return "**not measured**"
	case j.missed() && j.repeated:
		return "**missed twice**"
	case j.missed():
		return "**missed**, measured once"
	case j.missedOnce():
		return "held: missed once"
	case j.demand.misses(j.first, 1):
		return "held within the spread"
	}
	return "held"
}

// demandMisses lists the demands that were not met. In a session that ended early, workloads without runs are left out.
func (r *Result) demandMisses(misses *missList) {
	for i := range r.Plan.Workloads {
		for _, j := range r.judge(&r.Plan.Workloads[i]) {
			switch {
			case !j.begun && r.Incomplete != "":
			case j.unknown():
				misses.unknown(j.what(), j.want(), "%d of %d ratios to %s were not measured", j.first.missing, len(j.steps), r.baseName())
			case j.missed() && j.repeated:
				misses.add(j.what(), j.want(), "ratios to %s %.2f and %.2f, where equals differ by %s and %s", r.Base, j.first.mean, j.second.mean, percentText(j.spreadOne), percentText(j.spreadTwo))
			case j.missed():
				misses.add(j.what(), j.want(), "ratio to %s %.2f, where equals differ by %s, measured once", r.Base, j.first.mean, percentText(j.spreadOne))
			}
		}
	}
}

// percentText prints a factor as a distance from 1.
func percentText(factor float64) string { return fmt.Sprintf("%.0f %%", (factor-1)*100) }

// missedOnce lists the workloads that missed a demand in their first measurement.
func (r *Result) missedOnce() (all []*Workload) {
	for i := range r.Plan.Workloads {
		w := &r.Plan.Workloads[i]
		if slices.ContainsFunc(r.judge(w), func(j judgement) bool { return j.missedOnce() }) {
			all = append(all, w)
		}
	}
	return all
}

// twin is the name of the subject's twin, "" if there is none.
func (r *Result) twin() string {
	for _, t := range r.Targets {
		if t.Twin {
			return t.Name
		}
	}
	return ""
}

// demandTables shows each demand with what was found.
func (r *Result) demandTables() []table {
	t := table{head: []string{"Workload", "Ratio of", "Clients", "To " + r.baseName(), "Equals differ by", "Second time", "Equals differ by", "Wanted", "Verdict"}}
	for i := range r.Plan.Workloads {
		for _, j := range r.judge(&r.Plan.Workloads[i]) {
			clients := j.clients
			if clients == "" {
				clients = "all"
			}
			row := []string{j.workload, j.name, clients, numberText(j.first.mean, 2), "–", "–", "–", j.want(), j.verdict()}
			if r.twin() != "" {
				row[4] = percentText(j.spreadOne)
			}
			if j.repeated {
				row[5] = numberText(j.second.mean, 2)
			}
			if j.repeated && r.twin() != "" {
				row[6] = percentText(j.spreadTwo)
			}
			t.rows = append(t.rows, row)
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return []table{t}
}
