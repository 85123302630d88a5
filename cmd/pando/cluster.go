package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// admin is a subcommand that asks a running server by an ADMIN statement.
type admin struct {
	use, short, long string
	args             cobra.PositionalArgs // nil: none
	flags            func(*cobra.Command)
	statement        func(args []string) (string, error)
	// table shows all columns under their names; otherwise the first column is shown alone.
	table bool
}

// adminCommand makes the subcommand. Its flags say where the server is.
func adminCommand(env []string, stdout io.Writer, a admin) *cobra.Command {
	if a.args == nil {
		a.args = cobra.NoArgs
	}
	command := &cobra.Command{Use: a.use, Short: a.short, Long: a.long, Args: a.args}
	client := loginFlags(command, env, superAccount)
	command.RunE = func(command *cobra.Command, args []string) error {
		ctx, stop := untilInterrupted()
		defer stop()
		statement, err := a.statement(args)
		if err != nil {
			return err
		}
		l := client.login()
		columns, rows, err := l.QueryRows(ctx, statement)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimPrefix(command.CommandPath(), "pando "), client.explain(err))
		}
		return show(stdout, columns, rows, a.table)
	}
	if a.flags != nil {
		a.flags(command)
	}
	return command
}

// show prints rows: as a table, or the first column of each.
func show(w io.Writer, columns []string, rows [][]string, table bool) error {
	if !table {
		for _, row := range rows {
			if _, err := fmt.Fprintln(w, row[0]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{columns}, rows...) {
		if _, err := fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// tokenCommand prints a join token.
func tokenCommand(env []string, stdout io.Writer) *cobra.Command {
	var uses, hours uint64
	return adminCommand(env, stdout, admin{
		use:   "token",
		short: "Print a token that nodes join a cluster with (ADMIN TOKEN)",
		long: "Print a token that nodes join a cluster with: pando start --join-token-file. It names members and the cluster's authority, and has a secret: whoever has it can\n" +
			"join. The server must have been started with --cluster-listen and promoted. The account needs the privilege SUPER.",
		flags: func(command *cobra.Command) {
			command.Flags().Uint64Var(&uses, "uses", 8, "how many nodes may join with it")
			command.Flags().Uint64Var(&hours, "hours", 1, "how long it is good")
		},
		statement: func([]string) (string, error) {
			if uses == 0 || hours == 0 {
				return "", errors.New("token: a token has a use and an hour at least")
			}
			return fmt.Sprintf("ADMIN TOKEN USES %d HOURS %d", uses, hours), nil
		},
	})
}

// nodeCommand is about the nodes of a cluster.
func nodeCommand(env []string, stdout io.Writer) *cobra.Command {
	command := &cobra.Command{Use: "node", Short: "List the nodes of a cluster, or remove one"}
	command.AddCommand(adminCommand(env, stdout, admin{
		use: "ls", short: "List the nodes of a cluster (ADMIN NODES)", table: true,
		statement: func([]string) (string, error) { return "ADMIN NODES", nil },
	}), adminCommand(env, stdout, admin{
		use: "remove ID", short: "Remove a node from a cluster, alive or lost (ADMIN NODE REMOVE)",
		long: "Remove a node from a cluster, alive or lost. Its copies are replaced by copies at other nodes, as far as there are any, and its number never comes back: to\n" +
			"join again it needs an empty directory. pando node ls shows how far that is.",
		args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("node remove: it takes the number of one node; pando node ls shows them")
			}
			return nil
		},
		statement: func(args []string) (string, error) {
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return "", fmt.Errorf("%q is no number of a node; pando node ls shows them", args[0])
			}
			return fmt.Sprintf("ADMIN NODE REMOVE %d", id), nil
		},
	}))
	return command
}

// regionCommand is about the regions of a cluster.
func regionCommand(env []string, stdout io.Writer) *cobra.Command {
	command := &cobra.Command{Use: "region", Short: "List the regions of a cluster"}
	command.AddCommand(adminCommand(env, stdout, admin{
		use: "ls", short: "List the regions of a cluster, who has copies and who leads (ADMIN REGIONS)", table: true,
		statement: func([]string) (string, error) { return "ADMIN REGIONS", nil },
	}))
	return command
}
