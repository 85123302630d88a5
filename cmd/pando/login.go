package main

import (
	"github.com/spf13/cobra"

	"github.com/pandodb/pando/bench"
)

// loginFlags are the flags of a command that asks a running server for something.
func loginFlags(command *cobra.Command, env []string) func() bench.Login {
	l, flags := bench.Login{}, command.Flags()
	flags.StringVar(&l.Host, "host", "127.0.0.1", "host of the server")
	flags.IntVar(&l.Port, "port", 4000, "port of the server")
	flags.StringVar(&l.Socket, "socket", "", "path of the server's unix socket, instead of host and port")
	flags.StringVar(&l.User, "user", "root", "account with the privilege SUPER")
	flags.StringVar(&l.Password, "password", "", "its password (default the environment's PANDO_PASSWORD, which a list of processes does not show)")
	return func() bench.Login {
		if l.Password == "" {
			l.Password = passwordFrom(env)
		}
		return l
	}
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
