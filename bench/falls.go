package bench

import (
	"fmt"
	"slices"
)

// fallSteps lists the steps with the higher thread count of the plan's limit on the fall of the rate, and those with the lower one.
func (r *Result) fallSteps() (high, low []Step) {
	if r.Plan.Limits.FallMax == 0 {
		return nil, nil
	}
	for i := range r.Plan.Workloads {
		w := &r.Plan.Workloads[i]
		if !slices.Contains(w.Threads, r.Plan.Limits.FallFrom) {
			continue
		}
		for _, step := range w.Steps() {
			if step.Threads == r.Plan.Limits.FallTo {
				high = append(high, step)
				step.Threads = r.Plan.Limits.FallFrom
				low = append(low, step)
			}
		}
	}
	return high, low
}

// kept is the share of a target's rate in one step that it has in another, round by round: a machine changes from round to round.
func (r *Result) kept(target string, high, low Step) Spread {
	return ratiosOf(r.roundsOf(target, high), r.roundsOf(target, low)).Rate
}

// fallMisses judges what the subject keeps of its rate from one thread count to another. In a session that ended early, steps without
// runs are left out.
func (r *Result) fallMisses(misses *missList) {
	limits := r.Plan.Limits
	want := fmt.Sprintf("at most %.0f %%", limits.FallMax*100)
	high, low := r.fallSteps()
	for i, step := range high {
		kept := r.kept(r.Targets[0].Name, step, low[i])
		switch {
		case kept.Count == 0 && r.Incomplete != "" && len(r.roundsOf(r.Targets[0].Name, step)) == 0:
		case kept.Count == 0:
			misses.unknown(step.String(), want, "the fall from %d to %d threads was not measured", limits.FallFrom, limits.FallTo)
		case kept.Median < 1-limits.FallMax:
			misses.add(step.String(), want, "from %d to %d threads it falls by %.0f %%", limits.FallFrom, limits.FallTo, (1-kept.Median)*100)
		}
	}
}

// fallTables shows what each target keeps of its rate, in plans that limit the fall.
func (r *Result) fallTables() []table {
	high, low := r.fallSteps()
	if len(high) == 0 {
		return nil
	}
	t := table{head: []string{fmt.Sprintf("Rate with %d threads over that with %d", r.Plan.Limits.FallTo, r.Plan.Limits.FallFrom)}}
	for _, target := range r.Targets {
		t.head = append(t.head, target.Name)
	}
	for i, step := range high {
		row := []string{step.Workload.Name + " ps=" + step.PSMode}
		for _, target := range r.Targets {
			row = append(row, spreadText(r.kept(target.Name, step, low[i])))
		}
		t.rows = append(t.rows, row)
	}
	return []table{t}
}
