package bench

import (
	"fmt"
	"reflect"
	"slices"
)

// noiseMin is the smallest change that counts, however still the machine was; noiseMax is the largest that noise excuses, however wild
// it was.
const (
	noiseMin = 0.05
	noiseMax = 0.25
)

// Change is one step in two sessions.
type Change struct {
	Step          string
	What          string // ratio to the base, or the subject's rate
	Old, New      Spread
	Tolerance     float64
	Regression    bool
	NotComparable bool   // the peer failed, so that there is no ratio
	Reason        string // why it is a regression or cannot be compared, where the figures do not say
}

func (c Change) String() string {
	mark := ""
	switch {
	case c.Regression:
		mark = "  REGRESSION"
	case c.NotComparable:
		mark = "  not comparable"
	}
	if c.Reason != "" {
		mark += ": " + c.Reason
	}
	if c.Old.Count == 0 || c.New.Count == 0 {
		return fmt.Sprintf("%-44s %-18s %10s → %10s%s", c.Step, c.What, numberText(c.Old.Median, 2), numberText(c.New.Median, 2), mark)
	}
	return fmt.Sprintf("%-44s %-18s %10.2f → %10.2f  %+6.1f %%  (noise %.0f %%)%s",
		c.Step, c.What, c.Old.Median, c.New.Median, (c.New.Median/c.Old.Median-1)*100, c.Tolerance*100, mark)
}

// Compare lists the steps of the earlier session that worked. Where both measured the same base, its ratios are compared, since they
// hardly depend on the machine's mood; else the subject's own rates are. A step regressed when it lost more than the noise of either
// session, when a larger part of its rounds failed, or when the later session has lost it. A step whose base failed is not comparable.
func Compare(before, after *Result) []Change {
	newRows := map[string]*StepSummary{}
	rows := after.Summarise()
	for i := range rows {
		newRows[rows[i].Step.String()] = &rows[i]
	}
	var changes []Change
	for _, old := range before.Summarise() {
		row := newRows[old.Step.String()]
		if row == nil {
			row = &StepSummary{Step: old.Step}
		}
		change := Change{Step: old.Step.String(), What: "rate of " + before.Targets[0].Name,
			Old: subjectStep(before, &old).Rate, New: subjectStep(after, row).Rate}
		if before.Base != "" && before.Base == after.Base && old.Ratios[before.Base].Rate.Count > 0 {
			// A step that lost its ratio keeps the word "ratio", so that the failure is not hidden behind the rate.
			change.What = "ratio to " + before.Base
			change.Old, change.New = old.Ratios[before.Base].Rate, row.Ratios[after.Base].Rate
		}
		if change.Old.Count == 0 {
			continue // it did not work before either
		}
		change.judge(subjectStep(before, &old), subjectStep(after, row))
		changes = append(changes, change)
	}
	return changes
}

// judge decides about a step from its figures and from what the subject did in either session.
func (c *Change) judge(before, after TargetStep) {
	c.Tolerance = min(noiseMax, max(noiseMin, c.Old.Noise(c.Old.Median), c.New.Noise(c.Old.Median)))
	beforeRounds, afterRounds := before.Rate.Count+len(before.Failures), after.Rate.Count+len(after.Failures)
	switch {
	case afterRounds == 0:
		c.Regression, c.Reason = true, "the new session has no run of it"
	case len(after.Failures)*beforeRounds > len(before.Failures)*afterRounds:
		c.Regression, c.Reason = true, fmt.Sprintf("%d of %d rounds failed: %s", len(after.Failures), afterRounds, after.Failures[0])
	case after.Rate.Count == 0:
		c.Regression, c.Reason = true, "it does not work"
	case c.New.Count == 0:
		c.NotComparable, c.Reason = true, "the base failed in each round"
	default:
		c.Regression = c.New.Median < c.Old.Median*(1-c.Tolerance)
	}
}

func subjectStep(r *Result, row *StepSummary) TargetStep { return row.targetStep(r.Targets[0].Name) }

// Differences says what else than the subject's code differs between two sessions. With one of apart, their figures say nothing about
// each other; those of aside may explain a change.
func Differences(before, after *Result) (apart, aside []string) {
	differ := func(list *[]string, what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			*list = append(*list, fmt.Sprintf("%s: %v, then %v", what, a, b))
		}
	}
	a, b := before.Environment, after.Environment
	differ(&apart, "subject", before.Targets[0].Name+" ("+before.Targets[0].Kind+")", after.Targets[0].Name+" ("+after.Targets[0].Kind+")")
	differ(&apart, "processors", fmt.Sprintf("%d x %s", a.CPUs, a.CPU), fmt.Sprintf("%d x %s", b.CPUs, b.CPU))
	differ(&aside, "memory", bytesText(a.Memory), bytesText(b.Memory))
	differ(&apart, "cache", before.Plan.CacheBytes, after.Plan.CacheBytes)
	differ(&apart, "clients", before.Plan.Clients, after.Plan.Clients)
	differ(&apart, "processors of the servers", before.Plan.ServerCPUs, after.Plan.ServerCPUs)
	differ(&apart, "sysbench options", before.Plan.Options, after.Plan.Options)
	for i := range before.Plan.Workloads {
		old := &before.Plan.Workloads[i]
		at := slices.IndexFunc(after.Plan.Workloads, func(w Workload) bool { return w.Name == old.Name })
		if at < 0 {
			continue // each of its steps is a change of its own
		}
		w := &after.Plan.Workloads[at]
		differ(&apart, old.Name+": kind and script", old.Kind+" "+old.Script, w.Kind+" "+w.Script)
		differ(&apart, old.Name+": tables x rows", fmt.Sprintf("%d x %d", old.Tables, old.Rows), fmt.Sprintf("%d x %d", w.Tables, w.Rows))
		differ(&apart, old.Name+": rand-type", old.RandType, w.RandType)
		differ(&apart, old.Name+": options", old.Options, w.Options)
		differ(&aside, old.Name+": seconds", old.Seconds, w.Seconds)
		differ(&aside, old.Name+": rounds", old.Rounds, w.Rounds)
		differ(&aside, old.Name+": reload", old.Reload, w.Reload)
	}
	differ(&aside, "kernel", a.Kernel, b.Kernel)
	differ(&aside, "file system", a.Files, b.Files)
	differ(&aside, "sysbench", a.Sysbench, b.Sysbench)
	differ(&aside, "base", baseVersion(before), baseVersion(after))
	differ(&aside, "ended early", before.Incomplete, after.Incomplete)
	return apart, aside
}

func baseVersion(r *Result) string {
	if base := r.target(r.Base); base != nil {
		return base.Name + " " + base.Version
	}
	return "none"
}
