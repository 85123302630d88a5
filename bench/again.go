package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// againMax is how many steps may be measured again. Where more missed, the shortness of their rounds is not the reason.
const againMax = 4

// Again is a step that missed a demand in rounds that Fit had shortened, and was then measured in rounds as long as the plan has them.
// Those are among the session's runs; these are the others.
type Again struct {
	Workload string `json:"workload"`
	PSMode   string `json:"ps_mode"`
	Threads  int    `json:"threads"`
	Runs     []Run  `json:"runs"`
}

// again measures what missed a demand in shortened rounds once more, in as many rounds of the plan's own length, and these count: many
// threads of sysbench compile their scripts for as long as a short round lasts. No step is measured a third time, and one with a failure stays as it is.
func (s *session) again(ctx context.Context) error {
	missed := s.result.missedShort()
	if len(missed) > againMax {
		return nil
	}
	for _, a := range missed {
		w := a.step.Workload.full(a.step)
		s.Progress.more(s.countRunsOf(&w))
		s.result.Runs = slices.DeleteFunc(s.result.Runs, func(run Run) bool {
			if !run.at(a.step) {
				return false
			}
			a.Runs = append(a.Runs, run)
			return true
		})
		s.result.Again = append(s.result.Again, a.Again)
		if err := s.workload(ctx, &w); err != nil {
			return err
		}
		if err := s.save(); err != nil {
			return err
		}
	}
	return nil
}

// full is the workload of one step only, in rounds as long as the plan has them.
func (w *Workload) full(step Step) Workload {
	one := *w
	one.Seconds, one.FullSeconds = w.FullSeconds, 0
	one.Threads, one.PSModes = []int{step.Threads}, []string{step.PSMode}
	return one
}

// missedStep is what again is to do.
type missedStep struct {
	Again
	step Step
}

// missedShort lists the steps that missed a demand in shortened rounds without a failure.
func (r *Result) missedShort() []missedStep {
	var steps []missedStep
	rows := r.Summarise()
	for _, row := range r.judged(rows) {
		a := missedStep{step: row.Step, Again: Again{Workload: row.Step.Workload.Name, PSMode: row.Step.PSMode, Threads: row.Step.Threads}}
		failed := slices.ContainsFunc(row.Targets, func(t TargetStep) bool { return len(t.Failures) > 0 })
		if row.Step.Workload.FullSeconds > 0 && !failed && len(r.missesOf(row)) > 0 {
			steps = append(steps, a)
		}
	}
	return steps
}

// missesOf lists the demands on a step that were not met.
func (r *Result) missesOf(row *StepSummary) (misses []string) {
	r.stepMisses(row, func(_, want, format string, args ...any) {
		misses = append(misses, fmt.Sprintf(format, args...)+", want "+want)
	})
	return misses
}

const againText = "Rounds were shortened to keep to the time budget. A step that missed a demand in them was measured again, in as many rounds as long as the plan has them, and those count; the last table has both."

// againTables shows both measurements of the steps that were measured again.
func (r *Result) againTables() []table {
	if len(r.Again) == 0 {
		return nil
	}
	t := table{head: []string{"Measured again", "Seconds of a round", "Ratio of the rate", "Ratio of p95", "Ratio of CPU per query", "Missed"}}
	for _, a := range r.Again {
		short := *r
		short.Runs = a.Runs
		for _, of := range []*Result{&short, r} {
			for _, row := range of.Summarise() {
				if w := row.Step.Workload; w.Name == a.Workload && row.Step.PSMode == a.PSMode && row.Step.Threads == a.Threads {
					seconds := w.FullSeconds
					if of == &short {
						seconds = w.Seconds
					}
					ratios := row.Ratios[r.Base]
					t.rows = append(t.rows, []string{row.Step.String(), fmt.Sprint(seconds), spreadText(ratios.Rate), spreadText(ratios.P95), spreadText(ratios.CPU), strings.Join(of.missesOf(&row), "; ")})
				}
			}
		}
	}
	return []table{t}
}
