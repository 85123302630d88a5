package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), versionText())
			return err
		},
	}
}

// versionText is the line of the command and of the flag.
func versionText() string {
	return fmt.Sprintf("pando %s (MySQL protocol %s, %s %s/%s)",
		server.Version, server.MySQLVersion+server.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
