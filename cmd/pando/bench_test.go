package main

import (
	"io"
	"strings"
	"testing"
)

// The command in a report is the one that ran, without what names the machine.
func TestBenchCommandLine(t *testing.T) {
	warm := 0
	f := benchFlags{plan: "compare", start: []string{"pando"}, targets: []string{"pg=10.0.0.1:5432,driver=pgsql,pid=77,password=geheim"}, base: "pg", binary: "/home/me/pando",
		tempDir: "/mnt/me", trivial: true, warnOnly: true, overwrite: true, twin: true, scale: 0.5}
	f.override.Warmup, f.override.Threads, f.override.Clients, f.override.ServerCPUs = &warm, []int{1, 16}, "apart", 2
	f.override.Warehouses, f.override.Factor = 10, 0.01
	const want = "pando bench run --plan compare --start pando --target pg=$HOST:$PORT,driver=pgsql,pid=$PID,password=$PASSWORD --trivial --overwrite --warn-only" +
		" --base pg --pando $PANDO --temp-dir $DIR --scale 0.5 --clients apart --server-cpus 2 --warmup 0 --warehouses 10 --scale-factor 0.01 --threads 1,16"
	if got := benchCommandLine(&f); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBenchRefusesSenselessFlags(t *testing.T) {
	for _, flag := range []string{"--warmup=-5", "--budget-minutes=-3", "--threads=1,1", "--ps-mode=auto,auto", "--ps-mode=some", "--base=nobody", "--clients=there", "--server-cpus=-1", "--server-cpus=9999", "--rounds=-1"} {
		command := benchCommand(io.Discard, io.Discard)
		command.SetArgs([]string{"run", "--plan", "short", "--start", "pando", "--start", "mariadb", "--out", t.TempDir(), flag})
		command.SetOut(io.Discard)
		command.SetErr(io.Discard)
		if err := command.Execute(); err == nil || strings.Contains(err.Error(), "unknown flag") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
