package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/bench/tpcc"
)

// tpccSeed loads the same rows into all targets of all sessions.
const tpccSeed = 5_11

func (w *Workload) tpccScale() tpcc.Scale { return tpcc.Full(w.Warehouses) }

// database opens the session's database as the plan's user, with values within the text if text is set.
func (s *session) database(t *Target, text bool) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = s.Plan.User, t.passwordOf(s.Plan.User), "tcp", t.Address, databaseName
	config.Timeout, config.Logger, config.InterpolateParams = answerMax, quiet{}, text
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// loadTPCC fills the tables of TPC-C, and holds them against its conditions.
func (s *session) loadTPCC(ctx context.Context, t *Target, w *Workload) error {
	scale := w.tpccScale()
	ctx, cancel := context.WithTimeout(ctx, loadMax(scale.Rows()))
	defer cancel()
	db, err := s.database(t, true)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := tpcc.Load(ctx, db, scale, tpccSeed); err != nil {
		return err
	}
	broken, err := tpcc.CheckLoad(ctx, db, scale)
	for _, text := range broken {
		err = errors.Join(err, errors.New(text))
	}
	return err
}

// runTPCC is one run of its transactions.
func (s *session) runTPCC(ctx context.Context, t *Target, step Step, run *Run) {
	w, prepared := step.Workload, step.PSMode != "disable"
	mode := map[bool]string{true: "prepared statements", false: "text"}[prepared]
	run.Command = fmt.Sprintf("TPC-C: %d warehouses, %d clients, %s", w.Warehouses, step.Threads, mode)
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(w.Seconds)*time.Second+s.grace, errTooLong)
	defer cancel()
	open := func(text bool) (*sql.DB, error) { return s.database(t, text) }
	r, err := tpcc.Do(limited, open, tpcc.Run{Scale: w.tpccScale(), Clients: step.Threads, Duration: time.Duration(w.Seconds) * time.Second, Prepared: prepared,
		Seed: uint64(run.Round)})
	if err != nil {
		run.Failure = err.Error()
		return
	}
	run.Seconds, run.Transactions, run.Queries, run.Rate = r.Seconds, r.Transactions, r.Queries, r.TpmC()
	run.TPS, run.QPS, run.Errors = float64(r.Transactions)/r.Seconds, float64(r.Queries)/r.Seconds, r.Retries
	for _, n := range r.Retries {
		run.IgnoredErrors += int64(n)
	}
	run.Latency = latencyOf(r.Latencies)
}

// checkTPCC notes which conditions the runs of a workload have broken.
func (s *session) checkTPCC(ctx context.Context, t *Target, w *Workload) {
	if ctx.Err() != nil || !t.alive() || s.loaded[t.Name] == "" {
		return
	}
	s.chargeTail(t)
	s.Progress.phase("checking " + w.Name + " in " + t.Name)
	limited, cancel := context.WithTimeout(ctx, loadMax(w.tpccScale().Rows()))
	defer cancel()
	db, err := s.database(t, true)
	if err != nil {
		s.note(t, w.Name+": "+err.Error())
		return
	}
	defer db.Close()
	broken, err := tpcc.Check(limited, db)
	if err != nil && ctx.Err() == nil {
		broken = append(broken, err.Error())
	}
	for _, text := range broken {
		s.note(t, w.Name+": "+text)
	}
}

// latencyOf describes latencies in rising order, at least one.
func latencyOf(latencies []float64) Latency {
	var l Latency
	samples := make([]sample, len(latencies))
	for i, millis := range latencies {
		samples[i] = sample{millis, 1}
		l.AvgMillis += millis / float64(len(latencies))
	}
	if len(latencies) > 0 {
		l.MaxMillis = latencies[len(latencies)-1]
	}
	l.fill(samples)
	return l
}
