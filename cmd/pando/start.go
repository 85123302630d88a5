package main

import (
	"context"
	"io"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
)

func startCommand(env []string, stderr io.Writer) *cobra.Command {
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
		options.Log = logger(&options, stderr)
		// The signal context covers opening too, so that a stop during a long recovery is honoured.
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		node, err := server.Open(ctx, options)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			stop() // a second signal ends the process at once
		case <-node.Failed():
		}
		return node.Close()
	}
	return command
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
