package main

import (
	"io"

	"github.com/spf13/cobra"
)

// promoteCommand makes a running server's store the first of a cluster.
func promoteCommand(env []string, stdout io.Writer) *cobra.Command {
	return adminCommand(env, stdout, admin{
		use:   "promote",
		short: "Make the store of a running server the first of a cluster (ADMIN PROMOTE)",
		long: "Make the store of a running server the first of a cluster: every region gets a Raft log. Statements go on meanwhile. It is one step that is made\n" +
			"whole or not at all, it may be repeated, and it cannot be taken back: programs of before refuse the directory then. The account needs the privilege SUPER.",
		statement: func([]string) (string, error) { return "ADMIN PROMOTE", nil },
	})
}
