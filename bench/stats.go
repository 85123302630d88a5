package bench

import (
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
	TPS          float64
	P95          float64
	Max          float64 // the longest latency of any round
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
	Rate, P95, CPU, Written Spread
}

// Summarise reduces the runs to rows, in the order of the plan. Steps without runs are left out.
func (r *Result) Summarise() []StepSummary {
	var rows []StepSummary
	for i := range r.Plan.Workloads {
		for _, step := range r.Plan.Workloads[i].Steps() {
			row := StepSummary{Step: step, Ratios: map[string]Ratios{}}
			for k, target := range r.Targets {
				runs := r.roundsOf(target.Name, step)
				if len(runs) == 0 {
					continue
				}
				row.Targets = append(row.Targets, summariseTarget(target.Name, runs))
				if k > 0 {
					row.Ratios[target.Name] = ratiosOf(r.roundsOf(r.Targets[0].Name, step), runs)
				}
			}
			if len(row.Targets) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// roundsOf returns a target's runs of a step by their rounds.
func (r *Result) roundsOf(target string, step Step) map[int]*Run {
	rounds := map[int]*Run{}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Target == target && run.at(step) {
			rounds[run.Round] = run
		}
	}
	return rounds
}

func summariseTarget(name string, runs map[int]*Run) TargetStep {
	t := TargetStep{Target: name, Errors: map[string]int{}}
	var rate, tps, p95, cpu, fsyncs, bytesEach, rss, disk, start, idle []float64
	for _, round := range sortedKeys(runs) {
		run := runs[round]
		for number, n := range run.Errors {
			t.Errors[number] += n
		}
		if run.failed() {
			t.Failures = append(t.Failures, run.Failure)
			continue
		}
		rate = append(rate, run.Rate)
		tps = append(tps, run.TPS)
		p95 = append(p95, run.P95Millis)
		t.Max = max(t.Max, run.MaxMillis)
		cpu = append(cpu, run.CPUMicros)
		if run.Fsyncs >= 0 && run.Seconds > 0 {
			fsyncs = append(fsyncs, float64(run.Fsyncs)/run.Seconds)
		}
		if each := run.writtenEach(); each >= 0 {
			bytesEach = append(bytesEach, each)
		}
		disk = append(disk, float64(run.DiskBytes))
		rss = append(rss, float64(run.RSSBytes))
		start = append(start, run.StartSeconds)
		idle = append(idle, float64(run.IdleBytes))
		t.Ignored += run.IgnoredErrors
	}
	t.Rate = spreadOf(rate)
	t.TPS, t.P95, t.CPUMicros = spreadOf(tps).Median, spreadOf(p95).Median, spreadOf(cpu).Median
	t.Fsyncs, t.BytesEach = medianOr(fsyncs, -1), medianOr(bytesEach, -1)
	t.RSS, t.StartSeconds, t.IdleBytes = int64(spreadOf(rss).Median), spreadOf(start).Median, int64(spreadOf(idle).Median)
	t.DiskBytes = int64(spreadOf(disk).Median)
	return t
}

func medianOr(values []float64, unknown float64) float64 {
	if len(values) == 0 {
		return unknown
	}
	return spreadOf(values).Median
}

// ratiosOf divides round by round; a round in which either side failed has no ratio.
func ratiosOf(subject, peer map[int]*Run) Ratios {
	var rate, p95, cpu, written []float64
	for _, round := range sortedKeys(subject) {
		a, b := subject[round], peer[round]
		if b == nil || a.failed() || b.failed() {
			continue
		}
		rate = appendRatio(rate, a.Rate, b.Rate)
		p95 = appendRatio(p95, a.P95Millis, b.P95Millis)
		cpu = appendRatio(cpu, a.CPUMicros, b.CPUMicros)
		written = appendRatio(written, a.writtenEach(), b.writtenEach())
	}
	return Ratios{Rate: spreadOf(rate), P95: spreadOf(p95), CPU: spreadOf(cpu), Written: spreadOf(written)}
}

func appendRatio(to []float64, a, b float64) []float64 {
	if a <= 0 || b <= 0 {
		return to // unknown on one side
	}
	return append(to, a/b)
}

func sortedKeys(runs map[int]*Run) []int {
	var keys []int
	for round := range runs {
		keys = append(keys, round)
	}
	slices.Sort(keys)
	return keys
}
