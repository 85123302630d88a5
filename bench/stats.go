package bench

import (
	"maps"
	"math"
	"slices"
)

// Spread describes a handful of figures: their median and their ends.
type Spread struct {
	Count  int     `json:"count"`
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	Off    float64 `json:"off"` // median distance from the median, which one outlier does not move
}

// spreadOf sorts a copy of the values. No values give the zero Spread.
func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	spread := Spread{Count: n, Min: sorted[0], Median: medianOf(sorted), Max: sorted[n-1]}
	for i, v := range sorted {
		sorted[i] = math.Abs(v - spread.Median)
	}
	slices.Sort(sorted)
	spread.Off = medianOf(sorted)
	return spread
}

// medianOf takes sorted values.
func medianOf(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Noise is twice the median distance from the median, about what half of the distance between the ends is for five rounds of an even
// machine, over a figure to compare it with.
func (s Spread) Noise(over float64) float64 {
	if over == 0 {
		return 0
	}
	return 2 * s.Off / math.Abs(over)
}

// TargetStep is what one target did at one step, as medians over its rounds that did not fail.
type TargetStep struct {
	Target       string
	Rate         Spread
	TPS, QPS     float64
	Latency      // medians over the rounds, but the longest of all and the histograms of all together
	CPUMicros    float64
	Fsyncs       float64 // per second; negative: unknown
	BytesEach    float64 // written per transaction; negative: unknown
	RSS          int64
	DiskBytes    int64
	Ignored      int64 // errors that sysbench ignored, all rounds together
	Failures     []string
	Errors       map[string]int
	StartSeconds float64
	IdleBytes    int64
}

// StepSummary is one row of a report.
type StepSummary struct {
	Step    Step
	Targets []TargetStep
	Ratios  map[string]Ratios // by peer
}

// Ratios compare the subject with one peer, round by round.
type Ratios struct {
	Rate, Mean, P99, CPU, Written Spread
}

// Summarise reduces the runs to rows, in the order of the plan. Steps without runs are left out, and so is what was measured a second time.
func (r *Result) Summarise() []StepSummary {
	var rows []StepSummary
	for i := range r.Plan.Workloads {
		for _, step := range r.Plan.Workloads[i].Steps() {
			row := StepSummary{Step: step, Ratios: map[string]Ratios{}}
			for k, target := range r.Targets {
				runs := r.roundsOf(target.Name, step, false)
				if len(runs) == 0 {
					continue
				}
				row.Targets = append(row.Targets, summariseTarget(target.Name, runs))
				if k > 0 {
					row.Ratios[target.Name] = ratiosOf(r.roundsOf(r.Targets[0].Name, step, false), runs)
				}
			}
			if len(row.Targets) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// roundsOf returns a target's runs of a step by their rounds: of its first measurement, or of the second.
func (r *Result) roundsOf(target string, step Step, again bool) map[int]*Run {
	rounds := map[int]*Run{}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Target == target && run.at(step) && run.Again == again {
			rounds[run.Round] = run
		}
	}
	return rounds
}

func summariseTarget(name string, runs map[int]*Run) TargetStep {
	t := TargetStep{Target: name, Errors: map[string]int{}}
	var good []*Run
	for _, round := range sortedKeys(runs) {
		run := runs[round]
		for number, n := range run.Errors {
			t.Errors[number] += n
		}
		if run.failed() {
			t.Failures = append(t.Failures, run.Failure)
			continue
		}
		good = append(good, run)
		t.MaxMillis = max(t.MaxMillis, run.MaxMillis)
		t.Histogram.merge(&run.Histogram)
		t.Ignored += run.IgnoredErrors
	}
	// of gathers a figure of all rounds, without those in which it is unknown.
	of := func(figure func(*Run) (float64, bool)) (values []float64) {
		for _, run := range good {
			if v, known := figure(run); known {
				values = append(values, v)
			}
		}
		return values
	}
	median := func(figure func(*Run) float64) float64 {
		return spreadOf(of(func(run *Run) (float64, bool) { return figure(run), true })).Median
	}
	t.Rate = spreadOf(of(func(run *Run) (float64, bool) { return run.Rate, true }))
	t.TPS = median(func(run *Run) float64 { return run.TPS })
	t.QPS = median(func(run *Run) float64 { return run.QPS })
	t.AvgMillis = median(func(run *Run) float64 { return run.AvgMillis })
	t.P50Millis = median(func(run *Run) float64 { return run.P50Millis })
	t.P95Millis = median(func(run *Run) float64 { return run.P95Millis })
	t.P99Millis = median(func(run *Run) float64 { return run.P99Millis })
	t.P999Millis = median(func(run *Run) float64 { return run.P999Millis })
	t.CPUMicros = median(func(run *Run) float64 { return run.CPUMicros })
	t.StartSeconds = median(func(run *Run) float64 { return run.StartSeconds })
	t.RSS = int64(median(func(run *Run) float64 { return float64(run.RSSBytes) }))
	t.DiskBytes = int64(median(func(run *Run) float64 { return float64(run.DiskBytes) }))
	t.IdleBytes = int64(median(func(run *Run) float64 { return float64(run.IdleBytes) }))
	t.Fsyncs = medianOr(of(func(run *Run) (float64, bool) {
		return float64(run.Fsyncs) / run.Seconds, run.Fsyncs >= 0 && run.Seconds > 0
	}), -1)
	t.BytesEach = medianOr(of(func(run *Run) (float64, bool) { return run.writtenEach(), run.writtenEach() >= 0 }), -1)
	return t
}

func medianOr(values []float64, unknown float64) float64 {
	if len(values) == 0 {
		return unknown
	}
	return spreadOf(values).Median
}

// figure is what a ratio is taken of. Zero and less is unknown.
type figure func(*Run) float64

func rateOf(run *Run) float64    { return run.Rate }
func meanOf(run *Run) float64    { return run.AvgMillis }
func p99Of(run *Run) float64     { return run.P99Millis }
func cpuOf(run *Run) float64     { return run.CPUMicros }
func writtenOf(run *Run) float64 { return run.writtenEach() }

func ratiosOf(subject, peer map[int]*Run) Ratios {
	of := func(f figure) Spread { return spreadOf(slices.Collect(maps.Values(ratioOf(subject, peer, f)))) }
	return Ratios{Rate: of(rateOf), Mean: of(meanOf), P99: of(p99Of), CPU: of(cpuOf), Written: of(writtenOf)}
}

// ratioOf divides round by round. A round in which either side failed, or where the figure is unknown, has no ratio.
func ratioOf(subject, peer map[int]*Run, f figure) map[int]float64 {
	ratios := map[int]float64{}
	for round, a := range subject {
		if b := peer[round]; b != nil && !a.failed() && !b.failed() && f(a) > 0 && f(b) > 0 {
			ratios[round] = f(a) / f(b)
		}
	}
	return ratios
}

func sortedKeys(runs map[int]*Run) []int {
	var keys []int
	for round := range runs {
		keys = append(keys, round)
	}
	slices.Sort(keys)
	return keys
}
