package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
	"github.com/pandodb/pando/transfer"
)

// barWidth is that of the progress bar.
const barWidth = 30

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
	}
	login := loginFlags(command, env, "account")
	command.RunE = func(_ *cobra.Command, paths []string) error {
		o.Login, o.Paths = transfer.Login(login()), paths
		err := withBar(stderr, &o.Progress, func(ctx context.Context) error { return transfer.Import(ctx, o) })
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		fmt.Fprintln(stdout, "imported", strings.Join(paths, " "))
		return nil
	}
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
	}
	login := loginFlags(command, env, "account")
	command.RunE = func(_ *cobra.Command, args []string) error {
		server.KeepPrivate()
		o.Login, o.Dir = transfer.Login(login()), args[0]
		err := withBar(stderr, &o.Progress, func(ctx context.Context) error { return transfer.Export(ctx, o) })
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		fmt.Fprintln(stdout, "exported to", o.Dir)
		return nil
	}
	command.Flags().StringSliceVar(&o.Databases, "databases", nil, "databases to export (default all but the server's own)")
	command.Flags().IntVar(&o.Connections, "connections", 4, "connections that read at once")
	command.Flags().Int64Var(&o.RangeRows, "range-rows", 0, "about how many rows a file has, in tables with an integer key (default 100000)")
	return command
}

// withBar does what takes long, and shows how far it is, until it ends or is interrupted.
func withBar(stderr io.Writer, progress *func(file string, done, total int64), do func(context.Context) error) error {
	ctx, stop := untilInterrupted()
	defer stop()
	bar := newBar(stderr)
	*progress = bar.show
	defer bar.end()
	return do(ctx)
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

// show draws how much is done. It is called by one goroutine at a time. A file that grows has more to do in the end than was counted.
func (b *bar) show(file string, done, total int64) {
	if b.w == nil {
		return
	}
	total = max(total, 1)
	done = min(done, total)
	full := int(barWidth * done / total)
	line := fmt.Sprintf("[%s%s] %3d%% %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*done/total, filepath.Base(file))
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
