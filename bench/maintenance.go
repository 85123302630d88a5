package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pandodb/pando/clock"
)

// What a workload of kind index adds and takes away again. The column c is sysbench's widest.
const (
	addIndex  = "ALTER TABLE " + databaseName + ".sbtest1 ADD INDEX bench_c (c)"
	dropIndex = "ALTER TABLE " + databaseName + ".sbtest1 DROP INDEX bench_c"
)

// indexOnce times the building of an index over the first table while clients of the workload's script change it. The rate is that of rows;
// the queries are those of the clients meanwhile.
func (s *session) indexOnce(ctx context.Context, t *Target, step Step, run *Run) {
	w := step.Workload
	limit := loadMax(int64(w.Rows))
	s.atWork(ctx, t, step, run, limit, func(ended <-chan struct{}) error {
		before := t.questions(ctx)
		begin := clock.Mono()
		if err := t.execWithin(ctx, limit, addIndex); err != nil {
			return err
		}
		run.Seconds = clock.Since(begin).Seconds()
		select {
		case <-ended:
			return errors.New("the clients ended before the index was there")
		default:
		}
		if after := t.questions(ctx); before >= 0 && after >= before {
			run.Queries = after - before
			run.QPS = float64(run.Queries) / run.Seconds
		}
		run.Transactions = int64(w.Rows)
		run.TPS = float64(w.Rows) / run.Seconds
		run.Rate = run.TPS
		return nil
	})
	run.Command += " while: " + addIndex
	if err := t.execWithin(context.WithoutCancel(ctx), limit, dropIndex); err != nil && !run.failed() {
		run.Failure = err.Error()
	}
}

// questions counts the statements that clients have sent to a server, -1 if it does not say.
func (t *Target) questions(ctx context.Context) int64 {
	if n, err := t.status(ctx, "Questions"); err == nil {
		return n
	}
	return -1
}

// atWork calls do when clients of the step's script have been at work for the workload's seconds, and ends them then. They are there for so
// long beyond those seconds at most. ended is closed when they have ended. An error of do, or clients that end too early, fail the run.
func (s *session) atWork(ctx context.Context, t *Target, step Step, run *Run, most time.Duration, do func(ended <-chan struct{}) error) {
	w := step.Workload
	step.PSMode = "auto"
	args := runArgs(s.Plan, t, step, w.Seconds+int(most/time.Second))
	run.Command = publicCommand(args, t)
	limited, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	var output string
	var err error
	go func() {
		defer close(ended)
		output, err = s.place.sysbench(limited, time.Duration(w.Seconds)*time.Second+most+s.grace, args, s.Progress.live)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	timer := clock.NewTimer(time.Duration(w.Seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-ended:
		run.Failure, run.Errors = failureOf(output, errors.Join(errors.New("the clients ended too early"), err))
		return
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	if err := do(ended); err != nil {
		run.Failure = err.Error()
	}
}

// importOnce times the loading of a dump of the workload's tables into an empty database: by pando import into Pando, by MariaDB's client
// into others.
func (s *session) importOnce(ctx context.Context, t *Target, step Step, run *Run) {
	w := step.Workload
	dump, err := s.dump(ctx, t, w)
	if err != nil {
		run.Failure = "dump: " + err.Error()
		return
	}
	limited, cancel := context.WithTimeoutCause(ctx, loadMax(w.rowsInAll()), errTooLong)
	defer cancel()
	connect := []string{"--host=" + t.host(), "--port=" + t.port(), "--user=root"}
	var command *exec.Cmd
	if t.isPando() || t.Kind == KindPando3 {
		args := append([]string{"import"}, connect...)
		command = exec.CommandContext(limited, s.Binary, append(args, "--database="+scratchName, "--connections="+strconv.Itoa(step.Threads), dump)...)
		run.Command = fmt.Sprintf("pando import --database=%s --connections=%d %s", scratchName, step.Threads, filepath.Base(dump))
	} else {
		client, err := find("mariadb")
		if err != nil {
			run.Failure = err.Error()
			return
		}
		command = exec.CommandContext(limited, client, append(connect, scratchName)...)
		file, err := os.Open(dump)
		if err != nil {
			run.Failure = err.Error()
			return
		}
		defer file.Close()
		command.Stdin = file
		run.Command = "mariadb " + scratchName + " <" + filepath.Base(dump)
	}
	begin := clock.Mono()
	if err := s.runClient(command, t, nil); err != nil {
		run.Failure = err.Error()
		return
	}
	run.Seconds = clock.Since(begin).Seconds()
	run.Failure = s.missingRows(limited, t, w)
	run.Transactions = w.rowsInAll()
	run.TPS = float64(run.Transactions) / run.Seconds
	run.Rate = run.TPS
}

// dump writes a target's tables of a workload to a file, once for all its runs. Each target has its own: names of collations differ.
func (s *session) dump(ctx context.Context, t *Target, w *Workload) (string, error) {
	path := filepath.Join(s.root, w.Name+"-"+t.Name+".sql")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	program, err := find("mariadb-dump")
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeoutCause(ctx, loadMax(w.rowsInAll()), errTooLong)
	defer cancel()
	file, err := os.CreateTemp(s.root, "dump-")
	if err != nil {
		return "", err
	}
	defer file.Close()
	command := exec.CommandContext(limited, program, "--host="+t.host(), "--port="+t.port(), "--user=root", "--single-transaction", databaseName)
	if err := s.runClient(command, t, file); err != nil {
		return "", err
	}
	return path, os.Rename(file.Name(), path)
}

// runClient runs a program that talks to a target as root. out takes what it prints, nil for nobody.
func (s *session) runClient(command *exec.Cmd, t *Target, out io.Writer) error {
	var said bytes.Buffer
	command.Stdout, command.Stderr = out, &said
	password := t.passwordOf("root")
	command.Env = append(os.Environ(), "MYSQL_PWD="+password, "PANDO_PASSWORD="+password)
	if err := command.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(said.String()))
	}
	return nil
}

// missingRows says which table of the empty database does not have its rows now, "" for none.
func (s *session) missingRows(ctx context.Context, t *Target, w *Workload) string {
	db, err := t.pool(scratchName)
	if err != nil {
		return err.Error()
	}
	defer db.Close()
	for i := 1; i <= w.Tables; i++ {
		var rows int
		if err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM sbtest%d", i)).Scan(&rows); err != nil {
			return err.Error()
		}
		if rows != w.Rows {
			return fmt.Sprintf("sbtest%d has %d rows after the import, not %d", i, rows, w.Rows)
		}
	}
	return ""
}
