package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

func configCommand(env []string) *cobra.Command {
	command := &cobra.Command{
		Use:   "config",
		Short: "Print the effective settings as TOML, with where each comes from, without starting",
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
		effective, origins, err := server.Effective(options)
		if err != nil {
			return err
		}
		for _, setting := range server.Settings() {
			line := setting.Name + " = " + setting.TOML(&effective)
			if _, err := fmt.Fprintf(out, "%-50s # %s\n", line, origins[setting.Name]); err != nil {
				return err
			}
		}
		return nil
	}
	return command
}
