package bench

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// table is a part of a report.
type table struct {
	head []string
	rows [][]string
}

// section is one heading with what is below it. Exactly these fields are printed, in this order.
type section struct {
	level  int
	title  string
	text   []string // paragraphs
	bullet []string
	code   []string
	tables []table
	chart  []string // lines of characters, whose places count
}

// WriteReport stores a session below prefix: prefix.json, and prefix.md for people.
func WriteReport(r *Result, prefix string) error {
	if err := os.MkdirAll(filepath.Dir(prefix), 0o755); err != nil {
		return err
	}
	if err := r.write(prefix + ".json"); err != nil {
		return err
	}
	return os.WriteFile(prefix+".md", []byte(markdown(r.sections())), 0o644)
}

// sections builds the report in the order of the published ones: purpose, environment, plan, results; what failed comes first of the results.
func (r *Result) sections() []section {
	rows := r.Summarise()
	all := []section{r.purpose(), r.environment(), r.versions(), r.planSection(rows)}
	all = append(all, r.verdictSection())
	if answers := r.answerSection(rows); answers.title != "" {
		all = append(all, answers)
	}
	for i := range r.Plan.Workloads {
		all = append(all, r.workloadSections(&r.Plan.Workloads[i], rows)...)
	}
	return append(all, r.spaceSection(), r.noiseSection())
}

func (r *Result) purpose() section {
	var names []string
	for _, t := range r.Targets {
		if !t.Twin {
			names = append(names, t.Name)
		}
	}
	s := section{level: 1, title: "Sysbench report: " + strings.Join(names, " vs. ")}
	title := r.Plan.Title
	if title == "" {
		title = r.Plan.Name
	}
	s.text = append(s.text, fmt.Sprintf("Plan `%s`: %s. Measured %s to %s.", r.Plan.Name, strings.TrimSuffix(title, "."), r.Started, r.Ended))
	if r.Plan.Source != "" {
		s.text = append(s.text, "It follows the published report "+r.Plan.Source+".")
	}
	if r.Incomplete != "" {
		s.text = append(s.text, "**This session ended early: "+r.Incomplete+". What follows is what it measured until then.**")
	}
	s.bullet = r.Plan.Notes
	return s
}

func (r *Result) environment() section {
	e := r.Environment
	row := func(key, value string) []string {
		if value == "" {
			value = "unknown"
		}
		return []string{key, value}
	}
	text := "All targets and sysbench ran on this one machine, one at a time, while the others were idle. " + r.Placement
	if r.anyTarget(TargetInfo.given) {
		text = "Sysbench and the targets that the runner started ran on this one machine, one target at a time. Where the targets that were given by their addresses ran, and what else they did, is not known."
	}
	return section{level: 2, title: "Environment", text: []string{text},
		tables: []table{{head: []string{"What", "Value"}, rows: [][]string{
			row("Commit", e.Commit), row("OS", e.OS), row("Kernel", e.Kernel), row("CPU", fmt.Sprintf("%d x %s", e.CPUs, e.CPU)),
			row("Memory", sizeText(e.Memory)), row("File system of the data", e.Files), row("Sysbench", e.Sysbench), row("Go", e.Go),
			row("Load average at start and end", fmt.Sprintf("%.1f, %.1f", e.LoadAt, e.LoadEnd)),
		}}}}
}

// given says whether the target was there before the session.
func (t TargetInfo) given() bool { return t.Kind == KindExternal }

func (r *Result) anyTarget(is func(TargetInfo) bool) bool { return slices.ContainsFunc(r.Targets, is) }

func (r *Result) versions() section {
	s := section{level: 2, title: "Targets"}
	t := table{head: []string{"Target", "Kind", "Version", "A commit waits for"}}
	for _, target := range r.Targets {
		t.rows = append(t.rows, []string{target.Name, target.Kind, target.Version, target.Durability})
		if len(target.Settings) > 0 {
			s.code = append(s.code, strings.Join(target.Settings, " "))
		}
	}
	s.tables = []table{t}
	if r.anyTarget(func(t TargetInfo) bool { return !t.given() && t.Kind != KindTrivial }) {
		s.text = append(s.text, fmt.Sprintf("Cache of each server that was started: %s (Pando's block cache, MariaDB's buffer pool, PostgreSQL's shared buffers).", bytesText(r.Plan.CacheBytes)))
	}
	if r.anyTarget(TargetInfo.given) {
		s.text = append(s.text, "The settings of targets that were given by their addresses are not known, their caches among them.")
	}
	if r.anyTarget(func(t TargetInfo) bool { return t.Kind == KindTrivial }) {
		s.text = append(s.text, "The trivial responder is the ceiling for many connections. With one, a server that polls its socket may be faster.")
	}
	if len(s.code) > 0 {
		s.text = append(s.text, "Started with:")
	}
	return s
}

func (r *Result) planSection(rows []StepSummary) section {
	p := &r.Plan
	s := section{level: 2, title: "Test plan"}
	tables := ""
	if p.Tables > 0 {
		tables = fmt.Sprintf("%d tables of %d rows, ", p.Tables, p.Rows)
	}
	s.text = []string{tables + fmt.Sprintf("%d rounds of %d seconds each after %d seconds of warm-up, targets interleaved and in alternating order (A-B, B-A, …), the steps that share tables in turn within each round. "+
		"A ratio is taken within a round; the tables show medians over the rounds, but the longest latency of all, and the smallest and largest ratio in brackets. A latency is that of a transaction, one of sysbench's events; percentiles are those of its histogram. $THREADS is each number of threads in the tables.", p.Rounds, p.Seconds, p.WarmupSeconds)}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if w.WarmupSeconds != p.WarmupSeconds && w.Kind == KindRun {
			s.text = append(s.text, fmt.Sprintf("The warm-up of %s takes %d seconds.", w.Name, w.WarmupSeconds))
		}
	}
	if r.Command != "" {
		s.code = append(s.code, r.Command)
	}
	for _, t := range r.Targets {
		if t.Prepared != "" {
			s.code = append(s.code, t.Prepared)
			break
		}
	}
	seen := map[string]bool{}
	for _, row := range rows {
		name := row.Step.Workload.Name + row.Step.PSMode
		for i := range r.Runs {
			if run := &r.Runs[i]; !seen[name] && run.at(row.Step) && run.Command != "" {
				seen[name] = true
				s.code = append(s.code, anyThreads(row.Step, run.Command))
			}
		}
	}
	return s
}

// anyThreads makes a command that of all steps of its workload and mode.
func anyThreads(step Step, command string) string {
	if len(step.Workload.Threads) == 1 {
		return command
	}
	number := fmt.Sprint(step.Threads)
	command = strings.Replace(command, "--threads="+number+" ", "--threads=$THREADS ", 1)
	if rest, ok := strings.CutPrefix(command, number+" threads:"); ok {
		command = "$THREADS threads:" + rest
	}
	return command
}

func (r *Result) verdictSection() section {
	s := section{level: 2, title: "Demands"}
	if r.Plan.demanding() {
		s.text = append(s.text, "A demand is one on the geometric mean of a workload's ratios over its numbers of clients and modes.")
		if twin := r.twin(); twin != "" {
			s.text = append(s.text, fmt.Sprintf("`%s` is a second server of the subject's kind. By how much the two differ (the distance of their own mean from 1, or twice the standard error of their rounds) is what the measurement cannot tell from nothing: "+
				"a miss counts only beyond that, and where the workload was measured a second time, only if it shows twice.", twin))
		} else {
			s.text = append(s.text, "No second server of the subject's kind took part, so that the noise of the measurement is not known.")
		}
	}
	misses := r.Misses()
	if len(misses) == 0 {
		s.text = append(s.text, "**Every demand of the plan was met.**")
		s.tables = r.demandTables()
		return s
	}
	s.text = append(s.text, fmt.Sprintf("**%d demands of the plan were not met:**", len(misses)))
	t := table{head: []string{"What", "Found", "Want"}}
	for _, m := range misses {
		t.rows = append(t.rows, []string{m.What, m.Found, m.Want})
	}
	s.tables = append([]table{t}, r.demandTables()...)
	return s
}

// workloadSections prints one workload, a section for each mode.
func (r *Result) workloadSections(w *Workload, rows []StepSummary) []section {
	var all []section
	modes := w.PSModes
	if !w.hasModes() {
		modes = []string{"-"}
	}
	for _, mode := range modes {
		var mine []StepSummary
		for _, row := range rows {
			if row.Step.Workload.Name == w.Name && row.Step.PSMode == mode {
				mine = append(mine, row)
			}
		}
		if len(mine) == 0 {
			continue
		}
		s := section{level: 2, title: w.Name}
		if mode != "-" {
			s.title += ", ps mode " + mode
		}
		switch w.Kind {
		case KindTPCH:
			s.tables = []table{r.ratioTable(w, mine), r.figureTable(w, mine)}
		case KindStart:
			s.text = []string{"A fresh server from its launch to its first answer, and its memory at rest. Making a directory for MariaDB or PostgreSQL is not counted."}
			s.tables = []table{r.startTable(mine)}
		case KindRestart:
			s.text = []string{fmt.Sprintf("Killed when clients of %s had been at work for %d seconds, and started again: from the launch to the first answer from a table.", w.Script, w.Seconds)}
			s.tables = []table{r.restartTable(mine)}
		case KindIndex:
			s.text = []string{fmt.Sprintf("%s, when clients of %s had been at work for %d seconds, who went on meanwhile.", addIndex, w.Script, w.Seconds)}
			s.tables = []table{r.indexTable(w, mine)}
		default:
			s.tables = []table{r.ratioTable(w, mine), r.figureTable(w, mine)}
			s.chart = chartOf(mine)
		}
		s.bullet = failureLines(mine)
		all = append(all, s)
	}
	return all
}

// failureLines shows what failed, each once with its count.
func failureLines(rows []StepSummary) []string {
	var lines []string
	for _, row := range rows {
		for _, t := range row.Targets {
			for _, number := range slices.Sorted(maps.Keys(t.Errors)) {
				lines = append(lines, fmt.Sprintf("%s at %d threads: error %s %d times", t.Target, row.Step.Threads, number, t.Errors[number]))
			}
			if len(t.Failures) > 0 {
				lines = append(lines, fmt.Sprintf("**%s at %d threads: %d of %d rounds failed**: %s", t.Target, row.Step.Threads, len(t.Failures), len(t.Failures)+t.Rate.Count, t.Failures[0]))
			}
		}
	}
	return lines
}

// ratioTable compares the subject with each peer.
func (r *Result) ratioTable(w *Workload, rows []StepSummary) table {
	t := table{head: []string{"Clients", r.Targets[0].Name + " over", w.rateUnit()}}
	if w.hasLatency() {
		t.head = append(t.head, "Mean", "p99")
	}
	t.head = append(t.head, "Server CPU per "+w.each())
	for i := range rows {
		row := &rows[i]
		for _, name := range participantsOf(r, rows) {
			if name == r.Targets[0].Name {
				continue
			}
			ratios := row.Ratios[name]
			cells := []string{fmt.Sprint(row.Step.Threads), name, spreadText(ratios.Rate)}
			if w.hasLatency() {
				cells = append(cells, spreadText(ratios.Mean), spreadText(ratios.P99))
			}
			t.rows = append(t.rows, append(cells, spreadText(ratios.CPU)))
		}
	}
	return t
}

// figureTable has what was measured of each target.
func (r *Result) figureTable(w *Workload, rows []StepSummary) table {
	t := table{head: []string{"Clients", "Target", w.rateUnit()}}
	if w.hasModes() {
		t.head = append(t.head, "TPS")
	}
	if w.hasLatency() {
		t.head = append(t.head, "Mean (ms)", "p50", "p95", "p99", "p99.9", "Longest")
	}
	t.head = append(t.head, "Server CPU µs per "+w.each(), "Fsyncs/s", "Bytes written per transaction", "Memory", "Ignored errors")
	for i := range rows {
		for _, step := range rows[i].Targets {
			cells := []string{fmt.Sprint(rows[i].Step.Threads), step.Target, rateText(step)}
			if w.hasModes() {
				cells = append(cells, numberText(step.TPS, 0))
			}
			if w.hasLatency() {
				for _, millis := range []float64{step.AvgMillis, step.P50Millis, step.P95Millis, step.P99Millis, step.P999Millis, step.MaxMillis} {
					cells = append(cells, millisText3(millis))
				}
			}
			t.rows = append(t.rows, append(cells, numberText(step.CPUMicros, 1), countText(step.Fsyncs), countText(step.BytesEach), sizeText(step.RSS), fmt.Sprint(step.Ignored)))
		}
	}
	return t
}

// millisText3 prints a latency with about three digits.
func millisText3(millis float64) string {
	switch {
	case millis >= 100:
		return numberText(millis, 0)
	case millis >= 10:
		return numberText(millis, 1)
	case millis >= 1:
		return numberText(millis, 2)
	}
	return numberText(millis, 3)
}

// chartOf draws the latencies of all targets in all steps.
func chartOf(rows []StepSummary) []string {
	var lines []chartRow
	for i := range rows {
		for k := range rows[i].Targets {
			step := &rows[i].Targets[k]
			lines = append(lines, chartRow{fmt.Sprintf("%d %s", rows[i].Step.Threads, step.Target), &step.Histogram})
		}
	}
	return chart(lines)
}

func (r *Result) startTable(rows []StepSummary) table {
	t := table{head: []string{"Target", "Start (s)", "Idle memory", "Rounds"}}
	for i := range rows {
		for _, step := range rows[i].Targets {
			t.rows = append(t.rows, []string{step.Target, numberText(step.StartSeconds, 3), sizeText(step.IdleBytes), fmt.Sprint(step.Rate.Count)})
		}
	}
	return t
}

func (r *Result) restartTable(rows []StepSummary) table {
	t := table{head: []string{"Threads", "Target", "Start (s)", "Stored, with logs", "Rounds"}}
	for i := range rows {
		for _, step := range rows[i].Targets {
			t.rows = append(t.rows, []string{fmt.Sprint(rows[i].Step.Threads), step.Target, numberText(step.StartSeconds, 3), sizeText(step.DiskBytes), fmt.Sprint(step.Rate.Count)})
		}
	}
	return t
}

func (r *Result) indexTable(w *Workload, rows []StepSummary) table {
	t := table{head: []string{"Clients", "Target", "Index built in (s)", w.rateUnit(), r.Targets[0].Name + " over it", "Clients' queries/s meanwhile"}}
	for i := range rows {
		for _, step := range rows[i].Targets {
			seconds, ratio := "–", "–"
			if step.Rate.Median > 0 {
				seconds = numberText(float64(w.Rows)/step.Rate.Median, 2)
			}
			if ratios, is := rows[i].Ratios[step.Target]; is {
				ratio = spreadText(ratios.Rate)
			}
			t.rows = append(t.rows, []string{fmt.Sprint(rows[i].Step.Threads), step.Target, seconds, rateText(step), ratio, numberText(step.QPS, 0)})
		}
	}
	return t
}

func (r *Result) spaceSection() section {
	s := section{level: 2, title: "Space and loading"}
	t := table{head: []string{"Target", "Rows", "Loaded in (s)", "Empty server", "Added by the load", "Bytes per row"}}
	for _, target := range r.Targets {
		if target.DataRows > 0 {
			t.rows = append(t.rows, []string{target.Name, fmt.Sprint(target.DataRows), numberText(target.PrepareSeconds, 1), sizeText(target.EmptyBytes), sizeText(target.DataBytes),
				numberText(float64(target.DataBytes)/float64(target.DataRows), 0)})
		}
		if target.Unsettled {
			s.bullet = append(s.bullet, fmt.Sprintf("**%s** still changed its files %v after the load; its figure was taken then.", target.Name, settleMax))
		}
		for _, failure := range target.Failures {
			s.bullet = append(s.bullet, "**"+target.Name+"**: "+failure)
		}
	}
	s.text = []string{fmt.Sprintf("Allocated bytes that the first load added to the empty server, without what is reserved ahead (MariaDB's ib_logfile0 and ibtmp1, PostgreSQL's pg_wal, Pando's ballast and logs, though what is only in its log counts), "+
		"once they had not changed for %v. Sessions that do not know the empty server's size count it as added.", time.Duration(cmp.Or(r.Plan.StillSeconds, stillSeconds))*time.Second)}
	if len(t.rows) > 0 {
		s.tables = []table{t}
	}
	return s
}

func (r *Result) noiseSection() section {
	s := section{level: 2, title: "Calibration", text: []string{"What the machine could do just before each workload, without any server: request and response over one loopback connection, and appends of 512 bytes with fdatasync."}}
	t := table{head: []string{"Before", "Loopback/s", "Fdatasync/s", "Load"}}
	for _, c := range r.Calibrations {
		t.rows = append(t.rows, []string{c.Before, numberText(c.Loopback, 0), numberText(c.Fdatasync, 0), numberText(c.Load, 1)})
	}
	s.tables = []table{t}
	return s
}

// participantsOf lists the targets that have runs in any of the rows, in the session's order.
func participantsOf(r *Result, rows []StepSummary) []string {
	var names []string
	for _, target := range r.Targets {
		if slices.ContainsFunc(rows, func(row StepSummary) bool {
			return slices.ContainsFunc(row.Targets, func(t TargetStep) bool { return t.Target == target.Name })
		}) {
			names = append(names, target.Name)
		}
	}
	return names
}

func (s *StepSummary) targetStep(name string) TargetStep {
	for _, t := range s.Targets {
		if t.Target == name {
			return t
		}
	}
	return TargetStep{}
}

// rateText never prints a rate without the failures beside it.
func rateText(t TargetStep) string {
	text := numberText(t.Rate.Median, 2)
	if len(t.Failures) > 0 {
		text += fmt.Sprintf(" (%d failed)", len(t.Failures))
	}
	return text
}

// countText prints a count that may be zero; negative ones are unknown.
func countText(v float64) string {
	if v < 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", v)
}

// sizeText prints a size that is never zero when it is known.
func sizeText(n int64) string {
	if n <= 0 {
		return "–"
	}
	return bytesText(n)
}

// numberText prints a figure that is never zero when it is known.
func numberText(v float64, digits int) string {
	if v <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

func spreadText(s Spread) string {
	if s.Count == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max)
}
