package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

func configCommand(env []string) *cobra.Command {
	command := &cobra.Command{
		Use:   "config",
		Short: "Print the effective settings as TOML, without starting",
		Args:  cobra.NoArgs,
	}
	load := settingFlags(command, env)
	command.RunE = func(command *cobra.Command, _ []string) error {
		options, err := load()
		if err != nil {
			return err
		}
		out := command.OutOrStdout()
		for _, warning := range options.Warnings {
			fmt.Fprintf(out, "# %s\n", warning)
		}
		for _, setting := range server.Settings() {
			if _, err := fmt.Fprintf(out, "%s = %q\n", setting.Name, setting.Get(&options)); err != nil {
				return err
			}
		}
		return nil
	}
	return command
}
