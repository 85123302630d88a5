package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/clock"
)

// execute measures one run of any kind, with what it cost the server.
func (s *session) execute(ctx context.Context, t *Target, step Step, run *Run) {
	w := step.Workload
	if w.Kind == KindStart {
		s.startOnce(ctx, t, w, run)
		return
	}
	if w.data() != "" && t.Kind != KindTrivial && s.loaded[t.Name] == "" {
		run.Failure = "its tables could not be prepared"
		return
	}
	if w.Kind == KindRestart {
		s.chargeTail(t)
		s.restartOnce(ctx, t, step, run)
		return
	}
	if w.usesScratch() {
		if err := t.exec(ctx, "DROP DATABASE IF EXISTS "+scratchName, "CREATE DATABASE "+scratchName); err != nil {
			run.Failure = "empty database: " + err.Error()
			return
		}
		// Also when the session was stopped: a given server keeps what is not dropped. One of ours goes whole.
		defer func() {
			if err := t.exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+scratchName); err != nil && !t.started() {
				s.note(t, "clean up: "+err.Error())
			}
		}()
	}
	if w.Kind == KindBulk && !s.createBulkTables(ctx, t, step, run) {
		return
	}
	s.chargeTail(t)
	syncs := t.fsyncs(ctx)
	before, errBefore := measure(t.pid)
	switch w.Kind {
	case KindRun:
		args := runArgs(s.Plan, t, step, w.Seconds)
		run.Command = publicCommand(args, t)
		s.runSysbench(ctx, args, w.Seconds, run)
		run.Rate = run.QPS
	case KindLoad:
		s.loadOnce(ctx, t, step, run)
	case KindBulk:
		args := bulkArgs(s.Plan, t, step, "run")
		run.Command = publicCommand(args, t)
		s.runSysbench(ctx, args, w.Seconds, run)
		run.Rate = run.TPS // an event of this script is a row
	case KindIndex:
		s.indexOnce(ctx, t, step, run)
	case KindImport:
		s.importOnce(ctx, t, step, run)
	case KindStorm:
		s.storm(ctx, t, step, run)
	case KindTPCC:
		s.runTPCC(ctx, t, step, run)
	case KindTPCH:
		s.runTPCH(ctx, t, step, run)
	}
	after, errAfter := measure(t.pid)
	run.Cost = cost(before, after, errors.Join(errBefore, errAfter), run)
	if w.hasModes() && run.CPUSeconds >= 0 {
		s.ends[t.Name] = runEnd{run: len(s.result.Runs), pid: t.pid, used: after}
	}
	run.Fsyncs, run.DiskBytes = -1, t.dataBytes(ctx)
	if now := t.fsyncs(ctx); syncs >= 0 && now >= syncs {
		run.Fsyncs = now - syncs
	}
}

// cost compares two measurements. Per query means per row for loads and per login for storms.
func cost(before, after usage, err error, run *Run) Cost {
	if err != nil {
		return Cost{CPUSeconds: -1, CPUMicros: -1, WrittenBytes: -1, RSSBytes: -1}
	}
	c := Cost{CPUSeconds: after.cpuSeconds - before.cpuSeconds, WrittenBytes: after.written - before.written, RSSBytes: after.rss}
	c.perQuery(run)
	return c
}

func (c *Cost) perQuery(run *Run) {
	if n := max(run.Queries, run.Transactions); n > 0 {
		c.CPUMicros = c.CPUSeconds * 1e6 / float64(n)
	}
}

// runEnd is where a run of sysbench has ended: what its server does from then on, until somebody talks to it again, it does for that run.
type runEnd struct {
	run  int // index in Result.Runs
	pid  int
	used usage
}

// chargeTail adds to a target's last run what the server has used since its end: log-structured and page servers alike leave work behind that
// would fall to the next run, or to none. It is called before anything else talks to the server.
func (s *session) chargeTail(t *Target) {
	last, ok := s.ends[t.Name]
	delete(s.ends, t.Name)
	if !ok || last.pid != t.pid || last.run >= len(s.result.Runs) {
		return
	}
	run := &s.result.Runs[last.run]
	if now, err := measure(t.pid); err == nil && run.Target == t.Name {
		run.CPUSeconds += now.cpuSeconds - last.used.cpuSeconds
		run.WrittenBytes += now.written - last.used.written
		run.perQuery(run)
	}
}

func bulkArgs(p *Plan, t *Target, step Step, command string) []string {
	args := append([]string{"bulk_insert"}, connectArgs(t, "root", scratchName)...)
	return append(append(args, loadArgs(p, step.Workload, step, step.Workload.Seconds)...), command)
}

func (s *session) createBulkTables(ctx context.Context, t *Target, step Step, run *Run) bool {
	output, err := s.place.sysbench(ctx, loadMax(0), bulkArgs(s.Plan, t, step, "prepare"), nil)
	if failure, numbers := failureOf(output, err); failure != "" {
		run.Failure, run.Errors = failure, numbers
		return false
	}
	return true
}

// loadOnce times sysbench's prepare: tables, rows and their index.
func (s *session) loadOnce(ctx context.Context, t *Target, step Step, run *Run) {
	w := step.Workload
	args := prepareArgs(s.Plan, t, w, scratchName, step.Threads)
	run.Command = publicCommand(args, t)
	begin := clock.Mono()
	output, err := s.place.sysbench(ctx, loadMax(w.rowsInAll()), args, nil)
	if failure, numbers := failureOf(output, err); failure != "" {
		run.Failure, run.Errors = failure, numbers
		return
	}
	run.Seconds = clock.Since(begin).Seconds()
	run.Transactions = w.rowsInAll()
	run.TPS = float64(run.Transactions) / run.Seconds
	run.Rate = run.TPS
}

// startOnce times a fresh server from its launch to its first answer, and reads its memory after some seconds at rest. It has its own
// directory and its own process: the targets of the other workloads are not fresh. Making a MariaDB or PostgreSQL directory is not counted.
func (s *session) startOnce(ctx context.Context, like *Target, w *Workload, run *Run) {
	o := s.startOptions()
	o.host = loopback // the client that asks first is the runner
	t, err := newTarget(like.Kind, s.root, o)
	if err != nil {
		run.Failure = err.Error()
		return
	}
	defer os.RemoveAll(t.dir)
	took, err := t.open(ctx)
	if err != nil {
		run.Failure = err.Error()
		return
	}
	defer t.stop()
	run.StartSeconds, run.Rate = took.Seconds(), 1/took.Seconds()
	timer := clock.NewTimer(time.Duration(w.Seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	used, err := measure(t.pid)
	if err != nil {
		run.Failure = "the server died at rest: " + t.why()
		return
	}
	run.IdleBytes, run.RSSBytes, run.CPUSeconds, run.WrittenBytes = used.rss, used.rss, used.cpuSeconds, used.written
	run.DiskBytes, run.Fsyncs = t.dataBytes(ctx), t.fsyncs(ctx)
}

// restartOnce kills a server in the middle of a workload and times it from its next launch to its first answer from a table.
func (s *session) restartOnce(ctx context.Context, t *Target, step Step, run *Run) {
	killed := false
	s.atWork(ctx, t, step, run, s.grace, func(<-chan struct{}) error {
		t.process.kill()
		killed = true
		return nil
	})
	if !killed {
		return
	}
	run.DiskBytes = diskUsage(t.dir, nil)
	begin := clock.Mono()
	_, err := t.open(ctx)
	if err == nil {
		err = t.exec(ctx, "SELECT c FROM "+databaseName+".sbtest1 WHERE id = 1")
	}
	if err != nil {
		run.Failure = err.Error()
		return
	}
	run.StartSeconds = clock.Since(begin).Seconds()
	run.Rate = 1 / run.StartSeconds
	if used, err := measure(t.pid); err == nil {
		run.CPUSeconds, run.WrittenBytes, run.RSSBytes = used.cpuSeconds, used.written, used.rss
	}
	run.Fsyncs = t.fsyncs(ctx)
}

// storm lets every thread log in, ping and leave, as fast as it can. Errors are counted by number and do not end the run;
// a run without a single success failed.
func (s *session) storm(ctx context.Context, t *Target, step Step, run *Run) {
	run.Command = fmt.Sprintf("%d threads: connect, ping, close", step.Threads)
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.Logger = s.Plan.User, t.passwordOf(s.Plan.User), "tcp", t.Address, quiet{}
	config.Timeout, config.ReadTimeout, config.WriteTimeout = answerMax, answerMax, answerMax
	var mu sync.Mutex // guards latencies and run.Errors
	var latencies []float64
	run.Errors = map[string]int{}
	begin := clock.Mono()
	limit := time.Duration(step.Workload.Seconds) * time.Second
	limited, cancel := context.WithTimeout(ctx, limit+s.grace)
	defer cancel()
	var group sync.WaitGroup
	for range step.Threads {
		group.Go(func() {
			for ctx.Err() == nil && clock.Since(begin) < limit {
				asked := clock.Mono()
				err := logInOnce(limited, config)
				took := clock.Since(asked)
				mu.Lock()
				if err == nil {
					latencies = append(latencies, float64(took)/1e6)
				} else {
					run.Errors[numberOf(err)]++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	run.Seconds = clock.Since(begin).Seconds()
	if len(latencies) == 0 {
		run.Failure = fmt.Sprintf("no login succeeded: errors %v", run.Errors)
		return
	}
	if overlong(run.Seconds, step.Workload.Seconds) {
		run.Failure = fmt.Sprintf("it took %.0f seconds instead of %d: the server stalled", run.Seconds, step.Workload.Seconds)
		return
	}
	slices.Sort(latencies)
	run.Transactions = int64(len(latencies))
	run.TPS = float64(run.Transactions) / run.Seconds
	run.Rate = run.TPS
	run.Latency = latencyOf(latencies)
	run.IgnoredErrors = 0
	for _, n := range run.Errors {
		run.IgnoredErrors += int64(n)
	}
}

func logInOnce(ctx context.Context, config *mysql.Config) error {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	pinger, ok := conn.(interface{ Ping(context.Context) error })
	if !ok {
		return errors.New("the driver cannot ping")
	}
	return pinger.Ping(ctx)
}

// numberOf is MySQL's number of an error, or what kind of trouble it was.
func numberOf(err error) string {
	var known *mysql.MySQLError
	if errors.As(err, &known) {
		return strconv.Itoa(int(known.Number))
	}
	return "connection"
}
