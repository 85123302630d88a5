package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/bench"
)

// passwordEnv has the password that commands log in with. Servers don't read it: what root gets at a first start is PANDO_INIT_ROOT_PASSWORD.
const passwordEnv = "PANDO_PASSWORD"

// client is a command that logs in to a running server.
type client struct {
	flags   bench.Login
	command *cobra.Command
	env     []string
}

// loginFlags gives a command the flags of a client of a running server; account says which account it needs.
func loginFlags(command *cobra.Command, env []string, account string) *client {
	c, flags := &client{command: command, env: env}, command.Flags()
	flags.StringVar(&c.flags.Host, "host", "127.0.0.1", "host of the server")
	flags.IntVar(&c.flags.Port, "port", 4000, "port of the server")
	flags.StringVar(&c.flags.Socket, "socket", "", "path of the server's unix socket, instead of host and port")
	flags.StringVar(&c.flags.User, "user", "root", account)
	flags.StringVar(&c.flags.Password, "password", "", "its password (default the environment's PANDO_PASSWORD, which a list of processes does not show); '' for none")
	return c
}

// given tells that the command line has the password.
func (c *client) given() bool { return c.command.Flags().Changed("password") }

// login is what the command line says, and the environment's password where it has none.
func (c *client) login() bench.Login {
	l := c.flags
	if !c.given() {
		l.Password = passwordFrom(c.env)
	}
	return l
}

// explain says of a refused login where its password came from, since the command line does not show it.
func (c *client) explain(err error) error {
	if !bench.Refused(err) || c.given() || passwordFrom(c.env) == "" {
		return err
	}
	return fmt.Errorf("%w; the password is that of %s in the environment, which servers do not read: an account without one takes --password ''", err, passwordEnv)
}

// superAccount is what commands need that send ADMIN statements.
const superAccount = "account with the privilege SUPER"

// passwordFrom returns the password that the environment names.
func passwordFrom(env []string) string {
	for _, e := range env {
		if password, found := strings.CutPrefix(e, passwordEnv+"="); found {
			return password
		}
	}
	return ""
}

// asRoot asks the nodes of a playground as root: with the environment's password, and where that is refused without one, as root of a new playground has none.
func asRoot(env []string) func(ctx context.Context, port int, statement string) ([][]string, error) {
	password := passwordFrom(env)
	return func(ctx context.Context, port int, statement string) ([][]string, error) {
		l := bench.Login{Host: "127.0.0.1", Port: port, User: "root", Password: password}
		_, rows, err := l.QueryRows(ctx, statement)
		if password == "" || !bench.Refused(err) {
			return rows, err
		}
		l.Password = ""
		_, rows, without := l.QueryRows(ctx, statement)
		if bench.Refused(without) {
			return nil, err
		}
		password = ""
		return rows, without
	}
}

// untilInterrupted gives the context of a command that ends by itself; Ctrl-C and SIGTERM end it earlier.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
