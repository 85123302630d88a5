package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/playground"
	"github.com/pandodb/pando/server"
)

// playgroundCommand runs a cluster on this machine.
func playgroundCommand(env []string, stdout io.Writer) *cobra.Command {
	o := playground.Options{Out: stdout}
	command := &cobra.Command{
		Use:   "playground",
		Short: "Run a cluster of several nodes on this machine, to try things out",
		Long: "Run a cluster of several nodes on this machine: it starts the processes, waits until every region has its copies, tells how to connect, and stops\n" +
			"them on Ctrl-C. The same directory is started again with what is in it. A node that dies is told of, and not started again.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) (err error) {
			ctx, stop := stopSignals()
			defer stop()
			if o.Program, err = os.Executable(); err != nil {
				return err
			}
			o.MemoryBytes, o.Procs = server.MachineShare()
			o.SQL = asRoot(env)
			return playground.Run(ctx, o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Nodes, "nodes", 0, "how many nodes (default as many as the directory has, or 3)")
	flags.StringVar(&o.Dir, "dir", "playground", "directory of the cluster")
	flags.IntVar(&o.Port, "port", 4000, "port of SQL at node 1; node i has this port + i - 1")
	flags.BoolVar(&o.HAProxy, "haproxy", false, "write a configuration for HAProxy into the directory")
	return command
}
