package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/bench"
)

// loginFlags gives a command the flags of a client of a running server; account says which account it needs.
func loginFlags(command *cobra.Command, env []string, account string) func() bench.Login {
	l, flags := bench.Login{}, command.Flags()
	flags.StringVar(&l.Host, "host", "127.0.0.1", "host of the server")
	flags.IntVar(&l.Port, "port", 4000, "port of the server")
	flags.StringVar(&l.Socket, "socket", "", "path of the server's unix socket, instead of host and port")
	flags.StringVar(&l.User, "user", "root", account)
	flags.StringVar(&l.Password, "password", "", "its password (default the environment's PANDO_PASSWORD, which a list of processes does not show)")
	return func() bench.Login {
		if l.Password == "" {
			l.Password = passwordFrom(env)
		}
		return l
	}
}

// superAccount is what commands need that send ADMIN statements.
const superAccount = "account with the privilege SUPER"

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

// untilInterrupted gives the context of a command that ends by itself; Ctrl-C and SIGTERM end it earlier.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
