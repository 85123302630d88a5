package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

func startCommand(env []string, stdout, stderr io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "start",
		Short: "Serve the database in a directory",
		Args:  cobra.NoArgs,
	}
	load := settingFlags(command, env)
	command.RunE = func(command *cobra.Command, _ []string) error {
		options, err := load()
		if err != nil {
			return err
		}
		server.KeepPrivate()
		options.Log = logger(&options, stderr)
		// The signal context covers opening too, so that a stop during a long recovery is honoured.
		ctx, stop := stopSignals()
		defer stop()
		node, err := server.Open(ctx, options)
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, connectLine(node.MySQLAddr(), node.SocketPath(), node.StatusURL()))
		select {
		case <-ctx.Done():
		case <-node.Failed():
		case <-node.ShutdownAsked():
		}
		return node.Close()
	}
	return command
}

// connectLine tells how to reach a node at an address. Who listens everywhere is reached at the loopback address.
func connectLine(mysql, socket, status string) string {
	host, port, _ := net.SplitHostPort(mysql) // of a listener
	if address, err := netip.ParseAddr(host); err == nil && address.IsUnspecified() {
		host = "127.0.0.1"
	}
	line := fmt.Sprintf("connect with: mariadb -h %s -P %s -u root", host, port)
	if socket != "" {
		line += fmt.Sprintf("    or: mariadb -S %s -u root", socket)
	}
	if status != "" {
		line += "    status page: " + status + "/"
	}
	return line
}

// stopSignals gives a context that SIGTERM and SIGINT end. A second one ends the process at once, whatever it does until then.
func stopSignals() (context.Context, context.CancelFunc) {
	// The terminal's end and that of the log's reader are no reasons to stop, least of all without a drain.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

func logger(o *server.Options, w io.Writer) *slog.Logger {
	level, _ := server.ParseLevel(o.LogLevel) // validated with the other settings
	o.LogVar = new(slog.LevelVar)
	o.LogVar.Set(level)
	handler := &slog.HandlerOptions{Level: o.LogVar}
	if o.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, handler))
	}
	return slog.New(slog.NewTextHandler(w, handler))
}
