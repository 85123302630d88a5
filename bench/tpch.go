package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pandodb/pando/bench/tpch"
	"github.com/pandodb/pando/clock"
)

const (
	tpchSeed = 3_01             // loads the same rows into all targets of all sessions
	queryMax = 10 * time.Minute // how long one execution of a query may take
)

// loadTPCH fills the tables of TPC-H.
func (s *session) loadTPCH(ctx context.Context, t *Target, w *Workload) error {
	scale := tpch.Scale(w.Factor)
	ctx, cancel := context.WithTimeout(ctx, loadMax(scale.Rows()))
	defer cancel()
	db, err := s.database(t, true)
	if err != nil {
		return err
	}
	defer db.Close()
	return tpch.Load(ctx, db, scale, tpchSeed)
}

// runTPCH executes one query until the run's seconds are over, at least once.
func (s *session) runTPCH(ctx context.Context, t *Target, step Step, run *Run) {
	w := step.Workload
	run.Command = fmt.Sprintf("TPC-H: query %d at scale factor %g", w.Query, w.Factor)
	db, err := s.database(t, true)
	if err != nil {
		run.Failure = err.Error()
		return
	}
	defer db.Close()
	var latencies []float64
	begin := clock.Mono()
	for len(latencies) == 0 || clock.Since(begin) < time.Duration(w.Seconds)*time.Second {
		limited, cancel := context.WithTimeoutCause(ctx, queryMax, errTooLong)
		at := clock.Mono()
		answer, err := tpch.Do(limited, db, w.Query)
		cancel()
		if err != nil {
			run.Failure = err.Error()
			return
		}
		latencies = append(latencies, float64(clock.Since(at))/1e6)
		if digest := answer.Digest(); run.Answer == "" {
			run.Answer = digest
		} else if run.Answer != digest {
			run.Failure = fmt.Sprintf("query %d has two answers: %s, and %s", w.Query, run.Answer, digest)
			return
		}
	}
	run.Seconds = clock.Since(begin).Seconds()
	run.Transactions, run.Queries = int64(len(latencies)), int64(len(latencies))
	run.TPS = float64(run.Transactions) / run.Seconds
	run.QPS, run.Rate = run.TPS, run.TPS
	slices.Sort(latencies)
	run.Latency = latencyOf(latencies)
}

// answersOf lists what the targets answered to a query, each once.
func (r *Result) answersOf(w *Workload) (all []string) {
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Workload == w.Name && !run.failed() && !slices.Contains(all, run.Answer) {
			all = append(all, run.Answer)
		}
	}
	return all
}

// answerMisses lists the queries that the targets answered differently.
func (r *Result) answerMisses(misses *missList) {
	for i := range r.Plan.Workloads {
		w := &r.Plan.Workloads[i]
		if w.Kind != KindTPCH {
			continue
		}
		if answers := r.answersOf(w); len(answers) > 1 {
			misses.add(w.Name, "the same answer of all", "%s", strings.Join(answers, "; "))
		}
	}
}

// answerSection shows all queries of TPC-H in one table: seconds, and whether the answers are equal.
func (r *Result) answerSection(rows []StepSummary) section {
	s := section{level: 2, title: "Queries"}
	t := table{head: []string{"Query"}}
	for _, target := range r.Targets {
		t.head = append(t.head, target.Name+", s")
	}
	t.head = append(t.head, "Answer")
	sums := make([]float64, len(r.Targets))
	for i := range rows {
		w := rows[i].Step.Workload
		if w.Kind != KindTPCH {
			continue
		}
		cells := []string{fmt.Sprint(w.Query)}
		for k, target := range r.Targets {
			seconds := "–"
			if step := rows[i].targetStep(target.Name); step.Rate.Count > 0 {
				seconds = numberText(1/step.Rate.Median, 3)
				sums[k] += 1 / step.Rate.Median
			}
			cells = append(cells, seconds)
		}
		answer := "**differs**"
		if answers := r.answersOf(w); len(answers) == 1 {
			answer = answers[0]
		}
		t.rows = append(t.rows, append(cells, answer))
	}
	if len(t.rows) == 0 {
		return section{}
	}
	cells := []string{"sum"}
	for _, sum := range sums {
		cells = append(cells, numberText(sum, 3))
	}
	t.rows = append(t.rows, append(cells, ""))
	s.text = []string{"How long one execution took with one client, the median of the rounds. An answer is the number of its rows and a digest of them; it is shown where all targets gave the same."}
	s.tables = []table{t}
	return s
}
