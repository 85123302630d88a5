package bench

import (
	"fmt"
	"strings"
)

// Miss is a demand of the plan that the session did not meet.
type Miss struct {
	What  string // step or limit
	Found string
	Want  string
}

func (m Miss) String() string { return m.What + ": " + m.Found + ", want " + m.Want }

// Misses lists every demand that was not met. A step that has a floor and no ratio is one: what could not be measured was not shown.
func (r *Result) Misses() []Miss {
	var misses []Miss
	miss := func(what, want, format string, args ...any) {
		misses = append(misses, Miss{What: what, Found: fmt.Sprintf(format, args...), Want: want})
	}
	if len(r.Targets) == 0 {
		return nil
	}
	rows := r.Summarise()
	for i := range rows {
		row := &rows[i]
		what := row.Step.String()
		for _, t := range row.Targets {
			if len(t.Failures) > 0 {
				miss(what, "no failures", "%s failed %d times: %s", t.Target, len(t.Failures), t.Failures[0])
			}
		}
		if r.Base != "" {
			r.ratioMisses(row, what, miss)
		}
		r.startMisses(row, what, miss)
	}
	r.deathMisses(miss)
	r.fallMisses(rows, miss)
	r.diskMisses(miss)
	return misses
}

// deathMisses lists what befell the subject or the base outside of runs: a server that had to be revived met no demand.
func (r *Result) deathMisses(miss missFunc) {
	for i, t := range r.Targets {
		if i > 0 && t.Name != r.Base {
			continue
		}
		for _, failure := range t.Failures {
			miss(t.Name, "no failures", "%s", failure)
		}
	}
}

type missFunc func(what, want, format string, args ...any)

func (r *Result) ratioMisses(row *StepSummary, what string, miss missFunc) {
	w := row.Step.Workload
	ratios := row.Ratios[r.Base]
	if floor := w.floorAt(row.Step.Threads); floor > 0 {
		switch {
		case ratios.Rate.Count == 0:
			miss(what, fmt.Sprintf("at least %.2f", floor), "no ratio to %s was measured", r.Base)
		case ratios.Rate.Median < floor:
			miss(what, fmt.Sprintf("at least %.2f", floor), "ratio to %s %.2f (%.2f to %.2f)", r.Base, ratios.Rate.Median, ratios.Rate.Min, ratios.Rate.Max)
		}
	}
	if w.Kind == KindLoad || w.Kind == KindBulk || w.Kind == KindStart {
		return // no latency, and a row is no query
	}
	if limit := r.Plan.Limits.P95RatioMax; limit > 0 && ratios.P95.Median > limit {
		miss(what, fmt.Sprintf("at most %.2f", limit), "p95 ratio to %s %.2f (%.2f to %.2f)", r.Base, ratios.P95.Median, ratios.P95.Min, ratios.P95.Max)
	}
	if limit := r.Plan.Limits.CPURatioMax; limit > 0 && ratios.CPU.Median > limit {
		miss(what, fmt.Sprintf("at most %.2f", limit), "server CPU per query over %s's %.2f", r.Base, ratios.CPU.Median)
	}
}

func (r *Result) startMisses(row *StepSummary, what string, miss missFunc) {
	subject := row.Targets[0]
	if row.Step.Workload.Kind != KindStart || subject.Target != r.Targets[0].Name || subject.Rate.Count == 0 {
		return
	}
	if limit := r.Plan.Limits.StartSecondsMax; limit > 0 && subject.StartSeconds > limit {
		miss(what, fmt.Sprintf("at most %.2f s", limit), "start on an empty directory %.2f s", subject.StartSeconds)
	}
	if limit := r.Plan.Limits.IdleBytesMax; limit > 0 && subject.IdleBytes > limit {
		miss(what, "at most "+bytesText(limit), "idle memory %s", bytesText(subject.IdleBytes))
	}
}

// fallMisses compares the subject's rate at two thread counts of the same workload and mode.
func (r *Result) fallMisses(rows []StepSummary, miss missFunc) {
	limits := r.Plan.Limits
	if limits.FallMax == 0 {
		return
	}
	rate := map[string]float64{}
	key := func(s Step, threads int) string { return fmt.Sprint(s.Workload.Name, s.PSMode, threads) }
	for _, row := range rows {
		if row.Targets[0].Target == r.Targets[0].Name {
			rate[key(row.Step, row.Step.Threads)] = row.Targets[0].Rate.Median
		}
	}
	for _, row := range rows {
		from, to := rate[key(row.Step, limits.FallFrom)], rate[key(row.Step, limits.FallTo)]
		if row.Step.Threads == limits.FallTo && from > 0 && to < from*(1-limits.FallMax) {
			miss(row.Step.String(), fmt.Sprintf("at most %.0f %%", limits.FallMax*100), "from %d to %d threads it falls by %.0f %%", limits.FallFrom, limits.FallTo, (1-to/from)*100)
		}
	}
}

func (r *Result) diskMisses(miss missFunc) {
	limit := r.Plan.Limits.DiskRatioMax
	subject, base := r.Targets[0], r.target(r.Base)
	if limit == 0 || base == nil || subject.DataRows == 0 || base.DataRows == 0 || base.DataBytes == 0 {
		return
	}
	a := float64(subject.DataBytes) / float64(subject.DataRows)
	b := float64(base.DataBytes) / float64(base.DataRows)
	if a/b > limit {
		miss("disk bytes per row after loading", fmt.Sprintf("at most %.2f", limit), "%.0f against %s's %.0f, ratio %.2f", a, r.Base, b, a/b)
	}
}

func (r *Result) target(name string) *TargetInfo {
	for i := range r.Targets {
		if r.Targets[i].Name == name {
			return &r.Targets[i]
		}
	}
	return nil
}

// verdict says how a step did against its floor.
func (r *Result) verdict(row *StepSummary) string {
	w := row.Step.Workload
	floor := w.floorAt(row.Step.Threads)
	if floor == 0 || r.Base == "" {
		return ""
	}
	ratio := row.Ratios[r.Base].Rate
	parts := []string{fmt.Sprintf("≥ %.2f", floor)}
	switch {
	case len(row.targetStep(r.Targets[0].Name).Failures)+len(row.targetStep(r.Base).Failures) > 0:
		parts = append(parts, "**missed: rounds failed**")
	case ratio.Count == 0 || ratio.Median < floor:
		parts = append(parts, "**missed**")
	case w.Floor.Aim > 0 && ratio.Median >= w.Floor.Aim:
		parts = append(parts, "aim reached")
	default:
		parts = append(parts, "held")
	}
	return strings.Join(parts, " ")
}

// bytesText prints a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
}
