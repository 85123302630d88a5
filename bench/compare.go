package bench

import "fmt"

// noiseMin is the smallest change that counts, however still the machine was.
const noiseMin = 0.05

// Change is one step in two sessions.
type Change struct {
	Step       string
	What       string // ratio to the base, or the subject's rate
	Old, New   Spread
	Tolerance  float64
	Regression bool
}

func (c Change) String() string {
	mark := ""
	if c.Regression {
		mark = "  REGRESSION"
	}
	return fmt.Sprintf("%-44s %-18s %10.2f → %10.2f  %+6.1f %%  (noise %.0f %%)%s",
		c.Step, c.What, c.Old.Median, c.New.Median, (c.New.Median/c.Old.Median-1)*100, c.Tolerance*100, mark)
}

// Compare lists the steps that two sessions share. Where both measured the same base, its ratios are compared, since they hardly depend
// on the machine's mood; else the subject's own rates are. A step regressed when it lost more than the noise of either session; a step
// that worked and now fails regressed too.
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
			continue
		}
		change := Change{Step: old.Step.String(), What: "rate of " + before.Targets[0].Name,
			Old: subjectRate(before, &old), New: subjectRate(after, row)}
		if before.Base != "" && before.Base == after.Base && old.Ratios[before.Base].Rate.Count > 0 {
			// A step that lost its ratio keeps the word "ratio", so that the failure is not hidden behind the rate.
			change.What = "ratio to " + before.Base
			change.Old, change.New = old.Ratios[before.Base].Rate, row.Ratios[after.Base].Rate
		}
		if change.Old.Count == 0 {
			continue // it did not work before either
		}
		change.Tolerance = max(noiseMin, change.Old.Noise(), change.New.Noise())
		change.Regression = change.New.Count == 0 || change.New.Median < change.Old.Median*(1-change.Tolerance)
		changes = append(changes, change)
	}
	return changes
}

func subjectRate(r *Result, row *StepSummary) Spread {
	for _, t := range row.Targets {
		if t.Target == r.Targets[0].Name {
			return t.Rate
		}
	}
	return Spread{}
}
