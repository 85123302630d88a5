package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

// run executes one command line. It never exits the process, so that tests may call it.
func run(args, env []string, stdout, stderr io.Writer) error {
	root := &cobra.Command{
		Use:           "pando",
		Short:         "A MySQL-compatible database that starts as one process over one directory",
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(startCommand(env, stdout, stderr), configCommand(env), promoteCommand(env, stdout), tokenCommand(env, stdout), nodeCommand(env, stdout),
		regionCommand(env, stdout), playgroundCommand(env, stdout), backupCommand(env, stdout), restoreCommand(stdout), checkCommand(stdout), importCommand(env, stdout, stderr),
		exportCommand(env, stdout, stderr), benchCommand(stdout, stderr), versionCommand())
	return root.Execute()
}

// settingFlags gives the command one flag per setting, and returns a function that merges those given with the other sources.
func settingFlags(command *cobra.Command, env []string) func() (server.Options, error) {
	defaults := server.DefaultOptions()
	values := map[string]*flagValue{}
	for _, setting := range server.Settings() {
		value := &flagValue{text: setting.Get(&defaults), kind: setting.Kind}
		values[setting.Name] = value
		flag := command.Flags().VarPF(value, setting.Name, "", setting.Usage)
		if setting.Kind == server.Boolean {
			flag.NoOptDefVal = "true"
		}
	}
	file := command.Flags().String("config", "", "TOML file with the same names as the flags")
	return func() (server.Options, error) {
		src := server.Sources{File: *file, Env: env, Flags: map[string]string{}}
		for name, value := range values {
			if command.Flags().Changed(name) {
				src.Flags[name] = value.text
			}
		}
		return server.Load(src)
	}
}

// flagValue is the text of a flag. server.Load reads it, together with the other sources, and names all faults at once.
type flagValue struct {
	text string
	kind server.Kind
}

// String implements pflag.Value.
func (v *flagValue) String() string { return v.text }

// Set implements pflag.Value.
func (v *flagValue) Set(text string) error {
	v.text = text
	return nil
}

// Type implements pflag.Value.
func (v *flagValue) Type() string { return string(v.kind) }
