package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

// exitFaults is the exit status of a check that has found something; one that could not be made ends like everything else, with 1.
const exitFaults = 2

// exitError is an error that ends the process with a status of its own.
type exitError struct {
	status int
	error
}

// checkCommand verifies a directory.
func checkCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Verify a data directory or a backup that no server has open",
		Long: "Verify a data directory or a backup that no server has open, and change nothing in it: the identity and the formats, the checksums of the log and of all tables,\n" +
			"the catalog and the accounts, every row, that each index and its table agree both ways, that AUTO_INCREMENT is above all rows, and that the rows of foreign keys\n" +
			"have parents. A line per object goes to standard output. The exit status is 0 if all is well, 2 if something is not, and 1 if it could not be checked.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := untilInterrupted()
			defer stop()
			faults, err := server.Check(ctx, args[0], func(object, text string) { fmt.Fprintf(stdout, "%s: %s\n", object, text) })
			if err != nil {
				return fmt.Errorf("check: %w", err)
			}
			if len(faults) > 0 {
				return exitError{exitFaults, fmt.Errorf("check: %d faults were found in %s; restore a backup, or dump what can be read", len(faults), args[0])}
			}
			fmt.Fprintf(stdout, "%s is sound\n", args[0])
			return nil
		},
	}
}
