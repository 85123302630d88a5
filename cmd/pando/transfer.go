package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/transfer"
)

// barWidth is that of the progress bar.
const barWidth = 30

// transferFlags gives a command the flags of a login.
func transferFlags(command *cobra.Command, l *transfer.Login) {
	flags := command.Flags()
	flags.StringVar(&l.Host, "host", "127.0.0.1", "host of the server")
	flags.IntVar(&l.Port, "port", 4000, "port of the server")
	flags.StringVar(&l.Socket, "socket", "", "path of the server's unix socket, instead of host and port")
	flags.StringVar(&l.User, "user", "root", "account")
	flags.StringVar(&l.Password, "password", "", "its password (default the environment's PANDO_PASSWORD, which a list of processes does not show)")
}

// importCommand loads dumps.
func importCommand(env []string, stdout, stderr io.Writer) *cobra.Command {
	o := transfer.ImportOptions{}
	command := &cobra.Command{
		Use:   "import FILE|DIR...",
		Short: "Load dumps and exports into a server, in parallel transactions",
		Long: "Load files of SQL into a server of the MySQL protocol: dumps of pando export, mysqldump and others, and directories of them. INSERTs that follow each\n" +
			"other are loaded in parallel transactions. An import that is broken off goes on where it ended when it is started again with the same files; what is done\n" +
			"is noted in the database pando_import of the server, which is gone at the end.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			o.Paths = paths
			if o.Password == "" {
				o.Password = passwordFrom(env)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			bar := newBar(stderr)
			o.Progress = bar.show
			err := transfer.Import(ctx, o)
			bar.end()
			if err != nil {
				return fmt.Errorf("import: %w", err)
			}
			fmt.Fprintln(stdout, "imported", strings.Join(paths, " "))
			return nil
		},
	}
	transferFlags(command, &o.Login)
	command.Flags().StringVar(&o.Database, "database", "", "the current database at the beginning, made if absent")
	command.Flags().IntVar(&o.Connections, "connections", 4, "transactions at once")
	command.Flags().BoolVar(&o.Restart, "restart", false, "forget what an import that was broken off has done")
	return command
}

// exportCommand writes dumps.
func exportCommand(env []string, stdout, stderr io.Writer) *cobra.Command {
	o := transfer.ExportOptions{}
	command := &cobra.Command{
		Use:   "export DIR",
		Short: "Write databases of a server as files of SQL: the state of one moment, over several connections",
		Long: "Write databases of a server of the MySQL protocol into an empty directory, as files of SQL that pando import and every client can load. All connections read the\n" +
			"state of one moment: while they begin, FLUSH TABLES WITH READ LOCK holds writers up, for which the account needs RELOAD; with one connection it is not needed.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.Dir = args[0]
			if o.Password == "" {
				o.Password = passwordFrom(env)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			bar := newBar(stderr)
			o.Progress = bar.show
			err := transfer.Export(ctx, o)
			bar.end()
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			fmt.Fprintln(stdout, "exported to", o.Dir)
			return nil
		},
	}
	transferFlags(command, &o.Login)
	command.Flags().StringSliceVar(&o.Databases, "databases", nil, "databases to export (default all but the server's own)")
	command.Flags().IntVar(&o.Connections, "connections", 4, "connections that read at once")
	command.Flags().Int64Var(&o.RangeRows, "range-rows", 0, "about how many rows a file has, in tables with an integer key (default 100000)")
	return command
}

// bar is a progress bar, on a terminal only.
type bar struct {
	w     io.Writer
	drawn string
}

func newBar(w io.Writer) *bar {
	file, ok := w.(*os.File)
	if !ok {
		return &bar{}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &bar{}
	}
	return &bar{w: w}
}

// show draws how much is done. It is called by one goroutine at a time.
func (b *bar) show(file string, done, total int64) {
	if b.w == nil {
		return
	}
	full := int(barWidth * done / max(total, 1))
	line := fmt.Sprintf("[%s%s] %3d%% %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*done/max(total, 1), filepath.Base(file))
	if line != b.drawn {
		fmt.Fprintf(b.w, "\r\x1b[K%s", line)
		b.drawn = line
	}
}

func (b *bar) end() {
	if b.w != nil && b.drawn != "" {
		fmt.Fprintln(b.w)
	}
}
