package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/bench"
)

// promoteCommand makes a running server's store the first of a cluster.
func promoteCommand(env []string, stdout io.Writer) *cobra.Command {
	l := bench.Login{}
	command := &cobra.Command{
		Use:   "promote",
		Short: "Make the store of a running server the first of a cluster (ADMIN PROMOTE)",
		Long: "Make the store of a running server the first of a cluster: every region gets a Raft log. Statements go on meanwhile. It is one step that is made\n" +
			"whole or not at all, it may be repeated, and it cannot be taken back: programs of before refuse the directory then. The account needs the privilege SUPER.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if l.Password == "" {
				l.Password = passwordFrom(env)
			}
			rows, err := l.Query(ctx, "ADMIN PROMOTE")
			if err != nil {
				return fmt.Errorf("promote: %w", err)
			}
			for _, row := range rows {
				fmt.Fprintln(stdout, row)
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&l.Host, "host", "127.0.0.1", "host of the server")
	flags.IntVar(&l.Port, "port", 4000, "port of the server")
	flags.StringVar(&l.User, "user", "root", "account with the privilege SUPER")
	flags.StringVar(&l.Password, "password", "", "its password (default the environment's PANDO_PASSWORD, which a list of processes does not show)")
	return command
}

// passwordFrom returns the password that the environment names.
func passwordFrom(env []string) string {
	const name = "PANDO_PASSWORD="
	for _, e := range env {
		if len(e) > len(name) && e[:len(name)] == name {
			return e[len(name):]
		}
	}
	return ""
}
