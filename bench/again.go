package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// againMax is how many steps may be measured again. Where more missed, the shortness of their rounds is not the reason.
const againMax = 4

var errStopped = errors.New("stopped on request")

// again measures what missed a demand in shortened rounds once more, in as many rounds of the plan's own length, and these count: many
// threads of sysbench compile their scripts for as long as a short round lasts. No step is measured a third time; one with a failure, or
// for which a demand could not be measured, stays as it is, and so does one that the session's end cuts. A plan that compares thread
// counts with each other has all its rounds of one length.
func (s *session) again(ctx context.Context) error {
	missed := s.result.missedShort()
	if len(missed) > againMax {
		return nil
	}
	for _, step := range missed {
		if ctx.Err() != nil {
			return errStopped
		}
		for _, t := range s.targets {
			s.chargeTail(t) // it knows runs by their place in the list
		}
		w := step.Workload.full(step)
		s.Progress.more(s.countRunsOf(&w))
		short := s.result.take(step)
		err := s.workload(ctx, &w)
		if err == nil && ctx.Err() != nil {
			err = errStopped
		}
		if err != nil {
			s.result.take(step) // half of a step is none
			s.result.Runs = append(s.result.Runs, short...)
			return err
		}
		s.result.Replaced = append(s.result.Replaced, short...)
		if err := s.save(); err != nil {
			return err
		}
	}
	return nil
}

// take removes the runs of a step from the session, and returns them.
func (r *Result) take(step Step) (runs []Run) {
	r.Runs = slices.DeleteFunc(r.Runs, func(run Run) bool {
		if run.at(step) {
			runs = append(runs, run)
			return true
		}
		return false
	})
	return runs
}

// full is the workload of one step only, in rounds as long as the plan has them.
func (w *Workload) full(step Step) Workload {
	one := *w
	one.leadSeconds = w.lead()
	one.Seconds, one.FullSeconds = w.FullSeconds, 0
	one.Threads, one.PSModes = []int{step.Threads}, []string{step.PSMode}
	return one
}

// missedShort lists the steps that missed a demand in shortened rounds, as again has it.
func (r *Result) missedShort() (steps []Step) {
	if r.Plan.Limits.FallMax > 0 {
		return nil
	}
	rows := r.Summarise()
	for _, row := range r.judged(rows) {
		failed := slices.ContainsFunc(row.Targets, func(t TargetStep) bool { return len(t.Failures) > 0 })
		misses := r.missesOf(row)
		unknown := slices.ContainsFunc(misses, func(m Miss) bool { return m.Unknown })
		if row.Step.Workload.FullSeconds > 0 && len(misses) > 0 && !failed && !unknown {
			steps = append(steps, row.Step)
		}
	}
	return steps
}

// missesOf lists the demands on a step that were not met.
func (r *Result) missesOf(row *StepSummary) []Miss {
	var misses missList
	r.stepMisses(row, &misses)
	return misses
}

// measuredAgain tells whether rounds of the step have been replaced.
func (r *Result) measuredAgain(step Step) bool {
	return slices.ContainsFunc(r.Replaced, func(run Run) bool { return run.at(step) })
}

const againText = "Rounds were shortened to keep to the time budget. A step that missed a demand in them was measured again, in as many rounds as long as the plan has them, and those count; the last table has both."

// againTables shows both measurements of the steps that were measured again.
func (r *Result) againTables() []table {
	if len(r.Replaced) == 0 {
		return nil
	}
	t := table{head: []string{"Measured again", "Seconds of a round", "Ratio of the rate", "Ratio of p95", "Ratio of CPU per query", "Missed"}}
	short := *r
	short.Runs = r.Replaced
	before, after := short.Summarise(), r.Summarise()
	for i := range before {
		step := before[i].Step
		t.rows = append(t.rows, short.againRow(&before[i], step.Workload.Seconds))
		if at := slices.IndexFunc(after, func(row StepSummary) bool { return row.Step == step }); at >= 0 {
			t.rows = append(t.rows, r.againRow(&after[at], step.Workload.FullSeconds))
		}
	}
	return []table{t}
}

func (r *Result) againRow(row *StepSummary, seconds int) []string {
	var missed []string
	for _, m := range r.missesOf(row) {
		missed = append(missed, m.Found+", want "+m.Want)
	}
	ratios := row.Ratios[r.Base]
	return []string{row.Step.String(), fmt.Sprint(seconds), spreadText(ratios.Rate), spreadText(ratios.P95), spreadText(ratios.CPU), strings.Join(missed, "; ")}
}
