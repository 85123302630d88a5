package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/bench"
)

// benchCommand measures servers; see package bench.
func benchCommand(stdout, stderr io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure servers of the MySQL protocol side by side with sysbench",
	}
	command.AddCommand(benchRunCommand(stdout, stderr), benchCompareCommand(stdout), benchPlansCommand(stdout), benchReportCommand(), benchTrivialCommand(stdout))
	return command
}

// benchFlags are the flags of `pando bench run`.
type benchFlags struct {
	plan, out, name, base, binary, tempDir string
	start, targets, notes                  []string
	trivial, warnOnly, overwrite, twin     bool
	scale                                  float64
	override                               bench.Override
	budgetMinutes                          int
}

func benchRunCommand(stdout, stderr io.Writer) *cobra.Command {
	var f benchFlags
	command := &cobra.Command{
		Use:   "run",
		Short: "Run a plan, write its report, and fail where a demand is missed",
		Args:  cobra.NoArgs,
		Example: "  pando bench run --plan compare --start pando --start mariadb --trivial --out bench/results\n" +
			"  pando bench run --plan reports/v5.0 --scale 0.01 --target pando=127.0.0.1:4000 --target mariadb=127.0.0.1:3307",
	}
	flags := command.Flags()
	flags.StringVar(&f.plan, "plan", "compare", "name or file of the plan; `pando bench plans` lists the names")
	flags.StringArrayVar(&f.start, "start", nil, "start a server in a temporary directory: pando, pando1 (a cluster of one), pando3 (three copies), mariadb, galera3, mysql or postgres; the first is the subject")
	flags.StringArrayVar(&f.targets, "target", nil, "name=host:port[,pid=N][,driver=pgsql][,password=P] of a running server")
	flags.BoolVar(&f.overwrite, "overwrite", false, "drop the databases sbtest and benchload, and the plan's user, where a --target holds them")
	flags.StringVar(&f.base, "base", "", "the target that the demands speak of (default the first after the subject)")
	flags.BoolVar(&f.trivial, "trivial", false, "add a responder that answers a fixed row: the ceiling for many connections (with one, a server that polls may be faster)")
	flags.BoolVar(&f.twin, "twin", true, "start the subject's kind twice where the plan demands something, to learn how much equal servers differ (A/A)")
	flags.StringVar(&f.override.Clients, "clients", "", "where sysbench runs: here, or apart, which is in a network namespace and on a processor of its own (default the plan's)")
	flags.IntVar(&f.override.ServerCPUs, "server-cpus", 0, "pin the servers to so many processors (default the plan's, or what the clients leave)")
	flags.StringVar(&f.binary, "pando", "", "the pando program to start (default this one)")
	flags.StringVar(&f.tempDir, "temp-dir", "", "where the servers keep their data (default the system's)")
	flags.StringVar(&f.out, "out", ".", "directory of the report")
	flags.StringVar(&f.name, "name", "", "name of the report's files (default the plan's)")
	flags.StringArrayVar(&f.notes, "note", nil, "a sentence for the report, such as what else ran on the machine")
	flags.Float64Var(&f.scale, "scale", 1, "shrink rows, seconds and cache by this factor, and threads by its root")
	flags.IntVar(&f.budgetMinutes, "budget-minutes", 0, "shorten the rounds so that the plan takes about so long; 0 leaves them")
	flags.BoolVar(&f.warnOnly, "warn-only", false, "name missed demands without failing, and without measuring them a second time")
	flags.IntVar(&f.override.Rounds, "rounds", 0, "rounds of each step")
	flags.IntVar(&f.override.Seconds, "seconds", 0, "seconds of each run")
	warmup := flags.Int("warmup", 0, "seconds of warm-up of each step, 0 for none (default the plan's)")
	flags.IntVar(&f.override.Tables, "tables", 0, "number of tables")
	flags.IntVar(&f.override.Rows, "rows", 0, "rows of each table")
	flags.IntVar(&f.override.Warehouses, "warehouses", 0, "warehouses of TPC-C")
	flags.Float64Var(&f.override.Factor, "scale-factor", 0, "scale factor of TPC-H")
	flags.IntSliceVar(&f.override.Threads, "threads", nil, "thread counts")
	flags.StringSliceVar(&f.override.PSModes, "ps-mode", nil, "prepared statements: auto, disable or both")
	flags.StringSliceVar(&f.override.Workloads, "workload", nil, "only these workloads")
	flags.Int64Var(&f.override.CacheBytes, "cache-bytes", 0, "cache of each started server")
	command.RunE = func(*cobra.Command, []string) error {
		if flags.Changed("warmup") {
			f.override.Warmup = warmup
		}
		return benchRun(&f, stdout, stderr)
	}
	return command
}

func benchRun(f *benchFlags, stdout, stderr io.Writer) error {
	options, err := benchOptions(f)
	if err != nil {
		return err
	}
	name := f.name
	if name == "" {
		name = strings.ReplaceAll(options.Plan.Name, "/", "-")
		if f.override.Clients == bench.ClientsApart {
			name += "-" + f.override.Clients
		}
	}
	prefix := filepath.Join(f.out, name)
	if err := bench.PrepareReport(prefix); err != nil {
		return err
	}
	options.Save = func(r *bench.Result) error { return bench.SaveUnderWay(r, prefix) }
	file, terminal := stderr.(*os.File)
	if terminal {
		info, err := file.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	options.Progress = bench.NewProgress(stderr, terminal)
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the session outlives its terminal
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	result, err := bench.Measure(ctx, options)
	if err != nil {
		return err
	}
	if prefix, err = bench.FinishReport(result, prefix); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "report: %s.md, %s.json\n", prefix, prefix)
	misses := result.Misses()
	for _, miss := range misses {
		fmt.Fprintln(stdout, "missed:", miss)
	}
	switch {
	case result.Incomplete != "":
		return errors.New("the plan was not finished: " + result.Incomplete)
	case len(misses) > 0 && !f.warnOnly:
		return fmt.Errorf("%d demands of plan %s were not met", len(misses), options.Plan.Name)
	}
	return nil
}

func benchOptions(f *benchFlags) (bench.Options, error) {
	plan, err := bench.LoadPlan(f.plan)
	if err != nil {
		return bench.Options{}, err
	}
	if err := plan.Scale(f.scale); err != nil {
		return bench.Options{}, err
	}
	if f.budgetMinutes < 0 {
		return bench.Options{}, fmt.Errorf("--budget-minutes %d is negative", f.budgetMinutes)
	}
	if err := plan.Apply(f.override); err != nil {
		return bench.Options{}, err
	}
	plan.Notes = append(plan.Notes, f.notes...)
	o := bench.Options{Plan: plan, Start: f.start, Base: f.base, Trivial: f.trivial, Twin: f.twin, Once: f.warnOnly, Overwrite: f.overwrite, Binary: f.binary, TempDir: f.tempDir, Command: benchCommandLine(f)}
	for _, text := range f.targets {
		target, err := bench.ParseTarget(text)
		if err != nil {
			return bench.Options{}, err
		}
		o.Targets = append(o.Targets, target)
	}
	if o.Binary == "" {
		if o.Binary, err = os.Executable(); err != nil {
			return bench.Options{}, err
		}
	}
	if f.budgetMinutes > 0 {
		plan.Fit(f.budgetMinutes*60, o.Servers(), f.trivial)
	}
	return o, nil
}

// benchCommandLine is what to type to repeat the session, without addresses, passwords and paths.
func benchCommandLine(f *benchFlags) string {
	words := []string{"pando bench run --plan", filepath.Base(f.plan)}
	if !filepath.IsAbs(f.plan) {
		words[1] = f.plan
	}
	for _, kind := range f.start {
		words = append(words, "--start", kind)
	}
	for _, target := range f.targets {
		words = append(words, "--target", publicTarget(target))
	}
	add := func(name string, value any, given bool) {
		if given {
			words = append(words, "--"+name, strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]"))
		}
	}
	flag := func(name string, given bool) {
		if given {
			words = append(words, "--"+name)
		}
	}
	flag("trivial", f.trivial)
	flag("overwrite", f.overwrite)
	flag("warn-only", f.warnOnly)
	flag("twin=false", !f.twin)
	add("base", f.base, f.base != "")
	add("pando", "$PANDO", f.binary != "")
	add("temp-dir", "$DIR", f.tempDir != "")
	o := &f.override
	add("scale", f.scale, f.scale != 1)
	add("budget-minutes", f.budgetMinutes, f.budgetMinutes > 0)
	add("clients", o.Clients, o.Clients != "")
	add("server-cpus", o.ServerCPUs, o.ServerCPUs > 0)
	add("rounds", o.Rounds, o.Rounds > 0)
	add("seconds", o.Seconds, o.Seconds > 0)
	if o.Warmup != nil {
		add("warmup", *o.Warmup, true)
	}
	add("tables", o.Tables, o.Tables > 0)
	add("rows", o.Rows, o.Rows > 0)
	add("warehouses", o.Warehouses, o.Warehouses > 0)
	add("scale-factor", o.Factor, o.Factor > 0)
	add("threads", o.Threads, len(o.Threads) > 0)
	add("ps-mode", o.PSModes, len(o.PSModes) > 0)
	add("workload", o.Workloads, len(o.Workloads) > 0)
	add("cache-bytes", o.CacheBytes, o.CacheBytes > 0)
	return strings.Join(words, " ")
}

// publicTarget is the value of --target without what names the machine.
func publicTarget(text string) string {
	name, rest, _ := strings.Cut(text, "=")
	parts := strings.Split(rest, ",")
	parts[0] = name + "=$HOST:$PORT"
	for i, part := range parts {
		switch key, _, _ := strings.Cut(part, "="); key {
		case "pid":
			parts[i] = "pid=$PID"
		case "password":
			parts[i] = "password=$PASSWORD"
		}
	}
	return strings.Join(parts, ",")
}

func benchCompareCommand(stdout io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "compare OLD.json NEW.json",
		Short: "Compare two stored sessions, and fail on a regression above their noise",
		Args:  cobra.ExactArgs(2),
	}
	force := command.Flags().Bool("force", false, "compare although plans, subjects or machines differ")
	command.RunE = func(_ *cobra.Command, args []string) error {
		before, err := bench.ReadResult(args[0])
		if err != nil {
			return err
		}
		after, err := bench.ReadResult(args[1])
		if err != nil {
			return err
		}
		return benchCompare(before, after, *force, stdout)
	}
	return command
}

func benchCompare(before, after *bench.Result, force bool, stdout io.Writer) error {
	if len(before.Targets) == 0 || len(after.Targets) == 0 {
		return errors.New("a session without targets measured nothing")
	}
	apart, aside := bench.Differences(before, after)
	for _, difference := range append(apart, aside...) {
		fmt.Fprintln(stdout, "differs:", difference)
	}
	if len(apart) > 0 && !force {
		return fmt.Errorf("the sessions differ in %d things that make their figures incomparable; --force compares them all the same", len(apart))
	}
	changes := bench.Compare(before, after)
	regressions, comparable := 0, 0
	for _, change := range changes {
		fmt.Fprintln(stdout, change)
		if change.Regression {
			regressions++
		}
		if !change.NotComparable {
			comparable++
		}
	}
	switch {
	case regressions > 0:
		return fmt.Errorf("%d of %d steps regressed", regressions, len(changes))
	case comparable == 0:
		return errors.New("the two sessions share no step that worked")
	}
	return nil
}

func benchPlansCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "plans",
		Short: "List the plans that come with this program",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, name := range bench.PlanNames() {
				plan, err := bench.LoadPlan(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(stdout, "%-18s %s: %d tables x %d rows, %d s per run\n", name, plan.Title, plan.Tables, plan.Rows, plan.Seconds)
			}
			return nil
		},
	}
}

func benchReportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report SESSION.json PREFIX",
		Short: "Write the report of a stored session again",
		Args:  cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			result, err := bench.ReadResult(args[0])
			if err != nil {
				return err
			}
			return bench.WriteReport(result, args[1])
		},
	}
}

func benchTrivialCommand(stdout io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "trivial",
		Short: "Serve a fixed row to every SELECT: the ceiling of this machine for many connections",
		Args:  cobra.NoArgs,
	}
	listen := command.Flags().String("listen", "127.0.0.1:4001", "HOST:PORT of the MySQL protocol")
	command.RunE = func(*cobra.Command, []string) error {
		server, err := bench.NewTrivial(*listen)
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, "trivial responder on", server.Address())
		ctx, stop := untilInterrupted()
		defer stop()
		context.AfterFunc(ctx, func() { _ = server.Close() })
		if err := server.Serve(); ctx.Err() == nil {
			return err
		}
		return nil
	}
	return command
}
