package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// promoteCommand makes a running server's store the first of a cluster.
func promoteCommand(env []string, stdout io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "promote",
		Short: "Make the store of a running server the first of a cluster (ADMIN PROMOTE)",
		Long: "Make the store of a running server the first of a cluster: every region gets a Raft log. Statements go on meanwhile. It is one step that is made\n" +
			"whole or not at all, it may be repeated, and it cannot be taken back: programs of before refuse the directory then. The account needs the privilege SUPER.",
		Args: cobra.NoArgs,
	}
	login := loginFlags(command, env)
	command.RunE = func(*cobra.Command, []string) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		l := login()
		rows, err := l.Query(ctx, "ADMIN PROMOTE")
		if err != nil {
			return fmt.Errorf("promote: %w", err)
		}
		for _, row := range rows {
			fmt.Fprintln(stdout, row)
		}
		return nil
	}
	return command
}
