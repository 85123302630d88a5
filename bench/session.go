package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
)

// Options of a session.
type Options struct {
	Plan    *Plan
	Start   []string  // kinds of target to start, in order
	Targets []*Target // given by address; they come after the started ones unless they are all there is
	Base    string    // the peer that the floors speak of; empty: the first that is not the trivial responder
	Trivial bool      // add the trivial responder
	// Twin starts the subject's kind once more, to learn how much equal servers differ. It takes part where the plan demands something.
	Twin bool
	// Once judges demands by one measurement.
	Once bool
	// Overwrite allows to drop what given targets hold under the names of the session's databases and user.
	Overwrite bool
	Binary    string // Pando's program
	TempDir   string // where the targets keep their data; empty: the system's
	Command   string // the command line, for the report
	Progress  *Progress
	// Save, if given, stores what there is after each workload and each step that is measured again, so that a session that is killed
	// leaves the most of itself. Its error ends the session.
	Save func(*Result) error
}

// twinSuffix makes the name of the subject's twin.
const twinSuffix = "-again"

// Limits of patience with a target.
const (
	restartsMax  = 3
	settleMax    = 60 * time.Second // how long the files of a loaded server may keep changing
	stillSeconds = 15               // a plan's still_seconds; Pando flushes after ten
	calmLook     = 2 * time.Second  // a loaded server is calm when it has used less than calmShare of a processor for so long
	calmShare    = 0.05
	calmMax      = 15 * time.Second // how long they may take to become calm
)

// session is one measurement under way.
type session struct {
	Options
	root    string
	targets []*Target
	result  *Result
	loaded  map[string]string // by target: the tables it holds, "" for none
	deaths  map[string]int
	ends    map[string]runEnd // by target: where its last run of a group ended
	grace   time.Duration     // runGrace
	place   placement
	again   bool          // a workload is measured a second time
	answer  time.Duration // answerMax
}

// Measure runs a plan. When ctx ends, it returns what it has with Incomplete set. An error means that nothing could be measured.
func Measure(ctx context.Context, o Options) (*Result, error) {
	if len(o.Start)+len(o.Targets) == 0 {
		return nil, errors.New("there is no target: give --start or --target")
	}
	if err := o.check(memory()); err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = NewProgress(nil, false)
	}
	root, err := os.MkdirTemp(o.TempDir, "pando-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	// Servers that do not run as this user must be able to reach their directories.
	if err := os.Chmod(root, 0o711); err != nil {
		return nil, err
	}
	s := &session{Options: o, root: root, loaded: map[string]string{}, deaths: map[string]int{}, ends: map[string]runEnd{}, grace: runGrace, answer: answerMax}
	s.result = &Result{Format: resultFormat, Command: o.Command, Plan: *o.Plan, Started: clock.Now().UTC().Format(time.RFC3339), Environment: readEnvironment(root)}
	place, err := makePlacement(ctx, o.Plan.Clients, o.Plan.ServerCPUs)
	if err != nil {
		return nil, err
	}
	defer place.close()
	s.place = *place
	s.result.Placement = s.place.text
	defer s.stopTargets()
	defer s.cleanUp(ctx)
	if err := s.openTargets(ctx); err != nil {
		return nil, err
	}
	s.pickBase()
	s.Progress.plan(s.countRuns())
	s.prepareFirst(ctx)
	for i := range s.result.Plan.Workloads {
		err := s.workload(ctx, &s.result.Plan.Workloads[i])
		if err == nil {
			err = s.save()
		}
		if err != nil {
			s.result.Incomplete = err.Error()
			break
		}
	}
	if s.result.Incomplete == "" && ctx.Err() == nil && !s.Once {
		if err := s.repeat(ctx); err != nil {
			s.result.Incomplete = err.Error()
		}
	}
	if ctx.Err() != nil && s.result.Incomplete == "" {
		s.result.Incomplete = errStopped.Error() // the very last run was cut
	}
	for _, t := range s.targets {
		s.noteDeath(t, "the server died after its last run")
	}
	s.result.Ended = clock.Now().UTC().Format(time.RFC3339)
	s.result.Environment.LoadEnd = loadAverage()
	s.Progress.done()
	return s.result, nil
}

// save stores the session as one that has ended here, which is what it is if nothing follows.
func (s *session) save() error {
	if s.Save == nil {
		return nil
	}
	s.result.Incomplete = "it was under way"
	s.result.Ended = clock.Now().UTC().Format(time.RFC3339)
	err := s.Save(s.result)
	s.result.Incomplete = ""
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // the path names the machine
	}
	if err != nil {
		err = fmt.Errorf("it could not be stored: %w", err)
	}
	return err
}

// check refuses what would only show hours later.
func (o *Options) check(memory int64) error {
	names := slices.Clone(o.Start)
	for _, t := range o.Targets {
		names = append(names, t.Name)
	}
	if o.Trivial {
		names = append(names, KindTrivial)
	}
	if o.Base != "" && !slices.Contains(names[1:], o.Base) {
		return fmt.Errorf("the base %s is no target beside the subject: there are %s", o.Base, strings.Join(names[1:], ", "))
	}
	servers := 0
	for _, kind := range o.kinds() {
		servers += nodesOf(kind)
	}
	if memory > 0 && o.Plan.CacheBytes*int64(servers) > memory {
		return fmt.Errorf("%d servers with a cache of %s each do not fit into this machine's %s: give --cache-bytes or --scale",
			servers, bytesText(o.Plan.CacheBytes), bytesText(memory))
	}
	if len(o.Targets) > 0 && (o.Plan.Clients == ClientsApart || o.Plan.ServerCPUs > 0) {
		return errors.New("--clients apart and --server-cpus are for servers that the runner starts, not for those given by --target")
	}
	return nil
}

// Servers is how many targets are measured, without the trivial responder.
func (o *Options) Servers() int { return len(o.kinds()) + len(o.Targets) }

// kinds are those of the targets that are started, the twin last, without the trivial responder.
func (o *Options) kinds() []string {
	kinds := slices.Clone(o.Start)
	if o.hasTwin() {
		kinds = append(kinds, o.Start[0])
	}
	return kinds
}

// hasTwin says whether the subject has a twin. One that the runner has not started has none.
func (o *Options) hasTwin() bool {
	return o.Twin && len(o.Start) > 0 && o.Plan.demanding()
}

func (s *session) startOptions() startOptions {
	return startOptions{binary: s.Binary, cacheBytes: s.Plan.CacheBytes, maxConnections: s.Plan.MaxConnections, host: s.place.host, cpus: s.place.server}
}

// openTargets starts what is to be started and reaches the rest.
func (s *session) openTargets(ctx context.Context) error {
	kinds := s.kinds()
	if s.Trivial {
		kinds = append(kinds, KindTrivial)
	}
	for i, kind := range kinds {
		s.Progress.phase("starting " + kind)
		t, err := newTarget(kind, s.root, s.startOptions())
		if err != nil {
			return err
		}
		s.targets = append(s.targets, t)
		if t.twin = i == len(s.Start) && s.hasTwin(); t.twin {
			t.Name += twinSuffix
		}
		if _, err := t.open(ctx); err != nil {
			return err
		}
	}
	// The trivial responder stays last: the first target is the subject.
	given := slices.Clone(s.Targets)
	if s.Trivial {
		last := len(s.targets) - 1
		given = append(given, s.targets[last])
		s.targets = s.targets[:last]
	}
	s.targets = append(s.targets, given...)
	taken := map[string]bool{}
	for _, t := range s.targets {
		if taken[t.Name] {
			return fmt.Errorf("two targets are called %s", t.Name)
		}
		taken[t.Name] = true
		if err := t.ask(ctx); err != nil {
			return fmt.Errorf("%s does not answer: %w", t.Name, err)
		}
		if err := t.createAccounts(ctx, s.Plan.User, s.Overwrite && !t.started()); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		t.readVersion(ctx)
		s.result.Targets = append(s.result.Targets, TargetInfo{EmptyBytes: t.dataBytes(ctx), Name: t.Name, Kind: t.Kind, Twin: t.twin, Version: t.Version, Settings: t.Settings, Durability: durability(t)})
	}
	return nil
}

// durability states what a commit waits for.
func durability(t *Target) string {
	switch t.Kind {
	case KindPando, KindPando1:
		return "sync-log=true: each commit is synced before it is acknowledged"
	case KindPando3:
		return "each commit is synced by two of three nodes before it is acknowledged"
	case KindGalera3:
		return "innodb_flush_log_at_trx_commit=1 on three nodes: each commit is synced by the one that executes it, and received by the others, before it is acknowledged"
	case KindMariaDB, KindMySQL:
		return "innodb_flush_log_at_trx_commit=1, doublewrite on: each commit is synced before it is acknowledged; no binary log"
	case KindPostgres:
		return "fsync=on, synchronous_commit=on: each commit is synced before it is acknowledged"
	case KindTrivial:
		return "stores nothing"
	}
	return "not known: the runner did not start it"
}

// cleanUp takes the session's traces off the servers that it has not started, also when it was stopped. What cannot be dropped is noted.
func (s *session) cleanUp(ctx context.Context) {
	for _, t := range s.targets {
		if err := t.cleanUp(context.WithoutCancel(ctx)); err != nil {
			s.note(t, "clean up: "+err.Error())
		}
	}
}

func (s *session) stopTargets() {
	s.Progress.phase("stopping")
	for _, t := range s.targets {
		t.stop()
	}
}

func (s *session) pickBase() {
	for _, t := range s.targets[1:] {
		if s.result.Base == "" && t.Kind != KindTrivial && !t.twin {
			s.result.Base = t.Name
		}
	}
	if s.Base != "" {
		s.result.Base = s.Base
	}
}

// takesPart says whether a target can do a workload.
func (s *session) takesPart(t *Target, w *Workload) bool {
	switch {
	case t.Kind == KindTrivial:
		return w.Trivial
	case t.twin:
		return w.Demands != Demands{}
	case w.Kind == KindStart:
		return t.started()
	case w.Kind == KindRestart:
		return t.started() && t.driver() == "mysql"
	case w.ownClients() || w.Kind == KindIndex || w.Kind == KindImport:
		return t.driver() == "mysql"
	}
	return true
}

func (s *session) participants(w *Workload) []*Target {
	return slices.DeleteFunc(slices.Clone(s.targets), func(t *Target) bool { return !s.takesPart(t, w) })
}

// countRuns tells the progress line how much there is, as seconds of runs.
func (s *session) countRuns() (runs int, seconds time.Duration) {
	for i := range s.result.Plan.Workloads {
		n, took := s.countRunsOf(&s.result.Plan.Workloads[i])
		runs, seconds = runs+n, seconds+took
	}
	return runs, seconds
}

func (s *session) countRunsOf(w *Workload) (runs int, seconds time.Duration) {
	runs = len(w.Steps()) * w.Rounds * len(s.participants(w))
	return runs, time.Duration(runs*w.Seconds) * time.Second
}

// workload measures all steps of one workload. It returns an error only when the session must end.
func (s *session) workload(ctx context.Context, w *Workload) error {
	s.Progress.phase("calibrating")
	s.result.Calibrations = append(s.result.Calibrations, calibrate(w.Name, s.root))
	s.Progress.calibrated(s.result.Calibrations[len(s.result.Calibrations)-1])
	targets := s.participants(w)
	for i, steps := range w.groups() {
		if w.data() != "" {
			s.makeReady(ctx, targets, steps, w.Reload == ReloadStep || (w.Reload == ReloadWorkload && i == 0))
		}
		if err := s.group(ctx, targets, steps); err != nil {
			return err
		}
	}
	if w.Kind == KindTPCC {
		for _, t := range targets {
			s.checkTPCC(ctx, t, w)
		}
	}
	if w.Reload != "" {
		for _, t := range targets {
			s.loaded[t.Name] = "" // what this workload left is no measure for the next one
		}
	}
	return nil
}

var errStopped = errors.New("stopped on request")

// repeat measures what missed a demand once more, all steps of the workload: a machine has moods that last longer than a round, and only a
// miss that shows twice counts. Nothing is measured a third time.
func (s *session) repeat(ctx context.Context) error {
	missed := s.result.missedOnce()
	for _, w := range missed {
		s.Progress.more(s.countRunsOf(w))
	}
	s.again = true
	for _, w := range missed {
		if err := s.workload(ctx, w); err != nil {
			return err
		}
		if err := s.save(); err != nil {
			return err
		}
	}
	return nil
}

// makeReady loads and warms the tables of some steps. Within a mode the next thread count finds everything warm. What a server begins by
// itself behind a load, such as to warm its caches, is no part of the runs, some of which cost less than that.
func (s *session) makeReady(ctx context.Context, targets []*Target, steps []Step, fresh bool) {
	var loaded []*Target
	for _, t := range targets {
		s.chargeTail(t)
		if s.prepare(ctx, t, steps[0].Workload, fresh) {
			loaded = append(loaded, t)
		}
	}
	if len(loaded) > 0 {
		s.Progress.phase("waiting for what the loads have left to do")
		untilCalm(ctx, func() []float64 { return processorSeconds(loaded) }, calmLook, calmMax)
	}
	for i, step := range steps {
		if i == 0 || step.PSMode != steps[i-1].PSMode {
			for _, t := range targets {
				s.warmUp(ctx, t, step)
			}
		}
	}
}

// processorSeconds is what each of the servers has used, 0 where that is not known.
func processorSeconds(targets []*Target) []float64 {
	seconds := make([]float64, len(targets))
	for i, t := range targets {
		if used, err := measure(t.pid); err == nil {
			seconds[i] = used.cpuSeconds
		}
	}
	return seconds
}

// untilCalm returns when each of some servers has used less than calmShare of a processor between two looks, or after most. used tells what
// each has used in all, in seconds.
func untilCalm(ctx context.Context, used func() []float64, look, most time.Duration) {
	ticker := clock.NewTicker(look)
	defer ticker.Stop()
	before := used()
	for begin := clock.Mono(); clock.Since(begin) < most; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := used()
		busy := false
		for i := range now {
			busy = busy || now[i]-before[i] >= calmShare*look.Seconds()
		}
		if !busy {
			return
		}
		before = now
	}
}

// order is the order of a round. Every second one has the targets the other way round: what the machine does to the later ones evens out.
func order(round int, targets []*Target) []*Target {
	targets = slices.Clone(targets)
	if round%2 == 0 {
		slices.Reverse(targets)
	}
	return targets
}

// group measures steps in turn, round by round, and in each the targets one after the other. It returns an error only when the session
// must end.
func (s *session) group(ctx context.Context, targets []*Target, steps []Step) error {
	for round := 1; round <= steps[0].Workload.Rounds; round++ {
		order := order(round, targets)
		if round > 1 && len(order) > 1 {
			s.rest(ctx)
		}
		for _, step := range steps {
			for _, t := range order {
				if ctx.Err() != nil {
					return errStopped
				}
				s.one(ctx, t, step, round)
			}
		}
	}
	return nil
}

// restMax is the longest rest.
const restMax = 10 * time.Second

// rest waits as long as the last run took. Where the order reverses, the target that comes first was also the last: without a rest its
// background work of the one run would fall into the other, which no run of another target separates from it.
func (s *session) rest(ctx context.Context) {
	n := len(s.result.Runs)
	if n == 0 {
		return
	}
	timer := clock.NewTimer(min(time.Duration(s.result.Runs[n-1].Seconds*float64(time.Second)), restMax))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// one measures one run and keeps it, unless the session was stopped meanwhile: half a run is none.
func (s *session) one(ctx context.Context, t *Target, step Step, round int) {
	run := Run{Target: t.Name, Workload: step.Workload.Name, PSMode: step.PSMode, Threads: step.Threads, Round: round, Again: s.again}
	s.Progress.begin(&run, step.Workload.Seconds)
	if s.revive(ctx, t, &run) {
		s.execute(ctx, t, step, &run)
	}
	if ctx.Err() != nil {
		return
	}
	s.endHung(ctx, t, &run)
	if died := fmt.Sprintf("the server died during %s round %d", step, round); s.noteDeath(t, died) {
		run.Failure = died + ": " + t.why()
	}
	run.Failure = clipped(s.redact(t, run.Failure))
	s.result.Runs = append(s.result.Runs, run)
	s.Progress.finished(&run, step.Workload.rateUnit())
}

// A report has so many bytes of a failure's beginning and of its end: sysbench quotes statements of bulk_insert by the thousand characters.
const (
	failureHead = 250
	failureTail = 150
)

// clipped leaves the middle of a long text out, in whole characters. It comes behind redact, which knows names by their whole.
func clipped(text string) string {
	if len(text) <= failureHead+failureTail {
		return text
	}
	return strings.ToValidUTF8(text[:failureHead], "") + " … " + strings.ToValidUTF8(text[len(text)-failureTail:], "")
}

// redact takes what names the machine out of a text; see Target.redact. The session's own directories and program are among it.
func (s *session) redact(t *Target, text string) string {
	text = t.redact(text)
	for _, path := range []string{s.root, s.Binary, s.TempDir} {
		if filepath.IsAbs(path) && path != "/" {
			text = strings.ReplaceAll(text, path, "$DIR")
		}
	}
	return text
}

// note keeps a failure that belongs to no run.
func (s *session) note(t *Target, text string) {
	if info := s.result.target(t.Name); info != nil {
		info.Failures = append(info.Failures, clipped(s.redact(t, text)))
	}
}

// endHung asks a server that failed a run for an answer. One of ours that has none is killed, so that the next run finds it revived; one
// that is not ours is given up after some times: each run would take its whole limit.
func (s *session) endHung(ctx context.Context, t *Target, run *Run) {
	if !run.failed() || !t.alive() {
		return
	}
	asked, cancel := context.WithTimeout(ctx, s.answer)
	defer cancel()
	if t.ask(asked) == nil || ctx.Err() != nil {
		return
	}
	run.Failure += fmt.Sprintf("; the server did not answer in %v", s.answer)
	if !t.started() {
		s.deaths[t.Name]++
		return
	}
	t.process.kill()
	s.noteDeath(t, fmt.Sprintf("the server hung in %s round %d and was killed", run.Workload, run.Round))
}

// noteDeath notes the end of a server's process, once. It returns whether there was one to note.
func (s *session) noteDeath(t *Target, what string) bool {
	if t.alive() || t.process.noted {
		return false
	}
	t.process.noted = true
	s.note(t, what+": "+t.why())
	return true
}

// revive restarts a dead server over its directory, so that one death does not take the rest of the plan; the run it died in stays a failure.
// A death between runs (in a warm-up, at rest, while another target is measured) fails no run, so it is noted here.
func (s *session) revive(ctx context.Context, t *Target, run *Run) bool {
	if !t.started() && s.deaths[t.Name] > restartsMax {
		run.Failure = "the server was given up: it did not answer too often"
		return false
	}
	if t.alive() {
		return true
	}
	s.noteDeath(t, fmt.Sprintf("the server died between runs, before %s round %d", run.Workload, run.Round))
	s.deaths[t.Name]++
	if s.deaths[t.Name] > restartsMax {
		run.Failure = "the server is down: it died too often"
		return false
	}
	if _, err := t.open(ctx); err != nil {
		run.Failure = err.Error()
		return false
	}
	return true
}

// prepareFirst loads the first tables into the empty servers, so that what a row takes on the disk is not mixed with what other
// workloads left behind.
func (s *session) prepareFirst(ctx context.Context) {
	for i := range s.result.Plan.Workloads {
		if w := &s.result.Plan.Workloads[i]; w.data() != "" {
			for _, t := range s.targets {
				s.prepare(ctx, t, w, false)
			}
			return
		}
	}
}

// prepare fills the tables of a workload, unless the target holds them already. It returns whether it has filled them.
func (s *session) prepare(ctx context.Context, t *Target, w *Workload, fresh bool) bool {
	want := w.data()
	if t.Kind == KindTrivial || !s.takesPart(t, w) || ctx.Err() != nil || (s.loaded[t.Name] == want && !fresh) {
		return false
	}
	s.Progress.phase("preparing " + want + " in " + t.Name)
	info := s.result.target(t.Name)
	fail := func(what string, err error) {
		if ctx.Err() == nil {
			s.note(t, what+": "+err.Error())
		}
		s.loaded[t.Name] = ""
	}
	if err := t.exec(ctx, "DROP DATABASE IF EXISTS "+databaseName, "CREATE DATABASE "+databaseName); err != nil {
		fail("empty database", err)
		return false
	}
	begin := clock.Mono()
	command, err := s.load(ctx, t, w)
	if err != nil {
		fail("prepare", err)
		return false
	}
	took := clock.Since(begin).Seconds()
	if s.Plan.Analyze && w.runsScript() && t.driver() == "mysql" {
		for i := 1; i <= w.Tables; i++ {
			if err := t.execWithin(ctx, loadMax(int64(w.Rows)), fmt.Sprintf("ANALYZE TABLE %s.sbtest%d", databaseName, i)); err != nil {
				fail("analyze", err)
				return false
			}
		}
	}
	s.loaded[t.Name] = want
	if info.DataRows == 0 {
		// Only the first load into an empty server says what a row takes.
		info.PrepareSeconds, info.Prepared = took, command
		info.DataRows = w.rowsInAll()
		size, settled := s.settle(ctx, t)
		info.DataBytes, info.Unsettled = max(0, size-info.EmptyBytes), !settled
	}
	return true
}

// load fills the empty database with what a workload needs, and returns the command for the report.
func (s *session) load(ctx context.Context, t *Target, w *Workload) (string, error) {
	if w.Kind == KindTPCC {
		return "TPC-C: load of " + w.data(), s.loadTPCC(ctx, t, w)
	}
	if w.Kind == KindTPCH {
		return "load of " + w.data(), s.loadTPCH(ctx, t, w)
	}
	args := prepareArgs(s.Plan, t, w, databaseName, s.Plan.PrepareThreads)
	output, err := s.place.sysbench(ctx, loadMax(w.rowsInAll()), args, nil)
	if failure, _ := failureOf(output, err); failure != "" {
		return "", errors.New(failure)
	}
	return publicCommand(args, t), nil
}

// settle waits until background work no longer changes what the server stores, and returns its bytes and whether they came to rest.
func (s *session) settle(ctx context.Context, t *Target) (size int64, settled bool) {
	size, still := t.dataBytes(ctx), clock.Mono()
	for begin := clock.Mono(); t.dir != "" && clock.Since(still) < time.Duration(s.Plan.StillSeconds)*time.Second; {
		if ctx.Err() != nil || clock.Since(begin) >= settleMax {
			return size, false
		}
		clock.Sleep(250 * time.Millisecond)
		if now := t.dataBytes(ctx); now != size {
			size, still = now, clock.Mono()
		}
	}
	return size, true
}

// warmUp runs a step without keeping its figures. What makes it fail is seen in the run that follows, or as the server's death.
func (s *session) warmUp(ctx context.Context, t *Target, step Step) {
	if seconds := step.Workload.WarmupSeconds; seconds > 0 && step.Workload.Kind == KindRun && ctx.Err() == nil && t.alive() {
		s.Progress.phase("warming up " + t.Name + " for " + step.String())
		_, _ = s.place.sysbench(ctx, time.Duration(seconds)*time.Second+s.grace, runArgs(s.Plan, t, step, seconds), nil)
	}
}
