package bench

import (
	"fmt"
	"slices"
)

// Miss is a demand of the plan that the session did not meet.
type Miss struct {
	What    string // step or limit
	Found   string
	Want    string
	Unknown bool // nothing was measured that the demand could be held against
}

func (m Miss) String() string { return m.What + ": " + m.Found + ", want " + m.Want }

// Misses lists every demand that was not met. One that was not measured is among them: what could not be measured was not shown.
func (r *Result) Misses() []Miss {
	var misses missList
	if len(r.Targets) == 0 {
		return nil
	}
	if r.Incomplete != "" {
		misses.add("the plan", "a finished session", "it ended early: %s", r.Incomplete)
	}
	rows := r.Summarise()
	for i := range rows {
		row := &rows[i]
		what := row.Step.String()
		for _, t := range row.Targets {
			if len(t.Failures) > 0 {
				misses.add(what, "no failures", "%s failed %d times: %s", t.Target, len(t.Failures), t.Failures[0])
			}
		}
	}
	for _, row := range r.judged(rows) {
		r.stepMisses(row, &misses)
	}
	r.demandMisses(&misses)
	r.answerMisses(&misses)
	r.deathMisses(&misses)
	r.diskMisses(&misses)
	return misses
}

// stepMisses lists the limits that a step did not keep.
func (r *Result) stepMisses(row *StepSummary, misses *missList) {
	what := row.Step.String()
	r.startMisses(row, what, misses)
	r.enduranceMisses(row, what, misses)
}

// judged lists the rows of all steps of the plan, measured or not: a demand on a step without runs was not met. A session that ended early
// says so once; its steps without runs are left out.
func (r *Result) judged(rows []StepSummary) []*StepSummary {
	var all []*StepSummary
	for i := range r.Plan.Workloads {
		for _, step := range r.Plan.Workloads[i].Steps() {
			at := slices.IndexFunc(rows, func(row StepSummary) bool { return row.Step == step })
			switch {
			case at >= 0:
				all = append(all, &rows[at])
			case r.Incomplete == "":
				all = append(all, &StepSummary{Step: step})
			}
		}
	}
	return all
}

// baseName names the base in a sentence.
func (r *Result) baseName() string {
	if r.Base == "" {
		return "a base (the session has none)"
	}
	return r.Base
}

// deathMisses lists what befell the subject or the base outside of runs: a server that had to be revived met no demand.
func (r *Result) deathMisses(misses *missList) {
	for i, t := range r.Targets {
		if i > 0 && t.Name != r.Base {
			continue
		}
		for _, failure := range t.Failures {
			misses.add(t.Name, "no failures", "%s", failure)
		}
	}
}

// missList gathers what was not met.
type missList []Miss

// add notes a demand that was measured and not met, unknown one that could not be measured.
func (l *missList) add(what, want, format string, args ...any) {
	*l = append(*l, Miss{What: what, Found: fmt.Sprintf(format, args...), Want: want})
}

func (l *missList) unknown(what, want, format string, args ...any) {
	*l = append(*l, Miss{What: what, Found: fmt.Sprintf(format, args...), Want: want, Unknown: true})
}

// atMost judges a ratio that has a limit.
func atMost(what, name, base string, limit float64, ratio Spread, misses *missList) {
	want := fmt.Sprintf("at most %.2f", limit)
	switch {
	case ratio.Count == 0:
		misses.unknown(what, want, "%s to %s was not measured", name, base)
	case ratio.Median > limit:
		misses.add(what, want, "%s to %s %.2f (%.2f to %.2f)", name, base, ratio.Median, ratio.Min, ratio.Max)
	}
}

// subjectMost judges a figure of the subject that has a limit: name says what it is, and text prints it. Zero and less are not measured.
func (r *Result) subjectMost(what, name string, found, limit float64, text func(float64) string, misses *missList) {
	want := "at most " + text(limit)
	switch {
	case found <= 0:
		misses.unknown(what, want, "%s of %s was not measured", name, r.Targets[0].Name)
	case found > limit:
		misses.add(what, want, "%s of %s is %s", name, r.Targets[0].Name, text(found))
	}
}

func secondsText(s float64) string   { return fmt.Sprintf("%.2f s", s) }
func millisText(ms float64) string   { return fmt.Sprintf("%.0f ms", ms) }
func shareText(share float64) string { return fmt.Sprintf("%.2f", share) }

func (r *Result) startMisses(row *StepSummary, what string, misses *missList) {
	subject, limits := row.targetStep(r.Targets[0].Name), r.Plan.Limits
	switch row.Step.Workload.Kind {
	case KindStart:
		if limits.StartSecondsMax > 0 {
			r.subjectMost(what, "the start on an empty directory", subject.StartSeconds, limits.StartSecondsMax, secondsText, misses)
		}
		if limits.IdleBytesMax > 0 {
			r.subjectMost(what, "the idle memory", float64(subject.IdleBytes), float64(limits.IdleBytesMax), func(n float64) string { return bytesText(int64(n)) }, misses)
		}
	case KindRestart:
		if limits.RestartSecondsMax > 0 {
			r.subjectMost(what, "the start after a kill", subject.StartSeconds, limits.RestartSecondsMax, secondsText, misses)
		}
	}
}

// enduranceMisses judges what shows in long runs.
func (r *Result) enduranceMisses(row *StepSummary, what string, misses *missList) {
	if !row.Step.Workload.hasModes() {
		return
	}
	subject, limits := row.targetStep(r.Targets[0].Name), r.Plan.Limits
	if limits.WrittenRatioMax > 0 {
		atMost(what, "ratio of bytes written per transaction", r.baseName(), limits.WrittenRatioMax, row.Ratios[r.Base].Written, misses)
	}
	if limits.LongestMillisMax > 0 {
		r.subjectMost(what, "the longest latency", subject.MaxMillis, limits.LongestMillisMax, millisText, misses)
	}
	if limits.MemoryOfCacheMax > 0 {
		r.subjectMost(what, "the memory over the cache", float64(subject.RSS)/float64(r.Plan.CacheBytes), limits.MemoryOfCacheMax, shareText, misses)
	}
}

// diskMisses judges what a row takes, in plans that keep tables.
func (r *Result) diskMisses(misses *missList) {
	limit := r.Plan.Limits.DiskRatioMax
	if limit == 0 || !slices.ContainsFunc(r.Plan.Workloads, func(w Workload) bool { return w.hasModes() }) {
		return
	}
	const what = "disk bytes per row after loading"
	want := fmt.Sprintf("at most %.2f", limit)
	subject, base := r.Targets[0], r.target(r.Base)
	if base == nil || subject.DataRows == 0 || subject.DataBytes <= 0 || base.DataRows == 0 || base.DataBytes <= 0 {
		if r.Incomplete == "" {
			misses.unknown(what, want, "the ratio to %s was not measured", r.baseName())
		}
		return
	}
	a := float64(subject.DataBytes) / float64(subject.DataRows)
	b := float64(base.DataBytes) / float64(base.DataRows)
	if a/b > limit {
		misses.add(what, want, "%.0f against %s's %.0f, ratio %.2f", a, r.Base, b, a/b)
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
